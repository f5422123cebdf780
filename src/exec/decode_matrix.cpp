// Matrix instructions. See decoder.hpp, and exec/matrix.hpp for the order of registers.

#include <algorithm>
#include <array>
#include <bit>

#include "exec/decoder.hpp"
#include "exec/matrix.hpp"
#include "exec/memory.hpp"
#include "ptx/matrix.hpp"

namespace lanescope::exec {

namespace {

using Kind = ptx::MatrixForm::Kind;

Element element_of(Type t) {
  switch (t) {
    case Type::f16: return Element::f16;
    case Type::bf16: return Element::bf16;
    case Type::tf32: return Element::tf32;
    case Type::f64: return Element::f64;
    case Type::e4m3: return Element::e4m3;
    case Type::e5m2: return Element::e5m2;
    case Type::s8: return Element::s8;
    case Type::u8: return Element::u8;
    case Type::s4: return Element::s4;
    case Type::u4: return Element::u4;
    case Type::e2m1: return Element::e2m1;
    case Type::e2m3: return Element::e2m3;
    case Type::e3m2: return Element::e3m2;
    case Type::b1: return Element::b1;
    case Type::s32: return Element::s32;
    default: return Element::f32;
  }
}

/// The lanes that give the addresses of the rows of so many 8x8 matrices.
uint32_t lanes_of_rows(uint32_t matrices) { return full_mask >> (warp_lanes - 8 * matrices); }

}  // namespace

void Decoder::emit_matrix(uint32_t index) {
  const ptx::MatrixForm form = ptx::matrix_form_of(*in_);
  switch (form.kind) {
    case Kind::load_rows:
    case Kind::store_rows: emit_rows(); return;
    case Kind::product: emit_product(form); return;
    case Kind::transpose: {
      const uint32_t a = source(in_->operands[1], Type::b32);
      Resizes later;
      const uint32_t d = destination(in_->operands[0], Type::b32, later);
      const Handler h = select(key_of(*in_));
      put_matrix_sync();
      emit_behind_wait(true, [&] {
        Inst& i = put(h, false);
        i.d = d;
        i.a = a;
        put_later(later);
      });
      return;
    }
    case Kind::load:
    case Kind::store: emit_fragment_memory(form); return;
    case Kind::group_product: emit_group_product(form, index); return;
    case Kind::group_wait: emit_group_wait(); return;
    case Kind::group_order:
      if (in_->has(Mod::commit_group))
        emit_for_checks(check_commit_products);
      else
        put_group_barrier();
      return;
    case Kind::tensor_load:
    case Kind::tensor_store:
    case Kind::tensor_product: return;  // decode_tensor.cpp
  }
}

/// All lanes of the warp execute these instructions together.
void Decoder::put_matrix_sync() {
  const uint32_t everybody = constant(4, full_mask);
  Inst& sync = put(set_.control.sync, true);
  sync.a = everybody;
}

uint32_t Decoder::matrix_address(const Operand& o, bool shared, uint32_t& offset) {
  const Address address = address_of(o, in_->space);
  offset = address.offset;
  uint32_t base = address.bytes == 0 ? params_address() : address.base;
  if (address.bytes == 4) {
    const uint32_t wide = scratch(8);
    put_resize({wide, base, 8, 4, false});
    base = wide;
  }
  if (!shared || address.space != Space::generic) return base;
  const uint32_t inside = scratch(8);
  put_wide(Op::sub, inside, base, constant(8, shared_window));
  return inside;
}

std::vector<uint32_t> Decoder::fragment(const Operand& o, Type type) {
  std::vector<uint32_t> list;
  for (uint32_t i = 0; i < o.count; ++i) {
    const Operand& element = in_->elements[o.first + i];
    const Type one = type == Type::f64 ? Type::f64 : Type::b32;
    if (element.kind == Operand::Kind::sink)
      list.push_back(scratch(lane_bytes(one)));
    else
      list.push_back(element.kind == Operand::Kind::reg ? register_at(element.reg) : source(element, one));
  }
  return list;
}

std::vector<FollowedRegister> Decoder::followed_fragment(const Operand& o,
                                                         const std::vector<uint32_t>& registers) const {
  std::vector<FollowedRegister> list;
  for (uint32_t i = 0; i < registers.size(); ++i) {
    list.push_back(checked_ ? followed_element(o, i) : FollowedRegister{});
    list.back().at = registers[i];
  }
  return list;
}

void Decoder::emit_rows() {
  const bool load = in_->op == Op::ldmatrix;
  const Operand &data = in_->operands[load ? 0 : 1], &address = in_->operands[load ? 1 : 0];
  uint32_t offset = 0;
  const uint32_t base = matrix_address(address, true, offset);
  const std::vector<uint32_t> registers = fragment(data, Type::b32);
  const uint32_t list = put_side(registers);
  const Handler h = select(key_of(*in_));
  const AccessKind kind = load ? AccessKind::load_matrix : AccessKind::store_matrix;
  const bool transposed = in_->has(Mod::trans);
  const RowLayout layout = !transposed                ? RowLayout::rows
                           : in_->type() == Type::b16 ? RowLayout::columns
                           : load                     ? RowLayout::square
                                                      : RowLayout::tall;
  const uint32_t bits = in_->has(Mod::b6x16_p32) ? 6 : in_->has(Mod::b4x16_p64) ? 4 : 8;
  put_matrix_sync();
  put_matrix_check(kind, base, offset, 16, 1, lanes_of_rows(data.count), followed_fragment(data, registers),
                   4, layout, bits);
  Inst& i = put(h, false);
  i.a = base;
  i.b = data.count;
  i.c = list;
  i.imm = uint64_t{1} << 32 | offset;
  i.aux = new_site(kind, Space::shared, 16);
}

void Decoder::emit_product(const ptx::MatrixForm& form) {
  const std::vector<Operand>& operands = in_->operands;
  // m8n32k16 is m32n8k16 with the factors exchanged and all matrices transposed: see exec/matrix.hpp.
  const bool exchanged = form.m == 8 && form.n == 32;
  const Operand &first = operands[exchanged ? 2 : 1], &second = operands[exchanged ? 1 : 2];
  HandlerKey key = key_of(*in_);
  uint64_t imm = 0;
  std::vector<uint32_t> list = fragment(operands[0], form.d);
  const auto add = [&](const Operand& o, size_t most) {
    const std::vector<uint32_t> more = fragment(o, form.a);
    list.insert(list.end(), more.begin(),
                more.begin() + static_cast<std::ptrdiff_t>(std::min(most, more.size())));
  };
  if (form.m == 8 && form.k == 4 && form.a == Type::f16) {
    key.data_bytes = 2;
    imm = (form.a_column ? 1u : 0u) | (form.b_column ? 2u : 0u) | (form.d == Type::f16 ? 4u : 0u) |
          (form.c == Type::f16 ? 8u : 0u);
    for (size_t i = 1; i < 4; ++i) add(operands[i], 8);
  } else {
    ProductForm f;
    f.first = element_of(exchanged ? form.b : form.a);
    f.second = element_of(exchanged ? form.a : form.b);
    f.c = element_of(form.c);
    f.d = element_of(form.d);
    f.rows = static_cast<uint8_t>(exchanged ? form.n : form.m);
    f.column_tiles = static_cast<uint8_t>((exchanged ? form.m : form.n) / 8);
    f.parts =
        static_cast<uint8_t>(f.first == Element::f64 ? form.k / 4 : form.k * element_bits(f.first) / 128);
    f.sparse = form.sparse;
    f.saturate = in_->has(Mod::satfinite);
    f.exclusive = in_->has(Mod::xor_);
    f.half_steps = in_->op == Op::wmma && form.a == Type::tf32;
    if (form.sparse) f.selector = static_cast<uint8_t>(operands[5].bits & 3);
    if (form.a == Type::f64) key.data_bytes = 8;
    imm = std::bit_cast<uint64_t>(f);
    // Fragments of wmma may hold their elements more than once.
    add(first, first_registers(f));
    add(second, second_registers(f));
    add(operands[3], 8);
    if (form.sparse) list.push_back(source(operands[4], Type::b32));
  }
  if (form.small) {
    key.data_bytes = 16;
    auto f = std::bit_cast<ProductForm>(imm);
    f.unit = ProductUnit::tcgen05;
    f.scale_blocks = form.scale_blocks;
    imm = std::bit_cast<uint64_t>(f);
    list.push_back(form.scale == Type::ue8m0 ? 1 : 0);
    for (size_t i = 4; i < operands.size(); i += 2) {
      const Operand &factors = operands[i], &which = operands[i + 1];
      list.push_back(
          source(factors.kind == Operand::Kind::vector ? in_->elements[factors.first] : factors, Type::b32));
      for (uint32_t e = 0; e < 2; ++e) list.push_back(source(in_->elements[which.first + e], Type::u16));
    }
  }
  const uint32_t side = put_side(list);
  const Handler h = select(key);
  put_matrix_sync();
  emit_behind_wait(true, [&] {
    Inst& i = put(h, false);
    i.b = side;
    i.imm = imm;
  });
}

namespace {

/// Eight by four (registers of one element: eight by `4 * per`) elements of a fragment: where it begins,
/// across and along the dimension in which a register's elements lie.
struct Block {
  uint32_t across, along;
};

}  // namespace

/// wmma.load and wmma.store become what ptxas makes of them for sm_90: ldmatrix where a line of memory holds
/// rows of 16 bytes of A or B in shared memory, else loads and stores of single registers, pairs of
/// accumulators, or bytes, and movmatrix where 16-bit elements lie the other way.
class Decoder::FragmentMemory {
 public:
  FragmentMemory(Decoder& decoder, const ptx::MatrixForm& form)
      : d_(decoder), form_(form), load_(form.kind == Kind::load), bits_(ptx::element_bits(form.a)) {
    const std::vector<Operand>& operands = d_.in_->operands;
    const Operand& data = operands[load_ ? 0 : 1];
    registers_ = d_.fragment(data, form.a);
    followed_ = d_.followed_fragment(data, registers_);
    base_ = d_.matrix_address(operands[load_ ? 1 : 0], false, offset_);
    const bool exchanged = form.m == 8 && form.n == 32;
    const bool accumulator = form.fragment == 'c' || form.fragment == 'd';
    const bool by_columns = accumulator ? exchanged : form.fragment == 'b';
    contiguous_ = form.a_column == by_columns;
    if (operands.size() == 3) {
      stride_ = d_.source(operands[2], Type::b32);
    } else {  // the matrix fills its lines
      const uint32_t rows = form.fragment == 'b' ? form.k : form.m,
                     columns = form.fragment == 'a' ? form.k : form.n;
      stride_ = d_.constant(4, form.a_column ? rows : columns);
    }
    d_.put_matrix_sync();
    if (accumulator)
      accumulators(exchanged);
    else
      factor(exchanged);
  }

