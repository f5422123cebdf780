// See output.hpp.
#include "cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/error.hpp"

namespace lanescope::cli {
namespace {

[[noreturn]] void refuse(const std::string& path, int error) {
  throw Error(SourcePlace{path}, fmt::format("cannot write: {}", std::strerror(error)));
}

}  // namespace

void check_output(const std::string& path) {
  if (!is_file(path)) return;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) refuse(path, EISDIR);
  if (access(path.c_str(), W_OK) == 0) return;
  if (errno != ENOENT) refuse(path, errno);
  // A new file.
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) refuse(path, errno);
}

void write_output(const std::string& path, std::string_view content) {
  if (!is_file(path)) {
    std::cout << content << std::flush;
    return;
  }
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << content;
  out.close();
  if (!out) refuse(path, errno);
}

}  // namespace lanescope::cli
