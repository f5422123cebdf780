// Paths that cannot go on: by what it is known that they wait in vain, and what is said of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/schedule.hpp"

namespace lanescope::exec {

/// A hash of what a path of a warp sees and decides by: who returns to it repeats itself.
[[nodiscard]] uint64_t fingerprint(const WarpState& w, const Path& path);
/// The same of the whole block, with where its paths are.
[[nodiscard]] uint64_t fingerprint(BlockState& block);
/// The same of its shared memory alone.
[[nodiscard]] uint64_t fingerprint_of_shared(const BlockState& block);

/// The path, if it waits, waits for what never comes: a finding that says for what.
void report_waiting(WarpState& w, const Path& p);

}  // namespace lanescope::exec
