// Dominators of a graph of numbered nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanescope::exec {

struct Graph {
  explicit Graph(size_t nodes) : after(nodes), before(nodes) {}
  std::vector<std::vector<uint32_t>> after, before;
  void edge(uint32_t from, uint32_t to) {
    after[from].push_back(to);
    before[to].push_back(from);
  }
};

class Dominators {
 public:
  Dominators(const Graph& graph, uint32_t root);

  /// The last node through which every way from the root to the node leads. The root's is itself;
  /// ptx::no_index of what the root does not lead to. Of the reversed graph they are post-dominators.
  [[nodiscard]] uint32_t above(uint32_t node) const { return above_[node]; }
  /// How many there are above it.
  [[nodiscard]] uint32_t depth(uint32_t node) const { return depth_[node]; }
  /// Whether every way from the root to another node, which it leads to, comes through the node, or they are
  /// one.
  [[nodiscard]] bool dominates(uint32_t node, uint32_t other) const {
    return begin_[node] <= begin_[other] && begin_[other] < end_[node];
  }
  /// The last node that dominates both.
  [[nodiscard]] uint32_t common(uint32_t a, uint32_t b) const;

 private:
  std::vector<uint32_t> above_, depth_;
  std::vector<uint32_t> begin_, end_;  ///< what a node dominates are those that begin in [begin, end)
};

}  // namespace lanescope::exec
