// Shows what the generator makes.
//
// - `random_programs forms`: the forms of the instruction table, as tests/data/random/forms.txt
// - `random_programs each-form [SEQUENCES]`: a module with one program for each form, for the assembler to
// read
// - `random_programs ptx CLASS SEED [COUNT]`: a module with the programs of these seeds
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "random/data.hpp"
#include "random/generator.hpp"

namespace lanescope::random {
namespace {

int run(const std::vector<std::string>& arguments) {
  const std::string what = arguments.empty() ? "" : arguments[0];
  if (what == "forms") {
    fmt::print("{}", written(forms_of_table()));
  } else if (what == "each-form") {
    const uint32_t sequences = arguments.size() > 1 ? static_cast<uint32_t>(std::stoul(arguments[1])) : 1;
    fmt::print("{}", header());
    uint64_t seed = 0;
    for (const std::string& form : forms_of_table()) {
      const Catalog one = Catalog::of_one(form);
      const Class cls = class_of(group_of(one.forms().front()));
      fmt::print("// {}\n{}", form,
                 text_of(generate(one, {.cls = cls, .seed = seed++, .sequences = sequences})));
    }
  } else if (what == "ptx" && arguments.size() >= 3 && find_class(arguments[1])) {
    const Catalog catalog(recorded_forms(LANESCOPE_SOURCE_DIR "/tests/data/random"));
    const uint64_t first = std::stoull(arguments[2]);
    const uint64_t count = arguments.size() > 3 ? std::stoull(arguments[3]) : 1;
    fmt::print("{}", header());
    for (uint64_t seed = first; seed < first + count; ++seed)
      fmt::print("{}", text_of(generate(catalog, {.cls = *find_class(arguments[1]), .seed = seed})));
  } else {
    fmt::print(stderr, "random_programs forms | each-form [SEQUENCES] | ptx CLASS SEED [COUNT]\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace lanescope::random

int main(int argc, char** argv) {
  try {
    return lanescope::random::run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "random_programs: %s\n", e.what());
    return 1;
  }
}
