// Loops that the assembler unrolls (ptxas, without being told to): iterations run by fours while there are as
// many, then by twos, then one by one, and lanes that have fewer left wait for those that have more. So lanes
// with different numbers of iterations part more often than the PTX says, and more warp-wide accesses are
// made.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/flow.hpp"
#include "exec/loops.hpp"
#include "exec/unrolled_loop.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {

/// Which loops these are: rules that ptxas 13.0 was seen to follow for sm_75 to sm_120 (docs/merging.md,
/// "Loops"), in one piece of code, left at the end only. Where bodies are close to the limit the count of
/// their instructions decides, which is taken from the PTX. In the order in which they begin.
[[nodiscard]] std::vector<UnrolledLoop> unrolled_loops(const ptx::Function& function, const Flow& flow,
                                                       const Loops& loops);

/// A function with its unrolled loops written out, to be looked at (what becomes of accesses in neighbouring
/// iterations, merge/plan.cpp), not to be run. Which way lanes go is as uniform as
/// in the original, and no more is said of it. Each loop has become four copies of its body and a way back,
/// then two, then one.
struct WrittenOut {
  /// An instruction of the original; of an unrolled loop in copy 1, 2, … of its body, as AccessSite::copy has
  /// it. What belongs to no copy has no_index.
  struct Place {
    uint32_t instruction = ptx::no_index, copy = 0;
  };
  /// As if the four copies came behind the one, but where numbers with a sign are compared by less or more
  /// and the body has no branches: what the assembler knows of an address that is counted up, it knows of the
  /// one step, too.
  struct Way {
    uint32_t from = 0, to = 0;  ///< the last instruction of the one, the first of the four
  };
  ptx::Function function;
  std::vector<Place> places;  ///< by instruction
  std::vector<Way> ways;
};
[[nodiscard]] WrittenOut written_out(const ptx::Function& original, const std::vector<UnrolledLoop>& loops);

}  // namespace lanescope::exec
