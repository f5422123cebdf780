// What the guides say of each generation, as facts about the model; most hold already at compile time.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "lanescope/model/model.hpp"

namespace lanescope::model {
namespace {

constexpr Arch arch_of(std::string_view name) { return *find_arch(name); }

constexpr SharedCost load(std::string_view arch, int width, uint64_t stride) {
  return shared_cost(arch_of(arch), strided(Op::load, width, 0, stride, arch_of(arch).warp_lanes));
}
constexpr SharedCost store(std::string_view arch, int width, uint64_t stride) {
  return shared_cost(arch_of(arch), strided(Op::store, width, 0, stride, arch_of(arch).warp_lanes));
}

// 9.0: rows are free, columns of a 32-word row are 32-way, of a padded row free.
static_assert(load("sm_90", 4, 4) == SharedCost{1, 1, 1, 0, 1, 0, false, 0, false, Evidence::measured});
static_assert(load("sm_90", 4, 128).wavefronts == 32 && load("sm_90", 4, 128).conflicts == 31);
static_assert(load("sm_90", 4, 132).conflicts == 0);
static_assert(load("sm_90", 4, 0).wavefronts == 1 && load("sm_90", 4, 0).broadcast_words == 1);
static_assert(load("sm_90", 8, 8).phases == 2 && load("sm_90", 16, 16).phases == 4);
static_assert(load("sm_90", 1, 1).max_way == 1 && load("sm_90", 2, 2).max_way == 1);
// All lanes on one address: partners agree, so phases hold twice as many lanes.
static_assert(load("sm_90", 8, 0).wavefronts == 1 && load("sm_90", 16, 0).wavefronts == 2);
static_assert(load("sm_60", 8, 0).wavefronts == 2 && load("sm_60", 16, 0).wavefronts == 4);
static_assert(store("sm_90", 8, 0).wavefronts == 2);
// Stores to one word meet in no bank, but race; atomics to one word take turns and do not.
static_assert(store("sm_90", 4, 0).wavefronts == 1 && store("sm_90", 4, 0).write_race);
static_assert(!store("sm_90", 1, 1).write_race);
static_assert(shared_cost(arch_of("sm_90"), strided(Op::atomic, 4, 0, 0)).wavefronts == 32);
static_assert(!shared_cost(arch_of("sm_90"), strided(Op::atomic, 4, 0, 0)).write_race);
// Stores of neighbours in different phases race too.
static_assert([] {
  Request request = strided(Op::store, 16, 0, 16);
  request.address[31] = 0;
  return shared_cost(*find_arch("sm_90"), request).write_race;
}());
static_assert(shared_cost(arch_of("sm_80"), strided(Op::cp_async_cg, 16, 0, 512)).unknown_rule);
static_assert(!shared_cost(arch_of("sm_90"), strided(Op::cp_async_cg, 16, 0, 512)).unknown_rule);
static_assert(shared_cost(arch_of("sm_90"), strided(Op::cp_async_cg, 16, 0, 512)).conflicts == 0);
static_assert(shared_cost(arch_of("sm_80"), strided(Op::cp_async_cg, 16, 0, 512)).estimate == 32);
static_assert(shared_cost(arch_of("sm_90"), strided(Op::cp_async_cg, 16, 0, 512)).wavefronts == 4);
static_assert(shared_cost(arch_of("sm_90"), strided(Op::cp_async, 4, 0, 0)).wavefronts == 32);
static_assert(shared_cost(arch_of("sm_90"), strided(Op::cp_async, 16, 0, 512)).wavefronts == 32);
static_assert(shared_cost(arch_of("sm_90"), strided(Op::cp_async, 16, 0, 16)).wavefronts == 4);
static_assert(shared_cost(arch_of("sm_90"), Request{}).wavefronts == 0 &&
              shared_cost(arch_of("sm_90"), Request{}).ideal == 0);

// 1.x, half-warps: char 4-way, short 2-way, double 2-way; structs of 3 words clean, of 2 words 2-way; a 32x32
// column 16-way in each half; one word to all lanes is broadcast.
static_assert(load("sm_13", 1, 1).max_way == 4 && load("sm_13", 1, 1).wavefronts == 8);
static_assert(load("sm_13", 2, 2).max_way == 2 && load("sm_13", 4, 4).max_way == 1);
static_assert(load("sm_13", 8, 8).max_way == 2 && load("sm_13", 8, 8).phases == 4);
static_assert(load("sm_13", 4, 12).conflicts == 0 && load("sm_13", 4, 8).max_way == 2);
static_assert(load("sm_13", 4, 128).max_way == 16 && load("sm_13", 4, 128).wavefronts == 32);
static_assert(load("sm_13", 4, 0).wavefronts == 2 && load("sm_13", 1, 0).wavefronts == 2);
static_assert(load("sm_13", 16, 16).max_way == 4);
static_assert(store("sm_13", 4, 0).wavefronts == 2 && store("sm_13", 4, 0).write_race);

/// Guide 4.2, F.3.3: lanes 3, 4, 6, 7, 9 read one word of bank 5, the others another bank each: one step,
/// when that word is the broadcast one.
constexpr SharedCost one_word_of(int shared_bank, int second_bank) {
  Request request = strided(Op::load, 4, 0, 4);
  request.mask = 0xffff;
  for (const int lane : {3, 4, 6, 7, 9}) request.address[lane] = static_cast<uint64_t>(4 * shared_bank);
  if (second_bank >= 0)
    for (const int lane : {10, 11}) request.address[lane] = static_cast<uint64_t>(4 * second_bank);
  return shared_cost(*find_arch("sm_10"), request);
}
static_assert(one_word_of(5, -1).wavefronts == 1);
// A second word with several readers has to wait for the second step's broadcast.
static_assert(one_word_of(5, 2).wavefronts == 2);
static_assert(shared_cost(arch_of("sm_20"),
                          [] {
                            Request request = strided(Op::load, 4, 0, 4);
                            for (const int lane : {3, 4, 6, 7, 9}) request.address[lane] = 20;
                            for (const int lane : {10, 11}) request.address[lane] = 8;
                            return request;
                          }())
                  .wavefronts == 1);

// 2.x: doubles are clean, 16-byte accesses 2-way though each quarter-warp is clean.
static_assert(load("sm_20", 8, 8).conflicts == 0 && load("sm_20", 1, 1).conflicts == 0);
static_assert(load("sm_20", 16, 16).max_way == 2 && load("sm_20", 16, 16).wavefronts == 8);
static_assert(load("sm_20", 4, 128).wavefronts == 32);

// 3.x: a 32-way column by words is 16-way in 4-byte mode; doubles are clean in both modes.
static_assert(load("sm_35", 4, 128).wavefronts == 16 && load("sm_35", 4, 128).ideal == 1);
static_assert(load("sm_35", 4, 8).conflicts == 0 && load("sm_35", 8, 8).wavefronts == 1);
constexpr Arch eight_byte_mode = with_bank_mode(arch_of("sm_37"), 8);
static_assert(eight_byte_mode.bank_bytes == 8 && with_bank_mode(eight_byte_mode, 4).bank_bytes == 4);
static_assert(shared_cost(eight_byte_mode, strided(Op::load, 4, 0, 128)).wavefronts == 16);
static_assert(shared_cost(eight_byte_mode, strided(Op::load, 8, 0, 8)).wavefronts == 1);
static_assert(shared_cost(eight_byte_mode, strided(Op::load, 8, 0, 256)).wavefronts == 32);
static_assert(with_bank_mode(arch_of("sm_90"), 8).bank_bytes == 4);

// AMD: HD 5870 and GCN serve 32 of 64 lanes at a time.
static_assert(load("hd5870", 4, 4).phases == 2 && load("hd5870", 4, 4).conflicts == 0);
static_assert(load("gcn", 4, 8).max_way == 2 && load("gfx906", 4, 128).wavefronts == 64);
// CDNA3: 16-byte loads go in eight phases of scattered lanes; rows of 16 bytes are clean.
static_assert(load("gfx942", 16, 16).phases == 8 && load("gfx942", 16, 16).conflicts == 0);
static_assert(load("gfx942", 8, 8).phases == 4 && store("gfx942", 16, 16).phases == 8);
static_assert(load("gfx950", 16, 16).phases == 4 && load("gfx950", 16, 16).conflicts == 0);
static_assert(load("gfx950", 4, 4).phases == 1 && load("gfx950", 8, 8).phases == 2);
static_assert(load("gfx1100", 16, 16).phases == 4 && load("gfx1100", 8, 8).phases == 2);

/// Two lanes on the first bank and different rows: do they meet?
constexpr bool meet(std::string_view arch, Op op, int a, int b) {
  Request request = strided(op, 16, 0, 0, arch_of(arch).warp_lanes);
  request.mask = uint64_t{1} << a | uint64_t{1} << b;
  request.address[b] = 1024;
  return shared_cost(arch_of(arch), request).conflicts == 1;
}
// Lane 0 goes with lanes 20-23 and not with its neighbours 4-7.
static_assert(meet("gfx942", Op::load, 0, 20) && !meet("gfx942", Op::load, 0, 4));
static_assert(meet("gfx942", Op::load, 48, 36) && !meet("gfx942", Op::load, 48, 32));
static_assert(!meet("gfx942", Op::store, 0, 20) && meet("gfx942", Op::store, 0, 7));
static_assert(meet("gfx950", Op::load, 0, 27) && !meet("gfx950", Op::load, 0, 4));
static_assert(meet("gfx1100", Op::load, 12, 27) && !meet("gfx1100", Op::load, 12, 11));
static_assert(meet("sm_90", Op::store, 0, 7) && !meet("sm_90", Op::store, 0, 8));
// A load whose partner lanes are all inactive agrees with them: phases of 16.
static_assert(meet("sm_90", Op::load, 0, 15) && !meet("sm_90", Op::load, 0, 16));

// The free architecture: HD 5870 by its numbers.
constexpr Arch by_numbers = custom_arch(32, 32, 64, Broadcast::many_words);
static_assert(shared_cost(by_numbers, strided(Op::load, 4, 0, 4, 64)).phases == 2);
static_assert(shared_cost(by_numbers, strided(Op::load, 4, 0, 128, 64)).wavefronts == 64);
static_assert(shared_cost(custom_arch(16, 32, 32, Broadcast::one_word), strided(Op::load, 4, 0, 4)).phases ==
              2);
static_assert(shared_cost(custom_arch(32, 32, 32, Broadcast::none), strided(Op::load, 4, 0, 0)).wavefronts ==
              32);
static_assert(custom_arch_error(32, 32, 64) == nullptr && custom_arch_error(0, 32, 32) != nullptr);
static_assert(custom_arch_error(1025, 32, 32) != nullptr && custom_arch_error(32, 12, 32) != nullptr);
static_assert(custom_arch_error(32, 32, 65) != nullptr && custom_arch_error(32, 32, 0) != nullptr);
static_assert(find_arch("sm_99") == nullptr && find_arch("") == nullptr);

TEST(Generations, EveryTableRowHasAnArchitecture) {
  for (const char* name :
       {"sm_10",  "sm_11",  "sm_12",  "sm_13",  "sm_20",  "sm_21", "sm_30",  "sm_32",  "sm_35",
        "sm_37",  "sm_50",  "sm_52",  "sm_53",  "sm_60",  "sm_61", "sm_62",  "sm_70",  "sm_72",
        "sm_75",  "sm_80",  "sm_86",  "sm_87",  "sm_89",  "sm_90", "sm_90a", "sm_100", "sm_103",
        "sm_107", "sm_110", "sm_120", "sm_121", "hd5870", "gcn",   "gfx942", "gfx950", "gfx1100"})
    EXPECT_NE(find_arch(name), nullptr) << name;
  // The targets of ptxas 13.5.
  for (const int sm : {100, 103, 107, 110, 120, 121})
    for (const char* variant : {"", "a", "f"}) {
      const std::string name = "sm_" + std::to_string(sm) + variant;
      EXPECT_NE(find_arch(name), nullptr) << name;
    }
  std::set<std::string> names;
  for (const Arch& arch : archs) EXPECT_TRUE(names.insert(arch.name).second) << arch.name << " twice";
  EXPECT_NE(find_arch(default_arch_name), nullptr);
}

TEST(Generations, OnlyTheMeasuredArchitectureClaimsToBeMeasured) {
  for (const Arch& arch : archs) {
    const bool measured = std::string(arch.name).starts_with("sm_90");
    EXPECT_EQ(load(arch.name, 4, 4).evidence == Evidence::measured, measured) << arch.name;
    EXPECT_EQ(arch.global_evidence == Evidence::measured, measured) << arch.name;
  }
  EXPECT_EQ(load("sm_75", 8, 8).evidence, Evidence::vendor_guide);
  EXPECT_EQ(load("gfx942", 16, 16).evidence, Evidence::third_party);
  EXPECT_EQ(load("sm_100", 4, 4).evidence, Evidence::assumed);
  EXPECT_EQ(shared_cost(arch_of("sm_90"), strided(Op::atomic, 8, 0, 8)).evidence, Evidence::measured);
  EXPECT_EQ(shared_cost(arch_of("sm_90"), strided(Op::update_loop, 2, 0, 2)).evidence, Evidence::measured);
  EXPECT_EQ(shared_cost(arch_of("sm_80"), strided(Op::update_loop, 4, 0, 4)).evidence, Evidence::assumed);
}

TEST(Generations, PhasesCoverEveryLaneOnce) {
  for (const Arch& arch : archs)
    for (const Op op : {Op::load, Op::store})
      for (const int width : {1, 2, 4, 8, 16}) {
        Request request = strided(op, width, 0, static_cast<uint64_t>(width), arch.warp_lanes);
        const detail::Plan plan = detail::make_plan(arch, request);
        detail::PhaseCursor cursor;
        uint64_t seen = 0;
        while (cursor.next(plan)) {
          const uint64_t lanes = cursor.lanes & request.mask;
          EXPECT_EQ(seen & lanes, 0u) << arch.name << ' ' << width;
          seen |= lanes;
        }
        EXPECT_EQ(seen, request.mask) << arch.name << ' ' << width;
      }
}

TEST(Generations, DetailTellsWhoMeetsWhere) {
  // A stride of two words: lanes 0 and 16 meet in bank 0 with the words 0 and 32.
  const SharedDetail detail = shared_detail(arch_of("sm_90"), strided(Op::load, 4, 0, 8));
  ASSERT_EQ(detail.entry_count, 32);
  EXPECT_EQ(detail.phase_count, 1);
  EXPECT_EQ(detail.phase_wavefronts[0], 2);
  EXPECT_EQ(detail.phase_lanes[0], 0xffffffffu);
  EXPECT_EQ(detail.entry[0].bank, 0);
  EXPECT_EQ(detail.entry[0].word, 0u);
  EXPECT_EQ(detail.entry[0].lanes, 1u);
  EXPECT_EQ(detail.entry[1].bank, 0);
  EXPECT_EQ(detail.entry[1].word, 32u);
  EXPECT_EQ(detail.entry[1].lanes, 1u << 16);
  EXPECT_EQ(detail.entry[2].bank, 2);
}

}  // namespace
}  // namespace lanescope::model
