// See dominators.hpp. Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
#include "exec/dominators.hpp"

#include <utility>

#include "ptx/module.hpp"

namespace lanescope::exec {

using ptx::no_index;

Dominators::Dominators(const Graph& graph, uint32_t root)
    : above_(graph.after.size(), no_index),
      depth_(graph.after.size()),
      begin_(graph.after.size(), no_index),
      end_(graph.after.size()) {
  const size_t nodes = graph.after.size();
  std::vector<uint32_t> order, number(nodes, no_index);  // post-order
  std::vector<std::pair<uint32_t, size_t>> stack{{root, 0}};
  std::vector<bool> seen(nodes, false);
  seen[root] = true;
  while (!stack.empty()) {
    auto& [node, child] = stack.back();
    if (child < graph.after[node].size()) {
      const uint32_t to = graph.after[node][child++];
      if (!seen[to]) {
        seen[to] = true;
        stack.emplace_back(to, 0);
      }
    } else {
      number[node] = static_cast<uint32_t>(order.size());
      order.push_back(node);
      stack.pop_back();
    }
  }
  above_[root] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size() - 1; i-- > 0;) {
      const uint32_t node = order[i];
      uint32_t found = no_index;
      for (uint32_t from : graph.before[node]) {
        if (number[from] == no_index || above_[from] == no_index) continue;
        if (found == no_index) {
          found = from;
          continue;
        }
        uint32_t a = found, b = from;
        while (a != b) {
          while (number[a] < number[b]) a = above_[a];
          while (number[b] < number[a]) b = above_[b];
        }
        found = a;
      }
      if (found != above_[node]) {
        above_[node] = found;
        changed = true;
      }
    }
  }
  // How many each dominates, then where each begins behind those before it that have the same node above.
  std::vector<uint32_t>& count = end_;
  for (const uint32_t node : order) {
    ++count[node];
    if (node != root) count[above_[node]] += count[node];
  }
  std::vector<uint32_t> free(nodes);
  begin_[root] = 0;
  free[root] = 1;
  for (size_t i = order.size() - 1; i-- > 0;) {
    const uint32_t node = order[i], above = above_[node];
    depth_[node] = depth_[above] + 1;
    begin_[node] = free[above];
    free[above] += count[node];
    free[node] = begin_[node] + 1;
  }
  for (const uint32_t node : order) end_[node] += begin_[node];
}

uint32_t Dominators::common(uint32_t a, uint32_t b) const {
  while (a != b) {
    if (depth_[a] < depth_[b]) std::swap(a, b);
    a = above_[a];
  }
  return a;
}

}  // namespace lanescope::exec
