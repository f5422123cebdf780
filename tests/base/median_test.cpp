// The median of few numbers.
#include "base/median.hpp"

#include <gtest/gtest.h>

namespace lanescope {
namespace {

TEST(Median, IsTheMiddle) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({7}), 7);
  EXPECT_EQ(median_of({9, 1, 5}), 5);
  EXPECT_EQ(median_of({9, 1, 5, 100}), 7);
}

}  // namespace
}  // namespace lanescope
