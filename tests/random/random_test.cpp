// The generator's programs on the engine: always the same ones, valid, without a finding, and with the
// results that a GPU wrote.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "random/data.hpp"
#include "random/engine.hpp"

namespace lanescope::random {
namespace {

const std::string folder = LANESCOPE_SOURCE_DIR "/tests/data/random";

const Catalog& catalog() {
  static const Catalog catalog(recorded_forms(folder));
  return catalog;
}
constexpr auto class_count = static_cast<size_t>(Class::count);

class Recordings : public ::testing::TestWithParam<size_t> {};

TEST_P(Recordings, EqualTheEngines) {
  const Class cls = static_cast<Class>(GetParam());
  std::vector<Recorded> recorded;
  for (const Recorded& r : recorded_outputs(folder))
    if (r.cls == cls) recorded.push_back(r);
  if (cls == Class::approximate || cls == Class::scalar_video)
    GTEST_SKIP() << "the GPU's results are known to differ: docs/hardware-comparison.md";
  ASSERT_FALSE(recorded.empty());
  constexpr size_t programs_of_module = 32;
  for (size_t first = 0; first < recorded.size(); first += programs_of_module) {
    std::vector<Program> programs;
    std::string text = header();
    for (size_t i = first; i < std::min(first + programs_of_module, recorded.size()); ++i) {
      programs.push_back(generate(catalog(), {.cls = cls, .seed = recorded[i].seed}));
      text += text_of(programs.back());
    }
    EngineModule module(std::move(text));
    for (size_t i = 0; i < programs.size(); ++i) {
      const Recorded& r = recorded[first + i];
      const EngineModule::Outcome outcome = module.run(programs[i]);
      EXPECT_EQ(outcome.finding, "") << programs[i].name;
      EXPECT_EQ(hash_of(outcome.output), r.hash)
          << "The GPU's results differ. The program: random_programs ptx " << name_of(cls) << " " << r.seed
          << "\nWith a GPU: random_on_gpu --class " << name_of(cls) << " --first " << r.seed
          << " --sequences 1";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Random, Recordings, ::testing::Range<size_t>(0, class_count), [](const auto& info) {
  return std::string(name_of(static_cast<Class>(info.param)));
});

TEST(Generator, MakesTheSameProgramFromTheSameSeed) {
  for (size_t c = 0; c < class_count; ++c) {
    const Class cls = static_cast<Class>(c);
    if (!possible(catalog(), cls)) continue;
    const Program program = generate(catalog(), {.cls = cls, .seed = 5});
    EXPECT_EQ(text_of(program), text_of(generate(catalog(), {.cls = cls, .seed = 5})));
    EXPECT_NE(text_of(program), text_of(generate(catalog(), {.cls = cls, .seed = 6})));
    EXPECT_EQ(inputs_of(program).size(), program.inputs.size() * program.total_threads());
  }
}

TEST(Generator, StoresEverythingInTheSameProgram) {
  // The minimiser relies on it: more stores, no other instruction.
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Program some = generate(catalog(), {.cls = Class::mixed, .seed = seed});
    const Program all = generate(catalog(), {.cls = Class::mixed, .seed = seed, .store_everything = true});
    EXPECT_EQ(some.instructions, all.instructions);
    EXPECT_GE(all.slots.size(), some.slots.size());
  }
}

TEST(Generator, UsesEveryFormOfTheTable) {
  // Each form alone makes programs that the engine loads and runs to their end.
  std::string text = header();
  text.replace(text.find("sm_90"), 5, "sm_100a");  // of the table, some forms are for later targets
  std::vector<Program> programs;
  std::set<std::string> names;
  uint64_t seed = 0;
  for (const std::string& form : forms_of_table()) {
    const Catalog one = Catalog::of_one(form);
    programs.push_back(
        generate(one, {.cls = class_of(group_of(one.forms().front())), .seed = seed++, .sequences = 2}));
    const std::string own = text_of(programs.back());
    EXPECT_NE(own.find(form + (form.starts_with("membar") || form.starts_with("fence") ? ";" : " ")),
              std::string::npos)
        << form;
    text += own;
  }
  EngineModule module(std::move(text));
  for (const Program& program : programs) EXPECT_EQ(module.run(program).finding, "") << program.name;
}

TEST(Forms, AreReadAsTheyAreWritten) {
  const std::vector<std::string> forms{"add.s32", "add.rn.f32", "membar.gl", "elect.sync"};
  EXPECT_EQ(read_forms(written(forms)), forms);
  EXPECT_THROW(Catalog({"add.b32"}), std::exception);
}

TEST(Values, AreTheSameOnEveryHost) {
  Random random(1);
  EXPECT_EQ(random.next(), 6791897765849424158u);
  uint64_t sum = 0;
  for (const Kind kind : {Kind::integer, Kind::amount, Kind::f32, Kind::f64, Kind::f16, Kind::bf16})
    for (int i = 0; i < 1000; ++i) sum = mix(sum + value(random, kind));
  EXPECT_EQ(sum, 8725186608441198474u);
}

}  // namespace
}  // namespace lanescope::random
