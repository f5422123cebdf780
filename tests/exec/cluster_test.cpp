// Clusters, bulk copies and tensor maps: what small PTX programs of them must end with, right and wrong. What
// they compute is compared with a GPU's results in tests/kernels.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/error.hpp"
#include "exec/one_kernel.hpp"
#include "exec/tensor_map.hpp"

namespace lanescope::exec {
namespace {

using harness::only;
using harness::Program;

const std::string meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
/// %r10 is the rank, %r11 the number of blocks; s lies at offset %r12.
const std::string start =
    ".shared .align 128 .b8 s[256];\nmov.u32 %r10, %cluster_ctarank;\nmov.u32 %r11, "
    "%cluster_nctarank;\nmov.u32 "
    "%r12, s;\n";

TEST(Cluster, SizeComesFromTheLaunchOrTheKernel) {
  const std::string body = start + "mad.lo.u32 %r5, %r11, 10, %r10;\nst.global.u32 [%rd3], %r5;\n";
  Program p(body);
  EXPECT_TRUE(p.run({6}, {1}, 1, 1024, false, {3, 1, 1}).findings.empty());
  for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(p.word(i), 30 + i % 3);
  EXPECT_TRUE(p.run({6}, {1}).findings.empty());
  EXPECT_EQ(p.word(5), 10u);
  EXPECT_THROW(p.run({6}, {1}, 1, 1024, false, {4, 1, 1}), Error);
  EXPECT_THROW(p.run({17}, {1}, 1, 1024, false, {17, 1, 1}), Error);
}

TEST(Cluster, ManyOfThemRunOnAnyNumberOfHostThreads) {
  // Each block passes its index to the next one of its cluster, over and over.
  const std::string body =
      start +
      "add.u32 %r13, %r10, 1;\nrem.u32 %r13, %r13, %r11;\nmapa.shared::cluster.u32 %r14, %r12, "
      "%r13;\nmov.u32 %r15, %r2;\nmov.u32 %r16, 0;\n" +
      meet + "loop:\nst.shared::cluster.u32 [%r14], %r15;\n" + meet + "ld.shared.u32 %r15, [s];\n" + meet +
      "add.u32 %r16, %r16, 1;\nsetp.lt.u32 %p1, %r16, 5;\n@%p1 bra loop;\nst.global.u32 [%rd3], "
      "%r15;\n";
  for (const uint32_t threads : {1u, 3u}) {
    Program p(body);
    EXPECT_TRUE(p.run({64}, {1}, threads, 1024, false, {4, 1, 1}).findings.empty());
    for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(p.word(i), i / 4 * 4 + (i + 3) % 4);  // 5 places on, of 4
  }
}

TEST(Cluster, BlocksMayWaitForEachOthersSharedMemory) {
  // Block 1 spins on its own memory until block 0 writes there; with a counter that changes in every turn.
  for (const char* count : {"", "add.u32 %r20, %r20, 1;\n"}) {
    Program p(start + "mapa.shared::cluster.u32 %r14, %r12, 1;\nsetp.eq.u32 %p1, %r10, 0;\n" + meet +
              "@%p1 bra writer;\nspin:\n" + count +
              "ld.volatile.shared.u32 %r15, [s];\nsetp.eq.u32 %p2, %r15, 0;\n@%p2 bra spin;\nbra done;\n"
              "writer:\nst.shared::cluster.u32 [%r14], 77;\nmov.u32 %r15, 1;\ndone:\nst.global.u32 [%rd3], "
              "%r15;\n" +
              meet);
    EXPECT_TRUE(p.run({2}, {1}, 1, 1024, false, {2, 1, 1}).findings.empty());
    EXPECT_EQ(p.word(1), 77u);
  }
}

TEST(Cluster, ItsBarrierOrdersForTheChecks) {
  // Each thread writes a word of its own block, or of the other one, and reads its neighbour's after meeting.
  const std::string before = start +
                             "shl.b32 %r13, %r1, 2;\nadd.u32 %r14, %r12, %r13;\nxor.b32 %r15, %r14, 4;\n"
                             "xor.b32 %r16, %r10, 1;\nmapa.shared::cluster.u32 %r17, %r14, %r16;\n";
  const std::string own = "st.shared.u32 [%r14], %r1;\n", others = "st.shared::cluster.u32 [%r17], %r1;\n",
                    relaxed = "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n",
                    after = "ld.shared.u32 %r18, [%r15];\nst.global.u32 [%rd3], %r18;\n" + meet;
  const auto findings = [](const std::string& body) {
    Program p(body);
    p.checks = {.race = true, .init = true};
    return p.run({2}, {32}, 1, 1024, false, {2, 1, 1}).findings;
  };
  EXPECT_TRUE(findings(before + own + meet + after).empty());
  EXPECT_TRUE(findings(before + meet + others + meet + after).empty());
  const auto early = findings(before + others + meet + after);
  ASSERT_EQ(early.size(), 1u);
  EXPECT_EQ(early[0].lack, Finding::Lack::beginning);
  const auto race = findings(before + own + relaxed + after);
  ASSERT_EQ(race.size(), 1u);
  EXPECT_EQ(race[0].kind, Finding::Kind::race);
  EXPECT_EQ(race[0].lack, Finding::Lack::order);
  const auto unwritten = findings(before + meet + after);
  ASSERT_EQ(unwritten.size(), 1u);
  EXPECT_EQ(unwritten[0].kind, Finding::Kind::uninitialised_read);
}

TEST(Cluster, BarrierThatNotAllReachIsADeadlock) {
  // A thread of block 1 waits at its block's barrier for one that waits at the cluster's.
  Program p(
      start +
      "setp.eq.u32 %p1, %r10, 1;\nsetp.eq.u32 %p2, %r1, 32;\nand.pred %p1, %p1, %p2;\n@%p1 bra block;\n" +
      meet + "ret;\nblock:\nbar.sync 0;\n");
  const LaunchResult result = p.run({2}, {64}, 1, 1024, false, {2, 1, 1});
  EXPECT_EQ(result.findings.size(), 2u);
  bool cluster = false;
  for (const Finding& f : result.findings) {
    EXPECT_EQ(f.kind, Finding::Kind::deadlock);
    cluster = cluster || f.message.find("not all threads of the cluster") != std::string::npos;
  }
  EXPECT_TRUE(cluster);
}

TEST(Cluster, RemoteMbarrierThatNeverCompletesIsADeadlock) {
  Program p(start + ".shared .align 8 .b64 bar;\nmbarrier.init.shared.b64 [bar], 2;\n" + meet +
            "mov.u32 %r13, bar;\nxor.b32 %r14, %r10, 1;\nmapa.shared::cluster.u32 %r13, %r13, %r14;\n"
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];\n"
            "wait:\nmbarrier.try_wait.parity.acquire.cluster.shared.b64 %p1, [bar], 0;\n@!%p1 bra wait;\n");
  const Finding f = only(p.run({2}, {1}, 1, 1024, false, {2, 1, 1}));
  EXPECT_EQ(f.kind, Finding::Kind::deadlock);
  EXPECT_NE(f.message.find("1 arrival of 2"), std::string::npos) << f.message;
}

TEST(Cluster, MisuseIsReported) {
  const auto kind = [](const std::string& body) {
    Program p(start + body);
    return only(p.run({2}, {1}, 1, 1024, false, {2, 1, 1})).kind;
  };
  EXPECT_EQ(kind("barrier.cluster.wait;"), Finding::Kind::bad_barrier);
  EXPECT_EQ(kind("barrier.cluster.arrive;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;"),
            Finding::Kind::bad_barrier);
  EXPECT_EQ(kind("mapa.shared::cluster.u32 %r5, %r12, 2;"), Finding::Kind::out_of_bounds);
  EXPECT_EQ(kind(meet + "mapa.shared::cluster.u32 %r5, %r12, 1;\nst.shared::cluster.u32 [%r5+254], 1;"),
            Finding::Kind::misaligned);
  EXPECT_EQ(kind(meet + "mapa.shared::cluster.u32 %r5, %r12, 1;\nst.shared::cluster.u32 [%r5+256], 1;"),
            Finding::Kind::out_of_bounds);
  // Block 1 reads the memory of block 0 after that has ended.
  EXPECT_EQ(kind("setp.eq.u32 %p1, %r10, 0;\n@%p1 ret;\nmapa.shared::cluster.u32 %r5, %r12, 0;\n"
                 "ld.shared::cluster.u32 %r6, [%r5];"),
            Finding::Kind::out_of_bounds);
}

const std::string bulk_start =
    start +
    ".shared .align 8 .b64 bar;\nmbarrier.init.shared.b64 [bar], 1;\nmov.u32 %r13, "
    "bar;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n";

TEST(BulkCopy, MisuseIsReported) {
  const auto kind = [](const std::string& copy) {
    Program p(bulk_start + copy);
    return only(p.run({1}, {1}, 1, 64)).kind;
  };
  const auto load = [](const std::string& operands) {
    return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes " + operands + ";\n";
  };
  EXPECT_EQ(kind(load("[%r12], [%rd1], 8, [%r13]")), Finding::Kind::misaligned);
  EXPECT_EQ(kind(load("[%r12], [%rd1+8], 16, [%r13]")), Finding::Kind::misaligned);
  EXPECT_EQ(kind(load("[%r12+8], [%rd1], 16, [%r13]")), Finding::Kind::misaligned);
  EXPECT_EQ(kind(load("[%r12], [%rd1], 272, [%r13]")), Finding::Kind::out_of_bounds);
  EXPECT_EQ(kind(load("[%r12+192], [%rd1], 128, [%r13]")), Finding::Kind::out_of_bounds);
  EXPECT_EQ(kind(load("[%r12], [%rd1], 16, [%r12+64]")), Finding::Kind::bad_barrier);
  EXPECT_EQ(kind("cp.async.bulk.global.shared::cta.bulk_group [%rd1+240], [%r12], 32;\n"),
            Finding::Kind::out_of_bounds);
  EXPECT_EQ(kind(load("[%r12], [%rd1+8], 0, [%r13]")), Finding::Kind::misaligned);
}

TEST(BulkCopy, OfNoBytesReachesNoMemory) {
  for (const std::string copy :
       {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd6], 0, [%r13];\n",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r14], [%rd1], 0, [%r13];\n",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd6], [%r12], 0;\n"}) {
    Program p(start +
              ".shared .align 8 .b64 bar;\nmov.u32 %r13, bar;\nmbarrier.init.shared.b64 [bar], 1;\n"
              "mov.u64 %rd6, 0;\nmov.u32 %r14, 1048576;\n" +
              copy +
              "mbarrier.arrive.shared.b64 %rd7, [bar];\nwait:\n"
              "mbarrier.test_wait.shared.b64 %p1, [bar], %rd7;\n@!%p1 bra wait;\nst.global.u32 [%rd3], 5;\n");
    EXPECT_TRUE(p.run({1}, {1}).findings.empty()) << copy;
    EXPECT_EQ(p.word(0), 5u) << copy;
  }
}

