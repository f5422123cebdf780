// Transpose of matrices in device memory: any sizes, leading dimensions and batches, elements of 1, 2, 4, 8
// and 16 bytes, in place where the matrix is square.
//
//   #include <lanescope/kernels/transpose.cuh>
//
//   // out has 7 rows of 5 elements, in has 5 rows of 7
//   const auto status = lanescope::kernels::transpose(out, in, {.rows = 5, .columns = 7}, stream);
//   if (!status) std::fprintf(stderr, "%s\n", status.message);
//
// The work is put into the stream and nothing else is done: no allocation on the device, no synchronisation,
// no copy to the host. Only elements of the matrices are written; nothing is read before the first one and
// behind the last one, but gaps between them may be.
//
// The kernels move tiles through shared memory, whose layout the model (lanescope/model) has chosen while
// they were compiled and proves to be without bank conflicts, but for what is said of edges in
// docs/performance.md:
//   aligned     rows begin at multiples of 16 bytes, of the output 32: vectors on both sides, blocks
//               transposed in registers
//   realigning  rows begin anywhere, elements of 1 to 4 bytes: words are put together of aligned ones, and
//               each output row has windows of its own that begin at a multiple of 32 bytes
//   lines       the same for 8 and 16 bytes: one element a lane, whole lines of memory written
//   small       batches of small matrices without gaps: a block takes many of them as one piece of memory,
//               and moves elements as a schedule says, which the host makes for the sizes and keeps: no
//               two lanes meet in a bank
//   gaps        batches of small matrices with gaps: likewise, but lines lie in shared memory as outside;
//               and pieces of long, thin matrices whose short lines have gaps (fields of structs)
//   strips      long, thin matrices: a block takes a strip from one long edge to the other, and moves its
//               elements likewise
//   gathering   matrices of some hundred rows or columns, elements of 1 to 4 bytes: likewise, but the
//               output's vectors are put together from the input's rows as they are
//   in place    two tiles that lie opposite each other change places: aligned ones as above, others of
//               elements of 1 to 4 bytes gathered, of 8 and 16 bytes one element a lane; batches of matrices
//               that a block holds as a whole as out of place
// That page also has what was tried besides; docs/results.md has the times. C++20, CUDA 12.1 or newer,
// compute capability 8.0 or newer.
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "lanescope/kernels/transpose.cuh needs compute capability 8.0 or newer: nvcc -arch=sm_80, sm_90 …"
#endif

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "lanescope/kernels/status.cuh"
#include "lanescope/kernels/transpose/aligned.cuh"
#include "lanescope/kernels/transpose/common.cuh"
#include "lanescope/kernels/transpose/gaps.cuh"
#include "lanescope/kernels/transpose/gathering.cuh"
#include "lanescope/kernels/transpose/in_place.cuh"
#include "lanescope/kernels/transpose/lines.cuh"
#include "lanescope/kernels/transpose/realigning.cuh"
#include "lanescope/kernels/transpose/small.cuh"
#include "lanescope/kernels/transpose/strips.cuh"

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

