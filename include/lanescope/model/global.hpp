// What one warp instruction on global memory moves, by generation: sectors and lines are geometry and the
// same for all; transactions and bytes moved follow the generation's coalescing rule. Sources: arch.hpp.
#pragma once

#include <cstdint>

#include "lanescope/model/arch.hpp"
#include "lanescope/model/request.hpp"
#include "lanescope/model/shared.hpp"

namespace lanescope::model {

struct GlobalCost {
  /// Memory transactions of the generation: segments (1.x), 128-byte lines of each request (2.x, 3.x),
  /// sectors. Of a cp.async.cg: see copy_cost, for sectors and lines, too.
  int transactions = 0;
  /// Distinct aligned 32-byte sectors that the active lanes touch.
  int sectors = 0;
  /// Distinct aligned 128-byte lines ("tags").
  int lines = 0;
  /// The fewest sectors that could hold the distinct bytes asked for.
  int ideal_sectors = 0;
  /// Bytes of all active lanes, the same byte counted for each lane that asks for it.
  int bytes_asked = 0;
  /// The same with each byte counted once.
  int bytes_distinct = 0;
  /// Bytes of all transactions.
  int bytes_moved = 0;
  /// The lowest active address starts a transaction unit (the largest one where a generation has several
  /// sizes).
  bool aligned = true;
  Evidence evidence = Evidence::measured;

  friend constexpr bool operator==(const GlobalCost&, const GlobalCost&) = default;
};

namespace detail {

/// Table sizes: 64 lanes touch at most two blocks each.
struct BlockTables {
  using Index = uint8_t;
  static constexpr int slot_bits = 8;
  static constexpr int keys = 2 * max_lanes;
};

struct Moved {
  int transactions = 0;
  int bytes = 0;
};

/// Distinct blocks of 1 << shift bytes that the lanes touch.
LANESCOPE_HD constexpr int distinct_blocks(const Request& request, uint64_t lanes, int shift) {
  EqualKeys<BlockTables> blocks;
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = lanes; left != 0; left &= left - 1) {
    const uint64_t address = request.address[lowest_bit(left)];
    const uint64_t first = address >> shift;
    const uint64_t last = (address + static_cast<uint64_t>(request.width - 1)) >> shift;
    if (blocks.count == 0 || blocks.key[blocks.count] != first) blocks.add(first);
    if (last != first) blocks.add(last);
  }
  return blocks.distinct();
}

/// 1.0 and 1.1, one half-warp: guide 4.2, F.3.2.1. Only words of 4, 8 and 16 bytes coalesce; inactive lanes
/// may be missing. Where it fails the guide says 16 transactions of 32 bytes: one for each lane, so for each
/// active one.
LANESCOPE_HD constexpr Moved strict_segments(const Request& request, uint64_t half, int first_lane) {
  bool coalesced = request.width >= 4;
  const uint64_t width = static_cast<uint64_t>(request.width);
  const int lowest = lowest_bit(half);
  const uint64_t base = request.address[lowest] - static_cast<uint64_t>(lowest - first_lane) * width;
  const uint64_t segment = request.width == 4 ? 64 : 128;
  coalesced = coalesced && base % segment == 0;
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = half; left != 0 && coalesced; left &= left - 1) {
    const int lane = lowest_bit(left);
    coalesced = request.address[lane] == base + static_cast<uint64_t>(lane - first_lane) * width;
  }
  if (!coalesced) return Moved{count_bits(half), 32 * count_bits(half)};
  const int transactions = request.width == 16 ? 2 : 1;
  return Moved{transactions, transactions * static_cast<int>(segment)};
}

