// The 16-bit floating-point formats in pairs and in atomics: bf16, two f32 into two halves, and addition,
// minimum and maximum in memory. PTX ISA 9.0, chapters 9.7.9 (cvt) and 9.7.13 (atom). f16 itself:
// semantics_convert.hpp.
#pragma once

#include "exec/handlers/semantics_convert.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// The type bf16, whose lanes hold its 16 bits: the upper half of an f32.
struct Bfloat {};

inline constexpr uint16_t bfloat_nan = 0x7fff;

/// f32 → bf16. Rounding may carry into the exponent, up to infinity, as it should.
template <Rounding mode>
inline uint16_t bfloat_from(float x) {
  const uint32_t b = bits(x), odd = (b >> 16) & 1;
  const bool negative = (b & sign32) != 0;
  const uint32_t add = mode == Rounding::nearest ? 0x7fffu + odd
                       : (mode == Rounding::up && !negative) || (mode == Rounding::down && negative) ? 0xffffu
                                                                                                     : 0u;
  return is_nan(x) ? bfloat_nan : static_cast<uint16_t>((b + add) >> 16);
}

template <class Element>
inline float single_from(uint16_t h) {
  if constexpr (std::is_same_v<Element, Half>)
    return float_from(h);
  else
    return from_bits(uint32_t{h} << 16);
}
template <class Element, Rounding mode>
inline uint16_t rounded_from(float x) {
  if constexpr (std::is_same_v<Element, Half>)
    return is_nan(x) ? half_nan : half_from<mode>(static_cast<double>(x));
  else
    return bfloat_from<mode>(x);
}

/// cvt.bf16.f32; a flushed operand has no bits left that would round.
template <Rounding mode, bool ftz>
struct ToBfloat {
  uint16_t operator()(float x) const { return bfloat_from<mode>(flush<ftz>(x)); }
};
/// cvt.f32.bf16: bits moved, NaNs with them; with .ftz the H200 gives the canonical NaN.
template <bool ftz>
struct FromBfloat {
  float operator()(uint16_t x) const {
    const float f = single_from<Bfloat>(x);
    return ftz ? canonical(flush<ftz>(f)) : f;
  }
};
/// cvt.f16x2.f32 and cvt.bf16x2.f32: the first source becomes the upper half.
template <class Element, Rounding mode>
struct ToPair {
  uint32_t operator()(float high, float low) const {
    return uint32_t{rounded_from<Element, mode>(high)} << 16 | rounded_from<Element, mode>(low);
  }
};

// ---- What atomics do with one element.

/// In f32, whose 24 bits are enough (2 * 11 + 2) for the second rounding to see no tie that the first one
/// made; sums below the smallest normal number are exact.
struct HalfAdd {
  template <class Element>
  static uint16_t apply(uint16_t a, uint16_t b) {
    return rounded_from<Element, Rounding::nearest>(single_from<Element>(a) + single_from<Element>(b));
  }
};
/// The other operand if one is NaN; -0 is less than +0.
template <bool maximum>
struct HalfSelect {
  template <class Element>
  static uint16_t apply(uint16_t a, uint16_t b) {
    const float x = single_from<Element>(a), y = single_from<Element>(b);
    if (is_nan(x) || is_nan(y)) return !is_nan(x) ? a : !is_nan(y) ? b : half_nan;
    const bool less = x < y || (x == y && (a & 0x8000u) != 0);
    return less != maximum ? a : b;
  }
};

}  // namespace lanescope::exec::LANESCOPE_ISA
