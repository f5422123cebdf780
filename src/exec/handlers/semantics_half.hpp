// Arithmetic of the 16-bit floating-point formats, alone and in pairs, in registers and in memory. PTX
// ISA 9.0, chapters 9.7.4 (half precision), 9.7.13 (atom). The formats themselves: semantics_formats.hpp.
//
// Each operation is one rounding of the exact result. Sums and f16 products are rounded by f32 first: its 24
// bits are enough (2 * 11 + 2) for the second rounding to see no tie that the first one made. What f32 (of
// bf16, whose products leave its range, f64) does not hold of an fma is noted in its last bit, which is too
// far down to matter otherwise.
#pragma once

#include "exec/handlers/semantics_formats.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// .ftz of f16: a subnormal becomes the zero of its sign.
template <class Format, bool ftz>
inline uint16_t flush_half(uint16_t h) {
  if constexpr (!ftz) return h;
  return (h & infinity_of<Format>) == 0 ? static_cast<uint16_t>(h & sign_of<Format>) : h;
}
/// The number next to x towards zero if x is further from it than the exact value, which is not x; its last
/// bit set. Infinities and NaNs stay.
template <class T>
inline T odd(T x, bool exact, bool away) {
  constexpr auto exponent = std::is_same_v<T, float> ? exponent32 : exponent64;
  const auto b = bits(x);
  const bool finite = (b & exponent) != exponent;
  return finite && !exact ? from_bits((b - (away ? 1 : 0)) | 1) : x;
}
/// a + b.
template <class T>
inline T odd_sum(T a, T b) {
  const T sum = a + b;
  const T part = sum - a;
  const T error = (a - (sum - part)) + (b - part);
  return odd(sum, error == 0, (error < 0) != (sum < 0));
}
/// f64 → f32.
inline float odd_single(double x) {
  const auto single = static_cast<float>(x);
  const double back = single;
  return odd(single, back == x, FloatAbs()(back) > FloatAbs()(x));
}
/// f32 → f16; with .ftz zero for what is below the smallest normal number when rounded as if exponents had no
/// bound.
template <bool ftz>
inline uint16_t half_flushed(float x) {
  const uint16_t h = half_nearest(x);
  const bool tiny = ftz && FloatAbs()(x) < 0x1p-14f - 0x1p-26f;
  return tiny ? static_cast<uint16_t>(h & sign_of<Half>) : h;
}

// ---- The operations, of flushed operands.

template <bool subtract>
struct HalfSum {
  template <class Format, bool ftz>
  [[gnu::always_inline]] static uint16_t apply(uint16_t a, uint16_t b) {
    const float x = single_from<Format>(a), y = single_from<Format>(b);
    return flush_half<Format, ftz>(rounded_from<Format, Rounding::nearest>(subtract ? x - y : x + y));
  }
};
using HalfAdd = HalfSum<false>;
struct HalfMul {
  template <class Format, bool ftz>
  [[gnu::always_inline]] static uint16_t apply(uint16_t a, uint16_t b) {
    const float x = single_from<Format>(a), y = single_from<Format>(b);
    if constexpr (std::is_same_v<Format, Half>)
      return half_flushed<ftz>(x * y);
    else
      return bfloat_from<Rounding::nearest>(odd_single(static_cast<double>(x) * static_cast<double>(y)));
  }
};
struct HalfFma {
  template <class Format, bool ftz>
  [[gnu::always_inline]] static uint16_t apply(uint16_t a, uint16_t b, uint16_t c) {
    const float x = single_from<Format>(a), y = single_from<Format>(b), z = single_from<Format>(c);
    if constexpr (std::is_same_v<Format, Half>)
      return half_flushed<ftz>(odd_sum(x * y, z));
    else
      return bfloat_from<Rounding::nearest>(
          odd_single(odd_sum(static_cast<double>(x) * static_cast<double>(y), static_cast<double>(z))));
  }
};
/// .oob: 0 where a factor is the NaN that tensor copies put for what lies outside of a tensor (0x7ff7, with
/// either sign, for both formats: measured on an H100 with random words).
struct HalfFmaOob {
  static constexpr bool is_outside(uint16_t a) { return (a & 0x7fff) == 0x7ff7; }
  template <class Format, bool ftz>
  static uint16_t apply(uint16_t a, uint16_t b, uint16_t c) {
    return is_outside(a) || is_outside(b) ? uint16_t{0} : HalfFma::apply<Format, ftz>(a, b, c);
  }
};
template <bool absolute>
struct HalfSign {
  template <class Format, bool ftz>
  static uint16_t apply(uint16_t a) {
    const uint32_t r = absolute ? a & ~sign_of<Format> : a ^ sign_of<Format>;
    return is_nan_of<Format>(a) ? half_nan : static_cast<uint16_t>(r);
  }
};
/// min, max: a NaN loses against a number, or with .NaN wins; -0 is less than +0.
template <bool maximum, bool nan_wins, bool xorsign>
struct HalfMinMax {
  template <class Format, bool ftz>
  static uint16_t apply(uint16_t a, uint16_t b) {
    constexpr uint32_t magnitude = sign_of<Format> - 1;
    const uint32_t sign = xorsign ? (a ^ b) & sign_of<Format> : 0u;
    const auto x = static_cast<uint16_t>(xorsign ? a & magnitude : a);
    const auto y = static_cast<uint16_t>(xorsign ? b & magnitude : b);
    const bool x_nan = is_nan_of<Format>(x), y_nan = is_nan_of<Format>(y);
    const bool none = nan_wins ? x_nan || y_nan : x_nan && y_nan;
    const uint16_t number = (ordered_half(x) < ordered_half(y)) != maximum ? x : y;
    const uint32_t r = x_nan ? y : y_nan ? x : number;
    return none ? half_nan : static_cast<uint16_t>(r | sign);
  }

