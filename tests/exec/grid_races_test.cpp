// Races between blocks on global memory (--check global): what is one, how sure that is, and what orders
// blocks. Those of one block's threads are in global_races_test.cpp; tests/cuda/programs/catalogue/blocks.cu
// has both of whole programs.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using Excuse = Finding::Excuse;
using Lack = Finding::Lack;
using Severity = Finding::Severity;
using harness::only;

/// %r2: the block, %r4: something else in each block, %p1: whether it is block 0.
const std::string begin = "mov.u32 %r2, %ctaid.x;\nadd.u32 %r4, %r2, 7;\nsetp.eq.u32 %p1, %r2, 0;\n";

/// Findings of blocks of one thread, one after the other on one host thread.
std::vector<Finding> findings(const std::string& body, uint32_t blocks = 2, Dim3 cluster = {0, 0, 0},
                              const std::string& target = "sm_90") {
  harness::Program p(begin + body, "", target);
  p.checks = {.global = true};
  return p.run({blocks}, {1}, 1, 1024, false, cluster).findings;
}

/// Block 0 does the first, then the other ones the second.
std::string first_and_then(const std::string& first, const std::string& then) {
  return "@!%p1 bra others;\n" + first + "bra over;\nothers:\n" + then + "over:\n";
}

TEST(GridRaces, AreOfTwoBlocksOneOfWhichStores) {
  const std::string load = "ld.global.u32 %r5, [%rd1];\n", store = "st.global.u32 [%rd1], %r4;\n";
  const std::vector<std::pair<std::string, bool>> cases{{first_and_then(load, load), false},
                                                        {first_and_then(load, store), true},
                                                        {first_and_then(store, load), true},
                                                        {first_and_then(store, store), true},
                                                        {load + "@%p1 " + store, true}};
  for (const auto& [body, races] : cases) {
    const auto found = findings(body);
    EXPECT_EQ(!found.empty(), races) << body;
    for (const Finding& f : found) {
      EXPECT_EQ(f.kind, Finding::Kind::race);
      EXPECT_EQ(f.severity, Severity::error);
      EXPECT_EQ(f.lack, Lack::order_of_blocks);
      EXPECT_EQ(f.block, 1u);
      EXPECT_EQ(f.other_block, 0u);
      EXPECT_EQ(f.message.substr(0, 12), "bytes 0 to 3");
    }
  }
  EXPECT_TRUE(findings(load + store, 1).empty());
}

TEST(GridRaces, AreOfTheSameBytes) {
  // Bytes 0 and 1, or the same one, of a word; a vector and its last word; a load of two words by an address
  // that leads past the first.
  EXPECT_TRUE(
      findings("cvt.u64.u32 %rd4, %r2;\nadd.u64 %rd4, %rd1, %rd4;\nst.global.u8 [%rd4], %r4;\n").empty());
  EXPECT_FALSE(findings("st.global.u8 [%rd1+1], %r4;\n").empty());
  EXPECT_FALSE(findings(first_and_then("st.global.v4.u32 [%rd1], {%r4, %r4, %r4, %r4};\n",
                                       "ld.global.u8 %r5, [%rd1+15];\n"))
                   .empty());
  EXPECT_TRUE(findings(first_and_then("st.global.v4.u32 [%rd1], {%r4, %r4, %r4, %r4};\n",
                                      "ld.global.u8 %r5, [%rd1+16];\n"))
                  .empty());
}

TEST(GridRaces, StoresOfOneValueAreANote) {
  const Finding found = only(findings("st.global.u32 [%rd1], 5;\n"));
  EXPECT_EQ(found.severity, Severity::note);
  EXPECT_EQ(found.excuse, Excuse::same_value);
  // Of what both store of the word.
  EXPECT_EQ(only(findings(first_and_then("st.global.u32 [%rd1], 0x0501;\n", "st.global.u8 [%rd1+1], 5;\n")))
                .severity,
            Severity::note);
  EXPECT_EQ(
      only(findings(first_and_then("st.global.u32 [%rd1], 0x0501;\n", "st.global.u8 [%rd1], 5;\n"))).severity,
      Severity::error);
}

