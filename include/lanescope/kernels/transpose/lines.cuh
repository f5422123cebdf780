// Transposes of elements of 8 and 16 bytes where rows begin anywhere: one element a lane, whole lines of
// memory written.
#pragma once

#include "lanescope/kernels/transpose/common.cuh"
#include "lanescope/kernels/transpose/reading.cuh"

namespace lanescope::kernels::transposing {

/// Tiles for rows that begin anywhere, of elements so large that a lane moves one by itself and nothing has
/// to be put together. A block writes `rows` elements of each output row, which begin at a line of 128 bytes:
/// those of each row at another row of the input, so that a tile loads some rows more (`slack`) than it
/// stores.
template <int bytes_, int rows_, int columns_, int blocks_>
struct LinesOf {
  static constexpr int bytes = bytes_, rows = rows_, columns = columns_, threads = 256;
  static constexpr int blocks = blocks_;          ///< on a multiprocessor
  static constexpr int slack = 128 / bytes;       ///< elements of a line
  static constexpr int loaded = rows + slack;     ///< rows
  static constexpr int step = threads / columns;  ///< rows that are loaded at once
  static constexpr int loads = loaded / step, stores = columns * rows / threads;
  static constexpr int shared = columns * (loaded + 1) * bytes;  ///< bytes of dynamic shared memory
  static_assert(columns % 32 == 0 && step * columns == threads && loads * step == loaded);
  static_assert(rows % 32 == 0 && stores * threads == columns * rows, "warps store to one row");
};

/// The output's side of a tile.
template <class Lines, int padding>
struct PaddedRows {
  using value_type = Word<Lines::bytes>;
  static constexpr int rows = Lines::columns, columns = Lines::loaded, pitch = columns + padding;
  LANESCOPE_HD static constexpr int byte_offset(int row, int column) {
    return (row * pitch + column) * Lines::bytes;
  }
};
/// What a warp stores: a row of the input.
struct RowStores {
  static constexpr int elements = 1;
  int count = 2;
  static constexpr Position where(int lane, int instance) { return {lane, instance}; }
};
/// What a warp loads: of a row of the output, which begins at any element of a line.
struct LineLoads {
  static constexpr int elements = 1;
  int count = 2;
  static constexpr Position where(int lane, int instance) { return {0, lane + instance}; }
};

/// The least padding without conflicts.
template <class Lines, int padding = 0>
consteval int line_padding_of() {
  static_assert(padding < 2, "no padding makes this tile free of conflicts");
  using Tile = PaddedRows<Lines, padding>;
  if constexpr (conflict_free<"sm_90", Tile>(RowStores{}, model::Op::store) &&
                conflict_free<"sm_90", Tile>(LineLoads{}, model::Op::load))
    return padding;
  else
    return line_padding_of<Lines, padding + 1>();
}

template <class Lines, Reading reading, int64_t cached = cached_bytes>
__global__ void __launch_bounds__(Lines::threads, Lines::blocks)
    transpose_lines(Job<Lines::bytes> job, Order order) {
  constexpr int slack = Lines::slack;
  using T = Word<Lines::bytes>;
  using Tile = PaddedRows<Lines, line_padding_of<Lines>()>;
  static_assert(conflict_free<"sm_90", Tile>(RowStores{}, model::Op::store));
  static_assert(conflict_free<"sm_90", Tile>(LineLoads{}, model::Op::load));
  extern __shared__ uint4 raw[];  // Lines::shared bytes
  T* const tile = reinterpret_cast<T*>(raw);

  // Rows of the tile are counted from the first one that is loaded, `slack` above those that are stored.
  const Place at = place_of(order, Lines::rows, Lines::columns);
  const int64_t first = at.row - slack;
  const int low = at.row == 0 ? slack : 0;
  const int high = static_cast<int>(min(job.rows - first, int64_t{Lines::loaded}));
  const int columns = static_cast<int>(min(job.columns - at.column, int64_t{Lines::columns}));
  const T* const in = job.in + at.matrix * job.in_stride + first * job.in_leading + at.column;
  T* const out = job.out + at.matrix * job.out_stride + at.column * job.out_leading + first;
  const uint64_t policy = policy_of<reading>();

  {
    const int column = static_cast<int>(threadIdx.x) % Lines::columns;
    const int row = static_cast<int>(threadIdx.x) / Lines::columns;
    const T* const from = in + row * job.in_leading + column;
    T x[Lines::loads];
#pragma unroll
    for (int n = 0; n < Lines::loads; ++n) {
      const int i = row + n * Lines::step;
      x[n] = {};
      if (i >= low && i < high && column < columns)
        x[n] = load<reading>(from + n * Lines::step * job.in_leading, policy);
    }
#pragma unroll
    for (int n = 0; n < Lines::loads; ++n) tile[column * Tile::pitch + row + n * Lines::step] = x[n];
  }
  __syncthreads();
  if constexpr (reading == Reading::keeping)
    release_lines<cached>({reinterpret_cast<uintptr_t>(in), job.in_leading * Lines::bytes, low, high,
                           at.column * Lines::bytes, columns * Lines::bytes},
                          Lines::columns * Lines::rows * Lines::bytes);

#pragma unroll
  for (int n = 0; n < Lines::stores; ++n) {
    const int element = n * Lines::threads + static_cast<int>(threadIdx.x);
    const int column = element / Lines::rows;
    T* const to = out + column * job.out_leading;
    // Elements from the begin of a line to the first one that would be stored without slack.
    const auto shift = static_cast<int>(reinterpret_cast<uintptr_t>(to + slack) / Lines::bytes % slack);
    const int row = slack + element % Lines::rows - shift;
    const T value = tile[column * Tile::pitch + row];
    if (row >= low && row < high && column < columns) to[row] = value;
  }
}

}  // namespace lanescope::kernels::transposing
