// See code_report.hpp.
#include "report/code_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "lanescope/model/archs.hpp"
#include "report/explain.hpp"
#include "report/json_text.hpp"
#include "report/report.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

using Json = nlohmann::ordered_json;

/// Rows of the table of accesses; the JSON has all.
constexpr size_t most_requests_shown = 64;
/// Accesses that are explained in words, and banks that are listed with their lanes.
constexpr size_t most_explained = 4, most_banks = 8;

const char* op_name(model::Op op) {
  switch (op) {
    case model::Op::load: return "ld.shared";
    case model::Op::store: return "st.shared";
    case model::Op::cp_async:
    case model::Op::cp_async_cg: return "cp.async";
    case model::Op::ldmatrix: return "ldmatrix";
    case model::Op::stmatrix: return "stmatrix";
    case model::Op::compare_and_swap: return "atom.cas.shared";
    case model::Op::atomic:
    case model::Op::update_loop: break;
  }
  return "atom.shared";
}

RequestCost cost_of(const model::Arch& arch, const model::Request& request) {
  const model::SharedCost cost = model::shared_cost(arch, request);
  RequestCost result;
  result.requests = 1;
  result.wavefronts = static_cast<uint64_t>(cost.unknown_rule ? cost.estimate : cost.wavefronts);
  result.ideal = static_cast<uint64_t>(cost.ideal);
  result.max_way = cost.max_way;
  result.estimate = cost.unknown_rule;
  result.write_race = cost.write_race;
  result.evidence = cost.evidence;
  return result;
}

// ---- Other layouts.

using PatternKey = std::tuple<model::Op, int, uint32_t, std::array<uint32_t, 32>>;
using PatternCounts = std::map<PatternKey, uint64_t>;

/// The `count` lanes of a request from `first` on, as lanes 0 and up of a pattern.
void add_pattern(PatternCounts& patterns, const model::Request& request, uint32_t begin, int first,
                 int count) {
  std::array<uint32_t, 32> offset{};
  uint32_t mask = 0;
  for (int lane = 0; lane < count; ++lane) {
    if ((request.mask >> (first + lane) & 1) == 0) continue;
    mask |= uint32_t{1} << lane;
    offset[static_cast<size_t>(lane)] = static_cast<uint32_t>(request.address[first + lane]) - begin;
  }
  if (mask != 0) ++patterns[{request.op, request.width, mask, offset}];
}

/// All accesses to one array as patterns of up to 32 lanes that cost the same together.
std::vector<advise::Pattern> patterns_of(const CodeAnswer& answer, uint32_t array) {
  constexpr int rows_of_matrix = 8, half = 32;
  PatternCounts counts;
  const uint32_t begin = answer.run->arrays[array].begin;
  for (const code::CodeRequest& made : answer.run->requests) {
    if (answer.run->accesses[made.access].array != array) continue;
    const bool matrix = made.request.op == model::Op::ldmatrix || made.request.op == model::Op::stmatrix;
    const int step = matrix ? rows_of_matrix : half;
    const int lanes = matrix ? rows_of_matrix * made.request.matrices : made.request.lanes;
    for (int first = 0; first < lanes; first += step) add_pattern(counts, made.request, begin, first, step);
  }
  std::vector<advise::Pattern> patterns;
  for (const auto& [key, count] : counts) {
    advise::Pattern pattern;
    pattern.op = std::get<0>(key);
    pattern.width = static_cast<uint8_t>(std::get<1>(key));
    pattern.mask = std::get<2>(key);
    pattern.offset = std::get<3>(key);
    pattern.count = count;
    patterns.push_back(pattern);
  }
  return patterns;
}

