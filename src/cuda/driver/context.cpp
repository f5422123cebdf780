// Contexts: the primary one and those that programs create, and each thread's stack of them. They share the
// device's memory; when the last one goes, so does what was allocated.
#include <mutex>
#include <unordered_set>
#include <vector>

#include "cuda/driver/driver.hpp"
#include "cuda/runtime/calls.hpp"

namespace lanescope::cuda {
namespace {

struct Contexts {
  std::mutex mutex;
  std::unordered_set<const Context*> created;
  unsigned long long next_id = 2;  ///< the primary context has 1
};

Contexts& contexts() {
  static auto* all = new Contexts;  // programs call CUDA in their last destructors
  return *all;
}

/// Those below the calling thread's current one.
std::vector<Context*>& below() {
  thread_local auto* stack = new std::vector<Context*>;
  return *stack;
}

bool is_context(const Context* context) {
  const std::lock_guard lock(contexts().mutex);
  return context == &primary_context() || contexts().created.contains(context);
}

/// The device is free of what programs have left when nobody uses it any more.
void reset_if_unused() {
  {
    const std::lock_guard lock(contexts().mutex);
    if (!contexts().created.empty() || primary_context().references != 0 || primary_context().in_use) return;
  }
  cudaDeviceReset();
}

void push(Context* context) {
  if (current_context != nullptr) below().push_back(current_context);
  current_context = context;
}

void pop() {
  auto& stack = below();
  current_context = stack.empty() ? nullptr : stack.back();
  if (!stack.empty()) stack.pop_back();
}

/// CUctx_flags: how the host waits, of which one may be chosen, and others.
constexpr unsigned scheduling = 7, map_host = 8, all_flags = 0xff;
bool are_flags(unsigned flags) {
  const unsigned chosen = flags & scheduling;
  return (flags & ~all_flags) == 0 && (chosen & (chosen - 1)) == 0;
}

/// A new context, which becomes current above the one that was.
Status create(Context** out, unsigned flags, int device) {
  Context* made = nullptr;
  const Status status = about_device(device, [&] {
    if (out == nullptr || !are_flags(flags)) return Status::invalid_value;
    made = new Context;
    made->flags = flags;
    const std::lock_guard lock(contexts().mutex);
    made->id = contexts().next_id++;
    contexts().created.insert(made);
    return Status::success;
  });
  if (status != Status::success) return status;
  push(made);
  *out = made;
  return status;
}

/// Runs `body` with a context, or the current one for none.
template <typename F>
Status about_context(Context* context, F&& body) {
  return driver([&] {
    if (context == nullptr) context = current_context;
    return context != nullptr && is_context(context) ? body(*context) : Status::invalid_context;
  });
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cuCtxCreate_v2(Context** out, unsigned flags, int device) {
  return create(out, flags, device);
}

LANESCOPE_CUDA_API Status cuCtxCreate_v3(Context** out, const void* /*affinity*/, int, unsigned flags,
                                         int device) {
  return create(out, flags, device);
}

LANESCOPE_CUDA_API Status cuCtxCreate_v4(Context** out, const void* /*parameters*/, unsigned flags,
                                         int device) {
  return create(out, flags, device);
}

LANESCOPE_CUDA_API Status cuCtxDestroy_v2(Context* context) {
  const Status status = driver([&] {
    if (context == nullptr) return Status::invalid_value;
    const std::lock_guard lock(contexts().mutex);
    return contexts().created.erase(context) != 0 ? Status::success : Status::invalid_context;
  });
  if (status != Status::success) return status;
  // It stays in memory: it may still be current, on other threads and further down on this one's stack.
  context->destroyed = true;
  if (current_context == context) pop();
  reset_if_unused();
  return status;
}

/// Before CUDA 4, contexts were counted.
LANESCOPE_CUDA_API Status cuCtxAttach(Context** out, unsigned flags) {
  return in_context([&] {
    if (out == nullptr || flags != 0) return Status::invalid_value;
    *out = current_context;
    ++current_context->attached;
    return Status::success;
  });
}
LANESCOPE_CUDA_API Status cuCtxDetach(Context* context) {
  return in_context([&] {
    if (context != current_context) return Status::invalid_context;
    if (context->attached == 0) return cuCtxDestroy_v2(context);
    --context->attached;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuCtxPushCurrent_v2(Context* context) {
  const Status status = driver([&] {
    if (context == nullptr) return Status::invalid_value;
    return is_context(context) ? Status::success : Status::invalid_context;
  });
  if (status != Status::success) return status;
  push(context);
  return status;
}

LANESCOPE_CUDA_API Status cuCtxPopCurrent_v2(Context** out) {
  const Status status =
      driver([] { return current_context != nullptr ? Status::success : Status::invalid_context; });
  if (status != Status::success) return status;
  if (out != nullptr) *out = current_context;
  pop();
  return status;
}

LANESCOPE_CUDA_API Status cuCtxSetCurrent(Context* context) {
  const Status status = driver(
      [&] { return context == nullptr || is_context(context) ? Status::success : Status::invalid_context; });
  if (status != Status::success) return status;
  if (context == nullptr)
    pop();
  else
    current_context = context;
  return status;
}

LANESCOPE_CUDA_API Status cuCtxGetCurrent(Context** out) {
  return driver([&] {
    if (out == nullptr) return Status::invalid_value;
    *out = current_context;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuCtxGetDevice(int* device) {
  return in_context([&] {
    if (device == nullptr) return Status::invalid_value;
    *device = 0;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuCtxGetDevice_v2(int* device, Context* context) {
  return about_context(context, [&](const Context&) {
    if (device == nullptr) return Status::invalid_value;
    *device = 0;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuCtxGetFlags(unsigned* flags) {
  return in_context([&] {
    if (flags == nullptr) return Status::invalid_value;
    *flags = current_context->flags;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuCtxSetFlags(unsigned flags) {
  return in_context([&] {
    if (!are_flags(flags)) return Status::invalid_value;
    current_context->flags = flags | (current_context->flags & map_host);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuCtxGetId(Context* context, unsigned long long* id) {
  return about_context(context, [&](const Context& c) {
    if (id == nullptr) return Status::invalid_value;
    *id = c.id;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuCtxGetApiVersion(Context* context, unsigned* version) {
  return about_context(context, [&](const Context&) {
    if (version == nullptr) return Status::invalid_value;
    *version = 3020;  // of contexts since CUDA 3.2, as an H200 says
    return Status::success;
  });
}

LANESCOPE_PASS_0(cuCtxSynchronize, cudaDeviceSynchronize, by_context)
LANESCOPE_CUDA_API Status cuCtxSynchronize_v2(Context* context) {
  return about_context(context, [](const Context&) { return cudaDeviceSynchronize(); });
}
LANESCOPE_PASS_2(cuCtxGetLimit, cudaDeviceGetLimit, by_context)
LANESCOPE_PASS_2(cuCtxSetLimit, cudaDeviceSetLimit, by_context)
LANESCOPE_PASS_1(cuCtxGetCacheConfig, cudaDeviceGetCacheConfig, by_context)
LANESCOPE_PASS_1(cuCtxSetCacheConfig, cudaDeviceSetCacheConfig, by_context)
LANESCOPE_PASS_1(cuCtxGetSharedMemConfig, cudaDeviceGetSharedMemConfig, by_context)
LANESCOPE_PASS_1(cuCtxSetSharedMemConfig, cudaDeviceSetSharedMemConfig, by_context)
LANESCOPE_PASS_2(cuCtxGetStreamPriorityRange, cudaDeviceGetStreamPriorityRange, by_context)
LANESCOPE_PASS_0(cuCtxResetPersistingL2Cache, cudaCtxResetPersistingL2Cache, by_context)

// There is one device, whose contexts have the same memory.
LANESCOPE_CUDA_API Status cuCtxEnablePeerAccess(Context* peer, unsigned flags) {
  return in_context([&] {
    if (flags != 0) return Status::invalid_value;
    return is_context(peer) ? Status::peer_access_unsupported : Status::invalid_context;
  });
}
LANESCOPE_CUDA_API Status cuCtxDisablePeerAccess(Context* peer) {
  return in_context(
      [&] { return is_context(peer) ? Status::peer_access_not_enabled : Status::invalid_context; });
}

LANESCOPE_CUDA_API Status cuDevicePrimaryCtxRetain(Context** out, int device) {
  return about_device(device, [&] {
    if (out == nullptr) return Status::invalid_value;
    ++primary_context().references;
    primary_context().was_reset = false;
    *out = &primary_context();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuDevicePrimaryCtxRelease_v2(int device) {
  return about_device(device, [&] {
    if (primary_context().references == 0) return Status::invalid_context;
    if (--primary_context().references == 0) reset_if_unused();
    return Status::success;
  });
}

/// References to it stay, and can be released.
LANESCOPE_CUDA_API Status cuDevicePrimaryCtxReset_v2(int device) {
  return about_device(device, [] {
    const Status status = cudaDeviceReset();
    primary_context().flags = 0;
    primary_context().was_reset = true;
    return status;
  });
}

LANESCOPE_CUDA_API Status cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  return about_device(device, [&] {
    if (!are_flags(flags)) return Status::invalid_value;
    primary_context().flags = flags;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return about_device(device, [&] {
    if (flags == nullptr || active == nullptr) return Status::invalid_value;
    *flags = primary_context().flags;
    const bool is_retained = primary_context().references != 0 && !primary_context().was_reset;
    *active = is_retained || primary_context().in_use ? 1 : 0;
    return Status::success;
  });
}

// Those of the first version that take the same parameters.
LANESCOPE_CUDA_API Status cuCtxCreate(Context** out, unsigned flags, int device) {
  return cuCtxCreate_v2(out, flags, device);
}
LANESCOPE_CUDA_API Status cuCtxDestroy(Context* context) { return cuCtxDestroy_v2(context); }
LANESCOPE_CUDA_API Status cuCtxPushCurrent(Context* context) { return cuCtxPushCurrent_v2(context); }
LANESCOPE_CUDA_API Status cuCtxPopCurrent(Context** out) { return cuCtxPopCurrent_v2(out); }
LANESCOPE_CUDA_API Status cuDevicePrimaryCtxRelease(int device) {
  return cuDevicePrimaryCtxRelease_v2(device);
}
LANESCOPE_CUDA_API Status cuDevicePrimaryCtxReset(int device) { return cuDevicePrimaryCtxReset_v2(device); }
LANESCOPE_CUDA_API Status cuDevicePrimaryCtxSetFlags(int device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}
