// See launch.hpp: placing a module's variables, and running a grid's blocks on the host's cores.
#include "exec/launch.hpp"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "exec/cluster.hpp"
#include "exec/decode.hpp"
#include "exec/device_queue.hpp"
#include "exec/grid_races.hpp"
#include "exec/host_threads.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

/// A kernel decoded for running with and without an observer, with and without checks.
struct Decoded {
  Kernel observed;
  struct Variant {
    bool is_observed;
    Checking checking;
    std::unique_ptr<Kernel> kernel;
  };
  std::array<Variant, 5> others{{{false, Checking::none, {}},
                                 {true, Checking::checked, {}},
                                 {false, Checking::checked, {}},
                                 {true, Checking::with_values, {}},
                                 {false, Checking::with_values, {}}}};
  std::mutex mutex;
  struct Pool {
    Dim3 block, cluster;
    bool explicit_cluster = false;
    uint32_t dynamic_shared = 0, stack_bytes = 0, stack_limit = 0;
    bool observed = false;
    Checks checks;
    std::vector<std::unique_ptr<BlockState>> states;
  } pool;  ///< states of the last launch, for the next one of the same shape
};

/// PTX arithmetic rounds to nearest and keeps subnormals unless an instruction says otherwise, whatever the
/// host program has set for its own.
class HostRounding {
 public:
  HostRounding() { _mm_setcsr(plain); }
  ~HostRounding() { _mm_setcsr(before_); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  static constexpr unsigned plain = 0x1f80;
  unsigned before_ = _mm_getcsr();
};

using Clock = std::chrono::steady_clock;

/// Hands out the blocks of one launch to host threads, and finds out when those that wait for each other
/// cannot go on.
class Grid {
 public:
  Grid(const Kernel& kernel, const LaunchConfig& config, const std::byte* params, Memory& memory,
       std::vector<std::unique_ptr<BlockState>>& states)
      : kernel_(kernel),
        config_(config),
        params_(params),
        memory_(memory),
        states_(states),
        total_(config.grid.count() / config.cluster.count()) {}

  /// Before the host threads work: until when, at most.
  void begin(Clock::time_point until) {
    until_ = until;
    stop_ = false;
    if (stalled_) ++epoch_;  // something outside may have changed what they wait for
    stalled_ = false;
  }
  /// After they have: whether blocks are left, and whether all of these wait for a change of memory that none
  /// of them can make.
  [[nodiscard]] bool finished() const { return parked_.empty() && next_ >= total_; }
  [[nodiscard]] bool stalled() const { return stalled_; }
  /// Ends the blocks that are left: what they wait for is reported.
  void give_up(WorkerState& worker) {
    for (Parked& p : parked_) report_stall(*p.state, worker);
    parked_.clear();
    parked_count_ = 0;
    next_ = total_;
  }

  void work(uint32_t thread, LaunchWorker& worker, DeviceQueue& queue) {
    worker.device = &queue;
    worker.until = until_;
    worker.stop = &stop_;
    const HostRounding rounding;
    worker.kernel = &kernel_;
    worker.shared = &shared_variables(kernel_, config_);
    worker.memory = &memory_;
    worker.params = params_;
    worker.patience = config_.patience;
    worker.print = [this](const std::string& text) {
      std::lock_guard lock(print_mutex_);
      if (config_.print)
        config_.print(text);
      else
        std::fwrite(text.data(), 1, text.size(), stdout);
    };
    worker.sites.resize(kernel_.accesses.size());
    worker.branches.resize(kernel_.branches.size());
    Observer* const observer = config_.observer ? config_.observer(thread) : nullptr;
    Observer nobody;
    std::unique_ptr<BlockState> state;
    while (take(state, worker)) {
      const uint64_t epoch = epoch_;
      if (observer != nullptr)
        tell(worker, state->index / config_.cluster.count() % config_.observe_every == 0
                         ? observer->of_block(state->index)
                         : &nobody);
      const uint64_t writes = worker.global_writes;
      const Outcome outcome = run_block(*state, worker);
      // Before another host thread can find that nothing has changed since its block stalled: that one may
      // have looked at memory just before this block's last write.
      if (outcome != Outcome::stalled || worker.global_writes != writes) ++epoch_;
      if (outcome == Outcome::finished && parked_count_ == 0) {
        finish_block(thread);
        --active_;
        continue;
      }
      std::lock_guard lock(mutex_);
      --active_;
      if (outcome == Outcome::finished) {
        finish_block(thread);
      } else {
        const bool was_last_resort = state->last_resort;
        parked_.push_back({std::move(state), outcome == Outcome::stalled, epoch, pass_, was_last_resort});
        parked_count_ = parked_.size();
      }
      changed_.notify_all();
    }
    if (worker.observer != nullptr) flush_repeats(worker);
    std::lock_guard lock(states_mutex_);
    if (state) states_.push_back(std::move(state));
  }

