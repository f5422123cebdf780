// `lanescope run`: runs kernels of a PTX file, or a CUDA program (run_program.hpp), on the CPU and reports
// line by line what their accesses cost.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "advise/sources.hpp"
#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/number_options.hpp"
#include "cli/output.hpp"
#include "cli/repeatable.hpp"
#include "cli/report_options.hpp"
#include "cli/run_options.hpp"
#include "cli/run_program.hpp"
#include "profile/checks.hpp"
#include "ptx/assembler.hpp"
#include "report/report.hpp"

namespace lanescope::cli {
namespace {

struct RunCommandOptions {
  RunOptions run;
  ReportOptions report;
  std::vector<std::string> dumps;
  bool no_count = false;
  bool assemble = false;
  std::string checks;
  bool poison_shared = false;
  uint64_t sample_blocks = 0;
};

/// `--dump N=FILE`.
struct Dump {
  size_t argument = 0;
  std::string file;
};

std::vector<Dump> parse_dumps(const RunCommandOptions& options,
                              const std::vector<KernelArgument>& arguments) {
  std::vector<Dump> dumps;
  for (const std::string& text : options.dumps) {
    Dump dump;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dump.argument);
    if (error != std::errc() || *end != '=' || end[1] == '\0')
      throw Error(fmt::format("--dump: '{}' is not N=FILE, with N counting the arguments from 0", text));
    if (dump.argument >= arguments.size() || arguments[dump.argument].kind != KernelArgument::Kind::buffer)
      throw Error(fmt::format("--dump: argument {} is no buffer (arguments count from 0)", dump.argument));
    dump.file = end + 1;
    check_output(dump.file);
    dumps.push_back(std::move(dump));
  }
  if (!dumps.empty() && options.run.kernels.size() > 1)
    throw Error("--dump takes the buffer of one kernel: give one --kernel");
  return dumps;
}

int run_a_program(const RunCommandOptions& options) {
  if (!options.dumps.empty()) throw Error("run: --dump is for PTX files; a program launches by itself");
  const model::Arch arch = options.run.arch.resolve();
  ProgramOptions program = options.run.program_options("run", arch);
  program.each_launch = options.report.needs_each_launch();
  program.sample_blocks = options.sample_blocks;
  program.no_count = options.no_count;
  program.assemble = options.assemble;
  (void)profile::parse_checks(options.checks, arch);  // so that a mistake is said here
  program.checks = options.checks;
  program.poison_shared = options.poison_shared;
  ProgramRun run = run_program(program);
  if (run.reports.empty()) run.reports.push_back({"", report::make_report(arch)});
  return status_after(run, options.report.finish(run.reports));
}

int run(RunCommandOptions& options) {
  options.run.check("run");
  options.report.check();
  options.report.set_program(options.run.subject());
  if (options.report.needs_each_launch() && (options.no_count || options.sample_blocks != 0))
    throw Error(fmt::format(
        "run: --metrics and --events are sums of what is counted; {}",
        options.no_count ? "--no-count counts nothing" : "--sample-blocks counts some blocks alone"));
  if (options.run.is_program()) return run_a_program(options);
  if (options.sample_blocks != 0) throw Error("run: --sample-blocks is for programs (-- ./app)");

  KernelJob job = options.run.kernel_job("run", options.run.arch.resolve());
  job.config.checks = profile::parse_checks(options.checks, job.arch);
  job.config.poison_shared = options.poison_shared;
  job.count = !options.no_count;
  const std::vector<Dump> dumps = parse_dumps(options, job.arguments);
  if (options.assemble) {
    job.assembly = ptx::assemble({job.module->text}, std::string_view(job.arch.name).starts_with("sm_")
                                                         ? std::string(job.arch.name)
                                                         : "sm_90");
    if (!job.assembly.unknown.empty()) std::cerr << "lanescope: --assemble: " << job.assembly.unknown << '\n';
  }
  report::Report report = report::make_report(job.arch);
  advise::Sources sources(options.run.subject());
  const auto dump = [&](const KernelLaunch& launch, const report::Launch&) {
    for (const Dump& d : dumps) write_output(d.file, launch.buffers.bytes(d.argument));
  };
  for (const std::string& name : job.kernels)
    report.launches.push_back(run_kernel(job, name, sources, nullptr, dump));
  const bool failed =
      std::any_of(report.launches.begin(), report.launches.end(),
                  [](const report::Launch& launch) { return launch.failed || report::has_errors(launch); });
  const int verdict = options.report.finish({{"", std::move(report)}});
  return failed ? program_failed : verdict;
}

}  // namespace

void add_run_command(CLI::App& app, std::vector<std::string> program, int& status) {
  CLI::App* command =
      app.add_subcommand("run",
                         "run a CUDA program (-- ./app args), or kernels of a PTX file, and report what "
                         "their accesses cost");
  const auto options = std::make_shared<RunCommandOptions>();
  options->run.program = std::move(program);
  options->run.add_to(*command);
  add_repeatable(*command, "--dump", options->dumps,
                 "after the run, write the buffer of argument N (from 0) to FILE", "N=FILE");
  options->report.add_to(*command);
  options->report.add_metrics_to(*command);
  add_count(*command, "--sample-blocks", options->sample_blocks, "program: count N blocks of each launch");
  command->add_flag("--no-count", options->no_count, "only run: nothing is counted, which is faster");
  command->add_flag("--assemble", options->assemble,
                    "ask ptxas, where it is found, for registers and spills, which the report then has");
  command
      ->add_option(
          "--check", options->checks,
          "look for defects while kernels run: race (on shared memory), init (reads of memory that nobody "
          "has written), barrier (reached by part of the threads), bounds (of arrays in shared memory), leak "
          "(memory that is never freed), or all of these; global (races on global memory); unused "
          "(device memory that nothing ever writes); several with commas")
      ->type_name("LIST");
  command->add_flag(
      "--poison-shared", options->poison_shared,
      "shared memory holds arbitrary words when a block begins, not zeros, so that results which "
      "depend on what no thread has written become others");
  command->footer(
      std::string(RunOptions::argument_help) +
      "Exit status: 0 done, 1 a limit was passed (--fail-on, --baseline), 2 bad usage or input, 3 a kernel "
      "failed (out of bounds, deadlock, …) or a check\n"
      "found an error. A program's own status, if it is not 0, is passed through; 2 as well if it is 0 and "
      "something of the program\ncould not be run here.\n"
      "Examples:\n"
      "  lanescope run -- ./app 1024\n"
      "  lanescope run kernels/ptx/reduce.ptx --kernel reduce_interleaved --kernel reduce_sequential \\\n"
      "    --grid 16384 --block 256 --arg buf:16M=iota --arg buf:64K --arg u32:4194304");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace lanescope::cli
