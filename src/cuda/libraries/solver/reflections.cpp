// Householder's reflections, I - f v v^H with v(0) = 1: QR factors, and what is made of them.
#include <algorithm>
#include <cmath>
#include <complex>

#include "cuda/libraries/elements.hpp"
#include "cuda/libraries/solver/reflections.hpp"

namespace lanescope::cuda::solver {

template <typename Number>
Number reflect_to_axis(Part<Number> x) {
  const int64_t rest = x.rows() - 1;
  const double below = x.col(0).tail(rest).stableNorm();
  const Number first = x(0, 0);
  if (below == 0 && std::imag(first) == 0) return 0;
  const double size = std::hypot(std::abs(first), below), result = std::real(first) >= 0 ? -size : size;
  x.col(0).tail(rest) /= first - result;
  x(0, 0) = result;
  return (result - first) / result;
}

template <typename Number>
std::vector<Number> factor_qr(Matrix<Number>& a) {
  const int64_t m = a.rows(), n = a.cols(), count = std::min(m, n);
  std::vector<Number> factors(static_cast<size_t>(count));
  Column<Number> v;
  Row<Number> w;
  for (int64_t k = 0; k < count; ++k) {
    const Number factor = reflect_to_axis<Number>(a.block(k, k, m - k, 1));
    factors[static_cast<size_t>(k)] = factor;
    if (factor == Number(0) || k + 1 == n) continue;
    v = a.col(k).tail(m - k);
    v(0) = 1;
    auto rest = a.bottomRightCorner(m - k, n - k - 1);
    w.noalias() = v.adjoint() * rest;
    w *= libraries::conjugate(factor);
    rest.noalias() -= v * w;
  }
  return factors;
}

template <typename Number>
void apply_q(const Matrix<Number>& a, const std::vector<Number>& factors, bool from_left, bool adjoint,
             Matrix<Number>& c) {
  const auto count = static_cast<int64_t>(factors.size());
  const int64_t size = from_left ? c.rows() : c.cols();
  Column<Number> v, column;
  Row<Number> row;
  for (int64_t step = 0; step < count; ++step) {
    // The factor that is next to c is the first one to be applied.
    const int64_t k = from_left != adjoint ? count - 1 - step : step;
    const Number found = factors[static_cast<size_t>(k)],
                 factor = adjoint ? libraries::conjugate(found) : found;
    if (factor == Number(0)) continue;
    v = a.col(k).tail(size - k);
    v(0) = 1;
    if (from_left) {
      auto rows = c.bottomRows(size - k);
      row.noalias() = v.adjoint() * rows;
      row *= factor;
      rows.noalias() -= v * row;
    } else {
      auto columns = c.rightCols(size - k);
      column.noalias() = columns * v;
      column *= factor;
      columns.noalias() -= column * v.adjoint();
    }
  }
}

template <typename Number>
double scale_of(const Matrix<Number>& a) {
  const double most = a.size() == 0 ? 0 : a.cwiseAbs().maxCoeff();
  return most > 0 && std::isfinite(most) ? most : 1;
}

#define DEFINE(Number)                                                                         \
  template double scale_of<Number>(const Matrix<Number>&);                                     \
  template Number reflect_to_axis<Number>(Part<Number>);                                       \
  template std::vector<Number> factor_qr<Number>(Matrix<Number>&);                             \
  template void apply_q<Number>(const Matrix<Number>&, const std::vector<Number>&, bool, bool, \
                                Matrix<Number>&);
DEFINE(double)
DEFINE(std::complex<double>)
#undef DEFINE

}  // namespace lanescope::cuda::solver
