// Makes the report of a launch from what was counted and what the program's text says.
#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "advise/from_data.hpp"
#include "lanescope/model/limits.hpp"
#include "report/explain.hpp"
#include "report/findings.hpp"
#include "report/metrics.hpp"
#include "report/permissions.hpp"
#include "report/words.hpp"

namespace lanescope::report {

std::string place_of(const Line& line) { return line.file + ":" + std::to_string(line.line); }

uint64_t excess_of(const Line& line) {
  const profile::Counters& c = line.counters;
  switch (line.space) {
    case exec::AccessSpace::shared: return c.wavefronts - std::min(c.ideal, c.wavefronts);
    case exec::AccessSpace::local: return c.sectors;
    default: return c.sectors - std::min(c.ideal_sectors, c.sectors);
  }
}

namespace {

/// Shared before global, local, and other blocks' shared memory; most over the ideal first, then most at all.
bool comes_before(const Line& a, const Line& b) {
  if (a.space != b.space) return a.space < b.space;
  if (excess_of(a) != excess_of(b)) return excess_of(a) > excess_of(b);
  const auto all = [](const Line& line) {
    return line.space == exec::AccessSpace::shared ? line.counters.wavefronts : line.counters.sectors;
  };
  return all(a) > all(b);
}

std::string source_of(const ptx::Module& module, const profile::NamedPlace& place, advise::Sources& sources) {
  if (place.in_source) return sources.line(place.file, place.line);
  return std::string(trimmed(module.text_line(place.line)));
}

std::string name_of_variable(const std::vector<exec::SharedVariable>& shared, uint32_t variable) {
  return variable < shared.size() ? shared[variable].name : "";
}

/// "line 12", "lines 12, 14"; the file, too, where it is another one than `here`.
std::string lines_in_words(const std::set<std::pair<std::string, uint32_t>>& places,
                           const std::string& here) {
  std::string text = places.size() == 1 ? "line " : "lines ";
  for (const auto& [file, line] : places) {
    if (text.back() != ' ') text += ", ";
    text += (file == here ? "" : file + ":") + std::to_string(line);
  }
  return text;
}

/// Of the first product of a line that has something to be said of.
std::string explain_products(const std::vector<uint32_t>& sites, const ptx::Module& module,
                             const exec::Kernel& kernel) {
  for (const uint32_t site : sites) {
    const exec::AccessSite& access = kernel.accesses[site];
    std::string why = explain_product(module.functions[access.function].body[access.instruction]);
    if (!why.empty()) return why;
  }
  return "";
}

/// Fills in what the assembler makes of a line's instructions.
void explain_merging(Line& line, const std::vector<uint32_t>& sites, const ptx::Module& module,
                     const exec::Kernel& kernel, const merge::Plan& plan) {
  using Kind = merge::Fate::Kind;
  std::set<uint32_t> bits;
  std::set<std::pair<std::string, uint32_t>> with, known;
  bool combined = false, combined_whole = false, looped = false;
  bool merged = false, unused = false, overwritten = false, narrowed = false, is_known = false;
  for (const uint32_t site : sites) {
    const merge::Fate& fate = plan.fates[site];
    combined |= fate.kind == Kind::combined || fate.one_lane == merge::Fate::OneLane::always;
    combined_whole |= fate.one_lane == merge::Fate::OneLane::of_whole_warps;
    // What else becomes of atomics is about shared memory, where those of generic addresses may be as well.
    if (line.space != exec::AccessSpace::shared && exec::is_atomic(line.kind)) continue;
    if (line.doubt.empty()) line.doubt = fate.doubt;
    merged |= fate.kind == Kind::merged;
    unused |= fate.kind == Kind::unused;
    overwritten |= fate.kind == Kind::overwritten;
    narrowed |= fate.kind == Kind::narrowed;
    looped |= fate.kind == Kind::looped;
    is_known |= fate.kind == Kind::known;
    if (fate.kind == Kind::merged) bits.insert(fate.bits);
    for (const uint32_t other : fate.with) {
      const profile::NamedPlace place = profile::named_place(module, kernel, kernel.accesses[other].origin);
      if (place.file != line.file || place.line != line.line)
        (fate.kind == Kind::known ? known : with).emplace(place.file, place.line);
    }
  }
  const auto add = [&](const std::string& part) { line.merged += (line.merged.empty() ? "" : "; ") + part; };
  if (merged) {
    std::string widths;
    for (const uint32_t width : bits) widths += (widths.empty() ? "" : " and ") + std::to_string(width);
    add("merged into " + widths + "-bit accesses" +
        (with.empty() ? "" : " with " + lines_in_words(with, line.file)));
  }
  if (is_known)
    add("already in a register" + (known.empty() ? "" : " since " + lines_in_words(known, line.file)));
  if (narrowed) add("only the words that are used are loaded");
  if (combined) add("lanes that meet in one word are put together");
  if (combined_whole) add("in whole warps, lanes that meet in one word are put together");
  if (looped) add("a loop of load and compare-and-swap");
  if (unused) add("not loaded: nothing uses it");
  if (overwritten) add("not stored: overwritten at once");
}

/// The counters that the program determines, by the profilers' names.
std::vector<std::pair<std::string, uint64_t>> exact_metrics(const Launch& launch) {
  std::vector<std::pair<std::string, uint64_t>> list;
  for (const Metric& metric : metrics())
    if (const auto value = metric.value(launch); metric.exact && metric.kind == Metric::Kind::count && value)
      list.emplace_back(metric.name, static_cast<uint64_t>(*value));
  return list;
}

/// Whether the model serves lanes of both halves of a 64-lane wave together in some width.
bool halves_meet(const model::Arch& arch) {
  constexpr uint64_t low = 0xffffffffu;
  for (const auto* phases : {arch.load, arch.store}) {
    for (int width = 0; width < model::width_count; ++width) {
      const model::Phases& p = phases[width];
      if (p.lanes_each > 32) return true;
      for (int i = 0; i < p.listed; ++i)
        if ((p.list[i] & low) != 0 && (p.list[i] & ~low) != 0) return true;
    }
  }
  return false;
}

/// The pattern of shared memory that came most often at the instructions of a line: equal up to a shift of
/// all lanes. Of equals the first one in the recording.
profile::Example typical_of(const profile::LineCounters& line, const profile::Recording& recording) {
  std::map<std::pair<uint32_t, std::array<uint32_t, 32>>, std::pair<uint64_t, const profile::RecordedAccess*>>
      counts;
  const profile::RecordedAccess* best = nullptr;
  uint64_t most = 0;
  for (const uint32_t site : line.sites) {
    const auto [begin, end] = std::equal_range(
        recording.accesses.begin(), recording.accesses.end(), profile::RecordedAccess{site},
        [](const profile::RecordedAccess& a, const profile::RecordedAccess& b) { return a.site < b.site; });
    for (auto access = begin; access != end; ++access) {
      if (access->variable != line.variable || access->mask == 0) continue;
      std::array<uint32_t, 32> relative{};
      const uint32_t first = access->address[static_cast<size_t>(std::countr_zero(access->mask))];
      for (uint32_t lane = 0; lane < 32; ++lane)
        if ((access->mask >> lane & 1) != 0) relative[lane] = access->address[lane] - first;
      auto& [count, example] = counts[{access->mask, relative}];
      count += access->count;
      if (example == nullptr) example = &*access;
      if (count > most) {
        most = count;
        best = example;
      }
    }
  }
  profile::Example typical;
  if (best == nullptr) return typical;
  typical.mask = best->mask;
  typical.width = best->width;
  typical.kind = best->kind;
  typical.space = exec::AccessSpace::shared;
  for (uint32_t lane = 0; lane < 32; ++lane) typical.address[lane] = best->address[lane];
  return typical;
}

/// What has to be less for one block more on a multiprocessor.
std::string next_step(const model::Limits& limits, const model::Occupancy& now, int threads, int registers,
                      int shared) {
  const auto blocks = [&](int t, int r, int s) { return model::occupancy(limits, t, r, s).blocks; };
  switch (now.limiter) {
    case model::Limiter::registers:
      for (int r = registers - 1; r > 0; --r)
        if (blocks(threads, r, shared) > now.blocks)
          return fmt::format("With {} registers a thread {} fit.", r,
                             counted(static_cast<uint64_t>(blocks(threads, r, shared)), "block"));
      return "";
    case model::Limiter::shared: {
      int low = 0, high = shared;  // with `low` more blocks fit, with `high` they do not
      if (blocks(threads, registers, low) <= now.blocks) return "";
      while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        (blocks(threads, registers, middle) > now.blocks ? low : high) = middle;
      }
      return fmt::format("With {} of shared memory a block {} fit.",
                         counted(static_cast<uint64_t>(low), "byte"),
                         counted(static_cast<uint64_t>(blocks(threads, registers, low)), "block"));
    }
    case model::Limiter::blocks: return "Blocks of more threads would fill it.";
    case model::Limiter::threads:
      for (int t = threads - 1; t > 0; --t) {
        const int fit = blocks(t, registers, shared);
        if ((t + 31) / 32 * fit > (threads + 31) / 32 * now.blocks)
          return fmt::format("With {} threads a block {} fit.", t,
                             counted(static_cast<uint64_t>(fit), "block"));
      }
      return "";
    case model::Limiter::none: break;
  }
  return "";
}

/// Whether all of the accesses store what a call of printf is given: it follows each in one straight piece of
/// code.
bool are_arguments_of_printf(const std::vector<uint32_t>& sites, const ptx::Module& module,
                             const exec::Kernel& kernel) {
  const auto is_printf = [&](const ptx::Operand& operand) {
    return operand.symbol.kind == ptx::SymbolRef::Kind::function &&
           module.functions[operand.symbol.index].name == "vprintf";
  };
  return std::all_of(sites.begin(), sites.end(), [&](uint32_t site) {
    const exec::AccessSite& at = kernel.accesses[site];
    if (at.kind != exec::AccessKind::store || at.function == exec::no_operand) return false;
    const std::vector<ptx::Instruction>& body = module.functions[at.function].body;
    const auto next = std::find_if(body.begin() + at.instruction, body.end(), [](const ptx::Instruction& in) {
      return ptx::info(in.op).op_class == ptx::OpClass::control;
    });
    return next != body.end() && next->op == ptx::Op::call &&
           std::any_of(next->operands.begin(), next->operands.end(), is_printf);
  });
}

/// Whether a function of the kernel that accesses memory takes some from the heap.
bool takes_memory(const ptx::Module& module, const exec::Kernel& kernel) {
  std::set<uint32_t> functions;
  for (const exec::AccessSite& site : kernel.accesses)
    if (site.function != exec::no_operand) functions.insert(site.function);
  const auto is_malloc = [&](const ptx::Operand& operand) {
    return operand.symbol.kind == ptx::SymbolRef::Kind::function &&
           module.functions[operand.symbol.index].name == "malloc";
  };
  return std::any_of(functions.begin(), functions.end(), [&](uint32_t function) {
    const std::vector<ptx::Instruction>& body = module.functions[function].body;
    return std::any_of(body.begin(), body.end(), [&](const ptx::Instruction& in) {
      return in.op == ptx::Op::call && std::any_of(in.operands.begin(), in.operands.end(), is_malloc);
    });
  });
}

/// Whether all lanes are at the same place of pieces of the heap, which begin at multiples of 256 bytes.
bool are_apart_as_pieces(const profile::Example& worst) {
  constexpr uint64_t alignment = 256;
  std::set<uint64_t> pieces, places;
  for (uint32_t left = worst.mask; left != 0; left &= left - 1) {
    const uint64_t address = worst.address[static_cast<size_t>(std::countr_zero(left))];
    pieces.insert(address / alignment);
    places.insert(address % alignment);
  }
  return pieces.size() == static_cast<size_t>(std::popcount(worst.mask)) && places.size() == 1 &&
         pieces.size() > 1;
}

Machine machine_of(const model::Arch& arch, const exec::Kernel& kernel, const Launch& launch,
                   const ptx::MachineNeeds* needs) {
  Machine machine;
  machine.assembled = needs != nullptr && needs->knows_spills;
  if (needs != nullptr) {
    machine.registers = needs->registers;
    machine.stack_bytes = needs->stack_bytes;
    machine.spill_store_bytes = needs->spill_store_bytes;
    machine.spill_load_bytes = needs->spill_load_bytes;
    machine.stack_is_spilled = !needs->knows_spills && kernel.local_bytes == 0;
  }
  machine.has_occupancy = std::string_view(arch.name).starts_with("sm_");
  if (!machine.has_occupancy) return machine;
  const model::Limits limits = model::limits_of(arch.name);
  const auto threads = static_cast<int>(launch.block.count());
  const auto registers = static_cast<int>(machine.registers), shared = static_cast<int>(launch.shared_bytes);
  const model::Occupancy now = model::occupancy(limits, threads, registers, shared);
  machine.blocks = static_cast<uint32_t>(now.blocks);
  machine.warps = static_cast<uint32_t>(now.blocks * ((threads + 31) / 32));
  machine.most_warps = static_cast<uint32_t>(limits.threads / 32);
  machine.limiter = advise::name_of(now.limiter);
  machine.next_step = next_step(limits, now, threads, registers, shared);
  return machine;
}

std::vector<Branch> branches_of(const ptx::Module& module, const exec::Kernel& kernel,
                                const profile::Profile& profile, advise::Sources& sources) {
  std::vector<Branch> branches;
  for (const profile::BranchCounters& counted : profile.branches) {
    const exec::BranchSite& site = kernel.branches[counted.branch];
    const profile::NamedPlace place = profile::named_place(module, kernel, site.origin);
    auto known = std::find_if(branches.begin(), branches.end(), [&](const Branch& b) {
      return b.file == place.file && b.line == place.line && b.backward == site.backward;
    });
    if (known != branches.end()) {
      known->counts.add(counted.counts);
      known->unrolled = known->unrolled || site.unrolled;
      known->straight =
          known->straight == 0 || site.straight == 0 ? 0 : std::max(known->straight, site.straight);
      continue;
    }
    Branch branch;
    branch.file = place.file;
    branch.line = place.line;
    branch.source = source_of(module, place, sources);
    branch.counts = counted.counts;
    branch.straight = site.straight;
    branch.backward = site.backward;
    branch.unrolled = site.unrolled;
    branch.allowed = permissions_at(place, sources);
    branches.push_back(std::move(branch));
  }
  std::stable_sort(branches.begin(), branches.end(),
                   [](const Branch& a, const Branch& b) { return a.counts.idle > b.counts.idle; });
  return branches;
}

/// Whether accesses to a variable become, in some line, others for which there is no rule.
bool is_guessed(const Launch& launch, const std::string& variable) {
  return std::any_of(launch.lines.begin(), launch.lines.end(), [&](const Line& l) {
    return l.space == exec::AccessSpace::shared && l.variable == variable && !l.doubt.empty() &&
           l.counters.estimates != 0;
  });
}

}  // namespace

