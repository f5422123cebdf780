// `lanescope fix`: runs a CUDA program, or a kernel of a PTX file, takes from the advice what a change of the
// source can do surely, shows the change as a diff, and with --apply makes it, has the program built again,
// and keeps it only if the new program proves it: same output, fewer wavefronts, no more time, no new
// findings.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "advise/patch.hpp"
#include "advise/python.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "cli/changed_source.hpp"
#include "cli/commands.hpp"
#include "cli/number_options.hpp"
#include "cli/repeatable.hpp"
#include "cli/run_program.hpp"
#include "cli/trial.hpp"
#include "report/words.hpp"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct FixOptions {
  TrialOptions trial;
  std::vector<std::string> ignore;
  std::string build;
  bool apply = false;
};

/// What one patch is expected to do.
struct Change {
  advise::Patch patch;
  bool uses_tiles = false;
  std::string what, where;  ///< the advice's words and place
  Prediction prediction;
  uint64_t saved = 0;               ///< wavefronts, as predicted
  uint32_t shared_bytes = 0;        ///< of a block, of the launch that has most of them afterwards
  std::string memory{};             ///< what that launch takes more of, in words
  std::set<std::string> kernels{};  ///< of the launches that it is predicted for
  /// By which it is known again when other changes have moved its place in the file. Kernels of one file may
  /// have arrays of one name, and the same words said of them.
  using Key = std::array<std::string, 3>;
  [[nodiscard]] Key key() const { return {patch.file, *kernels.begin(), what}; }
  [[nodiscard]] bool is_of_array_of(const Change& other) const {
    return patch.file == other.patch.file && prediction.variable == other.prediction.variable &&
           std::any_of(kernels.begin(), kernels.end(),
                       [&](const std::string& kernel) { return other.kernels.count(kernel) != 0; });
  }
};

/// What a variable of a kernel is known by, over several runs.
std::string variable_of(const json& advice) {
  return advice.at("kernel").get<std::string>() + " " + advice.at("variable").get<std::string>();
}

/// The bytes of shared memory that a block takes more, and what that does to the occupancy; empty: no more.
std::string memory_in_words(const json& advice) {
  const uint32_t before = advice.at("shared_bytes_before"), after = advice.at("shared_bytes_after");
  if (after == before) return "";
  std::string text = fmt::format("; bytes of shared memory a block {} → {}", report::grouped(before),
                                 report::grouped(after));
  if (advice.at("occupancy_after").is_null()) return text;
  const int blocks_before = advice.at("occupancy_before").at("blocks"),
            blocks_after = advice.at("occupancy_after").at("blocks");
  if (blocks_after != blocks_before)
    text += fmt::format(", blocks on a multiprocessor {} → {}", blocks_before, blocks_after);
  return text;
}

advise::Patch patch_of(const json& p) {
  advise::Patch patch{p.at("file"), {}};
  for (const json& edit : p.at("edits"))
    patch.edits.push_back({edit.at("begin"), edit.at("end"), edit.at("text")});
  if (p.contains("along"))
    for (const json& other : p.at("along")) patch.along.push_back(patch_of(other));
  return patch;
}

/// Whether anything that one of them edits in a file meets an edit of the other one there.
template <class Meet>
bool any_in_one_file(const advise::Patch& a, const advise::Patch& b, Meet meet) {
  for (const advise::Patch& one : a.of_files())
    for (const advise::Patch& other : b.of_files())
      if (one.file == other.file && meet(one.edits, other.edits)) return true;
  return false;
}

/// The patches that a report advises, those that save most first; launches that want the same patch share it.
std::vector<Change> changes_of(const json& report) {
  std::vector<Change> changes;
  for (const json& a : report.at("advice")) {
    if (!a.contains("patch")) continue;
    const json& p = a.at("patch");
    const advise::Patch patch = patch_of(p);
    auto change = std::find_if(changes.begin(), changes.end(), [&](const Change& c) {
      return c.patch == patch && c.prediction.variable == a.at("variable");
    });
    if (change == changes.end())
      change = changes.insert(changes.end(), Change{patch, p.at("uses_tiles"), a.at("change"),
                                                    fmt::format("{}:{}", a.at("file").get<std::string>(),
                                                                a.at("line").get<uint32_t>()),
                                                    Prediction{a.at("variable"), {}}});
    change->prediction.launches.push_back(
        {a.at("launch"), a.at("wavefronts_before"), a.at("wavefronts_after"), a.at("estimate")});
    if (const uint32_t bytes = a.at("shared_bytes_after"); bytes > change->shared_bytes) {
      change->shared_bytes = bytes;
      change->memory = memory_in_words(a);
    }
    change->kernels.insert(a.at("kernel"));
    change->saved += a.at("wavefronts_before").get<uint64_t>() - a.at("wavefronts_after").get<uint64_t>();
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.saved > b.saved; });
  return changes;
}

