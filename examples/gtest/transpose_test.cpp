// A test of a kernel without a GPU: does it compute the right thing, and stay free of bank conflicts? The
// first argument is the folder of the PTX file.
#include <gtest/gtest.h>

#include <lanescope/gtest.hpp>
#include <numeric>
#include <string>
#include <vector>

namespace {

std::string folder = "kernels/ptx";

/// Transposes a matrix of 64 x 64 with a kernel of kernels/transpose.cu.
lanescope::Profile transpose(const std::string& kernel, std::vector<float>& out) {
  constexpr int size = 64;
  std::vector<float> in(size * size);
  std::iota(in.begin(), in.end(), 0.0f);
  out.assign(in.size(), -1.0f);
  return lanescope::run(
      {.ptx = folder + "/transpose.ptx", .kernel = kernel, .grid = {2, 2}, .block = {32, 8}}, out, in, size,
      size);
}

TEST(Transpose, PaddedTileIsRightAndConflictFree) {
  std::vector<float> out;
  const lanescope::Profile profile = transpose("transpose_tile33", out);
  EXPECT_EQ(out[3 * 64 + 5], 5 * 64 + 3);
  EXPECT_THAT(profile, lanescope::clean());
  EXPECT_THAT(profile, lanescope::conflict_free());
  EXPECT_THAT(profile, lanescope::coalesced());
  EXPECT_EQ(profile.metric("shared_ld_bank_conflict"), 0);
}

TEST(Transpose, PlainTileConflicts) {
  std::vector<float> out;
  const lanescope::Profile profile = transpose("transpose_tile32", out);
  EXPECT_THAT(profile, ::testing::Not(lanescope::conflict_free()));
  EXPECT_THAT(profile, lanescope::at_most_ways(32));
  EXPECT_EQ(profile.conflicts(), 128 * 31);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) folder = argv[1];
  return RUN_ALL_TESTS();
}
