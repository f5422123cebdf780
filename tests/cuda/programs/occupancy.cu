// Occupancy calls against the calculator that comes with CUDA (cuda_occupancy.h), given the same attributes.
#include <cuda_occupancy.h>

#include "check.hpp"

__global__ void plain(float* out) { out[threadIdx.x] = 1; }

__global__ void __launch_bounds__(256) large(float* out, const float* in) {
  __shared__ float room[2048];
  float kept[64];
  for (int i = 0; i < 64; ++i) kept[i] = in[i * 256 + threadIdx.x];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) room[i] = in[i];
  __syncthreads();
  for (int i = 0; i < 64; ++i) out[i * 256 + threadIdx.x] = kept[i] * room[(i * 37 + threadIdx.x) % 2048];
}

template <class Kernel>
void compare(Kernel kernel) {
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  cudaFuncAttributes attributes;
  CHECK_CUDA(cudaFuncGetAttributes(&attributes, kernel));
  CHECK(attributes.numRegs > 0);
  const cudaOccDeviceProp device(properties);
  const cudaOccDeviceState state;
  // The calculator does not know that a kernel was compiled for fewer threads.
  for (int threads = 1; threads <= attributes.maxThreadsPerBlock; threads = threads * 9 / 8 + 1)
    for (size_t dynamic : {size_t{0}, size_t{100}, size_t{5000}, size_t{40000}}) {
      const cudaOccFuncAttributes function(attributes);
      cudaOccResult expected;
      const bool known = cudaOccMaxActiveBlocksPerMultiprocessor(&expected, &device, &function, &state,
                                                                 threads, dynamic) == CUDA_OCC_SUCCESS;
      int blocks = -1;
      CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic));
      if (known && blocks != expected.activeBlocksPerMultiprocessor) {
        std::printf("%d threads, %zu bytes: %d instead of %d\n", threads, dynamic, blocks,
                    expected.activeBlocksPerMultiprocessor);
        std::exit(1);
      }
    }
  int grid = 0, block = 0;
  CHECK_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel));
  CHECK(grid > 0 && block > 0 && block <= attributes.maxThreadsPerBlock);
}

int main() {
  compare(plain);
  compare(large);
  std::printf("occupancy ok\n");
}
