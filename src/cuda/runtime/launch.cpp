// Launches: the configuration stack of `kernel<<<…>>>(…)`, the checks that CUDA makes before a kernel starts,
// running it, and what becomes of the defects that it shows.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <optional>
#include <tuple>

#include "base/per_thread.hpp"
#include "cuda/runtime/backlog.hpp"
#include "cuda/runtime/capture.hpp"
#include "cuda/runtime/launch.hpp"
#include "cuda/runtime/printed.hpp"
#include "cuda/runtime/recorder.hpp"
#include "cuda/runtime/runtime.hpp"
#include "replay/describe.hpp"
#include "replay/recording.hpp"
#include "report/report.hpp"
#include "report/words.hpp"

namespace lanescope::cuda {
namespace {

using Clock = std::chrono::steady_clock;

/// After this long a launch is left to a thread of its own: it may be waiting for what the host does next, in
/// a loop that cannot be told from work. (One that can is left at once.)
constexpr std::chrono::seconds program_patience{2};

/// A launch that is recorded must end before the program goes on, or what it reads cannot be told from what
/// changes meanwhile. It may go on for as long as it writes something in this time.
constexpr std::chrono::seconds recording_patience{10};

/// Together; more would be likely to fill the disk.
constexpr uint64_t most_recorded_bytes = uint64_t{16} << 30;

/// A launch shorter than this runs on the calling thread alone the next time: waking others would cost more.
constexpr int64_t short_launch_ns = 60'000;

struct Configuration {
  Extent3 grid, block;
  size_t dynamic_shared;
  Stream* stream;
};

/// An argument of a launch may itself launch, so this is a stack.
std::vector<Configuration>& configurations() { return per_thread<std::vector<Configuration>>(); }

Status status_of(exec::Finding::Kind kind) {
  using Kind = exec::Finding::Kind;
  switch (kind) {
    case Kind::out_of_bounds:
    case Kind::unknown_pointer:
    case Kind::write_to_constant: return Status::illegal_address;
    case Kind::misaligned: return Status::misaligned_address;
    case Kind::deadlock:
      return Status::launch_timeout;  // on a GPU the program would hang, or be ended by the watchdog
    case Kind::bad_call: return Status::invalid_pc;
    case Kind::assertion: return Status::assert_triggered;
    default: break;
  }
  return Status::launch_failure;
}

exec::Dim3 dim(const Extent3& e) { return {e.x, e.y, e.z}; }

int64_t nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

/// The defects that ended a launch, each as one line on stderr, and what CUDA says of the first one; nothing
/// when it went well. What checks found is for the report.
std::optional<Status> show(const std::vector<exec::Finding>& findings, const Function& function,
                           const exec::Kernel& kernel, const exec::LaunchConfig& config) {
  exec::LaunchResult result;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(result.findings),
               [](const exec::Finding& f) { return f.ends_kernel(); });
  if (result.findings.empty()) return std::nullopt;
  advise::Sources sources("");
  const report::Launch launch = report::make_launch(model::Arch(), *function.binary->module, kernel, config,
                                                    result, std::nullopt, sources);
  for (const report::Finding& f : launch.findings) {
    say(fmt::format("error: {}: {}{}{}\n  at {}:{}, block {}, thread {}{}", report::short_name(f.kernel),
                    f.kind, f.message.empty() ? "" : ": ", f.message, f.file, f.line, report::str(f.block),
                    report::str(f.thread), f.count > 1 ? fmt::format(" ({} times in all)", f.count) : ""));
  }
  return status_of(result.findings.front().kind);
}

}  // namespace

uint32_t shared_limit(const Runtime& runtime, const Function& function, const exec::Kernel& kernel,
                      int mode) {
  const auto fixed = static_cast<uint32_t>(runtime.device.attribute(attribute_max_shared_per_block));
  // More than the 48 KB that every kernel may have, or less, is for those that ask: dynamic memory, by
  // cudaFuncSetAttribute. A kernel of tiles need not.
  if (kernel.is_of_tiles) return static_cast<uint32_t>(runtime.device.shared_optin());
  if (mode == LaunchAttribute::shared_by_function) mode = function.shared_memory_mode;
  if (mode == LaunchAttribute::portable_shared) return fixed;
  if (mode != LaunchAttribute::shared_by_function)
    return static_cast<uint32_t>(runtime.device.shared_optin());
  return function.dynamic_shared_limit ? *function.dynamic_shared_limit + kernel.static_shared : fixed;
}

