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
  [[nodiscard]] uint32_t sparsity_selector() const { return field(0, 2); }
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

/// Along K, but for numbers of fewer bits: of A, and of B of a dense product. B of a sparse one has twice as
/// many.
constexpr uint32_t bytes_of_row = 32;

/// Which columns of B count as zero, whatever lies in shared memory: spans of columns that do and that do
/// not, by turns, for each part of the columns that has lanes of its own. Of the spans' names in the ISA's
/// table and its examples, which have them the other way round, the examples are followed.
class ZeroColumns {
 public:
  explicit ZeroColumns(uint64_t bits) : bits_(bits) {}
  [[nodiscard]] std::string defect(uint32_t parts) const {
    if (field(56, 6) != 0) return "a column shift of tcgen05.mma.ws is not supported";
    for (uint32_t part = 0; any() && part < parts; ++part)
      if (start(part) >= (begins_with_zeros(part) ? zeros() : used()))
        return "the zero-column mask descriptor begins after its first span";
    return "";
  }
  [[nodiscard]] bool is_zero(uint32_t part, uint32_t column) const {
    if (!any()) return false;
    const uint32_t place = (column + start(part)) % (used() + zeros());
    return begins_with_zeros(part) ? place < zeros() : place >= used();
  }

 private:
  uint64_t bits_;
  [[nodiscard]] uint32_t field(uint32_t from, uint32_t count) const {
    return static_cast<uint32_t>(bits_ >> from) & ((1u << count) - 1);
  }
  [[nodiscard]] bool any() const { return field(39, 1) != 0; }
  [[nodiscard]] uint32_t start(uint32_t part) const { return field(8 * part, 8); }
  [[nodiscard]] bool begins_with_zeros(uint32_t part) const { return field(32 + part, 1) != 0; }
  [[nodiscard]] uint32_t zeros() const { return field(40, 8) + 1; }
  [[nodiscard]] uint32_t used() const { return field(48, 8) + 1; }
};

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
    product_.parts = form_.kind == ProductKind::mxf4 || form_.sparse ? 4 : 2;
    product_.sparse = product_.metadata_by_row = form_.sparse;
    product_.unit = ProductUnit::tcgen05;
    product_.saturate = like_.saturates() && form_.kind == ProductKind::i8;
    product_.first_negated = like_.negates();
    product_.scale_blocks = form_.scale_blocks;
    for (uint32_t i = 0; i < count; ++i)
      if (!read(*blocks_[i], value(Place::b), product_.second, like_.second_transposed(),
                like_.columns() / count, words(), m_.second + size_t{i} * like_.columns() / count * words()))
        return;
    if (form_.stationary) clear_zero_columns();
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
  /// Words of a column of `second` and, of which half are stored of sparse products, of a row of `first`.
  [[nodiscard]] uint32_t words() const { return product_.parts * 4u; }
  [[nodiscard]] uint32_t first_words() const { return form_.sparse ? words() / 2 : words(); }
  /// Rows of the first half of the columns lie beside those of the second one.
  [[nodiscard]] bool is_folded() const { return form_.pair && like_.rows() == 128; }
  /// Parts of the columns that lie beside each other, in lanes of their own.
  [[nodiscard]] uint32_t folds() const {
    return is_folded() ? 2 : form_.stationary ? TensorMemory::lanes / like_.rows() : 1;
  }
  /// 64 rows in half of each warp's lanes.
  [[nodiscard]] bool is_scattered() const { return like_.rows() == 64 && !form_.stationary; }

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
    if (like_.is_sparse() != form_.sparse)
      return std::string("the instruction descriptor is of a ") + (form_.sparse ? "dense" : "sparse") +
             " product, the instruction is not";
    if (scaled && like_.is_long()) return "products of 96 elements along K are not supported";
    product_.first = *first;
    product_.second = *second;
    product_.c = product_.d = form_.kind == ProductKind::i8 ? Element::s32
                              : halves                      ? Element::f16
                                                            : Element::f32;
    if (halves && form_.input_scale != 0) return "scale-input-d with f16 results is not supported";
    const uint32_t rows = like_.rows(), columns = like_.columns();
    const bool rows_fit = form_.pair
                              ? rows == 256 || rows == 128
                              : rows == 128 || (rows == 64 && !scaled) || (rows == 32 && form_.stationary);
    const bool columns_fit = form_.stationary
                                 ? columns == 64 || columns == 128 || columns == 256
                                 : columns != 0 && columns <= 256 && (rows == 64 || columns % 16 == 0);
    if (!rows_fit || !columns_fit)
      return "a product of " + std::to_string(rows) + " rows and " + std::to_string(columns) + " columns" +
             (form_.pair ? " for a pair of blocks" : "") + ", which there is not";
    if (form_.sparse) {
      if (rows != (form_.pair ? 256 : 128)) return "sparse products of 64 rows a block are not supported";
      if (like_.sparsity_selector() > (wide_metadata() ? 1 : 0) ||
          TensorPlace::of(value(Place::metadata)).column % 2 != 0)
        return "sparse products with this sparsity selector, or metadata from an odd column on, are not "
               "supported";
    }
    if (form_.stationary)
      if (std::string bad = ZeroColumns(value(Place::zero_columns)).defect(folds()); !bad.empty()) return bad;
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

  /// Reads rows of a matrix in shared memory as packed words, `pitch` a row.
  bool read(const BlockState& block, uint64_t descriptor, Element e, bool transposed, uint32_t rows,
            uint32_t pitch, uint32_t* out) {
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
      for (uint32_t k = 0; k < pitch * 4 / bytes; ++k)
        for (uint32_t row = 0; row < rows; row += per) {
          std::byte piece[16];
          copy(from.transposed(row / per, k), piece);
          for (uint32_t i = 0; i < std::min(per, rows - row); ++i)
            std::memcpy(reinterpret_cast<std::byte*>(out + (row + i) * pitch) + k * bytes, piece + i * bytes,
                        bytes);
        }
    } else {
      for (uint32_t row = 0; row < rows; ++row)
        for (uint32_t piece = 0; piece < pitch / words_of_piece(); ++piece) {
          uint32_t packed[4];
          copy(from.address(row, piece), packed);
          unpack(e, packed, out + row * pitch + piece * words_of_piece());
        }
    }
    check_tensor_reads(w_, lane_, in_->c, block, offsets);
    if (bad == 0) return true;
    report_matrix_outside(w_, in_, 1u << lane_, bad - 1, block.shared_bytes);
    return false;
  }

  /// What sixteen bytes become.
  [[nodiscard]] uint32_t words_of_piece() const { return form_.kind == ProductKind::mxf4 ? 8 : 4; }
  /// Sixteen bytes of a row: numbers of fewer than 8 bits get a byte each. With those of 8, sixteen of them
  /// lie in sixteen bytes, with room left; alone, those of 4 bits fill them.
  void unpack(Element e, const uint32_t* packed, uint32_t* out) const {
    const uint32_t bits = packed_bits(e);
    if (bits >= 8) {
      std::memcpy(out, packed, 16);
      return;
    }
    uint8_t bytes[32];
    const uint32_t count = words_of_piece() * 4;
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
    return is_scattered() ? row / 16 * 32 + row % 16 : row;
  }

  /// The lane that has that row of a part of the columns.
  [[nodiscard]] uint32_t lane_of(uint32_t row, uint32_t part) const {
    return lane_of_row(row) + part * (TensorMemory::lanes / folds());
  }

  void clear_zero_columns() {
    const ZeroColumns zero(value(Place::zero_columns));
    const uint32_t width = like_.columns() / folds();
    for (uint32_t column = 0; column < like_.columns(); ++column)
      if (zero.is_zero(column / width, column % width))
        std::fill_n(m_.second + size_t{column} * words(), words(), 0);
  }

  bool read_first_of_memory(BlockState& block) {
    const TensorPlace from = TensorPlace::of(value(Place::a));
    constexpr uint32_t columns = bytes_of_row / 4;
    if (!check_columns(w_, in_, lane_, block, from.column, columns) || !check_lanes(from)) return false;
    for (uint32_t row = 0; row < product_.rows; ++row) {
      const uint32_t* cell = tensor_memory(block).at(from.lane + lane_of_row(row), from.column);
      for (uint32_t half = 0; half < 2; ++half)
        unpack(product_.first, cell + half * 4, m_.first + row * first_words() + half * words_of_piece());
      for (uint32_t part = 1; part < folds() && form_.stationary; ++part)
        if (std::memcmp(cell, tensor_memory(block).at(lane_of(row, part), from.column), bytes_of_row) != 0) {
          refuse(Finding::Kind::bad_call, 0,
                 "A in tensor memory is not the same in the lanes of all parts of the columns, which "
                 "tcgen05.mma.ws is not supported with");
          return false;
        }
    }
    return true;
  }
  bool check_lanes(const TensorPlace& at) const {
    if (at.lane == 0 || (at.lane == 16 && is_scattered())) return true;
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

  /// Numbers of 16 bits and more.
  [[nodiscard]] bool wide_metadata() const {
    return form_.kind == ProductKind::f16 || form_.kind == ProductKind::tf32;
  }
  /// Four bits of each of the 8 or 16 groups of a row. Of wide numbers they are in one column, which the
  /// selector says: of 16 rows, those of the first four groups in lanes 0 to 7 and of the others in lanes 8
  /// to 15, row r + 8's above row r's. Of 8 bits and less, a row's are in its lane, in two columns.
  bool read_metadata(BlockState& block) {
    const TensorPlace from = TensorPlace::of(value(Place::metadata));
    if (!check_columns(w_, in_, lane_, block, from.column, 2) || !check_lanes(from)) return false;
    TensorMemory& memory = tensor_memory(block);
    for (uint32_t row = 0; row < product_.rows; ++row)
      for (uint32_t half = 0; half < 2; ++half) {
        const uint32_t column = from.column + like_.sparsity_selector();
        if (wide_metadata()) {
          const uint32_t word = *memory.at(row / 16 * 16 + half * 8 + row % 8, column);
          const uint32_t four = word >> (row % 16 / 8 * 16) & 0xffff;
          m_.row_metadata[row][0] = half == 0 ? four : m_.row_metadata[row][0] | four << 16;
        } else {
          m_.row_metadata[row][half] = *memory.at(row, from.column + half);
        }
      }
    return true;
  }

  /// D of one block, which is number `number` of the pair.
  bool multiply(BlockState& block, uint32_t number) {
    const bool read_a = form_.in_memory
                            ? read_first_of_memory(block)
                            : read(block, value(Place::a), product_.first, like_.first_transposed(),
                                   product_.rows, first_words(), m_.first);
    if (!read_a || (form_.sparse && !read_metadata(block))) return false;
    if (form_.scale_blocks != 0 &&
        (!read_scales(block, Place::first_scale, like_.first_scale(), product_.rows, false, m_.first_scale) ||
         !read_scales(block, Place::second_scale, like_.second_scale(), like_.columns(), is_folded(),
                      m_.second_scale)))
      return false;
    const TensorPlace at = TensorPlace::of(value(Place::d));
    const uint32_t columns = like_.columns(), width = columns / folds();
    if (!check_columns(w_, in_, lane_, block, at.column, width) || !check_lanes(at)) return false;
    TensorMemory& memory = tensor_memory(block);
    const auto cell = [&](uint32_t row, uint32_t column) {
      return memory.at(at.lane + lane_of(row, column / width), at.column + column % width);
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
        const uint32_t lane = at.lane + lane_of(row, column / width);
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
