// Tells what shared memory holds that no thread has written, in a launch and in one by a kernel.
#include "check.hpp"

__global__ void look(int* zeros) {
  __shared__ int words[32];
  if (words[threadIdx.x] == 0) atomicAdd(zeros, 1);
}
__global__ void launch(int* zeros) { look<<<1, 32>>>(zeros); }

int main() {
  int *on_device = nullptr, zeros = 0;
  CHECK_CUDA(cudaMalloc(&on_device, sizeof(int)));
  CHECK_CUDA(cudaMemset(on_device, 0, sizeof(int)));
  look<<<1, 32>>>(on_device);
  launch<<<1, 1>>>(on_device);
  CHECK_CUDA(cudaMemcpy(&zeros, on_device, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("%d zeros\n", zeros);
}
