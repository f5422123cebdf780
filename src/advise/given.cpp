// See given.hpp. From the array on, all that is a name of it: the parameters of the functions that it is
// given to, of those that these give it to, and the other arrays that such a parameter takes.
#include "advise/given.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "advise/expression.hpp"
#include "advise/tokens.hpp"
#include "base/words.hpp"

namespace lanescope::advise {
namespace {

bool may_end_a_type(const Token& t) {
  return (t.is_name() && !t.is("return") && !t.is("else") && !t.is("do") && !t.is("case")) || t.is(">") ||
         t.is("*") || t.is("&");
}

class Given {
 public:
  Given(std::string_view text, const Declaration& declaration, uint32_t elements)
      : text_(text), d_(declaration), elements_(elements), tokens_(tokens_of(text)) {}

  LongerRows operator()() {
    if (d_.member_of.empty())
      holders_.push_back({d_.name, {behind(d_.end), end_of_block(behind(d_.end))}});
    else
      holders_.push_back({d_.name, {0, tokens_.size()}, true});
    for (size_t i = 0; i < holders_.size(); ++i) {
      const Holder holder = holders_[i];  // the list grows
      for (size_t t = holder.scope.first; t < holder.scope.second; ++t) {
        const size_t object = holder.is_member ? begin_of_object(t) : t;
        if (holder.is_member ? tokens_[t].is(holder.name) && object != t : is_named(t, holder.name))
          follow(object, t);
      }
    }
    return std::move(result_);
  }

  void refuse_those_that_go_on() {
    goes_on_ = true;
    (void)(*this)();
  }

 private:
  /// A name of an array with these rows, and the tokens where it is one.
  struct Holder {
    std::string_view name;
    Range scope;
    bool is_member = false;  ///< of an object, s.tile
  };
  struct Call {
    size_t name = 0, open = 0;  ///< tokens of the function
    size_t argument = 0;        ///< which one it is
    bool has_template_arguments = false;
  };
  std::string_view text_;
  const Declaration& d_;
  uint32_t elements_;
  std::vector<Token> tokens_;
  std::vector<Holder> holders_;
  LongerRows result_;
  bool goes_on_ = false;  ///< is what is asked for, and nothing is changed

  [[nodiscard]] size_t behind(size_t byte) const {
    size_t i = 0;
    while (i < tokens_.size() && tokens_[i].begin < byte) ++i;
    return i;
  }
  [[nodiscard]] size_t end_of_block(size_t i) const {
    for (int depth = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].in_directive) continue;
      depth += tokens_[i].is("{") ? 1 : tokens_[i].is("}") ? -1 : 0;
      if (depth < 0) break;
    }
    return i;
  }
  [[nodiscard]] bool is_named(size_t i, std::string_view name) const {
    return tokens_[i].is(name) && !tokens_[i].in_directive && i > 1 && i + 1 < tokens_.size() &&
           !tokens_[i - 1].is(".") && !tokens_[i - 1].is("->") && !tokens_[i - 1].is("::");
  }
  /// The first token of what a member is named with: s of s.tile.
  [[nodiscard]] size_t begin_of_object(size_t member) const {
    while (member >= 2 && (tokens_[member - 1].is(".") || tokens_[member - 1].is("->")) &&
           tokens_[member - 2].is_name())
      member -= 2;
    return member;
  }
  [[nodiscard]] std::string words(Range range) const {
    return std::string(text_.substr(tokens_[range.first].begin,
                                    tokens_[range.second - 1].end() - tokens_[range.first].begin));
  }
  [[nodiscard]] std::string line(size_t token) const { return line_in_words(tokens_[token]); }

