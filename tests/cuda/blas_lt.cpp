// Products by cuBLASLt, with random arguments, against sums written down here; and what calls return that
// make no sense. As blas.cpp, it needs neither nvcc nor headers, and runs with the toolkit's library as well.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "library_numbers.hpp"

namespace {

void* handle = nullptr;

/// Numbers of attributes.
enum : int { layout_order = 1, layout_rows, layout_leading = 4, layout_batch = 5, layout_stride = 6 };
enum : int {
  desc_compute,
  desc_pointer_mode = 2,
  desc_of_a,
  desc_of_b,
  desc_epilogue = 7,
  desc_bias,
  desc_bias_stride = 10
};
enum : uint32_t { relu = 2, bias_bit = 4, gelu = 32 };

/// A descriptor in memory of the program's own, as the headers' inline functions make it, or of the
/// library's.
class Descriptor {
 public:
  template <typename... Arguments>
  Descriptor(std::string kind, size_t bytes, Arguments... arguments)
      : kind_("cublasLt" + kind), memory_(bytes / sizeof(uint64_t)) {
    if (between(0, 1) == 0) {
      at_ = memory_.data();
      succeed(call(kind_ + "Init_internal", at_, bytes, arguments...));
    } else {
      is_created_ = true;
      succeed(call(kind_ + "Create", &at_, arguments...));
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (is_created_) succeed(call(kind_ + "Destroy", at_));
  }
  template <typename T>
  void set(int attribute, T value) {
    succeed(call(kind_ + "SetAttribute", at_, attribute, &value, sizeof value));
    T same{};
    size_t written = 0;
    succeed(call(kind_ + "GetAttribute", at_, attribute, &same, sizeof same, &written));
    if (same != value || written != sizeof value) ++wrong;
  }
  [[nodiscard]] void* get() const { return at_; }

 private:
  std::string kind_;
  std::vector<uint64_t> memory_;
  void* at_ = nullptr;
  bool is_created_ = false;
};

/// A batch of matrices, by columns or by rows, with room between them.
template <typename T>
struct Matrices {
  Int rows, columns, count;
  bool by_rows = between(0, 2) == 0;
  Int leading = (by_rows ? columns : rows) + between(0, 3);
  Int stride = leading * (by_rows ? rows : columns) + between(0, 5);
  Shared<T> data{stride * count};
  Descriptor layout{
      "MatrixLayout", 64, type_of<T>, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), leading};

