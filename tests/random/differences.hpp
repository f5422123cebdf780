// What two outputs of a program tell about where they part.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "random/program.hpp"

namespace lanescope::random {

struct Difference {
  uint32_t sequence = 0;
  uint32_t slot = 0;  ///< the first of the sequence that differs
  uint32_t thread = 0;
  uint64_t engine = 0, gpu = 0;
  /// The opcode that gave the value, or what else is known of it; " (both NaN)" where only that differs.
  std::string key;
};

using Output = std::vector<uint8_t>;

/// The first difference of each sequence that has one.
[[nodiscard]] std::vector<Difference> differences(const Program& program, const Output& engine,
                                                  const Output& gpu);
/// The text of the difference's sequence, each load and store with this thread's value.
[[nodiscard]] std::string annotated(const Program& program, const Difference& difference,
                                    const Output& engine, const Output& gpu);
/// The program with one sequence, and of it only what `differs` needs to stay true.
[[nodiscard]] Program minimised(const Program& program, uint32_t sequence,
                                const std::function<bool(const Program&)>& differs);

}  // namespace lanescope::random
