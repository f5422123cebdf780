// BLAS of the third level: matrices of one type, and cuBLAS's additions to it (geam, dgmm).
#include "cuda/libraries/blas/call.hpp"
#include "cuda/libraries/blas/dense.hpp"

namespace lanescope::cuda::blas {
namespace {

/// A matrix that an operation is applied to when it is read.
template <typename T>
struct Operand {
  const char* name;
  const T* data;
  Operation operation;
  Layout at;
  Dense<T> operator()(const Memory& memory) const {
    return apply(operation, general(memory.read(name, data, at.extent()), at));
  }
};

/// C = alpha A B + beta C, with A symmetric or Hermitian, or B.
template <typename T>
Status symm(Call& call, Side side, Fill fill, int64_t m, int64_t n, const T* alpha, const T* a, int64_t lda,
            const T* b, int64_t ldb, const T* beta, T* c, int64_t ldc, bool hermitian) {
  const int64_t order = side == Side::left ? m : n;
  call.one_of(side).one_of(fill).size("m", m).size("n", n);
  call.leading("lda", lda, order).leading("ldb", ldb, m).leading("ldc", ldc, m);
  call.pointer("alpha", alpha).pointer("beta", beta);
  if (call.is_refused() || m == 0 || n == 0) return call.status();
  return call.submit([=, alpha = call.scalar(alpha), beta = call.scalar(beta)](const Memory& memory) {
    const Layout of_a = Layout::of_columns(order, order, lda), of_b = Layout::of_columns(m, n, ldb),
                 of_c = Layout::of_columns(m, n, ldc);
    const Dense<T> left = symmetric(memory.read("A", a, of_a.extent()), of_a, fill, hermitian);
    const Dense<T> right = general(memory.read("B", b, of_b.extent()), of_b);
    const Dense<T> p = alpha.in(memory) * (side == Side::left ? product(left, right) : product(right, left));
    combine(T(1), p, beta.in(memory), memory.write("C", c, of_c.extent()), of_c);
  });
}

/// How the two operands of an update of a triangle are turned.
enum class Update : uint8_t { symmetric, hermitian };

/// One triangle of C = alpha op(A) op(B)^T + beta C. `twice`: + the same with A and B exchanged (of a
/// Hermitian C: with alpha conjugated). Of a Hermitian C, ^H.
template <typename T, typename Alpha, typename Beta>
Status syrk(Call& call, Update update, bool twice, Fill fill, Operation operation, int64_t n, int64_t k,
            const Alpha* alpha, const T* a, int64_t lda, const T* b, int64_t ldb, const Beta* beta, T* c,
            int64_t ldc) {
  const bool hermitian = update == Update::hermitian;
  const int64_t rows = operation == Operation::none ? n : k;
  call.one_of(fill).one_of(operation).size("n", n).size("k", k);
  call.leading("lda", lda, rows).leading("ldb", ldb, rows).leading("ldc", ldc, n);
  call.pointer("alpha", alpha).pointer("beta", beta);
  if (is_complex<T> && operation == (hermitian ? Operation::transpose : Operation::adjoint))
    call.refuse(Status::invalid_value, "of a {} matrix the operation is CUBLAS_OP_N or CUBLAS_OP_{}",
                hermitian ? "Hermitian" : "symmetric", hermitian ? 'C' : 'T');
  if (call.is_refused() || n == 0) return call.status();
  return call.submit([=, alpha = call.scalar(alpha), beta = call.scalar(beta)](const Memory& memory) {
    const T factor = T(alpha.in(memory));
    const Operation turn = hermitian ? Operation::adjoint : Operation::transpose;
    const Layout of_c = Layout::of_columns(n, n, ldc);
    Dense<T> p = Dense<T>::Zero(n, n);
    if (k != 0) {
      const Dense<T> left = Operand<T>{"A", a, operation, stored(operation, n, k, lda)}(memory);
      const Dense<T> right =
          a == b ? left : Operand<T>{"B", b, operation, stored(operation, n, k, ldb)}(memory);
      p = factor * product(left, apply(turn, right));
      if (twice) p += (hermitian ? conjugate(factor) : factor) * product(right, apply(turn, left));
    }
    combine(T(1), p, T(beta.in(memory)), memory.write("C", c, of_c.extent()), of_c, part_of(fill), hermitian);
  });
}

/// C = alpha op(A) B, or B op(A), of a triangle A.
template <typename T>
Status trmm(Call& call, Side side, Fill fill, Operation operation, Diagonal diagonal, int64_t m, int64_t n,
            const T* alpha, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc) {
  const int64_t order = side == Side::left ? m : n;
  call.one_of(side).one_of(fill).one_of(operation).one_of(diagonal).size("m", m).size("n", n);
  call.leading("lda", lda, order).leading("ldb", ldb, m).leading("ldc", ldc, m).pointer("alpha", alpha);
  if (call.is_refused() || m == 0 || n == 0) return call.status();
  return call.submit([=, alpha = call.scalar(alpha)](const Memory& memory) {
    const Layout of_a = Layout::of_columns(order, order, lda), of_b = Layout::of_columns(m, n, ldb),
                 of_c = Layout::of_columns(m, n, ldc);
    const Dense<T> left =
        apply(operation, triangle(memory.read("A", a, of_a.extent()), of_a, fill, diagonal));
    const Dense<T> right = general(memory.read("B", b, of_b.extent()), of_b);
    const Dense<T> p = alpha.in(memory) * (side == Side::left ? product(left, right) : product(right, left));
    combine(T(1), p, T(0), memory.write("C", c, of_c.extent()), of_c);
  });
}

/// B = alpha X, where op(A) X = B, or X op(A) = B: of a triangle A.
template <typename T>
void solve_triangle(const Memory& memory, Side side, Fill fill, Operation operation, Diagonal diagonal,
                    int64_t m, int64_t n, T factor, const T* a, int64_t lda, T* b, int64_t ldb) {
  const int64_t order = side == Side::left ? m : n;
  const Layout of_a = Layout::of_columns(order, order, lda), of_b = Layout::of_columns(m, n, ldb);
  Dense<T> x = Dense<T>::Zero(m, n);
  T* out = memory.write("B", b, of_b.extent());
  if (factor != T(0)) {
    const Dense<T> matrix =
        apply(operation, triangle(memory.read("A", a, of_a.extent()), of_a, fill, diagonal));
    const bool is_lower = (fill == Fill::lower) != is_turned(operation);
    x = factor * general<T>(b, of_b);
    if (side == Side::left) {
      solve(matrix, is_lower, x);
    } else {
      x = Dense<T>(x.transpose());
      solve(Dense<T>(matrix.transpose()), !is_lower, x);
      x = Dense<T>(x.transpose());
    }
  }
  combine(T(1), x, T(0), out, of_b);
}

template <typename T>
Call& check_triangle(Call& call, Side side, Fill fill, Operation operation, Diagonal diagonal, int64_t m,
                     int64_t n, const T* alpha, int64_t lda, int64_t ldb) {
  call.one_of(side).one_of(fill).one_of(operation).one_of(diagonal).size("m", m).size("n", n);
  return call.leading("lda", lda, side == Side::left ? m : n).leading("ldb", ldb, m).pointer("alpha", alpha);
}

template <typename T>
Status trsm(Call& call, Side side, Fill fill, Operation operation, Diagonal diagonal, int64_t m, int64_t n,
            const T* alpha, const T* a, int64_t lda, T* b, int64_t ldb) {
  check_triangle(call, side, fill, operation, diagonal, m, n, alpha, lda, ldb);
  if (call.is_refused() || m == 0 || n == 0) return call.status();
  return call.submit([=, alpha = call.scalar(alpha)](const Memory& memory) {
    solve_triangle(memory, side, fill, operation, diagonal, m, n, alpha.in(memory), a, lda, b, ldb);
  });
}

template <typename T>
Status trsm_batched(Call& call, Side side, Fill fill, Operation operation, Diagonal diagonal, int64_t m,
                    int64_t n, const T* alpha, const T* const* a, int64_t lda, T* const* b, int64_t ldb,
                    int64_t count) {
  check_triangle(call, side, fill, operation, diagonal, m, n, alpha, lda, ldb).size("batchCount", count);
  if (call.is_refused() || m == 0 || n == 0) return call.status();
  return call.submit([=, alpha = call.scalar(alpha)](const Memory& memory) {
    const T factor = alpha.in(memory);
    memory.read("the pointers to A", a, count);
    memory.read("the pointers to B", b, count);
    for (int64_t i = 0; i < count; ++i)
      solve_triangle(memory, side, fill, operation, diagonal, m, n, factor, a[i], lda, b[i], ldb);
  });
}

/// C = alpha op(A) + beta op(B). C may be A or B where that is not turned.
template <typename T>
Status geam(Call& call, Operation of_a, Operation of_b, int64_t m, int64_t n, const T* alpha, const T* a,
            int64_t lda, const T* beta, const T* b, int64_t ldb, T* c, int64_t ldc) {
  call.one_of(of_a).one_of(of_b).size("m", m).size("n", n);
  call.leading("lda", lda, is_turned(of_a) ? n : m).leading("ldb", ldb, is_turned(of_b) ? n : m);
  call.leading("ldc", ldc, m).pointer("alpha", alpha).pointer("beta", beta);
  if ((c == a && (is_turned(of_a) || lda != ldc)) || (c == b && (is_turned(of_b) || ldb != ldc)))
    call.refuse(Status::invalid_value, "C is one of its operands, which is turned or has other columns");
  if (call.is_refused() || m == 0 || n == 0) return call.status();
  return call.submit([=, alpha = call.scalar(alpha), beta = call.scalar(beta)](const Memory& memory) {
    const T of_left = alpha.in(memory), of_right = beta.in(memory);
    const Layout at = Layout::of_columns(m, n, ldc);
    Dense<T> sum = Dense<T>::Zero(m, n);
    if (of_left != T(0)) sum += of_left * Operand<T>{"A", a, of_a, stored(of_a, m, n, lda)}(memory);
    if (of_right != T(0)) sum += of_right * Operand<T>{"B", b, of_b, stored(of_b, m, n, ldb)}(memory);
    combine(T(1), sum, T(0), memory.write("C", c, at.extent()), at);
  });
}

/// C = diag(x) A, or A diag(x).
template <typename T>
Status dgmm(Call& call, Side side, int64_t m, int64_t n, const T* a, int64_t lda, const T* x, int64_t step,
            T* c, int64_t ldc) {
  call.one_of(side).size("m", m).size("n", n).leading("lda", lda, m).leading("ldc", ldc, m);
  if (call.is_refused() || m == 0 || n == 0) return call.status();
  return call.submit([=](const Memory& memory) {
    const Layout of_a = Layout::of_columns(m, n, lda), of_c = Layout::of_columns(m, n, ldc);
    const int64_t count = side == Side::left ? m : n;
    const auto diagonal = read(memory, "x", x, count, step);
    const T* in = memory.read("A", a, of_a.extent());
    T* out = memory.write("C", c, of_c.extent());
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i)
        out[of_c.place(i, j)] = in[of_a.place(i, j)] * diagonal[side == Side::left ? i : j];
  });
}

}  // namespace

