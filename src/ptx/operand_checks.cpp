// Checks of operands against the instruction table: number, kind and type. What the table's patterns cannot
// say is in check_combination; source: PTX ISA 9.0, and ptxas 13.0 where the text leaves room.
#include <algorithm>
#include <bit>
#include <optional>

#include "ptx/checks.hpp"
#include "ptx/matrix.hpp"

namespace lanescope::ptx {

bool compatible(Type type, Type reg, bool wider) {
  if (type == Type::pred || reg == Type::pred) return type == reg;
  if (type == reg) return true;
  if (size_of(reg) < size_of(type) || (size_of(reg) > size_of(type) && !wider)) return false;
  if (is_bits(reg) || is_bits(type)) return true;
  if (reg == Type::f16x2) return is_integer(type);  // ptxas has it for 32 bits, other than of .f32
  return is_integer(type) && is_integer(reg);
}

namespace {

Type doubled(Type type) {
  switch (type) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    default: return type;
  }
}

struct OperandChecker {
  Instruction& instruction;
  const Mnemonic& mnemonic;
  const OperandContext& context;
  const Source& source;

  [[nodiscard]] std::string name() const { return spelled(instruction.op, instruction.types); }
  [[noreturn]] void fail(const Operand& operand, const std::string& cause) const {
    source.fail(operand.loc, cause);
  }

  [[nodiscard]] std::string described(const Register& reg) const {
    return reg.name + ", a ." + std::string(name_of(reg.type)) + " register";
  }
  [[nodiscard]] std::string described(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::reg: return described(context.function.registers[operand.reg]);
      case Operand::Kind::special: return std::string(name_of(operand.special));
      case Operand::Kind::integer: return "an integer constant";
      case Operand::Kind::real32:
      case Operand::Kind::real64: return "a floating-point constant";
      case Operand::Kind::symbol: return "the name of a variable or function";
      case Operand::Kind::address: return "an address";
      case Operand::Kind::vector: return "a vector";
      case Operand::Kind::sink: return "'_'";
      default: return "no value";
    }
  }

  [[nodiscard]] Type type_for(const OperandPattern& pattern) const {
    Type type = instruction.type();
    if (pattern.type_from == OperandPattern::TypeFrom::second) type = instruction.types.back();
    if (pattern.type_from == OperandPattern::TypeFrom::fixed) type = pattern.type;
    if (pattern.type_from == OperandPattern::TypeFrom::address) type = Type::u64;
    return pattern.doubled && instruction.has(Mod::wide) ? doubled(type) : type;
  }

  void check_constant(Operand& operand, Type type) const {
    if (!is_bits(type) && !is_integer(type) && type != Type::pred && type != Type::f32 && type != Type::f64)
      fail(operand, name() + " takes no constant here");
    if (operand.kind == Operand::Kind::integer) {
      if (is_float(type))
        fail(operand, name() + " takes a floating-point constant here, as 1.0 or 0f3F800000");
      return;
    }
    const bool single = operand.kind == Operand::Kind::real32;
    if (type == Type::f32 || type == Type::f64) {
      // A constant is converted to the operand's type (PTX ISA 9.0, 4.5.2).
      if (type == Type::f32 && !single)
        operand.bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
      if (type == Type::f64 && single)
        operand.bits =
            std::bit_cast<uint64_t>(double{std::bit_cast<float>(static_cast<uint32_t>(operand.bits))});
      operand.kind = type == Type::f32 ? Operand::Kind::real32 : Operand::Kind::real64;
      return;
    }
    if (!(is_bits(type) && size_of(type) == (single ? 4 : 8)))
      fail(operand, name() + " does not take a floating-point constant here");
  }

  void check_special(const Operand& operand, Type type, bool wider) const {
    const Type own = type_of(operand.special);
    const bool pred = own == Type::pred || type == Type::pred;
    // 16-bit reads of 32-bit registers, and 32-bit reads of %gridid, are left from older PTX.
    const bool fits = size_of(type) == size_of(own) || (wider && size_of(type) < size_of(own)) ||
                      (size_of(type) == 2 && size_of(own) == 4) ||
                      (operand.special == SpecialRegister::gridid && size_of(type) == 4);
    if (pred ? own != type : !fits || is_float(type))
      fail(operand, std::string(name_of(operand.special)) + " has the type ." + std::string(name_of(own)) +
                        "; " + name() + " does not take it here");
  }

  void check_register(const Operand& operand, Type type, bool wider) const {
    const Type reg = context.function.registers[operand.reg].type;
    if (!compatible(type, reg, wider))
      fail(operand, name() + " takes a value of type ." + std::string(name_of(type)) + " here, not " +
                        described(operand));
  }

