// Every way to launch: from a static initialiser, with arguments that launch themselves, by host stub and by
// handle, with launch attributes, cooperative; in streams of two host threads; as nodes of graphs.
#include <thread>
#include <vector>

#include <cooperative_groups.h>

#include "check.hpp"

__global__ void add(int* sum, int value) { atomicAdd(sum, value); }

__global__ void meet(int* sum, int* seen) {
  if (threadIdx.x == 0) atomicAdd(sum, 1);
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) seen[blockIdx.x] = *reinterpret_cast<volatile int*>(sum);
}

__global__ void __launch_bounds__(128) bounded(int* sum) { atomicAdd(sum, 1); }

__global__ void dynamic(int* sum) {
  extern __shared__ int room[];
  room[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    int all = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) all += room[i];
    atomicAdd(sum, all);
  }
}

namespace {

int value_of(const int* device) {
  int value = 0;
  CHECK_CUDA(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

int* new_sum() {
  int* sum = nullptr;
  CHECK_CUDA(cudaMalloc(&sum, sizeof *sum));
  CHECK_CUDA(cudaMemset(sum, 0, sizeof *sum));
  return sum;
}

struct Early {
  int value;
  Early() {
    int* sum = new_sum();
    add<<<1, 32>>>(sum, 2);
    value = value_of(sum);
  }
} early;

int launch_and_return(int* sum, int value) {
  add<<<1, 1>>>(sum, value);
  return value_of(sum);
}

void in_thread(int* sum, int times) {
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < times; ++i) add<<<2, 64, 0, stream>>>(sum, 1);
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK_CUDA(cudaStreamDestroy(stream));
  add<<<1, 5000>>>(sum, 1);  // too many threads: this thread's error alone
  CHECK(cudaGetLastError() != cudaSuccess);
}

void graphs() {
  int* sum = new_sum();
  cudaStream_t stream, other;
  cudaEvent_t fork, join;
  CHECK_CUDA(cudaStreamCreate(&stream));
  CHECK_CUDA(cudaStreamCreate(&other));
  CHECK_CUDA(cudaEventCreate(&fork));
  CHECK_CUDA(cudaEventCreate(&join));
  static int host_calls = 0;
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK_CUDA(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
  CHECK_CUDA(cudaEventRecord(fork, stream));
  CHECK_CUDA(cudaStreamWaitEvent(other, fork, 0));
  add<<<1, 1, 0, other>>>(sum, 10);
  add<<<1, 1, 0, stream>>>(sum, 100);
  CHECK_CUDA(cudaEventRecord(join, other));
  CHECK_CUDA(cudaStreamWaitEvent(stream, join, 0));
  CHECK_CUDA(cudaLaunchHostFunc(
      stream, [](void* calls) { ++*static_cast<int*>(calls); }, &host_calls));
  cudaGraph_t graph;
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK(host_calls == 0);
  size_t nodes = 0;
  CHECK_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 4);
  cudaGraphExec_t executable;
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) CHECK_CUDA(cudaGraphLaunch(executable, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(value_of(sum) == 110 && host_calls == 3);

  cudaGraph_t made;
  CHECK_CUDA(cudaGraphCreate(&made, 0));
  int value = 7;
  void* arguments[] = {&sum, &value};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(&add);
  params.gridDim = dim3(1);
  params.blockDim = dim3(2);
  params.kernelParams = arguments;
  cudaGraphNode_t first, second;
  CHECK_CUDA(cudaGraphAddKernelNode(&first, made, nullptr, 0, &params));
  CHECK_CUDA(cudaGraphAddKernelNode(&second, made, &first, 1, &params));
  cudaGraphExec_t made_executable;
  CHECK_CUDA(cudaGraphInstantiate(&made_executable, made, 0));
  value = 1;
  CHECK_CUDA(cudaGraphExecKernelNodeSetParams(made_executable, second, &params));
  CHECK_CUDA(cudaGraphLaunch(made_executable, stream));
  CHECK(value_of(sum) == 110 + 14 + 2);
}

/// What graphs keep alive goes with the last of them.
void user_objects() {
  static int gone = 0;
  cudaUserObject_t object;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK_CUDA(cudaGraphCreate(&graph, 0));
  const auto destroy = [](void* count) { ++*static_cast<int*>(count); };
  CHECK(cudaUserObjectCreate(&object, &gone, destroy, 1, 0) == cudaErrorInvalidValue);
  CHECK_CUDA(cudaUserObjectCreate(&object, &gone, destroy, 1, cudaUserObjectNoDestructorSync));
  CHECK_CUDA(cudaUserObjectRetain(object, 2));
  CHECK(cudaUserObjectRelease(object, 4) == cudaErrorInvalidValue);
  CHECK_CUDA(cudaUserObjectRelease(object, 1));
  CHECK_CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  CHECK_CUDA(cudaGraphRetainUserObject(graph, object, 1, 0));
  CHECK_CUDA(cudaGraphReleaseUserObject(graph, object, 1));
  CHECK_CUDA(cudaUserObjectRelease(object, 1));
  CHECK(cudaUserObjectRelease(object, 1) == cudaErrorInvalidValue);
  CHECK(gone == 0);
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CHECK_CUDA(cudaGraphDestroy(graph));
  CHECK(gone == 0);
  CHECK_CUDA(cudaGraphExecDestroy(executable));
  CHECK(gone == 1);
  cudaGetLastError();
}

}  // namespace

int main() {
  CHECK(early.value == 64);
  int* sum = new_sum();

  add<<<1, 1>>>(sum, launch_and_return(sum, 3));
  CHECK(value_of(sum) == 6);

  int value = 10;
  void* arguments[] = {&sum, &value};
  CHECK_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(&add), dim3(1), dim3(2), arguments, 0, nullptr));
  cudaKernel_t handle;
  CHECK_CUDA(cudaGetKernel(&handle, reinterpret_cast<const void*>(&add)));
  CHECK_CUDA(
      cudaLaunchKernel(reinterpret_cast<const void*>(handle), dim3(1), dim3(1), arguments, 0, nullptr));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(3);
  config.blockDim = dim3(1);
  CHECK_CUDA(cudaLaunchKernelEx(&config, add, sum, 1));
  CHECK(value_of(sum) == 39);

