// `lanescope probe`: finds out a GPU's shared-memory rules from latencies, or from latencies recorded
// earlier.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/files.hpp"
#include "cli/arch_options.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "gpu/driver.hpp"
#include "probe/gpu_timer.hpp"
#include "probe/infer.hpp"
#include "probe/record.hpp"
#include "probe/words.hpp"
#include "profile/arch_by_name.hpp"

namespace lanescope::cli {
namespace {

struct ProbeOptions {
  std::string json, compare, from;
  int device = 0;
  bool reasons = false, code = false;
};

struct Probed {
  probe::Chip chip;
  probe::Result result;
};

Probed probe_gpu(int index) {
  gpu::Device device(index);
  probe::GpuTimer timer(device);
  return {{device.name(), device.arch(), device.cuda_version()}, probe::probe(timer)};
}

Probed probe_record(const std::string& path) {
  const std::optional<std::string> text = read_if_readable(path);
  if (!text) throw Error(SourcePlace{path}, std::string("cannot open: ") + std::strerror(errno));
  probe::Record record = probe::read_record(*text, path);
  probe::Recorded timer(record.lanes, std::move(record.measurements));
  return {record.chip, probe::probe(timer)};
}

int run_probe(const ProbeOptions& options) {
  std::optional<model::Arch> preset;
  if (!options.compare.empty()) preset = profile::arch_by_name(options.compare);
  check_output(options.json);
  const Probed probed = options.from.empty() ? probe_gpu(options.device) : probe_record(options.from);
  if (!preset)
    if (const model::Arch* own = model::find_arch(probed.chip.arch)) preset = *own;
  std::cout << probe::to_table(probed.chip, probed.result, preset ? &*preset : nullptr, options.reasons);
  if (!preset) std::cout << "There is no preset for " << probed.chip.arch << ".\n";
  if (options.code) std::cout << probe::to_code(probed.chip, probed.result);
  if (!options.json.empty()) write_output(options.json, probe::to_json(probed.chip, probed.result));
  if (options.compare.empty()) return done;
  const probe::Comparison comparison = probe::compare(probed.result, *preset);
  return comparison.different != 0 || comparison.equal == 0 ? limit_passed : done;
}

}  // namespace

void add_probe_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("probe", "find out a GPU's shared-memory rules from latencies");
  const auto options = std::make_shared<ProbeOptions>();
  command->add_option("--device", options->device, "GPU, counted from 0 (default)")->type_name("N");
  command->add_option("--from", options->from, "no GPU: the latencies that --json wrote into this file")
      ->type_name("FILE")
      ->excludes("--device");
  command
      ->add_option(
          "--compare", options->compare,
          "the architecture to compare with (default: the GPU's); exit status 1 when something differs, "
          "or nothing could be found out")
      ->type_name("NAME");
  command->add_option("--json", options->json, "write what was found and measured to FILE")
      ->type_name("FILE");
  command->add_flag("--reasons", options->reasons, "show the figures behind each parameter");
  command->add_flag("--code", options->code,
                    "show the description as C++ for the model's list of architectures");
  command->footer(
      "One warp repeats accesses and reads the clock; no preset, profiler or permission is used. What each "
      "experiment does:\n"
      "docs/probe.md. The file of --json can be contributed for a chip that has no preset.\n"
      "Example:\n"
      "  lanescope probe --reasons --json chip.json\n"
      "  lanescope probe --from chip.json --compare sm_90");
  command->callback([options, &status] { status = run_probe(*options); });
}

}  // namespace lanescope::cli
