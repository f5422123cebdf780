// Parts of dynamic shared memory: which pointers divide it, where they begin in a launch, how their
// declarations are read and changed, and what begins no part.
#include "advise/division.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "advise/rewrite.hpp"
#include "base/files.hpp"

namespace lanescope::advise {
namespace {

using ::testing::HasSubstr;

/// A kernel `k` whose body is `body`, launched with blocks of 32x8 threads and the values of its parameters.
struct Kernel {
  explicit Kernel(const std::string& body, const std::vector<int>& values = {},
                  const std::string& parameters = "", const std::string& before = "",
                  const std::string& name = "k")
      : text(before + "__global__ void k(" + parameters + ") {\n" + body + "\n}\n") {
    std::ofstream(file) << text;
    kernel.name = name;
    kernel.files = {file};
    kernel.shared = {{"fixed", 0, 64, false}, {"s", 64, 0, true}};
    config.block = {32, 8, 1};
    config.dynamic_shared = 8192;
    config.params.resize(values.size() * sizeof(int));
    for (size_t i = 0; i < values.size(); ++i) {
      const auto offset = static_cast<uint32_t>(i * sizeof(int));
      kernel.params.push_back({"p", offset, sizeof(int), 4, ptx::Type::u32, false});
      std::memcpy(config.params.data() + offset, &values[i], sizeof(int));
    }
    division = std::make_unique<Division>(kernel, sources);
  }

  ScratchFolder folder;
  std::string file = folder.path() / "k.cu", text;
  Sources sources{file};
  exec::Kernel kernel;
  exec::LaunchConfig config;
  std::unique_ptr<Division> division;

