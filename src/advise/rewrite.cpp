// See rewrite.hpp.
#include "advise/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "advise/array_text.hpp"
#include "advise/expression.hpp"
#include "advise/fields.hpp"
#include "advise/given.hpp"
#include "advise/struct_of_arrays.hpp"
#include "advise/tokens.hpp"
#include "base/words.hpp"

namespace lanescope::advise {
namespace {

class Rewriter : ArrayText {
 public:
  Rewriter(std::string_view text, const Declaration& declaration, const Shape& shape)
      : ArrayText(text, declaration), shape_(shape) {}

  [[nodiscard]] bool has_only_subscripts() const {
    if (!d_.member_of.empty()) return false;  // who uses it may stand in another file
    try {
      const std::vector<Use> all = uses(d_.extents.size());
      return std::none_of(all.begin(), all.end(), [&](const Use& use) { return may_be_cast(use.name); });
    } catch (const Refused&) {
      return false;
    }
  }

  [[nodiscard]] uint32_t vector_bytes() const {
    uint32_t most = 0;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (!is_use(i) || !may_be_cast(begin_of_object(i))) continue;
      size_t begin = i, end = i;
      while (begin > 0 && !ends_statement(tokens_[begin - 1])) --begin;
      while (end < tokens_.size() && !ends_statement(tokens_[end])) ++end;
      most = std::max(most, bytes_of_vectors(begin, end));
      for (size_t name = begin; name < end; ++name) {
        const auto [first, last] = macro(tokens_[name].text);
        most = std::max(most, bytes_of_vectors(first, last));
      }
    }
    return most;
  }

  Rewrite operator()(std::monostate) const { throw Refused{"the layout is the one at hand"}; }

  Rewrite operator()(const RowPadding& padding) const {
    const uint32_t bytes = padding.bytes();
    refuse_rows_in_elements();
    if (bytes % d_.element_bytes != 0) throw Refused{"the padding is no whole number of elements"};
    const uint32_t elements = bytes / d_.element_bytes;
    if (d_.part || (d_.pitch && shape_.has_rows)) return with_pitch(elements);
    if (d_.extents.size() >= 2) {
      if (d_.row_bytes() != shape_.row_bytes) throw Refused{"the rows are not those of the declaration"};
      if (shape_.keeps_rows) refuse_member();
      const Extent& extent = d_.extents.back();
      if (extent.text.find("//") != std::string::npos) throw Refused{"there is a comment in the extent"};
      for (size_t i = 0; i < tokens_.size(); ++i)
        if (is_use(i)) refuse_kept_address(begin_of_object(i));
      const std::string longer = padded(extent, elements);
      Rewrite result;
      result.what = declared(d_.extents.size() - 1, longer);
      if (d_.by_type) {  // that others may use, or functions take
        (void)uses(d_.extents.size());
        redeclare(result.what, result.edits);
      } else {
        result.edits.push_back({extent.begin, extent.end, longer});
      }
      lengthen_pitches(elements, result.edits);
      lengthen_pointers(elements, result.edits);
      LongerRows of_functions = longer_rows_of_functions(text_, d_, elements);
      result.edits.insert(result.edits.end(), of_functions.edits.begin(), of_functions.edits.end());
      result.condition = std::move(of_functions.condition);
      return result;
    }
    refuse_member();
    if (shape_.keeps_rows) throw Refused{"wmma goes through it by a pitch"};
    if (shape_.row_bytes % d_.element_bytes != 0) throw Refused{"the rows are no whole number of elements"};
    require_tile_type(1);
    return with_type(fmt::format("lanescope::PaddedArray<{}, {}, {}, {}>", d_.type,
                                 trimmed(d_.extents[0].text), shape_.row_bytes / d_.element_bytes, elements));
  }

  Rewrite operator()(const PlanePadding& padding) const {
    refuse_member();
    const uint32_t bytes = padding.words * word_bytes;
    if (bytes % d_.element_bytes != 0) throw Refused{"the padding is no whole number of elements"};
    if (d_.extents.size() != 3) throw Refused{"it has not three dimensions"};
    require_tile_type(3);
    std::string extents;
    for (const Extent& extent : d_.extents) extents += std::string(trimmed(extent.text)) + ", ";
    return with_type(
        fmt::format("lanescope::PaddedPlanes<{}, {}{}>", d_.type, extents, bytes / d_.element_bytes));
  }

