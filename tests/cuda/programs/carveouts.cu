// How many blocks fit on a multiprocessor where kernels prefer a part of the shared memory, or L1.
// carveouts.txt is what an H100 printed (CUDA 13.0): a line for each preference, of blocks of 32, 128 and
// 1024 threads.
#include <cuda_runtime.h>

#include <cstdio>
#include <initializer_list>

extern __shared__ int dynamic[];
__global__ void asks(int* p) {
  dynamic[threadIdx.x] = 1;
  __syncthreads();
  if (p != nullptr) *p = dynamic[0];
}
__global__ void has_12000_bytes(int* p) {
  __shared__ int words[3000];
  words[threadIdx.x] = 1;
  __syncthreads();
  if (p != nullptr) *p = words[5];
}
__global__ void has_none(int* p) {
  if (p != nullptr) *p = 1;
}

namespace {

void tell(const char* mark, void (*kernel)(int*), std::initializer_list<int> threads, int bytes) {
  for (const int t : threads) {
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, t, bytes);
    std::printf(" %s%d", mark, blocks);
  }
}

}  // namespace

int main() {
  cudaFuncSetAttribute(asks, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);
  for (const int percent :
       {-1, 0, 1, 3, 4, 5, 7, 10, 14, 15, 25, 28, 29, 40, 44, 50, 58, 60, 75, 86, 90, 100}) {
    std::printf("%d:", percent);
    for (const auto kernel : {asks, has_12000_bytes, has_none})
      cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent);
    for (const int bytes : {0, 1, 1000, 2048, 7000, 8192, 16384, 40000, 60000, 100000, 232448})
      tell("", asks, {32, 128, 1024}, bytes);
    tell("f", has_12000_bytes, {32, 128, 1024}, 0);
    tell("p", has_none, {32, 128, 1024}, 0);
    std::printf("\n");
  }
  cudaFuncSetAttribute(asks, cudaFuncAttributePreferredSharedMemoryCarveout, -1);
  for (int config = 0; config < 4; ++config) {
    cudaFuncSetCacheConfig(asks, cudaFuncCache(config));
    std::printf("cache %d:", config);
    for (const int bytes : {0, 1000, 8192, 40000}) tell("", asks, {128}, bytes);
    std::printf("\n");
  }
}
