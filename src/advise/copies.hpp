// Counters that data picks, as a histogram's: copies of them for the lanes of a warp, so that fewer meet,
// whatever the data.
#pragma once

#include <cstdint>
#include <optional>

#include "advise/array.hpp"

namespace lanescope::advise {

/// Lane l takes copy l % count: s[i * count + l % count].
struct Copies {
  uint32_t count = 0;
  uint32_t bytes = 0;       ///< of all of them
  uint64_t wavefronts = 0;  ///< of all accesses in the launch, with what sets the copies up and combines them
  bool exact = true;
};

/// The number of copies that is worth most; nothing where none is worth its price, or where it is not
/// counters that conflict: atomic operations whose results nothing reads, and whose order does not matter.
[[nodiscard]] std::optional<Copies> copies_for_lanes(const Launch& launch, const Array& array,
                                                     const Price& price);

}  // namespace lanescope::advise
