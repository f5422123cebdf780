// A program of CUDA 13.5 and its header: parameters of a graph's nodes as that declares them, and launches
// that ask for what only some chips give.
#include <cuda_runtime.h>

#include <cstdio>

#include "check.hpp"

namespace {

__global__ void fill(int* out, int value) {
  extern __shared__ int words[];
  words[threadIdx.x] = value;
  __syncthreads();
  out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}

void count(void* runs) { ++*static_cast<int*>(runs); }

}  // namespace

int main() {
  int version = 0, runs = 0, value = 5;
  CHECK(cudaRuntimeGetVersion(&version) == cudaSuccess && version == CUDART_VERSION);
  int* memory = nullptr;
  CHECK(cudaMallocManaged(&memory, 32 * sizeof(int)) == cudaSuccess);

  cudaGraph_t graph = nullptr;
  cudaGraphNode_t kernel = nullptr, host = nullptr;
  cudaGraphExec_t executable = nullptr;
  void* arguments[] = {&memory, &value};
  cudaGraphNodeParams params{}, got{};
  params.type = cudaGraphNodeTypeKernel;
  params.kernel.func = reinterpret_cast<void*>(fill);
  params.kernel.functionType = cudaKernelFunctionTypeDeviceEntry;
  params.kernel.gridDim = {1, 1, 1};
  params.kernel.blockDim = {32, 1, 1};
  params.kernel.sharedMemBytes = 128;
  params.kernel.kernelParams = arguments;
  CHECK(cudaGraphCreate(&graph) == cudaSuccess);
  CHECK(cudaGraphAddNode(&kernel, graph, nullptr, nullptr, 0, &params) == cudaSuccess);
  CHECK(cudaGraphNodeGetParams(kernel, &got) == cudaSuccess && got.type == cudaGraphNodeTypeKernel);
  CHECK(got.kernel.func == params.kernel.func && got.kernel.blockDim.x == 32 &&
        got.kernel.sharedMemBytes == 128);
  CHECK(got.kernel.functionType == cudaKernelFunctionTypeDeviceEntry);
  params = {};
  params.type = cudaGraphNodeTypeHost;
  params.host.fn = count;
  params.host.userData = &runs;
  params.host.syncMode = cudaHostTaskSpinWait;
  CHECK(cudaGraphAddNode(&host, graph, &kernel, nullptr, 1, &params) == cudaSuccess);
  CHECK(cudaGraphInstantiate(&executable, graph) == cudaSuccess);
  CHECK(cudaGraphLaunch(executable, nullptr) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
  CHECK(memory[0] == 5 && memory[31] == 5 && runs == 1);

  cudaLaunchAttribute mode{};
  mode.id = cudaLaunchAttributeSharedMemoryMode;
  mode.val.sharedMemoryMode = cudaSharedMemoryModeAllowNonPortable;
  cudaLaunchConfig_t launch{};
  launch.gridDim = {1, 1, 1};
  launch.blockDim = {32, 1, 1};
  launch.dynamicSmemBytes = 100 * 1024;
  CHECK(cudaLaunchKernelEx(&launch, fill, memory, 6) == cudaErrorInvalidValue);
  launch.attrs = &mode;
  launch.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&launch, fill, memory, 6) == cudaSuccess);
  CHECK(cudaLaunchHostFunc_v2(nullptr, count, &runs, cudaHostTaskBlocking) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && memory[7] == 6 && runs == 2);

  cudaFuncAttributes attributes{};
  CHECK(cudaFuncSetAttribute(fill, cudaFuncAttributeSharedMemoryMode, cudaSharedMemoryModeRequirePortable) ==
        cudaSuccess);
  CHECK(cudaFuncGetAttributes(&attributes, fill) == cudaSuccess);
  CHECK(attributes.sharedMemoryMode == cudaSharedMemoryModeRequirePortable);
  cudaPointerAttributes of_memory{};
  CHECK(cudaPointerGetAttributes(&of_memory, memory) == cudaSuccess && of_memory.localityDomainOrdinal == -1);
  std::puts("newest ok");
  return 0;
}
