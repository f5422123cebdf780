// Instructions and ways of writing them that no recorded program has: hints, which change nothing; indirect
// calls and branch tables; scopes, vectors of registers and numbered names as inline assembly writes them;
// conversions of one byte. The forms of register instructions are compared with a GPU's results in
// instruction_results_test.cpp.
#include <gtest/gtest.h>

#include <string>

#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using harness::Program;

/// Runs one warp; every lane's word must be `word(lane)`.
template <class Word>
void expect_words(const std::string& body, Word word, const std::string& before = "") {
  Program p(body, before);
  const LaunchResult result = p.run({1}, {32});
  for (const Finding& f : result.findings) ADD_FAILURE() << f.message;
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(p.word(lane), word(lane)) << "lane " << lane;
}

TEST(Forms, HintsChangeNothing) {
  expect_words(
      "st.global.u32 [%rd3], %r1;\n"
      "createpolicy.fractional.L2::evict_last.b64 %rd4, 0.5;\n"
      "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd5;\n"
      "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd6, [%rd1], 64, 128;\n"
      "createpolicy.cvt.L2.b64 %rd7, 0x14f0000000000000;\n"
      "prefetch.global.L1 [%rd3];\nprefetch.global.L2::evict_last [%rd3];\nprefetch.local.L2 [%rd3];\n"
      "prefetchu.L1 [%rd3];\nprefetch.tensormap [%rd1];\napplypriority.global.L2::evict_normal [%rd1], 128;\n"
      "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\n"
      "setmaxnreg.dec.sync.aligned.u32 40;\nsetmaxnreg.inc.sync.aligned.u32 232;\n"
      "nanosleep.u32 20;\npmevent 1;\npmevent.mask 5;\n"
      "ld.global.L1::evict_first.L2::cache_hint.L2::128B.u32 %r5, [%rd3], %rd4;\nadd.u32 %r5, %r5, 7;\n"
      "st.global.L1::no_allocate.L2::cache_hint.u32 [%rd3], %r5, %rd6;\n"
      "ld.global.nc.L1::no_allocate.L2::256B.u32 %r6, [%rd3];\nadd.u32 %r6, %r6, 1;\n"
      "red.global.add.L2::cache_hint.u32 [%rd3], %r6, %rd7;\n",
      [](uint32_t lane) { return 2 * (lane + 7) + 1; });
}

/// A warp that copies 32 bytes a lane from the buffer's second KiB, filled with 0, 1, 2, …, to its first.
constexpr const char* fill_and_copy =
    "shl.b32 %r5, %r1, 5;\ncvt.u64.u32 %rd4, %r5;\nadd.u64 %rd4, %rd4, %rd1;\nmov.u32 %r6, 0;\n"
    "fill: mad.lo.u32 %r7, %r1, 8, %r6;\nmul.wide.u32 %rd5, %r6, 4;\nadd.u64 %rd5, %rd5, %rd4;\n"
    "st.global.u32 [%rd5+1024], %r7;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 8;\n@%p1 bra fill;\n";

TEST(Forms, AccessesOf32Bytes) {
  const auto expect = [](const std::string& copy, auto word) {
    Program p(fill_and_copy + copy, "", "sm_100");
    const LaunchResult result = p.run({1}, {32});
    for (const Finding& f : result.findings) ADD_FAILURE() << f.message;
    for (uint32_t i = 0; i < 256; ++i) EXPECT_EQ(p.word(i), word(i)) << copy << i;
  };
  const auto same = [](uint32_t i) { return i; };
  expect(
      "ld.global.v8.u32 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%rd4+1024];\n"
      "st.global.v8.b32 [%rd4], {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17};\n",
      same);
  expect(
      "ld.L2::evict_last.v4.b64 {%rd5, %rd6, %rd7, %rd8}, [%rd4+1024];\n"
      "st.L1::no_allocate.v4.f64 [%rd4], {%rd5, %rd6, %rd7, %rd8};\n",
      same);
  expect(
      ".reg .u64 %w<8>;\n"
      "ld.relaxed.gpu.global.v8.u32 {%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7}, [%rd4+1024];\n"
      "add.u64 %w7, %w7, 0x700000000;\n"
      "st.release.gpu.global.v8.u32 [%rd4], {%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7};\n",
      same);
  // What is left out stays as it is.
  expect(
      "mov.u32 %r10, 77;\nst.global.v8.b32 [%rd4], {%r10, 77, %r10, 77, %r10, 77, %r10, 77};\n"
      "ld.global.nc.v8.u32 {%r10, _, %r12, %r13, %r14, %r15, _, _}, [%rd4+1024];\n"
      "st.global.v8.b32 [%rd4], {_, 5, %r12, %r13, _, _, _, %r14};\n",
      [](uint32_t i) {
        const uint32_t k = i % 8;
        return k == 1 ? 5u : k == 2 || k == 3 ? i : k == 7 ? i - 3 : 77u;
      });
}

