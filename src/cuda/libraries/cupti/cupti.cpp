// The profilers' library, as far as programs ask it whether they can profile: they cannot, and go on without.
// PyTorch's profiler is one. The toolkit's own looks into the driver, and crashes where that is another one.
#include <dlfcn.h>

#include <cstdint>
#include <string_view>

#include "cuda/libraries/call.hpp"
#include "cuda/libraries/cupti/types.hpp"

namespace lanescope::cuda::cupti {
namespace {

Status refuse() {
  libraries::say(
      "profilers (CUPTI) learn nothing of kernels, which no hardware runs; the report tells what they cost");
  return Status::not_supported;
}

/// That of the release whose name this library has: of CUDA 13.0, or of the last 12.
uint32_t version_by_name() {
  Dl_info own{};
  const bool is_known = dladdr(reinterpret_cast<const void*>(&version_by_name), &own) != 0;
  return is_known && std::string_view(own.dli_fname).ends_with(".so.12") ? 28 : 130001;
}

}  // namespace

LANESCOPE_CUDA_API Status cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return Status::invalid_parameter;
  *version = version_by_name();
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
