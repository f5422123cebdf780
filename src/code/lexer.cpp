// See lexer.hpp.
#include "code/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

namespace lanescope::code {
namespace {

/// More would only come from macros that double each other.
constexpr size_t most_tokens = 100'000;
/// Tokens that are looked at, those that come to nothing among them.
constexpr size_t most_work = 10 * most_tokens;
constexpr size_t deepest_macros = 200;

struct Macro {
  bool has_parameters = false;
  bool is_function = false;  ///< whose arguments are evaluated once
  std::vector<std::string> parameters;
  std::vector<Token> body;
};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Lexer {
 public:
  explicit Lexer(const Program& program) : program_(program), text_(program.text) {}

  std::vector<Token> run() {
    for (;;) {
      skip_space(true);
      if (at_ >= text_.size()) break;
      if (text_[at_] == '#' && line_is_new_) {
        expand_stretch();
        directive();
      } else {
        line_is_new_ = false;
        Token token = next();
        const bool is_std = token.text == "std" && text_.substr(at_).starts_with("::");
        if (is_std)  // its names are known without it
          at_ += 2;
        else
          stretch_.push_back(std::move(token));
      }
    }
    expand_stretch();
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
      const std::string name_of_macro = next().text;
      Macro macro;
      if (peek() == '(')
        parameters(macro);  // a space in between, and the parenthesis is of what it stands for
      for (skip_space(false); at_ < text_.size() && text_[at_] != '\n'; skip_space(false))
        macro.body.push_back(next());
      macros_[name_of_macro] = std::move(macro);
    } else if (name == "pragma" || name == "include") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      fail(begin, "of the preprocessor's lines only #define, #include and #pragma are understood");
    }
  }

  /// The parameters of a macro, at the '('.
  void parameters(Macro& macro) {
    macro.has_parameters = true;
    const size_t begin = at_++;
    for (skip_space(false); peek() != ')'; skip_space(false)) {
      if (!macro.parameters.empty() && peek() != ',')
        fail(begin, "a macro's parameters are names with commas");
      if (!macro.parameters.empty()) ++at_;
      skip_space(false);
      if (!is_letter(peek())) fail(begin, "a macro's parameters are names with commas");
      macro.parameters.push_back(next().text);
    }
    ++at_;
  }

