// `lanescope run -- PROGRAM`: runs a program whose CUDA runtime is Lanescope's, and prints what it reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lanescope::cli {

struct ProgramOptions {
  std::vector<std::string> command;  ///< the program and its arguments
  std::string arch = "sm_90";
  int bank_mode = 0;
  std::string kernels;  ///< regular expression; empty: all
  std::string format = "text";
  std::string output;  ///< "" or "-": standard output, after the program's own
  uint64_t launch_skip = 0;
  uint64_t launch_count = UINT64_MAX;
  uint64_t sample_blocks = 0;  ///< 0: all
  uint32_t threads = 0;
  bool no_count = false;
  bool no_merge = false;
  std::string checks;  ///< as --check has them; empty: none
  bool follow_children = false;
};

/// The program's exit status (128 + its number for a signal); `program_failed` when it had none but a kernel
/// did wrong. Throws lanescope::Error when the program cannot be run.
int run_program(const ProgramOptions& options);

}  // namespace lanescope::cli
