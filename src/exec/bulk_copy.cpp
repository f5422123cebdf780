// See bulk_copy.hpp.
#include "exec/bulk_copy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "exec/box_rows.hpp"
#include "exec/cluster.hpp"
#include "exec/handlers.hpp"
#include "exec/mbarrier.hpp"
#include "exec/schedule.hpp"
#include "exec/state.hpp"
#include "exec/tensor_map.hpp"

namespace lanescope::exec {

namespace {

constexpr uint32_t unit = 16;  ///< sizes and addresses of bulk copies are multiples of it
using Side = BulkForm::Side;

/// One lane's bulk copy.
class BulkCopy {
 public:
  BulkCopy(Warp& w, const Inst* in, uint32_t lane)
      : w_(w), in_(in), lane_(lane), form_(std::bit_cast<BulkForm>(in->imm)) {}

  void run() {
    if (form_.from == Side::registers) return store_values();
    if (form_.to == Side::tensor || form_.from == Side::tensor) return copy_box();
    const auto size = static_cast<uint32_t>(value(BulkPlace::size));
    if (size % unit != 0)
      return refuse(Finding::Kind::misaligned, size,
                    "a bulk copy of " + std::to_string(size) + " bytes: they must be a multiple of 16");
    // .ignore_oob: bytes at either end that may lie outside of any memory, and have any value after the copy.
    const bool ignores = form_.count != 0;
    const auto left = static_cast<uint32_t>(ignores ? value(BulkPlace::list) : 0),
               right = static_cast<uint32_t>(ignores ? value(BulkPlace::list + 1) : 0);
    if (left >= unit || right >= unit || left + right > size)
      return refuse(Finding::Kind::out_of_bounds, size,
                    "a bulk copy of " + std::to_string(size) + " bytes that ignores " + std::to_string(left) +
                        " and " + std::to_string(right) + ": at most 15 at either end may be");
    if (left != 0 && value(BulkPlace::from) % unit != 0)
      return refuse(Finding::Kind::misaligned, value(BulkPlace::from),
                    "a bulk copy from an address that is no multiple of 16");
    if (size == 0) return copy_nothing();
    const uint32_t inside = size - left - right;
    static constexpr std::byte nothing{};
    const std::byte* from = inside == 0 ? &nothing
                            : form_.from == Side::global
                                ? global_memory(w_, in_, lane_, value(BulkPlace::from) + left, inside,
                                                left == 0 ? unit : 1, false)
                                : shared(value(BulkPlace::from), size, unit);
    if (from == nullptr) return;
    if (form_.to == Side::global) {
      std::byte* to = global_memory(w_, in_, lane_, value(BulkPlace::to), size, unit, true);
      if (to == nullptr) return;
      if (form_.masked) {
        copy_masked(to, from, size);
      } else {
        check_read(from, size);
        check_global(value(BulkPlace::to), size, in_->b);
        write(to, from, size, reduction(form_.type));
        note(value(BulkPlace::to), value(BulkPlace::from), size);
      }
      tell(AccessSpace::global, value(BulkPlace::from));
      return;
    }
    const bool in_cluster = form_.from == Side::shared;
    each_target([&](uint64_t address) {
      std::byte* to = shared(address, size, unit);
      if (to == nullptr) return size;
      if (in_cluster) check_read(from, size);
      in_cluster ? note(cluster_place(address), value(BulkPlace::from), size)
                 : note(value(BulkPlace::from), address, size);
      check_write(to, size);
      if (!in_cluster) check_global(value(BulkPlace::from) + left, inside, in_->c);
      write(to + left, from, inside, reduction(form_.type));
      return size;
    });
    in_cluster ? tell(AccessSpace::cluster, value(BulkPlace::from))
               : tell(AccessSpace::global, value(BulkPlace::to));
  }

  /// Where st.async and red.async go: an address of shared::cluster, with its block's rank.
  [[nodiscard]] uint64_t destination() const { return cluster_place(value(BulkPlace::to)); }

 private:
  Warp& w_;
  const Inst* in_;
  uint32_t lane_;
  BulkForm form_;
  AgentWork work_;                         ///< in a checked launch, of the mbarrier that waits for the copy
  std::vector<BulkAccess::Piece> pieces_;  ///< what the observer, if there is one, is to be told
  bool is_noted_ = false;                  ///< all pieces are there: further targets get the same

  [[nodiscard]] uint64_t value(uint32_t place) const { return operand_value(w_, in_, place, lane_); }

