// Runs the warps of a block: which path of a warp goes next, where paths part and join, barriers, and who
// waits for whom.
//
// The lanes of a warp that go the same way form a path. Where lanes part at a branch, the path becomes a
// joint: its parts run one after another up to the branch's meeting (meetings.hpp), where the joint goes on
// with all who came. Paths form a tree whose leaves can run in any order, so a path that spins lets its
// siblings run (forward progress for every lane, as on hardware since compute capability 7.0).
//
// The order is that of an H100, which shows where it decides how many lanes come to a place together
// (tests/kernels/ways_test.cpp): where lanes part, the fewer go first, of equally many those that do
// not take the branch. When they wait or have ended, the others go on, and then, of all who can, the fewest,
// with those who are at the same place. Lanes that try again, or wait, give way to all others (yields.hpp).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/async_copy.hpp"
#include "exec/block_checks.hpp"
#include "exec/cluster.hpp"
#include "exec/launch.hpp"
#include "exec/state.hpp"
#include "exec/tensor_memory.hpp"

namespace lanescope::exec {

/// A call in progress.
struct Frame {
  const Inst* back = nullptr;    ///< where the caller goes on
  const Inst* stop = nullptr;    ///< the caller's own stop
  int32_t below = -1;            ///< the frame under this one
  std::vector<std::byte> saved;  ///< the caller's registers, if the callee may come back to it
  uint32_t saved_at = 0;
};

struct Path {
  enum class State : uint8_t { unused, ready, joint, at_barrier, at_sync, held };
  State state = State::unused;
  uint32_t gives_way = 0;  ///< ready: the others of its warp run first (YIELD), of these the lower ones
  bool spinning = false;   ///< seen to repeat itself without a change: see spins() in schedule.cpp
  int16_t parent = -1;     ///< joint it belongs to
  int16_t children = 0;    ///< of a joint: parts not yet arrived
  uint32_t mask = 0;
  uint32_t arrived = 0;                    ///< of a joint
  int32_t frame = -1;                      ///< innermost call made by this path itself
  const Inst* pc = nullptr;                ///< next instruction; of a joint: where it goes on
  const Inst* stop = nullptr;              ///< where its parent goes on; nullptr: nowhere
  uint32_t members = 0;                    ///< at_sync: whom it waits for
  uint32_t barrier = 0;                    ///< at_barrier
  const Kernel::WaitLoop* loop = nullptr;  ///< held: in which it waits; nullptr: at pc itself
  uint32_t branch =
      no_operand;  ///< of a joint: where its lanes parted (Kernel::branches), if that is counted
  uint64_t yields = 0;
  /// Backward branches and calls until it lets others run, whatever it meets on its way: barriers, lanes that
  /// part and join. 0: it begins a new slice.
  uint32_t fuel = 0;
};

/// Parts beyond those of 32 single lanes cannot exist: a joint has at least two parts or lanes that wait in
/// it.
inline constexpr int16_t max_paths = 2 * warp_lanes + 2;

inline constexpr uint64_t most_patience = 1u << 14;

struct WarpState : Warp {
  int16_t path_count = 0;             ///< used entries of `paths` lie below
  int16_t next = 0;                   ///< round robin, of paths that have used up their slices
  int16_t current = -1;               ///< path that runs as long as it can
  uint32_t last_way_given = 0;        ///< highest Path::gives_way until now
  int16_t parked = -1;                ///< the other part of the path that has parted last
  uint64_t patience = most_patience;  ///< see schedule.cpp
  std::array<Path, max_paths> paths;
  std::vector<Frame> frames;
  std::vector<int32_t> free_frames;
  std::vector<AsyncCopy> copies;              ///< not done yet, in their order
  std::array<uint32_t, warp_lanes> groups{};  ///< groups of copies that each lane has committed
  bool has_committed = false;                 ///< any lane has
  /// A copy or product of this warp has completed a phase of an mbarrier: who waits for it is to see that
  /// before this warp goes past a wait of its own and may complete the next phase.
  bool completed_phase = false;
  uint32_t cluster_arrived = 0;  ///< lanes that have arrived in this phase of the cluster's barrier
  uint32_t cluster_waits = 0;    ///< lanes that have arrived there and not waited since
};

/// One of the 16 barriers of a block.
struct Barrier {
  std::vector<uint32_t> arrived;  ///< lanes, by warp
  uint32_t whole_warps = 0;       ///< live warps of which every live lane has arrived
  uint32_t before = 0;      ///< threads of warps that had arrived without waiting and have come once more
  uint32_t expected = 0;    ///< threads; 0 = all of the block
  uint32_t true_count = 0;  ///< barrier.red: threads that came with a true predicate
  uint32_t thread_count = 0;
};

struct BlockState {
  uint64_t index = 0;
  uint32_t rank = 0;                     ///< in its cluster
  Cluster* cluster = nullptr;            ///< nullptr: it is one by itself
  std::unique_ptr<Cluster> own_cluster;  ///< of rank 0
  uint32_t live_warps = 0;
  /// Nobody else of the grid can do anything: lanes that are to meet one that waits in a loop go on without
  /// it.
  bool last_resort = false;
  /// Since when waits at mbarriers have been given up in vain, the block's shared memory being what it was.
  struct {
    uint64_t memory = 0;  ///< its hash
    std::chrono::steady_clock::time_point since{}, last{};
    std::chrono::steady_clock::duration own{};  ///< of that time, when the block had the host thread
  } vain;
  uint32_t rounds = 1;  ///< how long it may spin before others get the host thread; doubles
  std::vector<WarpState> warps;
  /// The 16 that a program names, then one for each warp group.
  std::array<Barrier, block_barriers + 32 / warps_of_group> barriers;
  uint32_t barriers_in_use = 0;           ///< one bit each
  std::vector<Kernel::Special> changing;  ///< special registers to set anew for each block
  std::unique_ptr<std::byte[]> registers, shared, local;
  std::byte *registers_at = nullptr, *shared_at = nullptr;  ///< aligned
  uint32_t shared_bytes = 0;
  std::unique_ptr<BlockChecks> checks;          ///< of a checked launch
  std::unique_ptr<TensorMemory> tensor_memory;  ///< if it has been asked for
};

/// Calls f(block) for each block of the cluster.
template <class F>
void each_block(BlockState& block, F f) {
  if (block.cluster == nullptr)
    f(block);
  else
    for (BlockState* b : block.cluster->blocks) f(*b);
}

/// Calls f(checks, offset) with the checks of the block of the cluster whose shared memory holds `at`; not
/// where the launch is not checked or `at` is elsewhere.
template <class F>
void tell_checks(const Warp& w, const std::byte* at, F f) {
  if (!w.block->checks) return;
  each_block(*w.block, [&](BlockState& block) {
    if (at >= block.shared_at && at < block.shared_at + block.shared_bytes)
      f(*block.checks, static_cast<uint64_t>(at - block.shared_at));
  });
}

/// The same with the asynchronous work of that block; not where races are not looked for.
template <class F>
void tell_async_work(const Warp& w, const std::byte* at, F f) {
  tell_checks(w, at, [&](BlockChecks& checks, uint64_t offset) {
    if (AsyncWork* work = checks.async_work()) f(*work, offset);
  });
}

/// Makes a block's state for a kernel and a launch's shape; it serves one block after another. Of a launch in
/// clusters it is the first one of a cluster and owns the others.
std::unique_ptr<BlockState> make_block(const Kernel& kernel, const LaunchConfig& config);
/// Makes it cluster `index` of the grid (a block is a cluster where there are no larger ones), all threads at
/// the kernel's first instruction.
void start_block(BlockState& block, const Kernel& kernel, const LaunchConfig& config, uint64_t index,
                 const std::byte* params);

/// Where the lanes of a warp are, or the first path that has some of them; nullptr if they have ended.
[[nodiscard]] const Inst* place_of(const WarpState& w, uint32_t lanes);
/// A mask of lanes as findings show it.
[[nodiscard]] std::string in_hex(uint32_t lanes);

enum class Outcome : uint8_t {
  finished,
  waiting,  ///< runs on without end in sight: others should get the host thread
  stalled   ///< every path repeats itself: only a write by another block can free it
};
/// Runs a started block, with its cluster, on this host thread. A deadlock inside the block is a finding and
/// finishes it.
Outcome run_block(BlockState& block, WorkerState& worker);
/// Reports that the block waits for something that cannot come.
void report_stall(BlockState& block, WorkerState& worker);

}  // namespace lanescope::exec
