// What the checks of a launch (checks.hpp) know of one running block: who accessed each piece of its shared
// memory last and in which order its threads are (order.hpp), which bytes hold something, and who is at which
// barrier.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exec/checks.hpp"
#include "exec/observer.hpp"
#include "exec/order.hpp"
#include "exec/program.hpp"
#include "exec/state.hpp"

namespace lanescope::exec {

struct WarpState;

class BlockChecks {
 public:
  /// Of the block's shared memory what lies at `system_shared` and behind it is the system's; `local_bytes`:
  /// of a thread.
  BlockChecks(const Kernel& kernel, const Checks& checks, uint32_t threads, uint32_t shared_bytes,
              uint32_t system_shared, uint32_t local_bytes);

  /// The block's threads are about to start.
  void start();

  // Memory. `in`: the helper instruction.
  void access(Warp& w, const Inst* in, const CheckedAccess& access);
  void enter(const Warp& w, uint32_t first_variable, uint32_t count);
  void fence(const Warp& w);
  /// An asynchronous copy of the lane, of which access() was told when it was issued, is done and waited for.
  void copied(const Warp& w, uint32_t lane, uint32_t offset, uint32_t bytes);
  /// The bytes have been written by something that races with nobody.
  void written(uint64_t offset, uint64_t bytes);
  /// The same for local memory of the lane.
  void written_local(const Warp& w, uint32_t lane, uint64_t offset, uint64_t bytes);

  // Synchronisation.

  /// What the lane has done comes before what those do who acquire from the same place: an mbarrier object.
  void release_to(const Warp& w, uint32_t lane, uint64_t offset);
  void acquire_from(const Warp& w, uint32_t lane, uint64_t offset);
  /// The lanes tell other blocks of the cluster what they have done, by the cluster's barrier or an mbarrier
  /// of such a block; they learn from other blocks what has been done. Which block told whom is not followed:
  /// whoever learns anything is ordered after all that was told before. `relaxed`: they tell only what they
  /// did before their last fences.
  void release_to_cluster(const Warp& w, uint32_t lanes, bool relaxed = false);
  void acquire_from_cluster(const Warp& w, uint32_t lanes);
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

 private:
  /// A piece of shared memory that every access covers wholly or not at all: `granule_` bytes. Accesses of
  /// older epochs than `epoch` are over.
  struct Cell {
    uint32_t epoch = 0;
    uint32_t writer = none;       ///< thread of the last store
    uint32_t write_time = 0;      ///< of its warp; in_flight: a copy that has not been waited for
    uint32_t write_access = 0;    ///< index of Kernel::checks
    uint32_t touches = none;      ///< first of the list in touches_
    uint32_t touching_warps = 0;  ///< warps in that list, one bit each
    bool has_atomics = false;     ///< in that list
  };
  /// Lanes of a warp that loaded from a cell, or changed it atomically, by one instruction at one time.
  struct Touch {
    uint32_t next = none;
    uint32_t access = 0;  ///< index of Kernel::checks
    uint32_t warp = 0;
    uint32_t time = 0;
    uint32_t lanes = 0;
  };
  enum class Written : uint8_t { no, yes, read_before };
  struct BlockBarrier {
    std::vector<const Inst*> at;    ///< by thread: where it arrived
    std::vector<uint32_t> waiting;  ///< lanes by warp
    std::vector<uint32_t> passing;  ///< lanes that arrived without waiting (bar.arrive)
    TwoOrders::Clock passed;        ///< what those had done
    uint32_t expected = 0;
    uint32_t expecting_thread = 0;
    const Inst* expecting = nullptr;

    void clear() {
      std::fill(waiting.begin(), waiting.end(), 0);
      std::fill(passing.begin(), passing.end(), 0);
      passed = {};
      expecting = nullptr;
    }
  };
  /// Lanes of a warp whose copies, begun by one instruction, may still be on their way.
  struct Copies {
    uint32_t access = 0;  ///< index of Kernel::checks
    uint32_t warp = 0;
    uint32_t lanes = 0;
    std::array<uint32_t, warp_lanes> offset{};
  };
  static constexpr uint32_t none = 0xffffffffu;
  static constexpr uint32_t in_flight = 0xffffffffu;

