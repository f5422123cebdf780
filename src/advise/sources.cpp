// Finds and reads source files.
#include "advise/sources.hpp"

#include <algorithm>
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

/// What the first line of the text includes by `#include "…"`; empty where it is another line.
std::string_view included_at(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  for (const std::string_view word : {"#", "include", "\""}) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (!text.starts_with(word)) return {};
    text.remove_prefix(word.size());
  }
  const size_t end = text.find('"');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
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

const std::vector<std::string>& Sources::included_by(const std::string& name) {
  constexpr size_t most = 256;
  const auto [known, is_new] = included_.try_emplace(name);
  std::vector<std::string>& all = known->second;
  if (!is_new) return all;
  all.push_back(name);
  for (size_t i = 0; i < all.size() && all.size() < most; ++i) {
    const File& includer = file(all[i]);
    for (const size_t begin : includer.line_begins) {
      const std::string_view included = included_at(std::string_view(includer.text).substr(begin));
      if (included.empty()) continue;
      const fs::path beside = (includer.path.parent_path() / included).lexically_normal();
      const std::string found = readable(beside) ? beside.string() : std::string(included);
      if (!file(found).path.empty() && std::find(all.begin(), all.end(), found) == all.end())
        all.push_back(found);
    }
  }
  all.erase(all.begin());
  return all;
}

std::vector<std::string_view> Sources::texts(const std::vector<std::string>& files) {
  std::vector<std::string_view> all;
  for (const std::string& name : files) all.push_back(file(name).text);
  return all;
}

std::string Sources::line(const std::string& name, uint32_t number) {
  const File& from = file(name);
  if (number == 0 || number > from.line_begins.size()) return "";
  const size_t end = number < from.line_begins.size() ? from.line_begins[number] : from.text.size();
  const size_t begin = from.line_begins[number - 1];
  return std::string(trimmed(std::string_view(from.text).substr(begin, end - begin)));
}

}  // namespace lanescope::advise
