// Makes the report of a launch from what was counted and what the program's text says.
#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/explain.hpp"
#include "report/findings.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

uint64_t excess_of(const Line& line) {
  return line.space == exec::AccessSpace::shared
             ? line.counters.wavefronts - std::min(line.counters.ideal, line.counters.wavefronts)
             : line.counters.sectors - line.counters.ideal_sectors;
}

/// Shared before global before local memory; most over the ideal first, then most at all.
bool comes_before(const Line& a, const Line& b) {
  if (a.space != b.space) return a.space < b.space;
  if (excess_of(a) != excess_of(b)) return excess_of(a) > excess_of(b);
  const auto all = [](const Line& line) {
    return line.space == exec::AccessSpace::shared ? line.counters.wavefronts : line.counters.sectors;
  };
  return all(a) > all(b);
}

std::string source_of(const ptx::Module& module, const NamedPlace& place, advise::Sources& sources) {
  if (place.in_source) return sources.line(place.file, place.line);
  std::string_view text = module.text_line(place.line);
  const size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin));
}

std::string name_of_variable(const exec::Kernel& kernel, uint32_t variable) {
  return variable < kernel.shared.size() ? kernel.shared[variable].name : "";
}

/// "line 12", "lines 12, 14"; the file, too, where it is another one than `here`.
std::string lines_in_words(const std::set<std::pair<std::string, uint32_t>>& places,
                           const std::string& here) {
  std::string text = places.size() == 1 ? "line " : "lines ";
  for (const auto& [file, line] : places) {
    if (text.back() != ' ') text += ", ";
    text += (file == here ? "" : file + ":") + std::to_string(line);
  }
  return text;
}

/// Fills in what the assembler makes of a line's instructions.
void explain_merging(Line& line, const std::vector<uint32_t>& sites, const ptx::Module& module,
                     const exec::Kernel& kernel, const merge::Plan& plan) {
  using Kind = merge::Fate::Kind;
  std::set<uint32_t> bits;
  std::set<std::pair<std::string, uint32_t>> with, known;
  bool combined = false;
  bool merged = false, unused = false, overwritten = false, narrowed = false, is_known = false;
  for (const uint32_t site : sites) {
    const merge::Fate& fate = plan.fates[site];
    if (line.doubt.empty()) line.doubt = fate.doubt;
    merged |= fate.kind == Kind::merged;
    unused |= fate.kind == Kind::unused;
    overwritten |= fate.kind == Kind::overwritten;
    narrowed |= fate.kind == Kind::narrowed;
    combined |= fate.kind == Kind::combined;
    is_known |= fate.kind == Kind::known;
    if (fate.kind == Kind::merged) bits.insert(fate.bits);
    for (const uint32_t other : fate.with) {
      const NamedPlace place =
          named(module, kernel, profile::place_of(module, kernel.origins[kernel.accesses[other].origin]));
      if (place.file != line.file || place.line != line.line)
        (fate.kind == Kind::known ? known : with).emplace(place.file, place.line);
    }
  }
  const auto add = [&](const std::string& part) { line.merged += (line.merged.empty() ? "" : "; ") + part; };
  if (merged) {
    std::string widths;
    for (const uint32_t width : bits) widths += (widths.empty() ? "" : " and ") + std::to_string(width);
    add("merged into " + widths + "-bit accesses" +
        (with.empty() ? "" : " with " + lines_in_words(with, line.file)));
  }
  if (is_known)
    add("already in a register" + (known.empty() ? "" : " since " + lines_in_words(known, line.file)));
  if (narrowed) add("only the words that are used are loaded");
  if (combined) add("lanes that meet in one word are put together");
  if (unused) add("not loaded: nothing uses it");
  if (overwritten) add("not stored: overwritten at once");
}

/// The counters of Nsight Compute (l1tex__…) and of nvprof that the addresses of a program determine;
/// docs/report.md.
std::vector<std::pair<std::string, uint64_t>> metrics_of(const profile::Totals& t) {
  std::vector<std::pair<std::string, uint64_t>> metrics;
  const auto add = [&](std::string name, uint64_t value) { metrics.emplace_back(std::move(name), value); };
  const auto shared = [&](const char* suffix, const profile::Counters& c) {
    add(fmt::format("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum", suffix), c.conflicts);
    add(fmt::format("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum", suffix), c.wavefronts);
  };
  shared("ld", t.shared_load);
  shared("st", t.shared_store);
  const auto global = [&](const char* suffix, const profile::Counters& c) {
    add(fmt::format("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", suffix), c.requests);
    add(fmt::format("l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum", suffix), c.sectors);
  };
  global("ld", t.global_load);
  global("st", t.global_store);
  add("shared_load", t.shared_load.requests);
  add("shared_store", t.shared_store.requests);
  add("shared_ld_bank_conflict", t.shared_load.conflicts);
  add("shared_st_bank_conflict", t.shared_store.conflicts);
  add("shared_load_transactions", t.shared_load.wavefronts);
  add("shared_store_transactions", t.shared_store.wavefronts);
  add("gld_request", t.global_load.requests);
  add("gst_request", t.global_store.requests);
  add("gld_transactions", t.global_load.transactions);
  add("gst_transactions", t.global_store.transactions);
  return metrics;
}