std::optional<WhatIf> what_if_of(const CodeAnswer& answer, uint32_t array) {
  const code::CodeArray& a = answer.run->arrays[array];
  RequestCost all;
  for (size_t i = 0; i < answer.costs.size(); ++i)
    if (answer.run->accesses[answer.run->requests[i].access].array == array) all.add(answer.costs[i]);
  if (all.wavefronts == all.ideal || all.estimate) return std::nullopt;
  const std::vector<advise::Pattern> patterns = patterns_of(answer, array);
  WhatIf result;
  result.array = array;
  result.element_bytes = a.element_bytes;
  if (a.row_bytes == 0)
    result.assumed_row_bytes = static_cast<uint32_t>(answer.arch.banks * answer.arch.bank_bytes);
  const uint32_t row = a.row_bytes != 0 ? a.row_bytes : result.assumed_row_bytes;
  const advise::Shape shape{.begin = a.begin,
                            .bytes = a.bytes,
                            .row_bytes = row,
                            .element_bytes = a.element_bytes,
                            .has_rows = a.row_bytes != 0};
  const std::optional<advise::Outcome> now = advise::what_if(answer.arch, shape, patterns, {});
  // Where the banks serve lanes of both halves of a wave together, the costs of the halves do not add up.
  if (!now || now->wavefronts != all.wavefronts || now->ideal != all.ideal) return std::nullopt;
  result.now = *now;
  result.better = advise::search(answer.arch, shape, patterns);
  std::erase_if(result.better, [&](const advise::Candidate& c) {
    if (std::holds_alternative<advise::Transposed>(c.layout)) return a.row_bytes == 0;
    // Only a struct can grow, and by what keeps it aligned.
    const auto* padding = std::get_if<advise::ElementPadding>(&c.layout);
    return padding != nullptr && (a.struct_align == 0 || padding->bytes % a.struct_align != 0);
  });
  return result;
}

/// In words; for a one-dimensional array, which has no rows, by index.
std::string describe(const advise::Candidate& candidate, const WhatIf& what_if) {
  std::string text = advise::describe(candidate.layout);
  const uint32_t row = what_if.assumed_row_bytes, element = what_if.element_bytes;
  if (row == 0) return text;
  if (std::holds_alternative<advise::Swizzle>(candidate.layout))
    return fmt::format("{}, rows of {} bytes", text, row);
  const auto* padding = std::get_if<advise::RowPadding>(&candidate.layout);
  if (padding == nullptr) return text;
  const uint32_t more = padding->bytes();
  if (row % element != 0 || more % element != 0)
    return fmt::format("{} after every {} bytes", counted(more, "byte"), row);
  const std::string step = fmt::format("i / {}", row / element);
  return fmt::format("index i + {}", more == element ? step : fmt::format("{} * ({})", more / element, step));
}

// ---- Text.

std::string label_of(const code::CodeStep& step) {
  std::string text;
  for (const code::CodeStep::Loop& loop : step.loops) {
    text += text.empty() ? "" : ", ";
    text += loop.value && !loop.variable.empty() ? fmt::format("{} = {}", loop.variable, *loop.value)
                                                 : fmt::format("pass {}", loop.pass);
  }
  return text;
}

std::string cost_text(const RequestCost& cost) {
  return fmt::format("{}{} / {}", cost.estimate ? "~" : "", grouped(cost.wavefronts), grouped(cost.ideal));
}
Style style_of(const RequestCost& cost) { return cost.wavefronts > cost.ideal ? Style::bad : Style::plain; }

