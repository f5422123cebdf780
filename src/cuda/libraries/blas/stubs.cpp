// Every function that the real library exports, as a weak symbol that fails and says which one it was. What
// is implemented elsewhere in this library takes its place when the library is linked.
#include "cuda/libraries/blas/types.hpp"
#include "cuda/libraries/call.hpp"

namespace {
lanescope::cuda::blas::Status not_implemented(const char* name) {
  lanescope::cuda::libraries::say("{} is not implemented and returns CUBLAS_STATUS_NOT_SUPPORTED", name);
  return lanescope::cuda::blas::Status::not_supported;
}
}  // namespace

#define LANESCOPE_EXPORT(name)                                                                   \
  extern "C" __attribute__((weak, visibility("default"))) lanescope::cuda::blas::Status name() { \
    return not_implemented(#name);                                                               \
  }
#include "cuda/libraries/blas/exports.def"
