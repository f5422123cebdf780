// The text of parse_code as tokens. Part of the implementation of code.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "code/program.hpp"

namespace lanescope::code {

struct Token {
  enum class Kind : uint8_t { end, identifier, integer, floating, punctuator };
  Kind kind = Kind::end;
  std::string text;
  uint32_t begin = 0;  ///< in the program's text; of a macro's tokens: where it was used
  uint32_t end = 0;
  uint64_t value = 0;        ///< of integers
  bool is_unsigned = false;  ///< by suffix
  bool is_long = false;      ///< by suffix
  bool is_decimal = true;
};

/// All tokens, the last of kind `end`. Comments are dropped, macros expanded, `#pragma` and `#include` lines
/// skipped. Throws lanescope::Error.
[[nodiscard]] std::vector<Token> tokens_of(const Program& program);

}  // namespace lanescope::code