/// The tiles of each element size, from the measurements in docs/performance.md: for aligned rows large ones
/// (`Lines` where all rows begin at multiples of 128 bytes), and small ones where there would be too few of
/// them, in place or not; and the same for rows that begin anywhere.
template <int bytes>
struct Tiles;
/// Which part of the blocks' time has to go to the matrix (Tiling::used) for tiles to be faster than strips,
/// for tall matrices and for wide ones; and where their long lines begin anywhere, of what strips move once
/// (moved_once), but no more than that.
struct LeastUsed {
  double tall, wide;
  double tall_anywhere = 1, wide_anywhere = 1;
  /// Of all that, for strips that have one line of memory of each long line.
  double one_line = 0.955;
};
/// Limits of what is used for all matrices and for none.
inline constexpr double always = 2, never = 0;
/// How much tiles have to be used (Tiling::used) to be faster for small matrices with gaps than what is made
/// for those: tiles of vectors; others, of matrices whose rows lie without gaps; of others.
struct GapLimits {
  double aligned, joined, apart;
};
/// Elements of short lines with gaps between them up to which pieces are faster than tiles: of tall matrices,
/// and of wide ones.
struct PieceLimits {
  int tall, wide;
};
/// Where gathering is faster than tiles that are used so much (Tiling::used): less than a limit, in matrices
/// of so many bytes a row (tall ones) or a column (wide ones).
struct GatheredLimits {
  int64_t tall_bytes, wide_bytes;
  double tall, tall_aligned;
  int64_t narrow_bytes;  ///< tall ones of so many bytes have a limit of their own
  double narrow;
  /// Where an output row leaves few lanes without a vector, and else.
  double wide_busy, wide;
  /// Bytes of a column in batches, at least.
  int64_t batch_bytes;
};
/// In place, bytes of a matrix with rows that begin inside of sectors: from so many on, blocks go through
/// squares, and elements of 8 and 16 bytes have large tiles; others are read with the L2 policy "evict last".
inline constexpr int64_t large_in_place = 96 << 20, kept_in_place = 192 << 20;
/// In place, elements of a side of tiles that are gathered, in matrices of so many bytes and more.
struct PairSide {
  int elements;
  int64_t least_bytes = 0;
};
template <>
struct Tiles<1> {
  using Large = AlignedTiles<1, 256, 256, 256>;
  using Lines = Large;
  using Small = AlignedTiles<1, 128, 128, 64>;
  using InPlace = AlignedTiles<1, 256, 256, 256>;
  using Anywhere = RealigningTiles<1, 2, 16, 32, 224, 4, 2>;
  using FewAnywhere = RealigningTiles<1, 1, 8, 32, 128, 5, 5>;
  static constexpr LeastUsed aligned = {0.465, 0.55}, anywhere = {1, 0.94, 1.19, 0.99};
  static constexpr GatheredLimits gathered = {630, 400, 0.986, 0.465, 420, always, always, 0.95, 100};
  static constexpr PairSide pair_sides[] = {{192}, {144}};
  static constexpr GapLimits gaps = {0.5, always, always};
  static constexpr PieceLimits pieces = {31, 64};
};
template <>
struct Tiles<2> {
  using Large = AlignedTiles<2, 128, 128, 256>;
  using Lines = Large;
  using Small = AlignedTiles<2, 64, 64, 64>;
  using InPlace = AlignedTiles<2, 128, 128, 128>;
  using Anywhere = RealigningTiles<2, 2, 8, 32, 256, 9, 3>;
  using FewAnywhere = Anywhere;
  static constexpr LeastUsed aligned = {0.48, 0.52}, anywhere = {0.93, 0.845, 1.1, 0.842};
  static constexpr GatheredLimits gathered = {600, 520, 0.93, 0.4, 420, 0.97, 0.87, 0.89, 64};
  static constexpr PairSide pair_sides[] = {{120}, {96}};
  static constexpr GapLimits gaps = {0.5, 0.8, always};
  static constexpr PieceLimits pieces = {30, 62};
};
template <>
struct Tiles<4> {
  using Large = AlignedTiles<4, 128, 128, 512>;
  using Lines = AlignedTiles<4, 64, 64, 256>;
  using Small = Lines;
  using InPlace = AlignedTiles<4, 64, 64, 256>;
  using Anywhere = RealigningTiles<4, 4, 16, 32, 480, 8, 2>;
  using FewAnywhere = RealigningTiles<4, 4, 8, 64, 256, 10, 4>;
  static constexpr LeastUsed aligned = {0.44, 0.46}, anywhere = {0.88, 0.72, 0.88, 0.74};
  static constexpr GatheredLimits gathered = {600, 310, 0.91, 0.4, 0, never, 0.85, never, 64};
  static constexpr PairSide pair_sides[] = {{80, large_in_place}, {96}};
  static constexpr GapLimits gaps = {0.24, 0.65, 0.9};
  static constexpr PieceLimits pieces = {16, 31};
};
template <>
struct Tiles<8> {
  using Large = AlignedTiles<8, 32, 64, 256>;
  using Lines = Large;
  using Small = AlignedTiles<8, 32, 32, 128>;
  using InPlace = AlignedTiles<8, 32, 32, 128>;
  using Anywhere = LinesOf<8, 64, 32, 6>;
  using FewAnywhere = Anywhere;
  static constexpr LeastUsed aligned = {0.36, 0.52}, anywhere = {0.75, 0.745, 0.77, 0.79, 0.84};
  static constexpr GapLimits gaps = {0.48, 0.9, 0.9};
  static constexpr PieceLimits pieces = {15, 15};
};
template <>
struct Tiles<16> {
  using Large = AlignedTiles<16, 32, 32, 512>;
  using Lines = Large;
  using Small = AlignedTiles<16, 16, 16, 256>;
  using InPlace = AlignedTiles<16, 32, 32, 256>;
  using Anywhere = LinesOf<16, 32, 32, 4>;
  using FewAnywhere = Anywhere;
  static constexpr LeastUsed aligned = {0.7, 0.7}, anywhere = {0.54, 0.54};
  static constexpr GapLimits gaps = {0.9, 0.9, 0.9};
  static constexpr PieceLimits pieces = {7, 15};
};
/// Large tiles where there are so many of them: four for each multiprocessor of the largest chips, about.
inline constexpr int64_t many_tiles = 512;
/// How much better small tiles have to be used (Tiling::used) to be taken in place of large ones that are
/// used so much, where those are many.
template <int bytes>
constexpr double better_used(double large) {
  return large < (bytes == 1 ? 0.95 : 0.91) ? 0.99 : 1.025;
}
/// Matrices of so many bytes and less are not gathered: too few blocks, of which the last ones are waited
/// for.
inline constexpr int64_t gathered_tall = 112 << 20, gathered_wide = 160 << 20;
/// In place: pairs of tiles that are gathered; tiles side by side that blocks go through in squares.
inline constexpr int64_t many_gathered = 150, many_beside = 64;
/// In place, bytes of all matrices whose rows are aligned: from so many on tiles are large, and read with the
/// L2 policy "evict last".
template <int bytes>
inline constexpr int64_t large_aligned = (bytes == 1 ? 128 : 48) << 20;
inline constexpr int64_t kept_aligned = 384 << 20;

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

/// What a block may have of shared memory only if it is asked for. `most`: what any launch of this kernel
/// needs, so that no thread of the program takes from another one what that has asked for.
template <class Kernel>
Status allow_shared(Kernel kernel, int bytes, int most) {
  if (bytes <= 49152) return {};
  return detail::status_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
}
template <class Kernel>
Status allow_shared(Kernel kernel, int bytes) {
  return allow_shared(kernel, bytes, bytes);
}

