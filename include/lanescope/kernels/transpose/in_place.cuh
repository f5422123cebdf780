// Transposes in place: two tiles of a square matrix that lie opposite each other change places.
#pragma once

#include <type_traits>

#include "lanescope/kernels/transpose/aligned.cuh"
#include "lanescope/kernels/transpose/block.cuh"
#include "lanescope/kernels/transpose/common.cuh"
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

/// Loads; to keep, with the L2 policy "evict last": the sectors that tiles have in common stay until the
/// second one needs them. They lose it when they are written.
template <Reading reading, class T>
__device__ __forceinline__ T load_own(const T* from, uint64_t policy) {
  if constexpr (reading == Reading::plain) return *from;
  T value;
  if constexpr (sizeof(T) == 2)
    asm("ld.global.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(value) : "l"(from), "l"(policy));
  else if constexpr (sizeof(T) == 4)
    asm("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(value) : "l"(from), "l"(policy));
  else if constexpr (sizeof(T) == 8)
    asm("ld.global.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
        : "=r"(value.x), "=r"(value.y)
        : "l"(from), "l"(policy));
  else
    asm("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
        : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
        : "l"(from), "l"(policy));
  return value;
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

/// A square matrix of elements of 2 bytes and more with rows that begin anywhere; one block for two tiles,
/// half of its threads for each, an element a thread.
template <class Tiles>
__global__ void __launch_bounds__(Tiles::threads)
    transpose_in_place(Job<Tiles::bytes> job, const __grid_constant__ Pairs pairs) {
  constexpr int side = Tiles::side, threads = Tiles::threads / 2, rows_at_once = threads / side;
  using Tile = typename Tiles::Tile;
  static_assert(conflict_free<"sm_90", Tile>(access::row) && conflict_free<"sm_90", Tile>(access::column));
  extern __shared__ uint4 raw[];

  const PairOfBlock pair = pair_of_block(pairs);
  if (!pair.found) return;
  const bool second = threadIdx.x >= threads, diagonal = pair.row == pair.column;
  Tile& tile = reinterpret_cast<Tile*>(raw)[second ? 1 : 0];
  const int thread = static_cast<int>(threadIdx.x) % threads, x = thread % side, y = thread / side;
  const int64_t row = int64_t{second ? pair.column : pair.row} * side;
  const int64_t column = int64_t{second ? pair.row : pair.column} * side;
  auto* const base = job.out + pair.matrix * job.out_stride;
  // What of the tile lies in the matrix; nothing of the second one if it is the first.
  const int rows = second && diagonal ? 0 : static_cast<int>(min(job.rows - row, int64_t{side}));
  const int columns = static_cast<int>(min(job.rows - column, int64_t{side}));
  const auto move = [&](auto whole) {
    const uint64_t policy = policy_of<Tiles::reading>();
    const auto* const from = base + (row + y) * job.out_leading + column + x;
#pragma unroll
    for (int n = 0; n < side; n += rows_at_once)
      if (decltype(whole)::value || (y + n < rows && x < columns))
        tile[y + n][x] = load_own<Tiles::reading>(from + n * job.out_leading, policy);
    __syncthreads();
    auto* const to = base + (column + y) * job.out_leading + row + x;
#pragma unroll
    for (int n = 0; n < side; n += rows_at_once)
      if (decltype(whole)::value || (y + n < columns && x < rows)) to[n * job.out_leading] = tile[x][y + n];
  };
  if (pair.row + 1 < pairs.tiles && !diagonal)
    move(std::true_type{});
  else
    move(std::false_type{});
}

/// A transposed tile in words of `pack` elements: 32 of them in each of its rows, swizzled.
template <int pack>
struct WordTile {
  using value_type = uint32_t;
  static constexpr int rows = 32 * pack, columns = 32;
  LANESCOPE_HD static constexpr int byte_offset(int row, int column) {
    return (row * columns + (column ^ (row / pack))) * 4;
  }
  uint32_t storage[rows * columns];
};
/// Lane after lane stores a block of pack x pack elements, row by row.
template <int pack>
struct BlockStores {
  int count = 32 * pack;
  static constexpr Position where(int lane, int instance) {
    return {lane * pack + instance % pack, instance / pack};
  }
};
inline constexpr int word_threads = 256;

/// The same for elements of 1 byte, tiles of 128 x 128: a warp moves aligned words of 32 lanes, one for each
/// of as many rows as elements fit into a word, shifts them to where the tile's rows begin, transposes blocks
/// in registers, and shifts the words of the transposed tile to where they are written. A word that is partly
/// of another tile is read for the part that is of this one, and written element by element.
template <int bytes>
__global__ void __launch_bounds__(word_threads)
    transpose_words_in_place(Job<bytes> job, const __grid_constant__ Pairs pairs) {
  constexpr int pack = 4 / bytes, side = 32 * pack, threads = word_threads / 2, warps = threads / 32,
                steps = 32 / warps;
  using T = Word<bytes>;
  using Tile = WordTile<pack>;
  static_assert(conflict_free<"sm_90", Tile>(BlockStores<pack>{}, model::Op::store) &&
                conflict_free<"sm_90", Tile>(access::row));
  __shared__ Tile both[2];

  const auto [matrix, i, j, found] = pair_of_block(pairs);
  if (!found) return;
  const bool second = threadIdx.x >= threads, diagonal = i == j;
  const int thread = static_cast<int>(threadIdx.x) % threads, lane = thread % 32, warp = thread / 32;
  Tile& tile = both[second ? 1 : 0];
  const auto word_at = [&](int row, int column) -> uint32_t& {
    return tile.storage[Tile::byte_offset(row, column) / 4];
  };
  const int64_t row = int64_t{second ? j : i} * side, column = int64_t{second ? i : j} * side;
  T* const base = job.out + matrix * job.out_stride;
  // What of the tile lies in the matrix; nothing of the second one if it is the first.
  const int rows = second && diagonal ? 0 : static_cast<int>(min(job.rows - row, int64_t{side}));
  const int columns = static_cast<int>(min(job.rows - column, int64_t{side}));
  const auto phase_of = [](const T* p) { return static_cast<unsigned>(reinterpret_cast<uintptr_t>(p) % 4); };

  // Where row r of the tile begins.
  const auto begin_of = [&](int r) { return base + (row + r) * job.out_leading + column; };
  uint32_t x[steps][pack], behind[steps];
  // Loads aligned words, as far as they are needed: word `lane` of each row, and word 32 of row `lane` of a
  // block. `inside`: all of them lie in rows of the matrix as a whole.
  const auto load_words = [&](auto inside) {
    const auto load = [&](int r, int index) -> uint32_t {
      const T* const first = begin_of(r);
      const T* const at = first - phase_of(first) / bytes + index * pack;
      if constexpr (decltype(inside)::value) {
        return *reinterpret_cast<const uint32_t*>(at);
      } else {
        if (r >= rows || at >= first + columns) return 0;
        if (at >= first - column && at + pack <= first - column + job.rows)
          return *reinterpret_cast<const uint32_t*>(at);
        uint32_t word = 0;
#pragma unroll
        for (int k = 0; k < pack; ++k)
          if (at + k >= first && at + k < first + columns) word |= uint32_t{at[k]} << (k * bytes * 8);
        return word;
      }
    };
#pragma unroll
    for (int n = 0; n < steps; ++n) {
      const int r = (n * warps + warp) * pack;
#pragma unroll
      for (int k = 0; k < pack; ++k) x[n][k] = load(r + k, lane);
      behind[n] = lane < pack ? load(r + lane, 32) : 0;
    }
  };
  if (rows == side && column >= pack && column + side + pack <= job.rows)
    load_words(std::true_type{});
  else
    load_words(std::false_type{});
#pragma unroll
  for (int n = 0; n < steps; ++n) {
    const int q = n * warps + warp;
    uint32_t block[pack][1];
#pragma unroll
    for (int k = 0; k < pack; ++k) {
      const uint32_t last = __shfl_sync(~0U, behind[n], k);
      const uint32_t next = __shfl_down_sync(~0U, x[n][k], 1);
      block[k][0] = __funnelshift_r(x[n][k], lane == 31 ? last : next, phase_of(begin_of(q * pack + k)) * 8);
    }
    transpose_block<bytes>(block);
#pragma unroll
    for (int k = 0; k < pack; ++k) word_at(lane * pack + k, q) = block[k][0];
  }
  __syncthreads();

#pragma unroll 4
  for (int c = warp; c < columns; c += warps) {
    T* const to = base + (column + c) * job.out_leading + row;
    const int phase = static_cast<int>(phase_of(to)), first = lane * 4 - phase;
    const uint32_t word = word_at(c, lane), before = __shfl_up_sync(~0U, word, 1);
    if (first >= 0 && first + 4 <= rows * bytes)
      *reinterpret_cast<uint32_t*>(to + first / bytes) = __funnelshift_l(before, word, phase * 8);
  }
  // What is left of each row on both ends.
  for (int c = thread; c < columns; c += threads) {
    T* const to = base + (column + c) * job.out_leading + row;
    const int before = min(rows, static_cast<int>((4 - phase_of(to)) % 4) / bytes);
    const int behind_words = before + (rows - before) / pack * pack;
    const auto put = [&](int r) { to[r] = static_cast<T>(word_at(c, r / pack) >> (r % pack * bytes * 8)); };
    for (int r = 0; r < before; ++r) put(r);
    for (int r = behind_words; r < rows; ++r) put(r);
  }
}

/// The same where rows begin at multiples of 16 bytes: half of the threads move a tile one way, as
/// transpose_aligned does it, half of them the one opposite the other way.
template <class Tiles>
__global__ void __launch_bounds__(2 * Tiles::threads)
    transpose_aligned_in_place(Job<Tiles::bytes> job, unsigned tiles) {
  constexpr int side = Tiles::rows;
  static_assert(Tiles::columns == side);
  extern __shared__ uint4 raw[];  // two tiles

  const unsigned pairs = tiles * (tiles + 1) / 2;
  const auto [i, j] = opposite_of(blockIdx.x % pairs, tiles);
  const bool second = threadIdx.x >= Tiles::threads;
  const int thread = static_cast<int>(threadIdx.x) % Tiles::threads;
  auto& tile = reinterpret_cast<UsedTile<Tiles>*>(raw)[second ? 1 : 0];
  const int64_t row = int64_t{second ? j : i} * side, column = int64_t{second ? i : j} * side;
  auto* const base = job.out + blockIdx.x / pairs * job.out_stride;
  // Of the second tile nothing if it is the first.
  const bool diagonal = i == j;
  const Piece<Tiles::bytes> piece{
      base + row * job.out_leading + column,
      base + column * job.out_leading + row,
      job.out_leading,
      job.out_leading,
      second && diagonal ? 0 : static_cast<int>(min(job.rows - row, int64_t{side})),
      static_cast<int>(min(job.rows - column, int64_t{side}))};

  fill_tile<Tiles>(tile, piece, thread, [](const uint4* from) { return __ldcs(from); });
  __syncthreads();
  write_tile<Tiles>(tile, piece, thread);
}

}  // namespace lanescope::kernels::transposing
