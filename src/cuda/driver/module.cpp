// Modules and libraries, their kernels and variables; what kernels need, and how many blocks fit.
#include <algorithm>

#include "cuda/driver/api.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/jit_options.hpp"
#include "cuda/runtime/launch.hpp"

namespace lanescope::cuda {
namespace {

/// CUfunction_attribute; from cluster_must_be_set on those that can be set, too.
enum DriverAttribute : int {
  max_threads_per_block,
  shared_bytes,
  constant_bytes,
  local_bytes,
  registers,
  ptx_version,
  binary_version,
  cache_mode,
  max_dynamic_shared_bytes,
  preferred_carveout,
  cluster_must_be_set,
  cluster_width,
  cluster_height,
  cluster_depth,
  non_portable_cluster_allowed,
  cluster_scheduling,
  updatable_on_device,
  shared_memory_mode,
};

Status attribute_of(int* value, int attribute, const void* kernel) {
  FunctionAttributes a{};
  if (value == nullptr) return Status::invalid_value;
  const Status status = cudaFuncGetAttributes(&a, kernel);
  if (status != Status::success) return status;
  switch (attribute) {
    case max_threads_per_block: *value = a.max_threads_per_block; break;
    case shared_bytes: *value = static_cast<int>(a.shared_bytes); break;
    case constant_bytes: *value = static_cast<int>(a.constant_bytes); break;
    case local_bytes: *value = static_cast<int>(a.local_bytes); break;
    case registers: *value = a.registers; break;
    case ptx_version: *value = a.ptx_version; break;
    case binary_version: *value = a.binary_version; break;
    case cache_mode: *value = a.cache_mode; break;
    case max_dynamic_shared_bytes: *value = a.max_dynamic_shared_bytes; break;
    case preferred_carveout: *value = a.preferred_carveout; break;
    case cluster_must_be_set: *value = a.cluster_must_be_set; break;
    case cluster_width: *value = a.cluster_width; break;
    case cluster_height: *value = a.cluster_height; break;
    case cluster_depth: *value = a.cluster_depth; break;
    case non_portable_cluster_allowed: *value = a.non_portable_cluster_allowed; break;
    case cluster_scheduling: *value = a.cluster_scheduling; break;
    case updatable_on_device: *value = a.updatable_on_device; break;
    case shared_memory_mode: *value = a.shared_memory_mode; break;
    default: return Status::invalid_value;
  }
  return Status::success;
}

/// The runtime's list of attributes lacks the one before the last, which cannot be set.
Status set_attribute(const void* kernel, int attribute, int value) {
  if (attribute == updatable_on_device) return Status::invalid_value;
  return cudaFuncSetAttribute(kernel, attribute < updatable_on_device ? attribute : attribute - 1, value);
}

/// What was loaded, if it was, is a module.
Status as_module(Status status, Binary** out) {
  if (status == Status::success) (*out)->is_module = true;
  return status;
}

Status load_module(Binary** out, const void* code, const JitOptions& options) {
  return in_context([&] {
    return call([&](Runtime& runtime) {
      if (out == nullptr || code == nullptr || !options.are_valid()) return Status::invalid_value;
      std::string why;
      const Status status =
          runtime.load_library(out, code, unknown_size, "module", &why, options.max_registers());
      if (status != Status::success) options.error(why);
      return as_module(status, out);
    });
  });
}

Function* kernel_of(const void* handle) { return Runtime::get().function(handle); }

/// What belongs to a kernel.
template <typename T, typename F>
Status about_kernel(T* out, const void* handle, F&& body) {
  return driver([&] {
    const Function* function = kernel_of(handle);
    if (function == nullptr) return Status::invalid_resource_handle;
    if (out == nullptr) return Status::invalid_value;
    *out = body(*function);
    return Status::success;
  });
}

/// Runs a function of the driver about one of a module's, for which none is an error of its own.
template <typename F>
Status about_function(const void* function, F&& body) {
  return driver([&] { return function == nullptr ? Status::invalid_value : body(); });
}

LaunchDescription description_of(const DriverLaunch& config) {
  return {config.grid,   config.block,      config.dynamic_shared,
          config.stream, config.attributes, config.attribute_count};
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cuModuleLoadDataEx(Binary** out, const void* code, unsigned count,
                                             const int* options, void** values) {
  return load_module(out, code, JitOptions(count, options, values));
}

LANESCOPE_CUDA_API Status cuModuleLoadData(Binary** out, const void* code) {
  return load_module(out, code, {});
}

LANESCOPE_CUDA_API Status cuModuleLoadFatBinary(Binary** out, const void* code) {
  return load_module(out, code, {});
}

LANESCOPE_CUDA_API Status cuModuleLoad(Binary** out, const char* path) {
  return in_context([&] {
    return call([&](Runtime& runtime) {
      if (out == nullptr || path == nullptr || *path == '\0') return Status::invalid_value;
      return as_module(runtime.load_library_file(out, path), out);
    });
  });
}

/// A library's module goes with the library.
LANESCOPE_CUDA_API Status cuModuleUnload(Binary* module) {
  return driver([&] {
    return module != nullptr && !module->is_module ? Status::not_permitted : cudaLibraryUnload(module);
  });
}

LANESCOPE_CUDA_API Status cuModuleGetFunction(Function** out, Binary* module, const char* name) {
  return about_object(module, [&] {
    return name != nullptr && *name == '\0' ? Status::invalid_value : cudaLibraryGetKernel(out, module, name);
  });
}

LANESCOPE_CUDA_API Status cuLibraryGetGlobal(void** address, size_t* size, Binary* library,
                                             const char* name) {
  return in_context([&] {
    return address == nullptr && size == nullptr ? Status::invalid_value
                                                 : cudaLibraryGetGlobal(address, size, library, name);
  });
}
LANESCOPE_CUDA_API Status cuModuleGetGlobal_v2(void** address, size_t* size, Binary* module,
                                               const char* name) {
  return about_object(module, [&] { return cuLibraryGetGlobal(address, size, module, name); });
}

LANESCOPE_CUDA_API Status cuModuleGetFunctionCount(unsigned* count, Binary* module) {
  return about_object(module, [&] { return cudaLibraryGetKernelCount(count, module); });
}
LANESCOPE_PASS_3(cuModuleEnumerateFunctions, cudaLibraryEnumerateKernels, by_context)

LANESCOPE_CUDA_API Status cuModuleGetLoadingMode(int* mode) {
  return driver([&] {
    if (mode == nullptr) return Status::invalid_value;
    *mode = 2;  // lazy
    return Status::success;
  });
}

LANESCOPE_PASS_8(cuLibraryLoadData, cudaLibraryLoadData, by_driver)
LANESCOPE_PASS_8(cuLibraryLoadFromFile, cudaLibraryLoadFromFile, by_driver)
LANESCOPE_PASS_1(cuLibraryUnload, cudaLibraryUnload, by_driver)
LANESCOPE_CUDA_API Status cuLibraryGetKernel(Function** out, Binary* library, const char* name) {
  return about_object(library, [&] { return cudaLibraryGetKernel(out, library, name); });
}
LANESCOPE_PASS_2(cuLibraryGetKernelCount, cudaLibraryGetKernelCount, by_driver)
LANESCOPE_PASS_3(cuLibraryEnumerateKernels, cudaLibraryEnumerateKernels, by_driver)
LANESCOPE_PASS_4(cuLibraryGetManaged, cudaLibraryGetManaged, by_context)

LANESCOPE_CUDA_API Status cuLibraryGetModule(Binary** out, Binary* library) {
  return about_object(library, [&] {
    if (out == nullptr) return Status::invalid_value;
    *out = library;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuKernelGetFunction(Function** out, const void* kernel) {
  return about_kernel(out, kernel, [&](const Function&) { return kernel_of(kernel); });
}

LANESCOPE_CUDA_API Status cuKernelGetLibrary(Binary** out, const void* kernel) {
  return about_kernel(out, kernel, [](const Function& function) { return function.binary; });
}

LANESCOPE_CUDA_API Status cuKernelGetAttribute(int* value, int attribute, const void* kernel, int device) {
  return about_device(device, [&] { return attribute_of(value, attribute, kernel); });
}

LANESCOPE_CUDA_API Status cuKernelSetAttribute(int attribute, int value, const void* kernel, int device) {
  return about_device(device, [&] { return set_attribute(kernel, attribute, value); });
}

LANESCOPE_CUDA_API Status cuKernelSetCacheConfig(const void* kernel, int config, int device) {
  return about_device(device, [&] { return cudaFuncSetCacheConfig(kernel, config); });
}

LANESCOPE_PASS_2(cuKernelGetName, cudaFuncGetName, by_driver)
LANESCOPE_PASS_4(cuKernelGetParamInfo, cudaFuncGetParamInfo, by_driver)
LANESCOPE_PASS_2(cuKernelGetParamCount, cudaFuncGetParamCount, by_driver)

LANESCOPE_CUDA_API Status cuFuncGetAttribute(int* value, int attribute, const void* function) {
  return driver([&] { return attribute_of(value, attribute, function); });
}

LANESCOPE_CUDA_API Status cuFuncGetModule(Binary** out, const void* function) {
  return about_function(function, [&] { return cuKernelGetLibrary(out, function); });
}

/// CUfunctionLoadingState: 1 is loaded.
LANESCOPE_CUDA_API Status cuFuncIsLoaded(int* state, const void* function) {
  return about_kernel(state, function, [](const Function&) { return 1; });
}

LANESCOPE_CUDA_API Status cuFuncLoad(const void* function) {
  int state = 0;
  return cuFuncIsLoaded(&state, function);
}

LANESCOPE_PASS_3(cuFuncSetAttribute, set_attribute, by_driver)
LANESCOPE_PASS_2(cuFuncSetCacheConfig, cudaFuncSetCacheConfig, by_context)
LANESCOPE_PASS_2(cuFuncSetSharedMemConfig, cudaFuncSetSharedMemConfig, by_context)
LANESCOPE_CUDA_API Status cuFuncGetName(const char** name, const void* function) {
  return about_function(function, [&] { return cudaFuncGetName(name, function); });
}
LANESCOPE_CUDA_API Status cuFuncGetParamInfo(const void* function, size_t index, size_t* offset,
                                             size_t* size) {
  return about_function(function, [&] { return cudaFuncGetParamInfo(function, index, offset, size); });
}
LANESCOPE_CUDA_API Status cuFuncGetParamCount(const void* function, size_t* count) {
  return about_function(function, [&] { return cudaFuncGetParamCount(function, count); });
}

LANESCOPE_PASS_4(cuOccupancyMaxActiveBlocksPerMultiprocessor, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
                 by_context)
LANESCOPE_PASS_5(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
                 cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, by_context)
LANESCOPE_PASS_4(cuOccupancyAvailableDynamicSMemPerBlock, cudaOccupancyAvailableDynamicSMemPerBlock,
                 by_context)

LANESCOPE_CUDA_API Status cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block,
                                                                    const void* function,
                                                                    size_t (*shared_of)(int threads),
                                                                    size_t shared, int limit,
                                                                    unsigned flags) {
  return in_context([&] {
    if (grid == nullptr || block == nullptr || limit < 0) return Status::invalid_value;
    int most = 0;
    Status status = attribute_of(&most, max_threads_per_block, function);
    if (status != Status::success) return status;
    if (limit > 0) most = std::min(most, limit);
    int best = 0, best_blocks = 0;
    for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
      int blocks = 0;
      status = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
          &blocks, function, threads, shared_of != nullptr ? shared_of(threads) : shared, flags);
      if (status != Status::success) return status;
      if (blocks * threads > best_blocks * best) {
        best = threads;
        best_blocks = blocks;
      }
    }
    *block = best;
    *grid = best_blocks * Runtime::get().device.attribute(attribute_multiprocessors);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* function,
                                                           size_t (*shared_of)(int threads), size_t shared,
                                                           int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit, 0);
}

LANESCOPE_CUDA_API Status cuOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                       const DriverLaunch* config) {
  return in_context([&] {
    if (config == nullptr || function == nullptr) return Status::invalid_value;
    const LaunchDescription description = description_of(*config);
    return cudaOccupancyMaxActiveClusters(clusters, function, &description);
  });
}

LANESCOPE_CUDA_API Status cuOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                             const DriverLaunch* config) {
  return in_context([&] {
    if (config == nullptr) return Status::invalid_value;
    const LaunchDescription description = description_of(*config);
    return cudaOccupancyMaxPotentialClusterSize(size, function, &description);
  });
}

LANESCOPE_CUDA_API Status cuLaunchKernelEx(const DriverLaunch* config, const void* function, void** arguments,
                                           void** extra) {
  return in_context([&] {
    return config == nullptr ? Status::invalid_value
                             : launch(function, description_of(*config), {arguments, extra});
  });
}

LANESCOPE_CUDA_API Status cuLaunchKernel(const void* function, unsigned grid_x, unsigned grid_y,
                                         unsigned grid_z, unsigned block_x, unsigned block_y,
                                         unsigned block_z, unsigned shared, Stream* stream, void** arguments,
                                         void** extra) {
  return in_context([&] {
    return launch(function,
                  {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, nullptr, 0},
                  {arguments, extra});
  });
}

LANESCOPE_CUDA_API Status cuLaunchCooperativeKernel(const void* function, unsigned grid_x, unsigned grid_y,
                                                    unsigned grid_z, unsigned block_x, unsigned block_y,
                                                    unsigned block_z, unsigned shared, Stream* stream,
                                                    void** arguments) {
  return in_context([&] {
    return cudaLaunchCooperativeKernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                                       arguments, shared, stream);
  });
}

LANESCOPE_PASS_3(cuLaunchHostFunc, cudaLaunchHostFunc, by_context)
LANESCOPE_PASS_4(cuLaunchHostFunc_v2, cudaLaunchHostFunc_v2, by_context)

// Twins for per-thread default streams.
LANESCOPE_PASS_3(cuLaunchHostFunc_ptsz, cuLaunchHostFunc, with_own_stream)
LANESCOPE_PASS_4(cuLaunchHostFunc_v2_ptsz, cuLaunchHostFunc_v2, with_own_stream)
LANESCOPE_CUDA_API Status cuLaunchKernelEx_ptsz(const DriverLaunch* config, const void* function,
                                                void** arguments, void** extra) {
  if (config == nullptr) return cuLaunchKernelEx(config, function, arguments, extra);
  DriverLaunch with_stream = *config;
  with_stream.stream = own_stream(config->stream);
  return cuLaunchKernelEx(&with_stream, function, arguments, extra);
}
LANESCOPE_CUDA_API Status cuLaunchKernel_ptsz(const void* function, unsigned grid_x, unsigned grid_y,
                                              unsigned grid_z, unsigned block_x, unsigned block_y,
                                              unsigned block_z, unsigned shared, Stream* stream,
                                              void** arguments, void** extra) {
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                        own_stream(stream), arguments, extra);
}
LANESCOPE_CUDA_API Status cuLaunchCooperativeKernel_ptsz(const void* function, unsigned grid_x,
                                                         unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                         unsigned block_y, unsigned block_z, unsigned shared,
                                                         Stream* stream, void** arguments) {
  return cuLaunchCooperativeKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                                   own_stream(stream), arguments);
}
