// Comments in the source that allow what the report would complain of:
//   tile[x][y] = a;  // lanescope: allow(bank-conflict) written once
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advise/sources.hpp"
#include "report/report.hpp"

namespace lanescope::report {

/// What the comments of a text allow: `lanescope: allow(RULE[, RULE…]) reason`, the reason up to the line's
/// end or the comment's.
[[nodiscard]] std::vector<Permission> permissions_in(std::string_view text);

/// What the comment of a line allows, and one that fills the line above it.
[[nodiscard]] std::vector<Permission> permissions_at(const profile::NamedPlace& place,
                                                     advise::Sources& sources);

/// Comments that allow what is no rule, in words with their places: they allow nothing.
[[nodiscard]] std::vector<std::string> unknown_permissions(const Report& report);

/// The permission for a rule, or null.
[[nodiscard]] const Permission* permission_for(const std::vector<Permission>& allowed, std::string_view rule);

}  // namespace lanescope::report
