// The management library, as far as programs ask it whether there is a driver, and which device: XLA does not
// begin without it. What it tells of the one device is what the runtime tells.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "cuda/libraries/nvml/types.hpp"
#include "cuda/runtime/api.hpp"

LANESCOPE_CUDA_API lanescope::cuda::Status cudaGetDeviceProperties(
    lanescope::cuda::DeviceProperties* properties, int device);
LANESCOPE_CUDA_API lanescope::cuda::Status cudaDriverGetVersion(int* version);
LANESCOPE_CUDA_API lanescope::cuda::Status cudaMemGetInfo(size_t* free, size_t* total);

namespace lanescope::cuda::nvml {
namespace {

/// That of CUDA 13.0, whose functions those here are.
constexpr char driver_version[] = "580.65.06", library_version[] = "13.580.65.06";

std::atomic<int> users{0};

/// What nvmlDevice_t points to.
struct Device {
} the_device;

/// nvmlMemory_t.
struct MemoryInfo {
  unsigned long long total, free, used;
};

/// nvmlPciInfo_t, and what it was before its third version.
struct PciInfoBefore {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id, reserved[4];
};
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

/// An answer that is written to `out`, by one who has initialised the library.
template <typename Out, typename Ask>
Status answer(Out* out, Ask&& ask) {
  if (users <= 0) return Status::uninitialized;
  return out == nullptr ? Status::invalid_argument : ask();
}
/// The same of the device; ask(properties).
template <typename Out, typename Ask>
Status of_device(const Device* device, Out* out, Ask&& ask) {
  return answer(out, [&] {
    DeviceProperties properties{};
    if (device != &the_device || cudaGetDeviceProperties(&properties, 0) != cuda::Status::success)
      return Status::invalid_argument;
    return ask(properties);
  });
}

template <typename T>
Status give(T* out, T value) {
  *out = value;
  return Status::success;
}
Status give(char* out, unsigned length, std::string_view text) {
  if (length <= text.size()) return Status::insufficient_size;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return Status::success;
}

std::string uuid_of(const DeviceProperties& properties) {
  std::string text = "GPU";
  for (size_t i = 0; i < sizeof properties.uuid; ++i) {
    const bool begins_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", begins_group ? "-" : "", static_cast<unsigned char>(properties.uuid[i]));
  }
  return text;
}

/// What all versions of nvmlPciInfo_t have. The maker is NVIDIA; a model the device here is not of.
template <typename Info>
Info pci_of(const DeviceProperties& of) {
  constexpr unsigned nvidia = 0x10de;
  Info info{};
  info.domain = static_cast<unsigned>(of.pci_domain);
  info.bus = static_cast<unsigned>(of.pci_bus);
  info.device = static_cast<unsigned>(of.pci_device);
  info.device_id = nvidia;
  fmt::format_to_n(info.bus_id_legacy, sizeof info.bus_id_legacy - 1, "{:04X}:{:02X}:{:02X}.0",
                   info.domain & 0xffff, info.bus, info.device);
  return info;
}

/// Of the slot: as for cards of that time.
constexpr unsigned pcie_lanes = 16;
unsigned pcie_generation(const DeviceProperties& properties) {
  return properties.major < 8 ? 3 : properties.major < 9 ? 4 : 5;
}

}  // namespace

LANESCOPE_CUDA_API Status nvmlInit_v2() {
  ++users;
  return Status::success;
}
LANESCOPE_CUDA_API Status nvmlInit() { return nvmlInit_v2(); }
LANESCOPE_CUDA_API Status nvmlInitWithFlags(unsigned) { return nvmlInit_v2(); }
LANESCOPE_CUDA_API Status nvmlShutdown() {
  for (int now = users; now > 0;)
    if (users.compare_exchange_weak(now, now - 1)) return Status::success;
  return Status::uninitialized;
}

LANESCOPE_CUDA_API const char* nvmlErrorString(Status status) {
  switch (status) {
    case Status::success: return "Success";
    case Status::uninitialized: return "Uninitialized";
    case Status::invalid_argument: return "Invalid Argument";
    case Status::not_supported: return "Not Supported";
    case Status::not_found: return "Not Found";
    case Status::insufficient_size: return "Insufficient Size";
  }
  return "Unknown Error";
}

LANESCOPE_CUDA_API Status nvmlSystemGetDriverVersion(char* out, unsigned length) {
  return answer(out, [&] { return give(out, length, driver_version); });
}
LANESCOPE_CUDA_API Status nvmlSystemGetNVMLVersion(char* out, unsigned length) {
  return answer(out, [&] { return give(out, length, library_version); });
}
LANESCOPE_CUDA_API Status nvmlSystemGetCudaDriverVersion(int* out) {
  return answer(out, [&] {
    return cudaDriverGetVersion(out) == cuda::Status::success ? Status::success : Status::not_found;
  });
}
LANESCOPE_CUDA_API Status nvmlSystemGetCudaDriverVersion_v2(int* out) {
  return nvmlSystemGetCudaDriverVersion(out);
}

LANESCOPE_CUDA_API Status nvmlDeviceGetCount_v2(unsigned* out) {
  return answer(out, [&] { return give(out, 1u); });
}
LANESCOPE_CUDA_API Status nvmlDeviceGetCount(unsigned* out) { return nvmlDeviceGetCount_v2(out); }

LANESCOPE_CUDA_API Status nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** out) {
  return answer(out, [&] { return index == 0 ? give(out, &the_device) : Status::invalid_argument; });
}
LANESCOPE_CUDA_API Status nvmlDeviceGetHandleByIndex(unsigned index, Device** out) {
  return nvmlDeviceGetHandleByIndex_v2(index, out);
}
LANESCOPE_CUDA_API Status nvmlDeviceGetHandleByPciBusId_v2(const char* bus, Device** out) {
  return of_device(&the_device, out, [&](const DeviceProperties& of) {
    unsigned domain = 0, on = 0, device = 0;
    if (bus == nullptr || std::sscanf(bus, "%x:%x:%x", &domain, &on, &device) != 3)
      return Status::invalid_argument;
    const bool is_found = domain == static_cast<unsigned>(of.pci_domain) &&
                          on == static_cast<unsigned>(of.pci_bus) &&
                          device == static_cast<unsigned>(of.pci_device);
    return is_found ? give(out, &the_device) : Status::not_found;
  });
}
LANESCOPE_CUDA_API Status nvmlDeviceGetHandleByPciBusId(const char* bus, Device** out) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus, out);
}
LANESCOPE_CUDA_API Status nvmlDeviceGetHandleByUUID(const char* uuid, Device** out) {
  return of_device(&the_device, out, [&](const DeviceProperties& properties) {
    if (uuid == nullptr) return Status::invalid_argument;
    return uuid == uuid_of(properties) ? give(out, &the_device) : Status::not_found;
  });
}

