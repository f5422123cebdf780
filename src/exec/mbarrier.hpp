// mbarrier objects: barriers in shared memory that count threads which arrive and bytes which asynchronous
// copies bring. Source: PTX ISA 9.0, 9.7.13.15 "Parallel Synchronization and Communication Instructions:
// mbarrier". The 64 bits of an object are opaque there; what they hold here is said below. One function a
// warp and no host instruction set, as in builtins.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "exec/warp.hpp"

namespace lanescope::exec {

/// An object, taken out of its 64 bits: from bit 0 on the pending arrivals (20 bits), the arrivals expected
/// in each phase (20), the pending bytes (21, signed), the parity of the phase (1), and 2, which memory that
/// no mbarrier.init has written is unlikely to hold.
struct Mbarrier {
  static constexpr uint32_t most_arrivals = (1u << 20) - 1;
  static constexpr int64_t most_bytes = (1 << 20) - 1;

  uint32_t pending = 0, expected = 0;
  int64_t bytes = 0;  ///< still to come; negative if more came than were announced so far
  bool odd_phase = false;

  /// Nothing if the bits are none of an object.
  [[nodiscard]] static std::optional<Mbarrier> load(const std::byte* at);
  void store(std::byte* at) const;
  /// Begins the next phase if nothing is missing in this one; whether it did.
  bool complete_phase();
};

inline constexpr uint32_t mbarrier_bytes = 8;  ///< of the object, and what its address is a multiple of

/// Says that `bytes` of those an mbarrier waits for have come; reports what is wrong with it as the doing of
/// lane `lane` at `in`.
void complete_bytes(Warp& w, const Inst* in, uint32_t lane, uint64_t address, int64_t bytes);
/// One arrival at each lane's mbarrier (address as in a MbarrierForm) of `w.mask`.
void arrive_once(Warp& w, const Inst* in);

/// One arrival at the mbarrier at an address of shared memory for what the lane has begun and is done.
void arrive_for_work(Warp& w, const Inst* in, uint32_t lane, uint64_t address);

/// Inst::imm of an mbarrier instruction.
struct MbarrierForm {
  enum class Op : uint8_t { init, invalidate, expect, complete, arrive, wait };
  int32_t offset = 0;  ///< to be added to the address
  Op op{};
  uint8_t address_bytes = 8;   ///< of the address register's lanes: 4 or 8
  bool expects_bytes = false;  ///< arrive: one arrival that announces b bytes first
  bool drops = false;          ///< arrive: and expects as many arrivals less from now on
};
static_assert(sizeof(MbarrierForm) == 8);

/// All but the waits. a: address; b: count (arrivals or bytes); d: state (no_operand: none); imm: a
/// MbarrierForm.
const Inst* use_mbarrier(Warp& w, const Inst* in);
/// test_wait and try_wait. a: address; b: state, or c: parity of the phase; d: predicate. Lanes wait until
/// one of them has what it waits for or Warp::give_up is set; both instructions may say at any time that a
/// phase is not complete yet.
const Inst* wait_mbarrier(Warp& w, const Inst* in);
/// mbarrier.pending_count: d ← a.
const Inst* count_pending(Warp& w, const Inst* in);

/// What the first of `lanes` waits for at `in`, for a report.
[[nodiscard]] std::string describe_wait(Warp& w, const Inst* in, uint32_t lanes);

}  // namespace lanescope::exec
