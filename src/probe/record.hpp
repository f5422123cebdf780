// A probe's outcome as JSON, to be kept, replayed, or contributed for a chip that has no preset yet.
// docs/probe.md describes the format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probe/infer.hpp"

namespace lanescope::probe {

/// The chip that was asked.
struct Chip {
  std::string name;  ///< "NVIDIA H200"
  std::string arch;  ///< of its compute capability: "sm_90"
  std::string cuda;  ///< of its driver: "13.0"
};

[[nodiscard]] std::string to_json(const Chip& chip, const Result& result);

/// What was measured. Everything else in the file follows from it: probe() with a Recorded timer finds it
/// again.
struct Record {
  Chip chip;
  int lanes = 32;
  std::vector<Measurement> measurements;
};

/// Throws lanescope::Error, with `name` as the place, for what is no such JSON.
[[nodiscard]] Record read_record(std::string_view text, const std::string& name);

}  // namespace lanescope::probe
