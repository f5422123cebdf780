// Must not compile: the column of a 32-word row conflicts, and static_assert finds out.
#include "lanescope/model/model.hpp"

using namespace lanescope::model;

static_assert(shared_cost(*find_arch("sm_90"), strided(Op::load, 4, 0, 32 * 4)).conflicts == 0,
              "the column of the tile has bank conflicts");
