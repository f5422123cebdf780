// Changes of source files as people read them and as they are made.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::advise {

/// A piece of a text to be replaced. Where nothing is replaced and `text` ends a line, lines are inserted.
struct Edit {
  size_t begin = 0, end = 0;  ///< bytes of the text
  std::string text;           ///< what stands there afterwards
  friend bool operator==(const Edit&, const Edit&) = default;
};

/// A change of a file.
struct Patch {
  std::string file;  ///< where it was found
  std::vector<Edit> edits;
  std::vector<Patch> along{};  ///< what has to change in other files
  friend bool operator==(const Patch&, const Patch&) = default;

  /// This one and those along with it, one a file.
  [[nodiscard]] std::vector<Patch> of_files() const;
};

/// The text with all edits made. They do not overlap; throws lanescope::Error, which names `file`, if one
/// lies outside of the text.
[[nodiscard]] std::string patched(std::string_view text, std::vector<Edit> edits, const std::string& file);

/// Whether edits of the text with `made` in it change again what these have put there.
[[nodiscard]] bool change_again(std::vector<Edit> made, const std::vector<Edit>& later);

/// What the edits change, as a unified diff with three lines of context; empty when they change nothing.
/// `file` is what the diff calls it: a/file and b/file.
[[nodiscard]] std::string unified_diff(std::string_view text, const std::vector<Edit>& edits,
                                       const std::string& file);

}  // namespace lanescope::advise
