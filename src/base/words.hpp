// Numbers and lists in messages and in text that people write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope {

/// "1,234,567".
[[nodiscard]] std::string grouped(uint64_t value);
/// "word" of one, "words" of others; "launches", "copies".
[[nodiscard]] std::string plural(uint64_t value, std::string_view noun);
/// "1 word", "2 words" with grouped digits.
[[nodiscard]] std::string counted(uint64_t value, std::string_view noun);
/// The text without blanks and ends of lines around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// The parts of a list with commas, trimmed; of an empty list one part, which is empty.
[[nodiscard]] std::vector<std::string_view> at_commas(std::string_view list);

}  // namespace lanescope