  Rewrite operator()(const Swizzle& swizzle) const {
    refuse_member();
    const uint32_t unit = swizzle.granule / d_.element_bytes;
    if (d_.extents.size() == 1) {
      refuse_rows_in_elements();
      if (unit == 0 || shape_.row_bytes % d_.element_bytes != 0)
        throw Refused{"its elements would be torn apart"};
      if (!std::has_single_bit(shape_.row_bytes / d_.element_bytes))
        throw Refused{"its rows are no power of two of elements"};
      require_tile_type(1);
      size_t bits = swizzle.flips.size();
      while (bits > 0 && swizzle.flips[bits - 1] == 0) --bits;
      std::string rows = std::to_string(shape_.row_bytes / d_.element_bytes);
      for (size_t bit = 0; bit < bits; ++bit) rows += fmt::format(", {}", swizzle.flips[bit] * unit);
      if (d_.part) return with_pointer(fmt::format("lanescope::SwizzledPointer<{}, {}>", d_.type, rows));
      return with_type(
          fmt::format("lanescope::SwizzledArray<{}, {}, {}>", d_.type, trimmed(d_.extents[0].text), rows));
    }
    if (d_.extents.size() != 2) throw Refused{"it has more than two dimensions"};
    if (d_.part) throw Refused{"it is a pointer to rows"};
    if (d_.row_bytes() != shape_.row_bytes) throw Refused{"the rows are not those of the declaration"};
    if (tile_swizzle(shape_, swizzle.granule, swizzle.dropped) != swizzle)
      throw Refused{"lanescope::SwizzledTile has another swizzle"};
    require_tile_type(2);
    const std::string columns = swizzle.dropped == 0
                                    ? std::string(trimmed(d_.extents[1].text))
                                    : unpadded(d_.extents[1], swizzle.dropped / d_.element_bytes);
    if (columns.empty()) throw Refused{"the text does not show what of its rows is padding"};
    const bool usual = swizzle.granule == std::max(word_bytes, d_.element_bytes);
    return with_type(fmt::format("lanescope::SwizzledTile<{}, {}, {}{}>", d_.type,
                                 trimmed(d_.extents[0].text), columns,
                                 usual ? "" : fmt::format(", {}", unit)));
  }

  Rewrite operator()(const StructOfArrays& arrays) const { return make_struct_of_arrays(*this, arrays); }

  /// The elements get a type of their own, which has the struct as its base: what takes the struct takes
  /// them.
  Rewrite operator()(const ElementPadding& padding) const {
    refuse_member();
    if (d_.part) throw Refused{"it is a pointer"};
    require_plain_declaration();
    const uint64_t alignment = definition().alignment;
    if ((d_.element_bytes + padding.bytes) % alignment != 0)
      throw Refused{fmt::format("'{}' is aligned to {} bytes", d_.type, alignment)};
    for (const Use& use : uses(d_.extents.size()))
      if (use.behind() + 1 < tokens_.size() && tokens_[use.behind()].is("=") &&
          tokens_[use.behind() + 1].is("{"))
        throw Refused{fmt::format("{} assigns a list", place(use.name))};
    std::string extents;
    for (const Extent& extent : d_.extents) extents += fmt::format("[{}]", extent.text);
    const std::string margin = margin_of(d_.type_begin),
                      member = fmt::format("unsigned padding[{}];", padding.bytes / word_bytes);
    Rewrite result;
    const bool defines_it = d_.body.second != 0;
    const std::string type = components_of(text_, d_, false)->type;
    if (defines_it &&
        !(is_name_of_type(type) && is_named_twice(type))) {  // all of that type are its elements
      const size_t end = d_.body.second - 1, line = text_.rfind('\n', end) + 1;
      const bool is_alone = trimmed(between(line, end)).empty() && line > d_.body.first;
      result.what = fmt::format("{} {{ …; {} }} {}{}", d_.type, member, d_.name, extents);
      result.edits.push_back(is_alone ? Edit{line, line, fmt::format("{}  {}\n", margin_of(end), member)}
                                      : Edit{end, end, member + " "});
      return result;
    }
    result.what = fmt::format("struct : {} {{ {} }} {}{}", type, member, d_.name, extents);
    const std::string declaration =
        fmt::format("struct : {1} {{\n{0}  using {1}::operator=;\n{0}  {2}\n{0}}} {3}{4}", margin, type,
                    member, d_.name, extents);
    if (defines_it)
      redeclare_apart(declaration, type, true, result.edits);
    else
      redeclare(declaration, result.edits);
    return result;
  }