TEST(BulkCopy, WaitForTooManyBytesIsADeadlock) {
  Program p(bulk_start +
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd1], 48, [%r13];\n"
            "wait:\nmbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra wait;\n");
  EXPECT_NE(only(p.run({1}, {1})).message.find("0 arrivals of 1 and for 16 bytes"), std::string::npos);
}

TensorMap words_map() {
  TensorMap map;
  map.address = 4096;
  map.dimensions = 2;
  map.type = TensorMap::Type::u32;
  map.last = {63, 31};
  map.strides = {256};
  map.box = {32, 8};
  map.steps = {1, 1};
  return map;
}

TEST(TensorMap, DefectsAreNamed) {
  EXPECT_EQ(defect_of(words_map()), "");
  const auto defect = [](auto change) {
    TensorMap map = words_map();
    change(map);
    return defect_of(map);
  };
  EXPECT_NE(defect([](TensorMap& m) { m.mark = 0; }).find("no tensor map"), std::string::npos);
  EXPECT_NE(defect([](TensorMap& m) { m.dimensions = 6; }).find("1 to 5"), std::string::npos);
  EXPECT_NE(defect([](TensorMap& m) { m.address = 8; }).find("multiple of 16"), std::string::npos);
  EXPECT_NE(defect([](TensorMap& m) { m.box[1] = 257; }).find("257 elements"), std::string::npos);
  EXPECT_NE(defect([](TensorMap& m) { m.box[0] = 3; }).find("12 bytes wide"), std::string::npos);
  EXPECT_NE(defect([](TensorMap& m) { m.steps[1] = 9; }).find("element stride"), std::string::npos);
  EXPECT_NE(defect([](TensorMap& m) { m.strides[0] = 264; }).find("264 bytes"), std::string::npos);
  EXPECT_EQ(defect([](TensorMap& m) { m.swizzle = TensorMap::Swizzle::by_128; }), "");
  EXPECT_NE(defect([](TensorMap& m) { m.swizzle = TensorMap::Swizzle::by_64; }).find("swizzle"),
            std::string::npos);
}

