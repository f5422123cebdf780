// See from_data.hpp.
#include "advise/from_data.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "exec/flow.hpp"
#include "merge/values.hpp"

namespace lanescope::advise {
namespace {

using ptx::Operand;

/// What a value is made of; of several, the last one of these decides.
enum class Origin : uint8_t {
  common,  ///< numbers, parameters, the block: the same for all lanes
  place,   ///< of the thread
  data
};

Origin of_special_registers(const ptx::Instruction& in) {
  const auto differs = [](const Operand& o) {
    return o.kind == Operand::Kind::special && merge::differs_by_lane(o.special);
  };
  const bool any = std::any_of(in.operands.begin(), in.operands.end(), differs) ||
                   std::any_of(in.elements.begin(), in.elements.end(), differs);
  return any ? Origin::place : Origin::common;
}

const Operand* address_of(const ptx::Instruction& in) {
  const auto address = std::find_if(in.operands.begin(), in.operands.end(),
                                    [](const Operand& o) { return o.kind == Operand::Kind::address; });
  return address == in.operands.end() ? nullptr : &*address;
}

class DataFlow {
 public:
  explicit DataFlow(const ptx::Function& f) : f_(f), origins_(f.registers.size(), Origin::common) {
    const std::vector<exec::Usage> usage = exec::usages_of(f);
    for (bool changed = true; std::exchange(changed, false);)
      for (size_t i = 0; i < f.body.size(); ++i) {
        const ptx::Instruction& in = f.body[i];
        Origin read = of_special_registers(in);
        for (const uint32_t reg : usage[i].reads) read = std::max(read, origins_[reg]);
        const auto raise = [&](Origin& known, Origin to) {
          changed = changed || to > known;
          known = std::max(known, to);
        };
        if (in.op == ptx::Op::st && is_own(in)) raise(own_, read);
        for (const uint32_t reg : usage[i].writes) raise(origins_[reg], result_of(in, read));
      }
  }

  [[nodiscard]] bool goes_by_data(uint32_t instruction) const {
    const Operand* address = address_of(f_.body[instruction]);
    return address != nullptr && address->reg != ptx::no_index && origins_[address->reg] == Origin::data;
  }

 private:
  const ptx::Function& f_;
  std::vector<Origin> origins_;  ///< by register: of all values that it ever has
  Origin own_ = Origin::common;  ///< of all that is kept in local memory and handed over in calls

  /// Local memory, and parameters but the kernel's.
  [[nodiscard]] bool is_own(const ptx::Instruction& in) const {
    const Operand* address = address_of(in);
    switch (in.space) {
      case ptx::Space::local: return true;
      case ptx::Space::param:
      case ptx::Space::param_entry:
      case ptx::Space::param_func:
        return !f_.is_entry || address == nullptr || address->symbol.kind != ptx::SymbolRef::Kind::parameter;
      default: return false;
    }
  }

  /// Of what an instruction writes that reads values of that origin.
  [[nodiscard]] Origin result_of(const ptx::Instruction& in, Origin read) const {
    const auto loaded = [&] { return read == Origin::common ? Origin::common : Origin::data; };
    switch (ptx::info(in.op).op_class) {
      case ptx::OpClass::atomic: return Origin::data;
      case ptx::OpClass::texture: return loaded();
      case ptx::OpClass::memory:
        if (in.op != ptx::Op::ld && in.op != ptx::Op::ldu) return read;
        if (is_own(in)) return std::max(read, own_);
        return in.space == ptx::Space::param || in.space == ptx::Space::constant ? read : loaded();
      case ptx::OpClass::matrix: return in.op == ptx::Op::ldmatrix ? Origin::data : read;
      case ptx::OpClass::tensor: return Origin::data;
      default: return read;
    }
  }
};

}  // namespace

std::vector<bool> sites_from_data(const ptx::Module& module, const exec::Kernel& kernel) {
  std::map<uint32_t, DataFlow> functions;
  std::vector<bool> from_data(kernel.accesses.size());
  for (size_t i = 0; i < from_data.size(); ++i) {
    const exec::AccessSite& site = kernel.accesses[i];
    if (site.function == exec::no_operand) continue;
    const auto function = functions.try_emplace(site.function, module.functions[site.function]).first;
    from_data[i] = function->second.goes_by_data(site.instruction);
  }
  return from_data;
}

}  // namespace lanescope::advise
