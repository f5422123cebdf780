// The body of a function in the source text as steps: what declares integers and pointers, or gives them
// another value, in the order of the text.
#pragma once

#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include "advise/expression.hpp"
#include "advise/tokens.hpp"

namespace lanescope::advise {

/// One declarator or assignment: `float *a = smem`, `n = 2 * m`, `p += n`. Numbers are those of tokens.
struct Step {
  size_t name = 0;
  Range type{0, 0};     ///< empty: an assignment
  Range pointee{0, 0};  ///< of `auto`, where a cast tells what is pointed to; else empty
  Range columns{0, 0};  ///< of a pointer to rows: float (*a)[32]
  /// The columns of its declaration and of the cast that is its value, (float (*)[32])smem; empty where the
  /// value is something else.
  std::vector<Range> all_columns{};
  Range extent{0, 0};  ///< of an array; empty: the launch decides on it
  Range value{0, 0};
  size_t end = 0;  ///< behind the declarator
  bool is_pointer = false;
  bool moves_on = false;  ///< the value is added
  bool alone = true;      ///< the only declarator of its declaration
  bool in_block = false;  ///< of a loop, a condition

  [[nodiscard]] bool is_declaration() const { return type.second != type.first; }
  [[nodiscard]] bool is_open() const { return extent.second == extent.first; }
};

/// The body of a function as steps.
class Body {
 public:
  /// Throws Unclear unless there is one function of that name in whose body `array` is named. `open`: the
  /// array is `extern`, and has no extent.
  Body(const std::vector<Token>& tokens, std::string_view function, std::string_view array, bool open);

  /// The same of a function whatever it names.
  Body(const std::vector<Token>& tokens, std::string_view function);

  const std::vector<Token>& tokens;
  Range head{0, 0}, body{0, 0};         ///< of the function: its parameters, its statements
  Step array;                           ///< `extern __shared__ float smem[]`, `__shared__ float smem[2048]`
  std::vector<Step> steps;              ///< in the order of the text
  std::set<std::string_view> changing;  ///< names whose values change in loops and conditions

  [[nodiscard]] size_t closing(size_t open, std::string_view closes) const {
    return closing_bracket(tokens, open, closes);
  }

 private:
  /// Of those in whose body the name is found, if there is one.
  void find_body(std::string_view function, std::string_view name);
  /// The last one before the body's end.
  void find_array(std::string_view name, bool open);
  [[nodiscard]] std::vector<Token>::const_iterator at(size_t token) const {
    return tokens.begin() + static_cast<std::ptrdiff_t>(token);
  }
  void find_steps();
  /// Whether the name gets a value here, or may get one, since its address is taken.
  [[nodiscard]] bool is_changed(size_t i) const;
  /// The steps of the statement that begins with token `i`.
  void add_statement(size_t i);
  /// One declarator from token `i`, which moves behind it; false if it is not understood.
  bool add_declarator(Step step, size_t& i);
  /// What a cast at the begin of the value makes of it.
  void take_cast(Step& step) const;
  /// Where the value that begins there ends: before a comma or semicolon that stands in no bracket.
  [[nodiscard]] size_t end_of_value(size_t i) const;
};

}  // namespace lanescope::advise
