// Loops that only wait for a change of memory: which these are, that they are counted once however often they
// look, and who goes on meanwhile.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exec/flow.hpp"
#include "exec/one_kernel.hpp"
#include "exec/wait_loop.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {
namespace {

using harness::only;
using harness::Program;

enum class Kind { none, reads, tries };

/// What the loop `again: BODY @%p1 bra again;` is.
Kind kind_of(const std::string& body, const std::string& end = "@%p1 bra again;\n") {
  const ptx::Module module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<4>;\n"
      ".reg .b32 %r<8>;\n.reg .b64 %rd<6>;\nagain:\n" +
          body + end + "out:\nret;\n}\n",
      "test.ptx");
  const Flow flow = analyse(module.functions[0], false);
  const std::vector<WaitLoop> found = wait_loops(module.functions[0], flow, Loops(flow));
  EXPECT_LE(found.size(), 1u);
  return found.empty() ? Kind::none : found[0].takes_lock ? Kind::tries : Kind::reads;
}

const std::string look = "ld.acquire.gpu.u32 %r1, [%rd1];\n", test = "setp.eq.u32 %p1, %r1, %r2;\n";

TEST(WaitLoop, IsOneThatChangesNothingAndCarriesNothing) {
  EXPECT_EQ(kind_of(look + test), Kind::reads);
  EXPECT_EQ(kind_of("ld.volatile.shared.u32 %r1, [%rd1];\nnanosleep.u32 20;\nmembar.gl;\n" + test),
            Kind::reads);
  EXPECT_EQ(kind_of("atom.global.add.u32 %r1, [%rd1], 0;\n" + test), Kind::reads);
  EXPECT_EQ(kind_of("mbarrier.try_wait.parity.shared.b64 %p1, [%rd1], %r2;\n"), Kind::reads);
  EXPECT_EQ(kind_of("atom.global.cas.b32 %r1, [%rd1], 0, 1;\n" + test), Kind::tries);
  EXPECT_EQ(kind_of(look + test + "@%p2 bra out;\n"), Kind::reads);

  EXPECT_EQ(kind_of(test), Kind::none) << "looks at nothing";
  EXPECT_EQ(kind_of("atom.global.add.u32 %r1, [%rd1], 1;\n" + test), Kind::none);
  EXPECT_EQ(kind_of(look + "st.global.u32 [%rd2], %r1;\n" + test), Kind::none);
  EXPECT_EQ(kind_of(look + "red.global.add.u32 [%rd2], 1;\n" + test), Kind::none);
  EXPECT_EQ(kind_of(look + "bar.sync 0;\n" + test), Kind::none);
  EXPECT_EQ(kind_of(look + "add.u32 %r2, %r2, 1;\n" + test), Kind::none) << "a counter";
  EXPECT_EQ(kind_of(look + "@%p2 mov.u32 %r2, %r1;\n" + test), Kind::none) << "may keep its value";
  EXPECT_EQ(kind_of(look + "mov.u32 %r2, %clock;\n" + test), Kind::none) << "time passes";
  EXPECT_EQ(
      kind_of(look + "mov.u64 %rd3, %globaltimer;\nsetp.gt.u64 %p2, %rd3, %rd2;\n@%p2 bra out;\n" + test),
      Kind::none)
      << "a limit of time";
  EXPECT_EQ(kind_of(look + "add.u64 %rd1, %rd1, 4;\n" + test), Kind::none) << "looks elsewhere each time";
  EXPECT_EQ(
      kind_of("inner:\n" + look + "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra inner;\nst.global.u32 [%rd2], 1;\n"),
      Kind::reads)
      << "begins where the loop begins that it is in";
}

