// See extent.hpp.
#include "cli/extent.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>

#include "base/error.hpp"

namespace lanescope::cli {
namespace {

/// One to three numbers from `least` on, the others `least`.
std::optional<exec::Dim3> parse_three(std::string_view text, uint32_t least) {
  uint32_t numbers[3] = {least, least, least};
  const char* at = text.data();
  const char* end = at + text.size();
  for (uint32_t& number : numbers) {
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < least) break;
    if (next == end) return exec::Dim3{numbers[0], numbers[1], numbers[2]};
    if (*next != ',' && *next != 'x') break;
    at = next + 1;
  }
  return std::nullopt;
}

}  // namespace

exec::Dim3 parse_extent(std::string_view text, const std::string& what) {
  if (const std::optional<exec::Dim3> size = parse_three(text, 1)) return *size;
  throw Error(
      fmt::format("{}: '{}' is no size: one to three numbers from 1, as 32 or 32,8 or 32x8x2", what, text));
}

exec::Dim3 parse_index(std::string_view text, const exec::Dim3& grid, const std::string& what) {
  const std::optional<exec::Dim3> at = parse_three(text, 0);
  if (!at)
    throw Error(fmt::format("{}: '{}' is no place: one to three numbers from 0, as 3 or 3,0", what, text));
  if (at->x >= grid.x || at->y >= grid.y || at->z >= grid.z)
    throw Error(fmt::format("{}: ({},{},{}) is outside of the grid of {}x{}x{} blocks (--grid)", what, at->x,
                            at->y, at->z, grid.x, grid.y, grid.z));
  return *at;
}

}  // namespace lanescope::cli