 private:
  Decoder& d_;
  const ptx::MatrixForm& form_;
  bool load_;
  uint32_t bits_;
  std::vector<uint32_t> registers_;
  std::vector<FollowedRegister> followed_;  ///< the same
  uint32_t base_ = 0, stride_ = 0;
  uint32_t offset_ = 0;
  bool contiguous_ = true;  ///< elements that follow each other in a register do so in memory

  void factor(bool exchanged) {
    const bool of_a = form_.fragment == 'a', first = of_a != exchanged;
    const uint32_t across = of_a ? form_.m : form_.n, per = bits_ >= 32 ? 1 : 32 / bits_, part = 4 * per;
    std::vector<Block> blocks;
    const uint32_t tile = first && across >= 16 ? 16 : 8;
    for (uint32_t at = 0; at < across; at += tile)
      for (uint32_t along = 0; along < form_.k; along += part)
        for (uint32_t half = 0; half < tile; half += 8) blocks.push_back({at + half, along});
    const bool rows_of_16 = bits_ < 32 && (contiguous_ || bits_ == 16) && is_shared(d_.in_->space);
    if (rows_of_16) {
      const uint32_t most = bits_ == 16 ? 4 : 2;
      for (size_t i = 0; i < blocks.size(); i += most)
        load_rows(blocks, i, static_cast<uint32_t>(std::min<size_t>(most, blocks.size() - i)));
    } else {
      for (size_t i = 0; i < blocks.size(); ++i) load_word(blocks[i], followed_[i], per);
    }
    for (size_t i = blocks.size(); i < registers_.size(); ++i)
      make(followed_[i], {followed_[i % blocks.size()]},
           [&] { d_.put_copy(4, registers_[i], registers_[i % blocks.size()], true); });
  }

