// What starting and awaiting a process takes in POSIX.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>

#include <cerrno>
#include <string>
#include <vector>

namespace lanescope {

/// The arguments as exec and posix_spawn want them: null at the end. They point into `command`.
[[nodiscard]] inline std::vector<char*> argument_vector(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

/// The status of a child that has ended, as waitpid tells it; signals that come meanwhile end no waiting.
inline int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// What a shell makes of such a status: the exit status, or 128 and the number of the signal.
[[nodiscard]] inline int exit_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace lanescope
