// See trial.hpp.
#include "cli/trial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "base/process.hpp"
#include "cli/commands.hpp"
#include "report/words.hpp"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::atomic<pid_t> trial_process{0};  ///< as kill() wants it: negative, a group of processes
std::atomic<int> interrupt{0};

/// What is sent to us alone is passed on; the terminal sends to both by itself, but to no other group.
void on_signal(int number, siginfo_t* info, void*) {
  interrupt = number;
  if (trial_process < 0 || (info->si_code <= 0 && trial_process > 0)) kill(trial_process, number);
}

/// Waits for the leader of a group of processes; ends the group after `limit`. Nothing: it was ended.
std::optional<int> wait_for_group(pid_t leader, std::chrono::seconds limit) {
  using std::chrono::steady_clock;
  const auto ended = [&](steady_clock::time_point until, int& status) {
    while (true) {
      if (waitpid(leader, &status, WNOHANG) == leader) return true;
      if (steady_clock::now() >= until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  int status = 0;
  const bool in_time = ended(steady_clock::now() + limit, status);
  if (!in_time) {
    kill(-leader, SIGTERM);
    if (!ended(steady_clock::now() + std::chrono::seconds(2), status)) {
      kill(-leader, SIGKILL);
      wait_for(leader);
    }
  }
  kill(-leader, SIGKILL);  // what it has left behind
  return in_time ? std::optional(status) : std::nullopt;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

bool near(double a, double b, double tolerance) {
  return a == b || std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b)) ||
         (std::isnan(a) && std::isnan(b));
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
      if (!near(x, y, tolerance)) return false;
      i = from_a.ptr;
      j = from_b.ptr;
    } else if (*i++ != *j++) {
      return false;
    }
  }
  return i == a_end && j == b_end;
}

std::string text_difference(const Trial::Output& before, const Trial::Output& after,
                            const TrialOptions& options) {
  if (before.content == after.content) return "";
  const std::vector<std::string> a = lines_of(before.content), b = lines_of(after.content);
  const auto result_of = [&](std::string line) {
    for (const std::regex& ignore : options.ignore) line = std::regex_replace(line, ignore, "");
    return line;
  };
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (!same_line(result_of(a[i]), result_of(b[i]), options.tolerance))
      return fmt::format("line {} of {} was '{}' and is now '{}'", i + 1, before.name, a[i], b[i]);
  if (a.size() != b.size())
    return fmt::format("{} had {} lines and has now {}", before.name, a.size(), b.size());
  const bool may_differ = !options.ignore.empty() || options.tolerance > 0;
  return may_differ ? "" : fmt::format("the end of {} is another one", before.name);
}

template <class T>
std::string number_difference(const Trial::Output& before, const Trial::Output& after, double tolerance) {
  for (size_t at = 0; at + sizeof(T) <= before.content.size(); at += sizeof(T)) {
    T a = 0, b = 0;
    std::memcpy(&a, before.content.data() + at, sizeof a);
    std::memcpy(&b, after.content.data() + at, sizeof b);
    const bool same = before.content.compare(at, sizeof(T), after.content, at, sizeof(T)) == 0;
    if (!same && !(tolerance > 0 && near(a, b, tolerance)))
      return fmt::format("element {} of {} was {} and is now {}", at / sizeof(T), before.name, a, b);
  }
  return "";
}

std::string byte_difference(const Trial::Output& before, const Trial::Output& after, double tolerance) {
  if (before.content.size() != after.content.size())
    return fmt::format("{} had {} bytes and has now {}", before.name, before.content.size(),
                       after.content.size());
  if (before.kind == Trial::Output::Kind::f32) return number_difference<float>(before, after, tolerance);
  if (before.kind == Trial::Output::Kind::f64) return number_difference<double>(before, after, tolerance);
  const auto [a, b] = std::mismatch(before.content.begin(), before.content.end(), after.content.begin());
  return a == before.content.end()
             ? ""
             : fmt::format("byte {} of {} was {} and is now {}", a - before.content.begin(), before.name,
                           static_cast<unsigned char>(*a), static_cast<unsigned char>(*b));
}

