// Making a launch from what the program passes, for launches and for the nodes of graphs.
#pragma once

#include "cuda/runtime/backlog.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

/// Finds the kernel, copies its arguments (`arguments[i]` points to the i-th one) and checks the
/// configuration. `work.cooperative` and `work.cluster` are set by the caller before.
Status make_work(Runtime& runtime, const void* handle, Extent3 grid, Extent3 block, void** arguments,
                 size_t shared, KernelWork& work);
Status check(Runtime& runtime, const Function& function, const exec::Kernel& kernel, const KernelWork& work);

/// The work as something that is taken up until it has finished; nothing runs yet.
[[nodiscard]] std::unique_ptr<UnfinishedLaunch> make_launch(Runtime& runtime, KernelWork work);

/// Shared memory a block of this kernel may have now.
[[nodiscard]] uint32_t shared_limit(const Runtime& runtime, const Function& function,
                                    const exec::Kernel& kernel);

}  // namespace lanescope::cuda
