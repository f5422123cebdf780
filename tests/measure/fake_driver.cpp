// Stands for the CUDA driver's library (libcuda.so.1) in tests of machines without a GPU: the functions that
// src/gpu/driver.cpp asks for, with our own engine for a GPU. Environment:
//   FAKE_CUDA_FLIP=ADDRESS   each launch ends with a bit of this byte flipped: a GPU with other results
//   FAKE_CUDA_BIT=N          which one; the lowest if not given
//   FAKE_CUDA_FAIL=1         each launch fails, as by an illegal address
//   FAKE_CUDA_HANG=N         the Nth launch does not end, and nothing is given back while it runs
//   FAKE_CUDA_REFUSE=1       PTX is refused
//   FAKE_CUDA_MAJOR=N        of its compute capability, N.0; 9 if not given
//   FAKE_CUDA_NO_MAPS=1      no tensor map is good
//   FAKE_CUDA_NO_JIT=1       the driver's assembler is not installed
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "exec/launch.hpp"
#include "exec/tensor_map.hpp"
#include "ptx/link.hpp"
#include "ptx/module.hpp"

#define DRIVER_API extern "C" __attribute__((visibility("default")))

namespace {

using lanescope::exec::Dim3;
namespace exec = lanescope::exec;
namespace ptx = lanescope::ptx;
using Clock = std::chrono::steady_clock;

constexpr int success = 0, invalid_value = 1, out_of_memory = 2, invalid_ptx = 218, no_assembler = 221,
              not_found = 500, illegal_address = 700;
constexpr int error_log = 5, error_log_bytes = 6;
constexpr uint64_t page = 2 << 20;

struct Module {
  std::unique_ptr<exec::Image> image;
  struct Function {
    exec::Image* image;
    const exec::Kernel* kernel;
  };
  std::map<std::string, Function> functions;
};

struct Link {
  std::vector<std::string> texts;
};

struct Event {
  Clock::time_point at;
};

struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int cooperative;
    uint32_t cluster[3];
  } value;
};

struct LaunchConfig {
  uint32_t grid[3], block[3], shared;
  void* stream;
  LaunchAttribute* attributes;
  uint32_t count;
};

/// The engine's memory, away from its usual place, which is where recorded memory is asked for.
struct Gpu {
  Gpu() {
    constexpr uint64_t usual = 0x2000'0000'0000ull;
    void* blocker = mmap(reinterpret_cast<void*>(usual), 4096, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    memory = std::make_unique<exec::Memory>();
    if (blocker != MAP_FAILED) munmap(blocker, 4096);
  }
  std::unique_ptr<exec::Memory> memory;
  std::set<const void*> links;
  int state = success, launches = 0;
};

Gpu& gpu() {
  static Gpu one;
  return one;
}

constexpr int not_ready = 600;

/// What waits for a kernel that does not end.
void wait_for_kernels() {
  while (gpu().state == not_ready) pause();
}

bool is_asked(const char* name) { return std::getenv(name) != nullptr; }

template <class T>
T* at(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

/// What goes wrong into the log that the caller has given.
int refuse(const std::string& why, unsigned count, const int* options, void** values) {
  char* text = nullptr;
  size_t size = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == error_log) text = static_cast<char*>(values[i]);
    if (options[i] == error_log_bytes) size = reinterpret_cast<size_t>(values[i]);
  }
  if (text != nullptr && size != 0) std::snprintf(text, size, "%s", why.c_str());
  return invalid_ptx;
}

}  // namespace

