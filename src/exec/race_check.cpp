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

RaceCheck::RaceCheck(const Kernel& kernel, const Checks& checks, const BlockShape& shape, SharedPieces pieces,
                     ClusterOrder& cluster)
    : kernel_(kernel),
      checks_(checks),
      shape_(shape),
      pieces_(pieces),
      flag_shift_(piece_shift(kernel, ptx::Space::global)),
      cluster_(cluster),
      order_(cluster.order),
      alone_(order_.defined().threads() == shape.lanes()),
      history_(order_.defined(), pieces.count(shape.shared_bytes), uses_proxy(kernel)),
      async_work_(kernel, shape, pieces, cluster, history_),
      executed_(size_t{shape.warps()} * kernel.checks.size()) {
  cluster.blocks.push_back(this);
  if (checks.global && !cluster.global) cluster.global.emplace(kernel, order_.defined());
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
  if (cluster_.global) cluster_.global->new_epoch();
  cluster_.in_grid.forget_others();
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
    each_lane(now.global, [&](uint32_t lane) {
      const uint64_t begin = now.offset[lane] >> flag_shift_,
                     end = (now.offset[lane] + now.bytes - 1) >> flag_shift_;
      for (uint64_t flag = begin; flag <= end; ++flag) synchronise_by(now, lane, cluster_.flags, flag);
    });
  const bool watches_global = cluster_.global && now.global != 0;
  if (now.shared == 0 && !watches_global) return;
  if (checks_.lockstep) order_.warp_barrier(now.warp, now.w.active);
  look_for_races(now);
  if (watches_global) look_for_global_races(now);
  if (is_copy(now.access.kind)) async_work_.begin_copies(now);
  note_executed(now);
}

void RaceCheck::note_executed(const WarpAccess& now) {
  Executed& executed = executed_[now.w.index * kernel_.checks.size() + now.number];
  if (executed.epoch != order_.defined().epoch()) executed = {order_.defined().epoch(), 0};
  executed.lanes |= now.shared | now.global;
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
    each_piece(offset, bytes, [&](const Piece& piece) { against_own_store(now, lane, piece); });
  look_for_races(now);
  async_work_.add(now, lane);
}

void RaceCheck::copy_global(WarpAccess& now) {
  // What no mbarrier waits for is taken to be done at once.
  const bool is_under_way{now.by};
  if (!is_under_way) now.by.time = order_.defined().now(now.warp);
  look_for_global_races(now);
  if (is_under_way) each_lane(now.global, [&](uint32_t lane) { async_work_.add(now, lane); });
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
  each_piece(now.offset[lane], now.bytes, [&](const Piece& piece) { against_own_store(now, lane, piece); });
  if (keeps) async_work_.add(now, lane);
}

void RaceCheck::look_for_races(WarpAccess& now) {
  const bool is_strong = now.access.strength != Strength::plain;
  if (!checks_.race && !is_strong && synchronised_.empty()) return;
  const auto each = [&](auto access) {
    each_lane(now.shared, [&](uint32_t lane) {
      each_piece(now.offset[lane], now.bytes, [&](const Piece& piece) {
        if (is_strong || !synchronised_.empty()) synchronise_by(now, lane, synchronised_, piece.index);
        if (checks_.race) access(lane, piece);
      });
    });
  };
  look(now, each);
}

void RaceCheck::look_for_global_races(WarpAccess& now) {
  GlobalHistory& global = *cluster_.global;
  const auto each = [&](auto access) {
    each_lane(now.global, [&](uint32_t lane) {
      global.each(now.offset[lane], now.bytes, [&](uint32_t index, uint64_t address) {
        access(lane, Piece{global.accesses(), index, address, true});
      });
    });
  };
  look(now, each);
}

template <class Each>
void RaceCheck::look(WarpAccess& now, Each each) {
  switch (now.access.kind) {
    case AccessKind::load:
    case AccessKind::load_matrix:
    case AccessKind::group_product:
    case AccessKind::tensor_product:
      return each([&](uint32_t lane, const Piece& piece) { load(now, lane, piece); });
    case AccessKind::store:
    case AccessKind::store_matrix:
    case AccessKind::async_store:
      return each([&](uint32_t lane, const Piece& piece) { store(now, lane, piece); });
    case AccessKind::atomic:
    case AccessKind::compare_and_swap:
    case AccessKind::update_loop:
      return each([&](uint32_t lane, const Piece& piece) { change(now, lane, piece); });
    case AccessKind::async_copy:
    case AccessKind::async_copy_cg:
      return each([&](uint32_t lane, const Piece& piece) { begin_copy(now, lane, piece); });
    case AccessKind::bulk_load:
    case AccessKind::bulk_store:
    case AccessKind::bulk_reduction: return;  // copy_in_bulk() is told of these as of the kinds above
  }
}

void RaceCheck::load(WarpAccess& now, uint32_t lane, const Piece& piece) {
  Cell& c = piece.history.cell(piece.index);
  if (c.is_stored()) against_store(now, lane, c.store, piece);
  if (c.has_atomics) against_touches(now, lane, c, piece, true);
  piece.history.touch(c, now, lane);
}

