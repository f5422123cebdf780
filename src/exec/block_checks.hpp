// What the checks of a launch (checks.hpp) know of one running block: who accessed each piece of its shared
// memory last and in which order its threads are (order.hpp), which bytes hold something, and who is at which
// barrier.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/checks.hpp"
#include "exec/observer.hpp"
#include "exec/order.hpp"
#include "exec/program.hpp"
#include "exec/state.hpp"
#include "exec/undefined_values.hpp"

namespace lanescope::exec {

struct BlockState;
struct WarpState;

/// What the checks of a cluster's blocks have in common; a block that is in none is one by itself.
struct ClusterOrder {
  explicit ClusterOrder(uint32_t warps) : order(warps) {}
  TwoOrders order;
  /// Of the cluster's barrier: what those know who have arrived; all who had when it was last complete.
  TwoOrders::Clock arrived, passed;
  /// What the last release to a word of global memory gives.
  std::unordered_map<uint64_t, TwoOrders::Clock> flags;
  std::vector<uint32_t> begun_by;  ///< by agent: the thread that began its last copy
};

class BlockChecks {
 public:
  /// Of the block's shared memory what lies at `system_shared` and behind it is the system's; `local_bytes`:
  /// of a thread. `rank`: of the block in its cluster.
  BlockChecks(const Kernel& kernel, const Checks& checks, uint32_t threads, uint32_t shared_bytes,
              uint32_t system_shared, uint32_t local_bytes, std::shared_ptr<ClusterOrder> cluster,
              uint32_t rank);

  [[nodiscard]] const std::shared_ptr<ClusterOrder>& cluster() const { return cluster_; }

  /// The block's threads are about to start.
  void start();

  // Memory. `in`: the helper instruction.
  void access(Warp& w, const Inst* in, const CheckedAccess& access);
  void enter(const Warp& w, uint32_t first_variable, uint32_t count);
  void fence(const Warp& w);
  /// An asynchronous copy of the lane, of which access() was told when it was issued, is done and waited for.
  void copied(const Warp& w, uint32_t lane, uint32_t offset, uint32_t bytes);
  /// One side of a bulk copy that a lane of this block or of another one of the cluster begins, in this
  /// block's memory: access number `access` of the kernel. Whoever waits for the mbarrier at `mbarrier` of
  /// the block `owner` waits for the copy; nullptr: its thread does, for a group of copies.
  void copy_in_bulk(Warp& w, const Inst* in, uint32_t lane, uint32_t access, uint64_t offset, uint32_t bytes,
                    BlockChecks* owner, uint64_t mbarrier);
  /// The lane begins a bulk copy that this mbarrier waits for.
  void begin_for_mbarrier(const Warp& w, uint32_t lane, uint64_t offset);
  /// The lanes close a group of bulk copies; they wait for all but the last `still` groups.
  void commit_bulk(const Warp& w);
  void wait_for_bulk(const Warp& w, uint64_t still);
  void proxy_fence(const Warp& w);
  /// wgmma reads a matrix, 16 bytes at each of these offsets, for this warp. `shared`: all four warps of its
  /// group read it.
  void read_for_product(Warp& w, const Inst* in, uint32_t access, std::span<const uint32_t> offsets,
                        bool shared);
  /// The warp closes a group of products; it waits for all but the last `still` groups.
  void commit_products(const Warp& w);
  void wait_for_products(const Warp& w, uint64_t still);
  static constexpr uint32_t none = 0xffffffffu;
  /// The same of a thread's tcgen05.mma and .cp: who does all that it begins until its next commit, like a
  /// thread, and number of that commit.
  struct TensorWork {
    uint32_t agent = none, time = 0;
  };
  /// Of the lane's own block: what it begins next, and its commit.
  [[nodiscard]] TensorWork tensor_work(const Warp& w, uint32_t lane);
  TensorWork commit_tensor_work(const Warp& w, uint32_t lane);
  /// Of the block whose shared memory is read, 16 bytes at each of these offsets.
  void read_for_tensor_work(Warp& w, const Inst* in, uint32_t lane, uint32_t access,
                            std::span<const uint32_t> offsets, TensorWork work);
  /// Of the block whose mbarrier it is: who finds the phase complete comes after the work.
  void tell_of(TensorWork work, uint64_t mbarrier);
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