  Rewrite operator()(const Transposed&) const {
    refuse_member();
    if (d_.extents.size() != 2 || d_.part) throw Refused{"it is no array of two dimensions"};
    refuse_functions_that_go_on(text_, d_);
    Rewrite result;
    const auto exchange = [&](size_t a_begin, size_t a_end, size_t b_begin, size_t b_end) {
      result.edits.push_back({a_begin, a_end, std::string(text_.substr(b_begin, b_end - b_begin))});
      result.edits.push_back({b_begin, b_end, std::string(text_.substr(a_begin, a_end - a_begin))});
    };
    const Extent &rows = d_.extents[0], &columns = d_.extents[1];
    result.what = fmt::format("{} {}[{}][{}]", d_.type, d_.name, trimmed(columns.text), trimmed(rows.text));
    if (d_.by_type)
      redeclare(result.what, result.edits);
    else
      exchange(rows.begin, rows.end, columns.begin, columns.end);
    for (const Use& use : uses(2)) {
      for (const Use::Subscript& s : use.subscripts) refuse_if_nested(s);
      const auto [a, b] = std::pair(use.subscripts[0], use.subscripts[1]);
      exchange(tokens_[a.open].end(), tokens_[a.close].begin, tokens_[b.open].end(), tokens_[b.close].begin);
    }
    return result;
  }

 private:
  const Shape& shape_;

  std::string declared(size_t changed, const std::string& with) const {
    std::string text = fmt::format("{} {}", d_.type, d_.name);
    for (size_t i = 0; i < d_.extents.size(); ++i)
      text += fmt::format("[{}]", i == changed ? with : d_.extents[i].text);
    return text;
  }

  void refuse_rows_in_elements() const {
    if (!d_.part && d_.element_bytes > shape_.row_bytes)
      throw Refused{fmt::format("what conflicts are rows of arrays in '{}'", d_.type)};
  }

  /// A type with operator[] in place of the array: each use must have all subscripts.
  void require_tile_type(size_t subscripts) const {
    if (d_.body.second != 0) throw Refused{"its declaration defines the struct of its elements"};
    require_plain_declaration();
    (void)uses(subscripts);
    refuse_functions_that_go_on(text_, d_);
  }

  Rewrite with_type(const std::string& type) const {
    Rewrite result;
    result.what = fmt::format("{} {}", type, d_.name);
    redeclare(result.what, result.edits);
    include_tiles(result);
    return result;
  }

  /// Of an array whose subscripts have rows: the pitch that is written there.
  Rewrite with_pitch(uint32_t elements) const {
    if (d_.part && !d_.part->obstacle.empty()) throw Refused{d_.part->obstacle};
    if (d_.extents.size() >= 2) return with_pointer_to_rows(elements);
    if (!shape_.has_rows || !d_.pitch) throw Refused{"its subscripts are not all of rows"};
    if (shape_.keeps_rows) throw Refused{"wmma goes through it by a pitch"};
    if (d_.part) (void)uses(1);
    Rewrite result;
    const std::string longer = longer_factor(d_.pitch->text, elements);
    result.what = fmt::format("{} for {} in its subscripts", longer, d_.pitch->text);
    const auto change_subscripts = [&] {
      for (const auto& [begin, end] : d_.pitch->places) result.edits.push_back({begin, end, longer});
      return std::move(result);
    };
    if (d_.part) return change_subscripts();
    const Extent& extent = d_.extents.front();
    const auto [begin, end] = d_.pitch->in_extent;
    const uint64_t rows = (extent.value + d_.pitch->elements - 1) / d_.pitch->elements;
    const std::string of_extent = end == 0 ? padded(extent, rows * elements)
                                           : between(extent.begin, begin) +
                                                 longer_factor(between(begin, end), elements) +
                                                 between(end, extent.end);
    result.what = fmt::format("{}, {}", declared(0, of_extent), result.what);
    result.edits.push_back({extent.begin, extent.end, of_extent});
    if (!d_.member_of.empty())
      result.condition = fmt::format("other files that access '{}' have to take rows so long", d_.name);
    return change_subscripts();
  }

