// Matrices as BLAS stores them (by columns; packed triangles; bands), and as what is computed with: every
// function expands what it is given to a dense matrix, so that one product and one solver serve all.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>

#include "cuda/libraries/blas/call.hpp"

namespace lanescope::cuda::blas {

template <typename T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

template <typename T>
T conjugate(T value) {
  if constexpr (is_complex<T>) return std::conj(value);
  return value;
}

/// Where elements of a matrix lie.
struct Layout {
  enum class Kind : uint8_t { columns, rows, packed, banded } kind = Kind::columns;
  int64_t rows = 0, columns = 0;
  int64_t leading = 0;
  Fill fill = Fill::lower;       ///< of what is packed
  int64_t below = 0, above = 0;  ///< diagonals of a band, beside the main one

  static Layout of_columns(int64_t rows, int64_t columns, int64_t leading) {
    return {Kind::columns, rows, columns, leading};
  }
  /// Row by row, which cuBLASLt knows.
  static Layout of_rows(int64_t rows, int64_t columns, int64_t leading) {
    return {Kind::rows, rows, columns, leading};
  }
  static Layout of_packed(int64_t n, Fill fill) { return {Kind::packed, n, n, 0, fill}; }
  static Layout of_band(int64_t rows, int64_t columns, int64_t leading, int64_t below, int64_t above) {
    return {Kind::banded, rows, columns, leading, Fill::lower, below, above};
  }
  /// Of a triangle or a symmetric matrix, which has a band on one side.
  static Layout of_band(int64_t n, int64_t leading, int64_t width, Fill fill) {
    return of_band(n, n, leading, fill == Fill::lower ? width : 0, fill == Fill::upper ? width : 0);
  }

