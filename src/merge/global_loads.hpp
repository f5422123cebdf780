// Loads from global memory that the assembler (ptxas) leaves out, because the value is in a register already,
// or because it makes one load, ahead of a branch, of one on its way and one behind it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "exec/flow.hpp"
#include "exec/loops.hpp"
#include "merge/plan.hpp"
#include "merge/used.hpp"
#include "merge/values.hpp"
#include "merge/ways.hpp"
#include "ptx/module.hpp"

namespace lanescope::merge {

/// Of loads, by instruction: what others use of them, for which nothing is loaded then (Used::of_load).
using UsedOfKnown = std::map<uint32_t, uint32_t>;

/// Gives such loads of the function their fate. `order`: its blocks that are reached; `site_of`: the index of
/// Plan::fates by instruction. The rules (docs/merging.md) were found by giving ptxas 13.0 small kernels
/// (tests/data/merge/global.ptx).
UsedOfKnown find_known_global_loads(const ptx::Function& function, const exec::Flow& flow,
                                    const exec::Loops& loops, const std::vector<uint32_t>& order,
                                    const Values& values, const Used& used, const Ways& ways,
                                    const std::vector<exec::UnrolledLoop>& unrolled,
                                    const std::map<uint32_t, uint32_t>& site_of, Plan& plan);

}  // namespace lanescope::merge