TEST(TensorMap, SwizzlesPermuteUnitsOf16Bytes) {
  TensorMap map = words_map();
  const uint32_t bits[] = {0, 1, 3, 7};
  for (uint32_t s = 0; s < 4; ++s) {
    map.swizzle = static_cast<TensorMap::Swizzle>(s);
    // The documented patterns: unit u of the 128 bytes number n lies where u ^ (n & bits) says.
    for (uint32_t offset = 0; offset < 4096; ++offset) {
      const uint32_t unit = offset / 16 % 8, number = offset / 128;
      EXPECT_EQ(map.swizzled(offset), number * 128 + (unit ^ (number & bits[s])) * 16 + offset % 16);
    }
  }
}

TEST(TensorCopy, MisuseIsReported) {
  // The map is in global memory behind the tensor of 64 words.
  const auto run = [](const std::string& copy, uint32_t box) {
    Program p(bulk_start + "add.u64 %rd4, %rd1, 256;\n" + copy);
    TensorMap map = words_map();
    map.last = {15, 3};
    map.strides = {64};
    map.box = {static_cast<uint16_t>(box), 4};
    return p.run_with({1}, {1}, 128, [&](uint64_t out) {
      map.address = out;
      std::memcpy(reinterpret_cast<void*>(out + 256), &map, sizeof map);
    });
  };
  const auto load = [](const std::string& operands) {
    return "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes " + operands +
           ";\n";
  };
  EXPECT_TRUE(run(load("[%r12], [%rd4, {4, 1}], [%r13]"), 4).findings.empty());
  EXPECT_EQ(only(run(load("[%r12], [%rd4, {1, 0}], [%r13]"), 4)).kind, Finding::Kind::misaligned);
  EXPECT_EQ(only(run(load("[%r12+16], [%rd4, {0, 0}], [%r13]"), 4)).kind, Finding::Kind::misaligned);
  EXPECT_TRUE(run(load("[%r12], [%rd4, {-4, -1}], [%r13]"), 4).findings.empty());
  EXPECT_EQ(
      only(run("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd4, {0, -1}], [%r12];\n", 4)).kind,
      Finding::Kind::out_of_bounds);
  EXPECT_EQ(only(run(load("[%r12+128], [%rd4, {0, 0}], [%r13]"), 16)).kind, Finding::Kind::out_of_bounds);
  EXPECT_EQ(only(run(load("[%r12], [%rd1, {0, 0}], [%r13]"), 4)).kind, Finding::Kind::unknown_pointer);
  EXPECT_EQ(only(run("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd4, {0}], [%r12];\n", 4)).kind,
            Finding::Kind::unknown_pointer);
}

