// See values.hpp. Value numbering over the control-flow graph: registers written once have one value; of
// those written often the value is followed through the blocks, and where different ones meet a new base
// stands for whatever came. Walked again until nothing changes.
#include "merge/values.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "merge/effects.hpp"

namespace lanescope::merge {

using ptx::Mod;
using ptx::no_index;
using ptx::Op;
using ptx::Operand;
using ptx::SymbolRef;
using ptx::Type;

namespace {

constexpr uint32_t all_zeros = 63;
constexpr uint32_t most_rounds = 16;
constexpr int64_t parameter = -4;  ///< Node::number of what is loaded from a kernel's parameter

uint32_t trailing_zeros(int64_t number) {
  return number == 0 ? all_zeros : static_cast<uint32_t>(std::countr_zero(static_cast<uint64_t>(number)));
}

/// Sums and products wrap, as the registers do.
int64_t wrapped_sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapped_difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t wrapped_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// Whether equal operands always give equal results.
bool is_pure(const ptx::Instruction& in) {
  switch (ptx::info(in.op).op_class) {
    case ptx::OpClass::arithmetic:
    case ptx::OpClass::logic:
    case ptx::OpClass::compare:
    case ptx::OpClass::convert:
    case ptx::OpClass::video: return true;
    default: return in.op == Op::mov;
  }
}

/// What ptxas makes code of in which lanes may part, after which it takes their results for different ones.
bool has_slow_path(const ptx::Instruction& in) {
  const bool is_wide = ptx::size_of(in.type()) == 8;
  switch (in.op) {
    case Op::div:
    case Op::rem:
      if (!ptx::is_float(in.type())) return is_wide && in.operands.back().kind != Operand::Kind::integer;
      [[fallthrough]];
    case Op::rcp:
    case Op::sqrt: return !in.has(Mod::approx) && !in.has(Mod::full);
    default: return false;
  }
}

}  // namespace

bool differs_by_lane(ptx::SpecialRegister reg) {
  using R = ptx::SpecialRegister;
  switch (reg) {
    case R::tid_x:
    case R::tid_y:
    case R::tid_z:
    case R::laneid:
    case R::lanemask_eq:
    case R::lanemask_le:
    case R::lanemask_lt:
    case R::lanemask_ge:
    case R::lanemask_gt: return true;
    default: return false;
  }
}

Values::Values(const ptx::Function& function, const exec::Flow& flow, const exec::Loops& loops,
               const std::vector<uint32_t>& module_shared, const std::vector<uint32_t>& local_shared,
               bool warps_agree, const exec::WrittenOut* written_out)
    : f_(function),
      flow_(flow),
      loops_(loops),
      module_shared_(module_shared),
      local_shared_(local_shared),
      warps_agree_(warps_agree),
      written_out_(written_out) {
  nodes_.emplace_back();  // base 0: nothing but the constant
  nodes_[0].zeros = all_zeros;
  addresses_.resize(f_.body.size());
  data_.resize(f_.body.size());
  single_.resize(f_.registers.size());
  many_.assign(f_.registers.size(), no_index);
  number_pieces();
  std::vector<uint32_t> writes(f_.registers.size(), 0);
  for (size_t i = 0; i < f_.body.size(); ++i)
    for (const uint32_t reg : flow_.usage[i].writes) writes[reg] += f_.body[i].guard == no_index ? 1 : 2;
  for (uint32_t reg = 0; reg < writes.size(); ++reg) {
    if (writes[reg] > 1) many_[reg] = many_count_++;
    single_[reg] = {node(Kind::once, {}, {}, -1 - static_cast<int64_t>(reg), 0), 0};
  }
  order_blocks();
  out_.resize(flow_.blocks.size());
  joins_.resize(flow_.blocks.size());
  for (uint32_t round = 0; round < most_rounds; ++round)
    if (!walk()) break;
  find_shown();
  find_used_joins();
  find_zeros();
  find_differences();
}

void Values::order_blocks() {
  order_ = exec::reverse_post_order(flow_);
  before_.resize(flow_.blocks.size());
  for (const uint32_t block : order_)
    for (const uint32_t to : flow_.blocks[block].next)
      if (to < before_.size()) before_[to].push_back(block);
  if (written_out_ == nullptr) return;
  for (const auto& [from, to] : written_out_->ways)
    before_[flow_.block_of[to]].push_back(flow_.block_of[from]);
}

size_t Values::KeyHash::operator()(const Key& key) const {
  uint64_t hash = static_cast<uint64_t>(key.kind);
  const auto add = [&](uint64_t part) {
    hash = (std::rotl(hash, 29) ^ part) * 0x9e3779b97f4a7c15;  // an odd number near 2^64 / the golden ratio
  };
  for (const Value& value : {key.a, key.b}) {
    add(value.base);
    add(static_cast<uint64_t>(value.offset));
  }
  add(static_cast<uint64_t>(key.number));
  for (const uint64_t part : key.more) add(part);
  return hash ^ hash >> 32;
}

uint32_t Values::node(Kind kind, const Value& a, const Value& b, int64_t number, uint32_t block,
                      std::vector<uint64_t> more, int64_t drawn_out) {
  const auto [found, fresh] =
      known_.try_emplace({kind, a, b, number, std::move(more)}, static_cast<uint32_t>(nodes_.size()));
  if (fresh) {
    Node n;
    n.kind = kind;
    n.a = a;
    n.b = b;
    n.number = number;
    n.block = block;
    n.seen_from = drawn_out;
    n.zeros = zeros_of(n);
    nodes_.push_back(std::move(n));
  }
  Node& n = nodes_[found->second];
  if (n.round != round_) {
    n.round = round_;
    n.at = instruction_;
    n.scattered = false;
  } else if (!loops_.dominators.dominates(flow_.block_of[n.at], block_)) {
    n.scattered = true;
  }
  return found->second;
}

/// The base of what comes into a block in one of the registers that are written often.
uint32_t Values::join(uint32_t block, uint32_t index) {
  std::vector<uint32_t>& joins = joins_[block];
  if (joins.empty()) joins.resize(many_count_);
  if (joins[index] == 0) {
    joins[index] = static_cast<uint32_t>(nodes_.size());
    Node n;
    n.kind = Kind::join;
    n.block = block;
    n.at = flow_.blocks[block].begin;
    n.index = index;
    nodes_.push_back(std::move(n));
  }
  return joins[index];
}

Value Values::choice(const Value& a, const Value& b, uint32_t index, const Value& condition) {
  const uint32_t result = node(Kind::either, a, b, index, block_);
  nodes_[result].follows = condition.base;
  return {result, 0};
}

Value Values::once(uint32_t index) { return {node(Kind::once, {}, {}, index, block_), 0}; }

Value Values::current(uint32_t reg) const {
  return many_[reg] == no_index ? single_[reg] : state_[many_[reg]];
}

void Values::set(uint32_t reg, const Value& value) {
  (many_[reg] == no_index ? single_[reg] : state_[many_[reg]]) = value;
}

/// One walk over all blocks; whether anything was found to be different from the walk before.
bool Values::walk() {
  bool changed = false;
  ++round_;
  for (const uint32_t block : order_) {
    block_ = block;
    enter_block(block);
    walk_block(block);
    if (out_[block] != state_) changed = true;
    out_[block] = state_;
  }
  return changed;
}

/// The state at a block's begin: what all ways to it agree on, and joins of what they do not.
void Values::enter_block(uint32_t block) {
  std::vector<uint32_t> from;
  for (const uint32_t b : before_[block])
    if (!out_[b].empty() || many_count_ == 0) from.push_back(b);
  if (block != 0 && from.size() == 1 && joins_[block].empty()) {
    state_ = out_[from.front()];
    return;
  }
  state_.assign(many_count_, {});
  for (uint32_t i = 0; i < many_count_; ++i) {
    uint32_t own = joins_[block].empty() ? 0 : joins_[block][i];
    const Value* met = nullptr;
    bool different = block == 0 || from.empty();  // may be read before it is written
    for (const uint32_t b : from) {
      const Value& came = out_[b][i];
      if (own != 0 && came == Value{own, 0}) continue;
      if (met == nullptr) met = &came;
      different |= !(*met == came);
    }
    if (different || met == nullptr) own = join(block, i);
    state_[i] = different || met == nullptr ? Value{own, 0} : *met;
    if (own == 0) continue;
    Node& n = nodes_[own];
    n.incoming.clear();
    for (const uint32_t b : from) n.incoming.push_back(out_[b][i]);
  }
}

void Values::walk_block(uint32_t block) {
  for (uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
    const ptx::Instruction& in = f_.body[i];
    instruction_ = i;
    for (const Operand& o : in.operands) {
      if (o.kind != Operand::Kind::address) continue;
      const auto offset = static_cast<int64_t>(o.bits);
      if (o.reg != no_index) {
        const Value base = current(o.reg);
        addresses_[i] = {base.base, wrapped_sum(base.offset, offset)};
      } else {
        addresses_[i] = symbol(o.symbol, offset);
      }
      const Node& n = nodes_[addresses_[i].base];
      if (n.kind == Kind::symbol) addresses_[i] = {0, wrapped_sum(addresses_[i].offset, n.number)};
      const auto next = static_cast<size_t>(&o - in.operands.data()) + 1;
      if (next < in.operands.size()) data_[i] = of(in.operands[next]);
      break;
    }
    const exec::Usage& usage = flow_.usage[i];
    if (usage.writes.empty()) continue;
    Value result = usage.writes.size() == 1 ? evaluate(in, i) : once(i);
    for (size_t k = 0; k < usage.writes.size(); ++k) {
      const uint32_t reg = usage.writes[k];
      Value value = k == 0 ? result : Value{node(Kind::once, {}, {}, i, block_, {k}), 0};
      if (Node& n = nodes_[value.base]; n.kind == Kind::once && n.number == int64_t{i})
        n.follows = source_for_all_lanes(in, i);
      if (in.guard != no_index) value = choice(current(reg), value, i, current(in.guard));
      set(reg, value);
    }
  }
}

Value Values::symbol(const SymbolRef& ref, int64_t offset) {
  const std::vector<uint32_t>* shared = nullptr;
  if (ref.kind == SymbolRef::Kind::module_variable) shared = &module_shared_;
  if (ref.kind == SymbolRef::Kind::local_variable) shared = &local_shared_;
  if (shared != nullptr && (*shared)[ref.index] != no_index)
    return {node(Kind::symbol, {}, {}, (*shared)[ref.index], 0), offset};
  return {node(Kind::same_operands, {}, {}, -1, 0, {static_cast<uint64_t>(ref.kind), ref.index}), offset};
}

Value Values::of(const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::reg: return current(o.reg);
    case Operand::Kind::integer: return {0, static_cast<int64_t>(o.bits)};
    case Operand::Kind::symbol: return symbol(o.symbol, static_cast<int64_t>(o.bits));
    default: break;
  }
  if (o.kind == Operand::Kind::special) {
    const uint32_t base = node(Kind::same_operands, {}, {}, -2, 0, {static_cast<uint64_t>(o.special)});
    nodes_[base].differs =
        differs_by_lane(o.special) || (o.special == ptx::SpecialRegister::warpid && !warps_agree_);
    return {base, 0};
  }
  return {node(Kind::same_operands, {}, {}, -3, 0, {static_cast<uint64_t>(o.kind), o.bits}), 0};
}

