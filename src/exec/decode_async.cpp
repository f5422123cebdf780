// Asynchronous copies and the barriers that wait for them. See decoder.hpp.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/async_copy.hpp"
#include "exec/bulk_copy.hpp"
#include "exec/cluster.hpp"
#include "exec/decoder.hpp"
#include "exec/mbarrier.hpp"
#include "exec/memory.hpp"
#include "exec/tensor_map_update.hpp"

namespace lanescope::exec {

const Operand* Decoder::operand(std::string_view name) const {
  for (const BoundOperand& bound : bind_operands(*in_))
    if (bound.pattern->name == name) return bound.operand;
  return nullptr;
}

bool Decoder::emit_async(uint32_t index) {
  switch (in_->op) {
    case Op::cp_async: emit_copy_async(); return true;
    case Op::cp_async_commit_group:
    case Op::cp_async_wait_all: {
      put_guard();
      put(in_->op == Op::cp_async_wait_all ? wait_for_copies : commit_copies, guarded());
      return true;
    }
    case Op::cp_async_wait_group: {
      put_guard();
      put(wait_for_groups, guarded()).imm = operand("n")->bits;
      return true;
    }
    case Op::mbarrier_pending_count: {
      Resizes later;
      const uint32_t a = source(*operand("a"), Type::u64), d = destination(*operand("d"), Type::u32, later);
      put_guard();
      Inst& i = put(count_pending, guarded());
      i.d = d;
      i.a = a;
      put_later(later);
      return true;
    }
    case Op::cp_async_mbarrier_arrive:
    case Op::mbarrier_init:
    case Op::mbarrier_inval:
    case Op::mbarrier_expect_tx:
    case Op::mbarrier_complete_tx:
    case Op::mbarrier_arrive:
    case Op::mbarrier_arrive_drop: emit_mbarrier(); return true;
    case Op::mbarrier_test_wait:
    case Op::mbarrier_try_wait: emit_skipped(index, [&] { emit_mbarrier(); }); return true;
    case Op::barrier_cluster_arrive: {
      put_guard();
      put(arrive_at_cluster, guarded()).imm = in_->has(Mod::relaxed) ? cluster_relaxed : 0;
      return true;
    }
    case Op::barrier_cluster_wait: emit_skipped(index, [&] { put(wait_for_cluster, false); }); return true;
    case Op::mapa:
    case Op::getctarank: emit_rank(); return true;
    case Op::cp_async_bulk:
    case Op::cp_async_bulk_tensor:
    case Op::cp_reduce_async_bulk:
    case Op::cp_reduce_async_bulk_tensor:
    case Op::st_async:
    case Op::red_async: {
      const bool stores = in_->op == Op::st_async || in_->op == Op::red_async;
      stores && in_->space == Space::global ? emit_memory() : emit_bulk_copy();
      return true;
    }
    case Op::st_bulk: emit_zeros(); return true;
    case Op::clusterlaunchcontrol_try_cancel: emit_cancellation(); return true;
    case Op::clusterlaunchcontrol_query_cancel: emit_cancellation_query(); return true;
    case Op::tensormap_replace: emit_tensor_map(); return true;
    case Op::tensormap_cp_fenceproxy: emit_skipped(index, [&] { emit_tensor_map(); }); return true;
    case Op::createpolicy_cvt:
    case Op::createpolicy_fractional:
    case Op::createpolicy_range: put_copy(8, register_at(operand("d")->reg), zero_, false); return true;
    case Op::fence_mbarrier_init: emit_for_checks(check_fence); return true;
    // Complete whenever somebody waits, without effect on results, or in the order of the instructions
    // anyway.
    case Op::cp_async_bulk_commit_group: emit_for_checks(check_commit_bulk); return true;
    case Op::cp_async_bulk_wait_group: emit_for_checks(check_wait_bulk, operand("n")->bits); return true;
    case Op::fence_proxy:
      emit_for_checks(in_->has(Mod::async) || in_->has(Mod::async_generic) ? check_proxy_fence
                                                                           : set_.control.nothing);
      return true;
    case Op::cp_async_bulk_prefetch:
    case Op::cp_async_bulk_prefetch_tensor:
    case Op::membar_proxy:
    case Op::griddepcontrol:
    case Op::setmaxnreg: put(set_.control.nothing, false); return true;
    default: return false;
  }
}

bool Decoder::emit_even_block() {
  if (in_->op != Op::and_ || in_->type() != Type::b32) return false;
  const Operand& mask = in_->operands[2];
  if (mask.kind != Operand::Kind::integer || !clears_rank(static_cast<uint32_t>(mask.bits))) return false;
  const auto works_in_pairs = [](const ptx::Function& f) {
    return std::any_of(f.body.begin(), f.body.end(), [](const auto& in) { return in.has(Mod::cta_group_2); });
  };
  if (std::none_of(m_.functions.begin(), m_.functions.end(), works_in_pairs)) return false;
  const uint32_t a = source(in_->operands[1], Type::b32);
  Resizes later;
  const uint32_t d = destination(in_->operands[0], Type::b32, later);
  put_guard();
  Inst& i = put(to_even_block, guarded());
  i.d = d;
  i.a = a;
  i.imm = static_cast<uint32_t>(mask.bits);
  put_later(later);
  return true;
}

void Decoder::emit_rank() {
  const bool maps = in_->op == Op::mapa;
  const Type type = in_->type();
  // The name of a variable stands for its offset, or for its generic address.
  const Operand& address = *operand("a");
  uint32_t a = source(address, type);
  if (address.kind == Operand::Kind::symbol && in_->space == Space::generic) {
    const uint32_t wide = scratch(8);
    put_wide(Op::add, wide, a, constant(8, shared_window));
    a = wide;
  }
  const uint32_t b = maps ? source(*operand("b"), Type::u32) : no_operand;
  Resizes later;
  const uint32_t d = destination(*operand("d"), maps ? type : Type::u32, later);
  put_guard();
  Inst& i = put(maps ? map_to_rank : rank_of_address, guarded());
  i.d = d;
  i.a = a;
  i.b = b;
  i.imm = lane_bytes(type);
  put_later(later);
}

BulkOperand Decoder::bulk_address(const Operand& o, Space space) {
  Address address = address_of(o, space);
  if (address.bytes == 0) address = {params_address(), 8, address.offset, space};
  return {address.base, address.bytes, address.offset};
}

BulkOperand Decoder::value_operand(const Operand& o, Type type) {
  return {source(o, type), lane_bytes(type), 0};
}

uint32_t Decoder::put_operands(const std::vector<BulkOperand>& operands) {
  std::vector<uint32_t> words;
  for (const BulkOperand& o : operands) words.insert(words.end(), {o.reg, o.bytes, o.offset});
  return put_side(words);
}

void Decoder::emit_tensor_map() {
  const bool copies = in_->op == Op::tensormap_cp_fenceproxy;
  const BulkOperand to = bulk_address(*operand("a"), in_->space);
  const BulkOperand from =
      copies ? bulk_address(*operand("b"), in_->second_space) : value_operand(*operand("n"), in_->type());
  const uint32_t first = put_operands({to, from});
  if (copies) {
    put_matrix_sync();
    put(copy_tensor_map, false).a = first;
    return;
  }
  TensorMapField field;
  for (const Mod m : {Mod::global_address, Mod::rank, Mod::box_dim, Mod::global_dim, Mod::global_stride,
                      Mod::element_stride, Mod::elemtype, Mod::interleave_layout, Mod::swizzle_mode,
                      Mod::swizzle_atomicity, Mod::fill_mode})
    if (in_->has(m)) field.field = m;
  if (const Operand* ordinal = operand("o")) field.ordinal = static_cast<uint8_t>(ordinal->bits);
  field.space = in_->space;
  put_guard();
  Inst& i = put(replace_in_tensor_map, guarded());
  i.a = first;
  std::memcpy(&i.imm, &field, sizeof field);
}

void Decoder::emit_bulk_copy() {
  using Side = BulkForm::Side;
  std::array<BulkOperand, BulkPlace::list> operands;
  const auto put_address = [&](uint32_t place, const Operand* o, Space space) {
    if (o != nullptr) operands[place] = bulk_address(*o, space);
  };
  const auto put_value = [&](uint32_t place, const Operand* o, Type type) {
    if (o != nullptr) operands[place] = value_operand(*o, type);
  };
  BulkForm form;
  const Operand* map = operand("t");
  const bool to_tensor = map != nullptr && in_->space == Space::global;
  const auto side = [](Space space) { return space == Space::global ? Side::global : Side::shared; };
  form.to = to_tensor ? Side::tensor : side(in_->space);
  form.from = map != nullptr && !to_tensor ? Side::tensor : side(in_->second_space);
  put_address(BulkPlace::to, to_tensor ? map : operand("a"), to_tensor ? Space::generic : in_->space);
  put_address(BulkPlace::from, map != nullptr && !to_tensor ? map : operand("b"),
              map != nullptr && !to_tensor ? Space::generic : in_->second_space);
  put_address(BulkPlace::barrier, operand("m"), Space::shared_cluster);
  std::vector<BulkOperand> list;
  if (in_->op == Op::st_async || in_->op == Op::red_async) {
    form.from = Side::registers;
    operands[BulkPlace::from] = {};
    const Operand& data = *operand("b");
    const uint32_t count = data.kind == Operand::Kind::vector ? data.count : 1;
    for (uint32_t i = 0; i < count; ++i)
      list.push_back(value_operand(data.kind == Operand::Kind::vector ? in_->elements[data.first + i] : data,
                                   in_->type()));
    form.count = static_cast<uint8_t>(count);
  } else {
    put_value(BulkPlace::size, operand("n"), Type::u32);
    put_value(BulkPlace::blocks, operand("k"), Type::u16);
    for (const char* ignored : {"l", "r"})
      if (const Operand* o = operand(ignored)) list.push_back(value_operand(*o, Type::u32));
    put_value(BulkPlace::mask, operand("x"), Type::u16);
    const auto put_list = [&](const Operand* o, Type type) {
      for (uint32_t i = 0; o != nullptr && i < o->count; ++i)
        list.push_back(value_operand(in_->elements[o->first + i], type));
    };
    put_list(map, Type::s32);
    form.count = static_cast<uint8_t>(list.size());
    put_list(operand("o"), Type::u16);
  }
  if (in_->has(Mod::im2col) || in_->has(Mod::im2col_no_offs)) form.mode = BulkForm::Mode::im2col;
  if (in_->has(Mod::tile_gather4) || in_->has(Mod::tile_scatter4)) form.mode = BulkForm::Mode::four_rows;
  form.multicast = in_->has(Mod::multicast_cluster);
  form.masked = in_->has(Mod::cp_mask);
  form.pair = in_->has(Mod::cta_group_2);
  form.type = in_->type();
  for (const Mod m : {Mod::add, Mod::min, Mod::max, Mod::inc, Mod::dec, Mod::and_, Mod::or_, Mod::xor_})
    if (in_->has(m)) {
      form.is_reduction = true;
      form.operation = m;
    }
  if (form.from == Side::registers)
    put_bulk_copy(form, operands, list,
                  new_site(form.is_reduction ? AccessKind::atomic : AccessKind::async_store, in_->space,
                           uint64_t{ptx::size_of(form.type)} * form.count));
  else
    put_bulk_copy(form, operands, list,
                  new_site(form.is_reduction                                      ? AccessKind::bulk_reduction
                           : form.to == Side::shared && form.from != Side::shared ? AccessKind::bulk_load
                                                                                  : AccessKind::bulk_store,
                           in_->space, 16));
}

void Decoder::put_bulk_copy(BulkForm form, const std::array<BulkOperand, BulkPlace::list>& operands,
                            const std::vector<BulkOperand>& list, uint32_t site) {
  std::vector<BulkOperand> all(operands.begin(), operands.end());
  all.insert(all.end(), list.begin(), list.end());
  const uint32_t first = put_operands(all);
  put_guard();
  Inst& i = put(copy_bulk, guarded());
  i.a = first;
  i.imm = std::bit_cast<uint64_t>(form);
  i.aux = site;
  if (!checked_) return;
  i.b = new_bulk_access(form.is_reduction ? AccessKind::atomic : AccessKind::async_copy);
  i.c = new_bulk_access(AccessKind::load);
}

void Decoder::emit_zeros() {
  const Operand& size = *operand("n");
  const bool is_short = size.kind == Operand::Kind::reg && width_of(size.reg) == 4;
  const BulkOperand to = bulk_address(*operand("a"), in_->space),
                    bytes = value_operand(size, is_short ? Type::u32 : Type::u64);
  const uint32_t first = put_operands({to, {}, bytes});
  put_guard();
  Inst& i = put(store_zeros, guarded());
  i.a = first;
  if (checked_) i.b = new_bulk_access(AccessKind::store);
}

/// Another cluster of the grid is never cancelled, which PTX allows and a GPU does when there are no more: so
/// each block computes what is its own, and counts do not depend on which block was there first. The answer
/// is 16 bytes that are zero.
void Decoder::emit_cancellation() {
  std::array<BulkOperand, BulkPlace::list> operands;
  operands[BulkPlace::to] = bulk_address(*operand("a"), in_->space);
  operands[BulkPlace::barrier] = bulk_address(*operand("m"), Space::shared_cluster);
  BulkForm form;
  form.to = BulkForm::Side::shared;
  form.from = BulkForm::Side::registers;
  form.type = Type::b64;
  form.to_all = in_->has(Mod::multicast_cluster_all);
  form.is_answer = true;
  form.count = 2;
  const BulkOperand zero{constant(8, 0), 8, 0};
  put_bulk_copy(form, operands, {zero, zero}, 0);
}

void Decoder::emit_cancellation_query() {
  const Operand& result = *operand("d");
  if (in_->has(Mod::is_canceled)) return put_copy(0, register_at(result.reg), constant(0, 0), false);
  const auto clear = [&](const Operand& o) {
    if (o.kind == Operand::Kind::reg) put_copy(4, register_at(o.reg), zero32_, false);
  };
  if (result.kind != Operand::Kind::vector) return clear(result);
  for (uint32_t i = 0; i < result.count; ++i) clear(in_->elements[result.first + i]);
}

void Decoder::emit_copy_async() {
  const Address to = address_of(*operand("a"), in_->space),
                from = address_of(*operand("b"), in_->second_space);
  const auto size = static_cast<uint32_t>(operand("n")->bits);
  uint32_t read = no_operand, ignore = no_operand, negated = 0;
  if (const Operand* s = operand("s")) {
    if (s->kind == Operand::Kind::reg && width_of(s->reg) == 0) {
      ignore = register_at(s->reg);
      negated = s->negated ? full_mask : 0;
    } else {
      read = source(*s, Type::u32);
    }
  }
  HandlerKey key = key_of(*in_);
  key.address_bytes = static_cast<uint8_t>(to.bytes);
  const Handler h = select(key);
  if (checked_) {
    put_copy_check(to, size);
    // How much is read may depend on the lane; then it is not asked what was written.
    const Operand* bytes = operand("s");
    if (bytes == nullptr || (bytes->kind == Operand::Kind::integer && bytes->bits == size))
      put_copy_source_check(from, size);
  }
  put_guard();
  Inst& i = put(h, guarded());
  i.a = from.base;
  i.imm = from.offset;
  i.d = to.base;
  i.c = put_side({to.offset, size, read, ignore, negated});
  const AccessKind kind = in_->has(Mod::cg) ? AccessKind::async_copy_cg : AccessKind::async_copy;
  i.aux = new_site(kind, in_->space, size);
  new_site(kind, in_->second_space, size);
}

void Decoder::emit_mbarrier() {
  using Form = MbarrierForm;
  const Address address = address_of(*operand("a"), in_->space);
  Form form;
  form.offset = static_cast<int32_t>(address.offset);
  form.address_bytes = static_cast<uint8_t>(address.bytes);
  form.expects_bytes = in_->has(Mod::expect_tx);
  form.drops = in_->op == Op::mbarrier_arrive_drop;
  Handler handler = use_mbarrier;
  switch (in_->op) {
    case Op::mbarrier_init: form.op = Form::Op::init; break;
    case Op::mbarrier_inval: form.op = Form::Op::invalidate; break;
    case Op::mbarrier_expect_tx: form.op = Form::Op::expect; break;
    case Op::mbarrier_complete_tx: form.op = Form::Op::complete; break;
    case Op::mbarrier_arrive:
    case Op::mbarrier_arrive_drop: form.op = Form::Op::arrive; break;
    case Op::cp_async_mbarrier_arrive: handler = arrive_after_copies; break;
    default: form.op = Form::Op::wait; handler = wait_mbarrier;
  }
  uint32_t b = no_operand, c = no_operand, d = no_operand;
  if (const Operand* count = operand("n")) b = source(*count, Type::u32);
  if (const Operand* state = operand("s")) b = source(*state, Type::u64);
  if (const Operand* parity = operand("p")) c = source(*parity, Type::u32);
  if (in_->op == Op::cp_async_mbarrier_arrive && !in_->has(Mod::noinc)) b = zero32_;
  Resizes later;
  if (const Operand* result = operand("d"); result != nullptr && result->kind != Operand::Kind::sink)
    d = form.op == Form::Op::wait ? register_at(result->reg) : destination(*result, Type::u64, later);
  // Who invalidates an object has seen by its state that it is the last one (cuda::pipeline does so).
  if (checked_)
    put_mbarrier_check(address, in_->op == Op::mbarrier_init ? AccessKind::store : AccessKind::atomic);
  put_guard();
  Inst& i = put(handler, guarded());
  i.a = address.base;
  i.b = b;
  i.c = c;
  i.d = d;
  i.imm = std::bit_cast<uint64_t>(form);
  put_later(later);
}

}  // namespace lanescope::exec
