// The rules of PTX that the instruction table states, asked of one instruction: which types, modifiers and
// state spaces an opcode may be written with, and which operands.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/module.hpp"

namespace lanescope::ptx {

/// An opcode with its dotted words, checked. Instructions that are spelled alike share one.
struct Mnemonic {
  Op op{};
  std::vector<Type> types;
  std::bitset<modifier_count> modifiers;
  Space space = Space::generic, second_space = Space::generic;
  uint8_t vector = 1;
  MatrixShape shape{};
  const OperandForm* form = nullptr;
};

/// "add.f32": opcode and types, for messages.
[[nodiscard]] std::string spelled(Op op, const std::vector<Type>& types);

/// A load or store of 32 bytes a lane: of global memory, from sm_100 on.
[[nodiscard]] inline bool is_of_32_bytes(const Mnemonic& m) {
  return (m.op == Op::ld || m.op == Op::st) && m.vector >= 4 && m.vector * size_of(m.types.front()) == 32;
}

/// A word of a mnemonic and its place.
struct Word {
  std::string_view text;
  TextLoc loc;
};

/// What a module is written for: .target sm_100a and .version 8.6 are 100, 'a' and 86.
struct Target {
  uint32_t number = 0;
  char variant = 0;  ///< 'a': this target alone; 'f': this and later ones of its family; 0: all later ones
  uint32_t version = 0;
};
/// Of "100a", without version.
[[nodiscard]] Target read_target(std::string_view text);

/// Reads `words` (the opcode first), of a module for a target, or of any module. Fails for unknown and
/// unsupported words and combinations.
[[nodiscard]] Mnemonic read_mnemonic(std::span<const Word> words, const std::optional<Target>& target,
                                     const Source& source);

[[nodiscard]] constexpr bool is_bits(Type t) { return t >= Type::b8 && t <= Type::b128; }
/// May a register of type `reg` stand for an operand of type `type`? Source: PTX ISA 9.0, operand type
/// checking and operand size exceeding instruction-type size.
[[nodiscard]] bool compatible(Type type, Type reg, bool wider);

/// What the checks of operands look at besides the instruction.
struct OperandContext {
  const Module& module;
  const Function& function;
  uint32_t piped = 0;  ///< bit i: operand i was joined to the one before it by `|`
};

/// Checks number, kind and type of the operands; brings floating-point constants to the operand's type.
void check_operands(Instruction& instruction, const Mnemonic& mnemonic, const OperandContext& context,
                    const Source& source);

}  // namespace lanescope::ptx
