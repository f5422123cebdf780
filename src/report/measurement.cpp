// See measurement.hpp.
#include "report/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/median.hpp"
#include "lanescope/model/archs.hpp"
#include "profile/sums.hpp"
#include "report/bounds.hpp"
#include "report/json_text.hpp"
#include "report/metrics.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

using Json = nlohmann::ordered_json;
using Verdict = CounterComparison::Verdict;

constexpr std::string_view wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_";
constexpr std::string_view conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_";
/// Of code that ncu adds to the kernel. smsp__inst_executed_op_shared_*_pred_on_any, which the hardware
/// counts, holds a few of the instructions that no lane executes, not as many in each launch, and none that
/// name no address space (H100).
constexpr std::string_view instructions = "smsp__sass_inst_executed_op_shared_";

constexpr const char* data_stage_wavefronts = "l1tex__data_pipe_lsu_wavefronts.sum";
constexpr const char* executed_instructions = "smsp__inst_executed.sum";

/// In the order of the table.
constexpr std::array predicted_counters{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                        "smsp__sass_inst_executed_op_shared_ld.sum",
                                        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
                                        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
                                        "smsp__sass_inst_executed_op_shared_st.sum",
                                        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
                                        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
                                        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                                        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
                                        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                        data_stage_wavefronts,
                                        executed_instructions};

constexpr const char* copy_conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum";
constexpr const char* cluster_requests = "l1tex__t_requests_pipe_lsu_mem_dshared.sum";
constexpr const char* cluster_sectors = "l1tex__t_sectors_pipe_lsu_mem_dshared.sum";
/// What older chips do not have, and ncu then does not know: asked for where a launch has such accesses.
constexpr std::array copy_counters{copy_conflicts, "smsp__inst_executed_op_ldgsts_pred_on_any.sum"};
constexpr std::array hopper_counters{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",
                                     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum",
                                     "smsp__inst_executed_op_tma_ld_pred_on_any.sum",
                                     "smsp__inst_executed_op_tma_st_pred_on_any.sum",
                                     "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum",
                                     "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum",
                                     "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum",
                                     cluster_requests,
                                     cluster_sectors};
