// What one load or store of global memory takes in the first-level cache, where that lies in the banks of
// shared memory (7.0 and later). All rules measured on H200, tests/data/truth/h200_l1.csv: 1,057 patterns of
// 1 to 16 bytes a lane, each as a load of lines that are in the cache, as one of lines that are not, and as a
// store (counters l1tex__data_pipe_lsu_wavefronts_mem_lgds_cmd_*, l1tex__t_output_wavefronts_*).
#pragma once

#include <cstdint>

#include "lanescope/model/arch.hpp"
#include "lanescope/model/request.hpp"
#include "lanescope/model/shared.hpp"

namespace lanescope::model {

struct L1Cost {
  /// Passes through the data stage, one a cycle, which those of shared memory use as well, if all lines are
  /// in the cache: exact for loads. Of a store the least, and of 4 bytes a lane and more what it takes where
  /// `tag_wavefronts` is at most four; else it takes up to as many as a load that misses, and of 1 and 2
  /// bytes half as many more.
  int wavefronts = 0;
  /// Of them, those that remain if no two lanes met in a bank.
  int ideal = 0;
  /// `wavefronts` of a load none of whose lines is there.
  int miss_wavefronts = 0;
  /// Passes through the tag stage, which looks up to four lines at a time: exact for both.
  int tag_wavefronts = 0;
  Evidence evidence = Evidence::measured;

  friend constexpr bool operator==(const L1Cost&, const L1Cost&) = default;
};

namespace detail {

/// The one of the tag stage's four parts that looks up the line of `address`: two exclusive ors of address
/// bits. Measured for bits 7 to 25 (two lanes that differ in one or two of them); higher ones are taken not
/// to matter, which they do not where all lanes have the same ones.
LANESCOPE_HD constexpr int tag_part(uint64_t address) {
  constexpr uint64_t first = 0x3bd5a80;   // bits 7, 9, 11, 12, 14, 16, 18 to 21, 23 to 25
  constexpr uint64_t second = 0x16aed00;  // bits 8, 10, 11, 13 to 15, 17, 19, 21, 22, 24
  return count_bits(address & first) % 2 + 2 * (count_bits(address & second) % 2);
}

/// Of the lanes `left`, those whose lines are looked up next: in each part the line of its lowest lane.
LANESCOPE_HD constexpr uint64_t looked_up_next(const Request& request, uint64_t left) {
  uint64_t line[4] = {};
  bool taken[4] = {};
  uint64_t lanes = 0;
  LANESCOPE_KEEP_LOOP
  for (; left != 0; left &= left - 1) {
    const int lane = lowest_bit(left);
    const uint64_t address = request.address[lane];
    const int part = tag_part(address);
    if (!taken[part]) {
      taken[part] = true;
      line[part] = address / 128;
    }
    if (line[part] == address / 128) lanes |= uint64_t{1} << lane;
  }
  return lanes;
}

}  // namespace detail

/// What the banks do for `request` if all its lines are in the cache: what they do for a store to shared
/// memory, distinct words, whole phases, no rule of pairs. Moving all lanes by global_shift_granule changes
/// nothing. Nothing where the cache is not in the banks, and for atomic operations and copies, of which no
/// lane gets anything from it.
LANESCOPE_HD constexpr SharedCost l1_bank_cost(const Arch& arch, Request request) {
  if (!arch.l1_in_banks || (request.op != Op::load && request.op != Op::store)) return {};
  request.op = Op::store;
  return detail::access_cost(arch, request);
}

/// What `request` takes on `arch`: aligned accesses of 1, 2, 4, 8 or 16 bytes a lane, at the addresses that
/// they have on the GPU (which part of the tag stage looks up a line depends on them).
LANESCOPE_HD constexpr L1Cost l1_cost(const Arch& arch, const Request& request) {
  L1Cost cost;
  cost.evidence = arch.l1_evidence;
  const SharedCost hit = l1_bank_cost(arch, request);
  cost.wavefronts = hit.wavefronts;
  cost.ideal = hit.ideal;
  if (cost.wavefronts == 0) return cost;
  Request part = request;
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = request.mask & detail::lane_range(0, request.lanes); left != 0; left &= ~part.mask) {
    part.mask = detail::looked_up_next(request, left);
    ++cost.tag_wavefronts;
    if (request.op == Op::load) cost.miss_wavefronts += l1_bank_cost(arch, part).wavefronts;
  }
  return cost;
}

}  // namespace lanescope::model
