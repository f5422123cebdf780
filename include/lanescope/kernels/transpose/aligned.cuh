// Transposes where rows begin at multiples of 16 bytes: vectors on both sides, blocks of 16 x 16 bytes
// transposed in registers, a swizzled tile.
#pragma once

#include <atomic>
#include <cstdint>

#include "lanescope/kernels/transpose/block.cuh"
#include "lanescope/kernels/transpose/common.cuh"

namespace lanescope::kernels::transposing {

/// The output's side of a tile: row j is column j of the input. A row's chunks of 16 bytes change places by
/// an XOR with bits of the row from `shift` up.
template <int bytes, int rows_, int columns_, int shift>
struct SwizzledChunks {
  using value_type = Word<bytes>;
  static constexpr int rows = rows_, columns = columns_;
  static constexpr int chunks = columns_ * bytes / 16;
  static constexpr int mask = lanescope::detail::smaller(chunks, 8) - 1;
  static_assert(chunks % (mask + 1) == 0);
  LANESCOPE_HD static constexpr int chunk_offset(int row, int chunk) {
    return (row * chunks + (chunk ^ ((row >> shift) & mask))) * 16;
  }
  LANESCOPE_HD static constexpr int byte_offset(int row, int column) {
    return chunk_offset(row, column * bytes / 16) + column * bytes % 16;
  }
  alignas(16) unsigned char storage[rows_ * chunks * 16];
};

/// Tiles of `rows` x `columns` elements of the input, moved by `threads` threads.
template <int bytes_, int rows_, int columns_, int threads_>
struct AlignedTiles {
  static constexpr int bytes = bytes_, rows = rows_, columns = columns_, threads = threads_;
  static constexpr int shared = rows * columns * bytes;  ///< bytes of dynamic shared memory
  static constexpr int vector = 16 / bytes;              ///< elements
  static constexpr int across = columns / vector;        ///< vectors in a row of the input's tile
  static constexpr int chunks = rows / vector;           ///< vectors in a row of the output's tile
  static constexpr int units = across * chunks;          ///< blocks of vector x vector elements
  static constexpr int loads = units / threads;          ///< blocks of a thread
  static constexpr int stores = columns * chunks / threads;
  static_assert(loads * threads == units && stores * threads == columns * chunks);
  static_assert(across % 8 == 0 && chunks % 8 == 0, "warps move whole lines");
};

/// What a warp stores to the tile: lane after lane a block of the input, of which it stores column
/// `instance`.
template <class Tiles>
struct UnitStores {
  static constexpr int elements = Tiles::vector;
  int count = Tiles::vector;
  static constexpr Position where(int lane, int instance) {
    return {lane % Tiles::across * Tiles::vector + instance, lane / Tiles::across * Tiles::vector};
  }
};
/// What a warp loads: vectors along the output's rows.
template <class Tiles>
struct ChunkLoads {
  static constexpr int elements = Tiles::vector;
  int count = Tiles::columns * Tiles::chunks / 32;
  static constexpr Position where(int lane, int instance) {
    const int chunk = instance * 32 + lane;
    return {chunk / Tiles::chunks, chunk % Tiles::chunks * Tiles::vector};
  }
};

template <class Tiles, int shift>
using AlignedTile = SwizzledChunks<Tiles::bytes, Tiles::columns, Tiles::rows, shift>;

/// Whether a swizzle leaves no conflicts.
template <class Tiles, int shift>
inline constexpr bool swizzles = conflict_free<"sm_90", AlignedTile<Tiles, shift>>(UnitStores<Tiles>{},
                                                                                   model::Op::store) &&
                                 conflict_free<"sm_90", AlignedTile<Tiles, shift>>(ChunkLoads<Tiles>{},
                                                                                   model::Op::load);

/// The first swizzle without conflicts.
template <class Tiles, int shift = 0>
consteval int swizzle_of() {
  static_assert(shift < 8, "no swizzle makes this tile free of conflicts");
  if constexpr (swizzles<Tiles, shift>)
    return shift;
  else
    return swizzle_of<Tiles, shift + 1>();
}

/// Transposes a block of vector x vector elements: row i of it lies in x[i].
template <int bytes>
__device__ __forceinline__ void transpose_unit(uint4 (&x)[16 / bytes]) {
  constexpr int vector = 16 / bytes;
  uint32_t words[vector][4];
#pragma unroll
  for (int i = 0; i < vector; ++i)
    words[i][0] = x[i].x, words[i][1] = x[i].y, words[i][2] = x[i].z, words[i][3] = x[i].w;
  transpose_block<bytes>(words);
#pragma unroll
  for (int i = 0; i < vector; ++i) x[i] = make_uint4(words[i][0], words[i][1], words[i][2], words[i][3]);
}

/// How the L2 cache treats the lines that a block reads.
struct InputPolicy {
  uint64_t policy;
  bool reset;  ///< whether the block gives them the normal priority when they have been loaded
};
/// More than the L2 cache of any chip so far holds.
inline constexpr int64_t cached_bytes = 64 << 20;

/// "Evict last", the policy with which the memory loses least time between reads and writes
/// (docs/performance.md), although no line is read twice. So that none of them stays for the next kernel, the
/// blocks that read the last `cached` bytes give them the normal priority again. Inputs below twice that are
/// read as what is not needed again.
template <int tile_bytes, int64_t cached>
__device__ __forceinline__ InputPolicy input_policy() {
  constexpr auto tiles = static_cast<unsigned>(cached / tile_bytes);
  InputPolicy result;
  if (gridDim.x < 2 * tiles) {
    result.reset = false;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(result.policy));
  } else {
    result.reset = gridDim.x - blockIdx.x <= tiles;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(result.policy));
  }
  return result;
}

