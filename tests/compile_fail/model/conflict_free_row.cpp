// A promise the model keeps at compile time: a padded column is free of conflicts. The control of this
// folder: it must compile, or the failures of the others would prove nothing.
#include "lanescope/model/model.hpp"

using namespace lanescope::model;

static_assert(shared_cost(*find_arch("sm_90"), strided(Op::load, 4, 0, 33 * 4)).conflicts == 0);
