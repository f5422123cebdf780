// A module as text, for golden tests: what the parser understood, one line a node.
#pragma once

#include <fmt/format.h>

#include <string>

#include "ptx/module.hpp"

namespace lanescope::ptx {

class Dump {
 public:
  explicit Dump(const Module& module) : module_(module) {}

  [[nodiscard]] std::string text() {
    out_ = fmt::format("version {}.{} target {} address_size {}\n", module_.version_major,
                       module_.version_minor, module_.target, module_.address_size);
    for (const SourceFile& file : module_.files) out_ += fmt::format("file {} {}\n", file.id, file.path);
    for (const Variable& variable : module_.variables) out_ += "var " + describe(variable, nullptr) + "\n";
    for (const Function& function : module_.functions) dump(function);
    return out_;
  }

  [[nodiscard]] std::string describe(const Function& function, const Instruction& instruction) const {
    std::string out;
    if (instruction.guard != no_index)
      out += fmt::format("@{}{} ", instruction.guard_negated ? "!" : "",
                         function.registers[instruction.guard].name);
    out += name_of(instruction.op);
    for (size_t i = 0; i < modifier_count; ++i)
      if (instruction.modifiers[i]) out += fmt::format(".{}", name_of(static_cast<Mod>(i)));
    for (const Space space : {instruction.space, instruction.second_space})
      if (space != Space::generic) out += fmt::format(".{}", name_of(space));
    if (instruction.vector != 1) out += fmt::format(".v{}", instruction.vector);
    for (const Type type : instruction.types) out += fmt::format(".{}", name_of(type));
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      out += (i == 0 ? " " : ", ") + describe(function, instruction, instruction.operands[i]);
    return out;
  }

 private:
  [[nodiscard]] std::string describe(const SymbolRef& symbol, const Function* function) const {
    switch (symbol.kind) {
      case SymbolRef::Kind::module_variable: return module_.variables[symbol.index].name;
      case SymbolRef::Kind::function: return "function:" + module_.functions[symbol.index].name;
      case SymbolRef::Kind::local_variable:
        return fmt::format("local{}:{}", symbol.index, function->variables[symbol.index].name);
      case SymbolRef::Kind::parameter: return "param:" + function->params[symbol.index].name;
      case SymbolRef::Kind::return_parameter: return "return:" + function->returns[symbol.index].name;
      case SymbolRef::Kind::none: break;
    }
    return "?";
  }

  [[nodiscard]] static std::string offset(uint64_t bits) {
    return bits == 0 ? "" : fmt::format("{:+}", static_cast<int64_t>(bits));
  }

  [[nodiscard]] std::string describe(const Function& function, const Instruction& instruction,
                                     const Operand& operand) const {
    const auto list = [&](char open, char close) {
      std::string out(1, open);
      for (uint32_t i = 0; i < operand.count; ++i)
        out +=
            (i == 0 ? "" : ", ") + describe(function, instruction, instruction.elements[operand.first + i]);
      return out + close;
    };
    switch (operand.kind) {
      case Operand::Kind::none: return "none";
      case Operand::Kind::reg: return (operand.negated ? "!" : "") + function.registers[operand.reg].name;
      case Operand::Kind::special: return std::string(name_of(operand.special));
      case Operand::Kind::integer: return fmt::format("{}", static_cast<int64_t>(operand.bits));
      case Operand::Kind::real32: return fmt::format("0f{:08X}", operand.bits);
      case Operand::Kind::real64: return fmt::format("0d{:016X}", operand.bits);
      case Operand::Kind::symbol: return describe(operand.symbol, &function) + offset(operand.bits);
      case Operand::Kind::address:
        if (operand.reg != no_index)
          return fmt::format("[{}{}]", function.registers[operand.reg].name, offset(operand.bits));
        if (operand.symbol.kind == SymbolRef::Kind::none) return fmt::format("[{}]", operand.bits);
        return fmt::format("[{}{}]", describe(operand.symbol, &function), offset(operand.bits));
      case Operand::Kind::vector: return list('{', '}');
      case Operand::Kind::list: return list('(', ')');
      case Operand::Kind::label: return function.labels[operand.index].name;
      case Operand::Kind::table: return "table:" + function.tables[operand.index].name;
      case Operand::Kind::sink: return "_";
    }
    return "?";
  }

