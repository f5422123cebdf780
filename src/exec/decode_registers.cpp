// Instructions that only touch registers. See decoder.hpp.

#include <array>
#include <bit>
#include <utility>

#include "exec/bytes.hpp"
#include "exec/decoder.hpp"
#include "exec/video.hpp"

namespace lanescope::exec {

namespace {

/// What set writes where the comparison holds: 1.0, or all ones; of pairs, in each half.
uint64_t set_value(Type type, Type compared) {
  switch (type) {
    case Type::f32: return 0x3f800000;
    case Type::f16:
    case Type::f16x2: return 0x3c00;
    case Type::bf16:
    case Type::bf16x2: return 0x3f80;
    default: return is_pair(compared) ? 0xffff : 0xffffffff;
  }
}

}  // namespace

void Decoder::emit_register_instruction(const Inst* before) {
  Resizes later;
  HandlerKey key = key_of(*in_);
  uint32_t d = no_operand, second = no_operand;
  std::array<uint32_t, 4> sources{no_operand, no_operand, no_operand, no_operand};
  uint64_t imm = 0;
  uint8_t count = 0;
  // add.f32.f16 and its like: halves become singles, exactly.
  const bool is_mixed =
      (in_->op == Op::add || in_->op == Op::sub || in_->op == Op::fma) && in_->types.size() == 2;
  for (const BoundOperand& bound : bind_operands(*in_)) {
    const ptx::OperandPattern& p = *bound.pattern;
    const Operand& o = *bound.operand;
    if (p.name == "m") continue;  // the member mask: see emit_crosslane
    if (p.destination) {
      const bool first = d == no_operand && !p.piped;
      if (o.kind == Operand::Kind::sink && !first) continue;
      (first ? d : second) = destination(o, type_of(p), later);
      continue;
    }
    if (p.piped) {  // p of `d|p`
      if (o.kind != Operand::Kind::sink) second = destination(o, type_of(p), later);
      continue;
    }
    if (p.constant_only) {
      imm |= o.bits;
      continue;
    }
    if (count == 4) unsupported("operands");
    if (o.negated) imm |= negation_bit(count);
    if (p.kind == ptx::OperandPattern::Kind::list) {
      std::vector<uint32_t> list(o.count);
      for (uint32_t e = 0; e < o.count; ++e) list[e] = source(in_->elements[o.first + e], p.type);
      sources[count++] = put_side(list);
      continue;
    }
    sources[count] = source(o, type_of(p));
    if (is_mixed && p.type_from == ptx::OperandPattern::TypeFrom::second) {
      HandlerKey widening;
      widening.op = Op::cvt;
      widening.types = {Type::f32, type_of(p)};
      widening.sources = 1;
      Inst& i = put(select(widening), true);
      i.a = sources[count];
      sources[count] = i.d = scratch(lane_bytes(Type::f32));
    }
    ++count;
  }
  if (ptx::info(in_->op).op_class == ptx::OpClass::video) imm = std::bit_cast<uint64_t>(video_control(*in_));
  const bool of_three = count == 3 && (in_->op == Op::min || in_->op == Op::max);
  key.sources = of_three ? 2 : count;
  uint32_t value = no_operand;  // what set writes; its comparison is setp's
  Handler set = nullptr;
  if (in_->op == Op::set) {
    set = select(key);
    key.op = Op::setp;
    key.types[0] = in_->types.back();
    value = std::exchange(d, scratch(0));
    if (is_pair(key.types[0])) second = scratch(0);
  }
  const Handler h = select(key);
  if (of_three) {
    Inst& i = put(h, true);
    i.d = scratch(lane_bytes(in_->type()));
    i.a = sources[0];
    i.b = sources[1];
    sources = {i.d, sources[2], no_operand, no_operand};
  }
  if (before != nullptr) {
    Inst& i = put(before->fn, true);
    i.a = before->a;
    i.imm = before->imm;
  }
  const auto put_it = [&] {
    put_guard();
    Inst& i = put(h, set != nullptr || guarded());
    i.d = d;
    i.a = sources[0];
    i.b = sources[1];
    i.c = sources[2];
    i.aux = count == 4 ? sources[3] : second;
    if (in_->op == Op::lop3 && count == 4) {  // lop3.or d|p, a, b, c, table, q: q beside the table
      i.aux = second;
      imm |= uint64_t{sources[3]} << 32;
    }
    if (in_->has(Mod::cc) || takes_carry(in_->op)) i.aux = s_->carry;
    i.imm = imm;
    if (set != nullptr) {
      Inst& choice = put(set, guarded());
      choice.d = value;
      choice.a = d;
      choice.b = second;
      choice.imm = set_value(in_->type(), in_->types.back());
    }
    put_later(later);
  };
  emit_behind_wait(before != nullptr, put_it);
}

void Decoder::emit_move() {
  const Operand &d = in_->operands[0], &a = in_->operands[1];
  Resizes later;
  HandlerKey key = key_of(*in_);
  const uint32_t bytes = lane_bytes(in_->type());
  if (in_->vector != 1) {  // all are read before any is written
    std::array<uint32_t, 4> values{};
    for (uint32_t i = 0; i < in_->vector; ++i) {
      values[i] = scratch(bytes);
      const Operand& o = in_->elements[a.first + i];
      put_move(values[i], source(o, in_->type()), o.negated, i != 0);
    }
    for (uint32_t i = 0; i < in_->vector; ++i)
      if (const Operand& o = in_->elements[d.first + i]; o.kind != Operand::Kind::sink)
        put_move(destination(o, in_->type(), later), values[i], false, true);
    put_later(later);
    return;
  }
  if (a.kind == Operand::Kind::vector || d.kind == Operand::Kind::vector) {
    const bool pack = a.kind == Operand::Kind::vector;
    const Operand& v = pack ? a : d;
    if (v.count != 2 && v.count != 4) unsupported("vector of this length");
    const uint32_t part = bytes / v.count;
    const Type part_type = part == 1 ? Type::b8 : part == 2 ? Type::b16 : part == 4 ? Type::b32 : Type::b64;
    std::array<uint32_t, 4> parts{no_operand, no_operand, no_operand, no_operand};
    for (uint32_t i = 0; i < v.count; ++i) {
      const Operand& o = in_->elements[v.first + i];
      if (pack)
        parts[i] = source(o, part_type);
      else if (o.kind != Operand::Kind::sink)
        parts[i] = destination(o, part_type, later);
    }
    const uint32_t whole = pack ? destination(d, in_->type(), later) : source(a, in_->type());
    if (part == 1) {
      put_guard();
      const uint32_t list = put_side(std::vector<uint32_t>(parts.begin(), parts.begin() + v.count));
      Inst& i = put(pack ? join_bytes : split_bytes, guarded());
      i.a = list;
      i.b = v.count;
      i.d = whole;
      put_later(later);
      return;
    }
    key.vector = static_cast<uint8_t>(v.count);
    key.sources = pack ? static_cast<uint8_t>(v.count) : 1;
    const Handler h = select(key);
    put_guard();
    Inst& i = put(h, guarded());
    if (pack) {
      i.d = whole;
      i.a = parts[0];
      i.b = parts[1];
      i.c = parts[2];
      i.aux = parts[3];
    } else {
      i.a = whole;
      i.d = parts[0];
      i.b = parts[1];
      i.c = parts[2];
      i.aux = parts[3];
    }
    put_later(later);
    return;
  }
  const uint32_t from = source(a, in_->type());
  put_move(destination(d, in_->type(), later), from, a.negated, false);
  put_later(later);
}

void Decoder::put_move(uint32_t to, uint32_t from, bool negated, bool helper) {
  HandlerKey key = key_of(*in_);
  key.sources = 1;
  key.vector = 1;
  const Handler h = select(key);
  put_guard();
  if (helper && guarded()) k_.code.back().origin_and_weight |= Inst::helper_bit;
  Inst& i = put(h, helper || guarded());
  i.d = to;
  i.a = from;
  i.imm = negated ? 1 : 0;
}

uint64_t Decoder::negation_bit(uint8_t n) const {
  switch (in_->op) {
    case Op::setp:
    case Op::set:
    case Op::selp: return 1;
    case Op::lop3: return 1ull << 8;
    default: return 1ull << n;
  }
}

}  // namespace lanescope::exec
