// Text for a terminal: lines, paragraphs, and tables whose widths follow their contents and the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::report {

struct TextOptions {
  size_t width = 100;  ///< columns; lines are cut or wrapped to it
  bool color = false;
};

enum class Style { plain, bold, dim, bad, good };

/// Collects the lines of a text.
class Writer {
 public:
  explicit Writer(const TextOptions& options);

  [[nodiscard]] size_t width() const { return width_; }
  [[nodiscard]] std::string str() && { return std::move(text_); }

  [[nodiscard]] std::string styled(std::string_view text, Style style) const;
  void line(std::string_view text = "", Style style = Style::plain);
  /// Breaks `text` into lines at spaces.
  void paragraph(std::string_view text, size_t indent, Style style = Style::plain);

 private:
  size_t width_;
  bool color_;
  std::string text_;
};

struct Cell {
  std::string text;
  Style style = Style::plain;
};

/// A table whose first column is cut to what the terminal leaves; all other columns are as wide as their
/// contents. A row may have lines of text below it.
class Table {
 public:
  /// `left`: columns that are aligned to the left, from the first one.
  Table(std::vector<std::string> head, size_t left);

  void add(std::vector<Cell> cells, const std::vector<std::string>& below = {});
  /// Columns of the terminal that it would take.
  [[nodiscard]] size_t width() const;
  void write(Writer& out) const;

 private:
  [[nodiscard]] std::vector<size_t> widths() const;

  struct Row {
    std::vector<Cell> cells;
    std::vector<std::string> below;
  };
  size_t left_;
  std::vector<Row> rows_;
};

}  // namespace lanescope::report
