// Transposes of batches of small matrices without gaps, of any sizes: a block copies many of them to shared
// memory, moves their elements to where they belong as a schedule says (schedule.hpp), which keeps all
// lanes in different banks, and copies them to the output.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <type_traits>

#include "lanescope/kernels/transpose/block.cuh"
#include "lanescope/kernels/transpose/common.cuh"
#include "lanescope/kernels/transpose/schedule.hpp"

namespace lanescope::kernels::transposing {

/// Calls vector(byte) for the whole vectors of 16 bytes in begin … end, and element(byte) for the elements
/// before and behind them, each by one thread.
template <int bytes, class Vector, class Element>
__device__ __forceinline__ void for_bytes(unsigned begin, unsigned end, Vector vector, Element element) {
  const unsigned threads = small_threads, first = (begin + 15) / 16 * 16, last = max(end / 16 * 16, first);
#pragma unroll 4
  for (unsigned b = first + threadIdx.x * 16; b < last; b += threads * 16) vector(b);
  if (begin + threadIdx.x * bytes < min(first, end)) element(begin + threadIdx.x * bytes);
  if (last + threadIdx.x * bytes < end) element(last + threadIdx.x * bytes);
}

/// Stores a word (of the lowest bytes, if it is short), but not if the slot says so. By predicate: branches
/// around the stores, which nvcc would make, cost more.
template <class T, class Kept>
__device__ __forceinline__ void store_shared(uint32_t slot, unsigned address, const Kept& word) {
  static_assert(not_stored == 0x80000000 && (sizeof(T) > 4 || sizeof(Kept) == 4));
#define LANESCOPE_STORE(type, words, ...)                                                                    \
  asm volatile("{ .reg .pred p; setp.ge.s32 p, %0, 0; @p st.shared." type " [%1], " words "; }" ::"r"(slot), \
               "r"(address), __VA_ARGS__                                                                     \
               : "memory")
  if constexpr (sizeof(T) == 1)
    LANESCOPE_STORE("u8", "%2", "r"(word));
  else if constexpr (sizeof(T) == 2)
    LANESCOPE_STORE("u16", "%2", "r"(word));
  else if constexpr (sizeof(T) == 4)
    LANESCOPE_STORE("u32", "%2", "r"(word));
  else if constexpr (sizeof(T) == 8)
    LANESCOPE_STORE("v2.u32", "{%2, %3}", "r"(word.x), "r"(word.y));
  else
    LANESCOPE_STORE("v4.u32", "{%2, %3, %4, %5}", "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w));
#undef LANESCOPE_STORE
}

/// Loads `rows` words of `columns` elements, and stores them as `columns` words of `rows` elements. Both are
/// kept in registers of 32 bits if they have fewer.
template <int bytes, int rows, int columns>
struct Mover {
  using In = Word<bytes * columns>;
  using Out = Word<bytes * rows>;
  using Kept = std::conditional_t<(sizeof(In) < 4), uint32_t, In>;
  Kept word[rows];
  __device__ __forceinline__ void load(unsigned from, unsigned pitch) {
#pragma unroll
    for (int k = 0; k < rows; ++k)
      word[k] = *static_cast<const In*>(__cvta_shared_to_generic(from + k * pitch));
  }
  __device__ __forceinline__ void store(uint32_t slot, unsigned to, unsigned pitch) {
    if constexpr (columns == 1 && rows == 1) {
      store_shared<Out>(slot, to, word[0]);
    } else if constexpr (rows == 1) {
#pragma unroll
      for (int k = 0; k < columns; ++k) store_shared<Out>(slot, to + k * pitch, word[0] >> (8 * bytes * k));
    } else if constexpr (columns == 1 && bytes == 2) {
      store_shared<Out>(slot, to, __byte_perm(word[0], word[1], 0x5410));
    } else if constexpr (columns == 1) {
      store_shared<Out>(
          slot, to,
          __byte_perm(__byte_perm(word[0], word[1], 0x0040), __byte_perm(word[2], word[3], 0x0040), 0x5410));
    } else {
      transpose_block<bytes>(word);
#pragma unroll
      for (int k = 0; k < columns; ++k) store_shared<Out>(slot, to + k * pitch, word[k]);
    }
  }
};

/// So many moves, and the bytes from one to the next.
struct Steps {
  unsigned count, in, out;
};

/// Does slots of a lane at once, `outer.count` times `inner.count` times. Four words are loaded before one is
/// stored, where there are as many.
template <int bytes, int rows, int columns, int ahead>
__device__ __forceinline__ void move_all(const uint32_t (&slot)[ahead], const Schedule& plan, unsigned from,
                                         unsigned to, const Steps& outer, const Steps& inner) {
  constexpr unsigned depth = 4 / ahead;
#pragma unroll 1
  for (unsigned o = 0; o < outer.count; ++o, from += outer.in, to += outer.out) {
    unsigned in[ahead], out[ahead];
#pragma unroll
    for (int n = 0; n < ahead; ++n)
      in[n] = from + (slot[n] & slot_byte), out[n] = to + (slot[n] >> 16 & slot_byte);
    const auto move = [&]<unsigned at_once>() {
      Mover<bytes, rows, columns> mover[ahead][at_once];
#pragma unroll
      for (unsigned d = 0; d < at_once; ++d)
#pragma unroll
        for (int n = 0; n < ahead; ++n) mover[n][d].load(in[n], plan.in_pitch), in[n] += inner.in;
#pragma unroll
      for (unsigned d = 0; d < at_once; ++d)
#pragma unroll
        for (int n = 0; n < ahead; ++n)
          mover[n][d].store(slot[n], out[n], plan.out_pitch), out[n] += inner.out;
    };
    unsigned i = 0;
#pragma unroll 1
    for (; i + depth <= inner.count; i += depth) move.template operator()<depth>();
#pragma unroll 1
    for (; i < inner.count; ++i) move.template operator()<1>();
  }
}

/// Where a variant's groups lie: `count` of them, the first at these addresses of the shared window.
struct Groups {
  unsigned count, from, to;
};

template <int bytes, int rows, int columns, int ahead>
__device__ __forceinline__ void do_chunks(const uint32_t (&slot)[ahead], const Schedule& plan,
                                          const Groups& groups) {
  const Steps all{groups.count, plan.variants * plan.group, plan.variants * plan.group};
  if (plan.chunks == 1) {
    move_all<bytes, rows, columns>(slot, plan, groups.from, groups.to, {1, 0, 0}, all);
    return;
  }
  // The longer loop is the inner one.
  const Steps chunks{plan.chunks - 1, plan.in_step, plan.out_step};
  const bool along = chunks.count > groups.count;
  const auto either = [&](const Steps& a, const Steps& b) {
    return Steps{along ? a.count : b.count, along ? a.in : b.in, along ? a.out : b.out};
  };
  move_all<bytes, rows, columns>(slot, plan, groups.from, groups.to, either(all, chunks),
                                 either(chunks, all));
  // In the last chunk of a matrix some slots rest.
#pragma unroll
  for (int n = 0; n < ahead; ++n)
    if ((slot[n] & not_in_last_chunk) == 0)
      move_all<bytes, rows, columns, 1>({slot[n]}, plan, groups.from + chunks.count * chunks.in,
                                        groups.to + chunks.count * chunks.out, {1, 0, 0}, all);
}

/// Does the slots of one list, of which there are `count`, in all groups. `ready` is called once, before the
/// first load.
template <int bytes, int rows, int columns, class Ready>
__device__ __forceinline__ void do_slots(const uint32_t* slots, unsigned count, const Schedule& plan,
                                         const Groups& groups, Ready ready) {
  constexpr unsigned threads = small_threads;
  uint32_t slot[2];
  // A parameter that lanes index is read word after word by the constant cache; by its address, all at once
  // by the L1 cache.
  const auto fetch = [&](unsigned index) {
    if (index < count) asm("ld.u32 %0, [%1];" : "=r"(slot[0]) : "l"(slots + index));
    if (index + threads < count) asm("ld.u32 %0, [%1];" : "=r"(slot[1]) : "l"(slots + index + threads));
  };
  unsigned index = threadIdx.x;
  fetch(index);
  ready();
#pragma unroll 1
  while (index < count) {
    if (index + threads < count)
      do_chunks<bytes, rows, columns>(slot, plan, groups);
    else
      do_chunks<bytes, rows, columns, 1>({slot[0]}, plan, groups);
    index += 2 * threads;
    fetch(index);
  }
}

/// plan.matrices of a batch to a block. Moves of rows x columns elements, and single ones where those do not
/// fit.
template <int bytes, int rows, int columns, unsigned slots>
__global__ void __launch_bounds__(small_threads, 6)
    transpose_small(Job<bytes> job, const __grid_constant__ ScheduleOf<slots> plan) {
  using T = Word<bytes>;
  extern __shared__ uint4 raw[];
  auto* const tile = reinterpret_cast<unsigned char*>(raw);
  const int64_t first = int64_t{blockIdx.x} * plan.matrices;
  const unsigned count = static_cast<unsigned>(min(plan.batch - first, int64_t{plan.matrices})) * plan.size;
  // Both pieces lie in shared memory as far behind a multiple of 16 bytes as outside.
  const auto* const in = reinterpret_cast<const unsigned char*>(job.in + first * plan.size);
  auto* const out = reinterpret_cast<unsigned char*>(job.out + first * plan.size);
  const auto in_begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(in) % 16);
  const auto out_begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(out) % 16);
  const auto copy = [](auto* to, const auto* from) {
    *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
  };

