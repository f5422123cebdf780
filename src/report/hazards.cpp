// See hazards.hpp.
#include "report/hazards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "exec/observer.hpp"
#include "profile/cost.hpp"
#include "report/explain.hpp"
#include "report/permissions.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

constexpr std::array all_rules{
    Rule{"bank-conflict", "Shared memory bank conflict",
         "Lanes of a warp access different words of one bank of shared memory, which come out one after the "
         "other: each conflict is one more wavefront. Pad or swizzle the array, or change which element a "
         "lane takes, so that the lanes served together reach different banks (lanescope fix tries it).",
         Level::warning, Basis::shared_counts},
    Rule{"uncoalesced-access", "Uncoalesced global access",
         "A warp's access to global memory touches more sectors of 32 bytes than its bytes would fill. Let "
         "neighbouring lanes use neighbouring addresses, begin rows at multiples of 32 bytes (better 128: "
         "cudaMallocPitch), turn arrays of structs into structs of arrays, or go through shared memory.",
         Level::warning, Basis::counts},
    Rule{"uncoalesced-cluster-access", "Uncoalesced access to another block's shared memory",
         "A warp's access to the shared memory of another block of its cluster (distributed shared memory) "
         "touches more sectors of 32 bytes than its bytes would fill; it goes through the network between "
         "multiprocessors by sectors, not by banks. Let neighbouring lanes use neighbouring addresses that "
         "begin at a multiple of 32 bytes, and go along columns in the block's own shared memory only.",
         Level::warning, Basis::counts},
    Rule{"warp-divergence", "Divergent branch",
         "Lanes of one warp decide a branch differently; each side runs while the lanes of the other wait. "
         "Let whole warps decide alike, give lanes of a warp equal work, or compute both sides and select.",
         Level::warning, Basis::counts},
    Rule{"atomic-contention", "Atomics of a warp on one word",
         "Several lanes of a warp change one word atomically, which happens one lane after the other. Reduce "
         "within the warp first (__reduce_add_sync, shuffles) and let one lane do the atomic, or spread the "
         "counters.",
         Level::warning, Basis::counts},
    Rule{"write-race", "Lanes store to one word",
         "Several lanes of a warp store to one word of shared memory in one instruction: if their values "
         "differ, which stays is undefined. Let one lane store, or use an atomic.",
         Level::warning, Basis::counts},
    Rule{"local-memory", "Local memory traffic",
         "Accesses to local memory, which lies in device memory: arrays of a thread that are indexed at run "
         "time, or registers that did not suffice. Index with constants (unroll the loop), or keep the array "
         "in shared memory.",
         Level::note, Basis::counts},
    Rule{"register-spill", "Registers spilled to local memory",
         "The assembler keeps values in local memory because a thread has too few registers. Raise the limit "
         "(__launch_bounds__, -maxrregcount), split the kernel, or shorten the lives of values.",
         Level::warning, Basis::assembly},
    Rule{"low-occupancy", "Few warps on a multiprocessor",
         "Registers, shared memory, threads or blocks keep warps away from a multiprocessor, which then has "
         "less to do while others wait for memory.",
         Level::note},
    Rule{"debug-code", "Code compiled for a debugger",
         "The kernel was compiled with -G: nothing is optimized and no accesses are merged, so its numbers "
         "are "
         "not those of the program as it is meant to run. Compile with -lineinfo instead.",
         Level::warning},
    Rule{"pageable-copy", "Copies with pageable host memory",
         "Host memory that is not pinned is copied twice (through a buffer of the driver) and cannot overlap "
         "a "
         "kernel. Allocate it with cudaMallocHost, or pin it with cudaHostRegister.",
         Level::note},
    Rule{"repeated-copy", "Unchanged data copied again",
         "Bytes that were copied to the same place before and have not changed since are copied again. Keep "
         "them on the device.",
         Level::warning},
    Rule{"serial-copy", "Copy that could overlap a kernel",
         "A copy waits for the kernel before it in its stream, which has nothing to do with the memory "
         "copied. "
         "In another stream, with pinned host memory, both run at the same time.",
         Level::note},
    Rule{"out-of-bounds", "Access out of bounds", "An access outside of every allocation.", Level::error},
    Rule{"misaligned", "Misaligned access", "An address that is no multiple of the access's size.",
         Level::error},
    Rule{"unknown-pointer", "Unknown pointer", "An access through a pointer to no memory of the device.",
         Level::error},
    Rule{"deadlock", "Deadlock", "Threads wait for what never comes.", Level::error},
    Rule{"trap", "Trap", "The kernel ended itself.", Level::error},
    Rule{"bad-call", "Bad call", "A call, a barrier or an argument that hardware does not take.",
         Level::error},
    Rule{"assertion", "Assertion failed", "An assert of the kernel does not hold.", Level::error},
    Rule{"write-to-constant", "Write to constant memory", "A store to memory that may only be read.",
         Level::error},
    Rule{"bad-barrier", "Bad barrier", "An operation on a barrier object that its state does not allow.",
         Level::error},
    Rule{"race", "Race on shared memory",
         "Two threads access one word of shared memory, one of them writes, and nothing orders the two.",
         Level::error, Basis::race},
    Rule{"uninitialised-read", "Read of memory nobody has written",
         "A read of shared, local or device memory whose value is undefined.", Level::error, Basis::init},
    Rule{"barrier-divergence", "Barrier reached by part of the threads",
         "Threads of a block wait at different barriers, or some do not come.", Level::error, Basis::barrier},
    Rule{"member-mask", "Wrong member mask",
         "A warp-wide instruction whose member mask does not fit the lanes that execute it.", Level::error,
         Basis::barrier},
    Rule{"shuffle-source", "Shuffle from a lane that takes no part",
         "A shuffle takes the value of a lane that has ended or is not in the member mask: it is undefined.",
         Level::warning, Basis::barrier},
    Rule{
        "array-overrun", "Access beyond an array of shared memory",
        "An index runs from one variable of shared memory into what lies beside it: another one, whose place "
        "the compiler chooses.",
        Level::error, Basis::bounds},
    Rule{"barrier-reinitialised", "Initialisation of an mbarrier in use",
         "mbarrier.init where an mbarrier is already, without mbarrier.inval before it.", Level::error,
         Basis::barrier}};

double ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

Level level_of(exec::Finding::Severity severity) {
  switch (severity) {
    case exec::Finding::Severity::error: return Level::error;
    case exec::Finding::Severity::warning: return Level::warning;
    case exec::Finding::Severity::note: break;
  }
  return Level::note;
}

/// Collects the hazards of one launch.
class Collector {
 public:
  Collector(size_t index, const Launch& launch, std::vector<Hazard>& out)
      : index_(index), launch_(launch), out_(out) {}

  void collect() {
    for (const Finding& finding : launch_.findings) add(finding);
    for (const Line& line : launch_.lines) add_line(line);
    for (const Branch& branch : launch_.branches) add(branch);
    add_machine();
    if (launch_.is_debug) {
      Hazard& hazard = start("debug-code", launch_.file, launch_.line, nullptr);
      hazard.count = launch_.launches;
      hazard.unit = plural(hazard.count, "launch");
      hazard.cause = compiled_for_a_debugger;
      hazard.advice = "Compile with -lineinfo instead.";
    }
  }

 private:
  size_t index_;
  const Launch& launch_;
  std::vector<Hazard>& out_;

  Hazard& start(std::string_view rule, const std::string& file, uint32_t line,
                const std::vector<Permission>* allowed) {
    Hazard& hazard = out_.emplace_back();
    hazard.rule = rule;
    hazard.level = find_rule(rule)->level;
    hazard.launch = index_;
    hazard.kernel = launch_.kernel;
    hazard.file = file;
    hazard.line = line;
    const Permission* permission = allowed == nullptr ? nullptr : permission_for(*allowed, rule);
    hazard.allowed = permission != nullptr;
    if (permission != nullptr) hazard.allowed_by = permission->reason;
    return hazard;
  }

  Hazard& start(std::string_view rule, const Line& line) {
    Hazard& hazard = start(rule, line.file, line.line, &line.allowed);
    hazard.subject = line.op + (line.variable.empty() ? "" : " of " + line.variable);
    return hazard;
  }

