// See run_options.hpp.
#include "cli/run_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>
#include <regex>
#include <utility>

#include "base/error.hpp"
#include "cli/extent.hpp"
#include "cli/number_options.hpp"
#include "cli/repeatable.hpp"
#include "cli/terminal.hpp"
#include "lanescope/model/archs.hpp"
#include "lanescope/model/limits.hpp"
#include "report/run_and_report.hpp"

namespace lanescope::cli {
namespace {

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
    throw Error(SourcePlace{path}, fmt::format("is a program, which goes behind --: lanescope run -- {}",
                                               path.find('/') == std::string::npos ? "./" + path : path));
  refuse_source(path);
  return text;
}

/// PTX as docs/ptx-support.md describes it.
constexpr std::pair<uint32_t, uint32_t> newest_version{9, 0};

/// What a module needs of its target and version shows in its instructions, and those that are not known are
/// refused; so it is worth a try.
void warn_if_newer(const ptx::Module& module) {
  const auto warn = [&](const std::string& what) {
    std::cerr << "lanescope: warning: " << module.name << ": " << what
              << " is not known here; it is run all the same\n";
  };
  if (std::pair(module.version_major, module.version_minor) > newest_version)
    warn(fmt::format("PTX {}.{}", module.version_major, module.version_minor));
  std::string number = module.target.substr(module.target.find('_') + 1);
  if (number.ends_with('a') || number.ends_with('f')) number.pop_back();  // of this chip, of its family
  if (model::find_arch("sm_" + number) == nullptr) warn("the target " + module.target);
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

}  // namespace

const char* RunOptions::argument_help =
    "An argument ARG is one of:\n"
    "  u32:7  s64:-1  f32:1.5  a number (u8 … u64, s8 … s64, b8 … b64, f32, f64)\n"
    "  buf:SIZE[=FILL]         a pointer to SIZE bytes (K, M, G: powers of 1024) of f32 elements\n"
    "  buf:TYPE:COUNT[=FILL]   a pointer to COUNT elements of TYPE\n"
    "  hex:0000803f…           the bytes of a struct, lowest address first\n"
    "FILL is zero (if not given), iota (element i is i), random (f32 and f64 from [0, 1)), or @FILE.\n";

report::Launch run_kernel(const KernelJob& job, const std::string& name, advise::Sources& sources,
                          const std::function<void(const KernelLaunch&)>& before,
                          const std::function<void(const KernelLaunch&, const report::Launch&)>& after) {
  exec::Memory memory;
  exec::Image image(job.module, memory);
  const exec::Kernel& kernel = image.kernel(name);
  const KernelBuffers buffers(memory, job.arguments, job.seed);

  exec::LaunchConfig config = job.config;
  config.params = buffers.parameters(kernel);
  const KernelLaunch launch{image, kernel, config, buffers};
  if (before) before(launch);
  const auto needs = job.assembly.kernels.find(kernel.name);
  const report::Counting counting{job.arch, job.count, job.merge,
                                  needs == job.assembly.kernels.end() ? nullptr : &needs->second};
  ProgressBar progress(kernel.display_name);
  if (progress.enabled())
    config.progress = [&](uint64_t finished, uint64_t total) { progress.show(finished, total); };
  report::Launch reported = report::run_and_report(image, kernel, config, counting, sources);
  if (after) after(launch, reported);
  return reported;
}

void RunOptions::add_to(CLI::App& command) {
  command.add_option("FILE", files, "the PTX file (from nvcc -ptx -lineinfo)")->type_name("");
  add_repeatable(
      command, "--kernel", kernels,
      "the kernel, by its name in the program or in the PTX; several run one after the other, each on fresh "
      "buffers, and are compared; not needed when the file has one. With a program: a regular expression; "
      "only kernels whose names hold a match are counted",
      "NAME");
  command.add_option("--grid", grid, "blocks of the grid")->type_name("X[,Y[,Z]]");
  command.add_option("--block", block, "threads of a block")->type_name("X[,Y[,Z]]");
  command.add_option("--cluster", cluster, "blocks of a cluster")->type_name("X[,Y[,Z]]");
  command.add_option("--shared", shared, "dynamic shared memory of a block, in bytes")->type_name("BYTES");
  add_repeatable(command, "--arg", arguments, "the kernel's arguments, in order; see below", "ARG");
  arch.add_to(command);
  add_count(command, "--threads", threads, "host threads; all cores if not given");
  add_count(command, "--seed", seed, "of buffers filled with =random (1 if not given)");
  add_count(command, "--launch-skip", launch_skip, "program: count no launch before the Nth (from 0)");
  add_count(command, "--launch-count", launch_count, "program: count N launches at most");
  command.add_flag("--follow-children", follow_children,
                   "program: report on the processes that it starts, too");
  command.add_flag("--no-merge", no_merge,
                   "count each access to shared memory as the PTX writes it: do not predict which ones the "
                   "assembler merges");
}

void RunOptions::check(std::string_view command) const {
  if (files.empty() && program.empty())
    throw Error(
        fmt::format("{0}: which program (-- ./app) or PTX file? Try 'lanescope {0} --help'.", command));
  if (files.size() > 1)
    throw Error(
        fmt::format("{}: one PTX file is expected, but '{}' follows '{}'; a program and its arguments go "
                    "behind --",
                    command, files[1], files[0]));
  if (!is_program()) {
    if (launch_skip != 0 || launch_count != UINT64_MAX || follow_children)
      throw Error(
          fmt::format("{}: --launch-skip, --launch-count and --follow-children are for programs (-- "
                      "./app)",
                      command));
    return;
  }
  if (!files.empty())
    throw Error(
        fmt::format("{}: {}: a PTX file and a program after -- cannot both be run", command, files.front()));
  if (!grid.empty() || !block.empty() || !cluster.empty() || shared != "0" || !arguments.empty() ||
      seed != RunOptions().seed)
    throw Error(
        fmt::format("{}: --grid, --block, --cluster, --shared, --arg and --seed are for PTX files; a program "
                    "launches by itself",
                    command));
}

ProgramOptions RunOptions::program_options(std::string_view command, const model::Arch& on) const {
  ProgramOptions options;
  options.command = program;
  options.run_on(on, command);
  for (const std::string& kernel : kernels) options.kernels += (options.kernels.empty() ? "" : "|") + kernel;
  try {
    const std::regex checked(options.kernels);
  } catch (const std::regex_error& error) {
    throw Error(fmt::format("--kernel: '{}' is no regular expression: {}", options.kernels, error.what()));
  }
  options.launch_skip = launch_skip;
  options.launch_count = launch_count;
  options.threads = threads;
  options.no_merge = no_merge;
  options.follow_children = follow_children;
  return options;
}

KernelJob RunOptions::kernel_job(std::string_view command, const model::Arch& on) const {
  KernelJob job;
  job.arch = on;
  const std::string& file = files.front();
  std::string text = read_ptx(file);
  if (grid.empty() || block.empty())
    throw Error(fmt::format("{}: --grid and --block say how many blocks and threads to run", command));
  job.config.grid = parse_extent(grid, "--grid");
  job.config.block = parse_extent(block, "--block");
  if (!cluster.empty()) job.config.cluster = parse_extent(cluster, "--cluster");
  const uint64_t bytes = parse_size(shared, "--shared");
  if (bytes > UINT32_MAX)
    throw Error(fmt::format("--shared: {} bytes are more than a block can have", bytes));
  job.config.dynamic_shared = static_cast<uint32_t>(bytes);
  job.config.shared_limit = static_cast<uint32_t>(model::limits_of(job.arch.name).shared_per_block);
  job.config.threads = threads;
  for (size_t i = 0; i < arguments.size(); ++i)
    job.arguments.push_back(parse_kernel_argument(i, arguments[i]));
  job.seed = seed;
  job.merge = !no_merge;
  job.module = std::make_shared<const ptx::Module>(ptx::parse(std::move(text), file));
  warn_if_newer(*job.module);
  job.kernels = kernel_names(*this, *job.module);
  // All is checked before anything runs.
  exec::Memory memory;
  exec::Image image(job.module, memory);
  for (const std::string& name : job.kernels) check_kernel_arguments(image.kernel(name), job.arguments);
  return job;
}

}  // namespace lanescope::cli
