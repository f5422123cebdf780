// A module's variables and kernels: of launch.hpp.
#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "exec/image_state.hpp"

namespace lanescope::exec {

Image::Image(std::shared_ptr<const ptx::Module> module, Memory& memory)
    : module_(std::move(module)), state_(std::make_unique<State>(memory)) {
  const ptx::Module& m = *module_;
  SymbolTable& symbols = state_->symbols;
  for (const ptx::Function& f : m.functions) {
    // Kernels see an address for each function; there is nothing to read or write behind it.
    const uint64_t address = memory.allocate(16, "code of " + f.display_name, 256, Memory::Owner::internal);
    memory.set_read_only(address, true);
    state_->owned.push_back(address);
    symbols.functions.push_back(address);
  }
  for (const ptx::Variable& v : m.variables) {
    if (v.space != ptx::Space::global && v.space != ptx::Space::constant) {
      symbols.variables.push_back(0);
      continue;
    }
    if (v.is_extern)
      throw Error(m.name + ": variable '" + v.name + "' is declared .extern and defined nowhere");
    const uint64_t address = memory.allocate(v.size, v.display_name, v.align);
    state_->owned.push_back(address);
    symbols.variables.push_back(address);
  }
  for (size_t i = 0; i < m.variables.size(); ++i) {
    if (symbols.variables[i] == 0) continue;
    initialise(m.variables[i], symbols.variables[i]);
    if (m.variables[i].space == ptx::Space::constant) memory.set_constant(symbols.variables[i]);
  }
}

void Image::initialise(const ptx::Variable& v, uint64_t address) {
  const SymbolTable& symbols = state_->symbols;
  std::copy_n(v.initial.data(), std::min<size_t>(v.initial.size(), v.size),
              reinterpret_cast<uint8_t*>(address));
  for (const ptx::Relocation& r : v.relocations) {
    if (r.offset + r.width > v.size)
      throw Error(module_->name + ": initialiser of '" + v.name + "' is too long");
    uint64_t value = 0;
    if (r.symbol.kind == ptx::SymbolRef::Kind::function)
      value = symbols.functions[r.symbol.index];
    else if (r.symbol.kind == ptx::SymbolRef::Kind::module_variable)
      value = symbols.variables[r.symbol.index];
    value = ((value + static_cast<uint64_t>(r.addend)) & r.mask) >> r.shift;
    std::memcpy(reinterpret_cast<void*>(address + r.offset), &value, std::min<size_t>(r.width, 8));
  }
}

void Image::restore_variables() {
  for (size_t i = 0; i < module_->variables.size(); ++i) {
    const ptx::Variable& v = module_->variables[i];
    const uint64_t address = state_->symbols.variables[i];
    if (address == 0 || v.is_managed) continue;
    // Pages that nobody has written are not there yet, and need not be.
    constexpr size_t piece = 1 << 16;
    for (size_t at = 0; at < v.size; at += piece) {
      auto* const bytes = reinterpret_cast<char*>(address + at);
      const size_t count = std::min<size_t>(piece, v.size - at);
      if (bytes[0] != 0 || std::memcmp(bytes, bytes + 1, count - 1) != 0) std::memset(bytes, 0, count);
    }
    initialise(v, address);
  }
}

Image::~Image() {
  for (uint64_t address : state_->owned) state_->memory.release(address);
}

const Kernel& Image::kernel(std::string_view name) {
  uint32_t index = ptx::no_index;
  const auto& functions = module_->functions;
  for (uint32_t i = 0; i < functions.size() && index == ptx::no_index; ++i)
    if (functions[i].is_entry && functions[i].name == name) index = i;
  std::vector<uint32_t> called;
  for (uint32_t i = 0; i < functions.size() && index == ptx::no_index; ++i) {
    const std::string& shown = functions[i].display_name;
    if (!functions[i].is_entry) continue;
    if (shown == name || shown.substr(0, shown.find('(')) == name) called.push_back(i);
  }
  if (index == ptx::no_index && called.size() == 1) index = called[0];
  if (index == ptx::no_index) {
    std::string list;
    for (const ptx::Function& f : functions)
      if (f.is_entry) list += "\n  " + f.display_name;
    throw Error(module_->name + ": " + (called.empty() ? "no kernel '" : "more than one kernel '") +
                std::string(name) + "'" + (list.empty() ? "; the file has none" : "; it has:" + list));
  }
  return decoded(index);
}

const Kernel& Image::decoded(uint32_t function) {
  std::lock_guard lock(state_->mutex);
  auto& decoded = state_->kernels[function];
  if (!decoded) {
    auto fresh = std::make_unique<Decoded>();
    fresh->observed = decode(*module_, function, state_->symbols, true);
    decoded = std::move(fresh);
  }
  return decoded->observed;
}

namespace {

bool is_named(const ptx::Variable& variable, std::string_view name) {
  if (variable.name == name) return true;
  if (variable.reference == ptx::Reference::none || !name.starts_with("::")) return false;
  // What has internal linkage is in a space that its file alone has.
  std::string own = variable.display_name;
  own = own.starts_with("_INTERNAL_") ? own.substr(std::min(own.find("::"), own.size())) : "::" + own;
  constexpr std::string_view shown = "(anonymous namespace)", registered = "_NV_ANON_NAMESPACE";
  for (size_t at = 0; (at = own.find(shown, at)) != std::string::npos; at += registered.size())
    own.replace(at, shown.size(), registered);
  return own == name;
}

}  // namespace

uint64_t Image::variable(std::string_view name, uint64_t* size) const {
  for (size_t i = 0; i < module_->variables.size(); ++i) {
    if (!is_named(module_->variables[i], name)) continue;
    if (size != nullptr) *size = module_->variables[i].size;
    return state_->symbols.variables[i];
  }
  return 0;
}

}  // namespace lanescope::exec
