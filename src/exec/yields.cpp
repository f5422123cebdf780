// See yields.hpp.
#include "exec/yields.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "exec/dominators.hpp"
#include "exec/program.hpp"

namespace lanescope::exec {

using ptx::no_index;

namespace {

/// Whether an instruction does what the assembler takes for talk with other threads.
bool looks_at_others(const ptx::Instruction& in) {
  if (ptx::info(in.op).op_class == ptx::OpClass::atomic) return true;
  return in.op == ptx::Op::ld &&
         (in.has(ptx::Mod::volatile_) || in.has(ptx::Mod::relaxed) || in.has(ptx::Mod::acquire));
}

/// What may come out otherwise when other threads do something else: what such instructions bring, what comes
/// of it, and what is computed on one way only of a branch that depends on it.
class Influence {
 public:
  Influence(const ptx::Function& function, const Flow& flow, const Loops& loops)
      : f_(function),
        flow_(flow),
        loops_(loops),
        of_others_(flow.blocks.size(), std::vector<bool>(f_.registers.size())),
        at_times_(flow.blocks.size()),
        left_by_others_(loops.all.size()) {
    for (const ptx::Instruction& in : f_.body) usage_.push_back(usage_of(in));
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
  std::vector<Usage> usage_;                       ///< by instruction
  std::vector<std::vector<uint32_t>> written_;     ///< by loop: registers
  std::vector<std::vector<uint32_t>> controlled_;  ///< by block: those that its branch decides about
  std::vector<std::vector<bool>> of_others_;       ///< by block, by register: where the block begins
  std::vector<bool> at_times_;        ///< by block: a branch that depends on others decides about it
  std::vector<bool> left_by_others_;  ///< by loop
  bool grown_ = false;

  void set(std::vector<bool>& bits, size_t at) {
    grown_ = grown_ || !bits[at];
    bits[at] = true;
  }

  void find_written() {
    for (const Loop& loop : loops_.all) {
      std::vector<uint32_t>& all = written_.emplace_back();
      for (uint32_t i = 0; i < f_.body.size(); ++i)
        if (loop.has[flow_.block_of[i]])
          all.insert(all.end(), usage_[i].writes.begin(), usage_[i].writes.end());
    }
  }

  /// A block is controlled by a branch that it follows on one way for sure, and on another not. Branches to
  /// nothing but the end of the thread are none: the assembler ends lanes by a predicate.
  void find_controlled() {
    const auto end = static_cast<uint32_t>(flow_.blocks.size());
    Graph back(end + 1);
    for (uint32_t b = 0; b < end; ++b) {
      for (const uint32_t to : loops_.graph.after[b]) back.edge(to, b);
      if (loops_.graph.after[b].empty()) back.edge(end, b);
    }
    const Dominators behind(back, end);
    controlled_.resize(end);
    for (uint32_t b = 0; b < end; ++b) {
      std::vector<uint32_t> next = loops_.graph.after[b];
      std::erase_if(next, [&](uint32_t to) { return to == end || ends_at_once(f_, flow_.blocks[to]); });
      if (next.size() < 2) continue;
      for (uint32_t at : next)
        for (; at != no_index && at != end && at != behind.above(b); at = behind.above(at))
          controlled_[b].push_back(at);
    }
  }

  /// What a loop counts in every iteration, and compares with what stays as it is, is computed ahead of its
  /// branches.
  [[nodiscard]] bool counts(uint32_t instruction) const {
    const uint32_t block = flow_.block_of[instruction];
    for (size_t loop = 0; loop < loops_.all.size(); ++loop) {
      const Loop& l = loops_.all[loop];
      const auto is_before = [&](uint32_t latch) { return loops_.dominators.dominates(block, latch); };
      if (!l.has[block] || !std::all_of(l.latches.begin(), l.latches.end(), is_before)) continue;
      const std::vector<uint32_t>& reads = usage_[instruction].reads;
      if (steps(instruction) ||
          (f_.body[instruction].op == ptx::Op::setp &&
           std::all_of(reads.begin(), reads.end(), [&](uint32_t r) { return only_steps(l, r); })))
        return true;
    }
    return false;
  }

  [[nodiscard]] bool steps(uint32_t instruction) const {
    const ptx::Op op = f_.body[instruction].op;
    return (op == ptx::Op::add || op == ptx::Op::sub || op == ptx::Op::mov) &&
           usage_[instruction].reads.size() <= 1;
  }

  /// Whether nothing in the loop but steps() writes a register.
  [[nodiscard]] bool only_steps(const Loop& loop, uint32_t reg) const {
    for (uint32_t i = 0; i < f_.body.size(); ++i)
      if (loop.has[flow_.block_of[i]] && !steps(i) &&
          std::count(usage_[i].writes.begin(), usage_[i].writes.end(), reg) != 0)
        return false;
    return true;
  }

  void pass(uint32_t block) {
    const Flow::Block& b = flow_.blocks[block];
    std::vector<bool> now = of_others_[block];
    const auto reads_others = [&](uint32_t i) {
      return std::any_of(usage_[i].reads.begin(), usage_[i].reads.end(), [&](uint32_t r) { return now[r]; });
    };
    bool decides = false;
    for (uint32_t i = b.begin; i < b.end; ++i) {
      decides = reads_others(i);  // the last one
      const bool depends = decides || looks_at_others(f_.body[i]) || (at_times_[block] && !counts(i));
      for (const uint32_t r : usage_[i].writes) now[r] = depends;
    }
    if (decides && b.next.size() >= 2) {
      for (const uint32_t other : controlled_[block]) set(at_times_, other);
      for (size_t loop = 0; loop < loops_.all.size(); ++loop)
        if (std::any_of(b.next.begin(), b.next.end(), [&](uint32_t to) { return leaves(loop, block, to); }))
          set(left_by_others_, loop);
    }
    for (const uint32_t to : b.next) {
      if (to == flow_.blocks.size()) continue;
      for (uint32_t r = 0; r < now.size(); ++r)
        if (now[r]) set(of_others_[to], r);
      for (size_t loop = 0; loop < loops_.all.size(); ++loop)  // when it ends decides what it leaves
        if (left_by_others_[loop] && leaves(loop, block, to))
          for (const uint32_t r : written_[loop]) set(of_others_[to], r);
    }
  }

  [[nodiscard]] bool leaves(size_t loop, uint32_t from, uint32_t to) const {
    return loops_.all[loop].has[from] && !loops_.all[loop].has[to];
  }
};

/// What an operand always is; nothing if that is not known.
std::optional<uint64_t> constant_of(const ptx::Function& function, const ptx::Operand& operand) {
  if (operand.kind == ptx::Operand::Kind::integer) return operand.bits;
  std::optional<uint64_t> value;
  for (const ptx::Instruction& in : function.body) {
    const Usage usage = usage_of(in);
    if (std::count(usage.writes.begin(), usage.writes.end(), operand.reg) == 0) continue;
    const bool is_constant =
        in.op == ptx::Op::mov && in.guard == no_index && in.operands[1].kind == ptx::Operand::Kind::integer;
    if (!is_constant || (value && *value != in.operands[1].bits)) return std::nullopt;
    value = in.operands[1].bits;
  }
  return value;
}

/// Whether all lanes of a warp execute the instruction together.
bool needs_all_lanes(const ptx::Function& function, const ptx::Instruction& in) {
  if (in.guard != no_index) return false;
  if ((in.op == ptx::Op::bar || in.op == ptx::Op::barrier) && !in.has(ptx::Mod::warp))
    return in.op == ptx::Op::bar || in.has(ptx::Mod::aligned);
  if (ptx::info(in.op).op_class != ptx::OpClass::warp) return false;
  for (const BoundOperand& bound : bind_operands(in)) {
    if (bound.pattern->name != "m") continue;
    const auto mask = constant_of(function, *bound.operand);
    return mask && static_cast<uint32_t>(*mask) == full_mask;
  }
  return false;
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

Yields find_yields(const ptx::Function& function, const Flow& flow, const Loops& loops) {
  const auto& body = function.body;
  Yields found;
  if (std::any_of(body.begin(), body.end(), looks_at_others) && !loops.all.empty()) {
    const Influence influence(function, flow, loops);
    for (size_t loop = 0; loop < loops.all.size(); ++loop) {
      bool looks = false;
      for (uint32_t i = 0; i < body.size(); ++i)
        looks = looks || (loops.all[loop].has[flow.block_of[i]] && looks_at_others(body[i]));
      if (looks && influence.ends(loop)) found.gives_way.push_back(flow.blocks[loops.all[loop].header].begin);
    }
  }
  for (uint32_t i = 0; i < body.size(); ++i)
    if (body[i].op == ptx::Op::nanosleep && body[i].guard == no_index) found.gives_way.push_back(i);
  const std::vector<bool> apart = blocks_behind(flow, found.gives_way);
  for (uint32_t b = 0; b < flow.blocks.size(); ++b)
    if (apart[b] && std::any_of(body.begin() + flow.blocks[b].begin, body.begin() + flow.blocks[b].end,
                                [&](const ptx::Instruction& in) { return needs_all_lanes(function, in); }))
      found.gathers.push_back(flow.blocks[b].begin);
  return found;
}

}  // namespace lanescope::exec
