// `lanescope ncu`: takes the command line of Nsight Compute and prints metrics as it does.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  std::string kernel_id;
  std::string kernel_base = "function";
  std::string filter_mode = "global";
  std::string summary = "none";
  std::string page = "details";
  std::string log_file = "stdout";
  std::string from_start = "on";
  std::string ignored;
  std::string processes = "application-only";
  uint64_t launch_skip = 0;
  uint64_t launch_count = UINT64_MAX;
  uint64_t skip_before_match = 0;
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

/// Options of ncu's for which there is nothing here, and why. Where there are --metrics, sections are told of
/// and left out; the others change what a script gets.
struct Unserved {
  std::string_view names, why;
  bool takes_value;
};
constexpr std::string_view no_sections =
    "sections and sets are not available: name metrics with --metrics (--query-metrics lists them)";
constexpr std::string_view no_ranges = "ranges of NVTX and of the profiler are not followed";
constexpr std::string_view no_files =
    "report files of Nsight Compute are neither written nor read: --csv and --log-file write text";
constexpr std::array sections{Unserved{"--set", no_sections, true}, Unserved{"--section", no_sections, true},
                              Unserved{"--rule", no_sections, true}};
constexpr std::array unserved{
    Unserved{"--list-sets", no_sections, false},
    Unserved{"--list-sections", no_sections, false},
    Unserved{"--list-rules", no_sections, false},
    Unserved{"-o,--export", no_files, true},
    Unserved{"-i,--import", no_files, true},
    Unserved{"--nvtx-include", no_ranges, true},
    Unserved{"--nvtx-exclude", no_ranges, true},
    Unserved{"--range-filter", no_ranges, true},
    Unserved{"--range-replay-options", no_ranges, true},
    Unserved{"--target-processes-filter", "processes are not told apart by their names", true},
    Unserved{"--mode", "programs are run and profiled at once", true}};

/// What steers the hardware, or how values look that are not here, with a value and without one.
constexpr std::array ignored_options{"--replay-mode",
                                     "--cache-control",
                                     "--clock-control",
                                     "--print-units",
                                     "--devices",
                                     "--apply-rules",
                                     "--app-replay-buffer",
                                     "--app-replay-match",
                                     "--app-replay-mode",
                                     "--import-source",
                                     "--source-folders",
                                     "--resolve-source-file",
                                     "--print-details",
                                     "--print-metric-name",
                                     "--print-metric-instances",
                                     "--print-nvtx-rename",
                                     "--rename-kernels",
                                     "--check-exit-code",
                                     "--graph-profiling",
                                     "--section-folder",
                                     "--kill",
                                     "--call-stack-type",
                                     "--sampling-interval",
                                     "--sampling-max-passes",
                                     "--sampling-buffer-size",
                                     "--warp-sampling-interval",
                                     "--warp-sampling-max-passes",
                                     "--warp-sampling-buffer-size",
                                     "--pm-sampling-interval",
                                     "--pm-sampling-max-passes",
                                     "--pm-sampling-buffer-size",
                                     "--support-32bit",
                                     "--config-file",
                                     "--query-metrics-mode",
                                     "--chips"};
constexpr std::array ignored_flags{"-f,--force-overwrite",
                                   "--nvtx",
                                   "--verbose",
                                   "--print-fp",
                                   "--call-stack",
                                   "--disable-extra-suffixes",
                                   "--null-stdin",
                                   "--disable-profiler-start-stop"};

/// "--export" of "-o,--export".
std::string last_of(std::string_view names) { return std::string(names.substr(names.rfind(',') + 1)); }

std::optional<report::NcuSummary> summary_of(const std::string& name) {
  if (name == "none") return {};
  if (name == "per-kernel") return report::NcuSummary::per_kernel;
  if (name == "per-gpu") return report::NcuSummary::per_gpu;
  if (name == "per-nvtx") throw Error(fmt::format("ncu: --print-summary: 'per-nvtx': {}", no_ranges));
  throw Error(
      fmt::format("ncu: --print-summary: '{}' is none that is known here (none, per-kernel, per-gpu)", name));
}

/// Sets the kernels and launches that are meant.
LaunchChoice choose_launches(const NcuOptions& options, ProgramOptions& program) {
  LaunchChoice choice;
  std::string kernel = options.kernel;
  if (!options.kernel_id.empty()) {
    if (!kernel.empty()) throw Error("ncu: --kernel-id and --kernel-name: one of them says which kernels");
    const KernelId id = kernel_id(options.kernel_id, "ncu");
    kernel = id.kernel;
    choice.invocation = id.invocation;
  }
  if (options.filter_mode != "global" && options.filter_mode != "per-gpu" &&
      options.filter_mode != "per-launch-config")
    throw Error(fmt::format(
        "ncu: --filter-mode: '{}' is none that is known here (global, per-gpu, per-launch-config)",
        options.filter_mode));
  choice.by_configuration = options.filter_mode == "per-launch-config";
  choice.skip_before_match = options.skip_before_match;
  program.kernels = kernel_pattern(kernel, options.kernel_base);
  program.launch_skip = options.launch_skip;
  program.launch_count = options.launch_count;
  return choice;
}

