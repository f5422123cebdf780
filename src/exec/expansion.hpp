// Instructions that the machine has not: the assembler writes a call, or a branch around a slow case, and
// neither merges accesses nor remembers values across it. Which ones: answers of ptxas 13.0 for sm_90,
// tests/data/merge/expansions.txt.
#pragma once

#include "ptx/module.hpp"

namespace lanescope::exec {

/// Exact quotients, reciprocals and roots, integer division of 16 and 64 bits, atomics of 16 bits.
[[nodiscard]] inline bool is_expanded(const ptx::Instruction& in) {
  using ptx::Mod;
  using ptx::Op;
  if (in.types.empty()) return false;
  const uint32_t bytes = ptx::size_of(in.type());
  switch (in.op) {
    case Op::div: return ptx::is_float(in.type()) ? !in.has(Mod::approx) && !in.has(Mod::full) : bytes != 4;
    case Op::rem: return bytes != 4;
    case Op::rcp:
    case Op::sqrt: return !in.has(Mod::approx);
    case Op::rsqrt: return bytes == 8 && !in.has(Mod::ftz);
    case Op::atom:
    case Op::red: return bytes == 2;
    default: return false;
  }
}

/// A branch around what is not always done: stores stay on their side of it, loads do not.
[[nodiscard]] inline bool has_branch(const ptx::Instruction& in) {
  using ptx::Op;
  if (in.op == Op::div || in.op == Op::rem) return ptx::is_signed(in.type()) && ptx::size_of(in.type()) == 4;
  return in.op == Op::fns || (in.op == Op::bfind && ptx::size_of(in.type()) == 8);
}

}  // namespace lanescope::exec
