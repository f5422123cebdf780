// Finds a chip's shared-memory rules from latencies alone. No preset is looked at: every rule follows from
// how much longer one access takes than another (docs/probe.md has each experiment).
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "probe/description.hpp"
#include "probe/measure.hpp"

namespace lanescope::probe {

enum class Certainty : uint8_t {
  sure,       ///< every latency behind it lies within a quarter of the way to the next best answer
  doubtful,   ///< one does not
  undecided,  ///< one lies nearly in the middle, or no answer fits: the parameter stays unknown
  absent,     ///< the chip (or its driver) has no such access
  derived,    ///< follows from others without a measurement of its own
};

/// How one parameter was found.
struct Finding {
  std::string parameter;  ///< its name in parameters()
  Certainty certainty = Certainty::absent;
  /// 1: the latencies say exactly the answer; 0: as near to another one.
  double margin = 0;
  std::string reason;                ///< the figures that decided
  std::vector<size_t> measurements;  ///< places in Result::measurements
};

/// How latency grows for one kind of access: cycles = first + more * (units - 1), a unit being what one more
/// lane in the same bank costs.
struct Scale {
  Access access;
  double first = 0, more = 0;
  double noise = 0;  ///< typical spread of a measurement, in units
};

/// How well the description found predicts patterns that played no part in finding it.
struct Check {
  Access access;
  int patterns = 0;
  int agreeing = 0;  ///< within half a unit
  double worst = 0;  ///< units
};

struct Result {
  Description description;
  std::vector<Finding> findings;  ///< one for each of parameters()
  std::vector<Scale> scales;
  std::vector<Check> checks;
  std::vector<Measurement> measurements;
};

/// Asks `timer` for what is needed. The same latencies give the same result.
[[nodiscard]] Result probe(Timer& timer);

}  // namespace lanescope::probe
