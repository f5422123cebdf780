// See rewrite.hpp.
#include "advise/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>

#include "advise/expression.hpp"
#include "advise/fields.hpp"
#include "advise/given.hpp"
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
    if (d_.extents.empty() || d_.part) throw Refused{"it is no array"};
    require_plain_declaration();
    Component element = element_of(arrays);
    const bool has_name = is_name_of_type(element.type);
    if (!has_name) element.type = fresh_name(d_.name + "_element");
    std::string count;
    for (const Extent& extent : d_.extents) count += fmt::format("[{}]", trimmed(extent.text));
    Rewrite result;
    const std::string margin = margin_of(d_.type_begin);
    for (const Component& field : element.fields)
      result.what += fmt::format("{}{}.{}{}{}", result.what.empty() ? "" : ", ", d_.name, field.name,
                                 extents_of(field), count);
    bool names_type = false;
    for (const Use& use : uses(d_.extents.size(), true))
      names_type |= move_element(use, element, result.edits) == Moved::by_its_type;
    const std::string declaration =
        fmt::format("struct {{\n{}{}}} {}", arrays_of(element, count, margin + "  "), margin, d_.name);
    if (d_.body.second == 0)
      redeclare(declaration, result.edits);
    else
      redeclare_apart(declaration, element.type, has_name ? is_named_twice(element.type) : names_type,
                      result.edits);
    return result;
  }

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
    const std::string type = components_of(texts_, d_, false)->type;
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
    const bool defines_it = d_.body.second != 0 && d_.type.find_first_of("([") == std::string::npos &&
                            !d_.type.starts_with("volatile");
    if (!d_.plain && !defines_it) throw Refused{fmt::format("its type is '{}'", d_.type)};
    for (const Extent& extent : d_.extents)
      if (extent.text.find("//") != std::string::npos) throw Refused{"there is a comment in its extents"};
  }
  /// A type with operator[] in place of the array: each use must have all subscripts.
  void require_tile_type(size_t subscripts) const {
    if (d_.body.second != 0) throw Refused{"its declaration defines the struct of its elements"};
    require_plain_declaration();
    (void)uses(subscripts);
    refuse_functions_that_go_on(text_, d_);
  }

  /// Puts another declaration of the array in the place of its own. Of several declarators it is taken out,
  /// and gets a declaration behind theirs: they keep the type.
  void redeclare(const std::string& declaration, std::vector<Edit>& edits) const {
    if (d_.alone) return edits.push_back({d_.type_begin, d_.end, declaration});
    const Tokens type = tokens_of(d_.type);
    if (!std::all_of(type.begin(), type.end(), [](const Token& t) { return t.is_name() || t.is("::"); }))
      throw Refused{"the type of what is declared along with it is not clear"};
    const size_t name = token_at(d_.name_begin), behind = token_at(d_.end);
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

  /// The same where the declaration defines the struct of the elements, which stays, in front of it, if it is
  /// needed for anything else.
  void redeclare_apart(const std::string& declaration, const std::string& type, bool keeps_type,
                       std::vector<Edit>& edits) const {
    if (!d_.alone) throw Refused{"more is declared along with it"};
    if (!keeps_type) return edits.push_back({d_.type_begin, d_.end, declaration});
    size_t shared = token_at(d_.type_begin);
    while (shared > 0 && !tokens_[shared].is("__shared__")) --shared;
    edits.push_back({tokens_[shared].begin, d_.body.first, fmt::format("struct {} ", type)});
    edits.push_back(
        {d_.body.second, d_.end, fmt::format(";\n{}__shared__ {}", margin_of(d_.type_begin), declaration)});
  }
  /// Of a struct that is defined in the declaration; else all are.
  static bool is_name_of_type(const std::string& type) { return type != "struct" && type != "class"; }
  /// Whether a name of a type is mentioned elsewhere than where it is defined.
  [[nodiscard]] bool is_named_twice(const std::string& name) const {
    return std::count_if(tokens_.begin(), tokens_.end(), [&](const Token& t) { return t.is(name); }) > 1;
  }
  /// A name like that which the file does not have.
  [[nodiscard]] std::string fresh_name(std::string name) const {
    while (std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& t) { return t.is(name); }))
      name += '_';
    return name;
  }
  /// The first token from that byte on.
  [[nodiscard]] size_t token_at(size_t byte) const {
    return static_cast<size_t>(
        std::find_if(tokens_.begin(), tokens_.end(), [&](const Token& t) { return t.begin >= byte; }) -
        tokens_.begin());
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

  /// All mentions behind the declaration, each with exactly so many subscripts. `to_elements`: pointers that
  /// are kept to elements, and lead nowhere else, are seen to by who asks.
  std::vector<Use> uses(size_t subscripts, bool to_elements = false) const {
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
      if (!to_elements || !is_kept_pointer(use)) refuse_kept_address(i);
      all.push_back(std::move(use));
    }
    return all;
  }
  /// Whether the token is of the name of a file: #include <lanescope/tile.cuh>.
  [[nodiscard]] bool is_included(size_t i) const {
    while (i > 0 && tokens_[i].line == tokens_[i - 1].line) --i;
    return tokens_[i + 1].is("include");
  }
  /// T* q = &s[i];
  [[nodiscard]] bool is_kept_pointer(const Use& use) const {
    return use.name > 4 && use.behind() < tokens_.size() && tokens_[use.behind()].is(";") &&
           tokens_[use.name - 1].is("&") && tokens_[use.name - 2].is("=") &&
           tokens_[use.name - 3].is_name() && tokens_[use.name - 4].is("*");
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
  /// The tokens [first, end) of each argument of the call whose parenthesis is token `open`; none is empty.
  [[nodiscard]] std::vector<std::pair<size_t, size_t>> arguments_of_call(size_t open) const {
    std::vector<std::pair<size_t, size_t>> arguments = pieces_of_list(tokens_, open);
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

  /// The element, taken apart as the layout says.
  [[nodiscard]] Component element_of(const StructOfArrays& arrays) const {
    for (const bool deeply : {false, true}) {
      std::optional<Component> element = components_of(texts_, d_, deeply);
      if (!element) break;
      const std::vector<Field> fields = fields_of(*element);
      const auto is_piece = [&](const Field& field) { return field.bytes == arrays.piece; };
      if (arrays.fields.empty() ? std::all_of(fields.begin(), fields.end(), is_piece)
                                : arrays.fields == fields)
        return std::move(*element);
    }
    throw Refused{fmt::format("the fields of '{}' are not clear", d_.type)};
  }
  static std::string extents_of(const Component& field) {
    std::string text;
    for (const uint64_t extent : field.extents) text += fmt::format("[{}]", extent);
    return text;
  }
  [[nodiscard]] Struct definition() const {
    std::optional<Struct> found = struct_of(texts_, d_);
    if (!found || found->members.empty() || found->bytes != d_.element_bytes)
      throw Refused{fmt::format("the fields of '{}' are not clear", d_.type)};
    return std::move(*found);
  }

  /// The members of the struct of arrays, one a line.
  static std::string arrays_of(const Component& element, const std::string& count,
                               const std::string& margin) {
    std::string text;
    for (const Component& field : element.fields)
      text += field.is_whole()
                  ? fmt::format("{}{} {}{}{};\n", margin, field.type, field.name, extents_of(field), count)
                  : fmt::format("{}struct {{\n{}{}}} {}{};\n", margin, arrays_of(field, count, margin + "  "),
                                margin, field.name, extents_of(field));
    return text;
  }

  /// What a use names of an element: all of it, a field, a field of a field.
  struct Named {
    const Component* component;
    size_t behind;       ///< token
    size_t indices = 0;  ///< that name one of several, of a field that is an array
    [[nodiscard]] bool is_one() const { return indices == component->extents.size(); }
    [[nodiscard]] bool is_array_of_its_own() const { return is_one() && component->is_whole(); }
  };
  /// From token `at` on, which stands behind something that is `element`, or a pointer to it.
  [[nodiscard]] Named named_from(size_t at, const Component& element, bool is_pointer = false) const {
    Named named{&element, at};
    while (named.behind + 1 < tokens_.size() && !named.is_array_of_its_own()) {
      if (!named.is_one() && tokens_[named.behind].is("[")) {
        named.behind = closing(named.behind) + 1;
        ++named.indices;
        continue;
      }
      const bool is_first = named.component == &element;
      if (!named.is_one() || !tokens_[named.behind].is(is_first && is_pointer ? "->" : ".")) break;
      const Token& field = tokens_[named.behind + 1];
      const Component* const found = named.component->find(field.text);
      if (found == nullptr)
        throw Refused{fmt::format("{} calls '{}' of an element", place(named.behind + 1), field.text)};
      named = {found, named.behind + 2};
    }
    return named;
  }

  /// Calls `each` with the way to everything below the component that has an array of its own: ".pos.x".
  template <class Each>
  void for_each_array(const Component& component, const std::string& way, Each each) const {
    for (const Component& field : component.fields)
      for_each_index(field, way + "." + field.name, [&](const std::string& one) {
        if (field.is_whole())
          each(one);
        else
          for_each_array(field, one, each);
      });
  }
  template <class Each>
  static void for_each_index(const Component& field, const std::string& way, Each each, size_t known = 0) {
    if (known == field.extents.size()) return each(way);
    for (uint64_t i = 0; i < field.extents[known]; ++i)
      for_each_index(field, fmt::format("{}[{}]", way, i), each, known + 1);
  }
  /// {s.x[i], {s.pos.x[i], s.pos.y[i]}}, of the component that is reached by `way`, "s" or "s.pos".
  std::string list_of(const Component& component, const std::string& way, const std::string& index) const {
    std::string list;
    for (const Component& field : component.fields)
      list += (list.empty() ? "" : ", ") + list_of_field(field, way + "." + field.name, index, 0);
    return "{" + list + "}";
  }
  std::string list_of_field(const Component& field, const std::string& way, const std::string& index,
                            size_t known) const {
    if (known == field.extents.size()) return field.is_whole() ? way + index : list_of(field, way, index);
    std::string list;
    for (uint64_t i = 0; i < field.extents[known]; ++i)
      list +=
          (list.empty() ? "" : ", ") + list_of_field(field, fmt::format("{}[{}]", way, i), index, known + 1);
    return "{" + list + "}";
  }

  /// Of an element only what is used of it, and what leads there.
  static Component only(const Component& component, const std::set<const Component*>& used) {
    Component rest = component;
    rest.fields.clear();
    for (const Component& field : component.fields) {
      Component of_field = field.is_whole() ? field : only(field, used);
      if (field.is_whole() ? used.count(&field) != 0 : !of_field.is_whole())
        rest.fields.push_back(std::move(of_field));
    }
    return rest;
  }
  /// struct { float& x; … }: references to what has an array of its own.
  std::string references_of(const Component& component, bool is_const) const {
    std::string members;
    for (const Component& field : component.fields) {
      if (!field.extents.empty()) throw Refused{fmt::format("'{}' of an element is an array", field.name)};
      members += (field.is_whole() ? (is_const ? "const " : "") + field.type + "&"
                                   : references_of(field, is_const)) +
                 " " + field.name + "; ";
    }
    return "struct { " + members + "}";
  }
  /// T& q = s[i]; → struct { float& x; … } q{s.x[i], …};, where all that is done with q is q.x. So are
  /// pointers, T* q = &s[i];, where that is q->x.
  void move_reference(const Use& use, const Component& element, const std::string& index,
                      std::vector<Edit>& edits) const {
    const bool is_pointer = is_kept_pointer(use);
    const size_t name = use.name - (is_pointer ? 3 : 2), ampersand = name - 1, semicolon = use.behind();
    size_t first = ampersand;
    while (first > 0 && !ends_statement(tokens_[first - 1])) --first;
    const auto is_of_type = [](const Token& t) {
      return t.is_name() || t.is("::") || t.is("<") || t.is(">") || t.is(",");
    };
    if (!tokens_[semicolon].is(";") ||
        !std::all_of(tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                     tokens_.begin() + static_cast<std::ptrdiff_t>(ampersand), is_of_type))
      throw Refused{fmt::format("the reference to an element in {} is not understood", place(use.name))};
    std::set<const Component*> used;
    int depth = 0;
    for (size_t i = semicolon; i + 2 < tokens_.size() && depth >= 0; ++i) {
      const Token& t = tokens_[i];
      depth += t.in_directive ? 0 : t.is("{") ? 1 : t.is("}") ? -1 : 0;
      const bool is_member = tokens_[i - 1].is(".") || tokens_[i - 1].is("->");
      if (!t.is(tokens_[name].text) || is_member) continue;
      const Named named = named_from(i + 1, element, is_pointer);
      used.insert(named.component);
      if (is_pointer) {
        for (const Use& other : uses(d_.extents.size(), true))
          if (i > other.name && i < named_from(other.behind(), element).behind)
            throw Refused{fmt::format("{} uses '{}' in a subscript of '{}'", place(i), t.text, d_.name)};
        edits.push_back({tokens_[i + 1].begin, tokens_[i + 1].end(), "."});
      }
      if (!named.is_array_of_its_own())
        throw Refused{fmt::format("{} uses '{}', which stands for an element, as a whole", place(i), t.text)};
    }
    const bool is_const = tokens_[first].is("const") || tokens_[ampersand - 1].is("const");
    const Component rest = only(element, used);
    // nvcc warns of objects that nothing but their references is used of.
    edits.push_back({tokens_[first].begin, tokens_[semicolon].begin,
                     fmt::format("[[maybe_unused]] {} {}{}", references_of(rest, is_const),
                                 tokens_[name].text, list_of(rest, d_.name, index))});
  }

  enum class Moved : uint8_t { by_fields, by_its_type };  ///< the latter names the type of the elements
  /// s[i].x → s.x[i]; s[i] = v → each field of v; s[i] as a value → Type{s.x[i], …}; T& q = s[i] →
  /// references to the fields.
  Moved move_element(const Use& use, const Component& element, std::vector<Edit>& edits) const {
    for (const Use::Subscript& s : use.subscripts) refuse_if_nested(s);
    const size_t behind = use.behind();
    if (behind + 1 >= tokens_.size()) throw Refused{"the text ends too early"};
    const size_t index_begin = tokens_[use.name].end(), index_end = tokens_[behind - 1].end();
    const Named named = named_from(behind, element);
    if (named.is_array_of_its_own()) {
      const size_t end = tokens_[named.behind - 1].end();
      edits.push_back({index_begin, index_end, ""});
      edits.push_back({end, end, between(index_begin, index_end)});
      return Moved::by_fields;
    }
    if (!named.is_one())
      throw Refused{fmt::format("{} uses '{}' of an element, which is an array, as a whole", place(use.name),
                                named.component->name)};
    for (size_t i = use.name + 1; i < named.behind; ++i)
      if (tokens_[i].is("++") || tokens_[i].is("--") || tokens_[i].is("=") ||
          (tokens_[i].is("(") && is_operand(tokens_[i - 1])))
        throw Refused{fmt::format("the subscript in {} would be computed several times", place(use.name))};
    std::string index;
    for (const Use::Subscript& s : use.subscripts) index += "[" + inside(s) + "]";
    const Token& before = tokens_[use.name - 1];
    const bool is_reference =
        before.is("=") && tokens_[use.name - 2].is_name() && tokens_[use.name - 3].is("&");
    if (named.behind == behind && (is_reference || is_kept_pointer(use))) {
      move_reference(use, element, index, edits);
      return Moved::by_fields;
    }
    const Moved moved = named.component == &element ? Moved::by_its_type : Moved::by_fields;
    const std::string way = d_.name + between(index_end, tokens_[named.behind - 1].end());
    if (tokens_[named.behind].is("=")) {
      move_assignment(use, named, way, index, edits);
      return moved;
    }
    require_value(use.name, named.behind);
    if (named.component->has_functions)
      throw Refused{
          fmt::format("{} makes a '{}', which has functions", place(use.name), named.component->type)};
    edits.push_back({tokens_[use.name].begin, tokens_[named.behind - 1].end(),
                     named.component->type + list_of(*named.component, way, index)});
    return moved;
  }

  void move_assignment(const Use& use, const Named& named, const std::string& way, const std::string& index,
                       std::vector<Edit>& edits) const {
    const Token& before = tokens_[use.name - 1];
    const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
      return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return before.is(word); });
    };
    size_t end = named.behind;
    for (int depth = 0; end < tokens_.size() && (depth > 0 || !tokens_[end].is(";")) && depth >= 0; ++end)
      depth += tokens_[end].is("(") || tokens_[end].is("{")   ? 1
               : tokens_[end].is(")") || tokens_[end].is("}") ? -1
                                                              : 0;
    if (end >= tokens_.size()) throw Refused{"the text ends too early"};
    size_t first = use.name;
    while (first > 0 && !ends_statement(tokens_[first - 1])) --first;
    const bool is_labeled = before.is(":") && (tokens_[first].is("case") || tokens_[first].is("default"));
    if (!(is_labeled || is_one_of({";", "{", "}", ")", "else", "do"})) || !tokens_[end].is(";"))
      throw Refused{fmt::format("the assignment in {} is no statement", place(use.name))};
    const std::string margin = margin_of(tokens_[use.name].begin);
    const std::string element = fresh_name("element");
    std::string copies;
    for_each_array(*named.component, "", [&](const std::string& field) {
      copies += fmt::format("\n{0}  {1}{2}{3} = {4}{2};", margin, way, field, index, element);
    });
    edits.push_back({tokens_[use.name].begin, tokens_[named.behind].begin,
                     fmt::format("{{\n{}  const {} {} ", margin, named.component->type, element)});
    edits.push_back({tokens_[end].end(), tokens_[end].end(), copies + "\n" + margin + "}"});
  }

  /// Refuses what is no value: a place that something is stored to, an address that is taken, an object that
  /// a function is called of or may change.
  void require_value(size_t name, size_t behind) const {
    constexpr std::string_view operators[] = {
        "+", "-", "*", "/", "<", ">", "==", "!=", "<=", ">=", "&&", "||", "?", ":"};
    const auto is_operator = [&](const Token& t) {
      return std::any_of(std::begin(operators), std::end(operators),
                         [&](std::string_view op) { return t.is(op); });
    };
    const Token &before = tokens_[name - 1], &next = tokens_[behind];
    const bool begins = before.is("=") || before.is("return") || before.is("(") || before.is(",") ||
                        before.is("{") || is_operator(before);
    const bool ends = next.is(";") || next.is(",") || next.is(")") || next.is("}") ||
                      (is_operator(next) && !tokens_[behind + 1].is("="));
    if (!begins || !ends || (before.is("{") && !next.is(",") && !next.is("}")))
      throw Refused{fmt::format("{} uses an element as a whole", place(name))};
    const std::string_view function = function_given(name);
    if (takes_reference(function) || function == "swap")
      throw Refused{fmt::format("{} gives an element to '{}', which may change it", place(name), function)};
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
