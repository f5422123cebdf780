// See flow.hpp. Slots: linear scan over the hulls of live ranges (Poletto and
// Sarkar, 1999); sound here although lanes of a warp run apart, because a lane's slots are written only for
// that lane.
#include "exec/flow.hpp"

#include <algorithm>
#include <utility>

#include "exec/dominators.hpp"
#include "exec/register_set.hpp"

namespace lanescope::exec {

using ptx::no_index;

std::vector<BoundOperand> bind_operands(const ptx::Instruction& instruction) {
  const ptx::InstructionInfo& info = ptx::info(instruction.op);
  const ptx::OperandForm* form = &form_of(info, instruction.modifiers, instruction.type());
  if (form->check != ptx::OperandForm::Check::by_pattern) return {};
  auto decided = [&](const ptx::OperandPattern& p) { return p.only_with_count != 0 && !p.piped; };
  auto wanted = [&](const ptx::OperandPattern& p) {
    return std::any_of(p.only_with.begin(), p.only_with.begin() + p.only_with_count,
                       [&](ptx::Mod m) { return instruction.has(m); });
  };
  // Operands that may be left out freely: there is one at most, so the number of operands tells.
  size_t fixed = 0;
  for (uint8_t i = 0; i < form->operand_count; ++i) {
    const ptx::OperandPattern& p = form->operands[i];
    if (decided(p) ? wanted(p) : !p.optional && p.only_with_count == 0) ++fixed;
  }
  const bool with_optional = instruction.operands.size() > fixed;
  std::vector<BoundOperand> bound;
  size_t at = 0;
  for (uint8_t i = 0; i < form->operand_count && at < instruction.operands.size(); ++i) {
    const ptx::OperandPattern& p = form->operands[i];
    const bool present = decided(p) ? wanted(p) : (!p.optional && p.only_with_count == 0) || with_optional;
    if (present) bound.push_back({&instruction.operands[at++], &p});
  }
  return bound;
}

uint32_t lane_bytes(ptx::Type type) {
  if (type == ptx::Type::pred) return 0;
  return std::max<uint32_t>(2, ptx::size_of(type));
}

namespace {

void each_register(const ptx::Instruction& in, const ptx::Operand& operand, auto&& f) {
  if (operand.reg != no_index) f(operand.reg);
  if (operand.kind == ptx::Operand::Kind::vector || operand.kind == ptx::Operand::Kind::list ||
      operand.kind == ptx::Operand::Kind::address)
    for (uint32_t i = 0; i < operand.count; ++i) each_register(in, in.elements[operand.first + i], f);
}

}  // namespace

Usage usage_of(const ptx::Instruction& in) {
  Usage usage;
  auto read = [&](const ptx::Operand& o) {
    each_register(in, o, [&](uint32_t r) { usage.reads.push_back(r); });
  };
  auto write = [&](const ptx::Operand& o) {
    each_register(in, o, [&](uint32_t r) { usage.writes.push_back(r); });
  };
  if (in.op == ptx::Op::mov) {
    write(in.operands[0]);
    read(in.operands[1]);
  } else if (ptx::info(in.op).op_class == ptx::OpClass::texture) {
    for (size_t i = 0; i < in.operands.size(); ++i)
      if (i == 0 && in.op != ptx::Op::sust && in.op != ptx::Op::sured)
        write(in.operands[i]);
      else
        read(in.operands[i]);
  } else if (ptx::info(in.op).op_class == ptx::OpClass::matrix) {
    // The destination comes first, but of stores; accumulators of wgmma are read and written.
    const bool none = in.op == ptx::Op::stmatrix || in.has(ptx::Mod::store);
    for (size_t i = 0; i < in.operands.size(); ++i) {
      if (i == 0 && !none) write(in.operands[i]);
      if (i != 0 || none || in.op == ptx::Op::wgmma) read(in.operands[i]);
    }
  } else if (ptx::info(in.op).op_class == ptx::OpClass::tensor) {
    for (size_t i = 0; i < in.operands.size(); ++i)
      if ((i == 0 && in.op == ptx::Op::tcgen05_ld) || (i < 2 && in.op == ptx::Op::tcgen05_ld_red))
        write(in.operands[i]);
      else
        read(in.operands[i]);
  } else if (in.op == ptx::Op::call) {
    // (results), function, (arguments): a list before the function holds results.
    bool callee_seen = false;
    for (const ptx::Operand& o : in.operands) {
      if (o.kind == ptx::Operand::Kind::list && !callee_seen) {
        write(o);
      } else {
        callee_seen = true;
        read(o);
      }
    }
  } else {
    for (const BoundOperand& b : bind_operands(in))
      if (b.pattern->destination && b.operand->kind != ptx::Operand::Kind::address)
        write(*b.operand);
      else
        read(*b.operand);
  }
  if (in.guard != no_index) {
    usage.reads.push_back(in.guard);
    usage.reads.insert(usage.reads.end(), usage.writes.begin(), usage.writes.end());
  }
  return usage;
}

std::vector<Usage> usages_of(const ptx::Function& function) {
  std::vector<Usage> usages;
  usages.reserve(function.body.size());
  for (const ptx::Instruction& in : function.body) usages.push_back(usage_of(in));
  return usages;
}

namespace {

class Analysis {
 public:
  Analysis(const ptx::Function& function, bool end_returns) : f_(function), end_returns_(end_returns) {}

