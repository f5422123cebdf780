// Transposes on a GPU: the steps of kernels/transpose.cu at the published sizes, the library's transpose
// (include/lanescope/kernels/transpose.cuh), cuBLAS, and a copy from device to device, in one process, in
// turns.
//
//   bench/gpu/transpose [suite] [sizes] [batches] [smaller=K] [repeats=N]
//
// Without a part named, all three:
//
//   suite    8192² and 16384² floats: time, bandwidth, share of the copy, speed-up over the naive kernel, and
//            the wavefronts of shared memory that the model (lanescope/model, asked here for each access of
//            the source) predicts for the whole matrix; cuBLAS's geam where libcublas.so can be opened
//   sizes    the library for elements of 1 to 16 bytes: square, rectangular and odd sizes, thin matrices,
//            fields of structs, and in place
//   batches  the library for batches of small matrices, without gaps and with
//
// A time is that of four calls behind one that is not timed, divided by four, so that each call finds the
// caches as the same call left them; given are medians. Inputs are random, results are checked; a wrong one
// makes the exit status 1. `smaller=K` divides all sizes by 2^K (batches: the number of matrices),
// `repeats=N` times each N times: for a run on Lanescope's engine.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "bench/gpu/bench.cuh"
#include "kernels/transpose.cu"
#include "lanescope/kernels/transpose.cuh"

namespace {

using namespace bench;
namespace model = lanescope::model;

struct Shape {
  int64_t rows, columns, batch = 1;
};

/// Random finite floats, or their bytes.
__global__ void fill(uint32_t* out, size_t n) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += size_t{gridDim.x} * blockDim.x)
    out[i] = (random_bits(i, 77) & 0xbfffffffu) | 1;  // exponents below 128, no zero
}

/// Counts the elements that are not where they belong: `transposed`, or where they were.
template <class Word>
__global__ void count_wrong(const Word* out, const Word* in, Shape shape, bool transposed,
                            unsigned long long* wrong) {
  const int64_t size = shape.rows * shape.columns, n = size * shape.batch;
  for (int64_t e = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; e < n;
       e += int64_t{gridDim.x} * blockDim.x) {
    const int64_t matrix = e / size, column = e % size / shape.rows, row = e % shape.rows;
    const Word a = out[e], b = in[transposed ? matrix * size + row * shape.columns + column : e];
    const auto* x = reinterpret_cast<const unsigned char*>(&a);
    const auto* y = reinterpret_cast<const unsigned char*>(&b);
    for (size_t i = 0; i < sizeof(Word); ++i)
      if (x[i] != y[i]) {
        atomicAdd(wrong, 1ULL);
        break;
      }
  }
}

struct Buffers {
  unsigned char *in = nullptr, *out = nullptr;
  size_t bytes;
  explicit Buffers(size_t size) : bytes(size) {
    must(cudaMalloc(reinterpret_cast<void**>(&in), bytes));
    must(cudaMalloc(reinterpret_cast<void**>(&out), bytes));
    fill<<<1024, 256>>>(reinterpret_cast<uint32_t*>(in), bytes / 4);
    must(cudaGetLastError());
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    cudaFree(in);
    cudaFree(out);
  }
};

template <int bytes>
unsigned long long wrong_elements(const Buffers& buffers, const Shape& shape, bool transposed) {
  using Word = lanescope::kernels::transposing::Word<bytes>;
  unsigned long long *count = nullptr, result = 0;
  must(cudaMalloc(reinterpret_cast<void**>(&count), sizeof *count));
  must(cudaMemset(count, 0, sizeof *count));
  count_wrong<<<1024, 256>>>(reinterpret_cast<const Word*>(buffers.out),
                             reinterpret_cast<const Word*>(buffers.in), shape, transposed, count);
  must(cudaMemcpy(&result, count, sizeof result, cudaMemcpyDeviceToHost));
  must(cudaFree(count));
  return result;
}

// ---- Candidates and their times.

enum class Result { transposed, copied, unchecked };

struct Candidate {
  std::string name;
  std::function<void()> run;
  Result result = Result::transposed;
  double wavefronts = -1;  ///< predicted; -1: not said
  float median = 0;        ///< milliseconds
};

