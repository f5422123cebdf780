// Transposes of long, thin matrices, whose rows or columns are short (structs and their fields): a block
// copies a strip, which goes from one long edge to the other, to shared memory, moves its elements to where
// they belong as a schedule says (strip_schedule.hpp), which keeps all lanes in different banks, and copies
// it to the output: many lines in whole sectors, wherever they begin.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "lanescope/kernels/transpose/moves.cuh"
#include "lanescope/kernels/transpose/strip_schedule.hpp"

namespace lanescope::kernels::transposing {

/// Copies a power of two of bytes, a whole element or more, to and from multiples of it.
template <int bytes>
__device__ __forceinline__ void copy_piece(void* to, const void* from, unsigned size) {
  with_unit<bytes, 8>(
      size, [&]<unsigned unit>() { *static_cast<Word<unit>*>(to) = *static_cast<const Word<unit>*>(from); });
}

/// Which bytes of a line are copied.
struct Part {
  unsigned first, end;
};

/// Calls vector(byte, address) for the vectors of what part_of says of all lines, and piece(byte, address,
/// size) for what lines have of other vectors. `begin`: byte of shared memory, and as far behind a multiple
/// of 16, where the first line begins; `outside`: where that byte would be. A vector is whole if it lies in
/// its line or between `low` and `high`.
template <class Byte, class PartOf, class Vector, class Piece>
__device__ __forceinline__ void for_lines(const StripSide& side, unsigned begin, PartOf part_of,
                                          Byte* outside, const unsigned char* low, const unsigned char* high,
                                          Vector vector, Piece piece) {
  const auto copy_vector = [&](unsigned b, Byte* at, unsigned first, unsigned end) {
    if ((b >= first && b + 16 <= end) || (b < end && at >= low && at + 16 <= high)) {
      vector(b, at);
      return;
    }
#pragma unroll 1
    for (unsigned e = max(b, first); e < min(b + 16, end);) {
      unsigned size = e % 2 != 0 ? 1 : e % 4 != 0 ? 2 : e % 8 != 0 ? 4 : 8;
      while (e + size > end) size /= 2;
      piece(e, at + (e - b), size);
      e += size;
    }
  };
  if (side.lines == 1) {
    const unsigned end = begin + part_of(0).end;
#pragma unroll 4
    for (unsigned b = threadIdx.x * 16; b < end; b += small_threads * 16)
      copy_vector(b, outside + b, begin, end);
    return;
  }
  unsigned line = threadIdx.x / side.vectors, v = threadIdx.x % side.vectors;
  const unsigned lines = small_threads / side.vectors, more = small_threads % side.vectors;
#pragma unroll 2
  while (line < side.lines) {
    const Part part = part_of(line);
    const unsigned first = begin + line * side.pitch, b = first / 16 * 16 + v * 16;
    Byte* const at = outside + static_cast<int64_t>(line) * (side.stride - side.pitch) + b;
    copy_vector(b, at, first + part.first, first + part.end);
    line += lines;
    v += more;
    if (v >= side.vectors) v -= side.vectors, ++line;
  }
}

/// A strip to a block. Moves of rows x columns elements, and single ones where those do not fit.
template <int bytes, int rows, int columns>
__global__ void __launch_bounds__(small_threads, bytes == 16 ? 5 : 6)
    transpose_strips(Job<bytes> job, Strips strips, const __grid_constant__ ScheduleOf<usual_slots> plan) {
  extern __shared__ uint4 raw[];
  auto* const tile = reinterpret_cast<unsigned char*>(raw);
  const unsigned matrix = blockIdx.x / strips.of_matrix, strip = blockIdx.x - matrix * strips.of_matrix;
  const int64_t first = int64_t{strip} * strips.step;
  const auto count = static_cast<unsigned>(min(strips.length - first, int64_t{strips.of_block}));
  // Vectors of an input without gaps may have elements of other lines and strips, which nobody looks at.
  const auto* const low = reinterpret_cast<const unsigned char*>(job.in + matrix * job.in_stride);
  const auto* const high = low + strips.whole;
  const auto* const in = low + first * strips.in.element;
  auto* const out =
      reinterpret_cast<unsigned char*>(job.out + matrix * job.out_stride) + first * strips.out.element;
  const auto in_begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(in) % 16);
  const auto out_begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(out) % 16);

  const auto from = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + in_begin;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + plan.out_tile + out_begin;
  const Groups groups{
      {(count + strips.of_chunk - 1) / strips.of_chunk, plan.in_step, plan.out_step}, from, to};
  const Schedule::List& list = plan.list[0];
  do_slots<bytes, rows, columns>(plan.slot, list.words, plan, groups, [&] {
    // What the last strip lacks is moved, too, but not written.
    if (count < strips.of_block) {
#pragma unroll 1
      for (unsigned b = threadIdx.x * 16; b < plan.out_tile; b += small_threads * 16)
        *reinterpret_cast<uint4*>(tile + b) = uint4{};
      __syncthreads();
    }
    for_lines(
        strips.in, in_begin,
        [&](unsigned) {
          return Part{0, count * strips.in.element};
        },
        in - in_begin, low, high,
        [&](unsigned b, const unsigned char* at) { __pipeline_memcpy_async(tile + b, at, 16); },
        [&](unsigned b, const unsigned char* at, unsigned size) { copy_piece<bytes>(tile + b, at, size); });
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
  });
  if constexpr (rows != columns)
    do_slots<bytes, 1, 1>(plan.slot + list.words, list.elements, plan, groups, [] {});
  __syncthreads();

  const unsigned char* const done = tile + plan.out_tile;
  const bool last = strip + 1 == strips.of_matrix, sectors = strips.step != strips.of_block;
  const unsigned step = strips.step * strips.out.element;
  const auto part_of = [&](unsigned line) {
    const auto at = static_cast<unsigned>(reinterpret_cast<uintptr_t>(out)) +
                    line * static_cast<unsigned>(strips.out.stride);
    const unsigned before = sectors ? (0 - at) % 32 : 0;
    return Part{strip != 0 ? before : 0, last ? count * strips.out.element : step + before};
  };
  for_lines(
      strips.out, out_begin, part_of, out - out_begin, nullptr, nullptr,
      [&](unsigned b, unsigned char* at) {
        __stcs(reinterpret_cast<uint4*>(at), *reinterpret_cast<const uint4*>(done + b));
      },
      [&](unsigned b, unsigned char* at, unsigned size) { copy_piece<bytes>(at, done + b, size); });
}

}  // namespace lanescope::kernels::transposing
