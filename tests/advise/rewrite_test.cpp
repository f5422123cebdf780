// Changes of the source that give an array another layout: what is written, and what is left alone and why.
#include "advise/rewrite.hpp"

#include "advise/fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lanescope::advise {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Rewritten {
  std::string text, what, refused;
  bool uses_tiles = false;
  std::string condition{};
};

/// The text with the layout given to the array `name` of `bytes` bytes. `row_bytes`: of arrays without rows.
Rewritten rewritten(const std::string& text, uint32_t bytes, const Layout& layout, uint32_t row_bytes = 128,
                    const std::string& name = "s") {
  const auto found = find_declaration(text, name, bytes, 1000);
  if (const auto* why = std::get_if<Unclear>(&found)) return {"", "", why->reason};
  const auto& declaration = std::get<Declaration>(found);
  const bool has_rows = declaration.row_bytes() != 0;
  const Shape shape{.bytes = bytes,
                    .row_bytes = has_rows ? declaration.row_bytes() : row_bytes,
                    .element_bytes = declaration.element_bytes,
                    .has_rows = has_rows};
  const auto change = rewrite(text, declaration, shape, layout);
  if (const auto* why = std::get_if<Unclear>(&change)) return {"", "", why->reason};
  const auto& done = std::get<Rewrite>(change);
  return {patched(text, done.edits, "f"), done.what, "", done.uses_tiles, done.condition};
}

TEST(Rewrite, LengthensTheLastExtent) {
  const Rewritten one = rewritten("__shared__ float s[2][n][n];\nenum { n = 16 };", 2048, RowPadding{1});
  EXPECT_EQ(one.text, "__shared__ float s[2][n][n + 1];\nenum { n = 16 };");
  EXPECT_EQ(one.what, "float s[2][n][n + 1]");
  EXPECT_FALSE(one.uses_tiles);
  EXPECT_EQ(rewritten("__shared__ double s[8][1 << 3], t;", 512, RowPadding{2}).text,
            "__shared__ double s[8][(1 << 3) + 1], t;");
  EXPECT_EQ(rewritten("__shared__ double s[8][8];", 512, RowPadding{1}).refused,
            "the padding is no whole number of elements");
  EXPECT_EQ(rewritten("__shared__ float s[8][8  // eight\n];", 256, RowPadding{1}).refused,
            "there is a comment in the extent");
}

/// The parameter of a function may say how long its rows are, and may stand in another file.
TEST(Rewrite, SaysWhichFunctionHasToTakeLongerRows) {
  const auto condition = [](const std::string& body) {
    return rewritten("void k() {\n  __shared__ float s[8][8];\n  " + body + "\n}\nvoid f() { g(s); }\n", 256,
                     RowPadding{1})
        .condition;
  };
  EXPECT_EQ(condition("load(s, in);"), "line 3 gives it to 'load', which has to take rows so long");
  EXPECT_EQ(condition("x = sum<8>(f(1), s);"), "line 3 gives it to 'sum', which has to take rows so long");
  EXPECT_EQ(condition("Walker<8> w{s};"), "line 3 gives it to 'w', which has to take rows so long");
  EXPECT_EQ(condition("walk(Walker{3, s, n}, in);"),
            "line 3 gives it to 'Walker', which has to take rows so long");
  EXPECT_EQ(condition("float x[] = {s[1][2], 3};"), "");
  for (const char* body : {"s[1][2] = 3;", "load(s[1]);", "n = sizeof(s);", "if (t.s) (x, s);"})
    EXPECT_EQ(condition(body), "") << body;
}

Rewritten given(const std::string& functions, const std::string& uses) {
  return rewritten(
      functions + "\nvoid k() {\n  __shared__ float s[8][n], t[8][n];\n  " + uses + "\n}\nenum { n = 8 };\n",
      256, RowPadding{1});
}

/// What takes the array takes longer rows, and so do its other arrays.
TEST(Rewrite, LengthensTheRowsOfParameters) {
  for (const char* parameter : {"float (*p)[n]", "float (&p)[8][n]", "const float p[][8]", "float p[8][n]"}) {
    const std::string head = std::string("void f(int i, ") + parameter;
    const Rewritten one =
        given(head + ");\nvoid g(int n, float* p) { p[n] = 0; }\n" + head + ") { p[i][0] = 1; }", "f(1, s);");
    const std::string longer =
        std::string(head.substr(0, head.rfind(']'))) + " + 1]" + head.substr(head.rfind(']') + 1);
    EXPECT_THAT(one.text, HasSubstr(longer + ");\n")) << one.refused;
    EXPECT_THAT(one.text, HasSubstr(longer + ") { p[i][0] = 1; }\n"));
    EXPECT_THAT(one.text, HasSubstr("void g(int n, float* p) { p[n] = 0; }"));
    EXPECT_EQ(one.condition, "");
  }
  const Rewritten both = given("void f(float (*p)[n]) { }", "f(s); f(t);");
  EXPECT_THAT(both.text, HasSubstr("__shared__ float s[8][n + 1], t[8][n + 1];"));
  EXPECT_EQ(both.condition, "the rows of t become as long, for the same function takes it");
  EXPECT_THAT(given("void g(float (*q)[n]) { }\nvoid f(float (*p)[n]) { g(p); }", "f(s);").text,
              HasSubstr("void g(float (*q)[n + 1]) { }\nvoid f(float (*p)[n + 1]) { g(p); }"));
  EXPECT_EQ(given("void f(float (*p)[n]) { }", "f(s); f(h->other);").refused,
            "'f' takes 'h->other' in line 4 as well, whose rows would have to be as long");
  EXPECT_EQ(given("void f(float (*p)[n]) { }\nvoid f(double (*p)[n]) { }", "f(s);").refused,
            "line 5 gives it to 'f', which is defined more than once");
}

TEST(Rewrite, LeavesRowsToTheCompilerThatFindsThem) {
  const std::string f = "template <int r, int c> void f(float (&p)[r][c]) { p[0][1] = 2; }";
  EXPECT_THAT(given(f, "f(s);").text, StartsWith(f));
  EXPECT_THAT(given("template <int c> void f(float (*p)[c]) { }", "f<n>(s);").text,
              StartsWith("template <int c> void f(float (*p)[c + 1]) { }"));
  // What it finds out otherwise stays as long as it is; what it finds out by the rows is for nothing else.
  EXPECT_THAT(given("template <int c> void f(float (&p)[c][c]) { g(c); }", "f(s);").text,
              StartsWith("template <int c> void f(float (&p)[c][c + 1]) { g(c); }"));
  EXPECT_EQ(
      given("template <int c> void f(float (*p)[c]) { g(c); }", "f(s);").refused,
      "line 4 gives it to 'f', where 'c' is the length of its rows and more: make these two parameters of "
      "the template");
}

