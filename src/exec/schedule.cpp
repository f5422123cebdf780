// See schedule.hpp.
#include "exec/schedule.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "exec/each_lane.hpp"
#include "exec/mbarrier.hpp"

namespace lanescope::exec {

namespace {

/// Backward branches and calls that a path makes before it lets others run: few when it has siblings that may
/// hold what it waits for. Fewer still when nothing but their doing can end its loop.
constexpr uint32_t long_slice = 1u << 16, short_slice = 256, spinning_slice = 4;
/// Yields after which what waits stops waiting for a path even if its loop is not seen to repeat itself
/// (it counts, or reads a clock). Lanes that were let go so wait half as long for the warp's next such loop.
constexpr uint64_t least_patience = 16;
/// A loop that returns to the same state within this many backward branches is recognised as spinning.
constexpr uint32_t longest_cycle = 1024;
/// Pauses that a path makes (nanosleep) before it is looked into whether it repeats itself: that runs it on,
/// without pauses, and others may be about to do what it waits for.
constexpr uint64_t pauses_before_doubt = 64;
/// Looks in vain after which lanes that are to meet the one that waits stop waiting for it, whatever else
/// goes on.
constexpr uint64_t most_vain_looks = 64;
/// Rounds after which the host's clock is looked at.
constexpr uint32_t rounds_between_looks = 256;

const Inst* const no_instruction = nullptr;

}  // namespace

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

std::string in_hex(uint32_t lanes) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", lanes);
  return text;
}

namespace {

class Scheduler {
 public:
  Scheduler(BlockState& block, WorkerState& worker) : block_(block), worker_(worker) {}

  /// `last_resort`: nobody else can do anything before held paths give up.
  Outcome run(bool last_resort) {
    int still_rounds = 0;
    uint32_t all_rounds = 0;
    for (uint32_t round = 0; block_.live_warps != 0; ++round) {
      if (++all_rounds % rounds_between_looks == 0 && worker_.leaves()) return Outcome::waiting;
      bool ran = false, all_spin = true, yielded = false;
      const uint64_t writes = worker_.global_writes;
      progress_ = false;
      all_slept_ = true;
      for (WarpState& w : block_.warps) {
        if (w.alive == 0) continue;
        // A warp runs until all its paths wait, or one has used up its slice.
        for (int16_t p; (p = pick(w)) >= 0;) {
          ran = true;
          const Run end = run_path(w, p);
          if (end == Run::yielded || end == Run::passed) {
            yielded = true;
            all_spin = all_spin && every_ready_path_spins(w);
            break;
          }
          all_spin = all_spin && end == Run::turned;
          if (w.event == Event::hold && w.completed_phase) break;
        }
      }
      if (!ran) {
        if (let_arrived_lanes_go() || (last_resort && let_waits_end())) continue;
        if (is_held()) return Outcome::stalled;
        deadlock();
        break;
      }
      if (!yielded) {
        round = 0;
        continue;
      }
      // Each round runs one path of a warp, so all have been seen to spin only after as many rounds as there
      // are paths.
      still_rounds = all_spin && !progress_ && worker_.global_writes == writes ? still_rounds + 1 : 0;
      if (still_rounds > most_paths()) {
        if (!last_resort || !let_waits_end()) return Outcome::stalled;
        still_rounds = 0;
      }
      if (worker_.leaves()) return Outcome::waiting;
      if (still_rounds != 0) continue;
      if (all_slept_) return Outcome::waiting;  // what they wait for may be another block's to do
      if (round >= block_.rounds) {
        if (block_.rounds < (1u << 20)) block_.rounds *= 2;
        return Outcome::waiting;
      }
    }
    return Outcome::finished;
  }

  void report_stall() {
    for (WarpState& w : block_.warps)
      for (Path& p : leaves(w)) report_waiting(w, p);
    for (WarpState& w : block_.warps) w.alive = 0;
    block_.live_warps = 0;
  }

 private:
  BlockState& block_;
  WorkerState& worker_;
  /// How a path's run has ended.
  enum class Run : uint8_t {
    on,       ///< something has happened to it
    turned,   ///< nothing but that the others of its warp are to run first
    passed,   ///< the same, of a whole warp: the other warps are
    yielded,  ///< it gave up its turn by itself, or its slice is used up
  };

  bool progress_ = false;
  bool all_slept_ = false;           ///< all that ran in this round, until it let others run
  std::vector<uint64_t> dead_ends_;  ///< states in which all that was left were waits, since the last write
  uint64_t writes_at_wait_ = 0;

  static std::span<Path> leaves(WarpState& w) { return {w.paths.data(), static_cast<size_t>(w.path_count)}; }
  static int16_t index_of(const WarpState& w, const Path& p) {
    return static_cast<int16_t>(&p - w.paths.data());
  }

  int16_t pick(WarpState& w) {
    // The usual case, a warp whose lanes are together: it is ready, or waits at a barrier.
    if (w.path_count == 1 && w.paths[0].state != Path::State::held)
      return w.paths[0].state == Path::State::ready ? 0 : -1;
    if (is_ready(w, w.current)) return w.current;
    w.current = std::exchange(w.parked, int16_t{-1});
    if (is_ready(w, w.current)) return w.current;
    w.current = fewest_lanes(w);
    if (w.current >= 0) {
      gather(w, w.current);
      return w.next = w.current;
    }
    for (int16_t n = 0; n < w.path_count; ++n) {
      const auto i = static_cast<int16_t>((w.next + n) % w.path_count);
      Path& path = w.paths[static_cast<size_t>(i)];
      if (path.state == Path::State::held &&
          (path.loop != nullptr ? look_again(w, path) : try_again(w, path)))
        n = -1;  // it may have joined others
      if (path.state == Path::State::ready) {
        w.current = w.next = i;
        return i;
      }
    }
    return -1;
  }

