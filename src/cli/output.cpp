// See output.hpp.
#include "cli/output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "base/error.hpp"

namespace lanescope::cli {

void write_output(const std::string& path, const std::string& content) {
  if (!is_file(path)) {
    std::cout << content << std::flush;
    return;
  }
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << content;
  out.close();
  if (!out) throw Error(SourcePlace{path}, fmt::format("cannot write: {}", std::strerror(errno)));
}

}  // namespace lanescope::cli