  void check_value(Operand& operand, const OperandPattern& pattern) const {
    const Type type = type_for(pattern);
    const bool takes_vector = pattern.vector && instruction.vector > 1;
    // One value in braces is that value, as ptxas has it (Triton writes loads and stores so).
    if (operand.kind == Operand::Kind::vector && operand.count == 1 && pattern.vector && !takes_vector)
      operand = Operand(instruction.elements[operand.first]);
    if (operand.kind == Operand::Kind::vector) {
      if (!takes_vector) fail(operand, name() + " takes no vector here");
      if (operand.count != instruction.vector)
        fail(operand, name() + " with .v" + std::to_string(instruction.vector) +
                          " takes that many elements, not " + std::to_string(operand.count));
      // Of 32 bytes a store may leave some out.
      const bool sinks = pattern.destination || is_of_32_bytes(mnemonic);
      for (uint32_t i = 0; i < operand.count; ++i)
        check_scalar(instruction.elements[operand.first + i], pattern, type, sinks);
      const auto elements = std::span(instruction.elements).subspan(operand.first, operand.count);
      if (is_of_32_bytes(mnemonic) &&
          std::ranges::all_of(elements, [](const Operand& o) { return o.kind == Operand::Kind::sink; }))
        fail(operand, name() + " takes a vector with a register here, not of '_' alone");
      return;
    }
    if (takes_vector && !(pattern.sink && operand.kind == Operand::Kind::sink))
      fail(operand, name() + " with .v" + std::to_string(instruction.vector) + " takes a vector here");
    check_scalar(operand, pattern, type, pattern.sink);
  }

  /// Of a tensor.
  [[nodiscard]] uint32_t dimensions() const {
    return instruction.has(Mod::dim_1d)   ? 1
           : instruction.has(Mod::dim_2d) ? 2
           : instruction.has(Mod::dim_3d) ? 3
           : instruction.has(Mod::dim_4d) ? 4
                                          : 5;
  }

  void check_list(const Operand& operand, const OperandPattern& pattern) const {
    if (operand.kind != Operand::Kind::vector) fail(operand, name() + " takes a list in braces here");
    if (instruction.has(Mod::im2col) && operand.count != dimensions() - 2)
      fail(operand, name() + " takes " + std::to_string(dimensions() - 2) +
                        (dimensions() == 3 ? " offset" : " offsets") + " here, not " +
                        std::to_string(operand.count));
    for (uint32_t i = 0; i < operand.count; ++i)
      check_scalar(instruction.elements[operand.first + i], pattern, pattern.type, false);
  }

  void check_scalar(Operand& operand, const OperandPattern& pattern, Type type, bool sink) const {
    const auto refuse = [&](std::string_view wanted) {
      fail(operand, name() + " takes " + std::string(wanted) + " here, not " + described(operand));
    };
    switch (operand.kind) {
      case Operand::Kind::reg:
        if (pattern.constant_only) refuse("an integer constant");
        if (operand.negated && !(pattern.negatable && (type == Type::pred || pattern.or_predicate)) &&
            !pattern.minus)
          fail(operand,
               name() + " takes no negated " +
                   (context.function.registers[operand.reg].type == Type::pred ? "predicate" : "register") +
                   " here");
        if (operand.selector.unit != Selector::Unit::none && !pattern.selector)
          fail(operand, name() + " takes no selector of bytes or halves here");
        if (pattern.type_from == OperandPattern::TypeFrom::address) {
          const Type reg = context.function.registers[operand.reg].type;
          if (!compatible(Type::b32, reg, false) && !compatible(Type::b64, reg, false)) refuse("an address");
          return;
        }
        if (pattern.or_predicate && context.function.registers[operand.reg].type == Type::pred) return;
        check_register(operand, type, pattern.wider);
        return;
      case Operand::Kind::sink:
        if (!sink) refuse("a value");
        return;
      case Operand::Kind::integer:
      case Operand::Kind::real32:
      case Operand::Kind::real64:
        if (pattern.destination) refuse("a register");
        if (operand.negated) fail(operand, "only predicate registers can be negated");
        check_constant(operand, type);
        return;
      case Operand::Kind::special:
        if (pattern.destination || pattern.constant_only || !pattern.special)
          refuse("a register or constant");
        check_special(operand, type, pattern.wider);
        return;
      case Operand::Kind::symbol: {
        // With an offset its address is a number like others, for ptxas.
        const bool number =
            operand.bits != 0 && (is_integer(type) || is_bits(type)) && !pattern.constant_only;
        if (pattern.destination || !(pattern.symbol || number))
          refuse(pattern.destination ? "a register" : "a register or constant");
        return;
      }
      default: refuse(pattern.destination ? "a register" : "a register or constant");
    }
  }

  [[nodiscard]] const Variable* variable_of(const SymbolRef& symbol) const {
    switch (symbol.kind) {
      case SymbolRef::Kind::module_variable: return &context.module.variables[symbol.index];
      case SymbolRef::Kind::local_variable: return &context.function.variables[symbol.index];
      case SymbolRef::Kind::parameter: return &context.function.params[symbol.index];
      case SymbolRef::Kind::return_parameter: return &context.function.returns[symbol.index];
      default: return nullptr;
    }
  }

  /// What has a name lies in the state space that is written; without one in memory that has generic
  /// addresses by itself.
  void check_lies_in(const Operand& operand, Space space) const {
    const Variable* variable = variable_of(operand.symbol);
    if (variable == nullptr)
      fail(operand, name() + " takes an address of memory here, not that of a function");
    const Space own = variable->space;
    const bool fits = space == Space::generic
                          ? own == Space::global || own == Space::shared || own == Space::local
                      : is_param(space)  ? own == Space::param
                      : is_shared(space) ? own == Space::shared
                                         : own == space;
    if (!fits)
      fail(operand, "'" + variable->name + "' lies in ." + std::string(name_of(own)) + " memory; " + name() +
                        (space == Space::generic
                             ? " takes a generic address here"
                             : " takes an address of ." + std::string(name_of(space)) + " memory here"));
  }

