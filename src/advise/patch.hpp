// Changes of source files as people read them and as they are made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advise/advise.hpp"

namespace lanescope::advise {

/// The text with all patches made. They are of one file and do not overlap; throws lanescope::Error if one
/// lies outside.
[[nodiscard]] std::string patched(std::string_view text, std::vector<Patch> patches);

/// A unified diff of two texts of the same file, three lines of context; empty when they are equal. `file` is
/// what the diff calls it: a/file and b/file.
[[nodiscard]] std::string unified_diff(std::string_view before, std::string_view after,
                                       const std::string& file);

}  // namespace lanescope::advise
