// See graph.hpp. The nodes of a graph run one after the other, in an order that its edges allow.
#include "cuda/runtime/graph.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/capture.hpp"
#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/launch.hpp"

namespace lanescope::cuda {

NodeType Node::type() const {
  constexpr NodeType types[] = {NodeType::empty,
                                NodeType::kernel,
                                NodeType::copy,
                                NodeType::set,
                                NodeType::host,
                                NodeType::record_event,
                                NodeType::wait_event,
                                NodeType::release,
                                NodeType::allocation,
                                NodeType::graph,
                                NodeType::memory_operations,
                                NodeType::memory_operations,
                                NodeType::condition,
                                NodeType::kernel};
  static_assert(std::size(types) == std::variant_size_v<Work>);
  return types[work.index()];
}

Node* Graph::add(Work work, std::vector<Node*> needs) {
  auto node = std::make_unique<Node>();
  node->graph = this;
  node->number = added++;
  node->work = std::move(work);
  node->needs = std::move(needs);
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

bool Graph::holds(const Node* node) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto& own) { return own.get() == node; });
}

std::vector<Node*> Graph::ordered() const {
  std::unordered_map<const Node*, size_t> missing;
  for (const auto& node : nodes) missing[node.get()] = node->needs.size();
  std::vector<Node*> order;
  std::unordered_set<const Node*> placed;
  for (bool found = true; found && order.size() < nodes.size();) {
    found = false;
    for (const auto& node : nodes) {
      if (placed.contains(node.get())) continue;
      const bool ready = std::all_of(node->needs.begin(), node->needs.end(),
                                     [&](const Node* need) { return placed.contains(need); });
      if (!ready) continue;
      placed.insert(node.get());
      order.push_back(node.get());
      found = true;
    }
  }
  if (order.size() != nodes.size()) order.clear();
  return order;
}

bool Graph::has_memory() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) {
    return std::holds_alternative<AllocationWork>(node->work) || std::holds_alternative<FreeWork>(node->work);
  });
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  copy->objects = objects;
  copy->conditions = conditions;
  std::unordered_map<const Node*, Node*> made;
  for (const auto& node : nodes) {
    Node* twin = copy->add(node->work, {});
    twin->enabled = node->enabled;
    twin->copy = node->copy;
    twin->attributes = node->attributes;
    twin->original = node.get();
    if (auto* child = std::get_if<ChildWork>(&twin->work)) child->graph = child->graph->clone_as_part();
    if (auto* condition = std::get_if<ConditionWork>(&twin->work))
      for (auto& body : condition->bodies) body = body->clone_as_part();
    made[node.get()] = twin;
  }
  for (const auto& node : nodes)
    for (const Node* need : node->needs) made[node.get()]->needs.push_back(made[need]);
  return copy;
}

std::unique_ptr<Graph> Graph::clone_as_part() const {
  std::unique_ptr<Graph> copy = clone();
  copy->is_part = true;
  return copy;
}

Status run_graph(Runtime& runtime, Stream* stream, const Graph& graph, const std::vector<Node*>& order) {
  for (const Condition& condition : graph.conditions)
    if (condition.is_set) *reinterpret_cast<uint32_t*>(condition.handle) = condition.first;
  for (const Node* node : order) {
    if (!node->enabled) continue;
    const Status status = runtime.submit(stream, node->work);
    if (status != Status::success) return status;
  }
  return Status::success;
}

Status run_condition(Runtime& runtime, Stream* stream, const ConditionWork& work) {
  const auto value = [&] { return *reinterpret_cast<const volatile uint32_t*>(work.handle); };
  const auto wait = [&] { return runtime.wait_for(*runtime.stream(stream)); };
  const auto run = [&](size_t body) {
    if (body >= work.bodies.size()) return Status::success;
    const Status status = run_graph(runtime, stream, *work.bodies[body], work.bodies[body]->ordered());
    return status != Status::success ? status : wait();
  };
  Status status = wait();
  if (status != Status::success) return status;
  switch (work.type) {
    case ConditionWork::Type::if_not_zero: return run(value() != 0 ? 0 : 1);
    case ConditionWork::Type::by_number: return run(value());
    case ConditionWork::Type::while_not_zero:
      while (status == Status::success && value() != 0) status = run(0);
  }
  return status;
}

