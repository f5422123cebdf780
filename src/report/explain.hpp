// Puts one access into words: which lanes meet in which bank, or why it takes more sectors than it has to.
#pragma once

#include <string>

#include "exec/observer.hpp"
#include "lanescope/model/arch.hpp"
#include "lanescope/model/request.hpp"
#include "profile/profile.hpp"

namespace lanescope::report {

/// What one request to shared memory costs and why: who meets in the busiest bank of its worst phase, or that
/// nobody does, and what the distance of the lanes has to do with it. Empty when no lane is active.
[[nodiscard]] std::string explain_request(const model::Arch& arch, const model::Request& request);

/// Why the access `worst`, in shared memory, takes more wavefronts than phases. `grid`: of the launch.
[[nodiscard]] std::string explain_shared(const model::Arch& arch, const profile::Example& worst,
                                         const exec::Dim3& grid);

/// Why the access `worst`, in global memory, touches more sectors than its bytes fill.
[[nodiscard]] std::string explain_global(const model::Arch& arch, const profile::Example& worst,
                                         const exec::Dim3& grid);

}  // namespace lanescope::report
