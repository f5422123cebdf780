// See words.hpp.
#include "base/words.hpp"

#include <algorithm>

namespace lanescope {

std::string grouped(uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string plural(uint64_t value, std::string_view noun) {
  std::string text(noun);
  if (value == 1) return text;
  const bool is_sibilant =
      noun.ends_with('s') || noun.ends_with('x') || noun.ends_with("ch") || noun.ends_with("sh");
  if (!noun.ends_with('y')) return text + (is_sibilant ? "es" : "s");
  text.pop_back();
  return text + "ies";
}

std::string counted(uint64_t value, std::string_view noun) {
  return grouped(value) + " " + plural(value, noun);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::vector<std::string_view> at_commas(std::string_view list) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t comma = std::min(list.find(','), list.size());
    parts.push_back(trimmed(list.substr(0, comma)));
    if (comma == list.size()) return parts;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace lanescope