/// The buffers among the arguments of a PTX file's kernel, to be written after the run.
struct Dumped {
  size_t argument = 0;
  Trial::Output::Kind kind{};
};
std::vector<Dumped> buffers_of(const std::vector<std::string>& command) {
  std::vector<Dumped> buffers;
  size_t argument = 0;
  for (size_t i = 1; i < command.size(); ++i) {
    std::string value;
    if (command[i] == "--arg" && i + 1 < command.size())
      value = command[++i];
    else if (command[i].starts_with("--arg="))
      value = command[i].substr(6);
    else
      continue;
    using Kind = Trial::Output::Kind;
    // buf:SIZE… holds f32 elements, buf:TYPE:COUNT… those of TYPE.
    const std::string type = value.size() > 4 && std::isalpha(static_cast<unsigned char>(value[4])) != 0
                                 ? value.substr(4, value.find(':', 4) - 4)
                                 : "f32";
    if (value.starts_with("buf:"))
      buffers.push_back({argument, type == "f32" ? Kind::f32 : type == "f64" ? Kind::f64 : Kind::bytes});
    ++argument;
  }
  return buffers;
}

/// Wavefronts of each variable of a launch; variables of one name add up.
std::map<std::string, uint64_t> wavefronts_of(const json& launch) {
  std::map<std::string, uint64_t> all;
  for (const json& v : launch.at("variables"))
    all[v.at("name").get<std::string>()] += v.at("wavefronts").get<uint64_t>();
  return all;
}

/// Whether a variable of a report is an array that was changed, or what has become of it: s, and s.x of a
/// struct of arrays.
bool is_of(const std::string& variable, const std::string& array) {
  return variable == array || variable.starts_with(array + ".");
}
uint64_t wavefronts_of(const json& launch, const std::string& array) {
  uint64_t sum = 0;
  for (const auto& [variable, wavefronts] : wavefronts_of(launch))
    sum += is_of(variable, array) ? wavefronts : 0;
  return sum;
}

constexpr double slack = 0.05;  ///< of predictions that say "about", and between runs that vary

/// The variables of a launch that take more wavefronts than before, in words; `but` is left out.
std::vector<std::string> grown(const json& was, const json& is, const std::string& but = "") {
  std::vector<std::string> all;
  std::map<std::string, uint64_t> old = wavefronts_of(was);
  for (const auto& [variable, now] : wavefronts_of(is))
    if (!is_of(variable, but) && now > old[variable])
      all.push_back(fmt::format("{} of {} takes {} wavefronts now, and took {}", variable,
                                is.at("kernel").get<std::string>(), report::grouped(now),
                                report::grouped(old[variable])));
  return all;
}

/// All that a launch costs.
json cost_of(const json& launch) { return {launch.at("warp_instructions"), launch.at("variables")}; }

uint64_t all_wavefronts_of(const json& launch) {
  uint64_t sum = 0;
  for (const auto& [variable, wavefronts] : wavefronts_of(launch)) sum += wavefronts;
  return sum;
}

/// What launches take besides what their arrays cost.
struct Effort {
  uint64_t instructions = 0;
  double seconds = 0;  ///< at least, by what the kernels themselves do; 0: the chip is not known
};
struct Efforts {
  Effort was, is;
  std::string chip;
};

/// Of the launches that the change changes.
Efforts efforts_of(const Trial& before, const Trial& after) {
  const json &was = before.report.at("launches"), &is = after.report.at("launches");
  Efforts efforts;
  efforts.chip =
      after.report.at("chip").is_null() ? "" : after.report.at("chip").at("name").get<std::string>();
  const auto add = [](const json& launch, Effort& effort) {
    effort.instructions += launch.at("warp_instructions").get<uint64_t>();
    double longest = 0;
    for (const json& bound : launch.value("bounds", json::array()))
      if (bound.at("name") != "memory") longest = std::max(longest, bound.at("seconds").get<double>());
    effort.seconds += longest;
  };
  for (size_t i = 0; i < is.size(); ++i) {
    if (before.varies(is[i]) || cost_of(was[i]) == cost_of(is[i])) continue;
    add(was[i], efforts.was);
    add(is[i], efforts.is);
  }
  return efforts;
}

std::string in_words(const Efforts& efforts) {
  std::string text =
      fmt::format("{} warp instructions of PTX, before {}", report::grouped(efforts.is.instructions),
                  report::grouped(efforts.was.instructions));
  if (efforts.was.seconds > 0)
    text += fmt::format("; the least time for wavefronts and instructions goes from {} to {} ({})",
                        report::seconds_text(efforts.was.seconds), report::seconds_text(efforts.is.seconds),
                        efforts.chip);
  return text;
}

std::string new_finding(const json& before, const json& after) {
  std::map<std::pair<std::string, std::string>, int> known;
  const auto key = [](const json& f) {
    return std::pair(f.at("kind").get<std::string>(), f.at("kernel").get<std::string>());
  };
  for (const json& finding : before) ++known[key(finding)];
  for (const json& finding : after)
    if (--known[key(finding)] < 0) return finding.at("message").get<std::string>();
  return "";
}

}  // namespace