/// A pitch that is handed over grows; one that a function knows is for people.
TEST(Rewrite, HandsOverALongerPitch) {
  const std::string f = "float f(const float* p, int pitch, int r) { return p[r * pitch + r]; }";
  for (const char* array : {"&s[0][0]", "s[0]", "*s", "(float*)&s[0][0]", "(const float*)s",
                            "reinterpret_cast<float*>(s)", "reinterpret_cast<float*>(&s[0][0])"}) {
    const Rewritten one = given(f, "x = f(" + std::string(array) + ", n, i) + f(in, n, n);");
    EXPECT_THAT(one.text, HasSubstr("x = f(" + std::string(array) + ", n + 1, i) + f(in, n, n);"))
        << one.refused;
  }
  EXPECT_THAT(given(f, "x = f(&s[0][0], 8, i);").text, HasSubstr("f(&s[0][0], 8 + 1, i);"));
  EXPECT_EQ(
      given("float f(const float* p, int r) {\n  return p[r * n + r];\n}", "x = f(&s[0][0], i);").refused,
      "line 6 gives a pointer into it to 'f', which takes rows of n for granted in line 2: let it "
      "multiply by n + 1 there, for all that it is given");
}

/// Where the next element lies somewhere else.
TEST(Rewrite, LeavesArraysAloneThatFunctionsGoOnIn) {
  const auto swizzled = [](const std::string& body) {
    return rewritten("float f(float* p, int i) { return " + body +
                         "; }\nvoid k() { __shared__ float s[16][16]; x = f(&s[0][0], 3); }",
                     1024, Swizzle{4, {0, 2, 4, 8}})
        .refused;
  };
  for (const char* body : {"p[i]", "*(p + i)", "*(i + p)", "*++p"})
    EXPECT_EQ(swizzled(body), "line 2 gives a pointer into it to 'f', which goes on from there in line 1")
        << body;
  EXPECT_EQ(swizzled("*p + i"), "");
  EXPECT_EQ(swizzled("atomicAdd(p, i)"), "");
}

/// An element of 1,024 bytes in which rows of 128 conflict.
TEST(Rewrite, LeavesRowsInElementsToPeople) {
  const std::string text =
      "struct Work { float m[8][32]; };\nvoid k() { __shared__ Work s[2]; s[0].m[1][2] = 3; }\n";
  for (const Layout& layout : {Layout(RowPadding{1}), Layout(Swizzle{4, {1, 2, 4}})})
    EXPECT_EQ(rewritten(text, 2048, layout).refused, "what conflicts are rows of arrays in 'Work'");
}

/// Its type stays what it is for others.
TEST(Rewrite, TakesAnArrayItsNamedType) {
  const std::string types = "using rows = float[8][n];\nenum { n = 8 };\n";
  const auto padded = [&](const std::string& body) {
    return rewritten(types + "void k() { " + body + " }", 256, RowPadding{1});
  };
  const Rewritten one = padded("__shared__ rows s; s[1][2] = 3;");
  EXPECT_EQ(one.text, types + "void k() { __shared__ float s[8][n + 1]; s[1][2] = 3; }");
  EXPECT_EQ(one.what, "float s[8][n + 1]");
  EXPECT_EQ(padded("__shared__ rows s, t;").text,
            types + "void k() { __shared__ rows t;\n__shared__ float s[8][n + 1]; }");
  EXPECT_EQ(padded("__shared__ rows s; f(s);").refused, "line 3 uses 's' without all of its subscripts");
  EXPECT_EQ(rewritten(types + "void k() { __shared__ rows s; s[i][j] = 3; }", 256, Transposed{}).text,
            types + "void k() { __shared__ float s[n][8]; s[j][i] = 3; }");
}

TEST(Rewrite, LeavesGapsBehindPlanes) {
  const Rewritten planes = rewritten(
      "#include <lanescope/tile.cuh>\nvoid k() {\n  __shared__ float s[4][n][8];\n"
      "  s[1][2][3] = 4;\n}\nenum { n = 2 };",
      256, PlanePadding{2});
  EXPECT_EQ(planes.refused, "");
  EXPECT_EQ(planes.text,
            "#include <lanescope/tile.cuh>\nvoid k() {\n"
            "  __shared__ lanescope::PaddedPlanes<float, 4, n, 8, 2> s;\n"
            "  s[1][2][3] = 4;\n}\nenum { n = 2 };");
  EXPECT_EQ(rewritten("void k() { __shared__ float s[4][2][8]; f(s[1]); }", 256, PlanePadding{2}).refused,
            "line 1 uses 's' without all of its subscripts");
  EXPECT_EQ(
      rewritten("void k() { __shared__ double s[4][2][8]; s[0][0][0] = 1; }", 512, PlanePadding{1}).refused,
      "the padding is no whole number of elements");
  EXPECT_EQ(rewritten("void k() { __shared__ float s[4][8]; s[0][0] = 1; }", 128, PlanePadding{1}).refused,
            "it has not three dimensions");
}

TEST(Rewrite, TakesAnArrayOutOfSeveralDeclarators) {
  const auto padded = [](const std::string& declaration) {
    return rewritten("#include <lanescope/tile.cuh>\nvoid k() {\n  " + declaration + "\n}\n", 256,
                     RowPadding{1});
  };
  const auto text = [](const std::string& declaration) {
    return "#include <lanescope/tile.cuh>\nvoid k() {\n  " + declaration +
           "\n  __shared__ lanescope::PaddedArray<float, 64, 32, 1> s;\n}\n";
  };
  EXPECT_EQ(padded("__shared__ float s[64], t[n + 1], u;").text, text("__shared__ float t[n + 1], u;"));
  EXPECT_EQ(padded("__shared__ float t[n], s[64], u;").text, text("__shared__ float t[n], u;"));
  EXPECT_EQ(padded("__shared__ float t[n],\n      s[64];").text, text("__shared__ float t[n];"));
  EXPECT_EQ(padded("__shared__ float t, s[64]; s[1] = 2;").text,
            "#include <lanescope/tile.cuh>\nvoid k() {\n  __shared__ float t;\n"
            "  __shared__ lanescope::PaddedArray<float, 64, 32, 1> s; s[1] = 2;\n}\n");
  const auto split = rewritten("void k() {\n  __shared__ float2 s[64], t[64];\n  s[t[0].x].y = 1;\n}\n", 512,
                               StructOfArrays{4});
  EXPECT_EQ(split.refused, "");
  EXPECT_EQ(split.text,
            "void k() {\n  __shared__ float2 t[64];\n"
            "  __shared__ struct {\n    float x[64];\n    float y[64];\n  } s;\n  s.y[t[0].x] = 1;\n}\n");
  EXPECT_EQ(padded("__shared__ float s[64], // one\n t[64];").refused,
            "there is a comment in its declaration");
  EXPECT_EQ(padded("__shared__ float *t, s[64];").refused,
            "the type of what is declared along with it is not clear");
  EXPECT_THAT(padded("__shared__ V<char, 4> s[64];").text,
              HasSubstr("PaddedArray<V<char, 4>, 64, 32, 1> s;"));
  EXPECT_EQ(padded("__shared__ V<char, 4> t, s[64];").refused,
            "the type of what is declared along with it is not clear");
}

