// What the decoder adds to a kernel that is checked while it runs (checks.hpp), and the check that needs no
// run: accesses to parameters. See decoder.hpp.

#include <algorithm>
#include <utility>

#include "base/words.hpp"
#include "exec/decoder.hpp"

namespace lanescope::exec {

namespace {

CheckedAccess::Strength strength_of(const ptx::Instruction& in, AccessKind kind) {
  using Strength = CheckedAccess::Strength;
  if (is_atomic(kind)) return Strength::atomic;
  if (in.has(Mod::relaxed) || in.has(Mod::acquire) || in.has(Mod::release)) return Strength::atomic;
  return in.has(Mod::volatile_) ? Strength::is_volatile : Strength::plain;
}

/// What a register may hold, as far as variables of shared memory go: nothing yet, no address of one, an
/// address computed from the name of one and from numbers, or one or another.
struct Base {
  enum class Kind : uint8_t { unset, none, variable, unknown } kind{};
  SymbolRef variable{};
  friend bool operator==(const Base&, const Base&) = default;
};

/// Of one of two.
Base either(const Base& a, const Base& b) {
  if (a.kind == Base::Kind::unset) return b;
  if (b.kind == Base::Kind::unset || a == b) return a;
  return {Base::Kind::unknown};
}

/// Of a sum; of a difference, if `subtracts`. The distance of two addresses is a number.
Base sum_of(const Base& a, const Base& b, bool subtracts) {
  if (a.kind == Base::Kind::unset || b.kind == Base::Kind::unset) return {};
  if (b.kind == Base::Kind::none) return a;
  if (a.kind == Base::Kind::none && !subtracts) return b;
  if (subtracts && a == b && a.kind == Base::Kind::variable) return {Base::Kind::none};
  return {Base::Kind::unknown};
}

/// For each register the variable of shared memory that all its values are addresses in, by their
/// computation: whatever number is added to the name of a variable, what it stands for lies in that variable,
/// or the program is wrong. Compilers do not compute one variable's address from another one's, since where
/// they lie is decided later.
std::vector<SymbolRef> shared_bases(const ptx::Module& m, const ptx::Function& f,
                                    const std::vector<Usage>& usage) {
  using Kind = Base::Kind;
  std::vector<Base> bases(f.registers.size());
  const auto of = [&](const Operand& o) -> Base {
    if (o.kind == Operand::Kind::reg) return bases[o.reg];
    if (o.kind != Operand::Kind::symbol) return {Kind::none};
    const bool shared =
        (o.symbol.kind == SymbolRef::Kind::module_variable && is_shared(m.variables[o.symbol.index].space)) ||
        (o.symbol.kind == SymbolRef::Kind::local_variable && is_shared(f.variables[o.symbol.index].space));
    return shared ? Base{Kind::variable, o.symbol} : Base{Kind::none};
  };
  const auto result_of = [&](const ptx::Instruction& in, const std::vector<uint32_t>& reads) -> Base {
    const std::vector<Operand>& o = in.operands;
    switch (in.op) {
      case Op::ld:
      case Op::ldu:
      case Op::atom: return {Kind::none};
      case Op::mov:
        if (o[0].kind == Operand::Kind::reg && o[1].kind != Operand::Kind::vector) return of(o[1]);
        break;
      case Op::cvta:
      case Op::cvt: return of(o[1]);
      case Op::add: return sum_of(of(o[1]), of(o[2]), false);
      case Op::sub: return sum_of(of(o[1]), of(o[2]), true);
      case Op::mad:
        if (sum_of(of(o[1]), of(o[2]), false).kind == Kind::none) return of(o[3]);
        break;
      case Op::selp: return either(of(o[1]), of(o[2]));
      default: break;
    }
    Base all{Kind::none};
    for (const uint32_t reg : reads)
      if (bases[reg].kind != Kind::none)
        all.kind = bases[reg].kind == Kind::unset ? Kind::unset : Kind::unknown;
    return all;
  };
  for (bool changed = true; std::exchange(changed, false);)
    for (size_t i = 0; i < f.body.size(); ++i) {
      if (usage[i].writes.empty()) continue;
      const Base result = result_of(f.body[i], usage[i].reads);
      for (const uint32_t reg : usage[i].writes)
        if (const Base now = either(bases[reg], result); now != bases[reg]) {
          bases[reg] = now;
          changed = true;
        }
    }
  std::vector<SymbolRef> variables;
  for (const Base& base : bases)
    variables.push_back(base.kind == Kind::variable ? base.variable : SymbolRef{});
  return variables;
}

/// The variable of shared memory that the address lies in, as far as it is known.
SymbolRef variable_of(const Operand& address, const std::vector<SymbolRef>& bases) {
  return address.reg != no_index ? bases[address.reg] : address.symbol;
}

/// What compare-and-swaps expect, from the register they compare back to those it is moved from.
std::vector<Guess> guesses_of(const ptx::Function& f, const std::vector<SymbolRef>& bases) {
  std::vector<Guess> guesses;
  const auto add = [&](const Operand& value, const SymbolRef& variable) {
    const Guess guess{value.reg, variable};
    if (value.kind == Operand::Kind::reg && std::find(guesses.begin(), guesses.end(), guess) == guesses.end())
      guesses.push_back(guess);
  };
  for (const ptx::Instruction& in : f.body)
    if (in.op == Op::atom && in.has(Mod::cas)) add(in.operands[2], variable_of(in.operands[1], bases));
  for (size_t i = 0; i < guesses.size(); ++i)
    for (const ptx::Instruction& in : f.body)
      if (in.op == Op::mov && in.operands[0].reg == guesses[i].reg) add(in.operands[1], guesses[i].variable);
  return guesses;
}

/// Accesses there are checked, beside those of local memory.
bool is_of_several_threads(Space space) {
  return is_shared(space) || space == Space::generic || space == Space::global;
}

}  // namespace

void Decoder::place_local_variables(FunctionState& s) {
  s.locals_begin = static_cast<uint32_t>(k_.local_variables.size());
  for (size_t i = 0; !s.recursive && i < s.f->variables.size(); ++i) {
    const ptx::Variable& v = s.f->variables[i];
    if (v.space != Space::local) continue;
    // nvcc puts all local variables of a function into one.
    const bool is_depot = v.name.starts_with("__local_depot");
    k_.local_variables.push_back({is_depot ? "the local memory of " + s.f->display_name : v.display_name,
                                  s.frame_begin + s.variable_at[i], static_cast<uint32_t>(v.size)});
  }
  s.locals_end = static_cast<uint32_t>(k_.local_variables.size());
  s.shared_base = shared_bases(m_, *s.f, s.flow.usage);
  s.guesses = guesses_of(*s.f, s.shared_base);
  find_followed_registers(s);
}

void Decoder::put_check_enter(const FunctionState& s) {
  if (s.locals_begin == s.locals_end) return;
  Inst& i = put(check_enter, true);
  i.aux = s.locals_begin;
  i.b = s.locals_end - s.locals_begin;
}

bool Decoder::put_check(const HandlerKey& key, AccessKind kind, uint32_t base, uint32_t offset, uint32_t data,
                        uint32_t list) {
  // Arguments and results are written; what they were written with may not have been.
  const bool is_local = key.space == Space::local && (follows_values_ || !is_param(in_->space));
  if (!is_local && !is_of_several_threads(key.space)) return false;
  CheckedAccess access;
  access.origin = static_cast<uint32_t>(k_.origins.size() - 1);
  access.kind = kind;
  access.strength = strength_of(*in_, kind);
  access.acquires = in_->has(Mod::acquire) || in_->has(Mod::acq_rel);
  access.releases = in_->has(Mod::release) || in_->has(Mod::acq_rel);
  access.for_device = is_for_device();
  access.sees = is_result_read();
  access.space = is_shared(key.space) ? Space::shared : key.space;
  access.address_bytes = key.address_bytes;
  access.element = static_cast<uint8_t>(ptx::size_of(in_->type()));
  access.width = static_cast<uint8_t>(access.element * in_->vector);
  if (kind == AccessKind::load) {
    const std::vector<uint32_t> loaded = usage_of(*in_).writes;
    access.follows = follows_values();
    access.by_sign = ptx::is_signed(in_->type());
    const SymbolRef variable = variable_of(in_->operands[1], s_->shared_base);
    access.guesses = std::any_of(s_->guesses.begin(), s_->guesses.end(), [&](const Guess& guess) {
      return guess.variable == variable && std::find(loaded.begin(), loaded.end(), guess.reg) != loaded.end();
    });
  }
  // What an exchange finds, and nobody looks at, goes into no register: it does no harm that nobody wrote it.
  const bool only_stores = kind == AccessKind::atomic && in_->has(Mod::exch) && !access.sees;
  if (only_stores) access.follows = true;
  access.data_bytes = only_stores ? 0 : key.data_bytes;
  for (uint32_t i = 0; access.data_bytes != 0 && i < in_->vector; ++i) {
    access.data[i] = followed_element(in_->operands[kind == AccessKind::load ? 0 : 1], i);
    access.data[i].at = list == no_operand ? data : k_.side[list + i];
  }
  put_check(access, base, offset);
  return true;
}

void Decoder::put_matrix_check(AccessKind kind, uint32_t base, uint32_t offset, uint32_t element,
                               uint32_t elements, uint32_t lanes, const std::vector<FollowedRegister>& data,
                               uint32_t data_bytes, RowLayout layout, uint32_t row_bits) {
  if (!checked_ || !is_of_several_threads(in_->space)) return;
  CheckedAccess access;
  access.origin = static_cast<uint32_t>(k_.origins.size() - 1);
  access.kind = kind;
  // Addresses of rows are offsets in shared memory, however they are written.
  const bool rows = kind == AccessKind::load_matrix || kind == AccessKind::store_matrix;
  access.space = rows || is_shared(in_->space) ? Space::shared : in_->space;
  access.element = static_cast<uint8_t>(element);
  access.width = static_cast<uint8_t>(element * elements);
  access.lanes = lanes;
  access.data_bytes = static_cast<uint8_t>(data_bytes);
  access.layout = layout;
  access.row_bits = static_cast<uint8_t>(row_bits);
  access.follows = reads(kind) && follows_values();
  std::copy(data.begin(), data.end(), access.data.begin());
  put_check(access, base, offset);
}

CheckedAccess Decoder::whole_access(AccessKind kind, Space space, const Address& at, uint32_t bytes) const {
  CheckedAccess access;
  access.origin = static_cast<uint32_t>(k_.origins.size() - 1);
  access.kind = kind;
  access.space = space;
  access.address_bytes = static_cast<uint8_t>(at.bytes);
  access.width = access.element = static_cast<uint8_t>(bytes);
  return access;
}

void Decoder::put_copy_check(const Address& to, uint32_t bytes) {
  put_check(whole_access(AccessKind::async_copy, Space::shared, to, bytes), to.base, to.offset);
}

void Decoder::put_copy_source_check(const Address& from, uint32_t bytes) {
  put_check(whole_access(AccessKind::load, Space::global, from, bytes), from.base, from.offset);
}

void Decoder::put_mbarrier_check(const Address& object, AccessKind kind) {
  constexpr uint32_t bytes = 8;
  const Space space = is_shared(object.space) ? Space::shared : object.space;
  CheckedAccess access = whole_access(kind, space, object, bytes);
  access.strength = is_atomic(kind) ? CheckedAccess::Strength::atomic : CheckedAccess::Strength::plain;
  access.of_mbarrier = true;
  put_check(access, object.base, object.offset);
}

void Decoder::find_variable(CheckedAccess& access) {
  if (access.space != Space::shared && access.space != Space::generic) return;
  // Of a copy the first address is the one in shared memory.
  const auto address = std::find_if(in_->operands.begin(), in_->operands.end(),
                                    [](const Operand& o) { return o.kind == Operand::Kind::address; });
  if (address == in_->operands.end()) return;
  const SymbolRef symbol = variable_of(*address, s_->shared_base);
  if (symbol.kind == SymbolRef::Kind::none || !is_shared(space_of(symbol))) return;
  const bool of_module = symbol.kind == SymbolRef::Kind::module_variable;
  const uint64_t size = (of_module ? m_.variables : s_->f->variables)[symbol.index].size;
  access.variable_begin = static_cast<uint32_t>(place_of(symbol, 0).offset);
  if (size != 0) access.variable_end = access.variable_begin + static_cast<uint32_t>(size);
}

void Decoder::put_check(CheckedAccess access, uint32_t base, uint32_t offset) {
  find_variable(access);
  if (guarded()) {
    put_guard();
    k_.code.back().origin_and_weight |= Inst::helper_bit;
  }
  Inst& i = put(check_access, true);
  i.a = base;
  i.imm = offset;
  i.aux = static_cast<uint32_t>(k_.checks.size());
  k_.checks.push_back(access);
}

uint32_t Decoder::new_bulk_access(AccessKind kind) {
  CheckedAccess access;
  access.origin = static_cast<uint32_t>(k_.origins.size() - 1);
  access.kind = kind;
  if (kind == AccessKind::atomic) access.strength = CheckedAccess::Strength::atomic;
  access.space = Space::shared;
  access.of_bulk_copy = true;
  access.async_proxy = in_->op != Op::st_async && in_->op != Op::red_async && in_->op != Op::st_bulk;
  k_.checks.push_back(access);
  return static_cast<uint32_t>(k_.checks.size() - 1);
}

uint32_t Decoder::new_product_access(AccessKind kind) {
  if (!checked_) return no_operand;
  const uint32_t index = new_bulk_access(kind);
  CheckedAccess& access = k_.checks[index];
  access.of_bulk_copy = false;
  access.width = access.element = 16;
  // What follows values stands before the instruction.
  if (kind == AccessKind::group_product && follows_values()) {
    access.follows = true;
    access.flow = static_cast<uint32_t>(k_.flows.size() - 1);
    access.data_bytes = static_cast<uint8_t>(in_->type() == Type::f16 ? 2 : 4);
  }
  return index;
}

void Decoder::emit_for_checks(Handler handler, uint64_t imm) {
  if (!checked_) {
    put(set_.control.nothing, false);
    return;
  }
  put_guard();
  put(handler, guarded()).imm = imm;
}

void Decoder::check_parameter(const Operand& address, uint64_t bytes) const {
  if (!is_param(in_->space) || address.reg != no_index) return;
  const ptx::Variable* parameter = nullptr;
  switch (address.symbol.kind) {
    case SymbolRef::Kind::parameter: parameter = &s_->f->params[address.symbol.index]; break;
    case SymbolRef::Kind::return_parameter: parameter = &s_->f->returns[address.symbol.index]; break;
    case SymbolRef::Kind::local_variable: parameter = &s_->f->variables[address.symbol.index]; break;
    default: return;
  }
  if (address.bits <= parameter->size && bytes <= parameter->size - address.bits) return;
  const auto offset = static_cast<int64_t>(address.bits);
  fail("'" + text_of(*in_) + "' accesses bytes " + std::to_string(offset) + " to " +
       std::to_string(offset + static_cast<int64_t>(bytes) - 1) + " of parameter '" + parameter->name +
       "', which has " + counted(parameter->size, "byte"));
}

}  // namespace lanescope::exec