  /// Macros hold for what stands between their line and the next one that begins with '#'.
  void expand_stretch() {
    take_functions();
    expand(stretch_, tokens_);
    stretch_.clear();
  }
  /// Functions and lambdas of one `return` are taken for macros: int at(int i, int j) { return i * 32 + j; }
  void take_functions() {
    std::vector<Token> rest;
    std::vector<bool> of_types;  // of the open blocks: structs, whose functions belong to their objects
    bool names_type = false;     // in the statement at hand
    for (size_t i = 0; i < stretch_.size();) {
      const bool begins = i == 0 || stands(i - 1, ";") || stands(i - 1, "{") || stands(i - 1, "}");
      if (begins) names_type = false;
      if (begins && std::find(of_types.begin(), of_types.end(), true) == of_types.end() && take_function(i))
        continue;
      for (const char* word : {"struct", "class", "union", "enum"})
        names_type = names_type || stands(i, word);
      if (stands(i, "{")) of_types.push_back(names_type);
      if (stands(i, "}") && !of_types.empty()) of_types.pop_back();
      rest.push_back(stretch_[i++]);
    }
    stretch_ = std::move(rest);
  }
  [[nodiscard]] bool stands(size_t i, std::string_view text) const {
    return i < stretch_.size() && stretch_[i].text == text;
  }
  [[nodiscard]] size_t behind(size_t open, std::string_view opens, std::string_view closes) const {
    int depth = 0;
    size_t i = open;
    do {
      if (i >= stretch_.size()) return i;
      depth += stretch_[i].text == opens ? 1 : stretch_[i].text == closes ? -1 : 0;
      ++i;
    } while (depth > 0);
    return i;
  }
  /// Moves `i` behind a definition that begins there; false where none does.
  bool take_function(size_t& i) {
    size_t open = i;  // the parenthesis of the parameters
    while (open < stretch_.size() &&
           (stretch_[open].kind == Token::Kind::identifier || stands(open, "*") || stands(open, "&")))
      ++open;
    if (open < i + 2) return false;  // a call
    const size_t name = open - 1;
    const bool is_lambda = stands(name - 1, "auto") && stands(open, "=") && stands(open + 1, "[");
    if (is_lambda) open = behind(open + 1, "[", "]");
    for (const char* word : {"if", "for", "while", "switch"})
      if (stands(name, word)) return false;
    if (!stands(open, "(")) return false;
    const size_t close = behind(open, "(", ")");
    size_t body = close;
    while (is_lambda && body < stretch_.size() && !stands(body, "{") && !stands(body, ";"))
      ++body;  // -> float&
    size_t end = body;
    while (end < stretch_.size() && !stands(end, ";")) ++end;
    if (!stands(body, "{") || !stands(body + 1, "return") || !stands(end + 1, "}") ||
        (is_lambda && !stands(end + 2, ";")))
      return false;
    // Parameters get names that no member has: f(x) may name threadIdx.x.
    const auto own = [&](size_t k) { return stretch_[k].text + " of " + stretch_[name].text; };
    Macro macro;
    macro.has_parameters = macro.is_function = true;
    std::map<std::string, std::vector<Token>> types;  // of parameters that are numbers
    for (size_t k = open + 1, first = k; k + 1 < close; ++k) {
      if (stands(k, ",")) first = k + 1;
      if (stretch_[k].kind != Token::Kind::identifier || (!stands(k + 1, ",") && k + 2 != close)) continue;
      macro.parameters.push_back(own(k));
      types[own(k)] = type_of_number(first, k);
    }
    const auto add = [&](size_t k) { macro.body.push_back(stretch_[k]); };
    const auto add_type = [&](const std::vector<Token>& type) {
      if (type.empty()) return;
      add(open);
      macro.body.insert(macro.body.end(), type.begin(), type.end());
      add(close - 1);
    };
    add(open);
    if (!is_lambda) add_type(type_of_number(i, name));
    add(open);
    for (size_t k = body + 2; k < end; ++k) {
      const bool is_parameter =
          !stands(k - 1, ".") && !stands(k - 1, "->") &&
          std::find(macro.parameters.begin(), macro.parameters.end(), own(k)) != macro.parameters.end();
      if (is_parameter) {  // 2 * ((int)(i))
        add(open);
        add_type(types[own(k)]);
        add(open);
      }
      add(k);
      if (is_parameter) {
        macro.body.back().text = own(k);
        add(close - 1);
        add(close - 1);
      }
    }
    add(close - 1);
    add(close - 1);
    if (!macros_.emplace(stretch_[name].text, std::move(macro)).second)
      fail(stretch_[name].begin, fmt::format("there is a '{}' already", stretch_[name].text));
    i = end + (is_lambda ? 3 : 2);
    return true;
  }
  /// The words of a type of numbers, among those from one token to another; empty where it is another type.
  [[nodiscard]] std::vector<Token> type_of_number(size_t first, size_t end) const {
    constexpr std::array<std::string_view, 18> numbers{
        "bool",   "char",   "short",   "int",     "long",    "signed",  "unsigned", "float",    "double",
        "size_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"};
    constexpr std::array<std::string_view, 8> others{"const",      "constexpr", "static",          "inline",
                                                     "__device__", "__host__",  "__forceinline__", "&"};
    std::vector<Token> words;
    bool is_const = false, is_reference = false;
    for (size_t k = first; k < end; ++k) {
      const std::string_view word = stretch_[k].text;
      is_const |= word == "const";
      is_reference |= word == "&";
      if (std::find(numbers.begin(), numbers.end(), word) != numbers.end())
        words.push_back(stretch_[k]);
      else if (std::find(others.begin(), others.end(), word) == others.end())
        return {};
    }
    return is_reference && !is_const ? std::vector<Token>{} : words;
  }
  /// An argument that accesses memory, or changes something, does so once.
  void refuse_repeated(const Macro& macro, const Token& name,
                       const std::vector<std::vector<Token>>& arguments) const {
    for (size_t k = 0; macro.is_function && k < arguments.size(); ++k) {
      const bool acts = std::any_of(arguments[k].begin(), arguments[k].end(), [](const Token& t) {
        return t.text == "[" || t.text == "++" || t.text == "--" || t.text == "->";
      });
      const auto uses = std::count_if(macro.body.begin(), macro.body.end(),
                                      [&](const Token& t) { return t.text == macro.parameters[k]; });
      if (acts && uses != 1)
        fail(name.begin,
             fmt::format("'{}' is not used once, and its value takes an access here", macro.parameters[k]));
    }
  }
  /// Adds the tokens, or what the macros among them stand for. Those that are being expanded are names.
  void expand(const std::vector<Token>& from, std::vector<Token>& to) {
    if (++depth_ > deepest_macros) fail(from.empty() ? at_ : from[0].begin, "macros are nested too deeply");
    for (size_t i = 0; i < from.size(); ++i) {
      const Token& token = from[i];
      if (++work_ > most_work || to.size() >= most_tokens) fail(token.begin, "the code is too long");
      const auto found = token.kind == Token::Kind::identifier ? macros_.find(token.text) : macros_.end();
      const bool is_macro =
          found != macros_.end() &&
          std::find(expanding_.begin(), expanding_.end(), token.text) == expanding_.end() &&
          (!found->second.has_parameters || (i + 1 < from.size() && from[i + 1].text == "("));
      if (!is_macro) {
        to.push_back(token);
        continue;
      }
      const Macro& macro = found->second;
      const std::vector<std::vector<Token>> arguments =
          macro.has_parameters ? arguments_of(macro, from, i) : std::vector<std::vector<Token>>();
      refuse_repeated(macro, token, arguments);
      std::vector<Token> body;
      for (const Token& part : macro.body) {
        const auto parameter = std::find(macro.parameters.begin(), macro.parameters.end(), part.text);
        if (++work_ > most_work) fail(token.begin, "the code is too long");
        if (parameter == macro.parameters.end()) {
          body.push_back(part);
        } else {
          const std::vector<Token>& argument =
              arguments[static_cast<size_t>(parameter - macro.parameters.begin())];
          work_ += argument.size();
          body.insert(body.end(), argument.begin(), argument.end());
        }
      }
      for (Token& part : body) {
        part.begin = token.begin;
        part.end = from[i].end;  // the closing parenthesis, where there is one
      }
      expanding_.push_back(token.text);
      expand(body, to);
      expanding_.pop_back();
    }
    --depth_;
  }
  /// The arguments of a macro, expanded. `i`: its name in `from`, then its closing parenthesis.
  std::vector<std::vector<Token>> arguments_of(const Macro& macro, const std::vector<Token>& from,
                                               size_t& i) {
    const Token& name = from[i++];
    std::vector<std::vector<Token>> written(1);
    for (size_t open = 1; open != 0;) {
      if (++i == from.size()) fail(name.begin, fmt::format("the arguments of '{}' do not end", name.text));
      const std::string& text = from[i].text;
      if (text == "(") ++open;
      if (text == ")") --open;
      if (text == "," && open == 1)
        written.emplace_back();
      else if (open != 0)
        written.back().push_back(from[i]);
    }
    if (macro.parameters.empty() && written.size() == 1 && written[0].empty()) written.clear();
    if (written.size() != macro.parameters.size())
      fail(name.begin,
           fmt::format("'{}' has {} parameters, not {}", name.text, macro.parameters.size(), written.size()));
    std::vector<std::vector<Token>> arguments(written.size());
    for (size_t k = 0; k < written.size(); ++k) expand(written[k], arguments[k]);
    return arguments;
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
  std::vector<Token> stretch_;  ///< since the last directive, not expanded
  std::map<std::string, Macro> macros_;
  std::vector<std::string> expanding_;
  size_t depth_ = 0;  ///< of macros and their arguments
  size_t work_ = 0;
};

}  // namespace

std::vector<Token> tokens_of(const Program& program) { return Lexer(program).run(); }

}  // namespace lanescope::code
