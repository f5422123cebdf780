// Structs in shared memory, taken apart into their members.
#include "advise/members.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advise/rewrite.hpp"

namespace lanescope::advise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// "a 0 4096" for each member: name, offset, bytes.
std::vector<std::string> laid_out(const std::string& text, uint64_t bytes, const std::string& type = "S",
                                  std::string_view other = "") {
  const std::optional<Struct> found = find_struct({text, other}, type);
  if (!found || found->bytes != bytes) return {};
  std::vector<std::string> all;
  for (const Member& m : found->members)
    all.push_back(m.declaration.name + " " + std::to_string(m.offset) + " " + std::to_string(m.bytes));
  return all;
}

TEST(Members, LieWhereTheCompilerPutsThem) {
  EXPECT_THAT(laid_out("constexpr int n = 32;\nstruct S { float a[n][n], b[n][n + 1]; int flag; };", 8324),
              ElementsAre("a 0 4096", "b 4096 4224", "flag 8320 4"));
  EXPECT_THAT(laid_out("struct S { char c; double d[2]; float3 f[3]; float4 v; short s; };", 96),
              ElementsAre("c 0 1", "d 8 16", "f 24 36", "v 64 16", "s 80 2"));
  EXPECT_THAT(
      laid_out("class alignas(128) S {\n public:\n  alignas(64) half a[4];\n  __align__(16) half b[3];\n};",
               128),
      ElementsAre("a 0 8", "b 16 6"));
}

TEST(Members, HaveExtentsWithParentheses) {
  EXPECT_THAT(
      laid_out("struct S { float a[4 * (8 + 1)]; int& operator[](int i) { return b; } int b; };", 148),
      ElementsAre("a 0 144", "b 144 4"));
}

TEST(Members, MayBePointersVectorsAndStructs) {
  EXPECT_THAT(
      laid_out("struct In { char3 c; ushort4 v; };\ntypedef struct Out_ { double3 d; In in[3]; } Out;\n"
               "struct S { bool b; Out out; const float* p[2]; ulonglong2 l; signed char e; };",
               128),
      ElementsAre("b 0 1", "out 8 72", "p 80 16", "l 96 16", "e 112 1"));
}

TEST(Members, MayStandInSeveralTexts) {
  const std::string in = "struct In { float x, y; };", out = "struct S { In in[3]; float z; };";
  EXPECT_THAT(laid_out(out, 28, "S", in), ElementsAre("in 0 24", "z 24 4"));
  EXPECT_THAT(laid_out(in, 28, "S", out), ElementsAre("in 0 24", "z 24 4"));
  EXPECT_EQ(find_struct({in, out}, "S").value().text, 1u);
  EXPECT_FALSE(find_struct({in, ""}, "S").has_value());
}

TEST(Members, AreFoundAmongFunctionsAndTypes) {
  EXPECT_THAT(
      laid_out("template <typename T, int R, int C>\nstruct Tile {\n  static constexpr int rows = R;\n"
               "  using type = T;\n  enum { columns = C };\n  T data[rows][C];\n"
               "  __device__ T& operator()(int r, int c) { return data[r][c]; }\n"
               "  __device__ int size() const;\n  static_assert(R > 0);\n};",
               4096, "Tile<float,32,32>"),
      ElementsAre("data 0 4096"));
}

TEST(Members, AreOfTemplatesInNamespacesAndWithDefaultArguments) {
  const std::string text =
      "namespace ns {\ntemplate <class T, int n, int pad = 0, class U = T> struct S { T a[n][n + pad]; "
      "};\n}\n";
  EXPECT_THAT(laid_out(text, 4096, "S<float,32>"), ElementsAre("a 0 4096"));
  EXPECT_THAT(laid_out(text, 8448, "ns::S<double,32,1>"), ElementsAre("a 0 8448"));
  EXPECT_THAT(laid_out(text, 4096, "S<float>"), IsEmpty());
  EXPECT_THAT(laid_out("template <int n, int m = n + 1> struct S { float a[n][m]; };", 4224, "S<32>"),
              IsEmpty());
}

TEST(Members, AreLeftAloneWhereTheyAreNotClear) {
  for (const char* text :
       {"struct S { float a[32][32]; };\nstruct S { float b[32][32]; };", "struct T { float a[32][32]; };",
        "struct S { float a[32][N]; };", "struct S { Other o; float a[32][31]; };",
        "struct S : Base { float a[32][32]; };", "struct S { union { float a[32][32]; int b[1024]; }; };",
        "struct S { float* p; float a[32][32]; };", "struct S { float *a[2], b[32][32]; };",
        "struct S { S s; float a[32][32]; };", "struct S { float a[32][16]; };",
        "struct S { int bits : 3; float a[32][32]; };", "struct S { float a[32][32]",
        "template <int n> struct S { float a[n][n]; };"})
    EXPECT_THAT(laid_out(text, 4096), IsEmpty()) << text;
}

