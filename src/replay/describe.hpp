// What a recording says of a kernel that the engine is about to run: its variables, and whether anything
// keeps a GPU from running it from recorded memory.
#pragma once

#include <span>

#include "exec/launch.hpp"
#include "ptx/module.hpp"
#include "replay/recording.hpp"

namespace lanescope::replay {

/// Memory that cannot be recorded, or whose addresses a GPU does not know.
struct Foreign {
  std::string name;
  uint64_t address = 0, size = 0;
};

/// A recording of this launch, without its allocations, which the caller knows. `ptx`: the module's texts.
[[nodiscard]] Recording describe(const exec::Image& image, const exec::Kernel& kernel,
                                 const exec::LaunchConfig& config, std::vector<std::string> ptx);

/// Notes as an obstacle where parameters or allocations hold an address of the module's variables, which lie
/// elsewhere on the GPU, or of foreign memory. To be called when the allocations are known.
void look_for_addresses(Recording& recording, std::span<const Foreign> foreign);

}  // namespace lanescope::replay
