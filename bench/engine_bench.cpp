// Warp instructions per second of the engine on one host thread, with and without counting, beside a bound of
// the same run: the same handlers called one after another on registers in the first-level cache, which is
// all that running costs if memory accesses, branches and barriers were as cheap as an addition.
//   (a) transpose of 2048 x 2048 floats through tile[32][33], blocks of 32 x 8
//   (b) interleaved reduction of 2^22 floats, blocks of 256
// And what each check of `--check` costs: runs without counting, with one check, and with all.
// Items per second are PTX warp instructions per second of processor time.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>

#include "base/files.hpp"
#include "exec/handlers.hpp"
#include "exec/launch.hpp"
#include "exec/warp.hpp"
#include "lanescope/model/model.hpp"
#include "profile/collector.hpp"

namespace lanescope {
namespace {

struct Run {
  const char* file;
  const char* kernel;
  exec::Dim3 grid, block;
  uint64_t words;
  bool transpose;
};
const Run transpose{"transpose.ptx", "transpose_tile33", {64, 64, 1}, {32, 8, 1}, 1u << 22, true};
const Run reduction{"reduce.ptx", "reduce_interleaved", {16384, 1, 1}, {256, 1, 1}, 1u << 22, false};

void run(benchmark::State& state, const Run& what, bool counting, const exec::Checks& checks = {}) {
  std::string text = read_file(std::string(LANESCOPE_SOURCE_DIR "/kernels/ptx/") + what.file);
  exec::Memory memory;
  exec::Image image(std::make_shared<ptx::Module>(ptx::parse(std::move(text), what.file)), memory);
  const exec::Kernel& kernel = image.kernel(what.kernel);
  const uint64_t in = memory.allocate(what.words * 4), out = memory.allocate(what.words * 4);
  auto* values = reinterpret_cast<float*>(in);
  for (uint64_t i = 0; i < what.words; ++i) values[i] = static_cast<float>(i % 7);

  exec::LaunchConfig config;
  config.grid = what.grid;
  config.block = what.block;
  config.threads = 1;
  config.checks = checks;
  config.params.resize(kernel.param_bytes);
  auto put = [&](size_t i, auto value) {
    std::memcpy(config.params.data() + kernel.params[i].offset, &value, sizeof value);
  };
  if (what.transpose) {
    put(0, out), put(1, in), put(2, uint32_t{2048}), put(3, uint32_t{2048});
  } else {
    put(0, in), put(1, out), put(2, uint32_t{1u << 22});
  }
  uint64_t instructions = 0;
  for (auto _ : state) {
    profile::Collectors collectors(*model::find_arch("sm_90"), static_cast<uint32_t>(kernel.accesses.size()));
    if (counting) config.observer = [&](uint32_t thread) { return collectors.of(thread); };
    const exec::LaunchResult result = image.launch(kernel, config);
    if (result.failed) state.SkipWithError("the kernel failed");
    instructions += result.warp_instructions;
    if (counting) benchmark::DoNotOptimize(collectors.merged());
  }
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
}

/// The bound: a chain of 32-bit additions over 32 lanes, one handler call each.
void handlers_alone(benchmark::State& state) {
  exec::HandlerKey key;
  key.op = ptx::Op::add;
  key.types[0] = ptx::Type::u32;
  const exec::Handler add = exec::host_handlers().select(key);
  alignas(64) static std::byte registers[16 * 128];
  exec::Warp warp;
  warp.regs = registers;
  warp.mask = warp.active = exec::full_mask;
  std::vector<exec::Inst> code(1024);
  for (size_t i = 0; i < code.size(); ++i) {
    code[i].fn = add;
    code[i].d = static_cast<uint32_t>(i % 16) * 128;
    code[i].a = static_cast<uint32_t>((i + 5) % 16) * 128;
    code[i].b = static_cast<uint32_t>((i + 11) % 16) * 128;
  }
  for (auto _ : state) {
    const exec::Inst *in = code.data(), *end = in + code.size();
    while (in != end) in = in->fn(warp, in);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * code.size()));
}

BENCHMARK(handlers_alone);
BENCHMARK_CAPTURE(run, transpose_counting, transpose, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, transpose_plain, transpose, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, reduction_counting, reduction, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, reduction_plain, reduction, false)->Unit(benchmark::kMillisecond);

constexpr exec::Checks race{.race = true}, global{.global = true}, init{.init = true},
    barrier{.barrier = true}, all{.race = true, .init = true, .barrier = true};
BENCHMARK_CAPTURE(run, transpose_race, transpose, false, race)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, transpose_global, transpose, false, global)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, transpose_init, transpose, false, init)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, transpose_barrier, transpose, false, barrier)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, transpose_all_checks, transpose, false, all)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, reduction_race, reduction, false, race)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, reduction_global, reduction, false, global)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, reduction_init, reduction, false, init)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, reduction_barrier, reduction, false, barrier)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, reduction_all_checks, reduction, false, all)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lanescope
