// A kernel that runs for ever, after one launch of it that ended; the program is interrupted then, as by
// `timeout`, whose signal comes to a group and once more through `lanescope run`.
#include <csignal>
#include <thread>

#include <unistd.h>

#include "check.hpp"

__global__ void endless(int* out, bool forever) {
  int sum = 0;
  for (long i = 0; i < 10 || forever; ++i) sum += __shfl_xor_sync(0xffffffff, static_cast<int>(i) ^ sum, 1);
  out[threadIdx.x] = sum;
}

int main() {
  int* out = nullptr;
  CHECK_CUDA(cudaMalloc(&out, 32 * sizeof(int)));
  endless<<<4, 32>>>(out, false);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    kill(getpid(), SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kill(getpid(), SIGINT);
  }).detach();
  endless<<<4, 32>>>(out, true);
  return 0;
}
