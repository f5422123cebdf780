// What the assembler (ptxas) makes of a kernel's accesses to memory: neighbouring loads and stores of one
// thread become one access of 64 or 128 bits where the alignment is provable; loads of what is
// already in a register, and loads whose result nobody uses, disappear; atomics that count, and those whose
// address all lanes share, are put together for a warp; those that the hardware has no instruction for become
// loops. This is predicted from the PTX, with the rules that ptxas 13.0 was seen to follow for sm_90
// (docs/merging.md), and where the rules do not say what it does, the plan says so. Of code for debuggers
// (.target debug) nothing but such loops is made: ptxas then leaves accesses as they are written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/program.hpp"
#include "lanescope/model/arch.hpp"
#include "ptx/module.hpp"

namespace lanescope::merge {

/// One access of the machine code: `width` bytes a lane, `offset` bytes from the address that the PTX
/// instruction has there.
struct Piece {
  int32_t offset = 0;
  uint8_t width = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// What becomes of one memory instruction of the PTX.
struct Fate {
  enum class Kind : uint8_t {
    kept,         ///< as it is written
    merged,       ///< its access is one with those of other instructions (`with`)
    narrowed,     ///< only a part of the vector is used, and accessed
    known,        ///< the value is in a register already: loaded (by `with`) or stored before
    unused,       ///< nobody uses what it loads
    overwritten,  ///< a store to the same place follows before anybody could look (`with`)
    combined,     ///< an atomic that counts: lanes that meet in one word cost what one does
    elected,      ///< an atomic that one lane does for its warp, as `one_lane` says
    looped        ///< an atomic: in shared memory a loop of load and compare-and-swap
                  ///< (model::Op::update_loop), which one lane may run for its warp as well
  };
  Kind kind = Kind::kept;
  /// Of an atomic whose address all lanes share: when what they have is put together in registers first, and
  /// one lane does it for all.
  enum class OneLane : uint8_t { never, of_whole_warps, always };
  OneLane one_lane = OneLane::never;
  /// The accesses that are counted for each execution of the instruction; of merged ones those that the first
  /// of them stands for.
  std::vector<Piece> pieces;
  std::vector<uint32_t> with;  ///< other sites (Kernel::accesses), in ascending order
  uint32_t bits = 0;           ///< merged: the width of the access it is part of
  /// In words, why the assembler may merge more, or less, than this; empty when the rules decide.
  std::string doubt;
  bool is_guess = false;  ///< it costs something else, for which there is no rule
};

struct Plan {
  std::vector<Fate> fates;  ///< by index of Kernel::accesses
};

/// Whether the assembler of CUDA 13 makes code for this architecture, by name: for others nothing is
/// predicted.
[[nodiscard]] bool knows(const model::Arch& arch);

/// Accesses to shared and to global memory are looked at; all others are kept. The rules are those of sm_90,
/// but for what docs/merging.md says of atomics of sm_75.
[[nodiscard]] Plan predict(const ptx::Module& module, const exec::Kernel& kernel, const model::Arch& arch);

}  // namespace lanescope::merge
