// Which program of the CUDA toolkit is taken where several could be.
#include "base/tools.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <map>

#include "base/files.hpp"

namespace lanescope {
namespace {

namespace fs = std::filesystem;

class FindTool : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"PATH", "CUDA_HOME", "CUDA_PATH"}) before[name] = environment_variable(name);
    setenv("PATH", (folder / "none").c_str(), 1);
    setenv("CUDA_HOME", "", 1);
    unsetenv("CUDA_PATH");
  }
  void TearDown() override {
    for (const auto& [name, value] : before) setenv(name, value.c_str(), 1);
    unsetenv("TEST_TOOL");
  }
  /// A file in a folder below, which is made.
  fs::path make(const char* name, fs::perms permissions = fs::perms::owner_all) const {
    const fs::path path = folder / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, permissions);
    return path;
  }
  [[nodiscard]] static fs::path found() { return find_tool("lanescope-test-tool", "TEST_TOOL"); }

  const ScratchFolder scratch;
  const fs::path& folder = scratch.path();
  std::map<const char*, std::string> before;
};

TEST_F(FindTool, NowhereIsAnEmptyPath) { EXPECT_EQ(found(), ""); }

TEST_F(FindTool, TheNamedOneThenPathThenTheToolkits) {
  const fs::path home = make("home/bin/lanescope-test-tool"), other = make("other/bin/lanescope-test-tool"),
                 first = make("first/lanescope-test-tool"), second = make("second/lanescope-test-tool"),
                 named = make("named");
  setenv("CUDA_PATH", (folder / "other").c_str(), 1);
  EXPECT_EQ(found(), other);
  setenv("CUDA_HOME", (folder / "home").c_str(), 1);
  EXPECT_EQ(found(), home);
  setenv("PATH", ((folder / "none").string() + "::" + second.parent_path().string()).c_str(), 1);
  EXPECT_EQ(found(), second);
  setenv("PATH", (first.parent_path().string() + ":" + second.parent_path().string()).c_str(), 1);
  EXPECT_EQ(found(), first);
  setenv("TEST_TOOL", named.c_str(), 1);
  EXPECT_EQ(found(), named);
}

TEST_F(FindTool, OnlyProgramsAreFound) {
  const fs::path program = make("second/lanescope-test-tool");
  make("first/lanescope-test-tool", fs::perms::owner_read);
  fs::create_directories(folder / "none" / "lanescope-test-tool");
  setenv("PATH",
         ((folder / "none").string() + ":" + (folder / "first").string() + ":" + (folder / "second").string())
             .c_str(),
         1);
  EXPECT_EQ(found(), program);
  // One that is named and is none is not replaced by another.
  setenv("TEST_TOOL", (folder / "first" / "lanescope-test-tool").c_str(), 1);
  EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace lanescope
