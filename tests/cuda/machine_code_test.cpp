// PTX that machine code keeps: that it is the PTX which the machine code was made of, that its lines are
// those of the source, and that damaged files give errors.
#include "cuda/machine_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "base/error.hpp"
#include "base/files.hpp"
#include "cuda/fatbin.hpp"
#include "ptx/module.hpp"
#include "ptx/parser.hpp"

namespace lanescope::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string data(const std::string& name) { return read_file(LANESCOPE_SOURCE_DIR "/tests/data/" + name); }

std::vector<std::string> texts_in(const std::string& cubin) {
  return ptx_in_machine_code(std::as_bytes(std::span(cubin)), "app");
}

/// "element @2 < pair @6 < @14": the innermost function's line, those that called it, and the file.
std::string place_of(const ptx::Module& module, uint32_t loc) {
  std::string text;
  for (uint32_t i = loc; i != ptx::no_index; i = module.source_locs[i].inlined_at) {
    const ptx::SourceLoc& at = module.source_locs[i];
    text += (text.empty() ? "" : " < ") + at.function + " @" + std::to_string(at.line);
    if (at.inlined_at == ptx::no_index)
      for (const ptx::SourceFile& file : module.files)
        if (file.id == at.file) text += " of " + file.path;
  }
  return text;
}

/// Instructions by kernel, in their order.
std::map<std::string, std::vector<const ptx::Instruction*>> instructions_of(const ptx::Module& module) {
  std::map<std::string, std::vector<const ptx::Instruction*>> all;
  for (const ptx::Function& function : module.functions)
    for (const ptx::Instruction& instruction : function.body) all[function.name].push_back(&instruction);
  return all;
}

std::map<std::string, ptx::MachineNeeds> needs_in(const std::string& cubin) {
  return needs_in_machine_code(std::as_bytes(std::span(cubin)), "app");
}

// As cuobjdump --dump-resource-usage lists them.
TEST(MachineCode, TellsRegistersAndStackOfItsFunctions) {
  const auto of = [](const char* file, const char* kernel) {
    const ptx::MachineNeeds needs = needs_in(data(file)).at(kernel);
    EXPECT_EQ(needs.knows_spills, needs.stack_bytes == 0);
    return std::pair(needs.registers, needs.stack_bytes);
  };
  EXPECT_EQ(of("machine_code/inlined.cubin", "inlined"), std::pair(12u, 0u));
  EXPECT_EQ(of("machine_code/inlined.cubin", "inlined_again"), std::pair(10u, 0u));
  EXPECT_EQ(of("machine_code/inlined_11.8.cubin", "inlined"), std::pair(13u, 0u));
  EXPECT_EQ(of("machine_code/linked.cubin", "_Z5countPi"), std::pair(24u, 0u));
  EXPECT_EQ(of("machine_code/linked.cubin", "_Z7combinePi"), std::pair(36u, 8u));
  EXPECT_THROW((void)needs_in(data("machine_code/inlined.cubin").substr(0, 2000)), Error);
}

TEST(MachineCode, KeepsItsPtxWithLinesAndInlinedFunctions) {
  const ptx::Module written = ptx::parse(data("machine_code/inlined.ptx"), "inlined.ptx");
  const auto expected = instructions_of(written);
  ASSERT_THAT(expected, SizeIs(2));
  for (const char* name : {"machine_code/inlined.cubin", "machine_code/inlined_11.8.cubin"}) {
    const std::vector<std::string> texts = texts_in(data(name));
    ASSERT_THAT(texts, SizeIs(1)) << name;
    const ptx::Module kept = ptx::parse(texts.front(), name);
    const auto found = instructions_of(kept);
    ASSERT_THAT(found, SizeIs(2)) << name;
    for (const auto& [function, instructions] : expected) {
      const auto& others = found.at(function);
      ASSERT_THAT(others, SizeIs(instructions.size())) << name;
      for (size_t i = 0; i < instructions.size(); ++i) {
        const ptx::Instruction &a = *instructions[i], &b = *others[i];
        EXPECT_EQ(a.op, b.op) << name << " " << i;
        EXPECT_EQ(a.loc.line, b.loc.line) << name << ": lines of the PTX are as they were";
        if (a.space == ptx::Space::shared || a.space == ptx::Space::global) {
          EXPECT_EQ(place_of(written, a.source), place_of(kept, b.source)) << name << " " << i;
        }
      }
    }
  }
}

