// Transposes of matrices whose rows begin anywhere, of which one side is so short that a block has all of it:
// rows go to shared memory as they are, and the output's vectors are put together from there, element by
// element.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "lanescope/kernels/transpose/common.cuh"
#include "lanescope/kernels/transpose/gathering.hpp"
#include "lanescope/kernels/transpose/reading.cuh"

namespace lanescope::kernels::transposing {

/// The words of a vector, of which the first `by` are its last ones, in their order.
__device__ __forceinline__ uint4 rotated(const uint32_t (&x)[4], int by) {
  const bool one = by % 2 != 0, two = by / 2 != 0;
  uint32_t y[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) y[w] = one ? x[(w + 1) % 4] : x[w];
  return make_uint4(two ? y[2] : y[0], two ? y[3] : y[1], two ? y[0] : y[2], two ? y[1] : y[3]);
}

/// Elements of 4 / bytes rows; a lane takes row i ^ `first` as its i-th. `straight`: all lanes take row i.
template <int bytes, bool straight>
struct RowsOfWord {
  static constexpr int side = 4 / bytes;
  int offset[side];  ///< bytes from the first row
  unsigned pairs, halves;

  __device__ __forceinline__ RowsOfWord(int first, const Gathering& of) {
    if constexpr (straight) first = 0;
    pairs = (first & 1) != 0 ? 0x0004 : 0x0040;
    halves = (first & (side / 2)) != 0 ? 0x1054 : 0x5410;
#pragma unroll
    for (int i = 0; i < side; ++i) offset[i] = straight ? of.pitches[i] : (i ^ first) * of.pitch;
  }
  __device__ __forceinline__ uint32_t word(const unsigned char* from) const {
    const auto element = [&](int i) {
      return uint32_t{*reinterpret_cast<const Word<bytes>*>(from + offset[i])};
    };
    if constexpr (bytes == 4)
      return element(0);
    else if constexpr (bytes == 2)
      return __byte_perm(element(0), element(1), halves);
    else
      return __byte_perm(__byte_perm(element(0), element(1), pairs),
                         __byte_perm(element(2), element(3), pairs), halves);
  }
};

/// What a block of `transpose_gathering` has in shared memory.
template <int bytes, Reading reading>
struct GatheredRows {
  const unsigned char* in;          ///< of the first row
  int64_t in_pitch;                 ///< bytes
  int rows;                         ///< that are loaded
  int width;                        ///< bytes of a row that are
  const unsigned char *low, *high;  ///< the matrix; its rows lie without gaps
  unsigned char* tile;
  unsigned begin;  ///< byte of it where the first row begins
  uint64_t policy;

  /// `to`: shared address. `inside`: all vectors lie in the matrix as a whole.
  template <bool inside>
  __device__ __forceinline__ void copy(unsigned to, const unsigned char* from) const {
    if (inside || (from >= low && from + 16 <= high)) {
      copy_vector<reading>(to, from, policy);
    } else {
#pragma unroll 1
      for (int b = 0; b < 16; b += bytes) {
        Word<bytes> value = 0;  // words are read of which a part lies in the matrix
        if (from + b >= low && from + b < high) value = *reinterpret_cast<const Word<bytes>*>(from + b);
        *static_cast<Word<bytes>*>(__cvta_shared_to_generic(to + b)) = value;
      }
    }
  }

