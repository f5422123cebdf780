// What must hold for every architecture, whatever its rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "lanescope/model/model.hpp"

namespace lanescope::model {
namespace {

/// All named architectures, both bank modes, and some free ones.
std::vector<Arch> all_archs() {
  std::vector<Arch> result(std::begin(archs), std::end(archs));
  for (const Arch& arch : archs)
    if (arch.has_bank_modes) result.push_back(with_bank_mode(arch, 8));
  for (const Broadcast broadcast : {Broadcast::none, Broadcast::one_word, Broadcast::many_words})
    for (const int banks : {1, 7, 16, 32, 128})
      for (const int bits : {8, 32, 64})
        for (const int unit : {5, 16, 32, 64}) result.push_back(custom_arch(banks, bits, unit, broadcast));
  return result;
}

/// But update loops: exhaustive_test.cpp.
constexpr Op all_ops[] = {Op::load,     Op::store,       Op::atomic,   Op::compare_and_swap,
                          Op::cp_async, Op::cp_async_cg, Op::ldmatrix, Op::stmatrix};

Request random_request(std::mt19937_64& random, const Arch& arch) {
  Request request;
  request.op = all_ops[random() % std::size(all_ops)];
  request.width = 1 << random() % 5;
  request.matrices = 1 << random() % 3;
  request.lanes = arch.warp_lanes;
  request.mask = (random() % 2 ? ~uint64_t{0} : random()) & detail::lane_range(0, arch.warp_lanes);
  const uint64_t items = 1 + random() % 600;
  const uint64_t stride = random() % 40;
  const bool regular = random() % 2;
  const uint64_t bytes = request.op == Op::ldmatrix || request.op == Op::stmatrix ? 16 : request.width;
  for (int lane = 0; lane < request.lanes; ++lane)
    request.address[lane] = (regular ? static_cast<uint64_t>(lane) * stride : random() % items) * bytes;
  return request;
}

template <class Check>
void for_random_requests(int each, Check check) {
  std::mt19937_64 random(1);
  for (const Arch& arch : all_archs())
    for (int i = 0; i < each; ++i) {
      check(random, arch, random_request(random, arch));
      if (testing::Test::HasFatalFailure()) return;
    }
}

/// The same lanes with a byte each, so that none reaches into a second line.
Request first_bytes(Request request) {
  request.width = 1;
  return request;
}

TEST(Properties, NumbersFitTogether) {
  for_random_requests(40, [](std::mt19937_64&, const Arch& arch, const Request& request) {
    const SharedCost cost = shared_cost(arch, request);
    ASSERT_GE(cost.wavefronts, cost.ideal);
    const int passes = request.op == Op::compare_and_swap ? 2 : 1;
    ASSERT_EQ(cost.conflicts * passes, cost.wavefronts - cost.ideal);
    ASSERT_EQ(cost.ideal, cost.phases * passes);
    ASSERT_LE(cost.max_way * passes, cost.wavefronts);
    ASSERT_LE(cost.wavefronts, cost.max_way * cost.phases * passes);
    ASSERT_EQ(cost.phases == 0,
              (request.mask & detail::lane_range(0, 8 * request.matrices)) == 0 &&
                  (request.op == Op::ldmatrix || request.op == Op::stmatrix || request.mask == 0));
    ASSERT_EQ(cost.unknown_rule, request.op == Op::cp_async_cg && arch.async_evidence != Evidence::measured);
    const GlobalCost global = global_cost(arch, request);
    ASSERT_GE(global.sectors, global.ideal_sectors);
    ASSERT_GE(global.sectors, global.lines);
    ASSERT_LE(global.sectors, 4 * global.lines);
    ASSERT_EQ(global.bytes_asked, detail::count_bits(request.mask) * request.width);
    ASSERT_EQ(global.transactions == 0, request.mask == 0);
    const L1Cost l1 = l1_cost(arch, request);
    const bool in_l1 = request.op == Op::load || request.op == Op::store || request.op == Op::atomic ||
                       request.op == Op::compare_and_swap;
    ASSERT_EQ(l1.hit.wavefronts == 0, !arch.l1_in_banks || request.mask == 0 || !in_l1);
    ASSERT_GE(l1.hit.wavefronts, l1.hit.ideal);
    ASSERT_LE(l1.tag_wavefronts, detail::count_bits(request.mask));
    if (l1.hit.wavefronts != 0) {
      ASSERT_GE(4 * l1.tag_wavefronts, detail::distinct_blocks(first_bytes(request), request.mask, 7));
    }
    if (request.op != Op::store) {
      ASSERT_GE(l1.miss_wavefronts, l1.hit.wavefronts);
    }
  });
}

TEST(Properties, ShiftingByTheGranuleChangesNothing) {
  for_random_requests(40, [](std::mt19937_64& random, const Arch& arch, const Request& request) {
    const uint64_t times = random() % 1000;
    Request shifted = request;
    const uint32_t granule = shared_shift_granule(arch, request.op);
    ASSERT_TRUE(detail::is_power_of_two(granule));
    ASSERT_TRUE(granule == shared_shift_granule(arch) || request.op == Op::cp_async_cg);
    for (uint64_t& address : shifted.address.item) address += times * granule;
    ASSERT_TRUE(shared_cost(arch, request) == shared_cost(arch, shifted)) << arch.name << " by " << times;
    shifted = request;
    for (uint64_t& address : shifted.address.item) address += times * global_shift_granule(arch);
    ASSERT_TRUE(global_cost(arch, request) == global_cost(arch, shifted)) << arch.name << " by " << times;
    ASSERT_TRUE(l1_bank_cost(arch, request) == l1_bank_cost(arch, shifted)) << arch.name << " by " << times;
  });
}

TEST(Properties, PermutingLanesInsideAPhaseChangesNothing) {
  for_random_requests(40, [](std::mt19937_64& random, const Arch& arch, const Request& request) {
    const detail::Plan plan = detail::make_plan(arch, request);
    detail::PhaseCursor cursor;
    Request permuted = request;
    while (cursor.next(plan)) {
      std::vector<int> lanes;
      for (uint64_t left = cursor.lanes & plan.active; left != 0; left &= left - 1)
        lanes.push_back(detail::lowest_bit(left));
      std::vector<int> target = lanes;
      std::shuffle(target.begin(), target.end(), random);
      for (size_t i = 0; i < lanes.size(); ++i) permuted.address[target[i]] = request.address[lanes[i]];
    }
    // Which lanes are partners is not a matter of the phase alone.
    if (detail::make_plan(arch, permuted).lanes_each != plan.lanes_each) return;
    SharedCost cost = shared_cost(arch, permuted);
    if (cost.unknown_rule) cost.estimate = shared_cost(arch, request).estimate;
    ASSERT_TRUE(cost == shared_cost(arch, request)) << arch.name;
  });
}

TEST(Properties, MoreLanesNeverCostLess) {
  for_random_requests(40, [](std::mt19937_64& random, const Arch& arch, const Request& request) {
    Request fewer = request;
    fewer.mask &= random();
    const SharedCost cost = shared_cost(arch, request);
    const SharedCost less = shared_cost(arch, fewer);
    // Switching lanes off can also switch the pair rule on, never off.
    ASSERT_LE(less.phases, cost.phases) << arch.name;
    if (detail::make_plan(arch, fewer).lanes_each == detail::make_plan(arch, request).lanes_each) {
      ASSERT_LE(less.broadcast_words, cost.broadcast_words) << arch.name;
      ASSERT_LE(less.wavefronts, cost.wavefronts) << arch.name;
      ASSERT_LE(less.max_way, cost.max_way) << arch.name;
    }
    ASSERT_LE(global_cost(arch, fewer).sectors, global_cost(arch, request).sectors);
    ASSERT_LE(global_cost(arch, fewer).lines, global_cost(arch, request).lines);
  });
}

TEST(Properties, WordStridesAreFreeExactlyWhenTheyShareNoFactorWithTheBanks) {
  for (const char* name : {"sm_13", "sm_20", "sm_53", "sm_61", "sm_75", "sm_86", "sm_90", "sm_100", "hd5870",
                           "gcn", "gfx942", "gfx950", "gfx1100"}) {
    const Arch& arch = *find_arch(name);
    for (int stride = 1; stride <= 200; ++stride) {
      const SharedCost cost =
          shared_cost(arch, strided(Op::load, 4, 0, static_cast<uint64_t>(4 * stride), arch.warp_lanes));
      EXPECT_EQ(cost.conflicts == 0, std::gcd(stride, arch.banks) == 1) << name << ' ' << stride;
      EXPECT_EQ(cost.max_way, std::gcd(stride, arch.banks)) << name << ' ' << stride;
    }
  }
}

TEST(Properties, DetailAddsUpToTheCost) {
  for_random_requests(15, [](std::mt19937_64&, const Arch& arch, const Request& request) {
    const SharedDetail detail = shared_detail(arch, request);
    const SharedCost cost = shared_cost(arch, request);
    ASSERT_TRUE(detail.cost == cost);
    int wavefronts = 0;
    int phases = 0;
    for (int phase = 0; phase < detail.phase_count; ++phase) {
      wavefronts += detail.phase_wavefronts[phase];
      phases += detail.phase_lanes[phase] != 0;
    }
    ASSERT_EQ(wavefronts, cost.wavefronts) << arch.name;
    ASSERT_EQ(phases, cost.phases) << arch.name;
    std::vector<uint64_t> lanes_of_phase(static_cast<size_t>(detail.phase_count));
    for (int i = 0; i < detail.entry_count; ++i) {
      const BankWord& entry = detail.entry[i];
      ASSERT_EQ(entry.word % static_cast<uint64_t>(arch.banks), static_cast<uint64_t>(entry.bank));
      ASSERT_NE(entry.lanes, 0u);
      lanes_of_phase[static_cast<size_t>(entry.phase)] |= entry.lanes;
      if (i == 0) continue;
      const BankWord& last = detail.entry[i - 1];
      ASSERT_TRUE(std::tie(last.phase, last.bank, last.word) < std::tie(entry.phase, entry.bank, entry.word));
    }
    for (int phase = 0; phase < detail.phase_count; ++phase)
      ASSERT_EQ(lanes_of_phase[static_cast<size_t>(phase)], detail.phase_lanes[phase]);
  });
}

}  // namespace
}  // namespace lanescope::model
