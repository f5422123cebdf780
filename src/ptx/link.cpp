// See link.hpp. First every symbol of every unit gets its place in the linked module, then the chosen
// definitions are moved there with all that they refer to renumbered.
#include "ptx/link.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"
#include "ptx/lexer.hpp"

namespace lanescope::ptx {

namespace {

/// How much a symbol's owner insists on being the one: a higher one replaces lower ones.
enum class Claim : uint8_t { local, reference, common, weak, definition };

Claim claim_of(const Variable& v) {
  if (v.is_extern) return Claim::reference;
  if (v.is_weak) return Claim::weak;
  if (v.is_common) return Claim::common;
  return v.is_visible ? Claim::definition : Claim::local;
}

Claim claim_of(const Function& f) {
  if (!f.has_body) return f.is_extern || f.is_visible || f.is_weak ? Claim::reference : Claim::local;
  if (f.is_weak) return Claim::weak;
  return f.is_visible ? Claim::definition : Claim::local;
}

/// Where a symbol of the linked module comes from.
struct Symbol {
  uint32_t unit = 0, index = 0;
  Claim claim = Claim::local;
  uint32_t align = 1;  ///< variables: the strictest of all declarations
};

/// What became of one unit's numbers.
struct UnitMap {
  std::vector<uint32_t> variables, functions;    ///< by index in the unit: index in the linked module
  std::unordered_map<uint32_t, uint32_t> files;  ///< by id
  uint32_t first_source = 0;
  uint32_t lines_before = 0;
};

class Linker {
 public:
  Linker(std::vector<Module> units, std::string name) : units_(std::move(units)), maps_(units_.size()) {
    if (units_.empty()) throw Error(name + ": there are no modules to link");
    out_.name = std::move(name);
  }

  Module link() {
    out_.address_size = units_[0].address_size;
    out_.target = units_[0].target;
    for (uint32_t u = 0; u < units_.size(); ++u) {
      take_header(u);
      place_symbols(u, units_[u].variables, maps_[u].variables, variables_, variable_names_);
      place_symbols(u, units_[u].functions, maps_[u].functions, functions_, function_names_);
    }
    for (const auto& [symbol, index] : variable_names_)
      if (function_names_.contains(symbol))
        fail(symbol, "is a variable in " + units_[variables_[index].unit].name + " and a function in " +
                         units_[functions_[function_names_.at(symbol)].unit].name);
    for (uint32_t u = 0; u < units_.size(); ++u) {
      const Module& unit = units_[u];
      for (size_t i = 0; i < unit.variables.size(); ++i)
        check(unit, unit.variables[i], variables_[maps_[u].variables[i]]);
      for (size_t i = 0; i < unit.functions.size(); ++i)
        check(unit, unit.functions[i], functions_[maps_[u].functions[i]]);
    }
    for (uint32_t u = 0; u < units_.size(); ++u) take_sources(u);
    out_.line_begins = line_begins_of(out_.text);

    std::unordered_set<std::string> taken;
    for (const auto& names : {variable_names_, function_names_})
      for (const auto& [symbol, index] : names) taken.insert(symbol);
    for (const Symbol& s : variables_) {
      Variable& variable = out_.variables.emplace_back(std::move(units_[s.unit].variables[s.index]));
      relocate(variable, maps_[s.unit]);
      variable.align = s.align;
      if (s.claim == Claim::local) make_unique(variable.name, taken);
    }
    for (const Symbol& s : functions_) {
      Function& function = out_.functions.emplace_back(std::move(units_[s.unit].functions[s.index]));
      relocate(function, maps_[s.unit]);
      if (s.claim == Claim::local) make_unique(function.name, taken);
    }
    return std::move(out_);
  }

 private:
  using Names = std::unordered_map<std::string, uint32_t>;

  std::vector<Module> units_;
  std::vector<UnitMap> maps_;
  std::vector<Symbol> variables_, functions_;  ///< by index in the linked module
  Names variable_names_, function_names_;      ///< of the symbols that units share
  uint32_t lines_ = 0;                         ///< of out_.text
  Module out_;

  [[noreturn]] void fail(const std::string& symbol, const std::string& what) const {
    throw Error(out_.name + ": cannot link: '" + symbol + "' " + what);
  }

  void take_header(uint32_t u) {
    const Module& unit = units_[u];
    if (unit.address_size != out_.address_size)
      throw Error(out_.name + ": cannot link: " + units_[0].name + " has addresses of " +
                  std::to_string(out_.address_size) + " bits, " + unit.name + " of " +
                  std::to_string(unit.address_size));
    const auto version = [](const Module& m) { return std::pair(m.version_major, m.version_minor); };
    if (version(unit) > version(out_)) std::tie(out_.version_major, out_.version_minor) = version(unit);
    const auto architecture = [](const std::string& target) {
      const size_t digits = target.find_first_of("0123456789");
      return digits == std::string::npos ? 0 : std::atoi(target.c_str() + digits);
    };
    if (architecture(unit.target) > architecture(out_.target)) out_.target = unit.target;
  }

