// Loops that only wait for a change of memory: which these are, that they are counted once however often they
// look, and who goes on meanwhile.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "exec/flow.hpp"
#include "exec/one_kernel.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {
namespace {

using harness::only;
using harness::Program;

/// What the loop `again: BODY @%p1 bra again;` is.
WaitLoop kind_of(const std::string& body) {
  const ptx::Module module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<4>;\n"
      ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\nagain:\n" +
          body + "@%p1 bra again;\nout:\nret;\n}\n",
      "test.ptx");
  return wait_loop(module.functions[0], 0, static_cast<uint32_t>(module.functions[0].body.size() - 2));
}

TEST(WaitLoop, IsOneThatChangesNothingAndCarriesNothing) {
  const std::string look = "ld.acquire.gpu.u32 %r1, [%rd1];\n", test = "setp.eq.u32 %p1, %r1, %r2;\n";
  EXPECT_EQ(kind_of(look + test), WaitLoop::reads);
  EXPECT_EQ(kind_of("ld.volatile.shared.u32 %r1, [%rd1];\nnanosleep.u32 20;\nmembar.gl;\n" + test),
            WaitLoop::reads);
  EXPECT_EQ(kind_of("atom.global.add.u32 %r1, [%rd1], 0;\n" + test), WaitLoop::reads);
  EXPECT_EQ(kind_of("atom.global.cas.b32 %r1, [%rd1], 0, 1;\n" + test), WaitLoop::tries);
  EXPECT_EQ(kind_of(look + test + "@%p2 bra out;\n"), WaitLoop::reads);

  EXPECT_EQ(kind_of(test), WaitLoop::none) << "looks at nothing";
  EXPECT_EQ(kind_of("atom.global.add.u32 %r1, [%rd1], 1;\n" + test), WaitLoop::none);
  EXPECT_EQ(kind_of(look + "st.global.u32 [%rd2], %r1;\n" + test), WaitLoop::none);
  EXPECT_EQ(kind_of(look + "red.global.add.u32 [%rd2], 1;\n" + test), WaitLoop::none);
  EXPECT_EQ(kind_of(look + "bar.sync 0;\n" + test), WaitLoop::none);
  EXPECT_EQ(kind_of(look + "add.u32 %r2, %r2, 1;\n" + test), WaitLoop::none) << "a counter";
  EXPECT_EQ(kind_of(look + "@%p2 mov.u32 %r2, %r1;\n" + test), WaitLoop::none) << "may keep its value";
  EXPECT_EQ(kind_of(look + "mov.u32 %r3, %clock;\n" + test), WaitLoop::none) << "time passes";
  EXPECT_EQ(kind_of(look + "mov.u64 %rd3, %globaltimer;\n" + test), WaitLoop::none);
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
  const std::string look =
      "look:\nld.volatile.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra look;\n";
  for (const uint32_t threads : {1u, 2u}) {
    Program p(look);
    const LaunchResult result = p.run({3}, {64}, threads);
    const Finding& f = only(result);
    EXPECT_EQ(f.kind, Finding::Kind::deadlock);
    EXPECT_EQ(f.count, 3u * 64u);
    EXPECT_NE(f.message.find("a loop that waits for a change of memory"), std::string::npos) << f.message;
  }
  // What could end it is done by lanes that are to meet the one that waits.
  Program lanes("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra meet;\n" + look +
                "meet:\n@%p1 st.volatile.global.u32 [%rd1], 7;\n");
  EXPECT_TRUE(lanes.run({1}, {32}).findings.empty());
  EXPECT_EQ(lanes.word(0), 7u);
}

}  // namespace
}  // namespace lanescope::exec
