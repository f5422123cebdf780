// See declaration.hpp.
#include "advise/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "advise/expression.hpp"
#include "advise/tokens.hpp"

namespace lanescope::advise {
namespace {

struct Found {
  Declaration declaration;
  size_t token = 0;            // of the name
  std::vector<Range> extents;  // tokens
};

/// The token behind the template arguments whose `<` is token `open`.
size_t behind_arguments(const std::vector<Token>& tokens, size_t open) {
  int depth = 0;
  size_t at = open;
  do {
    depth += tokens[at].is("<") ? 1 : tokens[at].is(">") ? -1 : tokens[at].is(">>") ? -2 : 0;
    ++at;
  } while (depth > 0 && at < tokens.size() && !tokens[at].is(";"));
  return at;
}

/// The tokens between the brackets that begin with token `at`, [3][4]; `at` moves behind them. Nothing where
/// one has no end.
std::optional<std::vector<Range>> brackets_from(const std::vector<Token>& tokens, size_t& at) {
  std::vector<Range> brackets;
  while (at < tokens.size() && tokens[at].is("[")) {
    const size_t open = at++;
    for (int depth = 1; at < tokens.size(); ++at) {
      depth += tokens[at].is("[") ? 1 : tokens[at].is("]") ? -1 : 0;
      if (depth == 0) break;
    }
    if (at >= tokens.size()) return std::nullopt;
    brackets.emplace_back(open + 1, at++);
  }
  return brackets;
}

/// What a name stands for: `using NAME = float[N][N];` or `typedef float NAME[N][N];`.
struct TypeAlias {
  Range type;
  std::vector<Range> extents;
};

/// The last definition of the name in front of token `before`; nothing for templates.
std::optional<TypeAlias> alias_of(const std::vector<Token>& tokens, std::string_view name, size_t before) {
  for (size_t i = before; i-- > 1;) {
    if (!tokens[i].is(name) || tokens[i].in_directive) continue;
    const bool by_using = tokens[i - 1].is("using") && tokens[i + 1].is("=");
    if (by_using && i > 1 && tokens[i - 2].is(">")) return std::nullopt;
    size_t first = by_using ? i + 2 : i, end = first;
    while (by_using && end < before && !tokens[end].is("[") && !tokens[end].is(";")) ++end;
    while (!by_using && first > 0 && !tokens[first - 1].in_directive &&
           (tokens[first - 1].is_name() || tokens[first - 1].is("::")))
      --first;
    if (!by_using && !tokens[first].is("typedef")) continue;
    size_t at = by_using ? end : i + 1;
    const auto extents = brackets_from(tokens, at);
    const Range type{by_using ? first : first + 1, end};
    if (!extents || at >= tokens.size() || !tokens[at].is(";") || type.first >= type.second)
      return std::nullopt;
    return TypeAlias{type, *extents};
  }
  return std::nullopt;
}

/// Behind `__align__(16)` or `alignas(16)`.
size_t behind_alignment(const std::vector<Token>& tokens, size_t at) {
  while (at + 1 < tokens.size() && (tokens[at].is("__align__") || tokens[at].is("alignas")) &&
         tokens[at + 1].is("("))
    at = std::min(closing_bracket(tokens, at + 1, ")") + 1, tokens.size());
  return at;
}

/// All declarations of `name` that stand behind a `__shared__`.
std::vector<Found> declarations_of(const std::vector<Token>& tokens, std::string_view text,
                                   std::string_view name) {
  std::vector<Found> all;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__shared__") || tokens[i].in_directive) continue;
    // Type and declarators up to the semicolon; what stands in brackets belongs to an extent or an attribute.
    size_t at = behind_alignment(tokens, i + 1);
    const size_t type_begin = at;
    size_t type_end = 0, body = 0;  // body: `{` of a struct that is defined here
    while (at < tokens.size() && !tokens[at].is(";") && !tokens[at].is("}")) {
      if (tokens[at].is("{")) {
        if (body != 0 || type_end != 0 ||
            !(tokens[type_begin].is("struct") || tokens[type_begin].is("class")))
          break;
        body = at;
        at = closing_bracket(tokens, at, "}") + 1;
        continue;
      }
      if (type_end == 0 && tokens[at].is("<")) {
        at = behind_arguments(tokens, at);
        continue;
      }
      const bool declarator = tokens[at].is_name() && at + 1 < tokens.size() &&
                              (tokens[at + 1].is("[") || tokens[at + 1].is(";") || tokens[at + 1].is(",") ||
                               tokens[at + 1].is("="));
      if (!declarator) {
        ++at;
        continue;
      }
      if (type_end == 0) type_end = at;
      Found found;
      found.declaration.line = tokens[at].line;
      found.declaration.file = tokens[at].file;
      found.declaration.type_begin = tokens[type_begin].begin;
      found.declaration.is_aligned = type_begin != i + 1;
      found.declaration.name_begin = tokens[at].begin;
      found.token = at;
      found.declaration.name = std::string(tokens[at].text);
      const auto between = [&](size_t first, size_t last) {
        return std::string(text.substr(tokens[first].begin, tokens[last].end() - tokens[first].begin));
      };
      if (body != 0)
        found.declaration.body = {tokens[body].begin, tokens[closing_bracket(tokens, body, "}")].end()};
      if (type_end > type_begin) {
        found.declaration.type = between(type_begin, (body != 0 ? body : type_end) - 1);
        found.declaration.plain = body == 0;
      } else {  // `float __shared__ tile[…]`
        size_t first = i;
        while (first > 0 && !tokens[first - 1].is(";") && !tokens[first - 1].is("{") &&
               !tokens[first - 1].is("}") && !tokens[first - 1].in_directive)
          --first;
        found.declaration.type = between(first, i);
        found.declaration.plain = false;
      }
      for (size_t before = i; before > 0 && tokens[before - 1].is_name() && type_end > type_begin; --before)
        if (tokens[before - 1].is("volatile")) {  // `volatile __shared__ float tile[…]`
          found.declaration.type.insert(0, "volatile ");
          found.declaration.plain = false;
        }
      for (size_t i_type = type_begin; i_type < type_end; ++i_type)
        if (tokens[i_type].is("(") || tokens[i_type].is("[") || tokens[i_type].is("volatile"))
          found.declaration.plain = false;
      found.declaration.alone = type_end == at;
      found.declaration.end = tokens[at].end();
      ++at;
      const auto add_extents = [&](const std::vector<Range>& brackets) {
        for (const auto& [first, end] : brackets) {
          const size_t begins = tokens[first - 1].end(), ends = tokens[end].begin;
          found.declaration.extents.push_back(
              {std::string(text.substr(begins, ends - begins)), begins, ends, 0});
          found.extents.emplace_back(first, end);
        }
      };
      const auto own = brackets_from(tokens, at);
      if (!own) return all;
      add_extents(*own);
      if (!own->empty()) found.declaration.end = tokens[at - 1].end();
      // A name that stands for an array's type stands for its last extents, as may the name of its elements.
      Range type{type_begin, type_end};
      std::vector<Range> extents;
      while (type.second - type.first == 1 && found.declaration.plain) {
        const auto alias = alias_of(tokens, tokens[type.first].text, type.first);
        if (!alias) break;
        extents.insert(extents.end(), alias->extents.begin(), alias->extents.end());
        type = alias->type;
        if (extents.empty()) continue;
        found.declaration.type = between(type.first, type.second - 1);
        found.declaration.by_type = true;
      }
      add_extents(extents);
      found.declaration.alone = found.declaration.alone && at < tokens.size() && tokens[at].is(";");
      if (found.declaration.name == name) all.push_back(std::move(found));
    }
  }
  return all;
}

/// Fills in the values of the extents that are written; all are evaluated, so that all unknown names are
/// found.
std::optional<uint64_t> product(Found& found, Evaluator& evaluator) {
  constexpr uint64_t most = uint64_t{1} << 31;
  std::optional<uint64_t> all = 1;
  for (size_t i = found.declaration.open ? 1 : 0; i < found.extents.size(); ++i) {
    const auto value = evaluator.value(found.extents[i]);
    found.declaration.extents[i].value = value.value_or(0);
    all = all && value && *value != 0 && *value <= most && *all <= most ? std::optional(*all * *value)
                                                                        : std::nullopt;
  }
  return all;
}

/// Whether token `at` stands in the body of the function `name`.
bool is_inside(const std::vector<Token>& tokens, size_t at, std::string_view name) {
  int depth = 0;
  for (size_t i = at; i-- > 0;) {
    depth += tokens[i].is("}") ? 1 : tokens[i].is("{") ? -1 : 0;
    if (depth >= 0) continue;
    // The head of a block around it: NAME ( … ) {
    depth = 0;
    size_t open = i;
    int parentheses = 0;
    do {
      if (open == 0) return false;
      --open;
      parentheses += tokens[open].is(")") ? 1 : tokens[open].is("(") ? -1 : 0;
    } while (parentheses > 0 || !(tokens[open].is("(") || tokens[open].is("{") || tokens[open].is(";")));
    if (open > 0 && tokens[open].is("(") && tokens[open - 1].is(name)) return true;
  }
  return false;
}

/// The name of `__shared__ union { … } name`, which is no array and may be several at once.
std::optional<Token> named_union(const std::vector<Token>& tokens, std::string_view name) {
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is("__shared__")) continue;
    size_t open = i + 1;
    bool is_union = false;
    for (; open < tokens.size() && (tokens[open].is_name() || tokens[open].is("(") || tokens[open].is(")") ||
                                    tokens[open].is_number());
         ++open)
      is_union = is_union || tokens[open].is("union");
    if (!is_union || open >= tokens.size() || !tokens[open].is("{")) continue;
    const size_t close = closing_bracket(tokens, open, "}");
    if (close + 1 < tokens.size() && tokens[close + 1].is(name)) return tokens[close + 1];
  }
  return std::nullopt;
}

