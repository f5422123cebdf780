// Handles, hints for algorithms, and versions.
#include "cuda/libraries/solver/call.hpp"

namespace lanescope::cuda::solver {
namespace {

/// What cusolverGetVersion says: of the release that is the model.
constexpr int version = 12004;

template <typename Object, typename Owner, typename T>
Status set(const char* name, Object* object, T Owner::*member, T value) {
  Call call(name);
  if (!call.object("what it is to be set for", object).is_refused()) object->*member = value;
  return call.status();
}
/// Of a handle.
template <typename T>
Status set(const char* name, Handle* handle, T Handle::*member, T value) {
  const Call call(handle, name);
  if (!call.is_refused()) handle->*member = value;
  return call.status();
}
template <typename T>
Status get(const char* name, const Handle* handle, T Handle::*member, T* out) {
  Call call(handle, name);
  if (!call.pointer("where it is to be written", out).is_refused()) *out = handle->*member;
  return call.status();
}

/// What is told of the work of Jacobi's method, which is not remembered.
template <typename Info, typename T>
Status told(const char* name, const Handle* handle, const Info* info, T* out, T value) {
  Call call(handle, name);
  if (!call.object("info", info).pointer("where it is to be written", out).is_refused()) *out = value;
  return call.status();
}

}  // namespace

LANESCOPE_CUDA_API Status cusolverDnCreate(Handle** out) { return Call("cusolverDnCreate").create(out); }
LANESCOPE_CUDA_API Status cusolverDnDestroy(Handle* handle) {
  if (objects<Handle>().destroy(handle)) return Status::success;
  return Call(handle, "cusolverDnDestroy").status();
}
LANESCOPE_CUDA_API Status cusolverDnSetStream(Handle* handle, Stream* stream) {
  return set("cusolverDnSetStream", handle, &Handle::stream, stream);
}
LANESCOPE_CUDA_API Status cusolverDnGetStream(Handle* handle, Stream** stream) {
  return get("cusolverDnGetStream", handle, &Handle::stream, stream);
}
#define LANESCOPE_HINT(name, member)                                         \
  LANESCOPE_CUDA_API Status cusolverDnSet##name(Handle* handle, int value) { \
    return set("cusolverDnSet" #name, handle, &Handle::member, value);       \
  }                                                                          \
  LANESCOPE_CUDA_API Status cusolverDnGet##name(Handle* handle, int* out) {  \
    return get("cusolverDnGet" #name, handle, &Handle::member, out);         \
  }
LANESCOPE_HINT(DeterministicMode, deterministic_mode)
LANESCOPE_HINT(MathMode, math_mode)
LANESCOPE_HINT(EmulationStrategy, emulation_strategy)

LANESCOPE_CUDA_API Status cusolverDnCreateParams(Params** out) {
  return Call("cusolverDnCreateParams").create(out);
}
LANESCOPE_CUDA_API Status cusolverDnDestroyParams(Params* params) {
  return Call("cusolverDnDestroyParams").destroy(params);
}
LANESCOPE_CUDA_API Status cusolverDnSetAdvOptions(Params* params, int, int) {
  return Call("cusolverDnSetAdvOptions").object("params", params).status();
}

#define LANESCOPE_JACOBI(name, prefix, Info)                                                            \
  LANESCOPE_CUDA_API Status cusolverDnCreate##name(Info** out) {                                        \
    return Call("cusolverDnCreate" #name).create(out);                                                  \
  }                                                                                                     \
  LANESCOPE_CUDA_API Status cusolverDnDestroy##name(Info* info) {                                       \
    return Call("cusolverDnDestroy" #name).destroy(info);                                               \
  }                                                                                                     \
  LANESCOPE_CUDA_API Status cusolverDnX##prefix##SetTolerance(Info* info, double tolerance) {           \
    return set("cusolverDnX" #prefix "SetTolerance", info, &JacobiInfo::tolerance, tolerance);          \
  }                                                                                                     \
  LANESCOPE_CUDA_API Status cusolverDnX##prefix##SetMaxSweeps(Info* info, int sweeps) {                 \
    return set("cusolverDnX" #prefix "SetMaxSweeps", info, &JacobiInfo::sweeps, sweeps);                \
  }                                                                                                     \
  LANESCOPE_CUDA_API Status cusolverDnX##prefix##SetSortEig(Info* info, int sort) {                     \
    return set("cusolverDnX" #prefix "SetSortEig", info, &JacobiInfo::sort, sort);                      \
  }                                                                                                     \
  LANESCOPE_CUDA_API Status cusolverDnX##prefix##GetResidual(Handle* handle, Info* info, double* out) { \
    return told("cusolverDnX" #prefix "GetResidual", handle, info, out, 0.0);                           \
  }                                                                                                     \
  LANESCOPE_CUDA_API Status cusolverDnX##prefix##GetSweeps(Handle* handle, Info* info, int* out) {      \
    return told("cusolverDnX" #prefix "GetSweeps", handle, info, out, 1);                               \
  }
LANESCOPE_JACOBI(SyevjInfo, syevj, SyevjInfo)
LANESCOPE_JACOBI(GesvdjInfo, gesvdj, GesvdjInfo)

LANESCOPE_CUDA_API Status cusolverGetVersion(int* out) {
  Call call("cusolverGetVersion");
  if (!call.pointer("where it is to be written", out).is_refused()) *out = version;
  return call.status();
}
/// libraryPropertyType: major, minor, patch.
LANESCOPE_CUDA_API Status cusolverGetProperty(int which, int* out) {
  Call call("cusolverGetProperty");
  if (which < 0 || which > 2) call.refuse(Status::invalid_value, "{} is no libraryPropertyType", which);
  if (call.pointer("where it is to be written", out).is_refused()) return call.status();
  *out = libraries::part_of_version(version, which);
  return Status::success;
}

// What the real library would say while it works is not said here.
LANESCOPE_CUDA_API Status cusolverDnLoggerSetCallback(void*) { return Status::success; }
LANESCOPE_CUDA_API Status cusolverDnLoggerSetFile(void*) { return Status::success; }
LANESCOPE_CUDA_API Status cusolverDnLoggerOpenFile(const char*) { return Status::success; }
LANESCOPE_CUDA_API Status cusolverDnLoggerSetLevel(int) { return Status::success; }
LANESCOPE_CUDA_API Status cusolverDnLoggerSetMask(int) { return Status::success; }
LANESCOPE_CUDA_API Status cusolverDnLoggerForceDisable() { return Status::success; }

}  // namespace lanescope::cuda::solver
