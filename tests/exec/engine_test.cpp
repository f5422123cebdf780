// What the engine does with programs that go wrong, wait for each other, or part and meet: small PTX programs
// with the memory or the finding they must end with.
#include <gtest/gtest.h>
#include <immintrin.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using harness::only;
using harness::Program;

TEST(Engine, StoreBehindAnAllocationNamesItAndTheThread) {
  Program p("st.global.u32 [%rd3], %r1;");
  const LaunchResult result = p.run({1}, {40}, 1, 35);
  const Finding& f = only(result);
  EXPECT_EQ(f.kind, Finding::Kind::out_of_bounds);
  EXPECT_EQ(f.thread, 35u);
  EXPECT_EQ(f.count, 5u);
  EXPECT_EQ(f.address, p.out() + 35 * 4);
  EXPECT_NE(f.message.find("0 bytes past the end of out (140 bytes"), std::string::npos) << f.message;
  EXPECT_EQ(p.word(34), 34u);
}

TEST(Engine, FindingsNameTheFirstBlockForAnyNumberOfHostThreads) {
  for (uint32_t threads : {1u, 2u, 7u}) {
    Program p(
        "setp.lt.u32 %p1, %r2, 3;\n@%p1 bra done;\nadd.u64 %rd3, %rd3, 1048576;\nst.global.u32 [%rd3], "
        "%r1;\ndone:");
    const LaunchResult result = p.run({64}, {32}, threads, 4096);
    const Finding& f = only(result);
    EXPECT_EQ(f.block, 3u);
    EXPECT_EQ(f.thread, 0u);
    EXPECT_EQ(f.count, 61u * 32u);
  }
}

/// From sm_100 on. The destination may be a source, and lanes that the guard leaves out keep what they had.
TEST(Engine, TheLeastAndTheGreatestOfThree) {
  Program p(
      "{ .reg .f32 %a, %b, %c; cvt.rn.f32.u32 %a, %r1; mov.f32 %b, 0f40A00000; sub.f32 %c, 0f41200000, %a;\n"
      "setp.lt.u32 %p1, %r1, 30; @%p1 max.f32 %c, %a, %b, %c; min.NaN.f32 %c, %c, 0f41F00000, 0f41F80000;\n"
      "cvt.rni.s32.f32 %r5, %c; st.global.u32 [%rd3], %r5; }");
  p.run({1}, {32});
  EXPECT_EQ(p.word(1), 9u);                           // 10 - lane
  EXPECT_EQ(p.word(5), 5u);                           // the constant
  EXPECT_EQ(p.word(29), 29u);                         // the lane
  EXPECT_EQ(p.word(31), static_cast<uint32_t>(-21));  // not executed
}

/// ptxas 13.0: `-v` for sm_90.
TEST(Engine, SharedMemoryOfAKernelEndsWhereArraysOfTheLaunchBegin) {
  struct Case {
    const char* dynamic_align;  // of an array that the module declares; none: null
    uint32_t declared, taken;
  };
  for (const Case& c :
       {Case{nullptr, 4, 4}, Case{nullptr, 24, 24}, Case{"1", 0, 0}, Case{"1", 4, 16}, Case{"4", 24, 32},
        Case{"16", 24, 32}, Case{"64", 24, 64}, Case{"1024", 0, 0}, Case{"1024", 4, 1024}})
    for (const bool used : {false, true}) {
      if (used && c.dynamic_align == nullptr) continue;
      std::string body, before;
      if (c.declared != 0)
        body = ".shared .align 4 .b8 s[" + std::to_string(c.declared) + "];\nst.shared.u32 [s], %r1;\n";
      if (used) body += "st.shared.u8 [t], %r1;\n";
      if (c.dynamic_align != nullptr)
        before = std::string(".extern .shared .align ") + c.dynamic_align + " .b8 t[];\n";
      Program p(body, before);
      EXPECT_EQ(p.kernel().static_shared, c.taken) << body << before;
      EXPECT_EQ(p.kernel().dynamic_shared_offset, (c.taken + 15) / 16 * 16) << body << before;
    }
}

// Brackets behind an array count in elements of its type, and with 32 bits.
TEST(Engine, ArraysHaveIndices) {
  const std::string arrays =
      ".global .u64 large[4] = {11, 22, 33, 44};\n.global .v2 .u32 pairs[3] = {{1, 2}, {3, 4}, {5, 6}};\n"
      ".global .u32 alone = 7;\n";
  const std::string wide = ".reg .b64 %a<4>;\ncvt.u64.u32 %a1, %r1;\n", narrow = "cvt.u32.u64 %r5, %a2;";
  const struct {
    std::string body;
    std::array<uint32_t, 3> lanes;
  } cases[] = {
      {wide + "ld.global.u64 %a2, large[2-1];" + narrow, {22, 22, 22}},
      {wide + "ld.global.u64 %a2, large[%r1];" + narrow, {11, 22, 33}},
      {wide + "ld.global.u64 %a2, large[%r1+1];" + narrow, {22, 33, 44}},
      {wide + "add.u32 %r1, %r1, 2;\nld.global.u64 %a2, large[%r1+-1];" + narrow, {22, 33, 44}},
      {wide + "add.u64 %a1, %a1, 0x700000000;\nld.global.u64 %a2, large[%a1];" + narrow, {11, 22, 33}},
      {wide + "mov.u64 %a3, large[%a1];\nld.global.u64 %a2, [%a3+8];" + narrow, {22, 33, 44}},
      {wide + "mov.u64 %a3, large[2];\nld.global.u64 %a2, [%a3];" + narrow, {33, 33, 33}},
      {".reg .b16 %h<2>;\ncvt.u16.u32 %h1, %r1;\nld.global.u32 %r5, pairs[%h1+2];", {3, 4, 5}},
      {".shared .u32 s[8];\nst.shared.u32 s[%r1+2], %r1;\nld.shared.u32 %r5, s[%r1+2];", {0, 1, 2}},
      {".shared .u32 s[8];\nmov.u32 %r6, s[%r1];\nst.shared.u32 [%r6], %r1;\nld.shared.u32 %r5, s[%r1];",
       {0, 1, 2}},
      {wide + "mov.u64 %a3, large[0xffffffff];\nld.global.u64 %a2, [%a3+16];" + narrow, {22, 22, 22}},
      {"mov.u32 %r5, 9;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 ld.global.u32 %r5, pairs[%r1];", {9, 2, 9}},
  };
  for (const auto& [body, lanes] : cases) {
    Program p(body + "\nst.global.u32 [%rd3], %r5;", arrays);
    EXPECT_FALSE(p.run({1}, {3}).failed) << body;
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(p.word(i), lanes[i]) << body;
  }
  for (const std::string body : {"ld.global.u32 %r5, alone[0];", "ld.global.u32 %r5, %rd3[0];",
                                 "ld.global.u32 %r5, pairs+4[0];", "ld.global.u32 %r5, [pairs[0]];",
                                 "ld.global.u32 %r5, pairs[%p1];", "ld.global.u32 %r5, pairs[%tid.x];",
                                 "ld.global.u32 %r5, pairs[0.5];", "atom.global.add.u32 %r5, pairs[0], 1;"})
    EXPECT_THROW(Program(body, arrays), Error) << body;
}

