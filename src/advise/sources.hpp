// The source files that a PTX text speaks of, found near it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::advise {

class Sources {
 public:
  /// Compilers write paths of the machine they ran on. A file is looked for as written (from the current
  /// folder), then, with ever more leading folders dropped from its path, in the PTX file's folder and the
  /// folders above it.
  explicit Sources(const std::filesystem::path& ptx_file);

  /// The text of a line, 1-based, without surrounding white space; empty when there is no such file or line.
  [[nodiscard]] std::string line(const std::string& file, uint32_t number);
  /// The whole file, and where it was found; both empty when there is none.
  struct File {
    std::filesystem::path path;
    std::string text;
    std::vector<size_t> line_begins;  ///< offsets in `text`
  };
  [[nodiscard]] const File& file(const std::string& name);
  /// What it includes by `#include "…"`, directly or not, as file() takes it: files that lie beside who
  /// includes them, or are found as others are.
  [[nodiscard]] const std::vector<std::string>& included_by(const std::string& name);
  [[nodiscard]] std::vector<std::string_view> texts(const std::vector<std::string>& files);

 private:
  [[nodiscard]] std::filesystem::path find(const std::filesystem::path& file) const;

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, File> files_;
  std::map<std::string, std::vector<std::string>> included_;  ///< once asked for
};

}  // namespace lanescope::advise
