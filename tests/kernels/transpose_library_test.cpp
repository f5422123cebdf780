// The kernels of include/lanescope/kernels/transpose.cuh on the engine, from committed PTX
// (tests/data/kernels/transpose_library.cu): results, findings of all checks, and what shared memory costs.
// The host's part of the library is tested where nvcc is found (tests/gpu).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "kernels/engine.hpp"
#include "kernels/reference.hpp"
#include "kernels/results_tables.hpp"
#include "lanescope/kernels/transpose/gaps.hpp"
#include "lanescope/kernels/transpose/gathering.hpp"
#include "lanescope/kernels/transpose/order.hpp"
#include "lanescope/kernels/transpose/pairs.hpp"
#include "lanescope/kernels/transpose/strip_schedule.hpp"
#include "lanescope/model/model.hpp"

namespace lanescope::kernels {
namespace {

/// As in transpose.cuh; addresses in place of pointers.
struct Job {
  uint64_t out, in;
  int64_t rows, columns, in_leading, out_leading, in_stride, out_stride;
};

int64_t divide_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }

/// What a kernel's name says of its tiles.
struct Tiles {
  std::string kernel;
  int64_t bytes = 0, rows = 0, columns = 0, threads = 0;
  int64_t slack = 0;    ///< rows that are loaded besides
  int64_t shared = 0;   ///< bytes of dynamic shared memory
  int64_t in_turn = 1;  ///< strips that blocks take in turn; 0: across first
  bool joins = false;   ///< the kernel asks what lies between rows (Gaps)
  unsigned parts = 0;   ///< of a strip, which blocks take in turn: 2 to the power of this
};

/// Matrices of bytes, with gaps; elements are numbered at random.
struct Matrices {
  int64_t rows, columns, bytes, batch = 1;
  int64_t in_gap = 0, out_gap = 0;          ///< elements after each row
  int64_t in_first = 0, out_first = 0;      ///< elements before the first matrix
  int64_t in_between = 0, out_between = 0;  ///< elements after each matrix, besides those after its last row
  bool in_place = false;                    ///< the output is the input

  [[nodiscard]] int64_t in_leading() const { return columns + in_gap; }
  [[nodiscard]] int64_t out_leading() const { return rows + out_gap; }
  [[nodiscard]] int64_t in_stride() const { return rows * in_leading() + in_between; }
  [[nodiscard]] int64_t out_stride() const { return columns * out_leading() + out_between; }
  /// The bitwise or of where rows begin, in bytes.
  [[nodiscard]] uint64_t in_begins() const { return begins(in_first, in_leading(), in_stride()); }
  [[nodiscard]] uint64_t out_begins() const { return begins(out_first, out_leading(), out_stride()); }
  [[nodiscard]] uint64_t begins(int64_t first, int64_t leading, int64_t stride) const {
    return static_cast<uint64_t>((first | leading | (batch == 1 ? 0 : stride)) * bytes);
  }
  [[nodiscard]] int64_t in_size() const { return in_first + batch * in_stride(); }
  [[nodiscard]] int64_t out_size() const { return out_first + batch * out_stride(); }
  [[nodiscard]] std::vector<uint8_t> source() const {
    std::vector<uint8_t> values(static_cast<size_t>(in_size() * bytes));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<uint8_t>(reference::hash(static_cast<uint32_t>(i)));
    return values;
  }
  /// The output's buffer after the launch, if it was `before`.
  [[nodiscard]] std::vector<uint8_t> expected(const std::vector<uint8_t>& in,
                                              std::vector<uint8_t> before) const {
    for (int64_t m = 0; m < batch; ++m)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          std::memcpy(
              &before[static_cast<size_t>((out_first + m * out_stride() + j * out_leading() + i) * bytes)],
              &in[static_cast<size_t>((in_first + m * in_stride() + i * in_leading() + j) * bytes)],
              static_cast<size_t>(bytes));
    return before;
  }
};

Matrices in_place(Matrices m) {
  m.in_place = true;
  return m;
}

class TransposeLibrary : public testing::Test {
 protected:
  /// A kernel's launch for some matrices.
  struct Launch {
    std::string kernel;
    uint32_t blocks, threads, shared;
    std::vector<Argument> rest;  ///< arguments behind the job
  };
  /// The output's buffer before the launch and after it, and the input's.
  struct Ran {
    BlockCost cost;
    std::vector<uint8_t> before, after, in;
  };

  /// Runs a kernel with all checks and counts; a finding fails the test.
  Ran run_unchecked(const Launch& launch, const Matrices& m) {
    Ran ran;
    ran.in = m.source();
    ran.before =
        m.in_place ? ran.in : std::vector<uint8_t>(static_cast<size_t>(m.out_size() * m.bytes), 0xA5);
    const uint64_t to = program_.resident(ran.before), from = m.in_place ? to : program_.resident(ran.in);
    const Job job{to + static_cast<uint64_t>(m.out_first * m.bytes),
                  from + static_cast<uint64_t>(m.in_first * m.bytes),
                  m.rows,
                  m.columns,
                  m.in_leading(),
                  m.out_leading(),
                  m.in_stride(),
                  m.out_stride()};
    Case c;
    c.kernel = launch.kernel;
    c.grid = {launch.blocks};
    c.block = {launch.threads};
    c.dynamic_shared = launch.shared;
    c.arguments = {scalar(job)};
    c.arguments.insert(c.arguments.end(), launch.rest.begin(), launch.rest.end());
    exec::Checks checks;
    checks.race = checks.init = checks.barrier = true;
    const Outcome outcome =
        run_kernel(program_, c, model::find_arch("sm_90"), 0, profile::RecordBlocks::none, checks);
    EXPECT_FALSE(outcome.result.failed);
    for (const exec::Finding& f : outcome.result.findings)
      ADD_FAILURE() << exec::name_of(f.kind) << " in block " << f.block << ", thread " << f.thread << ": "
                    << f.message;
    ran.after.resize(ran.before.size());
    std::memcpy(ran.after.data(), reinterpret_cast<const void*>(to), ran.after.size());
    ran.cost = cost_of(outcome.profile);
    copies_ = profile::totals(outcome.profile).global_copy;
    return ran;
  }
  /// A wrong byte fails the test, too.
  BlockCost run(const Launch& launch, const Matrices& m) {
    const Ran ran = run_unchecked(launch, m);
    EXPECT_EQ(ran.after, m.expected(ran.in, ran.before));
    return ran.cost;
  }

