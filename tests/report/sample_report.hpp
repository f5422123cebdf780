// A report of one kernel, made by hand, with something of everything that formats show.
#pragma once

#include <string>

#include "lanescope/model/archs.hpp"
#include "report/report.hpp"

namespace lanescope::synthetic {

/// A line of shared memory whose requests all are `way`-way.
inline report::Line shared_line(uint32_t number, uint64_t requests, uint32_t way, const std::string& source) {
  report::Line line;
  line.file = "kernels/sample.cu";
  line.line = number;
  line.op = "st.shared";
  line.variable = "tile";
  line.space = exec::AccessSpace::shared;
  line.kind = exec::AccessKind::store;
  line.source = source;
  line.counters.instructions = line.counters.requests = line.counters.ideal = requests;
  line.counters.lanes = 32 * requests;
  line.counters.wavefronts = requests * way;
  line.counters.conflicts = requests * (way - 1);
  line.counters.max_way = way;
  line.counters.ways[way] = requests;
  line.worst.mask = 0xffffffffu;
  line.worst.width = 4;
  line.worst.kind = line.kind;
  line.worst.space = line.space;
  for (uint32_t lane = 0; lane < 32; ++lane) line.worst.address[lane] = uint64_t{lane} * 4 * way;
  line.typical = line.worst;
  if (way > 1) line.why = "Lanes meet.";
  return line;
}

inline report::Launch sample_launch() {
  report::Launch launch;
  launch.kernel = "sample<int>(float*, \"x\" & more)";
  launch.file = "kernels/sample.cu";
  launch.line = 3;
  launch.grid = {4, 2, 1};
  launch.block = {64, 1, 1};
  launch.shared_bytes = 4096;
  launch.warp_instructions = 1000;
  launch.lane_instructions = 24000;
  launch.counted = launch.merges = true;
  launch.lines = {shared_line(12, 100, 8, "tile[a] = b;"), shared_line(14, 50, 1, "tile[c] = d;")};

  report::Line load = shared_line(20, 10, 1, "x = in[i];");
  load.op = "ld.global";
  load.variable.clear();
  load.space = load.worst.space = exec::AccessSpace::global;
  load.kind = load.worst.kind = exec::AccessKind::load;
  load.typical = {};
  load.counters.wavefronts = load.counters.ideal = load.counters.max_way = 0;
  load.counters.ways = {};
  load.counters.sectors = 320;
  load.counters.ideal_sectors = 40;
  load.counters.transactions = 320;
  load.counters.lines = 320;
  load.counters.bytes_asked = load.counters.bytes_distinct = 1280;
  load.counters.bytes_moved = 10240;
  load.why = "Lanes are apart.";
  launch.lines.push_back(load);

  report::Branch branch;
  branch.file = "kernels/sample.cu";
  branch.line = 30;
  branch.source = "if (threadIdx.x % 2 == 0)";
  branch.counts.taken = 5;
  branch.counts.divergent = 15;
  branch.counts.lanes_taken = 400;
  branch.counts.lanes_not_taken = 240;
  branch.counts.apart = 30;
  branch.counts.idle = 480;
  branch.counts.block = 5;
  branch.counts.warp = 1;
  branch.counts.splits = 1;
  branch.counts.split[0] = {0xffffffffu, 0x55555555u};
  branch.straight = 3;
  launch.branches = {branch};

  launch.machine.assembled = launch.machine.has_occupancy = true;
  launch.machine.registers = 40;
  launch.machine.blocks = 12;
  launch.machine.warps = 24;
  launch.machine.most_warps = 64;
  launch.machine.limiter = "shared memory";
  launch.machine.next_step = "With less of it more fit.";

  report::Finding finding;
  finding.kind = "race";
  finding.severity = exec::Finding::Severity::error;
  finding.kernel = launch.kernel;
  finding.file = "kernels/sample.cu";
  finding.line = 40;
  finding.message = "threads race, 100% sure: here";
  finding.has_other = true;
  finding.other_file = "kernels/sample.cu";
  finding.other_line = 41;
  launch.findings = {finding};

  advise::Advice advice;
  advice.variable = "tile";
  advice.file = "kernels/sample.cu";
  advice.line = 12;
  advice.change = "pad each row of tile by 1 word";
  advice.reason = "rows are 128 bytes apart";
  advice.wavefronts_before = 850;
  advice.wavefronts_after = 150;
  advice.launch_wavefronts = 850;
  advice.shared_bytes_before = 4096;
  advice.shared_bytes_after = 4224;
  advice.occupancy_known = true;
  advice.occupancy_before = {12, model::Limiter::shared};
  advice.occupancy_after = {11, model::Limiter::shared};
  launch.advice = {advice};
  launch.advised = {launch.lines[0].worst};
  for (uint32_t lane = 0; lane < 32; ++lane) launch.advised[0].address[lane] = uint64_t{lane} * 4;

  launch.variables = {{"tile", launch.lines[0].counters}};
  launch.totals = report::totals_of(launch.lines);
  return launch;
}

inline report::Report sample_report() {
  report::Report report = report::make_report(*model::find_arch("sm_90"));
  report.notes = {"A note."};
  report.launches = {sample_launch()};
  report.copies = {{"host to device", 7, 7000, 2, 3, 3000, 4, 4000}};
  return report;
}

}  // namespace lanescope::synthetic
