// The report as text for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "report/report.hpp"

namespace lanescope::report {

struct TextOptions {
  size_t width = 100;  ///< columns; lines are cut or wrapped to it
  bool color = false;
};

/// One table a launch, worst line first, and why that line costs what it does; with several launches a
/// comparison at the end.
[[nodiscard]] std::string to_text(const Report& report, const TextOptions& options);

}  // namespace lanescope::report
