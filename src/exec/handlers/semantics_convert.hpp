// What cvt does to one lane: integers, f16, f32 and f64 into one another. PTX ISA 9.0, chapter 9.7.9 (cvt).
//
// Nothing here depends on the host's rounding mode: a directed result is the nearest one, moved by one unit
// in the last place when it lies on the wrong side of the exact value.
#pragma once

#include <limits>
#include <type_traits>

#include "exec/handlers/rounding.hpp"
#include "exec/handlers/semantics_float.hpp"
#include "exec/handlers/semantics_integer.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// The type f16, whose lanes hold its 16 bits.
struct Half {};

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

// ---- f16.

inline constexpr uint16_t half_nan = 0x7fff;

/// f64 → f16, in integers: the magnitude's bits cut at the place of f16's last bit, and rounded there. A NaN
/// keeps its sign and the upper bits of its payload.
template <Rounding mode>
inline uint16_t half_from(double x) {
  const uint64_t magnitude = bits(x) & ~sign64;
  const uint32_t sign = static_cast<uint32_t>(bits(x) >> 63);
  const int32_t exponent = static_cast<int32_t>(magnitude >> 52);
  constexpr int32_t smallest = 1023 - 14;  // exponent of the smallest normal f16
  const bool normal = exponent >= smallest;
  const uint64_t fraction = (magnitude & 0x000fffffffffffffu) | (exponent == 0 ? 0 : uint64_t{1} << 52);
  const uint64_t value = normal ? magnitude - (uint64_t{1023 - 15} << 52) : fraction;
  const uint32_t shift =
      normal ? 42 : static_cast<uint32_t>(smallest - exponent + 42 > 63 ? 63 : smallest - exponent + 42);
  const uint64_t kept = value >> shift, rest = value & ((uint64_t{1} << shift) - 1),
                 half = uint64_t{1} << (shift - 1);
  const bool up = mode == Rounding::nearest ? rest > half || (rest == half && (kept & 1) != 0)
                  : mode == Rounding::zero  ? false
                                            : rest != 0 && (sign != 0) == (mode == Rounding::down);
  const uint64_t rounded = kept + (up ? 1 : 0);
  constexpr uint64_t inf = 0x7c00;
  const bool overflow = rounded >= inf && magnitude < exponent64;
  const bool largest =
      mode == Rounding::zero || (mode == Rounding::down && sign == 0) || (mode == Rounding::up && sign != 0);
  const uint32_t bounded = overflow        ? (largest ? 0x7bffu : 0x7c00u)
                           : rounded > inf ? 0x7c00u
                                           : static_cast<uint32_t>(rounded);
  const uint32_t nan = 0x7e00u | (static_cast<uint32_t>(magnitude >> 42) & 0x1ffu);
  return static_cast<uint16_t>((is_nan(x) ? nan : bounded) | sign << 15);
}
/// f16 → f32, exact; NaNs become the canonical one.
inline float float_from(uint16_t h) {
  const uint32_t magnitude = h & 0x7fffu, sign = uint32_t{h & 0x8000u} << 16;
  const uint32_t normal = (magnitude << 13) + ((127u - 15u) << 23);
  const uint32_t tiny = bits(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  const uint32_t finite = magnitude < 0x0400u ? tiny : normal;
  return from_bits(magnitude > 0x7c00u ? nan32 : sign | (magnitude == 0x7c00u ? exponent32 : finite));
}
/// f16 → f64, exact; a NaN keeps sign and payload.
inline double double_from(uint16_t h) {
  const uint64_t payload = uint64_t{h & 0x3ffu} << 42;
  const bool none = (h & 0x7fffu) > 0x7c00u;
  const double x = static_cast<double>(float_from(h));
  return none ? from_bits(uint64_t{h & 0x8000u} << 48 | exponent64 | quiet64 | payload) : x;
}
inline uint16_t saturate_half(uint16_t h) {
  return static_cast<uint16_t>(h > 0x7c00u   ? 0
                               : h > 0x3c00u ? 0x3c00u
                                             : h);  // negative ones are above 0x8000
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
    if constexpr (!std::is_same_v<D, Half>)
      return float_from_integer<mode, D>(x);
    else if constexpr (sizeof(S) == 8)
      return half_from<mode>(odd_double(x));
    else
      return half_from<mode>(static_cast<double>(x));
  }
};

/// Floating point → integer, bounded to D's range. A NaN gives 0, but from f64 or to 64 bits the bit pattern
/// 100…0 of D (cvt, "NaN input").
template <class D, class S, Rounding mode, bool ftz>
struct FloatToInt {
  D operator()(Lane<S> lane) const {
    if constexpr (std::is_same_v<S, Half>)
      return convert(float_from(lane));
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

/// f16, f32, f64 into one another. `to_integral`: .rni and its kind, which keep the type. NaNs as an H200 has
/// them: f32 results are the canonical NaN where f32 arithmetic makes them, others carry sign and payload
/// along.
template <class D, class S, Rounding mode, bool ftz, bool to_integral>
struct FloatToFloat {
  static constexpr bool same = std::is_same_v<D, S>;

  auto operator()(Lane<S> x) const {
    if constexpr (same && !to_integral && !ftz && !std::is_same_v<S, Half>)
      return x;
    else if constexpr (std::is_same_v<S, Half>)
      return from_half(x);
    else if constexpr (std::is_same_v<S, float>)
      return from_single(x);
    else
      return from_double(x);
  }

 private:
  static auto from_half(uint16_t h) {
    if constexpr (same)
      return single_to_half(to_integral ? integral<mode>(float_from(h)) : float_from(h));
    else if constexpr (std::is_same_v<D, double>)
      return double_from(h);
    else
      return float_from(h);
  }
  static auto from_single(float x) {
    if constexpr (same)
      return canonical(to_integral ? integral<mode>(flush<ftz>(x)) : flush<ftz>(x));
    else if constexpr (std::is_same_v<D, Half>)
      return single_to_half(x);  // .ftz: f16 keeps what is tiny in f32
    else if constexpr (ftz)
      return static_cast<double>(canonical(flush<true>(x)));
    else
      return propagate(static_cast<double>(x), static_cast<double>(x));
  }
  static auto from_double(double x) {
    if constexpr (same)
      return propagate(integral<mode>(x), x);
    else if constexpr (std::is_same_v<D, Half>)
      return half_from<mode>(x);
    else
      return narrow<mode, ftz>(x);
  }
  static uint16_t single_to_half(float x) {
    const uint16_t h = half_from<mode>(static_cast<double>(x));
    return is_nan(x) ? half_nan : h;
  }
};

}  // namespace lanescope::exec::LANESCOPE_ISA
