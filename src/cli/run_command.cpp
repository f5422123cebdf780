// `lanescope run`: runs kernels of a PTX file, or a CUDA program (run_program.hpp), on the CPU and reports
// line by line what their accesses cost.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "advise/sources.hpp"
#include "base/error.hpp"
#include "cli/arch_options.hpp"
#include "cli/commands.hpp"
#include "cli/extent.hpp"
#include "cli/kernel_arguments.hpp"
#include "cli/report_options.hpp"
#include "cli/run_program.hpp"
#include "cli/terminal.hpp"
#include "exec/launch.hpp"
#include "lanescope/model/archs.hpp"
#include "lanescope/model/limits.hpp"
#include "merge/plan.hpp"
#include "profile/checks.hpp"
#include "profile/collector.hpp"
#include "ptx/assembler.hpp"
#include "ptx/module.hpp"
#include "report/report.hpp"

namespace lanescope::cli {
namespace {

struct RunOptions {
  std::vector<std::string> files;
  std::vector<std::string> kernels;
  std::string grid, block, cluster;
  std::string shared = "0";
  std::vector<std::string> arguments;
  std::vector<std::string> dumps;
  ArchOptions arch;
  uint32_t threads = 0;
  uint64_t seed = 1;
  ReportOptions report;
  bool no_count = false;
  bool no_merge = false;
  bool assemble = false;
  std::string checks;
  std::vector<std::string> program;  ///< and its arguments, after "--"
  uint64_t launch_skip = 0;
  uint64_t launch_count = UINT64_MAX;
  uint64_t sample_blocks = 0;
  bool follow_children = false;
};

/// `--dump N=FILE`.
struct Dump {
  size_t argument = 0;
  std::string file;
};

std::vector<Dump> parse_dumps(const RunOptions& options, const std::vector<KernelArgument>& arguments) {
  std::vector<Dump> dumps;
  for (const std::string& text : options.dumps) {
    Dump dump;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dump.argument);
    if (error != std::errc() || *end != '=' || end[1] == '\0')
      throw Error(fmt::format("--dump: '{}' is not N=FILE, with N counting the arguments from 0", text));
    if (dump.argument >= arguments.size() || arguments[dump.argument].kind != KernelArgument::Kind::buffer)
      throw Error(fmt::format("--dump: argument {} is no buffer (arguments count from 0)", dump.argument));
    dump.file = end + 1;
    dumps.push_back(std::move(dump));
  }
  if (!dumps.empty() && options.kernels.size() > 1)
    throw Error("--dump takes the buffer of one kernel: give one --kernel");
  return dumps;
}

std::string read_ptx(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  std::string text;
  if (file) {
    char chunk[1 << 16];
    while (const size_t got = std::fread(chunk, 1, sizeof chunk, file.get())) text.append(chunk, got);
  }
  if (!file || std::ferror(file.get()) != 0)
    throw Error(SourcePlace{path}, fmt::format("cannot read: {}", std::strerror(errno)));
  if (text.starts_with("\x7f"
                       "ELF"))
    throw Error(SourcePlace{path}, fmt::format("is a program; run it with: lanescope run -- {}", path));
  return text;
}

/// The kernels asked for, or the only one there is.
std::vector<std::string> kernel_names(const RunOptions& options, const ptx::Module& module) {
  if (!options.kernels.empty()) return options.kernels;
  std::vector<std::string> all;
  std::string listed;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || !function.has_body) continue;
    all.push_back(function.name);
    listed += "\n  " + function.display_name;
  }
  if (all.empty()) throw Error(SourcePlace{module.name}, "holds no kernel");
  if (all.size() > 1)
    throw Error(SourcePlace{module.name}, "holds several kernels: choose with --kernel" + listed);
  return all;
}

/// What all launches of this command share.
struct Job {
  std::shared_ptr<const ptx::Module> module;
  model::Arch arch;
  exec::LaunchConfig config;
  std::vector<KernelArgument> arguments;
  std::vector<Dump> dumps;
  uint64_t seed = 1;
  bool count = true;
  bool merge = true;
  ptx::Assembly assembly;  ///< empty unless --assemble
};

