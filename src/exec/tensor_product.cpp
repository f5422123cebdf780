// See tensor_product.hpp.
#include "exec/tensor_product.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "exec/bulk_copy.hpp"
#include "exec/each_lane.hpp"
#include "exec/handlers.hpp"
#include "exec/matrix_descriptor.hpp"
#include "exec/schedule.hpp"
#include "exec/tensor_memory.hpp"

namespace lanescope::exec {

namespace {

using ProductKind = TensorProductForm::Kind;
using Place = TensorProductPlace;

/// The 32 bits that say what the matrices are like.
class Description {
 public:
  explicit Description(uint64_t bits) : bits_(static_cast<uint32_t>(bits)) {}
  [[nodiscard]] bool is_sparse() const { return field(2, 1) != 0; }
  [[nodiscard]] bool saturates() const { return field(3, 1) != 0; }
  [[nodiscard]] uint32_t result_format() const { return field(4, 2); }
  [[nodiscard]] uint32_t second_scale() const { return field(4, 2); }  ///< byte of the scale factors' words
  [[nodiscard]] uint32_t first_format() const { return field(7, 3); }
  [[nodiscard]] uint32_t second_format() const { return field(10, 3); }
  [[nodiscard]] bool negates() const { return field(13, 1) != field(14, 1); }
  [[nodiscard]] bool first_transposed() const { return field(15, 1) != 0; }
  [[nodiscard]] bool second_transposed() const { return field(16, 1) != 0; }
  [[nodiscard]] uint32_t columns() const { return 8 * field(17, 6); }
  [[nodiscard]] bool scales_are_powers() const { return field(23, 1) != 0; }  ///< ue8m0, else ue4m3
  [[nodiscard]] uint32_t rows() const { return 16 * field(24, 5); }
  [[nodiscard]] uint32_t first_scale() const { return field(29, 2); }
  [[nodiscard]] bool is_long() const { return field(31, 1) != 0; }

 private:
  uint32_t bits_;
  [[nodiscard]] uint32_t field(uint32_t from, uint32_t count) const {
    return bits_ >> from & ((1u << count) - 1);
  }
};

std::optional<Element> element_of(ProductKind kind, uint32_t format) {
  switch (kind) {
    case ProductKind::f16:
      if (format < 2) return format == 0 ? Element::f16 : Element::bf16;
      break;
    case ProductKind::tf32:
      if (format == 2) return Element::tf32;
      break;
    case ProductKind::i8:
      if (format < 2) return format == 0 ? Element::u8 : Element::s8;
      break;
    case ProductKind::mxf4:
      if (format == 1) return Element::e2m1;
      break;
    case ProductKind::f8f6f4:
    case ProductKind::mxf8f6f4:
      switch (format) {
        case 0: return Element::e4m3;
        case 1: return Element::e5m2;
        case 3: return Element::e2m3;
        case 4: return Element::e3m2;
        case 5: return Element::e2m1;
        default: break;
      }
  }
  return std::nullopt;
}

/// Bits of an element where it is kept close to others.
uint32_t packed_bits(Element e) {
  return e == Element::e2m1 ? 4 : e == Element::e2m3 || e == Element::e3m2 ? 6 : element_bits(e);
}

constexpr uint32_t bytes_of_row = 32;  ///< along K, but for numbers of fewer bits

/// One lane's product.
class TensorProduct {
 public:
  TensorProduct(Warp& w, const Inst* in, uint32_t lane)
      : w_(w),
        in_(in),
        lane_(lane),
        form_(std::bit_cast<TensorProductForm>(in->imm)),
        like_(value(Place::description)),
        m_(host_handlers().product_matrices()) {}

