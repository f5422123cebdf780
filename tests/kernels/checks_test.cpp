// The checks of a launch: what they find in kernels that have one defect each, that they find nothing in
// others, and that they change no result.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/engine.hpp"
#include "kernels/kernel_cases.hpp"
#include "kernels/program_cases.hpp"

namespace lanescope::kernels {
namespace {

using Kind = exec::Finding::Kind;
using Severity = exec::Finding::Severity;

constexpr exec::Checks all{.race = true, .init = true, .barrier = true, .bounds = true};

/// "error race 14 15": severity, kind, and the lines of both sides, the lower one first; " for 16": what
/// depends on it.
std::string in_short(Program& program, const std::string& name, const exec::Finding& f) {
  const exec::Kernel& kernel = program.image().kernel(name);
  const auto line_of = [&](uint32_t instruction) {
    return profile::place_of(program.image().module(), kernel.origins[instruction]).line;
  };
  uint32_t line = line_of(f.instruction), other = 0;
  if (f.other_instruction != exec::Finding::none) other = line_of(f.other_instruction);
  if (f.kind == Kind::race && other < line) std::swap(line, other);
  std::string text =
      std::string(exec::name_of(f.severity)) + " " + exec::name_of(f.kind) + " " + std::to_string(line);
  if (other != 0) text += " " + std::to_string(other);
  const uint32_t use = f.use == exec::Finding::none ? line : line_of(f.use);
  return use == line ? text : text + " for " + std::to_string(use);
}

Case case_of(const std::string& kernel, uint32_t threads) {
  Case c;
  c.program = "checks";
  c.kernel = kernel;
  c.grid = {1};
  c.block = {threads};
  c.dynamic_shared = 256;
  c.arguments = {zeros(4 * 96)};
  return c;
}

std::set<std::string> findings_of(Program& program, const std::string& kernel, uint32_t threads,
                                  const exec::Checks& checks) {
  const Case c = case_of(kernel, threads);
  const Outcome run = run_kernel(program, c, nullptr, 1, {}, checks);
  EXPECT_FALSE(run.result.failed);
  std::set<std::string> found;
  for (const exec::Finding& f : run.result.findings) found.insert(in_short(program, kernel, f));
  return found;
}

class Checked : public testing::TestWithParam<std::string> {
 protected:
  Program program_{"tests/data/ptx/checks" + GetParam() + ".ptx"};

