// See report_options.hpp.
#include "cli/report_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/files.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/profiler.hpp"
#include "cli/repeatable.hpp"
#include "cli/terminal.hpp"
#include "report/compare.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/limits.hpp"
#include "report/metrics.hpp"
#include "report/permissions.hpp"
#include "report/read.hpp"
#include "report/text.hpp"

namespace lanescope::cli {
namespace {

constexpr std::array<std::string_view, 6> formats{"text", "html", "json", "sarif", "github", "junit"};

std::string all_formats() {
  std::string names;
  for (const std::string_view format : formats) names += (names.empty() ? "" : ", ") + std::string(format);
  return names;
}

/// All processes one after the other.
std::string to_text(const std::vector<ProcessReport>& reports, const report::TextOptions& options) {
  std::string text;
  for (const ProcessReport& process : reports) {
    if (reports.size() > 1) text += fmt::format("{}Process {}\n", text.empty() ? "" : "\n", process.process);
    text += report::to_text(process.report, options);
  }
  return text;
}

report::Report sum_of(const std::vector<ProcessReport>& reports) {
  report::Report sum = reports.front().report;
  for (size_t i = 1; i < reports.size(); ++i) report::append(sum, reports[i].report);
  return sum;
}

std::vector<const report::Metric*> chosen_metrics(const std::string& metrics, const std::string& events) {
  using Tool = report::Metric::Tool;
  constexpr std::array metric_tools{Tool::ncu, Tool::nvprof_metric};
  constexpr std::array event_tools{Tool::nvprof_event};
  std::vector<const report::Metric*> list;
  if (!events.empty()) list = report::find_metrics(events, event_tools);
  if (!metrics.empty())
    for (const report::Metric* metric : report::find_metrics(metrics, metric_tools)) list.push_back(metric);
  return list;
}

}  // namespace

void ReportOptions::add_to(CLI::App& command, const std::string& format) {
  format_ = format;
  command
      .add_option("--format", format_,
                  "text, html (one file to look at), json, sarif (code scanning), github (annotations of "
                  "GitHub Actions), junit (XML); " +
                      format + " if not given")
      ->type_name("FORMAT");
  command.add_option("-o,--output", output_, "write the report to FILE")->type_name("FILE");
  add_repeatable(
      command, "--fail-on", fail_on_,
      "end with status 1 if a limit is passed: 'max_way>4', 'conflicts>0', 'excess>10%', "
      "'divergence>20%', 'line.sectors_excess>100', 'run.…', several with commas; of each kernel, if "
      "not given otherwise",
      "LIMITS")
      ->group("Limits");
  command
      .add_option("--baseline", baseline_file_,
                  "a saved report (--format json): end with status 1 only for what has become worse since")
      ->type_name("FILE")
      ->group("Limits");
}

void ReportOptions::add_metrics_to(CLI::App& command) {
  command
      .add_option("--metrics", metrics_,
                  "print these metrics of Nsight Compute or nvprof instead of the report, as those tools do "
                  "(docs/metrics.md); several with commas")
      ->type_name("LIST")
      ->group("Metrics");
  command.add_option("--events", events_, "the same with events of nvprof")
      ->type_name("LIST")
      ->group("Metrics");
  command.add_flag("--csv", csv_, "metrics and events as CSV")->group("Metrics");
}

void ReportOptions::set_program(const std::string& path) { program_ = path; }

std::string ReportOptions::metric_tables(const std::vector<ProcessReport>& reports) const {
  using Tool = report::Metric::Tool;
  const std::vector<const report::Metric*> list = chosen_metrics(metrics_, events_);
  const bool for_ncu =
      std::any_of(list.begin(), list.end(), [](const auto* m) { return m->tool == Tool::ncu; });
  const bool for_nvprof =
      std::any_of(list.begin(), list.end(), [](const auto* m) { return m->tool != Tool::ncu; });
  std::string text;
  size_t launches = 0;
  for (const ProcessReport& process : reports) {
    const report::ProfiledProcess profiled{process.process.empty() ? "0" : process.process,
                                           base_name(program_), &process.report};
    if (for_ncu)
      text += csv_ ? report::ncu_csv(profiled, list, report::NcuPage::details, launches)
                   : report::ncu_text(profiled, list);
    if (for_nvprof) text += csv_ ? report::nvprof_csv(profiled, list) : report::nvprof_text(profiled, list);
    launches += process.report.launches.size();
  }
  return text;
}

void ReportOptions::check() {
  static_cast<void>(chosen_metrics(metrics_, events_));
  if (csv_ && !needs_each_launch()) throw Error("--csv is for --metrics and --events");

  if (std::find(formats.begin(), formats.end(), format_) == formats.end())
    throw Error(fmt::format("--format: '{}' is no format ({})", format_, all_formats()));
  if (needs_each_launch() && format_ != "text")
    throw Error(
        "--format is for reports; --metrics and --events are printed as tables, or with --csv as CSV");
  for (const std::string& limits : fail_on_) static_cast<void>(report::parse_limits(limits));
  if (!baseline_file_.empty()) baseline_ = read_report(baseline_file_);
  check_output(output_);
}

int ReportOptions::finish(const std::vector<ProcessReport>& reports) const {
  report::TextOptions text;
  if (!is_file(output_)) text = {output_width(), output_has_color()};
  const report::Report report = sum_of(reports);
  const Verdict verdict = judge(report);
  advise::Sources sources(program_);
  const std::string content = needs_each_launch()   ? metric_tables(reports)
                              : format_ == "json"   ? report::to_json(report)
                              : format_ == "html"   ? report::to_html(report, sources)
                              : format_ == "sarif"  ? report::to_sarif(report)
                              : format_ == "github" ? report::to_annotations(report)
                              : format_ == "junit"  ? report::to_junit(report, verdict.limits)
                                                    : to_text(reports, text);
  write_output(output_, content);
  for (const report::CheckedLimit& limit : verdict.limits)
    for (const std::string& by : limit.violated)
      std::cerr << "lanescope: " << limit.failure << ": " << by << '\n';
  return verdict.passed ? limit_passed : done;
}

ReportOptions::Verdict ReportOptions::judge(const report::Report& report) const {
  if (baseline_)
    for (const std::string& otherwise : report::made_otherwise(*baseline_, report))
      std::cerr << "lanescope: warning: " << baseline_file_ << ": was " << otherwise << '\n';
  for (const std::string& unknown : report::unknown_permissions(report))
    std::cerr << "lanescope: warning: " << unknown << '\n';
  Verdict verdict;
  for (const std::string& text : fail_on_)
    for (const report::Limit& limit : report::parse_limits(text))
      verdict.limits.push_back(
          {limit.text, report::violations(limit, report, baseline_ ? &*baseline_ : nullptr)});
  if (fail_on_.empty() && baseline_)
    verdict.limits.push_back({"baseline", report::worse_than(*baseline_, report), "worse than the baseline"});
  verdict.passed = std::any_of(verdict.limits.begin(), verdict.limits.end(),
                               [](const report::CheckedLimit& limit) { return !limit.violated.empty(); });
  return verdict;
}

report::Report read_report(const std::string& path) { return report::from_json(read_file(path), path); }

}  // namespace lanescope::cli
