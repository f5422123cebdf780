// See rewrite.hpp.
#include "advise/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "advise/expression.hpp"
#include "advise/tokens.hpp"
#include "base/words.hpp"

namespace lanescope::advise {
namespace {

using Tokens = std::vector<Token>;

/// Stands where a text cannot be changed surely.
struct Refused {
  std::string why;
};

/// One mention of the array: `name[…][…]`.
struct Use {
  size_t name = 0;  ///< token
  struct Subscript {
    size_t open = 0, close = 0;  ///< tokens of the brackets
  };
  std::vector<Subscript> subscripts;
  [[nodiscard]] size_t behind() const { return subscripts.empty() ? name + 1 : subscripts.back().close + 1; }
};

class Rewriter {
 public:
  Rewriter(std::string_view text, const Declaration& declaration, const Shape& shape,
           const Texts& others = {})
      : text_(text), d_(declaration), shape_(shape), texts_(others), tokens_(tokens_of(text)) {
    texts_.insert(texts_.begin(), text);
  }

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
    const uint32_t bytes = padding.words * word_bytes;
    refuse_rows_in_elements();
    if (bytes % d_.element_bytes != 0) throw Refused{"the padding is no whole number of elements"};
    const uint32_t elements = bytes / d_.element_bytes;
    if (d_.part) return with_pitch(elements);
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
      result.condition = condition_of_functions();
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
    if (tile_swizzle(shape_, swizzle.granule) != swizzle)
      throw Refused{"lanescope::SwizzledTile has another swizzle"};
    require_tile_type(2);
    const bool usual = swizzle.granule == std::max(word_bytes, d_.element_bytes);
    return with_type(fmt::format("lanescope::SwizzledTile<{}, {}, {}{}>", d_.type,
                                 trimmed(d_.extents[0].text), trimmed(d_.extents[1].text),
                                 usual ? "" : fmt::format(", {}", unit)));
  }

  Rewrite operator()(const StructOfArrays& arrays) const {
    refuse_member();
    if (d_.extents.size() != 1 || d_.part) throw Refused{"it is no array of one dimension"};
    require_plain_declaration();
    const Fields fields = fields_of(d_.type);
    for (const Field& field : fields.all)
      if (field.bytes != arrays.piece)
        throw Refused{fmt::format("field '{}' of '{}' has not {} bytes", field.name, d_.type, arrays.piece)};
    const std::string count(trimmed(d_.extents[0].text));
    Rewrite result;
    const std::string margin = margin_of(d_.type_begin);
    std::string members;
    for (const Field& field : fields.all) {
      members += fmt::format("{}  {} {}[{}];\n", margin, field.type, field.name, count);
      result.what += fmt::format("{}{}.{}[{}]", result.what.empty() ? "" : ", ", d_.name, field.name, count);
    }
    redeclare(fmt::format("struct {{\n{}{}}} {}", members, margin, d_.name), result.edits);
    for (const Use& use : uses(1)) move_field(use, fields, result.edits);
    return result;
  }

  /// The elements get a type of their own, which has the struct as its base: what takes the struct takes
  /// them.
  Rewrite operator()(const ElementPadding& padding) const {
    refuse_member();
    if (d_.part) throw Refused{"it is a pointer"};
    require_plain_declaration();
    const uint64_t alignment = definition_of(d_.type).alignment;
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
    result.what = fmt::format("struct : {} {{ {} }} {}{}", d_.type, member, d_.name, extents);
    redeclare(fmt::format("struct : {1} {{\n{0}  using {1}::operator=;\n{0}  {2}\n{0}}} {3}{4}", margin,
                          d_.type, member, d_.name, extents),
              result.edits);
    return result;
  }

