// See used.hpp. Backwards from what stores, branches and talks to other lanes: what each instruction needs of
// what it reads, given what is needed of what it writes.
#include "merge/used.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "merge/effects.hpp"

namespace lanescope::merge {
namespace {

using ptx::Mod;
using ptx::no_index;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

constexpr uint8_t low = Used::low, high = Used::high, all = Used::all;

/// Whether an instruction does something else than to write registers.
bool leaves_a_trace(const ptx::Instruction& in, const exec::Usage& usage) {
  const Effect effect = effect_on(Memory::shared, in);
  const bool loads = effect == Effect::load || (in.op == Op::ld && !in.has(Mod::volatile_));
  const ptx::OpClass op_class = ptx::info(in.op).op_class;
  return usage.writes.empty() || (!loads && effect != Effect::none) || op_class == ptx::OpClass::control ||
         op_class == ptx::OpClass::warp || op_class == ptx::OpClass::atomic || in.has(Mod::volatile_);
}

/// What is needed of operand `k` of an instruction of 64 bits of whose result `to` is needed.
uint8_t needed(const ptx::Instruction& in, size_t k, uint8_t to) {
  const auto constant = [&](size_t other) -> std::optional<uint64_t> {
    const Operand& o = in.operands[other];
    return o.kind == Operand::Kind::integer ? std::optional(o.bits) : std::nullopt;
  };
  if (ptx::is_float(in.type()) && in.op != Op::mov && in.op != Op::selp) return all;
  switch (in.op) {
    case Op::mov:
    case Op::not_:
    case Op::or_:
    case Op::xor_: return to;
    case Op::and_: {
      const std::optional<uint64_t> mask = constant(3 - k);
      if (!mask) return to;
      const int kept = ((*mask & 0xffffffffu) != 0 ? low : 0) | (*mask >> 32 != 0 ? high : 0);
      return static_cast<uint8_t>(to & kept);
    }
    case Op::selp: return k == 3 ? all : to;
    case Op::add:
    case Op::sub:
    case Op::neg: return in.has(Mod::cc) || to & high ? all : to;  // carries go up
    case Op::mul:
    case Op::mad: return !in.has(Mod::lo) || to & high ? all : to;
    case Op::shl:
    case Op::shr: {
      const std::optional<uint64_t> by = constant(2);
      const bool is_by_a_half = by && *by >= 32 && *by < 64;
      if (k == 2) return all;
      if (in.op == Op::shr) return is_by_a_half ? high : all;
      return to & high && !is_by_a_half ? all : low;
    }
    default: return all;
  }
}

/// What an instruction needs of a register that it reads, if `used` tells what is needed of what it writes.
uint8_t needed_of(const ptx::Instruction& in, uint32_t reg, const std::vector<uint8_t>& used) {
  const auto is = [&](const Operand& o) { return o.kind == Operand::Kind::reg && o.reg == reg; };
  if (reg == in.guard || in.types.empty()) return all;
  const bool only_data = std::none_of(in.operands.begin(), in.operands.end(), [&](const Operand& o) {
    return o.kind == Operand::Kind::address && o.reg == reg;
  });
  if (in.op == Op::st && in.vector == 1 && only_data && ptx::size_of(in.type()) == 4) return low;
  const Operand& to = in.operands[0];
  if (in.op == Op::mov && to.kind == Operand::Kind::vector && to.count == 2 && is(in.operands[1])) {
    uint8_t halves = 0;
    for (const uint32_t half : {0u, 1u}) {
      const Operand& part = in.elements[to.first + half];
      if (part.kind == Operand::Kind::reg && used[part.reg] != 0) halves |= half == 0 ? low : high;
    }
    return halves;
  }
  if (to.kind != Operand::Kind::reg) return all;
  if (in.op == Op::cvt) {
    if (in.types.size() != 2) return all;
    const auto [result, source] = std::pair(in.types[0], in.types[1]);
    const bool cuts =
        ptx::size_of(result) <= 4 && !ptx::is_float(result) && !ptx::is_float(source) && !in.has(Mod::sat);
    return cuts || ptx::size_of(source) <= 4 ? low : all;
  }
  if (in.op == Op::mov && in.operands[1].kind == Operand::Kind::vector && ptx::size_of(in.type()) == 8) {
    const Operand& parts = in.operands[1];
    for (uint32_t part = 0; part < parts.count; ++part)
      if (is(in.elements[parts.first + part]) && used[to.reg] & (part < parts.count / 2 ? low : high))
        return all;
    return 0;
  }
  uint8_t halves = 0;
  for (size_t k = 1; k < in.operands.size(); ++k) {
    if (is(in.operands[k]))
      halves |= ptx::size_of(in.type()) == 8 ? needed(in, k, used[to.reg]) : all;
    else if (in.operands[k].kind != Operand::Kind::reg && in.operands[k].kind != Operand::Kind::integer)
      return all;
  }
  return halves;
}

/// How an instruction extends the 16 bits that it takes as operand `k`.
uint8_t extension(const ptx::Instruction& in, size_t k) {
  if (in.types.empty() || ptx::size_of(in.types.back()) != 2) return 0;
  const Type type = in.types.back();
  const uint8_t own = ptx::is_signed(type) ? Used::sign : Used::zeros;
  if (in.op == Op::cvt) {
    if (ptx::is_float(in.types[0])) return type == Type::bf16 ? Used::either : 0;
    return ptx::size_of(in.types[0]) > 2 && !ptx::is_float(type) ? own : 0;
  }
  if (ptx::is_float(type)) return 0;
  switch (in.op) {
    case Op::add:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
    case Op::shl:
    case Op::cnot: return Used::either;
    case Op::and_: return in.operands[3 - k].kind == Operand::Kind::integer ? 0 : Used::either;
    case Op::sub: return k == 1 ? Used::either : 0;
    case Op::mov:
    case Op::st:
    case Op::selp:
    case Op::slct:
    case Op::min:
    case Op::max:
    case Op::neg:
    case Op::abs: return 0;
    default: return own;
  }
}

}  // namespace

Used::Used(const ptx::Function& f, const exec::Flow& flow)
    : halves_(f.registers.size(), 0), extended_(f.registers.size(), 0) {
  std::vector<std::vector<uint32_t>> writers(f.registers.size());
  std::vector<uint32_t> open;
  const auto need = [&](uint32_t instruction) {
    const ptx::Instruction& in = f.body[instruction];
    for (const uint32_t reg : flow.usage[instruction].reads) {
      // What a guarded load of a vector keeps of its registers is used no more than what it brings.
      const std::vector<uint32_t>& writes = flow.usage[instruction].writes;
      const bool is_kept = in.op == Op::ld && in.guard != no_index && reg != in.operands[1].reg &&
                           std::find(writes.begin(), writes.end(), reg) != writes.end();
      const uint8_t needed = is_kept ? 0 : needed_of(in, reg, halves_);
      const auto more = static_cast<uint8_t>(needed & ~halves_[reg]);
      if (more == 0) continue;
      halves_[reg] |= more;
      open.push_back(reg);
    }
  };
  for (uint32_t i = 0; i < f.body.size(); ++i)
    for (const uint32_t reg : flow.usage[i].writes) writers[reg].push_back(i);
  for (uint32_t i = 0; i < f.body.size(); ++i) {
    const ptx::Instruction& in = f.body[i];
    if (leaves_a_trace(in, flow.usage[i])) need(i);
    for (size_t k = 1; k < in.operands.size(); ++k)
      if (in.operands[k].kind == Operand::Kind::reg) extended_[in.operands[k].reg] |= extension(in, k);
  }
  while (!open.empty()) {
    const uint32_t reg = open.back();
    open.pop_back();
    for (const uint32_t i : writers[reg]) need(i);
  }
  for (uint32_t reg = 0; reg < f.registers.size(); ++reg)
    if (extended_[reg] != 0) open.push_back(reg);
  while (!open.empty()) {  // what is moved is extended as it is where it was moved to
    const uint32_t reg = open.back();
    open.pop_back();
    for (const uint32_t i : writers[reg]) {
      const ptx::Instruction& in = f.body[i];
      if ((in.op != Op::mov && in.op != Op::selp) || in.operands[0].kind != Operand::Kind::reg) continue;
      for (const uint32_t from : flow.usage[i].reads) {
        if ((extended_[reg] & ~extended_[from]) == 0) continue;
        extended_[from] |= extended_[reg];
        open.push_back(from);
      }
    }
  }
}

uint32_t Used::of_load(const ptx::Instruction& load) const {
  const uint32_t halves = elements_of(load).bytes == 8 ? 2 : 1;
  const ptx::Operand& data = load.operands[0];
  uint32_t used = 0;
  for (uint32_t k = 0; k < load.vector; ++k) {
    const ptx::Operand& part = data.kind == ptx::Operand::Kind::vector ? load.elements[data.first + k] : data;
    if (part.kind == ptx::Operand::Kind::reg && any(part.reg))
      used |= (halves == 2 ? this->halves(part.reg) : 1u) << k * halves;
  }
  return used;
}

}  // namespace lanescope::merge
