// Every function that the real library exports, as a weak symbol that fails. What is implemented elsewhere in
// this library takes its place when the library is linked.
#include "cuda/libraries/cupti/types.hpp"

using lanescope::cuda::cupti::Status;

#define LANESCOPE_EXPORT(name) \
  extern "C" __attribute__((weak, visibility("default"))) Status name() { return Status::not_supported; }
#include "cuda/libraries/cupti/exports.def"
