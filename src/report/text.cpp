// The report as text: tables whose widths follow their contents and the terminal.
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "advise/declaration.hpp"
#include "profile/sums.hpp"
#include "report/bounds.hpp"
#include "report/grids.hpp"
#include "report/hazards.hpp"
#include "report/kernel_names.hpp"
#include "report/table.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

/// Rows of a launch's table; the rest is in the JSON.
constexpr size_t most_rows = 16;
/// Grids of a kernel that are shown one by one; more are shown as their sum.
constexpr size_t most_grids = 4;

/// The text of lines[i]'s source line, unless the next row is of the same line and will show it.
std::string source_below(const std::vector<const Line*>& lines, size_t i) {
  const bool again =
      i + 1 < std::min(most_rows, lines.size()) && place_of(*lines[i + 1]) == place_of(*lines[i]);
  return again ? "" : lines[i]->source;
}

std::vector<const Line*> lines_of(const Launch& launch, exec::AccessSpace space) {
  std::vector<const Line*> lines;
  for (const Line& line : launch.lines)
    if (line.space == space) lines.push_back(&line);
  return lines;
}

void tell_of_rest(Writer& out, size_t rows, const char* row) {
  if (rows > most_rows)
    out.line(
        fmt::format("  and {} of less cost: --format json has all of them", counted(rows - most_rows, row)),
        Style::dim);
}

void end_table(Writer& out, size_t lines) {
  tell_of_rest(out, lines, "line");
  out.line();
}

/// What stands below a line's numbers: its source, and what the assembler makes of it.
std::vector<std::string> below(const std::vector<const Line*>& lines, size_t i) {
  const Line& line = *lines[i];
  return {source_below(lines, i), line.merged.empty() ? "" : "→ " + line.merged,
          line.doubt.empty() ? "" : "? " + line.doubt};
}

void write_shared(Writer& out, const Launch& launch) {
  const auto lines = lines_of(launch, exec::AccessSpace::shared);
  if (lines.empty()) return;
  const uint64_t all = profile::shared_of(launch.totals).wavefronts;
  Table table({"shared memory", "op", "variable", "requests", "wavefronts / ideal", "n-way", "share"}, 3);
  for (size_t i = 0; i < std::min(most_rows, lines.size()); ++i) {
    const Line& line = *lines[i];
    const profile::Counters& c = line.counters;
    const Style style = c.wavefronts > c.ideal ? Style::bad : Style::plain;
    const std::string mark = c.estimates != 0 ? "~" : "";
    table.add({{place_of(line)},
               {line.op},
               {line.variable},
               {grouped(c.requests)},
               {fmt::format("{}{} / {}", mark, grouped(c.wavefronts), grouped(c.ideal)), style},
               {mark + std::to_string(c.max_way), style},
               {percent(c.wavefronts, all)}},
              below(lines, i));
  }
  table.write(out);
  end_table(out, lines.size());
}

/// Whether it was measured how accesses meet in the banks of the first-level cache, and not taken to be so.
bool knows_l1(const Report& report) {
  return report.model && report.model->l1_evidence == model::Evidence::measured;
}

/// Whether lanes meet in those banks.
bool meets_in_l1(const Line& line) { return line.counters.l1_wavefronts > line.counters.l1_ideal; }

bool is_unknown_in_l1(const Line& line) { return line.counters.l1_unknown != 0; }

std::string l1_wavefronts(const profile::Counters& c, bool l1_is_measured) {
  if (c.l1_unknown != 0) return "not known";
  if (c.l1_wavefronts == 0) return "";
  return fmt::format("{}{} / {}", l1_is_measured ? "" : "~", grouped(c.l1_wavefronts), grouped(c.l1_ideal));
}

