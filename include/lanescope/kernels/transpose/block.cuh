// Blocks of elements, transposed in registers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace lanescope::kernels::transposing {

/// Transposes a block of side x side elements, row i of it in x[i], which has so many words.
template <int bytes, int side, int words>
__device__ __forceinline__ void transpose_block(uint32_t (&x)[side][words]) {
  static_assert(side * bytes == words * 4);
  uint32_t y[side][words];
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
          y[2 * w][i] = __byte_perm(x[2 * i][w], x[2 * i + 1][w], 0x5410);
          y[2 * w + 1][i] = __byte_perm(x[2 * i][w], x[2 * i + 1][w], 0x7632);
        } else {
          const uint32_t a = x[4 * i][w], b = x[4 * i + 1][w], c = x[4 * i + 2][w], d = x[4 * i + 3][w];
          const uint32_t low = __byte_perm(a, b, 0x5140), high = __byte_perm(a, b, 0x7362);
          const uint32_t low2 = __byte_perm(c, d, 0x5140), high2 = __byte_perm(c, d, 0x7362);
          y[4 * w][i] = __byte_perm(low, low2, 0x5410);
          y[4 * w + 1][i] = __byte_perm(low, low2, 0x7632);
          y[4 * w + 2][i] = __byte_perm(high, high2, 0x5410);
          y[4 * w + 3][i] = __byte_perm(high, high2, 0x7632);
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
__device__ __forceinline__ void transpose_block(uint32_t (&x)[side]) {
  uint32_t rows[side][1];
#pragma unroll
  for (int i = 0; i < side; ++i) rows[i][0] = x[i];
  transpose_block<bytes>(rows);
#pragma unroll
  for (int i = 0; i < side; ++i) x[i] = rows[i][0];
}

}  // namespace lanescope::kernels::transposing