  Rewrite operator()(const Transposed&) const {
    refuse_member();
    if (d_.extents.size() != 2 || d_.part) throw Refused{"it is no array of two dimensions"};
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
  struct Field {
    std::string type, name;
    uint32_t bytes = 0;
  };
  struct Fields {
    std::vector<Field> all;
    bool has_functions = false;  // a constructor may be among them
  };

  std::string_view text_;
  const Declaration& d_;
  const Shape& shape_;
  Texts texts_;  // this one first
  Tokens tokens_;

  std::string between(size_t begin, size_t end) const {
    return std::string(text_.substr(begin, end - begin));
  }
  std::string inside(const Use::Subscript& s) const {
    return std::string(trimmed(between(tokens_[s.open].end(), tokens_[s.close].begin)));
  }
  /// The blanks that the line of this byte begins with.
  std::string margin_of(size_t at) const {
    const size_t begin = text_.rfind('\n', at) + 1;  // npos + 1 == 0
    return between(begin, std::min(text_.find_first_not_of(" \t", begin), at));
  }
  std::string place(size_t token) const { return fmt::format("line {}", tokens_[token].line); }

  std::string declared(size_t changed, const std::string& with) const {
    std::string text = fmt::format("{} {}", d_.type, d_.name);
    for (size_t i = 0; i < d_.extents.size(); ++i)
      text += fmt::format("[{}]", i == changed ? with : d_.extents[i].text);
    return text;
  }

  void refuse_member() const {
    if (!d_.member_of.empty()) throw Refused{fmt::format("it is a member of '{}'", d_.member_of)};
  }
  void refuse_rows_in_elements() const {
    if (!d_.part && d_.element_bytes > shape_.row_bytes)
      throw Refused{fmt::format("what conflicts are rows of arrays in '{}'", d_.type)};
  }
  void require_plain_declaration() const {
    if (!d_.plain) throw Refused{fmt::format("its type is '{}'", d_.type)};
    for (const Extent& extent : d_.extents)
      if (extent.text.find("//") != std::string::npos) throw Refused{"there is a comment in its extents"};
  }
  /// A type with operator[] in place of the array: each use must have all subscripts.
  void require_tile_type(size_t subscripts) const {
    require_plain_declaration();
    (void)uses(subscripts);
  }

  /// Puts another declaration of the array in the place of its own. Of several declarators it is taken out,
  /// and gets a declaration behind theirs: they keep the type.
  void redeclare(const std::string& declaration, std::vector<Edit>& edits) const {
    if (d_.alone) return edits.push_back({d_.type_begin, d_.end, declaration});
    const Tokens type = tokens_of(d_.type);
    if (!std::all_of(type.begin(), type.end(), [](const Token& t) { return t.is_name() || t.is("::"); }))
      throw Refused{"the type of what is declared along with it is not clear"};
    const auto at = [&](size_t byte) {
      return static_cast<size_t>(
          std::find_if(tokens_.begin(), tokens_.end(), [&](const Token& t) { return t.begin >= byte; }) -
          tokens_.begin());
    };
    const size_t name = at(d_.name_begin), behind = at(d_.end);
    size_t semicolon = behind;
    while (semicolon < tokens_.size() && !tokens_[semicolon].is(";")) ++semicolon;
    if (semicolon == tokens_.size()) throw Refused{"the text ends too early"};
    // With the comma before it; the first one with the comma behind it.
    const bool is_first = !tokens_[name - 1].is(",");
    if (is_first && !tokens_[behind].is(",")) throw Refused{"its declaration is not understood"};
    const size_t begin = is_first ? d_.name_begin : tokens_[name - 2].end();
    const size_t end = is_first ? tokens_[behind + 1].begin : d_.end;
    const std::string taken = between(begin, end);
    if (taken.find("//") != std::string::npos || taken.find("/*") != std::string::npos)
      throw Refused{"there is a comment in its declaration"};
    edits.push_back({begin, end, ""});
    const size_t last = tokens_[semicolon].end();
    edits.push_back({last, last, fmt::format("\n{}__shared__ {};", margin_of(d_.type_begin), declaration)});
  }

  Rewrite with_type(const std::string& type) const {
    Rewrite result;
    result.what = fmt::format("{} {}", type, d_.name);
    redeclare(result.what, result.edits);
    include_tiles(result);
    return result;
  }
  /// Of a part of dynamic shared memory whose subscripts have rows: the pitch that is written there.
  Rewrite with_pitch(uint32_t elements) const {
    if (!d_.part->obstacle.empty()) throw Refused{d_.part->obstacle};
    if (d_.extents.size() >= 2) throw Refused{"it is a pointer to rows"};
    if (!shape_.has_rows || d_.part->pitch.empty()) throw Refused{"its subscripts are not all of rows"};
    (void)uses(1);
    Rewrite result;
    result.what = fmt::format("({} + {}) for {} in its subscripts", d_.part->pitch, elements, d_.part->pitch);
    for (const auto& [begin, end] : d_.part->pitch_places)
      result.edits.push_back({begin, end, fmt::format("({} + {})", between(begin, end), elements)});
    return result;
  }
  /// Of a part of dynamic shared memory: the pointer gets another name, by which other parts go on from it,
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
  [[nodiscard]] bool says_where_a_part_begins(const Token& t) const {
    return d_.part && std::any_of(d_.part->begins.begin(), d_.part->begins.end(), [&](const auto& range) {
             return t.begin >= range.first && t.begin < range.second;
           });
  }

  void include_tiles(Rewrite& result) const {
    result.uses_tiles = true;
    const std::string line = "#include <lanescope/tile.cuh>\n";
    const auto end_of_line = [&](size_t token) {
      return std::min(text_.find('\n', tokens_[token].begin), text_.size() - 1) + 1;
    };
    // Behind the last #include above that no #if decides on, else behind what keeps a header from being
    // included twice, else before the first token.
    const size_t begin = behind_include_guard();
    size_t at = begin == 0 ? 0 : end_of_line(begin - 1);
    bool included = false;
    int conditions = 0;
    for (size_t i = begin; i + 1 < tokens_.size() && tokens_[i].begin < d_.type_begin; ++i) {
      if (!tokens_[i].in_directive || !tokens_[i].is("#")) continue;
      conditions += tokens_[i + 1].text.starts_with("if") ? 1 : tokens_[i + 1].is("endif") ? -1 : 0;
      if (!tokens_[i + 1].is("include")) continue;
      const size_t end = end_of_line(i);
      included = included || between(tokens_[i].begin, end).find("lanescope/tile.cuh") != std::string::npos;
      if (conditions == 0) at = end;
    }
    const bool first = at == 0;
    if (first && !tokens_.empty()) at = text_.rfind('\n', tokens_.front().begin) + 1;  // npos + 1 == 0
    at = std::max(at, begin_of_text(text_));
    if (!included) result.edits.push_back({at, at, first ? line + "\n" : line});
  }

  /// The token behind the `#pragma once`, or `#ifndef A_H` and `#define A_H`, that the text begins with; else
  /// 0.
  [[nodiscard]] size_t behind_include_guard() const {
    const auto begins_with = [&](const std::vector<std::string_view>& words) {
      return tokens_.size() >= words.size() &&
             std::equal(words.begin(), words.end(), tokens_.begin(),
                        [](std::string_view word, const Token& t) { return t.is(word); });
    };
    if (begins_with({"#", "pragma", "once"})) return 3;
    const std::string_view name = tokens_.size() > 2 ? tokens_[2].text : "";
    return begins_with({"#", "ifndef", name, "#", "define", name}) ? 6 : 0;
  }

  /// All mentions behind the declaration, each with exactly so many subscripts.
  std::vector<Use> uses(size_t subscripts) const {
    std::vector<Use> all;
    int depth = 0;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      if (t.in_directive) {
        if (t.is(d_.name) && !is_included(i))
          throw Refused{fmt::format("a macro names '{}' in {}", d_.name, place(i))};
        continue;
      }
      if (t.begin < d_.end) continue;
      depth += t.is("{") ? 1 : t.is("}") ? -1 : 0;
      if (depth < 0) break;
      if (!t.is(d_.name) || says_where_a_part_begins(t) ||
          (i > 0 && (tokens_[i - 1].is(".") || tokens_[i - 1].is("->") || tokens_[i - 1].is("::"))))
        continue;
      Use use{i, {}};
      while (use.subscripts.size() < subscripts && use.behind() < tokens_.size() &&
             tokens_[use.behind()].is("["))
        use.subscripts.push_back({use.behind(), closing(use.behind())});
      if (use.subscripts.size() != subscripts ||
          (use.behind() < tokens_.size() && tokens_[use.behind()].is("[")))
        throw Refused{fmt::format("{} uses '{}' without {}", place(i), d_.name,
                                  subscripts == 1 ? "a subscript" : "all of its subscripts")};
      refuse_kept_address(i);
      all.push_back(std::move(use));
    }
    return all;
  }
  /// Whether the token is of the name of a file: #include <lanescope/tile.cuh>.
  [[nodiscard]] bool is_included(size_t i) const {
    while (i > 0 && tokens_[i].line == tokens_[i - 1].line) --i;
    return tokens_[i + 1].is("include");
  }
  /// &s[i] as the argument of a call or cast is one element; a pointer that is kept may go on from there.
  void refuse_kept_address(size_t name) const {
    if (!takes_address(name)) return;
    const bool is_argument =
        tokens_[name - 2].is(",") || tokens_[name - 2].is(")") ||
        (name > 2 && tokens_[name - 2].is("(") && (tokens_[name - 3].is_name() || tokens_[name - 3].is(">")));
    if (!is_argument) throw Refused{fmt::format("{} takes an address in '{}'", place(name), d_.name)};
  }
  bool takes_address(size_t name) const {
    return name >= 2 && tokens_[name - 1].is("&") && (!is_operand(tokens_[name - 2]) || ends_cast(name - 2));
  }
  /// Whether a cast ends there, (float4*), or what may be one, (vector), and no call.
  bool ends_cast(size_t close) const {
    if (close < 3 || !tokens_[close].is(")")) return false;
    return tokens_[close - 1].is("*") ||
           (tokens_[close - 1].is_name() && tokens_[close - 2].is("(") && !is_operand(tokens_[close - 3]));
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
  static bool ends_statement(const Token& t) { return t.is(";") || t.is("{") || t.is("}") || t.in_directive; }
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
  static bool is_operand(const Token& t) { return t.is_name() || t.is_number() || t.is(")") || t.is("]"); }

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
      const Extent given{between(tokens_[first].begin, tokens_[end - 1].end()), tokens_[first].begin,
                         tokens_[end - 1].end(), 0};
      const Extent& extent = d_.extents.back();
      if (given.text != trimmed(extent.text) && given.text != std::to_string(extent.value))
        throw Refused{fmt::format("{} gives wmma the pitch '{}', not '{}'", place(i), given.text,
                                  trimmed(extent.text))};
      edits.push_back({given.begin, given.end, padded(given, elements)});
    }
  }
  /// Of functions that get the whole array, whose parameter may name the length of its rows.
  [[nodiscard]] std::string condition_of_functions() const {
    for (size_t i = 4; i + 1 < tokens_.size(); ++i) {
      const size_t begin = begin_of_object(i);
      if (!is_use(i) || begin == 0 || (begin == i && !d_.member_of.empty())) continue;
      const Token& before = tokens_[begin - 1];
      if (!(before.is("(") || before.is(",")) || !(tokens_[i + 1].is(")") || tokens_[i + 1].is(",")))
        continue;
      size_t open = i;
      for (int depth = 0; open > 0 && depth <= 0 && !ends_statement(tokens_[open - 1]);) {
        --open;
        depth += tokens_[open].is("(") ? 1 : tokens_[open].is(")") ? -1 : 0;
      }
      if (open == 0 || !tokens_[open].is("(")) continue;
      size_t callee = open - 1;
      if (tokens_[callee].is(">"))  // with template arguments
        while (callee > 0 && !tokens_[callee--].is("<")) continue;
      if (!tokens_[callee].is_name()) continue;
      const std::string_view function = tokens_[callee].text;
      if (function == "sizeof" || function == "if" || function == "while" || function == "return") continue;
      return fmt::format("{} gives it to '{}', which has to take rows so long", place(i), function);
    }
    return "";
  }
  /// The tokens [first, end) of each argument of the call whose parenthesis is token `open`; none is empty.
  [[nodiscard]] std::vector<std::pair<size_t, size_t>> arguments_of_call(size_t open) const {
    std::vector<std::pair<size_t, size_t>> arguments;
    int depth = 0;
    size_t first = open + 1;
    for (size_t i = open; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      depth += t.is("(") || t.is("[") || t.is("{") ? 1 : t.is(")") || t.is("]") || t.is("}") ? -1 : 0;
      if (depth > 1 || (depth == 1 && !t.is(","))) continue;
      if (i > first) arguments.emplace_back(first, i);
      first = i + 1;
      if (depth == 0) break;
    }
    if (arguments.empty()) throw Refused{fmt::format("the call in {} is not understood", place(open))};
    return arguments;
  }

