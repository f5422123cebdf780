// See race_check.hpp.
#include "exec/race_check.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "exec/cluster.hpp"
#include "exec/each_lane.hpp"
#include "exec/race_rules.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

using Strength = CheckedAccess::Strength;
using Excuse = Finding::Excuse;

bool uses_proxy(const Kernel& kernel) {
  return std::any_of(kernel.checks.begin(), kernel.checks.end(),
                     [](const CheckedAccess& access) { return access.async_proxy; });
}

}  // namespace

RaceCheck::RaceCheck(const Kernel& kernel, const BlockShape& shape, SharedPieces pieces, bool lockstep,
                     ClusterOrder& cluster)
    : kernel_(kernel),
      shape_(shape),
      pieces_(pieces),
      lockstep_(lockstep),
      cluster_(cluster),
      order_(cluster.order),
      alone_(order_.defined().threads() == shape.lanes()),
      history_(order_.defined(), pieces.count(shape.shared_bytes), uses_proxy(kernel)),
      async_work_(kernel, shape, pieces, cluster, history_),
      executed_(size_t{shape.warps()} * kernel.checks.size()) {
  cluster.blocks.push_back(this);
}

void RaceCheck::start() {
  async_work_.start();
  history_.start();
  ended_ = {};
  passed_ = {};
  cluster_.arrived = cluster_.passed = {};
  cluster_.begun_by.clear();
  order_.start();
  new_epoch();
}

void RaceCheck::new_epoch() {
  order_.new_epoch();
  history_.new_epoch();
  synchronised_.clear();
  cluster_.flags.clear();
  if (order_.defined().epoch() == 0) {
    // The counter is round: nothing may look like done in one of the epochs to come.
    std::fill(executed_.begin(), executed_.end(), Executed{});
    order_.new_epoch();
  }
  async_work_.new_epoch();
}

// Accesses.

void RaceCheck::access(WarpAccess& now) {
  if (now.access.strength != Strength::plain)
    each_lane(now.global, [&](uint32_t lane) { synchronise_by(now, lane); });
  if (now.shared == 0) return;
  if (lockstep_) order_.warp_barrier(now.warp, now.w.active);
  look_for_races(now);
  if (is_copy(now.access.kind)) async_work_.begin_copies(now);
  note_executed(now);
}

void RaceCheck::note_executed(const WarpAccess& now) {
  Executed& executed = executed_[now.w.index * kernel_.checks.size() + now.number];
  if (executed.epoch != order_.defined().epoch()) executed = {order_.defined().epoch(), 0};
  executed.lanes |= now.shared;
}

bool RaceCheck::has_executed(const Warp& w, uint32_t lane, uint32_t access) const {
  const Executed& executed = executed_[w.index * kernel_.checks.size() + access];
  return executed.epoch == order_.defined().epoch() && (executed.lanes >> lane & 1) != 0;
}

void RaceCheck::access_from_elsewhere(WarpAccess& now) {
  each_lane(now.shared, [&](uint32_t lane) { against_beginning(now, lane); });
  look_for_races(now);
}

void RaceCheck::copy_in_bulk(Warp& w, uint32_t lane, uint32_t access, uint64_t offset, uint32_t bytes,
                             AgentWork work) {
  WarpAccess now{w, kernel_.checks[access], access, bytes};
  now.offset[lane] = offset;
  now.shared = 1u << lane;
  now.by = work ? work : AgentWork{Order::nobody, AccessHistory::in_flight};
  if (w.block->rank != shape_.rank) against_beginning(now, lane);
  if (now.access.async_proxy)
    pieces_.each(offset, bytes, [&](uint32_t index) { against_own_store(now, lane, index); });
  look_for_races(now);
  async_work_.add(now, lane);
}

void RaceCheck::store_range(Warp& w, uint32_t lane, uint32_t access, uint64_t offset, uint32_t bytes) {
  WarpAccess now{w, kernel_.checks[access], access, bytes};
  now.offset[lane] = offset;
  now.shared = 1u << lane;
  if (w.block->rank != shape_.rank) against_beginning(now, lane);
  look_for_races(now);
}

