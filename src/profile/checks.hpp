// What `--check LIST` asks for.
#pragma once

#include <string_view>

#include "exec/checks.hpp"
#include "lanescope/model/arch.hpp"

namespace lanescope::profile {

/// "race", "global", "init", "barrier", "bounds", "leak", "unused", "all" (but global and unused), several
/// with commas; nothing: none. `arch` decides whether the lanes of a warp advance together. Throws
/// lanescope::Error for any other word.
[[nodiscard]] exec::Checks parse_checks(std::string_view list, const model::Arch& arch);

}  // namespace lanescope::profile
