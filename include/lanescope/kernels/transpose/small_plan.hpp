// How the blocks of transpose/small.cuh divide a batch of small matrices, and where its bytes lie in shared
// memory. Without CUDA, for tests.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

#include "lanescope/model/portable.hpp"

namespace lanescope::kernels::transposing {

/// Division by a number; exact where both together, multiplied, are below 2^32.
struct Divisor {
  unsigned value = 1, factor = 0;
  Divisor() = default;
  explicit constexpr Divisor(unsigned d) : value(d), factor(d == 1 ? 0 : 0xffffffffU / d + 1) {}
  [[nodiscard]] LANESCOPE_HD constexpr unsigned quotient(unsigned n) const {
    return value == 1 ? n : static_cast<unsigned>((uint64_t{n} * factor) >> 32);
  }
};

/// How memory is spread in shared memory: in its order, with `padding` words left free after each `every`.
struct Spread {
  unsigned every = 1, padding = 0;
};

/// Lanes read words that lie `columns` words apart: a word of `bytes` bytes is of as many rows of the input
/// as elements fit into it. Where that is a multiple of 16 bytes, 16 bytes are left free after each line of
/// banks, but not in matrices of few rows, where conflicts cost less than to find the place.
constexpr Spread spread_of(unsigned bytes, unsigned rows, unsigned columns) {
  const unsigned vector = 16 / bytes;
  if (rows < 16 || columns % vector != 0) return {columns, 0};
  return {8 * vector, vector};
}

/// Threads of a block at most, the words of each for which it knows at once where their elements lie, the
/// bytes that a block takes, about, and those of a matrix at most.
inline constexpr int small_threads = 512, small_words = 4;
inline constexpr unsigned small_bytes = 12288, small_matrix_bytes = 24576;
/// What of shared memory a block may have on every chip since compute capability 8.0.
inline constexpr int small_shared = 99 * 1024;

/// What all blocks of a batch do alike. Words are those of the output that are written.
struct SmallPlan {
  int64_t batch;
  unsigned matrices;       ///< of a block
  unsigned unit, repeats;  ///< words after which everything repeats, and how many times a block has so many
  unsigned unit_step;      ///< bytes of shared memory from one unit to the next
  unsigned granule_shift;  ///< bytes that are copied to shared memory together: 1 << granule_shift
  unsigned padding;        ///< bytes left free after each `by_every.value` granules
  unsigned columns;
  Divisor by_rows, by_size, by_every;
  /// Where a byte of the block's piece of the input lies in shared memory.
  [[nodiscard]] LANESCOPE_HD constexpr unsigned place(unsigned byte) const {
    return padding == 0 ? byte : byte + by_every.quotient(byte >> granule_shift) * padding;
  }
};

/// A plan, and how to launch it.
struct SmallLaunch {
  SmallPlan plan;
  unsigned threads, shared;
};

/// How many threads write a group of so many words with the fewest idle: several groups at once, or one in
/// rounds.
inline unsigned small_block(unsigned group, bool large) {
  unsigned best = 0;
  double best_use = 0;
  for (const unsigned warps : {8U, 9U, 10U, 7U, 6U, 5U}) {
    const unsigned threads = warps * (large ? 64 : 32);
    if (threads > small_threads) continue;
    const double used = group <= threads ? threads / group * group : group;
    const double use = used / ((group + threads - 1) / threads * threads);
    if (use > best_use + 0.02) best = threads, best_use = use;
  }
  return best;
}

/// For elements of `bytes` bytes written as words of `word`; both pointers must be multiples of a word.
inline SmallLaunch small_launch(unsigned bytes, unsigned word, unsigned rows, unsigned columns, int64_t batch,
                                uintptr_t in) {
  const unsigned pack = word / bytes, size = rows * columns;
  Spread spread = spread_of(word, rows, columns);
  // Matrices after which words and the spread begin anew.
  const auto group_of = [&](const Spread& s) {
    const unsigned period = pack * (s.padding == 0 ? 1 : s.every);
    return period / std::gcd(period, size);
  };
  if (group_of(spread) * size * bytes > 2 * small_bytes) spread = {columns, columns % 2 == 0 ? 1U : 0U};
  const unsigned group = group_of(spread), group_words = group * size / pack;

  SmallLaunch launch{};
  SmallPlan& plan = launch.plan;
  plan.batch = batch;
  plan.columns = columns;
  plan.by_rows = Divisor(rows);
  plan.by_size = Divisor(size);
  // Units enough to make whole vectors and to be worth the search, as far as there is room for them; more
  // threads where shared memory leaves room for few blocks.
  const unsigned enough = word < 4 ? 1 : 16 / word;
  launch.threads = small_block(group_words, group_words * word * enough > 2 * small_bytes);
  const unsigned groups = group_words < launch.threads ? launch.threads / group_words : 1;
  plan.unit = groups * group_words;
  const unsigned unit_bytes = plan.unit * word, room = small_shared * 2 / 3 / unit_bytes;
  plan.repeats = std::max(small_bytes / unit_bytes / enough, 1U) * enough;
  if (plan.repeats > room) plan.repeats = std::max(room, 1U);
  plan.matrices = plan.repeats * groups * group;

  const unsigned piece = plan.repeats * unit_bytes;
  unsigned together = static_cast<unsigned>(in % 16) | piece | 16;
  if (spread.padding != 0) together |= spread.every * word | spread.padding * word;
  while ((together >> plan.granule_shift) % 2 == 0) ++plan.granule_shift;
  plan.padding = spread.padding * word;
  plan.by_every = Divisor(spread.padding == 0 ? 1 : (spread.every * word) >> plan.granule_shift);
  plan.unit_step = plan.place(unit_bytes);
  launch.shared = plan.place(piece);
  return launch;
}

/// Threads of a block that moves blocks of elements, and the bytes that it takes, about.
inline constexpr int block_threads = 256;
inline constexpr unsigned block_bytes = 8192;

/// How matrices whose rows and columns are whole words are moved as blocks of side x side elements, of which
/// each row is a word. Shared memory has the words in the output's order, with some left free in between.
struct BlocksPlan {
  int64_t batch;
  unsigned matrices;                 ///< of a block
  unsigned across;                   ///< blocks in a row of a matrix
  Divisor by_lanes;                  ///< lanes for a row of blocks; those behind `across` do nothing
  Divisor by_down;                   ///< blocks in a column
  unsigned run_shift;                ///< columns whose words follow each other without a gap: 1 << run_shift
  Divisor by_run, by_matrix;         ///< those words; words of a matrix
  unsigned padding, matrix_padding;  ///< words left free after each of them
  /// Where a word of the output, counted from the block's first, lies in shared memory.
  [[nodiscard]] LANESCOPE_HD constexpr unsigned place(unsigned word) const {
    return word + by_run.quotient(word) * padding + by_matrix.quotient(word) * matrix_padding;
  }
};

/// The plan, so that words which lanes store or load together lie in different banks. Of words that have
/// `word` bytes, `banks` are served at a time. They are stored by as many lanes: lane n has block (n /
/// by_lanes, n % by_lanes), whose bank is row + column * pitch + matrix * matrix_pitch.
/// - Where sizes are powers of two, the banks are divided among the rows that those lanes see, columns and
///   matrices: a run is a column or, if that is longer, all banks once, and the pitch an odd multiple of
///   those rows.
/// - Else an odd number of lanes goes for a row. With its inverse (modulo banks) as pitch, the bank of lane n
///   is n * pitch, also where a row or a matrix ends. Loads meet in a bank where a run ends between them.
/// - Where that would take more than twice the memory, as in the smallest matrices, runs of odd length
///   remain: the blocks of a row lie in different banks.
constexpr BlocksPlan blocks_plan(unsigned side, unsigned word, unsigned rows, unsigned columns,
                                 int64_t batch) {
  const unsigned banks = 128 / word, across = columns / side, down = rows / side;
  const unsigned column = rows, size = across * column;  // words
  // What is missing from `value` to the next number that is `rest` modulo `unit`.
  const auto missing = [](unsigned value, unsigned unit, unsigned rest) {
    return (rest + unit - value % unit) % unit;
  };
  BlocksPlan plan{};
  plan.batch = batch;
  plan.matrices = std::max((block_bytes / word + size / 2) / size, 1U);
  plan.across = across;
  plan.by_lanes = Divisor(across);
  plan.by_down = Divisor(down);
  plan.by_run = Divisor(column);
  plan.by_matrix = Divisor(size);
  const unsigned seen = across < banks ? banks / across : 1;
  if (std::has_single_bit(across) && (down % seen == 0 || seen % down == 0)) {
    if (banks % column == 0) plan.run_shift = std::countr_zero(banks / column);
    const unsigned run = column << plan.run_shift, together = std::min(seen, down);
    plan.by_run = Divisor(run);
    plan.padding = missing(run, 2 * together, together);
    return plan;
  }
  const unsigned odd = across | 1;
  unsigned inverse = odd;  // modulo 8, and twice as many bits with each round
  inverse *= 2 - odd * inverse;
  inverse *= 2 - odd * inverse;
  const unsigned padding = missing(column, banks, inverse % banks);
  const unsigned matrix_padding = missing(size + across * padding, banks, down % banks);
  if (across * padding + matrix_padding > size) {
    plan.padding = missing(column, 2, 1);
    return plan;
  }
  plan.by_lanes = Divisor(odd);
  plan.padding = padding;
  plan.matrix_padding = matrix_padding;
  return plan;
}

}  // namespace lanescope::kernels::transposing
