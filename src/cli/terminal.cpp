// Asks the system about the terminal; draws the progress bar.
#include "cli/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace lanescope::cli {
namespace {

constexpr size_t default_width = 100;

/// Columns of the terminal behind `descriptor`; 0 when it is none.
size_t terminal_columns(int descriptor) {
  winsize size{};
  if (isatty(descriptor) == 0 || ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

size_t output_width() {
  if (const char* variable = std::getenv("COLUMNS")) {
    const std::string_view text = variable;
    size_t columns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (error == std::errc() && end == text.data() + text.size() && columns != 0) return columns;
  }
  const size_t columns = terminal_columns(STDOUT_FILENO);
  return columns != 0 ? columns : default_width;
}

bool output_has_color() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') &&
         !(term != nullptr && std::string_view(term) == "dumb");
}

ProgressBar::ProgressBar(std::string title)
    : title_(std::move(title)), enabled_(isatty(STDERR_FILENO) != 0), start_(Clock::now()), last_(start_) {}

ProgressBar::~ProgressBar() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

void ProgressBar::show(uint64_t done, uint64_t total) {
  using namespace std::chrono_literals;
  const Clock::time_point now = Clock::now();
  if (!enabled_ || total == 0 || now - start_ < 500ms || now - last_ < 100ms) return;
  last_ = now;
  const size_t columns = std::max<size_t>(terminal_columns(STDERR_FILENO), 40);
  const std::string title = title_.substr(0, columns / 2);
  const std::string after = fmt::format(" {:3}%", done * 100 / total);
  const size_t length = columns - title.size() - after.size() - 4;
  const size_t filled = static_cast<size_t>(static_cast<double>(done) / static_cast<double>(total) *
                                            static_cast<double>(length));
  const std::string bar = std::string(filled, '#') + std::string(length - std::min(length, filled), '.');
  std::fputs(fmt::format("\r{} [{}]{}", title, bar, after).c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace lanescope::cli