void write_sectors(Writer& out, const Launch& launch, exec::AccessSpace space, bool l1_is_measured) {
  const auto lines = lines_of(launch, space);
  if (lines.empty()) return;
  uint64_t all = 0;
  for (const Line* line : lines) all += line->counters.sectors;
  const bool shows_l1 = std::any_of(lines.begin(), lines.end(), [](const Line* line) {
    return meets_in_l1(*line) || is_unknown_in_l1(*line);
  });
  std::vector<std::string> head{space == exec::AccessSpace::cluster
                                    ? "shared memory of other blocks"
                                    : std::string(profile::name_of(space)) + " memory",
                                "op", "requests", "sectors / ideal", "share"};
  if (shows_l1) head.insert(head.end() - 1, "L1 wavefronts");
  Table table(std::move(head), 2);
  for (size_t i = 0; i < std::min(most_rows, lines.size()); ++i) {
    const Line& line = *lines[i];
    const profile::Counters& c = line.counters;
    const auto style = [](uint64_t value, uint64_t ideal) {
      return value > ideal ? Style::bad : Style::plain;
    };
    std::vector<Cell> row{
        {place_of(line)},
        {line.op},
        {grouped(c.requests)},
        {fmt::format("{}{} / {}", c.estimates != 0 ? "~" : "", grouped(c.sectors), grouped(c.ideal_sectors)),
         style(c.sectors, c.ideal_sectors)},
        {percent(c.sectors, all)}};
    if (shows_l1)
      row.insert(row.end() - 1, {l1_wavefronts(c, l1_is_measured), style(c.l1_wavefronts, c.l1_ideal)});
    table.add(row, below(lines, i));
  }
  table.write(out);
  end_table(out, lines.size());
}

/// Branches whose lanes parted.
void write_branches(Writer& out, const Launch& launch) {
  std::vector<const Branch*> branches;
  for (const Branch& branch : launch.branches)
    if (branch.counts.divergent != 0) branches.push_back(&branch);
  if (branches.empty()) return;
  Table table({"divergent branches", "executions", "divergent", "lanes idle"}, 1);
  for (size_t i = 0; i < std::min(most_rows, branches.size()); ++i) {
    const exec::BranchCounts& c = branches[i]->counts;
    table.add({{fmt::format("{}:{}", branches[i]->file, branches[i]->line)},
               {grouped(c.executions())},
               {grouped(c.divergent), Style::bad},
               {percent(c.idle, c.apart * exec::warp_lanes)}},
              {branches[i]->source});
  }
  table.write(out);
  end_table(out, branches.size());
}

std::string global_part(const char* what, const profile::Counters& c) {
  return fmt::format("{} {} (ideal {})", counted(c.sectors, "sector"), what, grouped(c.ideal_sectors));
}

/// How many accesses the assembler makes of those of the PTX, where that is another number.
void write_merging(Writer& out, const Launch& launch) {
  const profile::Counters shared = profile::shared_of(launch.totals);
  if (shared.instructions != shared.requests)
    out.paragraph(
        fmt::format("The assembler {} accesses: {} become {} (--no-merge counts them as written).",
                    shared.requests < shared.instructions ? "merges" : "splits",
                    counted(shared.instructions, "shared instruction"), counted(shared.requests, "request")),
        2);
  if (std::any_of(launch.lines.begin(), launch.lines.end(), [](const Line& l) { return !l.doubt.empty(); }))
    out.paragraph("? The assembler may merge more or less in this line than is counted.", 2);
}

void write_totals(Writer& out, const Launch& launch) {
  const profile::Totals& t = launch.totals;
  if (const profile::Counters shared = profile::shared_of(t); shared.requests != 0) {
    std::string text = fmt::format("shared: {}, ideal {}; conflicts: {} of loads, {} of stores",
                                   counted(shared.wavefronts, "wavefront"), grouped(shared.ideal),
                                   grouped(t.shared_load.conflicts), grouped(t.shared_store.conflicts));
    if (t.shared_atomic.requests != 0)
      text += fmt::format(", {} of atomics", grouped(t.shared_atomic.conflicts));
    if (t.shared_copy.conflicts != 0)
      text += fmt::format(", {} of asynchronous copies", grouped(t.shared_copy.conflicts));
    out.paragraph(text, 2, Style::bold);
  }
  if (launch.merges) write_merging(out, launch);
  std::string global;
  const auto add = [&](const char* what, const profile::Counters& c) {
    if (c.requests != 0) global += (global.empty() ? "" : ", ") + global_part(what, c);
  };
  add("loaded", t.global_load);
  add("stored", t.global_store);
  add("of atomics", t.global_atomic);
  add("of asynchronous copies", t.global_copy);
  add("loaded by bulk copies", t.bulk_load);
  add("stored by bulk copies", t.bulk_store);
  add("of bulk reductions", t.bulk_reduction);
  if (!global.empty()) out.paragraph("global: " + global, 2, Style::bold);
  global.clear();
  add("loaded", t.local_load);
  add("stored", t.local_store);
  if (!global.empty()) out.paragraph("local: " + global, 2, Style::bold);
  global.clear();
  add("loaded", t.cluster_load);
  add("stored", t.cluster_store);
  add("of atomics", t.cluster_atomic);
  add("of bulk copies", t.cluster_copy);
  if (!global.empty()) out.paragraph("shared memory of other blocks: " + global, 2, Style::bold);
  out.paragraph(fmt::format("{}, {} of their lanes active; {} of the branches uniform",
                            counted(launch.warp_instructions, "warp instruction"),
                            percent(warp_efficiency(launch)), percent(branch_efficiency(launch))),
                2, Style::bold);
}