TEST(Rewrite, GivesWmmaTheNewPitch) {
  const auto padded = [](const std::string& calls) {
    return rewritten("void k() {\n__shared__ half s[16][n * 2];\n" + calls + "\n}\nenum { n = 16 };\n", 1024,
                     RowPadding{4});
  };
  const std::string before = "void k() {\n__shared__ half s[16][n * 2 + 8];\n",
                    behind = "\n}\nenum { n = 16 };\n";
  EXPECT_EQ(padded("wmma::load_matrix_sync(a, &s[i][f(k, 2)], n * 2);").text,
            before + "wmma::load_matrix_sync(a, &s[i][f(k, 2)], n * 2 + 8);" + behind);
  EXPECT_EQ(
      padded("store_matrix_sync(s[i] + k, c, 32, mem_row_major); load_matrix_sync(b, t, 32);").text,
      before + "store_matrix_sync(s[i] + k, c, 32 + 8, mem_row_major); load_matrix_sync(b, t, 32);" + behind);
  EXPECT_EQ(padded("load_matrix_sync(a, s[0], pitch);").refused,
            "line 3 gives wmma the pitch 'pitch', not 'n * 2'");
  EXPECT_EQ(padded("load_matrix_sync();").refused, "the call in line 3 is not understood");
}

/// A pointer that goes on from an element counts the old pitch.
TEST(Rewrite, LeavesArraysAloneWhoseAddressIsKept) {
  const auto refused = [](const std::string& use) {
    return rewritten("void k() {\n__shared__ float s[16][16];\n" + use + "\n}\nvoid l() { p = &s[0][0]; }",
                     1024, RowPadding{1})
        .refused;
  };
  EXPECT_EQ(refused("float* p = &s[0][0];"), "line 3 takes an address in 's'");
  EXPECT_EQ(refused("(&s[0][0])[t] = 1;"), "line 3 takes an address in 's'");
  EXPECT_EQ(refused("f(&s[0][t]); g(1, &s[t][0]); *reinterpret_cast<float4*>(&s[t][0]) = v; m = a &s[0][t];"),
            "");
}

/// Accesses that are wider than an element are the compiler's own only then.
TEST(Rewrite, TellsWhetherAnArrayIsAccessedByElementsAlone) {
  const auto by_elements = [](const std::string& use) {
    const std::string text = "void k() {\n__shared__ float s[256];\n" + use + "\n}";
    return has_only_subscripts(text, std::get<Declaration>(find_declaration(text, "s", 1024, 1000)));
  };
  for (const char* use : {"s[2 * t] = a; s[2 * t + 1] += s[t] * (s[0] + 1);",
                          "if ((s[a] > s[b]) == up) s[a] = 1; else s[b] = 2;",
                          "for (int i = 0; i < n; ++i) s[i] = i & s[i]; return (s[0]);",
                          "s[t] = f(x) & s[t]; s[t] |= (x | y) & s[0];"})
    EXPECT_TRUE(by_elements(use)) << use;
  for (const char* use :
       {"*reinterpret_cast<float4*>(&s[4 * t]) = v;", "reinterpret_cast<float4&>(s[4 * t]) = v;",
        "(float4&)s[4 * t] = v;", "*(float4*)&s[4 * t] = v;", "v = *(pointer)&s[4 * t];",
        "FETCH_FLOAT4(s[4 * t]) = v;", "FETCH_FLOAT4((s[4 * t])) = v;", "copy(v, s[4 * t]);",
        "((float4*)s)[t] = v;", "float* p = s + t;", "s[t] = a; float* p = &s[0];"})
    EXPECT_FALSE(by_elements(use)) << use;
}

/// Rows are padded so that the vectors stay aligned, whether or not the program came there.
TEST(Rewrite, TellsWhichVectorsElementsAreCastTo) {
  const auto bytes = [](const std::string& use) {
    const std::string text =
        "#define FETCH(p) \\\n  (*reinterpret_cast<float4*>(&(p)))\nvoid k() {\n__shared__ float s[256];\n" +
        use + "\n}\nvoid l() { *(float4*)&s[0] = v; }";
    return vector_bytes(text, std::get<Declaration>(find_declaration(text, "s", 1024, 5)));
  };
  for (const char* use :
       {"FETCH(s[t]) = v;", "reinterpret_cast<float4&>(s[t]) = v;", "*(const float4*)&s[t];",
        "float4 v = load(&s[t]);", "*(pointer*)&s[t] = v;", "float4* all = (float4*)s;"})
    EXPECT_EQ(bytes(use), 16u) << use;
  EXPECT_EQ(bytes("*(float2*)&s[t] = v; s[t] = *(float4*)p;"), 8u);
  EXPECT_EQ(bytes("*(unsigned*)&s[t] = 1;"), 4u);
  for (const char* use :
       {"s[t] = reinterpret_cast<float4*>(in)[t].x;", "atomicAdd(&s[t], a * b);", "s[t] = 1;"})
    EXPECT_EQ(bytes(use), 0u) << use;
}

