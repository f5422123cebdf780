// Barriers, member masks and shuffles that not all threads come to as they must (--check barrier).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "exec/observer.hpp"
#include "exec/program.hpp"

namespace lanescope::exec {

class InitCheck;
struct Warp;
struct WarpState;

/// Who has come to a barrier of the block: lanes, by warp. Empty: nobody ever.
struct BarrierArrivals {
  std::vector<uint32_t> waiting;
  std::vector<uint32_t> passing;  ///< that arrived without waiting (bar.arrive)

  void clear() {
    std::fill(waiting.begin(), waiting.end(), 0);
    std::fill(passing.begin(), passing.end(), 0);
  }
};

class BarrierCheck {
 public:
  BarrierCheck(uint32_t threads, uint32_t warps);

  void start();

  /// The lanes arrive at a barrier; expected: threads, 0 for all.
  void arrive(Warp& w, uint32_t lanes, const Inst* in, uint32_t number, uint32_t expected);
  /// It lets go those who wait.
  void complete(std::vector<WarpState>& warps, uint32_t number, const BarrierArrivals& arrivals);
  /// The lanes end at `in` (nullptr: where is not known).
  void exited(const Warp& w, uint32_t lanes, const Inst* in);

  /// The lane initialises an mbarrier where one is already; in_use: threads have arrived at it.
  void reinitialised(Warp& w, const Inst* in, uint32_t lane, uint64_t offset, bool in_use);
  /// The lanes execute an instruction with a member mask each.
  void check_members(Warp& w, const Inst* in);
  /// They execute a shuffle together, after the wait for the lanes of its member mask, and each one takes the
  /// value of lane `source[lane]`. Undefined ones are followed by `init`, if the kernel's values are.
  void check_sources(Warp& w, const Inst* in, const uint32_t* source, InitCheck* init);

 private:
  struct BlockBarrier {
    std::vector<const Inst*> at;  ///< by thread: where it arrived
    // As the first who came has it.
    const Inst* expecting = nullptr;
    uint32_t expected = 0;
    uint32_t expecting_thread = 0;
  };

  const uint32_t threads_;
  std::array<BlockBarrier, block_barriers> barriers_;
  std::vector<const Inst*> exits_;  ///< by thread

  /// A number of threads that is no multiple of a warp, or two numbers for one barrier.
  void check_expected(Warp& w, const Inst* in, uint32_t lanes, uint32_t number, uint32_t expected);
  /// Inside a warp all lanes must come, at one instruction: `here` have come, `elsewhere` of them at other
  /// instructions than the lowest one. False, after a finding, if not all did.
  bool check_warp(WarpState& w, uint32_t number, uint32_t here, uint32_t elsewhere);
  /// Lanes have come at another place than thread `first`, of another warp.
  void report_other_place(Warp& w, uint32_t number, uint32_t here, uint32_t first);
  /// Threads that have ended without coming to the barrier, where thread `first` is.
  void check_ended(std::vector<WarpState>& warps, uint32_t number, const std::vector<uint32_t>& waiting,
                   uint32_t first);
};

}  // namespace lanescope::exec
