// Bulk copies (cp.async.bulk, cp.reduce.async.bulk, with tensor maps or without) and the stores that tell an
// mbarrier of their bytes (st.async, red.async in shared memory), and st.bulk. Source: PTX ISA 9.0, 9.7.9.25
// to 9.7.9.27, 9.7.9.12, 9.7.9.13.
//
// A bulk copy is done at once, the earliest moment that PTX allows: what a program overwrites too early is
// seen, and groups of bulk copies are complete whenever somebody waits for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/program.hpp"

namespace lanescope::exec {

struct Warp;

/// Inst::imm of a bulk copy.
struct BulkForm {
  enum class Side : uint8_t { global, shared, tensor, registers };
  enum class Mode : uint8_t { tile, im2col, four_rows };
  Side to{}, from{};
  bool multicast : 1 = false;
  bool is_reduction : 1 = false;
  bool is_answer : 1 = false;        ///< values that nobody stores: not counted
  bool to_all : 1 = false;           ///< to all blocks of the cluster
  bool masked : 1 = false;           ///< of each 16 bytes those that BulkPlace::mask says
  bool pair : 1 = false;             ///< cta_group::2: the mbarriers may be the other blocks' of pairs
  ptx::Type type = ptx::Type::none;  ///< of a reduction without a tensor map, or of a value in a register
  uint8_t count = 0;                 ///< coordinates, values in registers, or (2) bytes to leave out
  Mode mode{};                       ///< of a tensor's box
  ptx::Mod operation{};              ///< of a reduction
};
static_assert(sizeof(BulkForm) == 8);

/// An operand of a bulk copy in Kernel::side: where its register is, how wide its lanes are, what is added.
struct BulkOperand {
  uint32_t reg = no_operand, bytes = 0, offset = 0;
};
/// Places of the operands, counted from Inst::a in units of three words.
struct BulkPlace {
  static constexpr uint32_t to = 0, from = 1, size = 2, barrier = 3, blocks = 4, mask = 5;
  static constexpr uint32_t list =
      6;  ///< coordinates and then offsets of im2col; values in registers, or bytes to leave out
};

/// The value that operand number `place` has in a lane. Inst::a: first index of the operands in Kernel::side.
[[nodiscard]] uint64_t operand_value(const Warp& w, const Inst* in, uint32_t place, uint32_t lane);

/// a: first index of the operands in Kernel::side; imm: a BulkForm; of a checked launch b and c: what is
/// written and read, in Kernel::checks.
const Inst* copy_bulk(Warp& w, const Inst* in);

/// st.bulk: zeros in shared memory. a: the same, with BulkPlace::to and BulkPlace::size; of a checked launch
/// b: what is written, in Kernel::checks.
const Inst* store_zeros(Warp& w, const Inst* in);

}  // namespace lanescope::exec
