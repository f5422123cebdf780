// What one load, store or atomic operation on global memory takes in the first-level cache, where that lies
// in the banks of shared memory (7.0 and later). Loads and stores measured on H200,
// tests/data/truth/h200_l1.csv: 1,057 patterns of 1 to 16 bytes a lane, each as a load of lines that are in
// the cache, as one of lines that are not, and as a store; atomics measured on H100,
// tests/data/truth/h100_global_atomics.csv: 298 patterns of 4 and 8 bytes, with and without results, and
// compare-and-swaps (counters l1tex__data_pipe_lsu_wavefronts_mem_lgds_cmd_*, l1tex__t_output_wavefronts_*).
#pragma once

#include <cstdint>

#include "lanescope/model/arch.hpp"
#include "lanescope/model/request.hpp"
#include "lanescope/model/shared.hpp"

namespace lanescope::model {

/// Passes through the data stage, one a cycle, which those of shared memory use as well.
struct L1BankCost {
  int wavefronts = 0;
  int ideal = 0;  ///< those that remain if no two lanes met in a bank

  friend constexpr bool operator==(const L1BankCost&, const L1BankCost&) = default;
};

struct L1Cost {
  /// If all lines are in the cache: exact for loads. Of a store the least, and of 4 bytes a lane and more
  /// what it takes where `tag_wavefronts` is at most four; else it takes up to as many as a load that misses,
  /// and of 1 and 2 bytes half as many more. Of an atomic operation, whose lines are looked up but never
  /// held, the least wherever they are.
  L1BankCost hit;
  /// Wavefronts by the lines that are looked up together: of a load none of whose lines is there; of an
  /// atomic operation exactly those of its results, and of what its lanes bring the least, which it
  /// takes where `tag_wavefronts` is at most four and it is no compare-and-swap.
  int miss_wavefronts = 0;
  /// Passes through the tag stage, which looks up to four lines at a time: exact.
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

/// Whether a lane of `left` below `lane` asks the same part of the tag stage for the same place in a line.
LANESCOPE_HD constexpr bool comes_after_another(const Request& request, uint64_t left, int lane) {
  const uint64_t address = request.address[lane];
  const int part = tag_part(address);
  LANESCOPE_KEEP_LOOP
  for (left &= lane_range(0, lane); left != 0; left &= left - 1) {
    const uint64_t other = request.address[lowest_bit(left)];
    if (other % 128 == address % 128 && tag_part(other) == part) return true;
  }
  return false;
}

/// Of the lanes `left`, those whose lines are looked up next: in each part the line of its lowest lane. Of a
/// compare-and-swap lines are half as long; and no atomic operation overtakes another one at its place.
LANESCOPE_HD constexpr uint64_t looked_up_next(const Request& request, uint64_t left) {
  const uint64_t bytes = request.op == Op::compare_and_swap ? 64 : 128;
  uint64_t line[4] = {};
  bool taken[4] = {};
  uint64_t lanes = 0;
  LANESCOPE_KEEP_LOOP
  for (uint64_t rest = left; rest != 0; rest &= rest - 1) {
    const int lane = lowest_bit(rest);
    const uint64_t address = request.address[lane];
    const int part = tag_part(address);
    if (!taken[part]) {
      taken[part] = true;
      line[part] = address / bytes;
    }
    if (line[part] == address / bytes && !(is_atomic(request.op) && comes_after_another(request, left, lane)))
      lanes |= uint64_t{1} << lane;
  }
  return lanes;
}

/// What lanes bring to an atomic operation and get from it. A place is served for one lane at a time, so that
/// each lane counts in its bank; a compare-and-swap brings two values, for half as many lanes a phase.
LANESCOPE_HD constexpr L1BankCost l1_atomic_cost(const Arch& arch, Request request) {
  const bool swaps = request.op == Op::compare_and_swap;
  const uint64_t mask = request.mask;
  const int lanes_each = swaps ? 64 / larger(request.width, 4) : request.lanes;
  request.op = Op::atomic;
  L1BankCost cost;
  const auto add = [&] {
    const SharedCost once = access_cost(arch, request);
    cost.wavefronts += once.wavefronts;
    cost.ideal += once.ideal;
  };
  if (request.returns) add();
  LANESCOPE_KEEP_LOOP
  for (int begin = 0; begin < request.lanes; begin += lanes_each) {
    request.mask = mask & lane_range(begin, begin + lanes_each);
    add();
  }
  return cost;
}

}  // namespace detail

/// Whether it is known how such requests meet in the banks of the first-level cache, if not on which chips.
LANESCOPE_HD constexpr bool has_l1_rule(const Request& request) { return request.width <= 16; }

/// What the banks do for `request` if all its lines are in the cache: for loads and stores what they do for a
/// store to shared memory, distinct words, whole phases, no rule of pairs. Moving all lanes by
/// global_shift_granule changes nothing. Nothing where the cache is not in the banks, for copies, and for
/// accesses of 32 bytes a lane, of which nobody has measured it.
LANESCOPE_HD constexpr L1BankCost l1_bank_cost(const Arch& arch, Request request) {
  if (!arch.l1_in_banks || !has_l1_rule(request)) return {};
  if (request.op == Op::atomic || request.op == Op::compare_and_swap)
    return detail::l1_atomic_cost(arch, request);
  if (request.op != Op::load && request.op != Op::store) return {};
  request.op = Op::store;
  const SharedCost banks = detail::access_cost(arch, request);
  return {banks.wavefronts, banks.ideal};
}

/// What `request` takes on `arch`: aligned accesses of 1, 2, 4, 8 or 16 bytes a lane, at the addresses that
/// they have on the GPU (which part of the tag stage looks up a line depends on them). Nothing of 32 bytes.
LANESCOPE_HD constexpr L1Cost l1_cost(const Arch& arch, const Request& request) {
  L1Cost cost;
  cost.evidence = is_atomic(request.op) && request.width != 4 && request.width != 8 ? Evidence::assumed
                                                                                    : arch.l1_evidence;
  cost.hit = l1_bank_cost(arch, request);
  if (cost.hit.wavefronts == 0) return cost;
  Request part = request;
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = request.mask & detail::lane_range(0, request.lanes); left != 0; left &= ~part.mask) {
    part.mask = detail::looked_up_next(request, left);
    ++cost.tag_wavefronts;
    if (request.op != Op::store) cost.miss_wavefronts += l1_bank_cost(arch, part).wavefronts;
  }
  return cost;
}

}  // namespace lanescope::model
