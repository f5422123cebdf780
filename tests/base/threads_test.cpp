// Which threads sleep until another one of the process wakes them.
#include "base/threads.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace lanescope {
namespace {

using namespace std::chrono_literals;

/// A thread that does one thing, and its id.
class Sleeper {
 public:
  explicit Sleeper(std::function<void()> wait)
      : thread_([this, wait = std::move(wait)] {
          id_ = gettid();
          wait();
        }) {
    while (id_ == 0) std::this_thread::yield();
  }
  [[nodiscard]] int id() const { return id_; }
  std::thread& thread() { return thread_; }

 private:
  std::atomic<int> id_{0};
  std::thread thread_;
};

/// Waits until the thread sleeps: ctest ends the test where it never does.
uint64_t sleeps_at_last(int thread) {
  for (;;)
    if (const auto count = sleeps_for_others(thread)) return *count;
}

bool never_sleeps(int thread) {
  for (int i = 0; i < 50; ++i, std::this_thread::sleep_for(1ms))
    if (sleeps_for_others(thread)) return false;
  return true;
}

TEST(Threads, OfThisProcess) {
  Sleeper other([] { std::this_thread::sleep_for(100ms); });
  const std::vector<int> ids = threads_of_process();
  EXPECT_NE(std::find(ids.begin(), ids.end(), gettid()), ids.end());
  EXPECT_NE(std::find(ids.begin(), ids.end(), other.id()), ids.end());
  other.thread().join();
}

TEST(Threads, ThatWaitForOthers) {
  std::mutex mutex;
  std::condition_variable changed;
  int state = 0;
  Sleeper waits([&] {
    std::unique_lock lock(mutex);
    for (const int next : {1, 2}) changed.wait(lock, [&] { return state >= next; });
  });
  const auto set = [&](int to) {
    const std::lock_guard lock(mutex);
    state = to;
    changed.notify_all();
  };
  Sleeper joins([&] { waits.thread().join(); });
  const uint64_t before = sleeps_at_last(waits.id());
  (void)sleeps_at_last(joins.id());
  set(1);
  while (sleeps_at_last(waits.id()) == before)
    std::this_thread::yield();  // it slept, awoke, and sleeps again
  set(2);
  joins.thread().join();
}

TEST(Threads, ThatMayGoOnByThemselves) {
  std::array<int, 2> pipes{};
  ASSERT_EQ(pipe(pipes.data()), 0);
  std::atomic<bool> ends{false};
  std::mutex mutex;
  std::condition_variable changed;
  Sleeper busy([&] {
    while (!ends) {
    }
  });
  Sleeper pauses([&] {
    while (!ends) std::this_thread::sleep_for(10ms);
  });
  Sleeper waits_for_a_while([&] {
    std::unique_lock lock(mutex);
    while (!ends) changed.wait_for(lock, 10ms);
  });
  Sleeper reads([&] {
    char byte = 0;
    while (read(pipes[0], &byte, 1) < 0) {
    }
  });
  for (const Sleeper* one : {&busy, &pauses, &waits_for_a_while, &reads})
    EXPECT_TRUE(never_sleeps(one->id()));
  ends = true;
  ASSERT_EQ(write(pipes[1], "x", 1), 1);
  for (Sleeper* one : {&busy, &pauses, &waits_for_a_while, &reads}) one->thread().join();
  for (const int end : pipes) close(end);
}

}  // namespace
}  // namespace lanescope
