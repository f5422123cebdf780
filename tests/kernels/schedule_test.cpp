// Schedules for batches of small matrices and for strips of thin ones (transpose/schedule.hpp and
// strip_schedule.hpp), for many sizes: by the model no request meets in a bank, every element is loaded and
// stored once, and there are few more requests than are needed.
#include "lanescope/kernels/transpose/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "lanescope/kernels/transpose/gaps.hpp"
#include "lanescope/kernels/transpose/strip_schedule.hpp"
#include "lanescope/model/model.hpp"

namespace lanescope::kernels::transposing {
namespace {

/// Multiples of `unit` up to `most`.
std::vector<unsigned> sizes(unsigned unit, unsigned most) {
  std::vector<unsigned> list;
  for (const unsigned n :
       {2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 46, 47, 64, 99, 100, 128, 151, 300, 1001, 4099, 12000})
    if (n % unit == 0 && n <= most) list.push_back(n);
  return list;
}

/// Does the slots of a block as small.cuh and strips.cuh do, and asks the model what its requests cost.
class Block {
 public:
  Block(unsigned bytes, const ScheduleLaunch& launch, uint64_t in, uint64_t out, unsigned block = 0)
      : bytes_(bytes),
        launch_(launch),
        in_(in % 16 + uint64_t{block} * launch.plan.groups * launch.plan.in_group),
        out_(out % 16 + uint64_t{block} * launch.plan.groups * launch.plan.out_group),
        first_matrix_(block * launch.plan.matrices),
        loaded_(launch.shared),
        stored_(launch.shared) {}

  void run_small() {
    const Schedule& plan = launch_.plan;
    for (unsigned g = 0; g < plan.groups; ++g)
      for (unsigned chunk = 0; chunk < plan.chunks; ++chunk)
        do_list(plan.list[(first_matrix_ + g) % plan.variants], g * plan.in_group + chunk * plan.in_step,
                g * plan.out_group + chunk * plan.out_step, plan.chunks > 1 && chunk + 1 == plan.chunks);
  }
  void run_strip() {
    for (unsigned i = 0; i < launch_.length / launch_.alike; ++i)
      do_list(launch_.plan.list[0], i * launch_.plan.in_step, i * launch_.plan.out_step, false);
  }
  [[nodiscard]] bool every_byte_once(unsigned bytes) const {
    const auto once = [&](const std::vector<uint8_t>& times) {
      return *std::max_element(times.begin(), times.end()) == 1 &&
             std::count(times.begin(), times.end(), 1) == bytes;
    };
    return once(loaded_) && once(stored_);
  }
  int64_t wavefronts = 0, conflicts = 0;

