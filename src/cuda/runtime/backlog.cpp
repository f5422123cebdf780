// See backlog.hpp.
#include "cuda/runtime/backlog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/threads.hpp"

namespace lanescope::cuda {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto slice = 50ms;           ///< a kernel runs on before others get a turn
constexpr auto longest_look = 20ms;    ///< between two looks at what a stalled kernel waits for
constexpr auto worth_saying = 5s;      ///< of a wait for a stalled kernel
constexpr auto patience = 30s;         ///< with it, while threads of the program are busy with something else
constexpr auto running_is_said = 10s;  ///< of a wait for a kernel that runs; then twice as long …
constexpr auto patience_at_end = 10s;

bool is_done(const std::shared_ptr<const Ticket>& ticket) { return ticket->done; }
bool all_done(const Backlogs::Tickets& tickets) {
  return std::all_of(tickets.begin(), tickets.end(), is_done);
}

}  // namespace

std::shared_ptr<const Ticket> Backlogs::append(const Stream& stream, Item item) {
  std::shared_ptr<const Ticket> ticket = item.ticket;
  const Lock lock(mutex_);
  auto& backlog = of_stream_[&stream];
  if (backlog == nullptr) {
    backlog = std::make_shared<Backlog>();
    backlog->is_legacy = &stream == &Runtime::get().legacy_stream;
    backlog->is_blocking = (stream.flags & 1) == 0;
  }
  backlog->items.push_back(std::move(item));
  if (!active_.insert(backlog).second) return ticket;
  ++count_;
  if (!start_thread([this, backlog] { run_items(backlog); }))
    throw Error("the host has no thread left for work that waits");
  return ticket;
}

std::shared_ptr<const Ticket> Backlogs::defer(const Stream& stream, Tickets tickets,
                                              std::unique_ptr<UnfinishedLaunch> launch) {
  Item item;
  item.after = std::move(tickets);
  item.launch = std::move(launch);
  return append(stream, std::move(item));
}

std::shared_ptr<const Ticket> Backlogs::defer(const Stream& stream, Tickets tickets,
                                              std::function<void()> work) {
  Item item;
  item.after = std::move(tickets);
  item.work = std::move(work);
  return append(stream, std::move(item));
}

void Backlogs::run_items(const std::shared_ptr<Backlog>& backlog) {
  Lock lock(mutex_);
  own_threads_.insert(gettid());
  while (!backlog->items.empty()) {
    Item& item = backlog->items.front();  // stays where it is while others are added behind it
    backlog->doing = Doing::waiting;
    changed_.wait(lock, [&] { return all_done(item.after) || ending_; });
    if (ending_) break;
    backlog->doing = Doing::working;
    backlog->since = Clock::now();
    backlog->kernel = item.launch != nullptr ? item.launch->name() : "";
    lock.unlock();
    if (item.launch != nullptr)
      run_launch(*backlog, *item.launch);
    else
      item.work();
    lock.lock();
    item.ticket->done = true;
    backlog->items.pop_front();
    changed_.notify_all();
  }
  own_threads_.erase(gettid());
  active_.erase(backlog);
  --count_;
  changed_.notify_all();
}

void Backlogs::run_launch(Backlog& backlog, UnfinishedLaunch& launch) {
  Clock::duration look = 1ms;
  uint64_t writes = launch.writes();
  for (;;) {
    const auto looked = Clock::now();
    const UnfinishedLaunch::State state = launch.run(looked + slice);
    if (state == UnfinishedLaunch::State::finished) return;
    Lock lock(mutex_);
    if (ending_) return;
    backlog.looked = looked;
    const bool moved = launch.writes() != writes;
    writes = launch.writes();
    if (state == UnfinishedLaunch::State::paused || moved) {
      if (backlog.doing == Doing::stalled) backlog.since = Clock::now();
      backlog.doing = Doing::working;
      look = 1ms;
    } else if (backlog.doing != Doing::stalled) {
      backlog.doing = Doing::stalled;
      backlog.since = Clock::now();
    }
    if (state == UnfinishedLaunch::State::paused) {
      lock.unlock();
      std::this_thread::sleep_for(100us);  // others may want to launch
      continue;
    }
    changed_.wait_for(lock, look, [&] { return backlog.give_up || ending_; });
    look = std::min<Clock::duration>(2 * look, longest_look);
    if (!std::exchange(backlog.give_up, false)) continue;
    lock.unlock();
    launch.give_up();
  }
}

Backlogs::Tickets Backlogs::in(const Stream& stream) const {
  const Lock lock(mutex_);
  const auto found = of_stream_.find(&stream);
  if (found == of_stream_.end() || found->second->items.empty()) return {};
  return {found->second->items.back().ticket};
}

Backlogs::Tickets Backlogs::all() const {
  const Lock lock(mutex_);
  Tickets tickets;
  for (const auto& backlog : active_)
    if (!backlog->items.empty()) tickets.push_back(backlog->items.back().ticket);
  return tickets;
}