  void add(const Finding& finding) {
    Hazard& hazard = start(finding.kind, finding.file, finding.line, nullptr);
    hazard.level = level_of(finding.severity);
    hazard.count = finding.count;
    hazard.unit = plural(hazard.count, "lane");
    hazard.cause =
        fmt::format("{} (block {}, thread {})", finding.message, str(finding.block), str(finding.thread));
  }

  void add_line(const Line& line) {
    const profile::Counters& c = line.counters;
    if (line.space == exec::AccessSpace::shared && c.wavefronts > c.ideal) {
      Hazard& hazard = start(rule_of(line.space), line);
      hazard.count = c.wavefronts;
      hazard.ideal = c.ideal;
      hazard.unit = plural(hazard.count, "wavefront");
      hazard.cause = fmt::format("{}-way. {}", c.max_way, line.why) + doubt_about(line);
      hazard.advice = layout_advice(line.variable);
    }
    const bool by_sectors =
        line.space == exec::AccessSpace::global || line.space == exec::AccessSpace::cluster;
    if (by_sectors && c.sectors > c.ideal_sectors) {
      Hazard& hazard = start(rule_of(line.space), line);
      hazard.count = c.sectors;
      hazard.ideal = c.ideal_sectors;
      hazard.unit = plural(hazard.count, "sector");
      hazard.cause = fmt::format("{} moved for {} asked. {}", counted(c.bytes_moved, "byte"),
                                 grouped(c.bytes_asked), line.why);
      hazard.advice = exec::is_bulk_copy(line.kind)
                          ? fmt::format(
                                "Let rows begin at a multiple of 32 bytes in {}, and as far behind a "
                                "multiple of 128 bytes as in {}shared memory.",
                                in_cluster(line.space) ? "the other block's shared memory" : "global memory",
                                in_cluster(line.space) ? "the block's own " : "")
                          : coalescing_advice(line);
    }
    if (is_atomic(line.kind) && c.word_lanes > c.requests) {
      Hazard& hazard = start("atomic-contention", line);
      hazard.count = c.word_lanes;
      hazard.ideal = c.requests;
      hazard.unit = plural(hazard.count, "step");
      hazard.cause = fmt::format("On average {:.1f} lanes of a warp meet in one word.",
                                 static_cast<double>(c.word_lanes) / static_cast<double>(c.requests)) +
                     doubt_about(line);
      hazard.advice = "Add up within the warp first, and let one lane do the atomic.";
    }
    if (c.write_races != 0) {
      Hazard& hazard = start("write-race", line);
      hazard.count = c.write_races;
      hazard.unit = plural(hazard.count, "request");
      hazard.cause = "Several lanes store to one word, and if their values differ, which stays is undefined.";
    }
    if (line.space == exec::AccessSpace::local) {
      Hazard& hazard = start(rule_of(line.space), line);
      hazard.count = c.sectors;
      hazard.unit = plural(hazard.count, "sector");
      hazard.cause = fmt::format("{} of device memory move for {} of a thread's own memory.",
                                 counted(c.bytes_moved, "byte"), counted(c.requests, "access"));
      if (!line.why.empty()) hazard.cause += " " + line.why;
      hazard.advice =
          line.why == arguments_of_printf
              ? "Leave it out where time matters."
              : "Index arrays of a thread with constants (#pragma unroll), so that they stay in registers.";
    }
  }

  static std::string doubt_about(const Line& line) {
    return line.doubt.empty() ? "" : fmt::format(" On a GPU it may be another number: {}.", line.doubt);
  }

  [[nodiscard]] std::string layout_advice(const std::string& variable) const {
    const auto found = std::find_if(launch_.advice.begin(), launch_.advice.end(),
                                    [&](const advise::Advice& a) { return a.variable == variable; });
    if (found == launch_.advice.end()) return "";
    return fmt::format("{} ({} wavefronts of {} become {}{}).", found->change,
                       grouped(found->wavefronts_before), found->variable, found->estimate ? "about " : "",
                       grouped(found->wavefronts_after));
  }

  static bool in_cluster(exec::AccessSpace space) { return space == exec::AccessSpace::cluster; }

