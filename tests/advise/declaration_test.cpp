// Declarations of shared arrays in source text: what is found, and what is said to be unclear.
#include "advise/declaration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/words.hpp"

namespace lanescope::advise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Result {
  std::vector<uint64_t> extents;
  uint32_t element_bytes = 0, line = 0;
  std::string assumed, unclear;
};

Result find(const std::string& text, uint64_t bytes, uint32_t used_at = 1000,
            const std::string& name = "tile", const std::string& function = "") {
  const auto found = find_declaration(text, name, bytes, used_at, function);
  Result result;
  if (const auto* why = std::get_if<Unclear>(&found)) {
    result.unclear = why->reason;
    return result;
  }
  const auto& declaration = std::get<Declaration>(found);
  for (const Extent& extent : declaration.extents) {
    result.extents.push_back(extent.value);
    EXPECT_EQ(text.substr(extent.begin, extent.end - extent.begin), extent.text);
  }
  result.element_bytes = declaration.element_bytes;
  result.line = declaration.line;
  result.assumed = declaration.assumed;
  return result;
}

TEST(Declaration, ReadsNumbersMacrosConstantsAndEnumerators) {
  EXPECT_THAT(find("__shared__ float tile[32][33];", 4224).extents, ElementsAre(32, 33));
  EXPECT_THAT(
      find("#define TILE 0x20  // lanes\n#define WIDE (TILE + 1)\n__shared__ float tile[TILE][WIDE];", 4224)
          .extents,
      ElementsAre(32, 33));
  EXPECT_THAT(
      find("constexpr int a = 4, b = a << 3;\nstatic __shared__ double tile[b][a * 2 - 1];", 1792).extents,
      ElementsAre(32, 7));
  EXPECT_THAT(
      find("enum { rows = 16 };\n__shared__ volatile unsigned int tile [rows] /* ; */ [rows];", 1024).extents,
      ElementsAre(16, 16));
  EXPECT_THAT(find("const unsigned n = 1024 / sizeof(float);\n__shared__ float a, tile[n], b;", 1024).extents,
              ElementsAre(256));
}

TEST(Declaration, LooksThroughNamesOfArrayTypes) {
  for (const char* type : {"using rows = float[n][8];", "typedef float rows[n][8];",
                           "using row = float[8]; typedef row rows[n];"})
    EXPECT_THAT(find(std::string("enum { n = 4 };\n") + type + "\n__shared__ rows tile;", 128).extents,
                ElementsAre(4, 8))
        << type;
  const std::string row = "using real = float;\nusing row = real[8];\n__shared__ row tile[4][2], other;";
  EXPECT_THAT(find(row, 256).extents, ElementsAre(4, 2, 8));
  EXPECT_THAT(find(row, 32, 1000, "other").extents, ElementsAre(8));
  // That of the block that the array is in.
  EXPECT_THAT(
      find("void f() { using row = int[3]; }\nvoid k() { using row = int[5]; __shared__ row tile[2]; }", 40)
          .extents,
      ElementsAre(2, 5));
  for (const char* nothing : {"using row = [3];", "typedef row[3];", "using row = row;", "using row = ;"})
    EXPECT_THAT(find(std::string(nothing) + " __shared__ row tile[4];", 128).extents, ElementsAre(4))
        << nothing;
  EXPECT_THAT(find("struct row { float x[8]; };\n__shared__ row tile[4];", 128).extents, ElementsAre(4));
  EXPECT_EQ(find("template <int n> using rows = float[n][n];\n__shared__ rows<8> tile;", 256).unclear,
            "line 2: the extents of 'tile' are not clear: its type 'rows<8>' does not show them");
  EXPECT_EQ(find("__shared__ array<array<float, 8>, 8> tile;", 256).unclear,
            "line 1: the extents of 'tile' are not clear: its type 'array<array<float, 8>, 8>' does not show "
            "them");
  EXPECT_EQ(find("__shared__ float tile;", 4).unclear,
            "line 1: the extents of 'tile' are not clear: it is no array");
}

