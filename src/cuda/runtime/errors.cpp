// Errors: their names, and each thread's last one.
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

Status& last_error() {
  thread_local Status last = Status::success;
  return last;
}

Status driver_status() {
  if (!driver_is_up) return Status::initialization_error;
  if (!driver_is_lost) return Status::success;
  say_once(
      "this process was made by fork() after its parent had called CUDA, which cannot be used in it, here as "
      "on a GPU: its calls return cudaErrorInitializationError");
  return Status::initialization_error;
}

Status not_implemented(const char* name) {
  say_once(std::string(name) + " is not implemented and returns cudaErrorNotSupported");
  return remember(Status::not_supported);
}

Status driver_not_implemented(const char* name) {
  say_once(std::string(name) + " is not implemented and returns CUDA_ERROR_NOT_SUPPORTED");
  return Status::not_supported;
}

}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaGetLastError() {
  const Status last = remember(last_error());
  last_error() = Status::success;
  return last;
}

LANESCOPE_CUDA_API Status cudaPeekAtLastError() { return remember(last_error()); }

// NOLINTNEXTLINE(readability-identifier-naming): a name for all programs
LANESCOPE_CUDA_API Status lanescope_remember(Status status) { return remember(status); }

LANESCOPE_CUDA_API const char* cudaGetErrorName(Status error) {
  begin_driver();
  switch (static_cast<int>(error)) {
#define LANESCOPE_ERROR(number, name, text) \
  case number:                              \
    return #name;
#include "cuda/runtime/errors.def"
#undef LANESCOPE_ERROR
    default: return "unrecognized error code";
  }
}

LANESCOPE_CUDA_API const char* cudaGetErrorString(Status error) {
  begin_driver();
  switch (static_cast<int>(error)) {
#define LANESCOPE_ERROR(number, name, text) \
  case number:                              \
    return text;
#include "cuda/runtime/errors.def"
#undef LANESCOPE_ERROR
    default: return "unrecognized error code";
  }
}
