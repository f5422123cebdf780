// Must not compile: without padding, the column of a 32x32 tile lies in one bank.
#include "lanescope/tile.cuh"

using Tile = lanescope::PaddedTile<float, 32, 32, 0>;
static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::column),
              "the column of the tile has bank conflicts");