  static bool is_ready(const WarpState& w, int16_t path) {
    return path >= 0 && path < w.path_count &&
           w.paths[static_cast<size_t>(path)].state == Path::State::ready &&
           w.paths[static_cast<size_t>(path)].gives_way == 0;
  }

  /// Of the paths that can run, the one with the fewest lanes, of several the one at the first place; -1 if
  /// they are to take turns, since some wait or have used up a slice.
  static int16_t fewest_lanes(const WarpState& w) {
    int16_t fewest = -1;
    const auto rank = [&](int16_t path) {
      const Path& p = w.paths[static_cast<size_t>(path)];
      return std::tuple(p.gives_way, std::popcount(p.mask), p.pc);
    };
    for (int16_t i = 0; i < w.path_count; ++i) {
      const Path& path = w.paths[static_cast<size_t>(i)];
      if (path.state == Path::State::held || (path.state == Path::State::ready && path.yields != 0))
        return -1;
      if (path.state == Path::State::ready && (fewest < 0 || rank(i) < rank(fewest))) fewest = i;
    }
    return fewest;
  }

  /// Those who are at the same place as a path, on the way to the same meeting, go on with it.
  static void gather(WarpState& w, int16_t index) {
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

  /// Of two parts of a path, those who take a branch and the others, the fewer run first.
  static void choose_first(WarpState& w, const Path& taken, const Path& other) {
    w.current = index_of(w, taken);
    w.parked = index_of(w, other);
    if (std::popcount(taken.mask) >= std::popcount(other.mask)) std::swap(w.current, w.parked);
  }

  /// Asks a path's instruction once more whether it can go on; true if it does.
  bool try_again(WarpState& w, Path& path, bool give_up = false) {
    begin(w, path);
    w.completed_phase = false;
    w.give_up = give_up || ++path.yields % most_patience == 0;
    const Inst* next = path.pc->fn(w, path.pc);
    w.give_up = false;
    if (w.event == Event::hold) return false;
    proceed(w, path, next);
    return true;
  }

  /// Goes once more through the loop in which a path waits; true if some of its lanes need not wait any more.
  /// None of it is counted but changes of memory: the look that brought the path here stands for all, so that
  /// counts do not depend on how often there was time for another one.
  bool look_again(WarpState& w, Path& path) {
    const Kernel::WaitLoop& loop = *path.loop;
    const uint32_t lanes = path.mask;
    Observer nobody;
    Observer* observer = &nobody;
    const auto exchange_books = [&] {
      worker_.sites.swap(worker_.unseen_sites);
      worker_.branches.swap(worker_.unseen_branches);
      std::swap(worker_.observer, observer);
    };
    worker_.unseen_sites.resize(worker_.sites.size());
    worker_.unseen_branches.resize(worker_.branches.size());
    exchange_books();
    w.give_up = true;  // waits at mbarriers are looks, too
    path.loop = nullptr;
    for (Path* part = &path; part != nullptr; part = part_inside(w, lanes, loop)) look(w, *part, loop);
    w.give_up = false;
    exchange_books();
    uint32_t in_vain = 0;
    bool freed = false;
    for (int16_t i = 0; i < w.path_count; ++i) {
      Path& p = w.paths[static_cast<size_t>(i)];
      if (p.state != Path::State::held || (p.mask & ~lanes) != 0) continue;
      in_vain |= p.mask;
      // Somebody has the lock, and it may be they.
      if (loop.takes_lock || ++p.yields % most_vain_looks == 0) freed = free_waiting(w, p) || freed;
    }
    progress_ = progress_ || in_vain != lanes;
    return freed || in_vain != lanes;
  }

  static bool is_inside(const WarpState& w, const Kernel::WaitLoop& loop, const Inst* pc) {
    return std::any_of(loop.code.begin(), loop.code.end(),
                       [&](const auto& piece) { return pc >= w.code + piece[0] && pc < w.code + piece[1]; });
  }

  /// Runs a path on in a loop that only waits, until it leaves it, has come to its end, or parts.
  void look(WarpState& w, Path& path, const Kernel::WaitLoop& loop) {
    begin(w, path);
    const Inst* pc = path.pc;
    do {
      pc = pc->fn(w, pc);
      const bool all_turn = w.event == Event::give_way && path.mask == w.alive;
      if (w.event == Event::yield || all_turn) {  // it slept, or lets other warps run
        w.event = Event::none;
        pc = w.event_target;
      }
    } while (pc != w.stop && is_inside(w, loop, pc));
    if (w.event == Event::none)
      proceed(w, path, pc);
    else
      handle(w, path);
  }

  /// Of the lanes that look in a loop and have parted there, a path that has not come to its end.
  static Path* part_inside(WarpState& w, uint32_t lanes, const Kernel::WaitLoop& loop) {
    for (Path& p : leaves(w))
      if (p.state == Path::State::ready && (p.mask & ~lanes) == 0 && is_inside(w, loop, p.pc)) return &p;
    return nullptr;
  }

  [[nodiscard]] const Kernel::WaitLoop& loop_of(const Inst* branch) const {
    return worker_.kernel->wait_loops[branch->d];
  }

  /// The path has come to the end of a loop that only waits, and waits there for the next look. Lanes that
  /// have parted in the loop may be to meet where it begins: then they wait once all are there.
  void hold_in_loop(WarpState& w, Path& path, const Kernel::WaitLoop& loop) {
    const Inst* const first = w.code + loop.first;
    proceed(w, path, first);
    Path* p = &path;
    while (p->state == Path::State::unused && p->parent >= 0) p = &w.paths[static_cast<size_t>(p->parent)];
    if (p->state != Path::State::ready || p->pc != first) return;
    p->state = Path::State::held;
    p->loop = &loop;
  }

  static Path& new_path(WarpState& w) {
    for (Path& p : leaves(w))
      if (p.state == Path::State::unused) return p = Path{};
    return w.paths[static_cast<size_t>(w.path_count++)] = Path{};
  }

  static bool every_ready_path_spins(WarpState& w) {
    return std::all_of(w.paths.begin(), w.paths.begin() + w.path_count,
                       [](const Path& p) { return p.state != Path::State::ready || p.spinning; });
  }

  static void begin(WarpState& w, const Path& path) {
    w.active = w.mask = path.mask;
    w.stop = path.stop;
    w.event = Event::none;
    w.event_branch = no_operand;
    w.event_loop = nullptr;
  }

  /// Runs the path on, into functions and out of them, until something else happens to it, or its fuel is
  /// used up. False if it is no more: it has returned to where it joins others.
  bool execute(WarpState& w, Path& path) {
    for (;;) {
      begin(w, path);
      const Inst* pc = path.pc;
      uint64_t executed = 0;
      do {
        executed += pc->weight();
        pc = pc->fn(w, pc);
      } while (pc != w.stop);
      worker_.instructions += executed;
      worker_.lane_instructions += executed * static_cast<uint32_t>(std::popcount(path.mask));
      if (path.parent >= 0) charge(w, path, executed);
      path.fuel = std::min(path.fuel, w.fuel);
      if (w.event != Event::call && w.event != Event::ret) return true;
      handle(w, path);
      if (path.state != Path::State::ready) return false;
      if (--w.fuel != 0) continue;
      path.fuel = 0;
      w.event = Event::yield;
      w.event_target = path.pc;
      return true;
    }
  }

  /// The lanes that wait for a path are idle because of the branches at which they parted from it.
  void charge(const WarpState& w, const Path& path, uint64_t executed) {
    uint32_t lanes = path.mask;
    for (int16_t at = path.parent; at >= 0;) {
      const Path& joint = w.paths[static_cast<size_t>(at)];
      if (joint.branch != no_operand) {
        BranchCounts& counts = worker_.branches[joint.branch];
        counts.apart += executed;
        counts.idle += executed * static_cast<uint32_t>(std::popcount(joint.mask & w.alive & ~lanes));
      }
      lanes = joint.mask;
      at = joint.parent;
    }
  }

  /// Runs one path until something happens to it.
  Run run_path(WarpState& w, int16_t index) {
    Path& path = w.paths[static_cast<size_t>(index)];
    path.gives_way = 0;
    const uint32_t slice = path.spinning ? spinning_slice : w.path_count > 1 ? short_slice : long_slice;
    w.fuel = path.fuel = path.fuel == 0 ? slice : std::min(path.fuel, slice);
    const bool is_there = execute(w, path);
    const bool yields = is_there && w.event == Event::yield;
    const bool slept = yields && w.fuel != 0;
    all_slept_ = all_slept_ && slept;
    if (is_there && w.event == Event::give_way) {
      progress_ = progress_ || path.parent >= 0;
      const bool is_whole = path.mask == w.alive;
      give_way(w, path);
      return is_whole ? Run::passed : Run::turned;
    }
    if (!yields) {
      // Around a loop in this way no fuel is used up.
      const bool goes_back = is_there && w.event == Event::bypass && w.code + w.event_loop->b <= w.event_loop;
      if (is_there) handle(w, path);
      progress_ = true;
      return goes_back ? Run::yielded : Run::on;
    }
    proceed(w, path, w.event_target);
    ++path.yields;
    const bool in_doubt = std::has_single_bit(path.yields) && (!slept || path.yields >= pauses_before_doubt);
    if (path.state == Path::State::ready && (path.spinning || in_doubt)) {
      const bool waited = std::exchange(path.spinning, spins(w, path));
      if (waited && !path.spinning) path.yields = 0;  // for its next loop
    }
    if (path.state == Path::State::ready) {
      if (path.spinning) {
        free_waiting(w, path);
        end_gathering(w);
      } else if (path.yields != 0 && path.yields % w.patience == 0 &&
                 (free_waiting(w, path) || end_gathering(w))) {
        w.patience = std::max(w.patience / 2, least_patience);
      }
    }
    w.current = w.parked = -1;
    w.next = static_cast<int16_t>((index + 1) % std::max<int16_t>(w.path_count, 1));
    return Run::yielded;
  }

  /// A path that waits, in a loop, for lanes that wait for it where paths join: those lanes go on without it
  /// (they may hold the lock it is after). They are told apart from lanes of a long loop by the loop's
  /// returning to the same state. True if there were any.
  bool free_waiting(WarpState& w, const Path& path) {
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
      progress_ = freed = true;
      proceed(w, free, joint.pc);
    }
    return freed;
  }

