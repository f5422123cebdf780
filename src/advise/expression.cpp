// See expression.hpp. Preprocessor conditionals are not evaluated, so a name with two different values in one
// scope is unknown.
#include "advise/expression.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>

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
  struct Level {
    std::string_view op;
    int level;
  };
  static constexpr Level levels[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
                                     {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
                                     {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
  const auto* const found =
      std::find_if(std::begin(levels), std::end(levels), [&](const Level& l) { return l.op == op; });
  return found == std::end(levels) ? 0 : found->level;
}

std::optional<uint64_t> apply(std::string_view op, uint64_t a, uint64_t b) {
  const auto less = static_cast<int64_t>(a) < static_cast<int64_t>(b);
  if (op == "||") return a != 0 || b != 0;
  if (op == "&&") return a != 0 && b != 0;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return less;
  if (op == ">=") return !less;
  if (op == ">") return !less && a != b;
  if (op == "<=") return less || a == b;
  if (op == "<<") return b < 64 ? std::optional(a << b) : std::nullopt;
  if (op == ">>") return b < 64 ? std::optional(a >> b) : std::nullopt;
  switch (op.front()) {
    case '|': return a | b;
    case '^': return a ^ b;
    case '&': return a & b;
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return b != 0 ? std::optional(a / b) : std::nullopt;
    default: return b != 0 ? std::optional(a % b) : std::nullopt;
  }
}

/// A pair of braces, as far as names go.
struct Braces {
  size_t open = 0;
  bool is_code = false;    ///< statements of a function
  bool is_enum = false;    ///< whose names belong to what it stands in
  std::string_view owner;  ///< the struct or namespace that it is the body of
};

Braces braces_at(const std::vector<Token>& tokens, size_t open, bool in_code) {
  Braces braces{open, in_code, false, {}};
  for (size_t i = open; i-- > 0 && !tokens[i].is(";") && !tokens[i].is("{") && !tokens[i].is("}");) {
    const Token& t = tokens[i];
    if (t.is(")")) {
      braces.is_code = true;
      break;
    }
    const bool has_name = i + 1 < open && tokens[i + 1].is_name();
    if (t.is("enum")) braces.is_enum = true;
    if ((t.is("struct") || t.is("class") || t.is("union") || t.is("namespace")) && has_name)
      braces.owner = tokens[i + 1].text;
  }
  const size_t before = open == 0 ? 0 : open - 1;
  if (tokens[before].is("else") || tokens[before].is("do")) braces.is_code = true;
  return braces;
}

}  // namespace

Constants::Constants(const std::vector<Token>& tokens) : tokens_(tokens) {
  std::vector<Braces> around;
  std::map<size_t, size_t> closing;  // braces that close, by those that they close
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (t.in_directive) {
      if (t.is("define") && i > 0 && tokens[i - 1].is("#")) add_macro(i + 1);
      continue;
    }
    if (t.is("{")) around.push_back(braces_at(tokens, i, !around.empty() && around.back().is_code));
    if (t.is("}") && !around.empty()) {
      closing[around.back().open] = i;
      around.pop_back();
    }
    if (!t.is_name()) continue;
    if (tokens[i + 1].is("(")) add_function(i);
    const bool in_braces = tokens[i + 1].is("{") && i > 0 && tokens[i - 1].is_name() &&
                           !tokens[i - 1].is("enum") && !tokens[i - 1].is("struct") &&
                           !tokens[i - 1].is("class") && !tokens[i - 1].is("union");
    if (!(tokens[i + 1].is("=") || in_braces) || !is_constant(i)) continue;
    size_t end = i + 2;
    for (int depth = 0; end < tokens.size(); ++end) {
      const Token& last = tokens[end];
      if (depth == 0 && (last.is(";") || last.is(",") || last.is("}"))) break;
      depth += last.is("(") || last.is("{") ? 1 : last.is(")") || last.is("}") ? -1 : 0;
    }
    size_t level = around.size();
    while (level > 0 && around[level - 1].is_enum) --level;
    Definition definition{{i + 2, end}, {0, tokens.size()}, {}, false, false};
    if (level > 0) {
      const Braces& in = around[level - 1];
      definition.scope.first = in.open;
      definition.owner = in.owner;
      definition.is_local = in.is_code && in.owner.empty();
    }
    values_[t.text].push_back(definition);
  }
  for (auto& [name, definitions] : values_)
    for (Definition& definition : definitions)
      if (const auto close = closing.find(definition.scope.first); close != closing.end())
        definition.scope.second = close->second;
}

