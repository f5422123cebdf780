// Puts one access into words: which lanes meet in which bank, or why it takes more sectors than it has to.
#pragma once

#include <string>

#include "exec/observer.hpp"
#include "lanescope/model/arch.hpp"
#include "profile/profile.hpp"

namespace lanescope::report {

/// Why the access `worst`, in shared memory, takes more wavefronts than phases. `grid`: of the launch.
[[nodiscard]] std::string explain_shared(const model::Arch& arch, const profile::Example& worst,
                                         const exec::Dim3& grid);

/// Why the access `worst`, in global memory, touches more sectors than its bytes fill.
[[nodiscard]] std::string explain_global(const model::Arch& arch, const profile::Example& worst,
                                         const exec::Dim3& grid);

}  // namespace lanescope::report
