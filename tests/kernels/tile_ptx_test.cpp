// The tiles of lanescope/tile.cuh cost nothing: the compiler makes the same PTX of them as of arrays indexed
// by hand. Compared in the committed PTX; that it belongs to the sources is CommittedPtx.IsUpToDate's matter.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

/// The instructions of a kernel; names that come from its own are replaced.
std::vector<std::string> instructions_of(const std::string& kernel,
                                         const std::string& ptx = "kernels/ptx/tiles.ptx") {
  std::ifstream file(LANESCOPE_SOURCE_DIR "/" + ptx);
  const std::regex own_names("_ZZ[0-9]+" + kernel + "E[0-9]+"), parameters(kernel + "_param_"),
      labels("\\$L__[A-Za-z_0-9]+");
  std::vector<std::string> result;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find(".entry " + kernel + "(") != std::string::npos) inside = true;
    if (!inside) continue;
    if (line == "}") break;
    const bool instruction = line.size() > 1 && line[0] == '\t' && line.back() == ';' && line[1] != '.';
    if (!instruction) continue;
    line = std::regex_replace(line, own_names, "OWN");
    line = std::regex_replace(line, parameters, "PARAM_");
    result.push_back(std::regex_replace(line, labels, "LABEL"));
  }
  return result;
}

TEST(TilePtx, OfAPaddedTileIsThatOfAnArray) {
  const std::vector<std::string> by_hand = instructions_of("transpose_padded_by_hand");
  EXPECT_GT(by_hand.size(), 30u);
  EXPECT_EQ(instructions_of("transpose_padded"), by_hand);
}

TEST(TilePtx, OfASwizzledTileIsThatOfAnXor) {
  const std::vector<std::string> by_hand = instructions_of("transpose_swizzled_by_hand");
  EXPECT_GT(by_hand.size(), 50u);
  EXPECT_EQ(instructions_of("transpose_swizzled_tile"), by_hand);
}

TEST(TilePtx, OfArraysIsThatOfPlacesByHand) {
  const std::string ptx = "tests/data/cures/by_hand/arrays.ptx";
  for (const std::string kernel : {"with_gaps", "turned_around"}) {
    const std::vector<std::string> by_hand = instructions_of(kernel + "_by_hand", ptx);
    EXPECT_GT(by_hand.size(), 30u);
    EXPECT_EQ(instructions_of(kernel, ptx), by_hand);
  }
}

TEST(TilePtx, OfDifferentLayoutsDiffers) {  // the comparison sees differences
  EXPECT_NE(instructions_of("transpose_padded"), instructions_of("transpose_swizzled_tile"));
}

}  // namespace
