// Puts one access into words: which lanes meet in which bank, or why it takes more sectors than it has to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/observer.hpp"
#include "lanescope/model/arch.hpp"
#include "lanescope/model/request.hpp"
#include "lanescope/model/shared.hpp"
#include "profile/profile.hpp"
#include "ptx/module.hpp"

namespace lanescope::report {

/// 8 if every eighth lane from the first to the last is in the mask, and no other one; else 1.
[[nodiscard]] int every_lane_of(uint64_t mask);

/// Bytes from each lane of `mask` to the next lane, when all are the same distance apart.
[[nodiscard]] std::optional<int64_t> stride_of(const model::Request& request, uint64_t mask);

/// The words of one bank in one phase.
struct BankUse {
  int bank = 0;
  std::vector<model::BankWord> words;
  uint64_t lanes = 0;
  int lane_accesses = 0;
};

/// The banks that are used in a phase of a request, by their number.
[[nodiscard]] std::vector<BankUse> banks_of(const model::SharedDetail& detail, int phase);

/// Whether a bank serves each lane on its own, even where lanes access one word.
[[nodiscard]] bool counts_lanes(const model::Arch& arch, const model::Request& request);

/// "lanes 0, 16 → words 0, 32", or word by word where several lanes share words.
[[nodiscard]] std::string who_meets(const BankUse& bank);

/// What one request to shared memory costs and why: who meets in the busiest bank of its worst phase, or that
/// nobody does, and what the distance of the lanes has to do with it. Empty when no lane is active.
/// `updates`: it is of an atomic operation, though it may cost what a store does.
[[nodiscard]] std::string explain_request(const model::Arch& arch, const model::Request& request,
                                          bool updates = false);

/// Why the access `worst`, in shared memory, takes more wavefronts than phases. `kind`: of its instruction.
/// `grid`, `block`: of the launch.
[[nodiscard]] std::string explain_shared(const model::Arch& arch, const profile::Example& worst,
                                         exec::AccessKind kind, const exec::Dim3& grid,
                                         const exec::Dim3& block);

/// Of an access that conflicts: that the rows of the block do, which a warp spans, if lanes of one row do
/// not; else empty.
[[nodiscard]] std::string explain_rows(const profile::Example& worst, const exec::Dim3& block);

/// How the destinations of a cp.async.cg take apart the sectors of 32 bytes that it reads.
enum class Split : uint8_t {
  none,       ///< they do not, or `worst` is no such copy's source
  shifted,    ///< every lane moves one half of a sector to the other half of another one
  scattered,  ///< parts of one sector go to several in another way
};
[[nodiscard]] Split split_of(const profile::Example& worst);

/// Whether these lanes' bytes, where neighbours have neighbouring addresses, cost sectors.
[[nodiscard]] bool skips_sectors(const profile::Example& worst);

/// How far the lowest address is past the begin of a sector.
[[nodiscard]] uint64_t past_sector(const profile::Example& worst);

/// Lanes in order that stand equally far apart, and then go on elsewhere.
struct LaneGroups {
  int count = 0;
  int64_t step = 0;      ///< bytes from lane to lane within each group; 0: one address
  bool aligned = true;   ///< each begins a sector
  int64_t distance = 0;  ///< bytes from each group to the next; 0: not always as many
  uint32_t begins = 0;   ///< the first lane of each
};
/// Empty where most lanes have no group. One group: all that are active, whichever lanes rest in between.
[[nodiscard]] std::optional<LaneGroups> lane_groups_of(const profile::Example& worst);

/// Whether lanes go on elsewhere where a row of the block ends, threads with the same threadIdx.y, and only
/// there.
[[nodiscard]] bool are_rows_of_block(const LaneGroups& groups, const profile::Example& worst,
                                     const exec::Dim3& block);

/// Why the access `worst`, in global memory or shared memory of other blocks, touches more sectors than its
/// bytes fill.
[[nodiscard]] std::string explain_global(const model::Arch& arch, const profile::Example& worst,
                                         const exec::Dim3& grid);
/// The same of a line's bulk copies.
[[nodiscard]] std::string explain_bulk(const profile::Counters& copies);

/// What a wgmma.mma_async waits for, if it is not the tensor cores at their best. Empty if it is.
[[nodiscard]] std::string explain_product(const ptx::Instruction& product);

}  // namespace lanescope::report
