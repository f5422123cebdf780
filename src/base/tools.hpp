// Tools of other vendors that are used where they are installed.
#pragma once

#include <filesystem>
#include <string>

namespace lanescope {

/// The value of an environment variable; empty where it is not set.
[[nodiscard]] std::string environment_variable(const char* name);

/// The program `name` of the CUDA toolkit, or an empty path: the one that the environment variable `choice`
/// names (then no other, even if that is no program), else the first in PATH, CUDA_HOME/bin, CUDA_PATH/bin,
/// /usr/local/cuda/bin.
[[nodiscard]] std::filesystem::path find_tool(const std::string& name, const char* choice);

}  // namespace lanescope