  /// The call that has [first, end) for an argument; nothing where that is none.
  [[nodiscard]] std::optional<Call> call_with(size_t first, size_t end) const {
    if (!(tokens_[first - 1].is("(") || tokens_[first - 1].is(",")) || end >= tokens_.size() ||
        !(tokens_[end].is(")") || tokens_[end].is(",")))
      return std::nullopt;
    Call call;
    size_t open = first;
    for (int depth = 0; open > 0 && depth <= 0;) {
      --open;
      const Token& t = tokens_[open];
      if (t.is(";") || t.is("{") || t.is("}")) return std::nullopt;
      depth += t.is("(") || t.is("[") ? 1 : t.is(")") || t.is("]") ? -1 : 0;
      call.argument += depth == 0 && t.is(",") ? 1 : 0;
    }
    if (open < 2 || !tokens_[open].is("(")) return std::nullopt;
    call.open = open;
    call.name = open - 1;
    if (tokens_[call.name].is(">")) {
      call.has_template_arguments = true;
      while (call.name > 1 && !tokens_[call.name].is("<")) --call.name;
      --call.name;
    }
    const Token& name = tokens_[call.name];
    for (const char* word : {"sizeof", "if", "while", "return", "for", "switch"})
      if (name.is(word)) return std::nullopt;
    return name.is_name() ? std::optional(call) : std::nullopt;
  }

  /// The object that is made of [first, end), Walker w{t}; nothing where none is.
  [[nodiscard]] std::optional<std::string_view> object_of(size_t first, size_t end) const {
    if (!(tokens_[first - 1].is("{") || tokens_[first - 1].is(",")) || end >= tokens_.size() ||
        !(tokens_[end].is("}") || tokens_[end].is(",")))
      return std::nullopt;
    size_t open = first;
    for (int depth = 0; open > 1 && depth <= 0;) {
      const Token& t = tokens_[--open];
      if (t.is(";")) return std::nullopt;
      depth += t.is("(") || t.is("[") || t.is("{") ? 1 : t.is(")") || t.is("]") || t.is("}") ? -1 : 0;
    }
    const Token& before = tokens_[open - 1];
    return tokens_[open].is("{") && before.is_name() ? std::optional(before.text) : std::nullopt;
  }

  /// What is done with one mention of a holder, which begins with token `first`.
  void follow(size_t first, size_t name) {
    if (first < 2) return;
    if (const auto call = call_with(first, name + 1); call && !tokens_[call->name].text.ends_with("_cast"))
      return give(*call, false);
    if (const auto object = object_of(first, name + 1); object && !goes_on_ && result_.condition.empty()) {
      result_.condition =
          fmt::format("{} gives it to '{}', which has to take rows so long", line(name), *object);
      return;
    }
    // &t[0][0], t[0], *t: a pointer to elements.
    size_t end = name + 1, subscripts = 0;
    for (; end < tokens_.size() && tokens_[end].is("["); ++subscripts)
      end = closing_bracket(tokens_, end, "]") + 1;
    if (end >= tokens_.size()) return;
    const bool takes_address = tokens_[first - 1].is("&") && subscripts == d_.extents.size();
    const bool is_row =
        subscripts + 1 == d_.extents.size() || (subscripts == 0 && tokens_[first - 1].is("*"));
    if (takes_address || (is_row && subscripts == 0)) --first;
    const size_t before = first;
    while (take_cast(first, end)) continue;
    const bool is_cast = first != before;
    if (!takes_address && !is_row && !(is_cast && subscripts == 0)) return;
    const auto call = call_with(first, end);
    if (call) give(*call, true);
    if (!call && !goes_on_ && is_cast && subscripts == 0)
      throw Unclear{fmt::format("{} makes a pointer of '{}'", line(name), tokens_[name].text)};
  }
  /// (float*)t, reinterpret_cast<float*>(t): the tokens [first, end) become those of the cast, too; false
  /// where there is none.
  bool take_cast(size_t& first, size_t& end) const {
    if (first < 4 || end >= tokens_.size()) return false;
    if (tokens_[first - 1].is(")") && tokens_[first - 2].is("*")) {
      while (first > 1 && !tokens_[first - 1].is("(")) --first;
      --first;
      return true;
    }
    if (!tokens_[first - 1].is("(") || !tokens_[end].is(")") || !tokens_[first - 2].is(">")) return false;
    size_t open = first - 2;
    while (open > 1 && !tokens_[open].is("<")) --open;
    if (!tokens_[open - 1].text.ends_with("_cast")) return false;
    first = open - 1;
    ++end;
    return true;
  }

