// Runs random programs on the engine and on an NVIDIA GPU and compares what they write, bit by bit. Needs the
// driver, not the toolkit. See docs/hardware-comparison.md.
//   random_on_gpu [options]
//     --class NAME[,NAME…]   which classes (default: all)
//     --sequences N          so many sequences in all, the classes in proportion (default: 20000)
//     --first SEED           the first seed of each class (default: 0)
//     --each-form [TEXT]     instead: programs of one instruction form each, of all forms or of this one
//     --programs N           with --each-form: programs of each (default: 1)
//     --table                forms of the instruction table that this GPU has, not those of forms.txt
//     --data FOLDER          where forms.txt is (default: tests/data/random)
//     --record N             write outputs.txt with the results of the first N programs of each class, to
//     --out
//     --out FOLDER           (default: .)
//     --optimise N           how far the driver's assembler optimises, 0 to 4 (default: 4)
//     --jobs N               processes that assemble and compare (default: all cores)
//     --seconds N            begin nothing new after so many seconds
// Each process is one that the driver's errors may end; what it was at is reported, and a new one goes on.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <thread>

#include "base/error.hpp"
#include "random/data.hpp"
#include "random/differences.hpp"
#include "random/engine.hpp"
#include "random/gpu.hpp"

namespace lanescope::random {
namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  std::vector<Class> classes;
  uint64_t sequences = 20000, first = 0, record = 0, programs = 1;
  bool each_form = false, table = false;
  std::string form, data = "tests/data/random", out = ".";
  uint32_t jobs = std::max(1u, std::thread::hardware_concurrency());
  double seconds = 1e9;
  unsigned optimise = gpu::Device::full_optimisation;
};

/// Programs of one module.
struct Batch {
  Class cls{};
  const Catalog* catalog = nullptr;
  uint64_t first = 0;
  uint32_t count = 1;
  double place = 0;  ///< 0 … 1: batches are done in this order, so that a run cut short has some of all
};

/// Shares of the sequences by which the assembler takes about as long for each class.
uint32_t share_of(Class c) {
  switch (c) {
    case Class::half: return 240;
    case Class::compare:
    case Class::convert: return 180;
    case Class::logic: return 130;
    case Class::video:
    case Class::atomic: return 40;
    case Class::warp:
    case Class::barrier:
    case Class::memory: return 20;
    case Class::control:
    case Class::mixed: return 6;
    default: return 60;
  }
}
/// Functions whose address is taken make the assembler slow in large modules.
uint32_t programs_of_module(Class c) { return c == Class::control || c == Class::mixed ? 1 : 16; }

/// Those that the GPU's assembler takes of some forms: what it refuses it names by line, all of it at once.
std::vector<std::string> taken(Gpu& gpu, std::vector<std::string> forms) {
  for (;;) {
    std::string text = header(), refusal;
    std::vector<ptrdiff_t> ends;  // by form: the last line of its program
    for (size_t i = 0; i < forms.size(); ++i) {
      const Catalog one = Catalog::of_one(forms[i]);
      text += text_of(generate(one, {.cls = class_of(group_of(one.forms().front())), .seed = i}));
      ends.push_back(std::count(text.begin(), text.end(), '\n'));
    }
    static_cast<void>(gpu.run(text, {}, refusal, 0));
    const std::string before = "input, line ";
    std::vector<std::string> left;
    std::vector<bool> refused(forms.size());
    for (size_t at = refusal.find(before); at != std::string::npos; at = refusal.find(before, at + 1)) {
      const ptrdiff_t line = std::stol(refusal.substr(at + before.size()));
      const auto form = std::lower_bound(ends.begin(), ends.end(), line) - ends.begin();
      if (form < std::ssize(refused)) refused[static_cast<size_t>(form)] = true;
    }
    for (size_t i = 0; i < forms.size(); ++i)
      if (!refused[i]) left.push_back(forms[i]);
    if (refusal.empty() || left.size() == forms.size()) return forms;
    forms = std::move(left);
  }
}

