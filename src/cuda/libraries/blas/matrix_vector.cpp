// BLAS of the second level: a matrix and a vector. Full, packed and banded matrices differ in their layout
// only.
#include "cuda/libraries/blas/call.hpp"
#include "cuda/libraries/blas/dense.hpp"

namespace lanescope::cuda::blas {
namespace {

/// y = alpha op(A) x + beta y.
template <typename T>
Status gemv(Call& call, Operation operation, const Layout& at, const T* alpha, const T* a, const T* x,
            int64_t step_x, const T* beta, T* y, int64_t step_y) {
  call.one_of(operation, true)
      .size("m", at.rows)
      .size("n", at.columns)
      .step("incx", step_x)
      .step("incy", step_y);
  call.pointer("alpha", alpha).pointer("beta", beta);
  if (call.is_refused() || at.rows == 0 || at.columns == 0) return call.status();
  return call.submit([=, alpha = call.scalar(alpha), beta = call.scalar(beta)](const Memory& memory) {
    const T of_product = alpha.in(memory), of_y = beta.in(memory);
    const bool is_banded = at.kind == Layout::Kind::banded;
    const int64_t in = is_turned(operation) ? at.rows : at.columns,
                  out = is_turned(operation) ? at.columns : at.rows;
    Dense<T> p = Dense<T>::Zero(out, 1);
    if (of_product != T(0) || is_banded)
      p = of_product * product(apply(operation, general(memory.read("A", a, at.extent()), at)),
                               column(read(memory, "x", x, in, step_x), in));
    combine(T(1), p, of_y, write(memory, "y", y, out, step_y), out);
  });
}

/// The same with a symmetric or Hermitian matrix.
template <typename T>
Status symv(Call& call, Fill fill, const Layout& at, bool hermitian, const T* alpha, const T* a, const T* x,
            int64_t step_x, const T* beta, T* y, int64_t step_y) {
  const int64_t n = at.rows;
  call.one_of(fill).size("n", n).step("incx", step_x).step("incy", step_y);
  call.pointer("alpha", alpha).pointer("beta", beta);
  if (call.is_refused() || n == 0) return call.status();
  return call.submit([=, alpha = call.scalar(alpha), beta = call.scalar(beta)](const Memory& memory) {
    const Dense<T> p =
        alpha.in(memory)*product(symmetric(memory.read("A", a, at.extent()), at, fill, hermitian),
                                 column(read(memory, "x", x, n, step_x), n));
    combine(T(1), p, beta.in(memory), write(memory, "y", y, n, step_y), n);
  });
}

/// x = op(A) x, or what solves op(A) x = x, of a triangle A.
template <typename T>
Status trmv(Call& call, Fill fill, Operation operation, Diagonal diagonal, const Layout& at, const T* a, T* x,
            int64_t step, bool is_to_solve) {
  const int64_t n = at.rows;
  call.one_of(fill).one_of(operation).one_of(diagonal).size("n", n).step("incx", step);
  if (call.is_refused() || n == 0) return call.status();
  return call.submit([=](const Memory& memory) {
    const Dense<T> matrix = apply(operation, triangle(memory.read("A", a, at.extent()), at, fill, diagonal));
    Dense<T> vector = column(read<T>(memory, "x", x, n, step), n);
    if (is_to_solve)
      solve(matrix, (fill == Fill::lower) != is_turned(operation), vector);
    else
      vector = product(matrix, vector);
    combine(T(1), vector, T(0), write(memory, "x", x, n, step), n);
  });
}

/// A += alpha x y^T, or with y conjugated.
template <typename T>
Status ger(Call& call, int64_t m, int64_t n, const T* alpha, const T* x, int64_t step_x, const T* y,
           int64_t step_y, T* a, int64_t lda, bool conjugated) {
  call.size("m", m).size("n", n).step("incx", step_x).step("incy", step_y).leading("lda", lda, m);
  call.pointer("alpha", alpha);
  if (call.is_refused() || m == 0 || n == 0) return call.status();
  return call.submit([=, alpha = call.scalar(alpha)](const Memory& memory) {
    const T factor = alpha.in(memory);
    if (factor == T(0)) return;
    const Layout at = Layout::of_columns(m, n, lda);
    const Dense<T> left = column(read(memory, "x", x, m, step_x), m);
    const Dense<T> right = apply(conjugated ? Operation::adjoint : Operation::transpose,
                                 column(read(memory, "y", y, n, step_y), n));
    combine(factor, product(left, right), T(1), memory.write("A", a, at.extent()), at);
  });
}

/// A += alpha x x^T, or x x^H of a Hermitian A: of one triangle.
template <typename T, typename Factor>
Status syr(Call& call, Fill fill, const Layout& at, const Factor* alpha, const T* x, int64_t step, T* a,
           bool hermitian) {
  const int64_t n = at.rows;
  call.one_of(fill).size("n", n).step("incx", step).pointer("alpha", alpha);
  if (call.is_refused() || n == 0) return call.status();
  return call.submit([=, alpha = call.scalar(alpha)](const Memory& memory) {
    const Factor factor = alpha.in(memory);
    if (factor == Factor(0)) return;
    const Dense<T> vector = column(read(memory, "x", x, n, step), n);
    const Dense<T> p = product(vector, apply(hermitian ? Operation::adjoint : Operation::transpose, vector));
    combine(T(factor), p, T(1), memory.write("A", a, at.extent()), at, part_of(fill), hermitian);
  });
}

/// A += alpha x y^T + alpha y x^T, or of a Hermitian A alpha x y^H + conj(alpha) y x^H: of one triangle.
template <typename T>
Status syr2(Call& call, Fill fill, const Layout& at, const T* alpha, const T* x, int64_t step_x, const T* y,
            int64_t step_y, T* a, bool hermitian) {
  const int64_t n = at.rows;
  call.one_of(fill).size("n", n).step("incx", step_x).step("incy", step_y).pointer("alpha", alpha);
  if (call.is_refused() || n == 0) return call.status();
  return call.submit([=, alpha = call.scalar(alpha)](const Memory& memory) {
    const T factor = alpha.in(memory);
    if (factor == T(0)) return;
    const Dense<T> left = column(read(memory, "x", x, n, step_x), n);
    const Dense<T> right = column(read(memory, "y", y, n, step_y), n);
    const Operation turn = hermitian ? Operation::adjoint : Operation::transpose;
    const T other = hermitian ? conjugate(factor) : factor;
    const Dense<T> p = factor * product(left, apply(turn, right)) + other * product(right, apply(turn, left));
    combine(T(1), p, T(1), memory.write("A", a, at.extent()), at, part_of(fill), hermitian);
  });
}

Layout square(Call& call, int64_t n, int64_t lda) {
  call.leading("lda", lda, n);
  return Layout::of_columns(n, n, lda);
}
Layout band(Call& call, int64_t n, int64_t k, int64_t lda, Fill fill) {
  call.size("k", k).leading("lda", lda, k + 1);
  return Layout::of_band(n, lda, k, fill);
}
Layout band(Call& call, int64_t m, int64_t n, int64_t below, int64_t above, int64_t lda) {
  call.size("kl", below).size("ku", above).leading("lda", lda, below + above + 1);
  return Layout::of_band(m, n, lda, below, above);
}
Layout rectangle(Call& call, int64_t m, int64_t n, int64_t lda) {
  call.leading("lda", lda, m);
  return Layout::of_columns(m, n, lda);
}

}  // namespace

#define GENERAL(P, T)                                                                                       \
  LANESCOPE_CUBLAS_V2(P##gemv,                                                                              \
                      (Handle * handle, Operation trans, Int m, Int n, const T* alpha, const T* a, Int lda, \
                       const T* x, Int incx, const T* beta, T* y, Int incy),                                \
                      gemv(call, trans, rectangle(call, m, n, lda), alpha, a, x, incx, beta, y, incy))      \
  LANESCOPE_CUBLAS_V2(P##gbmv,                                                                              \
                      (Handle * handle, Operation trans, Int m, Int n, Int kl, Int ku, const T* alpha,      \
                       const T* a, Int lda, const T* x, Int incx, const T* beta, T* y, Int incy),           \
                      gemv(call, trans, band(call, m, n, kl, ku, lda), alpha, a, x, incx, beta, y, incy))
LANESCOPE_BLAS_ALL(GENERAL)

#define SYMMETRIC_FULL(name, hermitian, T)                                                                 \
  LANESCOPE_CUBLAS_V2(name,                                                                                \
                      (Handle * handle, Fill uplo, Int n, const T* alpha, const T* a, Int lda, const T* x, \
                       Int incx, const T* beta, T* y, Int incy),                                           \
                      symv(call, uplo, square(call, n, lda), hermitian, alpha, a, x, incx, beta, y, incy))
#define SYMMETRIC_BAND(name, hermitian, T)                                                                  \
  LANESCOPE_CUBLAS_V2(                                                                                      \
      name,                                                                                                 \
      (Handle * handle, Fill uplo, Int n, Int k, const T* alpha, const T* a, Int lda, const T* x, Int incx, \
       const T* beta, T* y, Int incy),                                                                      \
      symv(call, uplo, band(call, n, k, lda, uplo), hermitian, alpha, a, x, incx, beta, y, incy))
#define SYMMETRIC_PACKED(name, hermitian, T)                                                               \
  LANESCOPE_CUBLAS_V2(                                                                                     \
      name,                                                                                                \
      (Handle * handle, Fill uplo, Int n, const T* alpha, const T* a, const T* x, Int incx, const T* beta, \
       T* y, Int incy),                                                                                    \
      symv(call, uplo, Layout::of_packed(n, uplo), hermitian, alpha, a, x, incx, beta, y, incy))
#define SYMMETRIC(P, T) SYMMETRIC_FULL(P##symv, false, T)
LANESCOPE_BLAS_ALL(SYMMETRIC)
#define SYMMETRIC_REAL(P, T) SYMMETRIC_BAND(P##sbmv, false, T) SYMMETRIC_PACKED(P##spmv, false, T)
LANESCOPE_BLAS_REAL(SYMMETRIC_REAL)
#define HERMITIAN(P, T) \
  SYMMETRIC_FULL(P##hemv, true, T) SYMMETRIC_BAND(P##hbmv, true, T) SYMMETRIC_PACKED(P##hpmv, true, T)
LANESCOPE_BLAS_COMPLEX(HERMITIAN)

#define TRIANGULAR(full, banded, packed, is_to_solve, T)                                                     \
  LANESCOPE_CUBLAS_V2(full,                                                                                  \
                      (Handle * handle, Fill uplo, Operation trans, Diagonal diag, Int n, const T* a,        \
                       Int lda, T* x, Int incx),                                                             \
                      trmv(call, uplo, trans, diag, square(call, n, lda), a, x, incx, is_to_solve))          \
  LANESCOPE_CUBLAS_V2(banded,                                                                                \
                      (Handle * handle, Fill uplo, Operation trans, Diagonal diag, Int n, Int k, const T* a, \
                       Int lda, T* x, Int incx),                                                             \
                      trmv(call, uplo, trans, diag, band(call, n, k, lda, uplo), a, x, incx, is_to_solve))   \
  LANESCOPE_CUBLAS_V2(                                                                                       \
      packed,                                                                                                \
      (Handle * handle, Fill uplo, Operation trans, Diagonal diag, Int n, const T* a, T* x, Int incx),       \
      trmv(call, uplo, trans, diag, Layout::of_packed(n, uplo), a, x, incx, is_to_solve))
#define TRIANGULAR_OF(P, T)                       \
  TRIANGULAR(P##trmv, P##tbmv, P##tpmv, false, T) \
  TRIANGULAR(P##trsv, P##tbsv, P##tpsv, true, T)
LANESCOPE_BLAS_ALL(TRIANGULAR_OF)

#define RANK_1(name, conjugated, T)                                                                     \
  LANESCOPE_CUBLAS_V2(name,                                                                             \
                      (Handle * handle, Int m, Int n, const T* alpha, const T* x, Int incx, const T* y, \
                       Int incy, T* a, Int lda),                                                        \
                      ger(call, m, n, alpha, x, incx, y, incy, a, lda, conjugated))
#define RANK_1_REAL(P, T) RANK_1(P##ger, false, T)
LANESCOPE_BLAS_REAL(RANK_1_REAL)
#define RANK_1_COMPLEX(P, T) RANK_1(P##geru, false, T) RANK_1(P##gerc, true, T)
LANESCOPE_BLAS_COMPLEX(RANK_1_COMPLEX)

#define OF_VECTOR_FULL(one, two, hermitian, Factor, T)                                                      \
  LANESCOPE_CUBLAS_V2(                                                                                      \
      one, (Handle * handle, Fill uplo, Int n, const Factor* alpha, const T* x, Int incx, T* a, Int lda),   \
      syr(call, uplo, square(call, n, lda), alpha, x, incx, a, hermitian))                                  \
  LANESCOPE_CUBLAS_V2(two,                                                                                  \
                      (Handle * handle, Fill uplo, Int n, const T* alpha, const T* x, Int incx, const T* y, \
                       Int incy, T* a, Int lda),                                                            \
                      syr2(call, uplo, square(call, n, lda), alpha, x, incx, y, incy, a, hermitian))
#define OF_VECTOR_PACKED(one, two, hermitian, Factor, T)                                                     \
  LANESCOPE_CUBLAS_V2(one,                                                                                   \
                      (Handle * handle, Fill uplo, Int n, const Factor* alpha, const T* x, Int incx, T* a),  \
                      syr(call, uplo, Layout::of_packed(n, uplo), alpha, x, incx, a, hermitian))             \
  LANESCOPE_CUBLAS_V2(                                                                                       \
      two,                                                                                                   \
      (Handle * handle, Fill uplo, Int n, const T* alpha, const T* x, Int incx, const T* y, Int incy, T* a), \
      syr2(call, uplo, Layout::of_packed(n, uplo), alpha, x, incx, y, incy, a, hermitian))
#define RANK_N(P, T) OF_VECTOR_FULL(P##syr, P##syr2, false, T, T)
LANESCOPE_BLAS_ALL(RANK_N)
#define RANK_N_REAL(P, T) OF_VECTOR_PACKED(P##spr, P##spr2, false, T, T)
LANESCOPE_BLAS_REAL(RANK_N_REAL)
#define RANK_N_COMPLEX(P, T)                        \
  OF_VECTOR_FULL(P##her, P##her2, true, Real<T>, T) \
  OF_VECTOR_PACKED(P##hpr, P##hpr2, true, Real<T>, T)
LANESCOPE_BLAS_COMPLEX(RANK_N_COMPLEX)

}  // namespace lanescope::cuda::blas
