// Accesses that run from one variable of shared memory into another one (--check bounds). Which variable an
// address is computed from, the decoder has found (shared_bases in decode_checks.cpp).
#pragma once

#include <cstdint>

#include "exec/program.hpp"
#include "exec/warp_access.hpp"

namespace lanescope::exec {

/// Reports those of the lanes that go to this block's shared memory.
void check_bounds(const WarpAccess& now, const Kernel& kernel);

}  // namespace lanescope::exec
