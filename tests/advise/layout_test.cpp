// What-if layouts: against a naive reading of each layout, on textbook tiles whose answers are known, and
// against exhaustive trials.
#include "advise/layout.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "lanescope/model/archs.hpp"
#include "lanescope/model/shared.hpp"
#include "lanescope/tile.cuh"

namespace lanescope::advise {
namespace {

const model::Arch& sm_90() { return *model::find_arch("sm_90"); }

/// A warp of a block of `bx` threads a row: lane → byte offset.
Pattern pattern(const std::function<uint32_t(uint32_t)>& place, uint8_t width = 4,
                model::Op op = model::Op::load) {
  Pattern p;
  p.op = op;
  p.width = width;
  p.mask = 0xffffffffu;
  for (uint32_t lane = 0; lane < 32; ++lane) p.offset[lane] = place(lane);
  return p;
}

/// The accesses of a transpose through tile[32][32] of `element` bytes: rows stored, columns loaded.
std::vector<Pattern> transpose_accesses(uint32_t element) {
  std::vector<Pattern> all;
  for (uint32_t i = 0; i < 32; ++i) {
    all.push_back(pattern([&](uint32_t lane) { return (i * 32 + lane) * element; },
                          static_cast<uint8_t>(element), model::Op::store));
    all.push_back(
        pattern([&](uint32_t lane) { return (lane * 32 + i) * element; }, static_cast<uint8_t>(element)));
  }
  return all;
}

uint64_t naive(const model::Arch& arch, const Shape& shape, const std::vector<Pattern>& patterns,
               const std::function<uint32_t(uint32_t)>& moved) {
  uint64_t wavefronts = 0;
  for (const Pattern& p : patterns) {
    model::Request request;
    request.op = p.op;
    request.width = p.width;
    request.mask = p.mask;
    for (int lane = 0; lane < 32; ++lane)
      request.address[lane] = uint64_t{shape.begin} + moved(p.offset[static_cast<size_t>(lane)]);
    wavefronts += static_cast<uint64_t>(model::shared_cost(arch, request).wavefronts) * p.count;
  }
  return wavefronts;
}

std::vector<Pattern> random_accesses(std::mt19937& random, uint32_t bytes, uint8_t width) {
  std::vector<Pattern> all;
  for (int i = 0; i < 20; ++i) {
    Pattern p = pattern([&](uint32_t) { return static_cast<uint32_t>(random() % (bytes / width)) * width; },
                        width, i % 3 == 0 ? model::Op::store : model::Op::load);
    p.mask = static_cast<uint32_t>(random()) | 1u;
    p.count = random() % 5 + 1;
    all.push_back(p);
  }
  return all;
}

/// A vector of four that is no longer aligned to itself falls into pairs where these are aligned.
TEST(WhatIf, MergedAccessesComeApartIntoTheWidestPiecesLeft) {
  const Shape shape{.bytes = 64 * 256, .row_bytes = 256, .element_bytes = 4};
  Pattern rows = pattern([](uint32_t lane) { return 256 + lane / 16 * 16; }, 16);  // of two threads: one row
  rows.part = 4;
  EXPECT_EQ(what_if(sm_90(), shape, std::vector{rows}, {})->wavefronts, 2u);
  const auto cost = [&](uint32_t words) {
    return what_if(sm_90(), shape, std::vector{rows}, RowPadding{words})->wavefronts;
  };
  EXPECT_EQ(cost(4), 2u);
  EXPECT_EQ(cost(2), 2u) << "two of 8 bytes";
  EXPECT_EQ(cost(1), 4u) << "four of 4 bytes";
}

TEST(WhatIf, IsTheModelOnTheMovedAddresses) {
  std::mt19937 random(7);
  for (const char* name : {"sm_90", "sm_35", "sm_13"}) {
    const model::Arch& arch = *model::find_arch(name);
    const Shape shape{.begin = 256, .bytes = 48 * 96, .row_bytes = 96, .element_bytes = 12};
    const auto accesses = random_accesses(random, shape.bytes, 4);
    const auto check = [&](const Layout& layout, const std::function<uint32_t(uint32_t)>& moved) {
      const auto outcome = what_if(arch, shape, accesses, layout);
      ASSERT_TRUE(outcome) << describe(layout);
      EXPECT_EQ(outcome->wavefronts, naive(arch, shape, accesses, moved)) << describe(layout) << ' ' << name;
    };
    check({}, [](uint32_t o) { return o; });
    check(RowPadding{3}, [](uint32_t o) { return o / 96 * 108 + o % 96; });
    check(StructOfArrays{4}, [](uint32_t o) { return (o % 12 / 4 * 384 + o / 12) * 4; });
    check(ElementPadding{4}, [](uint32_t o) { return o / 12 * 16 + o % 12; });
    check(Transposed{}, [](uint32_t o) { return (o % 96 / 12 * 48 + o / 96) * 12 + o % 12; });
    check(Swizzle{4, {1, 2, 4, 7, 3, 5}}, [](uint32_t o) {
      const uint32_t row = o / 96;
      uint32_t flip = 0;
      const uint32_t flips[] = {1, 2, 4, 7, 3, 5};
      for (uint32_t i = 0; i < 6; ++i) flip ^= (row >> i & 1) * flips[i];
      return row * 96 + ((o % 96 / 4) ^ flip) * 4;
    });
  }
}

TEST(WhatIf, MovesBytesOfWordsToo) {
  std::mt19937 random(8);
  const Shape shape{.bytes = 64 * 33, .row_bytes = 33, .element_bytes = 1};
  const auto accesses = random_accesses(random, shape.bytes, 1);
  const auto outcome = what_if(sm_90(), shape, accesses, RowPadding{1});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->wavefronts,
            naive(sm_90(), shape, accesses, [](uint32_t o) { return o / 33 * 37 + o % 33; }));
  const auto by_a_byte = what_if(sm_90(), shape, accesses, RowPadding{0, 1});
  ASSERT_TRUE(by_a_byte);
  EXPECT_EQ(by_a_byte->wavefronts,
            naive(sm_90(), shape, accesses, [](uint32_t o) { return o / 33 * 34 + o % 33; }));
  EXPECT_EQ(by_a_byte->bytes, 64u * 34);
  EXPECT_EQ(describe(RowPadding{0, 1}), "each row padded by 1 byte");
}

TEST(WhatIf, SplitsDoublesIntoLowAndHighWords) {
  const Shape shape{.bytes = 32 * 8, .element_bytes = 8};
  const std::vector<Pattern> accesses{pattern([](uint32_t lane) { return lane * 8; }, 8)};
  const auto outcome = what_if(sm_90(), shape, accesses, StructOfArrays{4});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->wavefronts, 2u);
}