  void refuse(Finding::Kind kind, uint64_t address, const std::string& why) const {
    report(w_, in_, kind, 1u << lane_, address, 0, why);
  }

  [[nodiscard]] Reduction reduction(ptx::Type type) const {
    return form_.is_reduction ? host_handlers().reduction(form_.operation, type) : nullptr;
  }

  /// The memory behind an address of shared memory from which or to which the copy goes.
  [[nodiscard]] std::byte* shared(uint64_t address, uint32_t size, uint32_t align) const {
    return shared_memory(w_, in_, lane_, address, size, align);
  }

  [[nodiscard]] uint64_t cluster_place(uint64_t address) const {
    const uint64_t place = in_window(address);
    return place >> rank_shift != 0 ? place : cluster_address(static_cast<uint32_t>(place), w_.block->rank);
  }

  /// Bytes at `far` and at `near`, an address of shared memory, are copied.
  void note(uint64_t far, uint64_t near, uint32_t bytes, bool is_filled = false) {
    if (w_.worker->observer == nullptr || is_noted_ || bytes == 0) return;
    pieces_.push_back({far, static_cast<uint32_t>(in_block(near)), bytes, is_filled});
  }
  /// `near`: the address of shared memory that is not in `space`.
  void tell(AccessSpace space, uint64_t near) const {
    if (w_.worker->observer == nullptr) return;
    BulkAccess access;
    access.space = space;
    access.pieces = pieces_;
    access.multicast = form_.multicast;
    access.is_image = form_.mode == BulkForm::Mode::im2col;
    if (form_.multicast)
      access.targets = static_cast<uint32_t>(std::popcount(static_cast<uint32_t>(value(BulkPlace::blocks))));
    observe_bulk(w_, in_, static_cast<uint32_t>(in_block(near)), access);
  }

  void write(std::byte* to, const std::byte* from, size_t bytes, Reduction combine) const {
    if (combine != nullptr)
      combine(to, from, bytes);
    else
      std::memmove(to, from, bytes);
    note_write(w_, to);
    if (form_.to == Side::global || form_.to == Side::tensor)
      w_.worker->memory->wrote(reinterpret_cast<uint64_t>(to), bytes);
  }

  /// Of each unit the bytes whose bits are set. A sector has two units, so it is written whatever the mask
  /// leaves.
  void copy_masked(std::byte* to, const std::byte* from, uint32_t size) {
    const auto mask = static_cast<uint32_t>(value(BulkPlace::mask));
    for (uint32_t at = 0; at < size; at += unit)
      for (uint32_t first = 0; mask >> first != 0;) {
        first += static_cast<uint32_t>(std::countr_zero(mask >> first));
        const auto bytes = static_cast<uint32_t>(std::countr_one(mask >> first));
        check_read(from + at + first, bytes);
        check_global(value(BulkPlace::to) + at + first, bytes, in_->b);
        write(to + at + first, from + at + first, bytes, nullptr);
        first += bytes;
      }
    if (mask != 0) note(value(BulkPlace::to), value(BulkPlace::from), size);
  }

  /// Tell the checks what the copy does to shared, and to global memory.
  void check_write(const std::byte* at, uint32_t bytes) const { check(at, bytes, in_->b); }
  void check_read(const std::byte* at, uint32_t bytes) const { check(at, bytes, in_->c); }
  void check(const std::byte* at, uint32_t bytes, uint32_t access) const {
    tell_checks(w_, at, [&](BlockChecks& checks, uint64_t offset) {
      checks.copy_in_bulk(w_, lane_, access, offset, bytes, work_);
    });
  }

  void check_global(uint64_t address, uint32_t bytes, uint32_t access) const {
    if (w_.block->checks) w_.block->checks->copy_global_in_bulk(w_, lane_, access, address, bytes, work_);
  }

  /// What is told next belongs to a copy that the mbarrier at this address waits for. False, after a finding,
  /// if none can be there.
  bool begin_for_mbarrier(uint64_t address) {
    if (!w_.block->checks) return true;
    const std::byte* at = shared_memory(w_, in_, lane_, address, mbarrier_bytes, mbarrier_bytes);
    if (at == nullptr) return false;
    tell_async_work(w_, at, [&](AsyncWork& work, uint64_t offset) {
      work_ = work.begin_for_mbarrier(w_, lane_, offset);
    });
    return true;
  }

