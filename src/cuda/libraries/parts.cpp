// See parts.hpp.
#include "cuda/libraries/parts.hpp"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

namespace lanescope::cuda::libraries {
namespace {

int64_t thread_count() {
  const char* asked = std::getenv("LANESCOPE_THREADS");
  const int64_t number = asked != nullptr ? std::atoll(asked) : 0;
  return number > 0 ? number : std::max<int64_t>(1, std::thread::hardware_concurrency());
}

}  // namespace

void in_parts(int64_t count, double worth, const std::function<void(int64_t first, int64_t last)>& body) {
  const auto most = static_cast<int64_t>(std::min(worth, static_cast<double>(thread_count())));
  const int64_t parts = std::max<int64_t>(1, std::min(most, count));
  std::vector<std::exception_ptr> failures(static_cast<size_t>(parts));
  const auto run = [&](int64_t part) {
    try {
      body(count * part / parts, count * (part + 1) / parts);
    } catch (...) {
      failures[static_cast<size_t>(part)] = std::current_exception();
    }
  };
  {
    // Signals are for the program's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::vector<std::jthread> others;
    for (int64_t part = 1; part < parts; ++part) others.emplace_back(run, part);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    run(0);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace lanescope::cuda::libraries
