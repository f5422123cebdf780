// What the floating-point instructions do to one lane: pure functions on plain values. PTX ISA 9.0,
// chapter 9.7.3.
//
// The bare operations are those of the host, which is IEEE 754; directed rounding comes from the host's
// rounding mode (rounding.hpp). F32 and F64 add what PTX asks for beyond: flushed subnormals, saturation, one
// canonical NaN. The host may not contract a multiplication and an addition (-ffp-contract=off).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace lanescope::exec::LANESCOPE_ISA {

inline uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }
inline float from_bits(uint32_t x) { return std::bit_cast<float>(x); }
inline double from_bits(uint64_t x) { return std::bit_cast<double>(x); }

inline constexpr uint32_t sign32 = 0x80000000u, exponent32 = 0x7f800000u, nan32 = 0x7fffffffu;
inline constexpr uint64_t sign64 = 0x8000000000000000u, exponent64 = 0x7ff0000000000000u;
/// What an invalid f64 operation gives when no operand is a NaN.
inline constexpr uint64_t nan64 = 0xfff8000000000000u, quiet64 = 0x0008000000000000u;

// On integers, so that no host instruction set or compiler setting can treat NaNs and subnormals its own way.
inline bool is_nan(float x) {
  return static_cast<int32_t>(bits(x) & ~sign32) > static_cast<int32_t>(exponent32);
}
inline bool is_nan(double x) {
  return static_cast<int64_t>(bits(x) & ~sign64) > static_cast<int64_t>(exponent64);
}
inline float canonical(float x) { return is_nan(x) ? from_bits(nan32) : x; }

/// .ftz: a subnormal becomes the zero of its sign.
template <bool ftz>
inline float flush(float x) {
  if constexpr (!ftz) return x;
  return (bits(x) & exponent32) == 0 ? from_bits(bits(x) & sign32) : x;
}
/// .sat: [0, 1]; NaN and -0 become +0.
inline float saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline double saturate(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }

/// An f32 operation as PTX has it.
template <class F, bool sat = false>
struct F32 {
  template <class... T>
  float operator()(T... x) const {
    const float r = F()(x...);
    if constexpr (sat) return saturate(r);
    return canonical(r);
  }
};

/// An operation on both f32 of a lane of f32x2.
template <class F>
struct BothF32 {
  template <class... W>
  uint64_t operator()(W... x) const {
    const uint32_t low = bits(F()(from_bits(static_cast<uint32_t>(x))...));
    const uint32_t high = bits(F()(from_bits(static_cast<uint32_t>(x >> 32))...));
    return uint64_t{high} << 32 | low;
  }
};

/// The first NaN among the operands, quieted; else r, or the one NaN of an invalid operation.
inline double propagate(double r) { return is_nan(r) ? from_bits(nan64) : r; }
template <class... T>
inline double propagate(double r, double first, T... more) {
  const double other = propagate(r, more...);
  return is_nan(first) ? from_bits(bits(first) | quiet64) : other;
}
/// An f64 operation as PTX has it. Of several NaNs the second operand's comes out, then the third's, then the
/// first's.
template <class F>
struct F64 {
  double operator()(double a) const { return propagate(F()(a), a); }
  double operator()(double a, double b) const { return propagate(F()(a, b), b, a); }
  double operator()(double a, double b, double c) const { return propagate(F()(a, b, c), b, c, a); }
};
/// A division is a sequence of instructions on the chip, and the dividend's NaN comes out.
template <class F>
struct F64Quotient {
  double operator()(double a, double b) const { return propagate(F()(a, b), a, b); }
};

