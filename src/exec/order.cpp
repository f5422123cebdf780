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

void Order::start() {
  agents_ = 0;
  proxy_fences_.clear();
  new_epoch();
}

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
  return std::make_shared<std::vector<uint32_t>>(size_t{threads()} + agents_);
}

void Order::own(Clock& clock) const {
  if (!clock) {
    clock = fresh();
    return;
  }
  if (clock.use_count() > 1) clock = std::make_shared<std::vector<uint32_t>>(*clock);
  clock->resize(size_t{threads()} + agents_);
}

void Order::tell(Clock& clock, uint32_t agent, uint32_t time) const {
  own(clock);
  (*clock)[agent] = std::max((*clock)[agent], time);
}

void Order::add(Clock& clock, const Clock& other) const {
  if (!other) return;
  own(clock);
  join(clock->data(), other->data(), other->size());
}

bool Order::knows_any(uint32_t first_warp, uint32_t count, uint32_t by_warp, uint32_t by_lane) const {
  const WarpClock& by = warps_[by_warp];
  if (!by.used || !by.others[by_lane]) return false;
  const auto first = by.others[by_lane]->begin() + static_cast<ptrdiff_t>(size_t{first_warp} * warp_lanes);
  return std::any_of(first, first + static_cast<ptrdiff_t>(size_t{count} * warp_lanes),
                     [](uint32_t time) { return time != 0; });
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
      if (w.others[lane]) join(joined->data(), w.others[lane]->data(), w.others[lane]->size());
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
      join(clock->data(), (*last)->data(), (*last)->size());
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
  if (w.others[lane]) join(clock->data(), w.others[lane]->data(), w.others[lane]->size());
  slice[lane] = own_time;
}

void Order::acquire(const Clock& clock, uint32_t warp, uint32_t lanes, bool covers) {
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
      if (before && before != clock && !covers) {
        after = before;
        own(after);
        join(after->data(), clock->data(), clock->size());
      }
    }
    w.others[lane] = after;
  });
}

void Order::acquire_at_fence(const Clock& clock, uint32_t warp, uint32_t lane) {
  if (!clock) return;
  Clock& pending = used(warp).pending[lane];
  if (!pending)
    pending = clock;
  else if (pending != clock)
    add(pending, clock);
}

void Order::proxy_fence(uint32_t warp, uint32_t lanes) {
  WarpClock& w = used(warp);
  proxy_fences_.resize(threads());
  each_lane(lanes, [&](uint32_t lane) {
    ProxyFence& made = proxy_fences_[size_t{warp} * warp_lanes + lane];
    made = {epoch_, (*w.own)[lane], w.others[lane]};
    made.own[lane] = w.now;
  });
  ++w.now;
}

bool Order::has_proxy_fence_after(uint32_t warp, uint32_t lane, uint32_t epoch, uint32_t time) const {
  const auto covers = [&](const ProxyFence& made) {
    if (made.epoch != epoch) return made.epoch > epoch;
    const auto by = static_cast<size_t>(&made - proxy_fences_.data()) / warp_lanes;
    return by == warp ? time <= made.own[lane] : holds(made.others, warp, lane, time);
  };
  // Mostly the thread itself has made it.
  const size_t thread = size_t{warp} * warp_lanes + lane;
  return thread < proxy_fences_.size() &&
         (covers(proxy_fences_[thread]) || std::any_of(proxy_fences_.begin(), proxy_fences_.end(), covers));
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
