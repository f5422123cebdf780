// Transposes of elements of 1 to 4 bytes where rows begin anywhere: words of 4 bytes are put together of
// aligned ones on both sides, and each output row has windows of its own that begin at a multiple of 32
// bytes.
#pragma once

#include "lanescope/kernels/transpose/block.cuh"
#include "lanescope/kernels/transpose/common.cuh"
#include "lanescope/kernels/transpose/reading.cuh"

namespace lanescope::kernels::transposing {

/// Tiles for rows that begin anywhere. A block moves `sets` times 32 words of each input row, a lane one word
/// of each set; elements of less than 4 bytes are shifted to their places with the next lane's word, so that
/// the last one of the row's words is there for its neighbour alone. It writes `stored` bytes of each output
/// row, which begin at a multiple of `align` bytes: those of each row at another column of the input, so that
/// a tile loads some rows more (`slack`) than it stores.
template <int bytes_, int sets_, int warps_, int align_, int stored_, int ahead_, int blocks_>
struct RealigningTiles {
  static constexpr int bytes = bytes_, sets = sets_, warps = warps_, align = align_, stored = stored_;
  static constexpr int blocks = blocks_;  ///< on a multiprocessor
  static constexpr int threads = 32 * warps;
  static constexpr int side = 4 / bytes;   ///< elements of a word: blocks of side x side are transposed
  static constexpr int words = 32 * sets;  ///< of an input row
  static constexpr int columns = (bytes == 4 ? words : words - 1) * side;
  static constexpr int lines = words * side;  ///< of the tile: output rows
  static constexpr int slack = align / bytes, rows = stored / bytes, loaded = rows + slack;
  static constexpr int line_words = loaded / side;    ///< of an output row
  static constexpr int loads = line_words / warps;    ///< rounds of a warp: `side` rows each
  static constexpr int ahead = ahead_;                ///< rounds whose loads are in flight
  static constexpr int vector = 16 / bytes;           ///< elements
  static constexpr int parts = (stored + 127) / 128;  ///< of an output row: eight vectors
  static constexpr int together =
      warps > 8 ? warps / 8 : 1;                        ///< sets whose lines are stored at the same time
  static constexpr int rounds = lines / 32 / together;  ///< of 32 x together lines
  static constexpr int shared = lines * (line_words + 1) * 4;  ///< bytes of dynamic shared memory
  /// Columns that so many words hold, wherever rows begin.
  LANESCOPE_HD static constexpr int columns_of(int words) { return (words * 4 - 4 + bytes) / bytes; }
  /// Which part of the blocks' time goes to the matrix, about: each takes `fixed` of what a whole tile takes,
  /// and the rest for what it loads (docs/performance.md).
  static constexpr double used(int64_t matrix_rows, int64_t matrix_columns, int64_t down, int64_t across) {
    constexpr double fixed = 0.15;
    const auto part = [](int64_t size, int64_t tile) {
      return static_cast<double>(size) / static_cast<double>(tile);
    };
    const double loads_of = part(matrix_rows + down * slack, loaded) * part(matrix_columns, columns);
    return part(matrix_rows, rows) * part(matrix_columns, columns) /
           (fixed * static_cast<double>(down * across) + (1 - fixed) * loads_of);
  }
  static_assert(loads * warps == line_words && ahead <= loads);
  static_assert((warps == 8 || warps == 16) && sets % together == 0);
  static_assert(align >= 32 && 128 % align == 0 && stored % align == 0);
};

/// The output's side of a tile, in words of 4 bytes.
template <class Tiles, int padding>
struct PaddedLines {
  using value_type = uint32_t;
  static constexpr int rows = Tiles::lines, columns = Tiles::line_words, pitch = columns + padding;
  LANESCOPE_HD static constexpr int byte_offset(int row, int column) { return (row * pitch + column) * 4; }
};

/// The output rows of a set change places: those that are eight words of the input apart lie beside each
/// other, because they begin at the same place of a sector.
LANESCOPE_HD constexpr int line_of(int word) { return word % 8 * 4 + word / 8; }

/// What a warp stores to the tile: a word of 32 output rows each, which are `side` columns apart.
template <class Tiles>
struct WordStores {
  static constexpr int elements = 1;
  int count = 2;
  static constexpr Position where(int lane, int instance) { return {line_of(lane), instance}; }
};
/// What a warp loads: eight vectors of four neighbouring rows, a word of each at a time. How far a row is
/// shifted depends on the remainder of the leading dimension: the same for all of them if `align` is 32.
template <class Tiles>
struct VectorWords {
  static constexpr int elements = 1;
  int count = Tiles::align / 32;
  static constexpr Position where(int lane, int instance) {
    const int row = lane / 8, shift = row * instance * 8 % (Tiles::align / 4);
    return {row, Tiles::align / 4 + lane % 8 * 4 - shift};
  }
};

/// The least padding without conflicts.
template <class Tiles, int padding = 0>
consteval int padding_of() {
  static_assert(padding < 8, "no padding makes this tile free of conflicts");
  using Tile = PaddedLines<Tiles, padding>;
  if constexpr (conflict_free<"sm_90", Tile>(WordStores<Tiles>{}, model::Op::store) &&
                conflict_free<"sm_90", Tile>(VectorWords<Tiles>{}, model::Op::load))
    return padding;
  else
    return padding_of<Tiles, padding + 1>();
}
template <class Tiles>
using RealigningTile = PaddedLines<Tiles, padding_of<Tiles>()>;

/// What a block of `transpose_realigning` moves.
template <class Tiles, Reading reading>
struct RealigningBlock {
  static constexpr int bytes = Tiles::bytes, side = Tiles::side;
  using T = Word<bytes>;
  using Tile = RealigningTile<Tiles>;
  const T* in;           ///< of the first row that is loaded
  int64_t in_pitch;      ///< bytes
  int64_t wrap;          ///< bytes from a row before the first one of the matrix to where it is loaded
  int low, high;         ///< rows of the tile that are loaded
  int seen;              ///< rows of the tile that are looked at
  int columns;           ///< of the tile that lie in the matrix
  int64_t columns_left;  ///< from the first one to the end of the row
  bool first;            ///< the tile begins where the rows begin
  uint32_t* tile;
  uint64_t policy;  ///< of the L2 cache, for the input

