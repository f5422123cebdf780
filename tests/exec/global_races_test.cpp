// Races of the threads of one block on global memory (--check global): the rules and the order are those of
// shared memory, but for what other blocks may have to do with it.
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

/// %p1: whether it is thread 0, %p2: whether it is thread 32 of another warp, %p3: thread 1.
const std::string two_warps =
    "setp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, 32;\nsetp.eq.u32 %p3, %r1, 1;\n";
const std::string block_barrier = "bar.sync 0;\n";

/// Findings of a block of two warps.
std::vector<Finding> findings_in_block(const std::string& body, const std::string& target = "sm_90",
                                       Checks checks = {.global = true}, uint32_t blocks = 1) {
  harness::Program p(two_warps + body, "", target);
  p.checks = checks;
  return p.run({blocks}, {64}).findings;
}

TEST(GlobalRaces, AreOfTwoThreadsThatNothingOrders) {
  const std::string store = "@%p1 st.global.u32 [%rd1+8], 5;\n", load = "@%p2 ld.global.u32 %r5, [%rd1+8];\n",
                    other = "@%p2 st.global.u32 [%rd1+8], 6;\n";
  for (const std::string& second : {load, other}) {
    EXPECT_TRUE(findings_in_block(store + block_barrier + second).empty()) << second;
    EXPECT_TRUE(findings_in_block(second + block_barrier + store).empty()) << second;
    const Finding found = only(findings_in_block(store + second));
    EXPECT_EQ(found.kind, Finding::Kind::race);
    EXPECT_EQ(found.severity, Severity::error);
    EXPECT_EQ(found.lack, Lack::order);
    EXPECT_EQ(found.other_block, Finding::same_block);
    EXPECT_EQ(found.thread + found.other_thread, 32u);
    EXPECT_EQ(found.message, "bytes 8 to 11 of out (element 2)");
  }
  EXPECT_TRUE(findings_in_block("@%p1 ld.global.u32 %r5, [%rd1+8];\n" + load).empty());
}

TEST(GlobalRaces, AreFoundInEveryBlock) {
  // Each has a word of its own.
  const std::string place = "mul.wide.u32 %rd4, %r2, 4;\nadd.u64 %rd4, %rd1, %rd4;\n";
  const Finding found =
      only(findings_in_block(place + "@%p1 st.global.u32 [%rd4], 5;\n@%p2 ld.global.u32 %r5, [%rd4];\n",
                             "sm_90", {.global = true}, 8));
  EXPECT_EQ(found.count, 8u);
}

TEST(GlobalRaces, AreOfTheSameBytes) {
  const std::string store = "@%p1 st.global.u8 [%rd1+1], 5;\n";
  EXPECT_TRUE(findings_in_block(store + "@%p2 ld.global.u8 %r5, [%rd1];\n").empty());
  EXPECT_FALSE(findings_in_block(store + "@%p2 ld.global.u8 %r5, [%rd1+1];\n").empty());
  EXPECT_FALSE(findings_in_block(store + "@%p2 ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd1];\n").empty());
  const std::string half = "@%p1 st.global.v8.b32 [%rd1], {%r4, _, %r4, _, %r4, _, %r4, _};\n";
  EXPECT_TRUE(findings_in_block(half + "@%p2 ld.global.u32 %r5, [%rd1+4];\n", "sm_100").empty());
  EXPECT_FALSE(findings_in_block(half + "@%p2 ld.global.u32 %r5, [%rd1+8];\n", "sm_100").empty());
}

