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
// The kernels move tiles through shared memory, whose layout the model (lanescope/model) has chosen while
// they were compiled and proves to be without bank conflicts, but for what is said of edges and small
// matrices in docs/performance.md:
//   aligned     rows begin at multiples of 16 bytes: vectors on both sides, blocks transposed in registers
//   realigning  rows begin anywhere, elements of 1 to 4 bytes: vectors are put together of aligned ones, and
//   each
//               output row has tiles of its own that begin at a multiple of 32 bytes
//   lines       the same for 8 and 16 bytes: one element a lane, whole lines of memory written
//   small       batches of small matrices without gaps: a block takes many of them as one piece of memory
//   in place    two tiles that lie opposite each other change places
// That page also has what was tried besides; docs/results.md has the times. C++20, CUDA 12 or newer.
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

// ---- aligned

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
  static constexpr int slack = 0;                        ///< rows that are loaded and not stored
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

/// Loads a vector that no other lane needs.
__device__ __forceinline__ uint4 load_once(const uint4* from) {
  uint4 value;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(from));
  return value;
}

/// Rows of input and output begin at multiples of 16 bytes. One block a tile.
template <class Tiles>
__global__ void __launch_bounds__(Tiles::threads)
    transpose_aligned(Job<Tiles::bytes> job, unsigned down, unsigned across) {
  constexpr int vector = Tiles::vector;
  using T = Word<Tiles::bytes>;
  constexpr int swizzle = swizzle_of<Tiles>();
  static_assert(swizzles<Tiles, swizzle>);
  using Tile = AlignedTile<Tiles, swizzle>;
  extern __shared__ uint4 raw[];  // Tiles::shared bytes
  Tile& tile = *reinterpret_cast<Tile*>(raw);

  const Place at = place_of<Tiles::rows, Tiles::columns>(blockIdx.x, down, across);
  const T* const in = job.in + at.matrix * job.in_stride + at.row * job.in_leading + at.column;
  T* const out = job.out + at.matrix * job.out_stride + at.column * job.out_leading + at.row;
  // What of the tile lies in the matrix.
  const int rows = static_cast<int>(min(job.rows - at.row, int64_t{Tiles::rows}));
  const int columns = static_cast<int>(min(job.columns - at.column, int64_t{Tiles::columns}));
  const int thread = static_cast<int>(threadIdx.x);

  uint4 x[Tiles::loads][vector];
#pragma unroll
  for (int n = 0; n < Tiles::loads; ++n) {
    const int unit = n * Tiles::threads + thread;
    const int column = unit % Tiles::across * vector, row = unit / Tiles::across * vector;
#pragma unroll
    for (int i = 0; i < vector; ++i) {
      x[n][i] = {};
      if (row + i < rows && column + vector <= columns)
        x[n][i] = load_once(reinterpret_cast<const uint4*>(in + (row + i) * job.in_leading + column));
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

// ---- realigning

/// The output's side of a tile in which groups of `group` rows are `padding` bytes apart.
template <int bytes, int rows_, int columns_, int group, int padding>
struct PaddedGroups {
  using value_type = Word<bytes>;
  static constexpr int rows = rows_, columns = columns_;
  LANESCOPE_HD static constexpr int byte_offset(int row, int column) {
    return row / group * (group * columns_ * bytes + padding) + (row % group * columns_ + column) * bytes;
  }
  static constexpr int size = rows_ / group * (group * columns_ * bytes + padding);
  alignas(16) unsigned char storage[size];
};

/// Tiles for rows that begin anywhere: a lane puts its vectors together of aligned ones and stores their
/// elements one by one. The tiles of each output row are shifted up by as many rows as make them begin at a
/// multiple of `vectors` x 16 bytes, so that a tile loads some rows more (`slack`) than it stores. A warp
/// loads `lanes_across` x `vectors` vectors from each of 32 / lanes_across rows.
template <int bytes_, int loaded_rows_, int lanes_across_, int groups_, int vectors_, int threads_,
          int ahead_>
struct RealigningTiles {
  static constexpr int bytes = bytes_, threads = threads_, vectors = vectors_, lanes_across = lanes_across_;
  /// That must fit on a multiprocessor; 0: the compiler sees to it.
  static constexpr int blocks = bytes == 1 ? 4 : 0;
  static constexpr int vector = 16 / bytes;       ///< elements
  static constexpr int slack = vector * vectors;  ///< columns of a lane, and rows that are loaded more
  static constexpr int loaded_rows = loaded_rows_;
  static constexpr int rows = loaded_rows - slack;  ///< of the input, in a row of the output's tile
  static constexpr int columns = groups_ * lanes_across * slack;  ///< of the input
  static constexpr int lanes_down = 32 / lanes_across;
  static constexpr int groups = groups_;          ///< of lanes_across lanes, side by side
  static constexpr int pitch = rows + 2 * slack;  ///< of the tile
  static constexpr int steps = loaded_rows * groups / lanes_down / (threads / 32);  ///< loads of a warp
  static constexpr int ahead = ahead_;  ///< loads of a lane in flight
  static constexpr int chunks = rows / vector;
  static constexpr int slots = (chunks + 7) / 8 * 8;  ///< lanes for a row of the output: whole phases
  static constexpr int stores = columns * slots / threads;
  static constexpr int shared = 0;  ///< bytes of dynamic shared memory
  static_assert(steps * (threads / 32) * lanes_down == loaded_rows * groups && steps % ahead == 0);
  static_assert(stores * threads == columns * slots && rows % vector == 0);
};

/// What a warp stores: of each lane's columns one, each shifted down by the same number of rows.
template <class Tiles>
struct VectorStores {
  static constexpr int elements = 1;
  int count = Tiles::slack * 2;
  static constexpr Position where(int lane, int instance) {
    const int column = instance < Tiles::slack ? 0 : Tiles::slack - 1, shift = instance % Tiles::slack;
    return {lane % Tiles::lanes_across * Tiles::slack + column, lane / Tiles::lanes_across + shift};
  }
};
/// What a warp loads: vectors along the output's rows.
template <class Tiles>
struct SlotLoads {
  static constexpr int elements = Tiles::vector;
  int count = Tiles::stores;
  static constexpr Position where(int lane, int instance) {
    const int slot = instance * 32 + lane, chunk = slot % Tiles::slots;
    return chunk < Tiles::chunks ? Position{slot / Tiles::slots, Tiles::slack + chunk * Tiles::vector}
                                 : inactive;
  }
};

/// The least padding without conflicts.
template <class Tiles, int padding = 0>
consteval int padding_of() {
  static_assert(padding < 128, "no padding makes this tile free of conflicts");
  using Tile = PaddedGroups<Tiles::bytes, Tiles::columns, Tiles::pitch, Tiles::slack, padding>;
  if constexpr (conflict_free<"sm_90", Tile>(VectorStores<Tiles>{}, model::Op::store) &&
                conflict_free<"sm_90", Tile>(SlotLoads<Tiles>{}, model::Op::load))
    return padding;
  else
    return padding_of<Tiles, padding + 16>();
}

/// The `count` words that begin `begin` bytes (0 … 15) behind the first of `words`.
template <int bytes, int count>
__device__ __forceinline__ void shift_down(uint32_t (&words)[count + 4], unsigned begin) {
  if constexpr (bytes <= 8) {
    const bool two = (begin & 8) != 0;
#pragma unroll
    for (int i = 0; i < count + 2; ++i) words[i] = two ? words[i + 2] : words[i];
  }
  if constexpr (bytes <= 4) {
    const bool one = (begin & 4) != 0;
#pragma unroll
    for (int i = 0; i < count + 1; ++i) words[i] = one ? words[i + 1] : words[i];
  }
  if constexpr (bytes <= 2) {
    const unsigned bits = (begin & 3) * 8;
#pragma unroll
    for (int i = 0; i < count; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], bits);
  }
}

/// Element `i` of a row of words.
template <int bytes, int count>
__device__ __forceinline__ Word<bytes> element_of(const uint32_t (&words)[count], int i) {
  if constexpr (bytes == 8)
    return make_uint2(words[2 * i], words[2 * i + 1]);
  else if constexpr (bytes == 4)
    return words[i];
  else
    return static_cast<Word<bytes>>(words[i * bytes / 4] >> (i * bytes % 4 * 8));
}

/// Rows begin anywhere. One block a tile, and one more at the end of each column of tiles, for what was
/// shifted out.
template <class Tiles>
__global__ void __launch_bounds__(Tiles::threads, Tiles::blocks)
    transpose_realigning(Job<Tiles::bytes> job, unsigned down, unsigned across) {
  constexpr int bytes = Tiles::bytes, vector = Tiles::vector, slack = Tiles::slack;
  using T = Word<bytes>;
  using Tile = PaddedGroups<bytes, Tiles::columns, Tiles::pitch, slack, padding_of<Tiles>()>;
  static_assert(conflict_free<"sm_90", Tile>(VectorStores<Tiles>{}, model::Op::store));
  static_assert(conflict_free<"sm_90", Tile>(SlotLoads<Tiles>{}, model::Op::load));
  __shared__ Tile tile;

  const Place at = place_of<Tiles::rows, Tiles::columns>(blockIdx.x, down, across);
  const T* const in = job.in + at.matrix * job.in_stride + at.row * job.in_leading + at.column;
  T* const out = job.out + at.matrix * job.out_stride + at.column * job.out_leading + at.row;
  const int64_t columns_left = job.columns - at.column, rows_left = job.rows - at.row;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  // Elements from the multiple of slack x bytes before it to the begin of the output's row `column`: the same
  // for columns that are `slack` apart.
  const unsigned first_shift = static_cast<unsigned>(reinterpret_cast<uintptr_t>(out) / bytes);
  const auto shift_of = [&](int column) {
    return static_cast<int>(
        (first_shift + static_cast<unsigned>(column) * static_cast<unsigned>(job.out_leading)) % slack);
  };

  for (int step = 0; step < Tiles::steps; step += Tiles::ahead) {
    uint4 x[Tiles::ahead][Tiles::vectors + 1];
    // Bytes from an aligned vector to the lane's first element; 16: cannot be read by vectors.
    unsigned begin[Tiles::ahead];
#pragma unroll
    for (int n = 0; n < Tiles::ahead; ++n) {
      const int part = (step + n) * (Tiles::threads / 32) + warp;
      const int row = part / Tiles::groups * Tiles::lanes_down + lane / Tiles::lanes_across - slack;
      const int column = (part % Tiles::groups * Tiles::lanes_across + lane % Tiles::lanes_across) * slack;
      const T* const from = in + row * job.in_leading + column;
      begin[n] = static_cast<unsigned>(reinterpret_cast<uintptr_t>(from) % 16);
      // The vectors must lie in the row, with the parts of them that are not used.
      const int64_t before = begin[n] / bytes, behind = begin[n] == 0 ? 0 : vector - before;
      const bool whole = at.row + row >= 0 && row < rows_left && at.column + column >= before &&
                         column + slack + behind <= columns_left;
      const auto* const aligned = reinterpret_cast<const uint4*>(from - before);
      if (whole) {
#pragma unroll
        for (int v = 0; v < Tiles::vectors; ++v) x[n][v] = __ldg(aligned + v);
        x[n][Tiles::vectors] = begin[n] == 0 ? uint4{} : __ldg(aligned + Tiles::vectors);
      } else {
        begin[n] = 16;
      }
    }
#pragma unroll
    for (int n = 0; n < Tiles::ahead; ++n) {
      const int part = (step + n) * (Tiles::threads / 32) + warp;
      const int row = part / Tiles::groups * Tiles::lanes_down + lane / Tiles::lanes_across - slack;
      const int column = (part % Tiles::groups * Tiles::lanes_across + lane % Tiles::lanes_across) * slack;
      unsigned char* const to = tile.storage + Tile::byte_offset(column, row + slack);
      if (begin[n] < 16) {
        uint32_t words[Tiles::vectors * 4 + 4];
#pragma unroll
        for (int v = 0; v <= Tiles::vectors; ++v)
          words[4 * v] = x[n][v].x, words[4 * v + 1] = x[n][v].y, words[4 * v + 2] = x[n][v].z,
                    words[4 * v + 3] = x[n][v].w;
        shift_down<bytes, Tiles::vectors * 4>(words, begin[n]);
#pragma unroll
        for (int i = 0; i < slack; ++i)
          *reinterpret_cast<T*>(to + (i * Tiles::pitch + shift_of(i)) * bytes) = element_of<bytes>(words, i);
      } else if (at.row + row >= 0 && row < rows_left) {
        for (int i = 0; i < slack && column + i < columns_left; ++i)
          *reinterpret_cast<T*>(to + (i * Tiles::pitch + shift_of(i)) * bytes) =
              in[row * job.in_leading + column + i];
      }
    }
  }
  __syncthreads();

#pragma unroll 4
  for (int n = 0; n < Tiles::stores; ++n) {
    const int slot = n * Tiles::threads + static_cast<int>(threadIdx.x);
    const int column = slot / Tiles::slots, chunk = slot % Tiles::slots;
    if (chunk >= Tiles::chunks || column >= columns_left) continue;
    const int row = chunk * vector - shift_of(column);
    const unsigned char* const from = tile.storage + Tile::byte_offset(column, slack + chunk * vector);
    T* const to = out + column * job.out_leading + row;
    if (at.row + row >= 0 && row + vector <= rows_left) {
      __stcs(reinterpret_cast<uint4*>(to), *reinterpret_cast<const uint4*>(from));
    } else {
      for (int i = 0; i < vector; ++i)
        if (at.row + row + i >= 0 && row + i < rows_left) to[i] = reinterpret_cast<const T*>(from)[i];
    }
  }
}

// ---- lines

/// Tiles for rows that begin anywhere, of elements of 4 bytes and more: a lane moves one element, so that
/// nothing has to be put together. The tiles of each output row are shifted up until they begin at a line of
/// 128 bytes, so that a warp writes whole lines; what a tile loads besides (`slack` rows) its neighbour above
/// stores.
template <int bytes_, int loaded_, int columns_, int threads_>
struct LinesOf {
  static constexpr int bytes = bytes_, loaded = loaded_, columns = columns_, threads = threads_;
  static constexpr int slack = 128 / bytes;       ///< rows; elements of a line
  static constexpr int rows = loaded - slack;     ///< that are stored
  static constexpr int step = threads / columns;  ///< rows that are loaded at once
  static constexpr int loads = loaded / step;
  static constexpr int stores = columns * rows / threads;
  static constexpr int shared = 0;  ///< bytes of dynamic shared memory
  static_assert(columns % 32 == 0 && step * columns == threads && loads * step == loaded);
  static_assert(rows > 0 && rows % slack == 0 && stores * threads == columns * rows);
};

/// The output's side of a tile; an odd pitch if `padding` is 1.
template <class Lines, int padding>
struct PaddedRows {
  using value_type = Word<Lines::bytes>;
  static constexpr int rows = Lines::columns, columns = Lines::rows + padding;
  LANESCOPE_HD static constexpr int byte_offset(int row, int column) {
    return (row * columns + column) * Lines::bytes;
  }
};

/// What a warp stores: a row of the input, whose elements are shifted each as the output's row needs it. Of
/// the output's leading dimension counts the remainder modulo `slack` alone, and an odd one needs an even
/// pitch.
template <class Lines, int padding>
struct ShiftedStores {
  static constexpr int elements = 1;
  int count = Lines::slack / 2;
  static constexpr Position where(int lane, int instance) {
    const int leading = 2 * instance + (padding == 0 ? 1 : 0);
    // From the middle of the tile, so that all positions lie in it.
    return {lane, lane * leading % Lines::slack + (Lines::rows >= 2 * Lines::slack ? 1 : 0)};
  }
};
/// What a warp loads: lines.
template <class Lines>
struct LineLoads {
  static constexpr int elements = 1;
  int count = 2 * Lines::rows / Lines::slack;
  static constexpr Position where(int lane, int instance) {
    const int element = instance * 32 + lane;
    return {element / Lines::rows, element % Lines::rows};
  }
};
template <class Lines, int padding>
inline constexpr bool pads =
    conflict_free<"sm_90", PaddedRows<Lines, padding>>(ShiftedStores<Lines, padding>{}, model::Op::store) &&
    conflict_free<"sm_90", PaddedRows<Lines, padding>>(LineLoads<Lines>{}, model::Op::load);

template <class Lines>
__global__ void __launch_bounds__(Lines::threads)
    transpose_lines(Job<Lines::bytes> job, unsigned down, unsigned across) {
  constexpr int slack = Lines::slack;
  using T = Word<Lines::bytes>;
  static_assert(pads<Lines, 0> && pads<Lines, 1>);
  __shared__ T tile[Lines::columns * (Lines::rows + 1)];
  const int pitch = Lines::rows + (job.out_leading % 2 == 0 ? 1 : 0);

  const Place at = place_of<Lines::rows, Lines::columns>(blockIdx.x, down, across);
  const int first_row = at.row < slack ? static_cast<int>(slack - at.row) : 0;
  const int rows = static_cast<int>(min(job.rows - (at.row - slack), int64_t{Lines::loaded}));
  const int columns = static_cast<int>(min(job.columns - at.column, int64_t{Lines::columns}));
  const T* const in = job.in + at.matrix * job.in_stride + (at.row - slack) * job.in_leading + at.column;
  T* const out = job.out + at.matrix * job.out_stride + at.column * job.out_leading + (at.row - slack);
  // Row of the tile where that of an output row begins: `slack` less what makes it the begin of a line.
  const auto begin_of = [&](int column) {
    const auto first = reinterpret_cast<uintptr_t>(out + column * job.out_leading + slack) / Lines::bytes;
    return slack - static_cast<int>(first % slack);
  };

  {
    const int column = static_cast<int>(threadIdx.x) % Lines::columns;
    const int row = static_cast<int>(threadIdx.x) / Lines::columns;
    const T* const from = in + row * job.in_leading + column;
    T* const to = tile + column * pitch - begin_of(column);
    const int begin = begin_of(column);
    T x[Lines::loads];
#pragma unroll
    for (int n = 0; n < Lines::loads; ++n) {
      const int i = row + n * Lines::step;
      x[n] = {};
      if (i >= first_row && i < rows && column < columns)
        x[n] = __ldg(from + n * Lines::step * job.in_leading);
    }
#pragma unroll
    for (int n = 0; n < Lines::loads; ++n) {
      const int i = row + n * Lines::step;
      if (i >= begin && i < begin + Lines::rows) to[i] = x[n];
    }
  }
  __syncthreads();

#pragma unroll
  for (int n = 0; n < Lines::stores; ++n) {
    const int element = n * Lines::threads + static_cast<int>(threadIdx.x);
    const int column = element / Lines::rows, i = element % Lines::rows, row = begin_of(column) + i;
    if (row >= first_row && row < rows && column < columns)
      out[column * job.out_leading + row] = tile[column * pitch + i];
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

/// Blocks of so many threads, the bytes they take together, about, and those of a matrix at most.
inline constexpr int small_threads = 256;
inline constexpr unsigned small_bytes = 16384, small_matrix_bytes = 24576;

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

/// The same for elements of 1 and 2 bytes where rows and columns are whole words of 4 bytes: blocks of 4 x 4
/// or 2 x 2 elements are transposed in registers. `pitch`: words from one row of the output to the next in
/// shared memory.
template <int bytes>
__global__ void __launch_bounds__(small_threads)
    transpose_small_words(Job<bytes> job, int64_t batch, unsigned matrices, unsigned pitch, Divisor by_across,
                          Divisor by_down) {
  constexpr unsigned side = 4 / bytes;
  extern __shared__ uint4 raw[];
  uint32_t* const tile = reinterpret_cast<uint32_t*>(raw);
  // Blocks in a matrix' row, and in its column, which are the words of an output's row.
  const unsigned across = by_across.value, down = by_down.value, size = across * down;
  const int64_t first = int64_t{blockIdx.x} * matrices;
  const unsigned blocks = static_cast<unsigned>(min(batch - first, int64_t{matrices})) * size;
  const auto* const in = reinterpret_cast<const uint32_t*>(job.in) + first * size * side;
  auto* const out = reinterpret_cast<uint32_t*>(job.out) + first * size * side;

  constexpr unsigned ahead = 8 / side;  // blocks of a thread in flight
  for (unsigned begin = threadIdx.x; begin < blocks; begin += ahead * small_threads) {
    uint32_t x[ahead][side];
#pragma unroll
    for (unsigned n = 0; n < ahead; ++n) {
      const unsigned block = begin + n * small_threads;
      // `strip` counts the rows of blocks on over the matrices, as rows of the input follow each other.
      const unsigned strip = by_across.quotient(block), column = block - strip * across;
#pragma unroll
      for (unsigned i = 0; i < side; ++i)
        x[n][i] = block < blocks ? __ldg(in + (strip * side + i) * across + column) : 0;
    }
#pragma unroll
    for (unsigned n = 0; n < ahead; ++n) {
      const unsigned block = begin + n * small_threads;
      if (block >= blocks) continue;
      const unsigned strip = by_across.quotient(block), column = block - strip * across;
      const unsigned matrix = by_down.quotient(strip), row = strip - matrix * down;
      uint32_t y[side];
      if constexpr (bytes == 2) {
        y[0] = __byte_perm(x[n][0], x[n][1], 0x5410);
        y[1] = __byte_perm(x[n][0], x[n][1], 0x7632);
      } else {
        const uint32_t low = __byte_perm(x[n][0], x[n][1], 0x5140),
                       high = __byte_perm(x[n][0], x[n][1], 0x7362);
        const uint32_t low2 = __byte_perm(x[n][2], x[n][3], 0x5140),
                       high2 = __byte_perm(x[n][2], x[n][3], 0x7362);
        y[0] = __byte_perm(low, low2, 0x5410), y[1] = __byte_perm(low, low2, 0x7632);
        y[2] = __byte_perm(high, high2, 0x5410), y[3] = __byte_perm(high, high2, 0x7632);
      }
#pragma unroll
      for (unsigned i = 0; i < side; ++i) tile[((matrix * across + column) * side + i) * pitch + row] = y[i];
    }
  }
  __syncthreads();
#pragma unroll 4
  for (unsigned word = threadIdx.x; word < blocks * side; word += small_threads) {
    const unsigned column = by_down.quotient(word);  // counts on over the matrices
    __stcs(out + word, tile[column * pitch + (word - column * down)]);
  }
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

/// The tiles of each element size, from the measurements in docs/performance.md: for aligned rows large ones,
/// and small ones where there would be too few of them; and those for rows that begin anywhere.
template <int bytes>
struct Tiles;
template <>
struct Tiles<1> {
  using Large = AlignedTiles<1, 256, 256, 256>;
  using Small = AlignedTiles<1, 128, 128, 64>;
  using Anywhere = RealigningTiles<1, 256, 4, 1, 2, 256, 2>;
};
template <>
struct Tiles<2> {
  using Large = AlignedTiles<2, 128, 128, 256>;
  using Small = AlignedTiles<2, 64, 64, 64>;
  using Anywhere = RealigningTiles<2, 128, 4, 1, 2, 256, 2>;
};
template <>
struct Tiles<4> {
  using Large = AlignedTiles<4, 128, 128, 512>;
  using Small = AlignedTiles<4, 64, 64, 256>;
  using Anywhere = RealigningTiles<4, 64, 8, 1, 2, 256, 1>;
};
template <>
struct Tiles<8> {
  using Large = AlignedTiles<8, 64, 64, 256>;
  using Small = AlignedTiles<8, 32, 32, 128>;
  using Anywhere = LinesOf<8, 64, 64, 256>;
};
template <>
struct Tiles<16> {
  using Large = AlignedTiles<16, 32, 32, 256>;
  using Small = AlignedTiles<16, 16, 16, 256>;
  using Anywhere = LinesOf<16, 48, 32, 256>;
};
/// Large tiles where there are so many of them: four for each multiprocessor of the largest chips, about.
inline constexpr int64_t many_tiles = 512;

inline int64_t divide_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }

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

/// One block for each tile, of which each begins up to slack - 1 rows early.
template <class Tiles, class Kernel>
Status launch_tiles(Kernel kernel, const Job<Tiles::bytes>& job, int64_t batch, cudaStream_t stream) {
  const int64_t down = divide_up(job.rows + (Tiles::slack == 0 ? 0 : Tiles::slack - 1), Tiles::rows);
  const int64_t across = divide_up(job.columns, Tiles::columns);
  if (down > 0x7fffffff / across)
    return detail::invalid("rows or columns is too large: more than 2^31 tiles");
  if constexpr (Tiles::shared > 49152) {
    // What a block may have only if it is asked for.
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tiles::shared);
    if (error != cudaSuccess) return detail::status_of(error);
  }
  return launch_all(down * across, batch, [&](int64_t first, unsigned blocks) {
    kernel<<<blocks, Tiles::threads, Tiles::shared, stream>>>(
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
  return launch_all(1, divide_up(batch, matrices), [&](int64_t first, unsigned blocks) {
    transpose_small<bytes, pack><<<blocks, small_threads, shared, stream>>>(
        from_matrix(job, first * matrices), batch - first * matrices, matrices, spread, Divisor(rows),
        Divisor(columns), Divisor(spread.every));
  });
}

template <int bytes>
Status launch_small(const Job<bytes>& job, int64_t batch, cudaStream_t stream) {
  const auto size = static_cast<unsigned>(job.rows * job.columns);
  // About small_bytes, and one at least.
  unsigned matrices = (small_bytes + size * bytes / 2) / (size * bytes);
  if constexpr (bytes < 4) {
    // Words of four bytes, where each block begins at one.
    constexpr int pack = 4 / bytes;
    const bool words =
        reinterpret_cast<uintptr_t>(job.out) % 4 == 0 && reinterpret_cast<uintptr_t>(job.in) % 4 == 0;
    if (words && job.rows % pack == 0 && job.columns % pack == 0) {
      const auto down = static_cast<unsigned>(job.rows) / pack,
                 across = static_cast<unsigned>(job.columns) / pack;
      // An odd pitch, so that the blocks of a row lie in different banks.
      const unsigned pitch = down | 1;
      const unsigned shared = matrices * static_cast<unsigned>(job.columns) * pitch * 4;
      return launch_all(1, divide_up(batch, matrices), [&](int64_t first, unsigned blocks) {
        transpose_small_words<bytes><<<blocks, small_threads, shared, stream>>>(
            from_matrix(job, first * matrices), batch - first * matrices, matrices, pitch, Divisor(across),
            Divisor(down));
      });
    }
    if (matrices >= pack) matrices -= matrices % pack;
    if (words && matrices * size % pack == 0) return launch_packs<bytes, pack>(job, batch, matrices, stream);
  }
  return launch_packs<bytes, 1>(job, batch, matrices, stream);
}

template <int bytes>
Status launch_in_place(const Job<bytes>& job, int64_t batch, cudaStream_t stream) {
  const int64_t tiles = divide_up(job.rows, square);
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
  if (without_gaps && shape.batch > 1 && job.rows <= small_matrix_bytes &&
      job.columns <= small_matrix_bytes && job.rows * job.columns * bytes <= small_matrix_bytes)
    return launch_small(job, shape.batch, stream);
  // Where a lane can write whole elements of 8 bytes and more to whole lines, half sectors are not worth a
  // vector.
  constexpr int unit = bytes < 8 ? 16 : 32;
  const auto aligned = [](auto value) { return value * bytes % unit == 0; };
  using Large = typename Tiles<bytes>::Large;
  using Small = typename Tiles<bytes>::Small;
  using Anywhere = typename Tiles<bytes>::Anywhere;
  if (to % unit == 0 && from % 16 == 0 && aligned(job.in_leading) && aligned(job.out_leading) &&
      (shape.batch == 1 || (aligned(job.in_stride) && aligned(job.out_stride)))) {
    const int64_t tiles = divide_up(job.rows, Large::rows) * divide_up(job.columns, Large::columns);
    if (tiles >= many_tiles / shape.batch)
      return launch_tiles<Large>(&transpose_aligned<Large>, job, shape.batch, stream);
    return launch_tiles<Small>(&transpose_aligned<Small>, job, shape.batch, stream);
  }
  if constexpr (bytes < 8)
    return launch_tiles<Anywhere>(&transpose_realigning<Anywhere>, job, shape.batch, stream);
  else
    return launch_tiles<Anywhere>(&transpose_lines<Anywhere>, job, shape.batch, stream);
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
