// Must not compile: a swizzle by single floats tears a float4 apart.
#include "lanescope/tile.cuh"

using Tile = lanescope::SwizzledTile<float, 32, 32>;
static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::vector_row<4>));