/// Loads a vector that no other lane needs.
__device__ __forceinline__ uint4 load_once(const uint4* from, uint64_t policy) {
  uint4 value;
  asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(from), "l"(policy));
  return value;
}

/// Blocks go down `in_turn` strips of tiles at a time, one tile of each strip after the other; the strips lie
/// `across / in_turn` apart. 1: down first; `across`: across first. `across` is a multiple of it.
template <class Tiles>
__device__ __forceinline__ Place place_in_turn(unsigned down, unsigned across, unsigned in_turn) {
  unsigned tile = blockIdx.x, matrix = 0;
  if (const unsigned tiles = down * across; tile >= tiles) matrix = tile / tiles, tile %= tiles;
  const unsigned strip = tile / in_turn / down + tile % in_turn * (across / in_turn);
  return {int64_t{tile / in_turn % down} * Tiles::rows, int64_t{strip} * Tiles::columns, matrix};
}

/// Rows of input and output begin at multiples of 16 bytes. One block a tile.
template <class Tiles, int64_t cached = cached_bytes>
__global__ void __launch_bounds__(Tiles::threads)
    transpose_aligned(Job<Tiles::bytes> job, unsigned down, unsigned across, unsigned in_turn) {
  constexpr int vector = Tiles::vector;
  using T = Word<Tiles::bytes>;
  constexpr int swizzle = swizzle_of<Tiles>();
  static_assert(swizzles<Tiles, swizzle>);
  using Tile = AlignedTile<Tiles, swizzle>;
  extern __shared__ uint4 raw[];  // Tiles::shared bytes
  Tile& tile = *reinterpret_cast<Tile*>(raw);

  const Place at = place_in_turn<Tiles>(down, across, in_turn);
  const T* const in = job.in + at.matrix * job.in_stride + at.row * job.in_leading + at.column;
  T* const out = job.out + at.matrix * job.out_stride + at.column * job.out_leading + at.row;
  // What of the tile lies in the matrix.
  const int rows = static_cast<int>(min(job.rows - at.row, int64_t{Tiles::rows}));
  const int columns = static_cast<int>(min(job.columns - at.column, int64_t{Tiles::columns}));
  const int thread = static_cast<int>(threadIdx.x);
  const InputPolicy input = input_policy<Tiles::shared, cached>();

  uint4 x[Tiles::loads][vector];
#pragma unroll
  for (int n = 0; n < Tiles::loads; ++n) {
    const int unit = n * Tiles::threads + thread;
    const int column = unit % Tiles::across * vector, row = unit / Tiles::across * vector;
#pragma unroll
    for (int i = 0; i < vector; ++i) {
      x[n][i] = {};
      if (row + i < rows && column + vector <= columns)
        x[n][i] =
            load_once(reinterpret_cast<const uint4*>(in + (row + i) * job.in_leading + column), input.policy);
    }
  }
#pragma unroll
  for (int n = 0; n < Tiles::loads; ++n) {
    const int unit = n * Tiles::threads + thread;
    const int column = unit % Tiles::across * vector, chunk = unit / Tiles::across;
    transpose_unit<Tiles::bytes>(x[n]);
    if (column + vector > columns) continue;
#pragma unroll
    for (int i = 0; i < vector; ++i)
      *reinterpret_cast<uint4*>(tile.storage + Tile::chunk_offset(column + i, chunk)) = x[n][i];
  }
  // Columns behind the last whole vector.
  if constexpr (vector > 1)
    for (int e = thread; e < columns % vector * Tiles::rows; e += Tiles::threads) {
      const int column = columns / vector * vector + e / Tiles::rows, row = e % Tiles::rows;
      if (row < rows)
        *reinterpret_cast<T*>(tile.storage + Tile::byte_offset(column, row)) =
            in[row * job.in_leading + column];
    }
  __syncthreads();
  if (input.reset) {
    // Lines of 128 bytes that this tile has as a whole; all have been loaded.
    constexpr int lines = Tiles::columns * Tiles::bytes / 128;
    for (int e = thread; e < rows * lines; e += Tiles::threads) {
      const auto begin = reinterpret_cast<uintptr_t>(in + e / lines * job.in_leading);
      const uintptr_t line = (begin + 127) / 128 * 128 + e % lines * 128;
      if (line + 128 <= begin + columns * Tiles::bytes)
        asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(line) : "memory");
    }
  }