  /// A lane of the cluster arrives at the mbarrier of this block, or one of its copies does: what came before
  /// comes before what those do who find the phase complete.
  void release_to(const Warp& w, uint32_t lane, uint64_t offset);
  void initialised(uint64_t offset);
  void phase_completed(uint64_t offset);
  void acquire_from(const Warp& w, uint32_t lanes, uint64_t offset);
  /// The lanes arrive at the cluster's barrier, wait for it. `relaxed`: they tell only what they did before
  /// their last fences.
  void arrive_at_cluster(const Warp& w, uint32_t lanes, bool relaxed);
  void cluster_completed(BlockState& block);
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
  /// A piece of shared memory that every access covers wholly or not at all: `granule_` bytes. Accesses of
  /// older epochs than `epoch` are over.
  struct Cell {
    uint32_t epoch = 0;
    uint32_t writer = none;       ///< thread or agent of the last store
    uint32_t write_time = 0;      ///< of its warp; in_flight: a copy that has not been waited for
    uint32_t write_access = 0;    ///< index of Kernel::checks
    uint32_t touches = none;      ///< first of the list in touches_
    uint32_t touching_warps = 0;  ///< warps in that list, one bit for all that are equal modulo 32
    bool has_atomics = false;     ///< in that list
  };
  /// Lanes of a warp that loaded from a cell, or changed it atomically, by one instruction at one time. Time
  /// in_flight: by bulk copies that their threads have not waited for.
  struct Touch {
    uint32_t next = none;
    uint32_t access = 0;  ///< index of Kernel::checks
    uint32_t warp = 0;
    uint32_t time = 0;
    uint32_t lanes = 0;
  };
  /// undefined: by values that come from where nobody had written.
  enum class Written : uint8_t { no, yes, read_before, undefined };
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
  /// An mbarrier of the block.
  struct Arrivals {
    TwoOrders::Clock gathered, passed;  ///< what all arrivals give, and those up to the last complete phase
    uint32_t agent = none;              ///< who does the copies that it waits for
    uint32_t begun = 0, complete = 0;   ///< how many of them have been, in complete phases
    std::vector<TensorWork> gathered_work, passed_work;  ///< the same of tensor cores, as gathered and passed
  };
  /// What a bulk copy or a product that nobody has waited for does here.
  struct Bulk {
    uint32_t access = 0;    ///< index of Kernel::checks
    uint32_t thread = 0;    ///< who began it
    uint32_t agent = none;  ///< of an mbarrier, or of the products of four warps
    uint32_t time = 0;      ///< of the agent; without one, the number of the thread's group
    uint32_t offset = 0, bytes = 0;
  };
  /// The last store to a cell by a thread itself.
  struct OwnStore {
    uint32_t epoch = 0, time = 0, thread = none, access = 0;
  };
  static constexpr uint32_t in_flight = 0xffffffffu;

  const Kernel& kernel_;
  const Checks checks_;
  const uint32_t threads_;
  const uint32_t warps_;
  const uint32_t shared_bytes_, system_shared_, local_bytes_;
  const uint32_t rank_;
  const std::shared_ptr<ClusterOrder> cluster_;
  TwoOrders& order_;
  const bool alone_;  ///< in no cluster
  uint32_t granule_shift_ = 2;
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
  std::vector<Bulk> bulk_;                ///< here, in their order
  std::vector<uint32_t> bulk_groups_;     ///< by thread of the block: how many it has closed
  std::vector<OwnStore> own_stores_;      ///< by cell; empty: nothing goes by the asynchronous proxy
  std::vector<uint32_t> product_agents_;  ///< by four warps: who reads for their products, like a thread
  std::vector<uint32_t> product_groups_;  ///< by warp: how many it has closed
  std::unordered_map<uint32_t, TensorWork> tensor_work_;  ///< by thread of the block: what it begins next
  /// What the last release to a cell gives.
  std::unordered_map<uint64_t, TwoOrders::Clock> synchronised_;
  std::unordered_map<uint64_t, Arrivals> mbarriers_;  ///< by offset
  TwoOrders::Clock ended_;                            ///< what the threads knew that have ended
  std::vector<Written> shared_written_;               ///< by cell
  std::vector<Written> local_written_;                ///< by byte, thread after thread
  UndefinedValues values_;                            ///< stored ones by place_in_shared(), place_in_local()
  bool tries_ = false;                                ///< an instruction is not executed in earnest
  std::array<BlockBarrier, block_barriers> barriers_;
  std::vector<const Inst*> exits_;    ///< by thread
  Allocation allocation_;             ///< the one of global memory last met,
  uint64_t generation_ = UINT64_MAX;  ///< when Memory::generation() was this