Value Values::add(const Value& a, const Value& b) {
  const int64_t offset = wrapped_sum(a.offset, b.offset);
  const int64_t drawn_out = wrapped_sum(a.drawn_out, b.drawn_out);
  if (a.base == 0) return {b.base, offset, drawn_out, instruction_};
  if (b.base == 0) return {a.base, offset, drawn_out, instruction_};
  Value first = {a.base, 0, 0, a.at}, second = {b.base, 0, 0, b.at};
  if (first.base > second.base) std::swap(first, second);
  return {node(Kind::sum, first, second, 0, 0, {}, drawn_out), offset, drawn_out, added(offset)};
}

Value Values::subtract(const Value& a, const Value& b) {
  const int64_t offset = wrapped_difference(a.offset, b.offset);
  const int64_t drawn_out = wrapped_difference(a.drawn_out, b.drawn_out);
  if (b.base == 0) return {a.base, offset, drawn_out, instruction_};
  if (a.base == b.base) return {0, offset};
  return {node(Kind::difference, {a.base, 0}, {b.base, 0}, 0, 0, {}, drawn_out), offset, drawn_out,
          added(offset)};
}

Value Values::multiply(const Value& a, int64_t factor) {
  const int64_t offset = wrapped_product(a.offset, factor);
  if (a.base == 0 || factor == 0) return {0, offset};
  if (factor == 1) return a;
  const Node& inner = nodes_[a.base];
  // A multiple of a multiple is one multiple.
  if (inner.kind == Kind::multiple && inner.a.offset == 0 && inner.block == 0)
    return multiply_base(inner.a.base, wrapped_product(inner.number, factor), offset);
  return multiply_base(a.base, factor, offset);
}