profile::Example advised_access(const Launch& launch, const advise::Advice& advice) {
  const auto line = std::find_if(launch.lines.begin(), launch.lines.end(), [&](const Line& l) {
    return l.space == exec::AccessSpace::shared && l.variable == advice.variable && l.file == advice.file &&
           l.line == advice.line;
  });
  profile::Example after;
  if (line == launch.lines.end() || advice.kind != advise::Advice::Kind::layout) return after;
  advise::Pattern pattern;
  pattern.mask = line->worst.mask;
  pattern.width = line->worst.width;
  for (size_t lane = 0; lane < pattern.offset.size(); ++lane)
    pattern.offset[lane] = static_cast<uint32_t>(line->worst.address[lane]) - advice.shape.begin;
  const auto offsets = advise::moved(advice.shape, pattern, advice.layout);
  if (!offsets) return after;
  after = line->worst;
  for (size_t lane = 0; lane < offsets->size(); ++lane)
    if ((after.mask >> lane & 1) != 0) after.address[lane] = uint64_t{advice.shape.begin} + (*offsets)[lane];
  return after;
}

profile::Totals totals_of(const std::vector<Line>& lines) {
  profile::Totals sum;
  for (const Line& line : lines) profile::add(sum, line.space, line.kind, line.counters);
  return sum;
}

