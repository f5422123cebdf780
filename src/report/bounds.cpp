// See bounds.hpp.
#include "report/bounds.hpp"

#include <algorithm>

#include "profile/sums.hpp"

namespace lanescope::report {

uint64_t sector_bytes(const Launch& launch) { return 32 * profile::global_of(launch.totals).sectors; }

uint64_t multiprocessors_of(const Launch& launch, const Rates& rates) {
  return std::min(launch.grid.count(), static_cast<uint64_t>(rates.multiprocessors));
}

profile::DataStage data_stage_of(const Launch& launch) {
  profile::DataStage stage = profile::data_stage_of(launch.totals);
  stage.wavefronts += launch.shuffles;
  stage.ideal += launch.shuffles;
  return stage;
}

std::vector<Bound> bounds(const Launch& launch, const Rates& rates) {
  std::vector<Bound> list;
  const auto add = [&](Bound::Kind kind, uint64_t count, double rate) {
    if (count != 0 && rate > 0) list.push_back({kind, count, static_cast<double>(count) / rate});
  };
  if (!launch.counted || launch.sampled()) return list;
  add(Bound::Kind::memory, sector_bytes(launch), rates.bytes_per_second);
  const double cycles = static_cast<double>(multiprocessors_of(launch, rates)) * rates.clock_hz;
  const profile::DataStage stage = data_stage_of(launch);
  add(Bound::Kind::data_stage, stage.wavefronts, cycles);
  if (stage.ideal < stage.wavefronts) add(Bound::Kind::without_conflicts, stage.ideal, cycles);
  add(Bound::Kind::issue, launch.warp_instructions, cycles * rates.warp_instructions_per_cycle);
  return list;
}

Rates rates_of(const model::Chip& chip) {
  return {chip.multiprocessors, chip.clock_hz, chip.bytes_per_second, model::warp_instructions_per_cycle};
}

const char* name_of(Bound::Kind kind) {
  switch (kind) {
    case Bound::Kind::memory: return "memory";
    case Bound::Kind::data_stage: return "data stage";
    case Bound::Kind::without_conflicts: return "data stage without conflicts";
    case Bound::Kind::issue: return "issue";
  }
  return "";
}

}  // namespace lanescope::report