#pragma unroll
  for (int n = 0; n < Tiles::stores; ++n) {
    const int index = n * Tiles::threads + thread;
    const int column = index / Tiles::chunks, chunk = index % Tiles::chunks;
    // Lanes outside of the matrix load as well: a warp with few lanes is served differently.
    const uint4 value = *reinterpret_cast<const uint4*>(tile.storage + Tile::chunk_offset(column, chunk));
    if (column < columns && chunk * vector + vector <= rows)
      __stcs(reinterpret_cast<uint4*>(out + column * job.out_leading) + chunk, value);
  }
  // Rows behind the last whole vector; lanes are spread over the columns as the stores to the tile are.
  if constexpr (vector > 1)
    if (rows % vector != 0)
      for (int e = thread; e < Tiles::columns * vector; e += Tiles::threads) {
        const int row = rows / vector * vector + e % vector;
        const int column = e / vector % Tiles::across * vector + e / vector / Tiles::across;
        const T value = *reinterpret_cast<const T*>(tile.storage + Tile::byte_offset(column, row));
        if (row < rows && column < columns) out[column * job.out_leading + row] = value;
      }
}

/// How blocks go through large matrices, from the measurements in docs/performance.md.
struct Walk {
  unsigned in_turn = 1;  ///< strips, see place_in_turn
  int shared = 0;        ///< bytes of dynamic shared memory with which a multiprocessor holds as many blocks
                         ///< as it should; 0: as many as fit
};

/// The bytes that the memory gives a multiprocessor of the current device in a microsecond; 0: the device
/// does not say. Asked once for a device, because the driver takes almost a millisecond to tell the memory's
/// clock.
inline int64_t memory_rate(int device) {
  constexpr int devices = 64;
  static std::atomic<int64_t> rates[devices];  // plus one; 0: not asked yet
  const bool kept = device >= 0 && device < devices;
  if (kept)
    if (const int64_t rate = rates[device].load(std::memory_order_relaxed); rate != 0) return rate - 1;
  int kilohertz = 0, bits = 0, multiprocessors = 0;
  int64_t rate = 0;
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) == cudaSuccess)
    rate = int64_t{2} * kilohertz * (bits / 8) / 1000 / multiprocessors;
  else
    cudaGetLastError();  // nothing has failed that a caller should hear of
  if (kept) rates[device].store(rate + 1, std::memory_order_relaxed);
  return rate;
}

/// Across first where the memory gives a multiprocessor less than 30,000 bytes in a microsecond: then three
/// blocks of a multiprocessor have enough bytes in flight, and with so few, reads in the order of their
/// addresses win most. Otherwise the output is written in order; where rows lie a multiple of 128 KiB apart,
/// by strips that lie an odd multiple of 64 KiB apart.
/// `whole_lines`: rows of both matrices begin at multiples of 128 bytes.
inline Walk walk_of(int64_t in_row_bytes, unsigned across, bool whole_lines) {
  int device = 0, shared = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  // A fourth block does not fit, since some of the memory is the system's.
  if (const int64_t rate = memory_rate(device); whole_lines && rate > 0 && rate < 30000)
    return {across, shared / 4};
  const int64_t in_turn = (in_row_bytes & -in_row_bytes) / (64 << 10);
  if (in_turn > 1 && across % in_turn == 0) return {static_cast<unsigned>(in_turn)};
  return {};
}

}  // namespace lanescope::kernels::transposing
