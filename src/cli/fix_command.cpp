// `lanescope fix`: runs a CUDA program, takes from the advice what a change of a declaration can do, shows
// the change as a diff, and with --apply makes it, has the program built again, and keeps it only if the new
// program proves it: same output, wavefronts as predicted, no new findings.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "advise/patch.hpp"
#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct FixOptions {
  std::vector<std::string> program;
  std::string build, arch = "sm_90";
  double tolerance = 0;
  bool apply = false;
};

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "lanescope-fix-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error(SourcePlace{pattern}, fmt::format("cannot make a folder: {}", std::strerror(errno)));
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(SourcePlace{path.string()}, fmt::format("cannot read: {}", std::strerror(errno)));
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The exit status of a command whose standard output goes to a file.
int run_to_file(const std::vector<std::string>& command, const fs::path& output) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw Error(SourcePlace{command.front()}, fmt::format("cannot run: {}", std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// One run of the program under `lanescope run`.
struct Run {
  int status = 0;
  std::vector<std::string> output;  ///< lines of its standard output
  json report;
};

Run run_program_once(const FixOptions& options, const Folder& folder) {
  const fs::path output = folder.path() / "output", report = folder.path() / "report.json";
  fs::remove(report);
  std::vector<std::string> command{fs::read_symlink("/proc/self/exe").string(),
                                   "run",
                                   "--format",
                                   "json",
                                   "-o",
                                   report.string(),
                                   "--arch",
                                   options.arch,
                                   "--"};
  command.insert(command.end(), options.program.begin(), options.program.end());
  Run run;
  run.status = run_to_file(command, output);
  if (!fs::exists(report))
    throw Error(SourcePlace{options.program.front()}, "the program could not be run; see above");
  const std::string text = read_file(output);
  std::string line;
  for (const char c : text) {
    if (c == '\n')
      run.output.push_back(std::exchange(line, ""));
    else
      line += c;
  }
  if (!line.empty()) run.output.push_back(line);
  run.report = json::parse(read_file(report));
  return run;
}

/// Whether two lines are the same, numbers in them within a relative tolerance.
bool same_line(const std::string& a, const std::string& b, double tolerance) {
  if (a == b) return true;
  if (tolerance <= 0) return false;
  const char *i = a.data(), *j = b.data(), *const a_end = i + a.size(), *const b_end = j + b.size();
  while (i != a_end && j != b_end) {
    double x = 0, y = 0;
    const auto from_a = std::from_chars(i, a_end, x), from_b = std::from_chars(j, b_end, y);
    if (from_a.ec == std::errc() && from_b.ec == std::errc()) {
      if (std::abs(x - y) > tolerance * std::max(std::abs(x), std::abs(y))) return false;
      i = from_a.ptr;
      j = from_b.ptr;
    } else if (*i++ != *j++) {
      return false;
    }
  }
  return i == a_end && j == b_end;
}

/// What one patch is expected to do.
struct Change {
  advise::Patch patch;
  std::string what, where;                              ///< the advice's words and place
  std::vector<std::pair<size_t, uint64_t>> wavefronts;  ///< launch → wavefronts of the variable
  std::string variable;
  bool estimate = false;
  uint64_t saved = 0;
};

uint64_t wavefronts_of(const json& launch, const std::string& variable) {
  for (const json& v : launch.at("variables"))
    if (v.at("name") == variable) return v.at("wavefronts").get<uint64_t>();
  return 0;
}

/// The index of the launch that a piece of advice speaks of: the next one of its kernel whose variable costs
/// as much.
size_t launch_of(const json& report, const json& advice, const std::set<size_t>& taken) {
  const json& launches = report.at("launches");
  for (size_t i = 0; i < launches.size(); ++i)
    if (taken.count(i) == 0 && launches[i].at("kernel") == advice.at("kernel") &&
        wavefronts_of(launches[i], advice.at("variable")) == advice.at("wavefronts_before"))
      return i;
  return launches.size();
}

/// The patches that a report advises, most gain first, and what has to be done by hand.
std::vector<Change> changes_of(const json& report, std::vector<std::string>& by_hand) {
  std::vector<Change> changes;
  std::map<std::pair<std::string, std::string>, bool> has_patch;
  for (const json& a : report.at("advice"))
    has_patch[{a.at("kernel"), a.at("variable")}] |= a.contains("patch");
  std::set<std::pair<std::string, std::string>> told;
  for (const json& a : report.at("advice")) {
    const std::pair<std::string, std::string> key{a.at("kernel"), a.at("variable")};
    if (!a.contains("patch")) {
      if (!has_patch[key] && told.insert(key).second)
        by_hand.push_back(
            fmt::format("{}:{}: {} (wavefronts {} → {}). No patch: rows are known from {}.",
                        a.at("file").get<std::string>(), a.at("line").get<uint32_t>(),
                        a.at("change").get<std::string>(), a.at("wavefronts_before").get<uint64_t>(),
                        a.at("wavefronts_after").get<uint64_t>(), a.at("pitch_from").get<std::string>()));
      continue;
    }
    const json& p = a.at("patch");
    const advise::Patch patch{p.at("file"), p.at("begin"), p.at("end"), p.at("text")};
    auto change = std::find_if(changes.begin(), changes.end(), [&](const Change& c) {
      return c.patch.file == patch.file && c.patch.begin == patch.begin;
    });
    if (change == changes.end()) {
      changes.push_back({patch,
                         a.at("change"),
                         fmt::format("{}:{}", a.at("file").get<std::string>(), a.at("line").get<uint32_t>()),
                         {},
                         a.at("variable"),
                         false,
                         0});
      change = std::prev(changes.end());
    }
    std::set<size_t> taken;
    for (const auto& [index, count] : change->wavefronts) taken.insert(index);
    change->wavefronts.emplace_back(launch_of(report, a, taken), a.at("wavefronts_after").get<uint64_t>());
    change->estimate = change->estimate || a.at("estimate").get<bool>();
    change->saved += a.at("wavefronts_before").get<uint64_t>() - a.at("wavefronts_after").get<uint64_t>();
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.saved > b.saved; });
  return changes;
}

/// Why the second run does not prove the change; empty if it does. `again`: a second run of the unchanged
/// program, whose lines that differ from the first are no result.
std::string disproof(const Change& change, const Run& before, const Run& again, const Run& after,
                     double tolerance) {
  if (after.status != before.status)
    return fmt::format("the program's exit status was {} and is now {}", before.status, after.status);
  if (after.output.size() != before.output.size())
    return fmt::format("the program wrote {} lines and now writes {}", before.output.size(),
                       after.output.size());
  for (size_t i = 0; i < before.output.size(); ++i) {
    const bool varies = i < again.output.size() && again.output[i] != before.output[i];
    if (!varies && !same_line(before.output[i], after.output[i], tolerance))
      return fmt::format("line {} of the program's output was '{}' and is now '{}'", i + 1, before.output[i],
                         after.output[i]);
  }
  if (after.report.at("findings").size() > before.report.at("findings").size())
    return fmt::format("there is a new finding: {}",
                       after.report.at("findings").back().at("message").get<std::string>());
  const json& launches = after.report.at("launches");
  if (launches.size() != before.report.at("launches").size()) return "the program launches other kernels now";
  constexpr double slack = 0.05;  // where the prediction is an estimate
  for (const auto& [index, predicted] : change.wavefronts) {
    if (index >= launches.size()) return "the launch that the advice is about cannot be told from the others";
    const uint64_t now = wavefronts_of(launches[index], change.variable);
    const bool as_predicted = change.estimate
                                  ? std::abs(static_cast<double>(now) - static_cast<double>(predicted)) <=
                                        slack * static_cast<double>(predicted)
                                  : now == predicted;
    if (!as_predicted)
      return fmt::format("{} wavefronts of {} were predicted, there are {}", predicted, change.variable, now);
  }
  return "";
}

int build(const FixOptions& options, const Folder& folder) {
  return run_to_file({"sh", "-c", options.build + " 1>&2"}, folder.path() / "build");
}

/// Makes the change, has it proven, or takes it back.
bool apply(const FixOptions& options, const Folder& folder, const Change& change, const Run& before,
           const Run& again) {
  const std::string& file = change.patch.file;
  const std::string original = read_file(file);
  write_output(file, advise::patched(original, {change.patch}));
  std::string why;
  try {
    if (const int status = build(options, folder); status != 0)
      why = fmt::format("'{}' failed with status {}", options.build, status);
    else
      why = disproof(change, before, again, run_program_once(options, folder), options.tolerance);
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (why.empty()) {
    std::cout << fmt::format(
        "Proven and kept: same output, wavefronts of {} as predicted, no new findings.\n\n", change.variable);
    return true;
  }
  write_output(file, original);
  const bool rebuilt = build(options, folder) == 0;
  std::cout << fmt::format("Not proven, so taken back: {}.{}\n\n", why,
                           rebuilt ? "" : " Building the unchanged file again failed as well.");
  return false;
}

int fix(const FixOptions& options) {
  if (options.program.empty())
    throw Error("fix: which program? Put it behind --, as in: lanescope fix -- ./app");
  if (options.apply && options.build.empty())
    throw Error(
        "fix: --apply needs --build COMMAND: the command that builds the program, so that the change can be "
        "proven");
  const Folder folder;
  Run before = run_program_once(options, folder);
  if (before.status != 0)
    throw Error(SourcePlace{options.program.front()},
                fmt::format("the program fails (status {}) before anything is changed", before.status));
  std::vector<std::string> by_hand;
  std::vector<Change> changes = changes_of(before.report, by_hand);
  for (const std::string& text : by_hand) std::cout << text << "\n\n";
  if (changes.empty()) {
    std::cout << (by_hand.empty() ? "Nothing to mend: no change is advised.\n"
                                  : "Nothing that a patch could do surely.\n");
    return done;
  }
  // Offsets are those of the files as they are now: one after the other, each on what is left of the one
  // before.
  size_t proven = 0;
  const Run again = options.apply ? run_program_once(options, folder) : Run{};
  for (size_t tries = changes.size(); tries > 0 && !changes.empty(); --tries) {
    const Change change = changes.front();
    changes.erase(changes.begin());
    const std::string text = read_file(change.patch.file);
    std::cout << fmt::format("{}: {}\n", change.where, change.what)
              << advise::unified_diff(text, advise::patched(text, {change.patch}),
                                      fs::path(change.patch.file).filename())
              << std::flush;
    if (!options.apply) {
      std::cout << '\n';
      continue;
    }
    if (!apply(options, folder, change, before, again)) continue;
    ++proven;
    if (changes.empty()) break;
    // The next change is seen on the new program: its offsets and predictions.
    before = run_program_once(options, folder);
    std::vector<std::string> ignored;
    changes = changes_of(before.report, ignored);
  }
  if (!options.apply)
    std::cout << "Nothing was changed; --apply --build COMMAND makes and proves the changes.\n";
  return proven != 0 || !options.apply ? done : program_failed;
}

}  // namespace

void add_fix_command(CLI::App& app, std::vector<std::string> program, int& status) {
  CLI::App* command =
      app.add_subcommand("fix", "change declarations of shared arrays so that bank conflicts go, with proof");
  const auto options = std::make_shared<FixOptions>();
  options->program = std::move(program);
  command->add_option("--arch", options->arch, "the GPU to run as (sm_90 if not given)")->type_name("ARCH");
  command->add_flag("--apply", options->apply,
                    "make each change, build and run again, and keep what is proven");
  command->add_option("--build", options->build, "the command that builds the program, run by sh")
      ->type_name("COMMAND");
  command
      ->add_option("--tolerance", options->tolerance,
                   "numbers in the program's output may differ by so much, relatively (0 if not given)")
      ->type_name("X")
      ->check(CLI::NonNegativeNumber);
  command->footer(
      "Without --apply the changes are only shown. A change is proven when the program built with it exits "
      "and writes\n"
      "as before (lines that differ between two runs of the unchanged program are left out), its wavefronts "
      "are the\n"
      "predicted ones and it has no new findings; otherwise the file is put back and built again.\n"
      "Exit status: 0 done, 2 bad usage or input, 3 nothing could be proven.\n"
      "Example:\n"
      "  lanescope fix --apply --build 'nvcc -lineinfo -o transpose transpose.cu' -- ./transpose 1024");
  command->callback([options, &status] { status = fix(*options); });
}

}  // namespace lanescope::cli
