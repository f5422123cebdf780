// The wavefronts that docs/results.md gives, so that tests hold the page to what the engine counts.
#pragma once

#include <cstdint>
#include <map>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "base/files.hpp"

namespace lanescope::kernels {

/// The column "wavefronts" of the first table below the line that begins with `title`, by the names in the
/// first column; without the rows that have no number there.
[[nodiscard]] inline std::map<std::string, uint64_t> wavefronts_in_results(const std::string& title) {
  std::istringstream page(read_file(LANESCOPE_SOURCE_DIR "/docs/results.md"));
  std::map<std::string, uint64_t> table;
  bool found = false;
  for (std::string line; std::getline(page, line);) {
    found = found || line.starts_with(title);
    if (found && !line.starts_with('|') && !table.empty()) break;
    if (!found || !line.starts_with('|')) continue;
    std::istringstream cells(line.substr(1));
    std::string name, number;
    std::getline(cells, name, '|');
    std::getline(cells, number, '|');
    name = name.substr(1, name.find_last_not_of(' '));
    std::erase_if(number, [](char c) { return c < '0' || c > '9'; });
    if (!number.empty()) table[name] = std::stoull(number);
  }
  if (table.empty()) throw Error("docs/results.md has no table of wavefronts below \"" + title + "\"");
  return table;
}

}  // namespace lanescope::kernels