  /// When nothing can run: lanes that wait at a join for lanes that wait at a barrier go on, so that the
  /// barrier may get to them (their thread may end, or arrive). Lanes that wait for one that looks for a
  /// change of memory do so only when no other block can make it, for on a GPU they would wait.
  bool let_arrived_lanes_go() {
    bool freed = false;
    for (WarpState& w : block_.warps)
      for (int16_t i = 0; i < w.path_count; ++i) {
        const Path& p = w.paths[static_cast<size_t>(i)];
        if (p.state == Path::State::at_barrier || p.state == Path::State::at_sync ||
            (p.state == Path::State::held && (p.loop == nullptr || block_.last_resort)))
          freed |= free_waiting(w, p);
      }
    if (block_.last_resort || !is_held())
      for (WarpState& w : block_.warps) freed |= end_gathering(w);
    return freed;
  }

  /// Lanes do not wait for all others any more where the assembler would have it so (Yields::gathers).
  bool end_gathering(WarpState& w) {
    bool ended = false;
    for (Path& p : leaves(w)) {
      if (p.state != Path::State::at_sync || !may_end(p)) continue;
      proceed(w, p, p.pc + 1);
      progress_ = ended = true;
    }
    return ended;
  }

  [[nodiscard]] int most_paths() const {
    int most = 0;
    for (const WarpState& w : block_.warps) most = std::max<int>(most, w.path_count);
    return most;
  }

