// See advise.hpp. One variable of shared memory at a time: its recorded accesses, its shape from the
// declaration or from the addresses, and then what layouts and what other ways of going through it would
// cost.
#include "advise/advise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "profile/cost.hpp"

namespace lanescope::advise {
namespace {

constexpr uint32_t word_bytes = 4;

struct Place {
  std::string file;
  uint32_t line = 0;
};

Place place_of(const Launch& launch, uint32_t site) {
  const profile::Place place =
      profile::place_of(launch.module, launch.kernel.origins[launch.kernel.accesses[site].origin]);
  const bool in_source = place.in_source && place.file < launch.kernel.files.size();
  return {in_source ? launch.kernel.files[place.file] : launch.module.name, place.line};
}

/// Bytes from each lane to the next; 0 if lanes are missing in between or are not equally far apart.
int64_t stride_of(const Pattern& p) {
  const auto first = static_cast<size_t>(std::countr_zero(p.mask));
  const auto lanes = static_cast<size_t>(std::popcount(p.mask));
  if (lanes < 2 || p.mask >> first != 0xffffffffu >> (32 - lanes)) return 0;
  const int64_t stride = int64_t{p.offset[first + 1]} - int64_t{p.offset[first]};
  for (size_t lane = first + 1; lane < first + lanes; ++lane)
    if (int64_t{p.offset[lane]} - int64_t{p.offset[lane - 1]} != stride) return 0;
  return stride;
}

/// Everything about one variable.
struct Array {
  const exec::SharedVariable* variable = nullptr;
  std::vector<Pattern> patterns;         ///< as recorded, of some blocks perhaps; ordered by site
  std::map<uint32_t, uint64_t> counted;  ///< by site: requests of the whole launch
  Shape shape;
  Outcome now;
  Place place;
  std::optional<Declaration> declaration;
  std::string pitch_from;
  bool exact = true;  ///< what was recorded tells all of the launch
};

/// what_if for the whole launch: what some blocks did counts for all, site by site. `exact` becomes false
/// where that leaves a rest.
std::optional<Outcome> whole_launch(const model::Arch& arch, const Array& array, const Layout& layout,
                                    bool& exact) {
  Outcome all;
  const std::span<const Pattern> patterns = array.patterns;
  for (size_t begin = 0; begin < patterns.size();) {
    size_t end = begin;
    uint64_t recorded = 0;
    for (; end < patterns.size() && patterns[end].site == patterns[begin].site; ++end)
      recorded += patterns[end].count;
    const auto one = what_if(arch, array.shape, patterns.subspan(begin, end - begin), layout);
    if (!one) return std::nullopt;
    const uint64_t counted = array.counted.at(patterns[begin].site);
    const auto scaled = [&](uint64_t part) {
      __extension__ const auto product = static_cast<unsigned __int128>(part) * counted;
      exact = exact && product % recorded == 0;
      return static_cast<uint64_t>(product / recorded);
    };
    all.wavefronts += scaled(one->wavefronts);
    all.ideal += scaled(one->ideal);
    all.max_way = std::max(all.max_way, one->max_way);
    all.bytes = one->bytes;
    all.estimate = all.estimate || one->estimate;
    begin = end;
  }
  return all;
}

/// The site of most wavefronts over the ideal.
uint32_t worst_site_of(const model::Arch& arch, const Array& array) {
  std::map<uint32_t, uint64_t> excess;
  for (const Pattern& pattern : array.patterns)
    if (const auto one = what_if(arch, array.shape, {&pattern, 1}, {}))
      excess[pattern.site] += one->wavefronts - one->ideal;
  return std::max_element(excess.begin(), excess.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

void find_shape(Array& array, Sources& sources) {
  Shape& shape = array.shape;
  const Sources::File& file = sources.file(array.place.file);
  const std::variant<Declaration, Unclear> found =
      file.path.empty() ? Unclear{array.place.file + " was not found"}
                        : find_declaration(file.text, array.variable->name, shape.bytes, array.place.line);
  if (const auto* declaration = std::get_if<Declaration>(&found)) {
    array.declaration = *declaration;
    shape.element_bytes = declaration->element_bytes;
    shape.row_bytes = declaration->row_bytes();
  }
  if (shape.row_bytes != 0) {
    array.pitch_from = fmt::format(
        "the declaration in line {}{}", array.declaration->line,
        array.declaration->assumed.empty() ? "" : fmt::format(" ({})", array.declaration->assumed));
    return;
  }
  if (!array.declaration)
    shape.element_bytes =
        std::max_element(array.patterns.begin(), array.patterns.end(), [](const auto& a, const auto& b) {
          return a.width < b.width;
        })->width;
  const uint32_t pitch = row_pitch_of(array.patterns);
  if (pitch % shape.element_bytes == 0 && pitch > shape.element_bytes) shape.row_bytes = pitch;
  array.pitch_from = "the recorded addresses";
  if (const auto* why = std::get_if<Unclear>(&found)) array.pitch_from += fmt::format(" ({})", why->reason);
}

/// Whether a line goes through the array at strides that double: 2*s*tid. By line, since compilers unroll
/// such loops.
bool strides_double(const Launch& launch, const Array& array) {
  constexpr int steps = 3;
  std::map<std::pair<std::string, uint32_t>, std::set<int64_t>> strides_of_lines;
  for (const Pattern& pattern : array.patterns)
    if (const int64_t stride = stride_of(pattern); stride != 0) {
      const Place place = place_of(launch, pattern.site);
      strides_of_lines[{place.file, place.line}].insert(stride);
    }
  for (const auto& [line, strides] : strides_of_lines) {
    int doubled = 0;
    for (const int64_t stride : strides)
      doubled += stride > array.shape.element_bytes && strides.count(2 * stride) != 0 ? 1 : 0;
    if (doubled >= steps - 1) return true;
  }
  return false;
}

/// How many consecutive elements each thread works on, if threads do: lanes stand n elements apart, and
/// accesses at every one of the n places between two lanes happen. 0: they do not.
uint32_t consecutive_elements(const Array& array) {
  std::set<int64_t> strides;
  std::set<uint32_t> places;
  for (const Pattern& pattern : array.patterns) {
    if (std::popcount(pattern.mask) < 2) continue;
    strides.insert(stride_of(pattern));
    places.insert(pattern.offset[static_cast<size_t>(std::countr_zero(pattern.mask))]);
  }
  if (strides.size() != 1 || *strides.begin() <= array.shape.element_bytes) return 0;
  const auto stride = static_cast<uint32_t>(*strides.begin());
  if (stride % array.shape.element_bytes != 0) return 0;
  const uint32_t elements = stride / array.shape.element_bytes;
  std::set<uint32_t> between;
  for (const uint32_t place : places) between.insert(place % stride / array.shape.element_bytes);
  return between.size() == elements ? elements : 0;
}

std::string plural(uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// The declaration with one extent changed.
std::string declared(const Declaration& declaration, const std::string& last) {
  std::string text = declaration.name;
  for (size_t i = 0; i < declaration.extents.size(); ++i)
    text += fmt::format("[{}]", i + 1 == declaration.extents.size() ? last : declaration.extents[i].text);
  return text;
}

/// Padding of declared rows by whole elements: by how many; 0 where that is no change of the declaration
/// alone.
uint32_t padded_elements(const Array& array, const Layout& layout) {
  const auto* padding = std::get_if<RowPadding>(&layout);
  if (padding == nullptr || !array.declaration || array.declaration->extents.size() < 2) return 0;
  const uint32_t bytes = padding->words * word_bytes;
  return bytes % array.shape.element_bytes == 0 ? bytes / array.shape.element_bytes : 0;
}

std::string change_of(const Array& array, const Layout& layout) {
  const std::string& name = array.variable->name;
  if (const auto* padding = std::get_if<RowPadding>(&layout)) {
    const uint32_t row = array.shape.row_bytes / word_bytes;
    if (const uint32_t elements = padded_elements(array, layout); elements != 0)
      return fmt::format("pad each row of {} by {}: {}", name, plural(padding->words, "word"),
                         declared(*array.declaration, padded(array.declaration->extents.back(), elements)));
    return fmt::format("leave {} free after every {} of {}", plural(padding->words, "word"),
                       plural(row, "word"), name);
  }
  if (std::holds_alternative<Swizzle>(layout))
    return fmt::format("swizzle {}: keep {}", name, describe(layout));
  if (const auto* arrays = std::get_if<StructOfArrays>(&layout))
    return array.shape.element_bytes == 2 * word_bytes && arrays->piece == word_bytes
               ? fmt::format("split {} into two arrays, of the low and of the high words of its elements",
                             name)
               : fmt::format("make a struct of arrays of {}: {}", name, describe(layout));
  if (std::holds_alternative<ElementPadding>(layout))
    return fmt::format("pad the elements of {}: {}", name, describe(layout));
  return fmt::format("store {} transposed: exchange its subscripts everywhere", name);
}

std::string reason_of(const Array& array) {
  const uint32_t way = array.now.max_way;
  if (array.declaration && array.declaration->extents.size() >= 2)
    return fmt::format("up to {} words of one bank are asked for at once: rows are {} bytes apart", way,
                       array.shape.row_bytes);
  if (array.shape.row_bytes != 0)
    return fmt::format("up to {} words of one bank are asked for at once: lanes are {} bytes apart", way,
                       array.shape.row_bytes);
  return fmt::format("up to {} words of one bank are asked for at once", way);
}

/// Fills in what all kinds of advice have in common.
Advice make_advice(const Launch& launch, const Array& array, uint64_t wavefronts_after,
                   uint32_t bytes_after) {
  Advice advice;
  advice.variable = array.variable->name;
  advice.file = array.place.file;
  advice.line = array.place.line;
  advice.wavefronts_before = array.now.wavefronts;
  advice.wavefronts_after = wavefronts_after;
  advice.launch_wavefronts = 0;
  for (const profile::SiteCounters& site : launch.profile.sites)
    if (site.space == exec::AccessSpace::shared) advice.launch_wavefronts += site.counters.wavefronts;
  advice.shared_bytes_before = launch.shared_bytes;
  advice.shared_bytes_after = launch.shared_bytes + bytes_after - array.shape.bytes;
  const model::Limits limits = model::limits_of(launch.arch.name);
  advice.occupancy_known = std::string_view(launch.arch.name).substr(0, 3) == "sm_";
  const auto occupancy = [&](uint32_t shared) {
    return model::occupancy(limits, static_cast<int>(launch.block.count()), launch.registers,
                            static_cast<int>(shared));
  };
  advice.occupancy_before = occupancy(advice.shared_bytes_before);
  advice.occupancy_after = occupancy(advice.shared_bytes_after);
  advice.registers_known = launch.registers != 0;
  advice.estimate = array.now.estimate || !array.exact;
  advice.declaration = array.declaration;
  advice.pitch_from = array.pitch_from;
  return advice;
}

/// At least one wavefront in a hundred: less is no reason to touch a program.
bool is_worth_it(const Advice& advice) {
  return advice.wavefronts_after + (advice.wavefronts_before + 99) / 100 <= advice.wavefronts_before;
}

void advise_one(const Launch& launch, Array& array, Sources& sources, std::vector<Advice>& all) {
  std::vector<Advice> found;
  if (strides_double(launch, array)) {
    Advice advice = make_advice(launch, array, array.now.ideal, array.shape.bytes);
    advice.kind = Advice::Kind::sequential_addressing;
    advice.change = fmt::format(
        "let thread t combine elements t and t + s of {}, s halving from step to step (sequential "
        "addressing)",
        array.variable->name);
    advice.reason =
        "active lanes stand at strides that double from step to step, so that ever more of them share a "
        "bank; "
        "floating-point sums are added in another order then";
    advice.proven_best = true;
    found.push_back(std::move(advice));
  } else if (const uint32_t elements = consecutive_elements(array);
             elements != 0 && (!array.declaration || array.declaration->extents.size() < 2)) {
    Advice advice = make_advice(launch, array, array.now.ideal, array.shape.bytes);
    advice.kind = Advice::Kind::strided_elements;
    advice.change = fmt::format(
        "let thread t take elements t, t + threads, t + 2 * threads, … of {} in place of {} consecutive ones",
        array.variable->name, elements);
    advice.reason =
        fmt::format("every thread works on {} neighbouring elements, so that lanes stand {} bytes apart",
                    elements, elements * array.shape.element_bytes);
    advice.proven_best = true;
    found.push_back(std::move(advice));
  }
  // A better way through the array beats any layout of it.
  const bool have_rows = array.declaration && array.declaration->extents.size() >= 2;
  for (const Candidate& candidate :
       found.empty() ? search(launch.arch, array.shape, array.patterns) : std::vector<Candidate>()) {
    if (std::holds_alternative<Transposed>(candidate.layout) && !have_rows) continue;
    bool exact = array.exact;
    const auto outcome = whole_launch(launch.arch, array, candidate.layout, exact);
    if (!outcome) continue;
    Advice advice = make_advice(launch, array, outcome->wavefronts, outcome->bytes);
    if (advice.occupancy_known && advice.occupancy_after.blocks == 0) continue;  // no block would fit
    advice.layout = candidate.layout;
    advice.change = change_of(array, candidate.layout);
    advice.reason = reason_of(array);
    advice.proven_best = candidate.proven_best;
    advice.estimate = advice.estimate || !exact;
    if (const uint32_t elements = padded_elements(array, candidate.layout); elements != 0) {
      const Extent& extent = array.declaration->extents.back();
      advice.patch = Patch{sources.file(array.place.file).path.string(), extent.begin, extent.end,
                           padded(extent, elements)};
    }
    found.push_back(std::move(advice));
  }
  std::erase_if(found, [](const Advice& a) { return !is_worth_it(a); });
  std::stable_sort(found.begin(), found.end(), [](const Advice& a, const Advice& b) {
    if (a.wavefronts_after != b.wavefronts_after) return a.wavefronts_after < b.wavefronts_after;
    return a.occupancy_after.blocks > b.occupancy_after.blocks;
  });
  all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
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
  std::map<uint32_t, Array> arrays;
  for (const profile::RecordedAccess& access : launch.profile.recording.accesses) {
    if (access.variable >= launch.kernel.shared.size()) continue;
    Array& array = arrays[access.variable];
    array.variable = &launch.kernel.shared[access.variable];
    Pattern pattern;
    pattern.op = profile::op_of(access.kind);
    pattern.width = access.width;
    pattern.mask = access.mask;
    pattern.count = access.count;
    pattern.site = access.site;
    for (size_t lane = 0; lane < 32; ++lane)
      if ((access.mask >> lane & 1) != 0)
        pattern.offset[lane] = access.address[lane] - array.variable->offset;
    array.patterns.push_back(pattern);
  }
  std::vector<Advice> all;
  for (auto& [index, array] : arrays) {
    const exec::SharedVariable& variable = *array.variable;
    array.shape.begin = variable.offset;
    array.shape.bytes = variable.dynamic ? launch.shared_bytes - variable.offset : variable.size;
    uint64_t measured = 0;
    for (const profile::SiteCounters& site : launch.profile.sites) {
      if (site.space != exec::AccessSpace::shared || site.variable != index) continue;
      array.counted[site.site] = site.counters.requests;
      measured += site.counters.wavefronts;
    }
    const std::optional<Outcome> now = whole_launch(launch.arch, array, {}, array.exact);
    if (!now || now->conflict_free()) continue;
    array.exact = array.exact && launch.profile.recording.dropped == 0 && now->wavefronts == measured;
    array.now = *now;
    array.place = place_of(launch, worst_site_of(launch.arch, array));
    find_shape(array, sources);
    advise_one(launch, array, sources, all);
  }
  std::stable_sort(all.begin(), all.end(), [](const Advice& a, const Advice& b) {
    return a.wavefronts_before - a.wavefronts_after > b.wavefronts_before - b.wavefronts_after;
  });
  return all;
}

}  // namespace lanescope::advise
