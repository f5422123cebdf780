// Launches of a kernel with many grids, as loops over shrinking or growing work make them, taken as one: a
// reader who looks for the line to change is served by the sum over them, not by a list of each.
#pragma once

#include <cstddef>
#include <vector>

#include "report/report.hpp"

namespace lanescope::report {

/// Launches that differ in their grids alone: of one kernel, with the same block and as much shared memory.
using Grids = std::vector<const Launch*>;

/// A launch to show: one of the report, or the sum of several.
struct Shown {
  Launch launch;
  Grids grids;  ///< what it is the sum of, the costliest first; empty where it is one of the report
};

/// The launches of the report in its order; where there are more than `most` grids of one kernel, their sum
/// in place of the first. Sums: costs are added, the grid is the largest in each direction, in which the
/// blocks of examples have their places; without metrics and advised accesses.
[[nodiscard]] std::vector<Shown> with_sums(const Report& report, size_t most);

/// The report with the sum of each kernel's grids: one hazard for a line of the source, however often
/// launched.
[[nodiscard]] Report with_grids_summed(const Report& report);

}  // namespace lanescope::report
