// Linking translation units: what is shared and what stays apart, what is refused, and two units compiled by
// nvcc that have to work together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "exec/launch.hpp"
#include "ptx/link.hpp"

namespace lanescope::ptx {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Module unit(const std::string& name, const std::string& text) {
  return parse(".version 8.0\n.target sm_80\n.address_size 64\n" + text, name);
}

Module linked(const std::string& a, const std::string& b) {
  std::vector<Module> units;
  units.push_back(unit("a.ptx", a));
  units.push_back(unit("b.ptx", b));
  return link(std::move(units), "program");
}

std::string refusal(const std::string& a, const std::string& b) {
  try {
    (void)linked(a, b);
  } catch (const Error& error) {
    return error.what();
  }
  return "linked";
}

Module committed(const std::string& name) {
  return parse(read_file(LANESCOPE_SOURCE_DIR "/tests/data/linked/" + name), name);
}

/// A program on the engine, its kernels launched with one block and a buffer of words.
class Program {
 public:
  explicit Program(Module module) : image_(std::make_shared<Module>(std::move(module)), memory_) {}

  std::vector<int> run(const std::string& kernel, uint32_t threads, size_t words) {
    const uint64_t out = memory_.allocate(words * 4, "out");
    exec::LaunchConfig config;
    config.block = {threads, 1, 1};
    config.threads = 1;
    config.params.resize(8);
    std::memcpy(config.params.data(), &out, 8);
    const exec::LaunchResult result = image_.launch(image_.kernel(kernel), config);
    EXPECT_TRUE(result.findings.empty());
    std::vector<int> values(words);
    std::memcpy(values.data(), reinterpret_cast<const void*>(out), words * 4);
    memory_.release(out);
    return values;
  }
  [[nodiscard]] exec::Image& image() { return image_; }

