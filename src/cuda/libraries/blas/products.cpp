// Products of general matrices: of one type or several, one or a batch.
#include <Eigen/Core>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <vector>

#include "cuda/libraries/blas/products.hpp"
#include "cuda/libraries/parts.hpp"

namespace lanescope::cuda::blas {
namespace {

using Half = Eigen::half;

/// What cublasXgemm of a type computes with.
template <DataType data_type, ComputeType compute_type>
struct Computes {
  static constexpr DataType type = data_type;
  static constexpr ComputeType compute = compute_type;
};
template <typename T>
struct Gemm;
template <>
struct Gemm<float> : Computes<DataType::real_32f, ComputeType::single> {};
template <>
struct Gemm<double> : Computes<DataType::real_64f, ComputeType::double_> {};
template <>
struct Gemm<std::complex<float>> : Computes<DataType::complex_32f, ComputeType::single> {};
template <>
struct Gemm<std::complex<double>> : Computes<DataType::complex_64f, ComputeType::double_> {};
template <>
struct Gemm<Half> : Computes<DataType::real_16f, ComputeType::half> {};

/// Calls f(T()) with the type that the number means; false of another one.
template <typename F>
bool with_type(DataType type, F&& f) {
  switch (type) {
    case DataType::real_32f: f(float{}); return true;
    case DataType::real_64f: f(double{}); return true;
    case DataType::real_16f: f(Half{}); return true;
    case DataType::real_16bf: f(Eigen::bfloat16{}); return true;
    case DataType::real_8i: f(int8_t{}); return true;
    case DataType::real_32i: f(int32_t{}); return true;
    case DataType::complex_32f: f(std::complex<float>{}); return true;
    case DataType::complex_64f: f(std::complex<double>{}); return true;
    default: return false;
  }
}

/// Bytes of an element; 0 of a type that is not computed with here.
int64_t bytes_of(DataType type) {
  int64_t bytes = 0;
  with_type(type, [&](auto element) { bytes = sizeof element; });
  return bytes;
}

/// A number of one type as one of another.
template <typename To, typename From>
To as(From value) {
  if constexpr (is_complex<From> && !is_complex<To>)
    return To(0);  // refused before
  else if constexpr (is_complex<To> && !is_complex<From>)
    return To(static_cast<Real<To>>(value));
  else if constexpr (std::is_same_v<To, int8_t>)
    return static_cast<int8_t>(std::clamp<double>(std::nearbyint(static_cast<double>(value)), -128, 127));
  else if constexpr (std::is_same_v<To, int32_t> && !std::is_integral_v<From>)
    return static_cast<int32_t>(std::nearbyint(static_cast<double>(value)));
  else
    return static_cast<To>(value);
}

/// Where each matrix of a batch lies, all of them within reach.
std::vector<const void*> places(const Memory& memory, const Matrices& matrices, const Batch& batch,
                                bool write) {
  const int64_t bytes = bytes_of(matrices.type);
  std::vector<const void*> out;
  const auto* pointers = static_cast<const void* const*>(matrices.data);
  if (batch.by_pointers)
    memory.read(fmt::format("the pointers to {}", matrices.name).c_str(), pointers, batch.count);
  for (int64_t i = 0; i < batch.count; ++i) {
    const void* first = batch.by_pointers
                            ? pointers[i]
                            : static_cast<const char*>(matrices.data) + i * matrices.stride * bytes;
    memory.reach(matrices.name, first, static_cast<uint64_t>(matrices.at.extent() * bytes), write);
    out.push_back(first);
  }
  return out;
}

template <typename S>
Dense<S> load(const void* data, const Matrices& matrices, Operation operation) {
  Dense<S> out(matrices.at.rows, matrices.at.columns);
  with_type(matrices.type, [&]<typename T>(T) {
    const auto* in = static_cast<const T*>(data);
    for (int64_t j = 0; j < out.cols(); ++j)
      for (int64_t i = 0; i < out.rows(); ++i) out(i, j) = as<S>(in[matrices.at.place(i, j)]);
  });
  return apply(operation, std::move(out));
}

/// GELU in the approximation by tanh.
template <typename S>
S gelu(S x) {
  constexpr S scale = std::numbers::sqrt2_v<S> * std::numbers::inv_sqrtpi_v<S>;
  return x / 2 * (1 + std::tanh(scale * (x + S(0.044715) * x * x * x)));
}
template <typename S>
S activated(Epilogue::Activation activation, S value) {
  if constexpr (std::is_floating_point_v<S>) {
    if (activation == Epilogue::Activation::gelu) return gelu(value);
    if (activation == Epilogue::Activation::relu) return value < 0 ? S(0) : value;  // a NaN stays one
  }
  return value;
}

/// The bias of one matrix of the batch, for each row; 0 without one.
template <typename S>
std::vector<S> bias_of(const Memory& memory, const Product& job, int64_t matrix) {
  std::vector<S> out(static_cast<size_t>(job.m), S(0));
  if (job.epilogue.bias == nullptr) return out;
  with_type(job.epilogue.bias_type, [&]<typename T>(T) {
    const T* bias = memory.read(
        "the bias", static_cast<const T*>(job.epilogue.bias) + matrix * job.epilogue.bias_stride, job.m);
    for (size_t i = 0; i < out.size(); ++i) out[i] = as<S>(bias[i]);
  });
  return out;
}

template <typename S>
void store(S alpha, const Dense<S>& p, S beta, const void* of_c, void* of_d, const Product& job,
           const std::vector<S>& bias) {
  with_type(job.d.type, [&]<typename T>(T) {
    const auto* c = static_cast<const T*>(of_c);
    auto* d = static_cast<T*>(of_d);
    for (int64_t j = 0; j < job.n; ++j)
      for (int64_t i = 0; i < job.m; ++i) {
        S value = p.size() == 0 ? S(0) : S(alpha * p(i, j));
        if (beta != S(0)) value += beta * as<S>(c[job.c.at.place(i, j)]);
        if (job.epilogue.bias != nullptr) value += bias[static_cast<size_t>(i)];
        d[job.d.at.place(i, j)] = as<T>(activated(job.epilogue.activation, value));
      }
  });
}

template <typename S, typename OfScalars>
Status run(const Call& call, const Product& job, const void* alpha, const void* beta) {
  return call.submit([job, alpha = call.scalar(static_cast<const OfScalars*>(alpha)),
                      beta = call.scalar(static_cast<const OfScalars*>(beta))](const Memory& memory) {
    const S factor = as<S>(alpha.in(memory)), of_c = as<S>(beta.in(memory));
    // Batches by pointers multiply by 0 as by any number (dense.hpp).
    const bool is_scaling = (factor == S(0) && !job.batch.by_pointers) || job.k == 0;
    std::vector<const void*> a, b;
    if (!is_scaling) {
      a = places(memory, job.a, job.batch, false);
      b = places(memory, job.b, job.batch, false);
    }
    const std::vector<const void*> d = places(memory, job.d, job.batch, true);
    const std::vector<const void*> c = of_c == S(0) ? d : places(memory, job.c, job.batch, false);
    std::vector<std::vector<S>> bias;
    for (int64_t i = 0; i < job.batch.count; ++i) bias.push_back(bias_of<S>(memory, job, i));
    const double worth = static_cast<double>(job.batch.count) * job.m * job.n * job.k / worth_a_thread;
    libraries::in_parts(job.batch.count, worth, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        Dense<S> p;
        if (!is_scaling) p = product(load<S>(a[i], job.a, job.of_a), load<S>(b[i], job.b, job.of_b));
        store(factor, p, of_c, c[i], const_cast<void*>(d[i]), job, bias[i]);
      }
    });
  });
}