/// struct { double v; int i; }: an access to all of it becomes one to each field, and none to what lies
/// between elements. A field alone is a field alone.
TEST(WhatIf, GivesFieldsOfSeveralSizesArraysOfTheirOwn) {
  const Shape shape{.bytes = 32 * 16, .element_bytes = 16};
  const StructOfArrays fields{0, {{0, 8, 8}, {8, 4, 4}}};
  const auto cost = [&](uint32_t first, uint8_t width) {
    const std::vector<Pattern> accesses{pattern([&](uint32_t lane) { return lane * 16 + first; }, width)};
    return what_if(sm_90(), shape, accesses, fields);
  };
  ASSERT_TRUE(cost(0, 16));
  EXPECT_EQ(cost(0, 16)->wavefronts, 3u);
  EXPECT_EQ(cost(0, 16)->bytes, 32u * 12);
  EXPECT_EQ(cost(0, 8)->wavefronts, 2u);
  EXPECT_EQ(cost(8, 4)->wavefronts, 1u);
  EXPECT_EQ(cost(8, 8)->wavefronts, 1u);
  // Lanes that are at several fields at once are no access to a field.
  const std::vector<Pattern> words{pattern([](uint32_t lane) { return lane * 4; }, 4)};
  EXPECT_FALSE(what_if(sm_90(), shape, words, fields));
}

/// The arrays lie as the members of a struct do.
TEST(WhatIf, AlignsTheArraysOfFields) {
  const Shape shape{.bytes = 5 * 24, .element_bytes = 24};
  const StructOfArrays fields{0, {{0, 1, 1}, {2, 2, 2}, {8, 8, 8}, {16, 4, 4}}};
  const std::vector<Pattern> doubles{pattern([](uint32_t lane) { return lane % 5 * 24 + 8; }, 8)};
  const auto outcome = what_if(sm_90(), shape, doubles, fields);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->bytes, 80u) << "5 bytes, 10 from 6 on, 40 from 16 on, 20 from 56 on, and all by doubles";
  EXPECT_EQ(moved(shape, doubles.front(), fields).value().at(1), 24u);
}