  for_bytes<bytes>(
      in_begin, in_begin + count * bytes,
      [&](unsigned b) { __pipeline_memcpy_async(tile + b, in + b - in_begin, 16); },
      [&](unsigned b) { copy(tile + b, in + b - in_begin); });
  __pipeline_commit();
  // What a last block lacks of whole groups is moved, too, but not written.
#pragma unroll 1
  for (unsigned b = count * bytes + threadIdx.x * bytes; b < plan.groups * plan.group;
       b += small_threads * bytes)
    *reinterpret_cast<T*>(tile + in_begin + b) = T{};
  const auto ready = [] {
    __pipeline_wait_prior(0);
    __syncthreads();
  };

  const auto from = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + in_begin;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + plan.out_tile + out_begin;
  unsigned variant = static_cast<unsigned>(first) & (plan.variants - 1);
  for (unsigned g = 0; g < min(plan.variants, plan.groups); ++g) {
    const Schedule::List& list = plan.list[variant];
    const Groups groups{(plan.groups - g + plan.variants - 1) / plan.variants, from + g * plan.group,
                        to + g * plan.group};
    do_slots<bytes, rows, columns>(plan.slot + list.begin, list.words, plan, groups, [&] {
      if (g == 0) ready();
    });
    if (rows != columns)
      do_slots<bytes, 1, 1>(plan.slot + list.begin + list.words, list.elements, plan, groups, [] {});
    if (++variant == plan.variants) variant = 0;
  }
  __syncthreads();

  const unsigned char* const done = tile + plan.out_tile;
  for_bytes<bytes>(
      out_begin, out_begin + count * bytes,
      [&](unsigned b) {
        __stcs(reinterpret_cast<uint4*>(out + b - out_begin), *reinterpret_cast<const uint4*>(done + b));
      },
      [&](unsigned b) { copy(out + b - out_begin, done + b); });
}

}  // namespace lanescope::kernels::transposing
