// Decompositions of dense matrices, and systems that they solve. All is computed in double precision: in
// double, or in complex numbers of it, for which each is defined.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace lanescope::cuda::solver {

template <typename Number>
using Matrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>;
template <typename Number>
using Column = Eigen::Matrix<Number, Eigen::Dynamic, 1>;
template <typename Number>
using Row = Eigen::Matrix<Number, 1, Eigen::Dynamic>;
/// A matrix, or a part of one.
template <typename Number>
using Part = Eigen::Ref<Matrix<Number>, 0, Eigen::OuterStride<>>;
template <typename Number>
using ConstPart = Eigen::Ref<const Matrix<Number>, 0, Eigen::OuterStride<>>;

/// c -= a b.
template <typename Number>
void subtract_product(Part<Number> c, const ConstPart<Number>& a, const ConstPart<Number>& b);

/// Solves t x = b, in the place of b; of `t` the one triangle is read.
template <typename Number>
void solve_triangle(const ConstPart<Number>& t, bool is_lower, bool has_ones, Part<Number> b);

/// P A = L U in the place of A. `pivots`: the row, from 0 on, that was exchanged with each; null: none is.
/// The result is the number of the first pivot that is 0, or 0.
template <typename Number>
int64_t factor_lu(Matrix<Number>& a, std::vector<int64_t>* pivots);

/// A = L L^H, of a lower triangle in its place. The result is the size of the first part that is not positive
/// definite, or 0.
template <typename Number>
int64_t factor_cholesky(Part<Number> a);

/// A = Q R: R, and below it the vectors of the reflections whose product is Q. As many factors as there are.
template <typename Number>
std::vector<Number> factor_qr(Matrix<Number>& a);
/// c = Q c, or c Q, or with the adjoint of Q: of the reflections that `a` has below its diagonal.
template <typename Number>
void apply_q(const Matrix<Number>& a, const std::vector<Number>& factors, bool from_left, bool adjoint,
             Matrix<Number>& c);

/// The eigenvalues, in rising order, and (if they are asked for) the eigenvectors of a Hermitian matrix, of
/// which the lower triangle is read. `done`: whether all were found.
template <typename Number>
struct Spectrum {
  std::vector<double> values;
  Matrix<Number> vectors;
  bool done = true;
};
template <typename Number>
Spectrum<Number> spectrum_of(const Matrix<Number>& lower, bool with_vectors);

/// A = U S V^H with singular values in falling order. U and V have as many columns as there are of these.
template <typename Number>
struct Singular {
  std::vector<double> values;
  Matrix<Number> u, v;
  bool done = true;
};
template <typename Number>
Singular<Number> singular_of(const Matrix<Number>& a);
/// Appends columns to orthogonal ones, so that there are `count`.
template <typename Number>
void complete(Matrix<Number>& columns, int64_t count);

}  // namespace lanescope::cuda::solver