  BlockCost run(const Tiles& tiles, const Matrices& m) {
    const int64_t down = divide_up(m.rows + (tiles.slack == 0 ? 0 : tiles.slack - 1), tiles.rows);
    const int64_t across = divide_up(m.columns, tiles.columns);
    const auto order = transposing::order_with(
        static_cast<uint32_t>(down), static_cast<uint32_t>(across),
        static_cast<uint32_t>(tiles.in_turn == 0 ? across : tiles.in_turn), tiles.parts);
    std::vector<Argument> rest{scalar(order)};
    if (tiles.joins) {
      const auto gaps = transposing::gaps_of(m.bytes, tiles.slack, m.rows, m.columns, m.in_leading(),
                                             m.out_leading(), m.out_begins());
      rest.push_back(scalar(gaps));
      rest.push_back(scalar(transposing::tiles_inside(m.bytes, tiles.slack, m.rows, m.columns, gaps,
                                                      tiles.rows, tiles.columns)));
    }
    return run({tiles.kernel, static_cast<uint32_t>(down * across * m.batch),
                static_cast<uint32_t>(tiles.threads), static_cast<uint32_t>(tiles.shared), rest},
               m);
  }

  /// A batch without gaps.
  BlockCost run_small(const Matrices& m, transposing::Move move) {
    using namespace transposing;
    const auto rows = static_cast<unsigned>(m.rows), columns = static_cast<unsigned>(m.columns);
    const ScheduleLaunch launch =
        schedule(static_cast<unsigned>(m.bytes), move, rows, columns, packed(rows, columns),
                 static_cast<uint64_t>(m.in_first * m.bytes), static_cast<uint64_t>(m.out_first * m.bytes));
    EXPECT_TRUE(launch.found());
    return run_batch("transpose_small", m, launch, {});
  }
  /// `rest`: the arguments between the job and the schedule.
  BlockCost run_batch(const std::string& kernel, const Matrices& m, const transposing::ScheduleLaunch& launch,
                      std::vector<Argument> rest) {
    using namespace transposing;
    const auto run_slots = [&]<unsigned slots>() {
      const std::string name = with_numbers(kernel, {m.bytes, launch.move.rows, launch.move.columns});
      rest.push_back(scalar(launch.plan_of<slots>(m.batch)));
      return run({name_of(name + "Lj" + std::to_string(slots) + "E"),
                  static_cast<uint32_t>(launch.blocks(m.batch)), small_threads, launch.shared, rest},
                 m);
    };
    return launch.slots.size() <= usual_slots ? run_slots.operator()<usual_slots>()
                                              : run_slots.operator()<most_slots>();
  }

  static std::pair<transposing::GapsIn, transposing::GapsOut> sides_of(const Matrices& m) {
    const auto rows = static_cast<unsigned>(m.rows), columns = static_cast<unsigned>(m.columns),
               bytes = static_cast<unsigned>(m.bytes);
    return {transposing::gaps_in(static_cast<uintptr_t>(m.in_first * m.bytes), columns * bytes, rows,
                                 m.in_leading() * m.bytes, m.in_stride() * m.bytes),
            transposing::gaps_out(static_cast<uintptr_t>(m.out_first * m.bytes), rows * bytes, columns,
                                  m.out_leading() * m.bytes, m.out_stride() * m.bytes)};
  }
  /// A batch with gaps.
  BlockCost run_gaps(const Matrices& m, transposing::Move move) {
    using namespace transposing;
    const auto bytes = static_cast<unsigned>(m.bytes), rows = static_cast<unsigned>(m.rows),
               columns = static_cast<unsigned>(m.columns);
    const auto [in, out] = sides_of(m);
    const Layout layout = layout_of(bytes, in, out);
    EXPECT_LE(std::max(layout.in.stride, layout.out.stride) * bytes, small_matrix_bytes);
    const ScheduleLaunch launch =
        schedule(bytes, move, rows, columns, layout, static_cast<uint64_t>(m.in_first * m.bytes),
                 static_cast<uint64_t>(m.out_first * m.bytes));
    EXPECT_TRUE(launch.found());
    return run_batch("transpose_gaps", m, launch, {scalar(in), scalar(out)});
  }

