// Must not compile: an architecture of that name does not exist.
#include "lanescope/tile.cuh"

using Tile = lanescope::PaddedTile<float, 32, 32>;
static_assert(lanescope::conflict_free<"sm_91", Tile>(lanescope::access::row));