/// The table's forms that this GPU has. Asked in a process of its own, since the others begin as copies of
/// this one, which must not have used the driver.
std::vector<std::string> forms_of_this_gpu() {
  int ends[2];
  if (pipe(ends) != 0) throw Error("no pipe");
  const pid_t id = fork();
  if (id < 0) throw Error("no process");
  if (id == 0) {
    constexpr size_t together = 64;
    FILE* const out = fdopen(ends[1], "w");
    const std::vector<std::string> all = forms_of_table();
    Gpu gpu;
    for (auto at = all.begin(); at != all.end();) {
      const auto end = at + std::min<ptrdiff_t>(together, all.end() - at);
      for (const std::string& form : taken(gpu, {at, end})) std::fprintf(out, "%s\n", form.c_str());
      at = end;
    }
    std::fflush(out);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[65536];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(id, &status, 0);
  if (status != 0) throw Error("the GPU could not be asked which forms it has");
  std::istringstream lines(text);
  std::vector<std::string> forms;
  for (std::string line; std::getline(lines, line);) forms.push_back(line);
  fmt::print("{} of the table's {} forms\n", forms.size(), forms_of_table().size());
  return forms;
}

struct Plan {
  std::vector<std::unique_ptr<Catalog>> catalogs;
  std::vector<Batch> batches;
};

void add_batches(Plan& plan, const Catalog* catalog, Class c, uint64_t first, uint64_t programs) {
  const uint32_t size = programs_of_module(c);
  for (uint64_t i = 0; i < programs; i += size) {
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(size, programs - i));
    plan.batches.push_back(
        {c, catalog, first + i, count, (static_cast<double>(i) + 0.5) / static_cast<double>(programs)});
  }
}

Plan plan_for(const Settings& settings) {
  Plan plan;
  const std::vector<std::string> forms = settings.table       ? forms_of_this_gpu()
                                         : settings.each_form ? forms_of_table()
                                                              : recorded_forms(settings.data);
  const auto wanted = [&](Class c) {
    // Known to differ: compared on request.
    if (settings.classes.empty()) return settings.each_form || c != Class::scalar_video;
    return std::find(settings.classes.begin(), settings.classes.end(), c) != settings.classes.end();
  };
  if (settings.each_form) {
    for (const std::string& form : settings.form.empty() ? forms : std::vector{settings.form}) {
      auto one = std::make_unique<Catalog>(Catalog::of_one(form));
      const Class c = class_of(group_of(one->forms().front()));
      if (!wanted(c)) continue;
      add_batches(plan, one.get(), c, settings.first, settings.programs);
      plan.catalogs.push_back(std::move(one));
    }
    for (size_t i = 0; i < plan.batches.size(); ++i)
      plan.batches[i].place = static_cast<double>(i * 7919 % plan.batches.size());
  } else {
    plan.catalogs.push_back(std::make_unique<Catalog>(forms));
    const Catalog* catalog = plan.catalogs.front().get();
    double shares = 0;
    std::vector<Class> classes;
    for (size_t i = 0; i < static_cast<size_t>(Class::count); ++i) {
      const Class c = static_cast<Class>(i);
      if (!wanted(c) || !possible(*catalog, c)) continue;
      classes.push_back(c);
      shares += share_of(c);
    }
    for (const Class c : classes) {
      const double each = static_cast<double>(generate(*catalog, {.cls = c}).sequences.size());
      const double sequences = static_cast<double>(settings.sequences) * share_of(c) / shares;
      const auto programs = std::max<uint64_t>(1, static_cast<uint64_t>(sequences / each));
      add_batches(plan, catalog, c, settings.first, settings.record != 0 ? settings.record : programs);
    }
  }
  std::stable_sort(plan.batches.begin(), plan.batches.end(),
                   [](const Batch& a, const Batch& b) { return a.place < b.place; });
  return plan;
}

// ---- A worker process. It tells the parent by lines: a letter, then words; of multi-line texts every line
// begins with `|`.

/// What all processes see.
struct Shared {
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> current[1024];
};

class Worker {
 public:
  Worker(const Plan& plan, const Settings& settings, Shared& shared, uint32_t index, int pipe,
         Clock::time_point start)
      : plan_(plan),
        settings_(settings),
        shared_(shared),
        index_(index),
        out_(fdopen(pipe, "w")),
        start_(start) {}

  void work() {
    const auto began = Clock::now();
    tell(fmt::format("G {}", gpu_.name()));
    while (std::chrono::duration<double>(Clock::now() - start_).count() < settings_.seconds) {
      const uint64_t next = shared_.next++;
      if (next >= plan_.batches.size()) break;
      shared_.current[index_] = next;
      batch(plan_.batches[next]);
      std::fflush(out_);
    }
    const double all = std::chrono::duration<double>(Clock::now() - began).count();
    tell(fmt::format("S {} {} {} {}", gpu_.assembling(), gpu_.running(), engine_seconds_,
                     all - gpu_.assembling() - gpu_.running() - engine_seconds_));
    std::fflush(out_);
  }