TEST(GridRaces, AtomicOperationsAndVolatileAccessesDoNotRaceWithEachOther) {
  EXPECT_TRUE(findings("atom.global.add.u32 %r5, [%rd1], %r4;\n").empty());
  EXPECT_TRUE(findings("ld.volatile.global.u32 %r5, [%rd1];\nst.volatile.global.u32 [%rd1], %r4;\n").empty());
  EXPECT_TRUE(findings("ld.volatile.global.u32 %r5, [%rd1];\nred.global.add.u32 [%rd1], %r4;\n").empty());
  const Finding stale =
      only(findings(first_and_then("red.global.add.u32 [%rd1], %r4;\n", "ld.global.u32 %r5, [%rd1];\n")));
  EXPECT_EQ(stale.severity, Severity::warning);
  EXPECT_EQ(stale.excuse, Excuse::stale);
  EXPECT_EQ(only(findings(first_and_then("red.global.add.u32 [%rd1], %r4;\nld.global.u32 %r5, [%rd1];\n",
                                         "ld.global.u32 %r5, [%rd1];\n")))
                .excuse,
            Excuse::stale);
  EXPECT_EQ(
      only(findings(first_and_then("red.global.add.u32 [%rd1], %r4;\n", "st.global.u32 [%rd1], %r4;\n")))
          .severity,
      Severity::error);
}

/// Block 0 writes and sets a flag, the other ones read the flag and then what was written.
std::vector<Finding> handed_over(const std::string& before_flag, const std::string& flag,
                                 const std::string& look = "ld.volatile.global.u32 %r5, [%rd1+64];\n") {
  return findings(first_and_then("st.global.u32 [%rd1], %r4;\n" + before_flag + flag,
                                 look + "mov.u32 %r6, %r5;\nld.global.u32 %r6, [%rd1];\n"));
}

TEST(GridRaces, AFlagBehindAFenceOrdersBlocks) {
  const std::string by_volatile = "st.volatile.global.u32 [%rd1+64], 1;\n",
                    by_atomic = "red.global.add.u32 [%rd1+64], 1;\n";
  for (const std::string& flag : {by_volatile, by_atomic}) {
    for (const char* fence : {"membar.gl;\n", "membar.sys;\n", "fence.acq_rel.gpu;\n", "fence.sc.sys;\n"})
      EXPECT_TRUE(handed_over(fence, flag).empty()) << fence << flag;
    for (const char* fence : {"", "membar.cta;\n", "fence.acq_rel.cta;\n", "fence.acq_rel.cluster;\n"}) {
      const Finding found = only(handed_over(fence, flag));
      EXPECT_EQ(found.severity, Severity::error) << fence << flag;
      EXPECT_EQ(found.lack, Lack::device_fence) << fence << flag;
    }
  }
  EXPECT_TRUE(handed_over("", "st.release.gpu.global.u32 [%rd1+64], 1;\n").empty());
  EXPECT_TRUE(handed_over("", "red.release.gpu.global.add.u32 [%rd1+64], 1;\n").empty());
  EXPECT_TRUE(handed_over("membar.gl;\n", by_volatile, "atom.global.add.u32 %r5, [%rd1+64], 1;\n").empty());
}

TEST(GridRaces, AFlagForTheBlockAloneOrdersNobodyElse) {
  for (const char* flag :
       {"st.release.cta.global.u32 [%rd1+64], 1;\n", "red.release.cta.global.add.u32 [%rd1+64], 1;\n"})
    EXPECT_EQ(only(handed_over("membar.gl;\n", flag)).lack, Lack::order_of_blocks) << flag;
}

