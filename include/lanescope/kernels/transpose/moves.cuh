// Moves elements inside shared memory, as a schedule says (schedule.hpp): what transpose/small.cuh and
// transpose/strips.cuh do between their copies in and out.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <type_traits>

#include "lanescope/kernels/transpose/block.cuh"
#include "lanescope/kernels/transpose/common.cuh"
#include "lanescope/kernels/transpose/schedule.hpp"

namespace lanescope::kernels::transposing {

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

/// Loads `rows` words of `columns` elements, and stores them as `columns` words of `rows` elements, in the
/// order that the slot says. Both are kept in registers of 32 bits if they have fewer.
template <int bytes, int rows, int columns>
struct Mover {
  static constexpr unsigned order = order_bits({rows, columns});
  using In = Word<bytes * columns>;
  using Out = Word<bytes * rows>;
  using Kept = std::conditional_t<(sizeof(In) < 4), uint32_t, In>;
  Kept word[rows];
  __device__ __forceinline__ void load(uint32_t slot, unsigned from, unsigned pitch) {
#pragma unroll
    for (unsigned k = 0; k < rows; ++k)
      word[k] = *static_cast<const In*>(__cvta_shared_to_generic(from + (k ^ (slot & order)) * pitch));
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
      const unsigned first = slot >> 16 & order;
      transpose_block<bytes>(word, slot & order, first);
#pragma unroll
      for (unsigned k = 0; k < columns; ++k) store_shared<Out>(slot, to + (k ^ first) * pitch, word[k]);
    }
  }
};

/// So many moves, and the bytes from one to the next.
struct Steps {
  unsigned count, in, out;
};

/// Does slots of a lane at once, `outer.count` times `inner.count` times. Four moves (one of a large block,
/// which takes more registers) are loaded before one is stored, where there are as many.
template <int bytes, int rows, int columns, int ahead>
__device__ __forceinline__ void move_all(const uint32_t (&slot)[ahead], const Schedule& plan, unsigned from,
                                         unsigned to, const Steps& outer, const Steps& inner) {
  constexpr unsigned depth = rows * columns > 4 ? 1 : 4 / ahead,
                     byte = slot_byte & ~Mover<bytes, rows, columns>::order;
#pragma unroll 1
  for (unsigned o = 0; o < outer.count; ++o, from += outer.in, to += outer.out) {
    unsigned in[ahead], out[ahead];
#pragma unroll
    for (int n = 0; n < ahead; ++n) in[n] = from + (slot[n] & byte), out[n] = to + (slot[n] >> 16 & byte);
    const auto move = [&]<unsigned at_once>() {
      Mover<bytes, rows, columns> mover[ahead][at_once];
#pragma unroll
      for (unsigned d = 0; d < at_once; ++d)
#pragma unroll
        for (int n = 0; n < ahead; ++n) mover[n][d].load(slot[n], in[n], plan.in_pitch), in[n] += inner.in;
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

/// Where what is moved alike lies: the first of it at these addresses of the shared window.
struct Groups {
  Steps all;
  unsigned from, to;
};

template <int bytes, int rows, int columns, int ahead>
__device__ __forceinline__ void do_chunks(const uint32_t (&slot)[ahead], const Schedule& plan,
                                          const Groups& groups) {
  const Steps& all = groups.all;
  if (plan.chunks == 1) {
    move_all<bytes, rows, columns>(slot, plan, groups.from, groups.to, {1, 0, 0}, all);
    return;
  }
  // The longer loop is the inner one.
  const Steps chunks{plan.chunks - 1, plan.in_step, plan.out_step};
  const bool along = chunks.count > all.count;
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
  // Large blocks take more registers, and so do the next slots, which only long lists need early.
  constexpr int ahead = rows * columns > 4 ? 1 : 2;
  constexpr bool early = bytes < 4 && bytes * rows * columns <= 4;
  // A parameter that lanes index is read word after word by the constant cache; by its address, all at once
  // by the L1 cache.
  uint32_t next[ahead];
  const auto fetch = [&](unsigned index) {
#pragma unroll
    for (int n = 0; n < ahead; ++n)
      if (index + n * small_threads < count)
        asm("ld.u32 %0, [%1];" : "=r"(next[n]) : "l"(slots + index + n * small_threads));
  };
  unsigned index = threadIdx.x;
  fetch(index);
  ready();
#pragma unroll 1
  while (index < count) {
    uint32_t slot[ahead];
#pragma unroll
    for (int n = 0; n < ahead; ++n) slot[n] = next[n];
    const bool all = index + (ahead - 1) * small_threads < count;
    index += ahead * small_threads;
    if constexpr (early) fetch(index);
    if (all)
      do_chunks<bytes, rows, columns, ahead>(slot, plan, groups);
    else
      do_chunks<bytes, rows, columns, 1>({slot[0]}, plan, groups);
    if constexpr (!early) fetch(index);
  }
}

/// Calls call<unit>() for a power of two from `bytes` to `most`; nothing if there is none.
template <int bytes, unsigned most, class Call>
__device__ __forceinline__ void with_unit(unsigned unit, Call call) {
  if constexpr (bytes <= most) {
    if (unit == most) call.template operator()<most>();
    with_unit<bytes, most / 2>(unit, call);
  }
}

/// Fills what the last block lacks of a piece, which is moved, too, but not written.
template <int bytes>
__device__ __forceinline__ void fill_rest(unsigned char* piece, unsigned count, unsigned end) {
  using T = Word<bytes>;
#pragma unroll 1
  for (unsigned b = count + threadIdx.x * bytes; b < end; b += small_threads * bytes)
    *reinterpret_cast<T*>(piece + b) = T{};
}

/// Moves the elements of all groups of a block, when what its threads have copied asynchronously is there.
/// first_matrix(), which is asked where there are variants alone: the number of the block's first matrix.
template <int bytes, int rows, int columns, unsigned slots, class FirstMatrix>
__device__ __forceinline__ void move_groups(const ScheduleOf<slots>& plan, FirstMatrix first_matrix,
                                            unsigned from, unsigned to) {
  const auto ready = [] {
    __pipeline_wait_prior(0);
    __syncthreads();
  };
  const unsigned others = plan.variants - 1;
  for (unsigned g = 0; g < min(plan.variants, plan.groups); ++g) {
    const Schedule::List list = others == 0 ? plan.list[0] : plan.list[(first_matrix() + g) & others];
    // plan.variants is a power of two.
    const unsigned times = (plan.groups - g + others) >> __popc(others);
    const Groups groups{{times, plan.variants * plan.in_group, plan.variants * plan.out_group},
                        from + g * plan.in_group,
                        to + g * plan.out_group};
    do_slots<bytes, rows, columns>(plan.slot + list.begin, list.words, plan, groups, [&] {
      if (g == 0) ready();
    });
    if constexpr (rows != columns)
      do_slots<bytes, 1, 1>(plan.slot + list.begin + list.words, list.elements, plan, groups, [] {});
  }
}

}  // namespace lanescope::kernels::transposing