TEST(WaitLoop, MayPauseLongerAndLonger) {
  const std::string longer = "nanosleep.u32 %r3;\nshl.b32 %r3, %r3, 1;\nmin.u32 %r3, %r3, 256;\n",
                    count = "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 16;\n";
  EXPECT_EQ(kind_of(longer + look + test), Kind::reads);
  EXPECT_EQ(kind_of(longer + "atom.global.cas.b32 %r1, [%rd1], 0, 1;\n" + test), Kind::tries);
  EXPECT_EQ(kind_of("mov.u64 %rd3, %globaltimer;\nsub.u64 %rd4, %rd3, %rd2;\ncvt.u32.u64 %r4, %rd4;\n"
                    "nanosleep.u32 %r4;\n" +
                    look + test),
            Kind::reads);
  EXPECT_EQ(kind_of(look + test + count), Kind::reads) << "counts how often it looked";
  EXPECT_EQ(kind_of(count + "@%p2 nanosleep.u32 20;\n" + look + test), Kind::reads);
  // Ways back from the middle, as nvcc makes them for sm_100.
  const std::string leave = "@%p1 bra out;\n", back = "bra again;\n";
  EXPECT_EQ(kind_of(look + test + leave + count + "@%p2 bra again;\nnanosleep.u32 20;\n", back), Kind::reads);
  EXPECT_EQ(
      kind_of(look + test + leave + count + "@%p2 bra more;\n" + back + "more:\nnanosleep.u32 20;\n", back),
      Kind::reads);

  const std::string skip = count + "@%p2 bra skip;\n", skipped = "skip:\n";
  EXPECT_EQ(kind_of(look + test + skip + "nanosleep.u32 20;\n" + skipped), Kind::reads);
  EXPECT_EQ(kind_of(look + test + skip + "mov.u32 %r4, 1;\n" + skipped + "setp.eq.u32 %p1, %r4, 1;\n"),
            Kind::none)
      << "is left by what was done in some iterations only";
  EXPECT_EQ(kind_of(skip + look + test + skipped), Kind::none) << "looks in some iterations only";
  EXPECT_EQ(kind_of(look + test + skip +
                    "ld.volatile.u32 %r4, [%rd2];\nsetp.eq.u32 %p3, %r4, 1;\n@%p3 bra out;\n" + skipped),
            Kind::none)
      << "may be left in some iterations only";
  EXPECT_EQ(kind_of(look + test + skip + "atom.global.exch.b32 %r4, [%rd2], 1;\n" + skipped), Kind::none);
  EXPECT_EQ(kind_of(look + test + skip + "bar.warp.sync 1;\n" + skipped), Kind::none) << "lets others go on";
  EXPECT_EQ(kind_of(look + test + leave + count +
                    "@%p2 bra again;\nld.volatile.u32 %r4, [%rd2];\n"
                    "setp.eq.u32 %p1, %r4, 0;\n"),
            Kind::none);
  EXPECT_EQ(kind_of(look + test + leave + count + "@%p2 bra out;\n", back), Kind::none) << "gives up";
}

/// A barrier of the grid as nvcc makes it, by the first thread of each block, `count` times; %r10 counts.
std::string grid_barriers(uint32_t count) {
  return "mov.u32 %r10, 0;\nmov.u32 %r11, %nctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r2, 0;\n"
         "sub.u32 %r12, 0x80000001, %r11;\nselp.b32 %r12, %r12, 1, %p2;\n"
         "next:\nbar.sync 0;\n@%p1 bra together;\natom.add.release.gpu.u32 %r13, [%rd1], %r12;\n"
         "look:\nld.acquire.gpu.u32 %r14, [%rd1];\nxor.b32 %r15, %r14, %r13;\nsetp.gt.s32 %p3, %r15, -1;\n"
         "@%p3 bra look;\ntogether:\nbar.sync 0;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p4, %r10, " +
         std::to_string(count) + ";\n@%p4 bra next;\n";
}

