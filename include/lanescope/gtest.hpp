// Matchers of GoogleTest (gmock) for profiles:
//   EXPECT_THAT(profile, lanescope::conflict_free());
// A failure lists the lines that break the promise, and for bank conflicts the best change of the source.
#pragma once

#include <gmock/gmock.h>

#include <lanescope/model/portable.hpp>  // says that C++20 is needed
#include <lanescope/run.hpp>
#include <ostream>

namespace lanescope {
namespace detail {

/// The lines of a profile that `is_bad`, for a matcher's failure.
template <class IsBad>
void explain(const Profile& profile, std::ostream& out, IsBad is_bad) {
  if (const std::string why = profile.not_counted(); !why.empty()) out << "\n  " << why;
  for (const ProfileLine& line : profile.lines()) {
    if (!is_bad(line)) continue;
    out << "\n  " << line.file << ':' << line.line << ": " << line.op;
    if (!line.variable.empty()) out << " of " << line.variable;
    if (line.max_way != 0)
      out << ": " << line.wavefronts << " wavefronts instead of " << line.ideal << ", " << line.max_way
          << "-way";
    else
      out << ": " << line.sectors << " sectors instead of " << line.sectors_ideal;
    if (!line.source.empty()) out << "\n    " << line.source;
    if (!line.why.empty()) out << "\n    " << line.why;
  }
}

}  // namespace detail

/// How GoogleTest prints a profile.
inline void PrintTo(const Profile& profile,
                    std::ostream* out) {  // NOLINT(readability-identifier-naming): its name
  *out << "the profile of " << profile.kernel();
}

MATCHER(conflict_free, negation ? "has bank conflicts" : "has no bank conflicts") {
  if (result_listener->IsInterested()) {
    detail::explain(arg, *result_listener->stream(),
                    [](const ProfileLine& l) { return l.wavefronts > l.ideal; });
    if (!arg.advice().empty()) *result_listener << "\n  advice: " << arg.advice().front();
  }
  return arg.conflict_free();
}

MATCHER(coalesced, negation ? "has uncoalesced accesses" : "has coalesced accesses only") {
  if (result_listener->IsInterested())
    detail::explain(arg, *result_listener->stream(), [](const ProfileLine& l) {
      return l.op.ends_with(".global") && l.sectors > l.sectors_ideal;
    });
  return arg.coalesced();
}

/// No phase takes more than `ways` wavefronts.
MATCHER_P(at_most_ways, ways, "is at most " + ::testing::PrintToString(ways) + "-way") {
  if (result_listener->IsInterested())
    detail::explain(arg, *result_listener->stream(),
                    [&](const ProfileLine& l) { return l.max_way > static_cast<uint32_t>(ways); });
  return arg.not_counted().empty() && arg.max_way() <= static_cast<uint32_t>(ways);
}

/// The kernel ran without findings.
MATCHER(clean, negation ? "has findings" : "has no findings") {
  if (result_listener->IsInterested())
    for (const std::string& finding : arg.findings()) *result_listener << "\n  " << finding;
  return arg.ok() && arg.findings().empty();
}

}  // namespace lanescope