Value Values::multiply_base(uint32_t base, int64_t factor, int64_t offset) {
  return {node(Kind::multiple, {base, 0}, {}, factor, 0, {}, offset), offset, offset, added(offset)};
}

Value Values::both(Kind kind, Value a, Value b) {
  if (std::pair(b.base, b.offset) < std::pair(a.base, a.offset)) std::swap(a, b);
  return {node(kind, a, b, kind == Kind::either ? -1 : 0, 0), 0};
}

std::optional<Value> Values::evaluate_integer(const ptx::Instruction& in, uint32_t index) {
  const auto operand = [&](size_t i) { return of(in.operands[i]); };
  switch (in.op) {
    case Op::mov:
      if (in.operands.size() == 2 && in.operands[1].kind != Operand::Kind::vector &&
          in.operands[1].kind != Operand::Kind::special)
        return operand(1);
      break;
    case Op::cvta: return operand(1);
    case Op::cvt:
      // Narrowing keeps the low bits; widening would have to know that nothing overflows.
      if (in.types.size() == 2 && !ptx::is_float(in.types[1])) {
        const Value from = operand(1);
        if (ptx::size_of(in.types[0]) <= ptx::size_of(in.types[1]) && ptx::size_of(in.types[0]) >= 4)
          return from;
        if (ptx::size_of(in.types[0]) >= 4)
          return Value{
              node(Kind::multiple, from, {}, 1, 0,
                   {ptx::is_signed(in.types[1]), ptx::size_of(in.types[0]), ptx::size_of(in.types[1])}),
              0};
      }
      break;
    case Op::add: return add(operand(1), operand(2));
    case Op::sub: return subtract(operand(1), operand(2));
    case Op::shl: {
      const Value by = operand(2);
      if (by.base == 0 && by.offset >= 0 && by.offset < 63)
        return multiply(operand(1), int64_t{1} << by.offset);
      break;
    }
    case Op::mul:
    case Op::mad:
    case Op::mul24:
    case Op::mad24: {
      if (in.has(Mod::hi)) break;
      const Value a = operand(1), b = operand(2);
      Value product;
      if (in.has(Mod::wide)) {
        // Of the whole product; the factors are not taken apart.
        product = {node(Kind::product, std::min(a.base, b.base) == a.base ? a : b,
                        std::min(a.base, b.base) == a.base ? b : a, 1, 0),
                   0};
      } else if (b.base == 0) {
        product = multiply(a, b.offset);
      } else if (a.base == 0) {
        product = multiply(b, a.offset);
      } else {
        product = both(Kind::product, a, b);
      }
      return in.op == Op::mad || in.op == Op::mad24 ? add(product, operand(3)) : product;
    }
    case Op::and_: return both(Kind::masked, operand(1), operand(2));
    case Op::or_: {
      const Value a = operand(1), b = operand(2);
      // Bits that are zero in the one are set by the other: as adding a constant.
      if (b.base == 0 && b.offset >= 0 && a.base != 0) {
        if (b.offset < (int64_t{1} << std::min(own_zeros(a), uint32_t{30}))) return add(a, b);
      }
      return both(Kind::either, a, b);
    }
    case Op::xor_: {
      // Not the same kind of node as an or of the same operands.
      const Value a = operand(1), b = operand(2);
      const bool swap = std::pair(b.base, b.offset) < std::pair(a.base, a.offset);
      return Value{node(Kind::either, swap ? b : a, swap ? a : b, -2, 0), 0};
    }
    case Op::selp: return choice(operand(1), operand(2), index, operand(3));
    case Op::bfi: {
      const Value at = operand(3), length = operand(4);
      if (at.base == 0 && length.base == 0 && at.offset >= 0 && at.offset < 32) {
        const Value moved = {node(Kind::multiple, operand(1), {}, int64_t{1} << at.offset, 0,
                                  {1, static_cast<uint64_t>(length.offset)}),
                             0};
        return Value{node(Kind::either, operand(2), moved, -3, 0), 0};
      }
      break;
    }
    default: break;
  }
  return std::nullopt;
}

