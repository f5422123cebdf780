// See tensor_memory.hpp.
#include "exec/tensor_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "exec/bulk_copy.hpp"
#include "exec/cluster.hpp"
#include "exec/each_lane.hpp"
#include "exec/matrix_descriptor.hpp"
#include "exec/mbarrier.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

constexpr uint32_t lanes_of_warp = TensorMemory::lanes / warps_of_group;

uint32_t first_lane(const Warp& w) { return static_cast<uint32_t>(std::countr_zero(w.mask)); }

void refuse(Warp& w, const Inst* in, Finding::Kind kind, std::string_view message) {
  report(w, in, kind, w.mask & (0 - w.mask), 0, 0, message);
}

bool is_column_count(uint64_t count) {
  return std::has_single_bit(count) && count >= TensorMemory::least_columns && count <= TensorMemory::columns;
}

std::string columns_text(uint32_t first, uint32_t count) {
  return "columns " + std::to_string(first) + " to " + std::to_string(first + count - 1) +
         " of tensor memory";
}

/// Where register number `r` of lane `i` lies, without `half`: the lane of those that the warp reaches, and
/// the column, of registers that hold two columns half of it.
TensorPlace place_of_register(const TensorAccessForm& form, uint32_t i, uint32_t r) {
  using Shape = TensorAccessForm::Shape;
  switch (form.shape) {
    case Shape::lanes32_bits32: return {i, r};
    case Shape::lanes16_bits64: return {i / 4 + i % 2 * 8, i / 2 % 2 + 2 * r};
    case Shape::lanes16_bits128: return {i / 4 + r % 2 * 8, i % 4 + r / 2 * 4};
    case Shape::lanes16_bits256: return {i / 4 + r / 2 % 2 * 8, i % 4 * 2 + r % 2 + r / 4 * 8};
    case Shape::halves16_bits32: break;
  }
  return {i % 16, r};
}

/// Columns from the first to behind the last one that a register is of, without `half`.
uint32_t width_of(const TensorAccessForm& form) {
  using Shape = TensorAccessForm::Shape;
  const bool sixteen_lanes = form.shape != Shape::lanes32_bits32 && form.shape != Shape::halves16_bits32;
  const uint32_t columns = form.registers * (sixteen_lanes ? 2u : 1u);
  return columns * (form.packed ? 2 : 1);
}

}  // namespace

void TensorMemory::begin() {
  if (used_) cells_.fill(0);
  size_ = {};
  allocated_ = 0;
  may_allocate = true;
  used_ = false;
}

std::optional<uint32_t> TensorMemory::allocate(uint32_t count) {
  const uint32_t wanted = count / least_columns;
  for (uint32_t first = 0; first + wanted <= granules; ++first) {
    const uint32_t bits = bits_of(first, wanted);
    if ((allocated_ & bits) != 0) continue;
    allocated_ = static_cast<uint16_t>(allocated_ | bits);
    size_[first] = static_cast<uint8_t>(wanted);
    used_ = true;
    return first * least_columns;
  }
  return std::nullopt;
}

bool TensorMemory::release(uint32_t first, uint32_t count) {
  const uint32_t granule = first / least_columns;
  if (first % least_columns != 0 || granule >= granules || size_[granule] == 0 ||
      size_[granule] * least_columns != count)
    return false;
  allocated_ = static_cast<uint16_t>(allocated_ & ~bits_of(granule, size_[granule]));
  size_[granule] = 0;
  return true;
}

bool TensorMemory::is_allocated(uint32_t first, uint32_t count) const {
  if (first + count > columns) return false;
  const uint32_t begin = first / least_columns, end = (first + count + least_columns - 1) / least_columns;
  const uint32_t bits = bits_of(begin, end - begin);
  return (allocated_ & bits) == bits;
}

TensorMemory& tensor_memory(BlockState& block) {
  if (!block.tensor_memory) block.tensor_memory = std::make_unique<TensorMemory>();
  return *block.tensor_memory;
}

BlockState* pair_of(BlockState& block) {
  if (block.cluster == nullptr || (block.rank ^ 1) >= block.cluster->blocks.size()) return nullptr;
  return block.cluster->blocks[block.rank ^ 1];
}

bool check_columns(Warp& w, const Inst* in, uint32_t lane, BlockState& block, uint32_t column,
                   uint32_t count) {
  if (tensor_memory(block).is_allocated(column, count)) return true;
  report(w, in, Finding::Kind::out_of_bounds, 1u << lane, column, count,
         columns_text(column, count) + (&block == w.block ? "" : " of the other block of the pair") +
             ", which are not allocated");
  return false;
}

