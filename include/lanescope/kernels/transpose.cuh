// Transpose of matrices in device memory: any sizes, leading dimensions and batches, elements of 1, 2, 4, 8
// and 16 bytes, in place where the matrix is square.
//
//   #include <lanescope/kernels/transpose.cuh>
//
//   // out has 7 rows of 5 elements, in has 5 rows of 7
//   const auto status = lanescope::kernels::transpose(out, in, {.rows = 5, .columns = 7}, stream);
//   if (!status) std::fprintf(stderr, "%s\n", status.message);
//
// The work is put into the stream and nothing else is done: no allocation, no synchronisation, no copy to the
// host. Only elements of the matrices are read and written, never a padding or what lies around them.
//
// There are four kernels. Each moves tiles through shared memory, whose layout the model (lanescope/model)
// has chosen while the kernel was compiled and proves to be without bank conflicts:
//   aligned    16 bytes a lane on both sides; blocks of 16 x 16 bytes are transposed in registers
//   realigning rows that begin anywhere: vectors are put together of aligned halves, and each output row has
//   tiles of
//              its own that begin at a multiple of 16 or 32 bytes
//   small      batches of small matrices without gaps: a block takes many of them as one piece of memory
//   in place   two tiles that lie opposite each other change places
// docs/performance.md has their times, and what was tried besides. C++20, CUDA 12 or newer.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lanescope/kernels/status.cuh"
#include "lanescope/tile.cuh"

