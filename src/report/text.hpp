// The report as text for a terminal.
#pragma once

#include <string>

#include "report/report.hpp"
#include "report/table.hpp"

namespace lanescope::report {

/// One table a launch, worst line first, and why that line costs what it does; with several launches a
/// comparison at the end.
[[nodiscard]] std::string to_text(const Report& report, const TextOptions& options);

}  // namespace lanescope::report