void RaceCheck::read_by_agent(WarpAccess& now, uint32_t lane, bool keeps) {
  if (now.w.block->rank != shape_.rank) against_beginning(now, lane);
  look_for_races(now);
  pieces_.each(now.offset[lane], now.bytes, [&](uint32_t index) { against_own_store(now, lane, index); });
  if (keeps) async_work_.add(now, lane);
}

void RaceCheck::look_for_races(WarpAccess& now) {
  each_lane(now.shared, [&](uint32_t lane) {
    pieces_.each(now.offset[lane], now.bytes, [&](uint32_t index) {
      switch (now.access.kind) {
        case AccessKind::load:
        case AccessKind::load_matrix:
        case AccessKind::group_product:
        case AccessKind::tensor_product: load(now, lane, index); break;
        case AccessKind::store:
        case AccessKind::store_matrix:
        case AccessKind::async_store: store(now, lane, index); break;
        case AccessKind::atomic:
        case AccessKind::compare_and_swap:
        case AccessKind::update_loop: change(now, lane, index); break;
        case AccessKind::async_copy:
        case AccessKind::async_copy_cg: begin_copy(now, lane, index); break;
        case AccessKind::bulk_load:
        case AccessKind::bulk_store:
        case AccessKind::bulk_reduction: break;  // copy_in_bulk() is told of these as of the kinds above
      }
    });
  });
}

void RaceCheck::load(WarpAccess& now, uint32_t lane, uint32_t index) {
  Cell& c = history_.cell(index);
  if (now.access.strength != Strength::plain) acquire_by(now, lane, synchronised_, index);
  if (c.is_stored()) against_store(now, lane, c.store, index);
  if (c.has_atomics) against_touches(now, lane, c, index, true);
  history_.touch(c, now, lane);
}

void RaceCheck::store(WarpAccess& now, uint32_t lane, uint32_t index) {
  Cell& c = history_.cell(index);
  // What was released to the cell before is overwritten.
  if (!synchronised_.empty()) synchronised_.erase(index);
  if (now.access.strength != Strength::plain) release_by(now, lane, synchronised_, index);
  if (c.is_stored()) against_store(now, lane, c.store, index);
  if (c.is_touched()) {
    against_touches(now, lane, c, index, false);
    history_.forget_touches(c);
  }
  c.store = now.by ? Store{now.by.agent, now.by.time, now.number}
                   : Store{now.thread(lane), order_.defined().now(now.warp), now.number};
  note_own_store(now, lane, index);
}

void RaceCheck::change(WarpAccess& now, uint32_t lane, uint32_t index) {
  Cell& c = history_.cell(index);
  acquire_by(now, lane, synchronised_, index);
  release_by(now, lane, synchronised_, index);
  if (c.is_stored()) against_store(now, lane, c.store, index);
  if (c.is_touched()) against_touches(now, lane, c, index, false);
  history_.touch(c, now, lane);
  c.has_atomics = true;
  note_own_store(now, lane, index);
}

void RaceCheck::begin_copy(WarpAccess& now, uint32_t lane, uint32_t index) {
  store(now, lane, index);
  if (!now.by) history_.cell(index).store.time = AccessHistory::in_flight;
}

void RaceCheck::note_own_store(const WarpAccess& now, uint32_t lane, uint32_t index) {
  if (now.access.of_bulk_copy)
    history_.forget_own_store(index);
  else
    history_.note_own_store(index, {now.thread(lane), order_.defined().now(now.warp), now.number});
}

// Comparisons.

bool RaceCheck::is_before(const Order& order, uint32_t number, uint32_t time, const WarpAccess& now,
                          uint32_t lane) {
  bool any = false;
  each_lane(now.together | 1u << lane, [&](uint32_t by) {
    any = any || order.is_before(number / warp_lanes, number % warp_lanes, time, now.warp, by);
  });
  return any;
}

