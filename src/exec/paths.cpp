// See paths.hpp.
#include "exec/paths.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "exec/state.hpp"

namespace lanescope::exec {
namespace {

Path& new_path(WarpState& w) {
  for (Path& p : leaves(w))
    if (p.state == Path::State::unused) return p = fresh_path;
  return w.paths[static_cast<size_t>(w.path_count++)] = fresh_path;
}

/// Of two parts of a path, those who take a branch and the others, the fewer run first.
void choose_first(WarpState& w, const Path& taken, const Path& other) {
  w.current = index_of(w, taken);
  w.parked = index_of(w, other);
  if (std::popcount(taken.mask) >= std::popcount(other.mask)) std::swap(w.current, w.parked);
}

/// The path takes a branch that others did not; `loop`: the branch, if it closes a loop that only waits.
void take_branch(WarpState& w, Path& path, const Inst* target, const Inst* loop) {
  if (loop != nullptr)
    hold_in_loop(w, path, loop);
  else
    proceed(w, path, target);
}

void resume(WarpState& w, Path& joint) {
  joint.mask = joint.arrived;
  joint.arrived = 0;
  if (joint.mask == 0) {
    drop_frames(w, joint.frame);
    arrive(w, joint, 0, no_instruction);  // all its lanes have exited
  } else {
    proceed(w, joint, joint.pc);
  }
  while (w.path_count > 1 && w.paths[static_cast<size_t>(w.path_count - 1)].state == Path::State::unused)
    --w.path_count;
}

int32_t new_frame(WarpState& w) {
  if (w.free_frames.empty()) {
    w.frames.emplace_back();
    return static_cast<int32_t>(w.frames.size() - 1);
  }
  const int32_t index = w.free_frames.back();
  w.free_frames.pop_back();
  return index;
}

int32_t copy_frames(WarpState& w, int32_t frame) {
  if (frame < 0) return -1;
  const int32_t below = copy_frames(w, w.frames[static_cast<size_t>(frame)].below);
  const int32_t copy = new_frame(w);
  w.frames[static_cast<size_t>(copy)] = w.frames[static_cast<size_t>(frame)];
  w.frames[static_cast<size_t>(copy)].below = below;
  return copy;
}

/// Of the calls that a path has made itself, the outermost; -1: none.
int32_t outermost_frame(const WarpState& w, const Path& path) {
  int32_t frame = path.frame;
  while (frame >= 0 && w.frames[static_cast<size_t>(frame)].below >= 0)
    frame = w.frames[static_cast<size_t>(frame)].below;
  return frame;
}

/// Whether what two paths have called themselves returns to the same places. Calls with registers of their
/// callers are not compared.
bool in_same_calls(const WarpState& w, const Path& path, const Path& other) {
  int32_t a = path.frame, b = other.frame;
  for (; a >= 0 && b >= 0;
       a = w.frames[static_cast<size_t>(a)].below, b = w.frames[static_cast<size_t>(b)].below) {
    const Frame &one = w.frames[static_cast<size_t>(a)], &another = w.frames[static_cast<size_t>(b)];
    if (one.back != another.back || one.stop != another.stop || !one.saved.empty() || !another.saved.empty())
      return false;
  }
  return a < 0 && b < 0;
}

/// The path's own calls were made in these.
void set_frames_below(WarpState& w, Path& path, int32_t frame) {
  const int32_t outermost = outermost_frame(w, path);
  (outermost < 0 ? path.frame : w.frames[static_cast<size_t>(outermost)].below) = frame;
}

/// Where the path meets others, once it is back from its own calls.
void set_stop(WarpState& w, Path& path, const Inst* stop) {
  const int32_t outermost = outermost_frame(w, path);
  (outermost < 0 ? path.stop : w.frames[static_cast<size_t>(outermost)].stop) = stop;
}

/// Gives the caller's registers back to the returning lanes. Lanes lie side by side in every register,
/// whose widths Kernel::register_layout gives.
void restore(WarpState& w, const Frame& frame, uint32_t lanes) {
  for (const auto& [offset, lane_bytes] : w.worker->kernel->register_layout) {
    if (offset < frame.saved_at || offset >= frame.saved_at + frame.saved.size()) continue;
    const std::byte* from = frame.saved.data() + (offset - frame.saved_at);
    std::byte* to = w.regs + offset;
    if (lane_bytes == 0) {
      uint32_t old, now;
      std::memcpy(&old, from, 4);
      std::memcpy(&now, to, 4);
      now = (old & lanes) | (now & ~lanes);
      std::memcpy(to, &now, 4);
      continue;
    }
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const size_t at = static_cast<size_t>(std::countr_zero(rest)) * lane_bytes;
      std::memcpy(to + at, from + at, lane_bytes);
    }
  }
}

/// A joint that waits for one child alone is none: it would be one of ever more.
void give_place_to_only_child(WarpState& w, int16_t at) {
  Path& joint = w.paths[static_cast<size_t>(at)];
  if (at >= w.path_count || joint.state != Path::State::joint || joint.children != 1 || joint.arrived != 0)
    return;
  for (Path& child : leaves(w)) {
    if (child.state == Path::State::unused || child.parent != at) continue;
    child.parent = joint.parent;
    set_stop(w, child, joint.stop);
    set_frames_below(w, child, joint.frame);
    joint.state = Path::State::unused;
    return;
  }
}

}  // namespace

