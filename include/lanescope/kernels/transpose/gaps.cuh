// Transposes of batches of small matrices with gaps between rows or between matrices: as transpose/small.cuh,
// but for where matrices lie in shared memory (gaps.hpp). Of the input whole vectors are copied, with what
// they have of gaps; of the output what matrices have alone.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "lanescope/kernels/transpose/gaps.hpp"
#include "lanescope/kernels/transpose/moves.cuh"
#include "lanescope/kernels/transpose/small.cuh"

namespace lanescope::kernels::transposing {

/// Calls vector(byte, address) for the vectors that matrices have a part of, and element(byte, address) for
/// the elements of those that reach beyond `low` … `high`. `begin`: the byte of shared memory where the first
/// matrix begins, as far behind a multiple of 32 as outside; `outside`: where its byte 0 would be.
template <int bytes, class Vector, class Element>
__device__ __forceinline__ void read_lines(const GapsIn& side, unsigned matrices, unsigned begin,
                                           const unsigned char* outside, const unsigned char* low,
                                           const unsigned char* high, Vector vector, Element element) {
  if (side.joined) {
    for_bytes<bytes>(
        begin, begin + (matrices - 1) * side.step + side.length, [&](unsigned b) { vector(b, outside + b); },
        [&](unsigned b) { element(b, outside + b); });
    return;
  }
  unsigned v = threadIdx.x % side.vectors, line = threadIdx.x / side.vectors;
  unsigned matrix = line / side.lines;
  line -= matrix * side.lines;
#pragma unroll 1
  while (matrix < matrices) {
    const unsigned first = begin + matrix * side.step + line * side.pitch, end = first + side.length;
    const unsigned b = first / 16 * 16 + v * 16;
    if (b < end) {
      const auto* const at =
          outside + b + (matrix * (side.stride - side.step) + line * (side.leading - side.pitch));
      if (at >= low && at + 16 <= high) {
        vector(b, at);
      } else {
#pragma unroll 1
        for (unsigned e = max(b, first); e < min(b + 16, end); e += bytes) element(e, at + (e - b));
      }
    }
    v += side.step_units;
    line += side.step_lines;
    matrix += side.step_matrices;
    if (v >= side.vectors) v -= side.vectors, ++line;
    if (line >= side.lines) line -= side.lines, ++matrix;
  }
}

/// What a block writes: byte 0 of the output's place in shared memory is at `tile`, and would be `outside`;
/// the first matrix begins at byte `begin`, as far behind a multiple of 32 as outside.
struct Done {
  const unsigned char* tile;
  unsigned char* outside;
  unsigned begin, matrices;
  template <int unit>
  __device__ __forceinline__ void write(unsigned b, int64_t apart = 0) const {
    *reinterpret_cast<Word<unit>*>(outside + b + apart) = *reinterpret_cast<const Word<unit>*>(tile + b);
  }
};

/// Writes lines that lie outside as in shared memory: what all threads have at once is one piece of memory,
/// of which they write what is not a gap.
template <int unit>
__device__ __forceinline__ void write_near(const GapsOut& side, const Done& done) {
  constexpr unsigned at_once = small_threads * unit, ahead = 4;
  const unsigned matrix = (side.lines - 1) * side.pitch + side.length;
  const unsigned end = (done.matrices * side.of_matrix - 1) * side.step + matrix;
  const unsigned rest = at_once % side.step;
  // From the beginning of the first matrix; the first sector may begin before it.
  int b = static_cast<int>(threadIdx.x * unit) - static_cast<int>(done.begin % 32);
  unsigned of_matrix = (static_cast<unsigned>(b) + 32 * side.step) % side.step;
#pragma unroll 1
  for (; b < static_cast<int>(end); b += at_once * ahead) {
    Word<unit> value[ahead];
    bool own[ahead];
#pragma unroll
    for (unsigned k = 0; k < ahead; ++k) {
      const unsigned at = static_cast<unsigned>(b) + k * at_once;
      const unsigned of_line =
          side.lines == 1 ? of_matrix : of_matrix - quotient(of_matrix, side.of_line) * side.pitch;
      own[k] = at < end && of_matrix < matrix && of_line < side.length;
      if (own[k]) value[k] = *reinterpret_cast<const Word<unit>*>(done.tile + done.begin + at);
      of_matrix += rest;
      if (of_matrix >= side.step) of_matrix -= side.step;
    }
    auto* const at = done.outside + done.begin + b;
#pragma unroll
    for (unsigned k = 0; k < ahead; ++k)
      if (own[k]) *reinterpret_cast<Word<unit>*>(at + k * at_once) = value[k];
  }
}

/// Writes lines that lie apart, a sector by as many threads as it has units.
template <int unit>
__device__ __forceinline__ void write_apart(const GapsOut& side, const Done& done) {
  const unsigned thread = threadIdx.x % (32 / unit) * unit, group = threadIdx.x / (32 / unit);
  const unsigned all = done.matrices * side.of_matrix;
  unsigned sector = group % side.sectors, line = group / side.sectors;
  unsigned matrix = line / side.lines;
  line -= matrix * side.lines;
#pragma unroll 1
  while (matrix < all) {
    const unsigned first = done.begin + matrix * side.step + line * side.pitch;
    const unsigned b = first / 32 * 32 + sector * 32 + thread;
    if (b >= first && b < first + side.length)
      done.template write<unit>(b, matrix * (side.stride - side.step) + line * (side.leading - side.pitch));
    sector += side.step_units;
    line += side.step_lines;
    matrix += side.step_matrices;
    if (sector >= side.sectors) sector -= side.sectors, ++line;
    if (line >= side.lines) line -= side.lines, ++matrix;
  }
}

/// Writes long lines, each by a warp: whole sectors by vectors; units of others at once with those that the
/// line before, if it lies near, has in the same sector.
template <int unit>
__device__ __forceinline__ void write_long(const GapsOut& side, const Done& done) {
  const unsigned lane = threadIdx.x % 32, all = done.matrices * side.of_matrix;
  unsigned line = threadIdx.x / 32, matrix = line / side.lines;
  line -= matrix * side.lines;
  const unsigned to_matrix = side.step - (side.lines - 1) * side.pitch;
#pragma unroll 1
  while (matrix < all) {
    const unsigned first = done.begin + matrix * side.step + line * side.pitch, end = first + side.length;
    const int64_t apart = matrix * (side.stride - side.step) + line * (side.leading - side.pitch);
    const unsigned above = (first + 31) / 32 * 32, below = end / 32 * 32;
#pragma unroll 1
    for (unsigned b = above + lane * 16; b < below; b += 512) done.template write<16>(b, apart);
    const bool first_line = matrix == 0 && line == 0;
    const bool last_line = matrix + 1 == all && line + 1 == side.lines;
    // The sector in which the line begins.
    const unsigned end_before = side.near && !first_line ? end - (line == 0 ? to_matrix : side.pitch) : 0;
    const unsigned head = above - 32 + lane * unit;
    if (first < above && lane < 32 / unit && (head >= first || head < end_before))
      done.template write<unit>(head, apart);
    // The one in which it ends, if the next line does not begin there.
    const unsigned next = first + (line + 1 == side.lines ? to_matrix : side.pitch);
    const bool shared = side.near && !last_line && next < below + 32;
    const unsigned tail = below + lane * unit;
    if (!shared && tail < end) done.template write<unit>(tail, apart);
    line += side.step_lines;
    matrix += side.step_matrices;
    if (line >= side.lines) line -= side.lines, ++matrix;
  }
}

/// plan.matrices of a batch to a block. Moves of rows x columns elements, and single ones where those do not
/// fit.
template <int bytes, int rows, int columns, unsigned slots>
__global__ void __launch_bounds__(small_threads, 6)
    transpose_gaps(Job<bytes> job, const __grid_constant__ GapsIn from, const __grid_constant__ GapsOut to,
                   const __grid_constant__ ScheduleOf<slots> plan) {
  extern __shared__ uint4 raw[];
  auto* const tile = reinterpret_cast<unsigned char*>(raw);
  const int64_t first = int64_t{blockIdx.x} * plan.matrices;
  const bool last = blockIdx.x == gridDim.x - 1;
  const unsigned last_matrices = plan.last_piece / from.step, matrices = last ? last_matrices : plan.matrices;
  const auto* const low = reinterpret_cast<const unsigned char*>(job.in);
  const auto* const in = low + first * from.stride;
  const auto* const high = low + (int64_t{gridDim.x - 1} * plan.matrices + last_matrices - 1) * from.stride +
                           (from.lines - 1) * from.leading + from.length;
  auto* const out = reinterpret_cast<unsigned char*>(job.out + first * job.out_stride);
  const auto in_begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(in) % 32);
  const auto out_begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(out) % 32);

  if (last) {
    // What the last block lacks is moved, too, but not written.
#pragma unroll 1
    for (unsigned b = threadIdx.x * 16; b < plan.out_tile; b += small_threads * 16)
      *reinterpret_cast<uint4*>(tile + b) = uint4{};
    __syncthreads();
  }
  using T = Word<bytes>;
  read_lines<bytes>(
      from, matrices, in_begin, in - in_begin, low, high,
      [&](unsigned b, const unsigned char* at) { __pipeline_memcpy_async(tile + b, at, 16); },
      [&](unsigned b, const unsigned char* at) {
        *reinterpret_cast<T*>(tile + b) = *reinterpret_cast<const T*>(at);
      });
  __pipeline_commit();
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  move_groups<bytes, rows, columns>(
      plan, [&] { return blockIdx.x * plan.matrices; }, shared + in_begin,
      shared + plan.out_tile + out_begin);
  __syncthreads();

  const Done done{tile + plan.out_tile, out - out_begin, out_begin, matrices};
  if (to.joined)
    for_bytes<bytes>(
        out_begin, out_begin + (matrices - 1) * to.step + to.length,
        [&](unsigned b) { done.template write<16>(b); }, [&](unsigned b) { done.template write<bytes>(b); });
  else
    with_unit<bytes, 16>(to.unit, [&]<unsigned unit>() {
      if (to.whole_sectors)
        write_long<unit>(to, done);
      else if (to.near)
        write_near<unit>(to, done);
      else
        write_apart<unit>(to, done);
    });
}

}  // namespace lanescope::kernels::transposing
