// See tools.hpp.
#include "base/tools.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <system_error>

namespace lanescope {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

fs::path find_tool(const std::string& name, const char* choice) {
  if (const std::string path = environment_variable(choice); !path.empty())
    return is_program(path) ? fs::path(path) : fs::path();
  std::istringstream path(environment_variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  for (const std::string& home :
       {environment_variable("CUDA_HOME"), environment_variable("CUDA_PATH"), std::string("/usr/local/cuda")})
    if (!home.empty() && is_program(fs::path(home) / "bin" / name)) return fs::path(home) / "bin" / name;
  return {};
}

}  // namespace lanescope