  /// What `put` puts makes one register of others.
  void make(const FollowedRegister& to, const std::vector<FollowedRegister>& from,
            const std::function<void()>& put) {
    if (!d_.follows_values()) return put();
    d_.emit_followed({{}, from, {to}}, put);
  }

  void load_rows(const std::vector<Block>& blocks, size_t from, uint32_t count) {
    FragmentAddress form{.way = FragmentAddress::Way::rows, .bits = static_cast<uint8_t>(bits_)};
    std::vector<uint32_t> list;
    std::vector<FollowedRegister> followed;
    for (uint32_t i = 0; i < count; ++i) {
      const Block& b = blocks[from + i];
      form.line[i] = static_cast<uint8_t>(contiguous_ ? b.across : b.along);
      form.place[i] = static_cast<uint8_t>(contiguous_ ? b.along : b.across);
      list.push_back(registers_[from + i]);
      followed.push_back(followed_[from + i]);
    }
    HandlerKey key = d_.key_of(*d_.in_);
    key.op = Op::ldmatrix;
    key.modifiers.reset();
    if (!contiguous_) key.modifiers.set(static_cast<size_t>(Mod::trans));
    const uint32_t address = put_addresses(form);
    const uint32_t side = d_.put_side(list);
    const Handler h = d_.select(key);
    d_.put_matrix_check(AccessKind::load_matrix, address, offset_, 16, 1, lanes_of_rows(count), followed, 4,
                        contiguous_ ? RowLayout::rows : RowLayout::columns);
    Inst& i = d_.put(h, put_any_);
    put_any_ = true;
    i.a = address;
    i.b = count;
    i.c = side;
    i.imm = uint64_t{1} << 32 | offset_;
    i.aux = d_.new_site(AccessKind::load_matrix, Space::shared, 16);
  }