  Flow run() {
    find_blocks();
    find_joins();
    find_lives();
    return std::move(flow_);
  }

 private:
  const ptx::Function& f_;
  bool end_returns_;
  Flow flow_;

  void find_blocks() {
    const auto n = static_cast<uint32_t>(f_.body.size());
    std::vector<bool> leads(n + 1, false);
    leads[0] = true;
    for (const ptx::Label& label : f_.labels) leads[label.instruction] = true;
    for (uint32_t i = 0; i < n; ++i) switch (f_.body[i].op) {
        case ptx::Op::bra:
        case ptx::Op::brx:
        case ptx::Op::ret:
        case ptx::Op::exit:
        case ptx::Op::trap: leads[i + 1] = true; break;
        default: break;
      }
    flow_.block_of.assign(n, 0);
    for (uint32_t i = 0; i < n; ++i) {
      if (leads[i]) flow_.blocks.emplace_back().begin = i;
      flow_.blocks.back().end = i + 1;
      flow_.block_of[i] = static_cast<uint32_t>(flow_.blocks.size() - 1);
    }
    const auto end = static_cast<uint32_t>(flow_.blocks.size());
    auto block_at = [&](uint32_t instruction) { return instruction < n ? flow_.block_of[instruction] : end; };
    for (Flow::Block& b : flow_.blocks) {
      const ptx::Instruction& last = f_.body[b.end - 1];
      bool falls = true;
      switch (last.op) {
        case ptx::Op::bra:
          b.next.push_back(block_at(f_.labels[last.operands[0].index].instruction));
          falls = last.guard != no_index;
          break;
        case ptx::Op::brx:
          for (uint32_t label : f_.tables[last.operands[1].index].labels)
            b.next.push_back(block_at(f_.labels[label].instruction));
          falls = last.guard != no_index;
          break;
        case ptx::Op::ret:
          if (end_returns_) b.next.push_back(end);
          falls = last.guard != no_index;
          break;
        case ptx::Op::exit:
        case ptx::Op::trap: falls = last.guard != no_index; break;
        default: break;
      }
      if (falls) b.next.push_back(block_at(b.end));
    }
  }

  [[nodiscard]] uint32_t end() const { return static_cast<uint32_t>(flow_.blocks.size()); }

  /// Immediate post-dominators. Threads that end (exit, a kernel's ret) need not meet
  /// anybody. What has only such ends below it has no join.
  void find_joins() {
    const Dominators behind = post_dominators(flow_);
    for (uint32_t b = 0; b < end(); ++b)
      if (const uint32_t join = behind.above(b);
          join == end() || (join < end() && !ends_at_once(f_, flow_.blocks[join])))
        flow_.blocks[b].join = join;
  }

  /// Where a register's value is kept; see find_lives().
  struct Range {
    uint32_t reg = 0, begin = no_index, end = 0;
  };