  void new_epoch();
  [[nodiscard]] static uint32_t thread_of(const Warp& w, uint32_t lane) {
    return w.index * warp_lanes + lane;
  }
  /// The warp's number in the cluster, as order_ has it, and the lane's; the other way round, the thread that
  /// is meant: of an agent, who began its last copy.
  [[nodiscard]] static uint32_t warp_of(const Warp& w);
  [[nodiscard]] static uint32_t number_of(const Warp& w, uint32_t lane) {
    return warp_of(w) * warp_lanes + lane;
  }
  [[nodiscard]] uint32_t thread_behind(uint32_t number) const {
    return number < order_.defined().threads() ? number
                                               : cluster_->begun_by[number - order_.defined().threads()];
  }

  /// One access while it is looked at.
  struct Now {
    Warp& w;
    const Inst* in;
    const CheckedAccess& access;
    uint32_t number = 0;  ///< of the access in Kernel::checks
    uint32_t bytes = 0;   ///< of a lane
    uint32_t warp = warp_of(w);
    std::array<uint64_t, warp_lanes> offset{};
    std::array<uint8_t, warp_lanes> rank{};  ///< of the block whose shared memory it is
    uint32_t shared = 0, local = 0;          ///< lanes that go there, all inside and aligned
    uint32_t elsewhere = 0;                  ///< the same to shared memory of other blocks
    uint32_t global = 0;                     ///< the others: of them nothing is known yet
    uint32_t raced = 0;                      ///< lanes already counted
    uint32_t agent = none, time = 0;         ///< who does it, if it is not the lane itself
    uint32_t together = 0;  ///< lanes that make one access: it comes after what any of them knows
  };
  void find_addresses(Now& now) const;
  /// Whether the address in the window of shared memory, which names a block, is in another one of the
  /// cluster; makes it the offset there.
  static bool leads_elsewhere(Now& now, uint32_t lane, uint64_t& at);
  /// An agent reads for the lane, 16 bytes at each of these offsets. `keeps`: it is on its way until somebody
  /// has waited for it.
  void read_by_agent(Now& now, uint32_t lane, std::span<const uint32_t> offsets, bool keeps);
  /// What lanes of `now.shared` do to this block's memory.
  void look_for_races(Now& now);
  /// The same for lanes that come from another block.
  void access_from_elsewhere(Now now, uint32_t lanes);
  [[nodiscard]] static Finding uninitialised(const Now& now, uint32_t lane, Finding::Severity severity);
  void look_at_beginning(Now& now, uint32_t lane);
  void look_at_init(const Now& now, uint32_t lane);
  void look_at_global(const Now& now, uint32_t lane);
  void look_at_bounds(const Now& now, uint32_t lane);
  [[nodiscard]] static uint64_t place_in_shared(uint64_t offset) { return offset; }
  [[nodiscard]] uint64_t place_in_local(const Warp& w, uint32_t lane, uint64_t offset) const {
    return uint64_t{1} << 63 | (uint64_t{thread_of(w, lane)} * local_bytes_ + offset);
  }
  /// Undefined bits of what a lane loads, and where they come from.
  struct Loaded {
    std::array<std::byte, 32> bits{};
    UndefinedValues::Name origin = 0;  ///< 0: all are defined
  };
  /// The lane has loaded that: `fresh` where some of it nobody has written.
  void take(const Now& now, uint32_t lane, Loaded loaded, const UndefinedValues::Origin* fresh);
  /// Whether a thread of this block does it, not one of another block of the cluster; and whether its load
  /// goes into registers that are followed here.
  [[nodiscard]] bool is_of_this_block(const Now& now) const;
  [[nodiscard]] bool follows(const Now& now) const;
  /// A load is about to define its registers; what a store takes out of the block is used.
  void follow_data(const Now& now);
  /// What the lane stores to bytes that begin at `place`; f(i) for each undefined one.
  template <class F>
  void store_values(const Now& now, uint32_t lane, uint64_t place, F f);
  /// Something depends on what came from there: the instruction `use` of Kernel::origins.
  void report_use(Warp& w, UndefinedValues::Name name, uint32_t use);
  void report_undefined(Warp& w, const UndefinedValues::Origin& origin, uint32_t use);
  [[nodiscard]] std::string words_for_read(const Warp& w, const UndefinedValues::Origin& origin) const;
  [[nodiscard]] std::string words_for_shuffle(const UndefinedValues::Origin& origin) const;
  /// The lane stores to a piece of shared memory that was read before: that is the store that came too late.
  void add_late_store(const Now& now, uint32_t lane, uint32_t index);

