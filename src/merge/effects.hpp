// What an instruction means for accesses to memory around it: whether they may become one with it, or with
// each other across it. Found by giving ptxas 13.0 small kernels (docs/merging.md).
#pragma once

#include <cstdint>

#include "ptx/module.hpp"

namespace lanescope::merge {

/// Shared memory of the own block.
[[nodiscard]] inline bool is_of_block(ptx::Space space) {
  return space == ptx::Space::shared || space == ptx::Space::shared_cta;
}

/// By what addresses: of which memory those are that are generic is not known.
enum class Memory : uint8_t { shared, global, generic };

/// What an instruction means for accesses to a memory around it.
enum class Effect : uint8_t {
  none,
  load,    ///< an ordinary load that may be merged
  store,   ///< an ordinary store that may be merged
  reads,   ///< may read the memory, or has a branch: stores before and after it stay apart
  changes  ///< may change the memory, waits for others who may, or stands where accesses are kept apart
};

[[nodiscard]] Effect effect_on(Memory memory, const ptx::Instruction& in);

/// Whether an atomic of shared memory is one that the hardware has no instruction for: the assembler makes a
/// loop of it, but for some of 64 bits.
[[nodiscard]] bool may_be_loop(const ptx::Instruction& in);
/// Whether the assembler makes several pieces of code of what is around an instruction: by a branch, a loop
/// or a call in its place.
[[nodiscard]] bool parts_code(const ptx::Instruction& in);
/// Of how many bytes an ordinary access to shared or global memory shows its address to be a multiple: 0,
/// where it shows nothing.
[[nodiscard]] uint32_t bytes_shown(const ptx::Instruction& in);

/// What an instruction means for accesses to global memory around it, and for the values of it that registers
/// hold.
enum class GlobalEffect : uint8_t {
  none,
  load,       ///< an ordinary one
  store,      ///< an ordinary one
  elsewhere,  ///< changes other memory, which generic addresses may be of
  changes     ///< may change global memory, or stands where the assembler keeps accesses apart
};
[[nodiscard]] GlobalEffect global_effect_of(const ptx::Instruction& in);

/// What the assembler takes a load's or store's data for: vectors of bytes and of halves are words of 32
/// bits, two bytes one half.
struct Elements {
  uint32_t bytes = 4;  ///< of one
  uint32_t count = 1;
  uint32_t parts = 1;  ///< of the PTX's vector in one of these
};
[[nodiscard]] Elements elements_of(const ptx::Instruction& in);

}  // namespace lanescope::merge
