// How many warp-wide accesses a second the model answers, one thread: what the engine pays for each new
// pattern.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

#include "lanescope/model/model.hpp"

namespace lanescope::model {
namespace {

constexpr int pattern_count = 32;  // few enough for the first-level cache: the model's time, not the memory's

std::vector<Request> strided_patterns(Op op, int width, uint64_t stride) {
  std::vector<Request> patterns;
  for (int i = 0; i < pattern_count; ++i)
    patterns.push_back(strided(op, width, static_cast<uint64_t>(i * width), stride));
  return patterns;
}

std::vector<Request> random_patterns(Op op, int width) {
  std::mt19937 random(1);
  std::vector<Request> patterns = strided_patterns(op, width, 0);
  for (Request& request : patterns)
    for (int lane = 0; lane < 32; ++lane)
      request.address[lane] =
          random() % (16384 / static_cast<unsigned>(width)) * static_cast<unsigned>(width);
  return patterns;
}

void shared(benchmark::State& state, const char* name, const std::vector<Request>& patterns) {
  const Arch arch = *find_arch(name);
  size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(shared_cost(arch, patterns[i++ % pattern_count]));
  state.SetItemsProcessed(state.iterations());
}

void global(benchmark::State& state, const char* name, const std::vector<Request>& patterns) {
  const Arch arch = *find_arch(name);
  size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(global_cost(arch, patterns[i++ % pattern_count]));
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(shared, load4_row, "sm_90", strided_patterns(Op::load, 4, 4));
BENCHMARK_CAPTURE(shared, load4_stride2, "sm_90", strided_patterns(Op::load, 4, 8));
BENCHMARK_CAPTURE(shared, load4_column, "sm_90", strided_patterns(Op::load, 4, 128));
BENCHMARK_CAPTURE(shared, load4_one_word, "sm_90", strided_patterns(Op::load, 4, 0));
BENCHMARK_CAPTURE(shared, load4_random, "sm_90", random_patterns(Op::load, 4));
BENCHMARK_CAPTURE(shared, store4_random, "sm_90", random_patterns(Op::store, 4));
BENCHMARK_CAPTURE(shared, load8_random, "sm_90", random_patterns(Op::load, 8));
BENCHMARK_CAPTURE(shared, load16_row, "sm_90", strided_patterns(Op::load, 16, 16));
BENCHMARK_CAPTURE(shared, load16_random, "sm_90", random_patterns(Op::load, 16));
BENCHMARK_CAPTURE(shared, store16_random, "sm_90", random_patterns(Op::store, 16));
BENCHMARK_CAPTURE(shared, atomic4_random, "sm_90", random_patterns(Op::atomic, 4));
BENCHMARK_CAPTURE(shared, update4_random, "sm_90", random_patterns(Op::update_loop, 4));
BENCHMARK_CAPTURE(shared, update4_one_word, "sm_90", strided_patterns(Op::update_loop, 4, 0));
BENCHMARK_CAPTURE(shared, update8_random, "sm_90", random_patterns(Op::update_loop, 8));
BENCHMARK_CAPTURE(shared, sm_35_load4_random, "sm_35", random_patterns(Op::load, 4));
BENCHMARK_CAPTURE(shared, sm_13_load4_random, "sm_13", random_patterns(Op::load, 4));
BENCHMARK_CAPTURE(global, load4_row, "sm_90", strided_patterns(Op::load, 4, 4));
BENCHMARK_CAPTURE(global, load4_column, "sm_90", strided_patterns(Op::load, 4, 4096));
BENCHMARK_CAPTURE(global, load4_random, "sm_90", random_patterns(Op::load, 4));

}  // namespace
}  // namespace lanescope::model
