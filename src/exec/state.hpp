// The running state behind a warp: its block, and what each host thread keeps while it runs blocks. The
// handlers' rare paths (an access that meets no known allocation, a pattern not seen last time) are declared
// here.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/memory.hpp"
#include "exec/observer.hpp"
#include "exec/program.hpp"
#include "exec/warp.hpp"

namespace lanescope::exec {

/// What a host thread remembers of one memory instruction between two executions of it.
struct alignas(64) SiteState {
  std::array<uint64_t, warp_lanes>
      address{};  ///< of the last access told to the observer (shared: see offset)
  std::array<uint32_t, warp_lanes> offset{};      ///< the same for shared memory
  uint64_t repeats = 0;                           ///< accesses since then with the same pattern, not yet told
  uint64_t base = 1, end = 0;                     ///< the allocation last met: [base, end); empty at first
  uint64_t previous = 0;                          ///< where the last access to consecutive addresses began
  uint32_t mask = 0;                              ///< of the last access told; 0 = none yet
  uint32_t last_space = 0;                        ///< AccessSpace of the last access told + 1
  uint32_t variable_begin = 0, variable_end = 0;  ///< shared variable of the last access told: [begin, end)
  bool writable = false;                          ///< the allocation may be stored to
};

class GridRaces;

/// One host thread's share of a launch.
struct WorkerState {
  const Kernel* kernel = nullptr;
  const std::vector<SharedVariable>* shared = nullptr;  ///< shared_variables() of the launch
  Memory* memory = nullptr;
  Observer* observer = nullptr;
  GridRaces* grid_races = nullptr;  ///< of a launch that is checked for them
  const std::byte* params = nullptr;
  std::function<void(const std::string&)> print;  ///< takes what kernels print
  std::vector<SiteState> sites;                   ///< by index of Kernel::accesses
  std::vector<BranchCounts> branches;             ///< by index of Kernel::branches, not yet told
  /// Take the place of these two while loops look again that only wait: that is not counted.
  std::vector<SiteState> unseen_sites;
  std::vector<BranchCounts> unseen_branches;
  LastTexture last_texture;
  std::vector<Finding> findings;  ///< one for each instruction and kind
  uint64_t instructions = 0;
  uint64_t lane_instructions = 0;  ///< the same, times the active lanes
  uint64_t shuffles = 0;           ///< of `instructions`
  uint64_t global_writes =
      0;  ///< stores and value-changing atomics so far: what other blocks may be waiting for
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
  std::chrono::milliseconds patience{};     ///< LaunchConfig::patience, less once it has come to an end
  const std::atomic<bool>* stop = nullptr;  ///< set: this host thread is to leave its block where it is
  uint64_t shared_granule_mask = 3, copy_granule_mask = 127, global_granule_mask = 127;

  /// Whether the host thread is to leave, between blocks or in a block that runs on.
  [[nodiscard]] bool leaves() const {
    return (stop != nullptr && *stop) || (until != std::chrono::steady_clock::time_point::max() &&
                                          std::chrono::steady_clock::now() >= until);
  }
};

/// Records a finding for the lanes of `lanes`; the first one, of the first block, is the example kept.
void report(Warp& w, const Inst* in, Finding::Kind kind, uint32_t lanes, uint64_t address, uint32_t width,
            std::string_view message, Finding::Severity severity = Finding::Severity::error);

/// The same of 16 bytes of a matrix at an offset behind the shared memory of the block, which has so many
/// bytes.
void report_matrix_outside(Warp& w, const Inst* in, uint32_t lanes, uint64_t offset, uint64_t shared_bytes);

/// Counts a defect of which the kind, the severity, the instructions, the thread and the count are given. The
/// finding that it is to be the example of (the first place()), to be given its message; nullptr when there
/// is a better one.
Finding* add_finding(Warp& w, Finding found);

/// Checks a global, constant or generic access lane by lane: findings for the bad lanes, host addresses in
/// `address` for the good ones (generic addresses of shared and local memory are translated), which are
/// returned. Remembers the allocation for the next time and, if `observed`, tells the observer, by space.
uint32_t resolve_flat(Warp& w, const Inst* in, uint64_t* address, uint32_t width, bool generic, bool store,
                      bool observed);
/// The same for offsets in shared memory; nothing is translated or told.
uint32_t resolve_shared(Warp& w, const Inst* in, const uint32_t* offset, uint32_t width);
/// The same for offsets in local memory: translated, not told.
uint32_t resolve_local(Warp& w, const Inst* in, uint64_t* address, uint32_t width);

/// The memory behind a lane's address of shared memory, of this block or another one of its cluster: offset
/// and generic addresses alike. nullptr, after a finding, if it is none or not aligned to `align`.
std::byte* shared_memory(Warp& w, const Inst* in, uint32_t lane, uint64_t address, uint32_t width,
                         uint32_t align);

/// The same for a range of global memory that a lane reads or writes. `last`: the allocation last met, to be
/// asked first.
std::byte* global_memory(Warp& w, const Inst* in, uint32_t lane, uint64_t address, uint64_t width,
                         uint32_t align, bool store, Allocation* last = nullptr);
/// Says that memory was written that other blocks may be waiting for: all but the block's own.
inline void note_write(Warp& w, const std::byte* at) {
  if (at < w.shared || at >= w.shared + w.shared_bytes) ++w.worker->global_writes;
}

/// A call deeper than the local memory of a thread.
void report_stack_overflow(Warp& w, const Inst* in, uint32_t lanes);
/// Value of a clock register: nanoseconds of the host, or cycles at 2 GHz.
[[nodiscard]] uint64_t read_clock(ptx::SpecialRegister reg);

/// Tells the observer of an access whose pattern differs from the last one, and remembers it.
void observe_shared(Warp& w, const Inst* in, const uint32_t* offset, uint32_t mask);
void observe_flat(Warp& w, const Inst* in, const uint64_t* address, uint32_t mask, AccessSpace space,
                  const uint32_t* destination);
/// Tells the observer what a bulk copy or wgmma does to shared memory from `offset` on. The rest of `access`
/// is given but for instruction, kind, block and warp.
void observe_bulk(Warp& w, const Inst* in, uint32_t offset, BulkAccess access);
/// Tells the observer where lanes of st.async or red.async go: addresses of shared::cluster.
void observe_cluster(Warp& w, const Inst* in, const std::array<uint64_t, warp_lanes>& address, uint32_t mask);
/// Tells the observer of all repeats and branches not yet told (at the end of a launch).
void flush_repeats(WorkerState& worker);
/// Keeps a divergent execution of a branch if it is of the warp whose first ones are to be shown.
void remember_split(BranchCounts& counts, const Warp& w, uint32_t taken);

}  // namespace lanescope::exec
