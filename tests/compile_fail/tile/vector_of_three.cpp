// Must not compile: no instruction moves three floats together.
#include "lanescope/tile.cuh"

static_assert(lanescope::conflict_free<"sm_90", float[32][48]>(lanescope::access::vector_row<3>));
