// The least times of a launch, by hand.
#include "report/bounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanescope/model/archs.hpp"
#include "report/text.hpp"

namespace lanescope::report {
namespace {

static_assert(model::chip_of("sm_90a")->name == "H100 SXM5");
static_assert(model::chip_of("sm_90")->multiprocessors == 132);
static_assert(model::chip_of("sm_100") == nullptr);  // is not sm_10, and not told of
static_assert(model::chip_of("sm_9") == nullptr);
static_assert(model::chip_of("gfx942") == nullptr);

constexpr Rates rates{
    .multiprocessors = 10, .clock_hz = 1e6, .bytes_per_second = 1e9, .warp_instructions_per_cycle = 4};

Launch counted_launch(uint32_t blocks) {
  Launch launch;
  launch.counted = true;
  launch.grid = {blocks, 1, 1};
  launch.warp_instructions = 4000;
  launch.totals.shared_load.wavefronts = 320;
  launch.totals.shared_load.ideal = 10;
  launch.totals.global_store.sectors = 100;
  launch.totals.global_store.l1_wavefronts = 20;
  launch.totals.global_store.l1_ideal = 20;
  launch.totals.local_load.l1_wavefronts = 7;
  launch.totals.local_load.l1_ideal = 7;
  launch.totals.local_load.sectors = 28;
  return launch;
}

TEST(Bounds, OfEachKind) {
  const std::vector<Bound> list = bounds(counted_launch(1000), rates);
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].kind, Bound::Kind::memory);  // what spills is taken to stay in the caches
  EXPECT_DOUBLE_EQ(list[0].seconds, 100 * 32 / 1e9);
  EXPECT_EQ(list[1].kind, Bound::Kind::data_stage);
  EXPECT_EQ(list[1].count, 347U);
  EXPECT_DOUBLE_EQ(list[1].seconds, 347 / 1e7);
  EXPECT_EQ(list[2].kind, Bound::Kind::without_conflicts);
  EXPECT_DOUBLE_EQ(list[2].seconds, 37 / 1e7);
  EXPECT_EQ(list[3].kind, Bound::Kind::issue);
  EXPECT_DOUBLE_EQ(list[3].seconds, 4000 / 4e7);
}

TEST(Bounds, ShufflesGoThroughTheDataStage) {
  Launch launch = counted_launch(1000);
  launch.shuffles = 100;
  const std::vector<Bound> list = bounds(launch, rates);
  EXPECT_EQ(list[1].count, 447U);
  EXPECT_EQ(list[2].count, 137U);
}

TEST(Bounds, FewBlocksUseFewMultiprocessors) {
  EXPECT_DOUBLE_EQ(bounds(counted_launch(3), rates)[1].seconds, 347 / 3e6);
  EXPECT_DOUBLE_EQ(bounds(counted_launch(3), rates)[0].seconds, 100 * 32 / 1e9);
}

TEST(Bounds, LeaveOutWhatIsNotKnown) {
  Launch launch = counted_launch(1000);
  Rates unknown = rates;
  unknown.bytes_per_second = 0;
  unknown.warp_instructions_per_cycle = 0;
  EXPECT_EQ(bounds(launch, unknown).size(), 2U);
  launch.totals.shared_load.wavefronts = 10;
  EXPECT_EQ(bounds(launch, unknown).size(), 1U) << "without conflicts it is the same";
  launch.sample_every = 2;
  EXPECT_TRUE(bounds(launch, rates).empty());
  launch.sample_every = 1;
  launch.counted = false;
  EXPECT_TRUE(bounds(launch, rates).empty());
}

/// A launch as the text has it, on an H100: 132 multiprocessors that do 1.98e9 wavefronts a second.
std::string text_of(uint64_t wavefronts, uint64_t without, uint64_t instructions, std::string arch = "sm_90",
                    advise::Advice::Kind kind = advise::Advice::Kind::layout, uint32_t blocks = 1000) {
  Report report;
  report.arch = std::move(arch);
  Launch launch = counted_launch(blocks);
  launch.totals = {};
  launch.warp_instructions = instructions;
  Line line;
  line.file = "k.cu";
  line.counters.requests = 1;
  line.counters.wavefronts = wavefronts;
  line.counters.ideal = without;
  launch.lines = {line};
  launch.totals = totals_of(launch.lines);
  advise::Advice advice;
  advice.kind = kind;
  advice.variable = "tile";
  advice.wavefronts_before = launch.totals.shared_load.wavefronts;
  advice.wavefronts_after = launch.totals.shared_load.ideal;
  launch.advice = {advice};
  report.launches = {launch};
  TextOptions options;
  options.width = 2000;
  return to_text(report, options);
}