struct Given {
  const void* data;
  DataType type;
  int64_t leading;
  int64_t stride = 0;
};

Status gemm(Call& call, Operation of_a, Operation of_b, int64_t m, int64_t n, int64_t k, const void* alpha,
            const Given& a, const Given& b, const void* beta, const Given& c, ComputeType compute,
            const Batch& batch = {}) {
  call.one_of(of_a).one_of(of_b).size("m", m).size("n", n).size("k", k).size("batchCount", batch.count);
  if (call.is_refused()) return call.status();
  const Product job{of_a,
                    of_b,
                    m,
                    n,
                    k,
                    {"A", a.data, a.type, stored(of_a, m, k, a.leading), a.stride},
                    {"B", b.data, b.type, stored(of_b, k, n, b.leading), b.stride},
                    {"C", c.data, c.type, Layout::of_columns(m, n, c.leading), c.stride},
                    batch};
  call.leading("lda", a.leading, job.a.at.rows).leading("ldb", b.leading, job.b.at.rows);
  call.leading("ldc", c.leading, m).pointer("alpha", alpha).pointer("beta", beta);
  if (k > 0 && m > 0 && n > 0) call.pointer("A", a.data).pointer("B", b.data).pointer("C", c.data);
  const Computed in = a.type == b.type ? computed(compute, a.type, c.type) : Computed::none;
  if (in == Computed::none)
    call.refuse(Status::not_supported,
                "of types {} and {} into type {} with compute type {} there is no product here",
                static_cast<int>(a.type), static_cast<int>(b.type), static_cast<int>(c.type),
                static_cast<int>(compute));
  return multiply(call, job, in, alpha, beta);
}

}  // namespace