TEST(WhatIf, RefusesWhatTearsAVectorApartOrMisalignsIt) {
  const Shape shape{.bytes = 32 * 128, .row_bytes = 128, .element_bytes = 4};
  const std::vector<Pattern> vectors{
      pattern([](uint32_t lane) { return lane / 8 * 128 + lane % 8 * 16; }, 16)};
  EXPECT_FALSE(what_if(sm_90(), shape, vectors, RowPadding{1}));
  EXPECT_TRUE(what_if(sm_90(), shape, vectors, RowPadding{4}));
  EXPECT_FALSE(what_if(sm_90(), shape, vectors, Swizzle{4, {1}}));
  EXPECT_TRUE(what_if(sm_90(), shape, vectors, Swizzle{16, {1, 2, 4}}));
  const Shape shifted{.begin = 4, .bytes = 32 * 128, .row_bytes = 128, .element_bytes = 4};
  EXPECT_FALSE(what_if(sm_90(), shifted, vectors, RowPadding{4}));
}

/// Two loads of 4 bytes that the assembler made one of: they come apart where it could no longer do that.
TEST(WhatIf, TakesApartWhatTheAssemblerMerged) {
  Pattern merged = pattern([](uint32_t lane) { return lane * 8; }, 8);
  merged.part = 4;
  const std::vector<Pattern> one{merged};
  Shape shape{.bytes = 1024, .row_bytes = 128, .element_bytes = 4};
  const auto wavefronts = [&](const Layout& layout) {
    const auto outcome = what_if(sm_90(), shape, one, layout);
    return outcome ? outcome->wavefronts : 0;
  };
  EXPECT_EQ(wavefronts({}), 2u);
  EXPECT_EQ(wavefronts(RowPadding{2}), 2u) << "still aligned";
  EXPECT_EQ(wavefronts(RowPadding{1}), 2u) << "two loads of a word each, at stride 2, rows in other banks";
  EXPECT_EQ(wavefronts(Swizzle{8, {}}), 4u) << "nobody sees that they are neighbours";
  shape.has_rows = false;
  EXPECT_EQ(wavefronts(RowPadding{2}), 4u) << "the same";
  merged.part = 0;
  EXPECT_FALSE(what_if(sm_90(), {.bytes = 1024, .row_bytes = 128}, std::vector{merged}, RowPadding{1}))
      << "a vector stays one";
}

/// Fields of one struct stay neighbours wherever the struct goes.
TEST(WhatIf, LeavesTogetherWhatLiesInOneElement) {
  Pattern fields = pattern([](uint32_t lane) { return lane * 256; }, 8);
  fields.part = 4;
  Shape shape{.bytes = 32 * 256, .row_bytes = 128, .element_bytes = 8, .has_rows = false};
  const auto wavefronts = [&](const Layout& layout) {
    return what_if(sm_90(), shape, std::vector{fields}, layout)->wavefronts;
  };
  EXPECT_EQ(wavefronts({}), 32u);
  EXPECT_EQ(wavefronts(RowPadding{2}), 4u) << "pairs two pairs of banks apart";
  EXPECT_EQ(wavefronts(Swizzle{8, {0, 1, 2, 4, 8}}), 2u);
  const std::vector<Candidate> found = search(sm_90(), shape, std::vector{fields});
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found.front().outcome.conflict_free());
  for (Pattern& p : std::span(&fields, 1)) p.offset[0] = 4;  // the end of one and the begin of the next
  EXPECT_EQ(wavefronts(Swizzle{8, {0, 1, 2, 4, 8}}), 4u);
}

TEST(WhatIf, EachPatternOnItsOwn) {
  const Shape shape{.bytes = 4096, .row_bytes = 128, .element_bytes = 4};
  const auto accesses = transpose_accesses(4);
  const auto each = what_if_each(sm_90(), shape, accesses, {});
  ASSERT_TRUE(each);
  uint64_t sum = 0;
  for (const Outcome& outcome : *each) sum += outcome.wavefronts;
  EXPECT_EQ(sum, what_if(sm_90(), shape, accesses, {})->wavefronts);
  EXPECT_FALSE(what_if_each(sm_90(), {.bytes = 4096}, accesses, RowPadding{1}));
}