void write_accesses(Writer& out, const CodeAnswer& answer) {
  // By access, then by step in the order in which they first come.
  std::map<uint32_t, std::map<uint32_t, RequestCost>> by_access;
  for (size_t i = 0; i < answer.costs.size(); ++i) {
    const code::CodeRequest& request = answer.run->requests[i];
    by_access[request.access][request.step].add(answer.costs[i]);
  }
  Table table({"access", "op", "", "requests", "wavefronts / ideal", "n-way"}, 3);
  size_t rows = 0, left_out = 0;
  const auto add = [&](const code::CodeAccess& access, const std::string& step, const RequestCost& cost) {
    if (rows++ >= most_requests_shown) {
      ++left_out;
      return;
    }
    table.add({{access.text},
               {op_name(access.op)},
               {step},
               {grouped(cost.requests)},
               {cost_text(cost), style_of(cost)},
               {std::to_string(cost.max_way), style_of(cost)}});
  };
  for (const auto& [index, steps] : by_access) {
    const code::CodeAccess& access = answer.run->accesses[index];
    const RequestCost& first = steps.begin()->second;
    const bool same = std::all_of(steps.begin(), steps.end(), [&](const auto& step) {
      const RequestCost& c = step.second;
      return c.requests == first.requests && c.wavefronts == first.wavefronts && c.ideal == first.ideal &&
             c.max_way == first.max_way;
    });
    if (same) {
      RequestCost all;
      for (const auto& step : steps) all.add(step.second);
      add(access, steps.size() == 1 ? label_of(answer.run->steps[steps.begin()->first]) : "", all);
    } else {
      for (const auto& [step, cost] : steps) add(access, label_of(answer.run->steps[step]), cost);
    }
  }
  table.write(out);
  if (left_out != 0)
    out.line(fmt::format("  and {}: --format json has all of them", counted(left_out, "row")), Style::dim);
  out.line();
  if (by_access.size() > 1) {
    out.paragraph(fmt::format("all: {}, ideal {}", counted(answer.total.wavefronts, "wavefront"),
                              grouped(answer.total.ideal)),
                  2, Style::bold);
    out.line();
  }
}

bool worse(const RequestCost& a, const RequestCost& b) {
  const uint64_t over_a = a.wavefronts - std::min(a.wavefronts, a.ideal);
  const uint64_t over_b = b.wavefronts - std::min(b.wavefronts, b.ideal);
  return over_a != over_b ? over_a > over_b : a.wavefronts > b.wavefronts;
}

/// The worst request of each access, worst first, equal ones in the order of the text.
std::vector<size_t> worst_requests(const CodeAnswer& answer) {
  std::map<uint32_t, size_t> worst;
  for (size_t i = 0; i < answer.costs.size(); ++i) {
    const auto [it, added] = worst.try_emplace(answer.run->requests[i].access, i);
    if (!added && worse(answer.costs[i], answer.costs[it->second])) it->second = i;
  }
  std::vector<size_t> result;
  for (const auto& [access, request] : worst) result.push_back(request);
  std::stable_sort(result.begin(), result.end(),
                   [&](size_t a, size_t b) { return worse(answer.costs[a], answer.costs[b]); });
  return result;
}

std::string who(const CodeAnswer& answer, size_t index) {
  const code::CodeRequest& request = answer.run->requests[index];
  const std::string label = label_of(answer.run->steps[request.step]);
  return fmt::format("Warp {}{}", request.warp, label.empty() ? "" : fmt::format(" ({})", label));
}

/// The request as an access that was recorded, if it is a load or store of as many lanes as these have.
std::optional<profile::Example> as_example(const code::CodeRequest& request) {
  const model::Request& r = request.request;
  const bool is_load = r.op == model::Op::load;
  if ((!is_load && r.op != model::Op::store) || r.lanes > static_cast<int>(exec::warp_lanes))
    return std::nullopt;
  profile::Example example;
  example.kind = is_load ? exec::AccessKind::load : exec::AccessKind::store;
  example.space = exec::AccessSpace::shared;
  example.warp = request.warp;
  example.mask = static_cast<uint32_t>(r.mask);
  example.width = static_cast<uint8_t>(r.width);
  std::copy_n(&r.address[0], example.address.size(), example.address.begin());
  return example;
}

std::string why(const CodeAnswer& answer, size_t index) {
  const code::CodeRequest& request = answer.run->requests[index];
  const std::optional<profile::Example> example = as_example(request);
  const bool conflicts = answer.costs[index].wavefronts > answer.costs[index].ideal;
  return who(answer, index) + ": " + explain_request(answer.arch, request.request) +
         (example && conflicts ? explain_rows(*example, answer.launch.block) : "");
}