 private:
  struct Parked {
    std::unique_ptr<BlockState> state;
    bool stalled = false;
    uint64_t epoch = 0;  ///< of the grid, when its last slice began
    uint64_t pass = 0;
    bool was_last_resort = false;  ///< BlockState::last_resort in that slice
  };

  const Kernel& kernel_;
  const LaunchConfig& config_;
  const std::byte* params_;
  Memory& memory_;
  std::vector<std::unique_ptr<BlockState>>& states_;
  const uint64_t total_;  ///< clusters; a block is one where there are no larger ones
  std::atomic<uint64_t> next_{0}, done_{0}, epoch_{0}, parked_count_{0};
  std::atomic<uint32_t> active_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Parked> parked_;
  uint64_t pass_ = 0;  ///< every waiting block gets one slice before the next new block starts
  Clock::time_point last_progress_{};
  Clock::time_point until_ = Clock::time_point::max();
  std::atomic<bool> stop_{false};  ///< host threads are to leave
  bool stalled_ = false;

  static void tell(LaunchWorker& worker, Observer* observer) {
    if (observer == worker.observer) return;
    if (worker.observer != nullptr) flush_repeats(worker);
    worker.observer = observer;
    worker.shared_granule_mask = observer->shared_granule - 1;
    worker.copy_granule_mask = observer->copy_granule - 1;
    worker.global_granule_mask = observer->global_granule - 1;
  }

  void finish_block(uint32_t thread) {
    const uint64_t done = ++done_;
    if (!config_.progress || thread != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_progress_ < std::chrono::milliseconds(100)) return;
    last_progress_ = now;
    config_.progress(done * config_.cluster.count(), config_.grid.count());
  }

  void start(std::unique_ptr<BlockState>& state, uint64_t index) {
    if (!state) {
      std::lock_guard lock(states_mutex_);
      if (!states_.empty()) {
        state = std::move(states_.back());
        states_.pop_back();
      }
    }
    if (!state) state = make_block(kernel_, config_);
    start_block(*state, kernel_, config_, index, params_);
  }
  std::mutex states_mutex_, print_mutex_;

  /// The next block to run on this host thread, new or parked. False when nothing is left to do.
  bool take(std::unique_ptr<BlockState>& state, WorkerState& worker) {
    if (worker.leaves()) {
      std::lock_guard lock(mutex_);
      stop_ = true;
      changed_.notify_all();
      return false;
    }
    ++active_;
    if (parked_count_ == 0) {
      const uint64_t index = next_++;
      if (index < total_) {
        start(state, index);
        return true;
      }
    }
    --active_;
    std::unique_lock lock(mutex_);
    for (;;) {
      if (stop_) return false;
      auto waiting = std::find_if(parked_.begin(), parked_.end(),
                                  [&](const Parked& p) { return !p.stalled && p.pass < pass_; });
      if (waiting != parked_.end()) return resume(state, waiting);
      if (next_ < total_ && parked_.size() < config_.resident_blocks) {
        const uint64_t index = next_++;
        if (index < total_) {
          ++pass_;
          ++active_;
          lock.unlock();
          start(state, index);
          return true;
        }
      }
      auto hopeful = std::find_if(parked_.begin(), parked_.end(),
                                  [&](const Parked& p) { return !p.stalled || p.epoch < epoch_; });
      if (hopeful != parked_.end()) {
        ++pass_;
        return resume(state, hopeful);
      }
      if (parked_.empty()) return false;
      if (active_ == 0) {  // all are stalled, and nothing has changed since they were seen to be
        auto untried =
            std::find_if(parked_.begin(), parked_.end(), [](const Parked& p) { return !p.was_last_resort; });
        if (untried != parked_.end()) return resume(state, untried, true);
        stalled_ = stop_ = true;
        changed_.notify_all();
        return false;
      }
      changed_.wait(lock);
    }
  }