/// The map of `Tile` is the one that tile_swizzle gives.
template <class Tile>
void expect_tile_swizzle() {
  constexpr auto element = static_cast<uint32_t>(sizeof(typename Tile::value_type));
  const Shape shape{.bytes = Tile::rows * Tile::columns * element,
                    .row_bytes = Tile::columns * element,
                    .element_bytes = element};
  const auto swizzle = tile_swizzle(shape, Tile::unit_bytes);
  ASSERT_TRUE(swizzle);
  for (int row = 0; row < Tile::rows; ++row) {
    uint32_t flip = 0;
    for (size_t bit = 0; bit < swizzle->flips.size(); ++bit)
      if ((row >> bit & 1) != 0) flip ^= swizzle->flips[bit];
    EXPECT_EQ(flip * swizzle->granule, static_cast<uint32_t>(Tile::flip(row)) * element)
        << Tile::rows << 'x' << Tile::columns << " units of " << Tile::unit_bytes << ", row " << row;
  }
}

TEST(WhatIf, KnowsTheSwizzlesOfTiles) {
  expect_tile_swizzle<SwizzledTile<float, 32, 32>>();
  expect_tile_swizzle<SwizzledTile<float, 16, 16>>();
  expect_tile_swizzle<SwizzledTile<float, 8, 64>>();
  expect_tile_swizzle<SwizzledTile<float, 64, 8>>();
  expect_tile_swizzle<SwizzledTile<double, 32, 32>>();
  expect_tile_swizzle<SwizzledTile<float, 32, 32, 4>>();
  expect_tile_swizzle<SwizzledTile<uint16_t, 64, 64, 8>>();
  expect_tile_swizzle<SwizzledTile<uint16_t, 16, 32>>();
  EXPECT_FALSE(tile_swizzle({.bytes = 4224, .row_bytes = 132, .element_bytes = 4}, 4)) << "33 columns";
}

TEST(WhatIf, RefusesLayoutsThatDoNotFitTheArray) {
  const std::vector<Pattern> one{pattern([](uint32_t lane) { return lane * 4; })};
  EXPECT_FALSE(what_if(sm_90(), {.bytes = 128}, one, RowPadding{1})) << "no rows";
  EXPECT_FALSE(what_if(sm_90(), {.bytes = 128}, one, StructOfArrays{4})) << "no structs";
  EXPECT_FALSE(what_if(sm_90(), {.bytes = 128, .row_bytes = 32}, one, PlanePadding{1})) << "no planes";
  EXPECT_FALSE(what_if(sm_90(), {.bytes = 1200, .row_bytes = 120}, one, Swizzle{4, {4}})) << "30 columns";
  EXPECT_FALSE(what_if(sm_90(), {.bytes = 64, .row_bytes = 32}, one, std::monostate{})) << "outside";
}

const Candidate* of(const std::vector<Candidate>& all, size_t kind) {
  for (const Candidate& c : all)
    if (c.layout.index() == kind) return &c;
  return nullptr;
}
constexpr size_t padding = 1, plane_padding = 2, swizzle = 3, arrays = 4, element_padding = 5;

/// Bulk copies move pieces of 16 bytes; wmma goes by a pitch that is a multiple of as many.
TEST(Search, KeepsWhatTheHardwareGoesThrough) {
  Shape shape{.bytes = 4096, .row_bytes = 128};
  shape.unit = 16;
  const auto layouts = [&] {
    std::vector<Layout> all;
    for (const Candidate& candidate : search(sm_90(), shape, transpose_accesses(4)))
      all.push_back(candidate.layout);
    return all;
  };
  EXPECT_EQ(layouts(), (std::vector<Layout>{RowPadding{4}, Swizzle{16, {1, 2, 4}}}));
  shape.keeps_rows = true;
  EXPECT_EQ(layouts(), (std::vector<Layout>{RowPadding{4}}));
}

TEST(Search, PadsOrSwizzlesTheTransposeTile) {
  const Shape shape{.bytes = 4096, .row_bytes = 128, .element_bytes = 4};
  const auto found = search(sm_90(), shape, transpose_accesses(4));
  ASSERT_TRUE(of(found, padding));
  EXPECT_EQ(std::get<RowPadding>(of(found, padding)->layout).words, 1u);
  EXPECT_TRUE(of(found, padding)->outcome.conflict_free());
  EXPECT_EQ(of(found, padding)->outcome.bytes, 4224u);
  ASSERT_TRUE(of(found, swizzle));
  EXPECT_TRUE(of(found, swizzle)->outcome.conflict_free());
  EXPECT_TRUE(of(found, swizzle)->proven_best);
  EXPECT_EQ(of(found, swizzle)->outcome.bytes, 4096u);
  EXPECT_EQ(found.front().layout.index(), padding) << "the smaller change comes first";
}

