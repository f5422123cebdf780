// See recording.hpp.
#include "profile/recording.hpp"

#include "profile/cost.hpp"

namespace lanescope::profile {

Recorder::Recorder(exec::Observer& next, uint32_t sites, const merge::Plan* plan)
    : next_(next), plan_(plan), last_(sites) {
  // No access moves by so much within shared memory: only equal addresses count as repeated.
  shared_granule = copy_granule = uint32_t{1} << 31;
  global_granule = next.global_granule;
}

size_t Recorder::Hash::operator()(const Key& key) const {
  constexpr uint64_t factor = 0x9E3779B97F4A7C15u;
  uint64_t sum =
      (uint64_t{key.site} << 32 | key.mask) * factor ^ key.variable ^ uint64_t { key.request } << 32;
  for (const uint32_t address : key.address) {
    sum = (sum ^ address) * factor;
    sum ^= sum >> 29;
  }
  return sum;
}

void Recorder::access(const exec::Access& access) {
  next_.access(access);
  std::vector<uint64_t*>& last = last_[access.instruction];
  last.clear();
  if (access.space != exec::AccessSpace::shared || access.mask == 0) return;
  if (plan_ == nullptr || plan_->fates[access.instruction].kind == merge::Fate::Kind::kept) {
    last.push_back(count(access));
    return;
  }
  for (const merge::Piece& piece : plan_->fates[access.instruction].pieces)
    last.push_back(count(piece_of(access, plan_->fates[access.instruction], piece)));
}

uint64_t* Recorder::count(const exec::Access& access) {
  Key key{access.instruction,
          access.shared_variable,
          access.mask,
          static_cast<uint32_t>(access.kind) << 8 | access.width,
          {}};
  for (size_t lane = 0; lane < key.address.size(); ++lane)
    if ((access.mask >> lane & 1) != 0) key.address[lane] = static_cast<uint32_t>(access.address[lane]);
  const auto found = counts_.find(key);
  uint64_t* counted = found != counts_.end()            ? &found->second
                      : counts_.size() >= most_accesses ? &dropped_
                                                        : &counts_[key];
  ++*counted;
  return counted;
}

void Recorder::repeat(uint32_t instruction, uint64_t times) {
  next_.repeat(instruction, times);
  for (uint64_t* counted : last_[instruction]) *counted += times;
}

Recording Recorder::recording() const {
  Recording recording;
  recording.dropped = dropped_;
  recording.async_variables.assign(async_variables_.begin(), async_variables_.end());
  recording.accesses.reserve(counts_.size());
  for (const auto& [key, count] : counts_)
    recording.accesses.push_back({key.site, key.variable, static_cast<exec::AccessKind>(key.request >> 8),
                                  static_cast<uint8_t>(key.request), key.mask, key.address, count});
  return recording;
}

}  // namespace lanescope::profile
