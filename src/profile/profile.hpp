// What a launch cost, as numbers only: counters of every memory instruction, and their sums by source line,
// by variable and over the launch. Collectors (collector.hpp) fill it; reports (src/report/) put it into
// words.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exec/observer.hpp"
#include "exec/program.hpp"
#include "lanescope/model/arch.hpp"
#include "ptx/module.hpp"

namespace lanescope::profile {

/// The histogram of n-way holds 1-way … 64-way; what is worse is counted as 64-way (index 0 is never used).
inline constexpr uint32_t most_ways = 64;

/// No shared variable: the access went elsewhere, or to no declared variable.
inline constexpr uint32_t no_variable = 0xffffffffu;

/// What the machine code of atomics that are loops does beside one atomic for each request.
struct UpdateLoops {
  uint64_t repeats = 0;  ///< compare-and-swaps after the first
  uint64_t loads = 0;
  uint64_t load_wavefronts = 0;  ///< of the request's, as the next two
  uint64_t load_ideal = 0;
  uint64_t load_conflicts = 0;

  void add(const UpdateLoops& other, uint64_t times = 1);
  friend bool operator==(const UpdateLoops&, const UpdateLoops&) = default;
};

/// The cost of one access as the model gives it. Shared memory fills the first group, all other spaces the
/// second one; `lanes` is of both. A bulk copy is one request of one lane.
struct Cost {
  uint32_t instructions = 1;  ///< of the PTX: 0 for what belongs to one that is counted already
  uint32_t requests = 1;  ///< accesses of the machine code: 0 or several where the assembler merges or splits
  uint32_t lanes = 0;     ///< active
  uint32_t wavefronts = 0;
  uint32_t ideal = 0;      ///< non-empty phases: the wavefronts an access of these lanes must cost
  uint32_t conflicts = 0;  ///< as the hardware counts them: model::SharedCost
  uint32_t max_way = 0;    ///< of the worst phase
  UpdateLoops loops;
  bool estimate = false;    ///< the hardware's rule is unknown: the numbers are an estimate
  bool write_race = false;  ///< several lanes store to one word: which value stays is undefined

  uint32_t transactions = 0;   ///< in the architecture's own unit: segments, lines or sectors
  uint32_t sectors = 0;        ///< distinct aligned 32 bytes; of a cp.async.cg: see model::copy_cost
  uint32_t ideal_sectors = 0;  ///< the sectors that the bytes asked for would fill
  uint32_t lines = 0;          ///< distinct aligned 128 bytes
  uint32_t l1_wavefronts = 0;  ///< of the first-level cache: model::l1_bank_cost
  uint32_t l1_ideal = 0;       ///< those of them without conflicts
  bool l1_unknown = false;     ///< how many it takes is not known: model::has_l1_rule
  uint32_t bytes_asked = 0;
  uint32_t bytes_distinct = 0;  ///< of those, each counted once in a request
  uint32_t bytes_moved = 0;
  uint32_t word_lanes = 0;  ///< atomics: most lanes that meet in one word, which serves one after the other

  model::Evidence evidence = model::Evidence::measured;  ///< of the rules that gave the numbers

  /// Another access of the machine code for the same instruction of the PTX.
  void add(const Cost& other);
};

/// Sums of Cost over accesses.
struct Counters {
  uint64_t instructions = 0;  ///< memory instructions of the PTX that warps executed
  uint64_t requests = 0;      ///< warp-wide accesses; differ from `instructions` where the assembler merges
  uint64_t lanes = 0;         ///< active lanes of all requests
  uint64_t wavefronts = 0;
  uint64_t ideal = 0;
  uint64_t conflicts = 0;
  UpdateLoops loops;
  uint64_t estimates = 0;    ///< requests whose rule is unknown
  uint64_t write_races = 0;  ///< requests in which lanes store to one word
  uint64_t transactions = 0;
  uint64_t sectors = 0;
  uint64_t ideal_sectors = 0;
  uint64_t lines = 0;
  uint64_t l1_wavefronts = 0;
  uint64_t l1_ideal = 0;
  uint64_t l1_unknown =
      0;  ///< requests whose wavefronts of the first-level cache are not known, and not summed
  uint64_t bytes_asked = 0;
  uint64_t bytes_distinct = 0;
  uint64_t bytes_moved = 0;
  uint64_t word_lanes = 0;
  uint32_t max_way = 0;
  model::Evidence evidence = model::Evidence::measured;  ///< of the least sure request
  std::array<uint64_t, most_ways + 1> ways{};  ///< shared: requests by the n-way of their worst phase

  void add(const Cost& cost, uint64_t times = 1);
  void add(const Counters& other);
  friend bool operator==(const Counters&, const Counters&) = default;
};

/// The worst access of an instruction: in shared memory the one with most wavefronts in a phase, then most
/// wavefronts; elsewhere the one with most sectors over the ideal, then most sectors. Among equals the first
/// one of the block with the smallest index.
struct Example {
  uint64_t badness = 0;  ///< what is compared; 0: no access was seen
  uint64_t block = 0;    ///< linear index
  uint32_t warp = 0;     ///< of the block
  uint32_t mask = 0;
  uint8_t width = 0;  ///< bytes a lane
  exec::AccessKind kind{};
  exec::AccessSpace space{};
  std::array<uint64_t, 32> address{};      ///< as in exec::Access; lanes outside `mask` hold 0
  std::array<uint32_t, 32> destination{};  ///< the same; 0 if it has none

