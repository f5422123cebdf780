// The commands of the program. Each lives in <name>_command.cpp, adds one subcommand to the parser, and
// leaves the exit status in `status` when the subcommand runs.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace lanescope::cli {

/// What the program's exit status says to scripts.
enum ExitStatus : int {
  done = 0,
  limit_passed = 1,    ///< a limit given with --fail-on was passed
  bad_input = 2,       ///< bad usage or bad input, or of the program something that cannot be run here
  program_failed = 3,  ///< the program under test failed
};

/// `lanescope run`: runs a CUDA program, or a kernel of a PTX file, and reports on its kernels line by line.
/// `program`: what stood behind "--" on the command line.
void add_run_command(CLI::App& app, std::vector<std::string> program, int& status);

/// `lanescope measure`: the same on the engine and on the GPU of this machine, side by side.
void add_measure_command(CLI::App& app, std::vector<std::string> program, int& status);

/// `lanescope replay`: the part of measure that uses the GPU, a process of its own.
void add_replay_command(CLI::App& app, int& status);

/// `lanescope fix`: changes the source of a CUDA program so that bank conflicts go, and proves it.
void add_fix_command(CLI::App& app, std::vector<std::string> program, int& status);

/// `lanescope view`: shows a saved report once more.
void add_view_command(CLI::App& app, int& status);

/// `lanescope diff`: what changed between two saved reports.
void add_diff_command(CLI::App& app, int& status);

/// `lanescope ncu`: the command line and the tables of Nsight Compute.
void add_ncu_command(CLI::App& app, std::vector<std::string> program, int& status);

/// `lanescope nvprof`: the command line and the tables of nvprof.
void add_nvprof_command(CLI::App& app, std::vector<std::string> program, int& status);

/// `lanescope explain`: what the accesses of a few lines of code cost.
void add_explain_command(CLI::App& app, int& status);

/// `lanescope probe`: finds out a GPU's shared-memory rules from latencies.
void add_probe_command(CLI::App& app, int& status);

/// `lanescope completion`: for bash, zsh and fish. `app`: with all its commands when it runs, as for
/// add_man_command.
void add_completion_command(CLI::App& app, int& status);

/// `lanescope man`: manual pages.
void add_man_command(CLI::App& app, int& status);

/// `lanescope model`: answers warp-wide requests given as CSV rows.
void add_model_command(CLI::App& app, int& status);

}  // namespace lanescope::cli