  /// n, (n + 1) → (n + 1), (n + 2)
  static std::string longer_factor(const std::string& text, uint32_t elements) {
    const Tokens tokens = tokens_of(text);
    const bool has_parentheses =
        tokens.front().is("(") && closing_bracket(tokens, 0, ")") + 1 == tokens.size();
    const std::string_view inner =
        has_parentheses ? std::string_view(text).substr(1, text.size() - 2) : std::string_view(text);
    return fmt::format("({})", padded({std::string(trimmed(inner)), 0, 0, 0}, elements));
  }

  /// Of a part that a pointer to rows leads to: the type of these, in the pointer's declaration and in the
  /// cast.
  Rewrite with_pointer_to_rows(uint32_t elements) const {
    if (!d_.pitch) throw Refused{"the text does not show that its rows are those of a cast"};
    if (d_.row_bytes() != shape_.row_bytes) throw Refused{"the rows are not those of the declaration"};
    if (shape_.keeps_rows) throw Refused{"wmma goes through it by a pitch"};
    for (size_t i = begin_of_block(); i < tokens_.size() && !in_other_block(i); ++i)
      if (tokens_[i].is(d_.name) && tokens_[i].begin != d_.name_begin && says_where_a_part_begins(tokens_[i]))
        throw Refused{fmt::format("{} says by '{}' where another part begins", place(i), d_.name)};
    (void)uses(2);
    const std::string longer = padded(d_.extents.back(), elements);
    Rewrite result;
    result.what = fmt::format("{} (*{})[{}]", d_.type, d_.name, longer);
    for (const auto& [begin, end] : d_.pitch->places) result.edits.push_back({begin, end, longer});
    return result;
  }

  /// Of a part of an array: the pointer gets another name, by which other parts go on from it,
  /// and its own becomes that of one of `type`.
  Rewrite with_pointer(const std::string& type) const {
    if (!d_.part->obstacle.empty()) throw Refused{d_.part->obstacle};
    if (shape_.bytes % shape_.row_bytes != 0)
      throw Refused{fmt::format("its {} bytes are no multiple of {}", shape_.bytes, shape_.row_bytes)};
    const std::string plain = d_.name + "_begin";
    Rewrite result;
    result.what = fmt::format("{} {}", type, d_.name);
    size_t semicolon = 0;
    for (size_t i = begin_of_block(); i < tokens_.size() && !in_other_block(i); ++i) {
      const Token& t = tokens_[i];
      if (t.is(plain)) throw Refused{fmt::format("{} names '{}' already", place(i), plain)};
      const bool begins = t.is(d_.name) && says_where_a_part_begins(t);
      if (begins && tokens_[i + 1].is("+") && tokens_[i + 2].is("="))
        throw Refused{fmt::format("{} moves '{}' on", place(i), d_.name)};
      if (begins || t.begin == d_.name_begin) result.edits.push_back({t.begin, t.end(), plain});
      if (semicolon == 0 && t.begin >= d_.end && t.is(";")) semicolon = t.end();
    }
    result.edits.push_back(
        {semicolon, semicolon, fmt::format("\n{}{}{{{}}};", margin_of(d_.type_begin), result.what, plain)});
    include_tiles(result);
    return result;
  }

  void include_tiles(Rewrite& result) const {
    result.uses_tiles = true;
    const std::string line = "#include <lanescope/tile.cuh>\n";
    const auto end_of_line = [&](size_t token) {
      return std::min(text_.find('\n', tokens_[token].begin), text_.size() - 1) + 1;
    };
    // Behind the last #include above, in that file, that no #if decides on, else behind what keeps a header
    // from being included twice, else before its first token.
    const size_t declared = token_at(d_.type_begin);
    const auto is_of_file = [&](size_t i) { return tokens_[i].file == tokens_[declared].file; };
    size_t begin = 0;
    while (!is_of_file(begin)) ++begin;
    const size_t guarded = behind_include_guard(begin);
    bool included = false, first = guarded == begin;
    size_t at =
        first ? text_.rfind('\n', tokens_[begin].begin) + 1 : end_of_line(guarded - 1);  // npos + 1 == 0
    int conditions = 0;
    for (size_t i = guarded; i < declared; ++i) {
      if (!is_of_file(i) || !tokens_[i].in_directive || !tokens_[i].is("#")) continue;
      conditions += tokens_[i + 1].text.starts_with("if") ? 1 : tokens_[i + 1].is("endif") ? -1 : 0;
      if (!tokens_[i + 1].is("include")) continue;
      const size_t end = end_of_line(i);
      included = included || between(tokens_[i].begin, end).find("lanescope/tile.cuh") != std::string::npos;
      if (conditions == 0) at = end;
      first = first && conditions != 0;
    }
    at = std::max(at, begin_of_text(text_));
    if (!included) result.edits.push_back({at, at, first ? line + "\n" : line});
  }

