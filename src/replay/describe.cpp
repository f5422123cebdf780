// See describe.hpp.
#include "replay/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "exec/builtins.hpp"
#include "ptx/instruction_set.hpp"

namespace lanescope::replay {
namespace {

using ptx::SymbolRef;

/// The functions that a kernel can come to: those whose names its code and theirs hold, and those whose
/// addresses are in variables.
std::vector<const ptx::Function*> reached(const ptx::Module& module, const ptx::Function& kernel) {
  std::vector<const ptx::Function*> list{&kernel};
  const auto add = [&](const SymbolRef& symbol) {
    if (symbol.kind != SymbolRef::Kind::function) return;
    const ptx::Function* function = &module.functions[symbol.index];
    if (std::find(list.begin(), list.end(), function) == list.end()) list.push_back(function);
  };
  for (const ptx::Variable& variable : module.variables)
    for (const ptx::Relocation& relocation : variable.relocations) add(relocation.symbol);
  for (size_t i = 0; i < list.size(); ++i)
    for (const ptx::Instruction& instruction : list[i]->body)
      for (const auto* operands : {&instruction.operands, &instruction.elements})
        for (const ptx::Operand& operand : *operands) add(operand.symbol);
  return list;
}

/// Why a GPU cannot run this function from recorded memory; empty when it can.
std::string obstacle_of(const ptx::Function& function) {
  const auto builtin = exec::find_builtin(function);
  if (builtin || !function.has_body) {
    if (!builtin || *builtin == exec::Builtin::vprintf || *builtin == exec::Builtin::assertfail) return "";
    if (*builtin == exec::Builtin::malloc || *builtin == exec::Builtin::free)
      return "it allocates memory inside the kernel";
    return fmt::format("it calls the device's runtime ({})", function.display_name);
  }
  for (const ptx::Instruction& instruction : function.body) {
    const ptx::InstructionInfo& info = ptx::info(instruction.op);
    if (info.op_class == ptx::OpClass::texture)
      return "it reads textures or surfaces, which are not part of the memory that is recorded";
  }
  return "";
}

/// Whether an instruction writes to memory other than the block's or a thread's own.
bool writes_global(const ptx::Instruction& in) {
  const ptx::OpClass op_class = ptx::info(in.op).op_class;
  const bool may_be_global = in.space == ptx::Space::global || in.space == ptx::Space::generic;
  return (may_be_global && (in.op == ptx::Op::st || op_class == ptx::OpClass::atomic)) ||
         op_class == ptx::OpClass::async;
}

/// What all instructions that write to global memory write, if it is one type of floating-point numbers.
std::string stored_type(const std::vector<const ptx::Function*>& functions) {
  std::set<ptx::Type> types;
  for (const ptx::Function* function : functions)
    for (const ptx::Instruction& in : function->body)
      if (writes_global(in)) types.insert(in.types.empty() ? ptx::Type::b8 : in.type());
  if (types == std::set{ptx::Type::f32}) return "f32";
  return types == std::set{ptx::Type::f64} ? "f64" : "";
}

void note_contents(Recording& recording, const ptx::Function& function) {
  for (const ptx::Instruction& instruction : function.body) {
    const ptx::InstructionInfo& info = ptx::info(instruction.op);
    recording.has_tensor_maps =
        recording.has_tensor_maps ||
        (info.op_class == ptx::OpClass::async && info.name.find("tensor") != std::string_view::npos);
    for (const ptx::Type type : instruction.types) {
      recording.has_f32 = recording.has_f32 || type == ptx::Type::f32;
      recording.has_f64 = recording.has_f64 || type == ptx::Type::f64;
    }
  }
}

bool holds_initial(const ptx::Variable& variable, const Piece& piece) {
  const auto* at = reinterpret_cast<const uint8_t*>(piece.address);
  const size_t given = std::min<size_t>(variable.initial.size(), piece.size);
  return std::equal(at, at + given, variable.initial.begin()) &&
         std::all_of(at + given, at + piece.size, [](uint8_t b) { return b == 0; });
}

/// Address ranges, asked for many values.
class Ranges {
 public:
  void add(const std::string& name, uint64_t begin, uint64_t size) {
    ranges_.push_back({begin, begin + size, name});
    lowest_ = std::min(lowest_, begin);
    highest_ = std::max(highest_, begin + size);
  }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  /// The name of the first range that one of these words lies in.
  [[nodiscard]] std::optional<std::string> find(const std::byte* at, uint64_t bytes) const {
    for (uint64_t i = 0; i + sizeof(uint64_t) <= bytes; i += sizeof(uint64_t)) {
      uint64_t value = 0;
      std::memcpy(&value, at + i, sizeof value);
      if (value < lowest_ || value >= highest_) continue;
      for (const Range& range : ranges_)
        if (value >= range.begin && value < range.end) return range.name;
    }
    return std::nullopt;
  }

 private:
  struct Range {
    uint64_t begin, end;
    std::string name;
  };
  std::vector<Range> ranges_;
  uint64_t lowest_ = UINT64_MAX, highest_ = 0;
};

}  // namespace

Recording describe(const exec::Image& image, const exec::Kernel& kernel, const exec::LaunchConfig& config,
                   std::vector<std::string> ptx) {
  const ptx::Module& module = image.module();
  Recording r;
  r.kernel = kernel.name;
  r.display_name = kernel.display_name.empty() ? kernel.name : kernel.display_name;
  r.launch.grid = {config.grid.x, config.grid.y, config.grid.z};
  r.launch.block = {config.block.x, config.block.y, config.block.z};
  r.launch.cluster = {config.cluster.x, config.cluster.y, config.cluster.z};
  r.launch.dynamic_shared = config.dynamic_shared;
  r.launch.cooperative = config.cooperative;
  r.parameters = config.params;
  for (const exec::Kernel::Parameter& parameter : kernel.params)
    r.parameter_offsets.push_back(parameter.offset);
  r.ptx = std::move(ptx);
  const std::vector<const ptx::Function*> functions = reached(module, *module.find_function(kernel.name));
  r.stores = stored_type(functions);
  for (const ptx::Function* function : functions) {
    if (r.obstacle.empty()) r.obstacle = obstacle_of(*function);
    note_contents(r, *function);
  }
  for (const ptx::Variable& variable : module.variables) {
    if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) continue;
    Piece piece;
    piece.name = variable.name;
    piece.address = image.variable(variable.name, &piece.size);
    if (piece.address == 0 || piece.size == 0) continue;
    piece.has_addresses = !variable.relocations.empty();
    piece.is_initial = holds_initial(variable, piece);
    r.variables.push_back(std::move(piece));
  }
  return r;
}

void look_for_addresses(Recording& recording, std::span<const Foreign> foreign) {
  if (!recording.obstacle.empty()) return;
  Ranges elsewhere;
  for (const Piece& v : recording.variables) elsewhere.add("the variable " + v.name, v.address, v.size);
  for (const Foreign& f : foreign) elsewhere.add(f.name, f.address, f.size);
  if (elsewhere.empty()) return;
  const auto check = [&](const std::string& holder, const std::byte* at, uint64_t bytes) {
    if (!recording.obstacle.empty()) return;
    if (const auto name = elsewhere.find(at, bytes))
      recording.obstacle = fmt::format("{} an address of {}, which lies elsewhere on the GPU", holder, *name);
  };
  check("its parameters hold", recording.parameters.data(), recording.parameters.size());
  for (const Piece& piece : recording.allocations)
    check(piece.name + " holds", reinterpret_cast<const std::byte*>(piece.address), piece.size);
}

}  // namespace lanescope::replay
