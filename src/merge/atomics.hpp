// What the assembler (ptxas) makes of atomics: one for each lane, one lane's for its warp, or a loop.
#pragma once

#include <cstdint>
#include <map>

#include "exec/flow.hpp"
#include "merge/plan.hpp"
#include "merge/used.hpp"
#include "merge/values.hpp"
#include "ptx/module.hpp"

namespace lanescope::merge {

/// How what the lanes of a warp have for one address is put together, before one of them does the atomic.
enum class Joining : uint8_t {
  never,        ///< in code for debuggers
  by_shuffles,  ///< sm_75: all 32 lanes have to be there
  by_redux      ///< by one instruction (8.0 and later), however few they are
};

/// Gives the atomics of a function their fate. `site_of`: the index of Plan::fates by instruction. The rules
/// (docs/merging.md) were read off what ptxas 13.0 makes for sm_75 to sm_120.
void plan_atomics(const ptx::Function& function, const exec::Flow& flow, const Values& values,
                  const Used& used, const std::map<uint32_t, uint32_t>& site_of, Joining joining, Plan& plan);

}  // namespace lanescope::merge
