// The source files that a PTX text speaks of, found near it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "advise/patch.hpp"

namespace lanescope::advise {

/// A file with what it includes by #include "…" behind these lines, each file once, as a compiler reads it.
/// The text says which line of which file is which by lines that the files do not have (tokens.hpp).
struct Unit {
  std::string text;
  /// Bytes [begin, end) of the text are those of the file from `offset` on.
  struct Piece {
    size_t begin = 0, end = 0, offset = 0;
    std::string file;  ///< where it was found
  };
  std::vector<Piece> pieces;

  /// The edits of the text, which are some, as those of the file that the first one is of, and of others
  /// along with it. Throws Error where one is of several files.
  [[nodiscard]] Patch patch_of(const std::vector<Edit>& edits) const;
};

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
  /// The file with what it includes; empty when there is no such file. Files that are included lie beside who
  /// includes them, in a folder above it or the `include` there, or are found as others are.
  [[nodiscard]] const Unit& unit(const std::string& name);
  /// Whether a file is lanescope/tile.cuh, whose arrays are those of who declares them.
  [[nodiscard]] static bool is_own(std::string_view name) { return name.ends_with("lanescope/tile.cuh"); }

 private:
  [[nodiscard]] std::filesystem::path find(const std::filesystem::path& file) const;
  /// As file() takes it; empty where it is not found.
  [[nodiscard]] std::string find_included(const std::filesystem::path& includer, std::string_view name);
  /// Adds a file, which is called so in the text, with what it includes.
  void add(Unit& unit, const std::string& name, std::string_view called,
           std::set<std::filesystem::path>& known);

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, File> files_;
  std::map<std::string, Unit> units_;  ///< once asked for
};

}  // namespace lanescope::advise
