// See profiler.hpp.
#include "cli/profiler.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <regex>

#include "base/error.hpp"
#include "cli/output.hpp"

namespace lanescope::cli {

void take_program(CLI::App& command) { command.prefix_command(); }

std::vector<std::string> program_of(const CLI::App& command, const std::vector<std::string>& behind,
                                    const std::string& tool) {
  std::vector<std::string> program = command.remaining();
  if (!program.empty() && !behind.empty()) program.emplace_back("--");  // an argument of the program's
  program.insert(program.end(), behind.begin(), behind.end());
  if (program.empty()) throw Error(fmt::format("{}: which program? Try 'lanescope {} --help'.", tool, tool));
  if (program.front().starts_with('-'))
    throw Error(
        fmt::format("{}: option '{}' is unknown here; 'lanescope {} --help' lists those of {} that are "
                    "understood",
                    tool, program.front(), tool, tool));
  return program;
}

namespace {

bool is_output(const std::string& log) { return log == "%1" || log == "stdout"; }
bool is_error_output(const std::string& log) { return log == "%2" || log == "stderr"; }

}  // namespace

void write_log(const std::string& log, const std::string& content) {
  if (is_error_output(log))
    std::cerr << content << std::flush;
  else
    write_output(is_output(log) ? "" : log, content);
}

ProgramRun profile_program(ProgramOptions options, const std::string& log) {
  options.each_launch = true;
  if (!is_output(log) && !is_error_output(log)) check_output(log);
  try {
    const std::regex checked(options.kernels);
  } catch (const std::regex_error& error) {
    throw Error(fmt::format("'{}' is no regular expression: {}", options.kernels, error.what()));
  }
  return run_program(options);
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace lanescope::cli
