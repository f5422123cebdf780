// The lexer: a table of character classes and one switch.
#include "ptx/lexer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string>

#include "base/error.hpp"

namespace lanescope::ptx {
namespace {

enum CharClass : uint8_t { other = 0, blank = 1, letter = 2, digit = 4, name_start = 8, hex_letter = 16 };

constexpr auto char_classes = [] {
  std::array<uint8_t, 256> classes{};
  for (char c : {' ', '\t', '\r', '\f', '\v'}) classes[static_cast<uint8_t>(c)] |= blank;
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<size_t>(c)] |= letter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<size_t>(c)] |= letter;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<size_t>(c)] |= digit;
  for (char c : {'_', '$', '%'}) classes[static_cast<uint8_t>(c)] |= name_start;
  for (int c = 'a'; c <= 'f'; ++c) classes[static_cast<size_t>(c)] |= hex_letter;
  for (int c = 'A'; c <= 'F'; ++c) classes[static_cast<size_t>(c)] |= hex_letter;
  return classes;
}();

constexpr bool is(char c, uint8_t classes) { return (char_classes[static_cast<uint8_t>(c)] & classes) != 0; }
constexpr bool continues_name(char c) { return is(c, letter | digit) || c == '_' || c == '$'; }

constexpr uint64_t hex_value(char c) {
  return static_cast<uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

std::string quoted(char c) {
  if (c >= ' ' && c < 127) return std::string("'") + c + "'";
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<uint8_t>(c);
  return std::string("byte 0x") + digits[byte >> 4] + digits[byte & 15];
}

}  // namespace

std::string_view line_of(std::string_view text, uint32_t line) {
  size_t start = 0;
  for (uint32_t i = 1; i < line; ++i) {
    start = text.find('\n', start);
    if (start == std::string_view::npos) return {};
    ++start;
  }
  std::string_view result = text.substr(start, text.find('\n', start) - start);
  if (result.ends_with('\r')) result.remove_suffix(1);
  return result;
}

std::vector<size_t> line_begins_of(std::string_view text) {
  std::vector<size_t> begins{0};
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1))
    begins.push_back(end + 1);
  return begins;
}

void Source::fail(TextLoc loc, const std::string& cause) const {
  // A line longer than any screen says nothing, and what is no text may be orders to a terminal. The column
  // is in the message all the same.
  constexpr size_t longest_shown = 300;
  const std::string_view line = line_of(text, loc.line);
  const bool is_text = std::none_of(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 127;
  });
  throw Error({std::string(name), loc.line, loc.column}, cause,
              is_text && line.size() <= longest_shown ? std::string(line) : std::string());
}

void Source::refuse(TextLoc loc, const std::string& cause) const { throw Unsupported(loc, cause); }

TextLoc Lexer::loc_of(size_t position) const {
  return {line_, static_cast<uint32_t>(position - line_start_ + 1)};
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (is(c, blank)) {
      ++at_;
    } else if (c == '\n') {
      ++at_;
      ++line_;
      line_start_ = at_;
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
      const size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '*') {
      const TextLoc start = loc_of(at_);
      at_ += 2;
      if (!skip_past("*/")) fail(start, "this comment does not end");
    } else if (is_line_marker()) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

// What a preprocessor leaves behind: # 1 "kernel.ptx".
bool Lexer::is_line_marker() const {
  return text_[at_] == '#' && at_ == line_start_ && at_ + 2 < text_.size() && text_[at_ + 1] == ' ' &&
         is(text_[at_ + 2], digit);
}

bool Lexer::skip_past(std::string_view end) {
  const size_t found = text_.find(end, at_);
  if (found == std::string_view::npos) return false;
  for (; at_ < found; ++at_)
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
  at_ += end.size();
  return true;
}

// `.5`, and no word that begins with digits, as `.2d`.
bool Lexer::begins_fraction() const {
  if (text_[at_] != '.' || at_ + 1 == text_.size() || !is(text_[at_ + 1], digit)) return false;
  double value = 0;
  const char* const end = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value).ptr;
  return end == text_.data() + text_.size() || !(continues_name(*end) || *end == ':');
}

Token Lexer::fraction(Token token) {
  const size_t start = at_;
  double value = 0;
  const auto [rest, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error == std::errc::invalid_argument) fail(token.loc, "malformed number");
  if (error == std::errc::result_out_of_range) fail(token.loc, "this number does not fit an f64");
  at_ = static_cast<size_t>(rest - text_.data());
  token.kind = Token::Kind::real64;
  token.bits = std::bit_cast<uint64_t>(value);
  token.text = text_.substr(start, at_ - start);
  if (at_ < text_.size() && continues_name(text_[at_])) fail(loc_of(at_), "malformed number");
  return token;
}

