// Where what kernels print lies in the output of a program: as an H200 has it, which loses what nobody waits
// for.
#include <cstdio>

__global__ void say(int number) { printf("  kernel %d\n", number); }

static void CUDART_CB host(void*) { std::printf("  host function\n"); }

int main() {
  int *memory, *other, values[64] = {}, number = 0;
  cudaMalloc(&memory, sizeof values);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreate(&event);
  const auto launch = [&](const char* what) {
    cudaDeviceSynchronize();
    std::printf("%s\n", what);
    say<<<1, 1, 0, stream>>>(++number);
    std::printf("  launched\n");
  };
  launch("stream");
  cudaStreamSynchronize(stream);
  std::printf("  done\n");
  launch("event");
  cudaEventRecord(event, stream);
  cudaEventSynchronize(event);
  std::printf("  done\n");
  launch("query");
  while (cudaStreamQuery(stream) != cudaSuccess) {
  }
  std::printf("  done\n");
  launch("copy");
  cudaStreamQuery(stream);
  while (cudaStreamQuery(stream) != cudaSuccess) {
  }
  cudaMemcpy(values, memory, sizeof values, cudaMemcpyDeviceToHost);
  std::printf("  done\n");
  launch("host function");
  cudaLaunchHostFunc(stream, host, nullptr);
  cudaDeviceSynchronize();
  std::printf("  done\n");
  launch("free");
  while (cudaStreamQuery(stream) != cudaSuccess) {
  }
  cudaMalloc(&other, 64);
  cudaFree(other);
  std::printf("  done\n");
  launch("reset");
  cudaDeviceReset();
  std::printf("  done\n");
  say<<<1, 1>>>(100);
  std::printf("end\n");
}