struct Unpredicted {
  const char *name, *description;
};
constexpr std::array unpredicted_counters{
    Unpredicted{"dram__bytes_read.sum", "Bytes read from memory, caches empty before"},
    Unpredicted{"dram__bytes_write.sum", "Bytes written to memory"}};

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }
double most(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

const Metric& metric_of(const std::string& name) {
  constexpr std::array tools{Metric::Tool::ncu};
  return *find_metrics(name, tools).front();
}

/// Wavefronts without conflicts, of each run: what the accesses need by themselves.
std::vector<double> phases(const MeasuredLaunch& launch, std::string_view op) {
  const auto found_wavefronts = launch.counters.find(fmt::format("{}{}.sum", wavefronts, op));
  const auto found_conflicts = launch.counters.find(fmt::format("{}{}.sum", conflicts, op));
  if (found_wavefronts == launch.counters.end() || found_conflicts == launch.counters.end()) return {};
  std::vector<double> list;
  for (size_t i = 0; i < std::min(found_wavefronts->second.size(), found_conflicts->second.size()); ++i)
    list.push_back(found_wavefronts->second[i] - found_conflicts->second[i]);
  return list;
}

/// What the report says of lines where the assembler may do otherwise.
std::string doubts(const Launch& launch, exec::AccessKind kind) {
  for (const Line& line : launch.lines)
    if (line.space == exec::AccessSpace::shared &&
        (line.kind == kind || (is_atomic(line.kind) && is_atomic(kind))) && !line.doubt.empty())
      return fmt::format(" (line {}: {})", line.line, line.doubt);
  return "";
}

/// The accesses of one kind to shared memory.
struct SharedKind {
  std::string_view op;
  exec::AccessKind kind;
  const profile::Counters& counters;
};

void explain(CounterComparison& c, const MeasuredLaunch& launch) {
  const auto set = [&](Verdict verdict, std::string why) {
    c.verdict = verdict;
    c.why = std::move(why);
  };
  const double predicted = *c.predicted;
  if (c.least == predicted && c.most == predicted) return set(Verdict::equal, "");
  if (c.least <= predicted && predicted <= c.most)
    return set(Verdict::within, "between the least and the most of several launches");
  if (c.name == executed_instructions)
    return set(Verdict::estimate, "the machine code has other instructions than the PTX");
  if (c.name == data_stage_wavefronts && c.least >= predicted)
    return set(Verdict::estimate,
               "at least: accesses that wait, lines that are not in the cache and stores to many take more");
  const profile::Totals& totals = launch.predicted.totals;
  if (c.name.find("_op_tma_ld") != std::string::npos && totals.bulk_load.estimates != 0)
    return set(Verdict::estimate, "boxes that lie partly outside of their tensor are an estimate");
  if (c.name == cluster_sectors && c.least >= predicted &&
      c.most <= predicted + static_cast<double>(totals.cluster_atomic.requests))
    return set(Verdict::estimate, "some atomic operations ask for one sector more");
  if (c.name == cluster_requests && c.least >= predicted)
    return set(Verdict::estimate, "arrivals at mbarriers of other blocks count, too");
  // Waiting differs from launch to launch; what is always the same is something else.
  const size_t runs = launch.counters.at(c.name).size();
  const bool may_wait = c.least >= predicted && (c.least != c.most || runs == 1);
  const auto wait = [&] {
    set(Verdict::arbitration, "the same accesses, which waited for those of other warps");
  };
  if (c.name == copy_conflicts && may_wait) return wait();
  const std::array<SharedKind, 3> kinds{{{"ld", exec::AccessKind::load, totals.shared_load},
                                         {"st", exec::AccessKind::store, totals.shared_store},
                                         {"atom", exec::AccessKind::atomic, totals.shared_atomic}}};
  for (const SharedKind& kind : kinds) {
    const bool is_instructions = c.name == fmt::format("{}{}.sum", instructions, kind.op);
    if (!is_instructions && c.name != fmt::format("{}{}.sum", wavefronts, kind.op) &&
        c.name != fmt::format("{}{}.sum", conflicts, kind.op))
      continue;
    const auto expected = static_cast<double>(kind.counters.wavefronts - kind.counters.conflicts);
    const std::vector<double> needed = phases(launch, kind.op);
    const bool same = !needed.empty() && least(needed) == expected && most(needed) == expected;
    if (!same)
      return set(Verdict::merging,
                 fmt::format("the assembler made other accesses than was predicted{}; see docs/merging.md",
                             doubts(launch.predicted, kind.kind)));
    if (!is_instructions && may_wait) return wait();
  }
  set(Verdict::unexplained, "");
}

std::string bandwidth_text(double bytes_per_second) {
  return fmt::format("{:.0f} GB/s", bytes_per_second * 1e-9);
}
std::string share_text(double share) { return fmt::format("{:.1f}%", 100 * share); }

double copy_bandwidth(const replay::Outcome& outcome) {
  const double seconds = median_of(outcome.copy_seconds);
  return seconds == 0 ? 0 : 2 * static_cast<double>(outcome.copy_bytes) / seconds;
}

const char* verdict_of(const MeasuredLaunch& launch) {
  const auto& differences = launch.outcome.differences;
  if (!launch.obstacle.empty()) return "not run";
  if (!launch.outcome.failure.empty()) return "failed";
  if (differences.empty()) return "equal";
  return is_wrong(launch) ? "different" : "close";
}

std::string describe(const replay::Difference& d) {
  std::string text = fmt::format("{}: {} of {} {} differ", d.name, grouped(d.different), grouped(d.elements),
                                 d.element.ends_with("bytes") ? "words of " + d.element : d.element);
  if (d.largest) text += fmt::format(", by at most {:.2g} of their size", *d.largest);
  return text + fmt::format("; the first is element {} (0x{:x}): the engine has {}, the GPU {}",
                            grouped(d.first), d.address, d.expected, d.found);
}

/// A text with what it is about before its first line.
void item(Writer& out, std::string_view label, const std::string& text, Style style = Style::plain) {
  constexpr size_t indent = 15;
  for (const std::string& part : wrapped(printable(text), out.width() - indent)) {
    out.line(fmt::format("  {:<13}{}", label, part), style);
    label = "";
  }
}

void write_results(Writer& out, const MeasuredLaunch& launch) {
  const replay::Outcome& outcome = launch.outcome;
  if (!outcome.failure.empty()) return item(out, "on the GPU", "failed: " + outcome.failure, Style::bad);
  const std::string bytes = grouped(outcome.bytes_compared) + " bytes compared";
  if (outcome.differences.empty())
    item(out, "results", fmt::format("equal to the engine's in every bit ({})", bytes), Style::good);
  else if (!is_wrong(launch))
    item(out, "results",
         fmt::format("equal within the tolerance, as the order of additions and the assembler's joining of "
                     "products and sums allow ({})",
                     bytes));
  else
    item(out, "results", fmt::format("DIFFERENT from the engine's ({})", bytes), Style::bad);
  for (const replay::Difference& d : outcome.differences) item(out, "", describe(d));
}

Rates gpu_rates(const MeasuredLaunch& launch, const replay::Gpu& gpu) {
  const model::Arch* arch = model::find_arch(gpu.arch);
  return {gpu.multiprocessors, gpu.clock_hz, copy_bandwidth(launch.outcome),
          arch != nullptr && arch->l1_in_banks ? model::warp_instructions_per_cycle : 0};
}

/// The bound as the end of a sentence that begins with its time.
std::string words_of(const Bound& bound, const MeasuredLaunch& launch, const replay::Gpu& gpu) {
  switch (bound.kind) {
    case Bound::Kind::memory: return "if every sector comes from memory at the copy's bandwidth";
    case Bound::Kind::data_stage: {
      const model::Arch* arch = model::find_arch(gpu.arch);
      const bool is_sure = arch != nullptr && arch->l1_evidence == model::Evidence::measured;
      const uint64_t shared = profile::shared_of(launch.predicted.totals).wavefronts;
      std::vector<std::string> parts;
      if (shared != 0) parts.push_back(counted(shared, "wavefront") + " of shared memory");
      const uint64_t shuffles = launch.predicted.shuffles;
      if (shuffles != 0) parts.push_back(counted(shuffles, "wavefront") + " of shuffles");
      if (shared + shuffles < bound.count)
        parts.push_back(fmt::format("{}{} of the first-level cache", is_sure ? "" : "about ",
                                    counted(bound.count - shared - shuffles, "wavefront")));
      return fmt::format(
          "for {}, one a cycle on each of {}", fmt::join(parts, " and "),
          counted(multiprocessors_of(launch.predicted, gpu_rates(launch, gpu)), "multiprocessor"));
    }
    case Bound::Kind::without_conflicts:
      return fmt::format("for the {} of them that would be left without conflicts", grouped(bound.count));
    case Bound::Kind::issue:
      return fmt::format("to issue about {}, {} a cycle", counted(bound.count, "instruction"),
                         model::warp_instructions_per_cycle);
  }
  return "";
}

void write_times(Writer& out, const MeasuredLaunch& launch, const replay::Gpu& gpu) {
  const replay::Outcome& outcome = launch.outcome;
  if (outcome.seconds.empty()) return;
  const double seconds = median_of(outcome.seconds), copy = copy_bandwidth(outcome);
  item(out, "time",
       fmt::format("{} (median of {} launches, {} … {}); a kernel that does nothing {}",
                   seconds_text(seconds), outcome.seconds.size(), seconds_text(least(outcome.seconds)),
                   seconds_text(most(outcome.seconds)), seconds_text(median_of(outcome.empty_seconds))));
  item(out, "copy",
       fmt::format("{} ({} bytes inside the GPU's memory, in the same process)", bandwidth_text(copy),
                   grouped(outcome.copy_bytes)));
  if (!launch.predicted.counted) return;
  if (const uint64_t bytes = sector_bytes(launch.predicted); bytes != 0) {
    const double bandwidth = static_cast<double>(bytes) / seconds;
    item(out, "bandwidth",
         fmt::format("{} of the sectors asked for ({} bytes), {} of the copy's", bandwidth_text(bandwidth),
                     grouped(bytes), share_text(bandwidth / copy)));
    if (bandwidth > copy)
      item(out, "",
           fmt::format("more than memory gives: caches answered at least {} of it",
                       share_text(1 - copy / bandwidth)));
  }
  for (const Bound& bound : bounds(launch.predicted, gpu_rates(launch, gpu)))
    item(out, "bound",
         fmt::format("{} {}: {} of the time", seconds_text(bound.seconds), words_of(bound, launch, gpu),
                     share_text(bound.seconds / seconds)));
}

void write_counters(Writer& out, const MeasuredLaunch& launch) {
  const std::vector<CounterComparison> rows = compare_counters(launch);
  if (rows.empty()) return;
  size_t runs = 0;
  for (const auto& [name, values] : launch.counters) runs = std::max(runs, values.size());
  const auto number = [](double value) { return grouped(static_cast<uint64_t>(std::llround(value))); };
  Table table({"counter", "predicted", fmt::format("measured ({} launches)", runs), "difference"}, 1);
  for (const CounterComparison& c : rows) {
    const bool is_bad = c.verdict == Verdict::unexplained;
    std::vector<std::string> below{c.name};
    if (!c.why.empty()) below.push_back("→ " + c.why);
    table.add({{c.description},
               {c.predicted ? number(*c.predicted) : ""},
               {c.least == c.most ? number(c.least) : number(c.least) + " … " + number(c.most)},
               {name_of(c.verdict), is_bad ? Style::bad : Style::plain}},
              below);
  }
  table.write(out);
}

Json json_of(const MeasuredLaunch& launch, const replay::Gpu& gpu) {
  const Launch& p = launch.predicted;
  const replay::Outcome& outcome = launch.outcome;
  Json json{{"kernel", p.kernel},
            {"grid", {p.grid.x, p.grid.y, p.grid.z}},
            {"block", {p.block.x, p.block.y, p.block.z}},
            {"verdict", verdict_of(launch)},
            {"obstacle", launch.obstacle.empty() ? outcome.failure : launch.obstacle},
            {"notes", outcome.notes},
            {"bytes_compared", outcome.bytes_compared}};
  Json differences = Json::array(), limits = Json::array(), counters = Json::array();
  for (const replay::Difference& d : outcome.differences) differences.push_back(replay::to_json(d));
  json["differences"] = std::move(differences);
  const double seconds = median_of(outcome.seconds), copy = copy_bandwidth(outcome);
  if (!outcome.seconds.empty()) {
    json["seconds"] = {{"median", seconds},
                       {"least", least(outcome.seconds)},
                       {"most", most(outcome.seconds)},
                       {"runs", outcome.seconds.size()},
                       {"empty_kernel", median_of(outcome.empty_seconds)}};
    json["copy"] = {
        {"bytes", outcome.copy_bytes}, {"seconds", median_of(outcome.copy_seconds)}, {"bandwidth", copy}};
    const auto bytes = static_cast<double>(sector_bytes(p));
    json["global"] = {{"bytes", sector_bytes(p)},
                      {"bandwidth", bytes / seconds},
                      {"share_of_copy", bytes / seconds / copy}};
    for (const Bound& bound : bounds(p, gpu_rates(launch, gpu)))
      limits.push_back({{"name", words_of(bound, launch, gpu)},
                        {"kind", name_of(bound.kind)},
                        {"count", bound.count},
                        {"seconds", bound.seconds},
                        {"share", bound.seconds / seconds}});
  }
  json["bounds"] = std::move(limits);
  for (const CounterComparison& c : compare_counters(launch))
    counters.push_back({{"name", c.name},
                        {"predicted", c.predicted ? Json(*c.predicted) : Json(nullptr)},
                        {"least", c.least},
                        {"most", c.most},
                        {"runs", launch.counters.at(c.name)},
                        {"verdict", name_of(c.verdict)},
                        {"why", c.why}});
  json["counters"] = std::move(counters);
  return json;
}

}  // namespace

