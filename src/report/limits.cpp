// See limits.hpp.
#include "report/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "report/compare.hpp"
#include "report/hazards.hpp"
#include "report/permissions.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

/// What limits are about, of a line, a kernel or the run.
struct Sums {
  uint64_t wavefronts = 0, ideal = 0, max_way = 0;
  uint64_t sectors = 0, sectors_ideal = 0, local_sectors = 0;
  uint64_t cluster_sectors = 0, cluster_ideal = 0;
  uint64_t branches = 0, divergent = 0, apart_slots = 0, idle = 0;
  uint64_t write_races = 0, atomics = 0, atomic_steps = 0;
  uint64_t spill_bytes = 0, errors = 0, warnings = 0;
  std::string where;  ///< the place that adds most
  uint64_t most = 0;

  void add(const Sums& other) {
    wavefronts += other.wavefronts;
    ideal += other.ideal;
    max_way = std::max(max_way, other.max_way);
    sectors += other.sectors;
    sectors_ideal += other.sectors_ideal;
    local_sectors += other.local_sectors;
    cluster_sectors += other.cluster_sectors;
    cluster_ideal += other.cluster_ideal;
    branches += other.branches;
    divergent += other.divergent;
    apart_slots += other.apart_slots;
    idle += other.idle;
    write_races += other.write_races;
    atomics += other.atomics;
    atomic_steps += other.atomic_steps;
    spill_bytes += other.spill_bytes;
    errors += other.errors;
    warnings += other.warnings;
  }
};

/// A value as a count and, where that makes sense, what it is a share of.
struct Value {
  uint64_t count = 0;
  std::optional<uint64_t> whole = std::nullopt;
};

struct Entry {
  std::string_view name;
  uint64_t Sums::*
      of;  ///< 0 where there is nothing to measure: a line of other memory, or one that is allowed
  Value (*value)(const Sums&);
  Basis basis = Basis::counts;
};

Value over(uint64_t value, uint64_t ideal) { return {value - std::min(ideal, value), ideal}; }

// docs/gate.md says what they are.
// clang-format off
constexpr std::array entries{
    Entry{"conflicts",       &Sums::wavefronts,      [](const Sums& s) { return Value{over(s.wavefronts, s.ideal).count}; }, Basis::shared_counts},
    Entry{"excess",          &Sums::wavefronts,      [](const Sums& s) { return over(s.wavefronts, s.ideal); }, Basis::shared_counts},
    Entry{"wavefronts",      &Sums::wavefronts,      [](const Sums& s) { return Value{s.wavefronts}; }, Basis::shared_counts},
    Entry{"max_way",         &Sums::wavefronts,      [](const Sums& s) { return Value{s.max_way}; }, Basis::shared_counts},
    Entry{"sectors",         &Sums::sectors,         [](const Sums& s) { return Value{s.sectors}; }},
    Entry{"sectors_excess",  &Sums::sectors,         [](const Sums& s) { return over(s.sectors, s.sectors_ideal); }},
    Entry{"divergence",      &Sums::branches,        [](const Sums& s) { return Value{s.divergent, s.branches}; }},
    Entry{"idle",            &Sums::apart_slots,     [](const Sums& s) { return Value{s.idle, s.apart_slots}; }},
    Entry{"local_sectors",   &Sums::local_sectors,   [](const Sums& s) { return Value{s.local_sectors}; }},
    Entry{"cluster_sectors", &Sums::cluster_sectors, [](const Sums& s) { return Value{s.cluster_sectors}; }},
    Entry{"cluster_excess",  &Sums::cluster_sectors, [](const Sums& s) { return over(s.cluster_sectors, s.cluster_ideal); }},
    Entry{"spill_bytes",     &Sums::spill_bytes,     [](const Sums& s) { return Value{s.spill_bytes}; }, Basis::assembly},
    Entry{"atomic_excess",   &Sums::atomics,         [](const Sums& s) { return over(s.atomic_steps, s.atomics); }},
    Entry{"write_races",     &Sums::write_races,     [](const Sums& s) { return Value{s.write_races}; }},
    Entry{"errors",          &Sums::errors,          [](const Sums& s) { return Value{s.errors}; }, Basis::run},
    Entry{"warnings",        &Sums::warnings,        [](const Sums& s) { return Value{s.warnings}; }, Basis::run}};
