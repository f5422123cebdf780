// Lists with commas, as options and comments have them.
#include "base/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lanescope {
namespace {

using ::testing::ElementsAre;

TEST(Words, ListsArePartedAtCommas) {
  EXPECT_THAT(at_commas("race, init ,all"), ElementsAre("race", "init", "all"));
  EXPECT_THAT(at_commas("a,,"), ElementsAre("a", "", ""));
  EXPECT_THAT(at_commas(" "), ElementsAre(""));
}

TEST(Words, NumbersAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(4587520), "4,587,520");
  EXPECT_EQ(counted(1, "word"), "1 word");
  EXPECT_EQ(counted(0, "access"), "0 accesses");
  EXPECT_EQ(counted(1, "copy"), "1 copy");
  EXPECT_EQ(counted(2, "copy"), "2 copies");
  EXPECT_EQ(counted(3, "launch"), "3 launches");
  EXPECT_EQ(counted(1024, "word"), "1,024 words");
}

}  // namespace
}  // namespace lanescope