  [[nodiscard]] bool has_destination() const {
    return kind == exec::AccessKind::async_copy_cg && space == exec::AccessSpace::global;
  }
  /// Whether this is to be shown rather than `other`.
  [[nodiscard]] bool worse_than(const Example& other) const {
    return badness != other.badness ? badness > other.badness : block < other.block;
  }
  friend bool operator==(const Example&, const Example&) = default;
};

/// One memory instruction, in one space and one variable: generic instructions and computed addresses reach
/// several. Constant memory is not counted: it goes through a cache of its own.
struct SiteCounters {
  uint32_t site = 0;  ///< index of Kernel::accesses
  exec::AccessSpace space{};
  uint32_t variable = no_variable;  ///< index of Kernel::shared
  exec::AccessKind kind{};
  Counters counters;
  Example worst;
  friend bool operator==(const SiteCounters&, const SiteCounters&) = default;
};

/// One distinct warp access to shared memory, and how often it came.
struct RecordedAccess {
  uint32_t site = 0;      ///< index of Kernel::accesses
  uint32_t variable = 0;  ///< index of Kernel::shared; no_variable: none
  exec::AccessKind kind{};
  uint8_t width = 4;  ///< bytes a lane
  uint32_t mask = 0;  ///< active lanes
  std::array<uint32_t, 32>
      address{};  ///< byte offsets in the block's shared memory; 0 for lanes outside `mask`
  uint64_t count = 0;
  friend bool operator==(const RecordedAccess&, const RecordedAccess&) = default;
};

/// The distinct accesses to shared memory of a launch, if they were recorded (recording.hpp).
struct Recording {
  std::vector<RecordedAccess> accesses;  ///< after merge(): ordered by site, variable, mask and addresses
  /// Requests whose pattern came after the table was full; they are in no list.
  uint64_t dropped = 0;
  /// Variables (indices of Kernel::shared, ascending) that bulk copies or wgmma went to, by accesses that are
  /// in no list either.
  std::vector<uint32_t> async_variables;
  friend bool operator==(const Recording&, const Recording&) = default;
};

/// What warps did at one branch.
struct BranchCounters {
  uint32_t branch = 0;  ///< index of Kernel::branches
  exec::BranchCounts counts;
  friend bool operator==(const BranchCounters&, const BranchCounters&) = default;
};

/// All accesses of a launch, ordered by site, space and variable. The same for any number of host threads.
struct Profile {
  std::vector<SiteCounters> sites;
  std::vector<BranchCounters> branches;  ///< those that were executed, in their order
  Recording recording;
  friend bool operator==(const Profile&, const Profile&) = default;
};

/// The sum of profiles of one launch's host threads.
[[nodiscard]] Profile merge(const std::vector<Profile>& parts);

/// Where people look for an instruction.
struct Place {
  uint32_t file = 0;  ///< index of Kernel::files; 0 when `line` is one of the PTX
  uint32_t line = 0;
  bool in_source = false;  ///< false: the PTX has no .loc here
};

/// The innermost source line of an instruction that is not in a header of the CUDA toolkit or of CUTLASS: an
/// atomicAdd is where the program calls it, not where the toolkit defines it, and cute::copy likewise. Of
/// kernels that are CUTLASS's own, the innermost line there. Functions of the program itself are not looked
/// through.
[[nodiscard]] Place place_of(const ptx::Module& module, const exec::Origin& origin);

/// The same with the name of its file: the CUDA source, or the PTX where that is not known.
struct NamedPlace {
  std::string file;
  uint32_t line = 0;
  bool in_source = false;
};
[[nodiscard]] NamedPlace named(const ptx::Module& module, const exec::Kernel& kernel, const Place& place);
/// Of an instruction, by the index of its origin.
[[nodiscard]] NamedPlace named_place(const ptx::Module& module, const exec::Kernel& kernel, uint32_t origin);

/// Whether a path leads to a header that comes with CUDA.
[[nodiscard]] bool is_toolkit_header(std::string_view path);

/// What one source line did in one way to one variable.
struct LineCounters {
  Place place;
  std::string op;  ///< instruction and space reached: "ld.shared", "red.global"
  exec::AccessKind kind{};
  exec::AccessSpace space{};
  uint32_t variable = no_variable;
  Counters counters;
  Example worst;
  uint32_t worst_site = 0;      ///< the site of `worst`
  std::vector<uint32_t> sites;  ///< all of them, ascending
};

/// By source line, op, kind of access and shared variable; in the order of the program text.
[[nodiscard]] std::vector<LineCounters> by_line(const ptx::Module& module, const exec::Kernel& kernel,
                                                const Profile& profile);

/// By shared variable (index of Kernel::shared; no_variable for the rest of shared memory), in their order.
struct VariableCounters {
  uint32_t variable = no_variable;
  Counters counters;
};
[[nodiscard]] std::vector<VariableCounters> by_variable(const Profile& profile);

/// The sums of a launch that profilers have counters for.
struct Totals {
  Counters shared_load, shared_store, shared_atomic;
  /// What asynchronous copies write, which the counters of stores do not hold (measured on H100 and H200,
  /// docs/accuracy.md).
  Counters shared_copy;
  Counters shared_product;  ///< what wgmma reads
  Counters global_load, global_store, global_atomic;
  Counters global_copy;                            ///< what asynchronous copies read
  Counters bulk_load, bulk_store, bulk_reduction;  ///< bulk copies from and to global memory
  Counters cluster_load, cluster_store, cluster_atomic;
  Counters cluster_copy;  ///< bulk copies to other blocks of the cluster
  Counters local_load, local_store;
};
[[nodiscard]] Totals totals(const Profile& profile);
/// Adds what accesses of that space and kind cost. The loads of update loops are loads.
void add(Totals& sum, exec::AccessSpace space, exec::AccessKind kind, const Counters& counters);

/// "shared", "global", "local", "shared::cluster": as PTX writes it.
[[nodiscard]] const char* name_of(exec::AccessSpace space);

}  // namespace lanescope::profile
