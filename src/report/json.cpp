// The report as JSON.
#include "report/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/bounds.hpp"
#include "report/hazards.hpp"
#include "report/json_text.hpp"

namespace lanescope::report {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const exec::Dim3& at) { return Json::array({at.x, at.y, at.z}); }

std::string hex(uint32_t mask) { return fmt::format("0x{:08x}", mask); }

Json json_of(const profile::Example& worst, const exec::Dim3& grid) {
  const auto of_lanes = [&](const auto& values) {
    Json list = Json::array();
    for (uint32_t lane = 0; lane < 32; ++lane)
      list.push_back((worst.mask >> lane & 1) != 0 ? Json(values[lane]) : Json(nullptr));
    return list;
  };
  Json json{{"block", json_of(coordinates(worst.block, grid))},
            {"warp", worst.warp},
            {"mask", hex(worst.mask)},
            {"width", worst.width},
            {"addresses", of_lanes(worst.address)}};
  if (worst.has_destination()) json["destinations"] = of_lanes(worst.destination);
  return json;
}

Json json_of(const std::vector<Permission>& allowed) {
  Json list = Json::array();
  for (const Permission& p : allowed) list.push_back({{"rule", p.rule}, {"reason", p.reason}});
  return list;
}

Json histogram(const profile::Counters& counters) {
  Json ways = Json::object();
  for (size_t way = 1; way < counters.ways.size(); ++way)
    if (counters.ways[way] != 0) ways[std::to_string(way)] = counters.ways[way];
  return ways;
}

Json json_of(const profile::UpdateLoops& loops) {
  if (loops.loads == 0) return nullptr;
  return Json{{"repeats", loops.repeats},
              {"loads", loops.loads},
              {"load_wavefronts", loops.load_wavefronts},
              {"load_ideal", loops.load_ideal},
              {"load_conflicts", loops.load_conflicts}};
}

Json json_of(const Line& line, const exec::Dim3& grid) {
  const profile::Counters& c = line.counters;
  return Json{{"file", line.file},
              {"line", line.line},
              {"op", line.op},
              {"variable", line.variable},
              {"instructions", c.instructions},
              {"requests", c.requests},
              {"wavefronts", c.wavefronts},
              {"ideal", c.ideal},
              {"conflicts", c.conflicts},
              {"update_loops", json_of(c.loops)},
              {"max_way", c.max_way},
              {"sectors", c.sectors},
              {"sectors_ideal", c.ideal_sectors},
              {"lanes", c.lanes},
              {"ways", histogram(c)},
              {"write_races", c.write_races},
              {"transactions", c.transactions},
              {"cache_lines", c.lines},
              {"l1_wavefronts", c.l1_wavefronts},
              {"l1_ideal", c.l1_ideal},
              {"l1_unknown", c.l1_unknown},
              {"bytes_asked", c.bytes_asked},
              {"bytes_distinct", c.bytes_distinct},
              {"bytes_moved", c.bytes_moved},
              {"estimate", c.estimates != 0},
              {"evidence", name_of(c.evidence)},
              {"merged", line.merged},
              {"merge_doubt", line.doubt},
              {"source", line.source},
              {"worst", json_of(line.worst, grid)},
              {"typical", line.typical.mask != 0 ? json_of(line.typical, grid) : Json(nullptr)},
              {"space", profile::name_of(line.space)},
              {"kind", name_of(line.kind)},
              {"word_lanes", c.word_lanes},
              {"estimates", c.estimates},
              {"why", line.why},
              {"allowed", json_of(line.allowed)}};
}

Json json_of(const Branch& branch, const exec::Dim3& grid) {
  const exec::BranchCounts& c = branch.counts;
  Json splits = Json::array();
  for (uint32_t i = 0; i < c.splits; ++i)
    splits.push_back({{"active", hex(c.split[i].active)}, {"taken", hex(c.split[i].taken)}});
  return Json{{"file", branch.file},
              {"line", branch.line},
              {"taken", c.taken},
              {"not_taken", c.not_taken},
              {"divergent", c.divergent},
              {"lanes", c.lanes()},
              {"lanes_taken", c.lanes_taken},
              {"apart", c.apart},
              {"idle", c.idle},
              {"straight", branch.straight},
              {"backward", branch.backward},
              {"unrolled", branch.unrolled},
              {"source", branch.source},
              {"block", json_of(coordinates(c.block, grid))},
              {"warp", c.warp},
              {"splits", std::move(splits)},
              {"allowed", json_of(branch.allowed)}};
}

