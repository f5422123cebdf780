// The report as text for a terminal.
#pragma once

#include <string>

#include "report/report.hpp"
#include "report/table.hpp"

namespace lanescope::report {

/// One table a launch, worst line first, and why that line costs what it does; with several launches a
/// comparison at the end.
[[nodiscard]] std::string to_text(const Report& report, const TextOptions& options);

/// What to change, why, and what that would bring and cost, in sentences.
[[nodiscard]] std::string in_words(const advise::Advice& advice);

}  // namespace lanescope::report
