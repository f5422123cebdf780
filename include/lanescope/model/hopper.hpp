// What compute capability 9.0 brought and lanes' addresses alone do not tell: matrices that wgmma reads from
// shared memory, bulk copies, and accesses to the shared memory of other blocks of a cluster. Measured on
// H200 (tests/data/truth/h200_products.csv, h200_bulk_copies.csv, h200_clusters.csv).
#pragma once

#include <cstdint>

#include "lanescope/model/arch.hpp"
#include "lanescope/model/global.hpp"
#include "lanescope/model/request.hpp"

namespace lanescope::model {

/// Wavefronts of shared memory in which wgmma reads `rows` rows of A, or columns of B, of `row_bytes` bytes
/// each (multiples of 8, and of 16): one for each core matrix, eight rows of 16 bytes. They never conflict,
/// whatever strides, swizzle, transposition and begin the descriptor has (counters
/// l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma and …bank_conflicts…_op_gmma). A group of four warps
/// reads A once, 16 rows for each warp, unless it is in registers, and B once for all of them.
[[nodiscard]] LANESCOPE_HD constexpr int product_wavefronts(int rows, int row_bytes) {
  return rows / 8 * (row_bytes / 16);
}

/// Cycles that the tensor cores of a multiprocessor take for a product of 64 rows by `columns` columns by 32
/// bytes of K (of sparse products 64), one of many: half the columns, 16 at least; but 184 for 256 columns
/// with A in registers (of integers 170). Where product_wavefronts of both matrices are more, shared memory
/// is the limit, one a cycle. (Column `cycles` of the same file, met within 0.2, with A in registers
/// within 3.1.)
[[nodiscard]] LANESCOPE_HD constexpr int product_cycles(int columns, bool a_in_registers) {
  constexpr int least = 16;
  constexpr int largest = 256;
  constexpr int largest_from_registers = 184;
  if (a_in_registers && columns == largest) return largest_from_registers;
  return columns / 2 < least ? least : columns / 2;
}

/// Sectors of global memory that a bulk copy of `bytes` bytes between `global` and the byte offset `shared`
/// of shared memory asks for, in either direction: it goes in pieces that end where a line of 128 bytes ends
/// on either side, and each piece asks for all its sectors. So a row of 128 bytes that begins 16 bytes behind
/// a sector's begin takes five. Of a box of a tensor each row is a copy of its own. A load that goes to
/// several blocks (`multicast`) asks for two sectors at least with each piece. (Counters
/// l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld, which counts what arrives at each block,
/// l1tex__m_l1tex2xbar_write_sectors_…_tma_st, _red.)
[[nodiscard]] LANESCOPE_HD constexpr uint32_t bulk_sectors(uint64_t global, uint32_t shared, uint32_t bytes,
                                                           bool multicast = false) {
  constexpr uint32_t line = 128;
  constexpr uint32_t sector = 32;
  uint32_t sectors = 0;
  LANESCOPE_KEEP_LOOP
  while (bytes != 0) {
    const uint32_t there = line - static_cast<uint32_t>(global % line);
    const uint32_t here = line - shared % line;
    uint32_t piece = there < here ? there : here;
    piece = piece < bytes ? piece : bytes;
    const auto asked = static_cast<uint32_t>((global + piece - 1) / sector - global / sector) + 1;
    sectors += multicast && asked == 1 ? 2 : asked;
    global += piece;
    shared += piece;
    bytes -= piece;
  }
  return sectors;
}

/// What one warp instruction on the shared memory of other blocks of its cluster moves: it goes through the
/// network by sectors, as global memory does, and no bank conflict of the other block shows in a counter.
/// `request`: the lanes that go to other blocks, at addresses that differ by block in the bits above an
/// offset. Lanes that go to their own block are a request to shared memory like any other; of st.async and
/// red.async they go through the network as well.
///
/// Loads and stores ask for each distinct sector once. Others (atomics, st.async, red.async: op atomic) serve
/// lanes of one address one after the other, so that the first lanes of all addresses ask for their sectors,
/// then the second ones, and so on. (Counters l1tex__t_requests_pipe_lsu_mem_dshared, l1tex__t_sectors_….)
[[nodiscard]] LANESCOPE_HD constexpr GlobalCost cluster_cost(const Arch& arch, const Request& request) {
  GlobalCost cost = global_cost(arch, request);
  cost.evidence = arch.async_evidence;
  if (request.op == Op::load || request.op == Op::store) return cost;
  cost.sectors = 0;
  const uint64_t active = request.mask & detail::lane_range(0, request.lanes);
  FixedArray<int, max_lanes> turn = {};
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = active; left != 0; left &= left - 1) {
    const int lane = detail::lowest_bit(left);
    const uint64_t address = request.address[lane];
    bool fresh = true;
    LANESCOPE_KEEP_LOOP
    for (uint64_t before = active & detail::lane_range(0, lane); before != 0; before &= before - 1)
      turn[lane] += request.address[detail::lowest_bit(before)] == address;
    LANESCOPE_KEEP_LOOP
    for (uint64_t before = active & detail::lane_range(0, lane); before != 0; before &= before - 1) {
      const int other = detail::lowest_bit(before);
      fresh = fresh && !(request.address[other] / 32 == address / 32 && turn[other] == turn[lane]);
    }
    cost.sectors += fresh;
  }
  cost.transactions = cost.sectors;
  cost.bytes_moved = 32 * cost.sectors;
  return cost;
}

}  // namespace lanescope::model
