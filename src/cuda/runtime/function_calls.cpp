// Calls about kernels: their attributes, and how many of their blocks fit a multiprocessor. How many
// registers a kernel needs is decided by the assembler for machine code, which is asked where it is found.
#include <algorithm>
#include <atomic>

#include "cuda/runtime/launch.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

/// cudaFuncAttribute.
enum FunctionAttribute : int {
  max_dynamic_shared = 8,
  preferred_carveout = 9,
  cluster_must_be_set = 10,
  cluster_width = 11,
  cluster_height = 12,
  cluster_depth = 13,
  non_portable_cluster = 14,
  cluster_scheduling = 15,
  shared_memory_mode = 16,
};

/// NCCL asks, when it begins, for the attributes of all its kernels, and goes on where it has none for the
/// device. (CUB asks likewise, and then launches nothing and tells nobody: that is a failure.)
bool only_asks(const Function& function) { return function.name.find("nccl") != std::string::npos; }

/// Finds and decodes a kernel.
template <typename F>
Status with_kernel(const void* handle, F&& body) {
  return call([&](Runtime& runtime) -> Status {
    Function* function = runtime.function(handle);
    if (function == nullptr) return Status::invalid_resource_handle;  // as an H100's runtime says
    const Status status = runtime.prepare(*function, only_asks(*function) ? For::question : For::run);
    if (status != Status::success) return status;
    return body(runtime, *function, *function->kernel.load(std::memory_order_acquire));
  });
}

const ptx::Function& declaration(const Function& function) {
  return *function.binary->module->find_function(function.name);
}

/// For programs that ask: where the answer is not known, they are told so once.
int registers_of(Runtime& runtime, const Function& function) {
  std::string unknown;
  const int registers = runtime.registers(function, &unknown);
  static std::atomic<bool> said{false};
  if (!unknown.empty() && !said.exchange(true))
    say("the program asks how many registers a kernel needs, which is not known: " + unknown +
        ". They are reported as 0 and taken not to limit occupancy");
  return registers;
}

/// Threads that a block may have: as many as the kernel was compiled for, and as there are registers for.
int max_threads(const Runtime& runtime, const exec::Kernel& kernel, int registers) {
  const auto& bound = kernel.max_threads;  // of a required size nothing is told, as on an H100
  int threads = runtime.device.attribute(attribute_max_threads_per_block);
  if (bound[0] != 0) threads = static_cast<int>(bound[0] * std::max(bound[1], 1u) * std::max(bound[2], 1u));
  while (threads > 32 && runtime.device.resident_blocks(static_cast<uint32_t>(threads), 0, registers) == 0)
    threads = (threads - 1) / 32 * 32;
  return threads;
}

/// Percent of the multiprocessor's shared memory that a kernel prefers; as an H100 has it, with a preference
/// of the cache for L1 the least, for equal shares a half.
int carveout_of(const Function& function) {
  enum CacheConfig : int { prefer_l1 = 2, prefer_equal = 3 };
  if (function.carveout >= 0) return function.carveout;
  return function.cache_config == prefer_l1 ? 0 : function.cache_config == prefer_equal ? 50 : whole_carveout;
}

int target_number(const std::string& target) {
  int number = 0;
  for (const char c : target)
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  return number;
}

