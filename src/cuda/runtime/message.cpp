// See message.hpp. One write a message, past stdio, whose locks the program may hold.
#include "cuda/runtime/message.hpp"

#include <unistd.h>

#include <mutex>
#include <set>

namespace lanescope::cuda {

void say(const std::string& text) {
  const std::string line = "lanescope: " + text + "\n";
  const char* at = line.data();
  size_t left = line.size();
  while (left != 0) {
    const ssize_t wrote = write(STDERR_FILENO, at, left);
    if (wrote <= 0) return;
    at += wrote;
    left -= static_cast<size_t>(wrote);
  }
}

void say_once(const std::string& text) {
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;  // functions may be called when statics are gone
  const std::lock_guard lock(mutex);
  if (said->insert(text).second) say(text);
}

}  // namespace lanescope::cuda