  /// The token behind the `#pragma once`, or `#ifndef A_H` and `#define A_H`, that the file with the first
  /// token `begin` begins with; else that token.
  [[nodiscard]] size_t behind_include_guard(size_t begin) const {
    const auto behind = [&](const std::vector<std::string_view>& words) {
      const bool is_there =
          tokens_.size() >= begin + words.size() &&
          std::equal(words.begin(), words.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                     [](std::string_view word, const Token& t) { return t.is(word); });
      return is_there ? begin + words.size() : begin;
    };
    if (const size_t pragma = behind({"#", "pragma", "once"}); pragma != begin) return pragma;
    const std::string_view name = tokens_.size() > begin + 2 ? tokens_[begin + 2].text : "";
    return behind({"#", "ifndef", name, "#", "define", name});
  }

  /// Whether something may make another type of the element here: an address that is taken, a cast, a call
  /// (or a macro, FETCH_FLOAT4(s[i])).
  bool may_be_cast(size_t name) const {
    size_t begin = name;  // of it and the parentheses that open right before it
    while (begin > 0 && tokens_[begin - 1].is("(")) --begin;
    if (begin < 2) return true;
    const Token& before = tokens_[begin - 1];
    const auto is_statement = [](const Token& t) {
      return t.is("if") || t.is("while") || t.is("for") || t.is("switch") || t.is("return");
    };
    if (before.is(")")) {  // of a cast, or of a condition
      size_t open = begin - 1;
      for (int depth = 1; depth > 0 && open > 0;) {
        --open;
        depth += tokens_[open].is(")") ? 1 : tokens_[open].is("(") ? -1 : 0;
      }
      return open == 0 || !is_statement(tokens_[open - 1]);
    }
    return before.is(",") || takes_address(begin) ||
           (begin < name && ((before.is_name() && !is_statement(before)) || before.is(">")));
  }

  /// The bytes of the largest type in these tokens that is a vector, or that something is cast to.
  [[nodiscard]] uint32_t bytes_of_vectors(size_t begin, size_t end) const {
    constexpr uint32_t largest = 16;  // where the type is not clear
    uint32_t most = 0;
    for (size_t i = begin; i < end; ++i) {
      const std::string_view type = tokens_[i].text;
      const bool is_cast_to = i + 2 < end && tokens_[i].is_name() &&
                              (tokens_[i + 1].is("*") || tokens_[i + 1].is("&")) &&
                              (tokens_[i + 2].is(">") || tokens_[i + 2].is(")"));
      const bool is_vector = type.ends_with('2') || type.ends_with('4');
      const std::optional<uint64_t> size = size_of_words(type);
      if (size && (is_cast_to || is_vector))
        most = std::max(most, static_cast<uint32_t>(*size));
      else if (is_cast_to && type != "void" && type != d_.type)
        most = largest;
    }
    return most;
  }

  /// The tokens [first, last) of what the file defines a macro as; none if it is no macro.
  [[nodiscard]] std::pair<size_t, size_t> macro(std::string_view name) const {
    for (size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (!tokens_[i].in_directive || !tokens_[i].is("define") || !tokens_[i + 1].is(name)) continue;
      size_t last = i + 2;
      while (last < tokens_.size() && tokens_[last].in_directive && !tokens_[last].is("#")) ++last;
      return {i + 2, last};
    }
    return {0, 0};
  }