/// Runs candidates in turns.
template <int bytes>
void measure(std::vector<Candidate>& candidates, const Buffers& buffers, const Shape& shape,
             int usual_repeats) {
  constexpr int calls = 4;
  const auto size = static_cast<size_t>(shape.rows * shape.columns * shape.batch) * bytes;
  if (size > buffers.bytes) give_up("the matrices are larger than the buffers");
  for (const Candidate& c : candidates) {
    if (c.result == Result::unchecked) continue;
    must(cudaMemset(buffers.out, 0, size));
    c.run();
    must(cudaDeviceSynchronize());
    if (const auto wrong = wrong_elements<bytes>(buffers, shape, c.result == Result::transposed)) {
      std::printf("WRONG: %s, %llu elements\n", c.name.c_str(), wrong);
      ++failures;
    }
  }
  const std::vector<float> times = medians(
      candidates.size(), 0, repeats > 0 ? repeats : usual_repeats,
      [&](size_t k, int) { candidates[k].run(); },
      [&](size_t k, int) {
        for (int call = 0; call < calls; ++call) candidates[k].run();
      });
  for (size_t k = 0; k < candidates.size(); ++k) candidates[k].median = times[k] / calls;
}

Candidate copy_of(const Buffers& buffers, size_t bytes) {
  return {
      "copy from device to device",
      [&buffers, bytes] { must(cudaMemcpyAsync(buffers.out, buffers.in, bytes, cudaMemcpyDeviceToDevice)); },
      Result::copied, 0};
}

template <int bytes>
Candidate library(const Buffers& buffers, const Shape& shape) {
  using Word = lanescope::kernels::transposing::Word<bytes>;
  return {"lanescope::kernels::transpose", [&buffers, shape] {
            must(lanescope::kernels::transpose(
                reinterpret_cast<Word*>(buffers.out), reinterpret_cast<const Word*>(buffers.in),
                {.rows = shape.rows, .columns = shape.columns, .batch = shape.batch}));
          }};
}

// ---- Wavefronts, by the model.

/// Of a block of the reference kernels: 32 warps' rows are stored into tile[32][pitch], and its columns (or
/// rows) are loaded. `swizzled`: column xor row.
double reference_block(int pitch, bool columns, bool swizzled) {
  uint64_t wavefronts = 0;
  const auto place = [&](int row, int column) {
    return (row * pitch + (swizzled ? column ^ row : column)) * 4;
  };
  for (int i = 0; i < 32; ++i) {
    wavefronts += wavefronts_of(model::Op::store, 4, [&](int lane) { return place(i, lane); });
    wavefronts += wavefronts_of(model::Op::load, 4,
                                [&](int lane) { return columns ? place(lane, i) : place(i, lane); });
  }
  return static_cast<double>(wavefronts);
}

/// Of the library's tiles for floats whose rows are aligned.
double library_block() {
  namespace t = lanescope::kernels::transposing;
  using Tiles = t::Tiles<4>::Lines;
  using Tile = t::AlignedTile<Tiles, t::swizzle_of<Tiles>()>;
  uint64_t wavefronts = 0;
  for (int unit = 0; unit < Tiles::units; unit += 32)
    for (int column = 0; column < Tiles::vector; ++column)
      wavefronts += wavefronts_of(model::Op::store, 16, [&](int lane) {
        return Tile::chunk_offset((unit + lane) % Tiles::across * Tiles::vector + column,
                                  (unit + lane) / Tiles::across);
      });
  for (int chunk = 0; chunk < Tiles::columns * Tiles::chunks; chunk += 32)
    wavefronts += wavefronts_of(model::Op::load, 16, [&](int lane) {
      return Tile::chunk_offset((chunk + lane) / Tiles::chunks, (chunk + lane) % Tiles::chunks);
    });
  return static_cast<double>(wavefronts);
}

// ---- cuBLAS, where it is installed.

using Geam = int (*)(void*, int, int, int, int, const float*, const float*, int, const float*, const float*,
                     int, float*, int);
struct Cublas {
  void* handle = nullptr;
  Geam geam = nullptr;
};
Cublas open_cublas() {
  Cublas cublas;
  void* library = nullptr;
  for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
    if (library == nullptr) library = dlopen(name, RTLD_NOW);
  if (library == nullptr) {
    std::printf("geam is left out: %s\n", dlerror());
    return cublas;
  }
  const auto create = reinterpret_cast<int (*)(void**)>(dlsym(library, "cublasCreate_v2"));
  cublas.geam = reinterpret_cast<Geam>(dlsym(library, "cublasSgeam"));
  if (create == nullptr || cublas.geam == nullptr || create(&cublas.handle) != 0) {
    std::printf("geam is left out: libcublas could not be started\n");
    cublas.geam = nullptr;
  }
  return cublas;
}