Value Values::evaluate(const ptx::Instruction& in, uint32_t index) {
  const bool integer = !ptx::is_float(in.type()) && in.type() != Type::pred;
  if (integer && !in.has(Mod::sat) && !in.has(Mod::cc))
    if (const std::optional<Value> value = evaluate_integer(in, index)) return *value;
  if (in.op == Op::ld && (in.space == ptx::Space::param || in.space == ptx::Space::param_entry) &&
      in.vector == 1) {
    const Operand& o = in.operands[1];
    if (o.kind == Operand::Kind::address && o.reg == no_index) {
      const uint32_t result = node(Kind::same_operands, {}, {}, parameter, 0,
                                   {static_cast<uint64_t>(o.symbol.kind), o.symbol.index, o.bits});
      nodes_[result].differs = !is_of_launch(o.symbol);
      return {result, 0};
    }
  }
  if (!is_pure(in) ||
      (in.op == Op::mov && in.operands.size() == 2 && in.operands[1].kind != Operand::Kind::special))
    return once(index);
  if (in.op == Op::mov) {
    switch (in.operands[1].special) {
      case ptx::SpecialRegister::clock:
      case ptx::SpecialRegister::clock_hi:
      case ptx::SpecialRegister::clock64:
      case ptx::SpecialRegister::globaltimer:
      case ptx::SpecialRegister::globaltimer_lo:
      case ptx::SpecialRegister::globaltimer_hi: return once(index);
      default: return of(in.operands[1]);
    }
  }
  return same_operands(in, index);
}