/// Where a macro declares the array, and with it a function perhaps.
std::optional<Token> named_in_macro(const std::vector<Token>& tokens, std::string_view name) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__shared__") || !tokens[i].in_directive) continue;
    for (size_t at = i; at + 1 < tokens.size() && tokens[at].in_directive && !tokens[at].is(";"); ++at)
      if (tokens[at].is(name) && tokens[at + 1].is("[")) return tokens[at];
  }
  return std::nullopt;
}

/// Whether the block that token `at` stands in has ended before another one.
bool ends_before(const std::vector<Token>& tokens, size_t at, size_t other) {
  int depth = 0;
  for (size_t i = at; i < other; ++i) {
    if (!tokens[i].in_directive) depth += tokens[i].is("{") ? 1 : tokens[i].is("}") ? -1 : 0;
    if (depth < 0) return true;
  }
  return false;
}

}  // namespace

std::string function_of(std::string_view demangled) {
  // From the end: the variable, `::`, the parameters in parentheses (none in C), the function.
  const size_t close = demangled.rfind(")::");
  if (close == std::string_view::npos) {
    const size_t colons = demangled.rfind("::");
    return colons == std::string_view::npos ? "" : std::string(demangled.substr(0, colons));
  }
  const auto begin_of_bracket = [&](size_t end, char opens, char closes) {
    int depth = 0;
    for (size_t i = end + 1; i-- > 0;) {
      depth += demangled[i] == closes ? 1 : demangled[i] == opens ? -1 : 0;
      if (depth == 0) return i;
    }
    return std::string_view::npos;
  };
  const size_t end = begin_of_bracket(close, '(', ')');
  if (end == std::string_view::npos || end == 0) return "";
  size_t begin = demangled[end - 1] == '>' ? begin_of_bracket(end - 1, '<', '>') : end;
  if (begin == std::string_view::npos) return "";
  while (begin > 0 &&
         ((demangled[begin - 1] >= '0' && demangled[begin - 1] <= '9') ||
          (demangled[begin - 1] >= 'A' && demangled[begin - 1] <= 'Z') ||
          (demangled[begin - 1] >= 'a' && demangled[begin - 1] <= 'z') || demangled[begin - 1] == '_'))
    --begin;
  return std::string(demangled.substr(begin, end - begin));
}

