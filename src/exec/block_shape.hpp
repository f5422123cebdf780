// What the checks of a launch (checks.hpp) know of a block before it runs: how many threads and how much
// memory it has, and the pieces that its shared memory is watched in.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "exec/program.hpp"

namespace lanescope::exec {

struct BlockShape {
  uint32_t threads = 0;
  uint32_t shared_bytes = 0;
  uint32_t system_shared = 0;  ///< what lies there in shared memory and behind it is the system's
  uint32_t local_bytes = 0;    ///< of a thread
  uint32_t rank = 0;           ///< in its cluster

  [[nodiscard]] uint32_t warps() const { return (threads + warp_lanes - 1) / warp_lanes; }
  /// Of all its warps, whether a thread has them or not.
  [[nodiscard]] uint32_t lanes() const { return warps() * warp_lanes; }
};

/// Every access of the kernel to shared or to global memory covers pieces of 1 << piece_shift() bytes wholly
/// or not at all. Accesses are aligned to their width, so the smallest width does it.
[[nodiscard]] inline uint32_t piece_shift(const Kernel& kernel, ptx::Space space) {
  uint32_t shift = 2;
  for (const CheckedAccess& access : kernel.checks)
    if (access.space == space || access.space == ptx::Space::generic)
      shift = std::min(shift, static_cast<uint32_t>(std::countr_zero(access.width)));
  return shift;
}

/// The pieces of shared memory.
class SharedPieces {
 public:
  explicit SharedPieces(const Kernel& kernel) : shift_(piece_shift(kernel, ptx::Space::shared)) {}

  /// Bytes of a piece are 1 << shift().
  [[nodiscard]] uint32_t shift() const { return shift_; }
  /// How many there are in so many bytes.
  [[nodiscard]] size_t count(uint32_t bytes) const { return (size_t{bytes} >> shift_) + 1; }
  [[nodiscard]] uint32_t index_of(uint64_t offset) const { return static_cast<uint32_t>(offset >> shift_); }
  [[nodiscard]] uint64_t begin_of(uint32_t index) const { return uint64_t{index} << shift_; }

  /// Calls f(index) for each piece of an access.
  template <class F>
  void each(uint64_t offset, uint32_t bytes, F f) const {
    const uint32_t first = index_of(offset), pieces = std::max(1u, bytes >> shift_);
    for (uint32_t index = first; index < first + pieces; ++index) f(index);
  }

 private:
  uint32_t shift_;
};

}  // namespace lanescope::exec