void check_tensor_reads(Warp& w, uint32_t lane, uint32_t access, const BlockState& block,
                        std::span<const uint32_t> offsets) {
  if (access != no_operand) block.checks->read_for_tensor_work(w, lane, access, offsets);
}

const Inst* allocate_tensor_memory(Warp& w, const Inst* in) {
  const uint32_t lane = first_lane(w);
  TensorMemory& memory = tensor_memory(*w.block);
  const uint64_t count = operand_value(w, in, 1, lane);
  if (!is_column_count(count)) {
    refuse(
        w, in, Finding::Kind::bad_call,
        std::to_string(count) + " columns of tensor memory: a power of two from 32 to 512 can be allocated");
    return in + 1;
  }
  if (!memory.may_allocate) {
    refuse(w, in, Finding::Kind::bad_call,
           "tensor memory is allocated after tcgen05.relinquish_alloc_permit of the block");
    return in + 1;
  }
  const auto first = memory.allocate(static_cast<uint32_t>(count));
  if (!first) {  // somebody may give some back
    w.event = Event::hold;
    w.event_target = in;
    return w.stop;
  }
  std::byte* at = shared_memory(w, in, lane, operand_value(w, in, 0, lane), sizeof *first, sizeof *first);
  if (at != nullptr) std::memcpy(at, &*first, sizeof *first);
  return in + 1;
}

std::string describe_allocation(const Warp& w, const Inst* in, uint32_t lanes) {
  return "waits for " +
         std::to_string(operand_value(w, in, 1, static_cast<uint32_t>(std::countr_zero(lanes)))) +
         " columns of tensor memory, and nothing is left to give them back";
}

const Inst* free_tensor_memory(Warp& w, const Inst* in) {
  const uint32_t lane = first_lane(w);
  const TensorPlace place = TensorPlace::of(operand_value(w, in, 0, lane));
  const auto count = static_cast<uint32_t>(operand_value(w, in, 1, lane));
  if (place.lane != 0 || !tensor_memory(*w.block).release(place.column, count))
    refuse(
        w, in, Finding::Kind::bad_call,
        columns_text(place.column, std::max(count, 1u)) + " are given back, which no tcgen05.alloc got so");
  return in + 1;
}

const Inst* relinquish_tensor_memory(Warp& w, const Inst* in) {
  tensor_memory(*w.block).may_allocate = false;
  return in + 1;
}

namespace {

/// The least or the largest of a lane's numbers, as min and max of two of them after another have it.
class Extreme {
 public:
  explicit Extreme(const TensorAccessForm& form) : form_(form) {}
  void take(uint32_t word) {
    if (form_.reduced == ptx::Type::f32) {
      if (form_.absolute) word &= ~sign;
      if ((word & ~sign) > infinity) {
        has_nan_ = true;
        return;
      }
    }
    if (!has_number_ || (place(word) < place(word_)) != form_.largest) word_ = word;
    has_number_ = true;
  }
  [[nodiscard]] uint32_t value() const {
    return !has_number_ || (has_nan_ && form_.keeps_nan) ? 0x7fffffff : word_;
  }

 private:
  static constexpr uint32_t sign = 0x80000000, infinity = 0x7f800000;
  TensorAccessForm form_;
  uint32_t word_ = 0;
  bool has_number_ = false, has_nan_ = false;

  /// A number of the same order.
  [[nodiscard]] uint32_t place(uint32_t word) const {
    if (form_.reduced == ptx::Type::u32) return word;
    return form_.reduced == ptx::Type::f32 && (word & sign) != 0 ? ~word : word ^ sign;
  }
};

}  // namespace