// Two warps store the same matrices, or others in the upper half of what lane 5 gives: elements 2 and 3 of
// row 1, transposed of column 1.
TEST(Engine, MatricesThatAreStoredTwiceAreComparedByRows) {
  const std::string rows =
      ".shared .align 16 .b8 s[512];\nmov.u32 %r6, s;\nand.b32 %r5, %r1, 31;\nmad.lo.u32 %r6, %r5, 16, %r6;\n"
      "mul.lo.u32 %r7, %r5, 0x30007;\n";
  const std::string others = "setp.eq.u32 %p1, %r1, 37;\n@%p1 add.u32 %r7, %r7, 0x10000;\n";
  const auto findings = [&](const std::string& body, const std::string& order) {
    Program p(rows + body + "stmatrix.sync.aligned.m8n8.x4" + order +
              ".shared.b16 [%r6], {%r5, %r7, %r5, %r5};");
    p.checks.race = true;
    return p.run({1}, {64}).findings;
  };
  for (const std::string order : {"", ".trans"}) {
    const Finding same = only(findings("", order));
    EXPECT_EQ(same.severity, Finding::Severity::note);
    EXPECT_EQ(same.excuse, Finding::Excuse::same_value);
    const auto found = findings(others, order);
    ASSERT_EQ(found.size(), 2u);
    const Finding& other = found[0].excuse == Finding::Excuse::none ? found[0] : found[1];
    EXPECT_EQ(other.severity, Finding::Severity::error);
    // Of the second matrix, the row in which that half lies.
    EXPECT_EQ(other.thread, 32u + 8 + (order.empty() ? 1 : 3));
  }
}

TEST(Engine, MisalignedNullAndSharedAccesses) {
  Program misaligned("add.u64 %rd3, %rd3, 2;\nld.global.u32 %r5, [%rd3];");
  EXPECT_EQ(only(misaligned.run({1}, {1})).kind, Finding::Kind::misaligned);
  Program null("mov.u64 %rd3, 0;\nld.global.u32 %r5, [%rd3+8];");
  EXPECT_EQ(only(null.run({1}, {1})).kind, Finding::Kind::unknown_pointer);
  Program shared(
      ".shared .align 4 .b8 s[64];\nshl.b32 %r5, %r1, 2;\nmov.u32 %r6, s;\nadd.u32 %r5, %r5, %r6;\n"
      "st.shared.u32 [%r5], %r1;");
  const LaunchResult result = shared.run({1}, {32});
  EXPECT_EQ(only(result).kind, Finding::Kind::out_of_bounds);
  EXPECT_EQ(only(result).thread, 16u);
  EXPECT_EQ(only(result).count, 16u);
  Program before(
      ".shared .align 4 .b8 s[64];\nmov.u32 %r6, s;\nsub.u32 %r6, %r6, 4;\nst.shared.u32 [%r6], %r1;");
  EXPECT_EQ(only(before.run({1}, {1})).message,
            "store to shared memory offset -4, 4 bytes: the block has 64 bytes");
  Program vector("ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd3];");
  const LaunchResult wide = vector.run({1}, {2});
  EXPECT_EQ(only(wide).kind, Finding::Kind::misaligned);
  EXPECT_EQ(only(wide).thread, 1u);
}

TEST(Engine, MessagesSayWhatTheAccessWas) {
  const auto starts = [](const std::string& instruction) {
    Program p("add.u64 %rd3, %rd3, 1048576;\n" + instruction);
    const std::string message = only(p.run({1}, {1})).message;
    return message.substr(0, message.find(" address"));
  };
  EXPECT_EQ(starts("ld.global.u32 %r5, [%rd3];"), "load of");
  EXPECT_EQ(starts("st.u32 [%rd3], %r5;"), "store to");
  EXPECT_EQ(starts("red.global.add.u32 [%rd3], %r5;"), "atomic operation on");
}

TEST(Engine, PointersOfTheHostAreToldAsSuch) {
  const auto word = std::make_unique<uint32_t>(7);
  const auto load = [](uint64_t address) {
    Program p("mov.u64 %rd3, " + std::to_string(address) + ";\nld.global.u32 %r5, [%rd3];");
    return only(p.run({1}, {1})).message;
  };
  EXPECT_NE(load(reinterpret_cast<uint64_t>(word.get())).find("memory of the host"), std::string::npos);
  EXPECT_NE(load(uint64_t{1} << 20).find("no allocation is near"), std::string::npos);
  Program far("add.u64 %rd3, %rd3, 5368709120;\nld.global.u32 %r5, [%rd3];");
  EXPECT_NE(only(far.run({1}, {1})).message.find("no allocation is near"), std::string::npos);
}

// What an H200 does with an address that the host has asked for, or the kernel itself.
TEST(Engine, ConstantMemoryIsWrittenByItsAddress) {
  Program p(
      "mov.u64 %rd4, table;\ncvta.const.u64 %rd4, %rd4;\nisspacep.const %p1, %rd4;\n@!%p1 trap;\n"
      "st.u32 [%rd4], 5;\natom.global.add.u32 %r6, [%rd4], 4;\nld.const.u32 %r5, [table];\n"
      "st.global.u32 [%rd3], %r5;",
      ".const .align 4 .u32 table[1] = {77};\n");
  EXPECT_TRUE(p.run({1}, {1}).findings.empty());
  EXPECT_EQ(p.word(0), 9u);
}

TEST(Engine, ParametersAreNotWritten) {
  Program p("mov.b64 %rd4, out;\ncvta.param.u64 %rd4, %rd4;\nst.u32 [%rd4], %r1;\nst.global.u32 [%rd3], 77;");
  const LaunchResult result = p.run({1}, {1});
  EXPECT_EQ(only(result).kind, Finding::Kind::write_to_constant);
  EXPECT_NE(only(result).message.find("in kernel parameters, which kernels may only read"),
            std::string::npos);
}

TEST(Engine, RefusedLoadsReadZero) {
  Program p(
      "mov.u32 %r5, 9;\nadd.u64 %rd4, %rd3, 1048576;\nld.global.u32 %r5, [%rd4];\nst.global.u32 [%rd3], "
      "%r5;");
  p.run({1}, {1});
  EXPECT_EQ(p.word(0), 0u);
}

TEST(Engine, BarrierThatNeverFillsIsADeadlockNotAHang) {
  Program p("setp.lt.u32 %p1, %r1, 32;\n@!%p1 bra done;\nbar.sync 3, 96;\ndone:");
  const LaunchResult result = p.run({1}, {64});
  const Finding& f = only(result);
  EXPECT_EQ(f.kind, Finding::Kind::deadlock);
  EXPECT_NE(f.message.find("barrier 3: 32 of 96 threads wait here"), std::string::npos) << f.message;
}

/// As products that take turns begin: the first group of warps gives itself the signal. PTX
/// ISA 9.0, 9.7.13.1: a barrier counts arrivals.
TEST(Engine, WarpsThatArriveWithoutWaitingCountOnceMoreWhenTheyWait) {
  for (const bool checked : {false, true}) {
    Program p(
        "setp.lt.u32 %p1, %r1, 64;\n@!%p1 bra done;\nmov.u32 %r5, 2;\nbar.arrive 1, 128;\n"
        "again:\nbar.sync 1, 128;\nbar.arrive 1, 128;\nsub.u32 %r5, %r5, 1;\nsetp.ne.u32 %p2, %r5, 0;\n"
        "@%p2 bra again;\nst.global.u32 [%rd1], 7;\ndone:");
    p.checks.race = p.checks.barrier = p.checks.init = checked;
    EXPECT_TRUE(p.run({1}, {96}).findings.empty()) << checked;
    EXPECT_EQ(p.word(0), 7u);
  }
}

