// How batches of small matrices are divided and laid out (transpose/small_plan.hpp), for many sizes: shared
// memory suffices, no two words lie at one place, divisions are exact.
#include "lanescope/kernels/transpose/small_plan.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace lanescope::kernels::transposing {
namespace {

constexpr int64_t batch = 1000;

/// Sizes from `unit` on in steps of it, all small ones and some of the others.
std::vector<unsigned> sizes(unsigned unit, unsigned most) {
  std::vector<unsigned> list;
  for (unsigned n = unit; n <= most; n += n < 40 ? unit : (n / 5 + unit) / unit * unit) list.push_back(n);
  list.push_back(most / unit * unit);
  return list;
}

std::string shape(unsigned bytes, unsigned word, unsigned rows, unsigned columns) {
  return std::to_string(bytes) + " bytes by " + std::to_string(word) + ", " + std::to_string(rows) + " x " +
         std::to_string(columns);
}

TEST(SmallPlan, BlocksHaveAPlaceForEachWord) {
  using Pair = std::pair<unsigned, unsigned>;
  for (const auto& [bytes, word] : {Pair{1, 4}, Pair{1, 8}, Pair{2, 4}, Pair{2, 8}, Pair{4, 8}, Pair{4, 16},
                                    Pair{8, 8}, Pair{8, 16}, Pair{16, 16}}) {
    const unsigned side = word / bytes, most = small_matrix_bytes / bytes;
    for (const unsigned rows : sizes(side, most))
      for (const unsigned columns : sizes(side, most)) {
        if (rows * columns > most) continue;
        SCOPED_TRACE(shape(bytes, word, rows, columns));
        const BlocksPlan plan = blocks_plan(side, word, rows, columns, batch);
        const unsigned down = rows / side, across = columns / side, size = across * rows;
        const unsigned words = plan.matrices * size;
        ASSERT_LE(plan.place(words) * word, static_cast<unsigned>(small_shared));
        ASSERT_LT(plan.place(words - 1), plan.place(words));
        for (unsigned w = 0; w < words; ++w) {
          if (w != 0) {
            ASSERT_LT(plan.place(w - 1), plan.place(w));
          }
          // Where the kernel stores it: row `row` of the blocks of a column, element i of each.
          const unsigned in_order = w / rows, i = w % rows / down, row = w % down;
          ASSERT_EQ(plan.place(w), in_order * rows + row + (in_order >> plan.run_shift) * plan.padding +
                                       w / size * plan.matrix_padding + i * down);
        }
        for (unsigned lane = 0; lane < plan.matrices * down * plan.by_lanes.value + 4 * block_threads; ++lane)
          ASSERT_EQ(plan.by_lanes.quotient(lane), lane / plan.by_lanes.value);
        for (unsigned strip = 0; strip < plan.matrices * down; ++strip)
          ASSERT_EQ(plan.by_down.quotient(strip), strip / down);
      }
  }
}

TEST(SmallPlan, ElementsHaveAPlaceEach) {
  using Pair = std::pair<unsigned, unsigned>;
  for (const auto& [bytes, word] : {Pair{1, 1}, Pair{1, 4}, Pair{2, 2}, Pair{2, 4}, Pair{4, 4}}) {
    const unsigned most = small_matrix_bytes / bytes;
    for (const unsigned rows : sizes(1, most))
      for (const unsigned columns : sizes(1, most)) {
        if (rows * columns > most) continue;
        SCOPED_TRACE(shape(bytes, word, rows, columns));
        const auto [plan, threads, shared] = small_launch(bytes, word, rows, columns, batch, 16 - word);
        // Words that are put together of elements may need too much; elements alone never do.
        if (word != bytes && shared > static_cast<unsigned>(small_shared)) continue;
        ASSERT_LE(shared, static_cast<unsigned>(small_shared));
        ASSERT_GT(threads, 0U);
        const unsigned size = rows * columns, elements = plan.matrices * size;
        ASSERT_EQ(plan.unit * plan.repeats * word, elements * bytes);
        ASSERT_EQ(plan.padding % (1U << plan.granule_shift), 0U) << "granules stay whole";
        ASSERT_LE(plan.place((elements - 1) * bytes) + bytes, shared);
        for (unsigned e = 0; e < elements; ++e) {
          if (e != 0) {
            ASSERT_LE(plan.place((e - 1) * bytes) + bytes, plan.place(e * bytes));
          }
          ASSERT_EQ(plan.by_size.quotient(e), e / size);
          ASSERT_EQ(plan.by_rows.quotient(e % size), e % size / rows);
        }
        for (unsigned r = 0; r < plan.repeats; ++r)
          ASSERT_EQ(plan.place(r * plan.unit * word), r * plan.unit_step);
      }
  }
}

}  // namespace
}  // namespace lanescope::kernels::transposing