  Matrices(Int rows, Int columns, Int count) : rows(rows), columns(columns), count(count) {
    if (by_rows) layout.set(layout_order, int32_t{1});
    layout.set(layout_leading, leading);
    layout.set(layout_batch, static_cast<int32_t>(count));
    layout.set(layout_stride, stride);
  }
  [[nodiscard]] Int place(Int batch, Int i, Int j) const {
    return batch * stride + (by_rows ? i * leading + j : i + j * leading);
  }
  [[nodiscard]] Wide at(Int batch, Int i, Int j) const { return data.before(place(batch, i, j)); }
  /// Of the matrix as an operation takes it.
  [[nodiscard]] Wide at(int operation, Int batch, Int i, Int j) const {
    return operation == 0 ? at(batch, i, j) : conj_if(at(batch, j, i), operation == 2);
  }
};

double activated(uint32_t epilogue, double x) {
  if ((epilogue & relu) != 0) return std::max(x, 0.0);
  if ((epilogue & gelu) == 0) return x;
  return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}

template <typename T>
void products() {
  constexpr bool has_epilogues = std::is_same_v<T, float>;
  constexpr int compute = std::is_same_v<Real<T>, float> ? 68 : 70;
  const Int m = between(1, 12), n = between(1, 12), k = between(1, 12), count = between(1, 3);
  const int of_a = between(0, Of<T>::is_complex ? 2 : 1), of_b = between(0, Of<T>::is_complex ? 2 : 1);
  const bool in_place = between(0, 1) == 0, by_device = between(0, 2) == 0;
  constexpr uint32_t epilogues[] = {1, relu, bias_bit, gelu, relu | bias_bit, gelu | bias_bit};
  const uint32_t epilogue = has_epilogues ? epilogues[between(0, 5)] : 1;
  Matrices<T> a(of_a == 0 ? m : k, of_a == 0 ? k : m, count), b(of_b == 0 ? k : n, of_b == 0 ? n : k, count);
  Matrices<T> c(m, n, count), other(m, n, count);
  Matrices<T>& d = in_place ? c : other;
  Shared<T> scalars(2), bias(m * count);
  if (between(0, 2) == 0) scalars[1] = T(0);
  scalars.keep();
  const T alpha = scalars[0], beta = scalars[1];

  Descriptor how("MatmulDesc", 256, compute, type_of<T>);
  how.set(desc_of_a, int32_t{of_a});
  how.set(desc_of_b, int32_t{of_b});
  how.set(desc_epilogue, epilogue);
  if (by_device) how.set(desc_pointer_mode, int32_t{1});
  if ((epilogue & bias_bit) != 0) {
    how.set(desc_bias, bias.data());
    how.set(desc_bias_stride, m);
  }
  given = " m " + std::to_string(m) + " n " + std::to_string(n) + " k " + std::to_string(k) + " epilogue " +
          std::to_string(epilogue) + " orders " + std::to_string(a.by_rows) + std::to_string(b.by_rows) +
          std::to_string(c.by_rows) + std::to_string(d.by_rows) + " batch " + std::to_string(count);
  doing = "cublasLtMatmul";
  succeed(call(doing, handle, how.get(), by_device ? scalars.data() : &alpha, a.data.data(), a.layout.get(),
               b.data.data(), b.layout.get(), by_device ? scalars.data() + 1 : &beta, c.data.data(),
               c.layout.get(), d.data.data(), d.layout.get(), static_cast<void*>(nullptr),
               static_cast<void*>(nullptr), size_t{0}, static_cast<void*>(nullptr)));
  cudaDeviceSynchronize();
  std::vector<Wide> expected;
  for (Int i = 0; i < d.data.count(); ++i) expected.push_back(d.data.before(i));
  for (Int batch = 0; batch < count; ++batch)
    for (Int j = 0; j < n; ++j)
      for (Int i = 0; i < m; ++i) {
        Wide sum = 0;
        for (Int l = 0; l < k; ++l) sum += a.at(of_a, batch, i, l) * b.at(of_b, batch, l, j);
        sum = Wide(alpha) * sum + Wide(beta) * c.at(batch, i, j);
        if ((epilogue & bias_bit) != 0) sum += bias.before(batch * m + i);
        if (has_epilogues) sum = activated(epilogue, sum.real());
        expected[static_cast<size_t>(d.place(batch, i, j))] = sum;
      }
  expect<T>(
      d.data, [&](Int i) { return expected[static_cast<size_t>(i)]; }, static_cast<double>(4 * k));
}

/// Descriptors that the library made are made anew where they are, as large as headers since CUDA 13.0's say,
/// which leaves those beside them alone.
void made_anew() {
  constexpr uint64_t pairs = 32;
  void *layouts[2 * pairs], *descs[2 * pairs], *preferences[2 * pairs];
  for (uint64_t i = 0; i < 2 * pairs; ++i)
    succeed(call("cublasLtMatrixLayoutCreate", &layouts[i], 0, i, i, Int{64}));
  for (void*& desc : descs) succeed(call("cublasLtMatmulDescCreate", &desc, 68, 0));
  for (void*& preference : preferences) succeed(call("cublasLtMatmulPreferenceCreate", &preference));
  for (uint64_t i = 0; i < 2 * pairs; i += 2) {
    succeed(call("cublasLtMatrixLayoutInit_internal", layouts[i], size_t{112}, 0, i, i, Int{64}));
    succeed(call("cublasLtMatmulDescInit_internal", descs[i], size_t{256}, 68, 0));
    succeed(call("cublasLtMatmulPreferenceInit_internal", preferences[i], size_t{96}));
  }
  for (uint64_t i = 0; i < 2 * pairs; ++i) {
    uint64_t rows = 0;
    int32_t compute = 0;
    size_t written = 0;
    succeed(
        call("cublasLtMatrixLayoutGetAttribute", layouts[i], layout_rows, &rows, sizeof rows, &written) +
        call("cublasLtMatmulDescGetAttribute", descs[i], desc_compute, &compute, sizeof compute, &written));
    ++(rows == i && compute == 68 ? right : wrong);
    succeed(call("cublasLtMatrixLayoutDestroy", layouts[i]) + call("cublasLtMatmulDescDestroy", descs[i]) +
            call("cublasLtMatmulPreferenceDestroy", preferences[i]));
  }
}

/// Small whole numbers as bfloat16, into floats: exact.
void of_bfloat() {
  constexpr int bfloat = 14;
  const auto bits = [](float value) {
    uint32_t all = 0;
    __builtin_memcpy(&all, &value, sizeof all);
    return static_cast<uint16_t>(all >> 16);
  };
  uint16_t* in = nullptr;
  float* out = nullptr;
  cudaMallocManaged(reinterpret_cast<void**>(&in), 512, 1);
  cudaMallocManaged(reinterpret_cast<void**>(&out), 256 * sizeof(float), 1);
  int values[256];
  for (int i = 0; i < 256; ++i) in[i] = bits(static_cast<float>(values[i] = between(-3, 3)));
  const uint64_t sixteen = 16;
  Descriptor how("MatmulDesc", 256, 68, 0), layout("MatrixLayout", 64, bfloat, sixteen, sixteen, Int{16}),
      result("MatrixLayout", 64, 0, sixteen, sixteen, Int{16});
  const float one = 1, zero = 0;
  succeed(call("cublasLtMatmul", handle, how.get(), &one, in, layout.get(), in, layout.get(), &zero, out,
               result.get(), out, result.get(), static_cast<void*>(nullptr), static_cast<void*>(nullptr),
               size_t{0}, static_cast<void*>(nullptr)));
  cudaDeviceSynchronize();
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      int sum = 0;
      for (int l = 0; l < 16; ++l) sum += values[i + l * 16] * values[l + j * 16];
      if (out[i + j * 16] == static_cast<float>(sum))
        ++right;
      else
        ++wrong;
    }
}

