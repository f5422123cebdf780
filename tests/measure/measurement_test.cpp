// Predictions beside what a GPU counted and needed: verdicts, bounds and both outputs.
#include "report/measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lanescope::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using Verdict = CounterComparison::Verdict;

constexpr const char* load_wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
constexpr const char* load_conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
constexpr const char* load_instructions = "smsp__sass_inst_executed_op_shared_ld.sum";
constexpr const char* sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

/// 100 loads from shared memory with 40 conflicts, 1000 sectors of global memory.
MeasuredLaunch launch() {
  MeasuredLaunch m;
  m.predicted.kernel = "k";
  m.predicted.grid = {2, 1, 1};
  m.predicted.block = {32, 1, 1};
  m.predicted.counted = true;
  m.predicted.totals.shared_load.requests = 100;
  m.predicted.totals.shared_load.wavefronts = 140;
  m.predicted.totals.shared_load.conflicts = 40;
  m.predicted.totals.shared_load.ideal = 100;
  m.predicted.warp_instructions = 800;
  m.predicted.totals.global_load.sectors = 1000;
  m.predicted.totals.global_load.l1_wavefronts = 60;
  m.predicted.totals.global_load.l1_ideal = 50;
  m.outcome.seconds = {3e-6, 1e-6, 2e-6};
  m.outcome.empty_seconds = {1e-6};
  m.outcome.copy_bytes = 1'000'000;
  m.outcome.copy_seconds = {1e-3};
  m.outcome.bytes_compared = 64;
  return m;
}

Verdict verdict(const MeasuredLaunch& m, const std::string& name) {
  for (const CounterComparison& c : compare_counters(m))
    if (c.name == name) return c.verdict;
  return Verdict::alone;
}

TEST(Counters, EqualInAllRuns) {
  MeasuredLaunch m = launch();
  m.counters = {{load_wavefronts, {140, 140}},
                {load_conflicts, {40, 40}},
                {load_instructions, {100, 100}},
                {sectors, {1000, 1000}}};
  EXPECT_EQ(compare_counters(m).size(), 4U);
  for (const CounterComparison& c : compare_counters(m)) EXPECT_EQ(c.verdict, Verdict::equal) << c.name;
}

TEST(Counters, NoiseOfArbitration) {
  MeasuredLaunch m = launch();
  m.counters = {{load_wavefronts, {140, 150}}, {load_conflicts, {40, 50}}};
  EXPECT_EQ(verdict(m, load_conflicts), Verdict::within);
  m.counters = {{load_wavefronts, {145, 150}}, {load_conflicts, {45, 50}}};
  EXPECT_EQ(verdict(m, load_conflicts), Verdict::arbitration);
  EXPECT_EQ(verdict(m, load_wavefronts), Verdict::arbitration);
  m.counters = {{load_wavefronts, {150, 150}}, {load_conflicts, {50, 50}}};
  EXPECT_EQ(verdict(m, load_conflicts), Verdict::unexplained);  // no noise: conflicts that were not predicted
}

TEST(Counters, OtherAccessesThanPredicted) {
  MeasuredLaunch m = launch();
  Line line;
  line.line = 7;
  line.doubt = "a loop may be unrolled";
  m.predicted.lines = {line};
  m.counters = {{load_wavefronts, {90, 90}}, {load_conflicts, {40, 40}}, {load_instructions, {50, 50}}};
  EXPECT_EQ(verdict(m, load_wavefronts), Verdict::merging);
  EXPECT_EQ(verdict(m, load_instructions), Verdict::merging);
  EXPECT_EQ(verdict(m, load_conflicts), Verdict::equal);
  EXPECT_THAT(compare_counters(m)[0].why, HasSubstr("line 7: a loop may be unrolled"));
}

TEST(Counters, InstructionsThatNobodyExplains) {
  MeasuredLaunch m = launch();
  m.counters = {{load_instructions, {120, 120}}, {load_wavefronts, {140, 140}}, {load_conflicts, {40, 40}}};
  EXPECT_EQ(verdict(m, load_instructions), Verdict::unexplained) << "more than there are";
  m.counters[load_instructions] = {90, 90};
  EXPECT_EQ(verdict(m, load_instructions), Verdict::unexplained) << "fewer than there are";
  m.counters[load_wavefronts] = {150, 150};
  EXPECT_EQ(verdict(m, load_instructions), Verdict::merging);
}