  /// The array, or a pointer to elements of it, is given to a function.
  void give(const Call& call, bool as_pointer) {
    const std::string_view function = tokens_[call.name].text;
    bool is_defined = false;
    for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (!tokens_[i].is(function) || !tokens_[i + 1].is("(") || tokens_[i].in_directive ||
          !may_end_a_type(tokens_[i - 1]))
        continue;
      const size_t close = closing_bracket(tokens_, i + 1, ")");
      const std::vector<Range> parameters = pieces_of_list(tokens_, i + 1);
      if (close + 1 >= tokens_.size() || call.argument >= parameters.size() ||
          parameters.size() < pieces_of_list(tokens_, call.open).size())
        continue;
      const Range parameter = parameters[call.argument];
      const bool has_body = tokens_[close + 1].is("{");
      // Of a declaration the parameters have types.
      if (!has_body && !(tokens_[close + 1].is(";") && parameter.second - parameter.first > 1 &&
                         (tokens_[parameter.first].is_name() && !tokens_[parameter.first + 1].is("["))))
        continue;
      const Range body{close + 1, has_body ? closing_bracket(tokens_, close + 1, "}") : close + 1};
      if (is_defined && has_body)
        throw Unclear{
            fmt::format("{} gives it to '{}', which is defined more than once", line(call.name), function)};
      is_defined = is_defined || has_body;
      take(call, parameters, parameter, body, as_pointer);
    }
    if (!is_defined && !as_pointer && result_.condition.empty() && function != "load_matrix_sync" &&
        function != "store_matrix_sync")
      result_.condition =
          fmt::format("{} gives it to '{}', which has to take rows so long", line(call.name), function);
  }

  /// A function takes it by a parameter; `body`: the function's, empty of a declaration.
  void take(const Call& call, const std::vector<Range>& parameters, Range parameter, Range body,
            bool as_pointer) {
    const std::string_view function = tokens_[call.name].text;
    if (goes_on_) return refuse_if_it_goes_on(call, parameter, body);
    size_t close = parameter.second;
    while (close > parameter.first && !tokens_[close - 1].is("]")) --close;
    if (close == parameter.first) {
      if (body.second > body.first) take_pointer(call, parameters, parameter, body, as_pointer);
      return;
    }
    size_t open = --close;
    while (open > parameter.first && !tokens_[open].is("[")) --open;
    if (as_pointer || open + 1 == close) {  // float t[]
      if (body.second > body.first) take_pointer(call, parameters, parameter, body, as_pointer);
      return;
    }
    const Extent extent{words({open + 1, close}), tokens_[open + 1].begin, tokens_[close - 1].end(), 0};
    const bool is_of_template = is_parameter_of_template(extent.text, parameters.front().first);
    const auto mentions = [&](Range range) {
      return std::count_if(tokens_.begin() + static_cast<std::ptrdiff_t>(range.first),
                           tokens_.begin() + static_cast<std::ptrdiff_t>(range.second),
                           [&](const Token& t) { return t.is(extent.text); });
    };
    const bool is_in_other_extent = mentions(parameter) > 1;
    const bool is_deduced = is_of_template && !call.has_template_arguments && !is_in_other_extent;
    if (is_deduced && mentions({parameters.front().first, body.second}) > 1)
      throw Unclear{
          fmt::format("{} gives it to '{}', where '{}' is the length of its rows and more: make these two "
                      "parameters of the template",
                      line(call.name), function, extent.text)};
    if (!is_deduced) {
      const std::string_view own = trimmed(d_.extents.back().text);
      if (!is_of_template && extent.text != own && extent.text != std::to_string(d_.extents.back().value))
        throw Unclear{fmt::format("{}: '{}' takes rows of '{}', and it has rows of '{}'", line(open),
                                  function, extent.text, own)};
      if (!add({extent.begin, extent.end, padded(extent, elements_)})) return;
      take_others(call);
    }
    const size_t name = name_of(parameter);
    if (body.second > body.first && name != 0) hold(tokens_[name].text, body);
  }
  void refuse_if_it_goes_on(const Call& call, Range parameter, Range body) const {
    const size_t name = name_of(parameter);
    for (size_t i = body.first; i < body.second && name != 0; ++i) {
      if (!is_named(i, tokens_[name].text)) continue;
      const Token &before = tokens_[i - 1], &next = tokens_[i + 1];
      const bool is_element = before.is("*") && !may_end_a_type(tokens_[i - 2]) &&
                              !tokens_[i - 2].is_number() && !tokens_[i - 2].is("]");
      if (next.is("[") || next.is("++") || before.is("++") ||
          (!is_element && (next.is("+") || before.is("+"))))
        throw Unclear{fmt::format("{} gives a pointer into it to '{}', which goes on from there in {}",
                                  line(call.name), tokens_[call.name].text, line(i))};
    }
  }
  /// The name of a parameter: the last one before its brackets, or its end.
  [[nodiscard]] size_t name_of(Range parameter) const {
    size_t name = 0;
    for (size_t i = parameter.first; i < parameter.second && !tokens_[i].is("[") && !tokens_[i].is("="); ++i)
      if (tokens_[i].is_name()) name = i;
    return name;
  }
  /// Whether the function whose first parameter begins with token `first` is a template with a parameter of
  /// that name.
  [[nodiscard]] bool is_parameter_of_template(std::string_view name, size_t first) const {
    size_t i = first;
    while (i > 0 && !tokens_[i - 1].is(";") && !tokens_[i - 1].is("}") && !tokens_[i - 1].in_directive) --i;
    for (bool in_list = false; i < first; ++i) {
      in_list = (in_list || tokens_[i].is("template")) && !tokens_[i].is(">");
      if (in_list && tokens_[i].is(name)) return true;
    }
    return false;
  }
  void hold(std::string_view name, Range scope) {
    if (std::none_of(holders_.begin(), holders_.end(), [&](const Holder& h) {
          return h.name == name && h.scope.first <= scope.first && scope.second <= h.scope.second;
        }))
      holders_.push_back({name, scope});
  }
  /// False if that is there already.
  bool add(const Edit& edit) {
    if (std::find(result_.edits.begin(), result_.edits.end(), edit) != result_.edits.end()) return false;
    result_.edits.push_back(edit);
    return true;
  }

  /// A parameter's rows have become longer: other arrays that it takes get as long ones.
  void take_others(const Call& call) {
    const std::string_view function = tokens_[call.name].text;
    for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (!tokens_[i].is(function) || !tokens_[i + 1].is("(") || tokens_[i].in_directive) continue;
      const std::vector<Range> arguments = pieces_of_list(tokens_, i + 1);
      if (arguments.size() <= call.argument) continue;
      const auto [first, end] = arguments[call.argument];
      const bool is_declared = may_end_a_type(tokens_[i - 1]) && end - first > 1;
      if (is_declared) continue;
      const bool is_known =
          std::any_of(holders_.begin(), holders_.end(), [&, from = first, last = end - 1](const Holder& h) {
            return tokens_[last].is(h.name) && last >= h.scope.first && last < h.scope.second &&
                   (h.is_member ? begin_of_object(last) == from && last != from : last == from);
          });
      if (is_known) continue;
      if (end - first != 1 || !lengthen(first))
        throw Unclear{fmt::format("'{}' takes '{}' in {} as well, whose rows would have to be as long",
                                  function, words(arguments[call.argument]), line(i))};
    }
  }
  /// Another array that is named there, declared in the same text: its rows become as long; false if that is
  /// not clear.
  bool lengthen(size_t use) {
    const std::string_view name = tokens_[use].text;
    for (size_t i = use; i-- > 1;) {
      if (!tokens_[i].is(name) || !tokens_[i + 1].is("[") ||
          !(tokens_[i - 1].is_name() || tokens_[i - 1].is(",")))
        continue;
      size_t first = i;
      while (first > 0 && !tokens_[first - 1].is(";") && !tokens_[first - 1].is("{") &&
             !tokens_[first - 1].is("}"))
        --first;
      const bool is_shared = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                                         tokens_.begin() + static_cast<std::ptrdiff_t>(i),
                                         [](const Token& t) { return t.is("__shared__"); });
      if (!is_shared) continue;
      size_t open = 0, close = i;
      for (size_t at = i + 1; at < tokens_.size() && tokens_[at].is("["); at = close + 1) {
        open = at;
        close = closing_bracket(tokens_, at, "]");
      }
      if (close >= tokens_.size() || open + 1 >= close) return false;
      const Extent extent{words({open + 1, close}), tokens_[open + 1].begin, tokens_[close - 1].end(), 0};
      if (!add({extent.begin, extent.end, padded(extent, elements_)})) return true;
      result_.condition += fmt::format("{}the rows of {} become as long, for the same function takes it",
                                       result_.condition.empty() ? "" : "; ", name);
      hold(name, {close + 1, end_of_block(close + 1)});
      return true;
    }
    return false;
  }

  /// A function takes a pointer to elements, and is told the pitch by another parameter, or knows it.
  void take_pointer(const Call& call, const std::vector<Range>& parameters, Range parameter, Range body,
                    bool as_pointer) {
    const size_t name = name_of(parameter);
    if (name == 0) return;
    const std::string_view function = tokens_[call.name].text;
    const Extent& extent = d_.extents.back();
    if (!as_pointer) {  // T& t, auto t: it stays what it is
      hold(tokens_[name].text, body);
      return;
    }
    const std::vector<Range> arguments = pieces_of_list(tokens_, call.open);
    std::set<size_t> pitches;  // arguments
    for (size_t i = body.first; i < body.second; ++i) {
      if (!is_named(i, tokens_[name].text)) continue;
      // p[r * pitch + c], *(p + r * pitch + c)
      size_t end = i;
      while (end < body.second && !tokens_[end].is(";") && !tokens_[end].is("{")) ++end;
      for (size_t t = i + 1; t < end; ++t) {
        const bool is_factor = tokens_[t - 1].is("*") || tokens_[t + 1].is("*");
        if (!is_factor) continue;
        if (tokens_[t].is(trimmed(extent.text)) || tokens_[t].is(std::to_string(extent.value)))
          throw Unclear{
              fmt::format("{} gives a pointer into it to '{}', which takes rows of {} for granted in {}: "
                          "let it multiply by {} there, for all that it is given",
                          line(call.name), function, tokens_[t].text, line(t), padded(extent, elements_))};
        for (size_t k = 0; k < parameters.size() && k < arguments.size(); ++k) {
          const size_t factor = name_of(parameters[k]);
          if (k == call.argument || factor == 0 || !tokens_[factor].is(tokens_[t].text)) continue;
          const std::string given = words(arguments[k]);
          if (given == trimmed(extent.text) || given == std::to_string(extent.value)) pitches.insert(k);
        }
      }
    }
    if (pitches.size() > 1)
      throw Unclear{fmt::format("{} gives '{}' the length of its rows, and by which argument is not clear",
                                line(call.name), function)};
    for (const size_t k : pitches) {
      const auto [first, end] = arguments[k];
      const Extent pitch{words(arguments[k]), tokens_[first].begin, tokens_[end - 1].end(), 0};
      add({pitch.begin, pitch.end, padded(pitch, elements_)});
    }
  }
};

}  // namespace

LongerRows longer_rows_of_functions(std::string_view text, const Declaration& declaration,
                                    uint32_t elements) {
  return Given(text, declaration, elements)();
}

void refuse_functions_that_go_on(std::string_view text, const Declaration& declaration) {
  Given(text, declaration, 0).refuse_those_that_go_on();
}

}  // namespace lanescope::advise