  [[nodiscard]] std::string coalescing_advice(const Line& line) const {
    const profile::Example& worst = line.worst;
    constexpr int64_t sector = 32;
    if (line.why.ends_with(memory_of_threads))
      return "If each lane accesses memory that its thread has taken: let one thread take it for the block, "
             "with element k of thread t at k * blockDim.x + t.";
    const char* own = in_cluster(worst.space) ? "the block's own shared memory" : "shared memory";
    const Split split = split_of(worst);
    if (split == Split::shifted)
      return fmt::format(
          "cp.async.cg moves whole sectors: let the copy's destination begin as far past a multiple of {} "
          "bytes as its source ({}).",
          sector, worst.address[static_cast<size_t>(std::countr_zero(worst.mask))] % sector);
    if (split == Split::scattered)
      return "cp.async.cg moves whole sectors: let lanes that read the two halves of one also write the two "
             "halves of one.";
    const auto gathered = [&] {
      return fmt::format("Sort what lanes access, or gather it through {}.", own);
    };
    if (line.why.ends_with(sent_by_data)) return gathered();
    const std::optional<int64_t> stride =
        stride_of(profile::request_of(worst.kind, worst.width, worst.mask, worst.address), worst.mask);
    const std::optional<LaneGroups> groups = stride ? std::nullopt : lane_groups_of(worst);
    if (groups && groups->step != 0 && std::abs(groups->step) != worst.width)
      return strided_advice(std::abs(groups->step), worst.width, own);
    if (groups && groups->count == 1) return shifted_advice(worst, groups->step < 0);
    if (groups && are_rows_of_block(*groups, worst, launch_.block))
      return fmt::format(
          "A warp spans {} rows of the block: let blockDim.x be a multiple of 32, so that it stays in one.",
          groups->count);
    if (groups && groups->count > 1 && groups->step != 0)
      return "Runs of neighbouring addresses end within the warp, as rows of a tile do: they take the fewest "
             "sectors where each begins at a multiple of 32 bytes. At the edges of tiles that cannot be, and "
             "tiles find the sectors that they share in the cache.";
    if (!stride) return gathered();
    const int64_t distance = std::abs(*stride);
    if (distance == worst.width && skips_sectors(worst))
      return "Let neighbouring lanes take part, with neighbouring elements.";
    if (distance == worst.width) return shifted_advice(worst, *stride < 0);
    // Only what goes to other blocks is served one lane after the other.
    if (distance == 0) return "Let one lane do it for the warp.";
    if (static_cast<uint32_t>(every_lane_of(worst.mask)) == launch_.block.x && launch_.block.x > 1)
      return "One thread of each row of the block takes part, as at the edges of a tile: let all threads "
             "load the tile and its edges in the order of their addresses (for i = tid; i < elements; i += "
             "threads).";
    return strided_advice(distance * every_lane_of(worst.mask), worst.width, own);
  }

  /// Where lanes that follow each other use neighbouring addresses, which begin within a sector.
  static std::string shifted_advice(const profile::Example& worst, bool downwards) {
    constexpr int sector = 32, line = 128;
    const bool in_other_block = in_cluster(worst.space);
    const std::string remedy =
        in_other_block
            ? fmt::format("let the array and each row begin at a multiple of {0} bytes (__align__({0}))",
                          sector)
            : fmt::format("make each row a multiple of {} bytes (cudaMallocPitch)", line);
    // Of three accesses to neighbours of an element two are shifted, wherever the first one begins.
    const char* window = worst.kind == exec::AccessKind::load && !in_other_block
                             ? " Where a window slides (g[i - 1], g[i], g[i + 1]), that cannot be helped, "
                               "and its accesses find each other's sectors in the cache."
                             : "";
    return fmt::format("The {} lane is {} bytes past a multiple of {}: {}, or shift the index.{}",
                       downwards ? "last" : "first", past_sector(worst), sector, remedy, window);
  }

  /// Where lanes that follow each other stand that far apart. `own`: the shared memory to go through.
  static std::string strided_advice(int64_t distance, int64_t width, const char* own) {
    constexpr int64_t line = 128;
    if (distance >= line)
      return fmt::format("That is a column: let threadIdx.x run along the rows, or turn a tile round in {}.",
                         own);
    if (distance % width == 0)
      return fmt::format(
          "This access uses {0} of every {1} bytes. If it is of a struct's member: keep that in an array of "
          "its own, or load whole structs as vectors. If each lane has a row (g[{2} * i + k]): let "
          "neighbouring lanes take neighbours (g[k * threads + i]).",
          width, distance, distance / width);
    return "Let neighbouring lanes use neighbouring elements.";
  }