  /// Calls copy(address) for the destination in each block that gets the data; then tells the mbarrier there
  /// of as many bytes as it returns.
  template <class Copy>
  void each_target(Copy copy) {
    const uint64_t to = value(BulkPlace::to), barrier = value(BulkPlace::barrier);
    const auto copy_for = [&](uint64_t mbarrier, uint64_t target) {
      const bool is_there = begin_for_mbarrier(mbarrier);
      const auto bytes = copy(target);
      if (is_there) complete_bytes(w_, in_, lane_, mbarrier, bytes);
    };
    if (!form_.multicast && !form_.to_all) return copy_for(barrier, to);
    const size_t size = w_.block->cluster == nullptr ? 1 : w_.block->cluster->blocks.size();
    for (auto blocks = form_.to_all ? (1u << size) - 1 : static_cast<uint32_t>(value(BulkPlace::blocks));
         blocks != 0; blocks &= blocks - 1) {
      const auto rank = static_cast<uint32_t>(std::countr_zero(blocks));
      const auto there = [&](uint64_t address) {
        return uint64_t{cluster_address(static_cast<uint32_t>(address), rank)};
      };
      // Of a pair of blocks, that one's which has the parity of the block whose mbarrier is named.
      const uint32_t odd = (static_cast<uint32_t>(cluster_place(barrier) >> rank_shift) - 1) & 1;
      const uint64_t here =
          form_.pair ? cluster_address(static_cast<uint32_t>(barrier), (rank & ~1u) | odd) : there(barrier);
      copy_for(here, there(to));
      is_noted_ = true;
    }
  }

  /// A copy of no bytes reaches no memory, so that its addresses may be any multiples of 16: CUB copies an
  /// empty range from null.
  void copy_nothing() {
    for (const uint32_t place : {BulkPlace::from, BulkPlace::to})
      if (value(place) % unit != 0)
        return refuse(Finding::Kind::misaligned, value(place),
                      "a bulk copy of no bytes, at an address that is no multiple of 16");
    if (form_.to == Side::global) return tell(AccessSpace::global, value(BulkPlace::from));
    each_target([](uint64_t) { return 0u; });
    form_.from == Side::shared ? tell(AccessSpace::cluster, value(BulkPlace::from))
                               : tell(AccessSpace::global, value(BulkPlace::to));
  }

  /// st.async, red.async.
  void store_values() {
    const uint32_t bytes = ptx::size_of(form_.type), all = bytes * form_.count;
    std::array<std::byte, 16> values{};
    for (uint32_t i = 0; i < form_.count; ++i) {
      const uint64_t v = value(BulkPlace::list + i);
      std::memcpy(values.data() + i * bytes, &v, bytes);
    }
    each_target([&](uint64_t address) {
      std::byte* to = shared_memory(w_, in_, lane_, address, all, all);
      if (to == nullptr) return all;
      check_write(to, all);
      write(to, values.data(), all, reduction(form_.type));
      return all;
    });
  }

  // Boxes of tensors.

  static constexpr uint32_t box_align = 128, longest_row = 256 * 8;

  /// The part of a box's row that lies in the tensor: elements [begin, end), the first one at `address`.
  struct Row {
    uint32_t begin = 0, end = 0;
    uint64_t address = 0;
  };

  static Row row_at(const TensorMap& map, const Coordinates& at) {
    Row found;
    found.address = map.address;
    for (uint32_t d = 1; d < map.dimensions; ++d) {
      if (at[d] < 0 || static_cast<uint64_t>(at[d]) >= map.size(d)) return found;
      found.address += static_cast<uint64_t>(at[d]) * map.strides[d - 1];
    }
    const auto in_row = [&](int64_t element) {
      return static_cast<uint32_t>(std::clamp<int64_t>(element - at[0], 0, map.extent(0)));
    };
    found.begin = in_row(0);
    found.end = in_row(static_cast<int64_t>(map.row_elements()));
    found.address += static_cast<uint64_t>(at[0] + found.begin) * map.element_bytes();
    return found;
  }

  /// Offsets of im2col have 16, 8 or 5 bits. Of larger ones the lowest bits are taken; in five dimensions,
  /// where ptxas adds them up in one word, the bits above go to the next offset.
  void take_offsets(BoxPlace& place) const {
    const auto offset = [&](uint32_t d) {
      return static_cast<uint32_t>(value(BulkPlace::list + form_.count + d) & 0xffff);
    };
    const uint32_t bits = form_.count == 3 ? 16 : form_.count == 4 ? 8 : 5, mask = (1U << bits) - 1;
    uint32_t above = 0;
    for (uint32_t d = 0; d + 2u < form_.count; ++d) {
      const uint32_t sum = offset(d) + above;
      place.offsets[d] = sum & mask;
      above = bits == 5 ? sum >> bits : 0;
    }
  }

