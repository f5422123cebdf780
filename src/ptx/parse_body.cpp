// Function bodies: scopes, registers, labels, instructions and their operands.
#include <algorithm>
#include <charconv>

#include "ptx/parser.hpp"

namespace lanescope::ptx {
namespace {

// Real functions need a few thousand at most; the limits keep a short text from asking for gigabytes.
constexpr uint32_t most_registers_of_range = 1u << 18;
constexpr uint64_t most_registers_of_module = 1u << 22;
constexpr size_t deepest_scope = 256;
constexpr size_t most_operands = 32;
constexpr size_t most_elements = 128;  // the accumulators of wgmma

struct NumberedName {
  std::string_view prefix;
  uint32_t number = 0;
};

// `%r12` → `%r`, 12. Nothing for names that no `<n>` declares: without number, or with leading zeros.
std::optional<NumberedName> split_number(std::string_view name) {
  size_t start = name.size();
  while (start > 0 && name[start - 1] >= '0' && name[start - 1] <= '9') --start;
  const size_t digits = name.size() - start;
  if (digits == 0 || digits > 9 || start == 0 || (digits > 1 && name[start] == '0')) return std::nullopt;
  NumberedName out{name.substr(0, start)};
  std::from_chars(name.data() + start, name.data() + name.size(), out.number);
  return out;
}

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

void Parser::parse_body() {
  declarations_.clear();
  names_.clear();
  ranges_.clear();
  scope_starts_.clear();
  label_scopes_.clear();
  scope_ids_.clear();
  scope_count_ = 0;
  current_loc_ = no_index;

  open_scope();
  const auto declare_all = [&](const std::vector<Variable>& variables, SymbolRef::Kind kind) {
    for (uint32_t i = 0; i < variables.size(); ++i) {
      const TextLoc loc = variables[i].loc;
      if (variables[i].name == "_") continue;
      if (variables[i].is_register) {
        const auto reg = static_cast<uint32_t>(function_->registers.size());
        declare(variables[i].name, loc, {.kind = Declaration::Kind::reg, .index = reg});
        function_->registers.push_back({.name = variables[i].name, .type = variables[i].type});
        in_registers_.push_back({{kind, i}, reg});
        continue;
      }
      declare(variables[i].name, loc, {.kind = Declaration::Kind::symbol, .symbol = {kind, i}});
    }
  };
  in_registers_.clear();
  declare_all(function_->params, SymbolRef::Kind::parameter);
  declare_all(function_->returns, SymbolRef::Kind::return_parameter);
  expect("{");
  move_registers(Op::ld, function_->loc, no_index, false);
  while (!scope_starts_.empty()) parse_body_statement();
  move_registers(Op::st, function_->loc, no_index, false);  // a function may end without `ret`
  check_tables();
}

// Parameters in registers are loaded where a function begins (Op::ld), and what it returns in registers is
// stored where it ends (Op::st).
void Parser::move_registers(Op op, TextLoc loc, uint32_t guard, bool guard_negated) {
  for (const auto& [symbol, reg] : in_registers_) {
    if ((op == Op::ld) != (symbol.kind == SymbolRef::Kind::parameter)) continue;
    Instruction move;
    move.op = op;
    move.types = {function_->registers[reg].type};
    move.space = Space::param;
    move.guard = guard;
    move.guard_negated = guard_negated;
    move.loc = loc;
    move.source = current_loc_;
    Operand value, place;
    value.kind = Operand::Kind::reg;
    value.reg = reg;
    place.kind = Operand::Kind::address;
    place.symbol = symbol;
    value.loc = place.loc = loc;
    if (op == Op::st) std::swap(value, place);
    move.operands = {value, place};
    function_->body.push_back(std::move(move));
  }
}

void Parser::open_scope() {
  if (scope_starts_.size() == deepest_scope) fail(token_.loc, "more than 256 nested '{'");
  scope_starts_.push_back(declarations_.size());
  label_scopes_.emplace_back();
  scope_ids_.push_back(scope_count_++);
}

void Parser::close_scope() {
  LabelScope scope = std::move(label_scopes_.back());
  label_scopes_.pop_back();
  for (LabelUse& use : scope.uses) {
    const auto it = scope.labels.find(use.name);
    if (it == scope.labels.end()) {
      if (label_scopes_.empty()) fail(use.loc, "undefined label '" + std::string(use.name) + "'");
      label_scopes_.back().uses.push_back(use);
      continue;
    }
    if (it->second.is_table != use.wants_table)
      fail(use.loc, "'" + std::string(use.name) + "' is " +
                        (use.wants_table ? "a label, not a table" : "a table, not a label"));
    if (use.table != no_index)
      function_->tables[use.table].labels[use.position] = it->second.index;
    else
      function_->body[use.position].operands[use.operand].index = it->second.index;
  }
  while (declarations_.size() > scope_starts_.back()) {
    const Declaration& declaration = declarations_.back();
    auto& map = declaration.kind == Declaration::Kind::reg_range ? ranges_ : names_;
    if (declaration.hidden == no_index)
      map.erase(declaration.name);
    else
      map[declaration.name] = declaration.hidden;
    declarations_.pop_back();
  }
  scope_starts_.pop_back();
  scope_ids_.pop_back();
}

void Parser::declare(std::string_view name, TextLoc loc, Declaration declaration) {
  auto& map = declaration.kind == Declaration::Kind::reg_range ? ranges_ : names_;
  declaration.name = name;
  declaration.depth = static_cast<uint32_t>(scope_starts_.size());
  const auto [it, is_new] = map.try_emplace(name, static_cast<uint32_t>(declarations_.size()));
  const auto fail_twice = [&](std::string_view what) {
    fail(loc, "'" + std::string(what) + "' is declared twice");
  };
  if (!is_new) {
    if (declarations_[it->second].depth == declaration.depth) fail_twice(name);
    declaration.hidden = it->second;
    it->second = static_cast<uint32_t>(declarations_.size());
  }
  if (declaration.kind != Declaration::Kind::reg_range) {
    if (const auto numbered = split_number(name)) {
      const auto range = ranges_.find(numbered->prefix);
      if (range != ranges_.end() && declarations_[range->second].depth == declaration.depth &&
          numbered->number < declarations_[range->second].count)
        fail_twice(name);
    }
  }
  declarations_.push_back(declaration);
}

const Declaration* Parser::find_declared(std::string_view name) const {
  const Declaration* found = nullptr;
  if (const auto it = names_.find(name); it != names_.end()) found = &declarations_[it->second];
  if (const auto numbered = split_number(name))
    if (const auto it = ranges_.find(numbered->prefix); it != ranges_.end()) {
      // An inner `%r<2>` hides only %r0 and %r1 of an outer `%r<5>`.
      for (const Declaration* range = &declarations_[it->second];;) {
        if (numbered->number < range->count) {
          if (found == nullptr || range->depth > found->depth) found = range;
          break;
        }
        if (range->hidden == no_index) break;
        range = &declarations_[range->hidden];
      }
    }
  return found;
}

std::optional<uint32_t> Parser::find_register(std::string_view name) const {
  const Declaration* found = find_declared(name);
  if (found == nullptr) return std::nullopt;
  if (found->kind == Declaration::Kind::reg) return found->index;
  if (found->kind == Declaration::Kind::reg_range) return found->index + split_number(name)->number;
  return std::nullopt;
}

std::optional<SymbolRef> Parser::find_symbol(std::string_view name) const {
  const Declaration* found = find_declared(name);
  if (found != nullptr)
    return found->kind == Declaration::Kind::symbol ? std::optional(found->symbol) : std::nullopt;
  const auto it = globals_.find(name);
  return it != globals_.end() ? std::optional(it->second) : std::nullopt;
}

// .reg .b32 %a, %b<5>;   .reg .v4 .f32 %v;
void Parser::parse_registers() {
  advance();
  uint8_t vector = 1;
  if (accept_word("v2"))
    vector = 2;
  else if (accept_word("v4"))
    vector = 4;
  const std::optional<Type> type = token_.kind == Token::Kind::dotted ? find_type(token_.text) : std::nullopt;
  if (!type) fail_expected("a register's type");
  advance();
  do {
    const Token name = take_identifier("a register's name");
    uint64_t count = vector;
    const bool is_range = token_.is("<");
    if (is_range) {
      advance();
      const TextLoc loc = token_.loc;
      count = take_integer("a number of registers");
      if (count > most_registers_of_range)
        fail(loc, "more than " + std::to_string(most_registers_of_range) + " registers");
      expect(">");
    }
    register_count_ += count * (is_range ? vector : 1);
    if (register_count_ > most_registers_of_module)
      fail(name.loc,
           "the module declares more than " + std::to_string(most_registers_of_module) + " registers");
    const auto first = static_cast<uint32_t>(function_->registers.size());
    const auto n = static_cast<uint32_t>(count);
    if (is_range && vector != 1) {
      for (uint32_t i = 0; i < n; ++i)
        declare_vector(spellings_.emplace_back(std::string(name.text) + std::to_string(i)), name.loc, vector,
                       *type);
    } else if (is_range) {
      declare_range(name, n, *type);
    } else if (vector == 1) {
      declare(name.text, name.loc, {.kind = Declaration::Kind::reg, .index = first});
      function_->registers.push_back({.name = std::string(name.text), .type = *type});
    } else {
      declare_vector(name.text, name.loc, vector, *type);
    }
  } while (accept(","));
  expect(";");
}

void Parser::declare_vector(std::string_view name, TextLoc loc, uint32_t elements, Type type) {
  const auto first = static_cast<uint32_t>(function_->registers.size());
  declare(name, loc, {.kind = Declaration::Kind::vector_reg, .index = first, .count = elements});
  for (uint32_t i = 0; i < elements; ++i)
    function_->registers.push_back({.name = std::string(name) + "." + "xyzw"[i], .type = type});
}

void Parser::declare_range(const Token& name, uint32_t count, Type type) {
  const auto first = static_cast<uint32_t>(function_->registers.size());
  const std::string prefix(name.text);
  declare(name.text, name.loc, {.kind = Declaration::Kind::reg_range, .index = first, .count = count});
  for (uint32_t i = 0; i < count; ++i) {
    std::string full = prefix + std::to_string(i);
    if (const auto it = names_.find(full);
        it != names_.end() && declarations_[it->second].depth == scope_starts_.size())
      fail(name.loc, "'" + full + "' is declared twice");
    function_->registers.push_back({.name = std::move(full), .type = type});
  }
}

void Parser::parse_body_statement() {
  switch (token_.kind) {
    case Token::Kind::punctuation:
      if (token_.is("{")) {
        open_scope();
        return advance();
      }
      if (token_.is("}")) {
        close_scope();
        return advance();
      }
      if (token_.is(";")) return advance();
      if (token_.is("@")) {
        advance();
        const bool negated = accept("!");
        const Token name = take_identifier("a predicate");
        const auto reg = find_register(name.text);
        if (!reg) fail_undeclared(name);
        if (function_->registers[*reg].type != Type::pred)
          fail(name.loc, "a guard is a .pred register, not " + std::string(name.text) + ", a ." +
                             std::string(name_of(function_->registers[*reg].type)) + " register");
        if (token_.kind != Token::Kind::identifier) fail_expected("an instruction");
        return parse_instruction(token_, *reg, negated);
      }
      break;
    case Token::Kind::dotted:
      if (token_.text == "reg") return parse_registers();
      if (token_.text == "loc") return parse_loc();
      if (token_.text == "file") return parse_file();
      if (token_.text == "pragma") return parse_pragma();
      if (token_.text == "local" || token_.text == "shared" || token_.text == "param" ||
          token_.text == "global" || token_.text == "const" || token_.text == "shared::cta")
        return parse_local_variables();
      fail(token_.loc, "unknown directive '." + std::string(token_.text) + "' in a function");
    case Token::Kind::identifier: {
      const Token name = token_;
      if (lexer_.peek().is(":")) {
        advance();
        advance();
        return parse_label(name);
      }
      return parse_instruction(name, no_index, false);
    }
    case Token::Kind::end: fail(function_->loc, "the function '" + function_->name + "' does not end");
    default: break;
  }
  fail_expected("an instruction");
}

void Parser::parse_label(const Token& name) {
  const bool is_table =
      token_.is_word("branchtargets") || token_.is_word("calltargets") || token_.is_word("callprototype");
  const auto index = static_cast<uint32_t>(is_table ? function_->tables.size() : function_->labels.size());
  if (!label_scopes_.back().labels.try_emplace(name.text, LabelDeclaration{is_table, index}).second)
    fail(name.loc, "the label '" + std::string(name.text) + "' is set twice");
  if (is_table) return parse_table(name);
  function_->labels.push_back({.name = std::string(name.text),
                               .instruction = static_cast<uint32_t>(function_->body.size()),
                               .loc = name.loc});
}

void Parser::parse_table(const Token& name) {
  Table table{.name = std::string(name.text), .loc = name.loc};
  const std::string_view directive = token_.text;
  advance();
  const auto index = static_cast<uint32_t>(function_->tables.size());
  if (directive == "branchtargets") {
    table.kind = Table::Kind::branch_targets;
    do {
      const Token label = take_identifier("a label");
      label_scopes_.back().uses.push_back({.name = label.text,
                                           .loc = label.loc,
                                           .table = index,
                                           .position = static_cast<uint32_t>(table.labels.size())});
      table.labels.push_back(0);
    } while (accept(","));
  } else if (directive == "calltargets") {
    table.kind = Table::Kind::call_targets;
    do {
      const Token function = take_identifier("a function's name");
      const SymbolRef symbol = find_global(function);
      if (symbol.kind != SymbolRef::Kind::function)
        fail(function.loc, "'" + std::string(function.text) + "' is no function");
      table.functions.push_back(symbol.index);
    } while (accept(","));
  } else {
    table.kind = Table::Kind::call_prototype;
    if (token_.is("(")) table.returns = parse_parameters();
    (void)take_identifier("'_'");
    if (token_.is("(")) table.params = parse_parameters();
    while (token_.kind == Token::Kind::dotted) {
      if (accept_word("noreturn")) continue;
      if (!accept_word("abi_preserve") && !accept_word("abi_preserve_control")) fail_expected("';'");
      (void)take_u32("a number");
    }
  }
  expect(";");
  function_->tables.push_back(std::move(table));
}

// Instructions that are spelled alike are read once.
const Mnemonic& Parser::parse_mnemonic(const Token& opcode) {
  std::string_view spelling = lexer_.mnemonic(opcode);
  std::vector<Word> words;
  const auto split = [&](std::string_view text, TextLoc loc) {
    for (size_t start = 0; start <= text.size();) {
      const size_t end = std::min(text.find('.', start), text.size());
      words.push_back(
          {text.substr(start, end - start), {loc.line, loc.column + static_cast<uint32_t>(start)}});
      start = end + 1;
    }
  };
  advance();
  if (token_.kind == Token::Kind::dotted) {
    split(spelling, opcode.loc);
    std::string whole(spelling);
    for (; token_.kind == Token::Kind::dotted; advance()) {
      words.push_back({token_.text, token_.loc});
      whole += "." + std::string(token_.text);
    }
    spelling = spellings_.emplace_back(std::move(whole));
  }
  const auto known = mnemonics_.find(spelling);
  if (known != mnemonics_.end()) return known->second;
  if (words.empty()) split(spelling, opcode.loc);
  return mnemonics_.emplace(spelling, read_mnemonic(words, source_)).first->second;
}

void Parser::parse_instruction(const Token& opcode, uint32_t guard, bool guard_negated) {
  bool has_ended = false;
  try {
    parse_instruction(opcode, guard, guard_negated, has_ended);
  } catch (const Unsupported& what) {
    if (!function_->refusal) function_->refusal = Refusal{what.cause(), what.loc(), current_loc_};
    while (!has_ended && !token_.is(";") && token_.kind != Token::Kind::end) advance();
    if (!has_ended) expect(";");
  }
}

void Parser::parse_instruction(const Token& opcode, uint32_t guard, bool guard_negated, bool& has_ended) {
  const Mnemonic& mnemonic = parse_mnemonic(opcode);
  Instruction instruction;
  instruction.op = mnemonic.op;
  instruction.types = mnemonic.types;
  instruction.modifiers = mnemonic.modifiers;
  instruction.space = mnemonic.space;
  instruction.second_space = mnemonic.second_space;
  instruction.vector = mnemonic.vector;
  instruction.shape = mnemonic.shape;
  instruction.guard = guard;
  instruction.guard_negated = guard_negated;
  instruction.loc = opcode.loc;
  instruction.source = current_loc_;
  piped_ = 0;
  if (mnemonic.form->check == OperandForm::Check::call) {
    parse_call(instruction);
    expect(";");
  } else {
    parse_operands(instruction, *mnemonic.form);
    expect(";");
    has_ended = true;
    check_operands(instruction, mnemonic, {function_->registers, module_.address_size, piped_}, source_);
  }
  if (instruction.op == Op::ret) move_registers(Op::st, opcode.loc, guard, guard_negated);
  function_->body.push_back(std::move(instruction));
}

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

void Parser::use_label(Instruction& instruction, bool wants_table) {
  const Token name = take_identifier(wants_table ? "a table's name" : "a label");
  label_scopes_.back().uses.push_back({.name = name.text,
                                       .loc = name.loc,
                                       .wants_table = wants_table,
                                       .position = static_cast<uint32_t>(function_->body.size()),
                                       .operand = static_cast<uint32_t>(instruction.operands.size())});
  Operand operand;
  operand.kind = wants_table ? Operand::Kind::table : Operand::Kind::label;
  operand.loc = name.loc;
  instruction.operands.push_back(operand);
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

void Parser::fail_undeclared(const Token& name) const {
  std::string cause = "undeclared name '" + std::string(name.text) + "'";
  if (const auto numbered = split_number(name.text))
    if (const auto it = ranges_.find(numbered->prefix); it != ranges_.end())
      cause += "; '" + std::string(numbered->prefix) + "<" + std::to_string(declarations_[it->second].count) +
               ">' does not reach it";
  fail(name.loc, cause);
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
    if (!component.empty()) full += "." + std::string(component);
    if (const auto special = find_special_register(full)) {
      operand.kind = Operand::Kind::special;
      operand.special = *special;
      return operand;
    }
    for (const std::string_view refused : {"%envreg", "%pm", "%reserved_smem_offset", "%warpid_", "%smem",
                                           "%locality_domain", "%perctamemory"})
      if (name.text.starts_with(refused))
        source_.refuse(name.loc, "the special register '" + full + "' is not supported");
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
  if (token_.kind == Token::Kind::identifier && token_.text != "WARP_SZ") {
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
  if (variable == nullptr || variable->dims.empty() || array.bits != 0)
    fail(array.loc, "an index belongs to the name of an array");
  const bool is_address = instruction.op == Op::mov;
  if (!is_address && instruction.op != Op::ld && instruction.op != Op::st)
    fail(array.loc, "an array with an index is an operand of ld, st and mov");
  const uint64_t bytes = size_of(variable->type);
  expect("[");
  Operand index, element = array;
  if (token_.kind == Token::Kind::identifier && token_.text != "WARP_SZ") {
    const TextLoc loc = token_.loc;
    index = parse_named(nullptr);
    if (index.kind != Operand::Kind::reg) fail(loc, "an index is an integer or a register");
    element.reg = add_address(array, index, bytes, parse_offset() * bytes);
    element.symbol = {};
  } else {
    const TextLoc loc = token_.loc;
    const Constant value = parse_constant();
    if (value.kind != Constant::Kind::integer) fail(loc, "an index is an integer or a register");
    element.bits = value.bits * bytes;
  }
  expect("]");
  if (!is_address)
    element.kind = Operand::Kind::address;
  else if (index.kind == Operand::Kind::reg)
    element.kind = Operand::Kind::reg;
  return element;
}

// Puts the instructions before the one that is parsed that lead to an element, and gives the register with
// its address.
uint32_t Parser::add_address(const Operand& array, const Operand& index, uint64_t bytes, uint64_t offset) {
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
  const bool is_wide = module_.address_size == 64;
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
  if (token_.kind == Token::Kind::identifier && token_.text != "_" && token_.text != "WARP_SZ") {
    const Operand named = parse_named(&instruction);
    return named.kind == Operand::Kind::symbol && token_.is("[") ? parse_array_element(instruction, named)
                                                                 : named;
  }
  return parse_element();
}

void Parser::parse_call_list(Instruction& instruction) {
  Operand list;
  list.kind = Operand::Kind::list;
  list.loc = token_.loc;
  list.first = static_cast<uint32_t>(instruction.elements.size());
  expect("(");
  if (!token_.is(")")) {
    do {
      const Operand element = parse_element();
      instruction.elements.push_back(element);
      ++list.count;
    } while (accept(","));
  }
  expect(")");
  instruction.operands.push_back(list);
}

// call (results), target, (arguments), table: all but the target may be left out.
void Parser::parse_call(Instruction& instruction) {
  if (token_.is("(")) {
    parse_call_list(instruction);
    expect(",");
  }
  if (token_.kind != Token::Kind::identifier) fail_expected("a function's name or a register");
  const Token target = token_;
  const Operand callee = parse_named(nullptr);
  const bool indirect = callee.kind == Operand::Kind::reg;
  if (!indirect && (callee.symbol.kind != SymbolRef::Kind::function || callee.bits != 0))
    fail(target.loc, "'" + std::string(target.text) + "' is no function");
  if (indirect && size_of(function_->registers[callee.reg].type) != 8)
    fail(target.loc, "the address of a function takes a 64-bit register");
  instruction.operands.push_back(callee);
  bool has_table = false;
  if (accept(",")) {
    if (token_.is("(")) {
      parse_call_list(instruction);
      if (accept(",")) has_table = true;
    } else {
      has_table = true;
    }
  }
  if (has_table) use_label(instruction, true);
  if (indirect != has_table)
    fail(target.loc, indirect ? "a call through a register names a .callprototype or .calltargets"
                              : "a call by name takes no table");
  if (indirect) return;  // checked when the tables are known, at the end of the function
  const Function& function = module_.functions[callee.symbol.index];
  if (function.is_entry) fail(target.loc, "a kernel cannot be called");
  check_call(instruction, function.name, function.returns, function.params);
}

void Parser::check_call(const Instruction& instruction, const std::string& callee,
                        const std::vector<Variable>& returns, const std::vector<Variable>& params) const {
  const Operand* results = nullptr;
  const Operand* arguments = nullptr;
  const Operand* target = nullptr;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind == Operand::Kind::list) (target == nullptr ? results : arguments) = &operand;
    if (operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::reg) target = &operand;
  }
  const size_t result_count = results != nullptr ? results->count : 0;
  const size_t argument_count = arguments != nullptr ? arguments->count : 0;
  const bool variadic = !params.empty() && params.back().size == 0;
  if (result_count != returns.size() ||
      (variadic ? argument_count + 1 < params.size() : argument_count != params.size()))
    fail(target->loc, "'" + callee + "' takes " + std::to_string(params.size()) + " arguments and gives " +
                          std::to_string(returns.size()) + " results, not " + std::to_string(argument_count) +
                          " and " + std::to_string(result_count));
  check_passed(instruction, results, returns);
  check_passed(instruction, arguments, params);
}

// What is passed is as large as what is declared.
void Parser::check_passed(const Instruction& instruction, const Operand* list,
                          const std::vector<Variable>& variables) const {
  for (uint32_t i = 0; list != nullptr && i < list->count && i < variables.size(); ++i) {
    const Operand& element = instruction.elements[list->first + i];
    uint64_t size = variables[i].size;
    if (element.kind == Operand::Kind::reg) size = size_of(function_->registers[element.reg].type);
    if (element.kind == Operand::Kind::symbol) {
      const bool is_local = element.symbol.kind == SymbolRef::Kind::local_variable;
      const Variable* passed = is_local ? &function_->variables[element.symbol.index] : nullptr;
      if (passed == nullptr || passed->space != Space::param || element.bits != 0)
        fail(element.loc, "a call passes .param variables of this function, registers and constants");
      size = passed->size;
    }
    if (element.kind == Operand::Kind::special || (size != variables[i].size && variables[i].size != 0))
      fail(element.loc, "this does not match the parameter '" + variables[i].name + "' of " +
                            std::to_string(variables[i].size) + " bytes");
  }
}

// Tables may follow their use, so what they are is checked at the end of the function.
void Parser::check_tables() const {
  for (const Instruction& instruction : function_->body) {
    if (instruction.op != Op::call && instruction.op != Op::brx) continue;
    const Operand& last = instruction.operands.back();
    if (last.kind != Operand::Kind::table) continue;
    const Table& table = function_->tables[last.index];
    if ((table.kind == Table::Kind::branch_targets) != (instruction.op == Op::brx))
      fail(last.loc, instruction.op == Op::brx ? "brx.idx takes a .branchtargets"
                                               : "a call takes a .callprototype or .calltargets");
    if (table.kind == Table::Kind::call_prototype)
      check_call(instruction, table.name, table.returns, table.params);
    for (const uint32_t index : table.functions) {
      const Function& function = module_.functions[index];
      check_call(instruction, function.name, function.returns, function.params);
    }
  }
}

}  // namespace lanescope::ptx
