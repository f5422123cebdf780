// Keeps the distinct warp accesses to shared memory with their addresses as they are, where counters alone do
// not tell enough: what another layout of an array would cost depends on more than the pattern relative to
// the first lane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exec/observer.hpp"

namespace lanescope::profile {

/// One distinct warp access to shared memory, and how often it came.
struct RecordedAccess {
  uint32_t site = 0;      ///< index of Kernel::accesses
  uint32_t variable = 0;  ///< index of Kernel::shared; no_variable: none
  exec::AccessKind kind{};
  uint8_t width = 4;  ///< bytes a lane
  uint32_t mask = 0;  ///< active lanes
  std::array<uint32_t, 32>
      address{};  ///< byte offsets in the block's shared memory; 0 for lanes outside `mask`
  uint64_t count = 0;
};

/// The accesses of one launch, in an order that does not depend on the number of host threads.
struct Recording {
  std::vector<RecordedAccess> accesses;
  /// Requests whose pattern came after the table was full; they are in no list.
  uint64_t dropped = 0;
};

/// Fills as a kernel runs; one for each host thread.
class Recorder {
 public:
  /// More distinct accesses than this are not kept: 40 MB.
  static constexpr size_t most_accesses = size_t{1} << 18;

  explicit Recorder(uint32_t sites) : last_(sites, nullptr) {}

  void access(const exec::Access& access);
  void repeat(uint32_t instruction, uint64_t times);

  /// Adds to `all` what was recorded here; call sorted() when every thread has.
  void add_to(Recorder& all) const;
  [[nodiscard]] Recording sorted() const;

 private:
  struct Key {
    uint32_t site, variable, mask, request;  ///< request: kind and width
    std::array<uint32_t, 32> address;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };

  std::unordered_map<Key, uint64_t, Hash> counts_;
  std::vector<uint64_t*> last_;  ///< by site: the count of its last access
  uint64_t dropped_ = 0;
};

}  // namespace lanescope::profile
