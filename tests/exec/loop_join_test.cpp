// Lanes that part in a loop that some of them leave: who stays meets before the next iteration, and what they
// do then is one access, as in the assembler's code.
#include <gtest/gtest.h>

#include <string>

#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using harness::Program;

/// Lane t looks at items t + 1 to t + 3 and leaves at t + 4; each item is one load for all lanes at it.
const std::string window =
    "mov.u32 %r5, 0;\nadd.u32 %r6, %r1, 4;\n"
    "loop:\nsetp.le.u32 %p1, %r5, %r1;\n@%p1 bra next;\n"
    "setp.ge.u32 %p2, %r5, %r6;\n@%p2 bra out;\n"
    "ld.global.u32 %r7, [%rd3];\n"
    "next:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 100;\n@%p3 bra loop;\n"
    "out:\nst.global.u32 [%rd3], %r5;";

TEST(LoopJoin, LanesThatStayMeetThoughOthersLeave) {
  Program p(window);
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(p.word(t), t + 4);
  EXPECT_EQ(p.accesses(AccessSpace::global), 34u + 1);  // items 1 … 34, and one store behind the loop
}

TEST(LoopJoin, ThoseWhoEndInTheLoopAreNotWaitedFor) {
  Program p(
      "mov.u32 %r5, 0;\n"
      "loop:\nsetp.lt.u32 %p1, %r5, 8;\n@%p1 bra next;\n"
      "st.global.u32 [%rd3], %r5;\nsetp.ge.u32 %p2, %r5, %r1;\n@%p2 bra done;\n"
      "next:\nadd.u32 %r5, %r5, 1;\nbra loop;\ndone:\nret;");
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(p.word(t), std::max(t, 8u));
  EXPECT_EQ(p.accesses(AccessSpace::global), 24u);  // at 8 … 31
}

TEST(LoopJoin, WholePathsLeaveAndOthersGoOn) {
  // Odd lanes take a way of their own and leave together at 5; even ones at 9.
  Program p(
      "mov.u32 %r5, 0;\nand.b32 %r6, %r1, 1;\nsetp.ne.u32 %p1, %r6, 0;\n"
      "loop:\n@%p1 bra odd;\n"
      "ld.global.u32 %r7, [%rd3];\nsetp.ge.u32 %p2, %r5, 9;\n@%p2 bra out;\nbra next;\n"
      "odd:\nld.global.u32 %r8, [%rd3];\nsetp.ge.u32 %p3, %r5, 5;\n@%p3 bra out;\n"
      "next:\nld.global.u32 %r9, [%rd3];\nadd.u32 %r5, %r5, 1;\nbra loop;\n"
      "out:\nst.global.u32 [%rd3], %r5;");
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(p.word(t), t % 2 != 0 ? 5 : 9);
  EXPECT_EQ(p.accesses(AccessSpace::global), 10u + 6 + 9 + 1);
}

TEST(LoopJoin, TwoLoopsAreLeftAtOnce) {
  // The outer loop counts to 6 in %r5, the inner to 4 in %r6; lane t leaves both at 4 r5 + r6 = t, if ever.
  Program p(
      "mov.u32 %r5, 0;\n"
      "outer:\nmov.u32 %r6, 0;\n"
      "inner:\nshl.b32 %r7, %r5, 2;\nadd.u32 %r7, %r7, %r6;\n"
      "setp.lt.u32 %p1, %r7, 3;\n@%p1 bra next;\n"
      "setp.eq.u32 %p2, %r7, %r1;\n@%p2 bra out;\n"
      "next:\nld.global.u32 %r8, [%rd3];\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 4;\n@%p3 bra inner;\n"
      "ld.global.u32 %r8, [%rd3];\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p4, %r5, 6;\n@%p4 bra outer;\n"
      "mov.u32 %r7, 99;\n"
      "out:\nst.global.u32 [%rd3], %r7;");
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(p.word(t), t < 3 || t > 23 ? 99 : t);
  EXPECT_EQ(p.accesses(AccessSpace::global), 24u + 6 + 1);
}

