// CUDA source text as tokens, as far as declarations and subscripts need it: names, numbers, punctuation.
// Comments and texts in quotes are no tokens, nor are brackets that several branches of an #if open or close,
// but once. Lines that say where the text is from, # 12 "file", as preprocessors write them, are understood.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lanescope::advise {

struct Token {
  std::string_view text;
  size_t begin = 0;           ///< in the whole text
  uint32_t line = 0;          ///< 1-based
  std::string_view file;      ///< that the line is of; empty: the text's own
  bool in_directive = false;  ///< in a line of the preprocessor's
  [[nodiscard]] size_t end() const { return begin + text.size(); }
  [[nodiscard]] bool is(std::string_view s) const { return text == s; }
  [[nodiscard]] bool is_name() const {
    const char c = text.front();
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  [[nodiscard]] bool is_number() const { return text.front() >= '0' && text.front() <= '9'; }
};

/// Where a text begins: behind the byte order mark that some editors put there.
[[nodiscard]] inline size_t begin_of_text(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? mark.size() : 0;
}

[[nodiscard]] std::vector<Token> tokens_of(std::string_view text);

/// "line 12", "line 12 of tiles.cuh"
[[nodiscard]] std::string line_in_words(uint32_t line, std::string_view file);
[[nodiscard]] inline std::string line_in_words(const Token& token) {
  return line_in_words(token.line, token.file);
}

/// The token that closes the bracket at token `open`; the number of tokens if none does.
[[nodiscard]] size_t closing_bracket(const std::vector<Token>& tokens, size_t open, std::string_view closes);

/// The tokens [first, end) of each argument or parameter of the list whose `(` is token `open`; none is
/// empty.
[[nodiscard]] std::vector<std::pair<size_t, size_t>> pieces_of_list(const std::vector<Token>& tokens,
                                                                    size_t open);

}  // namespace lanescope::advise