/// What a bank counts: the words it is asked for, or the lanes that ask.
size_t asked_of(const BankUse& bank, bool by_lane) {
  return by_lane ? static_cast<size_t>(bank.lane_accesses) : bank.words.size();
}

/// How much each bank is asked for in the phase that takes longest, and by whom.
void write_banks(Writer& out, const CodeAnswer& answer, size_t index) {
  const model::SharedDetail detail = model::shared_detail(answer.arch, answer.run->requests[index].request);
  int phase = 0;
  for (int i = 0; i < detail.phase_count; ++i)
    if (detail.phase_wavefronts[i] > detail.phase_wavefronts[phase]) phase = i;
  const std::vector<BankUse> banks = banks_of(detail, phase);
  const code::CodeRequest& request = answer.run->requests[index];
  const bool by_lane = counts_lanes(answer.arch, request.request);
  std::vector<size_t> asked(static_cast<size_t>(answer.arch.banks));
  for (const BankUse& bank : banks) asked[static_cast<size_t>(bank.bank)] = asked_of(bank, by_lane);

  const uint64_t all = request.request.mask;
  out.line(fmt::format("  {} of each bank: {}, {}{}", by_lane ? "Lanes" : "Words", who(answer, index),
                       answer.run->accesses[request.access].text,
                       detail.phase_lanes[phase] == all ? "" : ", " + lanes(detail.phase_lanes[phase])),
           Style::bold);
  constexpr size_t in_a_row = 16;
  for (size_t first = 0; first < asked.size(); first += in_a_row) {
    const size_t end = std::min(first + in_a_row, asked.size());
    std::string text = fmt::format("  bank {:>4}-{:<4}", first, end - 1);
    for (size_t bank = first; bank < end; ++bank)
      text += asked[bank] == 0 ? "   ." : fmt::format("{:>4}", asked[bank]);
    out.line(text);
  }
  std::vector<BankUse> busiest = banks;
  std::erase_if(busiest, [](const BankUse& bank) { return bank.lane_accesses < 2; });
  if (busiest.empty()) return;
  std::stable_sort(busiest.begin(), busiest.end(), [&](const BankUse& a, const BankUse& b) {
    return asked_of(a, by_lane) > asked_of(b, by_lane);
  });
  Table table({"bank", by_lane ? "lanes" : "words", "who"}, 3);
  for (size_t i = 0; i < std::min(most_banks, busiest.size()); ++i)
    table.add({{std::to_string(busiest[i].bank)},
               {std::to_string(asked_of(busiest[i], by_lane))},
               {who_meets(busiest[i])}});
  table.write(out);
  if (busiest.size() > most_banks)
    out.line(fmt::format("  and {} more", counted(busiest.size() - most_banks, "bank")), Style::dim);
}

void write_what_if(Writer& out, const CodeAnswer& answer) {
  if (answer.what_if.empty() && answer.total.wavefronts > answer.total.ideal &&
      answer.launch.warp_lanes > 32) {
    out.line();
    out.paragraph("What if: not searched for waves of 64 lanes whose halves are served together.", 2,
                  Style::dim);
  }
  for (const WhatIf& what_if : answer.what_if) {
    const code::CodeArray& array = answer.run->arrays[what_if.array];
    out.line();
    if (what_if.better.empty()) {
      out.paragraph(
          fmt::format("What if {} were laid out otherwise: no padding, swizzle or other layout that was "
                      "tried costs less.",
                      array.name),
          2);
      continue;
    }
    Table table({"What if: " + array.declaration, "wavefronts / ideal", "n-way", "bytes"}, 1);
    const auto add = [&](const std::string& layout, const advise::Outcome& outcome, Style style) {
      constexpr size_t longest = 56;
      const bool fits = columns_of(layout) <= longest;
      table.add({{fits ? layout : "columns swizzled by the row:"},
                 {fmt::format("{} / {}", grouped(outcome.wavefronts), grouped(outcome.ideal)), style},
                 {std::to_string(outcome.max_way), style},
                 {grouped(outcome.bytes)}},
                fits ? std::vector<std::string>() : std::vector<std::string>{layout});
    };
    add("as it is", what_if.now, Style::bad);
    for (const advise::Candidate& candidate : what_if.better)
      add(describe(candidate, what_if), candidate.outcome,
          candidate.outcome.conflict_free() ? Style::good : Style::plain);
    table.write(out);
  }
}

