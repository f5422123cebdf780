// The lines of a text, for those who ask for many of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace lanescope::ptx {

/// Remembers where lines begin, so that the text is gone through once, as far as it is asked for.
class Lines {
 public:
  /// The text must outlive this object.
  explicit Lines(std::string_view text) : text_(text) {}

  /// Line `line` (1-based), without the line end; empty if there is none.
  [[nodiscard]] std::string_view operator[](uint32_t line);

 private:
  std::string_view text_;
  std::vector<size_t> begins_{0};
};

}  // namespace lanescope::ptx