Computed computed(ComputeType compute, DataType in, DataType out) {
  switch (compute) {
    case ComputeType::half:
    case ComputeType::half_pedantic:
      return in == DataType::real_16f && out == in ? Computed::half : Computed::none;
    case ComputeType::single:
    case ComputeType::single_pedantic:
    case ComputeType::single_fast_half:
    case ComputeType::single_fast_bfloat:
    case ComputeType::single_fast_tf32:
    case ComputeType::single_emulated:
      if (in == DataType::complex_32f && out == in) return Computed::single_complex;
      if (out == DataType::real_32f)
        return in == DataType::real_32f || in == DataType::real_16f || in == DataType::real_16bf ||
                       in == DataType::real_8i
                   ? Computed::single
                   : Computed::none;
      return in == out && (in == DataType::real_16f || in == DataType::real_16bf) ? Computed::single
                                                                                  : Computed::none;
    case ComputeType::double_:
    case ComputeType::double_pedantic:
      if (in != out) return Computed::none;
      return in == DataType::real_64f      ? Computed::double_
             : in == DataType::complex_64f ? Computed::double_complex
                                           : Computed::none;
    case ComputeType::integer:
    case ComputeType::integer_pedantic:
      return in == DataType::real_8i && out == DataType::real_32i ? Computed::integer : Computed::none;
  }
  return Computed::none;
}

Status multiply(const Call& call, const Product& job, Computed in, const void* alpha, const void* beta) {
  if (call.is_refused() || job.m == 0 || job.n == 0 || job.batch.count == 0) return call.status();
  switch (in) {
    case Computed::none: break;
    // As if sums were kept as floats, and rounded once.
    case Computed::half: return run<float, Half>(call, job, alpha, beta);
    case Computed::single: return run<float, float>(call, job, alpha, beta);
    case Computed::single_complex:
      return run<std::complex<float>, std::complex<float>>(call, job, alpha, beta);
    case Computed::double_: return run<double, double>(call, job, alpha, beta);
    case Computed::double_complex:
      return run<std::complex<double>, std::complex<double>>(call, job, alpha, beta);
    case Computed::integer: return run<int32_t, int32_t>(call, job, alpha, beta);
  }
  return call.status();
}

#define GEMM(DEFINE, name, T)                                                                               \
  DEFINE(name,                                                                                              \
         (Handle * handle, Operation transa, Operation transb, Int m, Int n, Int k, const T* alpha,         \
          const T* a, Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc),                          \
         gemm(call, transa, transb, m, n, k, alpha, {a, Gemm<T>::type, lda}, {b, Gemm<T>::type, ldb}, beta, \
              {c, Gemm<T>::type, ldc}, Gemm<T>::compute))
