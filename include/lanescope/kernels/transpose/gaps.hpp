// How small matrices with gaps lie, for transpose/gaps.cuh. Without CUDA, for tests.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "lanescope/kernels/transpose/order.hpp"
#include "lanescope/kernels/transpose/schedule.hpp"

namespace lanescope::kernels::transposing {

/// One side of a batch of small matrices: lines, which lie in shared memory as far behind multiples of 32
/// bytes as outside, so that both have the same vectors and sectors, but not as far apart.
struct GapSide {
  int64_t leading, stride;  ///< bytes from one line to the next, from one matrix to the next
  unsigned pitch, step;     ///< likewise in shared memory
  unsigned lines, length;   ///< of a matrix, bytes of a line; lines that are copied as one are one
  bool joined;              ///< all matrices of a block are one line
  /// What lies between what a thread copies (a vector, a sector's unit; a line) and what it copies after it.
  unsigned step_matrices, step_lines, step_units;
};

/// The input's side. Whole vectors are read, those that have a part of a line, and with them what lies
/// between lines that would not lie much nearer without it.
struct GapsIn : GapSide {
  unsigned vectors;  ///< of which a line may have a part
};

/// The output's side, of which no gap is written. Of a sector of 32 bytes all units are written at the same
/// time: the L2 cache takes as long for a part of a sector as for all of it.
struct GapsOut : GapSide {
  unsigned of_matrix;  ///< lines, where all of a block lie equally far apart; `lines` is 1 then, else this is
  unsigned unit;       ///< bytes, a power of two
  bool near;           ///< lines lie as far apart in shared memory as outside
  bool whole_sectors;  ///< lines have many: a warp takes a line
  Divisor of_line;     ///< the pitch
  unsigned sectors;    ///< of which a line may have a part
};

/// The largest power of two, 16 at most, of which all are multiples.
constexpr unsigned unit_of(uint64_t all) { return 1U << std::countr_zero(all | 16); }

/// Lines of `length` bytes, which lie at least `apart` bytes more than that from each other, or as far as
/// outside.
constexpr GapSide gap_side(unsigned length, unsigned lines, int64_t leading, int64_t stride, unsigned apart) {
  const auto nearest = [&](unsigned least, int64_t outside) {
    return least + (static_cast<unsigned>(outside) - least) % 32;
  };
  GapSide side{};
  side.leading = lines == 1 ? length : leading;
  side.stride = stride;
  side.lines = lines;
  side.length = length;
  side.pitch = static_cast<unsigned>(std::min(side.leading, int64_t{nearest(length + apart, side.leading)}));
  const unsigned matrix = (lines - 1) * side.pitch + length, step = nearest(matrix + apart, stride);
  const bool as_outside = side.pitch == side.leading && stride >= matrix && stride < step;
  side.step = as_outside ? static_cast<unsigned>(stride) : step;
  return side;
}
/// Threads copy units of lines one after the other, so many at once.
constexpr void set_steps(GapSide& side, unsigned units, unsigned at_once) {
  const unsigned step_lines = at_once / units;
  side.step_units = at_once % units;
  side.step_lines = step_lines % side.lines;
  side.step_matrices = step_lines / side.lines;
}

constexpr GapsIn gaps_in(uintptr_t address, unsigned length, unsigned lines, int64_t leading,
                         int64_t stride) {
  const unsigned begins = unit_of(address | static_cast<uint64_t>((lines == 1 ? 0 : leading) | stride));
  // Lines that lie apart have no vector in common.
  GapsIn side{gap_side(length, lines, leading, stride, 2 * (16 - begins)), 0};
  if (side.pitch == side.leading) {
    side.length += (lines - 1) * side.pitch;
    side.lines = 1;
    side.joined = side.step == stride;
  }
  side.vectors = (side.length + 31 - begins) / 16;
  set_steps(side, side.vectors, small_threads);
  return side;
}

constexpr GapsOut gaps_out(uintptr_t address, unsigned length, unsigned lines, int64_t leading,
                           int64_t stride) {
  GapsOut side{gap_side(length, lines, leading, stride, 0), 1, 0, false, false, {}, 0};
  side.near = side.pitch == side.leading && side.step == stride;
  side.of_line = divisor(side.pitch);
  if (side.leading == length) {
    side.length *= lines;
    side.lines = 1;
    side.joined = stride == side.length;
  } else if (stride == lines * leading) {
    side.step = side.pitch;
    side.stride = leading;
    side.lines = 1;
    side.of_matrix = lines;
  }
  const uint64_t begins = address | static_cast<uint64_t>((side.lines == 1 ? 0 : side.leading) | side.stride);
  side.unit = unit_of(begins | side.length);
  side.sectors = (side.length + 63 - (1U << std::countr_zero(begins | 32))) / 32;
  side.whole_sectors = side.unit < 16 && side.length >= 256 * side.unit;
  if (side.whole_sectors)
    set_steps(side, 1, small_threads / 32);
  else
    set_steps(side, side.sectors, small_threads * side.unit / 32);
  return side;
}

/// How matrices lie in shared memory between both sides, in elements.
constexpr Layout layout_of(unsigned bytes, const GapsIn& in, const GapsOut& out) {
  return {{in.pitch / bytes, in.step / bytes}, {out.pitch / bytes, out.of_matrix * out.step / bytes}};
}

}  // namespace lanescope::kernels::transposing