/// Of a launch that takes at least so long; launching a shorter one takes more than what it does.
constexpr double shortest_to_tell = 1e-7;

/// Times that the launch takes at least on a well-known chip.
void write_bounds(Writer& out, const Launch& launch, const std::vector<Bound>& list, std::string_view chip,
                  bool l1_is_measured) {
  if (std::all_of(list.begin(), list.end(), [](const Bound& b) { return b.seconds < shortest_to_tell; }))
    return;
  std::string always, memory;
  for (const Bound& bound : list) {
    const std::string time = seconds_text(bound.seconds);
    switch (bound.kind) {
      case Bound::Kind::memory: memory = time + " for memory if no cache answers"; break;
      case Bound::Kind::data_stage:
        always = fmt::format(
            "{}{} for wavefronts",
            l1_is_measured || bound.count == profile::shared_of(launch.totals).wavefronts + launch.shuffles
                ? ""
                : "about ",
            time);
        break;
      case Bound::Kind::without_conflicts: always += fmt::format(" ({} without conflicts)", time); break;
      case Bound::Kind::issue:
        always += fmt::format("{}about {} for instructions", always.empty() ? "" : ", ", time);
        break;
    }
  }
  const std::string several =
      launch.launches > 1 ? fmt::format(" of {} launches", grouped(launch.launches)) : "";
  out.paragraph(fmt::format("least time{} ({}): {}{}{}", several, chip, always,
                            always.empty() || memory.empty() ? "" : "; ", memory),
                2, Style::bold);
}

/// Which part of the chip the grid does not reach, where that costs time: of a launch that takes at least so
/// long there.
void write_idle_multiprocessors(Writer& out, const Launch& launch, const std::vector<Bound>& list,
                                const model::Chip& chip) {
  constexpr double shortest = 1e-5;
  const uint64_t busy = multiprocessors_of(launch, rates_of(chip)),
                 all = static_cast<uint64_t>(chip.multiprocessors);
  const bool is_long = std::any_of(list.begin(), list.end(), [&](const Bound& b) {
    return (b.kind == Bound::Kind::data_stage || b.kind == Bound::Kind::issue) &&
           b.seconds >= shortest * static_cast<double>(launch.launches);
  });
  if (busy == all || !is_long) return;
  out.paragraph(
      fmt::format("The grid has {}: {} of the {} multiprocessors {} nothing to do in it.",
                  counted(launch.grid.count(), "block"), all - busy, all, all - busy == 1 ? "has" : "have"),
      2);
}

/// What the assembler needs for a thread, and what that leaves room for.
void write_machine(Writer& out, const Launch& launch) {
  const Machine& m = launch.machine;
  if (m.registers == 0) return;
  std::string text = fmt::format("machine code: {} and {} of stack a thread",
                                 counted(m.registers, "register"), counted(m.stack_bytes, "byte"));
  if (m.spill_store_bytes + m.spill_load_bytes != 0)
    text += fmt::format(", {} stored and {} loaded for want of registers",
                        counted(m.spill_store_bytes, "byte"), grouped(m.spill_load_bytes));
  if (m.stack_is_spilled) text += ", all of it for want of registers";
  if (m.has_occupancy)
    text += fmt::format("; {} of {} on a multiprocessor ({}, limit: {})", m.warps,
                        counted(m.most_warps, "warp"), counted(m.blocks, "block"), m.limiter);
  out.paragraph(text, 2, Style::bold);
  if (!m.next_step.empty()) out.paragraph(m.next_step, 2);
}

/// The best change of each variable, then others, as far as there is room; all are in the JSON.
std::vector<const advise::Advice*> advice_to_show(const Launch& launch) {
  constexpr size_t most = 3;
  std::vector<const advise::Advice*> shown, others;
  std::set<std::string_view> variables;
  for (const advise::Advice& a : launch.advice)
    (variables.insert(a.variable).second ? shown : others).push_back(&a);
  shown.insert(shown.end(), others.begin(), others.end());
  shown.resize(std::min(most, shown.size()));
  return shown;
}

