// Graphs besides their work: attributes of kernels, memory that is theirs, and a drawing.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/graph.hpp"

namespace lanescope::cuda {
namespace {

/// A launch, or a call of a library, whose kernels nobody has the parameters of here.
bool is_kernel(const Node* node) { return node != nullptr && node->type() == NodeType::kernel; }

KernelWork* kernel_of(Node* node) { return node != nullptr ? std::get_if<KernelWork>(&node->work) : nullptr; }

/// Tells the caller something about a node or a graph, if there is one.
template <typename T, typename Object, typename F>
Status tell(T* out, const Object* object, F&& value) {
  if (out == nullptr || object == nullptr) return remember(Status::invalid_value);
  *out = value();
  return Status::success;
}

/// cudaGraphMemAttributeType.
enum GraphMemory : int { used = 0, used_high = 1, reserved = 2, reserved_high = 3 };

std::string label_of(const Node& node) {
  const auto bytes = [](const char* what, uint64_t count) {
    return fmt::format("{}\\n{} bytes", what, count);
  };
  if (const auto* kernel = std::get_if<KernelWork>(&node.work)) {
    const exec::Dim3 &g = kernel->grid, &b = kernel->block;
    return fmt::format("{}\\n<<<({},{},{}), ({},{},{}), {}>>>", kernel->function->name, g.x, g.y, g.z, b.x,
                       b.y, b.z, kernel->dynamic_shared);
  }
  if (const auto* copy = std::get_if<CopyWork>(&node.work))
    return bytes("MEMCPY", uint64_t{copy->width} * copy->height * copy->depth);
  if (const auto* set = std::get_if<SetWork>(&node.work))
    return bytes("MEMSET", uint64_t{set->width} * set->height * set->depth * set->element_bytes);
  if (const auto* taken = std::get_if<AllocationWork>(&node.work)) return bytes("MEM_ALLOC", taken->bytes);
  switch (node.type()) {
    case NodeType::host: return "HOST";
    case NodeType::graph: return "CHILD_GRAPH";
    case NodeType::wait_event: return "EVENT_WAIT";
    case NodeType::record_event: return "EVENT_RECORD";
    case NodeType::release: return "MEM_FREE";
    case NodeType::condition: return "CONDITIONAL";
    case NodeType::memory_operations: return "BATCH_MEM_OP";
    default: return "EMPTY";
  }
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaGraphKernelNodeSetAttribute(Node* node, int id,
                                                          const LaunchAttribute::Value* value) {
  if (!is_kernel(node) || value == nullptr) return remember(Status::invalid_value);
  KernelWork* const work = kernel_of(node);
  if (work != nullptr && id == LaunchAttribute::cooperative)
    work->cooperative = value->number != 0;
  else if (work != nullptr && id == LaunchAttribute::cluster_dimension)
    work->cluster = {value->dimension.x, value->dimension.y, value->dimension.z};
  else
    node->attributes[id] = *value;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphKernelNodeGetAttribute(Node* node, int id, LaunchAttribute::Value* value) {
  if (!is_kernel(node) || value == nullptr) return remember(Status::invalid_value);
  const KernelWork* const work = kernel_of(node);
  *value = {};
  if (work != nullptr && id == LaunchAttribute::cooperative)
    value->number = work->cooperative ? 1 : 0;
  else if (work != nullptr && id == LaunchAttribute::cluster_dimension)
    value->dimension = {work->cluster.x, work->cluster.y, work->cluster.z};
  else if (const auto found = node->attributes.find(id); found != node->attributes.end())
    *value = found->second;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphKernelNodeCopyAttributes(Node* target, Node* source) {
  if (!is_kernel(target) || !is_kernel(source)) return remember(Status::invalid_value);
  KernelWork* const to = kernel_of(target);
  if (const KernelWork* const from = kernel_of(source); to != nullptr && from != nullptr) {
    to->cooperative = from->cooperative;
    to->cluster = from->cluster;
  }
  target->attributes = source->attributes;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphNodeGetContainingGraph(const Node* node, Graph** out) {
  return tell(out, node, [&] { return node->graph; });
}
LANESCOPE_CUDA_API Status cudaGraphNodeGetLocalId(const Node* node, unsigned* out) {
  return tell(out, node, [&] { return node->number; });
}
LANESCOPE_CUDA_API Status cudaGraphNodeGetToolsId(const Node* node, unsigned long long* out) {
  return tell(out, node,
              [&] { return static_cast<unsigned long long>(node->graph->id) << 32 | node->number; });
}
LANESCOPE_CUDA_API Status cudaGraphGetId(const Graph* graph, unsigned* out) {
  return tell(out, graph, [&] { return graph->id; });
}

LANESCOPE_CUDA_API Status cudaGraphMemFreeNodeGetParams(const Node* node, void** out) {
  const auto* work = node != nullptr ? std::get_if<FreeWork>(&node->work) : nullptr;
  if (work == nullptr || out == nullptr) return remember(Status::invalid_value);
  *out = work->pointer;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaDeviceGetGraphMemAttribute(int device, int attribute, uint64_t* value) {
  return ask([&](Runtime& runtime) {
    if (device != 0) return Status::invalid_device;
    if (value == nullptr || attribute < used || attribute > reserved_high) return Status::invalid_value;
    const bool is_high = attribute == used_high || attribute == reserved_high;
    *value = is_high ? runtime.graph_bytes_high[attribute == reserved_high] : runtime.graph_bytes();
    return Status::success;
  });
}

/// Sets what was the most to what is; what is cannot be set.
LANESCOPE_CUDA_API Status cudaDeviceSetGraphMemAttribute(int device, int attribute, const uint64_t* value) {
  return call([&](Runtime& runtime) {
    if (device != 0) return Status::invalid_device;
    if (value == nullptr || *value != 0 || (attribute != used_high && attribute != reserved_high))
      return Status::invalid_value;
    runtime.graph_bytes_high[attribute == reserved_high] = runtime.graph_bytes();
    return Status::success;
  });
}

/// Freed memory of graphs counts no longer; here it keeps its place as long as the process runs.
LANESCOPE_CUDA_API Status cudaDeviceGraphMemTrim(int device) {
  return call([&](Runtime& runtime) {
    if (device != 0) return Status::invalid_device;
    const std::unique_lock lock(runtime.mutex);
    for (auto& [base, block] : runtime.blocks)
      if (block.of_graph == Block::OfGraph::freed) block.of_graph = Block::OfGraph::not_run;
    return Status::success;
  });
}

/// Writes the graph in the language of Graphviz; whatever the flags ask for, kernels have their launch and
/// copies their bytes.
LANESCOPE_CUDA_API Status cudaGraphDebugDotPrint(const Graph* graph, const char* path, unsigned) {
  return call([&](Runtime&) {
    if (graph == nullptr || path == nullptr) return Status::invalid_value;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "w"), std::fclose);
    if (file == nullptr) return Status::operating_system;
    std::string text = "digraph dot {\n";
    for (const auto& node : graph->nodes)
      text += fmt::format("  n{} [shape=\"box\" label=\"{}\"];\n", node->number, label_of(*node));
    for (const auto& node : graph->nodes)
      for (const Node* need : node->needs) text += fmt::format("  n{} -> n{};\n", need->number, node->number);
    text += "}\n";
    const bool written = std::fputs(text.c_str(), file.get()) >= 0 && std::fflush(file.get()) == 0;
    return written ? Status::success : Status::operating_system;
  });
}
