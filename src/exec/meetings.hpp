// Where lanes that part meet again, as the assembler's code has it: at the last place where ways of their
// branch come together, though others of them may go elsewhere.
#pragma once

#include <vector>

#include "exec/flow.hpp"
#include "exec/wait_loop.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {

/// Moves a kernel's joins (Flow::Block::join, past) from the post-dominator to where the assembler lets lanes
/// meet. In an iteration of a loop, or in the kernel, not counting ways out of it, these are places where
/// ways come together that start at one branch, or that leave a loop inside: where all of them do, and one
/// before that where some do. Lanes that go past such a place are not waited for there. The assembler makes
/// it so (BSSY at the branch, BREAK where lanes go elsewhere, BSYNC at the place); the rules are those seen
/// in the machine code for sm_90 of random kernels, and what is counted then is what an H100 counts
/// (tests/kernels/ways_test.cpp). `waits`: the loops that only wait, whose ends are no way past a place.
/// Post-dominators stay where loops have several entries, and in very large kernels.
void find_meetings(const ptx::Function& function, Flow& flow, const Loops& loops,
                   const std::vector<WaitLoop>& waits);

}  // namespace lanescope::exec