  bool resume(std::unique_ptr<BlockState>& state, const std::deque<Parked>::iterator& which,
              bool last_resort = false) {
    if (state) {
      std::lock_guard lock(states_mutex_);
      states_.push_back(std::move(state));
    }
    state = std::move(which->state);
    each_block(*state, [&](BlockState& block) { block.last_resort = last_resort; });
    parked_.erase(which);
    parked_count_ = parked_.size();
    ++active_;
    return true;
  }
};

/// Settles what a launch leaves open.
void settle(const Kernel& kernel, LaunchConfig& config) {
  config.explicit_cluster = config.cluster.x != 0 || kernel.required_cluster[0] != 0;
  if (config.cluster.x == 0) config.cluster = compiled_cluster(kernel);
}

void check(const Kernel& kernel, const LaunchConfig& config) {
  auto fail = [&](const std::string& what) { throw Error("kernel '" + kernel.display_name + "': " + what); };
  auto shape = [](const Dim3& d) {
    return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
  };
  const Dim3 &g = config.grid, &b = config.block;
  if (g.count() == 0) fail("the grid " + shape(g) + " has no blocks");
  if (b.count() == 0) fail("the block " + shape(b) + " has no threads");
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535)
    fail("the grid " + shape(g) + " exceeds 2147483647x65535x65535");
  if (b.x > 1024 || b.y > 1024 || b.z > 64 || b.count() > 1024)
    fail("the block " + shape(b) + " exceeds 1024 threads (1024x1024x64)");
  const auto& most = kernel.max_threads;
  const uint64_t limit = uint64_t{std::max(most[0], 1u)} * std::max(most[1], 1u) * std::max(most[2], 1u);
  if (most[0] != 0 && b.count() > limit)
    fail("the block " + shape(b) + " exceeds the " + std::to_string(limit) +
         " threads the kernel was compiled for");
  const auto& need = kernel.required_threads;
  if (need[0] != 0 && (b != Dim3{need[0], std::max(need[1], 1u), std::max(need[2], 1u)}))
    fail("the block " + shape(b) + " is not the one the kernel was compiled for: " +
         shape({need[0], std::max(need[1], 1u), std::max(need[2], 1u)}));
  const uint64_t shared = kernel.shared_bytes(config.dynamic_shared);
  if (shared > config.shared_limit)
    fail(std::to_string(shared) + " bytes of shared memory: a block may have " +
         std::to_string(config.shared_limit));
  const Dim3& c = config.cluster;
  if (c.count() == 0) fail("the cluster " + shape(c) + " has no blocks");
  if (g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0)
    fail("the grid " + shape(g) + " is no multiple of the cluster " + shape(c));
  if (c.count() > most_cluster_blocks)
    fail("the cluster " + shape(c) + " exceeds " + std::to_string(most_cluster_blocks) + " blocks");
  if (kernel.max_cluster_rank != 0 && c.count() > kernel.max_cluster_rank)
    fail("the cluster " + shape(c) + " exceeds the " + std::to_string(kernel.max_cluster_rank) +
         " blocks the kernel was compiled for");
  if (kernel.required_cluster[0] != 0 && c != compiled_cluster(kernel))
    fail("the cluster " + shape(c) +
         " is not the one the kernel was compiled for: " + shape(compiled_cluster(kernel)));
  if (kernel.explicit_cluster && !config.explicit_cluster)
    fail("it runs in clusters only, and the launch gives no size of one");
  if (config.params.size() != kernel.param_bytes)
    fail(std::to_string(config.params.size()) + " bytes of parameters given, " +
         std::to_string(kernel.param_bytes) + " expected");
}

/// A launch by a kernel of the launch `parent`.
LaunchConfig child_config(const LaunchConfig& parent, const DeviceWork& work, size_t param_bytes) {
  LaunchConfig config;
  config.grid = work.grid;
  config.block = work.block;
  config.dynamic_shared = work.dynamic_shared;
  config.params.resize(param_bytes);
  config.threads = parent.threads;
  config.shared_limit = parent.shared_limit;
  config.resident_blocks = parent.resident_blocks;
  config.patience = parent.patience;
  config.poison_shared = parent.poison_shared;
  config.print = parent.print;
  return config;
}

