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

/// By node: the last one through which every way from the root to it leads. The root's is itself;
/// ptx::no_index of what it does not lead to. Of the reversed graph they are post-dominators.
[[nodiscard]] std::vector<uint32_t> immediate_dominators(const Graph& graph, uint32_t root);

}  // namespace lanescope::exec