TEST(WaitLoop, GridBarriersAreCountedTheSameOnAnyNumberOfHostThreads) {
  constexpr uint32_t barriers = 50, blocks = 24;
  // A warp: 7 instructions of the harness and 6 before the loop, 6 for each barrier, and the end. The first
  // warp has 5 more for each barrier, with one look.
  constexpr uint64_t other_warp = 7 + 6 + barriers * 6 + 1, first_warp = other_warp + barriers * 5;
  for (const uint32_t threads : {1u, 2u, 5u}) {
    Program p(grid_barriers(barriers));
    const LaunchResult result = p.run({blocks}, {64}, threads);
    EXPECT_TRUE(result.findings.empty()) << threads << " threads: " << result.findings.front().message;
    EXPECT_EQ(result.warp_instructions, blocks * (first_warp + other_warp)) << threads << " threads";
    EXPECT_EQ(p.accesses(AccessSpace::global), blocks * barriers * 2) << "an arrival and a look each";
  }
}

TEST(WaitLoop, WhatLanesWaitForMayComeBeforeTheBarrierOfItsBlock) {
  // All lanes meet where the block of a barrier begins, unless that is what another lane waits for.
  for (const char* spoiler :
       {"", "add.u32 %r5, %r5, 1;\nst.global.u32 [%rd3+512], %r5;\n"}) {  // the second changes memory
    Program p(
        "mov.u32 %r5, 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra store;\nlook:\nld.volatile.global.u32 %r3, "
        "[%rd1];\n" +
        std::string(spoiler) +
        "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra look;\nstore:\nst.volatile.global.u32 [%rd1], 1;\nbar.sync 0;\n"
        "st.global.u32 [%rd3], 7;\n");
    EXPECT_TRUE(p.run({1}, {32}).findings.empty()) << spoiler;
    EXPECT_EQ(p.word(31), 7u) << spoiler;
  }
}

/// A barrier of the grid as cuda::barrier waits at it: 16 looks at once, then pauses that grow with the time.
/// `straight`: as nvcc writes it for sm_90, otherwise for sm_100.
std::string patient_barrier(bool straight) {
  const std::string arrive =
      "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra together;\nmov.u32 %r11, %nctaid.x;\nsetp.ne.u32 %p2, %r2, 0;\n"
      "sub.u32 %r12, 0x80000001, %r11;\nselp.b32 %r12, 1, %r12, %p2;\n"
      "atom.add.release.gpu.u32 %r13, [%rd1], %r12;\nmov.u64 %rd4, %globaltimer;\nmov.u32 %r20, 0;\n";
  const std::string look =
      "ld.acquire.gpu.u32 %r14, [%rd1];\nxor.b32 %r15, %r14, %r13;\nsetp.gt.s32 %p3, %r15, -1;\n";
  const std::string
      time = "mov.u64 %rd5, %globaltimer;\nsub.u64 %rd6, %rd5, %rd4;\nsetp.lt.u64 %p5, %rd6, 40000;\n",
      sleep = "shr.u64 %rd7, %rd6, 2;\ncvt.u32.u64 %r21, %rd7;\nnanosleep.u32 %r21;\n";
  return arrive +
         (straight ? "again:\nsetp.lt.s32 %p4, %r20, 16;\n@%p4 bra count;\nbra.uni pause;\n"
                     "count:\nadd.s32 %r20, %r20, 1;\nbra.uni look;\n"
                     "pause:\n" +
                         time + "@%p5 bra look;\n" + sleep + "look:\n" + look + "@%p3 bra again;\n"
                   : "bra.uni again;\n"
                     "count:\nadd.s32 %r20, %r20, 1;\n"
                     "again:\n" +
                         look + "@%p3 bra wait;\nbra.uni together;\n" +
                         "wait:\nsetp.lt.s32 %p4, %r20, 16;\n@%p4 bra count;\n" + time + "@%p5 bra again;\n" +
                         sleep + "bra.uni again;\n") +
         "together:\nbar.sync 0;\nst.global.u32 [%rd3+4], 7;\n";
}

TEST(WaitLoop, PausesThatGrowAreNotCountedEither) {
  constexpr uint32_t blocks = 24;
  for (const bool straight : {true, false})
    for (const uint32_t threads : {1u, 2u, 5u}) {
      Program p(patient_barrier(straight));
      EXPECT_TRUE(p.run({blocks}, {64}, threads, 64 * blocks + 1).findings.empty());
      for (uint32_t i = 1; i <= 64 * blocks; ++i) ASSERT_EQ(p.word(i), 7u);
      EXPECT_EQ(p.accesses(AccessSpace::global), blocks * (2u + 2u))
          << "an arrival, a look, and two stores each; " << threads << " threads";
    }
}

