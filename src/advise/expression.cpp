// See expression.hpp. Preprocessor conditionals are not evaluated, so a name with two different values is
// unknown.
#include "advise/expression.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

namespace lanescope::advise {
namespace {

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

/// Sizes that do not depend on the program; of vectors, int4, those of their elements.
std::optional<uint64_t> size_of_type(std::string_view type) {
  struct Known {
    std::string_view type;
    uint64_t bytes;
    bool has_vectors = false;
  };
  static constexpr Known sizes[] = {
      {"char", 1, true},      {"uchar", 1, true},  {"bool", 1},           {"int8_t", 1},
      {"uint8_t", 1},         {"signed", 4},       {"short", 2, true},    {"ushort", 2, true},
      {"int16_t", 2},         {"uint16_t", 2},     {"half", 2},           {"__half", 2},
      {"__nv_bfloat16", 2},   {"int", 4, true},    {"unsigned", 4},       {"uint", 4, true},
      {"float", 4, true},     {"int32_t", 4},      {"uint32_t", 4},       {"half2", 4},
      {"__half2", 4},         {"long", 8, true},   {"__nv_bfloat162", 4}, {"ulong", 8, true},
      {"longlong", 8, true},  {"double", 8, true}, {"int64_t", 8},        {"uint64_t", 8},
      {"ulonglong", 8, true}, {"size_t", 8}};
  const auto find = [](std::string_view name) {
    return std::find_if(std::begin(sizes), std::end(sizes), [&](const Known& k) { return k.type == name; });
  };
  if (const auto* const found = find(type); found != std::end(sizes)) return found->bytes;
  if (type.empty() || type.back() < '1' || type.back() > '4') return std::nullopt;
  const auto* const element = find(type.substr(0, type.size() - 1));
  if (element == std::end(sizes) || !element->has_vectors) return std::nullopt;
  return element->bytes * static_cast<uint64_t>(type.back() - '0');
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

struct Parameter {
  std::string_view name;
  std::string_view otherwise;  ///< its default argument; empty: none
};

/// The parameters of the list whose `<` is token `open`, and the token behind its `>`; none where the list is
/// not understood.
std::pair<std::vector<Parameter>, size_t> parameters_of(const std::vector<Token>& tokens, size_t open) {
  std::vector<Parameter> parameters;
  Parameter parameter;
  size_t otherwise = 0;  // the first token of the default argument
  bool understood = true;
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (t.is("<") || t.is("(")) ++depth;
    if (t.is(">") || t.is(")")) --depth;
    if (t.is(">>")) depth -= 2;
    if (depth <= 0 || (depth == 1 && t.is(","))) {
      if (otherwise != 0 && otherwise < i) {
        const std::string_view first = tokens[otherwise].text, last = tokens[i - 1].text;
        parameter.otherwise = {first.data(), static_cast<size_t>(last.data() + last.size() - first.data())};
      }
      parameters.push_back(parameter);
      if (depth <= 0) return {understood ? parameters : std::vector<Parameter>(), i + 1};
      otherwise = 0;
      parameter = {};
    } else if (depth == 1 && t.is("=")) {
      otherwise = i + 1;
    } else if (depth == 1 && t.is(".")) {
      understood = false;  // a pack
    } else if (depth == 1 && t.is_name() && otherwise == 0) {
      parameter.name = t.text;
    }
  }
  return {{}, tokens.size()};
}

/// What the levels of binary operators are, lowest first; 0: it is none.
int level_of(std::string_view op) {
  if (op == "|") return 1;
  if (op == "^") return 2;
  if (op == "&") return 3;
  if (op == "<<" || op == ">>") return 4;
  if (op == "+" || op == "-") return 5;
  return op == "*" || op == "/" || op == "%" ? 6 : 0;
}

std::optional<uint64_t> apply(std::string_view op, uint64_t a, uint64_t b) {
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

}  // namespace

Constants::Constants(const std::vector<Token>& tokens) : tokens_(tokens) {
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

std::optional<Range> Constants::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : found->second;
}

/// Whether the declaration that token `i` is the name of is one of a constant.
bool Constants::is_constant(size_t i) const {
  for (size_t back = i; back-- > 0;) {
    const Token& t = tokens_[back];
    if (t.is("const") || t.is("constexpr") || t.is("enum")) return true;
    if (t.is(";") || t.is("}") || t.is("(") || t.is(")") || t.is("<")) return false;
  }
  return false;
}

void Constants::add(std::string_view name, Range value) {
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

std::optional<uint64_t> Evaluator::value(Range range) {
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

bool Evaluator::accept(std::string_view text) {
  if (at_ >= end_ || !tokens_[at_].is(text)) return false;
  ++at_;
  return true;
}

std::optional<uint64_t> Evaluator::binary(int above) {
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

/// A cast to a type whose size is known, (size_t) or static_cast<int>: values are never so large that it
/// would change them.
bool Evaluator::accept_cast() {
  const size_t before = at_;
  const bool is_static = accept("static_cast");
  if (accept(is_static ? "<" : "(")) {
    const size_t first = at_;
    while (at_ < end_ && tokens_[at_].is_name()) ++at_;
    if (at_ > first && accept(is_static ? ">" : ")") && (is_static || at_ < end_)) {
      const std::string_view& from = tokens_[first].text;
      const Token& last = tokens_[at_ - 2];
      if (size_of_words(
              {from.data(), static_cast<size_t>(last.text.data() + last.text.size() - from.data())}))
        return true;
    }
  }
  at_ = before;
  return false;
}

std::optional<uint64_t> Evaluator::unary() {
  if (at_ >= end_ || ++depth_ > 64) return std::nullopt;
  std::optional<uint64_t> result;
  if (accept("+") || accept_cast()) {
    result = unary();
  } else if (accept("~")) {
    if (const auto value = unary()) result = ~*value;
  } else if (accept("-")) {
    if (const auto value = unary()) result = uint64_t{0} - *value;
  } else if (accept("(")) {
    result = binary(0);
    if (!accept(")")) result = std::nullopt;
  } else if (accept("sizeof")) {
    result = size_of();
  } else if (tokens_[at_].is_number()) {
    result = number_of(tokens_[at_++].text);
  } else if (tokens_[at_].is_name()) {
    result = named();
  }
  --depth_;
  return result;
}

/// Behind `sizeof`: a type in parentheses.
std::optional<uint64_t> Evaluator::size_of() {
  if (!accept("(")) return std::nullopt;
  const size_t first = at_;
  while (at_ < end_ && !tokens_[at_].is(")")) ++at_;
  if (at_ == first || at_ == end_) return std::nullopt;
  const char* const begin = tokens_[first].text.data();
  const std::string_view last = tokens_[at_++ - 1].text;
  return size_of_words({begin, static_cast<size_t>(last.data() + last.size() - begin)}, types);
}

/// A name with what it is qualified by, config::rows, or the member of an object, blockDim.x.
std::optional<uint64_t> Evaluator::named() {
  std::string_view last = tokens_[at_++].text, name = last;
  while (at_ + 1 < end_ && (tokens_[at_].is("::") || tokens_[at_].is(".")) && tokens_[at_ + 1].is_name()) {
    last = tokens_[at_ + 1].text;
    name = {name.data(), static_cast<size_t>(last.data() + last.size() - name.data())};
    at_ += 2;
  }
  if (const auto known = given.find(name); known != given.end()) {
    used_given.insert(name);
    return known->second;
  }
  if (const auto range = constants_.find(last); range && name.find('.') == std::string_view::npos)
    return value(*range);
  if (at_ >= end_ || !tokens_[at_].is("(")) unknown.insert(name);
  return std::nullopt;
}

std::optional<uint64_t> size_of_words(std::string_view type, const Arguments& types) {
  std::optional<uint64_t> size;
  const std::vector<Token> words = tokens_of(type);
  for (size_t i = 0; i < words.size(); ++i) {
    const Token& t = words[i];
    if (t.is("const") || t.is("volatile") || t.is("static") || t.is("extern") || t.is("__shared__")) continue;
    if ((t.is("__align__") || t.is("alignas")) && i + 1 < words.size() && words[i + 1].is("(")) {
      while (i < words.size() && !words[i].is(")")) ++i;
      continue;
    }
    const auto argument = types.find(t.text);
    const auto one = argument != types.end() ? size_of_words(argument->second) : size_of_type(t.text);
    if (!one) return std::nullopt;
    // "unsigned char", "long long": the last word but `int` decides.
    size = t.is("int") && size ? size : one;
  }
  return size;
}

uint64_t alignment_of_words(std::string_view type, uint64_t bytes) {
  constexpr uint64_t most = 16;
  if (type.ends_with('3') && bytes % 3 == 0) return bytes / 3;
  return std::min(bytes, most);
}

std::optional<uint64_t> integer_argument(std::string_view argument) {
  if (argument.starts_with('('))
    argument.remove_prefix(std::min(argument.find(')'), argument.size() - 1) + 1);
  if (argument == "true" || argument == "false") return argument == "true" ? 1 : 0;
  return argument.empty() || argument.front() < '0' || argument.front() > '9' ? std::nullopt
                                                                              : number_of(argument);
}

std::vector<std::string_view> template_arguments(std::string_view function) {
  const size_t open = function.find('<');
  if (open == std::string_view::npos || !function.ends_with('>')) return {};
  return split(function.substr(open + 1, function.size() - open - 2));
}

Arguments arguments_of(const std::vector<Token>& tokens, size_t at, std::string_view function) {
  Arguments all;
  const std::vector<std::string_view> arguments = template_arguments(function);
  if (arguments.empty()) return all;
  const size_t open = function.find('<');
  for (size_t i = 0; i + 1 < at; ++i) {
    if (!tokens[i].is("template") || !tokens[i + 1].is("<")) continue;
    const auto [parameters, behind] = parameters_of(tokens, i + 1);
    size_t head = behind;
    bool is_it = false;
    for (; head < at && !tokens[head].is("{") && !tokens[head].is(";"); ++head)
      is_it = is_it || (tokens[head].is("(") && tokens[head - 1].is(function.substr(0, open)));
    is_it = is_it || (head < at && tokens[head].is("{") && tokens[head - 1].is(function.substr(0, open)));
    if (!is_it || parameters.size() < arguments.size()) continue;
    const bool is_complete =
        parameters.size() == arguments.size() || !parameters[arguments.size()].otherwise.empty();
    if (!is_complete) continue;
    all.clear();
    for (size_t k = 0; k < parameters.size(); ++k)
      if (!parameters[k].name.empty())
        all[parameters[k].name] = k < arguments.size() ? arguments[k] : parameters[k].otherwise;
  }
  return all;
}

}  // namespace lanescope::advise
