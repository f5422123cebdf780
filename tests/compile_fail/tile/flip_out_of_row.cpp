// Must not compile: an XOR with 32 would leave the row of 32 elements.
#include "lanescope/tile.cuh"

lanescope::SwizzledArray<int, 512, 32, 32> array;