  /// The name of the function that a token is among the arguments of; empty where it is in no call.
  [[nodiscard]] std::string_view function_given(size_t token) const {
    int depth = 0;
    for (size_t i = token; i-- > 1 && !ends_statement(tokens_[i]);) {
      depth += tokens_[i].is(")") ? 1 : tokens_[i].is("(") ? -1 : 0;
      if (depth < 0) return tokens_[i - 1].is_name() ? tokens_[i - 1].text : "";
    }
    return "";
  }
  /// Whether a function of that name in this text takes something by reference that it may change.
  [[nodiscard]] bool takes_reference(std::string_view function) const {
    for (size_t i = 1; i + 2 < tokens_.size(); ++i) {
      const bool is_declared = tokens_[i].is(function) && tokens_[i + 1].is("(") && !tokens_[i + 2].is(")") &&
                               tokens_[i - 1].is_name() && !tokens_[i - 1].is("return");
      if (!is_declared) continue;
      for (const auto& [first, end] : arguments_of_call(i + 1)) {
        const auto has = [&, begin = first, behind = end](std::string_view word) {
          return std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                             tokens_.begin() + static_cast<std::ptrdiff_t>(behind),
                             [&](const Token& t) { return t.is(word); });
        };
        if ((has("&") || has("&&")) && !has("const")) return true;
      }
    }
    return false;
  }

  /// The token that opens the block that the declaration stands in.
  size_t begin_of_block() const {
    int depth = 0;
    size_t i = tokens_.size();
    while (i > 0 && depth >= 0) {
      --i;
      if (tokens_[i].begin < d_.name_begin) depth += tokens_[i].is("}") ? 1 : tokens_[i].is("{") ? -1 : 0;
    }
    return i;
  }
  /// Whether the token names the array, behind its declaration. Members: after an object, or by the struct's
  /// own functions, of which others may have variables of that name.
  [[nodiscard]] bool is_use(size_t token) const {
    const Token& t = tokens_[token];
    if (!t.is(d_.name) || t.in_directive || t.begin == d_.name_begin) return false;
    return !d_.member_of.empty() || (t.begin >= d_.end && !in_other_block(token));
  }
  /// The first token of what a member is named with: s of s.tile, p of p->s.tile.
  [[nodiscard]] size_t begin_of_object(size_t token) const {
    while (!d_.member_of.empty() && token >= 2 &&
           (tokens_[token - 1].is(".") || tokens_[token - 1].is("->")) && tokens_[token - 2].is_name())
      token -= 2;
    return token;
  }
  /// Whether the block that the declaration stands in has ended before this token.
  bool in_other_block(size_t token) const {
    int depth = 0;
    for (size_t i = 0; i < token; ++i) {
      if (tokens_[i].begin < d_.end || tokens_[i].in_directive) continue;
      depth += tokens_[i].is("{") ? 1 : tokens_[i].is("}") ? -1 : 0;
      if (depth < 0) return true;
    }
    return false;
  }

  size_t closing(size_t open) const {
    const size_t close = closing_bracket(tokens_, open, "]");
    if (close == tokens_.size()) throw Refused{fmt::format("the bracket of {} has no end", place(open))};
    return close;
  }

  void refuse_if_nested(const Use::Subscript& s) const {
    for (size_t i = s.open; i < s.close; ++i)
      if (tokens_[i].is(d_.name))
        throw Refused{fmt::format("a subscript in {} is itself an element of '{}'", place(i), d_.name)};
  }

  /// The members of a struct that the text defines, all scalars; or x … w of a vector type.
  Fields fields_of(const std::string& type) const {
    for (const char* base : {"float", "int", "uint"})
      for (uint32_t lanes = 2; lanes <= 4; ++lanes)
        if (type == fmt::format("{}{}", base, lanes)) {
          Fields fields;
          for (uint32_t i = 0; i < lanes; ++i)
            fields.all.push_back(
                {std::string_view(base) == "uint" ? "unsigned" : base, std::string(1, "xyzw"[i]), 4});
          return fields;
        }
    const Struct found = definition_of(type);
    Fields fields{{}, found.has_functions};
    for (const Member& m : found.members) {
      if (!m.declaration.extents.empty())
        throw Refused{fmt::format("field '{}' of '{}' is an array", m.declaration.name, type)};
      fields.all.push_back({m.declaration.type, m.declaration.name, m.bytes});
    }
    return fields;
  }
  [[nodiscard]] Struct definition_of(const std::string& type) const {
    std::optional<Struct> found = find_struct(texts_, type);
    if (!found || found->members.empty() || found->bytes != d_.element_bytes)
      throw Refused{fmt::format("the fields of '{}' are not clear", type)};
    return std::move(*found);
  }

  /// T& q = s[i]; → struct { float& x; … } q{s.x[i], …};, where all that is done with q is q.x.
  void move_reference(const Use& use, const Fields& fields, std::vector<Edit>& edits) const {
    const size_t name = use.name - 2, ampersand = use.name - 3, semicolon = use.behind();
    size_t first = ampersand;
    while (first > 0 && !ends_statement(tokens_[first - 1])) --first;
    const auto is_of_type = [](const Token& t) {
      return t.is_name() || t.is("::") || t.is("<") || t.is(">") || t.is(",");
    };
    if (!tokens_[semicolon].is(";") ||
        !std::all_of(tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                     tokens_.begin() + static_cast<std::ptrdiff_t>(ampersand), is_of_type))
      throw Refused{fmt::format("the reference to an element in {} is not understood", place(use.name))};
    int depth = 0;
    for (size_t i = semicolon; i + 2 < tokens_.size() && depth >= 0; ++i) {
      const Token& t = tokens_[i];
      depth += t.in_directive ? 0 : t.is("{") ? 1 : t.is("}") ? -1 : 0;
      const bool is_member = tokens_[i - 1].is(".") || tokens_[i - 1].is("->");
      if (!t.is(tokens_[name].text) || is_member) continue;
      if (!tokens_[i + 1].is("."))
        throw Refused{fmt::format("{} uses '{}', which stands for an element, as a whole", place(i), t.text)};
      require_field(i + 2, fields);
    }
    const bool is_const = tokens_[first].is("const") || tokens_[ampersand - 1].is("const");
    std::string members, value;
    for (const Field& field : fields.all) {
      members += fmt::format("{}{}& {}; ", is_const ? "const " : "", field.type, field.name);
      value += fmt::format("{}{}.{}[{}]", value.empty() ? "" : ", ", d_.name, field.name,
                           inside(use.subscripts[0]));
    }
    // nvcc warns of objects that nothing but their references is used of.
    edits.push_back(
        {tokens_[first].begin, tokens_[semicolon].begin,
         fmt::format("[[maybe_unused]] struct {{ {}}} {}{{{}}}", members, tokens_[name].text, value)});
  }

  void require_field(size_t token, const Fields& fields) const {
    const Token& t = tokens_[token];
    if (std::none_of(fields.all.begin(), fields.all.end(), [&](const Field& f) { return t.is(f.name); }))
      throw Refused{fmt::format("{} calls '{}' of an element", place(token), t.text)};
  }

  /// s[i].x → s.x[i]; s[i] = v → each field of v; s[i] as a value → Type{s.x[i], …}; T& q = s[i] →
  /// references to the fields.
  void move_field(const Use& use, const Fields& fields, std::vector<Edit>& edits) const {
    const Use::Subscript& s = use.subscripts[0];
    refuse_if_nested(s);
    const size_t behind = use.behind();
    if (behind + 1 >= tokens_.size()) throw Refused{"the text ends too early"};
    const size_t name_end = tokens_[use.name].end();
    if (tokens_[behind].is(".")) {
      require_field(behind + 1, fields);
      const std::string field(tokens_[behind + 1].text);
      edits.push_back({name_end, name_end, "." + field});
      edits.push_back({tokens_[behind].begin, tokens_[behind + 1].end(), ""});
      return;
    }
    const std::string index = inside(s);
    for (size_t i = s.open; i < s.close; ++i)
      if (tokens_[i].is("++") || tokens_[i].is("--") || tokens_[i].is("=") ||
          (tokens_[i].is("(") && is_operand(tokens_[i - 1])))
        throw Refused{fmt::format("the subscript in {} would be computed several times", place(use.name))};
    const Token& before = tokens_[use.name - 1];
    if (before.is("=") && tokens_[use.name - 2].is_name() && tokens_[use.name - 3].is("&"))
      return move_reference(use, fields, edits);
    const std::string type = d_.type.starts_with("const ") ? d_.type.substr(6) : d_.type;
    if (tokens_[behind].is("=")) {
      if (!before.is(";") && !before.is("{") && !before.is("}") && !before.is(")"))
        throw Refused{fmt::format("the assignment in {} is no statement", place(use.name))};
      size_t end = behind;
      while (end < tokens_.size() && !tokens_[end].is(";")) {
        if (tokens_[end].is(d_.name) || tokens_[end].is("{"))
          throw Refused{fmt::format("the value assigned in {} cannot be taken apart", place(use.name))};
        ++end;
      }
      if (end >= tokens_.size()) throw Refused{"the text ends too early"};
      const std::string value(trimmed(between(tokens_[behind].end(), tokens_[end].begin)));
      const std::string margin = margin_of(tokens_[use.name].begin);
      std::string element = "element";  // a name that the file does not have
      while (std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& t) { return t.is(element); }))
        element += '_';
      std::string block = fmt::format("{{\n{}  const {} {} = {};\n", margin, type, element, value);
      for (const Field& field : fields.all)
        block += fmt::format("{0}  {1}.{2}[{3}] = {4}.{2};\n", margin, d_.name, field.name, index, element);
      edits.push_back({tokens_[use.name].begin, tokens_[end].end(), block + margin + "}"});
      return;
    }
    const bool is_value = (before.is("=") || before.is("return") || before.is("(") || before.is(",")) &&
                          (tokens_[behind].is(";") || tokens_[behind].is(",") || tokens_[behind].is(")"));
    if (!is_value) throw Refused{fmt::format("{} uses an element as a whole", place(use.name))};
    if (const std::string_view function = function_given(use.name); takes_reference(function))
      throw Refused{
          fmt::format("{} gives an element to '{}', which may change it", place(use.name), function)};
    if (fields.has_functions)
      throw Refused{fmt::format("{} makes a '{}', which has functions", place(use.name), type)};
    std::string value;
    for (const Field& field : fields.all)
      value += fmt::format("{}{}.{}[{}]", value.empty() ? "" : ", ", d_.name, field.name, index);
    edits.push_back({tokens_[use.name].begin, tokens_[s.close].end(), fmt::format("{}{{{}}}", type, value)});
  }
};

