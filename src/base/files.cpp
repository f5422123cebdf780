// See files.hpp.
#include "base/files.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace lanescope {

std::optional<std::string> read_if_readable(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text;
  std::array<char, 1 << 16> part;
  while (in.read(part.data(), part.size()), in.gcount() > 0)
    text.append(part.data(), static_cast<size_t>(in.gcount()));
  if (in.bad()) return std::nullopt;  // a folder can be opened, but not read
  return text;
}

std::string read_file(const std::filesystem::path& path) {
  std::optional<std::string> text = read_if_readable(path);
  if (!text) throw Error(SourcePlace{path.string()}, std::string("cannot read: ") + std::strerror(errno));
  return *std::move(text);
}

ScratchFolder::ScratchFolder() {
  std::error_code problem;
  std::filesystem::path parent = std::filesystem::temp_directory_path(problem);
  if (problem)
    throw Error(std::string("no folder for temporary files (TMPDIR, or /tmp): ") + problem.message());
  parent = std::filesystem::absolute(parent);  // whoever is told of the folder may go to another one
  std::string pattern = (parent / "lanescope-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw Error(SourcePlace{pattern}, std::string("cannot make a folder: ") + std::strerror(errno));
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace lanescope
