// Races on a block's shared memory (--check race), and of the threads of a block or cluster on global memory
// (--check global): each access is compared with those of other threads, and of asynchronous copies, that
// access_history.hpp knows of the same bytes and that nothing orders before it (order.hpp). docs/checks.md
// says what orders accesses and which ones race.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exec/access_history.hpp"
#include "exec/async_work.hpp"
#include "exec/block_shape.hpp"
#include "exec/checks.hpp"
#include "exec/cluster_order.hpp"
#include "exec/observer.hpp"
#include "exec/program.hpp"
#include "exec/warp_access.hpp"

namespace lanescope::exec {

struct BlockState;
struct WarpState;

class RaceCheck {
 public:
  /// The blocks of a cluster are made in the order of their ranks.
  RaceCheck(const Kernel& kernel, const Checks& checks, const BlockShape& shape, SharedPieces pieces,
            ClusterOrder& cluster);
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;

  void start();

  // Accesses.

  /// Lanes of this block access its memory, and global memory.
  void access(WarpAccess& now);
  /// Lanes of another block access this block's memory.
  void access_from_elsewhere(WarpAccess& now);
  /// One side of a bulk copy that a lane begins, in this block's memory. `work`: of the mbarrier that waits
  /// for it; nobody's: its thread does, for a group of copies.
  void copy_in_bulk(Warp& w, uint32_t lane, uint32_t access, uint64_t offset, uint32_t bytes, AgentWork work);
  /// The other side, in global memory; now.by: of the mbarrier.
  void copy_global(WarpAccess& now);
  void store_range(Warp& w, uint32_t lane, uint32_t access, uint64_t offset, uint32_t bytes);
  /// The agent now.by reads for the lane. `keeps`: it is on its way until somebody has waited for it.
  void read_by_agent(WarpAccess& now, uint32_t lane, bool keeps);

  // Synchronisation; that of asynchronous work is async_work()'s.

  void fence(const Warp& w) { order_.fence(warp_in_cluster(w), w.mask); }
  void proxy_fence(const Warp& w);
  /// The lanes have met at an instruction; `orders`: it orders their accesses.
  void meet(const Warp& w, uint32_t lanes, bool orders);
  /// The lanes arrive at a barrier without waiting there.
  void pass_barrier(const Warp& w, uint32_t lanes, uint32_t number);
  /// It lets go those who wait: `waiting`, lanes by warp.
  void complete_barrier(const std::vector<WarpState>& warps, const std::vector<uint32_t>& waiting,
                        uint32_t number);
  void arrive_at_cluster(const Warp& w, uint32_t lanes, bool relaxed);
  void complete_cluster_barrier();
  void wait_for_cluster(const Warp& w, uint32_t lanes);
  void exited(const Warp& w, uint32_t lanes);
  /// All threads have ended: reports what outlives the block.
  void ended(BlockState& block) const;

  [[nodiscard]] AsyncWork& async_work() { return async_work_; }

 private:
  using Cell = AccessHistory::Cell;
  using Store = AccessHistory::Store;
  using Touch = AccessHistory::Touch;
  using Clocks = std::unordered_map<uint64_t, TwoOrders::Clock>;
  struct Executed {
    uint32_t epoch = 0;
    uint32_t lanes = 0;
  };

  /// What an access covers of the memory that is watched.
  struct Piece {
    AccessHistory& history;
    uint32_t index;  ///< there
    uint64_t begin;  ///< offset in shared memory, or address
    bool is_global;
  };

  const Kernel& kernel_;
  const Checks checks_;
  const BlockShape shape_;
  const SharedPieces pieces_;
  const uint32_t flag_shift_;  ///< flags in global memory have 1 << this many bytes, or several such
  ClusterOrder& cluster_;
  TwoOrders& order_;
  const bool alone_;  ///< in no cluster
  AccessHistory history_;
  AsyncWork async_work_;
  /// By warp and access: who has done it in the last epoch that it was done in.
  std::vector<Executed> executed_;
  Clocks synchronised_;                                  ///< by piece: what the last release to it gives
  std::array<TwoOrders::Clock, block_barriers> passed_;  ///< what those had done who passed the barrier
  TwoOrders::Clock ended_;                               ///< what the threads knew that have ended

