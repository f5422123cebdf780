// Must not compile: a padding of 32 words is none.
#include "lanescope/tile.cuh"

using Tile = lanescope::PaddedTile<float, 32, 32, 32>;
static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::column),
              "the column of the tile has bank conflicts");