  void add(const Branch& branch) {
    const exec::BranchCounts& c = branch.counts;
    if (c.divergent == 0 || c.idle == 0) return;
    Hazard& hazard = start("warp-divergence", branch.file, branch.line, &branch.allowed);
    hazard.count = c.divergent;
    hazard.unit = plural(hazard.count, "divergent branch");
    hazard.cause = fmt::format(
        "{} of {} diverge{} ({} taken by all lanes, {} by none); {} of {} lane slots were idle while lanes "
        "were apart ({}).",
        grouped(c.divergent), counted(c.executions(), "execution"), c.divergent == 1 ? "s" : "",
        grouped(c.taken), grouped(c.not_taken), grouped(c.idle), grouped(c.apart * exec::warp_lanes),
        percent(c.idle, c.apart * exec::warp_lanes));
    if (c.splits != 0)
      hazard.cause += fmt::format(" In warp {} of block {}: {} of {} take{} it.", c.warp,
                                  str(coordinates(c.block, launch_.grid)), lanes(c.split[0].taken),
                                  lanes(c.split[0].active), std::has_single_bit(c.split[0].taken) ? "s" : "");
    if (branch.unrolled)
      hazard.cause +=
          " The assembler unrolls this loop: what is executed are tests for four more iterations, for two "
          "and for one.";
    hazard.advice = divergence_advice(branch);
  }

  /// Whether the lanes that go are the same in every 2, 4, 8 or 16 of the active ones.
  static bool repeats(uint32_t taken, uint32_t active) {
    constexpr uint32_t longest = 16;
    for (uint32_t period = 2; period <= longest; period *= 2)
      if (((taken ^ taken >> period) & active & active >> period) == 0 && (active & active >> period) != 0)
        return true;
    return false;
  }

  using Execution = exec::BranchCounts::Split;
  static std::span<const Execution> recorded(const exec::BranchCounts& counts) {
    return std::span(counts.split).first(counts.splits);
  }
  static int lanes_of_fewer(const Execution& split) {
    return std::min(std::popcount(split.taken), std::popcount(split.active & ~split.taken));
  }

  /// Whether most wait for a few lanes: for lane 0, for the edge of a tile.
  static bool few_work(const exec::BranchCounts& counts) {
    constexpr int few = 4;
    return counts.idle * 2 > counts.apart * exec::warp_lanes &&
           std::ranges::all_of(recorded(counts), [](const Execution& split) {
             return lanes_of_fewer(split) <= few && std::popcount(split.active) > 3 * few;
           });
  }

  /// Whether lanes that go one way and the other are mixed: more than a run of lanes goes another way than
  /// the rest, or a single lane amid others does, as where data decides.
  static bool is_mixed(const Execution& split) {
    int borders = -1;
    bool goes = false;
    for (uint32_t rest = split.active; rest != 0; rest &= rest - 1) {
      const bool before = std::exchange(goes, (split.taken >> std::countr_zero(rest) & 1) != 0);
      borders += borders < 0 || goes != before;
    }
    return borders > 2 || (borders == 2 && lanes_of_fewer(split) == 1);
  }

  /// Whether the border between lanes that go one way and the other is seen at several places: in a triangle,
  /// or where rows have as many elements as they have.
  static bool border_moves(std::span<const Execution> splits) {
    constexpr size_t several = 3;
    std::set<uint32_t> ways;
    for (const Execution& split : splits) ways.insert(split.taken & split.active);
    return ways.size() >= several;
  }