  [[nodiscard]] BoxPlace place() const {
    const auto coordinate = [&](uint32_t i) {
      return int64_t{static_cast<int32_t>(value(BulkPlace::list + i))};
    };
    BoxPlace place;
    if (form_.mode == BulkForm::Mode::four_rows) {
      place.first[0] = coordinate(0);
      place.rows = {coordinate(1), coordinate(2), coordinate(3), coordinate(4)};
      return place;
    }
    for (uint32_t d = 0; d < form_.count; ++d) place.first[d] = coordinate(d);
    if (form_.mode == BulkForm::Mode::im2col && form_.from == Side::tensor) take_offsets(place);
    return place;
  }

  /// What of a copy in im2col mode lies where it must not; an H100 ends such kernels with an illegal
  /// instruction.
  static std::string outside_of_images(const TensorMap& map, const Coordinates& first, bool loads) {
    for (uint32_t d = 1; d + 1u < map.dimensions; ++d) {
      const std::string dimension = " in dimension " + std::to_string(d);
      const int64_t begin = map.first_in_box(d), end = map.last_in_box(d);
      if (first[d] < begin || first[d] > end)
        return "the first pixel is at " + std::to_string(first[d]) + dimension +
               ", outside of the bounding box, " + std::to_string(begin) + " to " + std::to_string(end);
      if (!loads && (begin < 0 || end > int64_t{map.last[d]}))
        return "the bounding box of pixels that are stored must lie inside of the images: it goes from " +
               std::to_string(begin) + " to " + std::to_string(end) + dimension;
    }
    return "";
  }

  void copy_box() {
    const bool loads = form_.from == Side::tensor;
    const auto* at = global_memory(w_, in_, lane_, value(loads ? BulkPlace::from : BulkPlace::to),
                                   tensor_map_bytes, tensor_map_align, false);
    if (at == nullptr) return;
    auto map = TensorMap::load(at);
    const std::string defect = map ? defect_of(*map) : "it is none";
    if (!defect.empty()) return refuse(Finding::Kind::unknown_pointer, 0, "the tensor map: " + defect);
    const bool four_rows = form_.mode == BulkForm::Mode::four_rows;
    const uint32_t dimensions = four_rows ? 2 : form_.count;
    if (map->dimensions != dimensions)
      return refuse(Finding::Kind::unknown_pointer, 0,
                    "the tensor has " + std::to_string(map->dimensions) +
                        " dimensions, the instruction is for " + std::to_string(dimensions));
    const bool has_columns = map->mode == TensorMap::Mode::im2col;
    if (has_columns != (form_.mode == BulkForm::Mode::im2col))
      return refuse(Finding::Kind::unknown_pointer, 0,
                    has_columns
                        ? "the tensor map was encoded for im2col, the instruction copies a tile"
                        : "the tensor map was encoded for tiles, the instruction copies in im2col mode");
    if (four_rows && map->box[1] != 1)
      return refuse(Finding::Kind::unknown_pointer, 0,
                    "the tensor map's box has " + std::to_string(map->box[1]) +
                        " rows: four rows are copied with a box of one");
    BoxPlace box = place();
    Coordinates& first = box.first;
    if (const std::string outside = has_columns ? outside_of_images(*map, first, loads) : "";
        !outside.empty())
      return refuse(Finding::Kind::out_of_bounds, map->address, outside);
    // A tile of four rows but for where they lie.
    if (four_rows) {
      map->box[1] = static_cast<uint16_t>(box.rows->size());
      map->steps[1] = 1;
    }
    const auto is_negative = [](int64_t c) { return c < 0; };
    // No manual says either; an H100 ends such kernels with an illegal instruction.
    if (!loads && (std::any_of(first.begin(), first.end(), is_negative) ||
                   (four_rows && std::any_of(box.rows->begin(), box.rows->end(), is_negative))))
      return refuse(Finding::Kind::out_of_bounds, map->address,
                    "a box that is stored must not begin before the tensor, at a negative coordinate");
    const auto numbers = static_cast<int64_t>(map->numbers_of_element());
    if (first[0] % numbers != 0)
      return refuse(Finding::Kind::misaligned, map->address,
                    "the box begins at number " + std::to_string(first[0]) +
                        " of the tensor's rows: numbers of less than a byte are copied by sixteens");
    first[0] /= numbers;
    if (first[0] * map->shared_element_bytes() % unit != 0)
      return refuse(Finding::Kind::misaligned, map->address,
                    "the box begins " + std::to_string(first[0] * map->element_bytes()) +
                        " bytes into the tensor's rows: it must be a multiple of 16");
    if (loads) {
      each_target([&](uint64_t address) {
        move_box(*map, box, address, [&](const Row& row, std::byte* elements, std::byte* tensor) {
          fill(*map, elements);
          if (tensor == nullptr) return;
          spread(*map, elements + row.begin * map->shared_element_bytes(), tensor, row.end - row.begin);
          if (map->converts()) convert(elements, row);
        });
        return map->tensor_bytes();
      });
      tell(AccessSpace::global, value(BulkPlace::to));
      return;
    }
    if (map->shared_element_bytes() != map->element_bytes())
      return refuse(Finding::Kind::unknown_pointer, 0,
                    "the tensor map: numbers with room between them are not stored");
    const Reduction combine = reduction(type_of(map->type));
    move_box(*map, box, value(BulkPlace::from), [&](const Row& row, std::byte* elements, std::byte* tensor) {
      if (tensor != nullptr)
        write(tensor, elements + row.begin * map->element_bytes(),
              (row.end - row.begin) * map->element_bytes(), combine);
    });
    tell(AccessSpace::global, value(BulkPlace::from));
  }

