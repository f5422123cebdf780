// Advice on the reference kernels: what is advised, that its prediction is what the cured kernel really
// costs, and that clean kernels get none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <variant>

#include "advise/advise.hpp"
#include "kernels/engine.hpp"

namespace lanescope::kernels {
namespace {

using ::testing::HasSubstr;

struct Advised {
  std::vector<advise::Advice> advice;
  uint64_t wavefronts = 0;         ///< of loads and stores
  uint64_t shared_wavefronts = 0;  ///< of atomics as well
};

Advised advise_on_file(const std::string& file, const std::string& kernel, Dim grid, Dim block,
                       std::vector<Argument> arguments,
                       profile::RecordBlocks record = profile::RecordBlocks::some,
                       uint32_t dynamic_shared = 0) {
  Program loaded(file);
  const Case c{file, kernel, "", grid, block, dynamic_shared, std::move(arguments), {}};
  const Outcome run = run_kernel(loaded, c, &sm_90(), 0, record);
  EXPECT_FALSE(run.result.failed);
  const exec::Kernel& decoded = loaded.image().kernel(kernel);
  advise::Sources sources(std::string(LANESCOPE_SOURCE_DIR) + "/" + file);
  const BlockCost cost = cost_of(run.profile);
  exec::LaunchConfig config;
  config.block = {block.x, block.y, block.z};
  uint64_t shared = 0;
  for (const profile::SiteCounters& site : run.profile.sites)
    if (site.space == exec::AccessSpace::shared) shared += site.counters.wavefronts;
  return {advise::advise({sm_90(), loaded.image().module(), decoded, config,
                          decoded.static_shared + dynamic_shared, 0, run.profile},
                         sources),
          cost.load.wavefronts + cost.store.wavefronts, shared};
}

Advised advise_on(const std::string& program, const std::string& kernel, Dim grid, Dim block,
                  std::vector<Argument> arguments,
                  profile::RecordBlocks record = profile::RecordBlocks::some) {
  return advise_on_file("kernels/ptx/" + program + ".ptx", kernel, grid, block, std::move(arguments), record);
}

struct CuredKernel {
  std::string kernel;
  Dim grid, block;
  std::vector<Argument> arguments;
};
std::vector<CuredKernel> cured_kernels() {
  const Argument b = scratch(1 << 17);
  return {{"transpose", {4, 4}, {32, 8}, {b, b, scalar(128)}},
          {"product", {2, 2}, {32, 32}, {b, b, b, scalar(64)}},
          {"stencil", {4, 2}, {8, 32}, {b, b, scalar(40)}},
          {"blur", {2, 2}, {16, 16}, {b, b, scalar(36)}},
          {"scan", {3}, {32}, {b, b}},
          {"histogram", {2}, {32}, {b, b, scalar(16)}},
          {"fourier", {3}, {128}, {b, b}},
          {"bitonic", {2}, {256}, {b, b}},
          {"particles", {2}, {128}, {b, b, scalar(0.5f)}},
          {"convolution", {2}, {32, 8}, {b, b}},
          {"tensor_product", {2}, {128}, {b, b, b}},
          {"fragments", {2}, {128}, {b, b}}};
}

Advised reduction(const std::string& kernel, uint32_t n = 1u << 20) {
  return advise_on("reduce", kernel, {n / 256}, {256},
                   {scratch(uint64_t{n} * 4), scratch(n / 256 * 4), scalar(n)});
}
Advised transpose(const std::string& kernel, Dim block, uint32_t tile, uint32_t size = 1024,
                  profile::RecordBlocks record = profile::RecordBlocks::some) {
  const Argument matrix = scratch(uint64_t{size} * size * 4);
  return advise_on("transpose", kernel, {size / tile, size / tile}, block,
                   {matrix, matrix, scalar(static_cast<int>(size)), scalar(static_cast<int>(size))}, record);
}

TEST(Advice, SequentialAddressingCostsWhatItSays) {
  const Advised before = reduction("reduce_interleaved"), after = reduction("reduce_sequential");
  ASSERT_FALSE(before.advice.empty());
  const advise::Advice& advice = before.advice.front();
  EXPECT_EQ(advice.kind, advise::Advice::Kind::sequential_addressing);
  EXPECT_EQ(advice.variable, "d");
  EXPECT_EQ(advice.wavefronts_before, before.wavefronts);
  EXPECT_EQ(advice.wavefronts_after, after.wavefronts);
  EXPECT_FALSE(advice.estimate);
  EXPECT_EQ(advice.occupancy_before.blocks, advice.occupancy_after.blocks);
  EXPECT_EQ(advice.shared_bytes_after, 1024u);
}

/// Scans, wavelets and cyclic reductions go through the same tree, but to combine others would change what
/// they compute.
TEST(Advice, SequentialAddressingIsForReductionsOnly) {
  const std::string file = "tests/data/cures/by_hand/trees.ptx";
  const Argument buffer = scratch(512 * 4);
  for (const char* kernel : {"scan_exclusive", "scan_inclusive", "haar", "branches"}) {
    const Advised advised = advise_on_file(file, kernel, {1}, {256}, {buffer, buffer});
    ASSERT_FALSE(advised.advice.empty()) << kernel;
    EXPECT_EQ(advised.advice.front().layout, advise::Layout(advise::RowPadding{1})) << kernel;
    for (const advise::Advice& advice : advised.advice)
      EXPECT_EQ(advice.kind, advise::Advice::Kind::layout) << kernel << ": " << advice.change;
  }
  const Advised equations = advise_on_file(file, "cyclic_reduction", {1}, {256}, {buffer, buffer});
  ASSERT_FALSE(equations.advice.empty());
  for (const advise::Advice& advice : equations.advice)
    EXPECT_EQ(advice.kind, advise::Advice::Kind::layout) << advice.change;
  const Advised reduction = advise_on_file(file, "share_of_sum", {1}, {256}, {buffer, buffer});
  ASSERT_FALSE(reduction.advice.empty());
  EXPECT_EQ(reduction.advice.front().kind, advise::Advice::Kind::sequential_addressing);
}

/// What the compiler makes of neighbours falls to pieces where they are neighbours no longer, which lets a
/// padding of one word in; vectors of the program's own do not. Of `extern` arrays the elements are known.
TEST(Advice, TakesApartWhatTheCompilerPutTogether) {
  const std::string file = "tests/data/cures/by_hand/vectors.ptx";
  const Argument buffer = scratch(512 * 4);
  const auto advised = [&](const char* kernel, uint32_t dynamic = 0) {
    return advise_on_file(file, kernel, {1}, {256}, {buffer, buffer}, profile::RecordBlocks::some, dynamic);
  };
  const uint64_t cured = advised("pairs_cured").wavefronts;
  for (const auto& [kernel, dynamic] : {std::pair("pairs", 0u), std::pair("pairs_of_launch", 512u * 4)}) {
    const Advised found = advised(kernel, dynamic);
    ASSERT_EQ(found.advice.size(), 2u) << kernel;  // no low and high words of elements that are one word
    EXPECT_EQ(found.advice.front().layout, advise::Layout(advise::RowPadding{1})) << kernel;
    EXPECT_EQ(found.advice.front().wavefronts_after, cured) << kernel;
    EXPECT_TRUE(std::holds_alternative<advise::Swizzle>(found.advice.back().layout)) << kernel;
  }
  const Advised of_launch = advised("pairs_of_launch", 512 * 4);
  EXPECT_EQ(of_launch.advice.front().no_patch, "the launch decides how large it is");
  EXPECT_THAT(of_launch.advice.front().change, HasSubstr("s[i] becomes s[i + i / 32]"));
  EXPECT_THAT(advised("pairs_of_launch", 48u << 10).advice.front().change,
              HasSubstr("more than 49152 bytes have to be asked for"));
  for (const char* kernel : {"vectors", "vectors_by_address"}) {
    const Advised found = advised(kernel);
    ASSERT_FALSE(found.advice.empty()) << kernel;
    EXPECT_EQ(found.advice.front().layout, advise::Layout(advise::RowPadding{2})) << kernel;
  }
}

/// The reason names the distance that makes the conflict it tells of, not one that is more frequent.
TEST(Advice, TheReasonIsThatOfTheWorstAccess) {
  const Argument buffer = scratch(512 * 4);
  const Advised scan =
      advise_on_file("tests/data/cures/by_hand/trees.ptx", "scan_exclusive", {1}, {256}, {buffer, buffer});
  ASSERT_FALSE(scan.advice.empty());
  EXPECT_THAT(scan.advice.front().reason, HasSubstr("up to 16 words of one bank are asked for at once: lanes "
                                                    "are 64 bytes apart"));
}

TEST(Advice, ShufflesCostWhatTheySay) {
  for (const char* kernel : {"reduce_sequential", "reduce_first_add"}) {
    // The same sums, half as many blocks.
    const uint32_t n = 1u << 19, more = std::string(kernel) == "reduce_first_add" ? 2 : 1;
    const Advised before = reduction(kernel, n * more), after = reduction("reduce_shuffle", n * more);
    ASSERT_EQ(before.advice.size(), 1u) << kernel;
    const advise::Advice& advice = before.advice.front();
    EXPECT_EQ(advice.kind, advise::Advice::Kind::shuffles);
    EXPECT_EQ(advice.variable, "d");
    EXPECT_EQ(advice.wavefronts_before, before.wavefronts);
    EXPECT_EQ(advice.wavefronts_after, after.wavefronts) << kernel;
    EXPECT_FALSE(advice.estimate);
    EXPECT_TRUE(after.advice.empty());
  }
}

/// Where the whole block reads the sum, it is stored for it, shuffles or not.
TEST(Advice, ShufflesLeaveTheResultInSharedMemoryForOthers) {
  const std::string file = "tests/data/cures/by_hand/sums.ptx";
  const Argument buffer = scratch(256 * 4);
  const Advised before = advise_on_file(file, "share_by_memory", {1}, {256}, {buffer, buffer}),
                after = advise_on_file(file, "share_by_shuffles", {1}, {256}, {buffer, buffer});
  ASSERT_FALSE(before.advice.empty());
  EXPECT_EQ(before.advice.front().kind, advise::Advice::Kind::shuffles);
  EXPECT_EQ(before.advice.front().wavefronts_after, after.wavefronts);
}

TEST(Advice, LanesThatOnlyGoDownColumnsGoAlongRowsInstead) {
  const Argument buffer = scratch(4 * 1024 * 4);
  for (const auto& [columns, rows, side] :
       {std::tuple("columns_32", "rows_32", 32u), std::tuple("columns_16", "rows_16", 16u)}) {
    const Advised before = advise_on("patterns", columns, {4}, {side, side}, {buffer, buffer}),
                  after = advise_on("patterns", rows, {4}, {side, side}, {buffer, buffer});
    ASSERT_FALSE(before.advice.empty());
    const auto mapping = std::find_if(before.advice.begin(), before.advice.end(), [](const auto& a) {
      return a.kind == advise::Advice::Kind::lane_mapping;
    });
    ASSERT_NE(mapping, before.advice.end());
    EXPECT_EQ(mapping->wavefronts_after, after.wavefronts);
    EXPECT_TRUE(after.advice.empty());
  }
}

TEST(Advice, LanesOfBlocksWithDifferentSidesKeepTheirColumns) {
  // Exchanged, threadIdx.x would go to 31 where threadIdx.y goes to 15.
  const Argument buffer = scratch(4 * 1024 * 4);
  const Advised found = advise_on("patterns", "columns_32", {4}, {32, 16}, {buffer, buffer});
  ASSERT_FALSE(found.advice.empty());
  for (const advise::Advice& advice : found.advice)
    EXPECT_NE(advice.kind, advise::Advice::Kind::lane_mapping);
}

/// Four neighbouring elements a thread → elements that are a block's threads apart.
TEST(Advice, StridedElementsCostWhatTheySay) {
  const std::string file = "tests/data/cures/by_hand/elements.ptx";
  const Argument buffer = scratch(2 * 256 * 4);
  const Advised before = advise_on_file(file, "blocked", {2}, {64}, {buffer, buffer}),
                after = advise_on_file(file, "strided", {2}, {64}, {buffer, buffer});
  ASSERT_FALSE(before.advice.empty());
  EXPECT_EQ(before.advice.front().kind, advise::Advice::Kind::strided_elements);
  EXPECT_EQ(before.advice.front().wavefronts_before, before.wavefronts);
  EXPECT_EQ(before.advice.front().wavefronts_after, after.wavefronts);
  EXPECT_TRUE(after.advice.empty());
}

/// Threads that read neighbouring elements which others wrote need them: to give them others would change
/// what the kernel computes.
TEST(Advice, NoStridedElementsWhereThreadsExchangeThem) {
  const Argument in = scratch(4 * 512 * 4), out = scratch(4 * 256 * 4);
  for (const advise::Advice& a : advise_on("patterns", "two_interleaved", {4}, {256}, {out, in}).advice)
    EXPECT_EQ(a.kind, advise::Advice::Kind::layout) << a.change;
}

/// Down the columns of a tile without rows in its declaration, every warp goes through the same rows: the
/// elements of one thread are no neighbours.
TEST(Advice, NoStridedElementsDownColumns) {
  const Argument buffer = scratch(1024 * 4);
  const std::string file = "tests/data/cures/by_hand/elements.ptx";
  for (const auto& [kernel, rows] :
       {std::pair("columns_of_flat_tile", 32u), std::pair("neighbours_elements", 2u)})
    for (const advise::Advice& a : advise_on_file(file, kernel, {1}, {32, rows}, {buffer, buffer}).advice)
      EXPECT_EQ(a.kind, advise::Advice::Kind::layout) << kernel << ": " << a.change;
}

/// Rows that no declaration tells, shorter than the banks: a warp covers two of them.
TEST(Advice, RowsOfTilesWithAHaloInOneDimension) {
  const Argument buffer = scratch(1 << 11);
  const Advised advised =
      advise_on_file("tests/data/cures/by_hand/halo.ptx", "flat_halo", {1}, {16, 16}, {buffer, buffer});
  ASSERT_FALSE(advised.advice.empty());
  const advise::Advice& first = advised.advice.front();
  EXPECT_THAT(first.change, HasSubstr("words free after every 18 words of flat"));
  EXPECT_EQ(first.pitch_from, "the recorded addresses");
  EXPECT_LT(4 * first.wavefronts_after, 3 * first.wavefronts_before);
}

/// Rows of 256 bytes in elements of 4,096.
TEST(Advice, RowsOfArraysInStructs) {
  const Argument buffer = scratch(512 * 8);
  const Advised advised = advise_on_file("tests/data/cures/by_hand/in_structs.ptx", "several_structs", {1},
                                         {16, 16, 2}, {buffer, buffer});
  ASSERT_FALSE(advised.advice.empty());
  const advise::Advice& first = advised.advice.front();
  EXPECT_EQ(first.change, "leave 2 words free after every 64 words of work");
  EXPECT_EQ(first.no_patch, "what conflicts are rows of arrays in 'Work'");
  EXPECT_EQ(first.wavefronts_before, 16u * (4 * 2 * 16));
  EXPECT_EQ(first.wavefronts_after, 16u * (4 * 2));
}

/// Elements that are accessed as vectors are the threads' own, too.
TEST(Advice, StridedElementsOfVectors) {
  const Argument buffer = scratch(2 * 512 * 4);
  const Advised advised =
      advise_on_file("tests/data/cures/by_hand/elements.ptx", "blocked_vectors", {2}, {64}, {buffer, buffer});
  ASSERT_FALSE(advised.advice.empty());
  EXPECT_EQ(advised.advice.front().kind, advise::Advice::Kind::strided_elements);
  EXPECT_THAT(advised.advice.front().change, HasSubstr("in place of s[t * 8 + k]"));
}

/// The known cure of an array of structs, and that the sentence names all that it must.
TEST(Advice, StructsOfArraysCostWhatTheySay) {
  const Argument in = scratch(4 * 256 * 16), out = scratch(4 * 256 * 4);
  const Advised before = advise_on("patterns", "particles_aos", {4}, {256}, {out, in}),
                after = advise_on("patterns", "particles_soa", {4}, {256}, {out, in});
  const auto arrays = std::find_if(before.advice.begin(), before.advice.end(), [](const auto& a) {
    return std::holds_alternative<advise::StructOfArrays>(a.layout);
  });
  ASSERT_NE(arrays, before.advice.end());
  EXPECT_EQ(arrays, before.advice.begin()) << "fix can make it, but not the swizzle that brings as much";
  EXPECT_EQ(arrays->wavefronts_before, before.wavefronts);
  EXPECT_EQ(arrays->wavefronts_after, after.wavefronts);
  EXPECT_EQ(arrays->launch_wavefronts, before.wavefronts);
  EXPECT_EQ(arrays->shared_bytes_before, arrays->shared_bytes_after);
  EXPECT_EQ(arrays->occupancy_before.limiter, model::Limiter::threads);
  EXPECT_THAT(arrays->change, HasSubstr("struct of arrays of s, each field in an array of its own"));
  EXPECT_THAT(arrays->reason, HasSubstr("lanes are 16 bytes apart"));
}

TEST(Advice, PaddingAndSwizzleCostWhatTheySay) {
  const Advised before = transpose("transpose_tile32", {32, 8}, 32);
  ASSERT_EQ(before.advice.size(), 2u);
  EXPECT_EQ(before.advice[0].layout, advise::Layout(advise::RowPadding{1}));
  EXPECT_EQ(before.advice[0].wavefronts_before, before.wavefronts);
  EXPECT_EQ(before.advice[0].wavefronts_after, transpose("transpose_tile33", {32, 8}, 32).wavefronts);
  EXPECT_EQ(before.advice[0].shared_bytes_after, 4224u);
  EXPECT_EQ(before.advice[1].layout, advise::Layout(advise::Swizzle{4, {1, 2, 4, 8, 16}}));
  EXPECT_EQ(before.advice[1].wavefronts_after, transpose("transpose_swizzled", {32, 8}, 32).wavefronts);
  EXPECT_THAT(before.advice[1].change, HasSubstr("c ^ (r & 31)"));
  for (const advise::Advice& advice : before.advice) EXPECT_FALSE(advice.estimate);
}

TEST(Advice, SomeBlocksTellAsMuchAsAll) {
  const Advised some = transpose("transpose_tile16", {16, 16}, 16),
                all = transpose("transpose_tile16", {16, 16}, 16, 1024, profile::RecordBlocks::all);
  ASSERT_EQ(some.advice.size(), all.advice.size());
  ASSERT_FALSE(all.advice.empty());
  for (size_t i = 0; i < all.advice.size(); ++i) {
    EXPECT_EQ(some.advice[i].change, all.advice[i].change);
    EXPECT_EQ(some.advice[i].wavefronts_after, all.advice[i].wavefronts_after);
    EXPECT_FALSE(some.advice[i].estimate);
  }
}

/// Where lanes conflict within a row, no pitch helps, but pieces of the row that move against each other do.
TEST(Advice, MovesPiecesOfLongRows) {
  const std::string file = "tests/data/cures/by_hand/long_rows.ptx";
  const Argument buffer = scratch(8 * 128 * 4);
  const Advised before = advise_on_file(file, "long_rows", {1}, {256}, {buffer, buffer}),
                after = advise_on_file(file, "long_rows_cured", {1}, {256}, {buffer, buffer});
  ASSERT_EQ(before.advice.size(), 2u);
  EXPECT_EQ(before.advice[0].layout, advise::Layout(advise::RowPadding{4}));
  EXPECT_THAT(before.advice[0].change, HasSubstr("leave 4 words free after every 32 words of tile"));
  EXPECT_EQ(before.advice[0].wavefronts_after, after.wavefronts);
  EXPECT_THAT(before.advice[1].change, HasSubstr("columns of 16 bytes, rows of 128 bytes"));
  for (const advise::Advice& advice : before.advice) {
    EXPECT_THAT(advice.reason, HasSubstr("lanes are 32 bytes apart"));
    EXPECT_EQ(advice.no_patch, "the rows are not those of the declaration");
  }
  EXPECT_TRUE(after.advice.empty());
}

/// Bulk copies and wgmma lay an array out as well: no patch of the subscripts alone is right.
TEST(Advice, ArraysOfBulkCopiesTakeMoreThanSubscripts) {
  const Argument buffer = scratch(32 * 32 * 4);
  const Advised advised =
      advise_on_file("tests/data/cures/by_hand/bulk.ptx", "bulk_columns", {1}, {32}, {buffer, buffer});
  ASSERT_EQ(advised.advice.size(), 2u);
  for (const advise::Advice& advice : advised.advice) {
    EXPECT_EQ(advice.variable, "tile");
    EXPECT_THAT(advice.change, HasSubstr("bulk copies or wgmma go through it, too"));
    EXPECT_FALSE(advice.patch);
    EXPECT_THAT(advice.no_patch, HasSubstr("bulk copies or wgmma"));
  }
  EXPECT_EQ(advised.advice[0].layout, advise::Layout(advise::RowPadding{4}));
  EXPECT_EQ(advised.advice[1].layout, advise::Layout(advise::Swizzle{16, {1, 2, 4}}));
}

/// The reason is given where lanes go down columns; the halves of a warp in two rows of a tile with a halo do
/// not.
TEST(Advice, SaysOfColumnsOnlyWhereThereAreSome) {
  const Argument buffer = scratch(64 * 64 * 4);
  const Advised halo =
      advise_on_file("tests/data/cures/by_hand/halo.ptx", "halo", {1}, {16, 16}, {buffer, buffer});
  const auto transposed = [&](const Advised& advised) {
    for (const advise::Advice& advice : advised.advice)
      if (advice.layout == advise::Layout(advise::Transposed{})) return advice.change;
    return std::string();
  };
  EXPECT_THAT(transposed(halo), HasSubstr("write tile transposed: exchange its subscripts"));
  const Argument matrix = scratch(1 << 14);
  const Advised product = advise_on_file("tests/data/cures/product.ptx", "product", {2, 2}, {32, 32},
                                         {matrix, matrix, matrix, scalar(64)});
  EXPECT_THAT(transposed(product), HasSubstr("what is accessed down its columns lies in rows: exchange"));
}

TEST(Advice, SaysThatWmmaTakesThePitch) {
  const Argument b = scratch(1 << 17);
  const Advised advised = advise_on_file("tests/data/cures/fragments.ptx", "fragments", {2}, {128}, {b, b});
  ASSERT_EQ(advised.advice.size(), 1u);
  EXPECT_EQ(advised.advice[0].layout, advise::Layout(advise::RowPadding{4}));
  EXPECT_THAT(advised.advice[0].change, HasSubstr("__half as[side][side + 8]; give that pitch to wmma"));
  EXPECT_TRUE(advised.advice[0].patch);
}

/// What is merged into vectors now comes apart into pairs under two words of padding, and costs what it says.
TEST(Advice, CountsPairsWhereVectorsComeApart) {
  const std::string file = "tests/data/cures/by_hand/choices.ptx";
  const Argument buffer = scratch(1 << 13);
  const Advised before = advise_on_file(file, "product_tile", {1}, {256}, {buffer, buffer}),
                after = advise_on_file(file, "product_tile_cured", {1}, {256}, {buffer, buffer});
  ASSERT_FALSE(before.advice.empty());
  EXPECT_EQ(before.advice[0].layout, advise::Layout(advise::RowPadding{2}));
  EXPECT_EQ(before.advice[0].wavefronts_after, after.wavefronts);
}

/// Advice stands at the line that costs most, though one instruction of another one costs more than each of
/// its.
TEST(Advice, StandsAtTheWorstLine) {
  const Argument buffer = scratch(1 << 13);
  const Advised advised =
      advise_on_file("tests/data/cures/by_hand/choices.ptx", "unrolled", {1}, {32}, {buffer, buffer});
  ASSERT_FALSE(advised.advice.empty());
  EXPECT_EQ(advised.advice[0].line, 35u);
}

/// A padding that takes three of four blocks off a multiprocessor is not advised for a fourth of the
/// wavefronts, nor one that makes declared memory larger than it may be.
TEST(Advice, MemoryHasItsPrice) {
  const Argument buffer = scratch(1 << 17);
  for (const auto& [kernel, dynamic] :
       {std::pair("halo_declared", 0u), std::pair("halo_of_launch", 642u * 72)}) {
    const Advised advised = advise_on_file("tests/data/cures/by_hand/choices.ptx", kernel, {1}, {16, 16},
                                           {buffer, buffer}, profile::RecordBlocks::some, dynamic);
    for (const advise::Advice& advice : advised.advice) {
      EXPECT_EQ(advice.occupancy_after.blocks, 4) << advice.change;
      EXPECT_LE(advice.shared_bytes_after, 48u << 10) << advice.change;
    }
  }
}

/// Values from 0 to 2^24 - 1 with no order.
template <class T>
std::vector<T> random_values(size_t count) {
  std::vector<T> values(count);
  uint32_t state = 1;
  for (T& value : values) value = static_cast<T>((state = state * 1664525u + 1013904223u) >> 8);
  return values;
}

/// To other data of the same kind, what was fitted to random data is as good as no layout at all.
TEST(Advice, NoLayoutIsFittedToRandomData) {
  const std::string file = "tests/data/cures/by_hand/by_data.ptx";
  const Argument out = scratch(1 << 18);
  for (const uint32_t blocks : {1u, 2u, 16u}) {
    const Advised bins =
        advise_on_file(file, "histogram_of_bytes", {blocks}, {256},
                       {out, input(random_values<uint8_t>(size_t{blocks} * 4 * 256)), scalar(4)});
    EXPECT_TRUE(bins.advice.empty()) << blocks << ": " << bins.advice.front().change;
    const Advised values =
        advise_on_file(file, "look_up", {blocks}, {256},
                       {out, out, input(random_values<uint32_t>(size_t{blocks} * 4 * 256)), scalar(4)});
    EXPECT_TRUE(values.advice.empty()) << blocks << ": " << values.advice.front().change;
  }
}

/// Counters for each lane of a warp do not depend on data; they have to be worth what sets them up, and no
/// result may be needed.
TEST(Advice, CopiesOfCountersCostWhatTheySay) {
  const std::string file = "tests/data/cures/by_hand/counters.ptx";
  const Argument out = scratch(1 << 20);
  const auto run = [&](const std::string& kernel, int each) {
    return advise_on_file(file, kernel, {2}, {256},
                          {out, input(random_values<uint8_t>(size_t{2} * 256 * 256)), scalar(each)},
                          profile::RecordBlocks::all);
  };
  const Advised before = run("counters", 256), after = run("counters_of_lanes", 256);
  ASSERT_EQ(before.advice.size(), 1u);
  const advise::Advice& advice = before.advice.front();
  EXPECT_EQ(advice.kind, advise::Advice::Kind::copies);
  EXPECT_THAT(advice.change, HasSubstr("bins[i * 32 + lane % 32] in place of bins[i]"));
  EXPECT_THAT(advice.change, HasSubstr("no two lanes meet in a bank then, whatever the data"));
  EXPECT_EQ(advice.wavefronts_before, before.shared_wavefronts);
  EXPECT_EQ(advice.wavefronts_after, after.shared_wavefronts);
  EXPECT_EQ(advice.shared_bytes_after, 256u * 32 * 4);
  EXPECT_TRUE(after.advice.empty());

  EXPECT_TRUE(run("counters", 4).advice.empty());
  EXPECT_TRUE(run("places", 256).advice.empty());

  // 32 copies of both would be more than a block may have without asking.
  const Advised two = run("two_counters", 256);
  ASSERT_EQ(two.advice.size(), 2u);
  for (const advise::Advice& one : two.advice) {
    EXPECT_EQ(one.kind, advise::Advice::Kind::copies);
    EXPECT_THAT(one.change, HasSubstr("keep 16 copies of"));
  }
}

/// A padding that is computed from the index, for fewer banks than there are.
TEST(Advice, PaddingsForOtherBanksCostWhatTheySay) {
  const Argument buffer = scratch(512 * 4);
  const auto run = [&](const std::string& kernel) {
    return advise_on_file("tests/data/cures/by_hand/banks.ptx", kernel, {1}, {256}, {buffer, buffer},
                          profile::RecordBlocks::all);
  };
  const Advised before = run("sums_for_16_banks"), after = run("sums_for_32_banks");
  ASSERT_EQ(before.advice.size(), 1u);
  const advise::Advice& advice = before.advice.front();
  EXPECT_EQ(advice.kind, advise::Advice::Kind::index_padding);
  EXPECT_EQ(advice.change,
            "leave 1 element free after every 32 of tree, not after every 16: its index has a padding for 16 "
            "banks, and there are 32");
  EXPECT_EQ(advice.wavefronts_before, before.wavefronts);
  EXPECT_EQ(advice.wavefronts_after, after.wavefronts);
  EXPECT_FALSE(advice.estimate);
  EXPECT_EQ(advice.no_patch, "no division by 16 is found that computes it");
  EXPECT_TRUE(after.advice.empty());
}

/// Nor to numbers that a kernel makes up itself.
TEST(Advice, NoLayoutIsFittedToRandomNumbers) {
  const Argument out = scratch(1 << 18);
  const Advised advised =
      advise_on_file("tests/data/cures/by_hand/by_data.ptx", "random_walk", {1}, {256}, {out, scalar(8)});
  EXPECT_GT(advised.wavefronts, 3 * 64u);
  EXPECT_TRUE(advised.advice.empty()) << advised.advice.front().change;
}

/// What holds for data that it was not fitted to is advised, and said to be so.
TEST(Advice, DataWithAnOrderGetsALayout) {
  std::vector<uint32_t> table(4 * 256);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint32_t>(i * 32 + i / 32);
  const Argument out = scratch(1 << 18);
  const Advised advised = advise_on_file("tests/data/cures/by_hand/by_data.ptx", "look_up", {1}, {256},
                                         {out, out, input(table), scalar(4)});
  ASSERT_FALSE(advised.advice.empty());
  EXPECT_EQ(advised.advice.front().layout, advise::Layout(advise::RowPadding{1}));
  for (const advise::Advice& advice : advised.advice)
    EXPECT_THAT(advice.change, HasSubstr("with other data it may save less"));
}

/// Layouts are for accesses in an order of the kernel's own, where these conflict; of what is looked up
/// beside them only the cost counts.
TEST(Advice, DataHasNoSayWhereTheKernelItselfConflicts) {
  const std::string file = "tests/data/cures/by_hand/by_data.ptx";
  const Argument buffer = scratch(1 << 16);
  const Advised mixed = advise_on_file(file, "columns_and_look_up", {2}, {256},
                                       {buffer, buffer, input(random_values<uint32_t>(512))});
  std::vector<advise::Layout> layouts;
  for (const advise::Advice& advice : mixed.advice) {
    layouts.push_back(advice.layout);
    EXPECT_FALSE(advice.proven_best) << "another one may do more for this data";
    EXPECT_THAT(advice.reason, HasSubstr("rows are 128 bytes apart"));
  }
  EXPECT_THAT(layouts, ::testing::IsSupersetOf({advise::Layout(advise::RowPadding{1}),
                                                advise::Layout(advise::Swizzle{4, {1, 2, 4, 8, 16}})}));
  const Advised pitch =
      advise_on_file(file, "pitch_from_memory", {1}, {256}, {buffer, buffer, input(std::vector<int>{32})});
  ASSERT_FALSE(pitch.advice.empty());
  EXPECT_EQ(pitch.advice[0].layout, advise::Layout(advise::RowPadding{1}));
  EXPECT_THAT(pitch.advice[0].reason, HasSubstr("lanes are 128 bytes apart"));
}

/// Blocks at the edge do less than the others; what is not recorded must not be counted as if it were like
/// them.
TEST(Advice, SaysWhenBlocksDiffer) {
  const Argument matrix = scratch(uint64_t{1000} * 1000 * 4);
  const Advised edge = advise_on("transpose", "transpose_tile32", {32, 32}, {32, 8},
                                 {matrix, matrix, scalar(1000), scalar(1000)});
  ASSERT_FALSE(edge.advice.empty());
  EXPECT_TRUE(edge.advice.front().estimate);
}

/// Twenty kernels of kernels/ and more that do nothing too much.
TEST(Advice, NoneOnCleanKernels) {
  for (const char* kernel :
       {"copy", "copy_shared", "transpose_naive", "transpose_tile33", "transpose_swizzled"})
    EXPECT_TRUE(transpose(kernel, {32, 8}, 32).advice.empty()) << kernel;
  for (const char* kernel : {"copy_16", "copy_shared_16", "transpose_naive_16", "transpose_swizzled_16"})
    EXPECT_TRUE(transpose(kernel, {16, 16}, 16).advice.empty()) << kernel;
  for (const char* kernel : {"reduce_divergent", "reduce_shuffle"})
    EXPECT_TRUE(reduction(kernel).advice.empty()) << kernel;
  const Argument buffer = scratch(4 * 1024 * 16);
  for (const char* kernel :
       {"broadcast", "elements_char", "elements_short", "elements_int", "elements_float", "elements_double",
        "struct_3", "vector_2", "vector_4", "two_blocked", "particles_soa"}) {
    std::vector<Argument> arguments{buffer, buffer};
    if (std::string(kernel) == "broadcast") arguments.push_back(scalar(5u));
    EXPECT_TRUE(advise_on("patterns", kernel, {4}, {256}, arguments).advice.empty()) << kernel;
  }
  for (const char* kernel : {"transpose_padded", "transpose_padded_by_hand", "transpose_swizzled_tile",
                             "transpose_swizzled_by_hand"})
    EXPECT_TRUE(advise_on("tiles", kernel, {4, 4}, {32, 8}, {buffer, buffer, scalar(128), scalar(128)})
                    .advice.empty())
        << kernel;
  EXPECT_TRUE(advise_on("tiles", "records", {4}, {256}, {buffer, buffer}).advice.empty());
}

/// What `lanescope fix` makes of kernels with known cures leaves nothing to advise.
TEST(Advice, NoneOnCuredKernels) {
  for (const auto& [kernel, grid, block, arguments] : cured_kernels())
    EXPECT_TRUE(advise_on_file("tests/data/cures/" + kernel + ".cured.ptx", kernel, grid, block, arguments)
                    .advice.empty())
        << kernel;
}

}  // namespace
}  // namespace lanescope::kernels
