// See async_work.hpp.
#include "exec/async_work.hpp"

#include <algorithm>
#include <memory>

#include "exec/each_lane.hpp"
#include "exec/race_check.hpp"

namespace lanescope::exec {

namespace {

constexpr uint32_t in_flight = AccessHistory::in_flight;

}  // namespace

AsyncWork::AsyncWork(const Kernel& kernel, const BlockShape& shape, SharedPieces pieces,
                     ClusterOrder& cluster, AccessHistory& history)
    : kernel_(kernel),
      pieces_(pieces),
      cluster_(cluster),
      order_(cluster.order),
      history_(history),
      bulk_groups_(shape.lanes()),
      product_agents_(shape.warps() / warps_of_group + 1),
      product_groups_(shape.warps()) {}

void AsyncWork::start() {
  copies_.clear();
  bulk_.clear();
  mbarriers_.clear();
  std::fill(bulk_groups_.begin(), bulk_groups_.end(), 0);
  std::fill(product_agents_.begin(), product_agents_.end(), Order::nobody);
  std::fill(product_groups_.begin(), product_groups_.end(), 0);
  tensor_work_.clear();
}

void AsyncWork::new_epoch() {
  for (const Copies& copies : copies_) remember(copies);
  for (auto& [offset, mbarrier] : mbarriers_) {
    mbarrier.gathered = mbarrier.passed = {};
    if (bulk_.empty()) continue;
    for (const AgentWork& work : mbarrier.gathered_work)
      order_.tell(mbarrier.gathered, work.agent, work.time);
    for (const AgentWork& work : mbarrier.passed_work) order_.tell(mbarrier.passed, work.agent, work.time);
    if (mbarrier.agent == Order::nobody) continue;
    order_.tell(mbarrier.gathered, mbarrier.agent, mbarrier.begun);
    order_.tell(mbarrier.passed, mbarrier.agent, mbarrier.complete);
  }
  for (const Bulk& bulk : bulk_) remember(bulk);
}

void AsyncWork::remember(const Copies& copies) {
  each_lane(copies.lanes, [&](uint32_t lane) {
    pieces_.each(copies.offset[lane], kernel_.checks[copies.access].width, [&](uint32_t index) {
      history_.cell(index).store = {copies.warp * warp_lanes + lane, in_flight, copies.access};
    });
  });
}

void AsyncWork::remember(const Bulk& bulk) {
  const CheckedAccess& access = kernel_.checks[bulk.access];
  const uint32_t by = bulk.by ? bulk.by.agent : bulk.thread, time = bulk.by ? bulk.by.time : in_flight;
  const auto add = [&](AccessHistory& history, uint32_t index) {
    AccessHistory::Cell& c = history.cell(index);
    if (writes(access.kind)) {
      c.store = {by, time, bulk.access};
    } else {
      history.add_touch(c, bulk.access, by / warp_lanes, time, 1u << by % warp_lanes);
      c.has_atomics = c.has_atomics || !reads(access.kind);
    }
  };
  if (!bulk.is_global)
    return pieces_.each(bulk.offset, bulk.bytes, [&](uint32_t index) { add(history_, index); });
  GlobalHistory& global = *cluster_.global;
  global.each(bulk.offset, bulk.bytes, [&](uint32_t index, uint64_t) { add(global.accesses(), index); });
}

// cp.async.

void AsyncWork::begin_copies(const WarpAccess& now) {
  copies_.push_back({now.number, now.warp, now.shared, {}});
  each_lane(now.shared,
            [&](uint32_t lane) { copies_.back().offset[lane] = static_cast<uint32_t>(now.offset[lane]); });
}

void AsyncWork::finish_copy(const Warp& w, uint32_t lane, uint32_t offset, uint32_t bytes) {
  const uint32_t warp = warp_in_cluster(w), thread = thread_in_cluster(w, lane);
  const auto is_this = [&](const Copies& c) {
    return c.warp == warp && (c.lanes >> lane & 1) != 0 && c.offset[lane] == offset;
  };
  const auto found = std::find_if(copies_.begin(), copies_.end(), is_this);
  if (found == copies_.end()) return;
  pieces_.each(offset, bytes, [&](uint32_t index) {
    AccessHistory::Store& store = history_.cell(index).store;
    if (store.by != thread || store.time != in_flight) return;
    store.time = order_.defined().now(warp);
    history_.note_own_store(index, store);
  });
  found->lanes &= ~(1u << lane);
  if (found->lanes == 0) copies_.erase(found);
}

// Bulk copies.

AgentWork AsyncWork::begin_for_mbarrier(const Warp& w, uint32_t lane, uint64_t offset) {
  MbarrierOrder& mbarrier = mbarriers_[offset];
  const uint32_t thread = thread_in_cluster(w, lane);
  if (mbarrier.agent == Order::nobody) mbarrier.agent = cluster_.add_agent(thread);
  cluster_.begun_by[mbarrier.agent - order_.defined().threads()] = thread;
  return {mbarrier.agent, ++mbarrier.begun};
}

void AsyncWork::add(const WarpAccess& now, uint32_t lane) {
  const AgentWork by = now.by ? now.by : AgentWork{Order::nobody, bulk_groups_[thread_of(now.w, lane)]};
  bulk_.push_back({now.number, now.thread(lane), by, now.offset[lane], now.bytes, now.global != 0});
}

void AsyncWork::commit_bulk(const Warp& w) {
  each_lane(w.mask, [&](uint32_t lane) { ++bulk_groups_[thread_of(w, lane)]; });
}

void AsyncWork::wait_for_bulk(const Warp& w, uint64_t still) {
  if (bulk_.empty()) return;
  each_lane(w.mask, [&](uint32_t lane) {
    std::erase_if(bulk_, [&](const Bulk& bulk) {
      const bool is_over = !bulk.by && bulk.thread == thread_in_cluster(w, lane) &&
                           bulk.by.time + still < bulk_groups_[thread_of(w, lane)];
      if (is_over) finish_read(w, lane, bulk);
      return is_over;
    });
  });
}

void AsyncWork::finish_read(const Warp& w, uint32_t lane, const Bulk& bulk) {
  const uint32_t warp = warp_in_cluster(w), time = order_.defined().now(warp);
  pieces_.each(bulk.offset, bulk.bytes, [&](uint32_t index) {
    history_.each_touch(history_.cell(index), [&](AccessHistory::Touch& t) {
      if (t.warp == warp && t.access == bulk.access && t.time == in_flight && t.lanes == 1u << lane)
        t.time = time;
    });
  });
}

void AsyncWork::forget(std::span<const AgentWork> done) {
  std::erase_if(bulk_, [&](const Bulk& bulk) {
    return std::any_of(done.begin(), done.end(), [&](const AgentWork& work) {
      return bulk.by.agent == work.agent && bulk.by.time <= work.time;
    });
  });
}

// Products of four warps, and tensor work, which read shared memory by the asynchronous proxy.

AgentWork AsyncWork::product(const Warp& w, uint32_t lane) {
  uint32_t& agent = product_agents_[w.index / warps_of_group];
  if (agent == Order::nobody) agent = cluster_.add_agent(thread_in_cluster(w, lane));
  return {agent, product_groups_[w.index] + 1};
}

void AsyncWork::commit_products(const Warp& w) { ++product_groups_[w.index]; }

void AsyncWork::wait_for_products(const Warp& w, uint64_t still) {
  const uint32_t agent = product_agents_[w.index / warps_of_group], closed = product_groups_[w.index];
  if (agent == Order::nobody || closed <= still) return;
  const AgentWork done{agent, static_cast<uint32_t>(closed - still)};
  TwoOrders::Clock clock;
  order_.tell(clock, done.agent, done.time);
  order_.acquire(clock, warp_in_cluster(w), w.mask);
  forget(std::span(&done, 1));
}

AgentWork AsyncWork::tensor_work(const Warp& w, uint32_t lane) {
  AgentWork& work = tensor_work_[thread_of(w, lane)];
  if (!work) work = {cluster_.add_agent(thread_in_cluster(w, lane)), 1};
  return work;
}

AgentWork AsyncWork::commit_tensor_work(const Warp& w, uint32_t lane) {
  const AgentWork work = tensor_work(w, lane);
  ++tensor_work_[thread_of(w, lane)].time;
  return work;
}

// Mbarriers.

void AsyncWork::release_to(const Warp& w, uint32_t lane, uint64_t offset) {
  MbarrierOrder& mbarrier = mbarriers_[offset];
  order_.release(mbarrier.gathered, warp_in_cluster(w), 1u << lane);
  if (mbarrier.agent != Order::nobody) order_.tell(mbarrier.gathered, mbarrier.agent, mbarrier.begun);
}

void AsyncWork::tell_of(AgentWork work, uint64_t offset) {
  MbarrierOrder& mbarrier = mbarriers_[offset];
  order_.tell(mbarrier.gathered, work.agent, work.time);
  std::erase_if(mbarrier.gathered_work, [&](const AgentWork& before) { return before.agent == work.agent; });
  mbarrier.gathered_work.push_back(work);
}

void AsyncWork::initialised(uint64_t offset) {
  const auto found = mbarriers_.find(offset);
  if (found != mbarriers_.end()) found->second.gathered = found->second.passed = {};
}

void AsyncWork::phase_completed(uint64_t offset) {
  const auto found = mbarriers_.find(offset);
  if (found == mbarriers_.end()) return;
  MbarrierOrder& mbarrier = found->second;
  mbarrier.passed = mbarrier.gathered;
  mbarrier.passed_work = mbarrier.gathered_work;
  mbarrier.complete = mbarrier.begun;
}

void AsyncWork::acquire_from(const Warp& w, uint32_t lanes, uint64_t offset) {
  const auto found = mbarriers_.find(offset);
  if (found == mbarriers_.end()) return;
  const MbarrierOrder& mbarrier = found->second;
  order_.acquire(mbarrier.passed, warp_in_cluster(w), lanes);
  std::vector<AgentWork> done = mbarrier.passed_work;
  if (mbarrier.agent != Order::nobody) done.push_back({mbarrier.agent, mbarrier.complete});
  if (done.empty()) return;
  for (RaceCheck* block : cluster_.blocks) block->async_work().forget(done);
}

}  // namespace lanescope::exec
