// Lanes one after the other, for what is too rare to be compiled for each host instruction set.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exec/warp.hpp"

namespace lanescope::exec {

/// Calls f(lane) for each lane of `mask`, ascending.
template <class F>
void each_lane(uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<uint32_t>(std::countr_zero(mask)));
}

/// The lane's thread by its number in the block.
[[nodiscard]] inline uint32_t thread_of(const Warp& w, uint32_t lane) { return w.index * warp_lanes + lane; }

/// What the lane has in the register at lane byte `reg`.
template <class T>
[[nodiscard]] T lane_value(const Warp& w, uint32_t reg, uint32_t lane) {
  T value;
  std::memcpy(&value, w.regs + reg + size_t{lane} * sizeof(T), sizeof value);
  return value;
}

/// What the lowest lane of `mask` has there: all have the same.
template <class T>
[[nodiscard]] T common_value(const Warp& w, uint32_t reg, uint32_t mask) {
  return lane_value<T>(w, reg, static_cast<uint32_t>(std::countr_zero(mask)));
}

}  // namespace lanescope::exec