  /// Elements of memory from the first to the last.
  [[nodiscard]] int64_t extent() const {
    if (rows == 0 || columns == 0) return 0;
    switch (kind) {
      case Kind::columns: return (columns - 1) * leading + rows;
      case Kind::rows: return (rows - 1) * leading + columns;
      case Kind::packed: return columns * (columns + 1) / 2;
      case Kind::banded: return (columns - 1) * leading + below + above + 1;
    }
    return 0;
  }
  /// The rows of column j that are stored: [first_row, last_row).
  [[nodiscard]] int64_t first_row(int64_t j) const {
    if (kind == Kind::packed) return fill == Fill::lower ? j : 0;
    return kind == Kind::banded ? std::max<int64_t>(0, j - above) : 0;
  }
  [[nodiscard]] int64_t last_row(int64_t j) const {
    if (kind == Kind::packed) return fill == Fill::lower ? rows : j + 1;
    return kind == Kind::banded ? std::min(rows, j + below + 1) : rows;
  }
  [[nodiscard]] int64_t place(int64_t i, int64_t j) const {
    switch (kind) {
      case Kind::columns: return i + j * leading;
      case Kind::rows: return i * leading + j;
      case Kind::packed: return fill == Fill::upper ? i + j * (j + 1) / 2 : i + j * (2 * columns - j - 1) / 2;
      case Kind::banded: return above + i - j + j * leading;
    }
    return 0;
  }
};

inline bool is_turned(Operation operation) {
  return operation == Operation::transpose || operation == Operation::adjoint;
}

/// What is stored of a matrix whose op() has these rows and columns.
inline Layout stored(Operation operation, int64_t rows, int64_t columns, int64_t leading) {
  return is_turned(operation) ? Layout::of_columns(columns, rows, leading)
                              : Layout::of_columns(rows, columns, leading);
}

/// Whether row i of column j belongs to the triangle.
inline bool is_in(Fill fill, int64_t i, int64_t j) { return fill == Fill::lower ? i >= j : i <= j; }

template <typename T>
Dense<T> general(const T* a, const Layout& at) {
  Dense<T> out = Dense<T>::Zero(at.rows, at.columns);
  for (int64_t j = 0; j < at.columns; ++j)
    for (int64_t i = at.first_row(j); i < at.last_row(j); ++i) out(i, j) = a[at.place(i, j)];
  return out;
}

/// Of a matrix of which one triangle is stored. `hermitian`: the other one is its conjugate, and the diagonal
/// real.
template <typename T>
Dense<T> symmetric(const T* a, const Layout& at, Fill fill, bool hermitian) {
  Dense<T> out = Dense<T>::Zero(at.rows, at.columns);
  for (int64_t j = 0; j < at.columns; ++j)
    for (int64_t i = at.first_row(j); i < at.last_row(j); ++i) {
      if (!is_in(fill, i, j)) continue;
      const T value = a[at.place(i, j)];
      out(j, i) = hermitian ? conjugate(value) : value;
      out(i, j) = hermitian && i == j ? T(std::real(value)) : value;
    }
  return out;
}

template <typename T>
Dense<T> triangle(const T* a, const Layout& at, Fill fill, Diagonal diagonal) {
  Dense<T> out = Dense<T>::Zero(at.rows, at.columns);
  for (int64_t j = 0; j < at.columns; ++j) {
    for (int64_t i = at.first_row(j); i < at.last_row(j); ++i)
      if (is_in(fill, i, j) && (i != j || diagonal == Diagonal::stored)) out(i, j) = a[at.place(i, j)];
    if (diagonal == Diagonal::unit) out(j, j) = T(1);
  }
  return out;
}

template <typename T>
Dense<T> apply(Operation operation, Dense<T> a) {
  switch (operation) {
    case Operation::none: return a;
    case Operation::transpose: return a.transpose();
    case Operation::adjoint: return a.adjoint();
    case Operation::conjugate: return a.conjugate();
  }
  return a;
}

template <typename T>
Dense<T> column(const Strided<const T>& x, int64_t count) {
  Dense<T> out(count, 1);
  for (int64_t i = 0; i < count; ++i) out(i, 0) = x[i];
  return out;
}

/// Multiplications that are worth the start of a thread.
inline constexpr double worth_a_thread = 1e6;

/// a b, by several threads if it is worth that. Defined for float, double, both complex types and int32_t.
template <typename T>
Dense<T> product(const Dense<T>& a, const Dense<T>& b);

/// Solves a x = b for a triangle `a`, in the place of b.
template <typename T>
void solve(const Dense<T>& a, bool is_lower, Dense<T>& b);

// A factor of 0. C is not read where beta is 0. What alpha multiplies is not read where it is 0 in gemv, ger,
// syr and their like, gemm, batches by strides, geam and trsm; elsewhere (banded, packed and symmetric
// matrices, triangles, batches by pointers) it is multiplied by 0, and stays no number where it is none. So
// it is in an H200's cuBLAS (CUDA 13.0), of sizes from 1 to 300 and all four types, but for trsm, where it
// hangs on the size.

/// c = alpha p + beta c, of all elements or of one triangle; what `beta` 0 takes no part in is not read.
/// `hermitian`: the diagonal is real.
enum class Part : uint8_t { all, lower, upper };
inline Part part_of(Fill fill) { return fill == Fill::lower ? Part::lower : Part::upper; }
template <typename T>
void combine(T alpha, const Dense<T>& p, T beta, T* c, const Layout& at, Part part = Part::all,
             bool hermitian = false) {
  for (int64_t j = 0; j < at.columns; ++j)
    for (int64_t i = at.first_row(j); i < at.last_row(j); ++i) {
      if (part != Part::all && !is_in(part == Part::lower ? Fill::lower : Fill::upper, i, j)) continue;
      T& element = c[at.place(i, j)];
      T value = alpha == T(0) ? T(0) : T(alpha * p(i, j));
      if (beta != T(0)) value += beta * element;
      element = hermitian && i == j ? T(std::real(value)) : value;
    }
}
template <typename T>
void combine(T alpha, const Dense<T>& p, T beta, const Strided<T>& y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const T value = alpha == T(0) ? T(0) : T(alpha * p(i, 0));
    y[i] = beta == T(0) ? value : T(value + beta * y[i]);
  }
}

}  // namespace lanescope::cuda::blas