/// What a change of the wavefronts makes of the launch's least time, where that is told; else "".
std::string effect_on_time(const advise::Advice& advice, const std::vector<Bound>& list) {
  const auto of = [&](Bound::Kind kind) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const Bound& b) { return b.kind == kind; });
    return found == list.end() ? Bound{} : *found;
  };
  const Bound stage = of(Bound::Kind::data_stage), issue = of(Bound::Kind::issue);
  const uint64_t saved =
      advice.wavefronts_before - std::min(advice.wavefronts_after, advice.wavefronts_before);
  // Shuffles go through the data stage as well, and how many it would take is not known.
  if (advice.kind == advise::Advice::Kind::shuffles) return "";
  if (stage.seconds < shortest_to_tell || saved > stage.count) return "";
  const double left =
      stage.seconds * static_cast<double>(stage.count - saved) / static_cast<double>(stage.count);
  if (issue.seconds >= stage.seconds)
    return fmt::format(" The least time is that of the instructions, about {}, before and after.",
                       seconds_text(issue.seconds));
  if (left < issue.seconds)
    return fmt::format(" The least time goes from {} to about {}, then that of the instructions.",
                       seconds_text(stage.seconds), seconds_text(issue.seconds));
  return fmt::format(" The least time goes from {} to {}.", seconds_text(stage.seconds), seconds_text(left));
}

void write_advice(Writer& out, const Launch& launch, const std::vector<Bound>& list) {
  const std::vector<const advise::Advice*> shown = advice_to_show(launch);
  for (size_t i = 0; i < shown.size(); ++i) {
    const advise::Advice& a = *shown[i];
    out.line();
    out.paragraph(fmt::format("Advice {} ({}:{}): {}{}{}", i + 1, a.file, a.line, in_words(a),
                              effect_on_time(a, list), a.patch ? " `lanescope fix` makes this change." : ""),
                  2, Style::good);
  }
}

/// What is said of the architecture's rules: at the first launch that it is about, not at each.
class Remarks {
 public:
  void write(Writer& out, const std::string& text, Style style = Style::plain) {
    if (told_.insert(text).second) out.paragraph(text, 2, style);
  }

 private:
  std::set<std::string> told_;
};

