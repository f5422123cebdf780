// See infer.hpp. Latencies become units: 1 is what one lane alone takes, and each further lane in the same
// bank adds one. Every decision compares units with what the possible answers would give, and keeps how clear
// it was.
#include "probe/infer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <initializer_list>
#include <random>
#include <utility>

#include "lanescope/model/shared.hpp"

namespace lanescope::probe {
namespace {

using model::Broadcast;
using model::Op;
using model::width_index;
using Space = Access::Space;

/// Strides that are tried for the distance at which the banks repeat, in bytes.
constexpr int most_stride = 768;

bool is_matrix(const Access& access) { return access.op == Op::ldmatrix || access.op == Op::stmatrix; }

Access load(int width) { return {Space::shared, Op::load, width, 1}; }
Access store(int width) { return {Space::shared, Op::store, width, 1}; }

template <class AddressOfLane>
Offsets offsets_of(int lanes, AddressOfLane&& address_of_lane) {
  Offsets offsets;
  for (int lane = 0; lane < lanes; ++lane) offsets.push_back(static_cast<uint32_t>(address_of_lane(lane)));
  return offsets;
}

Certainty certainty_of(double margin) {
  return margin >= 0.5 ? Certainty::sure : margin >= 0.2 ? Certainty::doubtful : Certainty::undecided;
}

/// What was measured for one parameter, and how clear its least clear decision was.
struct Trail {
  std::vector<size_t> measurements;
  double margin = 1;

  void add(const std::vector<size_t>& more) {
    measurements.insert(measurements.end(), more.begin(), more.end());
  }

  /// The place of the answer next to `value`. The answers are at least two.
  size_t decide(double value, std::initializer_list<double> answers) {
    const std::vector<double> all = answers;
    size_t best = 0;
    for (size_t i = 1; i < all.size(); ++i)
      if (std::fabs(value - all[i]) < std::fabs(value - all[best])) best = i;
    double gap = HUGE_VAL;
    for (size_t i = 0; i < all.size(); ++i)
      if (i != best) gap = std::min(gap, std::fabs(all[i] - all[best]));
    margin = std::min(margin, std::max(0.0, 1 - 2 * std::fabs(value - all[best]) / gap));
    return best;
  }
};

class Prober {
 public:
  explicit Prober(Timer& timer) : bench_(timer), lanes_(timer.lanes()) { found_.lanes = lanes_; }

  Result run() {
    find_period();
    if (period_ != 0) {
      find_width();
      find_broadcast();
      find_subword_conflict();
      for (int i = 0; i < model::width_count; ++i)
        find_phases(load(1 << i), fmt::format("load_{}", 1 << i), found_.load[static_cast<size_t>(i)]);
      find_unit();
      find_split();
      find_extra();
      for (int i = 0; i < model::width_count; ++i)
        find_phases(store(1 << i), fmt::format("store_{}", 1 << i), found_.store[static_cast<size_t>(i)]);
      find_pair_rule();
      find_counts({Space::shared, Op::atomic, 4, 1}, "atomic", found_.atomic);
      find_counts({Space::shared, Op::cp_async, 4, 1}, "async_4", found_.async[0]);
      find_counts({Space::shared, Op::cp_async, 8, 1}, "async_8", found_.async[1]);
      for (const int matrices : {1, 2, 4}) {
        const size_t at = matrices == 4 ? 2 : static_cast<size_t>(matrices - 1);
        find_phases({Space::shared, Op::ldmatrix, 16, matrices}, fmt::format("ldmatrix_{}", matrices),
                    found_.ldmatrix[at]);
        find_phases({Space::shared, Op::stmatrix, 16, matrices}, fmt::format("stmatrix_{}", matrices),
                    found_.stmatrix[at]);
      }
      check_description();
    }
    find_sector();
    Result result;
    result.description = found_;
    for (const Parameter& parameter : parameters()) {
      const auto known = std::find_if(findings_.begin(), findings_.end(), [&](const Finding& finding) {
        return finding.parameter == parameter.name;
      });
      result.findings.push_back(known != findings_.end()
                                    ? *known
                                    : Finding{parameter.name,
                                              Certainty::undecided,
                                              0,
                                              "needs the distance at which the banks repeat",
                                              {}});
    }
    result.scales.assign(scales_.begin(), scales_.end());
    result.checks = checks_;
    result.measurements = bench_.all();
    return result;
  }

