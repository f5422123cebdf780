// cuFFT's binary interface: the numbers of its documented API.
#pragma once

#include "cuda/libraries/data_type.hpp"
#include "cuda/runtime/api.hpp"

namespace lanescope::cuda::fft {

/// cufftResult.
enum class Status : int {
  success = 0,
  invalid_plan = 1,
  alloc_failed = 2,
  invalid_type = 3,
  invalid_value = 4,
  internal_error = 5,
  exec_failed = 6,
  invalid_size = 8,
  not_implemented = 14,
  not_supported = 16,
};

/// cufftType.
enum class Type : int { c2c = 0x29, r2c = 0x2a, c2r = 0x2c, z2z = 0x69, d2z = 0x6a, z2d = 0x6c };

using libraries::DataType;

}  // namespace lanescope::cuda::fft
