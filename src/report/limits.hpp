// Limits that a report must keep, as --fail-on gives them: 'max_way>4', 'line.conflicts>0', 'run.excess>10%'.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace lanescope::report {

struct Limit {
  enum class Scope : uint8_t { line, kernel, run };
  enum class Compare : uint8_t { more, at_least, less, at_most };
  Scope scope = Scope::kernel;
  size_t measure = 0;  ///< index of the table in limits.cpp
  Compare compare = Compare::more;
  double value = 0;  ///< a share where `percent`: 0.1 for 10%
  bool percent = false;
  std::string text;  ///< as given
};

/// The names of what can be limited.
[[nodiscard]] std::vector<std::string_view> measures();

/// `[line.|kernel.|run.]MEASURE(>|>=|<|<=)NUMBER[%]`, several with commas; docs/gate.md lists the measures.
/// Throws lanescope::Error that names what is wrong and, for a measure that is none, the nearest one.
[[nodiscard]] std::vector<Limit> parse_limits(std::string_view text);

/// Who passes a limit, in words, one entry each; empty: kept. What a comment in the source allows does not
/// count. With a baseline only those are named whose value was better there or that were not there.
[[nodiscard]] std::vector<std::string> violations(const Limit& limit, const Report& report,
                                                  const Report* baseline = nullptr);

}  // namespace lanescope::report