DRIVER_API int cuInit(unsigned) { return success; }
DRIVER_API int cuDriverGetVersion(int* version) {
  *version = 13000;
  return success;
}
DRIVER_API int cuDeviceGetCount(int* count) {
  *count = 1;
  return success;
}
DRIVER_API int cuDeviceGet(int* device, int index) {
  *device = index;
  return success;
}
DRIVER_API int cuDeviceGetName(char* name, int bytes, int) {
  std::snprintf(name, static_cast<size_t>(bytes), "fake GPU");
  return success;
}
DRIVER_API int cuDeviceGetAttribute(int* value, int attribute, int) {
  static const std::map<int, int> values{{10, 32}, {13, 1'000'000}, {16, 2}, {38, 4096}, {75, 9}, {76, 0}};
  const auto found = values.find(attribute);
  if (found == values.end()) return invalid_value;
  *value = found->second;
  if (const char* major = std::getenv("FAKE_CUDA_MAJOR"); attribute == 75 && major != nullptr)
    *value = std::stoi(major);
  return success;
}
DRIVER_API int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &gpu();
  return success;
}
DRIVER_API int cuDevicePrimaryCtxRelease_v2(int) { return success; }
DRIVER_API int cuCtxSetCurrent(void*) { return success; }
DRIVER_API int cuGetErrorString(int error, const char** text) {
  *text = error == illegal_address ? "an illegal memory access was encountered"
          : error == invalid_ptx   ? "a PTX JIT compilation failed"
          : error == no_assembler  ? "PTX JIT compiler library not found"
          : error == not_found     ? "named symbol not found"
                                   : "invalid argument";
  return success;
}

DRIVER_API int cuModuleLoadDataEx(void** out, const void* image, unsigned count, int* options,
                                  void** values) {
  if (is_asked("FAKE_CUDA_NO_JIT")) return no_assembler;
  try {
    if (is_asked("FAKE_CUDA_REFUSE")) throw lanescope::Error("ptxas fatal   : refused");
    std::vector<std::string> texts;
    if (gpu().links.contains(image))
      texts = static_cast<const Link*>(image)->texts;
    else
      texts.emplace_back(static_cast<const char*>(image));
    constexpr int optimisation = 7;  // CU_JIT_OPTIMIZATION_LEVEL
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == optimisation && values[i] != nullptr &&
          texts.front().find(", debug") != std::string::npos)
        throw lanescope::Error("ptxas fatal   : Optimized debugging not supported");
    std::vector<ptx::Module> units;
    for (std::string& text : texts) units.push_back(ptx::parse(std::move(text), "PTX"));
    auto linked = std::make_shared<const ptx::Module>(
        units.size() == 1 ? std::move(units.front()) : ptx::link(std::move(units), "linked"));
    auto module = std::make_unique<Module>();
    module->image = std::make_unique<exec::Image>(linked, *gpu().memory);
    *out = module.release();
    return success;
  } catch (const lanescope::Error& error) {
    return refuse(error.what(), count, options, values);
  }
}
DRIVER_API int cuModuleUnload(void* module) {
  wait_for_kernels();
  delete static_cast<Module*>(module);
  return success;
}
DRIVER_API int cuLinkCreate_v2(unsigned, int*, void**, void** out) {
  *out = new Link;
  return success;
}
DRIVER_API int cuLinkAddData_v2(void* link, int, void* data, size_t, const char*, unsigned, int*, void**) {
  static_cast<Link*>(link)->texts.emplace_back(static_cast<const char*>(data));
  return success;
}
DRIVER_API int cuLinkComplete(void* link, void** image, size_t* size) {
  gpu().links.insert(link);
  *image = link;
  *size = sizeof(Link);
  return success;
}
DRIVER_API int cuLinkDestroy(void* link) {
  gpu().links.erase(link);
  delete static_cast<Link*>(link);
  return success;
}
DRIVER_API int cuModuleGetFunction(void** out, void* handle, const char* name) {
  auto& module = *static_cast<Module*>(handle);
  try {
    const exec::Kernel& kernel = module.image->kernel(name);
    *out =
        &module.functions.insert_or_assign(name, Module::Function{module.image.get(), &kernel}).first->second;
    return success;
  } catch (const lanescope::Error&) {
    return not_found;
  }
}
DRIVER_API int cuFuncSetAttribute(void*, int, int) { return success; }
DRIVER_API int cuModuleGetGlobal_v2(uint64_t* address, size_t* size, void* module, const char* name) {
  uint64_t bytes = 0;
  *address = static_cast<Module*>(module)->image->variable(name, &bytes);
  *size = bytes;
  return *address != 0 ? success : not_found;
}