  const int blocks = 12;
  int* seen = nullptr;
  CHECK_CUDA(cudaMalloc(&seen, blocks * sizeof(int)));
  CHECK_CUDA(cudaMemset(sum, 0, sizeof *sum));
  void* meeting[] = {&sum, &seen};
  CHECK_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&meet), dim3(blocks), dim3(64),
                                         meeting, 0, nullptr));
  std::vector<int> all(blocks);
  CHECK_CUDA(cudaMemcpy(all.data(), seen, blocks * sizeof(int), cudaMemcpyDeviceToHost));
  for (const int one : all) CHECK(one == blocks);
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&meet), dim3(1 << 20), dim3(64), meeting, 0,
                                    nullptr) == cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);

  bounded<<<1, 256>>>(sum);
  CHECK(cudaGetLastError() != cudaSuccess);
  CHECK_CUDA(cudaMemset(sum, 0, sizeof *sum));
  dynamic<<<1, 64, 64 * sizeof(int)>>>(sum);
  CHECK(value_of(sum) == 64);
  dynamic<<<1, 64, 100 << 10>>>(sum);  // more than every kernel may have
  CHECK(cudaGetLastError() != cudaSuccess);
  CHECK_CUDA(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10));
  dynamic<<<1, 64, 60 << 10>>>(sum);
  CHECK(value_of(sum) == 128);

  CHECK_CUDA(cudaMemset(sum, 0, sizeof *sum));
  std::thread one(in_thread, sum, 50), two(in_thread, sum, 70);
  one.join();
  two.join();
  CHECK(value_of(sum) == 120 * 128);
  CHECK_CUDA(cudaGetLastError());
  graphs();
  user_objects();
  std::printf("launches ok\n");
}
