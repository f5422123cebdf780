// The number by which a text shifts or divides an index to pad it: where it stands, and where that is not
// clear.
#include "advise/index_padding.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace lanescope::advise {
namespace {

/// The text with one of every 33 elements free in place of one of every 17; else how many numbers may be it.
std::string for_32_banks(const std::string& text) {
  const std::optional<std::vector<Edit>> edits = change_index_padding(text, {16, 32});
  if (!edits) return "no padding";
  return edits->size() == 1 ? patched(text, *edits, "f") : std::to_string(edits->size());
}

TEST(IndexPadding, IsShiftedOrDividedByOneNumber) {
  EXPECT_EQ(for_32_banks("void k() { s[i + (i >> 4)] = s[4 * i]; }"),
            "void k() { s[i + (i >> 5)] = s[4 * i]; }");
  EXPECT_EQ(for_32_banks("const int banks = 16;\nint at(int i) { return i + i / banks; }"),
            "const int banks = 32;\nint at(int i) { return i + i / banks; }");
  EXPECT_EQ(for_32_banks("#define LOG 4\n#define AT(n) ((n) + ((n) >> LOG))\ns[AT(i)] = s[j + (j >> LOG)];"),
            "#define LOG 5\n#define AT(n) ((n) + ((n) >> LOG))\ns[AT(i)] = s[j + (j >> LOG)];");
}

TEST(IndexPadding, IsLeftAloneWhereNoneOrSeveralNumbersMayBeIt) {
  EXPECT_EQ(for_32_banks("s[i + (i >> 4)] = t[j + (j >> 4)];"), "2");
  EXPECT_EQ(for_32_banks("s[i + (i >> n)] = in[j / 4];"), "0");
  EXPECT_EQ(for_32_banks("#define LOG (2 + 2)\ns[i + (i >> LOG)] = 1;"), "0");
}

TEST(IndexPadding, IsNoDivisionOfAnythingElse) {
  EXPECT_EQ(for_32_banks("s[i + (i >> 4)] = in[j >> 4]; k<<<n / 16, 16>>>();"),
            "s[i + (i >> 5)] = in[j >> 4]; k<<<n / 16, 16>>>();");
  EXPECT_EQ(for_32_banks("#define OFFSET(n) ((n) >> 4)\nai += OFFSET(ai); int row = threadIdx.x / 16;"),
            "#define OFFSET(n) ((n) >> 5)\nai += OFFSET(ai); int row = threadIdx.x / 16;");
  EXPECT_EQ(for_32_banks("#define TILE 16\n__shared__ float s[TILE * (TILE + 1)]; int row = t / TILE;"),
            "no padding");
  EXPECT_EQ(for_32_banks("#define LOG 4\n#define AT(n) ((n) + ((n) >> LOG))\n__shared__ float s[1 << LOG];"),
            "0");
}

}  // namespace
}  // namespace lanescope::advise
