// The kernels of include/lanescope/kernels/transpose.cuh on the engine, from committed PTX
// (tests/data/kernels/transpose_library.cu): results, findings of all checks, and what shared memory costs.
// The host's part of the library is tested where nvcc is found (tests/gpu).
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/engine.hpp"
#include "kernels/reference.hpp"
#include "kernels/results_tables.hpp"

namespace lanescope::kernels {
namespace {

/// As in transpose.cuh; addresses in place of pointers.
struct Job {
  uint64_t out, in;
  int64_t rows, columns, in_leading, out_leading, in_stride, out_stride;
};
struct Spread {
  uint32_t every, padding;
};
struct Divisor {
  uint32_t value, factor;
  explicit Divisor(uint32_t d) : value(d), factor(d == 1 ? 0 : 0xffffffffU / d + 1) {}
};

int64_t divide_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }

/// What a kernel's name says of its tiles.
struct Tiles {
  std::string kernel;
  int64_t bytes = 0, rows = 0, columns = 0, threads = 0;
  int64_t slack = 0;   ///< rows that are loaded besides
  int64_t shared = 0;  ///< bytes of dynamic shared memory
};

/// Matrices of bytes, with gaps; elements are numbered at random.
struct Matrices {
  int64_t rows, columns, bytes, batch = 1;
  int64_t in_gap = 0, out_gap = 0;      ///< elements after each row
  int64_t in_first = 0, out_first = 0;  ///< elements before the first matrix

  [[nodiscard]] int64_t in_leading() const { return columns + in_gap; }
  [[nodiscard]] int64_t out_leading() const { return rows + out_gap; }
  [[nodiscard]] int64_t in_size() const { return in_first + batch * rows * in_leading(); }
  [[nodiscard]] int64_t out_size() const { return out_first + batch * columns * out_leading(); }
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
              &before[static_cast<size_t>((out_first + (m * columns + j) * out_leading() + i) * bytes)],
              &in[static_cast<size_t>((in_first + (m * rows + i) * in_leading() + j) * bytes)],
              static_cast<size_t>(bytes));
    return before;
  }
};

class TransposeLibrary : public testing::Test {
 protected:
  /// Runs a kernel with all checks and counts; a finding or a wrong byte fails the test.
  BlockCost run(const std::string& kernel, const Matrices& m, bool in_place, uint32_t blocks,
                uint32_t threads, uint32_t shared, const std::vector<Argument>& rest) {
    const std::vector<uint8_t> in = m.source();
    const std::vector<uint8_t> before =
        in_place ? in : std::vector<uint8_t>(static_cast<size_t>(m.out_size() * m.bytes), 0xA5);
    const uint64_t to = program_.resident(before), from = in_place ? to : program_.resident(in);
    const Job job{to + static_cast<uint64_t>(m.out_first * m.bytes),
                  from + static_cast<uint64_t>(m.in_first * m.bytes),
                  m.rows,
                  m.columns,
                  m.in_leading(),
                  m.out_leading(),
                  m.rows * m.in_leading(),
                  m.columns * m.out_leading()};
    Case c;
    c.kernel = kernel;
    c.grid = {blocks};
    c.block = {threads};
    c.dynamic_shared = shared;
    c.arguments = {scalar(job)};
    c.arguments.insert(c.arguments.end(), rest.begin(), rest.end());
    exec::Checks checks;
    checks.race = checks.init = checks.barrier = true;
    const Outcome outcome =
        run_kernel(program_, c, model::find_arch("sm_90"), 0, profile::RecordBlocks::none, checks);
    EXPECT_FALSE(outcome.result.failed);
    for (const exec::Finding& f : outcome.result.findings)
      ADD_FAILURE() << exec::name_of(f.kind) << " in block " << f.block << ", thread " << f.thread << ": "
                    << f.message;
    std::vector<uint8_t> result(before.size());
    std::memcpy(result.data(), reinterpret_cast<const void*>(to), result.size());
    EXPECT_EQ(result, m.expected(in, before));
    return cost_of(outcome.profile);
  }

