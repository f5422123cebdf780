// See recorder.hpp.
#include "cuda/runtime/recorder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>

#include "base/words.hpp"
#include "cuda/runtime/exit.hpp"
#include "report/json.hpp"

namespace lanescope::cuda {
namespace {

/// The first launches of a kernel, and then what was counted in this time, are put aside before another one
/// starts.
constexpr uint64_t few_launches = 8;
constexpr std::chrono::milliseconds at_risk{100};

/// After a launch as long as this its counts are put aside, so that the next one can be interrupted without
/// losing them.
constexpr int64_t long_launch_ns = 50'000'000;

uint64_t pack(const exec::Dim3& d) { return uint64_t{d.x} << 32 | uint64_t{d.y} << 16 | d.z; }

/// Adds findings of another launch to those known.
void add_findings(std::vector<exec::Finding>& known, const std::vector<exec::Finding>& more) {
  for (const exec::Finding& finding : more) {
    const auto same = std::find_if(known.begin(), known.end(),
                                   [&](const exec::Finding& other) { return other.same_defect(finding); });
    if (same == known.end())
      known.push_back(finding);
    else
      same->count += finding.count;
  }
}

void add_instructions(exec::LaunchResult& sum, const exec::LaunchResult& more) {
  sum.warp_instructions += more.warp_instructions;
  sum.lane_instructions += more.lane_instructions;
  sum.shuffles += more.shuffles;
}

void add_outcome(exec::LaunchResult& sum, const exec::LaunchResult& more) {
  sum.failed = sum.failed || more.failed;
  if (!more.findings.empty()) add_findings(sum.findings, more.findings);
}

/// "3 a, 1 b"; of many names those with the highest counts, and how many there are besides.
std::string most_frequent(const std::map<std::string, uint64_t>& counts) {
  constexpr size_t shown = 16;
  std::vector<std::pair<std::string, uint64_t>> all(counts.begin(), counts.end());
  if (all.size() > shown)
    std::ranges::stable_sort(all, std::greater(), &std::pair<std::string, uint64_t>::second);
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(shown, all.size()); ++i)
    texts.push_back(fmt::format("{} {}", all[i].second, all[i].first));
  uint64_t rest = 0;
  for (size_t i = shown; i < all.size(); ++i) rest += all[i].second;
  if (rest != 0) texts.push_back(fmt::format("{} of {} others", rest, all.size() - shown));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

bool holds_address(const std::vector<std::byte>& parameters, const Block& block) {
  for (size_t at = 0; at + sizeof(uint64_t) <= parameters.size(); at += sizeof(uint64_t)) {
    uint64_t value = 0;
    std::memcpy(&value, parameters.data() + at, sizeof value);
    if (value - block.base < block.size) return true;
  }
  return false;
}

Recorder::Recorder(const Options& options)
    : options_(options),
      arch_(arch_of(options)),
      enabled_(!options.report.empty()),
      sources_(program_path()) {}

advise::Division& Recorder::division_of(Function& function, const exec::Kernel& kernel) {
  std::unique_ptr<advise::Division>& known = divisions_[&function];
  if (!known) known = std::make_unique<advise::Division>(kernel, sources_);
  return *known;
}

Recorder::Entry& Recorder::entry(Function& function, const exec::Kernel& kernel, exec::LaunchConfig& config) {
  if (enabled_ && options_.count && function.counted && !kernel.shared.empty())
    config.shared = division_of(function, kernel).variables(config);
  const auto fits = [&](const Entry& e) {
    return e.function == &function && e.shape.grid == config.grid && e.shape.block == config.block &&
           e.shape.dynamic_shared == config.dynamic_shared && e.shape.shared == config.shared;
  };
  if (last_ != nullptr && fits(*last_) && !options_.each_launch) return *last_;
  const uint64_t number = options_.each_launch ? entries_.size() : 0;
  std::vector<uint32_t> begins;
  for (const exec::SharedVariable& variable : config.shared) begins.push_back(variable.offset);
  const Key key{&function,
                uint64_t{config.grid.x},
                pack({config.grid.y, config.grid.z, 0}),
                pack(config.block),
                config.block.z,
                config.dynamic_shared,
                number,
                begins};
  const auto [found, fresh] = index_.emplace(key, entries_.size());
  if (fresh) {
    auto entry = std::make_unique<Entry>();
    entry->function = &function;
    entry->module = function.binary->module;
    // Now, while the binary is there: a library may be unloaded before the program ends.
    entry->machine_code = Runtime::get().needs_in_machine_code(function);
    entry->shape.grid = config.grid;
    entry->shape.block = config.block;
    entry->shape.dynamic_shared = config.dynamic_shared;
    entry->shape.shared = config.shared;
    entry->shape.params = config.params;
    entries_.push_back(std::move(entry));
  }
  return *(last_ = entries_[found->second].get());
}

bool Recorder::begin(Entry& entry, const exec::Kernel& kernel, exec::LaunchConfig& config) {
  bool counted = enabled_ && entry.function->counted;
  if (counted) {
    const uint64_t number = eligible_++;
    counted = number >= options_.launch_skip && number - options_.launch_skip < options_.launch_count;
  }
  if (!options_.recordings.empty() && !options_.each_launch && entry.launches + entry.running != 0)
    counted = false;  // what is counted is to be what is recorded
  if (counted) config.checks = entry.shape.checks = options_.checks;
  counted = counted && options_.count;
  const bool is_shared = entry.running++ != 0;  // with a launch of the same kernel that waits
  if (!counted) return false;
  entry.last_use = ++clock_;
  // What the collectors hold is out of reach while they are counting, and lost if the program is ended then.
  const auto now = std::chrono::steady_clock::now();
  if (entry.collectors != nullptr && !is_shared &&
      (entry.launches < few_launches || now - entry.put_aside > at_risk)) {
    fold(entry);
    std::erase(live_, &entry);
    entry.put_aside = now;
  }
  if (entry.collectors == nullptr) {
    if (live_.size() >= most_live) {
      const auto oldest = std::min_element(live_.begin(), live_.end(), [](const Entry* a, const Entry* b) {
        return std::pair(a->running != 0, a->last_use) < std::pair(b->running != 0, b->last_use);
      });
      if ((*oldest)->running == 0) {
        fold(**oldest);
        live_.erase(oldest);
      }
    }
    if (options_.merge && entry.plan == nullptr && merge::knows(arch_))
      entry.plan = std::make_shared<const merge::Plan>(merge::predict(*entry.module, kernel, arch_));
    entry.collectors = std::make_unique<profile::Collectors>(
        arch_, static_cast<uint32_t>(kernel.accesses.size()), profile::RecordBlocks::some, entry.plan);
    live_.push_back(&entry);
  }
  const uint64_t blocks = config.grid.count();
  if (options_.sample_blocks != 0 && options_.sample_blocks < blocks) {
    // Spread over the grid, so that its edges and its middle are both in the sample.
    config.observe_every = entry.shape.observe_every =
        (blocks + options_.sample_blocks - 1) / options_.sample_blocks;
    sampled_ = true;
  }
  config.observer = [collectors = entry.collectors.get()](uint32_t host_thread) {
    return collectors->of(host_thread);
  };
  return true;
}

void Recorder::end(Entry& entry, const exec::LaunchConfig&, const exec::LaunchResult& result, bool counted,
                   int64_t ns) {
  --entry.running;
  ++entry.launches;
  entry.last_ns = ns;
  // With --no-count, instructions are all that is known.
  if (counted || !options_.count) add_instructions(entry.sum, result);
  if (counted) {
    ++entry.counted;
    if (ns > long_launch_ns && entry.running == 0) {
      fold(entry);
      std::erase(live_, &entry);
    }
  } else {
    ++uncounted_;
  }
  add_outcome(entry.sum, result);
}

std::string Recorder::recording(Entry& entry) {
  entry.recording = fmt::format("{}-{}", getpid(), recordings_++);
  return options_.recordings + "/" + entry.recording;
}

void Recorder::fold(Entry& entry) {
  if (entry.collectors == nullptr) return;
  const profile::Profile counted = entry.collectors->merged();
  entry.counts = entry.counts ? profile::merge({*entry.counts, counted}) : counted;
  entry.collectors.reset();
}

void Recorder::copied(const Copied& copy) {
  Copies& copies = copies_[static_cast<size_t>(copy.direction)];
  copies.count.fetch_add(1, std::memory_order_relaxed);
  copies.bytes.fetch_add(copy.bytes, std::memory_order_relaxed);
  if (copy.pageable) copies.pageable.fetch_add(1, std::memory_order_relaxed);
  if (copy.independent) {
    copies.independent.fetch_add(1, std::memory_order_relaxed);
    copies.independent_bytes.fetch_add(copy.bytes, std::memory_order_relaxed);
  }
  if (copy.direction != CopyKind::host_to_device || !enabled_) return;
  const std::lock_guard lock(copied_mutex_);
  if (copied_to_.emplace(copy.target, copy.bytes).second || !copy.unchanged) return;
  copies.repeated.fetch_add(1, std::memory_order_relaxed);
  copies.repeated_bytes.fetch_add(copy.bytes, std::memory_order_relaxed);
}

void Recorder::launched(const Stream& stream, const std::vector<std::byte>& parameters) {
  if (!enabled_) return;
  const std::lock_guard lock(copied_mutex_);
  last_parameters_[{&stream, stream.id}] = parameters;
}

void Recorder::waited_for(const Stream& stream) {
  if (!enabled_) return;
  const std::lock_guard lock(copied_mutex_);
  last_parameters_.erase({&stream, stream.id});
}

void Recorder::waited_for_all() {
  if (!enabled_) return;
  const std::lock_guard lock(copied_mutex_);
  last_parameters_.clear();
}

bool Recorder::is_apart(const Stream& stream, const Block& block) {
  const std::lock_guard lock(copied_mutex_);
  const auto found = last_parameters_.find({&stream, stream.id});
  if (found == last_parameters_.end()) return false;
  return !holds_address(found->second, block);
}

void Recorder::library_called(const char* name) {
  const std::lock_guard lock(library_mutex_);
  ++library_calls_[name];
}

void Recorder::library_failed(const std::string& defect) {
  const std::lock_guard lock(library_mutex_);
  library_defects_.push_back(defect);
}

bool Recorder::empty() const {
  const std::lock_guard lock(library_mutex_);
  return entries_.empty() && library_calls_.empty() &&
         std::all_of(copies_.begin(), copies_.end(), [](const Copies& copies) { return copies.count == 0; });
}

bool Recorder::has_errors() const {
  const std::lock_guard lock(library_mutex_);
  return !library_defects_.empty() || std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) {
    return std::any_of(entry->sum.findings.begin(), entry->sum.findings.end(),
                       [](const exec::Finding& f) { return f.severity == exec::Finding::Severity::error; });
  });
}

