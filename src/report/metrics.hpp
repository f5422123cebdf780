// The counters of Nsight Compute and of nvprof by their own names, and tables of them as those tools print
// them. docs/metrics.md lists all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace lanescope::report {

struct Metric {
  enum class Tool : uint8_t { ncu, nvprof_event, nvprof_metric };
  enum class Kind : uint8_t { count, ratio, percent };  ///< percent: 100 is all
  std::string_view name;
  Tool tool;
  Kind kind;
  std::string_view unit;         ///< as Nsight Compute prints it
  std::string_view description;  ///< as nvprof prints it
  /// Whether the addresses and branches of the program determine it. Others count machine code and are taken
  /// from the PTX.
  bool exact;
  /// Nothing where the launch does not tell (registers that are unknown).
  std::optional<double> (*value)(const Launch&);
};

[[nodiscard]] std::span<const Metric> metrics();

/// The metrics of a list with commas, in its order; `all` stands for all of `tools`, `regex:EXPR` for those
/// in whose names it finds a match. Throws lanescope::Error that names the unknown one and the nearest of
/// `tools`.
[[nodiscard]] std::vector<const Metric*> find_metrics(std::string_view list,
                                                      std::span<const Metric::Tool> tools);

/// Launches of one process, each on its own (not summed).
struct ProfiledProcess {
  std::string id = "0";
  std::string name;  ///< the program, without its folder
  const Report* report = nullptr;
};

enum class NcuPage : uint8_t { details, raw };
/// As `ncu --metrics` prints them to stdout.
[[nodiscard]] std::string ncu_text(const ProfiledProcess& process, std::span<const Metric* const> metrics);
/// As `ncu --csv --metrics`: with its header line unless `first_id`, the number of the first launch, is not
/// 0.
[[nodiscard]] std::string ncu_csv(const ProfiledProcess& process, std::span<const Metric* const> metrics,
                                  NcuPage page, size_t first_id = 0);
/// As `ncu --print-summary` prints them, as a table or as CSV: launches of a kernel and of its shape
/// together, or all there are. CSV has its header line if it is the `first` process.
enum class NcuSummary : uint8_t { per_kernel, per_gpu };
[[nodiscard]] std::string ncu_summary(const ProfiledProcess& process, std::span<const Metric* const> metrics,
                                      NcuSummary summary, bool csv, bool first = true);
/// In lines as ncu writes its own: where counts may be others on a GPU.
[[nodiscard]] std::string ncu_warnings(const Report& report);
/// As `nvprof --events … --metrics …` prints its result: launches of a kernel together.
[[nodiscard]] std::string nvprof_text(const ProfiledProcess& process, std::span<const Metric* const> metrics);
[[nodiscard]] std::string nvprof_csv(const ProfiledProcess& process, std::span<const Metric* const> metrics);

/// One line for each metric of the tools: name and description.
[[nodiscard]] std::string metric_list(std::span<const Metric::Tool> tools);

}  // namespace lanescope::report
