// Every kernel of kernels/ and tests/data on the engine: results equal to the CPU's or the GPU's, costs as
// said.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kernels/engine.hpp"
#include "kernels/kernel_cases.hpp"
#include "kernels/program_cases.hpp"

namespace lanescope::kernels {
namespace {

BlockCost times(const BlockCost& cost, uint64_t n) {
  const auto scaled = [n](const SharedCost& c) {
    return SharedCost{n * c.requests, n * c.wavefronts, n * c.ideal};
  };
  return {scaled(cost.load), scaled(cost.store)};
}

void expect_results(const Case& c, const Outcome& run, const Recording& recording) {
  EXPECT_FALSE(run.result.failed);
  for (const exec::Finding& f : run.result.findings)
    ADD_FAILURE() << exec::name_of(f.kind) << " in block " << f.block << ", thread " << f.thread << ": "
                  << f.message;
  size_t next = 0;
  for (const Argument& a : c.arguments) {
    if (!a.is_buffer) continue;
    const Bytes& result = run.buffers[next++];
    std::string where;
    EXPECT_TRUE(matches(result, a.expected.empty() ? recording.at(c.label()) : a.expected, a.match, where))
        << where;
  }
}

struct Input {
  std::string name;  ///< of the test
  std::string program, ptx;
};
void PrintTo(const Input& input, std::ostream* out) { *out << input.ptx; }

class KernelResults : public testing::TestWithParam<Input> {};

TEST_P(KernelResults, EqualTheCpuAndCostWhatIsSaid) {
  Program program(GetParam().ptx);
  int done = 0;
  for (const Case& c : kernel_cases()) {
    if (c.program != GetParam().program) continue;
    SCOPED_TRACE(c.label());
    const Outcome run = run_kernel(program, c, &sm_90());
    expect_results(c, run, {});
    if (c.cost) {
      EXPECT_EQ(cost_of(run.profile), times(*c.cost, c.grid.count()));
    }
    ++done;
  }
  EXPECT_GT(done, 0);
}

TEST_P(KernelResults, DoNotDependOnHostThreadsOrCounting) {
  Program program(GetParam().ptx);
  for (const Case& c : kernel_cases()) {
    if (c.program != GetParam().program) continue;
    SCOPED_TRACE(c.label());
    const Outcome one = run_kernel(program, c, &sm_90(), 1);
    const Outcome three = run_kernel(program, c, &sm_90(), 3);
    EXPECT_EQ(one.buffers, three.buffers);
    EXPECT_EQ(one.result.warp_instructions, three.result.warp_instructions);
    EXPECT_EQ(profile::totals(one.profile).shared_load, profile::totals(three.profile).shared_load);
    EXPECT_EQ(profile::totals(one.profile).global_store, profile::totals(three.profile).global_store);
    EXPECT_EQ(one.buffers, run_kernel(program, c, nullptr).buffers);
  }
}

INSTANTIATE_TEST_SUITE_P(, KernelResults,
                         testing::Values(Input{"reduce", "reduce", "kernels/ptx/reduce.ptx"},
                                         Input{"transpose", "transpose", "kernels/ptx/transpose.ptx"},
                                         Input{"patterns", "patterns", "kernels/ptx/patterns.ptx"},
                                         Input{"tiles", "tiles", "kernels/ptx/tiles.ptx"}),
                         [](const auto& info) { return info.param.name; });

class ProgramResults : public testing::TestWithParam<Input> {};

TEST_P(ProgramResults, EqualTheGpu) {
  const Recording recording = read_recording(std::string(LANESCOPE_SOURCE_DIR) + "/tests/data/expected/" +
                                             GetParam().program + ".txt");
  Program program(GetParam().ptx);
  size_t done = 0;
  for (const Case& c : program_cases()) {
    if (c.program != GetParam().program) continue;
    SCOPED_TRACE(c.label());
    ++done;
    try {
      expect_results(c, run_kernel(program, c, &sm_90()), recording);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_EQ(done, recording.size());
}

std::vector<Input> programs() {
  std::map<std::string, bool> names;
  for (const Case& c : program_cases()) names[c.program] = true;
  std::vector<Input> inputs;
  for (const auto& [name, unused] : names) {
    inputs.push_back({name + "_sm_90", name, "tests/data/ptx/" + name + ".ptx"});
    inputs.push_back({name + "_sm_100", name, "tests/data/ptx/" + name + ".sm_100.ptx"});
  }
  return inputs;
}

INSTANTIATE_TEST_SUITE_P(, ProgramResults, testing::ValuesIn(programs()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lanescope::kernels