TEST(Counters, CopiesThatWait) {
  constexpr const char* conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum";
  MeasuredLaunch m = launch();
  m.counters = {{conflicts, {14, 44}}};
  EXPECT_EQ(verdict(m, conflicts), Verdict::arbitration);
  m.counters = {{conflicts, {14, 14}}};
  EXPECT_EQ(verdict(m, conflicts), Verdict::unexplained);
}

TEST(Counters, AtomicOperationsOnOtherBlocks) {
  constexpr const char* cluster = "l1tex__t_sectors_pipe_lsu_mem_dshared.sum";
  MeasuredLaunch m = launch();
  m.predicted.totals.cluster_atomic.requests = 10;
  m.predicted.totals.cluster_atomic.sectors = 100;
  m.counters = {{cluster, {103, 110}}};
  EXPECT_EQ(verdict(m, cluster), Verdict::estimate);
  m.counters = {{cluster, {103, 111}}};
  EXPECT_EQ(verdict(m, cluster), Verdict::unexplained);
  constexpr const char* requests = "l1tex__t_requests_pipe_lsu_mem_dshared.sum";
  m.counters = {{requests, {18, 18}}};
  EXPECT_EQ(verdict(m, requests), Verdict::estimate) << "arrivals";
  m.counters = {{requests, {9, 9}}};
  EXPECT_EQ(verdict(m, requests), Verdict::unexplained);
}

TEST(Counters, BoxesThatLiePartlyOutside) {
  constexpr const char* bulk_sectors = "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum";
  MeasuredLaunch m = launch();
  m.predicted.totals.bulk_load.transactions = 30;
  m.counters = {{bulk_sectors, {32, 32}}};
  EXPECT_EQ(verdict(m, bulk_sectors), Verdict::unexplained);
  m.predicted.totals.bulk_load.estimates = 1;
  EXPECT_EQ(verdict(m, bulk_sectors), Verdict::estimate);
}

/// ncu does not know them for older chips, and would count nothing.
TEST(Counters, OfNewerChipsAreAskedForWhereTheyCount) {
  const auto names = [](const MeasuredLaunch& m) {
    std::string all;
    for (const auto& group : measured_counters(std::span(&m, 1)))
      for (const std::string& name : group) all += name + " ";
    return all;
  };
  MeasuredLaunch m = launch();
  EXPECT_THAT(names(m), Not(HasSubstr("ldgsts")));
  EXPECT_THAT(names(m), Not(HasSubstr("gmma")));
  m.predicted.totals.shared_copy.requests = 1;
  EXPECT_THAT(names(m), HasSubstr("smsp__inst_executed_op_ldgsts_pred_on_any.sum"));
  EXPECT_THAT(names(m), Not(HasSubstr("gmma")));
  m.predicted.totals.cluster_store.requests = 1;
  EXPECT_THAT(names(m), HasSubstr("op_gmma.sum"));
  EXPECT_THAT(names(m), HasSubstr("mem_dshared.sum"));
}

TEST(Counters, OfWhichTheLeastIsKnown) {
  MeasuredLaunch m = launch();
  m.counters = {{"l1tex__data_pipe_lsu_wavefronts.sum", {230}}, {"smsp__inst_executed.sum", {700}}};
  EXPECT_EQ(verdict(m, "l1tex__data_pipe_lsu_wavefronts.sum"), Verdict::estimate);
  EXPECT_EQ(verdict(m, "smsp__inst_executed.sum"), Verdict::estimate);
  m.counters = {{"l1tex__data_pipe_lsu_wavefronts.sum", {199}}};
  EXPECT_EQ(verdict(m, "l1tex__data_pipe_lsu_wavefronts.sum"), Verdict::unexplained);
}

TEST(Counters, WhatNobodyExplains) {
  MeasuredLaunch m = launch();
  m.counters = {{load_wavefronts, {130}}, {load_conflicts, {30}}, {sectors, {999, 999}}};
  EXPECT_EQ(verdict(m, load_conflicts), Verdict::unexplained);  // less than the addresses say
  EXPECT_EQ(verdict(m, sectors), Verdict::unexplained);
  m.counters = {{"dram__bytes_read.sum", {5}}};
  EXPECT_EQ(verdict(m, "dram__bytes_read.sum"), Verdict::alone);
}