// clang-format on

std::string place(const std::string& file, uint32_t line) { return fmt::format("{}:{}", file, line); }

Sums sums_of(const Line& line) {
  const auto allowed = [&](std::string_view rule) { return permission_for(line.allowed, rule) != nullptr; };
  const profile::Counters& c = line.counters;
  Sums s;
  s.where = place(line.file, line.line);
  if (!allowed(rule_of(line.space))) {
    switch (line.space) {
      case exec::AccessSpace::shared:
        s.wavefronts = c.wavefronts;
        s.ideal = c.ideal;
        s.max_way = c.max_way;
        break;
      case exec::AccessSpace::global:
        s.sectors = c.sectors;
        s.sectors_ideal = c.ideal_sectors;
        break;
      case exec::AccessSpace::local: s.local_sectors = c.sectors; break;
      case exec::AccessSpace::cluster:
        s.cluster_sectors = c.sectors;
        s.cluster_ideal = c.ideal_sectors;
        break;
      case exec::AccessSpace::constant: break;
    }
  }
  if (is_atomic(line.kind) && !allowed("atomic-contention")) {
    s.atomics = c.requests;
    s.atomic_steps = c.word_lanes;
  }
  if (!allowed("write-race")) s.write_races = c.write_races;
  return s;
}

Sums sums_of(const Branch& branch) {
  Sums s;
  s.where = place(branch.file, branch.line);
  if (permission_for(branch.allowed, "warp-divergence") != nullptr) return s;
  s.branches = branch.counts.executions();
  s.divergent = branch.counts.divergent;
  s.apart_slots = branch.counts.apart * exec::warp_lanes;
  s.idle = branch.counts.idle;
  return s;
}

double number_of(const Value& value, bool percent) {
  if (!percent) return static_cast<double>(value.count);
  if (value.count == 0) return 0;
  return value.whole.value_or(0) == 0 ? INFINITY
                                      : static_cast<double>(value.count) / static_cast<double>(*value.whole);
}

bool passes(const Limit& limit, double value) {
  switch (limit.compare) {
    case Limit::Compare::more: return value > limit.value;
    case Limit::Compare::at_least: return value >= limit.value;
    case Limit::Compare::less: return value < limit.value;
    case Limit::Compare::at_most: break;
  }
  return value <= limit.value;
}

/// What one limit is held against: a line, a kernel or the run, with a name that is the same in a baseline.
struct Subject {
  std::string name;
  std::string where;
  double value = 0;
  bool is_concerned = true;  ///< false: a line where there is nothing to measure
};

/// The value of what limits measure, and where most of it comes from.
class Measured {
 public:
  explicit Measured(const Limit& limit) : limit_(limit) {}

  [[nodiscard]] double operator()(const Sums& sums) const {
    return number_of(entries[limit_.measure].value(sums), limit_.percent);
  }
  void add(Sums& whole, const Sums& part) const {
    const Value value = entries[limit_.measure].value(part);
    whole.add(part);
    if (value.count <= whole.most) return;
    whole.most = value.count;
    whole.where = part.where;
  }

 private:
  const Limit& limit_;
};

Sums sums_of(const Launch& launch, const Measured& measured) {
  Sums whole;
  for (const Line& line : launch.lines) measured.add(whole, sums_of(line));
  for (const Branch& branch : launch.branches) measured.add(whole, sums_of(branch));
  Sums rest;
  rest.where = place(launch.file, launch.line);
  rest.spill_bytes = uint64_t{launch.machine.spill_load_bytes} + launch.machine.spill_store_bytes;
  for (const Finding& finding : launch.findings) {
    Sums one;
    one.where = place(finding.file, finding.line);
    one.errors = finding.severity == exec::Finding::Severity::error ? 1 : 0;
    one.warnings = finding.severity == exec::Finding::Severity::warning ? 1 : 0;
    measured.add(whole, one);
  }
  measured.add(whole, rest);
  return whole;
}

