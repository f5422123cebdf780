// What is to run and how: the options that `lanescope run` and `lanescope measure` have in common, and one
// kernel of a PTX file run as they say. (Programs: run_program.hpp.)
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "advise/sources.hpp"
#include "cli/arch_options.hpp"
#include "cli/kernel_arguments.hpp"
#include "cli/run_program.hpp"
#include "exec/launch.hpp"
#include "ptx/assembler.hpp"
#include "ptx/module.hpp"
#include "report/report.hpp"

namespace CLI {
class App;
}

namespace lanescope::cli {

/// Kernels of a PTX file, ready to run: everything has been checked.
struct KernelJob {
  std::shared_ptr<const ptx::Module> module;
  std::vector<std::string> kernels;
  model::Arch arch;
  exec::LaunchConfig config;
  std::vector<KernelArgument> arguments;
  uint64_t seed = 1;
  bool count = true;
  bool merge = true;
  ptx::Assembly assembly;  ///< empty unless --assemble
};

/// What a launch works on, for those who look at it before or after.
struct KernelLaunch {
  const exec::Image& image;
  const exec::Kernel& kernel;
  const exec::LaunchConfig& config;
  const KernelBuffers& buffers;
};

/// Runs one kernel on a device of its own: memory, variables and buffers are fresh.
[[nodiscard]] report::Launch run_kernel(
    const KernelJob& job, const std::string& name, advise::Sources& sources,
    const std::function<void(const KernelLaunch&)>& before,
    const std::function<void(const KernelLaunch&, const report::Launch&)>& after);

struct RunOptions {
  std::vector<std::string> files;
  std::vector<std::string> kernels;
  std::string grid, block, cluster;
  std::string shared = "0";
  std::vector<std::string> arguments;
  ArchOptions arch;
  uint32_t threads = 0;
  uint64_t seed = 1;
  bool no_merge = false;
  std::vector<std::string> program;  ///< and its arguments, after "--"
  uint64_t launch_skip = 0;
  uint64_t launch_count = UINT64_MAX;
  bool follow_children = false;

  /// This object must live until the parser has run.
  void add_to(CLI::App& command);
  /// The arguments' description, for the end of the help page.
  static const char* argument_help;

  [[nodiscard]] bool is_program() const { return !program.empty(); }
  /// What is run: the program's name, or the PTX file's.
  [[nodiscard]] const std::string& subject() const { return is_program() ? program.front() : files.front(); }
  /// Throws lanescope::Error unless there is one PTX file or one program, and only options that are for it.
  /// `command`: for messages.
  void check(std::string_view command) const;
  /// Throw lanescope::Error for what cannot run.
  [[nodiscard]] ProgramOptions program_options(std::string_view command, const model::Arch& on) const;
  [[nodiscard]] KernelJob kernel_job(std::string_view command, const model::Arch& on) const;
};

}  // namespace lanescope::cli