 private:
  // --- what experiments are made of
  // --------------------------------------------------------------------------------

  double cycles(size_t place) const { return bench_.all()[place].median(); }

  /// Lanes whose addresses an access uses.
  int lanes_of(const Access& access) const { return is_matrix(access) ? 8 * access.matrices : lanes_; }

  /// `lanes` of the access in rows of their own of one bank. The others are away; of a matrix they share a
  /// row of another bank, and of atomics, whose latency depends on there being others, they have banks of
  /// their own.
  Offsets in_one_bank(const Access& access, int lanes) const {
    const int bank = found_.bank_bytes.value_or(4);
    const int banks = std::max(2, period_ / bank);
    return offsets_of(lanes_, [&](int lane) {
      if (lane < lanes) return static_cast<uint32_t>((lane + 1) * period_);
      if (access.op == Op::atomic) return static_cast<uint32_t>((1 + (lane - lanes) % (banks - 1)) * bank);
      return is_matrix(access) ? uint32_t{16} : inactive;
    });
  }

  /// The access that others are compared with. Not fewer lanes: loads of one or two wide items come out a
  /// little earlier than what they spare (docs/probe.md), and the first wavefronts of a copy do not show.
  static constexpr int reference_units = 4;
  Offsets reference(const Access& access) const { return in_one_bank(access, reference_units); }

  /// How latency grows with lanes that meet; nullptr when there is no such access.
  const Scale* scale_of(const Access& access) {
    for (const Scale& scale : scales_)
      if (scale.access == access) return &scale;
    std::vector<Offsets> patterns;
    for (int lanes = 1; lanes <= std::min(lanes_of(access), 16); ++lanes)
      patterns.push_back(in_one_bank(access, lanes));
    const std::vector<size_t> places = bench_.measure(access, patterns);
    if (places.empty()) return nullptr;
    std::vector<double> steps, spreads;
    for (size_t i = 0; i + 1 < places.size(); ++i) steps.push_back(cycles(places[i + 1]) - cycles(places[i]));
    for (const size_t place : places) spreads.push_back(bench_.all()[place].spread());
    std::sort(steps.begin(), steps.end());
    std::sort(spreads.begin(), spreads.end());
    Scale scale;
    scale.access = access;
    scale.more = steps[steps.size() / 2];
    scale.first = cycles(places[reference_units - 1]) - (reference_units - 1) * scale.more;
    scale.noise = scale.more > 0 ? spreads[spreads.size() / 2] / scale.more : HUGE_VAL;
    scales_.push_back(scale);
    scale_places_.push_back(places);
    return &scales_.back();
  }

  /// The units of patterns, from one batch with the reference in it. Only for accesses that have a scale.
  std::vector<double> units(const Access& access, std::vector<Offsets> patterns, Trail& trail) {
    const double more = scale_of(access)->more;
    patterns.push_back(reference(access));
    const std::vector<size_t> places = bench_.measure(access, patterns);
    trail.add(places);
    std::vector<double> result;
    for (size_t i = 0; i + 1 < places.size(); ++i)
      result.push_back(reference_units + (cycles(places[i]) - cycles(places.back())) / more);
    return result;
  }

  /// Adds a finding; `value` is taken over only when the trail is clear enough.
  template <class T>
  void conclude(const std::string& parameter, std::optional<T>& slot, T value, const Trail& trail,
                std::string reason) {
    const Certainty certainty = certainty_of(trail.margin);
    if (certainty != Certainty::undecided) slot = std::move(value);
    findings_.push_back({parameter, certainty, trail.margin, std::move(reason), trail.measurements});
  }