/// A copy or a set that a kernel asked for.
void perform(const DeviceWork& work, Memory& memory) {
  const auto exists = [&](uint64_t address) { return memory.find(address, work.bytes).has_value(); };
  const bool is_copy = work.kind == DeviceWork::Kind::copy;
  if (!exists(work.target) || (is_copy && !exists(work.source)))
    throw Error(std::string("a kernel's ") + (is_copy ? "cudaMemcpyAsync" : "cudaMemsetAsync") +
                ": its memory was freed before it was done");
  if (is_copy)
    std::memmove(reinterpret_cast<void*>(work.target), reinterpret_cast<const void*>(work.source),
                 work.bytes);
  else
    std::memset(reinterpret_cast<void*>(work.target), work.value, work.bytes);
  memory.wrote(work.target, work.bytes);
}

/// Where in a line of memory parameters begin. On 9.0 they begin at byte 0x210 of a constant bank
/// (cuobjdump), or at the next one that they may begin at, and counters of what is read by their addresses
/// show it (measured on H100 and H200, docs/accuracy.md).
size_t bytes_before_params(const Kernel& kernel) {
  size_t align = 1;
  for (const Kernel::Parameter& p : kernel.params) align = std::max(align, size_t{p.align});
  return (0x210 + align - 1) / align * align % 128;
}

}  // namespace

Dim3 compiled_cluster(const Kernel& kernel) {
  const auto& size = kernel.required_cluster;
  return {std::max(size[0], 1u), std::max(size[1], 1u), std::max(size[2], 1u)};
}

struct Image::State {
  Memory& memory;
  SymbolTable symbols;
  std::vector<uint64_t> owned;  ///< allocations to release
  std::mutex mutex;
  std::map<uint32_t, std::unique_ptr<Decoded>> kernels;  ///< by Module::functions

  explicit State(Memory& m) : memory(m) {}
};

Image::Image(std::shared_ptr<const ptx::Module> module, Memory& memory)
    : module_(std::move(module)), state_(std::make_unique<State>(memory)) {
  const ptx::Module& m = *module_;
  SymbolTable& symbols = state_->symbols;
  for (const ptx::Function& f : m.functions) {
    // Kernels see an address for each function; there is nothing to read or write behind it.
    const uint64_t address = memory.allocate(16, "code of " + f.display_name, 256, Memory::Owner::internal);
    memory.set_read_only(address, true);
    state_->owned.push_back(address);
    symbols.functions.push_back(address);
  }
  for (const ptx::Variable& v : m.variables) {
    if (v.space != ptx::Space::global && v.space != ptx::Space::constant) {
      symbols.variables.push_back(0);
      continue;
    }
    if (v.is_extern)
      throw Error(m.name + ": variable '" + v.name + "' is declared .extern and defined nowhere");
    const uint64_t address = memory.allocate(v.size, v.display_name, v.align);
    state_->owned.push_back(address);
    symbols.variables.push_back(address);
  }
  for (size_t i = 0; i < m.variables.size(); ++i) {
    if (symbols.variables[i] == 0) continue;
    initialise(m.variables[i], symbols.variables[i]);
    if (m.variables[i].space == ptx::Space::constant) memory.set_constant(symbols.variables[i]);
  }
}

void Image::initialise(const ptx::Variable& v, uint64_t address) {
  const SymbolTable& symbols = state_->symbols;
  std::copy_n(v.initial.data(), std::min<size_t>(v.initial.size(), v.size),
              reinterpret_cast<uint8_t*>(address));
  for (const ptx::Relocation& r : v.relocations) {
    if (r.offset + r.width > v.size)
      throw Error(module_->name + ": initialiser of '" + v.name + "' is too long");
    uint64_t value = 0;
    if (r.symbol.kind == ptx::SymbolRef::Kind::function)
      value = symbols.functions[r.symbol.index];
    else if (r.symbol.kind == ptx::SymbolRef::Kind::module_variable)
      value = symbols.variables[r.symbol.index];
    value = ((value + static_cast<uint64_t>(r.addend)) & r.mask) >> r.shift;
    std::memcpy(reinterpret_cast<void*>(address + r.offset), &value, std::min<size_t>(r.width, 8));
  }
}