  void run() {
    if (const std::string bad = defect(); !bad.empty()) return refuse(Finding::Kind::bad_call, 0, bad);
    blocks_[0] = w_.block;
    if (form_.pair) {
      blocks_[w_.block->rank & 1] = w_.block;
      blocks_[~w_.block->rank & 1] = pair_of(*w_.block);
    }
    const uint32_t count = form_.pair ? 2 : 1;
    product_.rows = static_cast<uint8_t>(like_.rows() / count);
    product_.column_tiles = static_cast<uint8_t>(like_.columns() / 8);
    product_.parts = form_.kind == ProductKind::mxf4 ? 4 : 2;
    product_.unit = ProductUnit::tcgen05;
    product_.saturate = like_.saturates() && form_.kind == ProductKind::i8;
    product_.first_negated = like_.negates();
    product_.scale_blocks = form_.scale_blocks;
    for (uint32_t i = 0; i < count; ++i)
      if (!read(*blocks_[i], value(Place::b), product_.second, like_.second_transposed(),
                like_.columns() / count, m_.second + size_t{i} * like_.columns() / count * words()))
        return;
    for (uint32_t i = 0; i < count; ++i)
      if (!multiply(*blocks_[i], i)) return;
  }

 private:
  Warp& w_;
  const Inst* in_;
  uint32_t lane_;
  TensorProductForm form_;
  Description like_;
  ProductMatrices& m_;
  ProductForm product_;
  BlockState* blocks_[2] = {};

  [[nodiscard]] uint64_t value(uint32_t place) const { return operand_value(w_, in_, place, lane_); }
  [[nodiscard]] uint32_t words() const { return product_.parts * 4u; }
  /// Rows of the first half of the columns lie beside those of the second one.
  [[nodiscard]] bool is_folded() const { return form_.pair && like_.rows() == 128; }

  void refuse(Finding::Kind kind, uint64_t address, const std::string& why) const {
    report(w_, in_, kind, 1u << lane_, address, 0, why);
  }

  /// What is wrong with the descriptors; fills in the types.
  std::string defect() {
    const auto first = element_of(form_.kind, like_.first_format()),
               second = element_of(form_.kind, like_.second_format());
    const bool scaled = form_.scale_blocks != 0,
               halves = !scaled && form_.kind != ProductKind::i8 && like_.result_format() == 0;
    const uint32_t result = like_.result_format();
    if (!first || !second ||
        (!scaled && result != (form_.kind == ProductKind::i8 ? 2u : 1u) &&
         !(halves && form_.kind != ProductKind::tf32)))
      return "the instruction descriptor has types that do not go with the instruction's kind";
    if (like_.is_sparse()) return "the instruction descriptor is of a sparse product, the instruction is not";
    if (scaled && like_.is_long()) return "products of 96 elements along K are not supported";
    product_.first = *first;
    product_.second = *second;
    product_.c = product_.d = form_.kind == ProductKind::i8 ? Element::s32
                              : halves                      ? Element::f16
                                                            : Element::f32;
    if (halves && form_.input_scale != 0) return "scale-input-d with f16 results is not supported";
    const uint32_t rows = like_.rows(), columns = like_.columns();
    const bool rows_fit = form_.pair ? rows == 256 || rows == 128 : rows == 128 || (rows == 64 && !scaled);
    if (!rows_fit || columns == 0 || columns > 256 || (rows != 64 && columns % 16 != 0))
      return "a product of " + std::to_string(rows) + " rows and " + std::to_string(columns) + " columns" +
             (form_.pair ? " for a pair of blocks" : "") + ", which there is not";
    const auto narrow = [](Element e) { return packed_bits(e) < 8; };
    if ((narrow(*first) &&
         (like_.first_transposed() || (form_.in_memory && form_.kind != ProductKind::mxf4))) ||
        (narrow(*second) && like_.second_transposed()))
      return "numbers of 4 and 6 bits lie in shared memory, along K";
    if (form_.in_memory && like_.first_transposed()) return "A in tensor memory lies along K";
    if (!MatrixDescriptor(value(Place::b)).is_known() ||
        (!form_.in_memory && !MatrixDescriptor(value(Place::a)).is_known()))
      return "the matrix descriptor has a mode that is not supported";
    if (form_.pair && pair_of(*w_.block) == nullptr)
      return "cta_group::2 in a block that has no other one in its cluster";
    if (form_.pair && (pair_of(*w_.block)->live_warps == 0)) return "the other block of the pair has ended";
    return "";
  }

