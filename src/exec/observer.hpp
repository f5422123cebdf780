// What the engine tells of a running kernel: one event per warp access, never one per lane. Analyses derive
// from Observer; every function has an empty default. Each host thread gets an observer of its own, so none
// needs a lock.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>

#include "ptx/instruction_set.hpp"

namespace lanescope::exec {

inline constexpr uint32_t warp_lanes = 32;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] uint64_t count() const { return uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// No engine sends update_loop: it is what the assembler makes of atomics that the hardware has no
/// instruction for (merge/plan.hpp). ldmatrix and stmatrix give the addresses of rows of 16 bytes in lanes 0
/// … 8 n - 1. An asynchronous copy is two accesses, one that writes shared memory and one that reads global
/// memory; async_copy_cg are those past the first-level cache (cp.async.cg). The last four come as BulkAccess
/// only.
enum class AccessKind : uint8_t {
  load,
  store,
  atomic,
  compare_and_swap,
  update_loop,
  async_copy,
  async_copy_cg,
  load_matrix,
  store_matrix,
  async_store,     ///< st.async; red.async is an atomic
  group_product,   ///< what wgmma reads
  tensor_product,  ///< what tcgen05.mma and .cp read: checked, not counted
  bulk_load,
  bulk_store,
  bulk_reduction
};
[[nodiscard]] constexpr bool is_atomic(AccessKind k) {
  return k == AccessKind::atomic || k == AccessKind::compare_and_swap || k == AccessKind::update_loop;
}
[[nodiscard]] constexpr bool is_copy(AccessKind k) {
  return k == AccessKind::async_copy || k == AccessKind::async_copy_cg;
}
[[nodiscard]] constexpr bool is_bulk_copy(AccessKind k) {
  return k == AccessKind::bulk_load || k == AccessKind::bulk_store || k == AccessKind::bulk_reduction;
}
[[nodiscard]] constexpr bool reads(AccessKind k) {
  return k == AccessKind::load || k == AccessKind::load_matrix || k == AccessKind::group_product ||
         k == AccessKind::tensor_product;
}
[[nodiscard]] constexpr bool writes(AccessKind k) {
  return k == AccessKind::store || k == AccessKind::store_matrix || k == AccessKind::async_store ||
         is_copy(k);
}
/// Cluster: the shared memory of other blocks of the cluster; of what st.async and red.async go to, also the
/// own block's.
enum class AccessSpace : uint8_t { shared, global, local, constant, cluster };

/// One warp-wide memory access, after predicates and divergence: what the memory unit is asked.
struct Access {
  uint32_t instruction = 0;  ///< index of Kernel::accesses: which instruction of the kernel
  AccessKind kind{};
  AccessSpace
      space{};        ///< where the lanes of `mask` go; generic accesses are reported by the space they reach
  uint8_t width = 4;  ///< bytes per lane, all vector elements together: 1, 2, 4, 8, 16, 32
  bool returns = false;  ///< an atomic operation whose result some instruction reads
  uint32_t mask = 0;     ///< active lanes
  uint64_t block = 0;    ///< linear index: x + grid.x * (y + grid.y * z)
  uint32_t warp = 0;     ///< warp of the block
  uint32_t shared_variable = 0xffffffff;
  /// Byte address of each lane: an offset in the block's shared memory, a global address, an offset in the
  /// lane's local memory, or an address of shared::cluster. Lanes outside `mask` hold no meaningful value.
  std::array<uint64_t, 32> address{};
  /// async_copy_cg, global memory: where in the block's shared memory each lane writes. Else nullptr.
  const uint32_t* destination = nullptr;
};

/// What one instruction did to memory by no lane's address: a bulk copy of one lane, or what wgmma reads of
/// one matrix for one warp.
struct BulkAccess {
  /// Bytes that lie together on both sides, as far as the instruction goes: of a box of a tensor one row.
  struct Piece {
    uint64_t far = 0;   ///< bulk copies: address in global memory or of shared::cluster
    uint32_t near = 0;  ///< offset in the block's shared memory
    uint32_t bytes = 0;
    bool is_filled = false;  ///< from outside of a tensor; `far` means nothing
  };
  uint32_t instruction = 0;  ///< index of Kernel::accesses
  AccessKind kind{};
  AccessSpace space{};  ///< where copies go to or come from; of wgmma shared memory
  uint64_t block = 0;
  uint32_t warp = 0;
  uint32_t shared_variable = 0xffffffff;  ///< that of the near side
  std::span<const Piece> pieces;
  /// wgmma: rows of A or columns of B that this warp's share counts for, and their bytes: B is read once for
  /// four warps, which counts for the first one.
  uint32_t rows = 0, row_bytes = 0;
  bool is_more = false;  ///< of an instruction that was told already: the other matrix
  uint32_t targets = 1;  ///< bulk loads: blocks that the data go to
  bool multicast = false;
  bool is_image = false;  ///< im2col
};

/// What warps did at one branch: an instruction that can send some lanes of a warp elsewhere than the others.
/// Aligned, so that what every execution adds to lies in one cache line.
struct alignas(64) BranchCounts {
  uint64_t taken = 0;            ///< executions in which all active lanes went to the target
  uint64_t not_taken = 0;        ///< … in which none did
  uint64_t divergent = 0;        ///< … in which lanes parted. A table (brx) parts from one target at a time
  uint64_t lanes_taken = 0;      ///< that went to the target, of all executions
  uint64_t lanes_not_taken = 0;  ///< that did not
  uint64_t apart = 0;  ///< warp instructions executed while lanes of a warp were apart because of it
  uint64_t idle = 0;   ///< the sum over those of the lanes that waited for them: instructions times lanes

  /// The first divergent executions of one warp: of those that diverged here the first one of the block with
  /// the smallest index.
  struct Split {
    uint32_t active = 0, taken = 0;  ///< lanes
    friend bool operator==(const Split&, const Split&) = default;
  };
  static constexpr uint32_t most_splits = 16;
  uint64_t block = 0;
  uint32_t warp = 0, splits = 0;
  std::array<Split, most_splits> split{};

  [[nodiscard]] uint64_t executions() const { return taken + not_taken + divergent; }
  /// Active ones, of all executions.
  [[nodiscard]] uint64_t lanes() const { return lanes_taken + lanes_not_taken; }
  void add(const BranchCounts& other);
  friend bool operator==(const BranchCounts&, const BranchCounts&) = default;
};

/// A defect of the program under test, found while it ran.
struct Finding {
  enum class Kind : uint8_t {
    out_of_bounds,
    misaligned,
    unknown_pointer,
    deadlock,
    trap,
    bad_call,
    assertion,
    write_to_constant,
    bad_barrier,
    // What is looked for when it is asked for (checks.hpp). The kernel runs on, and does so on a GPU.
    race,
    uninitialised_read,
    barrier_divergence,
    member_mask,
    shuffle_source,
    array_overrun,
    barrier_reinitialised
  };
  /// Errors make results depend on chance, or end the kernel. Warnings go well on some hardware. Notes do no
  /// harm by themselves.
  enum class Severity : uint8_t { error, warning, note };
  static constexpr uint32_t none = 0xffffffffu;
  static constexpr uint64_t same_block = UINT64_MAX;

  Kind kind{};
  uint32_t instruction = 0;  ///< index of Kernel::origins
  uint64_t block = 0;        ///< linear block index of the first occurrence: see place()
  uint32_t thread = 0;       ///< linear thread index in its block
  uint64_t address = 0;
  uint32_t width = 0;  ///< bytes the lane asked for
  uint64_t count = 1;  ///< how often a lane did this at this instruction
  /// In words, without place: `{other}` stands for the other one. Of a race: what both threads access; of a
  /// read: what of it nobody has written.
  std::string message;

  Severity severity = Severity::error;
  // The other side: the earlier access of a race, the store that comes too late for an uninitialised read,
  // where the other threads are that a barrier lacks.
  uint32_t other_instruction = none;  ///< index of Kernel::origins; none: there is no other side
  uint32_t other_thread = none;
  uint64_t other_block = same_block;  ///< the other one's, where it is another block
  AccessKind access{}, other_access{};
  bool bulk = false, other_bulk = false;  ///< the access is that of a bulk copy
  uint32_t use = none;  ///< of an undefined value: what depends on it (Kernel::origins); none: not known
  /// Of a race: what is missing. An order of the two accesses, or, between what a thread does itself and a
  /// bulk copy, a proxy fence; an order of the blocks whose threads access global memory, or the fence before
  /// the flag that orders them; an order of the access after the beginning or before the end of the block
  /// whose memory it goes to, or a wait for the copy before that end.
  enum class Lack : uint8_t { order, proxy_fence, order_of_blocks, device_fence, beginning, end, wait };
  Lack lack{};
  /// Of a race: what speaks for it. Lanes that met in between at a shuffle or the like; lanes of one warp
  /// that rely on running in step; threads of several warps that poll a flag; stores of one value; a load of
  /// what a compare-and-swap expects, which fails where it is stale; a load of what another block changes
  /// atomically.
  enum class Excuse : uint8_t { none, met, in_step, polling, same_value, guess, stale };
  Excuse excuse{};
  bool after_other = false;  ///< race: the thread itself has executed the other access since the last barrier

  /// Whether it is a race between lanes of one warp.
  [[nodiscard]] bool in_one_warp() const {
    return kind == Kind::race && other_block == same_block &&
           thread / warp_lanes == other_thread / warp_lanes;
  }
  /// The first occurrence is the one with the smallest block, then thread; a race between warps before one
  /// within a warp, since what orders warps orders lanes, too (but for one store that many do: nothing
  /// would).
  [[nodiscard]] std::tuple<bool, uint64_t, uint32_t> place() const {
    return {in_one_warp() && instruction != other_instruction, block, thread};
  }
  /// Whether the kernel would be ended by it on a GPU, so that its results are not to be trusted.
  [[nodiscard]] bool ends_kernel() const { return kind < Kind::race && severity == Severity::error; }
  /// Whether both are the same defect, at other threads or in other blocks.
  [[nodiscard]] bool same_defect(const Finding& other) const {
    return kind == other.kind && instruction == other.instruction && severity == other.severity &&
           lack == other.lack &&
           (other_instruction == other.other_instruction || kind == Kind::uninitialised_read);
  }
};
[[nodiscard]] const char* name_of(Finding::Kind kind);
/// "error", "warning", "note".
[[nodiscard]] const char* name_of(Finding::Severity severity);

class Observer {
 public:
  virtual ~Observer() = default;
  /// One access. Later accesses of the same instruction whose lanes and relative addresses (and destinations)
  /// are the same (all moved by a multiple of the granules below) come through repeat() instead.
  virtual void access(const Access&) {}
  /// `times` more accesses of the instruction with the pattern of its last access().
  virtual void repeat(uint32_t /*instruction*/, uint64_t /*times*/) {}

  virtual void bulk_access(const BulkAccess&) {}

  /// What happened at a branch (index of Kernel::branches) since the last call for it.
  virtual void branch(uint32_t /*branch*/, const BranchCounts&) {}

  /// Who is to be told of the accesses of one block; asked when the block begins or goes on.
  virtual Observer* of_block(uint64_t /*block*/) { return this; }

  /// Accesses moved by a multiple of this many bytes count as the same pattern (a power of two).
  uint32_t shared_granule = 4;
  uint32_t copy_granule = 128;  ///< the same for what cp.async.cg writes
  uint32_t global_granule = 128;
};

}  // namespace lanescope::exec
