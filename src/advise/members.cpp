// See members.hpp. Of a struct's body all statements have to be understood: members of types whose sizes are
// known, functions, and what declares no member.
#include "advise/members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "advise/expression.hpp"
#include "advise/tokens.hpp"
#include "base/words.hpp"

namespace lanescope::advise {
namespace {

using Words = std::vector<Token>;

/// The token behind what the bracket at token `open` encloses.
size_t behind_bracket(const Words& tokens, size_t open, std::string_view closes) {
  return std::min(closing_bracket(tokens, open, closes) + 1, tokens.size());
}

/// The name of a type without its template arguments and what it is qualified by.
std::string_view name_of_type(std::string_view type) {
  type = type.substr(0, type.find('<'));
  for (const std::string_view word : {"const ", "struct ", "class "})
    if (type.starts_with(word)) type.remove_prefix(word.size());
  const size_t colons = type.rfind("::");
  return colons == std::string_view::npos ? type : type.substr(colons + 2);
}

std::optional<Struct> find_at_depth(const Texts& texts, std::string_view type, int depth);

class StructReader {
 public:
  StructReader(const Texts& texts, size_t text, std::string_view type, int depth)
      : texts_(texts),
        text_(texts[text]),
        type_(type),
        depth_(depth),
        tokens_(tokens_of(text_)),
        constants_(tokens_),
        evaluate_(tokens_, constants_) {}

  /// The struct whose `{` is that byte of the text.
  std::optional<Struct> at(size_t body) {
    const auto open =
        std::find_if(tokens_.begin(), tokens_.end(), [&](const Token& t) { return t.begin == body; });
    return read(static_cast<size_t>(open - tokens_.begin()));
  }
  std::optional<Struct> operator()() { return read(find_body()); }

 private:
  std::optional<Struct> read(size_t open) {
    if (open == tokens_.size()) return std::nullopt;
    // Its template stands in the namespaces that qualify it.
    const auto qualifiers = static_cast<size_t>(name_of_type(type_).data() - type_.data());
    evaluate_.give_arguments(arguments_of(tokens_, open + 1, type_.substr(qualifiers)));
    if (evaluate_.types.empty() && type_.find('<') != std::string_view::npos) return std::nullopt;
    const size_t end = closing_bracket(tokens_, open, "}");
    if (end == tokens_.size()) return std::nullopt;
    for (at_ = open + 1; at_ < end;)
      if (!take_statement(end)) return std::nullopt;
    found_.bytes = aligned(found_.bytes, found_.alignment);
    return std::move(found_);
  }

  const Texts& texts_;
  std::string_view text_, type_;
  int depth_;  // of structs in structs
  Words tokens_;
  Constants constants_;
  Evaluator evaluate_;
  size_t at_ = 0;
  Struct found_;

  static uint64_t aligned(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }
  [[nodiscard]] std::string between(size_t first, size_t end) const {
    return std::string(text_.substr(tokens_[first].begin, tokens_[end - 1].end() - tokens_[first].begin));
  }

  /// The token `{` of the only definition; tokens_.size() where there is none.
  size_t find_body() {
    const std::string_view name = name_of_type(type_);
    size_t found = tokens_.size();
    for (size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (tokens_[i].in_directive || !(tokens_[i].is("struct") || tokens_[i].is("class"))) continue;
      size_t open = i + 1;
      uint64_t alignment = 1;
      if (!take_alignment(open, alignment) || open + 1 >= tokens_.size()) continue;
      bool is_it = tokens_[open].is(name);
      if (tokens_[open].is_name()) ++open;
      if (!tokens_[open].is("{")) continue;
      if (!is_it && i > 0 && tokens_[i - 1].is("typedef")) {
        const size_t behind = behind_bracket(tokens_, open, "}");
        is_it = behind < tokens_.size() && tokens_[behind].is(name);
      }
      if (!is_it) continue;
      if (found != tokens_.size()) return tokens_.size();
      found_.alignment = alignment;
      found = open;
    }
    return found;
  }

  /// alignas(16), __align__(16): moves `at` behind it; false where its number is not known.
  bool take_alignment(size_t& at, uint64_t& alignment) {
    while (at + 1 < tokens_.size() && (tokens_[at].is("alignas") || tokens_[at].is("__align__")) &&
           tokens_[at + 1].is("(")) {
      const size_t behind = behind_bracket(tokens_, at + 1, ")");
      const auto value = evaluate_.value({at + 2, behind - 1});
      if (!value || *value == 0) return false;
      alignment = std::max(alignment, *value);
      at = behind;
    }
    return true;
  }

  /// One statement of the struct's body; false where it is not understood.
  bool take_statement(size_t end) {
    const Token& first = tokens_[at_];
    if (first.is(";")) return ++at_, true;
    if (first.is("public") || first.is("private") || first.is("protected")) {
      if (!tokens_[at_ + 1].is(":")) return false;
      at_ += 2;
      return true;
    }
    size_t last = at_;
    bool is_function = false;
    int brackets = 0;
    while (last < end && !tokens_[last].is(";") && !tokens_[last].is("{")) {
      if (tokens_[last].in_directive) return false;
      brackets += tokens_[last].is("[") ? 1 : tokens_[last].is("]") ? -1 : 0;
      const bool is_alignment =
          last > 0 && (tokens_[last - 1].is("alignas") || tokens_[last - 1].is("__align__"));
      is_function = is_function || (tokens_[last].is("(") && brackets == 0 && !is_alignment);
      ++last;
    }
    if (last == end) return false;
    is_function = is_function && !first.is("static_assert");
    found_.has_functions = found_.has_functions || is_function;
    if (tokens_[last].is("{")) {
      if (!is_function && !first.is("enum")) return false;
      at_ = behind_bracket(tokens_, last, "}");
      return true;
    }
    const bool declares_none = is_function || first.is("static") || first.is("using") ||
                               first.is("typedef") || first.is("friend") || first.is("enum") ||
                               first.is("static_assert");
    if (!declares_none && !take_members(last)) return false;
    at_ = last + 1;
    return true;
  }

