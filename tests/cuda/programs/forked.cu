// What is left of CUDA in a process that fork() made: what each call returns and what the runtime's last
// error is then, after the parent has called only the driver, or the runtime. forked.txt is what an H200
// printed (driver 580, CUDA 13.0).
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

__global__ void k() {}

int main() {
  int n;
  unsigned flags;
  float ms;
  void* p;
  cudaDeviceProp prop{};
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr, fresh = nullptr, other;
  CUcontext context;
  struct Call {
    std::string name;
    std::function<int()> call;
  };
#define C(call)                      \
  Call {                             \
#call, [&] { return int(call); } \
  }
  std::vector<Call> calls = {
      C(cudaGetDeviceCount(&n)),
      C(cudaGetDevice(&n)),
      C(cudaSetDevice(0)),
      C(cudaInitDevice(0, 0, 0)),
      C(cudaDriverGetVersion(&n)),
      C(cudaRuntimeGetVersion(&n)),
      C(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0)),
      C(cudaGetDeviceProperties(&prop, 0)),
      C(cudaDeviceSynchronize()),
      C(cudaGetDeviceFlags(&flags)),
      C(cudaSetDeviceFlags(0)),
      C(cudaChooseDevice(&n, &prop)),
      C(cudaSetValidDevices(&n, 0)),
      C(cudaDeviceCanAccessPeer(&n, 0, 0)),
      C(cudaGetLastError()),
      C(cudaMalloc(&p, 4)),
      C(cudaFree(nullptr)),
      C(cudaEventCreate(&other)),
      C(cudaEventQuery(nullptr)),
      C(cudaStreamQuery(nullptr)),
      C(cuInit(0)),
      C(cuDeviceGetCount(&n)),
      C(cuCtxGetCurrent(&context)),
  };
  const std::vector<Call> calls_of_objects = {
      C(cudaEventQuery(done)),          C(cudaEventQuery(fresh)),
      C(cudaEventSynchronize(done)),    C(cudaEventElapsedTime(&ms, done, done)),
      C(cudaEventRecord(done, stream)), C(cudaStreamQuery(stream)),
      C(cudaStreamSynchronize(stream)),
  };
#undef C
  const std::vector<Call> parents = {
      {"cuInit", [&] { return int(cuInit(0)); }},
      {"cuDeviceGetCount", [&] { return cuInit(0) | cuDeviceGetCount(&n); }},
      {"cuCtxSetCurrent",
       [&] { return cuInit(0) | cuDevicePrimaryCtxRetain(&context, 0) | cuCtxSetCurrent(context); }},
      {"cudaGetDeviceCount", [&] { return int(cudaGetDeviceCount(&n)); }},
      {"cudaGetLastError", [&] { return int(cudaGetLastError()); }},
      {"cudaFree", [&] { return int(cudaFree(nullptr)); }},
      {"cudaDriverGetVersion", [&] { return int(cudaDriverGetVersion(&n)); }},
      {"a kernel",
       [&] {
         cudaStreamCreate(&stream);
         cudaEventCreate(&done);
         cudaEventCreate(&fresh);
         k<<<1, 1, 0, stream>>>();
         cudaEventRecord(done, stream);
         calls.insert(calls.end(), calls_of_objects.begin(), calls_of_objects.end());
         return int(cudaDeviceSynchronize());
       }},
  };
  for (const Call& parent : parents) {
    if (fork() != 0) {
      wait(nullptr);
      continue;
    }
    printf("after %s: %d\n", parent.name.c_str(), parent.call());
    for (const Call& call : calls) {
      fflush(stdout);
      if (fork() == 0) {
        const int status = call.call();
        const bool of_runtime = call.name.compare(0, 4, "cuda") == 0;
        printf("  %s: %d", call.name.c_str(), status);
        if (of_runtime) printf(" last %d", int(cudaPeekAtLastError()));
        printf("\n");
        fflush(stdout);
        _exit(0);
      }
      wait(nullptr);
    }
    fflush(stdout);
    _exit(0);
  }
}