  template <class T>
  void place_symbols(uint32_t u, const std::vector<T>& list, std::vector<uint32_t>& map,
                     std::vector<Symbol>& symbols, Names& names) {
    for (uint32_t i = 0; i < list.size(); ++i) {
      const T& item = list[i];
      Symbol symbol{u, i, claim_of(item)};
      if constexpr (std::is_same_v<T, Variable>) symbol.align = item.align;
      const auto fresh = static_cast<uint32_t>(symbols.size());
      if (symbol.claim == Claim::local) {
        map.push_back(fresh);
        symbols.push_back(symbol);
        continue;
      }
      const auto [known, is_new] = names.try_emplace(item.name, fresh);
      map.push_back(known->second);
      if (is_new) {
        symbols.push_back(symbol);
        continue;
      }
      Symbol& other = symbols[known->second];
      if (symbol.claim == Claim::definition && other.claim == Claim::definition)
        fail(item.name, "is defined in " + units_[other.unit].name + " and in " + units_[u].name);
      bool replaces = symbol.claim > other.claim;
      if constexpr (std::is_same_v<T, Variable>) {
        symbol.align = other.align = std::max(symbol.align, other.align);
        // Of .common definitions the largest is meant.
        replaces = replaces || (symbol.claim == Claim::common && other.claim == Claim::common &&
                                item.size > units_[other.unit].variables[other.index].size);
      }
      if (replaces) other = symbol;
    }
  }

  void check(const Module& unit, const Variable& v, const Symbol& symbol) const {
    const Module& owner = units_[symbol.unit];
    const Variable& chosen = owner.variables[symbol.index];
    if (v.space != chosen.space)
      fail(v.name, "has another state space in " + unit.name + " than in " + owner.name);
    // Extern shared memory gets its size from each launch, whatever was declared.
    if (v.size == chosen.size || v.size == 0 || chosen.size == 0 || v.space == Space::shared) return;
    if (claim_of(v) == Claim::common && symbol.claim == Claim::common) return;
    fail(v.name, "has " + std::to_string(v.size) + " bytes in " + unit.name + " and " +
                     std::to_string(chosen.size) + " in " + owner.name);
  }

  void check(const Module& unit, const Function& f, const Symbol& symbol) const {
    const Module& owner = units_[symbol.unit];
    const Function& chosen = owner.functions[symbol.index];
    const auto fits = [](const std::vector<Variable>& a, const std::vector<Variable>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                        [](const Variable& x, const Variable& y) { return x.size == y.size; });
    };
    if (f.is_entry != chosen.is_entry || !fits(f.params, chosen.params) || !fits(f.returns, chosen.returns))
      fail(f.name, "has other parameters or results in " + unit.name + " than in " + owner.name);
  }

  /// Files, source places and text of a unit.
  void take_sources(uint32_t u) {
    Module& unit = units_[u];
    UnitMap& map = maps_[u];
    for (SourceFile& file : unit.files) {
      auto known = std::find_if(out_.files.begin(), out_.files.end(),
                                [&](const SourceFile& other) { return other.path == file.path; });
      if (known == out_.files.end()) {
        out_.files.push_back({static_cast<uint32_t>(out_.files.size()) + 1, std::move(file.path)});
        known = out_.files.end() - 1;
      }
      map.files.emplace(file.id, known->id);
    }
    map.first_source = static_cast<uint32_t>(out_.source_locs.size());
    for (SourceLoc& loc : unit.source_locs) {
      const auto file = map.files.find(loc.file);
      loc.file = file == map.files.end() ? 0 : file->second;
      if (loc.inlined_at != no_index) loc.inlined_at += map.first_source;
      if (loc.before != no_index) loc.before += map.first_source;
      out_.source_locs.push_back(std::move(loc));
    }
    map.lines_before = lines_;
    if (!unit.text.empty() && unit.text.back() != '\n') unit.text += '\n';
    lines_ += static_cast<uint32_t>(std::count(unit.text.begin(), unit.text.end(), '\n'));
    out_.text += unit.text;
  }

  static void relocate(TextLoc& loc, const UnitMap& map) {
    if (loc.line != 0) loc.line += map.lines_before;
  }

  static void relocate(SymbolRef& symbol, const UnitMap& map) {
    if (symbol.kind == SymbolRef::Kind::module_variable) symbol.index = map.variables[symbol.index];
    if (symbol.kind == SymbolRef::Kind::function) symbol.index = map.functions[symbol.index];
  }

  static void relocate(Variable& variable, const UnitMap& map) {
    relocate(variable.loc, map);
    for (Relocation& relocation : variable.relocations) relocate(relocation.symbol, map);
  }

  static void relocate(Operand& operand, const UnitMap& map) {
    relocate(operand.loc, map);
    relocate(operand.symbol, map);
  }

  static void relocate(Function& function, const UnitMap& map) {
    relocate(function.loc, map);
    if (function.refusal) {
      relocate(function.refusal->loc, map);
      if (function.refusal->source != no_index) function.refusal->source += map.first_source;
    }
    for (auto* list : {&function.params, &function.returns, &function.variables})
      for (Variable& variable : *list) relocate(variable, map);
    for (Label& label : function.labels) relocate(label.loc, map);
    for (Table& table : function.tables) {
      relocate(table.loc, map);
      for (uint32_t& target : table.functions) target = map.functions[target];
      for (auto* list : {&table.params, &table.returns})
        for (Variable& variable : *list) relocate(variable, map);
    }
    for (Instruction& instruction : function.body) {
      relocate(instruction.loc, map);
      if (instruction.source != no_index) instruction.source += map.first_source;
      for (auto* list : {&instruction.operands, &instruction.elements})
        for (Operand& operand : *list) relocate(operand, map);
    }
  }

  static void make_unique(std::string& name, std::unordered_set<std::string>& taken) {
    if (taken.insert(name).second) return;
    for (uint32_t i = 2;; ++i) {
      std::string other = name + "$" + std::to_string(i);
      if (!taken.insert(other).second) continue;
      name = std::move(other);
      return;
    }
  }
};

}  // namespace

Module link(std::vector<Module> units, std::string name) {
  return Linker(std::move(units), std::move(name)).link();
}

}  // namespace lanescope::ptx
