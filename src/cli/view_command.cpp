// `lanescope view`: shows a saved report once more: as a page for a browser, or in any other format.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/report_options.hpp"

namespace lanescope::cli {

void add_view_command(CLI::App& app, int& status) {
  struct Options {
    std::string file;
    ReportOptions report;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "view", "show a saved report (run --format json -o FILE) as a page for a browser, or in any format");
  command->add_option("FILE", options->file, "the report")->type_name("")->required();
  options->report.add_to(*command, "html");
  command->footer(
      "Example:\n"
      "  lanescope run --format json -o report.json -- ./app\n"
      "  lanescope view report.json -o report.html\n"
      "  lanescope view report.json --format sarif -o report.sarif");
  command->callback([options, &status] {
    options->report.check();
    options->report.set_program(options->file);
    status = options->report.finish({{"", read_report(options->file)}});
  });
}

}  // namespace lanescope::cli
