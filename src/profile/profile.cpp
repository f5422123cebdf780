// Sums of profiles: over host threads, by source line, by variable, over the launch.
#include "profile/profile.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace lanescope::profile {

void UpdateLoops::add(const UpdateLoops& other, uint64_t times) {
  repeats += times * other.repeats;
  loads += times * other.loads;
  load_wavefronts += times * other.load_wavefronts;
  load_ideal += times * other.load_ideal;
  load_conflicts += times * other.load_conflicts;
}

namespace {

/// What costs and counters have in common.
template <class To, class From>
void add_common(To& to, const From& from, uint64_t times) {
  to.requests += times * from.requests;
  to.lanes += times * from.lanes;
  to.wavefronts += times * from.wavefronts;
  to.ideal += times * from.ideal;
  to.conflicts += times * from.conflicts;
  to.loops.add(from.loops, times);
  to.transactions += times * from.transactions;
  to.sectors += times * from.sectors;
  to.ideal_sectors += times * from.ideal_sectors;
  to.lines += times * from.lines;
  to.l1_wavefronts += times * from.l1_wavefronts;
  to.l1_ideal += times * from.l1_ideal;
  to.bytes_asked += times * from.bytes_asked;
  to.bytes_distinct += times * from.bytes_distinct;
  to.bytes_moved += times * from.bytes_moved;
  to.word_lanes += times * from.word_lanes;
  to.max_way = std::max(to.max_way, from.max_way);
  to.evidence = model::less_sure(to.evidence, from.evidence);
}

}  // namespace

void Cost::add(const Cost& other) {
  add_common(*this, other, 1);
  estimate = estimate || other.estimate;
  write_race = write_race || other.write_race;
  l1_unknown = l1_unknown || other.l1_unknown;
}

void Counters::add(const Cost& cost, uint64_t times) {
  add_common(*this, cost, times);
  instructions += times * cost.instructions;
  estimates += cost.estimate ? times : 0;
  write_races += cost.write_race ? times : 0;
  l1_unknown += cost.l1_unknown ? times : 0;
  if (cost.max_way != 0) ways[std::min(cost.max_way, most_ways)] += times * cost.requests;
}

void Counters::add(const Counters& other) {
  add_common(*this, other, 1);
  instructions += other.instructions;
  estimates += other.estimates;
  write_races += other.write_races;
  l1_unknown += other.l1_unknown;
  for (size_t way = 0; way < ways.size(); ++way) ways[way] += other.ways[way];
}

namespace {

Recording merge_recordings(const std::vector<Profile>& parts) {
  const auto key = [](const RecordedAccess& a) {
    return std::tie(a.site, a.variable, a.kind, a.width, a.mask, a.address);
  };
  Recording whole;
  for (const Profile& part : parts) {
    const std::vector<RecordedAccess>& more = part.recording.accesses;
    whole.accesses.insert(whole.accesses.end(), more.begin(), more.end());
    whole.dropped += part.recording.dropped;
    const std::vector<uint32_t>& async = part.recording.async_variables;
    whole.async_variables.insert(whole.async_variables.end(), async.begin(), async.end());
  }
  std::sort(whole.async_variables.begin(), whole.async_variables.end());
  whole.async_variables.erase(std::unique(whole.async_variables.begin(), whole.async_variables.end()),
                              whole.async_variables.end());
  std::sort(whole.accesses.begin(), whole.accesses.end(),
            [&](const RecordedAccess& a, const RecordedAccess& b) { return key(a) < key(b); });
  size_t kept = 0;
  for (const RecordedAccess& access : whole.accesses) {
    if (kept != 0 && key(whole.accesses[kept - 1]) == key(access))
      whole.accesses[kept - 1].count += access.count;
    else
      whole.accesses[kept++] = access;
  }
  whole.accesses.resize(kept);
  return whole;
}

}  // namespace