ArrayCost array_cost(const Prediction& prediction, const Trial& before, const Trial& after) {
  ArrayCost cost;
  for (const Prediction::Launch& launch : prediction.launches) {
    const json& is = after.report.at("launches").at(launch.index);
    const uint64_t was = wavefronts_of(before.report.at("launches").at(launch.index), prediction.variable);
    const uint64_t now = wavefronts_of(is, prediction.variable);
    // A kernel may have several variables of one name: the others stay as they are.
    const uint64_t predicted = was - std::min(was, launch.before) + launch.after;
    cost.before += was;
    cost.predicted += predicted;
    cost.now += now;
    const bool is_about = launch.estimate || before.varies(is);
    cost.as_predicted =
        cost.as_predicted &&
        (is_about ? near(static_cast<double>(now), static_cast<double>(predicted), slack) : now == predicted);
  }
  return cost;
}

std::string cost_in_words(const Prediction& prediction, const Trial& before, const Trial& after) {
  const ArrayCost cost = array_cost(prediction, before, after);
  std::string words = fmt::format("wavefronts of {} as predicted", prediction.variable);
  if (!cost.as_predicted) {
    words = fmt::format("{} wavefronts of {}, {} than the {} predicted", report::grouped(cost.now),
                        prediction.variable, cost.keeps_promise() ? "fewer" : "more",
                        report::grouped(cost.predicted));
    if (!cost.keeps_promise())
      words += fmt::format(" but fewer than the {} before", report::grouped(cost.before));
  }
  const json &was = before.report.at("launches"), &is = after.report.at("launches");
  for (size_t i = 0; i < is.size(); ++i)
    if (!before.varies(is[i]))
      for (const std::string& other : grown(was[i], is[i], prediction.variable)) words += "; " + other;
  return words;
}

uint64_t wavefronts_worth_of_instructions(const Trial& before, const Trial& after) {
  constexpr uint64_t in_a_cycle = 4;  // a multiprocessor begins so many instructions, and one wavefront
  const Efforts efforts = efforts_of(before, after);
  return (efforts.is.instructions - std::min(efforts.is.instructions, efforts.was.instructions)) / in_a_cycle;
}