TEST(GridRaces, WhatOthersHaveAddedUpTakesAFence) {
  // Each adds to a sum and counts itself; who comes last reads the sum.
  const auto added = [](const std::string& fence) {
    return findings("red.global.add.u32 [%rd1], %r4;\n" + fence +
                    "atom.global.add.u32 %r5, [%rd1+64], 1;\nsetp.eq.u32 %p2, %r5, 1;\n"
                    "@%p2 ld.global.u32 %r6, [%rd1];\n");
  };
  EXPECT_TRUE(added("membar.gl;\n").empty());
  EXPECT_EQ(only(added("")).severity, Severity::warning);
}

TEST(GridRaces, WhatAVectorLeavesOutIsNotStored) {
  const std::string even = "st.global.v8.b32 [%rd1], {%r4, _, %r4, _, %r4, _, %r4, _};\n",
                    odd = "st.global.v8.b32 [%rd1], {_, %r4, _, %r4, _, %r4, _, %r4};\n";
  EXPECT_TRUE(findings(first_and_then(even, odd), 2, {0, 0, 0}, "sm_100").empty());
  EXPECT_EQ(only(findings(even, 2, {0, 0, 0}, "sm_100")).width, 32u);
}

TEST(GridRaces, AFlagOrdersWhoReadsItAlone) {
  const std::string flag = "st.volatile.global.u32 [%rd1+64], 1;\n";
  for (const char* look : {"", "ld.volatile.global.u32 %r5, [%rd1+128];\n"}) {
    const Finding found = only(handed_over("membar.gl;\n", flag, look));
    EXPECT_EQ(found.lack, Lack::order_of_blocks) << look;
  }
  // What comes behind the fence is not covered by it.
  EXPECT_EQ(only(findings(first_and_then("membar.gl;\nst.global.u32 [%rd1], %r4;\n" + flag,
                                         "ld.volatile.global.u32 %r5, [%rd1+64];\nmov.u32 %r6, %r5;\n"
                                         "ld.global.u32 %r6, [%rd1];\n")))
                .lack,
            Lack::device_fence);
}

TEST(GridRaces, OrderGoesOnFromBlockToBlock) {
  // Each block but the first waits for the one before, and adds to the same word.
  const auto chain = [](const std::string& fence) {
    return "mul.wide.u32 %rd4, %r2, 4;\nadd.u64 %rd4, %rd1, %rd4;\n@%p1 bra turn;\nwait:\n"
           "ld.volatile.global.u32 %r5, [%rd4+60];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra wait;\nturn:\n" +
           fence + "ld.global.u32 %r6, [%rd1];\nadd.u32 %r6, %r6, %r4;\nst.global.u32 [%rd1], %r6;\n" +
           fence + "st.volatile.global.u32 [%rd4+64], 1;\n";
  };
  EXPECT_TRUE(findings(chain("membar.gl;\n"), 5).empty());
  const auto found = findings(chain(""), 5);
  ASSERT_FALSE(found.empty());
  for (const Finding& f : found) EXPECT_EQ(f.lack, Lack::device_fence);
}

TEST(GridRaces, LoadsBeforeAFlagWithoutAFenceAreAWarning) {
  const Finding found =
      only(findings(first_and_then("ld.global.u32 %r5, [%rd1];\nst.volatile.global.u32 [%rd1+64], %r5;\n",
                                   "ld.volatile.global.u32 %r5, [%rd1+64];\nst.global.u32 [%rd1], %r5;\n")));
  EXPECT_EQ(found.lack, Lack::device_fence);
  EXPECT_EQ(found.severity, Severity::warning);
}

TEST(GridRaces, WhoHasCountedLastMaySetTheCounterBack) {
  EXPECT_TRUE(findings("atom.global.add.u32 %r5, [%rd1], 1;\nsetp.eq.u32 %p2, %r5, 3;\n"
                       "@%p2 st.global.u32 [%rd1], 0;\n",
                       4)
                  .empty());
  // Who adds and does not look has seen nobody.
  EXPECT_EQ(only(findings("red.global.add.u32 [%rd1], 1;\nsetp.eq.u32 %p2, %r2, 3;\n"
                          "@%p2 st.global.u32 [%rd1], 0;\n",
                          4))
                .lack,
            Lack::order_of_blocks);
}