  void load_word(const Block& b, const FollowedRegister& to, uint32_t per) {
    if (contiguous_) {
      access(across(b.across, b.along, per), {to}, bits_ == 64 ? 8 : 4);
    } else if (bits_ >= 32) {
      access(along(b.along, b.across, 1), {to}, bits_ / 8);
    } else if (bits_ == 16) {
      transposed(b, to);
    } else {
      std::vector<FollowedRegister> part;
      for (uint32_t e = 0; e < 4; ++e) {
        part.push_back(d_.followed_scratch(d_.scratch(4)));
        access(along(b.along + e, b.across, 4), {part[e]}, 1);
      }
      HandlerKey key;
      key.op = Op::wmma;
      key.data_bytes = 1;
      const Handler h = d_.select(key);
      make(to, part, [&] {
        Inst& i = d_.put(h, true);
        i.d = to.at;
        i.a = part[0].at;
        i.b = part[1].at;
        i.c = part[2].at;
        i.aux = part[3].at;
      });
      for (int e = 0; e < 4; ++e) --d_.scratch_used_[width_class(4)];
    }
  }

  void accumulators(bool exchanged) {
    const uint32_t rows = exchanged ? form_.n : form_.m, columns = exchanged ? form_.m : form_.n;
    const uint32_t tile = rows >= 16 ? 16 : 8;
    size_t next = 0;
    for (uint32_t at = 0; at < rows; at += tile)
      for (uint32_t column = 0; column < columns; column += 8)
        for (uint32_t half = 0; half < tile; half += 8) {
          const Block b{at + half, column};
          if (bits_ == 16 && contiguous_) {
            access(across(b.across, b.along, 2), {followed_[next++]}, 4);
          } else if (bits_ == 16) {
            transposed(b, followed_[next++]);
          } else {
            const FollowedRegister first = followed_[next], second = followed_[next + 1];
            next += 2;
            if (contiguous_) {
              access(across(b.across, b.along, 2), {first, second}, bits_ / 8);
            } else {
              access(along(b.along, b.across, 2), {first}, bits_ / 8);
              access(along(b.along + 1, b.across, 2), {second}, bits_ / 8);
            }
          }
        }
  }

