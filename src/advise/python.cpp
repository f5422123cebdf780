// See python.hpp.
#include "advise/python.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace lanescope::advise {
namespace {

struct Line {
  size_t begin = 0;
  std::string_view text;  ///< without its end and without a comment
  size_t indent = 0;
  [[nodiscard]] bool is_blank() const { return indent == text.size(); }
};

std::vector<Line> code_lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    line = line.substr(0, line.find('#'));
    lines.push_back({begin, line, std::min(line.find_first_not_of(" \t\r"), line.size())});
    begin = end + 1;
  }
  return lines;
}

/// Lines [first, last) of the function that line `at` (1-based) is in.
std::optional<std::pair<size_t, size_t>> function_around(const std::vector<Line>& lines, uint32_t at) {
  if (at == 0 || at > lines.size()) return std::nullopt;
  size_t indent = lines[at - 1].indent;
  for (size_t i = at - 1; i-- > 0;) {
    const Line& line = lines[i];
    if (line.is_blank() || line.indent >= indent) continue;
    indent = line.indent;
    if (!line.text.substr(line.indent).starts_with("def ")) continue;
    size_t end = i + 1;
    while (end < lines.size() && (lines[end].is_blank() || lines[end].indent > indent)) ++end;
    return std::pair(i, end);
  }
  return std::nullopt;
}

struct Piece {
  size_t begin = 0, end = 0;
};

std::string_view view(std::string_view text, const Piece& piece) {
  return text.substr(piece.begin, piece.end - piece.begin);
}

Piece without_blanks(std::string_view text, Piece piece) {
  const auto is_blank = [&](size_t at) {
    return std::string_view(" \t\r\n").find(text[at]) != std::string_view::npos;
  };
  while (piece.begin < piece.end && is_blank(piece.begin)) ++piece.begin;
  while (piece.end > piece.begin && is_blank(piece.end - 1)) --piece.end;
  return piece;
}