/// Advice about variables that no patch is offered for: the best of it, and why each is left to people.
/// Kernels of which the same is said, as instances of a template, share it.
std::vector<std::string> by_hand(const json& report) {
  struct Text {
    std::string place, change, memory;
    uint64_t before = 0, after = 0;
    uint32_t shared_bytes = 0;  ///< of the launch that has most of them afterwards
    std::vector<std::string> reasons;
  };
  std::vector<Text> texts;
  std::map<std::string, size_t> text_of;  // by variable of a kernel
  std::set<std::string> patched;
  for (const json& a : report.at("advice"))
    if (a.contains("patch")) patched.insert(variable_of(a));
  for (const json& a : report.at("advice")) {
    const std::string variable = variable_of(a);
    if (patched.count(variable) != 0) continue;
    const std::string place =
        fmt::format("{}:{}", a.at("file").get<std::string>(), a.at("line").get<uint32_t>());
    const std::string change = a.at("change");
    const auto says_it = [&](const Text& text) { return text.place == place && text.change == change; };
    const auto [known, is_new] = text_of.try_emplace(variable, texts.size());
    if (is_new) {
      const auto same = std::find_if(texts.begin(), texts.end(), says_it);
      known->second = static_cast<size_t>(same - texts.begin());
      if (same == texts.end()) texts.push_back({place, change, "", 0, 0, 0, {}});
    }
    Text& text = texts[known->second];
    if (says_it(text)) {
      text.before += a.at("wavefronts_before").get<uint64_t>();
      text.after += a.at("wavefronts_after").get<uint64_t>();
      if (const uint32_t bytes = a.at("shared_bytes_after"); bytes > text.shared_bytes) {
        text.shared_bytes = bytes;
        text.memory = memory_in_words(a);
      }
    }
    const std::string reason = a.at("no_patch");
    if (std::find(text.reasons.begin(), text.reasons.end(), reason) == text.reasons.end())
      text.reasons.push_back(reason);
  }
  std::vector<std::string> lines;
  for (const Text& text : texts)
    lines.push_back(fmt::format("{}: {} (wavefronts {} → {}{}). No patch: {}.", text.place, text.change,
                                report::grouped(text.before), report::grouped(text.after), text.memory,
                                fmt::join(text.reasons, "; ")));
  return lines;
}

constexpr const char* tiles = "lanescope/tile.cuh";

/// What a program that includes it is to be built with, in words.
std::string options_for_tiles() {
  for (fs::path folder = fs::read_symlink("/proc/self/exe"); folder != folder.root_path();) {
    folder = folder.parent_path();
    if (fs::exists(folder / "include" / tiles))
      return fmt::format("as C++20 and with its folder: -std=c++20 -I {}", (folder / "include").string());
  }
  return "as C++20 (-std=c++20) and with -I for Lanescope's headers";
}

/// Where the file lies from the current folder, if it lies below it; else nothing.
std::optional<fs::path> below_here(const std::string& file) {
  const fs::path relative = fs::relative(file);
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative;
}

/// A file of the patch that does not lie below the current folder; empty: all do.
std::string file_elsewhere(const advise::Patch& patch) {
  for (const advise::Patch& of_file : patch.of_files())
    if (!below_here(of_file.file)) return of_file.file;
  return "";
}

/// The change and its diff.
void show(const Change& change) {
  uint64_t after = 0;
  for (const Prediction::Launch& launch : change.prediction.launches) after += launch.after;
  std::string diff;
  for (const advise::Patch& of_file : change.patch.of_files()) {
    const std::string text = read_file(of_file.file);
    (void)advise::patched(text, of_file.edits, of_file.file);
    // As patch and git apply want it in the current folder.
    const fs::path file = below_here(of_file.file).value_or(fs::path(of_file.file).filename());
    diff += advise::unified_diff(text, of_file.edits, file);
  }
  std::cout << fmt::format("{}: {} (wavefronts {} → {}{})\n", change.where, change.what,
                           report::grouped(after + change.saved), report::grouped(after), change.memory);
  if (change.uses_tiles)
    std::cout << fmt::format("It includes <{}>: the program has to be built {}.\n", tiles,
                             options_for_tiles());
  std::cout << diff << std::flush;
}