 private:
  const Plan& plan_;
  const Settings& settings_;
  Shared& shared_;
  uint32_t index_;
  FILE* out_;
  Clock::time_point start_;
  Gpu gpu_;
  double engine_seconds_ = 0;
  std::map<std::string, int> shown_;

  void tell(const std::string& line) { std::fprintf(out_, "%s\n", line.c_str()); }
  void tell_text(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) tell("|" + line);
    tell("E");
  }
  static std::string label(const Batch& b, uint64_t seed) {
    std::string text = fmt::format("{} {}", name_of(b.cls), seed);
    if (b.catalog->alone() != nullptr) text += " of " + b.catalog->alone()->text;
    return text;
  }

  void batch(const Batch& b) {
    std::vector<Program> programs;
    std::vector<const Program*> pointers;
    std::string text = header();
    for (uint32_t i = 0; i < b.count; ++i) {
      programs.push_back(generate(*b.catalog, {.cls = b.cls, .seed = b.first + i}));
      text += text_of(programs.back());
    }
    for (const Program& p : programs) pointers.push_back(&p);
    std::string refusal;
    const auto gpu = gpu_.run(text, pointers, refusal, settings_.optimise);
    if (!refusal.empty()) return refused(b, programs, "assembler", refusal);
    std::unique_ptr<EngineModule> engine;
    const auto began = Clock::now();
    try {
      engine = std::make_unique<EngineModule>(text);
    } catch (const Error& error) {
      return refused(b, programs, "engine", error.what());
    }
    std::vector<EngineModule::Outcome> outcomes;
    for (const Program& program : programs) outcomes.push_back(engine->run(program));
    engine_seconds_ += std::chrono::duration<double>(Clock::now() - began).count();
    for (uint32_t i = 0; i < b.count; ++i) {
      const Program& program = programs[i];
      const EngineModule::Outcome& outcome = outcomes[i];
      if (!outcome.finding.empty()) tell(fmt::format("X finding: {}", outcome.finding));
      if (settings_.record != 0)
        tell(fmt::format("H {} {} {}", static_cast<int>(b.cls), b.first + i, hash_of(gpu[i])));
      for (const Difference& d : differences(program, outcome.output, gpu[i]))
        report(b, program, b.first + i, d, outcome.output, gpu[i]);
      tell(
          fmt::format("D {} {} {}", static_cast<int>(b.cls), program.sequences.size(), program.instructions));
    }
  }

  /// Of several programs, names the one that is refused.
  void refused(const Batch& b, const std::vector<Program>& programs, const char* by, const std::string& why) {
    if (programs.size() > 1) {
      for (uint32_t i = 0; i < b.count; ++i) batch({b.cls, b.catalog, b.first + i, 1, 0});
      return;
    }
    const std::string key = fmt::format("refused by the {}", by);
    tell("X " + key);
    if (shown_[key]++ < 5) tell_text(fmt::format("{}, {}: {}", label(b, b.first), key, why));
  }

  struct Both {
    Output engine, gpu;
  };
  Both run_both(const Program& program) {
    const std::string text = header() + text_of(program);
    std::string refusal;
    auto gpu = gpu_.run(text, {&program}, refusal, settings_.optimise);
    if (!refusal.empty()) return {};
    return {EngineModule(text).run(program).output, std::move(gpu.front())};
  }

  /// Is a sequence's result the engine's when the assembler does not optimise? Then optimising made the
  /// difference.
  bool equal_unoptimised(const Program& program, uint32_t sequence, const Output& engine) {
    std::string refusal;
    const auto plain = gpu_.run(header() + text_of(program), {&program}, refusal, 0);
    if (!refusal.empty()) return false;
    const auto left = differences(program, engine, plain.front());
    return std::none_of(left.begin(), left.end(),
                        [&](const Difference& e) { return e.sequence == sequence; });
  }

  void report(const Batch& b, const Program& program, uint64_t seed, Difference d, const Output& engine,
              const Output& gpu) {
    const bool optimiser = settings_.optimise > 0 && equal_unoptimised(program, d.sequence, engine);
    // Where the value came from, if storing every result still shows it.
    Program whole = program;
    Both both{engine, gpu};
    if (program.slots[d.slot].instruction.empty()) {
      Program stored = generate(*b.catalog, {.cls = b.cls, .seed = seed, .store_everything = true});
      stored.sequences = {stored.sequences[d.sequence]};
      Both again = run_both(stored);
      for (const Difference& e : differences(stored, again.engine, again.gpu)) {
        if (e.sequence != d.sequence) continue;
        // annotated() looks for the sequence by its number.
        stored.sequences.assign(e.sequence + 1, stored.sequences.front());
        d = e;
        whole = std::move(stored);
        both = std::move(again);
        break;
      }
    }
    if (optimiser) d.key += ", by optimisation";
    tell("X " + d.key);
    if (shown_[d.key]++ >= 1) return;
    std::string text =
        fmt::format("{}, sequence {}, thread {}: {}: engine 0x{:x}, GPU 0x{:x}\n", label(b, seed), d.sequence,
                    d.thread, whole.slots[d.slot].instruction, d.engine, d.gpu);
    const bool flow =
        b.cls == Class::control || b.cls == Class::mixed || b.cls == Class::warp || b.cls == Class::barrier;
    if (flow) {
      const Program small = minimised(whole, d.sequence, [&](const Program& candidate) {
        const Both pair = run_both(candidate);
        return !pair.gpu.empty() && !differences(candidate, pair.engine, pair.gpu).empty();
      });
      if (small.sequences.size() == 1) {
        const Both pair = run_both(small);
        const auto left = differences(small, pair.engine, pair.gpu);
        if (!left.empty()) {
          Difference e = left.front();
          e.sequence = 0;
          tell_text(text + annotated(small, e, pair.engine, pair.gpu));
          return;
        }
      }
    }
    tell_text(text + annotated(whole, d, both.engine, both.gpu));
  }
};