/// Of t[16][17], rows and columns, of which a warp covers two: no padding cures both, and there is one.
TEST(Search, TakesPaddingAwayThatASwizzleDoesWithout) {
  const Shape shape{.bytes = 1088, .row_bytes = 68, .element_bytes = 4};
  std::vector<Pattern> accesses;
  for (uint32_t warp = 0; warp < 8; ++warp)
    for (const bool column : {false, true})
      accesses.push_back(pattern([&](uint32_t lane) {
        const uint32_t x = lane % 16, y = 2 * warp + lane / 16;
        return column ? x * 68 + y * 4 : y * 68 + x * 4;
      }));
  const auto found = search(sm_90(), shape, accesses);
  ASSERT_TRUE(of(found, swizzle));
  EXPECT_EQ(found.front().layout, Layout(Swizzle{4, {0, 2, 4, 8}, 4}));
  EXPECT_EQ(found.front().outcome, (Outcome{.wavefronts = 16, .ideal = 16, .max_way = 1, .bytes = 1024}));
  EXPECT_EQ(describe(found.front().layout),
            "column c of row r at c ^ ((r >> 1 & 7) << 1), columns of 4 bytes, unpadded");
  EXPECT_EQ(tile_swizzle(shape, 4, 4), std::get<Swizzle>(found.front().layout));
  // What something accesses is no padding.
  accesses.push_back(pattern([](uint32_t lane) { return 64 + lane % 16 * 68; }));
  EXPECT_FALSE(of(search(sm_90(), shape, accesses), swizzle));
  EXPECT_FALSE(what_if(sm_90(), shape, accesses, Swizzle{4, {}, 4}));
}

TEST(Search, PadsATileOfDoublesByTwoWords) {
  const Shape shape{.bytes = 8192, .row_bytes = 256, .element_bytes = 8};
  const auto found = search(sm_90(), shape, transpose_accesses(8));
  ASSERT_TRUE(of(found, padding));
  EXPECT_EQ(std::get<RowPadding>(of(found, padding)->layout).words, 2u) << "one word would misalign them";
  EXPECT_TRUE(of(found, padding)->outcome.conflict_free());
}

/// Of t[16][4][16], stored as it lies and loaded with planes along the lanes. Longer rows spoil the stores.
/// short tile[64][65]: with one more each row has whole words, and an odd number of them.
TEST(Search, PadsRowsOfSmallElementsToWholeWords) {
  const Shape shape{.bytes = 64 * 130, .row_bytes = 130, .element_bytes = 2};
  const std::vector<Pattern> columns{pattern([](uint32_t lane) { return lane * 130; }, 2),
                                     pattern([](uint32_t lane) { return lane * 130 + 2; }, 2)};
  const auto found = search(sm_90(), shape, columns);
  ASSERT_TRUE(of(found, padding));
  EXPECT_EQ(of(found, padding)->layout, Layout(RowPadding{0, 2}));
  EXPECT_TRUE(of(found, padding)->outcome.conflict_free());
}

TEST(Search, PadsPlanes) {
  const Shape shape{.bytes = 4096, .row_bytes = 64, .plane_bytes = 256, .element_bytes = 4};
  std::vector<Pattern> accesses;
  for (uint32_t i = 0; i < 32; ++i) {
    accesses.push_back(pattern([&](uint32_t lane) { return (i * 32 + lane) * 4; }, 4, model::Op::store));
    accesses.push_back(
        pattern([&](uint32_t lane) { return lane % 16 * 256 + (i % 2 * 2 + lane / 16) * 64 + i / 2 * 4; }));
  }
  const auto found = search(sm_90(), shape, accesses);
  ASSERT_TRUE(of(found, padding));
  EXPECT_EQ(of(found, padding)->outcome.wavefronts, 128u);
  ASSERT_TRUE(of(found, plane_padding));
  EXPECT_EQ(of(found, plane_padding)->layout, Layout(PlanePadding{1}));
  EXPECT_EQ(of(found, plane_padding)->outcome.wavefronts, 64u);
  EXPECT_EQ(of(found, plane_padding)->outcome.bytes, 4096u + 16 * 4);
  EXPECT_EQ(of(found, plane_padding)->outcome.wavefronts,
            naive(sm_90(), shape, accesses, [](uint32_t o) { return o / 256 * 260 + o % 256; }));
}

