// Loops that do nothing but wait for a change of memory, found before they run, so that what is counted does
// not depend on how often they look.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/flow.hpp"
#include "exec/loops.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {

/// A loop that changes no memory, at least not before it is left, and in which neither what it looks at nor
/// whether it is left depends on earlier iterations or on the time: how often it looks decides nothing. How
/// it pauses may depend on them: longer and longer, or not at all the first few times.
struct WaitLoop {
  uint32_t header = 0;            ///< block at which it begins
  std::vector<uint32_t> latches;  ///< blocks that lead back to it
  std::vector<uint32_t> blocks;   ///< all of it, each after those that lead to it
  bool takes_lock = false;        ///< by an atomic operation that changes memory when it is successful
};

[[nodiscard]] std::vector<WaitLoop> wait_loops(const ptx::Function& function, const Flow& flow,
                                               const Loops& loops);

}  // namespace lanescope::exec
