// Products of general matrices: of one type or several, one or a batch.
#include <Eigen/Core>
#include <type_traits>
#include <vector>

#include "cuda/libraries/blas/call.hpp"
#include "cuda/libraries/blas/dense.hpp"
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

/// What a product is computed in.
enum class Computed : uint8_t { none, half, single, single_complex, double_, double_complex, integer };

/// Of matrices of these types; `none` if they do not go together, or are not computed with here.
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

/// One operand of all products of a call.
struct Matrices {
  const char* name;
  const void* data;  ///< of the first one, or where the pointers lie
  DataType type;
  Layout at;
  int64_t stride;  ///< in elements
};

/// How the products of a call lie.
struct Batch {
  int64_t count = 1;
  bool by_pointers = false;
};

/// What is computed: alpha op(A) op(B) + beta C.
struct Product {
  Operation of_a, of_b;
  int64_t m, n, k;
  Matrices a, b, c;
  Batch batch;
};

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

template <typename S>
void store(S alpha, const Dense<S>& p, S beta, void* data, const Matrices& matrices) {
  with_type(matrices.type, [&]<typename T>(T) {
    auto* c = static_cast<T*>(data);
    for (int64_t j = 0; j < matrices.at.columns; ++j)
      for (int64_t i = 0; i < matrices.at.rows; ++i) {
        T& element = c[matrices.at.place(i, j)];
        S value = alpha == S(0) ? S(0) : S(alpha * p(i, j));
        if (beta != S(0)) value += beta * as<S>(element);
        element = as<T>(value);
      }
  });
}

template <typename S, typename OfScalars>
Status run(const Call& call, const Product& job, const void* alpha, const void* beta) {
  return call.submit([job, alpha = call.scalar(static_cast<const OfScalars*>(alpha)),
                      beta = call.scalar(static_cast<const OfScalars*>(beta))](const Memory& memory) {
    const S factor = as<S>(alpha.in(memory)), of_c = as<S>(beta.in(memory));
    const bool is_scaling = factor == S(0) || job.k == 0;
    std::vector<const void*> a, b;
    if (!is_scaling) {
      a = places(memory, job.a, job.batch, false);
      b = places(memory, job.b, job.batch, false);
    }
    const std::vector<const void*> c = places(memory, job.c, job.batch, true);
    const double worth = static_cast<double>(job.batch.count) * job.m * job.n * job.k / worth_a_thread;
    libraries::in_parts(job.batch.count, worth, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        Dense<S> p;
        if (!is_scaling) p = product(load<S>(a[i], job.a, job.of_a), load<S>(b[i], job.b, job.of_b));
        store(is_scaling ? S(0) : factor, p, of_c, const_cast<void*>(c[i]), job.c);
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
  if (call.is_refused() || m == 0 || n == 0 || batch.count == 0) return call.status();
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

}  // namespace

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
