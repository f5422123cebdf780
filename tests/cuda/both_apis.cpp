// A program on both APIs, which looks for the driver's functions when it runs. The runtime's calls come
// first: the driver needs no initialisation then, and has the primary context.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <initializer_list>

#include "require.hpp"
#include "runtime_calls.hpp"

namespace {

template <typename F>
F* find(void* library, const char* name) {
  void* found = dlsym(library, name);
  require(found != nullptr, name);
  return reinterpret_cast<F*>(found);
}

}  // namespace

int main() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  require(library != nullptr, "libcuda.so.1");
  auto* current = find<int(void**)>(library, "cuCtxGetCurrent");
  auto* device = find<int(int*)>(library, "cuCtxGetDevice");
  auto* device_of = find<int(int*, void*)>(library, "cuCtxGetDevice_v2");
  auto* wait_for = find<int(void*)>(library, "cuCtxSynchronize_v2");
  auto* copy = find<int(uint64_t, const void*, size_t)>(library, "cuMemcpyHtoD_v2");
  auto* load = find<int(void**, const void*)>(library, "cuModuleLoadData");
  auto* query = find<int(void*)>(library, "cuStreamQuery");
  auto* unknown = find<int(void*, void*)>(library, "cuDestroyExternalMemory");
  void *context = nullptr, *module = nullptr, *stream = nullptr;
  int ordinal = -1;
  constexpr int not_initialized = 3, invalid_context = 201, invalid_handle = 400, not_supported = 801;
  require(current(&context) == not_initialized, "nothing before the first call");

  uint64_t memory = 0;
  unsigned value = 7;
  require(cudaMalloc(reinterpret_cast<void**>(&memory), 4) == 0, "cudaMalloc");
  require(current(&context) == 0 && context != nullptr, "primary context");
  require(device(&ordinal) == 0 && ordinal == 0, "device");
  for (void* which : {context, static_cast<void*>(nullptr)}) {
    ordinal = -1;
    require(device_of(&ordinal, which) == 0 && ordinal == 0, "device of a context");
    require(wait_for(which) == 0, "wait for a context");
  }
  require(device_of(&ordinal, &value) == invalid_context && wait_for(&value) == invalid_context,
          "no context");
  require(copy(memory, &value, 4) == 0, "copy");
  require(cudaMemcpy(&value, reinterpret_cast<void*>(memory), 4, 2) == 0 && value == 7, "copy back");

  // Streams are the same objects, and errors of the driver are not the runtime's.
  require(cudaStreamCreateWithFlags(&stream, 0) == 0 && query(stream) == 0, "stream");
  require(query(&value) == invalid_handle, "no stream");
  require(load(&module, "nonsense") != 0 && unknown(nullptr, nullptr) == not_supported, "errors");
  require(cudaGetLastError() == 0, "last error");
  require(cudaStreamDestroy(stream) == 0 && cudaFree(reinterpret_cast<void*>(memory)) == 0, "end");

  // More than this machine has could never be written.
  const auto all = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  constexpr int out_of_memory = 2;
  require(cudaMalloc(reinterpret_cast<void**>(&memory), all + 1) == out_of_memory, "too much memory");
  require(cudaMallocManaged(reinterpret_cast<void**>(&memory), all + 1, 1) == out_of_memory,
          "too much managed memory");
  std::printf("both\n");
}