/// Whether the program is a Python script, which compiles its kernels itself.
bool is_script(const FixOptions& options) {
  return std::any_of(options.trial.program.begin(), options.trial.program.end(),
                     [](const std::string& word) { return advise::is_python(word); });
}

int build(const FixOptions& options, const ScratchFolder& folder) {
  if (options.build.empty()) return 0;
  return run_to_file({"sh", "-c", "exec 1>&2; " + options.build}, folder.path() / "build");
}

/// Runs the program with poison in shared memory, much longer than `before` took at most: a loop may get its
/// end from what no thread has written.
Trial run_poisoned(const FixOptions& options, const ScratchFolder& folder, const Trial& before) {
  const auto limit = std::chrono::seconds(10) + 10 * before.took;
  return run_trial(options.trial, folder, Shared::poison,
                   std::chrono::duration_cast<std::chrono::seconds>(limit));
}

/// Why a run with poison in shared memory ended or wrote otherwise than `before` did, where a run with zeros
/// does not: in words. Empty if that is not why, or if both did the same.
std::string dependence(const FixOptions& options, const ScratchFolder& folder, const Trial& before,
                       const Trial& poisoned) {
  const std::string found = difference(before, poisoned, options.trial);
  if (found.empty() ||
      !difference(before, run_trial(options.trial, folder, Shared::zeros), options.trial).empty())
    return "";
  return fmt::format(
      "depends on shared memory that no thread has written, for with other words there {}; lanescope run "
      "--check init names the lines that read it",
      found);
}

/// Whether the program is built when its source includes the header of the change, and nothing else of it.
bool is_built_with_tiles(const FixOptions& options, const ScratchFolder& folder, const Change& change) {
  const auto include =
      std::find_if(change.patch.edits.begin(), change.patch.edits.end(),
                   [](const advise::Edit& edit) { return edit.text.find(tiles) != std::string::npos; });
  if (include == change.patch.edits.end()) return true;  // it does already
  ChangedSource source;
  bool is_built = false;
  try {
    source.make({change.patch.file, {*include}});
    is_built = build(options, folder) == 0;
  } catch (const Interrupted&) {
    source.take_back_interrupted();
    throw;
  } catch (...) {
    source.take_back();
    throw;
  }
  source.take_back();
  (void)build(options, folder);  // as it was
  return is_built;
}

/// What came of a change.
enum class Outcome : uint8_t { kept, taken_back, not_built };

/// What came of changes that were made: wavefronts saved; 0: not proven.
using Tried = std::map<Change::Key, uint64_t>;

/// What the change saves, as was seen when it was made, else as predicted.
uint64_t expected(const Change& change, const Tried& tried) {
  const auto seen = tried.find(change.key());
  return seen == tried.end() ? change.saved : seen->second;
}

/// Builds the program of the source as it now is, and runs it: `after`; none if it is not built. Why that
/// does not prove the changes, in words; empty if it does.
std::string disproof_of_source(const FixOptions& options, const ScratchFolder& folder,
                               const std::vector<Prediction>& predictions, const Trial& before,
                               std::optional<Trial>& after) {
  if (const int status = build(options, folder); status != 0)
    return fmt::format("'{}' failed with status {}", options.build, status);
  after = run_poisoned(options, folder, before);
  std::string why;
  for (size_t i = 0; i < predictions.size() && why.empty(); ++i)
    why = disproof(predictions[i], before, *after, options.trial);
  if (!why.empty())
    if (const std::string reads = dependence(options, folder, before, *after); !reads.empty())
      return "the program " + reads;
  return why;
}

/// Changes of other arrays that take more wavefronts since the change was made, and nothing else is wrong:
/// the compiler may have merged the accesses to both, and does so no longer. Of another instance of a
/// template, the array is the same one in the source.
std::vector<Change> partners_of(const FixOptions& options, const Change& change, const Trial& before,
                                const Trial& after) {
  if (!defect(before, after, options.trial).empty()) return {};
  std::vector<Change> others = changes_of(after.report);
  std::erase_if(others, [&](const Change& other) {
    const ArrayCost cost = array_cost(other.prediction, before, after);
    return other.patch.file != change.patch.file || (other.uses_tiles && !change.uses_tiles) ||
           cost.now <= cost.before || any_in_one_file(change.patch, other.patch, advise::change_again);
  });
  return others;
}

