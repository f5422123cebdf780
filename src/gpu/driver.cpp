// Finds the driver's functions, and calls them. Types and numbers are those of the driver API's documentation
// (CUDA 13.0); the versions of functions asked for (_v2) are the ones that programs of CUDA 4 and later link.
#include "gpu/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <utility>

namespace lanescope::gpu {

struct Driver {
  using Handle = void*;  // CUcontext, CUmodule, CUfunction, CUstream, CUevent, CUlinkState
  static constexpr int success = 0, not_ready = 600;
  /// What is wrong with the PTX itself: CUDA_ERROR_INVALID_IMAGE, _NO_BINARY_FOR_GPU, _INVALID_PTX,
  /// _UNSUPPORTED_PTX_VERSION, _INVALID_SOURCE. Other errors of loading it say nothing of the PTX, for
  /// example that the driver's assembler is not installed or is turned off.
  static constexpr std::array about_ptx{200, 209, 218, 222, 300};
  // CUjit_option: CU_JIT_ERROR_LOG_BUFFER, …_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL. CU_JIT_INPUT_PTX.
  static constexpr int error_log = 5, error_log_bytes = 6, optimisation = 7, input_ptx = 1;
  // CUdevice_attribute
  static constexpr int multiprocessors = 16, l2_bytes = 38, major = 75, minor = 76;
  // CUfunction_attribute
  static constexpr int max_dynamic_shared = 8, any_cluster_size = 14;
  // CUlaunchAttributeID
  static constexpr int cooperative = 2, cluster_dimension = 4;

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
    Handle stream;
    LaunchAttribute* attributes;
    uint32_t count;
  };
  struct Location {
    int type, id;
  };
  struct AllocationProperties {
    int type, handle_types;
    Location location;
    void* unused;
    uint8_t compression, rdma;
    uint16_t usage;
    uint8_t reserved[4];
  };
  struct Access {
    Location location;
    int flags;
  };
  /// Of address ranges: where they are smaller, or begin elsewhere than at a multiple of this, the driver
  /// (580) takes no notice of the address wished for.
  static constexpr uint64_t range_unit = 64 << 20;
  static constexpr int pinned = 1, on_device = 1, read_write = 3, recommended = 1;

  int (*init)(unsigned);
  int (*version)(int*);
  int (*device_get)(int*, int);
  int (*device_count)(int*);
  int (*device_name)(char*, int, int);
  int (*device_attribute)(int*, int, int);
  int (*retain)(Handle*, int);
  int (*release)(int);
  int (*set_current)(Handle);
  int (*error_text)(int, const char**);
  int (*load)(Handle*, const void*, unsigned, int*, void**);
  int (*unload)(Handle);
  int (*link_create)(unsigned, int*, void**, Handle*);
  int (*link_add)(Handle, int, void*, size_t, const char*, unsigned, int*, void**);
  int (*link_complete)(Handle, void**, size_t*);
  int (*link_destroy)(Handle);
  int (*function)(Handle*, Handle, const char*);
  int (*set_attribute)(Handle, int, int);
  int (*global)(uint64_t*, size_t*, Handle, const char*);
  int (*alloc)(uint64_t*, size_t);
  int (*free)(uint64_t);
  int (*granularity)(size_t*, const AllocationProperties*, int);
  int (*reserve)(uint64_t*, size_t, size_t, uint64_t, unsigned long long);
  int (*unreserve)(uint64_t, size_t);
  int (*create)(unsigned long long*, size_t, const AllocationProperties*, unsigned long long);
  int (*destroy)(unsigned long long);
  int (*map)(uint64_t, size_t, size_t, unsigned long long, unsigned long long);
  int (*unmap)(uint64_t, size_t);
  int (*set_access)(uint64_t, size_t, const Access*, size_t);
  int (*to_device)(uint64_t, const void*, size_t);
  int (*to_host)(void*, uint64_t, size_t);
  int (*copy)(uint64_t, uint64_t, size_t, Handle);
  int (*set)(uint64_t, unsigned char, size_t);
  int (*query)(Handle);
  int (*launch)(const LaunchConfig*, Handle, void**, void**);
  int (*event_create)(Handle*, unsigned);
  int (*event_destroy)(Handle);
  int (*event_record)(Handle, Handle);
  int (*event_elapsed)(float*, Handle, Handle);
  /// Since CUDA 12; nullptr in older drivers.
  int (*encode_tensor_map)(void*, int, uint32_t, uint64_t, const uint64_t*, const uint64_t*, const uint32_t*,
                           const uint32_t*, int, int, int, int);
  int (*encode_im2col_map)(void*, int, uint32_t, uint64_t, const uint64_t*, const uint64_t*, const int*,
                           const int*, uint32_t, uint32_t, const uint32_t*, int, int, int, int);

  Driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr)
      throw GpuError(
          fmt::format("this needs an NVIDIA GPU and its driver, but the driver's library cannot be "
                      "loaded ({})",
                      dlerror()));
    const auto find = [&](auto& pointer, const char* name, bool optional = false) {
      void* symbol = dlsym(library, name);
      if (symbol == nullptr && !optional)
        throw GpuError(fmt::format("the GPU's driver is too old: libcuda.so.1 has no {}", name));
      std::memcpy(&pointer, &symbol, sizeof symbol);
    };
    find(init, "cuInit");
    find(version, "cuDriverGetVersion");
    find(device_get, "cuDeviceGet");
    find(device_count, "cuDeviceGetCount");
    find(device_name, "cuDeviceGetName");
    find(device_attribute, "cuDeviceGetAttribute");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(release, "cuDevicePrimaryCtxRelease_v2");
    find(set_current, "cuCtxSetCurrent");
    find(error_text, "cuGetErrorString");
    find(load, "cuModuleLoadDataEx");
    find(unload, "cuModuleUnload");
    find(link_create, "cuLinkCreate_v2");
    find(link_add, "cuLinkAddData_v2");
    find(link_complete, "cuLinkComplete");
    find(link_destroy, "cuLinkDestroy");
    find(function, "cuModuleGetFunction");
    find(set_attribute, "cuFuncSetAttribute");
    find(global, "cuModuleGetGlobal_v2");
    find(alloc, "cuMemAlloc_v2");
    find(free, "cuMemFree_v2");
    find(granularity, "cuMemGetAllocationGranularity");
    find(reserve, "cuMemAddressReserve");
    find(unreserve, "cuMemAddressFree");
    find(create, "cuMemCreate");
    find(destroy, "cuMemRelease");
    find(map, "cuMemMap");
    find(unmap, "cuMemUnmap");
    find(set_access, "cuMemSetAccess");
    find(to_device, "cuMemcpyHtoD_v2");
    find(to_host, "cuMemcpyDtoH_v2");
    find(copy, "cuMemcpyDtoDAsync_v2");
    find(set, "cuMemsetD8_v2");
    find(query, "cuStreamQuery");
    find(launch, "cuLaunchKernelEx");
    find(event_create, "cuEventCreate");
    find(event_destroy, "cuEventDestroy_v2");
    find(event_record, "cuEventRecord");
    find(event_elapsed, "cuEventElapsedTime");
    find(encode_tensor_map, "cuTensorMapEncodeTiled", true);
    find(encode_im2col_map, "cuTensorMapEncodeIm2col", true);
    must(init(0), "no GPU can be used");
  }

  [[nodiscard]] std::string text_of(int result) const {
    const char* text = nullptr;
    error_text(result, &text);
    return text == nullptr ? fmt::format("error {}", result) : text;
  }
  void must(int result, std::string_view what, bool lost = false) const {
    if (result != success) throw GpuError(fmt::format("{}: {}", what, text_of(result)), lost);
  }
  [[nodiscard]] static AllocationProperties properties(int device) {
    AllocationProperties wanted{};
    wanted.type = pinned;
    wanted.location = {on_device, device};
    return wanted;
  }
};

