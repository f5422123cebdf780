// Plans of every kind that cuFFT has, with random layouts, against the sums that define the transform; and
// what calls return that make no sense. It needs neither nvcc nor headers: functions are looked up by name,
// in the libcufft that the program finds. The statuses in fft.txt are those that the toolkit's own returned
// on an H100.
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include "library_calls.hpp"

extern "C" {
int cudaMallocManaged(void**, size_t, unsigned);
int cudaMalloc(void**, size_t);
int cudaFree(void*);
int cudaDeviceSynchronize();
int cudaStreamCreate(void**);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphLaunch(void*, void*);
int cudaStreamSynchronize(void*);
}

namespace {

using Long = std::complex<long double>;
using Int = long long;

constexpr int forward = -1, inverse = 1;
constexpr int c2c = 0x29, r2c = 0x2a, c2r = 0x2c, z2z = 0x69, d2z = 0x6a, z2d = 0x6c;

/// Numbers of 16 bits, which are the upper part of a float, or of its own kind.
struct Half {
  _Float16 value;
};
struct Bfloat {
  uint16_t bits;
};
double wide(float x) { return x; }
double wide(double x) { return x; }
double wide(Half x) { return static_cast<float>(x.value); }
double wide(Bfloat x) {
  const uint32_t bits = uint32_t{x.bits} << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
/// A number that all types hold.
template <typename T>
T some() {
  const float value = static_cast<float>(between(-64, 64)) / 64;
  if constexpr (std::is_same_v<T, Half>) {
    return {static_cast<_Float16>(value)};
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return {static_cast<uint16_t>(bits >> 16)};
  } else {
    return value;
  }
}
/// How much may be wrong, in parts of the result's root mean square.
template <typename T>
constexpr long double tolerance = std::is_same_v<T, double>  ? 5e-15L
                                  : std::is_same_v<T, float> ? 5e-7L
                                  : std::is_same_v<T, Half>  ? 4e-3L
                                                             : 3e-2L;
/// cudaDataType_t of real and of complex numbers.
template <typename T>
constexpr std::array<int, 2> data_types = std::is_same_v<T, double>  ? std::array{1, 5}
                                          : std::is_same_v<T, float> ? std::array{0, 4}
                                          : std::is_same_v<T, Half>  ? std::array{2, 6}
                                                                     : std::array{14, 15};

enum class Form { complex, to_complex, to_real };

/// How one side lies in memory, in its own elements.
struct Side {
  bool real = false;
  std::array<Int, 3> count{}, embed{};
  Int stride = 1, distance = 0;
  [[nodiscard]] Int at(int rank, Int batch, const std::array<Int, 3>& index) const {
    Int row = 0;
    for (size_t d = 0; d < static_cast<size_t>(rank); ++d) row = row * (d == 0 ? 1 : embed[d]) + index[d];
    return (batch * distance + row * stride) * (real ? 1 : 2);
  }
};

struct Case {
  Form form = Form::complex;
  int rank = 1;
  std::array<Int, 3> n{1, 1, 1};
  Int batch = 1;
  int direction = forward;
  bool in_place = false, given = false;
  Side in, out;
};

/// The next index, with the last one the fastest.
void advance(std::array<Int, 3>& index, const std::array<Int, 3>& count, int rank) {
  for (auto d = static_cast<size_t>(rank); d-- > 0; index[d] = 0)
    if (++index[d] < count[d]) return;
}
Int product(const std::array<Int, 3>& of, int rank) {
  Int all = 1;
  for (int d = 0; d < rank; ++d) all *= of[static_cast<size_t>(d)];
  return all;
}

void basic_layout(Case& c, Side& side) {
  const auto last = static_cast<size_t>(c.rank - 1);
  side.embed = side.count;
  if (side.real && c.in_place) side.embed[last] = 2 * (c.n[last] / 2 + 1);
  side.stride = 1;
  side.distance = product(side.embed, c.rank);
}

Case some_case(Form form) {
  static constexpr Int lengths[] = {1,  2,  3,  4,  5,   6,   7,   8,   9,   12, 16,
                                    25, 31, 64, 77, 101, 127, 128, 211, 243, 514};
  Case c;
  c.form = form;
  c.rank = between(1, 3);
  const auto last = static_cast<size_t>(c.rank - 1);
  for (size_t d = 0; d <= last; ++d)
    c.n[d] = c.rank == 1 ? lengths[between(0, std::size(lengths) - 1)] : between(1, 7);
  if (c.rank == 2 && between(0, 5) == 0) c.n[static_cast<size_t>(between(0, 1))] = 103;
  c.batch = between(0, 1) == 0 ? 1 : between(2, 4);
  c.direction = form == Form::to_real || (form == Form::complex && between(0, 1) != 0) ? inverse : forward;
  c.in_place = between(0, 2) == 0;
  c.given = between(0, 1) != 0;
  c.in.count = c.out.count = c.n;
  c.in.real = form == Form::to_complex;
  c.out.real = form == Form::to_real;
  if (c.out.real) c.in.count[last] = c.n[last] / 2 + 1;
  if (c.in.real) c.out.count[last] = c.n[last] / 2 + 1;
  basic_layout(c, c.in);
  basic_layout(c, c.out);
  if (!c.given) return c;
  const bool interleaved = between(0, 2) == 0 && !c.in_place;
  for (Side* side : {&c.in, &c.out}) {
    for (size_t d = 0; d <= last; ++d) side->embed[d] = side->count[d] + between(0, 3);
    side->stride = interleaved ? c.batch + between(0, 1) : between(1, 3);
    side->distance = interleaved ? 1 : product(side->embed, c.rank) * side->stride + between(0, 3);
  }
  if (c.in_place && form == Form::complex) c.out = c.in;
  if (c.in_place && form != Form::complex) {  // rows of real numbers with room for their spectrum
    Side &real = form == Form::to_complex ? c.in : c.out, &half = form == Form::to_complex ? c.out : c.in;
    real.stride = half.stride = 1;
    real.embed = half.embed;
    real.embed[last] = 2 * half.embed[last];
    half.distance = product(half.embed, c.rank) + between(0, 2);
    real.distance = 2 * half.distance;
  }
  return c;
}

/// The plan, made in one of the ways that there are for it; -1: none.
template <typename T>
int make_plan(const Case& c) {
  constexpr bool small = sizeof(T) == 2;
  const int type = c.form == Form::complex ? c2c : c.form == Form::to_complex ? r2c : c2r;
  const int of_type = type + (sizeof(T) == 8 ? z2z - c2c : 0);
  const auto [real, complex] = data_types<T>;
  std::array<int, 3> n{}, in{}, out{};
  std::array<Int, 3> n64 = c.n, in64 = c.in.embed, out64 = c.out.embed;
  for (size_t d = 0; d < 3; ++d) n[d] = int(c.n[d]), in[d] = int(in64[d]), out[d] = int(out64[d]);
  // Strides and distances are ignored where there are no sizes.
  const Int is = c.given ? c.in.stride : 5, id = c.given ? c.in.distance : 0;
  const Int os = c.given ? c.out.stride : 7, od = c.given ? c.out.distance : 1;
  int *in_embed = c.given ? in.data() : nullptr, *out_embed = c.given ? out.data() : nullptr;
  Int *in_embed64 = c.given ? in64.data() : nullptr, *out_embed64 = c.given ? out64.data() : nullptr;
  int plan = -1;
  size_t work = 77;
  const bool simple = !c.given && (c.rank == 1 || c.batch == 1);
  const int way = small ? 2 : between(0, simple ? 4 : 3);
  int status = 0;
  if (way == 0) {
    status = call("cufftPlanMany", &plan, c.rank, n.data(), in_embed, int(is), int(id), out_embed, int(os),
                  int(od), of_type, int(c.batch));
  } else if (way == 4 && between(0, 1) == 0) {
    status = c.rank == 1   ? call("cufftPlan1d", &plan, n[0], of_type, int(c.batch))
             : c.rank == 2 ? call("cufftPlan2d", &plan, n[0], n[1], of_type)
                           : call("cufftPlan3d", &plan, n[0], n[1], n[2], of_type);
  } else {
    status = call("cufftCreate", &plan);
    if (status != 0) return -1;
    if (way == 1)
      status = call("cufftMakePlanMany64", plan, c.rank, n64.data(), in_embed64, is, id, out_embed64, os, od,
                    of_type, c.batch, &work);
    else if (way == 2)
      status = call("cufftXtMakePlanMany", plan, c.rank, n64.data(), in_embed64, is, id,
                    c.in.real ? real : complex, out_embed64, os, od, c.out.real ? real : complex, c.batch,
                    &work, complex);
    else if (way == 3)
      status = call("cufftMakePlanMany", plan, c.rank, n.data(), in_embed, int(is), int(id), out_embed,
                    int(os), int(od), of_type, int(c.batch), &work);
    else
      status = c.rank == 1   ? call("cufftMakePlan1d", plan, n[0], of_type, int(c.batch), &work)
               : c.rank == 2 ? call("cufftMakePlan2d", plan, n[0], n[1], of_type, &work)
                             : call("cufftMakePlan3d", plan, n[0], n[1], n[2], of_type, &work);
  }
  return status == 0 ? plan : -1;
}

template <typename T>
int execute(const Case& c, int plan, void* in, void* out) {
  if (sizeof(T) == 2 || between(0, 2) == 0) return call("cufftXtExec", plan, in, out, c.direction);
  constexpr bool twice = sizeof(T) == 8;
  if (c.form == Form::complex)
    return call(twice ? "cufftExecZ2Z" : "cufftExecC2C", plan, in, out, c.direction);
  if (c.form == Form::to_complex) return call(twice ? "cufftExecD2Z" : "cufftExecR2C", plan, in, out);
  return call(twice ? "cufftExecZ2D" : "cufftExecC2R", plan, in, out);
}

/// The sum that defines one number of the result.
template <typename T>
Long expected(const Case& c, const std::vector<T>& input, Int batch, const std::array<Int, 3>& to) {
  const auto last = static_cast<size_t>(c.rank - 1);
  std::array<std::vector<Long>, 3> turn;  // by how far an index of the input goes round
  for (size_t d = 0; d <= last; ++d)
    for (Int i = 0; i < c.n[d]; ++i)
      turn[d].push_back(std::polar(
          1.0L, static_cast<long double>(c.direction) * 2 * std::numbers::pi_v<long double> *
                    static_cast<long double>(to[d] * i % c.n[d]) / static_cast<long double>(c.n[d])));
  Long sum = 0;
  std::array<Int, 3> from{};
  for (Int i = product(c.in.count, c.rank); i > 0; --i, advance(from, c.in.count, c.rank)) {
    const auto at = static_cast<size_t>(c.in.at(c.rank, batch, from));
    Long value(wide(input[at]), c.in.real ? 0 : wide(input[at + 1]));
    for (size_t d = 0; d <= last; ++d) value *= turn[d][static_cast<size_t>(from[d])];
    // Half of the spectrum stands for the other half, too, but for the numbers that are their own mirror
    // image.
    const Int k = from[last];
    sum += c.out.real ? Long(value.real() * (k == 0 || 2 * k == c.n[last] ? 1 : 2)) : value;
  }
  return sum;
}

/// Whether the transform is right, and nothing else was written.
template <typename T>
bool is_right(const Case& c, int plan) {
  const auto size = [&](const Side& side) {
    std::array<Int, 3> top{};
    for (size_t d = 0; d < 3; ++d) top[d] = std::max<Int>(side.count[d] - 1, 0);
    return static_cast<size_t>(side.at(c.rank, c.batch - 1, top)) + (side.real ? 1 : 2);
  };
  const size_t behind = 9, count = std::max(size(c.in), size(c.out)) + behind;
  T *in = nullptr, *out = nullptr;
  cudaMallocManaged(reinterpret_cast<void**>(&in), count * sizeof(T), 1);
  cudaMallocManaged(reinterpret_cast<void**>(&out), count * sizeof(T), 1);
  for (size_t i = 0; i < count; ++i) in[i] = some<T>(), out[i] = some<T>();
  const std::vector<T> input(in, in + count), before = c.in_place ? input : std::vector<T>(out, out + count);
  T* result = c.in_place ? in : out;
  const int status = execute<T>(c, plan, in, result), finished = cudaDeviceSynchronize();
  bool right = status == 0 && finished == 0;
  std::vector<bool> written(count);
  long double worst = 0, power = 0;
  Int results = 0;
  for (Int b = 0; right && b < c.batch; ++b) {
    std::array<Int, 3> to{};
    for (Int i = product(c.out.count, c.rank); i > 0; --i, advance(to, c.out.count, c.rank), ++results) {
      const auto at = static_cast<size_t>(c.out.at(c.rank, b, to));
      written[at] = true;
      if (!c.out.real) written[at + 1] = true;
      const Long should = expected(c, input, b, to);
      const Long found(wide(result[at]), c.out.real ? 0 : wide(result[at + 1]));
      worst = std::max(worst, std::abs(found - should));
      power += std::norm(should);
    }
  }
  if (!(worst <= tolerance<T> * std::sqrt(power / static_cast<long double>(std::max<Int>(results, 1)))))
    right = false;
  // The real library writes into what is between rows that become real in place.
  for (size_t i = 0; i < count; ++i)
    if (!written[i] && !(c.in_place && c.out.real) && std::memcmp(&result[i], &before[i], sizeof(T)) != 0)
      right = false;
  if (!c.in_place && c.form != Form::to_real && std::memcmp(in, input.data(), count * sizeof(T)) != 0)
    right = false;
  if (!right)
    std::printf(
        "form %d, %lldx%lldx%lld (rank %d), batch %lld, direction %d, %s, %s layout: status %d, %d, error "
        "%Lg\n",
        int(c.form), c.n[0], c.n[1], c.n[2], c.rank, c.batch, c.direction,
        c.in_place ? "in place" : "elsewhere", c.given ? "given" : "basic", status, finished, worst);
  cudaFree(in);
  cudaFree(out);
  return right;
}

template <typename T>
void transforms(const char* name, int cases) {
  for (const Form form : {Form::complex, Form::to_complex, Form::to_real}) {
    int right = 0, wrong = 0;
    for (int i = 0; i < cases; ++i) {
      Case c = some_case(form);
      if (sizeof(T) == 2) {  // powers of two alone
        for (Int& n : c.n) n = Int{1} << between(0, c.rank == 1 ? 7 : 3);
        for (auto d = static_cast<size_t>(c.rank); d < 3; ++d) c.n[d] = 1;
        c.given = false;
        c.in.count = c.out.count = c.n;
        const auto last = static_cast<size_t>(c.rank - 1);
        if (c.out.real) c.in.count[last] = c.n[last] / 2 + 1;
        if (c.in.real) c.out.count[last] = c.n[last] / 2 + 1;
        basic_layout(c, c.in);
        basic_layout(c, c.out);
      }
      const int plan = make_plan<T>(c);
      const bool fine = plan > 0 && is_right<T>(c, plan) && call("cufftDestroy", plan) == 0;
      ++(fine ? right : wrong);
    }
    std::printf("%s %s: %d right, %d wrong\n", name,
                form == Form::complex      ? "complex"
                : form == Form::to_complex ? "real to complex"
                                           : "complex to real",
                right, wrong);
  }
}

/// Lengths for which several threads work, or whose sums would take long: there and back again gives the
/// number of elements times what there was.
void there_and_back() {
  for (const auto& [n0, n1] :
       {std::array{1, 1 << 18}, {1, 100003}, {1, 2 * 50021}, {257, 1024}, {1024, 331}}) {
    const auto numbers = static_cast<size_t>(n0) * static_cast<size_t>(n1) * 2;
    double* data = nullptr;
    cudaMallocManaged(reinterpret_cast<void**>(&data), numbers * sizeof(double), 1);
    std::vector<double> before(numbers);
    for (size_t i = 0; i < numbers; ++i) before[i] = data[i] = some<double>();
    int plan = -1;
    call("cufftPlan2d", &plan, n0, n1, z2z);
    call("cufftExecZ2Z", plan, data, data, forward);
    cudaDeviceSynchronize();
    const Long constant(data[0], data[1]);
    Long sum = 0;
    for (size_t i = 0; i < numbers; i += 2) sum += Long(before[i], before[i + 1]);
    call("cufftExecZ2Z", plan, data, data, inverse);
    cudaDeviceSynchronize();
    double worst = 0;
    for (size_t i = 0; i < numbers; ++i)
      worst = std::max(worst, std::abs(data[i] / (static_cast<double>(numbers) / 2) - before[i]));
    std::printf("%d x %d: %s %s\n", n0, n1, worst < 1e-14 ? "back" : "lost",
                std::abs(constant - sum) < 1e-9L ? "through the spectrum" : "through something else");
    call("cufftDestroy", plan);
    cudaFree(data);
  }
}

/// A transform that a graph has recorded, and that it does twice.
void in_a_graph() {
  constexpr int n = 256;
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  cudaStreamCreate(&stream);
  float* data = nullptr;
  cudaMallocManaged(reinterpret_cast<void**>(&data), 2 * n * sizeof(float), 1);
  for (int i = 0; i < 2 * n; ++i) data[i] = static_cast<float>(i);
  int plan = -1;
  call("cufftPlan1d", &plan, n, c2c, 1);
  call("cufftSetStream", plan, stream);
  cudaStreamBeginCapture(stream, 0);
  call("cufftExecC2C", plan, data, data, forward);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  const bool untouched = data[2] == 2;
  cudaGraphLaunch(executable, stream);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  bool mirrored = true;
  for (int i = 0; i < 2 * n; ++i)
    if (std::abs(data[i] -
                 static_cast<float>(n) * static_cast<float>((2 * n - i / 2 * 2) % (2 * n) + i % 2)) > 0.5F)
      mirrored = false;
  std::printf("in a graph: %s, %s\n", untouched ? "recorded" : "done at once",
              mirrored ? "twice" : "something else");
  call("cufftDestroy", plan);
}

/// What calls return, most of them wrong ones.
void statuses() {
  int plan = -9, other = -9;
  size_t work = 77;
#define TELL(...) std::printf("%s -> %d\n", #__VA_ARGS__, call(__VA_ARGS__))
  int value = -1;
  TELL("cufftGetVersion", &value);
  TELL("cufftGetProperty", 0, &value);
  TELL("cufftGetProperty", 3, &value);
  TELL("cufftGetProperty", 0, static_cast<int*>(nullptr));
  TELL("cufftCreate", static_cast<int*>(nullptr));
  TELL("cufftPlan1d", static_cast<int*>(nullptr), 8, c2c, 1);
  TELL("cufftPlan1d", &plan, 8, 0, 1);
  std::printf("plan %d\n", plan);
  TELL("cufftPlan1d", &plan, 0, c2c, 1);
  TELL("cufftPlan1d", &plan, -1, r2c, 1);
  TELL("cufftPlan1d", &plan, 8, c2c, 0);
  TELL("cufftPlan2d", &plan, 0, 8, c2c);
  TELL("cufftPlan3d", &plan, 8, 8, 8, 0);
  TELL("cufftEstimate1d", 8, c2c, -1, &work);
  TELL("cufftEstimate1d", 8, c2c, 1, static_cast<size_t*>(nullptr));
  std::printf("work %zu\n", work);

  const auto many = [&](int rank, std::vector<int> n, std::vector<int> in, int in_stride, int in_distance,
                        std::vector<int> out, int out_stride, int out_distance, int type, int batch) {
    int made = -9;
    const int status = call("cufftPlanMany", &made, rank, n.empty() ? nullptr : n.data(),
                            in.empty() ? nullptr : in.data(), in_stride, in_distance,
                            out.empty() ? nullptr : out.data(), out_stride, out_distance, type, batch);
    if (status == 0) call("cufftDestroy", made);
    return status;
  };
#define MANY(...) std::printf("PlanMany(%s) -> %d\n", #__VA_ARGS__, many(__VA_ARGS__))
  MANY(0, {8}, {}, 1, 8, {}, 1, 8, c2c, 1);
  MANY(4, {2, 2, 2, 2}, {}, 1, 16, {}, 1, 16, c2c, 1);
  MANY(1, {}, {}, 1, 8, {}, 1, 8, c2c, 1);
  MANY(1, {8}, {}, -1, -1, {}, 0, 0, c2c, 2);
  MANY(1, {8}, {8}, 0, 8, {8}, 1, 8, c2c, 2);
  MANY(1, {8}, {8}, 1, 8, {8}, -1, 8, c2c, 2);
  MANY(1, {8}, {8}, 1, 0, {8}, 1, 0, c2c, 1);
  MANY(1, {8}, {8}, 1, 8, {8}, 1, -8, c2c, 2);
  MANY(1, {8}, {8}, 1, 4, {8}, 1, 4, c2c, 2);
  MANY(1, {8}, {-1}, 1, 8, {0}, 1, 8, c2c, 1);
  MANY(2, {8, 8}, {8, 4}, 1, 64, {8, 8}, 1, 64, c2c, 1);
  MANY(2, {8, 8}, {8, 8}, 1, 64, {8, -8}, 1, 64, c2c, 1);
  MANY(2, {8, 8}, {8, 8}, 1, 64, {}, 1, 64, c2c, 1);
  MANY(2, {8, 8}, {}, 1, 64, {8, 8}, 1, 64, c2c, 1);
  MANY(1, {8}, {}, 1, 8, {}, 1, 8, c2c, 0);
  MANY(1, {8}, {8}, 1, 8, {8}, 1, 8, 0, 1);

  void* memory = nullptr;
  cudaMalloc(&memory, 4096);
  auto* numbers = static_cast<float*>(memory);
  for (const int none : {0, 999, -2}) {
    other = none;
    TELL("cufftExecC2C", other, memory, memory, forward);
    TELL("cufftSetStream", other, static_cast<void*>(nullptr));
    TELL("cufftMakePlan1d", other, 8, c2c, 1, &work);
    TELL("cufftGetSize", other, &work);
    TELL("cufftDestroy", other);
  }
  TELL("cufftDestroy", -1);
  TELL("cufftCreate", &plan);
  TELL("cufftGetSize", plan, &work);
  TELL("cufftExecC2C", plan, memory, memory, forward);
  TELL("cufftXtSetWorkAreaPolicy", plan, 0, &work);
  TELL("cufftSetAutoAllocation", plan, 0);
  TELL("cufftSetWorkArea", plan, memory);
  long long property = -9;
  TELL("cufftSetPlanPropertyInt64", plan, 1, 7LL);
  TELL("cufftGetPlanPropertyInt64", plan, 1, &property);
  std::printf("property %lld\n", property);
  TELL("cufftSetPlanPropertyInt64", plan, 2, 1LL);
  TELL("cufftGetPlanPropertyInt64", plan, 3, &property);
  TELL("cufftMakePlan1d", plan, 0, c2c, 1, &work);
  TELL("cufftMakePlan1d", plan, 8, c2c, 1, static_cast<size_t*>(nullptr));
  TELL("cufftMakePlan1d", plan, 8, c2c, 1, &work);
  TELL("cufftMakePlan1d", plan, 8, c2c, 1, &work);
  TELL("cufftGetSize1d", plan, 1024, c2c, 1, &work);
  TELL("cufftGetSize1d", plan, 0, c2c, 1, &work);
  TELL("cufftSetPlanPropertyInt64", plan, 1, 1LL);
  TELL("cufftCreate", &other);
  std::printf("plans %d %d\n", plan, other);
  TELL("cufftDestroy", plan);
  TELL("cufftDestroy", plan);
  TELL("cufftPlan1d", &plan, 8, r2c, 1);
  std::printf("plans %d %d\n", plan, other);
  TELL("cufftExecC2C", plan, memory, memory, forward);
  TELL("cufftExecC2C", plan, memory, memory, 0);
  TELL("cufftExecC2R", plan, memory, memory);
  TELL("cufftXtExec", plan, memory, memory, inverse);
  TELL("cufftExecR2C", plan, numbers + 1, numbers + 64);
  TELL("cufftExecR2C", plan, numbers, numbers + 65);
  TELL("cufftExecR2C", plan, numbers, numbers + 64);
  Int n = 16;
  const auto typed = [&](Int length, int in, int out, int execution) {
    int made = -9;
    n = length;
    call("cufftCreate", &made);
    const int status = call("cufftXtMakePlanMany", made, 1, &n, static_cast<Int*>(nullptr), 1LL, 16LL, in,
                            static_cast<Int*>(nullptr), 1LL, 16LL, out, 1LL, &work, execution);
    call("cufftDestroy", made);
    return status;
  };
#define TYPED(...) std::printf("XtMakePlanMany(%s) -> %d\n", #__VA_ARGS__, typed(__VA_ARGS__))
  TYPED(16, 4, 4, 4);
  TYPED(16, 0, 4, 0);
  TYPED(16, 0, 0, 4);
  TYPED(16, 4, 5, 5);
  TYPED(16, 6, 6, 6);
  TYPED(15, 6, 6, 6);
  TYPED(15, 2, 6, 6);
  TYPED(16, 15, 15, 15);
  TYPED(15, 15, 15, 15);
  TYPED(16, 6, 6, 4);
  TYPED(0, 4, 4, 4);
  std::printf("at last: %d\n", cudaDeviceSynchronize());
#undef TYPED
#undef MANY
#undef TELL
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (!open_library("libcufft.so.12")) return 1;
  if (what == "outside") {  // of the memory that there is
    void *memory = nullptr, *enough = nullptr;
    cudaMalloc(&memory, 8 * 8 * 3 - 4);
    cudaMalloc(&enough, 8 * 8 * 3);
    int plan = -9;
    std::printf("plan: %d\n", call("cufftPlan1d", &plan, 8, c2c, 3));
    std::printf("transform: %d\n", call("cufftExecC2C", plan, enough, memory, forward));
    std::printf("then: %d\n", cudaDeviceSynchronize());
    std::printf("next: %d\n", call("cufftExecC2C", plan, enough, enough, forward));
    return 0;
  }
  if (what == "work") {  // the program gives
    int plan = -9;
    size_t made = 0, estimated = 0, got = 0;
    call("cufftCreate", &plan);
    call("cufftSetAutoAllocation", plan, 0);
    call("cufftMakePlan1d", plan, 8, c2c, 3, &made);
    call("cufftEstimate1d", 8, c2c, 3, &estimated);
    call("cufftGetSize", plan, &got);
    std::printf("work: %zu %zu %zu\n", made, estimated, got);
    return 0;
  }
  if (what == "missing") {
    std::printf("missing: %d\n", call("cufftXtSetGPUs", 1, 2, static_cast<int*>(nullptr)));
    return 0;
  }
  statuses();
  transforms<float>("float", 60);
  transforms<double>("double", 60);
  transforms<Half>("half", 10);
  transforms<Bfloat>("bfloat16", 10);
  there_and_back();
  in_a_graph();
}
