// See formats.hpp. Sources: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0" (2020);
// GitHub, "Workflow commands for GitHub Actions"; for JUnit's XML the schema that Jenkins' xUnit plugin
// takes.
#include "report/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "lanescope/version.hpp"
#include "report/grids.hpp"
#include "report/hazards.hpp"
#include "report/json_text.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

using Json = nlohmann::ordered_json;

/// A path as the path of a URI (RFC 3986): everything else than unreserved characters and slashes is escaped.
std::string uri_of(const std::string& path) {
  constexpr std::string_view kept = "-._~/";
  std::string uri;
  for (const char c : path) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_word || kept.find(c) != std::string_view::npos)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return path.starts_with('/') ? "file://" + uri : uri;
}

/// A path as tools of the same folder know it: relative to the current folder if it lies inside.
std::string path_from_here(const std::string& path) {
  if (!path.starts_with('/')) return path;
  std::error_code failed;
  const std::filesystem::path here = std::filesystem::current_path(failed);
  const std::string relative = std::filesystem::path(path).lexically_relative(here).string();
  return failed || relative.empty() || relative.starts_with("..") ? path : relative;
}

/// The text of the hazard's line, where the report has it.
std::string source_of(const Report& report, const Hazard& hazard) {
  if (hazard.launch == no_launch) return "";
  const Launch& launch = report.launches[hazard.launch];
  for (const Line& line : launch.lines)
    if (line.file == hazard.file && line.line == hazard.line) return line.source;
  for (const Branch& branch : launch.branches)
    if (branch.file == hazard.file && branch.line == hazard.line) return branch.source;
  return "";
}

/// The same for the same complaint when lines have moved. FNV-1a of rule, kernel, subject, file and line
/// text.
std::string fingerprint(const Report& report, const Hazard& hazard) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::string& part :
       {hazard.rule, hazard.kernel, hazard.subject, path_from_here(hazard.file), source_of(report, hazard)})
    for (const char c : part + '\n') hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

Json sarif_rule(const Rule& rule) {
  return Json{{"id", rule.id},
              {"name", rule.id},
              {"shortDescription", {{"text", rule.title}}},
              {"fullDescription", {{"text", rule.help}}},
              {"help", {{"text", rule.help}}},
              {"defaultConfiguration", {{"level", name_of(rule.level)}}}};
}

Json sarif_result(const Report& report, const Hazard& hazard) {
  Json result{{"ruleId", hazard.rule},
              {"ruleIndex", find_rule(hazard.rule) - rules().data()},
              {"level", name_of(hazard.level)},
              {"message", {{"text", in_words(hazard)}}}};
  Json location = Json::object();
  if (!hazard.file.empty()) {
    Json artifact{{"uri", uri_of(path_from_here(hazard.file))}};
    if (path_from_here(hazard.file).front() != '/') artifact["uriBaseId"] = "%SRCROOT%";
    location["physicalLocation"] = {{"artifactLocation", std::move(artifact)},
                                    {"region", {{"startLine", std::max(hazard.line, 1u)}}}};
  }
  if (!hazard.kernel.empty())
    location["logicalLocations"] =
        Json::array({{{"fullyQualifiedName", hazard.kernel}, {"kind", "function"}}});
  result["locations"] = location.empty() ? Json::array() : Json::array({std::move(location)});
  result["partialFingerprints"] = {{"lanescope/v1", fingerprint(report, hazard)}};
  if (hazard.allowed)
    result["suppressions"] = Json::array({{{"kind", "inSource"}, {"justification", hazard.allowed_by}}});
  result["properties"] = {{"count", hazard.count}, {"ideal", hazard.ideal}, {"unit", hazard.unit}};
  return result;
}

