// The floating-point formats of 16 and 8 bits, and tf32: to and from f32 and f64. PTX ISA 9.0, chapter 5.2.3
// (alternate floating-point data formats).
//
//   f16    5 exponent bits, 10 of fraction       e4m3  4 and 3; no infinity, one NaN: 0x7f
//   bf16   8 and 7: the upper half of an f32     e5m2  5 and 2: the upper half of an f16
//   tf32   8 and 10: an f32 without its last 13 bits
#pragma once

#include <type_traits>

#include "exec/handlers/rounding.hpp"
#include "exec/handlers/semantics_float.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// The types whose lanes hold the bits of such a number.
struct Half {
  static constexpr uint32_t exponent_bits = 5, fraction_bits = 10;
};
struct Bfloat {
  static constexpr uint32_t exponent_bits = 8, fraction_bits = 7;
};
struct E4m3 {
  static constexpr uint32_t exponent_bits = 4, fraction_bits = 3, largest = 0x7e;
};
struct E5m2 {
  static constexpr uint32_t exponent_bits = 5, fraction_bits = 2, largest = 0x7b;
};
// Without infinities and NaNs.
struct E2m1 {
  static constexpr uint32_t exponent_bits = 2, fraction_bits = 1, largest = 0x07;
};
struct E2m3 {
  static constexpr uint32_t exponent_bits = 2, fraction_bits = 3, largest = 0x1f;
};
struct E3m2 {
  static constexpr uint32_t exponent_bits = 3, fraction_bits = 2, largest = 0x1f;
};
template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;

template <class Format>
inline constexpr uint32_t infinity_of = ((1u << Format::exponent_bits) - 1) << Format::fraction_bits;
template <class Format>
inline constexpr uint32_t sign_of = 1u << (Format::exponent_bits + Format::fraction_bits);
template <class Format>
inline constexpr uint32_t one_of = (infinity_of<Format> >> 1) & infinity_of<Format>;

/// The one NaN of 16-bit arithmetic, and of both 8-bit formats.
inline constexpr uint16_t half_nan = 0x7fff;
inline constexpr uint8_t byte_nan = 0x7f;

/// The bits of |x| in a format, rounded in integers: f64's are cut at the place of the format's last bit. As
/// if exponents had no bound: what is too large gives infinity_of or more. Not for NaNs.
template <Rounding mode, class Format>
inline uint32_t magnitude_from(double x) {
  constexpr int32_t bias = (1 << (Format::exponent_bits - 1)) - 1;
  constexpr int32_t smallest =
      1023 - bias + 1;  // exponent of the smallest normal number, as f64's bits have it
  constexpr int32_t cut = 52 - static_cast<int32_t>(Format::fraction_bits);
  const uint64_t magnitude = bits(x) & ~sign64;
  const bool negative = (bits(x) & sign64) != 0;
  const int32_t exponent = static_cast<int32_t>(magnitude >> 52);
  const bool normal = exponent >= smallest;
  const uint64_t fraction = (magnitude & 0x000fffffffffffffu) | (exponent == 0 ? 0 : uint64_t{1} << 52);
  const uint64_t value = normal ? magnitude - (uint64_t{1023 - bias} << 52) : fraction;
  const int32_t below = smallest - exponent + cut;
  const uint32_t shift = static_cast<uint32_t>(normal ? cut : below > 63 ? 63 : below);
  const uint64_t kept = value >> shift, rest = value & ((uint64_t{1} << shift) - 1),
                 half = uint64_t{1} << (shift - 1);
  const bool up = mode == Rounding::nearest ? rest > half || (rest == half && (kept & 1) != 0)
                  : mode == Rounding::zero  ? false
                                            : rest != 0 && negative == (mode == Rounding::down);
  return static_cast<uint32_t>(kept + (up ? 1 : 0));
}

/// The same of an f32, rounded by `width` random bits (.rs): these are added to the first ones of what is
/// cut, and what carries counts. That is so for subnormal results as well: as others measured for e4m3 on
/// sm_100a (FlashInfer's conversion.cuh says of 22,528 numbers that they are bit-equal), and taken over for
/// the other formats.
template <uint32_t width, class Format>
inline uint32_t magnitude_by_chance(float x, uint32_t random) {
  constexpr int32_t bias = (1 << (Format::exponent_bits - 1)) - 1, smallest = 127 - bias + 1,
                    cut = 23 - static_cast<int32_t>(Format::fraction_bits);
  constexpr int32_t all = static_cast<int32_t>(24 + width);  // cut there, nothing carries
  const uint32_t magnitude = bits(x) & ~sign32;
  const int32_t exponent = static_cast<int32_t>(magnitude >> 23), below = smallest - exponent + cut;
  const bool normal = exponent >= smallest;
  const uint32_t fraction = (magnitude & 0x7fffffu) | (exponent == 0 ? 0 : 0x800000u);
  const uint64_t value = normal ? magnitude - (uint32_t{127 - bias} << 23) : fraction;
  const uint32_t shift = static_cast<uint32_t>(normal ? cut : below > all ? all : below);
  return static_cast<uint32_t>((value + (uint64_t{random} << (shift - width))) >> shift);
}