/// A cast of an element's address is one access, however the cast is written.
TEST(Rewrite, PadsRowsAndWhatPointsToThem) {
  const std::string before = "void k() {\n__shared__ float s[2][8][N];\n",
                    use = "\ncur[1][2] = now[3][4];\n}";
  const auto padded = [&](const std::string& pointers) {
    return rewritten("#define N 32\n" + before + pointers + use, 2048, RowPadding{1});
  };
  const std::string longer = "#define N 32\nvoid k() {\n__shared__ float s[2][8][N + 1];\n";
  EXPECT_EQ(padded("float (*cur)[N] = s[i & 1], x = 0;").text,
            longer + "float (*cur)[N + 1] = s[i & 1], x = 0;" + use);
  EXPECT_EQ(padded("float (*cur)[32] = i ? s[0] : s[1];").text,
            longer + "float (*cur)[32 + 1] = i ? s[0] : s[1];" + use);
  EXPECT_EQ(padded("const float (&now)[8][N] = s[1];").text,
            longer + "const float (&now)[8][N + 1] = s[1];" + use);
  EXPECT_THAT(padded("float (*cur)[16] = s[1];").refused, HasSubstr("line 4 has rows of '16', not 'N'"));
  EXPECT_EQ(padded("float (*cur)[N] = other; cur[1][2] = s[0][1][2];").text,
            longer + "float (*cur)[N] = other; cur[1][2] = s[0][1][2];" + use);
}

TEST(Rewrite, PadsRowsWithVectorsInThem) {
  for (const char* cast : {"(float4*)", "reinterpret_cast<float4*>"}) {
    const std::string begin = "void k() {\n  __shared__ float s[8][32",
                      end = std::string("];\n  *") + cast +
                            (cast[0] == '(' ? "&s[r][4 * t]" : "(&s[r][4 * t])") + " = v;\n}\n";
    EXPECT_EQ(rewritten(begin + end, 1024, RowPadding{4}).text, begin + " + 4" + end);
  }
}

/// Brackets that both branches open or close for what surrounds them open and close once.
TEST(Rewrite, KnowsWhereABlockEndsThatBranchesShare) {
  const auto padded = [](const std::string& body) {
    return rewritten("#include <lanescope/tile.cuh>\nvoid k() {\n__shared__ float s[64];\n" + body +
                         "}\nvoid other(float* s) { f(s); }\n",
                     256, RowPadding{1});
  };
  const std::string opens = "#ifdef A\nif (a) {\n#elif defined(B)\nif (b) {\n#else\n{\n#endif\n";
  const std::string closes = "#ifdef A\n}\n#else\n} while (b);\n#endif\n";
  EXPECT_EQ(padded(opens + "s[i] = 1;\n}\n").refused, "");
  EXPECT_EQ(padded("{\n" + closes + "s[i] = 1;\n").refused, "");
  EXPECT_EQ(padded("{\n" + closes + "f(s);\n").refused, "line 10 uses 's' without a subscript");
  EXPECT_EQ(padded("f(\n#if A\ng(1,\n#else\ng(2,\n#endif\n3), s[1]);\n").refused, "");
  EXPECT_EQ(padded("#if 0\nif (a) {\n#else\nif (b) {\n#endif\ns[i] = 1;\n}\n").refused, "");
  EXPECT_EQ(padded("#if A\nif (a) {\n#if B\n}\n#else\n} else { g(); }\n#endif\n#else\n#if C\n{ { }\n"
                   "#endif\n#endif\nf(s);\n")
                .refused,
            "line 16 uses 's' without a subscript");
  // What stands in a branch alone stays.
  EXPECT_EQ(padded("#if A\n#else\nfor (;;) { f(s); }\n#endif\n").refused,
            "line 6 uses 's' without a subscript");
}

TEST(Rewrite, MakesArraysWithGaps) {
  const Rewritten one = rewritten(
      "#include <cstdio>\n#ifdef A\n#include <a>\n#endif\n\nvoid k() {\n  __shared__ float s[256];\n"
      "  s[t] = s[2 * t];\n  atomicAdd(&s[s[0]], a.s);\n}\n",
      1024, RowPadding{1});
  EXPECT_EQ(one.text,
            "#include <cstdio>\n#include <lanescope/tile.cuh>\n#ifdef A\n#include <a>\n#endif\n\nvoid k() {\n"
            "  __shared__ lanescope::PaddedArray<float, 256, 32, 1> s;\n"
            "  s[t] = s[2 * t];\n  atomicAdd(&s[s[0]], a.s);\n}\n");
  EXPECT_TRUE(one.uses_tiles);
  EXPECT_EQ(rewritten("// k\nvoid k() { __shared__ float2 s[64]; }", 512, RowPadding{2}).text,
            "// k\n#include <lanescope/tile.cuh>\n\nvoid k() { __shared__ lanescope::PaddedArray<float2, 64, "
            "16, 1> s; }");
  EXPECT_EQ(
      rewritten("#include <lanescope/tile.cuh>\nvoid k() { __shared__ int s[64]; }", 256, RowPadding{1}).text,
      "#include <lanescope/tile.cuh>\nvoid k() { __shared__ lanescope::PaddedArray<int, 64, 32, 1> s; }");
}

/// What keeps a header from being included twice stays in front, and decides on nothing.
TEST(Rewrite, IncludesBehindAnIncludeGuard) {
  const std::string tiles = "#include <lanescope/tile.cuh>\n", body = "void k() { __shared__ int s[64]; }\n";
  for (const std::string guard : {"// k\n#pragma once\n", "/* k */\n#ifndef K_H\n#define K_H\n"}) {
    EXPECT_THAT(rewritten(guard + body, 256, RowPadding{1}).text, StartsWith(guard + tiles));
    EXPECT_THAT(rewritten(guard + "#include <a>\n" + body, 256, RowPadding{1}).text,
                StartsWith(guard + "#include <a>\n" + tiles));
    EXPECT_THAT(rewritten(guard + "#if A\n#include <a>\n#endif\n" + body, 256, RowPadding{1}).text,
                StartsWith(guard + tiles + "#if A\n"));
  }
  EXPECT_THAT(rewritten("#ifndef A\n#define B\n#include <a>\n#endif\n" + body, 256, RowPadding{1}).text,
              StartsWith(tiles));
}

