// Work that cannot be done when it is submitted. A kernel that waits for something the host does after the
// launch (or that runs very long) is left to a thread of its own, so that the host program goes on; what is
// submitted to its stream from then on, and to streams that wait for that one, queues up behind it. Nothing
// of this exists while all kernels come to their end by themselves.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

/// A kernel that is taken up again and again until it has finished.
class UnfinishedLaunch {
 public:
  using State = exec::Image::Execution::State;
  UnfinishedLaunch() = default;
  virtual ~UnfinishedLaunch() = default;
  UnfinishedLaunch(const UnfinishedLaunch&) = delete;
  UnfinishedLaunch& operator=(const UnfinishedLaunch&) = delete;

  virtual State run(std::chrono::steady_clock::time_point until) = 0;
  /// Ends it where it is stalled: a deadlock.
  virtual void give_up() = 0;
  [[nodiscard]] virtual uint64_t writes() const = 0;
  [[nodiscard]] virtual std::string name() const = 0;
};

/// Whether a piece of work is done; asked and waited for by others.
struct Ticket {
  std::atomic<bool> done{false};
};

class Backlogs {
 public:
  using Tickets = std::vector<std::shared_ptr<const Ticket>>;

  /// Whether there is anything unfinished: without it, none of the rest need be asked.
  [[nodiscard]] bool any() const { return count_ != 0; }
  /// Leaves a kernel to a thread of its own, after what is queued in its stream and after `tickets`.
  std::shared_ptr<const Ticket> defer(const Stream& stream, Tickets tickets,
                                      std::unique_ptr<UnfinishedLaunch> launch);
  /// What work submitted to this stream now has to wait for; nothing that is done.
  [[nodiscard]] Tickets before(const Stream& stream) const;
  /// The same for other work.
  std::shared_ptr<const Ticket> defer(const Stream& stream, Tickets tickets, std::function<void()> work);

  /// Everything unfinished; what is in this stream.
  [[nodiscard]] Tickets all() const;
  [[nodiscard]] Tickets in(const Stream& stream) const;
  /// Waits on the host's behalf. Where no thread of the program is left that could free a kernel which waits,
  /// and where nothing has happened for a long time, that kernel ends with a finding.
  void wait(const Tickets& tickets);
  /// At the end of the process: waits for a while for what is not stalled; no kernel runs on afterwards.
  void end();
  /// The stream is gone; its work is not.
  void forget(const Stream& stream);

 private:
  enum class Doing : uint8_t { working, waiting, stalled };
  struct Item {
    Tickets after;
    std::function<void()> work;  ///< or:
    std::unique_ptr<UnfinishedLaunch> launch;
    std::shared_ptr<Ticket> ticket = std::make_shared<Ticket>();
  };
  struct Backlog {
    bool is_legacy = false,
         is_blocking = false;  ///< how its stream and the legacy stream wait for each other
    std::deque<Item> items;    ///< the first is being done
    Doing doing = Doing::working;
    std::string kernel;                             ///< that runs
    std::chrono::steady_clock::time_point since{};  ///< it runs, or is stalled
    std::chrono::steady_clock::time_point
        looked{};  ///< when the last look at what a stalled one waits for began
    bool give_up = false;
  };
  using Lock = std::unique_lock<std::mutex>;
  /// Threads, by their ids, and how often each has gone to sleep.
  using Sleepers = std::map<int, uint64_t>;

  mutable std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  std::atomic<uint64_t> count_{0};             ///< of active_
  std::set<std::shared_ptr<Backlog>> active_;  ///< those with items
  std::map<const Stream*, std::shared_ptr<Backlog>> of_stream_;
  std::set<int> own_threads_;
  std::map<int, const Tickets*> waiting_threads_;  ///< of the program, and what they wait for
  bool ending_ = false;

  std::shared_ptr<const Ticket> append(const Stream& stream, Item item);
  void run_items(const std::shared_ptr<Backlog>& backlog);
  void run_launch(Backlog& backlog, UnfinishedLaunch& launch);
  [[nodiscard]] bool is_stuck(std::chrono::steady_clock::time_point& since,
                              std::chrono::steady_clock::time_point& looked) const;
  [[nodiscard]] std::optional<Sleepers> program_waits() const;
  void end_stalled();
};

}  // namespace lanescope::cuda
