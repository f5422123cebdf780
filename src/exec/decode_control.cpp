// Branches, calls, barriers, and instructions that a whole warp executes together. See decoder.hpp.

#include <algorithm>
#include <optional>

#include "exec/builtins.hpp"
#include "exec/decoder.hpp"

namespace lanescope::exec {

namespace {

uint64_t one_mask(const ptx::Operand& members) {
  return members.kind == ptx::Operand::Kind::integer ? sync_of_one_mask : 0;
}

/// Whether an instruction jumps, or does something together with other threads.
bool leaves_straight_code(Op op) {
  switch (op) {
    case Op::bra:
    case Op::brx:
    case Op::call:
    case Op::ret:
    case Op::exit:
    case Op::trap:
    case Op::brkpt:
    case Op::nanosleep:
    case Op::bar:
    case Op::barrier:
    case Op::shfl:
    case Op::vote:
    case Op::match:
    case Op::redux:
    case Op::elect:
    case Op::ldmatrix:
    case Op::stmatrix:
    case Op::movmatrix:
    case Op::mma:
    case Op::wmma:
    case Op::wgmma:
    case Op::tcgen05_alloc:
    case Op::tcgen05_dealloc:
    case Op::tcgen05_relinquish_alloc_permit:
    case Op::tcgen05_ld:
    case Op::tcgen05_ld_red:
    case Op::tcgen05_st: return true;
    default: return false;
  }
}

}  // namespace

void Decoder::put_skip(uint32_t next_instruction) {
  if (!guarded()) return;
  Inst& skip = put(set_.control.branch_if, true);
  skip.a = register_at(in_->guard);
  skip.imm = in_->guard_negated ? 0 : 1;
  const auto at = static_cast<uint32_t>(k_.code.size() - 1);
  fixups_.push_back({at, Fixup::Kind::target, next_instruction});
  fixups_.push_back({at, Fixup::Kind::join, next_instruction});
}

uint32_t Decoder::instruction_of(uint32_t block) const {
  return block == s_->flow.blocks.size() ? static_cast<uint32_t>(s_->f->body.size())
                                         : s_->flow.blocks[block].begin;
}

void Decoder::put_join(uint32_t instruction) {
  const uint32_t join = s_->flow.blocks[s_->flow.block_of[instruction]].join;
  if (join == no_index) return;
  fixups_.push_back({static_cast<uint32_t>(k_.code.size() - 1), Fixup::Kind::join, instruction_of(join)});
}

uint32_t Decoder::new_branch(bool backward, uint32_t straight) {
  const auto last = [](const auto& list) { return static_cast<uint32_t>(list.size() - 1); };
  k_.branches.push_back({last(k_.origins), straight, backward});
  return last(k_.branches);
}

uint32_t Decoder::straight_between(uint32_t instruction, uint32_t target) const {
  const uint32_t block = s_->flow.blocks[s_->flow.block_of[instruction]].join;
  if (target <= instruction || block >= s_->flow.blocks.size()) return 0;
  const uint32_t join = s_->flow.blocks[block].begin;
  const auto straight = [&](uint32_t begin, uint32_t end) {
    return std::all_of(s_->f->body.begin() + begin, s_->f->body.begin() + end,
                       [](const ptx::Instruction& in) { return !leaves_straight_code(in.op); });
  };
  if (target == join) return straight(instruction + 1, join) ? join - instruction - 1 : 0;
  // if-else: the first piece ends with a jump over the second one.
  const ptx::Instruction& jump = s_->f->body[target - 1];
  const bool jumps_over = jump.op == Op::bra && jump.guard == no_index &&
                          s_->f->labels[jump.operands[0].index].instruction == join;
  return join > target && jumps_over && straight(instruction + 1, target - 1) && straight(target, join)
             ? join - instruction - 2
             : 0;
}

void Decoder::put_bypass(const Flow::Block& block) {
  k_.code.back().d = static_cast<uint32_t>(k_.side.size());
  for (const auto& joins : block.past) k_.side.push_back(static_cast<uint32_t>(joins.size()));
  for (const auto& joins : block.past)
    for (const Flow::Block::Past& past : joins)
      for (const uint32_t place : {past.join, past.meeting}) {
        if (place != no_index)
          table_fixups_.push_back({static_cast<uint32_t>(k_.side.size()), s_, instruction_of(place)});
        k_.side.push_back(no_operand);
      }
}

uint32_t Decoder::wait_loop_closed_by(uint32_t instruction, uint32_t target) const {
  const auto& block_of = s_->flow.block_of;
  const auto closes = [&](const WaitLoop& loop) {
    return s_->flow.blocks[loop.header].begin == target &&
           std::count(loop.latches.begin(), loop.latches.end(), block_of[instruction]) != 0;
  };
  const auto found = std::find_if(s_->wait_loops.begin(), s_->wait_loops.end(), closes);
  if (found == s_->wait_loops.end()) return no_operand;
  return s_->first_wait_loop + static_cast<uint32_t>(found - s_->wait_loops.begin());
}

void Decoder::put_way_back(uint32_t instruction) {
  const uint32_t loop = instruction == 0 ? no_operand : wait_loop_closed_by(instruction - 1, instruction);
  if (loop != no_operand) put(set_.control.wait_branch, true).d = loop;
}

void Decoder::put_yield(uint32_t instruction) {
  const auto has = [&](const std::vector<uint32_t>& places) {
    return std::binary_search(places.begin(), places.end(), instruction);
  };
  if (has(s_->yields.gives_way)) put(set_.control.give_way, true);
  if (has(s_->yields.gathers)) {
    Inst& i = put(set_.control.sync, true);
    i.a = constant(4, full_mask);
    i.imm = sync_anywhere | sync_of_one_mask | sync_may_end;
  }
}

void Decoder::put_entry_of_unrolled(uint32_t instruction) {
  const auto loop = std::lower_bound(s_->unrolled.begin(), s_->unrolled.end(), instruction,
                                     [](const UnrolledLoop& l, uint32_t i) { return l.first < i; });
  if (loop == s_->unrolled.end() || loop->first != instruction) return;
  const uint32_t counter = register_at(loop->counter), limit = source(loop->limit, loop->type);
  put(set_.control.enter_unrolled, true).d = static_cast<uint32_t>(k_.counts.size());
  k_.counts.push_back({counter, limit, loop->step, loop->type, loop->comparison});
}

void Decoder::put_unrolled() {
  const auto here = [&] { return static_cast<uint32_t>(k_.code.size()); };
  for (const UnrolledLoop& loop : s_->unrolled) {
    const uint32_t entry = s_->code_of[loop.first], after = s_->code_of[loop.last + 1];
    const uint32_t begin = entry + 1, back = after - 1;
    const auto copy_of_back = [&](Handler fn) -> Inst& {
      k_.code.push_back(k_.code[back]);
      k_.code.back().fn = fn;
      k_.code.back().origin_and_weight |= Inst::helper_bit;
      return k_.code.back();
    };
    const auto branch_if_more = [&](uint32_t iterations, uint32_t target) {
      Inst& i = copy_of_back(observed_ ? set_.control.counted_branch_if_more : set_.control.branch_if_more);
      i.d = k_.code[entry].d;
      i.imm = iterations;
      i.b = target;
    };
    k_.branches[k_.code[back].aux].unrolled = true;
    k_.code[entry].b = here();
    k_.code[entry].imm = 0;
    k_.code[back].b = begin;  // who goes through the loop as it is written goes on so
    uint32_t copy = 0;
    for (const uint32_t iterations : {unrolled_by, unrolled_by / 2, 1u}) {
      const uint32_t test = here();
      k_.code[entry].imm = k_.code[entry].imm << 32 | test;
      branch_if_more(iterations, test + first_of_copies);
      copy_of_back(set_.control.branch);
      for (uint32_t n = 0; n < iterations; ++n) put_iteration(begin, back, ++copy);
      if (iterations == unrolled_by) {
        branch_if_more(iterations, test + first_of_copies);
        k_.code.back().c = here();
      }
      k_.code[test].c = k_.code[test + 1].b = here();
    }
    branch_if_more(0, begin);
    copy_of_back(set_.control.branch).b = after;
  }
}

void Decoder::put_iteration(uint32_t begin, uint32_t back, uint32_t number) {
  const uint32_t moved = static_cast<uint32_t>(k_.code.size()) - begin;
  for (uint32_t i = begin; i <= back; ++i) {
    const Inst copy = k_.code[i];
    k_.code.push_back(copy);
  }
  k_.code.back().fn = set_.control.nothing;  // the way back, where the next iteration follows
  // All of these were noted as the code grew.
  const auto from_begin = [&](auto& list) {
    return std::lower_bound(list.begin(), list.end(), begin,
                            [](const auto& noted, uint32_t code) { return noted.code < code; });
  };
  for (auto fix = from_begin(fixups_); fix != fixups_.end() && fix->code < back; ++fix) {
    Inst& branch = k_.code[fix->code + moved];
    (fix->kind == Fixup::Kind::target ? branch.b : branch.c) += moved;
  }
  for (auto at = from_begin(sites_in_code_); at != sites_in_code_.end() && at->code < back; ++at) {
    k_.code[at->code + moved].aux = static_cast<uint32_t>(k_.accesses.size());
    AccessSite site = k_.accesses[at->site];
    site.copy = number;
    k_.accesses.push_back(std::move(site));
  }
  for (uint32_t i = begin + moved; i < back + moved; ++i)
    if (const Handler fn = k_.code[i].fn;
        fn == set_.control.bypass_if || fn == set_.control.counted_bypass_if)
      copy_bypass(k_.code[i], begin, back, moved);
}

void Decoder::copy_bypass(Inst& branch, uint32_t begin, uint32_t back, uint32_t moved) {
  const uint32_t from = branch.d, end = from + 2 + 2 * (k_.side[from] + k_.side[from + 1]);
  branch.d = static_cast<uint32_t>(k_.side.size());
  for (uint32_t i = from; i < end; ++i) k_.side.push_back(uint32_t{k_.side[i]});
  auto fix = std::lower_bound(table_fixups_.begin(), table_fixups_.end(), from,
                              [](const TableFixup& f, uint32_t side) { return f.side < side; });
  for (; fix != table_fixups_.end() && fix->side < end; ++fix) {
    const uint32_t code = s_->code_of[fix->instruction];
    k_.side[branch.d + fix->side - from] = code + (code >= begin && code <= back ? moved : 0);
  }
}

void Decoder::place_wait_loops() {
  for (const WaitLoop& loop : s_->wait_loops) {
    Kernel::WaitLoop& placed = k_.wait_loops.emplace_back();
    placed.first = s_->code_of[s_->flow.blocks[loop.header].begin];
    placed.takes_lock = loop.takes_lock;
    std::vector<uint32_t> blocks = loop.blocks;
    std::sort(blocks.begin(), blocks.end());
    for (const uint32_t block : blocks) {
      const uint32_t begin = s_->code_of[s_->flow.blocks[block].begin];
      const uint32_t end = s_->code_of[s_->flow.blocks[block].end];
      if (!placed.code.empty() && placed.code.back()[1] == begin)
        placed.code.back()[1] = end;
      else
        placed.code.push_back({begin, end});
    }
  }
}

void Decoder::put_branch(uint32_t instruction, uint32_t target) {
  const ControlHandlers& handlers = set_.control;
  const uint32_t loop = wait_loop_closed_by(instruction, target);
  const bool waits = loop != no_operand;
  if (guarded()) {
    const Flow::Block& block = s_->flow.blocks[s_->flow.block_of[instruction]];
    const bool bypasses = !block.past[0].empty() || !block.past[1].empty();
    Inst& i = put(waits      ? (observed_ ? handlers.counted_wait_branch_if : handlers.wait_branch_if)
                  : bypasses ? (observed_ ? handlers.counted_bypass_if : handlers.bypass_if)
                             : (observed_ ? handlers.counted_branch_if : handlers.branch_if),
                  false);
    i.a = register_at(in_->guard);
    i.imm = in_->guard_negated ? 1 : 0;
    i.aux = new_branch(target <= instruction, straight_between(instruction, target));
    put_join(instruction);
    if (bypasses) put_bypass(block);
  } else {
    put(waits ? handlers.wait_branch : handlers.branch, false);
  }
  if (waits) k_.code.back().d = loop;
  fixups_.push_back({static_cast<uint32_t>(k_.code.size() - 1), Fixup::Kind::target, target});
}

void Decoder::emit_table_branch(uint32_t index) {
  put_skip(index + 1);
  const ptx::Table& table = s_->f->tables[in_->operands[1].index];
  const uint32_t a = source(in_->operands[0], Type::u32);
  Inst& i = put(observed_ ? set_.control.counted_branch_table : set_.control.branch_table, false);
  i.a = a;
  i.aux = new_branch(false, 0);
  i.b = static_cast<uint32_t>(k_.side.size());
  i.imm = table.labels.size();
  put_join(index);
  for (uint32_t label : table.labels) {
    table_fixups_.push_back({static_cast<uint32_t>(k_.side.size()), s_, s_->f->labels[label].instruction});
    k_.side.push_back(0);
  }
}

Handler Decoder::sync_for(const Operand& members) const {
  if (checked_) return check_sync;
  return members.kind == Operand::Kind::integer ? set_.control.sync : set_.control.sync_groups;
}

void Decoder::emit_barrier() {
  uint32_t a = zero32_, b = no_operand, c = no_operand, d = no_operand;
  uint64_t imm = barrier_sync;
  for (const BoundOperand& bound : bind_operands(*in_)) {
    if (bound.pattern->name == "m") {
      const uint32_t members = source(*bound.operand, Type::u32);
      Inst& i = put(sync_for(*bound.operand), false);
      i.a = members;
      i.imm = sync_anywhere | one_mask(*bound.operand);
      return;
    }
    if (bound.pattern->name == "a") a = source(*bound.operand, Type::u32);
    if (bound.pattern->name == "b") b = source(*bound.operand, Type::u32);
    if (bound.pattern->name == "c") {
      c = source(*bound.operand, Type::pred);
      if (bound.operand->negated) imm |= barrier_negated;
    }
    if (bound.pattern->name == "d") {
      if (bound.operand->kind != Operand::Kind::reg) unsupported("destination operand");
      d = register_at(bound.operand->reg);
    }
  }
  if (in_->op == Op::bar || in_->has(Mod::aligned)) imm |= barrier_aligned;
  if (in_->has(Mod::arrive)) imm |= barrier_arrive;
  if (in_->has(Mod::red))
    imm |= in_->has(Mod::popc) ? barrier_popc : in_->has(Mod::and_) ? barrier_and : barrier_or;
  Inst& i = put(set_.control.barrier, false);
  i.a = a;
  i.b = b;
  i.c = c;
  i.d = d;
  i.imm = imm;
}

void Decoder::emit_crosslane() {
  for (const BoundOperand& bound : bind_operands(*in_))
    if (bound.pattern->name == "m") {
      // Sources are read before the wait, so that nothing but the instruction itself follows it.
      Inst sync;
      sync.fn = sync_for(*bound.operand);
      sync.a = source(*bound.operand, Type::u32);
      sync.imm = one_mask(*bound.operand);
      emit_register_instruction(&sync);
      return;
    }
  emit_register_instruction();
}

void Decoder::emit_call() {
  const Operand *results = nullptr, *callee = nullptr, *arguments = nullptr, *prototype = nullptr;
  for (const Operand& o : in_->operands) {
    if (o.kind == Operand::Kind::list)
      (callee == nullptr ? results : arguments) = &o;
    else if (o.kind == Operand::Kind::table)
      prototype = &o;
    else
      callee = &o;
  }
  if (callee == nullptr) unsupported("callee");
  const std::vector<ptx::Variable>*params = nullptr, *returns = nullptr;
  const ptx::Function* target = nullptr;
  if (callee->symbol.kind == SymbolRef::Kind::function) {
    target = &m_.functions[callee->symbol.index];
    params = &target->params;
    returns = &target->returns;
  } else {
    if (prototype == nullptr) unsupported("an indirect call needs a prototype");
    const ptx::Table& table = s_->f->tables[prototype->index];
    if (table.kind == ptx::Table::Kind::call_prototype) {
      params = &table.params;
      returns = &table.returns;
    } else if (!table.functions.empty()) {
      params = &m_.functions[table.functions[0]].params;
      returns = &m_.functions[table.functions[0]].returns;
    } else {
      unsupported("an indirect call needs a prototype");
    }
  }
  uint32_t at = 0;
  for (size_t i = 0; i < params->size(); ++i) {
    if (arguments == nullptr || i >= arguments->count) unsupported("fewer arguments than parameters");
    const uint32_t to = next_argument(at, (*params)[i]);
    if (at > call_area_) unsupported("arguments larger than those of any function it may call");
    move_argument(in_->elements[arguments->first + i], (*params)[i], to);
  }
  const auto builtin = target != nullptr ? find_builtin(*target) : std::nullopt;
  const auto may_come_back = [&] {
    if (builtin) return false;
    if (target == nullptr) return s_->recursive;
    return bool{functions_[place_of_.at(callee->symbol.index)].reaches[place_of_.at(s_->index)]};
  };
  uint32_t saved = no_operand;
  if (may_come_back()) {
    saved = static_cast<uint32_t>(k_.saved.size());
    k_.saved.push_back({s_->registers_begin, s_->registers_end});
  }
  if (builtin) {
    Inst& i = put(call_builtin, false);
    i.imm = static_cast<uint64_t>(*builtin);
    i.aux = call_area_;
  } else if (target != nullptr) {
    Inst& i = put(set_.control.call, false);
    i.aux = saved;
    calls_.push_back({static_cast<uint32_t>(k_.code.size() - 1), place_of_.at(callee->symbol.index)});
  } else {
    const uint32_t address = source(*callee, Type::u64);
    Inst& i = put(set_.control.call_indirect, false);
    i.a = address;
    i.aux = saved;
  }
  at = 0;
  for (size_t i = 0; i < returns->size(); ++i) {
    const uint32_t from = next_argument(at, (*returns)[i]);
    if (results == nullptr || i >= results->count) break;
    move_result(in_->elements[results->first + i], (*returns)[i], call_area_ + from);
  }
}

void Decoder::put_local_copy(uint32_t from_base, uint64_t from, uint32_t to_base, uint64_t to,
                             uint64_t bytes) {
  for (const Handler handler : {check_local_copy, set_.control.copy_local}) {
    if (handler == check_local_copy && !follows_values_) continue;
    Inst& i = put(handler, true);
    i.a = from_base;
    i.b = to_base;
    i.c = static_cast<uint32_t>(from);
    i.aux = static_cast<uint32_t>(to);
    i.imm = bytes;
  }
}

void Decoder::prologue() {
  if (s_->stack_before != no_operand) put_copy(8, s_->stack_before, k_.stack_pointer, true);
  if (s_->recursive) {
    put_wide(Op::add, k_.stack_pointer, k_.stack_pointer, constant(8, s_->frame_bytes));
    put_local_copy(zero_, 0, k_.stack_pointer, 0, 0);  // whether the stack has room for the frame
    put_frame_count(true);
  }
  uint32_t at = 0;
  for (size_t i = 0; i < s_->f->params.size(); ++i) {
    const uint32_t from = next_argument(at, s_->f->params[i]);
    put_local_copy(zero_, from, s_->frame, s_->param_at[i], s_->f->params[i].size);
  }
}

void Decoder::epilogue() {
  uint32_t at = 0;
  for (size_t i = 0; i < s_->f->returns.size(); ++i) {
    const uint32_t to = next_argument(at, s_->f->returns[i]);
    put_local_copy(s_->frame, s_->return_at[i], zero_, call_area_ + to, s_->f->returns[i].size);
  }
  if (s_->stack_before != no_operand) put_copy(8, k_.stack_pointer, s_->stack_before, true);
  if (s_->recursive) put_frame_count(false);
}

void Decoder::put_frame_count(bool is_call) {
  Inst& i = put(count_frame, true);
  i.d = machine_stack_;
  i.imm = is_call ? s_->machine_frame : 0u - s_->machine_frame;
}

void Decoder::move_argument(const Operand& o, const ptx::Variable& param, uint32_t to) {
  if (o.kind == Operand::Kind::symbol || o.kind == Operand::Kind::address) {
    const Place place = place_of(o.symbol, o.bits);
    if (place.base == no_operand) unsupported("a kernel parameter as an argument");
    put_local_copy(place.base, place.offset, zero_, to, param.size);
    return;
  }
  local_access(Op::st, param, source(o, param.type), to);
}

void Decoder::move_result(const Operand& o, const ptx::Variable& result, uint32_t from) {
  if (o.kind == Operand::Kind::symbol || o.kind == Operand::Kind::address) {
    const Place place = place_of(o.symbol, o.bits);
    put_local_copy(zero_, from, place.base, place.offset, result.size);
    return;
  }
  if (o.kind == Operand::Kind::sink) return;
  Resizes later;
  local_access(Op::ld, result, destination(o, result.type, later), from);
  put_later(later);
}

void Decoder::local_access(Op op, const ptx::Variable& v, uint32_t data, uint32_t offset) {
  HandlerKey key;
  key.op = op;
  key.types[0] = v.type;
  key.space = Space::local;
  key.data_bytes = static_cast<uint8_t>(lane_bytes(v.type));
  Inst& i = put(select(key), true);
  i.d = data;
  i.a = zero_;
  i.imm = (1ull << 32) | offset;
  i.aux = new_site(op == Op::ld ? AccessKind::load : AccessKind::store, Space::local, v.size);
}

}  // namespace lanescope::exec
