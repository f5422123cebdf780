// What cvt does to one lane: integers, f16, bf16, f32 and f64 into one another, and pairs of narrow numbers.
// PTX ISA 9.0, chapter 9.7.9 (cvt).
//
// Nothing here depends on the host's rounding mode: a directed result is the nearest one, moved by one unit
// in the last place when it lies on the wrong side of the exact value.
#pragma once

#include <limits>
#include <type_traits>

#include "exec/handlers/semantics_formats.hpp"
#include "exec/handlers/semantics_integer.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// What a lane of type T is stored as: 8-bit types in 16 bits.
template <class T>
struct LaneOf {
  using type = T;
};
template <>
struct LaneOf<uint8_t> {
  using type = uint16_t;
};
template <>
struct LaneOf<int8_t> {
  using type = int16_t;
};
template <>
struct LaneOf<Half> {
  using type = uint16_t;
};
template <>
struct LaneOf<Bfloat> {
  using type = uint16_t;
};
template <class T>
using Lane = typename LaneOf<T>::type;

// ---- Rounding.

/// The neighbour of x, which is no NaN, towards -infinity and +infinity.
inline float next_down(float x) {
  const uint32_t b = bits(x);
  return from_bits((b & ~sign32) == 0 ? sign32 | 1 : (b & sign32) != 0 ? b + 1 : b - 1);
}
inline double next_down(double x) {
  const uint64_t b = bits(x);
  return from_bits((b & ~sign64) == 0 ? sign64 | 1 : (b & sign64) != 0 ? b + 1 : b - 1);
}
template <class T>
inline T next_up(T x) {
  return -next_down(-x);
}

/// From the nearest value and how it compares with the exact one to the value that `mode` asks for.
template <Rounding mode, class T>
inline T directed(T nearest, bool below_exact, bool above_exact) {
  if constexpr (mode == Rounding::nearest) return nearest;
  const bool lower = mode == Rounding::down || (mode == Rounding::zero && nearest > 0);
  const bool raise = mode == Rounding::up || (mode == Rounding::zero && nearest < 0);
  return above_exact && lower ? next_down(nearest) : below_exact && raise ? next_up(nearest) : nearest;
}

/// f64 → f32. .ftz flushes what is tiny when rounded as if exponents had no bound (see rounding.hpp).
template <Rounding mode, bool ftz = false>
inline float narrow(double x) {
  const float f = static_cast<float>(x);
  const float r = directed<mode>(f, static_cast<double>(f) < x, static_cast<double>(f) > x);
  if constexpr (!ftz) return r;
  const float scaled = narrow<mode>(x * 0x1p100);
  return FloatAbs()(scaled) < 0x1p-26f ? Copysign()(r, 0.0f) : r;
}

/// Integer → f32 or f64.
template <Rounding mode, class F, class I>
inline F float_from_integer(I x) {
  if constexpr (sizeof(I) < 8) {
    if constexpr (std::is_same_v<F, double> || sizeof(I) < 4)
      return static_cast<F>(x);
    else if constexpr (mode == Rounding::nearest)
      return static_cast<F>(x);
    else
      return narrow<mode>(static_cast<double>(x));
  } else {
    const F f = static_cast<F>(x);
    if constexpr (mode == Rounding::nearest) return f;
    const Int128 exact = x, rounded = static_cast<Int128>(f);
    return directed<mode>(f, rounded<exact, rounded> exact);
  }
}

/// A double that rounds to f16 as the 64-bit integer does: cut, with the last bit set if that was not exact.
template <class I>
inline double odd_double(I x) {
  const double cut = float_from_integer<Rounding::zero, double>(x);
  return static_cast<Int128>(cut) == static_cast<Int128>(x) ? cut : from_bits(bits(cut) | 1);
}

/// To an integral value. The host rounds to nearest here.
template <Rounding mode, class T>
inline T integral(T x) {
  if constexpr (sizeof(T) == 4) {
    if constexpr (mode == Rounding::nearest)
      return __builtin_nearbyintf(x);
    else if constexpr (mode == Rounding::zero)
      return __builtin_truncf(x);
    else if constexpr (mode == Rounding::down)
      return __builtin_floorf(x);
    else
      return __builtin_ceilf(x);
  } else {
    if constexpr (mode == Rounding::nearest)
      return __builtin_nearbyint(x);
    else if constexpr (mode == Rounding::zero)
      return __builtin_trunc(x);
    else if constexpr (mode == Rounding::down)
      return __builtin_floor(x);
    else
      return __builtin_ceil(x);
  }
}