/// What stands between commas, from behind an opening parenthesis on; `end` becomes the place of the closing
/// one.
std::optional<std::vector<Piece>> arguments_from(std::string_view text, size_t begin, size_t& end) {
  std::vector<Piece> arguments;
  int depth = 0;
  size_t from = begin;
  for (size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[') ++depth;
    const bool closes = c == ')' || c == ']';
    if ((closes && depth == 0) || (c == ',' && depth == 0)) {
      const Piece piece = without_blanks(text, {from, at});
      if (piece.begin != piece.end) arguments.push_back(piece);
      from = at + 1;
    }
    if (closes && depth-- == 0) {
      end = at;
      return arguments;
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// A number, or a name that the module gives a number once.
std::optional<uint64_t> value_of(const std::vector<Line>& lines, std::string_view text) {
  if (const auto value = number(text)) return value;
  std::optional<uint64_t> found;
  for (const Line& line : lines) {
    if (line.indent != 0 || !line.text.starts_with(text)) continue;
    std::string_view rest = line.text.substr(text.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (!rest.starts_with('=') || rest.starts_with("==")) continue;
    const Piece value = without_blanks(rest, {1, rest.size()});
    if (found) return std::nullopt;
    found = number(view(rest, value));
    if (!found) return std::nullopt;
  }
  return found;
}

/// Bytes of `numba.float32`, `np.int8`, `'float64'`, …; 0 for what is not known.
uint32_t bytes_of(std::string_view type) {
  if (type.size() > 2 && (type.front() == '\'' || type.front() == '"'))
    type = type.substr(1, type.size() - 2);
  if (const size_t dot = type.rfind('.'); dot != std::string_view::npos) type.remove_prefix(dot + 1);
  if (type == "bool_" || type == "boolean") return 1;
  for (const std::string_view kind : {"float", "int", "uint", "complex"}) {
    if (!type.starts_with(kind)) continue;
    const auto bits = number(type.substr(kind.size()));
    if (bits && (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64 || *bits == 128))
      return static_cast<uint32_t>(*bits / 8);
  }
  return 0;
}

/// The argument of a keyword, or the one at a place among those without.
std::optional<Piece> argument(std::string_view text, const std::vector<Piece>& all, std::string_view keyword,
                              size_t place) {
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string_view one = view(text, all[i]);
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos) {
      if (i == place) return all[i];
    } else if (view(one, without_blanks(one, {0, equals})) == keyword) {
      return without_blanks(text, {all[i].begin + equals + 1, all[i].end});
    }
  }
  return std::nullopt;
}

/// The array that is declared where `match` is; the reason why its extents are not clear.
std::variant<Declaration, Unclear> read(std::string_view text, const std::vector<Line>& lines, Declaration d,
                                        size_t open) {
  const auto unclear = [&](const char* why) {
    return Unclear{fmt::format("line {}: the shape of '{}' is not clear: {}", d.line, d.name, why)};
  };
  const auto arguments = arguments_from(text, open + 1, d.end);
  if (!arguments) return unclear("a parenthesis is not closed");
  const auto shape = argument(text, *arguments, "shape", 0), type = argument(text, *arguments, "dtype", 1);
  if (!shape || !type) return unclear("it needs a shape and a dtype");
  d.type = view(text, *type);
  d.element_bytes = bytes_of(d.type);
  if (d.element_bytes == 0) return unclear("its dtype is not known here");
  std::vector<Piece> extents{*shape};
  if (text[shape->begin] == '(') {
    size_t end = 0;
    const auto inside = arguments_from(text, shape->begin + 1, end);
    if (!inside || end + 1 != shape->end) return unclear("it is no tuple");
    extents = *inside;
  }
  for (const Piece& extent : extents) {
    const auto value = value_of(lines, view(text, extent));
    if (!value) return unclear("an extent is neither a number nor a name that this file gives a number");
    d.extents.push_back({std::string(view(text, extent)), extent.begin, extent.end, *value});
  }
  return d;
}

uint64_t size_of(const Declaration& d) {
  uint64_t bytes = d.element_bytes;
  for (const Extent& extent : d.extents) bytes *= extent.value;
  return bytes;
}

/// `name[` in a line.
bool has_subscript(std::string_view line, const std::string& name) {
  return std::regex_search(line.begin(), line.end(), std::regex("\\b" + name + "\\s*\\["));
}

}  // namespace

bool is_python(std::string_view file) { return file.ends_with(".py"); }

std::variant<Declaration, Unclear> find_python_declaration(std::string_view text, uint64_t bytes,
                                                           uint32_t used_at) {
  const std::vector<Line> lines = code_lines_of(text);
  const auto function = function_around(lines, used_at);
  if (!function) return Unclear{fmt::format("line {} is in no function", used_at)};
  static const std::regex pattern(R"(^\s*([A-Za-z_]\w*)\s*=\s*(?:\w+\s*\.\s*)*shared\s*\.\s*array\s*(\())");
  std::vector<Declaration> fitting;
  std::optional<Unclear> first;
  for (size_t i = function->first; i < function->second; ++i) {
    std::match_results<std::string_view::const_iterator> match;
    if (!std::regex_search(lines[i].text.begin(), lines[i].text.end(), match, pattern)) continue;
    Declaration d;
    d.line = static_cast<uint32_t>(i + 1);
    d.name = match[1].str();
    d.name_begin = lines[i].begin + static_cast<size_t>(match.position(1));
    auto found = read(text, lines, d, lines[i].begin + static_cast<size_t>(match.position(2)));
    if (auto* why = std::get_if<Unclear>(&found)) {
      if (!first) first = std::move(*why);
    } else if (size_of(std::get<Declaration>(found)) == bytes) {
      fitting.push_back(std::get<Declaration>(found));
    }
  }
  if (fitting.size() > 1)
    std::erase_if(fitting,
                  [&](const Declaration& d) { return !has_subscript(lines[used_at - 1].text, d.name); });
  if (fitting.size() == 1) return fitting.front();
  if (first) return *first;
  return Unclear{fmt::format("the function around line {} declares {} shared array of {} bytes", used_at,
                             fitting.empty() ? "no" : "more than one", bytes)};
}

std::variant<Rewrite, Unclear> rewrite_python(std::string_view text, const Declaration& d, const Shape& shape,
                                              const Layout& layout) {
  const auto* padding = std::get_if<RowPadding>(&layout);
  if (padding == nullptr || d.extents.size() < 2)
    return Unclear{"in Python rows of arrays of two and more dimensions are padded, nothing else"};
  const uint32_t bytes = padding->bytes();
  if (bytes % d.element_bytes != 0) return Unclear{"the padding is no whole number of elements"};
  if (d.row_bytes() != shape.row_bytes) return Unclear{"the rows are not those of the declaration"};
  // Whatever else is done with the array may see its shape.
  const std::vector<Line> lines = code_lines_of(text);
  const auto function = function_around(lines, d.line);
  const std::regex name("\\b" + d.name + "\\b(?!\\s*\\[)");
  for (size_t i = function ? function->first : 0; function && i < function->second; ++i)
    if (i + 1 != d.line && std::regex_search(lines[i].text.begin(), lines[i].text.end(), name))
      return Unclear{fmt::format("line {} uses '{}' other than by subscripts", i + 1, d.name)};
  const Extent& last = d.extents.back();
  // Numba wants constants: a sum of a name and a number is none.
  const std::string longer = std::to_string(last.value + bytes / d.element_bytes);
  std::string extents;
  for (size_t i = 0; i + 1 < d.extents.size(); ++i) extents += d.extents[i].text + ", ";
  return Rewrite{
      {{last.begin, last.end, longer}}, fmt::format("{} of shape ({}{})", d.name, extents, longer), false};
}

}  // namespace lanescope::advise