TEST(Forms, AccessesOf32BytesAreAlignedAndOfGlobalMemory) {
  const auto only = [](const std::string& body) {
    Program p(body, "", "sm_100");
    LaunchResult result = p.run({1}, {32});
    EXPECT_EQ(result.findings.size(), 1u);
    return result.findings.empty() ? Finding{} : result.findings[0];
  };
  const std::string load = "ld.v8.u32 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, ";
  Finding found = only("mul.wide.u32 %rd4, %r1, 16;\nadd.u64 %rd4, %rd4, %rd1;\n" + load + "[%rd4];\n");
  EXPECT_EQ(found.kind, Finding::Kind::misaligned);
  EXPECT_EQ(found.width, 32u);
  EXPECT_EQ(found.thread, 1u);
  EXPECT_EQ(found.count, 16u);
  found = only(
      "mul.wide.u32 %rd4, %r1, 32;\nadd.u64 %rd4, %rd4, %rd1;\n"
      "st.global.v4.b64 [%rd4+3104], {%rd1, %rd1, %rd1, %rd1};\n");
  EXPECT_EQ(found.kind, Finding::Kind::out_of_bounds);
  EXPECT_EQ(found.thread, 31u);
  found = only(".shared .align 32 .b8 s[64];\ncvta.shared.u64 %rd4, s;\n" + load + "[%rd4];\n");
  EXPECT_EQ(found.kind, Finding::Kind::unknown_pointer);
  EXPECT_NE(found.message.find("which is of shared memory: accesses of 32 bytes are to global memory only"),
            std::string::npos)
      << found.message;
  found = only(".local .align 32 .b8 l[64];\ncvta.local.u64 %rd4, l;\n" + load + "[%rd4];\n");
  EXPECT_NE(found.message.find("which is of local memory"), std::string::npos) << found.message;
}

// A is 1 and B is 2 in all k = 0..15; of A's lower rows the first half is the constant 0.
TEST(Forms, MatricesOfConstantsAndSinks) {
  expect_words(
      "mov.b32 %r5, 0x3c003c00;\nmov.b32 %r6, 0x40004000;\ncvt.rn.f32.u32 %f1, %r1;\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, _}, {%r5, 0, %r5, %r5}, {%r6, %r6},"
      " {%f1, 0f40a00000, 0., 0f42c80000};\n"
      "fma.rn.f32 %f2, %f3, 1000., %f2;\nfma.rn.f32 %f2, %f4, 1.e5, %f2;\n"
      "cvt.rni.u32.f32 %r7, %f2;\nst.global.u32 [%rd3], %r7;\n",
      [](uint32_t lane) { return 16 * 100000 + (32 + 5) * 1000 + 32 + lane; });
}

TEST(Forms, AddressesKnowTheirSpace) {
  expect_words(
      ".shared .u32 s[4];\n.local .u32 l[4];\n"
      "cvta.shared.u64 %rd4, s;\ncvta.local.u64 %rd5, l;\nmov.u32 %r5, 0;\n"
      "isspacep.shared %p1, %rd4;\n@%p1 or.b32 %r5, %r5, 1;\nisspacep.shared::cta %p1, %rd4;\n@%p1 or.b32 "
      "%r5, "
      "%r5, 2;\nisspacep.shared::cluster %p1, %rd4;\n@%p1 or.b32 %r5, %r5, 4;\n"
      "isspacep.local %p1, %rd5;\n@%p1 or.b32 %r5, %r5, 8;\nisspacep.global %p1, %rd3;\n@%p1 or.b32 %r5, "
      "%r5, 16;\n"
      "isspacep.global %p1, %rd4;\n@%p1 or.b32 %r5, %r5, 32;\nisspacep.shared %p1, %rd5;\n@%p1 or.b32 %r5, "
      "%r5, "
      "64;\nisspacep.local %p1, %rd3;\n@%p1 or.b32 %r5, %r5, 128;\n"
      "st.global.u32 [%rd3], %r5;\n",
      [](uint32_t) { return 31; });
}

