// LU factors, the systems that they solve, and the functions that refine what they find.
#include <algorithm>

#include "cuda/libraries/solver/call.hpp"

namespace lanescope::cuda::solver {
namespace {

Status getrf(Call& call, const Panel& a, const Indices& pivots, int* info) {
  call.panel("lda", a).pointer("info", info);
  return call.submit(a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    const int64_t count = std::min(a.rows, a.columns);
    reach(memory, "A", a, true);
    if (pivots.data != nullptr) reach(memory, "the pivots", pivots, count, true);
    memory.write("info", info, 1);
    Matrix<Number> matrix = load<Number>(a);
    std::vector<int64_t> rows;
    *info = static_cast<int>(factor_lu(matrix, pivots.data != nullptr ? &rows : nullptr));
    store(a, matrix);
    for (size_t k = 0; k < rows.size(); ++k) pivots.store(static_cast<int64_t>(k), rows[k] + 1);
  });
}

/// b = op(A)^-1 b, of factors and the rows that were exchanged.
template <typename Number>
void solve(const Matrix<Number>& lu, const std::vector<int64_t>& rows, Operation operation,
           Matrix<Number>& b) {
  const auto exchange = [&](size_t k) {
    const auto one = static_cast<int64_t>(k);
    if (rows[k] != one) b.row(one).swap(b.row(rows[k]));
  };
  if (operation == Operation::none) {
    for (size_t k = 0; k < rows.size(); ++k) exchange(k);
    solve_triangle<Number>(lu, true, true, b);
    solve_triangle<Number>(lu, false, false, b);
    return;
  }
  const Matrix<Number> turned =
      operation == Operation::adjoint ? Matrix<Number>(lu.adjoint()) : Matrix<Number>(lu.transpose());
  solve_triangle<Number>(turned, true, false, b);
  solve_triangle<Number>(turned, false, true, b);
  for (size_t k = rows.size(); k-- > 0;) exchange(k);
}

Status getrs(Call& call, Operation operation, const Panel& a, const Indices& pivots, const Panel& b,
             int* info) {
  call.one_of(operation).panel("lda", a).panel("ldb", b).pointer("info", info);
  call.types("B", b.values.type, a.values.type);
  return call.submit(a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    reach(memory, "A", a, false);
    if (pivots.data != nullptr) reach(memory, "the pivots", pivots, a.rows, false);
    reach(memory, "B", b, true);
    *memory.write("info", info, 1) = 0;
    std::vector<int64_t> rows;
    for (int64_t k = 0; pivots.data != nullptr && k < a.rows; ++k) {
      rows.push_back(pivots[k] - 1);
      if (rows.back() < 0 || rows.back() >= a.rows)
        throw libraries::Astray{
            fmt::format("finds pivot {} at element {}; there are {} rows", pivots[k], k, a.rows)};
    }
    Matrix<Number> x = load<Number>(b);
    solve(load<Number>(a), rows, operation, x);
    store(b, x);
  });
}

/// Exchanges rows first to last, which are numbered from 1 on, as the pivots say. Their step may be negative.
Status laswp(Call& call, const Panel& a, int first, int last, const int* pivots, int step) {
  if (a.columns < 0 || a.leading < 1 || first < 1 || last < first || step == 0)
    call.refuse(Status::invalid_value, "n is {}, lda {}, k1 {}, k2 {}, incx {}", a.columns, a.leading, first,
                last, step);
  return call.submit(a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    const int64_t distance = std::abs(step);
    const int* of_first = memory.read("the pivots", pivots + first - 1, (last - first) * distance + 1);
    for (int64_t k = 0; k <= last - first; ++k) {
      const int64_t row = (step > 0 ? first + k : last - k) - 1,
                    other = of_first[(row - first + 1) * distance] - 1;
      if (other < 0 || other >= a.leading)
        throw libraries::Astray{
            fmt::format("finds pivot {} for row {}; lda is {}", other + 1, row + 1, a.leading)};
      Panel rows = a;
      rows.rows = std::max(row, other) + 1;
      reach(memory, "A", rows, true);
      for (int64_t j = 0; j < a.columns; ++j) {
        const Number one = a.values.load<Number>(row + j * a.leading);
        a.values.store(row + j * a.leading, a.values.load<Number>(other + j * a.leading));
        a.values.store(other + j * a.leading, one);
      }
    }
  });
}