TEST(Engine, LoopThatWaitsForNobodyIsADeadlockNotAHang) {
  Program p("again:\nld.volatile.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra again;");
  for (uint32_t threads : {1u, 2u}) {
    const LaunchResult result = p.run({3}, {64}, threads);
    const Finding& f = only(result);
    EXPECT_EQ(f.kind, Finding::Kind::deadlock);
    EXPECT_NE(f.message.find("loop"), std::string::npos) << f.message;
  }
}

TEST(Engine, BlocksThatPassAWordOnAreNoDeadlock) {
  // Each block waits for the one behind it and ends at once: whoever asks whether anything can still change
  // must have seen the last write of a block that is gone. Once in some runs on several host threads it had
  // not.
  for (int run = 0; run < 100; ++run) {
    Program p(
        "again:\nld.volatile.global.u32 %r5, [%rd1];\nadd.u32 %r6, %r5, %r2;\nsetp.ne.u32 %p1, %r6, 11;\n"
        "@%p1 bra again;\nadd.u32 %r5, %r5, 1;\nst.volatile.global.u32 [%rd1], %r5;");
    const LaunchResult result = p.run({12}, {1}, 4);
    ASSERT_FALSE(result.failed) << "run " << run;
    ASSERT_EQ(p.word(0), 12u);
  }
}

TEST(Engine, LoopWithALockNobodyReleasesIsADeadlock) {
  Program p("again:\natom.global.cas.b32 %r5, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra again;");
  EXPECT_EQ(only(p.run({1}, {32})).kind, Finding::Kind::deadlock);
}

TEST(Engine, LanesThatTakeALockInTurnAreLetGoEachTime) {
  // Every lane counts its attempts, so that no state repeats, and gives up after very many.
  Program p(
      "mov.u32 %r6, 0;\nagain:\nadd.u32 %r6, %r6, 1;\nsetp.gt.u32 %p2, %r6, 12000000;\n@%p2 trap;\n"
      "atom.global.cas.b32 %r5, [%rd1+256], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra again;\n"
      "st.global.u32 [%rd3], 7;\natom.global.exch.b32 %r5, [%rd1+256], 0;");
  EXPECT_FALSE(p.run({1}, {32}).failed);
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(p.word(lane), 7u) << lane;
}

/// Reads a word, or tries to take it for a lock, in a function.
const char* const looks_in_functions =
    ".func (.param .b32 r) look(.param .b64 at)\n{\n.reg .b64 %a;\n.reg .b32 %v;\nld.param.b64 %a, [at];\n"
    "ld.volatile.global.u32 %v, [%a];\nst.param.b32 [r], %v;\nret;\n}\n"
    ".func (.param .b32 r) try(.param .b64 at)\n{\n.reg .b64 %a;\n.reg .b32 %v;\nld.param.b64 %a, [at];\n"
    "atom.global.cas.b32 %v, [%a], 0, 1;\nst.param.b32 [r], %v;\nret;\n}\n";
std::string call(const char* function) {
  return std::string("{\n.param .b64 p;\n.param .b32 q;\nst.param.b64 [p], %rd4;\ncall (q), ") + function +
         ", (p);\nld.param.b32 %r5, [q];\n}\n";
}
/// Nothing waits so long for something that others can do: attempts are counted in %r6.
const char* const gives_up = "add.u32 %r6, %r6, 1;\nsetp.gt.u32 %p2, %r6, 1000000;\n@%p2 trap;\n";

TEST(Engine, LoopsThatWaitLetOtherWarpsRunWhateverIsInThem) {
  for (const std::string& look :
       {call("look"),
        std::string("ld.volatile.global.u32 %r5, [%rd4];\nand.b32 %r7, %r1, 1;\nsetp.eq.u32 %p4, %r7, 0;\n"
                    "@%p4 bra even;\nadd.u32 %r8, %r8, 1;\neven:\n"),
        std::string("ld.volatile.global.u32 %r5, [%rd4];\nbar.sync 1, 32;\n")}) {
    Program p(
        "add.u64 %rd4, %rd1, 1024;\nmov.u32 %r6, 0;\nsetp.lt.u32 %p1, %r1, 32;\n@!%p1 bra other;\nagain:\n" +
            (gives_up + look) +
            "setp.eq.u32 %p3, %r5, 0;\n@%p3 bra again;\nst.global.u32 [%rd3], 7;\nbra done;\n"
            "other:\nst.volatile.global.u32 [%rd4], 1;\ndone:",
        looks_in_functions);
    EXPECT_FALSE(p.run({1}, {64}).failed) << look;
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(p.word(lane), 7u) << look;
  }
}

TEST(Engine, LoopsThatWaitForNobodyInAFunctionAreADeadlock) {
  Program p(
      "add.u64 %rd4, %rd1, 1024;\nagain:\n" + call("look") + "setp.eq.u32 %p1, %r5, 0;\n@%p1 bra again;",
      looks_in_functions);
  for (const uint32_t threads : {1u, 2u})
    EXPECT_EQ(only(p.run({3}, {64}, threads)).kind, Finding::Kind::deadlock);
}

TEST(Engine, LanesThatTakeALockInAFunctionAreLetGoEachTime) {
  // Whether those that have the lock leave the loop by its branch, or those that have not go back by theirs.
  for (const char* branch : {"setp.ne.u32 %p1, %r5, 0;\n@%p1 bra again;\n",
                             "setp.eq.u32 %p1, %r5, 0;\n@%p1 bra locked;\nbra again;\nlocked:\n"}) {
    Program p("add.u64 %rd4, %rd1, 1024;\nagain:\n" + (call("try") + branch) +
                  "st.global.u32 [%rd3], 7;\natom.global.exch.b32 %r5, [%rd4], 0;",
              looks_in_functions);
    const LaunchResult result = p.run({2}, {64});
    EXPECT_FALSE(result.failed);
    EXPECT_LT(result.warp_instructions, 5'000'000u) << branch;
    for (uint32_t thread = 0; thread < 128; ++thread) EXPECT_EQ(p.word(thread), 7u) << branch << thread;
  }
}

/// Addresses that were read unwritten, with the severity: "8 error".
std::string unwritten_reads(const std::string& body, const std::string& functions = "") {
  Program p(body, functions);
  p.checks.init = true;
  std::map<uint64_t, Finding::Severity> found;
  for (const Finding& f : p.run({1}, {32}).findings) found[f.address] = f.severity;
  std::string text;
  for (const auto& [address, severity] : found)
    text += (text.empty() ? "" : ", ") + std::to_string(address) + " " + std::string(name_of(severity));
  return text;
}