  BlockCost run(const Tiles& tiles, const Matrices& m) {
    const int64_t down = divide_up(m.rows + (tiles.slack == 0 ? 0 : tiles.slack - 1), tiles.rows);
    const int64_t across = divide_up(m.columns, tiles.columns);
    return run(tiles.kernel, m, false, static_cast<uint32_t>(down * across * m.batch),
               static_cast<uint32_t>(tiles.threads), static_cast<uint32_t>(tiles.shared),
               {scalar(static_cast<uint32_t>(down)), scalar(static_cast<uint32_t>(across))});
  }

  BlockCost run_small(const std::string& kernel, const Matrices& m, uint32_t matrices, Spread spread) {
    const auto elements = static_cast<uint32_t>(matrices * m.rows * m.columns);
    return run(
        kernel, m, false, static_cast<uint32_t>(divide_up(m.batch, matrices)), 256,
        static_cast<uint32_t>((elements + elements / spread.every * spread.padding) * m.bytes),
        {scalar(m.batch), scalar(matrices), scalar(spread), scalar(Divisor(static_cast<uint32_t>(m.rows))),
         scalar(Divisor(static_cast<uint32_t>(m.columns))), scalar(Divisor(spread.every))});
  }

  BlockCost run_in_place(const std::string& kernel, const Matrices& m) {
    const auto tiles = static_cast<uint32_t>(divide_up(m.rows, 32));
    return run(kernel, m, true, static_cast<uint32_t>(m.batch) * tiles * (tiles + 1) / 2, 256, 0,
               {scalar(tiles)});
  }

  /// The kernel for elements of so many bytes whose name has `part`, with the numbers after it.
  std::pair<std::string, std::vector<int64_t>> numbers_of(const std::string& part, int64_t bytes) {
    std::pair<std::string, std::vector<int64_t>> result;
    result.first = name_of(part + "ILi" + std::to_string(bytes) + "E");
    // ILi4ELi128E…E: the template's arguments.
    for (size_t at = result.first.find(part) + part.size() + 1; result.first.compare(at, 2, "Li") == 0;) {
      result.second.push_back(std::stoll(result.first.substr(at + 2)));
      at = result.first.find('E', at) + 1;
    }
    return result;
  }
  Tiles aligned(int64_t bytes) {
    const auto [kernel, n] = numbers_of("AlignedTiles", bytes);
    return {kernel, bytes, n.at(1), n.at(2), n.at(3), 0, n.at(1) * n.at(2) * bytes};
  }
  /// Those for rows that begin anywhere.
  Tiles anywhere(int64_t bytes) {
    if (bytes >= 8) {
      const auto [kernel, n] = numbers_of("LinesOf", bytes);
      const int64_t slack = 128 / bytes;
      return {kernel, bytes, n.at(1), n.at(2), 256, slack, n.at(2) * (n.at(1) + slack + 1) * bytes};
    }
    const auto [kernel, n] = numbers_of("RealigningTiles", bytes);
    const int64_t side = 4 / bytes, words = 32 * n.at(1), slack = n.at(3) / bytes, rows = n.at(4) / bytes;
    return {kernel,
            bytes,
            rows,
            (bytes == 4 ? words : words - 1) * side,
            32 * n.at(2),
            slack,
            words * side * ((rows + slack) / side + 1) * 4};
  }
  std::string name_of(const std::string& part) {
    for (const ptx::Function& f : program_.image().module().functions)
      if (f.is_entry && f.name.find(part) != std::string::npos) return f.name;
    throw Error("no kernel " + part + " in the PTX");
  }

