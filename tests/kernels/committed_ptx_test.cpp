// The committed PTX belongs to the committed sources, and names no place of the machine that made it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

TEST(CommittedPtx, IsUpToDate) {
  EXPECT_EQ(std::system("'" LANESCOPE_SOURCE_DIR "/scripts/ptx' --check"), 0);
}

TEST(CommittedPtx, HasNoAbsolutePaths) {
  int files = 0;
  for (const char* folder : {"/kernels/ptx", "/tests/data/ptx", "/tests/data/accuracy"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(LANESCOPE_SOURCE_DIR) + folder)) {
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);)
        EXPECT_FALSE(line.find(".file") != std::string::npos && line.find("\"/") != std::string::npos)
            << entry.path() << ": " << line;
      ++files;
    }
  EXPECT_GT(files, 0);
}

}  // namespace
