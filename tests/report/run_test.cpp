// lanescope/run.hpp and lanescope/gtest.hpp, as tests of kernels use them: results, costs, findings, errors.
#include <gtest/gtest.h>

#include <fstream>
#include <lanescope/gtest.hpp>
#include <numeric>

#include "base/files.hpp"

namespace lanescope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string reference(const std::string& name) {
  return std::string(LANESCOPE_SOURCE_DIR) + "/kernels/ptx/" + name;
}

/// The transpose of a 64 x 64 matrix by a kernel of kernels/transpose.cu.
KernelLaunch transpose(const std::string& kernel) {
  return {.ptx = reference("transpose.ptx"), .kernel = kernel, .grid = {2, 2}, .block = {32, 8}};
}

Profile run_transpose(const KernelLaunch& launch) {
  std::vector<float> out(64 * 64);
  const std::vector<float> in(64 * 64, 1.0f);
  return run(launch, out, in, 64, 64);
}

/// A PTX file with one kernel: one block of 64 threads.
class WrittenKernel {
 public:
  explicit WrittenKernel(const std::string& body) {
    std::ofstream(path_) << ".version 8.0\n.target sm_90\n.address_size 64\n"
                            ".visible .entry k(.param .u64 out) {\n"
                            "  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<8>;\n"
                            "  .shared .align 4 .b8 s[256];\n"
                            "  ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1;\n"
                            "  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;\n"
                            "  mov.u32 %r3, s; add.u32 %r4, %r3, %r2;\n"
                            "  cvt.u64.u32 %d2, %r2; add.u64 %d2, %d1, %d2;\n"
                         << body << "  ret;\n}\n";
  }
  [[nodiscard]] KernelLaunch launch() const { return {.ptx = path_, .kernel = "k", .block = {64}}; }

 private:
  std::string path_ = ::testing::TempDir() + "run_test_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".ptx";
};