/// X = A^-1 B. Nothing is to be refined of what is computed in double precision.
Status gesv(Call& call, const Panel& a, int* pivots, const Panel& b, const Panel& x, int* iterations,
            int* info) {
  call.panel("ldda", a).panel("lddb", b).panel("lddx", x);
  if (call.pointer("iter", iterations).pointer("d_info", info).is_refused()) return call.status();
  *iterations = 0;
  return call.submit(a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    reach(memory, "A", a, false);
    if (pivots != nullptr) memory.write("the pivots", pivots, a.rows);
    reach(memory, "B", b, false);
    reach(memory, "X", x, true);
    memory.write("d_info", info, 1);
    Matrix<Number> matrix = load<Number>(a), solution = load<Number>(b);
    std::vector<int64_t> rows;
    *info = static_cast<int>(factor_lu(matrix, &rows));
    for (size_t k = 0; pivots != nullptr && k < rows.size(); ++k) pivots[k] = static_cast<int>(rows[k]) + 1;
    if (*info != 0) return;
    solve(matrix, rows, Operation::none, solution);
    store(x, solution);
  });
}

/// The X that makes the columns of B - A X least.
Status gels(Call& call, const Panel& a, const Panel& b, const Panel& x, int* iterations, int* info) {
  call.panel("ldda", a).panel("lddb", b).panel("lddx", x);
  if (a.rows < a.columns)
    call.refuse(Status::invalid_value, "A has {} rows and {} columns, and must not have fewer rows", a.rows,
                a.columns);
  if (call.pointer("iter", iterations).pointer("d_info", info).is_refused()) return call.status();
  *iterations = 0;
  return call.submit(a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    reach(memory, "A", a, false);
    reach(memory, "B", b, false);
    reach(memory, "X", x, true);
    memory.write("d_info", info, 1);
    Matrix<Number> matrix = load<Number>(a), side = load<Number>(b);
    const std::vector<Number> factors = factor_qr(matrix);
    *info = 0;
    for (int64_t k = a.columns; k-- > 0;)
      if (matrix(k, k) == zero) *info = static_cast<int>(k + 1);
    if (*info != 0) return;
    apply_q(matrix, factors, true, true, side);
    Matrix<Number> solution = side.topRows(a.columns);
    solve_triangle<Number>(matrix.topRows(a.columns), false, false, solution);
    store(x, solution);
  });
}

}  // namespace