std::vector<std::vector<std::string>> measured_counters(std::span<const MeasuredLaunch> launches) {
  std::vector<std::vector<std::string>> groups(2);
  for (const std::string name : predicted_counters) {
    const bool is_first = name.ends_with("_mem_shared_op_ld.sum") || name.ends_with("_mem_shared_op_st.sum");
    groups[is_first ? 0 : 1].push_back(name);
  }
  for (const Unpredicted& u : unpredicted_counters) groups[1].emplace_back(u.name);
  const auto add_if_any = [&](std::span<const char* const> names) {
    const bool any = std::any_of(names.begin(), names.end(), [&](const char* name) {
      const Metric& metric = metric_of(name);
      return std::any_of(launches.begin(), launches.end(), [&](const MeasuredLaunch& launch) {
        return launch.predicted.counted && metric.value(launch.predicted) != 0;
      });
    });
    if (any) groups.emplace_back(names.begin(), names.end());
  };
  add_if_any(copy_counters);
  add_if_any(hopper_counters);
  return groups;
}

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::equal: return "equal";
    case Verdict::within: return "within noise";
    case Verdict::arbitration: return "arbitration";
    case Verdict::merging: return "merging";
    case Verdict::estimate: return "estimate";
    case Verdict::alone: return "";
    case Verdict::unexplained: break;
  }
  return "UNEXPLAINED";
}

