// See declaration.hpp. Preprocessor conditionals are not evaluated, so a name with two different values is
// unknown.
#include "advise/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "advise/tokens.hpp"

namespace lanescope::advise {
namespace {

using Range = std::pair<size_t, size_t>;  // of tokens

std::optional<uint64_t> number_of(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (c != '\'') digits += c;
  while (!digits.empty() &&
         (digits.back() == 'u' || digits.back() == 'U' || digits.back() == 'l' || digits.back() == 'L'))
    digits.pop_back();
  int base = 10;
  size_t skip = 0;
  if (digits.size() > 1 && digits[0] == '0') {
    const char kind = digits[1];
    base = kind == 'x' || kind == 'X' ? 16 : kind == 'b' || kind == 'B' ? 2 : 8;
    skip = base == 8 ? 1 : 2;
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data() + skip, digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// Sizes that do not depend on the program.
std::optional<uint64_t> size_of_type(std::string_view type) {
  static const std::map<std::string_view, uint64_t> sizes = {
      {"char", 1},     {"bool", 1},    {"int8_t", 1},   {"uint8_t", 1},       {"short", 2},   {"int16_t", 2},
      {"uint16_t", 2}, {"half", 2},    {"__half", 2},   {"__nv_bfloat16", 2}, {"int", 4},     {"unsigned", 4},
      {"float", 4},    {"int32_t", 4}, {"uint32_t", 4}, {"uint", 4},          {"half2", 4},   {"__half2", 4},
      {"char4", 4},    {"uchar4", 4},  {"long", 8},     {"double", 8},        {"int64_t", 8}, {"uint64_t", 8},
      {"size_t", 8},   {"float2", 8},  {"int2", 8},     {"uint2", 8},         {"float3", 12}, {"int3", 12},
      {"float4", 16},  {"int4", 16},   {"uint4", 16},   {"double2", 16}};
  const auto found = sizes.find(type);
  return found == sizes.end() ? std::nullopt : std::optional(found->second);
}

/// The names of constants that the text defines, with the tokens of their values; a name that is defined
/// twice with different tokens has none.
class Constants {
 public:
  explicit Constants(const std::vector<Token>& tokens) : tokens_(tokens) {
    for (size_t i = 0; i + 2 < tokens.size(); ++i) {
      const Token& t = tokens[i];
      if (t.is("define") && t.in_directive && i > 0 && tokens[i - 1].is("#")) {
        const Token& name = tokens[i + 1];
        if (i + 2 < tokens.size() && tokens[i + 2].is("(") &&
            tokens[i + 2].begin == name.begin + name.text.size())
          continue;  // a macro with parameters
        size_t end = i + 2;
        while (end < tokens.size() && tokens[end].in_directive && !tokens[end].is("#")) ++end;
        add(name.text, {i + 2, end});
      } else if (t.is_name() && tokens[i + 1].is("=") && !t.in_directive && is_constant(i)) {
        size_t end = i + 2;
        int depth = 0;
        while (end < tokens.size() &&
               !(depth == 0 && (tokens[end].is(";") || tokens[end].is(",") || tokens[end].is("}")))) {
          depth += tokens[end].is("(") || tokens[end].is("{") ? 1 : tokens[end].is(")") ? -1 : 0;
          ++end;
        }
        add(t.text, {i + 2, end});
      }
    }
  }
  [[nodiscard]] std::optional<Range> find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : found->second;
  }

 private:
  const std::vector<Token>& tokens_;
  std::map<std::string_view, std::optional<Range>> values_;

  /// Whether the declaration that token `i` is the name of is one of a constant.
  bool is_constant(size_t i) const {
    for (size_t back = i; back-- > 0;) {
      const Token& t = tokens_[back];
      if (t.is("const") || t.is("constexpr") || t.is("enum")) return true;
      if (t.is(";") || t.is("}") || t.is("(") || t.is(")") || t.is("<")) return false;
    }
    return false;
  }
  void add(std::string_view name, Range value) {
    const auto [found, is_new] = values_.try_emplace(name, value);
    if (is_new || !found->second) return;
    const auto [a, b] = *found->second;
    const bool same = b - a == value.second - value.first &&
                      std::equal(tokens_.begin() + static_cast<std::ptrdiff_t>(a),
                                 tokens_.begin() + static_cast<std::ptrdiff_t>(b),
                                 tokens_.begin() + static_cast<std::ptrdiff_t>(value.first),
                                 [](const Token& x, const Token& y) { return x.text == y.text; });
    if (!same) found->second = std::nullopt;
  }
};

/// Evaluates constant expressions.
class Evaluator {
 public:
  Evaluator(const std::vector<Token>& tokens, const Constants& constants)
      : tokens_(tokens), constants_(constants) {}

  std::map<std::string_view, uint64_t> given;  ///< values of names that the text does not define
  std::set<std::string_view> used_given;       ///< those of them that were asked for
  std::set<std::string_view> unknown;          ///< the names that were asked for in vain

  std::optional<uint64_t> value(Range range) {
    if (++depth_ > 32) return std::nullopt;
    const size_t at = at_, end = end_;
    at_ = range.first;
    end_ = range.second;
    std::optional<uint64_t> result = binary(0);
    if (at_ != end_) result = std::nullopt;
    at_ = at;
    end_ = end;
    --depth_;
    return result;
  }

 private:
  const std::vector<Token>& tokens_;
  const Constants& constants_;
  size_t at_ = 0, end_ = 0;
  int depth_ = 0;

  bool accept(std::string_view text) {
    if (at_ >= end_ || !tokens_[at_].is(text)) return false;
    ++at_;
    return true;
  }

  static int level_of(std::string_view op) {
    static const std::map<std::string_view, int> levels = {{"|", 1}, {"^", 2}, {"&", 3}, {"<<", 4}, {">>", 4},
                                                           {"+", 5}, {"-", 5}, {"*", 6}, {"/", 6},  {"%", 6}};
    const auto found = levels.find(op);
    return found == levels.end() ? 0 : found->second;
  }

  std::optional<uint64_t> binary(int above) {
    std::optional<uint64_t> left = unary();
    while (at_ < end_) {
      const std::string_view op = tokens_[at_].text;
      const int level = level_of(op);
      if (level == 0 || level <= above) break;
      ++at_;
      const std::optional<uint64_t> right = binary(level);
      left = left && right ? apply(op, *left, *right) : std::nullopt;
    }
    return left;
  }

  static std::optional<uint64_t> apply(std::string_view op, uint64_t a, uint64_t b) {
    switch (op.front()) {
      case '|': return a | b;
      case '^': return a ^ b;
      case '&': return a & b;
      case '<': return b < 64 ? std::optional(a << b) : std::nullopt;
      case '>': return b < 64 ? std::optional(a >> b) : std::nullopt;
      case '+': return a + b;
      case '-': return a - b;
      case '*': return a * b;
      case '/': return b != 0 ? std::optional(a / b) : std::nullopt;
      default: return b != 0 ? std::optional(a % b) : std::nullopt;
    }
  }

  std::optional<uint64_t> unary() {
    if (at_ >= end_ || ++depth_ > 64) return std::nullopt;
    std::optional<uint64_t> result;
    if (accept("+")) {
      result = unary();
    } else if (accept("-")) {
      if (const auto value = unary()) result = uint64_t{0} - *value;
    } else if (accept("(")) {
      result = binary(0);
      if (!accept(")")) result = std::nullopt;
    } else if (accept("sizeof")) {
      if (accept("(") && at_ < end_) {
        result = size_of_type(tokens_[at_++].text);
        if (!accept(")")) result = std::nullopt;
      }
    } else if (tokens_[at_].is_number()) {
      result = number_of(tokens_[at_++].text);
    } else if (tokens_[at_].is_name()) {
      std::string_view last = tokens_[at_++].text, name = last;  // of config::rows: rows, and all of it
      while (at_ + 1 < end_ && tokens_[at_].is("::") && tokens_[at_ + 1].is_name()) {
        last = tokens_[at_ + 1].text;
        name = {name.data(), static_cast<size_t>(last.data() + last.size() - name.data())};
        at_ += 2;
      }
      if (const auto range = constants_.find(last)) {
        result = value(*range);
      } else if (const auto known = given.find(name); known != given.end()) {
        result = known->second;
        used_given.insert(name);
      } else if (at_ >= end_ || !tokens_[at_].is("(")) {
        unknown.insert(name);
      }
    }
    --depth_;
    return result;
  }
};

struct Found {
  Declaration declaration;
  size_t token = 0;            // of the name
  std::vector<Range> extents;  // tokens
};

/// All declarations of `name` that stand behind a `__shared__`.
std::vector<Found> declarations_of(const std::vector<Token>& tokens, std::string_view text,
                                   std::string_view name) {
  std::vector<Found> all;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__shared__") || tokens[i].in_directive) continue;
    // Type and declarators up to the semicolon; what stands in brackets belongs to an extent or an attribute.
    size_t at = i + 1;
    const size_t type_begin = at;
    size_t type_end = 0;
    while (at < tokens.size() && !tokens[at].is(";") && !tokens[at].is("{") && !tokens[at].is("}")) {
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
      found.declaration.type_begin = tokens[type_begin].begin;
      found.declaration.name_begin = tokens[at].begin;
      found.token = at;
      found.declaration.name = std::string(tokens[at].text);
      const auto between = [&](size_t first, size_t last) {
        return std::string(text.substr(tokens[first].begin, tokens[last].end() - tokens[first].begin));
      };
      if (type_end > type_begin) {
        found.declaration.type = between(type_begin, type_end - 1);
      } else {  // `float __shared__ tile[…]`
        size_t first = i;
        while (first > 0 && !tokens[first - 1].is(";") && !tokens[first - 1].is("{") &&
               !tokens[first - 1].is("}") && !tokens[first - 1].in_directive)
          --first;
        found.declaration.type = between(first, i);
        found.declaration.plain = false;
      }
      for (size_t i_type = type_begin; i_type < type_end; ++i_type)
        if (tokens[i_type].is("(") || tokens[i_type].is("[") || tokens[i_type].is("volatile"))
          found.declaration.plain = false;
      found.declaration.alone = type_end == at;
      ++at;
      while (at < tokens.size() && tokens[at].is("[")) {
        const size_t open = at++;
        for (int depth = 1; at < tokens.size(); ++at) {
          depth += tokens[at].is("[") ? 1 : tokens[at].is("]") ? -1 : 0;
          if (depth == 0) break;
        }
        if (at >= tokens.size()) return all;
        Extent extent;
        extent.begin = tokens[open].begin + 1;
        extent.end = tokens[at].begin;
        extent.text = std::string(text.substr(extent.begin, extent.end - extent.begin));
        found.declaration.extents.push_back(std::move(extent));
        found.extents.emplace_back(open + 1, at);
        found.declaration.end = tokens[at].end();
        ++at;
      }
      found.declaration.alone = found.declaration.alone && at < tokens.size() && tokens[at].is(";");
      if (found.declaration.name == name) all.push_back(std::move(found));
    }
  }
  return all;
}

/// The size of a declared type whose words are all known: "unsigned int", "const float".
std::optional<uint64_t> size_of_words(std::string_view type) {
  std::optional<uint64_t> size;
  for (const Token& t : tokens_of(type)) {
    if (t.is("const") || t.is("volatile") || t.is("static") || t.is("extern") || t.is("__shared__")) continue;
    const auto one = size_of_type(t.text);
    if (!one) return std::nullopt;
    // "unsigned char", "long long": the last word but `int` decides.
    size = t.is("int") && size ? size : one;
  }
  return size;
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

/// The pieces of a list between commas that stand in no bracket, without blanks around them.
std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  size_t begin = 0;
  const auto add = [&](size_t end) {
    std::string_view piece = list.substr(begin, end - begin);
    while (piece.starts_with(' ')) piece.remove_prefix(1);
    while (piece.ends_with(' ')) piece.remove_suffix(1);
    pieces.push_back(piece);
    begin = end + 1;
  };
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) add(i);
  }
  add(list.size());
  return pieces;
}