LANESCOPE_CUDA_API Status nvmlDeviceGetIndex(const Device* device, unsigned* out) {
  return of_device(device, out, [&](const DeviceProperties&) { return give(out, 0u); });
}
LANESCOPE_CUDA_API Status nvmlDeviceGetName(const Device* device, char* out, unsigned length) {
  return of_device(device, out, [&](const DeviceProperties& of) { return give(out, length, of.name); });
}
LANESCOPE_CUDA_API Status nvmlDeviceGetUUID(const Device* device, char* out, unsigned length) {
  return of_device(device, out, [&](const DeviceProperties& of) { return give(out, length, uuid_of(of)); });
}
LANESCOPE_CUDA_API Status nvmlDeviceGetPciInfo_v3(const Device* device, PciInfo* out) {
  return of_device(device, out, [&](const DeviceProperties& of) {
    auto info = pci_of<PciInfo>(of);
    fmt::format_to_n(info.bus_id, sizeof info.bus_id - 1, "{:08X}:{:02X}:{:02X}.0", info.domain, info.bus,
                     info.device);
    return give(out, info);
  });
}
LANESCOPE_CUDA_API Status nvmlDeviceGetPciInfo_v2(const Device* device, PciInfoBefore* out) {
  return of_device(device, out,
                   [&](const DeviceProperties& of) { return give(out, pci_of<PciInfoBefore>(of)); });
}
LANESCOPE_CUDA_API Status nvmlDeviceGetPciInfo(const Device* device, PciInfoBefore* out) {
  return nvmlDeviceGetPciInfo_v2(device, out);
}
LANESCOPE_CUDA_API Status nvmlDeviceGetCudaComputeCapability(const Device* device, int* major, int* minor) {
  return of_device(device, minor, [&](const DeviceProperties& of) {
    if (major == nullptr) return Status::invalid_argument;
    *major = of.major;
    return give(minor, of.minor);
  });
}
LANESCOPE_CUDA_API Status nvmlDeviceGetMemoryInfo(const Device* device, MemoryInfo* out) {
  return of_device(device, out, [&](const DeviceProperties&) {
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cuda::Status::success) return Status::not_found;
    return give(out, MemoryInfo{total, free, total - free});
  });
}

LANESCOPE_CUDA_API Status nvmlDeviceGetCurrPcieLinkGeneration(const Device* device, unsigned* out) {
  return of_device(device, out, [&](const DeviceProperties& of) { return give(out, pcie_generation(of)); });
}
LANESCOPE_CUDA_API Status nvmlDeviceGetCurrPcieLinkWidth(const Device* device, unsigned* out) {
  return of_device(device, out, [&](const DeviceProperties&) { return give(out, pcie_lanes); });
}

/// NCCL asks this of all pairs before it begins, and the only one is of the device with itself. Of that an
/// H200 says that no capability (nvmlGpuP2PCapsIndex_t) is supported (nvmlGpuP2PStatus_t).
LANESCOPE_CUDA_API Status nvmlDeviceGetP2PStatus(const Device* one, const Device* other, int capability,
                                                 int* out) {
  return of_device(one, out, [&](const DeviceProperties&) {
    constexpr int capabilities = 5, ok = 0, not_supported = 5;
    if (other != one) return Status::invalid_argument;
    return give(out, capability < capabilities ? not_supported : ok);
  });
}

}  // namespace lanescope::cuda::nvml