namespace lanescope::kernels {

/// Which matrices to transpose. All in elements.
struct TransposeShape {
  int64_t rows = 0;     ///< of each input matrix; the output has as many columns
  int64_t columns = 0;  ///< of each input matrix; the output has as many rows
  int64_t batch = 1;    ///< matrices
  /// From one row to the next; 0: rows without gaps (`columns` in the input, `rows` in the output).
  int64_t in_leading = 0, out_leading = 0;
  /// From one matrix to the next; 0: matrices without gaps.
  int64_t in_stride = 0, out_stride = 0;
};

namespace transposing {

/// What the kernels move in place of an element of so many bytes.
template <int bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using Type = uint8_t;
};
template <>
struct WordOf<2> {
  using Type = uint16_t;
};
template <>
struct WordOf<4> {
  using Type = uint32_t;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<16> {
  using Type = uint4;
};
template <int bytes>
using Word = typename WordOf<bytes>::Type;

/// A shape without defaults, and where the matrices lie.
template <int bytes>
struct Job {
  Word<bytes>* out;
  const Word<bytes>* in;
  int64_t rows, columns, in_leading, out_leading, in_stride, out_stride;
};

/// Blocks go down the rows of the input first: neighbours in time write neighbouring pieces of the output's
/// rows.
struct Place {
  int64_t row, column, matrix;
};
template <int tile_rows, int tile_columns>
__device__ __forceinline__ Place place_of(unsigned block, unsigned down, unsigned across) {
  const unsigned strip = block / down;
  return {int64_t{block % down} * tile_rows, int64_t{strip % across} * tile_columns, strip / across};
}

// ---- tiles

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

/// Tiles of `loaded` rows and `columns` columns of the input, moved by `threads` threads.
///
/// With `align` 0, rows of input and output begin at multiples of 16 bytes. Otherwise they begin anywhere: a
/// vector of the input is put together of two aligned ones, and so is one of the output; and the tiles of
/// each output row are shifted up by as many rows as make them begin at a multiple of `align` bytes, so that
/// no sector of memory is written by two blocks. A tile then stores `slack` rows fewer than it loads.
template <int bytes_, int loaded_, int columns_, int threads_, int align_ = 0>
struct TilesOf {
  static constexpr int bytes = bytes_, loaded = loaded_, columns = columns_, threads = threads_,
                       align = align_;
  static constexpr int vector = 16 / bytes;                 ///< elements
  static constexpr int slack = align / bytes;               ///< rows
  static constexpr int rows = loaded - slack;               ///< that are stored
  static constexpr int across = columns / vector;           ///< vectors in a row of the input's tile
  static constexpr int units = across * (loaded / vector);  ///< blocks of vector x vector elements
  static constexpr int loads = units / threads;             ///< blocks of a thread
  static constexpr int chunks = rows / vector;              ///< vectors stored of a row of the output's tile
  static constexpr int slots = (chunks + 7) / 8 * 8;        ///< lanes for them: whole phases
  static constexpr int stores = (columns * slots + threads - 1) / threads;
  static_assert(loads * threads == units && across % 8 == 0);
  static_assert(loaded % vector == 0 && slack % vector == 0 && rows > 0);
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
/// What a warp loads: vectors along the output's rows, from any of them on.
template <class Tiles>
struct ChunkLoads {
  static constexpr int elements = Tiles::vector;
  static constexpr int begins = Tiles::slack / Tiles::vector + 1;
  int count = begins * (Tiles::stores < 8 ? Tiles::stores : 8);
  static constexpr Position where(int lane, int instance) {
    const int slot = instance / begins * 32 + lane, chunk = slot % Tiles::slots;
    return chunk < Tiles::chunks && slot < Tiles::columns * Tiles::slots
               ? Position{slot / Tiles::slots, (instance % begins + chunk) * Tiles::vector}
               : inactive;
  }
};

template <class Tiles, int shift>
using TileOf = SwizzledChunks<Tiles::bytes, Tiles::columns, Tiles::loaded, shift>;

/// Whether a swizzle leaves no conflicts.
template <class Tiles, int shift>
inline constexpr bool swizzles = conflict_free<"sm_90", TileOf<Tiles, shift>>(UnitStores<Tiles>{},
                                                                              model::Op::store) &&
                                 conflict_free<"sm_90", TileOf<Tiles, shift>>(ChunkLoads<Tiles>{},
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
  uint32_t in[vector][4], out[vector][4];
#pragma unroll
  for (int i = 0; i < vector; ++i) in[i][0] = x[i].x, in[i][1] = x[i].y, in[i][2] = x[i].z, in[i][3] = x[i].w;
  if constexpr (bytes >= 4) {
    constexpr int words = bytes / 4;
#pragma unroll
    for (int i = 0; i < vector; ++i)
#pragma unroll
      for (int j = 0; j < vector; ++j)
#pragma unroll
        for (int w = 0; w < words; ++w) out[j][i * words + w] = in[i][j * words + w];
  } else if constexpr (bytes == 2) {
#pragma unroll
    for (int w = 0; w < 4; ++w)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        out[2 * w][i] = __byte_perm(in[2 * i][w], in[2 * i + 1][w], 0x5410);
        out[2 * w + 1][i] = __byte_perm(in[2 * i][w], in[2 * i + 1][w], 0x7632);
      }
  } else {
#pragma unroll
    for (int w = 0; w < 4; ++w)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint32_t a = in[4 * i][w], b = in[4 * i + 1][w], c = in[4 * i + 2][w], d = in[4 * i + 3][w];
        const uint32_t ab = __byte_perm(a, b, 0x5140), ab_high = __byte_perm(a, b, 0x7362);
        const uint32_t cd = __byte_perm(c, d, 0x5140), cd_high = __byte_perm(c, d, 0x7362);
        out[4 * w][i] = __byte_perm(ab, cd, 0x5410);
        out[4 * w + 1][i] = __byte_perm(ab, cd, 0x7632);
        out[4 * w + 2][i] = __byte_perm(ab_high, cd_high, 0x5410);
        out[4 * w + 3][i] = __byte_perm(ab_high, cd_high, 0x7632);
      }
  }
#pragma unroll
  for (int i = 0; i < vector; ++i) x[i] = make_uint4(out[i][0], out[i][1], out[i][2], out[i][3]);
}

/// The 16 bytes that begin `begin` bytes (0 … 15, a multiple of `bytes`) behind the first of `low`, `high`.
template <int bytes>
__device__ __forceinline__ uint4 realigned(uint4 low, uint4 high, unsigned begin) {
  uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  if constexpr (bytes <= 8) {
    const bool two = (begin & 8) != 0;
#pragma unroll
    for (int i = 0; i < 6; ++i) words[i] = two ? words[i + 2] : words[i];
  }
  if constexpr (bytes <= 4) {
    const bool one = (begin & 4) != 0;
#pragma unroll
    for (int i = 0; i < 5; ++i) words[i] = one ? words[i + 1] : words[i];
  }
  if constexpr (bytes <= 2) {
    const unsigned bits = (begin & 3) * 8;
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], bits);
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

/// Element `i` of a vector.
template <int bytes>
__device__ __forceinline__ Word<bytes> element_of(const uint4& vector, int i) {
  const uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
  if constexpr (bytes == 16)
    return vector;
  else if constexpr (bytes == 8)
    return make_uint2(words[2 * i], words[2 * i + 1]);
  else if constexpr (bytes == 4)
    return words[i];
  else
    return static_cast<Word<bytes>>(words[i * bytes / 4] >> (i * bytes % 4 * 8));
}

/// Loads a vector; what is `reused` by other lanes stays in the first cache level.
template <bool reused>
__device__ __forceinline__ uint4 load_once(const uint4* from) {
  if constexpr (reused) {
    return __ldg(from);
  } else {
    uint4 value;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
        : "l"(from));
    return value;
  }
}

