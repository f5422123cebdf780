// The counting observer: finds the cost of each access (remembered or from the model) and adds it up.
#include "profile/collector.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "lanescope/model/global.hpp"
#include "lanescope/model/shared.hpp"
#include "profile/cost.hpp"

namespace lanescope::profile {
namespace {

/// Local memory: moving all lanes by a word moves the access by one row of 128 bytes.
constexpr uint32_t local_granule = 4;

/// Writes the addresses relative to `base` (0 for lanes outside `mask`); false if one is not within 2 GB of
/// it.
bool relative(const std::array<uint64_t, 32>& address, uint32_t mask, uint64_t base, uint32_t* offset) {
  constexpr uint64_t half = uint64_t{1} << 31;
  uint64_t beyond = 0;
  if (mask == exec::full_mask) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint64_t distance = address[lane] - base;
      beyond |= distance + half;
      offset[lane] = static_cast<uint32_t>(distance);
    }
  } else {
    std::memset(offset, 0, 32 * sizeof(uint32_t));
    for (uint32_t left = mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(left));
      const uint64_t distance = address[lane] - base;
      beyond |= distance + half;
      offset[lane] = static_cast<uint32_t>(distance);
    }
  }
  return beyond >> 32 == 0;
}

/// A hash of 32 offsets, mask and request: four independent chains, so that their multiplications overlap.
uint64_t hash_of(const uint32_t* offset, uint32_t mask, uint32_t request) {
  constexpr uint64_t factor = 0x9E3779B97F4A7C15u;
  uint64_t word[16];
  std::memcpy(word, offset, sizeof word);
  uint64_t chain[4] = {uint64_t{mask} << 32 | request, 1, 2, 3};
  for (size_t i = 0; i < 16; i += 4) {
    for (size_t j = 0; j < 4; ++j) {
      chain[j] = (chain[j] ^ word[i + j]) * factor;
      chain[j] ^= chain[j] >> 29;
    }
  }
  const uint64_t sum = ((chain[0] * factor ^ chain[1]) * factor ^ chain[2]) * factor ^ chain[3];
  return sum * factor >> 32;
}

uint64_t badness_of(exec::AccessSpace space, const Cost& cost) {
  return space == exec::AccessSpace::shared
             ? uint64_t{cost.max_way} << 32 | cost.wavefronts
             : uint64_t{cost.sectors - cost.ideal_sectors} << 32 | cost.sectors;
}

}  // namespace

Collector::Collector(const model::Arch& arch, uint32_t sites, RecordBlocks record,
                     std::shared_ptr<const merge::Plan> plan)
    : arch_(arch), record_(record), plan_(std::move(plan)), sites_(sites), entries_(sets * ways) {
  shared_granule = model::shared_shift_granule(arch_);
  copy_granule = model::shared_shift_granule(arch_, model::Op::cp_async_cg);
  global_granule = model::global_shift_granule(arch_);
  if (record_ != RecordBlocks::none) recorder_ = std::make_unique<Recorder>(*this, sites, plan_.get());
}

exec::Observer* Collector::of_block(uint64_t block) {
  constexpr uint64_t first = 16, every = 64;
  if (record_ == RecordBlocks::none) return this;
  if (record_ == RecordBlocks::some && block >= first && block % every != 0) return this;
  return recorder_.get();
}

const Cost& Collector::cost(const exec::Access& access) {
  const uint64_t granule = access.space == exec::AccessSpace::shared
                               ? model::shared_shift_granule(arch_, op_of(access.kind))
                           : access.space == exec::AccessSpace::local ? local_granule
                                                                      : global_granule;
  const uint64_t first = access.address[static_cast<size_t>(std::countr_zero(access.mask))];
  alignas(64) uint32_t offset[32];
  if (access.destination != nullptr ||
      !relative(access.address, access.mask, first & ~(granule - 1), offset)) {
    ++model_calls_;
    return uncached_ = cost_of(arch_, access);
  }
  const uint32_t request = static_cast<uint32_t>(access.returns) << 24 |
                           static_cast<uint32_t>(access.kind) << 16 |
                           static_cast<uint32_t>(access.space) << 8 | access.width;
  Entry* set = entries_.data() + (hash_of(offset, access.mask, request) & (sets - 1)) * ways;
  const auto matches = [&](const Entry& entry) {
    return entry.mask == access.mask && entry.request == request &&
           std::memcmp(entry.offset.data(), offset, sizeof offset) == 0;
  };
  if (matches(set[0])) return set[0].cost;
  if (!matches(set[1])) {
    std::memcpy(set[1].offset.data(), offset, sizeof offset);
    set[1].mask = access.mask;
    set[1].request = request;
    set[1].cost = cost_of(arch_, access);
    ++model_calls_;
  }
  std::swap(set[0], set[1]);
  return set[0].cost;
}