Value Values::same_operands(const ptx::Instruction& in, uint32_t index) {
  std::vector<uint64_t> all;
  all.push_back(static_cast<uint64_t>(in.op));
  for (const Type t : in.types) all.push_back(static_cast<uint64_t>(t));
  for (size_t m = 0; m < ptx::modifier_count; ++m)
    if (in.modifiers[m]) all.push_back(1000 + m);
  std::vector<uint32_t> bases;
  for (size_t i = 1; i < in.operands.size(); ++i) {
    const Operand& o = in.operands[i];
    if (o.kind == Operand::Kind::vector || o.kind == Operand::Kind::list) return once(index);
    const Value v = of(o);
    all.push_back(uint64_t{v.base} << 1 | (o.negated ? 1 : 0));
    all.push_back(static_cast<uint64_t>(v.offset));
    bases.push_back(v.base);
  }
  const uint32_t result = node(Kind::same_operands, {}, {}, 0, 0, std::move(all));
  nodes_[result].operands = std::move(bases);
  nodes_[result].differs = has_slow_path(in);
  return {result, 0};
}

uint32_t Values::own_zeros(const Value& value) const {
  return std::min(nodes_[value.base].zeros, trailing_zeros(value.offset));
}

uint32_t Values::zeros_before(const Value& value, uint32_t instruction) const {
  const Node& n = nodes_[value.base];
  const uint32_t taken_at = value.at != 0 ? value.at : instruction;
  const bool is_before = pieces_[taken_at] == pieces_[n.at] && taken_at < n.shown_at;
  return std::min(is_before ? n.zeros : std::max(n.zeros, n.shown), trailing_zeros(value.offset));
}

bool Values::is_parameter(uint32_t base) const {
  return nodes_[base].kind == Kind::same_operands && nodes_[base].number == parameter;
}

uint32_t Values::zeros(const Value& value, uint32_t block) const {
  const Node& n = nodes_[value.base];
  return std::max(seen(n, value.offset, n.zeros),
                  std::min(shown_in(value.base, block), trailing_zeros(value.offset)));
}