/// One block a tile; where tiles are shifted, one more at the end of each column of them may be needed, for
/// what was shifted out.
template <class Tiles>
__global__ void __launch_bounds__(Tiles::threads)
    transpose_tiles(Job<Tiles::bytes> job, unsigned down, unsigned across) {
  constexpr int bytes = Tiles::bytes, vector = Tiles::vector, slack = Tiles::slack;
  constexpr bool anywhere = Tiles::align != 0;
  using T = Word<bytes>;
  constexpr int swizzle = swizzle_of<Tiles>();
  static_assert(swizzles<Tiles, swizzle>);
  using Tile = TileOf<Tiles, swizzle>;
  __shared__ Tile tile;

  const Place at = place_of<Tiles::rows, Tiles::columns>(blockIdx.x, down, across);
  // The tile's first row is `slack` rows above its place; rows first_row … rows - 1 of it lie in the matrix.
  const T* const in = job.in + at.matrix * job.in_stride + (at.row - slack) * job.in_leading + at.column;
  T* const out = job.out + at.matrix * job.out_stride + at.column * job.out_leading + (at.row - slack);
  const int first_row = slack != 0 && at.row < slack ? static_cast<int>(slack - at.row) : 0;
  const int rows = static_cast<int>(min(job.rows - (at.row - slack), int64_t{Tiles::loaded}));
  const int columns = static_cast<int>(min(job.columns - at.column, int64_t{Tiles::columns}));
  const int thread = static_cast<int>(threadIdx.x);

  // Bytes from an aligned vector to an element; and whether the vector that begins there can be read: it must
  // lie in the matrix' row with what is read besides.
  const int left = static_cast<int>(min(at.column, int64_t{vector}));
  const int right = static_cast<int>(min(job.columns - at.column, int64_t{Tiles::columns + vector}));
  const auto begin_of = [&](const T* from) {
    return anywhere ? static_cast<unsigned>(reinterpret_cast<uintptr_t>(from)) % 16 : 0U;
  };
  const auto readable = [&](int row, int column, unsigned begin) {
    const int before = static_cast<int>(begin) / bytes, behind = begin == 0 ? 0 : vector - before;
    return row >= first_row && row < rows && column - before >= -left && column + vector + behind <= right;
  };

  // So many rows are loaded before the first of them is used.
  constexpr int ahead = anywhere && vector > 4 ? 4 : vector;
  uint4 x[Tiles::loads][vector];
#pragma unroll
  for (int n = 0; n < Tiles::loads; ++n) {
    const int unit = n * Tiles::threads + thread;
    const int column = unit % Tiles::across * vector, row = unit / Tiles::across * vector;
#pragma unroll
    for (int first = 0; first < vector; first += ahead) {
      uint4 low[ahead], high[ahead];
      unsigned begin[ahead];
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
        const T* const from = in + (row + first + i) * job.in_leading + column;
        begin[i] = begin_of(from);
        const auto* const vectors = reinterpret_cast<const uint4*>(from - begin[i] / bytes);
        const bool reads = readable(row + first + i, column, begin[i]);
        low[i] = high[i] = {};
        if (reads) low[i] = load_once<anywhere>(vectors);
        if (anywhere && reads && begin[i] != 0) high[i] = load_once<anywhere>(vectors + 1);
      }
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        x[n][first + i] = anywhere ? realigned<bytes>(low[i], high[i], begin[i]) : low[i];
    }
  }
