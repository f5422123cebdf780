// Handles and what they remember; versions, and the words for statuses.
#include "cuda/libraries/blas/call.hpp"
#include "cuda/libraries/objects.hpp"

namespace lanescope::cuda::blas {
namespace {

using libraries::objects;

template <typename T>
Status set(Handle* handle, const char* name, T Handle::*member, T value, bool makes_sense = true) {
  Call call(handle, name);
  if (!makes_sense) call.refuse(Status::invalid_value, "there is no such value");
  if (!call.is_refused()) handle->*member = value;
  return call.status();
}
template <typename T, typename From>
Status get(Handle* handle, const char* name, T* out, From&& from) {
  Call call(handle, name);
  if (call.pointer("where it is to be written", out).is_refused()) return call.status();
  *out = from(*handle);
  return Status::success;
}
/// The mode, which is one of the first five, and two flags.
bool is_math_mode(int mode) { return (mode & 0xf) <= 4 && (mode & ~(0xf | 16 | 32)) == 0; }

/// Of a number that is no status.
constexpr const char* unrecognized = "unrecognized status";

const char* name_of(Status status) {
  switch (status) {
    case Status::success: return "CUBLAS_STATUS_SUCCESS";
    case Status::not_initialized: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case Status::alloc_failed: return "CUBLAS_STATUS_ALLOC_FAILED";
    case Status::invalid_value: return "CUBLAS_STATUS_INVALID_VALUE";
    case Status::arch_mismatch: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case Status::mapping_error: return "CUBLAS_STATUS_MAPPING_ERROR";
    case Status::execution_failed: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case Status::internal_error: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case Status::not_supported: return "CUBLAS_STATUS_NOT_SUPPORTED";
    case Status::license_error: return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return unrecognized;
}

}  // namespace

LANESCOPE_CUDA_API Status cublasCreate_v2(Handle** out) {
  if (out == nullptr) return Status::invalid_value;
  *out = objects<Handle>().add({});
  return Status::success;
}

LANESCOPE_CUDA_API Status cublasDestroy_v2(Handle* handle) {
  return objects<Handle>().destroy(handle) ? Status::success : Status::not_initialized;
}

#define LANESCOPE_PROPERTY(name, suffix, type, member, makes_sense)                           \
  LANESCOPE_CUDA_API Status cublasSet##name##suffix(Handle* handle, type value) {             \
    return set(handle, "cublasSet" #name, &Handle::member, value, makes_sense);               \
  }                                                                                           \
  LANESCOPE_CUDA_API Status cublasGet##name##suffix(Handle* handle, type* value) {            \
    return get(handle, "cublasGet" #name, value, [](const Handle& of) { return of.member; }); \
  }
LANESCOPE_PROPERTY(Stream, _v2, Stream*, stream, true)
LANESCOPE_PROPERTY(PointerMode, _v2, PointerMode, pointer_mode,
                   is_between(value, PointerMode::host, PointerMode::device))
LANESCOPE_PROPERTY(AtomicsMode, , int, atomics_mode, value == 0 || value == 1)
LANESCOPE_PROPERTY(MathMode, , int, math_mode, is_math_mode(value))
LANESCOPE_PROPERTY(SmCountTarget, , int, multiprocessors, value >= 0)

/// Nothing here needs room for intermediate results.
LANESCOPE_CUDA_API Status cublasSetWorkspace_v2(Handle* handle, void*, size_t) {
  return Call(handle, "cublasSetWorkspace").status();
}

LANESCOPE_CUDA_API Status cublasGetVersion_v2(Handle* handle, int* out) {
  return get(handle, "cublasGetVersion", out, [](const Handle&) { return version; });
}

/// libraryPropertyType: major, minor, patch.
LANESCOPE_CUDA_API Status cublasGetProperty(int which, int* out) {
  if (which < 0 || which > 2 || out == nullptr) return Status::invalid_value;
  *out = which == 0 ? version / 10000 : which == 1 ? version / 100 % 100 : version % 100;
  return Status::success;
}
LANESCOPE_CUDA_API size_t cublasGetCudartVersion() { return 13000; }

LANESCOPE_CUDA_API const char* cublasGetStatusName(Status status) { return name_of(status); }
LANESCOPE_CUDA_API const char* cublasGetStatusString(Status status) {
  switch (status) {
    case Status::success: return "success";
    case Status::not_initialized: return "the library was not initialized";
    case Status::alloc_failed: return "the resource allocation failed";
    case Status::invalid_value: return "an unsupported value or parameter was passed to the function";
    case Status::arch_mismatch:
      return "the function requires an architectural feature absent from the device";
    case Status::mapping_error: return "an access to GPU memory space failed";
    case Status::execution_failed: return "the function failed to launch on the GPU";
    case Status::internal_error: return "an internal operation failed";
    case Status::not_supported: return "the requested functionality is not supported";
    case Status::license_error: return "the license check failed";
  }
  return unrecognized;
}

// What the real library would say while it works is not said here.
LANESCOPE_CUDA_API Status cublasLoggerConfigure(int, int, int, const char*) { return Status::success; }
LANESCOPE_CUDA_API Status cublasSetLoggerCallback(void*) { return Status::success; }
LANESCOPE_CUDA_API Status cublasGetLoggerCallback(void** callback) {
  if (callback == nullptr) return Status::invalid_value;
  *callback = nullptr;
  return Status::success;
}

}  // namespace lanescope::cuda::blas
