// Rows of an array of one dimension, as its subscripts show them: what all of them multiply the row by,
// s[r * pitch + c].
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "advise/body.hpp"
#include "advise/declaration.hpp"
#include "advise/expression.hpp"
#include "advise/tokens.hpp"
#include "exec/launch.hpp"

namespace lanescope::advise {

/// What expressions in a function come to at most, over all threads of a block, where the text says it.
class Largest {
 public:
  /// `evaluate`: with all that is known of the launch.
  Largest(const Body& body, const Evaluator& evaluate, const exec::Dim3& block);

  [[nodiscard]] std::optional<uint64_t> value(Range range);
  /// Whether a condition decides which threads come there.
  [[nodiscard]] bool is_conditional(Range range) const;

 private:
  const Body& body_;
  Evaluator exact_, evaluate_;

  /// Of the variable of a loop around that token: for (int k = 0; k < n; k += s).
  [[nodiscard]] std::optional<uint64_t> of_loop(std::string_view variable, size_t token);
};

/// The factor that each of the subscripts, ranges of tokens of the text, has in one product; nothing where
/// there is none, or several, or where threads leave their rows by what is added to the product.
[[nodiscard]] std::optional<Pitch> common_pitch(std::string_view text, const std::vector<Token>& tokens,
                                                const std::vector<Range>& subscripts, Evaluator& evaluate,
                                                Largest* largest);

/// The pitch of an array that is declared with one extent, where the text has all of its subscripts and shows
/// how the extent grows with the rows. `of`: the function or struct that it is in, with template arguments;
/// `block`: of the launch, if that is known.
[[nodiscard]] std::optional<Pitch> declared_pitch(std::string_view text, const Declaration& declaration,
                                                  std::string_view of, const exec::Dim3* block = nullptr);

}  // namespace lanescope::advise
