// Records: written, read back, and what they are when something else is read.
#include "probe/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/error.hpp"
#include "probe/simulated.hpp"
#include "probe/words.hpp"

namespace lanescope::probe {
namespace {

using testing::HasSubstr;

std::string values(const Description& description) {
  std::string text;
  for (const Parameter& parameter : parameters())
    text += std::string(parameter.name) + "=" + parameter.value(description) + "\n";
  return text;
}

TEST(Record, OffsetsAsText) {
  const Offsets offsets = {7, 0, 0, 0, 128, 256, 384, 512, 5, 9, inactive, inactive, 3};
  EXPECT_EQ(to_text(offsets), "7 0x3 128+128x4 5 9 -x2 3");
  EXPECT_EQ(offsets_from_text(to_text(offsets)), offsets);
  for (const char* bad : {"a", "1x", "1x0", "1+x3", "0x65", "-1", "1x99999999999", "5000000000"})
    EXPECT_THROW((void)offsets_from_text(bad), Error) << bad;
}

TEST(Record, ReadBackItGivesTheSameResult) {
  for (const char* name : {"sm_13", "sm_35", "sm_90", "gfx942"}) {
    Simulated timer(*model::find_arch(name));
    const Result result = probe(timer);
    const Chip chip{"A chip", name, "13.0"};
    const std::string json = to_json(chip, result);
    Record record = read_record(json, "chip.json");
    EXPECT_EQ(record.chip.name, "A chip");
    EXPECT_EQ(record.chip.arch, name);
    Recorded again(record.lanes, std::move(record.measurements));
    const Result replayed = probe(again);
    EXPECT_EQ(values(replayed.description), values(result.description));
    EXPECT_EQ(to_json(chip, replayed), json);
  }
}

std::string refusal(const std::string& text) {
  try {
    Record record = read_record(text, "chip.json");
    Recorded timer(record.lanes, std::move(record.measurements));
    (void)probe(timer);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Record, WhatIsNone) {
  const std::string head =
      R"({"schema": 1, "chip": {"name": "", "arch": "", "cuda": ""}, "arch": {"warp_lanes": )";
  EXPECT_THAT(refusal("no JSON"), HasSubstr("chip.json: no record of lanescope probe"));
  EXPECT_THAT(refusal(R"({"schema": 2})"), HasSubstr("schema 2 is not known here"));
  EXPECT_THAT(refusal("{}"), HasSubstr("schema"));
  EXPECT_THAT(refusal(head + R"(33}, "measurements": []})"), HasSubstr("32 or 64 lanes, not 33"));
  EXPECT_THAT(refusal(head + R"(32.5}, "measurements": []})"), HasSubstr("32 or 64 lanes, not 32.5"));
  EXPECT_THAT(refusal(head + R"(4294967328}, "measurements": []})"), HasSubstr("not 4294967328"));
  EXPECT_THAT(refusal(head + R"(32}, "measurements": [["ld.shared 3", "0", "1"]]})"),
              HasSubstr("'ld.shared 3' is no access"));
  EXPECT_THAT(refusal(head + R"(32}, "measurements": [["ld.shared 4", "0x40 0x40", "1"]]})"),
              HasSubstr("are not the offsets of a warp's lanes"));
  EXPECT_THAT(refusal(head + R"(32}, "measurements": [["ld.shared 4", "0x32", "1x"]]})"),
              HasSubstr("'1x' are no cycles"));
  for (const std::string bad : {"nan", "inf", "1e300", "-1"})
    EXPECT_THAT(refusal(head + R"(32}, "measurements": [["ld.shared 4", "0x32", ")" + bad + R"("]]})"),
                HasSubstr("'" + bad + "' are no cycles"));
  EXPECT_THAT(refusal(head + R"(32}, "measurements": [["ld.shared 4", "0x32", ""]]})"),
              HasSubstr("without cycles"));
  EXPECT_THAT(refusal(head + R"(32}, "measurements": [["ld.shared 4", "0x32", "20"]]})"),
              HasSubstr("the record has no ld.shared 4 of the lanes 0+4x32"));
}

TEST(Words, TheCodeHasWhatWasFound) {
  Simulated timer(*model::find_arch("gfx1100"));
  const std::string code = to_code({"A \"chip\"", "gfx-1100", ""}, probe(timer));
  EXPECT_THAT(code, HasSubstr(R"(Arch probed_gfx_1100() {)"));
  EXPECT_THAT(code, HasSubstr(R"(named("gfx-1100", "A \"chip\"");)"));
  EXPECT_THAT(code, HasSubstr("arch.load[2] = consecutive(32, 32, Evidence::third_party);"));
  EXPECT_THAT(code, HasSubstr("arch.load[4].list[arch.load[4].listed++] = 0xf0000f;"));
}

}  // namespace
}  // namespace lanescope::probe
