// Races on global memory between the blocks of a grid (--check global; those of one block's threads are
// race_check.hpp's): each access is compared with the last ones of other blocks to the same word. Blocks are
// in no order but that of flags: what a block did before a fence of the whole device comes before what
// another one does that has seen a flag (by a volatile, relaxed or acquiring load or an atomic operation)
// which was set after that fence. docs/checks.md says what that finds and what it leaves out.
//
// The order is kept for blocks, not for threads, and it may hold more than there is: who has seen what was
// set at one time is taken to have seen all that was set before. So a race may be missed where blocks
// synchronise. The blocks of a cluster, which have barriers of their own, count as one in it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exec/observer.hpp"
#include "exec/program.hpp"

namespace lanescope::exec {

struct LaunchConfig;
struct Warp;
struct WarpAccess;

/// Of one launch; used by all its host threads.
class GridRaces {
  static constexpr uint32_t word_bytes = 4, page_words = 256;

  struct Page;
  /// Of a fence, and of the setting of a flag, with a fence before or without: all up to these are meant. The
  /// clock counts both, in all blocks.
  struct Times {
    uint32_t fence = 0, flag = 0;
  };
  struct Flag {
    Times times;
    uint32_t cluster = 0;     ///< that has set it last
    bool by_several = false;  ///< others have set it, too
  };

 public:
  /// What a running block, or cluster, has done and seen, and which pages it was at last. Blocks of a cluster
  /// run on one host thread.
  class Block {
    friend class GridRaces;

   public:
    /// Whether it has seen a flag that another block, or cluster, has set.
    [[nodiscard]] bool has_seen_others() const { return has_seen_others_; }
    void forget_others() { has_seen_others_ = false; }

   private:
    static constexpr size_t remembered = 64;
    struct Known {
      uint64_t number = UINT64_MAX;
      Page* page = nullptr;
    };
    uint32_t fenced_ = 0;  ///< when it made its last fence; 0: it has made none
    Times seen_;           ///< what comes before what it does now
    bool has_seen_others_ = false;
    /// Words that it has been about to read as flags: what it has seen there is what they held then or later.
    std::vector<uint64_t> read_;
    std::unordered_set<uint64_t> looked_at_;  ///< all words that it has read so
    std::array<Known, remembered> pages_{};
  };

  GridRaces(const Kernel& kernel, const LaunchConfig& config);
  ~GridRaces();
  GridRaces(const GridRaces&) = delete;
  GridRaces& operator=(const GridRaces&) = delete;

  /// The lanes of now.global are about to access memory.
  void access(WarpAccess& now, Block& block);
  /// The warp makes a fence for the whole device.
  void fence(const Warp& w, Block& block);
  /// Nobody has accessed the bytes yet: a kernel has allocated them.
  void forget(uint64_t address, uint64_t bytes);

 private:
  struct Access {
    uint32_t block = 0;  ///< linear index in the grid
    uint32_t time = 0;
    uint32_t number = 0;  ///< index of Kernel::checks
    uint16_t thread = 0;
    uint8_t bytes = 0;  ///< of the word, one bit each; 0: there is no such access
  };
  /// The last accesses to a word.
  struct Word {
    Access store;
    std::array<std::byte, word_bytes> stored{};  ///< by it, where that is known
    /// Loads and atomic operations since: the last one, and the last one of another block than that.
    std::array<Access, 2> touches;
  };
  struct Page {
    std::mutex mutex;
    std::array<Word, page_words> words;
  };

  using TimesOfClusters = std::unordered_map<uint32_t, std::vector<uint32_t>>;

  const Kernel& kernel_;
  const Dim3 grid_, cluster_;
  std::atomic<uint32_t> clock_{0};
  std::mutex pages_mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::mutex order_mutex_;
  std::unordered_map<uint64_t, Flag> flags_;  ///< by word: what who reads it has seen
  /// By cluster: the times of all its fences, and of all that it has set.
  TimesOfClusters fences_, signals_;

  [[nodiscard]] Page& page(uint64_t number, Block& block);
  /// The lanes are about to read flags, to set them, or both.
  void synchronise(const WarpAccess& now, Block& block);
  /// The block, which runs the warp, has read flags.
  void note_seen(const Warp& w, Block& block);
  /// The lane makes `mine`, an access to the word at `address`.
  void look(WarpAccess& now, uint32_t lane, uint64_t address, Word& word, Access mine, const Block& block);
  /// Whether nothing orders the two, and they race.
  [[nodiscard]] bool races(const CheckedAccess& access, const Access& mine, const Access& then,
                           uint64_t address, const Block& block);
  void report(WarpAccess& now, uint32_t lane, const Access& then, const Block& block, bool same_value);
  /// Whether the block has seen a fence, or a flag, that `then`'s block has made or set since.
  [[nodiscard]] bool has_seen_fence(const Access& then, const Block& block);
  [[nodiscard]] bool has_seen_flag(const Access& then, const Block& block);
  /// Whether one of the times of the block's cluster is later, and has been seen.
  [[nodiscard]] bool comes_before(uint32_t time, uint32_t seen, const TimesOfClusters& times, uint32_t block);
  /// Its linear index in the grid; a block that is in none is one by itself.
  [[nodiscard]] uint32_t cluster_of(uint32_t block) const;
};

}  // namespace lanescope::exec