 private:
  exec::Memory memory_;
  exec::Image image_;
};

class LinkedProgram : public testing::TestWithParam<bool> {};

TEST_P(LinkedProgram, UnitsWorkTogether) {
  std::vector<Module> units;
  units.push_back(committed(GetParam() ? "first.ptx" : "second.ptx"));
  units.push_back(committed(GetParam() ? "second.ptx" : "first.ptx"));
  Program program(link(std::move(units), "program"));

  const std::vector<int> combined = program.run("combine", 32, 32);
  for (int i = 0; i < 32; ++i) {
    const int times_ten = 10 * i + i - 50, twice = 2 * i + (1 + 5 + 5);
    const int expected =
        times_ten + (1 + i % 4) * 100 * (1 + i % 4) + (i % 2 == 0 ? times_ten : twice) + (i + 5 + 5);
    EXPECT_EQ(combined[static_cast<size_t>(i)], expected) << i;
  }
  std::vector<int> numbers = program.run("number", 40, 40);
  std::sort(numbers.begin(), numbers.end());
  for (int i = 0; i < 40; ++i) EXPECT_EQ(numbers[static_cast<size_t>(i)], i);
  // times_ten: once for each of 32 threads, and once more through the table for half of them; numbered: one
  // static of both units' instances.
  EXPECT_EQ(program.run("count", 1, 2), (std::vector<int>{3 + 32 + 16, 40}));

  uint64_t size = 0;
  EXPECT_NE(program.image().variable("offsets", &size), 0u);
  EXPECT_EQ(size, 16u);
}

INSTANTIATE_TEST_SUITE_P(EitherOrder, LinkedProgram, testing::Bool(),
                         [](const auto& info) { return info.param ? "FirstSecond" : "SecondFirst"; });

TEST(Link, PlacesLeadToTheSourceOfTheirUnit) {
  std::vector<Module> units;
  units.push_back(committed("first.ptx"));
  units.push_back(committed("second.ptx"));
  const Module module = link(std::move(units), "program");
  EXPECT_EQ(module.files.size(), 3u);  // one of them of both units
  for (const auto& [kernel, file] : {std::pair("combine", "first.cu"), std::pair("number", "second.cu")}) {
    const auto function =
        std::find_if(module.functions.begin(), module.functions.end(),
                     [&](const Function& f) { return f.is_entry && f.display_name.starts_with(kernel); });
    ASSERT_NE(function, module.functions.end());
    EXPECT_THAT(std::string(module.text_line(function->loc.line)), HasSubstr(function->name));
    for (const Instruction& instruction : function->body) {
      if (instruction.source == no_index) continue;
      const SourceLoc* loc = &module.source_locs[instruction.source];
      while (loc->inlined_at != no_index) loc = &module.source_locs[loc->inlined_at];
      EXPECT_EQ(module.file_path(loc->file), std::string("tests/data/linked/") + file);
    }
  }
}

TEST(Link, HeaderIsThatOfTheNewestUnit) {
  std::vector<Module> units;
  units.push_back(parse(".version 7.8\n.target sm_100a\n.address_size 64\n", "a"));
  units.push_back(parse(".version 9.0\n.target sm_90\n.address_size 64", "b"));
  const Module module = link(std::move(units), "program");
  EXPECT_EQ(module.name, "program");
  EXPECT_EQ(module.version_major, 9u);
  EXPECT_EQ(module.version_minor, 0u);
  EXPECT_EQ(module.target, "sm_100a");
  EXPECT_EQ(module.text_line(4), ".version 9.0");
}

TEST(Link, SymbolsWithoutLinkageStayApart) {
  const Module module = linked(".global .u32 s = 1;\n.global .u64 p = generic(s);\n",
                               ".global .u32 s = 2;\n.global .u64 p = generic(s);\n");
  ASSERT_EQ(module.variables.size(), 4u);
  EXPECT_EQ(module.variables[0].name, "s");
  EXPECT_EQ(module.variables[2].name, "s$2");
  EXPECT_EQ(module.variables[1].relocations[0].symbol.index, 0u);
  EXPECT_EQ(module.variables[3].relocations[0].symbol.index, 2u);
}

TEST(Link, OneOfEachName) {
  const Module module = linked(
      ".weak .global .u32 w = 1;\n.extern .global .align 4 .b8 e[];\n.common .global .align 4 .b8 c[8];\n"
      ".extern .shared .align 4 .b8 s[];\n.weak .func f() { ret; }\n",
      ".weak .global .u32 w = 2;\n.visible .global .align 16 .b8 e[32];\n.common .global .align 4 .b8 "
      "c[16];\n"
      ".extern .shared .align 16 .b8 s[];\n.visible .func f() { trap; }\n");
  ASSERT_EQ(module.variables.size(), 4u);
  EXPECT_EQ(module.variables[0].initial[0], 1);
  EXPECT_FALSE(module.variables[1].is_extern);
  EXPECT_EQ(module.variables[1].size, 32u);
  EXPECT_EQ(module.variables[1].align, 16u);
  EXPECT_EQ(module.variables[2].size, 16u);
  EXPECT_EQ(module.variables[3].align, 16u);
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(module.functions[0].body[0].op, Op::trap);
}

TEST(Link, SaysWhatItRefuses) {
  EXPECT_EQ(refusal(".visible .global .u32 x;", ".visible .global .u32 x;"),
            "program: cannot link: 'x' is defined in a.ptx and in b.ptx");
  EXPECT_EQ(refusal(".visible .func f() { ret; }", ".visible .func f() { ret; }"),
            "program: cannot link: 'f' is defined in a.ptx and in b.ptx");
  EXPECT_EQ(refusal(".visible .func x() { ret; }", ".visible .global .u32 x;"),
            "program: cannot link: 'x' is a variable in b.ptx and a function in a.ptx");
  EXPECT_EQ(refusal(".extern .global .u64 x;", ".visible .global .u32 x;"),
            "program: cannot link: 'x' has 8 bytes in a.ptx and 4 in b.ptx");
  EXPECT_EQ(refusal(".extern .global .u32 x;", ".visible .const .u32 x;"),
            "program: cannot link: 'x' has another state space in a.ptx than in b.ptx");
  EXPECT_EQ(refusal(".extern .func f(.param .b32 a);", ".visible .func f(.param .b64 a) { ret; }"),
            "program: cannot link: 'f' has other parameters or results in a.ptx than in b.ptx");
  EXPECT_THROW((void)link({}, "program"), Error);
}

TEST(Link, WhatNoUnitDefinesIsNamedWhenUsed) {
  exec::Memory memory;
  const auto message = [&](const Module& module) -> std::string {
    try {
      exec::Image image(std::make_shared<Module>(module), memory);
      (void)image.kernel("k");
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(linked(".extern .global .u32 x;", ".visible .entry k() { ret; }")),
            "program: variable 'x' is declared .extern and defined nowhere");
  const std::string call = ".visible .entry k() { call f; ret; }";
  EXPECT_THAT(message(linked(".extern .func f();" + call, ".extern .func f();")),
              AllOf(HasSubstr("program:"), HasSubstr("'f'")));
  EXPECT_EQ(message(linked(".extern .func f();\n.visible .entry k() { ret; }", "")), "accepted");
}

}  // namespace
}  // namespace lanescope::ptx
