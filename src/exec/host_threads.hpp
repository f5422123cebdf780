// The host's threads that run blocks beside the one that launches.
#pragma once

#include <cstdint>
#include <functional>

namespace lanescope::exec {

/// Calls work(0) on this thread and, meanwhile, work(1) to work(count - 1) on others: those for which one
/// comes before the first call has ended. Returns when all have. These threads sleep in between and do not
/// look for more to do, so that it is seen that they do nothing. The first exception of a call is thrown
/// here.
void on_host_threads(uint32_t count, const std::function<void(uint32_t)>& work);

}  // namespace lanescope::exec
