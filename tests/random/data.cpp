// Reads and writes the text files.
#include "random/data.hpp"

#include <fmt/format.h>

#include <sstream>

#include "base/error.hpp"
#include "base/files.hpp"

namespace lanescope::random {
std::vector<std::string> recorded_forms(const std::string& folder) {
  return read_forms(read_file(folder + "/forms.txt"));
}

std::vector<Recorded> recorded_outputs(const std::string& folder) {
  std::vector<Recorded> outputs;
  std::istringstream lines(read_file(folder + "/outputs.txt"));
  Class cls{};
  uint64_t seed = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words(line);
    if (line.starts_with('[')) {
      std::string name, first;
      words >> name >> first;
      const auto found = find_class(name.substr(1));
      if (!found || !first.ends_with(']')) throw Error("outputs.txt: " + line);
      cls = *found;
      seed = std::stoull(first);
      continue;
    }
    for (std::string word; words >> word;) outputs.push_back({cls, seed++, std::stoull(word, nullptr, 16)});
  }
  return outputs;
}

std::string written(const std::vector<Recorded>& outputs, const std::string& device) {
  std::string text = fmt::format(
      "# Hashes of what random programs wrote on {}; see docs/hardware-comparison.md.\n"
      "# [class first-seed], then one hash for each seed from there on.\n",
      device);
  const Recorded* last = nullptr;
  int column = 0;
  for (const Recorded& r : outputs) {
    const bool follows = last != nullptr && last->cls == r.cls && last->seed + 1 == r.seed;
    if (!follows) {
      text += fmt::format("{}[{} {}]\n", column == 0 ? "" : "\n", name_of(r.cls), r.seed);
      column = 0;
    }
    text += fmt::format("{:016x}{}", r.hash, ++column == 6 ? '\n' : ' ');
    column %= 6;
    last = &r;
  }
  return text + (column == 0 ? "" : "\n");
}

}  // namespace lanescope::random
