// The paths of a warp: where its lanes part, join, call and return.
//
// The lanes of a warp that go the same way form a path. Where lanes part at a branch, the path becomes a
// joint: its parts run one after another up to the branch's meeting (meetings.hpp), where the joint goes on
// with all who came. Paths form a tree whose leaves can run in any order, so a path that spins lets its
// siblings run (forward progress for every lane, as on hardware since compute capability 7.0). Which of them
// runs next, schedule.hpp says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/async_copy.hpp"
#include "exec/program.hpp"
#include "exec/warp.hpp"

namespace lanescope::exec {

/// A call in progress.
struct Frame {
  const Inst* back = nullptr;    ///< where the caller goes on
  const Inst* stop = nullptr;    ///< the caller's own stop
  int32_t below = -1;            ///< the frame under this one
  std::vector<std::byte> saved;  ///< the caller's registers, if the callee may come back to it
  uint32_t saved_at = 0;
};

struct Path {
  enum class State : uint8_t { unused, ready, joint, at_barrier, at_sync, held };
  State state = State::unused;
  uint32_t gives_way = 0;  ///< ready: the others of its warp run first (YIELD), of these the lower ones
  bool spinning = false;   ///< seen to repeat itself without a change: see spins() in schedule.cpp
  int16_t parent = -1;     ///< joint it belongs to
  int16_t children = 0;    ///< of a joint: parts not yet arrived
  uint32_t mask = 0;
  uint32_t arrived = 0;                    ///< of a joint
  int32_t frame = -1;                      ///< innermost call made by this path itself
  const Inst* pc = nullptr;                ///< next instruction; of a joint: where it goes on
  const Inst* stop = nullptr;              ///< where its parent goes on; nullptr: nowhere
  uint32_t members = 0;                    ///< at_sync: whom it waits for
  uint32_t barrier = 0;                    ///< at_barrier
  const Kernel::WaitLoop* loop = nullptr;  ///< held: in which it waits; nullptr: at pc itself
  uint32_t branch =
      no_operand;  ///< of a joint: where its lanes parted (Kernel::branches), if that is counted
  uint64_t yields = 0;
  /// Backward branches and calls until it lets others run, whatever it meets on its way: barriers, lanes that
  /// part and join. 0: it begins a new slice.
  uint32_t fuel = 0;
};

/// To copy from: `path = Path{}` is cleared by a slow string instruction (gcc 12), for every part of a warp.
inline constexpr Path fresh_path{};

/// Parts beyond those of 32 single lanes cannot exist: a joint has at least two parts or lanes that wait in
/// it.
inline constexpr int16_t max_paths = 2 * warp_lanes + 2;

inline constexpr uint64_t most_patience = 1u << 14;

struct WarpState : Warp {
  int16_t path_count = 0;             ///< used entries of `paths` lie below
  int16_t next = 0;                   ///< round robin, of paths that have used up their slices
  int16_t current = -1;               ///< path that runs as long as it can
  uint32_t last_way_given = 0;        ///< highest Path::gives_way until now
  int16_t parked = -1;                ///< the other part of the path that has parted last
  uint64_t patience = most_patience;  ///< see schedule.cpp
  std::array<Path, max_paths> paths;
  std::vector<Frame> frames;
  std::vector<int32_t> free_frames;
  std::vector<AsyncCopy> copies;              ///< not done yet, in their order
  std::array<uint32_t, warp_lanes> groups{};  ///< groups of copies that each lane has committed
  bool has_committed = false;                 ///< any lane has
  /// A copy or product of this warp has completed a phase of an mbarrier: who waits for it is to see that
  /// before this warp goes past a wait of its own and may complete the next phase.
  bool completed_phase = false;
  uint32_t cluster_arrived = 0;  ///< lanes that have arrived in this phase of the cluster's barrier
  uint32_t cluster_waits = 0;    ///< lanes that have arrived there and not waited since
};

inline const Inst* const no_instruction = nullptr;

[[nodiscard]] inline std::span<Path> leaves(WarpState& w) {
  return {w.paths.data(), static_cast<size_t>(w.path_count)};
}
[[nodiscard]] inline int16_t index_of(const WarpState& w, const Path& p) {
  return static_cast<int16_t>(&p - w.paths.data());
}

/// `lanes` of the path have reached the place where its joint goes on.
void arrive(WarpState& w, Path& path, uint32_t lanes, const Inst* at);

/// The path goes on at pc, or joins its siblings if that is where.
inline void proceed(WarpState& w, Path& path, const Inst* pc) {
  if (pc == path.stop && pc != no_instruction) {
    arrive(w, path, path.mask, pc);
  } else {
    path.pc = pc;
    path.state = Path::State::ready;
    path.loop = nullptr;
  }
}

/// The lanes of a path part: `lanes` go to `target`, the others to `other`; they meet again at `join`.
void part(WarpState& w, Path& path, uint32_t lanes, const Inst* target, const Inst* other, const Inst* join);

/// Lanes of a path go past where they were to meet others. Nobody waits for them there any more; they meet
/// those who do further on.
void bypass(WarpState& w, Path& path, const Inst* branch);

/// The path lets the others of its warp run first, and nobody waits for it any more where it was to meet
/// others: calls that it is in with them become its own.
void give_way(WarpState& w, Path& path);

/// Those who are at the same place as a path, on the way to the same meeting, go on with it.
void gather(WarpState& w, int16_t index);

/// The lanes that wait, where paths join, for a path that waits itself go on without it. True if there were
/// any.
bool go_on_without(WarpState& w, const Path& path);

/// The path has come to the end of a loop that only waits, which `branch` closes, and waits there for the
/// next look. Lanes that have parted in the loop may be to meet where it begins: then they wait once all are
/// there.
void hold_in_loop(WarpState& w, Path& path, const Inst* branch);

/// The path calls the function at `entry`, and comes back from it.
void call(WarpState& w, Path& path, const Inst* entry);
void ret(WarpState& w, Path& path);
/// Nobody returns from this call, and those below it, any more.
void drop_frames(WarpState& w, int32_t frame);

/// Of a path that waits for lanes of its warp (at_sync): whether any instruction with its member mask will
/// do, not just the one it waits at.
[[nodiscard]] inline bool meets_anywhere(const Path& path) { return (path.pc->imm & sync_anywhere) != 0; }
/// Whether it need not wait for all.
[[nodiscard]] inline bool may_end(const Path& path) { return (path.pc->imm & sync_may_end) != 0; }
/// Whether `p` waits for the same lanes as `path`, where they can meet.
[[nodiscard]] inline bool waits_with(const Path& path, const Path& p) {
  return p.state == Path::State::at_sync && p.members == path.members && may_end(p) == may_end(path) &&
         (meets_anywhere(path) ? meets_anywhere(p) : p.pc == path.pc);
}
/// The lanes that wait with `path`, its own among them.
[[nodiscard]] uint32_t lanes_with(WarpState& w, const Path& path);

/// Where the lanes of a warp are, or the first path that has some of them; nullptr if they have ended.
[[nodiscard]] const Inst* place_of(const WarpState& w, uint32_t lanes);

}  // namespace lanescope::exec
