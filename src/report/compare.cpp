// See compare.hpp.
#include "report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "profile/sums.hpp"
#include "report/hazards.hpp"
#include "report/json_text.hpp"
#include "report/permissions.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

using Json = nlohmann::ordered_json;
using Positions = std::vector<size_t>;

/// The longest common subsequence of the texts, as pairs of indices into the two lists of positions.
std::vector<std::pair<size_t, size_t>> aligned(const std::vector<Identity>& before, const Positions& b,
                                               const std::vector<Identity>& after, const Positions& a) {
  std::vector<std::vector<uint32_t>> length(b.size() + 1, std::vector<uint32_t>(a.size() + 1, 0));
  for (size_t i = b.size(); i-- > 0;)
    for (size_t j = a.size(); j-- > 0;)
      length[i][j] = before[b[i]].text == after[a[j]].text ? length[i + 1][j + 1] + 1
                                                           : std::max(length[i + 1][j], length[i][j + 1]);
  std::vector<std::pair<size_t, size_t>> same;
  for (size_t i = 0, j = 0; i < b.size() && j < a.size();) {
    if (before[b[i]].text == after[a[j]].text)
      same.emplace_back(i++, j++);
    else if (length[i + 1][j] >= length[i][j + 1])
      ++i;
    else
      ++j;
  }
  return same;
}

void pair_group(const std::vector<Identity>& before, const Positions& b, const std::vector<Identity>& after,
                const Positions& a, std::vector<Pair>& pairs) {
  auto anchors = aligned(before, b, after, a);
  Positions partner(b.size(), Pair::none);  // of each one before
  std::vector<bool> taken(a.size(), false);
  const auto join = [&](size_t i, size_t j) {
    partner[i] = j;
    taken[j] = true;
  };
  for (const auto& [i, j] : anchors) join(i, j);
  // The same text at another place: moved past others.
  for (size_t i = 0; i < b.size(); ++i)
    for (size_t j = 0; j < a.size() && partner[i] == Pair::none; ++j)
      if (!taken[j] && before[b[i]].text == after[a[j]].text) join(i, j);
  // What is left between two anchors was edited, if it is as much on both sides.
  anchors.emplace_back(b.size(), a.size());
  size_t i = 0, j = 0;
  for (const auto& [next_i, next_j] : anchors) {
    Positions old, fresh;
    for (; i < next_i; ++i)
      if (partner[i] == Pair::none) old.push_back(i);
    for (; j < next_j; ++j)
      if (!taken[j]) fresh.push_back(j);
    for (size_t n = 0; old.size() == fresh.size() && n < old.size(); ++n) join(old[n], fresh[n]);
  }
  for (i = 0; i < b.size(); ++i)
    pairs.push_back({b[i], partner[i] == Pair::none ? Pair::none : a[partner[i]]});
  for (j = 0; j < a.size(); ++j)
    if (!taken[j]) pairs.push_back({Pair::none, a[j]});
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Entries in the order of the source, as alignment needs them.
template <class T>
Positions in_source_order(const std::vector<T>& list) {
  Positions order(list.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
    return std::tie(list[x].file, list[x].line) < std::tie(list[y].file, list[y].line);
  });
  return order;
}

template <class T, class IdentityOf>
std::vector<Pair> paired_by(const std::vector<T>& before, const std::vector<T>& after,
                            const IdentityOf& identity_of) {
  const Positions b = in_source_order(before), a = in_source_order(after);
  std::vector<Identity> b_ids, a_ids;
  for (const size_t at : b) b_ids.push_back(identity_of(before[at]));
  for (const size_t at : a) a_ids.push_back(identity_of(after[at]));
  std::vector<Pair> pairs = paired(b_ids, a_ids);
  for (Pair& pair : pairs) {
    if (pair.before != Pair::none) pair.before = b[pair.before];
    if (pair.after != Pair::none) pair.after = a[pair.after];
  }
  return pairs;
}

std::string text_or_line(const std::string& source, uint32_t line) {
  return source.empty() ? "line " + std::to_string(line) : source;
}

bool is_allowed(const Line& line) { return permission_for(line.allowed, rule_of(line.space)) != nullptr; }

std::string title_of(const Launch& launch) {
  return fmt::format("{} grid {} block {}", launch.kernel, extent(launch.grid), extent(launch.block));
}