// ---- The parts.

void suite(const Buffers& buffers) {
  const Cublas cublas = open_cublas();
  const double direct = 0, rows = reference_block(32, false, false),
               tile32 = reference_block(32, true, false), tile33 = reference_block(33, true, false),
               swizzled = reference_block(32, true, true);
  struct Reference {
    const char* name;
    void (*kernel)(float*, const float*, int, int);
    Result result;
    double wavefronts;
  };
  const Reference references[] = {
      {"copy", copy, Result::copied, direct},
      {"copy_shared", copy_shared, Result::copied, rows},
      {"transpose_naive", transpose_naive, Result::transposed, direct},
      {"transpose_tile32", transpose_tile32, Result::transposed, tile32},
      {"transpose_tile33", transpose_tile33, Result::transposed, tile33},
      {"transpose_swizzled", transpose_swizzled, Result::transposed, swizzled},
      {"transpose_fine_grained", transpose_fine_grained, Result::unchecked, tile33},
      {"transpose_coarse_grained", transpose_coarse_grained, Result::unchecked, rows}};
  for (const int64_t published : {8192, 16384}) {
    const int64_t n = published >> smaller;
    const Shape shape{n, n};
    const auto bytes = static_cast<size_t>(n * n) * sizeof(float);
    auto* const out = reinterpret_cast<float*>(buffers.out);
    const auto* const in = reinterpret_cast<const float*>(buffers.in);
    const double tiles = static_cast<double>(n / 32) * static_cast<double>(n / 32);
    std::vector<Candidate> candidates{copy_of(buffers, bytes)};
    for (const Reference& r : references)
      candidates.push_back({r.name,
                            [=] {
                              const dim3 grid(static_cast<unsigned>(n / 32), static_cast<unsigned>(n / 32));
                              r.kernel<<<grid, dim3(32, 8)>>>(out, in, static_cast<int>(n),
                                                              static_cast<int>(n));
                              must(cudaGetLastError());
                            },
                            r.result, r.wavefronts * tiles});
    const float one = 1, zero = 0;
    if (cublas.geam != nullptr)
      candidates.push_back({"cuBLAS geam", [&cublas, &one, &zero, out, in, n] {
                              const int size = static_cast<int>(n);
                              if (cublas.geam(cublas.handle, 1, 0, size, size, &one, in, size, &zero, out,
                                              size, out, size) != 0)
                                give_up("geam failed");
                            }});
    candidates.push_back(library<4>(buffers, shape));
    using Tiles = lanescope::kernels::transposing::Tiles<4>::Lines;
    candidates.back().wavefronts = library_block() *
                                   static_cast<double>((n + Tiles::rows - 1) / Tiles::rows) *
                                   static_cast<double>((n + Tiles::columns - 1) / Tiles::columns);
    measure<4>(candidates, buffers, shape, 11);

    float naive = 0;
    for (const Candidate& c : candidates)
      if (c.name == "transpose_naive") naive = c.median;
    std::printf("\n%lld x %lld floats; wavefronts of shared memory by the model, for sm_90\n",
                static_cast<long long>(n), static_cast<long long>(n));
    std::printf("%-32s %9s %8s %8s %9s %13s\n", "", "ms", "GB/s", "of copy", "speed-up", "wavefronts");
    for (const Candidate& c : candidates) {
      std::printf("%-32s %9.4f %8.0f %8.3f %9.2f", c.name.c_str(), c.median,
                  2.0 * static_cast<double>(bytes) / c.median / 1e6, candidates[0].median / c.median,
                  naive / c.median);
      if (c.wavefronts >= 0) std::printf(" %13.0f", c.wavefronts);
      std::printf("\n");
    }
  }
}

/// The second candidate beside the copy.
template <int bytes>
void print_line(const Shape& shape, const std::vector<Candidate>& candidates) {
  const auto size = static_cast<size_t>(shape.rows * shape.columns * shape.batch) * bytes;
  std::printf("%2d %7lld x %-7lld %8lld %9.4f %9.4f %8.0f %8.3f\n", bytes, static_cast<long long>(shape.rows),
              static_cast<long long>(shape.columns), static_cast<long long>(shape.batch),
              candidates[0].median, candidates[1].median,
              2.0 * static_cast<double>(size) / candidates[1].median / 1e6,
              candidates[0].median / candidates[1].median);
}
template <int bytes>
void library_line(const Buffers& buffers, const Shape& shape, int usual_repeats) {
  const auto size = static_cast<size_t>(shape.rows * shape.columns * shape.batch) * bytes;
  if (size == 0) return;
  std::vector<Candidate> candidates{copy_of(buffers, size), library<bytes>(buffers, shape)};
  measure<bytes>(candidates, buffers, shape, usual_repeats);
  print_line<bytes>(shape, candidates);
}
void library_title(const char* what) {
  std::printf("\n%s\n%2s %17s %8s %9s %9s %8s %8s\n", what, "B", "matrix", "batch", "copy ms", "ms", "GB/s",
              "of copy");
}