TEST(Forms, IndirectCallsAndBranchTables) {
  const std::string functions =
      ".func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; shl.b32 %x, %x, 1; "
      "st.param.b32 [r], %x; ret; }\n"
      ".func (.param .b32 r) next(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 1; "
      "st.param.b32 [r], %x; ret; }\n"
      ".global .u64 table[2] = {twice, next};\n";
  const auto call = [](const std::string& which) {
    return "{ .param .b32 a, b; st.param.b32 [a], %r1; call (b), %rd5, (a), " + which +
           "; ld.param.b32 %r6, [b]; }\n";
  };
  expect_words(
      "prototype: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "targets: .calltargets twice, next;\n"
      "and.b32 %r5, %r1, 1;\nmul.wide.u32 %rd4, %r5, 8;\nmov.u64 %rd6, table;\nadd.u64 %rd4, %rd4, %rd6;\n"
      "ld.global.u64 %rd5, [%rd4];\n" +
          call("prototype") + "mov.u32 %r7, %r6;\n" + call("targets") +
          "add.u32 %r6, %r6, %r7;\nst.global.u32 [%rd3], %r6;\n",
      [](uint32_t lane) { return 2 * (lane % 2 == 0 ? 2 * lane : lane + 1); }, functions);
  expect_words(
      "rem.u32 %r5, %r1, 3;\nmov.u32 %r6, 100;\nways: .branchtargets a, b, c;\nbrx.idx %r5, ways;\n"
      "a: add.u32 %r6, %r6, 1;\nb: add.u32 %r6, %r6, 10;\nc: st.global.u32 [%rd3], %r6;\n",
      [](uint32_t lane) { return lane % 3 == 0   ? 111u
                                 : lane % 3 == 1 ? 110u
                                                 : 100u; });
}

TEST(Forms, ParametersAndResultsInRegisters) {
  // Some lanes leave early, the others where the body ends.
  const std::string functions =
      ".func (.reg .u32 sum, .reg .b64 wide) add(.reg .u32 a, .reg .b64 b, .param .u32 least)\n{\n"
      ".reg .u32 %x; .reg .pred %q;\ncvt.u32.u64 %x, b;\nadd.u32 sum, a, %x;\nmov.u64 wide, b;\n"
      "ld.param.u32 %x, [least];\nsetp.lt.u32 %q, sum, %x;\n@!%q ret;\nmov.u32 sum, %x;\n}\n";
  expect_words(
      "mov.u64 %rd4, 7;\ncall (%r5, %rd5), add, (%r1, %rd4, 20);\ncvt.u32.u64 %r6, %rd5;\n"
      "mad.lo.u32 %r5, %r6, 1000, %r5;\nst.global.u32 [%rd3], %r5;\n",
      [](uint32_t lane) { return 7000 + std::max(lane + 7, 20u); }, functions);
}

TEST(Forms, ElementsOfVariablesAndLineMarkers) {
  expect_words(
      ".shared .u32 s[8];\n.shared .v2 .u32 v[4];\n"
      "# 1 \"some.cu\"\nst.shared.u32 s[5], 50;\nst.shared.u32 [s+24], 6;\nst.shared.v2.u32 v[2], {300, "
      "1000};\n"
      "ld.shared.u32 %r5, s[6];\nld.shared.u32 %r6, [s+20];\nadd.u32 %r5, %r5, %r6;\n"
      "ld.shared.u32 %r6, v[3];\nadd.u32 %r5, %r5, %r6;\nmov.u32 %r6, s[1];\nmov.u32 %r7, s;\n"
      "sub.u32 %r6, %r6, %r7;\nadd.u32 %r5, %r5, %r6;\nst.global.u32 [%rd3], %r5;\n",
      [](uint32_t) { return 1060; });
}

TEST(Forms, AnIndirectCallThatFitsNoFunctionMayStandWhereItIsNotReached) {
  expect_words(
      "wide: .callprototype (.param .b64 _) _ (.param .b64 _, .param .b64 _, .param .align 16 .b8 _[64]);\n"
      "mov.u64 %rd5, 0;\nsetp.ne.u64 %p1, %rd5, 0;\n@!%p1 bra past;\n"
      "{ .param .b64 a, b, r; .param .align 16 .b8 c[64]; call (r), %rd5, (a, b, c), wide; ld.param.b64 "
      "%rd6, "
      "[r]; }\n"
      "past: st.global.u32 [%rd3], %r1;\n",
      [](uint32_t lane) { return lane; });
}