TEST(Rewrite, MakesSwizzledTilesAndArrays) {
  const Rewritten tile = rewritten("__shared__ float s[16][16];", 1024, Swizzle{4, {0, 2, 4, 8}});
  EXPECT_EQ(tile.what, "lanescope::SwizzledTile<float, 16, 16> s");
  EXPECT_EQ(rewritten("__shared__ float s[32][32];", 4096, Swizzle{16, {1, 2, 4}}).what,
            "lanescope::SwizzledTile<float, 32, 32, 4> s");
  EXPECT_EQ(rewritten("__shared__ float s[16][16];", 1024, Swizzle{4, {1, 2, 4, 8}}).refused,
            "lanescope::SwizzledTile has another swizzle");
  const Swizzle unpadded{4, {0, 2, 4, 8}, 4};
  EXPECT_EQ(rewritten("const int N = 16; __shared__ float s[N][N + 1];", 1088, unpadded).what,
            "lanescope::SwizzledTile<float, N, N> s");
  EXPECT_EQ(rewritten("__shared__ float s[16][17];", 1088, unpadded).what,
            "lanescope::SwizzledTile<float, 16, 16> s");
  EXPECT_EQ(rewritten("const int P = 17; __shared__ float s[16][P];", 1088, unpadded).refused,
            "the text does not show what of its rows is padding");
  EXPECT_EQ(rewritten("__shared__ int s[512];", 2048, Swizzle{4, {31, 0, 5}}).what,
            "lanescope::SwizzledArray<int, 512, 32, 31, 0, 5> s");
  EXPECT_EQ(rewritten("__shared__ float s[512];", 2048, Swizzle{16, {1, 2}}).what,
            "lanescope::SwizzledArray<float, 512, 32, 4, 8> s")
      << "flips count elements";
}

TEST(Rewrite, MovesFieldsOfStructs) {
  const std::string record = "struct P { float x, y; int z; };\n";
  const Rewritten one =
      rewritten(record +
                    "void k() {\n  __shared__ P s[64];\n  s[t] = in[t];\n  if (t) s[t + 1].y += s[t].x;\n"
                    "  const P p = s[t ^ 1];\n}\n",
                768, StructOfArrays{4});
  EXPECT_EQ(
      one.text,
      record +
          "void k() {\n  __shared__ struct {\n    float x[64];\n    float y[64];\n    int z[64];\n  } s;\n"
          "  {\n    const P element = in[t];\n    s.x[t] = element.x;\n    s.y[t] = element.y;\n"
          "    s.z[t] = element.z;\n  }\n  if (t) s.y[t + 1] += s.x[t];\n"
          "  const P p = P{s.x[t ^ 1], s.y[t ^ 1], s.z[t ^ 1]};\n}\n");
  EXPECT_EQ(rewritten("void k() { __shared__ float2 s[64]; s[t].x = s[u].y; }", 512, StructOfArrays{4}).what,
            "s.x[64], s.y[64]");
  const auto refused = [&](const std::string& use) {
    return rewritten(record + "void k() { __shared__ P s[64]; " + use + " }", 768, StructOfArrays{4}).refused;
  };
  EXPECT_THAT(refused("s[i++] = p;"), HasSubstr("would be computed several times"));
  EXPECT_THAT(refused("s[t].w = 1;"), HasSubstr("calls 'w' of an element"));
  EXPECT_THAT(refused("q = s[t] = p;"), HasSubstr("is no statement"));
  EXPECT_THAT(refused("s[f(t)] = p;"), HasSubstr("would be computed several times"));
  EXPECT_THAT(refused("s[t]++;"), HasSubstr("uses an element as a whole"));
  EXPECT_THAT(refused("f(s);"), HasSubstr("uses 's' without a subscript"));
  EXPECT_THAT(rewritten("__shared__ Q s[64];", 768, StructOfArrays{4}).refused,
              HasSubstr("the fields of 'Q'"));
  EXPECT_THAT(rewritten("struct P { double d; };\n__shared__ P s[64];", 512, StructOfArrays{4}).refused,
              HasSubstr("the fields of 'P' are not clear"));
}

/// A layout as the search finds it, where the struct is known.
StructOfArrays fields_apart(const std::string& text, uint32_t bytes, bool deeply = false) {
  const auto found = find_declaration(text, "s", bytes, 1000);
  const auto splits = splits_of(text, std::get<Declaration>(found));
  return {0, splits.at(deeply ? splits.size() - 1 : 0)};
}
Rewritten taken_apart(const std::string& text, uint32_t bytes, bool deeply = false) {
  return rewritten(text, bytes, fields_apart(text, bytes, deeply));
}

TEST(Rewrite, TakesStructsApartWhoseFieldsHaveSeveralSizes) {
  const std::string record = "struct P { float x; short kind; char flag; double w; };\n";
  const std::string text = record +
                           "void k() {\n  __shared__ P s[64];\n  s[t] = in[t];\n"
                           "  if (s[u].flag && s[u].kind) s[t].w += s[u].x;\n}\n";
  EXPECT_EQ(fields_apart(text, 1024).fields,
            (std::vector<Field>{{0, 4, 4}, {4, 2, 2}, {6, 1, 1}, {8, 8, 8}}));
  EXPECT_EQ(taken_apart(text, 1024).text,
            record +
                "void k() {\n  __shared__ struct {\n    float x[64];\n    short kind[64];\n"
                "    char flag[64];\n    double w[64];\n  } s;\n  {\n    const P element = in[t];\n"
                "    s.x[t] = element.x;\n    s.kind[t] = element.kind;\n    s.flag[t] = element.flag;\n"
                "    s.w[t] = element.w;\n  }\n  if (s.flag[u] && s.kind[u]) s.w[t] += s.x[u];\n}\n");
}

/// The element of a reduction to the least value and where it is.
TEST(Rewrite, HandsElementsFromOnePlaceToAnother) {
  const auto body = [](const std::string& uses) {
    return taken_apart("struct P { double v; int i; };\nvoid k() {\n__shared__ P s[64];\n" + uses + "\n}\n",
                       1024);
  };
  EXPECT_THAT(body("if (t < n && less(s[t + n], s[t])) s[t] = s[t + n];").text,
              HasSubstr("if (t < n && less(P{s.v[t + n], s.i[t + n]}, P{s.v[t], s.i[t]})) {\n"
                        "  const P element = P{s.v[t + n], s.i[t + n]};\n  s.v[t] = element.v;\n"
                        "  s.i[t] = element.i;\n}\n}"));
  EXPECT_THAT(body("if (a) s[t] = {v, i};\nelse s[t] = b ? s[u] : p;").text,
              HasSubstr("if (a) {\n  const P element = {v, i};\n  s.v[t] = element.v;\n  s.i[t] = "
                        "element.i;\n}\nelse {\n  const P element = b ? P{s.v[u], s.i[u]} : p;\n"));
  EXPECT_THAT(body("P both[] = {s[t], s[u]}; f(s[t] < s[u]);").text,
              HasSubstr("{P{s.v[t], s.i[t]}, P{s.v[u], s.i[u]}}; f(P{s.v[t], s.i[t]} < P{"));
  EXPECT_THAT(body("switch (a) { case 1: s[t] = p; break; }").text,
              HasSubstr("case 1: {\n  const P element = p;"));
  EXPECT_THAT(body("x = a ? q : s[t] = p;").refused, HasSubstr("is no statement"));
  EXPECT_THAT(body("for (;; s[t] = s[u]) { }").refused, HasSubstr("is no statement"));
  EXPECT_THAT(body("s[t] += p;").refused, HasSubstr("uses an element as a whole"));
  EXPECT_THAT(body("swap(s[t], s[u]);").refused, HasSubstr("to 'swap', which may change it"));
}

