// The control of this folder: it must compile.
#include "lanescope/tile.cuh"

using Tile = lanescope::PaddedTile<float, 32, 32>;
static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::column));