#define SYMM(name, hermitian, T)                                                                        \
  LANESCOPE_CUBLAS_V2(name,                                                                             \
                      (Handle * handle, Side side, Fill uplo, Int m, Int n, const T* alpha, const T* a, \
                       Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc),                     \
                      symm(call, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, hermitian))
#define SYRK(one, two, other, update, Alpha1, Beta, T)                                                     \
  LANESCOPE_CUBLAS_V2(one,                                                                                 \
                      (Handle * handle, Fill uplo, Operation trans, Int n, Int k, const Alpha1* alpha,     \
                       const T* a, Int lda, const Beta* beta, T* c, Int ldc),                              \
                      syrk(call, update, false, uplo, trans, n, k, alpha, a, lda, a, lda, beta, c, ldc))   \
  LANESCOPE_CUBLAS_V2(two,                                                                                 \
                      (Handle * handle, Fill uplo, Operation trans, Int n, Int k, const T* alpha,          \
                       const T* a, Int lda, const T* b, Int ldb, const Beta* beta, T* c, Int ldc),         \
                      syrk(call, update, true, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc))    \
  LANESCOPE_CUBLAS(other,                                                                                  \
                   (Handle * handle, Fill uplo, Operation trans, Int n, Int k, const T* alpha, const T* a, \
                    Int lda, const T* b, Int ldb, const Beta* beta, T* c, Int ldc),                        \
                   syrk(call, update, false, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc))
