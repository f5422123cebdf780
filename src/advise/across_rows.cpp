// See across_rows.hpp.
#include "advise/across_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "advise/array_text.hpp"

namespace lanescope::advise {
namespace {

class RowRuns : ArrayText {
 public:
  RowRuns(std::string_view text, const Declaration& declaration) : ArrayText(text, declaration) {}

  [[nodiscard]] AcrossRows in(const std::set<uint32_t>& lines) const {
    AcrossRows all;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (!is_use(i)) continue;
      const std::vector<Use::Subscript> subscripts = subscripts_of(i);
      if (subscripts.size() != d_.extents.size() || subscripts.size() < 2) continue;
      const Use::Subscript &row = subscripts[subscripts.size() - 2], &column = subscripts.back();
      if (inside(row) != "0" || !is_in(lines, i, column.close)) continue;
      if (column.close == column.open + 2 && tokens_[column.open + 1].is_number()) {
        if (!takes_address(i) || is_defined_here(function_given(i))) continue;
        all.obstacle =
            fmt::format("{} goes through its rows from &{}", place(i), between_tokens(i, column.close));
        add(all.what, all.obstacle + " and has to go row by row");
        continue;
      }
      const std::string index = operand(inside(column)),
                        columns = operand(std::string(trimmed(d_.extents.back().text)));
      const std::string new_row = fmt::format("{} / {}", index, columns),
                        new_column = fmt::format("{} % {}", index, columns);
      const auto with = [&](const std::string& r, const std::string& c) {
        return fmt::format("{}[{}][{}]", between(tokens_[i].begin, tokens_[row.open].begin), r, c);
      };
      if (std::any_of(at(column.open), at(column.close), [&](const Token& t) { return may_change(t); }))
        all.obstacle =
            fmt::format("{} runs over its rows by a subscript that may change something", place(i));
      add(all.what, fmt::format("{} in {} runs over rows and becomes {}", with(inside(row), inside(column)),
                                place(i), with(new_row, new_column)));
      all.edits.push_back({tokens_[row.open].end(), tokens_[row.close].begin, new_row});
      all.edits.push_back({tokens_[column.open].end(), tokens_[column.close].begin, new_column});
    }
    return all;
  }

 private:
  [[nodiscard]] Tokens::const_iterator at(size_t i) const {
    return tokens_.begin() + static_cast<std::ptrdiff_t>(i);
  }
  [[nodiscard]] std::vector<Use::Subscript> subscripts_of(size_t name) const {
    Use use{name, {}};
    while (use.behind() < tokens_.size() && tokens_[use.behind()].is("["))
      use.subscripts.push_back({use.behind(), closing(use.behind())});
    return use.subscripts;
  }
  /// Whether one of the lines, of the text's own file, has a piece of the statement, up to the use's end.
  [[nodiscard]] bool is_in(const std::set<uint32_t>& lines, size_t name, size_t last) const {
    size_t first = name;
    while (first > 0 && !ends_statement(tokens_[first - 1])) --first;
    const auto line = lines.lower_bound(tokens_[first].line);
    return tokens_[first].file.empty() && line != lines.end() && *line <= tokens_[last].line;
  }
  /// In a subscript that is to be written twice.
  [[nodiscard]] bool may_change(const Token& t) const {
    return t.is("++") || t.is("--") || t.is("=") || t.is("(") || t.is(d_.name);
  }
  static void add(std::string& words, const std::string& more) {
    words += (words.empty() ? "" : ", ") + more;
  }
  [[nodiscard]] std::string between_tokens(size_t first, size_t last) const {
    return between(tokens_[first].begin, tokens_[last].end());
  }
  /// Whether the text has the function's body: it is seen there what rows it takes for granted.
  [[nodiscard]] bool is_defined_here(std::string_view function) const {
    for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (!tokens_[i].is(function) || !tokens_[i + 1].is("(")) continue;
      const size_t behind = closing_bracket(tokens_, i + 1, ")") + 1;
      if (behind < tokens_.size() && tokens_[behind].is("{")) return true;
    }
    return false;
  }
  static std::string operand(const std::string& text) {
    return tokens_of(text).size() == 1 ? text : "(" + text + ")";
  }
};

}  // namespace

AcrossRows across_rows(std::string_view text, const Declaration& declaration,
                       const std::set<uint32_t>& lines) {
  if (lines.empty() || declaration.extents.size() < 2) return {};
  try {
    return RowRuns(text, declaration).in(lines);
  } catch (const Refused& refused) {
    return {{}, {}, refused.why};
  }
}

}  // namespace lanescope::advise
