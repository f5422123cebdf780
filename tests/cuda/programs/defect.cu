// A kernel that writes behind its buffer: what the program is told, in which order, and that it cannot go on.
// Of its name, which is some hundred characters long, messages leave out what they can.
#include "check.hpp"

template <typename... T>
struct List {};
using Long =
    List<List<unsigned long long>, List<unsigned long long, double>, List<unsigned long long, float>>;

template <typename T>
__global__ void store(T* data, int n, List<Long, Long>) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) data[i] = i;  // one too many
}

int main(int argc, char**) {
  int* data = nullptr;
  CHECK_CUDA(cudaMalloc(&data, 1000 * sizeof(int)));
  store<<<4, 256>>>(data, 1000, List<Long, Long>());
  CHECK_CUDA(cudaGetLastError());  // the launch itself was fine
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaSuccess);
  void* more = nullptr;
  CHECK(cudaMalloc(&more, 8) == cudaErrorIllegalAddress);  // nothing works any more
  int count = 0;
  CHECK_CUDA(cudaGetDeviceCount(&count));  // but for what needs no device
  std::printf("defect seen\n");
  if (argc > 1) std::abort();
}