/// What run() says of a launch that cannot be.
template <class... Arguments>
std::string refusal(const KernelLaunch& launch, Arguments&&... arguments) {
  try {
    (void)run(launch, arguments...);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "ran";
}

TEST(Run, WritesBackWhatTheKernelWroteAndNothingElse) {
  std::vector<float> out(64 * 64, -1.0f);
  std::vector<float> in(64 * 64);
  std::iota(in.begin(), in.end(), 0.0f);
  const std::vector<float> before = in;
  const Profile profile = run(transpose("transpose_tile33"), out, in, 64, 64);
  for (size_t i = 0; i < 64; ++i)
    for (size_t j = 0; j < 64; ++j) ASSERT_EQ(out[i * 64 + j], in[j * 64 + i]);
  EXPECT_EQ(in, before);
  EXPECT_TRUE(profile.ok());
  EXPECT_THAT(profile.kernel(), HasSubstr("transpose_tile33"));
  EXPECT_THAT(profile.advice(), IsEmpty());
}

TEST(Run, AdviceNamesTheChangeAndItsEffect) {
  const Profile profile = run_transpose(transpose("transpose_tile32"));
  ASSERT_THAT(profile.advice(), Not(IsEmpty()));
  EXPECT_THAT(profile.advice().front(), HasSubstr("kernels/transpose.cu:"));
  EXPECT_THAT(profile.advice().front(), HasSubstr("Wavefronts of tile: 4,224 → 256"));
}

TEST(Run, TheMatcherForConflictsEndsWithTheBestChange) {
  const Profile profile = run_transpose(transpose("transpose_tile32"));
  ::testing::StringMatchResultListener said;
  EXPECT_FALSE(::testing::ExplainMatchResult(conflict_free(), profile, &said));
  EXPECT_THAT(said.str(), HasSubstr("4096 wavefronts instead of 128, 32-way"));
  EXPECT_THAT(said.str(), HasSubstr("advice: " + profile.advice().front()));
}

TEST(Run, MergesAccessesUnlessToldNotTo) {
  std::vector<float> a(32 * 32), b(32 * 32), c(32 * 32);
  KernelLaunch launch = {.ptx = std::string(LANESCOPE_SOURCE_DIR) + "/tests/data/accuracy/matmul.ptx",
                         .kernel = "matmul_16",
                         .grid = {2, 2},
                         .block = {16, 16}};
  const uint64_t merged = run(launch, a, b, c, 32).wavefronts();
  launch.merge = false;
  EXPECT_LT(merged, run(launch, a, b, c, 32).wavefronts());
}

TEST(Run, ChecksFindARaceAndOnlyWhenAskedFor) {
  const WrittenKernel kernel(
      "  st.shared.u32 [%r4], %r1; ld.shared.u32 %r5, [%r3]; st.global.u32 [%d2], %r5;\n");
  std::vector<uint32_t> out(64);
  KernelLaunch launch = kernel.launch();
  EXPECT_THAT(run(launch, out), clean());
  launch.checks = "race,init";
  const Profile profile = run(launch, out);
  EXPECT_TRUE(profile.ok());
  EXPECT_THAT(profile, Not(clean()));
  EXPECT_THAT(profile.findings(), ElementsAre(HasSubstr("race")));
}

TEST(Run, AKernelThatReadsBeyondItsArgumentIsNotOk) {
  const WrittenKernel kernel("  ld.global.u32 %r5, [%d2+4]; st.global.u32 [%d2], %r5;\n");
  std::vector<uint32_t> out(64, 7);
  const Profile profile = run(kernel.launch(), out);
  EXPECT_FALSE(profile.ok());
  EXPECT_THAT(profile.findings(), ElementsAre(HasSubstr("out-of-bounds")));
  EXPECT_EQ(out[62], 7u);
}

TEST(Run, ClustersAreLaunched) {
  const WrittenKernel kernel(
      "  mov.u32 %r6, %cluster_nctarank; mov.u32 %r7, %ctaid.x; setp.eq.u32 %p1, %r7, 0;\n"
      "  @%p1 st.global.u32 [%d2], %r6;\n");
  std::vector<uint32_t> out(64);
  KernelLaunch launch = kernel.launch();
  launch.grid = {4};
  (void)run(launch, out);
  EXPECT_EQ(out[5], 1u);
  launch.cluster = {2, 1, 1};
  (void)run(launch, out);
  EXPECT_EQ(out[5], 2u);
  launch.cluster = {3, 1, 1};
  EXPECT_THAT(refusal(launch, out), HasSubstr("cluster"));
  launch.cluster = {2, 0, 1};
  EXPECT_THAT(refusal(launch, out), HasSubstr("the cluster 2x0x1 has no blocks"));
}

TEST(Run, SaysWhatCannotRun) {
  std::vector<float> out(64 * 64), in(64 * 64);
  const KernelLaunch right = transpose("transpose_tile33");
  KernelLaunch launch = right;
  launch.ptx = "no/such.ptx";
  EXPECT_THAT(refusal(launch, out, in, 64, 64), HasSubstr("no/such.ptx"));
  launch = right;
  launch.kernel = "transpose_tile34";
  EXPECT_THAT(refusal(launch, out, in, 64, 64), HasSubstr("transpose_tile34"));
  launch = right;
  launch.arch = "sm_900";
  EXPECT_THAT(refusal(launch, out, in, 64, 64), HasSubstr("'sm_900'; the nearest is 'sm_90'"));
  launch = right;
  launch.checks = "races";
  EXPECT_THAT(refusal(launch, out, in, 64, 64), HasSubstr("races"));
  launch = right;
  launch.block = {1025};
  EXPECT_THAT(refusal(launch, out, in, 64, 64), HasSubstr("1025"));
  EXPECT_THAT(refusal(right, out, in, 64), HasSubstr("takes 4 arguments, 3 are given"));
  EXPECT_THAT(refusal(right, out, in, 64, uint64_t{64}),
              HasSubstr("argument 3 (from 0) has 8 bytes, the parameter has 4"));
}

/// The kernel whose counters an H100 told (tests/data/accuracy/measured.csv), one of its 24 blocks.
TEST(Run, AtomicsThatAreLoopsAreCountedAndAdvisedAsSuch) {
  std::vector<float> out(4096);
  const std::vector<float> in(1024);
  const Profile profile = run({.ptx = std::string(LANESCOPE_SOURCE_DIR) + "/tests/data/accuracy/atomics.ptx",
                               .kernel = "columns_float",
                               .grid = {1},
                               .block = {128}},
                              out, in);
  EXPECT_EQ(out[5 * 32 + 8], 2.0f);
  const std::string path = ::testing::TempDir() + "run_test_loops.json";
  std::ofstream(path) << profile.json();
  for (const Profile& p : {profile, read_profiles(path).front()}) {
    EXPECT_EQ(p.metric("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"), 24576 / 24);
    EXPECT_EQ(p.metric("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), 205824 / 24);
    EXPECT_EQ(p.metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"), 190464 / 24);
    EXPECT_EQ(p.metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"), 0);
    EXPECT_EQ(p.metric("inst_executed_shared_atomics"), 4 * 4 * 32);
    EXPECT_EQ(p.lines().front().requests, 16u);
    ASSERT_THAT(p.advice(), Not(IsEmpty()));
    EXPECT_THAT(p.advice().front(), HasSubstr("Wavefronts of tile: 9,728 → 304,"));
  }
}

TEST(Run, WhatWasNotCountedIsNotFreeOfConflicts) {
  std::string json = run_transpose(transpose("transpose_tile33")).json();
  const std::string counted = "\"counted\": true";
  const auto saved = [&](const std::string& instead) {
    const std::string path = ::testing::TempDir() + "run_test_not_counted.json";
    std::string text = json;
    std::ofstream(path) << text.replace(text.find(counted), counted.size(), instead);
    return read_profiles(path).front();
  };
  EXPECT_THAT(saved(counted), AllOf(conflict_free(), coalesced(), at_most_ways(1)));
  EXPECT_TRUE(saved(counted).uniform());
  for (const std::string instead : {"\"counted\": false", "\"counted\": true, \"sampled\": true"}) {
    EXPECT_THAT(saved(instead), AllOf(Not(conflict_free()), Not(coalesced()), Not(at_most_ways(1))));
    EXPECT_FALSE(saved(instead).uniform());
  }
  const Profile tensor = saved("\"counted\": true, \"uncounted\": \"what tcgen05 reads\"");
  EXPECT_THAT(tensor, AllOf(Not(conflict_free()), coalesced()));
  ::testing::StringMatchResultListener said;
  EXPECT_FALSE(::testing::ExplainMatchResult(conflict_free(), tensor, &said));
  EXPECT_THAT(said.str(), HasSubstr("what tcgen05 reads is not counted"));
}

TEST(Run, SavedReportsAreReadBack) {
  const Profile profile = run_transpose(transpose("transpose_tile32"));
  const std::string path = ::testing::TempDir() + "run_test_saved.json";
  std::ofstream(path) << profile.json();
  const std::vector<Profile> read = read_profiles(path);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].text(), profile.text());
  EXPECT_EQ(read[0].advice(), profile.advice());
  EXPECT_EQ(read[0].wavefronts(), profile.wavefronts());
  EXPECT_EQ(read[0].metric("shared_ld_bank_conflict"), profile.metric("shared_ld_bank_conflict"));
  EXPECT_THROW((void)profile.metric("shared_ld_bank_conflicts"), std::runtime_error);
}

}  // namespace
}  // namespace lanescope
