// Limits, baselines and differences: what is the same line, what is worse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "report/compare.hpp"
#include "report/limits.hpp"
#include "report/sample_report.hpp"

namespace lanescope::report {
namespace {

using synthetic::sample_report;
using synthetic::shared_line;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Identity> texts(std::initializer_list<const char*> list) {
  std::vector<Identity> identities;
  for (const char* text : list) identities.push_back({"", text});
  return identities;
}
constexpr size_t none = Pair::none;

TEST(Paired, FollowsLinesThatMove) {
  EXPECT_THAT(paired(texts({"a", "b", "c"}), texts({"new", "a", "b", "c"})),
              ElementsAre(Pair{none, 0}, Pair{0, 1}, Pair{1, 2}, Pair{2, 3}));
  EXPECT_THAT(paired(texts({"a", "b", "c"}), texts({"a", "c"})),
              ElementsAre(Pair{0, 0}, Pair{2, 1}, Pair{1, none}));
}

TEST(Paired, TakesLinesBetweenAlignedOnesForEdited) {
  EXPECT_THAT(paired(texts({"a", "b", "c"}), texts({"a", "edited", "c"})),
              ElementsAre(Pair{0, 0}, Pair{1, 1}, Pair{2, 2}));
  EXPECT_THAT(paired(texts({"a", "b", "c"}), texts({"a", "x", "y", "c"})),
              ElementsAre(Pair{0, 0}, Pair{none, 1}, Pair{none, 2}, Pair{2, 3}, Pair{1, none}));
}

TEST(Paired, FollowsLinesThatMovePastOthers) {
  EXPECT_THAT(paired(texts({"a", "b", "c"}), texts({"b", "c", "a"})),
              ElementsAre(Pair{1, 0}, Pair{2, 1}, Pair{0, 2}));
}

TEST(Paired, TellsTwinsApartByTheirOrder) {
  EXPECT_THAT(paired(texts({"a", "a"}), texts({"a", "a"})), ElementsAre(Pair{0, 0}, Pair{1, 1}));
}

TEST(Paired, KeepsGroupsApart) {
  EXPECT_THAT(paired({{"load", "a"}}, {{"store", "a"}}), ElementsAre(Pair{none, 0}, Pair{0, none}));
}

std::vector<std::string> broken(const std::string& limit, const Report& report,
                                const Report* baseline = nullptr) {
  return violations(parse_limits(limit).front(), report, baseline);
}

TEST(Limits, OfKernelsLinesAndTheRun) {
  const Report report = sample_report();
  const std::string kernel = report.launches[0].kernel;
  EXPECT_THAT(broken("max_way>4", report),
              ElementsAre("max_way>4: " + kernel + " has 8 (kernels/sample.cu:12)"));
  EXPECT_THAT(broken("max_way>8", report), IsEmpty());
  EXPECT_THAT(broken("max_way>=8", report), SizeIs(1));
  EXPECT_THAT(
      broken("line.conflicts>0", report),
      ElementsAre("line.conflicts>0: " + kernel + ": st.shared of tile has 700 (kernels/sample.cu:12)"));
  EXPECT_THAT(broken("run.conflicts>699", report),
              ElementsAre("run.conflicts>699: the run has 700 (kernels/sample.cu:12)"));
  // 850 wavefronts for 150.
  EXPECT_THAT(broken("excess>466%", report), ElementsAre(HasSubstr("has 466.7%")));
  EXPECT_THAT(broken("excess>467%", report), IsEmpty());
  EXPECT_THAT(broken("line.excess>650%", report), SizeIs(1));
  EXPECT_THAT(broken("sectors_excess>279", report), ElementsAre(HasSubstr("has 280 (kernels/sample.cu:20)")));
  EXPECT_THAT(broken("divergence>20%", report), ElementsAre(HasSubstr("has 75.0% (kernels/sample.cu:30)")));
  EXPECT_THAT(broken("idle>=50%", report), SizeIs(1));
  EXPECT_THAT(broken("errors>0", report), ElementsAre(HasSubstr("has 1 (kernels/sample.cu:40)")));
  EXPECT_THAT(broken("wavefronts<1000", report), SizeIs(1));
  EXPECT_THAT(broken("wavefronts<=849", report), IsEmpty());
}

TEST(Limits, OfLinesAreOfThoseWithSomethingToMeasure) {
  Report report = sample_report();
  EXPECT_THAT(broken("line.wavefronts<1000", report), SizeIs(2)) << "no global memory, no branch";
  EXPECT_THAT(broken("line.sectors<1000", report), SizeIs(1));
  EXPECT_THAT(broken("line.conflicts<1", report), ElementsAre(HasSubstr("kernels/sample.cu:14")));
  report.launches[0].lines[0].allowed = {{"bank-conflict", ""}};
  EXPECT_THAT(broken("line.wavefronts<1000", report), ElementsAre(HasSubstr("kernels/sample.cu:14")));
}

TEST(Limits, AllowedLinesDoNotCount) {
  Report report = sample_report();
  report.launches[0].lines[0].allowed = {{"bank-conflict", ""}};
  report.launches[0].branches[0].allowed = {{"all", ""}};
  for (const char* limit : {"max_way>4", "line.conflicts>0", "run.excess>0%", "divergence>0"})
    EXPECT_THAT(broken(limit, report), IsEmpty()) << limit;
  EXPECT_THAT(broken("sectors_excess>0", report), SizeIs(1));
}

TEST(Limits, WithABaselineOnlyWhatIsWorse) {
  const Report before = sample_report();
  Report after = sample_report();
  EXPECT_THAT(broken("max_way>4", after, &before), IsEmpty());
  EXPECT_THAT(broken("line.conflicts>0", after, &before), IsEmpty());
  after.launches[0].lines[1] = shared_line(15, 50, 16, "tile[c] = d;");
  EXPECT_THAT(broken("max_way>4", after, &before), ElementsAre(HasSubstr("has 16, before 8")));
  EXPECT_THAT(broken("line.conflicts>0", after, &before),
              ElementsAre(HasSubstr("has 750, before 0 (kernels/sample.cu:15)")));
  EXPECT_THAT(broken("run.conflicts>0", after, &before), ElementsAre(HasSubstr("has 1,450, before 700")));
  EXPECT_THAT(broken("wavefronts<2000", before, &after), SizeIs(1)) << "fewer is worse where less is refused";
  Report other = sample_report();
  other.launches[0].kernel = "other";
  EXPECT_THAT(broken("max_way>4", after, &other), ElementsAre(HasSubstr("has 16 (")));
}

TEST(Limits, AreNotHeldAgainstABaselineThatDoesNotKnow) {
  const Report now = sample_report();
  Report before = sample_report();
  before.launches[0].lines[0] = shared_line(12, 10000, 8, "tile[a] = b;");
  EXPECT_THAT(broken("wavefronts<1000", now, &now), IsEmpty());
  before.launches[0].sample_every = 2;
  EXPECT_THAT(broken("max_way>4", now, &before), ElementsAre(HasSubstr("has 8 (")));
  EXPECT_THAT(broken("run.conflicts>0", now, &before), ElementsAre(HasSubstr("has 700 (")));
}

TEST(Limits, AreRefusedWithTheReason) {
  const auto message = [](const std::string& text) {
    try {
      static_cast<void>(parse_limits(text));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("max_way"), HasSubstr("a limit is MEASURE>NUMBER"));
  EXPECT_THAT(message("max_ways>4"), HasSubstr("'max_ways' is no measure; the nearest is 'max_way'"));
  EXPECT_THAT(message("max_way>four"), HasSubstr("'four' is no number"));
  EXPECT_THAT(message("max_way>4%"), HasSubstr("max_way is a count and takes no %"));
  for (const char* measure : {"errors", "warnings", "spill_bytes"})
    EXPECT_THAT(message(std::string("line.") + measure + ">0"), HasSubstr("is not known by line")) << measure;
  EXPECT_THAT(message("errors>0,excess>"), HasSubstr("'' is no number"));
  EXPECT_EQ(parse_limits(" line.conflicts > 0 , excess>=10% ").size(), 2u);
}

TEST(Worse, IsWhatGrew) {
  const Report before = sample_report();
  EXPECT_THAT(worse_than(before, before), IsEmpty());
  Report after = sample_report();
  Launch& launch = after.launches[0];
  launch.lines[0].line += 7;                                        // moved
  launch.lines[1] = shared_line(21, 50, 2, "tile[c] = d;");         // worse
  launch.lines.push_back(shared_line(50, 1, 3, "tile[new] = 0;"));  // new
  launch.branches[0].counts.divergent += 1;
  launch.machine.spill_load_bytes = 8;
  launch.findings[0].kind = "deadlock";
  const std::string kernel = launch.kernel;
  EXPECT_THAT(worse_than(before, after),
              ElementsAre(kernel + ": kernels/sample.cu:21: st.shared of tile: 50 conflicts, before 0",
                          kernel + ": kernels/sample.cu:50: st.shared of tile: 2 conflicts, before 0",
                          kernel + ": kernels/sample.cu:30: 16 divergent executions, before 15",
                          kernel + ": 8 bytes of spilled registers a thread, before 0",
                          kernel + ": kernels/sample.cu:40: deadlock: threads race, 100% sure: here"));
  launch.lines[1].allowed = {{"bank-conflict", "wanted"}};
  EXPECT_THAT(worse_than(before, after), SizeIs(4));
}

TEST(Worse, ComparesRequestsWhereTheShapeDiffers) {
  const Report before = sample_report();
  Report after = sample_report();
  Launch& launch = after.launches[0];
  launch.grid = {8, 2, 1};
  launch.branches.clear();
  launch.lines = {shared_line(12, 200, 8, "tile[a] = b;")};
  EXPECT_THAT(worse_than(before, after), IsEmpty());
  launch.lines = {shared_line(12, 20, 9, "tile[a] = b;")};
  EXPECT_THAT(worse_than(before, after), SizeIs(1));
}

TEST(Worse, IsASampleOfUnknownSize) {
  Report before = sample_report();
  before.launches[0].sample_every = 0;
  EXPECT_THAT(worse_than(before, before), ElementsAre(HasSubstr("before in others")));
  before.launches[0].counted = false;
  EXPECT_THAT(worse_than(before, sample_report()), ElementsAre(HasSubstr("before not counted (--no-count)")));
}

TEST(Worse, ComparesLargeCountsByRequest) {
  Report before = sample_report();
  before.launches[0].lines = {shared_line(12, 3'000'000'000, 8, "tile[a] = b;")};
  Report after = before;
  after.launches[0].launches = 2;
  after.launches[0].lines = {shared_line(12, 6'000'000'000, 8, "tile[a] = b;")};
  EXPECT_THAT(worse_than(before, after), IsEmpty());
  after.launches[0].lines = {shared_line(12, 6'000'000'000, 9, "tile[a] = b;")};
  EXPECT_THAT(worse_than(before, after), ElementsAre(HasSubstr("48,000,000,000 conflicts, before 21,0")));
  before.launches[0].lines = {shared_line(12, 3'000'000'001, 8, "tile[a] = b;")};
  after.launches[0].lines = {shared_line(12, 6'000'000'000, 8, "tile[a] = b;")};
  EXPECT_THAT(worse_than(before, after), IsEmpty());
  EXPECT_THAT(worse_than(after, before), IsEmpty());
}

TEST(Limits, TellOnceOfAKernelThatTheyAreNotKnown) {
  Report report = sample_report();
  report.launches[0].counted = false;
  report.launches.push_back(report.launches[0]);
  EXPECT_THAT(broken("conflicts>0", report), SizeIs(1));
}

TEST(Diff, ShowsChangedLinesWithBothNumbers) {
  const Report before = sample_report();
  EXPECT_THAT(diff_text(before, before, {}), HasSubstr("No line costs more or less than before."));
  Report after = sample_report();
  after.launches[0].lines[0] = shared_line(19, 100, 1, "tile[a] = b;");
  after.launches[0].totals = totals_of(after.launches[0].lines);
  const std::string text = diff_text(before, after, {});
  EXPECT_THAT(text, HasSubstr("kernels/sample.cu:12 → 19"));
  EXPECT_THAT(text, HasSubstr("800 → 100"));
  EXPECT_THAT(text, HasSubstr("wavefronts 850 → 150, conflicts 700 → 0, global sectors 320"));
  const auto json = nlohmann::json::parse(diff_json(before, after));
  ASSERT_EQ(json["launches"][0]["lines"].size(), 1u);
  EXPECT_EQ(json["launches"][0]["lines"][0]["before"]["line"], 12);
  EXPECT_EQ(json["launches"][0]["lines"][0]["after"]["wavefronts"], 100);
  EXPECT_TRUE(json["worse"].empty());
  Report often = sample_report();
  often.launches[0].launches = 2;
  EXPECT_THAT(diff_text(often, after, {}), HasSubstr("block 64, 2 launches)"));
  Report gone = sample_report();
  gone.launches.clear();
  EXPECT_THAT(diff_text(before, gone, {}), HasSubstr("(gone)"));
  EXPECT_THAT(diff_text(gone, before, {}), HasSubstr("new 800"));
}

}  // namespace
}  // namespace lanescope::report
