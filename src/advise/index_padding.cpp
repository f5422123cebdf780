// See index_padding.hpp.
#include "advise/index_padding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>

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

std::variant<std::vector<Edit>, Unclear> change_index_padding(std::string_view text,
                                                              const IndexPadding& padding) {
  const std::vector<Token> tokens = tokens_of(text);
  const Constants constants(tokens);
  std::vector<Edit> edits;
  std::set<size_t> seen;  // numbers
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    const bool shifts = tokens[i].is(">>"), divides = tokens[i].is("/");
    if (!shifts && !divides) continue;
    size_t number = i + 1;
    if (tokens[number].is_name()) {
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
  if (edits.size() == 1) return edits;
  return Unclear{edits.empty() ? fmt::format("no division by {} is found that computes it", padding.every)
                               : fmt::format("which division by {} computes it is not clear", padding.every)};
}

}  // namespace lanescope::advise
