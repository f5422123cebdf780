// The barriers of a block (bar.sync and its kin): who has come, and who goes on.
#pragma once

#include <cstdint>
#include <vector>

namespace lanescope::exec {

struct BlockState;
struct Inst;
struct Path;
struct WarpState;

/// One of the 16 barriers of a block.
struct Barrier {
  std::vector<uint32_t> arrived;  ///< lanes, by warp
  uint32_t whole_warps = 0;       ///< live warps of which every live lane has arrived
  uint32_t before = 0;      ///< threads of warps that had arrived without waiting and have come once more
  uint32_t expected = 0;    ///< threads; 0 = all of the block
  uint32_t true_count = 0;  ///< barrier.red: threads that came with a true predicate
  uint32_t thread_count = 0;
};

/// A path has come to the barrier that the instruction names, and waits there if it is to; when the barrier
/// is complete, all go on. False, after a finding, if there is no such barrier.
bool come_to_barrier(WarpState& w, Path& path, const Inst* in);

/// Lanes of the block have ended: barriers may be complete without them.
void let_barriers_complete(BlockState& block);

}  // namespace lanescope::exec
