// How many blocks a multiprocessor has room for, and what a kernel may ask for.
#pragma once

#include <cstdint>
#include <string_view>

#include "advise/advise.hpp"
#include "lanescope/model/limits.hpp"

namespace lanescope::advise {

[[nodiscard]] inline model::Occupancy occupancy_of(const Launch& launch, uint32_t shared_bytes) {
  return model::occupancy(model::limits_of(launch.arch.name), static_cast<int>(launch.config.block.count()),
                          launch.registers, static_cast<int>(shared_bytes));
}
[[nodiscard]] inline bool knows_occupancy(const Launch& launch) {
  return std::string_view(launch.arch.name).substr(0, 3) == "sm_";
}
/// What a kernel may declare, and have without asking for more.
[[nodiscard]] inline uint32_t most_unasked(const Launch& launch) {
  return static_cast<uint32_t>(model::limits_of(launch.arch.name).shared_per_block_unasked);
}

}  // namespace lanescope::advise
