// The report as one HTML file for a browser: nothing is loaded from anywhere.
#pragma once

#include <string>

#include "advise/sources.hpp"
#include "report/report.hpp"

namespace lanescope::report {

/// `sources`: where the text of the source files is found; lines of others are shown alone.
[[nodiscard]] std::string to_html(const Report& report, advise::Sources& sources);

namespace html {
/// The files in src/report/html/; `page` has places for the others: @STYLE@, @SCRIPT@, @REPORT@, @TITLE@,
/// @VERSION@.
extern const char page[];
extern const char style[];
extern const char script[];
}  // namespace html

}  // namespace lanescope::report
