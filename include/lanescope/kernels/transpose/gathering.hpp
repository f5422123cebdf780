// How a block of `transpose_gathering`, or one of two tiles in place, lies in shared memory, and in which
// order lanes take rows, so that no two of them meet in a bank. Without CUDA, for tests.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "lanescope/kernels/transpose/order.hpp"
#include "lanescope/model/portable.hpp"

namespace lanescope::kernels::transposing {

inline constexpr int gathering_threads = 256;
/// Bytes of shared memory: before the first row, and behind the last one, so that words and vectors that have
/// a part of them are copied as a whole, and lie as far from a multiple of 128 bytes as outside.
inline constexpr int gathering_margin = 160;
/// Bytes from row to row where blocks have not all columns: more take longer to copy than they save.
inline constexpr int gathering_widest = 800;

/// Columns that threads sweep over before they leave out as many, if they do.
inline constexpr int swept_columns = 32;

/// A block copies some rows of the input to shared memory as they are, and puts vectors of 16 bytes of the
/// output together from it, element by element: those of a vector lie in as many rows of one column.
///
/// Eight (or four) lanes of a warp have vectors that follow each other in an output row. The others have
/// output rows that lie 4, 8, ... bytes further on in the input's. All take an element of the same row modulo
/// vectors at a time, wherever their vectors begin, and so what lies 4, 8, ... bytes further on; but for the
/// lanes of an output row: vectors whose rows would lie in the same banks begin with rows that do not. With
/// 2^v times an odd number of elements from row to row, those are each 2^v vectors.
struct Gathering {
  int rows;          ///< of the input for which a block writes the output
  int columns;       ///< of the input
  int pitch;         ///< bytes from row to row in shared memory: as many as in the input, modulo sectors
  int pitches[4];    ///< times 0 to 3: as numbers of their own they take no additions where rows are loaded
  Divisor vectors;   ///< of 16 bytes, of a row: as many threads copy it
  unsigned at_once;  ///< rows that threads copy at the same time; 0: rows without gaps, as one
  int lanes;         ///< of an output row: 2 to the power of this
  int down, up;      ///< lane k of these begins with row k >> down << up of its vector
  int beside;        ///< columns from the first four of a warp to the other four, if it has eight
  int sweeps;        ///< 2: threads leave out every other `swept_columns`, and go there afterwards
  bool across;       ///< lanes go from vector to vector across the columns, and then down; else down first

