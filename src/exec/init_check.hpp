// Reads of what nobody has written (--check init): which bytes of shared, local and device memory hold
// something, and what undefined values become until something depends on them (undefined_values.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exec/block_shape.hpp"
#include "exec/memory.hpp"
#include "exec/observer.hpp"
#include "exec/program.hpp"
#include "exec/undefined_values.hpp"
#include "exec/warp_access.hpp"

namespace lanescope::exec {

class InitCheck {
 public:
  InitCheck(const Kernel& kernel, const BlockShape& shape, SharedPieces pieces);

  void start();
  /// Lanes enter a function: its local variables (Kernel::local_variables) hold nothing yet.
  void enter(const Warp& w, uint32_t first_variable, uint32_t count);

  // Accesses.

  /// The warp is about to access memory: a load defines its registers; what a store takes out of the block is
  /// used.
  void begin(const WarpAccess& now);
  /// Lanes access memory, of this block's shared memory, local and global.
  void access(const WarpAccess& now);
  /// A lane accesses this block's shared memory, or its own local memory.
  void access_block(const WarpAccess& now, uint32_t lane);

  /// Bytes of shared memory, and of the lane's local memory, have been written by something else.
  void written(uint64_t offset, uint64_t bytes);
  void written_local(const Warp& w, uint32_t lane, uint64_t offset, uint64_t bytes);
  /// The lane's local memory is copied, undefined values and all; something depends on what is there.
  void copied_local(const Warp& w, uint32_t lane, uint64_t from, uint64_t to, uint64_t bytes);
  void used_local(Warp& w, const Inst* in, uint32_t lane, uint64_t offset, uint64_t bytes);

  // Values.

  /// The instruction after the helper `in` is about to use and to make these.
  void follow(Warp& w, const Inst* in, const ValueFlow& flow);
  /// Whether that instruction is not executed in earnest at the moment.
  [[nodiscard]] bool tries() const { return tries_; }
  /// The results of a shuffle will be undefined in the lane, which takes a value that nobody gives. `flow`:
  /// of the shuffle (Kernel::flows).
  void shuffled(const Warp& w, uint32_t flow, uint32_t lane, const UndefinedValues::Origin& origin);

 private:
  /// undefined: by values that come from where nobody had written.
  enum class Written : uint8_t { no, yes, read_before, undefined };
  /// Undefined bits of what a lane loads, and where they come from.
  struct Loaded {
    std::array<std::byte, 32> bits{};
    UndefinedValues::Name origin = 0;  ///< 0: all are defined
  };
  /// What a lane accesses of a block's memory.
  struct Pieces {
    bool is_shared = false;      ///< else local
    Written* written = nullptr;  ///< of the first one
    uint32_t first = 0;          ///< its index in shared memory
    uint32_t count = 0, shift = 0;
    uint64_t place = 0;  ///< of the first byte
  };

  const Kernel& kernel_;
  const BlockShape shape_;
  const SharedPieces pieces_;
  std::vector<Written> shared_written_;  ///< by piece
  std::vector<Written> local_written_;   ///< by byte, thread after thread
  UndefinedValues values_;               ///< stored ones by place_in_shared(), place_in_local()
  bool tries_ = false;
  Allocation allocation_;             ///< the one of global memory last met,
  uint64_t generation_ = UINT64_MAX;  ///< when Memory::generation() was this

  [[nodiscard]] Written* local_written(const Warp& w, uint32_t lane, uint64_t offset) {
    return local_written_.data() + size_t{thread_of(w, lane)} * shape_.local_bytes + offset;
  }
  [[nodiscard]] static uint64_t place_in_shared(uint64_t offset) { return offset; }
  [[nodiscard]] uint64_t place_in_local(const Warp& w, uint32_t lane, uint64_t offset) const {
    return uint64_t{1} << 63 | (uint64_t{thread_of(w, lane)} * shape_.local_bytes + offset);
  }
  /// The thread has not written the variable.
  void hold_nothing(size_t thread, const LocalVariable& variable);

  /// Whether a thread of this block does it, not one of another block of the cluster; and whether its load
  /// goes into registers that are followed here.
  [[nodiscard]] bool is_of_this_block(const WarpAccess& now) const;
  [[nodiscard]] bool follows(const WarpAccess& now) const;

  [[nodiscard]] Pieces pieces_of(const WarpAccess& now, uint32_t lane);
  void load(const WarpAccess& now, uint32_t lane, const Pieces& pieces);
  /// So many pieces nobody has written: these have been read now.
  void load_unwritten(const WarpAccess& now, uint32_t lane, const Pieces& pieces, const Loaded& loaded,
                      uint32_t unwritten);
  void store(const WarpAccess& now, uint32_t lane, const Pieces& pieces);
  /// The bits that the lane stores there; of the row that it has given stmatrix the address of.
  void store_values(const WarpAccess& now, uint32_t lane, const Pieces& pieces);
  void store_row(const WarpAccess& now, uint32_t lane, const Pieces& pieces);
  /// The lane stores to a piece of shared memory that was read before: that is the store that came too late.
  void add_late_store(const WarpAccess& now, uint32_t lane, uint32_t index);

  void access_global(const WarpAccess& now, uint32_t lane);
  /// The allocation of global memory that the lane accesses; nullptr: it is not watched, or none.
  [[nodiscard]] const Allocation* allocation_of(const WarpAccess& now, uint32_t lane);

  [[nodiscard]] static UndefinedValues::Origin origin_of(const WarpAccess& now, uint32_t lane,
                                                         Finding::Severity severity, ptx::Space space,
                                                         uint32_t unwritten);
  /// The lane has loaded that: `fresh` where some of it nobody has written.
  void take(const WarpAccess& now, uint32_t lane, Loaded loaded, const UndefinedValues::Origin* fresh);
  /// Of a row that the lane has given ldmatrix the address of.
  void take_row(const WarpAccess& now, uint32_t lane, const Loaded& loaded);
  /// Of a piece that wgmma reads for the warp: whole rows or columns of the result depend on it.
  void take_piece(const WarpAccess& now, const Loaded& loaded);

  /// Something depends on what came from there: the instruction `use` of Kernel::origins.
  void report_use(Warp& w, UndefinedValues::Name name, uint32_t use);
  void report_undefined(Warp& w, const UndefinedValues::Origin& origin, uint32_t use) const;
  [[nodiscard]] std::string describe_read(const Warp& w, const UndefinedValues::Origin& origin) const;
};

}  // namespace lanescope::exec