bool concerns(const Limit& limit, const Sums& sums) { return sums.*entries[limit.measure].of != 0; }

std::vector<Subject> subjects(const Launch& launch, const Limit& limit) {
  const Measured measured(limit);
  if (limit.scope == Limit::Scope::kernel) {
    const Sums sums = sums_of(launch, measured);
    return {{launch.kernel, sums.where, measured(sums)}};
  }
  std::vector<Subject> list;
  for (const Line& line : launch.lines) {
    const Sums sums = sums_of(line);
    list.push_back(
        {fmt::format("{}: {}{}", launch.kernel, line.op, line.variable.empty() ? "" : " of " + line.variable),
         sums.where, measured(sums), concerns(limit, sums)});
  }
  for (const Branch& branch : launch.branches) {
    const Sums sums = sums_of(branch);
    list.push_back({launch.kernel + ": branch", sums.where, measured(sums), concerns(limit, sums)});
  }
  return list;
}

std::string shown(const Limit& limit, double value) {
  if (limit.percent) return std::isinf(value) ? "something where the ideal is nothing" : percent(value);
  return grouped(static_cast<uint64_t>(value));
}

bool is_better(const Limit& limit, double a, double b) {
  const bool less_is_better =
      limit.compare == Limit::Compare::more || limit.compare == Limit::Compare::at_least;
  return less_is_better ? a < b : a > b;
}

/// The value of each subject of `now` in a baseline, where it is there.
std::vector<std::optional<double>> values_before(const Launch& before, const Launch& now,
                                                 const Limit& limit) {
  const std::vector<Subject> old = subjects(before, limit);
  if (limit.scope == Limit::Scope::kernel) return {old.front().value};
  std::vector<std::optional<double>> values(now.lines.size() + now.branches.size());
  for (const Pair& pair : paired_lines(before, now))
    if (pair.before != Pair::none && pair.after != Pair::none) values[pair.after] = old[pair.before].value;
  for (const Pair& pair : paired_branches(before, now))
    if (pair.before != Pair::none && pair.after != Pair::none)
      values[now.lines.size() + pair.after] = old[before.lines.size() + pair.before].value;
  return values;
}

Subject whole_run(const Report& report, const Limit& limit) {
  const Measured measured(limit);
  Sums whole;
  for (const Launch& launch : report.launches) measured.add(whole, sums_of(launch, measured));
  return {"the run", whole.where, measured(whole)};
}

/// Why a launch does not tell what is limited; empty where it does.
std::string why_unknown(const Limit& limit, const Launch& launch) {
  const Basis basis = entries[limit.measure].basis;
  // What is in no count has no line: those that are there are whole.
  const bool is_whole = limit.scope == Limit::Scope::line && basis == Basis::shared_counts;
  return not_looked_for(is_whole ? Basis::counts : basis, launch);
}

bool is_known(const Limit& limit, const Launch& launch) { return why_unknown(limit, launch).empty(); }

bool is_known(const Limit& limit, const Report& report) {
  return std::all_of(report.launches.begin(), report.launches.end(),
                     [&](const Launch& launch) { return is_known(limit, launch); });
}

