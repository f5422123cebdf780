// Making a launch from what the program passes, for launches and for the nodes of graphs.
#pragma once

#include <optional>
#include <string>

#include "cuda/runtime/backlog.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

/// A kernel's arguments as programs pass them.
struct Arguments {
  void** each = nullptr;   ///< points to the i-th one
  void** extra = nullptr;  ///< or all in one buffer, as CU_LAUNCH_PARAM_BUFFER_POINTER and …_SIZE say
};

/// Finds the kernel, copies its arguments and checks the configuration; why CUDA would not launch it is said
/// on stderr, since programs that forget to look at errors go on without results. `work.cooperative` and
/// `work.cluster` are set by the caller before.
Status make_work(Runtime& runtime, const void* handle, Extent3 grid, Extent3 block,
                 const Arguments& arguments, size_t shared, KernelWork& work);
/// Launches a kernel, by stub or handle, into the description's stream.
Status launch(const void* handle, const LaunchDescription& description, const Arguments& arguments);

/// The work as something that is taken up until it has finished; nothing runs yet.
[[nodiscard]] std::unique_ptr<UnfinishedLaunch> make_launch(Runtime& runtime, KernelWork work);

/// Why a grid of so many blocks cannot be made of clusters of this size (as the launch says it, or
/// compiled_cluster()).
[[nodiscard]] std::optional<std::string> why_no_clusters(const exec::Kernel& kernel, const exec::Dim3& grid,
                                                         const exec::Dim3& cluster, bool is_portable);

/// Shared memory a block of this kernel may have now; `mode`: what a launch says of that.
[[nodiscard]] uint32_t shared_limit(const Runtime& runtime, const Function& function,
                                    const exec::Kernel& kernel,
                                    int mode = LaunchAttribute::shared_by_function);

}  // namespace lanescope::cuda
