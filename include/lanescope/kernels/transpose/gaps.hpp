// How small matrices with gaps lie, for transpose/gaps.cuh. Without CUDA, for tests.
#pragma once

#include <bit>
#include <cstdint>

#include "lanescope/kernels/transpose/schedule.hpp"

namespace lanescope::kernels::transposing {

/// One side of a batch of small matrices: lines of units, which threads copy one after the other, from
/// wherever they lie to where they would lie without gaps, or back.
struct GapSide {
  int64_t leading, stride;  ///< bytes from one line to the next, from one matrix to the next
  unsigned lines;           ///< of a matrix
  unsigned units;           ///< of a line
  unsigned unit;            ///< bytes of a unit: a power of two, 16 at most
  /// What lies between a unit and the one that the thread copies after it.
  unsigned step_matrices, step_lines, step_units;
};

/// `line`: bytes of a line. Lines without gaps between them are one.
constexpr GapSide gap_side(uintptr_t address, unsigned line, unsigned lines, int64_t leading,
                           int64_t stride) {
  GapSide side{};
  const bool whole = lines == 1 || leading == line;
  side.leading = whole ? 0 : leading;
  side.stride = stride;
  side.lines = whole ? 1 : lines;
  const unsigned length = whole ? line * lines : line;
  const uint64_t begins = address | length | static_cast<uint64_t>(side.leading | stride) | 16;
  side.unit = 1U << std::countr_zero(begins);
  side.units = length / side.unit;
  const unsigned step_lines = small_threads / side.units;
  side.step_units = small_threads % side.units;
  side.step_lines = step_lines % side.lines;
  side.step_matrices = step_lines / side.lines;
  return side;
}

}  // namespace lanescope::kernels::transposing
