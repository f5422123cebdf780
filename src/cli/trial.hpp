// One run of a program (or of a kernel of a PTX file) for `lanescope fix`: what it wrote, what its report
// says, and whether another run proves that a change of the source changed nothing but the layout of an
// array.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"

namespace lanescope::cli {

/// What is run, and how runs are compared.
struct TrialOptions {
  /// A program and its arguments, or a PTX file and what `lanescope run` takes behind it.
  std::vector<std::string> program;
  std::string arch;
  std::string checks;                ///< as of `lanescope run --check`
  std::vector<std::string> compare;  ///< files that the program writes
  double tolerance = 0;              ///< relative, of numbers
  std::vector<std::regex> ignore;    ///< what of the text is no result
  [[nodiscard]] bool is_ptx() const { return program.front().ends_with(".ptx"); }
};

struct Trial {
  /// What one run wrote: its standard output, a file, the buffer of an argument.
  struct Output {
    enum class Kind : uint8_t { text, bytes, f32, f64 };
    std::string name;
    Kind kind = Kind::text;
    std::string content;
  };
  int status = 0;
  std::chrono::steady_clock::duration took{};
  std::vector<Output> outputs;
  nlohmann::json report;
  std::set<std::string> varying;  ///< kernels that do not cost the same in every run: see varying_kernels()
  [[nodiscard]] bool varies(const nlohmann::json& launch) const;  ///< a launch of a report
};

/// Thrown when somebody wants this program to end (Ctrl-C): the signal.
struct Interrupted {
  int signal = 0;
};

/// From now on signals to end are passed to the child that runs and thrown as Interrupted when it has ended.
void catch_interrupts();

/// Runs a command without standard input, its standard output into a file. Returns its exit status. With a
/// `limit`, the command and the processes that it has started are ended after that time, and an Error says
/// so of `name`, or of the command if that is empty.
int run_to_file(const std::vector<std::string>& command, const std::filesystem::path& output,
                std::optional<std::chrono::seconds> limit = std::nullopt, const std::string& name = "");

/// What shared memory holds when a block begins. Zeros hide that a change leaves elements without their first
/// values.
enum class Shared : uint8_t { zeros, poison };

/// Runs the program as `lanescope run` does; throws lanescope::Error if there is no report, or at the limit.
[[nodiscard]] Trial run_trial(const TrialOptions& options, const ScratchFolder& folder, Shared shared,
                              std::optional<std::chrono::seconds> limit = std::nullopt);

/// The first difference between what two runs wrote and how they ended, in words; empty if there is none.
[[nodiscard]] std::string difference(const Trial& before, const Trial& after, const TrialOptions& options);

/// The kernels that cost something else in a second run of the same program: who comes first decides what
/// they do.
[[nodiscard]] std::set<std::string> varying_kernels(const Trial& one, const Trial& other);

/// What a change of the layout of `variable` is expected to do to the launches of a report.
struct Prediction {
  struct Launch {
    size_t index = 0;
    uint64_t before = 0, after = 0;  ///< wavefronts of all accesses to the variable
    bool estimate = false;
  };
  std::string variable;
  std::vector<Launch> launches;
};

/// What the array of a prediction costs, all of the prediction's launches together.
struct ArrayCost {
  uint64_t before = 0, predicted = 0, now = 0;
  bool as_predicted = true;  ///< in every launch; about so where that is all that the prediction says
  [[nodiscard]] bool keeps_promise() const { return as_predicted || now < predicted; }
};
[[nodiscard]] ArrayCost array_cost(const Prediction& prediction, const Trial& before, const Trial& after);

/// Why the program after a change does not do what it did, in words; empty if it does: same end, same output,
/// no new findings, as many launches.
[[nodiscard]] std::string defect(const Trial& before, const Trial& after, const TrialOptions& options);
/// Why the run after the change does not prove it; empty if it does: same end, same output, no new findings,
/// no launch that takes more wavefronts than before, the array's as predicted or at least measurably fewer
/// than before, and no longer least time of the launches that it changes. Of kernels that vary
/// (Trial::varying of `before`) nothing but the array is compared.
[[nodiscard]] std::string disproof(const Prediction& prediction, const Trial& before, const Trial& after,
                                   const TrialOptions& options);
/// What the array costs in a run that proves the change, beside the prediction; and which other arrays cost
/// more.
[[nodiscard]] std::string cost_in_words(const Prediction& prediction, const Trial& before,
                                        const Trial& after);
/// As many wavefronts as take the time of the instructions that the launches execute more than before.
[[nodiscard]] uint64_t wavefronts_worth_of_instructions(const Trial& before, const Trial& after);
/// What a proven change takes for what it saves: instructions that say where elements lie. Empty where the
/// launches execute hardly more than before.
[[nodiscard]] std::string instructions_in_words(const Trial& before, const Trial& after);

}  // namespace lanescope::cli
