// Rows of an array of one dimension, as its subscripts show them: what all of them multiply the row by,
// s[r * pitch + c].
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "advise/declaration.hpp"
#include "advise/expression.hpp"
#include "advise/tokens.hpp"

namespace lanescope::advise {

/// The factor that each of the subscripts, ranges of tokens of the text, has in one product; nothing where
/// there is none, or several.
[[nodiscard]] std::optional<Pitch> common_pitch(std::string_view text, const std::vector<Token>& tokens,
                                                const std::vector<Range>& subscripts, Evaluator& evaluate);

/// The pitch of an array that is declared with one extent, where the text has all of its subscripts and shows
/// how the extent grows with the rows. `of`: the function or struct that it is in, with template arguments.
[[nodiscard]] std::optional<Pitch> declared_pitch(std::string_view text, const Declaration& declaration,
                                                  std::string_view of);

}  // namespace lanescope::advise