/// A program can pad by whole elements only; bytes and halves by as many as make a word.
TEST(Search, PadsRowsByWholeElements) {
  for (const auto& [element, words] : {std::pair(1u, 1u), std::pair(2u, 1u), std::pair(12u, 3u)}) {
    const Shape shape{.bytes = 1024 * element, .row_bytes = 32 * element, .element_bytes = element};
    std::vector<Pattern> accesses = transpose_accesses(element);
    for (Pattern& p : accesses) p.width = static_cast<uint8_t>(std::min(4u, element));
    const auto found = search(sm_90(), shape, accesses);
    ASSERT_TRUE(of(found, padding)) << element;
    EXPECT_EQ(std::get<RowPadding>(of(found, padding)->layout).words, words);
    EXPECT_TRUE(of(found, padding)->outcome.conflict_free()) << element;
  }
}

/// Half warps in two rows of a tile with a halo: the second has to begin 16 banks further on.
TEST(Search, PadsRowsUpToTheBanks) {
  const Shape shape{.bytes = 20 * 80, .row_bytes = 80, .element_bytes = 4};
  const std::vector rows{pattern([](uint32_t lane) { return lane / 16 * 80 + lane % 16 * 4; })};
  const auto found = search(sm_90(), shape, rows);
  ASSERT_TRUE(of(found, padding));
  EXPECT_EQ(std::get<RowPadding>(of(found, padding)->layout).words, 28u);
  EXPECT_TRUE(of(found, padding)->outcome.conflict_free());
}

/// All strides up to 32: 11 words after every 32 leave one wavefront of 112 less than 3 words do.
TEST(Search, MuchPaddingHasToBringMuch) {
  const Shape shape{.bytes = 1200 * 4, .row_bytes = 128, .element_bytes = 4, .has_rows = false};
  std::vector<Pattern> strides;
  for (uint32_t s = 1; s <= 32; ++s)
    strides.push_back(pattern([&](uint32_t lane) { return (3 + s * lane) * 4; }));
  const auto padded_at = [&](const Price& price) {
    return of(search(sm_90(), shape, strides, price), padding)->layout;
  };
  EXPECT_EQ(of(search(sm_90(), shape, strides), padding)->layout, Layout(RowPadding{3}));
  EXPECT_FALSE(of(search(sm_90(), shape, strides), padding)->proven_best);
  EXPECT_EQ(padded_at([](uint32_t) { return 0.0; }), Layout(RowPadding{11}));
  constexpr double no_room = std::numeric_limits<double>::infinity();
  EXPECT_EQ(padded_at([&](uint32_t bytes) { return bytes > shape.bytes + 38 * 4 ? no_room : 0; }),
            Layout(RowPadding{1}));
}

/// Fields become arrays of their own where pairs of them cost as much; doubles stay whole. No swizzle goes
/// between the fields of a struct.
TEST(Search, FieldsOfStructsAreWhatTheyAre) {
  const Shape shape{.bytes = 128 * 32, .row_bytes = 128, .element_bytes = 32, .has_rows = false};
  std::vector<Pattern> copies;
  for (uint32_t half = 0; half < 2; ++half) {
    copies.push_back(pattern([&](uint32_t lane) { return lane * 32 + half * 16; }, 16));
    copies.back().part = 4;
  }
  const auto found = search(sm_90(), shape, copies);
  ASSERT_TRUE(of(found, arrays));
  EXPECT_EQ(of(found, arrays)->layout, Layout(StructOfArrays{4}));
  EXPECT_EQ(of(found, swizzle), nullptr);
  for (Pattern& p : copies) p.part = 8;
  EXPECT_EQ(of(search(sm_90(), shape, copies), arrays)->layout, Layout(StructOfArrays{8}));
}

