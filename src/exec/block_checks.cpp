// Barriers of a checked launch: what they order, and whether all threads come to them as they must. See
// block_checks.hpp.
#include "exec/block_checks.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "exec/each_lane.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

using Severity = Finding::Severity;

uint32_t lowest(uint32_t lanes) { return static_cast<uint32_t>(std::countr_zero(lanes)); }

}  // namespace

void BlockChecks::reinitialised(Warp& w, const Inst* in, uint32_t lane, uint64_t offset, bool in_use) {
  if (!checks_.barrier) return;
  Finding found;
  found.kind = Finding::Kind::barrier_reinitialised;
  found.severity = in_use ? Severity::error : Severity::note;
  found.instruction = in->origin();
  found.thread = thread_of(w, lane);
  found.address = offset;
  if (Finding* example = add_finding(w, found))
    example->message = "the mbarrier at shared memory offset " + std::to_string(offset) +
                       " is initialised again" + (in_use ? " in the middle of a phase" : "") +
                       ": mbarrier.inval belongs before that";
}

void BlockChecks::check_members(Warp& w, const Inst* in) {
  if (!checks_.barrier) return;
  for (uint32_t rest = w.active; rest != 0; rest &= rest - 1) {
    const uint32_t lane = lowest(rest);
    const auto members = lane_value<uint32_t>(w, in->a, lane);
    // Of the lanes here those it names must name the same.
    uint32_t others = members & w.active;
    each_lane(others, [&](uint32_t other) {
      if (lane_value<uint32_t>(w, in->a, other) == members) others &= ~(1u << other);
    });
    const bool names_itself = (members >> lane & 1) != 0;
    if (names_itself && others == 0) continue;
    Finding found;
    found.kind = Finding::Kind::member_mask;
    found.instruction = in->origin();
    found.thread = thread_of(w, lane);
    if (Finding* example = add_finding(w, found)) {
      example->message =
          "lane " + std::to_string(lane) + " executes this with the member mask " + in_hex(members) +
          (names_itself ? ", lane " + std::to_string(lowest(others)) + ", which that names, with " +
                              in_hex(lane_value<uint32_t>(w, in->a, lowest(others)))
                        : ", which does not name it") +
          ": what happens is undefined";
    }
  }
}

void BlockChecks::check_sources(Warp& w, const Inst* in, const uint32_t* source) {
  if (!checks_.barrier || tries_) return;
  const bool is_followed = in[-1].fn == check_values;
  const Inst* wait = is_followed ? in - 2 : in - 1;
  const auto members = lane_value<uint32_t>(w, wait->a, lowest(w.mask));
  const uint32_t here = w.mask & members;
  std::array<std::byte, sizeof(uint32_t)> undefined;
  undefined.fill(std::byte{0xff});
  UndefinedValues::Origin origin{.members = members};
  Finding& found = origin.found;
  found.kind = Finding::Kind::shuffle_source;
  found.instruction = in->origin();
  each_lane(here, [&](uint32_t lane) {
    const uint32_t from = source[lane];
    if ((here >> from & 1) != 0) return;
    found.thread = thread_of(w, lane);
    found.other_thread = thread_of(w, from);
    const bool has_ended = (members >> from & 1) != 0 && found.other_thread < threads_;
    const Inst* exit = has_ended ? exits_[found.other_thread] : nullptr;
    found.other_instruction = exit != nullptr ? exit->origin() : none;
    if (!is_followed) {
      found.severity = Severity::warning;
      return report_undefined(w, origin, none);
    }
    for (const FollowedRegister& reg : kernel_.flows[in[-1].aux].to)
      if (reg.lane_bytes != 0) values_.set(w, reg, lane, undefined, false, values_.remember(origin));
  });
}

std::string BlockChecks::words_for_shuffle(const UndefinedValues::Origin& origin) const {
  const Finding& found = origin.found;
  const uint32_t from = found.other_thread % warp_lanes;
  std::string why = "which has ended";
  if ((origin.members >> from & 1) == 0)
    why = "which is not in the member mask " + in_hex(origin.members);
  else if (found.other_thread >= threads_)
    why = "which the block does not have";
  else if (found.other_instruction != none)
    why += " at {other}";
  return "lane " + std::to_string(found.thread % warp_lanes) + " takes the value of lane " +
         std::to_string(from) + ", " + why + ": what it gets is undefined";
}

void BlockChecks::arrive(Warp& w, uint32_t lanes, const Inst* in, uint32_t number, uint32_t expected) {
  BlockBarrier& b = barriers_[number];
  if (b.at.empty()) {
    b.at.resize(size_t{warps_} * warp_lanes);
    b.waiting.resize(warps_);
    b.passing.resize(warps_);
  }
  const bool waits = (in->imm & barrier_kind) != barrier_arrive;
  (waits ? b.waiting : b.passing)[w.index] |= lanes;
  if (!waits && checks_.race) order_.release(b.passed, warp_of(w), lanes);
  if (!checks_.barrier) return;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) b.at[thread_of(w, lowest(rest))] = in;

  Finding found;
  found.kind = Finding::Kind::barrier_divergence;
  found.instruction = in->origin();
  found.thread = thread_of(w, lowest(lanes));
  found.count = static_cast<uint64_t>(std::popcount(lanes));
  if (expected % warp_lanes != 0) {
    if (Finding* example = add_finding(w, found))
      example->message = "barrier " + std::to_string(number) + " for " + std::to_string(expected) +
                         " threads: the number must be a multiple of the warp size, 32";
  }
  if (b.expecting == nullptr) {
    b.expecting = in;
    b.expected = expected;
    b.expecting_thread = found.thread;
  } else if (b.expected != expected) {
    found.other_instruction = b.expecting->origin();
    found.other_thread = b.expecting_thread;
    if (Finding* example = add_finding(w, found)) {
      const auto threads = [](uint32_t n) { return n == 0 ? "all threads" : std::to_string(n) + " threads"; };
      example->message = "barrier " + std::to_string(number) + " is for " + threads(expected) +
                         " here, but for " + threads(b.expected) + " at {other}";
    }
  }
}