TEST(Engine, CopiesAndBitFieldsOfWhatIsNotWrittenDoNoHarm) {
  const std::string copies =
      ".local .align 4 .b8 v[24];\nld.local.u8 %r5, [v];\nst.local.u8 [v+4], %r5;\n"
      "ld.local.u32 %r6, [v+8];\nand.b32 %r7, %r6, -255;\nor.b32 %r8, %r7, 6;\nst.local.u32 [v+8], %r8;\n"
      "ld.local.u32 %r10, [v+16];\nadd.u32 %r11, %r10, 1;\nst.local.u32 [v+20], %r11;\n";
  EXPECT_EQ(unwritten_reads(copies), "");
  // The field that was set, and a bit beside it.
  EXPECT_EQ(
      unwritten_reads(copies + "ld.local.u8 %r5, [v+8];\nand.b32 %r5, %r5, 254;\nst.global.u32 [%rd3], %r5;"),
      "");
  EXPECT_EQ(unwritten_reads(copies + "ld.local.u8 %r5, [v+8];\nst.global.u32 [%rd3], %r5;"), "8 error");
  // What was copied, and what was computed of it.
  EXPECT_EQ(unwritten_reads(copies + "ld.local.s8 %r5, [v+4];\nsetp.lt.s32 %p1, %r5, 0;\n@%p1 exit;"),
            "0 error");
  EXPECT_EQ(unwritten_reads(copies + "ld.local.u32 %r5, [v+20];\nst.global.u32 [%rd3], %r5;"), "16 error");
  EXPECT_EQ(unwritten_reads(copies + "ld.local.u32 %r5, [v+12];\nst.global.u32 [%rd3], %r5;"), "12 error");
}

TEST(Engine, StructsThatArePassedWithWhatIsNotWrittenDoNoHarm) {
  const auto pass = [](const std::string& in_callee, const std::string& afterwards) {
    return unwritten_reads(
        ".local .align 4 .b8 v[24];\nld.local.u32 %r5, [v];\nld.local.u32 %r6, [v+4];\n{\n"
        ".param .align 4 .b8 s[8];\n.param .b32 n;\nst.param.b32 [s], 1;\nst.param.b32 [s+4], %r5;\n"
        "st.param.b32 [n], %r6;\ncall f, (s, n);\n}\n"
        "{\n.param .align 4 .b8 t[8];\ncall (t), g, ();\nld.param.b32 %r7, [t];\n}\n" +
            afterwards,
        ".func f(.param .align 4 .b8 s[8], .param .b32 n) {\n.reg .b32 %x, %y;\n.reg .pred %p;\n"
        "ld.param.b32 %x, [s];\nld.param.b32 %y, [n];\n" +
            in_callee +
            "setp.eq.u32 %p, %x, 3;\n@%p trap;\nret;\n}\n"
            ".func (.param .align 4 .b8 r[8]) g() {\n.local .align 4 .b8 v[4];\n.reg .b32 %x;\n"
            "ld.local.u32 %x, [v];\nst.param.b32 [r], %x;\nret;\n}\n");
  };
  EXPECT_EQ(pass("", ""), "");
  for (const auto& [in_callee, afterwards] : {std::pair{"ld.param.b32 %x, [s+4];\n", ""},
                                              {"add.u32 %x, %x, %y;\n", ""},
                                              {"", "st.global.u32 [%rd3], %r7;"}}) {
    const std::string found = pass(in_callee, afterwards);
    EXPECT_TRUE(found.ends_with(" error") && found.find(',') == std::string::npos)
        << in_callee << afterwards << ": " << found;
  }
}

/// All but the first lane load what nobody has written; `makes` a value of that in %r6.
std::string value_of_unwritten(const std::string& makes) {
  return unwritten_reads(
      ".shared .align 8 .b8 s[256];\nmov.u32 %r5, 0;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [s], 7;\n"
      "mov.u32 %r8, s;\nmad.lo.u32 %r8, %r1, 4, %r8;\nld.shared.u32 %r5, [%r8];\nmov.u32 %r6, 0;\n" +
      makes + "\nst.global.u32 [%rd3], %r6;");
}

TEST(Engine, WhetherAValueDependsOnWhatIsNotWrittenIsFoundByTrying) {
  for (const char* drops :
       {"and.b32 %r6, %r5, 0;", "mul.lo.u32 %r6, %r5, 0;", "shl.b32 %r6, %r5, 32;", "xor.b32 %r6, %r5, %r5;",
        "or.b32 %r6, %r5, -1;", "selp.u32 %r6, %r5, %r1, %p1;", "@%p1 mov.u32 %r6, %r5;",
        "setp.gt.u32 %p2, %r5, 9;\nand.pred %p2, %p2, %p1;\nselp.u32 %r6, 1, 2, %p2;",
        "setp.gt.and.u32 %p2, %r5, 9, %p1;\nselp.u32 %r6, 1, 2, %p2;",
        "shfl.sync.idx.b32 %r6, %r5, 0, 31, -1;", "bfi.b32 %r6, %r1, %r5, 0, 32;",
        "prmt.b32 %r6, %r5, %r1, 0x7654;", "vote.sync.all.pred %p2, %p1, -1;",
        "lop3.b32 %r6, %r5, %r1, %r1, 0xcc;"})
    EXPECT_EQ(value_of_unwritten(drops), "") << drops;
  for (const char* depends :
       {"mov.u32 %r6, %r5;", "and.b32 %r6, %r5, 1;",
        "setp.eq.u32 %p2, %r5, 12345678;\nselp.u32 %r6, 1, 2, %p2;",
        "setp.ne.s32 %p2, %r5, -4;\n@%p2 mov.u32 %r6, 1;",
        "setp.gt.f32 %p2, %r5, 0f7149F2CA;\nselp.u32 %r6, 1, 2, %p2;",
        "setp.lt.f32 %p2, %r5, 0fF149F2CA;\nselp.u32 %r6, 1, 2, %p2;", "set.eq.u32.u32 %r6, 99, %r5;",
        "fma.rn.f32 %r6, %r5, 0f3F800000, 0f3F800000;", "shfl.sync.down.b32 %r6, %r5, 1, 31, -1;",
        "setp.ne.u32 %p2, %r5, 7;\nvote.sync.ballot.b32 %r6, %p2, -1;", "redux.sync.add.u32 %r6, %r5, -1;",
        "add.cc.u32 %r7, %r5, 1;\naddc.u32 %r6, %r1, 0;", "popc.b32 %r6, %r5;", "max.s32 %r6, %r5, 1000;",
        "min.u32 %r6, %r5, 1000;", "cvt.u32.u8 %r6, %r5;", "slct.u32.s32 %r6, 1, 2, %r5;",
        "mov.b64 %rd4, {%r1, %r5};\nmov.b64 {%r7, %r6}, %rd4;"})
    EXPECT_EQ(value_of_unwritten(depends), "4 error") << depends;
}

TEST(Engine, LanesThatNeverComeAreADeadlock) {
  Program p(
      "setp.lt.u32 %p1, %r1, 16;\n@!%p1 bra other;\nshfl.sync.idx.b32 %r5, %r1, 0, 31, -1;\nbra "
      "done;\nother:\n"
      "vote.sync.ballot.b32 %r6, %p1, -1;\ndone:");
  const LaunchResult result = p.run({1}, {32});
  EXPECT_EQ(result.findings.size(), 2u);  // both sides are named
  for (const Finding& f : result.findings) EXPECT_EQ(f.kind, Finding::Kind::deadlock);
}

TEST(Engine, LongLoopsAreNoDeadlocks) {
  // More backward branches than any slice, with a state that never repeats.
  Program p(
      "mov.u32 %r5, 0;\nloop:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 300000;\n@%p1 bra loop;\n"
      "st.global.u32 [%rd3], %r5;");
  const LaunchResult result = p.run({2}, {64});
  EXPECT_FALSE(result.failed);
  EXPECT_EQ(p.word(127), 300000u);
}