int run(const NcuOptions& options, const CLI::App& command) {
  for (const Unserved& option : unserved)
    if (command.count(last_of(option.names)) != 0)
      throw Error(fmt::format("ncu: {}: {}", last_of(option.names), option.why));
  if (options.query) {
    std::cout << report::metric_list(ncu_metrics);
    return done;
  }
  if (options.from_start != "on" && options.from_start != "yes" && options.from_start != "1")
    throw Error(fmt::format("ncu: --profile-from-start: {}", no_ranges));
  ProgramOptions program;
  program.command = program_of(command, options.program, "ncu");
  if (options.metrics.empty()) throw Error(fmt::format("ncu: {}", no_sections));
  if (options.page == "source")
    throw Error("ncu: --page: 'source': 'lanescope run' shows the source lines, with what each costs");
  if (options.page != "details" && options.page != "raw")
    throw Error(fmt::format("ncu: --page: '{}' is no page that is known here (details, raw)", options.page));
  if (options.processes != "application-only" && options.processes != "all")
    throw Error(
        fmt::format("ncu: --target-processes: '{}' is neither application-only nor all", options.processes));
  const auto metrics = report::find_metrics(options.metrics, ncu_metrics);
  program.run_on(options.arch.resolve(), "ncu");
  const LaunchChoice choice = choose_launches(options, program);
  const auto summary = summary_of(options.summary);
  program.follow_children = options.processes == "all";
  const ProgramRun run = profile_program(program, options.log_file, choice);

  std::string text;
  for (const Unserved& option : sections)
    if (!options.quiet && command.count(std::string(option.names)) != 0)
      text += fmt::format("==WARNING== {} is left out: sections and sets are not available, only --metrics\n",
                          option.names);
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
    if (summary)
      text += report::ncu_summary(profiled, metrics, *summary, options.csv, &process == &run.reports.front());
    else
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
  command
      ->add_option(
          "--kernel-id", options->kernel_id,
          "only launches ::KERNEL:N, the N-th of kernels of that name, which may begin with regex: as "
          "well; N may be an expression; either may be left out")
      ->type_name("ID");
  add_count(*command, "-s,--launch-skip", options->launch_skip, "leave out the first N launches");
  add_count(*command, "-c,--launch-count", options->launch_count, "only N launches");
  add_count(*command, "--launch-skip-before-match", options->skip_before_match,
            "leave out the first N launches, whatever kernels are chosen");
  command
      ->add_option("--filter-mode", options->filter_mode,
                   "what launches are counted for --launch-skip and --launch-count: global (if not given; "
                   "per-gpu is the same), or per-launch-config: of each kernel, grid and block")
      ->type_name("MODE");
  command
      ->add_option(
          "--print-summary", options->summary,
          "none (if not given); per-kernel: least, greatest and average value of the launches of each "
          "kernel, grid and block; per-gpu: of all")
      ->type_name("MODE");
  command->add_option("--target-processes", options->processes, "application-only (if not given) or all")
      ->type_name("WHICH");
  command->add_option("--log-file", options->log_file, "write to FILE, stdout (if not given) or stderr")
      ->type_name("FILE");
  command->add_flag("--quiet", options->quiet, "no lines that begin with ==PROF==");
  command->add_flag("--query-metrics", options->query, "list the metrics that are known here");
  for (const char* name : ignored_options)
    command->add_option(name, options->ignored)->take_last()->group("");
  for (const char* name : ignored_flags) command->add_flag(std::string(name))->group("");
  command->add_option("--profile-from-start", options->from_start)->group("");
  const auto refuse = [&](const Unserved& option) {
    if (option.takes_value)
      command->add_option(std::string(option.names), options->ignored)->take_last()->group("");
    else
      command->add_flag(std::string(option.names))->group("");
  };
  std::for_each(sections.begin(), sections.end(), refuse);
  std::for_each(unserved.begin(), unserved.end(), refuse);
  options->arch.add_to(*command);
  command->footer(
      "Options that steer the hardware or say how values look are accepted and change nothing.\n"
      "Example:\n"
      "  lanescope ncu --metrics l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum --csv ./app");
  command->callback([options, command, &status] { status = run(*options, *command); });
}

}  // namespace lanescope::cli