namespace {

/// The driver's library, which stays loaded. Throws again, on every call, when it cannot be.
const Driver& the_driver() {
  static const Driver driver;
  return driver;
}

/// A log that the assembler writes into, and the options that make it do so.
struct Log {
  explicit Log(unsigned optimisation)
      : values{text.data(), reinterpret_cast<void*>(text.size()),
               reinterpret_cast<void*>(static_cast<uintptr_t>(optimisation))} {}
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  std::string text = std::string(16384, '\0');
  int options[3] = {Driver::error_log, Driver::error_log_bytes, Driver::optimisation};
  void* values[3];

  void must(const Driver& driver, int result) const {
    if (result == Driver::success) return;
    const bool refused =
        std::find(Driver::about_ptx.begin(), Driver::about_ptx.end(), result) != Driver::about_ptx.end();
    std::string message = fmt::format("the driver {} the PTX: {}", refused ? "refuses" : "cannot assemble",
                                      driver.text_of(result));
    if (text[0] != '\0') message.append("\n").append(text, 0, text.find('\0'));
    if (refused) throw RefusedPtx(message);
    throw GpuError(message);
  }
};

/// Whether its target says `debug` (nvcc -G): the assembler takes such PTX without optimisation only.
bool is_for_debugger(const std::string& ptx) {
  const size_t target = ptx.find("\n.target");
  return target != std::string::npos &&
         ptx.substr(target, ptx.find('\n', target + 1) - target).find("debug") != std::string::npos;
}

}  // namespace

Buffer::Buffer(Buffer&& other) noexcept { *this = std::move(other); }
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  std::swap(reserved_, other.reserved_);
  return *this;
}
Buffer::~Buffer() { release(); }
// After a kernel has failed these calls do too; nobody needs to hear of it then.
void Buffer::release() {
  if (address_ == 0) return;
  if (reserved_.bytes == 0) {
    driver_->free(address_);
  } else {
    driver_->unmap(address_, size_);
    driver_->unreserve(reserved_.begin, reserved_.bytes);
  }
  address_ = 0;
}

Module::Module(Module&& other) noexcept { *this = std::move(other); }
Module& Module::operator=(Module&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(handle_, other.handle_);
  return *this;
}
Module::~Module() { release(); }
void Module::release() {
  if (handle_ != nullptr) driver_->unload(handle_);
  handle_ = nullptr;
}

Function Module::function(const std::string& name) const {
  Function found;
  driver_->must(driver_->function(&found.handle, handle_, name.c_str()),
                fmt::format("kernel {} on the GPU", name));
  return found;
}

std::pair<uint64_t, uint64_t> Module::variable(const std::string& name) const {
  uint64_t address = 0;
  size_t size = 0;
  if (driver_->global(&address, &size, handle_, name.c_str()) != Driver::success) return {0, 0};
  return {address, size};
}

Device::Device(int index) : driver_(&the_driver()) {
  int count = 0, version = 0, major = 0, minor = 0;
  driver_->must(driver_->device_count(&count), "the GPUs of this machine");
  if (index < 0 || index >= count)
    throw GpuError(fmt::format("there is no GPU {}: this machine has {}", index, count));
  driver_->must(driver_->device_get(&device_, index), "GPU");
  char text[256];
  driver_->must(driver_->device_name(text, sizeof text, device_), "the GPU's name");
  driver_->must(driver_->version(&version), "the driver's version");
  driver_->must(driver_->device_attribute(&major, Driver::major, device_), "the GPU's compute capability");
  driver_->must(driver_->device_attribute(&minor, Driver::minor, device_), "the GPU's compute capability");
  name_ = text;
  cuda_version_ = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  arch_ = fmt::format("sm_{}{}", major, minor);
  Driver::Handle context = nullptr;
  driver_->must(driver_->retain(&context, device_), "the GPU's context");
  driver_->must(driver_->set_current(context), "the GPU's context");
  for (void*& event : events_) driver_->must(driver_->event_create(&event, 0), "event");
}