  void no_answer(const std::string& parameter, Certainty certainty, std::string reason,
                 const Trail& trail = {}) {
    findings_.push_back({parameter, certainty, 0, std::move(reason), trail.measurements});
  }

  /// Has this access a scale that units can be read from? If not, that is the finding.
  bool can_measure(const Access& access, const std::string& parameter) {
    const Scale* scale = scale_of(access);
    if (scale == nullptr) {
      no_answer(parameter, Certainty::absent, fmt::format("no {} on this chip", name_of(access)));
      return false;
    }
    if (scale->noise <= 0.25) return true;
    no_answer(parameter, Certainty::undecided,
              fmt::format("{}: a lane more in the same bank costs {:.2f} cycles, lost in noise of {:.2f}",
                          name_of(access), scale->more, scale->noise * scale->more));
    return false;
  }

  // --- the experiments
  // ---------------------------------------------------------------------------------------------

  /// The distance in bytes at which the banks repeat: the smallest stride at which all lanes meet.
  void find_period() {
    std::vector<Offsets> patterns;
    for (int stride = 4; stride <= most_stride; stride += 4)
      patterns.push_back(offsets_of(lanes_, [&](int lane) { return lane * stride; }));
    Trail trail;
    const std::vector<size_t> places = bench_.measure(load(4), patterns);
    if (places.empty()) {
      no_answer("banks", Certainty::undecided, fmt::format("no {} was measured", name_of(load(4))));
      return;
    }
    trail.add(places);
    double low = HUGE_VAL, high = 0;
    for (const size_t place : places) {
      low = std::min(low, cycles(place));
      high = std::max(high, cycles(place));
    }
    std::vector<double> spreads;
    for (const size_t place : places) spreads.push_back(bench_.all()[place].spread());
    std::sort(spreads.begin(), spreads.end());
    if (high == low || high - low < 8 * spreads[spreads.size() / 2] || high - low < 0.02 * high) {
      no_answer("banks", Certainty::undecided, "latency does not depend on the stride", trail);
      return;
    }
    // Strides at which lanes share two banks or more take at most half of what is added.
    double below = low;
    for (size_t i = 0; i < places.size() && period_ == 0; ++i) {
      const double share = (cycles(places[i]) - low) / (high - low);
      if (share > 0.75)
        period_ = static_cast<int>(4 * (i + 1));
      else
        below = std::max(below, cycles(places[i]));
    }
    for (size_t i = 0; i < places.size(); ++i) {
      const double share = (cycles(places[i]) - low) / (high - low);
      if (4 * (i + 1) % static_cast<size_t>(period_) == 0)
        trail.decide(share, {1, 0.5});
      else if (share > 0.5)
        trail.decide(share, {0.5, 1});
    }
    if (period_ % 16 != 0) {
      no_answer("banks", Certainty::undecided,
                fmt::format("all lanes meet at a stride of {} bytes already", period_), trail);
      period_ = 0;
      return;
    }
    period_trail_ = trail;
    period_reason_ =
        fmt::format("all {} lanes meet at a stride of {} bytes ({:.1f} cycles; {:.1f} at most below)", lanes_,
                    period_, cycles(places[static_cast<size_t>(period_ / 4 - 1)]), below);
  }

