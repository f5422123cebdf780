// See block_checks.hpp.
#include "exec/block_checks.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "exec/bounds_check.hpp"
#include "exec/cluster.hpp"
#include "exec/each_lane.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

BlockChecks::BlockChecks(const Kernel& kernel, const Checks& checks, const BlockShape& shape,
                         std::shared_ptr<ClusterOrder> cluster)
    : kernel_(kernel), bounds_(checks.bounds), shape_(shape), cluster_(std::move(cluster)) {
  const SharedPieces pieces(kernel);
  if (checks.race || checks.global) races_.emplace(kernel, checks, shape, pieces, *cluster_);
  if (checks.init) init_.emplace(kernel, shape, pieces);
  if (checks.barrier) barriers_.emplace(shape.threads, shape.warps());
}

void BlockChecks::start() {
  if (races_) races_->start();
  if (init_) init_->start();
  if (barriers_) barriers_->start();
  cluster_->in_grid = {};
  for (BarrierArrivals& arrivals : arrivals_) arrivals.clear();
}

// Memory.

void BlockChecks::access(Warp& w, const Inst* in, const CheckedAccess& access) {
  const bool is_global = access.space == ptx::Space::global;
  GridRaces* const grid_races = w.worker->grid_races;
  // Flags in global memory order a block's threads.
  const bool for_races =
      races_ && (!is_global || grid_races != nullptr || access.strength != CheckedAccess::Strength::plain);
  const bool for_bounds = bounds_ && !is_global;
  if (!init_ && !for_races && !for_bounds) return;
  WarpAccess now{w, access, in->aux, access.width};
  find_addresses(now, in, shape_);
  if (init_) init_->begin(now);
  for (uint32_t rest = now.elsewhere; rest != 0;) {
    const uint8_t rank = now.rank[static_cast<uint32_t>(std::countr_zero(rest))];
    uint32_t lanes = 0;
    each_lane(rest, [&](uint32_t lane) { lanes |= uint32_t{now.rank[lane] == rank} << lane; });
    w.block->cluster->blocks[rank]->checks->access_from_elsewhere(now, lanes);
    rest &= ~lanes;
  }
  if (init_) init_->access(now);
  if (bounds_) check_bounds(now, kernel_);
  if (grid_races != nullptr) grid_races->access(now, cluster_->in_grid);
  if (races_) races_->access(now);
}

void BlockChecks::copy_global_in_bulk(Warp& w, uint32_t lane, uint32_t access, uint64_t address,
                                      uint32_t bytes, AgentWork work) {
  GridRaces* const grid_races = w.worker->grid_races;
  if (grid_races == nullptr) return;
  WarpAccess now{w, kernel_.checks[access], access, bytes};
  now.offset[lane] = address;
  now.global = 1u << lane;
  now.by = work;
  grid_races->access(now, cluster_->in_grid);
  if (races_) races_->copy_global(now);
}

void BlockChecks::allocated(const Warp& w, uint64_t address, uint64_t bytes) {
  if (w.worker->grid_races != nullptr) w.worker->grid_races->forget(address, bytes);
  if (cluster_->global) cluster_->global->forget(address, bytes);
}

void BlockChecks::access_from_elsewhere(WarpAccess now, uint32_t lanes) {
  now.shared = lanes;
  now.local = now.global = 0;
  if (init_ && !now.access.of_mbarrier)
    each_lane(lanes, [&](uint32_t lane) { init_->access_block(now, lane); });
  if (races_) races_->access_from_elsewhere(now);
}

void BlockChecks::enter(const Warp& w, uint32_t first_variable, uint32_t count) {
  if (init_) init_->enter(w, first_variable, count);
}

void BlockChecks::fence(const Warp& w, bool of_device) {
  if (races_) races_->fence(w);
  if (GridRaces* races = w.worker->grid_races; races != nullptr && of_device)
    races->fence(w, cluster_->in_grid);
}

void BlockChecks::proxy_fence(const Warp& w) {
  if (races_) races_->proxy_fence(w);
}

void BlockChecks::copied(const Warp& w, uint32_t lane, uint32_t offset, uint32_t bytes) {
  written(offset, bytes);
  if (races_) races_->async_work().finish_copy(w, lane, offset, bytes);
}

void BlockChecks::copy_in_bulk(Warp& w, uint32_t lane, uint32_t access, uint64_t offset, uint32_t bytes,
                               AgentWork work) {
  if (!reads(kernel_.checks[access].kind)) written(offset, bytes);
  if (races_) races_->copy_in_bulk(w, lane, access, offset, bytes, work);
}

void BlockChecks::store_range(Warp& w, uint32_t lane, uint32_t access, uint64_t offset, uint32_t bytes) {
  written(offset, bytes);
  if (races_) races_->store_range(w, lane, access, offset, bytes);
}

