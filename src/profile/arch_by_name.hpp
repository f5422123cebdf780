// The architecture of a name that somebody has typed.
#pragma once

#include <string>

#include "lanescope/model/arch.hpp"

namespace lanescope::profile {

/// Capitals do not matter. Throws lanescope::Error that names the nearest known one and all the others.
[[nodiscard]] model::Arch arch_by_name(const std::string& name);

}  // namespace lanescope::profile
