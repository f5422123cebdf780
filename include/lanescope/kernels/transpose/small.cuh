// Transposes of batches of small matrices without gaps, of any sizes: a block copies many of them to shared
// memory, moves their elements to where they belong as a schedule says (schedule.hpp), which keeps all
// lanes in different banks, and copies them to the output.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "lanescope/kernels/transpose/moves.cuh"

namespace lanescope::kernels::transposing {

/// Calls vector(byte) for the whole vectors of 16 bytes in begin … end, and element(byte) for the elements
/// before and behind them, each by one thread.
template <int bytes, class Vector, class Element>
__device__ __forceinline__ void for_bytes(unsigned begin, unsigned end, Vector vector, Element element) {
  const unsigned first = (begin + 15) / 16 * 16, last = max(end / 16 * 16, first);
#pragma unroll 4
  for (unsigned b = first + threadIdx.x * 16; b < last; b += small_threads * 16) vector(b);
  if ((begin | end) % 16 == 0) return;
  if (begin + threadIdx.x * bytes < min(first, end)) element(begin + threadIdx.x * bytes);
  if (last + threadIdx.x * bytes < end) element(last + threadIdx.x * bytes);
}

/// plan.matrices of a batch to a block. Moves of rows x columns elements, and single ones where those do not
/// fit.
template <int bytes, int rows, int columns, unsigned slots>
__global__ void __launch_bounds__(small_threads, 6)
    transpose_small(Job<bytes> job, const __grid_constant__ ScheduleOf<slots> plan) {
  using T = Word<bytes>;
  extern __shared__ uint4 raw[];
  auto* const tile = reinterpret_cast<unsigned char*>(raw);
  const int64_t first = int64_t{blockIdx.x} * plan.piece;
  const unsigned count = blockIdx.x == gridDim.x - 1 ? plan.last_piece : plan.piece;
  // Both pieces lie in shared memory as far behind a multiple of 16 bytes as outside, the input's as far
  // behind one of 32: copies past the first-level cache move whole sectors (docs/model.md).
  const auto* const in = reinterpret_cast<const unsigned char*>(job.in) + first;
  auto* const out = reinterpret_cast<unsigned char*>(job.out) + first;
  const auto in_begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(in) % 32);
  const auto out_begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(out) % 16);
  const auto copy = [](auto* to, const auto* from) {
    *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
  };

  for_bytes<bytes>(
      in_begin, in_begin + count,
      [&](unsigned b) { __pipeline_memcpy_async(tile + b, in - in_begin + b, 16); },
      [&](unsigned b) { copy(tile + b, in - in_begin + b); });
  __pipeline_commit();
  fill_rest<bytes>(tile + in_begin, count, plan.piece);
  const auto from = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + in_begin;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + plan.out_tile + out_begin;
  move_groups<bytes, rows, columns>(
      plan, [&] { return blockIdx.x * plan.matrices; }, from, to);
  __syncthreads();

  const unsigned char* const done = tile + plan.out_tile;
  for_bytes<bytes>(
      out_begin, out_begin + count,
      [&](unsigned b) {
        __stcs(reinterpret_cast<uint4*>(out - out_begin + b), *reinterpret_cast<const uint4*>(done + b));
      },
      [&](unsigned b) { copy(out - out_begin + b, done + b); });
}

}  // namespace lanescope::kernels::transposing
