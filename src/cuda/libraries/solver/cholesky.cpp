// Cholesky factors, the systems that they solve, and inverses of these and of triangles.
#include "cuda/libraries/solver/call.hpp"

namespace lanescope::cuda::solver {
namespace {

template <typename Number>
int factor(const Panel& a, Fill fill) {
  Matrix<Number> lower = load_lower<Number>(a, fill);
  const int64_t failed = factor_cholesky<Number>(lower);
  store_lower(a, fill, lower);
  return static_cast<int>(failed);
}

/// b = A^-1 b.
template <typename Number>
void solve(const Panel& a, Fill fill, const Panel& b) {
  const Matrix<Number> lower = load_lower<Number>(a, fill);
  Matrix<Number> x = load<Number>(b);
  solve_triangle<Number>(lower, true, false, x);
  solve_triangle<Number>(lower.adjoint(), false, false, x);
  store(b, x);
}

Status potrf(Call& call, Fill fill, const Panel& a, int* info) {
  call.one_of(fill).panel("lda", a).pointer("info", info);
  return call.submit(a.values.type, [=](const Memory& memory, auto zero) {
    reach(memory, "A", a, true);
    *memory.write("info", info, 1) = factor<decltype(zero)>(a, fill);
  });
}

Status potrs(Call& call, Fill fill, const Panel& a, const Panel& b, int* info) {
  call.one_of(fill).panel("lda", a).panel("ldb", b).pointer("info", info);
  call.types("B", b.values.type, a.values.type);
  return call.submit(a.values.type, [=](const Memory& memory, auto zero) {
    reach(memory, "A", a, false);
    reach(memory, "B", b, true);
    *memory.write("info", info, 1) = 0;
    solve<decltype(zero)>(a, fill, b);
  });
}

/// The inverse of what the factor is of.
Status potri(Call& call, Fill fill, const Panel& a, int* info) {
  call.one_of(fill).panel("lda", a).pointer("info", info);
  return call.submit(a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    reach(memory, "A", a, true);
    memory.write("info", info, 1);
    const Matrix<Number> lower = load_lower<Number>(a, fill);
    *info = 0;
    for (int64_t k = a.rows; k-- > 0;)
      if (lower(k, k) == zero) *info = static_cast<int>(k + 1);
    if (*info != 0) return;
    Matrix<Number> inverse = Matrix<Number>::Identity(a.rows, a.rows);
    solve_triangle<Number>(lower, true, false, inverse);
    solve_triangle<Number>(lower.adjoint(), false, false, inverse);
    store_lower(a, fill, inverse);
  });
}

Status trtri(Call& call, Fill fill, Diagonal diagonal, const Panel& a, int* info) {
  call.one_of(fill).one_of(diagonal).panel("lda", a).pointer("info", info);
  return call.submit(a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    reach(memory, "A", a, true);
    memory.write("info", info, 1);
    const bool has_ones = diagonal == Diagonal::unit;
    const Matrix<Number> lower = load_lower<Number>(a, fill);
    *info = 0;
    for (int64_t k = a.rows; k-- > 0;)
      if (!has_ones && lower(k, k) == zero) *info = static_cast<int>(k + 1);
    if (*info != 0) return;
    Matrix<Number> inverse = Matrix<Number>::Identity(a.rows, a.rows);
    solve_triangle<Number>(lower, true, has_ones, inverse);
    if (has_ones) inverse.diagonal() = lower.diagonal();  // which are not read, and stay
    store_lower(a, fill, inverse);
  });
}

/// Matrices whose pointers lie in the memory of the device.
template <typename T>
Panel batch_of(const Memory& memory, const char* what, T* const* pointers, int64_t i, Panel panel,
               bool write) {
  panel.values = values_at(pointers[i]);
  reach(memory, what, panel, write);
  return panel;
}

template <typename T>
Status potrf_batch(Call& call, Fill fill, int n, T* const* a, int lda, int* info, int count) {
  const Panel shape{n, n, lda, values_at(static_cast<T*>(nullptr))};
  call.one_of(fill).panel("lda", shape).size("batchSize", count).pointer("infoArray", info);
  return call.submit(shape.values.type, [=](const Memory& memory, auto zero) {
    memory.read("the pointers to A", a, count);
    memory.write("infoArray", info, count);
    for (int64_t i = 0; i < count; ++i)
      info[i] = factor<decltype(zero)>(batch_of(memory, "A", a, i, shape, true), fill);
  });
}

/// `info`: one number, and about the arguments alone.
template <typename T>
Status potrs_batch(Call& call, Fill fill, int n, int columns, T* const* a, int lda, T* const* b, int ldb,
                   int* info, int count) {
  const Panel shape{n, n, lda, values_at(static_cast<T*>(nullptr))}, sides{n, columns, ldb, shape.values};
  call.one_of(fill).panel("lda", shape).panel("ldb", sides).size("batchSize", count).pointer("info", info);
  if (columns > 1) call.refuse(Status::invalid_value, "nrhs is {}, and at most 1 for a batch", columns);
  return call.submit(shape.values.type, [=](const Memory& memory, auto zero) {
    memory.read("the pointers to A", a, count);
    memory.read("the pointers to B", b, count);
    *memory.write("info", info, 1) = 0;
    for (int64_t i = 0; i < count; ++i)
      solve<decltype(zero)>(batch_of(memory, "A", a, i, shape, false), fill,
                            batch_of(memory, "B", b, i, sides, true));
  });
}

}  // namespace

