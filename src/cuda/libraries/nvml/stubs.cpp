// Every function that the real library exports, as a weak symbol that fails. Most devices know only some of
// what there is to ask, so programs expect this answer, and no word is said about it. What is implemented
// elsewhere in this library takes its place when the library is linked.
#include "cuda/libraries/nvml/types.hpp"

using lanescope::cuda::nvml::Status;

#define LANESCOPE_EXPORT(name) \
  extern "C" __attribute__((weak, visibility("default"))) Status name() { return Status::not_supported; }
#include "cuda/libraries/nvml/exports.def"