void BlockChecks::complete(std::vector<WarpState>& warps, uint32_t number) {
  BlockBarrier& b = barriers_[number];
  if (b.at.empty()) return;
  if (checks_.barrier) check_places(warps, number);
  if (checks_.race) {
    bool all = !b.passed;
    for (const WarpState& w : warps) all = all && (w.alive & ~b.waiting[w.index]) == 0;
    if (all && alone_) {
      new_epoch();
    } else {
      TwoOrders::Clock clock = std::move(b.passed);
      for (const WarpState& w : warps)
        if (b.waiting[w.index] != 0) order_.release(clock, warp_of(w), b.waiting[w.index]);
      if (all) order_.add(clock, ended_);  // who has ended is not waited for
      for (const WarpState& w : warps)
        if (b.waiting[w.index] != 0) order_.acquire(clock, warp_of(w), b.waiting[w.index], true);
    }
  }
  b.clear();
}

void BlockChecks::check_places(std::vector<WarpState>& warps, uint32_t number) {
  const BlockBarrier& b = barriers_[number];
  const std::string name = "barrier " + std::to_string(number);
  uint32_t first = none;  // thread at the barrier
  bool told = false;
  for (WarpState& w : warps) {
    const uint32_t here = b.waiting[w.index] | b.passing[w.index];
    if (here == 0) continue;
    const uint32_t thread = thread_of(w, lowest(here));
    const Inst* at = b.at[thread];
    Finding found;
    found.kind = Finding::Kind::barrier_divergence;
    found.instruction = at->origin();
    found.thread = thread;
    const bool aligned = (at->imm & barrier_aligned) != 0;

    // Inside a warp: all its lanes, at one instruction.
    uint32_t elsewhere = 0;
    for (uint32_t rest = here; rest != 0; rest &= rest - 1)
      if (b.at[thread_of(w, lowest(rest))] != at) elsewhere |= 1u << lowest(rest);
    const uint32_t missing = w.alive & ~here;
    if (aligned && elsewhere != 0) {
      found.count = static_cast<uint64_t>(std::popcount(elsewhere));
      found.other_thread = thread_of(w, lowest(elsewhere));
      found.other_instruction = b.at[found.other_thread]->origin();
      if (Finding* example = add_finding(w, found))
        example->message = name + " is reached here by only " +
                           std::to_string(std::popcount(here & ~elsewhere)) + " of the lanes of warp " +
                           std::to_string(w.index) + ", by " + std::to_string(std::popcount(elsewhere)) +
                           " others at {other}: all threads of a warp must execute one and the same barrier "
                           "instruction";
      told = true;
    } else if (aligned && missing != 0) {
      found.count = static_cast<uint64_t>(std::popcount(missing));
      found.other_thread = thread_of(w, lowest(missing));
      if (const Inst* place = place_of(w, missing)) found.other_instruction = place->origin();
      if (Finding* example = add_finding(w, found))
        example->message =
            name + " is passed here by only " + std::to_string(std::popcount(here)) +
            " of the lanes of warp " + std::to_string(w.index) + ", while " +
            std::to_string(std::popcount(missing)) +
            (found.other_instruction != none ? " others are at {other}" : " others are elsewhere") +
            ": all threads of a warp must execute it together";
      told = true;
    }

    // Between warps: a barrier of all threads stands where all come to.
    if (first == none) {
      first = thread;
    } else if (!told && b.expected == 0 && b.at[first] != at && elsewhere == 0) {
      found.severity = Severity::warning;
      found.count = static_cast<uint64_t>(std::popcount(here));
      found.other_thread = first;
      found.other_instruction = b.at[first]->origin();
      found.message.clear();
      if (Finding* example = add_finding(w, found))
        example->message = name + " is reached here by warp " + std::to_string(w.index) +
                           ", at {other} by other warps of the block: a barrier in conditional code must be "
                           "reached by all threads or by none; GPUs count arrivals, wherever they come from";
    }
  }
  if (first == none || b.expected != 0) return;

  // Threads that have ended.
  Finding found;
  found.kind = Finding::Kind::barrier_divergence;
  found.severity = Severity::note;
  found.instruction = b.at[first]->origin();
  found.thread = first;
  found.count = 0;
  uint32_t ended = none;
  for (uint32_t t = 0; t < threads_; ++t) {
    const WarpState& w = warps[t / warp_lanes];
    if ((w.alive >> (t % warp_lanes) & 1) != 0 || (b.waiting[w.index] >> (t % warp_lanes) & 1) != 0) continue;
    ++found.count;
    if (ended == none) ended = t;
  }
  if (ended == none) return;
  found.other_thread = ended;
  if (exits_[ended] != nullptr) found.other_instruction = exits_[ended]->origin();
  const uint64_t threads = found.count;
  if (Finding* example = add_finding(warps[first / warp_lanes], found))
    example->message = std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
                       " of the block ended" + (found.other_instruction != none ? " at {other}" : "") +
                       " without coming to " + name + " here, which does not wait for them";
}

void BlockChecks::exited(const Warp& w, uint32_t lanes, const Inst* in) {
  if (checks_.race && !alone_) order_.release(ended_, warp_of(w), lanes);
  if (exits_.empty()) return;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) exits_[thread_of(w, lowest(rest))] = in;
}

}  // namespace lanescope::exec
