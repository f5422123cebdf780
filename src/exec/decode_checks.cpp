// What the decoder adds to a kernel that is checked while it runs (checks.hpp), and the check that needs no
// run: accesses to parameters. See decoder.hpp.

#include <algorithm>
#include <utility>

#include "exec/decoder.hpp"

namespace lanescope::exec {

namespace {

bool is_param(Space s) { return s == Space::param || s == Space::param_entry || s == Space::param_func; }

CheckedAccess::Strength strength_of(const ptx::Instruction& in, AccessKind kind) {
  using Strength = CheckedAccess::Strength;
  if (kind == AccessKind::atomic) return Strength::atomic;
  if (in.has(Mod::relaxed) || in.has(Mod::acquire) || in.has(Mod::release)) return Strength::atomic;
  return in.has(Mod::volatile_) ? Strength::is_volatile : Strength::plain;
}

/// Whether a store is to a struct that is an argument or a result of a call: in PTX, an array.
bool passes_struct(const ptx::Function& f, const ptx::Instruction& in) {
  using Kind = ptx::SymbolRef::Kind;
  const ptx::SymbolRef& symbol = in.operands[0].symbol;
  const std::vector<ptx::Variable>* const of = symbol.kind == Kind::local_variable     ? &f.variables
                                               : symbol.kind == Kind::return_parameter ? &f.returns
                                                                                       : nullptr;
  return is_param(in.space) && of != nullptr && !(*of)[symbol.index].dims.empty();
}

/// Registers whose values go nowhere but into memory that may be a thread's own, as they are or as other bits
/// of a word: what code without optimisation does to copy a struct, padding and all, and to set a bit field.
std::vector<bool> registers_moved_only(const ptx::Function& f) {
  std::vector<bool> moved(f.registers.size(), true);
  std::vector<Usage> usage;
  usage.reserve(f.body.size());
  for (const ptx::Instruction& in : f.body) usage.push_back(usage_of(in));
  bool changed = true;
  const auto used = [&](uint32_t reg) {
    if (reg == no_index || !moved[reg]) return;
    moved[reg] = false;
    changed = true;
  };
  while (std::exchange(changed, false))
    for (size_t i = f.body.size(); i-- > 0;) {
      const ptx::Instruction& in = f.body[i];
      const bool stores =
          in.op == Op::st && (in.space == Space::generic || in.space == Space::local || passes_struct(f, in));
      const bool passes_on = in.op == Op::mov || in.op == Op::and_ || in.op == Op::or_ || in.op == Op::bfi;
      if (stores) {
        used(in.operands[0].reg);
        used(in.guard);
      } else if (!passes_on || std::any_of(usage[i].writes.begin(), usage[i].writes.end(),
                                           [&](uint32_t reg) { return !moved[reg]; })) {
        for (const uint32_t reg : usage[i].reads) used(reg);
      }
    }
  return moved;
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
  s.moved_only = registers_moved_only(*s.f);
}

void Decoder::put_check_enter(const FunctionState& s) {
  if (s.locals_begin == s.locals_end) return;
  Inst& i = put(check_enter, true);
  i.aux = s.locals_begin;
  i.b = s.locals_end - s.locals_begin;
}

void Decoder::put_check(const HandlerKey& key, AccessKind kind, uint32_t base, uint32_t offset, uint32_t data,
                        uint32_t list) {
  const bool is_local = key.space == Space::local && !is_param(in_->space);
  if (!is_shared(key.space) && !is_local && key.space != Space::generic) return;
  CheckedAccess access;
  access.origin = static_cast<uint32_t>(k_.origins.size() - 1);
  access.kind = kind;
  access.strength = strength_of(*in_, kind);
  access.acquires = in_->has(Mod::acquire) || in_->has(Mod::acq_rel);
  access.releases = in_->has(Mod::release) || in_->has(Mod::acq_rel);
  access.space = is_shared(key.space) ? Space::shared : key.space;
  access.address_bytes = key.address_bytes;
  access.element = static_cast<uint8_t>(ptx::size_of(in_->type()));
  access.width = static_cast<uint8_t>(access.element * in_->vector);
  if (kind == AccessKind::load) {
    const std::vector<uint32_t> loaded = usage_of(*in_).writes;
    access.moves =
        std::all_of(loaded.begin(), loaded.end(), [&](uint32_t reg) { return s_->moved_only[reg]; });
  } else if (kind == AccessKind::store) {
    access.data_bytes = key.data_bytes;
    for (uint32_t i = 0; i < in_->vector; ++i) access.data[i] = list == no_operand ? data : k_.side[list + i];
  }
  put_check(access, base, offset);
}

void Decoder::put_matrix_check(AccessKind kind, uint32_t base, uint32_t offset, uint32_t element,
                               uint32_t elements, uint32_t lanes, const std::vector<uint32_t>& data,
                               uint32_t data_bytes) {
  if (!checked_ || (!is_shared(in_->space) && in_->space != Space::generic)) return;
  CheckedAccess access;
  access.origin = static_cast<uint32_t>(k_.origins.size() - 1);
  access.kind = kind;
  // Addresses of rows are offsets in shared memory, however they are written.
  const bool rows = kind == AccessKind::load_matrix || kind == AccessKind::store_matrix;
  access.space = rows || is_shared(in_->space) ? Space::shared : Space::generic;
  access.element = static_cast<uint8_t>(element);
  access.width = static_cast<uint8_t>(element * elements);
  access.lanes = lanes;
  access.data_bytes = static_cast<uint8_t>(data_bytes);
  std::copy(data.begin(), data.end(), access.data.begin());
  put_check(access, base, offset);
}

void Decoder::put_copy_check(const Address& to, uint32_t bytes) {
  CheckedAccess access;
  access.origin = static_cast<uint32_t>(k_.origins.size() - 1);
  access.kind = AccessKind::async_copy;
  access.space = Space::shared;
  access.address_bytes = static_cast<uint8_t>(to.bytes);
  access.width = access.element = static_cast<uint8_t>(bytes);
  put_check(access, to.base, to.offset);
}

void Decoder::put_check(const CheckedAccess& access, uint32_t base, uint32_t offset) {
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

void Decoder::emit_fence() {
  if (checked_) {
    put_guard();
    put(check_fence, guarded());
  } else {
    put(set_.control.nothing, false);
  }
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
       "', which has " + std::to_string(parameter->size) + " byte" + (parameter->size == 1 ? "" : "s"));
}

}  // namespace lanescope::exec