TEST(Search, PrefersFieldsThatStayWhole) {
  Shape shape{.bytes = 128 * 32, .element_bytes = 32};
  const std::vector<Field> whole{{0, 16, 16}, {16, 4, 4}},
      apart{{0, 4, 4}, {4, 4, 4}, {8, 4, 4}, {12, 4, 4}, {16, 4, 4}};
  shape.splits = {whole, apart};
  const std::vector<Pattern> vectors{pattern([](uint32_t lane) { return lane * 32; }, 16),
                                     pattern([](uint32_t lane) { return lane * 32 + 16; }, 4)};
  EXPECT_EQ(of(search(sm_90(), shape, vectors), arrays)->layout, Layout(StructOfArrays{0, whole}));
  const std::vector<Pattern> words{pattern([](uint32_t lane) { return lane * 32 + 4; }, 4)};
  EXPECT_EQ(of(search(sm_90(), shape, words), arrays)->layout, Layout(StructOfArrays{0, apart}));
}

TEST(Search, FindsNothingWhereNothingConflicts) {
  const Shape shape{.bytes = 4096, .row_bytes = 128, .element_bytes = 4};
  std::vector<Pattern> rows;
  for (uint32_t i = 0; i < 32; ++i)
    rows.push_back(pattern([&](uint32_t lane) { return (i * 32 + lane) * 4; }));
  EXPECT_TRUE(search(sm_90(), shape, rows).empty());
  const Shape three_floats{.bytes = 32 * 12, .row_bytes = 0, .element_bytes = 12};
  EXPECT_TRUE(
      search(sm_90(), three_floats, std::vector{pattern([](uint32_t lane) { return lane * 12; })}).empty());
}

TEST(Search, TakesStructsOfFourFloatsApartOrPadsThem) {
  const Shape shape{.bytes = 256 * 16, .row_bytes = 0, .element_bytes = 16};
  std::vector<Pattern> fields;
  for (uint32_t f = 0; f < 4; ++f)
    fields.push_back(pattern([&](uint32_t lane) { return lane * 16 + f * 4; }));
  const auto found = search(sm_90(), shape, fields);
  ASSERT_TRUE(of(found, arrays));
  EXPECT_TRUE(of(found, arrays)->outcome.conflict_free());
  ASSERT_TRUE(of(found, element_padding));
  EXPECT_EQ(std::get<ElementPadding>(of(found, element_padding)->layout).bytes, 4u);
  EXPECT_TRUE(of(found, element_padding)->outcome.conflict_free());
}

/// A swizzle that the search calls the best is the best of all maps.
TEST(Search, ProvenSwizzlesAreTheBestOfAll) {
  std::mt19937 random(9);
  const Shape shape{.bytes = 8 * 128, .row_bytes = 128, .element_bytes = 16};
  int proven = 0;
  for (int round = 0; round < 20; ++round) {
    const auto accesses = random_accesses(random, shape.bytes, 16);
    const auto found = search(sm_90(), shape, accesses);
    uint64_t least = ~uint64_t{0};
    for (uint32_t code = 0; code < 512; ++code) {
      const auto outcome =
          what_if(sm_90(), shape, accesses, Swizzle{16, {code & 7, code >> 3 & 7, code >> 6 & 7}});
      ASSERT_TRUE(outcome);
      least = std::min(least, outcome->wavefronts);
    }
    const Candidate* best = of(found, swizzle);
    if (best == nullptr) {
      EXPECT_EQ(least, what_if(sm_90(), shape, accesses, {})->wavefronts);
      continue;
    }
    EXPECT_GE(best->outcome.wavefronts, least);
    if (best->proven_best) {
      EXPECT_EQ(best->outcome.wavefronts, least);
      ++proven;
    }
  }
  EXPECT_GT(proven, 0);
}

