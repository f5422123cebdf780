// See array_text.hpp.
#include "advise/array_text.hpp"

#include <algorithm>
#include <iterator>

namespace lanescope::advise {

std::string ArrayText::margin_of(size_t at) const {
  const size_t begin = text_.rfind('\n', at) + 1;  // npos + 1 == 0
  return between(begin, std::min(text_.find_first_not_of(" \t", begin), at));
}

size_t ArrayText::token_at(size_t byte) const {
  return static_cast<size_t>(
      std::find_if(tokens_.begin(), tokens_.end(), [&](const Token& t) { return t.begin >= byte; }) -
      tokens_.begin());
}

size_t ArrayText::closing(size_t open) const {
  const size_t close = closing_bracket(tokens_, open, "]");
  if (close == tokens_.size()) throw Refused{fmt::format("the bracket of {} has no end", place(open))};
  return close;
}

size_t ArrayText::begin_of_block() const {
  int depth = 0;
  size_t i = tokens_.size();
  while (i > 0 && depth >= 0) {
    --i;
    if (tokens_[i].begin < d_.name_begin) depth += tokens_[i].is("}") ? 1 : tokens_[i].is("{") ? -1 : 0;
  }
  return i;
}

bool ArrayText::in_other_block(size_t token) const {
  int depth = 0;
  for (size_t i = 0; i < token; ++i) {
    if (tokens_[i].begin < d_.end || tokens_[i].in_directive) continue;
    depth += tokens_[i].is("{") ? 1 : tokens_[i].is("}") ? -1 : 0;
    if (depth < 0) return true;
  }
  return false;
}

bool ArrayText::is_use(size_t token) const {
  const Token& t = tokens_[token];
  if (!t.is(d_.name) || t.in_directive || t.begin == d_.name_begin) return false;
  return !d_.member_of.empty() || (t.begin >= d_.end && !in_other_block(token));
}

size_t ArrayText::begin_of_object(size_t token) const {
  while (!d_.member_of.empty() && token >= 2 && (tokens_[token - 1].is(".") || tokens_[token - 1].is("->")) &&
         tokens_[token - 2].is_name())
    token -= 2;
  return token;
}

bool ArrayText::says_where_a_part_begins(const Token& t) const {
  return d_.part && std::any_of(d_.part->begins.begin(), d_.part->begins.end(), [&](const auto& range) {
           return t.begin >= range.first && t.begin < range.second;
         });
}

std::vector<Use> ArrayText::uses(size_t subscripts, bool to_elements) const {
  std::vector<Use> all;
  int depth = 0;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const Token& t = tokens_[i];
    if (t.in_directive) {
      if (is_use_in_directive(i)) throw Refused{fmt::format("a macro names '{}' in {}", d_.name, place(i))};
      continue;
    }
    if (t.begin < d_.end) continue;
    depth += t.is("{") ? 1 : t.is("}") ? -1 : 0;
    if (depth < 0) break;
    if (!t.is(d_.name) || says_where_a_part_begins(t) ||
        (i > 0 && (tokens_[i - 1].is(".") || tokens_[i - 1].is("->") || tokens_[i - 1].is("::"))))
      continue;
    Use use{i, {}};
    while (use.subscripts.size() < subscripts && use.behind() < tokens_.size() &&
           tokens_[use.behind()].is("["))
      use.subscripts.push_back({use.behind(), closing(use.behind())});
    if (use.subscripts.size() != subscripts ||
        (use.behind() < tokens_.size() && tokens_[use.behind()].is("[")))
      throw Refused{fmt::format("{} uses '{}' without {}", place(i), d_.name,
                                subscripts == 1 ? "a subscript" : "all of its subscripts")};
    if (!to_elements || !is_kept_pointer(use)) refuse_kept_address(i);
    all.push_back(std::move(use));
  }
  return all;
}

bool ArrayText::is_kept_pointer(const Use& use) const {
  return use.name > 4 && use.behind() < tokens_.size() && tokens_[use.behind()].is(";") &&
         tokens_[use.name - 1].is("&") && tokens_[use.name - 2].is("=") && tokens_[use.name - 3].is_name() &&
         tokens_[use.name - 4].is("*");
}

bool ArrayText::takes_address(size_t name) const {
  return name >= 2 && tokens_[name - 1].is("&") && (!is_operand(tokens_[name - 2]) || ends_cast(name - 2));
}

void ArrayText::refuse_kept_address(size_t name) const {
  if (!takes_address(name)) return;
  const bool is_argument =
      tokens_[name - 2].is(",") || tokens_[name - 2].is(")") ||
      (name > 2 && tokens_[name - 2].is("(") && (tokens_[name - 3].is_name() || tokens_[name - 3].is(">")));
  if (!is_argument) throw Refused{fmt::format("{} takes an address in '{}'", place(name), d_.name)};
}

void ArrayText::refuse_if_nested(const Use::Subscript& s) const {
  for (size_t i = s.open; i < s.close; ++i)
    if (tokens_[i].is(d_.name))
      throw Refused{fmt::format("a subscript in {} is itself an element of '{}'", place(i), d_.name)};
}

void ArrayText::require_plain_declaration() const {
  const bool defines_it = d_.body.second != 0 && d_.type.find_first_of("([") == std::string::npos &&
                          !d_.type.starts_with("volatile");
  if (!d_.plain && !defines_it) throw Refused{fmt::format("its type is '{}'", d_.type)};
  for (const Extent& extent : d_.extents)
    if (extent.text.find("//") != std::string::npos) throw Refused{"there is a comment in its extents"};
}

