// The number by which a text shifts or divides an index to pad it: where it stands, and where that is not
// clear.
#include "advise/index_padding.hpp"

#include <gtest/gtest.h>

#include <string>

namespace lanescope::advise {
namespace {

/// The text with one of every 33 elements free in place of one of every 17; else why not.
std::string for_32_banks(const std::string& text) {
  const auto change = change_index_padding(text, {16, 32});
  if (const auto* why = std::get_if<Unclear>(&change)) return why->reason;
  return patched(text, std::get<std::vector<Edit>>(change), "f");
}

TEST(IndexPadding, IsShiftedOrDividedByOneNumber) {
  EXPECT_EQ(for_32_banks("void k() { s[i + (i >> 4)] = s[4 * i]; }"),
            "void k() { s[i + (i >> 5)] = s[4 * i]; }");
  EXPECT_EQ(for_32_banks("const int banks = 16;\nint at(int i) { return i + i / banks; }"),
            "const int banks = 32;\nint at(int i) { return i + i / banks; }");
  EXPECT_EQ(for_32_banks("#define LOG 4\n#define AT(n) ((n) + ((n) >> LOG))\ns[AT(i)] = s[j + (j >> LOG)];"),
            "#define LOG 5\n#define AT(n) ((n) + ((n) >> LOG))\ns[AT(i)] = s[j + (j >> LOG)];");
}

TEST(IndexPadding, IsLeftAloneWhereSeveralNumbersMayBeIt) {
  EXPECT_EQ(for_32_banks("s[i + (i >> 4)] = in[j >> 4];"), "which division by 16 computes it is not clear");
  EXPECT_EQ(for_32_banks("s[i + (i >> 4)] = in[j / 16];"), "which division by 16 computes it is not clear");
  EXPECT_EQ(for_32_banks("s[i + (i >> n)] = in[j / 4];"), "no division by 16 is found that computes it");
  EXPECT_EQ(for_32_banks("#define LOG (2 + 2)\ns[i + (i >> LOG)] = 1;"),
            "no division by 16 is found that computes it");
}

}  // namespace
}  // namespace lanescope::advise