  static int32_t copy_frames(WarpState& w, int32_t frame) {
    if (frame < 0) return -1;
    const int32_t below = copy_frames(w, w.frames[static_cast<size_t>(frame)].below);
    const int32_t copy = new_frame(w);
    w.frames[static_cast<size_t>(copy)] = w.frames[static_cast<size_t>(frame)];
    w.frames[static_cast<size_t>(copy)].below = below;
    return copy;
  }

  /// Of the calls that a path has made itself, the outermost; -1: none.
  static int32_t outermost_frame(const WarpState& w, const Path& path) {
    int32_t frame = path.frame;
    while (frame >= 0 && w.frames[static_cast<size_t>(frame)].below >= 0)
      frame = w.frames[static_cast<size_t>(frame)].below;
    return frame;
  }

  /// Whether what two paths have called themselves returns to the same places. Calls with registers of their
  /// callers are not compared.
  static bool in_same_calls(const WarpState& w, const Path& path, const Path& other) {
    int32_t a = path.frame, b = other.frame;
    for (; a >= 0 && b >= 0;
         a = w.frames[static_cast<size_t>(a)].below, b = w.frames[static_cast<size_t>(b)].below) {
      const Frame &one = w.frames[static_cast<size_t>(a)], &another = w.frames[static_cast<size_t>(b)];
      if (one.back != another.back || one.stop != another.stop || !one.saved.empty() ||
          !another.saved.empty())
        return false;
    }
    return a < 0 && b < 0;
  }

  /// The path's own calls were made in these.
  static void set_frames_below(WarpState& w, Path& path, int32_t frame) {
    const int32_t outermost = outermost_frame(w, path);
    (outermost < 0 ? path.frame : w.frames[static_cast<size_t>(outermost)].below) = frame;
  }

  /// Where the path meets others, once it is back from its own calls.
  static void set_stop(WarpState& w, Path& path, const Inst* stop) {
    const int32_t outermost = outermost_frame(w, path);
    (outermost < 0 ? path.stop : w.frames[static_cast<size_t>(outermost)].stop) = stop;
  }

  static int32_t new_frame(WarpState& w) {
    if (w.free_frames.empty()) {
      w.frames.emplace_back();
      return static_cast<int32_t>(w.frames.size() - 1);
    }
    const int32_t index = w.free_frames.back();
    w.free_frames.pop_back();
    return index;
  }

  /// What made the path leave the run loop, other than a yield.
  void handle(WarpState& w, Path& path) {
    switch (w.event) {
      case Event::none: arrive(w, path, path.mask, path.stop); break;
      case Event::diverge: part(w, path, w.event_lanes, w.event_target, w.event_other, w.event_join); break;
      case Event::regroup: part(w, path, w.event_lanes, w.event_target, w.event_target, w.event_join); break;
      case Event::bypass: bypass(w, path, w.event_loop); break;
      case Event::give_way: give_way(w, path); break;
      case Event::exit: end_lanes(w, path, w.event_lanes, w.event_target); break;
      case Event::call: call(w, path); break;
      case Event::ret: ret(w, path); break;
      case Event::barrier: wait_at_barrier(w, path, w.event_target); break;
      case Event::sync: wait_for_lanes(w, path, w.event_target); break;
      case Event::hold:
        path.state = Path::State::held;
        path.pc = w.event_target;
        break;
      case Event::look: hold_in_loop(w, path, loop_of(w.event_target)); break;
      case Event::trap: trap(w, path); break;
      case Event::yield: break;
    }
  }

  /// The path goes on at pc, or joins its siblings if that is where.
  void proceed(WarpState& w, Path& path, const Inst* pc) {
    if (pc == path.stop && pc != no_instruction) {
      arrive(w, path, path.mask, pc);
    } else {
      path.pc = pc;
      path.state = Path::State::ready;
      path.loop = nullptr;
    }
  }

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