/// What is known of an access under one map is used for others like it: that must hold on every kind of
/// banks, wherever the array begins.
TEST(Search, TriesAllSwizzlesOnEveryKindOfBanks) {
  std::mt19937 random(5);
  int improved = 0;
  for (const char* name : {"sm_90", "sm_30", "sm_21", "sm_12", "gfx942"})
    for (const uint32_t begin : {0u, 16u, 64u}) {
      const model::Arch& arch = *model::find_arch(name);
      const Shape shape{.begin = begin, .bytes = 8 * 64, .row_bytes = 64, .element_bytes = 8};
      auto accesses = random_accesses(random, 3 * shape.row_bytes, 8);
      for (size_t i = 1; i < accesses.size(); ++i) {  // some as others, but rows further on
        if (i % 2 != 0) accesses[i].offset = accesses[i - 1].offset, accesses[i].mask = accesses[i - 1].mask;
        for (uint32_t& offset : accesses[i].offset) offset += static_cast<uint32_t>(i % 3) * shape.row_bytes;
      }
      uint64_t least = what_if(arch, shape, accesses, {})->wavefronts;
      for (uint32_t code = 0; code < 512; ++code)
        least = std::min(
            least,
            what_if(arch, shape, accesses, Swizzle{8, {code & 7, code >> 3 & 7, code >> 6 & 7}})->wavefronts);
      const auto found = search(arch, shape, accesses);
      const Candidate* best = of(found, swizzle);
      const uint64_t now = what_if(arch, shape, accesses, {})->wavefronts;
      EXPECT_EQ(best == nullptr ? now : best->outcome.wavefronts, least) << name << ", begin " << begin;
      improved += best != nullptr;
    }
  EXPECT_GT(improved, 8);
}

/// Pairs that stand 1, 2, 4, … apart, as in a bitonic sort: no padding frees them all, one flip does.
TEST(Search, TurnsOddRowsAroundForPairs) {
  const Shape shape{.bytes = 1024, .row_bytes = 128, .element_bytes = 4, .has_rows = false};
  std::vector<Pattern> pairs;
  for (uint32_t step = 1; step < 256; step *= 2)
    for (const uint32_t other : {0u, step})
      for (uint32_t warp = 0; warp < 4; ++warp)
        pairs.push_back(pattern([&](uint32_t lane) {
          const uint32_t t = warp * 32 + lane;
          return (2 * t - (t & (step - 1)) + other) * 4;
        }));
  const auto found = search(sm_90(), shape, pairs);
  ASSERT_TRUE(of(found, swizzle));
  EXPECT_TRUE(of(found, swizzle)->outcome.conflict_free());
  EXPECT_EQ(std::get<Swizzle>(of(found, swizzle)->layout), (Swizzle{4, {31}}))
      << "without flips that bring nothing";
  EXPECT_FALSE(of(found, padding) != nullptr && of(found, padding)->outcome.conflict_free());
}

TEST(Search, FindsALinearMapWhereNoShiftWill) {
  // Rows r and r + 4 are read together, pairs of rows at other times: the flips of row bits 0, 1 and 2 must
  // be independent.
  const Shape shape{.bytes = 8 * 128, .row_bytes = 128, .element_bytes = 16};
  std::vector<Pattern> all;
  for (uint32_t column = 0; column < 8; ++column)
    all.push_back(pattern([&](uint32_t lane) { return lane % 8 * 128 + column * 16; }, 16));
  const auto found = search(sm_90(), shape, all);
  ASSERT_TRUE(of(found, swizzle));
  EXPECT_TRUE(of(found, swizzle)->outcome.conflict_free());
}

TEST(RowPitch, ComesFromTheDistanceOfLanes) {
  EXPECT_EQ(row_pitch_of(transpose_accesses(4)), 128u);
  EXPECT_EQ(row_pitch_of(std::vector{pattern([](uint32_t lane) { return lane * 4; })}), 0u);
  EXPECT_EQ(row_pitch_of(std::vector{pattern([](uint32_t lane) { return lane / 16 * 80 + lane % 16 * 4; })}),
            80u);
}

TEST(Moved, SaysWhereAnAccessGoes) {
  const Shape tile{256, 32 * 32 * 4, 32 * 4, 4};
  Pattern column;
  column.mask = 0xffffffffu;
  for (uint32_t lane = 0; lane < 32; ++lane) column.offset[lane] = lane * 32 * 4;
  const auto padded = moved(tile, column, RowPadding{1});
  ASSERT_TRUE(padded);
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ((*padded)[lane], lane * 33 * 4);
  Pattern wide = column;
  wide.width = 16;
  EXPECT_TRUE(moved(tile, wide, RowPadding{4}));
  EXPECT_FALSE(moved(tile, wide, Swizzle{4, {1}})) << "the swizzle tears it apart";
  Pattern before = column;
  before.width = 16;
  before.offset[0] = static_cast<uint32_t>(-8);
  EXPECT_FALSE(moved(tile, before, RowPadding{1})) << "it begins before the array";
  EXPECT_FALSE(moved(Shape{0, 4096, 0, 4}, column, RowPadding{1})) << "there are no rows";
}

}  // namespace
}  // namespace lanescope::advise
