// Subscripts that run over an array's rows: t[0][i] with i up to all elements. Where rows are no longer one
// behind the other without a gap, such a subscript has to become two: t[i / 32][i % 32].
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "advise/declaration.hpp"
#include "advise/patch.hpp"

namespace lanescope::advise {

struct AcrossRows {
  std::vector<Edit> edits;  ///< of the subscripts
  std::string what;         ///< "t[0][i] in line 5 becomes t[i / 32][i % 32]"; empty: no subscript does
  std::string obstacle;     ///< why that cannot be done surely; empty where it can
};

/// The uses t[…][0][i] of the array in `lines` of the text, which access other rows than a plane's first one.
[[nodiscard]] AcrossRows across_rows(std::string_view text, const Declaration& declaration,
                                     const std::set<uint32_t>& lines);

}  // namespace lanescope::advise
