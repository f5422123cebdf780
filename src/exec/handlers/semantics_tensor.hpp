// The arithmetic of tensor cores: sums of products as an H100 makes them, bit for bit.
//
// Floating point of up to 22 bits a product (f16, bf16, tf32, fp8). The products of one step are exact. They
// and the accumulator are shifted to the exponent of the largest (exponents added, not those of the
// normalised products), cut towards zero at a fixed number of bits below it, and summed exactly; the sum is
// rounded once, towards zero for f32, to the nearest for f16. A sum that is zero is +0. Subnormals are not
// flushed. Found by running every form of the instructions on an H100 with values made to tell such rules
// apart (tests/matrix); the same structure is described by Fasi, Higham, Mikaitis and Pranesh, "Numerical
// behavior of NVIDIA tensor cores" (2021), for earlier chips.
//
// Here a value is a double, which holds every product, and so is its power, 2 to the power of the exponent in
// its format; 0 for zeros, infinities and NaNs, which then go their way through the sum as in IEEE
// arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>

#include "exec/handlers/semantics_half.hpp"
#include "exec/lanes.hpp"
#include "exec/matrix.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// Elements with their powers, side by side.
struct Values {
  double* value;
  double* power;
};

/// Summands are cut as if there were one of this power at least.
inline constexpr double least_power = 0x1p-133;

inline constexpr uint32_t column_step = 8;

/// What a step of a product does.
struct Fusion {
  int kept_bits = 25;     ///< below the exponent of the largest summand
  uint32_t cut_mask = 0;  ///< bits of the f32 result that are dropped
};

/// 2^exponent of |x| in a format whose smallest normal number is `least`.
inline double power_of(double x, double least) {
  const uint64_t b = bits(x) & exponent64;
  const double p = from_bits(b);
  const bool none = x == 0.0 || b == exponent64;
  return none ? 0.0 : p < least ? least : p;
}

inline double from_e4m3(uint8_t b) {
  const uint32_t exponent = b >> 3 & 15, mantissa = b & 7;
  const double magnitude = exponent == 0
                               ? mantissa * 0x1p-9
                               : from_bits(uint64_t{exponent + 1023 - 7} << 52 | uint64_t{mantissa} << 49);
  const double x = (b & 0x7f) == 0x7f ? from_bits(nan64) : magnitude;
  return (b & 0x80) != 0 ? -x : x;
}
inline double from_e5m2(uint8_t b) { return double_from(static_cast<uint16_t>(b << 8)); }
inline double from_tf32(uint32_t word) { return static_cast<double>(from_bits(word & 0xffffe000u)); }

/// Numbers of 4 and 6 bits, a byte each. `least`: the smallest normal one.
template <class Format>
inline void read_few_bits(const uint32_t* words, uint32_t count, double least, Values out) {
  for (uint32_t i = 0; i < count; ++i) {
    out.value[i] = double_from_few_bits<Format>(words[i / 4] >> (8 * (i % 4)) & 0xff);
    out.power[i] = power_of(out.value[i], least);
  }
}

/// Reads `count` elements of packed words. `as_f16`: fp8 has been converted to f16, whose exponents reach
/// further down.
inline void read_elements(Element e, const uint32_t* words, uint32_t count, bool as_f16, Values out) {
  switch (e) {
    case Element::f16:
      for (uint32_t i = 0; i < count; ++i) {
        const auto h = static_cast<uint16_t>(words[i / 2] >> (16 * (i % 2)));
        out.value[i] = static_cast<double>(float_from(h));
        out.power[i] = power_of(out.value[i], 0x1p-14);
      }
      break;
    case Element::bf16:
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t word = words[i / 2];
        out.value[i] = static_cast<double>(from_bits(i % 2 != 0 ? word & 0xffff0000u : word << 16));
        out.power[i] = power_of(out.value[i], 0x1p-126);
      }
      break;
    case Element::tf32:
      for (uint32_t i = 0; i < count; ++i) {
        out.value[i] = from_tf32(words[i]);
        out.power[i] = power_of(out.value[i], 0x1p-126);
      }
      break;
    case Element::e2m1: read_few_bits<E2m1>(words, count, 1.0, out); break;
    case Element::e2m3: read_few_bits<E2m3>(words, count, 1.0, out); break;
    case Element::e3m2: read_few_bits<E3m2>(words, count, 0x1p-2, out); break;
    default: {
      const bool narrow = e == Element::e4m3;
      for (uint32_t i = 0; i < count; ++i) {
        const auto b = static_cast<uint8_t>(words[i / 4] >> (8 * (i % 4)));
        out.value[i] = narrow ? from_e4m3(b) : from_e5m2(b);
        out.power[i] = power_of(out.value[i], narrow && !as_f16 ? 0x1p-6 : 0x1p-14);
      }
    }
  }
}

/// A sum as f32: towards zero, which is +0; from 2^128 on it is infinite.
inline float sum_to_f32(double x, uint32_t cut_mask) {
  const float nearest = static_cast<float>(x);
  const double back = static_cast<double>(nearest), magnitude = x < 0 ? -x : x;
  uint32_t b = bits(nearest);
  b -= (back < 0 ? -back : back) > magnitude && magnitude < 0x1p128 ? 1u : 0u;
  b &= (b << 1) == 0 ? 0u : ~cut_mask;
  return x != x ? from_bits(nan32) : from_bits(b);
}
/// The same as f16: to the nearest.
inline uint16_t sum_to_f16(double x) {
  const uint16_t h = half_from<Rounding::nearest>(x);
  return x != x ? half_nan : h == 0x8000u ? uint16_t{0} : h;
}

/// c[s] += sum of a[i] b[at[i]][s] over `count` places i, in one step, for column_step columns; the result is
/// the exact sum of what is left of the summands, not yet rounded. Rows of b lie `pitch` apart.
inline void fused_step(const double* a, const double* a_power, const uint16_t* place, const uint16_t* at,
                       uint32_t count, Values b, uint32_t pitch, const double* c, const double* c_power,
                       int kept_bits, double* result) {
  alignas(64) double top[column_step], scale[column_step], sum[column_step];
  for (uint32_t s = 0; s < column_step; ++s) top[s] = c_power[s] < least_power ? least_power : c_power[s];
  for (uint32_t i = 0; i < count; ++i) {
    const double p = a_power[place[i]];
    const double* q = b.power + size_t{at[place[i]]} * pitch;
    for (uint32_t s = 0; s < column_step; ++s) top[s] = top[s] < p * q[s] ? p * q[s] : top[s];
  }
  const double unit = from_bits(static_cast<uint64_t>(1023 + kept_bits) << 52);
  for (uint32_t s = 0; s < column_step; ++s) {
    scale[s] = unit / top[s];
    sum[s] = __builtin_trunc(c[s] * scale[s]);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const double x = a[place[i]];
    const double* y = b.value + size_t{at[place[i]]} * pitch;
    for (uint32_t s = 0; s < column_step; ++s) sum[s] += __builtin_trunc(x * y[s] * scale[s]);
  }
  for (uint32_t s = 0; s < column_step; ++s) result[s] = sum[s] / scale[s] + 0.0;
}

}  // namespace lanescope::exec::LANESCOPE_ISA
