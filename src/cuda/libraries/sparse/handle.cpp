// Handles, the descriptors of the older interface, versions, and the words for statuses.
#include "cuda/libraries/sparse/call.hpp"

namespace lanescope::cuda::sparse {
namespace {

/// What cusparseGetVersion says: of the release that is the model.
constexpr int version = 12603;

using libraries::refuse;

template <typename T>
Status set(MatrixKind* kind, const char* name, T MatrixKind::*member, T value, T last) {
  Call call(name);
  if (kind == nullptr) call.refuse(Status::not_initialized, "the descriptor is null");
  if (call.object("the descriptor", kind).is_refused()) return call.status();
  if (!is_between(value, T{}, last))
    return call.refuse(Status::invalid_value, "there is no value {}", static_cast<int>(value)).status();
  kind->*member = value;
  return Status::success;
}
template <typename T>
T get(const MatrixKind* kind, T MatrixKind::*member) {
  return objects<MatrixKind>().contains(kind) ? kind->*member : T{};
}

/// Of a number that is no status.
constexpr const char* unrecognized = "unrecognized error code";

}  // namespace

LANESCOPE_CUDA_API Status cusparseCreate(Handle** out) { return Call("cusparseCreate").create(out); }
LANESCOPE_CUDA_API Status cusparseDestroy(Handle* handle) { return Call("cusparseDestroy").destroy(handle); }

LANESCOPE_CUDA_API Status cusparseSetStream(Handle* handle, Stream* stream) {
  const Call call(handle, "cusparseSetStream");
  if (!call.is_refused()) handle->stream = stream;
  return call.status();
}
LANESCOPE_CUDA_API Status cusparseGetStream(Handle* handle, Stream** stream) {
  Call call(handle, "cusparseGetStream");
  if (!call.pointer("where it is to be written", stream).is_refused()) *stream = handle->stream;
  return call.status();
}
LANESCOPE_CUDA_API Status cusparseSetPointerMode(Handle* handle, PointerMode mode) {
  Call call(handle, "cusparseSetPointerMode");
  if (!is_between(mode, PointerMode::host, PointerMode::device))
    call.refuse(Status::invalid_value, "{} is no cusparsePointerMode_t", static_cast<int>(mode));
  if (!call.is_refused()) handle->pointer_mode = mode;
  return call.status();
}
LANESCOPE_CUDA_API Status cusparseGetPointerMode(Handle* handle, PointerMode* mode) {
  Call call(handle, "cusparseGetPointerMode");
  if (!call.pointer("where it is to be written", mode).is_refused()) *mode = handle->pointer_mode;
  return call.status();
}

LANESCOPE_CUDA_API Status cusparseGetVersion(Handle* handle, int* out) {
  Call call(handle, "cusparseGetVersion");
  if (!call.pointer("where it is to be written", out).is_refused()) *out = version;
  return call.status();
}
/// libraryPropertyType: major, minor, patch.
LANESCOPE_CUDA_API Status cusparseGetProperty(int which, int* out) {
  if (which < 0 || which > 2 || out == nullptr)
    return refuse("cusparseGetProperty", Status::invalid_value, "{}",
                  out == nullptr ? "where it is to be written is null" : "that is no libraryPropertyType");
  *out = libraries::part_of_version(version, which);
  return Status::success;
}

LANESCOPE_CUDA_API const char* cusparseGetErrorName(Status status) {
  switch (status) {
    case Status::success: return "CUSPARSE_STATUS_SUCCESS";
    case Status::not_initialized: return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case Status::alloc_failed: return "CUSPARSE_STATUS_ALLOC_FAILED";
    case Status::invalid_value: return "CUSPARSE_STATUS_INVALID_VALUE";
    case Status::arch_mismatch: return "CUSPARSE_STATUS_ARCH_MISMATCH";
    case Status::mapping_error: return "CUSPARSE_STATUS_MAPPING_ERROR";
    case Status::execution_failed: return "CUSPARSE_STATUS_EXECUTION_FAILED";
    case Status::internal_error: return "CUSPARSE_STATUS_INTERNAL_ERROR";
    case Status::matrix_type_not_supported: return "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED";
    case Status::zero_pivot: return "CUSPARSE_STATUS_ZERO_PIVOT";
    case Status::not_supported: return "CUSPARSE_STATUS_NOT_SUPPORTED";
    case Status::insufficient_resources: return "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES";
  }
  return unrecognized;
}
LANESCOPE_CUDA_API const char* cusparseGetErrorString(Status status) {
  switch (status) {
    case Status::success: return "success";
    case Status::not_initialized: return "initialization error";
    case Status::alloc_failed: return "out of memory";
    case Status::invalid_value: return "invalid value";
    case Status::arch_mismatch: return "architecture mismatch";
    case Status::mapping_error: return "texture memory mapping error";
    case Status::execution_failed: return "kernel launch failure";
    case Status::internal_error: return "internal error";
    case Status::matrix_type_not_supported: return "matrix type not supported";
    case Status::zero_pivot: return "zero pivot";
    case Status::not_supported: return "operation not supported";
    case Status::insufficient_resources: return "insufficient resources";
  }
  return unrecognized;
}

// What the real library would say while it works is not said here.
LANESCOPE_CUDA_API Status cusparseLoggerSetCallback(void*) { return Status::success; }
LANESCOPE_CUDA_API Status cusparseLoggerSetFile(void*) { return Status::success; }
LANESCOPE_CUDA_API Status cusparseLoggerOpenFile(const char*) { return Status::success; }
LANESCOPE_CUDA_API Status cusparseLoggerSetLevel(int) { return Status::success; }
LANESCOPE_CUDA_API Status cusparseLoggerSetMask(int) { return Status::success; }
LANESCOPE_CUDA_API Status cusparseLoggerForceDisable() { return Status::success; }

LANESCOPE_CUDA_API Status cusparseCreateMatDescr(MatrixKind** out) {
  return Call("cusparseCreateMatDescr").create(out);
}
LANESCOPE_CUDA_API Status cusparseDestroyMatDescr(MatrixKind* kind) {
  return Call("cusparseDestroyMatDescr").destroy(kind);
}

#define LANESCOPE_PROPERTY(name, Type, member, last)                          \
  LANESCOPE_CUDA_API Status cusparseSet##name(MatrixKind* kind, Type value) { \
    return set(kind, "cusparseSet" #name, &MatrixKind::member, value, last);  \
  }                                                                           \
  LANESCOPE_CUDA_API Type cusparseGet##name(const MatrixKind* kind) { return get(kind, &MatrixKind::member); }
LANESCOPE_PROPERTY(MatType, MatrixType, type, MatrixType::triangular)
LANESCOPE_PROPERTY(MatFillMode, Fill, fill, Fill::upper)
LANESCOPE_PROPERTY(MatDiagType, Diagonal, diagonal, Diagonal::unit)
LANESCOPE_PROPERTY(MatIndexBase, Base, base, Base::one)

}  // namespace lanescope::cuda::sparse