#pragma unroll
  for (int n = 0; n < Tiles::loads; ++n) {
    const int unit = n * Tiles::threads + thread;
    const int column = unit % Tiles::across * vector, row = unit / Tiles::across * vector;
    transpose_unit<bytes>(x[n]);
#pragma unroll
    for (int i = 0; i < vector; ++i)
      *reinterpret_cast<uint4*>(tile.storage + Tile::chunk_offset(column + i, row / vector)) = x[n][i];
    // What could not be read as a vector, at the ends of the matrix' rows.
    if (column - (anywhere ? vector : 0) >= -left && column + vector + (anywhere ? vector : 0) <= right)
      continue;
    for (int i = row; i < row + vector; ++i) {
      const T* const from = in + i * job.in_leading;
      if (i < first_row || i >= rows || readable(i, column, begin_of(from + column))) continue;
      for (int j = column; j < column + vector && j < columns; ++j)
        *reinterpret_cast<T*>(tile.storage + Tile::byte_offset(j, i)) = from[j];
    }
  }
  __syncthreads();

#pragma unroll
  for (int n = 0; n < Tiles::stores; ++n) {
    const int slot = n * Tiles::threads + thread;
    const int column = slot / Tiles::slots, chunk = slot % Tiles::slots;
    if (chunk >= Tiles::chunks || slot >= Tiles::columns * Tiles::slots) continue;
    T* const to = out + column * job.out_leading;
    // The row of the tile where that of this output row begins: `slack` less what makes it aligned.
    int row = chunk * vector;
    if constexpr (anywhere)
      row += slack - static_cast<int>(reinterpret_cast<uintptr_t>(to + slack) / bytes % slack);
    // Lanes whose rows are not in the matrix load as well: a warp with few lanes is served differently.
    const auto load = [&](int index) {
      return *reinterpret_cast<const uint4*>(tile.storage + Tile::chunk_offset(column, index));
    };
    uint4 vectors;
    if constexpr (anywhere && bytes == 8) {
      // Of the lanes of a phase, every second eight load their second element first.
      const auto element = [&](int index) {
        return *reinterpret_cast<const uint2*>(tile.storage + Tile::byte_offset(column, index));
      };
      const int turn = thread / 8 % 2;
      const uint2 one = element(row + turn), other = element(row + 1 - turn);
      vectors =
          turn == 0 ? make_uint4(one.x, one.y, other.x, other.y) : make_uint4(other.x, other.y, one.x, one.y);
    } else {
      vectors = load(row / vector);
      if constexpr (anywhere) {
        const unsigned begin = static_cast<unsigned>(row) % vector * bytes;
        vectors = realigned<bytes>(vectors, load(row / vector + (begin == 0 ? 0 : 1)), begin);
      }
    }
    if (column >= columns) continue;
    if (row >= first_row && row + vector <= rows) {
      __stcs(reinterpret_cast<uint4*>(to + row), vectors);
    } else if (row < rows) {
#pragma unroll
      for (int i = 0; i < vector; ++i)
        if (row + i >= first_row && row + i < rows) to[row + i] = element_of<bytes>(vectors, i);
    }
  }
}

// ---- small

/// Division of numbers below 2^16 by one of them.
struct Divisor {
  unsigned value = 1, factor = 0;
  Divisor() = default;
  explicit constexpr Divisor(unsigned d) : value(d), factor(d == 1 ? 0 : 0xffffffffU / d + 1) {}
  [[nodiscard]] LANESCOPE_HD constexpr unsigned quotient(unsigned n) const {
    return value == 1 ? n : static_cast<unsigned>((uint64_t{n} * factor) >> 32);
  }
};

/// Where the elements of small matrices lie in shared memory: in their order, with `padding` elements left
/// free after each `every`.
struct Spread {
  unsigned every = 1, padding = 0;
  [[nodiscard]] LANESCOPE_HD constexpr unsigned place(unsigned e, const Divisor& by_every) const {
    return padding == 0 ? e : e + by_every.quotient(e) * padding;
  }
};

/// How to spread rows of `columns` elements so that neither rows nor columns conflict: odd rows need nothing,
/// even ones an element more; powers of two are padded where a phase ends, so that rows stay whole.
constexpr Spread spread_of(int bytes, unsigned columns) {
  const unsigned phase = 128 / static_cast<unsigned>(bytes);  // elements that are served together
  if (columns % 2 == 1) return {columns, 0};
  if (bytes >= 4 && columns < phase && (columns & (columns - 1)) == 0) return {phase, phase / columns};
  return {columns, 1};
}