/// Whether the model serves lanes of both halves of a 64-lane wave together in some width.
bool halves_meet(const model::Arch& arch) {
  constexpr uint64_t low = 0xffffffffu;
  for (const auto* phases : {arch.load, arch.store}) {
    for (int width = 0; width < model::width_count; ++width) {
      const model::Phases& p = phases[width];
      if (p.lanes_each > 32) return true;
      for (int i = 0; i < p.listed; ++i)
        if ((p.list[i] & low) != 0 && (p.list[i] & ~low) != 0) return true;
    }
  }
  return false;
}

}  // namespace

Report make_report(const model::Arch& arch) {
  Report report;
  report.arch = arch.name;
  report.arch_description = arch.description;
  report.is_free = report.arch == model::Arch{}.name;
  if (report.is_free)
    report.arch_description =
        fmt::format("free architecture: {} banks of {} bits, {} lanes scheduled together", arch.banks,
                    8 * arch.bank_bytes, arch.load[model::width_index(arch.bank_bytes)].unit);
  if (arch.warp_lanes > 32) {
    report.notes.emplace_back(halves_meet(arch)
                                  ? "Waves of 64 lanes are counted as two halves of 32 lanes "
                                    "each. On this architecture some accesses serve "
                                    "lanes of both halves together: their wavefronts and ideals "
                                    "are those of halves that come one by one."
                                  : "Waves of 64 lanes are counted as two halves of 32 lanes "
                                    "each; on this architecture the banks never "
                                    "serve lanes of both halves together, so the wavefronts are "
                                    "those of whole waves. Requests are of halves.");
  }
  return report;
}

Launch make_launch(const model::Arch& arch, const ptx::Module& module, const exec::Kernel& kernel,
                   const exec::LaunchConfig& config, const exec::LaunchResult& result,
                   const std::optional<profile::Profile>& profile, advise::Sources& sources, int registers,
                   const merge::Plan* plan) {
  Launch launch;
  launch.kernel = kernel.display_name.empty() ? kernel.name : kernel.display_name;
  launch.grid = config.grid;
  launch.block = config.block;
  launch.shared_bytes = uint64_t{kernel.static_shared} + config.dynamic_shared;
  launch.warp_instructions = result.warp_instructions;
  launch.failed = result.failed;
  launch.counted = profile.has_value();
  launch.findings = make_findings(module, kernel, config, result);
  if (!profile) return launch;
  launch.merges = plan != nullptr;

  launch.totals = profile::totals(*profile);
  launch.metrics = metrics_of(launch.totals);
  for (const profile::LineCounters& counted : profile::by_line(module, kernel, *profile)) {
    const NamedPlace place = named(module, kernel, counted.place);
    Line line;
    line.file = place.file;
    line.line = place.line;
    line.op = counted.op;
    line.variable = name_of_variable(kernel, counted.variable);
    line.space = counted.space;
    line.counters = counted.counters;
    line.worst = counted.worst;
    line.source = source_of(module, place, sources);
    if (plan != nullptr && line.space == exec::AccessSpace::shared)
      explain_merging(line, counted.sites, module, kernel, *plan);
    launch.lines.push_back(std::move(line));
  }
  std::stable_sort(launch.lines.begin(), launch.lines.end(), comes_before);
  for (const profile::VariableCounters& variable : profile::by_variable(*profile))
    launch.variables.push_back({name_of_variable(kernel, variable.variable), variable.counters});

  for (const Line& line : launch.lines) {
    if (excess_of(line) == 0) continue;
    if (line.space == exec::AccessSpace::shared && launch.why_shared.empty())
      launch.why_shared = explain_shared(arch, line.worst, config.grid);
    if (line.space == exec::AccessSpace::global && launch.why_global.empty())
      launch.why_global = explain_global(arch, line.worst, config.grid);
  }
  launch.advice = advise::advise(
      {arch, module, kernel, config.block, static_cast<uint32_t>(launch.shared_bytes), registers, *profile},
      sources);
  return launch;
}

bool has_errors(const Launch& launch) {
  return std::any_of(launch.findings.begin(), launch.findings.end(), [](const Finding& finding) {
    return finding.severity == exec::name_of(exec::Finding::Severity::error);
  });
}

model::Evidence evidence_of(const Launch& launch) {
  model::Evidence evidence = model::Evidence::measured;
  for (const Line& line : launch.lines) evidence = model::less_sure(evidence, line.counters.evidence);
  return evidence;
}

const char* name_of(model::Evidence evidence) {
  switch (evidence) {
    case model::Evidence::measured: return "measured";
    case model::Evidence::vendor_guide: return "vendor guide";
    case model::Evidence::third_party: return "third party";
    case model::Evidence::assumed: break;
  }
  return "assumed";
}

const char* knowledge(model::Evidence evidence) {
  switch (evidence) {
    case model::Evidence::measured: return "";
    case model::Evidence::vendor_guide: return "rules from the vendor's guide, not measured";
    case model::Evidence::third_party: return "rules from measurements by others";
    case model::Evidence::assumed: break;
  }
  return "some rules are carried over from a neighbouring architecture or width, not measured";
}

exec::Dim3 coordinates(uint64_t index, const exec::Dim3& extent) {
  const uint64_t row = index / extent.x;
  return {static_cast<uint32_t>(index % extent.x), static_cast<uint32_t>(row % extent.y),
          static_cast<uint32_t>(row / extent.y)};
}

std::string str(const exec::Dim3& at) { return fmt::format("({},{},{})", at.x, at.y, at.z); }

std::string extent(const exec::Dim3& size) {
  std::string text = grouped(size.x);
  if (size.y != 1 || size.z != 1) text += "x" + grouped(size.y);
  if (size.z != 1) text += "x" + grouped(size.z);
  return text;
}

}  // namespace lanescope::report