TEST(GlobalRaces, AreOfAllThePagesOfTheHistory) {
  // A word of 4,096 bytes for each thread, then those of the other warp.
  const std::string mine = "mul.wide.u32 %rd4, %r1, 4096;\nadd.u64 %rd4, %rd1, %rd4;\n",
                    others =
                        "xor.b32 %r5, %r1, 32;\nmul.wide.u32 %rd5, %r5, 4096;\nadd.u64 %rd5, %rd1, %rd5;\n";
  const auto races = [&](const std::string& order) {
    const std::string round = "st.global.u32 [%rd4], %r1;\n" + order + "ld.global.u32 %r6, [%rd5];\n";
    harness::Program p(mine + others + round + block_barrier + round);
    p.checks = {.global = true};
    uint64_t count = 0;
    for (const Finding& f : p.run({1}, {64}, 1, 64 * 1024).findings) count += f.count;
    return count;
  };
  EXPECT_EQ(races(block_barrier), 0u);
  EXPECT_EQ(races(""), 128u);  // in each round the second warp's stores and its loads
}

TEST(GlobalRaces, LanesOfAWarpAreOrderedBySyncwarp) {
  const std::string store = "@%p1 st.global.u32 [%rd1], 5;\n", load = "@%p3 ld.global.u32 %r5, [%rd1];\n";
  EXPECT_TRUE(findings_in_block(store + "bar.warp.sync 0xffffffff;\n" + load).empty());
  EXPECT_EQ(only(findings_in_block(store + load)).severity, Severity::error);
  EXPECT_EQ(only(findings_in_block(store + "shfl.sync.idx.b32 %r6, %r1, 0, 31, 0xffffffff;\n" + load)).excuse,
            Excuse::met);
  // Before compute capability 7.0 they run in step.
  EXPECT_TRUE(findings_in_block(store + load, "sm_60", {.global = true, .lockstep = true}).empty());
}

TEST(GlobalRaces, StoresOfOneValueAreANote) {
  EXPECT_EQ(only(findings_in_block("st.global.u32 [%rd1], 5;\n")).severity, Severity::note);
  const auto found = findings_in_block("st.global.u32 [%rd1], %r1;\n");
  ASSERT_FALSE(found.empty());
  for (const Finding& f : found) EXPECT_EQ(f.severity, Severity::error);
  // Of two instructions; and of one that has not stored yet.
  EXPECT_EQ(
      only(findings_in_block("@%p1 st.global.u32 [%rd1], 5;\n@%p2 st.global.u32 [%rd1], 5;\n")).severity,
      Severity::note);
}

TEST(GlobalRaces, AFlagBehindAFenceOrdersThreads) {
  const auto handed_over = [](const std::string& fence, const std::string& fence_of_reader) {
    return findings_in_block(
        "@%p1 bra writer;\n@%p2 bra reader;\nbra over;\nwriter:\nst.global.u32 [%rd1], 5;\n" + fence +
        "st.volatile.global.u32 [%rd1+64], 1;\nbra over;\nreader:\nwait:\n"
        "ld.volatile.global.u32 %r5, [%rd1+64];\nsetp.eq.u32 %p4, %r5, 0;\n@%p4 bra wait;\n" +
        fence_of_reader + "ld.global.u32 %r6, [%rd1];\nover:\n");
  };
  for (const char* fence : {"membar.cta;\n", "membar.gl;\n", "fence.acq_rel.cta;\n"})
    EXPECT_TRUE(handed_over(fence, fence).empty()) << fence;
  EXPECT_EQ(only(handed_over("", "membar.cta;\n")).lack, Lack::order);
  EXPECT_EQ(only(handed_over("membar.cta;\n", "")).lack, Lack::order);
}

