// The report as JSON, for scripts. Every field is described in docs/report.md; fields are added, never
// renamed, while "schema" stays 1.
#pragma once

#include <string>

#include "report/report.hpp"

namespace lanescope::report {

/// Indented, ended by a newline. The same text for the same counts, whatever the number of host threads.
[[nodiscard]] std::string to_json(const Report& report);

}  // namespace lanescope::report
