// Work on several threads of the host.
#pragma once

#include <cstdint>
#include <functional>

namespace lanescope::cuda::libraries {

/// Calls body(first, last) for parts of [0, count): on as many threads as the machine has (or `--threads`
/// allows), if `worth`, what there is to do in units that are worth the start of a thread, is as much. An
/// exception of any of them is the caller's.
void in_parts(int64_t count, double worth, const std::function<void(int64_t first, int64_t last)>& body);

}  // namespace lanescope::cuda::libraries
