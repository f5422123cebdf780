// How long advice takes for a launch with 10,000 distinct warp accesses to an array: the recorded accesses of
// a kernel on random data → what is advised, the source read and the changes written. To be under a second.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "advise/advise.hpp"
#include "base/files.hpp"
#include "exec/launch.hpp"
#include "exec/memory.hpp"
#include "lanescope/model/archs.hpp"
#include "profile/collector.hpp"
#include "ptx/module.hpp"

namespace lanescope {
namespace {

const std::string folder = std::string(LANESCOPE_SOURCE_DIR) + "/";

/// A launch whose accesses were all recorded: of a kernel that gets buffers of random numbers and how many of
/// them each thread takes.
struct Recorded {
  Recorded(const std::string& file, const std::string& name, uint32_t blocks, uint32_t threads, uint32_t each)
      : path(folder + file) {
    module = std::make_shared<ptx::Module>(ptx::parse(read_file(path), path));
    image = std::make_unique<exec::Image>(module, memory);
    kernel = &image->kernel(name);

    const uint64_t elements = uint64_t{blocks} * threads * each, bytes = elements * 4;
    std::vector<uint32_t> random(elements);
    std::mt19937 generator(1);
    for (uint32_t& value : random) value = static_cast<uint32_t>(generator()) % threads;
    config.grid = {blocks, 1, 1};
    config.block = {threads, 1, 1};
    config.params.resize(kernel->param_bytes);
    for (size_t i = 0; i < kernel->params.size(); ++i) {
      std::byte* parameter = config.params.data() + kernel->params[i].offset;
      if (i + 1 == kernel->params.size()) {
        std::memcpy(parameter, &each, sizeof each);
        continue;
      }
      const uint64_t buffer = memory.allocate(bytes);
      std::memcpy(reinterpret_cast<void*>(buffer), random.data(), bytes);
      std::memcpy(parameter, &buffer, sizeof buffer);
    }
    profile::Collectors collectors(arch, static_cast<uint32_t>(kernel->accesses.size()),
                                   profile::RecordBlocks::all, nullptr);
    config.observer = [&](uint32_t host_thread) { return collectors.of(host_thread); };
    (void)image->launch(*kernel, config);
    profile = collectors.merged();
  }

  const model::Arch& arch = *model::find_arch("sm_90");
  std::string path;
  exec::Memory memory;
  std::shared_ptr<const ptx::Module> module;
  std::unique_ptr<exec::Image> image;
  const exec::Kernel* kernel = nullptr;
  exec::LaunchConfig config;
  profile::Profile profile;
};

void advise(benchmark::State& state, const Recorded& launch) {
  size_t advice = 0;
  for (auto _ : state) {
    advise::Sources sources(launch.path);
    advice = advise::advise({launch.arch, *launch.module, *launch.kernel, launch.config,
                             launch.kernel->static_shared, 0, launch.profile},
                            sources)
                 .size();
  }
  state.counters["patterns"] = static_cast<double>(launch.profile.recording.accesses.size());
  state.counters["advice"] = static_cast<double>(advice);
}

/// 256 counters of a block, counted up by atomics for random numbers.
void random_atomics(benchmark::State& state) {
  static const Recorded launch("tests/data/accuracy/histogram.ptx", "histogram_block", 320, 256, 4);
  advise(state, launch);
}
/// 32 rows of 64 counters, one row a thread, counters by random numbers.
void random_counters(benchmark::State& state) {
  static const Recorded launch("tests/data/cures/histogram.ptx", "histogram", 160, 32, 32);
  advise(state, launch);
}
BENCHMARK(random_atomics)->Unit(benchmark::kMillisecond);
BENCHMARK(random_counters)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lanescope