  /// Even lanes at one place of their row, odd ones `distance` bytes behind it: which distances are the same
  /// bank?
  void find_width() {
    Trail trail = period_trail_;
    if (!can_measure(load(1), "banks")) return;
    std::vector<int> distances = {1, 2};
    for (int distance = 4; distance < period_; distance += 4) distances.push_back(distance);
    std::vector<Offsets> patterns;
    for (const int distance : distances)
      patterns.push_back(
          offsets_of(lanes_, [&](int lane) { return lane * period_ + (lane % 2 == 1 ? distance : 0); }));
    const std::vector<double> measured = units(load(1), patterns, trail);
    int width = 0;
    std::vector<int> same;  // distances of whole banks that lead to the same bank
    double meeting = 0, apart = 0;
    for (size_t i = 0; i < distances.size(); ++i) {
      const bool is_same = trail.decide(measured[i], {static_cast<double>(lanes_), lanes_ / 2.0}) == 0;
      if (!is_same && width == 0) {
        width = distances[i];
        apart = measured[i];
      }
      if (is_same && width == 0) meeting = measured[i];
      if (is_same && width != 0 && distances[i] % width == 0) same.push_back(distances[i]);
    }
    if (width == 0) {
      no_answer("banks", Certainty::undecided, "every place of a row is the same bank", trail);
      return;
    }
    const int places = 1 + static_cast<int>(same.size());
    if ((width & (width - 1)) != 0 || period_ % (width * places) != 0) {
      no_answer("banks", Certainty::undecided,
                fmt::format("banks of {} bytes, {} to a row of {} bytes", width, places, period_), trail);
      return;
    }
    const std::string apart_reason = fmt::format(
        "lanes {} bytes apart in their rows are in different banks ({:.2f} units{})", width, apart,
        meeting > 0 ? fmt::format("; {:.2f} where nearer", meeting) : fmt::format(", {} if not", lanes_));
    conclude(
        "banks", found_.banks, period_ / width / places, trail,
        fmt::format("{}; {}", period_reason_,
                    places == 1 ? fmt::format("{} places of {} bytes, each a bank", period_ / width, width)
                                : fmt::format("{} places in each bank", places)));
    conclude("bank_bytes", found_.bank_bytes, width, trail, apart_reason);
    find_segment(same);
  }

  /// Where a bank has two places in a row: do both come out together?
  void find_segment(const std::vector<int>& same) {
    Trail trail;
    if (same.empty()) {
      trail = period_trail_;
      conclude("segment_words", found_.segment_words, 0, trail, "each bank has one word between repeats");
      return;
    }
    if (same.size() > 1) {
      no_answer("segment_words", Certainty::undecided, "a bank has three or more places between repeats");
      return;
    }
    if (!can_measure(load(4), "segment_words")) return;
    const std::vector<double> measured = units(
        load(4), {offsets_of(lanes_, [&](int lane) { return lane / 2 * period_ + lane % 2 * same.front(); })},
        trail);
    const bool together = trail.decide(measured[0], {lanes_ / 2.0, static_cast<double>(lanes_)}) == 0;
    if (!together)
      no_answer("segment_words", Certainty::undecided, "two words of a bank between repeats, which conflict",
                trail);
    else
      conclude(
          "segment_words", found_.segment_words, period_ / *found_.bank_bytes, trail,
          fmt::format("words {} bytes apart in one of {} bytes come out together ({:.2f} units, {} if not)",
                      same.front(), period_, measured[0], lanes_));
  }

  void find_broadcast() {
    const int bank = found_.bank_bytes.value_or(4);
    const Access access = load(std::min(4, bank));  // no lane needs two banks
    if (!can_measure(access, "broadcast")) return;
    Trail trail;
    const std::vector<double> measured =
        units(access,
              {offsets_of(lanes_, [](int) { return 0; }),
               offsets_of(lanes_, [&](int lane) { return lane % 4 * bank; })},
              trail);
    Broadcast broadcast = Broadcast::none;
    // Served together in at least 16 lanes: one word takes two units at most, or four of a warp of 64.
    if (trail.decide(measured[0], {lanes_ / 16.0, static_cast<double>(lanes_)}) == 0) {
      trail.margin = 1;  // of one word: the next question is the finer one
      // Several words one after the other take twice as long at least.
      const bool many =
          trail.decide(std::min(measured[1], 2 * measured[0]), {measured[0], 2 * measured[0]}) == 0;
      broadcast = many ? Broadcast::many_words : Broadcast::one_word;
    }
    conclude("broadcast", found_.broadcast, broadcast, trail,
             fmt::format("all lanes in one word: {:.2f} units; in four words of four banks: {:.2f}",
                         measured[0], measured[1]));
  }