void Constants::add_macro(size_t name) {
  if (name + 1 >= tokens_.size()) return;
  size_t begin = name + 1;
  const bool has_parameters = tokens_[begin].is("(") && tokens_[begin].begin == tokens_[name].end();
  Function function;
  if (has_parameters) {
    const size_t close = closing_bracket(tokens_, begin, ")");
    for (size_t i = begin + 1; i < close; ++i)
      if (tokens_[i].is_name()) function.parameters.push_back(tokens_[i].text);
    begin = std::min(close + 1, tokens_.size());
  }
  size_t end = begin;
  while (end < tokens_.size() && tokens_[end].in_directive && !tokens_[end].is("#")) ++end;
  if (has_parameters) {
    function.value = {begin, end};
    function.is_macro = true;
    functions_.emplace(tokens_[name].text, function);
  } else {
    values_[tokens_[name].text].push_back({{begin, end}, {0, tokens_.size()}, {}, false, true});
  }
}

/// `name(int a, int b) { return …; }`
void Constants::add_function(size_t name) {
  const size_t close = closing_bracket(tokens_, name + 1, ")");
  size_t body = close + 1;
  while (body < tokens_.size() && (tokens_[body].is("noexcept") || tokens_[body].is("const"))) ++body;
  if (body + 2 >= tokens_.size() || !tokens_[body].is("{") || !tokens_[body + 1].is("return")) return;
  size_t end = body + 2;
  while (end < tokens_.size() && !tokens_[end].is(";")) ++end;
  if (end + 1 >= tokens_.size() || !tokens_[end + 1].is("}")) return;
  Function function{{}, {body + 2, end}, false};
  for (const auto& [first, last] : pieces_of_list(tokens_, name + 1)) {
    if (!tokens_[last - 1].is_name()) return;
    function.parameters.push_back(tokens_[last - 1].text);
  }
  functions_.emplace(tokens_[name].text, function);
}

const Constants::Definition* Constants::find(std::string_view name, std::string_view owner, size_t at) const {
  const auto known = values_.find(name);
  if (known == values_.end()) return nullptr;
  const auto all_agree = [&](const auto& is_meant) -> const Definition* {
    const Definition* found = nullptr;
    for (const Definition& d : known->second) {
      if (!is_meant(d)) continue;
      if (found != nullptr && !is_same(found->value, d.value)) return nullptr;
      found = &d;
    }
    return found;
  };
  const auto is_any = [&](const auto& is_meant) {
    return std::any_of(known->second.begin(), known->second.end(), is_meant);
  };
  const auto is_of_owner = [&](const Definition& d) { return !owner.empty() && d.owner == owner; };
  if (is_any(is_of_owner)) return all_agree(is_of_owner);
  size_t innermost = 0;
  bool is_in_scope = false;
  const auto holds = [&](const Definition& d) { return d.scope.first <= at && at < d.scope.second; };
  for (const Definition& d : known->second)
    if (holds(d)) {
      is_in_scope = true;
      innermost = std::max(innermost, d.scope.first);
    }
  if (is_in_scope)
    return all_agree([&](const Definition& d) { return holds(d) && d.scope.first == innermost; });
  return all_agree([](const Definition& d) { return !d.is_local; });
}