TEST(MachineCode, OfSeveralUnitsHasATextOfEach) {
  const std::vector<std::string> texts = texts_in(data("machine_code/linked.cubin"));
  ASSERT_THAT(texts, SizeIs(2));
  const auto has = [&](const std::string& text, const char* word) {
    return text.find(word) != std::string::npos;
  };
  const size_t first = has(texts[0], ".entry _Z7combinePi(") ? 0 : 1;
  EXPECT_THAT(texts[first], HasSubstr("\"tests/data/linked/first.cu\""));
  EXPECT_THAT(texts[1 - first], HasSubstr("\"tests/data/linked/second.cu\""));
  EXPECT_FALSE(has(texts[1 - first], "first.cu\""));
  const std::string original = data("linked/first.ptx");
  const ptx::Module written = ptx::parse(original, "first.ptx"), kept = ptx::parse(texts[first], "kept");
  EXPECT_EQ(written.functions.size(), kept.functions.size());
}

TEST(MachineCode, AssembledWithALimitOfRegistersHasItInItsPtx) {
  const std::vector<std::string> texts = texts_in(data("machine_code/limited.cubin"));
  ASSERT_THAT(texts, SizeIs(1));
  for (const char* kernel : {".entry inlined(", ".entry inlined_again("}) {
    const size_t head = texts[0].find(kernel);
    ASSERT_NE(head, std::string::npos) << kernel;
    EXPECT_THAT(texts[0].substr(head, texts[0].find('{', head) - head), HasSubstr(".maxnreg 24")) << kernel;
  }
  EXPECT_EQ(texts_in(data("machine_code/inlined.cubin")).at(0).find(".maxnreg"), std::string::npos);
}

TEST(MachineCode, WithoutLineInformationHasNone) {
  const std::string container = data("fatbin/machine_code.fatbin");
  const auto images = read_fat_binary(std::as_bytes(std::span(container)), "app");
  EXPECT_THAT(texts_in(content_of(images.at(0), "app")), IsEmpty());
  EXPECT_THAT(ptx_for(images, "sm_90", "app"), IsEmpty());
}

TEST(MachineCode, InAFatBinaryStandsInForPtx) {
  const std::string container = data("fatbin/lineinfo.fatbin");
  const auto images = read_fat_binary(std::as_bytes(std::span(container)), "app");
  EXPECT_THAT(ptx_for(images, "sm_90", "app"), SizeIs(1));
  EXPECT_THAT(ptx_for(images, "sm_120", "app"), SizeIs(1));
  EXPECT_THAT(ptx_for(images, "sm_89", "app"), IsEmpty());
}

TEST(MachineCode, ThatIsDamagedIsAnError) {
  const std::string whole = data("machine_code/inlined.cubin");
  const auto error_of = [](const std::string& bytes) -> std::string {
    try {
      (void)texts_in(bytes);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of("no ELF file, but as long as the header of one: 64 bytes and more than that."),
              StartsWith("app: is no machine code"));
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    if (const std::string error = error_of(part); error.empty())
      EXPECT_EQ(texts_in(part), texts_in(whole)) << size << " bytes";
    else
      EXPECT_THAT(error, StartsWith("app: damaged machine code")) << size << " bytes";
  }
  for (size_t at = 0; at < whole.size(); ++at)
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      (void)error_of(changed);
    }
}

}  // namespace
}  // namespace lanescope::cuda
