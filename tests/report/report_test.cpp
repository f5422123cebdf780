// Reports of accesses made by hand: what the text says, what the JSON holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/files.hpp"
#include "profile/collector.hpp"
#include "profile/synthetic.hpp"
#include "report/explain.hpp"
#include "report/json.hpp"
#include "report/kernel_names.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

using namespace synthetic;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class ReductionReport : public ::testing::Test {
 protected:
  Launch launch(bool interleaved, const model::Arch& arch = sm_90(), const exec::LaunchResult& result = {}) {
    profile::Collectors collectors(arch, reduction_sites);
    (interleaved ? reduce_interleaved : reduce_sequential)(*collectors.of(0), 0);
    exec::LaunchConfig config;
    config.block = {256, 1, 1};
    return make_launch(arch, module_, kernel_, config, result, collectors.merged(), sources_);
  }
  Report report(std::vector<Launch> launches) {
    Report report = make_report(sm_90());
    report.launches = std::move(launches);
    return report;
  }

  exec::Kernel kernel_ = reduction_kernel(14);
  ptx::Module module_;
  advise::Sources sources_{"nowhere/sum.ptx"};
};

TEST_F(ReductionReport, MetricsByTheProfilersNames) {
  const auto json = nlohmann::json::parse(to_json(report({launch(true)})));
  const auto& metrics = json["launches"][0]["metrics"];
  EXPECT_EQ(metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"], 35);
  EXPECT_EQ(metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"], 70);
  EXPECT_EQ(metrics["shared_st_bank_conflict"], 35);
  EXPECT_EQ(metrics["shared_ld_bank_conflict"], 70);
  EXPECT_EQ(metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"], 95);
  EXPECT_EQ(metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"], 55);
}

TEST_F(ReductionReport, JsonHoldsTheContract) {
  const auto json = nlohmann::json::parse(to_json(report({launch(true)})));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["arch"], "sm_90");
  EXPECT_TRUE(json["findings"].empty());
  const auto& first = json["launches"][0];
  EXPECT_EQ(first["kernel"], "sum(float*)");
  EXPECT_EQ(first["grid"], nlohmann::json::array({1, 1, 1}));
  EXPECT_EQ(first["block"], nlohmann::json::array({256, 1, 1}));
  const auto& worst = first["lines"][0];
  EXPECT_EQ(worst["file"], "sum.cu");
  EXPECT_EQ(worst["line"], 12);
  EXPECT_EQ(worst["op"], "ld.shared");
  EXPECT_EQ(worst["variable"], "d");
  EXPECT_EQ(worst["conflicts"], 70);
  EXPECT_EQ(worst["max_way"], 8);
  EXPECT_EQ(worst["requests"], 24);
  EXPECT_EQ(worst["wavefronts"], 94);
  EXPECT_EQ(worst["ideal"], 24);
  EXPECT_EQ(worst["sectors"], 0);
  EXPECT_EQ(worst["sectors_ideal"], 0);
  EXPECT_EQ(worst["evidence"], "measured");
  EXPECT_EQ(worst["worst"]["mask"], "0xffffffff");
}

TEST_F(ReductionReport, TextTellsTheWorstLineFirstAndWhy) {
  const std::string text = to_text(report({launch(true)}), {});
  EXPECT_LT(text.find("sum.cu:12      ld.shared  d"), text.find("sum.cu:10      st.shared  d"));
  EXPECT_THAT(text, HasSubstr("shared: 150 wavefronts, ideal 45; conflicts: 70 of loads, 35 of stores"));
  EXPECT_THAT(text, HasSubstr("Why sum.cu:12 (ld.shared of d, 8-way)"));
  EXPECT_THAT(text, Not(HasSubstr("No bank conflicts")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST_F(ReductionReport, MoreOrFewerAccessesThanWrittenAreToldApart) {
  Launch merged = launch(true);
  merged.merges = true;
  EXPECT_THAT(to_text(report({merged}), {}), Not(HasSubstr("The assembler")));
  Launch split = merged;
  merged.totals.shared_load.instructions += 8;
  split.totals.shared_load.instructions -= 8;
  EXPECT_THAT(to_text(report({merged}), {}), HasSubstr("The assembler merges accesses"));
  EXPECT_THAT(to_text(report({split}), {}), HasSubstr("The assembler splits accesses"));
}

TEST_F(ReductionReport, CleanLaunchSaysSo) {
  const std::string text = to_text(report({launch(false)}), {});
  EXPECT_THAT(text, HasSubstr("No bank conflicts"));
  EXPECT_THAT(text, Not(HasSubstr("Why")));
}

TEST_F(ReductionReport, SeveralLaunchesAreCompared) {
  EXPECT_THAT(to_text(report({launch(true)}), {}), Not(HasSubstr("Side by side")));
  const std::string text = to_text(report({launch(true), launch(false)}), {});
  EXPECT_THAT(text, HasSubstr("Side by side"));
  EXPECT_THAT(text, HasSubstr("        150     45        105"));
  EXPECT_THAT(text, HasSubstr("         45     45          0"));
}

TEST_F(ReductionReport, ComparedLaunchesAreToldApart) {
  const auto compared = [&](const std::vector<std::string>& kernels, bool same_grid) {
    std::vector<Launch> launches;
    for (const std::string& kernel : kernels) {
      launches.push_back(launch(true));
      launches.back().kernel = kernel;
      if (!same_grid) launches.back().grid.x = static_cast<uint32_t>(launches.size());
    }
    const std::string text = to_text(report(launches), {200, false});
    return text.substr(text.find("Side by side"));
  };
  EXPECT_THAT(compared({"void add<3>(int*)", "ns::mul(int*)", "sub"}, true),
              AllOf(HasSubstr("\n  add<3>  "), HasSubstr("\n  mul     "), HasSubstr("\n  sub     ")));
  EXPECT_THAT(compared({"add(int*)", "add(int*)"}, false),
              AllOf(HasSubstr("\n  add  grid 1  block 256 "), HasSubstr("\n  add  grid 2  block 256 ")));
  EXPECT_THAT(compared({"add(int*)", "add(float*)"}, true),
              AllOf(HasSubstr("\n  add(int*)  "), HasSubstr("\n  add(float*)  ")));
  const auto instance = [](const std::string& what) {
    return "run<" + std::string(150, 'x') + ", For<" + what + ", " + std::string(150, 'x') + "> >()";
  };
  const std::string first = instance("a::{lambda()#1}");
  EXPECT_THAT(compared({first, first, instance("a::{lambda()#2}")}, false),
              AllOf(HasSubstr("\n  …For<a::{lambda()#1}, xxx"), HasSubstr("xxx…  grid 2  block 256 "),
                    HasSubstr("\n  …For<a::{lambda()#2}, xxx")));
}

TEST_F(ReductionReport, LinesStayInsideTheTerminal) {
  for (const size_t width : {40u, 60u, 80u, 100u, 200u}) {
    std::istringstream lines(to_text(report({launch(true), launch(false)}), {width, false}));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(columns_of(line), std::max<size_t>(width, 80)) << line;
  }
}

TEST_F(ReductionReport, ColourOnlyWhenAsked) {
  EXPECT_THAT(to_text(report({launch(true)}), {100, true}), HasSubstr("\x1b[31m"));
}

TEST_F(ReductionReport, ForeignNamesDoNotDriveTheTerminal) {
  kernel_.display_name = "sum\x1b[2J";
  kernel_.files[1] = "\x1b[31msum.cu";
  EXPECT_THAT(to_text(report({launch(true), launch(false)}), {}), Not(HasSubstr("\x1b")));
}

TEST_F(ReductionReport, JsonOfForeignNamesIsJson) {
  kernel_.display_name = "\xff\"\n";
  EXPECT_EQ(nlohmann::json::parse(to_json(report({launch(true)})))["launches"][0]["kernel"], "\ufffd\"\n");
}

TEST_F(ReductionReport, FindingsNamePlaceBlockAndThread) {
  exec::LaunchResult result;
  result.failed = true;
  exec::Finding finding;
  finding.kind = exec::Finding::Kind::out_of_bounds;
  finding.instruction = 3;
  finding.thread = 33;
  finding.message = "shared memory offset 2048, 4 bytes: the block has 1024 bytes";
  finding.count = 31;
  result.findings = {finding};
  const Report whole = report({launch(true, sm_90(), result)});
  std::string text = to_text(whole, {400, false});
  EXPECT_THAT(
      text,
      HasSubstr("out-of-bounds: sum.cu:12: shared memory offset 2048, 4 bytes: the block has 1024 bytes "
                "(kernel sum(float*), block (0,0,0), thread (33,0,0); 31 times in all)"));
  EXPECT_THAT(text, HasSubstr("The kernel failed"));
  const auto json = nlohmann::json::parse(to_json(whole));
  EXPECT_EQ(json["findings"][0]["kind"], "out-of-bounds");
  EXPECT_EQ(json["findings"][0]["line"], 12);
  EXPECT_EQ(json["launches"][0]["failed"], true);
}

/// A compiler unrolls loops: what is found at several instructions of a line is one finding, the first one's,
/// as long as the line misses the same memory.
TEST_F(ReductionReport, FindingsOfALineAreOneForEachMemory) {
  const auto missed = [](uint32_t instruction, uint64_t address, const std::string& message) {
    exec::Finding finding;
    finding.kind = exec::Finding::Kind::out_of_bounds;
    finding.instruction = instruction;
    finding.address = address;
    finding.message = message;
    finding.count = 7;
    return finding;
  };
  exec::LaunchResult result;
  result.failed = true;
  result.findings = {
      missed(1, 0x30, "store to address 0x30: 8 bytes past the end of device memory #1 (40 bytes)"),
      missed(2, 0x28, "store to address 0x28: 0 bytes past the end of device memory #1 (40 bytes)"),
      missed(3, 0x50, "store to address 0x50: 0 bytes past the end of device memory #2 (40 bytes)")};
  const Launch failed = launch(true, sm_90(), result);
  ASSERT_EQ(failed.findings.size(), 2u);
  EXPECT_THAT(failed.findings[0].message, HasSubstr("0x28: 0 bytes past the end of device memory #1"));
  EXPECT_EQ(failed.findings[0].count, 14u);
  EXPECT_THAT(failed.findings[1].message, HasSubstr("#2"));
}

TEST_F(ReductionReport, MachineCodeIsSaidWhereItIsKnown) {
  Launch assembled = launch(true);
  EXPECT_THAT(to_text(report({assembled}), {}), Not(HasSubstr("machine code")));
  Machine& m = assembled.machine;
  m.assembled = m.has_occupancy = true;
  m.registers = 32, m.stack_bytes = 48, m.spill_store_bytes = 4, m.spill_load_bytes = 12;
  m.blocks = 3, m.warps = 24, m.most_warps = 64, m.limiter = "registers", m.next_step = "Less would do.";
  for (const bool counted : {true, false}) {
    assembled.counted = counted;
    EXPECT_THAT(
        to_text(report({assembled}), {400, false}),
        HasSubstr("machine code: 32 registers and 48 bytes of stack a thread, 4 bytes stored and 12 loaded "
                  "for want of registers; 24 of 64 warps on a multiprocessor (3 blocks, limit: "
                  "registers)\n  Less would do.\n"));
  }
  assembled.counted = true;
  EXPECT_THAT(
      to_text(report({assembled}), {400, false}),
      HasSubstr("(registers): With 32 registers a thread the assembler stores 4 and loads 12 bytes of "
                "spilled values. Give a thread more registers ("));
  // From machine code alone, of a kernel that has nothing in its stack of its own.
  m.assembled = false, m.spill_store_bytes = m.spill_load_bytes = 0, m.stack_is_spilled = true;
  EXPECT_THAT(
      to_text(report({assembled}), {400, false}),
      AllOf(HasSubstr("32 registers and 48 bytes of stack a thread, all of it for want of registers; 24 of"),
            HasSubstr("the assembler keeps 48 bytes of values in local memory; how often")));
}

TEST_F(ReductionReport, WhatIsSaidOfTheArchitectureIsSaidOnce) {
  const model::Arch& blackwell = *model::find_arch("sm_120");
  Report both = make_report(blackwell);
  both.launches = {launch(true, blackwell), launch(false, blackwell)};
  both.launches[1].block.x = 128;
  const std::string text = to_text(both, {400, false});
  const size_t first = text.find("some rules are carried over");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("some rules are carried over", first + 1), std::string::npos) << text;
}

TEST_F(ReductionReport, EachVariableGetsItsBestAdviceFirst) {
  Launch advised = launch(true);
  const auto advice = [](const char* variable, const char* change) {
    advise::Advice one;
    one.variable = variable;
    one.change = change;
    return one;
  };
  advised.advice = {advice("a", "pad a"), advice("a", "swizzle a"), advice("a", "turn a"),
                    advice("b", "pad b")};
  const std::string text = to_text(report({advised}), {400, false});
  EXPECT_THAT(text, AllOf(HasSubstr("Advice 1 (:0): pad a"), HasSubstr("Advice 2 (:0): pad b"),
                          HasSubstr("Advice 3 (:0): swizzle a"), Not(HasSubstr("turn a"))));
}

TEST_F(ReductionReport, AdviceIsHeldAgainstAllLaunchesOfAKernel) {
  const auto launch_with = [](const char* kernel, uint32_t bytes) {
    Launch one;
    one.kernel = kernel;
    one.grid = {4};
    one.block = {bytes / 64};
    one.shared_bytes = 8192;
    one.shared = {{"a", 0, bytes, true, "smem"}};
    advise::Advice swizzle, padding;
    swizzle.variable = padding.variable = "a";
    swizzle.change = "swizzle a";
    swizzle.size_multiple = 128;
    swizzle.patch.emplace();
    padding.change = "pad a";
    one.advice = {swizzle, padding};
    one.advised.resize(2);
    return one;
  };
  const auto held = [&](const Launch& other) {
    Report all = report({launch_with("void k<2>(float*)", 4096), other});
    hold_advice_against_all_launches(all);
    return all.launches[0].advice;
  };
  for (const Launch& fits : {launch_with("void k<3>(float*)", 128), launch_with("k2(float*)", 100)})
    EXPECT_TRUE(held(fits)[0].patch) << fits.kernel;
  const auto refused = held(launch_with("void k<3>(float*)", 4032));
  EXPECT_EQ(refused[0].change, "pad a") << "what can be made comes first";
  EXPECT_EQ(refused[1].change, "swizzle a, but a has 4,032 bytes with grid 4 and block 63");
  EXPECT_FALSE(refused[1].patch);
  EXPECT_EQ(refused[1].no_patch,
            "a swizzle needs a multiple of 128 bytes, but a has 4,032 bytes with grid 4 and block 63");
  Launch undivided = launch_with("void k<2>(float*)", 4096);
  undivided.shared = {{"smem", 0, 0, true}};
  EXPECT_EQ(held(undivided)[1].change, "swizzle a, but with grid 4 and block 64 the size of a is not known");
  undivided.shared_bytes = 0;
  EXPECT_TRUE(held(undivided)[0].patch) << "it has none";
}

/// The last column of tile[16][17] goes only where no launch may need it that has the array, too.
TEST_F(ReductionReport, PaddingStaysThatAnotherLaunchMayAccess) {
  const auto launch_with = [](const char* kernel, const char* symbol, uint32_t dropped) {
    Launch one;
    one.kernel = kernel;
    one.grid = {2};
    one.block = {16, 16};
    one.shared = {{"tile", 0, 1088, false, "", symbol}};
    advise::Advice swizzle, padding;
    swizzle.variable = padding.variable = "tile";
    swizzle.layout = advise::Swizzle{4, {0, 2, 4, 8}, dropped};
    swizzle.change = "swizzle tile";
    swizzle.patch.emplace();
    padding.layout = advise::RowPadding{1};
    one.advice = {swizzle, padding};
    one.advised.resize(2);
    return one;
  };
  const auto held = [&](const Launch& other) {
    Report all = report({launch_with("a(float*)", "tile", 4), other});
    hold_advice_against_all_launches(all);
    return all.launches[0].advice;
  };
  for (const Launch& uses_it : {launch_with("b(float*)", "tile", 0), launch_with("a(float*)", "", 0)}) {
    const auto refused = held(uses_it);
    EXPECT_TRUE(std::holds_alternative<advise::RowPadding>(refused[0].layout))
        << "what can be made comes first";
    const std::string why =
        uses_it.kernel.substr(0, 1) + " with grid 2 and block 16x16 may access that padding";
    EXPECT_EQ(refused[1].change, "swizzle tile, but " + why);
    EXPECT_EQ(refused[1].no_patch, why);
    EXPECT_FALSE(refused[1].patch);
  }
  for (const Launch& does_not :
       {launch_with("b(float*)", "tile", 4), launch_with("b(float*)", "_ZZ1bPfE4tile", 0),
        launch_with("b(float*)", "", 0)})
    EXPECT_TRUE(held(does_not)[0].patch);
}

/// tile[N][N] of k<32> wants rows that are longer by 1, that of k<16> by 2: what leaves fewest wavefronts is
/// the change of both.
TEST_F(ReductionReport, InstancesOfATemplateAgreeOnPaddings) {
  const auto padding = [](uint32_t words, uint64_t wavefronts) {
    advise::Advice one;
    one.variable = "tile";
    one.layout = advise::RowPadding{words};
    one.change = "pad by " + std::to_string(words);
    one.wavefronts_before = 100;
    one.wavefronts_after = wavefronts;
    one.declaration.emplace();
    one.declaration->element_bytes = 4;
    one.declaration->name_begin = 7;
    one.patch = advise::Patch{"k.cu", {{10, 12, "N + " + std::to_string(words)}}};
    return one;
  };
  const auto launch_with = [&](std::vector<advise::Advice> paddings, size_t best) {
    Launch one;
    one.advice = {paddings[best]};
    one.advice[0].paddings = std::move(paddings);
    one.advised.resize(1);
    return one;
  };
  Report all = report(
      {launch_with({padding(1, 10), padding(2, 40)}, 0), launch_with({padding(1, 60), padding(2, 20)}, 1)});
  hold_advice_against_all_launches(all);
  for (const Launch& launch : all.launches) {
    EXPECT_EQ(launch.advice[0].change,
              "pad by 2, for all instances of the template whose rows are to be padded");
    EXPECT_EQ(launch.advice[0].patch->edits[0].text, "N + 2");
  }
  EXPECT_EQ(all.launches[0].advice[0].wavefronts_after, 40u);
  // Where each spoils the other, both stay what they are.
  all = report(
      {launch_with({padding(1, 10), padding(2, 100)}, 0), launch_with({padding(1, 120), padding(2, 20)}, 1)});
  hold_advice_against_all_launches(all);
  EXPECT_EQ(all.launches[0].advice[0].change, "pad by 1");
  EXPECT_EQ(all.launches[1].advice[0].change, "pad by 2");
}

/// tile[32][32 + P] of k<0> conflicts, and k<1> has the row that is advised: a change of the template would
/// spoil that one.
TEST_F(ReductionReport, WhereAnArgumentIsThePaddingAnotherInstanceIsTheChange) {
  const auto launch_with = [](const char* kernel, uint32_t bytes) {
    Launch one;
    one.kernel = kernel;
    one.shared_bytes = bytes;
    one.shared = {{"tile", 0, bytes}};
    return one;
  };
  Launch plain = launch_with("void k<0>(float*)", 4096);
  advise::Advice padding;
  padding.variable = "tile";
  padding.layout = advise::RowPadding{1};
  padding.change = "pad each row of tile by 1 word";
  padding.shape.bytes = padding.shared_bytes_before = 4096;
  padding.shared_bytes_after = 4224;
  padding.declaration.emplace();
  padding.declaration->assumed = "P = 0";
  padding.declaration->element_bytes = 4;
  padding.declaration->extents = {{"32", 0, 0, 32}, {"32 + P", 0, 0, 32}};
  padding.patch.emplace();
  advise::Advice swizzle = padding;
  swizzle.layout = advise::Swizzle{};
  swizzle.change = "swizzle tile";
  plain.advice = {padding, swizzle};
  plain.advised.resize(2);
  const auto held = [&](const Launch& other) {
    Report all = report({plain, other});
    hold_advice_against_all_launches(all);
    return all.launches[0].advice;
  };
  const auto pointed = held(launch_with("void k<1>(float*)", 4224));
  EXPECT_EQ(pointed[0].change, "launch k<1> in place of k<0>: it has 1 word more in each row of tile");
  EXPECT_EQ(pointed[1].change, "swizzle tile, but k<1> shares the declaration, and its rows are right");
  for (const advise::Advice& one : pointed) {
    EXPECT_FALSE(one.patch);
    EXPECT_EQ(one.no_patch, "k<1> shares the declaration, and its rows are right");
  }
  Launch conflicting = launch_with("void k<1>(float*)", 4224);
  conflicting.advice = {swizzle};
  conflicting.advised.resize(1);
  for (const Launch& other : {launch_with("void l<1>(float*)", 4224), conflicting})
    EXPECT_TRUE(held(other)[0].patch) << other.kernel;
  const auto spoiling = held(launch_with("void k<2>(float*)", 4352));
  EXPECT_FALSE(spoiling[0].patch);
  EXPECT_EQ(spoiling[0].change,
            "pad each row of tile by 1 word, but k<2> shares the declaration, and its rows are right");
  // Another type, another operation: no other padding of the same.
  plain.kernel = "void k<float, false, 0>(float*)";
  EXPECT_THAT(held(launch_with("void k<int, true, 1>(int*)", 4224))[0].change, HasSubstr("pad each row"));
  EXPECT_THAT(held(launch_with("void k<float, false, 1>(float*)", 4224))[0].change,
              HasSubstr("launch k<float, false, 1> in place of k<float, false, 0>"));
  // The argument may stand in another place of the sum, and count more than once.
  plain.kernel = "void k<0>(float*)";
  const auto with_row = [&](const char* row, uint32_t words) {
    for (advise::Advice& one : plain.advice) one.declaration->extents.back().text = row;
    plain.advice[0].layout = advise::RowPadding{words};
    return held(launch_with("void k<1>(float*)", 4096 + 128 * words))[0].change;
  };
  EXPECT_THAT(with_row("P + 32", 1), HasSubstr("launch k<1> in place of k<0>"));
  EXPECT_THAT(with_row("32 + 2 * P", 2), HasSubstr("launch k<1> in place of k<0>: it has 2 words more"));
  EXPECT_THAT(with_row("P * 2 + 32", 2), HasSubstr("launch k<1> in place of k<0>"));
  EXPECT_THAT(with_row("32 + 2 * P", 1), HasSubstr("but k<1> shares the declaration"));
  EXPECT_EQ(with_row("32 * (P + 1)", 1), "pad each row of tile by 1 word");
  plain.advice[0].layout = advise::RowPadding{1};
  // tile[R][32] of k<33> has a row more, which has as many bytes as a column.
  plain.kernel = "void k<32>(float*)";
  for (advise::Advice& one : plain.advice) {
    one.declaration->assumed = "R = 32";
    one.declaration->extents = {{"R", 0, 0, 32}, {"32", 0, 0, 32}};
  }
  const auto rows = held(launch_with("void k<33>(float*)", 4224));
  EXPECT_EQ(rows[0].change, "pad each row of tile by 1 word");
  EXPECT_TRUE(rows[0].patch);
}

/// What one instance of a template gains least from may be what all gain most from.
TEST_F(ReductionReport, TheChangeThatSavesMostInAllLaunchesComesFirst) {
  const auto advice = [](const char* change, uint64_t saved) {
    advise::Advice one;
    one.variable = "tile";
    one.change = change;
    one.wavefronts_before = 1000;
    one.wavefronts_after = 1000 - saved;
    one.patch = advise::Patch{"k.cu", {{1, 2, change}}};
    return one;
  };
  Launch a, b;
  a.kernel = "void k<float>(float*)", b.kernel = "void k<double>(double*)";
  a.advice = {advice("pad", 900), advice("swizzle", 890)};
  b.advice = {advice("swizzle", 800), advice("pad", 500)};
  a.advised.resize(2);
  b.advised.resize(2);
  a.advised[1].block = 7;
  Report all = report({a, b});
  hold_advice_against_all_launches(all);
  for (const Launch& launch : all.launches) EXPECT_EQ(launch.advice[0].change, "swizzle") << launch.kernel;
  EXPECT_EQ(all.launches[0].advised[0].block, 7u) << "its example goes along";
}

TEST_F(ReductionReport, RulesThatAreNotMeasuredAreMarked) {
  const model::Arch& sm_35 = *model::find_arch("sm_35");
  Report report = make_report(sm_35);
  report.launches = {launch(true, sm_35)};
  EXPECT_THAT(to_text(report, {}), HasSubstr("rules from the vendor's guide, not measured"));
}

TEST(Notes, WavesOf64SayHowTheyAreCounted) {
  EXPECT_TRUE(make_report(sm_90()).notes.empty());
  EXPECT_THAT(make_report(*model::find_arch("hd5870")).notes.at(0),
              HasSubstr("never serve lanes of both halves"));
  EXPECT_THAT(make_report(*model::find_arch("gfx950")).notes.at(0),
              HasSubstr("serve lanes of both halves together"));
}

std::string why_shared(const model::Arch& arch, AccessKind kind, uint8_t width,
                       const std::function<int64_t(uint32_t)>& address_of,
                       const exec::Dim3& block = {32, 8, 1}) {
  profile::Collector collector(arch, 1);
  collector.access(make_access(0, kind, AccessSpace::shared, address_of, width));
  return explain_shared(arch, collector.profile().sites.at(0).worst, kind, {1, 1, 1}, block);
}

/// Counting in shared memory costs what a store does, and is none.
TEST(Explain, CountingUpdates) {
  model::Request request;
  request.op = model::Op::store;
  request.mask = 0xffffffffu;
  for (int lane = 0; lane < 32; ++lane) request.address[lane] = static_cast<uint64_t>(lane % 8 * 128);
  EXPECT_THAT(explain_request(sm_90(), request, true), HasSubstr("32 lanes update 1 of the 32 banks"));
  EXPECT_THAT(explain_request(sm_90(), request), HasSubstr("32 lanes write 1 of the 32 banks"));
}

TEST(Explain, StrideOfTwoWords) {
  const std::string why = why_shared(sm_90(), AccessKind::load, 4, [](uint32_t lane) { return lane * 8; });
  EXPECT_EQ(why,
            "Warp 0 of block (0,0,0): 32 lanes read 16 of the 32 banks; bank 0 is asked for 2 words: lanes "
            "0, 16 → words "
            "0, 32. That takes 2 wavefronts instead of 1. Neighbouring lanes are 2 words apart, and gcd(2, "
            "32) = 2: only "
            "every 2nd bank is used.");
}

TEST(Explain, ColumnOfA32By32Array) {
  const std::string why = why_shared(sm_90(), AccessKind::store, 4, [](uint32_t lane) { return lane * 128; });
  EXPECT_THAT(
      why,
      HasSubstr("32 lanes write 1 of the 32 banks; bank 0 is asked for 32 words: lanes 0-31 → words 0, 32, "
                "64, … 992. That takes 32 wavefronts"));
}

/// tile[18][18] of a block of 16x16: two rows of 16 words that overlap in the banks.
TEST(Explain, RowsOfTheBlockThatAWarpSpansAreTheCause) {
  const auto of_block = [](uint32_t width) {
    return why_shared(sm_90(), AccessKind::load, 4,
                      [=](uint32_t lane) { return lane / width * 72 + lane % width * 4; }, {width, 16, 1});
  };
  EXPECT_THAT(of_block(16), EndsWith("The lanes of one row of the block do not meet, and a warp spans 2 "
                                     "rows: let blockDim.x be a multiple of 32, so that it stays in one."));
  EXPECT_THAT(of_block(20), HasSubstr("a warp spans 2 rows"));
  // Where the lanes of one row meet, wider blocks are no cure, nor where the block is wide enough.
  const auto column = [](uint32_t lane) { return lane % 16 * 64 + lane / 16 * 4; };
  EXPECT_THAT(why_shared(sm_90(), AccessKind::load, 4, column, {16, 16, 1}), Not(HasSubstr("blockDim")));
  const auto counters = [](uint32_t lane) { return lane / 16 * 128; };
  EXPECT_THAT(why_shared(sm_90(), AccessKind::load, 4, counters, {16, 16, 1}), HasSubstr("blockDim"));
  EXPECT_THAT(why_shared(sm_90(), AccessKind::atomic, 4, counters, {16, 16, 1}), Not(HasSubstr("blockDim")));
  const auto broken = [](uint32_t lane) { return lane / 16 * 72 + lane % 16 * 4; };
  EXPECT_THAT(why_shared(sm_90(), AccessKind::load, 4, broken), Not(HasSubstr("blockDim")));
}

TEST(Explain, WordsReadBySeveralLanesAreListedOneByOne) {
  const std::string why =
      why_shared(sm_90(), AccessKind::load, 4, [](uint32_t lane) { return lane / 16 * 128; });
  EXPECT_THAT(why, HasSubstr("bank 0 is asked for 2 words: lanes 0-15 → word 0; lanes 16-31 → word 32."));
}

TEST(Explain, WideAccessesNameTheirPhase) {
  const std::string why = why_shared(sm_90(), AccessKind::store, 8, [](uint32_t lane) { return lane * 16; });
  EXPECT_THAT(
      why,
      HasSubstr("the lanes 0-15 that are served together (one of 2 phases) write 16 of the 32 banks; bank 0 "
                "is asked for 2 words: lanes 0, 8 → words 0, 32."));
}

/// Every second lane is active; those that meet are as far apart as the banks reach.
TEST(Explain, LanesThatTakeNoPartAreTheCause) {
  const std::string why = why_shared(sm_90(), AccessKind::load, 8, [](uint32_t lane) {
    return lane % 2 == 0 ? int64_t{lane} * 8 : int64_t{-1};
  });
  EXPECT_THAT(why, HasSubstr("bank 0 is asked for 2 words: lanes 0, 16"));
  EXPECT_THAT(why,
              HasSubstr("gcd(1, 16) = 1: the banks begin again after 16 lanes, which are not all active."));
}

/// The first column of rows of 8 lanes that lie 32 words apart.
TEST(Explain, OfEveryEighthLaneTheDistanceBetweenActiveOnesCounts) {
  EXPECT_THAT(
      why_shared(sm_90(), AccessKind::load, 4,
                 [](uint32_t lane) { return lane % 8 == 0 ? int64_t{lane} * 16 : int64_t{-1}; }),
      EndsWith("The active lanes (every 8th) are 32 words apart, and gcd(32, 32) = 32: all in one bank."));
}

TEST(Explain, AtomicsQueueByLane) {
  const std::string why = why_shared(sm_90(), AccessKind::atomic, 4, [](uint32_t) { return 0; });
  EXPECT_THAT(why, HasSubstr("lanes 0-31 → word 0. That takes 32 wavefronts"));
  EXPECT_THAT(why, HasSubstr("one lane after the other"));
}

TEST(Explain, BytesOfOneWordOn1x) {
  const std::string why =
      why_shared(*model::find_arch("sm_13"), AccessKind::load, 1, [](uint32_t lane) { return lane; });
  EXPECT_THAT(why, HasSubstr("4 wavefronts"));
  EXPECT_THAT(why, HasSubstr("different bytes of one word conflict"));
}

TEST(Explain, KeplerSaysWhichWordsComeTogether) {
  const std::string why =
      why_shared(*model::find_arch("sm_35"), AccessKind::load, 4, [](uint32_t lane) { return lane * 128; });
  EXPECT_THAT(why, HasSubstr("16 wavefronts"));
  EXPECT_THAT(why, HasSubstr("words i and i+32 of one aligned segment of 64 words come out together"));
}

TEST(Explain, GlobalStridesAndMisalignment) {
  const auto why = [](const std::function<int64_t(uint32_t)>& address_of) {
    profile::Collector collector(sm_90(), 1);
    collector.access(make_access(0, AccessKind::store, AccessSpace::global, address_of));
    return explain_global(sm_90(), collector.profile().sites.at(0).worst, {1, 1, 1});
  };
  EXPECT_EQ(why([](uint32_t lane) { return lane * 4096; }),
            "Warp 0 of block (0,0,0): 32 lanes write 128 bytes, which would fit in 4 sectors, but touch 32: "
            "neighbouring "
            "lanes are 4,096 bytes apart.");
  EXPECT_THAT(why([](uint32_t lane) { return 4 + lane * 4; }),
              HasSubstr("does not begin a sector of 32 bytes"));
  EXPECT_THAT(why([](uint32_t lane) { return lane * lane * 4096; }), HasSubstr("scattered"));
  EXPECT_THAT(
      why([](uint32_t lane) { return lane / 8 * 1024; }),
      HasSubstr("write 128 bytes, some of them the same, which would fit in 1 sector, but touch 4: "));
  EXPECT_THAT(
      why([](uint32_t lane) { return lane / 16 * 2048; }),
      EndsWith("fit in 1 sector, but touch 2: 2 groups of lanes use one address each, 2,048 bytes apart."));
  EXPECT_THAT(
      why([](uint32_t lane) { return 4 + lane / 8 * 256 + lane % 8 * 4; }),
      EndsWith("4 groups of lanes use neighbouring addresses, 256 bytes apart, and not all of them begin "
               "a sector of 32 bytes."));
  // Each lane has a row of four words, each half of the warp a row of such rows.
  EXPECT_THAT(
      why([](uint32_t lane) { return lane / 16 * 1024 + lane % 16 * 16; }),
      EndsWith("touch 16: 2 groups of lanes use addresses 16 bytes apart, the groups 1,024 bytes apart."));
  EXPECT_THAT(why([](uint32_t lane) { return lane / 2 * lane * 64; }), EndsWith("addresses are scattered."));
  EXPECT_THAT(why([](uint32_t lane) { return 128 - lane * 4; }),
              HasSubstr("addresses, downwards, but the last one does not begin a sector of 32 bytes."));
  EXPECT_THAT(why([](uint32_t lane) { return lane % 2 == 0 ? int64_t{lane} * 4 : -1; }),
              EndsWith("neighbouring lanes use neighbouring addresses, but 15 lanes between the active ones "
                       "take no part, so that bytes in between are moved in vain."));
  EXPECT_THAT(why([](uint32_t lane) { return lane % 2 == 0 ? 16 + int64_t{lane} * 4 : -1; }),
              EndsWith("are moved in vain, and the first one does not begin a sector of 32 bytes."));
  EXPECT_THAT(why([](uint32_t lane) { return lane % 8 == 0 ? int64_t{lane} * 16 : -1; }),
              EndsWith("but touch 4: the active lanes (every 8th) are 128 bytes apart."));
  // The first column of rows of 25 words; what some lanes put behind each other.
  EXPECT_THAT(why([](uint32_t lane) { return lane % 8 == 0 ? int64_t{lane} / 8 * 100 : -1; }),
              EndsWith("but touch 4: the active lanes are 100 bytes apart."));
  EXPECT_THAT(why([](uint32_t lane) {
                constexpr uint32_t active = 0x0f0f00ff;
                return (active >> lane & 1) != 0 ? 20 + 4 * std::popcount(active & ((1u << lane) - 1)) : -1;
              }),
              EndsWith("but touch 3: the active lanes use neighbouring addresses, but the first one does not "
                       "begin a sector of 32 bytes."));
  // What one idle lane would use lies in a sector that is moved anyway.
  EXPECT_THAT(why([](uint32_t lane) { return lane != 9 ? 4 + int64_t{lane} * 4 : -1; }),
              EndsWith("addresses, but the first one does not begin a sector of 32 bytes."));
}

TEST(Explain, CopiesThatTakeSectorsApart) {
  const auto why = [](const std::function<uint32_t(uint32_t)>& destination_of) {
    profile::Example copy;
    copy.mask = 0xffffffff;
    copy.width = 16;
    copy.kind = AccessKind::async_copy_cg;
    copy.space = AccessSpace::global;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      copy.address[lane] = lane * 16;
      copy.destination[lane] = destination_of(lane);
    }
    return explain_global(sm_90(), copy, {1, 1, 1});
  };
  EXPECT_THAT(why([](uint32_t lane) { return 16 + lane * 16; }),
              EndsWith("touch 32: past the first-level cache a sector is read for each sector of shared "
                       "memory that parts of it go to, and here source and destination begin in different "
                       "halves of theirs."));
  EXPECT_THAT(why([](uint32_t lane) { return lane * 32; }),
              EndsWith("and here the destinations of neighbouring lanes are 32 bytes apart."));
  EXPECT_THAT(why([](uint32_t lane) { return 16 + lane * lane * 32; }),
              EndsWith("and here the halves of one sector go to different ones."));
}

TEST(Words, WhatIsNoTextIsReplaced) {
  EXPECT_EQ(printable("a\tb\x1b[31m\x7f"), "a b [31m ");
  EXPECT_EQ(printable("größe → \xf0\x9f\x98\x80"), "größe → \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            " 31m")
      << "a control character of two bytes";
  EXPECT_EQ(printable("gr\xf6\xdf"
                      "e"),
            "gr\uFFFD\uFFFDe")
      << "Latin-1";
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80\x80\xe2\x86"), printable(std::string(8, '\xff')));
  EXPECT_EQ(printable("\xef\xbf\xbf"), printable(std::string(3, '\xff'))) << "U+FFFF";
}

TEST(Words, NumbersAndLists) {
  EXPECT_EQ(lanes(0x10001), "lanes 0, 16");
  EXPECT_EQ(lanes(0x11111111), "lanes 0, 4, 8, … 28");
  EXPECT_EQ(lanes(0xffff0000), "lanes 16-31");
  EXPECT_EQ(cut_begin("kernels/reduce.cu", 10), "…reduce.cu");
  EXPECT_EQ(cut_end("a → b → c", 5), "a → …");
  const std::string argument(90, 'x');
  EXPECT_EQ(short_name("void f<int>(float*)"), "void f<int>(float*)");
  EXPECT_EQ(short_name("void (anonymous namespace)::f<A<" + argument + ">, B<C<" + argument + "> > >(int)"),
            "void (anonymous namespace)::f<A<" + argument + ">, B<C<…> > >(int)");
  EXPECT_EQ(short_name("f<A<" + argument + ">, B<" + argument + argument + "> >(int, A<" + argument + ">)"),
            "f<A<…>, B<…> >(int, A<…>)");
  EXPECT_EQ(short_name("f<" + argument + argument + argument + ">()"), "f<…>()");
  EXPECT_EQ(short_name("f<half, g<int, 4> >(" + argument + "<half>, " + argument + "<half>, " + argument +
                       "<half>)"),
            "f<half, g<int, 4> >(…)")
      << "a template's arguments tell its kernels apart";
  EXPECT_EQ(
      short_name("f<A<main::{lambda()#1}, " + argument + "> >(A<main::{lambda()#1}, " + argument + ">)"),
      "f<A<main::{lambda()#1}, " + argument + "> >(A<…>)")
      << "they stay before those of the function, which say the same again";
  EXPECT_EQ(percent(1, 3), "33.3%");
  EXPECT_EQ(wrapped("aa bb cc", 5), (std::vector<std::string>{"aa bb", "cc"}));
}

TEST(KernelNames, TellKernelsOfOneTemplateApart) {
  const auto launched = [](const std::string& what) {
    return "void portable::launch<portable::For<" + what + ", portable::Range<long> > >(portable::For<" +
           what + ", portable::Range<long> >)";
  };
  const std::string first = launched("main::{lambda(int)#1}");
  const std::string second = launched("main::{lambda(int)#2}");
  const std::string fill = launched("portable::detail::Fill<double>");
  const KernelNames names({first, second, fill, "copy(float*)", "void scale<2>(float*)"});
  EXPECT_EQ(names.in_table(first, 46), "launch…For<main::{lambda(int)#1}, Range<long>…");
  EXPECT_EQ(names.in_table(second, 32), "launch…main::{lambda(int)#2}, R…");
  EXPECT_EQ(names.in_table(second, 18), "launch…(int)#2}, …") << "an argument is too long";
  EXPECT_EQ(names.in_table(second, 11), "…int)#2}, …") << "of the function nothing would be left";
  EXPECT_EQ(names.in_table(fill, 46), "launch…For<Fill<double>, Range<long> > >(For<…");
  const KernelNames of_launch({first, second, fill});
  EXPECT_EQ(of_launch.in_table(first, 40), "…For<main::{lambda(int)#1}, Range<long>…")
      << "all are of one function";
  EXPECT_EQ(names.in_table("copy(float*)", 40), "copy");
  EXPECT_EQ(names.in_table("void scale<2>(float*)", 40), "scale<2>");
  EXPECT_EQ(names.in_table("void scale<2>(float*)", 7), "scale<…") << "it has one kernel";
  EXPECT_EQ(names.in_table("copy(float*)", 3), "co…");
  EXPECT_EQ(names.of(first), first) << "short as it is";
}

TEST(KernelNames, KeepNamespacesThatTellKernelsApart) {
  const std::string first = "first_namespace::kernel_with_a_rather_long_name(int*)",
                    second = "second_namespace::kernel_with_a_rather_long_name(int*)";
  const KernelNames names({first, second});
  EXPECT_EQ(names.in_table(first, 24).substr(0, 5), "first");
  EXPECT_EQ(names.in_table(second, 24).substr(0, 6), "second");
}

TEST(KernelNames, AreLongerWhereShortOnesWouldBeTheSame) {
  const auto launched = [](const std::string& what) {
    return "f<A<B<" + what + "> >, " + std::string(186, 'x') + ">()";
  };
  const KernelNames names({launched("int"), launched("long"), launched("C<int>") + "::g()"});
  EXPECT_EQ(names.of(launched("int")), launched("int"));
  EXPECT_EQ(names.of(launched("long")), launched("long"));
  const KernelNames alone({launched("int")});
  EXPECT_EQ(alone.of(launched("int")), "f<A<…>, " + std::string(186, 'x') + ">()");
}

/// A folder with a source in it.
class SourcesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "kernels" / "ptx");
    std::ofstream(folder_ / "kernels" / "sum.cu") << "first\n   second line  \n";
  }
  const ScratchFolder scratch_;
  const std::filesystem::path& folder_ = scratch_.path();
};

TEST_F(SourcesTest, FindsFilesAboveThePtxByTheEndOfTheirPath) {
  advise::Sources sources(folder_ / "kernels" / "ptx" / "sum.ptx");
  EXPECT_EQ(sources.line("kernels/sum.cu", 2), "second line");
  EXPECT_EQ(sources.line("/build/machine/kernels/sum.cu", 1), "first");
  EXPECT_EQ(sources.line("sum.cu", 1), "first");
  EXPECT_EQ(sources.line("sum.cu", 3), "");
  EXPECT_EQ(sources.line("other.cu", 1), "");
}

TEST_F(SourcesTest, FindsWhatAFileIncludes) {
  const std::filesystem::path kernels = folder_ / "kernels";
  std::filesystem::create_directories(kernels / "inner");
  std::filesystem::create_directories(folder_ / "include" / "lanescope");
  std::ofstream(kernels / "main.cu")
      << "#include <a.h>\n # include \"inner/a.h\"  // a\n#include \"nowhere.h\"\n"
      << "#include \"lanescope/tile.cuh\"\n#include \"a\n#includes \"sum.cu\"\n#include "
         "\"inner/../inner/a.h\"";
  std::ofstream(kernels / "inner" / "a.h")
      << "\xEF\xBB\xBF#include \"b.h\"\n#include \"a.h\"\n#include \"kernels/sum.cu\"\nint a;\n";
  std::ofstream(kernels / "inner" / "b.h") << "#include \"up.h\"\n";
  std::ofstream(folder_ / "include" / "up.h") << "struct Up {};";
  std::ofstream(folder_ / "include" / "lanescope" / "tile.cuh") << "int own;";
  advise::Sources sources(kernels / "ptx" / "main.ptx");
  const advise::Unit& unit = sources.unit("kernels/main.cu");
  EXPECT_EQ(
      unit.text,
      "#include <a.h>\n # include \"inner/a.h\"  // a\n# 1 \"inner/a.h\"\n#include \"b.h\"\n# 1 \"b.h\"\n"
      "#include \"up.h\"\n# 1 \"up.h\"\nstruct Up {};\n# 2 \"b.h\"\n# 2 \"inner/a.h\"\n#include \"a.h\"\n"
      "#include \"kernels/sum.cu\"\n# 1 \"kernels/sum.cu\"\nfirst\n   second line  \n# 4 \"inner/a.h\"\nint "
      "a;\n# 3 \"\"\n#include \"nowhere.h\"\n#include \"lanescope/tile.cuh\"\n#include \"a\n#includes "
      "\"sum.cu\"\n#include \"inner/../inner/a.h\"\n");
  EXPECT_TRUE(sources.unit("kernels/other.cu").text.empty());

  // Where a word stands there, and where it stands in its file.
  const auto edit_of = [&](const std::string& word) {
    const size_t at = unit.text.find(word);
    return advise::Edit{at, at + word.size(), "new"};
  };
  const advise::Patch patch =
      unit.patch_of({edit_of("nowhere"), edit_of("second"), edit_of("int a"), edit_of("first")});
  ASSERT_EQ(patch.along.size(), 2u);
  EXPECT_EQ(patch.file, sources.file("kernels/main.cu").path.string());
  EXPECT_EQ(patch.along[0].file, sources.file("kernels/sum.cu").path.string());
  EXPECT_EQ(advise::patched("first\n   second line  \n", patch.along[0].edits, "sum.cu"),
            "new\n   new line  \n");
  const auto changed = [](const advise::Patch& p) {
    return advise::patched(read_file(p.file), p.edits, p.file);
  };
  EXPECT_THAT(changed(patch), testing::HasSubstr("#include \"new.h\"\n#include \"lane"));
  EXPECT_THAT(changed(patch.along[1]), testing::EndsWith("\nnew;\n"));
  const size_t end = unit.text.find("\n#include \"nowhere");
  EXPECT_THROW((void)unit.patch_of({{end - 3, end + 5, ""}}), Error);
}

}  // namespace
}  // namespace lanescope::report
