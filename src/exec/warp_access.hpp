// One access of a warp to memory as the checks of a launch (checks.hpp) look at it: which lanes go where.
#pragma once

#include <array>
#include <cstdint>

#include "exec/block_shape.hpp"
#include "exec/checks.hpp"
#include "exec/each_lane.hpp"
#include "exec/observer.hpp"
#include "exec/order.hpp"
#include "exec/program.hpp"
#include "exec/warp.hpp"

namespace lanescope::exec {

/// The warp's number in its cluster, as order.hpp has it, and the lane's.
[[nodiscard]] uint32_t warp_in_cluster(const Warp& w);
[[nodiscard]] inline uint32_t thread_in_cluster(const Warp& w, uint32_t lane) {
  return warp_in_cluster(w) * warp_lanes + lane;
}

struct WarpAccess {
  Warp& w;
  const CheckedAccess& access;
  uint32_t number = 0;  ///< of the access in Kernel::checks
  uint32_t bytes = 0;   ///< of a lane
  uint32_t warp = warp_in_cluster(w);
  std::array<uint64_t, warp_lanes> offset{};  ///< in the space that the lane goes to; global: the address
  std::array<uint8_t, warp_lanes> rank{};     ///< of the block whose shared memory it is
  uint32_t shared = 0, local = 0;             ///< lanes that go there, all inside and aligned
  uint32_t elsewhere = 0;                     ///< the same to shared memory of other blocks
  uint32_t global = 0;                        ///< the others: of them nothing is known yet
  uint32_t raced = 0;                         ///< lanes already counted
  AgentWork by{};                             ///< who does it, if it is not the lane itself
  uint32_t together = 0;  ///< lanes that make one access: it comes after what any of them knows
  // Of tensor cores: what they read, and which piece of it this is.
  const MatrixRead* matrix = nullptr;
  uint32_t piece = 0;

  /// The lane as order.hpp numbers threads.
  [[nodiscard]] uint32_t thread(uint32_t lane) const { return warp * warp_lanes + lane; }
  /// What the lane's findings begin with.
  [[nodiscard]] Finding finding(Finding::Kind kind, uint32_t lane) const;
};

/// Adds the finding of the lane's access to global memory, but where that goes wrong, of which another
/// finding tells.
void report_global(const WarpAccess& now, uint32_t lane, const Finding& found);

/// Sets where the lanes go, as the helper instruction `in` says.
void find_addresses(WarpAccess& now, const Inst* in, const BlockShape& shape);

}  // namespace lanescope::exec
