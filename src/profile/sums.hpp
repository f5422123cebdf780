// All that goes to one memory taken together.
#pragma once

#include "profile/profile.hpp"

namespace lanescope::profile {

[[nodiscard]] inline Counters shared_of(const Totals& totals) {
  Counters sum = totals.shared_load;
  sum.add(totals.shared_store);
  sum.add(totals.shared_atomic);
  sum.add(totals.shared_copy);
  sum.add(totals.shared_product);
  return sum;
}

/// Without bulk copies: what warps access by their lanes' addresses.
[[nodiscard]] inline Counters global_by_lanes_of(const Totals& totals) {
  Counters sum = totals.global_load;
  sum.add(totals.global_store);
  sum.add(totals.global_atomic);
  sum.add(totals.global_copy);
  return sum;
}

[[nodiscard]] inline Counters global_of(const Totals& totals) {
  Counters sum = global_by_lanes_of(totals);
  sum.add(totals.bulk_load);
  sum.add(totals.bulk_store);
  sum.add(totals.bulk_reduction);
  return sum;
}

/// What goes through the data stage: shared memory, what loads and stores find in the first-level cache, and
/// what atomic operations bring and get.
struct DataStage {
  uint64_t wavefronts = 0;
  uint64_t ideal = 0;
};
[[nodiscard]] inline DataStage data_stage_of(const Totals& totals) {
  const Counters shared = shared_of(totals);
  DataStage sum{shared.wavefronts, shared.ideal};
  for (const Counters* cached : {&totals.global_load, &totals.global_store, &totals.global_atomic,
                                 &totals.local_load, &totals.local_store}) {
    sum.wavefronts += cached->l1_wavefronts;
    sum.ideal += cached->l1_ideal;
  }
  return sum;
}

}  // namespace lanescope::profile
