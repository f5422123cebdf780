// tcgen05: tensor memory, what is moved to it and multiplied in it. See decoder.hpp.
#include <bit>
#include <cstring>

#include "exec/decoder.hpp"
#include "exec/tensor_memory.hpp"
#include "exec/tensor_product.hpp"
#include "ptx/matrix.hpp"

namespace lanescope::exec {

namespace {

TensorCopyForm copy_form(const ptx::Instruction& in) {
  TensorCopyForm form;
  form.pieces = in.has(Mod::dim_128x256b) ? 2 : 1;
  form.rows = in.has(Mod::dim_64x128b) ? 64 : in.has(Mod::dim_32x128b) ? 32 : 128;
  form.alternates = in.has(Mod::warpx2_01_23);
  form.pair = in.has(Mod::cta_group_2);
  return form;
}

TensorAccessForm::Shape shape_of(const ptx::Instruction& in) {
  using Shape = TensorAccessForm::Shape;
  return in.has(Mod::dim_32x32b)    ? Shape::lanes32_bits32
         : in.has(Mod::dim_16x64b)  ? Shape::lanes16_bits64
         : in.has(Mod::dim_16x128b) ? Shape::lanes16_bits128
         : in.has(Mod::dim_16x256b) ? Shape::lanes16_bits256
                                    : Shape::halves16_bits32;
}

}  // namespace

bool Decoder::emit_tensor(uint32_t index) {
  const auto in_memory = [&](const Operand& o) { return bulk_address(o, Space::shared); };
  switch (in_->op) {
    case Op::tcgen05_alloc: emit_skipped(index, [&] { emit_allocation(); }); return true;
    case Op::tcgen05_dealloc:
      emit_skipped(index, [&] {
        const uint32_t list =
            put_operands({value_operand(*operand("t"), Type::u32), value_operand(*operand("n"), Type::u32)});
        put_matrix_sync();
        put(free_tensor_memory, false).a = list;
      });
      return true;
    case Op::tcgen05_relinquish_alloc_permit:
      emit_skipped(index, [&] { put(relinquish_tensor_memory, false); });
      return true;
    case Op::tcgen05_ld:
    case Op::tcgen05_ld_red:
    case Op::tcgen05_st: emit_skipped(index, [&] { emit_tensor_access(); }); return true;
    case Op::tcgen05_cp: {
      const uint32_t list = put_operands({in_memory(*operand("t")), value_operand(*operand("s"), Type::b64)});
      const TensorCopyForm form = copy_form(*in_);
      put_guard();
      Inst& i = put(copy_to_tensor_memory, guarded());
      i.a = list;
      i.b = new_product_access(AccessKind::tensor_product);
      i.imm = std::bit_cast<uint64_t>(form);
      return true;
    }
    case Op::tcgen05_commit: {
      std::vector<BulkOperand> operands = {bulk_address(*operand("a"), Space::shared_cluster)};
      if (const Operand* blocks = operand("k")) operands.push_back(value_operand(*blocks, Type::u16));
      const uint32_t list = put_operands(operands);
      put_guard();
      Inst& i = put(commit_tensor_work, guarded());
      i.a = list;
      i.imm = in_->has(Mod::multicast_cluster) ? 1 : 0;
      return true;
    }
    case Op::tcgen05_mma:
    case Op::tcgen05_mma_ws: emit_tensor_product(); return true;
    case Op::tcgen05_fence_after:
    case Op::tcgen05_fence_before:
    case Op::tcgen05_wait_ld:
    case Op::tcgen05_wait_st: put(set_.control.nothing, false); return true;
    default: return false;
  }
}

std::vector<uint32_t> Decoder::tensor_registers(const Operand& o, bool sources) {
  std::vector<uint32_t> list;
  for (uint32_t i = 0; i < o.count; ++i) {
    const Operand& element = in_->elements[o.first + i];
    list.push_back(sources ? source(element, Type::b32) : register_at(element.reg));
  }
  return list;
}

void Decoder::emit_allocation() {
  const Operand& address = *operand("a");
  const uint32_t list =
      put_operands({bulk_address(address, in_->space), value_operand(*operand("n"), Type::u32)});
  put_matrix_sync();
  if (checked_) {  // one lane stores the result
    uint32_t offset = 0;
    const uint32_t base = matrix_address(address, true, offset);
    put_matrix_check(AccessKind::store, base, offset, 4, 1, 1, {}, 0);
  }
  put(allocate_tensor_memory, false).a = list;
}

void Decoder::emit_tensor_access() {
  const bool stores = in_->op == Op::tcgen05_st;
  const std::vector<Operand>& operands = in_->operands;
  const bool reduces = in_->op == Op::tcgen05_ld_red;
  const Operand &data = stores ? operands.back() : operands[0], &address = operands[stores    ? 0
                                                                                    : reduces ? 2
                                                                                              : 1];
  TensorAccessForm form;
  form.shape = shape_of(*in_);
  form.stores = stores;
  form.packed = in_->has(Mod::pack_16b) || in_->has(Mod::unpack_16b);
  form.registers = static_cast<uint8_t>(data.count);
  if (reduces) {
    form.reduced = in_->type();
    form.largest = in_->has(Mod::max);
    form.absolute = in_->has(Mod::abs);
    form.keeps_nan = in_->has(Mod::NaN);
  } else if (operands.size() == 3) {
    form.half = static_cast<uint32_t>(operands[stores ? 1 : 2].bits);
  }
  const uint32_t list = put_operands({bulk_address(address, Space::shared)});
  std::vector<uint32_t> all = tensor_registers(data, stores);
  if (reduces) {
    const Operand& result = operands[1];
    all.push_back(
        register_at((result.kind == Operand::Kind::vector ? in_->elements[result.first] : result).reg));
  }
  const uint32_t registers = put_side(all);
  put_matrix_sync();
  Inst& i = put(move_tensor_memory, false);
  i.a = list;
  i.c = registers;
  i.imm = std::bit_cast<uint64_t>(form);
}

void Decoder::emit_tensor_product() {
  using Kind = TensorProductForm::Kind;
  const std::vector<Operand>& operands = in_->operands;
  TensorProductForm form;
  form.kind = in_->has(Mod::kind_f16)        ? Kind::f16
              : in_->has(Mod::kind_tf32)     ? Kind::tf32
              : in_->has(Mod::kind_f8f6f4)   ? Kind::f8f6f4
              : in_->has(Mod::kind_i8)       ? Kind::i8
              : in_->has(Mod::kind_mxf8f6f4) ? Kind::mxf8f6f4
                                             : Kind::mxf4;
  form.scale_blocks = ptx::matrix_form_of(*in_).scale_blocks;
  form.pair = in_->has(Mod::cta_group_2);
  form.in_memory = operands[1].kind == Operand::Kind::address;
  form.sparse = in_->has(Mod::sp);
  form.stationary = in_->op == Op::tcgen05_mma_ws;
  using Place = TensorProductPlace;
  std::vector<BulkOperand> list(Place::mask);
  list[Place::d] = bulk_address(operands[0], Space::shared);
  list[Place::a] =
      form.in_memory ? bulk_address(operands[1], Space::shared) : value_operand(operands[1], Type::b64);
  list[Place::b] = value_operand(operands[2], Type::b64);
  size_t next = 3;
  if (form.sparse) list[Place::metadata] = bulk_address(operands[next++], Space::shared);
  list[Place::description] = value_operand(operands[next++], Type::b32);
  if (form.scale_blocks != 0) {
    list[Place::first_scale] = bulk_address(operands[next++], Space::shared);
    list[Place::second_scale] = bulk_address(operands[next++], Space::shared);
  }
  if (operands[next].kind == Operand::Kind::vector) {
    form.masked = true;
    for (const uint32_t r : tensor_registers(operands[next++], true)) list.push_back({r, 4, 0});
  }
  form.negated = operands[next].negated;
  const uint32_t adds = source(operands[next++], Type::pred);
  if (next < operands.size()) {
    if (form.stationary)
      list[Place::zero_columns] = value_operand(operands[next], Type::b64);
    else
      form.input_scale = static_cast<uint8_t>(operands[next].bits);
  }
  const uint32_t side = put_operands(list);
  put_guard();
  Inst& i = put(multiply_in_tensor_memory, guarded());
  i.a = side;
  i.b = adds;
  i.c = new_product_access(AccessKind::tensor_product);
  i.imm = std::bit_cast<uint64_t>(form);
}

}  // namespace lanescope::exec
