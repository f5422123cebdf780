// Every function that the real library exports, as a weak symbol that fails and says which one it was. What
// is implemented elsewhere in this library takes its place when the library is linked.
#include "cuda/libraries/call.hpp"
#include "cuda/libraries/rand/types.hpp"

using lanescope::cuda::rand::Status;

#define LANESCOPE_EXPORT(name)                                                          \
  extern "C" __attribute__((weak, visibility("default"))) Status name() {               \
    return lanescope::cuda::libraries::not_implemented(#name, Status::internal_error,   \
                                                       "CURAND_STATUS_INTERNAL_ERROR"); \
  }
#include "cuda/libraries/rand/exports.def"
