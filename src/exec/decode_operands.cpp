// Operands become offsets into the register file; helper instructions around an instruction. See decoder.hpp.

#include <algorithm>
#include <bit>

#include "exec/decoder.hpp"

namespace lanescope::exec {

uint32_t Decoder::allocate(uint32_t bytes) {
  const uint32_t at = round_up(top_, bytes >= 64 ? 64 : 4);
  top_ = at + bytes;
  return at;
}

uint32_t Decoder::constant(uint32_t lane_bytes, uint64_t bits, uint64_t high) {
  if (lane_bytes != 0 && lane_bytes < 8) bits &= (1ull << (8 * lane_bytes)) - 1;
  auto [it, made] = constants_.try_emplace({lane_bytes, bits, high}, 0);
  if (made) {
    it->second = allocate(register_bytes(lane_bytes));
    k_.constants.push_back({it->second, lane_bytes, {bits, high}});
  }
  return it->second;
}

uint32_t Decoder::special(SpecialRegister reg) {
  auto [it, made] = specials_.try_emplace(reg, 0);
  if (made) {
    it->second = allocate(register_bytes(lane_bytes(ptx::type_of(reg))));
    k_.specials.push_back({it->second, reg});
  }
  return it->second;
}

namespace {

bool is_clock(SpecialRegister r) {
  switch (r) {
    case SpecialRegister::clock:
    case SpecialRegister::clock_hi:
    case SpecialRegister::clock64:
    case SpecialRegister::globaltimer:
    case SpecialRegister::globaltimer_lo:
    case SpecialRegister::globaltimer_hi: return true;
    default: return false;
  }
}

}  // namespace

uint32_t Decoder::read_special(SpecialRegister reg) {
  if (!is_clock(reg)) return special(reg);
  const uint32_t bytes = lane_bytes(ptx::type_of(reg));
  const uint32_t at = scratch(bytes);
  Inst& i = put(set_.control.clock, true);
  i.d = at;
  i.imm = static_cast<uint64_t>(reg);
  return at;
}

uint32_t Decoder::params_address() {
  if (k_.params_address == no_operand) k_.params_address = allocate(register_bytes(8));
  return k_.params_address;
}

uint32_t Decoder::scratch(uint32_t lane_bytes) {
  const uint32_t n = scratch_used_[width_class(lane_bytes)]++;
  auto [it, made] = scratch_.try_emplace({lane_bytes, n}, 0);
  if (made) it->second = allocate(register_bytes(lane_bytes));
  return it->second;
}

uint32_t Decoder::register_at(uint32_t reg) const {
  const uint32_t bytes = width_of(reg);
  const uint32_t slot = s_->flow.slot[reg];
  return s_->slots_at[width_class(bytes)] + slot * register_bytes(bytes);
}

Decoder::Place Decoder::place_of(const SymbolRef& symbol, uint64_t offset) {
  switch (symbol.kind) {
    case SymbolRef::Kind::module_variable: {
      if (is_shared(m_.variables[symbol.index].space))
        return {zero_, module_shared_.at(symbol.index) + offset};
      return {constant(8, symbols_.variables[symbol.index] + offset), 0};
    }
    case SymbolRef::Kind::local_variable:
      if (is_shared(s_->f->variables[symbol.index].space)) return {zero_, shared_of(symbol.index) + offset};
      return {s_->frame, s_->variable_at[symbol.index] + offset};
    case SymbolRef::Kind::parameter:
      if (s_->f->is_entry) return {no_operand, k_.params[symbol.index].offset + offset};
      return {s_->frame, s_->param_at[symbol.index] + offset};
    case SymbolRef::Kind::return_parameter: return {s_->frame, s_->return_at[symbol.index] + offset};
    case SymbolRef::Kind::function: return {constant(8, symbols_.functions[symbol.index] + offset), 0};
    case SymbolRef::Kind::none: break;
  }
  return {zero_, offset};
}

uint64_t Decoder::shared_of(uint32_t variable) {
  auto found = function_shared_.find({s_->index, variable});
  if (found != function_shared_.end()) return found->second;
  return k_.dynamic_shared_offset;
}

uint32_t Decoder::address_register(Place place, uint32_t bytes) {
  if (place.base == no_operand) place.base = params_address();
  auto fixed = std::find_if(k_.constants.begin(), k_.constants.end(),
                            [&](const auto& c) { return c.offset == place.base; });
  if (fixed != k_.constants.end()) return constant(bytes, fixed->bits[0] + place.offset);
  uint32_t at = place.base;
  if (place.offset != 0) {
    at = scratch(8);
    put_wide(Op::add, at, place.base, constant(8, place.offset));
  }
  if (bytes == 8) return at;
  const uint32_t narrow = scratch(bytes);
  put_resize({narrow, at, bytes, 8, false});
  return narrow;
}

uint32_t Decoder::source(const Operand& o, Type type) {
  const uint32_t want = lane_bytes(type);
  switch (o.kind) {
    case Operand::Kind::reg: {
      const uint32_t have = width_of(o.reg);
      const uint32_t at = register_at(o.reg);
      if (have == want || want == 0 || have == 0) return at;
      const uint32_t narrow = scratch(want);
      put_resize({narrow, at, want, have, ptx::is_signed(type)});
      return narrow;
    }
    case Operand::Kind::special: {
      const uint32_t have = lane_bytes(ptx::type_of(o.special));
      const uint32_t at = read_special(o.special);
      if (have == want) return at;
      const uint32_t other = scratch(want);
      put_resize({other, at, want, have, false});
      return other;
    }
    case Operand::Kind::integer:
      if (want == 0) return constant(0, o.bits != 0 ? full_mask : 0);
      return constant(want, o.bits, want == 16 && static_cast<int64_t>(o.bits) < 0 ? ~0ull : 0);
    case Operand::Kind::real32:
      if (type == Type::f64)
        return constant(8,
                        std::bit_cast<uint64_t>(double{std::bit_cast<float>(static_cast<uint32_t>(o.bits))}));
      return constant(want, o.bits);
    case Operand::Kind::real64:
      if (want == 4)
        return constant(4, std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))));
      return constant(want, o.bits);
    case Operand::Kind::symbol: return address_register(place_of(o.symbol, o.bits), want);
    case Operand::Kind::sink: return constant(want, 0);
    default: unsupported("operand");
  }
}