Limit parse_limit(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Error(fmt::format("--fail-on: '{}': {}", text, why));
  };
  Limit limit;
  limit.text = text;
  const size_t at = text.find_first_of("<>");
  if (at == std::string_view::npos) throw refuse("a limit is MEASURE>NUMBER, for example max_way>4");
  const bool or_equal = at + 1 < text.size() && text[at + 1] == '=';
  limit.compare = text[at] == '>' ? (or_equal ? Limit::Compare::at_least : Limit::Compare::more)
                                  : (or_equal ? Limit::Compare::at_most : Limit::Compare::less);
  std::string_view name = trimmed(text.substr(0, at));
  constexpr std::array<std::pair<std::string_view, Limit::Scope>, 3> scopes{
      {{"line.", Limit::Scope::line}, {"kernel.", Limit::Scope::kernel}, {"run.", Limit::Scope::run}}};
  for (const auto& [prefix, scope] : scopes) {
    if (!name.starts_with(prefix)) continue;
    limit.scope = scope;
    name.remove_prefix(prefix.size());
    break;
  }
  const auto* found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  if (found == entries.end())
    throw refuse(fmt::format("'{}' is no measure; the nearest is '{}'", name, nearest(name, measures())));
  limit.measure = static_cast<size_t>(found - entries.begin());
  if (limit.scope == Limit::Scope::line && found->basis != Basis::counts &&
      found->basis != Basis::shared_counts)
    throw refuse(fmt::format("{} is not known by line, only of a kernel or the run", found->name));
  std::string_view number = trimmed(text.substr(at + (or_equal ? 2 : 1)));
  if (!number.empty() && number.back() == '%') {
    limit.percent = true;
    number.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), limit.value);
  if (number.empty() || error != std::errc() || end != number.data() + number.size() ||
      !std::isfinite(limit.value) || limit.value < 0)
    throw refuse(fmt::format("'{}' is no number", number));
  if (limit.percent) {
    limit.value /= 100;
    if (!found->value(Sums{}).whole) throw refuse(fmt::format("{} is a count and takes no %", found->name));
  }
  return limit;
}

}  // namespace

std::vector<std::string_view> measures() {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

std::vector<Limit> parse_limits(std::string_view text) {
  std::vector<Limit> limits;
  for (const std::string_view limit : at_commas(text)) limits.push_back(parse_limit(limit));
  return limits;
}

std::vector<std::string> violations(const Limit& limit, const Report& report, const Report* baseline) {
  std::vector<std::string> found;
  if (entries[limit.measure].basis != Basis::run && report.launches.empty())
    found.push_back(fmt::format("{}: no launch was counted", limit.text));
  for (const Launch& launch : report.launches) {
    const std::string why = why_unknown(limit, launch);
    std::string text = fmt::format("{}: it is not known of {}: {}", limit.text, launch.kernel, why);
    // A kernel may have been launched with many grids.
    if (!why.empty() && std::find(found.begin(), found.end(), text) == found.end())
      found.push_back(std::move(text));
  }
  const auto check = [&](const Subject& subject, const std::optional<double>& before) {
    if (!subject.is_concerned || !passes(limit, subject.value)) return;
    if (before && !is_better(limit, *before, subject.value)) return;
    std::string text = fmt::format("{}: {} has {}", limit.text, subject.name, shown(limit, subject.value));
    if (before) text += fmt::format(", before {}", shown(limit, *before));
    if (!subject.where.empty()) text += fmt::format(" ({})", subject.where);
    found.push_back(std::move(text));
  };
  if (limit.scope == Limit::Scope::run) {
    if (!is_known(limit, report)) return found;
    const bool has_before = baseline != nullptr && is_known(limit, *baseline);
    check(whole_run(report, limit),
          has_before ? std::optional(whole_run(*baseline, limit).value) : std::nullopt);
    return found;
  }
  std::vector<size_t> before(report.launches.size(), Pair::none);
  if (baseline != nullptr)
    for (const Pair& pair : paired_launches(*baseline, report))
      if (pair.after != Pair::none) before[pair.after] = pair.before;
  for (size_t i = 0; i < report.launches.size(); ++i) {
    if (!is_known(limit, report.launches[i])) continue;
    const std::vector<Subject> now = subjects(report.launches[i], limit);
    std::vector<std::optional<double>> old(now.size());
    if (before[i] != Pair::none && is_known(limit, baseline->launches[before[i]]))
      old = values_before(baseline->launches[before[i]], report.launches[i], limit);
    for (size_t j = 0; j < now.size(); ++j) check(now[j], old[j]);
  }
  return found;
}

}  // namespace lanescope::report
