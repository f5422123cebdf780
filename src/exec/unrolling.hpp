// Loops that the assembler unrolls (ptxas, without being told to): iterations run by fours while there are as
// many, then by twos, then one by one, and lanes that have fewer left wait for those that have more. So lanes
// with different numbers of iterations part more often than the PTX says, and more warp-wide accesses are
// made.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/flow.hpp"
#include "exec/loops.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {

/// So many iterations together, while a lane has as many left.
inline constexpr uint32_t unrolled_by = 4;

/// A loop that counts: it begins with the first instruction, and the last one, a branch, leads back there as
/// long as the counter compares so with the limit.
struct UnrolledLoop {
  uint32_t first = 0, last = 0;  ///< of Function::body
  uint32_t counter = 0;          ///< register
  ptx::Operand limit{};          ///< register or integer
  int64_t step = 0;              ///< added in each iteration, before the comparison
  ptx::Type type{};              ///< of the comparison: 32 or 64 bits
  ptx::Mod comparison{};         ///< lt, le, ne where the step is positive; gt, ge, ne where it is negative
};

/// Which loops these are: rules that ptxas 13.0 was seen to follow for sm_75 to sm_120 (docs/merging.md,
/// "Loops"), in one piece of code, left at the end only. Where bodies are close to the limit the count of
/// their instructions decides, which is taken from the PTX. In the order in which they begin.
[[nodiscard]] std::vector<UnrolledLoop> unrolled_loops(const ptx::Function& function, const Flow& flow,
                                                       const Loops& loops);

}  // namespace lanescope::exec
