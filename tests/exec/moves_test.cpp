// mov of several values at once, of parts of 128 bits, and of special registers as a whole; tables of
// numbered labels; what else ptxas takes beside the forms that compilers write.
#include <gtest/gtest.h>

#include <string>

#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using harness::Program;

TEST(Moves, OfVectorsReadAllBeforeTheyWriteAny) {
  Program p(
      ".reg .v2 .b32 %v;\n.reg .v4 .b16 %w;\nadd.u32 %r5, %r1, 100; add.u32 %r6, %r1, 200;\n"
      "mov.v2.b32 {%r5, %r6}, {%r6, %r5};\nmov.v2.u32 %v, {%r5, 7};\nmov.v2.b32 {_, %r7}, %v;\n"
      "mov.b64 %w, 0x0004000300020001;\nmov.v4.u16 %w, {%w.w, %w.z, %w.y, %w.x};\nmov.b64 %rd5, %w;\nmov.b64 "
      "{%r8, %r9}, %rd5;\n"
      "setp.eq.u32 %p1, %r1, 3;\n@%p1 mov.v2.b32 {%r6, %r7}, {%r7, %r6};\n"
      "mad.lo.u32 %r10, %r1, 20, 0;\ncvt.u64.u32 %rd4, %r10;\nadd.u64 %rd4, %rd4, %rd1;\n"
      "st.global.u32 [%rd4], %r5;\nst.global.u32 [%rd4+4], %r6;\nst.global.u32 [%rd4+8], %r7;\n"
      "st.global.u32 [%rd4+12], %r8;\nst.global.u32 [%rd4+16], %r9;\n");
  ASSERT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(p.word(5 * i), 200 + i);
    EXPECT_EQ(p.word(5 * i + 1), i == 3 ? 7 : 100 + i);
    EXPECT_EQ(p.word(5 * i + 2), i == 3 ? 103 : 7u);
    EXPECT_EQ(p.word(5 * i + 3), 0x00030004u);
    EXPECT_EQ(p.word(5 * i + 4), 0x00010002u);
  }
}

TEST(Moves, OfWholeSpecialRegistersHaveAFourthElement) {
  Program p(
      ".reg .v4 .u32 %v;\nmov.u32 %v.w, 5;\nmov.v4.u32 %v, %ntid;\nst.global.u32 [%rd1], %v.x;\n"
      "st.global.u32 [%rd1+4], %v.y;\nst.global.u32 [%rd1+8], %v.z;\nst.global.u32 [%rd1+12], %v.w;\n"
      "mov.u32 %r5, %tid.w;\nst.global.u32 [%rd1+16], %r5;\nmov.v4.b32 {%r5, %r6, %r7, _}, %nctaid;\n"
      "st.global.u32 [%rd1+20], %r7;\n");
  ASSERT_TRUE(p.run_with({2, 1, 3}, {4, 2, 2}, 16, [](uint64_t) {}).findings.empty());
  for (const auto& [at, value] : {std::pair{0, 4u}, {1, 2u}, {2, 2u}, {3, 0u}, {4, 0u}, {5, 3u}})
    EXPECT_EQ(p.word(static_cast<uint64_t>(at)), value) << at;
}

TEST(Moves, OfFourWordsMakeOneOf128Bits) {
  Program p(
      ".reg .b128 %q;\nmov.b128 %q, {1, %r1, 3, 0x80000004};\nmov.b128 {%rd4, %rd5}, %q;\n"
      "mov.b128 {%r5, %r6, _, %r8}, %q;\nsetp.eq.u32 %p1, %r1, 2;\n@%p1 st.global.u64 [%rd1], %rd4;\n"
      "@%p1 st.global.u64 [%rd1+8], %rd5;\n@%p1 st.global.u32 [%rd1+16], %r6;\n@%p1 st.global.u32 [%rd1+20], "
      "%r8;\n");
  ASSERT_TRUE(p.run({1}, {32}).findings.empty());
  const uint32_t expected[] = {1, 2, 3, 0x80000004, 2, 0x80000004};
  for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(p.word(i), expected[i]) << i;
}

