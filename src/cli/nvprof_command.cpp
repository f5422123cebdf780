// `lanescope nvprof`: takes the command line of nvprof and prints events and metrics as it does.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cli/arch_options.hpp"
#include "cli/commands.hpp"
#include "cli/profiler.hpp"
#include "report/metrics.hpp"

namespace lanescope::cli {
namespace {

using Tool = report::Metric::Tool;
constexpr std::array nvprof_events{Tool::nvprof_event};
constexpr std::array nvprof_metrics{Tool::nvprof_metric};

struct NvprofOptions {
  std::vector<std::string> program;  ///< what stood behind "--"
  std::string events, metrics;
  std::string kernels;
  std::string log_file = "%2";
  std::string ignored;
  bool csv = false;
  bool quiet = false;
  bool children = false;
  bool query_events = false, query_metrics = false;
  ArchOptions arch;
};

int run(const NvprofOptions& options, const CLI::App& command) {
  if (options.query_events || options.query_metrics) {
    if (options.query_events) std::cout << report::metric_list(nvprof_events);
    if (options.query_metrics) std::cout << report::metric_list(nvprof_metrics);
    return done;
  }
  ProgramOptions program;
  program.command = program_of(command, options.program, "nvprof");
  if (options.events.empty() && options.metrics.empty())
    throw Error(
        "nvprof: times are not measured here: name --events or --metrics (--query-events and "
        "--query-metrics list them)");
  std::vector<const report::Metric*> metrics;
  if (!options.events.empty()) metrics = report::find_metrics(options.events, nvprof_events);
  if (!options.metrics.empty())
    for (const report::Metric* metric : report::find_metrics(options.metrics, nvprof_metrics))
      metrics.push_back(metric);
  program.run_on(options.arch.resolve(), "nvprof");
  program.kernels = options.kernels;
  LaunchChoice choice;
  if (std::regex_match(options.kernels, std::regex("[^:]*:[^:]*:[^:]*:[^:]*"))) {
    const KernelId id = kernel_id(options.kernels, "nvprof");
    program.kernels = id.kernel;
    choice.invocation = id.invocation;
  }
  program.follow_children = options.children;
  const ProgramRun run = profile_program(program, options.log_file, choice);

  const std::string line = fmt::format("{}", fmt::join(program.command, " "));
  std::string text;
  for (const ProcessReport& process : run.reports) {
    const std::string& id = process.process;
    if (!options.quiet)
      text += fmt::format(
          "=={0}== NVPROF is profiling process {0}, command: {1}\n=={0}== Profiling application: {1}\n"
          "=={0}== Profiling result:\n",
          id, line);
    if (!options.quiet && process.report.launches.empty()) text += "No kernels were profiled.\n";
    const report::ProfiledProcess profiled{id, base_name(program.command.front()), &process.report};
    text += options.csv ? report::nvprof_csv(profiled, metrics) : report::nvprof_text(profiled, metrics);
  }
  write_log(options.log_file, text);
  return status_after(run, done);
}

}  // namespace

void add_nvprof_command(CLI::App& app, std::vector<std::string> program, int& status) {
  const auto options = std::make_shared<NvprofOptions>();
  options->program = std::move(program);
  CLI::App* command = app.add_subcommand(
      "nvprof", "take the command line of nvprof and print events and metrics as it does, without a GPU");
  take_program(*command);
  command->add_option("-e,--events", options->events, "events, several with commas (docs/metrics.md)")
      ->type_name("LIST");
  command->add_option("-m,--metrics", options->metrics, "metrics, several with commas")->type_name("LIST");
  command->add_flag("--csv", options->csv, "print CSV");
  command
      ->add_option(
          "--kernels", options->kernels,
          "only kernels whose names hold a match of this expression; ::KERNEL:N: of such a one only the "
          "N-th launch, where N may be an expression, too")
      ->type_name("REGEX");
  command->add_option("--log-file", options->log_file, "write to FILE; %1: stdout, %2: stderr (if not given)")
      ->type_name("FILE");
  command->add_flag("-q,--quiet", options->quiet, "tables alone, without lines about the process");
  command->add_flag("--profile-child-processes", options->children, "processes that the program starts, too");
  command->add_flag("--query-events", options->query_events, "list the events that are known here");
  command->add_flag("--query-metrics", options->query_metrics, "list the metrics that are known here");
  for (const char* name : {"--replay-mode", "--devices", "--concurrent-kernels", "-u,--normalized-time-unit",
                           "--unified-memory-profiling"})
    command->add_option(name, options->ignored, "accepted; changes nothing here")->type_name("…");
  options->arch.add_to(*command);
  command->footer(
      "Example:\n"
      "  lanescope nvprof --events shared_st_bank_conflict ./app");
  command->callback([options, command, &status] { status = run(*options, *command); });
}

}  // namespace lanescope::cli