TEST(WaitLoop, TriesOfWhichThereAreOnlySoManyAreAllMade) {
  // 1000 looks at a word that nobody sets, with pauses.
  Program p(
      "mov.u32 %r5, 0;\nlook:\nnanosleep.u32 20;\nadd.u32 %r5, %r5, 1;\nld.volatile.global.u32 %r6, [%rd1];\n"
      "setp.ne.u32 %p1, %r6, 0;\n@%p1 bra out;\nsetp.lt.u32 %p2, %r5, 1000;\n@%p2 bra look;\nout:\n"
      "st.global.u32 [%rd3+4], %r5;\n");
  EXPECT_TRUE(p.run({2}, {32}).findings.empty());
  EXPECT_EQ(p.word(64), 1000u);
  EXPECT_EQ(p.accesses(AccessSpace::global), 2u * (1000u + 1u));
}

TEST(WaitLoop, WhoSleepsLetsOtherBlocksRunBeforeItLooksAgain) {
  // Block 0 needs one look for each block that starts before the one that it waits for, not all that it may
  // make.
  constexpr uint32_t blocks = 20;
  Program p(
      "setp.eq.u32 %p1, %r2, " + std::to_string(blocks - 1) +
      ";\n@%p1 st.volatile.global.u32 [%rd1], 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 ret;\nmov.u32 %r5, 0;\n"
      "look:\nnanosleep.u32 20;\nadd.u32 %r5, %r5, 1;\nld.volatile.global.u32 %r6, [%rd1];\n"
      "setp.ne.u32 %p1, %r6, 0;\n@%p1 bra out;\nsetp.lt.u32 %p2, %r5, 1000000;\n@%p2 bra look;\nout:\n"
      "st.global.u32 [%rd1+4], %r5;\n");
  EXPECT_TRUE(p.run({blocks}, {32}).findings.empty());
  EXPECT_LE(p.word(1), blocks);
}

TEST(WaitLoop, ThatFallsBackToItsBeginning) {
  // Block 0 waits for block 1. What precedes the loop's beginning is a part of it, once with a guard at its
  // end.
  for (const std::string guard : {"", "@%p3 "}) {
    Program p(
        "setp.ne.u32 %p1, %r2, 0;\n@%p1 st.volatile.global.u32 [%rd1+4], 1;\nmov.u32 %r5, 0;\nbra look;\n"
        "pause:\nadd.u32 %r5, %r5, 1;\nand.b32 %r7, %r5, 1;\nsetp.eq.u32 %p3, %r7, 0;\n" +
        guard +
        "nanosleep.u32 20;\nlook:\nld.volatile.global.u32 %r6, [%rd1+4];\nsetp.eq.u32 %p2, %r6, 0;\n@%p2 bra "
        "pause;\n"
        "setp.eq.u32 %p4, %r2, 0;\n@%p4 st.global.u32 [%rd1], 9;\n");
    EXPECT_TRUE(p.run({2}, {32}).findings.empty());
    EXPECT_EQ(p.word(0), 9u);
    if (guard.empty()) {
      EXPECT_EQ(p.accesses(AccessSpace::global), 4u) << "a look and a store each";
    }
  }
}

TEST(WaitLoop, LanesPauseEachInItsOwnWay) {
  // Lane n waits for word n + 1, the last one for none, and sets word n. Lanes pause by branches that they do
  // not go together, and leave from the middle of the loop.
  Program p(
      "add.u64 %rd4, %rd3, 4;\nmov.u32 %r5, %r1;\nsetp.eq.u32 %p1, %r1, 31;\n@%p1 st.volatile.global.u32 "
      "[%rd4], 1;\n"
      "look:\nld.volatile.global.u32 %r6, [%rd4];\nsetp.ne.u32 %p2, %r6, 0;\n@%p2 bra out;\n"
      "add.u32 %r5, %r5, 1;\nand.b32 %r7, %r5, 1;\nsetp.eq.u32 %p3, %r7, 0;\n@%p3 bra look;\n"
      "nanosleep.u32 %r5;\nand.b32 %r7, %r5, 2;\nsetp.eq.u32 %p3, %r7, 0;\n@%p3 bra meet;\n"
      "nanosleep.u32 20;\nmeet:\nbra look;\n"
      "out:\nst.volatile.global.u32 [%rd3], 1;\n");
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i <= 32; ++i) EXPECT_EQ(p.word(i), 1u);
}