Json json_of(const Machine& m) {
  return Json{{"assembled", m.assembled},
              {"registers", m.registers},
              {"stack_bytes", m.stack_bytes},
              {"spill_store_bytes", m.spill_store_bytes},
              {"spill_load_bytes", m.spill_load_bytes},
              {"stack_is_spilled", m.stack_is_spilled},
              {"has_occupancy", m.has_occupancy},
              {"blocks", m.blocks},
              {"warps", m.warps},
              {"most_warps", m.most_warps},
              {"limiter", m.limiter},
              {"next_step", m.next_step}};
}

Json json_of(const model::Occupancy& occupancy) {
  return Json{{"blocks", occupancy.blocks}, {"limiter", advise::name_of(occupancy.limiter)}};
}

Json json_of(const exec::Checks& checks) {
  Json names = Json::array();
  for (const exec::NamedCheck& check : exec::kernel_checks)
    if (checks.*check.on) names.push_back(check.name);
  return names;
}

Json json_of(const Launch& launch, const model::Chip* chip) {
  Json metrics = Json::object();
  for (const auto& [name, value] : launch.metrics) metrics[name] = value;
  Json lines = Json::array();
  for (const Line& line : launch.lines) lines.push_back(json_of(line, launch.grid));
  Json variables = Json::array();
  for (const Variable& variable : launch.variables) {
    const profile::Counters& c = variable.counters;
    variables.push_back({{"name", variable.name},
                         {"requests", c.requests},
                         {"wavefronts", c.wavefronts},
                         {"ideal", c.ideal},
                         {"conflicts", c.conflicts},
                         {"max_way", c.max_way}});
  }
  Json branches = Json::array();
  for (const Branch& branch : launch.branches) branches.push_back(json_of(branch, launch.grid));
  Json json{{"kernel", launch.kernel},
            {"grid", json_of(launch.grid)},
            {"block", json_of(launch.block)},
            {"launches", launch.launches},
            {"shared_bytes", launch.shared_bytes},
            {"warp_instructions", launch.warp_instructions},
            {"counted", launch.counted},
            {"checks", json_of(launch.checks)},
            {"merges", launch.merges},
            {"debug", launch.is_debug},
            {"failed", launch.failed},
            {"metrics", std::move(metrics)},
            {"lines", std::move(lines)},
            {"variables", std::move(variables)},
            {"why", launch.why_shared},
            {"why_global", launch.why_global},
            {"file", launch.file},
            {"line", launch.line},
            {"lane_instructions", launch.lane_instructions},
            {"shuffles", launch.shuffles},
            {"warp_efficiency", warp_efficiency(launch)},
            {"branch_efficiency", branch_efficiency(launch)},
            {"branches", std::move(branches)},
            {"machine", json_of(launch.machine)}};
  if (chip != nullptr) {
    Json list = Json::array();
    for (const Bound& bound : bounds(launch, rates_of(*chip)))
      list.push_back({{"name", name_of(bound.kind)}, {"count", bound.count}, {"seconds", bound.seconds}});
    json["bounds"] = std::move(list);
  }
  if (launch.sampled()) {
    json["sampled"] = true;
    json["sample_every"] = launch.sample_every;
  }
  if (!launch.uncounted.empty()) json["uncounted"] = launch.uncounted;
  return json;
}

Json json_of(const advise::Patch& patch) {
  Json json = {{"file", patch.file}, {"edits", Json::array()}};
  for (const advise::Edit& edit : patch.edits)
    json["edits"].push_back({{"begin", edit.begin}, {"end", edit.end}, {"text", edit.text}});
  for (const advise::Patch& other : patch.along) json["along"].push_back(json_of(other));
  return json;
}

Json json_of(const advise::Advice& advice, size_t launch, const std::string& kernel) {
  Json json{{"launch", launch},
            {"kernel", kernel},
            {"file", advice.file},
            {"line", advice.line},
            {"variable", advice.variable},
            {"change", advice.change},
            {"reason", advice.reason},
            {"wavefronts_before", advice.wavefronts_before},
            {"wavefronts_after", advice.wavefronts_after},
            {"shared_bytes_before", advice.shared_bytes_before},
            {"shared_bytes_after", advice.shared_bytes_after},
            {"occupancy_before", advice.occupancy_known ? json_of(advice.occupancy_before) : Json()},
            {"occupancy_after", advice.occupancy_known ? json_of(advice.occupancy_after) : Json()},
            {"registers_known", advice.registers_known},
            {"launch_wavefronts", advice.launch_wavefronts},
            {"proven_best", advice.proven_best},
            {"estimate", advice.estimate},
            {"pitch_from", advice.pitch_from},
            {"kind", name_of(advice.kind)}};
  if (advice.patch) {
    json["patch"] = json_of(*advice.patch);
    json["patch"]["uses_tiles"] = advice.patch_uses_tiles;
  } else {
    json["no_patch"] = advice.no_patch;
  }
  return json;
}