void tell(const char* what, int status) { std::printf("%s: %d\n", what, status); }

/// Statuses of calls that make no sense, or ask for what there is.
void statuses() {
  void *how = nullptr, *layout = nullptr, *wide = nullptr, *preference = nullptr, *none = nullptr,
       *made = nullptr;
  float* p = nullptr;
  const float one = 1;
  cudaMallocManaged(reinterpret_cast<void**>(&p), 4096, 1);
  const uint64_t four = 4, five = 5;
  tell("create", call("cublasLtMatmulDescCreate", &how, 68, 0) +
                     call("cublasLtMatrixLayoutCreate", &layout, 0, four, four, Int{4}) +
                     call("cublasLtMatrixLayoutCreate", &wide, 0, four, five, Int{4}) +
                     call("cublasLtMatmulPreferenceCreate", &preference));
  size_t written = 0;
  int32_t value = 0;
  tell("how large", call("cublasLtMatmulDescGetAttribute", how, desc_of_a, none, size_t{0}, &written));
  std::printf("%zu bytes\n", written);
  tell("wrong size", call("cublasLtMatmulDescSetAttribute", how, desc_of_a, &value, size_t{8}));
  tell("no such attribute", call("cublasLtMatmulDescSetAttribute", how, 99, &value, size_t{4}));
  tell("no value", call("cublasLtMatrixLayoutSetAttribute", layout, layout_batch, none, size_t{4}));
  tell("no room",
       call("cublasLtMatrixLayoutGetAttribute", layout, layout_leading, &value, size_t{4}, &written));
  const auto multiply = [&](void* by, void* of_a, void* of_b, const float* alpha) {
    return call("cublasLtMatmul", by, how, alpha, p, of_a, p + 100, of_b, &one, p + 200, layout, p + 200,
                layout, none, none, size_t{0}, none);
  };
  tell("multiply", multiply(handle, layout, layout, &one));
  tell("no handle", multiply(none, layout, layout, &one));
  tell("no layout", multiply(handle, none, layout, &one));
  tell("sizes", multiply(handle, wide, layout, &one));
  succeed(call("cublasLtMatmulDescSetAttribute", how, desc_bias, &p, sizeof p));
  tell("a bias that is not added", multiply(handle, layout, layout, &one));
  succeed(call("cublasLtMatmulDescSetAttribute", how, desc_bias, &none, sizeof none));
  struct {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
  } found[2];
  int count = -1;
  const auto look_up = [&](int wanted) {
    return call("cublasLtMatmulAlgoGetHeuristic", handle, how, layout, layout, layout, layout, preference,
                wanted, &found[0], &count);
  };
  tell("look up", look_up(1));
  std::printf("%d found, state %d\n", count, found[0].state);
  tell("look up none", look_up(0));
  tell("check", call("cublasLtMatmulAlgoCheck", handle, how, layout, layout, layout, layout,
                     &found[0].algorithm, &found[1]));
  tell("destroy", call("cublasLtMatmulDescDestroy", how) + call("cublasLtMatrixLayoutDestroy", layout) +
                      call("cublasLtMatrixLayoutDestroy", wide) +
                      call("cublasLtMatmulPreferenceDestroy", preference));
  tell("destroy none", call("cublasLtMatmulDescDestroy", none) + call("cublasLtMatrixLayoutDestroy", none) +
                           call("cublasLtMatmulPreferenceDestroy", none));
  tell("no handle to destroy", call("cublasLtDestroy", none));
  tell("another handle", call("cublasLtCreate", &made) + call("cublasLtDestroy", made));
}

template <typename T>
void all(const char* letter) {
  right = wrong = 0;
  for (int i = 0; i < 100; ++i) products<T>();
  std::printf("%s: %d right, %d wrong\n", letter, right, wrong);
}

}  // namespace

int main(int count, char** /*arguments*/) {
  if (!open_library("libcublasLt.so.13")) return 1;
  if (count > 1) {  // as the headers of CUDA 11.0 have it
    uint64_t words[10];
    std::printf("small: %d\n", call("cublasLtMatmulDescInit_internal", words, sizeof words, 68, 0));
    return 0;
  }
  succeed(call("cublasLtCreate", &handle));
  all<float>("S");
  all<double>("D");
  all<std::complex<float>>("C");
  all<std::complex<double>>("Z");
  right = wrong = 0;
  of_bfloat();
  std::printf("of bfloat16: %d right, %d wrong\n", right, wrong);
  right = wrong = 0;
  made_anew();
  std::printf("made anew: %d right, %d wrong\n", right, wrong);
  statuses();
  std::printf("at last: %d %d\n", cudaDeviceSynchronize(), cudaGetLastError());
  succeed(call("cublasLtDestroy", handle));
}