namespace {

/// Why CUDA does not launch a kernel: what the program is told of it, and the cause, which CUDA keeps to
/// itself.
struct Refusal {
  Status status = Status::invalid_value;
  std::string why;
};

std::string str(const exec::Dim3& dim) { return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z); }

}  // namespace

std::optional<std::string> why_no_clusters(const exec::Kernel& kernel, const exec::Dim3& grid,
                                           const exec::Dim3& cluster, bool is_portable) {
  const uint64_t blocks = is_portable ? 8 : 16;
  if (cluster.count() == 0 || cluster.count() > blocks)
    return fmt::format("its cluster is {}, {} blocks; the most is {}", str(cluster), cluster.count(), blocks);
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    return fmt::format("its grid is {}, no whole number of clusters of {}", str(grid), str(cluster));
  const exec::Dim3 compiled = exec::compiled_cluster(kernel);
  if (kernel.required_cluster[0] != 0 && cluster != compiled)
    return fmt::format("its cluster is {}; the kernel was compiled for {}", str(cluster), str(compiled));
  return std::nullopt;
}

namespace {

std::optional<Refusal> refusal_of(Runtime& runtime, const Function& function, const exec::Kernel& kernel,
                                  const KernelWork& work) {
  const exec::Dim3 &grid = work.grid, &block = work.block;
  const Device& device = runtime.device;
  const auto invalid = [](std::string why) { return Refusal{Status::invalid_value, std::move(why)}; };
  const auto most = [&](int attribute) { return static_cast<uint32_t>(device.attribute(attribute)); };
  const auto is_within = [&](const exec::Dim3& dim, int attribute_of_x) {
    const uint32_t sides[] = {dim.x, dim.y, dim.z};
    for (int i = 0; i < 3; ++i)
      if (sides[i] == 0 || sides[i] > most(attribute_of_x + i)) return false;
    return true;
  };
  for (const auto& [what, dim, attribute_of_x] : {std::tuple{"block", block, 2}, std::tuple{"grid", grid, 5}})
    if (!is_within(dim, attribute_of_x))
      return invalid(fmt::format("its {0} is {1}; sides of a {0} are 1 to {2}, {3} and {4}", what, str(dim),
                                 most(attribute_of_x), most(attribute_of_x + 1), most(attribute_of_x + 2)));
  if (const uint32_t threads = most(attribute_max_threads_per_block); block.count() > threads)
    return invalid(
        fmt::format("its block is {}, {} threads; the most is {}", str(block), block.count(), threads));
  const uint64_t bound = uint64_t{std::max(kernel.max_threads[0], 1u)} * std::max(kernel.max_threads[1], 1u) *
                         std::max(kernel.max_threads[2], 1u);
  if (kernel.max_threads[0] != 0 && block.count() > bound)
    return invalid(fmt::format("its block is {}, {} threads; its __launch_bounds__ allow {}", str(block),
                               block.count(), bound));
  const auto& required = kernel.required_threads;
  if (const exec::Dim3 only{required[0], std::max(required[1], 1u), std::max(required[2], 1u)};
      required[0] != 0 && block != only)
    return invalid(fmt::format("its block is {}; the kernel was compiled for {}", str(block), str(only)));
  // The kernel's own attributes may ask for clusters, too, and its code.
  const bool is_compiled = kernel.required_cluster[0] != 0;
  const exec::Dim3 compiled = exec::compiled_cluster(kernel),
                   cluster = is_compiled && work.cluster == exec::Dim3{0, 0, 0} ? compiled : work.cluster;
  if (cluster != exec::Dim3{0, 0, 0}) {
    const bool by_function = work.cluster_mode == LaunchAttribute::cluster_by_function;
    const bool is_any =
        by_function ? function.non_portable_cluster : work.cluster_mode == LaunchAttribute::any_cluster;
    if (auto why = why_no_clusters(kernel, grid, cluster, !is_any))
      return Refusal{Status::invalid_cluster_size, std::move(*why)};
  }
  const uint64_t shared = uint64_t{kernel.static_shared} + work.dynamic_shared;
  const uint32_t limit = shared_limit(runtime, function, kernel, work.shared_memory_mode);
  // As an H100 tells it: of a cooperative grid, as long as the program has set no limit of its own, that no
  // block is resident.
  if (shared > limit)
    return Refusal{
        work.cooperative && !function.dynamic_shared_limit ? Status::cooperative_launch_too_large
                                                           : Status::invalid_value,
        fmt::format("its block needs {} bytes of shared memory; {} are allowed{}", shared, limit,
                    shared <= device.shared_optin()
                        ? ", more by cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …)"
                        : fmt::format(" and the device has {}", device.shared_optin()))};
  if (work.cooperative) {
    const auto resident = static_cast<uint64_t>(device.resident_blocks(static_cast<uint32_t>(block.count()),
                                                                       shared, runtime.registers(function))) *
                          most(attribute_multiprocessors);
    if (grid.count() > resident)
      return Refusal{
          Status::cooperative_launch_too_large,
          fmt::format("its grid has {} blocks, which wait for each other; {} fit on the device at once",
                      grid.count(), resident)};
  }
  return std::nullopt;
}

/// Copies the arguments to where the kernel finds them.
Status copy_arguments(const exec::Kernel& kernel, const Arguments& arguments,
                      std::vector<std::byte>& params) {
  params.resize(kernel.param_bytes);
  if (arguments.extra != nullptr) {
    const void* buffer = nullptr;
    size_t bytes = 0;
    enum Key : uintptr_t { end, buffer_pointer, buffer_size };
    for (void** entry = arguments.extra; reinterpret_cast<uintptr_t>(*entry) != end; entry += 2) {
      const auto key = reinterpret_cast<uintptr_t>(entry[0]);
      if (key == buffer_pointer)
        buffer = entry[1];
      else if (key == buffer_size && entry[1] != nullptr)
        bytes = *static_cast<const size_t*>(entry[1]);
      else
        return Status::invalid_value;
    }
    // As an H100's and an H200's driver does it: both have to be there, but a buffer may end before the last
    // parameters do.
    const bool is_whole = kernel.params.empty() || (buffer != nullptr && bytes != 0);
    if (arguments.each != nullptr || !is_whole) return Status::invalid_value;
    if (bytes > params.size()) return Status::launch_out_of_resources;
    std::copy_n(static_cast<const std::byte*>(buffer), bytes, params.data());
    return Status::success;
  }
  if (!kernel.params.empty() && arguments.each == nullptr) return Status::invalid_value;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (arguments.each[i] == nullptr) return Status::invalid_value;
    std::memcpy(params.data() + kernel.params[i].offset, arguments.each[i], kernel.params[i].size);
  }
  return Status::success;
}

}  // namespace

