// The model against the naive reference: every mask and address of four lanes on small memories, for every
// class of rule, and random requests on every architecture with a name.
#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>

#include "lanescope/model/model.hpp"
#include "model/naive.hpp"

namespace lanescope::model {
namespace {

std::string text(const Request& request) {
  std::ostringstream out;
  out << "op " << static_cast<int>(request.op) << " width " << request.width << " mask " << std::hex
      << request.mask << std::dec;
  for (int lane = 0; lane < request.lanes; ++lane)
    if (request.mask >> lane & 1) out << ' ' << lane << ':' << request.address[lane];
  return out.str();
}

void compare(const Arch& arch, const Request& request) {
  const SharedCost cost = shared_cost(arch, request);
  const naive::Cost expected = naive::shared_cost(arch, request);
  const bool bypassing = request.op == Op::cp_async_cg;
  ASSERT_EQ(cost.unknown_rule, bypassing && arch.async_evidence != Evidence::measured);
  ASSERT_EQ(cost.phases, expected.phases) << arch.name << ' ' << text(request);
  ASSERT_EQ(cost.ideal, expected.ideal) << arch.name << ' ' << text(request);
  ASSERT_EQ(cost.wavefronts, bypassing ? expected.phases : expected.wavefronts)
      << arch.name << ' ' << text(request);
  ASSERT_EQ(cost.conflicts, bypassing ? 0 : expected.conflicts) << arch.name << ' ' << text(request);
  ASSERT_EQ(cost.requests, expected.requests) << arch.name << ' ' << text(request);
  ASSERT_TRUE(cost.loads == expected.loads) << arch.name << ' ' << text(request);
  if (!bypassing) {
    ASSERT_EQ(cost.max_way, expected.max_way) << arch.name << ' ' << text(request);
  }
  ASSERT_EQ(cost.broadcast_words, expected.broadcast_words) << arch.name << ' ' << text(request);
  ASSERT_EQ(cost.write_race, expected.write_race) << arch.name << ' ' << text(request);
}

/// Every lane of four inactive or at one of `places` addresses, `step` bytes apart.
void compare_all(const Arch& arch, Op op, int width, int places, int step) {
  Request request;
  request.op = op;
  request.width = width;
  int choice[4] = {};  // 0 = inactive
  size_t compared = 0;
  while (true) {
    request.mask = 0;
    for (int lane = 0; lane < 4; ++lane) {
      if (choice[lane] == 0) continue;
      request.mask |= uint64_t{1} << lane;
      request.address[lane] = static_cast<uint64_t>((choice[lane] - 1) * step);
    }
    compare(arch, request);
    if (testing::Test::HasFatalFailure()) return;
    ++compared;
    int lane = 0;
    while (lane < 4 && ++choice[lane] > places) choice[lane++] = 0;
    if (lane == 4) break;
  }
  const size_t each = static_cast<size_t>(places) + 1;
  ASSERT_EQ(compared, each * each * each * each);
}

constexpr Arch four_banks = custom_arch(4, 32, 4, Broadcast::many_words);

TEST(Exhaustive, ManyWords) {
  compare_all(four_banks, Op::load, 4, 12, 4);
  compare_all(four_banks, Op::store, 4, 12, 4);
}

TEST(Exhaustive, OneWord) {
  constexpr Arch arch = custom_arch(4, 32, 4, Broadcast::one_word);
  compare_all(arch, Op::load, 4, 12, 4);
  compare_all(arch, Op::load, 8, 6, 8);
  compare_all(arch, Op::store, 4, 12, 4);
}

TEST(Exhaustive, NoBroadcast) {
  constexpr Arch arch = custom_arch(4, 32, 4, Broadcast::none);
  compare_all(arch, Op::load, 4, 12, 4);
  compare_all(arch, Op::store, 4, 12, 4);
}

TEST(Exhaustive, LanesNotWords) {
  compare_all(four_banks, Op::atomic, 4, 12, 4);
  compare_all(four_banks, Op::compare_and_swap, 4, 12, 4);
  compare_all(four_banks, Op::update_loop, 4, 12, 4);
  compare_all(four_banks, Op::update_loop, 8, 6, 8);
  compare_all(four_banks, Op::update_loop, 2, 12, 2);
  compare_all(four_banks, Op::cp_async, 4, 12, 4);
  compare_all(four_banks, Op::cp_async, 8, 6, 8);
}

TEST(Exhaustive, BytesAndHalves) {
  constexpr Arch arch = custom_arch(2, 32, 4, Broadcast::many_words);
  compare_all(arch, Op::load, 1, 24, 1);
  compare_all(arch, Op::store, 1, 24, 1);
  compare_all(arch, Op::load, 2, 12, 2);
  compare_all(arch, Op::store, 2, 12, 2);
}

TEST(Exhaustive, WiderThanABank) {
  compare_all(four_banks, Op::load, 8, 6, 8);
  compare_all(four_banks, Op::store, 8, 6, 8);
  compare_all(four_banks, Op::load, 16, 6, 16);
  // Misaligned: the words that are touched.
  compare_all(four_banks, Op::load, 8, 12, 4);
  compare_all(four_banks, Op::store, 8, 12, 4);
  compare_all(four_banks, Op::store, 2, 12, 3);
}

TEST(Exhaustive, PairRule) {
  Arch arch = four_banks;
  arch.pair_rule = true;
  compare_all(arch, Op::load, 8, 6, 8);
  compare_all(arch, Op::load, 16, 6, 16);
  compare_all(arch, Op::store, 8, 6, 8);
}

TEST(Exhaustive, SegmentsOfTwoRows) {
  Arch arch = four_banks;
  arch.segment_words = 8;
  compare_all(arch, Op::load, 4, 16, 4);
  compare_all(arch, Op::store, 4, 12, 4);
  compare_all(arch, Op::load, 8, 8, 8);
}

TEST(Exhaustive, WideBanks) {
  constexpr Arch arch = custom_arch(4, 64, 4, Broadcast::many_words);
  compare_all(arch, Op::load, 4, 16, 4);
  compare_all(arch, Op::store, 8, 12, 8);
}

TEST(Exhaustive, SplitAndSubword) {
  Arch arch = custom_arch(2, 32, 4, Broadcast::one_word);
  arch.split_wide = true;
  arch.subword_conflict = true;
  for (int i = 0; i < width_count; ++i) arch.load[i].lanes_each = arch.store[i].lanes_each = 2;
  compare_all(arch, Op::load, 1, 16, 1);
  compare_all(arch, Op::store, 1, 16, 1);
  compare_all(arch, Op::load, 2, 12, 2);
  compare_all(arch, Op::load, 8, 6, 8);
  compare_all(arch, Op::store, 16, 3, 16);
  for (int i = 0; i < width_count; ++i) arch.load[i].lanes_each = 4;
  compare_all(arch, Op::load, 1, 16, 1);
}

TEST(Exhaustive, ExtraWavefronts) {
  Arch arch = four_banks;
  arch.extra_wide_wavefronts = 1;
  compare_all(arch, Op::load, 16, 6, 16);
  compare_all(arch, Op::store, 16, 6, 16);
  compare_all(arch, Op::load, 8, 6, 8);
}

TEST(Exhaustive, ListedPhases) {
  Arch arch = four_banks;
  arch.load[2].lanes_each = 0;
  arch.load[2].listed = 2;
  arch.load[2].list[0] = 0x5;
  arch.load[2].list[1] = 0xa;
  compare_all(arch, Op::load, 4, 12, 4);
}

TEST(Exhaustive, BanksThatAreNoPowerOfTwo) {
  constexpr Arch arch = custom_arch(3, 32, 4, Broadcast::many_words);
  compare_all(arch, Op::load, 4, 12, 4);
  compare_all(arch, Op::atomic, 4, 9, 4);
  compare_all(arch, Op::load, 8, 6, 8);
}

Request random_request(std::mt19937_64& random, Op op, int width, int lanes) {
  Request request;
  request.op = op;
  request.width = width;
  request.lanes = lanes;
  constexpr int choices[] = {1, 2, 4};
  request.matrices = choices[random() % 3];
  request.mask = random() % 2 ? ~uint64_t{0} : random();
  const uint64_t items = 1 + random() % (8192 / width);  // few items: many meet
  const uint64_t stride = random() % 80;
  const int pattern = static_cast<int>(random() % 4);
  for (int lane = 0; lane < lanes; ++lane) {
    uint64_t item = random() % items;
    if (pattern == 0) item = static_cast<uint64_t>(lane) * stride;
    if (pattern == 1) item = static_cast<uint64_t>(lane / 2) * stride;
    if (pattern == 2) item = static_cast<uint64_t>((lane & 1) | (lane >> 2 << 1)) * stride;
    request.address[lane] = item * static_cast<uint64_t>(width);
  }
  return request;
}

TEST(Exhaustive, RandomRequestsOnEveryNamedArchitecture) {
  std::mt19937_64 random(20240611);
  for (const Arch& named : archs)
    for (const int mode : {4, 8}) {
      const Arch arch = with_bank_mode(named, mode);
      for (const Op op : {Op::load, Op::store, Op::atomic, Op::compare_and_swap, Op::update_loop,
                          Op::cp_async, Op::cp_async_cg, Op::ldmatrix, Op::stmatrix})
        for (const int width : {1, 2, 4, 8, 16})
          for (int i = 0; i < 12; ++i) {
            Request request = random_request(random, op, width, arch.warp_lanes);
            if (op == Op::update_loop && (width == 1 || width == 16)) continue;  // there are none
            if (arch.broadcast == Broadcast::one_word)
              request.mask &= 0x0421'1084;  // the search's time is limited
            compare(arch, request);
            if (HasFatalFailure()) return;
          }
    }
}

TEST(Exhaustive, RandomRequestsOnFreeArchitectures) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 4000; ++i) {
    const int banks = static_cast<int>(1 + random() % (i % 10 == 0 ? 1024 : 70));
    const int bits = 8 << random() % 5;
    const int unit = static_cast<int>(1 + random() % 64);
    const Broadcast broadcast = random() % 2 ? Broadcast::none : Broadcast::many_words;
    ASSERT_EQ(custom_arch_error(banks, bits, unit), nullptr);
    const Arch arch = custom_arch(banks, bits, unit, broadcast);
    const Op op = static_cast<Op>(random() % 3);
    Request request = random_request(random, op, 1 << random() % 5, arch.warp_lanes);
    if (random() % 4 == 0)  // misaligned
      for (int lane = 0; lane < request.lanes; ++lane) request.address[lane] += random() % 16;
    compare(arch, request);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace lanescope::model
