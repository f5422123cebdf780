// Keeps the distinct warp accesses to shared memory with their addresses as they are, where counters alone do
// not tell enough: what another layout of an array would cost depends on more than the pattern relative to
// the first lane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "exec/observer.hpp"
#include "merge/plan.hpp"
#include "profile/profile.hpp"

namespace lanescope::profile {

/// Stands before another observer and passes all on. One for each host thread.
class Recorder final : public exec::Observer {
 public:
  /// More distinct accesses than this are not kept: 40 MB.
  static constexpr size_t most_accesses = size_t{1} << 18;

  /// `sites`: memory instructions of the kernel (Kernel::accesses). With a plan, accesses are kept as the
  /// assembler merges them; it must live as long as this object.
  Recorder(exec::Observer& next, uint32_t sites, const merge::Plan* plan = nullptr);

  void access(const exec::Access& access) override;
  void repeat(uint32_t instruction, uint64_t times) override;
  void bulk_access(const exec::BulkAccess& access) override {
    async_variables_.insert(access.shared_variable);
    next_.bulk_access(access);
  }
  void branch(uint32_t branch, const exec::BranchCounts& counts) override { next_.branch(branch, counts); }

  [[nodiscard]] Recording recording() const;

 private:
  struct Key {
    uint32_t site, variable, mask, request;  ///< request: kind and width
    std::array<uint32_t, 32> address;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };

  /// Counts one access; where it is counted.
  uint64_t* count(const exec::Access& access);

  exec::Observer& next_;
  const merge::Plan* plan_;
  std::unordered_map<Key, uint64_t, Hash> counts_;
  std::vector<std::vector<uint64_t*>> last_;  ///< by site: the counts of its last access, or of its pieces
  uint64_t dropped_ = 0;
  std::set<uint32_t> async_variables_;
};

}  // namespace lanescope::profile
