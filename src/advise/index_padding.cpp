// See index_padding.hpp.
#include "advise/index_padding.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <utility>

#include "advise/expression.hpp"
#include "advise/tokens.hpp"

namespace lanescope::advise {
namespace {

/// The elements that are accessed, in their order; nothing where an access is of part of one, or of several.
std::optional<std::set<uint32_t>> elements_of(const Array& array) {
  const uint32_t bytes = array.shape.element_bytes;
  std::set<uint32_t> elements;
  for (const Pattern& p : array.patterns)
    for (uint32_t left = p.mask; left != 0; left &= left - 1) {
      const uint32_t offset = p.offset[static_cast<size_t>(std::countr_zero(left))];
      if (p.width != bytes || offset % bytes != 0) return std::nullopt;
      elements.insert(offset / bytes);
    }
  return elements;
}

/// Whether these are all from the first to the last one but the last of every `pitch`.
bool are_all_but_padding(const std::set<uint32_t>& elements, uint32_t pitch) {
  constexpr uint32_t least_rows = 4;
  const uint32_t end = *elements.rbegin() + 1;
  return end >= least_rows * pitch && elements.size() == end - end / pitch &&
         std::none_of(elements.begin(), elements.end(), [&](uint32_t e) { return e % pitch == pitch - 1; });
}

}  // namespace

std::optional<IndexPadding> index_padding_of(const Launch& launch, const Array& array) {
  const uint32_t element = array.shape.element_bytes;
  const uint32_t better = bank_row_of(launch.arch) / element;
  if (array.shape.has_rows || !array.knows_all_accesses() || !std::has_single_bit(better))
    return std::nullopt;
  const auto elements = elements_of(array);
  if (!elements || elements->empty()) return std::nullopt;
  uint32_t every = better / 2;
  while (every > 1 && !are_all_but_padding(*elements, every + 1)) every /= 2;
  if (every <= 1) return std::nullopt;
  Array without = array;
  for (Pattern& p : without.patterns)
    for (uint32_t& offset : p.offset) offset -= offset / element / (every + 1) * element;
  Shape shape = array.shape;
  shape.row_bytes = better * element;
  IndexPadding padding{every, better, 0, array.exact};
  const RowPadding one{element / word_bytes, element % word_bytes};
  const auto outcome = whole_launch(launch.arch, without, shape, one, padding.exact);
  if (!outcome) return std::nullopt;
  padding.wavefronts = outcome->wavefronts;
  return padding;
}

namespace {

/// Whether what stands before `>> n` or `/ n` is the index itself, to which the quotient is added: in i + i /
/// 16, (i) + ((i) >> 4), and in a macro of that shift of its parameter, i += OFFSET(i).
bool pads_an_index(const std::vector<Token>& tokens, size_t operation) {
  // The operand: one name, or what is in brackets.
  size_t first = operation - 1;
  if (tokens[first].is(")"))
    for (int depth = 1; depth != 0 && first > 0;) {
      --first;
      depth += tokens[first].is(")") ? 1 : tokens[first].is("(") ? -1 : 0;
    }
  const auto is_same = [&](size_t at) {
    for (size_t i = first; i < operation; ++i)
      if (!tokens[at + (i - first)].is(tokens[i].text)) return false;
    return true;
  };
  const size_t length = operation - first;
  size_t before = first;
  while (before > 0 && tokens[before - 1].is("(")) --before;
  if (before > length && tokens[before - 1].is("+") && is_same(before - 1 - length)) return true;
  if (!tokens[operation].in_directive) return false;
  // #define OFFSET(n) ((n) >> 4)
  size_t define = operation;
  while (define > 0 && tokens[define].in_directive && !tokens[define].is("define")) --define;
  const size_t parameter = define + 3;
  return parameter + 1 < first && tokens[define + 2].is("(") && tokens[parameter + 1].is(")") &&
         std::any_of(tokens.begin() + static_cast<ptrdiff_t>(first),
                     tokens.begin() + static_cast<ptrdiff_t>(operation),
                     [&](const Token& t) { return t.is(tokens[parameter].text); });
}

/// Whether a constant is used for shifts and divisions alone.
bool is_for_padding_alone(const std::vector<Token>& tokens, std::string_view name) {
  for (size_t i = 1; i < tokens.size(); ++i)
    if (tokens[i].is(name) && !tokens[i - 1].is(">>") && !tokens[i - 1].is("/") &&
        !tokens[i - 1].is("define") && !(i + 1 < tokens.size() && tokens[i + 1].is("=")))
      return false;
  return true;
}

}  // namespace

std::optional<std::vector<Edit>> change_index_padding(std::string_view text, const IndexPadding& padding) {
  const std::vector<Token> tokens = tokens_of(text);
  const Constants constants(tokens);
  std::vector<Edit> edits;
  bool pads = false;
  std::set<size_t> seen;  // numbers
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    const bool shifts = tokens[i].is(">>"), divides = tokens[i].is("/");
    if ((!shifts && !divides) || i == 0 || !pads_an_index(tokens, i)) continue;
    pads = true;
    size_t number = i + 1;
    if (tokens[number].is_name()) {
      if (!is_for_padding_alone(tokens, tokens[number].text)) continue;
      const Constants::Definition* definition = constants.find(tokens[number].text, "", number);
      if (definition == nullptr || definition->value.second - definition->value.first != 1) continue;
      number = definition->value.first;
    }
    const auto of = [&](uint32_t every) {
      return std::to_string(shifts ? static_cast<uint32_t>(std::countr_zero(every)) : every);
    };
    if (!tokens[number].is(of(padding.every)) || !seen.insert(number).second) continue;
    edits.push_back({tokens[number].begin, tokens[number].end(), of(padding.better)});
  }
  return pads ? std::optional(std::move(edits)) : std::nullopt;
}

}  // namespace lanescope::advise