uint32_t Values::shown_in(uint32_t base, uint32_t block) const {
  uint32_t shown = nodes_[base].shown;
  const auto found = shown_.find(base);
  if (found == shown_.end()) return shown;
  for (const Shown& s : found->second)
    if (loops_.dominators.dominates(s.block, block) && (s.loop == nullptr || s.loop->has[block]))
      shown = std::max(shown, s.zeros);
  return shown;
}

bool Values::has_zeros_itself(const Value& value, uint32_t count) const {
  const Node& n = nodes_[value.base];
  return seen(n, value.offset, zeros_of(n)) >= count;
}

uint32_t Values::seen(const Node& n, int64_t offset, uint32_t zeros) {
  return std::min(
      {zeros, trailing_zeros(n.seen_from), trailing_zeros(wrapped_difference(offset, n.seen_from))});
}

uint32_t Values::zeros_of(const Node& n) const {
  const auto zeros = [&](const Value& v) { return zeros_before(v, n.at); };
  switch (n.kind) {
    case Kind::nothing: return all_zeros;
    case Kind::once:
    case Kind::same_operands: return 0;
    case Kind::symbol: return std::min(trailing_zeros(n.number), uint32_t{10});
    case Kind::sum:
    case Kind::difference:
    case Kind::either: return std::min(zeros(n.a), zeros(n.b));
    case Kind::multiple: return std::min(all_zeros, zeros(n.a) + trailing_zeros(n.number));
    case Kind::product: return std::min(all_zeros, zeros(n.a) + zeros(n.b));
    case Kind::masked: return std::max(zeros(n.a), zeros(n.b));
    case Kind::join: {
      uint32_t least = n.incoming.empty() || n.block == 0 ? 0 : all_zeros;
      for (const Value& v : n.incoming) {
        const bool given = written_out_ != nullptr && is_parameter(v.base) && v.offset == 0;
        least = std::min(least, given ? shown_in(v.base, n.block) : zeros(v));
      }
      return least;
    }
  }
  return 0;
}

/// Low zero bits of all bases: assumed of what goes round in loops until something says otherwise. Of a
/// register that is written often the assembler knows the same wherever it is used: what is so of all that it
/// may hold.
void Values::find_zeros() {
  std::vector<std::pair<uint32_t, uint32_t>> copies;  // of one such register into another
  for (const ptx::Instruction& in : f_.body)
    if (in.op == Op::mov && in.operands.size() == 2 && in.operands[0].kind == Operand::Kind::reg &&
        in.operands[1].kind == Operand::Kind::reg && many_[in.operands[0].reg] != no_index &&
        many_[in.operands[1].reg] != no_index)
      copies.emplace_back(many_[in.operands[0].reg], many_[in.operands[1].reg]);
  for (size_t i = 1; i < nodes_.size(); ++i) nodes_[i].zeros = all_zeros;
  std::vector<uint32_t> of_register(many_count_, all_zeros);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Node& n : nodes_)
      if (n.used) of_register[n.index] = std::min(of_register[n.index], zeros_of(n));
    for (const auto& [to, from] : copies) of_register[to] = std::min(of_register[to], of_register[from]);
    for (size_t i = 1; i < nodes_.size(); ++i) {
      Node& n = nodes_[i];
      const uint32_t now = n.used ? of_register[n.index] : zeros_of(n);
      changed |= now != n.zeros;
      n.zeros = now;
    }
  }
}

/// Pieces end with blocks, and where the assembler makes a branch, a loop, or a call of an instruction.
void Values::number_pieces() {
  pieces_.resize(f_.body.size() + 1);  // so that there is a first one
  uint32_t piece = 0;
  for (const exec::Flow::Block& block : flow_.blocks) {
    ++piece;
    for (uint32_t i = block.begin; i < block.end; ++i) {
      pieces_[i] = piece;
      if (parts_code(f_.body[i])) ++piece;
    }
  }
}

