// cp.async and mbarrier: small PTX programs with the memory or the finding they must end with.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "exec/mbarrier.hpp"
#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using harness::only;
using harness::Program;

/// 32 lanes; lane i's 16 bytes of global memory are the words 4i to 4i + 3 of the buffer, filled with 1, 2, …
/// by the kernel itself; %r10 is the lane's place in the shared array s.
const std::string copy_start =
    ".shared .align 16 .b8 s[512];\n"
    "shl.b32 %r6, %r1, 4;\ncvt.u64.u32 %rd5, %r6;\nadd.u64 %rd4, %rd1, %rd5;\n"
    "shl.b32 %r7, %r1, 2;\nadd.u32 %r20, %r7, 1;\nadd.u32 %r21, %r7, 2;\nadd.u32 %r22, %r7, 3;\nadd.u32 "
    "%r23, "
    "%r7, 4;\n"
    "st.global.v4.u32 [%rd4], {%r20, %r21, %r22, %r23};\n"
    "mov.u32 %r10, s;\nadd.u32 %r10, %r10, %r6;\n"
    "mov.u32 %r8, 99;\nst.shared.v4.u32 [%r10], {%r8, %r8, %r8, %r8};\n";
/// The lane's 16 bytes of shared memory replace those in the buffer.
const std::string copy_end =
    "ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r10];\n"
    "st.global.v4.u32 [%rd4], {%r20, %r21, %r22, %r23};\n";

TEST(AsyncCopy, EverySizeArrivesWhenItIsWaitedFor) {
  for (const char* copy :
       {"cp.async.ca.shared.global [%r10], [%rd4], 4;\ncp.async.ca.shared.global [%r10+4], "
        "[%rd4+4], 4;\ncp.async.ca.shared::cta.global [%r10+8], [%rd4+8], 8;",
        "cp.async.ca.shared.global.L2::128B [%r10], [%rd4], 16;",
        "cp.async.cg.shared.global.L2::256B [%r10], [%rd4], 16, 16;"}) {
    for (const char* wait : {"cp.async.wait_all;", "cp.async.commit_group;\ncp.async.wait_group 0;"}) {
      Program p(copy_start + copy + "\n" + wait + "\n" + copy_end);
      EXPECT_TRUE(p.run({1}, {32}).findings.empty());
      for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(p.word(i), i + 1) << copy << wait << i;
    }
  }
}

TEST(AsyncCopy, IsDoneAtItsWaitAndNotBefore) {
  Program p(copy_start +
            "cp.async.cg.shared.global [%r10], [%rd4], 16;\ncp.async.commit_group;\n"
            "ld.shared.u32 %r30, [%r10];\n"
            "cp.async.wait_group 0;\nld.shared.u32 %r31, [%r10];\n"
            "st.global.v2.u32 [%rd4], {%r30, %r31};\n");
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(p.word(4 * i), 99u);
    EXPECT_EQ(p.word(4 * i + 1), 4 * i + 1);
  }
}

TEST(AsyncCopy, WaitGroupLeavesTheLatestGroupsPending) {
  // Three groups of one word each; after wait_group 1 the third is still pending.
  Program p(copy_start +
            "cp.async.ca.shared.global [%r10], [%rd4], 4;\ncp.async.commit_group;\n"
            "cp.async.ca.shared.global [%r10+4], [%rd4+4], 4;\ncp.async.commit_group;\n"
            "cp.async.ca.shared.global [%r10+8], [%rd4+8], 4;\ncp.async.commit_group;\n"
            "cp.async.ca.shared.global [%r10+12], [%rd4+12], 4;\n"
            "cp.async.wait_group 1;\n" +
            copy_end);
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(p.word(4 * i), 4 * i + 1);
    EXPECT_EQ(p.word(4 * i + 1), 4 * i + 2);
    EXPECT_EQ(p.word(4 * i + 2), 99u);
    EXPECT_EQ(p.word(4 * i + 3), 99u);
  }
}

