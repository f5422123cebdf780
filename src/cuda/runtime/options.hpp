// How the runtime is told what to do: environment variables that `lanescope run` sets
// (docs/cuda-programs.md).
#pragma once

#include <cstdint>
#include <optional>
#include <regex>
#include <string>

#include "exec/checks.hpp"
#include "lanescope/model/arch.hpp"

namespace lanescope::cuda {

struct Options {
  std::string arch = "sm_90";  ///< LANESCOPE_ARCH: which rules accesses are counted by
  int bank_mode = 0;           ///< LANESCOPE_BANK_MODE: 4 or 8, on sm_3x
  std::string report;  ///< LANESCOPE_REPORT: folder for this process's report; empty: nothing is counted
  bool follow_children =
      false;            ///< LANESCOPE_FOLLOW_CHILDREN: processes other than LANESCOPE_PROCESS report, too
  bool count = true;    ///< LANESCOPE_NO_COUNT
  bool merge = true;    ///< LANESCOPE_NO_MERGE
  exec::Checks checks;  ///< LANESCOPE_CHECK
  bool poison_shared = false;  ///< LANESCOPE_POISON_SHARED
  uint32_t threads = 0;        ///< LANESCOPE_THREADS: host threads; 0 = all cores
  std::string kernel_pattern;  ///< LANESCOPE_KERNEL: only kernels whose name holds a match are counted
  std::optional<std::regex> kernels;
  bool assemble = false;     ///< LANESCOPE_ASSEMBLE: ptxas is asked for the registers of reported kernels
  bool each_launch = false;  ///< LANESCOPE_EACH_LAUNCH: launches of one kernel and shape are not summed
  uint64_t launch_skip = 0;  ///< LANESCOPE_LAUNCH_SKIP: of those kernels' launches
  uint64_t launch_count = UINT64_MAX;  ///< LANESCOPE_LAUNCH_COUNT: the most that are counted after them
  uint64_t sample_blocks = 0;          ///< LANESCOPE_SAMPLE_BLOCKS: blocks counted of each launch; 0 = all
  /// LANESCOPE_RECORDINGS: folder where counted launches are recorded, so that a GPU can run them again;
  /// those are the first of each kernel and shape, unless each_launch says otherwise. Empty: nothing is.
  std::string recordings;
};

/// Options that cannot be read are named on stderr and left at their default.
[[nodiscard]] Options read_options();

/// The model's rules for these options.
[[nodiscard]] model::Arch arch_of(const Options& options);

}  // namespace lanescope::cuda
