// The order in which blocks go through the tiles of matrices, and what they need to know of gaps between
// rows. Without CUDA, for tests.
#pragma once

#include <bit>
#include <cstdint>

namespace lanescope::kernels::transposing {

/// A number that others below 2^31 are divided by with a multiplication: before a block's first load, each
/// division takes as long as a dozen other instructions.
struct Divisor {
  unsigned value, factor, shift;
};
/// 1 to 2^31 - 1. n / value == n * factor >> (31 + shift), since factor * value lies less than 2^shift above
/// 2^(31 + shift) (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994).
constexpr Divisor divisor(unsigned value) {
  const auto shift = static_cast<unsigned>(std::bit_width(value - 1));
  return {value, static_cast<unsigned>(((uint64_t{1} << (31 + shift)) + value - 1) / value), shift};
}

/// The tiles of a matrix, and how blocks go through them: down `in_turn` strips of tiles at a time, one tile
/// of each strip after the other; the strips lie `apart` tiles from each other. A strip has 2^`parts` parts
/// of `part` tiles (and some that are left), and so goes down: one tile of each part after the other.
struct Order {
  unsigned across;
  Divisor down, tiles, in_turn;
  unsigned apart;
  unsigned part, parts;
};
/// `in_turn` 1: down first, so that neighbours in time write neighbouring pieces of the output's rows;
/// `across`: across first. `across` is a multiple of it, and down x across below 2^31.
constexpr Order order_with(unsigned down, unsigned across, unsigned in_turn, unsigned parts = 0) {
  return {across,        divisor(down), divisor(down * across), divisor(in_turn), across / in_turn,
          down >> parts, parts};
}
/// The parts (Order) of a large matrix whose output has rows so many bytes apart. Where all begin at nearly
/// the same place of 2 MiB, a memory that is written in all of them at a time is slower by 6% (H100), and by
/// 2% (H200), than where each is written in four places: bench/gpu and docs/performance.md.
constexpr unsigned parts_of(int64_t out_pitch) {
  constexpr int64_t page = 2 << 20, near = 34 << 10;
  const int64_t place = (out_pitch + near) % page;
  return out_pitch >= page - near && out_pitch <= 2 * page + near && place <= 2 * near ? 2 : 0;
}

/// What lies between the rows of matrices, for tiles that load `slack` rows more than they store.
struct Gaps {
  bool none_in;  ///< nothing between those of the input, which have 8 bytes or more
  bool joined;   ///< nothing between those of the output, which begin inside of vectors (of 16 bytes)
  bool vectors;  ///< those of the output begin and end with vectors
};
/// `out_begins`: the bitwise or of where rows of the output begin.
constexpr Gaps gaps_of(int64_t bytes, int64_t slack, int64_t rows, int64_t columns, int64_t in_leading,
                       int64_t out_leading, uintptr_t out_begins) {
  return {in_leading == columns && columns * bytes >= 8,
          out_leading == rows && rows >= slack && out_begins % 16 != 0,
          out_begins % 16 == 0 && rows * bytes % 16 == 0};
}

/// The tiles of a matrix that lie inside of it with all that they load, words of which they have a part among
/// that: `down` rows of tiles from the second one, and in each `across` from `first`.
struct TilesInside {
  unsigned first, across, down;
};
/// For tiles of `tile_rows` x `tile_columns`, as above. Elements of 4 bytes are words; others are put
/// together of a word more than the columns fill.
constexpr TilesInside tiles_inside(int64_t bytes, int64_t slack, int64_t rows, int64_t columns,
                                   const Gaps& gaps, int64_t tile_rows, int64_t tile_columns) {
  const bool ends = bytes == 4 || gaps.none_in;
  const auto times = [](int64_t part, int64_t whole) {
    return static_cast<unsigned>(whole < part ? 0 : whole / part);
  };
  return {ends ? 0U : 1U, times(tile_columns, ends ? columns : columns - tile_columns - 4 / bytes),
          times(tile_rows, rows - tile_rows - slack)};
}

}  // namespace lanescope::kernels::transposing