SiteCounters& Collector::counters_of(uint32_t instruction, exec::AccessKind kind, exec::AccessSpace space,
                                     uint32_t shared_variable) {
  const uint32_t variable = space == exec::AccessSpace::shared ? shared_variable : no_variable;
  Site& site = sites_[instruction];
  const auto is_of = [&](const SiteCounters& c) { return c.space == space && c.variable == variable; };
  if (site.last >= site.counters.size() || !is_of(site.counters[site.last])) {
    const auto found = std::find_if(site.counters.begin(), site.counters.end(), is_of);
    site.last = static_cast<uint32_t>(found - site.counters.begin());
    if (found == site.counters.end()) {
      SiteCounters fresh;
      fresh.site = instruction;
      fresh.space = space;
      fresh.variable = variable;
      fresh.kind = kind;
      site.counters.push_back(fresh);
    }
  }
  return site.counters[site.last];
}

void Collector::bulk_access(const exec::BulkAccess& access) {
  counters_of(access.instruction, access.kind, access.space, access.shared_variable)
      .counters.add(cost_of(arch_, access));
}

void Collector::access(const exec::Access& access) {
  if (access.mask == 0) return;
  Site& site = sites_[access.instruction];
  if (access.space == exec::AccessSpace::constant) {
    site.last = not_counted;
    return;
  }
  SiteCounters& counters = counters_of(access.instruction, access.kind, access.space, access.shared_variable);
  bool is_guess = false;
  if (plan_ != nullptr) {
    const merge::Fate& fate = plan_->fates[access.instruction];
    // What lies at a generic address is known here only: loops are planned for shared memory.
    if (fate.kind != merge::Fate::Kind::kept &&
        (access.space == exec::AccessSpace::shared || fate.kind != merge::Fate::Kind::looped)) {
      site.last_cost = add_pieces(counters, access, fate);
      return;
    }
    is_guess = fate.is_guess && access.space == exec::AccessSpace::shared;
  }
  site.last_cost = cost(access);
  site.last_cost.estimate = site.last_cost.estimate || is_guess;
  counters.counters.add(site.last_cost);
  keep_worst(counters, site.last_cost, access);
}

Cost Collector::add_pieces(SiteCounters& counters, const exec::Access& access, const merge::Fate& fate) {
  Cost sum;
  sum.requests = 0;
  for (const merge::Piece& piece : fate.pieces) {
    const exec::Access part = piece_of(access, fate, piece);
    const Cost& one = cost(part);
    keep_worst(counters, one, part);
    sum.add(one);
  }
  if (fate.kind == merge::Fate::Kind::combined) {
    // Lanes that meet in a word are put together before: the word is served once, and holds them all.
    sum.word_lanes = sum.requests;
    sum.write_race = false;
  }
  counters.counters.add(sum);
  return sum;
}

void Collector::keep_worst(SiteCounters& counters, const Cost& cost, const exec::Access& access) {
  const uint64_t badness = badness_of(access.space, cost);
  Example& worst = counters.worst;
  if (badness < worst.badness || (badness == worst.badness && access.block >= worst.block)) return;
  worst.badness = badness;
  worst.block = access.block;
  worst.warp = access.warp;
  worst.mask = access.mask;
  worst.width = access.width;
  worst.kind = access.kind;
  worst.space = access.space;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const bool active = (access.mask >> lane & 1) != 0;
    worst.address[lane] = active ? access.address[lane] : 0;
    worst.destination[lane] = active && access.destination != nullptr ? access.destination[lane] : 0;
  }
}

void Collector::repeat(uint32_t instruction, uint64_t times) {
  Site& site = sites_[instruction];
  if (site.last < site.counters.size()) site.counters[site.last].counters.add(site.last_cost, times);
}

void Collector::branch(uint32_t branch, const exec::BranchCounts& counts) {
  if (branch >= branches_.size()) branches_.resize(branch + 1);
  branches_[branch].add(counts);
}

Profile Collector::profile() const {
  Profile all;
  for (uint32_t i = 0; i < branches_.size(); ++i)
    if (branches_[i].executions() != 0) all.branches.push_back({i, branches_[i]});
  for (const Site& site : sites_)
    all.sites.insert(all.sites.end(), site.counters.begin(), site.counters.end());
  if (recorder_ != nullptr) all.recording = recorder_->recording();
  return merge({all});
}

exec::Observer* Collectors::of(uint32_t host_thread) {
  const std::lock_guard lock(mutex_);
  if (host_thread >= collectors_.size()) collectors_.resize(host_thread + 1);
  auto& collector = collectors_[host_thread];
  if (!collector) collector = std::make_unique<Collector>(arch_, sites_, record_, plan_);
  return collector.get();
}

Profile Collectors::merged() const {
  std::vector<Profile> parts;
  for (const auto& collector : collectors_)
    if (collector) parts.push_back(collector->profile());
  return merge(parts);
}

}  // namespace lanescope::profile
