// See record.hpp.
#include "probe/record.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/error.hpp"
#include "probe/words.hpp"

namespace lanescope::probe {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json masks(const std::optional<Groups>& groups) {
  if (!groups) return nullptr;
  Json list = Json::array();
  for (const uint64_t group : *groups) list.push_back(fmt::format("0x{:x}", group));
  return list;
}

Json json_of(const std::optional<Counts>& counts) {
  if (!counts) return nullptr;
  return *counts == Counts::lanes ? "lanes" : "words";
}

/// The description, as numbers.
Json json_of(const Description& d) {
  Json load = Json::object(), store = Json::object(), ldmatrix = Json::object(), stmatrix = Json::object();
  for (size_t i = 0; i < model::width_count; ++i) {
    load[std::to_string(1 << i)] = masks(d.load[i]);
    store[std::to_string(1 << i)] = masks(d.store[i]);
  }
  for (size_t i = 0; i < d.ldmatrix.size(); ++i) {
    ldmatrix[fmt::format("x{}", 1 << i)] = masks(d.ldmatrix[i]);
    stmatrix[fmt::format("x{}", 1 << i)] = masks(d.stmatrix[i]);
  }
  return Json{{"warp_lanes", d.lanes},
              {"banks", value_or_null(d.banks)},
              {"bank_bytes", value_or_null(d.bank_bytes)},
              {"segment_words", value_or_null(d.segment_words)},
              {"broadcast", d.broadcast ? Json(in_words(*d.broadcast)) : Json(nullptr)},
              {"subword_conflict", value_or_null(d.subword_conflict)},
              {"split_wide", value_or_null(d.split_wide)},
              {"extra_wide_wavefronts", value_or_null(d.extra_wide_wavefronts)},
              {"pair_rule", value_or_null(d.pair_rule)},
              {"load", std::move(load)},
              {"store", std::move(store)},
              {"atomic", json_of(d.atomic)},
              {"async_4", json_of(d.async[0])},
              {"async_8", json_of(d.async[1])},
              {"ldmatrix", std::move(ldmatrix)},
              {"stmatrix", std::move(stmatrix)},
              {"sector_bytes", value_or_null(d.sector_bytes)},
              {"line_bytes", value_or_null(d.line_bytes)}};
}

/// "31.586x9": equal neighbours taken together.
std::string text_of(const std::vector<double>& cycles) {
  std::vector<std::string> words;
  int count = 0;
  for (const double value : cycles) {
    const std::string word = fmt::format("{:.3f}", value);
    if (count != 0 && words.back() == word) {
      ++count;
      continue;
    }
    if (count > 1) words.back() += fmt::format("x{}", count);
    words.push_back(word);
    count = 1;
  }
  if (count > 1) words.back() += fmt::format("x{}", count);
  return fmt::format("{}", fmt::join(words, " "));
}

/// More cycles than any access takes.
constexpr double most_cycles = 1e9;

std::vector<double> cycles_from(const std::string& text) {
  std::vector<double> cycles;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const char* const end = word.data() + word.size();
    double value = 0;
    size_t count = 1;
    auto read = std::from_chars(word.data(), end, value);
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == 'x')
      read = std::from_chars(read.ptr + 1, end, count);
    if (read.ec != std::errc() || read.ptr != end || !(value >= 0 && value <= most_cycles) || count == 0 ||
        count > 1000)
      throw Error(fmt::format("'{}' are no cycles", text));
    cycles.insert(cycles.end(), count, value);
  }
  if (cycles.empty()) throw Error("a measurement without cycles");
  return cycles;
}

Access access_by_name(const std::string& name) {
  for (const Access& access : all_accesses())
    if (name_of(access) == name) return access;
  throw Error(fmt::format("'{}' is no access that the probe measures", name));
}

}  // namespace

std::string to_json(const Chip& chip, const Result& result) {
  Json parameters_found = Json::array();
  for (size_t i = 0; i < result.findings.size(); ++i) {
    const Finding& finding = result.findings[i];
    const std::string value = parameters()[i].value(result.description);
    parameters_found.push_back({{"name", finding.parameter},
                                {"value", value.empty() ? Json(nullptr) : Json(value)},
                                {"certainty", in_words(finding.certainty)},
                                {"margin", std::round(finding.margin * 1000) / 1000},
                                {"reason", finding.reason}});
  }
  Json scales = Json::array(), checks = Json::array();
  for (const Scale& scale : result.scales)
    scales.push_back({{"access", name_of(scale.access)},
                      {"first", fmt::format("{:.3f}", scale.first)},
                      {"more", fmt::format("{:.3f}", scale.more)}});
  for (const Check& check : result.checks)
    checks.push_back(
        {{"access", name_of(check.access)}, {"patterns", check.patterns}, {"agreeing", check.agreeing}});

  const Json head{{"schema", schema},
                  {"chip", {{"name", chip.name}, {"arch", chip.arch}, {"cuda", chip.cuda}}},
                  {"arch", json_of(result.description)},
                  {"parameters", std::move(parameters_found)},
                  {"scales", std::move(scales)},
                  {"checks", std::move(checks)}};
  // Measurements, and the places of those behind each parameter, in one line each.
  std::string text = head.dump(1);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n \"evidence\": {";
  for (size_t i = 0; i < result.findings.size(); ++i)
    text += fmt::format("{}\n  \"{}\": {}", i == 0 ? "" : ",", result.findings[i].parameter,
                        Json(result.findings[i].measurements).dump());
  text += "\n },\n \"measurements\": [";
  for (size_t i = 0; i < result.measurements.size(); ++i) {
    const Measurement& m = result.measurements[i];
    text += fmt::format("{}\n  [\"{}\", \"{}\", \"{}\"]", i == 0 ? "" : ",", name_of(m.access),
                        to_text(m.offsets), text_of(m.cycles));
  }
  return text + "\n ]\n}\n";
}

Record read_record(std::string_view text, const std::string& name) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema").get<int>() != schema)
      throw Error(fmt::format("schema {} is not known here", json.at("schema").dump()));
    Record record;
    const Json& chip = json.at("chip");
    record.chip = {chip.at("name").get<std::string>(), chip.at("arch").get<std::string>(),
                   chip.at("cuda").get<std::string>()};
    const Json& lanes = json.at("arch").at("warp_lanes");
    if (lanes != 32 && lanes != 64)
      throw Error(fmt::format("a warp has 32 or 64 lanes, not {}", lanes.dump()));
    record.lanes = lanes.get<int>();
    for (const Json& row : json.at("measurements"))
      record.measurements.push_back({access_by_name(row.at(0).get<std::string>()),
                                     offsets_from_text(row.at(1).get<std::string>()),
                                     cycles_from(row.at(2).get<std::string>())});
    return record;
  } catch (const Json::exception& error) {
    throw Error(SourcePlace{name}, fmt::format("no record of lanescope probe: {}", error.what()));
  } catch (const Error& error) {
    throw Error(SourcePlace{name}, fmt::format("no record of lanescope probe: {}", error.cause()));
  }
}

}  // namespace lanescope::probe