  void new_epoch();
  /// Notes who executes the access; whether the lane has done so since the last barrier of all threads.
  void note_executed(const WarpAccess& now);
  [[nodiscard]] bool has_executed(const Warp& w, uint32_t lane, uint32_t access) const;

  [[nodiscard]] uint32_t bytes_of(const Piece& piece) const {
    return 1u << (piece.is_global ? cluster_.global->shift() : pieces_.shift());
  }
  /// Calls f(piece) for each piece of the block's shared memory that the bytes cover.
  template <class F>
  void each_piece(uint64_t offset, uint32_t bytes, F f) {
    pieces_.each(offset, bytes, [&](uint32_t index) {
      f(Piece{history_, index, pieces_.begin_of(index), false});
    });
  }
  void look_for_races(WarpAccess& now);
  void look_for_global_races(WarpAccess& now);

  /// `each(f)` calls f(lane, piece) for each piece that each lane accesses.
  template <class Each>
  void look(WarpAccess& now, Each each);

  // One lane's access to one piece.
  void load(WarpAccess& now, uint32_t lane, const Piece& piece);
  void store(WarpAccess& now, uint32_t lane, const Piece& piece);
  void change(WarpAccess& now, uint32_t lane, const Piece& piece);
  void begin_copy(WarpAccess& now, uint32_t lane, const Piece& piece);
  void note_own_store(const WarpAccess& now, uint32_t lane, const Piece& piece);

  // Flags: reading takes over the order that a release to this place gave, releasing gives it.
  void acquire_by(const WarpAccess& now, uint32_t lane, const Clocks& clocks, uint64_t place);
  void release_by(const WarpAccess& now, uint32_t lane, Clocks& clocks, uint64_t place);
  void synchronise_by(const WarpAccess& now, uint32_t lane, Clocks& clocks, uint64_t place);

  // Comparisons.
  /// Whether what thread or agent `number` did at `time` is ordered before the lane's access.
  [[nodiscard]] static bool is_before(const Order& order, uint32_t number, uint32_t time,
                                      const WarpAccess& now, uint32_t lane);
  /// Reports the lane's access if it races with the last store.
  void against_store(WarpAccess& now, uint32_t lane, const Store& then, const Piece& piece);
  /// … with loads and atomic operations; `atomics_only`: for a load, which does not race with others.
  void against_touches(WarpAccess& now, uint32_t lane, const Cell& cell, const Piece& piece,
                       bool atomics_only);
  void against_touch(WarpAccess& now, uint32_t lane, const Touch& then, const Piece& piece);
  /// … if it is a bulk copy's, and no proxy fence comes after what a thread itself has stored there.
  void against_own_store(WarpAccess& now, uint32_t lane, const Piece& piece);
  /// … if it is another block's, and nothing orders it after the beginning of this one.
  void against_beginning(const WarpAccess& now, uint32_t lane) const;
  /// Whether the lane stores what the piece holds since `writer` stored to it.
  [[nodiscard]] bool stores_same(const WarpAccess& now, uint32_t lane, const Piece& piece,
                                 uint32_t writer) const;

  // Findings (race_findings.cpp).
  /// `then_number`: thread or agent; `excuse`: what speaks for it as far as is known.
  void report_race(WarpAccess& now, uint32_t lane, const Piece& piece, uint32_t then, uint32_t then_number,
                   Finding::Excuse excuse, Finding::Lack lack = Finding::Lack::order);
  void report_beginning(const WarpAccess& now, uint32_t lane) const;
  /// An access by a thread of the cluster, or by its copy, that nothing orders before the end of this block.
  void report_outlived(BlockState& block, uint64_t offset, uint32_t access, uint32_t thread,
                       Finding::Lack lack) const;
  /// What the finding of a lane's access to a piece of memory begins with.
  [[nodiscard]] Finding race_of(const WarpAccess& now, uint32_t lane, uint64_t begin, uint32_t bytes) const;
  /// Adds the finding of an access to these bytes of shared memory, if such are asked for.
  void report_shared(const WarpAccess& now, const Finding& found, uint64_t offset, uint32_t bytes) const;
};

}  // namespace lanescope::exec
