// Starting and awaiting processes.
#include "base/process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace lanescope {
namespace {

TEST(Process, ArgumentsEndWithNull) {
  const std::vector<std::string> command{"a", "b c"};
  const std::vector<char*> arguments = argument_vector(command);
  ASSERT_EQ(arguments.size(), 3U);
  EXPECT_STREQ(arguments[1], "b c");
  EXPECT_EQ(arguments[2], nullptr);
}

TEST(Process, EndsAsAShellSays) {
  const pid_t leaves = fork();
  if (leaves == 0) _exit(7);
  EXPECT_EQ(exit_status(wait_for(leaves)), 7);
  const pid_t is_killed = fork();
  if (is_killed == 0) {
    raise(SIGKILL);
    _exit(0);
  }
  EXPECT_EQ(exit_status(wait_for(is_killed)), 128 + SIGKILL);
}

}  // namespace
}  // namespace lanescope