/// Blocks of so many threads, and what they take together at most.
inline constexpr int small_threads = 256;
inline constexpr unsigned small_bytes = 16384;

/// Matrices without gaps, one behind the other: `matrices` of them to a block. `pack` elements are read and
/// written together, which must keep them aligned; their rows are padded as they are, spread.every ==
/// columns.
template <int bytes, int pack>
__global__ void __launch_bounds__(small_threads)
    transpose_small(Job<bytes> job, int64_t batch, unsigned matrices, Spread spread, Divisor by_rows,
                    Divisor by_columns, Divisor by_every) {
  using T = Word<bytes>;
  using Pack = Word<bytes * pack>;
  extern __shared__ uint4 raw[];
  T* const tile = reinterpret_cast<T*>(raw);
  const unsigned rows = by_rows.value, columns = by_columns.value, size = rows * columns;
  const int64_t first = int64_t{blockIdx.x} * matrices;
  const unsigned count = static_cast<unsigned>(min(batch - first, int64_t{matrices})) * size,
                 packs = count / pack;
  const T* const in = job.in + first * size;
  T* const out = job.out + first * size;

  constexpr unsigned ahead = 8;  // loads of a thread in flight
  for (unsigned begin = threadIdx.x; begin < packs; begin += ahead * small_threads) {
    Pack x[ahead];
#pragma unroll
    for (unsigned n = 0; n < ahead; ++n)
      if (begin + n * small_threads < packs)
        x[n] = __ldcs(reinterpret_cast<const Pack*>(in) + begin + n * small_threads);
#pragma unroll
    for (unsigned n = 0; n < ahead; ++n) {
      if (begin + n * small_threads >= packs) continue;
      const unsigned e = (begin + n * small_threads) * pack;
      if constexpr (pack == 1) {
        tile[spread.place(e, by_every)] = x[n];
      } else {
        unsigned gap = by_every.quotient(e), rest = e - gap * spread.every;
#pragma unroll
        for (unsigned k = 0; k < pack; ++k) {
          tile[e + k + gap * spread.padding] = static_cast<T>(x[n] >> (k * bytes * 8));
          if (++rest == spread.every) rest = 0, ++gap;
        }
      }
    }
  }
  for (unsigned e = packs * pack + threadIdx.x; e < count; e += small_threads)
    tile[spread.place(e, by_every)] = in[e];
  __syncthreads();

  // Element e of the output: which one of the input, in shared memory.
  const auto source = [&](unsigned e) {
    const unsigned column = by_rows.quotient(e),
                   row = e - column * rows;  // `column` counts on over the matrices
    const unsigned matrix = by_columns.quotient(column);
    return spread.place(matrix * size + row * columns + (column - matrix * columns), by_every);
  };
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < packs; i += small_threads) {
    if constexpr (pack == 1) {
      __stcs(out + i, tile[source(i)]);
    } else {
      unsigned column = by_rows.quotient(i * pack), row = i * pack - column * rows;
      const unsigned matrix = by_columns.quotient(column), pitch = columns + spread.padding;
      unsigned at = (matrix * rows + row) * pitch + (column - matrix * columns);
      column -= matrix * columns;
      Pack packed = 0;
#pragma unroll
      for (unsigned k = 0; k < pack; ++k) {
        packed = static_cast<Pack>(packed | static_cast<Pack>(Pack{tile[at]} << (k * bytes * 8)));
        at += pitch;
        if (++row == rows) {
          row = 0;
          at -= rows * pitch - 1;
          if (++column == columns) column = 0, at += rows * pitch - columns;
        }
      }
      __stcs(reinterpret_cast<Pack*>(out) + i, packed);
    }
  }
  for (unsigned e = packs * pack + threadIdx.x; e < count; e += small_threads) out[e] = tile[source(e)];
}

// ---- in place

inline constexpr int square = 32, square_rows = 8;  // tile, and rows of the thread block