  /// Rows come into the tile, by `sets` sets of words, in which its columns lie; `lanes` (8 or 16, one set)
  /// to each row where that is enough. `whole`: all bytes of words that lie in a row in part are the
  /// matrix's; else those words are left out. `all`: no row and no column of the tile lies outside of the
  /// matrix.
  template <bool whole, int sets, int lanes, bool all>
  __device__ __forceinline__ void load() const {
    static_assert(lanes == 32 || sets == 1);
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    // Blocks of `side` rows: which one is the lane's first, and how many lie between it and the next one. Of
    // 16 lanes each, those of a warp lie two apart, so that no words meet in a bank.
    const int word = lane % lanes, group = lane / lanes;
    constexpr int groups = 32 / lanes, apart = Tiles::warps * groups;
    const int warp_block = groups == 2 ? warp / 2 * 4 + warp % 2 : warp * groups;
    const int first_block = warp_block + (groups == 2 ? 2 : 1) * group;
    constexpr int rounds = (Tiles::loads + groups - 1) / groups;
    constexpr int ahead = Tiles::ahead < rounds ? Tiles::ahead : rounds;
    const auto begin = reinterpret_cast<uintptr_t>(in);
    const uintptr_t from = begin + first_block * side * in_pitch + 4 * word;
    // Bits from an aligned word to row i of a block, modulo 32: blocks are whole words apart.
    unsigned shift[side];
#pragma unroll
    for (int i = 0; i < side; ++i)
      shift[i] = (static_cast<unsigned>(begin) + i * static_cast<unsigned>(in_pitch)) * 8;
    const int first_byte = first ? 0 : -4;
    const int end_byte = static_cast<int>(min(columns_left * bytes, int64_t{1} << 20));
    bool is_near[sets];  // the lane's word of a set: may have a part of the tile
#pragma unroll
    for (int k = 0; k < sets; ++k) is_near[k] = 4 * (word + 32 * k) < columns * bytes + 4 - bytes;
    uint32_t* const to = tile + line_of(word) * Tile::pitch + first_block;
    // Blocks that may lie before the first row of the matrix.
    const auto wrapped = [&](int n) {
      return groups == 1 && n * apart * side < Tiles::slack && (first_block + n * apart) * side < Tiles::slack
                 ? wrap
                 : 0;
    };

    uint32_t x[ahead][sets][side];
    const auto fetch = [&](int n) {
      const uintptr_t block = from + n * apart * side * in_pitch + wrapped(n);
#pragma unroll
      for (int i = 0; i < side; ++i) {
        const int row = (first_block + n * apart) * side + i;
        const bool is_row = (n * apart * side >= Tiles::slack || row >= low) && row < high;
        const uintptr_t words = (block + i * in_pitch) & ~uintptr_t{3};
#pragma unroll
        for (int k = 0; k < sets; ++k) {
          bool is_word = all || (is_row && is_near[k]);
          if constexpr (!whole) {
            const int at = 4 * (word + 32 * k) - static_cast<int>(shift[i] / 8 % 4);
            is_word = is_word && at >= first_byte && at + 4 <= end_byte;
          }
          uint32_t& value = x[n % ahead][k][i];
          value = 0;
          if (is_word)
            value = transposing::load<reading>(reinterpret_cast<const uint32_t*>(words) + 32 * k, policy);
        }
      }
    };
    const auto put = [&](int n) {
      auto& y = x[n % ahead];
      if constexpr (bytes < 4) {
        const auto moved = static_cast<unsigned>(wrapped(n)) * 8;
#pragma unroll
        for (int i = 0; i < side; ++i) {
          uint32_t next[sets];
#pragma unroll
          for (int k = 0; k < sets; ++k) next[k] = __shfl_sync(~0U, y[k][i], (lane + 1) % 32);
            // The last lane's next word is the first one of the next set.
#pragma unroll
          for (int k = 0; k + 1 < sets; ++k) next[k] = lane == 31 ? next[k + 1] : next[k];
#pragma unroll
          for (int k = 0; k < sets; ++k) y[k][i] = __funnelshift_r(y[k][i], next[k], shift[i] + moved);
        }
      }
#pragma unroll
      for (int k = 0; k < sets; ++k) {
        transpose_block<bytes>(y[k]);
#pragma unroll
        for (int j = 0; j < side; ++j)
          if (groups == 1 || (first_block + n * apart) * side < seen)
            to[(j * Tiles::words + 32 * k) * Tile::pitch + n * apart] = y[k][j];
      }
    };
    // A warp's blocks that nobody looks at are left out.
    const auto behind = [&](int n) { return !all && (warp_block + n * apart) * side >= seen; };
#pragma unroll
    for (int n = 0; n < ahead; ++n) {
      if (behind(n)) break;
      fetch(n);
    }
#pragma unroll
    for (int n = 0; n < rounds; ++n) {
      if (behind(n)) break;
      put(n);
      if (n + ahead < rounds && !behind(n + ahead)) fetch(n + ahead);
    }
  }

