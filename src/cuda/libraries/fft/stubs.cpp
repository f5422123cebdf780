// Every function that the real library exports, as a weak symbol that fails and says which one it was. What
// is implemented elsewhere in this library takes its place when the library is linked.
#include "cuda/libraries/call.hpp"
#include "cuda/libraries/fft/types.hpp"

namespace {
lanescope::cuda::fft::Status not_implemented(const char* name) {
  lanescope::cuda::libraries::say("{} is not implemented and returns CUFFT_NOT_IMPLEMENTED", name);
  return lanescope::cuda::fft::Status::not_implemented;
}
}  // namespace

#define LANESCOPE_EXPORT(name)                                                                  \
  extern "C" __attribute__((weak, visibility("default"))) lanescope::cuda::fft::Status name() { \
    return not_implemented(#name);                                                              \
  }
#include "cuda/libraries/fft/exports.def"
