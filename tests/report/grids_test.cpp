// Launches of one kernel with many grids: what their sum says, and which formats show it.
#include "report/grids.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/formats.hpp"
#include "report/sample_report.hpp"
#include "report/text.hpp"

namespace lanescope::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The sample kernel with grids of 1x2, 2x2, … `grids`x2 blocks, each with as much work as the sample.
Report report_of(uint32_t grids) {
  Report report = synthetic::sample_report();
  report.launches.resize(grids, report.launches.front());
  for (uint32_t i = 0; i < grids; ++i) {
    report.launches[i].grid = {i + 1, 2, 1};
    report.launches[i].branches[0].counts.block = i + 1;  // (0,1,0), the first block of the second row
  }
  return report;
}

TEST(Grids, TheSumHasTheCostsOfAll) {
  Report report = report_of(3);
  report.launches[1].lines[0].counters.max_way = 16;
  report.launches[1].lines[0].why = "Sixteen meet.";
  report.launches[2].lines.pop_back();
  report.launches[2].lines[0].variable = "other";
  const std::vector<Shown> shown = with_sums(report, 2);
  ASSERT_EQ(shown.size(), 1u);
  const Launch& sum = shown[0].launch;
  EXPECT_EQ(shown[0].grids.size(), 3u);
  EXPECT_EQ(sum.launches, 3u);
  EXPECT_EQ(sum.grid, (exec::Dim3{3, 2, 1}));
  EXPECT_EQ(sum.warp_instructions, 3000u);
  ASSERT_EQ(sum.lines.size(), 4u);
  EXPECT_EQ(sum.lines[0].variable, "tile");
  EXPECT_EQ(sum.lines[0].counters.wavefronts, 1600u);
  EXPECT_EQ(sum.lines[0].counters.max_way, 16u);
  EXPECT_EQ(sum.lines[0].why, "Sixteen meet.");
  EXPECT_EQ(sum.why_shared, "Sixteen meet.");
  EXPECT_EQ(sum.lines[1].variable, "other");
  EXPECT_EQ(sum.lines[1].counters.wavefronts, 800u);
  EXPECT_EQ(sum.totals.shared_store.wavefronts, 2400u + 150);
  EXPECT_EQ(sum.totals.global_load.sectors, 640u);
  ASSERT_EQ(sum.branches.size(), 1u);
  EXPECT_EQ(sum.branches[0].counts.divergent, 45u);
  ASSERT_EQ(sum.advice.size(), 1u);
  EXPECT_EQ(sum.advice[0].wavefronts_before, 2550u);
  EXPECT_EQ(sum.advice[0].wavefronts_after, 450u);
  EXPECT_EQ(sum.advice[0].launch_wavefronts, 2550u);
  EXPECT_EQ(sum.findings.size(), 1u);
}

TEST(Grids, BlocksKeepTheirCoordinates) {
  const std::vector<Shown> shown = with_sums(report_of(5), 4);
  const Launch& sum = shown.at(0).launch;
  EXPECT_EQ(coordinates(sum.branches[0].counts.block, sum.grid), (exec::Dim3{0, 1, 0}));
}

TEST(Grids, OtherBlocksOrSharedMemoryOrKernelsAreApart) {
  Report report = report_of(4);
  report.launches[1].block = {128, 1, 1};
  report.launches[2].shared_bytes = 0;
  report.launches[3].kernel = "another";
  const std::vector<Shown> shown = with_sums(report, 1);
  ASSERT_EQ(shown.size(), 4u);
  for (const Shown& one : shown) EXPECT_TRUE(one.grids.empty());
}

TEST(Grids, TheTextShowsFourOneByOneAndMoreAsASum) {
  const std::string four = to_text(report_of(4), {}), five = to_text(report_of(5), {});
  EXPECT_EQ(count_of(four, "Advice 1"), 4u);
  EXPECT_THAT(four, Not(HasSubstr("4 grids")));
  EXPECT_EQ(count_of(five, "Advice 1"), 1u);
  EXPECT_THAT(five, HasSubstr("5 grids up to 5x2  block 64"));
  EXPECT_THAT(five, HasSubstr("sum of 5"));
  for (const char* row : {"\n  1x2", "\n  5x2"}) EXPECT_THAT(five, HasSubstr(row));
  EXPECT_THAT(to_text(report_of(20), {}),
              HasSubstr("and 4 grids of less cost: --format json has all of them"));
}

TEST(Grids, ListsOfProblemsNameALineOnce) {
  const std::string annotations = to_annotations(report_of(3));
  EXPECT_EQ(count_of(annotations, "Shared memory bank conflict"), 1u);
  EXPECT_THAT(annotations, HasSubstr("2,400 wavefronts instead of 300"));
  const auto results = [](const Report& report) {
    return nlohmann::json::parse(to_sarif(report))["runs"][0]["results"].size();
  };
  EXPECT_EQ(results(report_of(3)), results(report_of(1)));
}

}  // namespace
}  // namespace lanescope::report