// ptxas takes the address of a variable plus a number wherever it takes a number.
TEST(Moves, AddressesWithOffsetsAreNumbers) {
  Program p(
      ".shared .align 16 .b32 s[4];\n.local .align 16 .b8 l[16];\nmov.u32 %r5, s; add.u32 %r6, %r1, s+12;\n"
      "sub.u32 %r6, %r6, %r5; mov.u64 %rd4, l; sub.u64 %rd5, l+8, %rd4;\ncvt.u64.u32 %rd6, s+4; cvt.u32.u64 "
      "%r7, %rd6; sub.u32 %r7, %r7, %r5;\n"
      "setp.eq.u32 %p1, %r1, 2;\n@%p1 st.global.u32 [%rd1], %r6;\n@%p1 st.global.u64 [%rd1+8], %rd5;\n"
      "@%p1 st.global.u32 [%rd1+16], %r7;\n@%p1 st.shared.u32 [s+8], s+8; @%p1 ld.shared.u32 %r8, [s+8];\n"
      "sub.u32 %r8, %r8, %r5;\n@%p1 st.global.u32 [%rd1+20], %r8;\n");
  ASSERT_TRUE(p.run({1}, {32}).findings.empty());
  EXPECT_EQ(p.word(0), 14u);
  EXPECT_EQ(p.word(2), 8u);
  EXPECT_EQ(p.word(3), 0u);
  EXPECT_EQ(p.word(4), 4u);
  EXPECT_EQ(p.word(5), 8u);
}

// On an H200 with driver 580 all of these were 0.
TEST(Moves, CountersAndUnusedRegistersOfTheDriverAreZero) {
  std::string body = "mov.u32 %r5, 0;\n";
  for (const char* name : {"%pm0", "%pm7", "%envreg3", "%envreg5", "%envreg31", "%ctaid.w"})
    body += std::string("mov.u32 %r6, ") + name + ";\nor.b32 %r5, %r5, %r6;\n";
  body += "mov.u64 %rd4, %pm3_64;\ncvt.u32.u64 %r6, %rd4;\nor.b32 %r5, %r5, %r6;\n";
  Program p(body + "add.u32 %r5, %r5, 9;\nst.global.u32 [%rd3], %r5;\n");
  ASSERT_TRUE(p.run({1}, {32}).findings.empty());
  EXPECT_EQ(p.word(31), 9u);
}

TEST(Moves, TablesMayNameARangeOfLabels) {
  Program p(
      "and.b32 %r5, %r1, 3;\nT: .branchtargets L<3>, M;\nbrx.idx %r5, T;\nL0: mov.u32 %r6, 10; bra end;\n"
      "L1: mov.u32 %r6, 11; bra end;\nL2: mov.u32 %r6, 12; bra end;\nM: mov.u32 %r6, 13;\nend:\n"
      "st.global.u32 [%rd3], %r6;\n");
  ASSERT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(p.word(i), 10 + i % 4);
}

TEST(Moves, TheLeastMagnitudeOfThreeValuesHasNoSign) {
  Program p(
      "mov.f32 %f1, 0fC0400000; mov.f32 %f2, 0f40000000; mov.f32 %f3, 0fBF800000;\n"
      "min.abs.f32 %f4, %f1, %f2, %f3;\nst.global.f32 [%rd1], %f4;\nmax.NaN.abs.f32 %f4, %f1, %f2, %f3;\n"
      "st.global.f32 [%rd1+4], %f4;\nmov.f32 %f3, 0fFFC00000;\nmax.abs.f32 %f4, %f1, %f2, %f3;\n"
      "st.global.f32 [%rd1+8], %f4;\nmax.NaN.abs.f32 %f4, %f1, %f2, %f3;\nst.global.f32 [%rd1+12], %f4;\n",
      "", "sm_100a");
  ASSERT_TRUE(p.run({1}, {1}).findings.empty());
  EXPECT_EQ(p.word(0), 0x3f800000u);
  EXPECT_EQ(p.word(1), 0x40400000u);
  EXPECT_EQ(p.word(2), 0x40400000u);
  EXPECT_EQ(p.word(3), 0x7fffffffu);
}

// Of the other block's memory, by its address in the cluster.
TEST(Moves, FlagsOfTheClusterHaveAMemoryOrder) {
  Program p(
      "mov.u32 %r5, flag;\nmov.u32 %r6, %cluster_ctarank;\nxor.b32 %r7, %r6, 1;\n"
      "mapa.shared::cluster.u32 %r8, %r5, %r7;\nst.shared.u32 [%r5], 0;\nbarrier.cluster.arrive;\n"
      "barrier.cluster.wait;\nadd.u32 %r9, %r6, 40;\nst.release.cluster.shared::cluster.u32 [%r8], %r9;\n"
      "again:\nld.acquire.cluster.shared::cluster.u32 %r10, [%r5];\nsetp.eq.u32 %p1, %r10, 0;\n"
      "@%p1 bra again;\nst.global.u32 [%rd3], %r10;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n",
      ".shared .u32 flag;\n");
  ASSERT_TRUE(p.run({2}, {1}, 1, 16, false, {2}).findings.empty());
  EXPECT_EQ(p.word(0), 41u);
  EXPECT_EQ(p.word(1), 40u);
}

}  // namespace
}  // namespace lanescope::exec
