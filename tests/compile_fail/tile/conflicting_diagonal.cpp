// Must not compile: a diagonal of a tile that is padded for its columns.
#include "lanescope/tile.cuh"

using Tile = lanescope::PaddedTile<float, 32, 32>;
static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::diagonal),
              "the diagonal of the tile has bank conflicts");