TEST(TensorMap, KernelsReplaceFields) {
  // A map of 16 x 4 words with boxes of 4 x 4 becomes, in shared memory, one of 8 x 4 words that lie 32 words
  // further with rows 48 bytes apart, is copied back, and a box is loaded with it.
  const std::string replace = "tensormap.replace.tile.";
  const std::string body =
      bulk_start +
      ".shared .align 128 .b8 copy[128];\nadd.u64 %rd4, %rd1, 256;\nmov.u32 %r14, copy;\n"
      "setp.ne.u32 %p1, %r1, 0;\nshl.b32 %r15, %r1, 2;\nmul.wide.u32 %rd5, %r1, 4;\nadd.u64 %rd5, %rd5, "
      "%rd4;\n"
      "ld.global.u32 %r16, [%rd5];\nadd.u32 %r17, %r14, %r15;\nst.shared.u32 [%r17], %r16;\nbar.warp.sync "
      "-1;\n"
      "add.u64 %rd6, %rd1, 128;\n@!%p1 " +
      replace + "global_address.shared::cta.b1024.b64 [%r14], %rd6;\n@!%p1 " + replace +
      "global_stride.shared::cta.b1024.b64 [%r14], 0, 48;\n@!%p1 " + replace +
      "global_dim.shared::cta.b1024.b32 [%r14], 0, 2;\n@!%p1 " + replace +
      "elemtype.shared::cta.b1024.b32 [%r14], 3;\nbar.warp.sync -1;\n"
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd4], "
      "[%r14], "
      "128;\nfence.proxy.tensormap::generic.acquire.gpu [%rd4], 128;\n@%p1 bra done;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r12], [%rd4, {0, "
      "0}], "
      "[%r13];\nlook:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra look;\n"
      "ld.shared.u32 %r18, [%r12+4];\nst.global.u32 [%rd1], %r18;\nld.shared.u32 %r18, [%r12+20];\n"
      "st.global.u32 [%rd1+4], %r18;\nld.shared.u32 %r18, [%r12+8];\nst.global.u32 [%rd1+8], %r18;\ndone:\n";
  // Only one thread may set the mbarrier up.
  std::string one = body;
  one.replace(one.find("mbarrier.init"), 0, "setp.ne.u32 %p3, %r1, 0;\n@%p3 bra ready;\n");
  one.replace(one.find("_, [bar], 64;\n") + 14, 0, "ready:\nmov.u32 %r13, bar;\n");
  Program p(one);
  TensorMap map = words_map();
  map.last = {15, 3};
  map.strides = {64};
  map.box = {4, 4};
  const LaunchResult result = p.run_with({1}, {32}, 128, [&](uint64_t out) {
    auto* words = reinterpret_cast<uint32_t*>(out);
    for (uint32_t i = 0; i < 64; ++i) words[i] = 100 + i;
    map.address = out;
    std::memcpy(reinterpret_cast<void*>(out + 256), &map, sizeof map);
  });
  EXPECT_TRUE(result.findings.empty()) << (result.findings.empty() ? "" : result.findings[0].message);
  EXPECT_EQ(p.word(0), 133u) << "element 1 of row 0";
  EXPECT_EQ(p.word(1), 145u) << "element 1 of row 1, 12 words further";
  EXPECT_EQ(p.word(2), 0u) << "element 2 lies outside";
  const auto replaced = TensorMap::load(reinterpret_cast<const void*>(p.out() + 256));
  ASSERT_TRUE(replaced.has_value());
  EXPECT_EQ(replaced->type, TensorMap::Type::s32);
  EXPECT_EQ(replaced->size(0), 2u);
}

