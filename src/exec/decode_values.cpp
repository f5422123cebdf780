// What the decoder adds to a kernel in which undefined values are followed (undefined_values.hpp): which
// registers may hold them, and what each instruction does with those. See decoder.hpp.

#include <algorithm>
#include <utility>

#include "exec/decoder.hpp"

namespace lanescope::exec {

namespace {

bool is_product(const ptx::Instruction& in) {
  return in.op == Op::mma || in.has(Mod::mma_async) || (in.op == Op::wmma && in.has(Mod::mma));
}

/// Whether an instruction makes its results of registers, so that it can be tried with other values. (What
/// wgmma makes of memory, InitCheck follows.)
bool computes(const ptx::Instruction& in) {
  switch (ptx::info(in.op).op_class) {
    case ptx::OpClass::arithmetic:
    case ptx::OpClass::logic:
    case ptx::OpClass::compare:
    case ptx::OpClass::convert:
    case ptx::OpClass::move:
    case ptx::OpClass::video:
    case ptx::OpClass::warp: return true;
    default: return in.op == Op::cvta || in.op == Op::isspacep || in.op == Op::movmatrix || is_product(in);
  }
}

/// Usage of the instruction for the lanes that execute it.
Usage usage_without_guard(const ptx::Instruction& in) {
  if (in.guard == no_index) return usage_of(in);
  ptx::Instruction plain = in;
  plain.guard = no_index;
  return usage_of(plain);
}

void add_once(std::vector<FollowedRegister>& registers, const FollowedRegister& reg) {
  const auto is_it = [&](const FollowedRegister& other) { return other.at == reg.at; };
  if (std::none_of(registers.begin(), registers.end(), is_it)) registers.push_back(reg);
}

}  // namespace

bool Decoder::is_of_all_lanes(const ptx::Instruction& in) {
  return ptx::info(in.op).op_class == ptx::OpClass::warp || in.op == Op::movmatrix || is_product(in);
}

void Decoder::find_followed_registers(FunctionState& s) {
  s.followed.assign(s.f->registers.size(), false);
  if (!follows_values()) return;
  const auto begins = [&](const ptx::Instruction& in) {
    if (in.op == Op::shfl || in.op == Op::ldmatrix || in.has(Mod::mma_async)) return true;
    if (in.op == Op::wmma) return in.has(Mod::load);
    if (in.op != Op::ld && in.op != Op::ldu) return false;
    return is_param(in.space) ? lies_in_frame(in, in.operands[1]) : in.space != Space::constant;
  };
  const std::vector<Usage>& usage = s.flow.usage;
  bool in_carry = false;
  for (bool changed = true; std::exchange(changed, false);)
    for (size_t i = 0; i < s.f->body.size(); ++i) {
      const ptx::Instruction& in = s.f->body[i];
      const bool passes_on = computes(in) && ((takes_carry(in.op) && in_carry) ||
                                              std::any_of(usage[i].reads.begin(), usage[i].reads.end(),
                                                          [&](uint32_t reg) { return s.followed[reg]; }));
      if (!passes_on && !begins(in)) continue;
      if (in.has(Mod::cc) && !std::exchange(in_carry, true)) changed = true;
      for (const uint32_t reg : usage[i].writes)
        if (!s.followed[reg]) s.followed[reg] = changed = true;
    }
  const auto number = [&](uint32_t at) {
    followed_.try_emplace(at, static_cast<uint32_t>(followed_.size()));
  };
  for (uint32_t reg = 0; reg < s.followed.size(); ++reg)
    if (s.followed[reg]) number(register_at(reg));
  if (s.carry != no_operand) number(s.carry);
}

FollowedRegister Decoder::followed(uint32_t reg) const {
  FollowedRegister followed{register_at(reg), width_of(reg)};
  if (s_->followed[reg]) followed.number = followed_.at(followed.at);
  return followed;
}

std::vector<FollowedRegister> Decoder::followed_of(const std::vector<uint32_t>& registers) const {
  std::vector<FollowedRegister> list;
  for (const uint32_t reg : registers)
    if (s_->followed[reg]) add_once(list, followed(reg));
  return list;
}

FollowedRegister Decoder::followed_scratch(uint32_t at) {
  FollowedRegister followed{at, 4};
  if (follows_values())
    followed.number = followed_.try_emplace(at, static_cast<uint32_t>(followed_.size())).first->second;
  return followed;
}

FollowedRegister Decoder::followed_element(const Operand& data, uint32_t element) const {
  const Operand& o = data.kind == Operand::Kind::vector ? in_->elements[data.first + element] : data;
  return o.kind == Operand::Kind::reg ? followed(o.reg) : FollowedRegister{};
}

ValueFlow Decoder::flow_of_values() {
  ValueFlow flow;
  const Usage usage = usage_without_guard(*in_);
  if (computes(*in_)) {
    flow.from = followed_of(usage.reads);
    flow.to = followed_of(usage.writes);
    if (in_->op == Op::wgmma) {  // its descriptors are addresses
      const auto is_address = [](const FollowedRegister& reg) { return reg.lane_bytes == 8; };
      std::copy_if(flow.from.begin(), flow.from.end(), std::back_inserter(flow.needs), is_address);
      flow.from.erase(std::remove_if(flow.from.begin(), flow.from.end(), is_address), flow.from.end());
    }
    if (s_->carry != no_operand) {
      const FollowedRegister carry{s_->carry, 0, followed_.at(s_->carry)};
      if (takes_carry(in_->op)) flow.from.push_back(carry);
      if (in_->has(Mod::cc)) flow.to.push_back(carry);
    }
    if (flow.to.empty()) return {};
    if (ptx::info(in_->op).op_class == ptx::OpClass::compare && !flow.from.empty()) {
      const Operand &a = *operand("a"), *b = operand("b");
      const auto compare = [&](const Operand& one, const Operand& other) {
        if (one.kind != Operand::Kind::reg || width_of(one.reg) != lane_bytes(in_->types.back())) return;
        for (FollowedRegister& from : flow.from)
          if (from.at == register_at(one.reg)) from.compared = source(other, in_->types.back());
      };
      if (b != nullptr) {
        compare(a, *b);
        compare(*b, a);
      }
    }
    return flow;
  }
  switch (in_->op) {
    case Op::ld:
    case Op::ldu:
    case Op::st:
    case Op::ldmatrix:
    case Op::stmatrix:
    case Op::wmma:
      // What is loaded or stored is looked at with the access.
      for (const Operand& o : in_->operands)
        if (o.kind == Operand::Kind::address && o.reg != no_index) flow.needs = followed_of({o.reg});
      if (in_->op == Op::wmma && in_->operands.size() == 3 && in_->operands[2].kind == Operand::Kind::reg)
        for (const FollowedRegister& stride : followed_of({in_->operands[2].reg}))
          add_once(flow.needs, stride);
      return flow;
    default:
      flow.needs = followed_of(usage.reads);
      flow.to = followed_of(usage.writes);
      return flow;
  }
}

void Decoder::put_guard_values() {
  if (!guarded() || !s_->followed[in_->guard]) return;
  put_values({{followed(in_->guard)}, {}, {}}, false);
}

bool Decoder::put_values(ValueFlow flow, bool guard) {
  if (flow.needs.empty() && flow.to.empty()) return false;
  if (guard && guarded()) {
    put_guard();
    k_.code.back().origin_and_weight |= Inst::helper_bit;
  }
  put(check_values, true).aux = static_cast<uint32_t>(k_.flows.size());
  k_.flows.push_back(std::move(flow));
  return true;
}

bool Decoder::emit_followed(const ValueFlow& flow, const std::function<void()>& emit) {
  const bool put = put_values(flow, true);
  const size_t helper = k_.code.size() - 1;
  emit();
  if (put) k_.code[helper].imm = k_.code.size() - 1 - helper;
  return put;
}

void Decoder::emit_behind_wait(bool waits, const std::function<void()>& emit) {
  if (!follows_values() || !is_of_all_lanes(*in_)) return emit();
  const size_t wait = k_.code.size() - 1;
  if (emit_followed(flow_of_values(), emit) && waits) k_.code[wait].imm |= sync_helper;
}

}  // namespace lanescope::exec