/// The value of an argument as demanglers write it: 32, 32u, (unsigned int)32, true.
std::optional<uint64_t> integer_argument(std::string_view argument) {
  if (argument.starts_with('('))
    argument.remove_prefix(std::min(argument.find(')'), argument.size() - 1) + 1);
  if (argument == "true" || argument == "false") return argument == "true" ? 1 : 0;
  return argument.empty() || argument.front() < '0' || argument.front() > '9' ? std::nullopt
                                                                              : number_of(argument);
}

/// The names of the parameters of the list whose `<` is token `open`, and the token behind its `>`; no names
/// where the list is not understood.
std::pair<std::vector<std::string_view>, size_t> parameters_of(const std::vector<Token>& tokens,
                                                               size_t open) {
  std::vector<std::string_view> names;
  std::string_view name;
  bool in_default = false, understood = true;
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (t.is("<") || t.is("(")) ++depth;
    if (t.is(">") || t.is(")")) --depth;
    if (t.is(">>")) depth -= 2;
    if (depth <= 0 || (depth == 1 && t.is(","))) {
      names.push_back(name);
      if (depth <= 0) return {understood ? names : std::vector<std::string_view>(), i + 1};
      in_default = false;
      name = {};
    } else if (depth == 1 && t.is("=")) {
      in_default = true;
    } else if (depth == 1 && t.is(".")) {
      understood = false;  // a pack
    } else if (depth == 1 && t.is_name() && !in_default) {
      name = t.text;
    }
  }
  return {{}, tokens.size()};
}