/// Fields that are vectors, structs or arrays stay whole, or are taken apart, too.
TEST(Rewrite, TakesFieldsOfFieldsApart) {
  const std::string text =
      "struct Q { int a; short b; };\nstruct P { float4 pos; Q q; float v[2]; };\nvoid k() {\n"
      "__shared__ P s[64];\ns[t] = in[t];\nx = s[u].pos.x + s[u].q.b + s[u].v[n];\ny = s[t].q;\n}\n";
  EXPECT_THAT(taken_apart(text, 2048).text,
              HasSubstr("  float4 pos[64];\n  Q q[64];\n  float v[2][64];\n} s;"));
  EXPECT_THAT(taken_apart(text, 2048).text,
              HasSubstr("x = s.pos[u].x + s.q[u].b + s.v[n][u];\ny = s.q[t];\n"));
  EXPECT_THAT(taken_apart(text, 2048).text,
              HasSubstr("  s.v[0][t] = element.v[0];\n  s.v[1][t] = element.v[1];\n}"));
  const std::string apart = taken_apart(text, 2048, true).text;
  EXPECT_THAT(apart, HasSubstr("  struct {\n    float x[64];\n    float y[64];\n    float z[64];\n"
                               "    float w[64];\n  } pos;\n  struct {\n    int a[64];\n"
                               "    short b[64];\n  } q;\n  float v[2][64];\n} s;"));
  EXPECT_THAT(apart, HasSubstr("  s.q.a[t] = element.q.a;\n"));
  EXPECT_THAT(apart, HasSubstr("x = s.pos.x[u] + s.q.b[u] + s.v[n][u];\ny = Q{s.q.a[t], s.q.b[t]};\n"));
  const auto body = [](const std::string& uses) {
    return taken_apart(
               "struct P { float4 pos; float v[2]; };\nvoid k() {\n__shared__ P s[64];\n" + uses + "\n}\n",
               2048)
        .refused;
  };
  EXPECT_EQ(body("f(s[t].v);"), "line 4 uses 'v' of an element, which is an array, as a whole");
  EXPECT_EQ(body("P& p = s[t];\np.v[1] = 1;"), "'v' of an element is an array");
}

TEST(Rewrite, TakesRowsOfStructsApart) {
  EXPECT_EQ(
      taken_apart("struct P { float x; int y; };\nvoid k() { __shared__ P s[8][n + 1]; s[a][b].y = 1; }\n"
                  "enum { n = 7 };\n",
                  512)
          .text,
      "struct P { float x; int y; };\nvoid k() { __shared__ struct {\n  float x[8][n + 1];\n"
      "  int y[8][n + 1];\n} s; s.y[a][b] = 1; }\nenum { n = 7 };\n");
}

TEST(Rewrite, TakesStructsApartThatAreDefinedInTheDeclaration) {
  const auto apart = [](const std::string& name, const std::string& uses) {
    return taken_apart(
        "void k() {\n  __shared__ struct" + name + " { float x, y; } s[64];\n  " + uses + "\n}\n", 512);
  };
  const std::string arrays = "__shared__ struct {\n    float x[64];\n    float y[64];\n  } s;\n  ";
  EXPECT_EQ(apart("", "s[t].x = s[u].y;").text, "void k() {\n  " + arrays + "s.x[t] = s.y[u];\n}\n");
  EXPECT_EQ(apart(" P", "s[t].x = 1;").text, "void k() {\n  " + arrays + "s.x[t] = 1;\n}\n");
  EXPECT_EQ(apart(" P", "P p = s[t];").text,
            "void k() {\n  struct P { float x, y; };\n  " + arrays + "P p = P{s.x[t], s.y[t]};\n}\n");
  EXPECT_EQ(apart("", "auto& p = s[t];\n  p.x = 1;").text,
            "void k() {\n  " + arrays + "[[maybe_unused]] struct { float& x; } p{s.x[t]};\n  p.x = 1;\n}\n");
  EXPECT_EQ(apart("", "auto p = s[t];").text, "void k() {\n  struct s_element { float x, y; };\n  " + arrays +
                                                  "auto p = s_element{s.x[t], s.y[t]};\n}\n");
}

TEST(Rewrite, PadsElementsOfStructsThatAreDefinedInTheDeclaration) {
  const auto padded = [](const std::string& body) {
    return rewritten("void k() {\n  __shared__ struct {" + body + "} s[64];\n}\n", 512, ElementPadding{4})
        .text;
  };
  EXPECT_EQ(padded(" float x, y; "),
            "void k() {\n  __shared__ struct { float x, y; unsigned padding[1]; } s[64];\n}\n");
  EXPECT_EQ(padded("\n    float x, y;\n  "),
            "void k() {\n  __shared__ struct {\n    float x, y;\n    unsigned padding[1];\n  } s[64];\n}\n");
  // Others of the type stay as they are.
  EXPECT_EQ(rewritten("void k() {\n  __shared__ struct P { float x, y; } s[64];\n  P p = s[t];\n}\n", 512,
                      ElementPadding{4})
                .text,
            "void k() {\n  struct P { float x, y; };\n  __shared__ struct : P {\n    using P::operator=;\n"
            "    unsigned padding[1];\n  } s[64];\n  P p = s[t];\n}\n");
}

/// A macro's parameter may be called as an array is.
TEST(Rewrite, TellsParametersOfMacrosFromArrays) {
  const std::string array = "void k() { __shared__ float s[64][32]; s[i][j] = 3; }";
  const auto swizzled = [&](const std::string& macro) {
    return rewritten(macro + "\n" + array, 8192, Swizzle{4, {1, 2, 4, 8, 16}}, 128);
  };
  EXPECT_THAT(swizzled("#define HALF(s, n) ((s) / 2 + (n))").text,
              HasSubstr("SwizzledTile<float, 64, 32> s;"));
  EXPECT_EQ(swizzled("#define FIRST (s[0][0])").refused, "a macro names 's' in line 1");
  EXPECT_EQ(swizzled("#define AT(i) s[0][i]").refused, "a macro names 's' in line 1");
}

