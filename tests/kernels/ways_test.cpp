// How often the lanes of a warp go their ways together: requests beside the counters of an NVIDIA H100
// (driver 580, nvcc 13.0; l1tex__t_requests_pipe_lsu_mem_global_op_ld and _st,
// l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld, 25 November 2026), what the kernels compute there, and
// how often each place of kernels with random control flow was executed (random_ways.csv).
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/engine.hpp"

namespace lanescope::kernels {
namespace {

struct Counters {
  const char* kernel;
  uint64_t loads, stores, shared_loads;
  uint32_t checksum;  ///< of the words that it writes
};

constexpr Counters loops[] = {
    {"break_in_if", 198, 2, 0, 0x3786d293},        {"break_between", 576, 2, 0, 0x584f74ed},
    {"two_continues", 384, 2, 0, 0x920314c0},      {"return_in_if", 60, 2, 0, 0x9ba0f852},
    {"break_on_both_ways", 500, 2, 0, 0x9014118c}, {"goto_behind_all", 212, 2, 0, 0xa30b6832},
    {"break_of_inner", 488, 2, 0, 0xcf66ec0f},     {"inner_whiles", 1472, 2, 0, 0x1983f97d},
    {"find_by_hash", 23, 2, 0, 0xc8a13a3a},        {"walk_with_stack", 70, 2, 0, 0xd7069ae0},
    {"goto_from_switch", 463, 2, 0, 0x26a51825},   {"break_and_continue_in_shared", 16, 2, 800, 0x46e9c6b3},
};

constexpr Counters ways[] = {
    {"return_early", 10, 4, 0, 0x2c28bafd},    {"inlined_returns", 14, 2, 0, 0x1f6e95db},
    {"goto_over", 12, 2, 0, 0xb5e64e97},       {"and_or", 26, 2, 0, 0xc9137746},
    {"fall_through", 22, 2, 0, 0x7125baf5},    {"else_ifs", 20, 6, 0, 0x66439866},
    {"loop_then_ways", 168, 2, 0, 0x315f6ee4}, {"for_with_found", 192, 2, 0, 0x85f31890},
    {"while_two_exits", 94, 2, 0, 0x9a3b804b}, {"do_in_for", 262, 2, 0, 0x752d131c},
    {"calls", 156, 2, 0, 0x86f4b064},
};

// H200, 28 November 2026. Without what is known of unrolled loops it would be the same in 18.
constexpr Counters unrolled[] = {
    {"sum_of_own_row", 84, 2, 0, 0x45aca926},
    {"sparse_row", 126, 2, 0, 0x94d255a8},
    {"not_unrolled_by_the_compiler", 44, 2, 0, 0x35743607},
    {"one_third", 54, 2, 0, 0x068a7661},
    {"two", 64, 2, 0, 0xa915cfa8},
    {"stride_of_block", 12, 2, 0, 0x4cd40188},
    {"stride_of_block_as_told", 9, 2, 0, 0x4cd40188},
    {"down", 124, 2, 0, 0x369446b1},
    {"down_by_seven", 64, 2, 0, 0x7d3ede8e},
    {"without_sign", 36, 2, 0, 0xe13fa5e0},
    {"of_64_bits", 76, 2, 0, 0x04b374ea},
    {"pointer", 64, 2, 0, 0x2cadd7ea},
    {"largest", 24, 2, 0, 0xcfdeb710},
    {"inner", 160, 2, 0, 0x0e6519ae},
    {"triangle", 126, 2, 0, 0x7642dabc},
    {"behind_a_branch", 146, 2, 0, 0x1bc597af},
    {"stores", 38, 36, 0, 0x8c8de7d1},
    {"of_shared_memory", 18, 2, 105, 0xf02a0326},
    {"of_shared_memory_one_by_one", 18, 2, 95, 0x3a163e77},
    {"with_a_choice", 166, 2, 0, 0x5bea23ec},
    {"long_body", 53, 2, 0, 0x3f12026d},
    {"left_by_break", 115, 2, 0, 0xc0e2534a},
    {"divided", 56, 2, 0, 0x3f16f099},
    {"two_in_a_row", 106, 2, 0, 0xef70a1fe},
};

void compare(const std::string& file, std::span<const Counters> measured) {
  constexpr uint32_t threads = 64;
  std::vector<int32_t> a(512);
  uint32_t random = 7;
  for (int32_t& value : a) {
    random = random * 1664525u + 1013904223u;
    value = static_cast<int32_t>(random >> 16 & 127);
  }
  Program program("tests/data/kernels/" + file);
  for (const Counters& m : measured) {
    const Case c{"loops", m.kernel, "", {1}, {threads}, 0, {input(a), recorded(Bytes(4 * threads))}, {}};
    const Outcome run = run_kernel(program, c, &sm_90(), 1, profile::RecordBlocks::none, {}, true);
    const profile::Totals totals = profile::totals(run.profile);
    EXPECT_EQ(totals.global_load.requests, m.loads) << m.kernel;
    EXPECT_EQ(totals.global_store.requests, m.stores) << m.kernel;
    EXPECT_EQ(totals.shared_load.wavefronts, m.shared_loads) << m.kernel;
    uint32_t checksum = 0;
    for (uint32_t t = 0; t < threads; ++t) {
      uint32_t word = 0;
      std::memcpy(&word, run.buffers.at(1).data() + 4 * t, 4);
      checksum = checksum * 31 + word;
    }
    EXPECT_EQ(checksum, m.checksum) << m.kernel;
  }
}

TEST(Ways, ThroughLoopsAreGoneTogetherAsOnAnH100) { compare("loops.ptx", loops); }
TEST(Ways, ThatPartMeetAsOnAnH100) { compare("ways.ptx", ways); }

TEST(Ways, ThroughUnrolledLoopsAreGoneTogetherAsOnAnH200) { compare("unrolled.ptx", unrolled); }

/// A place of a random kernel, and how often it is executed.
using Executions = std::map<std::pair<std::string, size_t>, uint64_t>;

Executions of_random_ways_on_an_h100() {
  std::ifstream file(LANESCOPE_SOURCE_DIR "/tests/data/kernels/random_ways.csv");
  Executions all;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream row(line);
    std::string kernel, count;
    std::getline(row, kernel, ',');
    for (size_t place = 0; std::getline(row, count, ','); ++place) all[{kernel, place}] = std::stoull(count);
  }
  return all;
}

TEST(Ways, ThatAreRandomAreGoneTogetherAsOnAnH100) {
  // The only one that differs, and what is counted here: lanes leave a loop for code of their own, some
  // together.
  const Executions differ{{{"way40", 3}, 4}};
  const Executions measured = of_random_ways_on_an_h100();
  ASSERT_EQ(measured.size(), 584u);
  constexpr uint32_t lanes = 32, places = 17;
  constexpr uint64_t whole = 144403552893600;  // the least that all numbers of lanes divide
  std::vector<uint32_t> in(lanes);
  for (uint32_t t = 0; t < lanes; ++t) in[t] = (t + 1) * 2654435761u;
  std::vector<uint64_t> shares(lanes + 1);
  for (uint32_t n = 1; n <= lanes; ++n) shares[n] = whole / n;
  Program program("tests/data/kernels/random_ways.ptx");
  std::vector<uint64_t> sums;
  std::string kernel;
  for (const auto& [at, count] : measured) {
    if (at.first != kernel) {
      kernel = at.first;
      const Case c{"random_ways",
                   kernel,
                   "",
                   {1},
                   {lanes},
                   0,
                   {input(in), recorded(Bytes(8 * places * lanes)), input(shares)},
                   {}};
      const Outcome run = run_kernel(program, c, &sm_90(), 1, profile::RecordBlocks::none, {}, true);
      std::vector<uint64_t> words(places * lanes);
      std::memcpy(words.data(), run.buffers.at(1).data(), 8 * words.size());
      sums.assign(places, 0);
      for (size_t i = 0; i < words.size(); ++i) sums[i / lanes] += words[i];
    }
    const auto other = differ.find(at);
    const uint64_t expected = other == differ.end() ? count : other->second;
    EXPECT_EQ(sums[at.second] % whole, 0u);
    EXPECT_EQ(sums[at.second] / whole, expected) << kernel << ", place " << at.second;
  }
}

}  // namespace
}  // namespace lanescope::kernels