Token Lexer::number(Token token) {
  const size_t start = at_;
  const auto letter_at = [&](size_t i) {
    return i < text_.size() ? static_cast<char>(text_[i] | 0x20) : '\0';
  };
  const auto hex_at = [&](size_t i) { return i < text_.size() && is(text_[i], digit | hex_letter); };

  if (text_[at_] == '0' && (letter_at(at_ + 1) == 'f' || letter_at(at_ + 1) == 'd')) {
    const bool single = letter_at(at_ + 1) == 'f';
    const size_t digits = single ? 8 : 16;
    at_ += 2;
    size_t n = 0;
    for (; hex_at(at_); ++at_, ++n) token.bits = token.bits << 4 | hex_value(text_[at_]);
    if (n != digits)
      fail(token.loc, std::string(single ? "an f32" : "an f64") + " constant has " + std::to_string(digits) +
                          " hexadecimal digits, this one " + std::to_string(n));
    token.kind = single ? Token::Kind::real32 : Token::Kind::real64;
  } else {
    uint64_t base = 10;
    if (text_[at_] == '0') {
      if (letter_at(at_ + 1) == 'x')
        base = 16, at_ += 2;
      else if (letter_at(at_ + 1) == 'b')
        base = 2, at_ += 2;
      else
        base = 8;
    }
    const size_t first_digit = at_;
    if (base == 10 || base == 8) {
      size_t end = at_;
      while (end < text_.size() && is(text_[end], digit)) ++end;
      // Digits may be missing behind the point, but a word there is none of the number's.
      const bool point = end < text_.size() && text_[end] == '.' &&
                         (end + 1 == text_.size() || is(text_[end + 1], digit) || letter_at(end + 1) == 'e' ||
                          !continues_name(text_[end + 1]));
      const bool exponent = letter_at(end) == 'e';
      if (point || exponent) return fraction(token);
    }
    token.kind = Token::Kind::integer;
    for (; hex_at(at_) && (base == 16 || is(text_[at_], digit)); ++at_) {
      const uint64_t value = hex_value(text_[at_]);
      if (value >= base) fail(loc_of(at_), "this digit does not belong to the base of the number");
      if (token.bits > (~uint64_t{0} - value) / base) fail(token.loc, "this number does not fit 64 bits");
      token.bits = token.bits * base + value;
    }
    if (at_ == first_digit) fail(token.loc, "malformed number");
    token.is_unsigned = token.bits >> 63 != 0;
    if (at_ < text_.size() && text_[at_] == 'U') {
      token.is_unsigned = true;
      ++at_;
    }
  }
  token.text = text_.substr(start, at_ - start);
  if (at_ < text_.size() && continues_name(text_[at_])) fail(loc_of(at_), "malformed number");
  return token;
}

Token Lexer::next() {
  skip_blanks();
  Token token;
  token.loc = loc_of(at_);
  if (at_ >= text_.size()) return token;
  const size_t start = at_;
  const char c = text_[at_];
  const bool remainder = c == '%' && !(at_ + 1 < text_.size() && continues_name(text_[at_ + 1]));
  if (is(c, letter | name_start) && !remainder) {
    ++at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    token.kind = Token::Kind::identifier;
    token.text = text_.substr(start, at_ - start);
    if (token.text == "WARP_SZ") {
      token.kind = Token::Kind::integer;
      token.bits = 32;
    }
    return token;
  }
  if (begins_fraction()) return fraction(token);
  if (c == '.') {
    if (at_ + 1 >= text_.size() || !(continues_name(text_[at_ + 1])))
      fail(token.loc, "a word is missing after '.'");
    ++at_;
    while (at_ < text_.size() &&
           (continues_name(text_[at_]) || (text_[at_] == ':' && text_.substr(at_, 2) == "::")))
      at_ += text_[at_] == ':' ? 2 : 1;
    token.kind = Token::Kind::dotted;
    token.text = text_.substr(start + 1, at_ - start - 1);
    return token;
  }
  if (is(c, digit)) return number(token);
  if (c == '"') {
    const size_t end = text_.find_first_of("\"\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '"')
      fail(token.loc, "this string does not end on its line");
    at_ = end + 1;
    token.kind = Token::Kind::string;
    token.text = text_.substr(start + 1, end - start - 1);
    return token;
  }
  token.kind = Token::Kind::punctuation;
  const char following = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  const bool two = (following == '=' && (c == '=' || c == '!' || c == '<' || c == '>')) ||
                   (following == c && (c == '<' || c == '>' || c == '&' || c == '|'));
  if (two) {
    token.text = text_.substr(at_, 2);
    at_ += 2;
    return token;
  }
  if (std::string_view("{}[]()<>,;:@!|&^~?+-*/%=").find(c) == std::string_view::npos)
    fail(token.loc, "unexpected " + quoted(c));
  ++at_;
  token.text = text_.substr(start, 1);
  return token;
}

std::string_view Lexer::mnemonic(const Token& opcode) {
  const auto start = static_cast<size_t>(opcode.text.data() - text_.data());
  while (at_ + 1 < text_.size() && text_[at_] == '.' && continues_name(text_[at_ + 1])) {
    ++at_;
    while (at_ < text_.size() &&
           (continues_name(text_[at_]) || (text_[at_] == ':' && text_.substr(at_, 2) == "::")))
      at_ += text_[at_] == ':' ? 2 : 1;
  }
  return text_.substr(start, at_ - start);
}

std::string_view Lexer::component() {
  if (at_ + 1 >= text_.size() || text_[at_] != '.' || !is(text_[at_ + 1], letter)) return {};
  const size_t start = ++at_;
  while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
  return text_.substr(start, at_ - start);
}

}  // namespace lanescope::ptx
