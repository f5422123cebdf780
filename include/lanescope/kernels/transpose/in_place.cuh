// Transposes in place: two tiles of a square matrix that lie opposite each other change places.
#pragma once

#include "lanescope/kernels/transpose/common.cuh"

namespace lanescope::kernels::transposing {

inline constexpr int square = 32, square_rows = 8;  // tile, and rows of the thread block

/// A square matrix whose upper tiles change places with the lower ones; one block a pair.
template <int bytes>
__global__ void __launch_bounds__(square* square_rows) transpose_in_place(Job<bytes> job, unsigned tiles) {
  using T = Word<bytes>;
  using Tile = PaddedTile<T, square, square, lanescope::detail::larger(1, 4 / bytes)>;
  static_assert(conflict_free<"sm_90", Tile>(access::row) && conflict_free<"sm_90", Tile>(access::column));
  __shared__ Tile upper, lower;

  // Pair k is the tile in row i and column j <= i, k = i (i + 1) / 2 + j.
  const unsigned pairs = tiles * (tiles + 1) / 2, matrix = blockIdx.x / pairs, k = blockIdx.x % pairs;
  unsigned i = static_cast<unsigned>((sqrt(8.0 * k + 1.0) - 1.0) / 2.0);
  while (i * (i + 1) / 2 > k) --i;
  while ((i + 1) * (i + 2) / 2 <= k) ++i;
  const unsigned j = k - i * (i + 1) / 2;
  T* const base = job.out + matrix * job.out_stride;
  const int64_t row = int64_t{i} * square, column = int64_t{j} * square;
  const int x = static_cast<int>(threadIdx.x) % square, y = static_cast<int>(threadIdx.x) / square;

#pragma unroll
  for (int n = 0; n < square; n += square_rows) {
    if (row + y + n < job.rows && column + x < job.rows)
      lower[y + n][x] = base[(row + y + n) * job.out_leading + column + x];
    if (i != j && column + y + n < job.rows && row + x < job.rows)
      upper[y + n][x] = base[(column + y + n) * job.out_leading + row + x];
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < square; n += square_rows) {
    if (column + y + n < job.rows && row + x < job.rows)
      base[(column + y + n) * job.out_leading + row + x] = lower[x][y + n];
    if (i != j && row + y + n < job.rows && column + x < job.rows)
      base[(row + y + n) * job.out_leading + column + x] = upper[x][y + n];
  }
}

}  // namespace lanescope::kernels::transposing
