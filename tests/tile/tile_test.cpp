// lanescope/tile.cuh with a host compiler: every element has a place of its own, and the checks say what the
// model says of the same addresses, for every shape that people ask about.
#include "lanescope/tile.cuh"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <utility>

namespace lanescope {
namespace {

// ---- The seed questions, at compile time.

// 32x32 floats: one element of padding, or a swizzle.
static_assert(conflicts<"sm_90", float[32][32]>(access::column) == 31);
static_assert(conflict_free<"sm_90", float[32][33]>(access::column));
static_assert(conflict_free<"sm_90", PaddedTile<float, 32, 32>>(access::row));
static_assert(conflict_free<"sm_90", PaddedTile<float, 32, 32>>(access::column));
static_assert(conflict_free<"sm_90", SwizzledTile<float, 32, 32>>(access::row));
static_assert(conflict_free<"sm_90", SwizzledTile<float, 32, 32>>(access::column));

// 16x16 floats, warps of two rows: a pad of 1 leaves 2-way, made for the 16 banks of 1.x; no pad cures both.
static_assert(conflicts<"sm_90", float[16][16]>(access::column) == 7);
static_assert(conflicts<"sm_90", PaddedTile<float, 16, 16>>(access::column) == 1);
static_assert(conflicts<"sm_90", PaddedTile<float, 16, 16>>(access::row) == 1);
static_assert(conflict_free<"sm_90", PaddedTile<float, 16, 16, 2>>(access::column));
static_assert(conflicts<"sm_90", PaddedTile<float, 16, 16, 2>>(access::row) == 1);
static_assert(conflict_free<"sm_90", SwizzledTile<float, 16, 16>>(access::row));
static_assert(conflict_free<"sm_90", SwizzledTile<float, 16, 16>>(access::column));
static_assert(conflict_free<"sm_13", PaddedTile<float, 16, 16>>(access::column));

// 32 doubles: two phases of 16 lanes; a pad of one double.
static_assert(conflicts<"sm_90", double[32][32]>(access::column) == 30);
static_assert(conflict_free<"sm_90", double[32][32]>(access::row));
static_assert(conflict_free<"sm_90", PaddedTile<double, 32, 32>>(access::column));
static_assert(conflict_free<"sm_90", SwizzledTile<double, 32, 32>>(access::column));

// Structs: three floats are clean, two and four are not; arrays of their own are.
struct Two {
  float x, y;
};
struct Three {
  float x, y, z;
};
struct Four {
  float x, y, z, w;
};
template <class Struct>
using Floats = float[256][sizeof(Struct) / sizeof(float)];  // record, field
constexpr auto field_y = [](int lane) { return Position{lane, 1}; };
static_assert(conflicts<"sm_90", Floats<Two>>(field_y) == 1);
static_assert(conflict_free<"sm_90", Floats<Three>>(field_y));
static_assert(conflicts<"sm_90", Floats<Four>>(field_y) == 3);
static_assert(conflict_free<"sm_90", StructOfArrays<256, float, float>>(access::row));
static_assert(conflict_free<"sm_90", StructOfArrays<256, float, double, char, short>>(access::row));

// ldmatrix and vectors.
static_assert(conflicts<"sm_90", short[64][64]>(access::ldmatrix<4>) == 28);
static_assert(conflict_free<"sm_90", SwizzledTile<short, 64, 64, 8>>(access::ldmatrix<4>));
static_assert(conflict_free<"sm_90", SwizzledTile<short, 64, 64, 8>>(access::ldmatrix<2>));
static_assert(conflict_free<"sm_90", SwizzledTile<short, 64, 64, 8>>(access::ldmatrix<1>));
static_assert(conflict_free<"sm_90", SwizzledTile<short, 64, 64, 8>>(access::vector_row<8>));
static_assert(conflict_free<"sm_90", PaddedTile<short, 64, 64, 8>>(access::ldmatrix<4>));
static_assert(conflict_free<"sm_90", SwizzledTile<float, 32, 32, 4>>(access::vector_row<4>));
static_assert(conflict_free<"sm_90", SwizzledTile<float, 32, 32, 4>>(access::vector_column<4>));
static_assert(!conflict_free<"sm_90", float[32][32]>(access::vector_column<4>));

// Diagonals: without padding they are clean, with one element of padding they are not.
static_assert(conflict_free<"sm_90", float[32][32]>(access::diagonal));
static_assert(!conflict_free<"sm_90", PaddedTile<float, 32, 32>>(access::diagonal));

// Large tiles are no longer constant expressions than a compiler takes.
static_assert(conflict_free<"sm_90", PaddedTile<float, 128, 128>>(access::column));
static_assert(conflicts<"sm_90", float[128][128]>(access::column) == 31);

static_assert(!conflict_free<"sm_90", float[32][32]>(access::column, model::Op::cp_async));

// The last warp of a tile, which is not full, counts as well.
struct ConflictsAtItsEnd {
  using value_type = float;
  static constexpr int rows = 1, columns = 40;
  static constexpr int byte_offset(int /*row*/, int column) {
    return column < 32 ? 4 * column : 128 * (column - 31);
  }
};
static_assert(conflicts<"sm_90", ConflictsAtItsEnd>(access::row) == 7);

// Accesses of one's own: a lambda, several instances, vectors, inactive lanes, other instructions.
static_assert(conflict_free<"sm_90", float[32][33]>([](int lane) { return Position{lane, 7}; }));
static_assert(conflict_free<"sm_90", float[32][32]>([](int lane) {
  return lane < 1 ? Position{lane, 0} : inactive;
}));
static_assert(conflict_free<"sm_90", float[32][33]>(access::each(33, [](int lane, int c) {
  return Position{lane, c};
})));
static_assert(conflicts<"sm_90", float[1024]>([](int lane) { return Position{0, 4 * lane}; }) == 3);
static_assert(conflict_free<"sm_90", float[8][32]>(access::vector<4>([](int lane) {
  return Position{lane / 8, lane % 8 * 4};
})));
static_assert(conflict_free<"sm_90", int[64]>([](int lane) { return Position{0, lane / 2}; }));
static_assert(conflicts<"sm_90", int[64]>(
                  [](int lane) {
                    return Position{0, lane / 2};
                  },
                  model::Op::atomic) == 1);

// Arrays of one dimension: a gap after each row of the banks for strides of a reduction, odd rows turned
// around for pairs of keys.
constexpr auto every_second = [](int lane) { return Position{0, 2 * lane}; };
constexpr auto every_eighth = [](int lane) { return Position{0, 8 * lane}; };
constexpr auto pairs_of_keys = [](int lane) { return Position{0, 2 * lane - (lane & 1)}; };
static_assert(conflicts<"sm_90", float[256]>(every_eighth) == 7);
static_assert(conflict_free<"sm_90", PaddedArray<float, 256>>(every_second));
static_assert(conflict_free<"sm_90", PaddedArray<float, 256>>(every_eighth));
static_assert(!conflict_free<"sm_90", PaddedArray<int, 512>>(pairs_of_keys));
static_assert(conflict_free<"sm_90", SwizzledArray<int, 512, 32, 31>>(pairs_of_keys));
static_assert(conflict_free<"sm_90", SwizzledArray<int, 512, 32, 31>>(access::row));

// Other chips: 16 wavefronts of a Kepler column, 64 banks of CDNA4.
static_assert(conflicts<"sm_35", float[32][32]>(access::column) == 15);
static_assert(conflict_free<"gfx950", PaddedTile<float, 64, 64>>(access::column));
static_assert(!conflict_free<"gfx950", float[64][64]>(access::column));

// ---- Places.

template <class Tile>
void expect_places_of_their_own() {
  std::set<int> seen;
  for (int row = 0; row < Tile::rows; ++row)
    for (int column = 0; column < Tile::columns; ++column) {
      const int byte = Tile::byte_offset(row, column);
      EXPECT_EQ(byte % static_cast<int>(sizeof(typename Tile::value_type)), 0);
      EXPECT_GE(byte, 0);
      EXPECT_LE(byte + static_cast<int>(sizeof(typename Tile::value_type)), static_cast<int>(sizeof(Tile)));
      EXPECT_TRUE(seen.insert(byte).second) << row << ' ' << column;
      static Tile tile;
      const auto* at = reinterpret_cast<const char*>(&tile[row][column]);
      EXPECT_EQ(at - reinterpret_cast<const char*>(&tile), byte) << row << ' ' << column;
    }
}

TEST(Tiles, GiveEveryElementAPlaceOfItsOwn) {
  expect_places_of_their_own<PaddedTile<float, 32, 32>>();
  expect_places_of_their_own<PaddedTile<char, 5, 7, 3>>();
  expect_places_of_their_own<SwizzledTile<float, 32, 32>>();
  expect_places_of_their_own<SwizzledTile<float, 16, 16>>();
  expect_places_of_their_own<SwizzledTile<float, 7, 64>>();
  expect_places_of_their_own<SwizzledTile<double, 32, 8>>();
  expect_places_of_their_own<SwizzledTile<short, 64, 64, 8>>();
  expect_places_of_their_own<SwizzledTile<char, 16, 128>>();
}

template <class Array>
void expect_array_places_of_their_own() {
  std::set<int> seen;
  static Array array;
  for (int i = 0; i < Array::columns; ++i) {
    const int byte = Array::byte_offset(0, i);
    EXPECT_TRUE(seen.insert(byte).second) << i;
    EXPECT_LE(byte + static_cast<int>(sizeof(typename Array::value_type)), static_cast<int>(sizeof(Array)));
    const auto* at = reinterpret_cast<const char*>(&array[static_cast<unsigned>(i)]);
    EXPECT_EQ(at - reinterpret_cast<const char*>(&array), byte) << i;
  }
}

TEST(Arrays, GiveEveryElementAPlaceOfItsOwn) {
  expect_array_places_of_their_own<PaddedArray<float, 256>>();
  expect_array_places_of_their_own<PaddedArray<double, 100, 16, 1>>();
  expect_array_places_of_their_own<PaddedArray<char, 7, 3, 2>>();
  expect_array_places_of_their_own<SwizzledArray<int, 512, 32, 31>>();
  expect_array_places_of_their_own<SwizzledArray<double, 100, 16, 15, 2, 4, 8>>();
  EXPECT_EQ(sizeof(PaddedArray<float, 256>), 264 * sizeof(float));
  EXPECT_EQ(sizeof(SwizzledArray<int, 512, 32, 31>), 512 * sizeof(int));
}

TEST(Arrays, PlanesAreAsPlainOnesWithGapsBetween) {
  static PaddedPlanes<float, 3, 4, 5, 2> planes;
  EXPECT_EQ(&planes[0][1][2] - &planes[0][0][0], 5 + 2);
  EXPECT_EQ(reinterpret_cast<char*>(&planes[2][0][0]) - reinterpret_cast<char*>(&planes),
            2 * (4 * 5 + 2) * 4);
  EXPECT_EQ(&std::as_const(planes)[1][3][4], &planes[1][3][4]);
}

/// A pointer to a part of an array sees the places that an array of the part's own would have.
TEST(Arrays, SwizzledPointersGoWhereSwizzledArraysDo) {
  using Array = SwizzledArray<int, 96, 32, 1, 6>;
  static int memory[128];
  const SwizzledPointer<int, 32, 1, 6> part{memory + 32};
  for (unsigned i = 0; i < 96; ++i) EXPECT_EQ(&part[i], memory + 32 + static_cast<int>(Array::place(i))) << i;
}

/// Whether all rows and columns of a square swizzled tile are free of conflicts.
template <class T, int n>
constexpr bool square_is_free() {
  using Tile = SwizzledTile<T, n, n>;
  return conflict_free<"sm_90", Tile>(access::row) && conflict_free<"sm_90", Tile>(access::column);
}
static_assert(square_is_free<float, 8>() && square_is_free<float, 64>());
static_assert(square_is_free<double, 8>() && square_is_free<double, 16>() && square_is_free<double, 64>());

TEST(Tiles, KeepUnitsTogether) {
  using Tile = SwizzledTile<float, 32, 32, 4>;
  for (int row = 0; row < 32; ++row)
    for (int column = 0; column < 32; column += 4) {
      EXPECT_EQ(Tile::byte_offset(row, column) % 16, 0);
      for (int i = 1; i < 4; ++i)
        EXPECT_EQ(Tile::byte_offset(row, column + i), Tile::byte_offset(row, column) + 4 * i);
    }
  Tile tile{};
  struct alignas(16) Vector {
    float v[4];
  };
  tile[3][8] = 5;
  EXPECT_EQ(static_cast<void*>(&vector_at<Vector>(tile, 3, 8)), static_cast<void*>(&tile[3][8]));
}

TEST(StructsOfArrays, HoldTheirFields) {
  StructOfArrays<5, double, char, float> s{};
  for (int i = 0; i < 5; ++i) {
    s.get<0>(i) = i + 0.5;
    s.get<1>(i) = static_cast<char>('a' + i);
    s.get<2>(i) = static_cast<float>(-i);
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(s.get<0>(i), i + 0.5);
    EXPECT_EQ(s.get<1>(i), 'a' + i);
    EXPECT_EQ(s.get<2>(i), -i);
  }
  EXPECT_EQ(sizeof(s), 48u + 16u + 32u);
  EXPECT_EQ((StructOfArrays<5, double, char, float>::byte_offset(2, 1)), 48 + 16 + 4);
}

}  // namespace
}  // namespace lanescope