const Constants::Function* Constants::find_function(std::string_view name, size_t parameters) const {
  const Function* found = nullptr;
  const auto [first, last] = functions_.equal_range(name);
  for (auto f = first; f != last; ++f) {
    if (f->second.parameters.size() != parameters) continue;
    if (found != nullptr && !is_same(found->value, f->second.value)) return nullptr;
    found = &f->second;
  }
  return found;
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

bool Constants::is_same(Range a, Range b) const {
  return b.second - b.first == a.second - a.first &&
         std::equal(tokens_.begin() + static_cast<std::ptrdiff_t>(a.first),
                    tokens_.begin() + static_cast<std::ptrdiff_t>(a.second),
                    tokens_.begin() + static_cast<std::ptrdiff_t>(b.first),
                    [](const Token& x, const Token& y) { return x.text == y.text; });
}

void Evaluator::give_arguments(Arguments arguments) {
  types = std::move(arguments);
  for (const auto& [parameter, argument] : types)
    if (const auto value = integer_argument(argument)) given[parameter] = *value;
}

std::optional<uint64_t> Evaluator::value(Range range) { return value_at(range, range.first); }

std::optional<uint64_t> Evaluator::value_at(Range range, size_t scope) {
  constexpr int deepest = 32;
  if (depth_ >= deepest) return std::nullopt;
  ++depth_;
  const size_t at = std::exchange(at_, range.first), end = std::exchange(end_, range.second),
               around = std::exchange(scope_, scope);
  std::optional<uint64_t> result = conditional();
  if (at_ != end_) result = std::nullopt;
  at_ = at;
  end_ = end;
  scope_ = around;
  --depth_;
  return result;
}

bool Evaluator::accept(std::string_view text) {
  if (at_ >= end_ || !tokens_[at_].is(text)) return false;
  ++at_;
  return true;
}

std::optional<uint64_t> Evaluator::conditional() {
  constexpr int deepest = 64;
  const std::optional<uint64_t> condition = binary(0);
  if (depth_ >= deepest || !accept("?")) return condition;
  ++depth_;
  const std::optional<uint64_t> then = conditional();
  const std::optional<uint64_t> otherwise = accept(":") ? conditional() : std::nullopt;
  --depth_;
  if (!condition) return std::nullopt;
  return *condition != 0 ? then : otherwise;
}

namespace {

/// What is not exceeded where the operands are at most these; nothing where that is not clear.
std::optional<uint64_t> largest_of(std::string_view op, std::optional<uint64_t> left,
                                   std::optional<uint64_t> right) {
  constexpr uint64_t any = UINT64_MAX;
  if (op == "%")
    return !right || *right == 0 ? std::nullopt : std::optional(std::min(left.value_or(any), *right - 1));
  if (op == "&" && (left || right)) return std::min(left.value_or(any), right.value_or(any));
  if (!left || !right) return std::nullopt;
  if (op == "|" || op == "^") return std::bit_ceil(std::max(*left, *right) + 1) - 1;
  if (op == "+" || op == "*" || op == "/" || op == "<<" || op == ">>") return apply(op, *left, *right);
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> Evaluator::binary(int above) {
  std::optional<uint64_t> left = unary();
  while (at_ < end_) {
    const std::string_view op = tokens_[at_].text;
    const int level = level_of(op);
    if (level == 0 || level <= above) break;
    ++at_;
    const std::optional<uint64_t> right = binary(level);
    if (at_most)
      left = largest_of(op, left, right);
    else
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
    if (const auto value = unary(); value && !at_most) result = ~*value;
  } else if (accept("-")) {
    if (const auto value = unary(); value && !at_most) result = uint64_t{0} - *value;
  } else if (accept("!")) {
    if (const auto value = unary()) result = *value == 0 ? 1 : 0;
  } else if (accept("(")) {
    result = conditional();
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

/// A name with what it is qualified by, config::rows, the member of an object, blockDim.x, or a call.
std::optional<uint64_t> Evaluator::named() {
  std::string_view last = tokens_[at_++].text, name = last, owner;
  if (last == "true" || last == "false") return last == "true" ? 1 : 0;
  while (at_ + 1 < end_ && (tokens_[at_].is("::") || tokens_[at_].is(".")) && tokens_[at_ + 1].is_name()) {
    owner = last;
    last = tokens_[at_ + 1].text;
    name = {name.data(), static_cast<size_t>(last.data() + last.size() - name.data())};
    at_ += 2;
  }
  if (const auto known = given.find(name); known != given.end()) {
    used_given.insert(name);
    return known->second;
  }
  if (at_ < end_ && tokens_[at_].is("(")) return call(last);
  if (const auto type = types.find(owner); type != types.end()) {
    owner = type->second;  // of a template's argument: Config, or mine::Config
    owner.remove_prefix(owner.rfind(':') + 1);
  }
  if (const auto* known = constants_.find(last, owner, scope_);
      known != nullptr && name.find('.') == std::string_view::npos)
    return value_at(known->value, known->is_macro ? scope_ : known->value.first);
  unknown.insert(name);
  while (at_most && at_ < end_ && tokens_[at_].is("[")) at_ = closing_bracket(tokens_, at_, "]") + 1;
  return std::nullopt;
}

/// Behind the name of a function.
std::optional<uint64_t> Evaluator::call(std::string_view name) {
  ++at_;
  std::vector<std::optional<uint64_t>> arguments;
  while (at_ < end_ && !tokens_[at_].is(")")) {
    arguments.push_back(conditional());
    if (!accept(",")) break;
  }
  if (!accept(")") ||
      std::any_of(arguments.begin(), arguments.end(), [](const auto& argument) { return !argument; }))
    return std::nullopt;
  if (arguments.size() == 2 && (name == "min" || name == "max"))
    return (name == "min") == (*arguments[0] < *arguments[1]) ? arguments[0] : arguments[1];
  if (arguments.size() == 1 && size_of_words(name)) return arguments[0];
  const Constants::Function* function = constants_.find_function(name, arguments.size());
  if (function == nullptr) return std::nullopt;
  const auto given_outside = given;
  const auto used_outside = used_given;
  for (size_t i = 0; i < arguments.size(); ++i) given[function->parameters[i]] = *arguments[i];
  const auto result = value_at(function->value, function->is_macro ? scope_ : function->value.first);
  given = given_outside;
  for (const std::string_view parameter : function->parameters)
    if (used_outside.count(parameter) == 0) used_given.erase(parameter);
  return result;
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
