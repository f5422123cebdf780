// See read.hpp.
#include "report/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"
#include "lanescope/model/archs.hpp"
#include "report/hazards.hpp"

namespace lanescope::report {
namespace {

using Json = nlohmann::ordered_json;

std::string text_at(const Json& json, const char* name) { return json.value(name, std::string()); }
/// A count. What is negative or broken would become some other number.
template <class T = uint64_t>
T number_of(const Json& json, const std::string& name) {
  if (!json.is_number_unsigned() || json.template get<uint64_t>() > std::numeric_limits<T>::max())
    throw Error(fmt::format("'{}' is no count: {}", name, json.dump()));
  return json.template get<T>();
}
/// 0 where there is none.
template <class T = uint64_t>
T number_at(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found == json.end() ? 0 : number_of<T>(*found, name);
}
uint32_t small_at(const Json& json, const char* name) { return number_at<uint32_t>(json, name); }
bool flag_at(const Json& json, const char* name) { return json.value(name, false); }

const Json& list_at(const Json& json, const char* name) {
  static const Json none = Json::array();
  const auto found = json.find(name);
  return found == json.end() ? none : *found;
}

exec::Dim3 dim_of(const Json& json) {
  return {json.at(0).get<uint32_t>(), json.at(1).get<uint32_t>(), json.at(2).get<uint32_t>()};
}

/// The extent of a grid or block: never empty, since positions in it are computed.
exec::Dim3 extent_of(const Json& json) {
  const exec::Dim3 extent = dim_of(json);
  if (extent.count() == 0) throw Error("a grid or block has no threads");
  return extent;
}

uint64_t linear(const exec::Dim3& at, const exec::Dim3& extent) {
  return at.x + uint64_t{extent.x} * (at.y + uint64_t{extent.y} * at.z);
}

uint32_t mask_of(const Json& json) {
  const std::string text = json.get<std::string>();
  size_t end = 0;
  const uint64_t mask = std::stoull(text, &end, 16);
  if (end != text.size() || mask > std::numeric_limits<uint32_t>::max())
    throw Error("'" + text + "' is no mask of 32 lanes");
  return static_cast<uint32_t>(mask);
}

/// A name that a later version may have written.
Error unknown(const std::string& name) { return Error("'" + name + "' is not known here"); }

/// The value of an enum by the name that the report has for it.
template <class T>
T by_name(const std::string& name, std::initializer_list<T> values, const char* (*name_of_value)(T)) {
  for (const T value : values)
    if (name == name_of_value(value)) return value;
  throw unknown(name);
}

exec::AccessSpace space_of(const Json& line) {
  using exec::AccessSpace;
  std::string name = text_at(line, "space");
  if (name.empty())
    name = line.at("op").get<std::string>().substr(line.at("op").get<std::string>().rfind('.') + 1);
  return by_name(name, {AccessSpace::shared, AccessSpace::global, AccessSpace::local, AccessSpace::cluster},
                 &profile::name_of);
}

exec::AccessKind kind_of(const Json& line) {
  using exec::AccessKind;
  const std::string name = text_at(line, "kind");
  if (name.empty()) {
    const std::string op = line.at("op").get<std::string>();
    return op.starts_with("ldmatrix")   ? AccessKind::load_matrix
           : op.starts_with("stmatrix") ? AccessKind::store_matrix
           : op.starts_with("ld")       ? AccessKind::load
           : op.starts_with("st")       ? AccessKind::store
           : op.starts_with("cp")       ? AccessKind::async_copy
                                        : AccessKind::atomic;
  }
  return by_name(
      name,
      {AccessKind::load, AccessKind::store, AccessKind::atomic, AccessKind::compare_and_swap,
       AccessKind::update_loop, AccessKind::async_copy, AccessKind::async_copy_cg, AccessKind::load_matrix,
       AccessKind::store_matrix, AccessKind::async_store, AccessKind::group_product, AccessKind::bulk_load,
       AccessKind::bulk_store, AccessKind::bulk_reduction},
      static_cast<const char* (*)(AccessKind)>(&name_of));
}

std::vector<Permission> permissions_of(const Json& json) {
  std::vector<Permission> allowed;
  for (const Json& p : list_at(json, "allowed"))
    allowed.push_back({text_at(p, "rule"), text_at(p, "reason")});
  return allowed;
}

profile::Example example_of(const Json& json, exec::AccessSpace space, exec::AccessKind kind,
                            const exec::Dim3& grid) {
  profile::Example example;
  example.block = linear(dim_of(json.at("block")), grid);
  example.warp = small_at(json, "warp");
  example.mask = mask_of(json.at("mask"));
  example.width = number_of<uint8_t>(json.at("width"), "width");
  example.kind = kind;
  example.space = space;
  const auto read = [](const Json& from, auto& to) {
    for (size_t lane = 0; lane < to.size(); ++lane)
      if (!from.at(lane).is_null()) from.at(lane).get_to(to[lane]);
  };
  read(json.at("addresses"), example.address);
  if (example.has_destination()) read(json.at("destinations"), example.destination);
  return example;
}

profile::Counters counters_of(const Json& json) {
  using model::Evidence;
  profile::Counters c;
  c.instructions = number_at(json, "instructions");
  c.requests = number_at(json, "requests");
  c.lanes = number_at(json, "lanes");
  c.wavefronts = number_at(json, "wavefronts");
  c.ideal = number_at(json, "ideal");
  c.conflicts = number_at(json, "conflicts");
  if (const auto loops = json.find("update_loops"); loops != json.end() && !loops->is_null())
    c.loops = {number_at(*loops, "repeats"), number_at(*loops, "loads"), number_at(*loops, "load_wavefronts"),
               number_at(*loops, "load_ideal"), number_at(*loops, "load_conflicts")};
  c.estimates = json.contains("estimates") ? number_at(json, "estimates") : flag_at(json, "estimate") ? 1 : 0;
  c.write_races = number_at(json, "write_races");
  c.transactions = number_at(json, "transactions");
  c.sectors = number_at(json, "sectors");
  c.ideal_sectors = number_at(json, "sectors_ideal");
  c.lines = number_at(json, "cache_lines");
  c.l1_wavefronts = number_at(json, "l1_wavefronts");
  c.l1_ideal = number_at(json, "l1_ideal");
  c.l1_unknown = number_at(json, "l1_unknown");
  c.bytes_asked = number_at(json, "bytes_asked");
  c.bytes_distinct = number_at(json, "bytes_distinct");
  c.bytes_moved = number_at(json, "bytes_moved");
  c.word_lanes = number_at(json, "word_lanes");
  c.max_way = small_at(json, "max_way");
  if (json.contains("evidence"))
    c.evidence =
        by_name(text_at(json, "evidence"),
                {Evidence::measured, Evidence::vendor_guide, Evidence::third_party, Evidence::assumed},
                static_cast<const char* (*)(Evidence)>(&name_of));
  if (const auto ways = json.find("ways"); ways != json.end())
    for (const auto& [way, count] : ways->items()) c.ways.at(std::stoul(way)) = number_of(count, "ways");
  return c;
}

Line line_of(const Json& json, const exec::Dim3& grid) {
  Line line;
  line.file = json.at("file").get<std::string>();
  line.line = json.at("line").get<uint32_t>();
  line.op = json.at("op").get<std::string>();
  line.variable = text_at(json, "variable");
  line.space = space_of(json);
  line.kind = kind_of(json);
  line.counters = counters_of(json);
  line.worst = example_of(json.at("worst"), line.space, line.kind, grid);
  if (const auto typical = json.find("typical"); typical != json.end() && !typical->is_null())
    line.typical = example_of(*typical, line.space, line.kind, grid);
  line.source = text_at(json, "source");
  line.merged = text_at(json, "merged");
  line.doubt = text_at(json, "merge_doubt");
  line.why = text_at(json, "why");
  line.allowed = permissions_of(json);
  return line;
}

Branch branch_of(const Json& json, const exec::Dim3& grid) {
  Branch branch;
  branch.file = json.at("file").get<std::string>();
  branch.line = json.at("line").get<uint32_t>();
  branch.source = text_at(json, "source");
  branch.straight = small_at(json, "straight");
  branch.backward = flag_at(json, "backward");
  branch.unrolled = flag_at(json, "unrolled");
  branch.allowed = permissions_of(json);
  exec::BranchCounts& c = branch.counts;
  c.taken = number_at(json, "taken");
  c.not_taken = number_at(json, "not_taken");
  c.divergent = number_at(json, "divergent");
  c.lanes_taken = number_at(json, "lanes_taken");
  const uint64_t lanes = number_at(json, "lanes");
  if (lanes < c.lanes_taken) throw Error("more lanes take a branch than come to it");
  c.lanes_not_taken = lanes - c.lanes_taken;
  c.apart = number_at(json, "apart");
  c.idle = number_at(json, "idle");
  c.block = linear(dim_of(json.at("block")), grid);
  c.warp = small_at(json, "warp");
  for (const Json& split : list_at(json, "splits"))
    if (c.splits < exec::BranchCounts::most_splits)
      c.split[c.splits++] = {mask_of(split.at("active")), mask_of(split.at("taken"))};
  return branch;
}

Machine machine_of(const Json& json) {
  Machine m;
  m.assembled = flag_at(json, "assembled");
  m.registers = small_at(json, "registers");
  m.stack_bytes = small_at(json, "stack_bytes");
  m.spill_store_bytes = small_at(json, "spill_store_bytes");
  m.spill_load_bytes = small_at(json, "spill_load_bytes");
  m.stack_is_spilled = json.value("stack_is_spilled", false);  // not in reports of before it was there
  m.has_occupancy = flag_at(json, "has_occupancy");
  m.blocks = small_at(json, "blocks");
  m.warps = small_at(json, "warps");
  m.most_warps = small_at(json, "most_warps");
  m.limiter = text_at(json, "limiter");
  m.next_step = text_at(json, "next_step");
  return m;
}

Finding finding_of(const Json& json) {
  using Severity = exec::Finding::Severity;
  Finding f;
  f.kind = json.at("kind").get<std::string>();
  if (find_rule(f.kind) == nullptr) throw unknown(f.kind);
  f.severity =
      by_name(json.at("severity").get<std::string>(), {Severity::error, Severity::warning, Severity::note},
              static_cast<const char* (*)(Severity)>(&exec::name_of));
  f.kernel = text_at(json, "kernel");
  f.file = text_at(json, "file");
  f.line = small_at(json, "line");
  f.message = text_at(json, "message");
  f.block = dim_of(json.at("block"));
  f.thread = dim_of(json.at("thread"));
  f.address = number_at(json, "address");
  f.width = small_at(json, "width");
  f.count = number_at(json, "count");
  if (const auto other = json.find("other"); other != json.end() && !other->is_null()) {
    f.has_other = true;
    f.other_file = text_at(*other, "file");
    f.other_line = small_at(*other, "line");
    f.other_block = other->contains("block") ? dim_of(other->at("block")) : f.block;
    f.other_thread = dim_of(other->at("thread"));
  }
  return f;
}

model::Occupancy occupancy_of(const Json& json) {
  using model::Limiter;
  return {json.at("blocks").get<int>(),
          by_name(json.at("limiter").get<std::string>(),
                  {Limiter::none, Limiter::threads, Limiter::blocks, Limiter::shared, Limiter::registers},
                  &advise::name_of)};
}

advise::Patch patch_of(const Json& json) {
  advise::Patch patch{json.at("file").get<std::string>(), {}};
  for (const Json& edit : json.at("edits"))
    patch.edits.push_back(
        {edit.at("begin").get<size_t>(), edit.at("end").get<size_t>(), edit.at("text").get<std::string>()});
  if (const auto along = json.find("along"); along != json.end())
    for (const Json& other : *along) patch.along.push_back(patch_of(other));
  return patch;
}

advise::Advice advice_of(const Json& json) {
  advise::Advice a;
  using Kind = advise::Advice::Kind;
  if (json.contains("kind"))
    a.kind = by_name(text_at(json, "kind"),
                     {Kind::layout, Kind::sequential_addressing, Kind::strided_elements, Kind::lane_mapping,
                      Kind::shuffles, Kind::copies, Kind::index_padding},
                     static_cast<const char* (*)(Kind)>(&name_of));
  a.file = text_at(json, "file");
  a.line = small_at(json, "line");
  a.variable = text_at(json, "variable");
  a.change = text_at(json, "change");
  a.reason = text_at(json, "reason");
  a.wavefronts_before = number_at(json, "wavefronts_before");
  a.wavefronts_after = number_at(json, "wavefronts_after");
  a.launch_wavefronts = number_at(json, "launch_wavefronts");
  a.shared_bytes_before = small_at(json, "shared_bytes_before");
  a.shared_bytes_after = small_at(json, "shared_bytes_after");
  a.occupancy_known = json.contains("occupancy_before") && !json.at("occupancy_before").is_null();
  if (a.occupancy_known) {
    a.occupancy_before = occupancy_of(json.at("occupancy_before"));
    a.occupancy_after = occupancy_of(json.at("occupancy_after"));
  }
  a.registers_known = flag_at(json, "registers_known");
  a.proven_best = flag_at(json, "proven_best");
  a.estimate = flag_at(json, "estimate");
  a.pitch_from = text_at(json, "pitch_from");
  if (const auto patch = json.find("patch"); patch != json.end() && patch->contains("edits")) {
    a.patch = patch_of(*patch);
    a.patch_uses_tiles = flag_at(*patch, "uses_tiles");
  }
  a.no_patch = text_at(json, "no_patch");
  return a;
}

void add_advice(Launch& launch, const Json& json) {
  const advise::Advice& advice = launch.advice.emplace_back(advice_of(json));
  profile::Example& after = launch.advised.emplace_back();
  const auto line = std::find_if(launch.lines.begin(), launch.lines.end(), [&](const Line& l) {
    return l.space == exec::AccessSpace::shared && l.variable == advice.variable && l.file == advice.file &&
           l.line == advice.line;
  });
  if (line != launch.lines.end() && json.contains("after") && !json.at("after").is_null())
    after = example_of(json.at("after"), line->space, line->kind, launch.grid);
}

/// The architecture as the report was made for it.
std::optional<model::Arch> model_of(const Json& json, const Report& report) {
  const auto numbers = json.find("model");
  const bool known = numbers != json.end() && !numbers->is_null();
  if (const model::Arch* arch = model::find_arch(report.arch); arch != nullptr && !report.is_free)
    return known && arch->has_bank_modes ? model::with_bank_mode(*arch, numbers->at("bank_bytes").get<int>())
                                         : *arch;
  if (!report.is_free || !known) return std::nullopt;
  using model::Broadcast;
  const int banks = numbers->at("banks").get<int>(), bits = 8 * numbers->at("bank_bytes").get<int>(),
            unit = numbers->at("unit").get<int>();
  if (const char* cause = model::custom_arch_error(banks, bits, unit)) throw Error(cause);
  return model::custom_arch(banks, bits, unit,
                            by_name(numbers->at("broadcast").get<std::string>(),
                                    {Broadcast::none, Broadcast::one_word, Broadcast::many_words},
                                    static_cast<const char* (*)(Broadcast)>(&name_of)));
}

Launch launch_of(const Json& json) {
  Launch launch;
  launch.kernel = json.at("kernel").get<std::string>();
  launch.file = text_at(json, "file");
  launch.line = small_at(json, "line");
  if (json.contains("launches")) launch.launches = number_at(json, "launches");
  launch.grid = extent_of(json.at("grid"));
  launch.block = extent_of(json.at("block"));
  launch.shared_bytes = number_at(json, "shared_bytes");
  launch.warp_instructions = number_at(json, "warp_instructions");
  launch.lane_instructions = number_at(json, "lane_instructions");
  if (json.contains("shuffles")) launch.shuffles = number_at(json, "shuffles");
  launch.failed = flag_at(json, "failed");
  launch.counted = flag_at(json, "counted");
  for (const Json& name : list_at(json, "checks"))
    for (const exec::NamedCheck& check : exec::kernel_checks) launch.checks.*check.on |= name == check.name;
  launch.merges = flag_at(json, "merges");
  launch.is_debug = flag_at(json, "debug");
  launch.sample_every = flag_at(json, "sampled") ? number_at(json, "sample_every") : 1;
  if (json.contains("uncounted")) launch.uncounted = text_at(json, "uncounted");
  for (const auto& [name, value] : json.at("metrics").items())
    launch.metrics.emplace_back(name, number_of(value, name));
  for (const Json& line : json.at("lines")) launch.lines.push_back(line_of(line, launch.grid));
  launch.totals = totals_of(launch.lines);
  for (const Json& variable : list_at(json, "variables"))
    launch.variables.push_back({variable.at("name").get<std::string>(), counters_of(variable)});
  for (const Json& branch : list_at(json, "branches"))
    launch.branches.push_back(branch_of(branch, launch.grid));
  if (const auto machine = json.find("machine"); machine != json.end()) launch.machine = machine_of(*machine);
  launch.why_shared = text_at(json, "why");
  launch.why_global = text_at(json, "why_global");
  return launch;
}

/// The launch that a finding or an advice belongs to; older reports name the kernel alone.
Launch* launch_of(Report& report, const Json& part) {
  if (part.contains("launch")) return &report.launches.at(part.at("launch").get<size_t>());
  const auto found = std::find_if(report.launches.begin(), report.launches.end(), [&](const Launch& launch) {
    return launch.kernel == text_at(part, "kernel");
  });
  return found == report.launches.end() ? nullptr : &*found;
}

Report report_of(const Json& json) {
  if (json.at("schema").get<int>() != 1)
    throw Error(
        fmt::format("is a report of schema {}; this version reads schema 1", json.at("schema").dump()));
  Report report;
  report.arch = json.at("arch").get<std::string>();
  report.arch_description = text_at(json, "arch_description");
  report.is_free = flag_at(json, "is_free");
  report.model = model_of(json, report);
  for (const Json& note : list_at(json, "notes")) report.notes.push_back(note.get<std::string>());
  for (const Json& launch : json.at("launches")) report.launches.push_back(launch_of(launch));
  for (const Json& finding : list_at(json, "findings"))
    if (Launch* launch = launch_of(report, finding)) launch->findings.push_back(finding_of(finding));
  for (const Json& advice : list_at(json, "advice"))
    if (Launch* launch = launch_of(report, advice)) add_advice(*launch, advice);
  for (const Json& copies : list_at(json, "copies"))
    report.copies.push_back({text_at(copies, "direction"), number_at(copies, "count"),
                             number_at(copies, "bytes"), number_at(copies, "pageable"),
                             number_at(copies, "repeated"), number_at(copies, "repeated_bytes"),
                             number_at(copies, "independent"), number_at(copies, "independent_bytes")});
  return report;
}

}  // namespace

Report from_json(std::string_view text, const std::string& name) {
  try {
    return report_of(Json::parse(text));
  } catch (const Error& error) {
    throw Error(SourcePlace{name}, error.what());
  } catch (const std::exception& error) {
    throw Error(SourcePlace{name},
                fmt::format("is no report of lanescope run --format json: {}", error.what()));
  }
}

void append(Report& report, Report more) {
  std::move(more.launches.begin(), more.launches.end(), std::back_inserter(report.launches));
  std::move(more.copies.begin(), more.copies.end(), std::back_inserter(report.copies));
  std::move(more.notes.begin(), more.notes.end(), std::back_inserter(report.notes));
}

}  // namespace lanescope::report
