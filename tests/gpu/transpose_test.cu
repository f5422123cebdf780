// Tests of include/lanescope/kernels/transpose.cuh on a GPU, or on the engine:
//
//   nvcc -std=c++20 -arch=sm_90 -Iinclude -o transpose_test tests/gpu/transpose_test.cu
//   ./transpose_test                        on a GPU; `all` as argument: all sizes, 35,000 cases
//   lanescope run -- ./transpose_test       without one
//
// Exit status 0 and a line with the number of cases, or 1 and what was wrong.
//
// Every case has buffers of its own that are exactly as long as the matrices reach. Of the input only what
// may be read is written (the elements; of batches of small matrices gaps between them, too), so that a
// checker of uninitialised memory sees all other reads; what lies between and behind the elements of the
// output is filled with a pattern that must still be there afterwards.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "failures.cuh"
#include "lanescope/kernels/transpose.cuh"

namespace {

using lanescope::kernels::Status;
using lanescope::kernels::transpose;
using lanescope::kernels::TransposeShape;

int cases = 0;

void fail(const std::string& what, const std::string& why) { ::fail(what + ": " + why); }

/// A device buffer that ends with the last element.
struct Buffer {
  explicit Buffer(size_t bytes) {
    must(cudaMalloc(reinterpret_cast<void**>(&data), std::max<size_t>(bytes, 1)), "cudaMalloc");
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data); }
  unsigned char* data = nullptr;
};

/// `bytes` bytes that are aligned to them: what the library moves.
template <int bytes>
struct alignas(bytes) Element {
  unsigned char byte[bytes];
};

/// Where the matrices of one side lie, all values filled in.
struct Side {
  int64_t rows, columns, leading, stride;
  int64_t first;  ///< elements before the first one
  [[nodiscard]] int64_t at(int64_t matrix, int64_t row, int64_t column) const {
    return first + matrix * stride + row * leading + column;
  }
};

struct Variation {
  int64_t in_padding = 0, out_padding = 0;  ///< elements after each row
  int64_t in_gap = 0, out_gap = 0;          ///< elements after each matrix
  int64_t in_first = 0, out_first = 0;      ///< elements before the first matrix
  bool defaults = false;                    ///< leading dimensions and strides are left to the library
};

/// Which kernel a case goes to: the one that the library chooses, or the one that gathers vectors, whose
/// blocks have so many bytes of shared memory (the library takes it for large matrices only).
struct Kernel {
  int gathering = 0;
  bool wide = false;
};

template <int bytes>
Status run(Element<bytes>* out, const Element<bytes>* in, const TransposeShape& shape, const Kernel& kernel) {
  if constexpr (bytes <= 4) {
    if (kernel.gathering != 0) {
      namespace kernels = lanescope::kernels::transposing;
      using Word = kernels::Word<bytes>;
      const auto device = kernels::current_device();
      if (!device) return {cudaErrorInvalidDevice, "no device"};
      const auto columns = static_cast<int>(shape.columns), rows = static_cast<int>(shape.rows);
      const auto job =
          kernels::job_of<bytes>(reinterpret_cast<Word*>(out), reinterpret_cast<const Word*>(in), shape);
      const auto of = kernel.wide
                          ? kernels::wide_gathering(bytes, rows, columns, kernel.gathering, kernel.gathering)
                          : kernels::tall_gathering(bytes, columns, kernel.gathering);
      if (!of) return {cudaErrorInvalidValue, "shared memory does not suffice for gathering"};
      return kernel.wide ? kernels::launch_gathering<bytes, true>(job, *of, *device, shape.batch, nullptr)
                         : kernels::launch_gathering<bytes, false>(job, *of, *device, shape.batch, nullptr);
    }
  }
  return transpose(out, in, shape);
}

unsigned char pattern(size_t i) { return static_cast<unsigned char>(0xA5 ^ (i * 7)); }

