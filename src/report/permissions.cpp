// See permissions.hpp.
#include "report/permissions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/nearest.hpp"
#include "report/hazards.hpp"
#include "report/words.hpp"

namespace lanescope::report {

std::vector<Permission> permissions_in(std::string_view text) {
  constexpr std::string_view mark = "lanescope: allow(";
  std::vector<Permission> found;
  for (size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark)) {
    const std::string_view before = text.substr(0, at);
    text.remove_prefix(at + mark.size());
    if (before.rfind("//") == std::string_view::npos && before.rfind("/*") == std::string_view::npos)
      continue;
    const size_t close = text.find(')');
    if (close == std::string_view::npos) break;
    const std::string_view rules = text.substr(0, close);
    const std::string_view rest = text.substr(close + 1);
    const std::string_view reason = trimmed(rest.substr(0, std::min(rest.find("*/"), rest.find('\n'))));
    for (const std::string_view rule : at_commas(rules))
      if (!rule.empty()) found.push_back({std::string(rule), std::string(reason)});
  }
  return found;
}

std::vector<Permission> permissions_at(const profile::NamedPlace& place, advise::Sources& sources) {
  if (!place.in_source) return {};
  std::vector<Permission> found = permissions_in(sources.line(place.file, place.line));
  if (place.line > 1) {
    const std::string above = sources.line(place.file, place.line - 1);
    if (above.starts_with("//") || above.starts_with("/*"))
      for (Permission& permission : permissions_in(above)) found.push_back(std::move(permission));
  }
  return found;
}

std::vector<std::string> unknown_permissions(const Report& report) {
  std::vector<std::string_view> names{"all"};
  for (const Rule& rule : rules()) names.push_back(rule.id);
  std::vector<std::string> unknown;
  const auto look = [&](const auto& lines) {
    for (const auto& line : lines)
      for (const Permission& permission : line.allowed) {
        if (std::find(names.begin(), names.end(), permission.rule) != names.end()) continue;
        std::string text =
            fmt::format("{}:{}: a comment allows '{}', which is no rule; the nearest is '{}'", line.file,
                        line.line, printable(permission.rule), nearest(permission.rule, names));
        if (std::find(unknown.begin(), unknown.end(), text) == unknown.end())
          unknown.push_back(std::move(text));
      }
  };
  for (const Launch& launch : report.launches) {
    look(launch.lines);
    look(launch.branches);
  }
  return unknown;
}

const Permission* permission_for(const std::vector<Permission>& allowed, std::string_view rule) {
  const auto found = std::find_if(allowed.begin(), allowed.end(),
                                  [&](const Permission& p) { return p.rule == rule || p.rule == "all"; });
  return found == allowed.end() ? nullptr : &*found;
}

}  // namespace lanescope::report
