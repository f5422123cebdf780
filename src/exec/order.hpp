// Which accesses of a block's threads happen before which others: the happens-before relation of the PTX
// memory model (PTX ISA, "Memory Consistency Model"), as vector clocks that cost nothing where barriers of
// the whole block do all the ordering.
//
// The clock of a warp counts the synchronisations of its lanes; an access has the time its warp had then. Of
// a thread is known up to which time of every other thread it is ordered after that thread. A barrier of all
// threads starts a new epoch: everything of older epochs is ordered before everything of this one, so nothing
// needs to be known of it. (Vector clocks: Fidge, Mattern 1988; only what is compared is kept: FastTrack,
// Flanagan and Freund 2009.)
//
// Of a cluster the warps of all blocks are numbered together, block after block, and there is one epoch.
// What asynchronous copies do that an mbarrier waits for is done by an agent of that mbarrier: like a thread
// it has a place in clocks, behind those of the threads, and a time, the number of its copies.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/program.hpp"

namespace lanescope::exec {

class Order {
 public:
  /// No thread and no agent.
  static constexpr uint32_t nobody = 0xffffffffu;
  /// What some threads have done and know, by thread; empty: nothing.
  using Clock = std::shared_ptr<std::vector<uint32_t>>;

  explicit Order(uint32_t warps) : warps_(warps) {}

  /// Another block, or cluster: nobody remembers anything.
  void start();
  /// All that was happens before all that will be, but for what agents do: a barrier of all threads.
  void new_epoch();
  [[nodiscard]] uint32_t epoch() const { return epoch_; }
  [[nodiscard]] uint32_t now(uint32_t warp) const { return warps_[warp].now; }

  [[nodiscard]] uint32_t threads() const { return static_cast<uint32_t>(warps_.size()) * warp_lanes; }
  /// The number of a new agent, to be used as warp * warp_lanes + lane.
  uint32_t add_agent() { return threads() + agents_++; }
  /// Whoever acquires `clock` comes after what the agent has done up to `time`.
  void tell(Clock& clock, uint32_t agent, uint32_t time) const;
  /// … and all that comes before what acquires `other`.
  void add(Clock& clock, const Clock& other) const;

  /// Whether what thread (warp, lane) did at `time` happens before what acquires the clock.
  [[nodiscard]] static bool holds(const Clock& clock, uint32_t warp, uint32_t lane, uint32_t time) {
    const size_t at = size_t{warp} * warp_lanes + lane;
    return clock && at < clock->size() && time <= (*clock)[at];
  }
  /// Whether what thread (warp, lane) did at `time` of this epoch happens before what thread (by_warp,
  /// by_lane) does now.
  [[nodiscard]] bool is_before(uint32_t warp, uint32_t lane, uint32_t time, uint32_t by_warp,
                               uint32_t by_lane) const {
    const WarpClock& by = warps_[by_warp];
    if (warp == by_warp) return lane == by_lane || (by.used && time <= (*by.own)[by_lane][lane]);
    return by.used && holds(by.others[by_lane], warp, lane, time);
  }

  /// Whether thread (by_warp, by_lane) is ordered after anything that `count` warps of other blocks have
  /// done.
  [[nodiscard]] bool knows_any(uint32_t first_warp, uint32_t count, uint32_t by_warp, uint32_t by_lane) const;
  /// The lanes synchronise with each other.
  void warp_barrier(uint32_t warp, uint32_t lanes);
  /// Nothing that is ordered here happens, but the warp's clock goes on.
  void tick(uint32_t warp) { ++warps_[warp].now; }
  /// Adds what the lanes have done and know to `clock`.
  void release(Clock& clock, uint32_t warp, uint32_t lanes);
  /// Whether the lane has made a fence in this epoch.
  [[nodiscard]] bool has_fenced(uint32_t warp, uint32_t lane) const {
    return warps_[warp].used && warps_[warp].fenced[lane] != 0;
  }
  /// As release(), but of what the lane itself has done only what came before its last fence.
  void release_fenced(Clock& clock, uint32_t warp, uint32_t lane);
  /// What `clock` holds happens before what the lanes do from now on. `covers`: it holds all they know.
  void acquire(const Clock& clock, uint32_t warp, uint32_t lanes, bool covers = false);
  /// It will, after the lane's next fence.
  void acquire_at_fence(const Clock& clock, uint32_t warp, uint32_t lane);
  void fence(uint32_t warp, uint32_t lanes);

