// Finds and reads source files.
#include "report/sources.hpp"

#include <fstream>
#include <system_error>

namespace lanescope::report {

namespace fs = std::filesystem;

namespace {
/// Larger files are no source that anybody reads.
constexpr uintmax_t largest_source = 64u << 20;
constexpr int folders_above = 8;

bool readable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::file_size(path, error) <= largest_source;
}
}  // namespace

Sources::Sources(const fs::path& ptx_file) {
  std::error_code error;
  fs::path folder = fs::absolute(ptx_file, error).lexically_normal().parent_path();
  for (int i = 0; i <= folders_above && !folder.empty(); ++i) {
    folders_.push_back(folder);
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
}

fs::path Sources::find(const fs::path& file) const {
  if (readable(file)) return file;
  fs::path rest = file.relative_path();
  while (!rest.empty()) {
    for (const fs::path& folder : folders_)
      if (readable(folder / rest)) return folder / rest;
    fs::path shorter;
    for (auto part = std::next(rest.begin()); part != rest.end(); ++part) shorter /= *part;
    rest = shorter;
  }
  return {};
}

std::string Sources::line(const std::string& file, uint32_t number) {
  const auto [found, is_new] = files_.try_emplace(file);
  std::vector<std::string>& lines = found->second;
  if (is_new) {
    const fs::path path = find(file);
    std::ifstream in(path);
    for (std::string text; !path.empty() && std::getline(in, text);) lines.push_back(text);
  }
  if (number == 0 || number > lines.size()) return "";
  const std::string& text = lines[number - 1];
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace lanescope::report
