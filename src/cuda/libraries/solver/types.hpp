// cuSOLVER's binary interface: the numbers of its documented API.
#pragma once

#include <cstdint>

#include "cuda/libraries/blas/types.hpp"

namespace lanescope::cuda::solver {

// They are cuBLAS's.
using blas::Diagonal;
using blas::Fill;
using blas::Operation;
using blas::Side;
using libraries::DataType;
using libraries::is_between;

/// cusolverStatus_t.
enum class Status : int {
  success = 0,
  not_initialized = 1,
  alloc_failed = 2,
  invalid_value = 3,
  execution_failed = 6,
  internal_error = 7,
  not_supported = 9,
  irs_params_not_initialized = 12,
  irs_infos_not_initialized = 25,
};

enum class Vectors : int { none = 0, wanted = 1 };                        // cusolverEigMode_t
enum class Range : int { all = 1001, by_index = 1002, by_value = 1003 };  // cusolverEigRange_t
/// cusolverEigType_t: A x = λ B x, A B x = λ x, B A x = λ x.
enum class Problem : int { a_bx = 1, ab_x = 2, ba_x = 3 };

}  // namespace lanescope::cuda::solver