  void find_subword_conflict() {
    if (found_.broadcast == Broadcast::none || found_.bank_bytes == 1) {
      found_.subword_conflict = false;
      no_answer("subword_conflict", Certainty::derived, "no two lanes share a word");
      return;
    }
    if (!can_measure(load(1), "subword_conflict")) return;
    Trail trail;
    const int bytes = std::min(4, found_.bank_bytes.value_or(4));
    const std::vector<double> measured = units(load(1),
                                               {offsets_of(lanes_, [](int) { return 0; }),
                                                offsets_of(lanes_, [&](int lane) { return lane % bytes; })},
                                               trail);
    const bool conflict = trail.decide(measured[1], {measured[0], bytes * measured[0]}) == 1;
    conclude("subword_conflict", found_.subword_conflict, conflict, trail,
             fmt::format("one byte for all lanes: {:.2f} units; {} bytes of one word: {:.2f}", measured[0],
                         bytes, measured[1]));
  }

  /// Two lanes that have rows of their own in one bank, while all others read one common word of another
  /// bank, add a unit if they are served together. Where words are not broadcast to all: two lanes alone in
  /// different banks take a unit more if they are not served together.
  void find_phases(const Access& access, const std::string& parameter, std::optional<Groups>& slot) {
    if (!can_measure(access, parameter)) return;
    const int column = std::max(access.width, found_.bank_bytes.value_or(4));
    if (2 * column > period_) {
      Groups alone;
      for (int lane = 0; lane < lanes_of(access); ++lane) alone.push_back(uint64_t{1} << lane);
      slot = alone;
      no_answer(parameter, Certainty::derived, "one lane takes more than half of all banks");
      return;
    }
    const bool crowd = is_matrix(access) || found_.broadcast == Broadcast::many_words;
    const auto pattern = [&](int one, int other) {
      return offsets_of(lanes_, [&](int lane) {
        if (lane == one) return static_cast<uint32_t>(period_);
        if (lane == other) return static_cast<uint32_t>(crowd ? 2 * period_ : period_ + column);
        return crowd ? static_cast<uint32_t>(column) : inactive;
      });
    };
    Trail trail;
    Groups groups;
    std::optional<double> together, apart;  // the units that a pair adds, farthest from the answer
    const auto keep_worst = [](std::optional<double>& worst, double added, double answer) {
      if (!worst || std::fabs(added - answer) > std::fabs(*worst - answer)) worst = added;
    };
    uint64_t left = model::detail::lane_range(0, lanes_of(access));
    while (left != 0) {
      const int first = model::detail::lowest_bit(left);
      std::vector<int> others;
      for (int lane = first + 1; lane < lanes_of(access); ++lane)
        if ((left >> lane & 1) != 0) others.push_back(lane);
      std::vector<Offsets> patterns = {pattern(first, first)};
      for (const int lane : others) patterns.push_back(pattern(first, lane));
      const std::vector<double> measured = units(access, patterns, trail);
      uint64_t group = uint64_t{1} << first;
      for (size_t i = 0; i < others.size(); ++i) {
        const double added = measured[i + 1] - measured[0];
        const bool adds = trail.decide(added, {0, 1}) == 1;
        if (adds == crowd) {
          group |= uint64_t{1} << others[i];
          keep_worst(together, added, adds);
        } else {
          keep_worst(apart, added, adds);
        }
      }
      groups.push_back(group);
      left &= ~group;
    }
    std::string reason = crowd ? "a second lane in one bank adds" : "a second lane in another bank adds";
    if (together) reason += fmt::format(" {:.2f} units when served with the first", *together);
    if (apart) reason += fmt::format("{} {:.2f} when not", together ? "," : "", *apart);
    conclude(parameter, slot, std::move(groups), trail, reason);
  }

  void find_unit() {
    no_answer("unit", found_.load[0] ? Certainty::derived : Certainty::undecided,
              "the largest phase of loads");
  }