  /// Addresses of shared memory go from vector to vector as a whole: where the tile's is added to each, nvcc
  /// 13.0 makes instructions that a GPU refuses.
  template <bool inside>
  __device__ __forceinline__ void load(const Gathering& of, unsigned thread) const {
    const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    if (of.at_once == 0) {
      // Eight lanes have a line of memory. Of the first one nothing is copied in front of the rows.
      const unsigned end = shared + begin + rows * of.pitch;
      const unsigned at = 16 * (thread + (16 * thread + 16 <= begin ? gathering_threads : 0));
      const unsigned char* from = in - begin + at;
#pragma unroll 4
      for (unsigned to = shared + at; to < end; to += 16 * gathering_threads) {
        copy<inside>(to, from);
        from += 16 * gathering_threads;
      }
      return;
    }
    const unsigned row = quotient(thread, of.vectors);
    const int column = static_cast<int>(16 * (thread - row * of.vectors.value));
    if (row >= of.at_once) return;
    // Both lie alike in vectors, of which those are copied that these bytes belong to.
    const unsigned char* from = in + row * in_pitch + column;
    unsigned to = shared + begin + row * of.pitch + column;
    const int64_t in_step = of.at_once * in_pitch;
    const unsigned step = of.at_once * of.pitch;
#pragma unroll 4
    for (int r = static_cast<int>(row); r < rows; r += static_cast<int>(of.at_once)) {
      if (column - width < static_cast<int>(to % 16))
        copy<inside>(to & ~15U, reinterpret_cast<const unsigned char*>(reinterpret_cast<uintptr_t>(from) &
                                                                       ~uintptr_t{15}));
      from += in_step;
      to += step;
    }
  }
  /// What one of `gathering_threads` threads does of it.
  __device__ __forceinline__ void load(const Gathering& of, unsigned thread) const {
    if (in - 16 >= low && in + (rows - 1) * in_pitch + width + 16 <= high)
      load<true>(of, thread);
    else
      load<false>(of, thread);
  }
  /// Waits for what this thread has copied.
  static __device__ __forceinline__ void wait() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
  }

  [[nodiscard]] __device__ __forceinline__ const unsigned char* at(const Gathering& of, int row,
                                                                   int column) const {
    return tile + begin + row * of.pitch + column * bytes;
  }
};

/// The vectors of a lane: those that begin in row `first` of its column, and in others a multiple of vectors
/// from there.
template <int bytes>
struct VectorsOfLane {
  Gathering::Turn turn;
  const unsigned char* from[4];  ///< the rows of the words of the first vector, in the lane's order

  template <Reading reading>
  __device__ __forceinline__ VectorsOfLane(const GatheredRows<bytes, reading>& block, const Gathering& of,
                                           const Gathering::Turn& lane_turn, int first, int column)
      : turn(lane_turn) {
#pragma unroll
    for (int w = 0; w < 4; ++w) from[w] = block.at(of, first + ((w - turn.words) & 3) * (4 / bytes), column);
  }
  /// `offset`: bytes of shared memory from the first vector's rows.
  template <bool straight, class Offset>
  [[nodiscard]] __device__ __forceinline__ uint4 gather(const RowsOfWord<bytes, straight>& rows,
                                                        Offset offset) const {
    uint32_t x[4];
#pragma unroll
    for (int w = 0; w < 4; ++w) x[w] = rows.word(from[w] + offset);
    return rotated(x, turn.words);
  }
  /// Vectors so many bytes of shared memory further on.
  __device__ __forceinline__ void next(unsigned offset) {
#pragma unroll
    for (int w = 0; w < 4; ++w) from[w] += offset;
  }
};

/// A loop over the vectors of a lane: rows or columns, and bytes of shared memory and of the output.
struct VectorSteps {
  int begin, by, offset;
  int64_t to;
};

