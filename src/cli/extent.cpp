// See extent.hpp.
#include "cli/extent.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "base/error.hpp"

namespace lanescope::cli {

exec::Dim3 parse_extent(std::string_view text, const std::string& what) {
  uint32_t extent[3] = {1, 1, 1};
  const char* at = text.data();
  const char* end = at + text.size();
  for (size_t i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(at, end, extent[i]);
    if (error != std::errc() || extent[i] == 0) break;
    if (next == end) return {extent[0], extent[1], extent[2]};
    if (*next != ',' && *next != 'x') break;
    at = next + 1;
  }
  throw Error(
      fmt::format("{}: '{}' is no size: one to three numbers from 1, as 32 or 32,8 or 32x8x2", what, text));
}

}  // namespace lanescope::cli