std::string head_of(const CodeAnswer& answer) {
  const auto warps = (answer.launch.block.count() + static_cast<uint64_t>(answer.launch.warp_lanes) - 1) /
                     static_cast<uint64_t>(answer.launch.warp_lanes);
  return fmt::format("block {}: {} of {} lanes", extent(answer.launch.block), counted(warps, "warp"),
                     answer.launch.warp_lanes);
}

void write_notes(Writer& out, const CodeAnswer& answer) {
  for (const code::CodeArray& array : answer.run->arrays)
    if (array.assumed)
      out.paragraph(fmt::format("'{0}' is not declared; taken for: float {0}[]", array.name), 2, Style::dim);
  if (answer.total.write_race)
    out.paragraph("Several lanes store to one element, and which value stays is undefined.", 2, Style::bad);
  if (answer.total.estimate)
    out.paragraph("~ The hardware's rule for this access is unknown: the number is an estimate.", 2);
}

// ---- JSON.

Json phases_json(const model::Arch& arch, const model::Request& request) {
  const model::SharedDetail detail = model::shared_detail(arch, request);
  Json phases = Json::array();
  for (int i = 0; i < detail.phase_count; ++i) {
    if (detail.phase_lanes[i] == 0) continue;
    std::vector<size_t> words(static_cast<size_t>(arch.banks));
    for (const BankUse& bank : banks_of(detail, i)) words[static_cast<size_t>(bank.bank)] = bank.words.size();
    phases.push_back({{"lanes", fmt::format("{:#x}", detail.phase_lanes[i])},
                      {"wavefronts", detail.phase_wavefronts[i]},
                      {"words", words}});
  }
  return phases;
}

Json request_json(const CodeAnswer& answer, size_t index) {
  const code::CodeRequest& made = answer.run->requests[index];
  const code::CodeAccess& access = answer.run->accesses[made.access];
  const RequestCost& cost = answer.costs[index];
  Json loops = Json::array();
  for (const code::CodeStep::Loop& loop : answer.run->steps[made.step].loops)
    loops.push_back({{"variable", loop.variable},
                     {"pass", loop.pass},
                     {"value", loop.value ? Json(*loop.value) : Json(nullptr)}});
  Json addresses = Json::array();
  for (int lane = 0; lane < made.request.lanes; ++lane)
    addresses.push_back((made.request.mask >> lane & 1) != 0 ? Json(made.request.address[lane])
                                                             : Json(nullptr));
  return Json{{"access", access.text},
              {"line", access.place.line},
              {"column", access.place.column},
              {"op", op_name(access.op)},
              {"array", answer.run->arrays[access.array].name},
              {"width", access.width},
              {"loops", std::move(loops)},
              {"warp", made.warp},
              {"mask", fmt::format("{:#x}", made.request.mask)},
              {"addresses", std::move(addresses)},
              {"wavefronts", cost.wavefronts},
              {"ideal", cost.ideal},
              {"conflicts", cost.estimate ? Json(nullptr) : Json(cost.wavefronts - cost.ideal)},
              {"max_way", cost.max_way},
              {"write_race", cost.write_race},
              {"estimate", cost.estimate},
              {"phases", phases_json(answer.arch, made.request)}};
}

Json what_if_json(const CodeAnswer& answer) {
  Json all = Json::array();
  for (const WhatIf& what_if : answer.what_if)
    for (const advise::Candidate& candidate : what_if.better)
      all.push_back({{"array", answer.run->arrays[what_if.array].name},
                     {"layout", describe(candidate, what_if)},
                     {"wavefronts_before", what_if.now.wavefronts},
                     {"wavefronts_after", candidate.outcome.wavefronts},
                     {"ideal_after", candidate.outcome.ideal},
                     {"shared_bytes_before", what_if.now.bytes},
                     {"shared_bytes_after", candidate.outcome.bytes},
                     {"proven_best", candidate.proven_best}});
  return all;
}