void order_lines(Launch& launch) {
  std::stable_sort(launch.lines.begin(), launch.lines.end(), comes_before);
  launch.why_shared.clear();
  launch.why_global.clear();
  for (const Line& line : launch.lines) {
    if (excess_of(line) == 0) continue;
    if (line.space == exec::AccessSpace::shared && launch.why_shared.empty()) launch.why_shared = line.why;
    if (line.space == exec::AccessSpace::global && launch.why_global.empty()) launch.why_global = line.why;
  }
}

Report make_report(const model::Arch& arch) {
  Report report;
  report.arch = arch.name;
  report.model = arch;
  report.arch_description = arch.description;
  report.is_free = report.arch == model::Arch{}.name;
  if (report.is_free)
    report.arch_description =
        fmt::format("free architecture: {} banks of {} bits, {} lanes scheduled together", arch.banks,
                    8 * arch.bank_bytes, arch.load[model::width_index(arch.bank_bytes)].unit);
  if (arch.warp_lanes > 32) {
    report.notes.emplace_back(halves_meet(arch)
                                  ? "Waves of 64 lanes are counted as two halves of 32 lanes "
                                    "each. On this architecture some accesses serve "
                                    "lanes of both halves together: their wavefronts and ideals "
                                    "are those of halves that come one by one."
                                  : "Waves of 64 lanes are counted as two halves of 32 lanes "
                                    "each; on this architecture the banks never "
                                    "serve lanes of both halves together, so the wavefronts are "
                                    "those of whole waves. Requests are of halves.");
  }
  return report;
}

