// Where lanes are not waited for any more: loops in which they try again, or wait for others, and pauses.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/flow.hpp"
#include "exec/loops.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {

/// Places of a function where the assembler's code gives up meetings (YIELD), and where it makes new ones
/// (WARPSYNC.ALL); by instruction, ascending. Seen in machine code for sm_90, and measured on an H100
/// (tests/kernels/yields_test.cpp).
struct Yields {
  /// Before these, lanes are taken off all meetings that they are on their way to, whoever waits there does
  /// so no longer, and other lanes of the warp run first: where loops begin that have an atomic operation or
  /// a load that looks at what others write (volatile, relaxed, acquire), and whose ways out depend on what
  /// such an instruction of the function brings; where functions begin that have such an instruction outside
  /// their loops, for whoever calls them may do so in a loop; and pauses.
  std::vector<uint32_t> gives_way;
  /// Before these, lanes wait for all of their warp that have not ended, if they may have been let go: the
  /// beginnings of blocks that have a barrier or an instruction for all lanes together.
  std::vector<uint32_t> gathers;
};

/// Whether lanes may give way in a function itself, rather than in those that it calls.
[[nodiscard]] bool may_give_way(const ptx::Function& function);

/// `calls`: the instructions that call a function in which lanes give way.
[[nodiscard]] Yields find_yields(const ptx::Function& function, const Flow& flow, const Loops& loops,
                                 const std::vector<uint32_t>& calls);

}  // namespace lanescope::exec
