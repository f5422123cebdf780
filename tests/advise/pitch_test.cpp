// Rows of arrays of one dimension: where all subscripts show them, how they and the array become longer, and
// where that is not sure.
#include "advise/pitch.hpp"

#include <gtest/gtest.h>

#include <string>

#include "advise/rewrite.hpp"

namespace lanescope::advise {
namespace {

/// The text with rows that are a word longer; empty where it does not show them. Of the array `s` in the
/// function, of so many floats.
std::string with_longer_rows(const std::string& text, uint32_t floats, const std::string& function = "k") {
  const uint32_t bytes = floats * 4;
  const auto found = find_declaration(text, "s", bytes, 1000, function);
  if (const auto* why = std::get_if<Unclear>(&found)) return why->reason;
  Declaration d = std::get<Declaration>(found);
  d.pitch = declared_pitch(text, d, function);
  if (!d.pitch) return "";
  const Shape shape{.bytes = bytes, .row_bytes = d.row_bytes(), .element_bytes = d.element_bytes};
  const auto change = rewrite(text, d, shape, RowPadding{1});
  if (const auto* why = std::get_if<Unclear>(&change)) return why->reason;
  return patched(text, std::get<Rewrite>(change).edits, "f");
}

/// Whether the body of a kernel shows its rows when it is launched with so many threads.
bool has_rows(const std::string& body, const exec::Dim3& block) {
  const std::string text = "void k(int n, float v) {\n__shared__ float s[1024];\n" + body + "\n}\n";
  const auto found = find_declaration(text, "s", 4096, 1000, "k");
  return declared_pitch(text, std::get<Declaration>(found), "k", &block).has_value();
}

TEST(Pitch, IsNoneWhereThreadsLeaveTheirRows) {
  const std::string t = "int t = threadIdx.x, y = threadIdx.y; s[y * 32] = v;\n";
  for (const std::string index :
       {"t + 8 * n * 32", "n * 32 + threadIdx.x", "n * 32 + 2 * t", "(n * 32) + (t + 1)"})
    EXPECT_FALSE(has_rows(t + "s[" + index + "] = v;", {256, 1, 1})) << index;
  EXPECT_FALSE(has_rows(t + "for (int k = 0; k < n; ++k) s[k * 32 + t] = v;", {64, 4, 1}));
  EXPECT_TRUE(has_rows(t + "s[n * 32 + t] = v;", {32, 8, 1}));
  EXPECT_TRUE(has_rows(t + "s[n * 32 + t % 32] = v;", {256, 1, 1}));
  EXPECT_TRUE(has_rows(t + "const int c = t & 31; s[n * 32 + c] = v;", {256, 1, 1}));
  // Where a condition decides who comes there, or the value is not known.
  for (const std::string use :
       {"if (t < 32) s[n * 32 + t] = v;", "if (t > 31) return; s[n * 32 + t] = v;",
        "for (int k = t; k < 32; k += 256) s[n * 32 + k] = v;", "v = t < 32 ? s[n * 32 + t] : 0;",
        "while (t < n) { t /= 2; s[n * 32 + t] = v; }", "t = n; s[n * 32 + t] = v;"})
    EXPECT_TRUE(has_rows(t + use, {256, 1, 1})) << use;
  // Several that go through a row have to stay there together.
  const std::string loop = "for (int k = 0; k < 32; k += blockDim.y) ";
  EXPECT_TRUE(has_rows(t + loop + "s[threadIdx.x * 32 + y + k] = v;", {32, 8, 1}));
  EXPECT_TRUE(has_rows(t + loop + "if (n > y) s[threadIdx.x * 32 + y + k] = v;", {32, 8, 1}));
  EXPECT_TRUE(has_rows(t + "for (int k = y; k < 16; k += 8) s[n * 32 + k + t / 2] = v;", {32, 8, 1}));
  EXPECT_FALSE(has_rows(t + "for (int k = 0; k < 32; ++k) s[threadIdx.x * 32 + y + k] = v;", {32, 8, 1}));
  EXPECT_FALSE(has_rows(t + "for (int k = 0; k < n; k += 8) s[threadIdx.x * 32 + y + k] = v;", {32, 8, 1}));
  EXPECT_TRUE(has_rows(t + "s[n * 32 + t % 24 + y] = v;", {256, 8, 1}));
  for (const std::string data : {"(in[n] & 31)", "(t ^ 15)", "(31 & in[2 * n + t][3])", "(t | 1)"})
    EXPECT_TRUE(has_rows(t + "s[t * 32 + " + data + "] = v;", {32, 1, 1})) << data;
  for (const std::string data : {"(in[n] & 63)", "(t ^ 32)", "(in[n] | 1)", "(n & t)", "(in[n] << 1)"})
    EXPECT_EQ(has_rows(t + "s[t * 32 + " + data + "] = v;", {32, 1, 1}), data == "(n & t)") << data;
}

/// The body of a kernel, likewise.
std::string body_with_longer_rows(const std::string& body, uint32_t floats, const std::string& before = "") {
  const std::string head = before + "void k() {\n", all = with_longer_rows(head + body + "\n}\n", floats);
  const size_t begin = all.find("void k() {\n");
  if (begin == std::string::npos) return all;
  const size_t first = begin + std::string("void k() {\n").size();
  return all.substr(0, begin) + all.substr(first, all.rfind("\n}\n") - first);
}

TEST(Pitch, GrowsInSubscriptsAndInTheExtent) {
  EXPECT_EQ(body_with_longer_rows("__shared__ float s[16 * 32]; s[y * 32 + x] = s[x * 32];", 512),
            "__shared__ float s[16 * (32 + 1)]; s[y * (32 + 1) + x] = s[x * (32 + 1)];");
  EXPECT_EQ(body_with_longer_rows("const int n = 16; __shared__ float s[n * n]; s[y * n + x] = 1;", 256),
            "const int n = 16; __shared__ float s[n * (n + 1)]; s[y * (n + 1) + x] = 1;");
  // By its value; by as much as all rows need, where the extent is no product.
  EXPECT_EQ(body_with_longer_rows("__shared__ float s[(16 + 2) * 20]; s[x * 18 + y] = 1;", 360),
            "__shared__ float s[(16 + 3) * 20]; s[x * (18 + 1) + y] = 1;");
  EXPECT_EQ(
      body_with_longer_rows("__shared__ float s[16 * (n + 1)]; s[(y * (n + 1)) + x] = s[((n + 1) * x) - 1];",
                            272, "const int n = 16;\n"),
      "const int n = 16;\n__shared__ float s[16 * (n + 2)]; s[(y * (n + 2)) + x] = s[((n + 2) * x) - 1];");
  EXPECT_EQ(body_with_longer_rows("__shared__ float s[1000]; s[x * 32 + y] = 1;", 1000),
            "__shared__ float s[1000 + 32]; s[x * (32 + 1) + y] = 1;");
  EXPECT_EQ(body_with_longer_rows("__shared__ float s[32 * 32]; auto at = [&](int i, int j) -> float& {\n"
                                  "return s[i * 32 + j]; }; at(1, 2) = f(&s[y * 32]);",
                                  1024),
            "__shared__ float s[32 * (32 + 1)]; auto at = [&](int i, int j) -> float& {\n"
            "return s[i * (32 + 1) + j]; }; at(1, 2) = f(&s[y * (32 + 1)]);");
}

TEST(Pitch, GrowsInMacrosThatNameTheArray) {
  const std::string macro = "#define T 32\n#define S(i, j) s[(i) * T + (j)]\n";
  EXPECT_EQ(
      body_with_longer_rows("__shared__ float s[32 * 32]; S(x, y) = 1;", 1024,
                            "namespace c { constexpr int n = 32; }\n#define S(i, j) s[(i) * c::n + (j)]\n"),
      "namespace c { constexpr int n = 32; }\n#define S(i, j) s[(i) * (c::n + 1) + (j)]\n"
      "__shared__ float s[32 * (32 + 1)]; S(x, y) = 1;");
  EXPECT_EQ(body_with_longer_rows("__shared__ float s[T * T]; S(y, x) = S(x, y) + s[T * x];", 1024, macro),
            "#define T 32\n#define S(i, j) s[(i) * (T + 1) + (j)]\n"
            "__shared__ float s[T * (T + 1)]; S(y, x) = S(x, y) + s[(T + 1) * x];");
  // One of them may be meant, or the other; what a parameter stands for is no constant.
  EXPECT_EQ(with_longer_rows(macro + "void k() { __shared__ float s[T * T]; S(y, x) = 1; }\n"
                                     "void g(float* s) { S(0, 1) = 2; s[3] = 4; }\n",
                             1024),
            "");
  EXPECT_EQ(with_longer_rows("const int n = 32;\n#define S(i, j, n) s[(i) * n + (j)]\n"
                             "void k() { __shared__ float s[n * n]; S(y, x, 16) = 1; }\n",
                             1024),
            "");
}

TEST(Pitch, GrowsForAllInstancesOfATemplate) {
  EXPECT_EQ(with_longer_rows("template <int N> void k() { __shared__ float s[N * N]; s[y * N + x] = 1; }\n",
                             256, "k<16>"),
            "template <int N> void k() { __shared__ float s[N * (N + 1)]; s[y * (N + 1) + x] = 1; }\n");
  // That 256 is 16 rows of 16 is true of this instance alone.
  EXPECT_EQ(with_longer_rows("template <int N> void k() { __shared__ float s[256]; s[y * N + x] = 1; }\n",
                             256, "k<16>"),
            "");
  EXPECT_EQ(with_longer_rows("template <int N> void k() { __shared__ float s[16 * M]; s[y * N + x] = 1; }\n"
                             "const int M = 16;\n",
                             256, "k<16>"),
            "");
}

TEST(Pitch, IsOfEverySubscript) {
  const auto of = [](const std::string& use) {
    return body_with_longer_rows("__shared__ float s[32 * 32]; s[y * 32 + x] = 1; " + use, 1024);
  };
  EXPECT_NE(of(""), "");
  EXPECT_NE(of("q.s = 2;"), "");
  EXPECT_EQ(of("s[i] = 2;"), "");
  EXPECT_EQ(of("s[y * 16 + x] = 2;"), "");
  EXPECT_EQ(of("f(s);"), "");
  EXPECT_EQ(of("float* p = &s[y * 32];"), "");
  EXPECT_EQ(of("s[i / 32 * 33 + i % 32] = 2;"), "");
  EXPECT_EQ(of("s[(y * 32) + (z * 32)] = 2;"), "");
  EXPECT_EQ(of("f(&s[0 * 32]);"), "");
  EXPECT_EQ(of("s[y * 32 + x + 1] = s[y * 32 + x - 1];").empty(), false);
  // Not within a row, or not sure to be.
  EXPECT_EQ(of("s[x * 32 + y - 32] = 2;"), "");
  EXPECT_EQ(of("s[512 + y * 32 + x] = 2;"), "");
  EXPECT_EQ(of("s[base + y * 32 + x] = 2;"), "");
  EXPECT_EQ(of("s[(y + 1) * 32 - 1 - x] = 2;"), "");
  EXPECT_EQ(body_with_longer_rows("__shared__ float s[4 * 8 * 16]; s[z * 8 * 16 + y * 16 + x] = 1;", 512),
            "");
  EXPECT_EQ(body_with_longer_rows("__shared__ float s[4 * 8 * 16]; s[(z * 8 + y) * 16 + x] = 1;", 512),
            "__shared__ float s[4 * 8 * (16 + 1)]; s[(z * 8 + y) * (16 + 1) + x] = 1;");
}

}  // namespace
}  // namespace lanescope::advise
