// Loads on one way of a branch, and the same ones on its other way or behind both: the assembler makes one of
// the two, ahead of the branch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/expansion.hpp"
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

/// The assembler makes one of a load on a way so long, and the same one behind; of more than
/// `perhaps_together` it does not. In between other instructions than the PTX's may count.
inline constexpr uint32_t surely_together = 16, together = 20, perhaps_together = 30, other_way_costs = 4;

/// What is around a block that a branch leads to.
struct Way {
  uint32_t other = ptx::no_index;  ///< the block on the branch's other way, if only the branch leads there
  /// Where the ways have met, if both lead there straight; and what follows behind a second branch, which
  /// leads to it and around something.
  std::vector<uint32_t> behind;
  /// Instructions: of the block, or of another way and `other_way_costs`, if those are more.
  uint32_t length = 0;
};

/// The branches of a function. Conditions of `&&` and `||` are one branch.
class Ways {
 public:
  Ways(const ptx::Function& function, const exec::Flow& flow, const exec::Loops& loops)
      : f_(function), flow_(flow), loops_(loops), before_(loops.graph.before), after_(loops.graph.after) {
    while (simplify()) {
    }
  }

  /// Of a block, if a branch leads there. is_quiet(block): whether nothing in it changes the memory, or parts
  /// the code; may_be_ahead(block): whether loads may be moved to its end.
  template <class IsQuiet, class MayBeAhead>
  [[nodiscard]] std::optional<Way> around(uint32_t block, IsQuiet is_quiet, MayBeAhead may_be_ahead) const {
    if (before_[block].size() != 1) return std::nullopt;
    const uint32_t branch = before_[block][0];
    if (after_[branch].size() != 2 || !may_be_ahead(branch)) return std::nullopt;
    Way way;
    way.length = length(block);
    // What else is between a branch and where its ways meet, if they do.
    const auto pass = [&](uint32_t from, uint32_t one, uint32_t at) {
      if (after_[from].size() != 2 || before_[at].size() != 2 || !exec::in_same_loops(loops_.all, from, at))
        return false;
      for (const uint32_t other : after_[from]) {
        if (other == one || other == at) continue;
        if (before_[other].size() != 1 || after_[other] != std::vector{at} || !is_quiet(other) ||
            !is_one_piece(other))
          return false;
        way.length = std::max(way.length, length(other) + other_way_costs);
      }
      return true;
    };
    for (const uint32_t other : after_[branch])
      if (other != block && before_[other].size() == 1) way.other = other;
    if (after_[block].size() != 1 || !is_quiet(block) || !is_one_piece(block) ||
        !pass(branch, block, after_[block][0]))
      return way;
    const uint32_t meeting = after_[block][0];
    way.behind = {meeting};
    for (const uint32_t next : after_[meeting])
      if (after_[meeting].size() == 2 && is_quiet(meeting) && pass(meeting, next, next))
        way.behind.push_back(next);
    return way;
  }

  [[nodiscard]] uint32_t length(uint32_t block) const {
    return static_cast<uint32_t>(std::count_if(begin(block), end(block), [](const ptx::Instruction& in) {
      return in.op != ptx::Op::bra && in.op != ptx::Op::mov;
    }));
  }

 private:
  const ptx::Function& f_;
  const exec::Flow& flow_;
  const exec::Loops& loops_;
  std::vector<std::vector<uint32_t>> before_, after_;  ///< by block

  using Instructions = std::vector<ptx::Instruction>::const_iterator;
  [[nodiscard]] Instructions begin(uint32_t block) const {
    return f_.body.begin() + flow_.blocks[block].begin;
  }
  [[nodiscard]] Instructions end(uint32_t block) const { return f_.body.begin() + flow_.blocks[block].end; }

  /// Whether the assembler makes no branch in it: of a signed division.
  [[nodiscard]] bool is_one_piece(uint32_t block) const {
    return std::none_of(begin(block), end(block),
                        [](const ptx::Instruction& in) { return exec::has_branch(in); });
  }

  /// Whether blocks were taken out: jumps alone, and conditions that lead where their branch leads, too.
  bool simplify() {
    bool any = false;
    for (uint32_t block = 1; block < flow_.blocks.size(); ++block) {
      if (before_[block].size() != 1 || before_[block][0] == block) continue;
      std::vector<uint32_t>& from = after_[before_[block][0]];
      const std::vector<uint32_t>& next = after_[block];
      const auto is_in_from = [&](uint32_t to) { return std::ranges::find(from, to) != from.end(); };
      if (next.size() == 1 && length(block) == 0 && next[0] != block && !is_in_from(next[0])) {
        take_out(block, next[0]);
        any = true;
        continue;
      }
      if (next.size() != 2 || from.size() != 2 || next[0] == block || next[1] == block ||
          is_in_from(next[0]) == is_in_from(next[1]) || !is_condition(block))
        continue;
      const size_t known = is_in_from(next[0]) ? 0 : 1;
      std::erase(before_[next[known]], block);
      take_out(block, next[1 - known]);
      any = true;
    }
    return any;
  }
  /// What leads to the block leads to `next` then.
  void take_out(uint32_t block, uint32_t next) {
    const uint32_t from = before_[block][0];
    std::ranges::replace(after_[from], block, next);
    std::ranges::replace(before_[next], block, from);
    before_[block].clear();
    after_[block].clear();
  }
  [[nodiscard]] bool is_condition(uint32_t block) const {
    return std::all_of(begin(block), end(block), [&](const ptx::Instruction& in) {
      return in.op == ptx::Op::bra || in.op == ptx::Op::setp || in.op == ptx::Op::mov;
    });
  }
};

}  // namespace lanescope::merge
