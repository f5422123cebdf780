// Patches and the diffs that show them.
#include "advise/patch.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace lanescope::advise {
namespace {

TEST(Patch, ReplacesFromTheFrontWhateverTheOrder) {
  EXPECT_EQ(patched("ab[32][32];", {{7, 9, "32 + 1"}, {3, 5, "N"}}, "f"), "ab[N][32 + 1];");
  EXPECT_EQ(patched("abc", {}, "f"), "abc");
  EXPECT_THROW((void)patched("abc", {{2, 4, ""}}, "f"), Error);
  EXPECT_THROW((void)patched("abc", {{0, 2, ""}, {1, 3, ""}}, "f"), Error);
}

TEST(Patch, DiffHasThreeLinesAroundAChange) {
  const std::string text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  EXPECT_EQ(unified_diff(text, {{8, 9, "five"}}, "k.cu"),
            "--- a/k.cu\n+++ b/k.cu\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(unified_diff(text, {{8, 9, "5"}}, "k.cu"), "");
  EXPECT_EQ(unified_diff(text, {}, "k.cu"), "");
}

/// float t[32 + P], u[32]; becomes float t[32 + P + 1], u[33]; which another change may want otherwise.
TEST(Patch, KnowsWhatIsChangedTwice) {
  const std::vector<Edit> made{{20, 22, "33"}, {14, 14, " + 1"}};
  EXPECT_TRUE(change_again(made, {{14, 18, " + 2"}}));
  EXPECT_TRUE(change_again(made, {{18, 18, " + 1"}})) << "behind what was put there";
  EXPECT_TRUE(change_again(made, {{24, 26, "34"}})) << "where it is now";
  EXPECT_FALSE(change_again(made, {{20, 22, "34"}})) << "where it was";
  EXPECT_FALSE(change_again(made, {{0, 5, "double"}, {27, 27, ", w"}}));
}

TEST(Patch, DiffShowsLinesThatAreAdded) {
  const std::string text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n";
  EXPECT_EQ(unified_diff(text, {{0, 0, "zero\n"}, {23, 23, "!"}}, "f"),
            "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n+zero\n 1\n 2\n 3\n"
            "@@ -8,4 +9,4 @@\n 8\n 9\n 10\n-11\n+11!\n");
  EXPECT_EQ(unified_diff("1\n", {{2, 2, "2\n"}}, "f"), "--- a/f\n+++ b/f\n@@ -1,1 +1,2 @@\n 1\n+2\n");
  EXPECT_EQ(unified_diff("", {{0, 0, "1\n"}}, "f"), "--- a/f\n+++ b/f\n@@ -0,0 +1,1 @@\n+1\n");
}

TEST(Patch, DiffJoinsWhatIsNearAndSplitsWhatIsFar) {
  std::string text;
  std::vector<size_t> begins;
  for (int i = 1; i <= 30; ++i) {
    begins.push_back(text.size());
    text += std::to_string(i) + "\n";
  }
  const auto pieces = [&](size_t a, size_t b) {
    const std::string diff =
        unified_diff(text, {{begins[a], begins[a], "x"}, {begins[b], begins[b], "x"}}, "f");
    size_t count = 0;
    for (size_t at = 0; (at = diff.find("@@ -", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(pieces(9, 9), 1u);
  EXPECT_EQ(pieces(9, 16), 1u);
  EXPECT_EQ(pieces(1, 28), 2u);
}

TEST(Patch, DiffSaysThatTheLastLineHasNoEnd) {
  EXPECT_EQ(unified_diff("a", {{0, 1, "b"}}, "f"),
            "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end "
            "of file\n");
}

}  // namespace
}  // namespace lanescope::advise
