// Stores that came with sm_100: bulk copies under a mask, zeros in bulk, asynchronous stores and reductions
// in global memory, and swizzles whose atoms kernels choose.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "exec/one_kernel.hpp"
#include "exec/tensor_map.hpp"

namespace lanescope::exec {
namespace {

using harness::Program;

/// 64 bytes of shared memory, at %r12, with the words 0x03020100, 0x07060504 and so on.
const std::string bytes_in_shared =
    ".shared .align 128 .b8 s[128];\nmov.u32 %r12, s;\nmov.u32 %r14, 0;\nmov.u32 %r15, 0x03020100;\nmore:\n"
    "add.u32 %r16, %r12, %r14;\nst.shared.b32 [%r16], %r15;\nadd.u32 %r15, %r15, 0x04040404;\n"
    "add.u32 %r14, %r14, 4;\nsetp.lt.u32 %p3, %r14, 64;\n@%p3 bra more;\nfence.proxy.async;\n";
const std::string finish = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";

Program program(const std::string& body) { return Program(body, "", "sm_100a"); }

LaunchResult run_on(Program& p, uint32_t fill) {
  return p.run_with({1}, {1}, 64, [&](uint64_t out) {
    std::memset(reinterpret_cast<void*>(out), static_cast<int>(fill), 256);
  });
}

uint8_t byte_of(const Program& p, uint32_t i) { return static_cast<uint8_t>(p.word(i / 4) >> 8 * (i % 4)); }

TEST(MaskedCopy, LeavesOutBytesOfEach16) {
  for (const uint32_t mask : {0u, 1u, 0x8001u, 0x5555u, 0x0ff0u, 0xffffu}) {
    Program p =
        program(bytes_in_shared + ".reg .b16 %h<2>;\nmov.b16 %h1, " + std::to_string(mask) +
                ";\ncp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r12], 48, %h1;\n" + finish);
    EXPECT_TRUE(run_on(p, 0xcd).findings.empty());
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(byte_of(p, i), i < 48 && (mask >> i % 16 & 1) != 0 ? i : 0xcd) << mask << " " << i;
    uint32_t told = 0;
    for (const auto& piece : p.bulk_accesses().at(0).pieces) told += piece.bytes;
    EXPECT_EQ(told, mask == 0 ? 0u : 48u);
  }
}

TEST(MaskedCopy, IsARaceWithWhoWritesWhatItReads) {
  const auto findings = [](const std::string& masked, const char* barrier) {
    Program p = program(
        ".shared .align 16 .b8 s[64];\n.reg .b16 %h<2>;\nmov.u32 %r12, s;\nmov.b16 %h1, 0xffff;\n"
        "setp.eq.u32 %p1, %r1, 0;\nshl.b32 %r13, %r1, 2;\nadd.u32 %r13, %r13, %r12;\n"
        "setp.lt.u32 %p2, %r1, 16;\n@%p2 st.shared.b32 [%r13], %r1;\nfence.proxy.async;\nbar.sync 0;\n"
        "@%p1 cp.async.bulk.global.shared::cta.bulk_group" +
        masked + ";\n@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0;\n" + barrier +
        "setp.eq.u32 %p3, %r1, 32;\n@%p3 st.shared.b32 [%r12], %r1;\n");
    p.checks = {.race = true};
    return p.run({1}, {64}).findings;
  };
  for (const std::string copy : {" [%rd1], [%r12], 64", ".cp_mask [%rd1], [%r12], 64, %h1"}) {
    EXPECT_TRUE(findings(copy, "bar.sync 0;\n").empty()) << copy;
    ASSERT_FALSE(findings(copy, "").empty()) << copy;
    EXPECT_EQ(findings(copy, "").at(0).kind, Finding::Kind::race) << copy;
  }
}

TEST(BulkZeros, AreWrittenToSharedMemory) {
  const std::string read =
      "ld.shared.b32 %r5, [s+4];\nst.global.b32 [%rd1], %r5;\nld.shared.b32 %r5, [s+28];\n"
      "st.global.b32 [%rd1+4], %r5;\nld.shared.b32 %r5, [s+32];\nst.global.b32 [%rd1+8], %r5;\n";
  for (const std::string store :
       {"st.bulk.weak.shared::cta [%r12+8], 24, 0;\n",
        "mov.u64 %rd5, 24;\nst.bulk.shared::cta [%r12+8], %rd5, 0;\n",
        "mov.u32 %r6, 24;\nst.bulk.shared::cta [%r12+8], %r6, 0;\n",
        "cvt.u64.u32 %rd6, %r12;\ncvta.shared.u64 %rd6, %rd6;\nst.bulk [%rd6+8], 24, 0;\n"}) {
    Program p = program(bytes_in_shared + store + read);
    EXPECT_TRUE(run_on(p, 0xcd).findings.empty()) << store;
    EXPECT_EQ(p.word(0), 0x07060504u);
    EXPECT_EQ(p.word(1), 0u);
    EXPECT_EQ(p.word(2), 0x23222120u);
  }
  const auto kind = [](const std::string& store) {
    Program p = program(bytes_in_shared + store);
    return run_on(p, 0).findings.at(0).kind;
  };
  EXPECT_EQ(kind("mov.u32 %r6, 12;\nst.bulk.shared::cta [%r12], %r6, 0;\n"), Finding::Kind::misaligned);
  EXPECT_EQ(kind("st.bulk.shared::cta [%r12], 256, 0;\n"), Finding::Kind::out_of_bounds);
  EXPECT_EQ(kind("st.bulk [%rd1], 8, 0;\n"), Finding::Kind::unknown_pointer);
}

TEST(BulkZeros, ChecksKnowTheBytes) {
  const auto findings = [](const char* place, const char* barrier) {
    Program p = program(
        std::string(".shared .align 16 .b8 s[64];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.bulk.shared::cta "
                    "[s], 32, 0;\n") +
        barrier + "setp.eq.u32 %p2, %r1, 32;\n@%p2 ld.shared.b32 %r5, [s+" + place +
        "];\n@%p2 st.global.b32 [%rd1], %r5;\n");
    p.checks = {.race = true, .init = true};
    return p.run({1}, {64}).findings;
  };
  EXPECT_TRUE(findings("28", "bar.sync 0;\n").empty());
  EXPECT_EQ(findings("32", "bar.sync 0;\n").at(0).kind, Finding::Kind::uninitialised_read);
  EXPECT_EQ(findings("28", "").at(0).kind, Finding::Kind::race);
}

TEST(AsyncStore, GoesToGlobalMemory) {
  Program p = program(
      "mov.u32 %r5, 0x11223344;\nst.async.release.gpu.global.u32 [%rd1], %r5;\n.reg .b16 %h<2>;\nmov.b16 "
      "%h1, 0x5566;\n"
      "st.async.mmio.release.sys.global.b16 [%rd1+4], %h1;\nst.async.weak.global.b32 [%rd1+8], %r5;\n"
      "mov.u64 %rd5, 7;\nst.async.release.sys.global.b64 [%rd1+16], %rd5;\n"
      "red.async.release.gpu.global.add.u32 [%rd1+24], 5;\nred.async.relaxed.sys.global.min.s32 [%rd1+28], "
      "-3;\n"
      "mov.u64 %rd6, -1;\nred.async.release.gpu.global.add.s64 [%rd1+32], %rd6;\n"
      "red.async.release.gpu.global.and.b32 [%rd1+40], 0xff;\n");
  EXPECT_TRUE(run_on(p, 1).findings.empty());
  EXPECT_EQ(p.word(0), 0x11223344u);
  EXPECT_EQ(p.word(1), 0x01015566u);
  EXPECT_EQ(p.word(2), 0x11223344u);
  EXPECT_EQ(p.word(4), 7u);
  EXPECT_EQ(p.word(5), 0u);
  EXPECT_EQ(p.word(6), 0x01010106u);
  EXPECT_EQ(p.word(7), 0xfffffffdu);
  EXPECT_EQ(p.word(8), 0x01010100u);
  EXPECT_EQ(p.word(9), 0x01010101u);
  EXPECT_EQ(p.word(10), 1u);
  EXPECT_EQ(p.accesses(AccessSpace::global), 8u);
  Program beyond = program("st.async.release.gpu.global.u32 [%rd1+256], 1;\n");
  EXPECT_EQ(run_on(beyond, 0).findings.at(0).kind, Finding::Kind::out_of_bounds);
  Program odd = program("red.async.release.gpu.global.add.u32 [%rd1+2], 1;\n");
  EXPECT_EQ(run_on(odd, 0).findings.at(0).kind, Finding::Kind::misaligned);
}

TEST(TensorMap, KernelsChooseWhatASwizzleExchanges) {
  // A map without a swizzle is given one; both orders of the fields give the same.
  const auto swizzle_after = [](const std::string& fields) {
    std::string body = "add.u64 %rd4, %rd1, 128;\n";
    for (size_t at = 0; at < fields.size(); at += 2)
      body += std::string("tensormap.replace.tile.swizzle_") + (fields[at] == 'm' ? "mode" : "atomicity") +
              ".global.b1024.b32 [%rd4], " + fields[at + 1] + ";\n";
    Program p = program(body);
    TensorMap map;
    map.address = 4096;
    map.dimensions = 1;
    map.type = TensorMap::Type::u32;
    map.box = {4};
    map.steps = {1};
    EXPECT_TRUE(p.run_with({1}, {1}, 64, [&](uint64_t out) {
                   std::memcpy(reinterpret_cast<void*>(out + 128), &map, sizeof map);
                 }).findings.empty());
    return TensorMap::load(reinterpret_cast<const void*>(p.out() + 128))->swizzle;
  };
  using Swizzle = TensorMap::Swizzle;
  EXPECT_EQ(swizzle_after("m3"), Swizzle::by_128);
  EXPECT_EQ(swizzle_after("m3a0"), Swizzle::by_128);
  EXPECT_EQ(swizzle_after("m3a1"), Swizzle::by_128_of_32);
  EXPECT_EQ(swizzle_after("a1m3"), Swizzle::by_128_of_32);
  EXPECT_EQ(swizzle_after("m3a3"), Swizzle::by_128_of_64);
  EXPECT_EQ(swizzle_after("m3a3m2"), Swizzle::by_64);
  EXPECT_EQ(swizzle_after("m3a3m2m3"), Swizzle::by_128_of_64);
  EXPECT_EQ(swizzle_after("m3a3a0"), Swizzle::by_128);
}

}  // namespace
}  // namespace lanescope::exec