Profile merge(const std::vector<Profile>& parts) {
  std::map<std::tuple<uint32_t, exec::AccessSpace, uint32_t>, SiteCounters> sums;
  for (const Profile& part : parts) {
    for (const SiteCounters& site : part.sites) {
      const auto [found, is_new] = sums.try_emplace({site.site, site.space, site.variable}, site);
      if (is_new) continue;
      found->second.counters.add(site.counters);
      if (site.worst.worse_than(found->second.worst)) found->second.worst = site.worst;
    }
  }
  std::map<uint32_t, exec::BranchCounts> branches;
  for (const Profile& part : parts)
    for (const BranchCounters& branch : part.branches) branches[branch.branch].add(branch.counts);
  Profile whole;
  for (const auto& [branch, counts] : branches) whole.branches.push_back({branch, counts});
  whole.sites.reserve(sums.size());
  for (const auto& [key, site] : sums) whole.sites.push_back(site);
  whole.recording = merge_recordings(parts);
  return whole;
}

bool is_toolkit_header(std::string_view path) {
  // Those that clang brings in place of some: …/lib/clang/22/include/__clang_cuda_device_functions.h
  if (path.find("/include/__clang_cuda_") != std::string_view::npos) return true;
  const size_t include = path.rfind("/include/");
  if (include == std::string_view::npos) return false;
  const std::string_view above = path.substr(0, include);
  const auto folder = [](std::string_view whole) { return whole.substr(whole.rfind('/') + 1); };
  // …/cuda/include/…, …/cuda-13.0/include/…, and, where it is the distribution's, /usr/include/…
  const std::string_view parent = folder(above);
  if (parent == "cuda" || parent.starts_with("cuda-") || parent == "usr") return true;
  // …/targets/x86_64-linux/include/…, …/site-packages/nvidia/cuda_runtime/include/…,
  // …/24.1/cuda/12.3/include/…
  const size_t slash = above.rfind('/');
  const std::string_view grandparent =
      slash == std::string_view::npos ? std::string_view() : folder(above.substr(0, slash));
  return grandparent == "targets" || grandparent == "nvidia" || grandparent == "cuda";
}

namespace {

bool is_of_cutlass(std::string_view path) {
  return path.find("/include/cute/") != std::string_view::npos ||
         path.find("/include/cutlass/") != std::string_view::npos;
}

}  // namespace

Place place_of(const ptx::Module& module, const exec::Origin& origin) {
  const auto& calls = module.source_locs;
  uint32_t source = origin.source;
  Place innermost{origin.file, origin.line, true};
  if (origin.line == 0) {
    if (source < calls.size()) source = calls[source].before;
    if (source >= calls.size()) return {0, origin.ptx_line, false};
    innermost = {calls[source].file, calls[source].line, true};
  }
  const auto path = [&](const Place& place) { return module.file_path(place.file); };
  std::vector<Place> places{innermost};
  for (uint32_t at = source; at < calls.size();) {
    at = calls[at].inlined_at;
    if (at < calls.size()) places.push_back({calls[at].file, calls[at].line, true});
  }
  // A kernel that is written in Python names the line that a reader knows; what it calls in other languages
  // belongs to what translates it.
  const auto is_python = [&](const Place& place) { return path(place).ends_with(".py"); };
  const auto is_own = [&](const Place& place) {
    return !is_toolkit_header(path(place)) && !is_of_cutlass(path(place));
  };
  const auto is_no_toolkits = [&](const Place& place) { return !is_toolkit_header(path(place)); };
  auto found = std::find_if(places.begin(), places.end(), is_python);
  if (found == places.end()) found = std::find_if(places.begin(), places.end(), is_own);
  if (found == places.end()) found = std::find_if(places.begin(), places.end(), is_no_toolkits);
  return found == places.end() ? places.back() : *found;
}

NamedPlace named(const ptx::Module& module, const exec::Kernel& kernel, const Place& place) {
  const bool has_name =
      place.in_source && place.file < kernel.files.size() && !kernel.files[place.file].empty();
  return {has_name ? kernel.files[place.file] : module.name, place.line, has_name};
}

NamedPlace named_place(const ptx::Module& module, const exec::Kernel& kernel, uint32_t origin) {
  return named(module, kernel, place_of(module, kernel.origins[origin]));
}

namespace {

/// "ld", "atom"; of what is one instruction to the table of instructions, "wmma.load" and "wmma.store",
/// "atom.cas".
std::string op_of(ptx::Op op, exec::AccessKind kind) {
  std::string name(ptx::name_of(op));
  if (op == ptx::Op::wmma) name += exec::reads(kind) ? ".load" : ".store";
  if (kind == exec::AccessKind::compare_and_swap) name += ".cas";
  return name;
}

}  // namespace

