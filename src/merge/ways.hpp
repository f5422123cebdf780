// Loads on one way of a branch, and the same ones on its other way or behind both: the assembler makes one of
// the two, ahead of the branch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/flow.hpp"
#include "exec/loops.hpp"
#include "ptx/module.hpp"

namespace lanescope::merge {

/// Fate::doubt of loads on both ways. It is counted where they are written.
inline constexpr const char* on_both_ways =
    "it is loaded on the other way from the branch, too: the assembler loads it once, ahead of the branch";

/// Of one on one way, and one behind, where its length leaves it open.
inline constexpr const char* perhaps_with_one_behind =
    "it is loaded behind the branch, too: the assembler may load it once, ahead of the branch";

/// What is around a block that leads from a branch straight to where its ways meet.
struct Way {
  /// The block on the branch's other way, which leads there as straight; no_index: it leads there at once.
  uint32_t other = ptx::no_index;
  /// Where the ways have met; and what follows behind a second branch, which leads to it and around
  /// something.
  std::vector<uint32_t> behind;
  /// Instructions: of the block, or of another way and `other_way_costs`, if those are more.
  uint32_t length = 0;
};

/// The assembler makes one of a load on a way so long, and the same one behind; of more than
/// `perhaps_together` it does not. In between other instructions than the PTX's may count.
inline constexpr uint32_t surely_together = 16, together = 20, perhaps_together = 30, other_way_costs = 4;

/// Of a block of the function, if it is such a one. is_quiet(block): whether nothing in it changes the
/// memory.
template <class IsQuiet>
[[nodiscard]] std::optional<Way> way_of(const ptx::Function& function, const exec::Flow& flow,
                                        const exec::Loops& loops, uint32_t block, IsQuiet is_quiet) {
  const auto& before = loops.graph.before;
  const auto& after = loops.graph.after;
  const auto length = [&](uint32_t b) {
    return static_cast<uint32_t>(std::count_if(
        function.body.begin() + flow.blocks[b].begin, function.body.begin() + flow.blocks[b].end,
        [](const ptx::Instruction& in) { return in.op != ptx::Op::bra && in.op != ptx::Op::mov; }));
  };
  const auto is_straight = [&](uint32_t b) { return before[b].size() == 1 && after[b].size() == 1; };
  // What is a jump alone is passed.
  const auto pass = [&](uint32_t b, const std::vector<std::vector<uint32_t>>& next) {
    while (b < flow.blocks.size() && is_straight(b) && length(b) == 0) b = next[b][0];
    return b;
  };
  // Whether both ways from a branch lead to a block, at once or through one that is quiet.
  const auto meet = [&](uint32_t branch, uint32_t at) {
    return after[branch].size() == 2 && before[at].size() == 2 &&
           exec::in_same_loops(loops.all, branch, at) && std::ranges::all_of(after[branch], [&](uint32_t to) {
             const uint32_t way = pass(to, after);
             return way == at || (is_straight(way) && pass(after[way][0], after) == at && is_quiet(way));
           });
  };
  if (!is_straight(block)) return std::nullopt;
  const uint32_t branch = pass(before[block][0], before), meeting = pass(after[block][0], after);
  if (!is_quiet(branch) || !meet(branch, meeting)) return std::nullopt;
  Way way;
  way.length = length(block);
  // What else is between a branch and where its ways meet.
  const auto other_than = [&](uint32_t from, uint32_t one, uint32_t at) {
    uint32_t found = ptx::no_index;
    for (const uint32_t to : after[from])
      if (const uint32_t other = pass(to, after); other != one && other != at) {
        found = other;
        way.length = std::max(way.length, length(other) + other_way_costs);
      }
    return found;
  };
  way.other = other_than(branch, block, meeting);
  way.behind = {meeting};
  if (after[meeting].size() == 2 && is_quiet(meeting))
    for (const uint32_t to : after[meeting])
      if (const uint32_t next = pass(to, after); meet(meeting, next)) {
        way.behind.push_back(next);
        other_than(meeting, next, next);
      }
  return way;
}

}  // namespace lanescope::merge
