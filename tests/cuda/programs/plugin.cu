// A library with kernels, and its own copy of the CUDA runtime, that a program without CUDA opens; a static
// initialiser launches already.
#include "check.hpp"

__global__ void answer(int* out, int value) { *out = value; }

namespace {
int run(int value) {
  int *device = nullptr, result = 0;
  CHECK_CUDA(cudaMalloc(&device, sizeof *device));
  answer<<<1, 1>>>(device, value);
  CHECK_CUDA(cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(device));
  return result;
}

const int early = run(42);
}  // namespace

extern "C" void call_plugin() { std::printf("plugin %d %d\n", early, run(43)); }
