// An array as a source text mentions it: where its declaration and its uses are, what stands around them, and
// what of that a change of its layout cannot do with.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/declaration.hpp"
#include "advise/patch.hpp"
#include "advise/tokens.hpp"
#include "base/words.hpp"

namespace lanescope::advise {

using Tokens = std::vector<Token>;

/// Stands where a text cannot be changed surely.
struct Refused {
  std::string why;
};

/// One mention of the array: `name[…][…]`.
struct Use {
  size_t name = 0;  ///< token
  struct Subscript {
    size_t open = 0, close = 0;  ///< tokens of the brackets
  };
  std::vector<Subscript> subscripts;
  [[nodiscard]] size_t behind() const { return subscripts.empty() ? name + 1 : subscripts.back().close + 1; }
};

/// All of it may throw Refused.
class ArrayText {
 public:
  ArrayText(std::string_view text, const Declaration& declaration)
      : text_(text), d_(declaration), tokens_(tokens_of(text)) {}

 protected:
  std::string_view text_;
  const Declaration& d_;
  Tokens tokens_;

  std::string between(size_t begin, size_t end) const {
    return std::string(text_.substr(begin, end - begin));
  }
  std::string inside(const Use::Subscript& s) const {
    return std::string(trimmed(between(tokens_[s.open].end(), tokens_[s.close].begin)));
  }
  /// The blanks that the line of this byte begins with.
  [[nodiscard]] std::string margin_of(size_t at) const;
  std::string place(size_t token) const { return line_in_words(tokens_[token]); }
  /// The first token from that byte on.
  [[nodiscard]] size_t token_at(size_t byte) const;
  [[nodiscard]] size_t closing(size_t open) const;
  /// The token that opens the block that the declaration stands in.
  [[nodiscard]] size_t begin_of_block() const;
  /// Whether the block that the declaration stands in has ended before this token.
  [[nodiscard]] bool in_other_block(size_t token) const;
  /// Whether the token names the array, behind its declaration. Members: after an object, or by the struct's
  /// own functions, of which others may have variables of that name.
  [[nodiscard]] bool is_use(size_t token) const;
  /// Whether the token of a directive names the array, and no file, #include <lanescope/tile.cuh>, nor what a
  /// macro calls its parameter.
  [[nodiscard]] bool is_use_in_directive(size_t i) const;
  /// The first token of what a member is named with: s of s.tile, p of p->s.tile.
  [[nodiscard]] size_t begin_of_object(size_t token) const;
  [[nodiscard]] bool says_where_a_part_begins(const Token& t) const;
  /// All mentions behind the declaration, each with exactly so many subscripts. `to_elements`: pointers that
  /// are kept to elements, and lead nowhere else, are seen to by who asks.
  [[nodiscard]] std::vector<Use> uses(size_t subscripts, bool to_elements = false) const;
  /// T* q = &s[i];
  [[nodiscard]] bool is_kept_pointer(const Use& use) const;
  [[nodiscard]] bool takes_address(size_t name) const;
  /// &s[i] as the argument of a call or cast is one element; a pointer that is kept may go on from there.
  void refuse_kept_address(size_t name) const;
  void refuse_if_nested(const Use::Subscript& s) const;
  void refuse_member() const {
    if (!d_.member_of.empty()) throw Refused{fmt::format("it is a member of '{}'", d_.member_of)};
  }
  void require_plain_declaration() const;
  /// Puts another declaration of the array in the place of its own. Of several declarators it is taken out,
  /// and gets a declaration behind theirs: they keep the type.
  void redeclare(const std::string& declaration, std::vector<Edit>& edits) const;
  /// The same where the declaration defines the struct of the elements, which stays, in front of it, if it is
  /// needed for anything else.
  void redeclare_apart(const std::string& declaration, const std::string& type, bool keeps_type,
                       std::vector<Edit>& edits) const;
  /// Of a struct that is defined in the declaration; else all are.
  static bool is_name_of_type(const std::string& type) { return type != "struct" && type != "class"; }
  /// Whether a name of a type is mentioned elsewhere than where it is defined.
  [[nodiscard]] bool is_named_twice(const std::string& name) const;
  /// A name like that which the file does not have.
  [[nodiscard]] std::string fresh_name(std::string name) const;
  /// The tokens [first, end) of each argument of the call whose parenthesis is token `open`; none is empty.
  [[nodiscard]] std::vector<std::pair<size_t, size_t>> arguments_of_call(size_t open) const;
  /// The name of the function that a token is among the arguments of; empty where it is in no call.
  [[nodiscard]] std::string_view function_given(size_t token) const;
  /// Whether a function of that name in this text takes something by reference that it may change.
  [[nodiscard]] bool takes_reference(std::string_view function) const;
  static bool ends_statement(const Token& t) { return t.is(";") || t.is("{") || t.is("}") || t.in_directive; }
  static bool is_operand(const Token& t) { return t.is_name() || t.is_number() || t.is(")") || t.is("]"); }

 private:
  /// Whether a cast ends there, (float4*), or what may be one, (vector), and no call.
  [[nodiscard]] bool ends_cast(size_t close) const;
};

}  // namespace lanescope::advise
