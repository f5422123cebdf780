// Every function that the real library exports, as a weak symbol that fails and says which one it was. What
// is implemented elsewhere in this library takes its place when the library is linked.
#include "cuda/libraries/call.hpp"
#include "cuda/libraries/solver/types.hpp"

using lanescope::cuda::solver::Status;

#define LANESCOPE_EXPORT(name)                                                           \
  extern "C" __attribute__((weak, visibility("default"))) Status name() {                \
    return lanescope::cuda::libraries::not_implemented(#name, Status::not_supported,     \
                                                       "CUSOLVER_STATUS_NOT_SUPPORTED"); \
  }
#include "cuda/libraries/solver/exports.def"