  static void convert(std::byte* elements, const Row& row) {
    for (uint32_t i = row.begin; i < row.end; ++i) {
      uint32_t bits;
      std::memcpy(&bits, elements + i * sizeof bits, sizeof bits);
      bits = TensorMap::converted(bits);
      std::memcpy(elements + i * sizeof bits, &bits, sizeof bits);
    }
  }

  /// Elements of the tensor to shared memory, where there may be room between them.
  static void spread(const TensorMap& map, std::byte* to, const std::byte* from, uint32_t count) {
    const uint32_t bytes = map.element_bytes(), apart = map.shared_element_bytes();
    if (bytes == apart) {
      std::memcpy(to, from, size_t{count} * bytes);
      return;
    }
    for (uint32_t i = 0; i < count; ++i) std::memcpy(to + i * apart, from + i * bytes, bytes);
  }

  static void fill(const TensorMap& map, std::byte* elements) {
    const uint64_t value = map.fill();
    if (map.numbers_of_element() != 1) {
      std::memset(elements, 0, map.row_bytes());
      return;
    }
    for (uint32_t i = 0; i < map.extent(0); ++i)
      std::memcpy(elements + i * map.element_bytes(), &value, map.element_bytes());
  }

  /// Calls move(row, elements, tensor) for each row of the box at `address` in shared memory: `elements` is
  /// the row out of the swizzle, put back there when it is loaded; `tensor` its part in global memory,
  /// nullptr if there is none.
  template <class Move>
  void move_box(const TensorMap& map, const BoxPlace& place, uint64_t address, Move move) {
    const bool loads = form_.from == Side::tensor;
    std::byte* box = shared(address, map.footprint(), box_align);
    if (box == nullptr) return;
    loads ? check_write(box, map.footprint()) : check_read(box, map.footprint());
    const uint32_t row_bytes = map.row_bytes(), rows = map.rows(), pitch = map.row_pitch(),
                   origin = static_cast<uint32_t>(in_block(address));
    std::array<std::byte, longest_row> elements;
    Allocation last;
    BoxRows at(map, place);
    for (uint32_t r = 0; r < rows; ++r, at.next()) {
      const auto unit_at = [&](uint32_t offset) {
        return box + (map.swizzled(origin + r * pitch + offset) - origin);
      };
      if (!loads)
        for (uint32_t i = 0; i < row_bytes; i += unit) std::memcpy(elements.data() + i, unit_at(i), unit);
      const Row row = row_at(map, at.at());
      std::byte* tensor = nullptr;
      if (row.begin < row.end)
        tensor = global_memory(w_, in_, lane_, row.address, (row.end - row.begin) * map.element_bytes(), 1,
                               !loads, &last);
      if (tensor != nullptr)
        check_global(row.address, (row.end - row.begin) * map.element_bytes(), loads ? in_->c : in_->b);
      const uint32_t begin = row.begin * map.shared_element_bytes(),
                     end = row.end * map.shared_element_bytes(), near = origin + r * pitch;
      note(row.address, near + begin, (row.end - row.begin) * map.element_bytes());
      if (loads) {
        note(0, near, begin, true);
        note(0, near + end, row_bytes - end, true);
      }
      move(row, elements.data(), tensor);
      if (loads)
        for (uint32_t i = 0; i < row_bytes; i += unit) std::memcpy(unit_at(i), elements.data() + i, unit);
    }
    if (loads) note_write(w_, box);
  }

