// Contexts, as far as the runtime takes part in them: its calls use the device's primary context, and make it
// current on a thread that has none. All contexts share the one device's memory here.
#pragma once

#include <atomic>

namespace lanescope::cuda {

struct Context {
  unsigned flags = 0;
  unsigned long long id = 1;
  std::atomic<int> references{0};   ///< to the primary context: cuDevicePrimaryCtxRetain
  std::atomic<bool> in_use{false};  ///< the primary context, by the runtime
};

Context& primary_context();

/// The calling thread's current context; nullptr: none.
inline constinit thread_local Context* current_context = nullptr;

/// What each call of the runtime about the device begins with.
inline void use_context() {
  if (current_context != nullptr) return;
  current_context = &primary_context();
  current_context->in_use = true;
}

}  // namespace lanescope::cuda