/// What a struct has beside its fields stays where it is, as long as nothing asks the new arrays for it.
TEST(Rewrite, LeavesFunctionsOfStructsAlone) {
  const auto split = [](const std::string& uses) {
    return rewritten(
        "struct P {\n  unsigned int key; float value;\n  bool less(const P& o) const { return key < o.key; "
        "}\n};\nvoid k() {\n__shared__ P s[64];\n" +
            uses + "\n}\n",
        512, StructOfArrays{4});
  };
  EXPECT_THAT(split("s[t] = in[t];\nx += s[u].value;").text,
              HasSubstr("s.key[t] = element.key;\n  s.value[t] = element.value;\n}\nx += s.value[u];"));
  EXPECT_THAT(split("").text, HasSubstr("  unsigned int key[64];\n  float value[64];\n} s;"));
  EXPECT_EQ(split("b = s[t].less(p);").refused, "line 7 calls 'less' of an element");
  EXPECT_EQ(split("P& p = s[t];\np.less(q);").refused, "line 8 calls 'less' of an element");
  EXPECT_EQ(split("P p = s[t];").refused, "line 7 makes a 'P', which has functions");
}

/// A copy in its place would not follow what is stored later, nor lead into the array.
TEST(Rewrite, MovesReferencesToElements) {
  const std::string record = "struct P { float x; int y; };\nvoid k() {\n";
  const auto moved = [&](const std::string& uses) {
    return rewritten(record + "__shared__ P s[64];\n" + uses + "\n}\nvoid f(P& p) { g(p); }\n", 512,
                     StructOfArrays{4});
  };
  EXPECT_THAT(moved("P& p = s[(t + 1) % 64];\np.x += s[t].x;").text,
              HasSubstr("\n[[maybe_unused]] struct { float& x; } p{s.x[(t + 1) % 64]};\n"
                        "p.x += s.x[t];"));
  EXPECT_THAT(moved("const P &p = s[t];\na.p = p.y;").text,
              HasSubstr("struct { const int& y; } p{s.y[t]};\na.p = p.y;"));
  EXPECT_THAT(moved("auto& p = s[t];\np.y = p.x;").text,
              HasSubstr("struct { float& x; int& y; } p{s.x[t], s.y[t]};\np.y = p.x;"));
  EXPECT_THAT(moved("const P* p = &s[t];\na.p->x = p->y + s[u].x;").text,
              HasSubstr("struct { const int& y; } p{s.y[t]};\na.p->x = p.y + s.x[u];"));
  EXPECT_EQ(moved("const P* p = &s[t];\nx = s[p->y].x;").refused, "line 5 uses 'p' in a subscript of 's'");
  EXPECT_EQ(moved("P* p = &s[t];\np[1].x = 1;").refused,
            "line 5 uses 'p', which stands for an element, as a whole");
  EXPECT_EQ(moved("P* p = &s[t];\nx = p++->x;").refused,
            "line 5 uses 'p', which stands for an element, as a whole");
  EXPECT_EQ(moved("float* x = &s[t].x;\nx[1] = 0;").refused, "line 4 takes an address in 's'");
  EXPECT_EQ(moved("auto& p = s[t];\nif (p.x) { g(p); }").refused,
            "line 5 uses 'p', which stands for an element, as a whole");
  EXPECT_EQ(moved("P &p = s[t], &q = s[u];").refused,
            "the reference to an element in line 4 is not understood");
  EXPECT_EQ(moved("for (P& p = s[t]; ; ) { }").refused,
            "the reference to an element in line 4 is not understood");
}

TEST(Rewrite, GivesElementsToFunctionsByValue) {
  const auto given = [](const std::string& parameters) {
    return rewritten("struct P { float x, y; };\nvoid f(" + parameters +
                         ") { }\nvoid k() { __shared__ P s[64]; f(1, s[t]); }\n",
                     512, StructOfArrays{4});
  };
  EXPECT_THAT(given("int i, const P& p").text, HasSubstr("f(1, P{s.x[t], s.y[t]});"));
  EXPECT_THAT(given("int i, P p").text, HasSubstr("f(1, P{s.x[t], s.y[t]});"));
  for (const char* parameters : {"int i, P& p", "int i, auto&& p"})
    EXPECT_EQ(given(parameters).refused, "line 3 gives an element to 'f', which may change it") << parameters;
}

TEST(Rewrite, KnowsStructsByTheirTypedefs) {
  const auto split = [](const std::string& definition) {
    return rewritten(definition + "\nvoid k() { __shared__ P s[64]; s[t].y = 1; }", 512, StructOfArrays{4});
  };
  for (const char* definition : {"typedef struct { float x, y; } P;", "typedef struct Q { float x, y; } P;",
                                 "typedef struct { int x, y; } Q;\ntypedef struct { float x, y; } P;"})
    EXPECT_THAT(split(definition).text, HasSubstr("float y[64];\n} s; s.y[t] = 1;")) << definition;
  EXPECT_EQ(split("typedef struct { float x; P next; } P;").refused, "the fields of 'P' are not clear");
  EXPECT_EQ(split("typedef struct { float x, y").refused, "the fields of 'P' are not clear");
}

/// A byte order mark stays in front, and lines end as the others do.
TEST(Rewrite, KeepsHowAFileIsWritten) {
  const std::string mark = "\xEF\xBB\xBF", array = "lanescope::PaddedArray<float, 256, 32, 1> s";
  EXPECT_EQ(rewritten(mark + "__shared__ float s[256];", 1024, RowPadding{1}).text,
            mark + "#include <lanescope/tile.cuh>\n\n__shared__ " + array + ";");
  EXPECT_EQ(rewritten(mark + "#include <a>\n__shared__ float s[256];", 1024, RowPadding{1}).text,
            mark + "#include <a>\n#include <lanescope/tile.cuh>\n__shared__ " + array + ";");
  EXPECT_EQ(rewritten("#include <a>\r\n  __shared__ float s[256], t;\r\n", 1024, RowPadding{1}).text,
            "#include <a>\r\n#include <lanescope/tile.cuh>\r\n  __shared__ float t;\r\n  __shared__ " +
                array + ";\r\n");
  EXPECT_EQ(rewritten("__shared__ float2 s[64];\r\ns[t] = f(a,\r\n  b);", 512, StructOfArrays{4}).text,
            "__shared__ struct {\r\n  float x[64];\r\n  float y[64];\r\n} s;\r\n{\r\n"
            "  const float2 element = f(a,\r\n  b);\r\n  s.x[t] = element.x;\r\n  s.y[t] = element.y;\r\n}");
}