/// 1.2 and 1.3, one half-warp: guide 4.2, F.3.2.2.
LANESCOPE_HD constexpr Moved reduced_segments(const Request& request, uint64_t half) {
  Moved moved;
  const uint64_t width = static_cast<uint64_t>(request.width);
  const uint64_t full = request.width == 1 ? 32 : request.width == 2 ? 64 : 128;
  LANESCOPE_KEEP_LOOP
  while (half != 0) {
    const uint64_t start = request.address[lowest_bit(half)] / full * full;
    uint64_t lowest = start + full;
    uint64_t highest = start;
    LANESCOPE_KEEP_LOOP
    for (uint64_t left = half; left != 0; left &= left - 1) {
      const uint64_t address = request.address[lowest_bit(left)];
      if (address < start || address >= start + full) continue;
      half &= ~(left & (~left + 1));
      lowest = address < lowest ? address : lowest;
      highest = address + width - 1 > highest ? address + width - 1 : highest;
    }
    uint64_t size = full;
    LANESCOPE_KEEP_LOOP
    while (size > 32 && lowest / (size / 2) == highest / (size / 2)) size /= 2;
    ++moved.transactions;
    moved.bytes += static_cast<int>(size);
  }
  return moved;
}

}  // namespace detail

/// What `request` moves on `arch`. `l1` (2.x and 3.x only): whether loads go through the L1 cache in 128-byte
/// lines (the default of 2.x) or bypass it in 32-byte segments. Stores there write the touched sectors of
/// each line.
LANESCOPE_HD constexpr GlobalCost global_cost(const Arch& arch, const Request& request, bool l1 = true) {
  GlobalCost cost;
  cost.evidence = arch.global_evidence;
  const uint64_t active = request.mask & detail::lane_range(0, request.lanes);
  if (active == 0) return cost;

  // Distinct sectors, and in each the bytes that are touched.
  detail::EqualKeys<detail::BlockTables> sectors;
  uint32_t bytes[2 * max_lanes + 1];  // by item, like the keys
  uint64_t lowest = ~uint64_t{0};
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = active; left != 0; left &= left - 1) {
    const uint64_t address = request.address[detail::lowest_bit(left)];
    lowest = address < lowest ? address : lowest;
    const int begin = static_cast<int>(address % 32);
    const int end = begin + request.width;
    const uint32_t touched = static_cast<uint32_t>(detail::lane_range(begin, detail::smaller(end, 32)));
    if (sectors.count != 0 && sectors.key[sectors.count] == address / 32) {  // the usual neighbour
      bytes[sectors.count] |= touched;
    } else {
      sectors.add(address / 32);
      bytes[sectors.count] = touched;
    }
    if (end > 32) {
      sectors.add(address / 32 + 1);
      bytes[sectors.count] = static_cast<uint32_t>(detail::lane_range(0, end - 32));
    }
  }
  detail::EqualKeys<detail::BlockTables> lines;
  LANESCOPE_KEEP_LOOP
  for (int item = 1; item <= sectors.count; ++item) {
    const int earlier = sectors.earlier(item);
    if (earlier != 0) {  // the first item of a sector gets all its bytes
      bytes[earlier] |= bytes[item];
      bytes[item] = 0;
      continue;
    }
    ++cost.sectors;
    const uint64_t line = sectors.key[item] / 4;
    if (lines.count == 0 || lines.key[lines.count] != line) lines.add(line);
  }
  LANESCOPE_KEEP_LOOP
  for (int item = 1; item <= sectors.count; ++item) cost.bytes_distinct += detail::count_bits(bytes[item]);
  cost.ideal_sectors = (cost.bytes_distinct + 31) / 32;
  cost.lines = lines.distinct();
  cost.bytes_asked = detail::count_bits(active) * request.width;

  uint64_t unit = 32;
  if (arch.global == GlobalRule::sectors) {
    cost.transactions = cost.sectors;
    cost.bytes_moved = 32 * cost.sectors;
  } else if (arch.global == GlobalRule::lines) {
    // One request of the warp for up to 4 bytes a lane, of each half-warp for 8, of each quarter-warp for 16.
    const int lanes_each = request.width <= 4 ? 32 : request.width == 8 ? 16 : 8;
    const bool reads = request.op == Op::load || is_copy(request.op);
    const bool whole_lines = reads && l1;
    unit = whole_lines ? 128 : 32;
    LANESCOPE_KEEP_LOOP
    for (int first = 0; first < request.lanes; first += lanes_each) {
      const uint64_t lanes = active & detail::lane_range(first, first + lanes_each);
      if (lanes == 0) continue;
      const int touched_lines = detail::distinct_blocks(request, lanes, 7);
      const int touched_sectors = detail::distinct_blocks(request, lanes, 5);
      const bool by_line = !reads || l1;
      cost.transactions += by_line ? touched_lines : touched_sectors;
      cost.bytes_moved += whole_lines ? 128 * touched_lines : 32 * touched_sectors;
    }
  } else {
    const bool strict = arch.global == GlobalRule::strict_segments;
    unit = strict ? (request.width == 4  ? 64
                     : request.width < 4 ? 32
                                         : 128)
                  : (request.width == 1   ? 32
                     : request.width == 2 ? 64
                                          : 128);
    LANESCOPE_KEEP_LOOP
    for (int first = 0; first < request.lanes; first += 16) {
      const uint64_t half = active & detail::lane_range(first, first + 16);
      if (half == 0) continue;
      const detail::Moved moved =
          strict ? detail::strict_segments(request, half, first) : detail::reduced_segments(request, half);
      cost.transactions += moved.transactions;
      cost.bytes_moved += moved.bytes;
    }
  }
  cost.aligned = lowest % unit == 0;
  return cost;
}

