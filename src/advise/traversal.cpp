// See traversal.hpp.
#include "advise/traversal.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "profile/usual_step.hpp"

namespace lanescope::advise {

using profile::NamedPlace;

namespace {

using LineKey = std::pair<std::string, uint32_t>;

LineKey line_of(const Launch& launch, const Pattern& pattern) {
  const NamedPlace place = place_of(launch, pattern.site);
  return {place.file, place.line};
}

/// Lines that go through the array at strides that double, and these strides: d[2 * s * t]. By line, since
/// compilers unroll such loops.
struct Tree {
  std::set<LineKey> lines;
  std::set<int64_t> strides;
};

Tree tree_of(const Launch& launch, const Array& array) {
  constexpr int steps = 3;
  std::map<LineKey, std::set<int64_t>> strides_of_lines;
  int64_t narrowest = 16;  // neighbours are this far apart; the declaration need not be known
  for (const Pattern& pattern : array.patterns) {
    narrowest = std::min<int64_t>(narrowest, pattern.part != 0 ? pattern.part : pattern.width);
    if (const int64_t stride = stride_of(pattern); stride != 0)
      strides_of_lines[line_of(launch, pattern)].insert(stride);
  }
  Tree tree;
  for (const auto& [line, strides] : strides_of_lines) {
    int doubled = 0;
    for (const int64_t stride : strides)
      doubled += stride > array.shape.element_bytes && strides.count(2 * stride) != 0 ? 1 : 0;
    if (doubled < steps - 1) continue;
    tree.lines.insert(line);
    for (const int64_t stride : strides)
      if (stride > narrowest) tree.strides.insert(stride);
  }
  return tree;
}

/// Bytes from most active lanes to the next one: three in four; else 0.
int64_t usual_step(const Pattern& p) {
  const profile::UsualStep step = profile::usual_step(p.mask, p.offset);
  return 4 * step.count >= 3 * (std::popcount(p.mask) - 1) ? step.bytes : 0;
}

}  // namespace

bool is_reduction(const Launch& launch, const Array& array) {
  const Tree tree = tree_of(launch, array);
  constexpr int64_t lanes = 32;
  std::map<int64_t, std::set<uint32_t>> stored;   // by stride: where between two lanes
  std::map<int64_t, std::set<int64_t>> combined;  // … read: where among the elements of a warp lane 0 does
  std::set<uint32_t> results;
  for (const Pattern& pattern : array.patterns) {
    const auto first = static_cast<size_t>(std::countr_zero(pattern.mask));
    const int64_t stride = stride_of(pattern);
    const bool in_step = tree.strides.count(stride) != 0;
    if (pattern.op == model::Op::store) {
      if (in_step) stored[stride].insert(pattern.offset[first] % static_cast<uint32_t>(stride));
      continue;
    }
    if (in_step)
      combined[stride].insert((pattern.offset[first] + (lanes - static_cast<int64_t>(first)) * stride) %
                              (lanes * stride));
    // The tree's last steps have one lane, and no stride.
    if (tree.lines.count(line_of(launch, pattern)) != 0 && (in_step || std::has_single_bit(pattern.mask)))
      continue;
    for (uint32_t left = pattern.mask; left != 0; left &= left - 1)
      results.insert(pattern.offset[static_cast<size_t>(std::countr_zero(left))]);
  }
  return !stored.empty() && results.size() <= 1 &&
         std::all_of(stored.begin(), stored.end(),
                     [](const auto& places) { return places.second.size() == 1; }) &&
         std::all_of(combined.begin(), combined.end(),
                     [](const auto& places) { return places.second.size() <= 2; });
}

uint32_t consecutive_elements(const Launch& launch, const Array& array) {
  const uint32_t element = array.shape.element_bytes;
  std::set<int64_t> strides, places;  // places: of where lane 0 is, or would be
  for (const Pattern& pattern : array.patterns) {
    if (std::popcount(pattern.mask) < 2) continue;
    const int64_t stride = stride_of(pattern);
    strides.insert(stride);
    if (strides.size() != 1 || stride <= element || stride % element != 0) return 0;
    const int first = std::countr_zero(pattern.mask);
    const int64_t place = int64_t{pattern.offset[static_cast<size_t>(first)]} - first * stride;
    for (uint32_t covered = 0; covered < pattern.width; covered += element) places.insert(place + covered);
  }
  if (strides.empty()) return 0;
  const int64_t stride = *strides.begin(), of_warp = exec::warp_lanes * stride;
  std::set<int64_t> between, warps;
  for (const int64_t place : places) {
    const int64_t distance = place - *places.begin();
    if (distance % of_warp >= stride) return 0;
    between.insert(distance % of_warp / element);
    warps.insert(distance / of_warp);
  }
  const auto elements = static_cast<uint32_t>(stride / element);
  const uint64_t all_warps = (launch.config.block.count() + exec::warp_lanes - 1) / exec::warp_lanes;
  return between.size() == elements && warps.size() == all_warps ? elements : 0;
}

int64_t worst_stride(const Array& array) {
  std::map<int64_t, uint64_t> excess;
  for (size_t i = 0; i < array.patterns.size(); ++i)
    if (const int64_t stride = std::abs(usual_step(array.patterns[i]));
        stride > array.patterns[i].width && array.costs[i].max_way == array.now.max_way)
      excess[stride] += array.costs[i].wavefronts - array.costs[i].ideal;
  const auto most = std::max_element(excess.begin(), excess.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == excess.end() ? 0 : most->first;
}

bool only_columns(const Array& array) {
  bool any = false;
  const int64_t pitch = array.shape.row_bytes;
  for (const Pattern& pattern : array.patterns) {
    int steps = 0, down = 0;
    for (size_t lane = 1; lane < 32; ++lane) {
      if ((pattern.mask >> (lane - 1) & 3) != 3) continue;
      const int64_t step = int64_t{pattern.offset[lane]} - int64_t{pattern.offset[lane - 1]};
      ++steps;
      down += step == pitch || step == -pitch ? 1 : 0;
    }
    if (steps == 0) continue;
    if (4 * down < 3 * steps) return false;
    any = true;
  }
  return any;
}

std::optional<LastSteps> last_steps_of(const Array& array) {
  constexpr uint32_t first_step = 16;
  // What is there: by mask, first element and whether it is a load.
  struct Seen {
    uint64_t count = 0, wavefronts = 0;
    uint32_t site = 0;
  };
  std::map<std::tuple<uint32_t, uint32_t, bool>, Seen> seen;
  std::map<uint32_t, uint64_t> recorded;  // of each site, as in whole_launch
  for (const Pattern& pattern : array.patterns) recorded[pattern.site] += pattern.count;
  const uint8_t width = array.patterns.front().width;
  for (size_t i = 0; i < array.patterns.size(); ++i) {
    const Pattern& pattern = array.patterns[i];
    const bool is_load = pattern.op == model::Op::load;
    if (pattern.width != width || (!is_load && pattern.op != model::Op::store)) return std::nullopt;
    if ((pattern.mask & (pattern.mask + 1)) != 0) continue;  // not the first lanes
    if (pattern.mask != 1 && stride_of(pattern) != width) continue;
    Seen& here = seen[{pattern.mask, pattern.offset[0], is_load}];
    const uint64_t counted = array.counted.at(pattern.site);
    here.count += pattern.count * counted / recorded[pattern.site];
    here.wavefronts += array.costs[i].wavefronts * counted / recorded[pattern.site];
    here.site = pattern.site;
  }
  // The last step tells where the elements begin and how many blocks there are.
  for (const auto& [key, last] : seen) {
    const auto& [mask, offset, is_load] = key;
    if (mask != 1 || !is_load || offset < width) continue;
    const uint32_t begin = offset - width;
    LastSteps steps;
    uint64_t loads_of_two = 0, loads_of_one = 0;  // of the lanes' own elements, in the last two steps
    bool all = true;
    for (uint32_t s = first_step; s != 0 && all; s /= 2) {
      const uint32_t lanes = (1u << s) - 1;
      const auto partner = seen.find({lanes, begin + s * width, true});
      all = partner != seen.end() && partner->second.count == last.count;
      if (!all) break;
      if (s == first_step) steps.site = partner->second.site;
      steps.wavefronts += partner->second.wavefronts;
      // The lanes' own element, and for s = 1 the result, which some thread reads from memory.
      for (const bool load : {true, false})
        if (const auto own = seen.find({lanes, begin, load}); own != seen.end()) {
          steps.wavefronts += own->second.wavefronts;
          if (load && s <= 2) (s == 1 ? loads_of_one : loads_of_two) = own->second.count;
        }
    }
    if (!all) continue;
    // Where that thread does not read the result besides, others do, and it is stored for them all the same.
    if (loads_of_one < loads_of_two + last.count) steps.wavefronts -= last.count;
    // What the warp holds after the step before goes on in registers.
    if (const auto before = seen.find({0xffffffffu, begin, false});
        before != seen.end() && before->second.count >= last.count)
      steps.wavefronts += last.count;
    return steps;
  }
  return std::nullopt;
}

}  // namespace lanescope::advise
