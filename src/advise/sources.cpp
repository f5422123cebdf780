// Finds and reads source files.
#include "advise/sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "advise/tokens.hpp"
#include "base/error.hpp"
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
  text.remove_prefix(begin_of_text(text));
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

std::string Sources::find_included(const fs::path& includer, std::string_view name) {
  constexpr int most_above = 3;
  fs::path folder = includer.parent_path();
  for (int above = 0; above <= most_above; ++above, folder = folder.parent_path())
    for (const char* in : {".", "include"})
      if (const fs::path path = (folder / in / name).lexically_normal(); readable(path)) return path.string();
  return file(std::string(name)).path.empty() ? "" : std::string(name);
}

void Sources::add(Unit& unit, const std::string& name, std::string_view called, std::set<fs::path>& known) {
  constexpr size_t most_files = 256, most_bytes = 256 << 10;
  const File& from = file(name);
  size_t begin = called.empty() ? 0 : begin_of_text(from.text);
  const auto add_up_to = [&](size_t end) {
    unit.pieces.push_back({unit.text.size(), unit.text.size() + end - begin, begin, from.path.string()});
    unit.text.append(from.text, begin, end - begin);
    if (!unit.text.ends_with('\n')) unit.text += '\n';
    begin = end;
  };
  for (size_t line = 0; line < from.line_begins.size(); ++line) {
    const std::string_view included = included_at(std::string_view(from.text).substr(from.line_begins[line]));
    if (included.empty() || is_own(included) || known.size() >= most_files) continue;
    const std::string found = find_included(from.path, included);
    if (found.empty() || unit.text.size() + file(found).text.size() > most_bytes ||
        !known.insert(file(found).path.lexically_normal()).second)
      continue;
    const bool is_last = line + 1 == from.line_begins.size();
    add_up_to(is_last ? from.text.size() : from.line_begins[line + 1]);
    unit.text += fmt::format("# 1 \"{}\"\n", included);
    add(unit, found, included, known);
    unit.text += fmt::format("# {} \"{}\"\n", line + 2, called);
  }
  add_up_to(from.text.size());
}

const Unit& Sources::unit(const std::string& name) {
  const auto [known, is_new] = units_.try_emplace(name);
  if (is_new && !file(name).path.empty()) {
    std::set<fs::path> files{file(name).path.lexically_normal()};
    add(known->second, name, "", files);
  }
  return known->second;
}

Patch Unit::patch_of(const std::vector<Edit>& edits) const {
  Patch patch;
  for (const Edit& edit : edits) {
    const auto piece = std::find_if(pieces.begin(), pieces.end(), [&](const Piece& p) {
      return p.begin <= edit.begin && edit.end <= p.end;
    });
    if (piece == pieces.end()) throw Error("an edit is of several files");
    if (patch.file.empty()) patch.file = piece->file;
    Patch* of = &patch;
    if (piece->file != patch.file) {
      const auto known = std::find_if(patch.along.begin(), patch.along.end(),
                                      [&](const Patch& p) { return p.file == piece->file; });
      of = known != patch.along.end() ? &*known : &patch.along.emplace_back(Patch{piece->file, {}});
    }
    const size_t moved = piece->begin - piece->offset;
    of->edits.push_back({edit.begin - moved, edit.end - moved, edit.text});
  }
  return patch;
}

std::string Sources::line(const std::string& name, uint32_t number) {
  const File& from = file(name);
  if (number == 0 || number > from.line_begins.size()) return "";
  const size_t end = number < from.line_begins.size() ? from.line_begins[number] : from.text.size();
  const size_t begin = from.line_begins[number - 1];
  return std::string(trimmed(std::string_view(from.text).substr(begin, end - begin)));
}

}  // namespace lanescope::advise
