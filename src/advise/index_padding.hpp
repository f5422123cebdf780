// A padding that the program computes from the index, i + i / 16, and that fits other banks than there are:
// the last element of every 17 is free, where 32 banks want one of every 33.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "advise/array.hpp"
#include "advise/patch.hpp"

namespace lanescope::advise {

/// In elements: one is free after `every`, and would be after `better`.
struct IndexPadding {
  uint32_t every = 0, better = 0;
  uint64_t wavefronts = 0;  ///< of all accesses in the launch, then
  bool exact = true;
};

/// Of an array without rows of which all is accessed but such a padding; nothing where there is none.
[[nodiscard]] std::optional<IndexPadding> index_padding_of(const Launch& launch, const Array& array);

/// The edits that change it, one for each number by which the text shifts or divides an index to add what
/// that gives to it: i + i / 16, or a macro of the shift. Nothing where the text does no such thing, by
/// whatever number.
[[nodiscard]] std::optional<std::vector<Edit>> change_index_padding(std::string_view text,
                                                                    const IndexPadding& padding);

}  // namespace lanescope::advise
