// See words.hpp.
#include "probe/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iomanip>
#include <sstream>

namespace lanescope::probe {
namespace {

/// Groups as the model's Phases: "consecutive(16, 32, …)", or a comment where they are listed.
std::string code_of(const std::string& member, const std::optional<Groups>& groups,
                    const model::Phases& phases) {
  const char* evidence = groups ? "third_party" : "assumed";
  if (phases.lanes_each != 0)
    return fmt::format("  arch.{} = consecutive({}, {}, Evidence::{});\n", member, phases.lanes_each,
                       phases.unit, evidence);
  std::string code =
      fmt::format("  arch.{0}.lanes_each = 0;\n  arch.{0}.evidence = Evidence::{1};\n", member, evidence);
  for (int i = 0; i < phases.listed; ++i)
    code += fmt::format("  arch.{0}.list[arch.{0}.listed++] = 0x{1:x};\n", member, phases.list[i]);
  return code;
}

/// As a string of C++.
std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << std::quoted(text);
  return out.str();
}

/// As a name of C++.
std::string identifier(const std::string& text) {
  std::string name = text;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return "probed_" + name;
}

const char* code_of(model::Broadcast broadcast) {
  switch (broadcast) {
    case model::Broadcast::none: return "none";
    case model::Broadcast::one_word: return "one_word";
    case model::Broadcast::many_words: return "many_words";
  }
  return "";
}

}  // namespace

const char* in_words(Certainty certainty) {
  switch (certainty) {
    case Certainty::sure: return "sure";
    case Certainty::doubtful: return "doubtful";
    case Certainty::undecided: return "undecided";
    case Certainty::absent: return "absent";
    case Certainty::derived: return "derived";
  }
  return "";
}

Comparison compare(const Result& result, const model::Arch& preset) {
  const Description truth = describe(preset);
  Comparison comparison;
  for (size_t i = 0; i < result.findings.size(); ++i) {
    const std::string found = parameters()[i].value(result.description);
    if (result.findings[i].certainty == Certainty::absent) continue;
    if (found.empty())
      ++comparison.open;
    else if (found == parameters()[i].value(truth))
      ++comparison.equal;
    else
      ++comparison.different;
  }
  return comparison;
}

std::string to_table(const Chip& chip, const Result& result, const model::Arch* preset, bool reasons) {
  const Description truth = preset != nullptr ? describe(*preset) : Description();
  std::string text = fmt::format("{}, {}, CUDA {}: {} accesses measured, of one warp alone\n", chip.name,
                                 chip.arch, chip.cuda, result.measurements.size());
  size_t wide = 5;
  for (const Parameter& parameter : parameters())
    wide = std::max(wide, parameter.value(result.description).size());
  text += fmt::format("  {:<38}  {:<{}}  {:<9}{}\n", "", "found", wide, "certainty",
                      preset != nullptr ? fmt::format("  preset {}", preset->name) : "");
  for (size_t i = 0; i < result.findings.size(); ++i) {
    const Parameter& parameter = parameters()[i];
    const Finding& finding = result.findings[i];
    const std::string found = parameter.value(result.description);
    const std::string expected = preset != nullptr ? parameter.value(truth) : "";
    const bool absent = finding.certainty == Certainty::absent;
    const bool equal = absent || found == expected;
    text += fmt::format("  {:<38}  {:<{}}  {:<9}{}\n", parameter.meaning, found.empty() ? "-" : found, wide,
                        in_words(finding.certainty),
                        preset == nullptr  ? ""
                        : absent           ? ""
                        : equal            ? "  same"
                        : expected.empty() ? "  not in the preset"
                                           : "  " + expected);
    const bool open = finding.certainty == Certainty::undecided || finding.certainty == Certainty::doubtful;
    if (reasons || open || (preset != nullptr && !equal)) text += fmt::format("      {}\n", finding.reason);
  }
  int patterns = 0, agreeing = 0;
  for (const Check& check : result.checks) {
    patterns += check.patterns;
    agreeing += check.agreeing;
  }
  text += fmt::format("The description predicts the latency of {} of {} other accesses, drawn at random.\n",
                      agreeing, patterns);
  for (const Check& check : result.checks)
    if (check.agreeing != check.patterns)
      text += fmt::format("  {}: {} of {}, at worst {:.1f} wavefronts off\n", name_of(check.access),
                          check.agreeing, check.patterns, check.worst);
  if (preset == nullptr) return text;
  const Comparison comparison = compare(result, *preset);
  text += fmt::format("{} parameters equal the preset {}, {} differ, {} undecided.\n", comparison.equal,
                      preset->name, comparison.different, comparison.open);
  return text;
}

std::string to_code(const Chip& chip, const Result& result) {
  const Description& d = result.description;
  const model::Arch arch = to_arch(d);
  std::string code = fmt::format(
      "constexpr Arch {}() {{\n"
      "  Arch arch = named({}, {});\n"
      "  arch.warp_lanes = {};\n"
      "  arch.banks = {};\n"
      "  arch.bank_bytes = {};\n",
      identifier(chip.arch), quoted(chip.arch), quoted(chip.name), arch.warp_lanes, arch.banks,
      arch.bank_bytes);
  for (size_t i = 0; i < model::width_count; ++i)
    code += code_of(fmt::format("load[{}]", i), d.load[i], arch.load[i]);
  for (size_t i = 0; i < model::width_count; ++i)
    code += code_of(fmt::format("store[{}]", i), d.store[i], arch.store[i]);
  code += fmt::format("  arch.broadcast = Broadcast::{};\n", code_of(arch.broadcast));
  if (d.broadcast) code += "  arch.broadcast_evidence = Evidence::third_party;\n";
  if (arch.segment_words != 0) code += fmt::format("  arch.segment_words = {};\n", arch.segment_words);
  if (arch.split_wide) code += "  arch.split_wide = true;\n";
  if (arch.subword_conflict) code += "  arch.subword_conflict = true;\n";
  if (arch.extra_wide_wavefronts != 0)
    code += fmt::format("  arch.extra_wide_wavefronts = {};\n", arch.extra_wide_wavefronts);
  code += "  arch.special_evidence = Evidence::third_party;\n";
  code += fmt::format("  arch.pair_rule = {};\n", arch.pair_rule);
  if (d.pair_rule) code += "  arch.pair_evidence = Evidence::third_party;\n";
  if (d.atomic) code += "  arch.atomic_evidence = Evidence::third_party;\n";
  if (d.async[0] && d.async[1]) code += "  arch.async_evidence = Evidence::third_party;\n";
  if (d.ldmatrix[2] && d.stmatrix[2]) code += "  arch.matrix_evidence = Evidence::third_party;\n";
  code += fmt::format("  arch.global = GlobalRule::{};\n",
                      arch.global == model::GlobalRule::lines ? "lines" : "sectors");
  if (d.sector_bytes) code += "  arch.global_evidence = Evidence::third_party;\n";
  return code + "  return arch;\n}\n";
}

}  // namespace lanescope::probe