TEST(Engine, BlockWaitsForALaterOneOnOneHostThread) {
  // Waiting with a counter, so that no state repeats: block 0 must still give up its host thread.
  Program p(
      "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra writer;\nmov.u32 %r6, 0;\nagain:\nadd.u32 %r6, %r6, 1;\n"
      "ld.volatile.global.u32 %r5, [%rd1+64];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra again;\n"
      "st.global.u32 [%rd1], %r5;\nbra done;\nwriter:\nst.volatile.global.u32 [%rd1+64], 5;\ndone:");
  const LaunchResult result = p.run({2}, {1}, 1);
  EXPECT_FALSE(result.failed);
  EXPECT_EQ(p.word(0), 5u);
}

TEST(Engine, DivergentLoopCountsMeetAgain) {
  // Each lane loops tid + 1 times; after the loop all 32 vote together.
  Program p(
      "mov.u32 %r5, 0;\nloop:\nadd.u32 %r5, %r5, 1;\nsetp.le.u32 %p1, %r5, %r1;\n@%p1 bra loop;\n"
      "activemask.b32 %r6;\nst.global.u32 [%rd3], %r6;\nadd.u64 %rd4, %rd3, 128;\nst.global.u32 [%rd4], "
      "%r5;");
  EXPECT_FALSE(p.run({1}, {32}).failed);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(p.word(i), 0xffffffffu);
    EXPECT_EQ(p.word(32 + i), i + 1);
  }
}

TEST(Engine, ShuffleInsideABranchTakesOnlyItsMembers) {
  Program p(
      "setp.lt.u32 %p1, %r1, 16;\nmov.u32 %r5, 1000;\n@%p1 shfl.sync.bfly.b32 %r5, %r1, 1, 31, 0xffff;\n"
      "st.global.u32 [%rd3], %r5;");
  EXPECT_FALSE(p.run({1}, {32}).failed);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(p.word(i), i < 16 ? i ^ 1 : 1000u);
}

TEST(Engine, LanesWithDifferentMemberMasksMeetApart) {
  Program p(
      "setp.lt.u32 %p1, %r1, 16;\nselp.b32 %r5, 0xffff, 0xffff0000, %p1;\nredux.sync.add.u32 %r6, %r1, %r5;\n"
      "bar.warp.sync %r5;\nst.global.u32 [%rd3], %r6;");
  EXPECT_FALSE(p.run({1}, {32}).failed);
  EXPECT_EQ(p.word(0), 120u);   // 0 + … + 15
  EXPECT_EQ(p.word(31), 376u);  // 16 + … + 31
}

TEST(Engine, TrapEndsTheThreadsAndIsReported) {
  Program p("setp.eq.u32 %p1, %r1, 5;\n@%p1 trap;\nst.global.u32 [%rd3], 1;");
  const LaunchResult result = p.run({1}, {32});
  EXPECT_EQ(only(result).kind, Finding::Kind::trap);
  EXPECT_EQ(only(result).thread, 5u);
  EXPECT_EQ(p.word(5), 0u);
  EXPECT_EQ(p.word(6), 1u);
}

/// As cooperative groups do where there is no grid to wait for.
TEST(Engine, TrapWithoutTheBarrierThatIsAskedForSaysHowToGetIt) {
  const char* const body =
      "mov.u32 %r5, %envreg1;\nmov.u32 %r6, %envreg2;\nor.b32 %r5, %r5, %r6;\n"
      "setp.eq.u32 %p1, %r5, 0;\n@%p1 trap;\nst.global.u32 [%rd3], 1;";
  Program alone(body), together(body);
  EXPECT_NE(only(alone.run({1}, {32})).message.find("cudaLaunchCooperativeKernel"), std::string::npos);
  EXPECT_FALSE(together.run({1}, {32}, 1, 1024, true).failed);
}

TEST(Engine, BreakpointsEndTheThreadsToo) {  // as on an H200 without a debugger
  Program p("setp.eq.u32 %p1, %r1, 5;\n@%p1 brkpt;\nst.global.u32 [%rd3], 1;");
  const LaunchResult result = p.run({1}, {32});
  EXPECT_EQ(only(result).kind, Finding::Kind::trap);
  EXPECT_EQ(only(result).message, "the kernel came to a breakpoint (brkpt), and there is no debugger");
  EXPECT_EQ(p.word(5), 0u);
  EXPECT_EQ(p.word(6), 1u);
}

const char* const printf_declaration =
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    ".global .align 1 .b8 text[24] = {116, 32, 37, 100, 32, 37, 115, 32, 37, 46, 50, 102, 32, 37, 108, 117, "
    "10, 0};\n"
    ".global .align 1 .b8 word[4] = {97, 98, 99, 0};\n";  // "t %d %s %.2f %lu\n", "abc"

TEST(Engine, PrintfPrintsLanesInOrder) {
  Program p(
      ".local .align 8 .b8 depot[32];\n.reg .b64 %a<5>;\nmov.u64 %a1, depot;\ncvta.local.u64 %a2, %a1;\n"
      "st.local.u32 [depot], %r1;\nmov.u64 %a3, word;\ncvta.global.u64 %a3, %a3;\nst.local.u64 [depot+8], "
      "%a3;\n"
      "st.local.f64 [depot+16], 0d3FF8000000000000;\nst.local.u64 [depot+24], 5000000000;\n"
      "{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 r0;\nmov.u64 %a4, text;\ncvta.global.u64 %a4, %a4;\n"
      "st.param.b64 [p0], %a4;\nst.param.b64 [p1], %a2;\ncall.uni (r0), vprintf, (p0, p1);\nld.param.b32 "
      "%r5, [r0];\n}\n"
      "st.global.u32 [%rd3], %r5;",
      printf_declaration);
  EXPECT_FALSE(p.run({1}, {2}).failed);
  EXPECT_EQ(p.printed, "t 0 abc 1.50 5000000000\nt 1 abc 1.50 5000000000\n");
  EXPECT_EQ(p.word(1), 4u);
}

TEST(Engine, PrintfWritesTextThatIsNotThereAsCudaDoes) {
  Program p(
      ".local .align 8 .b8 depot[32];\n.reg .b64 %a<5>;\nmov.u64 %a1, depot;\ncvta.local.u64 %a2, %a1;\n"
      "st.local.u32 [depot], %r1;\nst.local.u64 [depot+8], 0;\nst.local.f64 [depot+16], "
      "0d3FF8000000000000;\nst.local.u64 [depot+24], 1;\n"
      "{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 r0;\nmov.u64 %a4, text;\ncvta.global.u64 %a4, %a4;\n"
      "st.param.b64 [p0], %a4;\nst.param.b64 [p1], %a2;\ncall.uni (r0), vprintf, (p0, p1);\n}\n",
      printf_declaration);
  EXPECT_FALSE(p.run({1}, {1}).failed);
  EXPECT_EQ(p.printed, "t 0 (null) 1.50 1\n");
}

