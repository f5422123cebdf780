// Advice on the reference kernels: what is advised, that its prediction is what the cured kernel really
// costs, and that clean kernels get none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advise/advise.hpp"
#include "kernels/engine.hpp"

namespace lanescope::kernels {
namespace {

using ::testing::HasSubstr;

const model::Arch& sm_90() { return *model::find_arch("sm_90"); }

struct Advised {
  std::vector<advise::Advice> advice;
  uint64_t wavefronts = 0;
};

Advised advise_on(const std::string& program, const std::string& kernel, Dim grid, Dim block,
                  std::vector<Argument> arguments,
                  profile::RecordBlocks record = profile::RecordBlocks::some) {
  Program loaded("kernels/ptx/" + program + ".ptx");
  const Case c{program, kernel, "", grid, block, 0, std::move(arguments), {}};
  const Outcome run = run_kernel(loaded, c, &sm_90(), 0, record);
  EXPECT_FALSE(run.result.failed);
  const exec::Kernel& decoded = loaded.image().kernel(kernel);
  advise::Sources sources(std::string(LANESCOPE_SOURCE_DIR) + "/kernels/ptx/" + program + ".ptx");
  const BlockCost cost = cost_of(run.profile);
  return {advise::advise({sm_90(),
                          loaded.image().module(),
                          decoded,
                          {block.x, block.y, block.z},
                          decoded.static_shared,
                          0,
                          run.profile},
                         sources),
          cost.load.wavefronts + cost.store.wavefronts};
}

Advised reduction(const std::string& kernel, uint32_t n = 1u << 20) {
  return advise_on("reduce", kernel, {n / 256}, {256},
                   {scratch(uint64_t{n} * 4), scratch(n / 256 * 4), scalar(n)});
}
Advised transpose(const std::string& kernel, Dim block, uint32_t tile, uint32_t size = 1024,
                  profile::RecordBlocks record = profile::RecordBlocks::some) {
  const Argument matrix = scratch(uint64_t{size} * size * 4);
  return advise_on("transpose", kernel, {size / tile, size / tile}, block,
                   {matrix, matrix, scalar(static_cast<int>(size)), scalar(static_cast<int>(size))}, record);
}

TEST(Advice, SequentialAddressingCostsWhatItSays) {
  const Advised before = reduction("reduce_interleaved"), after = reduction("reduce_sequential");
  ASSERT_EQ(before.advice.size(), 1u);
  const advise::Advice& advice = before.advice.front();
  EXPECT_EQ(advice.kind, advise::Advice::Kind::sequential_addressing);
  EXPECT_EQ(advice.variable, "d");
  EXPECT_EQ(advice.wavefronts_before, before.wavefronts);
  EXPECT_EQ(advice.wavefronts_after, after.wavefronts);
  EXPECT_FALSE(advice.estimate);
  EXPECT_TRUE(after.advice.empty());
}

TEST(Advice, PaddingAndSwizzleCostWhatTheySay) {
  const Advised before = transpose("transpose_tile32", {32, 8}, 32);
  ASSERT_EQ(before.advice.size(), 2u);
  EXPECT_EQ(before.advice[0].layout, advise::Layout(advise::RowPadding{1}));
  EXPECT_EQ(before.advice[0].wavefronts_before, before.wavefronts);
  EXPECT_EQ(before.advice[0].wavefronts_after, transpose("transpose_tile33", {32, 8}, 32).wavefronts);
  EXPECT_EQ(before.advice[0].shared_bytes_after, 4224u);
  EXPECT_EQ(before.advice[1].layout, advise::Layout(advise::Swizzle{4, {1, 2, 4, 8, 16}}));
  EXPECT_EQ(before.advice[1].wavefronts_after, transpose("transpose_swizzled", {32, 8}, 32).wavefronts);
  EXPECT_THAT(before.advice[1].change, HasSubstr("c ^ (r & 31)"));
  for (const advise::Advice& advice : before.advice) EXPECT_FALSE(advice.estimate);
}

TEST(Advice, SomeBlocksTellAsMuchAsAll) {
  const Advised some = transpose("transpose_tile16", {16, 16}, 16),
                all = transpose("transpose_tile16", {16, 16}, 16, 1024, profile::RecordBlocks::all);
  ASSERT_EQ(some.advice.size(), all.advice.size());
  ASSERT_FALSE(all.advice.empty());
  for (size_t i = 0; i < all.advice.size(); ++i) {
    EXPECT_EQ(some.advice[i].change, all.advice[i].change);
    EXPECT_EQ(some.advice[i].wavefronts_after, all.advice[i].wavefronts_after);
    EXPECT_FALSE(some.advice[i].estimate);
  }
}

/// Blocks at the edge do less than the others; what is not recorded must not be counted as if it were like
/// them.
TEST(Advice, SaysWhenBlocksDiffer) {
  const Argument matrix = scratch(uint64_t{1000} * 1000 * 4);
  const Advised edge = advise_on("transpose", "transpose_tile32", {32, 32}, {32, 8},
                                 {matrix, matrix, scalar(1000), scalar(1000)});
  ASSERT_FALSE(edge.advice.empty());
  EXPECT_TRUE(edge.advice.front().estimate);
}

TEST(Advice, NoneOnCleanKernels) {
  for (const char* kernel :
       {"copy", "copy_shared", "transpose_naive", "transpose_tile33", "transpose_swizzled"})
    EXPECT_TRUE(transpose(kernel, {32, 8}, 32).advice.empty()) << kernel;
  for (const char* kernel : {"copy_16", "copy_shared_16"})
    EXPECT_TRUE(transpose(kernel, {16, 16}, 16).advice.empty()) << kernel;
  for (const char* kernel : {"reduce_divergent", "reduce_sequential", "reduce_first_add", "reduce_shuffle"})
    EXPECT_TRUE(reduction(kernel).advice.empty()) << kernel;
}

}  // namespace
}  // namespace lanescope::kernels
