// Calls about the device, its properties and limits, and those that change how it is used.
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "cuda/runtime/capture.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

constexpr int runtime_version = 13050;

/// cudaLimit, as far as there are any on an H200: what each is first, and what of it can be set (measured on
/// an H100, whose L2 is smaller).
struct Limit {
  size_t first;
  size_t least, unit, most;  ///< raised to, rounded up to, lowered to
  std::atomic<size_t> value{first};
};
constexpr size_t l2_unit = 3932160;  ///< a tenth of what may persist
Limit limits[] = {
    {1024, 0, 16, SIZE_MAX},                  // bytes of a thread's stack
    {8650752, 524288, 1, SIZE_MAX},           // bytes of printf's buffer
    {8388608, 4194304, 1, SIZE_MAX},          // bytes of the heap
    {0, 0, 1, 0},                             // depth of synchronisation: gone since compute capability 9.0
    {2048, 32, 1, 599186},                    // pending launches
    {64, 0, 1, 128},                          // bytes that L2 fetches at once
    {3 * l2_unit, 0, l2_unit, 10 * l2_unit},  // bytes that persist in L2
    {232448, 232448, 1, 232448},              // shared memory of a block
    {0, 0, 1, 0},
};
constexpr int limit_stack = 0, limit_heap = 2, limit_sync_depth = 3, limit_l2_fetch = 5, limit_shared = 7;
constexpr size_t most_local_bytes = 512 * 1024;  // of a thread
constexpr int known_limits = 11;                 // of CUDA; some of no device here
Status check_limit(int limit) {
  if (limit >= known_limits) return Status::invalid_value;
  const bool is_here = limit >= 0 && limit < static_cast<int>(std::size(limits)) && limit != limit_sync_depth;
  return is_here ? Status::success : Status::unsupported_limit;
}

constexpr unsigned map_host = 8;               // cudaDeviceMapHost
std::atomic<unsigned> device_flags{map_host};  // as it is by itself
std::atomic<int> cache_config{0};
std::atomic<int> bank_config{1};  // four bytes

/// What is as it was at first when the device has been reset. (What was set for functions stays.)
void restore_state(Runtime& runtime) {
  for (Limit& limit : limits) limit.value = limit.first;
  runtime.memory.heap_was_asked = false;
  cache_config = 0;
  const std::shared_lock lock(runtime.mutex);
  for (const auto& binary : runtime.binaries) {
    const std::lock_guard of_binary(binary->mutex);
    if (binary->image != nullptr) binary->image->restore_variables();
  }
}

Status check_device(int device) { return device == 0 ? Status::success : Status::invalid_device; }

/// The device's place on the bus, as text.
std::string bus_id() {
  const auto& device = Runtime::get().device;
  return fmt::format("0000:{:02X}:{:02X}.0", device.attribute(attribute_pci_bus),
                     device.attribute(attribute_pci_device));
}

}  // namespace

size_t stack_limit() { return limits[limit_stack].value; }
size_t heap_limit() { return limits[limit_heap].value; }

}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaGetDeviceCount(int* count) {
  if (count == nullptr) return remember(Status::invalid_value);
  *count = 1;
  return remember(Status::success);
}

LANESCOPE_CUDA_API Status cudaGetDevice(int* device) {
  if (device == nullptr) return remember(Status::invalid_value);
  if (driver_is_lost) return remember(driver_status());
  *device = 0;
  return remember(Status::success);
}

LANESCOPE_CUDA_API Status cudaSetDevice(int device) {
  if (driver_is_lost) return remember(driver_status());
  const Status status = remember(check_device(device));
  if (status == Status::success) use_context();
  return status;
}

/// It takes the primary context, but does not make it the thread's.
LANESCOPE_CUDA_API Status cudaInitDevice(int device, unsigned, unsigned) {
  if (driver_is_lost) return remember(driver_status());
  const Status status = check_device(device);
  if (status == Status::success) primary_context().in_use = true;
  return remember(status);
}

LANESCOPE_CUDA_API Status cudaSetValidDevices(int* devices, int count) {
  if (driver_is_lost) return remember(driver_status());
  if (count < 0 || (count > 0 && devices == nullptr)) return remember(Status::invalid_value);
  for (int i = 0; i < count; ++i)
    if (devices[i] != 0) return remember(Status::invalid_device);
  return remember(Status::success);
}

LANESCOPE_CUDA_API Status cudaChooseDevice(int* device, const DeviceProperties* properties) {
  if (device == nullptr || properties == nullptr) return remember(Status::invalid_value);
  *device = 0;
  return remember(Status::success);
}

LANESCOPE_CUDA_API Status cudaSetDeviceFlags(unsigned flags) {
  constexpr unsigned ways_to_wait = 7, all = 255;  // spin, yield or block; those that cudaDeviceMask has
  if (std::popcount(flags & ways_to_wait) > 1 || flags > all) return remember(Status::invalid_value);
  constexpr unsigned known = 31;
  device_flags = (flags & known) | map_host;
  primary_context().flags = flags & known & ~map_host;
  return in_context_of_device(Status::success);
}