std::variant<Declaration, Unclear> find_declaration(std::string_view text, std::string_view name,
                                                    uint64_t bytes, uint32_t used_at,
                                                    std::string_view function) {
  const std::vector<Token> tokens = tokens_of(text);
  std::vector<Found> all = declarations_of(tokens, text, name);
  const auto first_behind = [&](uint32_t line) {
    const auto token = std::find_if(tokens.begin(), tokens.end(),
                                    [&](const Token& t) { return t.file.empty() && t.line > line; });
    return static_cast<size_t>(token - tokens.begin());
  };
  const size_t line_begin = first_behind(used_at - 1), line_end = first_behind(used_at);
  const Constants constants(tokens);
  // Of a name the parameter's value counts: it hides a constant outside of the function.
  const auto evaluator_of = [&](const Found& f) {
    Evaluator evaluator(tokens, constants);
    evaluator.give_arguments(arguments_of(tokens, f.token, function));
    return evaluator;
  };
  const auto fits = [&](Found f) {
    Evaluator evaluator = evaluator_of(f);
    const std::optional<uint64_t> count = product(f, evaluator),
                                  element = size_of_words(f.declaration.type, evaluator.types);
    return !f.extents.empty() && count && element && *count * *element == bytes;
  };
  const auto is_of_function = [&](const Found& f) {
    return is_inside(tokens, f.token, function.substr(0, function.find('<')));
  };
  if (!function.empty() && std::any_of(all.begin(), all.end(), is_of_function)) {
    std::erase_if(all, [&](const Found& f) { return !is_of_function(f); });
    if (all.size() > 1 && std::any_of(all.begin(), all.end(), fits))
      std::erase_if(all, [&](const Found& f) { return !fits(f); });
  } else {
    // A macro may have made the function. Another function's array is none of this one.
    std::erase_if(all, [&](const Found& f) {
      return f.token >= line_end || (!function.empty() && ends_before(tokens, f.token, line_begin));
    });
  }
  if (all.empty()) {
    if (const auto token = named_union(tokens, name))
      return Unclear{fmt::format("{}: '{}' is a union", line_in_words(*token), name)};
    if (const auto token = named_in_macro(tokens, name))
      return Unclear{fmt::format("{}: a macro declares '{}'", line_in_words(*token), name)};
    return Unclear{fmt::format("no `__shared__ … {}` is declared above line {}", name, used_at)};
  }
  const auto rank = [&](const Found& f) { return std::pair(f.token < line_end, f.token); };
  Found& found = *std::max_element(all.begin(), all.end(),
                                   [&](const Found& a, const Found& b) { return rank(a) < rank(b); });
  Declaration& declaration = found.declaration;
  const auto unclear = [&](const std::string& why) {
    return Unclear{fmt::format("{}: the extents of '{}' are not clear: {}",
                               line_in_words(declaration.line, declaration.file), name, why)};
  };
  if (declaration.extents.empty())
    return unclear(size_of_words(declaration.type)
                       ? "it is no array"
                       : fmt::format("its type '{}' does not show them", declaration.type));
  declaration.open = found.extents.front().first == found.extents.front().second;

  Evaluator evaluator = evaluator_of(found);
  const std::optional<uint64_t> element = size_of_words(declaration.type, evaluator.types);
  if (declaration.open) {
    const std::optional<uint64_t> row = product(found, evaluator);
    if (!row || !element || *element == 1 || bytes < *row * *element)
      return unclear("the launch decides how large it is");
    declaration.extents.front().value = bytes / (*row * *element);
    declaration.element_bytes = static_cast<uint32_t>(*element);
    return std::move(declaration);
  }
  std::optional<uint64_t> count = product(found, evaluator);
  if (!count) {
    if (evaluator.unknown.empty()) return unclear("an extent is no expression that can be evaluated here");
    if (evaluator.unknown.size() > 1)
      return unclear(fmt::format("'{}' and '{}' are not defined in this file", *evaluator.unknown.begin(),
                                 *std::next(evaluator.unknown.begin())));
    const std::string_view parameter = *evaluator.unknown.begin();
    if (!element)
      return unclear(fmt::format("neither '{}' nor the size of '{}' is known", parameter, declaration.type));
    constexpr uint64_t largest = 1 << 16;
    uint64_t solution = 0;
    for (uint64_t value = 0; value <= largest; ++value) {
      evaluator.given[parameter] = value;
      const auto with = product(found, evaluator);
      if (!with || *with * *element != bytes) continue;
      if (count)
        return unclear(fmt::format("several values of '{}' fit the array's {} bytes", parameter, bytes));
      count = with;
      solution = value;
      declaration.assumed = fmt::format("{} = {}, from the array's size", parameter, value);
    }
    if (!count) return unclear(fmt::format("no value of '{}' gives the array's {} bytes", parameter, bytes));
    evaluator.given[parameter] = solution;
    product(found, evaluator);
  }
  if (declaration.assumed.empty())
    for (const std::string_view parameter : evaluator.used_given)
      declaration.assumed += fmt::format("{}{} = {}", declaration.assumed.empty() ? "" : ", ", parameter,
                                         evaluator.given.at(parameter));
  if (bytes % *count != 0) return unclear(fmt::format("{} elements do not make {} bytes", *count, bytes));
  declaration.element_bytes = static_cast<uint32_t>(bytes / *count);
  if (const auto size = size_of_words(declaration.type); size && *size != declaration.element_bytes)
    return unclear(fmt::format("{} elements of '{}' do not make {} bytes", *count, declaration.type, bytes));
  return std::move(declaration);
}