/// What else costs the launch notably, why, and what to do about it: the costliest branch, atomic operation
/// and access to local memory, and registers that do not suffice.
void write_siblings(Writer& out, const Launch& launch, const std::vector<Hazard>& hazards) {
  constexpr double notable = 0.05;  // of the launch
  const auto share = [](uint64_t part, uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const auto tell = [&](std::string_view rule, const char* what, const auto& is_notable) {
    const auto hazard = std::find_if(hazards.begin(), hazards.end(),
                                     [&](const Hazard& h) { return h.rule == rule && is_notable(h); });
    if (hazard == hazards.end()) return;
    out.line();
    out.paragraph(
        fmt::format("Why {}:{} ({}): {} {}", hazard->file, hazard->line, what, hazard->cause, hazard->advice),
        2);
  };
  tell("warp-divergence", "divergent branch", [&](const Hazard& h) {
    const Branch& worst = launch.branches.front();  // most idle lanes first
    return worst.file == h.file && worst.line == h.line && worst.counts.divergent == h.count &&
           share(worst.counts.idle, launch.warp_instructions * exec::warp_lanes) >= notable;
  });
  tell("atomic-contention", "atomics",
       [&](const Hazard& h) { return share(h.count - h.ideal, launch.warp_instructions) >= notable; });
  const uint64_t local = launch.totals.local_load.sectors + launch.totals.local_store.sectors;
  tell("local-memory", "local memory", [&](const Hazard&) {
    return share(local, local + profile::global_of(launch.totals).sectors) >= notable;
  });
  tell("register-spill", "registers", [](const Hazard&) { return true; });
}

/// Why the worst lines cost what they do, or that nothing costs too much.
void write_why(Writer& out, const Launch& launch, const std::vector<Bound>& list, bool l1_is_measured,
               Remarks& remarks) {
  const profile::Totals& t = launch.totals;
  const std::vector<Hazard> hazards = hazards_of(launch);
  const auto tell = [&](exec::AccessSpace space, const std::string& why) {
    const auto lines = lines_of(launch, space);
    if (lines.empty()) return;  // only in a report that somebody has edited
    const Line& worst = *lines.front();
    std::string what = fmt::format("Why {} ({}", place_of(worst), worst.op);
    if (!worst.variable.empty()) what += " of " + worst.variable;
    what += space == exec::AccessSpace::shared ? fmt::format(", {}-way)", worst.counters.max_way) : ")";
    what += ": " + why;
    // Layouts of shared arrays are advised below.
    const auto hazard = std::find_if(hazards.begin(), hazards.end(), [&](const Hazard& h) {
      return h.rule == rule_of(space) && h.file == worst.file && h.line == worst.line;
    });
    if (space != exec::AccessSpace::shared && hazard != hazards.end()) what += " " + hazard->advice;
    out.line();
    out.paragraph(what, 2);
  };
  if (!launch.why_shared.empty()) tell(exec::AccessSpace::shared, launch.why_shared);
  if (!launch.why_global.empty()) tell(exec::AccessSpace::global, launch.why_global);
  if (const auto lines = lines_of(launch, exec::AccessSpace::cluster);
      !lines.empty() && !lines.front()->why.empty())
    tell(exec::AccessSpace::cluster, lines.front()->why);
  const auto product = std::find_if(launch.lines.begin(), launch.lines.end(), [](const Line& line) {
    return line.kind == exec::AccessKind::group_product && !line.why.empty();
  });
  if (product != launch.lines.end()) {
    out.line();
    out.paragraph(fmt::format("At {} ({}): {}", place_of(*product), product->op, product->why), 2);
  }
  write_siblings(out, launch, hazards);
  write_advice(out, launch, list);
  if (launch.why_shared.empty() && profile::shared_of(t).requests != 0) {
    out.line();
    out.paragraph("No bank conflicts: every shared-memory request takes the fewest wavefronts it can.", 2,
                  Style::good);
  }
  uint64_t races = 0;
  const Line* race = nullptr;
  for (const Line& line : launch.lines) {
    if (line.counters.write_races != 0 && race == nullptr) race = &line;
    races += line.counters.write_races;
  }
  if (race != nullptr)
    out.paragraph(fmt::format("{} at {}{}: several lanes store to one word, and if their values differ, "
                              "which stays is undefined.",
                              counted(races, "request"), place_of(*race),
                              races != race->counters.write_races ? " and elsewhere" : ""),
                  2, Style::bad);
  if (std::any_of(launch.lines.begin(), launch.lines.end(),
                  [](const Line& line) { return line.counters.estimates != 0; }))
    remarks.write(out, "~ No rule is known for what the hardware does here: the number is an estimate.");
  if (!l1_is_measured && std::any_of(launch.lines.begin(), launch.lines.end(), meets_in_l1))
    remarks.write(
        out,
        "~ of L1 wavefronts: how lanes meet in the banks of the first-level cache is taken over from chips "
        "of 9.0, where it was measured.");
  if (std::any_of(launch.lines.begin(), launch.lines.end(), is_unknown_in_l1))
    remarks.write(
        out,
        "L1 wavefronts that are not known: how lanes of 32 bytes meet in the banks of the first-level cache "
        "has not been measured.");
}

void write_findings(Writer& out, const Launch& launch, const KernelNames& names) {
  // What a template was given fills lines; the launch's heading has it.
  constexpr size_t most_of_name = 80;
  const auto name_of = [&](const std::string& kernel) {
    const std::string name = names.of(kernel);
    return columns_of(name) <= most_of_name ? name : names.in_table(kernel, most_of_name);
  };
  for (const Finding& finding : launch.findings) {
    const bool is_error = finding.severity == exec::Finding::Severity::error;
    std::string text = is_error ? "" : fmt::format("{}: ", exec::name_of(finding.severity));
    text += finding.kind + ": ";
    if (!finding.file.empty()) text += fmt::format("{}:{}: ", finding.file, finding.line);
    text += fmt::format("{} (kernel {}, block {}, thread {}", finding.message, name_of(finding.kernel),
                        str(finding.block), str(finding.thread));
    if (finding.count > 1) text += fmt::format("; {} in all", counted(finding.count, "time"));
    out.paragraph(text + ")", 2, is_error ? Style::bad : Style::plain);
  }
}

/// "grid 4x2  block 256"; of a sum "12 grids up to 4x2  block 256".
std::string shape_of(const Shown& shown) {
  const Launch& launch = shown.launch;
  return shown.grids.empty() ? fmt::format("grid {}  block {}", extent(launch.grid), extent(launch.block))
                             : fmt::format("{} up to {}  block {}", counted(shown.grids.size(), "grid"),
                                           extent(launch.grid), extent(launch.block));
}

/// Launches beside each other: of several kernels, or of one with several grids.
class Comparison {
 public:
  explicit Comparison(const char* of)
      : table_({of, "wavefronts", "ideal", "conflicts", "sectors", "instructions"}, 1) {}

  void add(const std::string& name, const Launch& launch) {
    const profile::Counters shared = profile::shared_of(launch.totals);
    const auto number = [&](uint64_t value) { return launch.counted ? grouped(value) : std::string("-"); };
    table_.add({{name},
                {number(shared.wavefronts)},
                {number(shared.ideal)},
                {number(shared.conflicts), shared.conflicts != 0 ? Style::bad : Style::good},
                {number(profile::global_of(launch.totals).sectors)},
                {grouped(launch.warp_instructions)}});
  }
  [[nodiscard]] size_t width() const { return table_.width(); }
  void write(Writer& out) const { table_.write(out); }

 private:
  Table table_;
};

/// What each grid has of a sum.
void write_grids(Writer& out, const Grids& grids) {
  Comparison comparison("grid");
  for (size_t i = 0; i < std::min(most_rows, grids.size()); ++i)
    comparison.add(extent(grids[i]->grid), *grids[i]);
  out.line();
  comparison.write(out);
  tell_of_rest(out, grids.size(), "grid");
}

void write_launch(Writer& out, const Report& report, const Shown& shown, const KernelNames& names,
                  Remarks& remarks) {
  const Launch& launch = shown.launch;
  std::string head = fmt::format("{}  {}", names.of(launch.kernel), shape_of(shown));
  if (launch.shared_bytes != 0) head += fmt::format("  shared {}", counted(launch.shared_bytes, "byte"));
  head += "  " + report.arch;
  if (launch.launches > 1) head += fmt::format("  sum of {} launches", grouped(launch.launches));
  out.paragraph(head, 0, Style::bold);
  const char* known_from = report.is_free ? "" : knowledge(evidence_of(launch));
  if (launch.counted && (report.is_free || *known_from != '\0'))
    remarks.write(out, report.arch_description + (report.is_free ? "" : ": ") + known_from, Style::dim);
  if (launch.is_debug)
    remarks.write(out, std::string(compiled_for_a_debugger) + " Compile with -lineinfo instead.", Style::bad);
  write_shared(out, launch);
  const bool l1_is_measured = knows_l1(report);
  write_sectors(out, launch, exec::AccessSpace::global, l1_is_measured);
  write_sectors(out, launch, exec::AccessSpace::local, l1_is_measured);
  write_sectors(out, launch, exec::AccessSpace::cluster, l1_is_measured);
  write_branches(out, launch);
  if (launch.counted) {
    write_totals(out, launch);
    std::vector<Bound> least_times;
    if (const model::Chip* chip = model::chip_of(report.arch); chip != nullptr) {
      least_times = bounds(launch, rates_of(*chip));
      write_bounds(out, launch, least_times, chip->name, l1_is_measured);
      write_idle_multiprocessors(out, launch, least_times, *chip);
    }
    if (!launch.uncounted.empty()) out.paragraph("not counted: " + launch.uncounted, 2);
    write_machine(out, launch);
    if (!launch.lines.empty()) write_why(out, launch, least_times, l1_is_measured, remarks);
  } else {
    const uint64_t instructions = launch.warp_instructions;
    out.paragraph((instructions == 0 ? "" : counted(instructions, "warp instruction") + "; ") +
                      "accesses were not counted",
                  2);
    write_machine(out, launch);
  }
  if (!launch.findings.empty()) {
    out.line();
    write_findings(out, launch, names);
  }
  if (launch.failed) out.paragraph("The kernel failed: its results are not to be trusted.", 2, Style::bad);
  if (!shown.grids.empty()) write_grids(out, shown.grids);
}

void write_comparison(Writer& out, const std::vector<Shown>& all, const KernelNames& names) {
  constexpr size_t least = 8;
  Comparison without_names("");
  std::map<std::string, size_t> launches;
  for (const Shown& shown : all) {
    without_names.add("", shown.launch);
    ++launches[shown.launch.kernel];
  }
  out.line("Side by side: shared memory, global sectors, warp instructions", Style::bold);
  Comparison comparison("kernel");
  for (const Shown& shown : all) {
    const std::string& kernel = shown.launch.kernel;
    const bool is_one = launches[kernel] == 1 && shown.grids.empty();
    const std::string shape = is_one ? "" : "  " + shape_of(shown);
    const size_t taken = without_names.width() + columns_of(shape);
    const size_t left = std::max(least, out.width() - std::min(out.width(), taken));
    comparison.add(names.in_table(kernel, left) + shape, shown.launch);
  }
  comparison.write(out);
}

void write_allowed(Writer& out, const Report& report) {
  bool first = true;
  for (const Hazard& hazard : hazards_of(with_grids_summed(report))) {
    if (!hazard.allowed) continue;
    if (first) {
      out.line();
      out.paragraph("Allowed by comments in the source", 0, Style::bold);
    }
    first = false;
    out.paragraph(fmt::format("{}:{}: {}{}{} ({} {}{})", hazard.file, hazard.line, hazard.rule,
                              hazard.allowed_by.empty() ? "" : ": ", hazard.allowed_by, grouped(hazard.count),
                              hazard.unit, hazard.ideal == 0 ? "" : " instead of " + grouped(hazard.ideal)),
                  2);
  }
}

}  // namespace

