// From the engine's accesses to the model's answers: the one place where an exec::Access becomes a
// model::Request.
#pragma once

#include "exec/observer.hpp"
#include "lanescope/model/arch.hpp"
#include "lanescope/model/request.hpp"
#include "merge/plan.hpp"
#include "profile/profile.hpp"

namespace lanescope::profile {

[[nodiscard]] model::Op op_of(exec::AccessKind kind);

/// How many matrices a matrix instruction of these lanes moves: each lane has the address of a row, eight
/// rows each.
[[nodiscard]] constexpr int matrices_of(uint32_t mask) {
  return mask >> 16 != 0 ? 4 : mask >> 8 != 0 ? 2 : 1;
}

/// The access as the model is asked about it, for shared, global and constant memory.
[[nodiscard]] model::Request request_of(exec::AccessKind kind, uint8_t width, uint32_t mask,
                                        const std::array<uint64_t, 32>& address);

/// Where the lanes of a cp.async.cg write, as the model is asked about it.
[[nodiscard]] model::FixedArray<uint64_t, model::max_lanes> destinations(const uint32_t* offset);

/// One access of the machine code that an access of the PTX becomes. Lanes of a combined atomic that meet in
/// one word cost what one does: as those of a store.
[[nodiscard]] exec::Access piece_of(const exec::Access& access, const merge::Fate& fate,
                                    const merge::Piece& piece);

/// What one access costs. Local memory is counted as the hardware lays it out: word w of the lanes of a warp
/// is 128 consecutive bytes, one 32-bit word for each lane (CUDA C Programming Guide, "Local Memory"), so
/// lanes that use their word w together fill whole sectors; accesses of several words are counted word by
/// word.
[[nodiscard]] Cost cost_of(const model::Arch& arch, const exec::Access& access);

/// What a bulk copy, or a warp's share of what wgmma reads of one matrix, costs.
[[nodiscard]] Cost cost_of(const model::Arch& arch, const exec::BulkAccess& access);

}  // namespace lanescope::profile
