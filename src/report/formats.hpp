// The hazards of a report in the formats of other tools. What they say is in hazards.hpp; docs/formats.md.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace lanescope::report {

/// SARIF 2.1.0 (OASIS): for code scanning. One run, one result for each hazard; allowed ones are suppressed.
[[nodiscard]] std::string to_sarif(const Report& report);

/// GitHub's workflow commands: ::error, ::warning and ::notice lines, which a run of GitHub Actions shows at
/// the source lines. Allowed hazards are left out.
[[nodiscard]] std::string to_annotations(const Report& report);

/// A limit that was checked, as JUnit shows it: a test of its own.
struct CheckedLimit {
  std::string name;                   ///< "max_way>4"
  std::vector<std::string> violated;  ///< in words, by whom; empty: kept
  std::string failure = "limit passed";
};

/// JUnit's XML: a suite for each launch with a test for each rule, which fails when the rule has a hazard
/// that is not allowed and not a note; and a suite of the limits, if there are any.
[[nodiscard]] std::string to_junit(const Report& report, const std::vector<CheckedLimit>& limits = {});

}  // namespace lanescope::report
