// Transposes in place: two tiles of a square matrix that lie opposite each other change places.
#pragma once

#include <type_traits>

#include "lanescope/kernels/transpose/aligned.cuh"
#include "lanescope/kernels/transpose/block.cuh"
#include "lanescope/kernels/transpose/common.cuh"
#include "lanescope/kernels/transpose/gathering.cuh"
#include "lanescope/kernels/transpose/pairs.hpp"
#include "lanescope/kernels/transpose/reading.cuh"

namespace lanescope::kernels::transposing {

/// A block's matrix and pair.
struct PairOfBlock {
  unsigned matrix, row, column;
  bool found;
};
__device__ __forceinline__ PairOfBlock pair_of_block(const Pairs& pairs) {
  const unsigned matrix = quotient(blockIdx.x, pairs.of_matrix);
  const unsigned k = blockIdx.x - matrix * pairs.of_matrix.value, in_square = (1U << pairs.log_group) - 1;
  const unsigned square = k >> (2 * pairs.log_group), b = quotient(square, pairs.height);
  const Opposite first = opposite_in(square - b * pairs.height.value, b, pairs.squares);
  const unsigned row = (first.row << pairs.log_group) + (k & in_square);
  const unsigned column = (first.column << pairs.log_group) + (k >> pairs.log_group & in_square);
  return {matrix, row, column, row < pairs.tiles && row >= column};
}

/// What half of a block's threads move: one of the tiles of a pair.
struct HalfOfPair {
  bool second;
  int thread;
  int64_t row, column;  ///< of the matrix, where the tile begins
  /// What of the tile lies in the matrix; no rows of the second one if it is the first.
  int rows, columns;
};
/// Tiles of `side` x `side` elements of a matrix of `n` rows; `threads`: of a half.
__device__ __forceinline__ HalfOfPair half_of(unsigned tile_row, unsigned tile_column, int side, int threads,
                                              int64_t n) {
  HalfOfPair half{};
  half.second = static_cast<int>(threadIdx.x) >= threads;
  half.thread = static_cast<int>(threadIdx.x) % threads;
  half.row = int64_t{half.second ? tile_column : tile_row} * side;
  half.column = int64_t{half.second ? tile_row : tile_column} * side;
  half.rows = half.second && tile_row == tile_column ? 0 : static_cast<int>(min(n - half.row, int64_t{side}));
  half.columns = static_cast<int>(min(n - half.column, int64_t{side}));
  return half;
}

/// Loads; to keep, with the L2 policy "evict last": the sectors that tiles have in common stay until the
/// second one needs them. They lose it when they are written.
template <Reading reading, class T>
__device__ __forceinline__ T load_own(const T* from, uint64_t policy) {
  if constexpr (reading == Reading::plain) {
    return *from;
  } else {
    T value;
    if constexpr (sizeof(T) == 8)
      asm("ld.global.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
          : "=r"(value.x), "=r"(value.y)
          : "l"(from), "l"(policy));
    else
      asm("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
          : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
          : "l"(from), "l"(policy));
    return value;
  }
}

/// Elements of a tile that lies anywhere, and threads of a block: large tiles have fewer sectors in common,
/// and are kept in the L2 cache.
template <int bytes_, int side_, int threads_, Reading reading_>
struct PairTiles {
  static constexpr int bytes = bytes_, side = side_, threads = threads_;
  static constexpr Reading reading = reading_;
  using Tile = PaddedTile<Word<bytes>, side, side, lanescope::detail::larger(1, 4 / bytes)>;
  static constexpr int shared = 2 * static_cast<int>(sizeof(Tile));
};

/// A square matrix with rows that begin anywhere; one block for two tiles, half of its threads for each, an
/// element a thread.
template <class Tiles>
__global__ void __launch_bounds__(Tiles::threads)
    transpose_in_place(Job<Tiles::bytes> job, const __grid_constant__ Pairs pairs) {
  constexpr int side = Tiles::side, threads = Tiles::threads / 2, rows_at_once = threads / side;
  using Tile = typename Tiles::Tile;
  static_assert(conflict_free<"sm_90", Tile>(access::row) && conflict_free<"sm_90", Tile>(access::column));
  extern __shared__ uint4 raw[];

  const PairOfBlock pair = pair_of_block(pairs);
  if (!pair.found) return;
  const HalfOfPair half = half_of(pair.row, pair.column, side, threads, job.rows);
  Tile& tile = reinterpret_cast<Tile*>(raw)[half.second ? 1 : 0];
  const int x = half.thread % side, y = half.thread / side, rows = half.rows, columns = half.columns;
  auto* const base = job.out + pair.matrix * job.out_stride;
  const auto move = [&](auto whole) {
    const uint64_t policy = policy_of<Tiles::reading>();
    const auto* const from = base + (half.row + y) * job.out_leading + half.column + x;
#pragma unroll
    for (int n = 0; n < side; n += rows_at_once)
      if (decltype(whole)::value || (y + n < rows && x < columns))
        tile[y + n][x] = load_own<Tiles::reading>(from + n * job.out_leading, policy);
    __syncthreads();
    auto* const to = base + (half.column + y) * job.out_leading + half.row + x;
#pragma unroll
    for (int n = 0; n < side; n += rows_at_once)
      if (decltype(whole)::value || (y + n < columns && x < rows)) to[n * job.out_leading] = tile[x][y + n];
  };
  if (pair.row + 1 < pairs.tiles && pair.row != pair.column)
    move(std::true_type{});
  else
    move(std::false_type{});
}

/// A square matrix of elements of 1 to 4 bytes with rows that begin anywhere: tiles go to shared memory as
/// they are, half of a block's threads for each, and vectors of 16 bytes of the output are put together from
/// there; elements in front of the first one of a tile's row and behind the last one by themselves.
template <int bytes, Reading reading>
__global__ void __launch_bounds__(2 * gathering_threads, 2)
    transpose_gathering_in_place(Job<bytes> job, const __grid_constant__ Pairs pairs,
                                 const __grid_constant__ Gathering of) {
  extern __shared__ uint4 raw[];  // two tiles
  constexpr int vector = 16 / bytes;
  const PairOfBlock pair = pair_of_block(pairs);
  if (!pair.found) return;
  const HalfOfPair half = half_of(pair.row, pair.column, of.rows, gathering_threads, job.rows);
  const int thread = half.thread, rows = half.rows, columns = half.columns;
  auto* const base = reinterpret_cast<unsigned char*>(job.out + pair.matrix * job.out_stride);
  const int64_t pitch = job.out_leading * bytes;
  GatheredRows<bytes, reading> block;
  block.in = base + half.row * pitch + half.column * bytes;
  block.in_pitch = pitch;
  block.rows = rows;
  block.width = columns * bytes;
  block.low = base;
  block.high = base + (job.rows - 1) * pitch + job.rows * bytes;
  block.tile = reinterpret_cast<unsigned char*>(raw) + (half.second ? pair_tile_bytes(of) : 0);
  block.begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(block.in)) % 32;
  block.policy = policy_of<reading>();
  block.load(of, thread);
  block.wait();
  __syncthreads();
  if (rows == 0) return;

