// What `--check` looks for while a kernel runs: races on shared memory, and on global memory, reads
// of memory that nobody has written, barriers that only part of the threads reach, accesses that leave their
// array of shared memory. docs/checks.md says what is found and what it costs.
//
// Nothing of this is in the handlers of memory instructions: for a checked launch the decoder puts a helper
// instruction (check_access and the like) before each instruction that matters, so that launches without
// checks run the very code they always ran.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace lanescope::exec {

struct Warp;
struct Inst;

/// What is put beside a kernel's instructions: checks, and what follows undefined values.
enum class Checking : uint8_t { none, checked, with_values };

struct Checks {
  bool race = false;     ///< unordered accesses of several threads to the same bytes of shared memory
  bool global = false;   ///< unordered accesses of several threads to the same bytes of global memory
  bool init = false;     ///< reads of memory that has not been written
  bool barrier = false;  ///< barriers that not all threads reach, or not at one place
  bool bounds = false;   ///< accesses that run from one variable of shared memory into another one
  bool leak = false;     ///< of a program: memory that it never frees; kernels run as without checks
  bool unused = false;   ///< of a program: device memory that nothing ever writes, with init
  /// The lanes of a path advance together and see each other's accesses in program order: hardware before
  /// compute capability 7.0, and AMD's.
  bool lockstep = false;

  [[nodiscard]] bool any() const { return race || global || init || barrier || bounds; }
  [[nodiscard]] Checking checking() const {
    return init ? Checking::with_values : any() ? Checking::checked : Checking::none;
  }
  friend bool operator==(const Checks&, const Checks&) = default;
};

/// Those that are looked for in kernels, by the names that users and reports have for them.
struct NamedCheck {
  std::string_view name;
  bool Checks::*on;
};
inline constexpr std::array kernel_checks{
    NamedCheck{"race", &Checks::race}, NamedCheck{"global", &Checks::global},
    NamedCheck{"init", &Checks::init}, NamedCheck{"barrier", &Checks::barrier},
    NamedCheck{"bounds", &Checks::bounds}};

// Handlers of the helper instructions.

/// Before a memory instruction. aux: index of Kernel::checks; a: base address, imm: as in the instruction.
const Inst* check_access(Warp& w, const Inst* in);
/// Before an instruction whose sources may be undefined. aux: index of Kernel::flows; imm: how many
/// instructions of code it is.
const Inst* check_values(Warp& w, const Inst* in);
/// Before copy_local (handlers/control.hpp), with its operands.
const Inst* check_local_copy(Warp& w, const Inst* in);
/// Beside a fence that orders memory. imm: whether for more than the cluster.
const Inst* check_fence(Warp& w, const Inst* in);
/// In the place of fence.proxy.async, and of the end of a group of bulk copies and the wait for all but the
/// last ones of them (imm).
const Inst* check_proxy_fence(Warp& w, const Inst* in);
const Inst* check_commit_bulk(Warp& w, const Inst* in);
const Inst* check_wait_bulk(Warp& w, const Inst* in);
/// The same of wgmma.
const Inst* check_commit_products(Warp& w, const Inst* in);
const Inst* check_wait_products(Warp& w, const Inst* in);
/// What a warp reads of a matrix in shared memory for wgmma: 16 bytes at each of these offsets.
struct MatrixRead {
  std::span<const uint32_t> offsets;
  bool is_second = false;  ///< B, which all four warps of a group read
  /// So many pieces are of one row of A or column of B; transposed: of eight elements of 16 bits each, of
  /// eight rows or columns, and so many are all of them.
  uint32_t pieces = 1;
  bool transposed = false;
};
/// Part of the handler of wgmma in a checked launch, whose access has this number.
void check_product(Warp& w, uint32_t access, const MatrixRead& read);
/// In the place of `sync` and `sync_groups` (handlers/control.hpp), with their operands.
const Inst* check_sync(Warp& w, const Inst* in);
/// Part of the handlers of shuffles in a checked launch: each lane is about to take the value of lane
/// `source[lane]`.
void check_shuffle(Warp& w, const Inst* in, const uint32_t* source);
/// At the start of a device function: its local variables hold nothing yet. aux: first one of
/// Kernel::local_variables, b: how many.
const Inst* check_enter(Warp& w, const Inst* in);

}  // namespace lanescope::exec
