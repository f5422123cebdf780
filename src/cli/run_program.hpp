// `lanescope run -- PROGRAM`: runs a program whose CUDA runtime is Lanescope's, and reads what it reports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "lanescope/model/arch.hpp"
#include "report/report.hpp"

namespace lanescope::cli {

struct ProgramOptions {
  std::vector<std::string> command;  ///< the program and its arguments
  std::string arch = "sm_90";
  int bank_mode = 0;
  std::string kernels;       ///< regular expression; empty: all
  bool assemble = false;     ///< ask ptxas for registers and spills
  bool each_launch = false;  ///< launches of one kernel and shape are not summed
  uint64_t launch_skip = 0;
  uint64_t launch_count = UINT64_MAX;
  uint64_t sample_blocks = 0;  ///< 0: all
  uint32_t threads = 0;
  bool no_count = false;
  bool no_merge = false;
  std::string checks;  ///< as --check has them; empty: none
  bool poison_shared = false;
  bool follow_children = false;
  std::filesystem::path recordings;  ///< where counted launches are recorded; empty: they are not

  /// Sets `arch` and `bank_mode`. Throws for an architecture without a name, in the words of `tool`.
  void run_on(const model::Arch& on, std::string_view tool);
};

/// What one process of the program reported.
struct ProcessReport {
  std::string process;  ///< its number
  report::Report report;
};

struct ProgramRun {
  int status = 0;           ///< the program's exit status (128 + its number for a signal)
  bool has_defect = false;  ///< a kernel did wrong
  bool is_partial = false;  ///< something of it could not be run here, as stderr says
  std::vector<ProcessReport> reports;
  /// What was made for the run alone: it holds sources that reports quote.
  std::shared_ptr<const ScratchFolder> files;
};

/// Throws lanescope::Error for CUDA source, which is neither a program nor PTX.
void refuse_source(const std::string& path);

/// Throws lanescope::Error when the program cannot be run. When it used no GPU, that is said on stderr.
ProgramRun run_program(const ProgramOptions& options);

/// What Lanescope ends with after it: the program's own status; if that is 0, what went wrong here; `verdict`
/// if nothing did.
[[nodiscard]] int status_after(const ProgramRun& run, int verdict);

}  // namespace lanescope::cli
