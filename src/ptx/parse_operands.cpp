// Operands: registers, constants, symbols, addresses, vectors.
#include "ptx/parser.hpp"

namespace lanescope::ptx {
namespace {

constexpr size_t most_operands = 32;
constexpr size_t most_elements = 128;  // the accumulators of wgmma

// x y z w or r g b a → 0…3.
std::optional<uint32_t> element_of(std::string_view component) {
  if (component.size() != 1) return std::nullopt;
  for (const std::string_view letters : {"xyzw", "rgba"})
    if (const size_t at = letters.find(component[0]); at != std::string_view::npos)
      return static_cast<uint32_t>(at);
  return std::nullopt;
}

// b0…b3, h0, h1, and lists of such digits: h10, b7654.
std::optional<Selector> read_selector(std::string_view component) {
  Selector selector;
  if (component.empty() || component.size() > 5) return std::nullopt;
  if (component[0] != 'b' && component[0] != 'h') return std::nullopt;
  selector.unit = component[0] == 'b' ? Selector::Unit::byte : Selector::Unit::half;
  for (const char digit : component.substr(1)) {
    if (digit < '0' || digit > '7') return std::nullopt;
    selector.digits[selector.count++] = static_cast<uint8_t>(digit - '0');
  }
  return selector.count == 0 ? std::nullopt : std::optional(selector);
}

}  // namespace

void Parser::parse_operands(Instruction& instruction, const OperandForm& form) {
  const bool takes_none = form.operand_count == 0 && form.check == OperandForm::Check::by_pattern;
  if (takes_none || token_.is(";")) return;
  instruction.operands.reserve(4);
  for (bool joined = false;;) {
    const size_t index = instruction.operands.size();
    if (index == most_operands) fail(token_.loc, "too many operands");
    if (joined) piped_ |= 1u << index;
    const auto kind = index < form.operand_count ? form.operands[index].kind : OperandPattern::Kind::value;
    if (kind == OperandPattern::Kind::label || kind == OperandPattern::Kind::table) {
      use_label(instruction, kind == OperandPattern::Kind::table);
    } else if (form.check == OperandForm::Check::texture && token_.is("[")) {
      parse_texture_address(instruction);
    } else {
      Operand operand = parse_operand(instruction);
      check_reference(instruction, operand);
      instruction.operands.push_back(operand);
    }
    if (accept(","))
      joined = false;
    else if (accept("|"))
      joined = true;
    else
      return;
  }
}

uint64_t Parser::parse_offset() {
  if (!token_.is("+") && !token_.is("-")) return 0;
  const TextLoc loc = token_.loc;
  const bool minus = token_.is("-");
  advance();
  const Constant offset = parse_constant();
  if (offset.kind != Constant::Kind::integer) fail(loc, "an offset is an integer");
  return minus ? 0 - offset.bits : offset.bits;
}

// A register, special register, or symbol with offset. `instruction` takes the elements of a vector register.
Operand Parser::parse_named(Instruction* instruction) {
  const Token name = token_;
  Operand operand;
  operand.loc = name.loc;
  const std::string_view component = lexer_.component();
  advance();
  if (const auto reg = find_register(name.text)) {
    operand.kind = Operand::Kind::reg;
    operand.reg = *reg;
    if (component.empty()) return operand;
    if (const auto selector = read_selector(component)) {
      operand.selector = *selector;
      return operand;
    }
  }
  if (const Declaration* found = find_declared(name.text);
      found != nullptr && found->kind == Declaration::Kind::vector_reg) {
    if (!component.empty()) {
      const auto element = element_of(component);
      if (!element || *element >= found->count)
        fail(name.loc, "'" + std::string(name.text) + "' has no element ." + std::string(component));
      operand.kind = Operand::Kind::reg;
      operand.reg = found->index + *element;
      return operand;
    }
    if (instruction == nullptr) fail(name.loc, "a vector register inside a vector");
    operand.kind = Operand::Kind::vector;
    operand.first = static_cast<uint32_t>(instruction->elements.size());
    operand.count = found->count;
    for (uint32_t i = 0; i < found->count; ++i) {
      Operand element;
      element.kind = Operand::Kind::reg;
      element.loc = name.loc;
      element.reg = found->index + i;
      instruction->elements.push_back(element);
    }
    return operand;
  }
  if (name.text.starts_with('%')) {
    std::string full(name.text);
    const auto axis = element_of(component);
    if (!component.empty()) full += "." + (axis ? std::string(1, "xyzw"[*axis]) : std::string(component));
    if (const auto special = find_special_register(full)) {
      operand.kind = Operand::Kind::special;
      operand.special = *special;
      return operand;
    }
    if (is_always_zero(full)) {
      operand.kind = Operand::Kind::integer;
      return operand;
    }
    if (component.empty() && instruction != nullptr && instruction->op == Op::mov &&
        instruction->vector == 4 && find_special_register(full + ".x")) {
      operand.kind = Operand::Kind::vector;
      operand.first = static_cast<uint32_t>(instruction->elements.size());
      operand.count = 4;
      for (const char* axis : {".x", ".y", ".z", ".w"}) {
        Operand& element = instruction->elements.emplace_back();
        element.loc = name.loc;
        const auto special = find_special_register(full + axis);
        element.kind = special ? Operand::Kind::special : Operand::Kind::integer;
        if (special) element.special = *special;
      }
      return operand;
    }
    for (const std::string_view refused :
         {"%envreg", "%reserved_smem_offset", "%warpid_", "%smem", "%locality_domain", "%perctamemory"})
      if (name.text.starts_with(refused))
        source_.refuse(name.loc, "the special register '" + full + "'" +
                                     (refused == "%envreg" ? ", whose meaning is the driver's own," : "") +
                                     " is not supported");
    if (component.empty() && find_special_register(full + ".x"))
      fail(name.loc, "'" + full + "' needs an element: .x .y .z");
  }
  if (!component.empty()) fail(name.loc, "'" + std::string(name.text) + "' is no vector");
  const auto symbol = find_symbol(name.text);
  if (!symbol) fail_undeclared(name);
  operand.kind = Operand::Kind::symbol;
  operand.symbol = *symbol;
  operand.bits = parse_offset();
  return operand;
}

// `instruction` takes the coordinates.
Operand Parser::parse_address(Instruction& instruction) {
  Operand operand;
  operand.loc = token_.loc;
  expect("[");
  if (token_.kind == Token::Kind::identifier) {
    const Operand base = parse_named(nullptr);
    if (base.kind == Operand::Kind::special) fail(base.loc, "a special register holds no address");
    operand.reg = base.reg;
    operand.symbol = base.symbol;
    operand.bits = base.bits;
    if (base.kind == Operand::Kind::reg) operand.bits = parse_offset();
  } else {
    const TextLoc loc = token_.loc;
    const Constant value = parse_constant();
    if (value.kind != Constant::Kind::integer) fail(loc, "an address is an integer");
    operand.bits = value.bits;
  }
  operand.kind = Operand::Kind::address;
  if (accept(",")) {
    const Operand coordinates = parse_vector(instruction);
    operand.first = coordinates.first;
    operand.count = coordinates.count;
  }
  expect("]");
  return operand;
}

// name[2], name[%r1], name[%r1+2]: memory of ld and st, an address of mov. The index counts in elements of
// the type, also of an array of vectors or arrays, and takes part with 32 bits (seen in what ptxas 13.0
// makes).
Operand Parser::parse_array_element(const Instruction& instruction, const Operand& array) {
  const Variable* variable = nullptr;
  if (array.symbol.kind == SymbolRef::Kind::module_variable)
    variable = &module_.variables[array.symbol.index];
  else if (array.symbol.kind == SymbolRef::Kind::local_variable)
    variable = &function_->variables[array.symbol.index];
  else if (array.symbol.kind == SymbolRef::Kind::parameter)
    variable = &function_->params[array.symbol.index];
  if (variable == nullptr || variable->dims.empty() || array.bits != 0)
    fail(array.loc, "an index belongs to the name of an array");
  const bool is_address = instruction.op == Op::mov;
  if (!is_address && instruction.op != Op::ld && instruction.op != Op::st)
    fail(array.loc, "an array with an index is an operand of ld, st and mov");
  const uint64_t bytes = size_of(variable->type);
  expect("[");
  Operand index, element = array;
  if (token_.kind == Token::Kind::identifier) {
    const TextLoc loc = token_.loc;
    index = parse_named(nullptr);
    if (index.kind != Operand::Kind::reg) fail(loc, "an index is an integer or a register");
    const bool is_wide = !is_address || size_of(instruction.type()) == 8;
    element.reg = add_address(array, index, bytes, parse_offset() * bytes, is_wide);
    element.symbol = {};
  } else {
    const TextLoc loc = token_.loc;
    const Constant value = parse_constant();
    if (value.kind != Constant::Kind::integer) fail(loc, "an index is an integer or a register");
    element.bits = static_cast<uint64_t>(int64_t{static_cast<int32_t>(value.bits)}) * bytes;
  }
  expect("]");
  if (!is_address)
    element.kind = Operand::Kind::address;
  else if (index.kind == Operand::Kind::reg)
    element.kind = Operand::Kind::reg;
  return element;
}

// Puts the instructions before the one that is parsed that lead to an element, and gives the register with
// its address, of 64 bits or, of shared memory, of 32.
uint32_t Parser::add_address(const Operand& array, const Operand& index, uint64_t bytes, uint64_t offset,
                             bool is_wide) {
  const auto add_register = [&](Type type) {
    function_->registers.push_back({.name = "(index)", .type = type});
    Operand operand;
    operand.kind = Operand::Kind::reg;
    operand.loc = index.loc;
    operand.reg = static_cast<uint32_t>(function_->registers.size()) - 1;
    return operand;
  };
  const auto constant = [&](uint64_t bits) {
    Operand operand;
    operand.kind = Operand::Kind::integer;
    operand.loc = index.loc;
    operand.bits = bits;
    return operand;
  };
  const auto add = [&](Op op, std::vector<Type> types, std::optional<Mod> modifier,
                       std::vector<Operand> operands) {
    Instruction instruction;
    instruction.op = op;
    instruction.types = std::move(types);
    if (modifier) instruction.modifiers.set(static_cast<size_t>(*modifier));
    instruction.loc = index.loc;
    instruction.source = current_loc_;
    instruction.operands = std::move(operands);
    function_->body.push_back(std::move(instruction));
  };
  const Type type = function_->registers[index.reg].type;
  if (size_of(type) < 2 || size_of(type) > 8) fail(index.loc, "an index is an integer or a register");
  Operand in_bytes = add_register(Type::u32);
  Operand narrow = index;
  if (size_of(type) != 4) {
    narrow = in_bytes;
    add(Op::cvt, {Type::u32, size_of(type) == 2 ? Type::u16 : Type::u64}, {}, {narrow, index});
  }
  add(Op::mad, {Type::u32}, Mod::lo, {in_bytes, narrow, constant(bytes), constant(offset & 0xffffffff)});
  const Operand address = add_register(is_wide ? Type::u64 : Type::u32);
  add(Op::mov, {is_wide ? Type::u64 : Type::u32}, {}, {address, array});
  add(Op::mad, {Type::u32}, is_wide ? Mod::wide : Mod::lo, {address, in_bytes, constant(1), address});
  return address.reg;
}

Reference Parser::reference_of(const Operand& operand) const {
  return operand.symbol.kind == SymbolRef::Kind::module_variable
             ? module_.variables[operand.symbol.index].reference
             : Reference::none;
}

// What an instruction for textures or surfaces names is a reference, of its kind; no other reads or writes
// one.
void Parser::check_reference(const Instruction& instruction, const Operand& operand) const {
  const bool is_surface = instruction.op == Op::suld || instruction.op == Op::sust ||
                          instruction.op == Op::sured || instruction.op == Op::suq;
  const bool is_texture =
      instruction.op == Op::tex || instruction.op == Op::tld4 || instruction.op == Op::txq;
  if (!is_surface && !is_texture) {
    if (operand.kind == Operand::Kind::address && reference_of(operand) != Reference::none)
      fail(operand.loc, "texture and surface references are no memory that can be read or written");
    return;
  }
  if (operand.symbol.kind == SymbolRef::Kind::none) return;
  if (reference_of(operand) != (is_surface ? Reference::surface : Reference::texture) || operand.bits != 0)
    fail(operand.loc, is_surface ? "expected a surface reference, or a register with a surface's handle"
                                 : "expected a texture reference, or a register with a texture's handle");
}

// [handle, {coordinates}]: two operands.
void Parser::parse_texture_address(Instruction& instruction) {
  expect("[");
  if (token_.kind != Token::Kind::identifier)
    fail_expected("a register with a texture's or surface's handle");
  instruction.operands.push_back(parse_named(nullptr));
  check_reference(instruction, instruction.operands.back());
  expect(",");
  Operand coordinates = parse_operand(instruction);
  instruction.operands.push_back(coordinates);
  if (token_.is(",")) source_.refuse(token_.loc, "a texture and a sampler apart are not supported");
  expect("]");
}

// One element of a vector or of a call's list: nothing that nests.
Operand Parser::parse_element() {
  Operand operand;
  operand.loc = token_.loc;
  if (begins_constant()) {
    const Constant value = parse_constant();
    operand.kind = value.kind == Constant::Kind::integer  ? Operand::Kind::integer
                   : value.kind == Constant::Kind::real32 ? Operand::Kind::real32
                                                          : Operand::Kind::real64;
    operand.bits = value.bits;
    return operand;
  }
  if (token_.kind != Token::Kind::identifier) fail_expected("a register or constant");
  if (token_.text == "_") {
    advance();
    operand.kind = Operand::Kind::sink;
    return operand;
  }
  return parse_named(nullptr);
}

Operand Parser::parse_vector(Instruction& instruction) {
  Operand operand;
  operand.kind = Operand::Kind::vector;
  operand.loc = token_.loc;
  operand.first = static_cast<uint32_t>(instruction.elements.size());
  expect("{");
  do {
    if (operand.count == most_elements) fail(token_.loc, "too many elements");
    const Operand element = parse_element();
    instruction.elements.push_back(element);
    ++operand.count;
  } while (accept(","));
  expect("}");
  return operand;
}

Operand Parser::parse_operand(Instruction& instruction) {
  if (token_.is("[")) {
    Operand operand = parse_address(instruction);
    if (accept_word("unified")) instruction.modifiers.set(static_cast<size_t>(Mod::unified));
    return operand;
  }
  if (token_.is("{")) return parse_vector(instruction);
  if (token_.is("!") && lexer_.peek().kind == Token::Kind::identifier) {
    const TextLoc loc = token_.loc;
    advance();
    Operand operand = parse_named(nullptr);
    if (operand.kind != Operand::Kind::reg || function_->registers[operand.reg].type != Type::pred)
      fail(loc, "'!' takes a .pred register");
    operand.negated = true;
    operand.loc = loc;
    return operand;
  }
  if (token_.is("-")) {
    const Token name = lexer_.peek();
    if (name.kind == Token::Kind::identifier && find_register(name.text)) {
      const TextLoc loc = token_.loc;
      advance();
      Operand operand = parse_named(nullptr);
      operand.negated = true;
      operand.loc = loc;
      return operand;
    }
  }
  if (token_.kind == Token::Kind::identifier && token_.text != "_") {
    const Operand named = parse_named(&instruction);
    return named.kind == Operand::Kind::symbol && token_.is("[") ? parse_array_element(instruction, named)
                                                                 : named;
  }
  return parse_element();
}

}  // namespace lanescope::ptx