  /// Long, thin matrices, whose short lines have no gaps.
  Launch strips(const Matrices& m, transposing::Move move) {
    using namespace transposing;
    const bool tall = m.columns < m.rows;
    const auto bytes = static_cast<unsigned>(m.bytes);
    const StripShape shape =
        strip_shape(bytes, tall, std::min(m.rows, m.columns), std::max(m.rows, m.columns),
                    tall ? m.out_leading() : m.in_leading(), tall ? m.out_begins() : m.in_begins());
    const ScheduleLaunch launch = best_length(bytes, shape, [&](unsigned length) {
      return strip_schedule(bytes, move, shape, length, static_cast<uint64_t>(m.in_first * m.bytes),
                            static_cast<uint64_t>(m.out_first * m.bytes));
    });
    EXPECT_TRUE(launch.found());
    const Strips strips =
        strips_of(bytes, shape, launch, m.rows, m.columns, m.batch, m.in_leading(), m.out_leading());
    return {name_of(with_numbers("transpose_strips", {m.bytes, move.rows, move.columns})),
            static_cast<uint32_t>(m.batch) * strips.of_matrix.value,
            small_threads,
            launch.shared,
            {scalar(strips), scalar(launch.plan_of<usual_slots>(1))}};
  }

  /// Matrices of which blocks have all rows (`wide`) or all columns. `whole`: both, where they fit.
  BlockCost run_gathering(const Matrices& m, bool wide, int shared, bool whole = false, unsigned parts = 0) {
    using namespace transposing;
    const auto bytes = static_cast<int>(m.bytes);
    const auto of =
        wide ? wide_gathering(bytes, static_cast<int>(m.rows), m.columns, whole ? shared : 0, shared)
             : tall_gathering(bytes, static_cast<int>(m.columns), shared);
    if (!of) throw Error("too little shared memory");
    EXPECT_EQ(of->rows >= m.rows && of->columns >= m.columns, whole);
    const auto down = static_cast<unsigned>(divide_up(m.rows, of->rows));
    const auto across = static_cast<unsigned>(divide_up(m.columns, of->columns));
    return run({name_of("19transpose_gatheringILi" + std::to_string(bytes) + "ELb" + (wide ? "1" : "0")),
                down * across * static_cast<uint32_t>(m.batch),
                gathering_threads,
                static_cast<uint32_t>(gathering_shared(bytes, *of, m.rows)),
                {scalar(order_with(down, across, 1, parts)), scalar(*of)}},
               m);
  }

  /// `of`: what the kernel is told of `blocks` blocks of a matrix.
  BlockCost run_in_place(const std::string& kernel, const Matrices& m, unsigned blocks,
                         std::vector<Argument> of, int64_t threads, int64_t shared) {
    return run({kernel, static_cast<uint32_t>(m.batch) * blocks, static_cast<uint32_t>(threads),
                static_cast<uint32_t>(shared), std::move(of)},
               in_place(m));
  }
  /// Rows that begin anywhere; squares of 2^log_group x 2^log_group tiles.
  BlockCost run_in_place(const std::string& kernel, const Matrices& m, unsigned log_group, int64_t side,
                         int64_t threads, int64_t shared) {
    const auto pairs = transposing::pairs_of(static_cast<unsigned>(divide_up(m.rows, side)), log_group);
    return run_in_place(kernel, m, pairs.of_matrix.value, {scalar(pairs)}, threads, shared);
  }
  /// The same with tiles that are gathered.
  BlockCost run_gathering_in_place(const Matrices& m, unsigned log_group, int side) {
    using namespace transposing;
    const auto bytes = static_cast<int>(m.bytes);
    const Gathering of = pair_gathering(bytes, side, (m.columns + m.out_gap) * m.bytes);
    const auto pairs = pairs_of(static_cast<unsigned>(divide_up(m.rows, side)), log_group);
    return run_in_place(name_of("28transpose_gathering_in_placeILi" + std::to_string(bytes) + "E"), m,
                        pairs.of_matrix.value, {scalar(pairs), scalar(of)}, 2 * gathering_threads,
                        2 * pair_tile_bytes(of));
  }
  /// Rows that begin at multiples of 16 bytes.
  BlockCost run_aligned_in_place(const Tiles& t, const Matrices& m) {
    const auto tiles = static_cast<uint32_t>(divide_up(m.rows, t.rows));
    return run_in_place(t.kernel, m, tiles * (tiles + 1) / 2, {scalar(tiles)}, 2 * t.threads, 2 * t.shared);
  }

  /// The instance of a kernel for elements of so many bytes whose name has `part`, with the numbers after it.
  std::pair<std::string, std::vector<int64_t>> numbers_of(const std::string& kernel, const std::string& part,
                                                          int64_t bytes) {
    std::pair<std::string, std::vector<int64_t>> result;
    result.first = name_of(part + "ILi" + std::to_string(bytes) + "E", kernel);
    // ILi4ELi128E…E: the template's arguments.
    for (size_t at = result.first.find(part) + part.size() + 1; result.first.compare(at, 2, "Li") == 0;) {
      result.second.push_back(std::stoll(result.first.substr(at + 2)));
      at = result.first.find('E', at) + 1;
    }
    return result;
  }
  Tiles aligned(int64_t bytes, const std::string& name = "17transpose_aligned") {
    const auto [kernel, n] = numbers_of(name, "AlignedTiles", bytes);
    return {kernel, bytes, n.at(1), n.at(2), n.at(3), 0, n.at(1) * n.at(2) * bytes};
  }
  /// Those for rows that begin anywhere.
  Tiles anywhere(int64_t bytes) {
    if (bytes >= 8) {
      const auto [kernel, n] = numbers_of("transpose_lines", "LinesOf", bytes);
      const int64_t slack = 128 / bytes;
      return {kernel, bytes, n.at(1), n.at(2), 256, slack, n.at(2) * (n.at(1) + slack + 1) * bytes};
    }
    const auto [kernel, n] = numbers_of("transpose_realigning", "RealigningTiles", bytes);
    const int64_t side = 4 / bytes, words = 32 * n.at(1), slack = n.at(3) / bytes, rows = n.at(4) / bytes;
    return {kernel,
            bytes,
            rows,
            (bytes == 4 ? words : words - 1) * side,
            32 * n.at(2),
            slack,
            words * side * ((rows + slack) / side + 1) * 4,
            1,
            true};
  }
  /// The beginning of a template's name with such arguments.
  static std::string with_numbers(std::string name, std::initializer_list<int64_t> numbers) {
    name += "I";
    for (const int64_t n : numbers) name += "Li" + std::to_string(n) + "E";
    return name;
  }
  std::string name_of(const std::string& part, const std::string& kernel = "") {
    for (const ptx::Function& f : program_.image().module().functions)
      if (f.is_entry && f.name.find(part) != std::string::npos && f.name.find(kernel) != std::string::npos)
        return f.name;
    throw Error("no kernel " + part + " in the PTX");
  }