/// A square matrix whose upper tiles change places with the lower ones; one block a pair.
template <int bytes>
__global__ void __launch_bounds__(square* square_rows) transpose_in_place(Job<bytes> job, unsigned tiles) {
  using T = Word<bytes>;
  using Tile = PaddedTile<T, square, square, lanescope::detail::larger(1, 4 / bytes)>;
  static_assert(conflict_free<"sm_90", Tile>(access::row) && conflict_free<"sm_90", Tile>(access::column));
  __shared__ Tile upper, lower;

  // Pair k is the tile in row i and column j <= i, k = i (i + 1) / 2 + j.
  const unsigned pairs = tiles * (tiles + 1) / 2, matrix = blockIdx.x / pairs, k = blockIdx.x % pairs;
  unsigned i = static_cast<unsigned>((sqrt(8.0 * k + 1.0) - 1.0) / 2.0);
  while (i * (i + 1) / 2 > k) --i;
  while ((i + 1) * (i + 2) / 2 <= k) ++i;
  const unsigned j = k - i * (i + 1) / 2;
  T* const base = job.out + matrix * job.out_stride;
  const int64_t row = int64_t{i} * square, column = int64_t{j} * square;
  const int x = static_cast<int>(threadIdx.x) % square, y = static_cast<int>(threadIdx.x) / square;

#pragma unroll
  for (int n = 0; n < square; n += square_rows) {
    if (row + y + n < job.rows && column + x < job.rows)
      lower[y + n][x] = base[(row + y + n) * job.out_leading + column + x];
    if (i != j && column + y + n < job.rows && row + x < job.rows)
      upper[y + n][x] = base[(column + y + n) * job.out_leading + row + x];
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < square; n += square_rows) {
    if (column + y + n < job.rows && row + x < job.rows)
      base[(column + y + n) * job.out_leading + row + x] = lower[x][y + n];
    if (i != j && row + y + n < job.rows && column + x < job.rows)
      base[(row + y + n) * job.out_leading + column + x] = upper[x][y + n];
  }
}

// ---- Which kernel

/// The tiles of each element size, from the measurements in docs/performance.md.
template <int bytes>
struct Tiles;
template <>
struct Tiles<1> {
  using Aligned = TilesOf<1, 128, 256, 128>;
  using Anywhere = TilesOf<1, 256, 128, 128, 64>;
};
template <>
struct Tiles<2> {
  using Aligned = TilesOf<2, 128, 128, 256>;
  using Anywhere = TilesOf<2, 128, 128, 256, 64>;
};
template <>
struct Tiles<4> {
  using Aligned = TilesOf<4, 128, 64, 256>;
  using Anywhere = TilesOf<4, 128, 64, 256, 64>;
};
template <>
struct Tiles<8> {
  using Aligned = TilesOf<8, 32, 64, 256>;
  using Anywhere = TilesOf<8, 64, 64, 256, 64>;
};
template <>
struct Tiles<16> {
  using Aligned = TilesOf<16, 16, 32, 256>;
  using Anywhere = TilesOf<16, 32, 32, 256, 64>;
};

inline int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }

/// Blocks for `batch` matrices of `tiles` (below 2^31) tiles each, in as many launches as the grid needs:
/// `launch(first, blocks)`.
template <class Launch>
Status launch_all(int64_t tiles, int64_t batch, Launch launch) {
  constexpr int64_t most = 0x7fffffff;
  const int64_t at_once = most / tiles;
  for (int64_t first = 0; first < batch; first += at_once) {
    launch(first, static_cast<unsigned>(tiles * (batch - first < at_once ? batch - first : at_once)));
    if (const Status status = detail::launched(); !status) return status;
  }
  return {};
}

template <int bytes>
Job<bytes> from_matrix(Job<bytes> job, int64_t first) {
  job.in += first * job.in_stride;
  job.out += first * job.out_stride;
  return job;
}

template <class Tiles>
Status launch_tiles(const Job<Tiles::bytes>& job, int64_t batch, cudaStream_t stream) {
  // Tiles begin up to slack - 1 rows early.
  const int64_t down = round_up(job.rows + (Tiles::slack == 0 ? 0 : Tiles::slack - 1), Tiles::rows);
  const int64_t across = round_up(job.columns, Tiles::columns);
  if (down > 0x7fffffff / across)
    return detail::invalid("rows or columns is too large: more than 2^31 tiles");
  return launch_all(down * across, batch, [&](int64_t first, unsigned blocks) {
    transpose_tiles<Tiles><<<blocks, Tiles::threads, 0, stream>>>(
        from_matrix(job, first), static_cast<unsigned>(down), static_cast<unsigned>(across));
  });
}

