// What asynchronous copies and tensor cores do to a block's shared memory, from the instruction that begins
// it until somebody has waited for it: who does it in the order of order.hpp (a thread, an agent), what is
// still on its way, and what waiting orders. Looking for races is race_check.hpp's.
//
// cp.async belongs to its thread, and becomes a store of the thread when that has waited. What an mbarrier
// waits for, products of four warps (wgmma) and a thread's tensor work (tcgen05) are done by agents. Bulk
// copies in groups belong to their thread, in flight until it has waited.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "exec/access_history.hpp"
#include "exec/block_shape.hpp"
#include "exec/cluster_order.hpp"
#include "exec/warp_access.hpp"

namespace lanescope::exec {

class AsyncWork {
 public:
  /// What a bulk copy or tensor cores do here that nobody has waited for.
  struct Bulk {
    uint32_t access = 0;  ///< index of Kernel::checks
    uint32_t thread = 0;  ///< of the cluster: who began it
    AgentWork by;         ///< without an agent: the time is the number of the thread's group
    uint64_t offset = 0;  ///< in the block's shared memory, or an address
    uint32_t bytes = 0;
    bool is_global = false;
  };

  AsyncWork(const Kernel& kernel, const BlockShape& shape, SharedPieces pieces, ClusterOrder& cluster,
            AccessHistory& history);

  void start();
  /// A barrier of all threads does not wait for copies: tells the new epoch of what is still on its way.
  void new_epoch();

  // cp.async.

  /// Lanes have begun a copy, of which the history has the stores.
  void begin_copies(const WarpAccess& now);
  /// The copy to `offset` is done and waited for.
  void finish_copy(const Warp& w, uint32_t lane, uint32_t offset, uint32_t bytes);

  // Bulk copies.

  /// A lane of the cluster begins a copy that this mbarrier of the block waits for.
  AgentWork begin_for_mbarrier(const Warp& w, uint32_t lane, uint64_t offset);
  /// What the lane has begun in the block's memory, or in global memory, is on its way.
  void add(const WarpAccess& now, uint32_t lane);
  [[nodiscard]] const std::vector<Bulk>& on_its_way() const { return bulk_; }
  /// The lanes close a group of copies; they wait for all but the last `still` groups.
  void commit_bulk(const Warp& w);
  void wait_for_bulk(const Warp& w, uint64_t still);

  // Products, and tensor work.

  /// What the warp, with `lane` for its products, begins before it closes its group.
  AgentWork product(const Warp& w, uint32_t lane);
  /// The warp closes a group of products; it waits for all but the last `still` groups.
  void commit_products(const Warp& w);
  void wait_for_products(const Warp& w, uint64_t still);
  /// What the lane begins before its next commit, and its commit.
  AgentWork tensor_work(const Warp& w, uint32_t lane);
  AgentWork commit_tensor_work(const Warp& w, uint32_t lane);

  // The block's mbarriers.

  /// A lane of the cluster arrives, or one of its copies does: what came before, or a tensor core has done up
  /// to a commit, comes before what those do who find the phase complete.
  void release_to(const Warp& w, uint32_t lane, uint64_t offset);
  void tell_of(AgentWork work, uint64_t offset);
  void initialised(uint64_t offset);
  void phase_completed(uint64_t offset);
  void acquire_from(const Warp& w, uint32_t lanes, uint64_t offset);

 private:
  /// Lanes of a warp whose cp.async, begun by one instruction, may still be on their way.
  struct Copies {
    uint32_t access = 0;  ///< index of Kernel::checks
    uint32_t warp = 0;
    uint32_t lanes = 0;
    std::array<uint32_t, warp_lanes> offset{};
  };
  struct MbarrierOrder {
    TwoOrders::Clock gathered, passed;     ///< what all arrivals give, those up to the last complete phase
    uint32_t agent = Order::nobody;        ///< who does the copies that it waits for
    uint32_t begun = 0, complete = 0;      ///< how many of them have been, in complete phases
    std::vector<AgentWork> gathered_work;  ///< of tensor cores, as gathered
    std::vector<AgentWork> passed_work;    ///< … as passed
  };

  const Kernel& kernel_;
  const SharedPieces pieces_;
  ClusterOrder& cluster_;
  TwoOrders& order_;
  AccessHistory& history_;
  std::vector<Copies> copies_;
  std::vector<Bulk> bulk_;                                 ///< in their order
  std::vector<uint32_t> bulk_groups_;                      ///< by thread of the block: how many it has closed
  std::vector<uint32_t> product_agents_;                   ///< by four warps
  std::vector<uint32_t> product_groups_;                   ///< by warp: how many it has closed
  std::unordered_map<uint32_t, AgentWork> tensor_work_;    ///< by thread of the block: what it begins next
  std::unordered_map<uint64_t, MbarrierOrder> mbarriers_;  ///< by offset

  /// Writes into the history of this epoch what is still on its way.
  void remember(const Copies& copies);
  void remember(const Bulk& bulk);
  /// The thread has waited for what the copy reads: the read happens now.
  void finish_read(const Warp& w, uint32_t lane, const Bulk& bulk);
  /// Somebody has waited for what these agents have done up to then.
  void forget(std::span<const AgentWork> done);
};

}  // namespace lanescope::exec
