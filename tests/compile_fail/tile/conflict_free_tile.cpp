// The control of this folder: it must compile.
#include "lanescope/tile.cuh"

using Tile = lanescope::PaddedTile<float, 32, 32>;
static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::column));
static_assert(
    lanescope::conflict_free<"sm_90", lanescope::SwizzledTile<float, 16, 16>>(lanescope::access::row));
static_assert(lanescope::conflict_free<"sm_90", float[32][32]>(lanescope::access::diagonal));
static_assert(lanescope::conflict_free<"sm_90", lanescope::SwizzledTile<short, 64, 64, 8>>(
    lanescope::access::ldmatrix<4>));
static_assert(lanescope::conflict_free<"sm_90", lanescope::SwizzledTile<float, 32, 32, 4>>(
    lanescope::access::vector_column<4>));
static_assert(lanescope::conflict_free<"sm_90", lanescope::PaddedArray<float, 1024>>([](int lane) {
  return lanescope::Position{0, 4 * lane};
}));
lanescope::SwizzledArray<int, 512, 32, 31> array;
