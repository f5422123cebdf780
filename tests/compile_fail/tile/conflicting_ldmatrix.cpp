// Must not compile: rows of 128 bytes, so that the eight rows of a matrix begin in one bank.
#include "lanescope/tile.cuh"

using Tile = lanescope::PaddedTile<short, 64, 64, 0>;
static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::ldmatrix<4>),
              "ldmatrix of the tile has bank conflicts");