  /// Is a wide access several of a bank's width, one after the other?
  void find_split() {
    const int bank = found_.bank_bytes.value_or(4);
    if (bank >= 16) {
      found_.split_wide = false;
      no_answer("split_wide", Certainty::derived, "no access is wider than a bank");
      return;
    }
    if (!can_measure(load(4), "split_wide") || !can_measure(load(16), "split_wide")) return;
    Trail trail;
    trail.add(scale_places(load(4)));
    trail.add(scale_places(load(16)));
    const double narrow = scale_of(load(4))->more;
    const double wide = scale_of(load(16))->more;
    const double parts = 16.0 / std::max(4, bank);
    const bool split = trail.decide(wide / narrow, {1, parts}) == 1;
    conclude(
        "split_wide", found_.split_wide, split, trail,
        fmt::format("one more lane in a bank costs {:.2f} cycles at 4 bytes, {:.2f} at 16", narrow, wide));
  }

  /// Does a phase of 16-byte loads cost more than what meets in it? Then the first lane of each phase adds
  /// more than the others do.
  void find_extra() {
    const std::optional<Groups>& groups = found_.load[width_index(16)];
    if (!can_measure(load(16), "extra_wide_wavefronts")) return;
    if (!groups || groups->size() < 2) {
      found_.extra_wide_wavefronts = 0;
      no_answer("extra_wide_wavefronts", Certainty::derived, "no second phase to be seen");
      return;
    }
    // The first lane of the second phase, alone and with the first lane of the first one; both in one bank.
    const int lane = model::detail::lowest_bit((*groups)[1]);
    const int same = model::detail::lowest_bit((*groups)[0] & ((*groups)[0] - 1));
    Trail trail;
    const auto two = [&](int other) {
      return offsets_of(lanes_, [&](int l) {
        return l == 0 ? uint32_t{0} : l == other ? static_cast<uint32_t>(period_) : inactive;
      });
    };
    if (same < 0 || (*groups)[0] == 1) {
      found_.extra_wide_wavefronts = 0;
      no_answer("extra_wide_wavefronts", Certainty::derived, "phases of one lane");
      return;
    }
    const std::vector<double> measured = units(load(16), {two(same), two(lane)}, trail);
    const double extra = measured[1] - measured[0];
    const size_t wavefronts = trail.decide(extra, {0, 1, 2, 3});
    conclude("extra_wide_wavefronts", found_.extra_wide_wavefronts, static_cast<int>(wavefronts), trail,
             fmt::format("two lanes in one bank take {:.2f} units more when they are of two phases", extra));
  }

  /// Lanes that read what their partner reads: do phases hold twice as many?
  void find_pair_rule() {
    Trail trail;
    std::string reason;
    int with_rule = 0, tried = 0, stores = 0;
    for (const int width : {8, 16}) {
      const Access access = load(width);
      const std::optional<Groups>& groups = found_.load[static_cast<size_t>(width_index(width))];
      if (!groups || groups->size() < 2 || static_cast<int>(groups->size()) * width > period_) continue;
      if (!can_measure(access, "pair_rule")) return;
      std::vector<Offsets> patterns;
      for (const int distance : {1, 2}) patterns.push_back(paired(*groups, width, distance));
      const std::vector<double> measured = units(access, patterns, trail);
      for (size_t i = 0; i < patterns.size(); ++i) {
        model::Arch arch = to_arch(found_);
        arch.pair_rule = false;
        const double without = expected_units(arch, access, patterns[i]);
        arch.pair_rule = true;
        const double with = expected_units(arch, access, patterns[i]);
        if (without - with < 1) continue;
        ++tried;
        with_rule += trail.decide(measured[i], {without, with}) == 1;
        reason += fmt::format("{}{} bytes, lane^{}: {:.2f} units ({:.0f} without the rule, {:.0f} with it)",
                              reason.empty() ? "" : "; ", width, i + 1, measured[i], without, with);
        if (i != 0 || !found_.store[static_cast<size_t>(width_index(width))]) continue;
        const double stored = units(store(width), {patterns[i]}, trail).front();
        const double plain = expected_units(arch, store(width), patterns[i]);
        stores += trail.decide(stored, {plain, plain / 2}) == 1;
        reason += fmt::format("; as a store: {:.2f} ({:.0f} without)", stored, plain);
      }
    }
    if (tried == 0) {
      found_.pair_rule = false;
      no_answer("pair_rule", Certainty::derived, "no phases of wide loads that it could join");
    } else if (stores != 0) {
      no_answer("pair_rule", Certainty::undecided, "holds for stores, too: " + reason, trail);
    } else if (with_rule != 0 && with_rule != tried) {
      no_answer("pair_rule", Certainty::undecided, "holds for some widths and partners only: " + reason,
                trail);
    } else {
      conclude("pair_rule", found_.pair_rule, with_rule == tried, trail, reason);
    }
  }

