// See grid_races.hpp.
#include "exec/grid_races.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "exec/each_lane.hpp"
#include "exec/launch.hpp"
#include "exec/race_rules.hpp"
#include "exec/schedule.hpp"
#include "exec/warp_access.hpp"

namespace lanescope::exec {

namespace {

using Excuse = Finding::Excuse;
using Strength = CheckedAccess::Strength;

/// Of its block in the grid.
uint32_t index_of(const Warp& w) { return static_cast<uint32_t>(w.block->index); }

}  // namespace

GridRaces::GridRaces(const Kernel& kernel, const LaunchConfig& config)
    : kernel_(kernel), grid_(config.grid), cluster_(config.cluster) {}

GridRaces::~GridRaces() = default;

GridRaces::Page& GridRaces::page(uint64_t number, Block& block) {
  Block::Known& known = block.pages_[number % Block::remembered];
  if (known.number != number) {
    const std::lock_guard lock(pages_mutex_);
    auto& page = pages_[number];
    if (!page) page = std::make_unique<Page>();
    known = {number, page.get()};
  }
  return *known.page;
}

void GridRaces::access(WarpAccess& now, Block& block) {
  if (now.global == 0) return;
  if (!block.read_.empty()) note_seen(now.w, block);
  Access mine;
  mine.block = index_of(now.w);
  mine.time = clock_.load(std::memory_order_relaxed);
  mine.number = now.number;
  if (now.access.strength != Strength::plain && now.access.for_device && !now.access.of_bulk_copy)
    synchronise(now, block);
  std::unique_lock<std::mutex> lock;
  uint64_t number = UINT64_MAX;
  Page* at = nullptr;
  each_lane(now.global, [&](uint32_t lane) {
    mine.thread = static_cast<uint16_t>(thread_of(now.w, lane));
    const uint64_t begin = now.offset[lane], end = begin + now.bytes;
    // Of others another finding tells.
    if (!now.access.of_bulk_copy && begin % now.bytes != 0) return;
    for (uint64_t word = begin / word_bytes; word * word_bytes < end; ++word) {
      if (word / page_words != number) {
        if (lock) lock.unlock();
        number = word / page_words;
        at = &page(number, block);
        lock = std::unique_lock(at->mutex);
      }
      const uint64_t first = word * word_bytes;
      const uint32_t from = begin > first ? static_cast<uint32_t>(begin - first) : 0;
      const auto to = static_cast<uint32_t>(std::min<uint64_t>(end - first, word_bytes));
      mine.bytes = static_cast<uint8_t>((1u << to) - (1u << from));
      for (uint32_t i = from; i < to; ++i)
        if (leaves_out(now.access, static_cast<uint32_t>(first + i - begin)))
          mine.bytes &= static_cast<uint8_t>(~(1u << i));
      look(now, lane, first, at->words[word % page_words], mine, block);
    }
  });
}

void GridRaces::look(WarpAccess& now, uint32_t lane, uint64_t address, Word& word, Access mine,
                     const Block& block) {
  const AccessKind kind = now.access.kind;
  std::array<std::byte, word_bytes> stored{};
  const bool is_known = kind == AccessKind::store && now.access.data_bytes != 0;
  if (is_known) {
    std::array<std::byte, 32> bytes{};
    stored_bytes(now.w, now.access, lane, bytes.data());
    for (uint32_t i = 0; i < word_bytes; ++i)
      if ((mine.bytes >> i & 1) != 0) stored[i] = bytes[address + i - now.offset[lane]];
  }

  if (races(now.access, mine, word.store, address, block)) {
    bool same = is_known && kernel_.checks[word.store.number].kind == AccessKind::store;
    for (uint32_t i = 0; i < word_bytes; ++i)
      if ((mine.bytes & word.store.bytes) >> i & 1) same = same && stored[i] == word.stored[i];
    report(now, lane, word.store, block, same);
  }
  for (const Access& touch : word.touches)
    if ((!reads(kind) || is_atomic(kernel_.checks[touch.number].kind)) &&
        races(now.access, mine, touch, address, block))
      report(now, lane, touch, block, false);

  // Lanes of a warp may have a byte each.
  const auto is_part_of = [&](const Access& last) {
    return last.block == mine.block && last.number == mine.number && last.time == mine.time;
  };
  if (writes(kind)) {
    // What comes after the store is compared with that one.
    for (Access& touch : word.touches) touch.bytes &= static_cast<uint8_t>(~mine.bytes);
    if (is_part_of(word.store)) {
      for (uint32_t i = 0; i < word_bytes; ++i)
        if ((mine.bytes >> i & 1) == 0) stored[i] = word.stored[i];
      mine.bytes |= word.store.bytes;
    }
    word.store = mine;
    word.stored = stored;
  } else {
    Access& last = word.touches[0];
    if (last.block != mine.block) word.touches[1] = last;
    if (is_part_of(last)) mine.bytes |= last.bytes;
    // What a flag, or an atomic operation, tells of is more than what a plain load beside it does.
    const bool stays = last.block == mine.block && last.bytes != 0 &&
                       now.access.strength == Strength::plain &&
                       kernel_.checks[last.number].strength != Strength::plain;
    if (stays) return;
    last = mine;
  }
}

bool GridRaces::races(const CheckedAccess& access, const Access& mine, const Access& then, uint64_t address,
                      const Block& block) {
  if ((then.bytes & mine.bytes) == 0 || then.block == mine.block) return false;
  const CheckedAccess& before = kernel_.checks[then.number];
  // PTX ISA, "Volatile operations": as if relaxed, for the whole system; so is how blocks poll a flag.
  if (!can_race(access, before) || are_volatile(access, before)) return false;
  if (cluster_of(then.block) == cluster_of(mine.block)) return false;
  if (has_seen_fence(then, block)) return false;
  // Who has seen what a strong access left in this very word comes after that.
  return before.strength == Strength::plain || !block.looked_at_.contains(address / word_bytes) ||
         !has_seen_flag(then, block);
}

void GridRaces::report(WarpAccess& now, uint32_t lane, const Access& then, const Block& block,
                       bool same_value) {
  const CheckedAccess& before = kernel_.checks[then.number];
  Finding found = now.finding(Finding::Kind::race, lane);
  found.lack = has_seen_flag(then, block) ? Finding::Lack::device_fence : Finding::Lack::order_of_blocks;
  found.excuse = same_value                          ? Excuse::same_value
                 : is_guess(now.access, before)      ? Excuse::guess
                 : is_stale_load(now.access, before) ? Excuse::stale
                                                     : Excuse::none;
  found.severity = severity_of(found.excuse);
  // A flag is mostly set by what comes of the loads before it, so that it cannot overtake them.
  if (found.lack == Finding::Lack::device_fence && reads(before.kind))
    found.severity = std::max(found.severity, Finding::Severity::warning);
  found.other_instruction = before.origin;
  found.other_thread = then.thread;
  found.other_block = then.block;
  found.other_access = before.kind;
  found.bulk = now.access.of_bulk_copy;
  found.other_bulk = before.of_bulk_copy;
  found.count = now.raced >> lane & 1 ? 0 : 1;
  now.raced |= 1u << lane;
  report_global(now, lane, found);
}

// The order of blocks.

void GridRaces::fence(const Warp& w, Block& block) {
  const std::lock_guard lock(order_mutex_);
  block.fenced_ = ++clock_;
  fences_[cluster_of(index_of(w))].push_back(block.fenced_);
}

void GridRaces::synchronise(const WarpAccess& now, Block& block) {
  if (now.access.releases) fence(now.w, block);
  const auto each_word = [&](auto f) {
    uint64_t last = UINT64_MAX;  // lanes mostly have the flag in common
    each_lane(now.global, [&](uint32_t lane) {
      const uint64_t begin = now.offset[lane] / word_bytes,
                     end = (now.offset[lane] + now.bytes - 1) / word_bytes;
      for (uint64_t word = begin; begin != last && word <= end; ++word) f(word);
      last = begin;
    });
  };
  if (now.access.sees) each_word([&](uint64_t word) { block.read_.push_back(word); });
  if (reads(now.access.kind)) return;
  const std::lock_guard lock(order_mutex_);
  const uint32_t time = ++clock_, cluster = cluster_of(index_of(now.w));
  signals_[cluster].push_back(time);
  each_word([&](uint64_t word) {
    Flag& flag = flags_.try_emplace(word, Flag{{}, cluster}).first->second;
    flag = {{std::max(flag.times.fence, block.fenced_), time},
            cluster,
            flag.by_several || flag.cluster != cluster};
  });
}

void GridRaces::note_seen(const Warp& w, Block& block) {
  const uint32_t cluster = cluster_of(index_of(w));
  const std::lock_guard lock(order_mutex_);
  block.looked_at_.insert(block.read_.begin(), block.read_.end());
  for (const uint64_t word : block.read_) {
    const auto flag = flags_.find(word);
    if (flag == flags_.end()) continue;
    const auto& [times, by, by_several] = flag->second;
    block.seen_ = {std::max(block.seen_.fence, times.fence), std::max(block.seen_.flag, times.flag)};
    block.has_seen_others_ = block.has_seen_others_ || by_several || by != cluster;
  }
  block.read_.clear();
}

bool GridRaces::has_seen_fence(const Access& then, const Block& block) {
  return comes_before(then.time, block.seen_.fence, fences_, then.block);
}

bool GridRaces::has_seen_flag(const Access& then, const Block& block) {
  return comes_before(then.time, block.seen_.flag, signals_, then.block);
}

bool GridRaces::comes_before(uint32_t time, uint32_t seen, const TimesOfClusters& times, uint32_t block) {
  if (seen <= time) return false;
  const std::lock_guard lock(order_mutex_);
  const auto own = times.find(cluster_of(block));
  if (own == times.end()) return false;
  const auto next = std::upper_bound(own->second.begin(), own->second.end(), time);
  return next != own->second.end() && *next <= seen;
}

uint32_t GridRaces::cluster_of(uint32_t block) const {
  if (cluster_.count() <= 1) return block;
  const uint32_t x = block % grid_.x / cluster_.x, y = block / grid_.x % grid_.y / cluster_.y,
                 z = block / grid_.x / grid_.y / cluster_.z;
  return (z * (grid_.y / cluster_.y) + y) * (grid_.x / cluster_.x) + x;
}

// Allocations.

void GridRaces::forget(uint64_t address, uint64_t bytes) {
  const uint64_t end = (address + bytes + word_bytes - 1) / word_bytes;
  for (uint64_t word = address / word_bytes, next = 0; word < end; word = next) {
    const uint64_t number = word / page_words;
    next = std::min(end, (number + 1) * page_words);
    Page* page = nullptr;
    {
      const std::lock_guard lock(pages_mutex_);
      const auto found = pages_.find(number);
      if (found != pages_.end()) page = found->second.get();
    }
    if (page == nullptr) continue;
    const std::lock_guard lock(page->mutex);
    for (; word < next; ++word) page->words[word % page_words] = Word{};
  }
}

}  // namespace lanescope::exec
