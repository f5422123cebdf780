// Graphs. Nodes are the runtime's; copies and kernels of the second version are described differently.
#include "cuda/runtime/graph.hpp"
#include "cuda/driver/api.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/runtime/calls.hpp"

namespace lanescope::cuda {
namespace {

/// Runs `body` with a kernel's node as the runtime describes it.
template <typename F>
Status with_kernel(const DriverKernelNode* node, F&& body) {
  return in_context([&] {
    if (node == nullptr) return Status::invalid_value;
    KernelNodeParams params = node->common;
    if (params.function == nullptr) params.function = node->kernel;
    return body(params);
  });
}

/// CUgraphNodeParams, as far as the runtime has the parameters otherwise.
struct DriverNodeParams {
  NodeType type;
  int reserved[3];
  union {
    long long room[30];
    DriverKernelNode kernel;
    struct {
      int flags, reserved;
      Context* context;
      DriverCopy3D box;
    } copy;
  };
};
static_assert(sizeof(DriverNodeParams) == 256);

/// The driver has types that the runtime calls empty.
Status type_of(const Node* node, NodeType* type) {
  const Status status = cudaGraphNodeGetType(node, type);
  if (status == Status::success) *type = node->type();
  return status;
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_PASS_2(cuGraphCreate, cudaGraphCreate, by_driver)
LANESCOPE_PASS_1(cuGraphDestroy, cudaGraphDestroy, by_driver)
LANESCOPE_PASS_2(cuGraphClone, cudaGraphClone, by_driver)
LANESCOPE_PASS_3(cuGraphNodeFindInClone, cudaGraphNodeFindInClone, by_driver)
LANESCOPE_PASS_5(cuGraphAddKernelNode, cudaGraphAddKernelNode, by_context)
LANESCOPE_PASS_5(cuGraphAddHostNode, cudaGraphAddHostNode, by_driver)
LANESCOPE_PASS_4(cuGraphAddEmptyNode, cudaGraphAddEmptyNode, by_driver)
LANESCOPE_PASS_5(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode, by_driver)
LANESCOPE_PASS_5(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode, by_driver)
LANESCOPE_PASS_5(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode, by_driver)
LANESCOPE_PASS_5(cuGraphAddMemAllocNode, cudaGraphAddMemAllocNode, by_context)
LANESCOPE_PASS_2(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams, by_driver)
LANESCOPE_PASS_5(cuGraphAddMemFreeNode, cudaGraphAddMemFreeNode, by_context)
LANESCOPE_PASS_5(cuGraphAddDependencies_v2, cudaGraphAddDependencies, by_driver)
LANESCOPE_PASS_5(cuGraphRemoveDependencies_v2, cudaGraphRemoveDependencies, by_driver)
LANESCOPE_PASS_1(cuGraphDestroyNode, cudaGraphDestroyNode, by_driver)
LANESCOPE_PASS_3(cuGraphGetNodes, cudaGraphGetNodes, by_driver)
LANESCOPE_PASS_3(cuGraphGetRootNodes, cudaGraphGetRootNodes, by_driver)
LANESCOPE_PASS_5(cuGraphGetEdges_v2, cudaGraphGetEdges, by_driver)
LANESCOPE_PASS_4(cuGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies, by_driver)
LANESCOPE_PASS_4(cuGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes, by_driver)
LANESCOPE_PASS_2(cuGraphNodeGetType, type_of, by_driver)
LANESCOPE_PASS_2(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph, by_driver)
LANESCOPE_PASS_2(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams, by_driver)
LANESCOPE_PASS_2(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams, by_driver)
LANESCOPE_PASS_2(cuGraphKernelNodeGetParams, cudaGraphKernelNodeGetParams, by_driver)
LANESCOPE_PASS_2(cuGraphKernelNodeSetParams, cudaGraphKernelNodeSetParams, by_context)
LANESCOPE_PASS_3(cuGraphKernelNodeSetAttribute, cudaGraphKernelNodeSetAttribute, by_driver)
LANESCOPE_PASS_3(cuGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute, by_driver)
LANESCOPE_PASS_2(cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes, by_driver)
LANESCOPE_PASS_2(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams, by_driver)
LANESCOPE_PASS_2(cuGraphNodeGetContainingGraph, cudaGraphNodeGetContainingGraph, by_driver)
LANESCOPE_PASS_2(cuGraphNodeGetLocalId, cudaGraphNodeGetLocalId, by_driver)
LANESCOPE_PASS_2(cuGraphNodeGetToolsId, cudaGraphNodeGetToolsId, by_driver)
LANESCOPE_PASS_2(cuGraphGetId, cudaGraphGetId, by_driver)
LANESCOPE_PASS_2(cuGraphExecGetId, cudaGraphExecGetId, by_driver)
LANESCOPE_PASS_3(cuGraphDebugDotPrint, cudaGraphDebugDotPrint, by_driver)
LANESCOPE_PASS_3(cuDeviceGetGraphMemAttribute, cudaDeviceGetGraphMemAttribute, by_driver)
LANESCOPE_PASS_3(cuDeviceSetGraphMemAttribute, cudaDeviceSetGraphMemAttribute, by_driver)
LANESCOPE_PASS_1(cuDeviceGraphMemTrim, cudaDeviceGraphMemTrim, by_driver)
LANESCOPE_PASS_2(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams, by_driver)
LANESCOPE_PASS_2(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams, by_context)
LANESCOPE_PASS_2(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent, by_driver)
LANESCOPE_PASS_2(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent, by_driver)
LANESCOPE_PASS_2(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent, by_driver)
LANESCOPE_PASS_2(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent, by_driver)
LANESCOPE_PASS_3(cuGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags, by_context)
LANESCOPE_PASS_3(cuGraphInstantiateWithParams, cudaGraphInstantiateWithParams, by_context)
LANESCOPE_PASS_2(cuGraphLaunch, cudaGraphLaunch, by_context)
LANESCOPE_PASS_2(cuGraphUpload, cudaGraphUpload, by_context)
LANESCOPE_PASS_1(cuGraphExecDestroy, cudaGraphExecDestroy, by_driver)
LANESCOPE_PASS_2(cuGraphExecGetFlags, cudaGraphExecGetFlags, by_driver)
LANESCOPE_PASS_3(cuGraphExecUpdate_v2, cudaGraphExecUpdate, by_context)
LANESCOPE_PASS_3(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams, by_driver)
LANESCOPE_PASS_3(cuGraphExecKernelNodeSetParams, cudaGraphExecKernelNodeSetParams, by_context)
LANESCOPE_PASS_3(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams, by_driver)
LANESCOPE_PASS_3(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent, by_driver)
LANESCOPE_PASS_3(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent, by_driver)
LANESCOPE_PASS_3(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled, by_driver)
LANESCOPE_PASS_3(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled, by_driver)

LANESCOPE_PASS_5(cuUserObjectCreate, cudaUserObjectCreate, by_driver)
LANESCOPE_PASS_2(cuUserObjectRetain, cudaUserObjectRetain, by_driver)
LANESCOPE_PASS_2(cuUserObjectRelease, cudaUserObjectRelease, by_driver)
LANESCOPE_PASS_4(cuGraphRetainUserObject, cudaGraphRetainUserObject, by_driver)
LANESCOPE_PASS_3(cuGraphReleaseUserObject, cudaGraphReleaseUserObject, by_driver)

LANESCOPE_CUDA_API Status cuGraphAddKernelNode_v2(Node** out, Graph* graph, Node* const* needs, size_t count,
                                                  const DriverKernelNode* node) {
  return with_kernel(node, [&](const KernelNodeParams& params) {
    return cudaGraphAddKernelNode(out, graph, needs, count, &params);
  });
}

LANESCOPE_CUDA_API Status cuGraphKernelNodeSetParams_v2(Node* node, const DriverKernelNode* to) {
  return with_kernel(
      to, [&](const KernelNodeParams& params) { return cudaGraphKernelNodeSetParams(node, &params); });
}

LANESCOPE_CUDA_API Status cuGraphExecKernelNodeSetParams_v2(Executable* executable, const Node* node,
                                                            const DriverKernelNode* to) {
  return with_kernel(to, [&](const KernelNodeParams& params) {
    return cudaGraphExecKernelNodeSetParams(executable, node, &params);
  });
}

LANESCOPE_CUDA_API Status cuGraphKernelNodeGetParams_v2(Node* node, DriverKernelNode* out) {
  return driver([&] {
    if (out == nullptr) return Status::invalid_value;
    *out = {};
    return cudaGraphKernelNodeGetParams(node, &out->common);
  });
}

LANESCOPE_CUDA_API Status cuGraphAddMemcpyNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                                               const DriverCopy3D* copy, Context*) {
  return with_copy(copy,
                   [&](const Copy3D& box) { return cudaGraphAddMemcpyNode(out, graph, needs, count, &box); });
}

LANESCOPE_CUDA_API Status cuGraphMemcpyNodeSetParams(Node* node, const DriverCopy3D* copy) {
  return with_copy(copy, [&](const Copy3D& box) { return cudaGraphMemcpyNodeSetParams(node, &box); });
}

LANESCOPE_CUDA_API Status cuGraphExecMemcpyNodeSetParams(Executable* executable, const Node* node,
                                                         const DriverCopy3D* copy, Context*) {
  return with_copy(
      copy, [&](const Copy3D& box) { return cudaGraphExecMemcpyNodeSetParams(executable, node, &box); });
}

LANESCOPE_CUDA_API Status cuGraphAddMemsetNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                                               const MemsetParams* params, Context*) {
  return in_context([&] { return cudaGraphAddMemsetNode(out, graph, needs, count, params); });
}

LANESCOPE_CUDA_API Status cuGraphAddNode_v2(Node** out, Graph* graph, Node* const* needs, const void* edges,
                                            size_t count, DriverNodeParams* params) {
  if (params != nullptr && params->type == NodeType::kernel)
    return cuGraphAddKernelNode_v2(out, graph, needs, count, &params->kernel);
  if (params != nullptr && params->type == NodeType::copy)
    return cuGraphAddMemcpyNode(out, graph, needs, count, &params->copy.box, params->copy.context);
  return in_context([&] {
    return cudaGraphAddNode(out, graph, needs, edges, count, reinterpret_cast<AnyNodeParams*>(params));
  });
}

/// Version 3 knows nodes that are not there besides, and is told their context.
LANESCOPE_CUDA_API Status cuGraphAddNode_v3(Node** out, Graph* graph, Node* const* needs, const void* edges,
                                            size_t count, DriverNodeParams* params) {
  return cuGraphAddNode_v2(out, graph, needs, edges, count, params);
}

LANESCOPE_CUDA_API Status cuGraphNodeSetParams(Node* node, DriverNodeParams* params) {
  if (params != nullptr && params->type == NodeType::kernel)
    return cuGraphKernelNodeSetParams_v2(node, &params->kernel);
  if (params != nullptr && params->type == NodeType::copy)
    return cuGraphMemcpyNodeSetParams(node, &params->copy.box);
  return in_context([&] { return cudaGraphNodeSetParams(node, reinterpret_cast<AnyNodeParams*>(params)); });
}
LANESCOPE_CUDA_API Status cuGraphNodeSetParams_v2(Node* node, DriverNodeParams* params) {
  return cuGraphNodeSetParams(node, params);
}

LANESCOPE_CUDA_API Status cuGraphExecNodeSetParams(Executable* executable, const Node* node,
                                                   DriverNodeParams* params) {
  if (params != nullptr && params->type == NodeType::kernel)
    return cuGraphExecKernelNodeSetParams_v2(executable, node, &params->kernel);
  if (params != nullptr && params->type == NodeType::copy)
    return cuGraphExecMemcpyNodeSetParams(executable, node, &params->copy.box, params->copy.context);
  return in_context(
      [&] { return cudaGraphExecNodeSetParams(executable, node, reinterpret_cast<AnyNodeParams*>(params)); });
}

LANESCOPE_CUDA_API Status cuGraphNodeGetParams(Node* node, DriverNodeParams* out) {
  if (node != nullptr && out != nullptr && node->type() == NodeType::kernel) {
    *out = {};
    out->type = NodeType::kernel;
    return cuGraphKernelNodeGetParams_v2(node, &out->kernel);
  }
  if (node != nullptr && node->type() == NodeType::copy)
    return driver_not_implemented("cuGraphNodeGetParams of a copy");
  return driver([&] { return cudaGraphNodeGetParams(node, reinterpret_cast<AnyNodeParams*>(out)); });
}

LANESCOPE_CUDA_API Status cuGraphConditionalHandleCreate(uint64_t* out, Graph* graph, Context*,
                                                         unsigned first, unsigned flags) {
  return in_context([&] { return cudaGraphConditionalHandleCreate(out, graph, first, flags); });
}

LANESCOPE_CUDA_API Status cuGraphExecMemsetNodeSetParams(Executable* executable, const Node* node,
                                                         const MemsetParams* params, Context*) {
  return in_context([&] { return cudaGraphExecMemsetNodeSetParams(executable, node, params); });
}

// The first versions, which know no data of edges.
LANESCOPE_CUDA_API Status cuGraphAddNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                                         DriverNodeParams* params) {
  return cuGraphAddNode_v2(out, graph, needs, nullptr, count, params);
}
LANESCOPE_CUDA_API Status cuGraphAddDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                 size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
LANESCOPE_CUDA_API Status cuGraphRemoveDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                    size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}
LANESCOPE_CUDA_API Status cuGraphGetEdges(const Graph* graph, Node** from, Node** to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}
LANESCOPE_CUDA_API Status cuGraphNodeGetDependencies(const Node* node, Node** out, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, out, nullptr, count);
}
LANESCOPE_CUDA_API Status cuGraphNodeGetDependentNodes(const Node* node, Node** out, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, out, nullptr, count);
}

// Twins for per-thread default streams.
LANESCOPE_PASS_3(cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams, with_own_stream)
LANESCOPE_PASS_2(cuGraphLaunch_ptsz, cuGraphLaunch, with_own_stream)
LANESCOPE_PASS_2(cuGraphUpload_ptsz, cuGraphUpload, with_own_stream)
