// See mbarrier.hpp.
#include "exec/mbarrier.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "base/words.hpp"
#include "exec/each_lane.hpp"
#include "exec/schedule.hpp"
#include "exec/state.hpp"

namespace lanescope::exec {

namespace {

constexpr uint32_t count_bits = 20, byte_bits = 21, byte_shift = 2 * count_bits,
                   phase_shift = byte_shift + byte_bits, mark_shift = phase_shift + 1;
constexpr uint64_t mark = 2, count_mask = (1u << count_bits) - 1, byte_mask = (1u << byte_bits) - 1;

template <class T>
void set_lane(Warp& w, uint32_t reg, uint32_t lane, T value) {
  std::memcpy(w.regs + reg + size_t{lane} * sizeof(T), &value, sizeof value);
}

MbarrierForm form_of(const Inst* in) { return std::bit_cast<MbarrierForm>(in->imm); }

uint64_t address_of(const Warp& w, const Inst* in, uint32_t lane) {
  const MbarrierForm form = form_of(in);
  // Offsets in shared memory have 32 bits, generic addresses 64.
  if (form.address_bytes == 4)
    return lane_value<uint32_t>(w, in->a, lane) + static_cast<uint32_t>(form.offset);
  return lane_value<uint64_t>(w, in->a, lane) + static_cast<uint64_t>(int64_t{form.offset});
}

void refuse(Warp& w, const Inst* in, uint32_t lane, uint64_t address, const std::string& why) {
  report(w, in, Finding::Kind::bad_barrier, 1u << lane, address, mbarrier_bytes, why);
}

/// The object at an address; nothing, after a finding, if there is none.
struct Found {
  std::byte* at = nullptr;
  Mbarrier object;
};
std::optional<Found> find(Warp& w, const Inst* in, uint32_t lane, uint64_t address) {
  std::byte* at = shared_memory(w, in, lane, address, mbarrier_bytes, mbarrier_bytes);
  if (at == nullptr) return std::nullopt;
  const auto object = Mbarrier::load(at);
  if (!object) {
    refuse(w, in, lane, address, "no mbarrier has been initialised there");
    return std::nullopt;
  }
  return Found{at, *object};
}

void store(Warp& w, const Found& found) {
  found.object.store(found.at);
  note_write(w, found.at);
}

/// Adds to the bytes an object waits for. False, after a finding, if they are more than it can count.
bool add_bytes(Warp& w, const Inst* in, uint32_t lane, uint64_t address, int64_t bytes, Mbarrier& object) {
  const int64_t sum = object.bytes + bytes;
  if (sum > Mbarrier::most_bytes || sum < -Mbarrier::most_bytes) {
    refuse(w, in, lane, address,
           "the mbarrier cannot wait for " + std::to_string(sum) +
               " bytes: " + std::to_string(Mbarrier::most_bytes) + " are the most");
    return false;
  }
  object.bytes = sum;
  return true;
}

/// What the lane did comes before what those do who wait for the object.
void release(const Warp& w, uint32_t lane, const std::byte* at) {
  tell_async_work(w, at, [&](AsyncWork& work, uint64_t offset) { work.release_to(w, lane, offset); });
}

/// Whether the phase was complete.
bool end_phase(const Warp& w, Found& found) {
  if (!found.object.complete_phase()) return false;
  tell_async_work(w, found.at, [](AsyncWork& work, uint64_t offset) { work.phase_completed(offset); });
  return true;
}

/// Whether that completed the phase.
bool arrive(Warp& w, const Inst* in, uint32_t lane, uint64_t address, uint32_t count, Found& found,
            bool drops) {
  Mbarrier& object = found.object;
  if (count > object.pending) {
    refuse(w, in, lane, address,
           std::to_string(count) + (count == 1 ? " arrival at" : " arrivals at") +
               " an mbarrier that expects " + std::to_string(object.pending) + " more in this phase");
    return false;
  }
  release(w, lane, found.at);
  object.pending -= count;
  if (drops) object.expected -= std::min(count, object.expected);
  const bool complete = end_phase(w, found);
  store(w, found);
  return complete;
}

/// Whether the phase that a lane waits for is complete; a lane that waits for nothing sensible has it. Then
/// `at` is the object.
bool has_completed(Warp& w, const Inst* in, uint32_t lane, const std::byte*& at) {
  const auto found = find(w, in, lane, address_of(w, in, lane));
  if (!found) return true;
  const bool waits_for_odd = in->c != no_operand
                                 ? (lane_value<uint32_t>(w, in->c, lane) & 1) != 0
                                 : (lane_value<uint64_t>(w, in->b, lane) >> phase_shift & 1) != 0;
  if (found->object.odd_phase == waits_for_odd) return false;
  at = found->at;
  return true;
}

/// The lanes have found phases of these objects complete.
void acquire(const Warp& w, uint32_t lanes, const std::array<const std::byte*, warp_lanes>& at) {
  for (uint32_t same = 0; lanes != 0; lanes &= ~same) {
    const std::byte* object = at[static_cast<size_t>(std::countr_zero(lanes))];
    same = 0;
    each_lane(lanes, [&](uint32_t lane) { same |= uint32_t{at[lane] == object} << lane; });
    if (object != nullptr)
      tell_async_work(w, object,
                      [&](AsyncWork& work, uint64_t offset) { work.acquire_from(w, same, offset); });
  }
}

}  // namespace

std::optional<Mbarrier> Mbarrier::load(const std::byte* at) {
  uint64_t bits;
  std::memcpy(&bits, at, sizeof bits);
  if (bits >> mark_shift != mark) return std::nullopt;
  Mbarrier object;
  object.pending = static_cast<uint32_t>(bits & count_mask);
  object.expected = static_cast<uint32_t>(bits >> count_bits & count_mask);
  object.bytes = static_cast<int64_t>(bits << (64 - phase_shift)) >> (64 - byte_bits);
  object.odd_phase = (bits >> phase_shift & 1) != 0;
  return object;
}

void Mbarrier::store(std::byte* at) const {
  const uint64_t bits = uint64_t{pending} | uint64_t{expected} << count_bits |
                        (static_cast<uint64_t>(bytes) & byte_mask) << byte_shift |
                        uint64_t{odd_phase} << phase_shift | mark << mark_shift;
  std::memcpy(at, &bits, sizeof bits);
}

bool Mbarrier::complete_phase() {
  if (pending != 0 || bytes != 0) return false;
  odd_phase = !odd_phase;
  pending = expected;
  return true;
}

void complete_bytes(Warp& w, const Inst* in, uint32_t lane, uint64_t address, int64_t bytes) {
  auto found = find(w, in, lane, address);
  if (!found || !add_bytes(w, in, lane, address, -bytes, found->object)) return;
  release(w, lane, found->at);
  if (end_phase(w, *found)) static_cast<WarpState&>(w).completed_phase = true;
  store(w, *found);
}

void arrive_for_work(Warp& w, const Inst* in, uint32_t lane, uint64_t address) {
  auto found = find(w, in, lane, address);
  if (found && arrive(w, in, lane, address, 1, *found, false))
    static_cast<WarpState&>(w).completed_phase = true;
}

void arrive_once(Warp& w, const Inst* in) {
  each_lane(w.mask, [&](uint32_t lane) {
    const uint64_t address = address_of(w, in, lane);
    if (auto found = find(w, in, lane, address)) arrive(w, in, lane, address, 1, *found, false);
  });
}

const Inst* use_mbarrier(Warp& w, const Inst* in) {
  const MbarrierForm form = form_of(in);
  each_lane(w.mask, [&](uint32_t lane) {
    const uint64_t address = address_of(w, in, lane);
    const uint32_t count = in->b == no_operand ? 1 : lane_value<uint32_t>(w, in->b, lane);
    if (form.op == MbarrierForm::Op::init) {
      std::byte* at = shared_memory(w, in, lane, address, mbarrier_bytes, mbarrier_bytes);
      if (at == nullptr) return;
      if (const auto before = Mbarrier::load(at))
        tell_checks(w, at, [&](BlockChecks& checks, uint64_t offset) {
          checks.reinitialised(w, in, lane, offset,
                               before->pending != before->expected || before->bytes != 0);
        });
      if (count == 0 || count > Mbarrier::most_arrivals)
        refuse(w, in, lane, address,
               "an mbarrier cannot expect " + std::to_string(count) + " arrivals: 1 to " +
                   std::to_string(Mbarrier::most_arrivals) + " are possible");
      else
        Mbarrier{count, count, 0, false}.store(at);
      tell_checks(w, at, [](BlockChecks& checks, uint64_t offset) {
        checks.written(offset, mbarrier_bytes);
        if (AsyncWork* work = checks.async_work()) work->initialised(offset);
      });
      return;
    }
    auto found = find(w, in, lane, address);
    if (!found) {
      if (in->d != no_operand) set_lane(w, in->d, lane, uint64_t{0});
      return;
    }
    switch (form.op) {
      case MbarrierForm::Op::invalidate: std::memset(found->at, 0, mbarrier_bytes); break;
      case MbarrierForm::Op::expect:
        if (add_bytes(w, in, lane, address, count, found->object)) store(w, *found);
        break;
      case MbarrierForm::Op::complete: complete_bytes(w, in, lane, address, count); break;
      default: {
        uint64_t state;
        std::memcpy(&state, found->at, sizeof state);
        if (in->d != no_operand) set_lane(w, in->d, lane, state);
        if (form.expects_bytes) add_bytes(w, in, lane, address, count, found->object);
        arrive(w, in, lane, address, form.expects_bytes ? 1 : count, *found, form.drops);
      }
    }
  });
  return in + 1;
}

const Inst* wait_mbarrier(Warp& w, const Inst* in) {
  uint32_t complete = 0;
  std::array<const std::byte*, warp_lanes> at{};
  each_lane(w.mask,
            [&](uint32_t lane) { complete |= uint32_t{has_completed(w, in, lane, at[lane])} << lane; });
  if (w.block->checks) acquire(w, complete, at);
  if ((complete == 0 || static_cast<WarpState&>(w).completed_phase) && !w.give_up) {
    w.event = Event::hold;
    w.event_target = in;
    return w.stop;
  }
  auto p = lane_value<uint32_t>(w, in->d, 0);
  p = (p & ~w.mask) | complete;
  set_lane(w, in->d, 0, p);
  return in + 1;
}

const Inst* count_pending(Warp& w, const Inst* in) {
  each_lane(w.mask, [&](uint32_t lane) {
    set_lane(w, in->d, lane, static_cast<uint32_t>(lane_value<uint64_t>(w, in->a, lane) & count_mask));
  });
  return in + 1;
}

std::string describe_wait(Warp& w, const Inst* in, uint32_t lanes) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
  const uint64_t address = address_of(w, in, lane);
  const auto found = find(w, in, lane, address);
  if (!found) return "waits for an mbarrier that is none";
  const Mbarrier& object = found->object;
  return "the mbarrier at shared memory offset " + std::to_string(found->at - w.shared) +
         " still waits for " + counted(object.pending, "arrival") + " of " + std::to_string(object.expected) +
         (object.bytes != 0
              ? " and for " + std::to_string(object.bytes) + (object.bytes == 1 ? " byte" : " bytes")
              : "") +
         ", and nothing is left to bring them";
}

}  // namespace lanescope::exec
