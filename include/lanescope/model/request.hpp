// One warp instruction sent to the memory system: what the model is asked about.
#pragma once

#include <cstdint>

#include "lanescope/model/portable.hpp"

namespace lanescope::model {

/// The kinds of access that the hardware counts differently. `atomic` is PTX `atom` and `red` as far as the
/// hardware has an instruction for them: 32-bit integers, exchanges; `compare_and_swap` takes twice as long;
/// `update_loop` is what the assembler makes of the others (floating-point, 64-bit integers but minimum and
/// maximum, all of 16 bits): load, compute, compare and swap, until every lane has got through.
/// `cp_async` is a copy from global to shared memory through the first-level cache (cp.async.ca),
/// `cp_async_cg` one past it (cp.async.cg, always 16 bytes; what compilers make of copies of 16 bytes).
enum class Op : uint8_t {
  load,
  store,
  atomic,
  compare_and_swap,
  update_loop,
  cp_async,
  cp_async_cg,
  ldmatrix,
  stmatrix
};

[[nodiscard]] LANESCOPE_HD constexpr bool is_atomic(Op op) {
  return op == Op::atomic || op == Op::compare_and_swap || op == Op::update_loop;
}
[[nodiscard]] LANESCOPE_HD constexpr bool is_copy(Op op) {
  return op == Op::cp_async || op == Op::cp_async_cg;
}

/// A fixed array usable in constexpr, host and device code (std::array's operators are host functions for
/// nvcc).
template <class T, int n>
struct FixedArray {
  T item[n];

  LANESCOPE_HD constexpr T& operator[](int i) { return item[i]; }
  LANESCOPE_HD constexpr const T& operator[](int i) const { return item[i]; }
  LANESCOPE_HD static constexpr int size() { return n; }
};

/// One warp-wide access.
struct Request {
  Op op = Op::load;
  /// Bytes each lane moves: 1, 2, 4, 8 or 16; of loads and stores of global memory also 32 (10.0 and later).
  /// A matrix row is always 16 bytes.
  int width = 4;
  /// Active lanes, bit l = lane l. Bits at or above `lanes` are ignored.
  uint64_t mask = 0;
  /// Lanes of the warp: 32 or 64.
  int lanes = 32;
  /// Byte address of each lane (shared: an offset in shared memory; global: any). Inactive lanes' are never
  /// read.
  FixedArray<uint64_t, max_lanes> address = {};
  /// ldmatrix/stmatrix: 1, 2 or 4 matrices; the row addresses are those of lanes 0 … 8*matrices-1. Else
  /// ignored.
  int matrices = 1;
  /// Atomic operations on global memory: whether somebody wants what was there before (`atom`; not `red`, nor
  /// an `atom` whose result nobody reads, of which the assembler makes a `red`). Else ignored.
  bool returns = false;
};

/// Byte address of lane l = base + l * stride for all `lanes` lanes: the request of most examples and tests.
LANESCOPE_HD constexpr Request strided(Op op, int width, uint64_t base, uint64_t stride, int lanes = 32) {
  Request request;
  request.op = op;
  request.width = width;
  request.lanes = lanes;
  request.mask = detail::lane_range(0, lanes);
  for (int lane = 0; lane < lanes; ++lane)
    request.address[lane] = base + static_cast<uint64_t>(lane) * stride;
  return request;
}

}  // namespace lanescope::model