TEST(TensorMap, ReplacingNeedsAMap) {
  Program p(
      ".shared .align 128 .b8 s[128];\nmov.u32 %r10, s;\n"
      "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r10], 1;\n");
  EXPECT_EQ(only(p.run({1}, {1})).kind, Finding::Kind::unknown_pointer);
}

TEST(TensorCopy, BoxesBeginAnywhere) {
  // Rows of 16 words, boxes of 8: what of a row is read, and what is filled.
  const auto told = [](const char* coordinates) {
    Program p(bulk_start +
              "add.u64 %rd4, %rd1, 256;\ncp.async.bulk.tensor.2d.shared::cluster.global.tile."
              "mbarrier::complete_tx::bytes [%r12], [%rd4, {" +
              coordinates + "}], [%r13];\n");
    TensorMap map = words_map();
    map.last = {15, 3};
    map.strides = {64};
    map.box = {8, 1};
    EXPECT_TRUE(p.run_with({1}, {1}, 128, [&](uint64_t out) {
                   map.address = out;
                   std::memcpy(reinterpret_cast<void*>(out + 256), &map, sizeof map);
                 }).findings.empty());
    std::pair<uint32_t, uint32_t> bytes;
    for (const auto& piece : p.bulk_accesses().at(0).pieces)
      (piece.is_filled ? bytes.second : bytes.first) += piece.bytes;
    return bytes;
  };
  EXPECT_EQ(told("0, 0"), std::pair(32u, 0u));
  EXPECT_EQ(told("12, 0"), std::pair(16u, 16u));
  EXPECT_EQ(told("-4, 0"), std::pair(16u, 16u));
  EXPECT_EQ(told("16, 0"), std::pair(0u, 32u));
  EXPECT_EQ(told("40, 0"), std::pair(0u, 32u));
  EXPECT_EQ(told("-40, 0"), std::pair(0u, 32u));
  EXPECT_EQ(told("0, 4"), std::pair(0u, 32u));
}