Status make_work(Runtime& runtime, const void* handle, Extent3 grid, Extent3 block,
                 const Arguments& arguments, size_t shared, KernelWork& work) {
  Function* function = runtime.function(handle);
  if (function == nullptr) return Status::invalid_resource_handle;  // as an H200's runtime says
  Status status = runtime.prepare(*function);
  if (status != Status::success) return status;
  const exec::Kernel& kernel = *function->kernel.load(std::memory_order_acquire);
  if (function->is_left_out) {
    runtime.refuse(fmt::format("{} is not launched: it is empty there ({})", kernel.display_name,
                               function->binary->stand_in));
    return Status::no_kernel_image_for_device;
  }
  if (shared > UINT32_MAX) return Status::invalid_value;
  work.function = function;
  if (work.cluster == exec::Dim3{0, 0, 0}) work.cluster = function->cluster;
  work.grid = dim(grid);
  work.block = dim(block);
  // Launched by tiles; the compiler has decided how many threads do one.
  if (kernel.is_of_tiles && work.block == exec::Dim3{1, 1, 1})
    work.block = {kernel.required_threads[0], std::max(kernel.required_threads[1], 1u),
                  std::max(kernel.required_threads[2], 1u)};
  if (kernel.blocks_are_clusters) {
    const exec::Dim3 size = exec::compiled_cluster(kernel);
    const auto times = [](uint32_t clusters, uint32_t blocks) {
      return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{clusters} * blocks, UINT32_MAX));
    };
    work.grid = {times(work.grid.x, size.x), times(work.grid.y, size.y), times(work.grid.z, size.z)};
  }
  work.dynamic_shared = static_cast<uint32_t>(shared);
  status = copy_arguments(kernel, arguments, work.params);
  if (status != Status::success) return status;
  const std::optional<Refusal> refusal = refusal_of(runtime, *function, kernel, work);
  if (!refusal) return Status::success;
  say_once(fmt::format("{} is not launched: {}",
                       kernel.display_name.empty() ? kernel.name : kernel.display_name, refusal->why));
  return refusal->status;
}

