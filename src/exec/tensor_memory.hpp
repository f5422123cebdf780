// The memory of fifth-generation tensor cores (tcgen05) and the instructions that work on it. Source: PTX
// ISA 9.0, 9.7.16 "TensorCore 5th Generation Family Instructions".
//
// A block has 128 lanes by 512 columns of 32 bits, which its warps allocate by columns; an address has the
// lane in bits 16 to 31 and the column below. Of each four warps, each reaches 32 lanes. Everything happens
// at once, the earliest moment that PTX allows, so a commit finds everything complete and waits have nothing
// to do.
//
// `.cta_group::2` works on the memory of two blocks, whose ranks in their cluster differ in the last bit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "exec/program.hpp"

namespace lanescope::exec {

struct BlockState;
struct Warp;

class TensorMemory {
 public:
  static constexpr uint32_t lanes = 128, columns = 512, least_columns = 32;

  /// A block begins: nothing is allocated, everything is zero (a GPU leaves what was there).
  void begin();
  /// The first of so many columns, a power of two from 32 on, if they are free.
  std::optional<uint32_t> allocate(uint32_t count);
  /// False: they are not exactly what an allocation got.
  bool release(uint32_t first, uint32_t count);
  [[nodiscard]] bool is_allocated(uint32_t first, uint32_t count) const;
  [[nodiscard]] bool is_empty() const { return allocated_ == 0; }
  [[nodiscard]] uint32_t* at(uint32_t lane, uint32_t column) { return &cells_[lane * columns + column]; }

  bool may_allocate = true;  ///< until tcgen05.relinquish_alloc_permit

 private:
  static constexpr uint32_t granules = columns / least_columns;
  std::array<uint32_t, size_t{lanes} * columns> cells_{};
  std::array<uint8_t, granules> size_{};  ///< of the allocation that begins there, in granules
  uint16_t allocated_ = 0;                ///< granules, one bit each
  bool used_ = false;

  [[nodiscard]] static uint32_t bits_of(uint32_t first, uint32_t count) {
    return ((1u << count) - 1) << first;
  }
};

/// Lane and column of an address.
struct TensorPlace {
  uint32_t lane = 0, column = 0;
  [[nodiscard]] static constexpr TensorPlace of(uint64_t address) {
    return {static_cast<uint32_t>(address >> 16 & 0xffff), static_cast<uint32_t>(address & 0xffff)};
  }
};

/// The block's tensor memory, made when somebody asks for it first.
[[nodiscard]] TensorMemory& tensor_memory(BlockState& block);
/// The other block of its pair; nullptr if it has none.
[[nodiscard]] BlockState* pair_of(BlockState& block);
/// Whether columns of the block's tensor memory are allocated; if not, a finding of that lane.
bool check_columns(Warp& w, const Inst* in, uint32_t lane, BlockState& block, uint32_t column,
                   uint32_t count);

/// Tells the checks what the lane's work reads of a block's shared memory: 16 bytes at each offset. `access`:
/// of Kernel::checks; no_operand: the kernel is not checked.
void check_tensor_reads(Warp& w, uint32_t lane, uint32_t access, const BlockState& block,
                        std::span<const uint32_t> offsets);

/// Inst::imm of tcgen05.ld and .st.
struct TensorAccessForm {
  enum class Shape : uint8_t {
    lanes32_bits32,
    lanes16_bits64,
    lanes16_bits128,
    lanes16_bits256,
    halves16_bits32
  };
  Shape shape{};
  bool stores : 1 = false;
  bool packed : 1 = false;  ///< a register holds the lower halves of two columns
  bool largest : 1 = false, absolute : 1 = false, keeps_nan : 1 = false;  ///< of `reduced`
  uint8_t registers = 0;                                                  ///< 1 to 128
  /// The type of numbers (not none: f32, u32, s32) of which the register after the others gets the least, or
  /// the largest.
  ptx::Type reduced = ptx::Type::none;
  uint32_t half = 0;  ///< of halves16_bits32: columns from the first lanes' to the others'
};
static_assert(sizeof(TensorAccessForm) == 8);

/// Inst::imm of tcgen05.cp.
struct TensorCopyForm {
  uint8_t rows = 0;    ///< of the matrix: 32, 64 or 128
  uint8_t pieces = 0;  ///< of 16 bytes in a row
  bool pair = false;
  bool alternates = false;  ///< rows 0 to 31 go to lanes 0 to 63, twice, the others to those after them
  uint32_t reserved = 0;
};
static_assert(sizeof(TensorCopyForm) == 8);

// Handlers without a host instruction set. Operands are in Kernel::side as those of bulk copies
// (bulk_copy.hpp), from Inst::a on.

/// Operands: the address in shared memory of the result, columns.
const Inst* allocate_tensor_memory(Warp& w, const Inst* in);
/// Operands: address, columns.
const Inst* free_tensor_memory(Warp& w, const Inst* in);
const Inst* relinquish_tensor_memory(Warp& w, const Inst* in);
/// Operand: address. c: the registers in Kernel::side.
const Inst* move_tensor_memory(Warp& w, const Inst* in);
/// Operands: address, matrix descriptor. b: what is read, in Kernel::checks (no_operand: unchecked).
const Inst* copy_to_tensor_memory(Warp& w, const Inst* in);
/// Operands: address of an mbarrier, blocks. imm: 1 if blocks are given.
const Inst* commit_tensor_work(Warp& w, const Inst* in);

/// What the lanes wait for at allocate_tensor_memory, for a report.
[[nodiscard]] std::string describe_allocation(const Warp& w, const Inst* in, uint32_t lanes);

}  // namespace lanescope::exec
