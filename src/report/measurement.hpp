// What a GPU does with launches that the engine has run: the engine's counts beside results, times and
// hardware counters. docs/measure.md describes both outputs.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/replay.hpp"
#include "report/report.hpp"
#include "report/table.hpp"

namespace lanescope::report {

struct MeasuredLaunch {
  Launch predicted;      ///< as the engine counted it
  std::string obstacle;  ///< in words, why it was not run on the GPU; the rest is then empty
  replay::Outcome outcome;
  /// By the name that Nsight Compute gives it: the value of each of several launches.
  std::map<std::string, std::vector<double>> counters;
};

struct Measurement {
  replay::Gpu gpu;
  std::string arch;  ///< whose rules the engine counted by
  std::vector<MeasuredLaunch> launches;
  std::string no_counters;  ///< in words, why there are no counters; empty where they are, or are not wanted
  std::vector<std::string> notes;
};

/// The counters that are asked for, as Nsight Compute names them, in groups: what is compared with each other
/// is to be counted in one pass. Some only where one of the launches needs them: older chips have no others.
[[nodiscard]] std::vector<std::vector<std::string>> measured_counters(
    std::span<const MeasuredLaunch> launches);

/// A counter's prediction beside what the hardware counted.
struct CounterComparison {
  /// equal: the same in all runs. within: between the least and the most of several runs. arbitration: the
  /// same accesses, which waited for those of other warps, not always as often. merging: the assembler made
  /// other accesses. estimate: the rule is unknown. alone: nothing is predicted.
  enum class Verdict : uint8_t { equal, within, arbitration, merging, estimate, unexplained, alone };
  std::string name, description;
  std::optional<double> predicted;
  double least = 0, most = 0;
  Verdict verdict{};
  std::string why;  ///< in words; empty where it is equal
};
[[nodiscard]] const char* name_of(CounterComparison::Verdict verdict);
[[nodiscard]] std::vector<CounterComparison> compare_counters(const MeasuredLaunch& launch);

/// Whether the GPU wrote something else, beyond the tolerance, or failed.
[[nodiscard]] bool is_wrong(const MeasuredLaunch& launch);

[[nodiscard]] std::string to_text(const Measurement& measurement, const TextOptions& options);
[[nodiscard]] std::string to_json(const Measurement& measurement);

}  // namespace lanescope::report
