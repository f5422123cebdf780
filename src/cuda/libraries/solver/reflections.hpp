// Householder's reflections, which QR factors and eigenvalues are made with.
#pragma once

#include "cuda/libraries/solver/dense.hpp"

namespace lanescope::cuda::solver {

/// The reflection H that makes H^H x a multiple of the first axis, which takes the place of x(0); below it
/// stands the vector, whose first element is 1 and not stored. The result is the factor; 0: H is I.
template <typename Number>
Number reflect_to_axis(Part<Number> x);

/// What a matrix is divided by, so that squares of its elements are in range.
template <typename Number>
double scale_of(const Matrix<Number>& a);

}  // namespace lanescope::cuda::solver
