// Executable graphs: copies of graphs that can be run, and what is changed of them afterwards.
#include <algorithm>
#include <memory>
#include <vector>

#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/capture.hpp"
#include "cuda/runtime/graph.hpp"

namespace lanescope::cuda {

/// A graph made ready to run, with the nodes that it was made from.
struct Executable {
  std::unique_ptr<Graph> graph;
  std::vector<Node*> order;
  unsigned long long flags = 0;
  unsigned id = Graph::next_id++;
  std::shared_ptr<void> life = std::make_shared<char>();  ///< what the graph knows of it
};

namespace {

/// The executable's copy of a node.
Node* twin(Executable* executable, const Node* node) {
  if (executable == nullptr) return nullptr;
  for (const auto& own : executable->graph->nodes)
    if (own->original == node || own.get() == node) return own.get();
  return nullptr;
}

/// Whether there is an order for its nodes and those of the graphs in it.
bool can_run(const Graph& graph) {
  const auto child_can = [](const auto& node) {
    const auto* child = std::get_if<ChildWork>(&node->work);
    return child == nullptr || can_run(*child->graph);
  };
  return graph.ordered().size() == graph.nodes.size() &&
         std::all_of(graph.nodes.begin(), graph.nodes.end(), child_can);
}

Status instantiate(Executable** out, const Graph* graph, unsigned long long flags) {
  if (out == nullptr || graph == nullptr) return Status::invalid_value;
  auto executable = std::make_unique<Executable>();
  executable->graph = graph->clone();
  executable->order = executable->graph->ordered();
  executable->flags = flags;
  if (!can_run(*executable->graph)) return Status::invalid_value;
  if (graph->has_memory() && !graph->executable.expired()) return Status::not_supported;
  graph->executable = executable->life;
  *out = executable.release();
  return Status::success;
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

namespace {
/// cudaGraphInstantiateFlags. Uploading needs a stream.
constexpr unsigned long long auto_free = 1, upload = 2, device_launch = 4, node_priorities = 8;
Status instantiate_with(Executable** out, const Graph* graph, unsigned long long flags,
                        unsigned long long all_flags) {
  if ((flags & ~all_flags) != 0) return remember(Status::invalid_value);
  return call_at_once([&](Runtime&) { return instantiate(out, graph, flags); });
}
}  // namespace

LANESCOPE_CUDA_API Status cudaGraphInstantiate(Executable** out, const Graph* graph,
                                               unsigned long long flags) {
  return instantiate_with(out, graph, flags, auto_free | device_launch | node_priorities);
}

LANESCOPE_CUDA_API Status cudaGraphInstantiateWithFlags(Executable** out, const Graph* graph,
                                                        unsigned long long flags) {
  return cudaGraphInstantiate(out, graph, flags);
}

namespace lanescope::cuda {
/// cudaGraphInstantiateParams.
struct InstantiateParams {
  unsigned long long flags;
  Stream* upload;
  Node* failed;
  int result;
};
static_assert(sizeof(InstantiateParams) == 32);

/// cudaGraphExecUpdateResultInfo; result: 0 success, 2 other nodes, 3 another kind of node.
struct UpdateResult {
  int result;
  Node* node;
  Node* from;
};
static_assert(sizeof(UpdateResult) == 24);
}  // namespace lanescope::cuda

LANESCOPE_CUDA_API Status cudaGraphInstantiateWithParams(Executable** out, const Graph* graph,
                                                         InstantiateParams* params) {
  if (params == nullptr) return remember(Status::invalid_value);
  const Status status =
      instantiate_with(out, graph, params->flags, auto_free | upload | device_launch | node_priorities);
  params->failed = nullptr;
  params->result = status == Status::success ? 0 : 1;
  return status;
}

LANESCOPE_CUDA_API Status cudaGraphExecDestroy(Executable* executable) {
  return call_at_once([&](Runtime&) {
    if (executable == nullptr) return Status::invalid_value;
    delete executable;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaGraphExecGetFlags(const Executable* executable, unsigned long long* flags) {
  if (executable == nullptr || flags == nullptr) return remember(Status::invalid_value);
  *flags = executable->flags;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphExecGetId(const Executable* executable, unsigned* id) {
  if (executable == nullptr || id == nullptr) return remember(Status::invalid_value);
  *id = executable->id;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphUpload(Executable* executable, Stream* stream) {
  return with_stream(stream, OnCaptured::is_refused, [&](Runtime&, Stream&) {
    return executable == nullptr ? Status::invalid_value : Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaGraphLaunch(Executable* executable, Stream* handle) {
  return with_stream(handle, OnCaptured::is_refused, [&](Runtime& runtime, Stream&) -> Status {
    if (executable == nullptr) return Status::invalid_value;
    Block block;
    for (const Node* node : executable->order)
      if (const auto* taken = std::get_if<AllocationWork>(&node->work);
          taken && !(executable->flags & auto_free))
        if (runtime.find_block(reinterpret_cast<uint64_t>(taken->pointer), block) &&
            block.of_graph == Block::OfGraph::taken)
          return Status::invalid_value;  // not freed since the last launch
    return run_graph(runtime, handle, *executable->graph, executable->order);
  });
}

namespace {

/// Why an executable of one graph cannot become that of another: as an H100 has it, nodes are compared in the
/// order in which they would run.
UpdateResult difference(const Graph& before, const Graph& after) {
  enum Result : int { same = 0, other_nodes = 2, other_kind = 3, other_parameters = 5 };
  const std::vector<Node*> own = before.ordered(), given = after.ordered();
  if (own.size() != given.size()) return {other_nodes, nullptr, nullptr};
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i]->type() != given[i]->type()) return {other_kind, given[i], nullptr};
    if (own[i]->needs.size() != given[i]->needs.size())
      return {other_nodes, own[i]->needs.size() > given[i]->needs.size() ? given[i] : nullptr, nullptr};
    bool is_like = true;
    if (const auto* copy = std::get_if<CopyWork>(&own[i]->work))
      is_like = copy->kind == std::get<CopyWork>(given[i]->work).kind;
    else if (const auto* set = std::get_if<SetWork>(&own[i]->work))
      is_like = set->height == std::get<SetWork>(given[i]->work).height;
    if (!is_like) return {other_parameters, given[i], nullptr};
    if (const auto* child = std::get_if<ChildWork>(&own[i]->work)) {
      const UpdateResult inside = difference(*child->graph, *std::get<ChildWork>(given[i]->work).graph);
      if (inside.result != same) return inside;
    }
  }
  return {same, nullptr, nullptr};
}

}  // namespace

LANESCOPE_CUDA_API Status cudaGraphExecUpdate(Executable* executable, const Graph* graph,
                                              UpdateResult* result) {
  return call([&](Runtime&) {
    if (executable == nullptr || graph == nullptr) return Status::invalid_value;
    const UpdateResult mine = difference(*executable->graph, *graph);
    if (result != nullptr) *result = mine;
    if (mine.result != 0) return Status::graph_exec_update_failure;
    executable->graph = graph->clone();
    executable->order = executable->graph->ordered();
    return Status::success;
  });
}

namespace {
bool can_be_disabled(const Node& node) {
  return node.type() == NodeType::kernel || node.type() == NodeType::copy || node.type() == NodeType::set;
}
}  // namespace

LANESCOPE_CUDA_API Status cudaGraphNodeSetEnabled(Executable* executable, const Node* node,
                                                  unsigned enabled) {
  Node* own = twin(executable, node);
  if (own == nullptr || !can_be_disabled(*own)) return remember(Status::invalid_value);
  own->enabled = enabled != 0;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphNodeGetEnabled(Executable* executable, const Node* node,
                                                  unsigned* enabled) {
  const Node* own = twin(executable, node);
  if (own == nullptr || enabled == nullptr || !can_be_disabled(*own)) return remember(Status::invalid_value);
  *enabled = own->enabled ? 1 : 0;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphExecKernelNodeSetParams(Executable* executable, const Node* node,
                                                           const KernelNodeParams* params) {
  return cudaGraphKernelNodeSetParams(twin(executable, node), params);
}

LANESCOPE_CUDA_API Status cudaGraphExecMemcpyNodeSetParams(Executable* executable, const Node* node,
                                                           const Copy3D* copy) {
  return cudaGraphMemcpyNodeSetParams(twin(executable, node), copy);
}

LANESCOPE_CUDA_API Status cudaGraphExecMemcpyNodeSetParams1D(Executable* executable, const Node* node,
                                                             void* target, const void* source, size_t bytes,
                                                             CopyKind kind) {
  return cudaGraphMemcpyNodeSetParams1D(twin(executable, node), target, source, bytes, kind);
}

LANESCOPE_CUDA_API Status cudaGraphExecMemsetNodeSetParams(Executable* executable, const Node* node,
                                                           const MemsetParams* params) {
  return cudaGraphMemsetNodeSetParams(twin(executable, node), params);
}

LANESCOPE_CUDA_API Status cudaGraphExecHostNodeSetParams(Executable* executable, const Node* node,
                                                         const HostNodeParams* params) {
  return cudaGraphHostNodeSetParams(twin(executable, node), params);
}

LANESCOPE_CUDA_API Status cudaGraphExecEventRecordNodeSetEvent(Executable* executable, const Node* node,
                                                               Event* event) {
  return cudaGraphEventRecordNodeSetEvent(twin(executable, node), event);
}

LANESCOPE_CUDA_API Status cudaGraphExecEventWaitNodeSetEvent(Executable* executable, const Node* node,
                                                             Event* event) {
  return cudaGraphEventWaitNodeSetEvent(twin(executable, node), event);
}

LANESCOPE_CUDA_API Status cudaGraphExecChildGraphNodeSetParams(Executable* executable, const Node* node,
                                                               Graph* child) {
  if (child == nullptr) return remember(Status::invalid_value);
  return remember(replace(twin(executable, node), ChildWork{child->clone_as_part()}));
}

LANESCOPE_CUDA_API Status cudaGraphExecNodeSetParams(Executable* executable, const Node* node,
                                                     AnyNodeParams* params) {
  return cudaGraphNodeSetParams(twin(executable, node), params);
}
