// Memory of the device after it was freed: what is still known of it, and who may get its place.
#include "exec/memory.hpp"

#include <gtest/gtest.h>

namespace lanescope::exec {
namespace {

using Owner = Memory::Owner;

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
  EXPECT_NE(memory.allocate(100, "parameters"), base);
  EXPECT_TRUE(memory.freed(base));
  EXPECT_EQ(memory.allocate(100, "b", 256, Owner::program), base);
  EXPECT_FALSE(memory.freed(base));
}

TEST(Memory, PlacesTakenAgainAreForgottenAsAWhole) {
  Memory memory;
  const uint64_t first = memory.allocate(100, "a", 256, Owner::program);
  const uint64_t second = memory.allocate(100, "b", 256, Owner::program);
  const uint64_t third = memory.allocate(100, "c", 256, Owner::program);
  for (const uint64_t base : {first, second, third}) memory.release(base);
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

}  // namespace
}  // namespace lanescope::exec
