// Tests of include/lanescope/kernels/reduce.cuh on a GPU, or on the engine:
//
//   nvcc -std=c++20 -arch=sm_90 -Iinclude -o reduce_test tests/gpu/reduce_test.cu
//   ./reduce_test                        on a GPU; `large` as argument: arrays longer than 2^32, too (9 GB)
//   lanescope run -- ./reduce_test       without one
//
// Exit status 0 and a line with the number of checks, or 1 and what was wrong.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "failures.cuh"
#include "lanescope/kernels/reduce.cuh"

namespace {

using namespace lanescope::kernels;

int checks = 0;

void check(bool right, const std::string& what) {
  ++checks;
  if (!right) fail(what);
}

uint32_t hash(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/// Device memory that begins `offset` elements behind a boundary of 256 bytes and ends exactly behind the
/// last element, so that a memory checker sees every access that goes too far.
template <class T>
class Input {
 public:
  Input(const std::vector<T>& values, size_t offset) : offset_(offset) {
    must(cudaMalloc(&memory_, (offset + values.size()) * sizeof(T) + (values.empty() ? 1 : 0)), "cudaMalloc");
    must(cudaMemcpy(memory_ + offset, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
         "copy");
  }
  ~Input() { cudaFree(memory_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  [[nodiscard]] const T* get() const { return memory_ + offset_; }

 private:
  T* memory_ = nullptr;
  size_t offset_;
};

/// Device memory between guards, filled with rubbish.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes) {
    must(cudaMalloc(&memory_, bytes + 2 * guard), "cudaMalloc");
    must(cudaMemset(memory_, rubbish, bytes + 2 * guard), "cudaMemset");
  }
  ~Guarded() { cudaFree(memory_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  [[nodiscard]] void* get() const { return memory_ + guard; }
  std::vector<unsigned char> read(const std::string& what) const {
    std::vector<unsigned char> all(bytes_ + 2 * guard);
    must(cudaMemcpy(all.data(), memory_, all.size(), cudaMemcpyDeviceToHost), what.c_str());
    bool whole = true;
    for (size_t i = 0; i < guard; ++i)
      whole = whole && all[i] == rubbish && all[guard + bytes_ + i] == rubbish;
    check(whole, what + ": bytes around the memory that was given have changed");
    return {all.begin() + guard, all.begin() + static_cast<ptrdiff_t>(guard + bytes_)};
  }

 private:
  static constexpr size_t guard = 256;
  static constexpr unsigned char rubbish = 0xa5;
  unsigned char* memory_ = nullptr;
  size_t bytes_;
};

/// Runs `call(out, workspace)` and returns the results.
template <class In, class Acc, class Shape, class Call>
std::vector<Acc> results(const std::string& what, const Shape& shape, size_t count, const Call& call) {
  const size_t bytes = reduce_workspace_bytes<In, Acc>(shape);
  const Guarded out(count * sizeof(Acc)), memory(bytes);
  const Status status = call(static_cast<Acc*>(out.get()), Workspace{memory.get(), bytes});
  check(static_cast<bool>(status), what + ": " + status.message);
  must(cudaDeviceSynchronize(), what.c_str());
  const auto raw = out.read(what + ", out");
  memory.read(what + ", workspace");
  std::vector<Acc> values(count);
  std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
/// Sums of floats may differ from a sum in double by what rounding makes.
bool close(double got, double expected, double size) { return std::fabs(got - expected) <= 1e-6 * size; }

// ---- Functors and types of one's own.

/// x -> a x + b modulo 2^32; the composition is associative and does not commute.
struct Affine {
  uint32_t a, b;
  friend bool operator==(const Affine&, const Affine&) = default;
};
struct Compose {
  LANESCOPE_HD Affine operator()(const Affine& f, const Affine& g) const {
    return {f.a * g.a, f.a * g.b + f.b};
  }
};
/// Twelve bytes: no power of two.
struct Point {
  int x, y, z;
};
struct AddPoints {
  static constexpr bool commutative = true;
  LANESCOPE_HD Point operator()(const Point& p, const Point& q) const {
    return {p.x + q.x, p.y + q.y, p.z + q.z};
  }
};
struct BitOr {
  static constexpr bool commutative = true;
  int shift;  ///< a functor with a state
  LANESCOPE_HD uint32_t operator()(uint32_t a, uint32_t b) const { return a | (b << shift); }
};

const std::vector<size_t> lengths = {0,   1,   2,    3,    31,    32,    33,    127,   128,   255,
                                     256, 257, 1000, 4099, 32767, 32768, 65537, 99991, 300007};

/// `in` reduced by `op`, in order, on the host.
template <class Acc, class In, class Op>
Acc expected_of(const In* in, size_t count, Acc result, const Op& op) {
  for (size_t i = 0; i < count; ++i) result = op(result, static_cast<Acc>(in[i]));
  return result;
}

template <class In, class Acc, class Op, class Element>
void test_exact(const char* name, Acc identity, Op op, Element element) {
  for (const size_t n : lengths)
    for (const size_t offset : {size_t{0}, size_t{1}, size_t{3}}) {
      if (offset == 3 && n > 70000) continue;
      std::vector<In> values(n);
      for (size_t i = 0; i < n; ++i) values[i] = element(hash(static_cast<uint32_t>(i + 7 * n)));
      const Input<In> in(values, offset);
      const std::string what =
          std::string(name) + ", " + std::to_string(n) + " elements at " + std::to_string(offset);
      const auto got = results<In, Acc>(what, n, 1, [&](Acc* out, Workspace w) {
        return reduce(out, in.get(), n, identity, op, w, nullptr);
      });
      check(same_bits(got[0], expected_of(values.data(), n, identity, op)), what + ": wrong result");
    }
}

void test_types() {
  test_exact<int, int64_t>("sum of int as int64", 0, Sum{}, [](uint32_t h) { return static_cast<int>(h); });
  test_exact<uint32_t, uint32_t>("max of unsigned", Max::identity<uint32_t>(), Max{},
                                 [](uint32_t h) { return h; });
  test_exact<double, double>("min of double", Min::identity<double>(), Min{},
                             [](uint32_t h) { return h * 0.001 - 100; });
  test_exact<__half, float>("sum of half as float", 0.0f, Sum{},
                            [](uint32_t h) { return __float2half(static_cast<float>(h % 8)); });
  test_exact<int8_t, int>("sum of int8 as int", 0, Sum{}, [](uint32_t h) { return static_cast<int8_t>(h); });
  test_exact<Point, Point>("sum of points", {0, 0, 0}, AddPoints{}, [](uint32_t h) {
    return Point{static_cast<int>(h % 1000), static_cast<int>(h % 77), -static_cast<int>(h % 13)};
  });
  test_exact<Affine, Affine>("composition of maps", {1, 0}, Compose{}, [](uint32_t h) {
    return Affine{h | 1, h >> 7};
  });
  // Two at a time.
  test_exact<int8_t, int8_t>("max of int8", Max::identity<int8_t>(), Max{},
                             [](uint32_t h) { return static_cast<int8_t>(h % 90 - 120); });
  test_exact<int8_t, int8_t>("min of int8", Min::identity<int8_t>(), Min{},
                             [](uint32_t h) { return static_cast<int8_t>(h % 200 - 90); });
  test_exact<uint8_t, uint8_t>("max of uint8", Max::identity<uint8_t>(), Max{},
                               [](uint32_t h) { return static_cast<uint8_t>(h % 251); });
  test_exact<uint8_t, uint8_t>("min of uint8", Min::identity<uint8_t>(), Min{},
                               [](uint32_t h) { return static_cast<uint8_t>(h % 150 + 100); });
  test_exact<int16_t, int16_t>("max of int16", Max::identity<int16_t>(), Max{},
                               [](uint32_t h) { return static_cast<int16_t>(h % 30000 - 31000); });
  test_exact<int16_t, int16_t>("min of int16", Min::identity<int16_t>(), Min{},
                               [](uint32_t h) { return static_cast<int16_t>(h % 60000 - 29000); });
  test_exact<uint16_t, uint16_t>("min of uint16", Min::identity<uint16_t>(), Min{},
                                 [](uint32_t h) { return static_cast<uint16_t>(h % 25000 + 40000); });
  test_exact<uint32_t, uint32_t>("bits", 0, BitOr{0}, [](uint32_t h) { return 1u << (h % 31); });
}

void test_floats() {
  for (const size_t n : lengths) {
    std::vector<float> values(n);
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += values[i] = static_cast<float>(hash(i) >> 8) * 0x1p-24f;
    std::vector<float> first;
    // Wherever the array lies, however many blocks there are, and however often: the same bits.
    for (const size_t offset : {0, 1, 2, 3, 4})
      for (const unsigned blocks : {0u, 1u, 7u, 132u}) {
        if ((offset > 1) != (blocks == 7)) continue;
        const Input<float> in(values, offset);
        const std::string what = "sum of " + std::to_string(n) + " floats at " + std::to_string(offset) +
                                 " with " + std::to_string(blocks) + " blocks";
        for (int run = 0; run < 2; ++run) {
          const auto got = results<float, float>(what, n, 1, [&](float* out, Workspace w) {
            return reduce_sum(out, in.get(), n, w, nullptr, {.max_blocks = blocks});
          });
          if (first.empty()) first = got;
          check(same_bits(got[0], first[0]), what + ": other bits than before");
          check(close(got[0], sum, sum), what + ": wrong result");
        }
      }
  }
}

template <class T>
void check_place(const std::string& what, const Indexed<T>& got, T value, uint64_t index) {
  const bool equal = got.value == value || (got.value != got.value && value != value);
  check(equal && got.index == index,
        what + ": index " + std::to_string(got.index) + " instead of " + std::to_string(index));
}

void test_places() {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const auto both = [&](const std::string& name, const std::vector<float>& values, float low, uint64_t low_at,
                        float high, uint64_t high_at) {
    for (const size_t offset : {size_t{0}, size_t{1}}) {
      const Input<float> in(values, offset);
      const uint64_t n = values.size();
      const std::string what = name + " of " + std::to_string(n) + " at " + std::to_string(offset);
      const auto least = results<float, Indexed<float>>("argmin, " + what, n, 1, [&](auto* out, Workspace w) {
        return reduce_argmin(out, in.get(), n, w, nullptr);
      });
      check_place("argmin, " + what, least[0], low, low_at);
      const auto most = results<float, Indexed<float>>("argmax, " + what, n, 1, [&](auto* out, Workspace w) {
        return reduce_argmax(out, in.get(), n, w, nullptr);
      });
      check_place("argmax, " + what, most[0], high, high_at);
    }
  };
  both("nothing", {}, infinity, ~uint64_t{0}, -infinity, ~uint64_t{0});
  for (const size_t n : {size_t{1}, size_t{33}, size_t{1000}, size_t{70001}, size_t{200003}}) {
    both("equal values", std::vector<float>(n, 2.5f), 2.5f, 0, 2.5f, 0);
    both("infinity", std::vector<float>(n, infinity), infinity, 0, infinity, 0);
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(hash(i) % 50) + 1;
    uint64_t low = 0, high = 0;
    for (size_t i = 1; i < n; ++i) {
      if (values[i] < values[low]) low = i;
      if (values[i] > values[high]) high = i;
    }
    both("ties", values, values[low], low, values[high], high);
    values[n - 1] = nan;
    both("NaN at the end", values, nan, n - 1, nan, n - 1);
    values[n / 2] = nan;
    both("two NaN", values, nan, n / 2, nan, n / 2);
    const Input<float> in(values, 0);
    const auto minimum = results<float, float>("min with NaN", n, 1, [&](float* out, Workspace w) {
      return reduce_min(out, in.get(), n, w, nullptr);
    });
    const auto maximum = results<float, float>("max with NaN", n, 1, [&](float* out, Workspace w) {
      return reduce_max(out, in.get(), n, w, nullptr);
    });
    check(std::isnan(minimum[0]) && std::isnan(maximum[0]),
          "min and max of " + std::to_string(n) + " with NaN");
  }
}

/// Segments of `values` given by offsets, against the host; `shape`: how they are given to the library.
template <class Shape>
void check_segments(const std::string& what, const Shape& shape, const std::vector<uint64_t>& offsets,
                    const std::vector<uint32_t>& values, size_t at) {
  const size_t segments = offsets.size() - 1;
  std::vector<float> floats(values.size());
  std::vector<Affine> maps(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    floats[i] = static_cast<float>(values[i] % 100);
    maps[i] = {values[i] | 1, values[i] >> 9};
  }
  const Input<uint32_t> in(values, at);
  const Input<float> in_floats(floats, at);
  const Input<Affine> in_maps(maps, at);
  const auto sums = results<uint32_t, uint64_t>(
      what + ", sums", shape, segments,
      [&](uint64_t* out, Workspace w) { return reduce_sum(out, in.get(), shape, w, nullptr); });
  const auto few =
      results<uint32_t, uint64_t>(what + ", 3 blocks", shape, segments, [&](uint64_t* out, Workspace w) {
        return reduce_sum(out, in.get(), shape, w, nullptr, {.max_blocks = 3});
      });
  const auto places = results<float, Indexed<float>>(
      what + ", argmin", shape, segments,
      [&](auto* out, Workspace w) { return reduce_argmin(out, in_floats.get(), shape, w, nullptr); });
  const auto composed =
      results<Affine, Affine>(what + ", maps", shape, segments, [&](Affine* out, Workspace w) {
        return reduce(out, in_maps.get(), shape, Affine{1, 0}, Compose{}, w, nullptr);
      });
  for (size_t s = 0; s < segments; ++s) {
    const size_t begin = offsets[s], n = offsets[s + 1] - begin;
    const std::string which = what + ", segment " + std::to_string(s) + " of " + std::to_string(n);
    const auto sum = expected_of(&values[begin], n, uint64_t{0}, Sum{});
    check(sums[s] == sum && few[s] == sum, which + ": wrong sum");
    check(composed[s] == expected_of(&maps[begin], n, Affine{1, 0}, Compose{}),
          which + ": wrong composition");
    uint64_t least = 0;
    for (size_t i = 1; i < n; ++i)
      if (floats[begin + i] < floats[begin + least]) least = i;
    if (n == 0)
      check_place(which, places[s], std::numeric_limits<float>::infinity(), ~uint64_t{0});
    else
      check_place(which, places[s], floats[begin + least], least);
  }
}

void test_segments() {
  const auto numbers = [](size_t n) {
    std::vector<uint32_t> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = hash(i + 3 * n);
    return values;
  };
  for (const auto [segments, length] : std::vector<std::pair<size_t, size_t>>{{1000, 1},
                                                                              {777, 3},
                                                                              {500, 8},
                                                                              {300, 17},
                                                                              {200, 100},
                                                                              {129, 128},
                                                                              {40, 1000},
                                                                              {9, 2049},
                                                                              {5, 9001},
                                                                              {3, 70001},
                                                                              {4, 0},
                                                                              {600, 513}}) {
    std::vector<uint64_t> offsets;
    for (size_t s = 0; s <= segments; ++s) offsets.push_back(s * length);
    for (const size_t at : {size_t{0}, size_t{1}})
      check_segments(
          std::to_string(segments) + " segments of " + std::to_string(length) + " at " + std::to_string(at),
          FixedSegments{segments, length}, offsets, numbers(segments * length), at);
  }
  // Lengths by offsets: empty ones, equal ones, a long one among short ones, short ones among long ones.
  const std::vector<std::pair<const char*, std::vector<size_t>>> cases = {
      {"all empty", {0, 0, 0}},
      {"one element", {0, 1, 0}},
      {"short", {1, 2, 3, 4, 5, 0, 0, 7, 8, 9, 31, 32, 33}},
      {"medium", {100, 0, 257, 255, 1000, 1, 77, 4000}},
      {"long among short", {3, 1, 0, 200000, 2, 0, 5, 40000, 1, 1, 1, 513, 257, 256}},
      {"many short and long", [] {
         std::vector<size_t> lengths;
         for (uint32_t i = 0; i < 3000; ++i) lengths.push_back(hash(i) % 6);
         lengths[1234] = 5000;
         lengths[17] = 300;
         lengths[2999] = 70000;
         return lengths;
       }()}};
  for (const auto& [name, of] : cases) {
    std::vector<uint64_t> offsets{0};
    for (const size_t n : of) offsets.push_back(offsets.back() + n);
    const std::vector<int> narrow(offsets.begin(), offsets.end());
    const Input<uint64_t> wide_offsets(offsets, 0);
    const Input<int> narrow_offsets(narrow, 0);
    const auto values = numbers(offsets.back());
    check_segments(std::string(name) + ", int offsets",
                   Segments{narrow_offsets.get(), of.size(), values.size()}, offsets, values, 0);
    check_segments(std::string(name) + ", 64-bit offsets",
                   Segments{wide_offsets.get(), of.size(), values.size()}, offsets, values, 1);
  }
  // No segments: nothing to do, whatever the pointers.
  check(static_cast<bool>(reduce_sum<float, float>(nullptr, nullptr, FixedSegments{0, 10}, {}, nullptr)),
        "no segments");
  // Offsets that are wrong: nothing outside is read or written.
  const std::vector<uint64_t> wrong = {5, 100000, 3, 4000, 1ull << 60, 0, 70000, ~0ull, 2000};
  const Input<uint64_t> offsets(wrong, 0);
  const Input<uint32_t> in(numbers(4000), 0);
  const Segments shape{offsets.get(), wrong.size() - 1, size_t{4000}};
  results<uint32_t, uint64_t>("wrong offsets", shape, wrong.size() - 1, [&](uint64_t* out, Workspace w) {
    return reduce_sum(out, in.get(), shape, w, nullptr);
  });
}

void test_errors() {
  const Input<float> in(std::vector<float>(100000, 1.0f), 0);
  const size_t bytes = reduce_workspace_bytes<float, float>(size_t{100000});
  const Guarded out_memory(64), memory(bytes + 16);
  auto* out = static_cast<float*>(out_memory.get());
  const Workspace workspace{memory.get(), bytes};
  const auto refused = [](const Status& status, const char* message) {
    check(status.error == cudaErrorInvalidValue && std::strcmp(status.message, message) == 0,
          std::string("expected \"") + message + "\", got \"" + status.message + "\"");
  };
  const auto bytes_on = [](const void* p, size_t n) {
    return reinterpret_cast<const float*>(static_cast<const char*>(p) + n);
  };
  refused(reduce_sum<float>(nullptr, in.get(), 100000, workspace, nullptr), "reduce: out is null");
  refused(reduce_sum<float, float>(out, nullptr, 100000, workspace, nullptr), "reduce: in is null");
  refused(reduce_sum(const_cast<float*>(bytes_on(out, 2)), in.get(), 100000, workspace, nullptr),
          "reduce: out is not aligned to its type");
  refused(reduce_sum(out, bytes_on(in.get(), 1), 1000, workspace, nullptr),
          "reduce: in is not aligned to its type");
  refused(reduce_sum(out, in.get(), 100000, {}, nullptr), "reduce: the workspace is null");
  refused(reduce_sum(out, in.get(), 100000, {memory.get(), bytes - 1}, nullptr),
          "reduce: the workspace is smaller than reduce_workspace_bytes() says");
  refused(reduce_sum(out, in.get(), 100000, {static_cast<char*>(memory.get()) + 4, bytes}, nullptr),
          "reduce: the workspace is not aligned to 16 bytes");
  refused(reduce_sum(out, in.get(), FixedSegments{1ull << 40, 1ull << 40}, workspace, nullptr),
          "reduce: segments of that length exceed the address space");
  const auto* const few = reinterpret_cast<const int8_t*>(in.get());
  refused(reduce_sum(out, few, -1, workspace, nullptr),
          "reduce: segments of that length exceed the address space");
  refused(reduce_sum(out, few, FixedSegments{~uint64_t{0}, 1}, workspace, nullptr),
          "reduce: so many segments exceed the address space");
  refused(reduce_sum(out, in.get(), FixedSegments{~uint64_t{0}, 0}, workspace, nullptr),
          "reduce: so many segments exceed the address space");
  const Input<int> offsets({0, 3, 7, 10}, 0);
  refused(reduce_sum(out, in.get(), Segments<int>{offsets.get(), 3, ~uint64_t{0}}, workspace, nullptr),
          "reduce: so many elements exceed the address space");
  check(reduce_workspace_bytes<float, float>(Segments<int>{offsets.get(), 0, 10}) == 0, "no segments");
  check(static_cast<bool>(reduce_sum(out, in.get(), Segments<int>{offsets.get(), 0, 10}, {}, nullptr)),
        "a sum of no segments");
  refused(reduce_sum(out, in.get(), Segments<int>{nullptr, 3, 10}, workspace, nullptr),
          "reduce: offsets is null");
  must(cudaGetLastError(), "errors are no errors of the runtime");
  // The workspace is not needed where reduce_workspace_bytes() is 0, and the stream may be one of its own.
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check(reduce_workspace_bytes<float, float>(size_t{1000}) == 0, "small arrays need no workspace");
  check(static_cast<bool>(reduce_sum(out, in.get(), 1000, {}, stream)), "no workspace");
  must(cudaStreamSynchronize(stream), "the stream");
  float got = 0;
  must(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost), "copy");
  check(got == 1000, "sum on a stream of its own");
  must(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

__global__ void fill(int8_t* out, uint64_t n) {
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += uint64_t{gridDim.x} * blockDim.x)
    out[i] = static_cast<int8_t>(i % 3);
}

/// Arrays and segments longer than 2^32 elements, which differ where 32-bit arithmetic would end.
void test_large() {
  const uint64_t n = (uint64_t{1} << 33) + 12345;
  int8_t* in = nullptr;
  must(cudaMalloc(&in, n), "cudaMalloc");
  fill<<<1024, 256>>>(in, n);
  must(cudaMemset(in + n - 1, 100, 1), "cudaMemset");
  const int64_t before = static_cast<int64_t>(n / 3 * 3) + (n % 3 == 2 ? 1 : 0),
                sum = before + 100 - static_cast<int64_t>((n - 1) % 3);
  const auto sums = results<int8_t, int64_t>(
      "sum of 2^33", n, 1, [&](int64_t* out, Workspace w) { return reduce_sum(out, in, n, w, nullptr); });
  check(sums[0] == sum, "sum of 2^33: " + std::to_string(sums[0]) + " instead of " + std::to_string(sum));
  const auto places = results<int8_t, Indexed<int8_t>>(
      "argmax of 2^33", n, 1, [&](auto* out, Workspace w) { return reduce_argmax(out, in, n, w, nullptr); });
  check_place<int8_t>("argmax of 2^33", places[0], 100, n - 1);
  const std::vector<uint64_t> host = {0, 3, n - 5, n};
  const Input<uint64_t> offsets(host, 0);
  const Segments shape{offsets.get(), 3, n};
  const auto parts = results<int8_t, int64_t>("segments of 2^33", shape, 3, [&](int64_t* out, Workspace w) {
    return reduce_sum(out, in, shape, w, nullptr);
  });
  check(parts[0] == 3 && parts[0] + parts[1] + parts[2] == sum, "segments of 2^33");
  must(cudaFree(in), "cudaFree");
}

}  // namespace

int main(int argc, char** argv) {
  test_types();
  test_floats();
  test_places();
  test_segments();
  test_errors();
  if (argc > 1 && std::strcmp(argv[1], "large") == 0) test_large();
  must(cudaDeviceSynchronize(), "the end");
  std::printf("reduce_test: %d checks, %d failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