  static std::string divergence_advice(const Branch& branch) {
    // NVIDIA's guides: the compiler replaces a branch around at most 7 instructions by predicates.
    constexpr uint32_t predicated = 7;
    if (branch.backward)
      return "Lanes leave the loop in different rounds: give the lanes of a warp equal work.";
    if (few_work(branch.counts))
      return "A few lanes work, and the others of their warp wait. To write what the warp has found it takes "
             "no more than one; work for many, as the edges of a tile, is better shared by all threads (for "
             "i = tid; i < n; i += threads).";
    const std::span<const Execution> splits = recorded(branch.counts);
    const auto mixed = std::ranges::find_if(splits, is_mixed);
    std::string advice;
    if (branch.straight != 0 && branch.straight <= predicated)
      advice = fmt::format(
          "The branch holds {}: predication would do, and the assembler usually makes it so; written without "
          "a branch (condition ? a : b) it is sure.",
          counted(branch.straight, "instruction"));
    if (mixed != splits.end())
      advice +=
          std::string(advice.empty() ? "" : " ") +
          (std::ranges::all_of(
               splits,
               [](const Execution& split) { return !is_mixed(split) || repeats(split.taken, split.active); })
               ? "Lanes that go the same way are spread over the warp: number the work so that they are "
                 "neighbours (in a reduction tid < s, s halving, not tid % (2 * s) == 0)."
               : "Lanes that go one way and the other are mixed without an order, as where data decides: "
                 "sort the work by the way it goes, or compute both and select.");
    if (advice.empty())
      advice =
          border_moves(splits)
              ? "The border between the two ways moves, as in a triangle or with rows of different lengths: "
                "give the lanes of a warp equal work, or compute both and select."
              : "Put the border between the two ways at a multiple of 32 threads, or compute both and "
                "select.";
    return advice;
  }

  void add_machine() {
    const Machine& m = launch_.machine;
    if (const uint32_t bytes = m.spill_store_bytes + m.spill_load_bytes; bytes != 0 || m.stack_is_spilled) {
      Hazard& hazard = start("register-spill", launch_.file, launch_.line, nullptr);
      hazard.count = bytes != 0 ? bytes : m.stack_bytes;
      hazard.unit = "bytes a thread";
      hazard.cause = fmt::format("With {} a thread the assembler ", counted(m.registers, "register")) +
                     (bytes != 0 ? fmt::format("stores {} and loads {} bytes of spilled values.",
                                               grouped(m.spill_store_bytes), grouped(m.spill_load_bytes))
                                 : fmt::format("keeps {} of values in local memory; how often it stores and "
                                               "loads them, --assemble tells.",
                                               counted(m.stack_bytes, "byte")));
      hazard.advice =
          "Give a thread more registers (__launch_bounds__, -maxrregcount), or let fewer values live at a "
          "time.";
    }
    if (m.has_occupancy && m.warps * 2 < m.most_warps) {
      Hazard& hazard = start("low-occupancy", launch_.file, launch_.line, nullptr);
      hazard.count = m.warps;
      hazard.ideal = m.most_warps;
      hazard.unit = plural(hazard.count, "warp");
      hazard.cause =
          fmt::format("{} on a multiprocessor; the limit is {}.", counted(m.blocks, "block"), m.limiter);
      hazard.advice = m.next_step;
    }
  }
};

void add_copies(const Report& report, std::vector<Hazard>& out) {
  const auto add = [&](std::string_view rule, uint64_t count, std::string cause, std::string advice) {
    Hazard& hazard = out.emplace_back();
    hazard.rule = rule;
    hazard.level = find_rule(rule)->level;
    hazard.launch = no_launch;
    hazard.count = count;
    hazard.unit = plural(count, "copy");
    hazard.cause = std::move(cause);
    hazard.advice = std::move(advice);
  };
  for (const Copies& copies : report.copies) {
    if (copies.pageable != 0)
      add("pageable-copy", copies.pageable,
          fmt::format("{} {}: {} of {} with host memory that is not pinned.", copies.direction,
                      counted(copies.bytes, "byte"), grouped(copies.pageable), grouped(copies.count)),
          "Pin it (cudaMallocHost, cudaHostRegister).");
    if (copies.repeated != 0)
      add("repeated-copy", copies.repeated,
          fmt::format("{}: {} of {} copies brought what was already there, {}.", copies.direction,
                      grouped(copies.repeated), grouped(copies.count),
                      counted(copies.repeated_bytes, "byte")),
          "Copy data once, and again only when it has changed.");
    if (copies.independent != 0)
      add("serial-copy", copies.independent,
          fmt::format("{}: {} of {} copies, {}, waited for a kernel of their stream that is not given their "
                      "memory (an estimate, by its parameters).",
                      copies.direction, grouped(copies.independent), grouped(copies.count),
                      counted(copies.independent_bytes, "byte")),
          "Issue them in a stream of their own (cudaMemcpyAsync, pinned memory), beside the kernel.");
  }
}

}  // namespace