template <int bytes, int pack>
Status launch_packs(const Job<bytes>& job, int64_t batch, unsigned matrices, cudaStream_t stream) {
  const auto rows = static_cast<unsigned>(job.rows), columns = static_cast<unsigned>(job.columns);
  const Spread spread = spread_of(bytes, columns);
  const unsigned elements = matrices * rows * columns;
  const unsigned shared =
      (elements + elements / spread.every * spread.padding) * static_cast<unsigned>(bytes);
  return launch_all(1, round_up(batch, matrices), [&](int64_t first, unsigned blocks) {
    transpose_small<bytes, pack><<<blocks, small_threads, shared, stream>>>(
        from_matrix(job, first * matrices), batch - first * matrices, matrices, spread, Divisor(rows),
        Divisor(columns), Divisor(spread.every));
  });
}

template <int bytes>
Status launch_small(const Job<bytes>& job, int64_t batch, cudaStream_t stream) {
  const auto size = static_cast<unsigned>(job.rows * job.columns);
  unsigned matrices = small_bytes / (size * bytes);
  if constexpr (bytes < 4) {
    // Words of four bytes, where each block begins at one.
    constexpr int pack = 4 / bytes;
    if (matrices >= pack) matrices -= matrices % pack;
    if (reinterpret_cast<uintptr_t>(job.out) % 4 == 0 && reinterpret_cast<uintptr_t>(job.in) % 4 == 0 &&
        matrices * size % pack == 0)
      return launch_packs<bytes, pack>(job, batch, matrices, stream);
  }
  return launch_packs<bytes, 1>(job, batch, matrices, stream);
}

template <int bytes>
Status launch_in_place(const Job<bytes>& job, int64_t batch, cudaStream_t stream) {
  const int64_t tiles = round_up(job.rows, square);
  if (tiles > 0xffff) return detail::invalid("rows is too large: in place, a matrix may have 2,097,120 rows");
  return launch_all(tiles * (tiles + 1) / 2, batch, [&](int64_t first, unsigned blocks) {
    transpose_in_place<bytes>
        <<<blocks, square * square_rows, 0, stream>>>(from_matrix(job, first), static_cast<unsigned>(tiles));
  });
}

/// The bytes from the first to behind the last element; negative: more than there are addresses.
inline int64_t extent(int64_t rows, int64_t columns, int64_t leading, int64_t batch, int64_t stride,
                      int64_t bytes) {
  constexpr int64_t most = int64_t{1} << 62;
  const auto product = [](int64_t a, int64_t b) { return a != 0 && b > most / a ? -1 : a * b; };
  const int64_t to_row = product(rows - 1, leading), to_matrix = product(batch - 1, stride);
  if (to_row < 0 || to_matrix < 0 || to_row > most / 2 || to_matrix > most / 2 || columns > most / 2)
    return -1;
  const int64_t elements =
      to_row / 2 + to_matrix / 2 + columns / 2 > most / 4 ? -1 : to_row + to_matrix + columns;
  return elements < 0 ? -1 : product(elements, bytes);
}