std::vector<CounterComparison> compare_counters(const MeasuredLaunch& launch) {
  std::vector<CounterComparison> rows;
  if (!launch.predicted.counted) return rows;
  const auto values_of = [&](const std::string& name) -> const std::vector<double>* {
    const auto found = launch.counters.find(name);
    return found == launch.counters.end() || found->second.empty() ? nullptr : &found->second;
  };
  const auto compare = [&](std::span<const char* const> names) {
    for (const std::string name : names) {
      const std::vector<double>* values = values_of(name);
      if (values == nullptr) continue;
      const Metric& metric = metric_of(name);
      CounterComparison c;
      c.name = name;
      c.description = metric.description;
      c.predicted = metric.value(launch.predicted);
      c.least = least(*values);
      c.most = most(*values);
      if (c.most == 0 && c.predicted == 0) continue;  // the kernel has none of this
      explain(c, launch);
      rows.push_back(std::move(c));
    }
  };
  compare(predicted_counters);
  compare(copy_counters);
  compare(hopper_counters);
  for (const Unpredicted& u : unpredicted_counters)
    if (const std::vector<double>* values = values_of(u.name))
      rows.push_back(
          {u.name, u.description, std::nullopt, least(*values), most(*values), Verdict::alone, ""});
  return rows;
}

