// Which accesses go where data sends them: through registers, what all lanes load alike, what gets through
// local memory, calls and votes.
#include "advise/from_data.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "exec/launch.hpp"
#include "exec/memory.hpp"

namespace lanescope::advise {
namespace {

/// Whether the last store to shared memory of a kernel with this body goes where data sends it. %r1 is
/// threadIdx.x, %rd1 an address in device memory, %rd2 that of this thread's element there.
bool last_store_is_from_data(const std::string& body) {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.shared .align 4 .b8 s[4096];
.const .align 4 .b8 constants[4096];
.func (.param .b32 result) twice(.param .b32 value) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [value];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
.visible .entry kernel(.param .u64 memory) {
  .local .align 4 .b8 own[16];
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  .reg .pred %p<3>;
  ld.param.u64 %rd1, [memory];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd2, %r1, 4, %rd1;
)" + body + "\n ret;\n}\n";
  exec::Memory memory;
  const auto module = std::make_shared<const ptx::Module>(ptx::parse(text, "test.ptx"));
  exec::Image image(module, memory);
  const exec::Kernel& kernel = image.kernel("kernel");
  const std::vector<bool> from_data = sites_from_data(*module, kernel);
  bool last = false;
  for (size_t site = 0; site < from_data.size(); ++site)
    if (kernel.accesses[site].space == ptx::Space::shared) last = from_data[site];
  return last;
}

TEST(FromData, AddressesOfTheThreadAreNot) {
  EXPECT_FALSE(last_store_is_from_data("st.shared.u32 [s], %r1;"));
  EXPECT_FALSE(last_store_is_from_data("shl.b32 %r2, %r1, 2; st.shared.u32 [%r2], %r1;"));
  EXPECT_FALSE(last_store_is_from_data("ld.global.u32 %r2, [%rd2]; st.shared.u32 [%r1], %r2;"))
      << "its data is";
}

TEST(FromData, AddressesThatLanesLoadAre) {
  EXPECT_TRUE(last_store_is_from_data("ld.global.u32 %r2, [%rd2]; st.shared.u32 [%r2], %r1;"));
  EXPECT_TRUE(
      last_store_is_from_data("ld.shared.u32 %r2, [%r1]; and.b32 %r3, %r2, 60; mad.lo.u32 %r4, %r1, 64, %r3; "
                              "st.shared.u32 [%r4], %r1;"));
  EXPECT_TRUE(last_store_is_from_data("atom.global.add.u32 %r2, [%rd1], 4; st.shared.u32 [%r2], %r1;"));
}

TEST(FromData, WhatAllLanesLoadAlikeIsAsGoodAsAParameter) {
  EXPECT_FALSE(last_store_is_from_data(
      "ld.global.u32 %r2, [%rd1]; mul.lo.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %r1;"));
}

TEST(FromData, ConstantTablesAreNot) {
  EXPECT_FALSE(
      last_store_is_from_data("mov.u64 %rd3, constants; mad.wide.u32 %rd4, %r1, 4, %rd3; ld.const.u32 %r2, "
                              "[%rd4]; st.shared.u32 [%r2], "
                              "%r1;"));
}

TEST(FromData, PredicatesChoose) {
  const std::string loaded = "ld.global.u32 %r2, [%rd2]; setp.lt.u32 %p1, %r2, 7; ";
  EXPECT_TRUE(last_store_is_from_data(loaded + "selp.b32 %r3, 4, 8, %p1; st.shared.u32 [%r3], %r1;"));
  EXPECT_TRUE(
      last_store_is_from_data(loaded + "mov.u32 %r3, 4; @%p1 mov.u32 %r3, 8; st.shared.u32 [%r3], %r1;"));
  EXPECT_TRUE(last_store_is_from_data(
      loaded + "vote.sync.ballot.b32 %r3, %p1, -1; popc.b32 %r4, %r3; st.shared.u32 [%r4], %r1;"));
  EXPECT_FALSE(last_store_is_from_data(loaded + "@%p1 st.shared.u32 [%r1], %r2;"))
      << "who stores is no place";
}

TEST(FromData, GetsThroughLocalMemoryAndCalls) {
  const std::string call =
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), twice, (a); ld.param.b32 %r3, "
      "[b]; } "
      "st.shared.u32 [%r3], %r1;";
  EXPECT_TRUE(last_store_is_from_data("ld.global.u32 %r2, [%rd2]; " + call));
  EXPECT_FALSE(last_store_is_from_data("shl.b32 %r2, %r1, 1; " + call));
  const std::string keep = "st.local.u32 [own], %r2; ld.local.u32 %r3, [own]; st.shared.u32 [%r3], %r1;";
  EXPECT_TRUE(last_store_is_from_data("ld.global.u32 %r2, [%rd2]; " + keep));
  EXPECT_FALSE(last_store_is_from_data("shl.b32 %r2, %r1, 2; " + keep));
}

TEST(FromData, GetsAroundLoops) {
  EXPECT_TRUE(last_store_is_from_data(
      "mov.u32 %r3, 0; loop: st.shared.u32 [%r3], %r1; ld.global.u32 %r2, [%rd2]; add.u32 %r3, %r3, %r2; "
      "setp.lt.u32 %p1, %r3, 4096; @%p1 bra loop;"));
}

}  // namespace
}  // namespace lanescope::advise
