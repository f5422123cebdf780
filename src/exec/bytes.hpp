// mov between a register and its bytes, each in a register of its own: rare, so one function a warp and no
// host instruction set.
#pragma once

#include "exec/program.hpp"

namespace lanescope::exec {

struct Warp;

/// a: first index in Kernel::side of the bytes' registers (2 bytes a lane), lowest first; no_operand: none is
/// written. b: how many. d: the whole, b bytes a lane.
const Inst* join_bytes(Warp& w, const Inst* in);
const Inst* split_bytes(Warp& w, const Inst* in);

}  // namespace lanescope::exec
