// Every function that the real library exports, as a weak symbol that fails and says which one it was. What
// is implemented elsewhere in this folder takes its place when the library is linked.

namespace lanescope::cuda {
enum class Status : int;
Status driver_not_implemented(const char* name);
}  // namespace lanescope::cuda

#define LANESCOPE_EXPORT(name, since)                                                      \
  extern "C" __attribute__((weak, visibility("default"))) lanescope::cuda::Status name() { \
    return lanescope::cuda::driver_not_implemented(#name);                                 \
  }
#include "cuda/driver/exports.def"