  /// Lane i at line `line` + i / 4, place + step * (i % 4); or the other way round.
  [[nodiscard]] FragmentAddress across(uint32_t line, uint32_t place, uint32_t step) const {
    return {FragmentAddress::Way::across,
            static_cast<uint8_t>(bits_),
            static_cast<uint8_t>(step),
            {static_cast<uint8_t>(line)},
            {static_cast<uint8_t>(place)}};
  }
  [[nodiscard]] FragmentAddress along(uint32_t line, uint32_t place, uint32_t step) const {
    FragmentAddress form = across(line, place, step);
    form.way = FragmentAddress::Way::along;
    return form;
  }

  /// 16-bit elements that lie across the lines of memory.
  void transposed(const Block& b, const FollowedRegister& reg) {
    HandlerKey key;
    key.op = Op::movmatrix;
    const Handler h = d_.select(key);
    const FollowedRegister other = d_.followed_scratch(d_.scratch(4));
    const FragmentAddress form = across(b.along, b.across, 2);
    if (load_) access(form, {other}, 4);
    const FollowedRegister &to = load_ ? reg : other, &from = load_ ? other : reg;
    make(to, {from}, [&] {
      Inst& i = d_.put(h, true);
      i.d = to.at;
      i.a = from.at;
    });
    if (!load_) access(form, {other}, 4);
    --d_.scratch_used_[width_class(4)];
  }

  uint32_t put_addresses(const FragmentAddress& form) {
    HandlerKey key;
    key.op = Op::wmma;
    key.data_bytes = 4;
    const Handler h = d_.select(key);
    const uint32_t address = d_.scratch(8);
    --d_.scratch_used_[width_class(8)];
    const auto bits = std::bit_cast<std::array<uint32_t, 3>>(form);
    const uint32_t side = d_.put_side({bits.begin(), bits.end()});
    Inst& i = d_.put(h, true);
    i.d = address;
    i.a = base_;
    i.b = stride_;
    i.c = side;
    return address;
  }