#define LANESCOPE_LU(P, T, R, sy, gqr, mqr)                                                               \
  LANESCOPE_CUDA_API Status cusolverDn##P##getrf_bufferSize(Handle* handle, int m, int n, T* a, int lda,  \
                                                            int* size) {                                  \
    return Call(handle, "cusolverDn" #P "getrf_bufferSize")                                               \
        .panel("lda", {m, n, lda, values_at(a)})                                                          \
        .tell_size(size);                                                                                 \
  }                                                                                                       \
  LANESCOPE_CUDA_API Status cusolverDn##P##getrf(Handle* handle, int m, int n, T* a, int lda, T*,         \
                                                 int* pivots, int* info) {                                \
    Call call(handle, "cusolverDn" #P "getrf");                                                           \
    return getrf(call, {m, n, lda, values_at(a)}, pivots_at(pivots), info);                               \
  }                                                                                                       \
  LANESCOPE_CUDA_API Status cusolverDn##P##getrs(Handle* handle, Operation trans, int n, int nrhs,        \
                                                 const T* a, int lda, const int* pivots, T* b, int ldb,   \
                                                 int* info) {                                             \
    Call call(handle, "cusolverDn" #P "getrs");                                                           \
    return getrs(call, trans, {n, n, lda, values_at(a)}, pivots_at(pivots), {n, nrhs, ldb, values_at(b)}, \
                 info);                                                                                   \
  }                                                                                                       \
  LANESCOPE_CUDA_API Status cusolverDn##P##laswp(Handle* handle, int n, T* a, int lda, int k1, int k2,    \
                                                 const int* pivots, int incx) {                           \
    Call call(handle, "cusolverDn" #P "laswp");                                                           \
    return laswp(call, {0, n, lda, values_at(a)}, k1, k2, pivots, incx);                                  \
  }
LANESCOPE_SOLVER_TYPES(LANESCOPE_LU)

LANESCOPE_CUDA_API Status cusolverDnXgetrf_bufferSize(Handle* handle, Params* params, int64_t m, int64_t n,
                                                      DataType type, const void* a, int64_t lda, DataType,
                                                      size_t* on_device, size_t* on_host) {
  return Call(handle, "cusolverDnXgetrf_bufferSize")
      .params(params)
      .panel("lda", {m, n, lda, values_at(a, type)})
      .tell_size(on_device, on_host);
}
LANESCOPE_CUDA_API Status cusolverDnXgetrf(Handle* handle, Params* params, int64_t m, int64_t n,
                                           DataType type, void* a, int64_t lda, int64_t* pivots, DataType,
                                           void*, size_t, void*, size_t, int* info) {
  Call call(handle, "cusolverDnXgetrf");
  return getrf(call.params(params), {m, n, lda, values_at(a, type)}, pivots_at(pivots), info);
}
LANESCOPE_CUDA_API Status cusolverDnXgetrs(Handle* handle, Params* params, Operation trans, int64_t n,
                                           int64_t nrhs, DataType type, const void* a, int64_t lda,
                                           const int64_t* pivots, DataType type_of_b, void* b, int64_t ldb,
                                           int* info) {
  Call call(handle, "cusolverDnXgetrs");
  return getrs(call.params(params), trans, {n, n, lda, values_at(a, type)}, pivots_at(pivots),
               {n, nrhs, ldb, values_at(b, type_of_b)}, info);
}

// The second letter is of the precision that factors may have.
#define LANESCOPE_REFINED(PQ, T)                                                                             \
  LANESCOPE_CUDA_API Status cusolverDn##PQ##gesv_bufferSize(Handle* handle, int n, int nrhs, T* a, int lda,  \
                                                            int*, T* b, int ldb, T* x, int ldx, void*,       \
                                                            size_t* size) {                                  \
    return Call(handle, "cusolverDn" #PQ "gesv_bufferSize")                                                  \
        .panel("ldda", {n, n, lda, values_at(a)})                                                            \
        .panel("lddb", {n, nrhs, ldb, values_at(b)})                                                         \
        .panel("lddx", {n, nrhs, ldx, values_at(x)})                                                         \
        .tell_size(size);                                                                                    \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##PQ##gesv(Handle* handle, int n, int nrhs, T* a, int lda,             \
                                                 int* pivots, T* b, int ldb, T* x, int ldx, void*, size_t,   \
                                                 int* iterations, int* info) {                               \
    Call call(handle, "cusolverDn" #PQ "gesv");                                                              \
    return gesv(call, {n, n, lda, values_at(a)}, pivots, {n, nrhs, ldb, values_at(b)},                       \
                {n, nrhs, ldx, values_at(x)}, iterations, info);                                             \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##PQ##gels_bufferSize(Handle* handle, int m, int n, int nrhs, T* a,    \
                                                            int lda, T* b, int ldb, T* x, int ldx, void*,    \
                                                            size_t* size) {                                  \
    return Call(handle, "cusolverDn" #PQ "gels_bufferSize")                                                  \
        .panel("ldda", {m, n, lda, values_at(a)})                                                            \
        .panel("lddb", {m, nrhs, ldb, values_at(b)})                                                         \
        .panel("lddx", {n, nrhs, ldx, values_at(x)})                                                         \
        .tell_size(size);                                                                                    \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##PQ##gels(Handle* handle, int m, int n, int nrhs, T* a, int lda,      \
                                                 T* b, int ldb, T* x, int ldx, void*, size_t,                \
                                                 int* iterations, int* info) {                               \
    Call call(handle, "cusolverDn" #PQ "gels");                                                              \
    return gels(call, {m, n, lda, values_at(a)}, {m, nrhs, ldb, values_at(b)}, {n, nrhs, ldx, values_at(x)}, \
                iterations, info);                                                                           \
  }
#define LANESCOPE_EACH(T, A, B, C, D) \
  LANESCOPE_REFINED(A, T) LANESCOPE_REFINED(B, T) LANESCOPE_REFINED(C, T) LANESCOPE_REFINED(D, T)
LANESCOPE_EACH(float, SS, SH, SB, SX)
LANESCOPE_EACH(double, DS, DH, DB, DX)
LANESCOPE_REFINED(DD, double)
LANESCOPE_EACH(std::complex<float>, CC, CK, CE, CY)
LANESCOPE_EACH(std::complex<double>, ZC, ZK, ZE, ZY)
LANESCOPE_REFINED(ZZ, std::complex<double>)

}  // namespace lanescope::cuda::solver
