// Touches more memory than the host has, when it is checked: 64 MB, of which --check global keeps much more.
#include <cstdio>

__global__ void touch(int* all, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) all[i] = i;
}

int main() {
  constexpr int words = 16 << 20;
  int* all = nullptr;
  cudaMalloc(&all, words * sizeof(int));
  touch<<<4, 256>>>(all, words);
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