  /// What the last launch copied asynchronously. Past the first-level cache sectors are asked for twice whose
  /// halves part (model::copy_cost).
  [[nodiscard]] const profile::Counters& copies() const { return copies_; }

 private:
  profile::Counters copies_;
  Program program_{"tests/data/kernels/transpose_library.ptx"};
};

TEST_F(TransposeLibrary, MovesAlignedTilesWithoutConflicts) {
  for (const int64_t bytes : {2, 4, 8, 16}) {
    const Tiles t = aligned(bytes);
    const BlockCost cost = run(t, {2 * t.rows, 3 * t.columns, bytes});
    // Every 16 bytes are stored once and loaded once, eight lanes a wavefront.
    const auto wavefronts = static_cast<uint64_t>(6 * t.rows * t.columns * bytes / 128);
    const SharedCost once{wavefronts / 4, wavefronts, wavefronts};
    EXPECT_EQ(cost, (BlockCost{once, once})) << bytes;
  }
}

TEST_F(TransposeLibrary, CostsWhatTheResultsSay) {
  const BlockCost cost = run(aligned(4), {1024, 1024, 4});
  const uint64_t wavefronts = cost.load.wavefronts + cost.store.wavefronts;
  const std::string name = "lanescope::kernels::transpose";
  EXPECT_EQ(wavefronts * 64, wavefronts_in_results("8192 x 8192 floats.").at(name));
  EXPECT_EQ(wavefronts * 256, wavefronts_in_results("16384 x 16384 floats.").at(name));
}

TEST_F(TransposeLibrary, BlocksTakeStripsOfTilesInTurn) {
  for (Tiles t : {aligned(8), anywhere(2), anywhere(16)})
    for (const int64_t in_turn : {0, 2, 4}) {
      t.in_turn = in_turn;
      SCOPED_TRACE(t.kernel + ", " + std::to_string(in_turn) + " in turn");
      run(t, {3 * t.rows, 8 * t.columns, t.bytes, 2});
      run(t, {2 * t.rows - 5, 4 * t.columns - 7, t.bytes, 3, 1, 1});
    }
}

TEST_F(TransposeLibrary, BlocksTakePartsOfStripsInTurn) {
  for (Tiles t : {aligned(8), anywhere(2), anywhere(16)})
    for (const int64_t down : {1, 3, 4, 11}) {
      SCOPED_TRACE(t.kernel + ", " + std::to_string(down) + " tiles down");
      const Matrices m{down * t.rows - t.slack - 1, t.columns + 7, t.bytes, 2, 1, 1};
      t.parts = 0;
      const BlockCost at_once = run(t, m);
      t.parts = 2;
      EXPECT_EQ(run(t, m), at_once);
    }
  const Matrices m{3000, 17, 1, 1, 0, 0, 3, 1};
  EXPECT_EQ(run_gathering(m, false, 5000, false, 2), run_gathering(m, false, 5000));
}

TEST(TransposeOrder, OutputRowsInTheSamePlacesOfPages) {
  using transposing::parts_of;
  for (const int64_t near : {-33000, -8184, 0, 7, 8231, 33000})
    for (const int64_t pages : {1, 2})
      EXPECT_EQ(parts_of(pages * 2097152 + near), 2U) << pages << ' ' << near;
  for (const int64_t pitch : {1, 8192, 33000, 2147463, 1048576, 3145728, 4150000, 6291456, 8388608})
    EXPECT_EQ(parts_of(pitch), 0U) << pitch;
}

TEST_F(TransposeLibrary, EdgesOfAlignedTilesCostNoConflictsWhereRowsAreWholeVectors) {
  for (const int64_t bytes : {2, 4, 8, 16}) {
    const Tiles t = aligned(bytes);
    const int64_t vector = 16 / bytes;
    const BlockCost cost =
        run(t, {t.rows + 3 * vector, t.columns + vector, bytes, 2, vector, 2 * vector, vector, 3 * vector});
    EXPECT_EQ(cost.load.wavefronts, cost.load.ideal) << bytes;
    EXPECT_EQ(cost.store.wavefronts, cost.store.ideal) << bytes;
    EXPECT_GT(cost.load.wavefronts, 0) << bytes;
  }
}

TEST_F(TransposeLibrary, AlignedTilesMayEndAnywhere) {
  for (const int64_t bytes : {2, 4, 8, 16})
    for (const int64_t rows : {1, 7, 130})
      for (const int64_t columns : {1, 13, 67}) {
        const int64_t vector = 16 / bytes;
        run(aligned(bytes), {rows, columns, bytes, 1, divide_up(columns, vector) * vector - columns,
                             divide_up(rows, vector) * vector - rows + vector});
      }
}

TEST_F(TransposeLibrary, RowsMayBeginAnywhere) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    const Tiles t = anywhere(bytes);
    for (const auto& m : {Matrices{1, 1, bytes},
                          {3, 70, bytes, 2},
                          {70, 3, bytes, 1, 1, 1},
                          {t.rows + 1, t.columns + 1, bytes, 1, 0, 0, 1, 1},
                          {2 * t.rows - 1, t.columns + 5, bytes, 1, 3, 2, 1, 3},
                          {t.rows / 2 - 1, 2 * t.columns + 1, bytes, 2, 0, 0, 1, 0},
                          {t.rows / 2 - 1, 2 * t.columns + 3, bytes, 1, 0, 0, 0, 1},
                          {3 * t.rows - 1, 5, bytes, 2, 0, 0, 3, 1},
                          {3 * t.rows - 1, t.columns + 40, bytes, 1, 0, 0, 1, 3},
                          {3 * t.rows + 1, 2 * t.columns + 7, bytes, 1, 0, 1, 1, 0}}) {
      const BlockCost cost = run(t, m);
      if (bytes < 8) continue;
      // One element a lane, whatever the leading dimensions.
      EXPECT_EQ(cost.load.wavefronts, cost.load.ideal) << bytes << ": " << m.rows << " x " << m.columns;
      EXPECT_EQ(cost.store.wavefronts, cost.store.ideal) << bytes << ": " << m.rows << " x " << m.columns;
    }
  }
}