/// f64 → f16, bf16. A NaN keeps its sign and the upper bits of its payload.
template <Rounding mode, class Format>
inline uint16_t small_from(double x) {
  constexpr uint32_t inf = infinity_of<Format>, payload_bits = Format::fraction_bits - 1;
  const bool negative = (bits(x) & sign64) != 0;
  const uint32_t rounded = magnitude_from<mode, Format>(x);
  const bool largest =
      mode == Rounding::zero || (mode == Rounding::down && !negative) || (mode == Rounding::up && negative);
  const bool overflow = rounded >= inf && (bits(x) & ~sign64) < exponent64;
  const uint32_t bounded = overflow && largest ? inf - 1 : rounded > inf ? inf : rounded;
  const uint32_t payload =
      static_cast<uint32_t>(bits(x) >> (52 - Format::fraction_bits)) & ((1u << payload_bits) - 1);
  const uint32_t nan = inf | 1u << payload_bits | payload;
  return static_cast<uint16_t>((is_nan(x) ? nan : bounded) | (negative ? sign_of<Format> : 0));
}
template <Rounding mode>
inline uint16_t half_from(double x) {
  return small_from<mode, Half>(x);
}

/// f32 → f16, to nearest. Subnormal results come from an addition whose last bit is theirs.
inline uint16_t half_nearest(float x) {
  const uint32_t m = bits(x) & ~sign32, sign = bits(x) >> 16 & 0x8000u;
  const uint32_t normal = (m - ((127u - 15u) << 23) + 0xfffu + (m >> 13 & 1)) >> 13;
  const uint32_t tiny = bits(from_bits(m) + 0.5f) - bits(0.5f);
  const uint32_t finite = m < 0x38800000u ? tiny : m >= 0x47800000u ? 0x7c00u : normal;
  return static_cast<uint16_t>(m > exponent32 ? half_nan : finite | sign);
}
/// f32 → bf16. Rounding may carry into the exponent, up to infinity, as it should.
template <Rounding mode>
inline uint16_t bfloat_from(float x) {
  const uint32_t b = bits(x), odd = (b >> 16) & 1;
  const bool negative = (b & sign32) != 0;
  const uint32_t add = mode == Rounding::nearest ? 0x7fffu + odd
                       : (mode == Rounding::up && !negative) || (mode == Rounding::down && negative) ? 0xffffu
                                                                                                     : 0u;
  return is_nan(x) ? half_nan : static_cast<uint16_t>((b + add) >> 16);
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

// ---- Either 16-bit format.

template <class Format>
inline float single_from(uint16_t h) {
  if constexpr (std::is_same_v<Format, Half>)
    return float_from(h);
  else
    return from_bits(uint32_t{h} << 16);
}
/// NaNs become the canonical one.
template <class Format, Rounding mode>
inline uint16_t rounded_from(float x) {
  if constexpr (std::is_same_v<Format, Bfloat>)
    return bfloat_from<mode>(x);
  else if constexpr (mode == Rounding::nearest)
    return half_nearest(x);
  else
    return is_nan(x) ? half_nan : half_from<mode>(static_cast<double>(x));
}
template <class Format>
inline bool is_nan_of(uint16_t h) {
  return (h & ~sign_of<Format>) > infinity_of<Format>;
}
/// .sat: [0, 1]; NaN and -0 become +0.
template <class Format>
inline uint16_t saturate_half(uint16_t h) {
  // Negative numbers are above sign_of.
  return static_cast<uint16_t>(h > infinity_of<Format> ? 0 : h > one_of<Format> ? one_of<Format> : h);
}
/// .relu: negative numbers and -0 become +0; there is one NaN.
template <class Format>
inline uint16_t relu_half(uint16_t h) {
  return is_nan_of<Format>(h) ? half_nan : (h & sign_of<Format>) != 0 ? uint16_t{0} : h;
}
/// .satfinite: the largest number instead of an infinity; there is one NaN.
template <class Format>
inline uint16_t finite_half(uint16_t h) {
  const bool infinite = (h & ~sign_of<Format>) == infinity_of<Format>;
  return is_nan_of<Format>(h) ? half_nan : static_cast<uint16_t>(infinite ? h - 1 : h);
}

// ---- 8 bits.

/// f32 → numbers of 8 bits and less, from the magnitude that rounding gave; what is too large becomes the
/// largest number, in formats without NaN a NaN as well.
template <class Format, bool relu>
inline uint8_t narrow_from(float x, uint32_t rounded) {
  constexpr bool has_nan = Format::exponent_bits + Format::fraction_bits == 7;
  const bool negative = (bits(x) & sign32) != 0;
  const uint32_t bounded = rounded > Format::largest ? Format::largest : rounded;
  if (is_nan(x)) return has_nan ? byte_nan : static_cast<uint8_t>(Format::largest);
  return static_cast<uint8_t>(relu && negative ? 0 : bounded | (negative ? sign_of<Format> : 0));
}
/// To nearest.
template <class Format, bool relu>
inline uint8_t narrow_from(float x) {
  return narrow_from<Format, relu>(x, magnitude_from<Rounding::nearest, Format>(static_cast<double>(x)));
}
/// The same → f64, exact; bits above the number have no effect.
template <class Format>
inline double double_from_few_bits(uint32_t b) {
  constexpr int bias = (1 << (Format::exponent_bits - 1)) - 1;
  const uint32_t fraction = b & ((1u << Format::fraction_bits) - 1),
                 exponent = b >> Format::fraction_bits & ((1u << Format::exponent_bits) - 1);
  const uint32_t whole = exponent == 0 ? fraction : fraction | 1u << Format::fraction_bits;
  const int power =
      static_cast<int>(exponent == 0 ? 1 : exponent) - bias - static_cast<int>(Format::fraction_bits);
  const double x = static_cast<double>(whole) * from_bits(static_cast<uint64_t>(1023 + power) << 52);
  return (b & sign_of<Format>) != 0 ? -x : x;
}

// ---- Scale factors: the exponent of an f32, 255 for NaN.

/// |x| → a power of two, up or towards zero; `finite`: the largest one in the place of what is larger.
template <bool up, bool finite>
inline uint8_t scale_from(float x) {
  const uint32_t magnitude = bits(x) & ~sign32, exponent = magnitude >> 23, fraction = magnitude & 0x7fffffu;
  if (is_nan(x)) return 255;
  // 2^-127 is a subnormal f32.
  const bool above = exponent == 0 ? fraction > 0x400000u : fraction != 0;
  const uint32_t rounded = exponent + (up && above ? 1 : 0);
  return static_cast<uint8_t>(finite && rounded > 254 ? 254 : rounded > 255 ? 255 : rounded);
}
inline uint16_t bfloat_from_scale(uint8_t b) {
  return static_cast<uint16_t>(b == 255 ? half_nan : b == 0 ? 0x0040 : b << 7);
}

/// e4m3, e5m2 → f16, exact.
template <class Format>
inline uint16_t half_from_byte(uint8_t b) {
  if constexpr (std::is_same_v<Format, E5m2>) {
    return (b & 0x7fu) > 0x7cu ? half_nan : static_cast<uint16_t>(b << 8);
  } else {
    const uint32_t magnitude = b & 0x7fu, sign = uint32_t{b & 0x80u} << 8;
    const uint16_t tiny = half_nearest(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-9f);
    const uint32_t normal = (magnitude << 7) + ((15u - 7u) << 10);
    return static_cast<uint16_t>(magnitude == 0x7f ? half_nan : sign | (magnitude < 8 ? tiny : normal));
  }
}

// ---- tf32.

enum class TensorRounding : uint8_t { nearest, zero, away };
/// f32 → tf32: ties to even, cut, or ties away from zero. The first two have one NaN; the last cuts a NaN as
/// it is.
template <TensorRounding mode, bool relu, bool finite>
inline uint32_t tensor_from(float x) {
  const uint32_t b = bits(x);
  if (mode != TensorRounding::away && is_nan(x)) return nan32 & ~0x1fffu;
  if (relu && (b & sign32) != 0) return 0;
  const uint32_t add = mode == TensorRounding::nearest ? 0xfffu + (b >> 13 & 1)
                       : mode == TensorRounding::away  ? 0x1000u
                                                       : 0u;
  const uint32_t r = ((b & ~sign32) >= exponent32 ? b : b + add) & ~0x1fffu;
  // One step down from infinity is the largest number; a NaN takes the step too.
  return finite && (r & ~sign32) >= exponent32 ? r - 0x2000u : r;
}

}  // namespace lanescope::exec::LANESCOPE_ISA