  /// `TYPE a[n][n], b;` up to the semicolon.
  bool take_members(size_t semicolon) {
    uint64_t alignment = 1;
    if (!take_alignment(at_, alignment)) return false;
    const size_t type = at_;
    while (at_ < semicolon && !is_declarator(at_)) {
      const Token& t = tokens_[at_++];
      if (!t.is_name() && !t.is("::") && !t.is("*")) return false;
    }
    if (at_ == type || at_ == semicolon) return false;
    std::string words = between(type, at_);
    const auto argument = evaluate_.types.find(words);
    const std::string type_of_member(argument == evaluate_.types.end() ? std::string_view(words)
                                                                       : argument->second);
    const auto element = element_of(type_of_member);
    if (!element) return false;
    alignment = std::max(alignment, element->alignment);
    for (; at_ < semicolon; ++at_) {
      if (!is_declarator(at_) || !take_member(type, words, element->bytes, alignment)) return false;
      found_.members.back().type = type_of_member;
      // `float *a, b` declares one pointer.
      if (at_ < semicolon && (!tokens_[at_].is(",") || words.ends_with('*'))) return false;
    }
    return true;
  }
  struct Element {
    uint64_t bytes, alignment;
  };
  [[nodiscard]] std::optional<Element> element_of(std::string_view type) const {
    constexpr uint64_t pointer = 8;
    constexpr int deepest = 8;  // of a struct that has itself as a member, which no compiler takes
    if (type.ends_with('*')) return Element{pointer, pointer};
    if (const auto bytes = size_of_words(type)) return Element{*bytes, alignment_of_words(type, *bytes)};
    if (depth_ == deepest) return std::nullopt;
    const auto inner = find_at_depth(texts_, type, depth_ + 1);
    return inner ? std::optional(Element{inner->bytes, inner->alignment}) : std::nullopt;
  }
  [[nodiscard]] bool is_declarator(size_t i) const {
    return tokens_[i].is_name() &&
           (tokens_[i + 1].is("[") || tokens_[i + 1].is(",") || tokens_[i + 1].is(";"));
  }
  /// Moves `at_` behind it.
  bool take_member(size_t type, const std::string& words, uint64_t element, uint64_t alignment) {
    Member member;
    Declaration& d = member.declaration;
    d.line = tokens_[at_].line;
    d.file = tokens_[at_].file;
    d.type = words;
    d.name = tokens_[at_].text;
    d.member_of = name_of_type(type_);
    d.element_bytes = static_cast<uint32_t>(element);
    d.type_begin = tokens_[type].begin;
    d.name_begin = tokens_[at_].begin;
    uint64_t bytes = element;
    for (++at_; tokens_[at_].is("[");) {
      const size_t behind = behind_bracket(tokens_, at_, "]");
      const auto value = evaluate_.value({at_ + 1, behind - 1});
      constexpr uint64_t most = uint64_t{1} << 20;
      if (!value || *value == 0 || *value > most || bytes > most) return false;
      const size_t begins = tokens_[at_].end(), ends = tokens_[behind - 1].begin;
      d.extents.push_back({std::string(text_.substr(begins, ends - begins)), begins, ends, *value});
      bytes *= *value;
      at_ = behind;
    }
    d.end = tokens_[at_ - 1].end();
    found_.bytes = aligned(found_.bytes, alignment);
    member.offset = static_cast<uint32_t>(found_.bytes);
    member.bytes = static_cast<uint32_t>(bytes);
    member.alignment = static_cast<uint32_t>(alignment);
    found_.bytes += bytes;
    found_.alignment = std::max(found_.alignment, alignment);
    found_.members.push_back(std::move(member));
    return true;
  }
};

/// Whether the name stands where a definition has it: `struct NAME`, `struct alignas(16) NAME`, `} NAME`.
/// Asked before a text is taken apart into tokens: headers are long, and mention the structs of others.
bool may_define(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::string_view before = trimmed(text.substr(0, at));
    for (const std::string_view word : {"struct", "class", ")", "}"})
      if (before.ends_with(word)) return true;
  }
  return false;
}

std::optional<Struct> find_at_depth(const Texts& texts, std::string_view type, int depth) {
  const std::string_view name = name_of_type(type);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (name.empty() || !may_define(texts[i], name)) continue;
    if (auto found = StructReader(texts, i, type, depth)()) {
      found->text = i;
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Struct> find_struct(const Texts& texts, std::string_view type) {
  return find_at_depth(texts, type, 0);
}

std::optional<Struct> struct_of(const Texts& texts, const Declaration& declaration) {
  if (declaration.body.second == 0) return find_struct(texts, declaration.type);
  if (declaration.type.find('(') != std::string::npos) return std::nullopt;  // alignas(16)
  const bool has_name = name_of_type(declaration.type) != declaration.type;
  return StructReader(texts, 0, has_name ? declaration.type : declaration.name, 0).at(declaration.body.first);
}

}  // namespace lanescope::advise
