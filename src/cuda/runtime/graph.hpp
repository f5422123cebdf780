// Graphs: nodes of work and what they wait for.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

/// cudaGraphNodeType.
enum class NodeType : int {
  kernel = 0,
  copy = 1,
  set = 2,
  host = 3,
  graph = 4,
  empty = 5,
  wait_event = 6,
  record_event = 7,
  allocation = 10,
  release = 11,
  memory_operations = 12,
  condition = 13,
};

struct Node {
  Graph* graph = nullptr;
  unsigned number = 0;  ///< among its graph's, in the order in which they were added
  Work work;
  std::vector<Node*> needs;
  bool enabled = true;
  const Node* original = nullptr;        ///< the node this is a copy of
  std::vector<void*> argument_pointers;  ///< what cudaGraphKernelNodeGetParams gives: into work's params
  Copy3D copy{};                         ///< a copy as it was given
  std::map<int, LaunchAttribute::Value> attributes;  ///< a kernel's, that change nothing here
  [[nodiscard]] NodeType type() const;
};

struct UserObject;

/// What a node of a graph looks at (cudaGraphConditionalHandleCreate).
struct Condition {
  uint64_t handle = 0;
  uint32_t first = 0;   ///< its value when the graph is launched
  bool is_set = false;  ///< to `first` then; otherwise it keeps what it had
};

struct Graph {
  unsigned id = next_id++;
  unsigned added = 0;  ///< nodes, those that are gone among them
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Condition> conditions;
  mutable std::weak_ptr<void> executable;            ///< the last one made of it, as long as that is there
  std::vector<std::shared_ptr<UserObject>> objects;  ///< kept alive; one entry for each reference
  bool is_part = false;                              ///< of a node, with which it ends

  Node* add(Work work, std::vector<Node*> needs);
  [[nodiscard]] bool holds(const Node* node) const;
  /// The nodes so that each comes after what it needs; among free ones in the order they were added. Empty
  /// for a graph with a cycle.
  [[nodiscard]] std::vector<Node*> ordered() const;
  /// Whether it takes or frees memory. Such a graph cannot be copied, and has one executable at a time.
  [[nodiscard]] bool has_memory() const;
  /// A copy; its nodes remember their originals. As a part of a node nobody else can destroy it.
  [[nodiscard]] std::unique_ptr<Graph> clone() const;
  [[nodiscard]] std::unique_ptr<Graph> clone_as_part() const;

  static inline std::atomic<unsigned> next_id{1};
};

/// Gives a node other work of the same kind.
template <typename T>
Status replace(Node* node, T work) {
  if (node == nullptr || !std::holds_alternative<T>(node->work)) return Status::invalid_value;
  node->work = std::move(work);
  node->argument_pointers.clear();
  return Status::success;
}

/// Submits the graph's nodes, in this order.
Status run_graph(Runtime& runtime, Stream* stream, const Graph& graph, const std::vector<Node*>& order);
/// Runs what the condition asks for, once all that is before it in the stream is done.
Status run_condition(Runtime& runtime, Stream* stream, const ConditionWork& work);
/// The time of events.
[[nodiscard]] int64_t now_ns();
void record(Event& event);

}  // namespace lanescope::cuda
