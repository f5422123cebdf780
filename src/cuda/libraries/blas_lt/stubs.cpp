// Every function that the real library exports, as a weak symbol that fails and says which one it was. What
// is implemented elsewhere in this library takes its place when the library is linked.
#include "cuda/libraries/blas/types.hpp"
#include "cuda/libraries/call.hpp"

using lanescope::cuda::blas::Status;

#define LANESCOPE_EXPORT(name)                                                         \
  extern "C" __attribute__((weak, visibility("default"))) Status name() {              \
    return lanescope::cuda::libraries::not_implemented(#name, Status::not_supported,   \
                                                       "CUBLAS_STATUS_NOT_SUPPORTED"); \
  }
#include "cuda/libraries/blas_lt/exports.def"