std::optional<Declaration> struct_variable(std::string_view text, std::string_view name,
                                           std::string_view function) {
  const std::vector<Token> tokens = tokens_of(text);
  std::vector<Found> all = declarations_of(tokens, text, name);
  std::erase_if(all, [&](const Found& f) {
    return !is_inside(tokens, f.token, function.substr(0, function.find('<')));
  });
  if (all.size() != 1 || !all.front().extents.empty()) return std::nullopt;
  Declaration& declaration = all.front().declaration;
  if (declaration.body.second != 0) return std::move(declaration);
  if (!declaration.plain) return std::nullopt;
  const Found& found = all.front();
  size_t open = found.token;
  while (open > 0 && tokens[open].begin > found.declaration.type_begin) --open;
  while (open < found.token && !tokens[open].is("<")) ++open;
  if (open == found.token) return std::move(declaration);
  const Constants constants(tokens);
  Evaluator evaluator(tokens, constants);
  evaluator.give_arguments(arguments_of(tokens, found.token, function));
  std::string type = found.declaration.type.substr(0, found.declaration.type.find('<'));
  char before = '<';
  int depth = 0;
  for (size_t first = open + 1, i = first; i < found.token; ++i) {
    const bool opens = tokens[i].is("(") || tokens[i].is("<"),
               closes = tokens[i].is(")") || tokens[i].is(">");
    if (opens) ++depth;
    if (closes && depth > 0 && depth-- > 0) continue;
    if (depth > 0 || !(tokens[i].is(",") || tokens[i].is(">")) || i == first) continue;
    const std::string words(text.substr(tokens[first].begin, tokens[i - 1].end() - tokens[first].begin));
    const auto argument = evaluator.types.find(words);
    const auto value = evaluator.value({first, i});
    if (argument == evaluator.types.end() && !value && !size_of_words(words)) return std::nullopt;
    type += before + (argument != evaluator.types.end() ? std::string(argument->second)
                      : value                           ? std::to_string(*value)
                                                        : words);
    before = ',';
    first = i + 1;
  }
  declaration.type = type + '>';
  return std::move(declaration);
}

