// Numbers and lists as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hpp"

namespace lanescope::report {

using lanescope::counted;
using lanescope::grouped;
/// "2nd", "3rd", "8th", "32nd".
[[nodiscard]] std::string ordinal(uint64_t value);
/// "0, 4, 8, … 28": the first three and the last of a long list, up to five whole.
[[nodiscard]] std::string listed(const std::vector<uint64_t>& values);
/// "lane 3", "lanes 0-31", "lanes 0, 16", "lanes 0, 4, 8, … 28".
[[nodiscard]] std::string lanes(uint64_t mask);
/// "12.5%", "100%".
[[nodiscard]] std::string percent(uint64_t part, uint64_t whole);
/// The same of a share from 0 to 1.
[[nodiscard]] std::string percent(double share);
/// "44.74 us", "1.294 ms".
[[nodiscard]] std::string seconds_text(double seconds);
/// A function's name in at most about `most` columns: of longer ones the arguments of templates and functions
/// are left out, innermost first, those of templates last. "gemm<tuple<…>, half, layout<…>>(…)".
[[nodiscard]] std::string short_name(std::string_view function, size_t most = 200);
/// Breaks text into lines of at most `width` columns at spaces.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, size_t width);
/// The text with a space for each control character, which could otherwise drive the reader's terminal, and
/// with U+FFFD for each byte that is of no character of UTF-8: a name of a file may be anything.
[[nodiscard]] std::string printable(std::string_view text);
/// Columns of a terminal that UTF-8 text takes (one for each code point).
[[nodiscard]] size_t columns_of(std::string_view text);
/// At most `columns` columns of the text's begin, ended by "…" when something was cut.
[[nodiscard]] std::string cut_end(std::string_view text, size_t columns);
/// At most `columns` columns of the text's end, begun by "…" when something was cut.
[[nodiscard]] std::string cut_begin(std::string_view text, size_t columns);

}  // namespace lanescope::report
