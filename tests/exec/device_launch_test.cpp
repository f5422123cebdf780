// Kernels that launch kernels: what runs, in which order, how deep, what is counted where, and what the
// launching thread is told. The program is compiled by nvcc -rdc=true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "exec/launch.hpp"

namespace lanescope::exec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string committed(const std::string& name) {
  return read_file(LANESCOPE_SOURCE_DIR "/tests/data/linked/" + name);
}

class CountingObserver : public Observer {
 public:
  void access(const Access&) override { ++accesses; }
  void repeat(uint32_t, uint64_t times) override { accesses += times; }
  uint64_t accesses = 0;
};

class DeviceLaunch : public testing::Test {
 protected:
  Memory memory;
  Image image{std::make_shared<ptx::Module>(ptx::parse(committed("launches.ptx"), "launches.ptx")), memory};
  LaunchConfig config;
  LaunchResult result;

  /// Runs a kernel whose parameters are a zeroed buffer of words and, if it takes one, a number.
  std::vector<int> run(const std::string& name, int number = 0, Dim3 grid = {1, 1, 1},
                       Dim3 block = {1, 1, 1}) {
    const Kernel& kernel = image.kernel(name);
    const uint64_t before = memory.allocated_bytes();
    const uint64_t out = memory.allocate(128 * 4, "out");
    config.grid = grid;
    config.block = block;
    config.params.assign(kernel.param_bytes, std::byte{0});
    std::memcpy(config.params.data(), &out, 8);
    if (kernel.param_bytes > 8) std::memcpy(config.params.data() + 8, &number, 4);
    result = image.launch(kernel, config);
    std::vector<int> words(128);
    std::memcpy(words.data(), reinterpret_cast<const void*>(out), 128 * 4);
    memory.release(out);
    EXPECT_EQ(memory.allocated_bytes(), before);
    return words;
  }
};

TEST_F(DeviceLaunch, GridsRunInOrderAfterTheirParentAndTheTailLast) {
  std::vector<std::pair<std::string, uint32_t>> seen;
  config.begin_child = [&](const Kernel& kernel, LaunchConfig& child) {
    seen.emplace_back(kernel.display_name.substr(0, 4), child.grid.x * 1000 + child.dynamic_shared);
  };
  const std::vector<int> out = run("parent", 8, {1, 1, 1}, {32, 1, 1});
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(out[i], 16) << i;
    EXPECT_EQ(out[8 + i], 1) << i;
  }
  EXPECT_THAT(seen, ElementsAre(std::pair("step", 1000u), std::pair("step", 1000u), std::pair("step", 4064u),
                                std::pair("step", 1000u)));
  EXPECT_FALSE(result.failed);
}

TEST_F(DeviceLaunch, EachGridHasItsOwnObserver) {
  CountingObserver parent, children;
  config.threads = 1;
  config.observer = [&](uint32_t) { return &parent; };
  (void)run("parent", 8);
  const uint64_t alone = parent.accesses;
  EXPECT_EQ(children.accesses, 0u);
  config.begin_child = [&](const Kernel&, LaunchConfig& child) {
    child.observer = [&](uint32_t) { return &children; };
  };
  uint64_t ended = 0;
  config.end_child = [&](const Kernel&, const LaunchConfig&, const LaunchResult& child) {
    ended += child.warp_instructions;
  };
  (void)run("parent", 8);
  EXPECT_EQ(parent.accesses, 2 * alone);
  // A load and a store of each warp: three grids of one block and one of four.
  EXPECT_EQ(children.accesses, 2u * 7);
  EXPECT_GT(ended, 0u);
}

TEST_F(DeviceLaunch, GenerationsEndWhereThoseOfAnH100End) {
  const std::vector<int> most = run("nested", 2048);
  EXPECT_THAT(std::vector(most.begin(), most.begin() + 3), ElementsAre(2049, 0, 0));
  const std::vector<int> more = run("nested", 2050);
  EXPECT_THAT(std::vector(more.begin(), more.begin() + 3), ElementsAre(2049, 69, 2));
}

