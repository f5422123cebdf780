// See html.hpp. The page is drawn in the browser from the report's JSON (json.hpp), to which the texts of the
// source files are added, and for each access of shared memory which bank serves which lanes, as the model
// says.
#include "report/html.hpp"

#include <bit>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "lanescope/model/shared.hpp"
#include "lanescope/version.hpp"
#include "profile/cost.hpp"
#include "report/json.hpp"

namespace lanescope::report {
namespace {

using Json = nlohmann::ordered_json;

/// Who meets where: {banks, phases: [{lanes, wavefronts}], cells: [[phase, bank, word, lanes]]}; null where
/// the rules are not known.
Json map_of(const Report& report, const profile::Example& access) {
  if (!report.model || access.mask == 0 || access.space != exec::AccessSpace::shared) return nullptr;
  if (access.width > 16 || !std::has_single_bit(unsigned{access.width})) return nullptr;
  const model::SharedDetail detail = model::shared_detail(
      *report.model, profile::request_of(access.kind, access.width, access.mask, access.address));
  if (detail.cost.unknown_rule) return nullptr;
  Json phases = Json::array(), cells = Json::array();
  for (int i = 0; i < detail.phase_count; ++i)
    phases.push_back({{"lanes", detail.phase_lanes[i]}, {"wavefronts", detail.phase_wavefronts[i]}});
  for (int i = 0; i < detail.entry_count; ++i) {
    const model::BankWord& word = detail.entry[i];
    cells.push_back({word.phase, word.bank, word.word, word.lanes});
  }
  return Json{{"banks", report.model->banks}, {"phases", std::move(phases)}, {"cells", std::move(cells)}};
}

bool is_same_pattern(const profile::Example& a, const profile::Example& b) {
  if (a.mask != b.mask || a.mask == 0) return a.mask == b.mask;
  const auto first = static_cast<size_t>(std::countr_zero(a.mask));
  for (size_t lane = 0; lane < a.address.size(); ++lane)
    if ((a.mask >> lane & 1) != 0 && a.address[lane] - a.address[first] != b.address[lane] - b.address[first])
      return false;
  return true;
}

void add_maps(Json& document, const Report& report) {
  size_t advice = 0;
  for (size_t i = 0; i < report.launches.size(); ++i) {
    const Launch& launch = report.launches[i];
    Json& lines = document["launches"][i]["lines"];
    for (size_t j = 0; j < launch.lines.size(); ++j) {
      const Line& line = launch.lines[j];
      if (Json map = map_of(report, line.worst); !map.is_null()) lines[j]["map"] = std::move(map);
      if (is_same_pattern(line.worst, line.typical)) continue;
      if (Json map = map_of(report, line.typical); !map.is_null()) lines[j]["typical_map"] = std::move(map);
    }
    for (const profile::Example& after : launch.advised)
      document["advice"][advice++]["map"] = map_of(report, after);
  }
}

Json sources_of(const Report& report, advise::Sources& sources) {
  std::set<std::string> files;
  for (const Launch& launch : report.launches) {
    for (const Line& line : launch.lines) files.insert(line.file);
    for (const Branch& branch : launch.branches) files.insert(branch.file);
  }
  Json texts = Json::object();
  for (const std::string& name : files) {
    const advise::Sources::File& file = sources.file(name);
    if (file.text.empty()) continue;
    Json lines = Json::array();
    for (size_t begin = 0; begin < file.text.size();) {
      const size_t end = std::min(file.text.find('\n', begin), file.text.size());
      lines.push_back(file.text.substr(begin, end - begin));
      begin = end + 1;
    }
    texts[name] = std::move(lines);
  }
  return texts;
}

/// Text inside of <script>: nothing in it may end that.
std::string in_script(std::string text) {
  for (size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3))
    text.insert(at + 1, "\\");
  for (size_t at = text.find("<!--"); at != std::string::npos; at = text.find("<!--", at + 8))
    text.replace(at, 1, "\\u003c");
  return text;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

/// The page with `@NAME@` replaced.
std::string filled(std::string_view page,
                   std::initializer_list<std::pair<std::string_view, std::string>> values) {
  std::string out;
  while (!page.empty()) {
    const size_t begin = page.find('@');
    out += page.substr(0, begin);
    if (begin == std::string_view::npos) break;
    page.remove_prefix(begin);
    bool known = false;
    for (const auto& [name, value] : values) {
      if (!page.starts_with(name)) continue;
      out += value;
      page.remove_prefix(name.size());
      known = true;
      break;
    }
    if (known) continue;
    out += '@';
    page.remove_prefix(1);
  }
  return out;
}

}  // namespace

std::string to_html(const Report& report, advise::Sources& sources) {
  Json document = Json::parse(to_json(report));
  add_maps(document, report);
  document["sources"] = sources_of(report, sources);
  const std::string title =
      report.launches.empty() ? "Lanescope" : report.launches.front().kernel + " – Lanescope";
  return filled(html::page,
                {{"@STYLE@", html::style},
                 {"@SCRIPT@", html::script},
                 {"@REPORT@", in_script(document.dump(-1, ' ', false, Json::error_handler_t::replace))},
                 {"@TITLE@", escaped(title)},
                 {"@VERSION@", version()}});
}

}  // namespace lanescope::report
