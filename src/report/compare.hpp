// Two reports of one program, before and after a change: which launches and lines are the same ones, and what
// became of them.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "report/report.hpp"
#include "report/table.hpp"

namespace lanescope::report {

/// Positions of what is the same in two lists; `none` where it is in one of them alone.
struct Pair {
  static constexpr size_t none = ~size_t{0};
  size_t before = none, after = none;
  friend bool operator==(const Pair&, const Pair&) = default;
};

/// What identifies an entry of a list: entries of different groups are never the same; within a group they
/// are aligned by their texts as `diff` aligns the lines of a file; of the others equal texts belong together
/// (they moved), and what is left between two aligned entries if it is as much on both sides (it was edited).
struct Identity {
  std::string group;
  std::string text;
};
[[nodiscard]] std::vector<Pair> paired(const std::vector<Identity>& before,
                                       const std::vector<Identity>& after);

/// By kernel and shape, else by kernel and order.
[[nodiscard]] std::vector<Pair> paired_launches(const Report& before, const Report& after);
/// By file, kind of access, variable and source text.
[[nodiscard]] std::vector<Pair> paired_lines(const Launch& before, const Launch& after);
[[nodiscard]] std::vector<Pair> paired_branches(const Launch& before, const Launch& after);

/// What a report was made with that another one is not, so that they do not tell the same, in words that
/// follow "was": another architecture or merging of accesses, --assemble, --check.
[[nodiscard]] std::vector<std::string> made_otherwise(const Report& before, const Report& after);

/// What costs more in `after` than in `before`, one sentence each: conflicts, n-way, sectors over the ideal,
/// divergence, local memory, spills, new findings. What a comment allows is left out.
[[nodiscard]] std::vector<std::string> worse_than(const Report& before, const Report& after);

/// The differences by line: tables, or JSON (docs/gate.md).
[[nodiscard]] std::string diff_text(const Report& before, const Report& after, const TextOptions& options);
[[nodiscard]] std::string diff_json(const Report& before, const Report& after);

}  // namespace lanescope::report