TEST(AsyncCopy, GroupsBelongToLanes) {
  // Odd lanes commit one group more, so that their copy is in the last group but one.
  Program p(copy_start +
            "and.b32 %r9, %r1, 1;\nsetp.ne.u32 %p1, %r9, 0;\n"
            "cp.async.cg.shared.global [%r10], [%rd4], 16;\ncp.async.commit_group;\n"
            "@%p1 cp.async.commit_group;\ncp.async.wait_group 1;\n" +
            copy_end);
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(p.word(4 * i), i % 2 == 1 ? 4 * i + 1 : 99u) << i;
}

TEST(AsyncCopy, FillsWithZerosBehindTheSource) {
  // Lane i reads i % 17 bytes.
  Program p(
      copy_start +
      "rem.u32 %r9, %r1, 17;\ncp.async.cg.shared.global [%r10], [%rd4], 16, %r9;\ncp.async.wait_all;\n" +
      copy_end);
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i < 32; ++i)
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t bytes = i % 17 > 4 * k ? std::min(4u, i % 17 - 4 * k) : 0;
      const uint32_t whole = 4 * i + k + 1;
      EXPECT_EQ(p.word(4 * i + k), bytes == 4 ? whole : whole & ((1u << 8 * bytes) - 1)) << i << " " << k;
    }
}

TEST(AsyncCopy, SourceThatIsNotReadMayLieAnywhere) {
  Program p(copy_start +
            "mov.u64 %rd6, 0;\nmov.u32 %r9, 0;\ncp.async.cg.shared.global [%r10], [%rd6], 16, %r9;\n"
            "cp.async.wait_all;\n" +
            copy_end);
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(p.word(i), 0u);
}

TEST(AsyncCopy, IgnoresTheSourceUnderItsPredicate) {
  Program p(copy_start +
            "setp.lt.u32 %p1, %r1, 5;\ncp.async.cg.shared.global [%r10], [%rd4], 16, %p1;\n"
            "cp.async.wait_all;\n" +
            copy_end);
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(p.word(i), i < 20 ? 0 : i + 1);
}

TEST(AsyncCopy, BothSidesAreChecked) {
  Program source(copy_start +
                 "add.u64 %rd4, %rd4, 1048576;\ncp.async.cg.shared.global [%r10], [%rd4], 16;\n");
  EXPECT_EQ(only(source.run({1}, {32})).kind, Finding::Kind::out_of_bounds);
  Program target(copy_start + "cp.async.cg.shared.global [%r10+8], [%rd4], 16;\n");
  EXPECT_EQ(only(target.run({1}, {31})).kind, Finding::Kind::misaligned);
  Program beyond(copy_start + "cp.async.cg.shared.global [%r10+16], [%rd4], 16;\n");
  EXPECT_EQ(only(beyond.run({1}, {32})).thread, 31u);
  // Only the bytes that are read need to exist: 4 before the end of the buffer of 128 words.
  const std::string last = "add.u64 %rd4, %rd1, 496;\nmov.u32 %r9, ";
  Program inside(copy_start + last + "13;\ncp.async.ca.shared.global [%r10], [%rd4], 16, %r9;\n");
  EXPECT_TRUE(inside.run({1}, {32}, 1, 127 + 1).findings.empty());
  Program partial(copy_start + last + "13;\ncp.async.ca.shared.global [%r10], [%rd4+16], 16, %r9;\n");
  EXPECT_EQ(only(partial.run({1}, {32}, 1, 128)).kind, Finding::Kind::out_of_bounds);
}

TEST(AsyncCopy, MbarrierCompletesWithTheCopies) {
  // noinc: 32 arrivals are expected. Without it, each arrival is expected by its own instruction: the object
  // still waits for the 32 of mbarrier.arrive.
  const std::string init =
      ".shared .align 8 .b64 bar;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 mbarrier.init.shared.b64 [bar], 32;\n"
      "bar.sync 0;\ncp.async.cg.shared.global [%r10], [%rd4], 16;\n";
  const std::string wait = "again:\nmbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra again;\n";
  for (const char* arrive :
       {"cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n",
        "cp.async.mbarrier.arrive.shared::cta.b64 [bar];\nmbarrier.arrive.shared.b64 %rd7, [bar];\n"}) {
    Program p(copy_start + init + arrive + wait + copy_end);
    EXPECT_TRUE(p.run({1}, {32}).findings.empty());
    for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(p.word(i), i + 1) << arrive << i;
  }
}

