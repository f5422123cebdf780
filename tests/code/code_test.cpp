// The code of `lanescope explain`: what it accesses, statement by statement, and that integer expressions
// mean what they mean in C++.
#include "code/code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "lanescope/model/model.hpp"

namespace lanescope::code {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CodeRun run(const std::string& text, exec::Dim3 block = {32, 1, 1}, int warp_lanes = 32) {
  CodeLaunch launch;
  launch.block = block;
  launch.warp_lanes = warp_lanes;
  return run_code(parse_code(text), launch);
}

std::string error_of(const std::string& text, exec::Dim3 block = {32, 1, 1}) {
  try {
    run(text, block);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Addresses of the active lanes, from the begin of the array.
std::vector<int64_t> offsets(const CodeRun& run, size_t request) {
  const CodeRequest& made = run.requests.at(request);
  const uint32_t begin = run.arrays[run.accesses[made.access].array].begin;
  std::vector<int64_t> result;
  for (int lane = 0; lane < made.request.lanes; ++lane)
    if ((made.request.mask >> lane & 1) != 0)
      result.push_back(static_cast<int64_t>(made.request.address[lane]) - begin);
  return result;
}
std::vector<int64_t> strided(int64_t first, int64_t stride, int count = 32) {
  std::vector<int64_t> result;
  for (int i = 0; i < count; ++i) result.push_back(first + i * stride);
  return result;
}

int wavefronts(const CodeRun& run, const char* arch = "sm_90") {
  int sum = 0;
  for (const CodeRequest& made : run.requests)
    sum += model::shared_cost(*model::find_arch(arch), made.request).wavefronts;
  return sum;
}

/// "ld 4" for each request: operation and bytes a lane.
std::vector<std::string> kinds(const CodeRun& run) {
  std::vector<std::string> result;
  for (const CodeRequest& made : run.requests) {
    const char* names[] = {"ld", "st", "atom", "cas", "loop", "cp", "cp.cg", "ldm", "stm"};
    result.push_back(names[static_cast<size_t>(made.request.op)] + std::string(" ") +
                     std::to_string(made.request.width));
  }
  return result;
}

// ---- What is accessed.

TEST(Code, ColumnOfATile) {
  const CodeRun column = run("float tile[32][32]; tile[tid.x][tid.y]", {32, 8, 1});
  ASSERT_EQ(column.requests.size(), 8u);
  EXPECT_EQ(offsets(column, 3), strided(12, 128));
  EXPECT_EQ(column.requests[3].warp, 3u);
  EXPECT_EQ(column.arrays[0].declaration, "float tile[32][32]");
  EXPECT_EQ(column.arrays[0].row_bytes, 128u);
  EXPECT_EQ(column.accesses[0].text, "tile[tid.x][tid.y]");
  EXPECT_EQ(column.accesses[0].place.column, 21u);
}

TEST(Code, StridesMeetInAsManyLanesAsTheyShareFactorsWithTheBanks) {
  for (int s = 0; s <= 64; ++s)
    for (const int base : {0, 3}) {
      const CodeRun strides = run("float shared[2048]; const int base = " + std::to_string(base) +
                                  "; const int s = " + std::to_string(s) + "; shared[base + s*tid]");
      EXPECT_EQ(wavefronts(strides), s == 0 ? 1 : std::gcd(s, 32)) << "stride " << s;
    }
}

TEST(Code, ClassicQuestions) {
  // CUDA C Programming Guide 4.2, F.3.3.3 and F.3.3.4: what a half-warp of compute capability 1.x costs.
  const auto of_1x = [](const std::string& text) { return wavefronts(run(text), "sm_10") / 2; };
  EXPECT_EQ(of_1x("char s[32]; s[tid]"), 4);
  EXPECT_EQ(of_1x("short s[32]; s[tid]"), 2);
  EXPECT_EQ(of_1x("char s[128]; s[4 * tid]"), 1);
  EXPECT_EQ(of_1x("double s[32]; s[tid]") / 2, 2);  // two accesses
  EXPECT_EQ(of_1x("struct {float x, y, z;} s[32]; s[tid].x; s[tid].y; s[tid].z"), 3);
  EXPECT_EQ(of_1x("struct {float x, y;} s[32]; s[tid].x; s[tid].y"), 4);
  EXPECT_EQ(wavefronts(run("char s[32]; s[tid]")), 1);
  EXPECT_EQ(wavefronts(run("double s[32]; s[tid]")), 2);
  EXPECT_EQ(wavefronts(run("shared[2*tid]")), 2);
  EXPECT_EQ(wavefronts(run("shared[2*tid+1]")), 2);
  EXPECT_EQ(wavefronts(run("a[4*threadIdx.x]")), 4);
  EXPECT_EQ(wavefronts(run("float t[16][16]; t[tid.y][tid.x]", {16, 16, 1})), 8);
  EXPECT_EQ(wavefronts(run("float t[16][16]; t[tid.x][tid.y]", {16, 16, 1})), 64);
  EXPECT_EQ(wavefronts(run("float t[16][17]; t[tid.x][tid.y]", {16, 16, 1})), 16);
  EXPECT_EQ(wavefronts(run("float t[32][32]; t[tid.x][tid.y]", {32, 8, 1}), "sm_35"), 8 * 16);
}

TEST(Code, ReductionsByInterleavedAddressing) {
  // 35 conflicts of stores for each block of 256: a published measurement.
  const CodeRun reduction =
      run("__shared__ float d[256];\n"
          "for (unsigned s = 1; s < blockDim.x; s *= 2) {\n"
          "  int i = 2 * s * threadIdx.x;\n"
          "  if (i < blockDim.x) d[i] += d[i + s];\n"
          "  __syncthreads();\n"
          "}",
          {256, 1, 1});
  int conflicts = 0;
  for (const CodeRequest& made : reduction.requests)
    if (made.request.op == model::Op::store)
      conflicts += model::shared_cost(*model::find_arch("sm_90"), made.request).conflicts;
  EXPECT_EQ(conflicts, 35);
}

TEST(Code, MembersFollowTheLayoutOfStructs) {
  const CodeRun members =
      run("struct S { char c; double d; short s[2]; float4 v; }; S a[32]; a[tid].d; "
          "a[tid].s[1]; a[tid].v.z; a[tid].v");
  EXPECT_EQ(members.arrays[0].element_bytes, 48u);
  EXPECT_EQ(offsets(members, 0), strided(8, 48));
  EXPECT_EQ(offsets(members, 1), strided(18, 48));
  EXPECT_EQ(offsets(members, 2), strided(40, 48));
  EXPECT_THAT(kinds(members), ElementsAre("ld 8", "ld 2", "ld 4", "ld 16"));
}

TEST(Code, WholeStructsAreCopiedMemberByMemberUnlessAligned) {
  EXPECT_THAT(kinds(run("struct P {float x, y, z;}; P s[32]; s[tid]")), ElementsAre("ld 4", "ld 4", "ld 4"));
  EXPECT_THAT(kinds(run("struct P {float x, y;}; P s[32]; s[tid] = s[31 - tid]")),
              ElementsAre("ld 4", "ld 4", "st 4", "st 4"));
  EXPECT_THAT(kinds(run("struct __align__(16) P {float x, y, z;}; P s[32]; s[tid]")), ElementsAre("ld 16"));
  EXPECT_THAT(kinds(run("float3 s[32]; s[tid]")), ElementsAre("ld 4", "ld 4", "ld 4"));
  EXPECT_THAT(kinds(run("double4 s[32]; s[tid]")), ElementsAre("ld 16", "ld 16"));
  EXPECT_THAT(kinds(run("float2 s[32]; half2 h[32]; uchar4 u[32]; s[tid]; h[tid]; u[tid]; u[tid].w")),
              ElementsAre("ld 8", "ld 4", "ld 4", "ld 1"));
  const CodeRun pieces = run("struct P {float x, y;}; P s[32]; s[tid]");
  EXPECT_EQ(pieces.accesses[1].text, "s[tid].y");
  EXPECT_EQ(offsets(pieces, 1), strided(4, 8));
}

TEST(Code, OrderOfLoadsAndStores) {
  EXPECT_THAT(kinds(run("float a[64]; a[tid] = a[tid + 1] * 2.f; out[tid] = a[tid]; a[tid] += 1; a[tid]++")),
              ElementsAre("ld 4", "st 4", "ld 4", "ld 4", "st 4", "ld 4", "st 4"));
  EXPECT_THAT(kinds(run("int h[64]; atomicAdd(&h[tid], 1); atomicCAS(h + tid, 0, h[0])")),
              ElementsAre("atom 4", "ld 4", "cas 4"));
  EXPECT_THAT(
      kinds(run("float s[128]; __pipeline_memcpy_async(&s[4 * tid], &in[tid], 16); "
                "half t[16][16]; ldmatrix_x4(&t[lane % 16][lane / 16 * 8]); ldmatrix_x2(&t[lane % 16][0])")),
      ElementsAre("cp.cg 16", "ldm 16", "ldm 16"));
  EXPECT_EQ(run("half t[16][16]; ldmatrix_x2(&t[lane % 16][0])").requests[0].request.mask, 0xffffu);
}

TEST(Code, AtomicsWithoutAnInstructionAreLoops) {
  EXPECT_THAT(
      kinds(run("float f[64]; double d[64]; half h[64]; unsigned long long u[64]; short s[64]; int i[64];"
                "atomicAdd(&f[tid], 1.f); atomicAdd(&d[tid], 1.0); atomicAdd(&h[tid], x);"
                "atomicAdd(&u[tid], 1ull); atomicOr(&u[tid], 1ull); atomicCAS(&s[tid], 0, 1)")),
      ElementsAre("loop 4", "loop 8", "loop 2", "loop 8", "loop 8", "loop 2"));
  EXPECT_THAT(kinds(run("float f[64]; unsigned long long u[64]; int i[64];"
                        "atomicExch(&f[tid], 1.f); atomicExch(&u[tid], 1ull); atomicMax(&u[tid], 1ull);"
                        "atomicCAS(&u[tid], 0ull, 1ull); atomicMin(&i[tid], 1)")),
              ElementsAre("atom 4", "atom 8", "atom 8", "cas 8", "atom 4"));
}

TEST(Code, Pointers) {
  EXPECT_EQ(offsets(run("float t[128]; reinterpret_cast<float4*>(t)[tid]"), 0), strided(0, 16));
  EXPECT_EQ(run("float t[128]; *reinterpret_cast<float4*>(&t[4 * tid])").accesses[0].text,
            "*reinterpret_cast<float4*>(&t[4 * tid])");
  EXPECT_EQ(offsets(run("float t[4][32]; *(float2*)&t[1][2 * (tid % 16)]"), 0)[15], 128 + 120);
  EXPECT_EQ(offsets(run("float t[128]; float* p = t + 2 * tid; p += 3; p--; p[-1] = 0"), 0), strided(4, 8));
  EXPECT_EQ(offsets(run("float t[2][32]; float (x); auto* row = t[1]; row[tid]"), 0), strided(128, 4));
  EXPECT_EQ(offsets(run("struct P {int a, b;}; P t[32]; P* p = &t[tid]; p->b"), 0), strided(4, 8));
  EXPECT_EQ(offsets(run("extern __shared__ char raw[]; float* f = (float*)raw; f[tid + 1]"), 0),
            strided(4, 4));
  // Pointers to somewhere else are of no interest.
  EXPECT_EQ(
      run("float t[32]; const float* in; float* out = in + 3; out[tid] = t[tid] + in[7]").requests.size(),
      1u);
  const CodeRun arrows =
      run("struct P {float x, y;}; P s[64]; P* p = s; p->y; (p + tid)->x; (*p).x; (&s[tid])->y");
  const auto text = [&](size_t i) { return arrows.accesses.at(i).text; };
  EXPECT_EQ((std::array{text(0), text(1), text(2), text(3)}),
            (std::array<std::string, 4>{"p->y", "(p + tid)->x", "(*p).x", "(&s[tid])->y"}));
}

TEST(Code, PointersToRows) {
  const char* raw = "extern __shared__ char raw[]; ";
  for (const char* text : {"float (*t)[33] = (float (*)[33])raw; t[tid][1]",
                           "auto t = reinterpret_cast<float (*)[33]>(raw + 0); t[tid][1]",
                           "const float (*t)[33] = (const float (*)[33])raw; ++t; (*(t + tid - 1))[1]"})
    EXPECT_EQ(offsets(run(std::string(raw) + text), 0), strided(4, 132)) << text;
  EXPECT_EQ(offsets(run("float t[64][4]; float (*row)[4] = t + 32; row[tid][2] = 1"), 0),
            strided(32 * 16 + 8, 16));
  EXPECT_EQ(offsets(run("double t[2][32][5]; double (*p)[32][5] = &t[1]; p[0][tid][0]"), 0),
            strided(32 * 40, 40));
}

TEST(Code, UnionsAndMembersWithoutAName) {
  const char* type = "union U { float f; int i; char c[4]; double d; short s[5]; }; U u[32]; ";
  const auto first = [&](const char* text) { return offsets(run(std::string(type) + text), 0)[1]; };
  EXPECT_EQ(first("u[tid].f"), 16);  // 10 bytes, aligned to 8
  EXPECT_EQ(first("u[tid].c[3] = 1"), 16 + 3);
  EXPECT_EQ(first("u[tid].s[4]"), 16 + 8);
  EXPECT_THAT(kinds(run("union U { float f; int i; }; U u[32]; u[tid]")), ElementsAre("ld 4"));
  EXPECT_THAT(kinds(run("union U { double d; int i[2]; }; U u[32]; u[tid]")), ElementsAre("ld 8"));
  EXPECT_THAT(kinds(run("struct V { char tag; union { float f; double d; }; }; V v[32]; v[tid]")),
              ElementsAre("ld 1", "ld 8"));
  EXPECT_EQ(offsets(run("struct V { int tag; union { float f; int n; struct { short a, b; }; }; char z; }; V "
                        "v[32]; v[tid].b; v[tid].z"),
                    0),
            strided(6, 12));
}

TEST(Code, BranchesMaskLanes) {
  EXPECT_EQ(run("float a[32]; if (tid % 2) a[tid]; else a[0]").requests[0].request.mask, 0xaaaaaaaau);
  EXPECT_EQ(run("float a[32]; if (tid < 8 && 8 / (8 - tid)) a[tid]").requests[0].request.mask, 0xffu);
  EXPECT_EQ(run("float a[32]; tid < 4 ? a[tid] : 0.f").requests[0].request.mask, 0xfu);
  EXPECT_EQ(run("float a[32]; if (tid > 40) a[tid]; a[tid] = 0").requests.size(), 1u);
  const CodeRun last = run("float a[40]; a[tid]", {40, 1, 1});
  EXPECT_EQ(last.requests[1].request.mask, 0xffu);
  // A variable set under a mask keeps its value in the other lanes.
  EXPECT_EQ(offsets(run("float a[32]; int i = tid; if (tid >= 16) i = 0; a[i]"), 0)[15], 60);
}

TEST(Code, LoopsKnowTheirPasses) {
  const CodeRun loop =
      run("float t[32][32]; for (int j = 0; j < 32; j += 8) t[tid.y + j][tid.x] = in[j]", {32, 8, 1});
  EXPECT_EQ(loop.requests.size(), 32u);
  ASSERT_EQ(loop.steps.size(), 4u);
  EXPECT_EQ(loop.steps[2].loops[0].variable, "j");
  EXPECT_EQ(loop.steps[2].loops[0].value, 16);
  EXPECT_EQ(offsets(loop, 2), strided(16 * 128, 4));

  const CodeRun by_lane = run("float a[100]; for (int i = tid; i < 100; i += blockDim.x) a[i]");
  ASSERT_EQ(by_lane.requests.size(), 4u);
  EXPECT_EQ(by_lane.requests[3].request.mask, 0xfu);
  EXPECT_EQ(by_lane.steps[1].loops[0].value, std::nullopt);

  const CodeRun nested =
      run("float a[64]; int n = 0; while (n < 2) { for (int k = 0; k < 3; ++k) a[n + k]; n++; }");
  EXPECT_EQ(nested.steps.size(), 6u);
  EXPECT_EQ(nested.steps[4].loops[0].pass, 1u);
  EXPECT_EQ(nested.steps[4].loops[1].value, 1);
}

TEST(Code, ThreadsAndBlocks) {
  CodeLaunch launch;
  launch.block = {8, 4, 2};
  launch.grid = {5, 6, 7};
  launch.block_index = {1, 2, 3};
  const auto first = [&](const std::string& index) {
    return offsets(run_code(parse_code("char a[100000]; a[" + index + "]"), launch), 1);
  };
  EXPECT_EQ(first("tid"), strided(32, 1));
  EXPECT_EQ(first("threadIdx.x + 8 * threadIdx.y + 32 * tid.z"), strided(32, 1));
  EXPECT_EQ(first("blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z")[0], 321);
  EXPECT_EQ(first("gridDim.x + 10 * gridDim.y + 100 * gridDim.z")[0], 765);
  EXPECT_EQ(first("blockDim.x + 10 * blockDim.y + 100 * blockDim.z")[0], 248);
  EXPECT_EQ(first("lane + 100 * warp + 1000 * warpSize"), strided(32100, 1));
  EXPECT_EQ(run("char a[64]; a[tid]", {64, 1, 1}, 64).requests.size(), 1u);
  // Names of the code's own come first.
  EXPECT_EQ(offsets(run("const int tid = 5; char lane[8]; lane[tid]"), 0)[0], 5);
}

TEST(Code, ConstantsMacrosAndTypes) {
  const CodeRun sizes = run(
      "#define N 8  // rows\n#define M (N * 2)\n#pragma unroll\nusing real = double; constexpr int pad = 1;\n"
      "typedef struct { real r; char c; } T;\nT t[N][M + pad]; t[tid % N][M].c");
  EXPECT_EQ(sizes.arrays[0].row_bytes, 17u * 16);
  EXPECT_EQ(sizes.arrays[0].bytes, 8u * 17 * 16);
  EXPECT_EQ(offsets(run("char a[64]; a[sizeof(float4) + sizeof(int) * (1'0 - 0x8) + 0b11 - 010]"), 0)[0],
            16 + 8 + 3 - 8);
  EXPECT_EQ(run("__shared__ float s[32], u; float local[4]; local[1] = s[tid]; u = 1").requests.size(), 2u);
}

TEST(Code, TypesOfArraysAndEnumerations) {
  EXPECT_EQ(run("using Row = float[17]; __shared__ Row t[4]; t[1][2]").arrays[0].row_bytes, 17u * 4);
  EXPECT_EQ(offsets(run("using Tile = char[4][8]; __shared__ Tile t; t[tid % 4][3]"), 0),
            offsets(run("char t[4][8]; t[tid % 4][3]"), 0));
  const CodeRun sizes =
      run("enum { N = 8, M, K = N * M, };\nenum Size : unsigned char { P = 255, Q };\nchar a[K];\n"
          "const Size s = P; a[s / 5 + M + Q - sizeof(Size)]");
  EXPECT_EQ(sizes.arrays[0].bytes, 72u);
  EXPECT_EQ(offsets(sizes, 0)[0], 51 + 9 + 0 - 1);
  EXPECT_THAT(error_of("enum class E { a }; char t[1]; t[0]"),
              HasSubstr("1:6: 'enum class' is not supported"));
  EXPECT_THAT(error_of("enum { a = 1, a }; char t[1]; t[0]"), HasSubstr("'a' is declared a second time"));
  EXPECT_THAT(error_of("enum { a = tid }; char t[1]; t[0]"), HasSubstr("must be a constant"));
  EXPECT_THAT(error_of("enum : float { a }; char t[1]; t[0]"), HasSubstr("of an 'enum' are integers"));
  EXPECT_THAT(error_of("enum { a"), HasSubstr("'}' is missing after the numbers of an 'enum' at the end"));
}

TEST(Code, FunctionsOfOneReturn) {
  const auto first = [](const std::string& text) { return offsets(run(text), 0); };
  EXPECT_EQ(
      first("__device__ int at(int i, int j) { return i * 33 + j; }\nchar a[4096]; a[at(tid, 1 + 1) - 1]"),
      strided(1, 33));
  EXPECT_EQ(first("char a[4096]; auto at = [&](int i, int j) -> char& { return a[i * 33 + j]; }; at(tid, 2)"),
            strided(2, 33));
  EXPECT_EQ(first("const auto twice = [](int i) { return 2 * i; };\nchar a[64]; a[twice(tid) / 2]"),
            strided(0, 1))
      << "in one line of its own";
  EXPECT_EQ(first("int f(int i) { return i; }\nint n = 1; if (f(n)) { n = 3; } char a[64]; a[f(tid) + n]"),
            strided(3, 1));
  EXPECT_EQ(run("float at(int i) { return a[i]; }\nfloat a[64]; at(tid) + at(tid)").accesses[0].text,
            "at(tid)");
  EXPECT_EQ(first("int f(int x) { return threadIdx.x + 0 * x; }\nchar a[64]; a[f(3)]"), strided(0, 1));
  // In the types of parameters and results.
  EXPECT_EQ(first("int half(int x) { return x / 2; }\nchar a[64]; a[half(2 * tid - 32) + 16]"),
            strided(0, 1));
  EXPECT_EQ(first("unsigned char low(int x) { return x; }\nchar a[64]; a[low(256 + tid)]"), strided(0, 1));
  EXPECT_EQ(first("int f(const unsigned char& x) { return x; }\nchar a[64]; a[f(256 + tid)]"), strided(0, 1));
  EXPECT_THAT(error_of("int f(int x) { return x; }\nint f(float x) { return 0; }\nchar a[64]; a[f(tid)]"),
              HasSubstr("2:5: there is a 'f' already"));
  // Arguments are evaluated once.
  EXPECT_EQ(run("int f(int i) { return i + 1; }\nint a[64]; f(a[tid])").requests.size(), 1u);
  EXPECT_THAT(error_of("int f(int i) { return i * i; }\nint a[64]; f(a[tid])"),
              HasSubstr("2:12: 'i of f' is not used once, and its value takes an access here"));
}

TEST(Code, MacrosWithParameters) {
  const auto first = [](const std::string& text) { return offsets(run(text), 0); };
  // As books index matrices and keep banks apart.
  EXPECT_EQ(first("#define IDX2C(i, j, ld) (((j) * (ld)) + (i))\nchar a[4096]; a[IDX2C(1, tid, 33)]"),
            strided(1, 33));
  EXPECT_EQ(
      first("#define LOG_BANKS 2\n#define PAD(n) ((n) >> LOG_BANKS)\nchar a[64]; a[4 * tid / 4 + PAD(tid)]"),
      first("char a[64]; a[tid + (tid >> 2)]"));
  // Arguments: expanded first, with commas in parentheses, empty, of macros of the same name.
  EXPECT_EQ(first("#define N 8\n#define F(x) (x + N)\nchar a[64]; a[F(F(min(tid, N)))]"),
            first("char a[64]; a[min(tid, 8) + 16]"));
  EXPECT_EQ(first("#define ZERO() 0\n#define SUM(a, b) a + b\nchar a[64]; a[SUM(,tid) + ZERO()]"),
            strided(0, 1));
  // A name without parentheses, a parenthesis that is not the macro's, its own name in what it stands for.
  EXPECT_EQ(first("#define f(x) 7\n#define g (tid)\n#define h h\nint f = 1, h = 2; char a[64]; a[f + g + h]"),
            strided(3, 1));
  // What a macro names may be defined later, and differently from line to line.
  EXPECT_EQ(first("#define A B\n#define B 3\nchar a[64]; a[A + tid]"), strided(3, 1));
  EXPECT_EQ(run("#define P 32\nchar a[P * 2]; a[P]\n#define P 33\n; a[P]").accesses[1].text, "a[P]");
  EXPECT_EQ(run("#define AT(i) a[2 * (i)]\nchar a[64]; AT(tid)").accesses[0].text, "AT(tid)");
}

TEST(Code, FunctionsOfBits) {
  // 0, 16, 8, 24, …: where a Fourier transform's input goes.
  std::vector<int64_t> reversed;
  for (int64_t lane = 0; lane < 32; ++lane)
    reversed.push_back(((lane & 1) << 4) + ((lane & 2) << 2) + (lane & 4) + ((lane & 8) >> 2) + (lane >> 4));
  EXPECT_EQ(offsets(run("char a[32]; a[__brev(tid) >> 27]"), 0), reversed);
  EXPECT_EQ(offsets(run("char a[32]; a[__brevll(tid) >> 59]"), 0), reversed);
  const auto lane_5 = [](const std::string& index) {
    return offsets(run("char a[128]; a[" + index + "]"), 0)[5];
  };
  EXPECT_EQ(lane_5("__popc(tid)"), 2);
  EXPECT_EQ(lane_5("__popcll(-1LL - tid)"), 62);
  EXPECT_EQ(lane_5("__clz(tid)"), 29);
  EXPECT_EQ(lane_5("__clzll(tid)"), 61);
  EXPECT_EQ(lane_5("__ffs(tid << 3)"), 4);
  EXPECT_EQ(lane_5("__ffsll(0) + __clz(0) - __popc(-1)"), 0);
}

TEST(Code, NamesOfTheStandardLibrary) {
  EXPECT_EQ(offsets(run("std::uint32_t i = tid; char a[64]; a[std::min(i, 3u) + sizeof(std::size_t)]"), 0),
            offsets(run("uint32_t i = tid; char a[64]; a[min(i, 3u) + sizeof(size_t)]"), 0));
}

TEST(Code, LanesThatLeave) {
  const auto masks = [](const std::string& text) {
    std::vector<uint64_t> result;
    for (const CodeRequest& made : run("char a[99]; " + text).requests) result.push_back(made.request.mask);
    return result;
  };
  using Masks = std::vector<uint64_t>;
  EXPECT_EQ(masks("if (tid >= 8) return; a[0]"), Masks{0xff});
  EXPECT_EQ(masks("if (tid < 8) { if (tid < 4) return; a[0]; } else a[1]; a[2]"),
            (Masks{0xf0, 0xffffff00, 0xfffffff0}));
  EXPECT_EQ(masks("a[0]; return; a[1]"), Masks{0xffffffff});
  EXPECT_EQ(masks("for (int i = 0; i < 3; ++i) { if (tid < 8 * i) break; a[i]; } a[9]"),
            (Masks{0xffffffff, 0xffffff00, 0xffff0000, 0xffffffff}));
  EXPECT_EQ(masks("for (int i = 0; i < 2; ++i) { if (i == 0 && tid < 8) continue; a[i]; } a[9]"),
            (Masks{0xffffff00, 0xffffffff, 0xffffffff}));
  EXPECT_EQ(masks("while (1) { for (;;) { if (tid < 16) break; return; } if (1) break; } a[9]"),
            Masks{0xffff});
}

TEST(Code, ArraysBeginAtBankZero) {
  const CodeRun two = run("float a[33]; float b[33]; a[0]; b[0]");
  EXPECT_EQ(two.arrays[1].begin % 256, 0u);
  EXPECT_GT(two.arrays[1].begin, 0u);
}

// ---- What is wrong.

TEST(CodeErrors, NameLaneAndPlace) {
  EXPECT_EQ(error_of("float t[32][32];\nt[tid.x + 1][tid.y]"),
            "code:2:3: index 32 is out of range: 't' has 32 elements (lane 31 of warp 0, thread (31,0,0))\n"
            "  t[tid.x + 1][tid.y]\n    ^");
  EXPECT_THAT(error_of("float t[32]; t[-1 - tid % 2]", {8, 8, 1}),
              HasSubstr("index -1 is out of range: 't' has 32 elements (lane 0 of warp 0"));
  EXPECT_THAT(error_of("float t[64]; t[tid]", {8, 10, 1}), HasSubstr("(lane 0 of warp 2, thread (0,8,0))"));
  EXPECT_THAT(error_of("a[tid - 5]"), HasSubstr("index -5 is out of range: 'a' has no elements before 0"));
  EXPECT_THAT(error_of("float t[32]; t[tid.x - 1]"), HasSubstr("index 4294967295 is out of range"));
  EXPECT_THAT(error_of("float t[32]; t[32 / (tid - 3)]"),
              HasSubstr("division by zero in '32 / (tid - 3)' (lane 3"));
  EXPECT_THAT(error_of("float t[32]; t[32 % 0]"), HasSubstr("1:19: remainder of a division by zero"));
  EXPECT_THAT(error_of("float t[64]; ((float4*)t)[tid]"),
              HasSubstr("is outside of 't': byte 256 of 256 (lane 16"));
  EXPECT_THAT(error_of("float t[64]; *(float2*)&t[tid]"),
              HasSubstr("misaligned: 8 bytes at byte 4 of 't' (lane 1"));
}

TEST(CodeErrors, SayWhatIsMissing) {
  for (const char* text : {"float t[64]; auto& r = t[tid]; r = 1", "float t[64]; float& r = t[tid]; r = 1"})
    EXPECT_THAT(error_of(text), HasSubstr("references are not supported"));
  EXPECT_EQ(run("float t[64]; const auto& r = in[tid]; t[tid] = r").requests.size(), 1u);
  EXPECT_THAT(error_of("float t[32]; t[width]"), HasSubstr("'width' has no value: declare it"));
  for (const std::string place : {"in[tid]", "*in", "p->n", "p.rows[2].n"})
    EXPECT_THAT(error_of("float t[32]; t[" + place + "]"),
                HasSubstr("'" + place + "' is in memory, and what is in memory is not known here"));
  EXPECT_THAT(error_of("int t[32]; t[t[0]]"),
              HasSubstr("'t[0]' is in memory, and what is in memory is not known"));
  EXPECT_THAT(error_of("float t[32]; int n; t[n]"), HasSubstr("'n' has no value when it is used"));
  EXPECT_THAT(error_of("float t[32]; t[(int)(0.5 * tid)]"), HasSubstr("only integers are computed"));
  EXPECT_THAT(error_of("float t[32]; t[1.5]"), HasSubstr("an index is an integer"));
  EXPECT_THAT(error_of("a[tid][2]"), HasSubstr("'a' is not declared; with several indices"));
  EXPECT_THAT(
      error_of("a[tid].x = 1"),
      HasSubstr("1:1: 'a' is not declared; with members its elements need a type, as in 'struct {float "
                "x;} a[256];'"));
  EXPECT_THAT(error_of("float t[4]; t[0][0]"), HasSubstr("one index too many"));
  EXPECT_THAT(error_of("float t[4][4]; t[0]"), HasSubstr("give an index for every dimension"));
  EXPECT_THAT(error_of("struct P {int a, b;}; P p[4]; p[0].c"), HasSubstr("P has no member 'c', but a, b"));
  EXPECT_THAT(error_of("float t[4]; t[0"), HasSubstr("']' is missing after the index at the end"));
  EXPECT_THAT(error_of("float t[4]; float (*f)(int); t[0]"),
              HasSubstr("1:23: pointers to functions are not supported"));
  EXPECT_THAT(error_of("union U {int a; struct {int b; char a;};}; U u[4]; u[0].a"),
              HasSubstr("two members are named 'a'"));
  EXPECT_THAT(error_of("float t[4]; break; t[0]"), HasSubstr("1:13: 'break' stands in no loop"));
  EXPECT_THAT(error_of("float t[4]; return 1; t[0]"), HasSubstr("1:20: a kernel returns nothing"));
  EXPECT_THAT(error_of("__global__ void k() { }"), HasSubstr("of a kernel its body is enough"));
  EXPECT_THAT(error_of("#define F(a, b) a\nF(1)"), HasSubstr("2:1: 'F' has 2 parameters, not 1"));
  EXPECT_THAT(error_of("#define F(a, b) a\nF(1, (2)"), HasSubstr("2:1: the arguments of 'F' do not end"));
  EXPECT_THAT(error_of("#define F(a, 1) a\n"), HasSubstr("1:10: a macro's parameters are names with commas"));
  EXPECT_THAT(error_of("flaot t[4]; t[0]"), HasSubstr("1:1: 'flaot' is no type that is known here"));
  EXPECT_THAT(error_of("float t[4]; for (;;) if (tid < 0) t[0]"), HasSubstr("does not end"));
  EXPECT_THAT(error_of("float t[4]; while (true) t[0]"), HasSubstr("more than 131072 requests"));
  EXPECT_THAT(error_of("a[tid]", {1025, 1, 1}), HasSubstr("1 to 1024 threads"));
  EXPECT_THAT(error_of("float t[1 << 20]"), HasSubstr("larger than 1048576 bytes"));
  EXPECT_THAT(error_of("a[" + std::string(3000, '(') + "]"), HasSubstr("nested too deeply"));
}

// ---- Expressions mean what they mean in C++.

using Number = std::variant<int32_t, uint32_t, int64_t, uint64_t>;

/// A random expression: its text, and its value for one thread by C++'s own conversions; nothing where the
/// value does not exist (division by zero).
struct Expression {
  enum class Kind { literal, thread, unary, binary, choice, logical, cast };
  Kind kind{};
  Number literal;
  int which = 0;
  std::vector<Expression> parts;
};

constexpr const char* literal_suffixes[] = {"", "u", "ll", "ull"};
constexpr const char* thread_names[] = {"threadIdx.x", "threadIdx.y", "tid", "lane", "blockDim.x"};
constexpr const char* unary_names[] = {"-", "~", "!", "+"};
constexpr const char* binary_names[] = {"+",  "-",  "*", "/", "%",  "&",  "|",  "^",
                                        "<<", ">>", "<", ">", "<=", ">=", "==", "!="};
constexpr const char* cast_names[] = {"int",   "unsigned",     "long long", "unsigned long long",
                                      "short", "unsigned char"};

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  Expression make(int depth) {
    Expression e;
    e.kind = depth == 0 ? pick(2) == 0 ? Expression::Kind::literal : Expression::Kind::thread
                        : static_cast<Expression::Kind>(pick(7));
    const auto add = [&](int count) {
      for (int i = 0; i < count; ++i) e.parts.push_back(make(std::max(0, depth - 1 - pick(2))));
    };
    switch (e.kind) {
      case Expression::Kind::literal: {
        e.which = pick(4);
        const uint32_t value =
            pick(3) == 0 ? 0x7fffffffu - static_cast<uint32_t>(pick(3)) : static_cast<uint32_t>(pick(40));
        if (e.which == 0) e.literal = static_cast<int32_t>(value);
        if (e.which == 1) e.literal = value;
        if (e.which == 2) e.literal = int64_t{value};
        if (e.which == 3) e.literal = uint64_t{value};
        break;
      }
      case Expression::Kind::thread: e.which = pick(5); break;
      case Expression::Kind::unary: e.which = pick(4), add(1); break;
      case Expression::Kind::binary: e.which = pick(16), add(2); break;
      case Expression::Kind::choice: add(3); break;
      case Expression::Kind::logical: e.which = pick(2), add(2); break;
      case Expression::Kind::cast: e.which = pick(6), add(1); break;
    }
    return e;
  }
  int pick(int below) { return static_cast<int>(random_() % static_cast<uint32_t>(below)); }

 private:
  std::mt19937 random_;
};

bool is_shift(int which) { return which == 8 || which == 9; }

std::string text_of(const Expression& e) {
  const auto part = [&](size_t i) { return "(" + text_of(e.parts[i]) + ")"; };
  switch (e.kind) {
    case Expression::Kind::literal:
      return std::visit([](auto v) { return std::to_string(v); }, e.literal) + literal_suffixes[e.which];
    case Expression::Kind::thread: return thread_names[e.which];
    case Expression::Kind::unary: return unary_names[e.which] + part(0);
    case Expression::Kind::binary:
      // Shifts stay below the bits of an int.
      return part(0) + " " + binary_names[e.which] + " " +
             (is_shift(e.which) ? "(" + part(1) + " & 15)" : part(1));
    case Expression::Kind::choice: return part(0) + " ? " + part(1) + " : " + part(2);
    case Expression::Kind::logical: return part(0) + (e.which == 0 ? " && " : " || ") + part(1);
    case Expression::Kind::cast: return "(" + std::string(cast_names[e.which]) + ")" + part(0);
  }
  return "";
}

struct Thread {
  exec::Dim3 at, block;
  int linear;
};

std::optional<Number> value_of(const Expression& e, const Thread& thread);

/// The type of a choice is that of both its branches, taken or not.
Number type_of(const Expression& e, const Thread& thread);

bool is_true(const Number& n) {
  return std::visit([](auto v) { return v != 0; }, n);
}

template <class A, class B>
std::optional<Number> binary(int which, A a, B b) {
  using C = std::common_type_t<A, B>;
  using U = std::make_unsigned_t<C>;
  using S = std::make_unsigned_t<A>;
  const C x = static_cast<C>(a), y = static_cast<C>(b);
  const U ux = static_cast<U>(a), uy = static_cast<U>(b);
  switch (which) {
    case 0: return Number(static_cast<C>(ux + uy));
    case 1: return Number(static_cast<C>(ux - uy));
    case 2: return Number(static_cast<C>(ux * uy));
    case 3:
    case 4:
      if (y == 0) return std::nullopt;
      if constexpr (std::is_signed_v<C>)
        if (y == -1) return Number(which == 3 ? static_cast<C>(0 - ux) : C{0});
      return Number(static_cast<C>(which == 3 ? x / y : x % y));
    case 5: return Number(static_cast<C>(ux & uy));
    case 6: return Number(static_cast<C>(ux | uy));
    case 7: return Number(static_cast<C>(ux ^ uy));
    case 8: return Number(static_cast<A>(static_cast<S>(a) << static_cast<int>(b & 15)));
    case 9: return Number(static_cast<A>(a >> static_cast<int>(b & 15)));
    case 10: return Number(int32_t{x < y});
    case 11: return Number(int32_t{x > y});
    case 12: return Number(int32_t{x <= y});
    case 13: return Number(int32_t{x >= y});
    case 14: return Number(int32_t{x == y});
    default: return Number(int32_t{x != y});
  }
}

std::optional<Number> value_of(const Expression& e, const Thread& thread) {
  using Kind = Expression::Kind;
  if (e.kind == Kind::literal) return e.literal;
  if (e.kind == Kind::thread) {
    const Number values[] = {thread.at.x, thread.at.y, thread.linear, thread.linear % 32, thread.block.x};
    return values[e.which];
  }
  const std::optional<Number> first = value_of(e.parts[0], thread);
  if (!first) return std::nullopt;
  if (e.kind == Kind::logical) {
    if (is_true(*first) == (e.which == 1)) return Number(int32_t{e.which == 1});
    const std::optional<Number> second = value_of(e.parts[1], thread);
    return second ? std::optional(Number(int32_t{is_true(*second)})) : std::nullopt;
  }
  if (e.kind == Kind::choice) {
    const std::optional<Number> chosen = value_of(e.parts[is_true(*first) ? 1 : 2], thread);
    if (!chosen) return std::nullopt;
    return std::visit(
        [&](auto a, auto b) {
          using C = std::common_type_t<decltype(a), decltype(b)>;
          return std::optional(std::visit([](auto v) { return Number(static_cast<C>(v)); }, *chosen));
        },
        type_of(e.parts[1], thread), type_of(e.parts[2], thread));
  }
  if (e.kind == Kind::binary) {
    const std::optional<Number> second = value_of(e.parts[1], thread);
    if (!second) return std::nullopt;
    return std::visit([&](auto a, auto b) { return binary(e.which, a, b); }, *first, *second);
  }
  return std::visit(
      [&](auto a) -> std::optional<Number> {
        using A = decltype(a);
        const auto u = static_cast<std::make_unsigned_t<A>>(a);
        if (e.kind == Kind::unary)
          return e.which == 0   ? Number(static_cast<A>(0 - u))
                 : e.which == 1 ? Number(static_cast<A>(~u))
                 : e.which == 2 ? Number(int32_t{a == 0})
                                : Number(a);
        switch (e.which) {
          case 0: return Number(static_cast<int32_t>(a));
          case 1: return Number(static_cast<uint32_t>(a));
          case 2: return Number(static_cast<int64_t>(a));
          case 3: return Number(static_cast<uint64_t>(a));
          case 4: return Number(int32_t{static_cast<int16_t>(a)});
          default: return Number(int32_t{static_cast<uint8_t>(a)});
        }
      },
      *first);
}

/// Some value of the expression's type: types do not depend on values.
Number type_of(const Expression& e, const Thread& thread) {
  using Kind = Expression::Kind;
  const Number types[] = {int32_t{}, uint32_t{}, int64_t{}, uint64_t{}, int32_t{}, int32_t{}};
  switch (e.kind) {
    case Kind::literal: return e.literal;
    case Kind::thread: return *value_of(e, thread);
    case Kind::logical: return int32_t{};
    case Kind::cast: return types[e.which];
    case Kind::unary: return e.which == 2 ? Number(int32_t{}) : type_of(e.parts[0], thread);
    case Kind::choice:
    case Kind::binary: break;
  }
  const size_t a = e.kind == Kind::choice ? 1 : 0;
  if (e.kind == Kind::binary && e.which >= 10) return int32_t{};
  if (e.kind == Kind::binary && is_shift(e.which)) return type_of(e.parts[0], thread);
  return std::visit([](auto x, auto y) { return Number(std::common_type_t<decltype(x), decltype(y)>{}); },
                    type_of(e.parts[a], thread), type_of(e.parts[a + 1], thread));
}

TEST(CodeExpressions, AgreeWithCpp) {
  const exec::Dim3 block{7, 6, 1};
  int failing = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    const Expression e = Generator(seed).make(4);
    const std::string text = "char a[256]; a[(" + text_of(e) + ") & 255]";
    std::vector<int64_t> expected;
    for (int linear = 0; linear < 42; ++linear) {
      const Thread thread{
          {static_cast<uint32_t>(linear % 7), static_cast<uint32_t>(linear / 7), 0}, block, linear};
      const std::optional<Number> value = value_of(e, thread);
      if (!value) {
        expected.clear();
        break;
      }
      expected.push_back(std::visit([](auto v) { return static_cast<int64_t>(v & 255); }, *value));
    }
    if (expected.empty()) {
      EXPECT_THAT(error_of(text, block), HasSubstr("division by zero")) << text;
      ++failing;
      continue;
    }
    std::vector<int64_t> found;
    try {
      const CodeRun made = run(text, block);
      for (size_t i = 0; i < made.requests.size(); ++i)
        for (const int64_t offset : offsets(made, i)) found.push_back(offset);
    } catch (const Error& error) {
      // A constant part may be divided by zero where no thread gets to it: that is refused.
      EXPECT_THAT(error.what(), HasSubstr("division by zero")) << text;
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("lane"))) << text;
      continue;
    }
    EXPECT_EQ(found, expected) << text;
  }
  EXPECT_GT(failing, 50);
  EXPECT_LT(failing, 2000);
}

}  // namespace
}  // namespace lanescope::code
