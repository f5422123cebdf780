// Every function that the real library exports, as a weak symbol that fails and says which one it was. What
// is implemented elsewhere in this library takes its place when the library is linked.
#include "cuda/libraries/call.hpp"
#include "cuda/libraries/rand/types.hpp"

namespace {
lanescope::cuda::rand::Status not_implemented(const char* name) {
  lanescope::cuda::libraries::say("{} is not implemented and returns CURAND_STATUS_INTERNAL_ERROR", name);
  return lanescope::cuda::rand::Status::internal_error;
}
}  // namespace

#define LANESCOPE_EXPORT(name)                                                                   \
  extern "C" __attribute__((weak, visibility("default"))) lanescope::cuda::rand::Status name() { \
    return not_implemented(#name);                                                               \
  }
#include "cuda/libraries/rand/exports.def"