  [[nodiscard]] std::string describe(const Variable& variable, const Function* function) const {
    std::string out = fmt::format(".{} {}.{} {}", name_of(variable.space),
                                  variable.vector != 1 ? fmt::format(".v{} ", variable.vector) : "",
                                  name_of(variable.type), variable.name);
    for (const uint64_t extent : variable.dims) out += fmt::format("[{}]", extent);
    out += fmt::format(" size {} align {}", variable.size, variable.align);
    if (variable.display_name != variable.name) out += fmt::format(" \"{}\"", variable.display_name);
    if (variable.scope != 0) out += fmt::format(" scope {}", variable.scope);
    if (variable.is_extern) out += " extern";
    if (variable.is_visible) out += " visible";
    if (variable.is_weak) out += " weak";
    if (variable.is_common) out += " common";
    if (variable.is_managed) out += " managed";
    if (variable.is_pointer_hint) out += " ptr";
    if (!variable.initial.empty()) {
      out += " =";
      for (const uint8_t byte : variable.initial) out += fmt::format(" {:02x}", byte);
    }
    for (const Relocation& relocation : variable.relocations) {
      out += fmt::format(" @{}:{}={}{}{}", relocation.offset, relocation.width,
                         relocation.generic ? "generic " : "", describe(relocation.symbol, function),
                         offset(static_cast<uint64_t>(relocation.addend)));
      if (relocation.mask != ~uint64_t{0})
        out += fmt::format(" mask {:x} shift {}", relocation.mask, relocation.shift);
    }
    return out;
  }

  [[nodiscard]] std::string place(uint32_t source) const {
    if (source == no_index) return "";
    std::string out;
    for (uint32_t at = source; at != no_index; at = module_.source_locs[at].inlined_at) {
      const SourceLoc& loc = module_.source_locs[at];
      out += fmt::format("{}{}:{}:{}{}", at == source ? "  # " : " < ", loc.file, loc.line, loc.column,
                         loc.function.empty() ? "" : " " + loc.function);
    }
    return out;
  }

  void dump(const Function& function) {
    out_ += fmt::format("{} {}", function.is_entry ? "entry" : "func", function.name);
    if (function.display_name != function.name) out_ += fmt::format(" \"{}\"", function.display_name);
    if (function.is_extern) out_ += " extern";
    if (function.is_visible) out_ += " visible";
    if (function.is_weak) out_ += " weak";
    if (function.is_noreturn) out_ += " noreturn";
    const auto three = [&](std::string_view name, const std::array<uint32_t, 3>& n) {
      if (n[0] != 0) out_ += fmt::format(" {} {},{},{}", name, n[0], n[1], n[2]);
    };
    const auto one = [&](std::string_view name, uint32_t n) {
      if (n != 0) out_ += fmt::format(" {} {}", name, n);
    };
    three("maxntid", function.max_threads);
    three("reqntid", function.required_threads);
    one("minnctapersm", function.min_blocks);
    one("maxnreg", function.max_registers);
    if (function.explicit_cluster) out_ += " explicitcluster";
    if (function.blocks_are_clusters) out_ += " blocksareclusters";
    three("reqnctapercluster", function.required_cluster);
    one("maxclusterrank", function.max_cluster_rank);
    out_ += function.has_body ? "\n" : " (no body)\n";
    for (const Variable& variable : function.returns)
      out_ += "  return " + describe(variable, &function) + "\n";
    for (const Variable& variable : function.params)
      out_ += "  param " + describe(variable, &function) + "\n";
    std::string registers;
    for (const Register& reg : function.registers)
      registers += fmt::format(" {}:{}", reg.name, name_of(reg.type));
    if (!registers.empty()) out_ += "  registers" + registers + "\n";
    for (const Variable& variable : function.variables)
      out_ += "  var " + describe(variable, &function) + "\n";
    for (const Table& table : function.tables) {
      out_ += "  table " + table.name;
      for (const uint32_t label : table.labels) out_ += " " + function.labels[label].name;
      for (const uint32_t callee : table.functions) out_ += " " + module_.functions[callee].name;
      for (const Variable& variable : table.returns) out_ += " return " + describe(variable, &function);
      for (const Variable& variable : table.params) out_ += " param " + describe(variable, &function);
      out_ += "\n";
    }
    for (size_t i = 0; i <= function.body.size(); ++i) {
      for (const Label& label : function.labels)
        if (label.instruction == i) out_ += label.name + ":\n";
      if (i < function.body.size())
        out_ += "    " + describe(function, function.body[i]) + place(function.body[i].source) + "\n";
    }
  }

  const Module& module_;
  std::string out_;
};

}  // namespace lanescope::ptx
