// A report read back from its JSON (json.hpp), so that a saved one can be looked at, compared and checked.
#pragma once

#include <string>
#include <string_view>

#include "report/report.hpp"

namespace lanescope::report {

/// Throws lanescope::Error, with `name` as the place, for what is no report of `lanescope run`. Fields that
/// older versions do not write are empty. Of advice, what would be needed to try it (layouts, declarations)
/// is not in a report.
[[nodiscard]] Report from_json(std::string_view text, const std::string& name);

/// Adds the launches and copies of another process of the same program.
void append(Report& report, Report more);

}  // namespace lanescope::report
