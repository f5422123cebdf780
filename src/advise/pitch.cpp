// See pitch.hpp.
#include "advise/pitch.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "advise/array_text.hpp"
#include "advise/given.hpp"

namespace lanescope::advise {
namespace {

/// A term of an index that is a sum.
struct Term {
  bool taken_away = false;
  std::optional<uint64_t> value;  ///< if it is known
  Range words;
  struct Factor {
    std::string_view words;
    uint64_t value = 0;
    Range place;
  };
  std::vector<Factor> factors;  ///< of a product, those whose values are known
  bool is_sum = true;           ///< or a product; else what is in parentheses is something else, (t & 15)
};

constexpr uint64_t shortest = 8;  ///< of rows: 2 * t + 1 goes through pairs

/// Nothing where the index is no sum.
std::optional<std::vector<Term>> terms_of(std::string_view text, const std::vector<Token>& tokens,
                                          Range index, Evaluator& evaluate) {
  std::vector<Term> terms;
  std::vector<Range> factors{{index.first, index.first}};  // of the term; empty: it is another quotient
  size_t first = index.first;
  bool taken_away = false;
  // Whether it could be read.
  const auto close_term = [&](size_t end) {
    if (first == end) return true;                                                  // before a sign
    if (tokens[first].is("(") && closing_bracket(tokens, first, ")") + 1 == end) {  // (r * pitch) + c
      auto inner = terms_of(text, tokens, {first + 1, end - 1}, evaluate);
      if (!inner) inner = {{false, evaluate.value({first, end}), {first, end}, {}, false}};
      for (Term& term : *inner) term.taken_away ^= taken_away;
      terms.insert(terms.end(), inner->begin(), inner->end());
      return true;
    }
    Term term{taken_away, evaluate.value({first, end}), {first, end}, {}};
    for (const Range& factor : factors) {
      if (factors.size() < 2 || factor.first == factor.second) continue;
      if (const auto value = evaluate.value(factor)) {
        const size_t begin = tokens[factor.first].begin;
        term.factors.push_back({text.substr(begin, tokens[factor.second - 1].end() - begin), *value, factor});
      }
    }
    terms.push_back(std::move(term));
    return true;
  };
  int depth = 0;
  for (size_t i = index.first; i < index.second; ++i) {
    const Token& t = tokens[i];
    depth += t.is("(") || t.is("[") ? 1 : t.is(")") || t.is("]") ? -1 : 0;
    if (!factors.empty()) factors.back().second = i + 1;
    if (depth != 0 || t.is(")") || t.is("]") || t.is(".") || t.is("::") || t.is_name() || t.is_number())
      continue;
    if (!factors.empty()) factors.back().second = i;
    if (t.is("+") || t.is("-")) {
      if (!close_term(i)) return std::nullopt;
      taken_away = t.is("-");
      first = i + 1;
      factors = {{first, first}};
    } else if (t.is("/") || t.is("%")) {
      factors.clear();
    } else if (t.is("*")) {
      if (!factors.empty()) factors.emplace_back(i + 1, i + 1);
    } else {
      return std::nullopt;
    }
  }
  if (!close_term(index.second)) return std::nullopt;
  return terms;
}

/// Where the factor stands in a sum of one product that has it, of what goes through a row, and of constants
/// that are shorter than that; nothing where what goes through a row leads into others, or may, in z * h * w
/// + y * w + x, base + y * w + x, or y * w + x - w.
std::optional<Range> place_of(std::string_view words, uint64_t row, const std::vector<Term>& terms,
                              Largest* largest) {
  std::optional<Range> place, in_row;
  size_t unknown = 0;
  std::optional<uint64_t> most = 0;  // of all but the product
  for (const Term& term : terms) {
    const auto factor =
        std::ranges::find_if(term.factors, [&](const Term::Factor& f) { return f.words == words; });
    if (factor != term.factors.end()) {
      if (place || term.taken_away) return std::nullopt;
      place = factor->place;
      continue;
    }
    auto value = term.value;
    if (value && *value >= row) return std::nullopt;
    if (!value) {
      if (term.taken_away) return std::nullopt;
      in_row = term.words;
      ++unknown;
      if (largest != nullptr) value = largest->value(term.words);
      if (!value && !term.is_sum) return std::nullopt;
    }
    most = !most || !value ? std::nullopt : term.taken_away ? most : std::optional(*most + *value);
  }
  const bool stays = most && *most < row;
  if (unknown > 1 && !stays) return std::nullopt;
  if (unknown == 1 && most && !stays && !largest->is_conditional(*in_row)) return std::nullopt;
  return place;
}

class DeclaredPitch : ArrayText {
 public:
  DeclaredPitch(std::string_view text, const Declaration& declaration, std::string_view of)
      : ArrayText(text, declaration), constants_(tokens_), evaluate_(tokens_, constants_) {
    evaluate_.give_arguments(arguments_of(tokens_, token_at(d_.name_begin), of));
  }

