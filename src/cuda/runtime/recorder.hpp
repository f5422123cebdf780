// What is remembered for the report: launches of the same kernel, grid, block, and shared memory with its
// parts as one sum, findings, and copies by direction.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "advise/division.hpp"
#include "advise/sources.hpp"
#include "cuda/runtime/options.hpp"
#include "cuda/runtime/runtime.hpp"
#include "exec/launch.hpp"
#include "merge/plan.hpp"
#include "profile/collector.hpp"
#include "profile/profile.hpp"
#include "report/report.hpp"

namespace lanescope::cuda {

class Recorder {
 public:
  explicit Recorder(const Options& options);

  /// Launches that are summed.
  struct Entry {
    Function* function = nullptr;
    std::shared_ptr<const ptx::Module> module;
    const ptx::MachineNeeds* machine_code = nullptr;  ///< of the function's binary; null: it has none
    exec::LaunchConfig shape;  ///< grid, block, shared memory, checks, sampling; parameters of the first one
    uint64_t launches = 0;     ///< all of them
    std::atomic<uint32_t> running{0};  ///< those begun and not ended
    uint64_t counted = 0;              ///< those whose accesses were counted
    exec::LaunchResult sum;            ///< of the counted ones; findings of all
    /// Collectors live on from launch to launch: making them costs more than a small kernel. Only some do at
    /// a time (they are large); what the others counted is in `counts`.
    std::unique_ptr<profile::Collectors> collectors;
    std::shared_ptr<const merge::Plan> plan;  ///< what they count with; null: every access as written
    std::optional<profile::Profile> counts;
    uint64_t last_use = 0;
    std::chrono::steady_clock::time_point put_aside;  ///< when `counts` last took over what was counted
    int64_t last_ns = 0;                              ///< how long the last launch took
    std::string recording;                            ///< of its counted launch; empty: there is none
  };

  // The next three are called with Runtime::launches held.
  /// Gives the launch the variables of shared memory that are told of, too: what they are depends on its
  /// arguments.
  Entry& entry(Function& function, const exec::Kernel& kernel, exec::LaunchConfig& config);
  /// Whether this launch is to be counted; if so, its observers. Gives it its checks.
  bool begin(Entry& entry, const exec::Kernel& kernel, exec::LaunchConfig& config);
  void end(Entry& entry, const exec::LaunchConfig& config, const exec::LaunchResult& result, bool counted,
           int64_t ns);

  struct Copied {
    CopyKind direction;
    uint64_t target, bytes;
    bool pageable;
    bool unchanged;    ///< the target held the very bytes before
    bool independent;  ///< of the kernel before it in its stream: is_apart()
  };
  void copied(const Copied& copy);
  /// A function of one of the toolkit's libraries runs.
  void library_called(const char* name);
  /// It went where the device may not.
  void library_failed(const std::string& defect);
  /// A kernel begins in the stream.
  void launched(const Stream& stream, const std::vector<std::byte>& parameters);
  /// The host has waited for what was in the stream; in all streams.
  void waited_for(const Stream& stream);
  void waited_for_all();
  /// Whether a kernel ran in the stream since the host last waited for it, and no parameter of the last one
  /// is an address in the block.
  [[nodiscard]] bool is_apart(const Stream& stream, const Block& block);
  [[nodiscard]] bool enabled() const { return enabled_; }

  /// A folder for the recording of a launch that is counted, inside that for all of them.
  [[nodiscard]] std::string recording(Entry& entry);

  /// The finished report, as JSON. What launches that have not ended have counted is left out. Beside
  /// recordings a list of them is written, one line for each launch of the report.
  [[nodiscard]] std::string render();
  /// Whether there is anything to report.
  [[nodiscard]] bool empty() const;
  /// Whether a kernel, or a call of a library, did wrong.
  [[nodiscard]] bool has_errors() const;
  /// Drops everything: in the child of a fork.
  void forget();
  /// Counts and reports nothing from now on.
  void disable() { enabled_ = false; }

 private:
  using Key = std::tuple<Function*, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                         std::vector<uint32_t>>;
  static constexpr size_t most_live = 32;

  void fold(Entry& entry);
  /// Modules that a program loads again have functions of their own here, but are the same kernels to it.
  void sum_code_loaded_again();
  [[nodiscard]] advise::Division& division_of(Function& function, const exec::Kernel& kernel);

  const Options& options_;
  model::Arch arch_;
  bool enabled_;
  advise::Sources sources_;
  std::map<Function*, std::unique_ptr<advise::Division>> divisions_;
  std::map<Key, size_t> index_;
  std::vector<std::unique_ptr<Entry>> entries_;  ///< in the order of their first launches
  std::vector<Entry*> live_;                     ///< those with collectors
  Entry* last_ = nullptr;                        ///< programs often launch one kernel again and again
  uint64_t clock_ = 0;
  uint64_t eligible_ = 0;  ///< launches of kernels that pass --kernel
  uint64_t uncounted_ = 0;
  uint64_t recordings_ = 0;
  mutable std::mutex library_mutex_;  ///< of the next two
  std::map<std::string, uint64_t> library_calls_;
  std::vector<std::string> library_defects_;
  bool sampled_ = false;  ///< some launch had more blocks than are counted

  struct Copies {
    std::atomic<uint64_t> count{0}, bytes{0}, pageable{0}, repeated{0}, repeated_bytes{0};
    std::atomic<uint64_t> independent{0}, independent_bytes{0};
  };
  std::mutex copied_mutex_;
  /// Of the last kernel of each stream. Addresses of streams come again, and those of threads share a number.
  std::map<std::pair<const Stream*, unsigned long long>, std::vector<std::byte>> last_parameters_;
  /// Where copies from the host to the device went, and how much: what is there by chance (fresh memory reads
  /// as zero here) is no copy repeated.
  std::set<std::pair<uint64_t, uint64_t>> copied_to_;
  std::array<Copies, 4> copies_;  ///< by CopyKind
};

/// Whether a parameter is an address in the block.
[[nodiscard]] bool holds_address(const std::vector<std::byte>& parameters, const Block& block);

}  // namespace lanescope::cuda