/// The tiles of a matrix.
struct Tiling {
  int64_t down, across;
  double filled_across;  ///< which part of them it fills in each row of them
  double used;           ///< which part of the blocks' time goes to the matrix, about
  [[nodiscard]] int64_t count() const { return down * across; }
};
/// Tiles with slack begin up to so many rows early, where lines of the output begin inside of windows.
template <class Tiles, int bytes>
Tiling tiling_of(const Job<bytes>& job, int64_t batch) {
  int64_t early = 0;
  if constexpr (requires { Tiles::slack; }) {
    constexpr uintptr_t window = Tiles::slack * bytes;
    const uintptr_t begins = out_begins(job, batch), least = begins & (0 - begins);
    if (begins % window != 0) early = Tiles::slack - static_cast<int64_t>(least) / bytes;
  }
  Tiling tiling{divide_up(job.rows + early, Tiles::rows), divide_up(job.columns, Tiles::columns), 0, 0};
  const auto part = [](int64_t size, int64_t tiles, int tile) {
    return static_cast<double>(size) / (static_cast<double>(tiles) * tile);
  };
  tiling.filled_across = part(job.columns, tiling.across, Tiles::columns);
  tiling.used = tiling.filled_across * part(job.rows, tiling.down, Tiles::rows);
  if constexpr (requires { Tiles::used; })
    tiling.used = Tiles::used(job.rows, job.columns, tiling.down, tiling.across);
  return tiling;
}

/// Across first where tiles beside each other share what the memory reads at once, or where the last ones
/// across are narrow, and so much lies between them on the way down that it would be read again
/// (docs/performance.md); else down `in_turn` strips in turn. `parts`: Order.
template <class Tiles, int bytes>
Order order_of(const Job<bytes>& job, const Tiling& tiling, unsigned in_turn, unsigned parts) {
  constexpr int64_t read_at_once = 64, kept = (21 << 20) / 2, width = Tiles::columns * bytes;
  const bool apart = width % read_at_once == 0 && job.in_leading * bytes % read_at_once == 0 &&
                     reinterpret_cast<uintptr_t>(job.in) % read_at_once == 0 && tiling.filled_across > 0.9;
  const auto down = static_cast<unsigned>(tiling.down), across = static_cast<unsigned>(tiling.across);
  return order_with(down, across, job.rows > kept / width && !apart ? across : in_turn, parts);
}

/// One block of so many threads for each tile. `most`: as of allow_shared; `rest`: the kernel's other
/// arguments.
template <int bytes, class Kernel, class... Rest>
Status launch_tiles(Kernel kernel, int threads, const Job<bytes>& job, const Order& order, int shared,
                    int most, int64_t batch, cudaStream_t stream, const Rest&... rest) {
  if (const Status status = allow_shared(kernel, shared, most); !status) return status;
  return launch_all(order.tiles.value, batch, [&](int64_t first, unsigned blocks) {
    kernel<<<blocks, threads, shared, stream>>>(from_matrix(job, first), order, rest...);
  });
}

/// So much that no cache holds it, which is read with the L2 policy "evict last" (Reading::keeping).
template <int bytes>
bool is_large(const Job<bytes>& job, int64_t batch) {
  return job.rows * job.columns * bytes >= 2 * cached_bytes / batch;
}

template <class Tiles>
Status launch_anywhere(const Job<Tiles::bytes>& job, const Tiling& tiling, int64_t batch,
                       cudaStream_t stream) {
  const bool large = is_large(job, batch);
  const Order order = order_of<Tiles>(job, tiling, 1, large ? parts_of(job.out_leading * Tiles::bytes) : 0);
  const auto launch = [&](auto kernel, const auto&... rest) {
    return launch_tiles(kernel, Tiles::threads, job, order, Tiles::shared, Tiles::shared, batch, stream,
                        rest...);
  };
  if constexpr (Tiles::bytes < 8) {
    const Gaps gaps = gaps_of(Tiles::bytes, Tiles::slack, job.rows, job.columns, job.in_leading,
                              job.out_leading, out_begins(job, batch));
    const TilesInside inside =
        tiles_inside(Tiles::bytes, Tiles::slack, job.rows, job.columns, gaps, Tiles::rows, Tiles::columns);
    return large ? launch(&transpose_realigning<Tiles, Reading::keeping>, gaps, inside)
                 : launch(&transpose_realigning<Tiles, Reading::plain>, gaps, inside);
  } else {
    return large ? launch(&transpose_lines<Tiles, Reading::keeping>)
                 : launch(&transpose_lines<Tiles, Reading::plain>);
  }
}

template <class Tiles>
Status launch_aligned(const Job<Tiles::bytes>& job, const Tiling& tiling, int64_t batch, bool whole_lines,
                      cudaStream_t stream) {
  const auto kernel = &transpose_aligned<Tiles>;
  Walk walk;
  if (tiling.count() * batch >= 2 * cached_bytes / Tiles::shared)
    walk = walk_of(job.in_leading * Tiles::bytes, static_cast<unsigned>(tiling.across), whole_lines);
  const Order order = order_of<Tiles>(job, tiling, walk.in_turn, 0);
  // Where blocks are to be few, the L1 cache is to hold little of what is in flight, too. Said in each call,
  // because the kernel remembers it.
  const int carveout = walk.shared != 0 ? cudaSharedmemCarveoutMaxShared : cudaSharedmemCarveoutDefault;
  if (const Status status = detail::status_of(
          cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, carveout));
      !status)
    return status;
  const int shared = std::max(walk.shared, Tiles::shared);
  return launch_tiles(kernel, Tiles::threads, job, order, shared, shared, batch, stream);
}

