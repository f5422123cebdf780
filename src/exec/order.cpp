// See order.hpp.
#include "exec/order.hpp"

#include <algorithm>
#include <bit>

#include "exec/each_lane.hpp"

namespace lanescope::exec {

namespace {

void join(uint32_t* into, const uint32_t* from, size_t count) {
  for (size_t i = 0; i < count; ++i) into[i] = std::max(into[i], from[i]);
}

}  // namespace

void Order::new_epoch() {
  ++epoch_;
  for (WarpClock& w : warps_) {
    w.now = 1;
    w.used = false;
  }
}

Order::WarpClock& Order::used(uint32_t warp) {
  WarpClock& w = warps_[warp];
  if (w.used) return w;
  w.used = true;
  if (!w.own) w.own = std::make_unique<std::array<Row, warp_lanes>>();
  for (Row& row : *w.own) row.fill(0);
  w.others.fill(nullptr);
  w.fenced.fill(0);
  w.pending.fill(nullptr);
  return w;
}

Order::Clock Order::fresh() const {
  return std::make_shared<std::vector<uint32_t>>(warps_.size() * warp_lanes);
}

void Order::own(Clock& clock) const {
  if (!clock)
    clock = fresh();
  else if (clock.use_count() > 1)
    clock = std::make_shared<std::vector<uint32_t>>(*clock);
}

void Order::warp_barrier(uint32_t warp, uint32_t lanes) {
  if (std::popcount(lanes) < 2) return;
  WarpClock& w = used(warp);
  Row all{};
  const Clock first = w.others[static_cast<size_t>(std::countr_zero(lanes))];
  bool alike = true;
  each_lane(lanes, [&](uint32_t lane) {
    join(all.data(), (*w.own)[lane].data(), warp_lanes);
    alike = alike && w.others[lane] == first;
  });
  each_lane(lanes, [&](uint32_t lane) { all[lane] = w.now; });
  each_lane(lanes, [&](uint32_t lane) { (*w.own)[lane] = all; });
  if (!alike) {
    const Clock joined = fresh();
    each_lane(lanes, [&](uint32_t lane) {
      if (w.others[lane]) join(joined->data(), w.others[lane]->data(), joined->size());
    });
    each_lane(lanes, [&](uint32_t lane) { w.others[lane] = joined; });
  }
  ++w.now;
}

void Order::release(Clock& clock, uint32_t warp, uint32_t lanes) {
  WarpClock& w = used(warp);
  own(clock);
  uint32_t* slice = clock->data() + size_t{warp} * warp_lanes;
  const Clock* last = nullptr;
  each_lane(lanes, [&](uint32_t lane) {
    join(slice, (*w.own)[lane].data(), warp_lanes);
    if (w.others[lane] && (last == nullptr || *last != w.others[lane])) {
      last = &w.others[lane];
      join(clock->data(), (*last)->data(), clock->size());
    }
  });
  each_lane(lanes, [&](uint32_t lane) { slice[lane] = w.now; });
  ++w.now;
}

void Order::release_fenced(Clock& clock, uint32_t warp, uint32_t lane) {
  const WarpClock& w = warps_[warp];
  own(clock);
  uint32_t* slice = clock->data() + size_t{warp} * warp_lanes;
  const uint32_t own_time = std::max(slice[lane], w.fenced[lane]);
  join(slice, (*w.own)[lane].data(), warp_lanes);
  if (w.others[lane]) join(clock->data(), w.others[lane]->data(), clock->size());
  slice[lane] = own_time;
}

void Order::acquire(const Clock& clock, uint32_t warp, uint32_t lanes) {
  if (!clock) return;
  WarpClock& w = used(warp);
  const uint32_t* slice = clock->data() + size_t{warp} * warp_lanes;
  // Lanes mostly know the same of other warps.
  Clock before, after;
  each_lane(lanes, [&](uint32_t lane) {
    join((*w.own)[lane].data(), slice, warp_lanes);
    if (!after || w.others[lane] != before) {
      before = w.others[lane];
      after = clock;
      if (before && before != clock) {
        after = std::make_shared<std::vector<uint32_t>>(*before);
        join(after->data(), clock->data(), clock->size());
      }
    }
    w.others[lane] = after;
  });
}

void Order::acquire_at_fence(const Clock& clock, uint32_t warp, uint32_t lane) {
  if (!clock) return;
  Clock& pending = used(warp).pending[lane];
  if (!pending) {
    pending = clock;
  } else if (pending != clock) {
    own(pending);
    join(pending->data(), clock->data(), clock->size());
  }
}

void Order::fence(uint32_t warp, uint32_t lanes) {
  WarpClock& w = used(warp);
  each_lane(lanes, [&](uint32_t lane) {
    w.fenced[lane] = w.now;
    if (!w.pending[lane]) return;
    acquire(w.pending[lane], warp, 1u << lane);
    w.pending[lane] = nullptr;
  });
  ++w.now;
}

}  // namespace lanescope::exec