TEST(LoopJoin, AnInnerLoopsEndIsAMeetingThoughTheOuterOneMayBeLeftFromInside) {
  // Lane t goes t % 4 times through the inner loop; in the third round of the outer one lanes 8 … leave from
  // it.
  Program p(
      "mov.u32 %r5, 0;\nand.b32 %r9, %r1, 3;\n"
      "outer:\nmov.u32 %r6, 0;\n"
      "inner:\nsetp.lt.u32 %p1, %r5, 2;\n@%p1 bra next;\nsetp.ge.u32 %p2, %r1, 8;\n@%p2 bra out;\n"
      "next:\nadd.u32 %r6, %r6, 1;\nsetp.le.u32 %p3, %r6, %r9;\n@%p3 bra inner;\n"
      "ld.global.u32 %r8, [%rd3];\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p4, %r5, 6;\n@%p4 bra outer;\n"
      "out:\nst.global.u32 [%rd3], %r5;");
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(p.word(t), t < 8 ? 6 : 2);
  EXPECT_EQ(p.accesses(AccessSpace::global), 6u + 1);
}

TEST(LoopJoin, LanesThatHaveDoneWithALoopMeetBehindItThoughOthersLeaveForElsewhere) {
  // Lane t goes t times through the loop and loads behind it, but those from 24 on leave it for the end
  // at 20.
  Program p(
      "mov.u32 %r5, 0;\n"
      "loop:\nsetp.ge.u32 %p1, %r5, 20;\n@%p1 bra check;\nbra next;\n"
      "check:\nsetp.ge.u32 %p2, %r1, 24;\n@%p2 bra out;\n"
      "next:\nadd.u32 %r5, %r5, 1;\nsetp.le.u32 %p3, %r5, %r1;\n@%p3 bra loop;\n"
      "ld.global.u32 %r7, [%rd3];\nadd.u32 %r5, %r5, 100;\n"
      "out:\nst.global.u32 [%rd3], %r5;");
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(p.word(t), t < 24 ? t + 101 : 20);
  EXPECT_EQ(p.accesses(AccessSpace::global), 1u + 1);
}

TEST(LoopJoin, WaysThatEachCloseTheLoopMeetAtItsHeader) {
  Program p(
      "mov.u32 %r5, 0;\nand.b32 %r6, %r1, 1;\nsetp.ne.u32 %p1, %r6, 0;\n"
      "loop:\nadd.u32 %r5, %r5, 1;\nld.global.u32 %r7, [%rd3];\n@%p1 bra odd;\n"
      "setp.ge.u32 %p2, %r5, 9;\n@%p2 bra out;\nld.global.u32 %r8, [%rd3];\nbra loop;\n"
      "odd:\nsetp.ge.u32 %p3, %r5, 5;\n@%p3 bra out;\nbra loop;\n"
      "out:\nst.global.u32 [%rd3], %r5;");
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(p.word(t), t % 2 != 0 ? 5 : 9);
  EXPECT_EQ(p.accesses(AccessSpace::global), 9u + 8 + 1);
}

TEST(LoopJoin, WhoHoldsALockLeavesWhileOthersWait) {
  // Each lane takes a lock, adds one, gives it back and leaves the loop in the branch that got it.
  Program p(
      "mov.u32 %r9, 0;\n"
      "loop:\natom.global.cas.b32 %r5, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra next;\n"
      "ld.volatile.global.u32 %r6, [%rd1+4];\nadd.u32 %r6, %r6, 1;\nst.volatile.global.u32 [%rd1+4], %r6;\n"
      "membar.gl;\natom.global.exch.b32 %r7, [%rd1], 0;\nsetp.eq.u32 %p2, %r7, 1;\n@%p2 bra out;\n"
      "next:\nadd.u32 %r9, %r9, 1;\nbra loop;\n"
      "out:\n");
  EXPECT_TRUE(p.run({2}, {32}).findings.empty());
  EXPECT_EQ(p.word(1), 64u);
}

}  // namespace
}  // namespace lanescope::exec