 private:
  void do_list(const Schedule::List& list, unsigned in, unsigned out, bool last_chunk) {
    for (unsigned i = 0; i < list.words + list.elements; i += 32)
      request(list.begin + i, i < list.words ? launch_.move : Move{1, 1}, in, out, last_chunk);
  }
  void request(unsigned first, Move move, unsigned in, unsigned out, bool last_chunk) {
    const unsigned order = order_bits(move);
    for (unsigned k = 0; k < move.rows + move.columns; ++k) {
      const bool load = k < move.rows;
      model::Request request{.op = load ? model::Op::load : model::Op::store,
                             .width = static_cast<int>(bytes_ * (load ? move.columns : move.rows))};
      std::vector<unsigned> places;
      for (int lane = 0; lane < 32; ++lane) {
        const uint32_t slot = launch_.slots[first + static_cast<unsigned>(lane)];
        if (last_chunk && (slot & not_in_last_chunk) != 0) continue;
        if (!load && (slot & not_stored) != 0) continue;
        const unsigned side = load ? slot : slot >> 16, word = (load ? k : k - move.rows) ^ (side & order);
        const unsigned at = (load ? in : out) + (side & slot_byte & ~order) +
                            word * (load ? launch_.plan.in_pitch : launch_.plan.out_pitch);
        request.mask |= uint64_t{1} << lane;
        request.address[lane] = (load ? in_ : launch_.plan.out_tile + out_) % 16 + at;
        if (!load) request.address[lane] += launch_.plan.out_tile;
        places.push_back(at);
      }
      // Lanes that load what another one does.
      std::sort(places.begin(), places.end());
      places.erase(std::unique(places.begin(), places.end()), places.end());
      for (const unsigned at : places)
        for (int b = 0; b < request.width; ++b)
          ++(load ? loaded_ : stored_).at(at + static_cast<unsigned>(b));
      if (request.mask == 0) continue;
      const model::SharedCost cost = model::shared_cost(*model::find_arch("sm_90"), request);
      wavefronts += cost.wavefronts;
      conflicts += cost.wavefronts - cost.ideal;
      for (int lane = 0; lane < 32; ++lane)
        if ((request.mask >> lane & 1) != 0 &&
            request.address[lane] % static_cast<uint64_t>(request.width) != 0)
          ADD_FAILURE() << "not aligned";
    }
  }
  unsigned bytes_;
  const ScheduleLaunch& launch_;
  uint64_t in_, out_;
  unsigned first_matrix_;
  std::vector<uint8_t> loaded_, stored_;
};

struct Kind {
  unsigned bytes;
  Move move;
  double wavefronts, of_strips;  ///< of loads and stores for each 128 bytes, on average
};
void PrintTo(const Kind& k, std::ostream* out) {
  *out << k.bytes << " bytes, " << k.move.rows << " x " << k.move.columns;
}

class Schedules : public testing::TestWithParam<Kind> {};

TEST_P(Schedules, MoveEachElementOnceAndNeverMeetInABank) {
  const auto [bytes, move, expected, strips] = GetParam();
  const bool blocks = move.rows == move.columns;
  const unsigned unit = blocks ? move.rows : 1, most = small_matrix_bytes / bytes;
  double wavefronts = 0;
  int shapes = 0;
  for (const unsigned rows : sizes(unit, most))
    for (const unsigned columns : sizes(unit, most)) {
      if (rows * columns > most) continue;
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
      const unsigned in = blocks ? 0 : rows * bytes % 4, out = blocks ? 0 : columns * bytes % 4;
      const ScheduleLaunch launch = schedule(bytes, move, rows, columns, packed(rows, columns), in, out);
      ASSERT_TRUE(launch.found());
      ASSERT_LE(launch.shared, small_shared);
      ASSERT_LE(launch.slots.size(), most_slots);
      // The first block's matrices begin at a word, others need not where there are variants.
      for (unsigned block = 0; block < (launch.plan.variants > 1 ? 2U : 1U); ++block) {
        Block run(bytes, launch, in, out, block);
        run.run_small();
        ASSERT_TRUE(run.every_byte_once(launch.plan.piece));
        ASSERT_EQ(run.conflicts, 0);
        if (block != 0) continue;
        wavefronts += static_cast<double>(run.wavefronts) * 128 / launch.plan.piece;
        ++shapes;
      }
    }
  EXPECT_NEAR(wavefronts / shapes, expected, 0.005) << shapes << " shapes";
}

TEST_P(Schedules, MoveMatricesWithGapsLikewise) {
  const auto [bytes, move, expected, strips] = GetParam();
  const unsigned unit = move.rows == move.columns ? move.rows : 1;
  int shapes = 0;
  for (const unsigned rows : {3, 4, 8, 17, 32, 60})
    for (const unsigned columns : {2, 4, 5, 16, 33, 64})
      for (const unsigned gap : {0, 1, 4, 8, 90})
        for (const unsigned between : {0, 1, 4, 12, 200}) {
          if ((rows | columns | gap | between) % unit != 0) continue;
          const unsigned leading = columns + gap, stride = rows * leading + between;
          const GapsIn in = gaps_in(bytes, columns * bytes, rows, leading * bytes, stride * bytes);
          const unsigned out_leading = rows + between, out_stride = columns * out_leading + gap;
          const GapsOut out = gaps_out(0, rows * bytes, columns, out_leading * bytes, out_stride * bytes);
          const Layout layout = layout_of(bytes, in, out);
          if (std::max(layout.in.stride, layout.out.stride) * bytes > small_matrix_bytes) continue;
          SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", gaps " << gap << ", " << between);
          const ScheduleLaunch launch =
              schedule(bytes, move, rows, columns, layout, unit == 1 ? bytes : 0, 0);
          ASSERT_TRUE(launch.found());
          ASSERT_LE(launch.shared, small_shared);
          for (unsigned block = 0; block < (launch.plan.variants > 1 ? 2U : 1U); ++block) {
            Block run(bytes, launch, unit == 1 ? bytes : 0, 0, block);
            run.run_small();
            ASSERT_TRUE(run.every_byte_once(launch.plan.matrices * rows * columns * bytes));
            ASSERT_EQ(run.conflicts, 0);
          }
          ++shapes;
        }
  EXPECT_GT(shapes, 100);
}

TEST_P(Schedules, MoveStripsLikewise) {
  const auto [bytes, move, expected, strips] = GetParam();
  const bool blocks = move.rows == move.columns;
  double wavefronts = 0;
  int shapes = 0;
  for (const unsigned thin : {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 46, 47, 48, 64, 85, 99, 128, 200})
    for (const bool tall : {false, true})
      for (const unsigned stride : {0U, bytes % 32, 3 * bytes % 32, 6 * bytes % 32, (16 + bytes) % 32}) {
        if (blocks && (thin % move.rows != 0 || stride % 4 != 0)) continue;
        SCOPED_TRACE(std::to_string(thin) + (tall ? " columns, stride " : " rows, stride ") +
                     std::to_string(stride));
        const unsigned in = blocks ? 0 : stride, out = blocks ? 0 : thin * bytes % 16;
        const StripShape shape{tall, thin, stride, stride % (tall ? 32 : 16) != 0};
        const ScheduleLaunch launch = best_length(bytes, shape, [&](unsigned length) {
          return strip_schedule(bytes, move, shape, length, in, out);
        });
        // So many elements a chunk are too many slots for moves of few.
        if (!launch.found()) {
          EXPECT_GT(thin, 84U);
          continue;
        }
        ASSERT_LE(launch.shared, small_shared);
        Block run(bytes, launch, in, out);
        run.run_strip();
        ASSERT_TRUE(run.every_byte_once(launch.length * thin * bytes));
        ASSERT_EQ(run.conflicts, 0);
        wavefronts += static_cast<double>(run.wavefronts) * 128 / (launch.length * thin * bytes);
        ++shapes;
      }
  EXPECT_NEAR(wavefronts / shapes, strips, 0.005) << shapes << " shapes";
}

INSTANTIATE_TEST_SUITE_P(All, Schedules,
                         testing::Values(Kind{1, {1, 4}, 7.326, 6.658}, Kind{1, {4, 1}, 7.399, 6.495},
                                         Kind{1, {4, 4}, 2.169, 2.073}, Kind{2, {1, 2}, 4.080, 3.971},
                                         Kind{2, {2, 1}, 4.021, 3.863}, Kind{2, {2, 2}, 2.214, 2.234},
                                         Kind{4, {1, 1}, 2.22, 2.127}, Kind{8, {1, 1}, 2.122, 2.080},
                                         Kind{16, {1, 1}, 2.07, 2.046}));

TEST(Gaps, LinesLieInSharedMemoryAsFarBehindSectorsAsOutsideAndApart) {
  int as_outside = 0, compact = 0;
  for (const unsigned bytes : {1, 2, 4, 8, 16})
    for (const unsigned columns : {1, 3, 4, 16, 31, 33})
      for (const unsigned rows : {1, 2, 5, 8})
        for (const unsigned gap : {0, 1, 3, 4, 16, 29, 60, 100})
          for (const unsigned between : {0, 1, 7, 32, 90, 200})
            for (const unsigned first : {0U, bytes, 4 * bytes}) {
              const unsigned length = columns * bytes;
              const int64_t leading = length + gap * bytes, stride = rows * leading + between * bytes;
              SCOPED_TRACE(testing::Message() << rows << " x " << length << " bytes, leading " << leading
                                              << ", stride " << stride << ", from " << first);
              const GapsIn in = gaps_in(first, length, rows, leading, stride);
              const GapsOut out = gaps_out(first, length, rows, leading, stride);
              const Layout layout = layout_of(bytes, in, out);
              // Where each byte of two matrices lies: none where another does, vectors of the input neither.
              const int64_t out_step = int64_t{out.of_matrix} * out.step;
              std::map<int64_t, int64_t> vectors, places;
              for (const int64_t matrix : {0, 1})
                for (int64_t line = 0; line < rows; ++line)
                  for (int64_t b = 0; b < length; ++b) {
                    const int64_t outside = first + matrix * stride + line * leading + b;
                    const int64_t at =
                        first + (matrix * layout.in.stride + line * layout.in.pitch) * bytes + b;
                    ASSERT_EQ(at % 32, outside % 32);
                    const auto vector = vectors.emplace(at / 16, outside / 16).first;
                    ASSERT_EQ(vector->second, outside / 16);
                    const int64_t to = first + matrix * out_step + line * out.pitch + b;
                    ASSERT_EQ(to % 32, outside % 32);
                    ASSERT_TRUE(places.emplace(to, outside).second);
                    if (out.near) {
                      ASSERT_EQ(to, outside);
                    }
                  }
              ASSERT_EQ(out_step, layout.out.stride * bytes);
              // No further apart than needed.
              const int64_t least = (rows - 1) * std::min<int64_t>(leading, length + 61) + length;
              ASSERT_LE(layout.in.stride * bytes,
                        std::min<int64_t>(std::max<int64_t>(stride, length), least + 61));
              ++(out.near ? as_outside : compact);
            }
  EXPECT_GT(as_outside, 1000);
  EXPECT_GT(compact, 1000);
}

TEST(Schedule, ThirtyTwoAreKept) {
  unsigned made = 0;
  const auto ask = [&](unsigned which) {
    kept_schedule({0, which}, [&] {
      ++made;
      return ScheduleLaunch{};
    });
  };
  for (unsigned which = 0; which < 32; ++which) ask(which);
  ask(0);
  EXPECT_EQ(made, 32U);
  // 0 was asked for after 1.
  ask(32);
  ask(0);
  EXPECT_EQ(made, 33U);
  ask(1);
  EXPECT_EQ(made, 34U);
}

TEST(Schedule, TheBestMovesAreTaken) {
  const auto small = [](unsigned rows, unsigned columns, uintptr_t in = 0) {
    return schedule_of(1, rows, columns, packed(rows, columns), in, 0);
  };
  const ScheduleLaunch wide = small(5, 33);
  EXPECT_EQ(wide.move.columns, 4U);
  EXPECT_EQ(wide.move.rows, 1U);
  EXPECT_EQ(small(33, 5).move.rows, 4U);
  EXPECT_EQ(small(12, 20).move.rows, 4U);
  EXPECT_EQ(small(12, 20, 1).move.rows + small(12, 20, 1).move.columns, 5U);
  // Batches that fit the L2 cache have smaller blocks where a list of slots is long.
  EXPECT_LT(schedule_of(1, 31, 32, packed(31, 32), 0, 0, true).shared,
            schedule_of(1, 31, 32, packed(31, 32), 0, 0, false).shared);
  // The first estimate of their slots is too low.
  EXPECT_TRUE(strip_schedule_of(1, {true, 85, 6, true}, 0, 0).found());
  EXPECT_TRUE(strip_schedule_of(1, {false, 46, 1, true}, 0, 0).found());
  EXPECT_EQ(strip_schedule_of(1, {true, 4, 0, false}, 0, 0).move.rows, 4U);
  EXPECT_EQ(strip_schedule_of(1, {true, 4, 0, false}, 0, 0).move.columns, 4U);
  EXPECT_EQ(strip_schedule_of(1, {true, 3, 0, false}, 0, 0).move.rows, 4U);
  EXPECT_EQ(strip_schedule_of(1, {false, 3, 0, false}, 0, 0).move.columns, 4U);
}

}  // namespace
}  // namespace lanescope::kernels::transposing