template <int bytes>
void check(int64_t rows, int64_t columns, int64_t batch, const Variation& v, bool in_place,
           const Kernel& kernel = {}) {
  using T = Element<bytes>;
  ++cases;
  const Side in{rows, columns, columns + v.in_padding, rows * (columns + v.in_padding) + v.in_gap,
                v.in_first};
  const Side out = in_place ? in
                            : Side{columns, rows, rows + v.out_padding,
                                   columns * (rows + v.out_padding) + v.out_gap, v.out_first};
  const auto end = [&](const Side& s) {
    return rows && columns && batch ? s.at(batch - 1, s.rows - 1, s.columns - 1) + 1 : s.first;
  };
  char name[256];
  std::snprintf(name, sizeof name,
                "%lld x %lld of %d bytes, batch %lld, leading %lld and %lld, first %lld and %lld%s%s",
                static_cast<long long>(rows), static_cast<long long>(columns), bytes,
                static_cast<long long>(batch), static_cast<long long>(in.leading),
                static_cast<long long>(out.leading), static_cast<long long>(in.first),
                static_cast<long long>(out.first), in_place ? ", in place" : "",
                kernel.gathering == 0 ? ""
                : kernel.wide         ? ", gathered, wide"
                                      : ", gathered, tall");

  static std::mt19937_64 random(7);
  std::vector<T> source(static_cast<size_t>(end(in)));
  for (size_t i = 0; i < source.size() * bytes; ++i)
    reinterpret_cast<unsigned char*>(source.data())[i] = static_cast<unsigned char>(random());
  std::vector<T> result(static_cast<size_t>(end(out)));
  for (size_t i = 0; i < result.size() * bytes; ++i)
    reinterpret_cast<unsigned char*>(result.data())[i] = pattern(i);
  if (in_place) result = source;
  std::vector<T> expected = result;
  for (int64_t m = 0; m < batch; ++m)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        expected[static_cast<size_t>(out.at(m, j, i))] = source[static_cast<size_t>(in.at(m, i, j))];

  const Buffer to(result.size() * bytes), from(in_place ? 0 : source.size() * bytes);
  must(cudaMemcpy(to.data, result.data(), result.size() * bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  const size_t row_bytes = static_cast<size_t>(columns) * bytes;
  // What may not be read stays uninitialised, for initcheck: gaps, too, but for those of small matrices and
  // of pieces of thin ones.
  namespace kernels = lanescope::kernels::transposing;
  constexpr kernels::PieceLimits pieces = kernels::Tiles<bytes>::pieces;
  const bool gaps_read = (batch > 1 && rows * columns * bytes <= kernels::small_matrix_bytes) ||
                         (columns < rows && columns <= pieces.tall) ||
                         (rows < columns && rows <= pieces.wide);
  if (!in_place && gaps_read && row_bytes && rows)
    must(cudaMemcpy(from.data + in.first * bytes, source.data() + in.first,
                    static_cast<size_t>(end(in) - in.first) * bytes, cudaMemcpyHostToDevice),
         "cudaMemcpy");
  else if (!in_place && row_bytes && rows)
    for (int64_t m = 0; m < batch; ++m) {
      const auto first = static_cast<size_t>(in.at(m, 0, 0)), pitch = static_cast<size_t>(in.leading) * bytes;
      must(cudaMemcpy2D(from.data + first * bytes, pitch, source.data() + first, pitch, row_bytes,
                        static_cast<size_t>(rows), cudaMemcpyHostToDevice),
           "cudaMemcpy2D");
    }

  TransposeShape shape{.rows = rows, .columns = columns, .batch = batch};
  if (!v.defaults || kernel.gathering != 0) {
    shape.in_leading = in.leading;
    shape.out_leading = out.leading;
    shape.in_stride = in.stride;
    shape.out_stride = out.stride;
  }
  T* const target = reinterpret_cast<T*>(to.data) + out.first;
  const T* const origin = in_place ? target : reinterpret_cast<const T*>(from.data) + in.first;
  const Status status = run(target, origin, shape, kernel);
  if (!status) return fail(name, status.message);
  must(cudaDeviceSynchronize(), name);
  must(cudaMemcpy(result.data(), to.data, result.size() * bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (size_t i = 0; i < result.size(); ++i)
    if (std::memcmp(&result[i], &expected[i], bytes) != 0)
      return fail(name, "element " + std::to_string(i) + " of the output's buffer is wrong");
}

template <int bytes>
void check_sizes(bool quick) {
  const std::vector<int64_t> all{1,  2,  3,  4,  5,  7,  8,  9,  12, 15,  16,  17,  23,  31,  32,  33,  40,
                                 47, 48, 49, 63, 64, 65, 66, 70, 96, 127, 128, 129, 130, 255, 256, 257, 300};
  const std::vector<int64_t> few{1, 3, 16, 17, 33, 64, 70, 129};
  const std::vector<int64_t>& sizes = quick ? few : all;
  int turn = 0;
  for (const int64_t rows : sizes)
    for (const int64_t columns : sizes) {
      // A vector of 16 bytes holds `step` elements: paddings that keep rows aligned, and others.
      const int64_t step = std::max(1, 16 / bytes);
      const Variation variations[] = {
          {.defaults = true},
          {.in_padding = 1, .out_padding = 2},
          {.in_padding = (step - columns % step) % step, .out_padding = (step - rows % step) % step + step},
          {.in_first = 1},
          {.out_first = 1},
          {.in_padding = 3, .out_padding = 1, .in_first = 3, .out_first = 2},
      };
      const auto count = static_cast<int>(std::size(variations));
      for (int i = 0; i < (quick ? 2 : count); ++i)
        check<bytes>(rows, columns, 1, variations[quick ? (turn++ % count) : i], false);
      if (rows == columns) {
        check<bytes>(rows, rows, 1, {.defaults = true}, true);
        check<bytes>(rows, rows, 1, {.in_padding = 3, .in_first = 1}, true);
        check<bytes>(rows, rows, 1, {.in_padding = (step - rows % step) % step + step}, true);
      }
    }

  struct Batch {
    int64_t rows, columns, batch;
  };
  for (const Batch& b :
       {Batch{1, 1, 70}, {2, 3, 40},   {16, 16, 9},  {17, 33, 11}, {32, 32, 5},   {33, 17, 3},
        {64, 64, 3},     {5, 100, 7},  {100, 5, 7},  {70, 70, 2},  {100, 100, 3}, {12, 20, 9},
        {6, 10, 31},     {8, 36, 30},  {8, 8, 1000}, {3, 4, 500},  {45, 47, 9},   {151, 153, 5},
        {1001, 2, 20},   {2, 1001, 9}, {520, 4, 6},  {280, 7, 5},  {13, 40, 20}}) {
    const int64_t step = std::max(1, 16 / bytes);
    check<bytes>(b.rows, b.columns, b.batch, {.defaults = true}, false);
    check<bytes>(b.rows, b.columns, b.batch, {.in_gap = 3, .out_gap = 1}, false);
    check<bytes>(b.rows, b.columns, b.batch, {.in_gap = step, .out_gap = step * 2}, false);
    check<bytes>(b.rows, b.columns, b.batch, {.in_first = 1, .out_first = 3, .defaults = true}, false);
    check<bytes>(b.rows, b.columns, b.batch, {.in_padding = 1, .out_padding = 2, .in_gap = 1}, false);
    check<bytes>(b.rows, b.columns, b.batch, {.in_padding = 1, .out_gap = 2 * step, .out_first = 2}, false);
    // Lines that lie apart, in shared memory less.
    const int64_t apart = 160 / bytes;
    check<bytes>(b.rows, b.columns, b.batch, {.in_padding = apart, .out_padding = apart}, false);
    check<bytes>(
        b.rows, b.columns, b.batch,
        {.in_padding = apart + 1, .out_padding = apart + 3, .in_gap = 1, .out_gap = 5, .in_first = 1}, false);
    if (b.rows != b.columns) continue;
    for (const Variation& v : {Variation{.defaults = true},
                               {.in_first = 1, .defaults = true},
                               {.in_gap = 3},
                               {.in_padding = 1},
                               {.in_padding = 1, .in_gap = 2, .in_first = 3},
                               {.in_padding = apart},
                               {.in_gap = step}})
      check<bytes>(b.rows, b.rows, b.batch, v, true);
  }
  // Long, thin matrices; gaps and beginnings on the long side; batches that begin at all bytes of a word.
  for (const int64_t thin : {1, 2, 3, 4, 7, 16, 31, 47, 100, 200})
    for (const bool tall : {false, true}) {
      if (quick && (thin * bytes > 512 || thin == 7 || thin == 16 || thin == 47)) continue;
      const int64_t along = quick ? 20000 / thin / bytes + 40 : 100003 / thin;
      const int64_t rows = tall ? along : thin, columns = tall ? thin : along;
      const auto gaps = [&](Variation v, int64_t padding) {
        (tall ? v.out_padding : v.in_padding) = padding;
        return v;
      };
      const Variation variations[] = {{.defaults = true},
                                      gaps({}, (16 - along % 16) % 16 + 32),
                                      gaps({.in_first = 1, .out_first = 3}, 1),
                                      gaps({.in_gap = 1, .out_gap = 2}, 1),
                                      gaps({.in_first = 3, .out_first = 1}, 2)};
      const auto count = static_cast<int>(std::size(variations));
      for (int i = 0; i < (quick ? 2 : count); ++i) {
        const int variation = quick ? turn++ % count : i;
        check<bytes>(rows, columns, variation < 3 ? 1 : quick ? 3 : 9, variations[variation], false);
      }
    }
  // Thin matrices with gaps between short lines: fields of structs, one of them, several matrices.
  for (const int64_t thin : {1, 3, 4, 13, 50})
    for (const bool tall : {false, true}) {
      if (quick && thin > 3) continue;
      const auto with = [&](int64_t padding, int64_t others, int64_t first, int64_t batch, int64_t more) {
        const int64_t copied = std::min(padding, 32 / int64_t{bytes}) + thin;
        const int64_t along = std::max<int64_t>(more, 17 * (10240 / bytes / copied + 128 / bytes)) + 5;
        Variation v{.in_first = first, .out_first = first};
        (tall ? v.in_padding : v.out_padding) = padding;
        (tall ? v.out_padding : v.in_padding) = others;
        check<bytes>(tall ? along : thin, tall ? thin : along, batch, v, false);
      };
      with(1, 0, 0, 1, 0);
      with(thin + 3, 2, 1, 1, 0);
      if (quick) continue;
      with(2, 7, 0, 1, 0);
      with(160 / bytes, 0, 3, 1, 0);
      if (thin == 3) with(1, 3, 1, 3, (int64_t{4} << 20) / bytes / thin);
    }
  // What tiles leave at the ends of rows, beside two and more whole ones; between rows, and at their ends.
  for (const int64_t columns : {250, 61, 249, 251, 253, 268, 288, 505, 506, 507, 509, 524})
    for (const int64_t rows : {45, 1201, 35, 199, 321}) {
      if (quick && (columns > 250 || columns == 249 || (rows != 45 && rows != 1201))) continue;
      check<bytes>(rows, columns, 1, {.defaults = true}, false);
      if (quick) continue;
      check<bytes>(rows, columns, 3, {.in_first = 1, .out_first = 3, .defaults = true}, false);
      check<bytes>(rows, columns, 1, {.in_padding = 1, .out_first = 1}, false);
    }
  // Enough aligned matrices for the large tiles.
  const auto padding = [](int64_t n) { return (32 - n * bytes % 32) % 32 / bytes; };
  check<bytes>(5, 7, 513, {.in_padding = padding(7), .out_padding = padding(5)}, false);
  check<bytes>(131, 67, 32, {.in_padding = padding(67), .out_padding = padding(131)}, false);
  check<bytes>(37, 37, 257, {.in_padding = padding(37)}, true);
  if (quick) return;
  check<bytes>(131, 300, 520, {.in_padding = padding(300), .out_padding = padding(131)}, false);
  check<bytes>(1, 100003, 1, {.defaults = true}, false);
  check<bytes>(100003, 1, 1, {.defaults = true}, false);
  check<bytes>(3, 50021, 1, {.defaults = true}, false);
  check<bytes>(50021, 3, 1, {.out_padding = 5}, false);
  check<bytes>(1023, 1025, 1, {.defaults = true}, false);
  check<bytes>(1024, 2048, 1, {.defaults = true}, false);
  check<bytes>(1000, 1000, 1, {.defaults = true}, true);
  check<bytes>(600, 600, 50, {.in_padding = padding(600)}, true);
  check<bytes>(301, 301, 100, {.in_padding = padding(301)}, true);
  // Large tiles in place, and of 4 and 16 bytes read with the L2 policy "evict last".
  const int64_t large = bytes == 1   ? 11680
                        : bytes == 2 ? 5064
                        : bytes == 4 ? 10068
                        : bytes == 8 ? 2510
                                     : 5021;
  check<bytes>(large, large, 1, {.in_padding = padding(large) + 32 / bytes}, true);
  // So large that the priorities of its lines in the L2 cache are changed.
  if constexpr (bytes == 16) {
    check<bytes>(3000, 2998, 1, {.defaults = true}, false);
    check<bytes>(2999, 3001, 1, {.defaults = true}, false);
  }
  if constexpr (bytes == 2) check<bytes>(8193, 8191, 1, {.defaults = true}, false);
  // So tall that tiles are taken across first.
  if constexpr (bytes == 1) check<bytes>(60001, 257, 1, {.defaults = true}, false);
  if constexpr (bytes == 4) check<bytes>(28928, 136, 1, {.defaults = true}, false);
  if constexpr (bytes == 4) check<bytes>(28901, 131, 1, {.defaults = true}, false);
  if constexpr (bytes == 16) check<bytes>(28901, 35, 1, {.defaults = true}, false);
  check<bytes>(4, 4, 70000, {.defaults = true}, false);
  check<bytes>(3, 3, 70000, {.in_padding = 1, .out_padding = 1}, false);
  check<bytes>(3, 3, 70000, {.in_padding = 1}, true);
}

/// Vectors gathered from rows of all pitches modulo 64 bytes, into blocks that have all rows and all columns,
/// and parts of one of both; one matrix, and batches whose matrices begin anywhere.
template <int bytes>
void check_gathering(bool quick) {
  const std::vector<int64_t> all{8, 12, 17, 31, 32, 33, 40, 48, 63, 64, 80, 96, 127, 128, 130, 160, 257};
  const std::vector<int64_t> few{17, 32, 48, 66};
  int turn = 0;
  for (const int64_t thin : quick ? few : all)
    for (const bool wide : {false, true}) {
      const int64_t step = 16 / bytes;
      // Along the other side: all of a block's shared memory, half of it, more than one block's.
      const int shared = thin > 127 ? 64000 : 24000;
      const int64_t block = shared / 2 / thin / bytes;
      for (const int64_t along : {block / 2, block + 7, 3 * block / step * step, 2 * block + 5}) {
        const int64_t rows = wide ? thin : along, columns = wide ? along : thin;
        if (wide && rows * bytes < 32) continue;
        const Variation variations[] = {{},
                                        {.in_first = 1, .out_first = 3},
                                        {.in_gap = 1, .out_gap = 2, .in_first = 2},
                                        {.out_padding = wide ? 0 : 3, .in_gap = 3, .out_first = 1}};
        const auto count = static_cast<int>(std::size(variations));
        for (int i = 0; i < (quick ? 1 : count); ++i) {
          const int variation = quick ? turn++ % count : i;
          const int64_t batch = variation < 2 ? 1 : 3;
          check<bytes>(rows, columns, batch, variations[variation], false, {shared, wide});
        }
      }
    }
  if (quick) return;
  // As the library takes it, with lines whose priorities in the L2 cache are changed; and batches.
  check<bytes>(135000001 / 31 / bytes, 31, 1, {.defaults = true}, false);
  check<bytes>(250 / bytes, 135000000 / 250, 1, {.in_first = 1, .defaults = true}, false);
  check<bytes>(190, 260 / bytes, 600, {.in_first = 1, .defaults = true}, false);
  check<bytes>(260 / bytes, 400, 300, {.out_first = 1, .defaults = true}, false);
  // Output rows that begin at the same place of 2 MiB: gathered, and by tiles.
  check<bytes>((2 << 20) / bytes + 3, bytes == 4 ? 127 : 70, 1, {.in_first = 1, .defaults = true}, false);
}

/// Batches in place whose blocks hold whole matrices: gathered by name, and, above 24 MiB, as the library
/// takes it.
template <int bytes>
void check_gathered_batches_in_place(bool quick) {
  const Variation variations[] = {{.defaults = true}, {.in_gap = 3, .in_first = 1}};
  for (const Variation& v : variations) {
    for (const int64_t n : {33, 48, 64, 71, 100}) check<bytes>(n, n, 3, v, true, {64000, true});
    if (quick) continue;
    const int64_t n = bytes == 1 ? 200 : bytes == 2 ? 144 : 100;
    for (const int64_t side : {n, n + 3}) check<bytes>(side, side, (26 << 20) / (n * n * bytes), v, true);
  }
}

/// Square matrices of which tiles are gathered in place: so many that there are enough pairs of tiles, of
/// which some lie in the matrix as a whole.
template <int bytes>
void check_gathering_in_place(bool quick) {
  struct Batch {
    int64_t n, batch;
  };
  const int64_t vector = 16 / bytes;
  for (const Batch& b : {Batch{7, 150}, {50, 160}, {97, 75}, {145, 60}, {193, 60}, {250, 60}, {390, 30}}) {
    if (quick && b.n != 50 && b.n != 145) continue;
    const int64_t to_vector = (vector - b.n % vector) % vector;
    check<bytes>(b.n, b.n, b.batch, {.defaults = true}, true);
    check<bytes>(b.n, b.n, b.batch, {.in_padding = 1, .in_gap = 3, .in_first = 1}, true);
    check<bytes>(b.n, b.n, b.batch, {.in_padding = to_vector, .in_first = 3}, true);
    if (quick) continue;
    check<bytes>(b.n, b.n, b.batch, {.in_padding = 2, .in_gap = 1}, true);
    check<bytes>(b.n, b.n, b.batch, {.in_padding = to_vector + vector, .in_gap = 1}, true);
  }
  if (quick) return;
  check<bytes>(3001, 3001, 1, {.in_first = 1, .defaults = true}, true);
  // Read with the L2 policy "evict last"; rows at 16 bytes that are not sectors.
  const auto [kept, vectors] = bytes == 1   ? std::pair{14191, 10064}
                               : bytes == 2 ? std::pair{10037, 7112}
                                            : std::pair{7097, 5020};
  for (const int64_t n : {kept, vectors}) check<bytes>(n, n, 1, {.defaults = true}, true);
}

/// Matrices that stand beside each other in the rows of one large one.
void check_interleaved(int64_t rows, int64_t columns, bool in_place) {
  ++cases;
  constexpr int64_t batch = 4;
  const std::string what = in_place ? "matrices beside each other, in place" : "matrices beside each other";
  std::vector<float> source(static_cast<size_t>(rows * columns * batch)), result(source.size());
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i);
  const Buffer from(source.size() * 4), to(source.size() * 4);
  must(cudaMemcpy(from.data, source.data(), source.size() * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
  const TransposeShape shape{.rows = rows,
                             .columns = columns,
                             .batch = batch,
                             .in_leading = columns * batch,
                             .out_leading = rows * batch,
                             .in_stride = columns,
                             .out_stride = rows};
  unsigned char* const target = in_place ? from.data : to.data;
  const Status status =
      transpose(reinterpret_cast<float*>(target), reinterpret_cast<float*>(from.data), shape);
  if (!status) return fail(what, status.message);
  must(cudaMemcpy(result.data(), target, result.size() * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (int64_t m = 0; m < batch; ++m)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        if (result[static_cast<size_t>(m * rows + j * rows * batch + i)] !=
            source[static_cast<size_t>(m * columns + i * columns * batch + j)])
          return fail(what, "an element is wrong");
}

void expect_error(const char* what, const Status& status, const char* words) {
  ++cases;
  if (status)
    fail(what, "no error");
  else if (status.error != cudaErrorInvalidValue || std::strstr(status.message, words) == nullptr)
    fail(what, std::string("the message is: ") + status.message);
}

void expect_success(const char* what, const Status& status) {
  ++cases;
  if (!status) fail(what, status.message);
}

void check_errors() {
  const Buffer a(4096), b(4096);
  must(cudaMemset(a.data, 1, 4096), "cudaMemset");
  must(cudaMemset(b.data, 1, 4096), "cudaMemset");
  auto* const out = reinterpret_cast<float*>(a.data);
  auto* const in = reinterpret_cast<float*>(b.data);
  expect_error("negative rows", transpose(out, in, {.rows = -1, .columns = 4}), "rows is negative");
  expect_error("negative columns", transpose(out, in, {.rows = 4, .columns = -4}), "columns is negative");
  expect_error("negative batch", transpose(out, in, {.rows = 4, .columns = 4, .batch = -1}),
               "batch is negative");
  expect_error("no output", transpose<float>(nullptr, in, {.rows = 4, .columns = 4}), "out is null");
  expect_error("no input", transpose<float>(out, nullptr, {.rows = 4, .columns = 4}), "in is null");
  expect_error("short rows", transpose(out, in, {.rows = 4, .columns = 4, .in_leading = 3}),
               "in_leading is less");
  expect_error("short rows of the output", transpose(out, in, {.rows = 4, .columns = 4, .out_leading = 3}),
               "out_leading is less");
  expect_error("matrices in each other",
               transpose(out, in, {.rows = 4, .columns = 4, .batch = 2, .out_stride = 15}), "out_stride");
  expect_error("negative stride", transpose(out, in, {.rows = 4, .columns = 4, .batch = 2, .in_stride = -16}),
               "in_stride is negative");
  expect_error("too large", transpose(out, in, {.rows = int64_t{1} << 40, .columns = int64_t{1} << 40}),
               "address");
  expect_error("not aligned", transpose(reinterpret_cast<float*>(a.data + 2), in, {.rows = 4, .columns = 4}),
               "out is not aligned");
  expect_error("input not aligned",
               transpose(out, reinterpret_cast<float*>(b.data + 1), {.rows = 4, .columns = 4}),
               "in is not aligned");
  expect_error("in place, not square", transpose(out, out, {.rows = 4, .columns = 5}), "square");
  expect_error("in place, two leading dimensions",
               transpose(out, out, {.rows = 4, .columns = 4, .in_leading = 4, .out_leading = 5}), "leading");
  expect_error("overlap", transpose(out + 8, out, {.rows = 4, .columns = 4}), "overlap");
  expect_success("no rows", transpose<float>(nullptr, nullptr, {.rows = 0, .columns = 4}));
  expect_success("no columns", transpose<float>(nullptr, nullptr, {.rows = 4, .columns = 0}));
  expect_success("no matrix", transpose<float>(nullptr, nullptr, {.rows = 4, .columns = 4, .batch = 0}));
  expect_success("side by side", transpose(out + 16, out, {.rows = 4, .columns = 4}));
  must(cudaDeviceSynchronize(), "after wrong arguments");
}

/// The work waits for what stands before it in its stream.
void check_stream() {
  ++cases;
  constexpr int64_t rows = 300, columns = 200;
  constexpr size_t bytes = rows * columns * sizeof(float);
  float *pinned = nullptr, *back = nullptr;
  must(cudaMallocHost(reinterpret_cast<void**>(&pinned), bytes), "cudaMallocHost");
  must(cudaMallocHost(reinterpret_cast<void**>(&back), bytes), "cudaMallocHost");
  for (int64_t i = 0; i < rows * columns; ++i) pinned[i] = static_cast<float>(i);
  const Buffer from(bytes), to(bytes);
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  must(cudaMemcpyAsync(from.data, pinned, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  const Status status = transpose(reinterpret_cast<float*>(to.data), reinterpret_cast<float*>(from.data),
                                  {.rows = rows, .columns = columns}, stream);
  if (!status) fail("in a stream", status.message);
  must(cudaMemcpyAsync(back, to.data, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  for (int64_t i = 0; i < rows * columns; ++i)
    if (back[i % columns * rows + i / columns] != pinned[i]) {
      fail("in a stream", "an element is wrong");
      break;
    }
  cudaStreamDestroy(stream);
  cudaFreeHost(pinned);
  cudaFreeHost(back);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc == 1;
  if (argc > 2 || (!quick && std::strcmp(argv[1], "all") != 0)) {
    std::printf("usage: transpose_test [all]\n");
    return 2;
  }
  check_sizes<1>(quick);
  check_sizes<2>(quick);
  check_sizes<4>(quick);
  check_sizes<8>(quick);
  check_sizes<16>(quick);
  check_gathering<1>(quick);
  check_gathering<2>(quick);
  check_gathering<4>(quick);
  check_gathered_batches_in_place<1>(quick);
  check_gathered_batches_in_place<2>(quick);
  check_gathered_batches_in_place<4>(quick);
  check_gathering_in_place<1>(quick);
  check_gathering_in_place<2>(quick);
  check_gathering_in_place<4>(quick);
  if (!quick) check<8>((2 << 20) / 8 + 3, 70, 1, {.in_first = 1, .defaults = true}, false);
  check_interleaved(5, 9, false);
  for (const int64_t n : {5, 8, 33}) check_interleaved(n, n, true);
  check_stream();
  check_errors();
  std::printf("transpose: %d cases, %d failed\n", cases, failures);
  return failures == 0 ? 0 : 1;
}