/// Words of 4 bytes from `at` on, and each `step` bytes, to in front of `end` become what lies `back` bytes
/// before them. Nothing is read but vectors that [low, high) has a part of: the rest belongs to words of
/// which a part is copied for nothing.
__device__ __forceinline__ void copy_words(unsigned char* tile, unsigned at, unsigned end, unsigned step,
                                           unsigned back, unsigned low, unsigned high) {
  const int first = static_cast<int>(low & ~15U), last = static_cast<int>((high + 15) & ~15U) - 4;
  const unsigned shift = (0 - back) % 4 * 8;
  for (; at < end; at += step) {
    const int from = static_cast<int>((at - back) & ~3U);
    const auto word = [&](int byte) { return *reinterpret_cast<const uint32_t*>(tile + byte); };
    *reinterpret_cast<uint32_t*>(tile + at) =
        __funnelshift_r(word(max(from, first)), word(min(from + 4, last)), shift);
  }
}
/// Behind the last row of all come the first ones once more, one column further on: what follows in the
/// output's memory. `width`: bytes of a row.
template <int bytes>
__device__ __forceinline__ void repeat_rows(unsigned char* tile, unsigned begin, const Gathering& of,
                                            unsigned width) {
  constexpr int repeated = 32 / bytes - 1;
  const unsigned thread = threadIdx.x, all = of.rows * of.pitch, back = all - bytes;
  if (of.at_once == 0) {
    // As one row, whose first word has elements of the last row.
    const unsigned to = begin + all, words = (to + 3) & ~3U, end = to + repeated * of.pitch;
    copy_words(tile, words + 4 * thread, end, 4 * gathering_threads, back, begin, to);
    if (thread * bytes < words - to)
      *reinterpret_cast<Word<bytes>*>(tile + to + thread * bytes) =
          *reinterpret_cast<const Word<bytes>*>(tile + begin + (thread + 1) * bytes);
  } else {
    // Words before a row and behind it belong to no other.
    for (unsigned row = thread / 32; row < repeated; row += gathering_threads / 32) {
      const unsigned low = begin + row * of.pitch, to = low + all;
      copy_words(tile, (to & ~3U) + 4 * (thread % 32), to + width - bytes, 128, back, low, low + width);
    }
  }
}

/// Blocks of a wide matrix have all of its rows, those of a tall one all of its columns.
template <bool wide>
__device__ __forceinline__ Place gathered_place(const Order& order, const Gathering& of) {
  const unsigned matrix = quotient(blockIdx.x, order.tiles), tile = blockIdx.x - matrix * order.tiles.value;
  if constexpr (wide) return {0, int64_t{tile} * of.columns, matrix};
  return {int64_t{row_of(order, tile)} * of.rows, 0, matrix};
}

