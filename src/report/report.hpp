// What a run found, ready to be written: one Report, made from profiles, kernels and modules; text.hpp and
// json.hpp write it down. Nothing here formats for one output only, and nothing that counts knows of this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/advise.hpp"
#include "advise/sources.hpp"
#include "exec/launch.hpp"
#include "lanescope/model/arch.hpp"
#include "merge/plan.hpp"
#include "profile/profile.hpp"
#include "ptx/assembler.hpp"
#include "ptx/module.hpp"

namespace lanescope::report {

/// A comment `lanescope: allow(RULE) reason` in the source, at a line or above it: what it names is wanted.
struct Permission {
  std::string rule;  ///< "bank-conflict"; "all"
  std::string reason;
};

/// One source line doing one thing to one variable.
struct Line {
  std::string file;  ///< as the compiler wrote it; the PTX file where no source line is known
  uint32_t line = 0;
  std::string op;        ///< "ld.shared"
  std::string variable;  ///< of shared memory; empty where there is none
  exec::AccessSpace space{};
  exec::AccessKind kind{};
  profile::Counters counters;
  profile::Example worst;
  profile::Example typical;  ///< shared memory: of the pattern that came most often; its mask is 0 if unknown
  std::string why;  ///< in words, why the worst access costs more than the ideal; empty when it does not
  std::vector<Permission> allowed;
  std::string source;  ///< the line's text without indentation; empty when the file was not found
  std::string merged;  ///< in words, what the assembler makes of it other than is written; empty when nothing
  std::string doubt;   ///< in words, why that may be more or less; empty when the rules decide
};
/// "reduce.cu:12".
[[nodiscard]] std::string place_of(const Line& line);
/// What a line costs too much: conflicts, sectors over the ideal, sectors of local memory.
[[nodiscard]] uint64_t excess_of(const Line& line);

/// One branch of the source. Branches that a compiler made of one line are one.
struct Branch {
  std::string file;
  uint32_t line = 0;
  std::string source;
  exec::BranchCounts counts;
  uint32_t straight = 0;  ///< see exec::BranchSite; the largest, 0 where one of them is not straight
  bool backward = false;
  bool unrolled = false;  ///< the way back of a loop that the assembler unrolls: exec/unrolling.hpp
  std::vector<Permission> allowed;
};

/// What a thread of the kernel takes of the machine, as the assembler says, and how many blocks fit.
struct Machine {
  bool assembled = false;                   ///< false: spills are unknown
  uint32_t registers = 0, stack_bytes = 0;  ///< no registers: both are unknown
  uint32_t spill_store_bytes = 0, spill_load_bytes = 0;
  /// All of the stack holds spilled registers, since nothing else of the kernel lies there; how often they
  /// are stored and loaded is not known.
  bool stack_is_spilled = false;
  bool has_occupancy = false;  ///< the multiprocessor's limits are known: NVIDIA's chips
  uint32_t blocks = 0;         ///< resident on a multiprocessor
  uint32_t warps = 0, most_warps = 0;
  std::string limiter;    ///< "registers"
  std::string next_step;  ///< in words, what one block more would need; empty when full or unknown
};

/// Line::why of local memory that a thread has for nothing else.
inline constexpr const char* arguments_of_printf = "It holds the arguments of printf.";
/// What Line::why ends with where lanes are so far apart as the pieces that threads take from the heap.
inline constexpr const char* memory_of_threads =
    " The kernel takes memory for each thread (new, malloc), whose pieces lie apart.";

/// … and where what the kernel reads decides where they are.
inline constexpr const char* sent_by_data = " Data that the kernel reads sends the lanes there.";
inline constexpr const char* meet_by_data =
    " Data that the kernel reads sends the lanes there: with other data, other ones meet.";

/// What is said of code for a debugger.
inline constexpr const char* compiled_for_a_debugger =
    "Compiled for a debugger (-G): nothing is optimized and no accesses are merged, so these are not the "
    "numbers of the program as it is meant to run.";

/// All accesses to one variable of shared memory.
struct Variable {
  std::string name;
  profile::Counters counters;
};

/// A defect of the program that was run.
struct Finding {
  std::string kind;  ///< "out-of-bounds"
  exec::Finding::Severity severity{};
  std::string kernel;
  std::string file;
  uint32_t line = 0;
  std::string message;        ///< in words; names the other place, if there is one, but not this one
  exec::Dim3 block{0, 0, 0};  ///< coordinates of the first occurrence
  exec::Dim3 thread{0, 0, 0};
  uint64_t address = 0;
  uint32_t width = 0;  ///< bytes the lane asked for; 0 when it is no access
  uint64_t count = 1;  ///< how often a lane did this
  /// The other access of a race, the store that came too late, the place where the others are.
  bool has_other = false;
  std::string other_file;
  uint32_t other_line = 0;
  exec::Dim3 other_block{0, 0, 0}, other_thread{0, 0, 0};
  exec::Finding::Lack lack{};  ///< of a race: what is missing
  bool of_lanes = false;       ///< of a race: a barrier of the warp would do
  bool is_update = false;      ///< of a race: no barrier would do, but an atomic operation
};

struct Launch {
  std::string kernel;  ///< as the programmer wrote it
  std::string file;    ///< where its code begins
  uint32_t line = 0;
  uint64_t launches = 1;  ///< how many launches of this kernel and shape are summed here
  exec::Dim3 grid, block;
  uint64_t shared_bytes = 0;  ///< of a block, static and dynamic
  uint64_t warp_instructions = 0;
  uint64_t lane_instructions = 0;  ///< the same, times the lanes on this way
  uint64_t shuffles = 0;           ///< of `warp_instructions`: each takes a wavefront of the data stage
  bool failed = false;             ///< results are not to be trusted
  bool counted = false;            ///< false: only run; everything below but the findings is empty
  /// Of its blocks one in so many is counted (--sample-blocks); 0: not known of how many.
  uint64_t sample_every = 1;
  exec::Checks checks;    ///< what was looked for besides what always is
  std::string uncounted;  ///< in words, what of its accesses is in no number here; empty: nothing
  /// Accesses to shared memory and loads of global memory are counted as the assembler merges those of the
  /// PTX.
  bool merges = false;
  bool is_debug =
      false;  ///< compiled for a debugger: accesses and instructions are not those of release code
  profile::Totals totals;
  std::vector<std::pair<std::string, uint64_t>> metrics;  ///< by the profilers' names (docs/report.md)
  std::vector<Line> lines;  ///< shared, then global, then local memory; in each the worst first
  std::vector<Variable> variables;
  std::vector<exec::SharedVariable> shared;  ///< of a block, accessed or not; not in a saved report
  std::vector<Branch> branches;              ///< most idle lanes first
  Machine machine;
  std::vector<Finding> findings;
  std::string why_shared;  ///< in words, why the worst line of shared memory conflicts; empty when none does
  std::string why_global;  ///< the same for global sectors
  std::vector<advise::Advice> advice;  ///< changes that would take conflicts away, most gain first
  /// For each advice the worst access of its line as it would be; its mask is 0 where that is not one access.
  std::vector<profile::Example> advised;

