// Dynamic shared memory that pointers divide: at bytes that the text gives, for which fix also changes the
// launch, and at bytes that an argument of the launch gives.
#include "check.hpp"

constexpr int tile = 32;

__global__ void fixed(float* out, const float* in) {
  extern __shared__ float memory[];
  float* a = memory;
  float* b = a + tile * tile;
  a[threadIdx.y * tile + threadIdx.x] = in[threadIdx.y * tile + threadIdx.x];
  b[threadIdx.y * tile + threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.y * tile + threadIdx.x] =
      a[threadIdx.x * tile + threadIdx.y] + b[threadIdx.y * tile + threadIdx.x];
}

__global__ void given(float* out, const float* in, int n) {
  extern __shared__ float first[];
  float* second = first + n;
  first[threadIdx.x] = in[threadIdx.x];
  second[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x ^ 1] + second[threadIdx.x ^ 2];
}

int main() {
  float *in = nullptr, *out = nullptr;
  CHECK_CUDA(cudaMalloc(&in, tile * tile * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&out, tile * tile * sizeof(float)));
  CHECK_CUDA(cudaMemset(in, 0, tile * tile * sizeof(float)));
  fixed<<<1, dim3(tile, tile), 2 * tile * tile * sizeof(float)>>>(out, in);
  given<<<1, 64, 1024>>>(out, in, 64);
  given<<<1, 64, 1024>>>(out, in, 128);
  given<<<1, 64, 1024>>>(out, in, 64);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("parts ok\n");
}