  /// Likewise, of a tile that lies inside of the matrix with all that it loads.
  __device__ __forceinline__ void load_inside() {
    wrap = 0;
    load<true, Tiles::sets, 32, true>();
  }

  /// Likewise, by as many sets and lanes as the columns need.
  template <int sets = Tiles::sets>
  __device__ __forceinline__ void load_columns() const {
    if constexpr (sets > 1) {
      constexpr int half = Tiles::columns_of(16 * sets);
      if (columns <= half) return load_columns<sets / 2>();
    } else {
      constexpr int eight = Tiles::columns_of(8), sixteen = Tiles::columns_of(16);
      if (columns <= eight) return load<true, 1, 8, false>();
      if (columns <= sixteen) return load<true, 1, 16, false>();
    }
    if (columns == Tiles::columns && low == 0 && high == Tiles::loaded)
      load<true, sets, 32, sets == Tiles::sets>();
    else
      load<true, sets, 32, false>();
  }

  /// Elements of words that lie in a row in part: up to side - 1 where it begins, and where it ends. Lanes of
  /// a warp have one of these of neighbouring rows, which lie behind each other in the tile.
  __device__ __forceinline__ void load_ends() const {
    constexpr int ends = 2 * (side - 1);
    constexpr int steps = (Tiles::loaded * ends + Tiles::threads - 1) / Tiles::threads;
    T value[steps];
    int to[steps];  // byte of the tile; negative: nothing
#pragma unroll
    for (int n = 0; n < steps; ++n) {
      const int e = n * Tiles::threads + static_cast<int>(threadIdx.x);
      const int row = e % Tiles::loaded, end = e / Tiles::loaded;
      const auto begin = reinterpret_cast<uintptr_t>(in) + row * in_pitch;
      int64_t column = end;
      bool is_end;
      if (end < side - 1) {
        is_end = first && end * bytes < static_cast<int>(-begin & 3);
      } else {
        const int behind = end - (side - 1);
        column = columns_left - 1 - behind;
        is_end = behind * bytes < static_cast<int>((begin + columns_left * bytes) & 3);
      }
      to[n] = -1;
      if (end >= ends || !is_end || column < 0 || column >= columns || row < low || row >= high) continue;
      const int c = static_cast<int>(column), word = c / side;
      value[n] = __ldg(reinterpret_cast<const T*>(begin) + c);
      to[n] =
          Tile::byte_offset(c % side * Tiles::words + word / 32 * 32 + line_of(word % 32), 0) + row * bytes;
    }
    __syncthreads();  // the words are in the tile
#pragma unroll
    for (int n = 0; n < steps; ++n)
      if (to[n] >= 0) *reinterpret_cast<T*>(reinterpret_cast<unsigned char*>(tile) + to[n]) = value[n];
  }