TEST(TensorCopy, NumbersOfLessThanAByte) {
  // Sixteen numbers take 8 or 12 bytes of the tensor, and 8 or 16 of shared memory.
  struct Case {
    TensorMap::Type type;
    uint32_t numbers, tensor_bytes, element, shared_element;
  };
  for (const Case& c :
       {Case{TensorMap::Type::u4_dense, 64, 32, 8, 8}, Case{TensorMap::Type::u4_wide, 128, 64, 8, 16},
        Case{TensorMap::Type::u6_wide, 128, 96, 12, 16}}) {
    Program p(
        ".shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\nmov.u32 %r12, s;\nmov.u32 %r13, bar;\n"
        "mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
        std::to_string(c.tensor_bytes) +
        ";\nadd.u64 %rd4, %rd1, 1024;\ncp.async.bulk.tensor.2d.shared::cluster.global.tile."
        "mbarrier::complete_tx::bytes [%r12], [%rd4, {" +
        std::to_string(c.numbers) +
        ", 1}], [%r13];\nlook:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra look;\n"
        "mov.u32 %r14, 0;\ncopy:\nld.shared.b32 %r15, [%r12];\nst.global.b32 [%rd1+2048], %r15;\n"
        "add.u32 %r12, %r12, 4;\nadd.u64 %rd1, %rd1, 4;\nadd.u32 %r14, %r14, 4;\nsetp.lt.u32 %p3, %r14, " +
        std::to_string(c.numbers / 16 * c.shared_element) + ";\n@%p3 bra copy;\n");
    TensorMap map = words_map();
    map.type = c.type;
    map.last = {2 * c.numbers - 1, 1};
    map.strides = {256};
    map.box = {static_cast<uint16_t>(c.numbers), 1};
    const LaunchResult result = p.run_with({1}, {1}, 1024, [&](uint64_t out) {
      auto* bytes = reinterpret_cast<uint8_t*>(out);
      for (uint32_t i = 0; i < 512; ++i) bytes[i] = static_cast<uint8_t>(i);
      map.address = out;
      std::memcpy(bytes + 1024, &map, sizeof map);
    });
    ASSERT_TRUE(result.findings.empty()) << result.findings[0].message;
    const auto* copied = reinterpret_cast<const uint8_t*>(p.out() + 2048);
    for (uint32_t i = 0; i < c.numbers / 16; ++i)
      for (uint32_t b = 0; b < c.element; ++b)
        EXPECT_EQ(copied[i * c.shared_element + b],
                  static_cast<uint8_t>(256 + c.tensor_bytes + i * c.element + b))
            << c.numbers << " " << i << " " << b;
  }
}

TEST(Cluster, PairsOfBlocksAreToldTogether) {
  // Both blocks load a box each for the mbarrier of the even one, whose address they find by clearing bit 24.
  Program p(
      ".shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\nmov.u32 %r12, s;\nmov.u32 %r13, bar;\n"
      "mov.u32 %r10, %cluster_ctarank;\nand.b32 %r14, %r10, 1;\nsetp.eq.u32 %p1, %r14, 0;\n"
      "@%p1 mbarrier.init.shared.b64 [bar], 1;\n@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n" +
          meet +
          "and.b32 %r15, %r13, -16777224;\nadd.u64 %rd4, %rd1, 1024;\nshl.b32 %r16, %r10, 3;\n"
          "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
          "[%r12], [%rd4, {%r16, 0}], [%r15];\n@!%p1 bra done;\nlook:\n"
          "mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra look;\ndone:\n" +
          meet + "ld.shared.b32 %r17, [s];\nst.global.b32 [%rd3+2048], %r17;\n",
      "", "sm_100a");
  TensorMap map = words_map();
  map.last = {63, 0};
  map.box = {8, 1};
  const LaunchResult result = p.run_in_cluster({4}, {1}, 1024, {4, 1, 1}, [&](uint64_t out) {
    auto* words = reinterpret_cast<uint32_t*>(out);
    for (uint32_t i = 0; i < 64; ++i) words[i] = 100 + i;
    map.address = out;
    std::memcpy(reinterpret_cast<void*>(out + 1024), &map, sizeof map);
  });
  EXPECT_TRUE(result.findings.empty()) << result.findings[0].message;
  for (uint32_t block = 0; block < 4; ++block) EXPECT_EQ(p.word(512 + block), 100 + 8 * block);
}

