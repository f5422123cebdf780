// A libcuda.so.1 to link programs with, as the toolkit has one: every function, of which none works.
#define LANESCOPE_EXPORT(name, since) \
  extern "C" __attribute__((visibility("default"))) int name() { return 34; /* CUDA_ERROR_STUB_LIBRARY */ }
#include "cuda/driver/exports.def"
