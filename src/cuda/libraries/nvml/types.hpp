// What NVML's functions return.
#pragma once

namespace lanescope::cuda::nvml {

/// nvmlReturn_t: what is returned here.
enum class Status : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  insufficient_size = 7,
};

}  // namespace lanescope::cuda::nvml