Launch make_launch(const model::Arch& arch, const ptx::Module& module, const exec::Kernel& kernel,
                   const exec::LaunchConfig& config, const exec::LaunchResult& result,
                   const std::optional<profile::Profile>& profile, advise::Sources& sources,
                   const ptx::MachineNeeds* needs, const merge::Plan* plan) {
  Launch launch;
  launch.kernel = kernel.display_name.empty() ? kernel.name : kernel.display_name;
  if (!kernel.origins.empty()) {
    const profile::NamedPlace place = profile::named_place(module, kernel, 0);
    launch.file = place.file;
    launch.line = place.line;
  }
  launch.grid = config.grid;
  launch.block = config.block;
  launch.shared_bytes = uint64_t{kernel.static_shared} + config.dynamic_shared;
  launch.warp_instructions = result.warp_instructions;
  launch.lane_instructions = result.lane_instructions;
  launch.shuffles = result.shuffles;
  launch.failed = result.failed;
  launch.counted = profile.has_value();
  launch.is_debug = module.is_debug;
  launch.sample_every = config.observe_every;
  launch.checks = config.checks;
  launch.findings = make_findings(module, kernel, config, result);
  if (!profile) return launch;
  if (std::any_of(kernel.origins.begin(), kernel.origins.end(), [](const exec::Origin& origin) {
        return origin.op == ptx::Op::tcgen05_mma || origin.op == ptx::Op::tcgen05_mma_ws ||
               origin.op == ptx::Op::tcgen05_cp;
      }))
    launch.uncounted = "what tcgen05 reads of shared memory";
  launch.merges = plan != nullptr;

  const std::vector<exec::SharedVariable>& shared = exec::shared_variables(kernel, config);
  launch.shared = shared;
  launch.totals = profile::totals(*profile);
  const bool has_heap = takes_memory(module, kernel);
  std::vector<bool> from_data;  // of each site; once asked for
  for (const profile::LineCounters& counted : profile::by_line(module, kernel, *profile)) {
    const profile::NamedPlace place = profile::named(module, kernel, counted.place);
    Line line;
    line.file = place.file;
    line.line = place.line;
    line.op = counted.op;
    line.variable = name_of_variable(shared, counted.variable);
    line.space = counted.space;
    line.kind = counted.kind;
    line.counters = counted.counters;
    line.worst = counted.worst;
    line.source = source_of(module, place, sources);
    line.allowed = permissions_at(place, sources);
    line.typical = typical_of(counted, profile->recording);
    if (excess_of(line) != 0 && line.space != exec::AccessSpace::local)
      line.why = line.space == exec::AccessSpace::shared
                     ? explain_shared(arch, line.worst, line.kind, config.grid, config.block)
                 : exec::is_bulk_copy(line.kind) ? explain_bulk(line.counters)
                                                 : explain_global(arch, line.worst, config.grid);
    if ((line.space == exec::AccessSpace::shared || line.space == exec::AccessSpace::global) &&
        excess_of(line) != 0 && !exec::is_bulk_copy(line.kind)) {
      if (from_data.empty()) from_data = advise::sites_from_data(module, kernel);
      if (line.space == exec::AccessSpace::global && has_heap && are_apart_as_pieces(line.worst))
        line.why += memory_of_threads;
      else if (std::any_of(profile->sites.begin(), profile->sites.end(), [&](const auto& site) {
                 return site.space == line.space && from_data[site.site] && site.worst == line.worst &&
                        std::find(counted.sites.begin(), counted.sites.end(), site.site) !=
                            counted.sites.end();
               }))
        line.why += line.space == exec::AccessSpace::shared ? meet_by_data : sent_by_data;
    }
    if (line.space == exec::AccessSpace::local && are_arguments_of_printf(counted.sites, module, kernel))
      line.why = arguments_of_printf;
    if (line.kind == exec::AccessKind::group_product)
      line.why = explain_products(counted.sites, module, kernel);
    if (plan != nullptr &&
        (line.space == exec::AccessSpace::shared || line.space == exec::AccessSpace::global))
      explain_merging(line, counted.sites, module, kernel, *plan);
    launch.lines.push_back(std::move(line));
  }
  order_lines(launch);
  for (const profile::VariableCounters& variable : profile::by_variable(*profile))
    launch.variables.push_back({name_of_variable(shared, variable.variable), variable.counters});

  launch.machine = machine_of(arch, kernel, launch, needs);
  launch.metrics = exact_metrics(launch);
  launch.branches = branches_of(module, kernel, *profile, sources);
  launch.advice = advise::advise({arch, module, kernel, config, static_cast<uint32_t>(launch.shared_bytes),
                                  static_cast<int>(launch.machine.registers), *profile},
                                 sources);
  std::erase_if(launch.advice,
                [&](const advise::Advice& advice) { return is_guessed(launch, advice.variable); });
  for (const advise::Advice& advice : launch.advice) launch.advised.push_back(advised_access(launch, advice));
  return launch;
}