Json json_of(const CodeAnswer& answer) {
  Json requests = Json::array();
  for (size_t i = 0; i < answer.costs.size(); ++i) requests.push_back(request_json(answer, i));
  Json arrays = Json::array();
  for (const code::CodeArray& array : answer.run->arrays)
    arrays.push_back({{"name", array.name},
                      {"declaration", array.declaration},
                      {"assumed", array.assumed},
                      {"offset", array.begin},
                      {"bytes", array.bytes}});
  Json reasons = Json::array();
  for (const size_t index : worst_requests(answer)) reasons.push_back(why(answer, index));
  const exec::Dim3& block = answer.launch.block;
  return Json{{"schema", 1},
              {"arch", answer.arch.name},
              {"arch_description", answer.arch.description},
              {"archs", answer.names},
              {"bank_bytes", answer.arch.bank_bytes},
              {"block", {block.x, block.y, block.z}},
              {"wavefronts", answer.total.wavefronts},
              {"ideal", answer.total.ideal},
              {"max_way", answer.total.max_way},
              {"estimate", answer.total.estimate},
              {"evidence", name_of(answer.total.evidence)},
              {"arrays", std::move(arrays)},
              {"requests", std::move(requests)},
              {"why", std::move(reasons)},
              {"what_if", what_if_json(answer)}};
}

/// "sm_10 … sm_13", "gfx942, cdna3".
std::string name_range(const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  return names.front() + (names.size() == 2 ? ", " : " … ") + names.back();
}

/// "NVIDIA 9.0 (Hopper)": the description up to what other columns say.
std::string short_description(const model::Arch& arch) {
  const std::string_view whole = arch.description;
  const size_t bracket = whole.find(')');
  const size_t end = bracket == std::string_view::npos ? whole.find(',') : bracket + 1;
  const std::string text(whole.substr(0, end));
  return arch.has_bank_modes ? fmt::format("{}, {}-byte banks", text, arch.bank_bytes) : text;
}

/// Counts the requests of a run.
CodeAnswer answer_of(const model::Arch& arch, std::shared_ptr<const code::CodeRun> run,
                     const code::CodeLaunch& launch) {
  CodeAnswer answer;
  answer.arch = arch;
  answer.is_free = model::find_arch(arch.name) == nullptr;
  answer.names = {arch.name};
  answer.launch = launch;
  answer.run = std::move(run);
  if (answer.run->requests.empty())
    throw Error(fmt::format(
        "the code accesses no array in shared memory{}; declare one and use it, as in 'float a[64]; a[2 * "
        "tid]'",
        answer.run->undeclared.empty() ? ""
                                       : fmt::format(" ('{}' is not declared)", answer.run->undeclared)));
  for (const code::CodeRequest& request : answer.run->requests) {
    answer.costs.push_back(cost_of(arch, request.request));
    answer.total.add(answer.costs.back());
  }
  return answer;
}

}  // namespace

void RequestCost::add(const RequestCost& other) {
  requests += other.requests;
  wavefronts += other.wavefronts;
  ideal += other.ideal;
  max_way = std::max(max_way, other.max_way);
  estimate |= other.estimate;
  write_race |= other.write_race;
  evidence = model::less_sure(evidence, other.evidence);
}

CodeAnswer make_answer(const model::Arch& arch, const code::Code& code, code::CodeLaunch launch,
                       bool with_what_if) {
  launch.warp_lanes = arch.warp_lanes;
  CodeAnswer answer =
      answer_of(arch, std::make_shared<const code::CodeRun>(code::run_code(code, launch)), launch);
  if (with_what_if)
    for (uint32_t array = 0; array < answer.run->arrays.size(); ++array)
      if (std::optional<WhatIf> what_if = what_if_of(answer, array))
        answer.what_if.push_back(std::move(*what_if));
  return answer;
}

