// What `lanescope ncu` and `lanescope nvprof` share: a command line of the form OPTIONS PROGRAM ARGUMENTS.
#pragma once

#include <string>
#include <vector>

#include "cli/run_program.hpp"

namespace CLI {
class App;
}

namespace lanescope::cli {

/// Lets the first word that is no option begin the program.
void take_program(CLI::App& command);
/// The program and its arguments, which may stand `behind` "--". Throws lanescope::Error when there is none,
/// or when an option before it is unknown: `tool` has more of them.
[[nodiscard]] std::vector<std::string> program_of(const CLI::App& command,
                                                  const std::vector<std::string>& behind,
                                                  const std::string& tool);
/// Writes to a file, or to one of the standard channels: "%1", "stdout", "%2", "stderr".
void write_log(const std::string& log, const std::string& content);
/// Which launches are told of, beside those that ProgramOptions has. The program counts without looking at
/// this: it is what a report tells of a launch that decides.
struct LaunchChoice {
  std::string invocation;          ///< a regular expression for the N of a kernel's N-th launch; empty: all
  uint64_t skip_before_match = 0;  ///< so many launches first, whatever their kernels
  bool by_configuration = false;   ///< launch_skip and launch_count are for each kernel, grid and block
  [[nodiscard]] bool is_all() const {
    return invocation.empty() && skip_before_match == 0 && !by_configuration;
  }
};
/// How ncu and nvprof name launches: CONTEXT:STREAM:KERNEL:INVOCATION. Throws lanescope::Error, in the words
/// of `tool`, for other contexts and streams than all: they are not told apart here.
struct KernelId {
  std::string kernel, invocation;  ///< as they stand there
};
[[nodiscard]] KernelId kernel_id(const std::string& text, const std::string& tool);
/// Runs the program with each launch on its own. Throws before that where write_log could not write.
[[nodiscard]] ProgramRun profile_program(ProgramOptions options, const std::string& log,
                                         const LaunchChoice& choice = {});
/// The last part of a path.
[[nodiscard]] std::string base_name(const std::string& path);

}  // namespace lanescope::cli
