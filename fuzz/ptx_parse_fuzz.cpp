// The PTX parser against foreign bytes: any text gives a module or an error with a place, nothing else. What
// it gives must hang together: every index stays inside the list it counts in.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "ptx/module.hpp"

namespace {

using namespace lanescope;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_symbol(const ptx::Module& module, const ptx::Function* function, const ptx::SymbolRef& symbol) {
  using Kind = ptx::SymbolRef::Kind;
  switch (symbol.kind) {
    case Kind::none: break;
    case Kind::module_variable: require(symbol.index < module.variables.size()); break;
    case Kind::function: require(symbol.index < module.functions.size()); break;
    case Kind::local_variable:
      require(function != nullptr && symbol.index < function->variables.size());
      break;
    case Kind::parameter: require(function != nullptr && symbol.index < function->params.size()); break;
    case Kind::return_parameter:
      require(function != nullptr && symbol.index < function->returns.size());
      break;
  }
}

void check_operand(const ptx::Module& module, const ptx::Function& function,
                   const ptx::Instruction& instruction, const ptx::Operand& operand) {
  using Kind = ptx::Operand::Kind;
  check_symbol(module, &function, operand.symbol);
  require(operand.reg == ptx::no_index || operand.reg < function.registers.size());
  if (operand.kind == Kind::reg) require(operand.reg != ptx::no_index);
  if (operand.kind == Kind::label) require(operand.index < function.labels.size());
  if (operand.kind == Kind::table) require(operand.index < function.tables.size());
  if (operand.kind == Kind::vector || operand.kind == Kind::list)
    require(uint64_t{operand.first} + operand.count <= instruction.elements.size());
}

void check(const ptx::Module& module) {
  for (const ptx::SourceLoc& loc : module.source_locs)
    require(loc.inlined_at == ptx::no_index || loc.inlined_at < module.source_locs.size());
  for (const ptx::Variable& variable : module.variables) {
    require(variable.initial.size() <= variable.size);
    for (const ptx::Relocation& relocation : variable.relocations) {
      require(relocation.offset + relocation.width <= variable.initial.size());
      check_symbol(module, nullptr, relocation.symbol);
    }
  }
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Label& label : function.labels) require(label.instruction <= function.body.size());
    for (const ptx::Table& table : function.tables) {
      for (const uint32_t label : table.labels) require(label < function.labels.size());
      for (const uint32_t callee : table.functions) require(callee < module.functions.size());
    }
    for (const ptx::Instruction& instruction : function.body) {
      require(instruction.guard == ptx::no_index || instruction.guard < function.registers.size());
      require(instruction.source == ptx::no_index || instruction.source < module.source_locs.size());
      for (const ptx::Operand& operand : instruction.operands)
        check_operand(module, function, instruction, operand);
      for (const ptx::Operand& element : instruction.elements)
        check_operand(module, function, instruction, element);
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    check(ptx::parse(std::string(reinterpret_cast<const char*>(data), size), "fuzz.ptx"));
  } catch (const Error& error) {
    require(error.place().file == "fuzz.ptx" && error.place().line != 0 && error.place().column != 0);
  }
  return 0;
}
