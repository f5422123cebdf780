// Transposes of batches of small matrices with gaps between rows or between matrices: as transpose/small.cuh,
// but for the copies in and out, which take what matrices have and leave the gaps alone. In shared memory
// there are no gaps.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "lanescope/kernels/transpose/gaps.hpp"
#include "lanescope/kernels/transpose/moves.cuh"

namespace lanescope::kernels::transposing {

/// Calls copy(byte, offset) for the units of the first `end` bytes of shared memory: `offset` of the bytes
/// outside, from where the first matrix begins.
template <unsigned unit, class Copy>
__device__ __forceinline__ void for_units(const GapSide& side, unsigned end, Copy copy) {
  unsigned u = threadIdx.x % side.units, line = threadIdx.x / side.units;
  unsigned matrix = line / side.lines;
  line -= matrix * side.lines;
#pragma unroll 4
  for (unsigned b = threadIdx.x * unit; b < end; b += small_threads * unit) {
    copy(b, matrix * side.stride + line * side.leading + u * unit);
    u += side.step_units;
    line += side.step_lines;
    matrix += side.step_matrices;
    if (u >= side.units) u -= side.units, ++line;
    if (line >= side.lines) line -= side.lines, ++matrix;
  }
}

/// plan.matrices of a batch to a block. Moves of rows x columns elements, and single ones where those do not
/// fit.
template <int bytes, int rows, int columns, unsigned slots>
__global__ void __launch_bounds__(small_threads, 6)
    transpose_gaps(Job<bytes> job, GapSide in_side, GapSide out_side,
                   const __grid_constant__ ScheduleOf<slots> plan) {
  extern __shared__ uint4 raw[];
  auto* const tile = reinterpret_cast<unsigned char*>(raw);
  const int64_t first = int64_t{blockIdx.x} * plan.matrices;
  const unsigned count = blockIdx.x == gridDim.x - 1 ? plan.last_piece : plan.piece;
  const auto* const in = reinterpret_cast<const unsigned char*>(job.in) + first * in_side.stride;
  auto* const out = reinterpret_cast<unsigned char*>(job.out) + first * out_side.stride;

  with_unit<bytes, 16>(in_side.unit, [&]<unsigned unit>() {
    for_units<unit>(in_side, count, [&](unsigned b, int64_t offset) {
      if constexpr (unit >= 4)
        __pipeline_memcpy_async(tile + b, in + offset, unit);
      else
        *reinterpret_cast<Word<unit>*>(tile + b) = *reinterpret_cast<const Word<unit>*>(in + offset);
    });
  });
  __pipeline_commit();
  fill_rest<bytes>(tile, count, plan.piece);
  move_groups<bytes, rows, columns>(
      plan, [] { return 0U; }, static_cast<unsigned>(__cvta_generic_to_shared(tile)),
      static_cast<unsigned>(__cvta_generic_to_shared(tile)) + plan.out_tile);
  __syncthreads();

  const unsigned char* const done = tile + plan.out_tile;
  with_unit<bytes, 16>(out_side.unit, [&]<unsigned unit>() {
    for_units<unit>(out_side, count, [&](unsigned b, int64_t offset) {
      *reinterpret_cast<Word<unit>*>(out + offset) = *reinterpret_cast<const Word<unit>*>(done + b);
    });
  });
}

}  // namespace lanescope::kernels::transposing
