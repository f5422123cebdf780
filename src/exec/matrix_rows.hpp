// How ldmatrix and stmatrix spread the rows of matrices over the registers of a warp, as the checks of a
// launch need it: where a byte of a row is. The handlers (handlers/matrix_memory.cpp) go the other way, from
// a register to its bytes, and say what the ISA calls the layouts.
#pragma once

#include <cstdint>

namespace lanescope::exec {

enum class RowLayout : uint8_t {
  rows,     ///< of m8n8 and m8n16
  columns,  ///< .m8n8 with .trans
  square,   ///< .m16n16: two registers for 16 rows
  tall,     ///< .m16n8
};

struct RegisterByte {
  uint32_t number, lane, byte;  ///< of the instruction's registers
};

/// Where byte `column` is of the row that the lane gives the address of.
constexpr RegisterByte register_byte(RowLayout layout, uint32_t lane, uint32_t column) {
  const uint32_t matrix = lane / 8, row = lane % 8, of_16 = lane % 16;
  switch (layout) {
    case RowLayout::columns: return {matrix, column / 2 * 4 + row / 2, row % 2 * 2 + column % 2};
    case RowLayout::square: return {lane / 16 * 2 + column / 8, column % 8 * 4 + of_16 / 4, of_16 % 4};
    case RowLayout::tall: return {matrix, column % 8 * 4 + row / 2, column / 8 * 2 + row % 2};
    case RowLayout::rows: break;
  }
  return {matrix, row * 4 + column / 4, column % 4};
}

}  // namespace lanescope::exec
