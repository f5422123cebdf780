// The probe's kernels, run on the engine: they access what a pattern says, as often as they should.
#include "probe/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "lanescope/model/model.hpp"
#include "lanescope/run.hpp"
#include "probe/measure.hpp"

namespace lanescope::probe {
namespace {

std::string file_of(const Access& access) {
  std::string name = name_of(access);
  std::replace(name.begin(), name.end(), ' ', '_');
  const std::string path = testing::TempDir() + "probe_" + name + ".ptx";
  std::ofstream(path) << ptx_of(access);
  return path;
}

/// The engine's name of the access in its lines.
std::string op_of(const Access& access) {
  switch (access.op) {
    case model::Op::load: return "ld.shared";
    case model::Op::store: return "st.shared";
    case model::Op::compare_and_swap:
    case model::Op::update_loop:
    case model::Op::atomic: return "atom.shared";
    case model::Op::cp_async:
    case model::Op::cp_async_cg: return "cp.async.shared";
    case model::Op::ldmatrix: return "ldmatrix.shared";
    case model::Op::stmatrix: return "stmatrix.shared";
  }
  return "";
}

std::vector<Offsets> patterns_of(const Access& access) {
  const bool matrix = access.op == model::Op::ldmatrix || access.op == model::Op::stmatrix;
  std::vector<Offsets> patterns(4);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t width = static_cast<uint32_t>(access.width);
    patterns[0].push_back(lane * width);
    patterns[1].push_back(lane * 128);
    patterns[2].push_back(matrix || lane % 3 == 0 ? lane * lane % 7 * 256 + width : inactive);
    patterns[3].push_back(lane / 2 * 128);
  }
  return patterns;
}

uint64_t wavefronts_of(const Access& access, const Offsets& offsets) {
  const model::Request request = request_of(access, offsets);
  return static_cast<uint64_t>(model::shared_cost(*model::find_arch("sm_90"), request).wavefronts);
}

TEST(Kernels, AccessWhatThePatternSays) {
  constexpr uint32_t rounds = 3, passes = 2;
  for (const Access& access : all_accesses()) {
    if (access.space == Access::Space::global) continue;
    SCOPED_TRACE(name_of(access));
    const std::vector<Offsets> patterns = patterns_of(access);
    std::vector<uint32_t> table;
    uint64_t expected = 0;
    for (const Offsets& offsets : patterns) {
      table.insert(table.end(), offsets.begin(), offsets.end());
      expected += rounds * passes * chain_length * wavefronts_of(access, offsets);
    }
    const uint32_t count = static_cast<uint32_t>(patterns.size());
    std::vector<uint64_t> results(rounds * count);
    const std::vector<uint32_t> memory(8192);
    const Profile profile = run({.ptx = file_of(access), .kernel = kernel_name, .grid = {1}, .block = {32}},
                                table, results, count, rounds, memory);
    EXPECT_TRUE(profile.ok());
    EXPECT_TRUE(profile.findings().empty());
    uint64_t wavefronts = 0, requests = 0;
    for (const ProfileLine& line : profile.lines()) {
      // One line for each link of the unrolled chain; the loop that clears the memory comes here more often.
      if (line.op != op_of(access) || line.requests != rounds * count * passes * chain_length / 16) continue;
      wavefronts += line.wavefronts;
      requests += line.requests;
    }
    EXPECT_EQ(requests, uint64_t{rounds} * count * passes * chain_length);
    EXPECT_EQ(wavefronts, expected);
    for (const uint64_t cycles : results) EXPECT_GT(cycles, 0u);
  }
}

TEST(Kernels, EveryStepReadsTwoBytesOfGlobalMemory) {
  const Access access{Access::Space::global, model::Op::load, 1, 1};
  const std::vector<uint32_t> table = {0, 16, 0, 32};  // in one sector, in two
  std::vector<uint64_t> results(2);
  const std::vector<uint8_t> memory(size_t{global_steps + 1} * global_stride);
  const Profile profile = run({.ptx = file_of(access), .kernel = kernel_name, .grid = {1}, .block = {32}},
                              table, results, uint32_t{2}, uint32_t{1}, memory);
  EXPECT_TRUE(profile.ok());
  EXPECT_TRUE(profile.findings().empty());
  uint64_t requests = 0;
  for (const ProfileLine& line : profile.lines())
    if (line.op == "ld.global" && line.requests >= global_steps) {
      EXPECT_EQ(line.sectors, line.requests);  // all lanes at one byte
      requests += line.requests;
    }
  EXPECT_EQ(requests, 2u * 2 * 2 * global_steps);  // loads, patterns, passes
  for (const uint64_t cycles : results) EXPECT_GT(cycles, 0u);
}

}  // namespace
}  // namespace lanescope::probe