std::string units(uint64_t count, const Line& line) {
  return line.space == exec::AccessSpace::shared  ? counted(count, "conflict")
         : line.space == exec::AccessSpace::local ? counted(count, "sector") + " of local memory"
                                                  : counted(count, "sector") + " over the ideal";
}

/// Why the counts of a launch cannot be held against those before; empty where they can. `before`: null
/// where it was not there.
std::string not_comparable(const Launch* before, const Launch& now) {
  std::string here = not_looked_for(Basis::counts, now);
  const std::string there = before == nullptr ? "" : not_looked_for(Basis::counts, *before);
  if (!now.counted || (here.empty() && there.empty())) return here;
  if (here.empty()) return "before " + there;
  if (before == nullptr || there.empty()) return here;
  if (!before->counted) return here + ", before " + there;
  const bool same_blocks =
      now.sample_every != 0 && now.sample_every == before->sample_every && now.grid == before->grid;
  return same_blocks ? "" : here + ", before in others";
}

/// Whether a cost is more than before: all of it if the launches are the `same`, else that of each time.
bool is_more(uint64_t now, uint64_t times, uint64_t before, uint64_t times_before, bool same) {
  if (same || times == 0 || times_before == 0) return now > before;
  const auto each = [](uint64_t cost, uint64_t n) {
    return static_cast<double>(cost) / static_cast<double>(n);
  };
  return each(now, times) > each(before, times_before);
}

void add_worse_lines(const Launch& before, const Launch& after, bool same, std::vector<std::string>& out) {
  for (const Pair& pair : paired_lines(before, after)) {
    if (pair.after == Pair::none) continue;
    const Line& now = after.lines[pair.after];
    if (is_allowed(now)) continue;
    const Line none;
    const Line& old = pair.before == Pair::none ? none : before.lines[pair.before];
    const std::string what = fmt::format("{}: {}: {}{}", after.kernel, place_of(now), now.op,
                                         now.variable.empty() ? "" : " of " + now.variable);
    const uint64_t now_excess = excess_of(now), old_excess = excess_of(old);
    if (is_more(now_excess, now.counters.requests, old_excess, old.counters.requests, same))
      out.push_back(fmt::format("{}: {}, before {}", what, units(now_excess, now), grouped(old_excess)));
    else if (now.counters.max_way > old.counters.max_way && now.counters.max_way > 1)
      out.push_back(
          fmt::format("{}: {}-way, before {}-way", what, now.counters.max_way, old.counters.max_way));
  }
}

void add_worse_branches(const Launch& before, const Launch& after, bool same, std::vector<std::string>& out) {
  for (const Pair& pair : paired_branches(before, after)) {
    if (pair.after == Pair::none) continue;
    const Branch& now = after.branches[pair.after];
    if (permission_for(now.allowed, "warp-divergence") != nullptr) continue;
    const exec::BranchCounts none;
    const exec::BranchCounts& old = pair.before == Pair::none ? none : before.branches[pair.before].counts;
    const exec::BranchCounts& c = now.counts;
    if (is_more(c.divergent, c.executions(), old.divergent, old.executions(), same))
      out.push_back(fmt::format("{}: {}:{}: {}, before {}", after.kernel, now.file, now.line,
                                counted(c.divergent, "divergent execution"), grouped(old.divergent)));
  }
}

Json json_of(const Line* line) {
  if (line == nullptr) return nullptr;
  const profile::Counters& c = line->counters;
  return Json{{"line", line->line},   {"requests", c.requests},          {"wavefronts", c.wavefronts},
              {"ideal", c.ideal},     {"conflicts", c.conflicts},        {"max_way", c.max_way},
              {"sectors", c.sectors}, {"sectors_ideal", c.ideal_sectors}};
}

Json json_of(const Branch* branch) {
  if (branch == nullptr) return nullptr;
  const exec::BranchCounts& c = branch->counts;
  return Json{
      {"line", branch->line}, {"executions", c.executions()}, {"divergent", c.divergent}, {"idle", c.idle}};
}

bool costs_the_same(const Line& a, const Line& b) {
  const profile::Counters &x = a.counters, &y = b.counters;
  return x.requests == y.requests && x.wavefronts == y.wavefronts && x.ideal == y.ideal &&
         x.max_way == y.max_way && x.sectors == y.sectors && x.ideal_sectors == y.ideal_sectors;
}

template <class T>
const T* at(const std::vector<T>& list, size_t position) {
  return position == Pair::none ? nullptr : &list[position];
}