/// The four numbers that a free architecture is given by, the bank mode of others, and how it is known how
/// accesses meet in the first-level cache.
Json json_of(const model::Arch& arch) {
  return Json{{"banks", arch.banks},
              {"bank_bytes", arch.bank_bytes},
              {"unit", arch.load[model::width_index(arch.bank_bytes)].unit},
              {"broadcast", name_of(arch.broadcast)},
              {"l1_evidence", name_of(arch.l1_evidence)}};
}

Json json_of(const model::Chip& chip) {
  return Json{{"name", chip.name},
              {"multiprocessors", chip.multiprocessors},
              {"clock_hz", chip.clock_hz},
              {"bytes_per_second", chip.bytes_per_second}};
}

Json json_of(const Finding& finding, size_t launch) {
  const Json other = finding.has_other ? Json{{"file", finding.other_file},
                                              {"line", finding.other_line},
                                              {"block", json_of(finding.other_block)},
                                              {"thread", json_of(finding.other_thread)}}
                                       : Json(nullptr);
  return Json{{"kind", finding.kind},
              {"severity", exec::name_of(finding.severity)},
              {"kernel", finding.kernel},
              {"launch", launch},
              {"file", finding.file},
              {"line", finding.line},
              {"message", finding.message},
              {"block", json_of(finding.block)},
              {"thread", json_of(finding.thread)},
              {"address", finding.address},
              {"width", finding.width},
              {"count", finding.count},
              {"other", other}};
}

Json json_of(const Hazard& hazard) {
  return Json{{"rule", hazard.rule},
              {"level", name_of(hazard.level)},
              {"launch", hazard.launch == no_launch ? Json(nullptr) : Json(hazard.launch)},
              {"kernel", hazard.kernel},
              {"file", hazard.file},
              {"line", hazard.line},
              {"subject", hazard.subject},
              {"count", hazard.count},
              {"ideal", hazard.ideal},
              {"unit", hazard.unit},
              {"cause", hazard.cause},
              {"advice", hazard.advice},
              {"allowed", hazard.allowed},
              {"allowed_by", hazard.allowed_by}};
}

}  // namespace

std::string to_json(const Report& report) {
  const model::Chip* chip = model::chip_of(report.arch);
  Json launches = Json::array();
  Json findings = Json::array();
  Json advice = Json::array();
  for (size_t i = 0; i < report.launches.size(); ++i) {
    const Launch& launch = report.launches[i];
    launches.push_back(json_of(launch, chip));
    for (const Finding& finding : launch.findings) findings.push_back(json_of(finding, i));
    for (size_t j = 0; j < launch.advice.size(); ++j) {
      advice.push_back(json_of(launch.advice[j], i, launch.kernel));
      const bool has_after = j < launch.advised.size() && launch.advised[j].mask != 0;
      advice.back()["after"] = has_after ? json_of(launch.advised[j], launch.grid) : Json(nullptr);
    }
  }
  Json copies = Json::array();
  for (const Copies& c : report.copies)
    copies.push_back({{"direction", c.direction},
                      {"count", c.count},
                      {"bytes", c.bytes},
                      {"pageable", c.pageable},
                      {"repeated", c.repeated},
                      {"repeated_bytes", c.repeated_bytes},
                      {"independent", c.independent},
                      {"independent_bytes", c.independent_bytes}});
  Json hazards = Json::array();
  for (const Hazard& hazard : hazards_of(report)) hazards.push_back(json_of(hazard));
  const Json whole{{"schema", 1},
                   {"arch", report.arch},
                   {"arch_description", report.arch_description},
                   {"notes", report.notes},
                   {"launches", std::move(launches)},
                   {"advice", std::move(advice)},
                   {"findings", std::move(findings)},
                   {"copies", std::move(copies)},
                   {"hazards", std::move(hazards)},
                   {"is_free", report.is_free},
                   {"model", report.model ? json_of(*report.model) : Json(nullptr)},
                   {"chip", chip != nullptr ? json_of(*chip) : Json(nullptr)}};
  return json_text(whole);
}

}  // namespace lanescope::report
