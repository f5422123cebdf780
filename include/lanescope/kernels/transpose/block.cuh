// Blocks of elements, transposed in registers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace lanescope::kernels::transposing {

/// Transposes a block of side x side elements, row i of it in x[i ^ in], which has so many words; column i of
/// it comes to lie in x[i ^ out].
template <int bytes, int side, int words>
__device__ __forceinline__ void transpose_block(uint32_t (&x)[side][words], unsigned in = 0,
                                                unsigned out = 0) {
  static_assert(side * bytes == words * 4);
  uint32_t y[side][words];
  // Rows in another order are the other way round in a permutation, columns are taken the other way round.
  const auto order = [](unsigned select, unsigned swapped, unsigned other) {
    return select ^ (swapped & 1) * 0x4444 ^ (other & 1) * 0x2222;
  };
  if constexpr (bytes >= 4) {
    constexpr int size = bytes / 4;  // words of an element
#pragma unroll
    for (int i = 0; i < side; ++i)
#pragma unroll
      for (int w = 0; w < words; ++w) y[w / size][i * size + w % size] = x[i][w];
  } else {
#pragma unroll
    for (int w = 0; w < words; ++w)
#pragma unroll
      for (int i = 0; i < words; ++i) {
        if constexpr (bytes == 2) {
#pragma unroll
          for (unsigned k = 0; k < 2; ++k)
            y[2 * w + k][i] = __byte_perm(x[2 * i][w], x[2 * i + 1][w], order(0x5410, in, k ^ out));
        } else {
          const uint32_t a = x[4 * i][w], b = x[4 * i + 1][w], c = x[4 * i + 2][w], d = x[4 * i + 3][w];
#pragma unroll
          for (unsigned half = 0; half < 2; ++half) {
            const unsigned pairs = order(0x5140, in, half ^ out >> 1);
            const uint32_t low = __byte_perm(a, b, pairs), high = __byte_perm(c, d, pairs);
#pragma unroll
            for (unsigned k = 0; k < 2; ++k)
              y[4 * w + 2 * half + k][i] = __byte_perm(low, high, order(0x5410, in >> 1, k ^ out));
          }
        }
      }
  }
#pragma unroll
  for (int i = 0; i < side; ++i)
#pragma unroll
    for (int w = 0; w < words; ++w) x[i][w] = y[i][w];
}
/// The same for rows of one word.
template <int bytes, int side>
__device__ __forceinline__ void transpose_block(uint32_t (&x)[side], unsigned in = 0, unsigned out = 0) {
  uint32_t rows[side][1];
#pragma unroll
  for (int i = 0; i < side; ++i) rows[i][0] = x[i];
  transpose_block<bytes>(rows, in, out);
#pragma unroll
  for (int i = 0; i < side; ++i) x[i] = rows[i][0];
}

}  // namespace lanescope::kernels::transposing