TEST(GlobalRaces, AtomicOperationsAndVolatileAccessesDoNotRaceWithEachOther) {
  EXPECT_TRUE(findings_in_block("red.global.add.u32 [%rd1], 1;\n").empty());
  EXPECT_TRUE(
      findings_in_block("red.global.add.u32 [%rd1], 1;\nld.volatile.global.u32 %r5, [%rd1];\n").empty());
  EXPECT_TRUE(findings_in_block("st.volatile.global.u32 [%rd1], %r1;\nld.volatile.global.u32 %r5, [%rd1];\n")
                  .empty());
  const std::string add = "@%p1 red.global.add.u32 [%rd1], 1;\n";
  EXPECT_EQ(only(findings_in_block(add + "@%p2 ld.global.u32 %r5, [%rd1];\n")).excuse, Excuse::stale);
  EXPECT_EQ(only(findings_in_block(add + "@%p2 st.global.u32 [%rd1], 0;\n")).severity, Severity::error);
  // As in shared memory, who has seen what an atomic operation left does not come after it by that.
  const auto both_ways = findings_in_block(
      "atom.global.add.u32 %r5, [%rd3], 1;\nadd.u32 %r5, %r5, 1;\nxor.b32 %r6, %r1, 32;\n"
      "mul.wide.u32 %rd4, %r6, 4;\nadd.u64 %rd4, %rd1, %rd4;\nst.global.u32 [%rd4], %r5;\n");
  ASSERT_EQ(both_ways.size(), 2u);
  for (const Finding& f : both_ways) EXPECT_EQ(f.severity, Severity::error);
}

TEST(GlobalRaces, FlagsHaveAnySize) {
  // Two bytes side by side, each set by a thread; the upper half of 64 bits, set and looked at as a half or a
  // whole.
  const auto handed_over = [](const std::string& set, const std::string& look) {
    return findings_in_block(
        "@%p1 bra writer;\n@%p2 bra reader;\nbra over;\nwriter:\nst.global.u32 [%rd1], 5;\n"
        "membar.gl;\nmov.u64 %rd5, 0x100000000;\nmov.u32 %r7, 1;\n" +
        set + "bra over;\nreader:\nwait:\nmov.u64 %rd6, 0;\n" + look +
        "setp.eq.u32 %p4, %r5, 0;\n@%p4 bra wait;\nmembar.gl;\n"
        "ld.global.u32 %r6, [%rd1];\nover:\n");
  };
  const std::string
      set_half = "st.volatile.global.u32 [%rd1+68], %r7;\n",
      set_both = "st.volatile.global.u64 [%rd1+64], %rd5;\n",
      half = "ld.volatile.global.u32 %r5, [%rd1+68];\n",
      both = "ld.volatile.global.u64 %rd6, [%rd1+64];\nshr.u64 %rd6, %rd6, 32;\ncvt.u32.u64 %r5, %rd6;\n";
  for (const std::string& set : {set_half, set_both})
    for (const std::string& look : {half, both}) EXPECT_TRUE(handed_over(set, look).empty()) << set << look;
  const std::string byte = "st.volatile.global.u8 [%rd1+64], %r7;\n",
                    next = "st.volatile.global.u8 [%rd1+65], %r7;\n";
  EXPECT_TRUE(handed_over(byte + next, "ld.volatile.global.u8 %r5, [%rd1+64];\n").empty());
}

TEST(GlobalRaces, AreNoRacesOfSharedMemory) {
  const std::string both =
      ".shared .b32 s;\n@%p1 st.shared.u32 [s], 5;\n@%p2 ld.shared.u32 %r5, [s];\n"
      "@%p1 st.global.u32 [%rd1], 5;\n@%p2 ld.global.u32 %r5, [%rd1];\n";
  const auto messages = [&](Checks checks) {
    std::string all;
    for (const Finding& f : findings_in_block(both, "sm_90", checks)) all += f.message + "; ";
    return all;
  };
  const std::string shared = "bytes 0 to 3 of s (element 0); ", global = "bytes 0 to 3 of out (element 0); ";
  EXPECT_EQ(messages({.race = true}), shared);
  EXPECT_EQ(messages({.global = true}), global);
  EXPECT_EQ(messages({.race = true, .global = true}), shared + global);
}

