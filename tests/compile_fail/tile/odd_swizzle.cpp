// Must not compile: 24 columns are no power of two, and an XOR would leave the row.
#include "lanescope/tile.cuh"

lanescope::SwizzledTile<float, 32, 24> tile;
