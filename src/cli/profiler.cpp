// See profiler.hpp.
#include "cli/profiler.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <regex>
#include <string_view>
#include <utility>

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

namespace {

std::regex expression(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    throw Error(fmt::format("'{}' is no regular expression: {}", text, error.what()));
  }
}

/// Leaves those launches of one process in the report that are chosen.
void choose(report::Report& report, const ProgramOptions& options, const LaunchChoice& choice,
            const std::regex& kernels, const std::regex& invocation) {
  uint64_t before = 0;
  std::map<std::string, uint64_t> invocations, matched;
  const auto is_chosen = [&](const report::Launch& launch) {
    if (before++ < choice.skip_before_match) return false;
    if (!std::regex_search(launch.kernel, kernels)) return false;
    const std::string number = std::to_string(++invocations[launch.kernel]);
    if (!choice.invocation.empty() && !std::regex_match(number, invocation)) return false;
    const auto &g = launch.grid, &b = launch.block;
    const std::string configuration =
        choice.by_configuration
            ? fmt::format("{} {} {} {} {} {} {}", launch.kernel, g.x, g.y, g.z, b.x, b.y, b.z)
            : "";
    const uint64_t place = matched[configuration]++;
    return place >= options.launch_skip && place - options.launch_skip < options.launch_count;
  };
  std::erase_if(report.launches, [&](const report::Launch& launch) { return !is_chosen(launch); });
}

}  // namespace

KernelId kernel_id(const std::string& text, const std::string& tool) {
  constexpr std::string_view regex = "regex:";
  const size_t stream = text.find(':'),
               kernel = stream == std::string::npos ? stream : text.find(':', stream + 1);
  if (kernel == std::string::npos)
    throw Error(fmt::format("{}: '{}' is not of the form CONTEXT:STREAM:KERNEL:INVOCATION", tool, text));
  // Whatever they are, they are one context and one stream here, which reports call 1 and 7.
  const std::string of_context = text.substr(0, stream),
                    of_stream = text.substr(stream + 1, kernel - stream - 1);
  for (const auto& [field, only] : {std::pair{of_context, "1"}, std::pair{of_stream, "7"}})
    if (!field.empty() && field != only && field != ".*")
      throw Error(
          fmt::format("{}: '{}': contexts and streams are not told apart here: leave them out, as in "
                      "::KERNEL:INVOCATION",
                      tool, text));
  const std::string rest = text.substr(kernel + 1);
  const size_t invocation = rest.rfind(':');
  const bool ends_there =
      invocation == std::string::npos || (rest.starts_with(regex) && invocation == regex.size() - 1);
  return ends_there ? KernelId{rest, ""} : KernelId{rest.substr(0, invocation), rest.substr(invocation + 1)};
}

ProgramRun profile_program(ProgramOptions options, const std::string& log, const LaunchChoice& choice) {
  options.each_launch = true;
  if (!is_output(log) && !is_error_output(log)) check_output(log);
  const std::regex kernels = expression(options.kernels), invocation = expression(choice.invocation);
  if (choice.is_all()) return run_program(options);
  ProgramOptions more = options;
  more.launch_skip = 0;
  more.launch_count = UINT64_MAX;
  if (choice.skip_before_match != 0) more.kernels.clear();
  ProgramRun run = run_program(more);
  for (ProcessReport& process : run.reports) choose(process.report, options, choice, kernels, invocation);
  return run;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace lanescope::cli