void Image::restore_variables() {
  for (size_t i = 0; i < module_->variables.size(); ++i) {
    const ptx::Variable& v = module_->variables[i];
    const uint64_t address = state_->symbols.variables[i];
    if (address == 0 || v.is_managed) continue;
    // Pages that nobody has written are not there yet, and need not be.
    constexpr size_t piece = 1 << 16;
    for (size_t at = 0; at < v.size; at += piece) {
      auto* const bytes = reinterpret_cast<char*>(address + at);
      const size_t count = std::min<size_t>(piece, v.size - at);
      if (bytes[0] != 0 || std::memcmp(bytes, bytes + 1, count - 1) != 0) std::memset(bytes, 0, count);
    }
    initialise(v, address);
  }
}

Image::~Image() {
  for (uint64_t address : state_->owned) state_->memory.release(address);
}

const Kernel& Image::kernel(std::string_view name) {
  uint32_t index = ptx::no_index;
  const auto& functions = module_->functions;
  for (uint32_t i = 0; i < functions.size() && index == ptx::no_index; ++i)
    if (functions[i].is_entry && functions[i].name == name) index = i;
  std::vector<uint32_t> called;
  for (uint32_t i = 0; i < functions.size() && index == ptx::no_index; ++i) {
    const std::string& shown = functions[i].display_name;
    if (!functions[i].is_entry) continue;
    if (shown == name || shown.substr(0, shown.find('(')) == name) called.push_back(i);
  }
  if (index == ptx::no_index && called.size() == 1) index = called[0];
  if (index == ptx::no_index) {
    std::string list;
    for (const ptx::Function& f : functions)
      if (f.is_entry) list += "\n  " + f.display_name;
    throw Error(module_->name + ": " + (called.empty() ? "no kernel '" : "more than one kernel '") +
                std::string(name) + "'" + (list.empty() ? "; the file has none" : "; it has:" + list));
  }
  return decoded(index);
}

const Kernel& Image::decoded(uint32_t function) {
  std::lock_guard lock(state_->mutex);
  auto& decoded = state_->kernels[function];
  if (!decoded) {
    auto fresh = std::make_unique<Decoded>();
    fresh->observed = decode(*module_, function, state_->symbols, true);
    decoded = std::move(fresh);
  }
  return decoded->observed;
}

namespace {

bool is_named(const ptx::Variable& variable, std::string_view name) {
  if (variable.name == name) return true;
  if (variable.reference == ptx::Reference::none || !name.starts_with("::")) return false;
  // What has internal linkage is in a space that its file alone has.
  std::string own = variable.display_name;
  own = own.starts_with("_INTERNAL_") ? own.substr(std::min(own.find("::"), own.size())) : "::" + own;
  constexpr std::string_view shown = "(anonymous namespace)", registered = "_NV_ANON_NAMESPACE";
  for (size_t at = 0; (at = own.find(shown, at)) != std::string::npos; at += registered.size())
    own.replace(at, shown.size(), registered);
  return own == name;
}

}  // namespace

uint64_t Image::variable(std::string_view name, uint64_t* size) const {
  for (size_t i = 0; i < module_->variables.size(); ++i) {
    if (!is_named(module_->variables[i], name)) continue;
    if (size != nullptr) *size = module_->variables[i].size;
    return state_->symbols.variables[i];
  }
  return 0;
}

