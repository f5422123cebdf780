// Times that a launch takes at least on a GPU: they follow from its counts and from what the chip can do at
// most.
#pragma once

#include <cstdint>
#include <vector>

#include "lanescope/model/chips.hpp"
#include "profile/sums.hpp"
#include "report/report.hpp"

namespace lanescope::report {

/// What a chip can do at most.
struct Rates {
  int multiprocessors = 0;
  double clock_hz = 0;
  double bytes_per_second = 0;          ///< of its memory; 0: unknown
  int warp_instructions_per_cycle = 0;  ///< of a multiprocessor; 0: unknown
};

[[nodiscard]] Rates rates_of(const model::Chip& chip);

struct Bound {
  /// memory: its bandwidth, if no cache answers; the others hold always. data_stage: of shared memory and the
  /// first-level cache, a wavefront a cycle. without_conflicts: the same of the ideal. issue: of
  /// instructions, an estimate, since they are those of the PTX.
  enum class Kind : uint8_t { memory, data_stage, without_conflicts, issue };
  Kind kind{};
  uint64_t count = 0;  ///< of bytes, wavefronts, instructions
  double seconds = 0;
};

/// Those that have something to do: no more than the grid has blocks.
[[nodiscard]] uint64_t multiprocessors_of(const Launch& launch, const Rates& rates);

/// With its shuffles, which go through the data stage as well.
[[nodiscard]] profile::DataStage data_stage_of(const Launch& launch);

/// Those that are 0 are left out. Of several launches in one (Launch::launches) the sum.
[[nodiscard]] std::vector<Bound> bounds(const Launch& launch, const Rates& rates);

/// "memory", "data stage", "data stage without conflicts", "issue".
[[nodiscard]] const char* name_of(Bound::Kind kind);

/// The bytes of all sectors of global memory that the launch asks for.
[[nodiscard]] uint64_t sector_bytes(const Launch& launch);

}  // namespace lanescope::report