  std::set<std::string> of(const std::string& kernel, uint32_t threads = 64,
                           const exec::Checks& checks = all) {
    return findings_of(program_, kernel, threads, checks);
  }
};
using Found = std::set<std::string>;

TEST_P(Checked, ThreadsOfSeveralWarps) {
  EXPECT_EQ(of("racy_missing_barrier"), (Found{"error race 14 15", "error uninitialised-read 15 14"}));
  EXPECT_EQ(of("racy_loop"), Found{"error race 31 33"});
  EXPECT_EQ(of("racy_vector"), (Found{"error race 54 55", "error uninitialised-read 55 54 for 56"}));
  for (const char* kernel : {"clean_barrier", "clean_loop"}) EXPECT_EQ(of(kernel), Found{}) << kernel;
}

TEST_P(Checked, SeveralStoresToOnePlace) {
  EXPECT_EQ(of("racy_different_values"), Found{"error race 63 63"});
  EXPECT_EQ(of("clean_same_value"), Found{"note race 72 72"});
}

TEST_P(Checked, BytesOfOneWord) {
  EXPECT_EQ(of("clean_bytes"), Found{});
  EXPECT_EQ(of("racy_bytes"), Found{"error race 88 89"});
}

TEST_P(Checked, LanesOfOneWarp) {
  EXPECT_EQ(of("racy_warp", 32), Found{"error race 97 98"});
  EXPECT_EQ(of("racy_divergent", 32, {.race = true}), Found{"error race 138 140"});
  EXPECT_EQ(of("racy_tile", 32), Found{"error race 155 157"});
  for (const char* kernel : {"clean_warp", "clean_shuffle", "clean_tile", "clean_chain"})
    EXPECT_EQ(of(kernel, 32), Found{}) << kernel;
}

TEST_P(Checked, LanesThatMeetInBetweenAreAWarning) {
  EXPECT_EQ(of("racy_shuffle", 32), Found{"warning race 111 113"});
  EXPECT_EQ(of("racy_met", 32), Found{"warning race 715 718"});
  EXPECT_EQ(of("racy_met_by_way"), Found{"warning race 727 740"});
  EXPECT_EQ(of("racy_met_before", 32), Found{"error race 748 749"});
}

TEST_P(Checked, LegacyWarpCodeIsAWarningOfNewHardwareAlone) {
  EXPECT_EQ(of("racy_volatile", 32), (Found{"warning race 128 129", "warning race 129 129",
                                            "warning race 129 130", "warning race 130 130"}));
  exec::Checks lockstep = all;
  lockstep.lockstep = true;
  for (const char* kernel : {"racy_volatile", "racy_warp", "racy_shuffle", "racy_tile"})
    EXPECT_EQ(of(kernel, 32, lockstep), Found{}) << kernel;
  EXPECT_EQ(of("racy_divergent", 32, lockstep), of("racy_divergent", 32));
  EXPECT_EQ(of("racy_different_values", 64, lockstep), of("racy_different_values", 64));
}

TEST_P(Checked, AtomicsLocksAndFlags) {
  EXPECT_EQ(of("racy_atomics"), Found{"error race 183 184"});
  EXPECT_EQ(of("racy_lock"), (Found{"error race 209 209", "note race 209 209"}));
  EXPECT_EQ(of("racy_flag"), (Found{"error race 238 243", "note race 239 241"}));
  for (const char* kernel : {"clean_atomics", "clean_lock", "clean_flag"})
    EXPECT_EQ(of(kernel), Found{}) << kernel;
}

TEST_P(Checked, WhatACompareAndSwapExpectsMayBeStale) {
  EXPECT_EQ(of("clean_guess"), Found{"note race 760 763"});
  EXPECT_EQ(of("racy_guess"), Found{"error race 775 776"});
}

TEST_P(Checked, NamedBarriersOrderThoseWhoComeToThem) {
  EXPECT_EQ(of("clean_arrive"), Found{});
  EXPECT_EQ(of("racy_arrive"), Found{"error race 267 270"});
  EXPECT_EQ(of("racy_part_of_block", 96), Found{"error race 277 279"});
}

TEST_P(Checked, CopiesAreWaitedForByTheirThreads) {
  for (const char* kernel : {"clean_copy", "clean_groups", "clean_mbarrier"})
    EXPECT_EQ(of(kernel), Found{}) << kernel;
  EXPECT_EQ(of("racy_copy", 64, {.race = true}), Found{"error race 412 414"});
  EXPECT_EQ(of("racy_wait", 64, {.race = true}), Found{"error race 423 425"});
  EXPECT_EQ(of("racy_mbarrier", 64, {.race = true}), Found{"error race 471 473"});
}

TEST_P(Checked, MatrixInstructions) {
  for (const char* kernel : {"clean_fragments", "clean_rows"}) EXPECT_EQ(of(kernel, 32), Found{}) << kernel;
  EXPECT_EQ(of("racy_fragments", 32),
            (Found{"error race 509 509", "error race 509 511", "error uninitialised-read 509 509 for 511"}));
  // Rows 8 to 15 have not been stored.
  EXPECT_EQ(of("racy_rows", 32), (Found{"error race 534 537", "error uninitialised-read 537 for 539"}));
}

TEST_P(Checked, WhatNobodyHasWritten) {
  EXPECT_EQ(of("unset_shared"), Found{"error uninitialised-read 289"});
  EXPECT_EQ(of("unset_until_later"), Found{"error uninitialised-read 295 297"});
  EXPECT_EQ(of("unset_part"), Found{"warning uninitialised-read 306"});
  EXPECT_EQ(of("unset_local"), Found{"error uninitialised-read 312"});
  EXPECT_EQ(of("unset_second_call"), Found{"error uninitialised-read 317 for 323"});
  EXPECT_EQ(of("clean_local"), Found{});
}

TEST_P(Checked, WhatNobodyHasWrittenDoesNoHarmUntilSomethingDependsOnIt) {
  const exec::Checks init{.init = true};
  for (const char* kernel : {"clean_dropped", "clean_bits", "clean_taken_value", "clean_passed_on"})
    EXPECT_EQ(of(kernel, 64, init), Found{}) << kernel;
  EXPECT_EQ(of("unset_bits", 64, init), Found{"error uninitialised-read 781 782 for 804"});
  EXPECT_EQ(of("unset_branch", 64, init), Found{"error uninitialised-read 781 for 810"});
  const Found address = of("unset_address", 64, init);  // nvcc gives the load one line or the other
  ASSERT_EQ(address.size(), 1u);
  EXPECT_TRUE(address.begin()->starts_with("error uninitialised-read") && address.begin()->ends_with(" 816"))
      << *address.begin();
  for (const auto& [kernel, line] : {std::pair{"unset_taken_value", "832"},
                                     {"unset_vote", "839"},
                                     {"unset_argument", "845"},
                                     {"unset_printed", "871"}})
    EXPECT_EQ(of(kernel, 64, init), Found{std::string("error uninitialised-read 781 for ") + line}) << kernel;
  EXPECT_EQ(of("unset_passed_on", 64, init), Found{"error uninitialised-read 781 for 853"});
  EXPECT_EQ(of("unset_float", 64, init), Found{"error uninitialised-read 858 for 859"});
}

TEST_P(Checked, BarriersReachedByPartOfTheThreads) {
  EXPECT_EQ(of("split_warp"), Found{"error barrier-divergence 336 340"});
  EXPECT_EQ(of("split_block"), Found{"warning barrier-divergence 353 349"});
  const Found exit = of("split_exit");
  ASSERT_EQ(exit.size(), 1u);
  EXPECT_TRUE(exit.begin()->starts_with("note barrier-divergence 361")) << *exit.begin();
  const Found count = of("split_count");
  ASSERT_EQ(count.size(), 1u);
  EXPECT_TRUE(count.begin()->starts_with("error barrier-divergence 367")) << *count.begin();
  EXPECT_EQ(of("split_opinion"), Found{"error barrier-divergence 376 374"});
  EXPECT_EQ(of("split_mask"), Found{"error member-mask 382"});
  EXPECT_EQ(of("clean_split"), Found{});
}

TEST_P(Checked, ShufflesFromLanesThatTakeNoPart) {
  EXPECT_EQ(of("split_ended"), Found{"error shuffle-source 549 551 for 550"});
  EXPECT_EQ(of("split_ended", 52), Found{"error shuffle-source 549 for 550"})
      << "lanes that the block does not have";
  EXPECT_EQ(of("split_members"), Found{"error shuffle-source 557"});
  for (const char* kernel : {"clean_ended", "clean_members"}) EXPECT_EQ(of(kernel), Found{}) << kernel;
  EXPECT_EQ(of("split_ended", 64, {.race = true, .init = true}), Found{});
}

TEST_P(Checked, ShufflesWhoseValuesAreDropped) {
  constexpr exec::Checks barrier{.barrier = true};
  for (const char* kernel : {"clean_upper_half", "clean_stored_half"}) {
    EXPECT_EQ(of(kernel), Found{}) << kernel;
    const Found found = of(kernel, 64, barrier);
    ASSERT_EQ(found.size(), 1u) << "values are followed with init alone";
    EXPECT_TRUE(found.begin()->starts_with("warning shuffle-source")) << *found.begin();
  }
  EXPECT_EQ(of("split_stored"), Found{"error shuffle-source 894 for 896"});
  EXPECT_EQ(of("split_compared"), Found{"error shuffle-source 901 for 902"});
}

TEST_P(Checked, ArraysOfSharedMemoryAreKeptTo) {
  EXPECT_EQ(of("overrun_next"), Found{"error array-overrun 598"});
  EXPECT_EQ(of("overrun_dynamic"), Found{"error array-overrun 607"});
  EXPECT_EQ(of("clean_either"), Found{});
  EXPECT_EQ(of("overrun_next", 64, {.race = true, .init = true, .barrier = true}), Found{});
}

TEST_P(Checked, MemberMasksAreTheSame) {
  EXPECT_EQ(of("split_masks"), Found{"error member-mask 627"});
  EXPECT_EQ(of("clean_masks"), Found{});
}

TEST_P(Checked, MbarriersAreInitialisedOnceAndBefore) {
  const Found racy = of("racy_init");
  ASSERT_EQ(racy.size(), 1u);
  EXPECT_TRUE(racy.begin()->starts_with("error race 638")) << *racy.begin();
  EXPECT_EQ(of("split_init"), Found{"error barrier-reinitialised 638"});
  EXPECT_EQ(of("clean_init"), Found{});
}

TEST_P(Checked, FlagsInGlobalMemoryOrderThreadsOfABlock) {
  EXPECT_EQ(of("racy_global_flag"), Found{"error race 700 705"});
  EXPECT_EQ(of("clean_global_flag"), Found{});
}

TEST_P(Checked, EachCheckIsByItself) {
  EXPECT_EQ(of("racy_missing_barrier", 64, {.race = true}), Found{"error race 14 15"});
  EXPECT_EQ(of("racy_missing_barrier", 64, {.init = true}), Found{"error uninitialised-read 15 14"});
  EXPECT_EQ(of("racy_missing_barrier", 64, {.barrier = true}), Found{});
  EXPECT_EQ(of("split_warp", 64, {.race = true, .init = true}), Found{});
}

INSTANTIATE_TEST_SUITE_P(, Checked, testing::Values("", ".sm_100"), [](const auto& info) {
  return info.param.empty() ? std::string("sm_90") : info.param.substr(1);
});

// Kernels that are right.

/// `path`: of its PTX. Each run has a program of its own, since some kernels change its variables, and one
/// host thread, since instructions of loops that wait for other blocks depend on when those run.
void expect_clean(const std::string& path, const Case& c) {
  SCOPED_TRACE(path + ": " + c.label());
  Program program(path), unchecked_program(path);
  const Outcome unchecked = run_kernel(unchecked_program, c, nullptr, 1);
  const Outcome run = run_kernel(program, c, nullptr, 1, {}, all);
  EXPECT_EQ(run.buffers, unchecked.buffers);
  EXPECT_EQ(run.result.warp_instructions, unchecked.result.warp_instructions);
  EXPECT_FALSE(run.result.failed);
  for (const exec::Finding& f : run.result.findings)
    if (f.severity != Severity::note) ADD_FAILURE() << in_short(program, c.kernel, f) << ": " << f.message;
}

TEST(CheckedKernels, OfThisProjectAreClean) {
  for (const Case& c : kernel_cases()) expect_clean("kernels/ptx/" + c.program + ".ptx", c);
}

TEST(CheckedKernels, OfTheTestsAreClean) {
  for (const Case& c : program_cases())
    for (const char* target : {"", ".sm_100"})
      expect_clean("tests/data/ptx/" + c.program + target + ".ptx", c);
}

TEST(CheckedKernels, FindingsDoNotDependOnHostThreads) {
  Program program("tests/data/ptx/checks.ptx");
  Case c = case_of("racy_missing_barrier", 64);
  c.grid = {40};
  const auto told = [&](uint32_t threads) {
    std::string text;
    for (const exec::Finding& f : run_kernel(program, c, nullptr, threads, {}, all).result.findings)
      text += in_short(program, c.kernel, f) + " " + std::to_string(f.block) + " " +
              std::to_string(f.thread) + " " + std::to_string(f.count) + " " + f.message + "\n";
    return text;
  };
  const std::string one = told(1);
  EXPECT_NE(one.find(" 0 "), std::string::npos);
  EXPECT_EQ(told(3), one);
}

}  // namespace
}  // namespace lanescope::kernels