const Inst* move_tensor_memory(Warp& w, const Inst* in) {
  const auto form = std::bit_cast<TensorAccessForm>(in->imm);
  const bool halves = form.shape != TensorAccessForm::Shape::lanes32_bits32;
  const uint32_t lane = first_lane(w), own = w.index % warps_of_group * lanes_of_warp;
  const TensorPlace base = TensorPlace::of(operand_value(w, in, 0, lane));
  if (base.lane != own && !(halves && base.lane == own + 16)) {
    refuse(w, in, Finding::Kind::out_of_bounds,
           "lane " + std::to_string(base.lane) + " of tensor memory: warp " + std::to_string(w.index) +
               " reaches lanes " + std::to_string(own) + " to " + std::to_string(own + lanes_of_warp - 1) +
               (halves ? ", from the first or the seventeenth of them on" : ", from the first one on"));
    return in + 1;
  }
  const uint32_t width = width_of(form);
  if (!check_columns(w, in, lane, *w.block, base.column, width) ||
      (form.half != 0 && !check_columns(w, in, lane, *w.block, base.column + form.half, width)))
    return in + 1;
  TensorMemory& memory = tensor_memory(*w.block);
  for (uint32_t r = 0; r < form.registers; ++r) {
    std::byte* registers = w.regs + w.side[in->c + r];
    each_lane(w.mask, [&](uint32_t i) {
      const TensorPlace place = place_of_register(form, i, r);
      uint32_t* cell = memory.at(base.lane + place.lane, base.column + place.column * (form.packed ? 2 : 1) +
                                                             (i >= 16 ? form.half : 0));
      uint32_t value;
      if (form.stores) {
        std::memcpy(&value, registers + i * sizeof value, sizeof value);
        cell[0] = form.packed ? value & 0xffff : value;
        if (form.packed) cell[1] = value >> 16;
      } else {
        value = form.packed ? (cell[0] & 0xffff) | cell[1] << 16 : cell[0];
        std::memcpy(registers + i * sizeof value, &value, sizeof value);
      }
    });
  }
  if (form.reduced == ptx::Type::none) return in + 1;
  each_lane(w.mask, [&](uint32_t i) {
    Extreme extreme(form);
    for (uint32_t r = 0; r < form.registers; ++r) {
      const TensorPlace place = place_of_register(form, i, r);
      extreme.take(*memory.at(base.lane + place.lane, base.column + place.column));
    }
    const uint32_t value = extreme.value();
    std::memcpy(w.regs + w.side[in->c + form.registers] + i * sizeof value, &value, sizeof value);
  });
  return in + 1;
}

const Inst* copy_to_tensor_memory(Warp& w, const Inst* in) {
  const auto form = std::bit_cast<TensorCopyForm>(in->imm);
  constexpr uint32_t words = 4;  // of 16 bytes
  each_lane(w.mask, [&](uint32_t lane) {
    const TensorPlace to = TensorPlace::of(operand_value(w, in, 0, lane));
    const MatrixDescriptor from(operand_value(w, in, 1, lane));
    if (!from.is_known() || to.lane != 0) {
      refuse(w, in, Finding::Kind::bad_call,
             to.lane != 0 ? "tcgen05.cp goes to lane 0 on"
                          : "the matrix descriptor has a mode that is not supported");
      return;
    }
    const auto copy = [&](BlockState& block) {
      std::vector<uint32_t> read;
      if (!check_columns(w, in, lane, block, to.column, form.pieces * words)) return;
      for (uint32_t row = 0; row < form.rows; ++row)
        for (uint32_t piece = 0; piece < form.pieces; ++piece) {
          const uint64_t address = from.address(row, piece);
          if (address + 16 > block.shared_bytes) {
            report_matrix_outside(w, in, 1u << lane, address, block.shared_bytes);
            return;
          }
          if (in->b != no_operand) read.push_back(static_cast<uint32_t>(address));
          // A row goes to each lane that is so many behind, or, of 64 alternating ones, to two lanes of a
          // half.
          const uint32_t first = form.alternates ? row / 32 * 64 + row % 32 : row,
                         apart = form.alternates ? 32 : form.rows,
                         end = form.alternates ? first + 64 : TensorMemory::lanes;
          for (uint32_t target = first; target < end; target += apart)
            std::memcpy(tensor_memory(block).at(target, to.column + piece * words), block.shared_at + address,
                        16);
        }
      check_tensor_reads(w, lane, in->b, block, read);
    };
    copy(*w.block);
    if (!form.pair) return;
    if (BlockState* other = pair_of(*w.block))
      copy(*other);
    else
      refuse(w, in, Finding::Kind::bad_call, "cta_group::2 in a block that has no other one in its cluster");
  });
  return in + 1;
}

const Inst* commit_tensor_work(Warp& w, const Inst* in) {
  each_lane(w.mask, [&](uint32_t lane) {
    const uint64_t address = operand_value(w, in, 0, lane);
    AgentWork work;
    if (w.block->checks)
      if (AsyncWork* async = w.block->checks->async_work()) work = async->commit_tensor_work(w, lane);
    const auto arrive = [&](uint64_t at) {
      if (w.block->checks)
        if (const std::byte* object = shared_memory(w, in, lane, at, 1, 1))
          tell_async_work(w, object, [&](AsyncWork& async, uint64_t offset) { async.tell_of(work, offset); });
      arrive_for_work(w, in, lane, at);
    };
    if (in->imm == 0) return arrive(address);
    for (auto blocks = static_cast<uint32_t>(operand_value(w, in, 1, lane)); blocks != 0;
         blocks &= blocks - 1)
      arrive(
          cluster_address(static_cast<uint32_t>(address), static_cast<uint32_t>(std::countr_zero(blocks))));
  });
  return in + 1;
}

}  // namespace lanescope::exec
