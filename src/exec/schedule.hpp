// Runs the warps of a block: which path of a warp (paths.hpp) goes next, and who waits for whom.
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

#include "exec/block_barrier.hpp"
#include "exec/block_checks.hpp"
#include "exec/cluster.hpp"
#include "exec/launch.hpp"
#include "exec/paths.hpp"
#include "exec/state.hpp"
#include "exec/tensor_memory.hpp"

namespace lanescope::exec {

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