/// "1,024 → 32", "new 32", "1,024 → gone"; one number where nothing changed.
std::string change(const std::optional<uint64_t>& before, const std::optional<uint64_t>& after) {
  if (!before) return "new " + grouped(*after);
  if (!after) return grouped(*before) + " → gone";
  return *before == *after ? grouped(*after) : grouped(*before) + " → " + grouped(*after);
}

/// The pairs of two launches that differ.
struct Changes {
  struct Lines {
    const Line *before, *after;
  };
  struct Branches {
    const Branch *before, *after;
  };
  std::vector<Lines> lines;
  std::vector<Branches> branches;
};

Changes changes_of(const Launch& before, const Launch& after) {
  Changes changes;
  for (const Pair& pair : paired_lines(before, after)) {
    const Line *b = at(before.lines, pair.before), *a = at(after.lines, pair.after);
    if (b == nullptr || a == nullptr || !costs_the_same(*b, *a)) changes.lines.push_back({b, a});
  }
  for (const Pair& pair : paired_branches(before, after)) {
    const Branch *b = at(before.branches, pair.before), *a = at(after.branches, pair.after);
    const uint64_t was = b == nullptr ? 0 : b->counts.divergent, is = a == nullptr ? 0 : a->counts.divergent;
    if (was != is) changes.branches.push_back({b, a});
  }
  return changes;
}

template <class T>
std::string place_change(const T* before, const T* after) {
  if (before == nullptr || after == nullptr || before->line == after->line) {
    const T& any = after == nullptr ? *before : *after;
    return fmt::format("{}:{}", any.file, any.line);
  }
  return fmt::format("{}:{} → {}", after->file, before->line, after->line);
}

void write_lines(Writer& out, const Changes& changes) {
  if (changes.lines.empty()) return;
  Table table({"line", "op", "variable", "wavefronts", "n-way", "sectors"}, 3);
  for (const Changes::Lines& change_of_line : changes.lines) {
    const Line *before = change_of_line.before, *after = change_of_line.after;
    const Line& any = after == nullptr ? *before : *after;
    const auto number = [&](auto get) {
      return change(before == nullptr ? std::nullopt : std::optional<uint64_t>(get(before->counters)),
                    after == nullptr ? std::nullopt : std::optional<uint64_t>(get(after->counters)));
    };
    const bool shared = any.space == exec::AccessSpace::shared;
    const uint64_t was = before == nullptr ? 0 : excess_of(*before),
                   is = after == nullptr ? 0 : excess_of(*after);
    const Style style = is > was ? Style::bad : is < was ? Style::good : Style::plain;
    table.add({{place_change(before, after)},
               {any.op},
               {any.variable},
               {shared ? number([](const profile::Counters& c) { return c.wavefronts; }) : "", style},
               {shared ? number([](const profile::Counters& c) { return uint64_t{c.max_way}; }) : "", style},
               {shared ? "" : number([](const profile::Counters& c) { return c.sectors; }), style}},
              {any.source});
  }
  table.write(out);
  out.line();
}

void write_branches(Writer& out, const Changes& changes) {
  if (changes.branches.empty()) return;
  Table table({"branch", "executions", "divergent"}, 1);
  for (const Changes::Branches& change_of_branch : changes.branches) {
    const Branch *before = change_of_branch.before, *after = change_of_branch.after;
    const auto number = [&](auto get) {
      return change(before == nullptr ? std::nullopt : std::optional<uint64_t>(get(before->counts)),
                    after == nullptr ? std::nullopt : std::optional<uint64_t>(get(after->counts)));
    };
    table.add({{place_change(before, after)},
               {number([](const exec::BranchCounts& c) { return c.executions(); })},
               {number([](const exec::BranchCounts& c) { return c.divergent; })}},
              {after == nullptr ? before->source : after->source});
  }
  table.write(out);
  out.line();
}

struct Costs {
  uint64_t wavefronts = 0, conflicts = 0, sectors = 0;
};
Costs costs_of(const Launch& launch) {
  const profile::Counters shared = profile::shared_of(launch.totals);
  return {shared.wavefronts, shared.conflicts, profile::global_of(launch.totals).sectors};
}

/// Whether two launches did the same amount of work: their sums can be compared, otherwise only what a
/// request cost.
bool same_shape(const Launch& a, const Launch& b) {
  return a.grid == b.grid && a.block == b.block && a.launches == b.launches;
}

}  // namespace