TEST(WaitLoop, LanesThatLeaveItDoNotMakeTheOthersCountAgain) {
  // Lane n waits for word n + 1, the last one for none, and sets word n. One look of the whole warp is
  // counted.
  Program p(
      "add.u64 %rd4, %rd3, 4;\nmov.u32 %r5, 1;\nsetp.eq.u32 %p1, %r1, 31;\n@%p1 st.volatile.global.u32 "
      "[%rd4], 1;\n"
      "look:\nld.volatile.global.u32 %r6, [%rd4];\nsetp.eq.u32 %p2, %r6, 0;\n@%p2 bra look;\n"
      "st.volatile.global.u32 [%rd3], 1;\n");
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i <= 32; ++i) EXPECT_EQ(p.word(i), 1u);
  // The store of lane 31, one look, and then a store each.
  EXPECT_EQ(p.accesses(AccessSpace::global), 1u + 1u + 32u);
}

TEST(WaitLoop, LocksAreTakenInTurn) {
  // Every thread takes the lock at word 0 in a loop of its own, adds one to word 1, and gives it back.
  Program p(
      "look:\natom.global.cas.b32 %r5, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra look;\n"
      "ld.volatile.global.u32 %r6, [%rd1+4];\nadd.u32 %r6, %r6, 1;\nst.volatile.global.u32 [%rd1+4], %r6;\n"
      "membar.gl;\natom.global.exch.b32 %r7, [%rd1], 0;\n");
  for (const uint32_t threads : {1u, 3u}) {
    EXPECT_TRUE(p.run({6}, {96}, threads).findings.empty());
    EXPECT_EQ(p.word(1), 6u * 96u);
  }
}

TEST(WaitLoop, OneThatNobodyCanEndIsADeadlock) {
  const std::string wait =
      "look:\nld.volatile.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra look;\n";
  for (const uint32_t threads : {1u, 2u}) {
    Program p(wait);
    const LaunchResult result = p.run({3}, {64}, threads);
    const Finding& f = only(result);
    EXPECT_EQ(f.kind, Finding::Kind::deadlock);
    EXPECT_EQ(f.count, 3u * 64u);
    EXPECT_NE(f.message.find("a loop that waits for a change of memory"), std::string::npos) << f.message;
  }
  Program without("look:\nadd.u32 %r5, %r5, 0;\nsetp.eq.u32 %p2, %r5, %r5;\n@%p2 bra look;\n");
  const LaunchResult endless = without.run({1}, {32});
  EXPECT_NE(only(endless).message.find("a loop without end"), std::string::npos) << only(endless).message;
  for (const bool straight : {true, false}) {  // one arrival too few
    Program p("setp.eq.u32 %p6, %r2, 1;\n@%p6 ret;\n" + patient_barrier(straight));
    const LaunchResult result = p.run({3}, {64}, 2);
    EXPECT_EQ(result.findings.size(), 2u) << "the loop, and the barrier of the block behind it";
    for (const Finding& f : result.findings) EXPECT_EQ(f.kind, Finding::Kind::deadlock);
  }
  // What could end it is done by lanes that are to meet the one that waits.
  Program lanes("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra meet;\n" + wait +
                "meet:\n@%p1 st.volatile.global.u32 [%rd1], 7;\n");
  EXPECT_TRUE(lanes.run({1}, {32}).findings.empty());
  EXPECT_EQ(lanes.word(0), 7u);
}

}  // namespace
}  // namespace lanescope::exec