/// `lanes` of the path have reached the place where its joint goes on.
void arrive(WarpState& w, Path& path, uint32_t lanes, const Inst* at) {
  path.state = Path::State::unused;
  if (path.parent < 0) return;
  Path& joint = w.paths[static_cast<size_t>(path.parent)];
  joint.arrived |= lanes;
  joint.fuel = std::min(joint.fuel, path.fuel);
  if (lanes != 0) joint.pc = at;
  if (--joint.children == 0) resume(w, joint);
}

/// The lanes of a path part: `lanes` go to `target`, the others to `other`; they meet again at `join`.
void part(WarpState& w, Path& path, uint32_t lanes, const Inst* target, const Inst* other, const Inst* join) {
  const uint32_t rest = path.mask & ~lanes;
  const Inst* const loop = w.event_loop;
  // Without a place to meet (one side ends the thread), or when that is where the path stops anyway, the
  // parts join the path's own siblings; inside a call they still have to return together.
  if ((join == nullptr && path.frame < 0) || (join != nullptr && join == path.stop)) {
    const int16_t parent = path.parent;
    const Inst* stop = path.stop;
    if (parent >= 0) ++w.paths[static_cast<size_t>(parent)].children;
    Path& sibling = new_path(w);
    sibling.parent = parent;
    sibling.stop = stop;
    sibling.mask = lanes;
    sibling.fuel = path.fuel;
    path.mask = rest;
    path.yields = 0;  // whichever of the two is in a loop, it has come on
    path.spinning = false;
    choose_first(w, sibling, path);
    take_branch(w, sibling, target, loop);
    proceed(w, path, other);
    return;
  }
  path.state = Path::State::joint;
  path.branch = w.event_branch;
  path.pc = join;
  path.arrived = 0;
  path.children = 2;
  const int16_t parent = index_of(w, path);
  Path& first = new_path(w);
  first.parent = parent;
  first.stop = join;
  first.mask = lanes;
  first.fuel = path.fuel;
  first.state = Path::State::ready;  // taken before the second is made
  Path& second = new_path(w);
  second.parent = parent;
  second.stop = join;
  second.mask = rest;
  second.fuel = path.fuel;
  choose_first(w, first, second);
  take_branch(w, first, target, loop);
  proceed(w, second, other);
}

/// Lanes of a path go past where they were to meet others. Nobody waits for them there any more; they meet
/// those who do further on.
void bypass(WarpState& w, Path& path, const Inst* branch) {
  const Bypass way(w, branch, path.stop);
  const uint32_t lanes = w.event_lanes, rest = path.mask & ~lanes;
  const Inst *const taken = w.code + branch->b, *const not_taken = branch + 1;
  std::array<int16_t, max_paths> joints;  // that they pass, from the inside
  size_t count = 0;
  const Inst* meeting = nullptr;  // with those of the outermost
  for (const Path* p = &path; way.leads_past(p->stop); p = &w.paths[static_cast<size_t>(p->parent)]) {
    joints[count++] = p->parent;
    meeting = way.meeting(p->stop);
  }
  Path* const joint = &w.paths[static_cast<size_t>(joints[count - 1])];
  Path& passing = new_path(w);
  passing.mask = lanes;
  passing.fuel = path.fuel;
  passing.state = Path::State::ready;
  if ((meeting == nullptr && joint->frame < 0) || (meeting != nullptr && meeting == joint->stop)) {
    passing.parent = joint->parent;
    passing.stop = joint->stop;
    if (passing.parent >= 0) ++w.paths[static_cast<size_t>(passing.parent)].children;
  } else {
    Path& around = new_path(w) = *joint;
    around.branch = w.event_branch;
    around.pc = meeting;
    around.arrived = 0;
    around.children = 2;
    around.fuel = path.fuel;
    passing.parent = joint->parent = index_of(w, around);
    passing.stop = joint->stop = meeting;
    joint->frame = -1;
  }
  for (size_t i = 0; i < count; ++i) w.paths[static_cast<size_t>(joints[i])].mask &= ~lanes;
  path.yields = 0;
  path.spinning = false;
  proceed(w, passing, way.is_taken() ? taken : not_taken);
  if (rest != 0) {
    path.mask = rest;
    choose_first(w, way.is_taken() ? passing : path, way.is_taken() ? path : passing);
    proceed(w, path, way.is_taken() ? not_taken : taken);
  } else {
    w.current = index_of(w, passing);
    arrive(w, path, 0, no_instruction);
  }
  for (size_t i = 0; i < count; ++i) give_place_to_only_child(w, joints[i]);
}