std::vector<Pair> paired(const std::vector<Identity>& before, const std::vector<Identity>& after) {
  std::map<std::string, std::pair<Positions, Positions>> groups;
  for (size_t i = 0; i < before.size(); ++i) groups[before[i].group].first.push_back(i);
  for (size_t i = 0; i < after.size(); ++i) groups[after[i].group].second.push_back(i);
  std::vector<Pair> pairs;
  for (const auto& [group, lists] : groups) pair_group(before, lists.first, after, lists.second, pairs);
  // In the order of what is there now; what is gone comes last.
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) {
    return std::pair(x.after, x.before) < std::pair(y.after, y.before);
  });
  return pairs;
}

std::vector<Pair> paired_launches(const Report& before, const Report& after) {
  const auto identities = [](const Report& report) {
    std::vector<Identity> list;
    for (const Launch& launch : report.launches) list.push_back({launch.kernel, title_of(launch)});
    return list;
  };
  return paired(identities(before), identities(after));
}

std::vector<Pair> paired_lines(const Launch& before, const Launch& after) {
  return paired_by(before.lines, after.lines, [](const Line& line) {
    return Identity{file_name(line.file) + "\n" + line.op + "\n" + line.variable,
                    text_or_line(line.source, line.line)};
  });
}

std::vector<Pair> paired_branches(const Launch& before, const Launch& after) {
  return paired_by(before.branches, after.branches, [](const Branch& branch) {
    return Identity{file_name(branch.file) + (branch.backward ? "\nloop" : ""),
                    text_or_line(branch.source, branch.line)};
  });
}

std::vector<std::string> made_otherwise(const Report& before, const Report& after) {
  std::vector<std::string> list;
  const auto any = [](const Report& report, auto has) {
    return std::any_of(report.launches.begin(), report.launches.end(), has);
  };
  const auto as_written = [](const Launch& l) { return l.counted && !l.merges; };
  const auto as_merged = [](const Launch& l) { return l.counted && l.merges; };
  if (before.arch != after.arch || before.arch_description != after.arch_description)
    list.push_back(fmt::format("counted by the rules of {}, {}; now {}, {}", before.arch,
                               before.arch_description, after.arch, after.arch_description));
  else if (any(before, as_written) && any(after, as_merged))
    list.emplace_back("counted as the PTX writes accesses (--no-merge); now as the assembler merges them");
  else if (any(before, as_merged) && any(after, as_written))
    list.emplace_back("counted as the assembler merges accesses; now as the PTX writes them (--no-merge)");
  const auto debugged = [](const Launch& l) { return l.is_debug; };
  if (any(before, debugged) != any(after, debugged))
    list.emplace_back(any(before, debugged) ? "compiled with -G, and now without it"
                                            : "compiled without -G, and now with it");
  const auto only_before = [&](auto has) {
    return any(before, has) && !after.launches.empty() && !any(after, has);
  };
  if (only_before([](const Launch& l) { return l.machine.assembled; }))
    list.emplace_back("assembled (--assemble), and now nothing is known of spilled registers");
  for (const auto& [name, check] :
       {std::pair{"race", &exec::Checks::race}, std::pair{"init", &exec::Checks::init},
        std::pair{"barrier", &exec::Checks::barrier}, std::pair{"bounds", &exec::Checks::bounds}})
    if (only_before([check = check](const Launch& l) { return l.checks.*check; }))
      list.push_back(fmt::format("run with --check {}, which is not looked for now", name));
  return list;
}