#define LANESCOPE_CHOLESKY(P, T, R, sy, gqr, mqr)                                                            \
  LANESCOPE_CUDA_API Status cusolverDn##P##potrf_bufferSize(Handle* handle, Fill uplo, int n, T* a, int lda, \
                                                            int* size) {                                     \
    return Call(handle, "cusolverDn" #P "potrf_bufferSize")                                                  \
        .one_of(uplo)                                                                                        \
        .panel("lda", {n, n, lda, values_at(a)})                                                             \
        .tell_size(size);                                                                                    \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##potrf(Handle* handle, Fill uplo, int n, T* a, int lda, T*, int,   \
                                                 int* info) {                                                \
    Call call(handle, "cusolverDn" #P "potrf");                                                              \
    return potrf(call, uplo, {n, n, lda, values_at(a)}, info);                                               \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##potrs(Handle* handle, Fill uplo, int n, int nrhs, const T* a,     \
                                                 int lda, T* b, int ldb, int* info) {                        \
    Call call(handle, "cusolverDn" #P "potrs");                                                              \
    return potrs(call, uplo, {n, n, lda, values_at(a)}, {n, nrhs, ldb, values_at(b)}, info);                 \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##potri_bufferSize(Handle* handle, Fill uplo, int n, T* a, int lda, \
                                                            int* size) {                                     \
    return Call(handle, "cusolverDn" #P "potri_bufferSize")                                                  \
        .one_of(uplo)                                                                                        \
        .panel("lda", {n, n, lda, values_at(a)})                                                             \
        .tell_size(size);                                                                                    \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##potri(Handle* handle, Fill uplo, int n, T* a, int lda, T*, int,   \
                                                 int* info) {                                                \
    Call call(handle, "cusolverDn" #P "potri");                                                              \
    return potri(call, uplo, {n, n, lda, values_at(a)}, info);                                               \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##potrfBatched(Handle* handle, Fill uplo, int n, T* const* a,       \
                                                        int lda, int* info, int count) {                     \
    Call call(handle, "cusolverDn" #P "potrfBatched");                                                       \
    return potrf_batch(call, uplo, n, a, lda, info, count);                                                  \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##potrsBatched(Handle* handle, Fill uplo, int n, int nrhs,          \
                                                        T* const* a, int lda, T* const* b, int ldb,          \
                                                        int* info, int count) {                              \
    Call call(handle, "cusolverDn" #P "potrsBatched");                                                       \
    return potrs_batch(call, uplo, n, nrhs, a, lda, b, ldb, info, count);                                    \
  }
LANESCOPE_SOLVER_TYPES(LANESCOPE_CHOLESKY)

LANESCOPE_CUDA_API Status cusolverDnXpotrf_bufferSize(Handle* handle, Params* params, Fill uplo, int64_t n,
                                                      DataType type, const void* a, int64_t lda, DataType,
                                                      size_t* on_device, size_t* on_host) {
  return Call(handle, "cusolverDnXpotrf_bufferSize")
      .params(params)
      .one_of(uplo)
      .panel("lda", {n, n, lda, values_at(a, type)})
      .tell_size(on_device, on_host);
}
LANESCOPE_CUDA_API Status cusolverDnXpotrf(Handle* handle, Params* params, Fill uplo, int64_t n,
                                           DataType type, void* a, int64_t lda, DataType, void*, size_t,
                                           void*, size_t, int* info) {
  Call call(handle, "cusolverDnXpotrf");
  return potrf(call.params(params), uplo, {n, n, lda, values_at(a, type)}, info);
}
LANESCOPE_CUDA_API Status cusolverDnXpotrs(Handle* handle, Params* params, Fill uplo, int64_t n, int64_t nrhs,
                                           DataType type, const void* a, int64_t lda, DataType type_of_b,
                                           void* b, int64_t ldb, int* info) {
  Call call(handle, "cusolverDnXpotrs");
  return potrs(call.params(params), uplo, {n, n, lda, values_at(a, type)},
               {n, nrhs, ldb, values_at(b, type_of_b)}, info);
}
LANESCOPE_CUDA_API Status cusolverDnXtrtri_bufferSize(Handle* handle, Fill uplo, Diagonal diag, int64_t n,
                                                      DataType type, void* a, int64_t lda, size_t* on_device,
                                                      size_t* on_host) {
  return Call(handle, "cusolverDnXtrtri_bufferSize")
      .one_of(uplo)
      .one_of(diag)
      .panel("lda", {n, n, lda, values_at(a, type)})
      .tell_size(on_device, on_host);
}
LANESCOPE_CUDA_API Status cusolverDnXtrtri(Handle* handle, Fill uplo, Diagonal diag, int64_t n, DataType type,
                                           void* a, int64_t lda, void*, size_t, void*, size_t, int* info) {
  Call call(handle, "cusolverDnXtrtri");
  return trtri(call, uplo, diag, {n, n, lda, values_at(a, type)}, info);
}

}  // namespace lanescope::cuda::solver