const char* name_of(Level level) {
  switch (level) {
    case Level::error: return "error";
    case Level::warning: return "warning";
    case Level::note: break;
  }
  return "note";
}

std::span<const Rule> rules() { return all_rules; }

std::string_view rule_of(exec::AccessSpace space) {
  switch (space) {
    case exec::AccessSpace::shared: return "bank-conflict";
    case exec::AccessSpace::local: return "local-memory";
    case exec::AccessSpace::cluster: return "uncoalesced-cluster-access";
    case exec::AccessSpace::global:
    case exec::AccessSpace::constant: break;  // the latter is in no line
  }
  return "uncoalesced-access";
}

const Rule* find_rule(std::string_view id) {
  const auto* found =
      std::find_if(all_rules.begin(), all_rules.end(), [&](const Rule& r) { return r.id == id; });
  return found == all_rules.end() ? nullptr : found;
}

std::string not_looked_for(Basis basis, const Launch& launch) {
  switch (basis) {
    case Basis::run: return "";
    case Basis::shared_counts:
      if (!launch.uncounted.empty()) return launch.uncounted + " is not counted";
      [[fallthrough]];
    case Basis::counts:
      return !launch.counted    ? "not counted (--no-count)"
             : launch.sampled() ? "counted in some of its blocks only (--sample-blocks)"
                                : "";
    case Basis::assembly: return launch.machine.assembled ? "" : "not assembled (--assemble)";
    case Basis::race: return launch.checks.race ? "" : "not looked for (--check race)";
    case Basis::init: return launch.checks.init ? "" : "not looked for (--check init)";
    case Basis::bounds: return launch.checks.bounds ? "" : "not looked for (--check bounds)";
    case Basis::barrier: return launch.checks.barrier ? "" : "not looked for (--check barrier)";
  }
  return "";
}

std::vector<Hazard> hazards_of(const Launch& launch, size_t index) {
  std::vector<Hazard> hazards;
  Collector(index, launch, hazards).collect();
  const auto behind_findings = hazards.begin() + static_cast<std::ptrdiff_t>(launch.findings.size());
  const auto cost = [](const Hazard& h) { return h.count - h.ideal; };
  std::stable_sort(hazards.begin(), behind_findings,
                   [&](const Hazard& a, const Hazard& b) { return cost(a) > cost(b); });
  std::stable_sort(behind_findings, hazards.end(), [&](const Hazard& a, const Hazard& b) {
    const Rule *of_a = find_rule(a.rule), *of_b = find_rule(b.rule);
    return of_a != of_b ? of_a < of_b : cost(a) > cost(b);
  });
  return hazards;
}

std::vector<Hazard> hazards_of(const Report& report) {
  std::vector<Hazard> hazards;
  for (size_t i = 0; i < report.launches.size(); ++i) {
    std::vector<Hazard> own = hazards_of(report.launches[i], i);
    hazards.insert(hazards.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  }
  add_copies(report, hazards);
  return hazards;
}

std::string in_words(const Hazard& hazard) {
  std::string text = hazard.subject.empty() ? "" : hazard.subject + ": ";
  text += grouped(hazard.count) + " " + hazard.unit;
  if (hazard.ideal != 0) text += fmt::format(" instead of {}", grouped(hazard.ideal));
  text += ". " + hazard.cause;
  if (!hazard.advice.empty()) text += " Advice: " + hazard.advice;
  return text;
}

double warp_efficiency(const Launch& launch) {
  return ratio(launch.lane_instructions, launch.warp_instructions * exec::warp_lanes);
}

double branch_efficiency(const Launch& launch) {
  uint64_t all = 0, divergent = 0;
  for (const Branch& branch : launch.branches) {
    all += branch.counts.executions();
    divergent += branch.counts.divergent;
  }
  return ratio(all - divergent, all);
}

}  // namespace lanescope::report
