// The driver API (cu… functions): another way in to the same state as the runtime's functions, through which
// most of its functions go. Streams, events, kernels, libraries, arrays and graphs are the same objects for
// both, as CUDA has them; a module is a library, and a CUdeviceptr a pointer.
//
// Results have the runtime's numbers, which are the driver's wherever both know the error.
#pragma once

#include <tuple>
#include <utility>

#include "cuda/runtime/context.hpp"
#include "cuda/runtime/pass.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

struct DriverCopy3D;

/// A CUDA_MEMCPY3D as the runtime has it; false for one that makes no sense, and for none.
[[nodiscard]] bool to_copy(const DriverCopy3D* from, Copy3D& to);

/// The driver's result for one of the runtime's.
[[nodiscard]] Status result_of(Status status);

/// Runs a function of the driver, which leaves the runtime's last error alone and takes no context by itself.
template <typename F>
Status driver(F&& body) {
  if (const Status status = driver_status(); status != Status::success) return status;
  const Status error_before = last_error();
  const bool in_driver_before = std::exchange(in_driver, true);
  const Status status = body();
  last_error() = error_before;
  in_driver = in_driver_before;
  return result_of(status);
}

/// Runs a function of the driver that needs a current context.
template <typename F>
Status in_context(F&& body) {
  return driver([&] {
    if (current_context == nullptr) return Status::invalid_context;
    return current_context->destroyed ? Status::context_is_destroyed : body();
  });
}

/// Runs a function of the driver that works in the context of a stream or an event.
template <typename F>
Status in_context_of(const void* handle, F&& body) {
  const bool is_made = reinterpret_cast<uintptr_t>(handle) > reinterpret_cast<uintptr_t>(per_thread_handle());
  return is_made ? driver(body) : in_context(body);
}

/// Runs a function of the driver about an object; none is no handle of one.
template <typename F>
Status about_object(const void* handle, F&& body) {
  return driver([&] { return handle == nullptr ? Status::invalid_resource_handle : body(); });
}

/// Runs a function of the driver about a device.
template <typename F>
Status about_device(int device, F&& body) {
  return driver([&] { return device == 0 ? body() : Status::invalid_device; });
}

/// Runs a function of the driver that needs a current context, with a copy as the runtime has it.
template <typename F>
Status with_copy(const DriverCopy3D* copy, F&& body) {
  return in_context([&] {
    Copy3D box{};
    return to_copy(copy, box) ? body(box) : Status::invalid_value;
  });
}

/// Ways to hand parameters on to a function of the runtime (pass.hpp).
template <typename... A>
Status by_driver(Status (*target)(A...), A... a) {
  return driver([&] { return target(a...); });
}
template <typename... A>
Status by_context(Status (*target)(A...), A... a) {
  return in_context([&] { return target(a...); });
}
/// For functions about a stream or an event, which know their context; default streams are those of the
/// current one.
template <typename H, typename... A>
Status by_handle(Status (*target)(H*, A...), H* handle, A... a) {
  return in_context_of(handle, [&] { return target(handle, a...); });
}
/// The same where the stream is the last parameter.
template <typename... A>
Status by_stream(Status (*target)(A...), A... a) {
  return in_context_of(std::get<sizeof...(A) - 1>(std::tie(a...)), [&] { return target(a...); });
}

}  // namespace lanescope::cuda