  /// "a 0-4096, b 4096-8192": bytes of dynamic memory.
  [[nodiscard]] std::string parts() const {
    std::string all;
    for (const exec::SharedVariable& v : division->variables(config))
      if (v.dynamic)
        all +=
            fmt::format("{}{} {}-{}", all.empty() ? "" : ", ", v.name, v.offset - 64, v.offset - 64 + v.size);
    return all;
  }
  [[nodiscard]] std::variant<Declaration, Unclear> declaration(const std::string& name) const {
    for (const exec::SharedVariable& v : division->variables(config))
      if (v.name == name) return division->declaration(v, config);
    return Unclear{"no such part"};
  }
  /// The body with the columns of the part's rows of 128 bytes swizzled; else why not.
  [[nodiscard]] std::string swizzled(const std::string& name) const {
    const auto found = declaration(name);
    if (const auto* why = std::get_if<Unclear>(&found)) return why->reason;
    const auto& d = std::get<Declaration>(found);
    const Shape shape{.bytes = static_cast<uint32_t>(d.extents[0].value * d.element_bytes),
                      .row_bytes = 128,
                      .element_bytes = d.element_bytes,
                      .has_rows = false};
    const auto change = rewrite(text, d, shape, Swizzle{4, {1, 2}});
    if (const auto* why = std::get_if<Unclear>(&change)) return why->reason;
    std::string all = patched(text, std::get<Rewrite>(change).edits, "k.cu");
    for (const std::string head : {"#include <lanescope/tile.cuh>\n", "\n", "__global__ void k() {\n"})
      if (all.starts_with(head)) all.erase(0, head.size());
    return all.substr(0, all.rfind("\n}\n"));
  }
};

std::string parts_of(const std::string& body, const std::vector<int>& values = {},
                     const std::string& parameters = "", const std::string& before = "",
                     const std::string& name = "k") {
  return Kernel("extern __shared__ float s[];\n" + body, values, parameters, before, name).parts();
}

TEST(Division, FollowsPointersThatBeginWhereOthersEnd) {
  const std::string two = "a 0-4096, b 4096-8192";
  EXPECT_EQ(parts_of("float* a = s; float* b = s + 1024; a[0] = b[0];"), two);
  EXPECT_EQ(parts_of("float *a = s, *b = &a[1024]; a[0] = b[0];"), two);
  EXPECT_EQ(parts_of("float* const a{s}; auto b = a + 2 * 512; f(a, b);"), two);
  EXPECT_EQ(
      parts_of("int* __restrict__ a = (int*)s; auto* b = reinterpret_cast<double*>(a + 1024); a[0] = *b;"),
      two);
  EXPECT_EQ(parts_of("float* a = s; float2* b = (float2*)s + 512; a[0] = b->x;"), two);
  EXPECT_EQ(parts_of("float (*a)[32] = (float (*)[32])s; float (*b)[32] = a + 32; a[0][0] = b[0][0];"), two);
  EXPECT_EQ(parts_of("char* p = (char*)s; float* a = (float*)p; p += 32 * 32 * sizeof(float);\n"
                     "unsigned char* b = (unsigned char*)p; a[0] = b[0];"),
            two);
  EXPECT_EQ(parts_of("char* b = (char*)s; float* a = (float*)b; b += 4096; a[0] = b[0];"), two);
  EXPECT_EQ(
      parts_of("lanescope::SwizzledPointer<float, 32, 1> a{s}; float* b = a.elements + 1024; f(a[0], b);"),
      two);
  EXPECT_EQ(parts_of("int* b = (int*)&s[1024]; s[0] = b[0];"), "s 0-4096, b 4096-8192");
  EXPECT_EQ(parts_of("float* a = s; a[0] = 1;"), "a 0-8192");
  EXPECT_EQ(parts_of("s[0] = 1;"), "s 0-8192");
}

TEST(Division, KnowsWhatTheLaunchAndTheTextGive) {
  EXPECT_EQ(parts_of("float* a = s; float* b = a + n; a[0] = b[0];", {64, 256}, "int m, const int n = 7"),
            "a 0-1024, b 1024-8192");
  EXPECT_EQ(parts_of("const int n = blockDim.x * blockDim.y;\nfloat* a = s; float* b = a + n; a[0] = b[0];"),
            "a 0-1024, b 1024-8192");
  EXPECT_EQ(
      parts_of("int n = m; n += 32; float* b = s + (size_t)((n + 31) & ~31); s[0] = b[0];", {65}, "int m"),
      "s 0-512, b 512-8192");
  EXPECT_EQ(parts_of("float* b = s + T * 2; s[0] = b[0];", {}, "", "#define T 16\n"), "s 0-128, b 128-8192");
  EXPECT_EQ(parts_of("T* a = (T*)s; T* b = a + N; a[0] = b[0];", {}, "", "template <class T, int N>\n",
                     "_Z1kIdLi32EEvv"),
            "a 0-256, b 256-8192");
}

/// Functions of the text that hand out parts, and move on what they take by reference.
TEST(Division, FollowsFunctionsThatHandOutParts) {
  const std::string carve =
      "template <class T> __device__ T* carve(char*& p, int n) {\n"
      "  T* r = reinterpret_cast<T*>(p);\n  p += n * sizeof(T);\n  return r;\n}\n";
  EXPECT_EQ(parts_of("char* p = (char*)s; float* a = carve<float>(p, 64); double* b = carve<double>(p, 32);\n"
                     "int* c = carve<int>(p, 1); a[0] = b[0] + c[0];",
                     {}, "", carve),
            "a 0-256, b 256-512, c 512-8192");
  EXPECT_EQ(parts_of("char* p = (char*)s; T* a = carve<T>(p, n); T* b = carve<T>(p, n); a[0] = b[0];", {16},
                     "int n", carve + "template <class T>\n", "_Z1kIdEvi"),
            "a 0-128, b 128-8192");
  const std::string with_offset =
      "template <class T, int N> T* take(char* base, size_t& at) {\n"
      "  T* r = (T*)(base + at); at += N * sizeof(T); return r; }\n";
  EXPECT_EQ(parts_of("char* p = (char*)s; size_t at = 64; float* a = take<float, 2 * 32>(p, at);\n"
                     "int* b = take<int, 1>(p, at); a[0] = b[0];",
                     {}, "", with_offset),
            "s 0-64, a 64-320, b 320-8192");
  EXPECT_EQ(parts_of("float* a = s; float* b = behind(a, 64); a[0] = b[0];", {}, "",
                     "float* behind(float* p, int n) { return p + n; }\n"),
            "a 0-256, b 256-8192");
  // What a function looks at alone stays what it is.
  EXPECT_EQ(parts_of("float* a = s; const int steps = up(n + 1, 32); float* b = a + 64; a[0] = b[0];", {64},
                     "int n", "int up(const int& a, const int& b) { return (a + b - 1) / b; }\n"),
            "a 0-256, b 256-8192");
  // Steps that are taken in some cases only.
  EXPECT_EQ(parts_of("float* a = s; float* b = f(a, 64); a[0] = b[0];", {}, "",
                     "float* f(float* p, int n) { if (align) n = (n + 3) / 4 * 4; return p + n; }\n"),
            "");
  EXPECT_EQ(parts_of("float* a = s; float* b = f(a, 64); a[0] = b[0];", {}, "",
                     "float* f(float* p, int n) { if (which) p += 1024; return p; }\n"),
            "");
  // Where that is not clear: overloads, several returns, another text's, one that does not end.
  EXPECT_EQ(parts_of("float* a = s; float* b = f(a, 64); a[0] = b[0];", {}, "",
                     "float* f(float* p, int n) { if (n < 8) return p; return p + n; }\n"),
            "");
  EXPECT_EQ(parts_of("float* a = s; float* b = f(a, 64); a[0] = b[0];", {}, "",
                     "float* f(float* p, int n) { return p + n; }\nint* f(int* p, int n) { return p; }\n"),
            "");
  EXPECT_EQ(parts_of("float* a = s; float* b = f(a); a[0] = b[0];", {}, "",
                     "float* f(float* p) { return f(p); }\n"),
            "");
  EXPECT_EQ(parts_of("float* a = s; float* b = f(a + 1, 64); a[0] = b[0];", {}, "",
                     "float* f(float*&& p, int n) { return p + n; }\n"),
            "");
}

/// A division is asked again for every launch.
TEST(Division, FollowsTheLaunches) {
  Kernel given("extern __shared__ float s[]; float* b = s + n; s[0] = b[0];", {64}, "int n");
  EXPECT_EQ(given.parts(), "s 0-256, b 256-8192");
  given.config.params[0] = std::byte{32};
  EXPECT_EQ(given.parts(), "s 0-128, b 128-8192");
  given.config.dynamic_shared = 1024;
  EXPECT_EQ(given.parts(), "s 0-128, b 128-1024");
  Kernel of_block("extern __shared__ float s[]; float* b = s + blockDim.x; s[0] = b[0];");
  EXPECT_EQ(of_block.parts(), "s 0-128, b 128-8192");
  of_block.config.block.x = 16;
  EXPECT_EQ(of_block.parts(), "s 0-64, b 64-8192");
}

TEST(Division, NamesWhatSharesMemoryTogether) {
  EXPECT_EQ(parts_of("float* a = s; float* b = s + 64; int* c = (int*)s; a[0] = b[0] + c[0];"),
            "a/c 0-256, b 256-8192");
}

TEST(Division, LeavesOutWhatBeginsNoPart) {
  // Not used, each thread's own, of another memory, changing.
  EXPECT_EQ(parts_of("float* a = s; float* b = s + 64; a[0] = 1;"), "a 0-8192");
  EXPECT_EQ(parts_of("const int warp = threadIdx.x / 32; float* own = s + warp * 64; float* b = s + 512;\n"
                     "own[0] = b[0];"),
            "s 0-2048, b 2048-8192");
  EXPECT_EQ(parts_of("float* b = s + 64; const float* row = in + blockIdx.x; s[0] = b[0] + row[0];", {0},
                     "const float* in"),
            "s 0-256, b 256-8192");
  EXPECT_EQ(parts_of("float* a = s; float* b = s + 64;\n"
                     "for (int i = 0; i < 8; ++i) { float* swap = a; a = b; b = swap; a[0] = b[0]; }"),
            "s 0-8192");
  EXPECT_EQ(parts_of("float* a = s; for (int i = 0; i < 8; ++i) { float* row = a + 32; row[i] = 1; }"),
            "a 0-8192");
}

TEST(Division, DividesNothingWhereItIsNotClear) {
  EXPECT_EQ(parts_of("float* b = s + p.n; s[0] = b[0];", {}, "P p"), "");
  EXPECT_EQ(parts_of("float* b = s + n; s[0] = b[0];"), "");
  EXPECT_EQ(parts_of("n *= 2; float* b = s + n; s[0] = b[0];", {64}, "int n"), "");
  EXPECT_EQ(parts_of("float* b = align(s + 64); s[0] = b[0];"), "");
  EXPECT_EQ(parts_of("Thing* a = (Thing*)s; Thing* b = a + 4; a[0] = b[0];"), "");
  EXPECT_EQ(parts_of("float* b = s + 64; s[0] = b[0];", {}, "", "__global__ void k(int) { s[0] = 1; }\n"),
            "");
  EXPECT_EQ(parts_of("float* b = s + 64; s[0] = b[0];", {}, "", "", "other"), "");
  EXPECT_EQ(Kernel("extern __shared__ float s[][32]; float* b = s[4]; s[0][0] = b[0];").parts(), "");
}

TEST(Division, IsReadFromAnyText) {
  const Kernel whole(
      "extern __shared__ float s[]; float (*a)[32] = (float (*)[32])s; auto b{s + (4)};\n"
      "char *p = reinterpret_cast<char*>(&s[64]), q(3); p += 4; else if (b[0] * a[0][1]) *p = q;\n"
      "__shared__ float fixed[8 * 2]; auto c = (float (*)[4])fixed; int* d = carve<int, 2 * 3>(p, 4);\n"
      "c[0][1] = d[y * 8 + x];",
      {}, "",
      "template <class T, int N> T* carve(char*& p, int n) { T* r = (T*)(p + N); p += n; return r; }\n");
  for (size_t length = 0; length < whole.text.size(); ++length) {
    std::ofstream(whole.file) << whole.text.substr(0, length) << " }";
    Sources sources(whole.file);
    Division division(whole.kernel, sources);
    (void)division.variables(whole.config);
  }
}

TEST(Division, FindsTheDeclarationOfAPart) {
  const Kernel rows(
      "extern __shared__ char s[];\nfloat* a = (float*)s;\nint (*b)[T] = (int (*)[T])(a + 1024);\n"
      "a[threadIdx.y * blockDim.x + threadIdx.x] = a[blockDim.x * 3 + 1 + threadIdx.x / 2];\n"
      "b[0][1] = 2;",
      {}, "", "#define T 16\n");
  const auto a = std::get<Declaration>(rows.declaration("a"));
  EXPECT_EQ(a.line, 4u);
  EXPECT_EQ(a.type, "float");
  EXPECT_EQ(a.element_bytes, 4u);
  EXPECT_EQ(a.extents.size(), 1u);
  EXPECT_EQ(a.extents[0].value, 1024u);
  ASSERT_TRUE(a.part);
  ASSERT_TRUE(a.pitch);
  EXPECT_EQ(a.pitch->text, "blockDim.x");
  EXPECT_EQ(a.row_bytes(), 128u);
  const auto b = std::get<Declaration>(rows.declaration("b"));
  EXPECT_EQ(b.extents.size(), 2u);
  EXPECT_EQ(b.extents[1].text, "T");
  EXPECT_EQ(b.row_bytes(), 64u);
}

/// Rows are known where every subscript has them.
TEST(Division, FindsThePitchOfSubscripts) {
  const auto pitch = [](const std::string& subscripts) {
    const Kernel kernel("extern __shared__ float s[]; const int n = 24; " + subscripts);
    const auto found = std::get<Declaration>(kernel.declaration("s")).pitch;
    return found ? found->text : "";
  };
  EXPECT_EQ(pitch("s[threadIdx.y * blockDim.x + threadIdx.x] = 1;"), "blockDim.x");
  EXPECT_EQ(pitch("s[blockDim.x * 3 + 1 + threadIdx.x / 2] = s[blockDim.x * y];"), "blockDim.x");
  EXPECT_EQ(pitch("s[y * n + x] = s[x * n];"), "n");
  EXPECT_EQ(pitch("s[y * (n + 1) + x] = s[x + (n + 1) * y];"), "(n + 1)");
  EXPECT_EQ(pitch("s[y * n + x] = s[x];"), "");
  EXPECT_EQ(pitch("s[2 * x] = s[2 * x + 1];"), "");
  EXPECT_EQ(pitch("s[y * n + x] = s[(y * n) ^ x];"), "");
  EXPECT_EQ(pitch("s[y * n + x] = 1; f(s);"), "");
}

TEST(Division, GivesAPartAPointerThatSwizzles) {
  EXPECT_EQ(Kernel("  extern __shared__ float s[];\n  float* a = s;\n  float* b = a + 1024;  // behind\n"
                   "  a[1] = b[2];")
                .swizzled("a"),
            "  extern __shared__ float s[];\n  float* a_begin = s;\n"
            "  lanescope::SwizzledPointer<float, 32, 1, 2> a{a_begin};\n"
            "  float* b = a_begin + 1024;  // behind\n  a[1] = b[2];");
  EXPECT_EQ(
      Kernel("  extern __shared__ float s[];\n  int *a = (int*)&s[256], *b = a + 256;\n  s[0] = a[1] + b[2];")
          .swizzled("a"),
      "  extern __shared__ float s[];\n  int *a_begin = (int*)&s[256], *b = a_begin + 256;\n"
      "  lanescope::SwizzledPointer<int, 32, 1, 2> a{a_begin};\n  s[0] = a[1] + b[2];");
  EXPECT_EQ(
      Kernel("  extern __shared__ float s[];\n  int* b = (int*)&s[1024];\n  s[0] = b[2];").swizzled("s"),
      "  extern __shared__ float s_begin[];\n  lanescope::SwizzledPointer<float, 32, 1, 2> s{s_begin};\n"
      "  int* b = (int*)&s_begin[1024];\n  s[0] = b[2];");
}

TEST(Division, LeavesAPartAloneThatSomethingElseLeadsInto) {
  const auto why = [](const std::string& body, const std::string& name = "a") {
    return Kernel("extern __shared__ float s[];\n" + body).swizzled(name);
  };
  EXPECT_EQ(why("float* a = s; float* b = s + 1024; float* c = s; a[0] = b[0] + c[0];", "b"),
            "'a' and 'c' begin at the same place");
  EXPECT_EQ(why("float* a = s; float* c = s; a[0] = c[0];", "a/c"), "'a' and 'c' begin at the same place");
  EXPECT_EQ(why("AT(1) = 2;", "s"), "the kernel's text does not use 's' itself");
  EXPECT_EQ(why("float* a = s;\nf(a, a[0]);"), "line 4 uses 'a' without a subscript");
  EXPECT_EQ(why("float* a = s;\nfloat* row = a + threadIdx.x; a[0] = row[0];"),
            "line 4 uses 'a' without a subscript");
  EXPECT_EQ(why("float* a = s;\nfloat* p = &a[threadIdx.x]; a[0] = p[0];"), "line 4 takes an address in 'a'");
  EXPECT_EQ(why("Thing* a = (Thing*)s; a[0] = 1;"), "line 3: the size of 'Thing' is not known");
  EXPECT_EQ(why("volatile float* a = s; a[0] = 1;"), "its type is 'volatile float'");
  EXPECT_EQ(why("auto a = s; a[0] = 1;"), "its type is 'auto'");
  EXPECT_EQ(why("auto b = (float (*)[32])s; auto a = b + 8; a[0] = b[0];"),
            "line 3 does not say which rows 'a' leads to");
  EXPECT_EQ(why("float* a = s; float* b = a + 33; a[0] = b[0];"), "its 132 bytes are no multiple of 128");
  EXPECT_EQ(why("float* a = s; a[0] = 1; int a_begin = 0;"), "line 3 names 'a_begin' already");
  EXPECT_EQ(why("float* a = s; float (*b)[32] = (float (*)[32])(s + 1024); a[0] = b[0][0];", "b"),
            "it is a pointer to rows");
  EXPECT_EQ(Kernel("s[0] = 1;", {}, "", "extern __shared__ float s[];\n").swizzled("s"),
            "it is declared outside of the kernel");
}

/// The text with a word more in each row of `a`, which has 16 rows of 64 bytes; else why not. The kernel is
/// launched by `host`.
std::string padded(const std::string& body, const std::string& host = "k<<<1, b, 8192>>>();",
                   const std::string& parameters = "", const std::vector<int>& values = {}) {
  const Kernel kernel("extern __shared__ float s[];\n" + body + "\n}\nvoid host() {\n" + host, values,
                      parameters);
  for (const exec::SharedVariable& v : kernel.division->variables(kernel.config)) {
    if (v.name != "a") continue;
    const auto room = kernel.division->room_behind(v, 64, kernel.config);
    if (const auto* why = std::get_if<Unclear>(&room)) return why->reason;
    const auto d = std::get<Declaration>(kernel.division->declaration(v, kernel.config));
    const Shape shape{.bytes = 1024, .row_bytes = d.row_bytes(), .element_bytes = d.element_bytes};
    const auto change = rewrite(kernel.text, d, shape, RowPadding{1});
    if (const auto* why = std::get_if<Unclear>(&change)) return why->reason;
    std::vector<Edit> edits = std::get<Rewrite>(change).edits;
    const auto& more = std::get<std::vector<Edit>>(room);
    edits.insert(edits.end(), more.begin(), more.end());
    const std::string text = patched(kernel.text, edits, "k.cu");
    const size_t begin = text.find('\n', text.find("extern")) + 1;
    return text.substr(begin, text.rfind("\n}\n") - begin);
  }
  return "no such part";
}

TEST(Division, MakesRoomForLongerRows) {
  const std::string between = "\n}\nvoid host() {\n";
  EXPECT_EQ(padded("float* a = s; float* b = s + 256; float* c = b + 64; a[y * 16 + x] = b[x] + c[x];"),
            "float* a = s; float* b = s + 256 + 16; float* c = b + 64; a[y * (16 + 1) + x] = b[x] + c[x];" +
                between + "k<<<1, b, 8192 + 64>>>();");
  // From one place or another, in units of their own.
  EXPECT_EQ(
      padded("float* a = s; double* b = (double*)&a[256]; char* p = (char*)s; int* c = (int*)(p + 2048);\n"
             "p += 4096; a[16 * y + a[y * 16]] = b[x] + c[x] + *p;",
             "k<<<dim3(1, 2), b, b > 8 ? n : m, stream>>>(); k<<<dim3{1, 2}, b, n>>>();"),
      "float* a = s; double* b = (double*)&a[256] + 8; char* p = (char*)s; int* c = (int*)(p + 2048) + 16;\n"
      "p += 4096 + 64; a[(16 + 1) * y + a[y * (16 + 1)]] = b[x] + c[x] + *p;" +
          between + "k<<<dim3(1, 2), b, (b > 8 ? n : m) + 64, stream>>>(); k<<<dim3{1, 2}, b, n + 64>>>();");
  // What a function hands out lies later where it is got.
  const std::string carve =
      "\n}\nfloat* carve(float*& p, int n) {\n  float* r = p; p += n; return r;\n}\nvoid host() {\n";
  EXPECT_EQ(
      padded("float* p = s; float* a = carve(p, 256); float* b = carve(p, 64); float* c = carve(p, 64);\n"
             "a[y * 16 + x] = b[x] + c[x];\n}\nfloat* carve(float*& p, int n) {\n"
             "  float* r = p; p += n; return r;"),
      "float* p = s; float* a = carve(p, 256); float* b = carve(p, 64) + 16; float* c = carve(p, 64) + "
      "16;\na[y * (16 + 1) + x] = b[x] + c[x];" +
          carve + "k<<<1, b, 8192 + 64>>>();");
  // What the last part has is what the launch gives.
  EXPECT_EQ(padded("float* a = s; a[y * 16 + x] = 1;", "k<<<1, b, 8 * 1024>>>();"),
            "float* a = s; a[y * (16 + 1) + x] = 1;" + between + "k<<<1, b, 8 * 1024 + 64>>>();");
}

/// What a pointer to rows points to is said where it is declared, and where something is cast to it.
TEST(Division, LengthensTheRowsThatAPointerPointsTo) {
  const std::string launch = "\n}\nvoid host() {\nk<<<1, b, 8192>>>();",
                    larger = "\n}\nvoid host() {\nk<<<1, b, 8192 + 64>>>();";
  EXPECT_EQ(padded("float (*a)[16] = (float (*)[16])s; float* b = s + 256; a[y][x] = b[x];"),
            "float (*a)[16 + 1] = (float (*)[16 + 1])s; float* b = s + 256 + 16; a[y][x] = b[x];" + larger);
  EXPECT_EQ(
      padded("auto a = reinterpret_cast<float (*)[16]>(s); auto b = (int*)(s + 256); a[y][x] = b[x];"),
      "auto a = reinterpret_cast<float (*)[16 + 1]>(s); auto b = (int*)(s + 256) + 16; a[y][x] = b[x];" +
          larger);
  EXPECT_EQ(padded("float (*a)[16] = (float (*)[16])s; float* b = s + 256; f(a); a[y][x] = b[x];"),
            "line 3 uses 'a' without all of its subscripts");
  EXPECT_EQ(padded("float (*a)[16] = (float (*)[16])s;\nauto b = (int*)&a[16]; a[y][x] = b[x];"),
            "line 4 says by 'a' where another part begins");
  EXPECT_EQ(padded("float (*a)[16] = (float (*)[16])s + 0; float* b = s + 256; a[y][x] = b[x];"),
            "the text does not show that its rows are those of a cast");
}

/// Arrays that are declared with their size are divided as those are that the launch gives one.
TEST(Division, DividesArraysThatHaveASize) {
  const auto parts = [](const std::string& body, const std::string& before = "",
                        const std::string& name = "k") {
    const Kernel kernel("__shared__ float fixed[16]; " + body, {}, "", before, name);
    std::string all;
    for (const exec::SharedVariable& v : kernel.division->variables(kernel.config))
      all += fmt::format("{}{} {}-{} of '{}'", all.empty() ? "" : ", ", v.name, v.offset, v.offset + v.size,
                         v.array);
    return all;
  };
  EXPECT_EQ(parts("float* a = fixed; auto b = (int*)&a[8]; a[0] = b[0];"),
            "a 0-32 of 'fixed', b 32-64 of 'fixed', s 64-64 of ''");
  EXPECT_EQ(parts("float* b = fixed + 8; fixed[0] = b[0];"),
            "fixed 0-32 of 'fixed', b 32-64 of 'fixed', s 64-64 of ''");
  EXPECT_EQ(parts("float* a = fixed; a[0] = 1;"), "a 0-64 of 'fixed', s 64-64 of ''");
  EXPECT_EQ(parts("fixed[0] = 1;"), "");
  EXPECT_EQ(parts("volatile float* a = fixed; fixed[0] = a[0];"), "");
  EXPECT_EQ(parts("float* a = fixed + threadIdx.x; fixed[0] = a[0];"), "");
  EXPECT_EQ(parts("float* b = align(fixed + 8); fixed[0] = b[0];"), "");

  const auto longer = [](const std::string& body, const std::string& before = "",
                         const std::string& name = "k") {
    const Kernel kernel("__shared__ float fixed[16];\n" + body, {}, "", before, name);
    const exec::SharedVariable& a = kernel.division->variables(kernel.config).front();
    const auto room = kernel.division->room_behind(a, 8, kernel.config);
    const auto declaration = std::get<Declaration>(kernel.division->declaration(a, kernel.config));
    if (!declaration.part->obstacle.empty()) return declaration.part->obstacle;
    if (const auto* why = std::get_if<Unclear>(&room)) return why->reason;
    const std::string text = patched(kernel.text, std::get<std::vector<Edit>>(room), "k.cu");
    return text.substr(0, text.rfind("\n}\n")).substr(text.find("__shared__"));
  };
  EXPECT_EQ(longer("float* a = fixed; float* b = a + 8; a[0] = b[0];"),
            "__shared__ float fixed[16 + 2];\nfloat* a = fixed; float* b = a + 8 + 2; a[0] = b[0];");
  EXPECT_EQ(longer("float* a = fixed; float* b = a + N; a[0] = b[0];", "template <int N>\n", "_Z1kILi8EEvv"),
            "other instances of the template may divide it otherwise");
}

TEST(Division, MakesNoRoomWhereSizesAreNotThoseOfTheText) {
  const std::string two = "float* a = s; float* b = s + 256; a[y * 16 + x] = b[x];";
  EXPECT_EQ(padded("float* a = s; float* b = s + n; a[y * 16 + x] = b[x];", "k<<<1, b, 8192>>>(n);", "int n",
                   {256}),
            "where its parts begin is not the same in every launch");
  EXPECT_EQ(padded("const int n = blockDim.x * 8; float* a = s; float* b = s + n; a[y * 16 + x] = b[x];"),
            "where its parts begin is not the same in every launch");
  EXPECT_EQ(padded("float* a = s; float3* b = (float3*)s + 96; a[y * 16 + x] = b[x].x;"),
            "'b' in line 3 cannot be moved");
  EXPECT_EQ(padded(two, "f(k);"), "what is done with the kernel in line 6 is not clear");
  EXPECT_EQ(padded(two, "k<<<1, b>>>();"), "what is done with the kernel in line 6 is not clear");
  EXPECT_EQ(padded(two, ""), "no launch of it stands in its file");
  EXPECT_EQ(padded("float* a = s; a[y * 16 + x] = 1;", "k<<<1, b, n>>>();"),
            "line 6 may give it another size");
  EXPECT_EQ(padded("float* a = s; float* b = s + 256; a[y * 16 + x] = b[x]; a[x] = 1;"),
            "its subscripts are not all of rows");
}

}  // namespace
}  // namespace lanescope::advise