bool has_errors(const Launch& launch) {
  return std::any_of(launch.findings.begin(), launch.findings.end(), [](const Finding& finding) {
    return finding.severity == exec::Finding::Severity::error;
  });
}

model::Evidence evidence_of(const Launch& launch) {
  model::Evidence evidence = model::Evidence::measured;
  for (const Line& line : launch.lines) evidence = model::less_sure(evidence, line.counters.evidence);
  return evidence;
}

const char* name_of(model::Evidence evidence) {
  switch (evidence) {
    case model::Evidence::measured: return "measured";
    case model::Evidence::vendor_guide: return "vendor guide";
    case model::Evidence::third_party: return "third party";
    case model::Evidence::assumed: break;
  }
  return "assumed";
}

const char* name_of(advise::Advice::Kind kind) {
  using Kind = advise::Advice::Kind;
  switch (kind) {
    case Kind::layout: return "layout";
    case Kind::sequential_addressing: return "sequential addressing";
    case Kind::strided_elements: return "strided elements";
    case Kind::lane_mapping: return "lane mapping";
    case Kind::copies: return "copies";
    case Kind::index_padding: return "index padding";
    case Kind::shuffles: break;
  }
  return "shuffles";
}

const char* name_of(model::Broadcast broadcast) {
  switch (broadcast) {
    case model::Broadcast::none: return "none";
    case model::Broadcast::one_word: return "one";
    case model::Broadcast::many_words: break;
  }
  return "many";
}