  const Kernel& kernel_;
  const Checks checks_;
  const uint32_t threads_;
  const uint32_t warps_;
  const uint32_t shared_bytes_, system_shared_, local_bytes_;
  uint32_t granule_shift_ = 2;
  TwoOrders order_;
  std::vector<Cell> cells_;
  struct Executed {
    uint32_t epoch = 0;
    uint32_t lanes = 0;
  };
  std::vector<Executed>
      executed_;  ///< by warp and access: who has done it in the last epoch that it was done in
  std::vector<Touch> touches_;
  uint32_t free_touch_ = none;
  std::vector<Copies> copies_;
  /// What the last release to a place gives: by cell of shared memory, by word of global memory.
  std::unordered_map<uint64_t, TwoOrders::Clock> synchronised_;
  TwoOrders::Clock told_cluster_;        ///< what other blocks have been told
  std::vector<Written> shared_written_;  ///< by cell
  std::vector<Written> local_written_;   ///< by byte, thread after thread
  std::array<BlockBarrier, block_barriers + warp_lanes / warps_of_group> barriers_;
  std::vector<const Inst*> exits_;    ///< by thread
  Allocation allocation_;             ///< the one of global memory last met,
  uint64_t generation_ = UINT64_MAX;  ///< when Memory::generation() was this

  void new_epoch();
  [[nodiscard]] uint32_t thread_of(const Warp& w, uint32_t lane) const { return w.index * warp_lanes + lane; }

  /// One access while it is looked at.
  struct Now {
    Warp& w;
    const Inst* in;
    const CheckedAccess& access;
    uint32_t number = 0;  ///< of the access in Kernel::checks
    std::array<uint64_t, warp_lanes> offset{};
    uint32_t shared = 0, local = 0;  ///< lanes that go there, all inside and aligned
    uint32_t global = 0;             ///< the others: of them nothing is known yet
    uint32_t raced = 0;              ///< lanes already counted
  };
  void find_addresses(Now& now) const;
  /// The access goes to shared memory of another block of the cluster.
  static void written_elsewhere(const Now& now, uint64_t rank, uint64_t offset);
  void look_at_init(const Now& now, uint32_t lane);
  void look_at_global(const Now& now, uint32_t lane);
  void look_at_bounds(const Now& now, uint32_t lane);
  /// `unwritten`: bytes; `what` and `who`, in words: what is read, and who should have written it.
  void report_uninitialised(const Now& now, uint32_t lane, uint32_t unwritten, Finding::Severity severity,
                            const std::string& what, const char* who);
  /// The lane stores to a piece of shared memory that was read before: that is the store that came too late.
  void add_late_store(const Now& now, uint32_t lane, uint32_t index);

  Cell& cell(uint32_t index);
  void load(Now& now, uint32_t lane, uint32_t index);
  void store(Now& now, uint32_t lane, uint32_t index);
  void change(Now& now, uint32_t lane, uint32_t index);
  /// A load or an atomic operation joins the cell's list.
  void touch(const Now& now, uint32_t lane, Cell& cell);
  void forget_touches(Cell& cell);
  /// Reports the lane's access if it races with the cell's last store.
  void against_writer(Now& now, uint32_t lane, const Cell& cell, uint32_t index);
  /// … with loads and atomic operations; `atomics_only`: for a load, which does not race with others.
  void against_touches(Now& now, uint32_t lane, const Cell& cell, uint32_t index, bool atomics_only);
  /// `excuse`: what speaks for it as far as is known.
  void report_race(Now& now, uint32_t lane, uint32_t index, uint32_t then, uint32_t then_thread,
                   Finding::Excuse excuse);
  /// Whether the lane stores what the cell holds since `writer` stored to it.
  [[nodiscard]] bool stores_same(const Now& now, uint32_t lane, uint32_t index, uint32_t writer) const;
  /// Reading takes over the order that a release to this cell gave, releasing gives it.
  void acquire_by(const Now& now, uint32_t lane, uint64_t place);
  void release_by(const Now& now, uint32_t lane, uint64_t place);
  /// A flag in global memory orders the threads of a block as one in shared memory does.
  void synchronise_by(const Now& now, uint32_t lane);
  void begin_copy(Now& now, uint32_t lane, uint32_t index);
  /// Calls f(index) for each piece of a lane's access.
  template <class F>
  void each_piece(uint64_t offset, uint32_t bytes, F f) const {
    const auto first = static_cast<uint32_t>(offset >> granule_shift_);
    const uint32_t pieces = std::max(1u, bytes >> granule_shift_);
    for (uint32_t index = first; index < first + pieces; ++index) f(index);
  }

  void check_places(std::vector<WarpState>& warps, uint32_t number);
};

}  // namespace lanescope::exec