std::string in_words(const advise::Advice& a) {
  const auto change = [](uint64_t before, uint64_t after) {
    return before == after ? fmt::format("{} as before", grouped(after))
                           : fmt::format("{} → {}", grouped(before), grouped(after));
  };
  std::string text = fmt::format(
      "{}. Reason: {}. Wavefronts of {}: {} → {}{}, {} of the kernel's shared-memory work less. Bytes of "
      "shared memory a block: {}",
      a.change, a.reason, a.variable, grouped(a.wavefronts_before), a.estimate ? "about " : "",
      grouped(a.wavefronts_after), percent(a.wavefronts_before - a.wavefronts_after, a.launch_wavefronts),
      change(a.shared_bytes_before, a.shared_bytes_after));
  if (a.occupancy_known)
    text += fmt::format("; blocks on a multiprocessor: {} (limit: {}{})",
                        change(static_cast<uint64_t>(a.occupancy_before.blocks),
                               static_cast<uint64_t>(a.occupancy_after.blocks)),
                        advise::name_of(a.occupancy_after.limiter),
                        a.registers_known ? "" : "; registers unknown");
  text += ".";
  if (a.kind == advise::Advice::Kind::layout && !a.pitch_from.empty())
    text += fmt::format(" Rows are known from {}.", a.pitch_from);
  return text;
}

