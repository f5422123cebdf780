// See barrier_check.hpp.
#include "exec/barrier_check.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "exec/checks.hpp"
#include "exec/each_lane.hpp"
#include "exec/init_check.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

using Severity = Finding::Severity;

uint32_t lowest(uint32_t lanes) { return static_cast<uint32_t>(std::countr_zero(lanes)); }

uint32_t count_of(uint32_t lanes) { return static_cast<uint32_t>(std::popcount(lanes)); }

Finding finding_at(Finding::Kind kind, const Inst* in, uint32_t thread) {
  Finding found;
  found.kind = kind;
  found.instruction = in->origin();
  found.thread = thread;
  return found;
}

}  // namespace

BarrierCheck::BarrierCheck(uint32_t threads, uint32_t warps)
    : threads_(threads), exits_(size_t{warps} * warp_lanes) {}

void BarrierCheck::start() {
  for (BlockBarrier& b : barriers_) b.expecting = nullptr;
  std::fill(exits_.begin(), exits_.end(), nullptr);
}

void BarrierCheck::exited(const Warp& w, uint32_t lanes, const Inst* in) {
  each_lane(lanes, [&](uint32_t lane) { exits_[thread_of(w, lane)] = in; });
}

// Barriers of the block.

void BarrierCheck::arrive(Warp& w, uint32_t lanes, const Inst* in, uint32_t number, uint32_t expected) {
  std::vector<const Inst*>& at = barriers_[number].at;
  at.resize(exits_.size());
  each_lane(lanes, [&](uint32_t lane) { at[thread_of(w, lane)] = in; });
  check_expected(w, in, lanes, number, expected);
}