  /// Where a thread finds the first of its vectors in the tile, and where it goes.
  struct Vectors {
    int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    int set = warp / 8, word = warp % 8 + lane / 8 * 8, begin = lane % 8 * 16;
    int column = (32 * set + word) * side;
    /// Of round n: the first set, and which column of a word.
    LANESCOPE_HD static constexpr int set_of(int n) {
      return n % (Tiles::sets / Tiles::together) * Tiles::together;
    }
    LANESCOPE_HD static constexpr int column_of(int n) { return n / (Tiles::sets / Tiles::together); }
  };

  /// All windows of a tile whose rows all lie in the matrix, with those that windows may begin early. `out`:
  /// of its first column.
  __device__ __forceinline__ void store_inside(T* out, int64_t out_pitch) const {
    const Vectors of;
    auto to = reinterpret_cast<uintptr_t>(out) + of.column * out_pitch;
    const uint32_t* const from = tile + (32 * of.set + line_of(of.word)) * Tile::pitch + Tiles::slack / side;
#pragma unroll
    for (int n = 0; n < Tiles::rounds; ++n) {
      const int k = of.set_of(n), j = of.column_of(n);
      if (k == 0 && j > 0) to = next_line(to, out_pitch);
      if (32 * k * side + j >= columns - of.column) continue;
      const uintptr_t line = to + 32 * k * side * out_pitch;
      const int at = of.begin - static_cast<int>(line % Tiles::align);
      auto* const window = reinterpret_cast<uint4*>((line & ~uintptr_t{Tiles::align - 1}) + of.begin);
      const uint32_t* const words = from + (j * Tiles::words + 32 * k) * Tile::pitch + (at >> 2);
#pragma unroll
      for (int part = 0; part < Tiles::parts; ++part)
        if (128 * part + of.begin < Tiles::stored)
          store_vector(window + 8 * part, vector_from(words + 32 * part, at));
    }
  }
  /// By one addition: the compiler would multiply again for each line.
  __device__ __forceinline__ static uintptr_t next_line(uintptr_t line, int64_t pitch) {
    line += pitch;
    asm("" : "+l"(line));
    return line;
  }

