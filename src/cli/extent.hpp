// Sizes of grids and blocks as people give them.
#pragma once

#include <string>
#include <string_view>

#include "exec/observer.hpp"

namespace lanescope::cli {

/// "32", "32,8", "32x8x2". Throws lanescope::Error; `what`: the option, for its message.
[[nodiscard]] exec::Dim3 parse_extent(std::string_view text, const std::string& what);

/// The same of a block in a grid of `grid` blocks: what is left out is 0.
[[nodiscard]] exec::Dim3 parse_index(std::string_view text, const exec::Dim3& grid, const std::string& what);

}  // namespace lanescope::cli
