// Loads from global memory that the assembler (ptxas) leaves out, because the value is in a register already.
#pragma once

#include <cstdint>
#include <map>

#include "exec/flow.hpp"
#include "merge/plan.hpp"
#include "merge/values.hpp"
#include "ptx/module.hpp"

namespace lanescope::merge {

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

/// Gives such loads of the function their fate. `site_of`: the index of Plan::fates by instruction. The rules
/// (docs/merging.md) were found by giving ptxas 13.0 small kernels (tests/data/merge/global.ptx).
void find_known_global_loads(const ptx::Function& function, const exec::Flow& flow, const Values& values,
                             const std::map<uint32_t, uint32_t>& site_of, Plan& plan);

}  // namespace lanescope::merge