/// The path lets the others of its warp run first, and nobody waits for it any more where it was to meet
/// others: calls that it is in with them become its own.
void give_way(WarpState& w, Path& path) {
  path.gives_way = ++w.last_way_given;
  set_stop(w, path, nullptr);
  proceed(w, path, w.event_target);
  const int16_t parent = std::exchange(path.parent, int16_t{-1});
  for (int16_t at = parent; at >= 0; at = w.paths[static_cast<size_t>(at)].parent) {
    Path& joint = w.paths[static_cast<size_t>(at)];
    joint.mask &= ~path.mask;
    set_frames_below(w, path, copy_frames(w, joint.frame));
    set_stop(w, path, nullptr);
  }
  if (parent < 0) return;
  Path& joint = w.paths[static_cast<size_t>(parent)];
  if (--joint.children == 0)
    resume(w, joint);
  else
    give_place_to_only_child(w, parent);
}

/// Those who are at the same place as a path, on the way to the same meeting, go on with it.
void gather(WarpState& w, int16_t index) {
  Path& path = w.paths[static_cast<size_t>(index)];
  if (path.state != Path::State::ready) return;
  for (Path& other : leaves(w)) {
    if (&other == &path || other.state != Path::State::ready || other.pc != path.pc ||
        other.parent != path.parent || other.stop != path.stop || !in_same_calls(w, path, other))
      continue;
    path.mask |= other.mask;
    other.state = Path::State::unused;
    drop_frames(w, other.frame);
    if (path.parent >= 0) --w.paths[static_cast<size_t>(path.parent)].children;
  }
}

/// A path that waits, in a loop, for lanes that wait for it where paths join: those lanes go on without it
/// (they may hold the lock it is after). They are told apart from lanes of a long loop by the loop's
/// returning to the same state. True if there were any.
bool go_on_without(WarpState& w, const Path& path) {
  bool freed = false;
  for (int16_t at = path.parent; at >= 0; at = w.paths[static_cast<size_t>(at)].parent) {
    Path& joint = w.paths[static_cast<size_t>(at)];
    if (joint.arrived == 0) continue;
    const uint32_t lanes = joint.arrived;
    joint.arrived = 0;
    if (joint.parent >= 0) ++w.paths[static_cast<size_t>(joint.parent)].children;
    Path& free = new_path(w);
    free.mask = lanes;
    free.parent = joint.parent;
    free.stop = joint.stop;
    free.frame = copy_frames(w, joint.frame);
    freed = true;
    proceed(w, free, joint.pc);
  }
  return freed;
}

/// The path has come to the end of a loop that only waits, and waits there for the next look. Lanes that
/// have parted in the loop may be to meet where it begins: then they wait once all are there.
void hold_in_loop(WarpState& w, Path& path, const Inst* branch) {
  const Kernel::WaitLoop& loop = w.worker->kernel->wait_loops[branch->d];
  const Inst* const first = w.code + loop.first;
  proceed(w, path, first);
  Path* p = &path;
  while (p->state == Path::State::unused && p->parent >= 0) p = &w.paths[static_cast<size_t>(p->parent)];
  if (p->state != Path::State::ready || p->pc != first) return;
  p->state = Path::State::held;
  p->loop = &loop;
}

void call(WarpState& w, Path& path, const Inst* entry) {
  const Inst* in = w.event_other - 1;
  const int32_t index = new_frame(w);
  Frame& frame = w.frames[static_cast<size_t>(index)];
  frame.back = w.event_other;
  frame.stop = path.stop;
  frame.below = path.frame;
  frame.saved.clear();
  if (in->aux != no_operand) {
    const auto& [begin, end] = w.worker->kernel->saved[in->aux];
    frame.saved.assign(w.regs + begin, w.regs + end);
    frame.saved_at = begin;
  }
  path.frame = index;
  path.stop = nullptr;
  path.pc = entry;
}

void ret(WarpState& w, Path& path) {
  if (path.frame < 0) {  // a part of a path that is inside the call: all return together
    arrive(w, path, path.mask, w.event_target);
    return;
  }
  Frame& frame = w.frames[static_cast<size_t>(path.frame)];
  if (!frame.saved.empty()) restore(w, frame, path.mask);
  w.free_frames.push_back(path.frame);
  path.frame = frame.below;
  path.stop = frame.stop;
  proceed(w, path, frame.back);
}

void drop_frames(WarpState& w, int32_t frame) {
  for (; frame >= 0; frame = w.frames[static_cast<size_t>(frame)].below) w.free_frames.push_back(frame);
}

/// The lanes that wait with `path`, its own among them.
uint32_t lanes_with(WarpState& w, const Path& path) {
  uint32_t together = 0;
  for (const Path& p : leaves(w))
    if (waits_with(path, p)) together |= p.mask;
  return together;
}

const Inst* place_of(const WarpState& w, uint32_t lanes) {
  for (int16_t i = 0; i < w.path_count; ++i) {
    const Path& p = w.paths[static_cast<size_t>(i)];
    const uint32_t here = p.state == Path::State::joint    ? p.arrived
                          : p.state == Path::State::unused ? 0
                                                           : p.mask;
    if ((here & lanes) != 0) return p.pc;
  }
  return nullptr;
}

}  // namespace lanescope::exec
