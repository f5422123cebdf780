// See description.hpp.
#include "probe/description.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope::probe {
namespace {

using model::Arch;
using model::detail::count_bits;
using model::detail::lane_range;
using model::detail::lowest_bit;

/// The lanes of each phase of a warp of `lanes`.
Groups groups_of(const model::Phases& phases, int lanes) {
  Groups groups;
  if (phases.lanes_each == 0) {
    for (int i = 0; i < phases.listed; ++i)
      if ((phases.list[i] & lane_range(0, lanes)) != 0)
        groups.push_back(phases.list[i] & lane_range(0, lanes));
  } else {
    for (int unit = 0; unit < lanes; unit += phases.unit)
      for (int begin = unit; begin < std::min(unit + phases.unit, lanes); begin += phases.lanes_each)
        groups.push_back(lane_range(begin, std::min({begin + phases.lanes_each, unit + phases.unit, lanes})));
  }
  std::sort(groups.begin(), groups.end(),
            [](uint64_t a, uint64_t b) { return lowest_bit(a) < lowest_bit(b); });
  return groups;
}

/// Are these the groups of `each` consecutive lanes?
bool consecutive(const Groups& groups, int each) {
  int begin = 0;
  for (const uint64_t group : groups) {
    const int end = begin + count_bits(group);
    if (group != lane_range(begin, end) || (end - begin != each && group != groups.back())) return false;
    begin = end;
  }
  return true;
}

model::Phases phases_of(const Groups& groups, int lanes) {
  model::Phases phases;
  // Consecutive lanes, where the last phase of a unit may be shorter.
  phases.lanes_each = count_bits(groups.front());
  phases.unit = lanes;
  int end = 0;
  for (const uint64_t group : groups) {
    end += count_bits(group);
    if (count_bits(group) >= phases.lanes_each) continue;
    phases.unit = end;
    break;
  }
  if (groups_of(phases, lanes) == groups) return phases;
  phases.lanes_each = 0;
  for (const uint64_t group : groups)
    if (phases.listed < static_cast<int>(std::size(phases.list))) phases.list[phases.listed++] = group;
  return phases;
}

std::string lanes_in_words(uint64_t lanes) {
  std::string text;
  while (lanes != 0) {
    const int begin = lowest_bit(lanes);
    int end = begin;
    while (end < model::max_lanes && (lanes >> end & 1) != 0) ++end;
    lanes &= ~lane_range(begin, end);
    text += text.empty() ? "" : " ";
    text += end - begin == 1 ? std::to_string(begin) : fmt::format("{}-{}", begin, end - 1);
  }
  return text;
}

std::string number(const std::optional<int>& value, const char* unit = "") {
  return value ? fmt::format("{}{}", *value, unit) : "";
}
std::string yes_or_no(const std::optional<bool>& value) { return !value ? "" : *value ? "yes" : "no"; }
std::string groups(const std::optional<Groups>& value) { return value ? in_words(*value) : ""; }
std::string counts(const std::optional<Counts>& value) {
  return !value ? "" : *value == Counts::lanes ? "lanes" : "words";
}

/// The most lanes that a load is served together.
std::string unit(const Description& d) {
  int most = 0;
  for (const std::optional<Groups>& groups : d.load)
    for (const uint64_t group : groups.value_or(Groups())) most = std::max(most, count_bits(group));
  return number(most == 0 ? std::nullopt : std::optional(most));
}

}  // namespace

std::string in_words(const Groups& groups) {
  if (groups.empty()) return "";
  const int each = count_bits(groups.front());
  if (consecutive(groups, each) && count_bits(groups.back()) == each) {
    if (groups.size() == 1) return fmt::format("all {} lanes", each);
    return each == 1 ? "each lane alone" : fmt::format("{} of {} lanes", groups.size(), each);
  }
  std::string text;
  for (const uint64_t group : groups) text += (text.empty() ? "" : ", ") + lanes_in_words(group);
  return text;
}

const char* in_words(model::Broadcast broadcast) {
  switch (broadcast) {
    case model::Broadcast::none: return "none";
    case model::Broadcast::one_word: return "one word";
    case model::Broadcast::many_words: return "many words";
  }
  return "";
}

Description describe(const Arch& arch) {
  Description d;
  d.lanes = arch.warp_lanes;
  d.banks = arch.banks;
  d.bank_bytes = arch.bank_bytes;
  d.segment_words = arch.segment_words;
  d.broadcast = arch.broadcast;
  for (int i = 0; i < model::width_count; ++i) {
    d.load[static_cast<size_t>(i)] = groups_of(arch.load[i], arch.warp_lanes);
    d.store[static_cast<size_t>(i)] = groups_of(arch.store[i], arch.warp_lanes);
  }
  d.pair_rule = arch.pair_rule;
  d.split_wide = arch.split_wide;
  d.subword_conflict = arch.subword_conflict;
  d.extra_wide_wavefronts = arch.extra_wide_wavefronts;
  // The rules that the model has for all chips (shared.hpp).
  d.atomic = Counts::lanes;
  d.async.fill(Counts::lanes);
  for (int i = 0; i < 3; ++i) {
    const int rows = 8 << i;
    d.ldmatrix[static_cast<size_t>(i)] = d.stmatrix[static_cast<size_t>(i)] =
        groups_of(model::detail::consecutive(8, rows, model::Evidence::assumed), rows);
  }
  if (arch.global == model::GlobalRule::sectors) d.sector_bytes = 32;
  if (arch.global == model::GlobalRule::lines) d.sector_bytes = 128;
  if (d.sector_bytes) d.line_bytes = 128;
  return d;
}

