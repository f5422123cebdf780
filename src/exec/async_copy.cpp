// See async_copy.hpp.
#include "exec/async_copy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "exec/mbarrier.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

/// Does what is pending for the lanes of w.mask of which `is_due(copy, lane)` holds.
template <class Due>
void finish_copies(Warp& warp, Due is_due) {
  auto& w = static_cast<WarpState&>(warp);
  for (AsyncCopy& copy : w.copies)
    for (uint32_t rest = copy.mask & w.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
      if (!is_due(copy, lane)) continue;
      std::byte* to = w.shared + copy.to[lane];
      if (copy.read[lane] != 0)
        std::memcpy(to, reinterpret_cast<const void*>(copy.from[lane]), copy.read[lane]);
      std::memset(to + copy.read[lane], 0, copy.size - copy.read[lane]);
      if (w.block->checks) w.block->checks->copied(w, lane, copy.to[lane], copy.size);
      copy.mask &= ~(1u << lane);
    }
  std::erase_if(w.copies, [](const AsyncCopy& copy) { return copy.mask == 0; });
}

}  // namespace

void start_copy(Warp& warp, AsyncCopy& copy) {
  auto& w = static_cast<WarpState&>(warp);
  for (uint32_t rest = copy.mask; rest != 0;) {
    copy.group = w.groups[static_cast<uint32_t>(std::countr_zero(rest))];
    copy.mask = 0;
    for (uint32_t r = rest; r != 0; r &= r - 1)
      if (w.groups[static_cast<uint32_t>(std::countr_zero(r))] == copy.group) copy.mask |= r & (0 - r);
    rest &= ~copy.mask;
    w.copies.push_back(copy);
  }
}

uint32_t resolve_partial(Warp& w, const Inst* in, uint32_t lanes, uint64_t* from, const uint8_t* read,
                         uint32_t size) {
  const uint32_t all = w.mask;
  uint32_t good = 0;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    if (read[lane] > size) {
      report(w, in, Finding::Kind::bad_call, 1u << lane, from[lane], read[lane],
             "cp.async of " + std::to_string(size) + " bytes from " + std::to_string(read[lane]));
      continue;
    }
    if ((from[lane] & (size - 1)) != 0) {
      report(w, in, Finding::Kind::misaligned, 1u << lane, from[lane], size,
             "the source of a cp.async is no multiple of " + std::to_string(size));
      continue;
    }
    // Its first and its last byte.
    w.mask = 1u << lane;
    std::array<uint64_t, warp_lanes> end{};
    end[lane] = from[lane] + read[lane] - 1;
    if (resolve_flat(w, in, end.data(), 1, false, false, false) != 0)
      good |= resolve_flat(w, in, from, 1, false, false, false);
  }
  w.mask = all;
  return good;
}

const Inst* commit_copies(Warp& warp, const Inst* in) {
  auto& w = static_cast<WarpState&>(warp);
  w.has_committed = true;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1)
    ++w.groups[static_cast<uint32_t>(std::countr_zero(rest))];
  return in + 1;
}

const Inst* wait_for_groups(Warp& w, const Inst* in) {
  const auto& groups = static_cast<WarpState&>(w).groups;
  finish_copies(w, [&](const AsyncCopy& copy, uint32_t lane) { return copy.group + in->imm < groups[lane]; });
  return in + 1;
}

const Inst* wait_for_copies(Warp& w, const Inst* in) {
  finish_copies(w, [](const AsyncCopy&, uint32_t) { return true; });
  return in + 1;
}

const Inst* arrive_after_copies(Warp& w, const Inst* in) {
  finish_copies(w, [](const AsyncCopy&, uint32_t) { return true; });
  // Without .noinc the object expects one arrival more as long as the copies run: now no longer.
  if (in->b == no_operand) arrive_once(w, in);
  return in + 1;
}

}  // namespace lanescope::exec
