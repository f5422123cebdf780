// A kernel that has more values than registers, and one whose stack is an array of its own.
#include <cstdio>

constexpr int values = 64, threads = 1024;

__global__ void __launch_bounds__(threads, 2) crowded(const float* in, float* out) {
  float v[values];
#pragma unroll
  for (int i = 0; i < values; ++i) v[i] = in[threadIdx.x + i * threads];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < values; ++i)
#pragma unroll
    for (int k = 1; k < values; k *= 2) sum += v[i] * v[(i + k) % values];
  out[threadIdx.x] = sum;
}

__global__ void indexed(const int* order, int* out) {
  int mine[32];
  for (int i = 0; i < 32; ++i) mine[order[i]] = i;
  out[threadIdx.x] = mine[order[threadIdx.x % 32]];
}

int main() {
  float *in, *out;
  cudaMalloc(&in, sizeof(float) * values * threads);
  cudaMemset(in, 0, sizeof(float) * values * threads);
  cudaMalloc(&out, sizeof(float) * threads);
  crowded<<<1, threads>>>(in, out);
  indexed<<<1, 32>>>(reinterpret_cast<int*>(in), reinterpret_cast<int*>(out));
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(in);
  cudaFree(out);
}
