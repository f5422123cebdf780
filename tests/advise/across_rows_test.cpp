// Subscripts that run over an array's rows, as the text has them.
#include "advise/across_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advise/patch.hpp"

namespace lanescope::advise {
namespace {

using ::testing::HasSubstr;

AcrossRows across(const std::string& text, const std::set<uint32_t>& lines, uint64_t bytes = 4096) {
  const auto found = find_declaration(text, "t", bytes, 1000);
  return across_rows(text, std::get<Declaration>(found), lines);
}
std::string rewritten_across(const std::string& text, const std::set<uint32_t>& lines,
                             uint64_t bytes = 4096) {
  return patched(text, across(text, lines, bytes).edits, "k.cu");
}

const std::string before_uses = "#define N 32\n__global__ void k(int i) {\n__shared__ float t[N][32];\n";

TEST(AcrossRows, AreFoundInTheirLines) {
  const std::string text =
      before_uses + "t[0][i] = 1;\nf(t[0][i + 1], t[1][i], t[i][0]);\nt[0]\n[2 * i] = 1;\n}";
  EXPECT_EQ(rewritten_across(text, {4, 5, 6}),
            before_uses +
                "t[i / 32][i % 32] = 1;\nf(t[(i + 1) / 32][(i + 1) % 32], t[1][i], t[i][0]);\n"
                "t[(2 * i) / 32]\n[(2 * i) % 32] = 1;\n}");
  EXPECT_EQ(rewritten_across(text, {4}),
            before_uses + "t[i / 32][i % 32] = 1;" + text.substr(text.find("\nf(")));
  EXPECT_EQ(across(text, {1, 8}).what, "") << "nothing of the array";
  EXPECT_EQ(
      across(text, {4, 6}).what,
      "t[0][i] in line 4 runs over rows and becomes t[i / 32][i % 32], t[0][2 * i] in line 6 runs over rows "
      "and becomes t[(2 * i) / 32][(2 * i) % 32]");
}

/// memcpy_async(block, &t[0][0], from, sizeof t): what lies in the function is not seen.
TEST(AcrossRows, AreAllThatAFunctionIsGiven) {
  const auto given = [](const std::string& before, const std::string& statement) {
    return across(before + before_uses + statement + "\n}", {before.empty() ? 4u : 5u});
  };
  const AcrossRows copy = given("", "memcpy_async(b, &t[0][0], from, 4096);");
  EXPECT_EQ(copy.obstacle, "line 4 goes through its rows from &t[0][0]");
  EXPECT_EQ(copy.what, copy.obstacle + " and has to go row by row");
  EXPECT_TRUE(copy.edits.empty());
  EXPECT_EQ(given("void sum(float* t, int pitch) { t[pitch] = 1; }\n", "sum(&t[0][0], 32);").what, "");
  EXPECT_EQ(given("", "t[0][0] = t[i][3];").what, "") << "one element";
}

TEST(AcrossRows, OfPlanesStayInThem) {
  const std::string planes = "__global__ void k(int i) {\n__shared__ float t[2][16][P + 1];\n";
  EXPECT_EQ(rewritten_across(planes + "t[p][0][i] = 1;\n}", {3}, 2176),
            planes + "t[p][i / (P + 1)][i % (P + 1)] = 1;\n}");
}

TEST(AcrossRows, AreNotWrittenTwiceWhereThatChangesSomething) {
  for (const char* index : {"i++", "i = 3", "next()", "t[0][1]"})
    EXPECT_THAT(across(before_uses + "x = t[0][" + index + "];\n}", {4}).obstacle,
                HasSubstr("line 4 runs over its rows by a subscript that may change something"))
        << index;
}

}  // namespace
}  // namespace lanescope::advise
