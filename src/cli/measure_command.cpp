// `lanescope measure`: runs kernels of a PTX file, or a CUDA program, as `lanescope run` does, and then the
// same launches on the GPU: results, times and hardware counters beside what the engine counted.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "advise/sources.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "cli/commands.hpp"
#include "cli/hardware_counters.hpp"
#include "cli/number_options.hpp"
#include "cli/output.hpp"
#include "cli/run_options.hpp"
#include "cli/run_program.hpp"
#include "cli/terminal.hpp"
#include "cli/trial.hpp"
#include "replay/describe.hpp"
#include "replay/recording.hpp"
#include "replay/replay.hpp"
#include "report/measurement.hpp"
#include "report/report.hpp"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct MeasureOptions {
  RunOptions run;
  std::string format = "text", output;
  int device = 0;
  uint32_t runs = 100, counter_runs = 5;
  uint32_t limit = 60;
  double tolerance = 1e-5;
  bool no_counters = false;
};

/// A launch that was recorded, and what the engine counted of it.
struct Recording {
  fs::path folder;
  report::Launch predicted;
};

/// What the engine ran.
struct EngineRun {
  std::vector<Recording> launches;
  std::vector<std::string> notes;
  int status = done;
};

/// Somebody wants this program to end while the engine runs, which knows nothing of that: recordings are
/// taken away.
class EndOnSignal {
 public:
  explicit EndOnSignal(const fs::path& recordings) {
    sigemptyset(&signals_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, number);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    thread_ = std::thread([this, recordings] {
      int number = 0;
      sigwait(&signals_, &number);
      if (has_ended_) return;
      std::error_code ignored;
      fs::remove_all(recordings, ignored);
      std::_Exit(128 + number);
    });
  }
  ~EndOnSignal() {
    has_ended_ = true;
    pthread_kill(thread_.native_handle(), SIGHUP);
    thread_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  EndOnSignal(const EndOnSignal&) = delete;
  EndOnSignal& operator=(const EndOnSignal&) = delete;

 private:
  sigset_t signals_{}, before_{};
  std::atomic<bool> has_ended_{false};
  std::thread thread_;
};

/// What `lanescope replay` says of the GPU and of these recordings. It is another process: see there.
json replay_on_gpu(const MeasureOptions& options, const ScratchFolder& scratch,
                   const std::vector<fs::path>& folders) {
  const fs::path result = scratch.path() / "result.json", output = scratch.path() / "output";
  std::error_code ignored;
  fs::remove(result, ignored);
  std::vector<std::string> command{fs::read_symlink("/proc/self/exe").string(),
                                   "replay",
                                   "--device",
                                   std::to_string(options.device),
                                   "--runs",
                                   std::to_string(options.runs),
                                   "--tolerance",
                                   fmt::format("{}", options.tolerance),
                                   "--limit",
                                   std::to_string(options.limit),
                                   "-o",
                                   result.string()};
  for (const fs::path& folder : folders) command.push_back(folder.string());
  const int status = run_to_file(command, output);
  json all = json::parse(read_if_readable(result).value_or(""), nullptr, false);
  if (all.is_discarded())
    return {{"error",
             fmt::format("the process that used the GPU ended with status {} and said nothing", status)}};
  return all;
}

replay::Outcome measured(const MeasureOptions& options, const ScratchFolder& scratch,
                         const fs::path& folder) {
  const json result = replay_on_gpu(options, scratch, {folder});
  if (!result.contains("error")) return replay::outcome_from_json(result.at("outcomes").at(0));
  replay::Outcome failed;
  failed.failure = result.at("error");
  return failed;
}

EngineRun run_kernels(const MeasureOptions& options, const model::Arch& arch, const fs::path& scratch) {
  const KernelJob job = options.run.kernel_job("measure", arch);
  advise::Sources sources(options.run.subject());
  const EndOnSignal end(scratch);
  EngineRun run;
  for (const std::string& name : job.kernels) {
    const fs::path folder = scratch / fmt::format("launch-{}", run.launches.size());
    std::optional<replay::Capture> capture;
    const auto before = [&](const KernelLaunch& launch) {
      replay::Recording recording =
          replay::describe(launch.image, launch.kernel, launch.config, {job.module->text});
      for (size_t i = 0; i < job.arguments.size(); ++i) {
        if (launch.buffers.address(i) == 0) continue;
        replay::Piece piece;
        piece.name = fmt::format("argument {}", i);
        piece.address = launch.buffers.address(i);
        piece.size = job.arguments[i].size;
        piece.element = ptx::name_of(job.arguments[i].type);
        recording.allocations.push_back(std::move(piece));
      }
      replay::look_for_addresses(recording, {});
      capture.emplace(folder, std::move(recording));
    };
    const auto after = [&](const KernelLaunch&, const report::Launch& reported) {
      capture->finish(reported.failed ? "it failed on the engine; 'lanescope run' says where" : "");
      if (reported.failed) run.status = program_failed;
    };
    report::Launch launch = run_kernel(job, name, sources, before, after);
    run.launches.push_back({folder, std::move(launch)});
  }
  return run;
}

EngineRun run_the_program(const MeasureOptions& options, const model::Arch& arch, const fs::path& scratch) {
  ProgramOptions program = options.run.program_options("measure", arch);
  program.recordings = scratch;
  // Otherwise the first launch of each kernel and shape is recorded, and counted.
  program.each_launch = options.run.launch_skip != 0 || options.run.launch_count != UINT64_MAX;
  ProgramRun ran = run_program(program);
  EngineRun run;
  run.status = status_after(ran, done);
  for (ProcessReport& process : ran.reports) {
    // The runtime says which recording belongs to each launch of its report.
    std::ifstream folders(scratch / (process.process + ".recordings"));
    for (report::Launch& launch : process.report.launches) {
      std::string folder;
      std::getline(folders, folder);
      if (!folder.empty()) run.launches.push_back({scratch / folder, std::move(launch)});
    }
    for (std::string& note : process.report.notes) run.notes.push_back(std::move(note));
  }
  return run;
}

int finish(const MeasureOptions& options, const report::Measurement& measurement) {
  report::TextOptions text;
  if (!is_file(options.output)) text = {output_width(), output_has_color()};
  write_output(options.output, options.format == "json" ? to_json(measurement) : to_text(measurement, text));
  const bool wrong =
      std::any_of(measurement.launches.begin(), measurement.launches.end(),
                  [](const report::MeasuredLaunch& launch) { return report::is_wrong(launch); });
  return wrong ? program_failed : done;
}

int measure(const MeasureOptions& options) {
  options.run.check("measure");
  if (options.format != "text" && options.format != "json")
    throw Error(fmt::format("--format: '{}' is no format (text, json)", options.format));
  if (options.runs == 0 || options.counter_runs == 0) throw Error("--runs and --counter-runs are at least 1");
  if (options.limit == 0) throw Error("--limit is at least 1");
  check_tolerance(options.tolerance);
  check_output(options.output);
  const ScratchFolder scratch;
  catch_interrupts();

  report::Measurement measurement;
  const json found = replay_on_gpu(options, scratch, {});
  if (found.contains("error")) throw Error(found.at("error").get<std::string>());
  measurement.gpu = replay::gpu_from_json(found.at("gpu"));
  const model::Arch arch = options.run.arch.resolve(measurement.gpu.arch);
  measurement.arch = arch.name;

  const EngineRun run = options.run.is_program() ? run_the_program(options, arch, scratch.path())
                                                 : run_kernels(options, arch, scratch.path());
  catch_interrupts();
  measurement.notes = run.notes;
  std::vector<Recorded> for_counters;
  std::vector<size_t> counted;  ///< index of their launches
  for (const Recording& recording : run.launches) {
    report::MeasuredLaunch launch;
    launch.predicted = recording.predicted;
    std::string kernel;
    try {
      const replay::Recording described = replay::read(recording.folder);
      kernel = described.kernel;
      launch.obstacle = described.obstacle;
    } catch (const Error&) {
      launch.obstacle = "the program ended before its recording was complete";
    }
    if (launch.obstacle.empty()) launch.outcome = measured(options, scratch, recording.folder);
    if (launch.obstacle.empty() && launch.outcome.failure.empty()) {
      for_counters.push_back({recording.folder, kernel});
      counted.push_back(measurement.launches.size());
    }
    measurement.launches.push_back(std::move(launch));
  }
  if (!options.no_counters) {
    HardwareCounters counters =
        read_counters(for_counters, report::measured_counters(measurement.launches), options.counter_runs,
                      options.device, std::chrono::seconds(options.limit), scratch.path());
    measurement.no_counters = counters.missing;
    if (!counters.unknown.empty())
      measurement.notes.push_back(fmt::format("ncu has no number of {}.", fmt::join(counters.unknown, ", ")));
    for (size_t i = 0; i < counted.size(); ++i)
      measurement.launches[counted[i]].counters = std::move(counters.launches[i]);
  }
  const int verdict = finish(options, measurement);
  return run.status != done ? run.status : verdict;
}

int run(const MeasureOptions& options) {
  try {
    return measure(options);
  } catch (const Interrupted& interrupted) {
    return 128 + interrupted.signal;
  }
}

}  // namespace

