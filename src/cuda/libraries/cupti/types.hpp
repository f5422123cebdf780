// What CUPTI's functions return.
#pragma once

namespace lanescope::cuda::cupti {

/// CUptiResult: what is returned here.
enum class Status : int { success = 0, invalid_parameter = 1, not_supported = 27 };

}  // namespace lanescope::cuda::cupti
