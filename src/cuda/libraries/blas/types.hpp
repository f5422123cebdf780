// cuBLAS's binary interface: the numbers of its documented API.
#pragma once

#include <complex>
#include <cstdint>

#include "cuda/libraries/data_type.hpp"
#include "cuda/runtime/api.hpp"

namespace lanescope::cuda::blas {

/// What cublasGetVersion says: of the newest release whose interface this is.
inline constexpr int version = 130000;

/// cublasStatus_t.
enum class Status : int {
  success = 0,
  not_initialized = 1,
  alloc_failed = 3,
  invalid_value = 7,
  arch_mismatch = 8,
  mapping_error = 11,
  execution_failed = 13,
  internal_error = 14,
  not_supported = 15,
  license_error = 16,
};

enum class Operation : int { none = 0, transpose = 1, adjoint = 2, conjugate = 3 };  // cublasOperation_t
enum class Fill : int { lower = 0, upper = 1 };                                      // cublasFillMode_t
enum class Diagonal : int { stored = 0, unit = 1 };                                  // cublasDiagType_t
enum class Side : int { left = 0, right = 1 };                                       // cublasSideMode_t

using libraries::DataType;
using libraries::is_between;
using libraries::PointerMode;

/// cublasComputeType_t, without what says how fast it may be.
enum class ComputeType : int {
  half = 64,
  half_pedantic = 65,
  single = 68,
  single_pedantic = 69,
  double_ = 70,
  double_pedantic = 71,
  integer = 72,
  integer_pedantic = 73,
  single_fast_half = 74,
  single_fast_bfloat = 75,
  single_fast_tf32 = 77,
  single_emulated = 78,
};

template <typename T>
struct RealOf {
  using Type = T;
};
template <typename T>
struct RealOf<std::complex<T>> {
  using Type = T;
};
template <typename T>
using Real = typename RealOf<T>::Type;
template <typename T>
inline constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

}  // namespace lanescope::cuda::blas
