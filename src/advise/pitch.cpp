// See pitch.hpp.
#include "advise/pitch.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "advise/array_text.hpp"
#include "advise/given.hpp"

namespace lanescope::advise {
namespace {

/// A factor of an index's products.
struct Factor {
  uint64_t value = 0;
  std::vector<Range> places;
};

constexpr uint64_t shortest = 8;  ///< of rows: 2 * t + 1 goes through pairs

/// The factors whose values are known, each of one product only; nothing where the index is no sum, or where
/// the length of rows may be in several products, z * h * w + y * w + x: others in them are none of rows.
std::map<std::string_view, Factor> factors_of(std::string_view text, const std::vector<Token>& tokens,
                                              Range index, Evaluator& evaluate) {
  std::map<std::string_view, Factor> factors;
  std::vector<Range> term{{index.first, index.first}};  // its factors; empty: it is another quotient
  const auto close_term = [&] {
    if (term.size() == 1 && term[0].first < term[0].second && tokens[term[0].first].is("(") &&
        closing_bracket(tokens, term[0].first, ")") + 1 == term[0].second) {  // (r * pitch) + c
      for (auto& [words, inner] :
           factors_of(text, tokens, {term[0].first + 1, term[0].second - 1}, evaluate)) {
        std::vector<Range>& places = factors.try_emplace(words, Factor{inner.value, {}}).first->second.places;
        places.insert(places.end(), inner.places.begin(), inner.places.end());
      }
      return;
    }
    for (const Range& factor : term) {
      if (term.size() < 2 || factor.first == factor.second) continue;
      const auto value = evaluate.value(factor);
      if (!value) continue;
      const size_t begin = tokens[factor.first].begin;
      const std::string_view words = text.substr(begin, tokens[factor.second - 1].end() - begin);
      factors.try_emplace(words, Factor{*value, {}}).first->second.places.push_back(factor);
    }
  };
  int depth = 0;
  for (size_t i = index.first; i < index.second; ++i) {
    const Token& t = tokens[i];
    depth += t.is("(") || t.is("[") ? 1 : t.is(")") || t.is("]") ? -1 : 0;
    if (!term.empty()) term.back().second = i + 1;
    if (depth != 0 || t.is(")") || t.is("]") || t.is(".") || t.is_name() || t.is_number()) continue;
    if (!term.empty()) term.back().second = i;
    if (t.is("+") || t.is("-")) {
      close_term();
      term = {{i + 1, i + 1}};
    } else if (t.is("/") || t.is("%")) {
      term.clear();
    } else if (t.is("*")) {
      if (!term.empty()) term.emplace_back(i + 1, i + 1);
    } else {
      return {};
    }
  }
  close_term();
  const auto repeats = [](const auto& factor) { return factor.second.places.size() != 1; };
  if (std::any_of(factors.begin(), factors.end(),
                  [&](const auto& factor) { return repeats(factor) && factor.second.value >= shortest; }))
    return {};
  std::erase_if(factors, repeats);
  return factors;
}

class DeclaredPitch : ArrayText {
 public:
  DeclaredPitch(std::string_view text, const Declaration& declaration, std::string_view of)
      : ArrayText(text, declaration, {}), constants_(tokens_), evaluate_(tokens_, constants_) {
    evaluate_.types = arguments_of(tokens_, token_at(d_.name_begin), of);
    for (const auto& [parameter, argument] : evaluate_.types)
      if (const auto value = integer_argument(argument)) evaluate_.given[parameter] = *value;
  }

  std::optional<Pitch> operator()() {
    refuse_functions_that_go_on(text_, d_);
    std::optional<Pitch> pitch = common_pitch(text_, tokens_, subscripts(), evaluate_);
    if (!pitch) return std::nullopt;
    pitch->in_extent = in_extent(*pitch);
    // What another instance of a template needs is not known.
    if (pitch->in_extent.second == 0 && !evaluate_.types.empty()) return std::nullopt;
    return pitch;
  }

 private:
  Constants constants_;
  Evaluator evaluate_;

  /// Of all mentions of the array, in macros, too.
  [[nodiscard]] std::vector<Range> subscripts() const {
    std::vector<Range> all;
    bool by_macro = false, has_namesake = false;
    for (size_t i = 1; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      if (!t.is(d_.name) || t.begin == d_.name_begin || (t.in_directive && is_included(i))) continue;
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
      if (t.in_directive) refuse_parameters(all.back());
    }
    if (by_macro && has_namesake)
      throw Refused{fmt::format("a macro names '{}', of which there are several", d_.name)};
    return all;
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

std::optional<Pitch> common_pitch(std::string_view text, const std::vector<Token>& tokens,
                                  const std::vector<Range>& subscripts, Evaluator& evaluate) {
  std::map<std::string_view, Factor> common;
  for (size_t i = 0; i < subscripts.size(); ++i) {
    const std::map<std::string_view, Factor> factors = factors_of(text, tokens, subscripts[i], evaluate);
    if (i == 0) common = factors;
    std::erase_if(common, [&](const auto& c) { return factors.count(c.first) == 0; });
    for (auto& [words, factor] : common)
      if (const auto& places = factors.at(words).places; i != 0)
        factor.places.insert(factor.places.end(), places.begin(), places.end());
  }
  if (common.size() != 1 || common.begin()->second.value < shortest) return std::nullopt;
  const auto& [words, factor] = *common.begin();
  Pitch pitch{std::string(words), static_cast<uint32_t>(factor.value), {}};
  for (const auto& [first, end] : factor.places)
    pitch.places.emplace_back(tokens[first].begin, tokens[end - 1].end());
  return pitch;
}

std::optional<Pitch> declared_pitch(std::string_view text, const Declaration& declaration,
                                    std::string_view of) {
  if (declaration.extents.size() != 1 || declaration.open || declaration.by_type || declaration.part)
    return std::nullopt;
  try {
    return DeclaredPitch(text, declaration, of)();
  } catch (const Refused&) {
  } catch (const Unclear&) {
  }
  return std::nullopt;
}

}  // namespace lanescope::advise