Function& Runtime::function_of(Binary& binary, const exec::Kernel& kernel) {
  const auto find = [&]() -> Function* {
    const std::shared_lock lock(mutex);
    for (const auto& function : binary.functions)
      if (function->name == kernel.name) return function.get();
    return nullptr;
  };
  Function* function = find();
  if (function == nullptr) {
    register_function(&binary, nullptr, kernel.name.c_str());
    function = find();
  }
  prepare(*function);
  return *function;
}

namespace {

/// What a GPU needs to run this launch again. All that the program has allocated is part of it: nobody knows
/// what of that a kernel will reach.
replay::Recording recording_of(Runtime& runtime, const Function& function, const exec::Kernel& kernel,
                               const exec::LaunchConfig& config) {
  Binary& binary = *function.binary;
  replay::Recording recording = replay::describe(*binary.image, kernel, config, runtime.texts(binary));
  std::vector<replay::Foreign> foreign;
  const std::shared_lock lock(runtime.mutex);
  for (const auto& [base, block] : runtime.blocks) {
    const auto allocation = runtime.memory.find(base);
    const std::string name = allocation ? allocation->name : "memory";
    if (block.registered) {
      foreign.push_back({name, base, block.size});
      continue;
    }
    replay::Piece piece;
    piece.name = name;
    piece.address = base;
    piece.size = block.size;
    runtime.recorded_bytes += block.size;
    recording.allocations.push_back(std::move(piece));
    if (block.type == MemoryType::device || !holds_address(config.params, block)) continue;
    recording.notes.push_back(
        fmt::format("{} is memory of the GPU here: the program would wait longer for it", name));
  }
  if (recording.obstacle.empty() && runtime.recorded_bytes > most_recorded_bytes)
    recording.obstacle = fmt::format(
        "the recordings of this program take more than {} bytes already; choose launches with --kernel",
        most_recorded_bytes);
  replay::look_for_addresses(recording, foreign);
  return recording;
}

class Launch final : public UnfinishedLaunch {
 public:
  /// `program_waits`: until the launch has ended.
  Launch(Runtime& runtime, KernelWork work, bool program_waits)
      : runtime_(runtime),
        work_(std::move(work)),
        program_waits_(program_waits),
        function_(*work_.function),
        kernel_(*function_.kernel.load(std::memory_order_acquire)) {}

  State run(Clock::time_point until) override {
    const std::lock_guard lock(runtime_.launches);
    try {
      if (!execution_) {
        if (runtime_.failure != Status::success) {
          status_ = runtime_.failure;
          return State::finished;
        }
        begin();
      }
      const auto start = Clock::now();
      const State state = execution_->run(until);
      ns_ += nanoseconds_since(start);
      if (state == State::finished) finish(execution_->result());
      return state;
    } catch (const Error& error) {
      return fail(error.what());
    } catch (const std::bad_alloc&) {
      execution_.reset();  // so that there is some to say so
      return fail(name() + ": the host has no memory left to run it" +
                  (config_.checks.any() ? "; without --check it takes less" : ""));
    }
  }
  void give_up() override {
    const std::lock_guard lock(runtime_.launches);
    execution_->give_up();
  }
  /// The program goes on before the launch has ended.
  void leave() {
    const std::lock_guard lock(runtime_.launches);
    finish_recording(meanwhile);
  }
  [[nodiscard]] uint64_t writes() const override { return execution_ ? execution_->writes() : 0; }
  [[nodiscard]] std::string name() const override {
    return kernel_.display_name.empty() ? kernel_.name : kernel_.display_name;
  }
  [[nodiscard]] Status status() const { return status_; }

 private:
  State fail(const std::string& why) {
    finish_recording(why);
    if (entry_ != nullptr) runtime_.recorder->end(*entry_, config_, {}, counted_, 0);
    runtime_.refuse(why);
    status_ = Status::launch_failure;
    return State::finished;
  }