  /// Which of an output row's lanes a thread is.
  [[nodiscard]] LANESCOPE_HD constexpr int lane(int thread) const { return thread & ((1 << lanes) - 1); }
  /// The column of a thread's output row, and how many columns behind it the next one has.
  template <int bytes>
  [[nodiscard]] LANESCOPE_HD constexpr int column(int thread) const {
    constexpr int side = 4 / bytes, unit = 16 / bytes;
    const int warp = thread / 32, group = thread % 32 >> lanes;
    return warp / side * (beside == unit ? 2 * unit : unit) + warp % side + group % 4 * side +
           group / 4 * beside;
  }
  [[nodiscard]] LANESCOPE_HD constexpr int columns_at_once() const {
    return (gathering_threads >> lanes) * sweeps;
  }
  /// All threads take the rows of a word in their order.
  template <int bytes>
  [[nodiscard]] LANESCOPE_HD constexpr bool straight() const {
    return bytes == 4 || 1 << up >= 4 / bytes;
  }
  /// The order in which a thread takes the rows of its vectors.
  struct Turn {
    int words;  ///< words of 4 bytes come so much earlier
    int rows;   ///< row i ^ rows of a word's is the i-th
  };
  /// `begins`: rows of the block before the first vector of the output row.
  template <int bytes>
  [[nodiscard]] LANESCOPE_HD constexpr Turn turn(int thread, int begins) const {
    constexpr int side = 4 / bytes, vector = 16 / bytes;
    const int row = lane(thread) >> down << up;
    return {(row / side + begins % vector / side) % 4, row % side};
  }
};

/// Bytes of an output row: whether four lanes have its vectors in less than twice as many rounds as eight.
constexpr bool short_for_eight_lanes(int64_t length) {
  return length <= 64 || (length > 128 && length <= 192);
}

/// Of rows so short lanes go across the columns first: down there is next to nothing to go.
inline constexpr int across_first = 192;

/// `pitch`: not a multiple of 64. `length`: of an output row, where blocks have all of it; in bytes.
constexpr Gathering gathering_with(int bytes, int rows, int columns, int pitch, int vectors,
                                   int64_t length = across_first + 1) {
  const int even = std::countr_zero(static_cast<unsigned>(pitch));
  const int size = std::countr_zero(static_cast<unsigned>(bytes));
  Gathering of{};
  of.rows = rows;
  of.columns = columns;
  of.pitch = pitch;
  for (int i = 0; i < 4; ++i) of.pitches[i] = i * pitch;
  // Eight lanes, which read at once, have no vectors of two rows, where rows have not more than a warp.
  const auto threads = static_cast<unsigned>(vectors),
             copying = threads <= 32 ? std::bit_ceil(threads) : threads;
  of.vectors = divisor(copying);
  of.at_once = vectors == 0 ? 0 : gathering_threads / copying;
  // Eight vectors, 16 bytes of banks each; four, where those leave room for four more columns beside them.
  // So many bytes of banks from one column to the other are room for the vectors of four more.
  const int apart = even - size, room = apart == 0 ? 64 : apart == 2 ? 32 : 16;
  const bool four =
      even == 5 || (short_for_eight_lanes(length) && bytes <= 2 && apart <= (bytes == 1 ? 2 : 1));
  of.lanes = four ? 2 : 3;
  of.across = length <= across_first;
  of.down = even == 5 ? 0 : std::max(3 - even + size, 0);
  of.up = even == 5 ? 0 : 4 - even;
  of.beside = !four ? 0 : (even == 5 ? 16 : room) / bytes;
  of.sweeps = of.beside == 64 ? 2 : 1;
  return of;
}

/// From row to row in shared memory: as many as rows of `width` bytes take, and then not a multiple of 64,
/// of which too many rows would lie in the same banks.
constexpr int64_t pitch_of(int64_t width) { return width % 64 == 0 ? width + 32 : width; }

/// All of the columns of a tall matrix without gaps, and as many rows as `shared` bytes hold.
constexpr std::optional<Gathering> tall_gathering(int bytes, int columns, int shared) {
  const int width = columns * bytes, pitch = static_cast<int>(pitch_of(width)), sector = 32 / bytes;
  const int rows = ((shared - gathering_margin) / pitch - (sector - 1)) / sector * sector;
  if (rows < 2 * sector) return {};
  return gathering_with(bytes, rows, columns, pitch, pitch == width ? 0 : width / 16 + 1);
}

/// All of the rows of a wide matrix without gaps, and as many columns as `some` bytes hold, or all if `whole`
/// bytes hold them. Rows: a sector of the output at least; of the input, a vector.
constexpr std::optional<Gathering> wide_gathering(int bytes, int rows, int64_t columns, int whole, int some) {
  const int64_t width = columns * bytes, pitch = pitch_of(width), length = int64_t{rows} * bytes;
  if (width < 16) return {};
  const int loaded = rows + 32 / bytes - 1;  // the first ones twice
  if (pitch <= (whole - gathering_margin) / loaded && (pitch == width || width / 16 < gathering_threads))
    return gathering_with(bytes, rows, static_cast<int>(columns), static_cast<int>(pitch),
                          pitch == width ? 0 : static_cast<int>(width) / 16 + 1, length);
  const int low = static_cast<int>(width % 32);
  const int most = std::min((some - gathering_margin) / loaded, gathering_widest);
  int part = (most - low) / 32 * 32 + low;
  if (part % 64 == 0) part -= 32;
  // No vector has elements of two rows; and one column more is loaded. Warps take so many columns at a time.
  const int at_once = gathering_threads >> gathering_with(bytes, rows, 0, part, 0, length).lanes;
  const int across = ((part - 15) / bytes - 1) / at_once * at_once;
  if (across <= 0) return {};
  return gathering_with(bytes, rows, across, part, ((across + 1) * bytes + 30) / 16, length);
}
/// How much of what such a block copies to shared memory it transposes.
constexpr double gathered(int bytes, const Gathering& of) {
  return static_cast<double>(of.columns) * bytes / of.pitch;
}
/// In place: which column has, as its first, the `group`-th of those lanes that move the elements in front of
/// whole vectors and behind them, a row each. Floats of a warp lie 16 bytes apart, or, where that is what
/// lies between every other row of the tile, in pairs 32 bytes apart: no bank has two of them.
LANESCOPE_HD constexpr int edge_column(int bytes, int pitch, int group) {
  if (bytes < 4) return group;
  const int outer = group / 32 * 32, of_warp = group % 8, warp = group / 8 % 4;
  return pitch % 16 == 8 ? outer + of_warp / 2 * 8 + warp * 2 + of_warp % 2 : outer + of_warp * 4 + warp;
}
/// In how many words of a bank such lanes meet.
constexpr int edge_wavefronts(int bytes, int pitch) {
  const int vector = 16 / bytes;
  int words[32]{}, most = 0;
  for (int lane = 0; lane < 32; ++lane) {
    words[lane] = (lane % vector * pitch + edge_column(bytes, pitch, lane / vector) * bytes) / 4;
    int met = 1;
    for (int other = 0; other < lane; ++other)
      met += words[other] != words[lane] && (words[other] - words[lane]) % 32 == 0 ? 1 : 0;
    most = std::max(most, met);
  }
  return most;
}
/// Tiles of `side` x `side` elements, for transposes in place, of a matrix whose rows begin `leading` bytes
/// from each other. Elements in front of whole vectors and behind them are moved by themselves, by lanes that
/// may meet in banks: few of them, at the price of a larger tile where they would be many.
constexpr Gathering pair_gathering(int bytes, int side, int64_t leading) {
  const int width = side * bytes, least = width + 15;  // no vector has elements of two rows
  int64_t pitch = pitch_of(least + (leading % 32 - least % 32 + 32) % 32);
  const auto met = [&](int64_t other) { return edge_wavefronts(bytes, static_cast<int>(other)); };
  if (const int64_t next = pitch_of(pitch + 32); met(pitch) > met(next) + 1) pitch = next;
  return gathering_with(bytes, side, side, static_cast<int>(pitch), (width + 30) / 16);
}
/// What a block needs of shared memory: for each of two such tiles, and for both.
LANESCOPE_HD constexpr int pair_tile_bytes(const Gathering& of) {
  return (of.rows * of.pitch + gathering_margin + 31) / 32 * 32;
}
/// What a block needs of shared memory.
constexpr int gathering_shared(int bytes, const Gathering& of, int64_t rows) {
  return (static_cast<int>(std::min<int64_t>(of.rows, rows)) + 32 / bytes - 1) * of.pitch + gathering_margin;
}

}  // namespace lanescope::kernels::transposing