/// Runs one kernel on a device of its own: memory, variables and buffers are fresh.
report::Launch run_kernel(const Job& job, const std::string& name, advise::Sources& sources) {
  exec::Memory memory;
  exec::Image image(job.module, memory);
  const exec::Kernel& kernel = image.kernel(name);
  const KernelBuffers buffers(memory, job.arguments, job.seed);

  exec::LaunchConfig config = job.config;
  config.params = buffers.parameters(kernel);
  std::shared_ptr<const merge::Plan> plan;
  if (job.merge && merge::knows(job.arch))
    plan = std::make_shared<const merge::Plan>(merge::predict(*job.module, kernel));
  profile::Collectors collectors(job.arch, static_cast<uint32_t>(kernel.accesses.size()),
                                 profile::RecordBlocks::some, plan);
  if (job.count) config.observer = [&](uint32_t host_thread) { return collectors.of(host_thread); };
  exec::LaunchResult result;
  {
    ProgressBar progress(kernel.display_name);
    if (progress.enabled())
      config.progress = [&](uint64_t finished, uint64_t total) { progress.show(finished, total); };
    result = image.launch(kernel, config);
  }
  for (const Dump& dump : job.dumps) buffers.dump(dump.argument, dump.file);
  const auto needs = job.assembly.kernels.find(kernel.name);
  return report::make_launch(job.arch, *job.module, kernel, config, result,
                             job.count ? std::optional(collectors.merged()) : std::nullopt, sources,
                             needs == job.assembly.kernels.end() ? nullptr : &needs->second, plan.get());
}

int run_a_program(const RunOptions& options) {
  if (!options.files.empty())
    throw Error(
        fmt::format("run: {}: a PTX file and a program after -- cannot both be run", options.files.front()));
  if (!options.grid.empty() || !options.block.empty() || !options.cluster.empty() || options.shared != "0" ||
      !options.arguments.empty() || !options.dumps.empty())
    throw Error(
        "run: --grid, --block, --cluster, --shared, --arg and --dump are for PTX files; a program launches "
        "by itself");
  ProgramOptions program;
  program.command = options.program;
  const model::Arch arch = options.arch.resolve();
  program.arch = arch.name;
  if (model::find_arch(program.arch) == nullptr)
    throw Error("run: a program runs on an architecture with a name (--arch); --banks is for PTX files");
  program.bank_mode = arch.has_bank_modes ? arch.bank_bytes : 0;
  for (const std::string& kernel : options.kernels)
    program.kernels += (program.kernels.empty() ? "" : "|") + kernel;
  try {
    const std::regex checked(program.kernels);
  } catch (const std::regex_error& error) {
    throw Error(fmt::format("--kernel: '{}' is no regular expression: {}", program.kernels, error.what()));
  }
  program.each_launch = options.report.needs_each_launch();
  program.launch_skip = options.launch_skip;
  program.launch_count = options.launch_count;
  program.sample_blocks = options.sample_blocks;
  program.threads = options.threads;
  program.no_count = options.no_count;
  program.no_merge = options.no_merge;
  program.assemble = options.assemble;
  if (profile::parse_checks(options.checks, arch).any()) program.checks = options.checks;
  program.follow_children = options.follow_children;
  ProgramRun run = run_program(program);
  if (run.reports.empty()) run.reports.push_back({"", report::make_report(arch)});
  const int verdict = options.report.finish(run.reports);
  if (run.status != 0) return run.status;
  return run.has_defect ? program_failed : verdict;
}