void Values::find_shown() {
  const auto loop_of = [&](uint32_t header) {
    const auto found = std::find_if(loops_.all.begin(), loops_.all.end(),
                                    [&](const exec::Loop& loop) { return loop.header == header; });
    return found == loops_.all.end() ? nullptr : &*found;
  };
  for (uint32_t i = 0; i < f_.body.size(); ++i) {
    const ptx::Instruction& in = f_.body[i];
    const uint32_t bytes = in.guard == no_index ? bytes_shown(in) : 0, block = flow_.block_of[i];
    const Value& address = addresses_[i];
    if (bytes == 0 || address.base == 0 || address.offset % bytes != 0) continue;
    const uint32_t zeros = trailing_zeros(bytes);
    Node& n = nodes_[address.base];
    const bool given = is_parameter(address.base);
    if (given && loops_.innermost(block) == nullptr) shown_[address.base].push_back({block, zeros, nullptr});
    if (given || pieces_[n.at] != pieces_[i] || n.scattered) continue;
    const exec::Loop* counting = n.kind == Kind::join ? loop_of(n.block) : nullptr;
    if (counting != nullptr)
      shown_[address.base].push_back({block, zeros, counting});
    else if (zeros > n.shown)
      n.shown = zeros, n.shown_at = i;
  }
}

void Values::find_used_joins() {
  std::vector<uint32_t> open;
  const auto use = [&](uint32_t base) {
    Node& n = nodes_[base];
    if (n.kind != Kind::join || std::exchange(n.used, true)) return;
    for (const Value& v : n.incoming) open.push_back(v.base);
  };
  for (const Value& address : addresses_) use(address.base);
  for (const Node& n : nodes_) {
    if (n.kind == Kind::join || n.round != round_) continue;
    open.insert(open.end(), {n.a.base, n.b.base});
    open.insert(open.end(), n.operands.begin(), n.operands.end());
  }
  while (!open.empty()) {
    const uint32_t base = open.back();
    open.pop_back();
    use(base);
  }
}

bool Values::is_made_of(uint32_t base, const std::function<Search(const Node&)>& look) const {
  std::vector<uint32_t> open{base};
  std::vector<bool> seen(nodes_.size(), false);
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    if (at == 0 || seen[at]) continue;
    seen[at] = true;
    const Node& n = nodes_[at];
    const Search found = look(n);
    if (found == Search::found) return true;
    if (found == Search::leave) continue;
    open.push_back(n.a.base);
    open.push_back(n.b.base);
    open.insert(open.end(), n.operands.begin(), n.operands.end());
  }
  return false;
}

bool Values::varies(uint32_t base, const std::vector<bool>& loop) const {
  return is_made_of(base, [&](const Node& n) {
    if ((n.kind != Kind::once || n.number < 0) && n.kind != Kind::join) return Search::go_on;
    return loop[n.block] ? Search::found : Search::leave;
  });
}

int64_t Values::step(uint32_t base, uint32_t header) const {
  const Node& n = nodes_[base];
  if (n.kind != Kind::join || n.block != header) return 0;
  int64_t step = 0;
  for (const Value& v : n.incoming) {
    if (v.base != base) continue;
    if (step != 0 && step != v.offset) return 0;
    step = v.offset;
  }
  return step;
}

Value Values::start(uint32_t base, uint32_t header) const {
  const Node& n = nodes_[base];
  Value start;
  if (n.kind == Kind::join && n.block == header)
    for (const Value& v : n.incoming)
      if (v.base != base) start = v;
  return start;
}

bool Values::counted(uint32_t header, const std::vector<bool>& loop) const {
  for (uint32_t block = 0; block < flow_.blocks.size(); ++block) {
    if (!loop[block] || out_[block].empty()) continue;
    for (uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
      const ptx::Instruction& in = f_.body[i];
      if (in.op != Op::setp || in.operands.size() < 3) continue;
      const Operand& a = in.operands[in.operands.size() - 2];
      const Operand& b = in.operands[in.operands.size() - 1];
      const Operand* reg = b.kind == Operand::Kind::integer   ? &a
                           : a.kind == Operand::Kind::integer ? &b
                                                              : nullptr;
      if (reg == nullptr || reg->kind != Operand::Kind::reg) continue;
      const Value v = many_[reg->reg] == no_index ? single_[reg->reg] : out_[block][many_[reg->reg]];
      if (step(v.base, header) != 0 && start(v.base, header).base == 0) return true;
    }
  }
  return false;
}

}  // namespace lanescope::merge