  void check_address(const Operand& operand, const OperandPattern& pattern) const {
    if (operand.kind != Operand::Kind::address)
      fail(operand, name() + " takes an address in brackets here, not " + described(operand));
    if ((pattern.kind == OperandPattern::Kind::tensor) != (operand.count != 0))
      fail(operand, name() + (operand.count != 0 ? " takes no coordinates here"
                                                 : " takes a tensor map and coordinates here"));
    // Of four rows: where each of them begins, and which they are.
    const bool has_rows = instruction.has(Mod::tile_gather4) || instruction.has(Mod::tile_scatter4);
    const uint32_t coordinates = has_rows ? 5 : dimensions();
    if (operand.count != 0 && operand.count != coordinates)
      fail(operand, name() + " takes " + std::to_string(coordinates) + " coordinates here, not " +
                        std::to_string(operand.count));
    for (uint32_t i = 0; i < operand.count; ++i)
      check_scalar(instruction.elements[operand.first + i], {}, Type::s32, false);
    const Space space = pattern.space_position == 0   ? instruction.space
                        : pattern.space_position == 1 ? instruction.second_space
                                                      : pattern.space;
    if (operand.reg == no_index) {
      // ptxas looks at no address of a fence.
      if (instruction.op == Op::fence_proxy) return;
      if (operand.symbol.kind != SymbolRef::Kind::none)
        check_lies_in(operand, space);
      else if (space != Space::local)
        fail(operand, "an address is a number in .local memory only");
      return;
    }
    const Type reg = context.function.registers[operand.reg].type;
    // Shared, local and parameter addresses fit 32 bits.
    const bool may_be_short = is_shared(space) || space == Space::local || is_param(space);
    if (compatible(Type::u64, reg, false) || (may_be_short && compatible(Type::u32, reg, false))) return;
    fail(operand, "an address of ." + std::string(name_of(space)) + " memory takes a " +
                      (may_be_short ? "32- or 64-bit" : "64-bit") + " register, not " +
                      described(context.function.registers[operand.reg]));
  }

  void by_pattern(const OperandForm& form) {
    auto& operands = instruction.operands;
    const auto called_for = [&](const OperandPattern& pattern) {
      for (size_t i = 0; i < pattern.only_with_count; ++i)
        if (instruction.has(pattern.only_with[i])) return true;
      return pattern.only_with_count == 0 && !pattern.optional;
    };
    size_t joined = 0, needed = 0, optional = 0;
    for (size_t i = 0; i < operands.size(); ++i) joined += context.piped >> i & 1;
    for (size_t i = 0; i < form.operand_count; ++i) {
      if (form.operands[i].piped) continue;
      if (called_for(form.operands[i]))
        ++needed;
      else if (form.operands[i].optional)
        ++optional;
    }
    const size_t written = operands.size() - joined;
    if (written < needed || written > needed + optional)
      source.fail(instruction.loc, name() + " takes " + std::to_string(needed) +
                                       (optional != 0 ? " to " + std::to_string(needed + optional) : "") +
                                       (needed + optional == 1 ? " operand, not " : " operands, not ") +
                                       std::to_string(written));

    size_t spare = written - needed;
    size_t next = 0;
    for (size_t i = 0; i < form.operand_count; ++i) {
      const OperandPattern& pattern = form.operands[i];
      const bool is_joined = next < operands.size() && (context.piped >> next & 1) != 0;
      bool present = called_for(pattern);
      if (pattern.optional && pattern.piped) {
        present = is_joined;
      } else if (pattern.optional && spare > 0) {
        present = true;
        --spare;
      }
      if (!present) continue;
      if (pattern.piped && !is_joined)
        source.fail(instruction.loc, name() + " takes two destinations, joined by '|'");
      if (!pattern.piped && is_joined) fail(operands[next], name() + " takes no second destination here");
      Operand& operand = operands[next++];
      switch (pattern.kind) {
        case OperandPattern::Kind::address:
        case OperandPattern::Kind::tensor: check_address(operand, pattern); break;
        case OperandPattern::Kind::value: check_value(operand, pattern); break;
        case OperandPattern::Kind::list: check_list(operand, pattern); break;
        case OperandPattern::Kind::label:
        case OperandPattern::Kind::table: break;  // the parser reads nothing else there
      }
    }
    if (next < operands.size()) fail(operands[next], name() + " takes no second destination here");
  }

