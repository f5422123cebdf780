// What each call of the runtime begins, as the first one of a process: what it returns, the primary context's
// state, the thread's current context, the number of devices. begin.txt is what an H200 printed (driver 580,
// CUDA 13.0).
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

__global__ void k() {}

int main() {
  int i, n;
  size_t z;
  char text[64];
  void* p;
  cudaDeviceProp prop;
  cudaPointerAttributes at;
  cudaFuncAttributes fa;
  cudaMemPool_t pool;
  cudaStreamCaptureStatus cs;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaGraph_t g;
  cudaStream_t s;
  cudaEvent_t e;
  cudaUserObject_t u;
  unsigned f;
  unsigned long long id;
  std::vector<std::pair<std::string, std::function<int()>>> calls = {
      {"nothing", [&] { return 0; }},
#define C(x)                     \
  {                              \
#x, [&] { return (int)(x); } \
  }
      C(cudaGetDeviceCount(&n)),
      C(cudaGetDevice(&i)),
      C(cudaDeviceGetAttribute(&i, cudaDevAttrWarpSize, 0)),
      C(cudaGetDeviceProperties(&prop, 0)),
      C(cudaDriverGetVersion(&i)),
      C(cudaRuntimeGetVersion(&i)),
      C(cudaGetLastError()),
      C(cudaPeekAtLastError()),
      C((cudaGetErrorString(cudaSuccess), 0)),
      C(cudaSetDevice(0)),
      C(cudaInitDevice(0, 0, 0)),
      C(cudaDeviceGetPCIBusId(text, 64, 0)),
      C(cudaDeviceGetByPCIBusId(&i, "ffff:ff:1f.7")),
      C(cudaChooseDevice(&i, &prop)),
      C(cudaGetDeviceFlags(&f)),
      C(cudaSetDeviceFlags(cudaDeviceScheduleSpin)),
      C(cudaSetValidDevices(&(n = 0), 1)),
      C(cudaDeviceCanAccessPeer(&i, 0, 0)),
      C(cudaPointerGetAttributes(&at, &i)),
      C(cudaStreamIsCapturing(nullptr, &cs)),
      C(cudaThreadExchangeStreamCaptureMode(&mode)),
      C(cudaFuncGetAttributes(&fa, k)),
      C(cudaDeviceGetDefaultMemPool(&pool, 0)),
      C(cudaDeviceGetLimit(&z, cudaLimitStackSize)),
      C(cudaDeviceGetStreamPriorityRange(&i, &n)),
      C((cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindSigned), 0)),
      C(cudaProfilerStart()),
      C(cudaGetDriverEntryPointByVersion("cuInit", &p, 13000, cudaEnableDefault, nullptr)),
      C(cudaMemGetInfo(&z, &z)),
      C(cudaGraphCreate(&g, 0)),
      C(cudaUserObjectCreate(
          &u, &i, [](void*) {}, 1, cudaUserObjectNoDestructorSync)),
      C(cudaDeviceReset()),
      C(cudaDeviceSynchronize()),
      C(cudaStreamCreate(&s)),
      C(cudaEventCreate(&e)),
      C(cudaMalloc(&p, 4)),
      C(cudaFree(nullptr)),
      C(cudaFreeHost(nullptr)),
      C(cudaStreamGetId(nullptr, &id)),
      C(cudaStreamQuery(nullptr)),
      C(cudaDeviceGetP2PAttribute(&i, cudaDevP2PAttrAccessSupported, 0, 0)),
      C(cudaGetDevice(nullptr)),
      C(cudaSetDevice(99)),
      C(cudaDeviceGetAttribute(&i, cudaDevAttrWarpSize, 99)),
      C(cudaGetDeviceCount(nullptr)),
      C(cudaDeviceGetCacheConfig((cudaFuncCache*)&i)),
      C(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&i, k, 32, 0)),
      C(cudaMemcpy(&i, &n, 4, cudaMemcpyHostToHost)),
      C(cudaHostRegister(text, 64, 0)),
      C(cudaDeviceGetMemPool(&pool, 0)),
      C(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &id)),
      C(cudaCtxResetPersistingL2Cache()),
  };
  for (auto& [name, call] : calls) {
    if (fork() == 0) {
      int status = call();
      unsigned flags = 77;
      int active = -1;
      CUcontext c = (CUcontext)1;
      int a = cuDevicePrimaryCtxGetState(0, &flags, &active);
      int b = cuCtxGetCurrent(&c);
      int count = -1;
      int d = cuDeviceGetCount(&count);
      printf("%s: %d | state %d flags %u active %d | current %d %d | count %d %d\n", name.c_str(), status, a,
             a ? 0 : flags, active, b, c != nullptr, d, count);
      fflush(stdout);
      _exit(0);
    }
    wait(nullptr);
  }
}