/// Calls launch_some(first matrix, blocks, matrices) for a batch by a schedule.
template <class Kernel, class Launch>
Status launch_batch(Kernel kernel, const ScheduleLaunch& launch, int64_t batch, const Launch& launch_some) {
  if (const Status status = allow_shared(kernel, static_cast<int>(launch.shared), small_shared); !status)
    return status;
  const int64_t matrices = launch.plan.matrices;
  return launch_all(1, launch.blocks(batch), [&](int64_t first, unsigned blocks) {
    launch_some(first * matrices, blocks, std::min(batch - first * matrices, blocks * matrices));
  });
}

/// Calls launch<rows, columns>() for the moves of a schedule.
template <int bytes, class Launch>
Status with_moves(const Move& move, const Launch& launch) {
  constexpr int pack = bytes < 4 ? 4 / bytes : 1;
  if constexpr (pack > 1) {
    if (move.rows == 1) return launch.template operator()<1, pack>();
    if (move.columns == 1) return launch.template operator()<pack, 1>();
  }
  return launch.template operator()<pack, pack>();
}
/// Calls launch<rows, columns, slots>() for the moves of a schedule, and a kernel with room for its slots.
template <int bytes, class Launch>
Status with_slots(const ScheduleLaunch& schedule, const Launch& launch) {
  return with_moves<bytes>(schedule.move, [&]<int rows, int columns>() {
    return schedule.slots.size() > usual_slots ? launch.template operator()<rows, columns, most_slots>()
                                               : launch.template operator()<rows, columns, usual_slots>();
  });
}

template <int bytes>
Status launch_small(const Job<bytes>& job, const ScheduleLaunch& launch, int64_t batch, cudaStream_t stream) {
  return with_slots<bytes>(launch, [&]<int rows, int columns, unsigned slots>() {
    const auto kernel = &transpose_small<bytes, rows, columns, slots>;
    return launch_batch(kernel, launch, batch, [&](int64_t first, unsigned blocks, int64_t some) {
      kernel<<<blocks, small_threads, launch.shared, stream>>>(from_matrix(job, first),
                                                               launch.plan_of<slots>(some));
    });
  });
}

/// Whether anything lies between rows or matrices, of the input or of the output.
template <int bytes>
bool has_gaps(const Job<bytes>& job, int64_t batch) {
  const int64_t size = job.rows * job.columns;
  return job.in_leading != job.columns || job.out_leading != job.rows ||
         (batch > 1 && (job.in_stride != size || job.out_stride != size));
}

/// Matrices of a batch of which a block has many.
template <int bytes>
bool are_small(const Job<bytes>& job, int64_t batch) {
  return batch > 1 && job.rows <= small_matrix_bytes && job.columns <= small_matrix_bytes &&
         job.rows * job.columns * bytes <= small_matrix_bytes;
}

/// Goes by small matrices without gaps.
template <int bytes>
std::optional<Status> by_small(const Job<bytes>& job, int64_t batch, cudaStream_t stream) {
  if (!are_small(job, batch)) return {};
  const auto rows = static_cast<unsigned>(job.rows), columns = static_cast<unsigned>(job.columns);
  const bool few = job.rows * job.columns * bytes <= few_bytes / batch;
  const ScheduleLaunch& launch =
      schedule_of(bytes, rows, columns, packed(rows, columns), reinterpret_cast<uintptr_t>(job.in),
                  reinterpret_cast<uintptr_t>(job.out), few);
  if (!launch.found()) return {};
  return launch_small(job, launch, batch, stream);
}

template <int bytes>
Status launch_strips(const Job<bytes>& job, const ScheduleLaunch& launch, const StripShape& shape,
                     int64_t batch, cudaStream_t stream) {
  const Strips strips =
      strips_of(bytes, shape, launch, job.rows, job.columns, batch, job.in_leading, job.out_leading);
  return with_moves<bytes>(launch.move, [&]<int rows, int columns>() {
    const auto kernel = &transpose_strips<bytes, rows, columns>;
    if (const Status status = allow_shared(kernel, static_cast<int>(launch.shared), small_shared); !status)
      return status;
    return launch_all(strips.of_matrix.value, batch, [&](int64_t first, unsigned blocks) {
      kernel<<<blocks, small_threads, launch.shared, stream>>>(from_matrix(job, first), strips,
                                                               launch.plan_of<usual_slots>(1));
    });
  });
}

