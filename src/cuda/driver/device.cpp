// Initialisation, devices, and the driver's names of errors.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "cuda/driver/api.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/message.hpp"

namespace lanescope::cuda {

Status result_of(Status status) {
  switch (status) {  // those that only the runtime has
    case Status::invalid_configuration:
    case Status::invalid_pitch:
    case Status::invalid_channel_descriptor:
    case Status::invalid_memcpy_direction:
    case Status::missing_configuration: return Status::invalid_value;
    case Status::invalid_symbol: return Status::symbol_not_found;
    case Status::invalid_device_function: return Status::invalid_resource_handle;
    default: return status;
  }
}

}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cuInit(unsigned flags) {
  if (flags != 0) return Status::invalid_value;
  driver_is_up = true;
  return driver_status();
}

LANESCOPE_CUDA_API Status cuDriverGetVersion(int* version) {
  if (version == nullptr) return Status::invalid_value;
  *version = driver_version;
  return Status::success;
}

LANESCOPE_PASS_1(cuDeviceGetCount, cudaGetDeviceCount, by_driver)
LANESCOPE_PASS_3(cuDeviceGetAttribute, cudaDeviceGetAttribute, by_driver)
LANESCOPE_PASS_3(cuDeviceGetPCIBusId, cudaDeviceGetPCIBusId, by_driver)
LANESCOPE_PASS_2(cuDeviceGetByPCIBusId, cudaDeviceGetByPCIBusId, by_driver)
LANESCOPE_PASS_4(cuDeviceGetP2PAttribute, cudaDeviceGetP2PAttribute, by_driver)
LANESCOPE_PASS_3(cuDeviceCanAccessPeer, cudaDeviceCanAccessPeer, by_driver)

LANESCOPE_CUDA_API Status cuDeviceGet(int* device, int ordinal) {
  return about_device(ordinal, [&] {
    if (device == nullptr) return Status::invalid_value;
    *device = 0;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuDeviceGetName(char* name, int length, int device) {
  return about_device(device, [&] {
    if (name == nullptr || length <= 0) return Status::invalid_value;
    DeviceProperties properties{};
    cudaGetDeviceProperties(&properties, device);
    const size_t count = std::min(std::strlen(properties.name), static_cast<size_t>(length) - 1);
    std::memcpy(name, properties.name, count);
    name[count] = '\0';
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuDeviceGetUuid_v2(Uuid* uuid, int device) {
  return about_device(device, [&] {
    if (uuid == nullptr) return Status::invalid_value;
    DeviceProperties properties{};
    cudaGetDeviceProperties(&properties, device);
    std::memcpy(uuid, properties.uuid, sizeof *uuid);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuDeviceGetUuid(Uuid* uuid, int device) { return cuDeviceGetUuid_v2(uuid, device); }

LANESCOPE_CUDA_API Status cuDeviceTotalMem_v2(size_t* bytes, int device) {
  if (bytes != nullptr) *bytes = 0;
  return about_device(device, [&] {
    if (bytes == nullptr) return Status::invalid_value;
    *bytes = Runtime::get().device.global_bytes();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuDeviceComputeCapability(int* major, int* minor, int device) {
  return about_device(device, [&] {
    if (major == nullptr || minor == nullptr) return Status::invalid_value;
    *major = Runtime::get().device.attribute(attribute_major);
    *minor = Runtime::get().device.attribute(attribute_minor);
    return Status::success;
  });
}

LANESCOPE_PASS_2(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, by_driver)
LANESCOPE_CUDA_API Status cuDeviceGetMemPool(Pool** out, int device) {
  return driver([&] { return device == 0 ? cudaDeviceGetMemPool(out, device) : Status::invalid_value; });
}
LANESCOPE_PASS_2(cuDeviceSetMemPool, cudaDeviceSetMemPool, by_driver)

/// Tables that only CUDA's own libraries know; they are not imitated here. NVRTC and nvJitLink can do
/// without.
LANESCOPE_CUDA_API Status cuGetExportTable(const void** table, const Uuid*) {
  Dl_info caller{};
  const auto is_from = [&](std::string_view library) {
    return std::string_view(caller.dli_fname).find(library) != std::string_view::npos;
  };
  if (dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname != nullptr &&
      !is_from("libnvrtc") && !is_from("libnvJitLink")) {
    const auto unserved =
        reinterpret_cast<const char* (*)(const void*)>(dlsym(RTLD_DEFAULT, "lanescope_unserved"));
    const char* why =
        unserved == nullptr ? "it was not started by lanescope run" : unserved(caller.dli_fbase);
    say_once(
        why != nullptr
            ? fmt::format("{} has its own copy of the CUDA runtime, which does not work here: {}. Its "
                          "calls of cuda… functions return errors",
                          caller.dli_fname, why)
            : fmt::format("{} calls a function of its own copy of the CUDA runtime that is for NVIDIA's "
                          "libraries (as the static ones of cuBLAS and cuSOLVER do): it returns an error. "
                          "Link it with the shared libraries, whose work is done here",
                          caller.dli_fname));
  }
  if (table != nullptr) *table = nullptr;
  return Status::not_supported;
}

LANESCOPE_PASS_3(cuLogsRegisterCallback, cudaLogsRegisterCallback, by_driver)
LANESCOPE_PASS_1(cuLogsUnregisterCallback, cudaLogsUnregisterCallback, by_driver)
LANESCOPE_PASS_0(cuProfilerStart, cudaProfilerStart, by_context)
LANESCOPE_PASS_0(cuProfilerStop, cudaProfilerStop, by_context)

LANESCOPE_CUDA_API Status cuGetErrorName(int error, const char** name) {
  if (name == nullptr) return Status::invalid_value;
  switch (error) {
#define LANESCOPE_DRIVER_ERROR(number, text) \
  case number:                               \
    *name = #text;                           \
    return Status::success;
#include "cuda/driver/errors.def"
#undef LANESCOPE_DRIVER_ERROR
    default: *name = nullptr; return Status::invalid_value;
  }
}

LANESCOPE_CUDA_API Status cuGetErrorString(int error, const char** text) {
  const char* name = nullptr;
  if (text == nullptr) return Status::invalid_value;
  const Status status = cuGetErrorName(error, &name);
  *text = status == Status::success ? cudaGetErrorString(static_cast<Status>(error)) : nullptr;
  return status;
}
