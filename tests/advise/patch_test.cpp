// Patches and the diffs that show them.
#include "advise/patch.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace lanescope::advise {
namespace {

TEST(Patch, ReplacesFromTheFrontWhateverTheOrder) {
  EXPECT_EQ(patched("ab[32][32];", {{"f", 7, 9, "32 + 1"}, {"f", 3, 5, "N"}}), "ab[N][32 + 1];");
  EXPECT_EQ(patched("abc", {}), "abc");
  EXPECT_THROW((void)patched("abc", {{"f", 2, 4, ""}}), Error);
  EXPECT_THROW((void)patched("abc", {{"f", 0, 2, ""}, {"f", 1, 3, ""}}), Error);
}

TEST(Patch, DiffHasThreeLinesAroundAChange) {
  const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n", after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
  EXPECT_EQ(unified_diff(before, after, "k.cu"),
            "--- a/k.cu\n+++ b/k.cu\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(unified_diff(before, before, "k.cu"), "");
}

TEST(Patch, DiffJoinsWhatIsNearAndSplitsWhatIsFar) {
  std::string before, near, far;
  for (int i = 1; i <= 30; ++i) {
    const std::string line = std::to_string(i);
    before += line + "\n";
    near += (i == 10 || i == 16 ? "x" + line : line) + "\n";
    far += (i == 2 || i == 29 ? "x" + line : line) + "\n";
  }
  const auto hunks = [](const std::string& diff) {
    size_t count = 0;
    for (size_t at = 0; (at = diff.find("@@ -", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(hunks(unified_diff(before, near, "f")), 1u);
  EXPECT_EQ(hunks(unified_diff(before, far, "f")), 2u);
}

TEST(Patch, DiffSaysThatTheLastLineHasNoEnd) {
  EXPECT_EQ(unified_diff("a", "b", "f"),
            "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end "
            "of file\n");
}

}  // namespace
}  // namespace lanescope::advise
