// Which name somebody meant: for messages about names that are none.
#pragma once

#include <span>
#include <string_view>

namespace lanescope {

/// The name with the fewest letters to change; of equals the one that begins like `wanted` for longest, then
/// the first one. `names` is not empty.
[[nodiscard]] std::string_view nearest(std::string_view wanted, std::span<const std::string_view> names);

}  // namespace lanescope