  std::optional<Pitch> operator()(std::string_view of, const exec::Dim3* block) {
    refuse_functions_that_go_on(text_, d_);
    const std::optional<Body> body = body_of(of.substr(0, of.find('<')));
    std::optional<Largest> largest;
    if (body && block != nullptr) largest.emplace(*body, evaluate_, *block);
    std::optional<Pitch> pitch =
        common_pitch(text_, tokens_, subscripts(), evaluate_, largest ? &*largest : nullptr);
    if (!pitch) return std::nullopt;
    pitch->in_extent = in_extent(*pitch);
    // What another instance of a template needs is not known.
    if (pitch->in_extent.second == 0 && !evaluate_.types.empty()) return std::nullopt;
    return pitch;
  }

 private:
  Constants constants_;
  Evaluator evaluate_;

  /// Of the function; nothing where there is none, or several.
  [[nodiscard]] std::optional<Body> body_of(std::string_view function) const {
    try {
      return Body(tokens_, function);
    } catch (const Unclear&) {
      return std::nullopt;
    }
  }

  /// Of all mentions of the array, in macros, too.
  [[nodiscard]] std::vector<Range> subscripts() {
    std::vector<Range> all;
    bool by_macro = false, has_namesake = false;
    for (size_t i = 1; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      if (!t.is(d_.name) || t.begin == d_.name_begin || (t.in_directive && !is_use_in_directive(i))) continue;
      if (const Token& before = tokens_[i - 1];
          d_.member_of.empty() && (before.is(".") || before.is("->") || before.is("::")))
        continue;
      if (!t.in_directive && !is_use(i)) {
        has_namesake = true;
        continue;
      }
      by_macro = by_macro || t.in_directive;
      refuse_kept_address(begin_of_object(i));
      if (i + 1 >= tokens_.size() || !tokens_[i + 1].is("["))
        throw Refused{fmt::format("{} uses '{}' without a subscript", place(i), d_.name)};
      all.emplace_back(i + 2, closing(i + 1));
      refuse_all_rows(begin_of_object(i), all.back());
      if (t.in_directive) refuse_parameters(all.back());
    }
    if (by_macro && has_namesake)
      throw Refused{fmt::format("a macro names '{}', of which there are several", d_.name)};
    return all;
  }

  /// Who is given the address of an element that is the same for all may go through all rows from there.
  void refuse_all_rows(size_t begin, Range subscript) {
    const bool is_address = begin >= 2 && tokens_[begin - 1].is("&") && !tokens_[begin - 2].is_name() &&
                            !tokens_[begin - 2].is(")");
    if (is_address && evaluate_.value(subscript))
      throw Refused{fmt::format("{} goes through the rows of '{}' from an element", place(begin), d_.name)};
  }

