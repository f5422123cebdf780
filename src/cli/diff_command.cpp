// `lanescope diff`: what changed between two saved reports, line by line.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/report_options.hpp"
#include "cli/terminal.hpp"
#include "report/compare.hpp"

namespace lanescope::cli {

void add_diff_command(CLI::App& app, int& status) {
  struct Options {
    std::string before, after;
    std::string format = "text";
    std::string output;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "diff",
      "what changed between two saved reports (run --format json), line by line, even if lines moved");
  command->add_option("BEFORE", options->before, "the older report")->type_name("")->required();
  command->add_option("AFTER", options->after, "the newer report")->type_name("")->required();
  command->add_option("--format", options->format, "text (if not given) or json")->type_name("FORMAT");
  command->add_option("-o,--output", options->output, "write the differences to FILE")->type_name("FILE");
  command->footer(
      "Exit status: 0 whatever changed; run --baseline fails on what has become worse.\n"
      "Example:\n"
      "  lanescope diff before.json after.json");
  command->callback([options, &status] {
    if (options->format != "text" && options->format != "json")
      throw Error("--format: '" + options->format + "' is no format (text, json)");
    const report::Report before = read_report(options->before), after = read_report(options->after);
    report::TextOptions text;
    if (!is_file(options->output)) text = {output_width(), output_has_color()};
    write_output(options->output, options->format == "json" ? report::diff_json(before, after)
                                                            : report::diff_text(before, after, text));
    status = done;
  });
}

}  // namespace lanescope::cli