void Recorder::forget() {
  index_.clear();
  entries_.clear();
  live_.clear();
  last_ = nullptr;
  eligible_ = uncounted_ = 0;
  library_calls_.clear();
  library_defects_.clear();
  for (Copies& copies : copies_)
    copies.count = copies.bytes = copies.pageable = copies.repeated = copies.repeated_bytes =
        copies.independent = copies.independent_bytes = 0;
  copied_to_.clear();
  last_parameters_.clear();
}

void Recorder::sum_code_loaded_again() {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::vector<Entry*>> known;
  for (const auto& entry : entries_) {
    if (entry->running != 0 || entry->launches == 0) continue;
    fold(*entry);
    std::vector<Entry*>& others = known[{entry->function->name, entry->module->name, entry->module->text}];
    const auto same = std::ranges::find_if(others, [&](const Entry* other) {
      const exec::LaunchConfig &a = entry->shape, &b = other->shape;
      return a.grid == b.grid && a.block == b.block && a.dynamic_shared == b.dynamic_shared &&
             a.shared == b.shared && a.checks == b.checks && a.observe_every == b.observe_every &&
             entry->counts.has_value() == other->counts.has_value();
    });
    if (same == others.end()) {
      others.push_back(entry.get());
      continue;
    }
    Entry& first = **same;
    first.launches += std::exchange(entry->launches, 0);
    first.counted += std::exchange(entry->counted, 0);
    const exec::LaunchResult more = std::exchange(entry->sum, {});
    add_instructions(first.sum, more);
    add_outcome(first.sum, more);
    if (first.counts) first.counts = profile::merge({*first.counts, *entry->counts});
  }
}