TEST(Outputs, SayWhatWasMeasured) {
  Measurement measurement;
  measurement.arch = "sm_90";
  measurement.gpu.arch = "sm_90";
  measurement.gpu.multiprocessors = 10;
  measurement.gpu.clock_hz = 1e6;
  measurement.launches = {launch()};
  std::string text = to_text(measurement, {});
  EXPECT_THAT(text, HasSubstr("equal to the engine's in every bit (64 bytes"));
  EXPECT_THAT(text, HasSubstr("2.00 us (median of 3 launches, 1.00 us … 3.00 us)"));
  EXPECT_THAT(text, HasSubstr("16 GB/s of the sectors asked for (32,000 bytes), 800.0% of the copy's"));
  EXPECT_THAT(text, HasSubstr("caches answered at least 87.5%"));
  EXPECT_FALSE(is_wrong(measurement.launches[0]));
  auto json = nlohmann::json::parse(to_json(measurement));
  EXPECT_EQ(json["launches"][0]["verdict"], "equal");
  EXPECT_DOUBLE_EQ(json["launches"][0]["seconds"]["median"], 2e-6);
  // Two blocks keep two of the ten multiprocessors busy; the copy moves 2 GB/s: it reads and writes.
  const auto& limits = json["launches"][0]["bounds"];
  ASSERT_EQ(limits.size(), 4U);
  EXPECT_EQ(limits[0]["name"], "if every sector comes from memory at the copy's bandwidth");
  EXPECT_DOUBLE_EQ(limits[0]["seconds"], 32000 / 2e9);
  EXPECT_EQ(limits[1]["name"],
            "for 140 wavefronts of shared memory and 60 wavefronts of the first-level cache, one a cycle on "
            "each of 2 "
            "multiprocessors");
  EXPECT_DOUBLE_EQ(limits[1]["seconds"], 200 / 2e6);
  EXPECT_EQ(limits[2]["name"], "for the 150 of them that would be left without conflicts");
  EXPECT_EQ(limits[3]["name"], "to issue about 800 instructions, 4 a cycle");
  EXPECT_DOUBLE_EQ(limits[3]["seconds"], 800 / 8e6);
  measurement.gpu.arch = "sm_80";  // where the cache was not measured
  EXPECT_THAT(
      nlohmann::json::parse(to_json(measurement))["launches"][0]["bounds"][1]["name"].get<std::string>(),
      HasSubstr("and about 60 wavefronts of the first-level cache"));
  measurement.gpu.arch = "sm_61";  // of which is not known how many it issues
  EXPECT_EQ(nlohmann::json::parse(to_json(measurement))["launches"][0]["bounds"].size(), 3U);
  measurement.gpu.arch = "sm_90";

  replay::Difference d{"argument 1", "f32", 16, 2, 3, 0x2000, "0x3f800000", "0x3f800001", 1.2e-7, true};
  measurement.launches[0].outcome.differences = {d};
  EXPECT_FALSE(is_wrong(measurement.launches[0]));
  EXPECT_THAT(to_text(measurement, {}), HasSubstr("equal within the tolerance"));
  d.is_close = false;
  measurement.launches[0].outcome.differences = {d};
  EXPECT_TRUE(is_wrong(measurement.launches[0]));
  text = to_text(measurement, {});
  EXPECT_THAT(text, HasSubstr("DIFFERENT"));
  EXPECT_THAT(text, HasSubstr("element 3 (0x2000)"));
  json = nlohmann::json::parse(to_json(measurement));
  EXPECT_EQ(json["launches"][0]["verdict"], "different");

  measurement.launches[0].obstacle = "it reads textures";
  EXPECT_THAT(to_text(measurement, {}), HasSubstr("not run on the GPU: it reads textures"));
  EXPECT_THAT(to_text(measurement, {}), Not(HasSubstr("DIFFERENT")));
}

TEST(Outcomes, ComeBackAsTheyWere) {
  replay::Outcome outcome = launch().outcome;
  outcome.notes = {"a note"};
  outcome.differences = {{"a", "4 bytes", 16, 2, 3, 0x2000, "0x01", "0x02", std::nullopt, false}};
  const replay::Outcome back = replay::outcome_from_json(to_json(outcome));
  EXPECT_EQ(back.seconds, outcome.seconds);
  EXPECT_EQ(back.notes, outcome.notes);
  ASSERT_EQ(back.differences.size(), 1U);
  EXPECT_EQ(back.differences[0].found, "0x02");
  EXPECT_FALSE(back.differences[0].largest.has_value());
  EXPECT_FALSE(back.differences[0].is_close);
  outcome.differences[0].is_close = true;
  EXPECT_EQ(to_json(outcome)["differences"][0]["close"], true);
  EXPECT_TRUE(replay::outcome_from_json(to_json(outcome)).differences[0].is_close);
}

}  // namespace
}  // namespace lanescope::report
