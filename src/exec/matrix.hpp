// The matrix instructions as the decoder hands them to their handlers, and where the elements of a fragment
// lie.
//
// Every product is D = first x second + C of R rows and S columns by K, where first and second are read
// K-wise: a row of `first` and a column of `second` are packed 32-bit words side by side (64-bit for f64). A
// fragment is made of tiles. With g = lane / 4 and t = lane % 4, the registers hold, in this order:
//   first   for each 16 rows, for each four words of a row, for each half of the 16 rows (of 8 rows: one):
//           word 4 part + t of row 16 tile + 8 half + g
//   second  for each 8 columns, for each four words of a column: word 4 part + t of column 8 tile + g
//   C, D    for each 16 rows, for each 8 columns, for each half of the rows: columns 8 tile + 2 t and the
//   next of row
//           16 tile + 8 half + g; two registers of 32 (64) bits each or one of two f16
// This is mma's own order (PTX ISA 9.0, chapter 9.7.14.5), and wgmma's, whose warps have 16 of the 64 rows
// each. wmma leaves it open; an H100 has it so, with B as `first` in m8n32k16 (the product is transposed),
// and f16 fragments of 16 and 8 rows repeated until they fill eight registers. mma.m8n8k4 with f16 is another
// matter: see handlers/matrix.cpp.
#pragma once

#include <bit>
#include <cstdint>

#include "exec/program.hpp"

namespace lanescope::exec {

/// Types of elements, as the handlers tell them apart.
/// Those of 6 and of 4 bits that are floating-point numbers take a byte each.
enum class Element : uint8_t {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32,
  e2m3,
  e3m2,
  e2m1
};

/// Which instruction's products: they differ in how they are summed. `tcgen05`: and mma with .kind.
enum class ProductUnit : uint8_t { mma, wgmma, tcgen05 };

[[nodiscard]] constexpr uint32_t element_bits(Element e) {
  switch (e) {
    case Element::f64: return 64;
    case Element::f32:
    case Element::tf32:
    case Element::s32: return 32;
    case Element::f16:
    case Element::bf16: return 16;
    case Element::s4:
    case Element::u4: return 4;
    case Element::b1: return 1;
    default: return 8;
  }
}

/// A product as its handler reads it. The registers are listed in Kernel::side: those of D, first, second, C,
/// then the metadata. Inst::b is where the list begins, Inst::imm holds this.
struct ProductForm {
  Element first : 4 {}, second : 4 {}, c : 4 {}, d : 4 {};
  uint8_t rows = 0;          ///< R: 8, 16 or 32; of tcgen05 32, 64 or 128
  uint8_t column_tiles = 0;  ///< S / 8
  uint8_t parts = 0;  ///< groups of four words of K; of sparse products in `second`, `first` has half as many
  uint8_t sparse : 1 = 0;
  uint8_t saturate : 1 = 0;
  uint8_t exclusive : 1 = 0;   ///< .xor of b1
  uint8_t selector : 2 = 0;    ///< of sparse products: whose metadata counts
  uint8_t half_steps : 1 = 0;  ///< products of half of K each are summed one after the other (wmma with tf32)
  ProductUnit unit : 2 = ProductUnit::mma;
  uint8_t in_registers : 1 = 0;  ///< wgmma: A, not in shared memory
  uint8_t first_transposed : 1 = 0,
                             second_transposed : 1 = 0;  ///< matrices in shared memory whose rows lie along K
  uint8_t first_negated : 1 = 0, second_negated : 1 = 0;
  uint8_t scale_negated : 1 = 0;    ///< wgmma: scale-d is `!%p`
  uint8_t metadata_by_row : 1 = 0;  ///< of tcgen05: as ProductMatrices::row_metadata has it
  uint8_t scale_blocks = 0;         ///< parts of K that have a scale factor each; 0: there are none
};
static_assert(sizeof(ProductForm) == 8);

/// The value of a scale factor: ue8m0, or (`!is_power`) ue4m3.
[[nodiscard]] constexpr double scale_factor(uint32_t byte, bool is_power) {
  const auto from = [](uint64_t bits) { return std::bit_cast<double>(bits); };
  constexpr uint64_t nan = 0x7ff8'0000'0000'0000, one = 1023;
  if (is_power) return byte == 0xff ? from(nan) : from((byte + one - 127) << 52);
  const uint32_t exponent = byte >> 3 & 15, mantissa = byte & 7;
  if ((byte & 0x7f) == 0x7f) return from(nan);
  return exponent == 0 ? mantissa * from((one - 9) << 52)
                       : (8 + mantissa) * from((one + exponent - 10) << 52);
}

inline constexpr uint32_t most_k = 128, most_rows = 128, most_columns = 256, most_scale_blocks = 4;
/// Words of a row of `first` or a column of `second`: 128 bits a part, 8 parts.
inline constexpr uint32_t most_words = most_k / 4;

/// What a product is of: the packed words of `first` by rows and of `second` by columns, parts * 4 of each;
/// what it is added to, and becomes, by rows, one element a word.
struct ProductMatrices {
  alignas(64) uint32_t first[most_rows * most_words];
  alignas(64) uint32_t second[most_columns * most_words];
  alignas(64) uint32_t result[most_rows * most_columns];
  alignas(64) uint32_t metadata[warp_lanes];  ///< of sparse products: as the lanes of a warp hold it
  uint32_t row_metadata[most_rows][2];        ///< the same by rows: four bits a group, in their order
  /// With ProductForm::scale_blocks: the factors of each row of `first` and column of `second`.
  double first_scale[most_rows][most_scale_blocks], second_scale[most_columns][most_scale_blocks];
};

/// Where each lane of a wmma.load or wmma.store finds its element: base + (line * stride + place) * bits / 8.
/// Kernel::side holds it, Inst::c is where.
struct FragmentAddress {
  enum class Way : uint8_t {
    across,  ///< line[0] + i / 4, place[0] + step * (i % 4), of lane i
    along,   ///< line[0] + step * (i % 4), place[0] + i / 4
    rows     ///< line[i / 8] + i % 8, place[i / 8]
  };
  Way way{};
  uint8_t bits = 0, step = 0;
  uint8_t line[4]{}, place[4]{};
  uint8_t reserved = 0;
};
static_assert(sizeof(FragmentAddress) == 12);

/// Rows of `first` in one tile: its halves.
[[nodiscard]] constexpr uint32_t halves_of(uint32_t rows) { return rows == 8 ? 1 : 2; }
[[nodiscard]] constexpr uint32_t row_tiles_of(uint32_t rows) { return rows == 32 ? 2 : 1; }
/// Registers of the fragments of a product.
[[nodiscard]] constexpr uint32_t first_registers(const ProductForm& f) {
  return row_tiles_of(f.rows) * halves_of(f.rows) * (f.sparse != 0 ? f.parts / 2u : f.parts);
}
[[nodiscard]] constexpr uint32_t second_registers(const ProductForm& f) {
  return uint32_t{f.column_tiles} * f.parts;
}
[[nodiscard]] constexpr uint32_t accumulator_registers(const ProductForm& f, Element e) {
  return row_tiles_of(f.rows) * halves_of(f.rows) * f.column_tiles * (e == Element::f16 ? 1 : 2);
}

}  // namespace lanescope::exec