/// Where the text has one value for the last name. What a template parameter of that name is, is another
/// thing.
TEST(Declaration, ReadsConstantsOfNamespacesAndClasses) {
  EXPECT_THAT(
      find("namespace a { constexpr int rows = 8; }\nstruct C { static constexpr int columns = 9; };\n"
           "__shared__ float tile[a::rows][n::C::columns + 1];",
           320)
          .extents,
      ElementsAre(8, 10));
  const std::string two = "namespace a { constexpr int n = 8; }\nnamespace b { constexpr int n = 9; }\n";
  EXPECT_THAT(find(two + "__shared__ half tile[a::n][32];", 512).extents, ElementsAre(8, 32));
  EXPECT_THAT(find(two + "__shared__ half tile[n][32];", 512).assumed, "n = 8, from the array's size");
  EXPECT_THAT(find("struct A { static constexpr int n = 4; };\nstruct B { static constexpr int n = 8; };\n"
                   "template <class C> __global__ void k() { __shared__ float tile[4][C::n]; }",
                   128, 3, "tile", "k<B>")
                  .extents,
              ElementsAre(4, 8));
  EXPECT_THAT(
      find("template <int n> __global__ void k() { __shared__ float tile[C::n][n]; }", 512, 1, "tile", "k<8>")
          .extents,
      ElementsAre(16, 8));
}

TEST(Declaration, ReadsConstantsOfTheBlockThatItStandsIn) {
  const std::string text =
      "void a() { constexpr int m = 4, n{8}; __shared__ float tile[m][n]; }\n"
      "void b() { const int m = 8, n = 16; { const int m = 2; __shared__ float tile[m][n]; } }\n"
      "#define PITCH (2 * n)\nvoid c() { const int n = 4; __shared__ float tile[3][PITCH]; }\n"
      "void d() { __shared__ float tile[n][32]; }";
  EXPECT_THAT(find(text, 128, 1, "tile", "a").extents, ElementsAre(4, 8));
  EXPECT_THAT(find(text, 128, 2, "tile", "b").extents, ElementsAre(2, 16));
  EXPECT_THAT(find(text, 96, 4, "tile", "c").extents, ElementsAre(3, 8)) << "a macro means what is there";
  EXPECT_EQ(find(text, 512, 5, "tile", "d").assumed, "n = 4, from the array's size")
      << "of no other function";
}

TEST(Declaration, ReadsConditionsAndCalls) {
  const auto extents = [](const std::string& before, const std::string& extent, uint64_t bytes) {
    return find(before + "\n__shared__ float tile[4][" + extent + "];", bytes, 9).extents;
  };
  EXPECT_THAT(extents("", "3 > 2 && 4 != 5 ? 8 : 1 << 6", 128), ElementsAre(4, 8));
  EXPECT_THAT(extents("#define N 8", "N <= 4 || !N ? 16 : N % 3 == 2 ? 12 : 20", 192), ElementsAre(4, 12));
  EXPECT_THAT(extents("", "std::max(4, min(8, 16))", 128), ElementsAre(4, 8));
  EXPECT_THAT(extents("#define UP(a, b) (((a) + (b) - 1) / (b))", "UP(60, 32) * 32", 1024),
              ElementsAre(4, 64));
  EXPECT_THAT(extents("constexpr int twice(int n) { return 2 * n; }", "twice(4) + unsigned(1)", 144),
              ElementsAre(4, 9));
  std::string endless;
  for (int i = 0; i < 100000; ++i) endless += "0 ? 8 : ";
  EXPECT_THAT(find("__shared__ float tile[4][" + endless + "8];", 128).unclear,
              HasSubstr("can be evaluated"));
  EXPECT_EQ(find("template <int a> __global__ void k() {\n#define TWICE(a) (2 * (a))\n"
                 "__shared__ float tile[4][TWICE(a + 1)]; }",
                 96, 3, "tile", "k<2>")
                .assumed,
            "a = 2")
      << "a parameter of the macro hides nothing outside of it";
}

TEST(Declaration, LooksForTypedefsBehindDirectives) {
  EXPECT_THAT(
      find("#include <cstdio>\ntypedef float T[4][8];\nvoid f(const T a);\nvoid k() { __shared__ T tile; }",
           128)
          .extents,
      ElementsAre(4, 8));
}

