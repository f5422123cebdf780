// Must not compile: a padding of one float moves every second row away from where a float4 may begin.
#include "lanescope/tile.cuh"

using Tile = lanescope::PaddedTile<float, 32, 32>;
static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::vector_row<4>));