const std::string barrier_start =
    ".shared .align 8 .b64 bar;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared::cta.b64 [bar], %r3;\n"
    "bar.sync 0;\n";

TEST(MbarrierObject, KeepsItsPartsApart) {
  std::byte memory[8];
  for (const Mbarrier& m : {Mbarrier{1, 1, 0, false}, Mbarrier{Mbarrier::most_arrivals, 7, -5, true},
                            Mbarrier{0, Mbarrier::most_arrivals, Mbarrier::most_bytes, false},
                            Mbarrier{3, 0, -Mbarrier::most_bytes, true}}) {
    m.store(memory);
    const auto got = Mbarrier::load(memory);
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->pending, m.pending);
    EXPECT_EQ(got->expected, m.expected);
    EXPECT_EQ(got->bytes, m.bytes);
    EXPECT_EQ(got->odd_phase, m.odd_phase);
  }
  std::memset(memory, 0, sizeof memory);
  EXPECT_FALSE(Mbarrier::load(memory).has_value());
}

TEST(Mbarrier, WarpsMeetPhaseAfterPhase) {
  // In each of 8 phases a thread writes its word and reads its neighbour's of the next warp.
  for (const char* wait :
       {"mbarrier.try_wait.shared.b64 %p2, [bar], %rd7;", "mbarrier.test_wait.shared.b64 %p2, [bar], %rd7;",
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [bar], %r9, 1000;"}) {
    Program p(barrier_start +
              ".shared .align 4 .b8 s[1024];\nmov.u32 %r5, s;\nmov.u32 %r8, 0;\nmov.u32 %r9, 0;\n"
              "shl.b32 %r6, %r1, 2;\nadd.u32 %r6, %r6, %r5;\nadd.u32 %r7, %r1, 32;\nrem.u32 %r7, %r7, %r3;\n"
              "shl.b32 %r7, %r7, 2;\nadd.u32 %r7, %r7, %r5;\nmov.u32 %r10, 0;\nmov.u32 %r11, %r1;\n"
              "loop:\nst.shared.u32 [%r6], %r11;\nmbarrier.arrive.shared.b64 %rd7, [bar];\n"
              "wait:\n" +
              std::string(wait) +
              "\n@!%p2 bra wait;\nxor.b32 %r9, %r9, 1;\n"
              "ld.shared.u32 %r11, [%r7];\nmbarrier.arrive.release.cta.shared.b64 %rd7, [bar], 1;\n"
              "wait2:\n" +
              std::string(wait) +
              "\n@!%p2 bra wait2;\nxor.b32 %r9, %r9, 1;\n"
              "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p3, %r10, 8;\n@%p3 bra loop;\n"
              "st.global.u32 [%rd3], %r11;\n");
    EXPECT_TRUE(p.run({2}, {256}).findings.empty());
    for (uint32_t i = 0; i < 256; ++i) EXPECT_EQ(p.word(i), i) << wait;  // 8 warps further, of 8
  }
}

TEST(Mbarrier, ParityOfTheLastPhaseIsComplete) {
  Program p(
      barrier_start +
      "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1;\nselp.u32 %r5, 1, 0, %p2;\n"
      "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\nselp.u32 %r6, 2, 0, %p2;\nor.b32 %r5, %r5, %r6;\n"
      "mbarrier.arrive.shared.b64 %rd7, [bar];\n"
      "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\nselp.u32 %r6, 4, 0, %p2;\nor.b32 %r5, %r5, %r6;\n"
      "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1;\nselp.u32 %r6, 8, 0, %p2;\nor.b32 %r5, %r5, %r6;\n"
      "mbarrier.test_wait.shared.b64 %p2, [bar], %rd7;\nselp.u32 %r6, 16, 0, %p2;\nor.b32 %r5, %r5, %r6;\n"
      "st.global.u32 [%rd3], %r5;\n");
  EXPECT_TRUE(p.run({1}, {1}).findings.empty());
  EXPECT_EQ(p.word(0), 1u + 4u + 16u);
}

TEST(Mbarrier, BytesAreAwaitedBesideArrivals) {
  Program p(
      barrier_start +
      "mbarrier.arrive.expect_tx.shared.b64 %rd7, [bar], 48;\n"
      "mbarrier.test_wait.shared.b64 %p2, [bar], %rd7;\nselp.u32 %r5, 1, 0, %p2;\n"
      "mbarrier.complete_tx.shared.b64 [bar], 64;\nmbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 32;\n"
      "mbarrier.test_wait.shared.b64 %p2, [bar], %rd7;\nselp.u32 %r6, 2, 0, %p2;\nor.b32 %r5, %r5, %r6;\n"
      "mbarrier.complete_tx.shared.b64 [bar], 16;\n"
      "mbarrier.test_wait.shared.b64 %p2, [bar], %rd7;\nselp.u32 %r6, 4, 0, %p2;\nor.b32 %r5, %r5, %r6;\n"
      "st.global.u32 [%rd3], %r5;\n");
  EXPECT_TRUE(p.run({1}, {1}).findings.empty());
  EXPECT_EQ(p.word(0), 4u);
}

TEST(Mbarrier, DroppedThreadsAreNotExpectedAgain) {
  // Warp 1 leaves after the first phase; warp 0 goes through three more alone.
  Program p(barrier_start +
            "setp.ge.u32 %p2, %r1, 32;\n@%p2 bra leave;\nmbarrier.arrive.shared.b64 %rd7, [bar];\nmov.u32 "
            "%r10, 0;\n"
            "wait:\nmbarrier.try_wait.shared.b64 %p3, [bar], %rd7;\n@!%p3 bra wait;\n"
            "mbarrier.arrive.shared.b64 %rd7, [bar];\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p3, %r10, 4;\n"
            "@%p3 bra wait;\nst.global.u32 [%rd3], %r10;\nret;\n"
            "leave:\nmbarrier.arrive_drop.shared.b64 _, [bar];\n");
  EXPECT_EQ(p.run({1}, {64}).findings.size(), 0u);
  EXPECT_EQ(p.word(31), 4u);
}

TEST(Mbarrier, PendingCountIsThatBeforeTheArrival) {
  Program p(
      ".shared .align 8 .b64 bar;\nmbarrier.init.shared.b64 [bar], 10;\n"
      "mbarrier.arrive.noComplete.shared.b64 %rd7, [bar], 3;\nmbarrier.pending_count.b64 %r5, %rd7;\n"
      "mbarrier.arrive.shared.b64 %rd7, [bar], 2;\nmbarrier.pending_count.b64 %r6, %rd7;\n"
      "st.global.v2.u32 [%rd1], {%r5, %r6};\n");
  EXPECT_TRUE(p.run({1}, {1}).findings.empty());
  EXPECT_EQ(p.word(0), 10u);
  EXPECT_EQ(p.word(1), 7u);
}

// Orders, scopes and spaces as they may be written, arrivals that cannot complete, and threads dropped beside
// bytes that are awaited. What an H200 gives: pending counts before an arrival, and whether a phase is
// complete.
TEST(Mbarrier, FormsGiveWhatAnH200Gives) {
  Program p(R"(.shared .align 8 .b64 b;
.reg .b64 %s<7>;
mbarrier.init.shared::cta.b64 [b], 4;
mbarrier.arrive_drop.noComplete.shared::cta.b64 %s0, [b], 1;
mbarrier.pending_count.b64 %r10, %s0; st.global.u32 [%rd1], %r10;
mbarrier.test_wait.parity.relaxed.cta.shared::cta.b64 %p1, [b], 0; selp.u32 %r10, 1, 0, %p1; st.global.u32 [%rd1+4], %r10;
mbarrier.arrive.shared::cta.b64 %s1, [b], 3;
mbarrier.pending_count.b64 %r10, %s1; st.global.u32 [%rd1+8], %r10;
mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p1, [b], 0; selp.u32 %r10, 1, 0, %p1; st.global.u32 [%rd1+12], %r10;
mbarrier.arrive.relaxed.cta.shared::cta.b64 %s2, [b], 2;
mbarrier.pending_count.b64 %r10, %s2; st.global.u32 [%rd1+16], %r10;
mbarrier.test_wait.acquire.cluster.shared::cta.b64 %p1, [b], %s2; selp.u32 %r10, 1, 0, %p1; st.global.u32 [%rd1+20], %r10;
mbarrier.arrive_drop.expect_tx.relaxed.cluster.shared::cta.b64 %s3, [b], 8;
mbarrier.pending_count.b64 %r10, %s3; st.global.u32 [%rd1+24], %r10;
mbarrier.test_wait.parity.shared::cta.b64 %p1, [b], 1; selp.u32 %r10, 1, 0, %p1; st.global.u32 [%rd1+28], %r10;
mbarrier.expect_tx.relaxed.cluster.shared::cta.b64 [b], 4;
mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [b], 8;
mbarrier.test_wait.shared::cta.b64 %p1, [b], %s2; selp.u32 %r10, 1, 0, %p1; st.global.u32 [%rd1+32], %r10;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 4;
mbarrier.test_wait.shared::cta.b64 %p1, [b], %s2; selp.u32 %r10, 1, 0, %p1; st.global.u32 [%rd1+36], %r10;
mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %s4, [b], 1;
mbarrier.pending_count.b64 %r10, %s4; st.global.u32 [%rd1+40], %r10;
mbarrier.test_wait.parity.shared::cta.b64 %p1, [b], 0; selp.u32 %r10, 1, 0, %p1; st.global.u32 [%rd1+44], %r10;
mbarrier.arrive_drop.release.cluster.shared::cta.b64 %s5, [b];
mbarrier.pending_count.b64 %r10, %s5; st.global.u32 [%rd1+48], %r10;
mbarrier.test_wait.parity.shared::cta.b64 %p1, [b], 0; selp.u32 %r10, 1, 0, %p1; st.global.u32 [%rd1+52], %r10;
mbarrier.arrive_drop.shared::cta.b64 %s6, [b], 1;
mbarrier.pending_count.b64 %r10, %s6; st.global.u32 [%rd1+56], %r10;
mbarrier.test_wait.parity.shared::cta.b64 %p1, [b], 1; selp.u32 %r10, 1, 0, %p1; st.global.u32 [%rd1+60], %r10;
mbarrier.inval.shared::cta.b64 [b];
)");
  ASSERT_TRUE(p.run({1}, {1}).findings.empty());
  const uint32_t expected[] = {4, 0, 3, 1, 3, 0, 1, 0, 0, 1, 2, 0, 1, 1, 1, 1};
  for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(p.word(i), expected[i]) << i;
}

TEST(Mbarrier, GenericAddresses) {
  Program p(barrier_start +
            "mov.u64 %rd5, bar;\ncvta.shared.u64 %rd5, %rd5;\nmbarrier.arrive.b64 %rd7, [%rd5];\n"
            "wait:\nmbarrier.try_wait.b64 %p2, [%rd5], %rd7;\n@!%p2 bra wait;\nst.global.u32 [%rd3], 5;\n");
  EXPECT_TRUE(p.run({1}, {64}).findings.empty());
  EXPECT_EQ(p.word(63), 5u);
  Program wrong("mbarrier.arrive.b64 %rd7, [%rd1];\n");
  EXPECT_EQ(only(wrong.run({1}, {1})).kind, Finding::Kind::unknown_pointer);
}

TEST(Mbarrier, LanesOfOneWarpMayWaitForEachOther) {
  // Lane 0 waits for an arrival that lane 1 makes after its own long way.
  Program p(
      ".shared .align 8 .b64 bar;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\n"
      "bar.warp.sync 3;\n@!%p1 bra other;\n"
      "wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra wait;\nbra meet;\n"
      "other:\nmbarrier.arrive.shared.b64 _, [bar];\n"
      "meet:\nst.global.u32 [%rd3], 7;\n");
  EXPECT_TRUE(p.run({1}, {2}).findings.empty());
  EXPECT_EQ(p.word(0), 7u);
  EXPECT_EQ(p.word(1), 7u);
  // The same with the lane that arrives waiting where both meet, and arriving only then.
  Program late(
      ".shared .align 8 .b64 bar;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\n"
      "bar.warp.sync 3;\n@!%p1 bra meet;\n"
      "wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra wait;\n"
      "meet:\n@!%p1 mbarrier.arrive.shared.b64 _, [bar];\nst.global.u32 [%rd3], 7;\n");
  EXPECT_TRUE(late.run({1}, {2}).findings.empty());
  EXPECT_EQ(late.word(0), 7u);
}

TEST(Mbarrier, PhaseThatNeverCompletesIsADeadlockNotAHang) {
  const std::string loop = "wait:\nmbarrier.try_wait.shared.b64 %p2, [bar], %rd7;\n@!%p2 bra wait;\n";
  Program arrivals(barrier_start +
                   "setp.lt.u32 %p3, %r1, 60;\n@!%p3 bra done;\nmbarrier.arrive.shared.b64 %rd7, [bar];\n" +
                   loop + "done:\n");
  for (const uint32_t threads : {1u, 2u}) {
    const LaunchResult result = arrivals.run({3}, {64}, threads);
    const Finding& f = only(result);
    EXPECT_EQ(f.kind, Finding::Kind::deadlock);
    EXPECT_NE(f.message.find("still waits for 4 arrivals of 64"), std::string::npos) << f.message;
  }
  Program bytes(barrier_start + "mbarrier.arrive.expect_tx.shared.b64 %rd7, [bar], 16;\n" + loop);
  EXPECT_NE(only(bytes.run({1}, {32})).message.find("0 arrivals of 32 and for 512 bytes"), std::string::npos);
  // One warp waits at an mbarrier, the other one at a barrier of the block.
  Program both(barrier_start +
               "setp.lt.u32 %p3, %r1, 32;\n@%p3 bra block;\nmbarrier.arrive.shared.b64 %rd7, [bar];\n" +
               loop + "ret;\nblock:\nbar.sync 0;\n");
  EXPECT_EQ(both.run({1}, {64}).findings.size(), 2u);
  // Beside a warp that spins on memory.
  Program spin(barrier_start +
               "setp.lt.u32 %p3, %r1, 32;\n@%p3 bra spin;\nmbarrier.arrive.shared.b64 %rd7, [bar];\n" + loop +
               "st.global.u32 [%rd1], 1;\nret;\nspin:\nld.volatile.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p4, "
               "%r5, 0;\n@%p4 bra spin;\n");
  const LaunchResult result = spin.run({1}, {64});
  EXPECT_EQ(result.findings.size(), 2u);
  for (const Finding& f : result.findings) EXPECT_EQ(f.kind, Finding::Kind::deadlock);
}

/// Loops around waits that read a clock never return to a state. Where the time decides how long they pause,
/// as in cuda::barrier, they only wait; where it may end them, that they wait for ever is taken for granted
/// in the end.
TEST(Mbarrier, WaitsThatReadAClockAreADeadlock) {
  const std::string
      time = "mov.u64 %rd8, %globaltimer;\nwait:\nmov.u64 %rd9, %globaltimer;\nsub.u64 %rd10, %rd9, %rd8;\n",
      wait = "mbarrier.try_wait.shared.b64 %p2, [bar], %rd7;\n@!%p2 bra wait;\n",
      pauses = time + "cvt.u32.u64 %r9, %rd10;\nnanosleep.u32 %r9;\n" + wait,
      gives_up = time + "setp.gt.u64 %p4, %rd10, 3600000000000;\n@%p4 bra done;\n" + wait;
  for (const std::string& loop : {pauses, gives_up})
    for (const uint32_t threads : {1u, 2u}) {
      Program p(barrier_start +
                "setp.lt.u32 %p3, %r1, 60;\n@!%p3 bra done;\nmbarrier.arrive.shared.b64 %rd7, [bar];\n" +
                loop + "done:\n");
      p.patience = loop == pauses ? std::chrono::hours(1) : std::chrono::milliseconds(20);
      const LaunchResult result = p.run({5}, {64}, threads);
      const Finding& f = only(result);
      EXPECT_EQ(f.kind, Finding::Kind::deadlock);
      EXPECT_NE(f.message.find("still waits for 4 arrivals of 64"), std::string::npos) << f.message;
    }
  // A limit of time that is within the patience ends the wait.
  Program limited(
      barrier_start +
      "setp.lt.u32 %p3, %r1, 60;\n@!%p3 bra done;\n"
      "mbarrier.arrive.shared.b64 %rd7, [bar];\nmov.u64 %rd8, %globaltimer;\nwait:\n"
      "mov.u64 %rd9, %globaltimer;\nsub.u64 %rd10, %rd9, %rd8;\nsetp.gt.u64 %p4, %rd10, 20000000;\n"
      "@%p4 bra late;\nmbarrier.try_wait.shared.b64 %p2, [bar], %rd7;\n@!%p2 bra wait;\n"
      "late:\nst.global.u32 [%rd3], 7;\ndone:\n");
  EXPECT_TRUE(limited.run({1}, {64}).findings.empty());
  EXPECT_EQ(limited.word(0), 7u);
}

TEST(Mbarrier, WaitThatTimesOutMayDoSomethingElse) {
  // What completes the phase is done only by the thread that gave up waiting for it.
  Program p(
      ".shared .align 8 .b64 bar;\nmbarrier.init.shared.b64 [bar], 1;\nmov.u32 %r5, 0;\n"
      "wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@%p2 bra done;\nadd.u32 %r5, %r5, 1;\n"
      "setp.eq.u32 %p3, %r5, 3;\n@%p3 mbarrier.arrive.shared.b64 _, [bar];\nbra wait;\n"
      "done:\nst.global.u32 [%rd1], %r5;\n");
  EXPECT_TRUE(p.run({1}, {1}).findings.empty());
  EXPECT_EQ(p.word(0), 3u);
}

TEST(Mbarrier, MisuseIsReported) {
  const auto message = [](const std::string& body) {
    Program p(".shared .align 8 .b64 bar;\n" + body);
    const LaunchResult result = p.run({1}, {1});
    const Finding& f = only(result);
    EXPECT_EQ(f.kind, Finding::Kind::bad_barrier);
    return f.message;
  };
  EXPECT_NE(message("mbarrier.arrive.shared.b64 %rd7, [bar];").find("no mbarrier"), std::string::npos);
  EXPECT_NE(message("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.inval.shared.b64 [bar];\n"
                    "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;")
                .find("no mbarrier"),
            std::string::npos);
  EXPECT_NE(message("mbarrier.init.shared.b64 [bar], 0;").find("0 arrivals"), std::string::npos);
  EXPECT_NE(message("mbarrier.init.shared.b64 [bar], 1048576;").find("1 to 1048575"), std::string::npos);
  EXPECT_NE(message("mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.shared.b64 _, [bar], 3;")
                .find("expects 2 more"),
            std::string::npos);
  EXPECT_NE(message("mbarrier.init.shared.b64 [bar], 2;\nmbarrier.expect_tx.shared.b64 [bar], 1048576;")
                .find("1048575 are the most"),
            std::string::npos);
}

}  // namespace
}  // namespace lanescope::exec
