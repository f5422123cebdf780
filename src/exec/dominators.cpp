// See dominators.hpp. Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
#include "exec/dominators.hpp"

#include <utility>

#include "ptx/module.hpp"

namespace lanescope::exec {

using ptx::no_index;

std::vector<uint32_t> immediate_dominators(const Graph& graph, uint32_t root) {
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
  std::vector<uint32_t> parent(nodes, no_index);
  parent[root] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size() - 1; i-- > 0;) {
      const uint32_t node = order[i];
      uint32_t found = no_index;
      for (uint32_t from : graph.before[node]) {
        if (number[from] == no_index || parent[from] == no_index) continue;
        if (found == no_index) {
          found = from;
          continue;
        }
        uint32_t a = found, b = from;
        while (a != b) {
          while (number[a] < number[b]) a = parent[a];
          while (number[b] < number[a]) b = parent[b];
        }
        found = a;
      }
      if (found != parent[node]) {
        parent[node] = found;
        changed = true;
      }
    }
  }
  return parent;
}

}  // namespace lanescope::exec
