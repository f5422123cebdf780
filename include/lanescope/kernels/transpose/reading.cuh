// How tiles read large inputs: with the L2 policy "evict last", with which the memory loses least time
// between reads and writes (docs/performance.md). Where rows begin anywhere, tiles beside each other also
// need the sectors between them twice, and tiles below each other some rows.
#pragma once

#include "lanescope/kernels/transpose/common.cuh"

namespace lanescope::kernels::transposing {

/// More than the L2 cache of any chip so far holds.
inline constexpr int64_t cached_bytes = 64 << 20;

__device__ __forceinline__ uint64_t evict_last() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ __forceinline__ uint64_t evict_first() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

enum class Reading {
  plain,
  keeping,  ///< with the L2 policy "evict last"; the last blocks give their lines the normal priority again
};

template <Reading reading>
__device__ __forceinline__ uint64_t policy_of() {
  if constexpr (reading == Reading::keeping) return evict_last();
  return 0;
}

template <Reading reading>
__device__ __forceinline__ uint32_t load(const uint32_t* from, uint64_t policy) {
  if constexpr (reading == Reading::plain) return __ldg(from);
  uint32_t value;
  asm("ld.global.nc.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(value) : "l"(from), "l"(policy));
  return value;
}
template <Reading reading>
__device__ __forceinline__ uint2 load(const uint2* from, uint64_t policy) {
  if constexpr (reading == Reading::plain) return __ldg(from);
  uint2 value;
  asm("ld.global.nc.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
      : "=r"(value.x), "=r"(value.y)
      : "l"(from), "l"(policy));
  return value;
}
template <Reading reading>
__device__ __forceinline__ uint4 load(const uint4* from, uint64_t policy) {
  if constexpr (reading == Reading::plain) return __ldg(from);
  uint4 value;
  asm("ld.global.nc.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(from), "l"(policy));
  return value;
}

/// Copies a vector of 16 bytes to an address of shared memory, asynchronously.
template <Reading reading>
__device__ __forceinline__ void copy_vector(unsigned to, const void* from, uint64_t policy) {
  if constexpr (reading == Reading::plain)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "l"(policy)
                 : "memory");
}

/// Where a tile lies in the input, for release_lines.
struct InputTile {
  uintptr_t in;    ///< of its row 0
  int64_t pitch;   ///< bytes from row to row
  int low, high;   ///< rows that were loaded
  int64_t before;  ///< bytes of a row in front of the tile
  int width;       ///< bytes of a row in the tile
};

/// Gives the lines of 128 bytes that end in a tile of `tile_bytes` the normal priority, if the block is one
/// of those that read the last `cached` bytes; lines that do not lie in a row as a whole keep theirs.
template <int64_t cached>
__device__ __forceinline__ void release_lines(const InputTile& tile, int tile_bytes) {
  if (gridDim.x - blockIdx.x > static_cast<unsigned>(cached) / tile_bytes) return;
  const int lines = tile.width / 128 + 1;
  for (int e = static_cast<int>(threadIdx.x); e < (tile.high - tile.low) * lines;
       e += static_cast<int>(blockDim.x)) {
    const uintptr_t begin = tile.in + (tile.low + e / lines) * tile.pitch;
    const uintptr_t line = (begin & ~uintptr_t{127}) + e % lines * 128;
    if (line + tile.before >= begin && line + 128 <= begin + tile.width)
      asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(line) : "memory");
  }
}

}  // namespace lanescope::kernels::transposing
