// The report read back from its JSON, and in the formats of other tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "report/formats.hpp"
#include "report/hazards.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/permissions.hpp"
#include "report/read.hpp"
#include "report/sample_report.hpp"
#include "report/text.hpp"

namespace lanescope::report {
namespace {

using nlohmann::json;
using synthetic::sample_report;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Report allowed_report() {
  Report report = sample_report();
  report.launches[0].lines[0].allowed = {{"bank-conflict", "on purpose"}};
  report.launches[0].findings.clear();
  return report;
}

TEST(ReadReport, SaysAllThatWasWritten) {
  const Report report = sample_report();
  const Report again = from_json(to_json(report), "report.json");
  EXPECT_EQ(to_json(again), to_json(report));
  EXPECT_EQ(to_text(again, {}), to_text(report, {}));
}

/// A line whose accesses the assembler leaves out has no worst one.
TEST(ReadReport, TakesLinesWithoutAnAccess) {
  Report report = sample_report();
  report.launches[0].lines[0].worst = {};
  report.launches[0].lines[0].worst.kind = report.launches[0].lines[0].kind;
  report.launches[0].lines[2].worst.mask = 0;
  const Report again = from_json(to_json(report), "report.json");
  EXPECT_EQ(to_json(again), to_json(report));
  advise::Sources sources("nowhere");
  EXPECT_THAT(to_html(again, sources), HasSubstr("<!DOCTYPE html>"));
}

TEST(ReadReport, KnowsArchitecturesByTheirNumbers) {
  const model::Arch free = model::custom_arch(16, 32, 16, model::Broadcast::one_word);
  const Report again = from_json(to_json(make_report(free)), "report.json");
  ASSERT_TRUE(again.model);
  EXPECT_TRUE(again.is_free);
  EXPECT_EQ(again.model->banks, 16);
  EXPECT_EQ(again.model->broadcast, model::Broadcast::one_word);
  const model::Arch kepler = model::with_bank_mode(*model::find_arch("sm_35"), 8);
  EXPECT_EQ(from_json(to_json(make_report(kepler)), "").model->bank_bytes, 8);
}

TEST(ReadReport, TakesReportsWithoutNewerFields) {
  json old = json::parse(to_json(sample_report()));
  for (const char* field : {"hazards", "is_free", "model"}) old.erase(field);
  json& launch = old["launches"][0];
  for (const char* field :
       {"file", "line", "lane_instructions", "warp_efficiency", "branch_efficiency", "branches", "machine"})
    launch.erase(field);
  for (json& line : launch["lines"])
    for (const char* field : {"typical", "space", "kind", "word_lanes", "estimates", "why", "allowed"})
      line.erase(field);
  for (const char* part : {"findings", "advice"}) old[part][0].erase("launch");
  const Report report = from_json(old.dump(), "old.json");
  const Launch& first = report.launches[0];
  EXPECT_EQ(first.totals.shared_store.wavefronts, 850u);
  EXPECT_EQ(first.totals.global_load.sectors, 320u);
  EXPECT_EQ(first.findings.size(), 1u);
  EXPECT_EQ(first.advice.size(), 1u);
}

/// Why a text is not read.
std::string reading_error(const std::string& text) {
  try {
    static_cast<void>(from_json(text, "file.json"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Of the sample's JSON with one value replaced.
std::string reading_error_with(const char* pointer, const json& value) {
  json report = json::parse(to_json(sample_report()));
  report[json::json_pointer(pointer)] = value;
  return reading_error(report.dump());
}

TEST(ReadReport, RefusesWhatIsNoReport) {
  EXPECT_THAT(reading_error("[1, 2]"), HasSubstr("file.json: is no report of lanescope run"));
  EXPECT_THAT(reading_error("{\"schema\": 1, "), HasSubstr("file.json: is no report of lanescope run"));
  EXPECT_THAT(reading_error("{\"schema\": 2}"), HasSubstr("file.json: is a report of schema 2"));
  EXPECT_THAT(reading_error_with("/launches/0/grid", {0, 1, 1}),
              HasSubstr("file.json: a grid or block has no threads"));
}

TEST(ReadReport, RefusesNamesThatALaterVersionMayWrite) {
  for (const char* name : {"/launches/0/lines/0/evidence", "/launches/0/lines/0/kind",
                           "/launches/0/lines/0/space", "/findings/0/kind", "/findings/0/severity"})
    EXPECT_THAT(reading_error_with(name, "guess"), HasSubstr("file.json: 'guess' is not known here")) << name;
}

TEST(ReadReport, RefusesNumbersThatWouldBecomeOthers) {
  const json negative = -1;
  for (const char* count :
       {"/launches/0/launches", "/launches/0/lines/0/estimates", "/launches/0/lines/0/ways/8",
        "/launches/0/lines/0/worst/width", "/launches/0/metrics/shared_ld_bank_conflict"})
    EXPECT_THAT(reading_error_with(count, negative), HasSubstr("is no count: -1")) << count;
  EXPECT_THAT(reading_error_with("/launches/0/lines/0/worst/width", 300),
              HasSubstr("file.json: 'width' is no count: 300"));
  EXPECT_THAT(reading_error_with("/launches/0/branches/0/lanes", 399),
              HasSubstr("file.json: more lanes take a branch than come to it"));
  for (const char* mask : {"0x1ffffffff", "0xfg", "-1"})
    EXPECT_THAT(reading_error_with("/launches/0/lines/0/worst/mask", mask),
                HasSubstr("is no mask of 32 lanes"))
        << mask;
}

TEST(Schema, NamesAllKindsAndSpaces) {
  using exec::AccessKind;
  using exec::AccessSpace;
  const json schema = json::parse(read_file(std::string(LANESCOPE_SOURCE_DIR) + "/docs/report.schema.json"));
  const json& line =
      schema.at(json::json_pointer("/properties/launches/items/properties/lines/items/properties"));
  const auto has = [&](const char* field, const char* name) {
    const json& names = line.at(field).at("enum");
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (int i = 0; i <= static_cast<int>(AccessKind::bulk_reduction); ++i)
    EXPECT_TRUE(has("kind", name_of(static_cast<AccessKind>(i)))) << name_of(static_cast<AccessKind>(i));
  for (const AccessSpace space :
       {AccessSpace::shared, AccessSpace::global, AccessSpace::local, AccessSpace::cluster})
    EXPECT_TRUE(has("space", profile::name_of(space))) << profile::name_of(space);
}

TEST(ReadReport, AppendsProcesses) {
  Report sum = sample_report();
  append(sum, sample_report());
  EXPECT_EQ(sum.launches.size(), 2u);
  const Report again = from_json(to_json(sum), "two.json");
  EXPECT_EQ(again.launches[1].findings.size(), 1u) << "of kernels of one name each keeps its own";
}

TEST(Hazards, EveryKindOfFindingHasARuleAndIsReadBack) {
  using Kind = exec::Finding::Kind;
  Report report = sample_report();
  for (int i = 0; i <= static_cast<int>(Kind::barrier_reinitialised); ++i) {
    const std::string kind = report.launches[0].findings[0].kind = exec::name_of(static_cast<Kind>(i));
    EXPECT_NE(find_rule(kind), nullptr) << kind;
    EXPECT_EQ(from_json(to_json(report), "").launches[0].findings[0].kind, kind);
  }
}

TEST(Hazards, NameCountIdealCauseAndAdvice) {
  const std::vector<Hazard> hazards = hazards_of(sample_report());
  std::vector<std::string> rules;
  for (const Hazard& hazard : hazards) rules.push_back(hazard.rule);
  EXPECT_THAT(rules, ElementsAre("race", "bank-conflict", "uncoalesced-access", "warp-divergence",
                                 "low-occupancy", "pageable-copy", "repeated-copy", "serial-copy"));
  EXPECT_EQ(
      in_words(hazards[1]),
      "st.shared of tile: 800 wavefronts instead of 100. 8-way. Lanes meet. Advice: pad each row of tile "
      "by 1 word (850 wavefronts of tile become 150).");
  EXPECT_THAT(in_words(hazards[3]), HasSubstr("15 of 20 executions diverge"));
  EXPECT_THAT(in_words(hazards[3]),
              HasSubstr("480 of 960 lane slots were idle while lanes were apart (50.0%)"));
  EXPECT_THAT(in_words(hazards[3]), HasSubstr("In warp 1 of block (1,1,0)"));
  EXPECT_THAT(in_words(hazards[3]), HasSubstr("The branch holds 3 instructions: predication would do"));
  EXPECT_THAT(in_words(hazards[6]), HasSubstr("3 of 7 copies brought what was already there, 3,000 bytes"));
  EXPECT_THAT(in_words(hazards[7]),
              HasSubstr("4 of 7 copies, 4,000 bytes, waited for a kernel of their stream"));
}

TEST(Hazards, AdviceFollowsTheAddresses) {
  Report report = sample_report();
  Line& line = report.launches[0].lines[2];
  const auto advice = [&](uint64_t base, uint64_t stride) {
    for (uint64_t lane = 0; lane < 32; ++lane) line.worst.address[lane] = base + lane * stride;
    return hazards_of(report)[2].advice;
  };
  EXPECT_THAT(advice(4096 + 8, 4), HasSubstr("8 bytes past a multiple of 32"));
  EXPECT_THAT(advice(4096 + 8, 4), HasSubstr("Where a window slides"));
  EXPECT_THAT(advice(4096, 12), AllOf(HasSubstr("uses 4 of every 12 bytes"), HasSubstr("(g[3 * i + k])")));
  EXPECT_THAT(advice(4096, 4096), HasSubstr("That is a column"));
  line.worst.mask = 0x01010101;  // the first lane of each row of 8, whose rows lie 128 bytes apart
  EXPECT_THAT(advice(4096, 16), HasSubstr("That is a column"));
  for (uint64_t lane = 0; lane < 32; ++lane) line.worst.address[lane] = 4096 + lane / 8 * 100;
  EXPECT_THAT(hazards_of(report)[2].advice, HasSubstr("uses 4 of every 100 bytes"));
  for (uint64_t lane = 0; lane < 32; ++lane) line.worst.address[lane] = 4096 + 20 + lane / 8 * 4;
  line.worst.mask = 0x01020408;  // neighbouring words for lanes that are none
  EXPECT_THAT(hazards_of(report)[2].advice, HasSubstr("20 bytes past a multiple of 32"));
  line.worst.mask = 0xffffffff;
  for (uint64_t lane = 0; lane < 32; ++lane) line.worst.address[lane] = lane * lane * 64;
  EXPECT_THAT(hazards_of(report)[2].advice, HasSubstr("gather"));
  report.launches[0].block = {16, 16, 1};
  for (uint64_t lane = 0; lane < 32; ++lane) line.worst.address[lane] = lane / 16 * 1024 + lane % 16 * 16;
  EXPECT_THAT(hazards_of(report)[2].advice, HasSubstr("uses 4 of every 16 bytes"));
  for (uint64_t lane = 0; lane < 32; ++lane)
    line.worst.address[lane] = 4096 + lane / 16 * 1024 - lane % 16 * 4;
  EXPECT_THAT(hazards_of(report)[2].advice, HasSubstr("A warp spans 2 rows of the block"));
  for (uint64_t lane = 0; lane < 32; ++lane) line.worst.address[lane] = lane / 16 * 2048;
  EXPECT_THAT(hazards_of(report)[2].advice, HasSubstr("A warp spans 2 rows of the block"));
  // Rows of 20 that all threads load one after the other; lane 0 at the other end of a row that is a ring.
  for (uint64_t lane = 0; lane < 32; ++lane)
    line.worst.address[lane] = 4096 + (lane < 12 ? 0 : 176) + lane * 4;
  EXPECT_THAT(hazards_of(report)[2].advice, HasSubstr("end within the warp, as rows of a tile do"));
  for (uint64_t lane = 0; lane < 32; ++lane) line.worst.address[lane] = 4096 + (lane == 0 ? 252 : lane * 4);
  EXPECT_THAT(hazards_of(report)[2].advice, HasSubstr("end within the warp, as rows of a tile do"));
  for (uint64_t lane = 0; lane < 32; ++lane) line.worst.address[lane] = lane / 16 * 2048;
  line.worst.mask = 0x00010001;  // the left edge of a tile
  EXPECT_THAT(hazards_of(report)[2].advice, HasSubstr("One thread of each row of the block takes part"));
  line.worst.mask = 0xffffffff;
  report.launches[0].block = {20, 20, 1};
  line.worst.warp = 2;  // threads 64 to 95 of the rows 3 and 4
  for (uint64_t lane = 0; lane < 32; ++lane)
    line.worst.address[lane] = 4096 + (lane < 16 ? 0 : 200) + lane * 4;
  EXPECT_THAT(hazards_of(report)[2].advice, HasSubstr("A warp spans 2 rows of the block"));
}

TEST(Hazards, DivergenceAdviceFollowsTheLanes) {
  Report report = sample_report();
  Branch& branch = report.launches[0].branches[0];
  branch.straight = 0;
  const auto advice = [&] { return hazards_of(report)[3].advice; };
  EXPECT_THAT(advice(), HasSubstr("spread over the warp"));
  branch.counts.split[0] = {0x55555555u, 0x11111111u};  // every second of those that are still there
  EXPECT_THAT(advice(), HasSubstr("spread over the warp"));
  branch.counts.split[0] = {0xffffffffu, 0x93ab1e50u};
  EXPECT_THAT(advice(), HasSubstr("mixed without an order"));
  branch.counts.splits = 2;
  branch.counts.split[1] = branch.counts.split[0];
  branch.counts.split[0].taken = 0x55555555u;  // data in an order by chance, and then in none
  EXPECT_THAT(advice(), HasSubstr("mixed without an order"));
  branch.counts.splits = 1;
  branch.counts.split[0].taken = 0xffffu;
  EXPECT_THAT(advice(), HasSubstr("multiple of 32 threads"));
  // if (lane != 0) goto …: as it should be, if that is a result; and the edge of a tile 16 wide.
  branch.counts.idle = branch.counts.apart * 31;
  for (const uint32_t skip : {0xfffffffeu, 0xfffefffeu}) {
    branch.counts.split[0].taken = skip;
    EXPECT_THAT(advice(), HasSubstr("A few lanes work"));
  }
  // The entries of a row, of which some threads have fewer: at first few have none left, later most.
  branch.counts.splits = 2;
  branch.counts.split[0].taken = 0x04480040u;
  branch.counts.split[1] = {0xffffffffu, 0x6d5a7bf1u};
  EXPECT_THAT(advice(), HasSubstr("mixed without an order"));
  branch.counts.splits = 1;
  branch.counts.idle = branch.counts.apart;  // a few lanes wait, for most work
  EXPECT_THAT(advice(), Not(HasSubstr("A few lanes work")));
  // One neighbour of all has not been visited: there is no border to put anywhere. Around a run there is.
  branch.counts.split[0].taken = 1u << 22;
  EXPECT_THAT(advice(), HasSubstr("mixed without an order"));
  branch.counts.split[0].taken = 0xff00u;
  EXPECT_THAT(advice(), HasSubstr("multiple of 32 threads"));
  // A triangle: rows below the one that is eliminated.
  branch.counts.splits = 3;
  for (uint32_t row = 0; row < 3; ++row) branch.counts.split[row] = {0xffffffffu, 0xffffffffu << (6 + row)};
  EXPECT_THAT(advice(), HasSubstr("The border between the two ways moves"));
  branch.counts.splits = 1;
  branch.backward = true;
  EXPECT_THAT(advice(), HasSubstr("leave the loop in different rounds"));
}

TEST(Permissions, AreReadFromComments) {
  const auto rules = [](std::string_view text) {
    std::vector<std::string> list;
    for (const Permission& p : permissions_in(text)) list.push_back(p.rule + "|" + p.reason);
    return list;
  };
  EXPECT_THAT(rules("a[i] = 1;  // lanescope: allow(bank-conflict) once"), ElementsAre("bank-conflict|once"));
  EXPECT_THAT(rules("/* lanescope: allow(a, b) why */ x;"), ElementsAre("a|why", "b|why"));
  EXPECT_THAT(rules("print(\"lanescope: allow(a)\");"), ElementsAre());
  EXPECT_THAT(rules("// lanescope: allow(a"), ElementsAre());
  EXPECT_THAT(rules("// lanescope: allow()"), ElementsAre());
}

TEST(Permissions, SilenceAndAreListed) {
  const Report report = allowed_report();
  EXPECT_THAT(to_annotations(report), Not(HasSubstr("bank conflict")));
  EXPECT_THAT(to_annotations(report), HasSubstr("Uncoalesced global access"));
  EXPECT_THAT(to_text(report, {}),
              HasSubstr("kernels/sample.cu:12: bank-conflict: on purpose (800 wavefronts instead of 100)"));
  const json sarif = json::parse(to_sarif(report));
  EXPECT_EQ(sarif["runs"][0]["results"][0]["suppressions"][0]["justification"], "on purpose");
  EXPECT_THAT(to_junit(report),
              HasSubstr("<skipped message=\"allowed: kernels/sample.cu:12: on purpose\"/>"));
}

TEST(Annotations, EscapeWhatGitHubReads) {
  const std::string text = to_annotations(sample_report());
  EXPECT_THAT(
      text,
      HasSubstr("::error file=kernels/sample.cu,line=40,title=Race on shared memory::sample<int>(float*, "
                "\"x\" & more): 1 lane. threads race, 100%25 sure: here"));
  EXPECT_THAT(text,
              HasSubstr("::warning file=kernels/sample.cu,line=12,title=Shared memory bank conflict::"));
  EXPECT_THAT(text, HasSubstr("::notice title=Copies with pageable host memory::"));
}

TEST(Junit, FailsRulesAndLimits) {
  const std::string text = to_junit(sample_report(), {{"max_way>4", {"k has 8 <here>"}}, {"errors>9", {}}});
  EXPECT_THAT(
      text,
      HasSubstr("name=\"max_way&gt;4\"><failure message=\"limit passed\">\nk has 8 &lt;here&gt;</failure>"));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"limits\" name=\"errors&gt;9\"/>"));
  EXPECT_THAT(
      text, HasSubstr("name=\"bank-conflict\"><failure message=\"Shared memory bank conflict (1 place)\">"));
}

TEST(Junit, SkipsWhatWasNotLookedFor) {
  Report report = sample_report();
  report.launches[0].findings.clear();
  report.launches[0].machine = {};
  std::string text = to_junit(report);
  EXPECT_THAT(text, HasSubstr("name=\"race\"><skipped message=\"not looked for (--check race)\"/>"));
  EXPECT_THAT(text, HasSubstr("name=\"register-spill\"><skipped message=\"not assembled (--assemble)\"/>"));
  EXPECT_THAT(text, HasSubstr("name=\"out-of-bounds\"/>"));
  report.launches[0].checks.race = report.launches[0].machine.assembled = true;
  text = to_junit(report);
  EXPECT_THAT(text, HasSubstr("name=\"race\"/>"));
  EXPECT_THAT(text,
              HasSubstr("name=\"member-mask\"><skipped message=\"not looked for (--check barrier)\"/>"));
  EXPECT_THAT(text, HasSubstr("name=\"register-spill\"/>"));
  report.launches[0] = {};
  EXPECT_THAT(to_junit(report),
              HasSubstr("name=\"bank-conflict\"><skipped message=\"not counted (--no-count)\"/>"));
}

TEST(Sarif, FingerprintsOutliveMovedLines) {
  const auto fingerprint = [](const Report& report) {
    return json::parse(to_sarif(report))["runs"][0]["results"][1]["partialFingerprints"];
  };
  Report moved = sample_report();
  moved.launches[0].lines[0].line += 100;
  EXPECT_EQ(fingerprint(moved), fingerprint(sample_report()));
  Report other = sample_report();
  other.launches[0].lines[0].source = "tile[z] = b;";
  EXPECT_NE(fingerprint(other), fingerprint(sample_report()));
}

TEST(Html, HoldsTheReportAndNothingThatEndsItsScript) {
  Report report = sample_report();
  report.launches[0].kernel = "a</script><!-- b";
  advise::Sources sources("nowhere");
  const std::string page = to_html(report, sources);
  EXPECT_EQ(page.find("a</script><!-- b"), std::string::npos);
  const std::string_view mark = "id=\"report\">";
  const size_t begin = page.find(mark) + mark.size();
  const json data = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(data["launches"][0]["kernel"], "a</script><!-- b");
  EXPECT_EQ(data["launches"][0]["lines"][0]["map"]["phases"][0]["wavefronts"], 8);
  EXPECT_EQ(data["advice"][0]["map"]["phases"][0]["wavefronts"], 1);
  EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(page, Not(HasSubstr("@STYLE@")));
}

}  // namespace
}  // namespace lanescope::report
