// Calls about the device, its properties and limits, and those that change how it is used.
#include <atomic>
#include <cstdio>
#include <cstring>

#include "cuda/runtime/graph.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

constexpr int cuda_version = 13000;
constexpr char bus_id[] = "0000:00:00.0";

/// cudaLimit: stack, printf buffer, heap, (none), pending launches, L2 fetch granularity, persisting L2; the
/// first values are an H200's.
std::atomic<size_t> limits[] = {1024, 8650752, 8388608, 0, 2048, 64, 11796480};
constexpr int limit_stack = 0;
constexpr int limit_heap = 2;
constexpr int limit_sync_depth = 3;              // gone since compute capability 9.0
constexpr size_t most_local_bytes = 512 * 1024;  // of a thread

std::atomic<unsigned> device_flags{8};  // cudaDeviceMapHost, as it is by itself
std::atomic<int> cache_config{0};
std::atomic<int> bank_config{1};  // four bytes

Status check_device(int device) { return device == 0 ? Status::success : Status::invalid_device; }

}  // namespace

size_t stack_limit() { return limits[limit_stack]; }
size_t heap_limit() { return limits[limit_heap]; }

}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaGetDeviceCount(int* count) {
  if (count == nullptr) return remember(Status::invalid_value);
  *count = 1;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGetDevice(int* device) {
  if (device == nullptr) return remember(Status::invalid_value);
  *device = 0;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaSetDevice(int device) {
  const Status status = remember(check_device(device));
  if (status == Status::success) use_context();
  return status;
}

LANESCOPE_CUDA_API Status cudaInitDevice(int device, unsigned, unsigned) {
  return remember(check_device(device));
}

LANESCOPE_CUDA_API Status cudaSetValidDevices(int* devices, int count) {
  if (count < 0 || (count > 0 && devices == nullptr)) return remember(Status::invalid_value);
  for (int i = 0; i < count; ++i)
    if (devices[i] != 0) return remember(Status::invalid_device);
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaChooseDevice(int* device, const DeviceProperties* properties) {
  if (device == nullptr || properties == nullptr) return remember(Status::invalid_value);
  *device = 0;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaSetDeviceFlags(unsigned flags) {
  device_flags = flags | 8;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return remember(Status::invalid_value);
  *flags = device_flags;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGetDeviceProperties(DeviceProperties* out, int device) {
  return query([&](Runtime& runtime) {
    if (out == nullptr) return Status::invalid_value;
    if (device != 0) return Status::invalid_device;
    *out = runtime.device.properties();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return query([&](Runtime& runtime) {
    if (value == nullptr || !runtime.device.has_attribute(attribute)) return Status::invalid_value;
    if (device != 0) return Status::invalid_device;
    *value = runtime.device.attribute(attribute);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDriverGetVersion(int* version) {
  if (version == nullptr) return remember(Status::invalid_value);
  *version = cuda_version;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

LANESCOPE_CUDA_API Status cudaDeviceSynchronize() {
  return call([](Runtime& runtime) {
    return runtime.captures != 0 && blocks_legacy_stream() ? Status::capture_unsupported
                                                           : runtime.wait_for_all();
  });
}

LANESCOPE_CUDA_API Status cudaDeviceReset() {
  return query([](Runtime& runtime) {
    (void)runtime.wait_for_all();
    runtime.failure = Status::success;
    std::vector<uint64_t> addresses;
    {
      const std::shared_lock lock(runtime.mutex);
      for (const auto& [base, block] : runtime.blocks)
        if (!block.registered) addresses.push_back(base);
    }
    for (const uint64_t address : addresses)
      runtime.release(reinterpret_cast<void*>(address),
                      {MemoryType::device, MemoryType::managed, MemoryType::host});
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDeviceGetLimit(size_t* value, int limit) {
  if (value == nullptr || limit < 0 || limit > 6) return remember(Status::invalid_value);
  if (limit == limit_sync_depth) return remember(Status::unsupported_limit);
  *value = limits[limit];
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaDeviceSetLimit(int limit, size_t value) {
  if (limit < 0 || limit > 6) return remember(Status::invalid_value);
  if (limit == limit_sync_depth) return remember(Status::unsupported_limit);
  if (limit == limit_stack && value > most_local_bytes) return remember(Status::invalid_value);
  limits[limit] = value;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (text == nullptr || length < static_cast<int>(sizeof bus_id)) return remember(Status::invalid_value);
  std::memcpy(text, bus_id, sizeof bus_id);
  return remember(check_device(device));
}

LANESCOPE_CUDA_API Status cudaDeviceGetByPCIBusId(int* device, const char* text) {
  if (device == nullptr || text == nullptr) return remember(Status::invalid_value);
  if (std::strcmp(text, bus_id) != 0) return remember(Status::invalid_device);
  *device = 0;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaDeviceCanAccessPeer(int* can, int device, int) {
  if (can == nullptr) return remember(Status::invalid_value);
  *can = 0;
  return remember(check_device(device));
}

/// There is no second device to ask about.
LANESCOPE_CUDA_API Status cudaDeviceGetP2PAttribute(int* value, int, int, int) {
  return remember(value == nullptr ? Status::invalid_value : Status::invalid_device);
}

LANESCOPE_CUDA_API Status cudaDeviceEnablePeerAccess(int, unsigned) {
  return remember(Status::invalid_device);
}
LANESCOPE_CUDA_API Status cudaDeviceDisablePeerAccess(int) { return remember(Status::invalid_device); }

LANESCOPE_CUDA_API Status cudaDeviceGetCacheConfig(int* config) {
  if (config == nullptr) return remember(Status::invalid_value);
  *config = cache_config;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaDeviceSetCacheConfig(int config) {
  cache_config = config;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaDeviceGetSharedMemConfig(int* config) {
  if (config == nullptr) return remember(Status::invalid_value);
  *config = bank_config;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaDeviceSetSharedMemConfig(int config) {
  if (config < 0 || config > 2) return remember(Status::invalid_value);
  return Status::success;  // bank widths can be chosen on sm_3x only; there by --bank-mode
}

LANESCOPE_CUDA_API Status cudaCtxResetPersistingL2Cache() { return Status::success; }

// Profilers' marks around the part of a program that is of interest.
LANESCOPE_CUDA_API Status cudaProfilerStart() { return Status::success; }
LANESCOPE_CUDA_API Status cudaProfilerStop() { return Status::success; }
