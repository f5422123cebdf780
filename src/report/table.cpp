// See table.hpp.
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/words.hpp"

namespace lanescope::report {
namespace {

constexpr size_t narrowest = 40;
constexpr size_t indent = 2, gap = 2;  // of a table

}  // namespace

Writer::Writer(const TextOptions& options)
    : width_(std::max(options.width, narrowest)), color_(options.color) {}

std::string Writer::styled(std::string_view text, Style style) const {
  if (!color_ || style == Style::plain || text.empty()) return std::string(text);
  const char* code = style == Style::bold  ? "1"
                     : style == Style::dim ? "2"
                     : style == Style::bad ? "31"
                                           : "32";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void Writer::line(std::string_view text, Style style) {
  text_ += styled(text, style);
  text_ += '\n';
}

void Writer::paragraph(std::string_view text, size_t indent, Style style) {
  for (const std::string& part : wrapped(printable(text), width_ - indent))
    line(std::string(indent, ' ') + part, style);
}

Table::Table(std::vector<std::string> head, size_t left) : left_(left) {
  std::vector<Cell> cells;
  for (std::string& text : head) cells.push_back({std::move(text), Style::dim});
  add(std::move(cells));
}

void Table::add(std::vector<Cell> cells, const std::vector<std::string>& below) {
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back({std::move(cells), {}});
  for (const std::string& text : below)
    if (!text.empty()) rows_.back().below.push_back(printable(text));
}

std::vector<size_t> Table::widths() const {
  std::vector<size_t> widths;
  for (const Row& row : rows_) {
    widths.resize(std::max(widths.size(), row.cells.size()));
    for (size_t i = 0; i < row.cells.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(row.cells[i].text));
  }
  return widths;
}

size_t Table::width() const {
  size_t all = indent;
  for (const size_t w : widths()) all += w + gap;
  return all - gap;
}

void Table::write(Writer& out) const {
  constexpr size_t least = 12;
  std::vector<size_t> widths = this->widths();
  const size_t all = width();
  if (all > out.width())
    widths[0] = std::max(std::min(least, widths[0]), widths[0] - std::min(widths[0], all - out.width()));
  for (const Row& row : rows_) {
    std::string text(indent, ' ');
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const std::string shown = cut_begin(row.cells[i].text, widths[i]);
      const std::string pad(widths[i] - columns_of(shown), ' ');
      const bool last = i + 1 == row.cells.size();
      const std::string cell = out.styled(shown, row.cells[i].style);
      text += i < left_ ? cell + (last ? "" : pad) : pad + cell;
      if (!last) text += std::string(gap, ' ');
    }
    out.line(text.substr(0, text.find_last_not_of(' ') + 1));
    constexpr size_t deeper = 6;
    for (const std::string& below : row.below)
      out.line(std::string(deeper, ' ') + cut_end(below, out.width() - deeper), Style::dim);
  }
}

}  // namespace lanescope::report
