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

/// What a text defines constants as: macros, `const` and `constexpr` variables, enumerators, and functions of
/// constants. A name counts where it is defined: in its block, in its struct and by the struct's name, or
/// everywhere. One that has different values there has none.
class Constants {
 public:
  explicit Constants(const std::vector<Token>& tokens);

  struct Definition {
    Range value;
    Range scope;             ///< where the name alone means it
    std::string_view owner;  ///< the struct or namespace that it is a member of; empty: none
    bool is_local = false;   ///< in a block of a function: means nothing outside of it
    bool is_macro = false;   ///< names in it are those of the place where it is used
  };
  /// What the name means at token `at`, qualified by `owner` if that is not empty.
  [[nodiscard]] const Definition* find(std::string_view name, std::string_view owner, size_t at) const;

  /// A macro with parameters, or a function that is one return statement.
  struct Function {
    std::vector<std::string_view> parameters;
    Range value;
    bool is_macro = false;
  };
  /// Null where there is none of so many parameters, or several.
  [[nodiscard]] const Function* find_function(std::string_view name, size_t parameters) const;

 private:
  const std::vector<Token>& tokens_;
  std::map<std::string_view, std::vector<Definition>> values_;
  std::multimap<std::string_view, Function> functions_;

  [[nodiscard]] bool is_constant(size_t i) const;
  [[nodiscard]] bool is_same(Range a, Range b) const;
  void add_macro(size_t name);
  void add_function(size_t name);
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
  /// `given` are the largest values of names, and value() is not exceeded. Elements of arrays may be any.
  bool at_most = false;

  std::optional<uint64_t> value(Range range);
  /// What template parameters stand for: those that are integers are given as values, too.
  void give_arguments(Arguments arguments);

 private:
  const std::vector<Token>& tokens_;
  const Constants& constants_;
  size_t at_ = 0, end_ = 0;
  size_t scope_ = 0;  ///< the token whose place decides what names mean
  int depth_ = 0;

  bool accept(std::string_view text);
  bool accept_cast();
  std::optional<uint64_t> value_at(Range range, size_t scope);
  std::optional<uint64_t> conditional();
  std::optional<uint64_t> binary(int above);
  std::optional<uint64_t> unary();
  std::optional<uint64_t> size_of();
  std::optional<uint64_t> named();
  std::optional<uint64_t> call(std::string_view name);
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