/// Goes by strips where tiles are used less than `least` says, and `most`, the short lines lie without gaps,
/// and the long ones are as long as a strip.
template <int bytes>
std::optional<Status> by_strips(const Job<bytes>& job, int64_t batch, double used, const LeastUsed& least,
                                double most, cudaStream_t stream) {
  const bool tall = job.columns < job.rows;
  const int64_t thin = std::min(job.rows, job.columns), along = std::max(job.rows, job.columns);
  most = std::min(most, tall ? least.tall : least.wide);
  if (used >= most || thin > most_thin || along >> 33 != 0 ||
      (tall ? job.in_leading : job.out_leading) != thin)
    return {};
  const StripShape shape =
      tall ? strip_shape(bytes, true, thin, along, job.out_leading, out_begins(job, batch))
           : strip_shape(bytes, false, thin, along, job.in_leading, in_begins(job, batch));
  // Matrices of a launch begin at the same byte of a word.
  const auto words = [](int64_t stride) { return stride * bytes % 4 == 0; };
  const int64_t parts = batch == 1 || (words(job.in_stride) && words(job.out_stride)) ? 1 : 4;
  const auto launch_of = [&](const Job<bytes>& part) -> const ScheduleLaunch& {
    return strip_schedule_of(bytes, shape, reinterpret_cast<uintptr_t>(part.in),
                             reinterpret_cast<uintptr_t>(part.out));
  };
  const auto least_of = [&](unsigned length) {
    if (shape.along != 0) return most;  // tiles of small matrices are slower than their use says
    const double anywhere =
        (tall ? least.tall_anywhere : least.wide_anywhere) * moved_once(bytes, shape, length);
    return std::min(most, anywhere) * (length * bytes <= 128 + 32 ? least.one_line : 1);
  };
  for (int64_t part = 0; part < std::min(parts, batch); ++part)
    if (const ScheduleLaunch& launch = launch_of(from_matrix(job, part));
        !launch.found() || along < launch.length || used >= least_of(launch.length))
      return {};
  for (int64_t first = 0; first < std::min(parts, batch); ++first) {
    Job<bytes> part = from_matrix(job, first);
    part.in_stride *= parts;
    part.out_stride *= parts;
    const Status status =
        launch_strips(part, launch_of(part), shape, divide_up(batch - first, parts), stream);
    if (!status) return status;
  }
  return Status{};
}

/// What each of so many blocks on a multiprocessor may have of its shared memory.
inline int shared_of_blocks(const Device& device, int blocks) { return device.shared / blocks - 1024; }

template <int bytes>
bool gathers_tall(const Job<bytes>& job, double used, bool vectors) {
  constexpr GatheredLimits limits = Tiles<bytes>::gathered;
  const int64_t width = job.columns * bytes;
  const bool padded = pitch_of(width) != width;
  if (job.columns < 12 || width > limits.tall_bytes || (padded && width == 64)) return false;
  if (vectors) return !padded && width > 32 && used < limits.tall_aligned;
  return used < (padded ? 0.95 : 1) * (width <= limits.narrow_bytes ? limits.narrow : limits.tall);
}
template <int bytes>
bool gathers_wide(const Job<bytes>& job, int64_t batch, const Gathering& of, const Device& device,
                  double used) {
  constexpr GatheredLimits limits = Tiles<bytes>::gathered;
  const int64_t length = job.rows * bytes;
  // Of the lanes that an output row has, so many have a vector of it.
  const double busy = static_cast<double>(length) / static_cast<double>(divide_up(length, 128) * 128);
  if (batch > 1) {
    if (length < limits.batch_bytes || (length < 116 && used > 0.85)) return false;
    if (of.columns < job.columns) return bytes < 4 && length <= 520 && used < 0.95;
    return busy > 0.65 || gathering_shared(bytes, of, job.rows) <= shared_of_blocks(device, 3);
  }
  // Strips are faster for shorter columns, but where four lanes have all of one; tiles for those of 32 to 49
  // floats.
  const bool four = bytes <= 2 && of.lanes == 2 && length >= (bytes == 1 ? 48 : 54) && length <= 64;
  const bool long_enough = bytes == 4   ? length >= 200 || (length >= 96 && length < 128)
                           : bytes == 2 ? length >= 66
                                        : length >= (of.lanes == 3 ? 67 : 72);
  return (long_enough || four) && length <= limits.wide_bytes &&
         used < (busy > 0.8 ? limits.wide_busy : limits.wide);
}

template <int bytes, bool wide>
Status launch_gathering(const Job<bytes>& job, const Gathering& of, const Device& device, int64_t batch,
                        cudaStream_t stream) {
  const bool large = is_large(job, batch);
  const auto kernel = large ? &transpose_gathering<bytes, wide, Reading::keeping>
                            : &transpose_gathering<bytes, wide, Reading::plain>;
  const Order order = order_with(static_cast<unsigned>(divide_up(job.rows, of.rows)),
                                 static_cast<unsigned>(divide_up(job.columns, of.columns)), 1,
                                 large ? parts_of(job.out_leading * bytes) : 0);
  return launch_tiles(kernel, gathering_threads, job, order, gathering_shared(bytes, of, job.rows),
                      shared_of_blocks(device, 2), batch, stream, of);
}

/// The best number of blocks of a multiprocessor for a wide matrix: the more, the shorter its rows are, if
/// blocks gather most of what they copy. `shared`: bytes for so many.
template <int bytes, class Shared>
std::optional<Gathering> best_of_wide(const Job<bytes>& job, int64_t batch, const Shared& shared) {
  const auto with = [&](int blocks) {
    return wide_gathering(bytes, static_cast<int>(job.rows), job.columns, shared(2), shared(blocks));
  };
  const int64_t length = job.rows * bytes;
  if (batch == 1 && length >= 280) return with(2);
  std::optional<Gathering> best = with(3);
  if (batch > 1 || !best) return best;
  const auto improve = [&](int blocks, double by) {
    const auto other = with(blocks);
    if (other && gathered(bytes, *other) > gathered(bytes, *best) + by) best = other;
  };
  if (length >= 120 && length < 216) improve(2, 0.1);
  if (bytes > 1 || length >= 88) improve(4, length < 120 ? -0.03 : 0.03);
  return best;
}