void BarrierCheck::check_expected(Warp& w, const Inst* in, uint32_t lanes, uint32_t number,
                                  uint32_t expected) {
  BlockBarrier& b = barriers_[number];
  Finding found = finding_at(Finding::Kind::barrier_divergence, in, thread_of(w, lowest(lanes)));
  found.count = count_of(lanes);
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

void BarrierCheck::complete(std::vector<WarpState>& warps, uint32_t number, const BarrierArrivals& arrivals) {
  BlockBarrier& b = barriers_[number];
  uint32_t first = Finding::none;  // thread at the barrier
  bool told = false;
  for (WarpState& w : warps) {
    const uint32_t here = arrivals.waiting[w.index] | arrivals.passing[w.index];
    if (here == 0) continue;
    const uint32_t thread = thread_of(w, lowest(here));
    uint32_t elsewhere = 0;
    each_lane(here, [&](uint32_t lane) {
      if (b.at[thread_of(w, lane)] != b.at[thread]) elsewhere |= 1u << lane;
    });
    if (!check_warp(w, number, here, elsewhere)) told = true;
    // Between warps: a barrier of all threads stands where all come to.
    if (first == Finding::none)
      first = thread;
    else if (!told && b.expected == 0 && b.at[first] != b.at[thread] && elsewhere == 0)
      report_other_place(w, number, here, first);
  }
  if (first != Finding::none && b.expected == 0) check_ended(warps, number, arrivals.waiting, first);
  b.expecting = nullptr;
}

bool BarrierCheck::check_warp(WarpState& w, uint32_t number, uint32_t here, uint32_t elsewhere) {
  const std::vector<const Inst*>& at = barriers_[number].at;
  const uint32_t thread = thread_of(w, lowest(here)), missing = w.alive & ~here;
  if ((at[thread]->imm & barrier_aligned) == 0 || (elsewhere | missing) == 0) return true;
  const uint32_t others = elsewhere != 0 ? elsewhere : missing;
  Finding found = finding_at(Finding::Kind::barrier_divergence, at[thread], thread);
  found.count = count_of(others);
  found.other_thread = thread_of(w, lowest(others));
  if (elsewhere != 0)
    found.other_instruction = at[found.other_thread]->origin();
  else if (const Inst* place = place_of(w, missing))
    found.other_instruction = place->origin();
  Finding* const example = add_finding(w, found);
  if (example == nullptr) return false;
  const std::string name = "barrier " + std::to_string(number),
                    of_warp = " of the lanes of warp " + std::to_string(w.index),
                    how_many = std::to_string(found.count) + " others";
  if (elsewhere != 0)
    example->message = name + " is reached here by only " + std::to_string(count_of(here & ~elsewhere)) +
                       of_warp + ", by " + how_many +
                       " at {other}: all threads of a warp must execute one and the same barrier instruction";
  else
    example->message = name + " is passed here by only " + std::to_string(count_of(here)) + of_warp +
                       ", while " + how_many +
                       (found.other_instruction != Finding::none ? " are at {other}" : " are elsewhere") +
                       ": all threads of a warp must execute it together";
  return false;
}

void BarrierCheck::report_other_place(Warp& w, uint32_t number, uint32_t here, uint32_t first) {
  const std::vector<const Inst*>& at = barriers_[number].at;
  const uint32_t thread = thread_of(w, lowest(here));
  Finding found = finding_at(Finding::Kind::barrier_divergence, at[thread], thread);
  found.severity = Severity::warning;
  found.count = count_of(here);
  found.other_thread = first;
  found.other_instruction = at[first]->origin();
  if (Finding* example = add_finding(w, found))
    example->message = "barrier " + std::to_string(number) + " is reached here by warp " +
                       std::to_string(w.index) +
                       ", at {other} by other warps of the block: a barrier in conditional code must be "
                       "reached by all threads or by none; GPUs count arrivals, wherever they come from";
}

void BarrierCheck::check_ended(std::vector<WarpState>& warps, uint32_t number,
                               const std::vector<uint32_t>& waiting, uint32_t first) {
  Finding found = finding_at(Finding::Kind::barrier_divergence, barriers_[number].at[first], first);
  found.severity = Severity::note;
  found.count = 0;
  uint32_t ended = Finding::none;
  for (uint32_t t = 0; t < threads_; ++t) {
    const WarpState& w = warps[t / warp_lanes];
    if (((w.alive | waiting[w.index]) >> (t % warp_lanes) & 1) != 0) continue;
    ++found.count;
    if (ended == Finding::none) ended = t;
  }
  if (ended == Finding::none) return;
  found.other_thread = ended;
  if (exits_[ended] != nullptr) found.other_instruction = exits_[ended]->origin();
  const uint64_t threads = found.count;
  if (Finding* example = add_finding(warps[first / warp_lanes], found))
    example->message =
        std::to_string(threads) + (threads == 1 ? " thread" : " threads") + " of the block ended" +
        (found.other_instruction != Finding::none ? " at {other}" : "") + " without coming to barrier " +
        std::to_string(number) + " here, which does not wait for them";
}

// Mbarriers, member masks and shuffles.

void BarrierCheck::reinitialised(Warp& w, const Inst* in, uint32_t lane, uint64_t offset, bool in_use) {
  Finding found = finding_at(Finding::Kind::barrier_reinitialised, in, thread_of(w, lane));
  found.severity = in_use ? Severity::error : Severity::note;
  found.address = offset;
  if (Finding* example = add_finding(w, found))
    example->message = "the mbarrier at shared memory offset " + std::to_string(offset) +
                       " is initialised again" + (in_use ? " in the middle of a phase" : "") +
                       ": mbarrier.inval belongs before that";
}

void BarrierCheck::check_members(Warp& w, const Inst* in) {
  each_lane(w.active, [&](uint32_t lane) {
    const auto members = lane_value<uint32_t>(w, in->a, lane);
    // Of the lanes here those it names must name the same.
    uint32_t others = members & w.active;
    each_lane(others, [&](uint32_t other) {
      if (lane_value<uint32_t>(w, in->a, other) == members) others &= ~(1u << other);
    });
    const bool names_itself = (members >> lane & 1) != 0;
    if (names_itself && others == 0) return;
    if (Finding* example = add_finding(w, finding_at(Finding::Kind::member_mask, in, thread_of(w, lane)))) {
      example->message =
          "lane " + std::to_string(lane) + " executes this with the member mask " + in_hex(members) +
          (names_itself ? ", lane " + std::to_string(lowest(others)) + ", which that names, with " +
                              in_hex(lane_value<uint32_t>(w, in->a, lowest(others)))
                        : ", which does not name it") +
          ": what happens is undefined";
    }
  });
}

void BarrierCheck::check_sources(Warp& w, const Inst* in, const uint32_t* source, InitCheck* init) {
  const bool is_followed = in[-1].fn == check_values;
  const Inst* wait = is_followed ? in - 2 : in - 1;
  const auto members = lane_value<uint32_t>(w, wait->a, lowest(w.mask));
  const uint32_t here = w.mask & members;
  each_lane(here, [&](uint32_t lane) {
    const uint32_t from = source[lane];
    if ((here >> from & 1) != 0) return;
    UndefinedValues::Origin origin{.found = finding_at(Finding::Kind::shuffle_source, in, thread_of(w, lane)),
                                   .members = members};
    Finding& found = origin.found;
    found.other_thread = thread_of(w, from);
    const bool has_ended = (members >> from & 1) != 0 && found.other_thread < threads_;
    const Inst* exit = has_ended ? exits_[found.other_thread] : nullptr;
    if (exit != nullptr) found.other_instruction = exit->origin();
    if (is_followed) return init->shuffled(w, in[-1].aux, lane, origin);
    found.severity = Severity::warning;
    if (Finding* example = add_finding(w, found)) example->message = describe_shuffle(origin, threads_);
  });
}

}  // namespace lanescope::exec