void RaceCheck::store(WarpAccess& now, uint32_t lane, const Piece& piece) {
  if (leaves_out(now.access, static_cast<uint32_t>(piece.begin - now.offset[lane]))) return;
  Cell& c = piece.history.cell(piece.index);
  if (c.is_stored()) against_store(now, lane, c.store, piece);
  if (c.is_touched()) {
    against_touches(now, lane, c, piece, false);
    piece.history.forget_touches(c);
  }
  c.store = now.by ? Store{now.by.agent, now.by.time, now.number}
                   : Store{now.thread(lane), order_.defined().now(now.warp), now.number};
  note_own_store(now, lane, piece);
}

void RaceCheck::change(WarpAccess& now, uint32_t lane, const Piece& piece) {
  Cell& c = piece.history.cell(piece.index);
  if (c.is_stored()) against_store(now, lane, c.store, piece);
  if (c.is_touched()) against_touches(now, lane, c, piece, false);
  piece.history.touch(c, now, lane);
  c.has_atomics = true;
  note_own_store(now, lane, piece);
}

void RaceCheck::begin_copy(WarpAccess& now, uint32_t lane, const Piece& piece) {
  store(now, lane, piece);
  if (!now.by && !piece.is_global) piece.history.cell(piece.index).store.time = AccessHistory::in_flight;
}

void RaceCheck::note_own_store(const WarpAccess& now, uint32_t lane, const Piece& piece) {
  if (now.access.of_bulk_copy)
    piece.history.forget_own_store(piece.index);
  else
    piece.history.note_own_store(piece.index, {now.thread(lane), order_.defined().now(now.warp), now.number});
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

void RaceCheck::against_store(WarpAccess& now, uint32_t lane, const Store& then, const Piece& piece) {
  const bool is_under_way = then.time == AccessHistory::in_flight;
  const auto comes_first = [&](const Order& order) {
    return !is_under_way && is_before(order, then.by, then.time, now, lane);
  };
  if (comes_first(order_.defined())) return;
  const bool same = is_known_store(now.access) && !is_under_way && stores_same(now, lane, piece, then.by);
  report_race(now, lane, piece, then.access, then.by,
              same                        ? Excuse::same_value
              : comes_first(order_.met()) ? Excuse::met
                                          : Excuse::none);
}

void RaceCheck::against_touches(WarpAccess& now, uint32_t lane, const Cell& c, const Piece& piece,
                                bool atomics_only) {
  piece.history.each_touch(std::as_const(c), [&](const Touch& t) {
    const CheckedAccess& then = kernel_.checks[t.access];
    if ((!atomics_only || is_atomic(then.kind)) && can_race(now.access, then))
      against_touch(now, lane, t, piece);
  });
}

void RaceCheck::against_touch(WarpAccess& now, uint32_t lane, const Touch& t, const Piece& piece) {
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
    report_race(now, lane, piece, t.access, raced, met ? Excuse::met : Excuse::none);
}

void RaceCheck::against_own_store(WarpAccess& now, uint32_t lane, const Piece& piece) {
  const AccessHistory::OwnStore& then = piece.history.own_store(piece.index);
  const uint32_t by = then.store.by;
  if (by == Order::nobody ||
      order_.defined().has_proxy_fence_after(by / warp_lanes, by % warp_lanes, then.epoch, then.store.time))
    return;
  report_race(now, lane, piece, then.store.access, by, Excuse::none, Finding::Lack::proxy_fence);
}

void RaceCheck::against_beginning(const WarpAccess& now, uint32_t lane) const {
  // When all have met once, all blocks have begun, whatever the arrivals told.
  const uint32_t warps = shape_.warps();
  if (!cluster_.passed && !order_.defined().knows_any(shape_.rank * warps, warps, now.warp, lane))
    report_beginning(now, lane);
}

bool RaceCheck::stores_same(const WarpAccess& now, uint32_t lane, const Piece& piece, uint32_t writer) const {
  if (piece.is_global && !now.w.worker->memory->find(now.offset[lane], now.bytes)) return false;
  const uint64_t begin = piece.begin;
  std::byte mine[32], others[32];
  stored_bytes(now.w, now.access, lane, mine);
  const Cluster* cluster = now.w.block->cluster;
  const std::byte* stored =
      piece.is_global ? reinterpret_cast<const std::byte*>(begin)
                      : (cluster == nullptr ? now.w.shared : cluster->blocks[shape_.rank]->shared_at) + begin;
  // A store of the very same instruction has not reached the memory yet.
  const uint32_t other = writer % warp_lanes;
  if (writer / warp_lanes == now.warp && other < lane &&
      ((piece.is_global ? now.global : now.shared) >> other & 1) != 0 &&
      begin - now.offset[other] < now.access.width) {
    stored_bytes(now.w, now.access, other, others);
    stored = others + (begin - now.offset[other]);
  }
  return std::memcmp(mine + (begin - now.offset[lane]), stored, bytes_of(piece)) == 0;
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

void RaceCheck::synchronise_by(const WarpAccess& now, uint32_t lane, Clocks& clocks, uint64_t place) {
  const bool is_strong = now.access.strength != Strength::plain;
  if (!writes(now.access.kind)) {
    if (is_strong) acquire_by(now, lane, clocks, place);
  } else if (!clocks.empty()) {
    clocks.erase(place);  // what was released to it before is overwritten
  }
  if (is_strong && !reads(now.access.kind)) release_by(now, lane, clocks, place);
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