/// What a cp.async.cg moves: lanes read `source` (op cp_async_cg, the lanes that read anything) and write
/// shared memory at the byte offsets `destination`. Past the first-level cache, sectors of memory go to
/// sectors of shared memory:
/// - `lines`: distinct pairs of a line read and a 128-byte line written (counter
///   l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld);
/// - `transactions`: distinct pairs of a line read and a sector written
///   (l1tex__t_sectors_pipe_lsu_mem_global_op_ld);
/// - `sectors`: distinct pairs of a sector read and a sector written, the two ways in which the halves of
///   one can go to those of the other counted apart: what is asked of the L2 cache
///   (smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts).
/// Of lanes that write one place only the last one's sectors are moved. So a row of 512 bytes that begins 16
/// bytes into a sector costs 20 transactions and 32 sectors where it is written to a row that begins one, and
/// 17 of each where source and destination lie alike. Measured on H200, tests/data/truth/h200_copies.csv.
LANESCOPE_HD constexpr GlobalCost copy_cost(const Arch& arch, const Request& source,
                                            const FixedArray<uint64_t, max_lanes>& destination) {
  GlobalCost cost = global_cost(arch, source);
  const uint64_t active = source.mask & detail::lane_range(0, source.lanes);
  cost.evidence = less_sure(cost.evidence, arch.async_evidence);
  if (arch.global != GlobalRule::sectors) return cost;  // has no such copies
  cost.lines = cost.transactions = cost.sectors = 0;
  uint64_t moved = 0;  // lanes of which the sectors are moved
  LANESCOPE_KEEP_LOOP
  for (int lane = source.lanes - 1; lane >= 0; --lane) {
    if ((active >> lane & 1) == 0) continue;
    const uint64_t from = source.address[lane];
    const uint64_t to = destination[lane];
    bool written = false;
    bool line = true;
    bool transaction = true;
    bool sector = true;
    LANESCOPE_KEEP_LOOP
    for (uint64_t others = active & detail::lane_range(lane + 1, source.lanes); others != 0;
         others &= others - 1) {
      const int other = detail::lowest_bit(others);
      const uint64_t its_from = source.address[other];
      const uint64_t its_to = destination[other];
      const bool same_line = from / 128 == its_from / 128;
      line = line && !(same_line && to / 128 == its_to / 128);
      if ((moved >> other & 1) == 0) continue;
      written = written || to / 16 == its_to / 16;
      const bool same_destination = to / 32 == its_to / 32;
      transaction = transaction && !(same_line && same_destination);
      sector = sector && !(same_destination && from / 32 == its_from / 32 &&
                           ((from ^ to ^ its_from ^ its_to) & 16) == 0);
    }
    cost.lines += line;
    if (written) continue;
    moved |= uint64_t{1} << lane;
    cost.transactions += transaction;
    cost.sectors += sector;
  }
  cost.bytes_moved = 32 * cost.sectors;
  return cost;
}

/// Adding any multiple of this many bytes to the addresses of all lanes changes no number of global_cost: no
/// generation has a unit larger than the 128-byte line.
LANESCOPE_HD constexpr uint32_t global_shift_granule(const Arch&) { return 128; }

}  // namespace lanescope::model