  Cell& cell(uint32_t index);
  void load(Now& now, uint32_t lane, uint32_t index);
  void store(Now& now, uint32_t lane, uint32_t index);
  void change(Now& now, uint32_t lane, uint32_t index);
  /// A load or an atomic operation joins the cell's list.
  void touch(const Now& now, uint32_t lane, Cell& cell);
  void add_touch(Cell& cell, uint32_t access, uint32_t warp, uint32_t time, uint32_t lanes);
  void forget_touches(Cell& cell);
  void note_store(const Now& now, uint32_t lane, uint32_t index);
  /// Whether what thread or agent `number` did at `time` is ordered before the lane's access.
  [[nodiscard]] static bool is_before(const Order& order, uint32_t number, uint32_t time, const Now& now,
                                      uint32_t lane);
  /// Reports the lane's access if it races with the cell's last store.
  void against_writer(Now& now, uint32_t lane, const Cell& cell, uint32_t index);
  /// … with loads and atomic operations; `atomics_only`: for a load, which does not race with others.
  void against_touches(Now& now, uint32_t lane, const Cell& cell, uint32_t index, bool atomics_only);
  /// … if it is a bulk copy's, and no proxy fence comes after what a thread itself has stored there.
  void against_own_store(Now& now, uint32_t lane, uint32_t index);
  /// `then_number`: thread or agent; `excuse`: what speaks for it as far as is known.
  void report_race(Now& now, uint32_t lane, uint32_t index, uint32_t then, uint32_t then_number,
                   Finding::Excuse excuse, Finding::Lack lack = Finding::Lack::order);
  /// The finding of a lane's access to a piece of shared memory.
  [[nodiscard]] Finding race_of(const Now& now, uint32_t lane, uint32_t index) const;
  [[nodiscard]] std::string describe(const Warp& w, uint64_t offset, uint32_t bytes) const;
  /// An access by a thread of the cluster, or by its copy, that nothing orders before the end of this block.
  void report_outlived(BlockState& block, uint32_t index, uint32_t access, uint32_t thread,
                       Finding::Lack lack);
  /// Whether the lane stores what the cell holds since `writer` stored to it.
  [[nodiscard]] bool stores_same(const Now& now, uint32_t lane, uint32_t index, uint32_t writer) const;
  /// Reading takes over the order that a release to this cell gave, releasing gives it.
  using Clocks = std::unordered_map<uint64_t, TwoOrders::Clock>;
  void acquire_by(const Now& now, uint32_t lane, const Clocks& clocks, uint64_t place);
  void release_by(const Now& now, uint32_t lane, Clocks& clocks, uint64_t place);
  /// A flag in global memory orders the threads of a block as one in shared memory does.
  void synchronise_by(const Now& now, uint32_t lane);
  void begin_copy(Now& now, uint32_t lane, uint32_t index);
  /// The thread has waited for what the copy reads: the read happens now.
  void finish_read(const Warp& w, uint32_t lane, const Bulk& bulk);
  /// Writes into the books of this epoch what is still on its way.
  void remember(const Bulk& bulk);
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
