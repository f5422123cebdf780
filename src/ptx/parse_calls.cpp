// Calls: what they are given, and whether that is what the function takes.
#include "ptx/parser.hpp"

namespace lanescope::ptx {

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
  check_passed(instruction, results, returns, true);
  check_passed(instruction, arguments, params, false);
}

// What is passed is of the type and size that are declared; `_` takes a result.
void Parser::check_passed(const Instruction& instruction, const Operand* list,
                          const std::vector<Variable>& variables, bool are_results) const {
  for (uint32_t i = 0; list != nullptr && i < list->count && i < variables.size(); ++i) {
    const Operand& element = instruction.elements[list->first + i];
    const Type type = variables[i].type;
    uint64_t size = variables[i].size;
    bool fits = true;
    switch (element.kind) {
      case Operand::Kind::reg:
        size = size_of(function_->registers[element.reg].type);
        fits = !variables[i].dims.empty() || compatible(type, function_->registers[element.reg].type, true);
        break;
      case Operand::Kind::integer: fits = !is_float(type); break;
      case Operand::Kind::real32:
      case Operand::Kind::real64: fits = is_float(type) || is_bits(type); break;
      case Operand::Kind::special: fits = false; break;
      case Operand::Kind::sink: fits = are_results; break;
      default: break;
    }
    if (element.kind == Operand::Kind::symbol) {
      const bool is_local = element.symbol.kind == SymbolRef::Kind::local_variable;
      const Variable* passed = is_local ? &function_->variables[element.symbol.index] : nullptr;
      if (passed == nullptr || passed->space != Space::param || element.bits != 0)
        fail(element.loc, "a call passes .param variables of this function, registers and constants");
      size = passed->size;
    }
    if (!fits || (size != variables[i].size && variables[i].size != 0))
      fail(element.loc, "this does not match the parameter '" + variables[i].name + "' of " +
                            std::to_string(variables[i].size) + " bytes, a ." + std::string(name_of(type)));
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
