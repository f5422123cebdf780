// Transposes where rows begin at multiples of 16 bytes: vectors on both sides, blocks of 16 x 16 bytes
// transposed in registers, a swizzled tile.
#pragma once

#include <atomic>
#include <cstdint>

#include "lanescope/kernels/transpose/block.cuh"
#include "lanescope/kernels/transpose/common.cuh"
#include "lanescope/kernels/transpose/reading.cuh"

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

/// Whether tiles of so many bytes are of a large input, twice `cached` at least, which is read with "evict
/// last" although no line is read twice. Smaller ones are read as what is not needed again.
template <int tile_bytes, int64_t cached>
__device__ __forceinline__ bool is_large() {
  return gridDim.x >= 2 * static_cast<unsigned>(cached / tile_bytes);
}
__device__ __forceinline__ uint64_t input_policy(bool large) { return large ? evict_last() : evict_first(); }

/// Loads a vector that no other lane needs.
__device__ __forceinline__ uint4 load_once(const uint4* from, uint64_t policy) {
  uint4 value;
  asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(from), "l"(policy));
  return value;
}

/// What of a matrix a tile is: where its first row begins in input and output, and how many rows and columns
/// of it lie in the matrix.
template <int bytes>
struct Piece {
  const Word<bytes>* in;
  Word<bytes>* out;
  int64_t in_leading, out_leading;
  int rows, columns;
};

template <class Tiles>
using UsedTile = AlignedTile<Tiles, swizzle_of<Tiles>()>;

/// The input's side: vectors come by `load(from)`, blocks of them are transposed in registers. `thread`: of
/// the Tiles::threads that move this tile.
template <class Tiles, class Load>
__device__ __forceinline__ void fill_tile(UsedTile<Tiles>& tile, const Piece<Tiles::bytes>& piece, int thread,
                                          Load load) {
  constexpr int vector = Tiles::vector;
  using T = Word<Tiles::bytes>;
  using Tile = UsedTile<Tiles>;
  uint4 x[Tiles::loads][vector];
#pragma unroll
  for (int n = 0; n < Tiles::loads; ++n) {
    const int unit = n * Tiles::threads + thread;
    const int column = unit % Tiles::across * vector, row = unit / Tiles::across * vector;
#pragma unroll
    for (int i = 0; i < vector; ++i) {
      x[n][i] = {};
      if (row + i < piece.rows && column + vector <= piece.columns)
        x[n][i] = load(reinterpret_cast<const uint4*>(piece.in + (row + i) * piece.in_leading + column));
    }
  }
#pragma unroll
  for (int n = 0; n < Tiles::loads; ++n) {
    const int unit = n * Tiles::threads + thread;
    const int column = unit % Tiles::across * vector, chunk = unit / Tiles::across;
    transpose_unit<Tiles::bytes>(x[n]);
    if (column + vector > piece.columns) continue;
#pragma unroll
    for (int i = 0; i < vector; ++i)
      *reinterpret_cast<uint4*>(tile.storage + Tile::chunk_offset(column + i, chunk)) = x[n][i];
  }
  // Columns behind the last whole vector.
  if constexpr (vector > 1)
    for (int e = thread; e < piece.columns % vector * Tiles::rows; e += Tiles::threads) {
      const int column = piece.columns / vector * vector + e / Tiles::rows, row = e % Tiles::rows;
      if (row < piece.rows)
        *reinterpret_cast<T*>(tile.storage + Tile::byte_offset(column, row)) =
            piece.in[row * piece.in_leading + column];
    }
}

/// The output's side: whole vectors go by `store(to, vector)`.
template <class Tiles, class Store>
__device__ __forceinline__ void write_tile(const UsedTile<Tiles>& tile, const Piece<Tiles::bytes>& piece,
                                           int thread, Store store) {
  constexpr int vector = Tiles::vector;
  using T = Word<Tiles::bytes>;
  using Tile = UsedTile<Tiles>;
#pragma unroll
  for (int n = 0; n < Tiles::stores; ++n) {
    const int index = n * Tiles::threads + thread;
    const int column = index / Tiles::chunks, chunk = index % Tiles::chunks;
    // Lanes outside of the matrix load as well: a warp with few lanes is served differently.
    const uint4 value = *reinterpret_cast<const uint4*>(tile.storage + Tile::chunk_offset(column, chunk));
    if (column < piece.columns && chunk * vector + vector <= piece.rows)
      store(reinterpret_cast<uint4*>(piece.out + column * piece.out_leading) + chunk, value);
  }
  // Rows behind the last whole vector; lanes are spread over the columns as the stores to the tile are.
  if constexpr (vector > 1)
    if (piece.rows % vector != 0)
      for (int e = thread; e < Tiles::columns * vector; e += Tiles::threads) {
        const int row = piece.rows / vector * vector + e % vector;
        const int column = e / vector % Tiles::across * vector + e / vector / Tiles::across;
        const T value = *reinterpret_cast<const T*>(tile.storage + Tile::byte_offset(column, row));
        if (row < piece.rows && column < piece.columns) piece.out[column * piece.out_leading + row] = value;
      }
}

/// Rows of input and output begin at multiples of 16 bytes. One block a tile.
template <class Tiles, int64_t cached = cached_bytes>
__global__ void __launch_bounds__(Tiles::threads) transpose_aligned(Job<Tiles::bytes> job, Order order) {
  static_assert(swizzles<Tiles, swizzle_of<Tiles>()>);
  extern __shared__ uint4 raw[];  // Tiles::shared bytes
  auto& tile = *reinterpret_cast<UsedTile<Tiles>*>(raw);

  const Place at = place_of(order, Tiles::rows, Tiles::columns);
  const Piece<Tiles::bytes> piece{job.in + at.matrix * job.in_stride + at.row * job.in_leading + at.column,
                                  job.out + at.matrix * job.out_stride + at.column * job.out_leading + at.row,
                                  job.in_leading,
                                  job.out_leading,
                                  static_cast<int>(min(job.rows - at.row, int64_t{Tiles::rows})),
                                  static_cast<int>(min(job.columns - at.column, int64_t{Tiles::columns}))};
  const int thread = static_cast<int>(threadIdx.x);
  const bool large = is_large<Tiles::shared, cached>();
  const uint64_t policy = input_policy(large);

  fill_tile<Tiles>(tile, piece, thread, [&](const uint4* from) { return load_once(from, policy); });
  __syncthreads();
  if (large)
    release_lines<cached>({reinterpret_cast<uintptr_t>(piece.in), piece.in_leading * Tiles::bytes, 0,
                           piece.rows, 0, piece.columns * Tiles::bytes},
                          Tiles::shared);
  write_tile<Tiles>(tile, piece, thread, [](uint4* to, const uint4& value) { __stcs(to, value); });
}

/// How blocks go through large matrices, from the measurements in docs/performance.md.
struct Walk {
  unsigned in_turn = 1;  ///< strips, as in Order
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
  const std::optional<Device> device = current_device();
  if (!device) return {};
  // A fourth block does not fit, since some of the memory is the system's.
  if (const int64_t rate = memory_rate(device->number); whole_lines && rate > 0 && rate < 30000)
    return {across, device->shared / 4};
  const int64_t in_turn = (in_row_bytes & -in_row_bytes) / (64 << 10);
  if (in_turn > 1 && across % in_turn == 0) return {static_cast<unsigned>(in_turn)};
  return {};
}

}  // namespace lanescope::kernels::transposing
