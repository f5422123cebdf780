// See threads.hpp; proc(5) describes the files, futex(2) the arguments.
#include "base/threads.hpp"

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace lanescope {
namespace {

std::string directory_of(int thread) { return "/proc/self/task/" + std::to_string(thread); }

std::optional<uint64_t> voluntary_switches(int thread) {
  std::ifstream file(directory_of(thread) + "/status");
  constexpr char separator = ':';
  for (std::string name; std::getline(file, name, separator);) {
    if (uint64_t count = 0; name == "voluntary_ctxt_switches" && file >> count) return count;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

/// A futex that may be shared with other processes is waited for on behalf of this one alone if its value is
/// the id of a thread: the kernel clears it when that thread ends.
bool waits_without_limit(int thread) {
  std::ifstream file(directory_of(thread) + "/syscall");
  int64_t number = 0;
  uint64_t address = 0, operation = 0, value = 0, timeout = 0;
  if (!(file >> number >> std::hex >> address >> operation >> value >> timeout)) return false;
  std::error_code failed;
  const auto command = static_cast<int>(operation) & FUTEX_CMD_MASK;
  const bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
  if (number != SYS_futex || !waits || timeout != 0) return false;
  return (operation & FUTEX_PRIVATE_FLAG) != 0 ||
         std::filesystem::exists(directory_of(static_cast<int>(value)), failed);
}

}  // namespace

bool start_thread(std::function<void()> work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // which the new thread takes over
  bool runs = true;
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error&) {
    runs = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return runs;
}

std::vector<int> threads_of_process() {
  std::vector<int> ids;
  std::error_code failed;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", failed))
    ids.push_back(std::stoi(task.path().filename()));
  return ids;
}

std::optional<uint64_t> sleeps_for_others(int thread) {
  // Counted first: a thread that has been awake between the two has another count at the next look.
  const std::optional<uint64_t> count = voluntary_switches(thread);
  return waits_without_limit(thread) ? count : std::nullopt;
}

}  // namespace lanescope
