// Coalescing by generation: the guides' figures, and what caches of lines and sectors make of them.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "lanescope/model/model.hpp"

namespace lanescope::model {
namespace {

constexpr GlobalCost cost(std::string_view arch, const Request& request) {
  return global_cost(*find_arch(arch), request);
}
constexpr Request floats(uint64_t base, uint64_t stride) { return strided(Op::load, 4, base, stride); }

// 5.x on: sectors.
static_assert(cost("sm_90", floats(0, 4)) == GlobalCost{4, 4, 1, 4, 128, 128, 128, true, Evidence::measured});
static_assert(cost("sm_90", floats(4, 4)).sectors == 5 && !cost("sm_90", floats(4, 4)).aligned);
static_assert(cost("sm_90", floats(4, 4)).ideal_sectors == 4);
static_assert(cost("sm_90", floats(0, 128)).sectors == 32 && cost("sm_90", floats(0, 128)).lines == 32);
static_assert(cost("sm_90", floats(0, 128)).bytes_moved == 1024 &&
              cost("sm_90", floats(0, 128)).bytes_asked == 128);
static_assert(cost("sm_90", floats(0, 0)).sectors == 1 && cost("sm_90", floats(0, 0)).ideal_sectors == 1);
static_assert(cost("sm_90", strided(Op::store, 16, 0, 16)).sectors == 16);
static_assert(cost("sm_90", Request{}) == GlobalCost{0, 0, 0, 0, 0, 0, 0, true, Evidence::measured});

// cp.async.cg of a row to a row: 16 bytes into a sector on one side only, everything is asked for twice.
constexpr GlobalCost copied(uint64_t from, uint64_t to) {
  const Request source = strided(Op::cp_async_cg, 16, from, 16);
  return copy_cost(*find_arch("sm_90"), source, strided(Op::cp_async_cg, 16, to, 16).address);
}
static_assert(copied(0, 0) == global_cost(*find_arch("sm_90"), strided(Op::load, 16, 0, 16)));
static_assert(copied(16, 0).sectors == 32 && copied(16, 0).transactions == 20 && copied(16, 0).lines == 8);
static_assert(copied(16, 16).sectors == 17 && copied(16, 16).transactions == 17);
static_assert(copied(0, 16).sectors == 32 && copied(0, 16).bytes_moved == 1024);
static_assert(copied(32, 0).sectors == 16 && copied(32, 0).lines == 8);

// 32 bytes a lane: a sector each, wherever they are; how they meet in the first-level cache is not known.
static_assert(cost("sm_100", strided(Op::load, 32, 0, 32)).sectors == 32 &&
              cost("sm_100", strided(Op::load, 32, 0, 32)).lines == 8);
static_assert(cost("sm_100", strided(Op::store, 32, 96, 128)).sectors == 32 &&
              cost("sm_100", strided(Op::store, 32, 96, 128)).lines == 32 &&
              cost("sm_100", strided(Op::store, 32, 96, 128)).ideal_sectors == 32);
static_assert(cost("sm_100", strided(Op::load, 32, 64, 0)).sectors == 1 &&
              cost("sm_100", strided(Op::load, 32, 64, 0)).bytes_asked == 1024);
static_assert(!has_l1_rule(strided(Op::load, 32, 0, 32)) && has_l1_rule(strided(Op::load, 16, 0, 16)));
static_assert(l1_cost(*find_arch("sm_100"), strided(Op::load, 32, 0, 32)).hit == L1BankCost{});

// 1.0, 1.1: in order and aligned, one transaction for each half-warp; else one for each lane.
static_assert(cost("sm_10", floats(0, 4)).transactions == 2 &&
              cost("sm_10", floats(0, 4)).bytes_moved == 128);
static_assert(cost("sm_11", floats(4, 4)).transactions == 32 &&
              cost("sm_11", floats(4, 4)).bytes_moved == 1024);
static_assert(cost("sm_10", strided(Op::load, 8, 0, 8)).bytes_moved == 256);
static_assert(cost("sm_10", strided(Op::load, 16, 0, 16)).transactions == 4);
static_assert(cost("sm_10", strided(Op::load, 2, 0, 2)).transactions == 32);
static_assert([] {
  Request swapped = floats(0, 4);
  swapped.address[0] = 4;
  swapped.address[1] = 0;
  return cost("sm_10", swapped).transactions == 17 && cost("sm_12", swapped).transactions == 2;
}());
static_assert([] {
  Request holes = floats(0, 4);
  holes.mask = 0xfffefff0;
  return cost("sm_10", holes).transactions == 2;
}());

// 1.2, 1.3: segments, halved while one half is unused.
static_assert(cost("sm_13", floats(0, 4)).transactions == 2 &&
              cost("sm_13", floats(0, 4)).bytes_moved == 128);
static_assert(cost("sm_13", strided(Op::load, 1, 0, 1)).bytes_moved == 64);
static_assert([] {
  // A half-warp that begins 4 bytes into a 128-byte segment and stays in it: one transaction, of all 128
  // bytes when it crosses the middle.
  Request half = floats(4, 4);
  half.mask = 0xffff;
  const GlobalCost off_by_one = cost("sm_13", half);
  half = floats(96, 4);
  half.mask = 0xffff;
  const GlobalCost across = cost("sm_13", half);  // 32 bytes of one segment and 32 of the next
  return off_by_one.transactions == 1 && off_by_one.bytes_moved == 128 && across.transactions == 2 &&
         across.bytes_moved == 64;
}());
static_assert(cost("sm_13", floats(0, 8)).bytes_moved == 256);
static_assert(cost("sm_13", floats(0, 128)).transactions == 32 &&
              cost("sm_13", floats(0, 128)).bytes_moved == 1024);
static_assert(cost("sm_13", strided(Op::load, 16, 0, 16)).bytes_moved == 512);

// 2.x, 3.x: lines; requests of half-warps for 8 bytes, of quarter-warps for 16; 32-byte segments without L1.
static_assert(cost("sm_20", floats(0, 4)).transactions == 1 &&
              cost("sm_20", floats(0, 4)).bytes_moved == 128);
static_assert(cost("sm_20", floats(4, 4)).transactions == 2 &&
              cost("sm_20", floats(4, 4)).bytes_moved == 256);
static_assert(cost("sm_35", strided(Op::load, 8, 0, 8)).transactions == 2);
static_assert(cost("sm_20", strided(Op::load, 16, 0, 16)).transactions == 4);
static_assert(cost("sm_20", strided(Op::load, 8, 0, 0)).transactions == 2);
static_assert(global_cost(*find_arch("sm_20"), floats(4, 4), false).bytes_moved == 160);
static_assert(global_cost(*find_arch("sm_20"), floats(0, 128), false).bytes_moved == 1024);
static_assert(cost("sm_20", floats(0, 128)).bytes_moved == 4096);
static_assert(cost("sm_20", strided(Op::store, 4, 4, 4)).transactions == 2);
static_assert(cost("sm_20", strided(Op::store, 4, 4, 4)).bytes_moved == 160);

TEST(Global, GeometryIsThatOfTheSetsOfBytes) {
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    Request request = strided(Op::load, 1 << random() % 5, 0, 0, random() % 2 != 0 ? 64 : 32);
    request.mask = random() % 2 != 0 ? request.mask : random();
    const unsigned range = 16u << random() % 9;
    std::set<uint64_t> bytes;
    std::set<uint64_t> sectors;
    std::set<uint64_t> lines;
    for (int lane = 0; lane < request.lanes; ++lane) {
      request.address[lane] = random() % range;
      for (int byte = 0; byte < request.width && (request.mask >> lane & 1) != 0; ++byte) {
        const uint64_t address = request.address[lane] + static_cast<uint64_t>(byte);
        bytes.insert(address);
        sectors.insert(address / 32);
        lines.insert(address / 128);
      }
    }
    const GlobalCost cost = global_cost(*find_arch("sm_90"), request);
    ASSERT_EQ(cost.sectors, static_cast<int>(sectors.size()));
    ASSERT_EQ(cost.lines, static_cast<int>(lines.size()));
    ASSERT_EQ(cost.bytes_distinct, static_cast<int>(bytes.size()));
    ASSERT_EQ(cost.ideal_sectors, static_cast<int>((bytes.size() + 31) / 32));
  }
}

TEST(Global, DistinctBytesDecideTheFewestSectors) {
  // Two lanes on each of 16 words: 64 different bytes.
  Request request = floats(0, 4);
  for (int lane = 0; lane < 32; ++lane) request.address[lane] = static_cast<uint64_t>(lane / 2 * 128);
  const GlobalCost cost = global_cost(*find_arch("sm_90"), request);
  EXPECT_EQ(cost.sectors, 16);
  EXPECT_EQ(cost.ideal_sectors, 2);
  EXPECT_EQ(cost.bytes_asked, 128);
  EXPECT_EQ(cost.bytes_distinct, 64);
  EXPECT_EQ(cost.bytes_moved, 512);
}

TEST(Global, MisalignedItemsTouchBothSectors) {
  Request request = strided(Op::load, 16, 24, 0);
  request.mask = 1;
  const GlobalCost cost = global_cost(*find_arch("sm_90"), request);
  EXPECT_EQ(cost.sectors, 2);
  EXPECT_EQ(cost.ideal_sectors, 1);
}

}  // namespace
}  // namespace lanescope::model