  [[nodiscard]] bool sampled() const { return sample_every != 1; }
};

/// Copies between host and device that a program made in one direction.
struct Copies {
  std::string direction;  ///< "host to device"
  uint64_t count = 0;
  uint64_t bytes = 0;
  uint64_t pageable = 0;  ///< of them from or to host memory that is not pinned
  uint64_t repeated = 0;  ///< of them brought bytes that were there already, from an earlier copy
  uint64_t repeated_bytes = 0;
  /// Of them came after a kernel of their stream whose parameters hold no address in their memory: in another
  /// stream they could run beside it. An estimate: a kernel may get at memory by other ways.
  uint64_t independent = 0;
  uint64_t independent_bytes = 0;
};

struct Report {
  std::string arch;
  std::string arch_description;
  std::optional<model::Arch> model;  ///< the architecture itself; nothing if this version does not know it
  bool is_free = false;            ///< an architecture given by numbers: no rule of it is known from anywhere
  std::vector<std::string> notes;  ///< what a reader must know about all numbers
  std::vector<Launch> launches;
  std::vector<Copies> copies;  ///< of a program; those of its kernels are in the launches
};

/// A report of no launches yet.
[[nodiscard]] Report make_report(const model::Arch& arch);

/// One launch. `profile`: nothing when accesses were not counted. `needs`: of a thread, as the assembler
/// says; null: unknown. `plan`: what accesses were counted with, or null.
[[nodiscard]] Launch make_launch(const model::Arch& arch, const ptx::Module& module,
                                 const exec::Kernel& kernel, const exec::LaunchConfig& config,
                                 const exec::LaunchResult& result,
                                 const std::optional<profile::Profile>& profile, advise::Sources& sources,
                                 const ptx::MachineNeeds* needs = nullptr, const merge::Plan* plan = nullptr);

/// The worst access of the line that an advice is for, as it would be.
[[nodiscard]] profile::Example advised_access(const Launch& launch, const advise::Advice& advice);

/// Takes the patch from advice that needs more of a kernel's arrays than another launch of it has, or takes
/// away what another launch may use, and says why. For when all launches of a program are known.
void hold_advice_against_all_launches(Report& report);

/// Sums of lines by space and kind of access, as profile::totals has them of sites.
[[nodiscard]] profile::Totals totals_of(const std::vector<Line>& lines);

/// Puts lines in the order that Launch::lines has, and says why of the worst ones.
void order_lines(Launch& launch);

/// Whether a finding is an error: the command then fails.
[[nodiscard]] bool has_errors(const Launch& launch);

/// How the numbers of a launch are known: the least sure rule that they rest on.
[[nodiscard]] model::Evidence evidence_of(const Launch& launch);
/// "measured", "vendor guide", "third party", "assumed".
[[nodiscard]] const char* name_of(model::Evidence evidence);
/// "load", "store", "atomic", "async copy", "load matrix", "store matrix".
[[nodiscard]] const char* name_of(exec::AccessKind kind);
/// "layout", "sequential addressing", "strided elements", "lane mapping", "shuffles", "copies", "index
/// padding".
[[nodiscard]] const char* name_of(advise::Advice::Kind kind);
/// "none", "one", "many".
[[nodiscard]] const char* name_of(model::Broadcast broadcast);
/// In words how numbers are known, where that is not by measurement; empty where it is.
[[nodiscard]] const char* knowledge(model::Evidence evidence);

/// Coordinates of a linear index.
[[nodiscard]] exec::Dim3 coordinates(uint64_t index, const exec::Dim3& extent);
/// "(1,0,0)".
[[nodiscard]] std::string str(const exec::Dim3& at);
/// "256", "32x8".
[[nodiscard]] std::string extent(const exec::Dim3& size);

}  // namespace lanescope::report
