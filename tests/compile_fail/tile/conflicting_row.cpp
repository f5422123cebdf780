// Must not compile: rows of 17 floats, of which a warp covers two.
#include "lanescope/tile.cuh"

using Tile = lanescope::PaddedTile<float, 16, 16>;
static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::row),
              "the row of the tile has bank conflicts");
