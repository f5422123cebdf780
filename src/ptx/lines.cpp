// See lines.hpp.
#include "ptx/lines.hpp"

#include "ptx/lexer.hpp"

namespace lanescope::ptx {

std::string_view Lines::operator[](uint32_t line) {
  if (line == 0) return {};
  while (begins_.size() < line) {
    const size_t end = text_.find('\n', begins_.back());
    if (end == std::string_view::npos) return {};
    begins_.push_back(end + 1);
  }
  return line_of(text_.substr(begins_[line - 1]), 1);
}

}  // namespace lanescope::ptx