  static ptx::Type type_of(TensorMap::Type type) {
    using ptx::Type;
    switch (type) {
      case TensorMap::Type::u8: return Type::u8;
      case TensorMap::Type::u16: return Type::u16;
      case TensorMap::Type::u32: return Type::u32;
      case TensorMap::Type::s32: return Type::s32;
      case TensorMap::Type::u64: return Type::u64;
      case TensorMap::Type::s64: return Type::s64;
      case TensorMap::Type::f16: return Type::f16;
      case TensorMap::Type::bf16: return Type::bf16;
      case TensorMap::Type::f64: return Type::f64;
      default: return Type::f32;
    }
  }
};

/// A copy from shared to global memory that lanes may make once for all that make the same: the assembler
/// has one instruction for the warp where it sees that operands are the same in all lanes, and goes through
/// the lanes where it does not, and for loads and reductions (machine code by ptxas 13.0, and an H200's
/// counters).
bool is_plain_store(const BulkForm& form) {
  return !form.is_reduction && form.from == Side::shared && form.to != Side::shared;
}

bool have_same_operands(const Warp& w, const Inst* in, const BulkForm& form, uint32_t lane, uint32_t other) {
  for (uint32_t place = 0; place < BulkPlace::list + form.count; ++place)
    if (operand_value(w, in, place, lane) != operand_value(w, in, place, other)) return false;
  return true;
}

}  // namespace

uint64_t operand_value(const Warp& w, const Inst* in, uint32_t place, uint32_t lane) {
  const uint32_t* words = w.side + in->a + 3 * place;
  const BulkOperand operand{words[0], words[1], words[2]};
  if (operand.reg == no_operand) return 0;
  uint64_t value = 0;
  std::memcpy(&value, w.regs + operand.reg + size_t{lane} * operand.bytes, operand.bytes);
  value += static_cast<uint64_t>(int64_t{static_cast<int32_t>(operand.offset)});
  return operand.bytes < sizeof value ? value & ((uint64_t{1} << 8 * operand.bytes) - 1) : value;
}

const Inst* copy_bulk(Warp& w, const Inst* in) {
  const auto form = std::bit_cast<BulkForm>(in->imm);
  const bool has_values = form.from == Side::registers, once = is_plain_store(form);
  const auto first = static_cast<uint32_t>(std::countr_zero(w.mask));
  std::array<uint64_t, warp_lanes> to{};
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    if (once && lane != first && have_same_operands(w, in, form, lane, first)) continue;
    BulkCopy copy(w, in, lane);
    copy.run();
    if (has_values) to[lane] = copy.destination();
  }
  if (has_values && !form.is_answer && w.worker->observer != nullptr && w.mask != 0)
    observe_cluster(w, in, to, w.mask);
  return in + 1;
}

const Inst* store_zeros(Warp& w, const Inst* in) {
  constexpr uint64_t step = 8, most = 16777216;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    const uint64_t address = operand_value(w, in, BulkPlace::to, lane),
                   size = operand_value(w, in, BulkPlace::size, lane);
    if (size % step != 0 || size > most) {
      report(w, in, Finding::Kind::misaligned, 1u << lane, address, 0,
             "st.bulk of " + std::to_string(size) + " bytes: they must be a multiple of 8, 16777216 at most");
      continue;
    }
    const auto bytes = static_cast<uint32_t>(size);
    std::byte* at = shared_memory(w, in, lane, address, bytes, 1);
    if (at == nullptr) continue;
    tell_checks(w, at, [&](BlockChecks& checks, uint64_t offset) {
      checks.store_range(w, lane, in->b, offset, bytes);
    });
    std::memset(at, 0, bytes);
    note_write(w, at);
  }
  return in + 1;
}

}  // namespace lanescope::exec