// ---- The conversions, from a lane of S to a value of D.

/// Integer → integer: cut or extended; .sat bounds it to D's range.
template <class D, class S, bool sat>
struct IntToInt {
  constexpr D operator()(Lane<S> lane) const {
    const S x = static_cast<S>(lane);
    if constexpr (!sat) return static_cast<D>(x);
    constexpr D low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
    if constexpr (std::is_signed_v<S> && !std::is_signed_v<D>) {
      return x < 0 ? D{0} : static_cast<std::make_unsigned_t<S>>(x) > high ? high : static_cast<D>(x);
    } else if constexpr (std::is_signed_v<S>) {
      return x < low ? low : x > high ? high : static_cast<D>(x);
    } else {
      return x > static_cast<std::make_unsigned_t<D>>(high) ? high : static_cast<D>(x);
    }
  }
};

/// Integer → floating point.
template <class D, class S, Rounding mode>
struct IntToFloat {
  auto operator()(Lane<S> lane) const {
    const S x = static_cast<S>(lane);
    if constexpr (!is_half<D>)
      return float_from_integer<mode, D>(x);
    else if constexpr (sizeof(S) == 8)
      return small_from<mode, D>(odd_double(x));
    else
      return small_from<mode, D>(static_cast<double>(x));
  }
};

/// Floating point → integer, bounded to D's range. A NaN gives 0, but from f64 or to 64 bits the bit pattern
/// 100…0 of D (cvt, "NaN input").
template <class D, class S, Rounding mode, bool ftz>
struct FloatToInt {
  D operator()(Lane<S> lane) const {
    if constexpr (is_half<S>)
      return convert(single_from<S>(lane));
    else if constexpr (std::is_same_v<S, float>)
      return convert(flush<ftz>(lane));
    else
      return convert(lane);
  }

 private:
  template <class F>
  static D convert(F x) {
    using Limits = std::numeric_limits<D>;
    using Step = std::conditional_t<sizeof(D) < 4, int32_t, D>;
    constexpr F low = static_cast<F>(Limits::min());
    constexpr F beyond = static_cast<F>(D{1} << (Limits::digits - 1)) * F{2};  // 2^31 for s32
    constexpr bool zero = !std::is_same_v<S, double> && sizeof(D) < 8;
    constexpr D of_nan = zero ? D{0} : static_cast<D>(std::make_unsigned_t<D>{1} << (bits_of<D> - 1));
    const F r = integral<mode>(x);
    const bool small = r < low, large = r >= beyond, none = is_nan(x);
    const D d = static_cast<D>(static_cast<Step>(small || large || none ? F{0} : r));
    return none ? of_nan : small ? Limits::min() : large ? Limits::max() : d;
  }
};

/// f16, bf16, f32, f64 into one another. `to_integral`: .rni and its kind, which keep the type. NaNs as an
/// H200 has them: f32 results are the canonical NaN where f32 arithmetic makes them, others carry sign and
/// payload along.
template <class D, class S, Rounding mode, bool ftz, bool to_integral>
struct FloatToFloat {
  static constexpr bool same = std::is_same_v<D, S>;

  auto operator()(Lane<S> x) const {
    if constexpr (same && !to_integral && !ftz && !is_half<S>)
      return x;
    else if constexpr (std::is_same_v<S, Half>)
      return from_half(x);
    else if constexpr (std::is_same_v<S, Bfloat>)
      return from_bfloat(x);
    else if constexpr (std::is_same_v<S, float>)
      return from_single(x);
    else
      return from_double(x);
  }