TEST(Declaration, SaysWhatElseDeclaresTheName) {
  EXPECT_EQ(
      find("void k() {\n__shared__ __align__(16) union { float a[32]; int b[32]; } tile;\n}", 128).unclear,
      "line 2: 'tile' is a union");
  EXPECT_EQ(find("#define K(NAME) void NAME() { \\\n  __shared__ float tile[4][8]; }\nK(k)", 128).unclear,
            "line 2: a macro declares 'tile'");
}

TEST(Declaration, ReadsTypesOnEitherSide) {
  const std::string text = "void k() { int i; const float __shared__ tile[4][8], b[3]; }";
  const auto found = find_declaration(text, "tile", 128, 1);
  ASSERT_TRUE(std::holds_alternative<Declaration>(found));
  EXPECT_EQ(std::get<Declaration>(found).type, "const float __shared__");
  EXPECT_FALSE(std::get<Declaration>(found).plain);
  EXPECT_THAT(find("double __shared__ tile[32];", 128).unclear, HasSubstr("do not make 128 bytes"));
}

TEST(Declaration, KnowsElementsByTheArraysSize) {
  EXPECT_EQ(find("struct P { float x, y, z; };\n__shared__ P tile[64];", 768).element_bytes, 12u);
  EXPECT_EQ(find("__shared__ float tile[32][32];", 4096).element_bytes, 4u);
  EXPECT_THAT(find("__shared__ float tile[32][32];", 8192).unclear, HasSubstr("do not make 8192 bytes"));
}

TEST(Declaration, SolvesForOneUnknownName) {
  const Result square =
      find("template <int T> __global__ void k() { __shared__ float tile[T][T + 1]; }", 4224);
  EXPECT_THAT(square.extents, ElementsAre(32, 33));
  EXPECT_EQ(square.assumed, "T = 32, from the array's size");
  EXPECT_THAT(find("__shared__ float tile[R][C];", 4096).unclear, HasSubstr("'C' and 'R' are not defined"));
  EXPECT_THAT(find("__shared__ T tile[N][N];", 4096).unclear, HasSubstr("neither 'N' nor the size of 'T'"));
  EXPECT_THAT(find("__shared__ float tile[N][N];", 4100).unclear, HasSubstr("no value of 'N'"));
  EXPECT_THAT(find("__shared__ float tile[N % 4 + 1];", 16).unclear, HasSubstr("several values of 'N'"));
}

TEST(Declaration, TakesTheArgumentOfATemplateForAConstantOfItsName) {
  const std::string text =
      "template <int n> __global__ void k() { __shared__ float tile[n][n]; }\nvoid other() { const int n = "
      "8; }";
  EXPECT_THAT(find(text, 1024, 1, "tile", "k<16>").extents, ElementsAre(16, 16));
}

/// Of several in one function those that are as large as the array; of these the nearest above its use.
TEST(Declaration, ChoosesAmongThoseOfAFunction) {
  const std::string text =
      "template <bool wide> void k() {\n"
      "  if (wide) {\n    __shared__ float tile[32][32];\n    tile[0][0] = 1;\n  } else {\n"
      "    __shared__ float tile[16][16];\n    tile[0][0] = 1;\n  }\n"
      "  { __shared__ float tile[32][32];\n    tile[0][0] = 1; }\n}";
  EXPECT_EQ(find(text, 1024, 7, "tile", "k<true>").line, 6u);
  EXPECT_EQ(find(text, 4096, 4, "tile", "k<true>").line, 3u);
  EXPECT_EQ(find(text, 4096, 10, "tile", "k<true>").line, 9u);
}

TEST(Declaration, KnowsTemplateArgumentsFromTheFunctionsName) {
  const std::string text =
      "template <class T> void other(T) {}\n"
      "template <int rows, int columns = 32, typename T = float>\n"
      "__global__ void __launch_bounds__(256) k(T* out) {\n  __shared__ T tile[rows][columns + 1];\n}";
  const Result known = find(text, 16 * 33 * 8, 4, "tile", "k<16, 32, double>");
  EXPECT_THAT(known.extents, ElementsAre(16, 33));
  EXPECT_EQ(known.element_bytes, 8u);
  EXPECT_EQ(known.assumed, "columns = 32, rows = 16");
  EXPECT_THAT(find(text, 16 * 33 * 8, 4).unclear, HasSubstr("are not defined in this file"));
  EXPECT_THAT(find(text, 16 * 33 * 8, 4, "tile", "other<double>").unclear, HasSubstr("are not defined"));
  EXPECT_THAT(
      find("template <int... n> void k() { __shared__ float tile[A][B]; }", 64, 4, "tile", "k<1, 2>").unclear,
      HasSubstr("are not defined"));
  EXPECT_THAT(find("template <int pad> void k() { __shared__ float tile[32][32 + pad]; }", 4096).extents,
              ElementsAre(32, 32))
      << "a padding may be 0";
}

