// Atomics of whole numbers; those of 16 and 128 bits and of vectors: what observers are told, what is
// refused, and that nothing is lost between host threads. Their values are compared with recorded ones in
// tests/kernels (halves.cu).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/launch.hpp"

namespace lanescope::exec {
namespace {

struct Recorder : Observer {
  std::vector<Access> accesses;
  void access(const Access& a) override { accesses.push_back(a); }
};

/// Runs `body` with %rd3 = out + `stride` * thread of the grid; `words` are what out held before and holds
/// after.
LaunchResult run(const std::string& body, uint32_t stride, std::vector<uint32_t>& words, Dim3 grid,
                 Dim3 block, uint32_t threads, Recorder* recorder = nullptr) {
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .pred %p<4>;\n.reg .b16 %h<16>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n"
      ".reg .b128 %q<9>;\n"
      "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
      "mad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, " +
      std::to_string(stride) + ";\nadd.u64 %rd3, %rd1, %rd2;\n" + body + "\nret;\n}\n";
  Memory memory;
  Image image(std::make_shared<ptx::Module>(ptx::parse(text, "test.ptx")), memory);
  const uint64_t out = memory.allocate(words.size() * 4, "out");
  std::memcpy(reinterpret_cast<void*>(out), words.data(), words.size() * 4);
  LaunchConfig config;
  config.grid = grid;
  config.block = block;
  config.threads = threads;
  config.params.resize(8);
  std::memcpy(config.params.data(), &out, 8);
  if (recorder != nullptr) config.observer = [recorder](uint32_t) { return recorder; };
  LaunchResult result = image.launch(image.kernel("k"), config);
  std::memcpy(words.data(), reinterpret_cast<const void*>(out), words.size() * 4);
  return result;
}

TEST(Atomics, AreOneAccessOfAllBytesOfALane) {
  struct Row {
    const char* body;
    uint32_t stride, width;
  };
  for (const Row& row :
       {Row{"atom.global.cas.b16 %h1, [%rd3], 0, 1;", 2, 2},
        Row{"red.global.add.noftz.f16 [%rd3], %h1;", 2, 2},
        Row{"red.global.add.noftz.bf16x2 [%rd3], %r1;", 4, 4},
        Row{"atom.global.exch.b128 _, [%rd3], 5;", 16, 16}, Row{"atom.cas.b128 %q1, [%rd3], 0, 5;", 16, 16},
        Row{"red.global.add.v2.f32 [%rd3], {1.0, 2.0};", 8, 8},
        Row{"red.global.min.noftz.v8.bf16 [%rd3], {%h1, %h1, %h1, %h1, %h1, %h1, %h1, %h1};", 16, 16}}) {
    Recorder recorder;
    std::vector<uint32_t> words(32 * 4);
    const LaunchResult result = run(row.body, row.stride, words, {1}, {20}, 1, &recorder);
    EXPECT_TRUE(result.findings.empty()) << row.body;
    ASSERT_EQ(recorder.accesses.size(), 1u) << row.body;
    const Access& access = recorder.accesses.front();
    const bool swaps = std::string_view(row.body).find(".cas.") != std::string_view::npos;
    EXPECT_EQ(access.kind, swaps ? AccessKind::compare_and_swap : AccessKind::atomic) << row.body;
    EXPECT_EQ(access.space, AccessSpace::global) << row.body;
    EXPECT_EQ(access.width, row.width) << row.body;
    EXPECT_EQ(access.mask, 0xfffffu) << row.body;
    EXPECT_EQ(access.address[19] - access.address[0], 19u * row.stride) << row.body;
  }
}

// Every operation on every type of whole numbers, with and without a result, in every space: 128 threads
// combine their numbers with what is there.
TEST(Atomics, CombineWholeNumbers) {
  using Function = std::function<uint64_t(uint64_t, uint64_t)>;
  const auto narrow = [](uint64_t x) { return static_cast<uint32_t>(x); };
  const auto least = [](auto type) -> Function {
    using T = decltype(type);
    return [](uint64_t a, uint64_t b) {
      return static_cast<uint64_t>(std::min(static_cast<T>(a), static_cast<T>(b)));
    };
  };
  const auto most = [](auto type) -> Function {
    using T = decltype(type);
    return [](uint64_t a, uint64_t b) {
      return static_cast<uint64_t>(std::max(static_cast<T>(a), static_cast<T>(b)));
    };
  };
  const Function sum = [](uint64_t a, uint64_t b) { return a + b; },
                 both = [](uint64_t a, uint64_t b) { return a & b; },
                 either = [](uint64_t a, uint64_t b) { return a | b; },
                 one = [](uint64_t a, uint64_t b) { return a ^ b; };
  const struct {
    const char* word;
    uint32_t bits;
    Function f;
  } forms[] = {{"add.u32", 32, sum},
               {"add.s32", 32, sum},
               {"add.u64", 64, sum},
               {"min.u32", 32, least(0u)},
               {"min.s32", 32, least(0)},
               {"min.u64", 64, least(uint64_t{})},
               {"min.s64", 64, least(int64_t{})},
               {"max.u32", 32, most(0u)},
               {"max.s32", 32, most(0)},
               {"max.u64", 64, most(uint64_t{})},
               {"max.s64", 64, most(int64_t{})},
               {"and.b32", 32, both},
               {"or.b32", 32, either},
               {"xor.b32", 32, one},
               {"and.b64", 64, both},
               {"or.b64", 64, either},
               {"xor.b64", 64, one},
               // Up to a limit, and from it down; the same one for all, so that their order does not matter.
               {"inc.u32", 32, [&](uint64_t a, uint64_t) { return narrow(a) >= 100 ? 0 : a + 1; }},
               {"dec.u32", 32, [&](uint64_t a, uint64_t) {
                  return narrow(a) == 0 || narrow(a) > 100 ? uint64_t{100} : a - 1;
                }}};
  const auto number = [](uint64_t thread) {
    uint64_t x = (thread + 1) * 0x9e3779b97f4a7c15;
    return x ^ x >> 29;
  };
  for (const auto& form : forms)
    for (const std::string space : {".global", "", ".shared", ".shared::cta"})
      for (const bool gives : {false, true})
        for (const std::string order : {"", ".relaxed.sys", gives ? ".acq_rel.gpu" : ".release.gpu"}) {
          const bool shared = space.starts_with(".shared"),
                     counts = std::string_view(form.word).substr(2, 1) == "c";
          const std::string x = counts            ? "100"
                                : form.bits == 64 ? "%rd5"
                                                  : "%r5",
                            place = shared ? "[s]" : "[%rd1]",
                            name = (gives ? "atom" : "red") + order + space + "." + form.word;
          const std::string body =
              ".shared .align 8 .b64 s;\nadd.u32 %r5, %r4, 1;\ncvt.u64.u32 %rd5, %r5;\n"
              "mul.lo.u64 %rd5, %rd5, 0x9e3779b97f4a7c15;\nshr.u64 %rd6, %rd5, 29;\nxor.b64 %rd5, %rd5, "
              "%rd6;\n"
              "cvt.u32.u64 %r5, %rd5;\nld.global.b64 %rd7, [%rd1];\nst.shared.b64 [s], %rd7;\nbar.sync 0;\n" +
              name + (gives ? " _, " : " ") + place + ", " + x + ";\nbar.sync 0;\n" +
              (shared ? "ld.shared.b64 %rd7, [s];\nst.global.b64 [%rd1], %rd7;\n" : "");
          std::vector<uint32_t> words{0x00000041, 0x89abcdef};
          uint64_t expected = words[0] | uint64_t{words[1]} << 32;
          for (uint64_t i = 0; i < 128; ++i) {
            const uint64_t r = form.f(expected, number(i));
            expected = form.bits == 64 ? r : (expected & ~uint64_t{0xffffffff}) | narrow(r);
          }
          EXPECT_TRUE(run(body, 0, words, {1}, {128}, 1).findings.empty()) << name;
          EXPECT_EQ(words[0] | uint64_t{words[1]} << 32, expected) << name;
        }
}

TEST(Atomics, VectorDestinationsMayBeSourcesAndSinks) {
  std::vector<uint32_t> words(32 * 4);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = std::bit_cast<uint32_t>(static_cast<float>(i));
  const LaunchResult result =
      run("mov.f32 %f1, 1.0;\nmov.f32 %f2, 2.0;\nmov.f32 %f3, 3.0;\n"
          "atom.global.add.v4.f32 {%f2, %f1, _, %f3}, [%rd3], {%f1, %f2, %f3, %f1};\n"
          "st.global.v4.f32 [%rd3], {%f1, %f2, %f3, %f3};",
          16, words, {1}, {32}, 1);
  EXPECT_TRUE(result.findings.empty());
  for (uint32_t i = 0; i < 32; ++i) {
    const auto first = static_cast<float>(4 * i);
    EXPECT_EQ(std::bit_cast<float>(words[4 * i]), first + 1) << i;
    EXPECT_EQ(std::bit_cast<float>(words[4 * i + 1]), first) << i;
    EXPECT_EQ(std::bit_cast<float>(words[4 * i + 2]), first + 3) << i;
  }
}

TEST(Atomics, DoublesKeepTheNaNsThatAnH100Keeps) {
  // What a red of these left there, in global memory and in shared memory.
  struct Row {
    uint64_t before, added, global, shared;
  };
  constexpr uint64_t one = 0x3ff0000000000000, quiet = 0x7ff8000000000123, other = 0xfff8000000000456,
                     signalling = 0x7ff4000000000789, quieted = 0x7ffc000000000789;
  const std::vector<Row> rows{{one, quiet, quiet, quiet},
                              {quiet, one, quiet, quiet},
                              {quiet, other, other, other},
                              {other, quiet, quiet, quiet},
                              {one, signalling, signalling, quieted},
                              {signalling, one, signalling, quieted},
                              {quiet, signalling, signalling, quieted},
                              {signalling, other, other, other},
                              {one, one, 0x4000000000000000, 0x4000000000000000}};
  const std::string shared_variable =
      ".shared .align 8 .b64 s[32];\nmul.lo.u32 %r5, %r1, 8;\nmov.u32 %r6, s;\n"
      "add.u32 %r5, %r5, %r6;\ncvt.u64.u32 %rd6, %r5;\ncvta.shared.u64 %rd6, %rd6;\n";
  const std::string before = "ld.global.u64 %rd4, [%rd3];\nld.global.f64 %rd5, [%rd3+8];\n";
  const auto sums = [&](const std::string& body) {
    std::vector<uint32_t> words(4 * rows.size());
    for (size_t i = 0; i < rows.size(); ++i) std::memcpy(&words[4 * i], &rows[i], 16);
    EXPECT_TRUE(run(body, 16, words, {1}, {static_cast<uint32_t>(rows.size())}, 1).findings.empty()) << body;
    std::vector<uint64_t> sums(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) std::memcpy(&sums[i], &words[4 * i], 8);
    return sums;
  };
  for (const char* red : {"red.global.add.f64 [%rd3], %rd5;", "red.add.f64 [%rd3], %rd5;",
                          "atom.global.add.f64 %rd7, [%rd3], %rd5;"}) {
    const auto found = sums(before + red);
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(found[i], rows[i].global) << red << " row " << i;
  }
  for (const char* red : {"red.shared.add.f64 [%r5], %rd5;", "red.add.f64 [%rd6], %rd5;"}) {
    const auto found = sums(shared_variable + before + "st.shared.u64 [%r5], %rd4;\n" + red +
                            "\nld.shared.u64 %rd4, [%r5];\nst.global.u64 [%rd3], %rd4;");
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(found[i], rows[i].shared) << red << " row " << i;
  }
}

TEST(Atomics, VectorsAreAlignedToAllTheirBytes) {
  std::vector<uint32_t> words(64);
  const LaunchResult result =
      run("mov.f32 %f1, 7.0;\nmov.f32 %f2, 7.0;\natom.global.add.v2.f32 {%f1, %f2}, [%rd3], {1.0, 1.0};\n"
          "setp.eq.u32 %p1, %r1, 1;\n@%p1 st.global.f32 [%rd1+128], %f1;",
          4, words, {1}, {2}, 1);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, Finding::Kind::misaligned);
  EXPECT_EQ(result.findings[0].thread, 1u);
  EXPECT_EQ(result.findings[0].width, 8u);
  EXPECT_EQ(words[2], 0u);   // not added
  EXPECT_EQ(words[32], 0u);  // and read as zero
}

TEST(Atomics, Of128BitsLoseNothingBetweenHostThreads) {
  // Each thread adds 2^63 + 1 by compare and swap: half of the additions carry into the upper 64 bits.
  std::vector<uint32_t> words(4);
  const LaunchResult result = run(
      "mov.b128 %q1, {0, 0};\nagain:\nmov.b128 {%rd4, %rd5}, %q1;\nadd.cc.u64 %rd4, %rd4, "
      "0x8000000000000001;\n"
      "addc.u64 %rd5, %rd5, 0;\nmov.b128 %q2, {%rd4, %rd5};\natom.global.cas.b128 %q3, [%rd1], %q1, %q2;\n"
      "mov.b128 {%rd4, %rd5}, %q3;\nmov.b128 {%rd6, %rd7}, %q1;\nmov.b128 %q1, %q3;\n"
      "setp.ne.u64 %p1, %rd4, %rd6;\nsetp.ne.or.u64 %p2, %rd5, %rd7, %p1;\n@%p2 bra again;",
      0, words, {16}, {64}, 4);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(words, (std::vector<uint32_t>{1024, 0, 512, 0}));
}

}  // namespace
}  // namespace lanescope::exec
