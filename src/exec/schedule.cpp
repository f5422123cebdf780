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
#include "exec/stall.hpp"

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

}  // namespace

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

  /// A path waits, in a loop, for lanes that wait for it where paths join: those lanes go on without it
  /// (they may hold the lock it is after). They are told apart from lanes of a long loop by the loop's
  /// returning to the same state. True if there were any.
  bool free_waiting(WarpState& w, const Path& path) {
    const bool freed = go_on_without(w, path);
    progress_ = progress_ || freed;
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
      case Event::barrier:
        if (!come_to_barrier(w, path, w.event_target)) end_lanes(w, path, path.mask, no_instruction);
        break;
      case Event::sync: wait_for_lanes(w, path, w.event_target); break;
      case Event::hold:
        path.state = Path::State::held;
        path.pc = w.event_target;
        break;
      case Event::look: hold_in_loop(w, path, w.event_target); break;
      case Event::trap: trap(w, path); break;
      case Event::yield: break;
    }
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
    exec::call(w, path, entry);
  }

  // Ends.

  void trap(WarpState& w, Path& path) {
    report(w, w.event_target, Finding::Kind::trap, path.mask, 0, 0,
           w.event_target->imm == trap_break
               ? "the kernel came to a breakpoint (brkpt), and there is no debugger"
               : "the kernel executed a trap instruction");
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
    let_barriers_complete(block_);
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
    const uint64_t state = fingerprint(block_);
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
    const uint64_t memory = fingerprint_of_shared(block_);
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
