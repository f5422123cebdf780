// Graphs that take memory and give it back, that decide what to run, and what is asked of their nodes. What
// is said here holds on an H100.
#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "check.hpp"

__global__ void add(int* sum, int value) { atomicAdd(sum, value); }
__global__ void copy_sum(int* to, const int* from) { *to = *from; }

__global__ void count_down(int* left, int* rounds, cudaGraphConditionalHandle handle) {
  ++*rounds;
  cudaGraphSetConditional(handle, --*left > 0);
}
__global__ void choose(cudaGraphConditionalHandle handle, const unsigned* value) {
  cudaGraphSetConditional(handle, *value);
}

int value_of(const int* device) {
  int value = -1;
  CHECK_CUDA(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

/// Where a captured set goes is not looked at (seen on an H200): libraries put the address in later.
void sets_without_an_address(int* result, cudaStream_t stream) {
  cudaGraph_t graph;
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK_CUDA(cudaMemsetAsync(reinterpret_cast<void*>(0x80), 1, sizeof(int), stream));
  // What is refused meanwhile spoils nothing.
  CHECK(cudaMemcpyAsync(result, reinterpret_cast<void*>(0x80), 4, cudaMemcpyDeviceToDevice, stream) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemset2DAsync(result, 4, 0, 8, 2, stream) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t node;
  size_t count = 1;
  CHECK_CUDA(cudaGraphGetNodes(graph, &node, &count));
  cudaMemsetParams params;
  CHECK_CUDA(cudaGraphMemsetNodeGetParams(node, &params));
  CHECK(params.dst == reinterpret_cast<void*>(0x80));
  params.dst = result;
  CHECK_CUDA(cudaGraphMemsetNodeSetParams(node, &params));
  cudaGraphExec_t exec;
  CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CHECK_CUDA(cudaGraphLaunch(exec, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(value_of(result) == 0x01010101);
  CHECK_CUDA(cudaGraphExecDestroy(exec));
  CHECK_CUDA(cudaGraphDestroy(graph));
}

void memory(int* result, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  int* sum = nullptr;
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK_CUDA(cudaMallocAsync(&sum, 1000, stream));
  CHECK_CUDA(cudaMemsetAsync(sum, 0, 1000, stream));
  add<<<1, 32, 0, stream>>>(sum, 3);
  copy_sum<<<1, 1, 0, stream>>>(result, sum);
  CHECK_CUDA(cudaFreeAsync(sum, stream));
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) {
    CHECK_CUDA(cudaMemset(result, 0, sizeof *result));
    CHECK_CUDA(cudaGraphLaunch(executable, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(value_of(result) == 96);
  }
  CHECK(cudaFree(sum) == cudaErrorInvalidValue);  // it is gone until the graph runs again
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  unsigned long long used = 1;
  CHECK_CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  CHECK(used == 32 << 20);  // kept for the next launch
  CHECK_CUDA(cudaDeviceGraphMemTrim(0));
  CHECK_CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  CHECK(used == 0);
  CHECK_CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
  CHECK(used == 32 << 20);
  cudaGraph_t copy;
  CHECK(cudaGraphClone(&copy, graph) == cudaErrorNotSupported);
  cudaGraphExec_t second;
  CHECK(cudaGraphInstantiate(&second, graph, 0) == cudaErrorNotSupported);
  CHECK(cudaGetLastError() == cudaErrorNotSupported);

  cudaGraphNode_t nodes[8];
  size_t count = 8;
  CHECK_CUDA(cudaGraphGetNodes(graph, nodes, &count));
  CHECK(count == 5);
  cudaGraphNodeType type;
  CHECK_CUDA(cudaGraphNodeGetType(nodes[4], &type));
  CHECK(type == cudaGraphNodeTypeMemFree);
  void* freed = nullptr;
  CHECK_CUDA(cudaGraphMemFreeNodeGetParams(nodes[4], &freed));
  CHECK(freed == sum);
  CHECK_CUDA(cudaGraphExecDestroy(executable));
  CHECK_CUDA(cudaGraphDestroy(graph));

  // Memory that outlives the launch is to be freed before the next.
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK_CUDA(cudaMallocAsync(&sum, 1000, stream));
  CHECK(cudaFreeAsync(result, stream) == cudaErrorInvalidValue);  // no memory of a graph
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  for (const unsigned long long flags : {0, int{cudaGraphInstantiateFlagAutoFreeOnLaunch}}) {
    CHECK_CUDA(cudaGraphInstantiate(&executable, graph, flags));
    CHECK_CUDA(cudaGraphLaunch(executable, stream));
    CHECK(cudaGraphLaunch(executable, stream) == (flags == 0 ? cudaErrorInvalidValue : cudaSuccess));
    CHECK_CUDA(cudaMemsetAsync(sum, 0, 1000, stream));
    CHECK_CUDA(cudaFreeAsync(sum, stream));
    CHECK_CUDA(cudaGraphLaunch(executable, stream));
    CHECK_CUDA(cudaFreeAsync(sum, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK_CUDA(cudaGraphExecDestroy(executable));
  }
  CHECK_CUDA(cudaGraphDestroy(graph));
  cudaGetLastError();
}

void nodes(int* sum) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK_CUDA(cudaGraphCreate(&graph, 0));
  int value = 5;
  void* arguments[] = {&sum, &value};
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeKernel;
  params.kernel.func = reinterpret_cast<void*>(&add);
  params.kernel.gridDim = dim3(2);
  params.kernel.blockDim = dim3(1);
  params.kernel.kernelParams = arguments;
  cudaGraphNode_t first, second;
  CHECK_CUDA(cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &params));
  CHECK_CUDA(cudaGraphAddNode(&second, graph, &first, nullptr, 1, &params));
  cudaLaunchAttributeValue attribute = {};
  attribute.priority = -1;
  CHECK_CUDA(cudaGraphKernelNodeSetAttribute(first, cudaLaunchAttributePriority, &attribute));
  CHECK_CUDA(cudaGraphKernelNodeCopyAttributes(second, first));
  attribute.priority = 0;
  CHECK_CUDA(cudaGraphKernelNodeGetAttribute(second, cudaLaunchAttributePriority, &attribute));
  CHECK(attribute.priority == -1);
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  value = 7;
  CHECK_CUDA(cudaGraphExecNodeSetParams(executable, second, &params));
  CHECK_CUDA(cudaMemset(sum, 0, sizeof *sum));
  CHECK_CUDA(cudaGraphLaunch(executable, 0));
  CHECK(value_of(sum) == 2 * 5 + 2 * 7);
  params.type = cudaGraphNodeTypeHost;
  CHECK(cudaGraphNodeSetParams(second, &params) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK_CUDA(cudaGraphDebugDotPrint(graph, "graphs.dot", 0));
  std::ifstream file("graphs.dot");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.find("add") != std::string::npos && text.find("->") != std::string::npos);
  CHECK_CUDA(cudaGraphExecDestroy(executable));
  CHECK_CUDA(cudaGraphDestroy(graph));
}

/// A node that runs other graphs, in a new graph.
struct Decision {
  cudaGraph_t graph;
  cudaGraphConditionalHandle handle;
  cudaGraphNode_t node;
  cudaGraph_t* bodies;
  Decision(cudaGraphConditionalNodeType type, unsigned size, unsigned first) {
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    CHECK_CUDA(cudaGraphConditionalHandleCreate(&handle, graph, first, cudaGraphCondAssignDefault));
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
  }
  void add_after(const cudaGraphNode_t* before) {
    CHECK_CUDA(cudaGraphAddNode(&node, graph, before, nullptr, before == nullptr ? 0 : 1, &params));
    bodies = params.conditional.phGraph_out;
  }
  cudaGraphNodeParams params = {};
};

void decisions(int* numbers, cudaStream_t stream) {
  cudaGraphExec_t executable;
  {
    Decision loop(cudaGraphCondTypeWhile, 1, 1);
    loop.add_after(nullptr);
    CHECK_CUDA(cudaStreamBeginCaptureToGraph(stream, loop.bodies[0], nullptr, nullptr, 0,
                                             cudaStreamCaptureModeGlobal));
    count_down<<<1, 1, 0, stream>>>(numbers, numbers + 1, loop.handle);
    CHECK_CUDA(cudaStreamEndCapture(stream, nullptr));
    CHECK_CUDA(cudaGraphInstantiate(&executable, loop.graph, 0));
    for (const int rounds : {5, 1}) {
      const int start[] = {rounds, 0};
      CHECK_CUDA(cudaMemcpy(numbers, start, sizeof start, cudaMemcpyHostToDevice));
      CHECK_CUDA(cudaGraphLaunch(executable, stream));
      CHECK_CUDA(cudaStreamSynchronize(stream));
      CHECK(value_of(numbers) == 0 && value_of(numbers + 1) == rounds);
    }
    CHECK_CUDA(cudaGraphExecDestroy(executable));
    cudaGraphNodeType type;
    CHECK_CUDA(cudaGraphNodeGetType(loop.node, &type));
    CHECK(type == cudaGraphNodeTypeConditional);
    CHECK_CUDA(cudaGraphDestroy(loop.graph));
  }
  struct Case {
    cudaGraphConditionalNodeType type;
    unsigned size, value;
    int result;  ///< of the bodies, of which body i adds 10^i
  };
  for (const Case& one : {Case{cudaGraphCondTypeIf, 1, 0, 0}, Case{cudaGraphCondTypeIf, 1, 9, 1},
                          Case{cudaGraphCondTypeIf, 2, 0, 10}, Case{cudaGraphCondTypeIf, 2, 1, 1},
                          Case{cudaGraphCondTypeSwitch, 3, 2, 100}, Case{cudaGraphCondTypeSwitch, 3, 3, 0}}) {
    Decision decision(one.type, one.size, 0);
    int* value = numbers + 1;
    void* arguments[] = {&decision.handle, &value};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void*>(&choose);
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    cudaGraphNode_t before;
    CHECK_CUDA(cudaGraphAddKernelNode(&before, decision.graph, nullptr, 0, &kernel));
    decision.add_after(&before);
    int* sum = numbers;
    for (unsigned i = 0, power = 1; i < one.size; ++i, power *= 10) {
      void* added[] = {&sum, &power};
      kernel.func = reinterpret_cast<void*>(&add);
      kernel.kernelParams = added;
      cudaGraphNode_t inner;
      CHECK_CUDA(cudaGraphAddKernelNode(&inner, decision.bodies[i], nullptr, 0, &kernel));
    }
    const unsigned start[] = {0, one.value};
    CHECK_CUDA(cudaMemcpy(numbers, start, sizeof start, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaGraphInstantiate(&executable, decision.graph, 0));
    CHECK_CUDA(cudaGraphLaunch(executable, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(value_of(numbers) == one.result);
    CHECK_CUDA(cudaGraphExecDestroy(executable));
    CHECK_CUDA(cudaGraphDestroy(decision.graph));
  }
  Decision wrong(cudaGraphCondTypeWhile, 2, 0);
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, wrong.graph, nullptr, nullptr, 0, &wrong.params) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK_CUDA(cudaGraphDestroy(wrong.graph));
}

int main() {
  int* numbers = nullptr;
  cudaStream_t stream;
  CHECK_CUDA(cudaMalloc(&numbers, 64));
  CHECK_CUDA(cudaStreamCreate(&stream));
  sets_without_an_address(numbers, stream);
  memory(numbers, stream);
  nodes(numbers);
  decisions(numbers, stream);
  std::printf("graphs ok\n");
}