  /// Reads rows of a matrix in shared memory as packed words.
  bool read(const BlockState& block, uint64_t descriptor, Element e, bool transposed, uint32_t rows,
            uint32_t* out) {
    const MatrixDescriptor from(descriptor);
    uint64_t bad = 0;
    std::vector<uint32_t> offsets;
    const auto copy = [&](uint64_t address, void* to) {
      if (address + 16 <= block.shared_bytes) {
        std::memcpy(to, block.shared_at + address, 16);
        if (in_->c != no_operand) offsets.push_back(static_cast<uint32_t>(address));
      } else {
        std::memset(to, 0, 16);
        bad = address + 1;
      }
    };
    if (transposed) {
      const uint32_t bytes = element_bits(e) / 8, per = 16 / bytes;
      for (uint32_t k = 0; k < bytes_of_row / bytes; ++k)
        for (uint32_t row = 0; row < rows; row += per) {
          std::byte piece[16];
          copy(from.transposed(row / per, k), piece);
          for (uint32_t i = 0; i < std::min(per, rows - row); ++i)
            std::memcpy(reinterpret_cast<std::byte*>(out + (row + i) * words()) + k * bytes,
                        piece + i * bytes, bytes);
        }
    } else {
      for (uint32_t row = 0; row < rows; ++row)
        for (uint32_t piece = 0; piece < bytes_of_row / 16; ++piece) {
          uint32_t packed[4];
          copy(from.address(row, piece), packed);
          unpack(e, packed, out + row * words() + piece * words() / 2);
        }
    }
    check_tensor_reads(w_, lane_, in_->c, block, offsets);
    if (bad == 0) return true;
    report_matrix_outside(w_, in_, 1u << lane_, bad - 1, block.shared_bytes);
    return false;
  }

  /// Sixteen bytes of a row: numbers of fewer than 8 bits get a byte each. With those of 8, sixteen of them
  /// lie in sixteen bytes, with room left; alone, those of 4 bits fill them.
  void unpack(Element e, const uint32_t* packed, uint32_t* out) const {
    const uint32_t bits = packed_bits(e);
    if (bits >= 8) {
      std::memcpy(out, packed, 16);
      return;
    }
    uint8_t bytes[32];
    const uint32_t count = form_.kind == ProductKind::mxf4 ? 32 : 16;
    const auto* from = reinterpret_cast<const uint8_t*>(packed);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t at = i * bits;
      const uint32_t two = from[at / 8] | (at / 8 + 1 < 16 ? uint32_t{from[at / 8 + 1]} << 8 : 0);
      bytes[i] = static_cast<uint8_t>(two >> (at % 8) & ((1u << bits) - 1));
    }
    std::memcpy(out, bytes, count);
  }

  /// The lane of tensor memory that has row `row` of the block's.
  [[nodiscard]] uint32_t lane_of_row(uint32_t row) const {
    return product_.rows == 64 && !form_.pair ? row / 16 * 32 + row % 16 : row;
  }

  bool read_first_of_memory(BlockState& block) {
    const TensorPlace from = TensorPlace::of(value(Place::a));
    constexpr uint32_t columns = bytes_of_row / 4;
    if (!check_columns(w_, in_, lane_, block, from.column, columns) || !check_lanes(from)) return false;
    for (uint32_t row = 0; row < product_.rows; ++row) {
      const uint32_t* cell = tensor_memory(block).at(from.lane + lane_of_row(row), from.column);
      for (uint32_t half = 0; half < 2; ++half)
        unpack(product_.first, cell + half * 4, m_.first + row * words() + half * words() / 2);
    }
    return true;
  }
  bool check_lanes(const TensorPlace& at) const {
    if (at.lane == 0 || (at.lane == 16 && like_.rows() == 64)) return true;
    refuse(Finding::Kind::out_of_bounds, at.lane,
           "a matrix in tensor memory from lane " + std::to_string(at.lane) +
               " on: lane 0 is meant, of 64 rows 0 or 16");
    return false;
  }