  static constexpr const char* meanwhile =
      "the program went on before it had ended, and may have changed memory";
  Runtime& runtime_;
  KernelWork work_;
  bool program_waits_;
  Function& function_;
  const exec::Kernel& kernel_;
  exec::LaunchConfig config_;
  Recorder::Entry* entry_ = nullptr;
  bool counted_ = false;
  /// A grid that kernels launch themselves: one after another, each with a place in the report of its own.
  struct {
    Function* function = nullptr;
    Recorder::Entry* entry = nullptr;
    bool counted = false;
    Clock::time_point start;
  } child_;
  std::optional<exec::Image::Execution> execution_;
  int64_t ns_ = 0;
  Status status_ = Status::success;
  std::optional<replay::Capture> capture_;

  [[nodiscard]] uint32_t threads_for(const Recorder::Entry& entry) const {
    const bool is_short = entry.launches != 0 && entry.last_ns < short_launch_ns;
    return is_short ? 1 : runtime_.options.threads;
  }

  /// What the program has asked for, or a GPU gives without that; of it the engine has more at least.
  static void set_stack(exec::LaunchConfig& config) {
    config.stack_limit = static_cast<uint32_t>(stack_limit());
    config.stack_bytes = std::max(exec::LaunchConfig{}.stack_bytes, config.stack_limit);
  }

  void begin() {
    Recorder& recorder = *runtime_.recorder;
    config_.grid = work_.grid;
    config_.block = work_.block;
    config_.dynamic_shared = work_.dynamic_shared;
    config_.poison_shared = runtime_.options.poison_shared;
    set_stack(config_);
    runtime_.memory.heap_limit = heap_limit();
    config_.params = std::move(work_.params);
    config_.cooperative = work_.cooperative;
    config_.cluster = work_.cluster;
    config_.shared_limit =
        std::max(runtime_.device.shared_optin(), shared_limit(runtime_, function_, kernel_));
    entry_ = &recorder.entry(function_, kernel_, config_);
    config_.threads = threads_for(*entry_);
    counted_ = recorder.begin(*entry_, kernel_, config_);
    if (counted_ && !runtime_.options.recordings.empty()) {
      replay::Recording recording = recording_of(runtime_, function_, kernel_, config_);
      if (!program_waits_) recording.obstacle = meanwhile;
      capture_.emplace(recorder.recording(*entry_), std::move(recording));
    }
    config_.begin_child = [this](const exec::Kernel& k, exec::LaunchConfig& c) {
      child_.function = &runtime_.function_of(*function_.binary, k);
      child_.entry = &runtime_.recorder->entry(*child_.function, k, c);
      c.threads = threads_for(*child_.entry);
      set_stack(c);
      child_.counted = runtime_.recorder->begin(*child_.entry, k, c);
      child_.start = Clock::now();
    };
    config_.end_child = [this](const exec::Kernel& k, const exec::LaunchConfig& c,
                               const exec::LaunchResult& ended) {
      runtime_.recorder->end(*child_.entry, c, ended, child_.counted, nanoseconds_since(child_.start));
      if (const auto status = show(ended.findings, *child_.function, k, c)) runtime_.failure = *status;
    };
    printed().flush();
    config_.print = [](const std::string& text) { printed().add(text); };
    execution_.emplace(*function_.binary->image, kernel_, config_);
  }

  void finish_recording(const std::string& obstacle) {
    if (capture_) capture_->finish(obstacle);
    capture_.reset();
  }

  void finish(const exec::LaunchResult& result) {
    finish_recording(result.failed ? "it failed on the engine; the messages above say where" : "");
    runtime_.recorder->end(*entry_, config_, result, counted_, ns_);
    // The launch has succeeded; what went wrong in it is told by the calls that follow, as by a GPU that runs
    // behind.
    if (const auto status = show(result.findings, function_, kernel_, config_)) runtime_.failure = *status;
  }
};

}  // namespace

std::unique_ptr<UnfinishedLaunch> make_launch(Runtime& runtime, KernelWork work) {
  return std::make_unique<Launch>(runtime, std::move(work), false);
}

Status Runtime::run(const KernelWork& work, const Stream& stream) {
  if (failure != Status::success) return failure;
  recorder->launched(stream, work.params);
  auto launch = std::make_unique<Launch>(*this, work, true);
  using State = UnfinishedLaunch::State;
  const bool records = !options.recordings.empty();
  State state = launch->run(Clock::now() + (records ? recording_patience : program_patience));
  for (uint64_t written = 0; records && state == State::paused && launch->writes() != written;) {
    written = launch->writes();
    state = launch->run(Clock::now() + recording_patience);
  }
  if (state == State::finished) return launch->status();
  launch->leave();
  backlogs->defer(stream, {}, std::move(launch));
  return Status::success;
}

