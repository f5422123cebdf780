// The state of a running warp and its block, as the instruction handlers see it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/program.hpp"

namespace lanescope::exec {

class Memory;
struct BlockState;
struct WorkerState;

/// Why a warp left the run loop.
enum class Event : uint8_t {
  none,        ///< reached warp.stop by itself
  diverge,     ///< lanes part: event_lanes go to event_target, the other active lanes to event_other
  leave_loop,  ///< event_lanes leave, at the branch event_loop, a loop inside of which they were to meet
               ///< others
  regroup,     ///< lanes disagree on where to go: event_lanes run the instruction at event_target again apart
  exit,        ///< event_lanes ended; the others (if any) go on at event_target
  call,        ///< event_target: callee, event_other: where it returns to
  ret,         ///< the callee's end
  barrier,     ///< wait at a barrier: see the instruction at event_target
  sync,        ///< wait for the lanes of event_lanes at the instruction event_target
  hold,        ///< the instruction at event_target waits for others; it is tried again
  look,   ///< the backward branch at event_target closes a loop that only waits: its lanes look again later
  yield,  ///< many backward branches taken: let others run; goes on at event_target
  trap    ///< event_lanes executed `trap`
};

struct Warp {
  std::byte* regs = nullptr;  ///< register file
  uint32_t mask = 0;          ///< lanes executing the current instruction (active and not predicated off)
  uint32_t active = 0;        ///< lanes of the current path
  uint32_t alive = 0;         ///< lanes of the warp that have not exited
  uint32_t present = 0;       ///< lanes that exist (a block's last warp may be partial)
  const Inst* stop =
      nullptr;  ///< where the current path joins its siblings; never equal to an instruction when none
  const Inst* code = nullptr;
  const uint32_t* side = nullptr;
  std::byte* shared = nullptr;  ///< the block's shared memory
  uint32_t shared_bytes = 0;
  std::byte* local = nullptr;  ///< lane i's local memory starts at local + i * local_bytes
  uint32_t local_bytes = 0;
  uint32_t stack_limit = UINT32_MAX;  ///< bytes of the stack that a GPU's thread has
  uint32_t fuel = 0;                  ///< backward branches until the next yield
  uint32_t index = 0;                 ///< warp of the block
  bool give_up = false;               ///< an instruction that waits for others has waited long enough
  BlockState* block = nullptr;
  WorkerState* worker = nullptr;

  Event event = Event::none;
  uint32_t event_lanes = 0;
  const Inst* event_target = nullptr;
  const Inst* event_other = nullptr;
  const Inst* event_join = nullptr;
  const Inst* event_loop =
      nullptr;  ///< leave_loop: the branch; diverge: the same, if those who take it are to look again later
  uint32_t event_branch = no_operand;  ///< diverge, regroup: index of Kernel::branches, if it is counted
};

/// A branch that leaves loops on one side, as Kernel::side describes it: how many joins there are inside of
/// the loops, the top bit set where those leave who take the branch, then the joins, indices of code.
class LoopExit {
 public:
  LoopExit(const Warp& w, const Inst* branch) : code_(w.code), side_(w.side + branch->d) {}
  [[nodiscard]] static uint32_t head(size_t joins, bool by_target) {
    return static_cast<uint32_t>(joins) | (by_target ? taken_leave : 0);
  }
  /// Whether those leave who take the branch, or the others.
  [[nodiscard]] bool by_target() const { return (side_[0] & taken_leave) != 0; }
  /// Whether a path that stops there to meet others would do so inside of the loops.
  [[nodiscard]] bool leaves(const Inst* stop) const {
    const uint32_t joins = side_[0] & ~taken_leave;
    for (uint32_t i = 1; i <= joins; ++i)
      if (stop == code_ + side_[i]) return true;
    return false;
  }

 private:
  static constexpr uint32_t taken_leave = 0x80000000u;
  const Inst* code_;
  const uint32_t* side_;
};

}  // namespace lanescope::exec
