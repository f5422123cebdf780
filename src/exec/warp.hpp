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
  none,      ///< reached warp.stop by itself
  diverge,   ///< lanes part: event_lanes go to event_target, the other active lanes to event_other
  bypass,    ///< event_lanes go, at the branch event_loop, past where they were to meet others
  give_way,  ///< the others of the warp run first; goes on at event_target
  regroup,   ///< lanes disagree on where to go: event_lanes run the instruction at event_target again apart
  exit,      ///< event_lanes ended; the others (if any) go on at event_target
  call,      ///< event_target: callee, event_other: where it returns to
  ret,       ///< the callee's end
  barrier,   ///< wait at a barrier: see the instruction at event_target
  sync,      ///< wait for the lanes of event_lanes at the instruction event_target
  hold,      ///< the instruction at event_target waits for others; it is tried again
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
      nullptr;  ///< bypass: the branch; diverge: the same, if those who take it are to look again later
  uint32_t event_branch = no_operand;  ///< diverge, regroup: index of Kernel::branches, if it is counted
};

/// Which lanes go past where they were to meet others, at a branch of which Kernel::side says for each of its
/// two ways what joins it leads past: how many for those who take it, how many for the others, then of each
/// the join and where they meet those who were there, indices of code.
class Bypass {
 public:
  /// Of lanes that are to stop at `stop`: at most one way leads past it.
  Bypass(const Warp& w, const Inst* branch, const Inst* stop)
      : code_(w.code), first_(w.side + branch->d + 2), last_(first_ + size_t{2} * first_[-2]) {
    if (leads_past(stop)) return;
    taken_ = false;
    first_ = last_;
    last_ += size_t{2} * w.side[branch->d + 1];
    if (!leads_past(stop)) last_ = first_;
  }
  /// Whether there are any.
  [[nodiscard]] bool exists() const { return first_ != last_; }
  /// Whether it is those who take the branch, or the others.
  [[nodiscard]] bool is_taken() const { return taken_; }
  [[nodiscard]] bool leads_past(const Inst* stop) const { return find(stop) != last_; }
  /// Where they meet those who stop there; nullptr: where those meet others.
  [[nodiscard]] const Inst* meeting(const Inst* stop) const {
    const uint32_t place = find(stop)[1];
    return place == no_operand ? nullptr : code_ + place;
  }

 private:
  const Inst* code_;
  const uint32_t *first_, *last_;
  bool taken_ = true;

  [[nodiscard]] const uint32_t* find(const Inst* stop) const {
    const uint32_t* at = first_;
    while (at != last_ && stop != code_ + *at) at += 2;
    return at;
  }
};

}  // namespace lanescope::exec