/// Goes by gathering where that is faster than tiles and strips: large matrices without gaps, of which all
/// rows or all columns fit a block; batches of those of which all of a matrix does.
template <int bytes>
std::optional<Status> by_gathering(const Job<bytes>& job, int64_t batch, double used, bool vectors,
                                   cudaStream_t stream) {
  constexpr int64_t most = 4096;  // that one side has, so that int is enough
  const int64_t size = job.rows * job.columns * batch * bytes;
  const bool in_place = job.in == job.out;
  const bool wide = (!vectors || in_place) && job.rows <= most && job.rows * bytes >= 32 &&
                    job.out_leading == job.rows && size > (batch > 1 ? few_bytes : gathered_wide) &&
                    (batch > 1 || job.rows < job.columns);
  const bool tall =
      batch == 1 && job.columns <= most && size > gathered_tall && gathers_tall(job, used, vectors);
  if (job.in_leading != job.columns || !(wide || tall)) return {};
  const std::optional<Device> device = current_device();
  if (!device) return {};
  const auto shared = [&](int blocks) { return shared_of_blocks(*device, blocks); };
  if (wide) {
    const auto of = best_of_wide(job, batch, shared);
    // In place, a block has to have read all that it writes over.
    if (of && (!in_place || of->columns >= job.columns) && gathers_wide(job, batch, *of, *device, used) &&
        divide_up(job.columns, of->columns) <= 0x7fffffff)
      return launch_gathering<bytes, true>(job, *of, *device, batch, stream);
  }
  if (tall) {
    // Few blocks of a multiprocessor read fewer rows twice, and end at the same time.
    const int blocks = size >= 2 * gathered_tall ? 2 : job.columns * bytes > 100 ? 3 : 5;
    const auto of = tall_gathering(bytes, static_cast<int>(job.columns), shared(blocks));
    if (of && job.rows >= 2 * of->rows && divide_up(job.rows, of->rows) <= 0x7fffffff)
      return launch_gathering<bytes, false>(job, *of, *device, batch, stream);
  }
  return {};
}

/// Goes by small matrices with gaps, but for those that fill tiles well. `used`: which part of the blocks'
/// time would go to the matrix, by tiles of `vectors` or others.
template <int bytes>
std::optional<Status> by_gaps(const Job<bytes>& job, int64_t batch, double used, bool vectors,
                              cudaStream_t stream) {
  if (!are_small(job, batch)) return {};
  // Tiles write sectors whole that lines without gaps have in common, and read lines together.
  const bool joined = job.out_leading == job.rows;
  const double least = vectors                         ? Tiles<bytes>::gaps.aligned
                       : job.in_leading == job.columns ? Tiles<bytes>::gaps.joined
                                                       : Tiles<bytes>::gaps.apart;
  if ((joined || (vectors && job.rows * bytes % 32 == 0)) && used >= least) return {};
  const auto rows = static_cast<unsigned>(job.rows), columns = static_cast<unsigned>(job.columns);
  const auto from = reinterpret_cast<uintptr_t>(job.in), to = reinterpret_cast<uintptr_t>(job.out);
  const GapsIn in = gaps_in(from, columns * bytes, rows, job.in_leading * bytes, job.in_stride * bytes);
  const GapsOut out = gaps_out(to, rows * bytes, columns, job.out_leading * bytes, job.out_stride * bytes);
  const Layout layout = layout_of(bytes, in, out);
  if (std::max(layout.in.stride, layout.out.stride) * bytes > small_matrix_bytes) return {};
  const ScheduleLaunch& launch = schedule_of(bytes, rows, columns, layout, from, to);
  if (!launch.found()) return {};
  return with_slots<bytes>(launch, [&]<int move_rows, int move_columns, unsigned slots>() {
    const auto kernel = &transpose_gaps<bytes, move_rows, move_columns, slots>;
    return launch_batch(kernel, launch, batch, [&](int64_t first, unsigned blocks, int64_t some) {
      kernel<<<blocks, small_threads, launch.shared, stream>>>(from_matrix(job, first), in, out,
                                                               launch.plan_of<slots>(some));
    });
  });
}

/// Blocks for tiles that lie opposite each other; `of`: what the kernel is told of them.
template <int bytes, class Kernel, class... Of>
Status launch_pairs(Kernel kernel, const Job<bytes>& job, int64_t batch, unsigned of_matrix, int threads,
                    int shared, cudaStream_t stream, const Of&... of) {
  return launch_all(of_matrix, batch, [&](int64_t first, unsigned blocks) {
    kernel<<<blocks, threads, shared, stream>>>(from_matrix(job, first), of...);
  });
}

/// Whether there are so many pairs of tiles.
template <int bytes>
bool are_many(int64_t pairs, const Job<bytes>& job, int64_t batch, int side) {
  const int64_t tiles = divide_up(job.rows, side);
  return tiles * (tiles + 1) / 2 >= divide_up(pairs, batch);
}

