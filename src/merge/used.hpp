// Which registers of a function are used by anything that leaves a trace, and of those of 64 bits which half:
// the assembler loads no more (docs/merging.md).
#pragma once

#include <cstdint>
#include <vector>

#include "exec/flow.hpp"
#include "ptx/module.hpp"

namespace lanescope::merge {

class Used {
 public:
  static constexpr uint8_t low = 1, high = 2, all = low | high;

  Used(const ptx::Function& function, const exec::Flow& flow);

  [[nodiscard]] bool any(uint32_t reg) const { return halves_[reg] != 0; }
  /// Of 64 bits; of a narrower register any or none.
  [[nodiscard]] uint8_t halves(uint32_t reg) const { return halves_[reg]; }
  /// Whether integer instructions use its 16 bits: the machine extends each to 32 bits while loading it.
  /// Those that are moved, stored or used as floating-point numbers it does not.
  [[nodiscard]] bool extended(uint32_t reg) const { return extended_[reg]; }

 private:
  std::vector<uint8_t> halves_;
  std::vector<bool> extended_;
};

}  // namespace lanescope::merge