TEST(GridRaces, BlocksOfOneClusterMayMeet) {
  const std::string meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n",
                    store = "@%p1 st.global.u32 [%rd1], %r4;\n", load = "@!%p1 ld.global.u32 %r5, [%rd1];\n";
  EXPECT_TRUE(findings(store + meet + load, 2, {2}).empty());
  const Finding found = only(findings(store + load, 2, {2}));
  EXPECT_EQ(found.lack, Lack::order);
  EXPECT_EQ(found.block, 1u);
  EXPECT_EQ(found.other_block, 0u);
  EXPECT_EQ(only(findings(store + meet + load, 4, {2})).lack, Lack::order_of_blocks);
}

TEST(GridRaces, ClustersHandOverAsBlocksDo) {
  // The first cluster's block 0 writes, its block 1 sets the flag; the second one's block 3 sees it, its
  // block 2 reads.
  const std::string meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  const auto handed = [&](const std::string& fence) {
    return findings(
        "setp.eq.u32 %p2, %r2, 1;\nsetp.eq.u32 %p3, %r2, 2;\nsetp.eq.u32 %p4, %r2, 3;\n"
        "@%p1 st.global.u32 [%rd1], %r4;\n" +
            meet + "@!%p2 bra look;\n" + fence +
            "st.volatile.global.u32 [%rd1+64], 1;\nlook:\n@!%p4 bra seen;\n"
            "wait:\nld.volatile.global.u32 %r5, [%rd1+64];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra wait;\n"
            "seen:\n" +
            meet + "@%p3 ld.global.u32 %r6, [%rd1];\n",
        4, {2});
  };
  EXPECT_TRUE(handed("membar.gl;\n").empty());
  EXPECT_EQ(only(handed("")).lack, Lack::device_fence);
}

TEST(GridRaces, AFlagIsAsWideAsItsAccesses) {
  const std::string flag = "st.volatile.global.v2.u32 [%rd1+64], {%r4, %r4};\n";
  EXPECT_TRUE(handed_over("membar.gl;\n", flag, "ld.volatile.global.u32 %r5, [%rd1+68];\n").empty());
  EXPECT_FALSE(handed_over("membar.gl;\n", flag, "ld.volatile.global.u32 %r5, [%rd1+72];\n").empty());
}

TEST(GridRaces, MemoryOfTheHeapBelongsToWhoTakesIt) {
  harness::Program p(begin + harness::use_heap, harness::heap_functions);
  p.checks = {.global = true};
  EXPECT_TRUE(p.run({64}, {1}).findings.empty());
}

TEST(GridRaces, AccessesThatGoWrongAreNoRaces) {
  EXPECT_EQ(only(findings("st.global.u32 [%rd1+8192], %r4;\n")).kind, Finding::Kind::out_of_bounds);
  EXPECT_EQ(only(findings("st.global.u32 [%rd1+2], %r4;\n")).kind, Finding::Kind::misaligned);
}

TEST(GridRaces, AreFoundOnAllHostThreads) {
  harness::Program p(begin +
                     "ld.global.u32 %r5, [%rd1];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd1], %r5;\n");
  p.checks = {.global = true};
  EXPECT_FALSE(p.run({256}, {32}, 4).findings.empty());
  harness::Program right(begin +
                         "red.global.add.u32 [%rd1], 1;\nmembar.gl;\nred.global.add.u32 [%rd1+64], 1;\n");
  right.checks = {.global = true};
  EXPECT_TRUE(right.run({256}, {32}, 4).findings.empty());
}

}  // namespace
}  // namespace lanescope::exec