void add_measure_command(CLI::App& app, std::vector<std::string> program, int& status) {
  CLI::App* command =
      app.add_subcommand("measure",
                         "run a CUDA program (-- ./app args), or kernels of a PTX file, on the engine and on "
                         "this machine's GPU, and compare results, times and counters");
  const auto options = std::make_shared<MeasureOptions>();
  options->run.program = std::move(program);
  options->run.add_to(*command);
  command->get_option("--arch")->default_str("");  // as the GPU is
  command->add_option("--format", options->format, "text or json; text if not given")->type_name("FORMAT");
  command->add_option("-o,--output", options->output, "write the result to FILE")->type_name("FILE");
  command->add_option("--device", options->device, "the GPU, from 0")->type_name("N");
  add_count(*command, "--runs", options->runs, "timed launches of a kernel, at most (100 if not given)");
  add_count(
      *command, "--limit", options->limit,
      "seconds that a launch may take on the GPU, or in ncu, until it counts as hanging (60 if not given)");
  add_count(*command, "--counter-runs", options->counter_runs,
            "launches whose hardware counters are read (5 if not given)");
  command->add_flag("--no-counters", options->no_counters, "do not look for ncu: results and times only");
  command
      ->add_option("--tolerance", options->tolerance,
                   "relative difference at which 32-bit floating-point results still count as equal (1e-5 if "
                   "not given)")
      ->type_name("X");
  command->footer(
      std::string(RunOptions::argument_help) +
      "--arch is that of the GPU if not given. Of a program the first launch of each kernel, grid and block "
      "is measured;\n--launch-skip and --launch-count choose others.\n"
      "Exit status: 0 done, 2 bad usage or input, or no GPU, 3 a kernel failed or its results on the GPU are "
      "others. A program's\nown status, if it is not 0, is passed through.\n"
      "Example:\n"
      "  lanescope measure kernels/ptx/transpose.ptx --kernel transpose_tile32 --grid 64,64 --block 32,8 \\\n"
      "    --arg buf:16M --arg buf:16M=random --arg u32:2048 --arg u32:2048");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace lanescope::cli
