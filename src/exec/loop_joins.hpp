// Where lanes meet that part in a loop which some of them leave: ways out of a loop are no reason for those
// who stay to go on apart.
#pragma once

#include <vector>

#include "exec/flow.hpp"
#include "exec/wait_loop.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {

/// Moves joins into loops (Flow::Block::join, leaves_to, left): lanes that part in a loop and stay in it meet
/// there, before its next iteration, although others of them may leave it in between. The assembler has those
/// leave the meeting (BSSY, BREAK, BSYNC in code for sm_90), and what is counted then is what an H100 counts
/// (docs/accuracy.md). `waits`: the function's loops that only wait; ways out of these stay as they are.
void find_joins_in_loops(const ptx::Function& function, Flow& flow, const std::vector<WaitLoop>& waits);

}  // namespace lanescope::exec