TEST(Declaration, KnowsTheFunctionOfAVariable) {
  EXPECT_EQ(function_of("void transpose<32, float>(float*, float const*)::tile"), "transpose<32, float>");
  EXPECT_EQ(function_of("void (anonymous namespace)::k<(int)4, A<int> >(void (*)(int))::s"),
            "k<(int)4, A<int> >");
  EXPECT_EQ(function_of("k(float*)::tile"), "k");
  EXPECT_EQ(function_of("transpose::tile"), "transpose");
  EXPECT_EQ(function_of("tile"), "");
  EXPECT_EQ(function_of(")::tile"), "");
}

/// The access may stand in a function that is defined above.
TEST(Declaration, IsTheOneInTheFunction) {
  const std::string two =
      "__device__ float load(const float* p) { return *p; }\n"
      "__global__ void a() { if (true) {\n  __shared__ float tile[32][32];\n} }\n"
      "__global__ void __launch_bounds__(64) b() {\n  __shared__ float tile[32][33];\n}\n";
  EXPECT_EQ(find(two, 4096, 1, "tile", "a").line, 3u);
  EXPECT_EQ(find(two, 4224, 1, "tile", "b").line, 6u);
  EXPECT_THAT(find(two, 4224, 1, "tile", "c").unclear, HasSubstr("declared above line 1"));
}

TEST(Declaration, IsNoneOfAnotherFunction) {
  const std::string two =
      "__global__ void a() {\n  __shared__ float tile[32][32];\n}\n"
      "KERNEL(b) {\n  __shared__ float tile[32][33];\n  tile[0][0] = 1;\n}\nKERNEL(c) {\n}\n";
  EXPECT_EQ(find(two, 4224, 6, "tile", "b_float").line, 5u);
  EXPECT_THAT(find(two, 4224, 9, "tile", "c_float").unclear, HasSubstr("no `__shared__ … tile` is declared"));
}

TEST(Declaration, MayDefineItsStruct) {
  for (const char* type :
       {"struct Cell { float a[2]; int b; } tile[32], other;",
        "struct : Base { unsigned padding[1]; }\n tile[32];", "class { char c[12]; } tile[32];"}) {
    const auto found =
        find_declaration(std::string("void k() { __shared__ ") + type + " }", "tile", 384, 1000);
    ASSERT_TRUE(std::holds_alternative<Declaration>(found)) << type;
    const auto& declaration = std::get<Declaration>(found);
    EXPECT_EQ(declaration.element_bytes, 12u) << type;
    EXPECT_FALSE(declaration.plain);
    EXPECT_EQ(declaration.type, trimmed(std::string_view(type).substr(0, std::string_view(type).find('{'))));
  }
}

TEST(Declaration, TakesTheNearestAboveTheUse) {
  const std::string two =
      "__global__ void a() {\n  __shared__ float tile[32][32];\n}\n"
      "__global__ void b() {\n  __shared__ float tile[32][33];\n}\n";
  EXPECT_EQ(find(two, 4096, 3).line, 2u);
  EXPECT_EQ(find(two, 4224, 6).line, 5u);
}

TEST(Declaration, TakesWhatTheLaunchGivesForTheFirstExtent) {
  const Result row = find("extern __shared__ float tile[];", 4096);
  EXPECT_THAT(row.extents, ElementsAre(1024));
  EXPECT_EQ(row.element_bytes, 4u);
  EXPECT_THAT(find("enum { n = 33 };\nextern __shared__ double tile[][n];", 2640).extents,
              ElementsAre(10, 33));
  EXPECT_EQ(
      find("template <class T> void f() {\n  extern __shared__ T tile[];\n}", 4096, 1000, "tile", "f<float2>")
          .element_bytes,
      8u);
}

