// A reduction whose code was compiled for compute capability 8.0, on a GPU of 9.0, which runs it from its
// PTX: such code does not wait for the kernel before it, so that no launch may ask to start early.
//
//   nvcc -std=c++20 -arch=compute_80 -Iinclude -o reduce_older_test tests/gpu/reduce_older_test.cu
//   ./reduce_older_test                  on a GPU
//   lanescope run -- ./reduce_older_test
#include <cuda_runtime.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "failures.cuh"

namespace {

int launches = 0, early = 0;

template <class... Params, class... Args>
cudaError_t counted_launch(const cudaLaunchConfig_t* config, void (*kernel)(Params...), Args&&... args) {
  ++launches;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    early += config->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization;
  return cudaLaunchKernelEx(config, kernel, std::forward<Args>(args)...);
}

}  // namespace

#define cudaLaunchKernelEx counted_launch
#include "lanescope/kernels/reduce.cuh"
#undef cudaLaunchKernelEx

int main() {
  using namespace lanescope::kernels;
  constexpr uint64_t count = 100000;
  const std::vector<float> ones(count, 1.0f);
  const size_t bytes = reduce_workspace_bytes<float, float>(count);
  float *in = nullptr, *out = nullptr, sum = 0;
  void* memory = nullptr;
  must(cudaMalloc(&in, count * sizeof(float)), "cudaMalloc");
  must(cudaMalloc(&out, sizeof(float)), "cudaMalloc");
  must(cudaMalloc(&memory, bytes), "cudaMalloc");
  must(cudaMemcpy(in, ones.data(), count * sizeof(float), cudaMemcpyHostToDevice), "copy");
  const Status status = reduce_sum(out, in, count, Workspace{memory, bytes}, nullptr);
  if (!status) fail(status.message);
  must(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost), "copy");
  if (sum != count) fail("the sum is another one");
  if (launches != 2) fail("two launches are expected");
  if (early != 0) fail("a kernel that does not wait may start early");
  must(cudaFree(memory), "cudaFree");
  must(cudaFree(out), "cudaFree");
  must(cudaFree(in), "cudaFree");
  if (failures == 0) std::printf("ok: %d launches, none early\n", launches);
  return failures == 0 ? 0 : 1;
}