#define MATRICES(P, T)                                                                                      \
  SYMM(P##symm, false, T)                                                                                   \
  SYRK(P##syrk, P##syr2k, P##syrkx, Update::symmetric, T, T, T)                                             \
  LANESCOPE_CUBLAS_V2(P##trmm,                                                                              \
                      (Handle * handle, Side side, Fill uplo, Operation trans, Diagonal diag, Int m, Int n, \
                       const T* alpha, const T* a, Int lda, const T* b, Int ldb, T* c, Int ldc),            \
                      trmm(call, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, c, ldc))             \
  LANESCOPE_CUBLAS_V2(P##trsm,                                                                              \
                      (Handle * handle, Side side, Fill uplo, Operation trans, Diagonal diag, Int m, Int n, \
                       const T* alpha, const T* a, Int lda, T* b, Int ldb),                                 \
                      trsm(call, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb))                     \
  LANESCOPE_CUBLAS(P##trsmBatched,                                                                          \
                   (Handle * handle, Side side, Fill uplo, Operation trans, Diagonal diag, Int m, Int n,    \
                    const T* alpha, const T* const* a, Int lda, T* const* b, Int ldb, Int count),           \
                   trsm_batched(call, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, count))         \
  LANESCOPE_CUBLAS(P##geam,                                                                                 \
                   (Handle * handle, Operation transa, Operation transb, Int m, Int n, const T* alpha,      \
                    const T* a, Int lda, const T* beta, const T* b, Int ldb, T* c, Int ldc),                \
                   geam(call, transa, transb, m, n, alpha, a, lda, beta, b, ldb, c, ldc))                   \
  LANESCOPE_CUBLAS(                                                                                         \
      P##dgmm,                                                                                              \
      (Handle * handle, Side mode, Int m, Int n, const T* a, Int lda, const T* x, Int incx, T* c, Int ldc), \
      dgmm(call, mode, m, n, a, lda, x, incx, c, ldc))
LANESCOPE_BLAS_ALL(MATRICES)
#define MATRICES_COMPLEX(P, T) \
  SYMM(P##hemm, true, T)       \
  SYRK(P##herk, P##her2k, P##herkx, Update::hermitian, Real<T>, Real<T>, T)
LANESCOPE_BLAS_COMPLEX(MATRICES_COMPLEX)

}  // namespace lanescope::cuda::blas
