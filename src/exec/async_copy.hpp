// cp.async: copies from global to shared memory that a thread starts and waits for later, in groups. Source:
// PTX ISA 9.0, 9.7.9.25.
//
// A copy is done at the latest moment that PTX allows: when its thread waits for it (cp.async.wait_group,
// cp.async.wait_all) or lets an mbarrier wait for it (cp.async.mbarrier.arrive). A program that forgets to
// wait then reads what was there before, every time, where a GPU would let it get away now and then.
#pragma once

#include <array>
#include <cstdint>

#include "exec/program.hpp"

namespace lanescope::exec {

struct Warp;

/// One cp.async of a warp that is not done yet.
struct AsyncCopy {
  uint32_t mask = 0;                        ///< lanes whose copy is still to be done
  uint32_t group = 0;                       ///< of those lanes: how many groups each had committed before
  uint32_t size = 0;                        ///< bytes written by each lane
  std::array<uint32_t, warp_lanes> to{};    ///< offsets in shared memory
  std::array<uint64_t, warp_lanes> from{};  ///< host addresses
  std::array<uint8_t, warp_lanes> read{};   ///< bytes read; the others become zero
};

/// Starts a copy of the lanes of copy.mask; group is set here.
void start_copy(Warp& w, AsyncCopy& copy);
/// Checks sources of which fewer bytes are read than are written; returns the lanes that may read, with host
/// addresses in `from`.
uint32_t resolve_partial(Warp& w, const Inst* in, uint32_t lanes, uint64_t* from, const uint8_t* read,
                         uint32_t size);

// Handlers without a host instruction set.
const Inst* commit_copies(Warp& w, const Inst* in);
/// imm: how many of the last groups need not be complete.
const Inst* wait_for_groups(Warp& w, const Inst* in);
const Inst* wait_for_copies(Warp& w, const Inst* in);
/// The mbarrier of each lane waits for its copies so far. imm: a MbarrierForm; b: no_operand if the object
/// has been told of this arrival (.noinc).
const Inst* arrive_after_copies(Warp& w, const Inst* in);

}  // namespace lanescope::exec