Arch to_arch(const Description& d) {
  Arch arch;
  arch.name = "probed";
  arch.description = "found by lanescope probe";
  arch.warp_lanes = d.lanes;
  arch.banks = d.banks.value_or(32);
  arch.bank_bytes = d.bank_bytes.value_or(4);
  model::detail::set_phases(arch, d.lanes, d.lanes, model::Evidence::assumed, model::Evidence::assumed,
                            model::Evidence::assumed);
  for (size_t i = 0; i < model::width_count; ++i) {
    if (d.load[i]) arch.load[i] = phases_of(*d.load[i], d.lanes);
    if (d.store[i]) arch.store[i] = phases_of(*d.store[i], d.lanes);
  }
  arch.broadcast = d.broadcast.value_or(model::Broadcast::many_words);
  arch.segment_words = d.segment_words.value_or(0);
  arch.split_wide = d.split_wide.value_or(false);
  arch.subword_conflict = d.subword_conflict.value_or(false);
  arch.extra_wide_wavefronts = d.extra_wide_wavefronts.value_or(0);
  arch.pair_rule = d.pair_rule.value_or(false);
  arch.global = d.sector_bytes == 128 ? model::GlobalRule::lines : model::GlobalRule::sectors;
  return arch;
}

const std::vector<Parameter>& parameters() {
  using D = const Description&;
  static const std::vector<Parameter> all = {
      // clang-format off
      {"banks",            "banks (n)",                               [](D d) { return number(d.banks); }},
      {"bank_bytes",       "bytes a bank delivers (m)",               [](D d) { return number(d.bank_bytes); }},
      {"unit",             "lanes served together (k)",               [](D d) { return unit(d); }},
      {"segment_words",    "words i, i+n come out together in",       [](D d) { return d.segment_words == 0 ? "no segment" : number(d.segment_words, " words"); }},
      {"broadcast",        "words broadcast at once",                 [](D d) { return std::string(d.broadcast ? in_words(*d.broadcast) : ""); }},
      {"subword_conflict", "bytes of one word conflict",              [](D d) { return yes_or_no(d.subword_conflict); }},
      {"load_1",           "phases of loads of 1 byte",               [](D d) { return groups(d.load[0]); }},
      {"load_2",           "phases of loads of 2 bytes",              [](D d) { return groups(d.load[1]); }},
      {"load_4",           "phases of loads of 4 bytes",              [](D d) { return groups(d.load[2]); }},
      {"load_8",           "phases of loads of 8 bytes",              [](D d) { return groups(d.load[3]); }},
      {"load_16",          "phases of loads of 16 bytes",             [](D d) { return groups(d.load[4]); }},
      {"split_wide",       "wide accesses are several of a bank",     [](D d) { return yes_or_no(d.split_wide); }},
      {"extra_wide_wavefronts", "extra wavefronts a phase of 16 bytes", [](D d) { return number(d.extra_wide_wavefronts); }},
      {"pair_rule",        "equal partners double wide phases",       [](D d) { return yes_or_no(d.pair_rule); }},
      {"store_1",          "phases of stores of 1 byte",              [](D d) { return groups(d.store[0]); }},
      {"store_2",          "phases of stores of 2 bytes",             [](D d) { return groups(d.store[1]); }},
      {"store_4",          "phases of stores of 4 bytes",             [](D d) { return groups(d.store[2]); }},
      {"store_8",          "phases of stores of 8 bytes",             [](D d) { return groups(d.store[3]); }},
      {"store_16",         "phases of stores of 16 bytes",            [](D d) { return groups(d.store[4]); }},
      {"atomic",           "atomics count",                           [](D d) { return counts(d.atomic); }},
      {"async_4",          "cp.async of 4 bytes counts",              [](D d) { return counts(d.async[0]); }},
      {"async_8",          "cp.async of 8 bytes counts",              [](D d) { return counts(d.async[1]); }},
      {"ldmatrix_1",       "phases of ldmatrix x1 rows",              [](D d) { return groups(d.ldmatrix[0]); }},
      {"ldmatrix_2",       "phases of ldmatrix x2 rows",              [](D d) { return groups(d.ldmatrix[1]); }},
      {"ldmatrix_4",       "phases of ldmatrix x4 rows",              [](D d) { return groups(d.ldmatrix[2]); }},
      {"stmatrix_1",       "phases of stmatrix x1 rows",              [](D d) { return groups(d.stmatrix[0]); }},
      {"stmatrix_2",       "phases of stmatrix x2 rows",              [](D d) { return groups(d.stmatrix[1]); }},
      {"stmatrix_4",       "phases of stmatrix x4 rows",              [](D d) { return groups(d.stmatrix[2]); }},
      {"sector_bytes",     "bytes a load of global memory brings",    [](D d) { return number(d.sector_bytes); }},
      {"line_bytes",       "bytes of a line of its cache",            [](D d) { return number(d.line_bytes); }},
      // clang-format on
  };
  return all;
}

}  // namespace lanescope::probe