/// What GitHub reads as one line: data, or the value of a property.
std::string escaped(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : text) {
    if (c == '%')
      out += "%25";
    else if (c == '\r')
      out += "%0D";
    else if (c == '\n')
      out += "%0A";
    else if (is_property && c == ':')
      out += "%3A";
    else if (is_property && c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string place_of(const Hazard& hazard) {
  return hazard.file.empty() ? "" : fmt::format("{}:{}: ", path_from_here(hazard.file), hazard.line);
}

/// The tests of one suite.
struct Suite {
  std::string name;
  std::string body;
  uint32_t tests = 0, failures = 0, skipped = 0;

  void passed(std::string_view test) { add(test, ""); }
  void failed(std::string_view test, std::string_view message, std::string_view text) {
    ++failures;
    add(test, fmt::format("<failure message=\"{}\">{}</failure>", xml(message), text));
  }
  void skip(std::string_view test, std::string_view reason) {
    ++skipped;
    add(test, fmt::format("<skipped message=\"{}\"/>", xml(reason)));
  }
  void add(std::string_view test, const std::string& content) {
    ++tests;
    body += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(name), xml(test));
    body += content.empty() ? "/>\n" : fmt::format(">{}</testcase>\n", content);
  }
};

/// `unknown`: why there may be more; empty when all was looked for.
void add_rule(Suite& suite, const Rule& rule, const std::vector<const Hazard*>& hazards,
              std::string_view unknown) {
  std::string text, allowed;
  size_t bad = 0;
  for (const Hazard* hazard : hazards) {
    if (hazard->allowed) {
      allowed += (allowed.empty() ? "" : "; ") + place_of(*hazard) + hazard->allowed_by;
    } else if (hazard->level != Level::note) {
      ++bad;
      text += "\n" + xml(place_of(*hazard) + in_words(*hazard));
    }
  }
  if (bad != 0)
    suite.failed(rule.id, fmt::format("{} ({})", rule.title, counted(bad, "place")),
                 text + "\n" + xml(rule.help));
  else if (!allowed.empty())
    suite.skip(rule.id, "allowed: " + allowed);
  else if (hazards.empty() && !unknown.empty())
    suite.skip(rule.id, unknown);
  else
    suite.passed(rule.id);
}

}  // namespace

std::string to_sarif(const Report& by_launch) {
  const Report report = with_grids_summed(by_launch);
  Json rule_list = Json::array();
  for (const Rule& rule : rules()) rule_list.push_back(sarif_rule(rule));
  Json results = Json::array();
  for (const Hazard& hazard : hazards_of(report)) results.push_back(sarif_result(report, hazard));
  const Json driver{{"name", "Lanescope"}, {"version", version()}, {"rules", std::move(rule_list)}};
  const Json run{{"tool", {{"driver", driver}}},
                 {"columnKind", "utf16CodeUnits"},
                 {"results", std::move(results)},
                 {"properties", {{"arch", report.arch}}}};
  return json_text(Json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                        {"version", "2.1.0"},
                        {"runs", Json::array({run})}});
}

std::string to_annotations(const Report& report) {
  std::string text;
  for (const Hazard& hazard : hazards_of(with_grids_summed(report))) {
    if (hazard.allowed) continue;
    text += hazard.level == Level::note ? "::notice" : fmt::format("::{}", name_of(hazard.level));
    text += " ";
    if (!hazard.file.empty())
      text += fmt::format("file={},line={},", escaped(path_from_here(hazard.file), true),
                          std::max(hazard.line, 1u));
    text += fmt::format("title={}::", escaped(find_rule(hazard.rule)->title, true));
    if (!hazard.kernel.empty()) text += escaped(hazard.kernel, false) + ": ";
    text += escaped(in_words(hazard), false) + "\n";
  }
  return text;
}

std::string to_junit(const Report& report, const std::vector<CheckedLimit>& limits) {
  const std::vector<Hazard> hazards = hazards_of(report);
  std::vector<Suite> suites;
  for (size_t i = 0; i <= report.launches.size(); ++i) {
    const bool of_program = i == report.launches.size();
    Suite suite;
    suite.name = of_program ? "program"
                            : fmt::format("{} grid {} block {}", report.launches[i].kernel,
                                          extent(report.launches[i].grid), extent(report.launches[i].block));
    for (const Rule& rule : rules()) {
      std::vector<const Hazard*> found;
      for (const Hazard& hazard : hazards)
        if (hazard.rule == rule.id && hazard.launch == (of_program ? no_launch : i)) found.push_back(&hazard);
      if (of_program && found.empty()) continue;
      add_rule(suite, rule, found, of_program ? "" : not_looked_for(rule.basis, report.launches[i]));
    }
    if (suite.tests != 0) suites.push_back(std::move(suite));
  }
  if (!limits.empty()) {
    Suite suite;
    suite.name = "limits";
    for (const CheckedLimit& limit : limits) {
      if (limit.violated.empty())
        suite.passed(limit.name);
      else {
        std::string by;
        for (const std::string& one : limit.violated) by += "\n" + xml(one);
        suite.failed(limit.name, limit.failure, by);
      }
    }
    suites.push_back(std::move(suite));
  }
  uint32_t tests = 0, failures = 0;
  std::string body;
  for (const Suite& suite : suites) {
    tests += suite.tests;
    failures += suite.failures;
    body +=
        fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n",
                    xml(suite.name), suite.tests, suite.failures, suite.skipped);
    body += suite.body + "  </testsuite>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"lanescope\" tests=\"{}\" "
      "failures=\"{}\">\n"
      "{}</testsuites>\n",
      tests, failures, body);
}

}  // namespace lanescope::report
