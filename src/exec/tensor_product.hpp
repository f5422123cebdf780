// tcgen05.mma: products of matrices in shared memory (A also in tensor memory), by one thread for its block
// or for a pair of blocks. Source: PTX ISA 9.0, 9.7.16.10 "tcgen05.mma", 9.7.16.4.2 (instruction
// descriptor), 9.7.16.4.3 (zero columns), 9.7.16.2 and 9.7.16.10.5 (where elements lie in tensor memory),
// 9.7.16.10.7 (scale factors), 9.7.16.10.8 (sparse products). Where the metadata of those lies is shown there
// by figures; CUTLASS's layouts of it (sm100's sparse configuration) say the same of 128 rows a block in
// numbers.
//
// What no document says and no GPU of this kind was there to show: how sums are rounded. They are taken as an
// H100 sums f16 (semantics_tensor.hpp), fp8 and smaller types as well, after scale factors have been
// multiplied in.
#pragma once

#include <cstdint>

#include "exec/program.hpp"

namespace lanescope::exec {

struct Warp;

/// Inst::imm of a product.
struct TensorProductForm {
  enum class Kind : uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4 };
  Kind kind{};                 ///< of 4-bit numbers with any scale factors: mxf4
  uint8_t scale_blocks = 0;    ///< along K; 0: no scale factors
  uint8_t input_scale = 0;     ///< what D is multiplied with before, as a negative power of two
  bool pair : 1 = false;       ///< cta_group::2
  bool in_memory : 1 = false;  ///< A is in tensor memory
  bool masked : 1 = false;     ///< lanes that are not written are given
  bool negated : 1 = false;    ///< enable-input-d is `!%p`
  bool sparse : 1 = false;
  bool stationary : 1 =
      false;  ///< .ws: the columns are spread over all lanes, and some of B may count as zero
  uint32_t reserved = 0;
};
static_assert(sizeof(TensorProductForm) == 8);

/// Places of the operands in Kernel::side (bulk_copy.hpp).
struct TensorProductPlace {
  static constexpr uint32_t d = 0, a = 1, b = 2, description = 3, first_scale = 4, second_scale = 5;
  static constexpr uint32_t metadata = 6, zero_columns = 7;
  static constexpr uint32_t mask = 8;  ///< four words, of a pair of blocks eight
};

/// a: first index of the operands in Kernel::side; b: the predicate enable-input-d; c: what is read, in
/// Kernel::checks (no_operand: unchecked); imm: a TensorProductForm.
const Inst* multiply_in_tensor_memory(Warp& w, const Inst* in);

}  // namespace lanescope::exec
