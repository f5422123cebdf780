// Files are read whole, or it is said why not.
#include "base/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "base/error.hpp"

namespace lanescope {
namespace {

std::string error_of(const std::string& path) {
  try {
    (void)read_file(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Files, AreReadWhole) {
  const std::string path = testing::TempDir() + "lanescope_files_test";
  std::string all;
  for (int i = 0; i < 100000; ++i) all += static_cast<char>(i % 256);
  for (const std::string& content : {std::string(), std::string("a\r\n\0b", 5), all}) {
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_EQ(read_file(path), content);
  }
  std::filesystem::remove(path);
}

TEST(Files, WithoutASizeAreReadToTheirEnd) {
  if (!std::filesystem::exists("/proc/self/maps")) GTEST_SKIP() << "there is no /proc";
  EXPECT_THAT(read_file("/proc/self/maps"), testing::HasSubstr("test_base"));
}

TEST(Files, ThatCannotBeReadSayWhy) {
  EXPECT_EQ(error_of("/no/such/file"), "/no/such/file: cannot read: No such file or directory");
  EXPECT_EQ(error_of("/"), "/: cannot read: Is a directory");
  EXPECT_FALSE(read_if_readable("/no/such/file").has_value());
  EXPECT_EQ(errno, ENOENT);
}

TEST(ScratchFolder, IsFoundFromEverywhere) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", ".", 1);
  EXPECT_TRUE(ScratchFolder().path().is_absolute());
  if (before != nullptr)
    setenv("TMPDIR", kept.c_str(), 1);
  else
    unsetenv("TMPDIR");
}

}  // namespace
}  // namespace lanescope