  void find_lives() {
    const size_t registers = f_.registers.size(), blocks = flow_.blocks.size();
    const std::vector<Usage>& usage = flow_.usage = usages_of(f_);
    flow_.read.assign(registers, false);
    for (const Usage& of : usage)
      for (const uint32_t r : of.reads)
        if (std::find(of.writes.begin(), of.writes.end(), r) == of.writes.end()) flow_.read[r] = true;
    std::vector<RegisterSet> uses(blocks, RegisterSet(registers)), defs(blocks, RegisterSet(registers)),
        live_in(blocks, RegisterSet(registers)), live_out(blocks, RegisterSet(registers));
    for (size_t b = 0; b < blocks; ++b)
      for (uint32_t i = flow_.blocks[b].begin; i < flow_.blocks[b].end; ++i) {
        for (uint32_t r : usage[i].reads)
          if (!defs[b].has(r)) uses[b].add(r);
        for (uint32_t r : usage[i].writes) defs[b].add(r);
      }
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = blocks; b-- > 0;) {
        for (uint32_t to : flow_.blocks[b].next)
          if (to < blocks) changed |= live_out[b].merge(live_in[to]);
        RegisterSet in = live_out[b];
        defs[b].each([&](uint32_t r) { in.remove(r); });
        in.merge(uses[b]);
        changed |= live_in[b].merge(in);
      }
    }
    std::vector<Range> ranges(registers);
    auto cover = [&](uint32_t r, uint32_t at) {
      ranges[r].begin = std::min(ranges[r].begin, at);
      ranges[r].end = std::max(ranges[r].end, at);
    };
    // Positions: 2i reads, 2i + 1 writes of instruction i, so that a result may take the slot of an operand
    // that ends there; not where lanes read each other's operands, or several steps make one instruction.
    for (size_t b = 0; b < blocks; ++b) {
      live_in[b].each([&](uint32_t r) { cover(r, 2 * flow_.blocks[b].begin); });
      live_out[b].each([&](uint32_t r) { cover(r, 2 * flow_.blocks[b].end); });
      for (uint32_t i = flow_.blocks[b].begin; i < flow_.blocks[b].end; ++i) {
        const ptx::OpClass op_class = ptx::info(f_.body[i].op).op_class;
        const bool crosses = op_class == ptx::OpClass::warp || op_class == ptx::OpClass::matrix ||
                             op_class == ptx::OpClass::tensor;
        for (uint32_t r : usage[i].reads) cover(r, 2 * i + (crosses ? 1 : 0));
        for (uint32_t r : usage[i].writes) cover(r, 2 * i + 1);
      }
    }
    if (blocks != 0) live_in[0].each([&](uint32_t r) { flow_.undefined.push_back(r); });

    for (uint32_t r = 0; r < registers; ++r) ranges[r].reg = r;
    assign_slots(std::move(ranges));
  }

  /// Linear scan.
  void assign_slots(std::vector<Range> ranges) {
    std::erase_if(ranges, [](const Range& r) { return r.begin == no_index; });
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
      return std::pair(a.begin, a.reg) < std::pair(b.begin, b.reg);
    });
    flow_.slot.assign(f_.registers.size(), no_index);
    std::vector<uint32_t> free[5];
    std::vector<std::pair<uint32_t, uint32_t>> busy[5];  // {end, slot}, a heap with the earliest end on top
    for (const Range& range : ranges) {
      const uint32_t c = width_class(lane_bytes(f_.registers[range.reg].type));
      auto later = std::greater<>();
      while (!busy[c].empty() && busy[c].front().first < range.begin) {
        std::pop_heap(busy[c].begin(), busy[c].end(), later);
        free[c].push_back(busy[c].back().second);
        busy[c].pop_back();
      }
      uint32_t slot;
      if (free[c].empty()) {
        slot = flow_.slots[c]++;
      } else {
        slot = free[c].back();
        free[c].pop_back();
      }
      flow_.slot[range.reg] = slot;
      busy[c].emplace_back(range.end, slot);
      std::push_heap(busy[c].begin(), busy[c].end(), later);
    }
  }
};

}  // namespace

Dominators post_dominators(const Flow& flow) {
  const auto end = static_cast<uint32_t>(flow.blocks.size()), root = end + 1;
  Graph backwards(root + 1);
  backwards.edge(root, end);
  for (uint32_t b = 0; b < end; ++b) {
    for (const uint32_t to : flow.blocks[b].next) backwards.edge(to, b);
    if (flow.blocks[b].next.empty()) backwards.edge(root, b);
  }
  return {backwards, root};
}

Flow analyse(const ptx::Function& function, bool end_returns) {
  return Analysis(function, end_returns).run();
}

bool ends_at_once(const ptx::Function& function, const Flow::Block& block) {
  const ptx::Instruction& first = function.body[block.begin];
  return block.next.empty() && first.guard == no_index &&
         (first.op == ptx::Op::exit || first.op == ptx::Op::ret);
}

std::vector<uint32_t> reverse_post_order(const Flow& flow) {
  std::vector<uint32_t> order;
  std::vector<bool> seen(flow.blocks.size(), false);
  std::vector<std::pair<uint32_t, size_t>> stack;  // block, and which of its successors is next
  if (!flow.blocks.empty()) {
    stack.emplace_back(0, 0);
    seen[0] = true;
  }
  while (!stack.empty()) {
    auto& [block, child] = stack.back();
    const auto& next = flow.blocks[block].next;
    if (child == next.size()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    const uint32_t to = next[child++];
    if (to < flow.blocks.size() && !seen[to]) {
      seen[to] = true;
      stack.emplace_back(to, 0);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace lanescope::exec