TEST_F(TransposeLibrary, RowsThatBeginAnywhereCostNoConflicts) {
  for (const int64_t bytes : {1, 2, 4}) {
    const Tiles t = anywhere(bytes);
    // Rows that are odd on both sides, and each row of tiles is a whole one but for the shifts of its lines.
    const auto cost_of = [&](int64_t strips) {
      return run(t, {2 * t.rows - 1, strips * t.columns - 1, bytes});
    };
    const BlockCost three = cost_of(3), five = cost_of(5);
    EXPECT_EQ(five.store.wavefronts, five.store.ideal) << bytes;
    EXPECT_EQ(five.load.wavefronts, five.load.ideal) << bytes;
    // Two strips of two tiles, and a third one for what the shifts push out: every word is stored once, but
    // for blocks of rows, as many as a word has elements, that lie behind the matrix.
    const int64_t side = 4 / bytes, loaded = t.rows + t.slack;
    const auto stored = [&](int64_t rows) { return divide_up(rows, side) * side; };
    const int64_t rows = loaded + stored(loaded - 1) + stored(t.slack - 1);
    EXPECT_EQ(five.store.wavefronts - three.store.wavefronts,
              static_cast<uint64_t>(2 * rows * divide_up(t.columns, 32 * side)))
        << bytes;
  }
}

/// Elements of so many bytes, and how lanes move them by a schedule: all there are.
struct ElementMove {
  int64_t bytes;
  transposing::Move move;
};
constexpr ElementMove element_moves[] = {{1, {1, 4}}, {1, {4, 1}}, {1, {4, 4}}, {2, {1, 2}}, {2, {2, 1}},
                                         {2, {2, 2}}, {4, {1, 1}}, {8, {1, 1}}, {16, {1, 1}}};

bool moves_blocks(const transposing::Move& move) { return move.rows > 1 && move.rows == move.columns; }

std::string text_of(const Matrices& m, const transposing::Move& move) {
  return std::to_string(m.rows) + " x " + std::to_string(m.columns) + " of " + std::to_string(m.bytes) +
         ", moves of " + std::to_string(move.rows) + " x " + std::to_string(move.columns);
}

void expect_no_conflicts(const BlockCost& cost) {
  EXPECT_EQ(cost.load.wavefronts, cost.load.ideal);
  EXPECT_EQ(cost.store.wavefronts, cost.store.ideal);
}

TEST_F(TransposeLibrary, BatchesOfSmallMatricesWithoutConflicts) {
  for (const auto& [bytes, move] : element_moves)
    for (const auto& m :
         {Matrices{17, 33, bytes, 67}, Matrices{17, 33, bytes, 5, 0, 0, 4, 8},
          Matrices{31, 31, bytes, 9, 0, 0, 1, 3}, Matrices{5, 7, bytes, 300}, Matrices{3, 4, bytes, 1001},
          Matrices{45, 47, bytes, 9}, Matrices{2, 2, bytes, 70}, Matrices{12, 20, bytes, 131},
          Matrices{32, 32, bytes, 20}, Matrices{100, 60, bytes, 3}, Matrices{3, 1501, bytes, 2},
          Matrices{101, 99, bytes, 3}}) {
      if (m.rows * m.columns * bytes > transposing::small_matrix_bytes) continue;
      // Blocks of elements: only of whole words.
      if (moves_blocks(move) && (m.rows % move.rows != 0 || m.columns % move.rows != 0 ||
                                 m.in_first % move.rows != 0 || m.out_first % move.rows != 0))
        continue;
      SCOPED_TRACE(text_of(m, move));
      expect_no_conflicts(run_small(m, move));
      EXPECT_LE(copies().sectors * 8, copies().ideal_sectors * 9);
      if (m.rows == m.columns) {
        SCOPED_TRACE("in place");
        Matrices same = in_place(m);
        same.out_first = same.in_first;
        expect_no_conflicts(run_small(same, move));
      }
    }
}