TEST(Engine, PrintfLeavesOutWidthsThatAreMistakes) {
  Program p(
      ".local .align 8 .b8 depot[16];\n.reg .b64 %a<5>;\nmov.u64 %a1, depot;\ncvta.local.u64 %a2, %a1;\n"
      "st.local.u32 [depot], 999999999;\nst.local.u32 [depot+4], 7;\nst.local.u32 [depot+8], 8;\n"
      "{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 r0;\nmov.u64 %a4, text;\ncvta.global.u64 %a4, %a4;\n"
      "st.param.b64 [p0], %a4;\nst.param.b64 [p1], %a2;\ncall.uni (r0), vprintf, (p0, p1);\n}\n",
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
      ".global .align 1 .b8 text[16] = {37, 42, 100, 32, 37, 57, 57, 57, 57, 57, 57, 57, 100, 10, 0};\n");
  EXPECT_FALSE(p.run({1}, {1}).failed);  // "%*d %9999999d\n"
  EXPECT_EQ(p.printed, "7 8\n");
}

TEST(Engine, MallocGivesMemoryThatFreeTakesBack) {
  Program p(
      ".reg .b64 %a<5>;\n{\n.param .b64 p0;\n.param .b64 r0;\nst.param.b64 [p0], 64;\n"
      "call.uni (r0), malloc, (p0);\nld.param.b64 %a1, [r0];\n}\nst.u32 [%a1+60], %r1;\nld.u32 %r5, "
      "[%a1+60];\n"
      "st.global.u32 [%rd3], %r5;\n{\n.param .b64 p0;\nst.param.b64 [p0], %a1;\ncall.uni free, (p0);\n}\n"
      "{\n.param .b64 p0;\nadd.u64 %a1, %a1, 4;\nst.param.b64 [p0], %a1;\ncall.uni free, (p0);\n}",
      harness::heap_functions);
  const uint64_t before = p.memory().allocated_bytes();
  const LaunchResult result = p.run({1}, {32});
  EXPECT_EQ(only(result).kind, Finding::Kind::unknown_pointer);  // the second free
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(p.word(i), i);
  EXPECT_EQ(p.memory().allocated_bytes(), before + 4096);
}

TEST(Engine, FreeTakesNoMemoryThatTheHostGave) {
  Program p("{\n.param .b64 p0;\nst.param.b64 [p0], %rd3;\ncall.uni free, (p0);\n}\nst.global.u32 [%rd3], 7;",
            ".extern .func free (.param .b64 a);\n");
  const uint64_t before = p.memory().allocated_bytes();
  EXPECT_EQ(only(p.run({1}, {1})).kind, Finding::Kind::unknown_pointer);
  EXPECT_EQ(p.word(0), 7u);
  EXPECT_EQ(p.memory().allocated_bytes(), before + 4096);  // of the run
}

TEST(Engine, CooperativeGridsHaveABarrier) {
  // The halves of its address are %envreg1 and %envreg2, as cooperative groups read them.
  Program p(
      "mov.u32 %r5, %envreg2;\nmov.u32 %r6, %envreg1;\nmov.b64 %rd4, {%r5, %r6};\nmov.u32 %r7, %nctaid.x;\n"
      "atom.global.add.u32 %r8, [%rd4+4], 1;\nagain:\nld.acquire.gpu.global.u32 %r9, [%rd4+4];\n"
      "setp.lt.u32 %p1, %r9, %r7;\n@%p1 bra again;\nst.global.u32 [%rd3], %r9;");
  for (uint32_t threads : {1u, 2u}) {
    EXPECT_FALSE(p.run({40}, {1}, threads, 1024, true).failed);
    for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(p.word(i), 40u);
  }
  EXPECT_TRUE(p.run({2}, {1}).failed);  // an ordinary launch has none: a null pointer
}

TEST(Engine, RoundingOfTheHostProgramDoesNotReachKernels) {
  Program p("mov.b32 %f1, 0x00400000;\nadd.f32 %f2, %f1, %f1;\nst.global.f32 [%rd3], %f2;");
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush results and operands that are subnormal
  p.run({1}, {1});
  EXPECT_EQ(_mm_getcsr() & 0x8040, 0x8040u);
  _mm_setcsr(before);
  EXPECT_EQ(p.word(0), 0x00800000u);
}

TEST(Engine, BadConfigurationsAreRefused) {
  Program p("");
  EXPECT_THROW(p.run({0}, {32}), Error);
  EXPECT_THROW(p.run({1}, {1025}), Error);
  EXPECT_THROW(p.run({1}, {1, 1, 65}), Error);
  EXPECT_THROW(p.run({1, 65536}, {1}), Error);
}

TEST(Engine, AllocaGivesMemoryUntilTheFunctionReturns) {
  // f(n) writes n words it has allocated, and a word of its caller's is not touched. 1000 calls would not fit
  // into local memory if what they allocate were not given back.
  const std::string f =
      ".func (.param .b32 result) f(.param .b32 n)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p;\n"
      "ld.param.b32 %r1, [n];\nmul.wide.u32 %rd1, %r1, 4;\nalloca.u64 %rd2, %rd1, 64;\nmov.u32 %r2, 0;\n"
      "loop:\nmul.wide.u32 %rd3, %r2, 4;\nadd.u64 %rd3, %rd3, %rd2;\nst.local.u32 [%rd3], %r2;\n"
      "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r2, %r1;\n@%p bra loop;\nld.local.u32 %r3, [%rd3];\n"
      "and.b64 %rd4, %rd2, 63;\ncvt.u32.u64 %r4, %rd4;\nadd.u32 %r3, %r3, %r4;\n"
      "st.param.b32 [result], %r3;\nret;\n}\n";
  Program p(
      "alloca.u64 %rd5, 4;\nst.local.u32 [%rd5], 1234;\nmov.u32 %r10, 0;\nmov.u32 %r11, 0;\nadd.u32 %r12, "
      "%r1, 9;\n"
      "again:\n{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r12; call.uni (b), f, (a); ld.param.b32 "
      "%r13, [b]; }\n"
      "add.u32 %r10, %r10, %r13;\nadd.u32 %r11, %r11, 1;\nsetp.lt.u32 %p1, %r11, 1000;\n@%p1 bra again;\n"
      "ld.local.u32 %r14, [%rd5];\nadd.u32 %r10, %r10, %r14;\nst.global.u32 [%rd3], %r10;",
      f);
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(p.word(i), 1000 * (i + 8) + 1234);

  Program saved(
      "stacksave.u64 %rd5;\nalloca.u64 %rd6, 40, 8;\nstackrestore.u64 %rd5;\nstacksave.u64 %rd7;\n"
      "sub.u64 %rd7, %rd7, %rd5;\ncvt.u32.u64 %r5, %rd7;\nst.global.u32 [%rd3], %r5;");
  EXPECT_TRUE(saved.run({1}, {1}).findings.empty());
  EXPECT_EQ(saved.word(0), 0u);
  Program large("alloca.u64 %rd5, 100000000;");
  EXPECT_EQ(only(large.run({1}, {1})).kind, Finding::Kind::out_of_bounds);
}