DRIVER_API int cuMemAlloc_v2(uint64_t* out, size_t bytes) {
  try {
    *out = gpu().memory->allocate(bytes);
    return success;
  } catch (const lanescope::Error&) {
    return out_of_memory;
  }
}
DRIVER_API int cuMemFree_v2(uint64_t address) {
  wait_for_kernels();

  return gpu().memory->release(address) ? success : invalid_value;
}
DRIVER_API int cuMemGetAllocationGranularity(size_t* size, const void*, int) {
  *size = page;
  return success;
}
DRIVER_API int cuMemAddressReserve(uint64_t* out, size_t size, size_t, uint64_t address, unsigned long long) {
  constexpr uint64_t unit = 64 << 20;  // as driver 580: other wishes are not heard
  void* got = size % unit == 0 && address % unit == 0
                  ? mmap(at<void>(address), size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0)
                  : MAP_FAILED;
  if (got == MAP_FAILED) got = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *out = reinterpret_cast<uint64_t>(got);
  return success;
}
DRIVER_API int cuMemAddressFree(uint64_t address, size_t size) {
  munmap(at<void>(address), size);
  return success;
}
DRIVER_API int cuMemCreate(unsigned long long* handle, size_t, const void*, unsigned long long) {
  *handle = 1;
  return success;
}
DRIVER_API int cuMemRelease(unsigned long long) { return success; }
DRIVER_API int cuMemMap(uint64_t address, size_t size, size_t, unsigned long long, unsigned long long) {
  gpu().memory->attach(at<void>(address), size, "mapped");
  return success;
}
DRIVER_API int cuMemUnmap(uint64_t address, size_t) {
  wait_for_kernels();
  return gpu().memory->detach(at<void>(address)) ? success : invalid_value;
}
DRIVER_API int cuMemSetAccess(uint64_t, size_t, const void*, size_t) { return success; }
namespace {
exec::TensorMap map_of(int type, uint32_t dimensions, uint64_t address, const uint64_t* size,
                       const uint64_t* strides, const uint32_t* steps, int swizzle, int promotion, int fill) {
  exec::TensorMap map;
  map.address = address;
  map.dimensions = static_cast<uint8_t>(dimensions);
  map.type = static_cast<exec::TensorMap::Type>(type);
  map.swizzle = static_cast<exec::TensorMap::Swizzle>(swizzle);
  map.promotion = static_cast<uint8_t>(promotion);
  map.fills_nan = fill == 1;
  for (uint32_t d = 0; d < dimensions; ++d) {
    map.last[d] = static_cast<uint32_t>(size[d] - 1);
    map.steps[d] = static_cast<uint8_t>(steps[d]);
    if (d + 1 < dimensions) map.strides[d] = strides[d];
  }
  return map;
}
void write_map(void* to, const exec::TensorMap& map) {
  std::memset(to, 0, exec::tensor_map_bytes);
  std::memcpy(to, &map, sizeof map);
}
}  // namespace
DRIVER_API int cuTensorMapEncodeTiled(void* to, int type, uint32_t dimensions, uint64_t address,
                                      const uint64_t* size, const uint64_t* strides, const uint32_t* box,
                                      const uint32_t* steps, int interleave, int swizzle, int promotion,
                                      int fill) {
  if (is_asked("FAKE_CUDA_NO_MAPS") || interleave != 0) return invalid_value;
  exec::TensorMap map = map_of(type, dimensions, address, size, strides, steps, swizzle, promotion, fill);
  for (uint32_t d = 0; d < dimensions; ++d) map.box[d] = static_cast<uint16_t>(box[d]);
  write_map(to, map);
  return success;
}
DRIVER_API int cuTensorMapEncodeIm2col(void* to, int type, uint32_t dimensions, uint64_t address,
                                       const uint64_t* size, const uint64_t* strides, const int* lower,
                                       const int* upper, uint32_t channels, uint32_t pixels,
                                       const uint32_t* steps, int interleave, int swizzle, int promotion,
                                       int fill) {
  if (is_asked("FAKE_CUDA_NO_MAPS") || interleave != 0) return invalid_value;
  exec::TensorMap map = map_of(type, dimensions, address, size, strides, steps, swizzle, promotion, fill);
  map.mode = exec::TensorMap::Mode::im2col;
  map.box[0] = static_cast<uint16_t>(channels);
  map.box[1] = static_cast<uint16_t>(pixels);
  for (uint32_t d = 0; d + 2 < dimensions; ++d) {
    map.lower[d] = static_cast<int16_t>(lower[d]);
    map.upper[d] = static_cast<int16_t>(upper[d]);
  }
  write_map(to, map);
  return success;
}

