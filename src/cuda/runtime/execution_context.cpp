// Execution contexts: contexts of the driver that calls of the runtime are told. There is that of the device;
// green contexts, which have some of its multiprocessors, are not there.
#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/context.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

template <typename F>
Status with_execution_context(const Context* context, F&& body) {
  return context != &primary_context() ? remember(Status::invalid_value) : body();
}

}  // namespace
}  // namespace lanescope::cuda

LANESCOPE_CUDA_API Status cudaDeviceGetExecutionCtx(Context** out, int device) {
  return call([&](Runtime&) {
    if (out == nullptr) return Status::invalid_value;
    if (device != 0) return Status::invalid_device;
    *out = &primary_context();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaExecutionCtxGetDevice(int* device, const Context* context) {
  return with_execution_context(context, [&] { return cudaGetDevice(device); });
}

LANESCOPE_CUDA_API Status cudaExecutionCtxGetId(const Context* context, unsigned long long* id) {
  return with_execution_context(context, [&] {
    if (id == nullptr) return remember(Status::invalid_value);
    *id = context->id;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaExecutionCtxStreamCreate(Stream** out, const Context* context, unsigned flags,
                                                       int priority) {
  return with_execution_context(context, [&] { return cudaStreamCreateWithPriority(out, flags, priority); });
}

LANESCOPE_CUDA_API Status cudaExecutionCtxSynchronize(const Context* context) {
  return with_execution_context(context, [] { return cudaDeviceSynchronize(); });
}