TEST(Rewrite, NamesACopyAsNothingElse) {
  EXPECT_EQ(rewritten("void k(float2 element) {\n  __shared__ float2 s[64];\n  s[t] = element;\n}\n", 512,
                      StructOfArrays{4})
                .text,
            "void k(float2 element) {\n  __shared__ struct {\n    float x[64];\n    float y[64];\n  } s;\n"
            "  {\n    const float2 element_ = element;\n    s.x[t] = element_.x;\n    s.y[t] = element_.y;\n "
            " }\n}\n");
}

TEST(Rewrite, ExchangesSubscripts) {
  EXPECT_EQ(
      rewritten("void k() {\n  __shared__ int s[8][4];\n  s[a[0]][b] += s[c][d + 1];\n}\nvoid l() { s[1]; }",
                128, Transposed{})
          .text,
      "void k() {\n  __shared__ int s[4][8];\n  s[b][a[0]] += s[d + 1][c];\n}\nvoid l() { s[1]; }");
  const auto refused = [&](const std::string& use) {
    return rewritten("void k() {\n__shared__ int s[8][4];\n" + use + "\n}", 128, Transposed{}).refused;
  };
  EXPECT_THAT(refused("int* row = s[1];"), HasSubstr("line 3 uses 's' without all of its subscripts"));
  EXPECT_THAT(refused("s[s[0][1]][2] = 1;"), HasSubstr("is itself an element of 's'"));
  EXPECT_THAT(refused("int* p = &s[1][0];"), HasSubstr("takes an address"));
  EXPECT_THAT(refused("#define S s\nS[1][2] = 0;"), HasSubstr("a macro names 's'"));
}

TEST(Rewrite, LeavesDeclarationsAloneThatSayMore) {
  const auto refused = [](const std::string& declaration) {
    return rewritten(declaration, 1024, RowPadding{1}).refused;
  };
  EXPECT_THAT(refused("__shared__ volatile float s[256];"), HasSubstr("its type is 'volatile float'"));
  EXPECT_THAT(refused("volatile __shared__ float s[256];"), HasSubstr("its type is 'volatile float'"));
  EXPECT_THAT(refused("static volatile __shared__ float s[256];"), HasSubstr("its type is 'volatile float'"));
  EXPECT_THAT(refused("__shared__ __attribute__((aligned(16))) float s[256];"), HasSubstr("its type is"));
  EXPECT_THAT(refused("__shared__ alignas(16) float s[256], t[256];"), HasSubstr("has an alignment"));
}

TEST(Rewrite, LeavesAlignmentsWhereTheyAre) {
  for (const std::string before :
       {"__shared__ __align__(16) ", "__shared__ alignas(16) ", "alignas(16) __shared__ "}) {
    const Rewritten swizzled = rewritten(before + "float s[16][16];\nvoid k() { s[1][2] = s[3][4]; }", 1024,
                                         Swizzle{4, {0, 2, 4, 8}});
    EXPECT_EQ(swizzled.refused, "");
    EXPECT_THAT(swizzled.text, HasSubstr(before + "lanescope::SwizzledTile<float, 16, 16"));
  }
}

/// Everything that takes a P takes what has P as its base, and nothing keeps a pointer to elements.
TEST(Rewrite, PadsElementsInATypeOfTheirOwn) {
  const auto padded = [](const std::string& members, const std::string& uses, uint32_t bytes = 4) {
    return rewritten("struct P { " + members + " };\nvoid k() {\n  __shared__ P s[64];\n  " + uses + "\n}\n",
                     1024, ElementPadding{bytes});
  };
  const Rewritten one = padded("float v[3]; unsigned int n;", "s[t] = in[t];\n  s[t].v[1] = f(s[u]);");
  EXPECT_EQ(one.text,
            "struct P { float v[3]; unsigned int n; };\nvoid k() {\n  __shared__ struct : P {\n"
            "    using P::operator=;\n    unsigned padding[1];\n  } s[64];\n  s[t] = in[t];\n"
            "  s[t].v[1] = f(s[u]);\n}\n");
  EXPECT_EQ(one.what, "struct : P { unsigned padding[1]; } s[64]");
  EXPECT_THAT(padded("float3 a; int b", "").refused, HasSubstr("the fields of 'P'"));
  EXPECT_EQ(padded("float3 a; int b;", "").refused, "");
  EXPECT_EQ(padded("double a, b;", "").refused, "'P' is aligned to 8 bytes");
  EXPECT_THAT(padded("double a, b;", "", 8).text, HasSubstr("unsigned padding[2];"));
  EXPECT_EQ(padded("float4 a;", "").refused, "'P' is aligned to 16 bytes");
  EXPECT_EQ(padded("float a[3]; int b; void f() { a[0] = 1; }", "").refused, "");
  EXPECT_EQ(padded("float* a; const int *b;", "").refused, "'P' is aligned to 8 bytes");
  for (const char* members :
       {"Q a;", "P a;", "float* a, *b;", "float *a, b;", "int a : 4;", "float a, b, c;"})
    EXPECT_EQ(padded(members, "").refused, "the fields of 'P' are not clear") << members;
  EXPECT_EQ(padded("float4 a;", "s[t] = {x};", 16).refused, "line 4 assigns a list");
  EXPECT_EQ(padded("float a[4];", "P* p = s;").refused, "line 4 uses 's' without a subscript");
  EXPECT_EQ(padded("float a[4];", "P* p = &s[t];").refused, "line 4 takes an address in 's'");
  EXPECT_THAT(rewritten("__shared__ float s[256];", 1024, ElementPadding{4}).refused,
              HasSubstr("the fields of 'float'"));
}

TEST(Rewrite, LeavesTheSizeToTheLaunch) {
  EXPECT_EQ(rewritten("void k() {\nextern __shared__ float s[];\ns[t] = 1;\n}", 1024, RowPadding{1}).refused,
            "the launch decides how large it is");
}

TEST(Rewrite, SurvivesTextThatIsCutOff) {
  const std::string text =
      "#include <a>\nstruct P { float x, y; };\nvoid k() { __shared__ P s[64]; s[t] = in[t]; f(s[1], "
      "s[t].x); s[2]";
  for (size_t length = 0; length <= text.size(); ++length)
    for (const Layout& layout : {Layout(RowPadding{2}), Layout(StructOfArrays{4}), Layout(ElementPadding{4}),
                                 Layout(Swizzle{8, {1}})}) {
      const Rewritten result = rewritten(text.substr(0, length), 512, layout);
      EXPECT_TRUE(!result.refused.empty() || !result.text.empty()) << length;
    }
}

}  // namespace
}  // namespace lanescope::advise
