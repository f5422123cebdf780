// Memory of the device after it was freed: what is still known of it, and who may get its place.
#include "exec/memory.hpp"

#include <gtest/gtest.h>

namespace lanescope::exec {
namespace {

using Owner = Memory::Owner;

constexpr int most_resting = 4096, enough = most_resting + 100;

TEST(Memory, RemembersWhatTheProgramHasFreed) {
  Memory memory;
  const uint64_t base = memory.allocate(100, "a", 256, Owner::program);
  EXPECT_FALSE(memory.freed(base));
  ASSERT_TRUE(memory.release(base));
  ASSERT_TRUE(memory.freed(base + 99));
  EXPECT_EQ(memory.freed(base + 99)->name, "a");
  EXPECT_FALSE(memory.freed(base + 100));
  EXPECT_FALSE(memory.freed(base - 1));
}

TEST(Memory, EngineTakesNoPlaceOfTheProgram) {
  Memory memory;
  const uint64_t base = memory.allocate(100, "a", 256, Owner::program);
  memory.release(base);
  for (int i = 0; i < enough; ++i) EXPECT_NE(memory.allocate(100, "parameters"), base);
  EXPECT_TRUE(memory.freed(base));
}

TEST(Memory, PlacesOfTheProgramRestBeforeItGetsThemAgain) {
  Memory memory;
  const uint64_t first = memory.allocate(100, "a", 256, Owner::program);
  memory.release(first);
  uint64_t next = memory.allocate(100, "b", 256, Owner::program);
  EXPECT_NE(next, first);
  EXPECT_TRUE(memory.freed(first));
  for (int i = 0; i < enough && next != first; ++i) {
    memory.release(next);
    next = memory.allocate(100, "b", 256, Owner::program);
  }
  EXPECT_EQ(next, first) << "not taken for ever";
  EXPECT_FALSE(memory.freed(first));
}

TEST(Memory, PlacesTakenAgainAreForgottenAsAWhole) {
  Memory memory;
  const uint64_t first = memory.allocate(100, "a", 256, Owner::program);
  const uint64_t second = memory.allocate(100, "b", 256, Owner::program);
  const uint64_t third = memory.allocate(100, "c", 256, Owner::program);
  for (const uint64_t base : {first, second, third}) memory.release(base);
  // As many as end the rest of the three.
  for (int i = 0; i < most_resting; ++i) memory.release(memory.allocate(1 << 20, "e", 256, Owner::program));
  // Over all of the first and a part of the second.
  ASSERT_EQ(memory.allocate(600, "d", 256, Owner::program), first);
  EXPECT_FALSE(memory.freed(second));
  ASSERT_TRUE(memory.freed(third));
  EXPECT_EQ(memory.freed(third)->name, "c");
}

TEST(Memory, EnginesOwnPlacesComeAgain) {
  Memory memory;
  const uint64_t base = memory.allocate(100, "parameters");
  memory.release(base);
  EXPECT_FALSE(memory.freed(base));
  EXPECT_EQ(memory.allocate(100, "parameters"), base);
}

TEST(Memory, KnowsWhichBytesHoldSomething) {
  WrittenBytes written(200);
  EXPECT_EQ(written.missing(0, 8), 8u);
  written.add(3, 150);  // over several words
  EXPECT_EQ(written.missing(0, 8), 3u);
  EXPECT_EQ(written.missing(3, 150), 0u);
  EXPECT_EQ(written.missing(150, 50), 47u);
  written.add_all();
  EXPECT_EQ(written.missing(0, 200), 0u);
}

TEST(Memory, FollowsWritesToWhatIsAllocatedFromThenOn) {
  Memory memory;
  const uint64_t before = memory.allocate(64, "a", 256, Owner::program);
  memory.follows_writes = true;
  const uint64_t base = memory.allocate(64, "b", 256, Owner::program);
  EXPECT_FALSE(memory.find(before)->written);
  EXPECT_FALSE(memory.find(memory.allocate(64, "parameters"))->written);
  memory.wrote(base + 8, 4);
  EXPECT_EQ(memory.find(base)->written->missing(0, 64), 60u);
  memory.wrote_anything();
  EXPECT_EQ(memory.find(base)->written->missing(0, 64), 0u);
}

TEST(Memory, NamesNothingThatNoPointerComesFrom) {
  Memory memory;
  EXPECT_FALSE(memory.nearest(memory.allocate(16, "code", 256, Owner::internal) + 20));
  const uint64_t before = memory.allocate(64, "a", 256, Owner::program);
  memory.allocate(16, "code", 256, Owner::internal);
  const uint64_t middle = memory.allocate(16, "code", 256, Owner::internal);
  memory.allocate(16, "code", 256, Owner::internal);
  EXPECT_EQ(memory.nearest(middle + 20)->name, "a");
  const uint64_t after = memory.allocate(64, "b");
  EXPECT_EQ(memory.nearest(after - 20)->name, "b");
  EXPECT_EQ(memory.nearest(before + 100)->name, "a");
}

TEST(Memory, TellsWhatIsNotFreed) {
  Memory memory;
  memory.allocate(64, "parameters");
  const uint64_t freed = memory.allocate(64, "a", 256, Owner::program);
  memory.allocate(64, "b", 256, Owner::program);
  memory.release(freed);
  ASSERT_EQ(memory.unfreed().size(), 1u);
  EXPECT_EQ(memory.unfreed()[0].name, "b");
}

}  // namespace
}  // namespace lanescope::exec
