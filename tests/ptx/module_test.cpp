// What the library's users ask of a module: places, names, limits, and every committed PTX file.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/files.hpp"
#include "ptx/module.hpp"
#include "ptx/names.hpp"

namespace lanescope::ptx {
namespace {

const std::string header = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::string kernel(const std::string& body) { return header + ".entry k()\n{\n" + body + "\n}\n"; }

/// The error of a text that must be refused.
Error error_of(const std::string& text) {
  try {
    (void)parse(text, "test.ptx");
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "not refused:\n" << text.substr(0, 200);
  return Error("");
}

std::string repeated(const std::string& text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

TEST(Module, AnswersQuestions) {
  const Module module = parse(kernel("ret;") + ".file 7 \"a/b.cu\"\n", "some name");
  EXPECT_EQ(module.name, "some name");
  EXPECT_EQ(module.version_major, 9u);
  EXPECT_EQ(module.version_minor, 0u);
  EXPECT_EQ(module.target, "sm_90");
  EXPECT_EQ(module.file_path(7), "a/b.cu");
  EXPECT_EQ(module.file_path(8), "");
  ASSERT_NE(module.find_function("k"), nullptr);
  EXPECT_EQ(module.find_function("K"), nullptr);
  EXPECT_EQ(module.text_line(2), ".target sm_90");
  EXPECT_EQ(module.text_line(100), "");
}

TEST(Module, KnowsTheLinesOfItsText) {
  const Module module = parse(kernel("ret;") + "// at the end\r\n\n// last", "t");
  EXPECT_EQ(module.text_line(0), "");
  EXPECT_EQ(module.text_line(1), ".version 9.0");
  EXPECT_EQ(module.text_line(7), "}");
  EXPECT_EQ(module.text_line(8), "// at the end");
  EXPECT_EQ(module.text_line(9), "");
  EXPECT_EQ(module.text_line(10), "// last");
  EXPECT_EQ(module.text_line(11), "");
}

TEST(Module, EveryNodeHasItsPlace) {
  const Module module =
      parse(header + ".entry k(.param .u32 n)\n{\n  .reg .b32 a;\nL:  mov.b32\ta, 5;\n}\n", "t");
  const Function& k = *module.find_function("k");
  EXPECT_EQ(k.loc.line, 4u);
  EXPECT_EQ(k.loc.column, 8u);
  EXPECT_EQ(k.params[0].loc.column, 22u);
  EXPECT_EQ(k.labels[0].loc.line, 7u);
  EXPECT_EQ(k.body[0].loc.column, 5u);
  EXPECT_EQ(k.body[0].operands[1].loc.column, 16u);
}

TEST(Module, ErrorsAreData) {
  const Error error = error_of(kernel("  add.u32 %r1, %r1, %r1;"));
  EXPECT_EQ(error.place().file, "test.ptx");
  EXPECT_EQ(error.place().line, 6u);
  EXPECT_EQ(error.place().column, 11u);
  EXPECT_EQ(error.cause(), "undeclared name '%r1'");
}

TEST(Module, WindowsLineEndsAreBlanks) {
  std::string text = kernel("  .reg .b32 a;\n  mov.b32 a, 1; // note\n  frob;");
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, "\r");
  const Error error = error_of(text);
  EXPECT_STREQ(error.what(), "test.ptx:8:3: unknown instruction 'frob'\n    frob;\n    ^");
}

TEST(Module, LongLinesAreNotShown) {
  const Error error = error_of(kernel(std::string(1000, ' ') + "frob;"));
  EXPECT_STREQ(error.what(), "test.ptx:6:1001: unknown instruction 'frob'");
}

// Short and long garbage that would exhaust the stack, the memory or the patience of a parser without limits.
TEST(Module, NestingIsLimited) {
  constexpr int many = 100000;
  EXPECT_EQ(error_of(kernel(repeated("{", many))).cause(), "more than 256 nested '{'");
  for (const char* opening : {"(", "-", "!", "~", "(.s64)", "1?", "1?2:"})
    EXPECT_EQ(error_of(kernel(".reg .b32 a; mov.b32 a, " + repeated(opening, many))).cause(),
              "a constant expression nested too deeply")
        << opening;
  EXPECT_EQ(error_of(header + ".global .u8 x" + repeated("[1]", many)).cause(),
            "an array of more than 16 dimensions");
  EXPECT_EQ(error_of(header + ".global .u8 x[1] = " + repeated("{", many)).cause(),
            "more braces than 'x' has dimensions");
  EXPECT_EQ(error_of(kernel(".reg .b32 a; mov.b32 {" + repeated("a,", many))).cause(), "too many elements");
  EXPECT_EQ(error_of(kernel(".reg .b32 a; add.u32 " + repeated("a,", many))).cause(), "too many operands");
}

TEST(Module, RegistersAreLimited) {
  EXPECT_EQ(error_of(kernel(".reg .b32 a<262145>;")).cause(), "more than 262144 registers");
  std::string many;
  for (int i = 0; i < 17; ++i)
    many += ".reg .b32 a" + std::string(static_cast<size_t>(i) + 1, 'x') + "<262144>;\n";
  EXPECT_EQ(error_of(kernel(many)).cause(), "the module declares more than 4194304 registers");
}

// Twice the text takes about twice the time. The factor is wide: this catches what is quadratic, not what is
// slow.
TEST(Module, TimeIsLinear) {
  const auto seconds = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i)
      text += "{ .reg .b32 a<9>; L" + std::to_string(i) + ": .loc 1 " + std::to_string(i) +
              " 3\n bra E; add.u32 a1, a2, -3; @p bra L" + std::to_string(i) + "; }\n";
    text = kernel(".reg .pred p;\n" + text + "E:");
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(parse(text, "t").find_function("k")->body.size(), 3 * static_cast<size_t>(n));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  (void)seconds(1000);
  const double small = seconds(4000);
  EXPECT_LT(seconds(32000), small * 8 * 6);
}

/// The compiler gives line 0 to what it put together of several lines, and the assembler the line before.
TEST(Module, LineZeroKnowsTheLineBefore) {
  const Module module =
      parse(kernel(".reg .b32 a;\n.loc 1 0 0\nmov.b32 a, 1;\n.loc 1 7 3\nmov.b32 a, 2;\n"
                   ".loc 1 0 0\nL: mov.b32 a, 3;\n.loc 1 0 3\nmov.b32 a, 3;\n.loc 1 9 3\nmov.b32 a, 4;\n"),
            "t");
  const auto at = [&](uint32_t index) { return module.source_locs.at(index); };
  std::vector<uint32_t> lines, before;
  for (const Instruction& instruction : module.find_function("k")->body) {
    lines.push_back(at(instruction.source).line);
    if (at(instruction.source).before != no_index) before.push_back(at(at(instruction.source).before).line);
  }
  EXPECT_EQ(lines, (std::vector<uint32_t>{0, 7, 0, 0, 9}));
  EXPECT_EQ(before, (std::vector<uint32_t>{7, 7}));
}

TEST(Module, EveryCommittedFileIsRead) {
  int files = 0;
  for (const char* folder : {"/kernels/ptx", "/tests/data/ptx"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(LANESCOPE_SOURCE_DIR) + folder)) {
      if (entry.path().extension() != ".ptx") continue;
      ++files;
      const Module module = parse(read_file(entry.path()), entry.path().filename());
      size_t instructions = 0, placed = 0;
      for (const Function& function : module.functions)
        for (const Instruction& instruction : function.body) {
          ++instructions;
          if (instruction.source == no_index) continue;
          ++placed;
          EXPECT_NE(module.file_path(module.source_locs[instruction.source].file), "");
        }
      EXPECT_GT(instructions, 0u);
      EXPECT_GT(placed, 0u) << entry.path();
    }
  EXPECT_GT(files, 10);
}

TEST(Names, AreDemangledForPeople) {
  EXPECT_EQ(demangle("_Z9transposePfPKfii"), "transpose(float*, float const*, int, int)");
  EXPECT_EQ(demangle("_Z4tmplIfLi64EEvPT_"), "void tmpl<float, 64>(float*)");
  // Numba puts its version of a kernel and a hash of its options into the name.
  EXPECT_EQ(demangle("_ZN8__main__"
                     "2trB2v1B92cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkEJoHkbttqdVhoqlspQ"
                     "GNFHSgJ5BnXagIAEf"),
            "__main__::tr(float)");
  EXPECT_EQ(demangle("plain"), "plain");
  EXPECT_EQ(demangle("_Zgarbage"), "_Zgarbage");
  // Names of more than 1,024 characters are too long for the demangler of some C++ runtimes.
  std::string arguments;
  for (int i = 0; i < 200; ++i) arguments += "4half";
  const std::string kernel = demangle("_ZN7cutlass12_GLOBAL__N_16KernelI4GemmIJ" + arguments + "EEEEvT_");
  EXPECT_TRUE(kernel.starts_with("cutlass::(anonymous namespace)::Kernel<…") ||
              kernel.starts_with("void cutlass::(anonymous namespace)::Kernel<Gemm<half, half"))
      << kernel;
  EXPECT_EQ(demangle(""), "");
  const std::string huge = "_Z" + std::string(100000, 'P') + "i";
  EXPECT_EQ(demangle(huge), huge);
}

TEST(Errors, BytesThatAreNoTextAreNotShown) {
  const std::string message = error_of(header + ")\x1b[2J\n").what();
  EXPECT_TRUE(message.starts_with("test.ptx:4:1: ")) << message;
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(Names, OfVariablesInsideFunctionsAreTheLastPart) {
  EXPECT_EQ(variable_display_name("_ZZ9transposePfE4tile"), "tile");
  EXPECT_EQ(variable_display_name("_ZZ3twoPfE4tile_0"), "tile");
  EXPECT_EQ(variable_display_name("_ZZ5plainE4tile"), "tile");
  EXPECT_EQ(variable_display_name("_ZZ4tmplIfLi64EEvPT_E4buf2"), "buf2");
  EXPECT_EQ(variable_display_name("_ZZZ3lamPiENKUliE_clEiE1t"), "t");
  EXPECT_EQ(variable_display_name("_ZZN36_GLOBAL__N__3c380da8_4_b_cu__Z3twoPf4anonEPfE4tile"), "tile");
  EXPECT_EQ(variable_display_name("__cuda_local_var_41932_32_non_const_tile"), "tile");
  EXPECT_EQ(variable_display_name("$_Z3foov$__cuda_local_var_41932_32_const_table"), "table");
  EXPECT_EQ(variable_display_name("_ZN2ns5tableE"), "ns::table");
  EXPECT_EQ(variable_display_name("tile"), "tile");
}

}  // namespace
}  // namespace lanescope::ptx
