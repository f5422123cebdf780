// Function bodies: scopes, registers, labels, tables and instructions.
#include <algorithm>
#include <charconv>

#include "ptx/parser.hpp"

namespace lanescope::ptx {
namespace {

// Real functions need a few thousand at most; the limits keep a short text from asking for gigabytes.
constexpr uint32_t most_registers_of_range = 1u << 18;
constexpr uint64_t most_registers_of_module = 1u << 22;
constexpr uint32_t most_labels_of_range = 1u << 16;
constexpr size_t deepest_scope = 256;

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
  if (accept_word("align")) (void)parse_alignment();
  uint8_t vector = 1;
  if (accept_word("v2"))
    vector = 2;
  else if (accept_word("v4"))
    vector = 4;
  const std::optional<Type> type = token_.kind == Token::Kind::dotted ? find_type(token_.text) : std::nullopt;
  if (!type) fail_expected("a register's type");
  if (!is_fundamental(*type))
    fail(token_.loc, "." + std::string(token_.text) +
                         " is a type of instructions, not of registers: .b8 to .b64 hold it");
  if (vector != 1 && (*type == Type::pred || vector * size_of(*type) > 16))
    fail(token_.loc, "a vector register has 16 bytes at most, and none of them are predicates");
  advance();
  do {
    const Token name = take_name("a register's name");
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
    const auto add = [&](std::string_view label, TextLoc loc) {
      label_scopes_.back().uses.push_back({.name = label,
                                           .loc = loc,
                                           .table = index,
                                           .position = static_cast<uint32_t>(table.labels.size())});
      table.labels.push_back(0);
    };
    do {
      const Token label = take_identifier("a label");
      if (!accept("<")) {
        add(label.text, label.loc);
        continue;
      }
      // L<3> stands for L0, L1, L2.
      const uint32_t count = take_u32("a number of labels");
      if (count > most_labels_of_range) fail(label.loc, "too many labels");
      for (uint32_t i = 0; i < count; ++i)
        add(spellings_.emplace_back(std::string(label.text) + std::to_string(i)), label.loc);
      expect(">");
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
    if (token_.is("(")) table.returns = parse_parameters(nullptr, true);
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
  return mnemonics_.emplace(spelling, read_mnemonic(words, target_, source_)).first->second;
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
  std::optional<Operand> resident;
  if (mnemonic.form->check == OperandForm::Check::call) {
    parse_call(instruction);
    expect(";");
  } else {
    parse_operands(instruction, *mnemonic.form);
    expect(";");
    has_ended = true;
    if (piped_ != 0 && (instruction.op == Op::tex || instruction.op == Op::tld4))
      resident = take_residency(instruction);
    check_operands(instruction, mnemonic, {module_, *function_, piped_}, source_);
  }
  if (instruction.op == Op::ret) move_registers(Op::st, opcode.loc, guard, guard_negated);
  function_->body.push_back(std::move(instruction));
  if (resident) set_residency(*resident);
}

// Whether what a fetch reads is in memory, its second destination: it always is.
Operand Parser::take_residency(Instruction& instruction) {
  const Operand resident = instruction.operands[1];
  if (piped_ != 2 || resident.kind != Operand::Kind::reg ||
      function_->registers[resident.reg].type != Type::pred)
    fail(resident.loc, "the second destination of a fetch is a .pred register");
  instruction.operands.erase(instruction.operands.begin() + 1);
  piped_ = 0;
  return resident;
}

void Parser::set_residency(const Operand& resident) {
  const Instruction& fetch = function_->body.back();
  Instruction move;
  move.op = Op::mov;
  move.types = {Type::pred};
  move.guard = fetch.guard;
  move.guard_negated = fetch.guard_negated;
  move.loc = fetch.loc;
  move.source = fetch.source;
  Operand yes;
  yes.kind = Operand::Kind::integer;
  yes.bits = 1;
  yes.loc = resident.loc;
  move.operands = {resident, yes};
  function_->body.push_back(std::move(move));
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

void Parser::fail_undeclared(const Token& name) const {
  std::string cause = "undeclared name '" + std::string(name.text) + "'";
  if (const auto numbered = split_number(name.text))
    if (const auto it = ranges_.find(numbered->prefix); it != ranges_.end())
      cause += "; '" + std::string(numbered->prefix) + "<" + std::to_string(declarations_[it->second].count) +
               ">' does not reach it";
  fail(name.loc, cause);
}

}  // namespace lanescope::ptx
