// A program of several translation units (nvcc -rdc=true main.cu and tests/data/linked/*.cu -lcudadevrt):
// device functions, variables and a table of function pointers across units, and kernels that launch kernels.
#include "../check.hpp"

__global__ void combine(int* out);
__global__ void number(int* out);
__global__ void count(int* out);
__global__ void parent(int* out, int n);
__global__ void nested(int* out, int depth);
__global__ void repeat(int* out, int n);
__global__ void refused(int* out);
extern __device__ int offsets[4];

int* device = nullptr;
int words[128];

/// Waits, takes what the kernel wrote and clears it.
void take() {
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK_CUDA(cudaMemcpy(words, device, sizeof words, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemset(device, 0, sizeof words));
}

int main() {
  CHECK_CUDA(cudaMalloc(&device, sizeof words));
  CHECK_CUDA(cudaMemset(device, 0, sizeof words));

  int factors[4] = {100, 200, 300, 400}, own_offsets[4] = {1, 2, 3, 4};
  for (int round = 0; round < 2; ++round) {
    combine<<<1, 32>>>(device);
    take();
    for (int i = 0; i < 32; ++i) {
      const int times_ten = 10 * i + i - 50, twice = 2 * i + 11;
      CHECK(words[i] ==
            times_ten + own_offsets[i % 4] * factors[i % 4] + (i % 2 == 0 ? times_ten : twice) + i + 10);
    }
    own_offsets[0] = 1000;
    CHECK_CUDA(cudaMemcpyToSymbol(offsets, own_offsets, sizeof own_offsets));
  }
  number<<<1, 40>>>(device);
  take();
  count<<<1, 1>>>(device);
  take();
  CHECK(words[0] == 3 + 2 * 48);
  CHECK(words[1] == 40);

  parent<<<1, 32>>>(device, 8);
  take();
  for (int i = 0; i < 8; ++i) CHECK(words[i] == 16 && words[8 + i] == 1);
  nested<<<1, 1>>>(device, 2050);
  take();
  CHECK(words[0] == 2049 && words[1] == cudaErrorLaunchPendingCountExceeded && words[2] == 2);
  repeat<<<1, 1>>>(device, 300);
  take();
  CHECK(words[0] == 300);
  refused<<<1, 1>>>(device);
  take();
  CHECK(words[0] == 0 && words[1] != 0 && words[2] == words[1] && words[3] == 0);
  CHECK_CUDA(cudaFree(device));
  std::puts("passed");
}
