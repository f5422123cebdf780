// Which accesses of a block's threads happen before which others: the happens-before relation of the PTX
// memory model (PTX ISA, "Memory Consistency Model"), as vector clocks that cost nothing where barriers of
// the whole block do all the ordering.
//
// The clock of a warp counts the synchronisations of its lanes; an access has the time its warp had then. Of
// a thread is known up to which time of every other thread it is ordered after that thread. A barrier of all
// threads starts a new epoch: everything of older epochs is ordered before everything of this one, so nothing
// needs to be known of it. (Vector clocks: Fidge, Mattern 1988; only what is compared is kept: FastTrack,
// Flanagan and Freund 2009.)
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/program.hpp"

namespace lanescope::exec {

class Order {
 public:
  /// What some threads have done and know, by thread; empty: nothing.
  using Clock = std::shared_ptr<std::vector<uint32_t>>;

  explicit Order(uint32_t warps) : warps_(warps) {}

  /// All that was happens before all that will be: a barrier of all threads, or a new block.
  void new_epoch();
  [[nodiscard]] uint32_t epoch() const { return epoch_; }
  [[nodiscard]] uint32_t now(uint32_t warp) const { return warps_[warp].now; }

  /// Whether what thread (warp, lane) did at `time` of this epoch happens before what thread (by_warp,
  /// by_lane) does now.
  [[nodiscard]] bool is_before(uint32_t warp, uint32_t lane, uint32_t time, uint32_t by_warp,
                               uint32_t by_lane) const {
    const WarpClock& by = warps_[by_warp];
    if (warp == by_warp) return lane == by_lane || (by.used && time <= (*by.own)[by_lane][lane]);
    if (!by.used) return false;
    const Clock& others = by.others[by_lane];
    return others && time <= (*others)[warp * warp_lanes + lane];
  }

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
  /// What `clock` holds happens before what the lanes do from now on.
  void acquire(const Clock& clock, uint32_t warp, uint32_t lanes);
  /// It will, after the lane's next fence.
  void acquire_at_fence(const Clock& clock, uint32_t warp, uint32_t lane);
  void fence(uint32_t warp, uint32_t lanes);

 private:
  using Row = std::array<uint32_t, warp_lanes>;
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

  WarpClock& used(uint32_t warp);
  [[nodiscard]] Clock fresh() const;
  /// A clock of one owner, to be written.
  void own(Clock& clock) const;
};

/// The order of a block twice, by the same clocks: as it is defined, and as it is if lanes that meet at a
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

  void new_epoch() {
    defined_.new_epoch();
    met_.new_epoch();
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
  void acquire(const Clock& clock, uint32_t warp, uint32_t lanes) {
    defined_.acquire(clock.defined, warp, lanes);
    met_.acquire(clock.met, warp, lanes);
  }
  void acquire_at_fence(const Clock& clock, uint32_t warp, uint32_t lane) {
    defined_.acquire_at_fence(clock.defined, warp, lane);
    met_.acquire_at_fence(clock.met, warp, lane);
  }
  void fence(uint32_t warp, uint32_t lanes) {
    defined_.fence(warp, lanes);
    met_.fence(warp, lanes);
  }

 private:
  Order defined_, met_;
};

}  // namespace lanescope::exec