/// Makes the change and has it proven, together with another one if it takes two, or takes it back; also if
/// it is proven, but saves fewer wavefronts than predicted, or takes notably more instructions for it, and so
/// less than `rival`, for which another change of the array is worth a try. What came of it goes into
/// `tried`. `before` becomes the run that proves it.
Outcome apply(const FixOptions& options, const ScratchFolder& folder, const Change& change, uint64_t rival,
              Tried& tried, Trial& before) {
  ChangedSource source;
  std::string why, verdict = "Not proven, so taken back";
  Outcome outcome = Outcome::taken_back;
  uint64_t& saved = tried[change.key()];
  saved = 0;
  // Keeps what is proven to change these arrays, if no rival is worth a try.
  const auto is_kept = [&](Trial& after, const std::vector<Prediction>& predictions) {
    std::vector<std::string> costs;
    bool as_promised = true;
    for (const Prediction& prediction : predictions) {
      const ArrayCost array = array_cost(prediction, before, after);
      saved += array.before - std::min(array.now, array.before);
      as_promised = as_promised && array.keeps_promise();
      costs.push_back(cost_in_words(prediction, before, after));
    }
    const std::string instructions = instructions_in_words(before, after);
    saved -= std::min(saved - std::min<uint64_t>(saved, 1), wavefronts_worth_of_instructions(before, after));
    const std::string cost = fmt::format("{}", fmt::join(costs, ", "));
    if (!(as_promised && instructions.empty()) && saved < rival) {
      verdict = "Taken back for another change that may save as much";
      why = cost + (instructions.empty() ? "" : ". " + instructions.substr(0, instructions.rfind(". ")));
      return false;
    }
    after.varying = std::move(before.varying);
    before = std::move(after);
    tried.erase(change.key());  // it was of the program as it was then
    std::cout << fmt::format("Proven and kept: same output, {}, no new findings.{}{}\n\n", cost,
                             instructions.empty() ? "" : " ", instructions);
    return true;
  };
  try {
    std::optional<Trial> after;
    source.make(change.patch);
    why = disproof_of_source(options, folder, {change.prediction}, before, after);
    if (!after) {
      outcome = Outcome::not_built;
    } else if (why.empty()) {
      if (is_kept(*after, {change.prediction})) return Outcome::kept;
    } else {
      const std::string alone = why;
      for (const Change& other : partners_of(options, change, before, *after)) {
        std::cout << fmt::format("Not {}: {}. Together with another one:\n",
                                 why == alone ? "by itself" : "so", why);
        source.take_back();
        source.make(change.patch);
        show(other);
        source.make(other.patch);
        std::optional<Trial> both;
        why = disproof_of_source(options, folder, {change.prediction, other.prediction}, before, both);
        if (!why.empty()) continue;
        if (is_kept(*both, {change.prediction, other.prediction})) return Outcome::kept;
        break;
      }
    }
  } catch (const Interrupted&) {
    source.take_back_interrupted();
    throw;
  } catch (const std::exception& error) {
    why = error.what();
  }
  try {
    source.take_back();
  } catch (const Error&) {
    std::cout << fmt::format("Not taken back: {}.\n\n", why);
    throw;
  }
  const bool rebuilt = build(options, folder) == 0;
  std::cout << fmt::format("{}: {}.{}\n\n", verdict, why,
                           rebuilt ? "" : " Building the unchanged source again failed as well.");
  return outcome;
}

/// Whether a file was changed after the program was built; false where that cannot be told.
bool is_newer(const std::string& file, const std::string& program) {
  std::error_code error;
  const auto changed = fs::last_write_time(file, error);
  if (error) return false;
  const auto built = fs::last_write_time(program, error);
  return !error && changed > built;
}

