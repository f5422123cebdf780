// Singular values by Jacobi's method on one side: columns are rotated until all are orthogonal. Of a
// triangle, which QR makes, that takes few sweeps, and it is exact for small values, too.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "cuda/libraries/elements.hpp"
#include "cuda/libraries/solver/reflections.hpp"

namespace lanescope::cuda::solver {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int most_sweeps = 60;
/// So many columns take Jacobi's method less time than it takes to prepare them for it.
constexpr int64_t least_columns = 24;

/// (p, q) = (c p - s q', s p + c q'), where q' is q turned by a phase.
template <typename Number>
void rotate(Matrix<Number>& a, int64_t p, int64_t q, double c, double s, Number phase) {
  auto first = a.col(p), second = a.col(q);
  const Column<Number> turned = second * phase;
  second = s * first + c * turned;
  first = c * first - s * turned;
}

/// Makes the columns of x orthogonal; what is done to them is done to w, too. Whether that came to an end.
template <typename Number>
bool make_orthogonal(Matrix<Number>& x, Matrix<Number>& w) {
  const int64_t n = x.cols();
  const double tolerance = std::sqrt(static_cast<double>(x.rows())) * epsilon;
  std::vector<double> square(static_cast<size_t>(n));
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool is_done = true;
    for (int64_t j = 0; j < n; ++j) square[static_cast<size_t>(j)] = x.col(j).squaredNorm();
    for (int64_t p = 0; p + 1 < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        double &of_p = square[static_cast<size_t>(p)], &of_q = square[static_cast<size_t>(q)];
        if (of_p < of_q) {  // in falling order they come to rest sooner
          x.col(p).swap(x.col(q));
          w.col(p).swap(w.col(q));
          std::swap(of_p, of_q);
        }
        const Number dot = x.col(p).dot(x.col(q));
        const double size = std::abs(dot);
        if (!(size > tolerance * std::sqrt(of_p) * std::sqrt(of_q))) continue;
        is_done = false;
        const double ratio = (of_q - of_p) / (2 * size),
                     tangent = (ratio < 0 ? -1 : 1) / (std::abs(ratio) + std::hypot(1, ratio)),
                     c = 1 / std::hypot(1, tangent), s = c * tangent;
        const Number phase = libraries::conjugate(dot) / size;
        rotate(x, p, q, c, s, phase);
        rotate(w, p, q, c, s, phase);
        of_p -= tangent * size;
        of_q += tangent * size;
        if (of_q < of_p * epsilon) of_q = x.col(q).squaredNorm();
      }
    if (is_done) return true;
  }
  return false;
}

}  // namespace

template <typename Number>
void complete(Matrix<Number>& columns, int64_t count) {
  const int64_t have = columns.cols();
  if (have >= count) return;
  Matrix<Number> reflections = columns, all = Matrix<Number>::Identity(columns.rows(), count);
  const std::vector<Number> factors = factor_qr(reflections);
  apply_q(reflections, factors, true, false, all);
  all.leftCols(have) = columns;
  columns = std::move(all);
}

template <typename Number>
Singular<Number> singular_of(const Matrix<Number>& a) {
  if (a.rows() < a.cols()) {
    Singular<Number> turned = singular_of<Number>(a.adjoint());
    turned.u.swap(turned.v);
    return turned;
  }
  const int64_t m = a.rows(), n = a.cols();
  Singular<Number> found;
  found.u = Matrix<Number>::Zero(m, n);
  found.v = Matrix<Number>::Zero(n, n);
  if (n == 0) return found;
  const double scale = scale_of(a);
  Matrix<Number> q = a / scale;
  const std::vector<Number> factors = factor_qr(q);
  // A = Q R, and R^H W = V S, so that A = Q W S V^H.
  Matrix<Number> x = Matrix<Number>::Zero(n, n), w = Matrix<Number>::Identity(n, n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i <= j; ++i) x(j, i) = libraries::conjugate(q(i, j));
  if (n > least_columns) {
    // The eigenvectors of -X^H X, in rising order, leave little to rotate: what their rounding spoiled.
    Matrix<Number> square = Matrix<Number>::Zero(n, n), product = square;
    subtract_product<Number>(square, x.adjoint(), x);
    w = -spectrum_of(square, true).vectors;
    subtract_product<Number>(product, x, -w);
    x = std::move(product);
  }
  found.done = make_orthogonal(x, w);
  std::vector<double> sizes(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) sizes[static_cast<size_t>(j)] = x.col(j).norm();
  std::vector<int64_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t one, int64_t other) {
    return sizes[static_cast<size_t>(one)] > sizes[static_cast<size_t>(other)];
  });
  // Of columns that are as good as 0 the direction says nothing: any that is orthogonal to the others will
  // do.
  const double least = sizes[static_cast<size_t>(order[0])] * epsilon * static_cast<double>(n);
  int64_t rank = 0;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t j = order[static_cast<size_t>(k)];
    const double size = sizes[static_cast<size_t>(j)];
    found.values.push_back(size * scale);
    found.u.col(k).head(n) = w.col(j);
    if (size > least) found.v.col(rank++) = x.col(j) / size;
  }
  Matrix<Number> directions = found.v.leftCols(rank);
  complete(directions, n);
  found.v = std::move(directions);
  apply_q(q, factors, true, false, found.u);
  return found;
}

#define DEFINE(Number)                                      \
  template void complete<Number>(Matrix<Number>&, int64_t); \
  template Singular<Number> singular_of<Number>(const Matrix<Number>&);
DEFINE(double)
DEFINE(std::complex<double>)
#undef DEFINE

}  // namespace lanescope::cuda::solver
