// Batches of small matrices: factors, solutions and inverses.
#include <cmath>
#include <utility>
#include <vector>

#include "cuda/libraries/blas/call.hpp"
#include "cuda/libraries/blas/dense.hpp"
#include "cuda/libraries/parts.hpp"

namespace lanescope::cuda::blas {
namespace {

/// L U = P A in the place of A. Pivots are counted from 1, as LAPACK does; null: rows are not exchanged. The
/// first column whose pivot is 0, counted from 1; 0 if there is none.
template <typename T>
int factor(Dense<T>& a, int* pivots) {
  const int64_t n = a.rows();
  int singular = 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    if (pivots != nullptr) {
      for (int64_t i = k + 1; i < n; ++i)
        if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
      pivots[k] = static_cast<int>(pivot + 1);
      if (pivot != k) a.row(k).swap(a.row(pivot));
    }
    if (a(k, k) == T(0)) {
      if (singular == 0) singular = static_cast<int>(k + 1);
      continue;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < n; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return singular;
}

/// x = op(A)^-1 x, of a matrix that factor() made.
template <typename T>
void solve_factored(const Dense<T>& lu, const int* pivots, Operation operation, Dense<T>& x) {
  const int64_t n = lu.rows();
  const auto exchange = [&](int64_t i) {
    if (pivots != nullptr && pivots[i] - 1 != i) x.row(i).swap(x.row(pivots[i] - 1));
  };
  const Layout at = Layout::of_columns(n, n, n);
  const Dense<T> lower = triangle(lu.data(), at, Fill::lower, Diagonal::unit),
                 upper = triangle(lu.data(), at, Fill::upper, Diagonal::stored);
  if (operation == Operation::none) {
    for (int64_t i = 0; i < n; ++i) exchange(i);
    solve(lower, true, x);
    solve(upper, false, x);
  } else {
    solve(apply(operation, upper), true, x);
    solve(apply(operation, lower), false, x);
    for (int64_t i = n; i-- > 0;) exchange(i);
  }
}

/// Calls work(i, …) for each matrix of a batch, whose pointers lie in the memory of the device.
template <typename T>
std::vector<T*> all(const Memory& memory, const char* name, T* const* pointers, int64_t count,
                    const Layout& at, bool write) {
  memory.read(fmt::format("the pointers to {}", name).c_str(), pointers, count);
  for (int64_t i = 0; i < count; ++i)
    memory.reach(name, pointers[i], static_cast<uint64_t>(at.extent()) * sizeof(T), write);
  return {pointers, pointers + count};
}

template <typename T>
Status getrf(Call& call, int n, T* const* a, int lda, int* pivots, int* info, int count) {
  call.size("n", n).leading("lda", lda, n).size("batchSize", count).pointer("infoArray", info);
  if (call.is_refused() || n == 0 || count == 0) return call.status();
  return call.submit([=](const Memory& memory) {
    const Layout at = Layout::of_columns(n, n, lda);
    const std::vector<T*> matrices = all(memory, "A", a, count, at, true);
    if (pivots != nullptr) memory.write("PivotArray", pivots, int64_t{n} * count);
    memory.write("infoArray", info, count);
    libraries::in_parts(count, count * std::pow(n, 3) / 3 / worth_a_thread, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        Dense<T> matrix = general<T>(matrices[i], at);
        info[i] = factor(matrix, pivots != nullptr ? pivots + i * n : nullptr);
        combine(T(1), matrix, T(0), matrices[i], at);
      }
    });
  });
}

/// `info`: of the host, and about the arguments alone.
template <typename T>
Status getrs(Call& call, Operation operation, int n, int columns, const T* const* a, int lda,
             const int* pivots, T* const* b, int ldb, int* info, int count) {
  call.one_of(operation).size("n", n).size("nrhs", columns).leading("lda", lda, n).leading("ldb", ldb, n);
  call.size("batchSize", count).pointer("info", info);
  if (call.is_refused()) return call.status();
  *info = 0;
  if (n == 0 || columns == 0 || count == 0) return call.status();
  return call.submit([=](const Memory& memory) {
    const Layout at = Layout::of_columns(n, n, lda), of_b = Layout::of_columns(n, columns, ldb);
    const std::vector<const T*> matrices = all(memory, "A", a, count, at, false);
    const std::vector<T*> sides = all(memory, "B", b, count, of_b, true);
    if (pivots != nullptr) memory.read("devIpiv", pivots, int64_t{n} * count);
    for (int64_t i = 0; i < count; ++i) {
      Dense<T> x = general<T>(sides[i], of_b);
      solve_factored(general(matrices[i], at), pivots != nullptr ? pivots + i * n : nullptr, operation, x);
      combine(T(1), x, T(0), sides[i], of_b);
    }
  });
}

/// The inverse of what is factored, or (`is_factored` false) of the matrix itself.
template <typename T>
Status invert(Call& call, int n, const T* const* a, int lda, const int* pivots, T* const* c, int ldc,
              int* info, int count, bool is_factored) {
  call.size("n", n)
      .leading("lda", lda, n)
      .leading("ldc", ldc, n)
      .size("batchSize", count)
      .pointer("infoArray", info);
  if (!is_factored && n > 32)
    call.refuse(Status::invalid_value, "n is {}, and at most 32 here: cublas…getrfBatched has no limit", n);
  if (call.is_refused() || n == 0 || count == 0) return call.status();
  return call.submit([=](const Memory& memory) {
    const Layout at = Layout::of_columns(n, n, lda), of_c = Layout::of_columns(n, n, ldc);
    const std::vector<const T*> matrices = all(memory, "A", a, count, at, false);
    const std::vector<T*> inverses = all(memory, "C", c, count, of_c, true);
    if (pivots != nullptr) memory.read("PivotArray", pivots, int64_t{n} * count);
    memory.write("infoArray", info, count);
    std::vector<int> own(static_cast<size_t>(n));
    for (int64_t i = 0; i < count; ++i) {
      Dense<T> matrix = general(matrices[i], at);
      const int* exchanged = is_factored && pivots != nullptr ? pivots + i * n : nullptr;
      info[i] = 0;
      if (!is_factored) {
        info[i] = factor(matrix, own.data());
        exchanged = own.data();
      } else {
        for (int64_t k = n; k-- > 0;)
          if (matrix(k, k) == T(0)) info[i] = static_cast<int>(k + 1);
      }
      if (info[i] != 0) continue;
      Dense<T> inverse = Dense<T>::Identity(n, n);
      solve_factored(matrix, exchanged, Operation::none, inverse);
      combine(T(1), inverse, T(0), inverses[i], of_c);
    }
  });
}

}  // namespace