Status set_attribute(const void* handle, int attribute, int value) {
  if (attribute < max_dynamic_shared || attribute == cluster_must_be_set || attribute > shared_memory_mode)
    return remember(Status::invalid_value);
  return with_kernel(handle, [&](Runtime& runtime, Function& function, const exec::Kernel& kernel) {
    const auto set_cluster = [&](uint32_t exec::Dim3::*side) {
      if (value < 0 || kernel.required_cluster[0] != 0) return Status::invalid_value;
      function.cluster.*side = static_cast<uint32_t>(value);
      return Status::success;
    };
    switch (attribute) {
      case max_dynamic_shared:
        if (value < 0 ||
            uint64_t{kernel.static_shared} + static_cast<uint64_t>(value) > runtime.device.shared_optin())
          return Status::invalid_value;
        function.dynamic_shared_limit = static_cast<uint32_t>(value);
        return Status::success;
      case preferred_carveout:
        if (value < -1 || value > 100) return Status::invalid_value;
        function.carveout = value;
        return Status::success;
      case non_portable_cluster: function.non_portable_cluster = value != 0; return Status::success;
      case cluster_width: return set_cluster(&exec::Dim3::x);
      case cluster_height: return set_cluster(&exec::Dim3::y);
      case cluster_depth: return set_cluster(&exec::Dim3::z);
      case shared_memory_mode:
        if (value < 0 || value > LaunchAttribute::preferably_oversized_shared) return Status::invalid_value;
        function.shared_memory_mode = value;
        return Status::success;
      default:  // how clusters are placed, which changes nothing here
        if (value < 0 || value > 3) return Status::invalid_value;
        function.cluster_scheduling = value;
        return Status::success;
    }
  });
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaFuncGetAttributes(FunctionAttributes* out, const void* handle) {
  return with_kernel(
      handle, [&](Runtime& runtime, Function& function, const lanescope::exec::Kernel& kernel) {
        if (out == nullptr) return Status::invalid_value;
        const lanescope::ptx::Module& module = *function.binary->module;
        const lanescope::ptx::Function& declared = declaration(function);
        *out = {};
        out->shared_bytes = kernel.static_shared;
        for (const lanescope::ptx::Variable& variable : module.variables)
          if (variable.space == lanescope::ptx::Space::constant) out->constant_bytes += variable.size;
        out->local_bytes = kernel.local_bytes;
        out->registers = registers_of(runtime, function);
        out->max_threads_per_block = max_threads(runtime, kernel, out->registers);
        out->ptx_version = target_number(module.target);
        out->binary_version =
            runtime.device.attribute(attribute_major) * 10 + runtime.device.attribute(attribute_minor);
        out->max_dynamic_shared_bytes =
            static_cast<int>(shared_limit(runtime, function, kernel) - kernel.static_shared);
        out->preferred_carveout = function.carveout;
        out->cluster_must_be_set = declared.explicit_cluster ? 1 : 0;
        const auto side = [&](uint32_t set, int dimension) {
          return static_cast<int>(set != 0 ? set : declared.required_cluster[dimension]);
        };
        out->cluster_width = side(function.cluster.x, 0);
        out->cluster_height = side(function.cluster.y, 1);
        out->cluster_depth = side(function.cluster.z, 2);
        out->cluster_scheduling = function.cluster_scheduling;
        out->non_portable_cluster_allowed = function.non_portable_cluster ? 1 : 0;
        out->shared_memory_mode = function.shared_memory_mode;
        return Status::success;
      });
}

LANESCOPE_CUDA_API Status cudaFuncSetAttribute(const void* handle, int attribute, int value) {
  return last_error() = set_attribute(handle, attribute, value);  // as an H100's runtime has it
}

LANESCOPE_CUDA_API Status cudaKernelSetAttributeForDevice(Function* handle, int attribute, int value,
                                                          int device) {
  if (device != 0) return remember(Status::invalid_device);
  return set_attribute(handle, attribute, value);
}

LANESCOPE_CUDA_API Status cudaFuncSetCacheConfig(const void* handle, int config) {
  return with_kernel(handle, [&](Runtime&, Function& function, const lanescope::exec::Kernel&) {
    if (config < 0 || config > 3) return Status::invalid_value;
    function.cache_config = config;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaFuncSetSharedMemConfig(const void* handle, int) {
  return with_kernel(handle,
                     [](Runtime&, Function&, const lanescope::exec::Kernel&) { return Status::success; });
}

LANESCOPE_CUDA_API Status cudaFuncGetParamInfo(const void* handle, size_t index, size_t* offset,
                                               size_t* size) {
  return last_error() = with_kernel(handle, [&](Runtime&, Function&, const lanescope::exec::Kernel& kernel) {
           if (offset == nullptr || index >= kernel.params.size()) return Status::invalid_value;
           *offset = kernel.params[index].offset;
           if (size != nullptr) *size = kernel.params[index].size;
           return Status::success;
         });  // the last error as an H100's runtime has it
}

LANESCOPE_CUDA_API Status cudaFuncGetParamCount(const void* handle, size_t* count) {
  return with_kernel(handle, [&](Runtime&, Function&, const lanescope::exec::Kernel& kernel) {
    if (count == nullptr) return Status::invalid_value;
    *count = kernel.params.size();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* handle, int threads, size_t dynamic_shared, unsigned flags) {
  return with_kernel(
      handle, [&](Runtime& runtime, Function& function, const lanescope::exec::Kernel& kernel) {
        constexpr unsigned disable_caching_override = 1;
        if (blocks == nullptr || threads <= 0 || flags > disable_caching_override)
          return Status::invalid_value;
        const int registers = registers_of(runtime, function);
        const uint64_t shared = kernel.static_shared + dynamic_shared;
        const auto fixed = static_cast<uint32_t>(runtime.device.attribute(attribute_max_shared_per_block));
        *blocks = shared > std::max(shared_limit(runtime, function, kernel), fixed)
                      ? 0
                      : runtime.device.resident_blocks(static_cast<uint32_t>(threads), shared, registers,
                                                       carveout_of(function));
        return Status::success;
      });
}

LANESCOPE_CUDA_API Status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* handle,
                                                                        int threads, size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, handle, threads, dynamic_shared, 0);
}

LANESCOPE_CUDA_API Status cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* handle,
                                                                    int blocks, int threads) {
  if (blocks == 0) return remember(Status::invalid_value);
  return with_kernel(handle, [&](Runtime& runtime, Function& function,
                                 const lanescope::exec::Kernel& kernel) {
    const Device& device = runtime.device;
    if (bytes == nullptr || blocks <= 0 || threads <= 0 ||
        threads > device.attribute(attribute_max_threads_per_block) ||
        blocks > device.resident_blocks(static_cast<uint32_t>(threads), 0, 0))
      return Status::invalid_value;
    const auto all = static_cast<uint64_t>(device.attribute(attribute_max_shared_per_multiprocessor));
    // An H200 does not take off here what the system keeps of each block's memory.
    const uint64_t each = all / static_cast<uint64_t>(blocks) / 128 * 128;
    *bytes = each < kernel.static_shared
                 ? 0
                 : std::min<uint64_t>(each, shared_limit(runtime, function, kernel)) - kernel.static_shared;
    return Status::success;
  });
}

namespace {

/// The size of the clusters that a launch of this description is made of, by it or by the kernel's code; 0 by
/// 0 by 0: it has none.
lanescope::exec::Dim3 cluster_of(const LaunchDescription& description,
                                 const lanescope::exec::Kernel& kernel) {
  lanescope::exec::Dim3 cluster{0, 0, 0};
  for (unsigned i = 0; i < description.attribute_count; ++i)
    if (const LaunchAttribute& one = description.attributes[i]; one.id == LaunchAttribute::cluster_dimension)
      cluster = {one.value.dimension.x, one.value.dimension.y, one.value.dimension.z};
  const bool is_compiled = kernel.required_cluster[0] != 0;
  return is_compiled && cluster == lanescope::exec::Dim3{0, 0, 0} ? lanescope::exec::compiled_cluster(kernel)
                                                                  : cluster;
}

/// Whether that launch's grid can be made of them, as an H200 answers where only their number is asked for.
bool fits_clusters(const Function& function, const lanescope::exec::Kernel& kernel,
                   const LaunchDescription& description) {
  const auto cluster = cluster_of(description, kernel);
  const Extent3& grid = description.grid;
  if (cluster == lanescope::exec::Dim3{0, 0, 0}) return !kernel.explicit_cluster;
  return !why_no_clusters(kernel, {grid.x, grid.y, grid.z}, cluster, !function.non_portable_cluster);
}

}  // namespace

// Clusters are placed in groups of multiprocessors that differ from chip to chip; 16 is what a Hopper group
// has. Of blocks of clusters, an H200 says, a multiprocessor has no more than 8, however small they are.
LANESCOPE_CUDA_API Status cudaOccupancyMaxActiveClusters(int* clusters, const void* handle,
                                                         const LaunchDescription* description) {
  return with_kernel(
      handle, [&](Runtime& runtime, Function& function, const lanescope::exec::Kernel& kernel) {
        if (clusters == nullptr || description == nullptr) return Status::invalid_value;
        if (runtime.device.attribute(attribute_cluster_launch) == 0) return Status::not_supported;
        if (!fits_clusters(function, kernel, *description)) return Status::invalid_cluster_size;
        const auto cluster = cluster_of(*description, kernel).count();
        const Extent3 block = description->block;
        constexpr int most_of_clusters = 8;
        const int resident = runtime.device.resident_blocks(
            block.x * block.y * block.z, kernel.static_shared + description->dynamic_shared,
            registers_of(runtime, function));
        const auto blocks = static_cast<uint64_t>(std::min(resident, most_of_clusters)) *
                            static_cast<uint64_t>(runtime.device.attribute(attribute_multiprocessors));
        *clusters = cluster == 0 ? 0 : static_cast<int>(blocks / cluster);
        return Status::success;
      });
}

LANESCOPE_CUDA_API Status cudaOccupancyMaxPotentialClusterSize(int* size, const void* handle,
                                                               const LaunchDescription* description) {
  return with_kernel(handle,
                     [&](Runtime& runtime, Function& function, const lanescope::exec::Kernel& kernel) {
                       if (size == nullptr || description == nullptr) return Status::invalid_value;
                       if (runtime.device.attribute(attribute_cluster_launch) == 0)
                         return Status::not_supported;
                       if (!fits_clusters(function, kernel, *description))
                         return Status::invalid_cluster_size;
                       *size = function.non_portable_cluster ? 16 : 8;
                       return Status::success;
                     });
}
