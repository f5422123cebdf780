// What the matrix instructions (ldmatrix, stmatrix, movmatrix, mma, wmma, wgmma, tcgen05) may be written
// with, beyond the columns of instructions.def: which shapes go with which types and layouts, and how many
// registers each operand has. PTX ISA 9.0, chapter 9.7.14 and 9.7.15, for targets up to sm_90a; ptxas 13.0
// where the text leaves room.
#pragma once

#include <bitset>
#include <string>
#include <vector>

#include "ptx/module.hpp"

namespace lanescope::ptx {

/// A matrix instruction, understood.
struct MatrixForm {
  enum class Kind : uint8_t {
    load_rows,      ///< ldmatrix: {d}, [row]
    store_rows,     ///< stmatrix: [row], {a}
    transpose,      ///< movmatrix: d, a
    load,           ///< wmma.load: {d}, [matrix] (, stride)
    store,          ///< wmma.store: [matrix], {a} (, stride)
    product,        ///< mma, wmma.mma: {d}, {a}, {b}, {c} (, metadata, selector) (, scales of A, {byte,
                    ///< thread}, scales of B, {byte, thread})
    group_product,  ///< wgmma.mma_async: {d}, {a} or descriptor, descriptor (, metadata, selector), scale-d,
                    ///< …
    group_wait,     ///< wgmma.wait_group: count
    group_order,    ///< wgmma.fence, wgmma.commit_group
    tensor_load,    ///< tcgen05.ld: {d}, (.red: least or largest,) [tensor memory] (, columns between the
                    ///< halves)
    tensor_store,   ///< tcgen05.st: [tensor memory] (, columns between the halves), {a}
    tensor_product  ///< tcgen05.mma: [d], descriptor or [a], descriptor (, [metadata]), what it is like (,
                    ///< [scales of A], [scales of B]) (, {lanes that stay}), enable-input-d (,
                    ///< scale-input-d); .ws: …, what it is like, enable-input-d (, columns of B that are
                    ///< zero)
  };
  Kind kind{};
  uint16_t m = 0, n = 0, k = 0;
  /// Elements of D, A, B and C. Of a load and a store `a` alone, of rows and of tensor memory none.
  Type d = Type::none, a = Type::none, b = Type::none, c = Type::none;
  char fragment = 0;  ///< wmma.load and .store: a, b, c or d
  bool a_column = false, b_column = false;
  bool sparse = false;
  /// mma with .kind: numbers of 4, 6 and 8 bits, a byte each, of .kind::mxf4… half a byte.
  bool small = false;
  uint8_t scale_blocks = 0;  ///< with .block_scale: parts of K that have a scale factor each
  Type scale = Type::none;   ///< of mma: the type of those
  uint8_t d_registers = 0, a_registers = 0, b_registers = 0, c_registers = 0;
};

/// Bits of one element.
[[nodiscard]] constexpr uint32_t element_bits(Type t) {
  return t == Type::b1 ? 1 : t == Type::s4 || t == Type::u4 ? 4 : 8 * size_of(t);
}

/// Understands the words of a matrix instruction. Returns what is wrong with them, or nothing.
[[nodiscard]] std::string read_matrix_form(Op op, const std::vector<Type>& types,
                                           const std::bitset<modifier_count>& modifiers,
                                           const MatrixShape& shape, MatrixForm& form);
/// Of an instruction whose words are right.
[[nodiscard]] MatrixForm matrix_form_of(const Instruction& in);

}  // namespace lanescope::ptx
