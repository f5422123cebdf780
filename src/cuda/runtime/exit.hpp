// When the report is written: at the end of the process, also when it fails, aborts or is interrupted.
#pragma once

#include <string>

#include "cuda/runtime/options.hpp"

namespace lanescope::cuda {

/// Prepares for the end of the process: called once, when the runtime is made.
void watch_for_exit(const Options& options);

/// The program's file, from /proc.
[[nodiscard]] const std::string& program_path();

}  // namespace lanescope::cuda
