// See code_lexer.hpp.
#include "advise/code_lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

namespace lanescope::advise::code {
namespace {

/// More would only come from macros that double each other.
constexpr size_t most_tokens = 100'000;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Lexer {
 public:
  explicit Lexer(const Program& program) : program_(program), text_(program.text) {}

  std::vector<Token> run() {
    for (;;) {
      skip_space(true);
      if (at_ >= text_.size()) break;
      if (text_[at_] == '#' && line_is_new_)
        directive();
      else
        append(tokens_, next());
    }
    Token end;
    end.begin = end.end = static_cast<uint32_t>(text_.size());
    tokens_.push_back(end);
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(size_t more = 0) const {
    return at_ + more < text_.size() ? text_[at_ + more] : '\0';
  }
  [[noreturn]] void fail(size_t at, const std::string& cause) const {
    throw program_.error_at(static_cast<uint32_t>(at), cause);
  }

  /// Skips spaces and comments; line ends too, where they separate nothing but words.
  void skip_space(bool lines) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!lines) return;
        line_is_new_ = true;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        at_ += peek(1) == '\n' ? 2 : 3;
      } else if (c == '/' && peek(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '/' && peek(1) == '*') {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail(at_, "this comment does not end");
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  /// A line that begins with '#', at the '#'.
  void directive() {
    const size_t begin = at_++;
    skip_space(false);
    const std::string name = is_letter(peek()) ? next().text : "";
    if (name == "define") {
      skip_space(false);
      if (!is_letter(peek())) fail(at_, "#define needs a name");
      const std::string macro = next().text;
      if (peek() == '(') fail(at_, "macros with parameters are not supported: write out what they stand for");
      std::vector<Token> body;
      for (skip_space(false); at_ < text_.size() && text_[at_] != '\n'; skip_space(false))
        append(body, next());
      macros_[macro] = std::move(body);
    } else if (name == "pragma" || name == "include") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      fail(begin, "of the preprocessor's lines only #define, #include and #pragma are understood");
    }
  }

  /// Adds the token, or what the macro of that name stands for.
  void append(std::vector<Token>& to, Token token) {
    line_is_new_ = false;
    const auto macro = token.kind == Token::Kind::identifier ? macros_.find(token.text) : macros_.end();
    if (to.size() + (macro == macros_.end() ? 1 : macro->second.size()) > most_tokens)
      fail(token.begin, "the code is too long");
    if (macro == macros_.end()) {
      to.push_back(std::move(token));
      return;
    }
    for (Token part : macro->second) {
      part.begin = token.begin;
      part.end = token.end;
      to.push_back(std::move(part));
    }
  }

  Token next() {
    Token token;
    token.begin = static_cast<uint32_t>(at_);
    const char c = peek();
    if (is_letter(c)) {
      token.kind = Token::Kind::identifier;
      while (is_letter(peek()) || is_digit(peek())) ++at_;
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number(token);
    } else {
      token.kind = Token::Kind::punctuator;
      at_ += punctuator_length();
    }
    token.end = static_cast<uint32_t>(at_);
    token.text = text_.substr(token.begin, token.end - token.begin);
    return token;
  }

  void number(Token& token) {
    const size_t begin = at_;
    const bool prefixed = peek() == '0' && is_letter(peek(1));
    const char prefix = static_cast<char>(std::tolower(static_cast<unsigned char>(peek(1))));
    const bool exponents = !(prefixed && prefix == 'x');
    bool floating = false;
    for (char c = peek(); is_letter(c) || is_digit(c) || c == '.' || c == '\''; c = peek()) {
      if (exponents && (c == '.' || c == 'e' || c == 'E')) floating = true;
      ++at_;
      if (exponents && (c == 'e' || c == 'E') && (peek() == '+' || peek() == '-')) ++at_;
    }
    std::string digits(text_.substr(begin, at_ - begin));
    token.kind = floating ? Token::Kind::floating : Token::Kind::integer;
    if (floating) return;
    std::erase(digits, '\'');
    std::string suffix;
    while (!digits.empty() && std::string_view("uUlL").find(digits.back()) != std::string_view::npos) {
      suffix += static_cast<char>(std::tolower(static_cast<unsigned char>(digits.back())));
      digits.pop_back();
    }
    int base = 10;
    size_t skipped = 0;
    if (prefixed && (prefix == 'x' || prefix == 'b')) {
      base = prefix == 'x' ? 16 : 2;
      skipped = 2;
    } else if (digits.size() > 1 && digits[0] == '0') {
      base = 8;
      skipped = 1;
    }
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data() + skipped, end, token.value, base);
    const std::string shown(text_.substr(begin, at_ - begin));
    if (error == std::errc::result_out_of_range) fail(begin, fmt::format("'{}' is too large", shown));
    const size_t longs = static_cast<size_t>(std::count(suffix.begin(), suffix.end(), 'l'));
    if (error != std::errc() || stop != end || longs > 2 || suffix.size() - longs > 1)
      fail(begin, fmt::format("'{}' is no number", shown));
    token.is_unsigned = suffix.size() > longs;
    token.is_long = longs != 0;
    token.is_decimal = base == 10;
  }

  [[nodiscard]] size_t punctuator_length() const {
    static constexpr std::string_view longer[] = {
        "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
        "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "++", "--", "->", "::"};
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view p : longer)
      if (rest.starts_with(p)) return p.size();
    if (std::string_view("+-*/%<>&|^~!?:=()[]{},;.").find(rest[0]) == std::string_view::npos) {
      const bool shown = std::isgraph(static_cast<unsigned char>(rest[0])) != 0;
      fail(at_, shown ? fmt::format("'{}' is not understood here", rest[0])
                      : fmt::format("a character with the code {} is not understood",
                                    static_cast<unsigned>(static_cast<unsigned char>(rest[0]))));
    }
    return 1;
  }

  const Program& program_;
  std::string_view text_;
  size_t at_ = 0;
  bool line_is_new_ = true;
  std::vector<Token> tokens_;
  std::map<std::string, std::vector<Token>> macros_;
};

}  // namespace

std::vector<Token> tokens_of(const Program& program) { return Lexer(program).run(); }

}  // namespace lanescope::advise::code