 private:
  static auto from_half(uint16_t h) {
    if constexpr (same)
      return single_to_half(to_integral ? integral<mode>(float_from(h)) : float_from(h));
    else if constexpr (std::is_same_v<D, Bfloat>)
      return bfloat_from<mode>(float_from(h));
    else if constexpr (std::is_same_v<D, double>)
      return double_from(h);
    else
      return float_from(h);
  }
  /// To f32 bits are moved, NaNs with them; with .ftz there is one NaN.
  static auto from_bfloat(uint16_t h) {
    const float x = single_from<Bfloat>(h);
    if constexpr (same)
      return bfloat_from<Rounding::nearest>(to_integral ? integral<mode>(x) : x);
    else if constexpr (std::is_same_v<D, Half>)
      return single_to_half(x);
    else if constexpr (std::is_same_v<D, double>)
      return propagate(static_cast<double>(x), static_cast<double>(x));
    else
      return ftz ? canonical(flush<ftz>(x)) : x;
  }
  static auto from_single(float x) {
    if constexpr (same)
      return canonical(to_integral ? integral<mode>(flush<ftz>(x)) : flush<ftz>(x));
    else if constexpr (std::is_same_v<D, Half>)
      return single_to_half(x);  // .ftz: f16 keeps what is tiny in f32
    else if constexpr (std::is_same_v<D, Bfloat>)
      return bfloat_from<mode>(flush<ftz>(x));  // a flushed number has no bits left that would round
    else if constexpr (ftz)
      return static_cast<double>(canonical(flush<true>(x)));
    else
      return propagate(static_cast<double>(x), static_cast<double>(x));
  }
  static auto from_double(double x) {
    if constexpr (same)
      return propagate(integral<mode>(x), x);
    else if constexpr (is_half<D>)
      return small_from<mode, D>(x);
    else
      return narrow<mode, ftz>(x);
  }
  static uint16_t single_to_half(float x) { return rounded_from<Half, mode>(x); }
};

// ---- Pairs: the first source, or the upper half of the only one, becomes the upper half of the result.

