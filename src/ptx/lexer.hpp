// PTX text → tokens, one at a time. The lexer never allocates: names are views into the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "ptx/module.hpp"

namespace lanescope::ptx {

/// The text being read, and how its errors are told.
struct Source {
  std::string_view text;
  std::string_view name;  ///< for messages

  /// Throws lanescope::Error with the line and a caret.
  [[noreturn]] void fail(TextLoc loc, const std::string& cause) const;
  /// The same, as Unsupported.
  [[noreturn]] void refuse(TextLoc loc, const std::string& cause) const;
};

/// Something that PTX has and this release does not run. In a function's body it keeps that function from
/// running, and nothing else: see Function::refusal.
class Unsupported : public Error {
 public:
  Unsupported(TextLoc loc, const std::string& cause) : Error({"", loc.line, loc.column}, cause), loc_(loc) {}
  [[nodiscard]] TextLoc loc() const { return loc_; }

 private:
  TextLoc loc_;
};

struct Token {
  enum class Kind : uint8_t {
    end,
    identifier,  ///< add, %r1, $L__BB0_1, _
    dotted,      ///< .reg, .L1::evict_last; `text` is without the dot
    integer,     ///< bits; is_unsigned if written with U or too large for a signed number
    real32,      ///< 0fXXXXXXXX; bits
    real64,      ///< 0dXXXXXXXXXXXXXXXX or decimal; bits of the double
    string,      ///< `text` is without the quotes
    punctuation  ///< `text` is the character, or one of << >> == != <= >= && ||
  };
  Kind kind = Kind::end;
  bool is_unsigned = false;
  std::string_view text;
  uint64_t bits = 0;
  TextLoc loc;

  [[nodiscard]] bool is(std::string_view punctuation) const {
    return kind == Kind::punctuation && text.size() == punctuation.size() && text[0] == punctuation[0] &&
           text.back() == punctuation.back();
  }
  [[nodiscard]] bool is_word(std::string_view word) const { return kind == Kind::dotted && text == word; }
};

class Lexer {
 public:
  /// The source's text must outlive the lexer and its tokens.
  explicit Lexer(const Source& source) : source_(source), text_(source.text) {}

  /// Reads the next token. Throws lanescope::Error for what can begin no token.
  [[nodiscard]] Token next();

  /// The token after `next()`, without reading it.
  [[nodiscard]] Token peek() const {
    Lexer copy = *this;
    return copy.next();
  }

  /// Reads on at the end of `opcode`, which `next()` has just given: the dotted words that follow without a
  /// blank. The answer covers opcode and words ("ld.global.v2.f32").
  [[nodiscard]] std::string_view mnemonic(const Token& opcode);

  /// Reads on behind the next place where this stands, whatever comes before it; false: it stands nowhere.
  bool skip_past(std::string_view end);

  /// Reads `.name` that follows without a blank, as in `%tid.x`; empty if there is none.
  [[nodiscard]] std::string_view component();

 private:
  [[noreturn]] void fail(TextLoc loc, const std::string& cause) const { source_.fail(loc, cause); }
  void skip_blanks();
  [[nodiscard]] bool is_line_marker() const;
  [[nodiscard]] bool begins_fraction() const;
  Token fraction(Token token);
  Token number(Token token);
  [[nodiscard]] TextLoc loc_of(size_t position) const;

  Source source_;
  std::string_view text_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
};

/// Line `line` (1-based) of `text`, without the line end.
[[nodiscard]] std::string_view line_of(std::string_view text, uint32_t line);
/// Where each line begins; a text has at least one.
[[nodiscard]] std::vector<size_t> line_begins_of(std::string_view text);

}  // namespace lanescope::ptx