  /// The lanes make a fence between what threads do themselves and what asynchronous copies do.
  void proxy_fence(uint32_t warp, uint32_t lanes);
  /// Whether some thread has made one after what thread (warp, lane) did at `time` of `epoch`.
  [[nodiscard]] bool has_proxy_fence_after(uint32_t warp, uint32_t lane, uint32_t epoch, uint32_t time) const;

 private:
  using Row = std::array<uint32_t, warp_lanes>;
  /// What a thread knew when it made its last one; epoch 0: it has made none.
  struct ProxyFence {
    uint32_t epoch = 0;
    Row own{};
    Clock others;
  };
  struct WarpClock {
    uint32_t now = 1;
    bool used = false;  ///< something of this epoch is known; else what follows is of an older epoch
    std::unique_ptr<std::array<Row, warp_lanes>> own;  ///< by lane: what it knows of the lanes of its warp
    std::array<Clock, warp_lanes> others;              ///< … and of those of other warps; may be shared
    Row fenced{};                                      ///< time before the last fence; 0: none in this epoch
    std::array<Clock, warp_lanes> pending;             ///< to be acquired at the next fence
  };
  std::vector<WarpClock> warps_;
  uint32_t epoch_ = 0;
  uint32_t agents_ = 0;
  std::vector<ProxyFence> proxy_fences_;  ///< by thread; empty: none

  WarpClock& used(uint32_t warp);
  [[nodiscard]] Clock fresh() const;
  /// A clock of one owner with a place for everybody, to be written.
  void own(Clock& clock) const;
};

/// The order twice, by the same clocks: as it is defined, and as it is if lanes that meet at a
/// shuffle, a vote or the like are ordered by that, too. That is not promised, but counted on, by NVIDIA's
/// own headers as well (cooperative groups of several warps).
class TwoOrders {
 public:
  struct Clock {
    Order::Clock defined, met;
    explicit operator bool() const { return defined != nullptr; }
  };

  explicit TwoOrders(uint32_t warps) : defined_(warps), met_(warps) {}

  [[nodiscard]] const Order& defined() const { return defined_; }
  [[nodiscard]] const Order& met() const { return met_; }

  void start() {
    defined_.start();
    met_.start();
  }
  void new_epoch() {
    defined_.new_epoch();
    met_.new_epoch();
  }
  uint32_t add_agent() {
    met_.add_agent();
    return defined_.add_agent();
  }
  void tell(Clock& clock, uint32_t agent, uint32_t time) const {
    defined_.tell(clock.defined, agent, time);
    met_.tell(clock.met, agent, time);
  }
  void add(Clock& clock, const Clock& other) const {
    defined_.add(clock.defined, other.defined);
    met_.add(clock.met, other.met);
  }
  void warp_barrier(uint32_t warp, uint32_t lanes) {
    defined_.warp_barrier(warp, lanes);
    met_.warp_barrier(warp, lanes);
  }
  /// The lanes meet where nothing orders what they have done.
  void meet(uint32_t warp, uint32_t lanes) {
    const uint32_t before = met_.now(warp);
    met_.warp_barrier(warp, lanes);
    if (met_.now(warp) != before) defined_.tick(warp);
  }
  void release(Clock& clock, uint32_t warp, uint32_t lanes) {
    defined_.release(clock.defined, warp, lanes);
    met_.release(clock.met, warp, lanes);
  }
  void release_fenced(Clock& clock, uint32_t warp, uint32_t lane) {
    defined_.release_fenced(clock.defined, warp, lane);
    met_.release_fenced(clock.met, warp, lane);
  }
  void acquire(const Clock& clock, uint32_t warp, uint32_t lanes, bool covers = false) {
    defined_.acquire(clock.defined, warp, lanes, covers);
    met_.acquire(clock.met, warp, lanes, covers);
  }
  void acquire_at_fence(const Clock& clock, uint32_t warp, uint32_t lane) {
    defined_.acquire_at_fence(clock.defined, warp, lane);
    met_.acquire_at_fence(clock.met, warp, lane);
  }
  void fence(uint32_t warp, uint32_t lanes) {
    defined_.fence(warp, lanes);
    met_.fence(warp, lanes);
  }
  /// What has no proxy fence is told of the order as defined.
  void proxy_fence(uint32_t warp, uint32_t lanes) {
    defined_.proxy_fence(warp, lanes);
    met_.tick(warp);
  }

 private:
  Order defined_, met_;
};

/// What an agent does at one time of its own.
struct AgentWork {
  uint32_t agent = Order::nobody, time = 0;
  /// Whether there is an agent that does it.
  explicit operator bool() const { return agent != Order::nobody; }
};

}  // namespace lanescope::exec
