// Functions that an array with rows is given to, in the text that declares it or what it includes: their
// parameters say how long the rows are, `float (*t)[32]` or `float* t, int pitch`, and have to be told where
// rows are padded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "advise/declaration.hpp"
#include "advise/patch.hpp"

namespace lanescope::advise {

struct LongerRows {
  std::vector<Edit> edits;  ///< beside that of the declaration
  /// In words: a function that the text does not define, another array that has to become longer, too. Empty:
  /// nothing.
  std::string condition;
};

/// What has to change along with the last extent of the array, which grows by so many elements. Throws
/// Unclear where a function finds the rows by itself.
[[nodiscard]] LongerRows longer_rows_of_functions(std::string_view text, const Declaration& declaration,
                                                  uint32_t elements);

/// Throws Unclear where a function of the text gets a pointer to an element of the array and goes on from
/// there: other layouts than longer rows do not have the next element behind it.
void refuse_functions_that_go_on(std::string_view text, const Declaration& declaration);

}  // namespace lanescope::advise