// Without twins for sizes of 64 bits.
#define BATCHES(P, T)                                                                                   \
  LANESCOPE_CUDA_API Status cublas##P##getrfBatched(Handle* handle, int n, T* const* a, int lda,        \
                                                    int* pivots, int* info, int count) {                \
    Call call(handle, "cublas" #P "getrfBatched");                                                      \
    return getrf(call, n, a, lda, pivots, info, count);                                                 \
  }                                                                                                     \
  LANESCOPE_CUDA_API Status cublas##P##getrsBatched(Handle* handle, Operation trans, int n, int nrhs,   \
                                                    const T* const* a, int lda, const int* pivots,      \
                                                    T* const* b, int ldb, int* info, int count) {       \
    Call call(handle, "cublas" #P "getrsBatched");                                                      \
    return getrs(call, trans, n, nrhs, a, lda, pivots, b, ldb, info, count);                            \
  }                                                                                                     \
  LANESCOPE_CUDA_API Status cublas##P##getriBatched(Handle* handle, int n, const T* const* a, int lda,  \
                                                    const int* pivots, T* const* c, int ldc, int* info, \
                                                    int count) {                                        \
    Call call(handle, "cublas" #P "getriBatched");                                                      \
    return invert(call, n, a, lda, pivots, c, ldc, info, count, true);                                  \
  }                                                                                                     \
  LANESCOPE_CUDA_API Status cublas##P##matinvBatched(Handle* handle, int n, const T* const* a, int lda, \
                                                     T* const* c, int ldc, int* info, int count) {      \
    Call call(handle, "cublas" #P "matinvBatched");                                                     \
    return invert(call, n, a, lda, nullptr, c, ldc, info, count, false);                                \
  }
LANESCOPE_BLAS_ALL(BATCHES)

}  // namespace lanescope::cuda::blas
