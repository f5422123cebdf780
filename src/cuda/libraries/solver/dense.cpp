// Triangles, LU and Cholesky factors. Each divides its matrix in two, so that most of the work is a product.
#include "cuda/libraries/solver/dense.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "cuda/libraries/elements.hpp"
#include "cuda/libraries/parts.hpp"

namespace lanescope::cuda::solver {
namespace {

/// Below this many columns nothing is divided.
constexpr int64_t few = 16;
/// Multiplications that are worth the start of a thread.
constexpr double worth_a_thread = 1e6;

/// What pivots are compared by.
double magnitude(double value) { return std::abs(value); }
double magnitude(const std::complex<double>& value) {
  return std::abs(value.real()) + std::abs(value.imag());
}

template <typename Number>
void exchange_rows(Part<Number> a, const std::vector<int64_t>& pivots, int64_t first, int64_t last,
                   int64_t offset) {
  for (int64_t k = first; k < last; ++k) {
    const int64_t other = pivots[static_cast<size_t>(k)];
    if (other != k) a.row(k - offset).swap(a.row(other - offset));
  }
}

/// Columns of the matrix that begin at row and column `offset` of the whole.
template <typename Number>
void factor_columns(Part<Number> a, int64_t offset, std::vector<int64_t>* pivots, int64_t& zero) {
  const int64_t m = a.rows(), n = a.cols(), count = std::min(m, n);
  if (count > few) {
    const int64_t half = count / 2;
    factor_columns<Number>(a.leftCols(half), offset, pivots, zero);
    if (pivots != nullptr)
      exchange_rows<Number>(a.rightCols(n - half), *pivots, offset, offset + half, offset);
    solve_triangle<Number>(a.topLeftCorner(half, half), true, true, a.topRightCorner(half, n - half));
    subtract_product<Number>(a.bottomRightCorner(m - half, n - half), a.bottomLeftCorner(m - half, half),
                             a.topRightCorner(half, n - half));
    factor_columns<Number>(a.bottomRightCorner(m - half, n - half), offset + half, pivots, zero);
    if (pivots != nullptr)
      exchange_rows<Number>(a.leftCols(half), *pivots, offset + half, offset + count, offset);
    return;
  }
  for (int64_t k = 0; k < count; ++k) {
    if (pivots != nullptr) {
      int64_t best = k;
      for (int64_t i = k + 1; i < m; ++i)
        if (magnitude(a(i, k)) > magnitude(a(best, k))) best = i;
      (*pivots)[static_cast<size_t>(offset + k)] = offset + best;
      if (best != k) a.row(k).swap(a.row(best));
    }
    if (a(k, k) == Number(0)) {
      if (zero == 0) zero = offset + k + 1;
      continue;
    }
    a.col(k).tail(m - k - 1) /= a(k, k);
    for (int64_t j = k + 1; j < n; ++j) a.col(j).tail(m - k - 1) -= a(k, j) * a.col(k).tail(m - k - 1);
  }
}

}  // namespace

template <typename Number>
void subtract_product(Part<Number> c, const ConstPart<Number>& a, const ConstPart<Number>& b) {
  const double worth = static_cast<double>(c.rows()) * static_cast<double>(c.cols()) *
                       static_cast<double>(a.cols()) / worth_a_thread;
  libraries::in_parts(c.cols(), worth, [&](int64_t first, int64_t last) {
    c.middleCols(first, last - first).noalias() -= a * b.middleCols(first, last - first);
  });
}

template <typename Number>
void solve_triangle(const ConstPart<Number>& t, bool is_lower, bool has_ones, Part<Number> b) {
  const int64_t n = t.rows();
  if (n > few) {
    const int64_t half = n / 2, rest = n - half;
    if (is_lower) {
      solve_triangle<Number>(t.topLeftCorner(half, half), true, has_ones, b.topRows(half));
      subtract_product<Number>(b.bottomRows(rest), t.bottomLeftCorner(rest, half), b.topRows(half));
      solve_triangle<Number>(t.bottomRightCorner(rest, rest), true, has_ones, b.bottomRows(rest));
    } else {
      solve_triangle<Number>(t.bottomRightCorner(rest, rest), false, has_ones, b.bottomRows(rest));
      subtract_product<Number>(b.topRows(half), t.topRightCorner(half, rest), b.bottomRows(rest));
      solve_triangle<Number>(t.topLeftCorner(half, half), false, has_ones, b.topRows(half));
    }
    return;
  }
  for (int64_t j = 0; j < b.cols(); ++j)
    for (int64_t step = 0; step < n; ++step) {
      const int64_t k = is_lower ? step : n - 1 - step;
      if (!has_ones) b(k, j) /= t(k, k);
      if (is_lower)
        b.col(j).tail(n - k - 1) -= b(k, j) * t.col(k).tail(n - k - 1);
      else
        b.col(j).head(k) -= b(k, j) * t.col(k).head(k);
    }
}

template <typename Number>
int64_t factor_lu(Matrix<Number>& a, std::vector<int64_t>* pivots) {
  if (pivots != nullptr) pivots->assign(static_cast<size_t>(std::min(a.rows(), a.cols())), 0);
  int64_t zero = 0;
  factor_columns<Number>(a, 0, pivots, zero);
  return zero;
}

template <typename Number>
int64_t factor_cholesky(Part<Number> a) {
  const int64_t n = a.rows();
  if (n > few) {
    const int64_t half = n / 2, rest = n - half;
    if (const int64_t failed = factor_cholesky<Number>(a.topLeftCorner(half, half))) return failed;
    Matrix<Number> turned = a.bottomLeftCorner(rest, half).adjoint();
    solve_triangle<Number>(a.topLeftCorner(half, half), true, false, turned);
    a.bottomLeftCorner(rest, half) = turned.adjoint();
    subtract_product<Number>(a.bottomRightCorner(rest, rest), a.bottomLeftCorner(rest, half), turned);
    const int64_t failed = factor_cholesky<Number>(a.bottomRightCorner(rest, rest));
    return failed == 0 ? 0 : half + failed;
  }
  for (int64_t k = 0; k < n; ++k) {
    const double square = std::real(a(k, k));
    if (!(square > 0)) return k + 1;
    a(k, k) = std::sqrt(square);
    a.col(k).tail(n - k - 1) /= std::sqrt(square);
    for (int64_t j = k + 1; j < n; ++j)
      a.col(j).tail(n - j) -= libraries::conjugate(a(j, k)) * a.col(k).tail(n - j);
  }
  return 0;
}

#define DEFINE(Number)                                                                                      \
  template void subtract_product<Number>(Part<Number>, const ConstPart<Number>&, const ConstPart<Number>&); \
  template void solve_triangle<Number>(const ConstPart<Number>&, bool, bool, Part<Number>);                 \
  template int64_t factor_lu<Number>(Matrix<Number>&, std::vector<int64_t>*);                               \
  template int64_t factor_cholesky<Number>(Part<Number>);
DEFINE(double)
DEFINE(std::complex<double>)
#undef DEFINE

}  // namespace lanescope::cuda::solver