  /// Partners at `distance` have one address; each phase has a bank of its own, in which all its pairs meet.
  Offsets paired(const Groups& groups, int width, int distance) const {
    return offsets_of(lanes_, [&](int lane) {
      int column = 0;
      while ((groups[static_cast<size_t>(column)] >> lane & 1) == 0) ++column;
      const int pair = lane & ~distance;
      return pair * period_ + column * width;
    });
  }

  /// All lanes at one word: do they cost what as many lanes in different words cost?
  void find_counts(const Access& access, const std::string& parameter, std::optional<Counts>& slot) {
    if (!can_measure(access, parameter)) return;
    Trail trail;
    const std::vector<double> measured =
        units(access, {offsets_of(lanes_, [](int) { return 0; }), in_one_bank(access, lanes_)}, trail);
    const bool lanes = trail.decide(measured[0], {1, static_cast<double>(lanes_)}) == 1;
    conclude(parameter, slot, lanes ? Counts::lanes : Counts::words, trail,
             fmt::format("all lanes at one word: {:.2f} units; at as many words of its bank: {:.2f}",
                         measured[0], measured[1]));
  }

  /// Which bytes are near the processor once one was loaded?
  void find_sector() {
    const Access access{Space::global, Op::load, 1, 1};
    const auto pair = [](int first, int second) {
      return Offsets{static_cast<uint32_t>(first), static_cast<uint32_t>(second)};
    };
    const std::vector<int> sizes = {4, 8, 16, 32, 64, 128, 256, 512, 1024};
    std::vector<Offsets> patterns;
    for (const int size : sizes) patterns.push_back(pair(0, size));      // the next block's first byte …
    for (const int size : sizes) patterns.push_back(pair(0, size - 1));  // … and this block's last one
    for (const int size : sizes) patterns.push_back(pair(size - 1, 0));
    patterns.push_back(pair(0, 0));
    patterns.push_back(pair(0, 2048));
    Trail trail;
    const std::vector<size_t> places = bench_.measure(access, patterns);
    trail.add(places);
    if (places.empty()) {
      no_answer("sector_bytes", Certainty::absent, "no load of global memory");
      no_answer("line_bytes", Certainty::absent, "no load of global memory");
      return;
    }
    const double near = cycles(places[places.size() - 2]);
    const double far = cycles(places.back());
    if (far - near <= 0.1 * near) {
      no_answer(
          "sector_bytes", Certainty::undecided,
          fmt::format("a second load takes as long anywhere ({:.0f} and {:.0f} cycles): nothing is kept near "
                      "the processor",
                      near, far),
          trail);
      no_answer("line_bytes", Certainty::undecided, "needs the bytes that a load brings");
      return;
    }
    const auto share = [&](size_t place) { return (cycles(places[place]) - near) / (far - near); };
    const auto brought = [&](size_t place) {
      return trail.decide(std::clamp(share(place), 0.0, 1.0), {0, 1}) == 0;
    };
    size_t sector = 0;
    while (sector < sizes.size() && brought(sector)) ++sector;
    bool block = sector < sizes.size();
    for (size_t i = 0; block && i <= sector; ++i)
      block = brought(sizes.size() + i) && brought(2 * sizes.size() + i);
    if (!block) {
      no_answer("sector_bytes", Certainty::undecided, "what a load brings is no aligned block", trail);
      no_answer("line_bytes", Certainty::undecided, "needs the bytes that a load brings");
      return;
    }
    conclude("sector_bytes", found_.sector_bytes, sizes[sector], trail,
             fmt::format(
                 "after one load, a second one takes {:.0f} cycles in the same {} bytes, {:.0f} next to them",
                 near, sizes[sector], cycles(places[sector])));
    // A place in the same line that was not brought takes another time than one in another line.
    Trail line_trail;
    line_trail.add(places);
    const double same_line = share(sector);
    if (std::fabs(same_line - 1) < 0.1) {
      no_answer("line_bytes", Certainty::undecided,
                fmt::format("what was not brought takes {:.0f} cycles, near or far", far), line_trail);
      return;
    }
    size_t line = sector;
    while (line < sizes.size() && line_trail.decide(share(line), {same_line, 1}) == 0) ++line;
    if (line == sizes.size())
      no_answer("line_bytes", Certainty::undecided, "no line of up to 1024 bytes", line_trail);
    else
      conclude("line_bytes", found_.line_bytes, sizes[line], line_trail,
               fmt::format("what was not brought takes {:.0f} cycles in the same {} bytes, {:.0f} beyond",
                           cycles(places[sector]), sizes[line], cycles(places[line])));
  }

