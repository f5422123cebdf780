// What cudaDeviceReset() leaves: variables, limits, and what was set for the device and for functions. And
// how long the heap of kernels can be given another size.
#include <cstdio>

namespace {

__device__ int counter = 5;
__device__ int* pointer = &counter;
__constant__ int constant = 7;
__managed__ int managed = 9;

__global__ void count(int* out) {
  out[0] = counter++;
  out[1] = constant;
  out[2] = managed++;
  out[3] = pointer == &counter;
  if (threadIdx.x == 0) pointer = nullptr;
}

__global__ void take() { free(malloc(16)); }

void limit(const char* name, cudaLimit which, size_t wanted) {
  const cudaError_t set = cudaDeviceSetLimit(which, wanted);
  size_t value = 0;
  cudaDeviceGetLimit(&value, which);
  std::printf("%s: %s, %zu\n", name, cudaGetErrorName(set), value);
}

void use(int value) {
  int *out = nullptr, host[4] = {};
  cudaMalloc(&out, sizeof host);
  count<<<1, 1>>>(out);
  cudaMemcpyToSymbol(constant, &value, sizeof value);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("counter %d constant %d managed %d, on the host %d, pointer %d\n", host[0], host[1], host[2],
              managed, host[3]);
  limit("heap", cudaLimitMallocHeapSize, 16 << 20);
  take<<<1, 1>>>();
  std::printf("take: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  limit("heap in use", cudaLimitMallocHeapSize, 32 << 20);
  limit("stack", cudaLimitStackSize, 4096);
}

}  // namespace

int main() {
  use(100);
  cudaDeviceSetCacheConfig(cudaFuncCachePreferL1);
  cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
  std::printf("reset: %s\n", cudaGetErrorName(cudaDeviceReset()));
  size_t stack = 0, heap = 0;
  cudaDeviceGetLimit(&stack, cudaLimitStackSize);
  cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
  cudaFuncCache cache{};
  cudaDeviceGetCacheConfig(&cache);
  cudaFuncAttributes attributes{};
  cudaFuncGetAttributes(&attributes, count);
  std::printf("stack %zu heap %zu cache %d dynamic shared memory %d\n", stack, heap, cache,
              attributes.maxDynamicSharedSizeBytes);
  use(200);
}