#define GEMM_BATCHES(P, T)                                                                               \
  LANESCOPE_CUBLAS(                                                                                      \
      P##gemmBatched,                                                                                    \
      (Handle * handle, Operation transa, Operation transb, Int m, Int n, Int k, const T* alpha,         \
       const T* const* a, Int lda, const T* const* b, Int ldb, const T* beta, T* const* c, Int ldc,      \
       Int count),                                                                                       \
      gemm(call, transa, transb, m, n, k, alpha, {a, Gemm<T>::type, lda}, {b, Gemm<T>::type, ldb}, beta, \
           {c, Gemm<T>::type, ldc}, Gemm<T>::compute, {count, true}))                                    \
  LANESCOPE_CUBLAS(P##gemmStridedBatched,                                                                \
                   (Handle * handle, Operation transa, Operation transb, Int m, Int n, Int k,            \
                    const T* alpha, const T* a, Int lda, long long stride_a, const T* b, Int ldb,        \
                    long long stride_b, const T* beta, T* c, Int ldc, long long stride_c, Int count),    \
                   gemm(call, transa, transb, m, n, k, alpha, {a, Gemm<T>::type, lda, stride_a},         \
                        {b, Gemm<T>::type, ldb, stride_b}, beta, {c, Gemm<T>::type, ldc, stride_c},      \
                        Gemm<T>::compute, {count, false}))
#define PRODUCTS(P, T) GEMM(LANESCOPE_CUBLAS_V2, P##gemm, T) GEMM_BATCHES(P, T)
LANESCOPE_BLAS_ALL(PRODUCTS)
GEMM(LANESCOPE_CUBLAS, Hgemm, Half)
GEMM_BATCHES(H, Half)
GEMM(LANESCOPE_CUBLAS, Cgemm3m, std::complex<float>)
GEMM(LANESCOPE_CUBLAS, Zgemm3m, std::complex<double>)

#define GEMM_EX(name, T)                                                                                     \
  LANESCOPE_CUBLAS(name,                                                                                     \
                   (Handle * handle, Operation transa, Operation transb, Int m, Int n, Int k,                \
                    const T* alpha, const void* a, DataType type_a, Int lda, const void* b, DataType type_b, \
                    Int ldb, const T* beta, void* c, DataType type_c, Int ldc),                              \
                   gemm(call, transa, transb, m, n, k, alpha, {a, type_a, lda}, {b, type_b, ldb}, beta,      \
                        {c, type_c, ldc}, ComputeType::single))
GEMM_EX(SgemmEx, float)
GEMM_EX(CgemmEx, std::complex<float>)

LANESCOPE_CUBLAS(GemmEx,
                 (Handle * handle, Operation transa, Operation transb, Int m, Int n, Int k, const void* alpha,
                  const void* a, DataType type_a, Int lda, const void* b, DataType type_b, Int ldb,
                  const void* beta, void* c, DataType type_c, Int ldc, ComputeType compute,
                  int /*algorithm*/),
                 gemm(call, transa, transb, m, n, k, alpha, {a, type_a, lda}, {b, type_b, ldb}, beta,
                      {c, type_c, ldc}, compute))
LANESCOPE_CUBLAS(GemmBatchedEx,
                 (Handle * handle, Operation transa, Operation transb, Int m, Int n, Int k, const void* alpha,
                  const void* const* a, DataType type_a, Int lda, const void* const* b, DataType type_b,
                  Int ldb, const void* beta, void* const* c, DataType type_c, Int ldc, Int count,
                  ComputeType compute, int /*algorithm*/),
                 gemm(call, transa, transb, m, n, k, alpha, {a, type_a, lda}, {b, type_b, ldb}, beta,
                      {c, type_c, ldc}, compute, {count, true}))
LANESCOPE_CUBLAS(GemmStridedBatchedEx,
                 (Handle * handle, Operation transa, Operation transb, Int m, Int n, Int k, const void* alpha,
                  const void* a, DataType type_a, Int lda, long long stride_a, const void* b, DataType type_b,
                  Int ldb, long long stride_b, const void* beta, void* c, DataType type_c, Int ldc,
                  long long stride_c, Int count, ComputeType compute, int /*algorithm*/),
                 gemm(call, transa, transb, m, n, k, alpha, {a, type_a, lda, stride_a},
                      {b, type_b, ldb, stride_b}, beta, {c, type_c, ldc, stride_c}, compute, {count, false}))

}  // namespace lanescope::cuda::blas
