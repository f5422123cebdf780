// The committed results of a GPU in tests/data/random: forms.txt (what the programs are made of) and
// outputs.txt (a hash of what each program wrote).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "random/generator.hpp"

namespace lanescope::random {

struct Recorded {
  Class cls{};
  uint64_t seed = 0;
  uint64_t hash = 0;  ///< of the output
};

/// The files of `folder`. Throw lanescope::Error where one is missing or malformed.
[[nodiscard]] std::vector<std::string> recorded_forms(const std::string& folder);
[[nodiscard]] std::vector<Recorded> recorded_outputs(const std::string& folder);
/// The text of outputs.txt; `device`: the GPU's name.
[[nodiscard]] std::string written(const std::vector<Recorded>& outputs, const std::string& device);

}  // namespace lanescope::random