Device::~Device() {
  for (void* event : events_) driver_->event_destroy(event);
  driver_->release(device_);
}

int Device::attribute(int number) const {
  int value = 0;
  driver_->must(driver_->device_attribute(&value, number, device_), fmt::format("attribute {}", number));
  return value;
}
int Device::multiprocessors() const { return attribute(Driver::multiprocessors); }
uint64_t Device::l2_bytes() const { return static_cast<uint64_t>(attribute(Driver::l2_bytes)); }

Module Device::load(std::span<const std::string> ptx, unsigned optimisation) {
  Module module;
  module.driver_ = driver_;
  Log log(std::any_of(ptx.begin(), ptx.end(), is_for_debugger) ? 0 : optimisation);
  if (ptx.size() == 1) {
    log.must(*driver_, driver_->load(&module.handle_, ptx[0].c_str(), 3, log.options, log.values));
    return module;
  }
  Driver::Handle state = nullptr;
  driver_->must(driver_->link_create(3, log.options, log.values, &state), "linker");
  try {
    for (const std::string& text : ptx)
      log.must(*driver_, driver_->link_add(state, Driver::input_ptx, const_cast<char*>(text.c_str()),
                                           text.size() + 1, "PTX", 0, nullptr, nullptr));
    void* image = nullptr;
    size_t size = 0;
    log.must(*driver_, driver_->link_complete(state, &image, &size));
    driver_->must(driver_->load(&module.handle_, image, 0, nullptr, nullptr), "loading what was linked");
  } catch (...) {
    driver_->link_destroy(state);
    throw;
  }
  driver_->link_destroy(state);
  return module;
}

Buffer Device::allocate(uint64_t bytes) {
  Buffer buffer;
  buffer.driver_ = driver_;
  driver_->must(driver_->alloc(&buffer.address_, std::max<uint64_t>(bytes, 1)),
                fmt::format("{} bytes of the GPU's memory", bytes));
  buffer.size_ = bytes;
  return buffer;
}

Buffer Device::allocate_at(uint64_t address, uint64_t bytes) {
  const Driver::AllocationProperties properties = Driver::properties(device_);
  size_t page = 0;
  driver_->must(driver_->granularity(&page, &properties, Driver::recommended), "size of the GPU's pages");
  const uint64_t begin = address / page * page;
  const uint64_t size = (address + bytes - begin + page - 1) / page * page;
  const std::string what = fmt::format("{} bytes of the GPU's memory at 0x{:x}", bytes, address);
  const uint64_t reserved = begin / Driver::range_unit * Driver::range_unit;
  const uint64_t range =
      (begin + size - reserved + Driver::range_unit - 1) / Driver::range_unit * Driver::range_unit;
  uint64_t got = 0;
  driver_->must(driver_->reserve(&got, range, 0, reserved, 0), what);
  if (got != reserved) {
    driver_->unreserve(got, range);
    throw GpuError(what + ": these addresses are in use");
  }
  unsigned long long handle = 0;
  int result = driver_->create(&handle, size, &properties, 0);
  bool mapped = false;
  if (result == Driver::success) {
    result = driver_->map(begin, size, 0, handle, 0);
    mapped = result == Driver::success;
    driver_->destroy(handle);  // the mapping keeps it
  }
  const Driver::Access access{{Driver::on_device, device_}, Driver::read_write};
  if (mapped) result = driver_->set_access(begin, size, &access, 1);
  if (result != Driver::success) {
    if (mapped) driver_->unmap(begin, size);
    driver_->unreserve(reserved, range);
    driver_->must(result, what);
  }
  Buffer buffer;
  buffer.driver_ = driver_;
  buffer.address_ = begin;
  buffer.size_ = size;
  buffer.reserved_ = {reserved, range};
  return buffer;
}