TEST(Cluster, OthersAreNeverCancelled) {
  Program p(
      ".shared .align 16 .b8 s[16];\n.shared .align 8 .b64 bar;\nmov.u32 %r12, s;\nmov.u32 %r13, bar;\n"
      ".reg .b128 %answer;\nmbarrier.init.shared.b64 [bar], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\nmov.u32 %r10, %cluster_ctarank;\n" +
          meet +
          "setp.eq.u32 %p1, %r10, 0;\n@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta."
          "mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%r12], [%r13];\nlook:\n"
          "mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra look;\n"
          "ld.shared.b128 %answer, [s];\nmov.u32 %r14, 5;\n"
          "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %answer;\n"
          "@%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r14, %r15, %r16, _}, "
          "%answer;\n"
          "selp.u32 %r17, 1, 2, %p3;\nmad.lo.u32 %r17, %r17, 10, %r14;\nst.global.u32 [%rd3], %r17;\n" +
          meet,
      "", "sm_100a");
  p.checks = {.race = true, .init = true};
  EXPECT_TRUE(p.run({4}, {1}, 1, 1024, false, {2, 1, 1}).findings.empty());
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(p.word(i), 25u);
}

TEST(BulkCopy, EveryPhaseIsSeenByThoseWhoWait) {
  // Warp 0 loads, waits, and loads again; warp 1 only waits, and must not miss a phase.
  Program p(
      ".shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\n.shared .align 8 .b64 two;\n"
      "mov.u32 %r12, s;\nmov.u32 %r13, bar;\nsetp.eq.u32 %p1, %r1, 0;\n"
      "@%p1 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\nmov.u32 %r14, 0;\nnext:\n"
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n@%p1 cp.async.bulk.shared::cluster.global."
      "mbarrier::complete_tx::bytes [%r12], [%rd1], 16, [%r13];\nand.b32 %r15, %r14, 1;\nlook:\n"
      "mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r15;\n@!%p2 bra look;\nadd.u32 %r14, %r14, 1;\n"
      "setp.lt.u32 %p3, %r14, 8;\n@%p3 bra next;\nst.global.u32 [%rd3+1024], %r14;\n");
  EXPECT_TRUE(p.run({1}, {64}).findings.empty());
  EXPECT_EQ(p.word(256 + 63), 8u);
}

TEST(BulkCopy, LanesThatStoreTheSameStoreOnce) {
  const std::string begin = ".shared .align 128 .b8 s[256];\nmov.u32 %r12, s;\n";
  const auto stores = [&](const std::string& copy) {
    Program p(begin + copy);
    EXPECT_TRUE(p.run({1}, {32}).findings.empty());
    return p.bulk_accesses().size();
  };
  EXPECT_EQ(stores("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r12], 128;\n"), 1u);
  EXPECT_EQ(stores("mul.wide.u32 %rd4, %r1, 16;\nadd.u64 %rd4, %rd4, %rd1;\n"
                   "cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r12], 16;\n"),
            32u);
  EXPECT_EQ(stores("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r12], 16;\n"), 32u)
      << "each lane adds";
}

// What the observer is told.

