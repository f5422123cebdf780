// Contexts, as far as the runtime takes part in them: its calls use the device's primary context, and make it
// current on a thread that has none. All contexts share the one device's memory here.
#pragma once

#include <atomic>

namespace lanescope::cuda {

struct Context {
  unsigned flags = 0;
  unsigned long long id = 1;
  std::atomic<bool> destroyed{false};
  std::atomic<int> references{0};      ///< to the primary context: cuDevicePrimaryCtxRetain
  std::atomic<int> attached{0};        ///< another one: cuCtxAttach
  std::atomic<bool> in_use{false};     ///< the primary context, by the runtime
  std::atomic<bool> was_reset{false};  ///< the primary context, and not retained since
};

Context& primary_context();

/// Whether the driver is initialised: by cuInit, or by any call of the runtime but cudaRuntimeGetVersion
/// (measured on an H200, tests/cuda/programs/begin.cu).
inline constinit std::atomic<bool> driver_is_up{false};

/// Whether this process was made by fork() when its parent's driver was initialised: its own cannot be used
/// any more (measured on an H200, driver 580: tests/cuda/stub_program.cpp).
inline constinit std::atomic<bool> driver_is_lost{false};

/// Whether the runtime has been called, and whether this process was made when only the driver had been: then
/// the runtime cannot begin, and every call of it that looks fails, also those that need no device (measured
/// on an H200, as all of what is lost).
inline constinit std::atomic<bool> runtime_is_up{false};
inline constinit std::atomic<bool> runtime_is_lost{false};

/// The calling thread's current context; nullptr: none.
inline constinit thread_local Context* current_context = nullptr;

/// The calling thread is in a function of the driver, which takes no context by itself.
inline constinit thread_local bool in_driver = false;

/// What each call of the runtime about the device begins with.
inline void use_context() {
  if (current_context != nullptr || in_driver) return;
  current_context = &primary_context();
  current_context->in_use = true;
}

}  // namespace lanescope::cuda