template <int bytes>
Status transpose_words(Word<bytes>* out, const Word<bytes>* in, const TransposeShape& shape,
                       cudaStream_t stream) {
  using detail::invalid;
  if (shape.rows < 0) return invalid("rows is negative");
  if (shape.columns < 0) return invalid("columns is negative");
  if (shape.batch < 0) return invalid("batch is negative");
  if (shape.rows == 0 || shape.columns == 0 || shape.batch == 0) return {};
  if (out == nullptr) return invalid("out is null");
  if (in == nullptr) return invalid("in is null");
  const auto to = reinterpret_cast<uintptr_t>(out), from = reinterpret_cast<uintptr_t>(in);
  if (to % bytes != 0) return invalid("out is not aligned to the size of an element");
  if (from % bytes != 0) return invalid("in is not aligned to the size of an element");

  Job<bytes> job{out,
                 in,
                 shape.rows,
                 shape.columns,
                 shape.in_leading,
                 shape.out_leading,
                 shape.in_stride,
                 shape.out_stride};
  if (job.in_leading == 0) job.in_leading = job.columns;
  if (job.out_leading == 0) job.out_leading = job.rows;
  if (job.in_leading < job.columns)
    return invalid("in_leading is less than columns: rows of the input overlap");
  if (job.out_leading < job.rows) return invalid("out_leading is less than rows: rows of the output overlap");
  if (job.in_stride < 0) return invalid("in_stride is negative");
  if (job.out_stride < 0) return invalid("out_stride is negative");
  if (extent(job.rows, job.in_leading, job.in_leading, shape.batch, job.in_stride, bytes) < 0 ||
      extent(job.columns, job.out_leading, job.out_leading, shape.batch, job.out_stride, bytes) < 0)
    return invalid("rows, columns, batch: the matrices reach beyond the last address");
  if (job.in_stride == 0) job.in_stride = job.rows * job.in_leading;
  if (job.out_stride == 0) job.out_stride = job.columns * job.out_leading;
  const int64_t in_bytes = extent(job.rows, job.columns, job.in_leading, shape.batch, job.in_stride, bytes);
  const int64_t out_bytes =
      extent(job.columns, job.rows, job.out_leading, shape.batch, job.out_stride, bytes);
  if (in_bytes < 0 || out_bytes < 0)
    return invalid("rows, columns, batch: the matrices reach beyond the last address");
  // Matrices of the output lie behind each other, or beside each other in the rows of a wider one.
  const bool behind = job.out_stride >= (job.columns - 1) * job.out_leading + job.rows;
  const bool beside =
      job.out_stride >= job.rows && job.out_leading - job.rows >= (shape.batch - 1) * job.out_stride;
  if (shape.batch > 1 && !behind && !beside)
    return invalid("out_stride is too small: matrices of the output overlap");

  if (to == from) {
    if (job.rows != job.columns) return invalid("in is out, but in place the matrix must be square");
    if (job.in_leading != job.out_leading || (shape.batch > 1 && job.in_stride != job.out_stride))
      return invalid("in is out, but in place both must have the same leading dimension and stride");
    return launch_in_place(job, shape.batch, stream);
  }
  const bool without_gaps = job.in_leading == job.columns && job.out_leading == job.rows &&
                            (shape.batch == 1 || (job.in_stride == job.rows * job.columns &&
                                                  job.out_stride == job.rows * job.columns));
  const auto begins_in = [](uintptr_t a, uintptr_t b, int64_t size) {
    return a >= b && a - b < uintptr_t(size);
  };
  if (without_gaps && (begins_in(to, from, in_bytes) || begins_in(from, to, out_bytes)))
    return invalid("in and out overlap");

  if (without_gaps && (job.rows == 1 || job.columns == 1))
    return detail::status_of(
        cudaMemcpyAsync(out, in, static_cast<size_t>(in_bytes), cudaMemcpyDeviceToDevice, stream));
  if (without_gaps && shape.batch > 1 && job.rows <= small_bytes && job.columns <= small_bytes &&
      job.rows * job.columns * bytes <= small_bytes)
    return launch_small(job, shape.batch, stream);
  const auto aligned = [](auto value) { return value * bytes % 16 == 0; };
  if (to % 16 == 0 && from % 16 == 0 && aligned(job.in_leading) && aligned(job.out_leading) &&
      (shape.batch == 1 || (aligned(job.in_stride) && aligned(job.out_stride))))
    return launch_tiles<typename Tiles<bytes>::Aligned>(job, shape.batch, stream);
  return launch_tiles<typename Tiles<bytes>::Anywhere>(job, shape.batch, stream);
}

}  // namespace transposing

/// out = in transposed, for each matrix of a batch: element (i, j) of an input matrix goes to (j, i) of its
/// output matrix. `T` is any trivially copyable type of 1, 2, 4, 8 or 16 bytes; both pointers are multiples
/// of its size.
///
/// In place (`out` == `in`) for square matrices with the same leading dimension and stride on both sides.
/// Otherwise no element of the output may be one of the input, which is checked where the matrices have no
/// gaps.
template <class T>
Status transpose(T* out, const std::type_identity_t<T>* in, const TransposeShape& shape,
                 cudaStream_t stream = nullptr) {
  constexpr int bytes = static_cast<int>(sizeof(T));
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes");
  static_assert(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16,
                "elements have 1, 2, 4, 8 or 16 bytes");
  using Word = transposing::Word<bytes>;
  return transposing::transpose_words<bytes>(reinterpret_cast<Word*>(out), reinterpret_cast<const Word*>(in),
                                             shape, stream);
}

}  // namespace lanescope::kernels
