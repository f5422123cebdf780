// See launch.hpp: from a launch to its results.
#include "exec/launch.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "exec/device_queue.hpp"
#include "exec/grid.hpp"
#include "exec/grid_races.hpp"
#include "exec/host_threads.hpp"
#include "exec/image_state.hpp"

namespace lanescope::exec {

namespace {

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
  // Where the kernel asks for the barrier that it does not have, cooperative groups trap.
  if (!config.cooperative && std::ranges::any_of(kernel.specials, [](const Kernel::Special& special) {
        return special.reg == ptx::SpecialRegister::envreg1;
      }))
    for (Finding& f : result.findings)
      if (f.kind == Finding::Kind::trap)
        f.message +=
            "; it asks for the grid's barrier (cooperative groups: this_grid().sync()), which only "
            "cudaLaunchCooperativeKernel gives it";
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