uint32_t Decoder::destination(const Operand& o, Type type, Resizes& later) {
  const uint32_t want = lane_bytes(type);
  if (o.kind == Operand::Kind::sink) return scratch(want);
  if (o.kind != Operand::Kind::reg) unsupported("destination operand");
  const uint32_t have = width_of(o.reg);
  const uint32_t at = register_at(o.reg);
  if (have == want || want == 0 || have == 0) return at;
  const uint32_t narrow = scratch(want);
  later.push_back({at, narrow, have, want, ptx::is_signed(type)});
  return narrow;
}

void Decoder::put_later(const Resizes& later) {
  for (const Resize& r : later) {
    put_guard();
    put_resize(r);
  }
}

Type Decoder::type_of(const ptx::OperandPattern& p) const {
  switch (p.type_from) {
    case ptx::OperandPattern::TypeFrom::first: break;
    case ptx::OperandPattern::TypeFrom::second: return in_->types.size() > 1 ? in_->types[1] : in_->type();
    case ptx::OperandPattern::TypeFrom::fixed: return p.type;
    case ptx::OperandPattern::TypeFrom::address: return Type::u64;
  }
  if (!p.doubled || !in_->has(Mod::wide)) return in_->type();
  switch (in_->type()) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    default: return in_->type();
  }
}

HandlerKey Decoder::key_of(const ptx::Instruction& in) const {
  HandlerKey key;
  key.op = in.op;
  for (size_t i = 0; i < in.types.size() && i < key.types.size(); ++i) key.types[i] = in.types[i];
  key.space = in.space;
  key.vector = in.vector;
  key.modifiers = in.modifiers;
  key.observed = observed_;
  key.checked = checked_;
  return key;
}

Handler Decoder::select(const HandlerKey& key) {
  const Handler h = set_.select(key);
  if (h == nullptr) unsupported("");
  return h;
}

Inst& Decoder::put(Handler fn, bool helper) {
  Inst inst;
  inst.fn = fn;
  inst.origin_and_weight = static_cast<uint32_t>(k_.origins.size() - 1) | (helper ? Inst::helper_bit : 0);
  k_.code.push_back(inst);
  return k_.code.back();
}

void Decoder::put_guard() {
  if (in_->guard == no_index) return;
  Inst& g = put(set_.control.guard, false);
  g.a = register_at(in_->guard);
  g.imm = in_->guard_negated ? 1 : 0;
}

void Decoder::put_wide(Op op, uint32_t d, uint32_t a, uint32_t b, bool helper) {
  HandlerKey key;
  key.op = op;
  key.types[0] = Type::u64;
  Inst& i = put(set_.select(key), helper);
  i.d = d;
  i.a = a;
  i.b = b;
}

void Decoder::put_copy(uint32_t lane_bytes, uint32_t d, uint32_t a, bool helper) {
  HandlerKey key;
  key.op = Op::mov;
  key.types[0] = lane_bytes == 0   ? Type::pred
                 : lane_bytes == 2 ? Type::b16
                 : lane_bytes == 4 ? Type::b32
                 : lane_bytes == 8 ? Type::b64
                                   : Type::b128;
  put_guard();
  Inst& i = put(select(key), helper || guarded());
  i.d = d;
  i.a = a;
  i.imm = 0;
}

void Decoder::put_resize(const Resize& r) {
  const Handler h = set_.resize(r.to_bytes, r.from_bytes, r.sign);
  if (h == nullptr) unsupported("register width");
  Inst& i = put(h, true);
  i.d = r.to;
  i.a = r.from;
}

uint32_t Decoder::put_side(const std::vector<uint32_t>& list) {
  const auto first = static_cast<uint32_t>(k_.side.size());
  k_.side.insert(k_.side.end(), list.begin(), list.end());
  return first;
}

}  // namespace lanescope::exec
