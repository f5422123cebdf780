// See grid.hpp.
#include "exec/grid.hpp"

#include <immintrin.h>

#include <algorithm>
#include <cstdio>

#include "exec/cluster.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {
namespace {

/// PTX arithmetic rounds to nearest and keeps subnormals unless an instruction says otherwise, whatever the
/// host program has set for its own.
class HostRounding {
 public:
  HostRounding() { _mm_setcsr(plain); }
  ~HostRounding() { _mm_setcsr(before_); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  static constexpr unsigned plain = 0x1f80;
  unsigned before_ = _mm_getcsr();
};

}  // namespace

void Grid::give_up(WorkerState& worker) {
  for (Parked& p : parked_) report_stall(*p.state, worker);
  parked_.clear();
  parked_count_ = 0;
  next_ = total_;
}

void Grid::work(uint32_t thread, LaunchWorker& worker, DeviceQueue& queue) {
  worker.device = &queue;
  worker.until = until_;
  worker.stop = &stop_;
  const HostRounding rounding;
  worker.kernel = &kernel_;
  worker.shared = &shared_variables(kernel_, config_);
  worker.memory = &memory_;
  worker.params = params_;
  worker.patience = config_.patience;
  worker.print = [this](const std::string& text) {
    std::lock_guard lock(print_mutex_);
    if (config_.print)
      config_.print(text);
    else
      std::fwrite(text.data(), 1, text.size(), stdout);
  };
  worker.sites.resize(kernel_.accesses.size());
  worker.branches.resize(kernel_.branches.size());
  Observer* const observer = config_.observer ? config_.observer(thread) : nullptr;
  Observer nobody;
  std::unique_ptr<BlockState> state;
  while (take(state, worker)) {
    const uint64_t epoch = epoch_;
    if (observer != nullptr)
      tell(worker, state->index / config_.cluster.count() % config_.observe_every == 0
                       ? observer->of_block(state->index)
                       : &nobody);
    const uint64_t writes = worker.global_writes;
    const Outcome outcome = run_block(*state, worker);
    // Before another host thread can find that nothing has changed since its block stalled: that one may
    // have looked at memory just before this block's last write.
    if (outcome != Outcome::stalled || worker.global_writes != writes) ++epoch_;
    if (outcome == Outcome::finished && parked_count_ == 0) {
      finish_block(thread);
      --active_;
      continue;
    }
    std::lock_guard lock(mutex_);
    --active_;
    if (outcome == Outcome::finished) {
      finish_block(thread);
    } else {
      const bool was_last_resort = state->last_resort;
      parked_.push_back({std::move(state), outcome == Outcome::stalled, epoch, pass_, was_last_resort});
      parked_count_ = parked_.size();
    }
    changed_.notify_all();
  }
  if (worker.observer != nullptr) flush_repeats(worker);
  std::lock_guard lock(states_mutex_);
  if (state) states_.push_back(std::move(state));
}

void Grid::tell(LaunchWorker& worker, Observer* observer) {
  if (observer == worker.observer) return;
  if (worker.observer != nullptr) flush_repeats(worker);
  worker.observer = observer;
  worker.shared_granule_mask = observer->shared_granule - 1;
  worker.copy_granule_mask = observer->copy_granule - 1;
  worker.global_granule_mask = observer->global_granule - 1;
}

void Grid::finish_block(uint32_t thread) {
  const uint64_t done = ++done_;
  if (!config_.progress || thread != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_progress_ < std::chrono::milliseconds(100)) return;
  last_progress_ = now;
  config_.progress(done * config_.cluster.count(), config_.grid.count());
}

void Grid::start(std::unique_ptr<BlockState>& state, uint64_t index) {
  if (!state) {
    std::lock_guard lock(states_mutex_);
    if (!states_.empty()) {
      state = std::move(states_.back());
      states_.pop_back();
    }
  }
  if (!state) state = make_block(kernel_, config_);
  start_block(*state, kernel_, config_, index, params_);
}

bool Grid::take(std::unique_ptr<BlockState>& state, WorkerState& worker) {
  if (worker.leaves()) {
    std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
    return false;
  }
  ++active_;
  if (parked_count_ == 0) {
    const uint64_t index = next_++;
    if (index < total_) {
      start(state, index);
      return true;
    }
  }
  --active_;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stop_) return false;
    auto waiting = std::find_if(parked_.begin(), parked_.end(),
                                [&](const Parked& p) { return !p.stalled && p.pass < pass_; });
    if (waiting != parked_.end()) return resume(state, waiting);
    if (next_ < total_ && parked_.size() < config_.resident_blocks) {
      const uint64_t index = next_++;
      if (index < total_) {
        ++pass_;
        ++active_;
        lock.unlock();
        start(state, index);
        return true;
      }
    }
    auto hopeful = std::find_if(parked_.begin(), parked_.end(),
                                [&](const Parked& p) { return !p.stalled || p.epoch < epoch_; });
    if (hopeful != parked_.end()) {
      ++pass_;
      return resume(state, hopeful);
    }
    if (parked_.empty()) return false;
    if (active_ == 0) {  // all are stalled, and nothing has changed since they were seen to be
      auto untried =
          std::find_if(parked_.begin(), parked_.end(), [](const Parked& p) { return !p.was_last_resort; });
      if (untried != parked_.end()) return resume(state, untried, true);
      stalled_ = stop_ = true;
      changed_.notify_all();
      return false;
    }
    changed_.wait(lock);
  }
}

bool Grid::resume(std::unique_ptr<BlockState>& state, const std::deque<Parked>::iterator& which,
                  bool last_resort) {
  if (state) {
    std::lock_guard lock(states_mutex_);
    states_.push_back(std::move(state));
  }
  state = std::move(which->state);
  each_block(*state, [&](BlockState& block) { block.last_resort = last_resort; });
  parked_.erase(which);
  parked_count_ = parked_.size();
  ++active_;
  return true;
}

}  // namespace lanescope::exec