  /// Four words of a line that begin at byte `at`, of which `words` is the word.
  __device__ __forceinline__ static uint4 vector_from(const uint32_t* words, int at) {
    uint32_t v[5];
#pragma unroll
    for (int i = 0; i < 4; ++i) v[i] = words[i];
    if constexpr (bytes < 4) {
      v[4] = (at & 3) != 0 ? words[4] : 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) v[i] = __funnelshift_r(v[i], v[i + 1], (at & 3) * 8);
    }
    return make_uint4(v[0], v[1], v[2], v[3]);
  }
  __device__ __forceinline__ static void store_vector(uint4* to, const uint4& v) {
    __builtin_assume(__isGlobal(to));
    *to = v;
  }

  /// Lines of the tile go to the rows of `out`; `row` and `rows`: of the matrix. `joined`: what is before the
  /// first row of the matrix in memory is the end of the line before, and is written, too; `next_joined`: the
  /// same for the column behind the tile. A line before one that is joined ends where whole windows do.
  template <bool any_joined>
  __device__ __forceinline__ void store(T* out, int64_t out_pitch, int64_t row, int64_t rows, bool joined,
                                        bool next_joined) const {
    const Vectors of;
    const auto to = reinterpret_cast<uintptr_t>(out) + of.column * out_pitch;
    const uint32_t* const from = tile + (32 * of.set + line_of(of.word)) * Tile::pitch + Tiles::slack / side;
    constexpr int64_t far = 1 << 20;
    const int before = joined ? -static_cast<int>(far) : -static_cast<int>(min(row * bytes, far));
    const int end = static_cast<int>(min((rows - row) * bytes, far));
#pragma unroll
    for (int n = 0; n < Tiles::rounds; ++n) {
      const int k = of.set_of(n), j = of.column_of(n);
      const uintptr_t line = to + (32 * k * side + j) * out_pitch;
      const int shift = static_cast<int>(line % Tiles::align);
      const int line_column = of.column + 32 * k * side + j;
      if (line_column >= columns) continue;
      int behind = end;
      if (any_joined && (line_column + 1 < columns ? joined : next_joined))
        behind -= (shift + end) % Tiles::align;
#pragma unroll
      for (int part = 0; part < Tiles::parts; ++part) {
        if (128 * part - (Tiles::align - 1) >= end) break;
        if (128 * part + of.begin >= Tiles::stored) continue;
        const int at = 128 * part + of.begin - shift;  // may be negative: shifted arithmetically
        if (at >= behind) continue;
        const uint4 vector = vector_from(from + (j * Tiles::words + 32 * k) * Tile::pitch + (at >> 2), at);
        const uint32_t v[] = {vector.x, vector.y, vector.z, vector.w};
        if (at >= before && at + 16 <= behind) {
          store_vector(reinterpret_cast<uint4*>(line + at), vector);
        } else if (at + 16 > before) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int word = at + 4 * i;
            if (word >= before && word + 4 <= behind) {
              *reinterpret_cast<uint32_t*>(line + word) = v[i];
            } else if (bytes < 4 && word + 4 > before && word < behind) {
#pragma unroll
              for (int b = 0; b < 4; b += bytes)
                if (word + b >= before && word + b < behind)
                  *reinterpret_cast<T*>(line + word + b) = static_cast<T>(v[i] >> (8 * b));
            }
          }
        }
      }
    }
  }
};

/// Elements of 1 and 2 bytes take so many instructions that tiles inside of the matrix have a path of their
/// own, with a third less. Those of 4 bytes are 0.3% faster without one (docs/performance.md).
template <class Tiles>
inline constexpr bool few_instructions = Tiles::bytes <= 2;