TEST(Cluster, AccessesToOtherBlocksAreToldApart) {
  // Even lanes of block 0 store to their own block, odd ones to block 1.
  Program p(start +
            "and.b32 %r13, %r1, 1;\nshl.b32 %r14, %r1, 2;\nadd.u32 %r14, %r14, %r12;\n"
            "mapa.shared::cluster.u32 %r15, %r14, %r13;\nsetp.ne.u32 %p1, %r10, 0;\n@%p1 bra done;\n"
            "st.shared::cluster.u32 [%r15], 5;\natom.shared::cluster.add.u32 %r16, [%r15], 1;\ndone:\n" +
            meet);
  EXPECT_TRUE(p.run({2}, {32}, 1, 1024, false, {2, 1, 1}).findings.empty());
  ASSERT_EQ(p.cluster_accesses().size(), 2u);
  EXPECT_EQ(p.accesses(AccessSpace::shared), 2u);
  for (const Access& a : p.cluster_accesses()) {
    EXPECT_EQ(a.mask, 0xaaaaaaaau);
    EXPECT_EQ(a.address[3], (2u << 24) + 12) << "rank + 1 and offset";
  }
  EXPECT_EQ(p.cluster_accesses()[1].kind, AccessKind::atomic);
}

TEST(Cluster, AsynchronousStoresGoThroughTheNetworkInTheOwnBlock) {
  Program p(start +
                "shl.b32 %r13, %r1, 2;\nadd.u32 %r13, %r13, %r12;\nmov.u32 %r14, bar;\n"
                "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra go;\nmbarrier.init.shared.b64 [%r14], 1;\n"
                "mbarrier.arrive.expect_tx.shared.b64 _, [%r14], 128;\ngo:\nbar.sync 0;\n"
                "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r13], %r1, [%r14];\n",
            ".shared .align 8 .b64 bar;\n");
  EXPECT_TRUE(p.run({1}, {32}).findings.empty());
  ASSERT_EQ(p.cluster_accesses().size(), 1u);
  EXPECT_EQ(p.cluster_accesses()[0].kind, AccessKind::async_store);
  EXPECT_EQ(p.cluster_accesses()[0].mask, full_mask);
  EXPECT_EQ(p.cluster_accesses()[0].address[1] - p.cluster_accesses()[0].address[0], 4u);
  EXPECT_EQ(p.cluster_accesses()[0].address[0] >> 24, 1u);
}

TEST(Cluster, BulkCopiesAreToldWithBothSides) {
  Program p(bulk_start +
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd1], 48, [%r13];\n"
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1+64], [%r12], 32;\n");
  EXPECT_TRUE(p.run({1}, {1}).findings.empty());
  ASSERT_EQ(p.bulk_accesses().size(), 2u);
  const auto& load = p.bulk_accesses()[0];
  EXPECT_EQ(load.access.kind, AccessKind::bulk_load);
  EXPECT_EQ(load.access.space, AccessSpace::global);
  ASSERT_EQ(load.pieces.size(), 1u);
  EXPECT_EQ(load.pieces[0].far, p.out());
  EXPECT_EQ(load.pieces[0].bytes, 48u);
  const auto& reduction = p.bulk_accesses()[1];
  EXPECT_EQ(reduction.access.kind, AccessKind::bulk_reduction);
  EXPECT_EQ(reduction.pieces[0].far, p.out() + 64);
  EXPECT_EQ(reduction.pieces[0].near, load.pieces[0].near);
}

TEST(Cluster, ProductsAreToldOnceForFourWarps) {
  std::string registers;
  for (int i = 0; i < 32; ++i) registers += (i == 0 ? "" : ", ") + std::string("%d") + std::to_string(i);
  // A and B without swizzle, core matrices 128 bytes apart; B begins 8 KiB behind A.
  Program p(
      ".shared .align 128 .b8 s[16384];\n.reg .f32 %d<32>;\nmov.u64 %rd5, 0x0000001000080000;\n"
      "add.u64 %rd6, %rd5, 512;\nwgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" +
          registers +
          "}, %rd5, %rd6, 0, 1, 1, 0, 0;\n"
          "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
      "", "sm_90a");
  EXPECT_TRUE(p.run({1}, {128}).findings.empty());
  ASSERT_EQ(p.bulk_accesses().size(), 8u) << "B and A for each warp";
  uint32_t of_a = 0, of_b = 0;
  for (const auto& told : p.bulk_accesses()) {
    EXPECT_EQ(told.access.kind, AccessKind::group_product);
    EXPECT_EQ(told.access.row_bytes, 32u);
    (told.access.is_more ? of_a : of_b) += told.access.rows;
  }
  EXPECT_EQ(of_a, 64u);
  EXPECT_EQ(of_b, 64u);
}

}  // namespace
}  // namespace lanescope::exec
