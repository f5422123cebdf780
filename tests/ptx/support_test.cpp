// docs/ptx-support.md: what the instruction table says, for readers. The page is made here from the table;
// LANESCOPE_REBASE=1 writes it, otherwise the test fails when the committed one differs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "ptx/instruction_set.hpp"
#include "ptx/module.hpp"

namespace lanescope::ptx {
namespace {

constexpr const char* page_path = LANESCOPE_SOURCE_DIR "/docs/ptx-support.md";
constexpr const char* numbers = "which number stands for what is not documented";
constexpr const char* later = "of sm_100 and later, not there yet";
constexpr const char* rubin = "of sm_107, not there yet";

constexpr const char* order = "bulk copies that order memory: not there yet";

using Reasons = std::map<std::string_view, std::string_view>;

/// Why an instruction is refused.
const Reasons instruction_reasons = {
    {"applypriority.async.bulk", rubin},
    {"fabric", "memory of other GPUs; one device is simulated"},
    {"istypep", "asks what kind of texture reference an address is (docs/textures.md)"},
    {"mbarrier.check_layout", "mbarriers that keep what went wrong: not there yet"},
    {"multimem", "memory of several GPUs at one address; one device is simulated"},
    {"spcompress", rubin},
    {"spdecompress", rubin},
    {"tcgen05.shift", later},
    {"tensormap.query", "which copies a tensor map is for: not there yet"},
};

/// Why a modifier or type is refused: by its name, or that of the instruction and its own.
const Reasons word_reasons = {
    {"16x32bx2", "which columns are one lane's is not said"},
    {"2dms", "no multi-sample textures"},
    {"a2dms", "no multi-sample textures"},
    {"acube", "of cubemaps only tex, and surfaces as layers"},
    {"4x256b", later},
    {"addr_mode_0", numbers},
    {"addr_mode_1", numbers},
    {"addr_mode_2", numbers},
    {"ashift", later},
    {"b4x16_p64", later},
    {"b6x16_p32", later},
    {"L2::evict_last", rubin},
    {"b128", order},
    {"b8x16", later},
    {"cluster", order},
    {"cta", order},
    {"gpu", order},
    {"ldmatrix.s4", "how its nibbles become bytes is not known here"},
    {"ldmatrix.s8", "how its nibbles become bytes is not known here"},
    {"noftz", "of PTX ISA 9.4, not there yet"},
    {"relaxed", order},
    {"s16x2", rubin},
    {"s8x4", rubin},
    {"st.async.b128", "of PTX ISA 9.2, not there yet"},
    {"sp", later},
    {"sys", order},
    {"u16x2", rubin},
    {"u8x4", rubin},
    {"weak", order},
    {"channel_data_type", numbers},
    {"channel_order", numbers},
    {"cube", "of cubemaps only tex, and surfaces as layers"},
    {"f16", "no compiler writes it"},
    {"f16x2", "no compiler writes it"},
    {"f32", "stores in the surface's own format: no compiler writes it"},
    {"filter_mode", numbers},
    {"generic", "no compiler writes it"},
    {"force_unnormalized_coords", numbers},
    {"im2col::w", later},
    {"im2col::w::128", later},
    {"level", "sizes of one level of a mipmap: no compiler writes it"},
    {"num_mipmap_levels", numbers},
    {"num_samples", "no multi-sample textures"},
    {"p", "stores in the surface's own format: no compiler writes it"},
    {"rm", "the assembler takes it, the PTX ISA does not describe it"},
    {"rp", "the assembler takes it, the PTX ISA does not describe it"},
    {"rz", "the assembler takes it, the PTX ISA does not describe it"},
    {"s32", "stores in the surface's own format: no compiler writes it"},
    {"tile::scatter4", "the assembler takes it, the PTX ISA does not describe it"},
    {"u32", "stores in the surface's own format: no compiler writes it"},
};

/// What a row's modifiers go by: the last list of types, or the one before it where that may be left out.
TypeMask last_types(const InstructionInfo& row) {
  const TypeMask last = row.types[row.type_count - 1];
  return row.type_count == 2 && (last & mask_of(Type::none)) != 0 ? row.types[0] : last;
}

constexpr std::pair<OpClass, const char*> classes[] = {
    {OpClass::arithmetic, "Arithmetic"},
    {OpClass::logic, "Logic and shifts"},
    {OpClass::compare, "Comparison and selection"},
    {OpClass::convert, "Conversion"},
    {OpClass::move, "Moves"},
    {OpClass::video, "Video"},
    {OpClass::memory, "Memory and addresses"},
    {OpClass::atomic, "Atomic operations"},
    {OpClass::async, "Asynchronous copies and mbarriers"},
    {OpClass::barrier, "Barriers and fences"},
    {OpClass::warp, "Between the lanes of a warp"},
    {OpClass::matrix, "Matrices"},
    {OpClass::tensor, "Tensor memory"},
    {OpClass::texture, "Textures and surfaces"},
    {OpClass::control, "Control flow, stack and hints"},
};

template <class F>
void each_op(F f) {
  for (size_t i = 0; i < static_cast<size_t>(Op::count); ++i) f(info(static_cast<Op>(i)));
}

void append(std::string& list, std::string_view word, std::string_view separator = " ") {
  if (!list.empty()) list += separator;
  list += word;
}

std::string names_of(TypeMask types) {
  std::string names;
  for (int t = 0; t <= static_cast<int>(Type::b1); ++t)
    if ((types >> t & 1) != 0) append(names, t == 0 ? "(none)" : name_of(static_cast<Type>(t)));
  return names;
}

std::string types_of(const InstructionInfo& row) {
  std::string text;
  for (size_t i = 0; i < row.type_count; ++i)
    append(text, names_of(row.types[i] & ~row.types_unsupported[i]), "; ");
  return text;
}

std::string spaces_of(const InstructionInfo& row) {
  std::string text;
  for (size_t i = 0; i < row.space_count; ++i) {
    std::string names;
    for (int s = 0; s <= static_cast<int>(Space::shared_cluster); ++s)
      if (((row.spaces[i] & ~row.spaces_unsupported[i]) >> s & 1) != 0)
        append(names, name_of(static_cast<Space>(s)));
    append(text, names, "; ");
  }
  return text;
}

std::string modifiers_of(const InstructionInfo& row) {
  TypeMask all = 0;
  if (row.type_count != 0) all = last_types(row);
  std::string text;
  for (size_t i = 0; i < row.modifier_count;) {
    const ModifierRule& first = row.modifiers[i];
    std::string group;
    for (; i < row.modifier_count && row.modifiers[i].group == first.group; ++i) {
      const ModifierRule& rule = row.modifiers[i];
      if (!rule.supported) continue;
      append(group, name_of(rule.mod), ", ");
      if ((all & ~rule.types) != 0) group += " *" + names_of(all & rule.types) + "*";
    }
    if (!group.empty()) append(text, first.required ? "(" + group + ")" : "[" + group + "]");
  }
  return text;
}

struct Refused {
  std::string what;
  std::string_view word;
};

std::vector<Refused> refused_words(const InstructionInfo& row) {
  std::vector<Refused> refused;
  const auto add = [&](std::string_view word, const std::string& with) {
    for (const Refused& r : refused)
      if (r.word == word) return;
    refused.push_back({fmt::format("`{}` with `.{}`{}", row.name, word, with), word});
  };
  for (size_t i = 0; i < row.type_count; ++i)
    for (int t = 0; t <= static_cast<int>(Type::b1); ++t)
      if ((row.types_unsupported[i] >> t & 1) != 0) add(name_of(static_cast<Type>(t)), "");
  for (size_t i = 0; i < row.space_count; ++i)
    for (int s = 0; s <= static_cast<int>(Space::shared_cluster); ++s)
      if ((row.spaces_unsupported[i] >> s & 1) != 0) add(name_of(static_cast<Space>(s)), "");
  for (Refused& r : refused)
    if (r.word == name_of(Space::generic)) r.what = fmt::format("`{}` without a state space", row.name);
  for (size_t i = 0; i < row.modifier_count; ++i) {
    const ModifierRule& rule = row.modifiers[i];
    const bool some = row.type_count != 0 && (last_types(row) & ~rule.types) != 0;
    if (!rule.supported) add(name_of(rule.mod), some ? " of " + names_of(last_types(row) & rule.types) : "");
  }
  return refused;
}

std::string_view reason(const Reasons& reasons, std::string_view name, const std::string& full_name = "") {
  auto found = reasons.find(full_name);
  if (found == reasons.end()) found = reasons.find(name);
  EXPECT_NE(found, reasons.end()) << "no reason is given for refusing " << name;
  return found == reasons.end() ? "" : found->second;
}

std::string page() {
  std::string text =
      "# PTX instructions\n\n"
      "Every instruction of PTX ISA 9.5 (CUDA 13.5), and what of it runs. This page is made from "
      "`src/ptx/instructions.def` by\n"
      "`LANESCOPE_REBASE=1 build/release/tests/test_ptx --gtest_filter='Support.*'`; a test fails when it is "
      "stale.\n\n"
      "Types and state spaces: those that may be written, for each place where one stands (`;` between "
      "places).\n"
      "Modifiers: of each `[…]` at most one, of each `(…)` exactly one; types in italics are those that the "
      "modifier\n"
      "goes with, where not with all. What else the ISA forbids to be written together is refused as well.\n";
  for (const auto& section : classes) {
    const OpClass op_class = section.first;
    text += fmt::format("\n## {}\n\n| instruction | types | modifiers | state spaces |\n|---|---|---|---|\n",
                        section.second);
    each_op([&](const InstructionInfo& row) {
      if (row.op_class == op_class && row.supported)
        text += fmt::format("| `{}` | {} | {} | {} |\n", row.name, types_of(row), modifiers_of(row),
                            spaces_of(row));
    });
    if (op_class == OpClass::matrix)
      text += "\nShapes, and what is bit-equal to hardware: [matrix.md](matrix.md).\n";
    if (op_class == OpClass::texture) text += "\nLimits: [textures.md](textures.md).\n";
    if (op_class == OpClass::async) text += "\nWhen copies happen, and limits: [async.md](async.md).\n";
  }
  text +=
      "\n## Not supported\n\nA kernel that contains such an instruction, or may call a function that does, "
      "is refused when it is\n"
      "launched, with its name and the place in the PTX and the source; other kernels of the module run.\n\n"
      "| what | why |\n|---|---|\n";
  each_op([&](const InstructionInfo& row) {
    if (!row.supported)
      text += fmt::format("| `{}` | {} |\n", row.name, reason(instruction_reasons, row.name));
  });
  each_op([&](const InstructionInfo& row) {
    if (!row.supported) return;
    for (const Refused& r : refused_words(row))
      text += fmt::format("| {} | {} |\n", r.what,
                          reason(word_reasons, r.word, fmt::format("{}.{}", row.name, r.word)));
  });
  for (const RefusedWord& word : ptx::refused_words())
    text += fmt::format("| anything with `.{}` | {} |\n", word.spelling, word.why);
  text +=
      "\nTypes of fewer than 8 bits other than inside matrix fragments, and what else instructions have for "
      "targets above\n"
      "sm_90 only, are unknown words and refused as such. So are kernels that ask for `%locality_domain_…`, "
      "`%perctamemory…` or\n"
      "`.minperctamemory`.\n\nWhat an instruction needs of its module's `.target` and `.version` is in "
      "`src/ptx/needs.def`: "
      "others are an error, as with ptxas.\n\n## Special registers\n\n";
  std::string names, line;
  for (size_t i = 1; i < static_cast<size_t>(SpecialRegister::count); ++i) {
    const auto name = fmt::format("`{}`", name_of(static_cast<SpecialRegister>(i)));
    if (line.size() + name.size() > 108) {
      names += line + "\n";
      line.clear();
    }
    append(line, name);
  }
  return text + names + line +
         "\n\nThese hold 0, as they did on an H200 with driver 580: fourth elements (`%tid.w` …), "
         "performance "
         "counters\n"
         "(`%pm0` … `%pm7`, `%pm0_64` …), which nobody sets up here, and `%envreg3` to `%envreg31` but 6 and "
         "10. Of "
         "those,\n"
         "0, 6 and 10 hold what the driver keeps to itself, and are refused.\n";
}

TEST(Support, PageIsWhatTheTableSays) {
  const std::string made = page();
  const char* rebasing = std::getenv("LANESCOPE_REBASE");
  if (rebasing != nullptr && std::string_view(rebasing) == "1") {
    std::ofstream(page_path, std::ios::binary) << made;
    return;
  }
  EXPECT_TRUE(read_file(page_path) == made)
      << "docs/ptx-support.md is stale; LANESCOPE_REBASE=1 makes this test write it";
}

TEST(Support, ClassesAreAllThere) {
  each_op([](const InstructionInfo& row) {
    EXPECT_TRUE(std::any_of(std::begin(classes), std::end(classes), [&](const auto& c) {
      return c.first == row.op_class;
    })) << row.name;
  });
}

// Reasons are for what is refused, and for nothing else.
TEST(Support, ReasonsAreForWhatIsRefused) {
  std::set<std::string, std::less<>> words;
  each_op([&](const InstructionInfo& row) {
    if (!row.supported) return;
    EXPECT_FALSE(instruction_reasons.contains(row.name)) << row.name;
    for (const Refused& r : refused_words(row)) {
      words.insert(std::string(r.word));
      words.insert(fmt::format("{}.{}", row.name, r.word));
    }
  });
  for (const auto& [word, why] : word_reasons) EXPECT_TRUE(words.contains(word)) << word;
}

// A refused word is refused with its kernel, whatever the instruction; the other kernels run.
TEST(Support, WordsAreRefusedWithTheirKernel) {
  for (const RefusedWord& word : ptx::refused_words()) {
    const std::string text = fmt::format(
        ".version 9.5\n.target sm_107a\n.address_size 64\n.entry k() {{\n.reg .b32 %r<4>;\n  ld.{}.b32 %r1, "
        "[%r2];\n}}\n.entry other() {{ ret; }}\n",
        word.spelling);
    const Module module = parse(text, "k.ptx");
    EXPECT_NO_THROW(module.check_runs(module.functions[1], module.functions[1])) << word.spelling;
    try {
      module.check_runs(module.functions[0], module.functions[0]);
      ADD_FAILURE() << word.spelling << " is not refused";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what())
                    .find(fmt::format("k.ptx:6:6: ld with .{} is not supported (kernel k)", word.spelling)),
                std::string::npos)
          << error.what();
    }
    EXPECT_FALSE(find_word(word.spelling)) << word.spelling << " is known";
  }
}

TEST(Support, InstructionsAreRefusedByNameAndPlace) {
  each_op([](const InstructionInfo& row) {
    if (row.supported) return;
    const std::string text = fmt::format(
        ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {{\n.reg .b32 %r<4>;\n  {}.b32 %r1, "
        "%r2;\n}}\n",
        row.name);
    try {
      const Module module = parse(text, "k.ptx");
      module.check_runs(module.functions[0], module.functions[0]);
      ADD_FAILURE() << row.name << " is not refused";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what())
                    .find(fmt::format("k.ptx:6:3: the instruction '{}.b32' is not supported", row.name)),
                std::string::npos)
          << error.what();
    }
  });
}

}  // namespace
}  // namespace lanescope::ptx