  bool read_scales(BlockState& block, uint32_t place, uint32_t byte, uint32_t rows, bool folded,
                   double (*to)[most_scale_blocks]) {
    const TensorPlace from = TensorPlace::of(value(place) & 0x3fffffff);
    const uint32_t half = folded ? rows / 2 : rows;
    if (!check_columns(w_, in_, lane_, block, from.column, (half + 31) / 32)) return false;
    for (uint32_t row = 0; row < rows; ++row) {
      const uint32_t in_half = row % half;
      const uint32_t word =
          *tensor_memory(block).at(in_half % 32 + (row >= half ? 64 : 0), from.column + in_half / 32);
      for (uint32_t i = 0; i < form_.scale_blocks; ++i)
        to[row][i] = scale_factor(word >> (8 * ((byte + i) % 4)) & 0xff, like_.scales_are_powers());
    }
    return true;
  }

  /// D of one block, which is number `number` of the pair.
  bool multiply(BlockState& block, uint32_t number) {
    const bool read_a = form_.in_memory ? read_first_of_memory(block)
                                        : read(block, value(Place::a), product_.first,
                                               like_.first_transposed(), product_.rows, m_.first);
    if (!read_a) return false;
    if (form_.scale_blocks != 0 &&
        (!read_scales(block, Place::first_scale, like_.first_scale(), product_.rows, false, m_.first_scale) ||
         !read_scales(block, Place::second_scale, like_.second_scale(), like_.columns(), is_folded(),
                      m_.second_scale)))
      return false;
    const TensorPlace at = TensorPlace::of(value(Place::d));
    const uint32_t columns = like_.columns(), width = is_folded() ? columns / 2 : columns;
    if (!check_columns(w_, in_, lane_, block, at.column, width) || !check_lanes(at)) return false;
    TensorMemory& memory = tensor_memory(block);
    const auto cell = [&](uint32_t row, uint32_t column) {
      return memory.at(at.lane + lane_of_row(row) + column / width * 64, at.column + column % width);
    };
    const bool adds = (lane_value<uint32_t>(w_, in_->b, 0) >> lane_ & 1) != uint32_t{form_.negated};
    for (uint32_t row = 0; row < product_.rows; ++row)
      for (uint32_t column = 0; column < columns; ++column)
        m_.result[row * columns + column] = adds ? before_adding(*cell(row, column)) : 0;
    host_handlers().multiply(product_);
    std::array<uint64_t, 4> stay{};  // lanes that are not written
    for (uint32_t i = 0; i < stay.size() && form_.masked; ++i)
      stay[i] = value(Place::mask + number * static_cast<uint32_t>(stay.size()) + i);
    for (uint32_t row = 0; row < product_.rows; ++row)
      for (uint32_t column = 0; column < columns; ++column) {
        const uint32_t lane = at.lane + lane_of_row(row) + column / width * 64;
        if ((stay[lane / 32] >> (lane % 32) & 1) == 0) *cell(row, column) = m_.result[row * columns + column];
      }
    return true;
  }

  /// An element of D times two to the power of minus scale-input-d.
  [[nodiscard]] uint32_t before_adding(uint32_t d) const {
    if (form_.input_scale == 0) return d;
    return std::bit_cast<uint32_t>(std::ldexp(std::bit_cast<float>(d), -int{form_.input_scale}));
  }
};

}  // namespace

const Inst* multiply_in_tensor_memory(Warp& w, const Inst* in) {
  each_lane(w.mask, [&](uint32_t lane) { TensorProduct(w, in, lane).run(); });
  return in + 1;
}

}  // namespace lanescope::exec
