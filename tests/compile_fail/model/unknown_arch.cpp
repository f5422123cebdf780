// Must not compile: an architecture of that name does not exist, and a constant cannot come from a null
// pointer.
#include "lanescope/model/model.hpp"

using namespace lanescope::model;

constexpr Arch arch = *find_arch("sm_91");