TEST_F(DeviceLaunch, TailLaunchesRepeatWithoutEnd) { EXPECT_EQ(run("repeat", 3000)[0], 3000); }

TEST_F(DeviceLaunch, RefusedLaunchesAreErrorsOfTheirThread) {
  std::string printed;
  config.print = [&](const std::string& text) { printed += text; };
  const std::vector<int> out = run("refused");
  EXPECT_EQ(out[0], 0);
  EXPECT_THAT(std::vector(out.begin() + 1, out.begin() + 4), ElementsAre(9, 9, 0));
  EXPECT_EQ(printed, "cudaErrorInvalidConfiguration: invalid configuration argument\n");
}

TEST_F(DeviceLaunch, CopiesAndSetsComeInTheirTurn) {
  const std::vector<int> out = run("copies");
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(out[i], 0x01010101) << i;
  EXPECT_EQ(out[5], 1);
}

TEST_F(DeviceLaunch, WhatTheRuntimeGivesThroughAPointerIsWritten) {
  config.checks.init = true;
  for (const char* name : {"parent", "copies"}) {
    run(name, 4, {1, 1, 1}, {32, 1, 1});
    EXPECT_TRUE(result.findings.empty()) << name << ": " << result.findings.front().message;
  }
}

TEST_F(DeviceLaunch, ManyBlocksLaunchAtOnce) {
  std::vector<uint64_t> grids;
  config.threads = 4;
  config.begin_child = [&](const Kernel&, LaunchConfig& child) { grids.push_back(child.grid.count()); };
  const std::vector<int> out = run("parent", 8, {50, 1, 1}, {32, 1, 1});
  EXPECT_EQ(grids.size(), 200u);
  EXPECT_NE(out[0], 0);
}

/// A kernel k that launches the kernel `child` with one block of one thread and the address `out`.
std::string launching(const std::string& child, const std::string& child_body) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 "
         "g[12], "
         ".param .align 4 .b8 b[12], .param .b32 s);\n"
         ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
         ".visible .entry child(.param .u64 out)\n{\n.reg .b64 %d<4>;\n" +
         child_body +
         "ret;\n}\n.visible .func none() { ret; }\n.visible .entry k(.param .u64 out)\n{\n.reg .b64 %d<4>; "
         ".reg .b32 %r<4>; .reg .pred %p<2>;\n"
         "ld.param.u64 %d1, [out];\n"
         "{ .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 "
         "x;\n"
         "mov.u64 %d2, " +
         child +
         ";\nst.param.b64 [f], %d2;\n"
         "st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;\n"
         "st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;\n"
         "call (x), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\nld.param.b64 %d3, [x];\n}\n"
         "setp.eq.u64 %p1, %d3, 0;\n@%p1 st.global.u32 [%d1+4], 7;\n@%p1 ret;\nst.u64 [%d3], %d1;\n"
         "{ .param .b64 p; .param .b64 s; .param .b32 x; st.param.b64 [p], %d3; st.param.b64 [s], 0;\n"
         "call (x), __cudaCDP2LaunchDeviceV2, (p, s);\nld.param.b32 %r1, [x];\n}\nst.global.u32 [%d1], "
         "%r1;\nret;\n}\n";
}

LaunchResult run_text(const std::string& text, std::vector<uint32_t>& words, LaunchConfig config = {}) {
  Memory memory;
  Image image(std::make_shared<ptx::Module>(ptx::parse(text, "test.ptx")), memory);
  const uint64_t out = memory.allocate(16, "out");
  config.params.resize(8);
  std::memcpy(config.params.data(), &out, 8);
  const LaunchResult result = image.launch(image.kernel("k"), config);
  words.resize(4);
  std::memcpy(words.data(), reinterpret_cast<const void*>(out), 16);
  return result;
}