std::vector<std::string> worse_than(const Report& before, const Report& after) {
  std::vector<std::string> worse;
  // What is not known is no better.
  if (after.launches.empty() && !before.launches.empty()) worse.emplace_back("no launch was counted");
  for (const Pair& pair : paired_launches(before, after)) {
    if (pair.after == Pair::none) continue;
    const Launch& now = after.launches[pair.after];
    Launch none;
    none.kernel = now.kernel;
    const Launch* was = at(before.launches, pair.before);
    const Launch& old = was == nullptr ? none : *was;
    if (const std::string why = not_comparable(was, now); !why.empty()) {
      worse.push_back(now.kernel + ": " + why);
    } else {
      const bool same = same_shape(old, now);
      add_worse_lines(old, now, same, worse);
      add_worse_branches(old, now, same, worse);
    }
    if (!now.uncounted.empty() && now.uncounted != old.uncounted)
      worse.push_back(now.kernel + ": " + not_looked_for(Basis::shared_counts, now));
    const auto spills = [](const Launch& l) {
      return uint64_t{l.machine.spill_load_bytes} + l.machine.spill_store_bytes;
    };
    if (spills(now) > spills(old) && (old.machine.assembled || pair.before == Pair::none))
      worse.push_back(fmt::format("{}: {} of spilled registers a thread, before {}", now.kernel,
                                  counted(spills(now), "byte"), grouped(spills(old))));
    for (const Finding& finding : now.findings) {
      const bool known = std::any_of(old.findings.begin(), old.findings.end(), [&](const Finding& f) {
        return f.kind == finding.kind && f.severity == finding.severity;
      });
      if (!known && finding.severity != exec::Finding::Severity::note)
        worse.push_back(fmt::format("{}: {}:{}: {}: {}", now.kernel, finding.file, finding.line, finding.kind,
                                    finding.message));
    }
  }
  return worse;
}

std::string diff_text(const Report& before, const Report& after, const TextOptions& options) {
  Writer out(options);
  for (const std::string& otherwise : made_otherwise(before, after)) {
    out.paragraph("Before " + otherwise + ".", 0);
    out.line();
  }
  bool differs = false;
  for (const Pair& pair : paired_launches(before, after)) {
    const Launch *b = at(before.launches, pair.before), *a = at(after.launches, pair.after);
    const Launch none;
    const Changes changes = changes_of(b == nullptr ? none : *b, a == nullptr ? none : *a);
    const std::string why = a == nullptr ? "" : not_comparable(b, *a);
    if (b != nullptr && a != nullptr && changes.lines.empty() && changes.branches.empty() && why.empty())
      continue;
    differs = true;
    std::string head = title_of(a == nullptr ? *b : *a);
    if (b == nullptr) head += "  (new)";
    if (a == nullptr) head += "  (gone)";
    if (b != nullptr && a != nullptr && !same_shape(*b, *a))
      head += fmt::format("  (before: grid {} block {}, {})", extent(b->grid), extent(b->block),
                          counted(b->launches, "launch"));
    out.paragraph(head, 0, Style::bold);
    if (!why.empty()) out.paragraph(why, 2);
    write_lines(out, changes);
    write_branches(out, changes);
    const Costs was = costs_of(b == nullptr ? none : *b), is = costs_of(a == nullptr ? none : *a);
    out.paragraph(
        fmt::format("wavefronts {}, conflicts {}, global sectors {}", change(was.wavefronts, is.wavefronts),
                    change(was.conflicts, is.conflicts), change(was.sectors, is.sectors)),
        2, Style::bold);
    out.line();
  }
  if (!differs) out.paragraph("No line costs more or less than before.", 0, Style::good);
  return std::move(out).str();
}

std::string diff_json(const Report& before, const Report& after) {
  Json launches = Json::array();
  for (const Pair& pair : paired_launches(before, after)) {
    const Launch *b = at(before.launches, pair.before), *a = at(after.launches, pair.after);
    const Launch none;
    const Changes changes = changes_of(b == nullptr ? none : *b, a == nullptr ? none : *a);
    Json lines = Json::array(), branches = Json::array();
    for (const auto& [was, is] : changes.lines) {
      const Line& any = is == nullptr ? *was : *is;
      lines.push_back({{"file", any.file},
                       {"op", any.op},
                       {"variable", any.variable},
                       {"source", any.source},
                       {"before", json_of(was)},
                       {"after", json_of(is)}});
    }
    for (const auto& [was, is] : changes.branches) {
      const Branch& any = is == nullptr ? *was : *is;
      branches.push_back(
          {{"file", any.file}, {"source", any.source}, {"before", json_of(was)}, {"after", json_of(is)}});
    }
    launches.push_back({{"kernel", (a == nullptr ? *b : *a).kernel},
                        {"before", b == nullptr ? Json(nullptr) : Json(pair.before)},
                        {"after", a == nullptr ? Json(nullptr) : Json(pair.after)},
                        {"lines", std::move(lines)},
                        {"branches", std::move(branches)}});
  }
  return json_text(Json{{"schema", 1},
                        {"before_was", made_otherwise(before, after)},
                        {"launches", std::move(launches)},
                        {"worse", worse_than(before, after)}});
}

}  // namespace lanescope::report
