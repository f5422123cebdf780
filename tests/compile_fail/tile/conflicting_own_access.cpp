// Must not compile: an access of one's own, every fourth element.
#include "lanescope/tile.cuh"

static_assert(lanescope::conflict_free<"sm_90", float[1024]>([](int lane) {
                return lanescope::Position{0, 4 * lane};
              }),
              "the access has bank conflicts");