template <int bytes>
void sizes(const Buffers& buffers) {
  // Half as many columns and rows where elements are larger, so that all matrices have about 1 GB.
  const int64_t fewer_rows = bytes == 16 ? 2 : 1, fewer_columns = bytes >= 8 ? 2 : 1;
  for (const Shape& s : {Shape{16384, 16384}, Shape{8192, 8192}, Shape{10000, 30000}, Shape{30000, 10000},
                         Shape{16383, 16385}, Shape{4097, 8191}, Shape{30001, 9999}})
    library_line<bytes>(buffers, {(s.rows >> smaller) / fewer_rows, (s.columns >> smaller) / fewer_columns},
                        7);
}

/// Long, thin matrices of 512 MiB, whose long lines begin at multiples of 32 elements, and anywhere.
template <int bytes>
void thin(const Buffers& buffers) {
  for (const int64_t n : {2, 3, 4, 8, 16, 31, 48})
    for (const int64_t odd : {0, 1}) {
      const int64_t along = ((int64_t{512} << 20) / bytes / n / 32 * 32 >> smaller) - odd;
      library_line<bytes>(buffers, {n, along}, 7);
      library_line<bytes>(buffers, {along, n}, 7);
    }
}

/// Times a call that is not checked here (that is what the tests do), beside a copy of as many bytes.
template <int bytes>
void unchecked_line(const Buffers& buffers, const Shape& shape, std::function<void()> run) {
  const auto size = static_cast<size_t>(shape.rows * shape.columns * shape.batch) * bytes;
  std::vector<Candidate> candidates{copy_of(buffers, size), {"library", std::move(run), Result::unchecked}};
  measure<bytes>(candidates, buffers, shape, 7);
  print_line<bytes>(shape, candidates);
}

/// Some fields of structs of 256 MiB, of which each becomes an array, and the other way round.
template <int bytes>
void fields(const Buffers& buffers) {
  using Word = lanescope::kernels::transposing::Word<bytes>;
  auto* const out = reinterpret_cast<Word*>(buffers.out);
  const auto* const in = reinterpret_cast<const Word*>(buffers.in);
  for (const auto& [some, all] : {std::pair{1, 2}, {1, 4}, {2, 3}, {3, 4}, {7, 8}, {15, 16}})
    for (const bool to_arrays : {true, false}) {
      const int64_t n = (int64_t{256} << 20) / bytes / all >> smaller;
      const Shape shape = to_arrays ? Shape{n, some} : Shape{some, n};
      const lanescope::kernels::TransposeShape with{.rows = shape.rows,
                                                    .columns = shape.columns,
                                                    .in_leading = to_arrays ? all : 0,
                                                    .out_leading = to_arrays ? 0 : all};
      std::printf("%d of %d, %s\n", some, all, to_arrays ? "to arrays" : "to structs");
      unchecked_line<bytes>(buffers, shape, [=] { must(lanescope::kernels::transpose(out, in, with)); });
    }
}

/// 100,000 matrices, and where those may lie in the L2 cache as many as do not.
template <int bytes>
void batches(const Buffers& buffers) {
  constexpr int64_t beyond_cache = 256 << 20;
  for (const auto& [rows, columns] : {std::pair{4, 4},
                                      {8, 8},
                                      {5, 7},
                                      {16, 16},
                                      {17, 33},
                                      {32, 32},
                                      {31, 31},
                                      {48, 48},
                                      {64, 64},
                                      {63, 65},
                                      {100, 100},
                                      {150, 151}}) {
    const int64_t matrix = rows * columns * bytes, most = static_cast<int64_t>(buffers.bytes) / matrix;
    library_line<bytes>(buffers, {rows, columns, std::min<int64_t>(most, 100000) >> smaller}, 7);
    if (matrix * 100000 < beyond_cache)
      library_line<bytes>(buffers, {rows, columns, beyond_cache / matrix >> smaller}, 7);
  }
}