void RaceCheck::against_store(WarpAccess& now, uint32_t lane, const Store& then, uint32_t index) {
  const bool is_under_way = then.time == AccessHistory::in_flight;
  const auto comes_first = [&](const Order& order) {
    return !is_under_way && is_before(order, then.by, then.time, now, lane);
  };
  if (comes_first(order_.defined())) return;
  const bool same = now.access.kind == AccessKind::store && now.access.data_bytes != 0 && !is_under_way &&
                    stores_same(now, lane, index, then.by);
  report_race(now, lane, index, then.access, then.by,
              same                        ? Excuse::same_value
              : comes_first(order_.met()) ? Excuse::met
                                          : Excuse::none);
}

void RaceCheck::against_touches(WarpAccess& now, uint32_t lane, const Cell& c, uint32_t index,
                                bool atomics_only) {
  history_.each_touch(std::as_const(c), [&](const Touch& t) {
    const CheckedAccess& then = kernel_.checks[t.access];
    if ((!atomics_only || is_atomic(then.kind)) && can_race(now.access, then))
      against_touch(now, lane, t, index);
  });
}

void RaceCheck::against_touch(WarpAccess& now, uint32_t lane, const Touch& t, uint32_t index) {
  uint32_t lanes = t.lanes;
  const bool is_under_way = t.time == AccessHistory::in_flight;
  if (t.warp == now.warp && !is_under_way) lanes &= ~(1u << lane);
  // One race tells of all the lanes, one that nothing speaks for before others.
  uint32_t raced = Order::nobody;
  bool met = true;
  for (; lanes != 0 && met; lanes &= lanes - 1) {
    const uint32_t other = t.warp * warp_lanes + static_cast<uint32_t>(std::countr_zero(lanes));
    const auto comes_first = [&](const Order& order) {
      return !is_under_way && is_before(order, other, t.time, now, lane);
    };
    if (comes_first(order_.defined())) continue;
    met = comes_first(order_.met());
    if (raced == Order::nobody || !met) raced = other;
  }
  if (raced != Order::nobody)
    report_race(now, lane, index, t.access, raced, met ? Excuse::met : Excuse::none);
}

void RaceCheck::against_own_store(WarpAccess& now, uint32_t lane, uint32_t index) {
  const AccessHistory::OwnStore& then = history_.own_store(index);
  const uint32_t by = then.store.by;
  if (by == Order::nobody ||
      order_.defined().has_proxy_fence_after(by / warp_lanes, by % warp_lanes, then.epoch, then.store.time))
    return;
  report_race(now, lane, index, then.store.access, by, Excuse::none, Finding::Lack::proxy_fence);
}

void RaceCheck::against_beginning(const WarpAccess& now, uint32_t lane) const {
  // When all have met once, all blocks have begun, whatever the arrivals told.
  const uint32_t warps = shape_.warps();
  if (!cluster_.passed && !order_.defined().knows_any(shape_.rank * warps, warps, now.warp, lane))
    report_beginning(now, lane);
}

bool RaceCheck::stores_same(const WarpAccess& now, uint32_t lane, uint32_t index, uint32_t writer) const {
  const uint64_t begin = pieces_.begin_of(index);
  const size_t bytes = size_t{1} << pieces_.shift();
  std::byte mine[32], others[32];
  stored_bytes(now.w, now.access, lane, mine);
  const Cluster* cluster = now.w.block->cluster;
  const std::byte* stored =
      (cluster == nullptr ? now.w.shared : cluster->blocks[shape_.rank]->shared_at) + begin;
  // A store of the very same instruction has not reached the memory yet.
  const uint32_t other = writer % warp_lanes;
  if (writer / warp_lanes == now.warp && other < lane && (now.shared >> other & 1) != 0 &&
      begin - now.offset[other] < now.access.width) {
    stored_bytes(now.w, now.access, other, others);
    stored = others + (begin - now.offset[other]);
  }
  return std::memcmp(mine + (begin - now.offset[lane]), stored, bytes) == 0;
}