TEST_F(TransposeLibrary, BatchesOfSmallMatricesWithGapsWithoutConflicts) {
  using namespace transposing;
  // Each way to read lines, and to write them (GapsIn, GapsOut).
  bool read_apart = false, read_joined = false, joined = false, near = false, apart = false;
  bool whole_sectors = false, whole_sectors_near = false, between = false;
  for (const auto& [bytes, move] : element_moves) {
    const int64_t far = 160 / bytes, even = bytes == 1 ? 4 : 2;
    for (const auto& m :
         {Matrices{3, 3, bytes, 1001, 1, 0}, Matrices{4, 4, bytes, 500, 0, 4},
          Matrices{8, 8, bytes, 301, 8, 8}, Matrices{17, 33, bytes, 67, 31, 0},
          Matrices{31, 31, bytes, 9, 1, 1, 1, 3}, Matrices{1, 70, bytes, 30, 3, 2},
          Matrices{70, 1, bytes, 30, 3, 2}, Matrices{12, 20, bytes, 131, 0, 1, 4},
          Matrices{32, 32, bytes, 20, 1, 0, 0, 8},
          // Between matrices alone, and so that lines lie unequally far apart.
          Matrices{16, 16, bytes, 41, 0, 0, 0, 0, even, 2 * even},
          Matrices{5, 9, bytes, 100, 0, 0, 1, 0, 1, 3}, Matrices{12, 8, bytes, 70, 4, 4, 0, 4, 2 * even, 4},
          Matrices{6, 7, bytes, 90, 1, 2, 3, 1, 1, 2}, Matrices{13, 40, bytes, 20, 0, 0, 0, 1, 3, 1},
          // Far from each other.
          Matrices{8, 12, bytes, 50, far, far, 4, 0, 4, 8},
          Matrices{7, 5, bytes, 60, far + 1, far + 3, 1, 2, 3, 5},
          Matrices{4, 4, bytes, 80, far, 0, 0, 0, 5 * far, 3 * far + even},
          // Long lines.
          Matrices{300, 5, bytes, 9, 2, 1, 1, 3}, Matrices{520, 4, bytes, 6, 0, 4, 4, 0, 8, 4},
          Matrices{280, 7, bytes, 5, 1, far + 1, 0, 1, 2, 3}, Matrices{1040, 1, bytes, 7, 0, 8, 0, 0, 0, 4},
          Matrices{40, 52, bytes, 6, 0, 0, 0, 0, 4, 4}}) {
      if (m.rows * m.columns * bytes > small_matrix_bytes / 2) continue;
      const auto all = m.rows | m.columns | m.in_leading() | m.out_leading() | m.in_stride() |
                       m.out_stride() | m.in_first | m.out_first;
      if (moves_blocks(move) && all % move.rows != 0) continue;
      SCOPED_TRACE(text_of(m, move));
      const auto [in, out] = sides_of(m);
      (in.joined ? read_joined : read_apart) = true;
      (out.joined          ? joined
       : out.whole_sectors ? (out.near ? whole_sectors_near : whole_sectors)
       : out.near          ? near
                           : apart) = true;
      between = between || (out.near && !out.joined && out.lines > 1);
      const BlockCost cost = run_gaps(m, move);
      // Where units are written, those of gaps rest, and sectors that lie apart may meet.
      const bool sectors = !out.joined && !out.whole_sectors;
      EXPECT_LE(3 * cost.load.wavefronts, (sectors ? 4 : 3) * cost.load.ideal);
      EXPECT_EQ(cost.store.wavefronts, cost.store.ideal);
      if (m.rows == m.columns) {
        SCOPED_TRACE("in place");
        Matrices same = in_place(m);
        same.out_gap = same.in_gap, same.out_first = same.in_first, same.out_between = same.in_between;
        run_gaps(same, move);
      }
    }
  }
  EXPECT_TRUE(read_apart && read_joined && joined && near && apart && whole_sectors && whole_sectors_near &&
              between);
}

TEST_F(TransposeLibrary, StripsOfThinMatricesWithoutConflicts) {
  int launches = 0, split = 0;
  for (const auto& [bytes, move] : element_moves)
    for (const int64_t thin : {2, 3, 4, 8, 31, 48}) {
      const bool blocks = moves_blocks(move);
      if (blocks && thin % move.rows != 0) continue;
      const int64_t along = 38400 / bytes / thin / 4 * 4 + (blocks ? 0 : 1), step = blocks ? 4 : 1;
      for (const Matrices& m : {Matrices{thin, along, bytes, 2, 0, 0, 0, 0},
                                {thin, along, bytes, 1, 4 * step, 0, 4 * step, 8 * step},
                                {along, thin, bytes, 2, 0, 0, 0, 0},
                                {along, thin, bytes, 1, 0, 3 * step, step * 4, 0}}) {
        if (m.batch > 1 && m.rows * m.columns * bytes % 4 != 0) continue;
        SCOPED_TRACE(text_of(m, move));
        const BlockCost cost = run(strips(m, move), m);
        split += copies().sectors * 8 > copies().ideal_sectors * 9;
        ++launches;
        // Where lines end within vectors, single lanes load what is written of them, or store what is read of
        // them if there are gaps, and may meet.
        const bool parts = along * bytes % 16 != 0, gaps = m.in_gap != 0;
        EXPECT_LE(cost.store.wavefronts * 64, cost.store.ideal * (parts && gaps ? 65 : 64));
        EXPECT_LE(cost.load.wavefronts * 8, cost.load.ideal * (parts ? 9 : 8));
      }
    }
  EXPECT_EQ(launches, 176);
  EXPECT_EQ(split, 1) << "48 rows of bytes: moves with whole sectors take more";
}

