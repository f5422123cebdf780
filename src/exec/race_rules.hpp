// Which accesses race that nothing orders, whoever makes them, and what speaks for those that do: the rules
// of the PTX memory model that the checks of shared memory (race_check.hpp) and of global memory
// (grid_races.hpp) have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exec/observer.hpp"
#include "exec/program.hpp"
#include "exec/warp.hpp"

namespace lanescope::exec {

/// Whether two unordered accesses, one of them no load, race: the memory model lets strong ones be.
[[nodiscard]] inline bool can_race(const CheckedAccess& a, const CheckedAccess& b) {
  using Strength = CheckedAccess::Strength;
  if (a.strength == Strength::atomic) return b.strength == Strength::plain;
  return a.strength == Strength::plain || b.strength != Strength::atomic;
}

[[nodiscard]] inline bool are_volatile(const CheckedAccess& a, const CheckedAccess& b) {
  constexpr auto is_volatile = CheckedAccess::Strength::is_volatile;
  return a.strength == is_volatile && b.strength == is_volatile;
}

/// Whether one of them guesses what the other one changes.
[[nodiscard]] inline bool is_guess(const CheckedAccess& a, const CheckedAccess& b) {
  return (a.guesses && is_atomic(b.kind)) || (b.guesses && is_atomic(a.kind));
}

/// Whether a plain load meets what changes its word by a strong access: who looks first whether that is
/// needed means to, in global memory.
[[nodiscard]] inline bool is_stale_load(const CheckedAccess& a, const CheckedAccess& b) {
  const auto changes = [](const CheckedAccess& access) {
    return access.strength == CheckedAccess::Strength::atomic && !reads(access.kind);
  };
  return (a.kind == AccessKind::load && changes(b)) || (b.kind == AccessKind::load && changes(a));
}

[[nodiscard]] inline Finding::Severity severity_of(Finding::Excuse excuse) {
  using Excuse = Finding::Excuse;
  switch (excuse) {
    case Excuse::none: break;
    case Excuse::met:
    case Excuse::in_step:
    case Excuse::stale: return Finding::Severity::warning;
    case Excuse::polling:
    case Excuse::same_value:
    case Excuse::guess: return Finding::Severity::note;
  }
  return Finding::Severity::error;
}

/// Whether a store leaves out the element that has this byte (`_` in its vector).
[[nodiscard]] inline bool leaves_out(const CheckedAccess& access, uint32_t byte) {
  return access.kind == AccessKind::store && access.data_bytes != 0 &&
         access.data[byte / access.element].at == no_operand;
}

/// Whether what a store stores is known: that of lanes, and of stmatrix.
[[nodiscard]] inline bool is_known_store(const CheckedAccess& access) {
  return access.data_bytes != 0 &&
         (access.kind == AccessKind::store || access.kind == AccessKind::store_matrix);
}

/// The row of a matrix that a lane gives the address of.
inline void stored_row(const Warp& w, const CheckedAccess& access, uint32_t lane, std::byte* bytes) {
  for (uint32_t column = 0; column < access.width; ++column) {
    const RegisterByte from = register_byte(access.layout, lane, column);
    bytes[column] = w.regs[access.data[from.number].at + from.lane * access.data_bytes + from.byte];
  }
}

/// The bytes that a lane stores: element after element.
inline void stored_bytes(const Warp& w, const CheckedAccess& access, uint32_t lane, std::byte* bytes) {
  if (access.kind == AccessKind::store_matrix) return stored_row(w, access, lane, bytes);
  for (uint32_t at = 0, k = 0; at < access.width; at += access.element, ++k)
    if (!leaves_out(access, at))
      std::memcpy(bytes + at, w.regs + access.data[k].at + size_t{lane} * access.data_bytes, access.element);
}

}  // namespace lanescope::exec