  /// What numbers stand for, and how many dimensions there are.
  void tensor_map_field() const {
    const auto& operands = instruction.operands;
    const bool ordinal = operands.size() == 3;
    const Operand& value = operands[1];
    const uint64_t most = ordinal                                   ? 4
                          : instruction.has(Mod::elemtype)          ? 12
                          : instruction.has(Mod::swizzle_mode)      ? 3
                          : instruction.has(Mod::swizzle_atomicity) ? 3
                          : instruction.has(Mod::interleave_layout) ? 2
                          : instruction.has(Mod::fill_mode)         ? 1
                                                                    : UINT64_MAX;
    // Elements and swizzles that came with sm_100 and sm_103.
    const bool newer = (instruction.has(Mod::elemtype) && value.bits <= 15) ||
                       (instruction.has(Mod::swizzle_mode) && value.bits == 4);
    if (value.kind == Operand::Kind::integer && value.bits > most && newer)
      source.refuse(value.loc,
                    name() + " with the value " + std::to_string(value.bits) + " is not supported");
    if (value.kind == Operand::Kind::integer && value.bits > most)
      fail(value, name() + " takes 0 to " + std::to_string(most) + " here");
    if (instruction.has(Mod::swizzle_atomicity) && value.bits == 2)
      source.refuse(value.loc, "a swizzle of a tensor that exchanges 8 bytes is not supported");
    if (instruction.has(Mod::interleave_layout) && value.bits != 0)
      source.refuse(value.loc, "an interleaved layout of a tensor is not supported");
  }

  void check_combination() const {
    const auto& operands = instruction.operands;
    if (instruction.op == Op::cvta && instruction.has(Mod::to) && operands[1].kind == Operand::Kind::symbol)
      fail(operands[1], "cvta.to takes a generic address in a register");
    if ((instruction.op == Op::cvta || instruction.op == Op::mapa) &&
        operands[1].kind == Operand::Kind::symbol)
      check_lies_in(operands[1], instruction.op == Op::cvta ? instruction.space : Space::shared);
    if (instruction.op == Op::cvt) conversion();
    if (instruction.op == Op::setp && context.piped != 0 &&
        (instruction.type() == Type::f16 || instruction.type() == Type::bf16))
      fail(operands[1], name() + " takes no second destination");
    if (instruction.op == Op::tcgen05_cp) tensor_address(operands[0]);
    if (info(instruction.op).op_class == OpClass::video) video();
    if ((instruction.op == Op::mbarrier_arrive || instruction.op == Op::mbarrier_arrive_drop) &&
        instruction.space == Space::shared_cluster && operands[0].kind != Operand::Kind::sink)
      fail(operands[0], name() + " with .shared::cluster gives no state: '_' stands in its place");
    if (instruction.op == Op::cp_async) {
      const uint64_t size = operands[2].bits;
      if (instruction.has(Mod::cg) ? size != 16 : size != 4 && size != 8 && size != 16)
        fail(operands[2],
             name() + (instruction.has(Mod::cg) ? ".cg copies 16 bytes" : " copies 4, 8 or 16 bytes"));
    }
    if (instruction.op == Op::fence_proxy && !operands.empty() && operands[1].bits != 128)
      fail(operands[1], name() + " is for 128 bytes, a tensor map");
    if (instruction.op == Op::tensormap_cp_fenceproxy && operands[2].bits != 128)
      fail(operands[2], name() + " is for 128 bytes, a tensor map");
    if ((instruction.op == Op::discard || instruction.op == Op::applypriority) && operands[1].bits != 128)
      fail(operands[1], name() + " is for 128 bytes");
    if (instruction.op == Op::bfe || instruction.op == Op::bfi)
      for (const Operand& place : std::span(operands).last(2))
        if (place.kind == Operand::Kind::integer && place.bits > 255)
          fail(place, "positions and lengths of " + name() + " are 0 to 255");
    if (instruction.op == Op::tensormap_replace) tensor_map_field();
    if (instruction.op == Op::st_bulk) {
      const Operand& size = operands[1];
      if (size.kind == Operand::Kind::integer && (size.bits % 8 != 0 || size.bits > 16777216))
        fail(size, name() + " writes a multiple of 8 bytes, 16777216 at most");
      if (operands[2].bits != 0) fail(operands[2], name() + " writes zeros: the value here is 0");
    }
    if (instruction.op == Op::match && instruction.has(Mod::any) && context.piped != 0)
      fail(operands[1], "match.any takes no second destination");
    // Of three values: from sm_100 on.
    if ((instruction.op == Op::min || instruction.op == Op::max) && operands.size() == 4 &&
        (instruction.type() != Type::f32 || instruction.has(Mod::xorsign)))
      fail(operands[3], name() + " takes 3 operands, not 4");
    if ((instruction.op == Op::min || instruction.op == Op::max) && operands.size() == 3 &&
        instruction.has(Mod::abs) && !instruction.has(Mod::xorsign))
      fail(operands[2], name() + " of two values with .abs needs .xorsign");
    if (instruction.op == Op::setmaxnreg &&
        (operands[0].bits % 8 != 0 || operands[0].bits < 24 || operands[0].bits > 256))
      fail(operands[0], name() + " takes a multiple of 8 from 24 to 256");
    if (instruction.op == Op::pmevent && !instruction.has(Mod::mask) && operands[0].bits > 15)
      fail(operands[0], "there are the events 0 to 15");
    if ((instruction.op == Op::txq || instruction.op == Op::suq) &&
        ((operands[1].reg == no_index && operands[1].symbol.kind == SymbolRef::Kind::none) ||
         operands[1].bits != 0))
      fail(operands[1], name() + " takes a texture or surface reference, or a register with a handle");
    if ((instruction.op == Op::bar || instruction.op == Op::barrier) && !instruction.has(Mod::warp)) {
      // [d,] barrier [, threads] [, predicate]: d and the predicate with .red
      const bool red = instruction.has(Mod::red);
      const Operand& barrier = operands[red ? 1 : 0];
      if (barrier.kind == Operand::Kind::integer && barrier.bits > 15)
        fail(barrier, "a block has the barriers 0 to 15");
      if (operands.size() != (red ? 4 : 2)) return;
      const Operand& threads = operands[red ? 2 : 1];
      if (threads.kind == Operand::Kind::integer && (threads.bits == 0 || threads.bits % 32 != 0))
        fail(threads, "the number of threads of a barrier is a multiple of 32");
    }
  }

