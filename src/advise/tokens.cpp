// See tokens.hpp.
#include "advise/tokens.hpp"

#include <algorithm>

namespace lanescope::advise {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '\'';
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  uint32_t line = 1;
  bool directive = false, fresh = true;  // fresh: nothing but blanks yet in this line
  for (size_t i = begin_of_text(text); i < text.size();) {
    const char c = text[i];
    if (c == '\n') {
      const bool continued =
          i > 0 && (text[i - 1] == '\\' || (text[i - 1] == '\r' && i > 1 && text[i - 2] == '\\'));
      if (!continued) directive = false;
      fresh = true;
      ++line;
      ++i;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\\') {
      ++i;
    } else if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      const size_t end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
      line += static_cast<uint32_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                               text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      i = end;
    } else if (c == '"' || c == '\'') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != c && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      i = std::min(end + 1, text.size());
      fresh = false;
    } else {
      if (c == '#' && fresh) directive = true;
      fresh = false;
      size_t end = i + 1;
      if (is_word(c))
        while (end < text.size() && is_word(text[end])) ++end;
      else
        for (const std::string_view two :
             {"<<", ">>", "::", "->", "++", "--", "<=", ">=", "==", "!=", "&&", "||"})
          if (text.substr(i, 2) == two) end = i + 2;
      tokens.push_back({text.substr(i, end - i), i, line, directive});
      i = end;
    }
  }
  return tokens;
}

}  // namespace lanescope::advise
