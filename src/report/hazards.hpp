// What in a report deserves a change: one Hazard for each source line and rule, with what it costs, what it
// would have to cost, why, and what to do. Every format that lists problems (text, HTML, SARIF, annotations,
// JUnit, the gate) lists these.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace lanescope::report {

enum class Level : uint8_t { error, warning, note };
/// "error", "warning", "note".
[[nodiscard]] const char* name_of(Level level);

/// What a launch must have been run with for a rule to be looked at, or a limit to be known. Shared counts:
/// those that all accesses to shared memory are in.
enum class Basis : uint8_t { run, counts, shared_counts, assembly, race, init, barrier, bounds };

struct Rule {
  std::string_view id;     ///< "bank-conflict"
  std::string_view title;  ///< a few words
  std::string_view help;   ///< what it is, why it costs, what to do about it
  Level level;
  Basis basis = Basis::run;
};

/// All rules: hazards, then the kinds of findings.
[[nodiscard]] std::span<const Rule> rules();
/// The rule by which accesses to that memory cost too much.
[[nodiscard]] std::string_view rule_of(exec::AccessSpace space);
/// Null when there is no such rule.
[[nodiscard]] const Rule* find_rule(std::string_view id);
/// Why a launch does not tell what rests on that, or not all of it; empty where it does. A launch without a
/// hazard may then have one all the same.
[[nodiscard]] std::string not_looked_for(Basis basis, const Launch& launch);

struct Hazard {
  std::string rule;
  Level level = Level::warning;
  size_t launch = 0;   ///< index of Report::launches; no_launch: of the program
  std::string kernel;  ///< empty: of the program
  std::string file;    ///< empty: nowhere
  uint32_t line = 0;
  std::string subject;     ///< "ld.shared of tile"; empty where the rule says it all
  uint64_t count = 0;      ///< what it costs, in `unit`s
  uint64_t ideal = 0;      ///< what it would have to cost
  std::string unit;        ///< "wavefronts"; "wavefront" where `count` is 1
  std::string cause;       ///< in words; one or more sentences
  std::string advice;      ///< in words; may be empty
  bool allowed = false;    ///< by a comment in the source
  std::string allowed_by;  ///< the comment's reason
};
inline constexpr size_t no_launch = ~size_t{0};

/// Launch by launch in the order of the report; in each, findings first, then by rule, the costliest line
/// first. Those of the program as a whole come last.
[[nodiscard]] std::vector<Hazard> hazards_of(const Report& report);
/// Those of one launch, in that order.
[[nodiscard]] std::vector<Hazard> hazards_of(const Launch& launch, size_t index = 0);

/// "32 wavefronts instead of 1: cause Advice: …", without the place.
[[nodiscard]] std::string in_words(const Hazard& hazard);

/// Lanes that did something, of those that could have: lane instructions of 32 for each warp instruction. 1
/// when nothing ran.
[[nodiscard]] double warp_efficiency(const Launch& launch);
/// Branch executions whose lanes stayed together, of all. 1 when there was none.
[[nodiscard]] double branch_efficiency(const Launch& launch);

}  // namespace lanescope::report