std::vector<CodeAnswer> answer_all(const code::Code& code, const code::CodeLaunch& launch) {
  std::vector<CodeAnswer> answers;
  std::map<int, std::shared_ptr<const code::CodeRun>> runs;  // by the lanes of a warp
  const auto add = [&](const model::Arch& arch) {
    code::CodeLaunch on = launch;
    on.warp_lanes = arch.warp_lanes;
    auto& run = runs[arch.warp_lanes];
    if (!run) run = std::make_shared<const code::CodeRun>(code::run_code(code, on));
    answers.push_back(answer_of(arch, run, on));
  };
  for (const model::Arch& arch : model::archs) {
    // Neighbours of one description have the same rules for shared memory.
    if (!answers.empty() && std::string_view(answers.back().arch.description) == arch.description) {
      answers.back().names.emplace_back(arch.name);
      continue;
    }
    if (!answers.empty() && answers.back().arch.has_bank_modes) {
      const std::vector<std::string> names = answers.back().names;
      constexpr int wide = 8;
      add(model::with_bank_mode(answers.back().arch, wide));
      answers.back().names = names;
    }
    add(arch);
  }
  return answers;
}

std::string to_text(const CodeAnswer& answer, const TextOptions& options) {
  Writer out(options);
  out.paragraph(fmt::format("{}  {}", answer.arch.name, head_of(answer)), 0, Style::bold);
  const char* known_from = answer.is_free ? "" : knowledge(answer.total.evidence);
  const std::string described = answer.is_free
                                    ? fmt::format("{}: {} banks of {} bytes", answer.arch.description,
                                                  answer.arch.banks, answer.arch.bank_bytes)
                                    : answer.arch.description;
  out.paragraph(described + (*known_from == '\0' ? "" : ": ") + known_from, 2, Style::dim);
  write_notes(out, answer);
  out.line();
  write_accesses(out, answer);
  const std::vector<size_t> worst = worst_requests(answer);
  for (size_t i = 0; i < std::min(worst.size(), most_explained); ++i) {
    if (i != 0) out.line();
    const code::CodeAccess& access = answer.run->accesses[answer.run->requests[worst[i]].access];
    const RequestCost& cost = answer.costs[worst[i]];
    const std::string ways =
        cost.wavefronts > cost.ideal ? std::to_string(cost.max_way) + "-way" : "no conflict";
    out.paragraph(
        fmt::format("Why {} ({}, {}): {}", access.text, op_name(access.op), ways, why(answer, worst[i])), 2);
  }
  if (worst.size() > most_explained)
    out.line(fmt::format("  and {}: --format json has all reasons",
                         counted(worst.size() - most_explained, "access")),
             Style::dim);
  out.line();
  write_banks(out, answer, worst.front());
  write_what_if(out, answer);
  return std::move(out).str();
}

std::string to_json(const CodeAnswer& answer) { return json_text(json_of(answer)); }

std::string to_text(const std::vector<CodeAnswer>& answers, const TextOptions& options) {
  Writer out(options);
  out.paragraph(fmt::format("block {}", extent(answers.front().launch.block)), 0, Style::bold);
  Table table({"architecture", "", "wavefronts / ideal", "n-way", "known from"}, 2);
  for (const CodeAnswer& answer : answers)
    table.add({{name_range(answer.names)},
               {short_description(answer.arch)},
               {cost_text(answer.total), style_of(answer.total)},
               {std::to_string(answer.total.max_way), style_of(answer.total)},
               {name_of(answer.total.evidence)}});
  table.write(out);
  return std::move(out).str();
}

std::string to_json(const std::vector<CodeAnswer>& answers) {
  Json all = Json::array();
  for (const CodeAnswer& answer : answers) all.push_back(json_of(answer));
  return json_text(Json{{"schema", 1}, {"arch", "all"}, {"answers", std::move(all)}});
}

}  // namespace lanescope::report