/// Whether both change the same bytes of a file for an array, as two instances of a template may want.
/// Several arrays in one declaration can all be changed, one after the other.
bool exclude_each_other(const Change& a, const Change& b) {
  const auto meet = [](const std::vector<advise::Edit>& ones, const std::vector<advise::Edit>& others) {
    return std::any_of(ones.begin(), ones.end(), [&](const advise::Edit& one) {
      return std::any_of(others.begin(), others.end(), [&](const advise::Edit& other) {
        return one.begin < other.end && other.begin < one.end;
      });
    });
  };
  return a.prediction.variable == b.prediction.variable && any_in_one_file(a.patch, b.patch, meet);
}

void show_all(const FixOptions& options, const json& report) {
  std::set<std::string> shown;
  std::vector<Change> all;
  for (const Change& change : changes_of(report)) {
    bool is_new = true;
    for (const std::string& kernel : change.kernels)
      is_new = shown.insert(kernel + " " + change.prediction.variable).second && is_new;
    if (!is_new) continue;
    for (const advise::Patch& of_file : change.patch.of_files())
      if (!is_script(options) && is_newer(of_file.file, options.trial.program.front()))
        std::cerr << fmt::format("lanescope: {} is newer than {}: what is shown may be off\n", of_file.file,
                                 options.trial.program.front());
    show(change);
    for (const Change& other : all)
      if (exclude_each_other(change, other))
        std::cout << fmt::format(
            "It excludes the change at {} that is shown above: kernels share what both "
            "change. --apply keeps the one that proves to save more.\n",
            other.where);
    all.push_back(change);
    std::cout << '\n';
  }
  std::cout << fmt::format("Nothing was changed; --apply{} makes and proves the changes.\n",
                           is_script(options) ? "" : " --build COMMAND");
}

int apply_all(const FixOptions& options, const ScratchFolder& folder, Trial before) {
  Trial again;
  try {
    again = run_poisoned(options, folder, before);
  } catch (const Error& error) {
    std::cout << fmt::format(
        "Nothing was changed, since nothing could be proven: with other words than zeros where no thread has "
        "written to shared memory, {}. lanescope run --check init names the lines that read there.\n",
        error.what());
    return program_failed;
  }
  if (const std::string found = difference(before, again, options.trial); !found.empty()) {
    const std::string reads = dependence(options, folder, before, again);
    std::cout << "Nothing was changed, since nothing could be proven: the unchanged program "
              << (!reads.empty()
                      ? reads
                      : fmt::format("does not do the same twice ({}). --ignore leaves out what is no result, "
                                    "as times, and --tolerance takes numbers that are near",
                                    found))
              << ".\n";
    return program_failed;
  }
  before.varying = varying_kernels(before, again);
  // After each change the next one is seen on the program as it then is. What was not proven is not tried
  // again; what saved less than predicted is made in the end if nothing else saves more.
  Tried tried;
  size_t proven = 0;
  std::optional<bool> has_tiles;  // not known
  while (true) {
    std::vector<Change> changes = changes_of(before.report);
    if (has_tiles == false) std::erase_if(changes, [](const Change& change) { return change.uses_tiles; });
    const auto next = std::max_element(changes.begin(), changes.end(), [&](const Change& a, const Change& b) {
      return expected(a, tried) < expected(b, tried);
    });
    if (next == changes.end() || expected(*next, tried) == 0) break;
    show(*next);
    if (const std::string elsewhere = file_elsewhere(next->patch); !elsewhere.empty()) {
      // The header of a library, perhaps.
      std::cout << fmt::format(
          "Not made: {} does not lie below the current folder. Run fix from a folder above it.\n\n",
          elsewhere);
      tried[next->key()] = 0;
      continue;
    }
    uint64_t rival = 0;
    const bool seen = tried.count(next->key()) != 0;  // and is the best of all, then
    for (const Change& other : changes)
      if (!seen && other.key() != next->key() && other.is_of_array_of(*next))
        // Of equals the one that is advised first.
        rival = std::max(rival, expected(other, tried) + (&other < &*next ? 1 : 0));
    const Outcome outcome = apply(options, folder, *next, rival, tried, before);
    proven += outcome == Outcome::kept ? 1 : 0;
    if (!next->uses_tiles || has_tiles) continue;
    has_tiles = outcome != Outcome::not_built || is_built_with_tiles(options, folder, *next);
    if (!*has_tiles)
      std::cout << fmt::format(
          "Changes that include <{}> are left out: the program is not built with it.\n\n", tiles);
  }
  return proven != 0 ? done : program_failed;
}

