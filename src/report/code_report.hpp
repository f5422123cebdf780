// What the accesses of a few lines of code cost: the answer of `lanescope explain`, ready to be written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/layout.hpp"
#include "code/code.hpp"
#include "lanescope/model/arch.hpp"
#include "lanescope/model/shared.hpp"
#include "report/table.hpp"

namespace lanescope::report {

/// What a request costs. Where its rule is unknown, `wavefronts` is an estimate.
struct RequestCost {
  uint64_t requests = 0;
  uint64_t wavefronts = 0;
  uint64_t ideal = 0;
  int max_way = 0;
  bool estimate = false;
  bool write_race = false;
  model::Evidence evidence = model::Evidence::measured;

  void add(const RequestCost& other);
};

/// What the array's accesses would cost if it were laid out otherwise.
struct WhatIf {
  uint32_t array = 0;
  advise::Outcome now;
  std::vector<advise::Candidate> better;  ///< best first
  /// One-dimensional: the layouts take the array for rows of as many bytes as there are in all banks.
  uint32_t assumed_row_bytes = 0;
  uint32_t element_bytes = 0;
};

struct CodeAnswer {
  model::Arch arch;
  bool is_free = false;            ///< an architecture given by numbers
  std::vector<std::string> names;  ///< of all architectures that this is the answer for
  code::CodeLaunch launch;
  std::shared_ptr<const code::CodeRun> run;  ///< one for all architectures with warps of this size
  std::vector<RequestCost> costs;            ///< of each request of `run`
  RequestCost total;
  std::vector<WhatIf> what_if;  ///< of arrays whose accesses conflict
};

/// Counts the requests. `with_what_if`: searches for better layouts too.
[[nodiscard]] CodeAnswer make_answer(const model::Arch& arch, const code::Code& code, code::CodeLaunch launch,
                                     bool with_what_if);

/// The answers of all generations: one for each set of rules that has a name.
[[nodiscard]] std::vector<CodeAnswer> answer_all(const code::Code& code, const code::CodeLaunch& launch);

[[nodiscard]] std::string to_text(const CodeAnswer& answer, const TextOptions& options);
[[nodiscard]] std::string to_json(const CodeAnswer& answer);

/// Side by side.
[[nodiscard]] std::string to_text(const std::vector<CodeAnswer>& answers, const TextOptions& options);
[[nodiscard]] std::string to_json(const std::vector<CodeAnswer>& answers);

}  // namespace lanescope::report