// What orders accesses.

void RaceCheck::acquire_by(const WarpAccess& now, uint32_t lane, const Clocks& clocks, uint64_t place) {
  if (clocks.empty()) return;
  const auto found = clocks.find(place);
  if (found == clocks.end()) return;
  if (now.access.acquires)
    order_.acquire(found->second, now.warp, 1u << lane);
  else
    order_.acquire_at_fence(found->second, now.warp, lane);
}

void RaceCheck::release_by(const WarpAccess& now, uint32_t lane, Clocks& clocks, uint64_t place) {
  const uint32_t warp = now.warp;
  if (now.access.releases) {
    order_.release(clocks[place], warp, 1u << lane);
  } else if (order_.defined().has_fenced(warp, lane)) {
    order_.release_fenced(clocks[place], warp, lane);
  }
}

void RaceCheck::synchronise_by(const WarpAccess& now, uint32_t lane) {
  constexpr uint32_t word_shift = 2;
  const uint64_t place = now.offset[lane] >> word_shift;
  Clocks& flags = cluster_.flags;
  if (writes(now.access.kind))
    flags.erase(place);
  else
    acquire_by(now, lane, flags, place);
  if (!reads(now.access.kind)) release_by(now, lane, flags, place);
}

void RaceCheck::proxy_fence(const Warp& w) {
  if (history_.has_own_stores()) order_.proxy_fence(warp_in_cluster(w), w.mask);
}

void RaceCheck::meet(const Warp& w, uint32_t lanes, bool orders) {
  if (orders)
    order_.warp_barrier(warp_in_cluster(w), lanes);
  else
    order_.meet(warp_in_cluster(w), lanes);
}

void RaceCheck::pass_barrier(const Warp& w, uint32_t lanes, uint32_t number) {
  order_.release(passed_[number], warp_in_cluster(w), lanes);
}

void RaceCheck::complete_barrier(const std::vector<WarpState>& warps, const std::vector<uint32_t>& waiting,
                                 uint32_t number) {
  TwoOrders::Clock clock = std::exchange(passed_[number], {});
  const bool all = !clock && std::all_of(warps.begin(), warps.end(), [&](const WarpState& w) {
    return (w.alive & ~waiting[w.index]) == 0;
  });
  if (all && alone_) return new_epoch();
  for (const WarpState& w : warps)
    if (waiting[w.index] != 0) order_.release(clock, warp_in_cluster(w), waiting[w.index]);
  if (all) order_.add(clock, ended_);  // who has ended is not waited for
  for (const WarpState& w : warps)
    if (waiting[w.index] != 0) order_.acquire(clock, warp_in_cluster(w), waiting[w.index], true);
}

void RaceCheck::arrive_at_cluster(const Warp& w, uint32_t lanes, bool relaxed) {
  const uint32_t warp = warp_in_cluster(w);
  if (!relaxed) return order_.release(cluster_.arrived, warp, lanes);
  if (!cluster_.arrived)
    cluster_.arrived.defined = std::make_shared<std::vector<uint32_t>>(order_.defined().threads());
  each_lane(lanes, [&](uint32_t lane) {
    if (order_.defined().has_fenced(warp, lane)) order_.release_fenced(cluster_.arrived, warp, lane);
  });
}

void RaceCheck::complete_cluster_barrier() {
  // Who has ended is not waited for, and does nothing any more.
  for (const RaceCheck* block : cluster_.blocks) order_.add(cluster_.arrived, block->ended_);
  cluster_.passed = std::exchange(cluster_.arrived, {});
}

void RaceCheck::wait_for_cluster(const Warp& w, uint32_t lanes) {
  order_.acquire(cluster_.passed, warp_in_cluster(w), lanes);
}

void RaceCheck::exited(const Warp& w, uint32_t lanes) {
  if (!alone_) order_.release(ended_, warp_in_cluster(w), lanes);
}

}  // namespace lanescope::exec
