// What integer expressions in CUDA source text come to: extents of arrays, and where pointers begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/tokens.hpp"

namespace lanescope::advise {

using Range = std::pair<size_t, size_t>;  ///< of tokens: [first, end)

/// The names of constants that the text defines, with the tokens of their values; a name that is defined
/// twice with different tokens has none.
class Constants {
 public:
  explicit Constants(const std::vector<Token>& tokens);
  [[nodiscard]] std::optional<Range> find(std::string_view name) const;

 private:
  const std::vector<Token>& tokens_;
  std::map<std::string_view, std::optional<Range>> values_;

  [[nodiscard]] bool is_constant(size_t i) const;
  void add(std::string_view name, Range value);
};

/// Template parameters → arguments.
using Arguments = std::map<std::string_view, std::string_view>;

/// Evaluates expressions of integers.
class Evaluator {
 public:
  Evaluator(const std::vector<Token>& tokens, const Constants& constants)
      : tokens_(tokens), constants_(constants) {}

  /// Values of names that the text does not define; members with their objects: blockDim.x.
  std::map<std::string_view, uint64_t> given;
  Arguments types;                        ///< of sizeof: what template parameters stand for
  std::set<std::string_view> used_given;  ///< those of `given` that were asked for
  std::set<std::string_view> unknown;     ///< the names that were asked for in vain

  std::optional<uint64_t> value(Range range);

 private:
  const std::vector<Token>& tokens_;
  const Constants& constants_;
  size_t at_ = 0, end_ = 0;
  int depth_ = 0;

  bool accept(std::string_view text);
  bool accept_cast();
  std::optional<uint64_t> binary(int above);
  std::optional<uint64_t> unary();
  std::optional<uint64_t> size_of();
  std::optional<uint64_t> named();
};

/// The size of a declared type whose words are all known: "unsigned int", "const float"; template parameters
/// stand for their arguments. Attributes (__align__(16)) say nothing.
[[nodiscard]] std::optional<uint64_t> size_of_words(std::string_view type, const Arguments& types = {});

/// What a type is aligned to that size_of_words gives `bytes` for.
[[nodiscard]] uint64_t alignment_of_words(std::string_view type, uint64_t bytes);

/// The value of an argument as demanglers write it: 32, 32u, (unsigned int)32, true.
[[nodiscard]] std::optional<uint64_t> integer_argument(std::string_view argument);

/// "32", "float" of "k<32, float>", as demanglers write it; none of what is no instance of a template.
[[nodiscard]] std::vector<std::string_view> template_arguments(std::string_view function);

/// Template parameters → arguments of the function or struct around token `at`, if it is a template and
/// `function` is what it is called with its arguments.
[[nodiscard]] Arguments arguments_of(const std::vector<Token>& tokens, size_t at, std::string_view function);

}  // namespace lanescope::advise
