// The profilers' library, as far as programs ask it whether they can profile: they cannot, and go on without.
// PyTorch's profiler is one. The toolkit's own looks into the driver, and crashes where that is another one.
#include <cstdint>

#include "cuda/libraries/call.hpp"
#include "cuda/libraries/cupti/types.hpp"

namespace lanescope::cuda::cupti {
namespace {

Status refuse() {
  libraries::say(
      "profilers (CUPTI) learn nothing of kernels, which no hardware runs; the report tells what they cost");
  return Status::not_supported;
}

}  // namespace

LANESCOPE_CUDA_API Status cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return Status::invalid_parameter;
  *version = 130001;  // of CUDA 13.0
  return Status::success;
}

LANESCOPE_CUDA_API Status cuptiGetResultString(Status status, const char** text) {
  if (text == nullptr) return Status::invalid_parameter;
  *text = status == Status::success             ? "CUPTI_SUCCESS"
          : status == Status::invalid_parameter ? "CUPTI_ERROR_INVALID_PARAMETER"
                                                : "CUPTI_ERROR_NOT_SUPPORTED";
  return Status::success;
}

// What profilers begin with.
LANESCOPE_CUDA_API Status cuptiSubscribe(void*, void*, void*) { return refuse(); }
LANESCOPE_CUDA_API Status cuptiActivityRegisterCallbacks(void*, void*) { return refuse(); }

}  // namespace lanescope::cuda::cupti
