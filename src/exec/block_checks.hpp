// The checks of a launch (checks.hpp) for one running block, as the engine speaks to them: what happens goes
// to those that are switched on. Races are race_check.hpp's and grid_races.hpp's, reads of what nobody has
// written init_check.hpp's, barriers barrier_check.hpp's, indices beyond a variable bounds_check.hpp's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/barrier_check.hpp"
#include "exec/block_shape.hpp"
#include "exec/checks.hpp"
#include "exec/cluster_order.hpp"
#include "exec/grid_races.hpp"
#include "exec/init_check.hpp"
#include "exec/program.hpp"
#include "exec/race_check.hpp"
#include "exec/warp_access.hpp"

namespace lanescope::exec {

struct BlockState;
struct WarpState;

class BlockChecks {
 public:
  BlockChecks(const Kernel& kernel, const Checks& checks, const BlockShape& shape,
              std::shared_ptr<ClusterOrder> cluster);

  [[nodiscard]] const std::shared_ptr<ClusterOrder>& cluster() const { return cluster_; }
  /// What copies and tensor cores do here, to be told of waiting and of mbarriers; nullptr: races are not
  /// looked for.
  [[nodiscard]] AsyncWork* async_work() { return races_ ? &races_->async_work() : nullptr; }

  /// The block's threads are about to start.
  void start();

  // Memory. `in`: the helper instruction.
  void access(Warp& w, const Inst* in, const CheckedAccess& access);
  /// One side of a bulk copy, in global memory; the other side's arguments.
  void copy_global_in_bulk(Warp& w, uint32_t lane, uint32_t access, uint64_t address, uint32_t bytes,
                           AgentWork work);
  /// A kernel has taken this memory from the heap.
  void allocated(const Warp& w, uint64_t address, uint64_t bytes);
  void enter(const Warp& w, uint32_t first_variable, uint32_t count);
  /// `of_device`: it is one for blocks outside the cluster, too.
  void fence(const Warp& w, bool of_device);
  /// An asynchronous copy of the lane, of which access() was told when it was issued, is done and waited for.
  void copied(const Warp& w, uint32_t lane, uint32_t offset, uint32_t bytes);
  /// One side of a bulk copy that a lane of this block or of another one of the cluster begins, in this
  /// block's memory: access number `access` of the kernel. `work`: what async_work() has for the
  /// mbarrier that waits for it; nobody's: its thread does, for a group of copies.
  void copy_in_bulk(Warp& w, uint32_t lane, uint32_t access, uint64_t offset, uint32_t bytes, AgentWork work);
  /// A store of a lane of this block or of another one of the cluster, of as many bytes as it says, in this
  /// block's memory: access number `access` of the kernel.
  void store_range(Warp& w, uint32_t lane, uint32_t access, uint64_t offset, uint32_t bytes);
  void proxy_fence(const Warp& w);
  /// wgmma reads a matrix for this warp.
  void read_for_product(Warp& w, uint32_t access, const MatrixRead& read);
  /// 16 bytes at each of these offsets are read for what the lane begins by tcgen05.mma or .cp; of the block
  /// whose memory is read.
  void read_for_tensor_work(Warp& w, uint32_t lane, uint32_t access, std::span<const uint32_t> offsets);
  /// The bytes have been written by something that races with nobody.
  void written(uint64_t offset, uint64_t bytes);
  /// The same for local memory of the lane.
  void written_local(const Warp& w, uint32_t lane, uint64_t offset, uint64_t bytes);
  /// The lane's local memory is copied, undefined values and all; something depends on what is there.
  void copied_local(const Warp& w, uint32_t lane, uint64_t from, uint64_t to, uint64_t bytes);
  void used_local(Warp& w, const Inst* in, uint32_t lane, uint64_t offset, uint64_t bytes);
  /// The instruction after the helper `in` is about to use and to make these values.
  void follow(Warp& w, const Inst* in, const ValueFlow& flow);

  // Synchronisation.

  /// The lanes arrive at the cluster's barrier, wait for it. `relaxed`: they tell only what they did before
  /// their last fences.
  void arrive_at_cluster(const Warp& w, uint32_t lanes, bool relaxed);
  void cluster_completed();
  void wait_for_cluster(const Warp& w, uint32_t lanes);
  /// The lanes have met at an instruction; `orders`: it orders their accesses.
  void meet(const Warp& w, uint32_t lanes, bool orders);
  /// The lane initialises an mbarrier where one is already; in_use: threads have arrived at it.
  void reinitialised(Warp& w, const Inst* in, uint32_t lane, uint64_t offset, bool in_use);
  /// They execute an instruction with a member mask each.
  void check_members(Warp& w, const Inst* in);
  /// They execute a shuffle together, after the wait for the lanes of its member mask, and each one takes the
  /// value of lane `source[lane]`.
  void check_sources(Warp& w, const Inst* in, const uint32_t* source);
  /// The lanes arrive at a barrier of the block; expected: threads, 0 for all.
  void arrive(Warp& w, uint32_t lanes, const Inst* in, uint32_t number, uint32_t expected);
  /// The barrier lets go those who wait. Called before any of them goes on.
  void complete(std::vector<WarpState>& warps, uint32_t number);
  /// The lanes end at `in` (nullptr: where is not known).
  void exited(const Warp& w, uint32_t lanes, const Inst* in);
  /// All have.
  void ended(BlockState& block);

 private:
  const Kernel& kernel_;
  const bool bounds_;
  const BlockShape shape_;
  const std::shared_ptr<ClusterOrder> cluster_;
  // Those that are switched on.
  std::optional<RaceCheck> races_;
  std::optional<InitCheck> init_;
  std::optional<BarrierCheck> barriers_;
  std::array<BarrierArrivals, block_barriers> arrivals_;

  /// These lanes of another block of the cluster access this one's memory.
  void access_from_elsewhere(WarpAccess now, uint32_t lanes);
  /// Tensor cores read for the lane. `keeps`: that is on its way until somebody has waited for it.
  void read_by_agent(WarpAccess& now, uint32_t lane, const MatrixRead& read, bool keeps);
};

}  // namespace lanescope::exec