namespace {

/// The number that a sum ends with, as 1 in "n + 1": its value, where it begins, and where what it is added
/// to ends.
struct AddedNumber {
  uint64_t value = 0;
  size_t begin = 0, sum_end = 0;
};
std::optional<AddedNumber> added_number(std::string_view text) {
  constexpr size_t most_digits = 9;
  const std::vector<Token> tokens = tokens_of(text);
  const size_t n = tokens.size();
  if (n < 3 || !tokens[n - 2].is("+") || tokens[n - 1].end() != text.size()) return std::nullopt;
  const Token& before = tokens[n - 3];
  if (!before.is_name() && !before.is_number() && !before.is(")") && !before.is("]")) return std::nullopt;
  const std::string_view number = tokens[n - 1].text;
  uint64_t value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || stop != number.data() + number.size() || number[0] == '0' ||
      number.size() > most_digits)
    return std::nullopt;
  return AddedNumber{value, tokens[n - 1].begin, before.end()};
}

}  // namespace

std::string padded(const Extent& extent, uint64_t elements) {
  const std::string& text = extent.text;
  if (text.find_first_of("<>&|^?") != std::string::npos) return fmt::format("({}) + {}", text, elements);
  constexpr uint64_t longest_padding = 32;  // more is no padding, but part of what is kept there
  if (const auto there = added_number(text); there && there->value < longest_padding)
    return fmt::format("{}{}", text.substr(0, there->begin), there->value + elements);
  return fmt::format("{} + {}", text, elements);
}

std::string unpadded(const Extent& extent, uint64_t elements) {
  const std::string_view text = extent.text;
  if (text == std::to_string(extent.value)) return std::to_string(extent.value - elements);
  const auto there = added_number(text);
  if (!there || there->value != elements || text.find_first_of("<>&|^?") != std::string_view::npos) return "";
  return std::string(text.substr(0, there->sum_end));
}

}  // namespace lanescope::advise
