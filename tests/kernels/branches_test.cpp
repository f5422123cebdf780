// Divergence of the reference reductions against what their indices say.
#include <gtest/gtest.h>

#include <bit>

#include "kernels/engine.hpp"

namespace lanescope::kernels {
namespace {

struct Counted {
  exec::BranchCounts sum;
  exec::LaunchResult result;
  const exec::Kernel* kernel = nullptr;
  profile::Profile profile;
};

/// One kernel of reduce.ptx, blocks of 256 threads, one element each.
Counted count(Program& program, const std::string& kernel, uint32_t blocks, uint32_t threads) {
  const uint32_t n = blocks * 256;
  const Case c{"reduce",
               kernel,
               "",
               {blocks},
               {256},
               0,
               {scratch(uint64_t{n} * 4), scratch(uint64_t{blocks} * 4), scalar(n)},
               {}};
  const Outcome run = run_kernel(program, c, model::find_arch("sm_90"), threads);
  Counted counted;
  for (const profile::BranchCounters& branch : run.profile.branches) counted.sum.add(branch.counts);
  counted.result = run.result;
  counted.kernel = &program.image().kernel(kernel);
  counted.profile = run.profile;
  return counted;
}

/// Warps of a block in which some threads, but not all, are active.
uint64_t divergent_warps(bool (*active)(uint32_t tid, uint32_t s), uint32_t s) {
  uint64_t count = 0;
  for (uint32_t warp = 0; warp < 8; ++warp) {
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) lanes += active(warp * 32 + lane, s) ? 1 : 0;
    count += lanes != 0 && lanes != 32 ? 1 : 0;
  }
  return count;
}

/// Over all steps, and the warp whose thread 0 alone stores the result.
uint64_t expected(bool (*active)(uint32_t, uint32_t)) {
  uint64_t count = 1;
  for (uint32_t s = 1; s < 256; s *= 2) count += divergent_warps(active, s);
  return count;
}

TEST(Branches, OfReductionsDivergeAsTheirIndicesSay) {
  Program program("kernels/ptx/reduce.ptx");
  constexpr uint32_t blocks = 3;
  EXPECT_EQ(count(program, "reduce_divergent", blocks, 1).sum.divergent,
            blocks * expected([](uint32_t tid, uint32_t s) { return tid % (2 * s) == 0; }));
  EXPECT_EQ(count(program, "reduce_interleaved", blocks, 1).sum.divergent,
            blocks * expected([](uint32_t tid, uint32_t s) { return 2 * s * tid < 256; }));
  EXPECT_EQ(count(program, "reduce_sequential", blocks, 1).sum.divergent,
            blocks * expected([](uint32_t tid, uint32_t s) { return tid < s; }));
}

TEST(Branches, CountsDoNotDependOnHostThreads) {
  Program program("kernels/ptx/reduce.ptx");
  const Counted one = count(program, "reduce_divergent", 64, 1),
                many = count(program, "reduce_divergent", 64, 4);
  EXPECT_EQ(one.profile.branches, many.profile.branches);
  EXPECT_EQ(one.result.lane_instructions, many.result.lane_instructions);
}

TEST(Branches, LanesThatWaitAreCounted) {
  Program program("kernels/ptx/reduce.ptx");
  const Counted run = count(program, "reduce_divergent", 1, 1);
  EXPECT_LT(run.result.lane_instructions, 32 * run.result.warp_instructions);
  for (const profile::BranchCounters& branch : run.profile.branches) {
    const exec::BranchCounts& c = branch.counts;
    EXPECT_LE(c.idle, 31 * c.apart);
    if (c.divergent == 0) {
      EXPECT_EQ(c.apart, 0u);
    }
    if (c.splits != 0) {
      EXPECT_EQ(c.block, 0u);
      EXPECT_NE(c.split[0].taken, 0u);
      EXPECT_NE(c.split[0].taken, c.split[0].active);
      EXPECT_EQ(c.split[0].taken & ~c.split[0].active, 0u);
    }
  }
  uint64_t idle = 0;
  for (const profile::BranchCounters& branch : run.profile.branches) idle += branch.counts.idle;
  EXPECT_GT(idle, 0u);
  EXPECT_LE(idle, 32 * run.result.warp_instructions - run.result.lane_instructions);
}

}  // namespace
}  // namespace lanescope::kernels
