// The one exception type of the library: an error is data (what, and where in which input), formatted by
// whoever shows it. Code throws it for bad input; it never signals a broken invariant of our own (those are
// assertions).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace lanescope {

/// A place in a text the user gave: a file (or "<stdin>", "<string>"), a 1-based line and a 1-based column; 0
/// = unknown.
struct SourcePlace {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;

  /// "file:line:column" with the unknown parts left out; empty when nothing is known.
  [[nodiscard]] std::string str() const {
    std::string out = file;
    if (line != 0) out.append(out.empty() ? "line " : ":").append(std::to_string(line));
    if (line != 0 && column != 0) out.append(":").append(std::to_string(column));
    return out;
  }
};

/// Bad input or usage. `what()` is the whole message: place, cause and, for texts, the line with a caret.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& cause) : std::runtime_error(cause), cause_(cause) {}

  /// `line_text` is the offending line of the input; it is shown below the message with a caret at
  /// `place.column`.
  Error(SourcePlace place, const std::string& cause, const std::string& line_text = "")
      : std::runtime_error(format(place, cause, line_text)), place_(std::move(place)), cause_(cause) {}

  [[nodiscard]] const SourcePlace& place() const { return place_; }
  [[nodiscard]] const std::string& cause() const { return cause_; }

 private:
  static std::string format(const SourcePlace& place, const std::string& cause,
                            const std::string& line_text) {
    std::string out = place.str();
    out.append(out.empty() ? "" : ": ").append(cause);
    if (line_text.empty()) return out;
    std::string caret;
    for (uint32_t i = 1; i < place.column && i <= line_text.size(); ++i)
      caret += line_text[i - 1] == '\t' ? '\t' : ' ';
    out.append("\n  ").append(line_text);
    if (place.column != 0) out.append("\n  ").append(caret).append("^");
    return out;
  }

  SourcePlace place_;
  std::string cause_;
};

}  // namespace lanescope
