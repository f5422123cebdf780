// The suites of bench/gpu on the engine, from committed PTX: whole reductions of the published sizes, and
// transposes. Results are right, and shared memory costs what docs/results.md says. (The library's transpose
// in those tables: transpose_library_test.cpp. The programs themselves run on the engine where nvcc is found:
// tests/gpu.)
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/engine.hpp"
#include "kernels/reference.hpp"
#include "kernels/results_tables.hpp"

namespace lanescope::kernels {
namespace {

uint64_t wavefronts_of(const Outcome& run) {
  EXPECT_FALSE(run.result.failed);
  const profile::Totals totals = profile::totals(run.profile);
  return totals.shared_load.wavefronts + totals.shared_store.wavefronts;
}

/// Sums 2^log_n floats by each step of kernels/reduce.cu, in passes of blocks of `block` threads to one
/// number.
void reduce(uint32_t log_n, uint32_t block) {
  const uint32_t n = 1U << log_n;
  // Few enough ones that every sum of them is a float.
  std::vector<float> values(n);
  uint32_t sum = 0;
  for (uint32_t i = 0; i < n; ++i)
    if (reference::hash(i) % 4 == 0) sum += static_cast<uint32_t>(values[i] = 1);
  Program program("kernels/ptx/reduce.ptx");
  const uint64_t in = program.resident(values);
  const uint64_t partial[] = {program.resident(std::vector<float>(n / block)),
                              program.resident(std::vector<float>(n / block))};

  const auto table = wavefronts_in_results("2^" + std::to_string(log_n) + " floats, blocks of " +
                                           std::to_string(block) + ".");
  EXPECT_EQ(table.size(), 5U);
  for (const auto& [step, expected] : table) {
    SCOPED_TRACE(step);
    const std::string kernel = "reduce_" + step + (block == 512 ? "_512" : "");
    const uint32_t piece = step == "first_add" || step == "shuffle" ? 2 * block : block;
    uint64_t from = in, wavefronts = 0;
    for (uint32_t left = n, pass = 0; left > 1; ++pass) {
      const uint32_t grid = (left + piece - 1) / piece;
      const uint64_t to = partial[pass % 2];
      const Case c{"reduce", kernel, "", {grid}, {block}, 0, {scalar(from), scalar(to), scalar(left)}, {}};
      wavefronts += wavefronts_of(run_kernel(program, c, model::find_arch("sm_90")));
      from = to;
      left = grid;
    }
    EXPECT_EQ(wavefronts, expected);
    EXPECT_EQ(*reinterpret_cast<const float*>(from), static_cast<float>(sum));
  }
}

TEST(PublishedSuites, Reductions) {
  reduce(24, 512);
  reduce(25, 256);
}

/// Of all tiles the same: a smaller matrix says what a large one costs.
TEST(PublishedSuites, Transposes) {
  constexpr uint32_t n = 1024;
  std::vector<float> values(n * n), transposed(n * n);
  for (uint32_t i = 0; i < n * n; ++i) values[i] = static_cast<float>(i);
  for (uint32_t i = 0; i < n * n; ++i) transposed[i % n * n + i / n] = values[i];
  Program program("kernels/ptx/transpose.ptx");
  const auto large = wavefronts_in_results("8192 x 8192 floats."),
             larger = wavefronts_in_results("16384 x 16384 floats.");
  int kernels = 0;
  for (const auto& [kernel, expected] : large) {
    if (kernel == "copy from device to device" || kernel == "lanescope::kernels::transpose") continue;
    SCOPED_TRACE(kernel);
    const Case c{"transpose",
                 kernel,
                 "",
                 {n / 32, n / 32},
                 {32, 8},
                 0,
                 {output(std::vector<float>(n * n), -1.0F), input(values), scalar(int{n}), scalar(int{n})},
                 {}};
    const Outcome run = run_kernel(program, c, model::find_arch("sm_90"));
    const uint64_t wavefronts = wavefronts_of(run);
    EXPECT_EQ(wavefronts * 64, expected);
    EXPECT_EQ(wavefronts * 256, larger.at(kernel));
    if (!kernel.ends_with("grained")) {  // those transpose only inside tiles, or only tiles
      EXPECT_TRUE(run.buffers[0] == bytes_of(kernel.starts_with("copy") ? values : transposed));
    }
    ++kernels;
  }
  EXPECT_EQ(kernels, 8);
}

}  // namespace
}  // namespace lanescope::kernels