LANESCOPE_CUDA_API Status cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return remember(Status::invalid_value);
  if (driver_is_lost) return remember(driver_status());
  *flags = device_flags;
  return remember(Status::success);
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
    if (driver_is_lost) return driver_status();
    if (value == nullptr || !runtime.device.has_attribute(attribute)) return Status::invalid_value;
    if (device != 0) return Status::invalid_device;
    *value = runtime.device.attribute(attribute);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDriverGetVersion(int* version) {
  if (version == nullptr) return remember(Status::invalid_value);
  *version = driver_version;
  (void)remember(Status::success);
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return remember(Status::invalid_value);
  *version = runtime_version;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaDeviceSynchronize() {
  return call([](Runtime& runtime) {
    const Status refused = refuse_in_any_mode();
    return refused == Status::success ? runtime.wait_for_all() : refused;
  });
}

LANESCOPE_CUDA_API Status cudaDeviceReset() {
  return query([](Runtime& runtime) {
    if (driver_is_lost) return driver_status();
    (void)runtime.wait_for_all();
    runtime.failure = Status::success;
    std::vector<uint64_t> addresses;
    {
      const std::shared_lock lock(runtime.mutex);
      for (const auto& [base, block] : runtime.blocks)
        if (!block.registered && !block.mapped && !block.of_process &&
            block.of_graph != Block::OfGraph::freed)
          addresses.push_back(base);
    }
    runtime.look_at_memory_left();
    for (const uint64_t address : addresses)
      runtime.release(reinterpret_cast<void*>(address),
                      {MemoryType::device, MemoryType::managed, MemoryType::host});
    runtime.close_memory_of_processes();
    restore_state(runtime);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDeviceGetLimit(size_t* value, int limit) {
  if (value == nullptr) return remember(Status::invalid_value);
  if (const Status status = check_limit(limit); status != Status::success) return remember(status);
  *value = limits[limit].value;
  return in_context_of_device(Status::success);
}

LANESCOPE_CUDA_API Status cudaDeviceSetLimit(int limit, size_t value) {
  return call_at_once([&](Runtime& runtime) {
    if (const Status status = check_limit(limit); status != Status::success) return status;
    if (limit >= limit_shared) return Status::not_permitted;
    Limit& of = limits[limit];
    if ((limit == limit_stack && value > most_local_bytes) || (limit == limit_l2_fetch && value > of.most))
      return Status::invalid_value;
    if (limit == limit_heap && runtime.memory.heap_was_asked) return Status::invalid_value;
    value = std::clamp(value, of.least, of.most);
    of.value = (value + of.unit - 1) / of.unit * of.unit;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (text == nullptr || length <= 0) return remember(Status::invalid_value);
  const std::string id = bus_id();
  std::snprintf(text, static_cast<size_t>(length), "%s", id.c_str());
  return remember(static_cast<size_t>(length) <= id.size() ? Status::invalid_value : check_device(device));
}

LANESCOPE_CUDA_API Status cudaDeviceGetByPCIBusId(int* device, const char* text) {
  unsigned part = 0;
  if (device == nullptr || text == nullptr || std::sscanf(text, "%x:%x", &part, &part) != 2)
    return remember(Status::invalid_value);
  if (strcasecmp(text, bus_id().c_str()) != 0) return remember(Status::invalid_device);
  *device = 0;
  return remember(Status::success);
}

LANESCOPE_CUDA_API Status cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (can == nullptr) return remember(Status::invalid_value);
  if (driver_is_lost) return remember(driver_status());
  if (device != 0 || peer != 0) return remember(Status::invalid_device);
  *can = 0;
  return remember(Status::success);
}

/// There is no second device to ask about.
LANESCOPE_CUDA_API Status cudaDeviceGetP2PAttribute(int* value, int, int, int) {
  return remember(value == nullptr ? Status::invalid_value : Status::invalid_device);
}

LANESCOPE_CUDA_API Status cudaDeviceEnablePeerAccess(int device, unsigned flags) {
  if (device != 0) return remember(Status::invalid_device);
  return remember(flags != 0 ? Status::invalid_value : Status::peer_access_unsupported);
}
LANESCOPE_CUDA_API Status cudaDeviceDisablePeerAccess(int device) {
  return remember(device != 0 ? Status::invalid_device : Status::peer_access_not_enabled);
}

LANESCOPE_CUDA_API Status cudaDeviceGetCacheConfig(int* config) {
  if (config == nullptr) return remember(Status::invalid_value);
  *config = cache_config;
  return in_context_of_device(Status::success);
}

LANESCOPE_CUDA_API Status cudaDeviceSetCacheConfig(int config) {
  return call_at_once([&](Runtime&) {
    constexpr int known = 4;
    if (config >= known) return Status::invalid_value;
    cache_config = config;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDeviceGetSharedMemConfig(int* config) {
  if (config == nullptr) return remember(Status::invalid_value);
  *config = bank_config;
  return in_context_of_device(Status::success);
}

LANESCOPE_CUDA_API Status cudaDeviceSetSharedMemConfig(int config) {
  if (config < 0 || config > 2) return remember(Status::invalid_value);
  return remember(Status::success);  // bank widths can be chosen on sm_3x only; there by --bank-mode
}

LANESCOPE_CUDA_API Status cudaCtxResetPersistingL2Cache() {
  return remember(current_context == nullptr ? Status::invalid_context : Status::success);
}

/// Who wants to be told of errors is taken note of; what is wrong is said on stderr here, to whoever reads
/// that.
LANESCOPE_CUDA_API Status cudaLogsRegisterCallback(void* function, void*, void** handle) {
  if (function == nullptr || handle == nullptr) return remember(Status::invalid_value);
  *handle = function;
  return remember(Status::success);
}
LANESCOPE_CUDA_API Status cudaLogsUnregisterCallback(void* handle) {
  return remember(handle == nullptr ? Status::invalid_value : Status::success);
}

// Profilers' marks around the part of a program that is of interest.
LANESCOPE_CUDA_API Status cudaProfilerStart() { return in_context_of_device(Status::success); }
LANESCOPE_CUDA_API Status cudaProfilerStop() { return in_context_of_device(Status::success); }