TEST(Engine, CarriesOfSubtractionsAreReadByAdditionsAndTheOtherWayRound) {
  // Measured on H200: what is left behind a subtraction without borrow is a carry.
  struct Row {
    uint32_t a, b, c, d, sum, difference;
  };
  for (const Row& row : {Row{0, 0x43c7ad3, 0x8b0c4216, 0xa289127d, 0x2d955493, 0xe8832f98},
                         Row{0xe8f7b1b8, 0x1cca49b7, 0x7ef29baa, 0, 0x7ef29bab, 0x7ef29baa},
                         Row{0x989a046c, 0xc89034db, 0xa33e47e, 0xffffffff, 0xa33e47d, 0xa33e47f}}) {
    const auto text = [](uint32_t value) { return std::to_string(value); };
    Program p("mov.u32 %r5, " + text(row.a) + ";\nmov.u32 %r6, " + text(row.b) + ";\nmov.u32 %r7, " +
              text(row.c) + ";\nmov.u32 %r8, " + text(row.d) +
              ";\nsub.cc.u32 %r9, %r5, %r6;\naddc.u32 %r10, %r7, %r8;\nadd.cc.u32 %r11, %r5, %r6;\n"
              "subc.u32 %r12, %r7, %r8;\nst.global.v2.u32 [%rd1], {%r10, %r12};");
    p.run({1}, {1});
    EXPECT_EQ(p.word(0), row.sum);
    EXPECT_EQ(p.word(1), row.difference);
  }
}

TEST(Engine, OtherThreadsSeeAllOfAVectorOrNothing) {
  // One block counts both halves up, the other one compares them, as decoupled look-back does.
  for (const std::string type : {"u32", "u64"}) {
    const std::string r = type == "u32" ? "%r" : "%rd";
    Program p("setp.eq.u32 %p1, %r2, 1;\nmov.u32 %r20, 0;\nmov." + type + " " + r +
              "10, 0;\n@%p1 bra reader;\n" + "writer:\nadd." + type + " " + r + "10, " + r +
              "10, 1;\nst.relaxed.gpu.global.v2." + type + " [%rd1+64], {" + r + "10, " + r +
              "10};\nsetp.lt." + type + " %p2, " + r + "10, 100000;\n@%p2 bra writer;\nbra done;\n" +
              "reader:\nld.relaxed.gpu.global.v2." + type + " {" + r + "11, " + r +
              "12}, [%rd1+64];\nsetp.ne." + type + " %p3, " + r + "11, " + r +
              "12;\n@%p3 add.u32 %r20, %r20, 1;\nsetp.lt." + type + " %p2, " + r +
              "12, 100000;\n@%p2 bra reader;\nst.global.u32 [%rd1], %r20;\ndone:");
    p.run({2}, {1}, 2);
    EXPECT_EQ(p.word(0), 0u) << type;
  }
}

/// Calls itself n times, with 64 bytes of its own each time; n (n + 1) / 2.
constexpr const char* recursive =
    ".func (.param .b32 result) f(.param .b32 n)\n{\n.local .align 8 .b8 own[64];\n.reg .b32 %r<9>;\n"
    ".reg .pred %p;\nld.param.b32 %r1, [n];\nst.local.u32 [own+32], %r1;\nmov.u32 %r3, 0;\n"
    "setp.eq.u32 %p, %r1, 0;\n@%p bra end;\nsub.u32 %r2, %r1, 1;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), f, (a); ld.param.b32 %r3, [b]; }\n"
    "end:\nld.local.u32 %r4, [own+32];\nadd.u32 %r3, %r3, %r4;\nst.param.b32 [result], %r3;\nret;\n}\n";

TEST(Engine, CallsThatUseUpTheStackEndTheThread) {
  // Even threads call without end.
  Program p(
      "mov.u32 %r5, 20;\nand.b32 %r6, %r1, 1;\nsetp.eq.u32 %p1, %r6, 0;\n@%p1 mov.u32 %r5, -1;\n"
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r5; call.uni (b), f, (a); ld.param.b32 %r7, [b]; "
      "}\n"
      "st.global.u32 [%rd3], %r7;",
      recursive);
  const LaunchResult result = p.run({1}, {32});
  EXPECT_EQ(only(result).kind, Finding::Kind::out_of_bounds);
  EXPECT_NE(only(result).message.find("the call needs more local memory"), std::string::npos);
  EXPECT_TRUE(result.failed);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(p.word(i), i % 2 == 0 ? 0u : 210u) << i;
}

TEST(Engine, TheStackIsAsLargeAsTheLaunchSays) {
  const auto run = [](uint32_t depth, uint32_t stack_bytes) {
    Program p(
        "mov.u32 %r5, " + std::to_string(depth) +
            ";\n{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r5; call.uni (b), f, (a); ld.param.b32 "
            "%r7, [b]; }\nst.global.u32 [%rd3], %r7;",
        recursive);
    p.stack_bytes = stack_bytes;
    const bool failed = p.run({1}, {32}).failed;
    EXPECT_EQ(p.word(31), failed ? 0 : depth * (depth + 1) / 2);
    return !failed;
  };
  EXPECT_TRUE(run(100, 16384));
  EXPECT_FALSE(run(1000, 16384));
  EXPECT_TRUE(run(1000, 131072));
}

TEST(Engine, FramesThatAGpusStackCannotHoldAreAFinding) {
  // 64 bytes of its own and 8 of its caller's in each of 15 frames; twice, for what is given back on return.
  const auto run = [](uint32_t stack_limit) {
    const std::string call =
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 14; call.uni (b), f, (a); ld.param.b32 %r7, [b]; "
        "}\n";
    Program p(call + call + "st.global.u32 [%rd3], %r7;", recursive);
    p.stack_limit = stack_limit;
    return p.run({1}, {32});
  };
  EXPECT_TRUE(run(15 * 72).findings.empty());
  const LaunchResult result = run(15 * 72 - 1);
  EXPECT_EQ(only(result).kind, Finding::Kind::out_of_bounds);
  EXPECT_EQ(only(result).count, 64u);  // of 32 threads, twice
  EXPECT_NE(only(result).message.find("more of the stack than the 1079 bytes"), std::string::npos);
}

TEST(Engine, ParametersOfFunctionsAreNoTrafficOfLocalMemory) {
  // In a GPU's registers; what the function declares in local memory is counted: a store and a load.
  Program p(
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 0; call.uni (b), f, (a); ld.param.b32 %r7, [b]; }",
      recursive);
  p.run({1}, {32});
  EXPECT_EQ(p.accesses(AccessSpace::local), 2u);
}

// How flags and sums are set up by threads that do not wait for each other (Eigen's reductions).
TEST(Engine, ExchangesWhoseResultNobodyReadsOnlyStore) {
  const auto findings = [](const char* then) {
    Program p(std::string("atom.shared.exch.b32 %r5, [flag], 7;\nld.shared.u32 %r6, [flag];\n"
                          "st.global.u32 [%rd3], %r6;\n") +
                  then,
              ".shared .align 4 .u32 flag;\n");
    p.checks.init = true;
    return p.run({1}, {1}).findings;
  };
  EXPECT_TRUE(findings("").empty());
  const std::vector<Finding> read = findings("st.global.u32 [%rd3], %r5;\n");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].kind, Finding::Kind::uninitialised_read);
}

