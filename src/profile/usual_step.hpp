// How far lanes that follow each other are apart, where most of them are equally far.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>

namespace lanescope::profile {

struct UsualStep {
  int64_t bytes = 0;
  int count =
      0;  ///< of the steps from an active lane to the next active one, how many are such; 0: there are none
};

/// The step that most active lanes make to the next one; of several the smallest. `address`: of each lane.
template <class Addresses>
[[nodiscard]] UsualStep usual_step(uint32_t mask, const Addresses& address) {
  std::map<int64_t, int> seen;
  const auto at = [&](uint32_t lanes) {
    return static_cast<int64_t>(address[static_cast<size_t>(std::countr_zero(lanes))]);
  };
  for (uint32_t left = mask; (left & (left - 1)) != 0; left &= left - 1)
    ++seen[at(left & (left - 1)) - at(left)];
  UsualStep usual;
  for (const auto& [bytes, count] : seen)
    if (count > usual.count || (count == usual.count && std::abs(bytes) < std::abs(usual.bytes)))
      usual = {bytes, count};
  return usual;
}

}  // namespace lanescope::profile
