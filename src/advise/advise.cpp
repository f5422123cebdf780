// See advise.hpp. One variable of shared memory at a time: its recorded accesses, its shape from the
// declaration or from the addresses, and then what layouts and what other ways of going through it would
// cost.
#include "advise/advise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "advise/across_rows.hpp"
#include "advise/array.hpp"
#include "advise/copies.hpp"
#include "advise/division.hpp"
#include "advise/from_data.hpp"
#include "advise/index_padding.hpp"
#include "advise/occupancy.hpp"
#include "advise/python.hpp"
#include "advise/rewrite.hpp"
#include "advise/traversal.hpp"
#include "advise/words.hpp"
#include "profile/cost.hpp"

namespace lanescope::advise {

using profile::NamedPlace;

namespace {

/// Price of the occupancy that an array with so many bytes leaves. Half as many blocks on a multiprocessor
/// have to bring a quarter of the wavefronts; what cannot be is worth nothing.
double price_of_occupancy(const Launch& launch, const Array& array, uint32_t bytes) {
  if (!knows_occupancy(launch) || bytes <= array.shape.bytes) return 0;
  const uint32_t more = bytes - array.shape.bytes;
  const int before = occupancy_of(launch, launch.shared_bytes).blocks,
            after = occupancy_of(launch, launch.shared_bytes + more).blocks;
  if (before == 0) return 0;  // the chip cannot run it at all, whatever the layout
  if (after == 0 || (!array.variable->dynamic && launch.kernel.static_shared + more > most_unasked(launch)))
    return std::numeric_limits<double>::infinity();
  return (1 - static_cast<double>(after) / before) / 2;
}

/// The same of copies: other arrays of counters may get as many.
double price_of_copies(const Launch& launch, const Array& array, uint32_t bytes) {
  return price_of_occupancy(launch, array, array.shape.bytes + array.counters * (bytes - array.shape.bytes));
}

/// The same beside what the memory has to bring.
double price_of(const Launch& launch, const Array& array, uint32_t bytes) {
  return price_of_memory(array.shape, bytes) + price_of_occupancy(launch, array, bytes);
}

/// Fills in what all kinds of advice have in common.
Advice make_advice(const Launch& launch, const Array& array, uint64_t wavefronts_after,
                   uint32_t bytes_after) {
  Advice advice;
  advice.variable = array.variable->name;
  advice.shape = array.shape;
  advice.file = array.place.file;
  advice.line = array.place.line;
  advice.wavefronts_before = array.wavefronts;
  advice.wavefronts_after = wavefronts_after;
  advice.launch_wavefronts = 0;
  for (const profile::SiteCounters& site : launch.profile.sites)
    if (site.space == exec::AccessSpace::shared) advice.launch_wavefronts += site.counters.wavefronts;
  advice.shared_bytes_before = launch.shared_bytes;
  advice.shared_bytes_after = launch.shared_bytes + bytes_after - array.shape.bytes;
  advice.occupancy_known = knows_occupancy(launch);
  advice.occupancy_before = occupancy_of(launch, advice.shared_bytes_before);
  advice.occupancy_after = occupancy_of(launch, advice.shared_bytes_after);
  advice.registers_known = launch.registers != 0;
  advice.estimate = array.now.estimate || !array.exact;
  advice.declaration = array.declaration;
  advice.pitch_from = array.pitch_from;
  return advice;
}

/// Adds to the change of a part that grows what leaves room for it.
void make_room(const Launch& launch, const Array& array, uint32_t bytes, Sources& sources,
               std::variant<Rewrite, Unclear>& rewritten) {
  auto* change = std::get_if<Rewrite>(&rewritten);
  if (change == nullptr) return;
  const auto room = Division(launch.kernel, sources).room_behind(*array.variable, bytes, launch.config);
  if (const auto* why = std::get_if<Unclear>(&room)) {
    rewritten = *why;
    return;
  }
  const auto& edits = std::get<std::vector<Edit>>(room);
  change->edits.insert(change->edits.end(), edits.begin(), edits.end());
}

/// The accesses that layouts are fitted to. Where accesses conflict that go where the kernel itself sends
/// them, those that go where data does have no say. Else layouts are fitted to some of these, and have to be
/// good for the others as well: of random data any layout can be made to look a little better.
struct Fit {
  std::vector<Pattern> to, held_out;
  bool to_data = false;
};

Fit fit_of(const Array& array) {
  Fit fit;
  std::vector<Pattern> from_data;
  bool conflicts = false;
  for (size_t i = 0; i < array.patterns.size(); ++i) {
    const bool by_data = array.is_from_data(array.patterns[i]);
    (by_data ? from_data : fit.to).push_back(array.patterns[i]);
    conflicts = conflicts || (!by_data && !array.costs[i].conflict_free());
  }
  if (conflicts) return fit;
  fit.to_data = true;
  constexpr size_t most = 128;
  const size_t step = std::max<size_t>(2, from_data.size() / most);
  for (size_t i = 0; i < from_data.size(); ++i)
    (i % step == 0 ? fit.to : fit.held_out).push_back(from_data[i]);
  return fit;
}

/// Whether a layout takes away at least a quarter of the conflicts that it was fitted to take away: a little
/// less can always be had of accesses that have no order, where it was found by chance.
bool brings_enough(const Outcome& now, const Outcome& then) {
  return 4 * then.wavefronts <= 3 * now.wavefronts + now.ideal;
}

/// Whether a layout takes away at least half of the conflicts of accesses that it was not fitted to.
bool holds_for_others(const model::Arch& arch, const Shape& shape, const Fit& fit, const Layout& layout) {
  if (!fit.to_data) return true;
  const auto now = what_if(arch, shape, fit.held_out, {}), then = what_if(arch, shape, fit.held_out, layout);
  return now && then && !now->conflict_free() && 2 * then->wavefronts <= now->wavefronts + now->ideal;
}

/// Whether what the accesses save that have a say, and all together do, is a quarter of all conflicts or a
/// twentieth of the launch's wavefronts: else it is decided by those that have none, by chance. `saved`: by
/// the former, of what was recorded.
bool brings_enough_to_all(const Array& array, uint64_t saved, const Advice& advice) {
  uint64_t recorded = 0, conflicts = 0;
  for (const Outcome& cost : array.costs) {
    recorded += cost.wavefronts;
    conflicts += cost.wavefronts - cost.ideal;
  }
  const double of_launch = static_cast<double>(array.wavefronts) / static_cast<double>(recorded);
  const double by_all =
      static_cast<double>(advice.wavefronts_before) - static_cast<double>(advice.wavefronts_after);
  const double sure = std::min(static_cast<double>(saved) * of_launch, by_all);
  return 4 * sure >= static_cast<double>(conflicts) * of_launch ||
         20 * sure >= static_cast<double>(advice.launch_wavefronts);
}

/// A layout and the rows that it is of.
struct Choice {
  Candidate candidate;
  Shape shape;
};

/// The lines of the array's file whose accesses go to other rows than the first one of the array, or of a
/// plane; those of wmma go by a pitch. (nvcc tells the column of a line's first statement alone.)
std::set<uint32_t> lines_past_first_row(const Launch& launch, const Array& array) {
  std::set<uint32_t> lines;
  const uint32_t plane = array.shape.plane_bytes != 0 ? array.shape.plane_bytes : array.shape.bytes;
  for (const Pattern& pattern : array.patterns) {
    const NamedPlace place = place_of(launch, pattern.site);
    if (place.file != array.file || is_of_wmma(launch, pattern.site)) continue;
    for (uint32_t left = pattern.mask; left != 0; left &= left - 1)
      if (pattern.offset[static_cast<size_t>(std::countr_zero(left))] % plane >= array.shape.row_bytes)
        lines.insert(place.line);
  }
  return lines;
}

/// Changes the subscripts that run over rows along with a layout that parts these, or says that they have to
/// be: in words.
std::string change_subscripts(const Launch& launch, const Array& array, std::string_view text,
                              const Layout& layout, std::variant<Rewrite, Unclear>& rewritten) {
  if (!array.shape.has_rows || !array.declaration || is_python(array.file)) return "";
  const AcrossRows runs = across_rows(text, *array.declaration, lines_past_first_row(launch, array));
  if (runs.what.empty()) return "";
  auto* change = std::get_if<Rewrite>(&rewritten);
  const bool keeps_order =
      std::holds_alternative<RowPadding>(layout) || std::holds_alternative<Swizzle>(layout);
  if (change != nullptr && (!keeps_order || !runs.obstacle.empty()))
    rewritten = Unclear{runs.obstacle.empty() ? "a subscript runs over its rows" : runs.obstacle};
  else if (change != nullptr)
    change->edits.insert(change->edits.end(), runs.edits.begin(), runs.edits.end());
  return keeps_order ? "; " + runs.what : "";
}

/// Which files change along with that of the declaration: others may include them, too.
std::string changed_along(const Patch& patch) {
  std::string words;
  for (const Patch& other : patch.along)
    words += fmt::format("; {} changes along, for all that include it",
                         std::filesystem::path(other.file).filename().string());
  return words;
}

/// What to say of a layout; nothing where what was recorded does not tell what it costs.
std::optional<Advice> advice_of(const Launch& launch, const Array& array, Sources& sources, const Fit& fit,
                                const Choice& choice) {
  const Candidate& candidate = choice.candidate;
  const Shape& shape = choice.shape;
  bool exact = array.exact;
  const auto outcome = whole_launch(launch.arch, array, shape, candidate.layout, exact);
  if (!outcome) return std::nullopt;
  Advice advice = make_advice(launch, array, outcome->wavefronts, outcome->bytes);
  const Unit& unit = sources.unit(array.file);
  std::variant<Rewrite, Unclear> rewritten = Unclear{array.no_declaration};
  if (array.async)
    rewritten = Unclear{"bulk copies or wgmma go through it by rules of their own"};
  else if (array.declaration && is_python(array.file))
    rewritten = rewrite_python(unit.text, *array.declaration, shape, candidate.layout);
  else if (array.declaration)
    rewritten = rewrite(unit.text, *array.declaration, shape, candidate.layout);
  if (array.declaration && array.declaration->part && outcome->bytes > array.shape.bytes)
    make_room(launch, array, outcome->bytes - array.shape.bytes, sources, rewritten);
  const std::string subscripts = change_subscripts(launch, array, unit.text, candidate.layout, rewritten);
  if (auto* change = std::get_if<Rewrite>(&rewritten)) {
    advice.patch = unit.patch_of(change->edits);
    advice.patch_uses_tiles = change->uses_tiles;
  } else {
    advice.no_patch = std::get<Unclear>(rewritten).reason;
  }
  advice.layout = candidate.layout;
  // Lines are those of the declaration's file; the advice is at one that may be of another file.
  if (array.file != advice.file)
    for (std::string* words : {&advice.no_patch, &advice.pitch_from})
      if (words->find("line ") != std::string::npos)
        *words += fmt::format(" (in {})", std::filesystem::path(array.file).filename().string());
  if (!array.shape.has_rows && array.no_declaration.empty() && shape.row_bytes != bank_row_of(launch.arch))
    advice.pitch_from = "the recorded addresses";
  if (std::holds_alternative<StructOfArrays>(candidate.layout) ||
      std::holds_alternative<ElementPadding>(candidate.layout))
    advice.pitch_from.clear();
  if (array.variable->dynamic && !array.variable->array.empty() &&
      std::holds_alternative<Swizzle>(candidate.layout))
    advice.size_multiple = shape.row_bytes;
  const auto* made = std::get_if<Rewrite>(&rewritten);
  // In the change, which is all that annotations and `fix` say.
  advice.change =
      change_of(array, shape, candidate.layout, rewritten) + subscripts +
      (fit.to_data ? "; it fits the data of this run, and with other data it may save less" : "") +
      unused_rows(array, candidate.layout) +
      (made != nullptr && !made->condition.empty() ? "; " + made->condition : "") +
      (advice.patch ? changed_along(*advice.patch) : "") +
      along_with(launch, array, outcome->bytes - array.shape.bytes, advice.size_multiple);
  advice.reason = reason_of(array, fit.to_data);
  advice.proven_best =
      candidate.proven_best && (fit.to.size() == array.patterns.size() || outcome->conflict_free());
  advice.estimate = advice.estimate || !exact;
  return advice;
}

/// Advice::paddings of an array whose declared rows are padded by that choice.
std::vector<Advice> paddings_of(const Launch& launch, const Array& array, Sources& sources, const Fit& fit,
                                const Choice& choice) {
  std::vector<Advice> paddings;
  if (!std::holds_alternative<RowPadding>(choice.candidate.layout) || !choice.shape.has_rows ||
      array.declaration->part || ptx::demangle(launch.kernel.name).find('<') == std::string::npos)
    return paddings;
  constexpr uint32_t most = 32;
  for (uint32_t elements = 1; elements <= most; ++elements) {
    const uint32_t bytes = elements * array.declaration->element_bytes;
    Choice other = choice;
    other.candidate.layout = RowPadding{bytes / word_bytes, bytes % word_bytes};
    other.candidate.proven_best =
        other.candidate.layout == choice.candidate.layout && choice.candidate.proven_best;
    if (auto advice = advice_of(launch, array, sources, fit, other); advice && advice->patch)
      paddings.push_back(std::move(*advice));
  }
  return paddings;
}

void advise_layouts(const Launch& launch, const Array& array, Sources& sources, std::vector<Advice>& found) {
  const bool have_rows = array.declaration && array.declaration->extents.size() >= 2;
  const Fit fit = fit_of(array);
  const auto now = what_if(launch.arch, array.shape, fit.to, {});
  const Price price = [&](uint32_t bytes) { return price_of(launch, array, bytes); };
  const auto total = [&](const Candidate& c) {
    return static_cast<double>(c.outcome.wavefronts) +
           price(c.outcome.bytes) * static_cast<double>(now->wavefronts);
  };
  std::map<size_t, Choice> best;  // by kind of layout
  for (const Shape& shape : array.shapes) {
    // What is computed from an index changes more than a declaration.
    const bool cured = std::any_of(best.begin(), best.end(), [](const auto& known) {
      return known.second.candidate.outcome.conflict_free();
    });
    if (cured && have_rows && !shape.has_rows) continue;
    for (const Candidate& candidate : search(launch.arch, shape, fit.to, price)) {
      if (std::holds_alternative<Transposed>(candidate.layout) && !(have_rows && shape.has_rows)) continue;
      const auto* swizzle = std::get_if<Swizzle>(&candidate.layout);
      if (swizzle != nullptr && swizzle->dropped != 0 && !array.knows_all_accesses()) continue;
      if (!brings_enough(*now, candidate.outcome)) continue;
      if (!holds_for_others(launch.arch, shape, fit, candidate.layout)) continue;
      const auto [known, is_new] = best.try_emplace(candidate.layout.index(), Choice{candidate, shape});
      if (!is_new && total(candidate) < total(known->second.candidate)) known->second = {candidate, shape};
    }
  }
  const auto first = static_cast<std::ptrdiff_t>(found.size());
  for (const auto& [kind, choice] : best) {
    std::optional<Advice> advice = advice_of(launch, array, sources, fit, choice);
    if (!advice) continue;
    const uint64_t saved = now->wavefronts - choice.candidate.outcome.wavefronts;
    if (!fit.to_data && !brings_enough_to_all(array, saved, *advice)) continue;
    if (advice->patch) advice->paddings = paddings_of(launch, array, sources, fit, choice);
    found.push_back(std::move(*advice));
  }
  // Of layouts that bring as much, those that `lanescope fix` can make.
  std::stable_partition(found.begin() + first, found.end(),
                        [](const Advice& a) { return a.patch.has_value(); });
}

/// Advice other than a layout.
Advice make_way(const Launch& launch, const Array& array, Advice::Kind kind, uint64_t wavefronts_after,
                std::string change, std::string reason) {
  Advice advice = make_advice(launch, array, wavefronts_after, array.shape.bytes);
  advice.kind = kind;
  advice.change = std::move(change);
  advice.reason = std::move(reason);
  advice.proven_best = true;
  advice.no_patch = "it changes more than the layout of an array";
  return advice;
}

/// A histogram's counters, one for each lane of a warp, or for few.
Advice make_copies(const Launch& launch, const Array& array, const Copies& copies) {
  const uint32_t meet = exec::warp_lanes / copies.count;
  const std::string& name = array.variable->name;
  Advice advice = make_way(
      launch, array, Advice::Kind::copies, copies.wavefronts,
      fmt::format(
          "keep {0} copies of {1} for the lanes of a warp, {1}[i * {0} + lane % {0}] in place of "
          "{1}[i], and combine them at the end: {2}. Let each thread that combines begin with another "
          "copy, threadIdx.x % {0}",
          copies.count, name,
          meet == 1 ? "no two lanes meet in a bank then, whatever the data"
                    : fmt::format("no more than {} lanes meet in a bank then, whatever the data", meet)),
      reason_of(array, true));
  advice.shared_bytes_after = launch.shared_bytes + copies.bytes - array.shape.bytes;
  advice.occupancy_after = occupancy_of(launch, advice.shared_bytes_after);
  advice.proven_best = meet == 1;
  advice.estimate = advice.estimate || !copies.exact;
  return advice;
}

/// Another padding of an array that has one already; nothing where the source shows none.
std::optional<Advice> make_index_padding(const Launch& launch, const Array& array,
                                         const IndexPadding& padding, Sources& sources) {
  Advice advice = make_way(
      launch, array, Advice::Kind::index_padding, padding.wavefronts,
      fmt::format(
          "leave 1 element free after every {} of {}, not after every {}: its index has a padding for "
          "{} banks, and there are {}",
          padding.better, array.variable->name, padding.every,
          launch.arch.banks * static_cast<int>(padding.every) / static_cast<int>(padding.better),
          launch.arch.banks),
      reason_of(array, false));
  advice.proven_best = false;
  advice.estimate = advice.estimate || !padding.exact;
  const Unit& unit = sources.unit(array.file);
  if (unit.text.empty() || is_python(array.file)) {
    advice.no_patch = "its source is not known";
    return advice;
  }
  auto edits = change_index_padding(unit.text, padding);
  if (!edits) return std::nullopt;
  if (edits->size() == 1)
    advice.patch = unit.patch_of(*edits);
  else
    advice.no_patch = edits->empty()
                          ? fmt::format("no division by {} is found that computes it", padding.every)
                          : fmt::format("which division by {} computes it is not clear", padding.every);
  return advice;
}

/// Moves what is worth it to `all`, best first. At least one of the launch's wavefronts in a hundred: less is
/// no reason to touch a program. At least half of what the best one saves: else that is the one to take.
void keep_best(const Launch& launch, const Array& array, std::vector<Advice>& found,
               std::vector<Advice>& all) {
  const auto total = [&](const Advice& a) {
    const uint32_t bytes = array.shape.bytes + a.shared_bytes_after - a.shared_bytes_before;
    // Copies are many times the array, which is small: what counts is what they leave to others.
    const double price = a.kind == Advice::Kind::copies ? price_of_copies(launch, array, bytes)
                                                        : price_of(launch, array, bytes);
    return static_cast<double>(a.wavefronts_after) + price * static_cast<double>(a.wavefronts_before);
  };
  std::erase_if(found, [&](const Advice& a) {
    return a.wavefronts_after + (a.launch_wavefronts + 99) / 100 > a.wavefronts_before ||
           total(a) >= static_cast<double>(a.wavefronts_before);
  });
  std::stable_sort(found.begin(), found.end(),
                   [&](const Advice& a, const Advice& b) { return total(a) < total(b); });
  const auto saved = [](const Advice& a) { return a.wavefronts_before - a.wavefronts_after; };
  std::erase_if(found, [&, most = found.empty() ? 0 : saved(found.front())](const Advice& a) {
    return 2 * saved(a) < most;
  });
  all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

void advise_one(const Launch& launch, const Array& array, Sources& sources, std::vector<Advice>& all) {
  std::vector<Advice> found;
  const std::string& name = array.variable->name;
  const bool has_rows = array.declaration && array.declaration->extents.size() >= 2;
  if (array.is_shared_with_hardware()) {
    // Which thread takes which elements is not all that decides what is asked for.
    if (!array.now.conflict_free()) advise_layouts(launch, array, sources, found);
    return keep_best(launch, array, found, all);
  }
  if (const auto steps = last_steps_of(array); steps && steps->wavefronts < array.now.wavefronts) {
    Advice advice = make_way(
        launch, array, Advice::Kind::shuffles,
        array.wavefronts - std::min(steps->wavefronts, array.wavefronts),
        fmt::format(
            "let the last warp combine its 32 values in registers (__shfl_down_sync) in place of the last "
            "5 steps through {}",
            name),
        "the lanes of one warp hand each other values that they could read from each other's registers");
    const NamedPlace place = place_of(launch, steps->site);
    advice.file = place.file;
    advice.line = place.line;
    found.push_back(std::move(advice));
  }
  if (!array.now.conflict_free()) {
    if (is_reduction(launch, array))
      found.push_back(make_way(
          launch, array, Advice::Kind::sequential_addressing, array.now.ideal,
          fmt::format("let thread t combine elements t and t + s of {}, s halving from step to step "
                      "(sequential addressing)",
                      name),
          "active lanes stand at strides that double from step to step, so that ever more of them share a "
          "bank; floating-point sums are added in another order then"));
    else if (const uint32_t elements = consecutive_elements(launch, array); elements != 0 && !has_rows)
      found.push_back(make_way(
          launch, array, Advice::Kind::strided_elements, array.now.ideal,
          fmt::format(
              "keep element k of thread t at {0}[k * threads + t] in place of {0}[t * {1} + k], or let "
              "threads take elements t, t + threads, …, if it does not matter which ones they have",
              name, elements),
          fmt::format("every thread works on {} neighbouring elements, so that lanes stand {} bytes apart",
                      elements, elements * array.shape.element_bytes)));
    if (const auto copies = copies_for_lanes(
            launch, array, [&](uint32_t bytes) { return price_of_copies(launch, array, bytes); });
        copies && 4 * copies->wavefronts <= 3 * array.wavefronts + array.now.ideal)
      found.push_back(make_copies(launch, array, *copies));
    if (const auto padding = index_padding_of(launch, array);
        padding && 4 * padding->wavefronts <= 3 * array.wavefronts + array.now.ideal)
      if (auto advice = make_index_padding(launch, array, *padding, sources))
        found.push_back(std::move(*advice));
    advise_layouts(launch, array, sources, found);
    // After layouts that bring as much, for it changes what threads do. Where a block's sides differ,
    // subscripts with exchanged threads lead elsewhere.
    bool exact = array.exact;
    if (has_rows && launch.config.block.x == launch.config.block.y && only_columns(array))
      if (const auto rows = whole_launch(launch.arch, array, array.shape, Transposed{}, exact))
        found.push_back(make_way(
            launch, array, Advice::Kind::lane_mapping, rows->wavefronts,
            fmt::format("let neighbouring threads take neighbouring columns of {}: exchange what threadIdx.x "
                        "and threadIdx.y stand for in its subscripts",
                        name),
            fmt::format("lanes only ever go down columns of {}, {} bytes apart; where threads read what "
                        "others wrote, they have to be exchanged for global memory as well",
                        name, array.shape.row_bytes)));
  }
  keep_best(launch, array, found, all);
}

}  // namespace

const char* name_of(model::Limiter limiter) {
  switch (limiter) {
    case model::Limiter::threads: return "threads";
    case model::Limiter::blocks: return "blocks";
    case model::Limiter::shared: return "shared memory";
    case model::Limiter::registers: return "registers";
    case model::Limiter::none: break;
  }
  return "nothing";
}

std::vector<Advice> advise(const Launch& launch, Sources& sources) {
  const std::vector<exec::SharedVariable>& shared = exec::shared_variables(launch.kernel, launch.config);
  std::map<uint32_t, Array> arrays;
  for (const profile::RecordedAccess& access : launch.profile.recording.accesses) {
    if (access.variable >= shared.size()) continue;
    Array& array = arrays[access.variable];
    array.variable = &shared[access.variable];
    Pattern pattern;
    pattern.op = profile::op_of(access.kind);
    pattern.width = access.width;
    pattern.mask = access.mask;
    pattern.count = access.count;
    pattern.site = access.site;
    if (const uint8_t written = launch.kernel.accesses[access.site].width; written < access.width)
      pattern.part = written;
    for (size_t lane = 0; lane < 32; ++lane)
      if ((access.mask >> lane & 1) != 0)
        pattern.offset[lane] = access.address[lane] - array.variable->offset;
    array.patterns.push_back(pattern);
  }
  std::vector<Advice> all;
  std::vector<bool> from_data;
  for (auto& [index, array] : arrays) {
    const exec::SharedVariable& variable = *array.variable;
    array.shape.begin = variable.offset;
    array.shape.bytes = variable.size != 0 ? variable.size : launch.shared_bytes - variable.offset;
    const std::vector<uint32_t>& async = launch.profile.recording.async_variables;
    array.async = std::binary_search(async.begin(), async.end(), index);
    array.shape.keeps_rows = std::any_of(array.patterns.begin(), array.patterns.end(),
                                         [&](const Pattern& p) { return is_of_wmma(launch, p.site); });
    constexpr uint32_t piece_bytes = 16;  // of bulk copies; and wmma takes multiples of it as pitch
    if (array.is_shared_with_hardware()) array.shape.unit = piece_bytes;
    for (const profile::SiteCounters& site : launch.profile.sites) {
      if (site.space != exec::AccessSpace::shared || site.variable != index) continue;
      if (site.kind == exec::AccessKind::group_product) continue;  // costs the same in every layout
      array.counted[site.site] = site.counters.requests;
      array.wavefronts += site.counters.wavefronts;
    }
    auto costs = what_if_each(launch.arch, array.shape, array.patterns, {});
    const std::optional<Outcome> now = whole_launch(launch.arch, array, array.shape, {}, array.exact);
    if (!costs || !now) continue;
    array.costs = std::move(*costs);
    array.exact = array.exact && launch.profile.recording.dropped == 0 && now->wavefronts == array.wavefronts;
    array.complete = array.exact && launch.config.observe_every == 1 &&
                     std::accumulate(array.patterns.begin(), array.patterns.end(), uint64_t{0},
                                     [](uint64_t sum, const Pattern& p) { return sum + p.count; }) ==
                         std::accumulate(array.counted.begin(), array.counted.end(), uint64_t{0},
                                         [](uint64_t sum, const auto& site) { return sum + site.second; });
    array.now = *now;
    array.place = worst_place_of(launch, array);
    if (!now->conflict_free()) {
      if (from_data.empty()) from_data = sites_from_data(launch.module, launch.kernel);
      array.from_data = from_data;
      find_shapes(launch, array, sources);
    }
  }
  std::erase_if(arrays, [](const auto& one) { return one.second.costs.empty(); });
  const auto counters =
      static_cast<uint32_t>(std::count_if(arrays.begin(), arrays.end(), [&](const auto& one) {
        return !one.second.now.conflict_free() &&
               copies_for_lanes(launch, one.second, [](uint32_t) { return 0.0; }).has_value();
      }));
  for (auto& [index, array] : arrays) {
    array.counters = std::max(1u, counters);
    advise_one(launch, array, sources, all);
  }
  std::stable_sort(all.begin(), all.end(), [](const Advice& a, const Advice& b) {
    return a.wavefronts_before - a.wavefronts_after > b.wavefronts_before - b.wavefronts_after;
  });
  return all;
}

}  // namespace lanescope::advise