void BlockChecks::read_for_product(Warp& w, uint32_t access, const MatrixRead& read) {
  if (init_ && init_->tries()) return;
  WarpAccess now{w, kernel_.checks[access], access, kernel_.checks[access].width};
  const auto lane = static_cast<uint32_t>(std::countr_zero(w.mask));
  now.together = w.mask;
  if (races_) now.by = races_->async_work().product(w, lane);
  read_by_agent(now, lane, read, !read.is_second || w.index % warps_of_group == 0);
}

void BlockChecks::read_for_tensor_work(Warp& w, uint32_t lane, uint32_t access,
                                       std::span<const uint32_t> offsets) {
  WarpAccess now{w, kernel_.checks[access], access, kernel_.checks[access].width};
  if (AsyncWork* work = w.block->checks->async_work()) now.by = work->tensor_work(w, lane);
  read_by_agent(now, lane, {.offsets = offsets}, true);
}

void BlockChecks::read_by_agent(WarpAccess& now, uint32_t lane, const MatrixRead& read, bool keeps) {
  now.shared = 1u << lane;
  now.matrix = &read;
  for (now.piece = 0; now.piece < read.offsets.size(); ++now.piece) {
    now.offset[lane] = read.offsets[now.piece];
    if (init_) init_->access_block(now, lane);
    if (races_) races_->read_by_agent(now, lane, keeps);
  }
}

void BlockChecks::written(uint64_t offset, uint64_t bytes) {
  if (init_) init_->written(offset, bytes);
}

void BlockChecks::written_local(const Warp& w, uint32_t lane, uint64_t offset, uint64_t bytes) {
  if (init_) init_->written_local(w, lane, offset, bytes);
}

void BlockChecks::copied_local(const Warp& w, uint32_t lane, uint64_t from, uint64_t to, uint64_t bytes) {
  if (init_) init_->copied_local(w, lane, from, to, bytes);
}

void BlockChecks::used_local(Warp& w, const Inst* in, uint32_t lane, uint64_t offset, uint64_t bytes) {
  if (init_) init_->used_local(w, in, lane, offset, bytes);
}

void BlockChecks::follow(Warp& w, const Inst* in, const ValueFlow& flow) {
  if (init_) init_->follow(w, in, flow);
}

// Synchronisation.

void BlockChecks::arrive_at_cluster(const Warp& w, uint32_t lanes, bool relaxed) {
  if (races_) races_->arrive_at_cluster(w, lanes, relaxed);
}

void BlockChecks::cluster_completed() {
  if (races_) races_->complete_cluster_barrier();
}

void BlockChecks::wait_for_cluster(const Warp& w, uint32_t lanes) {
  if (races_) races_->wait_for_cluster(w, lanes);
}

void BlockChecks::meet(const Warp& w, uint32_t lanes, bool orders) {
  if (races_) races_->meet(w, lanes, orders);
}

void BlockChecks::reinitialised(Warp& w, const Inst* in, uint32_t lane, uint64_t offset, bool in_use) {
  if (barriers_) barriers_->reinitialised(w, in, lane, offset, in_use);
}

void BlockChecks::check_members(Warp& w, const Inst* in) {
  if (barriers_) barriers_->check_members(w, in);
}

void BlockChecks::check_sources(Warp& w, const Inst* in, const uint32_t* source) {
  if (init_ && init_->tries()) return;
  if (barriers_) barriers_->check_sources(w, in, source, init_ ? &*init_ : nullptr);
}

void BlockChecks::arrive(Warp& w, uint32_t lanes, const Inst* in, uint32_t number, uint32_t expected) {
  BarrierArrivals& arrivals = arrivals_[number];
  if (arrivals.waiting.empty()) {
    arrivals.waiting.resize(shape_.warps());
    arrivals.passing.resize(shape_.warps());
  }
  const bool waits = (in->imm & barrier_kind) != barrier_arrive;
  (waits ? arrivals.waiting : arrivals.passing)[w.index] |= lanes;
  if (races_ && !waits) races_->pass_barrier(w, lanes, number);
  if (barriers_) barriers_->arrive(w, lanes, in, number, expected);
}

void BlockChecks::complete(std::vector<WarpState>& warps, uint32_t number) {
  BarrierArrivals& arrivals = arrivals_[number];
  if (arrivals.waiting.empty()) return;
  if (barriers_) barriers_->complete(warps, number, arrivals);
  if (races_) races_->complete_barrier(warps, arrivals.waiting, number);
  arrivals.clear();
}

void BlockChecks::exited(const Warp& w, uint32_t lanes, const Inst* in) {
  if (races_) races_->exited(w, lanes);
  if (barriers_) barriers_->exited(w, lanes, in);
}

void BlockChecks::ended(BlockState& block) {
  if (races_) races_->ended(block);
}

}  // namespace lanescope::exec
