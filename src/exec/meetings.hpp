// Where lanes that part meet again, as the assembler's code has it: at the first place that two of their ways
// have in common, though others of them may go elsewhere.
#pragma once

#include <vector>

#include "exec/flow.hpp"
#include "exec/wait_loop.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {

/// Moves a kernel's joins (Flow::Block::join, past) from the post-dominator to the first block that two ways
/// of a branch lead to: within an iteration of the innermost loop in which both stay, at the latest at its
/// end; of a branch out of a loop, where it leads, or where others come that leave it elsewhere. Lanes that
/// go past such a place are not waited for there. The assembler makes it so (BSSY at the branch, BREAK where
/// lanes go elsewhere, BSYNC at the place); what is counted then is what an H100 counts
/// (tests/kernels/ways_test.cpp). `waits`: the loops that only wait, whose ends are no way past a place.
/// Post-dominators stay where loops have several entries, where a jump through a table could lead past a
/// place unseen, and in very large kernels.
void find_meetings(const ptx::Function& function, Flow& flow, const std::vector<WaitLoop>& waits);

}  // namespace lanescope::exec
