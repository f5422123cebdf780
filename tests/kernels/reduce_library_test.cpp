// The kernels of include/lanescope/kernels/reduce.cuh on the engine, from committed PTX
// (tests/data/kernels/reduce_library.cu): results, findings of all checks, and what shared memory costs. The
// host's part of the library is tested where nvcc is found (tests/gpu).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/engine.hpp"
#include "kernels/reference.hpp"

namespace lanescope::kernels {
namespace {

constexpr uint32_t block = 512, warps = block / 32;

/// As in reduce.cuh.
struct Pieces {
  uint64_t segments, length, piece, in_segment;
};
struct Nothing {};
struct Place {
  float value;
  uint64_t index;
};
struct Digits {
  uint32_t value, weight;
};

/// The mangled names of kernels that begin so, in reduce_detail.
std::string name_of(const std::string& end) { return "_ZN9lanescope7kernels13reduce_detail" + end; }
const std::string block_sums =
    name_of("13reduce_piecesILi512ELb1ENS1_7AsValueEffNS0_3SumEEEvPT3_PKT2_NS1_6PiecesEbS5_T4_");
const std::string result_sums =
    name_of("13reduce_piecesILi512ELb0ENS1_7AsValueEffNS0_3SumEEEvPT3_PKT2_NS1_6PiecesEbS5_T4_");
const std::string block_places = name_of(
    "13reduce_piecesILi512ELb1ENS1_9WithIndexEfNS0_7IndexedIfEENS1_10ArgExtremeILb1EEEEEvPT3_PKT2_NS1_"
    "6PiecesEbS8_T4_");
const std::string block_digits = name_of(
    "13reduce_piecesILi512ELb1ENS1_7AsValueENS1_11Concatenate6DigitsES5_S4_EEvPT3_PKT2_NS1_6PiecesEbS6_T4_");
const std::string lane_sums =
    name_of("13reduce_piecesILi8ELb1ENS1_7AsValueEffNS0_3SumEEEvPT3_PKT2_NS1_6PiecesEbS5_T4_");
const std::string short_sums = name_of(
    "21reduce_short_segmentsILi8ENS1_7AsValueEffNS0_3SumEiEEvPT2_PKT1_NS0_8SegmentsIT4_EEmNS1_"
    "5TasksIS5_EEbS5_T3_");
const std::string long_sums = name_of(
    "20reduce_long_segmentsINS1_7AsValueEffNS0_3SumEiEEvPT1_PKT0_NS0_8SegmentsIT3_EENS1_5TasksIS5_EEbS5_T2_");

/// Shared memory of blocks that fold values of `words` words, one for each warp: no access has a conflict. Of
/// words that are padding the compiler leaves out the loads.
BlockCost fold_cost(uint64_t blocks, uint64_t words, uint64_t padding = 0) {
  const uint64_t loads = blocks * (words - padding), stores = blocks * words * warps;
  return {{loads, loads, loads}, {stores, stores, stores}};
}

class ReduceLibrary : public testing::Test {
 protected:
  /// Runs with all checks and counts; a finding fails the test.
  Outcome run(const std::string& kernel, uint32_t grid, std::vector<Argument> arguments) {
    Case c;
    c.kernel = kernel;
    c.grid = {grid};
    c.block = {block};
    c.arguments = std::move(arguments);
    exec::Checks checks;
    checks.race = checks.init = checks.barrier = true;
    Outcome outcome =
        run_kernel(program_, c, model::find_arch("sm_90"), 0, profile::RecordBlocks::none, checks);
    EXPECT_FALSE(outcome.result.failed);
    for (const exec::Finding& f : outcome.result.findings)
      ADD_FAILURE() << exec::name_of(f.kind) << " in block " << f.block << ", thread " << f.thread << ": "
                    << f.message;
    return outcome;
  }
  template <class T>
  static std::vector<T> values(const Bytes& bytes) {
    std::vector<T> result(bytes.size() / sizeof(T));
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
  /// A copy of `contents` in device memory that lasts as long as the program.
  Program program_{"tests/data/kernels/reduce_library.ptx"};
};

/// Small integers, so that sums are exact in any order.
std::vector<float> small_integers(size_t n) {
  std::vector<float> result(n);
  for (size_t i = 0; i < n; ++i)
    result[i] = static_cast<float>(reference::hash(static_cast<uint32_t>(i)) % 64);
  return result;
}
float sum_of(const std::vector<float>& in, size_t begin, size_t end) {
  float sum = 0;
  for (size_t i = begin; i < end; ++i) sum += in[i];
  return sum;
}

TEST_F(ReduceLibrary, SumsAnArrayInPiecesWhateverTheGrid) {
  constexpr uint64_t n = 50'003, piece = 8192, pieces = 7;
  const auto in = small_integers(n);
  std::vector<float> expected;
  for (uint64_t begin = 0; begin < n; begin += piece)
    expected.push_back(sum_of(in, begin, std::min(n, begin + piece)));
  ASSERT_EQ(expected.size(), pieces);
  for (const uint32_t grid : {7u, 3u, 1u}) {
    const Outcome first = run(block_sums, grid,
                              {output(expected, -1.0f), input(in), scalar(Pieces{1, n, piece, pieces}),
                               scalar(true), scalar(0.0f), scalar(Nothing{})});
    EXPECT_EQ(values<float>(first.buffers.at(0)), expected);
    EXPECT_EQ(cost_of(first.profile), fold_cost(pieces, 1));
  }
  const Outcome second =
      run(result_sums, 1,
          {output(std::vector<float>(1), -1.0f), input(expected), scalar(Pieces{1, pieces, pieces, 1}),
           scalar(true), scalar(0.0f), scalar(Nothing{})});
  EXPECT_EQ(values<float>(second.buffers.at(0)).at(0), sum_of(in, 0, n));
  EXPECT_EQ(cost_of(second.profile), fold_cost(1, 1));
}

TEST_F(ReduceLibrary, ReadsEverySectorOnceAndAsAWhole) {
  constexpr uint64_t n = 4 * 8192;
  const Outcome all = run(block_sums, 4,
                          {output(std::vector<float>(4), -1.0f), input(small_integers(n)),
                           scalar(Pieces{1, n, 8192, 4}), scalar(true), scalar(0.0f), scalar(Nothing{})});
  const profile::Counters loads = profile::totals(all.profile).global_load;
  EXPECT_EQ(loads.requests, n / (32 * 4));
  EXPECT_EQ(loads.sectors, n * sizeof(float) / 32);
  EXPECT_EQ(loads.ideal_sectors, loads.sectors);
}

TEST_F(ReduceLibrary, FindsTheLowestIndexOfTheMinimum) {
  auto in = small_integers(20'000);
  in[777] = in[13'000] = -3;
  const auto place = [&](const std::vector<float>& of) {
    const Outcome all =
        run(block_places, 1,
            {recorded(Bytes(sizeof(Place))), input(of), scalar(Pieces{1, of.size(), of.size(), 1}),
             scalar(true), scalar(Place{INFINITY, ~uint64_t{0}}), scalar(Nothing{})});
    EXPECT_EQ(cost_of(all.profile), fold_cost(1, sizeof(Place) / 4, 1));
    return values<Place>(all.buffers.at(0)).at(0);
  };
  EXPECT_EQ(place(in).index, 777);
  EXPECT_EQ(place(in).value, -3);
  in[15'001] = in[19'999] = NAN;
  EXPECT_EQ(place(in).index, 15'001);
  EXPECT_TRUE(std::isnan(place(in).value));
  EXPECT_EQ(place({}).index, ~uint64_t{0});
}

TEST_F(ReduceLibrary, KeepsTheOrderForFunctorsThatDoNotCommute) {
  constexpr uint64_t n = 9'001;
  std::vector<Digits> in(n);
  Digits expected{0, 1};
  for (uint32_t i = 0; i < n; ++i) {
    in[i] = {reference::hash(i) % 8, 8 + 2 * (i % 2)};
    expected = {expected.value * in[i].weight + in[i].value, expected.weight * in[i].weight};
  }
  const Outcome all = run(block_digits, 1,
                          {recorded(Bytes(sizeof(Digits))), input(in), scalar(Pieces{1, n, n, 1}),
                           scalar(true), scalar(Digits{0, 1}), scalar(Nothing{})});
  const Digits got = values<Digits>(all.buffers.at(0)).at(0);
  EXPECT_EQ(got.value, expected.value);
  EXPECT_EQ(got.weight, expected.weight);
  EXPECT_EQ(cost_of(all.profile), fold_cost(1, 2));
}

TEST_F(ReduceLibrary, SumsShortSegmentsWithoutSharedMemory) {
  constexpr uint64_t segments = 131, length = 37;
  const auto in = small_integers(segments * length);
  const Outcome all =
      run(lane_sums, 3,
          {output(std::vector<float>(segments), -1.0f), input(in),
           scalar(Pieces{segments, length, length, 1}), scalar(true), scalar(0.0f), scalar(Nothing{})});
  const auto sums = values<float>(all.buffers.at(0));
  for (uint64_t s = 0; s < segments; ++s) EXPECT_EQ(sums[s], sum_of(in, s * length, (s + 1) * length)) << s;
  EXPECT_EQ(cost_of(all.profile), BlockCost{});
}

TEST_F(ReduceLibrary, SumsSegmentsOfAnyLengthsTheLongOnesInPieces) {
  struct Segments {
    uint64_t offsets, segments, elements;
  };
  struct Task {
    uint64_t segment, base;
    uint32_t pieces, done;
  };
  struct Tasks {
    uint64_t count, task, result, most;
  };
  std::vector<int> offsets{0};
  for (const int length : {3, 0, 2048, 2049, 1, 100'000, 7, 0, 20'000})
    offsets.push_back(offsets.back() + length);
  const auto in = small_integers(static_cast<size_t>(offsets.back()));
  const Segments segments{program_.resident(offsets), offsets.size() - 1, in.size()};
  constexpr uint64_t most = 80;
  const std::vector<uint64_t> none{0};
  const Tasks tasks{program_.resident(none), program_.resident(std::vector<Task>(most)),
                    program_.resident(std::vector<float>(most)), most};
  const std::vector<float> before(segments.segments, -1.0f);
  const uint64_t out = program_.resident(before);
  constexpr uint64_t limit = 8 * 64 * 4;
  run(short_sums, 1,
      {scalar(out), input(in), scalar(segments), scalar(limit), scalar(tasks), scalar(true), scalar(0.0f),
       scalar(Nothing{})});
  // Pieces of 8,192 elements: 1 + 13 + 3.
  EXPECT_EQ(*reinterpret_cast<const uint64_t*>(tasks.count), 17);
  const Outcome second = run(long_sums, 2,
                             {scalar(out), input(in), scalar(segments), scalar(tasks), scalar(true),
                              scalar(0.0f), scalar(Nothing{})});
  EXPECT_EQ(cost_of(second.profile), BlockCost{});
  for (size_t s = 0; s < segments.segments; ++s)
    EXPECT_EQ(reinterpret_cast<const float*>(out)[s],
              sum_of(in, static_cast<size_t>(offsets[s]), static_cast<size_t>(offsets[s + 1])))
        << s;
}

}  // namespace
}  // namespace lanescope::kernels
