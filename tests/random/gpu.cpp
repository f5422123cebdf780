// Loads, launches, copies.
#include "random/gpu.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace lanescope::random {

// Types and values as the driver API's documentation has them.
struct Gpu::Driver {
  using Context = void*;
  using Module = void*;
  using Function = void*;
  using Stream = void*;
  static constexpr int success = 0, not_ready = 600;
  // CU_JIT_ERROR_LOG_BUFFER, …_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL
  static constexpr int error_log = 5, error_log_bytes = 6, optimisation = 7;

  int (*init)(unsigned);
  int (*version)(int*);
  int (*device_get)(int*, int);
  int (*device_name)(char*, int, int);
  int (*retain)(Context*, int);
  int (*set_current)(Context);
  int (*error_text)(int, const char**);
  int (*load)(Module*, const void*, unsigned, int*, void**);
  int (*unload)(Module);
  int (*function)(Function*, Module, const char*);
  int (*alloc)(uint64_t*, size_t);
  int (*free)(uint64_t);
  int (*to_device)(uint64_t, const void*, size_t);
  int (*to_host)(void*, uint64_t, size_t);
  int (*set)(uint64_t, unsigned char, size_t);
  int (*query)(Stream);
  int (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
                void**, void**);

  Driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) throw GpuError(fmt::format("no driver: {}", dlerror()));
    const auto find = [&](auto& pointer, const char* name) {
      void* symbol = dlsym(library, name);
      if (symbol == nullptr) throw GpuError(fmt::format("the driver has no {}", name));
      std::memcpy(&pointer, &symbol, sizeof symbol);
    };
    find(init, "cuInit");
    find(version, "cuDriverGetVersion");
    find(device_get, "cuDeviceGet");
    find(device_name, "cuDeviceGetName");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(set_current, "cuCtxSetCurrent");
    find(error_text, "cuGetErrorString");
    find(load, "cuModuleLoadDataEx");
    find(unload, "cuModuleUnload");
    find(function, "cuModuleGetFunction");
    find(alloc, "cuMemAlloc_v2");
    find(free, "cuMemFree_v2");
    find(to_device, "cuMemcpyHtoD_v2");
    find(to_host, "cuMemcpyDtoH_v2");
    find(set, "cuMemsetD8_v2");
    find(query, "cuStreamQuery");
    find(launch, "cuLaunchKernel");
  }
};

Gpu::Gpu() : driver_(new Driver) {
  int device = 0, version = 0;
  Driver::Context context = nullptr;
  char text[128];
  must(driver_->init(0), "cuInit");
  must(driver_->device_get(&device, 0), "no GPU");
  must(driver_->retain(&context, device), "context");
  must(driver_->set_current(context), "context");
  must(driver_->device_name(text, sizeof text, device), "name");
  must(driver_->version(&version), "version");
  name_ = fmt::format("{}, CUDA {}.{}", text, version / 1000, version % 1000 / 10);
}
Gpu::~Gpu() { delete driver_; }

void Gpu::must(int result, const char* what) const {
  if (result == Driver::success) return;
  const char* text = "unknown error";
  driver_->error_text(result, &text);
  throw GpuError(fmt::format("{}: {}", what, text));
}

uint64_t Gpu::grown(uint64_t& address, size_t& size, size_t wanted) const {
  if (wanted <= size) return address;
  if (address != 0) must(driver_->free(address), "free");
  size = wanted * 2;
  must(driver_->alloc(&address, size), "allocation");
  return address;
}

std::vector<std::vector<uint8_t>> Gpu::run(const std::string& text,
                                           const std::vector<const Program*>& programs, std::string& refusal,
                                           unsigned level) {
  const auto rounded = [](size_t bytes) { return (bytes + 255) / 256 * 256; };
  std::string log(16384, '\0');
  int options[] = {Driver::error_log, Driver::error_log_bytes, Driver::optimisation};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size()),
                    reinterpret_cast<void*>(static_cast<uintptr_t>(level))};
  Driver::Module module = nullptr;
  const auto began = std::chrono::steady_clock::now();
  const auto seconds_since = [](std::chrono::steady_clock::time_point t) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
  };
  if (const int result = driver_->load(&module, text.c_str(), 3, options, values);
      result != Driver::success) {
    const char* why = "unknown error";
    driver_->error_text(result, &why);
    refusal = fmt::format("{}: {}", why, log.c_str());
    return {};
  }

  assembling_ += seconds_since(began);
  const auto loaded = std::chrono::steady_clock::now();
  std::vector<uint64_t> words;
  std::vector<size_t> in_offsets, out_offsets;
  size_t out_bytes = 0;
  for (const Program* program : programs) {
    words.resize(rounded(words.size() * 8) / 8);
    in_offsets.push_back(words.size() * 8);
    const auto inputs = inputs_of(*program);
    words.insert(words.end(), inputs.begin(), inputs.end());
    out_offsets.push_back(out_bytes);
    out_bytes += rounded(program->output_bytes);
  }
  const uint64_t in = grown(in_, in_size_, std::max<size_t>(words.size() * 8, 256));
  const uint64_t out = grown(out_, out_size_, std::max<size_t>(out_bytes, 256));
  must(driver_->to_device(in, words.data(), words.size() * 8), "copy to the GPU");
  must(driver_->set(out, 0, out_bytes), "clear");
  for (size_t i = 0; i < programs.size(); ++i) {
    const Program& program = *programs[i];
    Driver::Function function = nullptr;
    must(driver_->function(&function, module, program.name.c_str()), program.name.c_str());
    uint64_t in_address = in + in_offsets[i], out_address = out + out_offsets[i];
    std::vector<uint8_t> data = data_of(program);
    void* parameters[] = {&in_address, &out_address, data.data()};
    must(driver_->launch(function, program.blocks, 1, 1, program.threads, 1, 1, 0, nullptr, parameters,
                         nullptr),
         program.name.c_str());
  }
  const auto started = std::chrono::steady_clock::now();
  int state = Driver::not_ready;
  while ((state = driver_->query(nullptr)) == Driver::not_ready) {
    if (seconds_since(started) > 10) throw GpuError("a kernel does not end");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  must(state, "a kernel failed");
  std::vector<uint8_t> all(out_bytes);
  must(driver_->to_host(all.data(), out, out_bytes), "copy from the GPU");
  must(driver_->unload(module), "unload");
  std::vector<std::vector<uint8_t>> outputs;
  for (size_t i = 0; i < programs.size(); ++i) {
    const uint8_t* first = all.data() + out_offsets[i];
    outputs.emplace_back(first, first + programs[i]->output_bytes);
  }
  running_ += seconds_since(loaded);
  return outputs;
}

}  // namespace lanescope::random
