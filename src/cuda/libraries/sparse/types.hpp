// cuSPARSE's binary interface: the numbers of its documented API.
#pragma once

#include <cstdint>

#include "cuda/libraries/data_type.hpp"
#include "cuda/runtime/api.hpp"

namespace lanescope::cuda::sparse {

using libraries::DataType;
using libraries::IndexType;
using libraries::is_between;
using libraries::PointerMode;

/// cusparseStatus_t.
enum class Status : int {
  success = 0,
  not_initialized = 1,
  alloc_failed = 2,
  invalid_value = 3,
  arch_mismatch = 4,
  mapping_error = 5,
  execution_failed = 6,
  internal_error = 7,
  matrix_type_not_supported = 8,
  zero_pivot = 9,
  not_supported = 10,
  insufficient_resources = 11,
};

enum class Action : int { symbolic = 0, numeric = 1 };                          // cusparseAction_t
enum class MatrixType : int { general = 0, symmetric, hermitian, triangular };  // cusparseMatrixType_t
enum class Fill : int { lower = 0, upper = 1 };                                 // cusparseFillMode_t
enum class Diagonal : int { stored = 0, unit = 1 };                             // cusparseDiagType_t
enum class Base : int { zero = 0, one = 1 };                                    // cusparseIndexBase_t
enum class Operation : int { none = 0, transpose = 1, adjoint = 2 };            // cusparseOperation_t
enum class Direction : int { row = 0, column = 1 };                             // cusparseDirection_t
enum class Format : int { csr = 1, csc = 2, coo = 3, bsr = 6 };                 // cusparseFormat_t
enum class Order : int { column = 1, row = 2 };                                 // cusparseOrder_t
enum class Attribute : int { fill = 0, diagonal = 1 };                          // cusparseSpMatAttribute_t
enum class Update : int { general = 0, diagonal = 1 };                          // cusparseSpSVUpdate_t

}  // namespace lanescope::cuda::sparse