/// Rows that begin anywhere. On a chip with less shared memory than large tiles take, the smaller ones. Of
/// large matrices a multiprocessor has no more than two blocks: three are slower (docs/performance.md), which
/// they are not in the L2 cache.
template <int bytes>
Status launch_pairs_anywhere(const Job<bytes>& job, int64_t batch, cudaStream_t stream) {
  const int64_t size = job.rows * job.rows * bytes;
  const auto launch = [&](auto kernel, int side, int threads, int shared, const auto&... of) {
    const auto tiles = static_cast<unsigned>(divide_up(job.rows, side));
    const Pairs pairs = pairs_of(tiles, size >= large_in_place || tiles >= many_beside ? 2 : 0);
    return launch_pairs(kernel, job, batch, pairs.of_matrix.value, threads, shared, stream, pairs, of...);
  };
  if constexpr (bytes <= 4) {
    const std::optional<Device> device = current_device();
    const int for_two = size >= large_in_place && device ? device->shared / 3 : 0;
    for (const auto& [side, least] : Tiles<bytes>::pair_sides) {
      if (size < least || !are_many(many_gathered, job, batch, side)) continue;
      const auto kernel = size >= kept_in_place ? &transpose_gathering_in_place<bytes, Reading::keeping>
                                                : &transpose_gathering_in_place<bytes, Reading::plain>;
      const Gathering of = pair_gathering(bytes, side, job.out_leading * bytes);
      const int shared = std::max(2 * pair_tile_bytes(of), for_two);
      if (allow_shared(kernel, shared, small_shared))
        return launch(kernel, side, 2 * gathering_threads, shared, of);
      cudaGetLastError();
    }
  } else if (size >= large_in_place) {
    using Large = PairTiles<bytes, 64, 1024, Reading::keeping>;
    const auto kernel = &transpose_in_place<Large>;
    if (allow_shared(kernel, Large::shared))
      return launch(kernel, Large::side, Large::threads, Large::shared);
    cudaGetLastError();
  }
  using Small = PairTiles<bytes, 32, 256, Reading::plain>;
  return launch(&transpose_in_place<Small>, Small::side, Small::threads, Small::shared);
}

/// Small matrices of a batch as out of place, where blocks read and write whole ones; pairs of tiles else.
template <int bytes>
Status launch_in_place(const Job<bytes>& job, int64_t batch, cudaStream_t stream) {
  if (job.rows > 0xffff * 16) return detail::invalid("rows is too large: in place, 1,048,560 at most");
  if (job.rows == 1) return {};
  using Large = typename Tiles<bytes>::InPlace;
  using Small = typename Tiles<bytes>::Small;
  const int64_t size = job.rows * job.rows * bytes;
  const bool vectors = out_begins(job, batch) % (size >= large_in_place ? 32 : 16) == 0;
  if (batch > 1) {
    const double used = tiling_of<Small>(job, batch).used;
    if (const auto status =
            has_gaps(job, batch) ? by_gaps(job, batch, used, vectors, stream) : by_small(job, batch, stream))
      return *status;
    if constexpr (bytes <= 4)
      if (const auto status = by_gathering(job, batch, used, vectors, stream)) return *status;
  }
  if (!vectors) return launch_pairs_anywhere(job, batch, stream);
  const auto kernel_of = [&]<class Of>(Of) {
    return size >= kept_aligned / batch ? &transpose_aligned_in_place<Of, Reading::keeping>
                                        : &transpose_aligned_in_place<Of, Reading::plain>;
  };
  const auto launch = [&]<class Of>(Of of) {
    const auto tiles = static_cast<unsigned>(divide_up(job.rows, Of::rows));
    return launch_pairs(kernel_of(of), job, batch, tiles * (tiles + 1) / 2, 2 * Of::threads, 2 * Of::shared,
                        stream, tiles);
  };
  if (size >= large_aligned<bytes> / batch) {
    if (allow_shared(kernel_of(Large{}), 2 * Large::shared)) return launch(Large{});
    cudaGetLastError();  // a chip with less shared memory: the smaller tiles
  }
  return launch(Small{});
}

template <int bytes>
Status launch_apart(const Job<bytes>& job, int64_t batch, cudaStream_t stream);

/// Goes by pieces of the long side where the short lines of a thin matrix have gaps (fields of structs):
/// these are a batch of small matrices, side by side in the rows or columns of one. What is left goes by
/// tiles.
template <int bytes>
std::optional<Status> by_pieces(const Job<bytes>& job, int64_t batch, cudaStream_t stream) {
  constexpr int64_t line = 128 / bytes, piece_bytes = 10240, least = 1 << 20;
  constexpr PieceLimits limits = Tiles<bytes>::pieces;
  const bool tall = job.columns < job.rows;
  const int64_t thin = std::min(job.rows, job.columns), along = std::max(job.rows, job.columns);
  const int64_t leading = tall ? job.in_leading : job.out_leading;
  if (leading == thin || thin > (tall ? limits.tall : limits.wide)) return {};
  // A launch for each matrix of a batch: of so many bytes at least.
  if (batch > 1 && thin * along < least / bytes) return {};
  // Sectors are all that is copied of large gaps.
  const int64_t copied = std::min(leading, thin + 32 / bytes);
  const int64_t length = std::max(piece_bytes / bytes / copied / line, int64_t{1}) * line;
  const int64_t pieces = along / length, left = along % length;
  if (pieces < 16) return {};
  Job<bytes> some = job, rest = job;
  (tall ? some.rows : some.columns) = length;
  (tall ? rest.rows : rest.columns) = left;
  some.in_stride = tall ? length * job.in_leading : length;
  some.out_stride = tall ? length : length * job.out_leading;
  rest.in += pieces * some.in_stride;
  rest.out += pieces * some.out_stride;
  for (int64_t matrix = 0; matrix < batch; ++matrix) {
    const auto of = [&](Job<bytes> part) {
      part.in += matrix * job.in_stride;
      part.out += matrix * job.out_stride;
      return part;
    };
    const auto status = by_gaps(of(some), pieces, 0, false, stream);
    if (!status || !*status) return status;
    if (left == 0) continue;
    if (const Status last = launch_apart(of(rest), 1, stream); !last) return last;
  }
  return Status{};
}