  void conversion() const {
    const auto& operands = instruction.operands;
    const Type to = instruction.type(), from = instruction.types[1];
    const bool two = instruction.has(Mod::pack) ||
                     (from == Type::f32 && (to == Type::f16x2 || to == Type::bf16x2 || to == Type::e4m3x2 ||
                                            to == Type::e5m2x2 || is_small(to)));
    const bool has_random_bits = instruction.has(Mod::rs), four = is_four(to);
    const size_t needed =
        2 + (two ? 1 : 0) + (has_random_bits ? 1 : 0) + (instruction.types.size() > 2 ? 1 : 0);
    if (operands.size() != needed)
      source.fail(instruction.loc, name() + " takes " + std::to_string(needed) + " operands");
    if (four && operands[1].count != 4) fail(operands[1], name() + " takes four numbers in braces here");
    // Where a newer format takes part, registers have the size of what they hold.
    const bool exact = four || to == Type::bf16 || from == Type::bf16 || to == Type::tf32 ||
                       to == Type::e4m3x2 || to == Type::e5m2x2 || from == Type::e4m3x2 ||
                       from == Type::e5m2x2 || is_small(to) || is_small(from);
    for (size_t i = 0; i < 2 && exact; ++i) {
      const Type type = i == 0 ? to : from;
      if (operands[i].kind == Operand::Kind::reg &&
          size_of(context.function.registers[operands[i].reg].type) != size_of(type))
        fail(operands[i], name() + " takes a register of its size here");
    }
  }

  // What selects and combines the parts of a video instruction's operands; ptxas takes no constants where it
  // expects several parts.
  void video() const {
    const auto& operands = instruction.operands;
    const bool second = instruction.has(Mod::add) || instruction.has(Mod::min) || instruction.has(Mod::max);
    if (instruction.op == Op::vmad) {
      const bool product = operands[1].negated != operands[2].negated;
      if (product && operands[3].negated)
        fail(operands[3], "vmad takes a minus for the product or for the summand, not both");
      if (instruction.has(Mod::po) && (product || operands[3].negated))
        fail(operands[1], ".po does not go with a minus");
    }
    const char last = info(instruction.op).name.back();
    const uint8_t parts = last == '2' ? 2 : last == '4' ? 4 : 1;
    for (size_t i = 0; i < operands.size() && i < 3; ++i) check_selector(operands[i], parts, i == 0);
    if (parts != 1) {
      for (const Operand& operand : operands)
        if (operand.kind == Operand::Kind::integer) fail(operand, name() + " takes no constants");
      return;
    }
    const bool merge = operands[0].selector.unit != Selector::Unit::none;
    if (merge && second) fail(operands[0], name() + " takes no selector here beside a second operation");
    if ((merge || second) && operands.size() != 4)
      source.fail(instruction.loc, name() + " takes 4 operands here, not 3");
  }
  // One part, or of several: two halves or four bytes out of both operands; of a destination those to write,
  // the highest first.
  void check_selector(const Operand& operand, uint8_t parts, bool destination) const {
    const Selector& s = operand.selector;
    if (s.unit == Selector::Unit::none) return;
    bool good = parts == 1 || s.unit == (parts == 2 ? Selector::Unit::half : Selector::Unit::byte);
    good &= parts == 1 ? s.count == 1 : destination ? s.count <= parts : s.count == parts;
    const uint8_t digits = parts == 1 ? (s.unit == Selector::Unit::half ? 2 : 4)
                                      : static_cast<uint8_t>(destination ? parts : 2 * parts);
    for (uint8_t i = 0; i < s.count; ++i) {
      good &= s.digits[i] < digits;
      if (destination && i > 0) good &= s.digits[i] < s.digits[i - 1];
    }
    if (!good) fail(operand, name() + " does not take this selector here");
  }

