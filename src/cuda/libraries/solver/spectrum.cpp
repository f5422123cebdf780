// Eigenvalues of Hermitian matrices: reflections make three real diagonals of them, which Eigen takes from
// there.
#include <Eigen/Eigenvalues>
#include <complex>

#include "cuda/libraries/elements.hpp"
#include "cuda/libraries/solver/reflections.hpp"

namespace lanescope::cuda::solver {

template <typename Number>
Spectrum<Number> spectrum_of(const Matrix<Number>& lower, bool with_vectors) {
  const int64_t n = lower.rows();
  Matrix<Number> a = lower;
  for (int64_t j = 0; j < n; ++j) {
    a(j, j) = std::real(a(j, j));
    for (int64_t i = 0; i < j; ++i) a(i, j) = libraries::conjugate(lower(j, i));
  }
  const double scale = scale_of(a);
  a /= scale;
  std::vector<Number> factors(static_cast<size_t>(n > 0 ? n - 1 : 0));
  Eigen::VectorXd diagonal(n), beside(n > 0 ? n - 1 : 0);
  Column<Number> v, w;
  for (int64_t k = 0; k + 1 < n; ++k) {
    const int64_t rest = n - k - 1;
    const Number factor = reflect_to_axis<Number>(a.block(k + 1, k, rest, 1));
    factors[static_cast<size_t>(k)] = factor;
    beside(k) = std::real(a(k + 1, k));
    if (factor == Number(0)) continue;
    // H^H A H = A - v w^H - w v^H
    v = a.col(k).tail(rest);
    v(0) = 1;
    auto corner = a.bottomRightCorner(rest, rest);
    w.noalias() = corner * v;
    w *= factor;
    const Number along = w.dot(v);  // the adjoint of w times v
    w -= (0.5 * factor * along) * v;
    corner.noalias() -= v * w.adjoint();
    corner.noalias() -= w * v.adjoint();
  }
  for (int64_t k = 0; k < n; ++k) diagonal(k) = std::real(a(k, k));
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  Spectrum<Number> found;
  if (n == 0) return found;
  solver.computeFromTridiagonal(diagonal, beside,
                                with_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  found.done = solver.info() == Eigen::Success;
  for (int64_t k = 0; k < n; ++k) found.values.push_back(solver.eigenvalues()(k) * scale);
  if (with_vectors) {
    found.vectors = solver.eigenvectors().template cast<Number>();
    // The reflections leave the first row alone.
    Matrix<Number> rows = found.vectors.bottomRows(n - 1);
    const Matrix<Number> reflections = a.bottomLeftCorner(n - 1, n - 1);
    apply_q(reflections, factors, true, false, rows);
    found.vectors.bottomRows(n - 1) = rows;
  }
  return found;
}

template Spectrum<double> spectrum_of<double>(const Matrix<double>&, bool);
template Spectrum<std::complex<double>> spectrum_of<std::complex<double>>(const Matrix<std::complex<double>>&,
                                                                          bool);

}  // namespace lanescope::cuda::solver