std::vector<LineCounters> by_line(const ptx::Module& module, const exec::Kernel& kernel,
                                  const Profile& profile) {
  std::map<std::tuple<uint32_t, uint32_t, bool, std::string, exec::AccessKind, uint32_t>, LineCounters> lines;
  for (const SiteCounters& site : profile.sites) {
    const exec::AccessSite& access = kernel.accesses[site.site];
    const exec::Origin& origin = kernel.origins[access.origin];
    LineCounters line;
    line.place = place_of(module, origin);
    line.op = op_of(origin.op, access.kind) + "." + name_of(site.space);
    line.kind = access.kind;
    line.space = site.space;
    line.variable = site.variable;
    const auto [found, is_new] = lines.try_emplace(
        {line.place.file, line.place.line, line.place.in_source, line.op, line.kind, line.variable}, line);
    LineCounters& sum = found->second;
    sum.counters.add(site.counters);
    if (sum.sites.empty() || sum.sites.back() != site.site) sum.sites.push_back(site.site);
    if (is_new || site.worst.worse_than(sum.worst)) {
      sum.worst = site.worst;
      sum.worst_site = site.site;
    }
  }
  std::vector<LineCounters> ordered;
  ordered.reserve(lines.size());
  for (auto& [key, line] : lines) ordered.push_back(std::move(line));
  return ordered;
}

std::vector<VariableCounters> by_variable(const Profile& profile) {
  std::map<uint32_t, Counters> sums;
  for (const SiteCounters& site : profile.sites)
    if (site.space == exec::AccessSpace::shared) sums[site.variable].add(site.counters);
  std::vector<VariableCounters> ordered;
  for (const auto& [variable, counters] : sums) ordered.push_back({variable, counters});
  return ordered;
}

namespace {

/// The sum that accesses of that space and kind belong to.
Counters& of(Totals& sum, exec::AccessSpace space, exec::AccessKind kind) {
  if (kind == exec::AccessKind::group_product) return sum.shared_product;
  if (exec::is_bulk_copy(kind))
    return space == exec::AccessSpace::cluster    ? sum.cluster_copy
           : kind == exec::AccessKind::bulk_load  ? sum.bulk_load
           : kind == exec::AccessKind::bulk_store ? sum.bulk_store
                                                  : sum.bulk_reduction;
  if (exec::is_copy(kind)) return space == exec::AccessSpace::shared ? sum.shared_copy : sum.global_copy;
  const bool load = exec::reads(kind);
  const bool store = exec::writes(kind);
  if (space == exec::AccessSpace::shared)
    return load ? sum.shared_load : store ? sum.shared_store : sum.shared_atomic;
  if (space == exec::AccessSpace::global)
    return load ? sum.global_load : store ? sum.global_store : sum.global_atomic;
  if (space == exec::AccessSpace::cluster)
    return load ? sum.cluster_load : store ? sum.cluster_store : sum.cluster_atomic;
  return load ? sum.local_load : sum.local_store;
}

}  // namespace

Totals totals(const Profile& profile) {
  Totals sum;
  for (const SiteCounters& site : profile.sites) add(sum, site.space, site.kind, site.counters);
  return sum;
}

void add(Totals& sum, exec::AccessSpace space, exec::AccessKind kind, const Counters& counters) {
  Counters& own = of(sum, space, kind);
  own.add(counters);
  const UpdateLoops& loops = counters.loops;
  if (loops.loads == 0) return;
  own.requests += loops.repeats;
  own.wavefronts -= loops.load_wavefronts;
  own.ideal -= loops.load_ideal;
  own.conflicts -= loops.load_conflicts;
  own.loops = {};
  Counters as_loads;
  as_loads.requests = loops.loads;
  as_loads.wavefronts = loops.load_wavefronts;
  as_loads.ideal = loops.load_ideal;
  as_loads.conflicts = loops.load_conflicts;
  of(sum, space, exec::AccessKind::load).add(as_loads);
}

const char* name_of(exec::AccessSpace space) {
  switch (space) {
    case exec::AccessSpace::shared: return "shared";
    case exec::AccessSpace::global: return "global";
    case exec::AccessSpace::local: return "local";
    case exec::AccessSpace::cluster: return "shared::cluster";
    case exec::AccessSpace::constant: break;
  }
  return "const";
}

}  // namespace lanescope::profile
