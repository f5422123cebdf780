// See measure.hpp.
#include "probe/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/median.hpp"

namespace lanescope::probe {
namespace {

/// The whole of `text` as a number.
uint32_t number_of(std::string_view text, const std::string& whole) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    throw Error(fmt::format("'{}' is no list of lane offsets", whole));
  return value;
}

}  // namespace

model::Request request_of(const Access& access, const Offsets& offsets) {
  model::Request request;
  request.op = access.op;
  request.width = access.width;
  request.matrices = access.matrices;
  request.lanes = static_cast<int>(offsets.size());
  for (size_t lane = 0; lane < offsets.size(); ++lane) {
    if (offsets[lane] == inactive) continue;
    request.mask |= uint64_t{1} << lane;
    request.address[static_cast<int>(lane)] = offsets[lane];
  }
  return request;
}

double Measurement::median() const { return median_of(cycles); }

double Measurement::spread() const {
  const double middle = median();
  std::vector<double> distances;
  for (const double value : cycles) distances.push_back(std::fabs(value - middle));
  return median_of(std::move(distances));
}

std::vector<size_t> Bench::measure(const Access& access, std::span<const Offsets> patterns) {
  std::vector<std::vector<double>> cycles = timer_.cycles(access, patterns);
  std::vector<size_t> places;
  for (size_t i = 0; i < cycles.size(); ++i) {
    places.push_back(measured_.size());
    measured_.push_back({access, patterns[i], std::move(cycles[i])});
  }
  return places;
}

Recorded::Recorded(int lanes, std::vector<Measurement> measurements)
    : lanes_(lanes), measurements_(std::move(measurements)) {}

std::vector<std::vector<double>> Recorded::cycles(const Access& access, std::span<const Offsets> patterns) {
  const auto of_access = [&](const Measurement& m) { return m.access == access; };
  if (std::none_of(measurements_.begin(), measurements_.end(), of_access)) return {};
  std::vector<std::vector<double>> result;
  for (const Offsets& offsets : patterns) {
    const auto found = std::find_if(measurements_.begin(), measurements_.end(), [&](const Measurement& m) {
      return of_access(m) && m.offsets == offsets;
    });
    if (found == measurements_.end())
      throw Error(fmt::format("the record has no {} of the lanes {}", name_of(access), to_text(offsets)));
    result.push_back(found->cycles);
  }
  return result;
}

std::string to_text(const Offsets& offsets) {
  std::string text;
  for (size_t i = 0; i < offsets.size();) {
    const bool here = offsets[i] != inactive;
    const uint32_t step =
        i + 1 < offsets.size() && here && offsets[i + 1] != inactive && offsets[i + 1] > offsets[i]
            ? offsets[i + 1] - offsets[i]
            : 0;
    size_t end = i + 1;
    while (end < offsets.size() && offsets[end] == offsets[end - 1] + step &&
           (offsets[end] != inactive) == here)
      ++end;
    if (step != 0 && end - i < 3) end = i + 1;  // shorter as single numbers
    text += text.empty() ? "" : " ";
    text += here ? std::to_string(offsets[i]) : "-";
    if (end - i > 1 && step != 0) text += fmt::format("+{}", step);
    if (end - i > 1) text += fmt::format("x{}", end - i);
    i = end;
  }
  return text;
}

Offsets offsets_from_text(const std::string& text) {
  Offsets offsets;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t times = word.find('x');
    const uint32_t count =
        times == std::string::npos ? 1 : number_of(std::string_view(word).substr(times + 1), text);
    const std::string_view run = std::string_view(word).substr(0, times);
    const size_t plus = run.find('+');
    const uint32_t step = plus == std::string_view::npos ? 0 : number_of(run.substr(plus + 1), text);
    if (count == 0 || count > model::max_lanes - offsets.size())
      throw Error(fmt::format("'{}' are not the offsets of a warp's lanes", text));
    const uint32_t first = run == "-" ? inactive : number_of(run.substr(0, plus), text);
    for (uint32_t i = 0; i < count; ++i) offsets.push_back(first + i * step);
  }
  return offsets;
}

}  // namespace lanescope::probe