DRIVER_API int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  std::memcpy(at<void>(to), from, bytes);
  return success;
}
DRIVER_API int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  std::memcpy(to, at<void>(from), bytes);
  return success;
}
DRIVER_API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
  std::memcpy(at<void>(to), at<void>(from), bytes);
  return success;
}
DRIVER_API int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes) {
  std::memset(at<void>(to), value, bytes);
  return success;
}

DRIVER_API int cuLaunchKernelEx(const LaunchConfig* launch, void* handle, void** parameters, void**) {
  const auto& function = *static_cast<Module::Function*>(handle);
  exec::LaunchConfig config;
  config.grid = {launch->grid[0], launch->grid[1], launch->grid[2]};
  config.block = {launch->block[0], launch->block[1], launch->block[2]};
  config.dynamic_shared = launch->shared;
  config.params.resize(function.kernel->param_bytes);
  for (const exec::Kernel::Parameter& parameter : function.kernel->params)
    std::memcpy(&config.params[parameter.offset], *parameters++, parameter.size);
  config.threads = 1;
  for (uint32_t i = 0; i < launch->count; ++i) {
    const auto& value = launch->attributes[i].value;
    if (launch->attributes[i].id == 2) config.cooperative = value.cooperative != 0;
    if (launch->attributes[i].id == 4)
      config.cluster = {value.cluster[0], value.cluster[1], value.cluster[2]};
  }
  try {
    const bool failed = function.image->launch(*function.kernel, config).failed;
    if (failed || is_asked("FAKE_CUDA_FAIL")) gpu().state = illegal_address;
  } catch (const lanescope::Error&) {
    return invalid_value;
  }
  const char* flip = std::getenv("FAKE_CUDA_FLIP");
  const char* hanging = std::getenv("FAKE_CUDA_HANG");
  if (hanging != nullptr && ++gpu().launches == std::stoi(hanging)) gpu().state = not_ready;
  if (flip != nullptr && !function.kernel->name.starts_with("lanescope_")) {
    const char* bit = std::getenv("FAKE_CUDA_BIT");
    *at<uint8_t>(std::stoull(flip, nullptr, 0)) ^=
        static_cast<uint8_t>(1 << (bit != nullptr ? std::stoi(bit) : 0));
  }
  return success;
}
DRIVER_API int cuStreamQuery(void*) { return gpu().state; }
DRIVER_API int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return success;
}
DRIVER_API int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return success;
}
DRIVER_API int cuEventRecord(void* event, void*) {
  static_cast<Event*>(event)->at = Clock::now();
  return success;
}
DRIVER_API int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  *milliseconds =
      std::chrono::duration<float, std::milli>(static_cast<Event*>(to)->at - static_cast<Event*>(from)->at)
          .count();
  return success;
}