namespace {

/// What an H100's runtime refuses of them.
Status check(const Runtime& runtime, const LaunchAttribute& attribute) {
  constexpr int known = 19;
  const auto up_to = [&](int most) {
    return attribute.value.number >= 0 && attribute.value.number <= most ? Status::success
                                                                         : Status::invalid_value;
  };
  switch (attribute.id) {
    case LaunchAttribute::synchronization_policy:
      return LaunchAttribute::is_policy(attribute.value.number) ? Status::success : Status::invalid_value;
    case LaunchAttribute::programmatic_event:
    case LaunchAttribute::completion_event:
      return runtime.is_event(attribute.value.event) ? Status::success : Status::invalid_resource_handle;
    case LaunchAttribute::updatable_on_device: return Status::not_supported;
    case LaunchAttribute::cluster_mode: return up_to(LaunchAttribute::any_cluster);
    case LaunchAttribute::shared_memory_mode: return up_to(LaunchAttribute::preferably_oversized_shared);
    default: return attribute.id < known ? Status::success : Status::invalid_value;
  }
}

}  // namespace

Status launch(const void* handle, const LaunchDescription& description, const Arguments& arguments) {
  return with_stream(description.stream, OnCaptured::is_recorded, [&](Runtime& runtime, Stream& stream) {
    KernelWork work;
    if (description.attributes == nullptr && description.attribute_count != 0) return Status::invalid_value;
    for (unsigned i = 0; i < description.attribute_count; ++i) {
      const LaunchAttribute& attribute = description.attributes[i];
      if (const Status status = check(runtime, attribute); status != Status::success) return status;
      if (attribute.id == LaunchAttribute::cooperative) work.cooperative = attribute.value.number != 0;
      if (attribute.id == LaunchAttribute::cluster_mode) work.cluster_mode = attribute.value.number;
      if (attribute.id == LaunchAttribute::shared_memory_mode)
        work.shared_memory_mode = attribute.value.number;
      if (attribute.id != LaunchAttribute::cluster_dimension) continue;
      work.cluster = dim(attribute.value.dimension);
    }
    const Status status = make_work(runtime, handle, description.grid, description.block, arguments,
                                    description.dynamic_shared, work);
    if (status != Status::success) return spoil_if_failed(stream, status);
    return runtime.submit(description.stream, std::move(work));
  });
}

}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API unsigned __cudaPushCallConfiguration(Extent3 grid, Extent3 block, size_t shared,
                                                        Stream* stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}

LANESCOPE_CUDA_API Status __cudaPopCallConfiguration(Extent3* grid, Extent3* block, size_t* shared,
                                                     void* stream) {
  auto& stack = configurations();
  if (stack.empty()) return remember(Status::missing_configuration);
  *grid = stack.back().grid;
  *block = stack.back().block;
  *shared = stack.back().dynamic_shared;
  *static_cast<Stream**>(stream) = stack.back().stream;
  stack.pop_back();
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaLaunchKernel(const void* function, Extent3 grid, Extent3 block,
                                           void** arguments, size_t shared, Stream* stream) {
  return launch(function, {grid, block, shared, stream, nullptr, 0}, {arguments});
}

LANESCOPE_CUDA_API Status __cudaLaunchKernel(const void* function, Extent3 grid, Extent3 block,
                                             void** arguments, size_t shared, Stream* stream) {
  return cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}

LANESCOPE_CUDA_API Status cudaLaunchCooperativeKernel(const void* function, Extent3 grid, Extent3 block,
                                                      void** arguments, size_t shared, Stream* stream) {
  LaunchAttribute cooperative{};
  cooperative.id = LaunchAttribute::cooperative;
  cooperative.value.number = 1;
  return launch(function, {grid, block, shared, stream, &cooperative, 1}, {arguments});
}

LANESCOPE_CUDA_API Status cudaLaunchKernelExC(const LaunchDescription* description, const void* function,
                                              void** arguments) {
  return description == nullptr ? remember(Status::invalid_value)
                                : launch(function, *description, {arguments});
}
