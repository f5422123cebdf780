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
  static constexpr uint8_t zeros = 1, sign = 2, either = zeros | sign;

  Used(const ptx::Function& function, const exec::Flow& flow);

  [[nodiscard]] bool any(uint32_t reg) const { return halves_[reg] != 0; }
  /// Of 64 bits; of a narrower register any or none.
  [[nodiscard]] uint8_t halves(uint32_t reg) const { return halves_[reg]; }
  /// Which elements of a load's vector are used, one bit each; of 8 bytes which halves.
  [[nodiscard]] uint32_t of_load(const ptx::Instruction& load) const;
  /// Whether instructions take its 16 bits as 32 that a load can make of them, which extends them with zeros
  /// or with their sign: such loads stay apart.
  [[nodiscard]] bool extended(uint32_t reg, bool by_sign) const {
    return (extended_[reg] & (by_sign ? sign : zeros)) != 0;
  }

 private:
  std::vector<uint8_t> halves_;
  std::vector<uint8_t> extended_;
};

}  // namespace lanescope::merge