/// New lines end as those of the text do.
void give_line_ends(std::string_view text, std::vector<Edit>& edits) {
  if (text.find("\r\n") == std::string_view::npos) return;
  for (Edit& edit : edits)
    for (size_t at = 0; (at = edit.text.find('\n', at)) != std::string::npos; at += 2)
      if (at > 0 && edit.text[at - 1] == '\r')
        --at;  // taken from the text
      else
        edit.text.insert(at, 1, '\r');
}

}  // namespace

std::variant<Rewrite, Unclear> rewrite(std::string_view text, const Declaration& declaration,
                                       const Shape& shape, const Layout& layout, const Texts& others) {
  if (declaration.open && !declaration.part) return Unclear{"the launch decides how large it is"};
  try {
    Rewrite result = std::visit(Rewriter(text, declaration, shape, others), layout);
    give_line_ends(text, result.edits);
    return result;
  } catch (const Refused& refused) {
    return Unclear{refused.why};
  }
}

uint32_t vector_bytes(std::string_view text, const Declaration& declaration) {
  return Rewriter(text, declaration, Shape()).vector_bytes();
}

bool has_only_subscripts(std::string_view text, const Declaration& declaration) {
  return Rewriter(text, declaration, Shape()).has_only_subscripts();
}

}  // namespace lanescope::advise
