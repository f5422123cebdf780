// What a block's threads have read where nobody had written (--check init), or have taken by a shuffle from a
// lane that took no part in it (barrier), until something depends on it: which bits of their registers, and
// of what they have stored, come from there. Programs may well load what they then drop: a key behind the
// last one, the padding of a struct, a word of which a bit field is set, the upper half of a reduction's
// sums.
//
// Which bits of a result depend on undefined ones is found by trying: the instruction is executed several
// times with other values in their place, and what differs depends on them. So each instruction's handler is
// all there is to know of it, and no rule for it can be wrong; a dependence that none of the tries shows is
// missed (bits that are multiplied by a zero are rightly none).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exec/observer.hpp"
#include "exec/program.hpp"
#include "exec/warp.hpp"

namespace lanescope::exec {

class UndefinedValues {
 public:
  /// A lane's load of what nobody had written, or its shuffle: the last one of its thread by the instruction.
  struct Origin {
    Finding found{};  ///< what is reported when something depends on it; without words
    // Of loads; the address is an offset in the space, of global memory the address.
    ptx::Space space{};      ///< shared, local or global
    uint32_t unwritten = 0;  ///< bytes
    // Of shuffles.
    uint32_t members = 0;  ///< the member mask
    bool reported = false;
  };
  /// What names one; 0: none.
  using Name = uint64_t;

  UndefinedValues(const Kernel& kernel, uint32_t warps);
  /// Another block.
  void start();

  [[nodiscard]] static Name name_of(const Origin& origin) {
    return (uint64_t{origin.found.instruction} + 1) << 32 | origin.found.thread;
  }
  Name remember(const Origin& origin);
  /// Whether the block has met any undefined value; until then there is nothing to follow.
  [[nodiscard]] bool any() const { return !origins_.empty(); }
  [[nodiscard]] Origin& origin(Name name) { return origins_.at(name); }
  /// The origins that a piece of shared memory was read for.
  [[nodiscard]] std::unordered_set<Name>& readers_of(uint32_t piece) { return readers_[piece]; }

  // Registers.

  /// Of these lanes those in which any bit is undefined.
  [[nodiscard]] uint32_t undefined(const Warp& w, const FollowedRegister& reg, uint32_t lanes) const {
    return reg.number == no_operand ? 0 : warps_[w.index].lanes[reg.number] & lanes;
  }
  [[nodiscard]] Name origin_of(const Warp& w, const FollowedRegister& reg, uint32_t lane) const {
    return warps_[w.index].origins[size_t{reg.number} * warp_lanes + lane];
  }
  void define(const Warp& w, const FollowedRegister& reg, uint32_t lanes);
  /// The lane's bits that are undefined: `bits` of a value of `bytes` bytes, which the register extends,
  /// `by_sign` or by zeros.
  void set(const Warp& w, const FollowedRegister& reg, uint32_t lane, std::span<const std::byte> bits,
           bool by_sign, Name origin);
  /// More of the lane's bits: those of so many bytes from byte `at` on.
  void add(const Warp& w, const FollowedRegister& reg, uint32_t lane, uint32_t at,
           std::span<const std::byte> bits, Name origin);
  /// The lane's bits: as many bytes as there are.
  void get(const Warp& w, const FollowedRegister& reg, uint32_t lane, std::span<std::byte> bits) const;
  /// The instruction after `in` is about to be executed.
  void pass_on(Warp& w, const Inst* in, const ValueFlow& flow);

  // Memory, by byte; what `place` is, the caller decides.

  [[nodiscard]] std::byte bits_at(uint64_t place) const;
  [[nodiscard]] Name origin_at(uint64_t place) const;
  void store(uint64_t place, std::byte bits, Name origin);

 private:
  struct WarpValues {
    std::vector<uint32_t> lanes;  ///< by FollowedRegister::number
    std::vector<Name> origins;    ///< by number and lane
    std::vector<std::byte> bits;  ///< laid out like the register file
  };
  struct StoredByte {
    std::byte bits{};
    Name origin = 0;
  };
  std::vector<WarpValues> warps_;
  std::unordered_map<Name, Origin> origins_;
  std::unordered_map<uint32_t, std::unordered_set<Name>> readers_;
  std::unordered_map<uint64_t, StoredByte> stored_;
  std::vector<std::byte> sources_, before_, first_, differ_;  ///< of try_values()

  /// Which bits of the results differ when undefined ones are others: into differ_, register after register
  /// of `flow.to`. Leaves registers as they were.
  void try_values(Warp& w, const Inst* in, const ValueFlow& flow);
  /// Where undefined bits of the lane's results come from.
  [[nodiscard]] Name origin_for(const Warp& w, const ValueFlow& flow, uint32_t lane) const;
  /// The bits of a result, which has just been defined, that differ are undefined.
  void set_differing(const Warp& w, const FollowedRegister& reg, const std::byte* differ,
                     const std::array<Name, warp_lanes>& origins);
  /// Some of the lane's bits are undefined.
  void mark(const Warp& w, const FollowedRegister& reg, uint32_t lane, Name origin);
};

/// What a shuffle, in a block with so many threads, has taken that nobody gives.
[[nodiscard]] std::string describe_shuffle(const UndefinedValues::Origin& origin, uint32_t threads);

}  // namespace lanescope::exec
