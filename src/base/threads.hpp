// Threads of our own; and what the other threads of this process are doing, as Linux tells it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace lanescope {

/// Starts a thread that ends on its own, if ever. It takes no signals: those are for the program's threads.
/// False if the host has no more.
bool start_thread(std::function<void()> work);

/// The ids of this process's threads; none where the host does not say.
[[nodiscard]] std::vector<int> threads_of_process();

/// If the thread sleeps until another one of this process wakes it (it waits, without a limit of time, for a
/// mutex, a condition, or a thread to end): how often it has gone to sleep. Nothing, too, where the host
/// does not say.
[[nodiscard]] std::optional<uint64_t> sleeps_for_others(int thread);

}  // namespace lanescope
