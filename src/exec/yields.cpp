// See yields.hpp.
#include "exec/yields.hpp"

#include <algorithm>
#include <cstddef>

#include "exec/dominators.hpp"
#include "exec/program.hpp"
#include "exec/register_set.hpp"

namespace lanescope::exec {

using ptx::no_index;

namespace {

/// Whether an instruction does what the assembler takes for talk with other threads.
bool looks_at_others(const ptx::Instruction& in) {
  if (ptx::info(in.op).op_class == ptx::OpClass::atomic) return true;
  return in.op == ptx::Op::ld &&
         (in.has(ptx::Mod::volatile_) || in.has(ptx::Mod::relaxed) || in.has(ptx::Mod::acquire));
}

bool pauses(const ptx::Instruction& in) { return in.op == ptx::Op::nanosleep && in.guard == no_index; }

/// What may come out otherwise when other threads do something else: what such instructions bring, what comes
/// of it, and what is computed on one way only of a branch that depends on it.
class Influence {
 public:
  Influence(const ptx::Function& function, const Flow& flow, const Loops& loops)
      : f_(function),
        flow_(flow),
        loops_(loops),
        of_others_(flow.blocks.size(), RegisterSet(f_.registers.size())),
        at_times_(flow.blocks.size()),
        left_by_others_(loops.all.size()) {
    find_written();
    find_controlled();
    const std::vector<uint32_t> order = reverse_post_order(flow);
    do {
      grown_ = false;
      for (const uint32_t block : order) pass(block);
    } while (grown_);
  }

  /// Whether one of the ways out of a loop depends on others.
  [[nodiscard]] bool ends(size_t loop) const { return left_by_others_[loop]; }

 private:
  const ptx::Function& f_;
  const Flow& flow_;
  const Loops& loops_;
  std::vector<RegisterSet> written_;               ///< by loop
  std::vector<RegisterSet> computed_;              ///< by loop: written other than by steps()
  std::vector<std::vector<uint32_t>> controlled_;  ///< by block: those that its branch decides about
  std::vector<RegisterSet> of_others_;  ///< by block: registers that depend on others where it begins
  std::vector<bool> at_times_;          ///< by block: a branch that depends on others decides about it
  std::vector<bool> left_by_others_;    ///< by loop
  bool grown_ = false;

  void set(std::vector<bool>& bits, size_t at) {
    grown_ = grown_ || !bits[at];
    bits[at] = true;
  }

  void find_written() {
    for (const Loop& loop : loops_.all) {
      RegisterSet& written = written_.emplace_back(f_.registers.size());
      RegisterSet& computed = computed_.emplace_back(f_.registers.size());
      for (uint32_t b = 0; b < flow_.blocks.size(); ++b)
        for (uint32_t i = flow_.blocks[b].begin; loop.has[b] && i < flow_.blocks[b].end; ++i)
          for (const uint32_t r : flow_.usage[i].writes) {
            written.add(r);
            if (!steps(i)) computed.add(r);
          }
    }
  }

  /// A block is controlled by a branch that it follows on one way for sure, and on another not. Branches to
  /// nothing but the end of the thread are none: the assembler ends lanes by a predicate.
  void find_controlled() {
    const auto end = static_cast<uint32_t>(flow_.blocks.size());
    const Dominators behind = post_dominators(flow_);
    controlled_.resize(end);
    for (uint32_t b = 0; b < end; ++b) {
      std::vector<uint32_t> next = loops_.graph.after[b];
      std::erase_if(next, [&](uint32_t to) { return to == end || ends_at_once(f_, flow_.blocks[to]); });
      if (next.size() < 2) continue;
      for (uint32_t at : next)
        for (; at < end && at != behind.above(b); at = behind.above(at)) controlled_[b].push_back(at);
    }
  }

  [[nodiscard]] bool steps(uint32_t instruction) const {
    const ptx::Op op = f_.body[instruction].op;
    return (op == ptx::Op::add || op == ptx::Op::sub || op == ptx::Op::mov) &&
           flow_.usage[instruction].reads.size() <= 1;
  }

  /// What a loop counts in every iteration, and compares with what stays as it is, is computed ahead of its
  /// branches.
  [[nodiscard]] bool counts(uint32_t instruction) const {
    const uint32_t block = flow_.block_of[instruction];
    const std::vector<uint32_t>& reads = flow_.usage[instruction].reads;
    for (size_t loop = 0; loop < loops_.all.size(); ++loop) {
      const Loop& l = loops_.all[loop];
      const auto is_before = [&](uint32_t latch) { return loops_.dominators.dominates(block, latch); };
      const auto is_counted = [&](uint32_t r) { return !computed_[loop].has(r); };
      if (!l.has[block] || !std::all_of(l.latches.begin(), l.latches.end(), is_before)) continue;
      if (steps(instruction) ||
          (f_.body[instruction].op == ptx::Op::setp && std::all_of(reads.begin(), reads.end(), is_counted)))
        return true;
    }
    return false;
  }

