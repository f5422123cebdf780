// Which accesses go where data sends them: a histogram's bins, a gather, a table that is looked up. Another
// run with other data goes elsewhere, so that a layout fitted to this run's addresses says nothing of it.
#pragma once

#include <vector>

#include "exec/program.hpp"
#include "ptx/module.hpp"

namespace lanescope::advise {

/// By index of Kernel::accesses: whether lanes' addresses are computed from what they load, each from a place
/// of its own, or get from atomics. What all lanes load alike (a size, a loop's offsets) is as good as a
/// parameter. Values are followed through registers, not through branches; through local memory and the
/// arguments and results of calls as if those were one place.
[[nodiscard]] std::vector<bool> sites_from_data(const ptx::Module& module, const exec::Kernel& kernel);

}  // namespace lanescope::advise