 private:
  /// As an integer of the same order.
  static int32_t ordered_half(uint16_t h) {
    const int32_t i = static_cast<int16_t>(h);
    return i < 0 ? i ^ 0x7fff : i;
  }
};

// ---- The approximations: of f32's, what does not fit cut off; too large a result is infinite, and a
// subnormal bf16 is zero. Of all arguments, an H200 gives this for all of ex2, and another last bit for 48 of
// tanh of f16 and 2 of bf16.

template <class F>
struct HalfApprox {
  template <class Format, bool ftz>
  static uint16_t apply(uint16_t a) {
    const float x = F()(single_from<Format>(a));
    const uint16_t r = rounded_from<Format, Rounding::zero>(x);
    if constexpr (std::is_same_v<Format, Half>)
      return x >= 0x1p16f ? infinity_of<Format> : r;
    else
      return std::is_same_v<F, Ex2Approx> ? flush_half<Format, true>(r) : r;
  }
};
using HalfEx2 = HalfApprox<Ex2Approx>;
using HalfTanh = HalfApprox<TanhApprox>;

// ---- With modifiers, on lanes of one number or two.

enum class HalfResult : uint8_t { plain, saturated, relu };

/// One function for all handlers that are executed seldom; a loop that calls it is not vectorised.
template <class F, class Format, bool ftz, class... H>
[[gnu::noinline]] uint16_t apply_apart(H... x) {
  return F::template apply<Format, ftz>(flush_half<Format, ftz>(x)...);
}

template <class F, class Format, bool ftz, HalfResult result>
struct HalfLane {
  template <class... H>
  uint16_t operator()(H... x) const {
    constexpr bool plain = !ftz && result == HalfResult::plain;
    const uint16_t r = plain ? F::template apply<Format, ftz>(static_cast<uint16_t>(x)...)
                             : apply_apart<F, Format, ftz>(static_cast<uint16_t>(x)...);
    if constexpr (result == HalfResult::saturated) return saturate_half<Format>(r);
    if constexpr (result == HalfResult::relu) return relu_half<Format>(r);
    return r;
  }
};
template <class One>
struct Pairwise {
  template <class... W>
  uint32_t operator()(W... x) const {
    const uint32_t low = One()(static_cast<uint16_t>(x)...);
    const uint32_t high = One()(static_cast<uint16_t>(x >> 16)...);
    return high << 16 | low;
  }
};

}  // namespace lanescope::exec::LANESCOPE_ISA
