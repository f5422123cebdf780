// Transposes of elements of 8 and 16 bytes where rows begin anywhere: one element a lane, whole lines of
// memory written.
#pragma once

#include "lanescope/kernels/transpose/common.cuh"

namespace lanescope::kernels::transposing {

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

}  // namespace lanescope::kernels::transposing