bool is_wrong(const MeasuredLaunch& launch) {
  const auto& differences = launch.outcome.differences;
  if (!launch.obstacle.empty()) return false;
  return !launch.outcome.failure.empty() ||
         std::any_of(differences.begin(), differences.end(), [](const auto& d) { return !d.is_close; });
}

std::string to_text(const Measurement& measurement, const TextOptions& options) {
  Writer out(options);
  const replay::Gpu& gpu = measurement.gpu;
  out.line(fmt::format("{} ({}, CUDA {}): {} multiprocessors at {:.0f} MHz at most", gpu.name, gpu.arch,
                       gpu.cuda, gpu.multiprocessors, gpu.clock_hz * 1e-6),
           Style::bold);
  if (measurement.arch != gpu.arch)
    out.paragraph(fmt::format("Predictions are for {}, not for this GPU ({}).", measurement.arch, gpu.arch),
                  0, Style::bad);
  if (!measurement.no_counters.empty()) out.paragraph("No hardware counters: " + measurement.no_counters, 0);
  for (const std::string& note : measurement.notes) out.paragraph(note, 0);
  for (const MeasuredLaunch& launch : measurement.launches) {
    const Launch& p = launch.predicted;
    out.line();
    out.line(fmt::format("{}  grid {}  block {}", printable(p.kernel), extent(p.grid), extent(p.block)),
             Style::bold);
    if (!launch.obstacle.empty()) {
      out.paragraph("not run on the GPU: " + launch.obstacle, 2, Style::bad);
      continue;
    }
    for (const std::string& note : launch.outcome.notes) out.paragraph(note, 2);
    write_results(out, launch);
    write_times(out, launch, gpu);
    write_counters(out, launch);
  }
  return std::move(out).str();
}

std::string to_json(const Measurement& measurement) {
  const replay::Gpu& gpu = measurement.gpu;
  Json launches = Json::array();
  for (const MeasuredLaunch& launch : measurement.launches) launches.push_back(json_of(launch, gpu));
  return json_text({{"schema", 1},
                    {"gpu",
                     {{"name", gpu.name},
                      {"arch", gpu.arch},
                      {"cuda", gpu.cuda},
                      {"multiprocessors", gpu.multiprocessors},
                      {"clock_hz", gpu.clock_hz},
                      {"l2_bytes", gpu.l2_bytes}}},
                    {"arch", measurement.arch},
                    {"no_counters", measurement.no_counters},
                    {"notes", measurement.notes},
                    {"launches", std::move(launches)}});
}

}  // namespace lanescope::report
