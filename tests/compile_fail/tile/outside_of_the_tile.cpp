// Must not compile: lane 31 would be in row 32.
#include "lanescope/tile.cuh"

static_assert(lanescope::conflict_free<"sm_90", float[32][33]>([](int lane) {
  return lanescope::Position{lane + 1, 0};
}));