 private:
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
                          {2 * t.rows - 1, t.columns + 5, bytes, 1, 3, 2, 1, 3}}) {
      const BlockCost cost = run(t, m);
      if (bytes < 8) continue;
      // One element a lane, whatever the leading dimensions.
      EXPECT_EQ(cost.load.wavefronts, cost.load.ideal) << bytes << ": " << m.rows << " x " << m.columns;
      EXPECT_EQ(cost.store.wavefronts, cost.store.ideal) << bytes << ": " << m.rows << " x " << m.columns;
    }
  }
}

TEST_F(TransposeLibrary, TilesThatAreAtNoEndOfARowHaveNoConflicts) {
  for (const int64_t bytes : {1, 2, 4}) {
    const Tiles t = anywhere(bytes);
    // Rows that are odd on both sides, and each row of tiles is a whole one but for the shifts of its lines.
    const auto cost_of = [&](int64_t strips) {
      return run(t, {2 * t.rows - 1, strips * t.columns - 1, bytes});
    };
    const BlockCost three = cost_of(3), five = cost_of(5);
    EXPECT_EQ(five.store.wavefronts - three.store.wavefronts, five.store.ideal - three.store.ideal) << bytes;
    EXPECT_EQ(five.load.wavefronts, five.load.ideal) << bytes;
    // Two strips of two tiles, and a third one for what the shifts push out: every word is stored once.
    const int64_t words = t.shared / 4 - t.shared / 4 / ((t.rows + t.slack) * bytes / 4 + 1);
    EXPECT_EQ(five.store.wavefronts - three.store.wavefronts, static_cast<uint64_t>(2 * 3 * words / 32))
        << bytes;
  }
}

TEST_F(TransposeLibrary, BatchesOfSmallMatrices) {
  const std::string floats = name_of("15transpose_smallILi4ELi1E"),
                    packed = name_of("15transpose_smallILi1ELi4E");
  run_small(floats, {17, 33, 4, 9}, 4, {33, 0});
  run_small(floats, {5, 6, 4, 100}, 30, {6, 1});
  run_small(packed, {17, 33, 1, 11}, 4, {33, 0});
  run_small(packed, {6, 10, 1, 31}, 8, {10, 1});
  // Squares of powers of two: rows stay whole, columns lie apart.
  for (const int64_t n : {8, 16, 32}) {
    const BlockCost cost =
        run_small(floats, {n, n, 4, 8}, 4, {32, static_cast<uint32_t>(n < 32 ? 32 / n : 1)});
    const auto words = static_cast<uint64_t>(8 * n * n / 32);
    EXPECT_EQ(cost, (BlockCost{{words, words, words}, {words, words, words}})) << n;
  }
}

TEST_F(TransposeLibrary, BatchesOfSmallMatricesOfWholeWords) {
  const std::string kernel = name_of("21transpose_small_wordsILi1E");
  for (const auto& m : {Matrices{8, 12, 1, 31}, {4, 4, 1, 70}, {32, 32, 1, 9}}) {
    const auto down = static_cast<uint32_t>(m.rows / 4), across = static_cast<uint32_t>(m.columns / 4);
    const uint32_t matrices = 4, pitch = down | 1;
    run(kernel, m, false, static_cast<uint32_t>(divide_up(m.batch, matrices)), 256,
        matrices * static_cast<uint32_t>(m.columns) * pitch * 4,
        {scalar(m.batch), scalar(matrices), scalar(pitch), scalar(Divisor(across)), scalar(Divisor(down))});
  }
}

TEST_F(TransposeLibrary, SquareMatricesInPlaceWithoutConflicts) {
  for (const int64_t bytes : {4, 8}) {
    const std::string kernel = name_of("18transpose_in_placeILi" + std::to_string(bytes) + "E");
    for (const int64_t n : {1, 31, 32, 33, 100}) {
      const BlockCost cost = run_in_place(kernel, {n, n, bytes, 2, 1, 1, 1, 1});
      EXPECT_EQ(cost.load.wavefronts, cost.load.ideal) << n;
      EXPECT_EQ(cost.store.wavefronts, cost.store.ideal) << n;
    }
  }
}

}  // namespace
}  // namespace lanescope::kernels
