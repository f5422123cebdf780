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
/// of 16, where the first line begins; `outside`: where that byte would be. part_of(address, its lowest 32
/// bits, where a line begins). Vectors of which a line has a part are copied if readable(address, bytes) says
/// so of all that the line has a part of.
template <class Byte, class PartOf, class Readable, class Vector, class Piece>
__device__ __forceinline__ void for_lines(const StripSide& side, unsigned begin, PartOf part_of,
                                          Byte* outside, Readable readable, Vector vector, Piece piece) {
  const unsigned shift = __ffs(static_cast<int>(side.threads)) - 1, thread = threadIdx.x & (side.threads - 1);
#pragma unroll 1
  for (unsigned line = threadIdx.x >> shift; line < side.lines; line += small_threads >> shift) {
    // Products: with additions from line to line nvcc 13.0 does not come to an end.
    const unsigned first = begin + line * side.pitch;
    Byte* const at = outside + line * (side.stride - side.pitch);
    const auto address = static_cast<unsigned>(reinterpret_cast<uintptr_t>(at));
    const Part part = part_of(address + first);
    const unsigned from = first + part.first, end = first + part.end;
    const unsigned above = from / 16 * 16, below = (end + 15) / 16 * 16;
    const bool all = readable(at + above, below - above);
    const unsigned vectors = all ? above : (from + 15) / 16 * 16, behind = all ? below : end / 16 * 16;
    // Eight lanes copy a line of memory; those before the first vector begin with the next line.
    const unsigned before = (address + vectors) & 112;
    unsigned b = vectors + thread * 16 + (thread * 16 < before ? side.threads * 16 : 0) - before;
#pragma unroll 4
    for (; b < behind; b += side.threads * 16) vector(b, at + b);
    if (all || thread > 1) continue;
    // What lies before the first vector, and behind the last one.
    const unsigned head = min(vectors, end);
    const unsigned last = thread == 0 ? head : end;
#pragma unroll 1
    for (unsigned e = thread == 0 ? from : max(head, behind); e < last;) {
      unsigned size = e % 2 != 0 ? 1 : e % 4 != 0 ? 2 : e % 8 != 0 ? 4 : 8;
      while (e + size > last) size /= 2;
      piece(e, at + e, size);
      e += size;
    }
  }
}

/// A strip to a block. Moves of rows x columns elements, and single ones where those do not fit.
template <int bytes, int rows, int columns>
__global__ void __launch_bounds__(small_threads, bytes == 16 ? 5 : 6)
    transpose_strips(Job<bytes> job, Strips strips, const __grid_constant__ ScheduleOf<usual_slots> plan) {
  extern __shared__ uint4 raw[];
  auto* const tile = reinterpret_cast<unsigned char*>(raw);
  const unsigned matrix = quotient(blockIdx.x, strips.of_matrix);
  const unsigned strip = blockIdx.x - matrix * strips.of_matrix.value;
  const int64_t first = int64_t{strip} * strips.step;
  const auto count = static_cast<unsigned>(min(strips.length - first, int64_t{strips.of_block}));
  // Vectors of an input without gaps may have elements of other lines and strips, which nobody looks at.
  const auto* const low = reinterpret_cast<const unsigned char*>(job.in + matrix * job.in_stride);
  const auto* const high = low + strips.whole;
  const auto* const in = low + first * strips.in.element;
  auto* const out =
      reinterpret_cast<unsigned char*>(job.out + matrix * job.out_stride) + first * strips.out.element;
  const auto in_begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(in) % 32);
  const auto out_begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(out) % 16);

  const auto from = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + in_begin;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + plan.out_tile + out_begin;
  unsigned chunks = strips.chunks;
  if (count < strips.of_block) chunks = (count + strips.of_chunk - 1) / strips.of_chunk;
  const Groups groups{{chunks, plan.in_step, plan.out_step}, from, to};
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
        in - in_begin, [&](const unsigned char* at, unsigned size) { return at >= low && at + size <= high; },
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
  const bool last = strip + 1 == strips.of_matrix.value;
  const unsigned in_sector = strips.step != strips.of_block ? 31 : 0;
  const unsigned skipped = strip != 0 ? in_sector : 0, added = last ? 0 : in_sector;
  const unsigned most = (last ? count : strips.step) * strips.out.element;
  for_lines(
      strips.out, out_begin,
      [&](unsigned at) {
        return Part{(0 - at) & skipped, most + ((0 - at) & added)};
      },
      out - out_begin, [](const unsigned char*, unsigned) { return false; },
      [&](unsigned b, unsigned char* at) {
        const uint4 value = *reinterpret_cast<const uint4*>(done + b);
        if (strips.streaming)
          __stcs(reinterpret_cast<uint4*>(at), value);
        else
          *reinterpret_cast<uint4*>(at) = value;
      },
      [&](unsigned b, unsigned char* at, unsigned size) { copy_piece<bytes>(at, done + b, size); });
}

}  // namespace lanescope::kernels::transposing
