// See recording.hpp.
#include "profile/recording.hpp"

namespace lanescope::profile {

Recorder::Recorder(exec::Observer& next, uint32_t sites) : next_(next), last_(sites, nullptr) {
  // No access moves by so much within shared memory: only equal addresses count as repeated.
  shared_granule = async_granule = uint32_t{1} << 31;
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
  uint64_t*& last = last_[access.instruction];
  last = nullptr;
  if (access.space != exec::AccessSpace::shared || access.mask == 0) return;
  Key key{access.instruction,
          access.shared_variable,
          access.mask,
          static_cast<uint32_t>(access.kind) << 8 | access.width,
          {}};
  for (size_t lane = 0; lane < key.address.size(); ++lane)
    if ((access.mask >> lane & 1) != 0) key.address[lane] = static_cast<uint32_t>(access.address[lane]);
  const auto found = counts_.find(key);
  if (found == counts_.end() && counts_.size() >= most_accesses) {
    last = &dropped_;
  } else {
    last = found != counts_.end() ? &found->second : &counts_[key];
  }
  ++*last;
}

void Recorder::repeat(uint32_t instruction, uint64_t times) {
  next_.repeat(instruction, times);
  if (last_[instruction] != nullptr) *last_[instruction] += times;
}

Recording Recorder::recording() const {
  Recording recording;
  recording.dropped = dropped_;
  recording.accesses.reserve(counts_.size());
  for (const auto& [key, count] : counts_)
    recording.accesses.push_back({key.site, key.variable, static_cast<exec::AccessKind>(key.request >> 8),
                                  static_cast<uint8_t>(key.request), key.mask, key.address, count});
  return recording;
}

}  // namespace lanescope::profile
