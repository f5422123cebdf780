// Threads beside the one that launches.
#include "exec/host_threads.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "base/process.hpp"
#include "base/threads.hpp"

namespace lanescope::exec {
namespace {

constexpr uint32_t host_threads = 4;
using Ids = std::array<std::atomic<int>, host_threads>;

/// Each call waits for all others: only threads beside each other come to the end of it.
Ids& meet_on_host_threads() {
  static Ids ids;
  for (auto& id : ids) id = 0;
  std::atomic<uint32_t> there{0};
  on_host_threads(host_threads, [&](uint32_t i) {
    ids[i] = gettid();
    ++there;
    while (there != host_threads) std::this_thread::yield();
  });
  return ids;
}

TEST(HostThreads, RunBesideEachOther) {
  const Ids& ids = meet_on_host_threads();
  EXPECT_EQ(ids[0], gettid());
  for (uint32_t i = 1; i < host_threads; ++i)
    for (uint32_t k = 0; k < i; ++k) EXPECT_NE(ids[i], ids[k]);
}

TEST(HostThreads, SleepUntilTheyAreWanted) {
  const Ids& ids = meet_on_host_threads();
  for (uint32_t i = 1; i < host_threads; ++i)
    while (!sleeps_for_others(ids[i])) std::this_thread::yield();
}

TEST(HostThreads, OneIsTheCaller) {
  int calls = 0;
  on_host_threads(1, [&](uint32_t i) { calls += i == 0 ? 1 : 100; });
  EXPECT_EQ(calls, 1);
}

TEST(HostThreads, HandExceptionsOn) {
  std::atomic<bool> thrown{false};
  EXPECT_THROW(on_host_threads(2,
                               [&](uint32_t i) {
                                 if (i == 1) {
                                   thrown = true;
                                   throw std::runtime_error("of another thread");
                                 }
                                 while (!thrown) std::this_thread::yield();
                               }),
               std::runtime_error);
}

TEST(HostThreads, StartAnewInAChild) {
  (void)meet_on_host_threads();
  const pid_t child = fork();
  if (child == 0) {
    (void)meet_on_host_threads();
    _exit(7);
  }
  EXPECT_EQ(exit_status(wait_for(child)), 7);
}

}  // namespace
}  // namespace lanescope::exec
