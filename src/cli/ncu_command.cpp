// `lanescope ncu`: takes the command line of Nsight Compute and prints metrics as it does.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cctype>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cli/arch_options.hpp"
#include "cli/commands.hpp"
#include "cli/number_options.hpp"
#include "cli/profiler.hpp"
#include "report/metrics.hpp"

namespace lanescope::cli {
namespace {

constexpr std::array ncu_metrics{report::Metric::Tool::ncu};

struct NcuOptions {
  std::vector<std::string> program;  ///< what stood behind "--"
  std::string metrics;
  std::string kernel;
  std::string kernel_base = "function";
  std::string page = "details";
  std::string log_file = "stdout";
  std::string ignored;
  std::string processes = "application-only";
  uint64_t launch_skip = 0;
  uint64_t launch_count = UINT64_MAX;
  bool csv = false;
  bool quiet = false;
  bool query = false;
  ArchOptions arch;
};

/// What stands before and behind a function's own name in a whole one: "int ns::scale<float>(float*)".
constexpr std::string_view before_name = "(^|[ :])", behind_name = "(<.*>)?(\\(|$)";

/// The same of a function's own name alone, whose ends ^ and $ stand for.
std::string of_own_name(std::string_view expression) {
  std::string text = "(?:";
  bool in_set = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c == '\\' && i + 1 < expression.size())
      text += c, text += expression[++i];
    else if (!in_set && (c == '^' || c == '$'))
      text += c == '^' ? std::string(before_name) : fmt::format("(?={})", behind_name);
    else
      text += c;
    if (c == '[') in_set = true;
    if (c == ']') in_set = false;
  }
  return fmt::format("{})(?=\\w*{})", text, behind_name);
}

/// What matches a name as ncu takes it: exactly, or by `regex:` and an expression; the function's own, or
/// with the base "demangled" the whole one.
std::string kernel_pattern(const std::string& name, const std::string& base) {
  constexpr std::string_view regex = "regex:";
  if (base != "function" && base != "demangled")
    throw Error(
        fmt::format("ncu: --kernel-name-base: '{}' is none that is known here (function, demangled)", base));
  const bool own = base == "function";
  if (name.empty()) return "";
  if (name.starts_with(regex))
    return own ? of_own_name(name.substr(regex.size())) : name.substr(regex.size());
  std::string escaped;
  for (const char c : name) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    escaped += is_word ? std::string(1, c) : std::string("\\") + c;
  }
  return own ? fmt::format("{}{}{}", before_name, escaped, behind_name) : fmt::format("^{}$", escaped);
}

int run(const NcuOptions& options, const CLI::App& command) {
  if (options.query) {
    std::cout << report::metric_list(ncu_metrics);
    return done;
  }
  ProgramOptions program;
  program.command = program_of(command, options.program, "ncu");
  if (options.metrics.empty())
    throw Error(
        "ncu: sections and sets are not available: name metrics with --metrics (--query-metrics lists "
        "them)");
  if (options.page != "details" && options.page != "raw")
    throw Error(fmt::format("ncu: --page: '{}' is no page that is known here (details, raw)", options.page));
  if (options.processes != "application-only" && options.processes != "all")
    throw Error(
        fmt::format("ncu: --target-processes: '{}' is neither application-only nor all", options.processes));
  const auto metrics = report::find_metrics(options.metrics, ncu_metrics);
  program.run_on(options.arch.resolve(), "ncu");
  program.kernels = kernel_pattern(options.kernel, options.kernel_base);
  program.launch_skip = options.launch_skip;
  program.launch_count = options.launch_count;
  program.follow_children = options.processes == "all";
  const ProgramRun run = profile_program(program, options.log_file);

  std::string text;
  size_t launches = 0;
  const auto page = options.page == "raw" ? report::NcuPage::raw : report::NcuPage::details;
  for (const ProcessReport& process : run.reports) {
    if (!options.quiet)
      text += fmt::format("==PROF== Connected to process {0} ({1})\n==PROF== Disconnected from process {0}\n",
                          process.process, program.command.front()) +
              (process.report.launches.empty() ? "==WARNING== No kernels were profiled.\n" : "") +
              report::ncu_warnings(process.report);
    const report::ProfiledProcess profiled{process.process, base_name(program.command.front()),
                                           &process.report};
    text += options.csv ? report::ncu_csv(profiled, metrics, page, launches)
                        : report::ncu_text(profiled, metrics);
    launches += process.report.launches.size();
  }
  write_log(options.log_file, text);
  return status_after(run, done);
}

}  // namespace

void add_ncu_command(CLI::App& app, std::vector<std::string> program, int& status) {
  const auto options = std::make_shared<NcuOptions>();
  options->program = std::move(program);
  CLI::App* command = app.add_subcommand(
      "ncu", "take the command line of Nsight Compute and print its metrics as it does, without a GPU");
  take_program(*command);
  command->add_option("--metrics", options->metrics, "metrics, several with commas (docs/metrics.md)")
      ->type_name("LIST");
  command->add_flag("--csv", options->csv, "print CSV");
  command
      ->add_option("--page", options->page, "details (if not given); raw: with --csv one row for each launch")
      ->type_name("PAGE");
  command
      ->add_option("-k,--kernel-name", options->kernel,
                   "only kernels of that name, without namespaces, template and function arguments; "
                   "regex:EXPR: whose name holds a match, where ^ and $ are its ends")
      ->type_name("NAME");
  command
      ->add_option("--kernel-name-base", options->kernel_base,
                   "what --kernel-name is about: function (if not given), or demangled: the whole name")
      ->type_name("BASE");
  add_count(*command, "-s,--launch-skip", options->launch_skip, "leave out the first N launches");
  add_count(*command, "-c,--launch-count", options->launch_count, "only N launches");
  command->add_option("--target-processes", options->processes, "application-only (if not given) or all")
      ->type_name("WHICH");
  command->add_option("--log-file", options->log_file, "write to FILE, stdout (if not given) or stderr")
      ->type_name("FILE");
  command->add_flag("--quiet", options->quiet, "no lines that begin with ==PROF==");
  command->add_flag("--query-metrics", options->query, "list the metrics that are known here");
  for (const char* name :
       {"--replay-mode", "--cache-control", "--clock-control", "--print-units", "--devices", "--apply-rules"})
    command->add_option(name, options->ignored, "accepted; changes nothing here")->type_name("…");
  options->arch.add_to(*command);
  command->footer(
      "Example:\n"
      "  lanescope ncu --metrics l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum --csv ./app");
  command->callback([options, command, &status] { status = run(*options, *command); });
}

}  // namespace lanescope::cli