std::string to_text(const Report& report, const TextOptions& options) {
  Writer out(options);
  for (const std::string& note : report.notes) out.paragraph(note, 0, Style::dim);
  const std::vector<Shown> all = with_sums(report, most_grids);
  std::set<std::string> kernels;
  for (const Shown& shown : all) kernels.insert(shown.launch.kernel);
  const KernelNames names(kernels);
  Remarks remarks;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i != 0 || !report.notes.empty()) out.line();
    write_launch(out, report, all[i], names, remarks);
  }
  if (all.size() > 1) {
    out.line();
    write_comparison(out, all, names);
  }
  if (!report.copies.empty()) {
    if (!report.launches.empty()) out.line();
    out.paragraph("Copies", 0, Style::bold);
  }
  for (const Copies& copies : report.copies) {
    std::string text = fmt::format("{}: {}, {}", copies.direction, counted(copies.count, "copy"),
                                   counted(copies.bytes, "byte"));
    if (copies.pageable != 0)
      text += fmt::format("; {} with host memory that is not pinned", grouped(copies.pageable));
    if (copies.repeated != 0)
      text += fmt::format("; {} brought what was already there ({})", grouped(copies.repeated),
                          counted(copies.repeated_bytes, "byte"));
    if (copies.independent != 0)
      text += fmt::format("; {} could run beside the kernel before ({})", grouped(copies.independent),
                          counted(copies.independent_bytes, "byte"));
    out.paragraph(text, 2);
  }
  write_allowed(out, report);
  return std::move(out).str();
}

}  // namespace lanescope::report