int run(RunOptions& options) {
  if (options.files.empty() && options.program.empty())
    throw Error("run: which program (-- ./app) or PTX file? Try 'lanescope run --help'.");
  if (options.files.size() > 1)
    throw Error(
        fmt::format("run: one PTX file is expected, but '{}' follows '{}'; a program and its arguments go "
                    "behind --",
                    options.files[1], options.files[0]));
  options.report.check();
  options.report.set_program(options.program.empty() ? options.files.front() : options.program.front());
  if (!options.program.empty()) return run_a_program(options);
  if (options.launch_skip != 0 || options.launch_count != UINT64_MAX || options.sample_blocks != 0 ||
      options.follow_children)
    throw Error(
        "run: --launch-skip, --launch-count, --sample-blocks and --follow-children are for programs (-- "
        "./app)");

  Job job;
  job.arch = options.arch.resolve();
  if (options.grid.empty() || options.block.empty())
    throw Error("run: --grid and --block say how many blocks and threads to run");
  job.config.grid = parse_extent(options.grid, "--grid");
  job.config.block = parse_extent(options.block, "--block");
  if (!options.cluster.empty()) job.config.cluster = parse_extent(options.cluster, "--cluster");
  const uint64_t shared = parse_size(options.shared, "--shared");
  if (shared > UINT32_MAX)
    throw Error(fmt::format("--shared: {} bytes are more than a block can have", shared));
  job.config.dynamic_shared = static_cast<uint32_t>(shared);
  job.config.shared_limit = static_cast<uint32_t>(model::limits_of(job.arch.name).shared_per_block);
  job.config.threads = options.threads;
  job.config.checks = profile::parse_checks(options.checks, job.arch);
  for (size_t i = 0; i < options.arguments.size(); ++i)
    job.arguments.push_back(parse_kernel_argument(i, options.arguments[i]));
  job.dumps = parse_dumps(options, job.arguments);
  job.seed = options.seed;
  job.count = !options.no_count;
  job.merge = !options.no_merge;

  const std::string& file = options.files.front();
  job.module = std::make_shared<const ptx::Module>(ptx::parse(read_ptx(file), file));
  const std::vector<std::string> names = kernel_names(options, *job.module);
  if (options.assemble) {
    job.assembly = ptx::assemble({job.module->text}, std::string_view(job.arch.name).starts_with("sm_")
                                                         ? std::string(job.arch.name)
                                                         : "sm_90");
    if (!job.assembly.unknown.empty()) std::cerr << "lanescope: --assemble: " << job.assembly.unknown << '\n';
  }
  {
    // All is checked before anything runs.
    exec::Memory memory;
    exec::Image image(job.module, memory);
    for (const std::string& name : names) check_kernel_arguments(image.kernel(name), job.arguments);
  }

  report::Report report = report::make_report(job.arch);
  advise::Sources sources(file);
  for (const std::string& name : names) report.launches.push_back(run_kernel(job, name, sources));
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
  const auto options = std::make_shared<RunOptions>();
  options->program = std::move(program);
  command->add_option("FILE", options->files, "the PTX file (from nvcc -ptx -lineinfo)")->type_name("");
  const auto repeatable = [&](const char* name, std::vector<std::string>& values, const char* help,
                              const char* type) {
    command->add_option(name, values, help)
        ->type_name(type)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  repeatable(
      "--kernel", options->kernels,
      "the kernel, by its name in the program or in the PTX; several run one after the other, each on fresh "
      "buffers, and are compared; not needed when the file has one. With a program: a regular expression; "
      "only "
      "kernels whose names hold a match are counted",
      "NAME");
  command->add_option("--grid", options->grid, "blocks of the grid")->type_name("X[,Y[,Z]]");
  command->add_option("--block", options->block, "threads of a block")->type_name("X[,Y[,Z]]");
  command->add_option("--cluster", options->cluster, "blocks of a cluster")->type_name("X[,Y[,Z]]");
  command->add_option("--shared", options->shared, "dynamic shared memory of a block, in bytes")
      ->type_name("BYTES");
  repeatable("--arg", options->arguments, "the kernel's arguments, in order; see below", "ARG");
  repeatable("--dump", options->dumps, "after the run, write the buffer of argument N (from 0) to FILE",
             "N=FILE");
  options->arch.add_to(*command);
  command->add_option("--threads", options->threads, "host threads; all cores if not given")->type_name("N");
  command->add_option("--seed", options->seed, "of buffers filled with =random (1 if not given)")
      ->type_name("N");
  options->report.add_to(*command);
  options->report.add_metrics_to(*command);
  command
      ->add_option("--launch-skip", options->launch_skip, "program: count no launch before the Nth (from 0)")
      ->type_name("N");
  command->add_option("--launch-count", options->launch_count, "program: count N launches at most")
      ->type_name("N");
  command->add_option("--sample-blocks", options->sample_blocks, "program: count N blocks of each launch")
      ->type_name("N");
  command->add_flag("--follow-children", options->follow_children,
                    "program: report on the processes that it starts, too");
  command->add_flag("--no-count", options->no_count, "only run: nothing is counted, which is faster");
  command->add_flag("--no-merge", options->no_merge,
                    "count each access to shared memory as the PTX writes it: do not predict which ones the "
                    "assembler merges");
  command->add_flag("--assemble", options->assemble,
                    "ask ptxas, where it is found, for registers and spills, which the report then has");
  command
      ->add_option(
          "--check", options->checks,
          "look for defects while kernels run: race (on shared memory), init (reads of memory that nobody "
          "has written), barrier (reached by part of the threads), or all; several with commas")
      ->type_name("LIST");
  command->footer(
      "An argument ARG is one of:\n"
      "  u32:7  s64:-1  f32:1.5  a number (u8 … u64, s8 … s64, b8 … b64, f32, f64)\n"
      "  buf:SIZE[=FILL]         a pointer to SIZE bytes (K, M, G: powers of 1024) of f32 elements\n"
      "  buf:TYPE:COUNT[=FILL]   a pointer to COUNT elements of TYPE\n"
      "  hex:0000803f…           the bytes of a struct, lowest address first\n"
      "FILL is zero (if not given), iota (element i is i), random (f32 and f64 from [0, 1)), or @FILE.\n"
      "Exit status: 0 done, 1 a limit was passed (--fail-on, --baseline), 2 bad usage or input, 3 a kernel "
      "failed (out of bounds, deadlock, …) or a check\n"
      "found an error. A program's own\n"
      "status, if it is not 0, is passed through.\n"
      "Examples:\n"
      "  lanescope run -- ./app 1024\n"
      "  lanescope run kernels/ptx/reduce.ptx --kernel reduce_interleaved --kernel reduce_sequential \\\n"
      "    --grid 16384 --block 256 --arg buf:16M=iota --arg buf:64K --arg u32:4194304");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace lanescope::cli
