// The device's global memory. A device address is a host address, so managed and host memory need no
// translation; every access is checked against the allocations known here. Allocations come from one reserved
// range that starts at the same address in every run (where the host allows), so that reports are
// reproducible.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "exec/texture.hpp"

namespace lanescope::exec {

/// Generic addresses of the windows that are not host memory. Both lie in the half of the address space that
/// no user process has, so they meet no allocation.
inline constexpr uint64_t shared_window =
    0xfffe'0000'0000'0000ull;                                       ///< + offset in the block's shared memory
inline constexpr uint64_t local_window = 0xfffd'0000'0000'0000ull;  ///< + offset in the thread's local memory
inline constexpr uint64_t window_size = 0x0000'0001'0000'0000ull;

/// Which bytes of an allocation hold something, one bit each. Kernels on all host threads add to it.
class WrittenBytes {
 public:
  explicit WrittenBytes(uint64_t size);
  void add(uint64_t offset, uint64_t bytes);
  void add_all() { all_ = true; }
  /// How many of these bytes hold nothing.
  [[nodiscard]] uint32_t missing(uint64_t offset, uint32_t bytes) const;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  /// From calloc, which takes no memory for what is never touched.
  std::unique_ptr<std::atomic<uint64_t>[], Free> words_;
  std::atomic<bool> all_{false};
};

struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;
  bool read_only = false;                   ///< kernel parameters, code, what is mapped so
  std::string name;                         ///< variable, or "allocation #3"
  std::shared_ptr<WrittenBytes> written{};  ///< null: that is not followed
  bool constant = false;                    ///< what kernels see as constant memory
};

class Memory {
 public:
  TextureTable textures;  ///< what reads and writes this memory by coordinates

  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Who asks for memory: the engine, for what no pointer of the program comes near or for the program's
  /// variables and buffers; the program's host code, or a kernel. What the program frees comes back
  /// as the program's only (as long as there is other room), so that a pointer it should no longer use leads
  /// to nothing of ours.
  enum class Owner : uint8_t { internal, engine, program, kernel };

  /// Zero-filled memory, at least 256-byte aligned. Throws lanescope::Error when the host has none left.
  uint64_t allocate(uint64_t size, std::string name = "", uint64_t align = 256, Owner owner = Owner::engine);
  /// False if `base` is not the start of an allocation made here.
  bool release(uint64_t base);
  /// Addresses without memory behind them, for the caller to put some there and attach() it. 0: there are no
  /// more.
  uint64_t reserve(uint64_t size, uint64_t align);
  /// Gives them back; nothing is mapped or attached there any more.
  void give_back(uint64_t base, uint64_t size);
  /// What kernels take and give back themselves (malloc and free, cudaMalloc and cudaFree): no more than
  /// `heap_limit` bytes at a time, whose sum is counted without a heap's own needs. 0 when there are no more,
  /// false for what no kernel has taken.
  uint64_t take_from_heap(uint64_t size, const char* name);
  bool give_back_to_heap(uint64_t base);
  std::atomic<bool> heap_was_asked{false};  ///< by a kernel, for memory
  std::atomic<uint64_t> heap_limit{UINT64_MAX};
  /// Puts what lies there into a file without a name that other processes can map: its descriptor and the
  /// offset in it. Pages are whole, so that it has what else lies on the first and the last one, too. Nothing
  /// may write to them meanwhile, the first time. Throws lanescope::Error.
  std::pair<int, uint64_t> share(uint64_t base, uint64_t size, bool is_first_time);
  /// Makes host memory the caller owns visible to kernels (managed or pinned memory).
  void attach(const void* base, uint64_t size, std::string name);
  bool detach(const void* base);
  void set_read_only(uint64_t base, bool read_only);
  /// Constant variables are such memory, and yet are stored to by programs that ask for their address and
  /// give it to a kernel: a GPU does as it is told, and the next launch reads that (seen on an H200).
  void set_constant(uint64_t base);

  /// Whether it is followed which bytes hold something, of what the program and its kernels allocate from
  /// now on.
  std::atomic<bool> follows_writes{false};
  /// The bytes have been written by other means than a checked kernel's instructions.
  void wrote(uint64_t address, uint64_t bytes);
  /// Something has been written, and nobody knows what.
  void wrote_anything();
  /// Changes whenever an allocation comes or goes.
  [[nodiscard]] uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

  /// The allocation that holds these bytes, if any.
  [[nodiscard]] std::optional<Allocation> find(uint64_t address, uint64_t bytes = 1) const;
  /// The allocation nearest to `address`, of those that a pointer may have come from; for messages.
  [[nodiscard]] std::optional<Allocation> nearest(uint64_t address) const;
  /// What held `address` until the program freed it, if nothing has taken the place since; for messages.
  [[nodiscard]] std::optional<Allocation> freed(uint64_t address) const;
  /// The reserved addresses that hold `address`, if any; for messages.
  [[nodiscard]] std::optional<Allocation> reserved(uint64_t address) const;
  /// What lies around an address that no allocation has `width` bytes at, in words; for messages.
  [[nodiscard]] std::string neighbourhood(uint64_t address, uint64_t width) const;
  /// Whether the process, and so the program's host code, has memory of its own at `address`; for messages.
  [[nodiscard]] bool is_of_host(uint64_t address) const;
  [[nodiscard]] uint64_t allocated_bytes() const;
  /// What the program and its kernels have allocated and not freed, in the order of its addresses.
  [[nodiscard]] std::vector<Allocation> unfreed() const;

 private:
  struct Entry {
    Allocation allocation;
    bool owned = true;
    uint64_t reserved = 0;  ///< bytes taken from the range, for owned entries
    Owner owner = Owner::engine;
  };
  /// Free pieces of the range.
  struct Pieces {
    std::multimap<uint64_t, uint64_t> by_size;  ///< size → base
    std::map<uint64_t, uint64_t> by_base;
    /// The smallest piece that is large enough; 0: there is none.
    uint64_t take(uint64_t size, uint64_t align);
    void give(uint64_t base, uint64_t size);
  };
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, Entry> entries_;     ///< by base
  std::map<uint64_t, Allocation> freed_;  ///< by the program, by base
  std::map<uint64_t, Allocation> reserved_;
  Pieces free_, free_of_program_;
  /// What the program has freed last, {base, bytes}, is not given to it again yet: who uses it still is seen.
  std::deque<std::pair<uint64_t, uint64_t>> resting_;
  uint64_t resting_bytes_ = 0;
  std::atomic<uint64_t> generation_{0};
  uint64_t range_begin_ = 0, range_end_ = 0, next_ = 0;
  uint64_t serial_ = 0;
  int shared_file_ = -1;  ///< as large as the range, of which share() has mapped some pages
  /// The first and the last pages of what was shared, on which other memory may lie that will be.
  std::set<uint64_t> shared_edges_;

  uint64_t take(uint64_t size, uint64_t align, Owner owner);
  void rest(uint64_t base, uint64_t size);
  /// Ends the rest of what has rested longest, until no more than these rest.
  void wake(size_t pieces, uint64_t bytes);
  std::atomic<uint64_t> heap_bytes_{0};
  void forget_freed(uint64_t base, uint64_t size);
};

}  // namespace lanescope::exec