/// One block for `of.rows` x `of.columns` elements. `wide`: that is all rows, and the output has no gaps:
/// blocks write pieces of its memory. Else they write whole sectors of the output's rows.
template <int bytes, bool wide, Reading reading, int64_t cached = cached_bytes>
__global__ void __launch_bounds__(gathering_threads, 2)
    transpose_gathering(Job<bytes> job, Order order, const __grid_constant__ Gathering of) {
  extern __shared__ uint4 raw[];
  constexpr int vector = 16 / bytes, sector = 32 / bytes, slack = wide ? 0 : sector - 1;
  const Place at = gathered_place<wide>(order, of);
  const auto* const matrix = reinterpret_cast<const unsigned char*>(job.in + at.matrix * job.in_stride);
  GatheredRows<bytes, reading> block;
  block.in_pitch = job.in_leading * bytes;
  block.in = matrix + at.row * block.in_pitch + at.column * bytes;
  block.rows = static_cast<int>(min(job.rows - at.row, int64_t{of.rows + slack}));
  const int columns = static_cast<int>(min(job.columns - at.column, int64_t{of.columns}));
  // Of the column behind the last one: where a vector ends that begins in the last one.
  const bool more = wide && at.column + columns < job.columns;
  block.width = (columns + (more ? 1 : 0)) * bytes;
  block.low = matrix;
  block.high = matrix + job.rows * block.in_pitch;
  block.tile = reinterpret_cast<unsigned char*>(raw);
  block.begin = static_cast<unsigned>(reinterpret_cast<uintptr_t>(block.in)) % 128;
  block.policy = policy_of<reading>();
  block.load(of, threadIdx.x);
  block.wait();
  __syncthreads();
  if constexpr (wide) {
    repeat_rows<bytes>(block.tile, block.begin, of, block.width);
    __syncthreads();
  }

  // The lane's vectors: of some output rows, whose first sectors begin in the same row of the block.
  const int thread = static_cast<int>(threadIdx.x);
  auto* const out = reinterpret_cast<unsigned char*>(job.out + at.matrix * job.out_stride + at.row);
  const int64_t out_pitch = job.out_leading * bytes;
  const auto to_sector = [](const unsigned char* at) {
    return static_cast<int>(-static_cast<unsigned>(reinterpret_cast<uintptr_t>(at)) % 32) / bytes;
  };
  int column = of.column<bytes>(thread);
  unsigned char* to = out + (at.column + column) * out_pitch;
  const int k = of.lane(thread), begins = to_sector(to), first = begins + k * vector;
  VectorsOfLane<bytes> vectors(block, of, of.turn<bytes>(thread, begins), first, column);
  to += first * bytes;
  // Behind the last column of all is nothing of which a vector could be completed.
  const auto most_of = [&](bool last) {
    const int loaded = block.rows + (wide && !last ? sector - 1 : 0);
    return min(wide ? block.rows + k % 2 * vector : begins + of.rows, loaded - vector + 1);
  };
  const int most = most_of(false), most_of_last = most_of(!more);
  // From vector to vector down a column, and across the columns.
  const int step = vector << of.lanes, at_once = of.columns_at_once();
  const VectorSteps down{first, step, step * of.pitch, step * bytes};
  // A product with at_once would be computed again in each round.
  const int64_t out_across = at_once == 32   ? 32 * out_pitch
                             : at_once == 64 ? 64 * out_pitch
                                             : 128 * out_pitch;
  const auto store = [&]<bool straight>() {
    const RowsOfWord<bytes, straight> rows(vectors.turn.rows, of);
#pragma unroll 1
    for (int sweep = 0; sweep < of.sweeps; ++sweep) {
      const VectorSteps across{column, at_once, at_once * bytes, out_across};
      // The shorter loop is the outer one.
      const VectorSteps outer = of.across ? down : across, inner = of.across ? across : down;
      VectorsOfLane<bytes> first_ones = vectors;
      unsigned char* first_place = to;
#pragma unroll 1
      for (int o = outer.begin; o < (of.across ? most : columns); o += outer.by) {
        const int end = of.across         ? columns - (o < most_of_last ? 0 : 1)
                        : o + 1 < columns ? most
                                          : most_of_last;
        VectorsOfLane<bytes> from = first_ones;
        unsigned char* place = first_place;
#pragma unroll 1
        for (int i = inner.begin; i < end; i += inner.by) {
          *reinterpret_cast<uint4*>(place) = from.gather(rows, 0);
          from.next(inner.offset);
          place += inner.to;
        }
        first_ones.next(outer.offset);
        first_place += outer.to;
      }
      column += swept_columns;
      vectors.next(swept_columns * bytes);
      to += swept_columns * out_pitch;
    }
  };
  if (of.straight<bytes>())
    store.template operator()<true>();
  else
    store.template operator()<false>();

  // Where output rows begin and end inside of sectors and vectors: elements.
  const auto single = [&](int c, int row) {
    *reinterpret_cast<Word<bytes>*>(out + (at.column + c) * out_pitch + row * bytes) =
        *reinterpret_cast<const Word<bytes>*>(block.at(of, row, c));
  };
  if (at.row == 0 && (!wide || at.column == 0)) {
    for (int e = thread; e < (wide ? 1 : columns) * sector; e += gathering_threads) {
      const int c = e / sector, row = e % sector;
      if (row < to_sector(out + (at.column + c) * out_pitch) && row < block.rows) single(c, row);
    }
  }
  if (at.row + of.rows + slack >= job.rows && !more) {
    for (int e = thread; e < (wide ? 1 : columns) * vector; e += gathering_threads) {
      const int c = wide ? columns - 1 : e / vector, begin = to_sector(out + (at.column + c) * out_pitch);
      const int behind = begin + (block.rows - begin) / vector * vector, row = behind + e % vector;
      if (block.rows > begin && behind < (wide ? block.rows : begin + of.rows) && row < block.rows)
        single(c, row);
    }
  }

  if constexpr (reading == Reading::keeping) {
    const int64_t all = block.in_pitch * block.rows;
    const InputTile tile =
        of.at_once == 0 ? InputTile{reinterpret_cast<uintptr_t>(block.in), 0, 0, 1, 0, static_cast<int>(all)}
                        : InputTile{reinterpret_cast<uintptr_t>(block.in),
                                    block.in_pitch,
                                    0,
                                    block.rows,
                                    at.column * bytes,
                                    block.width};
    release_lines<cached>(tile, of.rows * of.columns * bytes);
  }
}

}  // namespace lanescope::kernels::transposing
