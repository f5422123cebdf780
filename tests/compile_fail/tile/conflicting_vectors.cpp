// Must not compile: a column of vectors of four floats.
#include "lanescope/tile.cuh"

static_assert(lanescope::conflict_free<"sm_90", float[32][32]>(lanescope::access::vector_column<4>),
              "the vectors of the tile have bank conflicts");
