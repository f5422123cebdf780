// What the model needs from the compiler: one macro that makes its functions callable in CUDA device code,
// and the few bit operations it uses, constexpr on the host and on the device (the std ones are host
// functions for nvcc).
#pragma once

#if __cplusplus < 202002L
#error "Lanescope's headers need C++20: compile with -std=c++20"
#endif

#include <cstdint>

#if defined(__CUDACC__)
#define LANESCOPE_HD __host__ __device__
#else
#define LANESCOPE_HD
#endif

/// Before a loop: device code keeps it a loop. Unrolled, the tables alone make the device compiler run for
/// minutes. The host compiler behind nvcc would warn of a pragma that it does not know.
#if defined(__CUDA_ARCH__)
#define LANESCOPE_KEEP_LOOP _Pragma("unroll 1")
#else
#define LANESCOPE_KEEP_LOOP
#endif

namespace lanescope::model {

/// Lanes of the widest warp the model knows (an AMD wave of 64).
inline constexpr int max_lanes = 64;

namespace detail {

/// Position of the lowest set bit; `bits` is not 0.
LANESCOPE_HD constexpr int lowest_bit(uint64_t bits) {
#if defined(__CUDACC__)
  // nvcc has no constexpr bit scan that device code may call: binary search.
  int position = 0;
  for (int step = 32; step != 0; step /= 2)
    if ((bits & (~uint64_t{0} >> (64 - step))) == 0) {
      bits >>= step;
      position += step;
    }
  return position;
#else
  return __builtin_ctzll(bits);
#endif
}

LANESCOPE_HD constexpr int count_bits(uint64_t bits) {
  // Neither nvcc in device code nor a baseline x86-64 has an instruction for it that is constexpr: sums side
  // by side.
  bits -= (bits >> 1) & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<int>((bits * 0x0101010101010101u) >> 56);
}

/// The lanes begin … end-1 as a mask; 0 <= begin <= end <= 64.
LANESCOPE_HD constexpr uint64_t lane_range(int begin, int end) {
  if (begin >= end) return 0;
  return (~uint64_t{0} >> (64 - (end - begin))) << begin;
}

LANESCOPE_HD constexpr bool is_power_of_two(uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

/// floor(log2(value)); `value` is not 0.
LANESCOPE_HD constexpr int log2_floor(uint64_t value) {
  int result = 0;
  while ((value >>= 1) != 0) ++result;
  return result;
}

LANESCOPE_HD constexpr int smaller(int a, int b) { return a < b ? a : b; }
LANESCOPE_HD constexpr int larger(int a, int b) { return a < b ? b : a; }

}  // namespace detail
}  // namespace lanescope::model