// ---- The parent.

struct Totals {
  uint64_t programs = 0, sequences = 0, instructions = 0;
};

class Run {
 public:
  explicit Run(const Settings& settings) : settings_(settings), plan_(plan_for(settings)) {}

  int run() {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error("no shared memory");
    shared_ = new (memory) Shared;
    const uint32_t jobs =
        std::min<uint32_t>({settings_.jobs, 1024, static_cast<uint32_t>(plan_.batches.size())});
    workers_.resize(jobs);
    for (uint32_t i = 0; i < jobs; ++i) start(i);
    std::vector<pollfd> polled;
    for (;;) {
      polled.clear();
      for (const Process& w : workers_)
        if (w.pipe >= 0) polled.push_back({w.pipe, POLLIN, 0});
      if (polled.empty()) break;
      poll(polled.data(), polled.size(), -1);
      for (const pollfd& p : polled)
        if (p.revents != 0) read_from(p.fd);
    }
    return summary();
  }

 private:
  struct Process {
    pid_t id = 0;
    int pipe = -1;
    std::string pending;
    std::string text{};  ///< of an example, so far
  };
  const Settings& settings_;
  Plan plan_;
  Shared* shared_ = nullptr;
  std::vector<Process> workers_;
  std::map<int, Totals> totals_;
  std::map<std::string, uint64_t> found_;
  std::vector<Recorded> recorded_;
  std::string device_;
  std::map<std::string, int> shown_;
  int restarts_ = 0;
  double seconds_[4] = {};
  Clock::time_point start_ = Clock::now();

  void start(uint32_t index) {
    int ends[2];
    if (pipe(ends) != 0) throw Error("no pipe");
    std::fflush(stdout);
    const pid_t id = fork();
    if (id < 0) throw Error("no process");
    if (id == 0) {
      close(ends[0]);
      int status = 0;
      try {
        Worker(plan_, settings_, *shared_, index, ends[1], start_).work();
      } catch (const std::exception& e) {
        std::fprintf(stderr, "worker %u: %s\n", index, e.what());
        status = 1;
      }
      // The context may hang with a kernel that does not end: leave without tidying up.
      _exit(status);
    }
    close(ends[1]);
    workers_[index] = {id, ends[0], "", ""};
  }

