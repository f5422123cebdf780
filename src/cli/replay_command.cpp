// `lanescope replay`: runs recorded launches on the GPU (replay/replay.hpp), for `lanescope measure`, whose
// own process has the engine's memory where the GPU's must be. Not shown in any list of commands.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "gpu/driver.hpp"
#include "replay/replay.hpp"

namespace lanescope::cli {
namespace {

struct ReplayOptions {
  std::vector<std::string> folders;
  std::string output;
  int device = 0;
  uint32_t once = 0;  ///< launches of each recording without any measurement; 0: measure
  replay::Options replay;
  int64_t limit = 60;
};

/// Under a profiler, which shall see the recorded kernels and nothing else.
void launch_only(gpu::Device& device, const ReplayOptions& options) {
  for (const std::string& folder : options.folders) {
    replay::Replayed replayed(device, folder);
    for (uint32_t i = 0; i < options.once; ++i) {
      replayed.launch();
      device.wait();
      replayed.restore();
    }
    device.wait();
  }
}

std::string text_of(const nlohmann::json& result) {
  return result.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int run(const ReplayOptions& options) {
  nlohmann::json result;
  try {
    gpu::Device device(options.device);
    if (options.once != 0) {
      launch_only(device, options);
      return done;
    }
    result["gpu"] = to_json(replay::describe(device));
    result["outcomes"] = nlohmann::json::array();
    for (const std::string& folder : options.folders) {
      const replay::Outcome outcome = replay::measure(device, folder, options.replay);
      result["outcomes"].push_back(to_json(outcome));
      if (!outcome.is_lost) continue;
      write_output(options.output, text_of(result));
      std::_Exit(done);
    }
  } catch (const gpu::GpuError& error) {
    if (options.once != 0) throw;
    result = {{"error", error.what()}};
  }
  write_output(options.output, text_of(result));
  return done;
}

}  // namespace

void add_replay_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("replay", "run recorded launches on a GPU, for `lanescope measure`");
  command->group("");
  const auto options = std::make_shared<ReplayOptions>();
  command->add_option("FOLDER", options->folders, "recordings; none: only describe the GPU");
  command->add_option("-o,--output", options->output, "write the result to FILE");
  command->add_option("--device", options->device, "the GPU, from 0");
  command->add_option("--once", options->once, "launch each recording N times, and measure nothing");
  command->add_option("--runs", options->replay.runs, "timed launches, at most");
  command->add_option("--tolerance", options->replay.f32_tolerance, "relative, of 32-bit numbers");
  command->add_option("--limit", options->limit, "seconds that a launch may take");
  command->callback([options, &status] {
    options->replay.limit = std::chrono::seconds(options->limit);
    status = run(*options);
  });
}

}  // namespace lanescope::cli