TEST_F(TransposeLibrary, StripsShareNoSectorInsideLines) {
  for (const auto& [bytes, move] : element_moves)
    for (const int64_t thin : {3, 8, 47}) {
      const bool blocks = moves_blocks(move);
      if (blocks && thin % move.rows != 0) continue;
      const int64_t along = 80000 / bytes / thin / 4 * 4 + (blocks ? 0 : 1), step = blocks ? 4 : 1;
      const Matrices m{along, thin, bytes, 1, 0, 3 * step, 0, step};
      SCOPED_TRACE(text_of(m, move));
      Launch first_blocks = strips(m, move);
      ASSERT_GT(first_blocks.blocks, 2U);
      first_blocks.blocks /= 2;
      const Ran ran = run_unchecked(first_blocks, m);
      const std::vector<uint8_t> all = m.expected(ran.in, ran.before);
      size_t written = 0, left = 0;
      for (int64_t line = 0; line < thin; ++line) {
        const auto begin = static_cast<size_t>((m.out_first + line * m.out_leading()) * bytes);
        for (size_t at = (begin + 31) / 32 * 32; at + 32 <= begin + static_cast<size_t>(along * bytes);
             at += 32) {
          const auto is = [&](const std::vector<uint8_t>& other) {
            return std::equal(&ran.after[at], &ran.after[at] + 32, &other[at]);
          };
          (is(all) ? written : left) += 1;
          ASSERT_TRUE(is(all) || is(ran.before)) << "line " << line << ", byte " << at - begin;
        }
      }
      EXPECT_GT(written * 4, left);
      EXPECT_GT(left * 4, written);
    }
}

TEST_F(TransposeLibrary, GathersVectorsWithoutConflicts) {
  for (const int64_t bytes : {1, 2, 4})
    // Rows of all pitches modulo 64 bytes, and of those with another in shared memory.
    for (const int64_t thin : {17, 18, 20, 24, 32, 48, 63, 64, 80}) {
      SCOPED_TRACE(std::to_string(thin) + " of " + std::to_string(bytes));
      const int64_t some = 6 * (16000 / thin / bytes) / 32 * 32 + 5, more = some + 64 * (4000 / thin / bytes);
      const auto conflicts = [](const SharedCost& cost) { return cost.wavefronts - cost.ideal; };
      // Both with the same ends, where single elements may meet in a bank.
      const BlockCost tall[] = {run_gathering({some, thin, bytes, 1, 0, more - some, 3, 1}, false, 13000),
                                run_gathering({more, thin, bytes, 1, 0, 0, 3, 1}, false, 13000)};
      EXPECT_GT(tall[1].load.wavefronts, tall[0].load.wavefronts);
      EXPECT_NEAR(static_cast<double>(conflicts(tall[1].load)), static_cast<double>(conflicts(tall[0].load)),
                  8);
      EXPECT_EQ(conflicts(tall[1].store), 0);
      if (thin * bytes < 32) continue;
      // Bytes in rows of twice and four times an odd number, of which four lanes have output rows, too.
      for (const int64_t farther : bytes == 1 ? std::vector<int64_t>{0, 1, 7} : std::vector<int64_t>{0}) {
        const BlockCost wide[] = {run_gathering({thin, some + farther, bytes, 1, 0, 0, 1, 3}, true, 18000),
                                  run_gathering({thin, more + farther, bytes, 1, 0, 0, 1, 3}, true, 18000)};
        EXPECT_GT(wide[1].load.wavefronts, wide[0].load.wavefronts);
        EXPECT_LE(conflicts(wide[0].load), 40);
        EXPECT_NEAR(static_cast<double>(conflicts(wide[1].load)),
                    static_cast<double>(conflicts(wide[0].load)), 8);
        EXPECT_EQ(conflicts(wide[1].store), 0);
      }
    }
}

TEST_F(TransposeLibrary, GathersBatches) {
  for (const int64_t bytes : {1, 2, 4})
    for (const Matrices& m :
         {Matrices{61, 43, bytes, 3}, Matrices{50, 64, bytes, 3, 0, 0, 3, 2},
          Matrices{129, 17, bytes, 2, 0, 0, 1, 1}, Matrices{40, 16, bytes, 5, 0, 0, 1, 0}}) {
      const SharedCost stored = run_gathering(m, true, 48000, true).store;
      EXPECT_EQ(stored.wavefronts, stored.ideal) << m.rows << " x " << m.columns << " of " << bytes;
    }
  // Blocks that hold whole matrices may write over them.
  for (const int64_t bytes : {1, 2, 4})
    for (const int64_t n : {33, 48, 64, 71}) {
      const SharedCost stored =
          run_gathering(in_place({n, n, bytes, 3, 0, 0, 1, 1, n % 2, n % 2}), true, 48000, true).store;
      EXPECT_EQ(stored.wavefronts, stored.ideal) << n << " x " << n << " of " << bytes << ", in place";
    }
}