  // data, [handle, {coordinates}] and what .level and .grad add; of stores, the data comes last.
  void texture() {
    auto& operands = instruction.operands;
    const bool store = instruction.op == Op::sust || instruction.op == Op::sured;
    const bool surface = store || instruction.op == Op::suld;
    const uint32_t extra = instruction.has(Mod::level) ? 1 : instruction.has(Mod::grad) ? 2 : 0;
    if (context.piped != 0) source.fail(instruction.loc, name() + " takes no second destination");
    if (operands.size() != 3 + extra)
      source.refuse(instruction.loc, name() + " takes " + std::to_string(2 + extra) +
                                         " operands here; offsets and depth comparison are not supported");
    const TextureShape shape = texture_shape_of(instruction);
    const uint32_t axes = shape.coordinates();
    Operand& handle = operands[store ? 0 : 1];
    if (handle.kind != Operand::Kind::symbol && handle.kind != Operand::Kind::reg)
      fail(handle, name() + " takes a handle and coordinates in brackets here, not " + described(handle));
    if (handle.kind == Operand::Kind::reg) check_register(handle, Type::u64, false);

    // Vectors of three are padded to four.
    const uint32_t least = axes + (shape.layered ? 1 : 0);
    Operand& coordinates = operands[store ? 1 : 2];
    const Type coordinate = surface ? Type::b32 : instruction.types.back();
    if (coordinates.kind != Operand::Kind::vector) {
      if (least != 1) fail(coordinates, name() + " takes a vector of coordinates here");
      check_scalar(coordinates, {}, coordinate, false);
    } else {
      if (coordinates.count < least || coordinates.count > (least == 3 ? 4 : least))
        fail(coordinates, name() + " takes " + std::to_string(least) + " coordinates here, not " +
                              std::to_string(coordinates.count));
      for (uint32_t i = 0; i < least; ++i)
        check_scalar(instruction.elements[coordinates.first + i], {},
                     shape.layered && i == 0 ? Type::b32 : coordinate, false);
    }

    Operand& data = operands[store ? 2 : 0];
    const OperandPattern pattern{.destination = !store, .wider = true};
    if (data.kind != Operand::Kind::vector) {
      if (instruction.vector != 1) fail(data, name() + " takes a vector of data");
      check_scalar(data, pattern, instruction.type(), false);
    } else {
      if (data.count != instruction.vector)
        fail(data, name() + " takes " + std::to_string(instruction.vector) + " values, not " +
                       std::to_string(data.count));
      for (uint32_t i = 0; i < data.count; ++i)
        check_scalar(instruction.elements[data.first + i], pattern, instruction.type(), !store);
    }

    for (size_t i = 3; i < operands.size(); ++i) {
      if (operands[i].kind != Operand::Kind::vector) {
        if (extra == 2 && axes != 1) fail(operands[i], name() + " takes vectors as gradients here");
        check_scalar(operands[i], {}, Type::f32, false);
        continue;
      }
      if (extra != 2) fail(operands[i], "a level is no vector");
      if (operands[i].count < axes || operands[i].count > (axes == 3 ? 4 : axes))
        fail(operands[i], name() + " takes gradients of " + std::to_string(axes) + " numbers here, not of " +
                              std::to_string(operands[i].count));
      for (uint32_t e = 0; e < operands[i].count; ++e)
        check_scalar(instruction.elements[operands[i].first + e], {}, Type::f32, false);
    }
  }