TensorMapBytes Device::encode(const TensorMapArguments& a) const {
  if (driver_->encode_tensor_map == nullptr || driver_->encode_im2col_map == nullptr)
    throw GpuError("the GPU's driver is too old for tensor maps");
  struct alignas(64) {
    TensorMapBytes bytes{};
  } map;
  const int status =
      a.has_corners
          ? driver_->encode_im2col_map(map.bytes.data(), a.type, a.dimensions, a.address, a.sizes.data(),
                                       a.strides.data(), a.lower.data(), a.upper.data(), a.box[0], a.box[1],
                                       a.element_strides.data(), a.interleave, a.swizzle, a.promotion, a.fill)
          : driver_->encode_tensor_map(map.bytes.data(), a.type, a.dimensions, a.address, a.sizes.data(),
                                       a.strides.data(), a.box.data(), a.element_strides.data(), a.interleave,
                                       a.swizzle, a.promotion, a.fill);
  driver_->must(status, fmt::format("a tensor map of 0x{:x}", a.address));
  return map.bytes;
}

void Device::write(uint64_t to, const void* from, uint64_t bytes) {
  if (bytes != 0) driver_->must(driver_->to_device(to, from, bytes), "copy to the GPU");
}
void Device::read(void* to, uint64_t from, uint64_t bytes) {
  if (bytes != 0) driver_->must(driver_->to_host(to, from, bytes), "copy from the GPU");
}
void Device::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes != 0) driver_->must(driver_->copy(to, from, bytes, nullptr), "copy on the GPU");
}
void Device::fill(uint64_t to, uint8_t value, uint64_t bytes) {
  if (bytes != 0) driver_->must(driver_->set(to, value, bytes), "fill on the GPU");
}

void Device::launch(Function kernel, const Launch& launch, std::span<const void* const> parameters) {
  if (launch.dynamic_shared > 48 * 1024)
    driver_->must(driver_->set_attribute(kernel.handle, Driver::max_dynamic_shared,
                                         static_cast<int>(launch.dynamic_shared)),
                  fmt::format("{} bytes of dynamic shared memory", launch.dynamic_shared));
  Driver::LaunchAttribute attributes[2]{};
  Driver::LaunchConfig config{};
  std::copy(launch.grid.begin(), launch.grid.end(), config.grid);
  std::copy(launch.block.begin(), launch.block.end(), config.block);
  config.shared = launch.dynamic_shared;
  config.attributes = attributes;
  if (launch.cooperative) {
    attributes[config.count].id = Driver::cooperative;
    attributes[config.count++].value.cooperative = 1;
  }
  if (launch.cluster[0] != 0) {
    if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 8)
      driver_->must(driver_->set_attribute(kernel.handle, Driver::any_cluster_size, 1),
                    "a cluster of more than 8 blocks");
    attributes[config.count].id = Driver::cluster_dimension;
    std::copy(launch.cluster.begin(), launch.cluster.end(), attributes[config.count++].value.cluster);
  }
  // One by one: as one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER) a driver (580) passes tensor maps that kernels
  // cannot use.
  driver_->must(driver_->launch(&config, kernel.handle, const_cast<void**>(parameters.data()), nullptr),
                "launch");
}

void Device::wait(std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  int state = Driver::not_ready;
  while ((state = driver_->query(nullptr)) == Driver::not_ready) {
    const auto spent = Clock::now() - begin;
    if (spent > limit) throw GpuError("a kernel does not end", true);
    // What is short is asked for at once again, so that timed launches follow each other closely.
    if (spent > std::chrono::milliseconds(2)) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  driver_->must(state, "a kernel failed", true);
}

void Device::record(int which) { driver_->must(driver_->event_record(events_[which], nullptr), "event"); }

double Device::elapsed() {
  float milliseconds = 0;
  driver_->must(driver_->event_elapsed(&milliseconds, events_[0], events_[1]), "time between events");
  return milliseconds * 1e-3;
}

}  // namespace lanescope::gpu
