// Loads, stores, atomics, textures, and arithmetic on addresses. See decoder.hpp.

#include <algorithm>
#include <bit>

#include "exec/builtins.hpp"
#include "exec/cluster.hpp"
#include "exec/decoder.hpp"
#include "exec/memory.hpp"
#include "exec/texture.hpp"

namespace lanescope::exec {

void Decoder::note_instruction(uint32_t index) {
  k_.accesses.back().function = s_->index;
  k_.accesses.back().instruction = index;
}

uint32_t Decoder::new_site(AccessKind kind, Space space, uint64_t width) {
  AccessSite& site = k_.accesses.emplace_back();
  site.origin = static_cast<uint32_t>(k_.origins.size() - 1);
  site.kind = kind;
  site.space = space;
  site.width = static_cast<uint8_t>(width);
  site.text = text_of(*in_);
  return static_cast<uint32_t>(k_.accesses.size() - 1);
}

Decoder::Address Decoder::address_of(const Operand& o, Space space) {
  Address address;
  address.space = space;
  uint64_t offset = o.bits;
  if (o.reg != no_index) {
    address.base = register_at(o.reg);
    address.bytes = width_of(o.reg);
    if (address.bytes == 4 && !is_shared(space) && space != Space::local) {
      const uint32_t wide = scratch(8);
      put_resize({wide, address.base, 8, 4, false});
      address.base = wide;
      address.bytes = 8;
    }
    if (address.bytes != 4 && address.bytes != 8) unsupported("address register of this width");
  } else if (o.symbol.kind != SymbolRef::Kind::none) {
    const Place place = place_of(o.symbol, o.bits);
    address.bytes = place.base == no_operand ? 0 : 8;
    address.base = place.base;
    offset = place.offset;
    if (space == Space::generic) address.space = space_of(o.symbol);
    if (is_shared(address.space)) {
      address.base = zero32_;
      address.bytes = 4;
    }
  } else {
    address.base = zero_;
  }
  const auto signed_offset = static_cast<int64_t>(offset);
  if (signed_offset != static_cast<int32_t>(signed_offset)) {
    if (address.bytes != 8) unsupported("address offset");
    const uint32_t sum = scratch(8);
    put_wide(Op::add, sum, address.base, constant(8, offset));
    address.base = sum;
    offset = 0;
  }
  address.offset = static_cast<uint32_t>(offset);
  return address;
}

/// The memory of other blocks is reached through generic addresses.
Decoder::Address Decoder::generic_address(const Address& address) {
  uint32_t base = address.base;
  if (address.bytes == 4) {
    base = scratch(8);
    put_resize({base, address.base, 8, 4, false});
  }
  const uint32_t generic = scratch(8);
  put_wide(Op::add, generic, base, constant(8, shared_window));
  return {generic, 8, address.offset, Space::generic};
}

void Decoder::emit_memory() {
  Resizes later;
  HandlerKey key = key_of(*in_);
  const Operand *address = nullptr, *data = nullptr;
  uint32_t d = no_operand, b = no_operand, c = no_operand;
  // Those that are asynchronous are done at once: they wait for what the thread did before, as a release
  // does.
  if (in_->op == Op::st_async) key.op = Op::st;
  if (in_->op == Op::red_async) key.op = Op::red;
  const bool atomic = key.op == Op::atom || key.op == Op::red;
  for (const BoundOperand& bound : bind_operands(*in_)) {
    if (bound.pattern->kind == ptx::OperandPattern::Kind::address)
      address = bound.operand;
    else if (!atomic && (bound.pattern->name == "d" || bound.pattern->name == "b"))
      data = bound.operand;
    else if (atomic && bound.operand->kind == Operand::Kind::vector) {
      (bound.pattern->name == "d" ? d : c) =
          atomic_elements(*bound.operand, bound.pattern->destination, later);
    } else if (atomic && bound.pattern->name == "d") {
      if (bound.operand->kind != Operand::Kind::sink) d = destination(*bound.operand, in_->type(), later);
    } else if (atomic && bound.pattern->name == "b")
      b = source(*bound.operand, in_->type());
    else if (atomic && bound.pattern->name == "c")
      c = source(*bound.operand, in_->type());
  }
  if (address == nullptr) unsupported("address");
  check_parameter(*address, uint64_t{ptx::size_of(in_->type())} * in_->vector);
  // A parameter of a device function lies in its frame. It is not counted: GPUs pass it in registers.
  if (lies_in_frame(*in_, *address)) {
    key.space = Space::local;
    key.observed = false;
  }
  Address place = address_of(*address, key.space);
  if (place.space == Space::shared_cluster) place = generic_address(place);
  key.space = place.space;
  key.address_bytes = static_cast<uint8_t>(place.bytes);
  uint32_t list = no_operand;
  const uint32_t elements = in_->vector;
  if (data != nullptr) {
    const uint32_t width = data_width(*data);
    key.data_bytes = static_cast<uint8_t>(width);
    const bool load = key.op != Op::st;
    auto reg = [&](const Operand& o) {
      if (o.kind == Operand::Kind::sink) return load ? scratch(width) : no_operand;
      if (!load) return source(o, wide_type(width, in_->type()));
      return register_at(o.reg);
    };
    if (elements > 1) {
      if (data->kind != Operand::Kind::vector || data->count != elements) unsupported("vector operand");
      std::vector<uint32_t> registers;
      for (uint32_t i = 0; i < elements; ++i) registers.push_back(reg(in_->elements[data->first + i]));
      list = put_side(registers);
    } else {
      d = reg(data->kind == Operand::Kind::vector ? in_->elements[data->first] : *data);
    }
  }
  key.types[0] = in_->type();
  const Handler h = select(key);
  const AccessKind kind = in_->has(Mod::cas) ? AccessKind::compare_and_swap
                          : atomic           ? AccessKind::atomic
                          : key.op == Op::st ? AccessKind::store
                                             : AccessKind::load;
  const bool is_checked = checked_ && put_check(key, kind, place.base, place.offset, d, list);
  if (!is_checked && kind == AccessKind::load && follows_values())
    put_values({{}, {}, followed_of(usage_of(*in_).writes)}, true);
  put_guard();
  Inst& i = put(h, guarded());
  i.d = d;
  i.a = place.base;
  i.b = b;
  i.c = data != nullptr ? list : c;
  i.imm = (uint64_t{elements} << 32) | place.offset;
  if (key.address_bytes != 0) {
    i.aux = new_site(kind, key.space, uint64_t{ptx::size_of(in_->type())} * elements);
    const auto index = static_cast<uint32_t>(in_ - s_->f->body.data());
    note_instruction(index);
    sites_in_code_.push_back({static_cast<uint32_t>(k_.code.size() - 1), i.aux});
    k_.accesses.back().returns = atomic && is_result_read();
  }
  put_later(later);
}

bool Decoder::is_result_read() const {
  const std::vector<uint32_t>& results = s_->flow.usage[static_cast<size_t>(in_ - s_->f->body.data())].writes;
  return std::any_of(results.begin(), results.end(), [&](uint32_t r) { return s_->flow.read[r]; });
}

uint32_t Decoder::atomic_elements(const Operand& vector, bool written, Resizes& later) {
  std::vector<uint32_t> registers;
  for (uint32_t i = 0; i < vector.count; ++i) {
    const Operand& o = in_->elements[vector.first + i];
    if (written && o.kind == Operand::Kind::sink)
      registers.push_back(no_operand);
    else
      registers.push_back(written ? destination(o, in_->type(), later) : source(o, in_->type()));
  }
  return put_side(registers);
}

uint32_t Decoder::texture_handle(const Operand& operand, TextureForm& form) {
  form.by_reference = operand.symbol.kind != SymbolRef::Kind::none;
  if (!form.by_reference) return register_at(operand.reg);
  Operand address = operand;
  address.kind = Operand::Kind::symbol;
  return source(address, Type::u64);
}

void Decoder::emit_texture() {
  const bool reduces = in_->op == Op::sured, store = reduces || in_->op == Op::sust,
             surface = store || in_->op == Op::suld;
  const Operand &handle = in_->operands[store ? 0 : 1], &coordinates = in_->operands[store ? 1 : 2],
                &data = in_->operands[store ? 2 : 0];
  TextureForm form;
  form.op = reduces               ? TextureForm::Op::reduce
            : store               ? TextureForm::Op::store
            : surface             ? TextureForm::Op::load
            : in_->op == Op::tld4 ? TextureForm::Op::gather
                                  : TextureForm::Op::fetch;
  form.shape = ptx::texture_shape_of(*in_);
  form.detail = in_->has(Mod::level)  ? TextureForm::Detail::level
                : in_->has(Mod::grad) ? TextureForm::Detail::gradients
                                      : TextureForm::Detail::none;
  form.integer_coordinates = !surface && in_->types.back() == Type::s32;
  form.elements = in_->vector;
  form.element_bytes = static_cast<uint8_t>(ptx::size_of(in_->type()));
  form.component = in_->has(Mod::g) ? 1 : in_->has(Mod::b) ? 2 : in_->has(Mod::a) ? 3 : 0;
  form.bounds = in_->has(Mod::clamp)  ? TextureForm::Bounds::clamp
                : in_->has(Mod::zero) ? TextureForm::Bounds::zero
                                      : TextureForm::Bounds::trap;
  std::vector<uint32_t> list;
  const auto add = [&](const Operand& operand, uint32_t count, Type type) {
    for (uint32_t i = 0; i < count; ++i) {
      const Operand& o = operand.kind == Operand::Kind::vector ? in_->elements[operand.first + i] : operand;
      const bool is_register = o.kind == Operand::Kind::reg, is_sink = o.kind == Operand::Kind::sink;
      list.push_back(is_sink ? no_operand : is_register ? register_at(o.reg) : source(o, type));
      list.push_back(is_register ? width_of(o.reg) : lane_bytes(type));
    }
  };
  add(data, form.elements, in_->type());
  const uint32_t axes = form.shape.coordinates();
  add(coordinates, axes + (form.shape.layered ? 1 : 0), surface ? Type::b32 : in_->types.back());
  if (form.detail == TextureForm::Detail::level) add(in_->operands[3], 1, Type::f32);
  if (form.detail == TextureForm::Detail::gradients)
    for (const size_t gradient : {3, 4}) add(in_->operands[gradient], axes, Type::f32);
  const uint32_t first = put_side(list), at = texture_handle(handle, form);
  put_guard();
  Inst& i = put(access_texture, guarded());
  i.a = at;
  i.b = first;
  i.imm = std::bit_cast<uint64_t>(form);
  if (!reduces) return;
  for (const Mod m : {Mod::add, Mod::min, Mod::max, Mod::and_, Mod::or_})
    if (in_->has(m)) i.c = static_cast<uint32_t>(m);
  i.d = static_cast<uint32_t>(in_->type());
}

void Decoder::emit_texture_query() {
  using Query = TextureForm::Query;
  const Operand& handle = in_->operands[1];
  TextureForm form;
  form.op = in_->op == Op::txq ? TextureForm::Op::ask_texture : TextureForm::Op::ask_surface;
  form.query = in_->has(Mod::width)        ? Query::width
               : in_->has(Mod::height)     ? Query::height
               : in_->has(Mod::depth)      ? Query::depth
               : in_->has(Mod::array_size) ? Query::layers
                                           : Query::normalized_coordinates;
  Resizes later;
  const uint32_t d = destination(in_->operands[0], Type::u32, later), at = texture_handle(handle, form);
  put_guard();
  Inst& i = put(ask_texture, guarded());
  i.a = at;
  i.d = d;
  i.imm = std::bit_cast<uint64_t>(form);
  put_later(later);
}

Space Decoder::space_of(const SymbolRef& symbol) const {
  switch (symbol.kind) {
    case SymbolRef::Kind::module_variable: return m_.variables[symbol.index].space;
    case SymbolRef::Kind::local_variable: return s_->f->variables[symbol.index].space;
    default: return Space::generic;
  }
}

uint32_t Decoder::data_width(const Operand& data) const {
  auto of = [&](const Operand& o) { return o.kind == Operand::Kind::reg ? width_of(o.reg) : 0; };
  uint32_t width = of(data);
  bool mixed = false;
  if (data.kind == Operand::Kind::vector)
    for (uint32_t i = 0; i < data.count; ++i) {
      const uint32_t w = of(in_->elements[data.first + i]);
      mixed |= width != 0 && w != 0 && w != width;
      width = std::max(width, w);
    }
  if (mixed) unsupported("registers of several widths in one vector");
  return width != 0 ? width : lane_bytes(in_->type());
}

Type Decoder::wide_type(uint32_t lane_bytes, Type type) {
  if (exec::lane_bytes(type) == lane_bytes) return type;
  return lane_bytes == 2 ? Type::b16 : lane_bytes == 4 ? Type::b32 : lane_bytes == 8 ? Type::b64 : Type::b128;
}

void Decoder::emit_cvta() {
  const Space space = in_->space;
  Resizes later;
  const uint32_t a = source(in_->operands[1], in_->type());
  const uint32_t d = destination(in_->operands[0], in_->type(), later);
  uint64_t window = is_shared(space) ? shared_window : space == Space::local ? local_window : 0;
  if ((space == Space::param || space == Space::param_func) && !s_->f->is_entry) window = local_window;
  if (window == 0 || lane_bytes(in_->type()) == 4) {
    put_copy(lane_bytes(in_->type()), d, a, false);
  } else {
    const uint32_t by = constant(8, window);
    put_guard();
    put_wide(in_->has(Mod::to) ? Op::sub : Op::add, d, a, by, guarded());
  }
  put_later(later);
}

void Decoder::emit_stack() {
  const Type type = in_->type();
  if (in_->op == Op::stackrestore) {
    put_copy(8, k_.stack_pointer, source(in_->operands[0], Type::u64), false);
    return;
  }
  Resizes later;
  const uint32_t bytes = in_->op == Op::alloca_ ? source(in_->operands[1], type) : zero_;
  const uint32_t d = destination(in_->operands[0], Type::u64, later);
  const bool is_wide = in_->op != Op::alloca_ || lane_bytes(type) == 8;
  uint32_t size = bytes;
  if (!is_wide) {
    size = scratch(8);
    put_resize({size, bytes, 8, 4, false});
  }
  constexpr uint64_t default_align = 8;
  put_guard();
  Inst& i = put(allocate_stack, guarded());
  i.d = d;
  i.a = size;
  i.b = k_.stack_pointer;
  i.imm = in_->operands.size() > 2 ? in_->operands[2].bits : in_->op == Op::alloca_ ? default_align : 1;
  put_later(later);
}

void Decoder::emit_isspacep() {
  const uint32_t a = source(in_->operands[1], Type::u64);
  const uint32_t d = register_at(in_->operands[0].reg);
  if (in_->space == Space::shared || in_->space == Space::shared_cta) {
    put_guard();
    Inst& i = put(is_own_shared, guarded());
    i.d = d;
    i.a = a;
    return;
  }
  if (in_->space != Space::shared_cluster && in_->space != Space::local) {
    put_guard();
    Inst& i = put(is_space, guarded());
    i.d = d;
    i.a = a;
    i.imm = static_cast<uint64_t>(in_->space);
    return;
  }
  // Inside the window: address - window < size, unsigned.
  const uint32_t offset = scratch(8);
  put_wide(Op::sub, offset, a, constant(8, in_->space == Space::local ? local_window : shared_window));
  HandlerKey key;
  key.op = Op::setp;
  key.types[0] = Type::u64;
  key.modifiers.set(static_cast<size_t>(Mod::lt));
  const Handler h = select(key);
  put_guard();
  Inst& i = put(h, guarded());
  i.d = d;
  i.a = offset;
  i.b = constant(8, window_size);
}

}  // namespace lanescope::exec