  // The registers of a matrix fragment, of tensor memory or of a mask.
  void fragment(Operand& operand, bool destination, Type type, uint32_t registers) {
    if (operand.kind != Operand::Kind::vector || operand.count != registers)
      fail(operand, name() + " takes a vector of " + std::to_string(registers) + " here" +
                        (operand.kind == Operand::Kind::vector ? ", not of " + std::to_string(operand.count)
                                                               : ", not " + described(operand)));
    // Packed elements are bits. What ptxas takes but registers: integers with tensor memory, elsewhere sinks,
    // and constants beside a register.
    const bool tensor = info(instruction.op).op_class == OpClass::tensor;
    const Type one = size_of(type) >= 4 && type != Type::tf32 ? type : Type::b32;
    const auto elements = std::span(instruction.elements).subspan(operand.first, operand.count);
    const auto is_register = [](const Operand& o) { return o.kind == Operand::Kind::reg; };
    const auto is_constant = [](const Operand& o) {
      return o.kind == Operand::Kind::integer || o.kind == Operand::Kind::real32 ||
             o.kind == Operand::Kind::real64;
    };
    const bool constants = !destination && !tensor && std::ranges::any_of(elements, is_register);
    for (Operand& element : elements) {
      const auto other = tensor ? Operand::Kind::integer : Operand::Kind::sink;
      if (!is_register(element) && !(destination != tensor && element.kind == other) &&
          !(constants && is_constant(element)))
        fail(element, name() + " takes registers here, not " + described(element));
      // Seen in the machine code of ptxas 13.0, and on an H200.
      if (element.kind == Operand::Kind::real64 && one == Type::f32 &&
          static_cast<uint32_t>(element.bits) !=
              std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(element.bits))))
        fail(element,
             "the assembler takes the lower half of the 64 bits of a constant here: write its 32 bits (0f…)");
      check_scalar(element, {.destination = destination}, one, destination && !tensor);
    }
  }
  void constant(const Operand& operand, std::initializer_list<int64_t> values) {
    for (const int64_t value : values)
      if (operand.kind == Operand::Kind::integer && static_cast<int64_t>(operand.bits) == value) return;
    std::string list;
    for (const int64_t value : values) list += (list.empty() ? "" : " ") + std::to_string(value);
    fail(operand, name() + " takes a constant here: one of " + list);
  }

  void matrix() {
    const MatrixForm form = matrix_form_of(instruction);
    auto& operands = instruction.operands;
    const auto count = [&](size_t least, size_t most) {
      if (operands.size() < least || operands.size() > most || context.piped != 0)
        source.fail(instruction.loc, name() + " takes " + std::to_string(least) +
                                         (most != least ? " or " + std::to_string(most) : "") +
                                         " operands here, not " + std::to_string(operands.size()));
    };
    switch (form.kind) {
      case MatrixForm::Kind::load_rows:
        count(2, 2);
        fragment(operands[0], true, Type::b32, form.a_registers);
        check_address(operands[1], {.kind = OperandPattern::Kind::address});
        return;
      case MatrixForm::Kind::store_rows:
        count(2, 2);
        check_address(operands[0], {.kind = OperandPattern::Kind::address});
        fragment(operands[1], false, Type::b32, form.a_registers);
        return;
      case MatrixForm::Kind::transpose:
        count(2, 2);
        check_scalar(operands[0], {.destination = true}, Type::b32, false);
        check_scalar(operands[1], {}, Type::b32, false);
        return;
      case MatrixForm::Kind::load:
      case MatrixForm::Kind::store: {
        count(2, 3);
        const bool load = form.kind == MatrixForm::Kind::load;
        fragment(operands[load ? 0 : 1], load, form.a, form.a_registers);
        check_address(operands[load ? 1 : 0], {.kind = OperandPattern::Kind::address});
        if (operands.size() == 3) check_scalar(operands[2], {}, Type::b32, false);
        return;
      }
      case MatrixForm::Kind::product:
        if (const size_t all = form.sparse ? 6 : form.scale_blocks != 0 ? 8 : 4; true) count(all, all);
        fragment(operands[0], true, form.d, form.d_registers);
        fragment(operands[1], false, form.a, form.a_registers);
        fragment(operands[2], false, form.b, form.b_registers);
        fragment(operands[3], false, form.c, form.c_registers);
        if (form.sparse) {
          check_scalar(operands[4], {}, Type::b32, false);
          constant(operands[5], {0, 1, 2, 3});
        }
        for (size_t i = 4; form.scale_blocks != 0 && i < operands.size(); i += 2)
          scale_factors(operands[i], operands[i + 1]);
        return;
      case MatrixForm::Kind::group_product: group_product(form, count); return;
      case MatrixForm::Kind::group_wait:
        count(1, 1);
        check_scalar(operands[0], {.constant_only = true}, Type::u32, false);
        return;
      case MatrixForm::Kind::group_order: count(0, 0); return;
      case MatrixForm::Kind::tensor_load:
      case MatrixForm::Kind::tensor_store: {
        const bool load = form.kind == MatrixForm::Kind::tensor_load,
                   halves = instruction.has(Mod::dim_16x32bx2);
        const size_t reduced = instruction.op == Op::tcgen05_ld_red ? 1 : 0, all = (halves ? 3 : 2) + reduced;
        count(all, all);
        fragment(operands[load ? 0 : all - 1], load, Type::b32, form.a_registers);
        if (reduced != 0) one_or_vector(operands[1], true);
        tensor_address(operands[load ? 1 + reduced : 0]);
        if (halves) check_scalar(operands[load ? 2 + reduced : 1], {.constant_only = true}, Type::u32, false);
        return;
      }
      case MatrixForm::Kind::tensor_product: tensor_product(count); return;
    }
  }

  /// A register of 32 bits, by itself or in a vector of one.
  void one_or_vector(Operand& operand, bool destination) {
    if (operand.kind == Operand::Kind::vector)
      fragment(operand, destination, Type::b32, 1);
    else
      check_scalar(operand, {.destination = destination}, Type::b32, false);
  }

  /// A register with scale factors, and {which byte of it, which thread's}.
  void scale_factors(Operand& factors, Operand& which) {
    one_or_vector(factors, false);
    if (which.kind != Operand::Kind::vector || which.count != 2)
      fail(which, name() + " takes {byte, thread} here, not " + described(which));
    for (uint32_t i = 0; i < 2; ++i)
      check_scalar(instruction.elements[which.first + i], {}, Type::u16, false);
  }

  /// An address of tensor memory: a register of 32 bits.
  void tensor_address(const Operand& operand) const {
    if (operand.kind == Operand::Kind::address && operand.reg == no_index)
      fail(operand, "an address of tensor memory is in a register");
    check_address(operand,
                  {.kind = OperandPattern::Kind::address, .space = Space::shared, .space_position = 2});
    if (size_of(context.function.registers[operand.reg].type) != 4)
      fail(operand, "an address of tensor memory takes a 32-bit register, not " +
                        described(context.function.registers[operand.reg]));
  }

  void tensor_product(const auto& count) {
    auto& operands = instruction.operands;
    const bool scaled = instruction.has(Mod::block_scale), sparse = instruction.has(Mod::sp),
               stationary = instruction.op == Op::tcgen05_mma_ws;
    const size_t least = (scaled ? 7 : 5) + (sparse ? 1 : 0);
    if (operands.size() < least) count(least, least);
    tensor_address(operands[0]);
    if (operands[1].kind == Operand::Kind::address)
      tensor_address(operands[1]);
    else
      check_scalar(operands[1], {}, Type::b64, false);
    check_scalar(operands[2], {}, Type::b64, false);
    size_t next = 3;
    if (sparse) tensor_address(operands[next++]);
    check_scalar(operands[next++], {}, Type::b32, false);
    for (int i = 0; scaled && i < 2; ++i) tensor_address(operands[next++]);
    if (!scaled && !stationary && operands[next].kind == Operand::Kind::vector)
      fragment(operands[next++], false, Type::b32, instruction.has(Mod::cta_group_2) ? 8 : 4);
    if (next >= operands.size()) count(next + 1, next + 1);
    check_scalar(operands[next++], {.negatable = true}, Type::pred, false);
    if (stationary && next < operands.size()) check_scalar(operands[next++], {}, Type::b64, false);
    const bool halves_input =
        !stationary && (instruction.has(Mod::kind_f16) || instruction.has(Mod::kind_tf32));
    if (next < operands.size() && halves_input) {
      check_scalar(operands[next], {.constant_only = true}, Type::u32, false);
      if (operands[next++].bits > 15) fail(operands[next - 1], "scale-input-d is 0 to 15");
    }
    if (next != operands.size()) count(next, next);
  }

  void group_product(const MatrixForm& form, const auto& count) {
    auto& operands = instruction.operands;
    if (operands.size() < 4) count(4, 4);
    const bool in_registers = operands[1].kind == Operand::Kind::vector;
    const bool scales = form.d != Type::s32;
    const bool transposes = form.a == Type::f16 || form.a == Type::bf16;
    const size_t metadata = form.sparse ? 2 : 0;
    const size_t all = 4 + metadata + (scales ? 2 : 0) + (transposes ? (in_registers ? 1 : 2) : 0);
    count(all, all);
    fragment(operands[0], true, form.d, form.d_registers);
    if (in_registers)
      fragment(operands[1], false, Type::b32, form.a_registers);
    else
      check_scalar(operands[1], {}, Type::b64, false);
    check_scalar(operands[2], {}, Type::b64, false);
    size_t next = 3;
    if (form.sparse) {
      check_scalar(operands[next++], {}, Type::b32, false);
      constant(operands[next++], {0, 1, 2, 3});
    }
    check_scalar(operands[next++], {.negatable = true}, Type::pred, false);
    for (int i = 0; scales && i < 2; ++i) constant(operands[next++], {-1, 1});
    while (next < operands.size()) constant(operands[next++], {0, 1});
  }

  // mov moves a value or, under .v2 and .v4, several, the address of a symbol, or packs and unpacks a vector.
  void mov() {
    auto& operands = instruction.operands;
    const Type type = instruction.type();
    if (operands.size() != 2 || context.piped != 0)
      source.fail(instruction.loc, name() + " takes 2 operands, not " + std::to_string(operands.size()));
    Operand& d = operands[0];
    Operand& a = operands[1];
    OperandPattern destination{.destination = true};
    OperandPattern value{.negatable = true, .symbol = true, .special = true};
    if (instruction.vector != 1) {
      for (const Operand& list : operands) {
        if (list.kind != Operand::Kind::vector || list.count != instruction.vector)
          fail(list,
               name() + " with .v" + std::to_string(instruction.vector) + " takes that many elements here");
        for (uint32_t i = 0; i < list.count; ++i)
          check_scalar(instruction.elements[list.first + i], &list == &d ? destination : value, type,
                       &list == &d);
      }
      return;
    }
    if (d.kind == Operand::Kind::vector || a.kind == Operand::Kind::vector) {
      Operand& vector = d.kind == Operand::Kind::vector ? d : a;
      Operand& whole = d.kind == Operand::Kind::vector ? a : d;
      if (whole.kind == Operand::Kind::vector) fail(whole, name() + " takes one vector, not two");
      if (type != Type::b16 && type != Type::b32 && type != Type::b64 && type != Type::b128)
        fail(vector, name() + " takes no vector; .b16 .b32 .b64 .b128 do");
      const uint32_t size = vector.count != 0 ? size_of(type) / vector.count : 0;
      const std::optional<Type> element = size == 1   ? std::optional(Type::b8)
                                          : size == 2 ? std::optional(Type::b16)
                                          : size == 4 ? std::optional(Type::b32)
                                          : size == 8 ? std::optional(Type::b64)
                                                      : std::nullopt;
      if ((vector.count != 2 && vector.count != 4) || !element)
        fail(vector, name() + " takes vectors of 2 or 4 elements that fill " + std::to_string(size_of(type)) +
                         " bytes");
      const bool unpack = &vector == &d;
      for (uint32_t i = 0; i < vector.count; ++i)
        check_scalar(instruction.elements[vector.first + i], unpack ? destination : OperandPattern{},
                     *element, unpack);
      check_scalar(whole, unpack ? OperandPattern{} : destination, type, false);
      return;
    }
    check_scalar(d, destination, type, false);
    check_scalar(a, value, type, false);
    if (a.kind == Operand::Kind::symbol && (is_float(type) || type == Type::pred || type == Type::b128))
      fail(a, name() + " cannot hold an address");
  }
};

}  // namespace

void check_operands(Instruction& instruction, const Mnemonic& mnemonic, const OperandContext& context,
                    const Source& source) {
  OperandChecker checker{instruction, mnemonic, context, source};
  switch (mnemonic.form->check) {
    case OperandForm::Check::mov: checker.mov(); break;
    case OperandForm::Check::texture: checker.texture(); break;
    case OperandForm::Check::matrix: checker.matrix(); break;
    case OperandForm::Check::by_pattern:
      checker.by_pattern(*mnemonic.form);
      checker.check_combination();
      break;
    case OperandForm::Check::call:
    case OperandForm::Check::not_described: break;
  }
}

}  // namespace lanescope::ptx
