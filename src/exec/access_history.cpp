// See access_history.hpp.
#include "exec/access_history.hpp"

#include <algorithm>

#include "exec/each_lane.hpp"

namespace lanescope::exec {

void AccessHistory::start() { std::fill(own_stores_.begin(), own_stores_.end(), OwnStore{}); }

void AccessHistory::new_epoch() {
  touches_.clear();
  free_touch_ = none;
  // The counter is round: no cell may look like one of the epochs to come.
  if (order_.epoch() == 0) std::fill(cells_.begin(), cells_.end(), Cell{});
}

void AccessHistory::forget(uint32_t index) {
  Cell& c = cell(index);
  if (c.is_touched()) forget_touches(c);
  c.store = {};
}

void AccessHistory::touch(Cell& c, const WarpAccess& now, uint32_t lane) {
  const bool by_agent{now.by};
  const uint32_t by = by_agent ? now.by.agent : now.thread(lane), warp = by / warp_lanes,
                 bit = 1u << by % warp_lanes;
  const uint32_t time = by_agent || now.access.of_bulk_copy ? now.by.time : order_.now(warp);
  if ((c.touching_warps >> warp % 32 & 1) != 0) {
    uint32_t* link = &c.touches;
    while (*link != none) {
      Touch& t = touches_[*link];
      if (t.warp != warp || t.access != now.number) {
        link = &t.next;
        continue;
      }
      if (t.time != time) {
        // What happens before this access need not be known any longer: whoever races with it races with
        // this.
        uint32_t left = t.lanes;
        if (by_agent)
          left &= ~bit;
        else if (time != in_flight)
          each_lane(t.lanes, [&](uint32_t other) {
            if (order_.is_before(warp, other, t.time, warp, lane)) left &= ~(1u << other);
          });
        t.lanes = left;
        if (left == 0) t.time = time;
      }
      if (t.time == time) {
        t.lanes |= bit;
        // To the front: a warp mostly comes back before others come.
        const uint32_t found = *link;
        *link = t.next;
        t.next = c.touches;
        c.touches = found;
        return;
      }
      link = &t.next;
    }
  }
  add_touch(c, now.number, warp, time, bit);
}

void AccessHistory::add_touch(Cell& c, uint32_t access, uint32_t warp, uint32_t time, uint32_t lanes) {
  uint32_t fresh = free_touch_;
  if (fresh != none) {
    free_touch_ = touches_[fresh].next;
  } else {
    fresh = static_cast<uint32_t>(touches_.size());
    touches_.emplace_back();
  }
  touches_[fresh] = {c.touches, access, warp, time, lanes};
  c.touches = fresh;
  c.touching_warps |= 1u << warp % 32;
}

void AccessHistory::forget_touches(Cell& c) {
  uint32_t last = c.touches;
  while (touches_[last].next != none) last = touches_[last].next;
  touches_[last].next = free_touch_;
  free_touch_ = c.touches;
  c.touches = none;
  c.touching_warps = 0;
  c.has_atomics = false;
}

}  // namespace lanescope::exec