  /// The lanes of a path part: `lanes` go to `target`, the others to `other`; they meet again at `join`.
  void part(WarpState& w, Path& path, uint32_t lanes, const Inst* target, const Inst* other,
            const Inst* join) {
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

  /// A joint that waits for one child alone is none: it would be one of ever more.
  static void give_place_to_only_child(WarpState& w, int16_t at) {
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

  /// The path takes a branch that others did not; `loop`: the branch, if it closes a loop that only waits.
  void take_branch(WarpState& w, Path& path, const Inst* target, const Inst* loop) {
    if (loop != nullptr)
      hold_in_loop(w, path, loop_of(loop));
    else
      proceed(w, path, target);
  }

  // Calls.

  void call(WarpState& w, Path& path) {
    const Inst* in = w.event_other - 1;
    const Inst* entry = w.event_target;
    if (entry == in) {  // indirect: the lanes agree on the address
      const uint64_t address = common_value<uint64_t>(w, in->a, path.mask);
      const auto& functions = worker_.kernel->functions;
      auto found = std::find_if(functions.begin(), functions.end(),
                                [&](const auto& f) { return f.address == address; });
      if (found == functions.end()) {
        report(w, in, Finding::Kind::bad_call, path.mask, address, 0,
               "call through a pointer that names no function");
        end_lanes(w, path, path.mask, no_instruction);
        return;
      }
      entry = w.code + found->entry;
    }
    const int32_t index = new_frame(w);
    Frame& frame = w.frames[static_cast<size_t>(index)];
    frame.back = w.event_other;
    frame.stop = path.stop;
    frame.below = path.frame;
    frame.saved.clear();
    if (in->aux != no_operand) {
      const auto& [begin, end] = worker_.kernel->saved[in->aux];
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

  /// Gives the caller's registers back to the returning lanes. Lanes lie side by side in every register,
  /// whose widths the file's layout gives: see Kernel::widths.
  void restore(WarpState& w, const Frame& frame, uint32_t lanes) {
    for (const auto& [offset, lane_bytes] : worker_.kernel->register_layout) {
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

  static void drop_frames(WarpState& w, int32_t frame) {
    for (; frame >= 0; frame = w.frames[static_cast<size_t>(frame)].below) w.free_frames.push_back(frame);
  }

  // Ends.

  void trap(WarpState& w, Path& path) {
    report(w, w.event_target, Finding::Kind::trap, path.mask, 0, 0, "the kernel executed a trap instruction");
    end_lanes(w, path, path.mask, no_instruction);
  }

  void end_lanes(WarpState& w, Path& path, uint32_t lanes, const Inst* others_at) {
    if (block_.checks) block_.checks->exited(w, lanes, w.event == Event::exit ? w.event_target - 1 : nullptr);
    w.alive &= ~lanes;
    path.mask &= ~lanes;
    if (path.mask != 0) {
      proceed(w, path, others_at);
    } else {
      drop_frames(w, path.frame);
      arrive(w, path, 0, no_instruction);
    }
    if (w.alive == 0) {
      --block_.live_warps;
      w.path_count = 0;
      if (block_.checks && block_.live_warps == 0) block_.checks->ended(block_);
      if (block_.live_warps == 0 && w.event == Event::exit) check_tensor_memory(w, lanes, w.event_target - 1);
    }
    for (uint32_t rest = block_.barriers_in_use; rest != 0; rest &= rest - 1) {
      const auto b = static_cast<uint32_t>(std::countr_zero(rest));
      count_whole_warps(block_.barriers[b]);
      if (complete(block_.barriers[b])) release(b);
    }
    if (block_.cluster != nullptr) {
      ++worker_.global_writes;  // what the other blocks' waits look at
      complete_cluster_barrier(block_);
    }
    if (w.alive != 0)
      for (Path& p : leaves(w))
        if (p.state == Path::State::at_sync && release_lanes(w, p)) break;
  }

  /// PTX ISA 9.0, 9.7.16.7.1: what was allocated must be given back before the kernel ends.
  void check_tensor_memory(WarpState& w, uint32_t lanes, const Inst* in) const {
    if (block_.tensor_memory && !block_.tensor_memory->is_empty())
      report(w, in, Finding::Kind::bad_call, lanes, 0, 0,
             "the block ends and has not given back its tensor memory (tcgen05.dealloc)");
  }

  // Waiting for lanes of the same warp.

  void wait_for_lanes(WarpState& w, Path& path, const Inst* in) {
    path.state = Path::State::at_sync;
    path.pc = in;
    path.members = w.event_lanes;
    release_lanes(w, path);
  }

  /// Whether any instruction with the path's member mask will do, not just the one it waits at.
  static bool meets_anywhere(const Path& path) { return (path.pc->imm & sync_anywhere) != 0; }

  static bool may_end(const Path& path) { return (path.pc->imm & sync_may_end) != 0; }

  /// Whether `p` waits for the same lanes as `path`, where they can meet.
  static bool waits_with(const Path& path, const Path& p) {
    return p.state == Path::State::at_sync && p.members == path.members && may_end(p) == may_end(path) &&
           (meets_anywhere(path) ? meets_anywhere(p) : p.pc == path.pc);
  }

  /// The lanes that wait with `path`, its own among them.
  static uint32_t lanes_with(WarpState& w, const Path& path) {
    uint32_t together = 0;
    for (const Path& p : leaves(w))
      if (waits_with(path, p)) together |= p.mask;
    return together;
  }

  /// Lets the paths that wait with `path` go on if all members still alive are there.
  bool release_lanes(WarpState& w, const Path& path) {
    const Inst* in = path.pc;
    const bool anywhere = meets_anywhere(path);
    const uint32_t together = lanes_with(w, path);
    if ((path.members & w.alive & ~together) != 0) return false;
    if (block_.checks && !may_end(path)) block_.checks->meet(w, together, anywhere);
    if (!anywhere) {
      w.active = w.mask = together;
      in[1].fn(w, in + 1);
      worker_.instructions += 1;
      worker_.lane_instructions += static_cast<uint32_t>(std::popcount(together));
    }
    std::array<int16_t, max_paths> waiting;
    size_t count = 0;
    for (Path& p : leaves(w))
      if (waits_with(path, p)) waiting[count++] = index_of(w, p);
    for (size_t i = 0; i < count; ++i) {
      Path& p = w.paths[static_cast<size_t>(waiting[i])];
      proceed(w, p, p.pc + (anywhere ? 1 : 2));
    }
    gather(w, waiting[0]);
    return true;
  }

  // Barriers of the block. imm of the instruction: see decode.cpp.

  /// What the lowest lane of `mask` has: all have the same.
  template <class T>
  static T common_value(const WarpState& w, uint32_t reg, uint32_t mask) {
    return lane_value<T>(w, reg, static_cast<uint32_t>(std::countr_zero(mask)));
  }

  void wait_at_barrier(WarpState& w, Path& path, const Inst* in) {
    const bool of_group = (in->imm & barrier_of_group) != 0;
    const uint32_t number =
        of_group ? block_barriers + w.index / warps_of_group : common_value<uint32_t>(w, in->a, path.mask);
    if (!of_group && number >= block_barriers) {
      report(w, in, Finding::Kind::bad_barrier, path.mask, number, 0,
             "barrier " + std::to_string(number) + ": a block has barriers 0 to 15");
      end_lanes(w, path, path.mask, no_instruction);
      return;
    }
    Barrier& b = block_.barriers[number];
    block_.barriers_in_use |= 1u << number;
    if (b.arrived.empty()) b.arrived.resize(block_.warps.size());
    uint32_t& arrived = b.arrived[w.index];
    bool was_whole = (~arrived & w.alive) == 0;
    if ((arrived & path.mask) != 0) {  // a warp may give itself the start signal by bar.arrive
      b.before += threads_of(w, arrived);
      if (was_whole) --b.whole_warps;
      was_whole = false;
      arrived = 0;
    }
    arrived |= path.mask;
    if (!was_whole && (~arrived & w.alive) == 0) ++b.whole_warps;
    if (in->b != no_operand) b.expected = common_value<uint32_t>(w, in->b, path.mask);
    if (block_.checks && !of_group)  // wgmma.wait_group promises no order of the four warps
      block_.checks->arrive(w, path.mask, in, number, in->b != no_operand ? b.expected : 0);
    if (in->c != no_operand) {
      uint32_t value;
      std::memcpy(&value, w.regs + in->c, sizeof value);
      if ((in->imm & barrier_negated) != 0) value = ~value;
      b.true_count += static_cast<uint32_t>(std::popcount(value & path.mask));
      b.thread_count += static_cast<uint32_t>(std::popcount(path.mask));
    }
    if ((in->imm & barrier_kind) == barrier_arrive) {
      proceed(w, path, in + 1);
    } else {
      path.state = Path::State::at_barrier;
      path.barrier = number;
      path.pc = in;
    }
    if (complete(b)) release(number);
  }

  [[nodiscard]] bool complete(const Barrier& b) const {
    if (b.expected == 0) return b.whole_warps == block_.live_warps;
    uint32_t threads = b.before;
    for (const WarpState& w : block_.warps) threads += threads_of(w, b.arrived[w.index]);
    return threads >= b.expected;
  }
  /// A warp counts as 32 threads once all its live lanes are there.
  static uint32_t threads_of(const WarpState& w, uint32_t arrived) {
    if (arrived == 0) return 0;
    const uint32_t alive = arrived & w.alive;
    return alive == w.alive ? warp_lanes : static_cast<uint32_t>(std::popcount(alive));
  }

  /// Where lanes have ended.
  void count_whole_warps(Barrier& b) const {
    b.whole_warps = static_cast<uint32_t>(std::count_if(
        block_.warps.begin(), block_.warps.end(),
        [&](const WarpState& w) { return w.alive != 0 && (w.alive & ~b.arrived[w.index]) == 0; }));
  }

  void release(uint32_t number) {
    if (block_.checks && number < block_barriers) block_.checks->complete(block_.warps, number);
    Barrier& b = block_.barriers[number];
    const uint32_t true_count = b.true_count, thread_count = b.thread_count;
    std::fill(b.arrived.begin(), b.arrived.end(), 0);
    b.expected = b.true_count = b.thread_count = b.whole_warps = b.before = 0;
    block_.barriers_in_use &= ~(1u << number);
    for (WarpState& w : block_.warps) {
      // The usual case, a warp whose lanes are together, needs no list.
      if (w.path_count == 1) {
        pass_barrier(w, w.paths[0], number, true_count, thread_count);
        continue;
      }
      std::array<int16_t, max_paths> waiting;  // proceed() may join paths
      size_t count = 0;
      for (Path& p : leaves(w))
        if (p.state == Path::State::at_barrier) waiting[count++] = index_of(w, p);
      for (size_t i = 0; i < count; ++i)
        pass_barrier(w, w.paths[static_cast<size_t>(waiting[i])], number, true_count, thread_count);
      if (count != 0) gather(w, waiting[0]);
    }
  }

  void pass_barrier(WarpState& w, Path& p, uint32_t number, uint32_t true_count, uint32_t thread_count) {
    if (p.state != Path::State::at_barrier || p.barrier != number) return;
    const Inst* in = p.pc;
    write_reduction(w, p.mask, in, true_count, thread_count);
    proceed(w, p, in + 1);
  }

  static void write_reduction(WarpState& w, uint32_t mask, const Inst* in, uint32_t true_count,
                              uint32_t thread_count) {
    const uint64_t kind = in->imm & barrier_kind;
    if (kind == barrier_popc) {
      for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
        std::memcpy(w.regs + in->d + static_cast<size_t>(std::countr_zero(rest)) * 4, &true_count, 4);
    } else if (kind == barrier_and || kind == barrier_or) {
      const bool value = kind == barrier_and ? true_count == thread_count : true_count != 0;
      uint32_t p;
      std::memcpy(&p, w.regs + in->d, 4);
      p = value ? p | mask : p & ~mask;
      std::memcpy(w.regs + in->d, &p, 4);
    }
  }

  // Who cannot go on.

  /// Whether a path that is about to run returns to the very state it is in now, without a write: then it
  /// waits for somebody else. Its loop is run on, one backward branch at a time, until it does so or has run
  /// long enough. It is compared with what it was after 0, 1, 2, 4, 8 … of them (Brent's cycle detection),
  /// for memory that it reads may have changed before.
  bool spins(WarpState& w, Path& path) {
    uint64_t before = fingerprint(w, path);
    const Inst* start = path.pc;
    const uint64_t writes = worker_.global_writes;
    for (uint32_t step = 0; step < longest_cycle; ++step) {
      w.fuel = 1;
      const bool is_there = execute(w, path);
      if (is_there && w.event == Event::give_way && path.parent < 0) {
        path.pc = w.event_target;
        continue;
      }
      if (!is_there || w.event != Event::yield) {  // it left the loop
        if (is_there) handle(w, path);
        progress_ = true;
        return false;
      }
      path.pc = w.event_target;
      if (path.pc == path.stop && path.pc != no_instruction) {
        arrive(w, path, path.mask, path.pc);
        return false;
      }
      if (worker_.global_writes != writes) return false;
      const bool renew = std::has_single_bit(step);
      if (path.pc != start && !renew) continue;
      const uint64_t now = fingerprint(w, path);
      if (path.pc == start && now == before) return true;
      if (renew) {
        before = now;
        start = path.pc;
      }
    }
    return false;
  }

  [[nodiscard]] bool any_path(auto&& is) const {
    return std::any_of(block_.warps.begin(), block_.warps.end(), [&](const WarpState& w) {
      return std::any_of(w.paths.begin(), w.paths.begin() + w.path_count, is);
    });
  }
  [[nodiscard]] bool is_held() const {
    return any_path([](const Path& p) { return p.state == Path::State::held; });
  }
  [[nodiscard]] bool waits_at_mbarrier() const {
    return any_path([](const Path& p) { return p.state == Path::State::held && p.loop == nullptr; });
  }

  /// When nothing but held paths is left: waits at mbarriers say that the phase is not complete, as they may
  /// at any time, and their threads go on with that. False if there are none, or if all this has led to the
  /// same state before: then it leads nowhere.
  bool let_waits_end() {
    if (!waits_at_mbarrier()) return false;
    if (worker_.global_writes != writes_at_wait_) dead_ends_.clear();
    writes_at_wait_ = worker_.global_writes;
    const uint64_t state = fingerprint();
    if (std::find(dead_ends_.begin(), dead_ends_.end(), state) != dead_ends_.end()) return false;
    if (dead_ends_.size() < longest_cycle) dead_ends_.push_back(state);
    if (waits_in_vain()) return false;
    for (WarpState& w : block_.warps) {
      std::array<int16_t, max_paths> waiting;  // proceed() may join paths
      size_t count = 0;
      for (const Path& p : leaves(w))
        if (p.state == Path::State::held && p.loop == nullptr) waiting[count++] = index_of(w, p);
      for (size_t i = 0; i < count; ++i) try_again(w, w.paths[static_cast<size_t>(waiting[i])], true);
    }
    return true;
  }

  /// Whether waits have been given up for so long, with nothing in shared memory changing, that they will be
  /// for ever. Those of the CUDA C++ library (cuda::barrier, cuda::pipeline) read a clock and pause longer
  /// and longer, so that they never return to a state. What counts is the time that the block had, too.
  bool waits_in_vain() {
    constexpr std::chrono::milliseconds pause{100};
    constexpr int most_sharers = 16;  // blocks that take turns on one host thread
    auto& vain = block_.vain;
    uint64_t memory = 0;
    mix(memory, block_.shared_at, block_.shared_bytes / 8 * 8);
    const auto now = std::chrono::steady_clock::now(), last = std::exchange(vain.last, now);
    if (vain.memory != memory || vain.since == std::chrono::steady_clock::time_point{})
      vain = {memory, now, now, {}};
    else if (now - last < pause)
      vain.own += now - last;
    if (now - vain.since < worker_.patience || vain.own < worker_.patience / most_sharers) return false;
    // Other blocks most likely wait as this one does.
    worker_.patience = std::min(worker_.patience, pause);
    return true;
  }

  static void mix(uint64_t& hash, const std::byte* data, size_t bytes) {
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
      uint64_t v;
      std::memcpy(&v, data + i, 8);
      hash = (std::rotl(hash, 27) ^ v) * 0xff51afd7ed558ccdull;
    }
  }

  /// What a path of a warp sees and decides by.
  [[nodiscard]] uint64_t fingerprint(const WarpState& w, const Path& path) const {
    uint64_t h = 0x9e3779b97f4a7c15ull;
    mix_own(h, w);
    mix(h, block_.shared_at, block_.shared_bytes / 8 * 8);
    for (int32_t at = path.frame; at >= 0;) {
      const Frame& frame = w.frames[static_cast<size_t>(at)];
      mix(h, reinterpret_cast<const std::byte*>(&frame.back), sizeof frame.back);
      mix(h, frame.saved.data(), frame.saved.size());
      at = frame.below;
    }
    return h;
  }

  void mix_own(uint64_t& h, const WarpState& w) const {
    mix(h, w.regs, worker_.kernel->register_bytes);
    if (w.local_bytes != 0) mix(h, w.local, size_t{w.local_bytes} * warp_lanes);
  }

  /// Of the whole block, with where its paths are.
  [[nodiscard]] uint64_t fingerprint() {
    uint64_t h = 0x9e3779b97f4a7c15ull;
    mix(h, block_.shared_at, block_.shared_bytes / 8 * 8);
    for (WarpState& w : block_.warps) {
      if (w.alive == 0) continue;
      mix_own(h, w);
      const std::array<uint64_t, 1> copies{w.copies.size()};
      mix(h, reinterpret_cast<const std::byte*>(copies.data()), sizeof copies);
      mix(h, reinterpret_cast<const std::byte*>(w.groups.data()), sizeof w.groups);
      for (const Path& p : leaves(w)) {
        const std::array<uint64_t, 2> place{uint64_t{p.mask} << 8 | static_cast<uint64_t>(p.state),
                                            static_cast<uint64_t>(p.pc - w.code)};
        mix(h, reinterpret_cast<const std::byte*>(place.data()), sizeof place);
      }
    }
    return h;
  }

  /// The path waits at an instruction for lanes of its member mask.
  void report_lanes_missing(WarpState& w, const Path& p) {
    const uint32_t missing = p.members & w.alive & ~lanes_with(w, p);
    const auto first = static_cast<uint32_t>(std::countr_zero(missing));
    Finding found;
    found.kind = Finding::Kind::deadlock;
    found.instruction = p.pc->origin();
    found.thread = thread_of(w, static_cast<uint32_t>(std::countr_zero(p.mask)));
    found.count = static_cast<uint64_t>(std::popcount(p.mask));
    found.other_thread = thread_of(w, first);
    const Inst* place = place_of(w, missing);
    if (place != nullptr) found.other_instruction = place->origin();
    if (Finding* example = add_finding(w, found)) {
      const int others = std::popcount(missing) - 1;
      example->message = "waits for lane " + std::to_string(first) +
                         (others == 0 ? "" : " and " + std::to_string(others) + " more") +
                         " of the member mask " + in_hex(p.members) + ", which never comes here" +
                         (place != nullptr ? ": it is at {other}" : "");
    }
  }

  /// The wait at an mbarrier in the loop in which the path waits, if there is one.
  static const Inst* mbarrier_wait(const WarpState& w, const Path& p) {
    if (p.loop == nullptr) return nullptr;
    for (const auto& [begin, end] : p.loop->code)
      for (const Inst* in = w.code + begin; in != w.code + end; ++in)
        if (in->fn == wait_mbarrier) return in;
    return nullptr;
  }

  /// A loop's first instruction that is of a line of the source: what begins it may be the compiler's own.
  [[nodiscard]] const Inst* first_of_source(const WarpState& w, const Kernel::WaitLoop& loop) const {
    for (const auto& [begin, end] : loop.code)
      for (const Inst* in = w.code + begin; in != w.code + end; ++in)
        if (worker_.kernel->origins[in->origin()].line != 0) return in;
    return w.code + loop.first;
  }

  void report_waiting(WarpState& w, const Path& p) {
    if (const Inst* wait = mbarrier_wait(w, p)) {
      report(w, wait, Finding::Kind::deadlock, p.mask, 0, 0, describe_wait(w, wait, p.mask));
    } else if (p.state == Path::State::ready || p.loop != nullptr) {
      const bool takes_lock = p.loop != nullptr && p.loop->takes_lock;
      report(w, p.loop != nullptr ? first_of_source(w, *p.loop) : p.pc, Finding::Kind::deadlock, p.mask, 0, 0,
             takes_lock ? "a loop that takes a lock, which nobody gives back"
                        : "a loop that waits for a change of memory no other thread can make");
    } else if (p.state == Path::State::at_barrier) {
      const Barrier& b = block_.barriers[p.barrier];
      uint32_t threads = b.before, alive = 0;
      for (const WarpState& other : block_.warps) {
        threads += static_cast<uint32_t>(std::popcount(b.arrived[other.index] & other.alive));
        alive += static_cast<uint32_t>(std::popcount(other.alive));
      }
      report(w, p.pc, Finding::Kind::deadlock, p.mask, p.barrier, 0,
             (p.barrier < block_barriers ? "barrier " + std::to_string(p.barrier) : "the warp group") + ": " +
                 std::to_string(threads) + " of " + std::to_string(b.expected != 0 ? b.expected : alive) +
                 " threads wait here, the others never come");
    } else if (p.state == Path::State::at_sync) {
      report_lanes_missing(w, p);
    } else if (p.state == Path::State::held) {
      report(w, p.pc, Finding::Kind::deadlock, p.mask, 0, 0,
             p.pc->fn == wait_for_cluster ? "the cluster's barrier: not all threads of the cluster arrive"
             : p.pc->fn == allocate_tensor_memory ? describe_allocation(w, p.pc, p.mask)
                                                  : describe_wait(w, p.pc, p.mask));
    }
  }

  void deadlock() {
    for (WarpState& w : block_.warps)
      for (const Path& p : leaves(w)) report_waiting(w, p);
    for (WarpState& w : block_.warps) w.alive = 0;
    block_.live_warps = 0;
  }
};

Outcome run_one(BlockState& block, WorkerState& worker, bool last_resort) {
  for (WarpState& w : block.warps) w.worker = &worker;
  return Scheduler(block, worker).run(last_resort);
}

/// One block after another runs as far as it can; held paths give up only when all blocks are stalled.
Outcome run_cluster(const Cluster& cluster, WorkerState& worker) {
  for (bool last_resort = false;;) {
    const uint64_t writes = worker.global_writes;
    bool finished = true, stalled = true, waiting = false;
    for (BlockState* block : cluster.blocks) {
      if (block->live_warps == 0) continue;
      block->rounds = 1;  // what it spins for may be another block's to do
      const Outcome outcome = run_one(*block, worker, last_resort);
      finished = finished && outcome == Outcome::finished;
      stalled = stalled && outcome == Outcome::stalled;
      waiting = waiting || outcome == Outcome::waiting;
    }
    if (finished) return Outcome::finished;
    if (waiting) return Outcome::waiting;
    const bool still = stalled && worker.global_writes == writes;
    if (still && last_resort) return Outcome::stalled;
    last_resort = still;
  }
}

}  // namespace

Outcome run_block(BlockState& block, WorkerState& worker) {
  return block.cluster != nullptr ? run_cluster(*block.cluster, worker) : run_one(block, worker, true);
}

void report_stall(BlockState& block, WorkerState& worker) {
  each_block(block, [&](BlockState& b) {
    for (WarpState& w : b.warps) w.worker = &worker;
    Scheduler(b, worker).report_stall();
  });
}

}  // namespace lanescope::exec
