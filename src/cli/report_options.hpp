// How a command hands over a report: --format and -o; and what it must keep: --fail-on and --baseline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/run_program.hpp"
#include "report/formats.hpp"
#include "report/report.hpp"

namespace CLI {
class App;
}

namespace lanescope::cli {

class ReportOptions {
 public:
  /// `format`: the one that is used when none is given. This object must live until the parser has run.
  void add_to(CLI::App& command, const std::string& format = "text");

  /// --metrics, --events and --csv, for the same command.
  void add_metrics_to(CLI::App& command);
  /// Whether launches must not be summed.
  [[nodiscard]] bool needs_each_launch() const { return !metrics_.empty() || !events_.empty(); }
  /// What is run, as tables of metrics name it; near it the source files are looked for.
  void set_program(const std::string& path);

  /// Throws lanescope::Error for what cannot be. To be called before anything runs. Reads the baseline, which
  /// may be a pipe, once.
  void check();

  /// Writes the report of each process, in one document where the format is for programs, and says on stderr
  /// which limits are passed. The exit status.
  [[nodiscard]] int finish(const std::vector<ProcessReport>& reports) const;

 private:
  struct Verdict {
    std::vector<report::CheckedLimit> limits;
    bool passed = false;  ///< some limit is
  };
  [[nodiscard]] Verdict judge(const report::Report& report) const;

  std::string format_;
  std::string output_;
  [[nodiscard]] std::string metric_tables(const std::vector<ProcessReport>& reports) const;

  std::string metrics_, events_;
  bool csv_ = false;
  std::string program_;
  std::vector<std::string> fail_on_;
  std::string baseline_file_;
  std::optional<report::Report> baseline_;
};

/// A report saved with --format json. Throws lanescope::Error with the file's name.
[[nodiscard]] report::Report read_report(const std::string& path);

}  // namespace lanescope::cli