std::string instructions_in_words(const Trial& before, const Trial& after) {
  constexpr double notable = 1.1;
  const Efforts efforts = efforts_of(before, after);
  if (static_cast<double>(efforts.is.instructions) <= notable * static_cast<double>(efforts.was.instructions))
    return "";
  return fmt::format(
      "It takes {}. Whether time is saved depends on what the kernel waits for (lanescope measure).",
      in_words(efforts));
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

int run_to_file(const std::vector<std::string>& command, const fs::path& output,
                std::optional<std::chrono::seconds> limit, const std::string& name) {
  std::cout.flush();
  const std::vector<char*> arguments = argument_vector(command);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (limit) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t started = 0;
  const int error =
      posix_spawnp(&started, arguments.front(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw Error(SourcePlace{command.front()}, fmt::format("cannot run: {}", std::strerror(error)));
  trial_process = limit ? -started : started;
  const std::optional<int> status =
      limit ? wait_for_group(started, *limit) : std::optional(wait_for(started));
  trial_process = 0;
  if (const int signal = interrupt.exchange(0); signal != 0) throw Interrupted{signal};
  if (!status)
    throw Error(SourcePlace{name.empty() ? command.front() : name},
                fmt::format("had not ended after {} seconds, and was ended", limit->count()));
  return exit_status(*status);
}

Trial run_trial(const TrialOptions& options, const ScratchFolder& folder, Shared shared,
                std::optional<std::chrono::seconds> limit) {
  const fs::path output = folder.path() / "output", report = folder.path() / "report.json";
  fs::remove(report);
  std::vector<std::string> command{fs::read_symlink("/proc/self/exe").string(),
                                   "run",
                                   "--format",
                                   "json",
                                   "-o",
                                   report.string(),
                                   "--arch",
                                   options.arch};
  if (!options.checks.empty()) command.insert(command.end(), {"--check", options.checks});
  if (shared == Shared::poison) command.emplace_back("--poison-shared");
  if (!options.is_ptx()) command.emplace_back("--");
  command.insert(command.end(), options.program.begin(), options.program.end());
  const std::vector<Dumped> buffers = options.is_ptx() ? buffers_of(options.program) : std::vector<Dumped>();
  const auto dump_of = [&](const Dumped& buffer) {
    return folder.path() / fmt::format("argument{}", buffer.argument);
  };
  for (const Dumped& buffer : buffers)
    command.insert(command.end(),
                   {"--dump", fmt::format("{}={}", buffer.argument, dump_of(buffer).string())});

  Trial trial;
  const auto start = std::chrono::steady_clock::now();
  trial.status = run_to_file(command, output, limit, options.program.front());
  trial.took = std::chrono::steady_clock::now() - start;
  if (!fs::exists(report))
    throw Error(SourcePlace{options.program.front()}, "could not be run; the reason stands above");
  trial.report = json::parse(read_file(report));
  if (options.is_ptx()) {
    for (const Dumped& buffer : buffers)
      trial.outputs.push_back(
          {fmt::format("argument {}", buffer.argument), buffer.kind, read_file(dump_of(buffer))});
  } else {
    trial.outputs.push_back({"the program's output", Trial::Output::Kind::text, read_file(output)});
  }
  for (const std::string& file : options.compare)
    trial.outputs.push_back({file, Trial::Output::Kind::text, read_file(file)});
  return trial;
}

std::string difference(const Trial& before, const Trial& after, const TrialOptions& options) {
  if (after.status != before.status)
    return fmt::format("the exit status was {} and is now {}", before.status, after.status);
  for (size_t i = 0; i < before.outputs.size(); ++i) {
    const Trial::Output &a = before.outputs[i], &b = after.outputs.at(i);
    std::string found = a.kind == Trial::Output::Kind::text ? text_difference(a, b, options)
                                                            : byte_difference(a, b, options.tolerance);
    if (!found.empty()) return found;
  }
  return "";
}

bool Trial::varies(const json& launch) const {
  return varying.count(launch.at("kernel").get<std::string>()) != 0;
}

std::set<std::string> varying_kernels(const Trial& one, const Trial& other) {
  std::map<std::string, std::array<json, 2>> costs;  // by kernel, of its launches
  for (const auto& [trial, place] : {std::pair(&one, 0), std::pair(&other, 1)})
    for (const json& launch : trial->report.at("launches"))
      costs[launch.at("kernel").get<std::string>()][static_cast<size_t>(place)].push_back(cost_of(launch));
  std::set<std::string> varying;
  for (const auto& [kernel, cost] : costs)
    if (cost[0] != cost[1]) varying.insert(kernel);
  return varying;
}

std::string defect(const Trial& before, const Trial& after, const TrialOptions& options) {
  // A finding first: it says why the exit status or the output is another one.
  if (const std::string message = new_finding(before.report.at("findings"), after.report.at("findings"));
      !message.empty())
    return "there is a new finding: " + message;
  if (std::string found = difference(before, after, options); !found.empty()) return found;
  return before.report.at("launches").size() == after.report.at("launches").size()
             ? ""
             : "the program launches other kernels now";
}

std::string disproof(const Prediction& prediction, const Trial& before, const Trial& after,
                     const TrialOptions& options) {
  if (std::string found = defect(before, after, options); !found.empty()) return found;
  const json &was = before.report.at("launches"), &is = after.report.at("launches");
  const ArrayCost cost = array_cost(prediction, before, after);
  const bool varies =
      std::any_of(prediction.launches.begin(), prediction.launches.end(),
                  [&](const Prediction::Launch& launch) { return before.varies(is.at(launch.index)); });
  // Less is not worth a change, nor is it more than what varies by itself. Without any wavefronts, the
  // array's accesses have gone elsewhere.
  const double measurable = static_cast<double>(cost.before) * (varies ? slack : 0.01);
  const bool is_there = cost.now != 0 || cost.predicted == 0;
  if (!is_there || !(cost.keeps_promise() ||
                     static_cast<double>(cost.now) + measurable <= static_cast<double>(cost.before)))
    return fmt::format(
        "{} wavefronts of {} were predicted, there are {}{}", report::grouped(cost.predicted),
        prediction.variable, report::grouped(cost.now),
        cost.now == cost.before
            ? ", as before (was the program built from the changed file? make may not know of it: make -B)"
            : fmt::format(", and were {}", report::grouped(cost.before)));
  for (size_t i = 0; i < is.size(); ++i)
    if (!before.varies(is[i]) && all_wavefronts_of(is[i]) > all_wavefronts_of(was[i]))
      return grown(was[i], is[i]).front();
  // Times are about right: instructions are those of the PTX.
  if (const Efforts efforts = efforts_of(before, after);
      efforts.is.seconds > (1 + slack) * efforts.was.seconds)
    return "it would take " + in_words(efforts);
  return "";
}

}  // namespace lanescope::cli