const char* name_of(exec::AccessKind kind) {
  switch (kind) {
    case exec::AccessKind::load: return "load";
    case exec::AccessKind::store: return "store";
    case exec::AccessKind::atomic: return "atomic";
    case exec::AccessKind::compare_and_swap: return "compare and swap";
    case exec::AccessKind::update_loop: return "update loop";
    case exec::AccessKind::async_copy: return "async copy";
    case exec::AccessKind::async_copy_cg: return "async copy past L1";
    case exec::AccessKind::load_matrix: return "load matrix";
    case exec::AccessKind::store_matrix: return "store matrix";
    case exec::AccessKind::async_store: return "async store";
    case exec::AccessKind::group_product:
    case exec::AccessKind::tensor_product: return "matrix product";
    case exec::AccessKind::bulk_load: return "bulk load";
    case exec::AccessKind::bulk_store: return "bulk store";
    case exec::AccessKind::bulk_reduction: break;
  }
  return "bulk reduction";
}

const char* knowledge(model::Evidence evidence) {
  switch (evidence) {
    case model::Evidence::measured: return "";
    case model::Evidence::vendor_guide: return "rules from the vendor's guide, not measured";
    case model::Evidence::third_party: return "rules from measurements by others";
    case model::Evidence::assumed: break;
  }
  return "some rules are carried over from a neighbouring architecture or width, not measured";
}

exec::Dim3 coordinates(uint64_t index, const exec::Dim3& extent) {
  const uint64_t row = index / extent.x;
  return {static_cast<uint32_t>(index % extent.x), static_cast<uint32_t>(row % extent.y),
          static_cast<uint32_t>(row / extent.y)};
}

std::string str(const exec::Dim3& at) { return fmt::format("({},{},{})", at.x, at.y, at.z); }

std::string extent(const exec::Dim3& size) {
  std::string text = grouped(size.x);
  if (size.y != 1 || size.z != 1) text += "x" + grouped(size.y);
  if (size.z != 1) text += "x" + grouped(size.z);
  return text;
}

}  // namespace lanescope::report
