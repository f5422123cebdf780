// What the program may do with the terminal it writes to, if it writes to one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lanescope::cli {

/// Columns of standard output: the environment's COLUMNS, else the terminal's, else 100.
[[nodiscard]] size_t output_width();

/// Whether standard output is a terminal that shows colour; no when NO_COLOR is set (https://no-color.org).
[[nodiscard]] bool output_has_color();

/// A bar on standard error for work that takes long; nothing is written unless that is a terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::string title);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// Takes the bar away.
  ~ProgressBar();

  /// Not to be called by two threads at once.
  void show(uint64_t done, uint64_t total);
  [[nodiscard]] bool enabled() const { return enabled_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
};

}  // namespace lanescope::cli