/// Template parameters → arguments of the function around token `at`, if it is a template and `function` is
/// what it is called with its arguments.
std::map<std::string_view, std::string_view> arguments_of(const std::vector<Token>& tokens, size_t at,
                                                          std::string_view function) {
  std::map<std::string_view, std::string_view> all;
  const size_t open = function.find('<');
  if (open == std::string_view::npos || !function.ends_with('>')) return all;
  const std::vector<std::string_view> arguments =
      split(function.substr(open + 1, function.size() - open - 2));
  for (size_t i = 0; i + 1 < at; ++i) {
    if (!tokens[i].is("template") || !tokens[i + 1].is("<")) continue;
    const auto [parameters, behind] = parameters_of(tokens, i + 1);
    size_t head = behind;
    bool is_it = false;
    for (; head < at && !tokens[head].is("{") && !tokens[head].is(";"); ++head)
      is_it = is_it || (tokens[head].is("(") && tokens[head - 1].is(function.substr(0, open)));
    if (!is_it || parameters.size() != arguments.size()) continue;
    all.clear();
    for (size_t k = 0; k < parameters.size(); ++k)
      if (!parameters[k].empty()) all[parameters[k]] = arguments[k];
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
  const auto is_of_function = [&](const Found& f) {
    return is_inside(tokens, f.token, function.substr(0, function.find('<')));
  };
  if (!function.empty() && std::any_of(all.begin(), all.end(), is_of_function))
    std::erase_if(all, [&](const Found& f) { return !is_of_function(f); });
  else
    std::erase_if(all, [&](const Found& f) { return f.declaration.line > used_at; });
  if (all.empty())
    return Unclear{fmt::format("no `__shared__ … {}` is declared above line {}", name, used_at)};
  Found& found = *std::max_element(all.begin(), all.end(), [](const Found& a, const Found& b) {
    return a.declaration.line < b.declaration.line;
  });
  Declaration& declaration = found.declaration;
  const auto unclear = [&](const std::string& why) {
    return Unclear{
        fmt::format("line {}: the extents of '{}' are not clear: {}", declaration.line, name, why)};
  };
  if (declaration.extents.empty()) return unclear("it is no array");
  declaration.open = found.extents.front().first == found.extents.front().second;

  const Constants constants(tokens);
  Evaluator evaluator(tokens, constants);
  const std::map<std::string_view, std::string_view> arguments = arguments_of(tokens, found.token, function);
  for (const auto& [parameter, argument] : arguments)
    if (const auto value = integer_argument(argument); value && !constants.find(parameter))
      evaluator.given[parameter] = *value;
  const auto substituted = arguments.find(declaration.type);
  const std::optional<uint64_t> element =
      size_of_words(substituted != arguments.end() ? substituted->second : declaration.type);
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

std::string padded(const Extent& extent, uint64_t elements) {
  const bool binds_tighter = extent.text.find_first_of("<>&|^?") == std::string::npos;
  return fmt::format("{} + {}", binds_tighter ? extent.text : "(" + extent.text + ")", elements);
}

}  // namespace lanescope::advise
