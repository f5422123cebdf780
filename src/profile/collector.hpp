// Counts what a kernel's memory accesses cost while it runs: an observer of the engine, one for each host
// thread.
//
// Asking the model costs some hundred nanoseconds, and kernels repeat few patterns. So each collector
// remembers the answers for the patterns it saw last: a table of fixed size, keyed by everything the answer
// depends on: kind, space, width, mask, and the addresses relative to the model's shift granule below the
// first active lane. A whole key is compared, never only its hash, so that counts are exact.
//
// With a plan of what the assembler merges (merge/plan.hpp) shared memory is counted as the machine code
// accesses it: an instruction costs what its pieces cost, and those that are part of another one's access
// cost nothing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "exec/observer.hpp"
#include "exec/program.hpp"
#include "lanescope/model/arch.hpp"
#include "merge/plan.hpp"
#include "profile/profile.hpp"
#include "profile/recording.hpp"

namespace lanescope::profile {

/// Recording makes accesses to shared memory about twice as expensive.
enum class RecordBlocks : uint8_t {
  none,
  some,  ///< the first 16 and every 64th, which tells all of kernels whose blocks do alike
  all
};

class Collector final : public exec::Observer {
 public:
  /// For a kernel with `sites` memory instructions (Kernel::accesses). Of some blocks the distinct accesses
  /// to shared memory are recorded as well: `record` says of which. Without a plan every instruction is one
  /// access.
  Collector(const model::Arch& arch, uint32_t sites, RecordBlocks record = RecordBlocks::none,
            std::shared_ptr<const merge::Plan> plan = nullptr);

  void access(const exec::Access& access) override;
  void repeat(uint32_t instruction, uint64_t times) override;
  void bulk_access(const exec::BulkAccess& access) override;
  void branch(uint32_t branch, const exec::BranchCounts& counts) override;
  exec::Observer* of_block(uint64_t block) override;

  /// What was counted so far.
  [[nodiscard]] Profile profile() const;
  /// How often the model was asked: for tests and tuning.
  [[nodiscard]] uint64_t model_calls() const { return model_calls_; }

 private:
  /// A pattern and its cost. 32-bit offsets: patterns that span more than 2 GB are not remembered, nor are
  /// those of two addresses a lane (cp.async.cg).
  struct alignas(64) Entry {
    std::array<uint32_t, 32> offset{};
    uint32_t mask = 0;  ///< 0: empty
    uint32_t request = 0;
    Cost cost;
  };
  /// Two entries that a hash may use, the one used last first.
  static constexpr uint32_t ways = 2;
  static constexpr uint32_t sets = 1024;

  static constexpr uint32_t not_counted = 0xffffffffu;
  struct Site {
    std::vector<SiteCounters> counters;  ///< one for each space and variable reached
    uint32_t last = not_counted;         ///< the one of the last access()
    Cost last_cost;
  };

  /// The counters of what that instruction does there; they are the site's last ones then.
  SiteCounters& counters_of(uint32_t instruction, exec::AccessKind kind, exec::AccessSpace space,
                            uint32_t shared_variable);
  const Cost& cost(const exec::Access& access);
  /// Counts an access as the machine code has it; returns the cost of all its pieces.
  Cost add_pieces(SiteCounters& counters, const exec::Access& access, const merge::Fate& fate);
  static void keep_worst(SiteCounters& counters, const Cost& cost, const exec::Access& access);

  model::Arch arch_;
  RecordBlocks record_;
  std::unique_ptr<Recorder> recorder_;
  std::shared_ptr<const merge::Plan> plan_;
  std::vector<Site> sites_;
  std::vector<exec::BranchCounts> branches_;  ///< by index of Kernel::branches
  std::vector<Entry> entries_;
  Cost uncached_;
  uint64_t model_calls_ = 0;
};

/// The collectors of one launch, one for each host thread, made when the thread first asks.
class Collectors {
 public:
  Collectors(const model::Arch& arch, uint32_t sites, RecordBlocks record = RecordBlocks::none,
             std::shared_ptr<const merge::Plan> plan = nullptr)
      : arch_(arch), sites_(sites), record_(record), plan_(std::move(plan)) {}

  /// May be called from several threads at once.
  [[nodiscard]] exec::Observer* of(uint32_t host_thread);
  /// The launch's counts; call it when the launch has ended.
  [[nodiscard]] Profile merged() const;

 private:
  model::Arch arch_;
  uint32_t sites_;
  RecordBlocks record_;
  std::shared_ptr<const merge::Plan> plan_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Collector>> collectors_;
};

}  // namespace lanescope::profile