/// Matrices that do not lie in each other's place.
template <int bytes>
Status launch_apart(const Job<bytes>& job, int64_t batch, cudaStream_t stream) {
  const bool gaps = has_gaps(job, batch);
  if (!gaps)
    if (const auto status = by_small(job, batch, stream)) return *status;
  using Large = typename Tiles<bytes>::Large;
  using Lines = typename Tiles<bytes>::Lines;
  using Small = typename Tiles<bytes>::Small;
  using Anywhere = typename Tiles<bytes>::Anywhere;
  using FewAnywhere = typename Tiles<bytes>::FewAnywhere;
  // Vectors are read; of the output whole sectors are written, because halves of them cost more than putting
  // words together does, but where a matrix is one tile, which shares sectors with no other in its rows.
  const bool one_tile = bytes < 8 && job.rows <= Large::rows && job.columns <= Large::columns;
  const uintptr_t in_rows = in_begins(job, batch), out_rows = out_begins(job, batch);
  const bool vectors = in_rows % 16 == 0 && out_rows % (one_tile ? 16 : 32) == 0;
  const bool whole_lines = (in_rows | out_rows) % 128 == 0;
  const Tiling large = vectors ? tiling_of<Large>(job, batch) : tiling_of<Anywhere>(job, batch);
  const Tiling small = vectors ? tiling_of<Small>(job, batch) : tiling_of<FewAnywhere>(job, batch);
  const bool few = large.count() < (vectors ? 1 : 2) * many_tiles / batch ||
                   (!vectors && small.used > better_used<bytes>(large.used) * large.used);
  const Tiling tiling = few ? small : vectors && whole_lines ? tiling_of<Lines>(job, batch) : large;

  // What lies in the L2 cache gains less than it takes to make a schedule for one call.
  const bool cached = job.rows * job.columns <= few_bytes / bytes / batch;
  const LeastUsed least = vectors ? Tiles<bytes>::aligned : Tiles<bytes>::anywhere;
  if (gaps) {
    if (const auto status = by_gaps(job, batch, tiling.used, vectors, stream)) return *status;
    if (const auto status = by_pieces(job, batch, stream)) return *status;
  }
  if constexpr (bytes <= 4)
    if (const auto status = by_gathering(job, batch, tiling.used, vectors, stream)) return *status;
  if (const auto status = by_strips(job, batch, tiling.used, least, cached ? 0.5 : 1, stream)) return *status;
  if (tiling.down > 0x7fffffff / tiling.across)
    return detail::invalid("rows or columns is too large: more than 2^31 tiles");
  if (vectors && few) return launch_aligned<Small>(job, tiling, batch, whole_lines, stream);
  if (vectors && whole_lines) return launch_aligned<Lines>(job, tiling, batch, whole_lines, stream);
  if (vectors) return launch_aligned<Large>(job, tiling, batch, whole_lines, stream);
  if (few) return launch_anywhere<FewAnywhere>(job, tiling, batch, stream);
  return launch_anywhere<Anywhere>(job, tiling, batch, stream);
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

/// The matrices of a shape whose sides are not empty; strides that are left out stay 0.
template <int bytes>
Job<bytes> job_of(Word<bytes>* out, const Word<bytes>* in, const TransposeShape& shape) {
  return {out,
          in,
          shape.rows,
          shape.columns,
          shape.in_leading == 0 ? shape.columns : shape.in_leading,
          shape.out_leading == 0 ? shape.rows : shape.out_leading,
          shape.in_stride,
          shape.out_stride};
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

  Job<bytes> job = job_of<bytes>(out, in, shape);
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
  // One line has no gaps between lines.
  if (job.rows == 1) job.in_leading = job.columns;
  if (job.columns == 1) job.out_leading = job.rows;
  const bool gaps = has_gaps(job, shape.batch);
  const auto begins_in = [](uintptr_t a, uintptr_t b, int64_t size) {
    return a >= b && a - b < uintptr_t(size);
  };
  if (!gaps && (begins_in(to, from, in_bytes) || begins_in(from, to, out_bytes)))
    return invalid("in and out overlap");
  if (!gaps && (job.rows == 1 || job.columns == 1))
    return detail::status_of(
        cudaMemcpyAsync(out, in, static_cast<size_t>(in_bytes), cudaMemcpyDeviceToDevice, stream));
  return launch_apart(job, shape.batch, stream);
}

}  // namespace transposing

/// out = in transposed, for each matrix of a batch: element (i, j) of an input matrix goes to (j, i) of its
/// output matrix. `T` is any trivially copyable type of 1, 2, 4, 8 or 16 bytes; both pointers are multiples
/// of its size.
///
/// In place (`out` == `in`) for square matrices with the same leading dimension and stride on both sides.
/// Otherwise no element of the output may be one of the input, which is checked where the matrices have no
/// gaps.
///
/// Nothing is read before the first element and behind the last one; what lies in gaps between them may be.
///
/// Batches of matrices of up to 32,760 bytes, and long, thin matrices are moved by a table that the host
/// makes for their size and where pointers lie in words: up to some milliseconds (without the compiler's
/// optimisation ten times that) in the first call of a thread, which keeps the last 32.
///
/// Inputs of 128 MiB and more are read with the L2 priority "evict last", most of which is taken back before
/// the end; in place those of 384 MiB whose rows are aligned, and others from 96 or 192 MiB on, which lose it
/// as they are written (docs/performance.md). The first of 128 MiB on a device asks the driver for the
/// memory's clock, which takes about half a millisecond.
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