// --check init follows what ldmatrix loads through a product: attention's last tile has rows that nobody
// wrote, whose results are dropped.
TEST(Engine, UndefinedRowsAndColumnsOfAProductAreUndefinedInItsResult) {
  // A: 16 rows of 32 bytes at 0; B: 8 columns of 32 bytes at 512, or 16 rows of 16 bytes there (.trans).
  const auto findings = [](const std::string& unwritten, bool transposed, const std::string& stored) {
    const std::string second =
        transposed
            ? "and.b32 %r5, %r1, 15;\nshl.b32 %r5, %r5, 4;\nadd.u32 %r5, %r5, 512;\n"
              "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r16, %r17}, [%r5];\n"
            : "and.b32 %r5, %r1, 7;\nshl.b32 %r5, %r5, 5;\nshr.u32 %r6, %r1, 3;\nand.b32 %r6, %r6, 1;\n"
              "shl.b32 %r6, %r6, 4;\nadd.u32 %r5, %r5, %r6;\nadd.u32 %r5, %r5, 512;\n"
              "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r16, %r17}, [%r5];\n";
    Program p(
        ".shared .align 16 .b8 s[768];\nmul.lo.u32 %r5, %r1, 24;\n" +
        std::string("mov.u32 %r7, 0;\nagain:\nadd.u32 %r6, %r5, %r7;\n") + unwritten +
        "@%p1 bra next;\nst.shared.u16 [%r6], 15360;\nnext:\nadd.u32 %r7, %r7, 2;\n"
        "setp.lt.u32 %p2, %r7, 24;\n@%p2 bra again;\nbar.sync 0;\n"
        "and.b32 %r5, %r1, 15;\nshl.b32 %r5, %r5, 5;\nshr.u32 %r6, %r1, 4;\nshl.b32 %r6, %r6, 4;\n"
        "add.u32 %r5, %r5, %r6;\n"
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r12, %r13, %r14, %r15}, [%r5];\n" +
        second +
        "mov.f32 %f1, 0f00000000;\nmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, "
        "{%r12, %r13, %r14, %r15}, {%r16, %r17}, {%f1, %f1, %f1, %f1};\n" +
        stored);
    p.checks.init = true;
    return p.run({1}, {32}).findings;
  };
  const std::string
      rows = "setp.ge.u32 %p1, %r6, 256;\nsetp.lt.and.u32 %p1, %r6, 512, %p1;\n",
      column = "and.b32 %r8, %r6, 15;\nsetp.eq.u32 %p1, %r8, 14;\nsetp.ge.and.u32 %p1, %r6, 512, %p1;\n",
      last = "and.b32 %r8, %r1, 3;\nsetp.eq.u32 %p1, %r8, 3;\n";
  const std::string whole = "setp.ge.u32 %p1, %r6, 736;\n";  // column 7 of B, by columns
  struct Case {
    const char* what;
    std::string unwritten;
    bool transposed;
    std::string stored;
    bool is_found;
  };
  for (const Case& c : {
           Case{"rows above", rows, false, "st.global.f32 [%rd3], %f1;\nst.global.f32 [%rd3], %f2;", false},
           Case{"rows below", rows, false, "st.global.f32 [%rd3], %f3;", true},
           Case{"columns before", column, true,
                last + "st.global.f32 [%rd3], %f1;\n@!%p1 st.global.f32 [%rd3], %f2;", false},
           Case{"the last column", column, true, last + "@%p1 st.global.f32 [%rd3], %f2;", true},
           Case{"columns before, as they lie", whole, false,
                last + "st.global.f32 [%rd3], %f1;\n@!%p1 st.global.f32 [%rd3], %f2;", false},
           Case{"the last column, as it lies", whole, false, last + "@%p1 st.global.f32 [%rd3], %f4;", true},
       }) {
    const std::vector<Finding> found = findings(c.unwritten, c.transposed, c.stored);
    EXPECT_EQ(found.empty(), !c.is_found) << c.what << ": " << (found.empty() ? "" : found[0].message);
    for (const Finding& f : found) EXPECT_EQ(f.kind, Finding::Kind::uninitialised_read) << c.what;
  }
}

TEST(Engine, SharedMemoryOfTheSystemLiesApart) {
  // Behind the program's 100 bytes, and is written before it is read.
  Program p(
      ".shared .align 4 .b8 s[100];\nmov.u32 %r5, s;\nst.shared.u32 [%r5+96], %r1;\n"
      "mov.u32 %r6, %reserved_smem_offset_1;\nmov.u32 %r7, %reserved_smem_offset_end;\n"
      "mov.u32 %r8, %total_smem_size;\nld.shared.u32 %r9, [%r6];\nst.shared.u32 [%r6], 7;\n"
      "ld.shared.u32 %r10, [%r6];\nld.shared.u32 %r11, [%r5+96];\nsub.u32 %r7, %r7, %r6;\n"
      "mov.u32 %r13, %aggr_smem_size;\nsub.u32 %r13, %r13, %r8;\nmov.u32 %r12, %reserved_smem_offset_cap;\n"
      "st.global.v4.u32 [%rd1], {%r7, %r8, %r9, %r10};\nst.global.v4.u32 [%rd1+16], {%r11, %r12, %r13, "
      "%r6};");
  p.checks.init = true;
  EXPECT_TRUE(p.run({1}, {1}).findings.empty());
  const uint32_t expected[] = {288, 100, 0, 7, 0, 1024, 1024};
  for (uint32_t i = 0; i < 7; ++i) EXPECT_EQ(p.word(i), expected[i]) << i;
  EXPECT_GE(p.word(7), 100u);
}

// Lanes that wait for different members of their warp: each group has a result of its own.
TEST(Engine, LanesWithMemberMasksOfTheirOwnGoInGroups) {
  Program p(
      "rem.u32 %r5, %r1, 5;\nmatch.any.sync.b32 %r6, %r5, 0xffffffff;\n"
      "redux.sync.max.u32 %r7, %r1, %r6;\n"
      "setp.lt.u32 %p1, %r1, 5;\nvote.sync.ballot.b32 %r8, %p1, %r6;\n"
      "bar.warp.sync %r6;\n"
      "shl.b32 %r8, %r8, 8;\nor.b32 %r7, %r7, %r8;\nst.global.u32 [%rd3], %r7;");
  const LaunchResult result = p.run({2}, {32}, 1);
  EXPECT_TRUE(result.findings.empty());
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t label = i % 32 % 5, last = label < 2 ? 30 + label : 25 + label;
    EXPECT_EQ(p.word(i), last | 1u << (8 + label)) << i;
  }
}

TEST(Engine, LanesWithMasksOfTheirOwnMeetOthersThatCameAnotherWay) {
  // Even lanes take a detour; groups are the lanes of one value modulo 4, so that two groups meet after it.
  Program p(
      "and.b32 %r5, %r1, 3;\nmatch.any.sync.b32 %r6, %r5, 0xffffffff;\n"
      "and.b32 %r9, %r1, 4;\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra detour;\n"
      "redux.sync.add.u32 %r7, %r1, %r6;\nbra done;\n"
      "detour:\nadd.u32 %r1, %r1, 0;\nredux.sync.add.u32 %r7, %r1, %r6;\n"
      "done:\nst.global.u32 [%rd3], %r7;");
  const LaunchResult result = p.run({1}, {32}, 1);
  // On hardware such lanes never meet either: the instructions are not the same one.
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings.front().kind, Finding::Kind::deadlock);
}

// As Triton writes it.
TEST(Engine, OneValueInBracesIsThatValue) {
  Program p(
      "st.global.b32 [%rd3], {%r1};\nld.global.b32 {%r5}, [%rd3];\nadd.u32 %r5, %r5, 1;\n"
      "st.global.b32 [%rd3], {%r5};");
  EXPECT_TRUE(p.run({1}, {32}, 1).findings.empty());
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(p.word(i), i + 1);
}

}  // namespace
}  // namespace lanescope::exec
