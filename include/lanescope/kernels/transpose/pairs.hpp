// The order in which blocks go through pairs of tiles that lie opposite each other, for
// transpose/in_place.cuh. Without CUDA, for tests.
#pragma once

#include "lanescope/kernels/transpose/order.hpp"
#include "lanescope/model/portable.hpp"

namespace lanescope::kernels::transposing {

/// Tiles in a row and a column of tiles, row >= column: one of each two that lie opposite each other.
struct Opposite {
  unsigned row, column;
};

/// Place a, b in the triangle of tiles, of which the part on the right is turned round to make a rectangle of
/// the rest, `tiles | 1` high.
LANESCOPE_HD constexpr Opposite opposite_in(unsigned a, unsigned b, unsigned tiles) {
  const unsigned skipped = (tiles | 1) - tiles;
  if (a >= b + skipped) return {a - skipped, b};
  return {tiles - 1 - a, tiles - skipped - b};
}
/// The k-th of tiles (tiles + 1) / 2.
LANESCOPE_HD constexpr Opposite opposite_of(unsigned k, unsigned tiles) {
  return opposite_in(k % (tiles | 1), k / (tiles | 1), tiles);
}

/// How blocks go through such pairs: through squares of 2^log_group x 2^log_group tiles one after the other,
/// so that sectors that tiles have in common are needed at about the same time.
struct Pairs {
  unsigned tiles, log_group;
  Divisor of_matrix;  ///< blocks, of which some have no pair
  unsigned squares;   ///< in a row of squares
  Divisor height;     ///< of the triangle of squares as a rectangle
};
/// `tiles`: 1 to 2^16 - 1.
constexpr Pairs pairs_of(unsigned tiles, unsigned log_group) {
  const unsigned squares = (tiles + (1U << log_group) - 1) >> log_group;
  return {tiles, log_group, divisor((squares * (squares + 1) / 2) << (2 * log_group)), squares,
          divisor(squares | 1)};
}

}  // namespace lanescope::kernels::transposing