/// Batches of 256 MiB in which an element lies behind each row, of the input or of the output; beside the
/// copy of as many bytes without gaps, CUDA's copy of the same rows (cudaMemcpy2DAsync). Not checked here:
/// what the tests do.
template <int bytes>
void gaps(const Buffers& buffers, bool of_output) {
  using Word = lanescope::kernels::transposing::Word<bytes>;
  auto* const out = reinterpret_cast<Word*>(buffers.out);
  const auto* const in = reinterpret_cast<const Word*>(buffers.in);
  for (const int64_t n : {3, 4, 8, 16, 31, 32}) {
    const Shape shape{n, n, ((int64_t{256} << 20) / (n * n * bytes)) >> smaller};
    const int64_t from = of_output ? n : n + 1, to = of_output ? n + 1 : n;
    std::vector<Candidate> candidates{
        copy_of(buffers, static_cast<size_t>(shape.rows * shape.columns * shape.batch) * bytes)};
    candidates.push_back(
        {"with gaps",
         [=] {
           must(lanescope::kernels::transpose(
               out, in,
               {.rows = n, .columns = n, .batch = shape.batch, .in_leading = from, .out_leading = to}));
         },
         Result::unchecked});
    candidates.push_back({"copy with gaps",
                          [=] {
                            must(cudaMemcpy2DAsync(out, to * bytes, in, from * bytes, n * bytes,
                                                   n * shape.batch, cudaMemcpyDeviceToDevice));
                          },
                          Result::unchecked});
    measure<bytes>(candidates, buffers, shape, 7);
    print_line<bytes>(shape, candidates);
    std::printf("%67s %8.3f\n", "of CUDA's copy with the same gaps",
                candidates[2].median / candidates[1].median);
  }
}

template <int bytes>
void in_place_line(const Buffers& buffers, int64_t n, int64_t batch) {
  using Word = lanescope::kernels::transposing::Word<bytes>;
  auto* const matrix = reinterpret_cast<Word*>(buffers.out);
  unchecked_line<bytes>(buffers, {n, n, batch}, [=] {
    must(lanescope::kernels::transpose(matrix, matrix, {.rows = n, .columns = n, .batch = batch}));
  });
}
/// Large matrices, and batches of 256 MiB.
template <int bytes>
void in_place(const Buffers& buffers) {
  for (const int64_t rows : {16384, 16383})
    in_place_line<bytes>(buffers, (bytes >= 8 ? rows / 2 : rows) >> smaller, 1);
  for (const int64_t n : {4, 8, 16, 31, 32, 64, 100, 150})
    in_place_line<bytes>(buffers, n, (int64_t{256} << 20) / (n * n * bytes) >> smaller);
}

template <class Part>
void for_all_sizes(Part part) {
  part(std::integral_constant<int, 1>{});
  part(std::integral_constant<int, 2>{});
  part(std::integral_constant<int, 4>{});
  part(std::integral_constant<int, 8>{});
  part(std::integral_constant<int, 16>{});
}

}  // namespace

int main(int argc, char** argv) {
  const Parts wanted =
      parts_wanted(argc, argv, {{"suite", "sizes", "batches"}}, "transpose [suite] [sizes] [batches]");
  cudaDeviceProp device;
  must(cudaGetDeviceProperties(&device, 0));
  std::printf("%s\n", device.name);
  const Buffers buffers(((size_t{1} << 30) + (size_t{256} << 20)) >> (smaller > 4 ? 4 : smaller));
  if (wanted("suite")) suite(buffers);
  if (wanted("sizes")) {
    library_title("The library's transpose, sizes");
    for_all_sizes([&](auto bytes) { sizes<bytes()>(buffers); });
    library_title("The library's transpose, thin matrices");
    for_all_sizes([&](auto bytes) { thin<bytes()>(buffers); });
    library_title("The library's transpose, fields of structs");
    for_all_sizes([&](auto bytes) { fields<bytes()>(buffers); });
    library_title("The library's transpose, in place");
    for_all_sizes([&](auto bytes) { in_place<bytes()>(buffers); });
  }
  if (wanted("batches")) {
    library_title("The library's transpose, batches");
    for_all_sizes([&](auto bytes) { batches<bytes()>(buffers); });
    for (const bool of_output : {false, true}) {
      library_title(of_output ? "The library's transpose, batches with gaps in the output"
                              : "The library's transpose, batches with gaps in the input");
      for_all_sizes([&](auto bytes) { gaps<bytes()>(buffers, of_output); });
    }
  }
  return failures == 0 ? 0 : 1;
}
