// Transposes of batches of small matrices without gaps: a block takes many of them as one piece of memory.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstring>

#include "lanescope/kernels/transpose/block.cuh"
#include "lanescope/kernels/transpose/common.cuh"
#include "lanescope/kernels/transpose/small_plan.hpp"

namespace lanescope::kernels::transposing {

/// Starts copying whole granules to shared memory; returns the bytes that they have.
template <int granule>
__device__ __forceinline__ unsigned copy_granules(unsigned char* tile, const void* in, unsigned bytes,
                                                  const SmallPlan& plan) {
  const auto* const from = static_cast<const unsigned char*>(in);
  const unsigned whole = bytes / granule * granule;
#pragma unroll 4
  for (unsigned b = threadIdx.x * granule; b < whole; b += blockDim.x * granule)
    __pipeline_memcpy_async(tile + plan.place(b), from + b, granule);
  return whole;
}

/// A word of the elements at tile + place[…].
template <int bytes, int word>
__device__ __forceinline__ Word<word> gather(const unsigned char* tile,
                                             const unsigned (&place)[word / bytes]) {
  const auto at = [&](int k) { return *reinterpret_cast<const Word<bytes>*>(tile + place[k]); };
  if constexpr (bytes == word)
    return at(0);
  else if constexpr (bytes == 2)
    return __byte_perm(at(0), at(1), 0x5410);
  else
    return __byte_perm(__byte_perm(at(0), at(1), 0x0040), __byte_perm(at(2), at(3), 0x0040), 0x5410);
}

/// Matrices without gaps, one behind the other: plan.matrices of them to a block, which copies them to shared
/// memory as they are, and puts each word of the output together of elements there. Where those lie a lane
/// finds out once for the words that it writes in all units.
template <int bytes, int word>
__global__ void __launch_bounds__(small_threads, 3) transpose_small(Job<bytes> job, SmallPlan plan) {
  constexpr int pack = word / bytes;
  using T = Word<bytes>;
  extern __shared__ uint4 raw[];
  auto* const tile = reinterpret_cast<unsigned char*>(raw);
  const unsigned rows = plan.by_rows.value, size = plan.by_size.value, threads = blockDim.x;
  const int64_t first = int64_t{blockIdx.x} * plan.matrices;
  const unsigned count = static_cast<unsigned>(min(plan.batch - first, int64_t{plan.matrices})) * size;
  const T* const in = job.in + first * size;
  T* const out = job.out + first * size;

  unsigned copied = 0;
  if (plan.granule_shift == 4) copied = copy_granules<16>(tile, in, count * bytes, plan);
  if (plan.granule_shift == 3) copied = copy_granules<8>(tile, in, count * bytes, plan);
  if (plan.granule_shift == 2) copied = copy_granules<4>(tile, in, count * bytes, plan);
#pragma unroll 4
  for (unsigned e = copied / bytes + threadIdx.x; e < count; e += threads)
    *reinterpret_cast<T*>(tile + plan.place(e * bytes)) = in[e];

  // Where the elements of the output from e on lie in shared memory.
  const auto find = [&]<int number>(unsigned e, unsigned(&place)[number]) {
    const unsigned matrix = plan.by_size.quotient(e), rest = e - matrix * size;
    unsigned column = plan.by_rows.quotient(rest), row = rest - column * rows;
    unsigned from = matrix * size + row * plan.columns + column;
#pragma unroll
    for (int k = 0; k < number; ++k) {
      place[k] = plan.place(from * bytes);
      from += plan.columns;
      if (++row == rows) {
        row = 0, from -= size - 1;
        if (++column == plan.columns) column = 0, from += size - plan.columns;
      }
    }
  };
  const unsigned words = count / pack;
  auto* const to = reinterpret_cast<Word<word>*>(out);
  for (unsigned begin = 0; begin < plan.unit; begin += small_words * threads) {
    unsigned place[small_words][pack];
#pragma unroll
    for (int w = 0; w < small_words; ++w)
      if (begin + w * threads < plan.unit) find((begin + w * threads + threadIdx.x) * pack, place[w]);
    if (begin == 0) {
      __pipeline_commit();
      __pipeline_wait_prior(0);
      __syncthreads();
    }
#pragma unroll 2
    for (unsigned r = 0; r < plan.repeats; ++r)
#pragma unroll
      for (int w = 0; w < small_words; ++w) {
        const unsigned in_unit = begin + w * threads + threadIdx.x, index = r * plan.unit + in_unit;
        if (in_unit < plan.unit && index < words)
          __stcs(to + index, gather<bytes, word>(tile + r * plan.unit_step, place[w]));
      }
  }
  for (unsigned e = words * pack + threadIdx.x; e < count; e += threads) {
    unsigned one[1];
    find(e, one);
    out[e] = *reinterpret_cast<const T*>(tile + one[0]);
  }
}

/// Threads of a multiprocessor (lanescope/model/limits.hpp).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000 && \
    __CUDA_ARCH__ != 1030
inline constexpr int most_threads = 1536;
#else
inline constexpr int most_threads = 2048;
#endif

/// The same where rows and columns are whole words: blocks of side x side elements are transposed in
/// registers, and their words stored where the plan says.
template <int bytes, int word>
__global__ void __launch_bounds__(block_threads, bytes == 1 || word == 16 ? 6 : most_threads / block_threads)
    transpose_small_blocks(Job<bytes> job, BlocksPlan plan) {
  constexpr unsigned side = word / bytes, words = word / 4;
  using W = Word<word>;
  extern __shared__ uint4 raw[];
  W* const tile = reinterpret_cast<W*>(raw);
  const unsigned across = plan.across, down = plan.by_down.value, size = plan.by_matrix.value;
  const int64_t first = int64_t{blockIdx.x} * plan.matrices;
  const unsigned matrices = static_cast<unsigned>(min(plan.batch - first, int64_t{plan.matrices}));
  const auto* const in = reinterpret_cast<const W*>(job.in) + first * size;
  auto* const out = reinterpret_cast<W*>(job.out) + first * size;

  // Blocks of a thread in flight. `strip` counts the rows of blocks on over the matrices, as rows of the
  // input follow each other.
  constexpr unsigned ahead = word == 4 ? 4 : side < 4 ? 4 / side : 1;
  const unsigned strips = matrices * down;
  for (unsigned begin = threadIdx.x; begin < strips * plan.by_lanes.value; begin += ahead * block_threads) {
    W x[ahead][side];
#pragma unroll
    for (unsigned n = 0; n < ahead; ++n) {
      const unsigned lane = begin + n * block_threads;
      const unsigned strip = plan.by_lanes.quotient(lane), column = lane - strip * plan.by_lanes.value;
      const W* const from = in + (strip * side * across + column);
      if (strip < strips && column < across)
#pragma unroll
        for (unsigned i = 0; i < side; ++i) x[n][i] = __ldg(from + i * across);
    }
#pragma unroll
    for (unsigned n = 0; n < ahead; ++n) {
      const unsigned lane = begin + n * block_threads;
      const unsigned strip = plan.by_lanes.quotient(lane), column = lane - strip * plan.by_lanes.value;
      const unsigned matrix = plan.by_down.quotient(strip), row = strip - matrix * down;
      if (strip >= strips || column >= across) continue;
      uint32_t y[side][words];
      memcpy(y, x[n], sizeof y);
      transpose_block<bytes, side, words>(y);
      W rows[side];
      memcpy(rows, y, sizeof y);
      const unsigned in_order = matrix * across + column;
      W* const to = tile + in_order * side * down + row + (in_order >> plan.run_shift) * plan.padding +
                    matrix * plan.matrix_padding;
#pragma unroll
      for (unsigned i = 0; i < side; ++i) to[i * down] = rows[i];
    }
  }
  __syncthreads();
  // Words of a thread in flight.
  constexpr unsigned together = word == 16 ? 4 : 1;
#pragma unroll(4 / together)
  for (unsigned begin = threadIdx.x; begin < matrices * size; begin += together * block_threads) {
    W x[together];
#pragma unroll
    for (unsigned n = 0; n < together; ++n)
      if (begin + n * block_threads < matrices * size) x[n] = tile[plan.place(begin + n * block_threads)];
    W* const to = out + begin;
#pragma unroll
    for (unsigned n = 0; n < together; ++n)
      if (begin + n * block_threads < matrices * size) __stcs(to + n * block_threads, x[n]);
  }
}

}  // namespace lanescope::kernels::transposing
