// Numbers and lists as people read them.
#include "report/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace lanescope::report {
namespace {

constexpr std::string_view ellipsis = "…";

/// The name with "…" in place of what stands in `depth` brackets and more; of a function's arguments, in
/// `arguments_depth` and more.
std::string without_brackets(std::string_view name, int depth, int arguments_depth) {
  constexpr std::string_view unnamed = "(anonymous namespace)";
  std::string text;
  int inside = 0;
  int most = depth;  // at this place
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(unnamed)) {
      if (inside < most) text += unnamed;
      i += unnamed.size() - 1;
      continue;
    }
    const char c = name[i];
    const bool opens = c == '<' || c == '(';
    const bool closes = c == '>' || c == ')';
    if (closes) --inside;
    if (inside < most) text += c;
    if (!opens) continue;
    if (inside == 0) most = c == '(' ? arguments_depth : depth;
    const bool is_empty = i + 1 < name.size() && (name[i + 1] == '>' || name[i + 1] == ')');
    if (++inside == most && !is_empty) text += ellipsis;
  }
  return text;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

struct Character {
  size_t bytes = 0;  ///< 0: these are none
  uint32_t code = 0;
};
/// RFC 3629; without U+FFFE and U+FFFF, which no text and no XML has.
Character first_character(std::string_view text) {
  constexpr std::array<uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text.front());
  const size_t bytes = first < 0x80u ? 1 : static_cast<size_t>(std::countl_one(first));
  if (bytes == 1 && first >= 0x80u) return {};  // one of those that follow
  if (bytes >= least.size() || bytes > text.size()) return {};
  uint32_t code = bytes == 1 ? first : first & (0x7fu >> bytes);
  for (const char c : text.substr(1, bytes - 1)) {
    if (!is_continuation(c)) return {};
    code = code << 6u | (static_cast<unsigned char>(c) & 0x3fu);
  }
  const bool is_surrogate = code >= 0xd800u && code < 0xe000u;
  if (code < least[bytes] || code > 0x10ffffu || is_surrogate || code == 0xfffeu || code == 0xffffu)
    return {};
  return {bytes, code};
}

}  // namespace

std::string ordinal(uint64_t value) {
  const bool teen = value / 10 % 10 == 1;
  const uint64_t digit = value % 10;
  return fmt::format("{}{}", value,
                     teen         ? "th"
                     : digit == 1 ? "st"
                     : digit == 2 ? "nd"
                     : digit == 3 ? "rd"
                                  : "th");
}

std::string listed(const std::vector<uint64_t>& values) {
  constexpr size_t whole = 5, first = 3;
  const bool all = values.size() <= whole;
  std::string text;
  for (size_t i = 0; i < (all ? values.size() : first); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  if (!all) text += fmt::format(", {} {}", ellipsis, values.back());
  return text;
}

std::string lanes(uint64_t mask) {
  std::vector<uint64_t> members;
  for (uint64_t left = mask; left != 0; left &= left - 1)
    members.push_back(static_cast<uint64_t>(std::countr_zero(left)));
  if (members.empty()) return "no lane";
  if (members.size() == 1) return "lane " + std::to_string(members.front());
  const bool run = members.back() - members.front() + 1 == members.size() && members.size() > 2;
  return "lanes " + (run ? fmt::format("{}-{}", members.front(), members.back()) : listed(members));
}

std::string percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? "" : percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string percent(double share) { return share == 1.0 ? "100%" : fmt::format("{:.1f}%", 100.0 * share); }

std::string seconds_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.2f} us", seconds * 1e6) : fmt::format("{:.3f} ms", seconds * 1e3);
}

std::string short_name(std::string_view function, size_t most) {
  constexpr int deepest = 8;
  std::string text(function);
  // What the template was given tells kernels apart; the types of the arguments mostly follow from it.
  for (int depth = deepest; depth > 0; --depth)
    for (int arguments = depth; arguments > 0 && columns_of(text) > most; --arguments)
      text = without_brackets(function, depth, arguments);
  return text;
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? "" : text.substr(space + 1);
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > width) {
      lines.push_back(line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string printable(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const Character c = first_character(text);
    const bool is_control = c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0);
    if (c.bytes == 0)
      clean += "\uFFFD";
    else
      clean += is_control ? " " : text.substr(0, c.bytes);
    text.remove_prefix(std::max<size_t>(c.bytes, 1));
  }
  return clean;
}

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  for (const char c : text) columns += is_continuation(c) ? 0 : 1;
  return columns;
}

std::string cut_end(std::string_view text, size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end)
    if (!is_continuation(text[end]) && ++seen == columns) break;
  return std::string(text.substr(0, end)) + std::string(ellipsis);
}

std::string cut_begin(std::string_view text, size_t columns) {
  const size_t all = columns_of(text);
  if (all <= columns) return std::string(text);
  if (columns == 0) return "";
  size_t begin = 0;
  for (size_t seen = 0; begin < text.size(); ++begin)
    if (!is_continuation(text[begin]) && ++seen > all - columns + 1) break;
  return std::string(ellipsis) + std::string(text.substr(begin));
}

}  // namespace lanescope::report