TEST(Forms, InlineAssembly) {
  // Scopes hide names; registers of vectors have elements; %v<n> makes n of them.
  expect_words(
      "mov.u32 %r5, 1;\n{\n.reg .u32 %r5;\n.reg .pred p;\nmov.u32 %r5, 500;\nsetp.lt.u32 p, %r1, 16;\n"
      "{ .reg .u32 p; mov.u32 p, 3; mad.lo.u32 %r6, p, 2, %r5; }\n@!p add.u32 %r6, %r6, 1000;\n}\n"
      ".reg .v4 .b32 v;\n.reg .v2 .u32 %w<3>;\nmov.b32 v.x, %r1;\nmov.b32 v.y, 2;\nmov.b32 v.w, 40;\n"
      "mov.b32 v.z, 0;\nst.global.v2.b32 [%rd1+1024], {v.y, v.w};\nld.global.v2.u32 %w2, [%rd1+1024];\n"
      "add.u32 %r6, %r6, %w2.y;\nadd.u32 %r6, %r6, v.x;\nadd.u32 %r6, %r6, %r5;\nst.global.u32 [%rd3], "
      "%r6;\n",
      [](uint32_t lane) { return 506 + (lane < 16 ? 0 : 1000) + 40 + lane + 1; });
}

TEST(Forms, BytesAndHalves) {
  expect_words(
      ".reg .b16 %h<4>;\n.reg .b8 %c<4>;\nsub.s32 %r5, %r1, 16;\ncvt.s8.s32 %c1, %r5;\ncvt.rn.bf16.s8 %h1, "
      "%c1;\n"
      "add.rn.bf16 %h1, %h1, %h1;\ncvt.rzi.s8.bf16 %c2, %h1;\nmov.b16 %h2, {%c2, 0};\n"
      "cvt.u32.u16 %r6, %h2;\nst.global.u32 [%rd3], %r6;\n",
      [](uint32_t lane) { return (2 * (lane - 16)) & 0xff; });
}

TEST(Forms, BytesOfARegister) {
  // Byte 2 and byte 0 change places, byte 3 is dropped; lanes below 8 keep what they had.
  expect_words(
      ".reg .b8 %c<5>;\n.reg .b16 %h<3>;\nmul.lo.u32 %r5, %r1, 0x01020304;\nmov.u32 %r6, 9;\nmov.b16 %h1, "
      "7;\n"
      "mov.b32 {%c1, %c2, %c3, _}, %r5;\nsetp.ge.u32 %p1, %r1, 8;\n@%p1 mov.b32 %r6, {%c3, %c2, %c1, 1};\n"
      "@%p1 mov.b16 %h1, {%c2, %c1};\ncvt.u32.u16 %r7, %h1;\nmul.lo.u32 %r7, %r7, 3;\nadd.u32 %r6, %r6, "
      "%r7;\n"
      "st.global.u32 [%rd3], %r6;\n",
      [](uint32_t lane) {
        const uint32_t word = lane * 0x01020304u, low = word & 0xff, next = word >> 8 & 0xff,
                       third = word >> 16 & 0xff;
        return lane < 8 ? 9 + 21 : (third | next << 8 | low << 16 | 1u << 24) + 3 * (next | low << 8);
      });
}

TEST(Forms, FactorsOutsideOfATensorGiveZero) {
  // 0x7ff7 is what copies of tensors put there, its sign does not matter; other NaNs are NaNs.
  expect_words(
      ".reg .b16 %h<9>;\nmov.b16 %h1, 0x7ff7;\nsetp.lt.u32 %p1, %r1, 8;\n@%p1 mov.b16 %h1, 0xfff7;\nmov.b16 "
      "%h2, 0x3c00;\nmov.b16 %h3, 0x4000;\n"
      "setp.lt.u32 %p1, %r1, 16;\n@!%p1 mov.b16 %h1, 0x7e00;\nfma.rn.oob.f16 %h4, %h1, %h2, %h3;\n"
      "fma.rn.oob.relu.f16 %h5, %h2, %h1, %h3;\nmov.b32 %r5, {%h4, %h5};\nst.global.u32 [%rd3], %r5;\n",
      [](uint32_t lane) { return lane < 16 ? 0u : 0x7fff7fffu; });
}

}  // namespace
}  // namespace lanescope::exec