  // Rows of the tile in front of the first whole vector of an output row.
  auto* const out = base + half.column * pitch + half.row * bytes;
  const auto to_vector = [](const unsigned char* at) {
    return static_cast<int>(-static_cast<unsigned>(reinterpret_cast<uintptr_t>(at)) % 16) / bytes;
  };
  const auto store = [&]<bool straight>() {
    // Lanes have the vectors of a line together, from the one on in which the output row begins.
    const int at_once = of.columns_at_once(), lanes = 1 << of.lanes;
    int c = of.column<bytes>(thread);
    unsigned char* to = out + c * pitch;
    const int begins = to_vector(to), count = (rows - begins) / vector;
    VectorsOfLane<bytes> vectors(block, of, of.turn<bytes>(thread, begins), begins, c);
    const RowsOfWord<bytes, straight> rows_of(vectors.turn.rows, of);
    to += begins * bytes;
    for (; c < columns; c += at_once) {
      const int in_line = static_cast<int>(reinterpret_cast<uintptr_t>(to) / 16) & (lanes - 1);
#pragma unroll 1
      for (int v = of.lane(thread) - in_line; v < count; v += lanes)
        if (v >= 0) *reinterpret_cast<uint4*>(to + 16 * v) = vectors.gather(rows_of, v * vector * of.pitch);
      vectors.next(at_once * bytes);
      to += at_once * pitch;
    }
  };
  if (of.straight<bytes>())
    store.template operator()<true>();
  else
    store.template operator()<false>();

  // Elements in front of whole vectors and behind them: as many as a vector has, if the tile lies in the
  // matrix as a whole. A thread takes one row of columns whose output rows begin alike.
  constexpr int at_once = gathering_threads / vector;
  static_assert(at_once * bytes % 16 == 0);
  const int first = edge_column(bytes, of.pitch, thread / vector);
  unsigned char* const first_row = out + first * pitch;
  const int front = min(to_vector(first_row), rows), edges = front + (rows - front) % vector;
  for (int k = thread % vector; k < edges; k += vector) {
    const int row = k < front ? k : rows - edges + k;
    const unsigned char* from = block.at(of, row, first);
    unsigned char* to = first_row + row * bytes;
#pragma unroll 1
    for (int c = first; c < columns; c += at_once) {
      *reinterpret_cast<Word<bytes>*>(to) = *reinterpret_cast<const Word<bytes>*>(from);
      from += at_once * bytes;
      to += at_once * pitch;
    }
  }
}

/// The same where rows begin at multiples of 16 bytes: half of the threads move a tile one way, as
/// transpose_aligned does it, half of them the one opposite the other way. Large matrices are read with the
/// L2 policy "evict last", and lose it as they are written; others are read and written as what is not needed
/// again.
template <class Tiles, Reading reading>
__global__ void __launch_bounds__(2 * Tiles::threads)
    transpose_aligned_in_place(Job<Tiles::bytes> job, unsigned tiles) {
  constexpr int side = Tiles::rows;
  static_assert(Tiles::columns == side);
  extern __shared__ uint4 raw[];  // two tiles

  const unsigned pairs = tiles * (tiles + 1) / 2;
  const auto [i, j] = opposite_of(blockIdx.x % pairs, tiles);
  const HalfOfPair half = half_of(i, j, side, Tiles::threads, job.rows);
  auto& tile = reinterpret_cast<UsedTile<Tiles>*>(raw)[half.second ? 1 : 0];
  auto* const base = job.out + blockIdx.x / pairs * job.out_stride;
  const Piece<Tiles::bytes> piece{base + half.row * job.out_leading + half.column,
                                  base + half.column * job.out_leading + half.row,
                                  job.out_leading,
                                  job.out_leading,
                                  half.rows,
                                  half.columns};

  constexpr bool keeping = reading == Reading::keeping;
  const uint64_t policy = keeping ? evict_last() : evict_first();
  fill_tile<Tiles>(tile, piece, half.thread, [&](const uint4* from) {
    uint4 value;
    asm("ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
        : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
        : "l"(from), "l"(policy));
    return value;
  });
  __syncthreads();
  write_tile<Tiles>(tile, piece, half.thread, [](uint4* to, const uint4& value) {
    if constexpr (keeping)
      *to = value;
    else
      __stcs(to, value);
  });
}

}  // namespace lanescope::kernels::transposing
