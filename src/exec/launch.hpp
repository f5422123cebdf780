// The engine's front: a module loaded onto a device, kernels launched on it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "exec/checks.hpp"
#include "exec/memory.hpp"
#include "exec/observer.hpp"
#include "exec/program.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {

class DeviceQueue;
struct LaunchResult;

struct LaunchConfig {
  Dim3 grid, block;
  Dim3 cluster{0, 0, 0};          ///< blocks of a cluster; 0: as the kernel was compiled, or one
  bool explicit_cluster = false;  ///< somebody asked for clusters; set by launch()
  uint32_t dynamic_shared = 0;    ///< bytes
  /// What observers are told of variables by their index, in the order of their offsets; empty:
  /// Kernel::shared.
  std::vector<SharedVariable> shared;
  uint32_t stack_bytes = 16384;  ///< of a thread, for functions that call themselves, and alloca
  /// Bytes of it that a GPU's thread has. Frames there are at least a function's local variables and where
  /// it returns to (measured on an H100: 16 bytes without variables, 424 with 256 bytes of them).
  uint32_t stack_limit = UINT32_MAX;
  std::vector<std::byte> params;        ///< Kernel::param_bytes bytes, each parameter at its offset
  uint32_t threads = 0;                 ///< host threads; 0 = all cores
  uint32_t shared_limit = 232448;       ///< most shared memory a block may have (model::limits_of); of sm_90
  uint32_t resident_blocks = 1u << 16;  ///< most blocks kept alive at once when blocks wait for each other
  /// For so long a block may look at mbarriers in vain that nothing but a clock can make its threads leave.
  std::chrono::milliseconds patience{10000};
  /// One observer for each host thread (made on first use), or none: then nothing is counted and the plain
  /// loop runs.
  std::function<Observer*(uint32_t host_thread)> observer;
  /// Observers are told of every n-th block alone, beginning with the first: a sample of large grids.
  uint64_t observe_every = 1;
  /// What to look for in all blocks; what is found is among the findings.
  Checks checks;
  /// Shared memory holds arbitrary words when a block begins, the same in every run; else zeros. Results that
  /// depend on what no thread has written become others.
  bool poison_shared = false;
  /// Launched as a cooperative grid: its blocks may wait for each other through the grid's barrier.
  bool cooperative = false;
  uint64_t grid_barrier = 0;  ///< device address of that barrier; set by launch()
  /// Takes the text of each printf of a kernel, from one host thread at a time; without it, it goes to
  /// stdout.
  std::function<void(const std::string& text)> print;
  /// Called now and then with the number of finished blocks, from one host thread at a time.
  std::function<void(uint64_t done, uint64_t total)> progress;
  /// Called before and after each grid that a kernel launches itself (dynamic parallelism), on the thread
  /// that called launch(). `begin` may change what is not part of the launch: threads, and an observer and
  /// checks, since none are taken over from the launching grid. Without it they run uncounted. Of grids that
  /// kernels launch, `failed` alone becomes part of the result of launch().
  std::function<void(const Kernel&, LaunchConfig&)> begin_child;
  std::function<void(const Kernel&, const LaunchConfig&, const LaunchResult&)> end_child;
};

/// The variables of shared memory that observers of a launch are told of.
[[nodiscard]] inline const std::vector<SharedVariable>& shared_variables(const Kernel& kernel,
                                                                         const LaunchConfig& config) {
  return config.shared.empty() ? kernel.shared : config.shared;
}

/// Blocks of the clusters that a kernel was compiled for; 1 in each direction if for none.
[[nodiscard]] Dim3 compiled_cluster(const Kernel& kernel);

struct LaunchResult {
  uint64_t warp_instructions = 0;  ///< executed, all warps
  uint64_t lane_instructions = 0;  ///< the same, times the lanes of the warp that were on this way
  uint64_t shuffles = 0;           ///< of `warp_instructions`
  std::vector<Finding> findings;   ///< one for each instruction and kind, by first block and thread
  bool failed = false;  ///< a finding that ends a kernel on a GPU: its results are not to be trusted
};

/// A module on the device: its variables placed in `memory`, its kernels decoded when first asked for.
class Image {
 public:
  /// Throws lanescope::Error for what cannot be placed (unresolved extern variables, bad initialisers).
  Image(std::shared_ptr<const ptx::Module> module, Memory& memory);
  ~Image();

  [[nodiscard]] const ptx::Module& module() const { return *module_; }
  /// By the name in the PTX or the demangled name (with or without its argument list). Throws
  /// lanescope::Error that lists the module's kernels when there is none, or names the unsupported
  /// instruction.
  [[nodiscard]] const Kernel& kernel(std::string_view name);
  /// Device address and size of a module variable; 0 if there is none. Texture and surface references are
  /// found by their C++ names, too, as nvcc 11 registers them: `::space::image`,
  /// `::_NV_ANON_NAMESPACE::image`.
  [[nodiscard]] uint64_t variable(std::string_view name, uint64_t* size = nullptr) const;
  /// All but managed variables get what they held when the module was loaded.
  void restore_variables();

  /// Runs the grid, and all grids that its kernel and theirs launch, to their end; one whose blocks all wait
  /// for what cannot come ends with findings. Each grid's own launches run after it in their order (see
  /// device_queue.hpp), none after a grid that failed. Throws lanescope::Error for a bad configuration
  /// (before anything runs), and for a kernel launched by another one that the engine cannot run.
  LaunchResult launch(const Kernel& kernel, const LaunchConfig& config);

  /// The same in steps, for launches that wait for something the host does.
  class Execution {
   public:
    enum class State : uint8_t {
      finished,
      paused,  ///< the time was up
      stalled  ///< every block left waits for a change of memory that no thread of the grid can make
    };
    Execution(Image& image, const Kernel& kernel, const LaunchConfig& config);
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    /// Runs on, on this thread and `config.threads` - 1 others, until all is done, the blocks stall, or soon
    /// after `until`. To be called again unless it has finished.
    State run(std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max());
    /// Ends a stalled grid: what its blocks wait for becomes findings. run() goes on from there.
    void give_up();
    /// Stores and value-changing atomics so far of the grid that runs: unchanged, it has only waited.
    [[nodiscard]] uint64_t writes() const;
    /// Once, when it has finished.
    LaunchResult result();

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
  };

 private:
  struct State;
  struct Running;
  const Kernel& decoded(uint32_t function);
  void initialise(const ptx::Variable& variable, uint64_t address);
  std::shared_ptr<const ptx::Module> module_;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope::exec