void ArrayText::redeclare(const std::string& declaration, std::vector<Edit>& edits) const {
  if (d_.alone) return edits.push_back({d_.type_begin, d_.end, declaration});
  if (d_.is_aligned) throw Refused{"what is declared along with it has an alignment"};
  const Tokens type = tokens_of(d_.type);
  if (!std::all_of(type.begin(), type.end(), [](const Token& t) { return t.is_name() || t.is("::"); }))
    throw Refused{"the type of what is declared along with it is not clear"};
  const size_t name = token_at(d_.name_begin), behind = token_at(d_.end);
  size_t semicolon = behind;
  while (semicolon < tokens_.size() && !tokens_[semicolon].is(";")) ++semicolon;
  if (semicolon == tokens_.size()) throw Refused{"the text ends too early"};
  // With the comma before it; the first one with the comma behind it.
  const bool is_first = !tokens_[name - 1].is(",");
  if (is_first && !tokens_[behind].is(",")) throw Refused{"its declaration is not understood"};
  const size_t begin = is_first ? d_.name_begin : tokens_[name - 2].end();
  const size_t end = is_first ? tokens_[behind + 1].begin : d_.end;
  const std::string taken = between(begin, end);
  if (taken.find("//") != std::string::npos || taken.find("/*") != std::string::npos)
    throw Refused{"there is a comment in its declaration"};
  edits.push_back({begin, end, ""});
  const size_t last = tokens_[semicolon].end();
  edits.push_back({last, last, fmt::format("\n{}__shared__ {};", margin_of(d_.type_begin), declaration)});
}

void ArrayText::redeclare_apart(const std::string& declaration, const std::string& type, bool keeps_type,
                                std::vector<Edit>& edits) const {
  if (!d_.alone) throw Refused{"more is declared along with it"};
  if (!keeps_type) return edits.push_back({d_.type_begin, d_.end, declaration});
  if (d_.is_aligned) throw Refused{"its declaration has an alignment"};
  size_t shared = token_at(d_.type_begin);
  while (shared > 0 && !tokens_[shared].is("__shared__")) --shared;
  edits.push_back({tokens_[shared].begin, d_.body.first, fmt::format("struct {} ", type)});
  edits.push_back(
      {d_.body.second, d_.end, fmt::format(";\n{}__shared__ {}", margin_of(d_.type_begin), declaration)});
}

bool ArrayText::is_named_twice(const std::string& name) const {
  return std::count_if(tokens_.begin(), tokens_.end(), [&](const Token& t) { return t.is(name); }) > 1;
}

std::string ArrayText::fresh_name(std::string name) const {
  while (std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& t) { return t.is(name); })) name += '_';
  return name;
}

std::vector<std::pair<size_t, size_t>> ArrayText::arguments_of_call(size_t open) const {
  std::vector<std::pair<size_t, size_t>> arguments = pieces_of_list(tokens_, open);
  if (arguments.empty()) throw Refused{fmt::format("the call in {} is not understood", place(open))};
  return arguments;
}

std::string_view ArrayText::function_given(size_t token) const {
  int depth = 0;
  for (size_t i = token; i-- > 1 && !ends_statement(tokens_[i]);) {
    depth += tokens_[i].is(")") ? 1 : tokens_[i].is("(") ? -1 : 0;
    if (depth < 0) return tokens_[i - 1].is_name() ? tokens_[i - 1].text : "";
  }
  return "";
}

bool ArrayText::takes_reference(std::string_view function) const {
  for (size_t i = 1; i + 2 < tokens_.size(); ++i) {
    const bool is_declared = tokens_[i].is(function) && tokens_[i + 1].is("(") && !tokens_[i + 2].is(")") &&
                             tokens_[i - 1].is_name() && !tokens_[i - 1].is("return");
    if (!is_declared) continue;
    for (const auto& [first, end] : arguments_of_call(i + 1)) {
      const auto has = [&, begin = first, behind = end](std::string_view word) {
        return std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                           tokens_.begin() + static_cast<std::ptrdiff_t>(behind),
                           [&](const Token& t) { return t.is(word); });
      };
      if ((has("&") || has("&&")) && !has("const")) return true;
    }
  }
  return false;
}

bool ArrayText::is_use_in_directive(size_t i) const {
  if (!tokens_[i].is(d_.name)) return false;
  size_t begin = i;  // #
  while (begin > 0 && !tokens_[begin].is("#")) --begin;
  if (tokens_[begin + 1].is("include")) return false;
  const size_t open = begin + 3;  // #define NAME(
  const bool has_parameters = tokens_[begin + 1].is("define") && open < tokens_.size() &&
                              tokens_[open].is("(") && tokens_[open].begin == tokens_[open - 1].end();
  if (!has_parameters) return true;
  const std::vector<std::pair<size_t, size_t>> parameters = pieces_of_list(tokens_, open);
  return std::none_of(parameters.begin(), parameters.end(),
                      [&](const auto& p) { return tokens_[p.first].is(d_.name); });
}

bool ArrayText::ends_cast(size_t close) const {
  if (close < 3 || !tokens_[close].is(")")) return false;
  return tokens_[close - 1].is("*") ||
         (tokens_[close - 1].is_name() && tokens_[close - 2].is("(") && !is_operand(tokens_[close - 3]));
}

}  // namespace lanescope::advise