TEST(GlobalRaces, AnotherBlockMayOrderThreads) {
  // Thread 0 of block 0 writes and sets a flag, block 1 answers, thread 32 of block 0 sees the answer.
  const auto by_way_of_another = [](const std::string& way) {
    return findings_in_block(
        "setp.eq.u32 %p5, %r2, 0;\n@!%p5 bra answer;\n@%p1 bra writer;\n@%p2 bra reader;\nbra over;\n"
        "writer:\nst.global.u32 [%rd1], 5;\nmembar.gl;\nst.volatile.global.u32 [%rd1+64], 1;\nbra over;\n"
        "answer:\n@!%p1 bra over;\nasked:\nld.volatile.global.u32 %r5, [%rd1+64];\nsetp.eq.u32 %p4, %r5, 0;\n"
        "@%p4 bra asked;\nmembar.gl;\nst.volatile.global.u32 [%rd1+128], 1;\nbra over;\nreader:\n" +
            way + "ld.global.u32 %r6, [%rd1];\nover:\n",
        "sm_90", {.global = true}, 2);
  };
  EXPECT_TRUE(by_way_of_another("wait:\nld.volatile.global.u32 %r5, [%rd1+128];\nsetp.eq.u32 %p4, %r5, 0;\n"
                                "@%p4 bra wait;\nmembar.gl;\n")
                  .empty());
  EXPECT_EQ(only(by_way_of_another("")).lack, Lack::order);
}

TEST(GlobalRaces, BulkCopiesAreThoseOfWhoWaitsForThem) {
  // Thread 0 loads 64 bytes; thread 32 overwrites them, behind the wait or not.
  const std::string shared = ".shared .align 16 .b8 s[64];\n.shared .align 8 .b64 m;\n";
  const auto loaded = [&](const std::string& wait) {
    return findings_in_block(
        shared + "@%p1 mbarrier.init.shared.b64 [m], 1;\n" + block_barrier +
        "@!%p1 bra on;\nmbarrier.arrive.expect_tx.shared.b64 %rd5, [m], 64;\n"
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%rd1], 64, [m];\non:\n" +
        wait + "@%p2 st.global.u32 [%rd1+32], 5;\n");
  };
  EXPECT_TRUE(loaded("wait:\nmbarrier.try_wait.parity.shared.b64 %p4, [m], 0;\n@!%p4 bra wait;\n").empty());
  // A barrier of the block does not wait for it.
  EXPECT_EQ(only(loaded(block_barrier)).lack, Lack::order);
  const Finding found = only(loaded(""));
  EXPECT_EQ(found.lack, Lack::order);
  EXPECT_TRUE(found.bulk || found.other_bulk);
  // What is stored.
  const auto stored = [&](const std::string& wait) {
    return findings_in_block(shared +
                             "@!%p1 bra on;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 64;\n"
                             "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\non:\n" +
                             wait + "@%p2 ld.global.u32 %r5, [%rd1+32];\n");
  };
  EXPECT_TRUE(stored(block_barrier).empty());
  EXPECT_EQ(only(stored("")).lack, Lack::order);
  // Blocks copy to the same place.
  const std::string copy = shared +
                           "@!%p1 bra on;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 64;\n"
                           "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\non:\n";
  const Finding between = only(findings_in_block(copy, "sm_90", {.global = true}, 2));
  EXPECT_EQ(between.lack, Lack::order_of_blocks);
  EXPECT_TRUE(between.bulk && between.other_bulk);
}

TEST(GlobalRaces, MemoryOfTheHeapBelongsToWhoTakesIt) {
  // Each thread takes, writes and gives back, one after the other.
  harness::Program p(
      two_warps + "@%p1 bra take;\n@%p2 bra take;\nbra over;\ntake:\n" + harness::use_heap + "over:\n",
      harness::heap_functions);
  p.checks = {.global = true};
  EXPECT_TRUE(p.run({1}, {64}).findings.empty());
}

TEST(GlobalRaces, AccessesThatGoWrongAreNoRaces) {
  for (const Finding& f : findings_in_block("st.global.u32 [%rd1+8192], %r1;\n"))
    EXPECT_EQ(f.kind, Finding::Kind::out_of_bounds);
}

}  // namespace
}  // namespace lanescope::exec
