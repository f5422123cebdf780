// Which values all lanes of a warp have alike, as the assembler (ptxas 13.0) was seen to take it
// (docs/merging.md). A part of Values: see values.hpp.
#include <algorithm>
#include <vector>

#include "merge/values.hpp"

namespace lanescope::merge {

using ptx::Mod;
using ptx::no_index;
using ptx::Op;
using ptx::Operand;

/// Lanes that read one place at the same time read the same, and what a warp finds out together all its lanes
/// are told.
std::optional<uint32_t> Values::source_for_all_lanes(const ptx::Instruction& in, uint32_t index) {
  constexpr int64_t whole_warp = 31;
  switch (in.op) {
    case Op::ld: {
      if (in.space == ptx::Space::local || (ptx::is_param(in.space) && !is_of_launch(in.operands[1].symbol)))
        return std::nullopt;
      return addresses_[index].base;
    }
    case Op::activemask: return 0;
    case Op::vote:
    case Op::redux: return warps_agree_ ? std::optional<uint32_t>(0) : std::nullopt;
    case Op::match: return warps_agree_ && in.has(Mod::all) ? std::optional<uint32_t>(0) : std::nullopt;
    case Op::shfl: {  // the last operands: lane, segments, mask
      const size_t count = in.operands.size();
      if (!warps_agree_ || !in.has(Mod::idx) || of(in.operands[count - 2]) != Value{0, whole_warp})
        return std::nullopt;
      return of(in.operands[count - 3]).base;
    }
    default: return std::nullopt;
  }
}

/// Everything is taken to be alike until something says otherwise, so that what goes round in loops may be.
void Values::find_differences() {
  deciding_.resize(flow_.blocks.size());
  for (uint32_t block = 1; block < joins_.size(); ++block)
    if (!joins_[block].empty()) deciding_[block] = deciding_blocks(block);
  differs_.assign(nodes_.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 1; i < nodes_.size(); ++i) {
      if (differs_[i] || !may_differ(nodes_[i])) continue;
      differs_[i] = changed = true;
    }
  }
  for (const exec::Loop& loop : loops_.all) {
    const std::vector<uint32_t> leaving = leaving_blocks(loop);
    if (std::any_of(leaving.begin(), leaving.end(), [this](uint32_t b) { return lanes_part_at_end(b); }))
      left_apart_.push_back(&loop);
  }
}

bool Values::may_differ(const Node& n) const {
  const auto of_base = [this](uint32_t base) { return differs_[base]; };
  const auto of_value = [this](const Value& value) { return differs_[value.base]; };
  if (n.differs || (n.follows && differs_[*n.follows])) return true;
  switch (n.kind) {
    case Kind::once: return !n.follows;
    case Kind::join:
      return n.block == 0 || n.incoming.empty() ||
             std::any_of(n.incoming.begin(), n.incoming.end(), of_value) ||
             std::any_of(deciding_[n.block].begin(), deciding_[n.block].end(),
                         [this](uint32_t block) { return lanes_part_at_end(block); });
    default:
      return of_value(n.a) || of_value(n.b) || std::any_of(n.operands.begin(), n.operands.end(), of_base);
  }
}

/// The blocks at whose ends it is decided by which way lanes come to a block: of a loop's header those that
/// lead back to it or leave the loop, of others all between them and the block that all ways lead through,
/// but for those whose lanes meet before.
std::vector<uint32_t> Values::deciding_blocks(uint32_t block) const {
  const auto loop = std::find_if(loops_.all.begin(), loops_.all.end(),
                                 [&](const exec::Loop& l) { return l.header == block; });
  if (loop != loops_.all.end() && loop->latches.size() == 1) {
    std::vector<uint32_t> found = leaving_blocks(*loop);
    found.push_back(loop->latches.front());
    return found;
  }
  const uint32_t above = loops_.dominators.above(block);
  std::vector<uint32_t> found;
  std::vector<bool> seen(flow_.blocks.size(), false);
  std::vector<uint32_t> open = before_[block];
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    found.push_back(at);
    if (at != above) open.insert(open.end(), before_[at].begin(), before_[at].end());
  }
  std::erase_if(found, [&](uint32_t at) {
    const uint32_t meeting = flow_.blocks[at].join;
    return meeting < seen.size() && meeting != block && seen[meeting];
  });
  return found;
}

bool Values::lanes_part_at_end(uint32_t block) const {
  const exec::Flow::Block& b = flow_.blocks[block];
  if (b.next.size() < 2) return false;
  const ptx::Instruction& in = f_.body[b.end - 1];
  uint32_t reg = in.guard;
  if (reg == no_index && !in.operands.empty() && in.operands.front().kind == Operand::Kind::reg)
    reg = in.operands.front().reg;  // brx
  if (reg == no_index) return true;
  return differs_[(many_[reg] == no_index ? single_[reg] : out_[block][many_[reg]]).base];
}

/// The blocks of a loop that leave it for more than the end of their threads.
std::vector<uint32_t> Values::leaving_blocks(const exec::Loop& loop) const {
  const auto goes_on = [&](uint32_t to) {
    return !loop.has[to] && to < flow_.blocks.size() && !exec::ends_at_once(f_, flow_.blocks[to]);
  };
  std::vector<uint32_t> found;
  for (uint32_t block = 0; block < flow_.blocks.size(); ++block) {
    const std::vector<uint32_t>& next = flow_.blocks[block].next;
    if (loop.has[block] && std::any_of(next.begin(), next.end(), goes_on)) found.push_back(block);
  }
  return found;
}

bool Values::uniform(uint32_t base, uint32_t block) const {
  std::vector<uint32_t> open{base};
  std::vector<bool> seen(nodes_.size(), false);
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    if (differs_[at]) return false;
    const Node& n = nodes_[at];
    // What is alike in each round of a loop is not behind it, if lanes leave it in different rounds.
    if (n.kind == Kind::join || n.kind == Kind::once)
      for (const exec::Loop* loop : left_apart_)
        if (loop->has[n.block] && !loop->has[block]) return false;
    open.push_back(n.a.base);
    open.push_back(n.b.base);
    open.insert(open.end(), n.operands.begin(), n.operands.end());
    for (const Value& value : n.incoming) open.push_back(value.base);
    if (n.follows) open.push_back(*n.follows);
  }
  return true;
}

}  // namespace lanescope::merge