  /// wmma is told the pitch: by the third argument of load_matrix_sync and store_matrix_sync.
  void lengthen_pitches(uint32_t elements, std::vector<Edit>& edits) const {
    for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (!(tokens_[i].is("load_matrix_sync") || tokens_[i].is("store_matrix_sync")) ||
          !tokens_[i + 1].is("(") || tokens_[i].begin < d_.end || in_other_block(i))
        continue;
      constexpr size_t pitch = 2;
      const std::vector<std::pair<size_t, size_t>> arguments = arguments_of_call(i + 1);
      bool names_it = false;
      for (size_t t = arguments.front().first; t < arguments.back().second; ++t)
        names_it = names_it || tokens_[t].is(d_.name);
      if (!names_it || arguments.size() <= pitch) continue;
      const auto [first, end] = arguments[pitch];
      lengthen(first, end, elements, fmt::format("{} gives wmma the pitch", place(i)), edits);
    }
  }

  /// Pointers and references to its rows say how long these are: float (*now)[32] = tile[step & 1];
  void lengthen_pointers(uint32_t elements, std::vector<Edit>& edits) const {
    size_t last = 0;  // of the pointers seen
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (!is_use(i)) continue;
      size_t begin = i, is = i;  // `=` that is the first in the statement
      for (; begin > 0 && !ends_statement(tokens_[begin - 1]); --begin)
        if (tokens_[begin - 1].is("=")) is = begin - 1;
      if (is == i || is <= last || is < 3 || !tokens_[is - 1].is("]")) continue;
      size_t open = is - 1, declarator = is;
      while (declarator > begin && tokens_[declarator - 1].is("]"))
        while (declarator > begin && !tokens_[--declarator].is("[")) {
        }
      while (open > declarator && !tokens_[open].is("[")) --open;
      if (declarator < begin + 4 || !tokens_[declarator - 1].is(")") || !tokens_[declarator - 2].is_name() ||
          !(tokens_[declarator - 3].is("*") || tokens_[declarator - 3].is("&")) ||
          !tokens_[declarator - 4].is("("))
        continue;
      last = is;
      lengthen(open + 1, is - 1, elements, fmt::format("{} has rows of", place(open)), edits);
    }
  }

  /// Of something that says how long rows are: tokens from `first` up to `end`.
  void lengthen(size_t first, size_t end, uint32_t elements, const std::string& who,
                std::vector<Edit>& edits) const {
    const Extent& extent = d_.extents.back();
    const Extent given{between(tokens_[first].begin, tokens_[end - 1].end()), tokens_[first].begin,
                       tokens_[end - 1].end(), 0};
    if (given.text != trimmed(extent.text) && given.text != std::to_string(extent.value))
      throw Refused{fmt::format("{} '{}', not '{}'", who, given.text, trimmed(extent.text))};
    edits.push_back({given.begin, given.end, padded(given, elements)});
  }

  [[nodiscard]] Struct definition() const {
    std::optional<Struct> found = struct_of({text_}, d_);
    if (!found || found->members.empty() || found->bytes != d_.element_bytes)
      throw Refused{fmt::format("the fields of '{}' are not clear", d_.type)};
    return std::move(*found);
  }
};

/// New lines end as those do where they stand.
void give_line_ends(std::string_view text, std::vector<Edit>& edits) {
  for (Edit& edit : edits) {
    const size_t end = std::min(text.find('\n', edit.end), text.rfind('\n', edit.begin));
    if (end == std::string_view::npos || end == 0 || text[end - 1] != '\r') continue;
    for (size_t at = 0; (at = edit.text.find('\n', at)) != std::string::npos; at += 2)
      if (at > 0 && edit.text[at - 1] == '\r')
        --at;  // taken from the text
      else
        edit.text.insert(at, 1, '\r');
  }
}

}  // namespace

std::variant<Rewrite, Unclear> rewrite(std::string_view text, const Declaration& declaration,
                                       const Shape& shape, const Layout& layout) {
  if (declaration.open && !declaration.part) return Unclear{"the launch decides how large it is"};
  try {
    Rewrite result = std::visit(Rewriter(text, declaration, shape), layout);
    give_line_ends(text, result.edits);
    return result;
  } catch (const Refused& refused) {
    return Unclear{refused.why};
  } catch (const Unclear& unclear) {
    return unclear;
  }
}

uint32_t vector_bytes(std::string_view text, const Declaration& declaration) {
  return Rewriter(text, declaration, Shape()).vector_bytes();
}

bool has_only_subscripts(std::string_view text, const Declaration& declaration) {
  return Rewriter(text, declaration, Shape()).has_only_subscripts();
}

}  // namespace lanescope::advise