/// Rows begin anywhere. One block a tile, and one more at the end of each column of tiles, for what was
/// shifted out.
template <class Tiles, Reading reading, int64_t cached = cached_bytes>
__global__ void __launch_bounds__(Tiles::threads, Tiles::blocks)
    transpose_realigning(Job<Tiles::bytes> job, Order order, Gaps gaps, TilesInside all_inside) {
  using T = Word<Tiles::bytes>;
  using Tile = RealigningTile<Tiles>;
  static_assert(conflict_free<"sm_90", Tile>(WordStores<Tiles>{}, model::Op::store));
  static_assert(conflict_free<"sm_90", Tile>(VectorWords<Tiles>{}, model::Op::load));
  extern __shared__ uint4 raw[];  // Tiles::shared bytes

  TileOf tile = tile_of(order);
  // The tiles at the ends of the rows come first, because they take longer: nobody waits for them in the end.
  tile.column = tile.column == 0 ? order.across - 1 : tile.column - 1;
  const Place at = tile.place(Tiles::rows, Tiles::columns);
  const int64_t row = at.row - Tiles::slack;
  const T* const in = job.in + at.matrix * job.in_stride + row * job.in_leading + at.column;
  T* const out = job.out + at.matrix * job.out_stride + at.column * job.out_leading + at.row;
  const int64_t in_pitch = job.in_leading * Tiles::bytes, out_pitch = job.out_leading * Tiles::bytes;
  // Gives lines of the input that were loaded their normal priority again.
  const auto release = [&](int low, int high, int columns) {
    if constexpr (reading == Reading::keeping)
      release_lines<cached>({reinterpret_cast<uintptr_t>(in), in_pitch, low, high, at.column * Tiles::bytes,
                             columns * Tiles::bytes},
                            Tiles::columns * Tiles::rows * Tiles::bytes);
  };
  RealigningBlock<Tiles, reading> block;
  block.in = in;
  block.in_pitch = in_pitch;
  block.tile = reinterpret_cast<uint32_t*>(raw);
  block.policy = policy_of<reading>();
  // Nearly all tiles of large matrices.
  const bool rows_inside = few_instructions<Tiles> && tile.row - 1 < all_inside.down;
  if (rows_inside && tile.column - all_inside.first < all_inside.across) {
    block.columns = Tiles::columns;
    block.load_inside();
    __syncthreads();
    release(0, Tiles::loaded, Tiles::columns);
    block.store_inside(out, out_pitch);
    return;
  }

  // Not at the ends of the input's rows.
  const auto inside = [&](int64_t column) {
    return column > 0 && Tiles::words * Tiles::side <= job.columns - column;
  };
  // Without gaps the first rows of the output's lines follow the last ones of the lines before: where they
  // begin inside of vectors, who writes the first ones writes all of the sector.
  const bool joined = gaps.joined && inside(at.column), wraps = joined && at.row == 0;
  const bool next_joined = gaps.joined && inside(at.column + Tiles::columns);
  block.wrap = wraps ? job.rows * in_pitch - Tiles::bytes : 0;
  const int low = at.row == 0 ? Tiles::slack : 0;  // in the matrix
  block.low = wraps ? 0 : low;
  block.high = static_cast<int>(min(job.rows - row, int64_t{Tiles::loaded}));
  // Five words for a vector with the last row.
  block.seen = block.high;
  if (!(joined && next_joined) && !gaps.vectors)
    block.seen = min(block.high + 5 * Tiles::side, Tiles::loaded);
  block.columns_left = job.columns - at.column;
  block.columns = static_cast<int>(min(block.columns_left, int64_t{Tiles::columns}));
  block.first = at.column == 0;
  // Words that rows have a part of: inside of rows, or between rows without gaps.
  const bool between = gaps.none_in && at.row > 0 && job.rows - row > Tiles::loaded;
  if (Tiles::bytes == 4 || inside(at.column) || between) {
    block.load_columns();
  } else if constexpr (Tiles::bytes < 4) {
    block.template load<false, Tiles::sets, 32, false>();
    block.load_ends();
  }
  __syncthreads();
  release(low, block.high, block.columns);
  if (rows_inside)
    block.store_inside(out, out_pitch);
  else if (joined || next_joined)
    block.template store<true>(out, out_pitch, at.row, job.rows, joined, next_joined);
  else
    block.template store<false>(out, out_pitch, at.row, job.rows, false, false);
}

}  // namespace lanescope::kernels::transposing
