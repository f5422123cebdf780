// Finds and reads source files.
#include "advise/sources.hpp"

#include <iterator>
#include <system_error>

#include "base/files.hpp"
#include "base/words.hpp"

namespace lanescope::advise {

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

const Sources::File& Sources::file(const std::string& name) {
  const auto [found, is_new] = files_.try_emplace(name);
  File& file = found->second;
  if (!is_new) return file;
  file.path = find(name);
  if (file.path.empty()) return file;
  file.text = read_if_readable(file.path).value_or("");
  for (size_t begin = 0; begin < file.text.size();) {
    file.line_begins.push_back(begin);
    const size_t end = file.text.find('\n', begin);
    begin = end == std::string::npos ? file.text.size() : end + 1;
  }
  return file;
}

std::string Sources::line(const std::string& name, uint32_t number) {
  const File& from = file(name);
  if (number == 0 || number > from.line_begins.size()) return "";
  const size_t end = number < from.line_begins.size() ? from.line_begins[number] : from.text.size();
  const size_t begin = from.line_begins[number - 1];
  return std::string(trimmed(std::string_view(from.text).substr(begin, end - begin)));
}

}  // namespace lanescope::advise
