// Asynchronous copies and the barriers that wait for them. See decoder.hpp.
#include <bit>

#include "exec/async_copy.hpp"
#include "exec/decoder.hpp"
#include "exec/mbarrier.hpp"

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
    default: return false;
  }
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
  if (checked_) put_copy_check(to, size);
  put_guard();
  Inst& i = put(h, guarded());
  i.a = from.base;
  i.imm = from.offset;
  i.d = to.base;
  i.c = put_side({to.offset, size, read, ignore, negated});
  i.aux = new_site(AccessKind::async_copy, in_->space, size);
  new_site(AccessKind::load, in_->second_space, size);
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