TEST(Declaration, SaysWhatItCannotKnow) {
  EXPECT_THAT(find("extern __shared__ char tile[];", 4096).unclear, HasSubstr("the launch decides"));
  EXPECT_THAT(find("extern __shared__ Body tile[];", 4096).unclear, HasSubstr("the launch decides"));
  EXPECT_THAT(find("extern __shared__ float tile[][N];", 4096).unclear, HasSubstr("the launch decides"));
  EXPECT_THAT(find("// __shared__ float tile[4];\nconst char* s = \"__shared__ int tile[4];\";", 16).unclear,
              HasSubstr("no `__shared__ … tile` is declared"));
  EXPECT_THAT(find("#ifdef A\n#define N 16\n#else\n#define N 32\n#endif\n__shared__ T tile[N];", 64).unclear,
              HasSubstr("neither 'N'"));
  EXPECT_THAT(find("__shared__ float tile;", 4).unclear, HasSubstr("no array"));
  EXPECT_THAT(find("__shared__ float tile[size()];", 64).unclear,
              HasSubstr("no expression that can be evaluated"));
}

TEST(Declaration, SurvivesTextThatIsCutOff) {
  const std::string text =
      "#define N (16\nconstexpr int k = {3};\n/* a */ \"s\" 'c' __shared__ float tile[N][k + (2)], other[7]; "
      "/* ";
  for (size_t length = 0; length <= text.size(); ++length) {
    const auto found = find_declaration(std::string_view(text).substr(0, length), "tile", 64, 100);
    EXPECT_TRUE(std::holds_alternative<Unclear>(found)) << length;
  }
}

TEST(Declaration, IsPaddedByWhatIsAddedToItsExtent) {
  const auto of = [](const std::string& text) { return padded(Extent{text, 0, 0, 0}, 31); };
  EXPECT_EQ(of("32"), "32 + 31");
  EXPECT_EQ(of("TILE"), "TILE + 31");
  EXPECT_EQ(of("TILE + 1"), "TILE + 32");
  EXPECT_EQ(of("n * (m - 1) +2"), "n * (m - 1) +33");
  EXPECT_EQ(of("a[0] + 1 + 1"), "a[0] + 1 + 32");
  EXPECT_EQ(of("n - 1"), "n - 1 + 31");
  EXPECT_EQ(of("n * 2"), "n * 2 + 31");
  EXPECT_EQ(of("n + 010"), "n + 010 + 31");
  EXPECT_EQ(of("n + 0x10"), "n + 0x10 + 31");
  EXPECT_EQ(of("n + 1u"), "n + 1u + 31");
  EXPECT_EQ(of("n * +1"), "n * +1 + 31");
  EXPECT_EQ(of("n + k1"), "n + k1 + 31");
  EXPECT_EQ(of("n < 4 ? 5 : n + 1"), "(n < 4 ? 5 : n + 1) + 31");
}

TEST(Declaration, IsUnpaddedWhereItsTextEndsWithThePadding) {
  const auto of = [](const std::string& text) { return unpadded(Extent{text, 0, 0, 33}, 1); };
  EXPECT_EQ(of("33"), "32");
  EXPECT_EQ(of("TILE + 1"), "TILE");
  EXPECT_EQ(of("2*TILE+1"), "2*TILE");
  EXPECT_EQ(of("TILE + 1 + 1"), "TILE + 1");
  EXPECT_EQ(of("TILE + /* a + b */ 1"), "TILE");
  for (const char* text : {"TILE", "TILE + 2", "1 + TILE", "wide ? 5 : n + 1"})
    EXPECT_EQ(of(text), "") << text;
}

TEST(Declaration, EndsOnConstantsThatCallThemselves) {
  EXPECT_FALSE(find("#define A B\n#define B A\n__shared__ float tile[A];", 64).unclear.empty());
  EXPECT_FALSE(find("__shared__ float tile[" + std::string(5000, '(') + "1", 64).unclear.empty());
  EXPECT_FALSE(find("__shared__ float tile[" + std::string(5000, '-') + "1];", 64).unclear.empty());
}

}  // namespace
}  // namespace lanescope::advise
