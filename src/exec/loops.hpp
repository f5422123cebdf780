// Natural loops of a function's control flow.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/dominators.hpp"
#include "exec/flow.hpp"

namespace lanescope::exec {

struct Loop {
  uint32_t header = 0;            ///< block at which it begins
  std::vector<uint32_t> latches;  ///< blocks that lead back to it
  std::vector<bool> has;          ///< by node
  size_t size = 0;                ///< in blocks
};

/// What leads to some of the header's latches without passing the header.
[[nodiscard]] Loop natural_loop(const Graph& graph, uint32_t header, std::vector<uint32_t> latches);

/// Whether every loop that one of two blocks is in has the other one, too.
[[nodiscard]] bool in_same_loops(const std::vector<Loop>& loops, uint32_t a, uint32_t b);

/// All of a function.
struct Loops {
  explicit Loops(const Flow& flow);
  /// The blocks as nodes, and as the last one the function's end; edges are those of blocks that are reached.
  Graph graph;
  Dominators dominators;
  /// One for each header, inner ones before those around them. Ways back to a block that does not dominate
  /// where they come from make none.
  std::vector<Loop> all;
  /// The innermost one around a block; nullptr: none is.
  [[nodiscard]] const Loop* innermost(uint32_t block) const;
};

}  // namespace lanescope::exec