TEST_F(TransposeLibrary, RequestsOfSmallMatrices) {
  struct Known {
    Matrices matrices;
    transposing::Move move;
    BlockCost cost;
  };
  for (const Known& k : {Known{{31, 31, 1, 32}, {1, 4}, {{494, 674, 674}, {1310, 1490, 1490}}},
                         {{17, 33, 1, 32}, {1, 4}, {{236, 341, 341}, {668, 773, 773}}},
                         {{100, 100, 1, 2}, {4, 4}, {{248, 365, 365}, {248, 365, 365}}},
                         {{17, 33, 2, 32}, {1, 2}, {{744, 954, 954}, {744, 954, 954}}},
                         {{48, 48, 2, 5}, {2, 2}, {{261, 396, 396}, {333, 468, 468}}},
                         {{17, 33, 4, 8}, {1, 1}, {{196, 302, 302}, {196, 302, 302}}},
                         {{31, 32, 4, 8}, {1, 1}, {{312, 496, 496}, {312, 496, 496}}},
                         {{17, 33, 8, 3}, {1, 1}, {{100, 251, 251}, {118, 287, 287}}},
                         {{5, 7, 16, 33}, {1, 1}, {{79, 313, 313}, {83, 321, 321}}}}) {
    const BlockCost cost = run_small(k.matrices, k.move);
    EXPECT_EQ(cost, k.cost) << k.matrices.rows << " x " << k.matrices.columns << " of " << k.matrices.bytes;
  }
}

TEST_F(TransposeLibrary, SquareMatricesInPlaceWithoutConflicts) {
  for (const int64_t bytes : {1, 2, 8, 16}) {
    const auto [kernel, numbers] = numbers_of("transpose_in_place", "PairTiles", bytes);
    const int64_t side = numbers.at(1), threads = numbers.at(2);
    const int64_t shared = 2 * side * (side + std::max<int64_t>(1, 4 / bytes)) * bytes;
    for (const int64_t n : {int64_t{1}, int64_t{5}, side - 1, side, side + 1, 3 * side + 4, 5 * side - 3})
      for (const unsigned log_group : {0U, 1U, 2U}) {
        if (n > 2 * side && bytes > 4) continue;
        const Matrices m{n, n, bytes, 2, 1, 1, 1, 1};
        SCOPED_TRACE(text_of(m, {1, 1}) + ", squares of 2^" + std::to_string(log_group));
        expect_no_conflicts(run_in_place(kernel, m, log_group, side, threads, shared));
      }
  }
}
TEST_F(TransposeLibrary, GathersSquareMatricesInPlace) {
  for (const int64_t bytes : {1, 2, 4}) {
    const int64_t vector = 16 / bytes, side = 3 * vector + 32;
    for (const int64_t n :
         {int64_t{1}, int64_t{5}, vector + 1, side - 1, side, side + 1, 2 * side + 4, 5 * side - 3})
      for (const int64_t gap : {0, 1, 2, 3}) {
        const Matrices m{n, n, bytes, 2, gap, gap, gap, gap};
        SCOPED_TRACE(text_of(m, {1, 1}));
        const BlockCost cost = run_gathering_in_place(m, n < 4 * side ? 0U : 2U, static_cast<int>(side));
        // Vectors that begin before the matrix or end behind it are copied element by element.
        if (n > vector + 1) {
          EXPECT_EQ(cost.store.wavefronts, cost.store.ideal);
        }
      }
    // Of 1 and 2 bytes, elements in front of whole vectors and behind them meet in banks; else none does.
    for (const int64_t n : {2 * side, 2 * side + vector, 2 * side + 2 * vector, 2 * side + 4 * vector}) {
      const int64_t aligned = divide_up(n, vector) * vector;
      expect_no_conflicts(
          run_gathering_in_place({n, n, bytes, 2, aligned - n, aligned - n}, 0, static_cast<int>(side)));
    }
    const int64_t n = 4 * side;
    const SharedCost load = run_gathering_in_place({n, n, bytes, 1, 1, 1}, 0, static_cast<int>(side)).load;
    EXPECT_EQ(load.ideal, bytes == 1 ? 7840 : bytes == 2 ? 3256 : 1764);
    EXPECT_EQ(load.wavefronts - load.ideal, bytes == 1 ? 560 : bytes == 2 ? 112 : 0);
    if (bytes < 4) continue;
    for (const int64_t gap : {2, 3, 5, 6, 7, 8, 9})
      expect_no_conflicts(run_gathering_in_place({n, n, bytes, 1, gap, gap}, 0, static_cast<int>(side)));
  }
}
TEST_F(TransposeLibrary, SquareMatricesWithAlignedRowsInPlace) {
  for (const int64_t bytes : {2, 4, 8}) {
    const Tiles t = aligned(bytes, "transpose_aligned_in_place");
    const int64_t vector = 16 / bytes;
    for (const int64_t n : {t.rows, 2 * t.rows, 3 * t.rows - vector, 3 * t.rows + 4 * vector}) {
      const BlockCost cost = run_aligned_in_place(t, {n, n, bytes, 2, vector, vector});
      EXPECT_EQ(cost.load.wavefronts, cost.load.ideal) << n << " of " << bytes;
      EXPECT_EQ(cost.store.wavefronts, cost.store.ideal) << n << " of " << bytes;
      EXPECT_GT(cost.load.wavefronts, 0);
    }
    for (const int64_t n : {int64_t{1}, int64_t{7}, t.rows + 3, 2 * t.rows - 1}) {
      const int64_t gap = divide_up(n, vector) * vector - n;
      run_aligned_in_place(t, {n, n, bytes, 2, gap, gap});
    }
  }
}

}  // namespace
}  // namespace lanescope::kernels