  /// What stands for something else in each use of a macro is no constant of that name.
  void refuse_parameters(Range subscript) const {
    size_t define = subscript.first;
    while (define > 0 && tokens_[define].in_directive && !tokens_[define].is("define")) --define;
    if (define + 2 >= tokens_.size() || !tokens_[define + 2].is("(")) return;
    for (const auto& [first, end] : pieces_of_list(tokens_, define + 2))
      if (const Token& parameter = tokens_[first]; constants_.find(parameter.text, "", subscript.first))
        throw Refused{fmt::format("'{}' is a parameter of the macro in {}", parameter.text, place(first))};
  }

  /// The bytes of that factor of the extent which is the rows' length; none where none is.
  std::pair<size_t, size_t> in_extent(const Pitch& pitch) {
    const Extent& extent = d_.extents.front();
    const size_t first = token_at(extent.begin), end = token_at(extent.end);
    std::vector<Range> factors{{first, first}};
    int depth = 0;
    for (size_t i = first; i < end; ++i) {
      const Token& t = tokens_[i];
      depth += t.is("(") ? 1 : t.is(")") ? -1 : 0;
      if (depth == 0 && t.is("*"))
        factors.emplace_back(i + 1, i + 1);
      else if (depth == 0 && !t.is(")") && !t.is_name() && !t.is_number() && !t.is("::"))
        return {};
      else
        factors.back().second = i + 1;
    }
    std::pair<size_t, size_t> of_value, of_text;
    for (const auto& [from, to] : factors) {
      if (from == to) return {};
      const std::pair<size_t, size_t> bytes{tokens_[from].begin, tokens_[to - 1].end()};
      if (between(bytes.first, bytes.second) == pitch.text) of_text = bytes;
      // In other instances of a template, what is equal here may differ.
      if (evaluate_.types.empty() && evaluate_.value({from, to}) == pitch.elements) of_value = bytes;
    }
    return of_text.second != 0 ? of_text : of_value;
  }
};

}  // namespace

Largest::Largest(const Body& body, const Evaluator& evaluate, const exec::Dim3& block)
    : body_(body), exact_(evaluate), evaluate_(evaluate) {
  const auto give = [&](std::string_view thread, std::string_view threads, uint32_t count) {
    evaluate_.given[thread] = count - 1;
    evaluate_.given[threads] = exact_.given[threads] = count;
  };
  give("threadIdx.x", "blockDim.x", block.x);
  give("threadIdx.y", "blockDim.y", block.y);
  give("threadIdx.z", "blockDim.z", block.z);
  evaluate_.at_most = true;
  for (const Step& step : body_.steps) {
    const std::string_view name = body_.tokens[step.name].text;
    const bool is_known = step.is_declaration() && !step.is_pointer && !step.in_block && !step.moves_on &&
                          body_.changing.count(name) == 0 && step.value.second > step.value.first;
    const auto value = is_known ? this->value(step.value) : std::nullopt;
    evaluate_.given.erase(name);
    if (value) evaluate_.given[name] = *value;
  }
}

std::optional<uint64_t> Largest::value(Range range) {
  if (range.first < body_.body.first || range.first >= body_.body.second) return std::nullopt;
  if (const auto value = exact_.value(range)) return value;
  const auto given = evaluate_.given;
  for (size_t i = range.first; i < range.second; ++i)
    if (const auto last = of_loop(body_.tokens[i].text, i)) evaluate_.given[body_.tokens[i].text] = *last;
  const auto value = evaluate_.value(range);
  evaluate_.given = given;
  return value;
}

std::optional<uint64_t> Largest::of_loop(std::string_view variable, size_t token) {
  const std::vector<Token>& tokens = body_.tokens;
  for (size_t i = token; i > body_.body.first + 3; --i) {
    // for ( TYPE k = begin ; k < end ; step )
    const bool declares = tokens[i].is(variable) && tokens[i + 1].is("=") && tokens[i - 1].is_name();
    size_t open = i;
    while (declares && open > 0 && (tokens[open - 1].is_name() || tokens[open - 1].is("::"))) --open;
    if (!declares || open < 2 || !tokens[open - 1].is("(") || !tokens[open - 2].is("for")) continue;
    const size_t close = body_.closing(open - 1, ")");
    std::vector<size_t> semicolons;
    for (size_t t = i; t < close; ++t)
      if (tokens[t].is(";")) semicolons.push_back(t);
    if (semicolons.size() != 2) return std::nullopt;
    const auto [first, second] = std::pair(semicolons[0], semicolons[1]);
    const bool is_less = tokens[first + 1].is(variable) && tokens[first + 2].is("<");
    const auto begin = exact_.value({i + 2, first}), end = exact_.value({first + 3, second});
    if (!is_less || !end || *end == 0) return std::nullopt;
    const bool has_step =
        tokens[second + 1].is(variable) && tokens[second + 2].is("+") && tokens[second + 3].is("=");
    const uint64_t step = has_step ? exact_.value({second + 4, close}).value_or(0) : 0;
    return begin && *begin < *end && step != 0 ? *begin + (*end - 1 - *begin) / step * step : *end - 1;
  }
  return std::nullopt;
}

bool Largest::is_conditional(Range range) const {
  const std::vector<Token>& tokens = body_.tokens;
  const auto end_of_statement = [&](size_t i) {
    while (i < tokens.size() && !tokens[i].is(";")) ++i;
    return i;
  };
  const auto has = [&](size_t first, size_t end, const auto& is_it) {
    for (size_t i = first; i < end && i < tokens.size(); ++i)
      if (is_it(i)) return true;
    return false;
  };
  const auto is_named = [&](size_t i) {
    return tokens[i].is_name() && !tokens[i - 1].is(".") &&
           has(range.first, range.second, [&](size_t own) { return tokens[own].is(tokens[i].text); });
  };
  for (size_t i = body_.body.first; i < range.first; ++i) {
    const bool is_if = tokens[i].is("if");
    if (tokens[i].is("?") && range.first < end_of_statement(i)) return true;
    if (!is_if && !tokens[i].is("for") && !tokens[i].is("while")) continue;
    const size_t close = body_.closing(i + 1, ")"), behind = std::min(close + 1, tokens.size() - 1);
    const size_t end = tokens[behind].is("{") ? body_.closing(behind, "}") : end_of_statement(behind);
    const bool decides =
        range.first < end || has(behind, end, [&](size_t t) { return tokens[t].is("return"); });
    if (decides && (is_if || has(i, std::min(close, range.first), is_named))) return true;
  }
  return false;
}

std::optional<Pitch> common_pitch(std::string_view text, const std::vector<Token>& tokens,
                                  const std::vector<Range>& subscripts, Evaluator& evaluate,
                                  Largest* largest) {
  std::vector<std::vector<Term>> sums;
  for (const Range& subscript : subscripts) {
    auto terms = terms_of(text, tokens, subscript, evaluate);
    if (!terms) return std::nullopt;
    sums.push_back(std::move(*terms));
  }
  if (sums.empty()) return std::nullopt;
  std::map<std::string_view, Pitch> found;
  for (const Term& term : sums.front())
    for (const Term::Factor& factor : term.factors) {
      if (factor.value < shortest) continue;
      Pitch pitch{std::string(factor.words), static_cast<uint32_t>(factor.value), {}};
      for (const std::vector<Term>& sum : sums)
        if (const auto place = place_of(factor.words, factor.value, sum, largest))
          pitch.places.emplace_back(tokens[place->first].begin, tokens[place->second - 1].end());
      if (pitch.places.size() == sums.size()) found.emplace(factor.words, std::move(pitch));
    }
  return found.size() == 1 ? std::optional(found.begin()->second) : std::nullopt;
}

std::optional<Pitch> declared_pitch(std::string_view text, const Declaration& declaration,
                                    std::string_view of, const exec::Dim3* block) {
  if (declaration.extents.size() != 1 || declaration.open || declaration.by_type || declaration.part)
    return std::nullopt;
  try {
    return DeclaredPitch(text, declaration, of)(of, block);
  } catch (const Refused&) {
  } catch (const Unclear&) {
  }
  return std::nullopt;
}

}  // namespace lanescope::advise