namespace {

bool needs(const Node& node, const Node* other) {
  return std::find(node.needs.begin(), node.needs.end(), other) != node.needs.end();
}

/// Adds a node and gives its handle.
Status add(Node** out, Graph* graph, Node* const* needs, size_t count, Work work) {
  if (out == nullptr || graph == nullptr || (count != 0 && needs == nullptr)) return Status::invalid_value;
  for (size_t i = 0; i < count; ++i)
    if (!graph->holds(needs[i]) || std::find(needs, needs + i, needs[i]) != needs + i)
      return Status::invalid_value;
  *out = graph->add(std::move(work), {needs, needs + count});
  return Status::success;
}

Status kernel_work(Runtime& runtime, const KernelNodeParams& params, KernelWork& work) {
  return make_work(runtime, params.function, params.grid, params.block, {params.arguments, params.extra},
                   params.dynamic_shared, work);
}

/// A node's copy or set has to be of something.
template <typename W>
Status check_node(const Runtime& runtime, const W& work) {
  return is_empty(work) ? Status::invalid_value : runtime.check(work);
}

Status set_work(Runtime& runtime, const MemsetParams& params, SetWork& work) {
  work.target = reinterpret_cast<uint64_t>(params.target);
  work.value = params.value;
  work.element_bytes = params.element_bytes;
  work.width = params.width;
  work.height = params.height;
  work.pitch = params.pitch;
  return check_node(runtime, work);
}

CopyWork line_work(void* target, const void* source, size_t count, CopyKind kind) {
  CopyWork work;
  work.target = reinterpret_cast<uint64_t>(target);
  work.source = reinterpret_cast<uint64_t>(source);
  work.width = count;
  work.kind = kind;
  return work;
}

Status copy_work(const Runtime& runtime, const Copy3D* copy, CopyWork& work) {
  if (copy == nullptr) return Status::invalid_value;
  const Status status = to_work(*copy, work);
  return status == Status::success ? check_node(runtime, work) : status;
}

Copy3D line_copy(void* target, const void* source, size_t count, CopyKind kind) {
  Copy3D copy{};
  copy.target = {target, count, count, 1};
  copy.source = {const_cast<void*>(source), count, count, 1};
  copy.extent = {count, 1, 1};
  copy.kind = kind;
  return copy;
}

/// The symbol's memory as the one side of a copy.
Status symbol_at(Runtime& runtime, const void* symbol, size_t offset, size_t count, void*& out) {
  uint64_t address = 0;
  size_t size = 0;
  const Status status = runtime.variable(symbol, address, size);
  if (status != Status::success) return status;
  if (offset > size || count > size - offset) return Status::invalid_value;
  out = reinterpret_cast<void*>(address + offset);
  return Status::success;
}

/// Writes as many nodes as fit and how many there are; the rest of the room is cleared.
Status give(const std::vector<Node*>& nodes, Node** out, size_t* count) {
  if (count == nullptr) return Status::invalid_value;
  if (out != nullptr)
    for (size_t i = 0; i < *count; ++i) out[i] = i < nodes.size() ? nodes[i] : nullptr;
  *count = out != nullptr ? std::min(*count, nodes.size()) : nodes.size();
  return Status::success;
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaGraphCreate(Graph** out, unsigned flags) {
  return call([&](Runtime&) {
    if (out == nullptr || flags != 0) return Status::invalid_value;
    *out = new Graph;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaGraphDestroy(Graph* graph) {
  return query([&](Runtime&) {
    if (graph == nullptr || graph->is_part) return Status::invalid_value;
    delete graph;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaGraphClone(Graph** out, const Graph* graph) {
  return call([&](Runtime&) {
    if (out == nullptr || graph == nullptr) return Status::invalid_value;
    if (graph->has_memory()) return Status::not_supported;
    *out = graph->clone().release();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaGraphNodeFindInClone(Node** out, const Node* node, const Graph* clone) {
  return call([&](Runtime&) {
    if (out == nullptr || node == nullptr || clone == nullptr) return Status::invalid_value;
    *out = nullptr;
    for (const auto& own : clone->nodes) {
      if (own->original != node) continue;
      *out = own.get();
      return Status::success;
    }
    return Status::invalid_value;
  });
}

LANESCOPE_CUDA_API Status cudaGraphAddKernelNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                                                 const KernelNodeParams* params) {
  return call([&](Runtime& runtime) {
    KernelWork work;
    if (params == nullptr || graph == nullptr) return Status::invalid_value;
    const Status status = kernel_work(runtime, *params, work);
    return status == Status::success ? add(out, graph, needs, count, std::move(work)) : status;
  });
}

LANESCOPE_CUDA_API Status cudaGraphAddMemcpyNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                                                 const Copy3D* copy) {
  return call([&](Runtime& runtime) {
    CopyWork work;
    Status status = copy_work(runtime, copy, work);
    if (status == Status::success) status = add(out, graph, needs, count, work);
    if (status == Status::success) (*out)->copy = *copy;
    return status;
  });
}

LANESCOPE_CUDA_API Status cudaGraphAddMemcpyNode1D(Node** out, Graph* graph, Node* const* needs, size_t count,
                                                   void* target, const void* source, size_t bytes,
                                                   CopyKind kind) {
  return call([&](Runtime& runtime) {
    const CopyWork work = line_work(target, source, bytes, kind);
    Status status = check_node(runtime, work);
    if (status == Status::success) status = add(out, graph, needs, count, work);
    if (status == Status::success) (*out)->copy = line_copy(target, source, bytes, kind);
    return status;
  });
}

LANESCOPE_CUDA_API Status cudaGraphAddMemcpyNodeToSymbol(Node** out, Graph* graph, Node* const* needs,
                                                         size_t count, const void* symbol, const void* source,
                                                         size_t bytes, size_t offset, CopyKind kind) {
  void* target = nullptr;
  const Status status =
      call([&](Runtime& runtime) { return symbol_at(runtime, symbol, offset, bytes, target); });
  return status == Status::success
             ? cudaGraphAddMemcpyNode1D(out, graph, needs, count, target, source, bytes, kind)
             : status;
}

LANESCOPE_CUDA_API Status cudaGraphAddMemcpyNodeFromSymbol(Node** out, Graph* graph, Node* const* needs,
                                                           size_t count, void* target, const void* symbol,
                                                           size_t bytes, size_t offset, CopyKind kind) {
  void* source = nullptr;
  const Status status =
      call([&](Runtime& runtime) { return symbol_at(runtime, symbol, offset, bytes, source); });
  return status == Status::success
             ? cudaGraphAddMemcpyNode1D(out, graph, needs, count, target, source, bytes, kind)
             : status;
}

LANESCOPE_CUDA_API Status cudaGraphAddMemsetNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                                                 const MemsetParams* params) {
  return call([&](Runtime& runtime) {
    SetWork work;
    if (params == nullptr) return Status::invalid_value;
    const Status status = set_work(runtime, *params, work);
    return status == Status::success ? add(out, graph, needs, count, work) : status;
  });
}

LANESCOPE_CUDA_API Status cudaGraphAddHostNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                                               const HostNodeParams* params) {
  return call([&](Runtime&) {
    if (params == nullptr || params->function == nullptr) return Status::invalid_value;
    return add(out, graph, needs, count, HostWork{params->function, nullptr, nullptr, params->data});
  });
}

LANESCOPE_CUDA_API Status cudaGraphAddEmptyNode(Node** out, Graph* graph, Node* const* needs, size_t count) {
  return call([&](Runtime&) { return add(out, graph, needs, count, std::monostate()); });
}

LANESCOPE_CUDA_API Status cudaGraphAddChildGraphNode(Node** out, Graph* graph, Node* const* needs,
                                                     size_t count, Graph* child) {
  return call([&](Runtime&) {
    if (child == nullptr || child == graph) return Status::invalid_value;
    if (child->has_memory()) return Status::not_supported;
    return add(out, graph, needs, count, ChildWork{child->clone_as_part()});
  });
}

LANESCOPE_CUDA_API Status cudaGraphAddEventRecordNode(Node** out, Graph* graph, Node* const* needs,
                                                      size_t count, Event* event) {
  return call([&](Runtime& runtime) {
    return runtime.is_event(event) ? add(out, graph, needs, count, RecordWork{event}) : Status::invalid_value;
  });
}

LANESCOPE_CUDA_API Status cudaGraphAddEventWaitNode(Node** out, Graph* graph, Node* const* needs,
                                                    size_t count, Event* event) {
  return call([&](Runtime& runtime) {
    return runtime.is_event(event) ? add(out, graph, needs, count, WaitWork{event}) : Status::invalid_value;
  });
}

namespace lanescope::cuda {

/// cudaMemAllocNodeParams.
struct AllocationNodeParams {
  PoolProperties pool;
  const void* access;
  size_t access_count;
  size_t bytes;
  void* pointer;
};
static_assert(sizeof(AllocationNodeParams) == 120);

}  // namespace lanescope::cuda

LANESCOPE_CUDA_API Status cudaGraphAddMemAllocNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                                                   AllocationNodeParams* params) {
  return call([&](Runtime& runtime) {
    if (params == nullptr) return Status::invalid_value;
    const Status status =
        runtime.allocate(params->bytes, MemoryType::device, 0, &runtime.default_pool, &params->pointer);
    if (status != Status::success) return status;
    runtime.set_of_graph(params->pointer, Block::OfGraph::not_run);
    return add(out, graph, needs, count, AllocationWork{params->pool, params->pointer, params->bytes});
  });
}

LANESCOPE_CUDA_API Status cudaGraphAddMemFreeNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                                                  void* pointer) {
  return call([&](Runtime& runtime) {
    Block block;
    const bool is_of_graph = runtime.find_block(reinterpret_cast<uint64_t>(pointer), block) &&
                             block.of_graph != Block::OfGraph::no;
    return is_of_graph ? add(out, graph, needs, count, FreeWork{pointer}) : Status::invalid_value;
  });
}

namespace lanescope::cuda {

/// cudaKernelNodeParamsV2.
struct KernelNodeParams2 {
  enum Handle : int { entry = 1, kernel = 2 };  ///< cudaKernelFunctionType
  KernelNodeParams common;
  Context* context;
  int handle;  ///< what `common.function` is; any is taken for what it is here
};

/// cudaMemcpyNodeParams.
struct CopyNodeParams {
  int flags, reserved[3];
  Copy3D copy;
};

/// cudaConditionalNodeParams.
struct ConditionNodeParams {
  uint64_t handle;
  ConditionWork::Type type;
  unsigned size;
  Graph** graphs;  ///< set: one empty graph for each case, which live as long as the node
};

/// cudaGraphNodeParams: a kind and the parameters of that kind.
struct AnyNodeParams {
  NodeType type;
  int reserved[3];
  union {
    long long room[29];
    KernelNodeParams2 kernel;
    CopyNodeParams copy;
    MemsetParams set;
    HostNodeParams host;
    struct {
      Graph* graph;
      int ownership;  ///< cudaGraphChildGraphNodeOwnership
    } child;
    Event* event;
    AllocationNodeParams allocation;
    void* release;
    ConditionNodeParams condition;
  };
  long long last;
};
static_assert(sizeof(AnyNodeParams) == 256);

namespace {

Status add_condition(Node** out, Graph* graph, Node* const* needs, size_t count,
                     ConditionNodeParams& params) {
  return call([&](Runtime& runtime) {
    using Type = ConditionWork::Type;
    const auto type = static_cast<int>(params.type);
    const unsigned most = params.type == Type::if_not_zero      ? 2
                          : params.type == Type::while_not_zero ? 1
                                                                : ~0u;
    if (type < 0 || type > 2 || params.size == 0 || params.size > most || !runtime.memory.find(params.handle))
      return Status::invalid_value;
    ConditionWork work{params.handle, params.type, {}, std::make_shared<std::vector<Graph*>>()};
    for (unsigned i = 0; i < params.size; ++i) {
      work.bodies.push_back(std::make_shared<Graph>());
      work.bodies.back()->is_part = true;
      work.given->push_back(work.bodies.back().get());
    }
    params.graphs = work.given->data();
    return add(out, graph, needs, count, std::move(work));
  });
}

}  // namespace
}  // namespace lanescope::cuda

LANESCOPE_CUDA_API Status cudaGraphAddNode(Node** out, Graph* graph, Node* const* needs, const void*,
                                           size_t count, AnyNodeParams* params) {
  if (params == nullptr) return remember(Status::invalid_value);
  switch (params->type) {
    case NodeType::kernel: return cudaGraphAddKernelNode(out, graph, needs, count, &params->kernel.common);
    case NodeType::copy: return cudaGraphAddMemcpyNode(out, graph, needs, count, &params->copy.copy);
    case NodeType::set: return cudaGraphAddMemsetNode(out, graph, needs, count, &params->set);
    case NodeType::host: return cudaGraphAddHostNode(out, graph, needs, count, &params->host);
    case NodeType::graph: return cudaGraphAddChildGraphNode(out, graph, needs, count, params->child.graph);
    case NodeType::empty: return cudaGraphAddEmptyNode(out, graph, needs, count);
    case NodeType::wait_event: return cudaGraphAddEventWaitNode(out, graph, needs, count, params->event);
    case NodeType::record_event: return cudaGraphAddEventRecordNode(out, graph, needs, count, params->event);
    case NodeType::allocation: return cudaGraphAddMemAllocNode(out, graph, needs, count, &params->allocation);
    case NodeType::release: return cudaGraphAddMemFreeNode(out, graph, needs, count, params->release);
    case NodeType::condition: return add_condition(out, graph, needs, count, params->condition);
    case NodeType::memory_operations: break;  // of the driver API, by capture alone
  }
  return not_implemented("cudaGraphAddNode of this type");
}

/// The word stays as long as the process: kernels may hold the handle longer than there is a graph.
LANESCOPE_CUDA_API Status cudaGraphConditionalHandleCreate(uint64_t* out, Graph* graph, unsigned first,
                                                           unsigned flags) {
  return call([&](Runtime& runtime) {
    constexpr unsigned assign_default = 1;
    if (out == nullptr || graph == nullptr || flags > assign_default) return Status::invalid_value;
    *out = runtime.memory.allocate(sizeof(uint32_t), "condition of a graph");
    graph->conditions.push_back({*out, first, flags == assign_default});
    return Status::success;
  });
}

/// All contexts are of the one device.
LANESCOPE_CUDA_API Status cudaGraphConditionalHandleCreate_v2(uint64_t* out, Graph* graph, Context*,
                                                              unsigned first, unsigned flags) {
  return cudaGraphConditionalHandleCreate(out, graph, first, flags);
}

LANESCOPE_CUDA_API Status cudaGraphAddDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                   const void*, size_t count) {
  return call([&](Runtime&) {
    if (graph == nullptr || (count != 0 && (from == nullptr || to == nullptr))) return Status::invalid_value;
    for (size_t i = 0; i < count; ++i) {
      if (!graph->holds(from[i]) || !graph->holds(to[i])) return Status::invalid_value;
      if (from[i] == to[i] || needs(*to[i], from[i])) return Status::invalid_value;
    }
    for (size_t i = 0; i < count; ++i) to[i]->needs.push_back(from[i]);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaGraphRemoveDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                      const void*, size_t count) {
  return call([&](Runtime&) {
    if (graph == nullptr || (count != 0 && (from == nullptr || to == nullptr))) return Status::invalid_value;
    for (size_t i = 0; i < count; ++i) {
      if (!graph->holds(from[i]) || !graph->holds(to[i]) || !needs(*to[i], from[i]))
        return Status::invalid_value;
      std::erase(to[i]->needs, from[i]);
    }
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaGraphDestroyNode(Node* node) {
  return call([&](Runtime&) {
    if (node == nullptr) return Status::invalid_value;
    Graph& graph = *node->graph;
    for (const auto& other : graph.nodes) std::erase(other->needs, node);
    std::erase_if(graph.nodes, [&](const auto& own) { return own.get() == node; });
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaGraphGetNodes(const Graph* graph, Node** out, size_t* count) {
  return call([&](Runtime&) {
    if (graph == nullptr) return Status::invalid_value;
    std::vector<Node*> nodes;
    for (const auto& node : graph->nodes) nodes.push_back(node.get());
    return give(nodes, out, count);
  });
}

LANESCOPE_CUDA_API Status cudaGraphGetRootNodes(const Graph* graph, Node** out, size_t* count) {
  return call([&](Runtime&) {
    if (graph == nullptr) return Status::invalid_value;
    std::vector<Node*> nodes;
    for (const auto& node : graph->nodes)
      if (node->needs.empty()) nodes.push_back(node.get());
    return give(nodes, out, count);
  });
}

LANESCOPE_CUDA_API Status cudaGraphGetEdges(const Graph* graph, Node** from, Node** to, void* data,
                                            size_t* count) {
  return call([&](Runtime&) {
    if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr))
      return Status::invalid_value;
    std::vector<Node*> starts, ends;
    for (const auto& node : graph->nodes) {
      for (Node* need : node->needs) {
        starts.push_back(need);
        ends.push_back(node.get());
      }
    }
    if (data != nullptr) std::memset(data, 0, std::min(*count, starts.size()) * 8);
    size_t same = *count;
    give(starts, from, &same);
    return give(ends, to, count);
  });
}

LANESCOPE_CUDA_API Status cudaGraphNodeGetDependencies(const Node* node, Node** out, void* data,
                                                       size_t* count) {
  return call([&](Runtime&) {
    if (node == nullptr || count == nullptr) return Status::invalid_value;
    if (data != nullptr) std::memset(data, 0, std::min(*count, node->needs.size()) * 8);
    return give(node->needs, out, count);
  });
}

LANESCOPE_CUDA_API Status cudaGraphNodeGetDependentNodes(const Node* node, Node** out, void* data,
                                                         size_t* count) {
  return call([&](Runtime&) {
    if (node == nullptr || count == nullptr) return Status::invalid_value;
    std::vector<Node*> nodes;
    for (const auto& other : node->graph->nodes)
      if (std::find(other->needs.begin(), other->needs.end(), node) != other->needs.end())
        nodes.push_back(other.get());
    if (data != nullptr) std::memset(data, 0, std::min(*count, nodes.size()) * 8);
    return give(nodes, out, count);
  });
}

LANESCOPE_CUDA_API Status cudaGraphNodeGetType(const Node* node, NodeType* type) {
  if (node == nullptr || type == nullptr) return remember(Status::invalid_value);
  // The runtime's list has none for operations of the driver API; it calls them empty (an H200's).
  *type = node->type() == NodeType::memory_operations ? NodeType::empty : node->type();
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphChildGraphNodeGetGraph(const Node* node, Graph** out) {
  const auto* child = node != nullptr ? std::get_if<ChildWork>(&node->work) : nullptr;
  if (child == nullptr || out == nullptr) return remember(Status::invalid_value);
  *out = child->graph.get();
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphKernelNodeGetParams(Node* node, KernelNodeParams* out) {
  auto* work = node != nullptr ? std::get_if<KernelWork>(&node->work) : nullptr;
  if (work == nullptr || out == nullptr) return remember(Status::invalid_value);
  const lanescope::exec::Kernel& kernel = *work->function->kernel.load();
  node->argument_pointers.clear();
  for (const auto& param : kernel.params)
    node->argument_pointers.push_back(work->params.data() + param.offset);
  const void* function = work->function->stub != nullptr ? work->function->stub : work->function;
  *out = {const_cast<void*>(function),
          {work->grid.x, work->grid.y, work->grid.z},
          {work->block.x, work->block.y, work->block.z},
          work->dynamic_shared,
          node->argument_pointers.data(),
          nullptr};
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphKernelNodeSetParams(Node* node, const KernelNodeParams* params) {
  return call([&](Runtime& runtime) {
    KernelWork work;
    if (params == nullptr) return Status::invalid_value;
    const Status status = kernel_work(runtime, *params, work);
    return status == Status::success ? replace(node, std::move(work)) : status;
  });
}

LANESCOPE_CUDA_API Status cudaGraphMemcpyNodeGetParams(const Node* node, Copy3D* out) {
  if (node == nullptr || out == nullptr || node->type() != NodeType::copy)
    return remember(Status::invalid_value);
  *out = node->copy;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphMemcpyNodeSetParams(Node* node, const Copy3D* copy) {
  return call([&](Runtime& runtime) {
    CopyWork work;
    Status status = copy_work(runtime, copy, work);
    if (status == Status::success) status = replace(node, work);
    if (status == Status::success) node->copy = *copy;
    return status;
  });
}

LANESCOPE_CUDA_API Status cudaGraphMemcpyNodeSetParams1D(Node* node, void* target, const void* source,
                                                         size_t bytes, CopyKind kind) {
  const Copy3D copy = line_copy(target, source, bytes, kind);
  return cudaGraphMemcpyNodeSetParams(node, &copy);
}

LANESCOPE_CUDA_API Status cudaGraphMemsetNodeGetParams(const Node* node, MemsetParams* out) {
  const auto* work = node != nullptr ? std::get_if<SetWork>(&node->work) : nullptr;
  if (work == nullptr || out == nullptr) return remember(Status::invalid_value);
  *out = {reinterpret_cast<void*>(work->target),
          work->pitch,
          work->value,
          work->element_bytes,
          work->width,
          work->height};
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphMemsetNodeSetParams(Node* node, const MemsetParams* params) {
  return call([&](Runtime& runtime) {
    SetWork work;
    if (params == nullptr) return Status::invalid_value;
    const Status status = set_work(runtime, *params, work);
    return status == Status::success ? replace(node, work) : status;
  });
}

LANESCOPE_CUDA_API Status cudaGraphHostNodeGetParams(const Node* node, HostNodeParams* out) {
  const auto* work = node != nullptr ? std::get_if<HostWork>(&node->work) : nullptr;
  if (work == nullptr || out == nullptr) return remember(Status::invalid_value);
  *out = {work->function, work->data};
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphHostNodeSetParams(Node* node, const HostNodeParams* params) {
  if (params == nullptr || params->function == nullptr) return remember(Status::invalid_value);
  return remember(replace(node, HostWork{params->function, nullptr, nullptr, params->data}));
}

LANESCOPE_CUDA_API Status cudaGraphEventRecordNodeGetEvent(const Node* node, Event** out) {
  const auto* work = node != nullptr ? std::get_if<RecordWork>(&node->work) : nullptr;
  if (work == nullptr || out == nullptr) return remember(Status::invalid_value);
  *out = work->event;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphEventRecordNodeSetEvent(Node* node, Event* event) {
  return remember(replace(node, RecordWork{event}));
}

LANESCOPE_CUDA_API Status cudaGraphEventWaitNodeGetEvent(const Node* node, Event** out) {
  const auto* work = node != nullptr ? std::get_if<WaitWork>(&node->work) : nullptr;
  if (work == nullptr || out == nullptr) return remember(Status::invalid_value);
  *out = work->event;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGraphEventWaitNodeSetEvent(Node* node, Event* event) {
  return remember(replace(node, WaitWork{event}));
}

LANESCOPE_CUDA_API Status cudaGraphMemAllocNodeGetParams(const Node* node, AllocationNodeParams* out) {
  const auto* work = node != nullptr ? std::get_if<AllocationWork>(&node->work) : nullptr;
  if (work == nullptr || out == nullptr) return remember(Status::invalid_value);
  *out = {work->pool, nullptr, 0, work->bytes, work->pointer};
  return Status::success;
}

/// The kind of a node cannot change, nor what allocations, their ends and conditions are about.
LANESCOPE_CUDA_API Status cudaGraphNodeSetParams(Node* node, AnyNodeParams* params) {
  if (node == nullptr || params == nullptr || params->type != node->type())
    return remember(Status::invalid_value);
  switch (params->type) {
    case NodeType::kernel: return cudaGraphKernelNodeSetParams(node, &params->kernel.common);
    case NodeType::copy: return cudaGraphMemcpyNodeSetParams(node, &params->copy.copy);
    case NodeType::set: return cudaGraphMemsetNodeSetParams(node, &params->set);
    case NodeType::host: return cudaGraphHostNodeSetParams(node, &params->host);
    case NodeType::wait_event: return cudaGraphEventWaitNodeSetEvent(node, params->event);
    case NodeType::record_event: return cudaGraphEventRecordNodeSetEvent(node, params->event);
    case NodeType::graph:
      if (params->child.graph == nullptr) break;
      return remember(replace(node, ChildWork{params->child.graph->clone_as_part()}));
    default: break;
  }
  return remember(Status::invalid_value);
}

LANESCOPE_CUDA_API Status cudaGraphNodeGetParams(Node* node, AnyNodeParams* out) {
  if (node == nullptr || out == nullptr) return remember(Status::invalid_value);
  *out = {};
  out->type = node->type();
  switch (out->type) {
    case NodeType::kernel: {
      const Status status = cudaGraphKernelNodeGetParams(node, &out->kernel.common);
      if (status != Status::success) return status;
      const bool is_entry = std::get<KernelWork>(node->work).function->stub != nullptr;
      out->kernel.handle = is_entry ? KernelNodeParams2::entry : KernelNodeParams2::kernel;
      return status;
    }
    case NodeType::copy: return cudaGraphMemcpyNodeGetParams(node, &out->copy.copy);
    case NodeType::set: return cudaGraphMemsetNodeGetParams(node, &out->set);
    case NodeType::host: return cudaGraphHostNodeGetParams(node, &out->host);
    case NodeType::graph:
      out->child.ownership = -1;  // cudaGraphChildGraphOwnershipInvalid: it is the node's
      return cudaGraphChildGraphNodeGetGraph(node, &out->child.graph);
    case NodeType::empty: return Status::success;
    case NodeType::wait_event: return cudaGraphEventWaitNodeGetEvent(node, &out->event);
    case NodeType::record_event: return cudaGraphEventRecordNodeGetEvent(node, &out->event);
    case NodeType::allocation: return cudaGraphMemAllocNodeGetParams(node, &out->allocation);
    case NodeType::release: return cudaGraphMemFreeNodeGetParams(node, &out->release);
    case NodeType::condition: {
      const auto& work = std::get<ConditionWork>(node->work);
      out->condition = {work.handle, work.type, static_cast<unsigned>(work.given->size()),
                        work.given->data()};
      return Status::success;
    }
    case NodeType::memory_operations: break;
  }
  return not_implemented("cudaGraphNodeGetParams of this type");
}
