// Transposes of elements of 1 to 4 bytes where rows begin anywhere: vectors are put together of aligned ones,
// and each output row has tiles of its own that begin at a multiple of 32 bytes.
#pragma once

#include "lanescope/kernels/transpose/common.cuh"

namespace lanescope::kernels::transposing {

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

}  // namespace lanescope::kernels::transposing
