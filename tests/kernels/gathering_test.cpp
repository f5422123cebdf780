// Which rows the lanes of transpose/gathering.cuh take: all of a vector's, and by the model never two of a
// bank, however wide the rows are and wherever the rows of the input and of the output begin.
#include "lanescope/kernels/transpose/gathering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "lanescope/model/model.hpp"

namespace lanescope::kernels::transposing {
namespace {

/// Where the matrices lie, in bytes.
struct Places {
  int begin;      ///< of the first row in shared memory
  int out_pitch;  ///< from output row to output row
  int before;     ///< of the first output row, before a sector, or before a vector in place
  bool in_place;  ///< vectors of a line together
};

/// The wavefronts with which a warp takes all elements of a vector of its first columns; negative: a row is
/// left out.
template <int bytes>
int wavefronts(const Gathering& of, int warp, const Places& places) {
  constexpr int side = 4 / bytes, vector = 16 / bytes;
  std::vector<std::vector<bool>> taken(32, std::vector<bool>(vector));
  int sum = 0;
  for (int w = 0; w < 4; ++w)
    for (int i = 0; i < side; ++i) {
      model::Request request{.op = model::Op::load, .width = bytes, .mask = 0xffffffff};
      for (int lane = 0; lane < 32; ++lane) {
        const int thread = 32 * warp + lane, column = of.column<bytes>(thread);
        const int before = places.before + column * places.out_pitch, unit = places.in_place ? 16 : 32;
        const int begins = before % unit / bytes;
        const int in_line = places.in_place ? before / 16 % (1 << of.lanes) : 0;
        const Gathering::Turn turn = of.turn<bytes>(thread, begins);
        const int row = ((w - turn.words) & 3) * side + (i ^ turn.rows);
        taken[static_cast<size_t>(lane)][static_cast<size_t>(row)] = true;
        const int first = begins + (128 / 16 + of.lane(thread) - in_line) * vector;
        request.address[static_cast<size_t>(lane)] =
            static_cast<uint64_t>(places.begin + (first + row) * of.pitch + column * bytes);
      }
      sum += model::shared_cost(*model::find_arch("sm_90"), request).wavefronts;
    }
  const bool all = std::all_of(taken.begin(), taken.end(), [](const std::vector<bool>& rows) {
    return std::count(rows.begin(), rows.end(), true) == vector;
  });
  return all ? sum : -1;
}

/// `length`: of output rows, where blocks have all of them.
template <int bytes>
void expect_no_conflicts(int length) {
  for (int pitch = 8; pitch < 330; pitch += bytes) {
    if (pitch % 64 == 0) continue;
    const Gathering of = gathering_with(bytes, 64, pitch / bytes, pitch, 0, length);
    for (int out_pitch = 0; out_pitch < 32; out_pitch += bytes)
      for (const int before : {0, 5 * bytes % 32, 31 / bytes * bytes})
        for (const int warp : {0, 3, 6})
          for (const bool in_place : {false, true})
            ASSERT_EQ(wavefronts<bytes>(of, warp, {pitch % 32 / bytes * bytes, out_pitch, before, in_place}),
                      16 / bytes)
                << pitch << " bytes from row to row, " << out_pitch << " of the output, " << before
                << " before a sector, warp " << warp << (in_place ? ", in place" : "");
  }
}

TEST(Gathering, BytesNeverMeetInABank) { expect_no_conflicts<1>(500); }
TEST(Gathering, BytesOfShortRowsNeverMeetInABank) { expect_no_conflicts<1>(60); }
TEST(Gathering, HalvesNeverMeetInABank) { expect_no_conflicts<2>(500); }
TEST(Gathering, HalvesOfShortRowsNeverMeetInABank) { expect_no_conflicts<2>(60); }
TEST(Gathering, WordsNeverMeetInABank) { expect_no_conflicts<4>(500); }

/// The lanes of an output row have each column once, however many a block has.
template <int bytes>
void expect_each_column() {
  for (const int length : {60, 500})
    for (const int pitch : {33 * bytes, 34 * bytes, 36 * bytes, 40 * bytes, 80 * bytes, 96})
      for (const int columns : {1, 31, 32, 100, 128, 129, 333}) {
        const Gathering of = gathering_with(bytes, 64, columns, pitch, 0, length);
        std::vector<int> times(static_cast<size_t>(columns));
        for (int thread = 0; thread < gathering_threads; ++thread)
          for (int sweep = 0; sweep < of.sweeps; ++sweep)
            for (int c = of.column<bytes>(thread) + sweep * swept_columns; c < columns;
                 c += of.columns_at_once())
              if (of.lane(thread) == 0) ++times.at(static_cast<size_t>(c));
        EXPECT_EQ(std::count(times.begin(), times.end(), 1), columns)
            << columns << " columns, " << pitch << " bytes from row to row, " << length << " of output rows";
      }
}

TEST(Gathering, EachColumnHasItsLanes) {
  expect_each_column<1>();
  expect_each_column<2>();
  expect_each_column<4>();
}

TEST(Gathering, TilesInPlaceHaveRoomForWholeVectors) {
  for (const int bytes : {1, 2, 4})
    for (const int side : {32, 96, 120, 144, 192})
      for (int64_t leading = 1000; leading < 1064; leading += bytes) {
        const Gathering of = pair_gathering(bytes, side, leading);
        EXPECT_EQ((leading - of.pitch) % 32, 0);
        EXPECT_NE(of.pitch % 64, 0);
        EXPECT_GE(of.pitch, side * bytes + 15) << "vectors of a row and of the next one are not the same";
        EXPECT_LT(of.pitch, side * bytes + 15 + 96);
        EXPECT_LE(edge_wavefronts(bytes, of.pitch), leading % 16 == 0 ? 8 : bytes == 4 ? 1 : 3);
        EXPECT_GE(static_cast<int>(of.vectors.value) * 16, side * bytes + 15);
        EXPECT_TRUE(of.vectors.value > 32 || 32 % of.vectors.value == 0) << "eight lanes read of two rows";
        EXPECT_GE(pair_tile_bytes(of), 31 + (side - 1) * of.pitch + side * bytes + 15);
        EXPECT_EQ(pair_tile_bytes(of) % 32, 0);
      }
}

TEST(Gathering, EdgesOfTilesInPlaceHaveEachColumnOnce) {
  for (const int bytes : {1, 2, 4})
    for (const int pitch : {260, 264, 268}) {
      const int columns = gathering_threads * bytes / 16;
      std::vector<int> times(static_cast<size_t>(columns));
      for (int group = 0; group < columns; ++group)
        ++times.at(static_cast<size_t>(edge_column(bytes, pitch, group)));
      EXPECT_EQ(std::count(times.begin(), times.end(), 1), columns) << bytes << " bytes, " << pitch;
    }
}

TEST(Gathering, BlocksFitSharedMemory) {
  for (const int bytes : {1, 2, 4})
    for (const int shared : {9000, 48000, 112000})
      for (int thin = 32 / bytes; thin < 400; thin += 7) {
        if (const auto tall = tall_gathering(bytes, thin, shared)) {
          EXPECT_LE(gathering_shared(bytes, *tall, 1 << 30), shared);
          EXPECT_EQ(tall->rows * bytes % 32, 0);
          EXPECT_NE(tall->pitch % 64, 0);
        }
        for (const int64_t along : {100, 1001, 4096, 5 * 4096}) {
          const auto wide = wide_gathering(bytes, thin, along, shared, shared);
          if (!wide) continue;
          EXPECT_LE(gathering_shared(bytes, *wide, thin), shared);
          EXPECT_NE(wide->pitch % 64, 0);
          EXPECT_EQ((wide->pitch - along * bytes) % 32, 0);
          // Vectors of a row and of the next one are not the same, where rows have any between them.
          if (wide->columns < along) {
            EXPECT_GE(wide->pitch, (wide->columns + 1) * bytes + 15);
          }
        }
      }
}

}  // namespace
}  // namespace lanescope::kernels::transposing
