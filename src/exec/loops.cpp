// See loops.hpp. Aho, Lam, Sethi, Ullman, "Compilers" (2006), 9.6.
#include "exec/loops.hpp"

#include <algorithm>
#include <utility>

namespace lanescope::exec {

namespace {

Graph graph_of(const Flow& flow) {
  Graph graph(flow.blocks.size() + 1);
  for (const uint32_t block : reverse_post_order(flow))
    for (const uint32_t to : flow.blocks[block].next) graph.edge(block, to);
  return graph;
}

}  // namespace

Loop natural_loop(const Graph& graph, uint32_t header, std::vector<uint32_t> latches) {
  Loop loop{header, std::move(latches), std::vector<bool>(graph.after.size()), 1};
  loop.has[header] = true;
  std::vector<uint32_t> open = loop.latches;
  while (!open.empty()) {
    const uint32_t block = open.back();
    open.pop_back();
    if (loop.has[block]) continue;
    loop.has[block] = true;
    ++loop.size;
    open.insert(open.end(), graph.before[block].begin(), graph.before[block].end());
  }
  return loop;
}

bool in_same_loops(const std::vector<Loop>& loops, uint32_t a, uint32_t b) {
  return std::ranges::all_of(loops, [&](const Loop& loop) { return loop.has[a] == loop.has[b]; });
}

Loops::Loops(const Flow& flow) : graph(graph_of(flow)), dominators(graph, 0) {
  for (uint32_t header = 0; header < graph.after.size(); ++header) {
    std::vector<uint32_t> latches;
    for (const uint32_t from : graph.before[header])
      if (dominators.dominates(header, from)) latches.push_back(from);
    if (!latches.empty()) all.push_back(natural_loop(graph, header, std::move(latches)));
  }
  std::stable_sort(all.begin(), all.end(), [](const Loop& a, const Loop& b) { return a.size < b.size; });
}

const Loop* Loops::innermost(uint32_t block) const {
  const auto found = std::ranges::find_if(all, [&](const Loop& loop) { return loop.has[block]; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace lanescope::exec
