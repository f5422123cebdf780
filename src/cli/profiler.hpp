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
/// Runs the program with each launch on its own. Throws before that where write_log could not write.
[[nodiscard]] ProgramRun profile_program(ProgramOptions options, const std::string& log);
/// The last part of a path.
[[nodiscard]] std::string base_name(const std::string& path);

}  // namespace lanescope::cli