/// What .relu and .satfinite make of a 16-bit number.
template <class Format, bool relu, bool finite>
inline uint16_t finished_half(uint16_t h) {
  if constexpr (finite) h = finite_half<Format>(h);
  if constexpr (relu) h = relu_half<Format>(h);
  return h;
}
template <class Format, Rounding mode, bool relu, bool finite>
struct ToHalves {
  uint32_t operator()(float high, float low) const {
    return uint32_t{finished_half<Format, relu, finite>(rounded_from<Format, mode>(high))} << 16 |
           finished_half<Format, relu, finite>(rounded_from<Format, mode>(low));
  }
};
/// .rs: away from zero where the bits that are cut and the random ones have a sum that carries. Halves of
/// `random` are for the number of the same half; f16 takes their lower 13 bits.
template <class Format, bool relu, bool finite>
struct ToHalvesByChance {
  static uint16_t rounded(float x, uint32_t random) {
    const uint32_t b = bits(x);
    uint32_t h = (b & ~sign32) >= exponent32 ? b >> 16 : (b + random) >> 16;
    if constexpr (std::is_same_v<Format, Half>) {
      const uint32_t magnitude = magnitude_by_chance<13, Half>(x, random & 0x1fffu);
      h = (magnitude > infinity_of<Half> ? infinity_of<Half> : magnitude) | (b >> 16 & 0x8000u);
    }
    return finished_half<Format, relu, finite>(is_nan(x) ? half_nan : static_cast<uint16_t>(h));
  }
  uint32_t operator()(float high, float low, uint32_t random) const {
    return uint32_t{rounded(high, random >> 16)} << 16 | rounded(low, random & 0xffffu);
  }
};
inline uint32_t reversed_halfword(uint32_t x) {
  x = (x >> 1 & 0x5555u) | (x & 0x5555u) << 1;
  x = (x >> 2 & 0x3333u) | (x & 0x3333u) << 2;
  x = (x >> 4 & 0x0f0fu) | (x & 0x0f0fu) << 4;
  return x >> 8 | (x & 0xffu) << 8;
}
/// Four numbers by chance, `a` the uppermost. Two share 16 random bits, the first of them takes these from
/// the other end: the upper two the upper half of `random`, but of e2m1, whose results are half as long,
/// bytes 3 and 1. The PTX ISA says which half is whose; the order is what others measured on GPUs of sm_100a,
/// whose findings agree (FlashInfer's conversion.cuh; of e2m1 one of them).
template <class Format, bool relu>
struct ToFourByChance {
  static constexpr bool four_bits = std::is_same_v<Format, E2m1>;
  static constexpr uint32_t apart = four_bits ? 4 : 8;
  uint32_t operator()(float a, float b, float e, float f, uint32_t random) const {
    const uint32_t upper = four_bits ? (random >> 16 & 0xff00u) | (random >> 8 & 0xffu) : random >> 16,
                   lower = four_bits ? (random >> 8 & 0xff00u) | (random & 0xffu) : random & 0xffffu;
    const auto one = [](float x, uint32_t bits16) {
      return uint32_t{narrow_from<Format, relu>(x, magnitude_by_chance<16, Format>(x, bits16))};
    };
    return one(a, reversed_halfword(upper)) << 3 * apart | one(b, upper) << 2 * apart |
           one(e, reversed_halfword(lower)) << apart | one(f, lower);
  }
};
template <class Format, bool relu>
struct ToBytes {
  uint16_t operator()(float high, float low) const {
    return static_cast<uint16_t>(narrow_from<Format, relu>(high) << 8 | narrow_from<Format, relu>(low));
  }
  uint16_t operator()(uint32_t halves) const {
    return (*this)(float_from(static_cast<uint16_t>(halves >> 16)),
                   float_from(static_cast<uint16_t>(halves)));
  }
};
/// F, which takes two f32, of the halves of a bf16x2.
template <class F>
struct OfBfloats {
  uint16_t operator()(uint32_t pair) const {
    return F()(from_bits(pair & 0xffff0000u), from_bits(pair << 16));
  }
};
/// To f16x2 and bf16x2, exact.
template <class To, class Format, bool relu, bool finite>
struct BytesToHalves {
  uint32_t operator()(uint16_t bytes) const {
    const auto half = [](uint32_t byte) {
      const uint16_t h = half_from_byte<Format>(static_cast<uint8_t>(byte));
      return finished_half<To, relu, finite>(rounded_from<To, Rounding::nearest>(float_from(h)));
    };
    return uint32_t{half(bytes >> 8u)} << 16 | half(bytes);
  }
};
/// Two numbers of 4 bits share a byte, others have one each.
template <class Format, bool relu>
struct ToFewBits {
  static constexpr uint32_t apart = std::is_same_v<Format, E2m1> ? 4 : 8;
  uint16_t operator()(float high, float low) const {
    return static_cast<uint16_t>(narrow_from<Format, relu>(high) << apart | narrow_from<Format, relu>(low));
  }
  uint16_t operator()(uint32_t halves) const {
    return (*this)(float_from(static_cast<uint16_t>(halves >> 16)),
                   float_from(static_cast<uint16_t>(halves)));
  }
};
template <class To, class Format, bool relu, bool finite>
struct FewBitsToHalves {
  uint32_t operator()(uint16_t both) const {
    const auto half = [](uint32_t b) {
      return finished_half<To, relu, finite>(
          small_from<Rounding::nearest, To>(double_from_few_bits<Format>(b)));
    };
    return uint32_t{half(uint32_t{both} >> ToFewBits<Format, relu>::apart)} << 16 | half(both);
  }
};
template <bool up, bool finite>
struct ToScales {
  uint16_t operator()(float high, float low) const {
    return static_cast<uint16_t>(scale_from<up, finite>(high) << 8 | scale_from<up, finite>(low));
  }
};
struct ScalesToBfloats {
  uint32_t operator()(uint16_t both) const {
    return uint32_t{bfloat_from_scale(static_cast<uint8_t>(both >> 8))} << 16 |
           bfloat_from_scale(static_cast<uint8_t>(both));
  }
};
template <TensorRounding mode, bool relu, bool finite>
struct ToTensor {
  uint32_t operator()(float x) const { return tensor_from<mode, relu, finite>(x); }
};
/// cvt.pack: a and b, bounded to `width` bits each, above them what of c fits.
template <uint32_t width, bool is_signed>
struct Pack {
  constexpr uint32_t operator()(int32_t a, int32_t b) const { return piece(a) << width | piece(b); }
  constexpr uint32_t operator()(int32_t a, int32_t b, uint32_t c) const {
    return c << (2 * width) | (*this)(a, b);
  }

 private:
  static constexpr uint32_t piece(int32_t x) {
    constexpr int32_t low = is_signed ? -(1 << (width - 1)) : 0;
    constexpr int32_t high = (1 << (is_signed ? width - 1 : width)) - 1;
    return static_cast<uint32_t>(x < low ? low : x > high ? high : x) & ((1u << width) - 1);
  }
};

}  // namespace lanescope::exec::LANESCOPE_ISA
