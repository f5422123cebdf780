// The video instructions on one lane: pure functions of three registers and a VideoControl. PTX ISA 9.0,
// chapters 9.7.18 and 9.7.19 (scalar and SIMD video instructions).
#pragma once

#include <bit>
#include <cstdint>

#include "exec/handlers/semantics_compare.hpp"
#include "exec/handlers/semantics_integer.hpp"
#include "exec/video.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// `bits` bits of x from `first` on, as a number.
constexpr int64_t part(uint32_t x, uint32_t first, uint32_t bits, bool is_signed) {
  const uint32_t low = bits == 32 ? x : (x >> first) & ((1u << bits) - 1);
  const bool minus = is_signed && ((low >> (bits - 1)) & 1) != 0;
  return static_cast<int64_t>(low) - (minus ? int64_t{1} << bits : 0);
}
constexpr int64_t part(uint32_t x, uint16_t selector, bool is_signed) {
  return part(x, selector & 0xff, selector >> 8, is_signed);
}
constexpr Int128 clamped(Int128 x, uint32_t bits, bool is_signed) {
  const Int128 low = is_signed ? -(Int128{1} << (bits - 1)) : 0;
  const Int128 high = (Int128{1} << (is_signed ? bits - 1 : bits)) - 1;
  return x < low ? low : x > high ? high : x;
}

// ---- The primary operations, of numbers of at most 33 bits.

struct VideoAdd {
  constexpr int64_t operator()(int64_t a, int64_t b) const { return a + b; }
};
struct VideoSub {
  constexpr int64_t operator()(int64_t a, int64_t b) const { return a - b; }
};
struct VideoAbsDiff {
  constexpr int64_t operator()(int64_t a, int64_t b) const { return a < b ? b - a : a - b; }
};
/// The mean, rounded away from zero at .5 above it and towards zero below.
struct VideoAverage {
  constexpr int64_t operator()(int64_t a, int64_t b) const { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; }
};
template <class Comparison>
struct VideoCompare {
  constexpr int64_t operator()(int64_t a, int64_t b) const { return Comparison()(a, b) ? 1 : 0; }
};

// ---- One part of each operand.

/// Bounds a result to what is written, then combines it with c or puts it into a part of c.
constexpr uint32_t finish_video(Int128 result, uint32_t c, VideoControl v) {
  const bool sign = v.has(VideoControl::signed_d);
  const uint32_t bits = v.d == 0 ? 32 : v.d >> 8;
  if (v.has(VideoControl::saturate)) result = clamped(result, bits, sign);
  const uint32_t word = static_cast<uint32_t>(result);
  if (v.has(VideoControl::add)) return word + c;
  if (v.has(VideoControl::min) || v.has(VideoControl::max))
    return (result < part(c, 32 << 8, sign)) == v.has(VideoControl::min) ? word : c;
  if (v.d == 0) return word;
  const uint32_t mask = ((1u << bits) - 1) << (v.d & 0xff);
  return (word << (v.d & 0xff) & mask) | (c & ~mask);
}
template <class F>
struct Video {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, VideoControl v) const {
    const int64_t x = part(a, v.a, v.has(VideoControl::signed_a)),
                  y = part(b, v.b, v.has(VideoControl::signed_b));
    return finish_video(F()(x, y), c, v);
  }
};
/// vshl, vshr: amounts above 32 count as 32, or are taken modulo 32.
template <bool left>
struct VideoShift {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, VideoControl v) const {
    const Int128 x = part(a, v.a, v.has(VideoControl::signed_a));
    const int64_t amount = part(b, v.b, false);
    const int64_t n = v.has(VideoControl::wrap) ? amount & 31 : amount > 32 ? 32 : amount;
    return finish_video(left ? x * (Int128{1} << n) : x >> n, c, v);
  }
};
struct VideoMad {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, VideoControl v) const {
    const bool sa = v.has(VideoControl::signed_a), sb = v.has(VideoControl::signed_b);
    const bool minus = v.has(VideoControl::minus_product), minus_c = v.has(VideoControl::minus_c);
    const bool sign = sa || sb || minus || minus_c;
    Int128 sum = static_cast<Int128>(part(a, v.a, sa)) * part(b, v.b, sb);
    if (minus) sum = -sum;
    const Int128 summand = part(c, 32 << 8, sign);
    sum += minus_c ? -summand : summand;
    if (v.has(VideoControl::plus_one)) sum += 1;
    sum >>= v.scale();
    return static_cast<uint32_t>(v.has(VideoControl::saturate) ? clamped(sum, 32, sign) : sum);
  }
};

// ---- Two halves or four bytes of each operand.

template <class F, uint32_t lanes>
struct VideoLanes {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, VideoControl v) const {
    constexpr uint32_t bits = 32 / lanes;
    const auto source = [&](uint16_t selector, uint32_t lane, bool is_signed) {
      const uint32_t index = selector >> (3 * lane) & 7;
      return part(index < lanes ? a : b, index % lanes * bits, bits, is_signed);
    };
    uint32_t sum = c, merged = c;
    for (uint32_t i = 0; i < lanes; ++i) {
      if ((v.d >> i & 1) == 0) continue;
      Int128 result =
          F()(source(v.a, i, v.has(VideoControl::signed_a)), source(v.b, i, v.has(VideoControl::signed_b)));
      if (v.has(VideoControl::saturate)) result = clamped(result, bits, v.has(VideoControl::signed_d));
      const uint32_t mask = ((1u << bits) - 1) << (i * bits);
      sum += static_cast<uint32_t>(result);
      merged = (static_cast<uint32_t>(result) << (i * bits) & mask) | (merged & ~mask);
    }
    return v.has(VideoControl::add) ? sum : merged;
  }
};

}  // namespace lanescope::exec::LANESCOPE_ISA
