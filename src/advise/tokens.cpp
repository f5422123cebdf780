// See tokens.hpp.
#include "advise/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace lanescope::advise {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '\'';
}

/// Of the branches of a conditional the first one stands for all: brackets that a later one opens or closes
/// for what surrounds it are no tokens, or they would open and close twice. `#if 0` is no first branch.
class Branches {
 public:
  explicit Branches(const std::vector<Token>& tokens) : tokens_(tokens), twice_(tokens.size()) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (!tokens[i].in_directive)
        add(i);
      else if (tokens[i].is("#") && i + 1 < tokens.size())
        change_branch(i + 1);
    }
  }
  [[nodiscard]] bool is_twice(size_t token) const { return twice_[token]; }

 private:
  struct Branch {
    std::vector<size_t> closes, opens;  // tokens: for what stands before it, behind it
    bool counts = true, later = false;
  };
  const std::vector<Token>& tokens_;
  std::vector<bool> twice_;
  std::vector<Branch> around_{Branch{}};

  void add(size_t i) {
    const Token& t = tokens_[i];
    Branch& branch = around_.back();
    if (t.is("(") || t.is("[") || t.is("{")) {
      branch.opens.push_back(i);
    } else if (t.is(")") || t.is("]") || t.is("}")) {
      if (branch.opens.empty())
        branch.closes.push_back(i);
      else
        branch.opens.pop_back();
    }
  }
  void change_branch(size_t i) {
    const Token& directive = tokens_[i];
    if (directive.text.starts_with("if")) {
      const bool never = directive.is("if") && i + 1 < tokens_.size() && tokens_[i + 1].is("0");
      around_.push_back({{}, {}, !never, false});
    } else if ((directive.text.starts_with("el") || directive.is("endif")) && around_.size() > 1) {
      const Branch ended = std::move(around_.back());
      around_.pop_back();
      for (const auto* brackets : {&ended.closes, &ended.opens})
        for (const size_t bracket : *brackets) {
          if (ended.counts)
            add(bracket);
          else
            twice_[bracket] = true;
        }
      const bool later = ended.later || ended.counts;
      if (!directive.is("endif")) around_.push_back({{}, {}, !later, later});
    }
  }
};

/// What a line `# 12 "file"` says of the next one.
struct LineMarker {
  uint32_t line = 0;
  std::string_view file;
};
std::optional<LineMarker> marker_at(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  if (!text.starts_with("# ")) return std::nullopt;
  text.remove_prefix(2);
  LineMarker marker;
  const auto [behind, error] = std::from_chars(text.data(), text.data() + text.size(), marker.line);
  text.remove_prefix(static_cast<size_t>(behind - text.data()));
  const size_t end = text.rfind('"');
  if (error != std::errc{} || !text.starts_with(" \"") || end < 2) return std::nullopt;
  marker.file = text.substr(2, end - 2);
  return marker;
}

std::vector<Token> all_tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  uint32_t line = 1;
  std::string_view file;
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
      if (c == '#' && fresh) {
        if (const auto marker = marker_at(text.substr(i))) {
          line = marker->line;
          file = marker->file;
          i = std::min(text.find('\n', i), text.size() - 1) + 1;
          continue;
        }
        directive = true;
      }
      fresh = false;
      size_t end = i + 1;
      if (is_word(c))
        while (end < text.size() && is_word(text[end])) ++end;
      else
        for (const std::string_view two :
             {"<<", ">>", "::", "->", "++", "--", "<=", ">=", "==", "!=", "&&", "||"})
          if (text.substr(i, 2) == two) end = i + 2;
      tokens.push_back({text.substr(i, end - i), i, line, file, directive});
      i = end;
    }
  }
  return tokens;
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  const std::vector<Token> all = all_tokens_of(text);
  const Branches branches(all);
  std::vector<Token> tokens;
  for (size_t i = 0; i < all.size(); ++i)
    if (!branches.is_twice(i)) tokens.push_back(all[i]);
  return tokens;
}

std::string line_in_words(uint32_t line, std::string_view file) {
  return file.empty() ? fmt::format("line {}", line) : fmt::format("line {} of {}", line, file);
}

size_t closing_bracket(const std::vector<Token>& tokens, size_t open, std::string_view closes) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    depth += tokens[i].is(tokens[open].text) ? 1 : tokens[i].is(closes) ? -1 : 0;
    if (depth == 0) return i;
  }
  return tokens.size();
}

std::vector<std::pair<size_t, size_t>> pieces_of_list(const std::vector<Token>& tokens, size_t open) {
  std::vector<std::pair<size_t, size_t>> pieces;
  int depth = 0;
  size_t first = open + 1;
  for (size_t i = open; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    depth += t.is("(") || t.is("[") || t.is("{") ? 1 : t.is(")") || t.is("]") || t.is("}") ? -1 : 0;
    if (depth > 1 || (depth == 1 && !t.is(","))) continue;
    if (i > first) pieces.emplace_back(first, i);
    first = i + 1;
    if (depth == 0) break;
  }
  return pieces;
}

}  // namespace lanescope::advise