Backlogs::Tickets Backlogs::before(const Stream& stream) const {
  const bool is_legacy = &stream == &Runtime::get().legacy_stream, is_blocking = (stream.flags & 1) == 0;
  Tickets tickets = in(stream);
  const Lock lock(mutex_);
  for (const auto& backlog : active_) {
    if (backlog->items.empty()) continue;
    if ((is_legacy && backlog->is_blocking) || (is_blocking && backlog->is_legacy))
      tickets.push_back(backlog->items.back().ticket);
  }
  return tickets;
}

/// Whether all that is unfinished waits: for stalled kernels; since when, and when it was last looked at.
bool Backlogs::is_stuck(Clock::time_point& since, Clock::time_point& looked) const {
  since = Clock::time_point::min();
  looked = Clock::time_point::max();
  bool stalled = false;
  for (const auto& backlog : active_) {
    if (backlog->doing == Doing::working) return false;
    if (backlog->doing != Doing::stalled) continue;
    stalled = true;
    since = std::max(since, backlog->since);
    looked = std::min(looked, backlog->looked);
  }
  return stalled;
}

/// Whether every thread of the process waits for the device, is one of ours, or sleeps until another one
/// wakes it. With those that sleep: what has gone to sleep once more in the meantime may have done anything.
std::optional<Backlogs::Sleepers> Backlogs::program_waits() const {
  Sleepers sleepers;
  const std::vector<int> threads = threads_of_process();
  for (const int id : threads) {
    const auto waiting = waiting_threads_.find(id);
    if (own_threads_.contains(id) || (waiting != waiting_threads_.end() && !all_done(*waiting->second)))
      continue;
    const auto count = sleeps_for_others(id);
    if (!count) return std::nullopt;
    sleepers[id] = *count;
  }
  return threads.empty() ? std::nullopt : std::optional(std::move(sleepers));
}

/// What could have freed the stalled kernels may be queued behind them: that is said.
void Backlogs::end_stalled() {
  std::set<std::string> behind;
  for (const auto& backlog : active_) {
    backlog->give_up = backlog->doing == Doing::stalled;
    for (const Item& item : backlog->items)
      if (item.launch != nullptr && (backlog->doing == Doing::waiting || &item != &backlog->items.front()))
        behind.insert(item.launch->name());
  }
  if (!behind.empty())
    say(fmt::format("queued behind kernels that wait, and not begun: {}", fmt::join(behind, ", ")));
  changed_.notify_all();
}

void Backlogs::wait(const Tickets& tickets) {
  Lock lock(mutex_);
  const int id = gettid();
  waiting_threads_[id] = &tickets;
  bool said = false;
  const auto begin = Clock::now();
  Clock::duration say_after = running_is_said;
  // Since when nobody is left who could free the kernels: what happened before that they may not have seen
  // yet.
  auto alone = Clock::time_point::max();
  std::optional<Sleepers> sleepers;
  while (!changed_.wait_for(lock, 20ms, [&] { return all_done(tickets); })) {
    Clock::time_point since, looked;
    const bool stuck = is_stuck(since, looked);
    const auto kernel = [&] {
      const auto one = std::find_if(active_.begin(), active_.end(), [&](const auto& backlog) {
        return backlog->doing == (stuck ? Doing::stalled : Doing::working) && !backlog->kernel.empty();
      });
      return one == active_.end() ? std::string() : (*one)->kernel;
    };
    const auto before =
        std::exchange(sleepers, stuck && !Runtime::get().shares_memory ? program_waits() : std::nullopt);
    const auto now = Clock::now();
    if (!sleepers || since > alone)
      alone = Clock::time_point::max();
    else if (sleepers != before || alone == Clock::time_point::max())
      alone = now;
    if (stuck && (looked > alone || now - since > patience)) {
      end_stalled();
    } else if (stuck && now - since > worth_saying && !std::exchange(said, true)) {
      say(kernel() +
          " waits for a change of memory, the program waits for it, and nothing has happened for " +
          fmt::format("{} s", std::chrono::seconds(worth_saying).count()));
    } else if (!stuck && now - begin > say_after && !kernel().empty()) {
      say(fmt::format("{} has been running for {} s", kernel(),
                      std::chrono::duration_cast<std::chrono::seconds>(now - begin).count()));
      say_after *= 2;
    }
  }
  waiting_threads_.erase(id);
}

void Backlogs::end() {
  Lock lock(mutex_);
  const auto until = Clock::now() + patience_at_end;
  Clock::time_point since, looked;
  while (!active_.empty() && !is_stuck(since, looked) && Clock::now() < until) changed_.wait_for(lock, 20ms);
  ending_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, 2s, [&] { return active_.empty(); });
}

void Backlogs::forget(const Stream& stream) {
  const Lock lock(mutex_);
  of_stream_.erase(&stream);
}

}  // namespace lanescope::cuda
