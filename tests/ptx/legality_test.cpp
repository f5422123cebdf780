// The parser says of an instruction what the assembler says. Each line of legality.txt is a verdict of
// ptxas 13.0 for sm_90a (of what came later, 13.5), of legality-sm_100a.txt for sm_100a and so on, and a
// statement:
//   ok        both take it
//   bad       both refuse it
//   refused   ptxas takes it, Lanescope says of the kernel that it is not supported
//   strict    ptxas takes it, the PTX ISA and Lanescope do not (of constants in fragments: it takes them for
//   others) lenient   ptxas refuses it for the target or its syntax, Lanescope takes it
// The statements are those that a mistake is likely in, and a random sample of all pairs of modifiers with
// all types.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "base/error.hpp"
#include "ptx/module.hpp"

namespace lanescope::ptx {
namespace {

std::string declarations(const std::string& target, const std::string& version = "9.0") {
  std::string text =
      ".version " + version + " .target " + target +
      " .address_size 64 .global .u32 g; .entry k() { .reg .b32 %r<9>; .reg .f32 "
      "%f<9>; "
      ".reg .b64 %rd<9>; .reg .u32 %u<9>; .reg .s32 %s<9>; .reg .b16 %h<9>; .reg .u16 %uh<9>; .reg .f64 "
      "%d<9>; "
      ".reg .pred %p<9>; .reg .f16 %hh<4>; .reg .b8 %c<4>; .reg .u64 %ud<4>; ";
  if (version >= "8.3") text += ".reg .b128 %b128_1; ";
  for (const char* type : {"pred", "b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32",
                           "s64", "f16", "f16x2", "f32", "f64"})
    text += std::string(".reg .") + type + " %" + type + "_1; ";
  return text + "L:\n";
}

/// The refusal, or nothing.
std::string verdict_of(const std::string& declared, const std::string& statement) {
  try {
    const Module module = parse(declared + statement + "\n}\n", "test.ptx");
    for (const Function& function : module.functions) module.check_runs(function, function);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// How many statements of each verdict the file has.
std::map<std::string, int> check(const std::string& file, const std::string& target) {
  std::ifstream in(LANESCOPE_SOURCE_DIR "/tests/ptx/" + file);
  const std::string declared = declarations(target);
  std::map<std::string, int> seen;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const size_t blank = line.find(' ');
    const std::string verdict = line.substr(0, blank);
    const std::string statement = line.substr(blank + 1);
    const std::string why = verdict_of(declared, statement);
    ++seen[verdict];
    if (verdict == "ok" || verdict == "lenient")
      EXPECT_EQ(why, "") << statement;
    else if (verdict == "bad" || verdict == "strict")
      EXPECT_NE(why, "") << statement;
    else if (verdict == "refused")
      EXPECT_NE(why.find("not supported (kernel k)"), std::string::npos) << statement << why;
    else
      ADD_FAILURE() << "unknown verdict: " << line;
  }
  return seen;
}

TEST(Legality, AgreesWithTheAssembler) {
  auto seen = check("legality.txt", "sm_90a");
  EXPECT_GT(seen["ok"], 500);
  EXPECT_GT(seen["bad"], 500);
}

TEST(Legality, AgreesWithTheAssemblerForBlackwell) {
  auto seen = check("legality-sm_100a.txt", "sm_100a");
  EXPECT_GT(seen["ok"], 100);
  EXPECT_GT(seen["bad"], 200);
  seen = check("legality-sm_120a.txt", "sm_120a");
  EXPECT_GT(seen["ok"], 30);
  EXPECT_GT(seen["bad"], 50);
  seen = check("legality-sm_103a.txt", "sm_103a");
  EXPECT_GT(seen["ok"], 10);
  EXPECT_GT(seen["bad"], 10);
  seen = check("legality-sm_107a.txt", "sm_107a");
  EXPECT_GT(seen["refused"], 20);
}

// What later targets have is refused of a module for an earlier one.
TEST(Legality, AgreesWithTheAssemblerForEarlierTargets) {
  for (const char* target : {"sm_75", "sm_80"}) {
    auto seen = check(std::string("legality-") + target + ".txt", target);
    EXPECT_GT(seen["ok"], 5);
    EXPECT_GT(seen["bad"], 80);
  }
}

// A line of legality-targets.txt names target and version of the module, too.
TEST(Legality, AgreesWithTheAssemblerOnTargetsAndVersions) {
  std::ifstream in(LANESCOPE_SOURCE_DIR "/tests/ptx/legality-targets.txt");
  int lines = 0;
  for (std::string verdict, target, version, statement; in >> verdict;) {
    if (verdict == "#") {
      std::getline(in, statement);
      continue;
    }
    in >> target >> version >> std::ws;
    std::getline(in, statement);
    const std::string why = verdict_of(declarations(target, version), statement);
    const bool names_it =
        why.find("needs .target") != std::string::npos || why.find("needs .version") != std::string::npos;
    EXPECT_EQ(verdict == "ok" ? why.empty() : names_it, true)
        << target << " " << version << " " << statement << "\n"
        << why;
    ++lines;
  }
  EXPECT_GT(lines, 400);
}

}  // namespace
}  // namespace lanescope::ptx
