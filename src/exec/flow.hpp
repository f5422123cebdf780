// Control flow of one PTX function: basic blocks, where lanes that part at a branch meet again, which
// registers live where, and a small number of register slots to keep them in.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "exec/dominators.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {

/// An operand with what the instruction table says of it.
struct BoundOperand {
  const ptx::Operand* operand = nullptr;
  const ptx::OperandPattern* pattern = nullptr;
};
/// Pairs the written operands with the table's patterns; empty for those that have their own check.
[[nodiscard]] std::vector<BoundOperand> bind_operands(const ptx::Instruction& instruction);

/// Registers an instruction reads and writes (indices of Function::registers). A write under a predicate also
/// reads, since the lanes it leaves out keep their value.
struct Usage {
  std::vector<uint32_t> reads, writes;
};
[[nodiscard]] Usage usage_of(const ptx::Instruction& instruction);
/// Of each instruction of a function.
[[nodiscard]] std::vector<Usage> usages_of(const ptx::Function& function);

/// Bytes of one lane of a register of this type: 2 for 8- and 16-bit types, 0 for predicates (a mask of 4
/// bytes).
[[nodiscard]] uint32_t lane_bytes(ptx::Type type);
/// Where those of `lane_bytes` 0, 2, 4, 8, 16 stand in arrays by width.
[[nodiscard]] inline uint32_t width_class(uint32_t lane_bytes) {
  return lane_bytes == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(lane_bytes));
}

struct Flow {
  struct Block {
    uint32_t begin = 0, end = 0;  ///< instructions [begin, end)
    std::vector<uint32_t> next;   ///< blocks; `blocks.size()` is the function's end
    /// Where lanes that part at its end meet again; blocks.size() = the end; no_index = nowhere. The
    /// immediate post-dominator; the decoder has nearer places (meetings.hpp).
    uint32_t join = ptx::no_index;
    /// A join of other branches that a way leads past, and where lanes that go that way meet those who were
    /// there; no_index: where those meet the next ones.
    struct Past {
      uint32_t join = ptx::no_index, meeting = ptx::no_index;
    };
    std::array<std::vector<Past>, 2> past;  ///< by `next`, where there are two
  };
  std::vector<Block> blocks;
  std::vector<uint32_t> block_of;  ///< by instruction
  std::vector<Usage> usage;        ///< by instruction

  /// Slot of each register within those of its width; no_index if it is never used.
  std::vector<uint32_t> slot;
  uint32_t slots[5]{};              ///< how many, by width_class
  std::vector<uint32_t> undefined;  ///< registers that may be read before they are written
  std::vector<bool> read;           ///< registers that another instruction reads than those that write them
};

/// Whether a block does nothing but end its threads. Lanes need not wait for each other in order to end:
/// others may be at a barrier that counts only the living.
[[nodiscard]] bool ends_at_once(const ptx::Function& function, const Flow::Block& block);

/// The blocks that are reached, each after those that come before it on every path: reverse post-order.
[[nodiscard]] std::vector<uint32_t> reverse_post_order(const Flow& flow);

/// What every way from a block leads through. The root, a node of its own behind `blocks.size()`, stands
/// above the function's end and all ends of threads.
[[nodiscard]] Dominators post_dominators(const Flow& flow);

/// `end_returns`: a `ret` goes to the function's end (a device function) instead of ending the thread (a
/// kernel).
[[nodiscard]] Flow analyse(const ptx::Function& function, bool end_returns);

}  // namespace lanescope::exec
