// Must not compile: a struct of two floats is moved float by float, 2-way. As one element of 8 bytes it would
// be clean.
#include "lanescope/tile.cuh"

struct Two {
  float x, y;
};
static_assert(lanescope::conflict_free<"sm_90", Two[256]>(lanescope::access::row));
