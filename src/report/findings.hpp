// Findings of the engine in words, with both places that a finding may have.
#pragma once

#include "report/report.hpp"

namespace lanescope::report {

/// The findings of a launch, errors first. What is found at several instructions of the same source lines (a
/// compiler unrolls loops) is one finding, with the worst severity.
[[nodiscard]] std::vector<Finding> make_findings(const ptx::Module& module, const exec::Kernel& kernel,
                                                 const exec::LaunchConfig& config,
                                                 const exec::LaunchResult& result);

/// Adds a finding to others, or to the one that a reader takes for the same: of one kind at the same lines,
/// and, of what ends a kernel, of the same memory.
void add_finding(std::vector<Finding>& findings, Finding finding);

}  // namespace lanescope::report