/// Those of CUDA 12 (with another name in CUDA 11) are the engine's, whatever the library for kernels has for
/// them.
TEST(DeviceLaunchOlder, FunctionsThatCallTheDevicesSystemAreNotRun) {
  for (const std::string prefix : {"__cudaCDP2", "cuda"}) {
    std::string text = launching("child", "ld.param.u64 %d1, [out];\nst.global.u32 [%d1+8], 5;\n");
    for (size_t at = 0; (at = text.find("__cudaCDP2", at)) != std::string::npos; at += prefix.size())
      text.replace(at, 10, prefix);
    const std::string declared =
        ".extern .func (.param .b32 r) " + prefix + "LaunchDeviceV2(.param .b64 p, .param .b64 s);\n";
    const size_t at = text.find(declared);
    ASSERT_NE(at, std::string::npos);
    text.replace(
        at, declared.size(),
        ".extern .func (.param .b32 r) __cuda_syscall_launch(.param .b64 p);\n"
        ".visible .func (.param .b32 r) " +
            prefix +
            "LaunchDeviceV2(.param .b64 p, .param .b64 s)\n{\n"
            ".reg .b64 %d<2>; .reg .b32 %r<2>;\nld.param.b64 %d1, [p];\n"
            "{ .param .b64 q; .param .b32 x; st.param.b64 [q], %d1; call (x), __cuda_syscall_launch, (q);\n"
            "ld.param.b32 %r1, [x]; }\nst.param.b32 [r], %r1;\nret;\n}\n");
    std::vector<uint32_t> words;
    EXPECT_FALSE(run_text(text, words).failed) << prefix;
    EXPECT_EQ(words[0], 0u) << prefix;
    EXPECT_EQ(words[2], 5u) << prefix;
  }
}

TEST(DeviceLaunchFailure, ADefectOfAChildFailsTheLaunchAndIsTheChilds) {
  LaunchConfig config;
  std::vector<Finding> findings;
  config.end_child = [&](const Kernel& kernel, const LaunchConfig&, const LaunchResult& ended) {
    EXPECT_EQ(kernel.name, "child");
    findings = ended.findings;
  };
  std::vector<uint32_t> words;
  const LaunchResult result =
      run_text(launching("child", "ld.param.u64 %d1, [out];\nst.global.u32 [%d1+16], 1;\n"), words, config);
  EXPECT_TRUE(result.failed);
  EXPECT_TRUE(result.findings.empty());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, Finding::Kind::out_of_bounds);
}

TEST(DeviceLaunchFailure, AFunctionThatIsNoKernelIsNotLaunched) {
  std::vector<uint32_t> words;
  EXPECT_FALSE(run_text(launching("none", ""), words).failed);
  EXPECT_THAT(words, ElementsAre(0, 7, 0, 0));
}

TEST(DeviceLaunchFailure, AKernelThatCannotRunIsAnError) {
  std::vector<uint32_t> words;
  std::string text = launching("child", "call nobody;\n");
  text.insert(text.find(".visible .entry child"), ".extern .func nobody();\n");
  try {
    run_text(text, words);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("nobody"));
  }
}

TEST(DeviceLaunchFailure, WrongDeclarationsAreRefused) {
  std::string text = launching("child", "");
  const std::string right = "(.param .b64 p, .param .b64 s)";
  text.replace(text.find(right), right.size(), "(.param .b64 p, .param .b32 s)");
  const std::string argument = ".param .b64 p; .param .b64 s;";
  text.replace(text.find(argument), argument.size(), ".param .b64 p; .param .b32 s;");
  text.replace(text.find("st.param.b64 [s], 0"), 19, "st.param.b32 [s], 0");
  std::vector<uint32_t> words;
  try {
    run_text(text, words);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("declared with other parameters"));
  }
}

}  // namespace
}  // namespace lanescope::exec