int fix(FixOptions& options) {
  if (options.trial.program.empty())
    throw Error("fix: which program? Put it behind --, as in: lanescope fix -- ./app");
  refuse_source(options.trial.program.front());
  if (options.apply && options.build.empty() && !is_script(options))
    throw Error(
        "fix: --apply needs --build COMMAND: the command that builds the program, so that the change can be "
        "proven");
  if (!options.apply && !options.build.empty())
    throw Error("fix: --build is used with --apply only; without it nothing is built");
  if (options.trial.is_ptx() &&
      std::count(options.trial.program.begin(), options.trial.program.end(), "--kernel") > 1)
    throw Error("fix: a PTX file is run with one --kernel at a time");
  check_tolerance(options.trial.tolerance);
  for (const std::string& text : options.ignore) {
    try {
      options.trial.ignore.emplace_back(text);
    } catch (const std::regex_error&) {
      throw Error(fmt::format("--ignore: '{}' is no regular expression", text));
    }
  }
  const ScratchFolder folder;
  catch_interrupts();
  try {
    // Built first, so that program and source are of one state and the command is known to work.
    if (options.apply)
      if (const int status = build(options, folder); status != 0)
        throw Error(
            fmt::format("fix: '{}' fails (status {}) before anything is changed", options.build, status));
    Trial before = run_trial(options.trial, folder, Shared::zeros);
    if (before.status != 0)
      throw Error(SourcePlace{options.trial.program.front()},
                  fmt::format("fails (status {}) before anything is changed", before.status));
    const std::vector<std::string> rest = by_hand(before.report);
    for (const std::string& text : rest) std::cout << text << "\n\n";
    if (changes_of(before.report).empty()) {
      std::cout << (rest.empty() ? "Nothing to mend: no change is advised.\n"
                                 : "Nothing that a patch could do surely.\n");
      return done;
    }
    if (options.apply) return apply_all(options, folder, std::move(before));
    show_all(options, before.report);
    return done;
  } catch (const Interrupted& interrupted) {
    return 128 + interrupted.signal;
  }
}

}  // namespace

void add_fix_command(CLI::App& app, std::vector<std::string> program, int& status) {
  CLI::App* command = app.add_subcommand(
      "fix", "change the layout of shared arrays in the source so that bank conflicts go, with proof");
  const auto options = std::make_shared<FixOptions>();
  options->trial.program = std::move(program);
  options->trial.arch = "sm_90";
  command->add_option("--arch", options->trial.arch, "the GPU to run as (sm_90 if not given)")
      ->type_name("ARCH");
  command->add_flag("--apply", options->apply,
                    "make each change, build and run again, and keep what is proven");
  command->add_option("--build", options->build, "the command that builds the program, run by sh")
      ->type_name("COMMAND");
  command
      ->add_option("--tolerance", options->trial.tolerance,
                   "numbers in the output may differ by so much, relatively (0 if not given)")
      ->type_name("X");
  add_repeatable(*command, "--ignore", options->ignore,
                 "what matches this regular expression in a line of output is no result (times)", "REGEX");
  add_repeatable(*command, "--compare", options->trial.compare,
                 "a file that the program writes, to be compared as well", "FILE");
  command
      ->add_option(
          "--check", options->trial.checks,
          "run with these checks (race, global, init, barrier, bounds, leak, unused, all), so that their "
          "findings count")
      ->type_name("LIST");
  command->footer(
      "Behind -- stands a program with its arguments, or a PTX file with the options of 'lanescope run'.\n"
      "Without --apply the changes are only shown. A change is proven when the program built with it ends "
      "and\n"
      "writes as before (standard output; of a PTX file the buffers among its arguments), its wavefronts "
      "are\n"
      "measurably fewer, no launch takes more, the least time does not grow, and there are no new findings;\n"
      "otherwise the file is put back and built again. Nothing can be read from standard input.\n"
      "Exit status: 0 done, 2 bad usage or input, 3 nothing could be proven.\n"
      "Examples:\n"
      "  lanescope fix -- ./transpose 1024\n"
      "  lanescope fix --apply --build 'nvcc -lineinfo -o transpose transpose.cu' --ignore '[0-9.]+ ms' \\\n"
      "    -- ./transpose 1024\n"
      "  lanescope fix -- k.ptx --kernel k --grid 64 --block 256 --arg buf:64K=iota --arg buf:64K");
  command->callback([options, &status] { status = fix(*options); });
}

}  // namespace lanescope::cli