  void pass(uint32_t block) {
    const Flow::Block& b = flow_.blocks[block];
    RegisterSet now = of_others_[block];
    bool decides = false;
    for (uint32_t i = b.begin; i < b.end; ++i) {
      const Usage& usage = flow_.usage[i];
      decides = std::any_of(usage.reads.begin(), usage.reads.end(), [&](uint32_t r) { return now.has(r); });
      const bool depends = decides || looks_at_others(f_.body[i]) || (at_times_[block] && !counts(i));
      for (const uint32_t r : usage.writes) depends ? now.add(r) : now.remove(r);
    }
    if (decides && b.next.size() >= 2) {
      for (const uint32_t other : controlled_[block]) set(at_times_, other);
      for (size_t loop = 0; loop < loops_.all.size(); ++loop)
        if (std::any_of(b.next.begin(), b.next.end(), [&](uint32_t to) { return leaves(loop, block, to); }))
          set(left_by_others_, loop);
    }
    for (const uint32_t to : b.next) {
      if (to == flow_.blocks.size()) continue;
      grown_ |= of_others_[to].merge(now);
      for (size_t loop = 0; loop < loops_.all.size(); ++loop)  // when it ends decides what it leaves
        if (left_by_others_[loop] && leaves(loop, block, to)) grown_ |= of_others_[to].merge(written_[loop]);
    }
  }

  [[nodiscard]] bool leaves(size_t loop, uint32_t from, uint32_t to) const {
    return loops_.all[loop].has[from] && !loops_.all[loop].has[to];
  }
};

/// Registers that are only ever written a mask of all lanes.
std::vector<bool> whole_masks(const ptx::Function& function, const Flow& flow) {
  const auto is_whole = [](const ptx::Instruction& in) {
    const ptx::Operand& source = in.operands[1];
    return source.kind == ptx::Operand::Kind::integer && static_cast<uint32_t>(source.bits) == full_mask;
  };
  std::vector<bool> whole(function.registers.size()), other(whole);
  for (size_t i = 0; i < function.body.size(); ++i) {
    const ptx::Instruction& in = function.body[i];
    for (const uint32_t r : flow.usage[i].writes)
      (in.op == ptx::Op::mov && in.guard == no_index && is_whole(in) ? whole : other)[r] = true;
  }
  for (size_t r = 0; r < whole.size(); ++r) whole[r] = whole[r] && !other[r];
  return whole;
}

/// Whether all lanes of a warp execute the instruction together.
bool needs_all_lanes(const ptx::Instruction& in, const std::vector<bool>& whole_masks) {
  if (in.guard != no_index) return false;
  if ((in.op == ptx::Op::bar || in.op == ptx::Op::barrier) && !in.has(ptx::Mod::warp))
    return in.op == ptx::Op::bar || in.has(ptx::Mod::aligned);
  if (ptx::info(in.op).op_class != ptx::OpClass::warp) return false;
  const std::vector<BoundOperand> operands = bind_operands(in);
  return std::any_of(operands.begin(), operands.end(), [&](const BoundOperand& bound) {
    const ptx::Operand& mask = *bound.operand;
    return bound.pattern->name == "m" &&
           (mask.kind == ptx::Operand::Kind::integer ? static_cast<uint32_t>(mask.bits) == full_mask
                                                     : mask.reg != no_index && whole_masks[mask.reg]);
  });
}

/// Blocks to which ways lead from these instructions.
std::vector<bool> blocks_behind(const Flow& flow, const std::vector<uint32_t>& instructions) {
  std::vector<bool> behind(flow.blocks.size() + 1);
  std::vector<uint32_t> open;
  for (const uint32_t i : instructions) open.push_back(flow.block_of[i]);
  while (!open.empty()) {
    const uint32_t block = open.back();
    open.pop_back();
    if (block >= flow.blocks.size()) continue;
    for (const uint32_t to : flow.blocks[block].next)
      if (!behind[to]) {
        behind[to] = true;
        open.push_back(to);
      }
  }
  return behind;
}

}  // namespace

bool may_give_way(const ptx::Function& function) {
  return std::any_of(function.body.begin(), function.body.end(),
                     [](const ptx::Instruction& in) { return looks_at_others(in) || pauses(in); });
}

Yields find_yields(const ptx::Function& function, const Flow& flow, const Loops& loops,
                   const std::vector<uint32_t>& calls) {
  const auto any_in = [&](uint32_t block, auto&& is) {
    return std::any_of(function.body.begin() + flow.blocks[block].begin,
                       function.body.begin() + flow.blocks[block].end, is);
  };
  std::vector<uint32_t> looking;  // blocks
  for (uint32_t b = 0; b < flow.blocks.size(); ++b)
    if (any_in(b, looks_at_others)) looking.push_back(b);
  Yields found;
  if (!looking.empty() && !loops.all.empty()) {
    const Influence influence(function, flow, loops);
    for (size_t i = 0; i < loops.all.size(); ++i) {
      const Loop& loop = loops.all[i];
      if (influence.ends(i) &&
          std::any_of(looking.begin(), looking.end(), [&](uint32_t b) { return loop.has[b]; }))
        found.gives_way.push_back(flow.blocks[loop.header].begin);
    }
  }
  const auto in_no_loop = [&](uint32_t b) {
    return std::none_of(loops.all.begin(), loops.all.end(), [&](const Loop& loop) { return loop.has[b]; });
  };
  if (!function.is_entry && std::any_of(looking.begin(), looking.end(), in_no_loop))
    found.gives_way.push_back(0);
  for (uint32_t i = 0; i < function.body.size(); ++i)
    if (pauses(function.body[i])) found.gives_way.push_back(i);
  std::sort(found.gives_way.begin(), found.gives_way.end());
  std::vector<uint32_t> parting = found.gives_way;
  parting.insert(parting.end(), calls.begin(), calls.end());
  if (parting.empty()) return found;
  const std::vector<bool> apart = blocks_behind(flow, parting), masks = whole_masks(function, flow);
  for (uint32_t b = 0; b < flow.blocks.size(); ++b)
    if (apart[b] && any_in(b, [&](const ptx::Instruction& in) { return needs_all_lanes(in, masks); }))
      found.gathers.push_back(flow.blocks[b].begin);
  return found;
}

}  // namespace lanescope::exec
