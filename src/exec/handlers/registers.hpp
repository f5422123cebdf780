// Handlers of the instructions that read and write registers only: arithmetic, logic, comparison, conversion,
// moves and the exchange between the lanes of a warp. Memory, control flow and barriers are elsewhere.
//
// Operands (offsets into the register file; the decoder fills them in):
//   registers   32 lanes of their natural width: 2 bytes for 8- and 16-bit types, 4, 8, 16 (b128)
//   predicates  a 32-bit lane mask; only the active lanes' bits are written
//   d; a, b, c  destination; sources in written order; a fourth source (bfi, pack) is aux
//   .cc addc subc madc  aux: the carry, a predicate
//   setp        d, aux: p and q (no_operand: none); c: predicate source (or none), imm bit 0: it is negated
//   set         behind its setp: a, b: where that holds, and of pairs the upper halves; imm: what is written
//   selp        c: as setp, always there
//   predicates  and, or, xor, not, mov of .pred: imm bits 0 and 1: a and b are negated
//   lop3        imm bits 0…7: the table; .and, .or: aux: p, imm bit 8: q is negated, imm bits 32…63: q
//   mov         packs {a,b,…}: key.vector = key.sources = number of parts, in a, b, c, aux
//   mov         unpacks: key.vector = number of parts, key.sources = 1, into d, b, c, aux (no_operand: sink)
//   video       imm: VideoControl (exec/video.hpp); c is no_operand where none is written
//   shfl        d, aux: p (no_operand: none), a: value, b: lane, c: clamp and segment mask
//   vote        d; a: predicate, imm bit 0: negated.     match  d, aux: p (no_operand: none), a
//   redux       d; a.    elect  d, aux: p (either may be no_operand).    activemask  d
// The member mask of the .sync forms is waited for by an instruction before: here, w.mask are the members.
#pragma once

#include <cstdint>

#include "exec/program.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// The handler of the instruction; nullptr if it is none of the above or a form that is not supported.
[[nodiscard]] Handler select_register_instruction(const HandlerKey& key);

/// d ← a, from lanes of `from_bytes` to lanes of `to_bytes` (1, 2, 4, 8, 16; 1 is the low byte of a 2-byte
/// lane): cut, or extended by the sign or zeros. nullptr for other widths.
[[nodiscard]] Handler select_resize(uint32_t to_bytes, uint32_t from_bytes, bool sign);

// The parts, each in its own source; nullptr for what is not theirs.
[[nodiscard]] Handler select_integer(const HandlerKey& key);
[[nodiscard]] Handler select_half(const HandlerKey& key);
[[nodiscard]] Handler select_float(const HandlerKey& key);
[[nodiscard]] Handler select_compare(const HandlerKey& key);
[[nodiscard]] Handler select_convert(const HandlerKey& key);
[[nodiscard]] Handler select_move(const HandlerKey& key);
[[nodiscard]] Handler select_crosslane(const HandlerKey& key);
[[nodiscard]] Handler select_video(const HandlerKey& key);

}  // namespace lanescope::exec::LANESCOPE_ISA
