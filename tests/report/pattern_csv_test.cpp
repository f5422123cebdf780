// Rows of accesses in CSV: what is read, what is answered, what is refused and with which words.
#include "report/pattern_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/error.hpp"

namespace lanescope::report {
namespace {

using model::Arch;
using model::find_arch;

using testing::HasSubstr;

std::string answers(const std::string& text, const Arch& arch = *find_arch("sm_90"),
                    bool* unknown = nullptr) {
  std::istringstream in(text);
  PatternReader reader(in, "in.csv", arch);
  PatternRow row;
  std::string out;
  while (reader.next(row)) out += answer(arch, row, unknown) + '\n';
  return out;
}

std::string message(const std::string& text, const Arch& arch = *find_arch("sm_90")) {
  try {
    answers(text, arch);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(PatternCsv, SharedAndGlobalRowsFillTheirColumns) {
  EXPECT_EQ(answers("ld,4,3,0,128\n"), "2,1,1,2,,\n");
  EXPECT_EQ(answers("gld,4,3,0,128\n"), ",,,,2,2\n");
  EXPECT_EQ(answers("st,4,0x3,0,4\n\nred,4,3,0,0"), "1,1,0,1,,\n2,1,1,2,,\n");
  EXPECT_EQ(answers("ld,4,0\n"), "0,0,0,0,,\n");
  EXPECT_EQ(answers(""), "");
}

TEST(PatternCsv, HeaderNamesTheColumns) {
  EXPECT_EQ(answers("note,mask,op,width,o1,o0,more\r\nx,3,ld,4,128,0,7\r\n"), "2,1,1,2,,\n");
  EXPECT_EQ(message("op,mask,o0\n"), "in.csv:1:1: the header has no column 'width'");
  EXPECT_EQ(message("op,width,mask,o0,o2\n"), "in.csv:1:1: the header has no column 'o1'");
  EXPECT_EQ(message("op,width,mask,op\n"), "in.csv:1:15: the column 'op' is there twice");
  EXPECT_THAT(message("op,width,mask,o64\n"), HasSubstr("in.csv:1:15: the column 'o64' is no lane"));
}

TEST(PatternCsv, MessagesShowOnlyTheBeginOfWhatIsNoText) {
  EXPECT_THAT(message("ld,4,\x1b[31m\a\n"),
              HasSubstr("in.csv:1:6: the mask ' [31m ' is no hexadecimal number"));
  EXPECT_THAT(message("\x1b]0;x\a,4,1,0\n"),
              HasSubstr("in.csv:1:1: unknown operation ' ]0;x '; known are ld"));
  EXPECT_EQ(message("ld," + std::string(100000, '9') + ",1,0\n"),
            "in.csv:1:4: the width '" + std::string(39, '9') + "…' is too large");
}

TEST(PatternCsv, SixtyFourLanes) {
  std::string row = "ld,4,ffffffffffffffff";
  for (int lane = 0; lane < 64; ++lane) row += ',' + std::to_string(4 * lane);
  EXPECT_EQ(answers(row, *find_arch("gfx942")), "2,2,0,1,,\n");
  EXPECT_EQ(answers(row, *find_arch("gfx950")), "1,1,0,1,,\n");
  EXPECT_THAT(message(row), HasSubstr("in.csv:1:6: the mask ffffffffffffffff has lanes beyond the 32"));
  std::string header = "op,width,mask";
  for (int lane = 0; lane < 64; ++lane) header += ",o" + std::to_string(lane);
  EXPECT_THAT(message(header), HasSubstr("offsets of 64 lanes, but warps of sm_90 have 32"));
}

TEST(PatternCsv, MatricesReadTheirOwnRows) {
  std::string offsets;
  for (int lane = 0; lane < 32; ++lane) offsets += ',' + std::to_string(128 * lane);
  EXPECT_EQ(answers("ldm1,16,ffffffff" + offsets), "8,1,7,8,,\n");
  EXPECT_EQ(answers("ldm2t,16,ffffffff" + offsets), "16,2,14,8,,\n");
  EXPECT_EQ(answers("stm4,16,ffffffff" + offsets), "32,4,28,8,,\n");
}

TEST(PatternCsv, UnknownRuleHasAnEstimateAndNothingDerivedFromIt) {
  bool unknown = false;
  EXPECT_EQ(answers("cp.async,8,3,0,8\n", *find_arch("sm_90"), &unknown), "1,1,0,1,,\n");
  EXPECT_FALSE(unknown);
  EXPECT_EQ(answers("cp.async,16,3,0,512\n", *find_arch("sm_90"), &unknown), "1,1,0,1,,\n");
  EXPECT_FALSE(unknown);
  EXPECT_EQ(answers("cp.async,16,3,0,512\n", *find_arch("sm_80"), &unknown), "2,,,,,\n");
  EXPECT_TRUE(unknown);
}

TEST(PatternCsv, WrongInputIsNamedWithItsPlace) {
  EXPECT_THAT(message("load,4,1,0\n"),
              HasSubstr("in.csv:1:1: unknown operation 'load'; known are ld, st, atom"));
  EXPECT_EQ(message("ld,4,1,0\nld,3,1,0\n"), "in.csv:2:4: 'ld' has no width of 3 bytes");
  EXPECT_EQ(message("gld,32,1,0\nld,32,1,0\n"), "in.csv:2:4: 'ld' has no width of 32 bytes");
  EXPECT_EQ(message("ldm4,8,1,0\n"), "in.csv:1:6: 'ldm4' has no width of 8 bytes");
  EXPECT_EQ(message("cp.async,2,1,0\n"), "in.csv:1:10: 'cp.async' has no width of 2 bytes");
  EXPECT_EQ(message("ld,four,1,0\n"), "in.csv:1:4: the width 'four' is no decimal number");
  EXPECT_EQ(message("ld,4,xyz,0\n"), "in.csv:1:6: the mask 'xyz' is no hexadecimal number");
  EXPECT_EQ(message("ld,4,11112222333344445\n"), "in.csv:1:6: the mask '11112222333344445' is too large");
  EXPECT_EQ(message("ld,4,3,0\n"), "in.csv:1:10: the offset of lane 1 is missing");
  EXPECT_EQ(message("ld,4,3,0,-4\n"), "in.csv:1:10: the offset of lane 1 '-4' is no decimal number");
  EXPECT_EQ(message("ld,4,3,0,6\n"),
            "in.csv:1:10: the offset of lane 1 is 6, no multiple of the width 4: the hardware traps");
  EXPECT_EQ(message("op,width,mask,o0\nld,4,3,0\n"),
            "in.csv:2:6: lane 1 is active, but there is no column 'o1'");
}

}  // namespace
}  // namespace lanescope::report
