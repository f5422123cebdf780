// See copies.hpp.
#include "advise/copies.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace lanescope::advise {
namespace {

bool is_counter(const Launch& launch, const Pattern& pattern) {
  const exec::AccessSite& site = launch.kernel.accesses[pattern.site];
  constexpr std::array<std::string_view, 6> any_order{".add", ".min", ".max", ".and", ".or", ".xor"};
  return site.kind == exec::AccessKind::atomic && !site.returns &&
         std::any_of(any_order.begin(), any_order.end(),
                     [&](std::string_view op) { return site.text.find(op) != std::string::npos; });
}

}  // namespace

std::optional<Copies> copies_for_lanes(const Launch& launch, const Array& array, const Price& price) {
  const auto is_picked = [&](const Pattern& p) { return array.is_from_data(p) && is_counter(launch, p); };
  for (size_t i = 0; i < array.patterns.size(); ++i) {
    const Pattern& p = array.patterns[i];
    if (is_picked(p) ? p.width != array.shape.element_bytes : !array.costs[i].conflict_free())
      return std::nullopt;
  }
  const auto cost = [&](const Copies& c) {
    return static_cast<double>(c.wavefronts) + price(c.bytes) * static_cast<double>(array.wavefronts);
  };
  std::optional<Copies> best;
  for (uint32_t count = 2; count <= exec::warp_lanes; count *= 2) {
    Array copied = array;
    copied.shape.bytes = array.shape.bytes * count;
    for (Pattern& p : copied.patterns)
      for (uint32_t lane = 0; is_picked(p) && lane < exec::warp_lanes; ++lane)
        if ((p.mask >> lane & 1) != 0)
          p.offset[lane] = p.offset[lane] * count + lane % count * array.shape.element_bytes;
    for (const Pattern& p : array.patterns)  // what sets them up and combines them goes through all copies
      if (!is_picked(p)) copied.counted[p.site] = array.counted.at(p.site) * count;
    Copies copies{count, copied.shape.bytes, 0, array.exact};
    const auto outcome = whole_launch(launch.arch, copied, copied.shape, {}, copies.exact);
    if (!outcome) return std::nullopt;
    copies.wavefronts = outcome->wavefronts;
    if (cost(copies) < (best ? cost(*best) : static_cast<double>(array.wavefronts))) best = copies;
  }
  return best;
}

}  // namespace lanescope::advise
