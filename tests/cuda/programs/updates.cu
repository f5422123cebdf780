// Which graphs the executable of another one can become (cudaGraphExecUpdate), and what is said of those it
// cannot. updates.txt is what an H100 printed (CUDA 13.0).
#include <cuda_runtime.h>

#include <cstdio>
#include <functional>

__global__ void plain(int* p) {
  if (p != nullptr) *p = 1;
}
__global__ void other(int* p) {
  if (p != nullptr) *p = 2;
}
__global__ void with_number(int* p, int number) {
  if (p != nullptr) *p = number;
}

namespace {

using Make = std::function<void(cudaGraph_t)>;

int *first, *second;
int in_host[64];
int number = 5;
void *with_first[] = {&first}, *with_second[] = {&second}, *with_both[] = {&first, &number};
void* const is_plain = reinterpret_cast<void*>(plain);
void* const is_other = reinterpret_cast<void*>(other);

cudaGraphNode_t add_kernel(cudaGraph_t graph, void* function, void** arguments, int threads = 1,
                           int bytes = 0) {
  cudaKernelNodeParams params{};
  params.func = function;
  params.gridDim = dim3(1);
  params.blockDim = dim3(threads);
  params.sharedMemBytes = bytes;
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params);
  return node;
}
Make kernel(void* function, void** arguments, int threads = 1, int bytes = 0) {
  return [=](cudaGraph_t graph) { add_kernel(graph, function, arguments, threads, bytes); };
}
Make set(void* target, int element, int width, int height) {
  return [=](cudaGraph_t graph) {
    cudaMemsetParams params{};
    params.dst = target;
    params.elementSize = element;
    params.width = width;
    params.height = height;
    params.pitch = 64;
    params.value = 1;
    cudaGraphNode_t node = nullptr;
    cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params);
  };
}
Make copy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  return [=](cudaGraph_t graph) {
    cudaGraphNode_t node = nullptr;
    cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, target, source, bytes, kind);
  };
}
Make host(cudaHostFn_t function, void* data) {
  return [=](cudaGraph_t graph) {
    const cudaHostNodeParams params{function, data};
    cudaGraphNode_t node = nullptr;
    cudaGraphAddHostNode(&node, graph, nullptr, 0, &params);
  };
}
Make record(cudaEvent_t event) {
  return [=](cudaGraph_t graph) {
    cudaGraphNode_t node = nullptr;
    cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, event);
  };
}
Make wait(cudaEvent_t event) {
  return [=](cudaGraph_t graph) {
    cudaGraphNode_t node = nullptr;
    cudaGraphAddEventWaitNode(&node, graph, nullptr, 0, event);
  };
}
Make child(const Make& inside) {
  return [=](cudaGraph_t graph) {
    cudaGraph_t part = nullptr;
    cudaGraphCreate(&part, 0);
    inside(part);
    cudaGraphNode_t node = nullptr;
    cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, part);
    cudaGraphDestroy(part);
  };
}
void none(cudaGraph_t) {}
void empty(cudaGraph_t graph) {
  cudaGraphNode_t node = nullptr;
  cudaGraphAddEmptyNode(&node, graph, nullptr, 0);
}
enum class Edge { none, forth, back };
Make two(Edge edge, void* a, void* b) {
  return [=](cudaGraph_t graph) {
    const cudaGraphNode_t n = add_kernel(graph, a, with_first), m = add_kernel(graph, b, with_first);
    if (edge == Edge::forth) cudaGraphAddDependencies(graph, &n, &m, nullptr, 1);
    if (edge == Edge::back) cudaGraphAddDependencies(graph, &m, &n, nullptr, 1);
  };
}
Make both(const Make& a, const Make& b) {
  return [=](cudaGraph_t graph) {
    a(graph);
    b(graph);
  };
}

void update(const char* what, const Make& from, const Make& to) {
  cudaGraph_t before = nullptr, after = nullptr;
  cudaGraphCreate(&before, 0);
  cudaGraphCreate(&after, 0);
  from(before);
  to(after);
  cudaGraphExec_t executable = nullptr;
  const cudaError_t made = cudaGraphInstantiate(&executable, before, 0);
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t updated = cudaGraphExecUpdate(executable, after, &info);
  std::printf("%s: %s %s %d, node %d from %d\n", what, cudaGetErrorName(made), cudaGetErrorName(updated),
              info.result, info.errorNode != nullptr, info.errorFromNode != nullptr);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(before);
  cudaGraphDestroy(after);
}

}  // namespace

int main() {
  cudaMalloc(&first, 4096);
  cudaMalloc(&second, 4096);
  cudaEvent_t event = nullptr, another = nullptr;
  cudaEventCreate(&event);
  cudaEventCreate(&another);
  const Make one = kernel(is_plain, with_first), cleared = set(first, 4, 4, 1);
  const auto on_device = cudaMemcpyDeviceToDevice, to_device = cudaMemcpyHostToDevice;

  update("same", one, kernel(is_plain, with_second));
  update("block", one, kernel(is_plain, with_second, 64));
  update("shared", one, kernel(is_plain, with_second, 64, 1000));
  update("function", one, kernel(is_other, with_first));
  update("function of two", one, kernel(reinterpret_cast<void*>(with_number), with_both));
  update("none to kernel", none, one);
  update("kernel to none", one, none);
  update("none to none", none, none);
  update("kernel to set", one, cleared);
  update("set value place", cleared, set(second, 4, 4, 1));
  update("set width", cleared, set(first, 4, 8, 1));
  update("set element", cleared, set(first, 2, 4, 1));
  update("set rows", cleared, set(first, 4, 4, 2));
  update("set rows 2 to 3", set(first, 4, 4, 2), set(first, 4, 4, 3));
  update("copy place", copy(first, second, 64, on_device), copy(second, first, 64, on_device));
  update("copy size", copy(first, second, 64, on_device), copy(first, second, 128, on_device));
  update("copy kind", copy(first, second, 64, on_device), copy(first, in_host, 64, to_device));
  update("copy kind default", copy(first, in_host, 64, to_device),
         copy(first, in_host, 64, cudaMemcpyDefault));
  update("host", host([](void*) {}, nullptr), host([](void*) { ++number; }, first));
  update("event", record(event), record(another));
  update("record to wait", record(event), wait(event));
  update("wait", wait(event), wait(another));
  update("two to two", two(Edge::none, is_plain, is_other), two(Edge::none, is_plain, is_other));
  update("edge to none", two(Edge::forth, is_plain, is_other), two(Edge::none, is_plain, is_other));
  update("none to edge", two(Edge::none, is_plain, is_other), two(Edge::forth, is_plain, is_other));
  update("edge the other way", two(Edge::forth, is_plain, is_other), two(Edge::back, is_plain, is_other));
  update("two exchanged", two(Edge::none, is_plain, is_other), two(Edge::none, is_other, is_plain));
  update("two to one", two(Edge::none, is_plain, is_other), one);
  update("one to two", one, two(Edge::none, is_plain, is_other));
  update("child same", child(one), child(kernel(is_plain, with_second)));
  update("child function", child(one), child(kernel(is_other, with_second)));
  update("child kind", child(one), child(cleared));
  update("child to kernel", child(one), one);
  update("child count", child(one), child(none));
  update("empty to kernel", empty, one);
  update("kernel to empty", one, empty);
  update("empty", empty, empty);
  update("kernel and set exchanged", both(one, cleared), both(cleared, one));
}
