// Sums numbers: each block in shared memory, the blocks' sums by the host. The addressing of the first kernel
// is the one that comes to mind first, that of the second avoids its bank conflicts. Checks both and times
// them. See README.md.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_CUDA(call)                                                                   \
  do {                                                                                     \
    const cudaError_t status = (call);                                                     \
    if (status != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      std::exit(EXIT_FAILURE);                                                             \
    }                                                                                      \
  } while (false)

constexpr int threads = 256;

__global__ void reduce_interleaved(const float* in, float* out, int n) {
  __shared__ float sums[threads];
  const int i = blockIdx.x * threads + threadIdx.x;
  sums[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int stride = 1; stride < threads; stride *= 2) {
    const int at = 2 * stride * threadIdx.x;
    if (at < threads) sums[at] += sums[at + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

__global__ void reduce_sequential(const float* in, float* out, int n) {
  __shared__ float sums[threads];
  const int i = blockIdx.x * threads + threadIdx.x;
  sums[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int stride = threads / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

using Kernel = void (*)(const float*, float*, int);

void run(const char* name, Kernel kernel, const float* in, float* out, int n, double expected) {
  const int blocks = (n + threads - 1) / threads;
  cudaEvent_t start, stop;
  CHECK_CUDA(cudaEventCreate(&start));
  CHECK_CUDA(cudaEventCreate(&stop));
  CHECK_CUDA(cudaEventRecord(start));
  kernel<<<blocks, threads>>>(in, out, n);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaEventRecord(stop));
  CHECK_CUDA(cudaEventSynchronize(stop));
  float milliseconds = 0;
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK_CUDA(cudaEventDestroy(start));
  CHECK_CUDA(cudaEventDestroy(stop));

  std::vector<float> sums(blocks);
  CHECK_CUDA(cudaMemcpy(sums.data(), out, sums.size() * sizeof(float), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (const float part : sums) sum += part;
  if (std::fabs(sum - expected) > 1e-5 * expected) {
    std::fprintf(stderr, "%s: wrong: %g instead of %g\n", name, sum, expected);
    std::exit(EXIT_FAILURE);
  }
  std::printf("%s: correct, %.3f ms\n", name, milliseconds);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 18;
  if (n <= 0) {
    std::fprintf(stderr, "usage: reduction [N]\n");
    return EXIT_FAILURE;
  }
  std::vector<float> numbers(n);
  double expected = 0;
  for (int i = 0; i < n; ++i) expected += numbers[i] = static_cast<float>(i % 7);
  float *in = nullptr, *out = nullptr;
  CHECK_CUDA(cudaMalloc(&in, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&out, (n + threads - 1) / threads * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(in, numbers.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  run("interleaved", reduce_interleaved, in, out, n, expected);
  run("sequential", reduce_sequential, in, out, n, expected);
  CHECK_CUDA(cudaFree(in));
  CHECK_CUDA(cudaFree(out));
}
