// Golden tests of the parser. A file of tests/ptx/golden/ holds PTX and what must come of it;
// LANESCOPE_REBASE=1 rewrites the expected parts from what the parser does now.
//
//   What this file shows, in free text up to the first directive.
//   ;; ptx:     (a block: a whole module, up to the next directive)
//   ;; body:    (a block: statements of a kernel with the registers of `prelude`; its first line is line 2)
//   ;; module:  (the block that dump.hpp writes of the module)
//   ;; code:    (the same, of the kernel's instructions alone)
//   ;; error:   (the whole message)
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ptx/dump.hpp"

namespace lanescope::ptx {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prelude =
    ".version 9.0 .target sm_100a .address_size 64 .global .u32 g; .func (.param .b32 r) f(.param .b32 a); "
    ".entry k(.param .u64 ptr, .param .u32 n) { .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; "
    ".reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %fd<4>; .shared .u32 s[32];\n";

struct Case {
  std::string input_kind;  // ptx or body
  std::string input;
  std::string expected_kind;  // module, code or error
  std::string expected;
};

struct File {
  std::string description;
  std::vector<Case> cases;
};

File read(const fs::path& path) {
  std::ifstream in(path);
  File file;
  std::string* block = &file.description;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(";; ")) {
      const std::string name = line.substr(3, line.find(':') - 3);
      if (name == "ptx" || name == "body") {
        file.cases.push_back({.input_kind = name, .input = "", .expected_kind = "", .expected = ""});
        block = &file.cases.back().input;
      } else if ((name == "module" || name == "code" || name == "error") && !file.cases.empty()) {
        file.cases.back().expected_kind = name;
        block = &file.cases.back().expected;
      } else {
        ADD_FAILURE() << path << ": unknown directive: " << line;
      }
      continue;
    }
    *block += line + "\n";
  }
  return file;
}

void write(const fs::path& path, const File& file) {
  std::ofstream out(path);
  out << file.description;
  for (const Case& c : file.cases)
    out << ";; " << c.input_kind << ":\n" << c.input << ";; " << c.expected_kind << ":\n" << c.expected;
}

// What the parser makes of the case's input; sets the kind to error if it refuses it.
std::string outcome(Case& c) {
  const std::string text = c.input_kind == "ptx" ? c.input : std::string(prelude) + c.input + "}\n";
  try {
    const Module module = parse(text, "test.ptx");
    for (const Function& function : module.functions) module.check_runs(function, function);
    if (c.expected_kind == "error") c.expected_kind = c.input_kind == "ptx" ? "module" : "code";
    Dump dump(module);
    if (c.expected_kind != "code") return dump.text();
    std::string out;
    const Function& kernel = *module.find_function("k");
    for (const Instruction& instruction : kernel.body) out += dump.describe(kernel, instruction) + "\n";
    return out;
  } catch (const Error& error) {
    c.expected_kind = "error";
    return std::string(error.what()) + "\n";
  }
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, ParserGivesWhatTheFileSays) {
  File file = read(GetParam());
  ASSERT_FALSE(file.cases.empty());
  const bool rebase = std::getenv("LANESCOPE_REBASE") != nullptr;
  for (Case& c : file.cases) {
    const std::string expected_kind = c.expected_kind;
    const std::string actual = outcome(c);
    if (rebase) {
      if (c.expected_kind.empty()) c.expected_kind = c.input_kind == "ptx" ? "module" : "code";
      c.expected = actual;
    } else {
      EXPECT_EQ(expected_kind, c.expected_kind) << c.input << actual;
      EXPECT_EQ(c.expected, actual) << c.input;
    }
  }
  if (rebase) write(GetParam(), file);
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(LANESCOPE_SOURCE_DIR "/tests/ptx/golden"))
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Ptx, Golden, testing::ValuesIn(golden_files()), [](const auto& test_info) {
  std::string name = test_info.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace lanescope::ptx