struct FloatAdd {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct FloatSub {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct FloatMul {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct FloatDiv {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct FloatRcp {
  template <class T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
struct FloatFma {
  float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
  double operator()(double a, double b, double c) const { return __builtin_fma(a, b, c); }
};
struct FloatSqrt {
  float operator()(float a) const { return __builtin_sqrtf(a); }
  double operator()(double a) const { return __builtin_sqrt(a); }
};

// The sign bit alone: NaNs keep their bits.
struct FloatAbs {
  float operator()(float a) const { return from_bits(bits(a) & ~sign32); }
  double operator()(double a) const { return from_bits(bits(a) & ~sign64); }
};
struct FloatNeg {
  float operator()(float a) const { return from_bits(bits(a) ^ sign32); }
  double operator()(double a) const { return from_bits(bits(a) ^ sign64); }
};
struct Copysign {  ///< b with the sign of a
  float operator()(float a, float b) const { return from_bits((bits(a) & sign32) | (bits(b) & ~sign32)); }
  double operator()(double a, double b) const { return from_bits((bits(a) & sign64) | (bits(b) & ~sign64)); }
};
/// abs and neg of PTX: an addition of zero on the chip, so a NaN comes out as from one.
template <class F, bool ftz>
struct SignOf {
  float operator()(float a) const { return canonical(F()(flush<ftz>(a))); }
  double operator()(double a) const { return propagate(F()(a), a); }
};

// min and max: -0 < +0, a NaN loses against a number, or with .NaN wins. Compared as integers of the same
// order.
inline int32_t ordered(float x) {
  const int32_t i = std::bit_cast<int32_t>(x);
  return i ^ static_cast<int32_t>(static_cast<uint32_t>(i >> 31) >> 1);
}
inline int64_t ordered(double x) {
  const int64_t i = std::bit_cast<int64_t>(x);
  return i ^ static_cast<int64_t>(static_cast<uint64_t>(i >> 63) >> 1);
}
template <bool maximum, class T>
inline T extreme(T a, T b) {
  return (ordered(a) < ordered(b)) != maximum ? a : b;
}

/// What is compared: values, or their magnitudes, whose signs the result may get.
enum class Compared : uint8_t { values, magnitudes, magnitudes_xorsign };
template <bool maximum, bool ftz, bool nan_wins, Compared compared>
struct FloatMinMax {
  float operator()(float a, float b) const {
    a = flush<ftz>(a), b = flush<ftz>(b);
    const uint32_t sign = compared == Compared::magnitudes_xorsign ? (bits(a) ^ bits(b)) & sign32 : 0;
    if constexpr (compared != Compared::values) a = FloatAbs()(a), b = FloatAbs()(b);
    const float number = extreme<maximum>(a, b);
    const bool none = nan_wins ? is_nan(a) || is_nan(b) : is_nan(a) && is_nan(b);
    const float r = is_nan(a) ? b : is_nan(b) ? a : number;
    return none ? from_bits(nan32) : from_bits(bits(r) | sign);
  }
};
template <bool maximum>
struct DoubleMinMax {
  double operator()(double a, double b) const {
    const double number = extreme<maximum>(a, b);
    const double r = is_nan(a) ? b : is_nan(b) ? a : number;
    return is_nan(r) ? propagate(r, b, a) : r;
  }
};

// The approximations of floats. Computed in double and rounded once, which is closer than the errors the ISA
// allows (1 to 2 ulp; 2^-20.9 absolute for sin and cos): a chip's last bits may differ. sin, cos, lg2, ex2
// and tanh come from the host's mathematical library. Where a chip's result differs by more than the last
// bits, because of how it reads its argument, that is done here as well (H200, on all f16 and bf16 and some
// ranges between them).
/// Beyond 2^126 the chip's reciprocal of b is a flushed zero: documented, and visible.
struct DivApprox {
  float operator()(float a, float b) const {
    const float m = FloatAbs()(b);
    const float q = static_cast<float>(static_cast<double>(a) / b);
    return m > 0x1p126f && m <= 0x1.fffffep127f ? a * Copysign()(b, 0.0f) : q;
  }
};
struct RsqrtApprox {
  float operator()(float a) const { return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a))); }
  double operator()(double a) const { return 1.0 / __builtin_sqrt(a); }
};
/// The chip counts in turns: a / 2 pi as a float, cut off, of which it reads 25 bits behind the point. So a
/// large argument is not where it was, and a small one is a multiple of 2^-25 turns. The chip's results are
/// within 2^-21.5 of those of this angle, whatever its size.
inline double chip_angle(float a) {
  constexpr double two_pi = 0x1.921fb54442d18p+2;
  const double exact = static_cast<double>(a) * static_cast<double>(0x1.45f306p-3f);
  const float near = static_cast<float>(exact);
  const bool beyond = FloatAbs()(static_cast<double>(near)) > FloatAbs()(exact);
  const double turns = static_cast<double>(beyond ? from_bits(bits(near) - 1) : near);
  return __builtin_trunc((turns - __builtin_trunc(turns)) * 0x1p25) * 0x1p-25 * two_pi;
}
/// Of whole quarters of a turn, whose pi is not exact.
inline float zero_if_tiny(double x) { return FloatAbs()(x) < 0x1p-30 ? 0.0f : static_cast<float>(x); }
struct SinApprox {
  float operator()(float a) const {
    const double angle = chip_angle(a);
    return angle == 0.0 ? Copysign()(a, 0.0f) : zero_if_tiny(std::sin(angle));
  }
};
struct CosApprox {
  float operator()(float a) const { return zero_if_tiny(std::cos(chip_angle(a))); }
};
/// .2pi: of a number of turns.
inline double radians_of(float turns) {
  const double x = static_cast<double>(turns);
  return (x - __builtin_nearbyint(x)) * 0x1.921fb54442d18p+2;
}
struct SinOfTurns {
  float operator()(float a) const { return static_cast<float>(std::sin(radians_of(a))); }
};
struct CosOfTurns {
  float operator()(float a) const { return static_cast<float>(std::cos(radians_of(a))); }
};
struct Lg2Approx {
  float operator()(float a) const { return static_cast<float>(std::log2(static_cast<double>(a))); }
};
/// What is nearer to 0 than 2^-23 is 0 to the chip.
struct Ex2Approx {
  float operator()(float a) const {
    return FloatAbs()(a) < 0x1p-23f ? 1.0f : static_cast<float>(std::exp2(static_cast<double>(a)));
  }
};
/// Small numbers are their own, and from 8 on it is 1.
struct TanhApprox {
  float operator()(float a) const {
    const float m = FloatAbs()(a);
    return m < 0x1.02p-8f ? a
           : m >= 8.0f    ? Copysign()(a, 1.0f)
                          : static_cast<float>(std::tanh(static_cast<double>(a)));
  }
};
/// The gross f64 forms look at, and give, the upper 32 bits only; subnormals are flushed, there is one NaN.
inline double upper_half(double x) {
  const uint64_t upper = bits(x) & 0xffffffff00000000u;
  return from_bits((bits(x) & exponent64) == 0 ? bits(x) & sign64 : upper);
}
template <class F>
struct Gross {
  double operator()(double a) const {
    const double r = F()(upper_half(a));
    return is_nan(r) ? from_bits(0x7fffffff00000000u) : upper_half(r);
  }
};
/// rsqrt.approx.f64 is a sequence of instructions on the chip: the gross form, made better by its error. From
/// the chip's own gross values that gives its very bits (H200); ours differ now and then, and 1 of 4,000
/// results.
struct RsqrtOfDouble {
  double operator()(double a) const {
    // Scaled, so that nothing on the way becomes subnormal.
    const bool large = a > 0x1p1000, small = a < 0x1p-1000;
    const double x = a * (large ? 0x1p-200 : small ? 0x1p200 : 1.0);
    const double gross = Gross<RsqrtApprox>()(x), error = __builtin_fma(x, -(gross * gross), 1.0);
    const double r = __builtin_fma(gross * error, __builtin_fma(error, 0.375, 0.5), gross);
    return is_nan(error) ? RsqrtApprox()(a) : r * (large ? 0x1p-100 : small ? 0x1p100 : 1.0);
  }
};

// testp; each of float and double.
template <class T>
inline T magnitude(T x) {
  return FloatAbs()(x);
}
template <class T>
inline constexpr T infinity = static_cast<T>(__builtin_inf());
template <class T>
inline constexpr T smallest_normal = sizeof(T) == 4 ? static_cast<T>(0x1p-126) : static_cast<T>(0x1p-1022);
struct IsFinite {
  template <class T>
  bool operator()(T a) const {
    return magnitude(a) < infinity<T>;
  }
};
struct IsInfinite {
  template <class T>
  bool operator()(T a) const {
    return magnitude(a) == infinity<T>;
  }
};
struct IsNumber {
  template <class T>
  bool operator()(T a) const {
    return a == a;
  }
};
struct IsNotANumber {
  template <class T>
  bool operator()(T a) const {
    return a != a;
  }
};
struct IsNormal {  ///< zeros count as normal
  template <class T>
  bool operator()(T a) const {
    return (magnitude(a) >= smallest_normal<T> && magnitude(a) < infinity<T>) || a == 0;
  }
};
struct IsSubnormal {
  template <class T>
  bool operator()(T a) const {
    return magnitude(a) < smallest_normal<T> && a != 0;
  }
};

}  // namespace lanescope::exec::LANESCOPE_ISA
