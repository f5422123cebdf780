// The blocks of one launch on the host's cores.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/device_queue.hpp"
#include "exec/launch.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

using Clock = std::chrono::steady_clock;

/// Hands out the blocks of one launch to host threads, and finds out when those that wait for each other
/// cannot go on.
class Grid {
 public:
  Grid(const Kernel& kernel, const LaunchConfig& config, const std::byte* params, Memory& memory,
       std::vector<std::unique_ptr<BlockState>>& states)
      : kernel_(kernel),
        config_(config),
        params_(params),
        memory_(memory),
        states_(states),
        total_(config.grid.count() / config.cluster.count()) {}

  /// Before the host threads work: until when, at most.
  void begin(Clock::time_point until) {
    until_ = until;
    stop_ = false;
    if (stalled_) ++epoch_;  // something outside may have changed what they wait for
    stalled_ = false;
  }
  /// After they have: whether blocks are left, and whether all of these wait for a change of memory that none
  /// of them can make.
  [[nodiscard]] bool finished() const { return parked_.empty() && next_ >= total_; }
  [[nodiscard]] bool stalled() const { return stalled_; }
  /// Ends the blocks that are left: what they wait for is reported.
  void give_up(WorkerState& worker);

  /// What one host thread does: runs blocks until none is left, or all wait in vain, or time is up.
  void work(uint32_t thread, LaunchWorker& worker, DeviceQueue& queue);

 private:
  struct Parked {
    std::unique_ptr<BlockState> state;
    bool stalled = false;
    uint64_t epoch = 0;  ///< of the grid, when its last slice began
    uint64_t pass = 0;
    bool was_last_resort = false;  ///< BlockState::last_resort in that slice
  };

  const Kernel& kernel_;
  const LaunchConfig& config_;
  const std::byte* params_;
  Memory& memory_;
  std::vector<std::unique_ptr<BlockState>>& states_;
  const uint64_t total_;  ///< clusters; a block is one where there are no larger ones
  std::atomic<uint64_t> next_{0}, done_{0}, epoch_{0}, parked_count_{0};
  std::atomic<uint32_t> active_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Parked> parked_;
  uint64_t pass_ = 0;  ///< every waiting block gets one slice before the next new block starts
  Clock::time_point last_progress_{};
  Clock::time_point until_ = Clock::time_point::max();
  std::atomic<bool> stop_{false};  ///< host threads are to leave
  bool stalled_ = false;
  std::mutex states_mutex_, print_mutex_;

  static void tell(LaunchWorker& worker, Observer* observer);
  void finish_block(uint32_t thread);
  void start(std::unique_ptr<BlockState>& state, uint64_t index);
  /// The next block to run on this host thread, new or parked. False when nothing is left to do.
  bool take(std::unique_ptr<BlockState>& state, WorkerState& worker);
  bool resume(std::unique_ptr<BlockState>& state, const std::deque<Parked>::iterator& which,
              bool last_resort = false);
};

}  // namespace lanescope::exec
