// A loop that the assembler unrolls: which these are is found in unrolling.cpp.
#pragma once

#include <cstdint>

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

}  // namespace lanescope::exec
