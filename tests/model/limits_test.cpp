// Occupancy against numbers that the occupancy calculator of CUDA gives, and each of its limits by itself.
#include "lanescope/model/limits.hpp"

#include <gtest/gtest.h>

#include "lanescope/model/archs.hpp"

namespace lanescope::model {
namespace {

constexpr bool is(const char* arch, int threads, int registers, int shared, int blocks, Limiter limiter) {
  const Occupancy o = occupancy(limits_of(arch), threads, registers, shared);
  return o.blocks == blocks && o.limiter == limiter;
}

// 1.x hands registers to blocks: 10 registers, 256 threads on 1.0, in multiples of 256, are 2,560 of 8,192.
static_assert(is("sm_10", 256, 10, 0, 3, Limiter::threads) && is("sm_10", 256, 11, 0, 2, Limiter::registers));
static_assert(is("sm_13", 256, 16, 0, 4, Limiter::threads) && is("sm_13", 256, 17, 0, 3, Limiter::registers));
static_assert(is("sm_13", 64, 10, 4096, 4, Limiter::shared) && is("sm_13", 64, 10, 0, 8, Limiter::blocks));
// 2.x hands them to warps, in multiples of 64.
static_assert(is("sm_20", 256, 20, 4096, 6, Limiter::threads) &&
              is("sm_20", 256, 22, 0, 5, Limiter::registers));
static_assert(is("sm_20", 64, 16, 0, 8, Limiter::blocks) && is("sm_20", 256, 64, 0, 0, Limiter::registers));
// 9.0: 40 registers are 1,280 a warp, of which 12 fit each of the four parts.
static_assert(is("sm_90", 256, 32, 0, 8, Limiter::threads) && is("sm_90", 256, 40, 0, 6, Limiter::registers));
static_assert(is("sm_90", 256, 255, 0, 1, Limiter::registers) &&
              is("sm_90", 1024, 65, 0, 0, Limiter::registers));
static_assert(is("sm_90", 32, 16, 0, 32, Limiter::blocks) && is("sm_90", 256, 256, 0, 0, Limiter::registers));
// Each block's share holds 1 KiB of the system's since 8.0.
static_assert(is("sm_90", 128, 0, 48 * 1024, 4, Limiter::shared));
static_assert(is("sm_90", 128, 0, 227 * 1024, 1, Limiter::shared) &&
              is("sm_90", 128, 0, 227 * 1024 + 1, 0, Limiter::shared));
static_assert(is("sm_86", 128, 0, 24 * 1024, 4, Limiter::shared) &&
              is("sm_75", 128, 0, 16 * 1024, 4, Limiter::shared));
static_assert(is("sm_86", 1024, 32, 0, 1, Limiter::threads) && is("sm_75", 1025, 0, 0, 0, Limiter::threads));
// Of half as many registers a block: 53 and 62.
static_assert(is("sm_53", 1024, 40, 0, 0, Limiter::registers) &&
              is("sm_52", 1024, 40, 0, 1, Limiter::registers));

TEST(Limits, EveryArchitectureWithANameHasThem) {
  for (const Arch& arch : archs) {
    const Limits l = limits_of(arch.name);
    EXPECT_GT(l.shared_per_block, 0) << arch.name;
    EXPECT_LE(l.shared_per_block, l.shared) << arch.name;
    EXPECT_LE(l.shared_per_block_unasked, l.shared_per_block) << arch.name;
    EXPECT_GE(occupancy(l, 256, 16, 0).blocks, 1) << arch.name;
  }
  EXPECT_EQ(limits_of("sm_90a").shared_per_block, limits_of("sm_90").shared_per_block);
  EXPECT_EQ(limits_of("sm_121a").threads, 1536);
  EXPECT_EQ(limits_of("sm_107f").shared, 328 * 1024);
  EXPECT_EQ(limits_of("sm_107f").blocks, 16);
}

// More registers, threads or bytes never let more blocks in.
TEST(Limits, OccupancyFallsWithWhatABlockTakes) {
  for (const Arch& arch : archs) {
    const Limits l = limits_of(arch.name);
    for (int threads = 32; threads <= 1024; threads += 32) {
      int last = l.blocks;
      for (int registers = 1; registers <= 256; ++registers) {
        const int now = occupancy(l, threads, registers, 0).blocks;
        EXPECT_LE(now, last) << arch.name << ' ' << threads << ' ' << registers;
        last = now;
      }
    }
    int last = l.blocks;
    for (int shared = 0; shared <= l.shared_per_block + 512; shared += 512) {
      const int now = occupancy(l, 64, 0, shared).blocks;
      EXPECT_LE(now, last) << arch.name << ' ' << shared;
      last = now;
    }
  }
}

TEST(Limits, CarveoutsAreRoundedToSizesThatTheMultiprocessorHas) {
  const Limits h100 = limits_of("sm_90");
  const auto kib = [](const Limits& l, int percent, int shared) {
    return with_carveout(l, percent, shared).shared / 1024;
  };
  const struct {
    int percent, kib;
  } measured[] = {{0, 8},    {3, 8},    {4, 16},   {7, 16},   {10, 32},  {14, 32},  {15, 64},  {28, 64},
                  {29, 100}, {43, 100}, {44, 132}, {58, 164}, {75, 196}, {85, 196}, {86, 228}, {100, 228}};
  for (const auto& m : measured) EXPECT_EQ(kib(h100, m.percent, 0), m.kib) << m.percent;
  // A block has to fit, with what the system keeps of it.
  EXPECT_EQ(kib(h100, 0, 7 * 1024), 8);
  EXPECT_EQ(kib(h100, 0, 7 * 1024 + 1), 16);
  EXPECT_EQ(kib(h100, 0, 227 * 1024), 228);
  EXPECT_EQ(kib(limits_of("sm_107"), 70, 0), 328);
  EXPECT_EQ(kib(limits_of("sm_107"), 69, 0), 228);
  EXPECT_EQ(kib(limits_of("sm_75"), 0, 0), 32);
  EXPECT_EQ(kib(limits_of("sm_75"), 51, 0), 64);
  EXPECT_EQ(kib(limits_of("sm_61"), 0, 0), 96);  // has no L1 in there
}

}  // namespace
}  // namespace lanescope::model