  void read_from(int pipe) {
    uint32_t index = 0;
    while (workers_[index].pipe != pipe) ++index;
    Process& worker = workers_[index];
    char buffer[65536];
    const ssize_t n = read(pipe, buffer, sizeof buffer);
    if (n > 0) {
      worker.pending.append(buffer, static_cast<size_t>(n));
      size_t at = 0;
      for (size_t end; (end = worker.pending.find('\n', at)) != std::string::npos; at = end + 1)
        line(worker, worker.pending.substr(at, end - at));
      worker.pending.erase(0, at);
      return;
    }
    close(pipe);
    worker.pipe = -1;
    int status = 0;
    waitpid(worker.id, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const Batch& b = plan_.batches[std::min<uint64_t>(shared_->current[index], plan_.batches.size() - 1)];
    ++found_["a process ended"];
    fmt::print("a process ended (status {}) at {} {} to {}\n", status, name_of(b.cls), b.first,
               b.first + b.count - 1);
    if (++restarts_ < 100) start(index);
  }

  void line(Process& worker, const std::string& text) {
    if (text.empty()) return;
    std::istringstream words(text.size() > 2 ? text.substr(2) : "");
    switch (text[0]) {
      case 'G': device_ = text.substr(2); break;
      case 'X': ++found_[text.substr(2)]; break;
      case 'D': {
        int cls = 0;
        uint64_t sequences = 0, instructions = 0;
        words >> cls >> sequences >> instructions;
        Totals& t = totals_[cls];
        ++t.programs;
        t.sequences += sequences;
        t.instructions += instructions;
        break;
      }
      case 'S':
        for (double& sum : seconds_) {
          double more = 0;
          words >> more;
          sum += more;
        }
        break;
      case 'H': {
        int cls = 0;
        Recorded r;
        words >> cls >> r.seed >> r.hash;
        r.cls = static_cast<Class>(cls);
        recorded_.push_back(r);
        break;
      }
      case '|': worker.text += text.substr(1) + "\n"; break;
      default: fmt::print("{}\n", worker.text); worker.text.clear();
    }
  }

  int summary() {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    Totals all;
    fmt::print("\n{}\n{:<14}{:>10}{:>12}{:>14}\n", device_, "class", "programs", "sequences", "instructions");
    for (const auto& [cls, t] : totals_) {
      fmt::print("{:<14}{:>10}{:>12}{:>14}\n", name_of(static_cast<Class>(cls)), t.programs, t.sequences,
                 t.instructions);
      all.programs += t.programs;
      all.sequences += t.sequences;
      all.instructions += t.instructions;
    }
    fmt::print("{:<14}{:>10}{:>12}{:>14}  in {:.0f} s\n", "all", all.programs, all.sequences,
               all.instructions, seconds);
    fmt::print("seconds of all processes: assembler {:.0f}, GPU {:.0f}, engine {:.0f}, the rest {:.0f}\n",
               seconds_[0], seconds_[1], seconds_[2], seconds_[3]);
    fmt::print("\ndifferences: {}\n", found_.empty() ? "none" : "sequences, and where they began");
    for (const auto& [key, count] : found_) fmt::print("{:>8}  {}\n", count, key);
    if (settings_.record != 0) {
      std::sort(recorded_.begin(), recorded_.end(), [](const Recorded& a, const Recorded& b) {
        return a.cls != b.cls ? a.cls < b.cls : a.seed < b.seed;
      });
      std::ofstream(settings_.out + "/outputs.txt") << written(recorded_, device_);
    }
    return found_.empty() ? 0 : 1;
  }
};

Settings settings_of(const std::vector<std::string>& arguments) {
  Settings s;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    const auto next = [&]() -> const std::string& {
      if (i + 1 >= arguments.size()) throw Error(a + " needs a value");
      return arguments[++i];
    };
    if (a == "--class") {
      std::istringstream names(next());
      for (std::string name; std::getline(names, name, ',');) {
        const auto c = find_class(name);
        if (!c) throw Error("no class " + name);
        s.classes.push_back(*c);
      }
    } else if (a == "--sequences") {
      s.sequences = std::stoull(next());
    } else if (a == "--first") {
      s.first = std::stoull(next());
    } else if (a == "--each-form") {
      s.each_form = true;
      if (i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) s.form = next();
    } else if (a == "--programs") {
      s.programs = std::stoull(next());
    } else if (a == "--table") {
      s.table = true;
    } else if (a == "--optimise") {
      s.optimise = static_cast<unsigned>(std::stoul(next()));
      if (s.optimise > gpu::Device::full_optimisation) throw Error("--optimise takes 0 to 4");
    } else if (a == "--data") {
      s.data = next();
    } else if (a == "--record") {
      s.record = std::stoull(next());
    } else if (a == "--out") {
      s.out = next();
    } else if (a == "--jobs") {
      s.jobs = static_cast<uint32_t>(std::stoul(next()));
    } else if (a == "--seconds") {
      s.seconds = std::stod(next());
    } else {
      throw Error("unknown option " + a + "; see the head of tests/random/on_gpu.cpp");
    }
  }
  return s;
}

}  // namespace
}  // namespace lanescope::random

int main(int argc, char** argv) {
  // What the driver assembled before must not stand in for assembling it now.
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  try {
    const auto settings = lanescope::random::settings_of({argv + 1, argv + argc});
    return lanescope::random::Run(settings).run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "random_on_gpu: %s\n", e.what());
    return 2;
  }
}