  /// A load or store of one or two registers of `bytes` each (of a byte into four).
  void access(const FragmentAddress& form, const std::vector<FollowedRegister>& data, uint32_t bytes) {
    const uint32_t address = put_addresses(form);
    HandlerKey key = d_.key_of(*d_.in_);
    key.op = load_ ? Op::ld : Op::st;
    key.types = {bytes == 1 ? Type::u8 : bytes == 4 ? Type::b32 : Type::b64};
    key.modifiers.reset();
    key.data_bytes = static_cast<uint8_t>(std::max(bytes, 4u));
    key.vector = static_cast<uint8_t>(data.size());
    key.address_bytes = 8;
    const Handler h = d_.select(key);
    const uint32_t list = data.size() > 1 ? d_.put_side({data[0].at, data[1].at}) : no_operand;
    const AccessKind kind = load_ ? AccessKind::load : AccessKind::store;
    d_.put_matrix_check(kind, address, offset_, bytes, static_cast<uint32_t>(data.size()), full_mask, data,
                        key.data_bytes);
    Inst& i = d_.put(h, put_any_);
    put_any_ = true;
    i.d = data[0].at;
    i.a = address;
    i.c = list;
    i.imm = uint64_t{data.size()} << 32 | offset_;
    i.aux = d_.new_site(kind, d_.in_->space, data.size() * bytes);
  }
  bool put_any_ = false;  ///< the first access stands for the instruction
};

void Decoder::emit_fragment_memory(const ptx::MatrixForm& form) { FragmentMemory(*this, form); }

void Decoder::emit_group_product(const ptx::MatrixForm& form, uint32_t index) {
  const std::vector<Operand>& operands = in_->operands;
  ProductForm f;
  f.first = element_of(form.a);
  f.second = element_of(form.b);
  f.c = f.d = element_of(form.d);
  f.rows = 16;  // of each of the four warps
  f.column_tiles = static_cast<uint8_t>(form.n / 8);
  f.parts = static_cast<uint8_t>(form.k * element_bits(f.first) / 128);
  f.sparse = form.sparse;
  f.saturate = in_->has(Mod::satfinite);
  f.unit = ProductUnit::wgmma;
  f.in_registers = operands[1].kind == Operand::Kind::vector;
  std::vector<uint32_t> list = fragment(operands[0], form.d);
  uint32_t a = no_operand;
  if (f.in_registers) {
    const std::vector<uint32_t> more = fragment(operands[1], form.a);
    list.insert(list.end(), more.begin(), more.end());
  } else {
    a = source(operands[1], Type::b64);
  }
  const uint32_t b = source(operands[2], Type::b64);
  size_t next = 3;
  uint32_t metadata = no_operand;
  if (form.sparse) {
    metadata = source(operands[next++], Type::b32);
    f.selector = static_cast<uint8_t>(operands[next++].bits & 3);
  }
  f.scale_negated = operands[next].negated;
  const uint32_t scale = source(operands[next++], Type::pred);
  const auto is = [&](int64_t value) {
    return next < operands.size() && static_cast<int64_t>(operands[next++].bits) == value;
  };
  if (form.d != Type::s32) {
    f.first_negated = is(-1);
    f.second_negated = is(-1);
  }
  if (form.a == Type::f16 || form.a == Type::bf16) {
    if (!f.in_registers) f.first_transposed = is(1);
    f.second_transposed = is(1);
  }
  const Handler h = select(key_of(*in_));
  put_matrix_sync();
  emit_behind_wait(true, [&] {
    list.insert(list.begin(), {new_product_access(AccessKind::group_product), scale});
    const uint32_t side = put_side(list);
    Inst& i = put(h, false);
    i.a = a;
    i.b = side;
    i.c = b;
    i.d = metadata;
    i.aux = new_site(AccessKind::group_product, Space::shared, 16);
    i.imm = std::bit_cast<uint64_t>(f);
    note_instruction(index);
  });
}

/// The four warps of a group wait for each other.
void Decoder::put_group_barrier() {
  const uint32_t threads = constant(4, 4 * warp_lanes);
  Inst& i = put(set_.control.barrier, false);
  i.a = zero32_;
  i.b = threads;
  i.imm = barrier_sync | barrier_of_group;
}

/// What a warp's share of a product reads may be overwritten once one warp of the group has waited for it.
void Decoder::emit_group_wait() {
  put_group_barrier();
  if (checked_) put(check_wait_products, true).imm = in_->operands[0].bits;
}

}  // namespace lanescope::exec