TEST(Members, AreOfTheTypeOfTheVariable) {
  const auto type = [](const std::string& declaration, const std::string& function = "k") {
    const auto found =
        struct_variable("constexpr int n = 8;\ntemplate <class T, int m>\nvoid k(T* p) {\n  __shared__ " +
                            declaration + ";\n}\nvoid other() { __shared__ Other s; }\n",
                        "s", function);
    return found ? found->type : "";
  };
  EXPECT_EQ(type("Storage s"), "Storage");
  EXPECT_EQ(type("ns::Storage s"), "ns::Storage");
  EXPECT_EQ(type("Tile<float, 4 * n + 4, 32> s"), "Tile<float,36,32>");
  EXPECT_EQ(type("Tile<T, m, n> s", "k<double, 16>"), "Tile<double,16,8>");
  EXPECT_EQ(type("Tile<Unknown, 4> s"), "");
  EXPECT_EQ(type("Storage s[2]"), "");
  EXPECT_EQ(type("Storage t"), "");
  EXPECT_EQ(type("Storage s", "other"), "Other");
}

/// `__shared__ struct { … } s;`, with a name or without.
TEST(Members, AreOfAStructThatTheVariableIsDeclaredWith) {
  const auto members = [](const std::string& type) {
    const std::string text = "void k() {\n  __shared__ " + type + " { float a[32][32]; int n; } s;\n}\n";
    const auto found = struct_variable(text, "s", "k");
    return found ? struct_of({text}, *found) : std::nullopt;
  };
  for (const char* type : {"struct", "struct Storage", "class Storage"}) {
    const auto found = members(type);
    ASSERT_TRUE(found) << type;
    EXPECT_EQ(found->bytes, 4100u);
    EXPECT_EQ(found->members.at(1).offset, 4096u);
    EXPECT_FALSE(found->members.at(0).declaration.member_of.empty());
  }
  EXPECT_FALSE(members("struct alignas(16)")) << "its size is another one";
}

TEST(Members, GetLongerRowsWhereTheyAreDeclared) {
  const auto refused = [](const std::string& use, const Layout& layout) {
    const std::string text = "struct S { float a[32][32]; float b[64]; };\n" + use;
    const Member member = find_struct({text}, "S").value().members.at(0);
    const auto change =
        rewrite(text, member.declaration, {.bytes = 4096, .row_bytes = 128, .element_bytes = 4}, layout);
    if (const auto* why = std::get_if<Unclear>(&change)) return why->reason;
    const auto& done = std::get<Rewrite>(change);
    EXPECT_EQ(patched(text, done.edits, "f"), "struct S { float a[32][32 + 1]; float b[64]; };\n" + use);
    EXPECT_EQ(done.what, "float a[32][32 + 1]");
    return done.condition;
  };
  EXPECT_EQ(refused("void k() { __shared__ S s; s.a[1][2] = s.b[3]; f(a, b); }", RowPadding{1}), "");
  EXPECT_EQ(refused("void k() { sum(1, s->t.a); }", RowPadding{1}),
            "line 2 gives it to 'sum', which has to take rows so long");
  EXPECT_EQ(refused("void k() { float* p = &s.a[0][0]; }", RowPadding{1}), "line 2 takes an address in 'a'");
  for (const Layout& layout : {Layout(Swizzle{4, {1, 2, 4, 8, 16}}), Layout(Transposed{})})
    EXPECT_EQ(refused("", layout), "it is a member of 'S'");
}

TEST(Members, GetLongerRowsInFunctionsThatTakeThem) {
  const std::string text =
      "struct S { float a[8][8], b[8][8]; };\nvoid f(float (*p)[8]) { p[1][0] = 2; }\n"
      "float g(const float* p, int pitch, int r) { return p[r * pitch]; }\n"
      "void k() { __shared__ S s; f(s.a); x = g(&s.a[0][0], 8, i) + g(&s.b[0][0], 8, i); }\n";
  const Member member = find_struct({text}, "S").value().members.at(0);
  const auto change = rewrite(text, member.declaration, {.bytes = 256, .row_bytes = 32}, RowPadding{1});
  ASSERT_TRUE(std::holds_alternative<Rewrite>(change));
  EXPECT_EQ(patched(text, std::get<Rewrite>(change).edits, "f"),
            "struct S { float a[8][8 + 1], b[8][8]; };\nvoid f(float (*p)[8 + 1]) { p[1][0] = 2; }\n"
            "float g(const float* p, int pitch, int r) { return p[r * pitch]; }\n"
            "void k() { __shared__ S s; f(s.a); x = g(&s.a[0][0], 8 + 1, i) + g(&s.b[0][0], 8, i); }\n");
}

TEST(Members, StayAlignedWhereTheyAreReadAsVectors) {
  const std::string text =
      "struct S { float a[32][32]; };\nvoid k() { x = *reinterpret_cast<float4*>(&s.a[1][2]); }";
  EXPECT_EQ(vector_bytes(text, find_struct({text}, "S").value().members.at(0).declaration), 16u);
}

}  // namespace
}  // namespace lanescope::advise