/// A grid that has begun.
struct Image::Running {
  Running(Image& image, const Kernel& kernel, const LaunchConfig& config, DeviceQueue& queue);
  ~Running() { unplace(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  Execution::State go_on(Clock::time_point until);
  LaunchResult finish();
  /// Takes back what the grid has in the device's memory.
  void unplace();

  Image& image;
  const Kernel& kernel;
  DeviceQueue& queue;
  LaunchConfig run;
  uint64_t params = 0;  ///< device memory that holds the parameters, if the kernel takes their address
  Decoded* decoded = nullptr;
  const Kernel* runs = nullptr;
  std::vector<std::unique_ptr<BlockState>> states;
  std::vector<LaunchWorker> workers;
  std::optional<GridRaces> races;
  std::optional<Grid> grid;
};

Image::Running::Running(Image& i, const Kernel& k, const LaunchConfig& config, DeviceQueue& q)
    : image(i), kernel(k), queue(q), run(config), runs(&k) {
  settle(kernel, run);
  check(kernel, run);
  const bool observed = static_cast<bool>(config.observer);
  {
    std::lock_guard lock(image.state_->mutex);
    for (auto& [index, d] : image.state_->kernels)
      if (&d->observed == &kernel) {
        decoded = d.get();
        for (Decoded::Variant& v : d->others) {
          if (v.is_observed != observed || v.checking != config.checks.checking()) continue;
          if (!v.kernel)
            v.kernel = std::make_unique<Kernel>(
                decode(*image.module_, index, image.state_->symbols, v.is_observed, v.checking));
          runs = v.kernel.get();
        }
      }
  }
  if (decoded == nullptr) throw Error("kernel '" + kernel.display_name + "' is not of this image");

  // Parameters whose address the kernel takes have to be memory it may read, aligned as a GPU has them.
  Memory& memory = image.state_->memory;
  if (config.checks.init)
    memory.follows_writes = true;
  else if (memory.follows_writes)
    memory.wrote_anything();
  const std::byte* values = run.params.data();
  if (kernel.params_address != no_operand) {
    const size_t before = bytes_before_params(kernel);
    params = memory.allocate(before + run.params.size(), "kernel parameters", 256, Memory::Owner::internal);
    const uint64_t first = params + before;
    std::copy(run.params.begin(), run.params.end(), reinterpret_cast<std::byte*>(first));
    memory.set_read_only(params, true);
    memory.set_constant(params);
    values = reinterpret_cast<const std::byte*>(first);
  }

  if (config.cooperative)
    run.grid_barrier = memory.allocate(64, "barrier of the grid", 256, Memory::Owner::internal);

  {
    std::lock_guard lock(decoded->mutex);
    auto& pool = decoded->pool;
    if (pool.block == config.block && pool.cluster == run.cluster &&
        pool.explicit_cluster == run.explicit_cluster && pool.dynamic_shared == config.dynamic_shared &&
        pool.stack_bytes == config.stack_bytes && pool.stack_limit == config.stack_limit &&
        pool.observed == observed && pool.checks == config.checks)
      states.swap(pool.states);
  }

  const uint64_t clusters = run.grid.count() / run.cluster.count();
  uint32_t threads = config.threads != 0 ? config.threads : std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<uint32_t>(std::min<uint64_t>(threads, clusters));
  workers.resize(threads);
  if (config.checks.global) {
    races.emplace(*runs, run);
    for (LaunchWorker& worker : workers) worker.grid_races = &*races;
  }
  grid.emplace(*runs, run, values, memory, states);
}

Image::Execution::State Image::Running::go_on(Clock::time_point until) {
  // Another look at what stalled blocks wait for wakes no other thread.
  const auto threads = grid->stalled() ? 1u : static_cast<uint32_t>(workers.size());
  grid->begin(until);
  on_host_threads(threads, [&](uint32_t i) { grid->work(i, workers[i], queue); });
  return grid->finished()  ? Execution::State::finished
         : grid->stalled() ? Execution::State::stalled
                           : Execution::State::paused;
}

void Image::Running::unplace() {
  Memory& memory = image.state_->memory;
  if (params != 0) memory.release(params);
  params = 0;
  if (run.grid_barrier != 0) memory.release(run.grid_barrier);
  run.grid_barrier = 0;
}

LaunchResult Image::Running::finish() {
  const LaunchConfig& config = run;
  const bool observed = static_cast<bool>(config.observer);
  if (config.progress) config.progress(config.grid.count(), config.grid.count());
  unplace();
  {
    std::lock_guard lock(decoded->mutex);
    if (states.size() > 64) states.resize(64);
    decoded->pool = {config.block,
                     config.cluster,
                     config.explicit_cluster,
                     config.dynamic_shared,
                     config.stack_bytes,
                     config.stack_limit,
                     observed,
                     config.checks,
                     std::move(states)};
  }

  LaunchResult result;
  for (WorkerState& w : workers) {
    result.warp_instructions += w.instructions;
    result.lane_instructions += w.lane_instructions;
    result.shuffles += w.shuffles;
    for (Finding& f : w.findings) {
      auto known = std::find_if(result.findings.begin(), result.findings.end(),
                                [&](const Finding& other) { return other.same_defect(f); });
      if (known == result.findings.end()) {
        result.findings.push_back(std::move(f));
        continue;
      }
      const uint64_t count = known->count + f.count;
      if (f.place() < known->place()) *known = std::move(f);
      known->count = count;
    }
  }
  std::sort(result.findings.begin(), result.findings.end(), [](const Finding& a, const Finding& b) {
    return std::tuple(a.severity, a.instruction, a.kind, a.other_instruction) <
           std::tuple(b.severity, b.instruction, b.kind, b.other_instruction);
  });
  result.failed = std::any_of(result.findings.begin(), result.findings.end(),
                              [](const Finding& f) { return f.ends_kernel(); });
  return result;
}

/// A launch from the host with all that comes of it.
struct Image::Execution::Parts {
  Parts(Image& i, const Kernel& kernel, const LaunchConfig& c)
      : image(i),
        config(c),
        queue(image.state_->memory,
              [this](uint64_t address, const DeviceWork& shape) { return find(address, shape); }),
        running(std::make_unique<Running>(image, kernel, config, queue)) {}

  Image& image;
  LaunchConfig config;
  std::mutex mutex;
  std::string refused;  ///< a kernel that the engine cannot run: nothing the launching kernel could be told
  DeviceQueue queue;
  std::unique_ptr<Running> running;
  bool is_child = false;
  LaunchResult result;
  /// The next to run is at the end. A grid's own launches go before what was to follow it; those of its tail
  /// stream come after all others.
  std::vector<DeviceWork> waiting;

  const Kernel* find(uint64_t address, const DeviceWork& shape) {
    const auto& functions = image.state_->symbols.functions;
    const auto found = std::find(functions.begin(), functions.end(), address);
    const auto index = static_cast<uint32_t>(found - functions.begin());
    if (found == functions.end() || !image.module_->functions[index].is_entry) return nullptr;
    const Kernel* child = nullptr;
    try {
      child = &image.decoded(index);
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      if (refused.empty()) refused = error.what();
      throw;
    }
    LaunchConfig settled = child_config(config, shape, child->param_bytes);
    settle(*child, settled);
    check(*child, settled);
    return child;
  }

  /// The grid that ran has ended; begins the next one, if there is any.
  void next() {
    LaunchResult ended = running->finish();
    if (is_child) {
      if (config.end_child) config.end_child(running->kernel, running->run, ended);
      result.failed = ended.failed;
    } else {
      result = std::move(ended);
    }
    running.reset();
    std::vector<DeviceWork> fresh = queue.take();
    std::stable_partition(fresh.begin(), fresh.end(), [](const DeviceWork& work) { return !work.tail; });
    std::move(fresh.rbegin(), fresh.rend(), std::back_inserter(waiting));
    while (running == nullptr && !waiting.empty() && !result.failed) {
      DeviceWork work = std::move(waiting.back());
      waiting.pop_back();
      if (work.kind != DeviceWork::Kind::launch) {
        perform(work, image.state_->memory);
        continue;
      }
      LaunchConfig child = child_config(config, work, 0);
      child.params = std::move(work.params);
      if (config.begin_child) config.begin_child(*work.kernel, child);
      queue.begin(work.generation);
      is_child = true;
      running = std::make_unique<Running>(image, *work.kernel, child, queue);
    }
    if (running == nullptr && !refused.empty()) throw Error(refused);
  }
};

Image::Execution::Execution(Image& image, const Kernel& kernel, const LaunchConfig& config)
    : parts_(std::make_unique<Parts>(image, kernel, config)) {}

Image::Execution::~Execution() = default;

Image::Execution::State Image::Execution::run(Clock::time_point until) {
  while (parts_->running != nullptr) {
    const State state = parts_->running->go_on(until);
    if (state != State::finished) return state;
    parts_->next();
  }
  return State::finished;
}

void Image::Execution::give_up() { parts_->running->grid->give_up(parts_->running->workers[0]); }

uint64_t Image::Execution::writes() const {
  uint64_t sum = 0;
  if (parts_->running != nullptr)
    for (const LaunchWorker& worker : parts_->running->workers) sum += worker.global_writes;
  return sum;
}

LaunchResult Image::Execution::result() { return std::move(parts_->result); }

LaunchResult Image::launch(const Kernel& kernel, const LaunchConfig& config) {
  Execution execution(*this, kernel, config);
  while (execution.run() == Execution::State::stalled) execution.give_up();
  return execution.result();
}

}  // namespace lanescope::exec
