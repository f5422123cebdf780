// Makes random PTX programs that are valid, end, and have one right result: no undefined behaviour, no race,
// no order of threads that shows in the results. What is made depends on the options and the catalogue alone.
#pragma once

#include <optional>
#include <string_view>

#include "random/forms.hpp"
#include "random/program.hpp"

namespace lanescope::random {

/// What a program consists of. The first ones are straight-line sequences of register instructions.
enum class Class : uint8_t {
  integer,
  logic,
  compare,
  convert,
  single,
  doubles,
  half,
  approximate,
  video,         ///< of pairs and quadruples
  scalar_video,  ///< of one part of each operand; the assembler does not follow the ISA there
  memory,        ///< loads and stores of all spaces and widths, in memory each thread has alone
  atomic,        ///< atomics on words a thread has alone, and on shared ones where the order does not show
  warp,          ///< shuffles, votes, matches, reductions, under full and partial masks
  barrier,       ///< values exchanged through shared memory between barriers
  control,       ///< divergence: branches, loops, unstructured jumps, branch tables, calls
  mixed,         ///< all of it
  count
};
[[nodiscard]] std::string_view name_of(Class c);
[[nodiscard]] std::optional<Class> find_class(std::string_view name);

struct Options {
  Class cls = Class::mixed;
  uint64_t seed = 0;
  /// Every instruction's result is stored, not only those that nothing else uses.
  bool store_everything = false;
  uint32_t sequences = 0;  ///< of the program; 0: as its class has them
};

[[nodiscard]] Program generate(const Catalog& catalog, const Options& options);
/// A class whose programs use forms of this group.
[[nodiscard]] Class class_of(Group group);
/// Whether the catalogue has what programs of this class are made of.
[[nodiscard]] bool possible(const Catalog& catalog, Class c);

}  // namespace lanescope::random
