// What nearly every program does: copies, a launch, events, symbols, properties; with padding of the tile
// left out, so that the report has something to say.
#include <vector>

#include "check.hpp"

__constant__ float scale[2];
__device__ int blocks_done = 5;

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x] * scale[1];
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(&blocks_done, 1);
}

int main(int argc, char** argv) {
  const int n = 128;
  std::vector<float> in(n * n), out(n * n);
  for (int i = 0; i < n * n; ++i) in[i] = static_cast<float>(i);
  float *device_in = nullptr, *device_out = nullptr;
  CHECK_CUDA(cudaMalloc(&device_in, in.size() * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&device_out, in.size() * sizeof(float)));
  CHECK(reinterpret_cast<size_t>(device_in) % 256 == 0);
  CHECK_CUDA(cudaMemcpy(device_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
  const float factors[2] = {0, 2};
  CHECK_CUDA(cudaMemcpyToSymbol(scale, factors, sizeof factors));

  cudaEvent_t start, stop;
  CHECK_CUDA(cudaEventCreate(&start));
  CHECK_CUDA(cudaEventCreate(&stop));
  CHECK_CUDA(cudaEventRecord(start));
  for (int i = 0; i < 2; ++i) transpose<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(device_in, device_out, n);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaEventRecord(stop));
  CHECK_CUDA(cudaEventSynchronize(stop));
  float milliseconds = -1;
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK(milliseconds > 0 && milliseconds < 60000);

  CHECK_CUDA(cudaMemcpy(out.data(), device_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) CHECK(out[y * n + x] == 2 * in[x * n + y]);
  int done = 0;
  CHECK_CUDA(cudaMemcpyFromSymbol(&done, blocks_done, sizeof done));
  CHECK(done == 5 + 2 * (n / 32) * (n / 32));
  void* address = nullptr;
  size_t size = 0;
  CHECK_CUDA(cudaGetSymbolAddress(&address, scale));
  CHECK_CUDA(cudaGetSymbolSize(&size, scale));
  CHECK(address != nullptr && size == 8);

  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  int major = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  CHECK(properties.major == major && properties.warpSize == 32);
  CHECK_CUDA(cudaFree(device_in));
  CHECK_CUDA(cudaFree(device_out));
  std::printf("basics ok, %d arguments, first '%s'\n", argc - 1, argc > 1 ? argv[1] : "");
  return argc > 2 ? std::atoi(argv[2]) : 0;
}