TEST(LeastTimes, AreTold) {
  constexpr uint64_t microsecond = 132 * 1980;  // of wavefronts
  using ::testing::HasSubstr;
  using ::testing::Not;
  std::string text = text_of(20 * microsecond, 5 * microsecond, 4 * microsecond);
  EXPECT_THAT(text,
              HasSubstr("least time (H100 SXM5): 20.00 us for wavefronts (5.00 us without conflicts), about "
                        "1.00 us for instructions\n"));
  EXPECT_THAT(text, HasSubstr("The least time goes from 20.00 us to 5.00 us.\n"));
  text = text_of(20 * microsecond, 5 * microsecond, 4 * 8 * microsecond);
  EXPECT_THAT(
      text, HasSubstr("The least time goes from 20.00 us to about 8.00 us, then that of the instructions."));
  text = text_of(20 * microsecond, 5 * microsecond, 4 * 30 * microsecond);
  EXPECT_THAT(text,
              HasSubstr("The least time is that of the instructions, about 30.00 us, before and after."));
  text = text_of(20 * microsecond, 5 * microsecond, 1, "sm_90", advise::Advice::Kind::shuffles);
  EXPECT_THAT(text, HasSubstr("least time (H100"));
  EXPECT_THAT(text, Not(HasSubstr("The least time"))) << "shuffles go through the data stage, too";
  EXPECT_THAT(text_of(microsecond / 20, 1, 1), Not(HasSubstr("east time")));
  EXPECT_THAT(text_of(20 * microsecond, 5 * microsecond, 1, "sm_61"), Not(HasSubstr("east time")));
}

/// What the first-level cache does was measured on 9.0, and is taken to be so on others.
TEST(LeastTimes, AreAboutWhereTheCacheWasNotMeasured) {
  const auto text = [](const char* arch) {
    Report report = make_report(*model::find_arch(arch));
    Launch launch = counted_launch(1000);
    Line line;
    line.file = "k.cu";
    line.op = "st.global";
    line.space = exec::AccessSpace::global;
    line.kind = exec::AccessKind::store;
    line.counters.requests = 100'000;
    line.counters.l1_wavefronts = 3'200'000;
    line.counters.l1_ideal = 100'000;
    launch.lines = {line};
    launch.totals = totals_of(launch.lines);
    report.launches = {launch};
    return to_text(report, {});
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(text("sm_90"), HasSubstr(" 3,200,000 / 100,000"));
  EXPECT_THAT(text("sm_90"), HasSubstr("): 12.24 us for wavefronts (0.38 us without conflicts)"));
  EXPECT_THAT(text("sm_80"), HasSubstr(" ~3,200,000 / 100,000"));
  EXPECT_THAT(text("sm_80"), HasSubstr("): about 21.01 us for wavefronts (0.66 us without conflicts)"));
}

/// One block on a chip with 132 multiprocessors is told of where it takes time.
TEST(LeastTimes, SayWhatTheGridDoesNotReach) {
  using ::testing::HasSubstr;
  using ::testing::Not;
  constexpr uint64_t microsecond = 1980;  // of wavefronts of one multiprocessor
  const auto text = [](uint64_t microseconds, uint32_t blocks) {
    return text_of(microseconds * microsecond, microsecond, 1, "sm_90", advise::Advice::Kind::layout, blocks);
  };
  EXPECT_THAT(text(10, 1),
              HasSubstr("The grid has 1 block: 131 of the 132 multiprocessors have nothing to do in it."));
  EXPECT_THAT(text(9, 1), Not(HasSubstr("nothing to do")));
  EXPECT_THAT(text(10 * 131, 131),
              HasSubstr("The grid has 131 blocks: 1 of the 132 multiprocessors has nothing to do in it."));
  EXPECT_THAT(text(10 * 132, 132), Not(HasSubstr("nothing to do")));
}

}  // namespace
}  // namespace lanescope::report