std::string Recorder::render() {
  if (!options_.each_launch && options_.recordings.empty()) sum_code_loaded_again();
  report::Report report = report::make_report(arch_);
  std::set<std::string> stand_ins;
  std::ofstream recordings;
  if (!options_.recordings.empty())
    recordings.open(fmt::format("{}/{}.recordings", options_.recordings, getpid()));
  for (const auto& entry : entries_) {
    const exec::Kernel* kernel = entry->function->kernel;
    const bool is_running = entry->running != 0;
    if (!is_running) fold(*entry);
    if (is_running)
      report.notes.push_back(fmt::format(
          "The program was ended while {} was running; that launch is not counted.", kernel->display_name));
    if (entry->counted == 0 && entry->sum.findings.empty() && !is_running && options_.count && enabled_)
      continue;
    if (entry->launches == 0) continue;
    const ptx::MachineNeeds* needs = options_.assemble ? Runtime::get().needs(*entry->function) : nullptr;
    if (needs == nullptr) needs = entry->machine_code;
    report::Launch launch = report::make_launch(arch_, *entry->module, *kernel, entry->shape, entry->sum,
                                                entry->counts, sources_, needs, entry->plan.get());
    launch.launches = entry->counted != 0 ? entry->counted : entry->launches;
    report.launches.push_back(std::move(launch));
    if (const std::string& stand_in = entry->function->binary->stand_in; !stand_in.empty())
      stand_ins.insert(stand_in + '.');
    recordings << entry->recording << '\n';
  }
  report::hold_advice_against_all_launches(report);
  std::ranges::copy(stand_ins, std::back_inserter(report.notes));
  Runtime::get().look_at_memory_left();
  std::ranges::copy(Runtime::get().memory_notes, std::back_inserter(report.notes));
  constexpr const char* directions[] = {"host to host", "host to device", "device to host",
                                        "device to device"};
  for (size_t i = 0; i < copies_.size(); ++i)
    if (copies_[i].count != 0)
      report.copies.push_back({directions[i], copies_[i].count, copies_[i].bytes, copies_[i].pageable,
                               copies_[i].repeated, copies_[i].repeated_bytes, copies_[i].independent,
                               copies_[i].independent_bytes});
  if (const std::lock_guard lock(library_mutex_); !library_calls_.empty()) {
    std::ranges::copy(library_defects_, std::back_inserter(report.notes));
    report.notes.push_back(
        fmt::format("Calls of the toolkit's libraries and of PyTorch's operators, which the host did, and "
                    "whose accesses are not counted: {}.",
                    most_frequent(library_calls_)));
  }
  if (sampled_)
    report.notes.push_back(
        fmt::format("Accesses are counted of at most {} of each launch, spread evenly, and of whole clusters "
                    "(--sample-blocks); warp instructions are of all blocks.",
                    counted(options_.sample_blocks, "block")));
  if (uncounted_ != 0 && options_.count)
    report.notes.push_back(
        fmt::format("{} ran without being counted ({}--kernel, --launch-skip, --launch-count).",
                    counted(uncounted_, "launch"),
                    options_.recordings.empty() ? "" : "of each kernel, grid and block the first is; "));
  return report::to_json(report);
}

}  // namespace lanescope::cuda