  // --- what the description predicts
  // -------------------------------------------------------------------------------

  double expected_units(const model::Arch& arch, const Access& access, const Offsets& offsets) const {
    const auto wavefronts = [&](const Offsets& pattern) {
      return static_cast<double>(model::shared_cost(arch, request_of(access, pattern)).wavefronts);
    };
    const double unit = wavefronts(in_one_bank(access, 3)) - wavefronts(in_one_bank(access, 2));
    return reference_units + (wavefronts(offsets) - wavefronts(reference(access))) / std::max(1.0, unit);
  }

  /// Patterns drawn at random, which played no part in finding the description. Not of copies, whose time is
  /// more than the banks'.
  void check_description() {
    std::minstd_rand random(7);  // the same ones on every chip
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const model::Arch arch = to_arch(found_);
    for (const Scale& scale : scales_) {
      const Access& access = scale.access;
      if (scale.noise > 0.25 || is_copy(access.op)) continue;
      std::vector<Offsets> patterns;
      for (int kind = 0; kind < 24; ++kind) {
        const int items = 32 << kind % 4;  // fewer items: more lanes meet in one word
        const int stride = 1 + below(24);
        const bool sparse = kind % 3 == 1 && access.op != Op::atomic && !is_matrix(access);
        patterns.push_back(offsets_of(lanes_, [&](int lane) {
          const int item = kind % 2 == 0 ? below(items) : lane * stride;
          return sparse && below(4) == 0 ? inactive : static_cast<uint32_t>(item * access.width);
        }));
      }
      Trail trail;
      const std::vector<double> measured = units(access, patterns, trail);
      Check check{access, static_cast<int>(patterns.size()), 0, 0};
      for (size_t i = 0; i < patterns.size(); ++i) {
        const double off = std::fabs(measured[i] - expected_units(arch, access, patterns[i]));
        check.agreeing += off < 0.5;
        check.worst = std::max(check.worst, off);
      }
      checks_.push_back(check);
    }
  }

  std::vector<size_t> scale_places(const Access& access) const {
    for (size_t i = 0; i < scales_.size(); ++i)
      if (scales_[i].access == access) return scale_places_[i];
    return {};
  }

  Bench bench_;
  int lanes_;
  Description found_;
  std::vector<Finding> findings_;
  std::deque<Scale> scales_;
  std::vector<std::vector<size_t>> scale_places_;  ///< by scale
  std::vector<Check> checks_;
  int period_ = 0;  ///< bytes between two words of the first bank that conflict; 0: not found
  Trail period_trail_;
  std::string period_reason_;
};

}  // namespace

Result probe(Timer& timer) { return Prober(timer).run(); }

}  // namespace lanescope::probe
